// SPDX-License-Identifier: Apache-2.0
// The flame graph as a control: canvas, mouse, keyboard, tooltip, menu and the spoken line. What the bars mean comes from outside.

import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { ComponentChildren } from 'preact';
import { copyText } from '../base/clipboard';
import { useWidth } from '../base/hooks';
import { useTheme } from '../base/theme';
import { Menu } from '../parts/menu';
import { PALETTES, type Palette } from './colors';
import { drawScene, ROW, rowTop, viewHeight, type OneSide, type Scene } from './draw';
import { flameKey, type FlameCommand } from './keys';
import { nodeAt, nodeName, step, type Tree } from './model';
import type { Hits } from './search';

export interface FlameProps {
    tree: Tree;
    label: string;
    zoom: number;
    onZoom: (node: number) => void;
    hits: Hits | null;
    /** Which palette column and which index for each node. */
    color: Uint8Array;
    colors: (p: Palette) => string[];
    onlyOne?: OneSide;
    flip?: boolean;
    tooltip: (node: number) => ComponentChildren;
    /** One line for the screen reader. */
    spoken: (node: number) => string;
    /** Entries of the menu on a bar, beside zoom and copy. */
    actions: (name: string) => { label: string; hint?: string; run: () => void }[];
    /** Rows seen at once before the graph scrolls; what fits the window where absent. */
    maxRows?: number;
}

interface Point {
    x: number;
    y: number;
    node: number;
}

function paint(canvas: HTMLCanvasElement, scene: Scene): void {
    const ratio = devicePixelRatio || 1;
    const [w, h] = [Math.round(scene.width * ratio), Math.round(scene.height * ratio)];
    if (canvas.width !== w || canvas.height !== h) {
        canvas.width = w;
        canvas.height = h;
        canvas.style.width = scene.width + 'px';
        canvas.style.height = scene.height + 'px';
    }
    const ctx = canvas.getContext('2d');
    if (ctx) drawScene(ctx, scene, ratio);
}

function hitTest(scene: Scene, canvas: HTMLCanvasElement, e: MouseEvent): number {
    const box = canvas.getBoundingClientRect();
    const row = Math.floor((e.clientY - box.top + scene.scroll) / ROW);
    const depth = scene.flip ? scene.tree.maxDepth - row : row;
    const { tree, zoom } = scene;
    const x = tree.x[zoom]! + ((e.clientX - box.left) / scene.width) * tree.width[zoom]!;
    return nodeAt(tree, x, depth);
}

function Tooltip({ at, children }: { at: Point; children: ComponentChildren }) {
    const ref = useRef<HTMLDivElement>(null);
    useLayoutEffect(() => {
        const el = ref.current!;
        const left = at.x + 14 + el.offsetWidth > innerWidth ? at.x - el.offsetWidth - 10 : at.x + 14;
        const top = at.y + 18 + el.offsetHeight > innerHeight ? at.y - el.offsetHeight - 12 : at.y + 18;
        el.style.left = Math.max(left, 4) + 'px';
        el.style.top = Math.max(top, 4) + 'px';
    });
    return <div ref={ref} class="tooltip floating" aria-hidden="true">{children}</div>;
}

/** What a key does to selection and zoom; true when it was one of ours. */
function useCommands(p: FlameProps, selected: number, select: (node: number) => void, openMenu: (node: number) => void) {
    return (c: FlameCommand): void => {
        const node = selected < 0 ? p.zoom : selected;
        if (c === 'parent' || c === 'child' || c === 'left' || c === 'right') return select(selected < 0 ? p.zoom : step(p.tree, node, c));
        if (c === 'zoom') return p.onZoom(node);
        if (c === 'out') return p.onZoom(Math.max(p.tree.parent[p.zoom]!, 0));
        if (c === 'reset') return p.onZoom(0);
        if (c === 'copy') return void copyText(nodeName(p.tree, node));
        if (c === 'menu') return openMenu(node);
        if (c === 'sandwich') return p.actions(nodeName(p.tree, node)).find((a) => a.hint === 's')?.run();
        const list = p.hits?.nodes ?? [];
        if (list.length === 0) return undefined;
        const at = list.indexOf(node) + (c === 'next' ? 1 : -1);
        const to = list[(at + list.length) % list.length]!;
        select(to);
        p.onZoom(to);
    };
}

