// SPDX-License-Identifier: Apache-2.0
// Landing page: the services of the range, what they sent, and the ways on from each.

import { useMemo, useState } from 'preact/hooks';
import { apiUrl, useApi } from '../base/api';
import { formatCount, typeName } from '../base/format';
import { useTitle } from '../base/hooks';
import { serviceSelector } from '../base/selector';
import { currentTenant } from '../base/session';
import { readSource, type Source } from '../base/source';
import { ago, DEFAULT_FROM, DEFAULT_UNTIL, parseTime, showTime } from '../base/time';
import type { Series, Services, Session } from '../base/types';
import { href, setParams } from '../base/url';
import { RangePicker } from '../parts/rangepicker';
import { SearchBox } from '../parts/search';
import { Async, Empty } from '../parts/states';
import { defaultType, useTypes } from '../parts/typechooser';
import { matcher } from '../flame/search';
import { sparkPath } from '../time/spark';

type Row = Services['services'][number];

function typeIds(row: Row): string[] {
    return row.types.map((t) => (typeof t === 'string' ? t : t.type));
}

function Spark({ points, label }: { points: [number, number | null][] | undefined; label: string }) {
    if (!points || points.length < 2) return <span class="pkg">–</span>;
    return (
        <svg class="spark" viewBox="0 0 120 24" width="120" height="24" role="img" aria-label={label}>
            <path d={sparkPath(points, 120, 24)} />
        </svg>
    );
}

function ServiceRow({ row, source, points, sparkLabel }: { row: Row; source: Source; points?: [number, number | null][]; sparkLabel: string }) {
    const query = serviceSelector(row.service_name);
    const range = { from: source.from === DEFAULT_FROM ? null : source.from, until: source.until === DEFAULT_UNTIL ? null : source.until };
    const types = typeIds(row);
    const seen = row.last_seen ? parseTime(row.last_seen, Date.now()) : null;
    const first = defaultType(types.map((type) => ({ type })));
    return (
        <tr tabIndex={-1}>
            <td><a class="service" href={href('flamegraph', { query, type: first, ...range })}>{row.service_name || '(no name)'}</a></td>
            <td><Spark points={points} label={sparkLabel} /></td>
            <td><span class="chips">{types.map((type) => <a key={type} class="chip" title={type} href={href('flamegraph', { query, type, ...range })}>{typeName(type)}</a>)}</span></td>
            <td class="num"><a href={href('profiles', { query, ...range })}>{row.profiles === undefined ? 'list' : formatCount(row.profiles)}</a></td>
            <td class="num" title={seen === null ? undefined : showTime(seen)}>{seen === null ? '' : ago(seen, Date.now())}</td>
        </tr>
    );
}

function useSparks(source: Source, tick: number): { label: string; byService: Map<string, [number, number | null][]> } {
    const types = useTypes(source, tick);
    const type = defaultType(types.data?.types ?? []);
    const series = useApi<Series>(type ? apiUrl('series', { query: '{}', from: source.from, until: source.until, type, group_by: 'service_name' }) : null, tick);
    return useMemo(() => ({
        label: type ? typeName(type) : '',
        byService: new Map((series.data?.groups ?? []).map((g) => [g.labels.service_name ?? '', g.points])),
    }), [series.data, type]);
}

function Table({ data, source, search, tick }: { data: Services; source: Source; search: string; tick: number }) {
    const sparks = useSparks(source, tick);
    const match = matcher(search);
    const rows = [...data.services].sort((a, b) => (a.service_name < b.service_name ? -1 : 1)).filter((r) => !match || match(r.service_name));
    if (rows.length === 0) return <Empty title="No service matches">The search hides {formatCount(data.services.length)} services. Esc in the field clears it.</Empty>;
    return (
        <div class="wide-table">
            <table class="data services" aria-label="Services">
                <thead><tr><th scope="col">Service</th><th scope="col">{sparks.label}</th><th scope="col">Types</th><th scope="col" class="num">Profiles</th><th scope="col" class="num">Last seen</th></tr></thead>
                <tbody>
                    {rows.map((r) => <ServiceRow key={r.service_name} row={r} source={source} points={sparks.byService.get(r.service_name)} sparkLabel={`${sparks.label} of ${r.service_name} over the range`} />)}
                </tbody>
            </table>
        </div>
    );
}

function NoServices({ source }: { source: Source }) {
    const { origin } = location;
    const tenant = currentTenant();
    const token = useApi<Session>(apiUrl('session'), 0).data?.auth === 'token';
    const fields = (token ? '-H "Authorization: Bearer $FLAMEKEEP_TOKEN" ' : '') + (tenant ? `-H 'X-Scope-OrgID: ${tenant}' ` : '');
    return (
        <Empty title="No profile arrived in this range">
            <p>{source.from === DEFAULT_FROM ? 'Choose a longer range above, or send one:' : 'Choose another range above, or send one:'}</p>
            <pre>curl -g {fields}--data-binary @cpu.pprof '{origin}/api/v1/upload?labels={'{service_name=%22demo%22}'}'</pre>
            <p>Every Pyroscope SDK and agent can push to <code>{origin}</code> as it is.</p>
        </Empty>
    );
}

export function ServicesPage({ params }: { params: URLSearchParams }) {
    useTitle('Services');
    const source = readSource(params);
    const [tick, setTick] = useState(0);
    const answer = useApi<Services>(apiUrl('services', { query: '{}', from: source.from, until: source.until }), tick);
    const search = params.get('s') ?? '';
    return (
        <>
            <div class="sourcebar">
                <h1>Services</h1>
                <RangePicker from={source.from} until={source.until} onChange={(from, until) => setParams({ from: from === DEFAULT_FROM ? null : from, until: until === DEFAULT_UNTIL ? null : until })} />
                <button type="button" class="icon" aria-label="Refresh" title="Refresh" onClick={() => setTick(tick + 1)}>⟳</button>
                <span class="spring" />
                <SearchBox value={search} what="services" />
            </div>
            <Async answer={answer} what="the services">
                {(data) => data.services.length === 0 ? <NoServices source={source} /> : <Table data={data} source={source} search={search} tick={tick} />}
            </Async>
        </>
    );
}
