// SPDX-License-Identifier: Apache-2.0
// The tree behind the flame graph: layout, search, walking, links into it, diff, colours.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { buildDiffTree } from '../src/diff/merged';
import { contrast, diffColor, packageColors, PALETTES } from '../src/flame/colors';
import { flameKey } from '../src/flame/keys';
import { buildTree, children, encodePath, nodeAt, nodeName, pathTo, resolvePath, step, type Tree, type TreeInput } from '../src/flame/model';
import { fitName, packageOf, shorterNames } from '../src/flame/names';
import { matcher, searchTree } from '../src/flame/search';

/** A tree from folded lines, as the server would build it: siblings by name, parents before children. */
function fold(lines: string[]): TreeInput {
    const names: string[] = ['total'];
    const input = { names, parent: [-1], name: [0], width: [0] };
    for (const line of lines) {
        const cut = line.lastIndexOf(' ');
        const value = Number(line.slice(cut + 1));
        let node = 0;
        input.width[0]! += value;
        for (const frame of line.slice(0, cut).split(';')) {
            if (!names.includes(frame)) names.push(frame);
            const name = names.indexOf(frame);
            let child = input.parent.findIndex((p, i) => p === node && input.name[i] === name);
            if (child < 0) {
                child = input.parent.length;
                input.parent.push(node);
                input.name.push(name);
                input.width.push(0);
            }
            input.width[child]! += value;
            node = child;
        }
    }
    return input;
}

const SAMPLE = ['b;x 1', 'b;y 5', 'a 2', 'b;y;b 3'];
const named = (t: Tree, n: number): string => nodeName(t, n);

test('layout is depth first, ordered, and fills its parent from the left', () => {
    const t = buildTree(fold(SAMPLE), 'name');
    assert.deepEqual(Array.from({ length: t.count }, (_, i) => named(t, i)), ['total', 'a', 'b', 'x', 'y', 'b']);
    assert.deepEqual([...t.x], [0, 0, 2, 2, 3, 3]);
    assert.deepEqual([...t.width], [11, 2, 9, 1, 8, 3]);
    assert.deepEqual([...t.end], [6, 2, 6, 4, 6, 6]);
    assert.equal(t.maxDepth, 3);
    const wide = buildTree(fold(SAMPLE), '-total');
    assert.deepEqual(children(wide, 0).map((c) => named(wide, c)), ['b', 'a']);
    assert.deepEqual(children(wide, 1).map((c) => named(wide, c)), ['y', 'x']);
});

test('malformed columns are refused by name', () => {
    const bad = fold(SAMPLE);
    assert.throws(() => buildTree({ ...bad, width: [1] }, 'name'), /differ in length/);
    assert.throws(() => buildTree({ names: ['t'], parent: [-1, 5], name: [0, 0], width: [1, 1] }, 'name'), /before its parent/);
    assert.throws(() => buildTree({ names: ['t'], parent: [-1, 0], name: [0, 7], width: [1, 1] }, 'name'), /no name/);
    assert.equal(buildTree({ names: [], parent: [], name: [], width: [] }, 'name').count, 0);
});

test('a stack ten thousand deep is laid out', () => {
    const n = 10001;
    const t = buildTree({ names: ['f'], parent: Array.from({ length: n }, (_, i) => i - 1), name: new Array(n).fill(0), width: new Array(n).fill(1) }, 'name');
    assert.equal(t.maxDepth, n - 1);
    assert.equal(t.end[0], n);
    assert.equal(pathTo(t, n - 1).length, n);
    for (const node of [1, 60, 61, 9999]) assert.equal(resolvePath(t, encodePath(t, node)), node);
    assert.ok(encodePath(t, 60).length < 500 && encodePath(t, 9999).length < 10);
    assert.equal(resolvePath(t, '~zzzzz'), 0);
});

test('search counts recursion once and lists hits widest first', () => {
    const t = buildTree(fold(SAMPLE), 'name');
    const hits = searchTree(t, matcher('b'))!;
    assert.equal(hits.width, 9);
    assert.equal(hits.functions, 1);
    assert.deepEqual(hits.nodes.map((n) => named(t, n)), ['b']);
    const both = searchTree(t, matcher('/^[ab]$/'))!;
    assert.deepEqual(both.nodes.map((n) => named(t, n)), ['b', 'a']);
    assert.equal(both.functions, 2);
    assert.equal(searchTree(t, matcher('  ')), null);
    assert.equal(searchTree(t, matcher('/(/'))!.nodes.length, 0);
    assert.equal(matcher('MAIN')!('a.main'), true);
});

test('a zoomed place survives the URL and new data', () => {
    const t = buildTree(fold(SAMPLE), 'name');
    const deep = t.count - 1;
    assert.equal(resolvePath(t, encodePath(t, deep)), deep);
    assert.equal(resolvePath(buildTree(fold(['b;y 1']), 'name'), encodePath(t, deep)), 2);
    assert.equal(resolvePath(t, 'nonsense'), 0);
    assert.equal(encodePath(t, 0), '');
});

test('arrows walk, the mouse finds what is drawn', () => {
    const t = buildTree(fold(SAMPLE), 'name');
    assert.equal(named(t, step(t, 0, 'child')), 'b');
    assert.equal(step(t, 0, 'parent'), 0);
    assert.equal(named(t, step(t, 1, 'right')), 'b');
    assert.equal(named(t, step(t, 2, 'left')), 'a');
    assert.equal(step(t, 1, 'child'), 1);
    assert.equal(named(t, nodeAt(t, 3.5, 2)), 'y');
    assert.equal(nodeAt(t, 1, 2), -1);
    assert.equal(nodeAt(t, 11, 0), -1);
});

