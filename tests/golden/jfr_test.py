#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Arguments: {build}/fk_dump
# Quick: {build}/fk_dump -k jdk17-multichunk
"""Every JFR recording of the corpus against independent answers, event by event and stack by stack.

  jfr_test.py FK_DUMP [-k TEXT]      FK_DUMP: the built helper

The recordings are not part of this repository; where they are: see corpus_test.py.  Compared with what other tools say of the
same file: events by type (JDK's jfr summary, Mission Control's statistics), all stacks with their values (async-profiler's converter,
Grafana's jfr-parser), every event of 0.9 (Mission Control's printouts), label sets (Pyroscope).  A recording is stored, or refused
with the words that its row in jfr_differences.json gives.  Differences stand there too, with the reason and who is right; an unknown
one, and a known one that no longer occurs, fail the test.
"""
import collections, gzip, json, os, re, struct, subprocess, sys

from corpus_test import HERE, find_corpus, load_oracle, text
from formats_test import Profile, agrees, compare

# Our profile, by its name and first type -> the events that it is made of.
EVENTS = {
    ('process_cpu', 'samples'): ['jdk.ExecutionSample'],
    ('native_method', 'samples'): ['jdk.NativeMethodSample'],
    ('wall', 'samples'): ['profiler.WallClockSample'],
    ('memory', 'alloc_in_new_tlab_objects'): ['jdk.ObjectAllocationInNewTLAB'],
    ('memory', 'alloc_outside_tlab_objects'): ['jdk.ObjectAllocationOutsideTLAB'],
    ('memory', 'alloc_sample_objects'): ['jdk.ObjectAllocationSample'],
    ('memory', 'live'): ['profiler.LiveObject', 'jdk.OldObjectSample'],
    ('memory', 'malloc_objects'): ['profiler.Malloc'],
    ('mutex', 'contentions'): ['jdk.JavaMonitorEnter'],
    ('block', 'contentions'): ['jdk.ThreadPark'],
}
STABLE = ((r'\$\$Lambda(?:\$\d+)?(?:[+./](?:0x[0-9a-f]+|\d+))*(?<=[0-9a-f])(?=\.|$)', '$$Lambda_'), (r'(Generated\w+Accessor)\d+', r'\1_'),
          (r'(\$Proxy)\d+', r'\1_'), (r'(CGLIB\$\$)[0-9a-f]+', r'\1_'), (r'(libasyncProfiler-[\w-]*-)[0-9a-f]{16,}', r'\1_'))


def stable(frame):
    """A frame's name as it is in every run of the program."""
    for pattern, to in STABLE:
        frame = re.sub(pattern, to, frame)
    return frame


class Recording:
    def __init__(self, dump, path):
        self.dump = dump
        self.profiles = {}
        for p in dump['profiles']:
            self.profiles[p['labels']['__name__'], p['types'][0]['type']] = Profile(p)
        self.mode = next((p['labels'].get('jfr_event') for p in dump['profiles']), None)
        with (gzip.open if open(path, 'rb').read(2) == b'\x1f\x8b' else open)(path, 'rb') as f:
            head = f.read(68)
        self.ticks = struct.unpack('>Q', head[56:64])[0] if head[5] in (1, 2) else 0

    def get(self, name, type):
        return self.profiles.get((name, type))

    def stacks(self, names, column, leaf_class=False, rename=lambda f: f):
        """Root first, ';' between; the class as the leaf where it is asked for."""
        out = collections.Counter()
        for key in names:
            p = self.profiles.get(key)
            for stack, values, attrs, _ in p.rows if p else ():
                frames = [rename(f) for f in reversed(p.stacks[stack])]
                if leaf_class and 'class' in attrs:
                    frames.append(attrs['class'])
                out[';'.join(frames)] += values[column]
        return out


def without_library(frame):
    """async-profiler's converter leaves the library of a native function out, and keeps it where no function is known."""
    return re.sub(r'^(?:.*\.so(?:[.]\d+)*(?:;[0-9a-f]+)?(?: \(deleted\))?|vdso|java(?=\.\w+$))\.(?=[^.\d])', '', frame)


