#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A second reader of Flamekeep's files, after docs/format-block.md; it shares no code with the server.

  read_block.py [--stacks] FILE...      block, or pack (*.pack)

Prints one JSON line an entry: id, time, duration, labels, types with totals, rows; with --stacks also its folded
stacks per type.  Every checksum is verified, and every total against the samples.  Needs libzstd and libxxhash."""
import ctypes, ctypes.util, json, struct, sys

NO_TIME = -1 << 63
KINDS = ('unknown', 'cumulative', 'delta', 'instant')


def library(name, soname):
    return ctypes.CDLL(ctypes.util.find_library(name) or soname)


XXHASH, ZSTD = library('xxhash', 'libxxhash.so.0'), library('zstd', 'libzstd.so.1')
XXHASH.XXH3_64bits.restype = ctypes.c_uint64
XXHASH.XXH3_64bits.argtypes = [ctypes.c_char_p, ctypes.c_size_t]
ZSTD.ZSTD_decompress.restype = ctypes.c_size_t
ZSTD.ZSTD_decompress.argtypes = [ctypes.c_char_p, ctypes.c_size_t, ctypes.c_char_p, ctypes.c_size_t]


class Broken(Exception):
    pass


def need(ok, what):
    if not ok:
        raise Broken(what)


def xxh3(data):
    return XXHASH.XXH3_64bits(bytes(data), len(data))


def unzstd(data, size):
    out = ctypes.create_string_buffer(max(size, 1))
    need(ZSTD.ZSTD_decompress(out, size, bytes(data), len(data)) == size, 'a zstd frame of another length')
    return out.raw[:size]


def unzigzag(v):
    return (v >> 1) ^ -(v & 1)


def signed(v):
    v &= (1 << 64) - 1
    return v - (1 << 64) if v >> 63 else v


def id_text(high, low):
    h = f'{high:016x}{low:016x}'
    return '-'.join((h[:8], h[8:12], h[12:16], h[16:20], h[20:]))


class Bytes:
    """A position in bytes, with the notation of the page as methods."""

    def __init__(self, data):
        self.data, self.at = data, 0

    def left(self):
        return len(self.data) - self.at

    def take(self, n):
        need(n <= self.left(), 'cut off')
        self.at += n
        return self.data[self.at - n:self.at]

    def byte(self):
        return self.take(1)[0]

    def varint(self):
        v = shift = 0
        while True:
            b = self.byte()
            v |= (b & 127) << shift
            shift += 7
            if b < 128:
                return v & ((1 << 64) - 1)
            need(shift < 70, 'varint too long')

    def zigzag(self):
        return unzigzag(self.varint())

    def sized(self):
        return self.take(self.varint())

    def text(self):
        return self.sized().decode('utf-8', 'replace')

    def u64(self):
        return struct.unpack('<Q', self.take(8))[0]

    def id(self):
        return self.u64(), self.u64()

    def varints(self, n):
        return [self.varint() for _ in range(n)]

    def zigzags(self, n):
        return [self.zigzag() for _ in range(n)]

    def bits(self, n, w):
        number = int.from_bytes(self.take((n * w + 7) // 8), 'little')
        return [number >> i * w & ((1 << w) - 1) for i in range(n)]

    def lanes(self, w):
        words = struct.unpack(f'<{4 * w}I', self.take(16 * w))
        lane = [sum(word << 32 * k for k, word in enumerate(words[l::4])) for l in range(4)]
        return [lane[i % 4] >> i // 4 * w & ((1 << w) - 1) for i in range(128)]

    def packed32(self, count):
        out = []
        for at in range(0, count, 128):
            n, w = min(128, count - at), self.byte()
            need(w <= 32, 'width')
            out += self.lanes(w) if n == 128 else self.bits(n, w)
        return out

    def ascending32(self, count):
        out, v = [], 0
        for d in self.packed32(count):
            v += d
            out.append(v)
        return out

    def packed64(self, count):
        out = []
        for at in range(0, count, 128):
            n, w, e = min(128, count - at), self.byte(), self.byte()
            x = self.byte() if e else 0
            need(w + x <= 64, 'width')
            block = self.lanes(w) if n == 128 and w <= 32 else self.bits(n, w)
            positions = self.take(e)
            for p, high in zip(positions, self.bits(e, x) if e else ()):
                block[p] |= high << w
            out += block
        return out

    def end(self):
        need(self.left() == 0, f'{self.left()} bytes left over')


def labels(data):
    b = Bytes(data)
    out = {b.text(): b.text() for _ in range(b.varint())}
    b.end()
    return out


def shape(data):
    b = Bytes(data)
    types = [(b.text(), b.text(), KINDS[b.byte()]) for _ in range(b.varint())]
    out = {'types': types, 'has_period': b.byte(), 'period': b.zigzag()}
    for name in ('period_type', 'period_unit', 'default_type', 'drop', 'keep', 'url', 'time_key', 'time_unit'):
        out[name] = b.text()
    out['comments'] = [b.text() for _ in range(b.varint())]
    b.end()
    return out


def container(data):
    """(sections as (kind, dataset, bytes), extra)"""
    need(data[:8] == b'FKBLOCK\n' and data[-8:] == b'\nFKTAIL\n', 'the magic bytes are missing')
    at, length, extra, checksum, version = struct.unpack('<QQQQI', data[-48:-12])
    need(version == 0 and data[8:12] == bytes(4), f'version {version}')
    need(at + length + extra + 48 == len(data), 'the tail points elsewhere')
    need(xxh3(data[at:at + length + extra]) == checksum, 'checksum of the directory')
    directory, sections = Bytes(data[at:at + length]), []
    while directory.left():
        kind, dataset, encoding, offset, stored, raw = directory.varints(6)
        body = data[offset:offset + stored]
        need(len(body) == stored and xxh3(body) == directory.u64(), f'checksum of section {kind}')
        sections.append((kind, dataset, unzstd(body, raw) if encoding else body))
    return sections, data[at + length:at + length + extra]


def block_info(extra):
    b = Bytes(extra)
    info = {'id': id_text(*b.id()), 'min_id': id_text(*b.id()), 'max_id': id_text(*b.id()), 'tenant': b.text(),
            'level': b.varint(), 'times': b.zigzags(4), 'profiles': b.varint(), 'samples': b.varint()}
    info['replaces'] = [id_text(*b.id()) for _ in range(b.varint())]
    info['datasets'] = [(b.text(), b.varint(), b.varint(), b.zigzag(), b.zigzag()) for _ in range(b.varint())]
    b.end()
    return info


def tables(data):
    b = Bytes(data)
    out = {'service': b.text(), 'series': [labels(b.sized()) for _ in range(b.varint())],
           'shapes': [shape(b.sized()) for _ in range(b.varint())]}
    out['placements'] = [[b.varints(4) for _ in range(b.varint())] for _ in range(b.varint())]
    b.end()
    return out


def symbols(data):
    b = Bytes(data)
    sizes = b.varints(b.varint())
    strings = [b.take(n).decode('utf-8', 'replace') for n in sizes]
    n = b.varint()
    names, _, _, _ = b.varints(n), b.varints(n), b.varints(n), b.zigzags(n)
    mappings = [b.varints(4) for _ in range(b.varint())]
    n = b.varint()
    mapping, _, counts, steps = b.varints(n), b.varints(n), b.varints(n), b.zigzags(n)
    total = sum(counts)
    functions, _, _ = b.varints(total), b.zigzags(total), b.zigzags(total)
    b.end()
    return strings, frames(strings, names, mappings, mapping, counts, steps, functions)


def frames(strings, names, mappings, mapping, counts, steps, functions):
    """Names of each location's frames, innermost first."""
    out, at, address = [], 0, 0
    for m, count, step in zip(mapping, counts, steps):
        address = (address + step) % (1 << 64)
        lines = [strings[names[f - 1]] for f in functions[at:at + count] if f]
        at += count
        file = strings[mappings[m - 1][0]].rsplit('/', 1)[-1] if m else ''
        out.append(lines or [f'{file}!0x{address:x}' if file else f'0x{address:x}'])
    return out


