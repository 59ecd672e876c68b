#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Arguments: {build}/fk_dump
# Quick: {build}/fk_dump -k simple
"""Every file of the text, JSON and small binary formats against independent answers.

  formats_test.py FK_DUMP [-k TEXT]      FK_DUMP: the built helper

The files are not part of this repository; where they are: see corpus_test.py.  Each file of the folders in TABLE is decoded
without being told its format and compared by its folder's check with oracle/ or golden/.  A file is stored, or refused with the
words that its row in formats_differences.json gives.  Differences stand there too, with the reason and who is right; an unknown
difference, and a known one that no longer occurs, fail the test.
"""
import collections, gzip, json, os, re, subprocess, sys

from corpus_test import HERE, find_corpus, load_oracle, text

TABLE = {}


def covers(*folders, format=None):
    def register(check):
        for folder in folders:
            TABLE[folder] = (check, format)
        return check
    return register


def dump(helper, path, format):
    p = subprocess.run([helper, path] + ([format] if format else []), stdout=subprocess.PIPE)
    return json.loads(p.stdout.decode('utf-8', 'replace'))


class Profile:
    """What fk_dump says of one profile, with sums by function."""

    def __init__(self, p):
        self.labels, self.types, self.rows, self.stacks = p['labels'], p['types'], p['rows'], p['stacks']
        self.p = p

    def total(self, k=0):
        return sum(r[1][k] for r in self.rows)

    def folded(self, k=0, rename=lambda f: f):
        out = collections.Counter()
        for stack, values, _, _ in self.rows:
            out[';'.join(rename(f) for f in reversed(self.stacks[stack]))] += values[k]
        return out

    def tops(self, k=0, rename=lambda f: f):
        self_, cum = collections.Counter(), collections.Counter()
        for stack, values, _, _ in self.rows:
            frames = [rename(f) for f in self.stacks[stack]]
            if frames:
                self_[frames[0]] += values[k]
            for f in set(frames):
                cum[f] += values[k]
        return self_, cum


def compare(what, got, want, slack=0):
    """got: a Counter; want: [[name, value]] of the oracle."""
    for name, value in want:
        have = got.get(text(name), 0)
        if abs(have - value) > slack:
            yield f'{what} {name}: {have} is not {value}'


# ---- Pyroscope's own ----

@covers('pyroscope-trie', format='trie')
def check_trie(got, name, corpus):
    if got['profiles'][0].folded() != {'abc': 1, 'abd': 2}: # the comment of the corpus' index
        yield f"stacks {got['profiles'][0].folded()}"


@covers('pyroscope-tree', format='tree')
def check_tree(got, name, corpus):
    if got['profiles'][0].folded() != {'a;b': 1, 'a;c': 2}:
        yield f"stacks {got['profiles'][0].folded()}"


@covers('pyroscope-misc')
def check_misc(got, name, corpus):
    yield 'taken for a profile' # none of them is one


# ---- perf script ----

def unknown(frame):
    return '[unknown]' if re.match(r'0x[0-9a-f]+$', frame) else frame


@covers('perf-script')
def check_perf(got, name, corpus):
    want = {e['event']: e for e in load_oracle(corpus, 'perf-script', name)['events']}
    for p in got['profiles']:
        e = want.pop(p.labels['event'], None)
        if not e:
            yield f"event {p.labels['event']} is not there"
            continue
        if len(p.rows) != e['samples']:
            yield f"{len(p.rows)} samples, not {e['samples']}"
        columns = {t['type']: k for k, t in enumerate(p.types)}
        count = columns.get('samples', columns.get('events', 0))
        if e['period_sum'] is not None and p.total(1 - count) != e['period_sum']:
            yield f"periods {p.total(1 - count)}, not {e['period_sum']}"
        self_, cum = p.tops(count, unknown)
        yield from compare('self', self_, e['top_self'])
        yield from compare('cum', cum, e['top_cum'])
        comms = collections.Counter(r[2].get('thread') for r in p.rows)
        if any(comms[text(c)] != n for c, n in e['comms'].items()) or len({r[2].get('tid') for r in p.rows}) != e['n_tids']:
            yield f'threads {comms}'
    yield from (f'event {e} is missing' for e in want)


# ---- V8 ----

