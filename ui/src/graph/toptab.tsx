// SPDX-License-Identifier: Apache-2.0
// The table of functions, computed by the server on the whole tree. It is also the flame graph's equivalent in text.

import { useMemo } from 'preact/hooks';
import { apiUrl, useApi } from '../base/api';
import { exactValue, formatShare, formatValue, plural } from '../base/format';
import type { Top, TopRow } from '../base/types';
import { setParams } from '../base/url';
import { matcher } from '../flame/search';
import { CompletenessLine } from '../parts/completeness';
import { Async, Empty } from '../parts/states';
import { DataTable, sortRows, type Column } from '../table/datatable';
import { sandwichHref } from './actions';
import type { TabProps } from './flametab';

export const TOP_LIMIT = 1000;
const DEFAULT_SORT = '-self';

/** Only these the server can sort by; what it cut off by one of them cannot be found by sorting what is left. */
export function serverSort(sort: string): string {
    return sort === '-total' ? '-total' : DEFAULT_SORT;
}

function Value({ value, share, unit }: { value: number; share: number; unit: string }) {
    return (
        <span class="bar-cell" title={exactValue(value, unit)}>
            <span class="bar" style={{ width: Math.max(0, Math.min(share, 1)) * 100 + '%' }} aria-hidden="true" />
            {formatValue(value, unit)}
        </span>
    );
}

function columns(data: Top, nameHref: (name: string) => string, narrow: boolean): Column<TopRow>[] {
    const whole = data.total || 1;
    const share = (v: number, known?: number): number => known ?? v / whole;
    const all: Column<TopRow>[] = [
        { key: 'function', label: 'Function', value: (r) => r.function, cell: (r) => <a class="fn" href={nameHref(r.function)} title={[r.function, r.file, 'Open: callers and callees'].filter(Boolean).join('\n')}>{r.function}</a> },
        { key: 'package', label: 'Package', width: '18%', value: (r) => r.package ?? '', cell: (r) => <span class="pkg" title={r.package}>{r.package ?? ''}</span> },
        { key: 'self', label: 'Self', numeric: true, width: '110px', title: 'In the function itself', value: (r) => r.self, cell: (r) => <Value value={r.self} share={share(r.self, r.self_share)} unit={data.unit} /> },
        { key: 'self_share', label: '', numeric: true, width: '66px', cell: (r) => formatShare(share(r.self, r.self_share)) },
        { key: 'total', label: 'Total', numeric: true, width: '110px', title: 'In the function and all that it called; recursion counts once', value: (r) => r.total, cell: (r) => <Value value={r.total} share={share(r.total, r.total_share)} unit={data.unit} /> },
        { key: 'total_share', label: '', numeric: true, width: '66px', cell: (r) => formatShare(share(r.total, r.total_share)) },
    ];
    return narrow ? all.filter((c) => c.key !== 'package' && !c.key.endsWith('_share')) : all;
}

function countNote(data: Top, shown: number, filtered: boolean, sort: string): string {
    const cut = data.rows.length >= TOP_LIMIT;
    const base = cut ? `the first ${plural(data.rows.length, 'function')} by ${serverSort(sort).slice(1)}` : plural(data.rows.length, 'function');
    return filtered ? `${plural(shown, 'function')} of ${base}` : cut ? base[0]!.toUpperCase() + base.slice(1) : base;
}

function TopTable({ data, params, page, narrow }: { data: Top; params: URLSearchParams; page: string; narrow: boolean }) {
    const sort = params.get('sort') ?? DEFAULT_SORT;
    const s = params.get('s') ?? '';
    const cols = columns(data, (name) => sandwichHref(page, params, name), narrow);
    const rows = useMemo(() => {
        const match = matcher(s);
        return sortRows(match ? data.rows.filter((r) => match(r.function)) : data.rows, cols, sort);
    }, [data, s, sort]);
    return (
        <>
            {rows.length === 0
                ? <Empty title="No function matches">The search above hides {plural(data.rows.length, 'function')}. Esc in the search field clears it.</Empty>
                : <DataTable columns={cols} rows={rows} rowKey={(r) => r.function + '\0' + (r.file ?? '') + '\0' + (r.package ?? '')} label="Functions" sort={sort}
                    onSort={(next) => setParams({ sort: next === DEFAULT_SORT ? null : next }, true)}
                    onOpen={(r) => setParams({ tab: 'sandwich', function: r.function })} height={narrow ? 800 : 680} />}
            <p class="note">{countNote(data, rows.length, s.trim() !== '', sort)}</p>
        </>
    );
}

export function useTop(source: TabProps['source'], sort: string, tick: number) {
    return useApi<Top>(apiUrl('top', source, { sort, limit: String(TOP_LIMIT) }), tick);
}

export function TopTab({ params, page, source, tick, narrow = false }: TabProps & { narrow?: boolean }) {
    const answer = useTop(source, serverSort(params.get('sort') ?? DEFAULT_SORT), tick);
    return (
        <Async answer={answer} what="the table">
            {(data) => (
                <>
                    {data.rows.length === 0
                        ? <Empty title="No function here">No profile of this type matches, or nothing was sampled. Widen the range or take filters away.</Empty>
                        : <TopTable data={data} params={params} page={page} narrow={narrow} />}
                    {!narrow && <CompletenessLine value={data.completeness} extra={data.total ? `total ${exactValue(data.total, data.unit)}` : null} />}
                </>
            )}
        </Async>
    );
}
