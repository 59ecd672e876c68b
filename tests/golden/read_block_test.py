#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Arguments: {build}/flamekeep
# Quick: {build}/flamekeep
"""Holds docs/format-block.md, by way of tools/read_block.py, against what the program writes.

  read_block_test.py FLAMEKEEP

Pushes profiles with known stacks, reads pack and sealed block with the independent reader and compares: both give the
stacks that went in, ids and totals are those of `flamekeep ls`.  Profiles of $FK_CORPUS (else ../shared/corpus beside
the checkout) are pushed as well where they are; their pack and their block must agree."""
import glob, json, os, random, subprocess, sys, tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.join(HERE, '../..')
sys.path.insert(0, os.path.join(ROOT, 'fuzz'))
import make_seeds

ALL_TIME = ['--from', '1970-01-02T00:00:00Z', '--until', 'now+1h']


def run(*command):
    p = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if p.returncode:
        sys.exit(f'{" ".join(command[:6])}: exit code {p.returncode}: {p.stderr.decode()}')
    return p.stdout.decode()


def read(folder, *names):
    files = [f for n in names for f in glob.glob(os.path.join(folder, n))]
    if not files:
        sys.exit(f'no file {names} in {folder}')
    lines = run(sys.executable, os.path.join(ROOT, 'tools/read_block.py'), '--stacks', *files).splitlines()
    return {e['id']: e for e in map(json.loads, lines)}


def made(folder, seed):
    """{file: its stacks}: sizes on both sides of a packing block, values of few and of many bits."""
    rng, out = random.Random(seed), {}
    for n in (1, 2, 127, 128, 129, 1000):
        for top in (1, 100, 1 << 20, 1 << 45):
            stacks = {}
            while len(stacks) < n:
                path = ';'.join(f'f{rng.randrange(40)}' for _ in range(rng.randrange(1, 30)))
                stacks[path] = rng.randrange(1, top + 1)
            name = os.path.join(folder, f'{n}-{top}.folded')
            with open(name, 'w') as f:
                f.writelines(f'{k} {v}\n' for k, v in stacks.items())
            out[name] = stacks
    return out


def corpus():
    folder = os.environ.get('FK_CORPUS') or os.path.join(ROOT, '../shared/corpus')
    files = [f for f in sorted(glob.glob(os.path.join(folder, 'pprof', '*'))) if os.path.isfile(f)]
    if not files:
        print('SKIP: no folder of foreign profiles (FK_CORPUS, ../shared/corpus): only made ones are compared')
    return [f for f in files if os.path.getsize(f) < 300000]


def main(flamekeep):
    bad = []
    with tempfile.TemporaryDirectory() as folder:
        data, known = os.path.join(folder, 'data'), made(folder, 1)
        seed = os.path.join(folder, 'full.pb')
        with open(seed, 'wb') as f:
            f.write(make_seeds.pprof(labels=True, times=True))
        run(flamekeep, 'push', '--data', data, *known, seed)
        foreign = corpus()
        for at in range(0, len(foreign), 32): # some are refused, which is right
            subprocess.run([flamekeep, 'push', '--data', data, *foreign[at:at + 32]], stdout=subprocess.DEVNULL,
                           stderr=subprocess.DEVNULL)
        pack = read(data, 'packs/*.pack')
        run(flamekeep, 'check', '--data', data, '--seal')
        block = read(data, 'blob/blocks/*/*')
        pages = run(flamekeep, 'ls', '--data', data, *ALL_TIME, '--all', '--json').splitlines() # one JSON a page
        listed = {e['id']: e for page in pages for e in json.loads(page)['profiles']}
        if pack != block:
            bad.append(f'{sum(pack.get(i) != block.get(i) for i in {*pack, *block})} entries differ between pack and block')
        stacks = [e['stacks'][0] for e in block.values()]
        bad += [f'the stacks of {os.path.basename(f)} are not there' for f, want in known.items() if want not in stacks]
        if not any(e['has_time'] for e in block.values()):
            bad.append('no entry with times inside')
        if set(listed) != set(block):
            bad.append(f'{len(listed)} entries are listed, {len(block)} are in the files')
        for i in set(listed) & set(block):
            want, got = [t['total'] for t in listed[i]['types']], [t['total'] for t in block[i]['types']]
            if want != got or listed[i]['samples'] != block[i]['samples']:
                bad.append(f'{i}: listed {want}, read {got}')
    for line in bad[:20]:
        print('FAILED:', line)
    print(f'{len(block)} entries read independently')
    return bool(bad)


if __name__ == '__main__':
    sys.exit(main(*sys.argv[1:]))
