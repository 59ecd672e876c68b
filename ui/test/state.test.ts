// SPDX-License-Identifier: Apache-2.0
// Times, addresses, sources and selectors: what makes a copied URL open the same view.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addMatcher, complete, formatSelector, normalizeSelector, parseSelector, typingAt } from '../src/base/selector';
import { pageParams, readSource, sourceParams } from '../src/base/source';
import { ago, parseTime, rangeLabel, urlTime } from '../src/base/time';
import { href, parsePlace, searchText, withChanges } from '../src/base/url';
import { shifted, swapped } from '../src/diff/sides';
import { frozen } from '../src/parts/linkmenu';
import { movedRange } from '../src/parts/rangepicker';

const NOW = Date.parse('2026-11-30T12:00:00Z');

test('times in every form of the API', () => {
    assert.equal(parseTime('now', NOW), NOW);
    assert.equal(parseTime('now-15m', NOW), NOW - 900e3);
    assert.equal(parseTime('now-250ms', NOW), NOW - 250);
    assert.equal(parseTime('1700000000', NOW), 1700000000e3);
    assert.equal(parseTime('1700000000123', NOW), 1700000000123);
    assert.equal(parseTime('1700000000123456', NOW), 1700000000123.456);
    assert.equal(parseTime('1700000000123456789', NOW), 1700000000123.4568);
    assert.equal(parseTime('2026-11-30T12:00:00.123456789Z', NOW), NOW + 123);
    assert.equal(parseTime('yesterday', NOW), null);
    assert.equal(parseTime('now-1y', NOW), null);
    assert.equal(urlTime(NOW), '2026-11-30T12:00:00Z');
    assert.equal(ago(NOW - 125e3, NOW), '2 min ago');
    assert.equal(rangeLabel('now-1h', 'now', NOW), 'Last hour');
    assert.equal(rangeLabel('now-3h', 'now-2h', NOW), 'now-3h – now-2h');
});

test('ranges move by their own length and widen around their middle', () => {
    assert.deepEqual(movedRange('now-1h', 'now', -1, NOW), ['2026-11-30T10:00:00Z', '2026-11-30T11:00:00Z']);
    assert.deepEqual(movedRange('now-1h', 'now', 0, NOW), ['2026-11-30T10:30:00Z', '2026-11-30T12:30:00Z']);
    assert.equal(movedRange('x', 'now', 1, NOW), null);
});

test('addresses keep order and lose nothing', () => {
    const p = withChanges(new URLSearchParams('b=2&id=x&id=y'), { a: '1&=#?+ %', b: null });
    assert.equal(searchText(p), '?a=1%26%3D%23%3F%2B+%25&id=x&id=y');
    assert.equal(new URLSearchParams(searchText(p)).get('a'), '1&=#?+ %');
    assert.equal(href('profile', { id: ['a', 'b'], type: 'x:y:z', empty: '' }), './profile?id=a&id=b&type=x:y:z');
    assert.deepEqual([...parsePlace('/prefix/diff', '?left_id=1').params], [['left_id', '1']]);
    assert.equal(parsePlace('/prefix/', '').page, '');
});

test('a source goes through page and API parameters', () => {
    const params = new URLSearchParams('query={a="b"}&from=now-6h&type=t');
    const source = readSource(params);
    assert.deepEqual(source, { ids: [], query: '{a="b"}', from: 'now-6h', until: 'now', type: 't' });
    assert.deepEqual(sourceParams(source, 'left_'), { left_query: '{a="b"}', left_from: 'now-6h', left_until: 'now', left_type: 't' });
    assert.deepEqual(readSource(withChanges(new URLSearchParams(), pageParams(source, 'right_')), 'right_'), source);
    assert.deepEqual(sourceParams({ ...source, ids: ['1', '2'] }), { id: ['1', '2'], type: 't' });
    assert.equal(sourceParams({ ...source, query: '' }).query, '{}');
});

test('links freeze relative times, also the defaults, and only of the sources that have a range', () => {
    assert.equal(frozen('flamegraph', new URLSearchParams('query={}'), NOW)!.get('from'), '2026-11-30T11:00:00Z');
    assert.equal(frozen('flamegraph', new URLSearchParams('from=2026-01-01&until=2026-01-02'), NOW), null);
    assert.equal(frozen('profile', new URLSearchParams('id=x'), NOW), null);
    const diff = frozen('diff', new URLSearchParams('left_id=x&right_query={}&right_from=now-2h'), NOW)!;
    assert.equal(diff.has('left_from'), false);
    assert.equal(diff.get('right_from'), '2026-11-30T10:00:00Z');
});

test('sides swap, shift and keep the rest', () => {
    const p = swapped(new URLSearchParams('left_id=a&left_id=b&right_query=q&right_from=f&tab=table'));
    assert.deepEqual(p.getAll('right_id'), ['a', 'b']);
    assert.equal(p.has('left_id'), false);
    assert.equal(p.get('left_query'), 'q');
    assert.equal(p.get('tab'), 'table');
    assert.equal(swapped(p).toString(), withChanges(new URLSearchParams('left_id=a&left_id=b&right_query=q&right_from=f&tab=table'), {}).toString());
    const right = { ids: [], query: 'q', from: 'now-1h', until: 'now', type: 't' };
    assert.equal(shifted(right, 86400e3, NOW)!.until, '2026-11-29T12:00:00Z');
    assert.equal(shifted(right, null, NOW)!.until, '2026-11-30T11:00:00Z');
});

test('selectors are read and written', () => {
    const all = '{a="x", b!="y", c=~"z.*", d!~"\\"q\\\\"}';
    const matchers = parseSelector(all)!;
    assert.deepEqual(matchers.map((m) => m.op), ['=', '!=', '=~', '!~']);
    assert.equal(matchers[3]!.value, '"q\\');
    assert.equal(formatSelector(matchers), all);
    assert.deepEqual(parseSelector('{}'), []);
    assert.deepEqual(parseSelector('{a="x",}')!.length, 1);
    for (const bad of ['', 'a="x"', '{a=}', '{a="x" b="y"}', '{a="x', '{a="x"} junk']) assert.equal(parseSelector(bad), null, bad);
    assert.equal(addMatcher('{a="x", b="1"}', 'a', 'y'), '{b="1", a="y"}');
    assert.equal(normalizeSelector('web-1'), '{service_name="web-1"}');
    assert.equal(normalizeSelector('a="b"'), '{a="b"}');
    assert.equal(normalizeSelector(' {a="b"} '), '{a="b"}');
});

test('completion knows what is typed at the caret', () => {
    const at = (text: string) => typingAt(text.replace('|', ''), text.indexOf('|'));
    assert.deepEqual([at('{se|').what, at('{se|').prefix], ['name', 'se']);
    assert.deepEqual([at('{a="x,y", po|').what, at('{a="x,y", po|').before], ['name', '{a="x,y"}']);
    const value = at('{a="x", pod="we|"}');
    assert.deepEqual([value.what, value.label, value.prefix, value.before], ['value', 'pod', 'we', '{a="x"}']);
    assert.equal(complete('{a="x", pod="we"}', value, 'web-1').text, '{a="x", pod="web-1"}');
    assert.equal(complete('{se', at('{se|'), 'service_name').text, '{service_name="');
    assert.equal(complete('', at('|'), 'pod').text, '{pod="');
    assert.equal(complete('{pod="', at('{pod="|'), 'a"b').text, '{pod="a\\"b"}');
    assert.equal(complete('{po="x"}', at('{po|="x"}'), 'pod').text, '{pod="x"}');
});
