#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Arguments: {build}/flamekeep
"""Large uploads:  bench/large.py FLAMEKEEP [FILE...]

Without FILEs: a `perf script` text of FK_TEXT_MB (1024), at least 20 frames a sample, from real samples whose stacks are crossed with each
other and whose times go on; a JFR of FK_JFR_MB (500), the chunks of a real recording again and again (a JVM records itself where there is
one, else one of FK_CORPUS, else ../shared/corpus), and the densest two of that corpus likewise; a pprof with as many rows as an
upload may have. Nothing of it is kept.
Printed for each: the server's RssAnon above idle at its highest, wall and processor time of the upload, and the speed beside
`gzip -dc | wc` of the same bytes (both in the C locale, same run).
"""
import gzip, json, os, random, re, shutil, subprocess, sys, tempfile, threading, time

from common import Client, Server, cpu_seconds, resident

HERE = os.path.dirname(os.path.abspath(__file__))
CORPUS = os.environ.get('FK_CORPUS', os.path.join(HERE, '../../shared/corpus'))
MIB = 1 << 20
HEADER = re.compile(r'^(.*?\s\d+(?:/\d+)?\s+(?:\[\d+\]\s+)?)(\d+\.\d+: *)?(.*:)\s*$')
DEEP = 'def f(n):\n    return sum(i * i for i in range(40)) if n == 0 else f(n - 1) + 1\nfor i in range(30000): f(i % 40 + 20)'


