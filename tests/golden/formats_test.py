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
