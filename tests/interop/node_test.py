#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Arguments: {build}/flamekeep
"""`node --cpu-prof` and `--heap-prof`, against sums over the JSON that Node wrote:  node_test.py FLAMEKEEP"""
import collections, json, os, sys

from pushed import compare, output, run

PROGRAM = '''
function spin(n) { let x = 0; for (let i = 0; i < n; i++) x += Math.sqrt(i); return x; }
function rarely(n) { return n === 0 ? spin(50000) : rarely(n - 1); }
const kept = globalThis.kept = []; // else it is garbage before the program ends
function grow() { for (let i = 0; i < 200000; i++) kept.push(new Array(50).fill(i)); }
const end = Date.now() + 900;
while (Date.now() < end) { spin(200000); rarely(20); }
grow();
'''


def name_of(node):
    return node['callFrame']['functionName'] or '(anonymous)'


def cpu_said(path):
    """(samples, nanoseconds, {function: samples}, {function: nanoseconds}, {function: samples below it})"""
    with open(path) as f:
        said = json.load(f)
    nodes = {n['id']: n for n in said['nodes']}
    parent = {c: n['id'] for n in said['nodes'] for c in n.get('children', ())}
    clock, times = said['startTime'], []
    for delta in said['timeDeltas']: # V8 takes some out of order: none is before the one ahead of it
        clock += delta
        times.append(max([clock] + times[-1:]))
    times.append(max(said['endTime'], times[-1]))
    counts, spent, below = collections.Counter(), collections.Counter(), collections.Counter()
    for i, id in enumerate(said['samples']):
        counts[name_of(nodes[id])] += 1
        spent[name_of(nodes[id])] += (times[i + 1] - times[i]) * 1000
        names = set()
        while id is not None:
            names.add(name_of(nodes[id]))
            id = parent.get(id)
        below.update(names)
    return len(said['samples']), (times[-1] - times[0]) * 1000, counts, spent, below


def cpu(push, path):
    p = push(path)
    samples, nanoseconds, counts, spent, below = cpu_said(path)
    yield 'cpu: stored', p.status == 201 and p.receipt['format'] == 'cpuprofile', p.receipt
    yield 'cpu: samples', p.samples == p.total('samples') == samples > 100, f"{p.samples} and {p.total('samples')}, not {samples}"
    yield 'cpu: time', p.total('wall') == nanoseconds, f"{p.total('wall')}, not {nanoseconds}"
    top, time = p.top('samples'), p.top('wall')
    yield 'cpu: top of the file', p.top_of_file('samples') == top, len(top)
    below.pop('(root)', None) # the root of the tree is not a function
    yield from compare('cpu: self samples of', {n: v[0] for n, v in top.items()}, counts)
    yield from compare('cpu: total samples of', {n: v[1] for n, v in top.items()}, below)
    yield from compare('cpu: self time of', {n: v[0] for n, v in time.items()}, spent)
    yield 'cpu: spin is among them', 'spin' in time, list(time)[:5]  # on a busy machine something else may be hotter
    entry = p.client.get('/api/v1/profiles')[1]['profiles'][0]
    yield 'cpu: times of samples', entry['has_time'], entry


def heap(push, path):
    p = push(path)
    with open(path) as f:
        open_nodes = [(json.load(f)['head'], frozenset())]
    own, below = collections.Counter(), collections.Counter()
    while open_nodes:
        node, above = open_nodes.pop()
        names = above | {name_of(node)}
        own[name_of(node)] += node['selfSize']
        for name in names if node['selfSize'] else ():
            below[name] += node['selfSize']
        open_nodes += [(c, names) for c in node['children']]
    yield 'heap: stored', p.status == 201 and p.receipt['format'] == 'heapprofile', p.receipt
    yield 'heap: bytes', p.total('inuse_space') == sum(own.values()) > 1 << 20, f"{p.total('inuse_space')}, not {sum(own.values())}"
    top = p.top('inuse_space')
    yield 'heap: top of the file', p.top_of_file('inuse_space') == top, len(top)
    below.pop('(root)', None)
    yield from compare('heap: self of', {n: v[0] for n, v in top.items()}, +own)
    yield from compare('heap: total of', {n: v[1] for n, v in top.items()}, below)
    yield 'heap: grow keeps the most', max(top, key=lambda n: top[n][0]) == 'grow', top.get('grow')


def checks(push, folder):
    script = os.path.join(folder, 'program.js')
    with open(script, 'w') as f:
        f.write(PROGRAM)
    for kind, flags, check in (('cpu', [], cpu), ('heap', ['--heap-prof-interval=4096'], heap)):
        name = f'a.{kind}profile'
        if output('node', f'--{kind}-prof', f'--{kind}-prof-dir={folder}', f'--{kind}-prof-name={name}', *flags, script) is None:
            print(f'SKIP: node --{kind}-prof does not work here')
            continue
        yield from check(push, os.path.join(folder, name))


if __name__ == '__main__':
    sys.exit(run(sys.argv[1:], ['node'], checks))