def tree(data):
    """Stacks as lists of locations, root first."""
    b = Bytes(data)
    n, m = b.varint(), b.varint()
    kept, new, frame = b.packed32(n), b.packed32(n), b.packed32(m)
    b.end()
    stacks, at = [], 0
    for k, more in zip(kept, new):
        need(not k or len(stacks[-1]) >= k, 'tree')
        stacks.append((stacks[-1][:k] if k else []) + frame[at:at + more])
        at += more
    return stacks


def samples(data, base, n_types):
    b = Bytes(data)
    flags, n = b.byte(), b.varint()
    if flags & 1:
        bitmap = int.from_bytes(b.take(8 * b.varint()), 'little')
        stack = [i for i in range(bitmap.bit_length()) if bitmap >> i & 1]
        need(len(stack) == n, 'bitmap')
    else:
        stack = b.ascending32(n)
    sets = b.packed32(n) if flags & 2 else [0] * n
    count = [c + 1 for c in b.packed32(n)] if flags & 4 else [1] * n
    o, values = sum(count), []
    for t in range(n_types):
        mode = b.byte()
        if mode == 0:
            values.append([0] * o)
        elif mode == 1:
            factor = b.zigzag()
            values.append([signed(v * factor) for v in values[-1]])
        else:
            need(mode in (2, 3), 'mode')
            divisor = b.varint()
            quotients = b.packed64(o)
            values.append([signed((unzigzag(q) if mode == 3 else q) * divisor) for q in quotients])
    times = None
    if flags & 8:
        times = []
        for d in b.packed64(o):
            base = signed(base + unzigzag(d))
            times.append(base)
    b.end()
    return stack, sets, count, values, times


