// SPDX-License-Identifier: Apache-2.0
// The heatmap above the list: each entry by its moment and value. A brush narrows both; the fields under it do the same from the keyboard.

import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { formatValue, plural } from '../base/format';
import { useWidth } from '../base/hooks';
import { useTheme } from '../base/theme';
import { showTime } from '../base/time';
import type { Heatmap } from '../base/types';
import { AXIS } from './axis';
import { cellAt, drawGrid, makeGrid, timeAt, valueAt, type Cell, type Grid } from './heatmapgrid';

const HEIGHT = 170;

export interface Brush {
    from: number;
    until: number;
    low: number;
    high: number;
}

interface Drag {
    x0: number;
    y0: number;
    x1: number;
    y1: number;
}

export function brushed(g: Grid, d: Drag): Brush {
    const [a, b] = [timeAt(g, d.x0), timeAt(g, d.x1)].sort((x, y) => x - y) as [number, number];
    const [low, high] = [valueAt(g, d.y0), valueAt(g, d.y1)].sort((x, y) => x - y) as [number, number];
    return { from: a, until: b, low, high };
}

function paint(canvas: HTMLCanvasElement, g: Grid, theme: 'light' | 'dark'): void {
    const ratio = devicePixelRatio || 1;
    canvas.width = Math.round(g.width * ratio);
    canvas.height = Math.round(g.height * ratio);
    canvas.style.width = g.width + 'px';
    canvas.style.height = g.height + 'px';
    const ctx = canvas.getContext('2d');
    if (ctx) drawGrid(ctx, g, theme, AXIS[theme], ratio);
}

function cellText(c: Cell, unit: string): string {
    return `${plural(c.count, 'profile')} · ${showTime(c.from)} · ${formatValue(c.low, unit)} – ${formatValue(c.high, unit)}`;
}

export function HeatmapView({ heatmap, from, until, onBrush }: { heatmap: Heatmap; from: number; until: number; onBrush: (b: Brush) => void }) {
    const theme = useTheme();
    const [box, width] = useWidth<HTMLDivElement>();
    const canvas = useRef<HTMLCanvasElement>(null);
    const [drag, setDrag] = useState<Drag | null>(null);
    const [cell, setCell] = useState<Cell | null>(null);
    const grid = makeGrid(heatmap, from, until, width, HEIGHT);
    useLayoutEffect(() => { if (width > 0) paint(canvas.current!, grid, theme); }, [heatmap, width, theme, from, until]);
    const place = (e: PointerEvent): [number, number] => {
        const r = canvas.current!.getBoundingClientRect();
        return [e.clientX - r.left, e.clientY - r.top];
    };
    const onDown = (e: PointerEvent): void => {
        const [x, y] = place(e);
        canvas.current!.setPointerCapture(e.pointerId);
        setDrag({ x0: x, y0: y, x1: x, y1: y });
    };
    const onMove = (e: PointerEvent): void => {
        const [x, y] = place(e);
        if (drag) setDrag({ ...drag, x1: x, y1: y });
        else setCell(cellAt(grid, x, y));
    };
    const onUp = (): void => {
        if (drag && Math.abs(drag.x1 - drag.x0) > 3 && Math.abs(drag.y1 - drag.y0) > 3) onBrush(brushed(grid, drag));
        else if (drag) {
            const hit = cellAt(grid, drag.x0, drag.y0);
            if (hit) onBrush(hit);
        }
        setDrag(null);
    };
    const shape = drag && { left: Math.min(drag.x0, drag.x1) + 'px', top: Math.min(drag.y0, drag.y1) + 'px', width: Math.abs(drag.x1 - drag.x0) + 'px', height: Math.abs(drag.y1 - drag.y0) + 'px' };
    return (
        <figure class="heatmap">
            <div ref={box} class="heatmap-box">
                <canvas ref={canvas} role="img" aria-label="Heatmap of the listed profiles, time by value. The list below holds the same."
                    onPointerDown={onDown} onPointerMove={onMove} onPointerUp={onUp} onPointerLeave={() => setCell(null)} />
                {shape && <div class="brush" style={shape} />}
            </div>
            <figcaption>{cell ? cellText(cell, heatmap.unit) : 'Drag a box to see only what is in it; click a cell for its profiles.'}</figcaption>
        </figure>
    );
}
