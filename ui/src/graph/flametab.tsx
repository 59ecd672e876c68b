// SPDX-License-Identifier: Apache-2.0
// The flame graph of a source: asks for the tree, lays it out, explains its bars.

import { useMemo } from 'preact/hooks';
import { apiUrl, useApi } from '../base/api';
import { exactValue, formatCount, formatShare, formatValue, plural } from '../base/format';
import type { Flamegraph } from '../base/types';
import { setParams, type Changes } from '../base/url';
import { barColors } from '../flame/colors';
import { Crumbs } from '../flame/crumbs';
import { buildTree, encodePath, nodeName, resolvePath, type Order, type Tree } from '../flame/model';
import { packageOf } from '../flame/names';
import { matcher, searchTree, type Hits } from '../flame/search';
import { FlameView } from '../flame/view';
import { CompletenessLine } from '../parts/completeness';
import { Async, Empty } from '../parts/states';
import { functionActions } from './actions';

export interface TabProps {
    params: URLSearchParams;
    page: string;
    /** Parameters of the source and its filters for the API. */
    source: Changes;
    tick: number;
}

export function readOrder(params: URLSearchParams): Order {
    return params.get('order') === '-total' ? '-total' : 'name';
}

export function useTree(data: { names: string[]; nodes: { parent: number[]; name: number[]; total: number[] } }, order: Order): { tree: Tree; color: Uint8Array } {
    return useMemo(() => {
        const tree = buildTree({ names: data.names, parent: data.nodes.parent, name: data.nodes.name, width: data.nodes.total }, order);
        return { tree, color: barColors(tree) };
    }, [data, order]);
}

interface TipProps {
    name: string;
    self: number;
    total: number;
    unit: string;
    whole: number;
    zoomed: number;
}

export function Tip({ name, self, total, unit, whole, zoomed }: TipProps) {
    const pkg = packageOf(name);
    return (
        <>
            <strong>{name}</strong>
            {pkg && <div class="pkg">{pkg}</div>}
            <dl>
                <div><dt>Total</dt><dd>{formatValue(total, unit)}</dd><dd>{formatShare(total / whole)}</dd></div>
                <div><dt>Self</dt><dd>{formatValue(self, unit)}</dd><dd>{formatShare(self / whole)}</dd></div>
                {zoomed !== whole && <div><dt>Of the zoomed</dt><dd /><dd>{formatShare(total / zoomed)}</dd></div>}
            </dl>
        </>
    );
}

export function HitsNote({ hits, whole, unit }: { hits: Hits | null; whole: number; unit: string }) {
    if (!hits) return null;
    return (
        <p class="hits" role="status">
            {hits.nodes.length === 0
                ? 'No function of this graph matches.'
                : `${plural(hits.functions, 'function')} found, ${formatValue(hits.width, unit)} or ${formatShare(hits.width / whole)} of the total. n and N in the graph step through.`}
        </p>
    );
}

function FoldedNote({ data, params }: { data: Flamegraph; params: URLSearchParams }) {
    if (!data.folded) return null;
    const all = params.get('max_nodes') === '0';
    return (
        <p class="note">
            {formatCount(data.nodes.parent.length)} nodes drawn; {plural(data.folded, 'small one')} folded into their callers, whose totals include them.{' '}
            {!all && <button type="button" class="link" onClick={() => setParams({ max_nodes: '0' })}>Show all</button>}
        </p>
    );
}

function Flame({ data, params }: { data: Flamegraph; params: URLSearchParams }) {
    const { tree, color } = useTree(data, readOrder(params));
    const at = params.get('at') ?? '';
    const zoom = useMemo(() => resolvePath(tree, at), [tree, at]);
    const s = params.get('s') ?? '';
    const hits = useMemo(() => searchTree(tree, matcher(s)), [tree, s]);
    const onZoom = (node: number): void => { if (node !== zoom) setParams({ at: encodePath(tree, node) }); };
    const self = (node: number): number => data.nodes.self[tree.source[node]!]!;
    const whole = data.total || 1;
    return (
        <>
            <Crumbs tree={tree} zoom={zoom} onZoom={onZoom} />
            <HitsNote hits={hits} whole={whole} unit={data.unit} />
            <FlameView tree={tree} zoom={zoom} onZoom={onZoom} hits={hits} color={color} colors={(p) => p.bars}
                label={`Flame graph, ${formatValue(data.total, data.unit)} in ${formatCount(tree.count)} nodes. The Table tab holds the same as text.`}
                tooltip={(n) => <Tip name={nodeName(tree, n)} self={self(n)} total={tree.width[n]!} unit={data.unit} whole={whole} zoomed={tree.width[zoom] || whole} />}
                spoken={(n) => `${nodeName(tree, n)}, total ${formatValue(tree.width[n]!, data.unit)}, ${formatShare(tree.width[n]! / whole)}, self ${formatValue(self(n), data.unit)}, depth ${tree.depth[n]}`}
                actions={(name) => functionActions(params, name)} />
            <FoldedNote data={data} params={params} />
        </>
    );
}

export function FlameTab({ params, source, tick }: TabProps) {
    const url = apiUrl('flamegraph', source, { invert: params.get('invert'), max_nodes: params.get('max_nodes') });
    const answer = useApi<Flamegraph>(url, tick);
    return (
        <Async answer={answer} what="the flame graph">
            {(data) => (
                <>
                    {data.total === 0 || data.nodes.parent.length <= 1
                        ? <Nothing params={params} profiles={data.completeness?.profiles} />
                        : <Flame data={data} params={params} />}
                    <CompletenessLine value={data.completeness} extra={data.total ? `total ${exactValue(data.total, data.unit)}` : null} />
                </>
            )}
        </Async>
    );
}

function Nothing({ params, profiles }: { params: URLSearchParams; profiles?: number }) {
    if (params.has('focus') || params.has('hide')) return <Empty title="No stack is left">The filters above leave nothing. Take one away with its ×.</Empty>;
    if (params.has('id')) return <Empty title="Nothing was sampled">The profile is there but holds no sample of this type. Choose another type above.</Empty>;
    if (profiles === 0 || profiles === undefined) return <Empty title="No profile in this range">Nothing matches the selector, type and range together. Widen the range, or choose another type or selector.</Empty>;
    return <Empty title="Nothing was sampled">{plural(profiles, 'profile')} match, but they hold no value of this type.</Empty>;
}
