#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Arguments: {build}/flamekeep
"""Heap dumps of jemalloc, sampled at three rates, against `jeprof --text`:  jemalloc_test.py FLAMEKEEP

Package: libjemalloc-dev (SKIP without it)."""
import os, sys

from pushed import build_busy, output, run
from native import checks_of, tool_of


def checks(push, folder):
    tool = tool_of('jeprof')
    program = tool and build_busy(folder, '-ljemalloc')
    if not program:
        print('SKIP: no jeprof or no libjemalloc (apt-get install libjemalloc-dev)')
        return
    for rate in (0, 12, 19): # bytes between samples, log 2
        prefix = os.path.join(folder, f'dump{rate}')
        conf = f'prof:true,prof_final:true,prof_accum:true,lg_prof_sample:{rate},prof_prefix:{prefix}'
        output(program, '0', env={**os.environ, 'MALLOC_CONF': conf})
        dumps = [f for f in os.listdir(folder) if f.startswith(f'dump{rate}.')]
        if not dumps:
            print('SKIP: this jemalloc was built without profiling (--enable-prof)')
            return
        dump = os.path.join(folder, dumps[0])
        yield from checks_of(push, f'rate 2^{rate}', tool, program, dump, 'inuse_space', 'grow_large', '--inuse_space')
        yield from checks_of(push, f'rate 2^{rate}, all', tool, program, dump, 'alloc_space', 'grow_large', '--alloc_space')
        yield from checks_of(push, f'rate 2^{rate}, objects', tool, program, dump, 'inuse_objects', 'grow_', '--inuse_objects')


if __name__ == '__main__':
    sys.exit(run(sys.argv[1:], ['gcc'], checks))
