// SPDX-License-Identifier: Apache-2.0
// The series over time (uPlot). Dragging chooses a range. Axes are drawn on the canvas, so a change of theme draws a new chart.

import { useEffect, useRef } from 'preact/hooks';
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import { formatValue } from '../base/format';
import { useWidth } from '../base/hooks';
import { useTheme, type Theme } from '../base/theme';
import type { Series } from '../base/types';
import { SERIES } from '../flame/colors';

export const AXIS: Record<Theme, { text: string; grid: string }> = {
    light: { text: '#566069', grid: '#e6e9ec' },
    dark: { text: '#a3adb5', grid: '#2a3036' },
};

/** Columns for uPlot: all times of all groups once, and per group a value or a gap. */
export function alignSeries(groups: Series['groups']): (number | null)[][] {
    const times = [...new Set(groups.flatMap((g) => g.points.map((p) => p[0])))].sort((a, b) => a - b);
    const columns = groups.map((g) => {
        const at = new Map(g.points);
        return times.map((t) => at.get(t) ?? null);
    });
    return [times.map((t) => t / 1000), ...columns];
}

export function groupName(labels: Record<string, string>): string {
    const values = Object.values(labels).filter((v) => v !== '');
    return values.length > 0 ? values.join(' · ') : 'all';
}

function seriesOptions(groups: Series['groups'], theme: Theme, unit: string): uPlot.Series[] {
    return groups.map((g, i) => ({
        label: groupName(g.labels),
        stroke: SERIES[theme][i % SERIES[theme].length],
        fill: groups.length === 1 ? SERIES[theme][0] + '22' : undefined,
        width: 1.5,
        dash: i >= 3 ? [2 + 2 * (i % 4), 3] : undefined, // colour alone does not tell many lines apart
        points: { show: g.points.length < 60, size: 4 },
        value: (_: uPlot, v: number | null) => (v === null || v === undefined ? '–' : formatValue(v, unit)),
    }));
}

function options(series: Series, theme: Theme, width: number, onSelect: (from: number, until: number) => void): uPlot.Options {
    const axis = { stroke: AXIS[theme].text, grid: { stroke: AXIS[theme].grid, width: 1 }, ticks: { stroke: AXIS[theme].grid, width: 1 }, font: '11px system-ui, sans-serif' };
    return {
        width, height: 150,
        legend: { show: series.groups.length > 1 || series.groups[0]?.points.length !== 0 },
        cursor: { drag: { x: true, y: false, setScale: false } },
        scales: { y: { range: (_u, _min, max) => [0, max > 0 ? max * 1.05 : 1] } },
        axes: [axis, { ...axis, size: 72, values: (_u, ticks) => ticks.map((t) => formatValue(t, series.unit)) }],
        series: [{ value: (_u, v) => (v ? new Date(v * 1000).toLocaleString('sv') : '–') }, ...seriesOptions(series.groups, theme, series.unit)],
        hooks: {
            setSelect: [(u) => {
                if (u.select.width < 4) return;
                onSelect(u.posToVal(u.select.left, 'x') * 1000, u.posToVal(u.select.left + u.select.width, 'x') * 1000);
            }],
        },
    };
}

export function SeriesChart({ series, onSelect, height }: { series: Series; onSelect: (from: number, until: number) => void; height?: number }) {
    const theme = useTheme();
    const [box, width] = useWidth<HTMLDivElement>();
    const select = useRef(onSelect);
    select.current = onSelect;
    useEffect(() => {
        if (width === 0) return;
        const opts = options(series, theme, width, (a, b) => select.current(a, b));
        if (height) opts.height = height;
        const chart = new uPlot(opts, alignSeries(series.groups) as uPlot.AlignedData, box.current!);
        return () => chart.destroy();
    }, [series, theme, width]);
    return <div ref={box} class="chart" role="img" aria-label={`Values over time, ${series.groups.length === 1 ? 'one line' : series.groups.length + ' lines'}. Drag to choose a range.`} />;
}
