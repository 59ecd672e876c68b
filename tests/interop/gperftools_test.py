#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Arguments: {build}/flamekeep
"""CPU and heap profiles of gperftools, against its own `pprof --text`:  gperftools_test.py FLAMEKEEP

Packages: libgoogle-perftools-dev google-perftools (SKIP without them)."""
import os, shutil, sys

from pushed import build_busy, compare, output, run
from native import checks_of, tool_of


def checks(push, folder):
    tool = tool_of('google-pprof', 'pprof-gperftools')
    program = tool and build_busy(folder, '-lprofiler')
    if not program:
        print('SKIP: no google-pprof or no libprofiler (apt-get install google-perftools libgoogle-perftools-dev)')
        return
    cpu = os.path.join(folder, 'cpu.prof')
    if output(program, '1.5', env={**os.environ, 'CPUPROFILE': cpu}) is None or not os.path.exists(cpu):
        print('SKIP: CPUPROFILE does not work here')
    else:
        yield from checks_of(push, 'cpu', tool, program, cpu, 'samples', 'spin_long')
    program = build_busy(folder, '-ltcmalloc')
    heap = os.path.join(folder, 'heap')
    if not program or output(program, '0', env={**os.environ, 'HEAPPROFILE': heap}) is None:
        print('SKIP: HEAPPROFILE of libtcmalloc does not work here')
        return
    last = max(f for f in os.listdir(folder) if f.startswith('heap.'))
    yield from checks_of(push, 'heap', tool, program, os.path.join(folder, last), 'inuse_space', 'grow_large')
    yield from checks_of(push, 'heap, all', tool, program, os.path.join(folder, last), 'alloc_space', 'grow_large', '--alloc_space')


if __name__ == '__main__':
    sys.exit(run(sys.argv[1:], ['gcc'], checks))