@covers('cpuprofile')
def check_v8(got, name, corpus):
    want, p = load_oracle(corpus, 'cpuprofile', name), got['profiles'][0]
    self_, cum = p.tops()
    if want['kind'] == 'heapprofile':
        if p.total() != want['total_bytes']:
            yield f"total {p.total()}, not {want['total_bytes']}"
        yield from compare('self', self_, want['top_self'])
        yield from compare('cum', cum, want['top_cum'])
        return
    if p.total() != want['samples']:
        yield f"{p.total()} samples, not {want['samples']}"
    if want['total_hits'] == want['samples']: # else the samples are stored, and the report says so
        yield from compare('self', self_, want['top_self_hits'])
        yield from compare('cum', cum, want['top_cum_hits'])
    elif "the nodes' hit counts are not those of the samples" not in got['report']:
        yield 'other hit counts are not reported'
    if want['top_self_time']:
        yield from compare('time', p.tops(1)[0], [[n, v * 1000] for n, v in want['top_self_time']])


def speedscope_frames(path):
    """Self weights by name from a snapshot of speedscope's importers, of frames that it does not rename."""
    frames = collections.Counter()
    with open(path) as f:
        for name, weight in re.findall(r'"name": "(.*?)",\s*"selfWeight": (-?[\d.]+)', f.read()):
            if not name.startswith('('):
                frames[name.replace('\\\\', '\\').replace('\\"', '"')] += float(weight)
    return frames


@covers('chrome-trace')
def check_chrome(got, name, corpus):
    golden = os.path.join(corpus, 'chrome-trace/golden', name + '.chrome.snap')
    ours = collections.Counter()
    for p in got['profiles']:
        ours.update(p.tops(1)[0])
    if os.path.exists(golden):
        want = speedscope_frames(golden)
        yield from compare('self', ours, [[n, round(v * 1000)] for n, v in want.items()])
        for n in set(ours) - set(want):
            if not n.startswith('(') and ours[n]:
                yield f'self {n}: not in the golden'
    elif not got['profiles'] or not all(len(p.rows) for p in got['profiles']):
        yield 'an empty profile'


# ---- speedscope, flamebearer ----

@covers('speedscope')
def check_speedscope(got, name, corpus):
    want = load_oracle(corpus, 'speedscope', name)['profiles']
    if len(want) != len(got['profiles']):
        yield f"{len(got['profiles'])} profiles, not {len(want)}"
    for p, w in zip(got['profiles'], want):
        scale = {'seconds': 10**9, 'milliseconds': 10**6, 'microseconds': 1000}.get(w['unit'], 1)
        total = w['total'] if w['type'] == 'sampled' else w['total_self']
        if p.labels.get('profile_name') != w['name']:
            yield f'labels {p.labels}'
        if abs(p.total() - total * scale) > 1:
            yield f'total {p.total()}, not {total * scale}'
        self_, cum = p.tops()
        yield from compare('self', self_, [[n, round(v * scale)] for n, v in w['top_self']], 1)
        yield from compare('cum', cum, [[n, round(v * scale)] for n, v in w['top_cum']], 1)
        if any((r[3] is None) == (scale > 1) for r in p.rows):
            yield 'times where the unit is none of time, or none where it is'


@covers('flamebearer')
def check_flamebearer(got, name, corpus):
    want, p = load_oracle(corpus, 'flamebearer', name), got['profiles'][0]
    if want['sum_self'] is not None and p.total() != want['sum_self']:
        yield f"total {p.total()}, not {want['sum_self']}"
    yield from compare('self', p.tops()[0], [r for r in want['top_self'] if r[0] != 'total'])
    if want['has_timeline'] and not p.p['time_ns']:
        yield 'the time of the timeline is missing'


# ---- from before pprof ----

def by_address(p, k):
    """Tops with frames as hexadecimal addresses, as pprof has them where it does not symbolize."""
    shown = Profile(dict(p.p, stacks=[[hex(a) for a in s] for s in p.p['addresses']]))
    return shown.tops(k)


def check_counts(p, want):
    if want['kind'] == 'go-goroutine-debug2':
        states = collections.Counter(r[2].get('state') for r in p.rows)
        if p.total() != want['goroutines'] or states != want['states']:
            yield f'{p.total()} goroutines, {states}'
    elif p.total() != want['total'] or len(p.rows) != want['entries']:
        yield f'{p.total()} in {len(p.rows)} entries'


