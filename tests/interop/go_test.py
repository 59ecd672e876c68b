#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Arguments: {build}/flamekeep
"""`go test -cpuprofile` and the other profiles it writes, against `go tool pprof -top`:  go_test.py FLAMEKEEP"""
import os, re, sys

from pushed import compare, output, run

MODULE = 'module example.com/busy\n\ngo 1.18\n'
TEST = '''package busy

import (
	"sync"
	"testing"
	"time"
)

var sink []byte
var total float64

//go:noinline
func spin(n int) (x float64) {
	for i := 1; i < n; i++ {
		x += 1 / float64(i)
	}
	return x
}

func allocate(n int) {
	for i := 0; i < n; i++ {
		sink = make([]byte, 1024+i)
	}
}

func contend() {
	var m sync.Mutex
	var all sync.WaitGroup
	for i := 0; i < 4; i++ {
		all.Add(1)
		go func() {
			defer all.Done()
			for k := 0; k < 20; k++ {
				m.Lock()
				time.Sleep(time.Millisecond)
				m.Unlock()
			}
		}()
	}
	all.Wait()
}

func TestBusy(t *testing.T) {
	for end := time.Now().Add(1500 * time.Millisecond); time.Now().Before(end); {
		total += spin(200000)
		allocate(500)
	}
	contend()
}
'''
# File, our type, the sample index and unit of pprof, a function that is in it.
PROFILES = [('cpu', 'samples', 'samples', None, 'busy.spin'), ('cpu', 'cpu', 'cpu', 'ns', 'busy.spin'),
            ('mem', 'alloc_space', 'alloc_space', 'B', 'busy.allocate'), ('mem', 'alloc_objects', 'alloc_objects', None, 'busy.allocate'),
            ('block', 'delay', 'delay', 'ns', 'busy.contend'), ('mutex', 'contentions', 'contentions', None, 'busy.contend')]
ROW = re.compile(r'^\s*(-?\d+)[a-zA-Z]*\s+-?[\d.e-]+%\s+-?[\d.e-]+%\s+(-?\d+)[a-zA-Z]*\s+-?[\d.e-]+%\s+(.*?)(?: \(inline\)| \(partial-inline\))?$')


def reported(file, index, unit):
    """{function: (flat, cum)}; whole numbers of the unit."""
    unit = ['-unit=' + unit] if unit else []
    text = output('go', 'tool', 'pprof', '-top', '-nodefraction=0', '-edgefraction=0', '-nodecount=1000000', '-symbolize=none',
                  f'-sample_index={index}', *unit, file)
    rows = {}
    for m in filter(None, map(ROW.match, (text or '').splitlines())):
        flat, cum = rows.get(m[3], (0, None)) # pprof has a row for each function, and names can stand for two
        rows[m[3]] = (flat + int(m[1]), int(m[2]) if cum is None and m[3] not in rows else None)
    return rows


def checks(push, folder):
    for name, text in (('go.mod', MODULE), ('busy_test.go', TEST)):
        with open(os.path.join(folder, name), 'w') as f:
            f.write(text)
    flags = [f'-{name}profile={name}.out' for name in ('cpu', 'mem', 'block', 'mutex')]
    env = {**os.environ, 'GOFLAGS': '-mod=mod', 'GOTOOLCHAIN': 'local', 'GOPROXY': 'off'}
    if output('go', 'test', *flags, '-memprofilerate=4096', '-blockprofilerate=1', '-mutexprofilefraction=1', cwd=folder, env=env) is None:
        print('SKIP: go test does not work here')
        return
    for name, part, index, unit, expected in PROFILES:
        file, what = os.path.join(folder, name + '.out'), f'{name} {index}'
        rows = reported(file, index, unit)
        p = push(file)
        yield f'{what}: stored, nothing left out', p.status == 201 and not p.receipt['dropped'], p.receipt
        yield f'{what}: rows of pprof', len(rows) > 3, rows
        yield f'{what}: total', p.total(part) == sum(flat for flat, _ in rows.values()) > 0, p.total(part)
        top = p.top(part)
        yield f'{what}: top of the file', p.top_of_file(part) == top, len(top)
        want = dict(sorted(rows.items(), key=lambda r: -r[1][1])[:40])
        yield from compare(f'{what}: flat of', {n: v[0] for n, v in top.items()}, {n: v[0] for n, v in want.items()})
        yield from compare(f'{what}: cum of', {n: v[1] for n, v in top.items()}, {n: v[1] for n, v in want.items() if v[1] is not None})
        yield f'{what}: {expected} is found', any(expected in n for n in want), list(want)


if __name__ == '__main__':
    sys.exit(run(sys.argv[1:], ['go'], checks))
