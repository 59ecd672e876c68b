#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Arguments: {build}/fk_dump {build}/fk_roundtrip
# Quick: {build}/fk_dump {build}/fk_roundtrip -k lock
"""OpenTelemetry profiles against the answers of an independent decoder, and of another server.

  otlp_test.py FK_DUMP FK_ROUNDTRIP [-k TEXT]         the built helpers

Where the files are: see corpus_test.py.  Each request is decoded without being told its format.  Per profile: types, totals,
samples, timestamps, times, attributes, self and cumulative values of the top 20.  The same request in JSON gives the same
profiles.  What the other server made of a request is the same sum of stacks.  Each pprof of the corpus, written as OTLP, is to the
independent decoder what the pprof is.  Known differences stand in otlp_differences.json
with the reason and who is right; an unknown one, and a known one that no longer occurs, fail the test.
"""
import collections, gzip, json, os, re, subprocess, sys, tempfile

from corpus_test import HERE, find_corpus, load_oracle, text

ADDRESS = re.compile(r'0x[0-9a-f]+$')
FORMS = { # a request, and files of the same in JSON
    'pyroscope__otel-ebpf-profile.pb.bin': ['pyroscope__otel-ebpf-profile.pb.json', 'golden/pyroscope__otel-ebpf-profile.pb.json.gz'],
    'pyroscope__otel-ebpf-profile.v2.pb.bin': ['pyroscope__otel-ebpf-profile.v2.pb.json',
                                               'golden/pyroscope__otel-ebpf-profile.pb.v2.json.gz',
                                               'golden/pyroscope__otel-ebpf-profile.out.json.gz'],
}
MADE = { # what another server made of the column, of profiles that name neither service nor program
    ('pyroscope__otel-ebpf-profile.pb.bin', 'cpu'): 'golden/pyroscope__otel-ebpf-profile-cpu.out.json',
    ('pyroscope__otel-ebpf-profile.pb.bin', 'off_cpu'): 'golden/pyroscope__otel-ebpf-profile-offcpu.out.json',
}


def dump(helper, path):
    p = subprocess.run([helper, path], stdout=subprocess.PIPE)
    return json.loads(p.stdout.decode('utf-8', 'replace'))


def plain(profile):
    """The profile without ids."""
    rows = [(profile['stacks'][s], *rest) for s, *rest in profile['rows']]
    return dict(profile, rows=sorted(rows, key=str), stacks=None)


def tops(profile, k):
    own, all_ = collections.Counter(), collections.Counter()
    for stack, values, *_ in profile['rows']:
        frames = profile['stacks'][stack]
        if frames:
            own[frames[0]] += values[k]
        for f in set(frames):
            all_[f] += values[k]
    return own, all_


def compare_tops(profile, want):
    for name, have, rows in zip(('self', 'cum'), tops(profile, 0), (want['top_self'][0], want['top_cum'][0])):
        for function, value in rows:
            if have[text(function)] != value:
                yield f'{name} {function}: {have[text(function)]} is not {value}'


def compare_attributes(profile, want, resource):
    have = collections.defaultdict(collections.Counter)
    samples = {(s, json.dumps(a, sort_keys=True)): a for s, _, a, _ in profile['rows']}
    for attrs in samples.values():
        for key, value in attrs.items():
            have[key][str(value)] += 1
    for key, facts in want['attributes'].items():
        if key == 'service.name' or key in resource:
            continue
        if len(have[key]) != facts['distinct']:
            yield f"attribute {key}: {len(have[key])} values, not {facts['distinct']}"
        for value in facts['examples']:
            if text(value) not in have[key]:
                yield f'attribute {key}: no {value}'


def compare_profile(profile, want):
    first, wanted = profile['types'][0], want['sample_types'][0]
    if (first['type'], first['unit']) != (wanted['type'], wanted['unit']):
        yield f"type {first['type']}/{first['unit']}, not {wanted}"
    if first['total'] != want['totals'][0]:
        yield f"total {first['total']}, not {want['totals'][0]}"
    period = want['period_type'] or {}
    if wanted['unit'] == 'count' and period.get('unit') == 'nanoseconds' and want['period']:
        added = profile['types'][1:]
        if [(t['type'], t['unit'], t['total']) for t in added] != [(period['type'], 'nanoseconds', first['total'] * want['period'])]:
            yield f'added type {added}'
    elif len(profile['types']) != 1:
        yield f"{len(profile['types'])} types"
    times = sum(row[3] is not None for row in profile['rows'])
    if times != want['n_timestamps']:
        yield f"{times} timestamps, not {want['n_timestamps']}"
    for name, ours in (('time', 'time_ns'), ('duration', 'duration_ns'), ('period', 'period')):
        if profile[ours] != want[name]:
            yield f'{name} {profile[ours]}, not {want[name]}'
    if want['scope'] in profile['labels'].values():
        yield 'the name of the scope is a label'
    yield from compare_tops(profile, want)
    yield from compare_attributes(profile, want, want['resource'])


def check(helper, folder, name, want):
    got = dump(helper, os.path.join(folder, name))
    if 'error' in got:
        yield 'refused: ' + got['error']
        return
    if got['format'] != 'otlp' or len(got['profiles']) != len(want['profiles']):
        yield f"{got['format']}, {len(got['profiles'])} profiles, not {len(want['profiles'])}"
        return
    for i, (profile, w) in enumerate(zip(got['profiles'], want['profiles'])):
        yield from (f'profile {i}: {fault}' for fault in compare_profile(profile, w))
    for other in FORMS.get(name, []):
        twin = dump(helper, os.path.join(folder, other))
        if [plain(p) for p in twin.get('profiles', [])] != [plain(p) for p in got['profiles']]:
            yield f"{other} gives something else: {twin.get('error', '')}"
    for (request, column), made in MADE.items():
        if request == name:
            yield from (f'{made}: {fault}' for fault in compare_made(got, column, os.path.join(folder, made)))


