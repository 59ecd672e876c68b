// SPDX-License-Identifier: Apache-2.0
// One function between its callers (above, root at the bottom) and its callees (below), from the whole tree on the server.

import { useMemo } from 'preact/hooks';
import { apiUrl, useApi } from '../base/api';
import { formatShare, formatValue } from '../base/format';
import type { Sandwich, SandwichTree } from '../base/types';
import { setParams } from '../base/url';
import { nodeName } from '../flame/model';
import { matcher, searchTree } from '../flame/search';
import { FlameView } from '../flame/view';
import { CompletenessLine } from '../parts/completeness';
import { Async, Empty } from '../parts/states';
import { functionActions, sandwichHref } from './actions';
import { readOrder, Tip, useTree, type TabProps } from './flametab';
import { useTop } from './toptab';

interface HalfProps {
    half: SandwichTree;
    data: Sandwich;
    params: URLSearchParams;
    flip: boolean;
}

function Half({ half, data, params, flip }: HalfProps) {
    const { tree, color } = useTree(half, readOrder(params));
    const s = params.get('s') ?? '';
    const hits = useMemo(() => searchTree(tree, matcher(s)), [tree, s]);
    const self = (n: number): number => half.nodes.self[tree.source[n]!]!;
    const open = (n: number): void => { if (n > 0) setParams({ function: nodeName(tree, n) }); };
    return (
        <FlameView tree={tree} zoom={0} onZoom={open} hits={hits} color={color} colors={(p) => p.bars} flip={flip} maxRows={16}
            label={flip ? `Callers of ${data.function}` : `What ${data.function} calls`}
            tooltip={(n) => <Tip name={nodeName(tree, n)} self={self(n)} total={tree.width[n]!} unit={data.unit} whole={data.total || 1} zoomed={tree.width[0] || 1} />}
            spoken={(n) => `${nodeName(tree, n)}, ${formatValue(tree.width[n]!, data.unit)}, ${formatShare(tree.width[n]! / (tree.width[0] || 1))} of the function`}
            actions={(name) => functionActions(params, name)} />
    );
}

function Both({ data, params }: { data: Sandwich; params: URLSearchParams }) {
    const total = data.callees.nodes.total[0] ?? 0;
    const whole = data.total || 1;
    return (
        <div class="sandwich">
            <h2 class="fn">{data.function}</h2>
            <p class="note">
                Total {formatValue(total, data.unit)} ({formatShare(total / whole)}) · self {formatValue(data.self, data.unit)} ({formatShare(data.self / whole)}) · a click on a bar makes it the middle
            </p>
            <h3>Called by</h3>
            {data.callers.nodes.parent.length > 1 ? <Half half={data.callers} data={data} params={params} flip /> : <p class="note">Nobody: it stands at the bottom of its stacks.</p>}
            <h3>Calls</h3>
            {data.callees.nodes.parent.length > 1 ? <Half half={data.callees} data={data} params={params} flip={false} /> : <p class="note">Nothing: all its weight is its own.</p>}
            <CompletenessLine value={data.completeness} />
        </div>
    );
}

function Chooser({ params, page, source, tick }: TabProps) {
    const answer = useTop(source, '-self', tick);
    return (
        <Async answer={answer} what="the functions">
            {(data) => (
                <div class="state empty">
                    <strong>Choose a function to see its callers and callees</strong>
                    <ol class="choices">
                        {data.rows.slice(0, 15).map((r) => (
                            <li key={r.function}><a class="fn" href={sandwichHref(page, params, r.function)}>{r.function}</a> <span class="pkg">{formatShare(r.self / (data.total || 1))} self</span></li>
                        ))}
                    </ol>
                </div>
            )}
        </Async>
    );
}

export function SandwichTab(props: TabProps) {
    const name = props.params.get('function');
    const answer = useApi<Sandwich>(name ? apiUrl('sandwich', props.source, { function: name }) : null, props.tick);
    if (!name) return <Chooser {...props} />;
    return (
        <Async answer={answer} what="callers and callees">
            {(data) => data.callees.nodes.parent.length === 0
                ? <Empty title="The function is not in here">No stack of this source has {name}. It may be hidden by a filter, or not run in this range.</Empty>
                : <Both data={data} params={props.params} />}
        </Async>
    );
}
