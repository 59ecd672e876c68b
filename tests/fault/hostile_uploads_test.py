#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Arguments: {build}/flamekeep
"""Hostile files for every decoder, uploaded to a running server:  hostile_uploads_test.py FLAMEKEEP

Made from the seeds of fuzz/make_seeds.py, which takes files of the corpus too where there is one (FK_CORPUS): cut off, repeated, with
flipped bits, with bytes taken out, crossed with another file, compressed again, sent under every format's name; and large ones made to be
slow: deep, wide, long and empty. By a fixed seed (FK_SEED); FK_KEEP=FOLDER keeps those that fail. Each has to be answered with 2xx or 4xx within 30 seconds; the server has to be
there at the end, in the memory that it may have, and its folder has to be whole.
"""
import gzip, http.client, json, os, random, re, struct, subprocess, sys, tempfile, threading, time, zlib

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from server import Client, Server, check, memory

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), '../..')
SECONDS = 30 # far beyond what --limit-decode-memory lets one upload take, also on a busy machine
A_TARGET = 24 # files of each fuzz target, and mutations of each file
MUTATIONS = 5
MIB = 1 << 20
NOT_PROFILES = {'fuzz_block', 'fuzz_elf', 'fuzz_http1', 'fuzz_http2', 'fuzz_packing', 'fuzz_record', 'fuzz_rpc', 'fuzz_selector', 'fuzz_url'}


def seeds(folder, rng):
    """[bytes] of profiles of all formats."""
    subprocess.run([sys.executable, os.path.join(ROOT, 'fuzz/make_seeds.py'), folder], check=True, stdout=subprocess.DEVNULL)
    found = []
    for target in sorted(set(os.listdir(folder)) - NOT_PROFILES):
        names = sorted(os.listdir(os.path.join(folder, target)))
        for name in rng.sample(names, min(A_TARGET, len(names))):
            with open(os.path.join(folder, target, name), 'rb') as f:
                data = f.read()
            found.append(data[1:] if target == 'fuzz_jfr' and data[:1] == b'\xff' else data)
    return [f for f in found if f]


def flipped(data, rng, n):
    out = bytearray(data)
    for _ in range(n):
        out[rng.randrange(len(out))] ^= 1 << rng.randrange(8)
    return bytes(out)


