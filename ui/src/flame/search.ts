// SPDX-License-Identifier: Apache-2.0
// Finding functions: what a search text means, and what it hits in a tree.

import type { Tree } from './model';

export type Match = (name: string) => boolean;

/** `/re/` is a regular expression, anything else a part of the name in whatever case. A broken expression matches nothing. */
export function matcher(text: string): Match | null {
    const t = text.trim();
    if (t === '') return null;
    const re = /^\/(.+)\/([i]?)$/.exec(t);
    if (!re) {
        const low = t.toLowerCase();
        return (name) => name.toLowerCase().includes(low);
    }
    try {
        const compiled = new RegExp(re[1]!, re[2]);
        return (name) => compiled.test(name);
    } catch {
        return () => false;
    }
}

export interface Hits {
    /** 1 for each name that matches. */
    names: Uint8Array;
    functions: number;
    /** Matching nodes under no other matching node, widest first: what `n` walks through. */
    nodes: number[];
    /** Their width together: recursion counts once. */
    width: number;
}

export function searchTree(tree: Tree, match: Match | null): Hits | null {
    if (!match) return null;
    const names = Uint8Array.from(tree.names, (n) => (match(n) ? 1 : 0));
    const nodes: number[] = [];
    const seen = new Set<number>();
    let width = 0;
    for (let i = 1; i < tree.count; ) {
        if (!names[tree.name[i]!]) {
            i++;
            continue;
        }
        nodes.push(i);
        width += tree.width[i]!;
        for (const end = tree.end[i]!; i < end; i++) if (names[tree.name[i]!]) seen.add(tree.name[i]!);
    }
    nodes.sort((a, b) => tree.width[b]! - tree.width[a]! || a - b);
    return { names, functions: seen.size, nodes, width };
}
