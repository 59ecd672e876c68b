#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Arguments: {build}/fk_dump
"""Profiles made on the spot by real tools, decoded and held against what the tool itself says.

  producers_test.py FK_DUMP

Node (--cpu-prof, --heap-prof) and perf (record, script).  What is not installed, or not allowed, is skipped by name.
"""
import collections, json, os, shutil, subprocess, sys, tempfile

PROGRAM = '''
function spin(n) { let x = 0; for (let i = 0; i < n; i++) x += Math.sqrt(i); return x; }
const kept = [];
function grow() { for (let i = 0; i < 200000; i++) kept.push(new Array(50).fill(i)); }
const end = Date.now() + 700;
while (Date.now() < end) spin(200000);
grow();
'''


def dump(helper, path):
    p = subprocess.run([helper, path], stdout=subprocess.PIPE)
    return json.loads(p.stdout.decode('utf-8', 'replace'))


def run(*command):
    """Its output, or None when it does not work here."""
    p = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    return None if p.returncode else p.stdout.decode('utf-8', 'replace')


def by_leaf(profile, column):
    out = collections.Counter()
    for stack, values, _, _ in profile['rows']:
        out[profile['stacks'][stack][0]] += values[column]
    return out


def node_cpu(helper, tmp, script):
    if run('node', '--cpu-prof', '--cpu-prof-dir=' + tmp, '--cpu-prof-name=a.cpuprofile', script) is None:
        print('SKIP: node --cpu-prof does not work here')
        return
    with open(os.path.join(tmp, 'a.cpuprofile')) as f:
        said = json.load(f)
    names = {n['id']: n['callFrame']['functionName'] or '(anonymous)' for n in said['nodes']}
    got = dump(helper, os.path.join(tmp, 'a.cpuprofile'))
    profile = got['profiles'][0]
    yield 'one row a sample', len(profile['rows']) == len(said['samples'])
    yield 'functions', by_leaf(profile, 0) == collections.Counter(names[s] for s in said['samples'])
    yield 'spin is among them', by_leaf(profile, 1)['spin'] > 0  # on a busy machine something else may be hotter
    clock, times = said['startTime'], []
    for delta in said['timeDeltas']:
        clock += delta
        times.append(max([clock] + times[-1:])) # V8 takes some out of order
    yield 'times', [r[3] for r in profile['rows']] == [t * 1000 for t in times]


def node_heap(helper, tmp, script):
    if run('node', '--heap-prof', '--heap-prof-interval=4096', '--heap-prof-dir=' + tmp, '--heap-prof-name=a.heapprofile',
           script) is None:
        print('SKIP: node --heap-prof does not work here')
        return
    with open(os.path.join(tmp, 'a.heapprofile')) as f:
        said = json.load(f)
    want, open_nodes = collections.Counter(), [said['head']]
    while open_nodes:
        n = open_nodes.pop()
        want[n['callFrame']['functionName'] or '(anonymous)'] += n['selfSize']
        open_nodes += n['children']
    profile = dump(helper, os.path.join(tmp, 'a.heapprofile'))['profiles'][0]
    yield 'bytes by function', +by_leaf(profile, 0) == +want
    yield 'there are some', sum(want.values()) > 0


def perf(helper, tmp, script):
    data, text = os.path.join(tmp, 'perf.data'), os.path.join(tmp, 'perf.script')
    if run('perf', 'record', '-q', '-o', data, '-F', '499', '-e', 'cpu-clock', '--sample-cpu', '-g', 'node', script) is None:
        print('SKIP: perf record does not work here')
        return
    for fields in ([], ['--header'], ['-F', 'comm,pid,tid,cpu,time,event,ip,sym,dso']):
        with open(text, 'w') as f:
            f.write(run('perf', 'script', '-i', data, *fields))
        said = [l.split() for l in run('perf', 'script', '-i', data, '-G', '-F', 'time,period,tid').splitlines()]
        got = dump(helper, text)
        profile, what = got['profiles'][0], ' '.join(fields)
        yield f'perf script {what}: nothing dropped', not got['report']
        yield f'perf script {what}: samples', len(profile['rows']) == len(said)
        threads = collections.Counter(r[2]['tid'] for r in profile['rows'])
        yield f'perf script {what}: threads', threads == collections.Counter(int(s[0]) for s in said)
        if len(profile['types']) > 1:
            yield f'perf script {what}: periods', profile['types'][1]['total'] == sum(int(s[2]) for s in said)


def main(helper):
    checks = [c for c, tool in ((node_cpu, 'node'), (node_heap, 'node'), (perf, 'perf')) if shutil.which(tool) and shutil.which('node')]
    if not checks:
        print('SKIP-ALL: neither node nor perf is here')
        return 0
    failed = passed = 0
    with tempfile.TemporaryDirectory() as tmp:
        script = os.path.join(tmp, 'program.js')
        with open(script, 'w') as f:
            f.write(PROGRAM)
        for check in checks:
            for what, ok in check(helper, tmp, script):
                passed, failed = passed + bool(ok), failed + (not ok)
                if not ok:
                    print(f'FAILED {check.__name__}: {what}')
    print(f'{passed} passed, {failed} failed')
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1]))
