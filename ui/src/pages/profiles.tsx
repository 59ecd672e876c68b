// SPDX-License-Identifier: Apache-2.0
// Profiles: every single one of a selector, type and range, a page at a time, under a heatmap that narrows both axes.

import { useEffect, useState } from 'preact/hooks';
import { apiUrl, useApi } from '../base/api';
import { plural, typeName, typeParts } from '../base/format';
import { useTitle } from '../base/hooks';
import { pageParams, readSource, sourceParams, type Source } from '../base/source';
import { parseTime, showTime, urlTime } from '../base/time';
import type { Entry, Heatmap, ProfileList } from '../base/types';
import { href, setParams, type Changes } from '../base/url';
import { CompletenessLine } from '../parts/completeness';
import { typing } from '../parts/keyboard';
import { LinkMenu } from '../parts/linkmenu';
import { SourceBar } from '../parts/sourcebar';
import { Async, Empty } from '../parts/states';
import { defaultType, useTypes, type TypeOption } from '../parts/typechooser';
import { HeatmapView, type Brush } from '../time/heatmap';
import { LIMITS, ListFilters } from './listfilters';
import { ProfileTable } from './profilelist';

const X_BUCKETS = 120;
const Y_BUCKETS = 24;
export const PAGE_SIZE = 100;
const FORGET: Changes = { cursor: null, page: null, min_value: null, max_value: null };

function limits(params: URLSearchParams): Changes {
    return Object.fromEntries(LIMITS.map((l) => [l, params.get(l)]));
}

function HeatmapPart({ source, params, types, tick }: { source: Source; params: URLSearchParams; types: TypeOption[]; tick: number }) {
    const type = source.type || defaultType(types);
    const url = type ? apiUrl('heatmap', sourceParams({ ...source, type }), limits(params), { x_buckets: String(X_BUCKETS), y_buckets: String(Y_BUCKETS) }) : null;
    const answer = useApi<Heatmap>(url, tick);
    const onBrush = (b: Brush): void => setParams({
        type, from: urlTime(Math.floor(b.from)), until: urlTime(Math.ceil(b.until)),
        min_value: String(Math.max(0, Math.floor(b.low))), max_value: String(Math.ceil(b.high)), cursor: null, page: null,
    });
    return (
        <Async answer={answer} what="the heatmap">
            {(h) => {
                if (h.counts.length === 0) return null; // the list below says that and why there is nothing
                const from = parseTime(h.x_start, Date.now()) ?? 0;
                return (
                    <>
                        {source.type === '' && <p class="note">Heatmap of {typeName(type)}, the type most profiles have.</p>}
                        <HeatmapView heatmap={h} from={from} until={from + (h.x_step_ns / 1e6) * X_BUCKETS} onBrush={onBrush} />
                    </>
                );
            }}
        </Async>
    );
}

function turnPage(cursor: string | undefined, to: number): void {
    if (cursor !== undefined) setParams({ cursor, page: to > 1 ? String(to) : null });
}

function usePageKeys(data: ProfileList, page: number): void {
    useEffect(() => {
        const onKey = (e: KeyboardEvent): void => {
            if (typing(e)) return;
            if (e.key === ']') turnPage(data.next_cursor, page + 1);
            if (e.key === '[') turnPage(data.prev_cursor, page - 1);
        };
        addEventListener('keydown', onKey);
        return () => removeEventListener('keydown', onKey);
    }, [data, page]);
}

function Pager({ data, page, label }: { data: ProfileList; page: number; label: string }) {
    if (!data.next_cursor && !data.prev_cursor) return null;
    return (
        <nav class="pager" aria-label={label}>
            <button type="button" data-page="previous" disabled={!data.prev_cursor} title="Key [" onClick={() => turnPage(data.prev_cursor, page - 1)}>‹ Previous</button>
            <span>Page {page}</span>
            <button type="button" data-page="next" disabled={!data.next_cursor} title="Key ]" onClick={() => turnPage(data.next_cursor, page + 1)}>Next ›</button>
        </nav>
    );
}

/** An arrow with nothing in focus enters the list. */
function useArrowIntoList(): void {
    useEffect(() => {
        const onKey = (e: KeyboardEvent): void => {
            if (e.key !== 'ArrowDown' || document.activeElement !== document.body) return;
            e.preventDefault();
            document.querySelector<HTMLElement>('table.list tbody tr')?.focus();
        };
        addEventListener('keydown', onKey);
        return () => removeEventListener('keydown', onKey);
    }, []);
}

