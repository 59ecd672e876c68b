// SPDX-License-Identifier: Apache-2.0
// The tree a flame graph draws: typed columns in depth-first order, so that drawing and hit-testing can skip whole subtrees by `end`.

export type Order = 'name' | '-total';

export interface TreeInput {
    names: string[];
    /** Parents come before children; node 0 is the root with parent -1. */
    parent: ArrayLike<number>;
    name: ArrayLike<number>;
    /** What a node's width stands for: its total, or for a diff both sides together. */
    width: ArrayLike<number>;
}

export interface Tree {
    count: number;
    names: string[];
    name: Int32Array;
    parent: Int32Array;
    depth: Int32Array;
    /** First node after the subtree. */
    end: Int32Array;
    /** Left edge and width in the unit of the values; the root is [0, width[0]]. */
    x: Float64Array;
    width: Float64Array;
    /** Index of the node in the server's columns. */
    source: Int32Array;
    maxDepth: number;
}

function checkInput(t: TreeInput): void {
    const n = t.parent.length;
    if (t.name.length !== n || t.width.length !== n) throw new Error('columns of the tree differ in length');
    if (n > 0 && t.parent[0] !== -1) throw new Error('node 0 is not the root');
    for (let i = 1; i < n; i++) {
        if (!(t.parent[i]! >= 0 && t.parent[i]! < i)) throw new Error(`node ${i} stands before its parent`);
        if (!(t.name[i]! >= 0 && t.name[i]! < t.names.length)) throw new Error(`node ${i} has no name`);
    }
}

/** Children of every node, one after the other: those of node p are list[start[p]] … list[start[p + 1] - 1]. */
function childLists(parent: ArrayLike<number>): { start: Int32Array; list: Int32Array } {
    const n = parent.length;
    const start = new Int32Array(n + 1);
    for (let i = 1; i < n; i++) start[parent[i]! + 1]!++;
    for (let i = 0; i < n; i++) start[i + 1]! += start[i]!;
    const list = new Int32Array(Math.max(n - 1, 0));
    const fill = start.slice();
    for (let i = 1; i < n; i++) list[fill[parent[i]!]!++] = i;
    return { start, list };
}

function nameRanks(names: string[]): Int32Array {
    const byName = names.map((_, i) => i).sort((a, b) => (names[a]! < names[b]! ? -1 : names[a]! > names[b]! ? 1 : a - b));
    const rank = new Int32Array(names.length);
    byName.forEach((id, r) => (rank[id] = r));
    return rank;
}

type Compare = (a: number, b: number) => number;

function comparator(t: TreeInput, order: Order): Compare {
    const rank = nameRanks(t.names);
    const byName: Compare = (a, b) => rank[t.name[a]!]! - rank[t.name[b]!]!;
    return order === 'name' ? byName : (a, b) => t.width[b]! - t.width[a]! || byName(a, b);
}

function emptyTree(n: number, names: string[]): Tree {
    return {
        count: n, names, name: new Int32Array(n), parent: new Int32Array(n), depth: new Int32Array(n), end: new Int32Array(n),
        x: new Float64Array(n), width: new Float64Array(n), source: new Int32Array(n), maxDepth: 0,
    };
}

function place(tree: Tree, input: TreeInput, at: number, source: number, parent: number, x: number): void {
    tree.source[at] = source;
    tree.name[at] = input.name[source]!;
    tree.parent[at] = parent;
    tree.depth[at] = parent < 0 ? 0 : tree.depth[parent]! + 1;
    tree.x[at] = x;
    tree.width[at] = Math.max(input.width[source]!, 0);
    tree.maxDepth = Math.max(tree.maxDepth, tree.depth[at]!);
}

function closeSubtrees(tree: Tree): void {
    for (let i = tree.count - 1; i >= 0; i--) {
        tree.end[i] = Math.max(tree.end[i]!, i + 1);
        const p = tree.parent[i]!;
        if (p >= 0) tree.end[p] = Math.max(tree.end[p]!, tree.end[i]!);
    }
}

