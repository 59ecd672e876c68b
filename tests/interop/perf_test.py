#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Arguments: {build}/flamekeep
"""`perf record | perf script` of a program, and of programs that write /tmp/perf-PID.map, against perf's own reports:  perf_test.py FLAMEKEEP"""
import collections, glob, os, re, shutil, subprocess, sys

from pushed import build_busy, compare, output, run

FIB_PY = 'import time\ndef fib(n): return n if n < 2 else fib(n - 1) + fib(n - 2)\nend = time.time() + 1.5\nwhile time.time() < end: fib(18)\n'
FIB_JS = 'function fib(n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }\nconst end = Date.now() + 1500;\nwhile (Date.now() < end) fib(20);\n'


def recorded(folder, *command):
    data = os.path.join(folder, 'perf.data')
    if output('perf', 'record', '-q', '-e', 'cpu-clock:u', '-F', '997', '-g', '-o', data, *command, cwd=folder) is None: # Node leaves a log where it runs
        print(f'SKIP: perf record of {os.path.basename(command[0])} does not work here (perf_event_paranoid, or no perf events)')
        return None
    return data


def script(data, *words):
    return output('perf', 'script', '-i', data, *words)


def folds(data):
    """{folded stack: samples} by what perf prints of addresses and symbols, unknown ones as ''; the root first."""
    stacks = collections.Counter()
    for block in script(data, '-F', 'ip,sym').split('\n\n'):
        lines = [l.split(None, 1) for l in block.splitlines() if l.strip()]
        names = [l[1].strip() if len(l) > 1 else '' for l in lines]
        if names:
            stacks[';'.join('' if n == '[unknown]' else n.replace(';', ':') for n in reversed(names))] += 1
    return stacks


def reported(data):
    """{symbol: samples at it} by perf report."""
    text = output('perf', 'report', '-i', data, '--stdio', '--no-children', '-g', 'none', '-F', 'sample,sym', '-t', '\t', '--percent-limit', '0')
    rows = (re.match(r'\s*(\d+)\s*\t\s*\[.\]\s+(.*?)\s*$', l) for l in (text or '').splitlines())
    counts = collections.Counter() # functions of one name have a row each
    for r in filter(None, rows):
        if not r[2].startswith(('0x', '[unknown]')):
            counts[r[2]] += int(r[1])
    return counts


def checks_of(push, what, data, expected):
    file = data + '.txt'
    with open(file, 'w', encoding='latin-1') as f:
        f.write(script(data))
    p = push(file)
    yield f'{what}: stored, nothing left out', p.status == 201 and not p.receipt['dropped'], p.receipt
    periods = [int(n) for n in script(data, '-G', '-F', 'period').split()]
    yield f'{what}: samples', len(periods) == p.samples == p.total('samples') > 100, f"{p.samples} and {p.total('samples')}, not {len(periods)}"
    yield f'{what}: periods', p.total('cpu') == sum(periods), f"{p.total('cpu')}, not {sum(periods)}"
    top = p.top('samples')
    yield f'{what}: top of the file', p.top_of_file('samples') == top, len(top)
    want = reported(data)
    hot = want.most_common(20)
    yield from compare(f'{what}: perf report, self of', {n: v[0] for n, v in top.items()}, dict(hot))
    yield f'{what}: {expected} is found', any(re.search(expected, n) for n, _ in hot), hot
    known = {s: n for s, n in folds(data).items() if all(s.split(';'))}
    yield f'{what}: stacks known throughout', bool(known), known
    yield from compare(f'{what}: stack', p.folded('samples'), dict(collections.Counter(known).most_common(100)))


def pythons():
    """Those that may know -X perf (3.12 and later)."""
    names = [os.environ.get('FK_PYTHON', '')] + [f'python3.{n}' for n in range(12, 20)] + [sys.executable]
    root = output('pyenv', 'root') if shutil.which('pyenv') else None
    return [p for p in map(shutil.which, filter(None, names)) if p] + (sorted(glob.glob(f'{root.strip()}/versions/3.1[2-9]*/bin/python3')) if root else [])


def with_perf_map(folder):
    """A Python with a trampoline a function, where there is one."""
    test = 'import sys; sys.exit(not sys.is_stack_trampoline_active())'
    for python in pythons():
        if output(python, '-X', 'perf', '-c', test) is not None:
            return python
    print('SKIP: no Python 3.12 or later with -X perf (FK_PYTHON names one)')
    return None


def checks(push, folder):
    program = build_busy(folder) if shutil.which('gcc') else None
    if not program:
        print('SKIP: no gcc to make a program with frame pointers')
    data = program and recorded(folder, program)
    if data:
        yield from checks_of(push, 'C', data, '^spin_long$')
    sources = {'fib.py': FIB_PY, 'fib.js': FIB_JS}
    for name, text in sources.items():
        with open(os.path.join(folder, name), 'w') as f:
            f.write(text)
    python = with_perf_map(folder)
    data = python and recorded(folder, python, '-X', 'perf', os.path.join(folder, 'fib.py'))
    if data:
        yield from checks_of(push, 'Python', data, 'Eval')
        yield 'Python: functions by the map', any('py::fib' in s for s in folds(data)), list(folds(data))[:3]
    if not shutil.which('node'):
        print('SKIP: no node for --perf-basic-prof')
        return
    data = recorded(folder, shutil.which('node'), '--perf-basic-prof', os.path.join(folder, 'fib.js'))
    if data:
        yield from checks_of(push, 'Node', data, r'fib .*fib\.js')


if __name__ == '__main__':
    sys.exit(run(sys.argv[1:], ['perf'], checks))