def page_rows(page, t):
    b = Bytes(page)
    r, notes, data = b.varint(), b.varint(), b.varint()
    columns = [b.packed64(r) for _ in range(15)]
    high = low = time = duration = 0
    rows = []
    for c in zip(*columns):
        high, low = (high + unzigzag(c[0])) % (1 << 64), low ^ c[1]
        time, duration = signed(time + unzigzag(c[2])), signed(duration + unzigzag(c[3]))
        rows.append({'id': id_text(high, low), 'time': time, 'duration': duration,
                     'received': signed(time + unzigzag(c[4])), 'file_time': signed(time + unzigzag(c[5])),
                     'series': c[6], 'shape': t['shapes'][c[7]], 'placement': c[8], 'flags': c[9], 'rows': c[10],
                     'observations': c[10] + c[11], 'samples': c[10] + unzigzag(c[12]),
                     'notes': (notes, c[13]), 'data': (data, c[14])})
        notes, data = notes + c[13], data + c[14]
    totals = iter(b.packed64(sum(len(row['shape']['types']) for row in rows)))
    for row in rows:
        row['totals'] = [signed(unzigzag(next(totals))) for _ in row['shape']['types']]
    b.end()
    return rows


def folded(sample, stacks, names):
    """Per type: {frames from the root, joined: value}"""
    stack, _, count, values, _ = sample
    out = []
    for column in values:
        sums, at = {}, 0
        for s, c in zip(stack, count):
            path = ';'.join(n for l in stacks[s] for n in reversed(names[l]))
            sums[path] = sums.get(path, 0) + sum(column[at:at + c])
            at += c
        out.append(sums)
    return out


def entry(row, labels_of, annotations, sample, stacks, names, want_stacks):
    types = row['shape']['types']
    sums = [signed(sum(v)) for v in sample[3]]
    need(sums == row['totals'], f'{row["id"]}: totals {row["totals"]} are not the sums {sums}')
    need(len(sample[0]) == row['rows'] and sum(sample[2]) == row['observations'], f'{row["id"]}: number of rows')
    out = {'id': row['id'], 'time_ns': row['time'], 'duration_ns': row['duration'], 'labels': labels_of,
           'annotations': annotations, 'samples': row['samples'], 'rows': row['rows'], 'has_time': bool(row['flags'] & 1),
           'types': [{'type': t, 'unit': u, 'kind': k, 'total': v} for (t, u, k), v in zip(types, row['totals'])]}
    if want_stacks:
        out['stacks'] = folded(sample, stacks, names)
    return out


