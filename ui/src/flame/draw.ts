// SPDX-License-Identifier: Apache-2.0
// Paints a tree on a canvas the size of what is seen. Bars of one colour are filled as one path; subtrees outside the view or
// narrower than a pixel are skipped whole, so a million nodes cost what is visible of them.

import type { Palette } from './colors';
import type { Tree } from './model';
import { fitName } from './names';

export const ROW = 20;
const FONT = '12px system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif';
const MIN_BAR = 0.6;
const MIN_LABEL = 26;

export interface Scene {
    tree: Tree;
    /** The zoomed node: its bar fills the width, its ancestors are faded. */
    zoom: number;
    /** Colours of the bars, and an index into them for each node. */
    colors: string[];
    color: Uint8Array;
    palette: Palette;
    /** 1 for each name that the search hits; null without a search. */
    hits: Uint8Array | null;
    /** For a diff, nodes that only one side has: they get a hatch and a word. */
    onlyOne: OneSide | null;
    selected: number;
    hover: number;
    /** Root at the bottom: callers above the function. */
    flip: boolean;
    width: number;
    height: number;
    scroll: number;
}

/** 0 for a node of both sides, else which word of `words` (counted from 1) belongs to it. */
export interface OneSide {
    side: Uint8Array;
    words: string[];
}

interface Box {
    node: number;
    x: number;
    y: number;
    w: number;
}

export function viewHeight(tree: Tree): number {
    return (tree.maxDepth + 1) * ROW;
}

export function rowTop(s: Pick<Scene, 'tree' | 'flip' | 'scroll'>, depth: number): number {
    return (s.flip ? s.tree.maxDepth - depth : depth) * ROW - s.scroll;
}

function visibleBoxes(s: Scene): Box[] {
    const { tree } = s;
    const boxes: Box[] = [];
    const x0 = tree.x[s.zoom]!;
    const scale = s.width / (tree.width[s.zoom]! || 1);
    for (let i = 0; i < tree.count; ) {
        const left = (tree.x[i]! - x0) * scale;
        const w = tree.width[i]! * scale;
        if (left + w <= 0 || left >= s.width || w === 0) {
            i = tree.end[i]!;
            continue;
        }
        const y = rowTop(s, tree.depth[i]!);
        if (y > -ROW && y < s.height) {
            const x = Math.max(left, 0);
            boxes.push({ node: i, x, y, w: Math.max(Math.min(left + w, s.width) - x, MIN_BAR) });
        }
        // Below the picture nothing more can come of this subtree (above it, when flipped).
        const past = s.flip ? y < -ROW : y > s.height;
        i = past || w < MIN_BAR ? tree.end[i]! : i + 1;
    }
    return boxes;
}

function look(s: Scene, node: number): string {
    if (s.hits && !s.hits[s.tree.name[node]!]) return s.palette.faded;
    if (s.hits) return s.palette.hit;
    return s.colors[s.color[node]!]!;
}

function fillBoxes(ctx: CanvasRenderingContext2D, s: Scene, boxes: Box[]): void {
    const paths = new Map<string, Path2D>();
    for (const b of boxes) {
        const faded = s.tree.depth[b.node]! < s.tree.depth[s.zoom]!;
        const color = faded ? s.palette.faded : look(s, b.node);
        let path = paths.get(color);
        if (!path) paths.set(color, (path = new Path2D()));
        // A gap of one pixel keeps neighbours apart, unless the bar is too thin to spare it.
        path.rect(b.x, b.y, b.w > 3 ? b.w - 1 : b.w, ROW - 1);
    }
    for (const [color, path] of paths) {
        ctx.fillStyle = color;
        ctx.fill(path);
    }
}

function hatchBoxes(ctx: CanvasRenderingContext2D, s: Scene, boxes: Box[]): void {
    ctx.save();
    const clip = new Path2D();
    for (const b of boxes) if (s.onlyOne!.side[b.node] && b.w > 2) clip.rect(b.x, b.y, b.w - 1, ROW - 1);
    ctx.clip(clip);
    ctx.beginPath();
    for (let x = -s.height; x < s.width; x += 6) {
        ctx.moveTo(x, s.height);
        ctx.lineTo(x + s.height, 0);
    }
    ctx.strokeStyle = s.palette.text + '38';
    ctx.lineWidth = 1.5;
    ctx.stroke();
    ctx.restore();
}

const widths = new Map<string, number>();

function measureWith(ctx: CanvasRenderingContext2D): (text: string) => number {
    return (text) => {
        let w = widths.get(text);
        if (w === undefined) {
            if (widths.size > 50000) widths.clear();
            widths.set(text, (w = ctx.measureText(text).width));
        }
        return w;
    };
}

function labelText(s: Scene, b: Box, name: string, measure: (text: string) => number): string {
    const side = s.onlyOne?.side[b.node] ?? 0;
    const word = side > 0 ? ` (${s.onlyOne!.words[side - 1]})` : '';
    const room = b.w - 9 - (word ? measure(word) : 0);
    const text = room > 0 ? fitName(name, room, measure) : '';
    return text === '' ? fitName(name, b.w - 9, measure) : text + word;
}

function labelBoxes(ctx: CanvasRenderingContext2D, s: Scene, boxes: Box[]): void {
    ctx.font = FONT;
    ctx.textBaseline = 'middle';
    const measure = measureWith(ctx);
    for (const b of boxes) {
        if (b.w < MIN_LABEL) continue;
        const name = s.tree.names[s.tree.name[b.node]!]!;
        const text = labelText(s, b, name, measure);
        if (text === '') continue;
        const ancestor = s.tree.depth[b.node]! < s.tree.depth[s.zoom]!;
        const missed = s.hits !== null && !s.hits[s.tree.name[b.node]!];
        ctx.fillStyle = ancestor || missed ? s.palette.fadedText : s.palette.text;
        ctx.fillText(text, b.x + 4, b.y + ROW / 2);
    }
}

function outline(ctx: CanvasRenderingContext2D, s: Scene, boxes: Box[], node: number, line: number): void {
    const b = boxes.find((box) => box.node === node);
    if (!b) return;
    ctx.strokeStyle = s.palette.focus;
    ctx.lineWidth = line;
    ctx.strokeRect(b.x + line / 2, b.y + line / 2, Math.max(b.w - 1 - line, 1), ROW - 1 - line);
}

export function drawScene(ctx: CanvasRenderingContext2D, s: Scene, ratio: number): void {
    ctx.setTransform(ratio, 0, 0, ratio, 0, 0);
    ctx.fillStyle = s.palette.background;
    ctx.fillRect(0, 0, s.width, s.height);
    if (s.tree.count === 0) return;
    const boxes = visibleBoxes(s);
    fillBoxes(ctx, s, boxes);
    if (s.onlyOne) hatchBoxes(ctx, s, boxes);
    labelBoxes(ctx, s, boxes);
    if (s.hover >= 0) outline(ctx, s, boxes, s.hover, 1);
    if (s.selected >= 0) outline(ctx, s, boxes, s.selected, 2);
}
