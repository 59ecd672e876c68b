// SPDX-License-Identifier: Apache-2.0
// Lanes of spans: how high a lane is, which span lies under the pointer, and its picture. Left to right is time here, and only here.

import type { Lane } from '../base/types';
import { fitName } from '../flame/names';
import type { Palette } from '../flame/colors';

export const SPAN_ROW = 15;
const FONT = '11px system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif';

export function laneDepth(lane: Lane): number {
    return lane.spans.depth.reduce((most, d) => Math.max(most, d), 0);
}

/** Index of the span at this column and depth, or -1. */
export function spanAt(lane: Lane, column: number, depth: number): number {
    const { begin, end, depth: depths } = lane.spans;
    for (let i = 0; i < begin.length && begin[i]! <= column; i++)
        if (depths[i] === depth && column < end[i]!) return i;
    return -1;
}

/** The function that a lane shows most of at its leaves, for people who listen. */
export function usualLeaf(lane: Lane): number {
    const { begin, end, depth, name } = lane.spans;
    const weight = new Map<number, number>();
    for (let i = 0; i < begin.length; i++) {
        let covered = 0;
        for (let k = i + 1; k < begin.length && begin[k]! < end[i]!; k++)
            if (depth[k] === depth[i]! + 1) covered += Math.min(end[k]!, end[i]!) - begin[k]!;
        weight.set(name[i]!, (weight.get(name[i]!) ?? 0) + end[i]! - begin[i]! - covered);
    }
    let best = -1;
    for (const [n, w] of weight) if (best < 0 || w > weight.get(best)!) best = n;
    return best;
}

export interface LaneScene {
    lane: Lane;
    names: string[];
    color: Uint8Array;
    palette: Palette;
    hits: ((name: string) => boolean) | null;
    columns: number;
    width: number;
    height: number;
    hover: number;
}

function fillOf(s: LaneScene, name: number): string {
    if (s.hits) return s.hits(s.names[name]!) ? s.palette.hit : s.palette.faded;
    return s.palette.bars[s.color[name]!]!;
}

export function drawLane(ctx: CanvasRenderingContext2D, s: LaneScene, ratio: number): void {
    const { begin, end, depth, name } = s.lane.spans;
    const scale = s.width / s.columns;
    ctx.setTransform(ratio, 0, 0, ratio, 0, 0);
    ctx.clearRect(0, 0, s.width, s.height);
    ctx.font = FONT;
    ctx.textBaseline = 'middle';
    for (let i = 0; i < begin.length; i++) {
        const [x, y] = [begin[i]! * scale, depth[i]! * SPAN_ROW];
        const w = Math.max((end[i]! - begin[i]!) * scale, 0.7);
        ctx.fillStyle = fillOf(s, name[i]!);
        ctx.fillRect(x, y, w > 3 ? w - 1 : w, SPAN_ROW - 1);
        if (i === s.hover) {
            ctx.strokeStyle = s.palette.focus;
            ctx.strokeRect(x + 0.5, y + 0.5, Math.max(w - 1, 1), SPAN_ROW - 2);
        }
        if (w < 26) continue;
        const text = fitName(s.names[name[i]!]!, w - 8, (t) => ctx.measureText(t).width);
        ctx.fillStyle = s.hits && !s.hits(s.names[name[i]!]!) ? s.palette.fadedText : s.palette.text;
        if (text) ctx.fillText(text, x + 4, y + SPAN_ROW / 2);
    }
}

/** Marks of the axis in nanoseconds from the start of the window: round numbers, about one each 120 pixels. */
export function ticks(rangeNs: number, width: number): number[] {
    const wanted = rangeNs / Math.max(width / 120, 1);
    const power = 10 ** Math.floor(Math.log10(Math.max(wanted, 1)));
    const step = [1, 2, 5, 10].map((m) => m * power).find((s) => s >= wanted)!;
    const marks: number[] = [];
    for (let at = 0; at <= rangeNs; at += step) marks.push(at);
    return marks;
}
