#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Arguments: {build}/flamekeep
"""Many connections at once:  connections_test.py FLAMEKEEP

10,000 idle ones, half of them HTTP/2, each after a request; 500 uploads under way on five HTTP/2 connections; clients that never read. All
within 256 MiB of resident memory; meanwhile others are answered, and at the end every upload is stored. FK_CONNECTIONS changes the number."""
import os, re, resource, socket, struct, sys, tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from server import Client, Server

IDLE = int(os.environ.get('FK_CONNECTIONS', '10000'))
MIB = 256
PREFACE = b'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'


def frame(kind, flags, stream, payload=b''):
    return struct.pack('>I', len(payload))[1:] + bytes([kind, flags]) + struct.pack('>I', stream) + payload


def head(method, path, **more):
    """HPACK without table and Huffman code."""
    fields = {':method': method, ':path': path, ':scheme': 'http', ':authority': 'localhost', **more}
    return b''.join(b'\0' + bytes([len(n)]) + n.encode() + bytes([len(v)]) + v.encode() for n, v in fields.items())


def resident(pid):
    text = open(f'/proc/{pid}/status').read()
    return {what: int(re.search(what + r':\s+(\d+)', text).group(1)) / 1024 for what in ('VmRSS', 'VmHWM')}


def connect(port):
    return socket.create_connection(('127.0.0.1', port), timeout=60)


def until(s, text, got=b''):
    while text not in got:
        piece = s.recv(65536)
        if not piece:
            raise RuntimeError(f'the server has closed: {got[-200:]}')
        got += piece
    return got


def idle(port, n):
    for i in range(n):
        s = connect(port)
        if i % 2:
            s.sendall(PREFACE + frame(4, 0, 0) + frame(1, 5, 1, head('GET', '/ready')))
        else:
            s.sendall(b'GET /ready HTTP/1.1\r\nHost: localhost\r\n\r\n')
        until(s, b'ready\n')
        yield s


class Uploads:
    """A hundred uploads on one connection, the first half of each sent."""

    def __init__(self, port):
        text = ''.join(f'main;f{i};g{i} {i + 1}\n' for i in range(1000)).encode()
        self.rest, half = text[10000:], text[:10000]
        self.socket = connect(port)
        self.socket.sendall(PREFACE + frame(4, 0, 0))
        until(self.socket, frame(4, 1, 0)) # the server's settings came before
        self.socket.sendall(frame(4, 1, 0))
        self.streams = range(1, 201, 2)
        path = '/ingest?format=folded&name=uploads'
        for i in self.streams:
            self.socket.sendall(frame(1, 4, i, head('POST', path, **{'content-length': str(len(text))})) + frame(0, 0, i, half))

    def finish(self):
        """Streams that were answered 200."""
        for i in self.streams:
            self.socket.sendall(frame(0, 1, i, self.rest))
        left, good, got = set(self.streams), 0, b''
        while left:
            piece = self.socket.recv(65536)
            if not piece:
                break
            got += piece
            while len(got) >= 9 and len(got) >= 9 + int.from_bytes(got[:3], 'big'):
                n, kind, flags, stream = int.from_bytes(got[:3], 'big'), got[3], got[4], int.from_bytes(got[5:9], 'big')
                good += kind == 1 and got[9] == 0x88 # :status 200, the static table's
                if kind in (0, 1) and flags & 1 or kind == 3:
                    left.discard(stream)
                got = got[9 + n:]
        return good


def deaf(port):
    """Asks for much and reads nothing: by the socket, and by a window that stays shut."""
    a, b = connect(port), connect(port)
    a.sendall(b'GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n' * 2000)
    b.sendall(PREFACE + frame(4, 0, 0, struct.pack('>HI', 4, 0)) +
              b''.join(frame(1, 5, i, head('GET', '/metrics')) for i in range(1, 199, 2)))
    return a, b


def main(flamekeep):
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard < IDLE + 1000:
        print(f'SKIP-ALL: only {hard} descriptors may be open here, {IDLE + 1000} are needed')
        return 0
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    with tempfile.TemporaryDirectory() as folder:
        server = Server(flamekeep, os.path.join(folder, 'data'), '--listen-otlp', 'none', '--http-idle-time', '1h', '--http-rate-time', '1h')
        server.start()
        try:
            start = resident(server.process.pid)['VmRSS']
            waiting = list(idle(server.port, IDLE))
            after_idle = resident(server.process.pid)['VmRSS']
            uploads = [Uploads(server.port) for _ in range(5)]
            readers = deaf(server.port)
            others = [Client(server.port).get('/ready')[0] for _ in range(50)]
            with_streams = resident(server.process.pid)
            metrics = Client(server.port).get('/metrics')[1]
            stored = sum(u.finish() for u in uploads)
            most = resident(server.process.pid)['VmHWM']
            last = [until_again(s, i) for i, s in enumerate(waiting[-100:])]
            for s in [*waiting, *readers, *(u.socket for u in uploads)]:
                s.close()
        except BaseException:
            server.kill()
            raise
        server.stop()
    streams = int(re.search(r'flamekeep_http2_streams_total (\d+)', metrics).group(1))
    print(f'{IDLE} idle connections: {after_idle - start:.1f} MiB; 500 uploads besides: {with_streams["VmRSS"]:.1f} MiB resident, {most:.1f} at most')
    results = [('within the memory', most < MIB, most), ('others are answered', others == [200] * 50, others), ('streams', streams >= 500, streams),
               ('each upload is stored', stored == 500, stored), ('idle ones are of use', all(last), last)]
    for what, ok, detail in results:
        if not ok:
            print(f'FAILED: {what}: {detail}')
    bad = sum(not ok for _, ok, _ in results)
    print(f'{len(results) - bad} passed, {bad} failed')
    return bad > 0


def until_again(s, i):
    s.sendall(frame(4, 1, 0) + frame(1, 5, 3, head('GET', '/ready')) if i % 2 else b'GET /ready HTTP/1.1\r\nHost: localhost\r\n\r\n')
    return b'ready\n' in until(s, b'ready\n')


if __name__ == '__main__':
    sys.exit(main(sys.argv[1]))
