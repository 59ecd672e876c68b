// SPDX-License-Identifier: Apache-2.0
// The series over time (uPlot, loaded when first needed: it is a third of all code). Dragging chooses a range. Axes are drawn on the canvas, so a change of theme draws a new chart.

import { useEffect, useRef } from 'preact/hooks';
import uPlot from 'uplot';
import { formatValue, typeName } from '../base/format';
import { useWidth } from '../base/hooks';
import { useTheme, type Theme } from '../base/theme';
import { showTime } from '../base/time';
import type { Series } from '../base/types';
import { SERIES } from '../flame/colors';
import { AXIS } from './axis';
import { tickText } from './heatmapgrid';

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

function seriesOptions({ groups, unit, type }: Series, theme: Theme): uPlot.Series[] {
    return groups.map((g, i) => ({
        label: groups.length === 1 && Object.keys(g.labels).length === 0 ? typeName(type) : groupName(g.labels),
        stroke: SERIES[theme][i % SERIES[theme].length],
        fill: groups.length === 1 ? SERIES[theme][0] + '22' : undefined,
        width: 1.5,
        dash: i >= 3 ? [2 + 2 * (i % 4), 3] : undefined, // colour alone does not tell many lines apart
        points: { show: g.points.length < 60, size: 4 },
        value: (_: uPlot, v: number | null) => (v === null || v === undefined ? '–' : formatValue(v, unit)),
    }));
}

interface ChartProps {
    series: Series;
    /** Milliseconds: the range asked for, also where nothing is in it. */
    from: number;
    until: number;
    onSelect: (from: number, until: number) => void;
}

function options({ series, from, until, onSelect }: ChartProps, theme: Theme, width: number): uPlot.Options {
    const axis = { stroke: AXIS[theme].text, grid: { stroke: AXIS[theme].grid, width: 1 }, ticks: { stroke: AXIS[theme].grid, width: 1 }, font: '11px system-ui, sans-serif' };
    return {
        width, height: 140,
        cursor: { drag: { x: true, y: false, setScale: false } },
        scales: { x: { range: [from / 1000, until / 1000] }, y: { range: (_u, _min, max) => [0, max > 0 ? max * 1.05 : 1] } },
        axes: [{ ...axis, size: 28, values: (_u, ticks) => ticks.map((t) => tickText(t * 1000, until - from)) }, { ...axis, size: 72, values: (_u, ticks) => ticks.map((t) => formatValue(t, series.unit)) }],
        series: [{ value: (_u, v) => (v ? showTime(v * 1000) : '–') }, ...seriesOptions(series, theme)],
        hooks: {
            setSelect: [(u) => {
                if (u.select.width < 4) return;
                onSelect(u.posToVal(u.select.left, 'x') * 1000, u.posToVal(u.select.left + u.select.width, 'x') * 1000);
            }],
        },
    };
}

export function SeriesChart(props: ChartProps) {
    const { series, from, until } = props;
    const theme = useTheme();
    const [box, width] = useWidth<HTMLDivElement>();
    const select = useRef(props.onSelect);
    select.current = props.onSelect;
    useEffect(() => {
        if (width === 0) return;
        const opts = options({ ...props, onSelect: (a, b) => select.current(a, b) }, theme, width);
        const chart = new uPlot(opts, alignSeries(series.groups) as uPlot.AlignedData, box.current!);
        return () => chart.destroy();
    }, [series, from, until, theme, width]);
    return <div ref={box} class="chart" role="img" aria-label={`Values over time, ${series.groups.length === 1 ? 'one line' : series.groups.length + ' lines'}. Drag to choose a range.`} />;
}
