// SPDX-License-Identifier: Apache-2.0
// Geometry of the heatmap: pixels to times and values and back, ticks, and painting.

import { formatValue } from '../base/format';
import { parseTime } from '../base/time';
import type { Theme } from '../base/theme';
import type { Heatmap } from '../base/types';
import { countColor } from './viridis';

export const LEFT = 72;
export const BOTTOM = 20;
export const TOP = 4;

export interface Grid {
    heatmap: Heatmap;
    width: number;
    height: number;
    /** Milliseconds at the left and right edge; value at the lower and upper edge. */
    from: number;
    until: number;
    low: number;
    high: number;
}

export function makeGrid(h: Heatmap, from: number, until: number, width: number, height: number): Grid {
    const rows = h.counts.reduce((m, c) => Math.max(m, c[1] + 1), 1);
    return { heatmap: h, width, height, from, until, low: h.y_min, high: h.y_min + rows * h.y_step };
}

const plotWidth = (g: Grid): number => Math.max(g.width - LEFT, 1);
const plotHeight = (g: Grid): number => Math.max(g.height - BOTTOM - TOP, 1);

export function xOf(g: Grid, ms: number): number {
    return LEFT + ((ms - g.from) / (g.until - g.from)) * plotWidth(g);
}

export function yOf(g: Grid, value: number): number {
    return TOP + plotHeight(g) * (1 - (value - g.low) / (g.high - g.low || 1));
}

export function timeAt(g: Grid, x: number): number {
    return g.from + ((Math.min(Math.max(x, LEFT), g.width) - LEFT) / plotWidth(g)) * (g.until - g.from);
}

export function valueAt(g: Grid, y: number): number {
    const share = 1 - (Math.min(Math.max(y, TOP), TOP + plotHeight(g)) - TOP) / plotHeight(g);
    return g.low + share * (g.high - g.low);
}

export interface Cell {
    count: number;
    from: number;
    until: number;
    low: number;
    high: number;
}

export function cellOf(g: Grid, [x, y, count]: [number, number, number]): Cell {
    const h = g.heatmap;
    const start = parseTime(h.x_start, 0) ?? g.from;
    const step = h.x_step_ns / 1e6;
    return { count, from: start + x * step, until: start + (x + 1) * step, low: h.y_min + y * h.y_step, high: h.y_min + (y + 1) * h.y_step };
}

export function cellAt(g: Grid, px: number, py: number): Cell | null {
    if (px < LEFT) return null;
    const [t, v] = [timeAt(g, px), valueAt(g, py)];
    for (const c of g.heatmap.counts) {
        const cell = cellOf(g, c);
        if (t >= cell.from && t < cell.until && v >= cell.low && v < cell.high) return cell;
    }
    return null;
}

const TIME_STEPS = [1, 5, 10, 30, 60, 300, 600, 1800, 3600, 7200, 10800, 21600, 43200, 86400, 172800, 604800].map((s) => s * 1e3);

/** Round local times, few enough for their labels to stand apart. */
export function timeTicks(from: number, until: number, most: number): number[] {
    const week = TIME_STEPS[TIME_STEPS.length - 1]!;
    const step = TIME_STEPS.find((s) => (until - from) / s <= most) ?? Math.ceil((until - from) / most / week) * week;
    const zone = new Date(from).getTimezoneOffset() * 60e3;
    const out: number[] = [];
    for (let t = Math.ceil((from - zone) / step) * step + zone; t <= until; t += step) out.push(t);
    return out;
}

export function tickText(ms: number, range: number): string {
    const d = new Date(ms);
    const time = d.toLocaleTimeString('sv', range < 600e3 ? {} : { hour: '2-digit', minute: '2-digit' });
    const date = `${d.getMonth() + 1}-${String(d.getDate()).padStart(2, '0')}`;
    if (range > 300 * 86400e3) return `${d.getFullYear()}-${date}`;
    return range > 2 * 86400e3 ? date + (range > 8 * 86400e3 ? '' : ' ' + time) : time;
}

function drawAxes(ctx: CanvasRenderingContext2D, g: Grid, colors: { text: string; grid: string }): void {
    ctx.font = '11px system-ui, sans-serif';
    ctx.fillStyle = colors.text;
    ctx.strokeStyle = colors.grid;
    ctx.lineWidth = 1;
    ctx.textAlign = 'right';
    ctx.textBaseline = 'middle';
    for (const share of [0, 0.5, 1]) {
        const value = g.low + share * (g.high - g.low);
        const y = Math.round(yOf(g, value)) + 0.5;
        ctx.fillText(formatValue(value, g.heatmap.unit), LEFT - 6, Math.min(Math.max(y, TOP + 5), g.height - BOTTOM - 4));
        ctx.strokeRect(LEFT, y, plotWidth(g), 0);
    }
    ctx.textAlign = 'center';
    for (const t of timeTicks(g.from, g.until, plotWidth(g) / 90)) {
        const x = Math.round(xOf(g, t)) + 0.5;
        ctx.strokeRect(x, TOP, 0, plotHeight(g));
        if (x > LEFT + 16 && x < g.width - 20) ctx.fillText(tickText(t, g.until - g.from), x, g.height - BOTTOM / 2 + 2);
    }
}

export function drawGrid(ctx: CanvasRenderingContext2D, g: Grid, theme: Theme, colors: { text: string; grid: string }, ratio: number): void {
    ctx.setTransform(ratio, 0, 0, ratio, 0, 0);
    ctx.clearRect(0, 0, g.width, g.height);
    drawAxes(ctx, g, colors);
    ctx.save();
    ctx.beginPath();
    ctx.rect(LEFT, TOP, plotWidth(g), plotHeight(g));
    ctx.clip();
    for (const c of g.heatmap.counts) {
        const cell = cellOf(g, c);
        const [x0, x1, y0, y1] = [xOf(g, cell.from), xOf(g, cell.until), yOf(g, cell.high), yOf(g, cell.low)];
        ctx.fillStyle = countColor(cell.count, g.heatmap.max, theme === 'light');
        ctx.fillRect(x0, y0, Math.max(x1 - x0 - 0.5, 1.5), Math.max(y1 - y0 - 0.5, 1.5));
    }
    ctx.restore();
}