@covers('pprof-legacy')
def check_legacy(got, name, corpus):
    p, oracle = got['profiles'][0], os.path.join(corpus, 'oracle/pprof-legacy', name + '.json')
    if not os.path.exists(oracle): # go tool pprof does not read it
        yield from check_counts(p, load_oracle(corpus, 'pprof-legacy', name + '.legacy'))
        return
    want = load_oracle(corpus, 'pprof-legacy', name)
    scale = {'microseconds': 1000}
    if len(p.rows) != want['n_samples'] and 'thread' not in name: # a thread a row
        yield f"{len(p.rows)} samples, not {want['n_samples']}"
    for k, t in enumerate(want['sample_types']):
        each = scale.get(t['unit'], 1)
        if p.total(k) != want['totals'][k] * each:
            yield f"{t['type']}: {p.total(k)}, not {want['totals'][k] * each}"
        named = [r for rows in (want['top_self'][k], want['top_cum'][k]) for r in rows if not r[0].startswith('0x')]
        self_, cum = p.tops(k) if named else by_address(p, k)
        yield from compare('self', self_, [[n, v * each] for n, v in want['top_self'][k]])
        yield from compare('cum', cum, [[n, v * each] for n, v in want['top_cum'][k]])
    if p.p['period'] != want['period']:
        yield f"period {p.p['period']}, not {want['period']}"


@covers('jemalloc')
def check_jemalloc(got, name, corpus):
    want, p = load_oracle(corpus, 'jemalloc', name + '.legacy'), got['profiles'][0]
    columns = {t['type']: k for k, t in enumerate(p.types)}
    if len(p.rows) != want['entries']:
        yield f"{len(p.rows)} entries, not {want['entries']}"
    for column, value in zip(('inuse_objects', 'inuse_space', 'alloc_objects', 'alloc_space'), want['scaled']):
        have = p.total(columns[column]) if column in columns else 0
        if abs(have - value) > want['entries']: # each entry is cut to an integer
            yield f'{column}: {have}, not {value}'


# ---- Firefox ----

def firefox_samples(profile):
    """Stacks seen, counted without looking at what they are."""
    n = 0
    for thread in profile['threads']:
        s = thread['samples']
        if 'schema' in s:
            n += sum(row[s['schema']['stack']] is not None for row in s['data'] if row)
        else:
            weights = s.get('weight') or [1] * len(s['stack'])
            n += sum(w for stack, w in zip(s['stack'], weights) if stack is not None)
    return n + sum(firefox_samples(p) for p in profile.get('processes', ()))


@covers('firefox')
def check_firefox(got, name, corpus):
    with open(os.path.join(corpus, 'firefox', name)) as f:
        profile = json.load(f)
    profile = profile.get('profile', profile)
    p = got['profiles'][0]
    if p.total() != firefox_samples(profile):
        yield f'{p.total()} samples, not {firefox_samples(profile)}'
    start = round(profile['meta']['startTime'] * 10**6)
    if any(r[3] is None or not 0 <= r[3] - start < 10**15 + 10**6 for r in p.rows):
        yield 'times that are not those of the file'
    golden = os.path.join(corpus, 'firefox/golden', name + '.firefox.snap')
    if os.path.exists(golden): # weighs a sample by the time until the next one, and leaves out the browser's own frames
        ours = collections.Counter()
        for row, after in zip(p.rows, p.rows[1:]):
            ours[p.stacks[row[0]][0]] += after[3] - row[3]
        want = {n: v for n, v in speedscope_frames(golden).items() if v}
        yield from compare('self', ours, [[n, round(v * 10**6)] for n, v in want.items()], 1000)


# ---- stacks as text ----

@covers('stackprof')
def check_stackprof(got, name, corpus):
    with open(os.path.join(corpus, 'stackprof', name)) as f:
        frames = json.load(f)['frames'].values()
    self_, cum, p = collections.Counter(), collections.Counter(), got['profiles'][0]
    names = collections.Counter(f.get('name') for f in frames)
    for f in frames: # what stackprof itself says; two functions of one name may call each other
        self_[f.get('name') or '[unknown]'] += f.get('samples', 0)
        if names[f.get('name')] == 1:
            cum[f.get('name') or '[unknown]'] += f['total_samples']
    ours = p.tops()
    yield from compare('self', ours[0], list(self_.items()))
    yield from compare('cum', ours[1], list(cum.items()))