test('upside down, up leads to the children', () => {
    const key = (k: string, flip: boolean) => flameKey({ key: k, ctrlKey: false, metaKey: false, altKey: false, shiftKey: false }, flip);
    assert.equal(key('ArrowUp', false), 'parent');
    assert.equal(key('ArrowUp', true), 'child');
    assert.equal(flameKey({ key: 'c', ctrlKey: true, metaKey: false, altKey: false, shiftKey: false }, false), null);
});

test('packages of names in several languages', () => {
    assert.equal(packageOf('github.com/a/b.(*T).M'), 'github.com/a/b');
    assert.equal(packageOf('runtime.(*mcache).refill'), 'runtime');
    assert.equal(packageOf('java.util.HashMap.get'), 'java.util');
    assert.equal(packageOf('std::vec::Vec<T>::push'), 'std');
    assert.equal(packageOf('<alloc::string::String as core::fmt::Write>::write_str'), 'alloc');
    assert.equal(packageOf('libc.so.6!0x2a1'), 'libc.so.6');
    assert.equal(packageOf('main'), '');
    assert.equal(packageOf('ext4_sync_file.part.0'), '');
    assert.deepEqual(shorterNames('ext4_sync_file.part.0'), ['ext4_sync_file.part.0', 'ext4_sync_file']);
});

test('names give up their front first and never overrun', () => {
    assert.deepEqual(shorterNames('github.com/a/b.(*T).Method'), ['github.com/a/b.(*T).Method', 'b.(*T).Method', '(*T).Method', 'Method']);
    const measure = (s: string): number => s.length * 7;
    for (let room = 0; room < 300; room += 5) {
        const text = fitName('github.com/a/b.(*T).Method', room, measure);
        assert.ok(measure(text) <= room, `${text} in ${room}`);
    }
    assert.equal(fitName('github.com/a/b.(*T).Method', 45, measure), 'Method');
});

test('a diff weighs both sides in the unit of the mode', () => {
    const d = buildDiffTree({
        type: 't', unit: 'count', mode: 'share', left: { total: 10, factor: 0.1 }, right: { total: 100, factor: 0.01 }, names: ['total', 'same', 'new'],
        nodes: { parent: [-1, 0, 0], name: [0, 1, 2], left_self: [0, 10, 0], left_total: [10, 10, 0], right_self: [0, 50, 50], right_total: [100, 50, 50] },
    }, 'name');
    assert.deepEqual([...d.tree.source], [0, 2, 1]);
    assert.deepEqual([...d.side], [0, 2, 0]);
    assert.deepEqual([...d.tree.width], [1, 0.25, 0.75]);
    assert.equal(d.color[0], 4);
    assert.equal(d.color[1], 8);
    assert.ok(d.color[2]! < 4);
});

test('colours of change are symmetric and end at new and gone', () => {
    assert.equal(diffColor(1, 1), 4);
    assert.equal(diffColor(0, 0), 4);
    assert.equal(diffColor(0, 3), 8);
    assert.equal(diffColor(3, 0), 0);
    for (const r of [1.01, 1.1, 1.5, 2, 3, 10]) assert.equal(diffColor(1, r) + diffColor(r, 1), 8);
    assert.equal(diffColor(1, 1.02), 4);
});

test('every text on every bar has a contrast of 4.5 or more', () => {
    for (const theme of ['light', 'dark'] as const) {
        const p = PALETTES[theme];
        for (const bar of [...p.bars, ...p.diff, p.hit]) assert.ok(contrast(p.text, bar) >= 4.5, `${theme} ${bar}`);
        assert.ok(contrast(p.fadedText, p.faded) >= 4.5, `${theme} faded`);
        assert.ok(contrast(p.focus, p.background) >= 4.5);
    }
});

/** A colour as it looks without red-sensitive (protan) or green-sensitive (deutan) cones: Viénot, Brettel, Mollon 1999, in linear RGB. */
function simulated(hex: string, kind: 'protan' | 'deutan'): [number, number, number] {
    const [r, g, b] = [1, 3, 5].map((i) => ((parseInt(hex.slice(i, i + 2), 16) / 255) ** 2.2)) as [number, number, number];
    const rg = kind === 'protan' ? 0.11238 * r + 0.88762 * g : 0.29275 * r + 0.70725 * g;
    const blue = kind === 'protan' ? 0.00401 * (r - g) + b : -0.02234 * (r - g) + b;
    return [rg, rg, blue];
}

test('less and more stay apart without red or green cones', () => {
    for (const theme of ['light', 'dark'] as const) {
        const { diff } = PALETTES[theme];
        for (const kind of ['protan', 'deutan'] as const) {
            const [less, same, more] = [simulated(diff[0]!, kind), simulated(diff[4]!, kind), simulated(diff[8]!, kind)];
            const apart = (a: number[], b: number[]): number => Math.hypot(...a.map((v, i) => v - b[i]!));
            assert.ok(apart(less, more) > 0.35 && apart(less, same) > 0.1 && apart(same, more) > 0.1, `${theme} ${kind}`);
        }
    }
});

test('one package, one colour; no package is grey', () => {
    const colors = packageColors(['a/b.F', 'a/b.G', 'main']);
    assert.equal(colors[0], colors[1]);
    assert.equal(colors[2], 0);
    assert.ok(colors[0]! > 0 && colors[0]! < PALETTES.light.bars.length);
});
