#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Arguments: {build}/fk_roundtrip
# Quick: {build}/fk_roundtrip -k go
"""Compares the decoders and encoders with the answers of independent ones, on real profiles.

  corpus_test.py HELPER [-k TEXT]        HELPER: the built fk_roundtrip

The profiles and oracles are not part of this repository: the folder is $FK_CORPUS, else
../shared/corpus beside the checkout, its tools ../tools beside that; absent: SKIP.

For every valid pprof: totals, row count, the self and cumulative values of the oracle's top 20, no
dropped rows; exported and read back by the oracle: equal stacks_sha256 and an empty canonical diff.
For every folded file: accepted and ignored lines, total, tops; exported and read again: the same
totals and tables.  Differences that are known stand in corpus_differences.json with their reason;
an unknown one, and a known one that no longer occurs, fail the test.
"""
import json, os, re, subprocess, sys, tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ADDRESS = re.compile(r'^(.*!)?0x[0-9a-f]+$')


def load_oracle(corpus, kind, name):
    with open(os.path.join(corpus, 'oracle', kind, name + '.json')) as f:
        return json.load(f)


def run(helper, path, *out):
    p = subprocess.run([helper, path, *out], stdout=subprocess.PIPE)
    return json.loads(p.stdout.decode('utf-8', 'replace'))


def text(name):
    # The oracle escapes invalid UTF-8, the JSON writer replaces it.
    return re.sub(r'\\x[0-9a-f]{2}', '\ufffd', name)


def compare_tops(ours, self_rows, cum_rows):
    """Rows of functions by name; unsymbolized ones (named differently) by value."""
    table = {row[0]: row for row in ours}
    values = [{}, {}]
    for row in ours:
        if not row[3]:
            for k in (0, 1):
                values[k].setdefault(row[1 + k], []).append(row[0])
    for k, rows in ((0, self_rows), (1, cum_rows)):
        for name, value in rows:
            row = table.get(text(name))
            if ADDRESS.match(name) and row is None:
                if not values[k].get(value):
                    yield f'{("self", "cum")[k]} {name}: no such value {value}'
                else:
                    values[k][value].pop()
                continue
            if row is None or row[1 + k] != value:
                yield f'{("self", "cum")[k]} {name}: {row and row[1 + k]} is not {value}'


def check_pprof(helper, path, want, tools, tmp):
    out = os.path.join(tmp, 'out.pb')
    got = run(helper, path, out)
    if 'error' in got:
        yield 'refused: ' + got['error']
        return
    types = [dict(type=t['type'], unit=t['unit']) for t in got['types']]
    if types != [dict(type=text(t['type']), unit=text(t['unit'])) for t in want['sample_types']]:
        yield f'sample types {types}'
    if [t['total'] for t in got['types']] != want['totals']:
        yield f"totals {[t['total'] for t in got['types']]} are not {want['totals']}"
    if got['rows'] != want['n_samples']:
        yield f"{got['rows']} rows, not {want['n_samples']}"
    yield from (f"report: {r['reason']} {r['count']}" for r in got['report'])
    for k, t in enumerate(got['types']):
        yield from compare_tops(t['table'], want['top_self'][k], want['top_cum'][k])
    back = json.loads(subprocess.check_output([sys.executable, tools + '/pprof_oracle.py', out]))
    for field in ('stacks_sha256', 'valid', 'n_samples', 'totals'):
        if back[field] != want[field]:
            yield f'exported: {field} differs'
    p = subprocess.run([sys.executable, tools + '/pprof_dump.py', '--diff', path, out],
                       stdout=subprocess.PIPE)
    if p.returncode:
        yield 'exported: the canonical dump differs: ' + p.stdout.decode('utf-8', 'replace')[:300]


def check_folded(helper, path, want, tmp):
    out = os.path.join(tmp, 'out.folded')
    got = run(helper, path, os.path.join(tmp, 'out.pb'), out)
    if 'error' in got:
        yield 'refused: ' + got['error']
        return
    reasons = {r['reason']: r['count'] for r in got['report']}
    total = got['types'][0]['total']
    if total != want['total']:
        yield f"total {total} is not {want['total']}"
    if got['rows'] != want['lines_accepted']:
        yield f"{got['rows']} lines accepted, not {want['lines_accepted']}"
    bad = reasons.get("line that is not 'stack count'", 0)
    if bad != want['lines_ignored']:
        yield f"{bad} lines ignored, not {want['lines_ignored']}"
    if reasons.get('fractional count cut to an integer', 0) != want['fractional_counts']:
        yield 'fractional counts differ'
    named = [[[n or '[unknown]', v] for n, v in want[k]] for k in ('top_self', 'top_cum')]
    yield from compare_tops(got['types'][0]['table'], *named)
    if os.path.getsize(out):
        again = run(helper, out)
        if 'error' in again:
            yield 'exported: refused: ' + again['error']
        elif again['types'][0]['total'] != total or again['types'][0]['table'] != [
                r for r in got['types'][0]['table'] if r[2] or r[1]]:
            yield 'exported and read again: another table'


def find_corpus():
    corpus = os.environ.get('FK_CORPUS') or os.path.join(HERE, '../../../shared/corpus')
    return corpus if os.path.isdir(os.path.join(corpus, 'oracle')) else None


def main(args):
    corpus = find_corpus()
    if not corpus:
        print('SKIP-ALL: no folder of foreign profiles (FK_CORPUS, ../shared/corpus)')
        return 0
    helper, only = args[0], args[2] if args[1:2] == ['-k'] else ''
    tools = os.path.join(os.path.dirname(os.path.abspath(corpus)), 'tools')
    with open(os.path.join(HERE, 'corpus_differences.json')) as f:
        known = json.load(f)
    count, failed = {'pprof': 0, 'folded': 0}, 0
    with tempfile.TemporaryDirectory() as tmp:
        for kind in count:
            for name in sorted(os.listdir(os.path.join(corpus, kind))):
                path = os.path.join(corpus, kind, name)
                if os.path.isdir(path) or only not in path:
                    continue
                want = load_oracle(corpus, kind, name)
                if kind == 'pprof' and not (want.get('decoded') and want.get('valid')):
                    print(f'not valid, left out: {kind}/{name}: {want.get("errors")}')
                    continue
                count[kind] += 1
                check = check_folded(helper, path, want, tmp) if kind == 'folded' else \
                    check_pprof(helper, path, want, tools, tmp)
                faults = list(check)
                reason = known.get(f'{kind}/{name}')
                if bool(faults) == bool(reason):
                    if faults:
                        print(f'known: {kind}/{name}: {reason}')
                    continue
                failed += 1
                print(f'FAILED {kind}/{name}: ' + ('no longer differs' if reason else ''))
                for f in faults[:10]:
                    print('   ', f)
    print(f'{count["pprof"]} pprof and {count["folded"]} folded files, {failed} failed')
    return 1 if failed or not (only or all(count.values())) else 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