def differences(what, got, want, slack=0):
    """Two Counters of stacks."""
    if abs(sum(got.values()) - sum(want.values())) > slack:
        yield f'{what}: total {sum(got.values())}, not {sum(want.values())}'
    for key in sorted(set(got) | set(want)):
        if abs(got[key] - want[key]) > slack:
            yield f'{what}: {key[-160:]}: {got[key]}, not {want[key]}'


# ---- counts ----

def check_counts(r, counts):
    counts = {re.sub('^com.oracle.', '', k): v for k, v in counts.items()}
    seen = set()
    for (name, type), events in EVENTS.items():
        if name == 'process_cpu' and 'profiler.WallClockSample' in counts or name == 'wall' and 'profiler.WallClockSample' not in counts:
            continue # made from other events too
        p = r.get(name, type)
        got, want = len(p.rows) if p else 0, sum(counts.get(e, 0) for e in events)
        if name == 'process_cpu': # a sleeping thread is not on a processor: those are in wall
            wall = r.get('wall', 'samples')
            asleep = [row for row in wall.rows if row[2].get('state') != 'STATE_DEFAULT'] if wall and r.mode not in (None, 'wall') \
                else [row for row in wall.rows if row[2].get('state') == 'STATE_SLEEPING'] if wall else []
            got += len(asleep)
        if got != want:
            yield f'{name} {type}: {got} events, not {want}'
        seen.update(events)


# ---- async-profiler's converter ----

CPU, NATIVE, WALL = ('process_cpu', 'samples'), ('native_method', 'samples'), ('wall', 'samples')
ALLOC = [('memory', f'alloc_{k}_objects') for k in ('in_new_tlab', 'outside_tlab', 'sample')]


def converted(r, mode):
    wall_only = r.get(*WALL) and r.mode in (None, 'wall')
    names, column, leaf_class = {
        'exec': ([WALL] if wall_only else [CPU, NATIVE, WALL], 0, False),
        'cpu': ([CPU], 0, False),
        'wall': ([WALL] if r.get(*WALL) else [CPU, NATIVE], 0, False),
        'alloc_bytes': (ALLOC, 1, True),
        'lock_ns': ([('mutex', 'contentions'), ('block', 'contentions')], 1, True),
        'live': ([('memory', 'live')], 0, True),
        'nativemem_bytes': ([('memory', 'malloc_objects')], 1, True),
    }[mode]
    return r.stacks(names, column, leaf_class, without_library)


def check_converter(r, mode, golden):
    want = collections.Counter()
    for line in golden.splitlines():
        stack, value = line.rsplit(' ', 1)
        frames = [stable(re.sub(r'_\[\w\]$', '', f)) for f in stack.split(';')] if stack else []
        want[';'.join(frames)] += int(value)
    # It adds ticks and converts the sum; we convert each event.
    slack = sum(len(p.rows) for p in r.profiles.values()) if mode == 'lock_ns' else 0
    yield from differences(mode, converted(r, mode), want, slack)


# ---- jfr-parser ----