def mutated(data, others, rng):
    plain = gzip.decompress(data) if data[:2] == b'\x1f\x8b' and rng.random() < .8 else data
    plain = plain or b'\0'
    a, b = sorted((rng.randrange(len(plain) + 1), rng.randrange(len(plain) + 1)))
    other = rng.choice(others)
    kind = rng.randrange(10)
    if kind == 0:
        return plain[:a]
    if kind == 1:
        return plain * min(rng.randrange(2, 200), max(2, 2 * MIB // len(plain)))
    if kind < 5:
        return flipped(plain, rng, rng.choice((1, 1, 2, 8, 64)))
    if kind == 5:
        return plain[:a] + plain[b:]
    if kind == 6:
        return plain[:a] + other[rng.randrange(len(other)):]
    if kind == 7: # a number that is larger than all
        return plain[:a] + rng.choice((b'\xff' * 9 + b'\x01', b'\xff' * 8, b'18446744073709551615', b'-9223372036854775808', b'1e999')) + plain[b:]
    if kind == 8:
        return plain[:a] + plain[a:b] * 50 + plain[b:]
    return flipped(gzip.compress(plain, 1), rng, rng.choice((0, 1, 3)))


def slow_ones(found, rng):
    """Large files that something quadratic, recursive or greedy would not survive."""
    n = 2 * MIB
    nodes = ','.join(f'{{"id":{i},"callFrame":{{"functionName":"f{i}"}},"children":[{i + 1}]}}' for i in range(1, 30000))
    yield '{"nodes":[' + nodes + ',{"id":30000,"callFrame":{}}],"startTime":0,"endTime":9,"samples":[' + '30000,' * 20000 + '30000],"timeDeltas":[]}'
    for text in (b'[' * n, b'{"a":' * (n // 5), b'{"nodes":' + b'[' * n, b'"' + b'\\u0000' * (n // 6), b'{"profiles":[' + b'{},' * (n // 3),
                 b';' * n + b' 1\n', b'a;' * (n // 2) + b' 1\n', b'\n' * n, b' ' * n, b'a b c ' * (n // 6), b'(' * n,
                 b'x 1 1.000000: 1 cycles:\n' + b'\tff f (x)\n' * (n // 11), b'x 1 1.000000: 1 cycles:\n\n' * (n // 25),
                 b'heap profile: 1: 9 [1: 9] @ heap_v2/512\n 1: 9 [1: 9] @' + b' 0x401005' * (n // 10),
                 b'heap_v2/1\n' + b'@ 0x1 0x2\n t*: 1: 2 [0: 0]\n' * (n // 29), b'--- symbol\n' + b'0x10 f' + b'--g' * (n // 3) + b'\n---\n--- heap\n',
                 b'goroutine 1 [x]:\n' + b'f()\n\t/x.go:2\n' * (n // 14), b'version: 1\nevents: a\n' + b'fn=(1) f\n1 1\n' * (n // 15),
                 b'Call graph:\n' + b''.join(b' ' * (4 + 2 * (i % 2000)) + b'1 f (in x)\n' for i in range(2000)),
                 b'@[\n' + b'f+1\n' * (n // 4) + b']: 1\n', b'@[]: 1\n' * (n // 7), b'\x0a\x00' * (n // 2), b'\x0a\x02\x0a\x00' * (n // 4),
                 b'\x32\x00' * (n // 2), b'\x12\x04\x0a\x00\x12\x00' * (n // 6), struct.pack('<5Q', 0, 3, 0, 10000, 0) + b'\x01' + b'\0' * n,
                 b'FLR\0\0\x02\0\0' + b'\xff' * n, gzip.compress(bytes(200 * MIB), 1), zlib.compress(bytes(200 * MIB), 1),
                 gzip.compress(gzip.compress(bytes(200 * MIB), 1), 1), b'\x04\x08{' * (n // 3), b'\x04\x08' + b'[\x06' * (n // 2)):
        yield text
    for data in rng.sample(found, 16):
        plain = gzip.decompress(data) if data[:2] == b'\x1f\x8b' and len(data) > 20 and crc_good(data) else data
        yield (plain * (2 * MIB // len(plain) + 1)) if plain else b'\0'


def crc_good(data):
    try:
        return bool(gzip.decompress(data))
    except (OSError, EOFError, zlib.error):
        return False


class Sender:
    """Sends bodies and judges the answers; used by several threads."""

    def __init__(self, port):
        self.port, self.lock = port, threading.Lock()
        self.count, self.failures, self.slowest = {}, [], (0, '')

    def send(self, client, what, body, query):
        began = time.monotonic()
        try:
            status, _, answer = client.request('POST', '/api/v1/upload', query, body)
        except (OSError, http.client.HTTPException) as e:
            status, answer = 0, repr(e).encode()
        seconds = time.monotonic() - began
        with self.lock:
            self.count[status // 100] = self.count.get(status // 100, 0) + 1
            self.slowest = max(self.slowest, (seconds, what))
            if status // 100 not in (2, 4) or seconds > SECONDS:
                self.failures.append(f'{what}: {status} after {seconds:.1f} s: {answer[:200]!r}')
            elif status // 100 == 4 and not json.loads(answer).get('detail'):
                self.failures.append(f'{what}: {status} without a reason: {answer[:200]!r}')

    def send_all(self, cases, keep):
        """cases: (what, body, query), each sent once. Those that fail are kept in that folder."""
        cases = iter(enumerate(cases))

        def work():
            client = Client(self.port, timeout=4 * SECONDS)
            while True:
                with self.lock:
                    number, case = next(cases, (0, None))
                if case is None:
                    return
                before = len(self.failures)
                self.send(client, *case)
                if keep and len(self.failures) > before:
                    with open(os.path.join(keep, f'{number}.bin'), 'wb') as f:
                        f.write(case[1])

        threads = [threading.Thread(target=work) for _ in range(3)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()


def formats(client):
    """The names of all that are read, as the server's refusal lists them."""
    detail = client.request('POST', '/api/v1/upload', {'format': 'none'}, b'x')[2]
    listed = re.search(r'read are: ([a-z0-9, -]+)', json.loads(detail)['detail'])
    return [n.strip() for n in listed[1].split(',') if n.strip()]


def cases(found, names, rng):
    for i, data in enumerate(found):
        for _ in range(MUTATIONS):
            query = {'store': 'false'} if rng.random() < .5 else {}
            yield f'file {i}', mutated_or_as_it_is(data, found, rng), query
    for name in names: # the others' files
        for i in rng.sample(range(len(found)), 12):
            yield f'file {i} as {name}', found[i], {'format': name, 'store': 'false'}
            yield f'file {i}, changed, as {name}', mutated_or_as_it_is(found[i], found, rng), {'format': name, 'store': 'false'}
        yield f'nothing as {name}', b' ', {'format': name}
    for i, text in enumerate(slow_ones(found, rng)):
        body = text if isinstance(text, bytes) else text.encode()
        yield f'slow {i}', body, {'store': 'false'}
        yield f'slow {i} as another', body, {'format': names[i % len(names)], 'store': 'false'}


def mutated_or_as_it_is(data, others, rng):
    try:
        return mutated(data, others, rng) or b'\0'
    except (OSError, EOFError, zlib.error): # a seed that is no gzip although it begins like one
        return flipped(data, rng, 2)


def main(flamekeep):
    rng = random.Random(int(os.environ.get('FK_SEED', '20')))
    with tempfile.TemporaryDirectory() as folder:
        found = seeds(os.path.join(folder, 'seeds'), rng)
        server = Server(flamekeep, os.path.join(folder, 'data'), '--limit-decode-memory', '256MiB')
        server.start()
        client, sender = Client(server.port), Sender(server.port)
        try:
            names = formats(client)
            sender.send_all(cases(found, names, rng), os.environ.get('FK_KEEP'))
        except BaseException:
            server.kill()
            raise
        alive = server.process.poll() is None
        ready = alive and client.get('/ready')[0] == 200
        pushed = alive and client.push('main;f 7\n', {'service_name': 'after'})[0] == 201
        most, left = (memory(server.process.pid, what) if alive else 0 for what in ('VmHWM', 'RssAnon'))
        if alive:
            server.stop()
        whole = alive and check(flamekeep, server.data)
    results = [('answers', not sender.failures, ' | '.join(sender.failures[:10])), ('the server is there', alive, server.process.returncode),
               ('it is ready', ready, ''), ('it takes a profile', pushed, ''), ('formats known', len(names) > 20, names),
               ('some were taken, some refused', sender.count.get(2, 0) > 100 < sender.count.get(4, 0), sender.count),
               ('memory stays below 2 GiB', most < 2048, most), ('it is given back', left < 256, left), ('the folder is whole', whole and whole[0] == 0, whole)]
    print(f'{sum(sender.count.values())} uploads of {len(found)} files in {len(names)} formats: {sender.count}; slowest {sender.slowest[0]:.1f} s '
          f'({sender.slowest[1]}); most memory {most:.0f} MiB, {left:.0f} at the end')
    for what, ok, detail in results:
        if not ok:
            print(f'FAILED: {what}: {detail}')
    bad = sum(not ok for _, ok, _ in results)
    print(f'{len(results) - bad} passed, {bad} failed')
    return bad > 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1]))