def compare_made(got, column, path):
    """Stacks with their sums, of all profiles; lines are written name[system name]@file:line there."""
    with open(path) as f:
        want = json.load(f)
    theirs, ours = collections.Counter(), collections.Counter()
    for sample in want['samples']:
        frames = [line.split('[')[0] for l in sample['locations'] for line in l.get('lines', [l.get('address', '')])]
        theirs[';'.join(frames)] += int(sample['values'])
    for profile in got['profiles']:
        if 'service_name' in profile['labels']:
            continue
        for k, t in enumerate(profile['types']):
            if t['type'] == column and t['unit'] == 'nanoseconds':
                for stack, values, *_ in profile['rows']:
                    ours[';'.join(f.split('[')[0] for f in profile['stacks'][stack])] += values[k]
    if sum(ours.values()) != sum(theirs.values()):
        yield f'{sum(ours.values())} in all, not {sum(theirs.values())}'
    for stack in sorted(set(ours) | set(theirs)):
        if ours[stack] != theirs[stack]:
            yield f'{ours[stack]}, not {theirs[stack]} in {stack[:120]}'


def pprof_as_otlp(helper, path, want, tools, out):
    if subprocess.run([helper, path, '', '', out], stdout=subprocess.DEVNULL).returncode:
        yield 'not read or not written'
        return
    got = json.loads(subprocess.check_output([sys.executable, tools + '/otlp_oracle.py', out]))
    if got.get('error') or got['errors'] or got['layout'] != 'L110':
        yield f"{got['layout']} {got.get('error')} {got['errors']}"
        return
    profiles, columns = got['profiles'], list(range(len(want['sample_types'])))
    if len(profiles) == 1 and columns == [0, 1]:
        columns = [0] # the other is the count times the period
        if want['totals'][1] != want['totals'][0] * profiles[0]['period']:
            yield 'a column is missing'
    if len(profiles) != len(columns):
        yield f'{len(profiles)} profiles, not {len(columns)}'
        return
    for k, p in zip(columns, profiles):
        if (p['totals'], p['n_samples']) != ([want['totals'][k]], want['n_samples']):
            yield f"column {k}: {p['totals']} of {p['n_samples']}, not {want['totals'][k]} of {want['n_samples']}"
        for have, rows in ((p['top_self'][0], want['top_self'][k]), (p['top_cum'][0], want['top_cum'][k])):
            # Ties at the end of a list may fall either way; what has no name is named differently.
            last = abs(rows[-1][1]) if len(rows) == 20 else -1
            named = [[n, v] for n, v in rows if not ADDRESS.search(n) and abs(v) != last]
            if [r for r in named if r not in have]:
                yield f'column {k}: {[r for r in named if r not in have][:3]} not among {have[:5]}'


def written(helper, corpus, only):
    """Faults of each pprof written as OTLP."""
    tools, folder = os.path.join(os.path.dirname(os.path.abspath(corpus)), 'tools'), os.path.join(corpus, 'pprof')
    with tempfile.TemporaryDirectory() as tmp:
        for name in sorted(os.listdir(folder)):
            path = os.path.join(folder, name)
            if only not in name or os.path.isdir(path) or os.path.getsize(path) > 100_000:
                continue
            want = load_oracle(corpus, 'pprof', name)
            if want.get('decoded') and want.get('valid') and want['n_samples']:
                yield 'pprof/' + name, list(pprof_as_otlp(helper, path, want, tools, os.path.join(tmp, 'out')))


def main(args):
    corpus = find_corpus()
    if not corpus:
        print('SKIP-ALL: no folder of foreign profiles (FK_CORPUS, ../shared/corpus)')
        return 77
    helper, only = args[0], args[3] if args[2:3] == ['-k'] else ''
    with open(os.path.join(HERE, 'otlp_differences.json')) as f:
        known = json.load(f)
    folder, count, failed = os.path.join(corpus, 'otlp'), 0, 0
    for name in sorted(os.listdir(folder)):
        if not name.endswith('.bin') or only not in name:
            continue
        count += 1
        faults, left = [], list(known.get(name, []))
        for fault in check(helper, folder, name, load_oracle(corpus, 'otlp', name)):
            reason = next((k for k in left if k['fault'] in fault), None)
            if reason:
                left.remove(reason)
                print(f'known: {name}: {fault}: {reason["why"]}')
            else:
                faults.append(fault)
        faults += [f'no longer differs: {k["fault"]}' for k in left]
        failed += bool(faults)
        for fault in faults[:20]:
            print(f'FAILED {name}: {fault}')
    exported = 0
    for name, faults in written(args[1], corpus, only):
        exported += 1
        reason = known.get(name)
        if reason and faults:
            print(f'known: {name}: {faults[0]}: {reason}')
        elif reason or faults:
            failed += 1
            for fault in faults[:5] or ['no longer differs']:
                print(f'FAILED {name}: {fault}')
    print(f'{count} requests, {exported} pprofs written, {failed} failed')
    return 1 if failed or not count + exported else 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