def read_block(data, want_stacks):
    sections, extra = container(data)
    info, found = block_info(extra), 0
    for d, (service, profiles, _, _, _) in enumerate(info['datasets']):
        part = {kind: body for kind, dataset, body in sections if dataset == d and kind in range(2, 10)}
        t, (strings, names), stacks = tables(part[2]), symbols(part[3]), tree(part[4])
        need(t['service'] == service, 'service')
        for at in range(0, len(part[7]), 72):
            offset, _, _, _, _, _, _, length, checksum = struct.unpack('<9Q', part[7][at:at + 72])
            page = part[6][offset:offset + length]
            need(xxh3(page) == checksum, 'checksum of a page')
            for row in page_rows(page, t):
                note = part[8][row['notes'][0]:sum(row['notes'])]
                data_ = part[9][row['data'][0]:sum(row['data'])]
                sample = samples(data_, row['time'], len(row['shape']['types']))
                found += 1
                yield entry(row, t['series'][row['series']], labels(note), sample, stacks, names, want_stacks)
    need(found == info['profiles'], f'{found} profiles, not {info["profiles"]}')


def read_record(data, want_stacks):
    b = Bytes(data)
    row = {'id': id_text(*b.id()), 'time': b.zigzag(), 'duration': b.zigzag(), 'received': b.zigzag(),
           'file_time': b.zigzag(), 'flags': b.varint(), 'samples': b.varint()}
    labels_of, annotations, row['shape'] = labels(b.sized()), labels(b.sized()), shape(b.sized())
    sizes = b.varints(b.varint())
    strings = [b.take(n).decode('utf-8', 'replace') for n in sizes]
    functions = [(b.varint(), b.varint(), b.varint(), b.zigzag()) for _ in range(b.varint())]
    mappings = [b.varints(4) for _ in range(b.varint())]
    for _ in range(b.varint()):
        b.varints(4) # placements
    locations = [(b.varint(), b.varint(), b.varint(), b.zigzag()) for _ in range(b.varint())]
    lines = [(b.varint(), b.zigzag(), b.zigzag())[0] for _ in range(sum(l[2] for l in locations))]
    mapping, _, counts, steps = zip(*locations) if locations else ((), (), (), ())
    names = frames(strings, [f[0] for f in functions], mappings, mapping, counts, steps, lines)
    stacks = [b.varints(b.varint())[::-1] for _ in range(b.varint())]
    for _ in range(b.varint()): # attribute sets
        for _ in range(b.varint()):
            b.varints(3), b.zigzag()
    row['rows'], row['observations'] = n, o = b.varint(), b.varint()
    flags = b.byte()
    stack, sets = b.varints(n), b.varints(n) if flags & 1 else [0] * n
    count = b.varints(n) if flags & 2 else [1] * n
    values = [b.zigzags(o) for _ in row['shape']['types']]
    times = b.zigzags(o) if flags & 4 else None
    b.end()
    row['totals'] = [signed(sum(v)) for v in values]
    return entry(row, labels_of, annotations, (stack, sets, count, values, times), stacks, names, want_stacks)


def read_pack(data, want_stacks):
    need(data[:8] == b'FKPACK\n\0' and xxh3(data[:56]) == struct.unpack('<Q', data[56:64])[0], 'head of the pack')
    at, seen = 64, set()
    while data[at:at + 8] in (b'FKFRAME\n', b'FKFRAME+'):
        length, checksum, own = struct.unpack('<QQQ', data[at + 8:at + 32])
        need(own == xxh3(data[at:at + 24]), 'head of a frame')
        segment = data[at + 32:at + 32 + length]
        if len(segment) < length or xxh3(segment) != checksum:
            break # a write that did not finish
        sections, tenant = container(segment)
        for kind, _, body in sections:
            need(kind == 1, 'a segment holds records only')
            record = read_record(body, want_stacks)
            if record['id'] not in seen:
                seen.add(record['id'])
                yield record
        at += 32 + (length + 7) // 8 * 8


def main(args):
    want_stacks = '--stacks' in args
    for path in (a for a in args if not a.startswith('--')):
        with open(path, 'rb') as f:
            data = f.read()
        try:
            for e in (read_pack if path.endswith('.pack') else read_block)(data, want_stacks):
                print(json.dumps(e))
        except (Broken, struct.error, IndexError, KeyError) as e:
            sys.exit(f'{path}: {e!r}')


if __name__ == '__main__':
    main(sys.argv[1:])