def check_parser(r, name, types, golden):
    kind = types.split('__')[0]
    ours = (name, 'samples' if kind in ('cpu', 'wall') else kind)
    want = [collections.Counter(), collections.Counter()]
    for line in golden.splitlines():
        stack, values = re.match(r'(.*) \[([-\d ]+)\]$', line).groups()
        frames = [stable(re.sub(r':-?\d+$', '', f)).removeprefix('.') for f in stack.split(';')]
        for k, v in enumerate(values.split()):
            want[k][';'.join(frames)] += int(v)
    if kind in ('cpu', 'wall'): # always of 10 ms there
        yield from differences(kind, r.stacks([ours], 0), collections.Counter({s: v // 10**7 for s, v in want[0].items()}))
        return
    yield from differences(kind, r.stacks([ours], 0), want[0])
    if kind == 'contentions': # ticks there, ns here
        ticks = collections.Counter({s: v * 10**9 // r.ticks for s, v in want[1].items()})
        yield from differences('delay', r.stacks([ours], 1), ticks, len(r.get(*ours).rows) if r.get(*ours) else 0)
    elif want[1]:
        yield from differences('bytes', r.stacks([ours], 1), want[1])


# ---- Pyroscope: one profile for each set of labels ----

APP_TYPES = {'cpu': (CPU, 0), 'itimer': (CPU, 0), 'wall': (WALL, 0), 'live': (('memory', 'live'), 0),
             'alloc_in_new_tlab_objects': (ALLOC[0], 0), 'alloc_in_new_tlab_bytes': (ALLOC[0], 1),
             'alloc_outside_tlab_objects': (ALLOC[1], 0), 'alloc_outside_tlab_bytes': (ALLOC[1], 1),
             'lock_count': (('mutex', 'contentions'), 0), 'lock_duration': (('mutex', 'contentions'), 1)}


def split(r, key, column, names):
    """{labels: Counter of stacks}"""
    out = collections.defaultdict(collections.Counter)
    p = r.get(*key)
    for stack, values, attrs, _ in p.rows if p else ():
        labels = tuple((n, attrs[n].lstrip('0') if n == 'profile_id' else attrs[n]) for n in names if n in attrs)
        out[labels][';'.join(reversed(p.stacks[stack]))] += values[column]
    return out


def check_label_sets(r, golden):
    want = collections.defaultdict(lambda: collections.defaultdict(collections.Counter))
    for key, folded in json.loads(golden).items():
        type, labels = re.match(r'.*\.(\w+)\{(.*)\}$', key).groups()
        labels = tuple(tuple(pair.split('=')) for pair in sorted(labels.split(','))) if labels else ()
        for line in folded.splitlines():
            stack, value = line.rsplit(' ', 1)
            frames = [stable(f.replace('$$Lambda$_', '$$Lambda_')).removeprefix('.') for f in stack.split(';')]
            want[type][labels][';'.join(frames)] += int(value)
    for type, sets in want.items():
        got = split(r, *APP_TYPES[type], ('profile_id', 'thread_name'))
        spans = [labels for labels in got if dict(labels).get('profile_id')]
        for labels in spans: # a span's samples are in the set without it too
            got[tuple(l for l in labels if l[0] != 'profile_id')] += got[labels]
        for labels in sorted(set(got) | set(sets)):
            yield from differences(f'{type} of {labels}', got[labels], sets[labels])


def check_contexts(r, folder):
    """The three contexts of a made recording; the text of context n has those from n on."""
    sets = [(), (('thread_name', 'pool-2-thread-8'),), (('profile_id', '239239239239'), ('thread_name', 'pool-2-thread-8'))]
    for type in sorted(set(APP_TYPES) - {'itimer', 'live'}):
        got = split(r, *APP_TYPES[type], ('profile_id', 'thread_name'))
        texts = []
        for n in range(3):
            rows = unzip(f'{folder}/pyroscope__jfr__with_labels__{n}__jfr-{type}.txt').splitlines()
            texts.append(collections.Counter({row.rsplit(' ', 1)[0]: int(row.rsplit(' ', 1)[1]) for row in rows}))
        for n, labels in enumerate(sets):
            own = texts[n] - (texts[n + 1] if n < 2 else collections.Counter())
            yield from differences(f'{type} of {labels}', got[labels], own)


# ---- Mission Control ----

PATHS = {'jdk.ExecutionSample': (CPU, None), 'jdk.ObjectAllocationInNewTLAB': (ALLOC[0], 'tlabSize'),
         'jdk.ObjectAllocationOutsideTLAB': (ALLOC[1], 'allocationSize'), 'jdk.ThreadPark': (('block', 'contentions'), None),
         'jdk.JavaMonitorEnter': (('mutex', 'contentions'), None)}


def printed_events(golden):
    """(path, stack, thread, bytes) of each event of a printout."""
    for body in re.findall(r'<event name=.*?</event>', golden, re.S):
        path = re.search(r'path="([^"]*)"', body).group(1)
        if path not in PATHS:
            continue
        frames = [re.match(r'(.*)#([^(]*)', f).groups() for f in re.findall(r'<frame method="([^"]*)"', body)]
        stack = ';'.join(stable(f'{c}.{m}') for c, m in reversed(frames))
        thread = re.search(r'<(?:eventThread|sampledThread)[^>]*>([^<]*)<', body)
        size = PATHS[path][1] and re.search(rf'<{PATHS[path][1]} [^>]*>(\d+) B<', body)
        yield path, stack.replace('&lt;', '<').replace('&gt;', '>'), thread.group(1).replace('null', '') if thread else '', int(size.group(1)) if size else 0


def check_printout(r, golden):
    want = collections.Counter(printed_events(golden))
    got = collections.Counter()
    for path, (key, size) in PATHS.items():
        p = r.get(*key)
        for stack, values, attrs, _ in p.rows if p else ():
            frames = [f.replace('/', '.') for f in reversed(p.stacks[stack])]
            frames = ';'.join(f for f in frames if not f.startswith('oracle.jrockit.jfr.') or f.count('.') < 5) # it hides the recorder's own
            got[path, frames, attrs.get('thread', ''), values[1] if size else 0] += 1
    for key in sorted(set(got) | set(want)):
        if got[key] != want[key]:
            yield f'printout: {str(key)[-200:]}: {got[key]}, not {want[key]}'


def check_statistics(r, golden):
    rows = (line.split(';') for line in golden.splitlines() if line.count(';') == 2)
    yield from check_counts(r, {path: int(n) for path, n, _ in rows})


# ---- the whole ----

def unzip(path):
    with open(path, 'rb') as f:
        data = f.read()
    return (gzip.decompress(data) if data[:2] == b'\x1f\x8b' else data).decode('utf-8', 'replace')


def goldens(corpus, name):
    """(what is compared, its check)"""
    folder = os.path.join(corpus, 'jfr', 'golden')
    base = re.sub(r'\.jfr(\.gz)?$', '', name)
    for g in sorted(os.listdir(folder)):
        path = os.path.join(folder, g)
        m = re.match(rf'ap__{re.escape(name)}\.(\w+)\.collapsed\.gz$', g)
        if m:
            yield g, lambda r, m=m, path=path: check_converter(r, m.group(1), unzip(path))
        m = re.match(rf'{re.escape(base)}_\d_(process_cpu|memory|wall|mutex|block)_(.*)_expected_collapsed\.txt\.gz$', g)
        if m:
            yield g, lambda r, m=m, path=path: check_parser(r, m.group(1), m.group(2), unzip(path))
        if g == f"jmc__printouts__{name.removeprefix('jmc__')}.txt.gz":
            yield g, lambda r, path=path: check_printout(r, unzip(path))
        if g == f"jmc__stats__{base.removeprefix('jmc__')}.txt":
            yield g, lambda r, path=path: check_statistics(r, unzip(path))
        if g == f'pyroscope__jfr__testdata__{base.removeprefix("jfrparser__")}.json.gz':
            yield g, lambda r, path=path: check_label_sets(r, unzip(path))
        m = re.match(rf'{re.escape(name.removesuffix(".bin.gz"))}-(\w+)\.txt$', g)
        if m:
            yield g, lambda r, m=m, path=path: check_label_sets(r, json.dumps({f'app.{m.group(1)}{{}}': unzip(path)}))
    if name.startswith('pyroscope__jfr__with_labels'):
        yield 'pyroscope__jfr__with_labels', lambda r: check_contexts(r, folder)
    counts = load_oracle(corpus, 'jfr', name).get('event_counts')
    if counts:
        yield 'events', lambda r: check_counts(r, counts)


def labels_beside(corpus, name):
    base = re.sub(r'\.jfr(\.gz)?$', '', name)
    for file in (f'{base}.labels.pb.gz', name.replace('jfr.bin.gz', 'labels.proto.bin')):
        path = os.path.join(corpus, 'jfr', 'golden', file)
        if file != name and os.path.isfile(path):
            return path
    return None


def check_times(r):
    """Whatever the chunk says: every event has a time, within its recording (flushed last some seconds before its end)."""
    for (name, type), p in r.profiles.items():
        start, end = p.p['time_ns'], p.p['time_ns'] + p.p['duration_ns']
        start = 0 if name in ('mutex', 'block') else start # waiting may have begun before
        outside = [row[3] for row in p.rows if row[3] is None or (r.ticks and not start - 10**9 <= row[3] <= end + 3 * 10**9)]
        if outside:
            yield f'{name} {type}: {len(outside)} of {len(p.rows)} events are not within the recording, {outside[0]} not in {start}..{end}'


def checks(helper, corpus, name):
    """(key, differences)"""
    path = os.path.join(corpus, 'jfr', name)
    labels = labels_beside(corpus, name)
    p = subprocess.run([helper, path] + (['jfr', labels] if labels else []), stdout=subprocess.PIPE)
    dump = json.loads(p.stdout.decode('utf-8', 'replace'))
    if 'error' in dump:
        yield f'jfr/{name}', ['refused: ' + dump['error']]
        return
    r = Recording(dump, path)
    yield f'jfr/{name}', list(check_times(r))
    for what, check in goldens(corpus, name):
        yield f'jfr/{name} {what}' if what == 'events' else f'jfr/golden/{what}', list(check(r))


BROKEN = {'d_badversion.jfr': 'version 99.0', 'd_cut_half.jfr': '85058 are there: it is cut off', 'd_meta_oob.jfr': 'metadata lie at offset',
          'd_garbage_tail.jfr': None} # the last is whole, and something behind it


def check_broken(helper, corpus, name):
    p = subprocess.run([helper, os.path.join(corpus, 'jfr-malformed', name)], stdout=subprocess.PIPE)
    dump = json.loads(p.stdout.decode('utf-8', 'replace'))
    if name not in BROKEN:
        yield 'not known to this test'
    elif BROKEN[name] and BROKEN[name] not in dump.get('error', ''):
        yield f"{dump.get('error')} does not say '{BROKEN[name]}'"
    elif not BROKEN[name] and (dump['profiles'][1]['types'][0]['total'] != 26246 or 'bytes after the last JFR chunk were ignored' not in dump['report']):
        yield f"{dump['profiles'][1]['types']} {dump['report']}"


def main(args):
    corpus = find_corpus()
    if not corpus:
        print('SKIP-ALL: no folder of foreign profiles (FK_CORPUS, ../shared/corpus)')
        return 0
    helper, only = args[0], args[2] if args[1:2] == ['-k'] else ''
    with open(os.path.join(HERE, 'jfr_differences.json')) as f:
        known = json.load(f)
    failed, seen, count = 0, set(), collections.Counter()
    for name in sorted(os.listdir(os.path.join(corpus, 'jfr'))):
        if only not in name or os.path.isdir(os.path.join(corpus, 'jfr', name)):
            continue
        for key, faults in checks(helper, corpus, name):
            seen.add(key)
            wrong = agrees(faults, known.get(key))
            count['refused' if faults and faults[0].startswith('refused') else 'differ' if faults else 'equal'] += 1
            if wrong:
                failed += 1
                print(f'FAILED {key}: {wrong}')
                for f in faults[:int(os.environ.get('FK_SHOWN', 6))]:
                    print('   ', f)
    for name in () if only else sorted(os.listdir(os.path.join(corpus, 'jfr-malformed'))):
        for fault in check_broken(helper, corpus, name):
            failed += 1
            print(f'FAILED jfr-malformed/{name}: {fault}')
    if not only:
        for key in sorted(set(known) - seen):
            failed += 1
            print(f'FAILED {key}: a row of jfr_differences.json about nothing')
    print('comparisons: ' + ', '.join(f'{n} {k}' for k, n in sorted(count.items())))
    return 1 if failed or not count else 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
