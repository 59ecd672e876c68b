// SPDX-License-Identifier: Apache-2.0
// One profile: what it is, where it stands in its series, and its graph.

import { useEffect } from 'preact/hooks';
import type { ComponentChildren } from 'preact';
import { apiUrl, useApi } from '../base/api';
import { exactValue, formatBytes, formatCount, formatNs, formatValue, typeName } from '../base/format';
import { useTitle } from '../base/hooks';
import { addMatcher, serviceSelector } from '../base/selector';
import { readSource, type Source } from '../base/source';
import { ago, parseTime, showTime } from '../base/time';
import type { EntryDetail, Neighbour } from '../base/types';
import { href, navigate, setParams, withChanges } from '../base/url';
import { GraphPanel } from '../graph/panel';
import { LabelChips } from '../parts/chips';
import { typing } from '../parts/keyboard';
import { Async, Empty } from '../parts/states';
import { useDefaultType } from '../parts/typechooser';
import { around, mainType, seriesSelector } from './common';

export function neighbourId(n: Neighbour | undefined): string | null {
    return n === undefined || n === null ? null : typeof n === 'string' ? n : n.id;
}

/** The neighbour in the same view: tab, search and zoom stay. */
function neighbourHref(params: URLSearchParams, id: string): string {
    return href('profile', withChanges(params, { id }));
}

function Neighbours({ entry, params, type }: { entry: EntryDetail; params: URLSearchParams; type: string }) {
    const [previous, next] = [neighbourId(entry.previous), neighbourId(entry.next)];
    useEffect(() => {
        const onKey = (e: KeyboardEvent): void => {
            const id = e.key === '[' ? previous : e.key === ']' ? next : null;
            if (id && !typing(e)) navigate(neighbourHref(params, id));
        };
        addEventListener('keydown', onKey);
        return () => removeEventListener('keydown', onKey);
    }, [previous, next, params]);
    return (
        <nav class="pager" aria-label="In its series">
            {previous ? <a class="button" title="The one before in its series. Key [" href={neighbourHref(params, previous)}>‹ Previous</a> : <span class="button" aria-disabled="true">‹ First</span>}
            {next ? <a class="button" title="The one after in its series. Key ]" href={neighbourHref(params, next)}>Next ›</a> : <span class="button" aria-disabled="true">Last ›</span>}
            <a class="button" title="Pick the other one in the list of its series" href={href('profiles', { query: seriesSelector(entry), type, pick: entry.id, ...around(entry, 1800e3) })}>Compare…</a>
            {previous && <a class="button" href={href('diff', { left_id: previous, left_type: type, right_id: entry.id, right_type: type })}>Compare with previous</a>}
        </nav>
    );
}

function Fact({ name, children, title }: { name: string; children: ComponentChildren; title?: string }) {
    return <div title={title}><dt>{name}</dt><dd>{children}</dd></div>;
}

const KINDS: Record<string, string> = {
    instant: 'a gauge: what was there at that moment', delta: 'what happened during the profile', cumulative: 'since the start of the process',
};

function Facts({ entry, type }: { entry: EntryDetail; type: string }) {
    const shown = mainType(entry, type);
    const attributes = (entry.attributes ?? []).map((a) => (typeof a === 'string' ? a : a.name));
    return (
        <dl class="facts">
            {shown && <Fact name="Total" title={exactValue(shown.total, shown.unit)}>{formatValue(shown.total, shown.unit)}</Fact>}
            {entry.duration_ns !== undefined && <Fact name="Duration">{formatNs(entry.duration_ns)}</Fact>}
            {shown && shown.unit === 'nanoseconds' && !!entry.duration_ns && <Fact name="Average" title="Total divided by the duration">{(shown.total / entry.duration_ns).toFixed(2)} at once</Fact>}
            {shown?.kind && <Fact name="Kind" title={KINDS[shown.kind]}>{shown.kind}</Fact>}
            {entry.samples !== undefined && <Fact name="Samples">{formatCount(entry.samples)}</Fact>}
            {entry.size !== undefined && <Fact name="Stored">{formatBytes(entry.size)}</Fact>}
            <Fact name="Time inside" title="Whether samples carry their own time, so that their order is known">{entry.has_time ? 'yes' : 'no: order is lost'}</Fact>
            {entry.truncated && <Fact name="Stacks">some cut by the profiler</Fact>}
            {entry.pinned && <Fact name="Pinned">kept beyond retention</Fact>}
            {attributes.length > 0 && <Fact name="Attributes">{attributes.join(', ')}</Fact>}
        </dl>
    );
}