export function buildTree(input: TreeInput, order: Order): Tree {
    checkInput(input);
    const n = input.parent.length;
    const tree = emptyTree(n, input.names);
    if (n === 0) return tree;
    const { start, list } = childLists(input.parent);
    const compare = comparator(input, order);
    for (let i = 0; i < n; i++) if (start[i + 1]! - start[i]! > 1) list.subarray(start[i]!, start[i + 1]!).sort(compare);
    // A stack of (source node, parent in the new order, left edge): no recursion, stacks may be thousands deep.
    const stack: [number, number, number][] = [[0, -1, 0]];
    for (let at = 0; stack.length > 0; at++) {
        const [source, parent, x] = stack.pop()!;
        place(tree, input, at, source, parent, x);
        let right = x;
        for (let c = start[source]!; c < start[source + 1]!; c++) right += Math.max(input.width[list[c]!]!, 0);
        for (let c = start[source + 1]! - 1; c >= start[source]!; c--) {
            right -= Math.max(input.width[list[c]!]!, 0);
            stack.push([list[c]!, at, right]);
        }
    }
    closeSubtrees(tree);
    return tree;
}

export function nodeName(tree: Tree, node: number): string {
    return tree.names[tree.name[node]!]!;
}

/** From the root down to the node, both included. */
export function pathTo(tree: Tree, node: number): number[] {
    const path: number[] = [];
    for (let i = node; i >= 0; i = tree.parent[i]!) path.push(i);
    return path.reverse();
}

/** FNV-1a over UTF-16 units, 32 bits. */
function hash(text: string, seed = 0x811c9dc5): number {
    let h = seed;
    for (let i = 0; i < text.length; i++) h = Math.imul(h ^ text.charCodeAt(i), 0x01000193);
    return h >>> 0;
}

/** Frames of a path that are spelled out in the URL; a thousand of them would be longer than servers take. */
const SPELLED = 60;

/** One hash for each node, of all names on its path. */
function pathHashes(tree: Tree): Uint32Array {
    const out = new Uint32Array(tree.count);
    for (let i = 1; i < tree.count; i++) out[i] = hash(nodeName(tree, i), out[tree.parent[i]!]! || undefined);
    return out;
}

/** A node as a word for the URL: hashes of the names on its path, or `~` and one hash of a path too long for that. */
export function encodePath(tree: Tree, node: number): string {
    if (tree.depth[node]! > SPELLED) return '~' + pathHashes(tree)[node]!.toString(36);
    return pathTo(tree, node).slice(1).map((i) => hash(nodeName(tree, i)).toString(36)).join('.');
}

/** The node of such a word, or of the longest part of it that this tree has: a link survives new data. */
export function resolvePath(tree: Tree, word: string): number {
    let node = 0;
    if (tree.count === 0) return 0;
    if (word.startsWith('~')) return Math.max(pathHashes(tree).indexOf(parseInt(word.slice(1), 36)), 0);
    for (const want of word ? word.split('.') : []) {
        const child = children(tree, node).find((c) => hash(nodeName(tree, c)).toString(36) === want);
        if (child === undefined) break;
        node = child;
    }
    return node;
}

export function children(tree: Tree, node: number): number[] {
    const out: number[] = [];
    for (let c = node + 1; c < tree.end[node]!; c = tree.end[c]!) out.push(c);
    return out;
}

export type Direction = 'parent' | 'child' | 'left' | 'right';

/** Where an arrow key leads: to the parent, the widest child, or the neighbour on the same level (also under another parent). */
export function step(tree: Tree, node: number, direction: Direction): number {
    if (direction === 'parent') return Math.max(tree.parent[node]!, 0);
    if (direction === 'child') return children(tree, node).reduce((best, c) => (best === node || tree.width[c]! > tree.width[best]! ? c : best), node);
    const depth = tree.depth[node]!;
    if (direction === 'right') {
        for (let i = tree.end[node]!; i < tree.count; i++) if (tree.depth[i] === depth) return i;
        return node;
    }
    for (let i = node - 1; i >= 0; i--) if (tree.depth[i] === depth) return i;
    return node;
}

/** Node at a position: x in the unit of the values, depth in rows; -1 where nothing is. */
export function nodeAt(tree: Tree, x: number, depth: number): number {
    let i = 0;
    while (i < tree.count) {
        const inside = x >= tree.x[i]! && x < tree.x[i]! + tree.width[i]!;
        if (!inside) i = tree.end[i]!;
        else if (tree.depth[i] === depth) return i;
        else i++;
    }
    return -1;
}
