// SPDX-License-Identifier: Apache-2.0
// Logic of lists, charts and heatmaps.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Heatmap } from '../src/base/types';
import { serverSort } from '../src/graph/toptab';
import { commonTypes } from '../src/pages/diff';
import { largestGroups } from '../src/pages/flamegraph';
import { mainType, seriesSelector } from '../src/pages/common';
import { neighbourId } from '../src/pages/profile';
import { togglePick } from '../src/pages/profilelist';
import { completenessParts } from '../src/parts/completeness';
import { defaultType } from '../src/parts/typechooser';
import { nextSort, sortRows, type Column } from '../src/table/datatable';
import { brushed } from '../src/time/heatmap';
import { cellAt, makeGrid, timeAt, timeTicks, valueAt, xOf, yOf } from '../src/time/heatmapgrid';
import { sparkPath } from '../src/time/spark';
import { countColor, ramp } from '../src/time/viridis';

const CPU = 'process_cpu:cpu:nanoseconds:cpu:nanoseconds';
const HEAP = 'memory:inuse_space:bytes:space:bytes';

const HEATMAP: Heatmap = { type: CPU, unit: 'nanoseconds', x_start: '1970-01-01T00:00:00Z', x_step_ns: 1e9, y_min: 10, y_step: 5, counts: [[0, 0, 1], [3, 1, 9]], max: 9 };

test('cells of a heatmap are found where they are drawn', () => {
    const g = makeGrid(HEATMAP, 0, 10e3, 1072, 170);
    assert.equal(g.high, 20);
    const [x, y] = [xOf(g, 3500), yOf(g, 17)];
    assert.equal(Math.round(timeAt(g, x)), 3500);
    assert.equal(Math.round(valueAt(g, y)), 17);
    assert.deepEqual(cellAt(g, x, y), { count: 9, from: 3000, until: 4000, low: 15, high: 20 });
    assert.equal(cellAt(g, xOf(g, 5500), y), null);
    assert.equal(cellAt(g, 10, y), null);
});

test('a brush drawn in any direction is the same box, and stays inside', () => {
    const g = makeGrid(HEATMAP, 0, 10e3, 1072, 170);
    const [x0, y0, x1, y1] = [xOf(g, 2000), yOf(g, 18), xOf(g, 6000), yOf(g, 12)];
    const b = brushed(g, { x0, y0, x1, y1 });
    assert.deepEqual(brushed(g, { x0: x1, y0: y1, x1: x0, y1: y0 }), b);
    assert.deepEqual([Math.round(b.from), Math.round(b.until), Math.round(b.low), Math.round(b.high)], [2000, 6000, 12, 18]);
    const wide = brushed(g, { x0: -500, y0: -500, x1: 9999, y1: 9999 });
    assert.deepEqual([wide.from, wide.until, wide.low, wide.high], [0, 10e3, 10, 20]);
});

test('ticks are round and few', () => {
    assert.ok(timeTicks(0, 20 * 365 * 86400e3, 12).length <= 13, 'twenty years have room too');
    const ticks = timeTicks(0, 3600e3, 12);
    assert.ok(ticks.length >= 6 && ticks.length <= 13);
    assert.ok(ticks.every((t) => t % 300e3 === 0));
});

test('count colours rise evenly from 1 to the largest', () => {
    assert.deepEqual(ramp(0), [68, 1, 84]);
    assert.deepEqual(ramp(1), [253, 231, 37]);
    assert.ok(countColor(1, 100, false) !== countColor(100, 100, false));
    assert.equal(countColor(100, 100, false), 'rgb(253,231,37)');
    assert.equal(countColor(1, 1, true), countColor(10, 100, true), 'where all are equal, none stands out');
});

test('rows sort stably, both ways, and unknown columns leave them alone', () => {
    const columns: Column<{ n: string; v: number }>[] = [{ key: 'v', label: 'v', value: (r) => r.v, cell: () => null }];
    const rows = [{ n: 'a', v: 1 }, { n: 'b', v: 2 }, { n: 'c', v: 1 }];
    const names = (sort: string): string => sortRows(rows, columns, sort).map((r) => r.n).join('');
    assert.equal(names('v'), 'acb');
    assert.equal(names('-v'), 'bac');
    assert.equal(names('zzz'), 'abc');
    assert.deepEqual([nextSort('', 'v', true), nextSort('-v', 'v', true), nextSort('v', 'v', true), nextSort('', 'f', false), nextSort('f', 'f', false)], ['-v', 'v', '-v', 'f', '-f']);
    assert.deepEqual([serverSort('-total'), serverSort('function'), serverSort('-self')], ['-total', '-self', '-self']);
});

test('two are picked, the older one makes room', () => {
    assert.deepEqual(togglePick([], 'a'), ['a']);
    assert.deepEqual(togglePick(['a', 'b'], 'c'), ['b', 'c']);
    assert.deepEqual(togglePick(['a', 'b'], 'a'), ['b']);
});

test('types: CPU first, then what most profiles have', () => {
    assert.equal(defaultType([{ type: HEAP, profiles: 9 }, { type: CPU, profiles: 1 }]), CPU);
    assert.equal(defaultType([{ type: 'a:b:c:d:e', profiles: 1 }, { type: HEAP, profiles: 9 }]), HEAP);
    assert.equal(defaultType([]), '');
    assert.deepEqual(commonTypes([{ type: CPU }, { type: HEAP }], [{ type: HEAP }]), [{ type: HEAP }]);
    assert.deepEqual(commonTypes([], [{ type: HEAP }]), [{ type: HEAP }]);
});

test('an entry: its value, its series, its neighbours', () => {
    const entry = { id: '1', time: '2026-01-01T00:00:00Z', service_name: 'web', labels: { pod: 'p"1', __name__: 'x' }, types: [{ type: HEAP, unit: 'bytes', total: 2 }, { type: CPU, unit: 'nanoseconds', total: 1 }] };
    assert.equal(mainType(entry, '')!.type, CPU);
    assert.equal(mainType(entry, HEAP)!.type, HEAP);
    assert.equal(mainType({ ...entry, types: [] }, ''), undefined);
    assert.equal(seriesSelector(entry), '{pod="p\\"1", service_name="web"}');
    assert.deepEqual([neighbourId(undefined), neighbourId('a'), neighbourId({ id: 'b' })], [null, 'a', 'b']);
});

test('completeness speaks up about what is missing, and only then', () => {
    const whole = completenessParts({ profiles: 1, bytes: 2048, truncated_share: 0, unsymbolized_share: 0, dropped_samples: 0 });
    assert.deepEqual(whole.map((p) => p.text), ['1 profile', '2 KiB read']);
    assert.ok(!whole.some((p) => p.bad));
    assert.equal(completenessParts({ truncated_share: 0.02, unsymbolized_share: 0.5, dropped_samples: 7 }).filter((p) => p.bad).length, 3);
    assert.deepEqual(completenessParts({}), []);
});

test('series: the largest groups stay, sparks fit their box', () => {
    const group = (name: string, v: number) => ({ labels: { pod: name }, points: [[0, v], [1, null]] as [number, number | null][] });
    const s = largestGroups({ type: CPU, unit: 'ns', step_ns: 1, groups: [group('a', 1), group('b', 3), group('c', 2)] }, 2);
    assert.deepEqual(s.groups.map((g) => g.labels.pod), ['b', 'c']);
    assert.equal(sparkPath([[0, 0], [10, 5]], 120, 24), 'M1.0 22.0L119.0 2.0');
    assert.equal(sparkPath([[0, 1], [1, null]], 120, 24), '');
});
