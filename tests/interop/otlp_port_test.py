#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Arguments: {build}/flamekeep
"""The port on which senders of OpenTelemetry look:  otlp_port_test.py FLAMEKEEP

Asked for by flag it is opened, or the server does not start and names it; by default a port that another program holds is a line
in the log; `none` opens nothing."""
import contextlib, json, os, re, socket, subprocess, sys, tempfile, urllib.request

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, '..', 'fault'))
from server import Server


@contextlib.contextmanager
def running(binary, folder, *flags):
    server = Server(binary, folder, *flags)
    server.start()
    try:
        yield server
    finally:
        server.stop()


@contextlib.contextmanager
def held(port=0):
    """A port that somebody holds: we, or whoever was faster."""
    with socket.socket() as s:
        try:
            s.bind(('127.0.0.1', port))
            s.listen()
        except OSError:
            yield port
            return
        yield s.getsockname()[1]


def export(port):
    request = urllib.request.Request(f'http://127.0.0.1:{port}/v1development/profiles', b'{}', {'Content-Type': 'application/json'})
    with urllib.request.urlopen(request, timeout=20) as answer:
        return answer.status, json.load(answer)


def checks(binary, tmp):
    with held() as free:
        pass
    with running(binary, os.path.join(tmp, 'a'), '--listen-otlp', f'127.0.0.1:{free}') as server:
        yield 'both ports answer', export(free) == export(server.port) == (200, {}), ''
        p = subprocess.run([binary, 'serve', '--data', os.path.join(tmp, 'b'), '--listen', '127.0.0.1:0', '--listen-otlp',
                            f'127.0.0.1:{free}'], stderr=subprocess.PIPE, timeout=60)
        yield 'a port asked for that is taken', p.returncode != 0 and str(free).encode() in p.stderr, p.stderr
    with held(4318):
        p = subprocess.Popen([binary, 'serve', '--data', os.path.join(tmp, 'c'), '--listen', '127.0.0.1:0', '--no-self-profile'],
                             stderr=subprocess.PIPE, text=True)
        said = ''
        while 'listens on' not in said:
            line = p.stderr.readline()
            if not line:
                break
            said += line
        found = re.search(r'listens on http://127\.0\.0\.1:(\d+)', said)
        yield 'the default port taken: the server runs', found and export(int(found[1])) == (200, {}), said
        yield 'and says how to choose another', '--listen-otlp' in said, said
        p.terminate()
        p.communicate(timeout=60)
    p = subprocess.Popen([binary, 'serve', '--data', os.path.join(tmp, 'e'), '--listen', '127.0.0.1:0', '--listen', '127.0.0.1:0', '--listen-otlp',
                          '127.0.0.1:0', '--listen-plain', '127.0.0.1:0', '--no-self-profile'], stderr=subprocess.PIPE, text=True)
    said = ''.join(p.stderr.readline() for _ in range(4)) # the log is silent until then
    ports = [int(port) for port in re.findall(r'listens on http://127\.0\.0\.1:(\d+)', said)]
    yield 'every address is said', len(set(ports)) == 4 and all(export(port) == (200, {}) for port in ports), said
    yield 'and what for', said.count('OpenTelemetry') == said.count('without TLS') == 1, said
    p.terminate()
    p.communicate(timeout=60)
    p = subprocess.Popen([binary, 'serve', '--data', os.path.join(tmp, 'f'), '--listen', '127.0.0.1:0', '--listen-otlp', '0.0.0.0:0',
                          '--no-self-profile'], stderr=subprocess.PIPE, text=True)
    said = ''.join(p.stderr.readline() for _ in range(3))
    yield 'open to everybody by this port: that is said', 'may read and write everything' in said, said
    p.terminate()
    p.communicate(timeout=60)
    with running(binary, os.path.join(tmp, 'd'), '--listen-otlp', 'none') as server:
        text = open(f'/proc/{server.process.pid}/net/tcp').read()
        inodes = {os.readlink(f'/proc/{server.process.pid}/fd/{fd}') for fd in os.listdir(f'/proc/{server.process.pid}/fd')}
        mine = [l.split() for l in text.splitlines()[1:] if f'socket:[{l.split()[9]}]' in inodes]
        listening = [int(l[1].split(':')[1], 16) for l in mine if l[3] == '0A']
        yield 'none: one port', listening == [server.port], f'{listening}'


def main(args):
    good = bad = 0
    with tempfile.TemporaryDirectory() as tmp:
        for what, ok, detail in checks(args[0], tmp):
            good, bad = good + bool(ok), bad + (not ok)
            if not ok:
                print(f'FAILED: {what}: {detail}')
    print(f'{good} passed, {bad} failed')
    return bad > 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
