// SPDX-License-Identifier: Apache-2.0
// The two sources of a diff: each a profile or a selector with a range; exchanged, shifted in time, or set anew.

import { apiUrl, useApi } from '../base/api';
import { formatNs, formatValue, plural } from '../base/format';
import { pageParams, type Side, type Source } from '../base/source';
import { DEFAULT_FROM, parseTime, showTime, urlTime } from '../base/time';
import type { EntryDetail } from '../base/types';
import { setParams, withChanges, type Changes } from '../base/url';
import { LabelChips } from '../parts/chips';
import { movedRange } from '../parts/rangepicker';
import { SourceBar } from '../parts/sourcebar';
import { Async } from '../parts/states';
import { mainType, profileHref } from '../pages/common';
import { href } from '../base/url';
import { addMatcher } from '../base/selector';

function EntryCard({ id, type, more }: { id: string; type: string; more: number }) {
    const answer = useApi<EntryDetail>(apiUrl('profiles/' + encodeURIComponent(id)));
    return (
        <Async answer={answer} what="the profile">
            {(e) => {
                const ms = parseTime(e.time, 0);
                const value = mainType(e, type);
                return (
                    <div class="entry-card">
                        <a href={profileHref(e.id, type)}><b>{e.service_name ?? 'Profile'}</b> {ms === null ? e.time : showTime(ms, true)}</a>
                        {more > 0 && <span> and {plural(more, 'other')}</span>}
                        <div>{value && <b>{formatValue(value.total, value.unit)}</b>}{e.duration_ns !== undefined && <span class="pkg"> in {formatNs(e.duration_ns)}</span>}</div>
                        <LabelChips labels={e.labels ?? {}} skip={['service_name']} max={6} hrefFor={(n, v) => href('profiles', { query: addMatcher('', n, v) })} />
                    </div>
                );
            }}
        </Async>
    );
}

/** Left as the right one was before: the comparison asked for most. */
const BEFORE: { label: string; ms: number | null }[] = [
    { label: 'the range before', ms: null }, { label: 'a day before', ms: 86400e3 }, { label: 'a week before', ms: 7 * 86400e3 },
];

export function shifted(right: Source, ms: number | null, now: number): Source | null {
    if (ms === null) {
        const range = movedRange(right.from, right.until, -1, now);
        return range && { ...right, from: range[0], until: range[1] };
    }
    const [a, b] = [parseTime(right.from, now), parseTime(right.until, now)];
    return a === null || b === null ? null : { ...right, from: urlTime(a - ms), until: urlTime(b - ms) };
}

function Shift({ right }: { right: Source }) {
    if (right.ids.length > 0) return null;
    const set = (ms: number | null): void => {
        const left = shifted(right, ms, Date.now());
        if (left) setParams(pageParams(left, 'left_'));
    };
    return (
        <div class="note">Like the right side, {BEFORE.map((b) => <button key={b.label} type="button" class="link" onClick={() => set(b.ms)}>{b.label}</button>)}</div>
    );
}

function SideBox({ source, side, title, right }: { source: Source; side: Side; title: string; right?: Source }) {
    const bySelector = (): void => setParams({ ...pageParams({ ...source, ids: [], query: '{}', from: DEFAULT_FROM, until: 'now' }, side) });
    return (
        <section class="side" aria-label={title + ' side'}>
            <h2>{title}</h2>
            {source.ids.length > 0
                ? (
                    <>
                        <EntryCard id={source.ids[0]!} type={source.type} more={source.ids.length - 1} />
                        <button type="button" class="link" onClick={bySelector}>Use a selector and range instead</button>
                    </>
                )
                : <SourceBar source={source} side={side} types={[]} typeless />}
            {right && <Shift right={right} />}
        </section>
    );
}

export function swapped(params: URLSearchParams): URLSearchParams {
    const changes: Changes = {};
    for (const key of new Set(params.keys())) {
        const other = key.startsWith('left_') ? 'right_' + key.slice(5) : key.startsWith('right_') ? 'left_' + key.slice(6) : null;
        if (!other) continue;
        changes[other] = params.getAll(key);
        if (!params.has(other)) changes[key] = null;
    }
    return withChanges(params, changes);
}

export function Sides({ left, right, onSwap }: { left: Source; right: Source; onSwap: () => void }) {
    return (
        <div class="sides">
            <SideBox source={left} side="left_" title="Left" right={right} />
            <button type="button" class="swap" data-swap aria-label="Swap sides" title="Swap sides" onClick={onSwap}>⇄</button>
            <SideBox source={right} side="right_" title="Right" />
        </div>
    );
}