def real_text(tmp):
    """A perf script of a real program: the corpus's, else of a Python recorded here."""
    known = os.path.join(CORPUS, 'perf-script/flamegraph__perf-script.txt')
    if os.path.exists(known):
        with open(known, encoding='latin-1') as f:
            return f.read()
    data = os.path.join(tmp, 'perf.data')
    subprocess.run(['perf', 'record', '-q', '-F', '999', '-g', '-o', data, sys.executable, '-c', DEEP], check=True, stderr=subprocess.DEVNULL)
    return subprocess.run(['perf', 'script', '-i', data], check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout.decode('latin-1')


def real_samples(text):
    """[(what stands before the time, what stands behind it, frame lines)] of samples with frames."""
    samples = []
    for block in re.split(r'\n\s*\n', re.sub(r'(?m)^#.*\n', '', text)):
        lines = block.strip('\n').split('\n')
        header = HEADER.match(lines[0])
        if header and len(lines) > 1:
            samples.append((header[1], header[3], lines[1:]))
    return samples


def make_text(tmp, size, least=20, most=32):
    rng, samples = random.Random(11), real_samples(real_text(tmp))
    deep = [s for s in samples if len(s[2]) >= 20]
    heads = sorted({(s[0], s[1]) for s in deep})
    stacks = []
    while len(stacks) < 20000:  # the leaves of one on the roots of another
        a, b = rng.choice(deep)[2], rng.choice(deep)[2]
        n = rng.randrange(least, most + 1)
        leaves = min(rng.randrange(1, n), len(a))
        if n - leaves <= len(b):
            stacks.append('\n'.join(a[:leaves] + b[len(b) - (n - leaves):]) + '\n\n')
    path, done, n = os.path.join(tmp, 'large.script'), 0, 0
    with open(path, 'w', encoding='latin-1') as f:
        while done < size:
            piece = []
            for _ in range(1000):
                before, after = heads[n % len(heads)]
                piece.append(f'{before}{100000 + n // 10000}.{n % 10000 * 100:06d}: {after}\n{rng.choice(stacks)}')
                n += 1
            done += f.write(''.join(piece))
    return path, f'{n} samples, {len(stacks)} stacks'


def recorded_here(tmp):
    sys.path.insert(0, os.path.join(HERE, '../tests/interop'))
    from jdk_test import record
    return record(tmp) if all(shutil.which(t) for t in ('java', 'javac', 'jcmd')) else None


def densest():
    """The recordings of the corpus with the most events a byte."""
    names = [os.path.join(CORPUS, 'jfr', n) for n in ('jfrparser__async-profiler.jfr.gz', 'jfrparser__wall.jfr.gz')]
    return [n for n in names if os.path.exists(n)]


def make_jfr(tmp, source, size):
    with open(source, 'rb') as f:
        chunk = f.read()
    chunk = gzip.decompress(chunk) if chunk[:2] == b'\x1f\x8b' else chunk
    path = os.path.join(tmp, 'large.jfr')
    times = -(-size // len(chunk))
    with open(path, 'wb') as f:
        for _ in range(times):
            f.write(chunk)
    return path, f'{os.path.basename(source)} {times} times'


def make_pprof(tmp, flamekeep):
    """More than a million rows with times of their own, written by the program itself from a perf script of short stacks."""
    text, what = make_text(tmp, 512 * MIB, 3, 6)
    path = os.path.join(tmp, 'large.pb')
    packed = path + '.gz'
    subprocess.run([flamekeep, 'convert', text, packed, '--format', 'pprof'], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    with gzip.open(packed) as f, open(path, 'wb') as to:
        shutil.copyfileobj(f, to)
    os.unlink(packed)
    os.unlink(text)
    return path, what


def floor(path):
    """Seconds of gzip -dc | wc of these bytes."""
    packed = path + '.floor.gz'
    with open(packed, 'wb') as f:
        subprocess.run(['gzip', '-c', path], check=True, stdout=f)
    began = time.monotonic()
    subprocess.run(f'gzip -dc {packed} | wc', shell=True, check=True, stdout=subprocess.DEVNULL, env={**os.environ, 'LC_ALL': 'C'})
    seconds = time.monotonic() - began
    os.unlink(packed)
    return seconds


def upload(server, path):
    """(status, receipt, seconds, processor seconds, most RssAnon above idle in MiB)"""
    pid, over, most = server.process.pid, threading.Event(), [0.0]
    idle, cpu = resident(pid), cpu_seconds(pid)

    def watch():
        while not over.wait(0.02):
            most[0] = max(most[0], resident(pid))

    watcher = threading.Thread(target=watch)
    watcher.start()
    began = time.monotonic()
    with open(path, 'rb') as f:
        client = Client(server.port, timeout=900)
        client.connection.request('POST', '/api/v1/upload', f, {'Content-Length': str(os.path.getsize(path))})
        response = client.connection.getresponse()
        receipt = json.loads(response.read())
    seconds = time.monotonic() - began
    over.set()
    watcher.join()
    return response.status, receipt, seconds, cpu_seconds(pid) - cpu, most[0] - idle


def measure(flamekeep, tmp, path, what):
    size = os.path.getsize(path) / MIB
    server = Server(flamekeep, os.path.join(tmp, 'data'), '--originals', 'none')
    server.start()
    status, receipt, seconds, cpu, memory = upload(server, path)
    server.stop()
    shutil.rmtree(os.path.join(tmp, 'data'))
    print(f'{os.path.basename(path)}: {size:.0f} MiB, {what}')
    if status != 201:
        print(f'  REFUSED: {status} {receipt}')
        return
    rows = sum(p['types'][0]['samples'] for p in receipt['profiles'] if p['types'])
    least = floor(path)
    print(f"  {receipt['format']}: {len(receipt['profiles'])} profiles, {rows} observations, left out {sum(d['count'] for d in receipt['dropped'])}")
    print(f'  RssAnon above idle {memory:.0f} MiB; wall {seconds:.1f} s, processor {cpu:.1f} s; {size / seconds:.0f} MiB/s of wall, '
          f'{size / cpu:.0f} of processor time')
    print(f'  gzip -dc | wc: {least:.1f} s, {size / least:.0f} MiB/s: the upload reaches {least / seconds:.2f} of it ({least / cpu:.2f} by processor time)',
          flush=True)


def main(args):
    flamekeep, files = args[0], args[1:]
    with tempfile.TemporaryDirectory() as tmp:
        for path in files:
            measure(flamekeep, tmp, path, 'as given')
        if files:
            return 0
        size = int(os.environ.get('FK_JFR_MB', 500)) * MIB
        makers = [lambda: make_text(tmp, int(os.environ.get('FK_TEXT_MB', 1024)) * MIB), lambda: make_pprof(tmp, flamekeep)]
        makers += [lambda s=s: make_jfr(tmp, s, size) for s in [recorded_here(tmp), *densest()] if s]
        for make in makers:
            path, what = make()
            measure(flamekeep, tmp, path, what)
            os.unlink(path)
    return 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
