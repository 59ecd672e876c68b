// SPDX-License-Identifier: Apache-2.0
// A table of many rows with fixed height: only what is seen is in the document, two spacer rows stand for the rest.

import { useEffect, useRef, useState } from 'preact/hooks';
import type { ComponentChildren } from 'preact';

export interface Column<R> {
    key: string;
    label: string;
    title?: string;
    numeric?: boolean;
    width?: string;
    /** Sort key; absent where the column does not sort. */
    value?: (row: R) => number | string;
    cell: (row: R) => ComponentChildren;
}

interface Props<R> {
    columns: Column<R>[];
    rows: R[];
    rowKey: (row: R) => string;
    label: string;
    /** Column key, with a minus in front for descending. */
    sort: string;
    onSort: (sort: string) => void;
    onOpen?: (row: R) => void;
    openLabel?: string;
    height?: number;
}

const ROW = 28;
const SPARE = 10;

export function sortRows<R>(rows: R[], columns: Column<R>[], sort: string): R[] {
    const down = sort.startsWith('-');
    const value = columns.find((c) => c.key === sort.replace(/^-/, ''))?.value;
    if (!value) return rows;
    const sign = down ? -1 : 1;
    return rows.map((row, i) => ({ row, i, v: value(row) })).sort((a, b) => sign * (a.v < b.v ? -1 : a.v > b.v ? 1 : 0) || a.i - b.i).map((x) => x.row);
}

export function nextSort(sort: string, key: string, numeric: boolean): string {
    const first = numeric ? '-' + key : key;
    return sort === first ? (numeric ? key : '-' + key) : first;
}

function Header<R>({ column, sort, onSort }: { column: Column<R>; sort: string; onSort: (sort: string) => void }) {
    const mine = sort.replace(/^-/, '') === column.key;
    const direction = mine ? (sort.startsWith('-') ? 'descending' : 'ascending') : undefined;
    return (
        <th scope="col" class={column.numeric ? 'num' : undefined} aria-sort={direction} title={column.title} style={column.width ? { width: column.width } : undefined}>
            {column.value
                ? <button type="button" onClick={() => onSort(nextSort(sort, column.key, column.numeric ?? false))}>
                    {column.label}<span class="arrow" aria-hidden="true">{direction === 'descending' ? '↓' : direction ? '↑' : ''}</span>
                </button>
                : column.label}
        </th>
    );
}

function rowKeys(e: KeyboardEvent, open: (() => void) | undefined): void {
    const tr = e.currentTarget as HTMLTableRowElement;
    if (e.key === 'Enter' && open && e.target === tr) open();
    else if (e.key === 'ArrowDown') (tr.nextElementSibling as HTMLElement | null)?.focus();
    else if (e.key === 'ArrowUp') (tr.previousElementSibling as HTMLElement | null)?.focus();
    else return;
    e.preventDefault();
}

export function DataTable<R>(p: Props<R>) {
    const box = useRef<HTMLDivElement>(null);
    const [scroll, setScroll] = useState(0);
    const height = Math.min(p.height ?? 640, (p.rows.length + 1) * ROW + 4);
    useEffect(() => { box.current!.scrollTop = 0; }, [p.sort]);
    const first = Math.max(0, Math.floor(scroll / ROW) - SPARE);
    const last = Math.min(p.rows.length, Math.ceil((scroll + height) / ROW) + SPARE);
    return (
        <div ref={box} class="table-scroll" style={{ height: height + 'px' }} tabIndex={-1} onScroll={() => setScroll(box.current!.scrollTop)}>
            <table class="data" aria-label={p.label} aria-rowcount={p.rows.length + 1}>
                <thead><tr aria-rowindex={1}>{p.columns.map((c) => <Header key={c.key} column={c} sort={p.sort} onSort={p.onSort} />)}</tr></thead>
                <tbody>
                    {first > 0 && <tr class="spacer" style={{ height: first * ROW + 'px' }} aria-hidden="true" />}
                    {p.rows.slice(first, last).map((row, i) => (
                        <tr key={p.rowKey(row)} aria-rowindex={first + i + 2} tabIndex={0} onKeyDown={(e) => rowKeys(e, p.onOpen && (() => p.onOpen!(row)))}
                            onDblClick={p.onOpen && (() => p.onOpen!(row))} title={p.openLabel}>
                            {p.columns.map((c) => <td key={c.key} class={c.numeric ? 'num' : undefined}>{c.cell(row)}</td>)}
                        </tr>
                    ))}
                    {last < p.rows.length && <tr class="spacer" style={{ height: (p.rows.length - last) * ROW + 'px' }} aria-hidden="true" />}
                </tbody>
            </table>
        </div>
    );
}
