// SPDX-License-Identifier: Apache-2.0
// Aggregate: all profiles of a selector, type and range as one graph, under their series. Also a merge of chosen profiles (ids).

import { useMemo, useState } from 'preact/hooks';
import { apiUrl, useApi, useModule } from '../base/api';
import { plural, typeName } from '../base/format';
import { useTitle } from '../base/hooks';
import { filterParams, pageParams, readSource, sourceParams, type Source } from '../base/source';
import { parseTime, urlTime } from '../base/time';
import type { EntryDetail, Labels, Series } from '../base/types';
import { href, setParams } from '../base/url';
import { GraphPanel } from '../graph/panel';
import { SourceBar } from '../parts/sourcebar';
import { Async, Empty, Failed } from '../parts/states';
import { TypeChooser, useDefaultType, useTypes } from '../parts/typechooser';

const GROUPS_MOST = 12;

function GroupChoice({ source, value }: { source: Source; value: string }) {
    const labels = useApi<Labels>(apiUrl('labels', { query: source.query || '{}', from: source.from, until: source.until }));
    const names = (labels.data?.names ?? []).map((n) => n.name).filter((n) => !n.startsWith('__'));
    const list = value && !names.includes(value) ? [value, ...names] : names;
    return (
        <label class="group">Split by{' '}
            <select aria-label="Split the chart by" value={value} onChange={(e) => setParams({ group_by: e.currentTarget.value })}>
                <option value="">nothing</option>
                {list.map((n) => <option key={n} value={n}>{n}</option>)}
            </select>
        </label>
    );
}

/** The groups with the largest sums; many lines hide each other. */
export function largestGroups(series: Series, most: number): Series {
    const sum = (g: Series['groups'][number]): number => g.points.reduce((s, p) => s + (p[1] ?? 0), 0);
    const groups = [...series.groups].sort((a, b) => sum(b) - sum(a)).slice(0, most);
    return { ...series, groups };
}

function SeriesPart({ source, params, tick }: { source: Source; params: URLSearchParams; tick: number }) {
    const group = params.get('group_by') ?? '';
    const answer = useApi<Series>(apiUrl('series', sourceParams(source), filterParams(params), { group_by: group }), tick);
    const range = useMemo(() => [parseTime(source.from, Date.now()) ?? 0, parseTime(source.until, Date.now()) ?? Date.now()] as const, [answer.data]);
    const shown = useMemo(() => answer.data && largestGroups(answer.data, GROUPS_MOST), [answer.data]);
    const chart = useModule(() => import('../time/chart'));
    const onSelect = (from: number, until: number): void => setParams({ from: urlTime(Math.floor(from)), until: urlTime(Math.ceil(until)) });
    return (
        <section class="series" aria-label="Series">
            <Async answer={answer} what="the series">
                {(data) => {
                    if (!data.groups.some((g) => g.points.length > 0)) return null; // the graph below says why
                    return shown && (
                        <>
                            <Async answer={chart} what="the chart">{({ SeriesChart }) => <SeriesChart series={shown} from={range[0]} until={range[1]} onSelect={onSelect} />}</Async>
                            {data.groups.length > GROUPS_MOST && <p class="note">The {GROUPS_MOST} largest of {data.groups.length} groups.</p>}
                        </>
                    );
                }}
            </Async>
            <div class="toolbar">
                <GroupChoice source={source} value={group} />
                <span class="note">Drag on the chart to narrow the range.</span>
                <span class="spring" />
                <a class="button" href={href('profiles', pageParams(source))}>Profiles behind it</a>
            </div>
        </section>
    );
}

function Chosen({ source, params, tick }: { source: Source; params: URLSearchParams; tick: number }) {
    const first = useApi<EntryDetail>(apiUrl('profiles/' + encodeURIComponent(source.ids[0]!)));
    const options = first.data?.types ?? [];
    useDefaultType(source.type, options);
    if (first.problem) return <Failed problem={first.problem} onRetry={first.reload} />;
    return (
        <>
            <div class="sourcebar">
                <h1>{plural(source.ids.length, 'chosen profile')}, merged</h1>
                <TypeChooser id="type" value={source.type} options={options} onChange={(type) => setParams({ type })} />
            </div>
            {source.type && <GraphPanel source={source} params={params} page="flamegraph" tick={tick} />}
        </>
    );
}

function Ranged({ source, params }: { source: Source; params: URLSearchParams }) {
    const [tick, setTick] = useState(0);
    const types = useTypes(source, tick);
    const options = types.data?.types ?? [];
    useDefaultType(source.type, options);
    const none = types.status === 'done' && options.length === 0 && source.type === '';
    return (
        <>
            <SourceBar source={source} types={options} onRefresh={() => setTick(tick + 1)} />
            {types.problem && <Failed problem={types.problem} onRetry={types.reload} />}
            {none && <Empty title="No profile in this range">Nothing of {source.query || 'any service'} arrived between {source.from} and {source.until}. Widen the range or change the selector.</Empty>}
            {source.type && <SeriesPart source={source} params={params} tick={tick} />}
            {source.type && <GraphPanel source={source} params={params} page="flamegraph" tick={tick} />}
        </>
    );
}

export function FlamegraphPage({ params }: { params: URLSearchParams }) {
    const source = readSource(params);
    useTitle(source.type ? typeName(source.type) : 'Flame graph');
    return source.ids.length > 0 ? <Chosen source={source} params={params} tick={0} /> : <Ranged source={source} params={params} />;
}