function pickName(id: string, entries: Entry[]): string {
    const time = entries.find((e) => e.id === id)?.time;
    const ms = time ? parseTime(time, 0) : null;
    return ms === null ? 'one from another page' : showTime(ms);
}

function PickBar({ picked, entries, type }: { picked: string[]; entries: Entry[]; type: string }) {
    if (picked.length === 0) return null;
    const [a, b] = picked;
    return (
        <div class="pickbar" role="region" aria-label="Picked profiles">
            <span><b>Left</b> {pickName(a!, entries)}</span>
            <span><b>Right</b> {b ? pickName(b, entries) : 'pick another one'}</span>
            {b && <a class="button primary" data-compare href={href('diff', { left_id: a, left_type: type, right_id: b, right_type: type })}>Compare</a>}
            {b && <a class="button" href={href('flamegraph', { id: picked, type })}>Merge</a>}
            <button type="button" class="link" onClick={() => setParams({ pick: null }, true)}>Clear</button>
        </div>
    );
}

function NoProfiles({ source, params, types }: { source: Source; params: URLSearchParams; types: TypeOption[] }) {
    if (LIMITS.some((l) => params.has(l))) return <Empty title="No profile within these limits">Clear the limits on value and duration above, or widen the range.</Empty>;
    if (source.type && types.length > 0) return <Empty title={`No profile of ${typeName(source.type)} here`}>The selector and range have other types: {types.map((t) => typeName(t.type)).join(', ')}.</Empty>;
    if (source.query) return <Empty title="No profile matches">Nothing of {source.query} arrived in this range. Widen the range, or take a matcher away.</Empty>;
    return <Empty title="No profile in this range">Nothing arrived between {source.from} and {source.until}. Choose a longer range.</Empty>;
}

function List({ data, source, params, types }: { data: ProfileList; source: Source; params: URLSearchParams; types: TypeOption[] }) {
    const picked = params.getAll('pick');
    const page = Number(params.get('page') ?? 1);
    useArrowIntoList();
    usePageKeys(data, page);
    if (data.profiles.length === 0 && !params.has('cursor')) return <NoProfiles source={source} params={params} types={types} />;
    return (
        <>
            <div class="toolbar">
                <span class="note">{data.next_cursor || data.prev_cursor ? `${data.profiles.length} on this page` : plural(data.profiles.length, 'profile')}</span>
                <span class="spring" />
                <Pager data={data} page={page} label="Pages" />
                <a class="button" href={href('flamegraph', pageParams(source))}>Flame graph of all</a>
                <LinkMenu />
            </div>
            <ProfileTable params={params} entries={data.profiles} type={source.type} query={source.query} sort={params.get('sort') ?? '-time'} picked={picked} valueType={defaultType(types)} />
            <div class="toolbar"><CompletenessLine value={data.completeness} /><span class="spring" /><Pager data={data} page={page} label="Pages, below the list" /></div>
            <PickBar picked={picked} entries={data.profiles} type={source.type} />
        </>
    );
}

export function ProfilesPage({ params }: { params: URLSearchParams }) {
    useTitle('Profiles');
    const source = readSource(params);
    const [tick, setTick] = useState(0);
    const types = useTypes(source, tick);
    const options = types.data?.types ?? [];
    const url = apiUrl('profiles', sourceParams(source), limits(params), { sort: params.get('sort'), cursor: params.get('cursor'), limit: params.get('limit') ?? String(PAGE_SIZE) });
    const answer = useApi<ProfileList>(url, tick);
    const refresh = (): void => {
        setParams({ cursor: null, page: null }, true); // a cursor walks over what was there before
        setTick(tick + 1);
    };
    return (
        <>
            <SourceBar source={source} types={options} allTypes="All types" forget={FORGET} onRefresh={refresh} />
            <HeatmapPart source={source} params={params} types={options} tick={tick} />
            <ListFilters params={params} unit={source.type ? typeParts(source.type).unit : ''} />
            <Async answer={answer} what="the list">{(data) => <List data={data} source={source} params={params} types={options} />}</Async>
        </>
    );
}
