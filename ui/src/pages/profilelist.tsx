// SPDX-License-Identifier: Apache-2.0
// The list of profiles: one row for each entry, sortable, pickable, walkable with the keyboard.

import { exactValue, formatBytes, formatCount, formatNs, formatValue, typeName } from '../base/format';
import { addMatcher } from '../base/selector';
import { parseTime, showTime } from '../base/time';
import type { Entry } from '../base/types';
import { href, navigate, setParams, withChanges } from '../base/url';
import { LabelChips } from '../parts/chips';
import { nextSort } from '../table/datatable';
import { mainType, profileHref } from './common';

export const PICK_MOST = 2;

interface ListProps {
    params: URLSearchParams;
    entries: Entry[];
    type: string;
    query: string;
    sort: string;
    picked: string[];
    /** Type that a sort by value chooses where none is chosen. */
    valueType: string;
    /** Whether any entry has something to note; without, the column is left out. */
    notes: boolean;
}

const COLUMNS: { key: string; label: string; numeric?: boolean; sorts: boolean; className?: string }[] = [
    { key: 'time', label: 'Time', numeric: true, sorts: true, className: 'col-time' },
    { key: 'service', label: 'Service', sorts: false, className: 'col-service' },
    { key: 'labels', label: 'Labels', sorts: false },
    { key: 'notes', label: 'Notes', sorts: false, className: 'col-notes' },
    { key: 'value', label: 'Value', numeric: true, sorts: true, className: 'col-value' },
    { key: 'duration', label: 'Duration', numeric: true, sorts: true, className: 'col-small' },
    { key: 'samples', label: 'Samples', numeric: true, sorts: true, className: 'col-small' },
    { key: 'size', label: 'Size', numeric: true, sorts: true, className: 'col-small' },
];

function Head({ sort, notes, type, valueType }: Pick<ListProps, 'sort' | 'notes' | 'type' | 'valueType'>) {
    const set = (next: string): void => {
        const needsType = next.endsWith('value') && type === ''; // values of different types have no order
        setParams({ sort: next === '-time' ? null : next, cursor: null, page: null, ...(needsType ? { type: valueType } : {}) });
    };
    return (
        <thead>
            <tr>
                <th scope="col" class="col-pick"><span class="sr">Pick to compare</span></th>
                {COLUMNS.filter((c) => notes || c.key !== 'notes').map((c) => {
                    const mine = sort.replace(/^-/, '') === c.key;
                    const direction = mine ? (sort.startsWith('-') ? 'descending' : 'ascending') : undefined;
                    return (
                        <th key={c.key} scope="col" class={(c.className ?? '') + (c.numeric && c.key !== 'time' ? ' num' : '')} aria-sort={direction}>
                            {c.sorts
                                ? <button type="button" data-sort={c.key} onClick={() => set(nextSort(sort, c.key, true))}>{c.label}<span class="arrow" aria-hidden="true">{direction === 'descending' ? '↓' : direction ? '↑' : ''}</span></button>
                                : c.label}
                        </th>
                    );
                })}
            </tr>
        </thead>
    );
}

function Marks({ entry }: { entry: Entry }) {
    return (
        <>
            {entry.pinned && <span class="mark" title="Pinned: kept beyond retention">pinned</span>}
            {entry.truncated && <span class="mark warn" title="The profiler cut some of its stacks">cut</span>}
            {entry.has_time && <span class="mark" title="Samples carry their own time">time</span>}
        </>
    );
}

/** At most two are picked; a third takes the place of the older. */
export function togglePick(picked: string[], id: string): string[] {
    return picked.includes(id) ? picked.filter((p) => p !== id) : [...picked, id].slice(-PICK_MOST);
}

function onRowKey(e: KeyboardEvent, open: () => void, pick: () => void): void {
    const tr = e.currentTarget as HTMLTableRowElement;
    if (e.target !== tr && e.key !== 'ArrowDown' && e.key !== 'ArrowUp') return;
    if (e.key === 'Enter') open();
    else if (e.key === ' ') pick();
    else if (e.key === 'ArrowDown') (tr.nextElementSibling as HTMLElement | null)?.focus();
    else if (e.key === 'ArrowUp') (tr.previousElementSibling as HTMLElement | null)?.focus();
    else return;
    e.preventDefault();
}

function ValueCell({ entry, type, most }: { entry: Entry; type: string; most: number }) {
    const value = mainType(entry, type);
    if (!value) return <td class="num" />;
    return (
        <td class="num">
            <span class="bar-cell" title={`${exactValue(value.total, value.unit)}\n${value.type}`}>
                {type !== '' && <span class="bar" style={{ width: (most > 0 ? Math.max(value.total, 0) / most : 0) * 100 + '%' }} aria-hidden="true" />}
                {type === '' && <span class="pkg">{typeName(value.type)} </span>}
                {formatValue(value.total, value.unit)}
            </span>
        </td>
    );
}

function Row({ entry, most, p }: { entry: Entry; most: number; p: ListProps }) {
    const to = profileHref(entry.id, mainType(entry, p.type)?.type ?? '');
    const time = parseTime(entry.time, 0);
    const picked = p.picked.includes(entry.id);
    const pick = (): void => setParams({ pick: togglePick(p.picked, entry.id) }, true);
    const open = (): void => {
        navigate(to);
        scrollTo(0, 0);
    };
    const onClick = (e: MouseEvent): void => {
        const control = e.target instanceof Element && e.target.closest('a, input, label');
        if (!control && getSelection()?.isCollapsed !== false) open();
    };
    return (
        <tr tabIndex={0} class={picked ? 'picked' : undefined} data-id={entry.id} onKeyDown={(e) => onRowKey(e, open, pick)} onClick={onClick}>
            <td class="col-pick"><label><input type="checkbox" checked={picked} onChange={pick} aria-label={`Pick ${time === null ? entry.id : showTime(time)}`} /></label></td>
            <td class="col-time" title={entry.time}><a href={to}>{time === null ? entry.time : showTime(time, true)}</a></td>
            <td class="col-service" title={entry.service_name}>{entry.service_name ?? ''}</td>
            <td>
                <LabelChips labels={entry.labels ?? {}} skip={['service_name', '__name__']} max={4}
                    hrefFor={(name, value) => href('profiles', withChanges(p.params, { query: addMatcher(p.query, name, value), cursor: null, page: null }))} />
            </td>
            {p.notes && <td><Marks entry={entry} /></td>}
            <ValueCell entry={entry} type={p.type} most={most} />
            <td class="num">{entry.duration_ns === undefined ? '' : formatNs(entry.duration_ns)}</td>
            <td class="num">{entry.samples === undefined ? '' : formatCount(entry.samples)}</td>
            <td class="num">{entry.size === undefined ? '' : formatBytes(entry.size)}</td>
        </tr>
    );
}

function hasNotes(e: Entry): boolean {
    return Boolean(e.pinned || e.truncated || e.has_time);
}

export function ProfileTable(props: Omit<ListProps, 'notes'>) {
    const p: ListProps = { ...props, notes: props.entries.some(hasNotes) };
    const most = p.entries.reduce((m, e) => Math.max(m, mainType(e, p.type)?.total ?? 0), 0);
    return (
        <div class="wide-table">
            <table class={'data list' + (p.type ? ' typed' : '')} aria-label="Profiles">
                <Head {...p} />
                <tbody>{p.entries.map((e) => <Row key={e.id} entry={e} most={most} p={p} />)}</tbody>
            </table>
        </div>
    );
}
