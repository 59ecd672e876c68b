#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes seed inputs for the fuzz targets into a folder of the build:  make_seeds.py BUILD/seeds

One folder a target (fuzz_pprof/ ...).  Some seeds are made here; real profiles are copied from
$FK_CORPUS (else ../shared/corpus beside the checkout) where that is, up to 64 KiB each."""
import gzip, os, struct, sys, zlib

HERE = os.path.dirname(os.path.abspath(__file__))


def varint(v):
    v &= (1 << 64) - 1
    out = b''
    while v >= 128:
        out += bytes([v & 127 | 128])
        v >>= 7
    return out + bytes([v])


def field(number, value):
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    return varint(number << 3 | 2) + varint(len(value)) + value


def packed(number, values):
    return field(number, b''.join(varint(v) for v in values))


def pprof(labels=False, times=False):
    strings = [b'', b'samples', b'count', b'cpu', b'nanoseconds', b'main', b'work', b'/bin/a',
               b'thread', b'end_timestamp_ns', b'build', b'\xff']
    out = field(1, field(1, 1) + field(2, 2)) + field(1, field(1, 3) + field(2, 4))
    for i in range(3):
        sample = packed(1, [3, 2, 1][i:]) + packed(2, [i, -i])
        if labels:
            sample += field(3, field(1, 8) + field(2, 11)) + field(3, field(1, 8) + field(3, 5))
        if times:
            sample += field(3, field(1, 9) + field(3, 1700000000 + i) + field(4, 4))
        out += field(2, sample)
    out += field(3, field(1, 1) + field(2, 4096) + field(3, 8192) + field(4, 64) + field(5, 7) +
                 field(6, 10) + field(7, 1))
    for i in (1, 2, 3):
        line = field(4, field(1, 1 + i % 2) + field(2, 10 * i) + field(3, i))
        out += field(4, field(1, i) + field(2, i % 2) + field(3, 4096 + i) + line * i)
    out += field(5, field(1, 1) + field(2, 5)) + field(5, field(1, 2) + field(2, 6) + field(4, 7))
    out += b''.join(field(6, s) for s in strings)
    return out + field(9, 1) + field(10, 2) + field(11, field(1, 3)) + field(12, 7) + \
        packed(13, [5, 6]) + field(14, 1)


def made():
    plain, full = pprof(), pprof(True, True)
    yield 'fuzz_pprof', [plain, pprof(True), full, gzip.compress(full), gzip.compress(plain[:90]) +
                         gzip.compress(plain[90:]), gzip.compress(gzip.compress(plain))]
    yield 'fuzz_protobuf', [plain, full, b'\x09' + bytes(8) + b'\x0d' + bytes(4)]
    yield 'fuzz_folded', [b'a;b;c 1\na;b 2\n', b'a;b 1 2\na 3 4\n', b'# x\r\na 1.5\r\n;; -2\n',
                          b'<html>', b'<?xml version', b'{"a":1}', b'FLR\0', b'go 1.22 trace\0\0\0',
                          b'/bin/x\0--y\0', b'version: 1\nevents: Ir\n', gzip.compress(b'a;b 1\n'),
                          gzip.compress(gzip.compress(plain)), plain, b'heap profile: 1',
                          'a;\u20ac 5\r\n'.encode('utf-16'), b'\xfe\xff\x00a\x00 \x001']
    yield 'fuzz_json', [b'{"a":[1,-2.5e3,true,false,null,{}],"b":"\\u00e9\\ud83d\\ude00\\n"}',
                        b'[[[["x"]]]]', b'"\\ud83d"', b' 12 ', b'{"":""}']
    yield 'fuzz_selector', [b'{service_name="x", pod=~"a.*"}', b'up{a!="b",c!~`d|e`}', b'{"a b"=\'\\x41\'}',
                            b'a:b:c:d:e{x=~"(?i)[a-z]+\\\\d{2,3}",}', b'/(foo|ba[rz])+?/', b'{}']
    yield 'fuzz_packing', [bytes([n, w]) + bytes(range(256)) * 5 for n in (1, 63, 64, 200)
                           for w in (0, 1, 7, 31, 32, 33, 64)] + [
        b'\x00' + struct.pack('<16Q', *(1 << i * 4 for i in range(16)))]
    deflated = [gzip.compress(b'hello' * 50), zlib.compress(b'hello' * 50),
                bytes.fromhex('28b52ffd2005290000') + b'hello', gzip.compress(bytes(1 << 21))]
    yield 'fuzz_inflate', deflated + [deflated[0] + deflated[0] + b'junk']
    yield from made_http()


def made_http():
    post = b'POST /a?x=1&y=%20 HTTP/1.1\r\nHost: x\r\n'
    yield 'fuzz_http1', [b'\x03' + s for s in (
        b'GET //a/b?c=d HTTP/1.1\r\nHost: x:1\r\nConnection: close\r\n\r\n',
        b'GET http://x/a HTTP/1.0\r\n\r\n', post + b'Content-Length: 5\r\n\r\nhello',
        post + b'Transfer-Encoding: chunked\r\n\r\n5;a=b\r\nhello\r\n0\r\nA: b\r\n\r\n',
        post + b'Expect: 100-continue\r\nContent-Length: 5\r\nContent-Length: 5\r\n\r\n',
        b'GET / HTTP/1.1\r\nHost: x\r\nA: b\r\n c\r\n\r\n', b'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
        b'OPTIONS * HTTP/1.1\r\nHost: x\r\nUpgrade: h2c\r\nConnection: upgrade\r\n\r\n',
        b'HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok',
        b'HTTP/1.0 301 Moved\r\nLocation: /\r\nTransfer-Encoding: chunked\r\n\r\n')]
    form = b'multipart/form-data; boundary="X"\n--X\r\nContent-Disposition: form-data; name="p\\"q"; '
    yield 'fuzz_multipart', [
        form + b'filename="a"\r\nContent-Type: a/b\r\n\r\nbytes\r\n--X\r\n\r\n\r\n--X--\r\n',
        form + b'filename=b\r\n\r\n--X\r\nA: b\r\n\r\n--Y\r\n--X--', b'multipart/x;boundary=a\nb']
    yield 'fuzz_url', [b'a=1&b=x%20y+z&a=2&c&=d', b'text/html, */*;q=0.1', b'gzip;q=0.5, *;q=0',
                       b'multipart/form-data; boundary="a\\"b"', b'http://[::1]:80/a?b#c', b'W/"x", "y"']


def copied():
    corpus = os.environ.get('FK_CORPUS') or os.path.join(HERE, '../../shared/corpus')
    for target, folders in (('fuzz_pprof', ('pprof', 'pprof-malformed')), ('fuzz_folded', ('folded',)),
                            ('fuzz_json', ('speedscope', 'cpuprofile', 'flamebearer')),
                            ('fuzz_inflate', ('pprof', 'pprof-malformed'))):
        for folder in folders:
            path = os.path.join(corpus, folder)
            for name in sorted(os.listdir(path)) if os.path.isdir(path) else ():
                file = os.path.join(path, name)
                if os.path.isfile(file) and os.path.getsize(file) <= 65536:
                    with open(file, 'rb') as f:
                        data = f.read()
                    yield target, [data]
                    if target == 'fuzz_pprof' and data[:2] == b'\x1f\x8b' and folder == 'pprof':
                        raw = gzip.decompress(data)
                        yield target, [raw] if len(raw) <= 200000 else []


def main(to):
    count = {}
    for target, seeds in list(made()) + list(copied()):
        os.makedirs(os.path.join(to, target), exist_ok=True)
        for data in seeds:
            count[target] = count.get(target, 0) + 1
            with open(os.path.join(to, target, f'seed{count[target]:04}'), 'wb') as f:
                f.write(data)
    print(' '.join(f'{t}:{n}' for t, n in sorted(count.items())))


if __name__ == '__main__':
    main(sys.argv[1])