function More({ entry }: { entry: EntryDetail }) {
    const annotations = Object.entries(entry.annotations ?? {});
    const mappings = entry.mappings ?? [];
    return (
        <details class="more-facts">
            <summary>Id, annotations and {mappings.length} mappings</summary>
            <dl class="wide">
                <div><dt>id</dt><dd><code>{entry.id}</code></dd></div>
                {entry.client_id && <div><dt>client_id</dt><dd><code>{entry.client_id}</code></dd></div>}
                {annotations.map(([k, v]) => <div key={k}><dt>{k}</dt><dd>{v}</dd></div>)}
                {(entry.comments ?? []).map((c) => <div key={c}><dt>comment</dt><dd>{c}</dd></div>)}
                {mappings.map((m, i) => <div key={i}><dt>mapping</dt><dd><code>{m.file || '(no file)'}</code> {m.build_id && <span class="pkg">build id {m.build_id}</span>}</dd></div>)}
            </dl>
        </details>
    );
}

function TypeButtons({ entry, type }: { entry: EntryDetail; type: string }) {
    return (
        <div class="types" role="group" aria-label="Profile type">
            {entry.types.map((t) => (
                <button key={t.type} type="button" aria-pressed={t.type === type} title={t.type} onClick={() => setParams({ type: t.type, at: null })}>
                    {typeName(t.type)} <span class="pkg">{formatValue(t.total, t.unit)}</span>
                </button>
            ))}
        </div>
    );
}

function Head({ entry, params, type }: { entry: EntryDetail; params: URLSearchParams; type: string }) {
    const ms = parseTime(entry.time, 0);
    const query = seriesSelector(entry);
    return (
        <header class="profile-head">
            <div class="toolbar">
                <h1>{entry.service_name ?? 'Profile'} <span class="when" title={entry.time}>{ms === null ? entry.time : showTime(ms, true)}</span> <span class="pkg">{ms === null ? '' : ago(ms, Date.now())}</span></h1>
                <span class="spring" />
                <Neighbours entry={entry} params={params} type={type} />
            </div>
            <div class="toolbar">
                <LabelChips labels={entry.labels ?? {}} skip={['service_name']} hrefFor={(name, value) => href('profiles', { query: addMatcher(entry.service_name ? serviceSelector(entry.service_name) : '', name, value), type, ...around(entry, 1800e3) })} />
                <span class="spring" />
                <a href={href('flamegraph', { query, type, ...around(entry, 1800e3) })}>Its series, an hour around</a>
                <a href={href('profiles', { type, ...around(entry, 60e3) })}>All at this moment</a>
            </div>
            <TypeButtons entry={entry} type={type} />
            <Facts entry={entry} type={type} />
            <More entry={entry} />
        </header>
    );
}

function Profile({ entry, source, params }: { entry: EntryDetail; source: Source; params: URLSearchParams }) {
    useDefaultType(source.type, entry.types);
    const ms = parseTime(entry.time, 0);
    useTitle(`${entry.service_name ?? 'Profile'} ${ms === null ? '' : showTime(ms)}`.trim());
    return <Head entry={entry} params={params} type={source.type} />;
}

/** The graph does not wait for the facts: what a link names is asked for at once. */
export function ProfilePage({ params }: { params: URLSearchParams }) {
    const { type, ids, ...range } = readSource(params);
    const id = ids[0] ?? '';
    const answer = useApi<EntryDetail>(id ? apiUrl('profiles/' + encodeURIComponent(id)) : null);
    if (id === '') return <Empty title="No profile chosen">This address needs an id. <a href="./profiles">Choose one from the list.</a></Empty>;
    const source: Source = { ...range, type, ids: [id] };
    const unknown = answer.status === 'done' && type !== '' && !answer.data!.types.some((t) => t.type === type);
    return (
        <>
            <Async answer={answer} what="the profile">{(entry) => <Profile entry={entry} source={source} params={params} />}</Async>
            {unknown && <Empty title="The profile has no such type">It has: {answer.data!.types.map((t) => typeName(t.type)).join(', ')}. Choose one above.</Empty>}
            {type !== '' && !unknown && answer.status !== 'failed' && <GraphPanel source={source} params={params} page="profile" tick={0} />}
        </>
    );
}