function menuItems(p: FlameProps, node: number) {
    const name = nodeName(p.tree, node);
    return [
        { label: 'Zoom to this', hint: 'Enter', run: () => p.onZoom(node) },
        ...(p.zoom > 0 ? [{ label: 'Reset zoom', hint: 'Esc', run: () => p.onZoom(0) }] : []),
        ...p.actions(name),
        { label: 'Copy name', hint: 'c', run: () => void copyText(name) },
    ];
}

export function FlameView(p: FlameProps) {
    const palette = PALETTES[useTheme()];
    const [wrap, width] = useWidth<HTMLDivElement>();
    const canvas = useRef<HTMLCanvasElement>(null);
    const [scroll, setScroll] = useState(0);
    const [pointed, setHover] = useState<Point | null>(null);
    const [chosen, setSelected] = useState(-1);
    const [opened, setMenu] = useState<Point | null>(null);
    // Node numbers of the tree before may lie outside of this one until the effects below have run.
    const inTree = (at: Point | null): Point | null => (at && at.node < p.tree.count ? at : null);
    const [hover, menu, selected] = [inTree(pointed), inTree(opened), chosen < p.tree.count ? chosen : -1];
    const full = viewHeight(p.tree);
    const height = Math.min(full, (p.maxRows ?? Math.max(30, Math.floor((innerHeight - 180) / ROW))) * ROW);
    const scene: Scene = {
        tree: p.tree, zoom: p.zoom, colors: p.colors(palette), color: p.color, palette, hits: p.hits?.names ?? null, onlyOne: p.onlyOne ?? null,
        selected, hover: hover?.node ?? -1, flip: p.flip ?? false, width, height, scroll: Math.min(scroll, full - height),
    };
    useEffect(() => { setSelected(-1); setHover(null); setMenu(null); }, [p.tree]);
    useEffect(() => { if (p.flip && wrap.current) wrap.current.scrollTop = full; }, [p.tree, p.flip]);
    useLayoutEffect(() => { if (width > 0) paint(canvas.current!, scene); });
    const select = (node: number): void => {
        setSelected(node);
        const y = rowTop({ ...scene, scroll: 0 }, p.tree.depth[node]!);
        const el = wrap.current!;
        if (y < el.scrollTop || y + ROW > el.scrollTop + height) el.scrollTop = y - height / 2;
    };
    const openMenu = (node: number): void => {
        const box = canvas.current!.getBoundingClientRect();
        setMenu({ node, x: box.left + 40, y: box.top + Math.max(rowTop(scene, p.tree.depth[node]!), 0) + ROW });
    };
    const command = useCommands(p, selected, select, openMenu);
    const onKeyDown = (e: KeyboardEvent): void => {
        const c = flameKey(e, p.flip ?? false);
        if (!c || (c === 'reset' && p.zoom === 0)) return;
        e.preventDefault();
        e.stopPropagation();
        command(c);
    };
    const onMove = (e: MouseEvent): void => {
        const node = hitTest(scene, canvas.current!, e);
        setHover(node < 0 ? null : { node, x: e.clientX, y: e.clientY });
    };
    const onClick = (e: MouseEvent): void => {
        const node = hitTest(scene, canvas.current!, e);
        if (node < 0) return;
        setSelected(node);
        p.onZoom(node);
    };
    const onContext = (e: MouseEvent): void => {
        const node = hitTest(scene, canvas.current!, e);
        if (node < 0) return;
        e.preventDefault();
        setHover(null);
        setMenu({ node, x: e.clientX, y: e.clientY });
    };
    const spoken = useMemo(() => (selected < 0 ? '' : p.spoken(selected)), [selected, p.tree]);
    return (
        <div class="flame">
            <div ref={wrap} class="flame-scroll" tabIndex={0} role="application" aria-roledescription="flame graph" aria-label={p.label}
                onKeyDown={onKeyDown} onScroll={() => setScroll(wrap.current!.scrollTop)} onMouseLeave={() => setHover(null)} style={{ height: height + 'px' }}>
                <div style={{ height: full + 'px' }}>
                    <canvas ref={canvas} class="flame-canvas" aria-hidden="true" onMouseMove={onMove} onClick={onClick} onContextMenu={onContext} />
                </div>
            </div>
            <div class="sr" aria-live="polite">{spoken}</div>
            {hover && !menu && <Tooltip at={hover}>{p.tooltip(hover.node)}</Tooltip>}
            {menu && <Menu x={menu.x} y={menu.y} label={nodeName(p.tree, menu.node)} items={menuItems(p, menu.node)} onClose={() => { setMenu(null); wrap.current?.focus(); }} />}
        </div>
    );
}
