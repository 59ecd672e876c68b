// SPDX-License-Identifier: Apache-2.0
// Both sides as one tree: width is their mean in the mode's unit, colour the change, a hatch what only one side has.

import { useMemo } from 'preact/hooks';
import { apiUrl, useApi } from '../base/api';
import { formatCount, formatValue, plural } from '../base/format';
import type { Diff } from '../base/types';
import { setParams, type Changes } from '../base/url';
import { diffColor, PALETTES } from '../flame/colors';
import { useTheme } from '../base/theme';
import { Crumbs } from '../flame/crumbs';
import { buildTree, encodePath, nodeName, resolvePath, type Order, type Tree } from '../flame/model';
import { matcher, searchTree } from '../flame/search';
import { FlameView } from '../flame/view';
import { readOrder } from '../graph/flametab';
import { CompletenessLine } from '../parts/completeness';
import { Async, Empty } from '../parts/states';
import { formatDelta, formatInMode, formatRelative } from './mode';

interface DiffTree {
    tree: Tree;
    color: Uint8Array;
    /** 1: only on the left, gone; 2: only on the right, new. */
    side: Uint8Array;
}

export function buildDiffTree(d: Diff, order: Order): DiffTree {
    const { left_total: left, right_total: right } = d.nodes;
    const { factor: fl } = d.left;
    const { factor: fr } = d.right;
    const width = left.map((l, i) => (l * fl + right[i]! * fr) / 2);
    const tree = buildTree({ names: d.names, parent: d.nodes.parent, name: d.nodes.name, width }, order);
    return {
        tree,
        color: Uint8Array.from(tree.source, (s) => diffColor(left[s]! * fl, right[s]! * fr)),
        side: Uint8Array.from(tree.source, (s) => (left[s] === 0 && right[s] !== 0 ? 2 : left[s] !== 0 && right[s] === 0 ? 1 : 0)),
    };
}

function Tip({ d, name, s }: { d: Diff; name: string; s: number }) {
    const row = (label: string, l: number, r: number) => {
        const [a, b] = [l * d.left.factor, r * d.right.factor];
        return (
            <tr>
                <th scope="row">{label}</th>
                <td>{formatInMode(a, d.mode, d.unit)}</td><td>{formatInMode(b, d.mode, d.unit)}</td>
                <td>{formatDelta(b - a, d.mode, d.unit)}</td><td>{formatRelative(a, b)}</td>
            </tr>
        );
    };
    const n = d.nodes;
    return (
        <>
            <strong>{name}</strong>
            <table>
                <thead><tr><th /><th>Left</th><th>Right</th><th colSpan={2}>Change</th></tr></thead>
                <tbody>{row('Total', n.left_total[s]!, n.right_total[s]!)}{row('Self', n.left_self[s]!, n.right_self[s]!)}</tbody>
            </table>
            {d.mode === 'share' && <div class="pkg">{formatValue(n.left_total[s]!, d.unit)} against {formatValue(n.right_total[s]!, d.unit)}</div>}
        </>
    );
}

export function Legend() {
    const colors = PALETTES[useTheme()].diff;
    return (
        <div class="legend" aria-label="Colours: blue is less on the right, grey the same, orange more; hatched is on one side only">
            <span>less on the right</span>
            <svg width={colors.length * 16} height="12" aria-hidden="true">{colors.map((c, i) => <rect key={c} x={i * 16} width="16" height="12" fill={c} />)}</svg>
            <span>more on the right</span>
            <svg width="24" height="12" aria-hidden="true"><rect width="24" height="12" fill={colors[(colors.length - 1) / 2]} /><path d="M0 12L12 0M6 12L18 0M12 12L24 0M18 12L30 0" stroke="currentColor" stroke-opacity=".5" /></svg>
            <span>only on one side</span>
        </div>
    );
}

function spoken(d: Diff, t: DiffTree, node: number): string {
    const s = t.tree.source[node]!;
    const [a, b] = [d.nodes.left_total[s]! * d.left.factor, d.nodes.right_total[s]! * d.right.factor];
    return `${nodeName(t.tree, node)}, left ${formatInMode(a, d.mode, d.unit)}, right ${formatInMode(b, d.mode, d.unit)}, ${formatRelative(a, b)}`;
}

function Graph({ d, params }: { d: Diff; params: URLSearchParams }) {
    const order = readOrder(params);
    const t = useMemo(() => buildDiffTree(d, order), [d, order]);
    const onlyOne = useMemo(() => ({ side: t.side, words: ['gone', 'new'] }), [t]);
    const at = params.get('at') ?? '';
    const zoom = useMemo(() => resolvePath(t.tree, at), [t, at]);
    const s = params.get('s') ?? '';
    const hits = useMemo(() => searchTree(t.tree, matcher(s)), [t, s]);
    const onZoom = (node: number): void => { if (node !== zoom) setParams({ at: encodePath(t.tree, node) }); };
    return (
        <>
            <Legend />
            <Crumbs tree={t.tree} zoom={zoom} onZoom={onZoom} />
            {hits && <p class="hits" role="status">{hits.nodes.length === 0 ? 'No function of this graph matches.' : `${plural(hits.functions, 'function')} found.`}</p>}
            <FlameView tree={t.tree} zoom={zoom} onZoom={onZoom} hits={hits} color={t.color} onlyOne={onlyOne} colors={(p) => p.diff}
                label={`Difference as a flame graph, ${formatCount(t.tree.count)} nodes. The Table tab holds the differences as text.`}
                tooltip={(n) => <Tip d={d} name={nodeName(t.tree, n)} s={t.tree.source[n]!} />} spoken={(n) => spoken(d, t, n)}
                actions={(name) => [{ label: 'Find it in the graph', run: () => setParams({ s: name }, true) }]} />
            {!!d.folded && <p class="note">{plural(d.folded, 'small node')} folded into their callers, whose totals include them.</p>}
        </>
    );
}

export function OneSided({ d }: { d: Pick<Diff, 'left' | 'right'> }) {
    const side = d.left.total === 0 ? 'left' : 'right';
    return <Empty title={d.left.total === 0 && d.right.total === 0 ? 'Both sides are empty' : `The ${side} side is empty`}>Nothing was sampled there in this range and type. Choose another source for it above.</Empty>;
}

export function MergedTab({ params, source, tick }: { params: URLSearchParams; source: Changes; tick: number }) {
    const answer = useApi<Diff>(apiUrl('diff', source), tick);
    return (
        <Async answer={answer} what="the difference">
            {(d) => (
                <>
                    {d.left.total === 0 || d.right.total === 0 ? <OneSided d={d} /> : <Graph d={d} params={params} />}
                    <CompletenessLine value={d.completeness} />
                </>
            )}
        </Async>
    );
}
