// SPDX-License-Identifier: Apache-2.0
// The table of differences: one row for each function, computed by the server on whole trees.

import { useMemo } from 'preact/hooks';
import { apiUrl, useApi } from '../base/api';
import { exactValue, plural } from '../base/format';
import type { DiffRow, DiffTop } from '../base/types';
import { setParams, type Changes } from '../base/url';
import { diffColor, PALETTES } from '../flame/colors';
import { matcher } from '../flame/search';
import { useTheme } from '../base/theme';
import { CompletenessLine } from '../parts/completeness';
import { Async, Empty } from '../parts/states';
import { DataTable, sortRows, type Column } from '../table/datatable';
import { OneSided } from './merged';
import { formatDelta, formatInMode, formatRelative } from './mode';

export const DIFF_LIMIT = 1000;
const BY_CHANGE = '-change';

function Delta({ d, row, most, colors }: { d: DiffTop; row: DiffRow; most: number; colors: string[] }) {
    const share = most > 0 ? Math.abs(row.delta) / most : 0;
    const color = colors[diffColor(row.left_self * d.left.factor, row.right_self * d.right.factor)]!;
    const interval = row.low !== undefined && row.high !== undefined ? `\nbetween ${formatDelta(row.low, d.mode, d.unit)} and ${formatDelta(row.high, d.mode, d.unit)}` : '';
    return (
        <span class="bar-cell" title={`${exactValue(row.left_self, d.unit)} against ${exactValue(row.right_self, d.unit)}${interval}`}>
            <span class="bar solid" style={{ width: share * 100 + '%', background: color }} aria-hidden="true" />
            <span class="on-bar">{formatDelta(row.delta, d.mode, d.unit)}</span>
        </span>
    );
}

function columns(d: DiffTop, colors: string[]): Column<DiffRow>[] {
    const most = d.rows.reduce((m, r) => Math.max(m, Math.abs(r.delta)), 0);
    const left = (v: number): number => v * d.left.factor;
    const right = (v: number): number => v * d.right.factor;
    const show = (v: number): string => formatInMode(v, d.mode, d.unit);
    const number = (key: string, label: string, value: (r: DiffRow) => number): Column<DiffRow> => ({ key, label, numeric: true, width: '96px', value, cell: (r) => show(value(r)) });
    const verdicts = d.rows.some((r) => r.verdict !== undefined);
    return [
        { key: 'function', label: 'Function', value: (r) => r.function, cell: (r) => <span class="fn" title={[r.function, r.file].filter(Boolean).join('\n')}>{r.function}</span> },
        { key: 'change', label: 'Change of self', numeric: true, width: '150px', title: 'Sorted by size, whatever the sign', value: (r) => Math.abs(r.delta), cell: (r) => <Delta d={d} row={r} most={most} colors={colors} /> },
        { key: 'delta', label: 'Relative', numeric: true, width: '84px', title: 'Change relative to the left side; sorts by the signed difference', value: (r) => r.delta, cell: (r) => formatRelative(left(r.left_self), right(r.right_self)) },
        number('left_self', 'Left self', (r) => left(r.left_self)),
        number('right_self', 'Right self', (r) => right(r.right_self)),
        number('left_total', 'Left total', (r) => left(r.left_total)),
        number('right_total', 'Right total', (r) => right(r.right_total)),
        ...(verdicts ? [{ key: 'verdict', label: 'Verdict', width: '104px', value: (r: DiffRow) => r.verdict ?? '', cell: (r: DiffRow) => r.verdict ?? '' }] : []),
    ];
}

function Table({ d, params }: { d: DiffTop; params: URLSearchParams }) {
    const colors = PALETTES[useTheme()].diff;
    const sort = params.get('sort') ?? BY_CHANGE;
    const s = params.get('s') ?? '';
    const cols = columns(d, colors);
    const rows = useMemo(() => {
        const match = matcher(s);
        return sortRows(match ? d.rows.filter((r) => match(r.function)) : d.rows, cols, sort);
    }, [d, s, sort]);
    if (rows.length === 0) return <Empty title="No function matches">The search hides {plural(d.rows.length, 'function')}. Esc in the search field clears it.</Empty>;
    return (
        <>
            <DataTable columns={cols} rows={rows} rowKey={(r) => r.function + '\0' + (r.file ?? '') + '\0' + (r.package ?? '')} label="Differences" sort={sort} height={680}
                onSort={(next) => setParams({ sort: next === BY_CHANGE ? null : next }, true)}
                onOpen={(r) => setParams({ tab: null, s: r.function })} openLabel="Enter or a double click finds it in the graph" />
            <p class="note">{d.rows.length >= DIFF_LIMIT ? `The first ${plural(rows.length, 'function')} by change` : plural(rows.length, 'function')}</p>
        </>
    );
}

export function DiffTableTab({ params, source, tick }: { params: URLSearchParams; source: Changes; tick: number }) {
    const answer = useApi<DiffTop>(apiUrl('diff/top', source, { limit: String(DIFF_LIMIT) }), tick);
    return (
        <Async answer={answer} what="the differences">
            {(d) => (
                <>
                    {d.left.total === 0 || d.right.total === 0 ? <OneSided d={d} /> : <Table d={d} params={params} />}
                    <CompletenessLine value={d.completeness} />
                </>
            )}
        </Async>
    );
}