@covers('bpftrace')
def check_bpftrace(got, name, corpus):
    with open(os.path.join(corpus, 'bpftrace', name)) as f:
        entries = re.findall(r'^@\w*\[(.*?)\]: (\d+)$', f.read(), re.M | re.S)
    p = got['profiles'][0]
    want = collections.Counter()
    for keys, value in entries:
        want[sum(l[:1] in ' \t' and l.strip() != '' for l in keys.split('\n'))] += int(value)
    have = collections.Counter()
    for stack, values, _, _ in p.rows:
        have[len(p.stacks[stack])] += values[0]
    if have != want or len(p.rows) != len(entries):
        yield f'by depth {have}, not {want}'


def depths(pairs):
    out = collections.Counter()
    for depth, value in pairs:
        out[depth] += value
    return out


@covers('dtrace')
def check_dtrace(got, name, corpus):
    with open(os.path.join(corpus, 'dtrace/golden', name.replace('dtrace__', 'dtrace__results__'))) as f:
        want = depths((l.count(';') + 1, int(l.rsplit(' ', 1)[1])) for l in f)
    p = got['profiles'][0]
    have = depths((len(p.stacks[r[0]]), r[1][0]) for r in p.rows)
    if have != want:
        yield f'by depth {have}, not {want}'


def rust(frame):
    """As inferno shows the names of old Rust compilers."""
    frame = re.sub(r'(::h[0-9a-f]{16})( \(\.llvm\.\d+\))?$', '', frame)
    frame = re.sub(r'\$u([0-9a-f]{2})\$', lambda m: chr(int(m[1], 16)), frame)
    for a, b in (('$LT$', '<'), ('$GT$', '>'), ('$RF$', '&'), ('$C$', ','), ('..', '::')):
        frame = frame.replace(a, b)
    return frame.lstrip('_') if frame.startswith('_<') else frame


@covers('macos-sample')
def check_sample(got, name, corpus):
    p = got['profiles'][0]
    golden = os.path.join(corpus, 'macos-sample/golden', name.replace('sample__', 'sample__results__').replace('.txt', '-no-modules.txt'))
    if not os.path.exists(golden):
        opener = gzip.open if name.endswith('.gz') else open
        with opener(os.path.join(corpus, 'macos-sample', name), 'rt') as f:
            threads = sum(int(n) for n in re.findall(r'^    (\d+) Thread', f.read(), re.M))
        if p.total() != threads:
            yield f'{p.total()} samples, not {threads}'
        return
    have, want = collections.Counter(), collections.Counter()
    for stack, values, attrs, _ in p.rows:
        have[';'.join([attrs['thread'].split()[0]] + [rust(f) for f in reversed(p.stacks[stack])])] += values[0]
    with open(golden) as f:
        for line in f:
            want[line.rsplit(' ', 1)[0]] += int(line.rsplit(' ', 1)[1])
    for stack in sorted(set(have) | set(want)): # inferno leaves out those that wait
        if have[stack] != want[stack] and not stack.endswith(('wait', ';read')):
            yield f'{stack}: {have[stack]} is not {want[stack]}'


@covers('instruments')
def check_instruments(got, name, corpus):
    frames = speedscope_frames(os.path.join(corpus, 'instruments/golden', name + '.instruments.snap'))
    yield from compare('self', got['profiles'][0].tops()[0], [[n, round(v * 10**6)] for n, v in frames.items()])


# ---- simpleperf, callgrind ----

def fields(b):
    """Protobuf: (number, value) of each field."""
    at = 0

    def varint():
        nonlocal at
        v = shift = 0
        while True:
            v |= (b[at] & 127) << shift
            shift, at = shift + 7, at + 1
            if b[at - 1] < 128:
                return v
    while at < len(b):
        key = varint()
        v = varint()
        if key & 7 == 2:
            v, at = b[at:at + v], at + v
        yield key >> 3, v


