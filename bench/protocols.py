#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Arguments: {build}/flamekeep
"""What a protocol costs:  bench/protocols.py FLAMEKEEP [PROFILE.pb.gz]        FK_PUSHES (2000) a turn, FK_TURNS (3) turns

The same profile through our own upload over HTTP/1.1, and through push.v1's Push over HTTP/1.1, HTTP/2 and gRPC, sent by eight
h2load of one connection, turn by turn so that the machine's mood is shared. Printed: acknowledged profiles a second and the server's
processor time a profile, medians, and their ratio to the upload. The profile says no time: nothing is taken for a repetition; and
each connection pushes for a service of its own, as two pushes of the same bytes at once would wait for each other."""
import gzip, os, re, shutil, statistics, subprocess, sys, tempfile, time

from common import Client, Server, cpu_seconds, made_profile


def varint(n):
    out = b''
    while n > 127:
        out, n = out + bytes([n & 127 | 128]), n >> 7
    return out + bytes([n])


def field(number, data):
    return varint(number << 3 | 2) + varint(len(data)) + data


def without_time(pprof):
    """The same profile with neither time nor duration (fields 9 and 10)."""
    raw, at, out = gzip.decompress(pprof), 0, b''
    while at < len(raw):
        begin, key = at, 0
        for shift in range(0, 64, 7):
            key |= (raw[at] & 127) << shift
            at += 1
            if raw[at - 1] < 128:
                break
        n = 0
        for shift in range(0, 70, 7):
            n |= (raw[at] & 127) << shift
            at += 1
            if raw[at - 1] < 128:
                break
        if key & 7 == 2:
            at += n
        if key >> 3 not in (9, 10):
            out += raw[begin:at]
    return gzip.compress(out, 6, mtime=0)


CONNECTIONS = 8


def bodies(pprof):
    """By name: flags of h2load, content type, and the path and body of each connection."""
    uploads, pushes = [], []
    for i in range(CONNECTIONS):
        service = f'bench-{i}'.encode()
        labels = b''.join(field(1, field(1, k) + field(2, v)) for k, v in ((b'__name__', b'process_cpu'), (b'service_name', service)))
        uploads.append((f'/api/v1/upload?format=pprof&labels=%7Bservice_name%3D%22bench-{i}%22%7D', pprof))
        pushes.append(('/push.v1.PusherService/Push', field(1, labels + field(2, field(1, pprof)))))
    return {
        'upload': (['--h1'], 'application/octet-stream', uploads),
        'push h1': (['--h1'], 'application/proto', pushes),
        'push h2': ([], 'application/proto', pushes),
        'push gRPC': (['-H', 'te: trailers'], 'application/grpc',
                      [(path, b'\0' + len(push).to_bytes(4, 'big') + push) for path, push in pushes]),
    }


def turn(server, tmp, name, pushes, what):
    """Profiles a second, microseconds of the server's processor time each."""
    flags, kind, ways = what
    clients = []
    cpu, began = cpu_seconds(server.process.pid), time.monotonic()
    for i, (path, body) in enumerate(ways):
        data = os.path.join(tmp, f'body{i}')
        with open(data, 'wb') as f:
            f.write(body)
        clients.append(subprocess.Popen(['h2load', '-n', str(pushes // CONNECTIONS), '-c', '1', '-t', '1', *flags, '-H', f'content-type: {kind}',
                                         '-d', data, f'http://127.0.0.1:{server.port}{path}'], stdout=subprocess.PIPE, text=True))
    for c in clients:
        said = c.communicate()[0]
        good = re.search(r'(\d+) 2xx', said)
        if not good or int(good[1]) != pushes // CONNECTIONS:
            raise RuntimeError(f'{name}: {said}')
    took, cpu = time.monotonic() - began, cpu_seconds(server.process.pid) - cpu
    return pushes / took, cpu / pushes * 1e6


def main(args):
    if not shutil.which('h2load'):
        print('SKIP-ALL: no h2load: apt install nghttp2-client')
        return 77
    pushes, turns = int(os.environ.get('FK_PUSHES', 2000)), int(os.environ.get('FK_TURNS', 3))
    pushes -= pushes % CONNECTIONS
    with tempfile.TemporaryDirectory() as tmp:
        with open(args[1] if len(args) > 1 else made_profile(args[0], tmp), 'rb') as f:
            ways = bodies(without_time(f.read()))
        server = Server(args[0], os.path.join(tmp, 'data'), '--no-self-profile', '--listen-otlp', 'none', '--originals', 'none')
        server.start()
        seen = {name: [] for name in ways}
        for _ in range(turns):
            for name, what in ways.items():
                seen[name].append(turn(server, tmp, name, pushes, what))
        stored = Client(server.port).get('/api/v1/status')[1]['profiles']
        server.stop()
    if stored != pushes * turns * len(ways):
        raise RuntimeError(f'{stored} profiles stored, {pushes * turns * len(ways)} sent')
    rate = {n: statistics.median(r for r, _ in v) for n, v in seen.items()}
    cpu = {n: statistics.median(c for _, c in v) for n, v in seen.items()}
    for name in ways:
        print(f"{name:10} {rate[name]:7.0f} a second, {cpu[name]:5.0f} us each; to the upload: {rate[name] / rate['upload']:.2f} by rate, "
              f"{cpu[name] / cpu['upload']:.2f} by processor time")
    return 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
