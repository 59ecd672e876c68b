#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes seed inputs for the fuzz targets into a folder of the build:  make_seeds.py BUILD/seeds

One folder a target (fuzz_pprof/ ...).  Some seeds are made here; real profiles are copied from
$FK_CORPUS (else ../shared/corpus beside the checkout) where that is, up to 64 KiB each."""
import base64, gzip, os, shutil, struct, subprocess, sys, tempfile, zlib

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
    yield from made_text()
    yield from made_http()
    yield from made_http2()
    yield from made_files()
    yield from made_otlp()
    yield 'fuzz_jfr', made_jfr()
    yield from made_rpc(full)
    yield from made_envelopes()
    token = b'fk_0123456789abcdef_' + b'0123456789abcdef' * 4
    yield 'fuzz_access', [b'\0Bearer ' + token, b'\0Basic ' + base64.b64encode(b'user:' + token), b'\0Basic ' + base64.b64encode(token), b'\0basic dTo=',
                          b'\1a=b; flamekeep_token=' + token + b'; c=d', b'\2alpha|beta | alpha', b"\2a!-_.*'()Z9", b'\2..', b'\2' + b'a' * 151, b'\3push,read,admin', b'\3read,read']


def jfr_chunk(packed):
    """A chunk of JFR 2.1 with one execution sample, its stack, method, class and thread."""
    def number(v, width=8):
        return varint(v) if packed else v.to_bytes(width, 'big')

    def text(s):
        return b'\3' + number(len(s), 4) + s

    def sized(payload):
        n = len(payload) + 4
        return (bytes([n & 127 | 128, n >> 7 & 127 | 128, n >> 14 & 127 | 128, n >> 21]) if packed else n.to_bytes(4, 'big')) + payload

    strings, types = [], ((10, 'long', ''), (11, 'int', ''), (12, 'boolean', ''), (13, 'java.lang.String', ''), (
        20, 'java.lang.Class', 'name:21r'), (21, 'jdk.types.Symbol', 'string:13'), (22, 'jdk.types.Method', 'type:20r name:21r'), (
        23, 'jdk.types.StackFrame', 'method:22r lineNumber:11'), (24, 'jdk.types.StackTrace', 'truncated:12 frames:23a'), (
        25, 'java.lang.Thread', 'osName:13 osThreadId:10'), (
        30, 'jdk.ExecutionSample', 'startTime:10 sampledThread:25r stackTrace:24r contextId:10'), (
        31, 'jdk.ActiveSetting', 'startTime:10 id:10 name:13 value:13'))

    def element(name, attributes, *children):
        for s in (name, *(x for pair in attributes.items() for x in pair)):
            strings.append(text(s.encode()))
        at = iter(range(len(strings) - 1 - 2 * len(attributes), len(strings)))
        return number(next(at), 4) + number(len(attributes), 4) + b''.join(number(i, 4) for i in at) + \
            number(len(children), 4) + b''.join(c() for c in children)

    def field(spec):
        name, type = spec.split(':')
        flags = {'class': type.rstrip('ra'), **({'constantPool': 'true'} if type[-1] == 'r' else {}), **({'dimension': '1'} if type[-1] == 'a' else {})}
        return lambda: element('field', {'name': name, **flags})

    tree = element('root', {}, lambda: element('metadata', {}, *(
        lambda id=id, name=name, fields=fields: element('class', {'id': str(id), 'name': name}, *map(field, fields.split()))
        for id, name, fields in types)))
    events = sized(number(31) + number(5) + number(30) + text(b'event') + text(b'wall')) + \
        sized(number(30) + number(7) + number(1) + number(1) + number(1))
    pools = number(21) + number(2, 4) + number(1) + text(b'a/Main') + number(2) + text(b'run') + \
        number(20) + number(1, 4) + number(1) * 2 + number(22) + number(1, 4) + number(1) * 2 + number(2) + \
        number(24) + number(1, 4) + number(1) + b'\0' + number(1, 4) + number(1) + number(9, 4) + \
        number(25) + number(1, 4) + number(1) + text(b'main') + number(77)
    checkpoint = sized(number(1) + number(0) * 3 + b'\0' + number(5, 4) + pools)
    metadata = sized(number(0) * 3 + number(1) + number(len(strings), 4) + b''.join(strings) + tree)
    at = 68 + len(events)
    return b'FLR\0' + struct.pack('>HHQQQQQQQI', 2, 1, at + len(checkpoint) + len(metadata), at, at + len(checkpoint),
                                 1 << 60, 10**9, 0, 10**9, packed) + events + checkpoint + metadata


def made_jfr():
    labels = field(1, field(1, 1) + field(2, field(1, field(1, 1) + field(2, 2)))) + \
        field(2, field(1, 1) + field(2, b'handler')) + field(2, field(1, 2) + field(2, b'search'))
    for chunk in (jfr_chunk(True), jfr_chunk(False)):
        yield from (b'\xff' + chunk, b'\x40' + chunk * 2, bytes([64 * len(labels) // (len(labels) + len(chunk)) + 1]) + labels + chunk)


def made_text():
    yield 'fuzz_pyroscope', [b'\0a;b\na;c\n\n', b'\1' + bytes.fromhex('00000102616200020163010001640200'),
                             b'\2' + bytes.fromhex('000001016100020162010001630200')]
    yield 'fuzz_perf_script', [
        b'# captured on: Thu Jul  7 20:48:39 2016\n# event : name = x, sample_freq } = 99\n'
        b'a b 1/2 [003] 4.5: 6 cpu-clock:u: \n\t ff f+0x1 (/x (deleted))\n  f.c:12\n\t 1 [unknown] ([unknown])\n\n',
        b'   x 1 2.5: 3 cycles:  1 f (x)\nx 1 y:z:\n7 g (inlined)\nstray\n']


    frame = b'"callFrame":{"functionName":"f","url":"u","lineNumber":1}'
    nodes = b'"nodes":[{"id":1,' + frame + b',"children":[2]},{"id":2,' + frame + b',"parent":1,"hitCount":3}]'
    yield 'fuzz_v8', [
        b'{' + nodes + b',"startTime":1,"endTime":9,"samples":[2,1],"timeDeltas":[1,-2]}',
        b'{"head":{"functionName":"f","id":1,"children":[{"hitCount":2,"id":2}]},"samples":[2],"timestamps":[5]}',
        b'{"head":{' + frame + b',"selfSize":5,"children":[{"selfSize":7}]}}',
        b'[{"ph":"P","pid":1,"tid":2,"id":"x","name":"Profile","args":{"data":{"startTime":1}}},{"pid":1,"id":"x",'
        b'"name":"ProfileChunk","args":{"data":{"cpuProfile":{' + nodes + b',"samples":[1,2]},"timeDeltas":[1,2]}}},']
    yield 'fuzz_speedscope', [
        b'{"$schema":"","shared":{"frames":[{"name":"a","file":"f","line":1},{"name":"b"}]},"profiles":[' + p + b']}'
        for p in (b'{"type":"sampled","name":"x","unit":"seconds","startValue":1,"samples":[[0,1],[1]],"weights":[1,0.5]}',
                  b'{"type":"evented","unit":"none","endValue":9,"events":[{"type":"O","frame":0,"at":1},'
                  b'{"type":"O","frame":1,"at":2},{"type":"C","frame":0,"at":3}]}')]
    yield 'fuzz_flamebearer', [
        b'{"flamebearer":{"names":["total","a"],"levels":[[0,5,0,0],[0,2,2,1,1,1,1,1]],"units":"samples","sampleRate":99},'
        b'"timeline":{"startTime":5,"samples":[1],"durationDelta":10}}',
        b'{"names":["a"],"levels":[[0,1,1,0,2,2,0]],"format":"double"}']
    maps = b'MAPPED_LIBRARIES:\n00400000-00500000 r-xp 00001000 08:01 7 /bin/x\n'
    yield 'fuzz_legacy', [
        b'heap profile: 1: 9 [1: 9] @ heap_v2/512\n 1: 9 [1: 9] @ 0x401005 0x401006\n' + maps,
        b'heap profile: 1: 16 [4: 64] @ heap/2\n1: 16 [4: 64] @ 0x11\n#\t0x10\tf+0x5\t/g.go:7\n#\t0x10\tg\t/g.go:9\n',
        b'heap_v2/99\n t*: 1: 2 [0: 0]\n@ 0x1 0x2\n t*: 1: 2 [3: 4]\n' + maps,
        b'--- contentionz 1 ---\ncycles/second = 2\nsampling period = 3\n 1 2 @ 0x11\n--- Memory map: ---\n  400000-500000: x\n',
        b'--- contentionz 1 ---\nformat = java\nresolution = microseconds\n 1 2 @ 0x1\n 0x1 f (x.java:1)\n',
        b'goroutine profile: total 1\n1 @ 0x1\n# labels: {"a":"b"}\n#\t0x0\tf\tx:1\n',
        b'goroutine 1 [sleep, 2 minutes]:\nf(0x1)\n\t/x.go:1 +0x2\ncreated by g in goroutine 2\n\t/x.go:2\n',
        b'--- threadz 1 ---\n--- Thread 7 (name: a/1) stack: ---\n  PC: 0x1: f\n  0x2: g\n--- Thread 8 (name: b) stack: ---\n'
        b' [same as previous thread]\n',
        b'--- symbol\nbinary=x\n0x10 f<0000000000000010>--g\n0x20 h\n---\n--- heap\nheap_v2/1\n@ 0x11 0x21\n t*: 1: 2 [0: 0]\n',
        b'--- symbol\n0x11 f\n---\n--- profile\n' + struct.pack('<13Q', 0, 3, 0, 9, 0, 2, 2, 0x11, 0x21, 0, 1, 0, 0)] + [
        struct.pack(f'{order}13{word}', 0, 3, 0, 10000, 0, 2, 2, 0x400011, 0x400022, 7, 0, 1, 0)[:-1] for word in 'IQ'
        for order in '<>'] + [struct.pack(f'{order}13{word}', 0, 3, 1, 9, 0, 2, 3, 1, 2, 3, 0, 1, 0) + b'0x1 f (x:1)\n'
                              for word in 'IQ' for order in '<>']
    stacks = b'"stackTable":{"schema":{"prefix":0,"frame":1},"data":[[null,0],[0,1]]},"frameTable":{"schema":{"location":0},' \
             b'"data":[[0],[1]]},"stringTable":["(root)","f (a.js:1:2)"]'
    yield 'fuzz_firefox', [
        b'{"meta":{"interval":1,"startTime":5.5},"threads":[{"name":"x","pid":1,"tid":"2","samples":{"schema":{"stack":0,"time":1},'
        b'"data":[[1,2.5],[null,3]]},' + stacks + b'}],"processes":[{"meta":{},"threads":[]}]}',
        b'{"meta":{},"shared":{"stackTable":{"prefixOffset":[0,1],"frame":[0,0]},"frameTable":{"func":[0]},"funcTable":{"name":[0],'
        b'"source":[0]},"sources":{"filename":[0]},"stringArray":["a"]},"threads":[{"samples":{"stack":[1],"timeDeltas":[1],'
        b'"weight":[2]}}]}',
        b'{"mode":"cpu","interval":9,"frames":{"7":{"name":"f","file":"x","line":1,"samples":1}},"raw":[1,7,2],'
        b'"raw_timestamp_deltas":[1,2]}', b'{"mode":"object","frames":{"7":{"samples":1}}}', b'\x04\x08{']
    record = field(5, field(1, b'cpu-clock')), field(3, field(1, 1) + field(2, b'/x') + field(3, b'f')), field(
        4, field(1, 2) + field(2, 3) + field(3, b't')), field(
        1, field(1, 9) + field(2, 2) + field(3, field(1, 64) + field(2, 1) + field(3, 0)) + field(4, 5) + field(5, 0))
    yield 'fuzz_stacktext', [
        b'Attaching 1 probe...\n@[\n    f+12\n\t7f g+4 (/x)\n, k, 2]: 3\n@m[a, \n    0x7\n]: 1\n',
        b'CPU     ID                    FUNCTION:NAME\n\n    a`b+0x1\n    0x7\n    2\n',
        b'Analysis of sampling x every 1 millisecond\nCall graph:\n    5 Thread_1\n    + 5 a  (in x) + 1  [0x7]\n    + ! 2 ???  (in x)\n',
        b'Weight\tSelf Weight\t\tSymbol Names\n4.93 s  100.0%\t0 s\t \t   a\n1 ms\t1.5 ms\t \t    b\n',
        b'# callgrind format\npositions: instr line\nevents: Ir Dr\nob=(1) x\nfn=(1) f\n0x1 2 3 4\n+1 * 5\ncfn=(2) g\ncalls=1 2\n* * 6\n',
        b'SIMPLEPERF\1\0' + b''.join(struct.pack('<I', len(r)) + r for r in record) + bytes(4)]


def otlp_tables(where, mapping=0, keyed=False):
    """Mapping, location, function, link, string, attribute table (and units or stacks) under the numbers of `where`."""
    key = (lambda i: b'' if not i else field(1, [b'', b'thread.name', b'bytes'][i])) if keyed else (lambda i: field(1, i + 4 if i else 0))
    strings = [b'', b'samples', b'count', b'cpu', b'nanoseconds', b'thread.name', b'bytes', b'main', b'work', b'/bin/a']
    out = field(where[0], b'') + field(where[0], field(1 + mapping, 4096) + field(2 + mapping, 8192) + field(4 + mapping, 9))
    out += field(where[1], b'') + field(where[1], field(1 + mapping, 1) + field(2 + mapping, 4100) +
                                        field(3 + mapping, field(1, 1) + field(2, 5)) + field(3 + mapping, field(1, 2)))
    out += field(where[2], b'') + b''.join(field(where[2], field(1 + mapping, i) + field(3 + mapping, 9)) for i in (7, 8))
    out += field(where[3], b'') + field(where[3], field(1, bytes(range(16))) + field(2, bytes(range(8))))
    out += b''.join(field(where[4], s) for s in strings)
    out += field(where[5], b'') + field(where[5], key(1) + field(2, field(1, b'w-1'))) + \
        field(where[5], key(2) + field(2, field(3, 77)) + (b'' if keyed else field(3, 6)))
    if keyed:
        return out + field(where[6], field(1, 6) + field(2, 6))
    return out + field(where[6], b'') + field(where[6], packed(1, [1, 0]))


def otlp(revision):
    t = [struct.pack('<Q', 1700000000000000000 + i) for i in range(3)]
    types, pair = field(1, field(1, 1) + field(2, 2)), field(1, 3) + field(2, 4)
    resource = field(1, field(1, field(1, b'service.name') + field(2, field(1, b'shop'))) +
                     field(1, field(1, b'l') + field(2, field(5, field(1, field(2, 1)) + field(1, b'\x21' + bytes(8))))) +
                     field(1, field(3, 5) + field(2, field(8, 7))))
    if revision >= 8:
        value, attr, link = (4, 2, 3) if revision == 10 else (2, 3, 4)
        sample = field(1, 1) + packed(attr, [1, 2]) + field(link, 1) + packed(value, [1, 5, 77]) + field(5, b''.join(t))
        profile = types + field(2, sample) + field(2, field(1, 1) + packed(value, [300])) + b'\x19' + t[0] + field(4, 5) + \
            field(5, pair) + field(6, 10) + field(8 if revision == 8 else 7, bytes(16))
        return field(1, resource + field(2, field(2, profile))) + field(2, otlp_tables((1, 2, 3, 4, 5, 6, 7)))
    if revision == 3:
        profile = types + field(2, packed(1, [1, 0]) + packed(2, [4]) + field(3, field(1, 5) + field(2, 6)) + packed(10, [1]) + packed(13, [9])) + \
            field(2, field(7, 0) + field(8, 2) + packed(2, [1])) + packed(15, [1, 1]) + field(9, 1) + field(11, pair) + field(12, 10)
        tables = otlp_tables((3, 4, 5, 18, 6, 16, 17), 1, True)
        return field(1, resource + field(2, field(2, field(1, bytes(16)) + b'\x11' + t[0] + field(8, profile + tables))))
    indices, time = (5, 11) if revision == 5 else (3, 4)
    sample = field(1, 0) + field(2, 2) + packed(3, [3]) + packed(4, [1, 2]) + field(5, 1) + packed(6, [5, 6, 7])
    profile = types + field(2, sample) + packed(indices, [1, 0, 1]) + field(time, 1) + field(time + 1, 2) + field(time + 2, pair) + field(time + 3, 10)
    if revision == 5:
        return field(1, resource + field(2, field(2, profile + otlp_tables((3, 4, 6, 9, 10, 7, 8), 0, True))))
    request = field(1, resource + field(2, field(2, profile)))
    if revision == 6:
        return request + otlp_tables((2, 3, 4, 5, 6, 7, 8), 0, True)
    return request + field(2, otlp_tables((1, 2, 3, 4, 5, 6, 7), 0, True))


OTLP_JSON = b'''{"resourceProfiles":[{"resource":{"attributes":[{"key":"service.name","value":{"stringValue":"x"}},{"keyStrindex":1,
"value":{"arrayValue":{"values":[{"intValue":"1"},{"doubleValue":"NaN"},{"bytesValue":"AAA="},{"boolValue":true}]}}}]},"scopeProfiles":[
{"scope":{"attributes":[]},"profiles":[{"sampleType":{"typeStrindex":1,"unitStrindex":2},"period":"10","periodType":{"typeStrindex":1},
"samples":[{"stackIndex":1,"attributeIndices":[1],"linkIndex":1,"values":[1,"2"],"timestampsUnixNano":["17","18"]}],"timeUnixNano":"1",
"profileId":"00112233445566778899aabbccddeeff"}]}]}],"dictionary":{"stringTable":["","a","b"],"mappingTable":[{}],"locationTable":[{},
{"address":"18446744073709551615","lines":[{"functionIndex":1,"line":"3"}]}],"functionTable":[{},{"nameStrindex":2}],"linkTable":[{},
{"traceId":"00112233445566778899aabbccddeeff","spanId":"AAECAwQFBgc="}],"attributeTable":[{},{"keyStrindex":1,"value":{"intValue":7}}],
"stackTable":[{},{"locationIndices":[1,0]}]}}'''
OLD_JSON = b'''{"resourceProfiles":[{"scopeProfiles":[{"profiles":[{"profile":{"sampleType":[{"type":1}],"sample":[{"locationsStartIndex":0,
"locationsLength":1,"value":["3"],"timestampsUnixNano":[1],"label":[{"key":1,"num":"2"}]}],"locationIndices":[0],"location":[{"address":1}],
"stringTable":["","a"]},"startTimeUnixNano":"5"}]}]}]}'''


def made_otlp():
    requests = [otlp(r) for r in (3, 5, 6, 7, 8, 9, 10)]
    yield 'fuzz_otlp', requests + [OTLP_JSON, OLD_JSON, gzip.compress(requests[-1])]
    yield 'fuzz_otlp_json', [OTLP_JSON, OLD_JSON, b'"resource_profiles":[]}']


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


def h2_frame(kind, flags, stream, payload=b''):
    return struct.pack('>I', len(payload))[1:] + bytes([kind, flags]) + struct.pack('>I', stream) + payload


def h2_fields(*pairs):
    """Literal fields, neither indexed nor Huffman coded."""
    return b''.join(b'\0' + bytes([len(n)]) + n + bytes([len(v)]) + v for n, v in pairs)


def made_http2():
    def head(method, path, *more):
        return h2_fields((b':method', method), (b':path', path), (b':scheme', b'http'), (b':authority', b'x'), *more)
    post = h2_frame(1, 4, 1, head(b'POST', b'/sink', (b'content-length', b'5')))
    cut = head(b'GET', b'/a', (b'cookie', b'a=1'), (b'cookie', b'b=2'))
    inputs = [
        h2_frame(1, 5, 1, head(b'GET', b'//a?b')) + h2_frame(1, 5, 3, b'\x82\x84\x86\x41\x8a\xa0\xe4\x1d\x13\x9d\x09\xb8\xf0\x1e\x07'),
        post + h2_frame(0, 0, 1, b'he') + h2_frame(0, 9, 1, b'\x02llo\0\0'),
        post + h2_frame(0, 1, 1, b'too much'), post + h2_frame(3, 0, 1, b'\0\0\0\x08'),
        h2_frame(1, 4, 1, head(b'POST', b'/run', (b'expect', b'100-continue'))) + h2_frame(0, 0, 1, b'abc') +
        h2_frame(1, 5, 1, h2_fields((b'x-t', b'y'))),
        h2_frame(1, 4, 1, head(b'POST', b'/sink', (b'pause', b'1'))) + h2_frame(0, 0, 1, bytes(300)) + h2_frame(0, 1, 1),
        h2_frame(1, 4, 1, head(b'POST', b'/sink', (b'refuse', b'1'))) + h2_frame(0, 1, 1, bytes(30)),
        h2_frame(1, 4, 1, head(b'POST', b'/sink', (b'deadline', b'1'))) + h2_frame(0, 1, 1, bytes(30)),
        h2_frame(1, 1, 1, cut[:9]) + h2_frame(9, 0, 1, cut[9:20]) + h2_frame(9, 4, 1, cut[20:]),
        h2_frame(1, 5, 1, head(b'GET', b'/a', (b'Upper', b'1'))) + h2_frame(1, 5, 3, head(b'GET', b'/a', (b'a', b'\x01'))),
        h2_frame(1, 5, 1, head(b'BREW', b'/a')) + h2_frame(1, 5, 3, head(b'CONNECT', b'*')),
        h2_frame(4, 0, 0, b'\0\4\0\0\0\0') + h2_frame(1, 5, 1, head(b'GET', b'/a')) + h2_frame(8, 0, 1, b'\0\0\0\1'),
        h2_frame(6, 0, 0, b'12345678') + h2_frame(6, 1, 0, b'drained\0') + h2_frame(2, 0, 1, b'\0\0\0\3\1') +
        h2_frame(7, 0, 0, bytes(8)) + h2_frame(0xee, 0, 0, b'x')]
    yield 'fuzz_http2', [bytes([0, 1]) + i for i in inputs] + [bytes([3, 3]) + i for i in inputs[:4]] + [
        b'\x05\0PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n' + h2_frame(4, 0, 0) + inputs[0], b'\0\0PRI * HTTP/2.0\r\n\r\nSM\r\n\rX',
        b'\x02\0POST /run HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\nab', b'\0\2GET /a HTTP/1.1\r\nHost: x\r\n\r\nPRI']


def elf():
    """A 64-bit file: two functions, their names, a build id, one loaded segment."""
    names = b'\0work\0main\0'
    symbols = bytes(24) + struct.pack('<IBBHQQ', 1, 0x12, 0, 1, 0x401000, 16) + \
        struct.pack('<IBBHQQ', 6, 0x12, 0, 1, 0x401010, 0)
    note = struct.pack('<III', 4, 8, 3) + b'GNU\0' + bytes(range(8))
    body, at, sections = b'', 64 + 56, [bytes(64)]
    for kind, link, data in ((2, 2, symbols), (3, 0, names), (7, 0, note)):
        sections.append(struct.pack('<IIQQQQIIQQ', 0, kind, 0, 0, at + len(body), len(data), link, 0, 1, 24))
        body += data
    head = b'\x7fELF\2\1\1' + bytes(9) + struct.pack(
        '<HHIQQQIHHHHHH', 3, 62, 1, 0, 64, at + len(body), 0, 64, 56, 1, 64, len(sections), 0)
    load = struct.pack('<IIQQQQQQ', 1, 5, 0, 0x400000, 0x400000, 4096, 4096, 4096)
    return head + load + body + b''.join(sections)


def container(extra, sections=(), version=0):
    """A container whose checksums are zero: the target makes them right."""
    body = b'FKBLOCK\n' + struct.pack('<II', version, 0)
    directory = b''
    for kind, data in sections:
        directory += varint(kind) + b'\0\0' + varint(len(body)) + varint(len(data)) * 2 + bytes(8)
        body += data
    return body + directory + extra + struct.pack('<QQQQII', len(body), len(directory), len(extra), 0,
                                                  version, 0) + b'\nFKTAIL\n'


def made_files():
    file = elf()
    wide = bytearray(file)
    wide[60:62] = b'\xff\xff'
    yield 'fuzz_elf', [file, bytes(wide), file[:64], file[:200], b'\x7fELF\1\1\1' + bytes(80),
                       b'\x7fELF\2\2\1' + bytes(80), b'\x7fELF\2\1\1' + bytes(80)]
    yield 'fuzz_block', [b'\1' + container(b''), b'\1' + container(bytes(64)), b'\0' + container(b'', (), 9),
                         b'\1' + container(bytes(80), ((1, b'abc'), (2, bytes(200))))]
    yield 'fuzz_record', [bytes([kind]) + data for kind in range(4) for data in (
        bytes(40), bytes(range(1, 80)), container(b'anonymous', ((1, bytes(40)),)))]


def made_rpc(profile):
    label = field(1, b'service_name') + field(2, b'web')
    push = field(1, field(1, label) + field(2, field(1, b'\x1f\x8b') + field(2, b'id')))
    select = field(1, b'process_cpu:cpu:nanoseconds:cpu:nanoseconds') + field(2, b'{}') + field(3, 1) + \
        field(4, 1 << 40) + field(5, 100)
    series = field(5, b'pod') + field(6, 0)[:1] + bytes(8) + field(7, 1) + b'\x31' + struct.pack('<d', 15.5)
    tree = field(1, field(1, b'total') + field(2, packed(1, [0, 3, 0, 0])) + field(3, 3) + field(4, 2))
    names = field(1, b'pod') + field(2, b'{a="b"}') + field(3, 1) + field(4, 1 << 40)
    yield 'fuzz_rpc', [bytes([kind]) + data for kind, data in (
        (0, push), (1, field(9, 7)), (2, select), (3, select), (4, tree), (5, select + series[:5]),
        (5, series), (6, field(1, field(1, label) + field(2, b'\x09' + bytes(8) + field(2, 5)))),
        (7, names), (8, names), (9, names), (10, names), (11, field(1, field(1, label))),
        (12, field(1, names)), (13, field(1, 5)), (14, profile), (15, field(1, 1) + field(2, 5)),
        (2, select + field(7, field(1, field(1, b'main')) + field(2, field(1, 5) + field(2, 1)) + field(3, b'')) +
         field(9, field(1, b'q') + field(2, 1)) + field(10, b'4bf92f3577b34da6a3ce929d0e0e4736') + field(11, b'a')),
        (4, field(2, b'\0\0\1\4main\5\0') + field(3, b'digraph') + field(5, field(1, profile))),
        (16, select[:60] + field(3, b'00f067aa0ba902b7')), (17, field(1, select) + field(2, select)),
        (18, tree + field(5, 1)), (19, select + series[:5] + field(8, 2)), (21, field(2, 9) + field(4, b'x{}')),
        (20, field(1, field(1, label) + field(2, field(1, 7) + field(2, bytes(16)) + packed(3, [1, 2]) +
                                              field(4, field(2, b'id') + field(5, label))))),
        (22, field(1, field(1, b'store') + field(5, 3)) + field(2, field(2, 77))),
        (24, field(1, label + field(3, b'text'))), (28, field(1, field(1, b'theme') + field(3, 5))),
        (32, field(1, b'id') + field(5, b'cpu')), (36, field(1, b'0123abcd') + field(5, 1)),
        (40, field(1, field(1, field(1, b'0123abcd')) + field(2, 1) +
                   field(3, field(1, 5) + field(2, 7)) + field(5, 9))))]
    yield 'fuzz_rpc', [bytes([128 | kind]) + data for kind, data in (
        (0, b'{"series":[{"labels":[{"name":"a","value":"b"}],"samples":[{"rawProfile":"H4s=","ID":"x"}]}]}'),
        (2, b'{"profile_typeID":"a:b:c:d:e","labelSelector":"{}","start":"1","end":2e3,"format":1}'),
        (4, b'{"flamegraph":{"names":["total"],"levels":[{"values":["0","3",0,0]}],"total":"3"}}'),
        (5, b'{"groupBy":["pod"],"step":1.5,"aggregation":"TIME_SERIES_AGGREGATION_TYPE_AVERAGE"}'),
        (5, b'{"aggregation":7,"step":"NaN"}'), (5, b'{"aggregation":-1,"step":"-Infinity"}'),
        (6, b'{"series":[{"points":[{"value":-0.0,"timestamp":"9223372036854775807"}]}]}'),
        (2, b'{"stackTraceSelector":{"callSite":[{"name":"main"}],"goPgo":{"keepLocations":5}},"async":{"type":1}}'),
        (4, b'{"tree":"AAAB","dot":"x","pprof":{"profile":{"periodType":{"type":"3"}}}}'),
        (16, b'{"spanSelector":["00f067aa0ba902b7"],"format":"PROFILE_FORMAT_TREE"}'),
        (17, b'{"left":{"start":"1"},"right":null}'), (18, b'{"flamegraph":{"leftTicks":"4"}}'),
        (19, b'{"queryType":"HEATMAP_QUERY_TYPE_SPAN","exemplarType":3,"limit":"5"}'),
        (20, b'{"series":[{"slots":[{"yMin":[1.5,"NaN"],"counts":[1],"exemplars":[{"profileId":"x"}]}]}]}'),
        (21, b'{"query":"a{}","start":1}'), (22, b'{"queryScopes":[{"profileCount":"1"}],"queryImpact":{}}'),
        (28, b'{"setting":{"name":"theme","modifiedAt":"5"}}'), (37, b'{"file":{"gnuBuildId":"01","type":2}}'),
        (40, b'{"object":[{"state":"STATE_UPLOADED","startedAt":"2026-01-02T03:04:05.5Z"}]}'),
        (26, b'{"contentType":"text/plain","data":"eA=="}'),
        (14, b'{"sampleType":[{"type":1}],"mapping":[{"hasFunctions":true}],"x":[{}],"period":null}'))]


def made_envelopes():
    def envelope(flags, message):
        return bytes([flags]) + struct.pack('>I', len(message)) + message
    asked = (field(7, b''), field(4, b'querier.v1.QuerierService.Series'), field(3, b'types/v1/types.proto'),
             field(6, b'push.v1.PushRequest'), field(5, field(1, b'a.B') + field(2, 7)), b'')
    yield 'fuzz_rpc_frame', [bytes([kind]) + data for kind, data in (
        (0, b''.join(envelope(0, message) for message in asked)),
        (1, envelope(1, gzip.compress(asked[1], mtime=0)) + envelope(0, asked[0])),
        (1, envelope(1, gzip.compress(bytes(1 << 17), mtime=0))), (2, envelope(1, asked[0])), (3, envelope(1, b'x')),
        (0, envelope(2, b'{}')), (0, b'\0\xff\xff\xff\xff'), (0, envelope(0, asked[1])[:-3]))]


def stored(program):
    """A pack, its record and a sealed block, written by the program itself where it is built."""
    if not os.path.exists(program):
        print('SKIP blocks written by the program:', program, 'is not built')
        return
    folder = tempfile.mkdtemp()
    try:
        for i, data in enumerate((pprof(True, True), gzip.compress(pprof()), b'a;b;c 1\na;b 2\n')):
            file, data_folder = os.path.join(folder, 'profile'), os.path.join(folder, f'data{i}')
            with open(file, 'wb') as f:
                f.write(data)
            at = ['--data', data_folder]
            subprocess.run([program, 'push', *at, '--time', '2024-01-01T00:00:00Z', file], check=True,
                           capture_output=True)
            for pack in files_below(os.path.join(data_folder, 'packs')):
                pack = pack[pack.index(b'FKBLOCK\n'):pack.rindex(b'\nFKTAIL\n') + 8]  # its one segment
                yield 'fuzz_record', [b'\1' + pack] + [b'\0' + r for r in plain_sections(pack)]
            subprocess.run([program, 'check', *at, '--seal'], check=True, capture_output=True)
            for block in files_below(os.path.join(data_folder, 'blob', 'blocks')):
                yield 'fuzz_block', [b'\0' + block, b'\1' + block]
                yield 'fuzz_record', [kind + part for part in plain_sections(block)
                                      for kind in (b'\2\2\4\4', b'\3')]
    finally:
        shutil.rmtree(folder)


def files_below(path):
    for folder, _, names in sorted(os.walk(path)):
        for name in sorted(names):
            with open(os.path.join(folder, name), 'rb') as f:
                yield f.read()


def take_varint(data, at):
    v = shift = 0
    while True:
        v |= (data[at] & 127) << shift
        shift += 7
        at += 1
        if data[at - 1] < 128:
            return v, at


def plain_sections(data):
    """Sections of a container (docs/format-block.md) that are not compressed."""
    at, n = struct.unpack_from('<QQ', data, len(data) - 48)
    end = at + n
    while at < end:
        v = []
        for _ in range(6):
            x, at = take_varint(data, at)
            v.append(x)
        at += 8
        if v[2] == 0:
            yield data[v[3]:v[3] + v[4]]


def copied():
    corpus = os.environ.get('FK_CORPUS') or os.path.join(HERE, '../../shared/corpus')
    for target, folders in (('fuzz_pprof', ('pprof', 'pprof-malformed')), ('fuzz_folded', ('folded',)),
                            ('fuzz_json', ('speedscope', 'cpuprofile', 'flamebearer')),
                            ('fuzz_inflate', ('pprof', 'pprof-malformed')), ('fuzz_perf_script', ('perf-script',)),
                            ('fuzz_v8', ('cpuprofile', 'chrome-trace')), ('fuzz_speedscope', ('speedscope',)),
                            ('fuzz_flamebearer', ('flamebearer',)), ('fuzz_legacy', ('pprof-legacy', 'jemalloc')),
                            ('fuzz_otlp', ('otlp',)), ('fuzz_firefox', ('firefox', 'stackprof')),
                            ('fuzz_stacktext', ('bpftrace', 'dtrace', 'macos-sample', 'instruments', 'callgrind')),
                            ('fuzz_jfr', ('jfr', 'jfr-malformed'))):
        for folder in folders:
            path = os.path.join(corpus, folder)
            for name in sorted(os.listdir(path)) if os.path.isdir(path) else ():
                file = os.path.join(path, name)
                if os.path.isfile(file) and os.path.getsize(file) <= 65536:
                    with open(file, 'rb') as f:
                        data = f.read()
                    yield target, [b'\xff' * (target == 'fuzz_jfr') + data]
                    if data[:2] == b'\x1f\x8b' and (target, folder) in (('fuzz_pprof', 'pprof'), ('fuzz_jfr', 'jfr')):
                        raw = gzip.decompress(data)
                        yield target, [b'\xff' * (target == 'fuzz_jfr') + raw] if len(raw) <= 200000 else []


def main(to):
    count = {}
    program = os.path.join(os.path.dirname(os.path.abspath(to)), 'flamekeep')
    for target, seeds in list(made()) + list(stored(program)) + list(copied()):
        os.makedirs(os.path.join(to, target), exist_ok=True)
        for data in seeds:
            count[target] = count.get(target, 0) + 1
            with open(os.path.join(to, target, f'seed{count[target]:04}'), 'wb') as f:
                f.write(data)
    print(' '.join(f'{t}:{n}' for t, n in sorted(count.items())))


if __name__ == '__main__':
    main(sys.argv[1])
