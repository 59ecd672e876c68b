#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Arguments: {build}/flamekeep
# Quick: {build}/flamekeep -k go119
"""Stores real profiles with the command line and compares what comes out with independent decoders.

  store_test.py FLAMEKEEP [-k TEXT]

Each valid pprof and folded file is pushed into one data folder. Then, three times, each with a server
of its own (as pushed; after sealing into blocks; after `check --rebuild`): the list has each entry once, totals and counts are the oracle's, the table's top 20
are the oracle's, and the exported pprof has the same canonical dump as the file that was pushed.
Where the folder of foreign profiles is: see corpus_test.py.
"""
import hashlib, json, os, subprocess, sys, tempfile
from collections import Counter

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '../fault'))
from corpus_test import ADDRESS, HERE, compare_tops, find_corpus, load_oracle, text
from server import Server


class Store:
    def __init__(self, binary, data):
        self.binary, self.data = binary, data
        self.where = ['--data', data]

    def run(self, command, *args):
        p = subprocess.run([self.binary, command, *self.where, *args], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        if p.returncode:
            raise RuntimeError(f'{command}: {p.stderr.decode("utf-8", "replace")[:300]}')
        return p.stdout

    def json(self, command, *args):
        return json.loads(self.run(command, '--json', *args).decode('utf-8', 'replace'))

    def entries(self):
        found, cursor = [], None
        while True:
            page = self.json('ls', '--limit', '7', *(['--cursor', cursor] if cursor else []))
            found += page['profiles']
            cursor = page.get('next_cursor')
            if not cursor:
                return found


def push_all(store, corpus, only):
    """id -> (kind, name, path, oracle). Twenty files a command."""
    wanted = []
    for kind in ('pprof', 'folded'):
        for name in sorted(os.listdir(os.path.join(corpus, kind))):
            path = os.path.join(corpus, kind, name)
            if os.path.isdir(path) or only not in path:
                continue
            want = load_oracle(corpus, kind, name)
            if kind == 'folded' or (want.get('decoded') and want.get('valid')):
                wanted.append((kind, name, path, want))
    pushed = {}
    for at in range(0, len(wanted), 20):
        batch = wanted[at:at + 20]
        out = store.run('push', '--json', '--labels', '{service_name="s%d"}' % (at // 20 % 3), *(w[2] for w in batch))
        receipts = [json.loads(line) for line in out.decode('utf-8', 'replace').splitlines()]
        assert len(receipts) == len(batch)
        for receipt, what in zip(receipts, batch):
            assert len(receipt['profiles']) == 1, (what[1], receipt)
            pushed[receipt['profiles'][0]['id']] = what
    return pushed


def tables(store, entry):
    for t in entry['types']:
        top = store.json('top', entry['id'], '--type', t['type'], '--limit', '0')
        yield [[r['function'], r['self'], r['total'], not ADDRESS.match(r['function'])] for r in top['rows']]


class Dumps:
    """Canonical dumps of exported files against those of the pushed ones. Bytes once found right are not looked at again."""

    def __init__(self, tools):
        sys.path.insert(0, tools)
        self.dump = __import__('pprof_dump').dump
        self.right = set()

    def compare(self, path, out):
        with open(out, 'rb') as f:
            key = path, hashlib.sha256(f.read()).digest()
        if key in self.right:
            return
        want, got = Counter(self.dump(path)), Counter(self.dump(out))
        if want == got:
            self.right.add(key)
        for sign, lines in (('-', want - got), ('+', got - want)):
            for line in list(lines)[:2]:
                yield f'exported: the canonical dump differs: {sign} {line[:150]}'


def check_entry(store, entry, kind, path, want, dumps, tmp):
    totals = want['totals'] if kind == 'pprof' else [want['total']]
    count = want['n_samples'] if kind == 'pprof' else want['lines_accepted']
    if [t['total'] for t in entry['types']][:len(totals)] != totals or (kind == 'pprof' and len(entry['types']) != len(totals)):
        yield f"totals {[t['total'] for t in entry['types']]} are not {totals}"
    if entry['samples'] != count:
        yield f"{entry['samples']} samples, not {count}"
    tops = (want['top_self'], want['top_cum']) if kind == 'pprof' else ([want['top_self']], [want['top_cum']])
    for k, table in zip(range(len(tops[0])), tables(store, entry)):
        yield from compare_tops(table, *([[n or '[unknown]', v] for n, v in side[k]] for side in tops))
    if kind == 'pprof':
        out = os.path.join(tmp, 'out.pb.gz')
        store.run('export', entry['id'], '--format', 'pprof', '--output', out)
        yield from dumps.compare(path, out)


def check_phase(store, phase, pushed, known, dumps, tmp):
    """The names that fail in this phase."""
    failed = set()
    entries = store.entries()
    seen = Counter(e['id'] for e in entries)
    if seen != Counter(pushed.keys()):
        print(f'FAILED {phase}: listed {len(entries)} entries, pushed {len(pushed)}; twice: {[i for i in seen if seen[i] > 1][:3]}')
        failed.add('list')
    for entry in entries:
        kind, name, path, want = pushed[entry['id']]
        faults = list(check_entry(store, entry, kind, path, want, dumps, tmp))
        reason = known.get(f'{kind}/{name}')
        if bool(faults) != bool(reason):
            failed.add(name)
            print(f'FAILED {phase}: {kind}/{name}: ' + ('no longer differs' if reason else ''))
            for f in faults[:5]:
                print('   ', f)
    return failed


def main(args):
    corpus = find_corpus()
    if not corpus:
        print('SKIP-ALL: no folder of foreign profiles (FK_CORPUS, ../shared/corpus)')
        return 0
    only = args[2] if args[1:2] == ['-k'] else ''
    tools = os.path.join(os.path.dirname(os.path.abspath(corpus)), 'tools')
    with open(os.path.join(HERE, 'corpus_differences.json')) as f:
        known = json.load(f)
    with open(os.path.join(HERE, 'store_differences.json')) as f:
        known.update(json.load(f))
    failed = set()
    with tempfile.TemporaryDirectory() as tmp:
        dumps = Dumps(tools)
        store = Store(args[0], os.path.join(tmp, 'data'))
        pushed = push_all(store, corpus, only)
        for phase, prepare in (('pushed', []), ('sealed', ['--seal']), ('rebuilt', ['--rebuild'])):
            if prepare:
                result = store.json('check', *prepare)
                if result['problems'] or result['profiles'] != len(pushed):
                    print(f'FAILED {phase}: check says {result}')
                    failed.add('check')
            server = Server(args[0], store.data, '--no-self-profile', '--retention-age', '-1s', '--seal-age', '1d')
            server.start()
            store.where = ['--server', f'http://127.0.0.1:{server.port}']
            failed |= check_phase(store, phase, pushed, known, dumps, tmp)
            server.stop()
            store.where = ['--data', store.data]
    print(f'{len(pushed)} profiles stored, {len(failed)} failed')
    return 1 if failed or not pushed else 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