@covers('simpleperf')
def check_simpleperf(got, name, corpus):
    with gzip.open(os.path.join(corpus, 'simpleperf', name)) as f:
        b = f.read()
    at, events, want = 12, [], {}
    while int.from_bytes(b[at:at + 4], 'little'):
        size = int.from_bytes(b[at:at + 4], 'little')
        for number, value in fields(b[at + 4:at + 4 + size]):
            if number == 5:
                events = [v.decode() for n, v in fields(value) if n == 1]
            elif number == 1:
                sample = list(fields(value))
                one = dict(sample)
                row = want.setdefault(one.get(5, 0), [0, 0, 0])
                row[0] += 1
                row[1] += one.get(4, 0)
                row[2] += sum(n == 3 for n, _ in sample)
        at += 4 + size
    have = {p.labels['event']: sorted([p.total(0), p.total(1)]) + [sum(len(p.stacks[r[0]]) for r in p.rows)] for p in got['profiles']}
    want = {events[i]: sorted(row[:2]) + row[2:] for i, row in want.items()}
    if have != want:
        yield f'{have}, not {want}'


@covers('callgrind')
def check_callgrind(got, name, corpus):
    base = os.path.join(corpus, 'callgrind/golden/callgrind_annotate__' + name + '.self.txt')
    if os.path.exists(base + '.gz'):
        with gzip.open(base + '.gz', 'rt') as f:
            lines = f.read().split('\n')
    else:
        with open(base) as f:
            lines = f.read().split('\n')
    p, want, whole = got['profiles'][0], collections.Counter(), False
    for line in lines:
        m = re.match(r'\s*([\d,]+) \([\d. ]+%\).*?  (\S.*)$', line)
        if not m:
            whole = whole or 'Event counts may not' in line
            continue
        value, what = int(m[1].replace(',', '')), m[2]
        if what.startswith('PROGRAM TOTALS'):
            if p.total() != value and abs(p.total() - value) > 10: # the summary of a run counts what no line has
                yield f'total {p.total()}, not {value}'
            continue
        function = re.sub(r' \[[^\[]*\]$', '', what).split(':', 1)
        want[text(function[1] if len(function) > 1 else function[0])] += value
    self_ = p.tops()[0]
    if 'a call graph has no stacks: functions are stored with their own costs' not in got['report']:
        yield 'it is not said that there are no stacks'
    if len(lines) < 400: # else the list of the golden is cut off
        yield from compare('self', self_, [[n, v] for n, v in want.items() if n != '???'])


# ---- the whole ----

def check_file(helper, corpus, folder, name):
    check, format = TABLE[folder]
    got = dump(helper, os.path.join(corpus, folder, name), format)
    if 'error' in got:
        yield 'refused: ' + got['error']
        return
    got['profiles'] = [Profile(p) for p in got['profiles']]
    yield from check(got, name, corpus)


def agrees(faults, known):
    """None, or what is wrong. known: {"refused": words} or {"differs": reason, "like": a part of the first difference}."""
    if not known:
        return faults and f'{len(faults)} differences'
    if not faults:
        return 'no longer differs'
    words = known.get('refused') or known['like']
    return None if words in faults[0] and faults[0].startswith('refused') == ('refused' in known) else f'does not say "{words}"'


def main(args):
    corpus = find_corpus()
    if not corpus:
        print('SKIP-ALL: no folder of foreign profiles (FK_CORPUS, ../shared/corpus)')
        return 0
    helper, only = args[0], args[2] if args[1:2] == ['-k'] else ''
    with open(os.path.join(HERE, 'formats_differences.json')) as f:
        known = json.load(f)
    failed = 0
    for folder in TABLE:
        count = collections.Counter()
        for name in sorted(os.listdir(os.path.join(corpus, folder))):
            key = f'{folder}/{name}'
            if only not in key or os.path.isdir(os.path.join(corpus, key)):
                continue
            faults = list(check_file(helper, corpus, folder, name))
            wrong = agrees(faults, known.get(key))
            count['refused' if faults and faults[0].startswith('refused') else 'differ' if faults else 'equal'] += 1
            if wrong:
                failed += 1
                print(f'FAILED {key}: {wrong}')
                for f in faults[:10]:
                    print('   ', f)
        print(f'{folder}: ' + (', '.join(f'{n} {k}' for k, n in sorted(count.items())) or 'none chosen'))
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
