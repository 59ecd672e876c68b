// SPDX-License-Identifier: Apache-2.0
// What happened when: lanes of threads over time, where the samples carry their own. The one view in which left comes before right.

import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import { apiUrl, useApi } from '../base/api';
import { formatNs, plural } from '../base/format';
import { useWidth } from '../base/hooks';
import { useTheme } from '../base/theme';
import { parseTime } from '../base/time';
import type { Lane, Timeline } from '../base/types';
import { setParams } from '../base/url';
import { PALETTES, packageColors } from '../flame/colors';
import { matcher } from '../flame/search';
import { CompletenessLine } from '../parts/completeness';
import { Async, Empty } from '../parts/states';
import { drawLane, laneDepth, SPAN_ROW, spanAt, ticks, usualLeaf, type LaneScene } from '../time/lanes';
import type { TabProps } from './flametab';

const MIN_DRAG = 4; // pixels

/** RFC 3339 with nanoseconds, from the start of a timeline and an offset: JavaScript's own dates stop at milliseconds. */
export function timeAt(begin: string, offsetNs: number): string {
    const m = /^(.*\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?Z$/.exec(begin);
    if (!m) return begin;
    const ns = Number((m[2] ?? '').padEnd(9, '0')) + Math.round(offsetNs);
    const seconds = Math.floor(ns / 1e9);
    const whole = new Date((parseTime(m[1] + 'Z', 0) ?? 0) + seconds * 1000).toISOString().slice(0, 19);
    return `${whole}.${String(ns - seconds * 1e9).padStart(9, '0')}Z`;
}

interface Pointed {
    lane: number;
    span: number;
    x: number;
    y: number;
}

function LaneCanvas({ scene, label, onMove, onLeave, onClick }: { scene: LaneScene; label: string; onMove: (e: MouseEvent) => void; onLeave: () => void; onClick: (e: MouseEvent) => void }) {
    const ref = useRef<HTMLCanvasElement>(null);
    useLayoutEffect(() => {
        const canvas = ref.current!;
        const ratio = devicePixelRatio || 1;
        const [w, h] = [Math.round(scene.width * ratio), Math.round(scene.height * ratio)];
        if (canvas.width !== w || canvas.height !== h) Object.assign(canvas, { width: w, height: h });
        const ctx = canvas.getContext('2d');
        if (ctx) drawLane(ctx, scene, ratio);
    });
    return <canvas ref={ref} role="img" aria-label={label} style={{ width: scene.width + 'px', height: scene.height + 'px' }} onMouseMove={onMove} onMouseLeave={onLeave} onClick={onClick} />;
}

function Axis({ data, width }: { data: Timeline; width: number }) {
    const range = data.step_ns * data.width;
    return (
        <div class="time-axis" aria-hidden="true">
            {ticks(range, width).map((at) => <span key={at} style={{ left: (at / range) * width + 'px' }}>+{formatNs(at)}</span>)}
        </div>
    );
}

function laneTitle(lane: Lane, several: boolean): string {
    const labels = Object.entries(lane.labels).filter(([k]) => !k.startsWith('__') && k !== 'service_name').map(([k, v]) => `${k}=${v}`).join(' ');
    const thread = lane.thread || '(no thread named)';
    return several && labels ? `${thread} · ${labels}` : thread;
}

/** Zooms the window of the timeline: factor below 1 goes in, around the middle; shift moves by parts of it. */
function zoomed(data: Timeline, factor: number, shift: number) {
    const range = data.step_ns * data.width;
    const middle = range / 2 + shift * range;
    return { begin: timeAt(data.begin, middle - (range * factor) / 2), end: timeAt(data.begin, middle + (range * factor) / 2) };
}

function Lanes({ data, params, width }: { data: Timeline; params: URLSearchParams; width: number }) {
    const palette = PALETTES[useTheme()];
    const color = useMemo(() => packageColors(data.names), [data]);
    const hits = useMemo(() => matcher(params.get('s') ?? ''), [params]);
    const [pointed, setPointed] = useState<Pointed | null>(null);
    const [drag, setDrag] = useState<{ from: number; to: number } | null>(null);
    const several = new Set(data.lanes.map((l) => JSON.stringify(l.labels))).size > 1;
    const leaves = useMemo(() => data.lanes.map(usualLeaf), [data]);
    useEffect(() => setPointed(null), [data]);
    const column = (e: MouseEvent, el: Element): number => Math.floor(((e.clientX - el.getBoundingClientRect().left) / width) * data.width);
    const move = (index: number) => (e: MouseEvent): void => {
        const canvas = e.currentTarget as HTMLCanvasElement;
        const depth = Math.floor((e.clientY - canvas.getBoundingClientRect().top) / SPAN_ROW);
        const span = spanAt(data.lanes[index]!, column(e, canvas), depth);
        setPointed(span < 0 ? null : { lane: index, span, x: e.clientX, y: e.clientY });
    };
    const onKeyDown = (e: KeyboardEvent): void => {
        const step = ({ '+': [0.5, 0], '=': [0.5, 0], '-': [2, 0], ArrowLeft: [1, -0.25], ArrowRight: [1, 0.25] } as Record<string, [number, number]>)[e.key];
        if (!step) return;
        e.preventDefault();
        setParams(zoomed(data, ...step), true);
    };
    const boxOf = (e: PointerEvent): number => e.clientX - (e.currentTarget as Element).getBoundingClientRect().left;
    const endDrag = (): void => {
        if (drag && Math.abs(drag.to - drag.from) >= MIN_DRAG) {
            const [a, b] = [Math.min(drag.from, drag.to), Math.max(drag.from, drag.to)].map((x) => (x / width) * data.step_ns * data.width) as [number, number];
            setParams({ begin: timeAt(data.begin, a), end: timeAt(data.begin, b) });
        }
        setDrag(null);
    };
    const shown = pointed && data.lanes[pointed.lane];
    const span = shown ? shown.spans : null;
    const lasts = span ? (span.end[pointed!.span]! - span.begin[pointed!.span]!) * data.step_ns : 0;
    return (
        <div class="lanes" tabIndex={0} role="group" aria-label="Timeline. Plus and minus zoom, left and right move, drag over it to choose a window." onKeyDown={onKeyDown}
            onPointerDown={(e) => e.button === 0 && setDrag({ from: boxOf(e), to: boxOf(e) })} onPointerMove={(e) => drag && setDrag({ ...drag, to: boxOf(e) })} onPointerUp={endDrag} onPointerLeave={() => setDrag(null)}>
            <Axis data={data} width={width} />
            {data.lanes.map((lane, i) => {
                const leaf = leaves[i]!;
                const title = laneTitle(lane, several);
                return (
                    <div class="lane" key={i}>
                        <div class="lane-title"><strong>{title}</strong> <span class="pkg">{plural(lane.samples, 'sample')}</span></div>
                        <LaneCanvas scene={{ lane, names: data.names, color, palette, hits, columns: data.width, width, height: (laneDepth(lane) + 1) * SPAN_ROW, hover: pointed?.lane === i ? pointed.span : -1 }}
                            label={`${title}: ${plural(lane.samples, 'sample')}${leaf < 0 ? '' : `, mostly in ${data.names[leaf]}`}`}
                            onMove={move(i)} onLeave={() => setPointed(null)}
                            onClick={() => pointed && !(drag && Math.abs(drag.to - drag.from) >= MIN_DRAG) && setParams({ tab: 'sandwich', function: data.names[span!.name[pointed.span]!]! })} />
                    </div>
                );
            })}
            {drag && Math.abs(drag.to - drag.from) >= MIN_DRAG && <div class="lane-drag" style={{ left: Math.min(drag.from, drag.to) + 'px', width: Math.abs(drag.to - drag.from) + 'px' }} />}
            {shown && span && (
                <div class="tooltip floating" aria-hidden="true" style={{ left: Math.min(pointed!.x + 14, innerWidth - 380) + 'px', top: pointed!.y + 18 + 'px' }}>
                    <strong>{data.names[span.name[pointed!.span]!]}</strong>
                    <dl>
                        <div><dt>from</dt><dd>+{formatNs(span.begin[pointed!.span]! * data.step_ns)}</dd></div>
                        <div><dt>lasts about</dt><dd>{formatNs(lasts)}</dd></div>
                    </dl>
                    <div class="pkg">Click: callers and callees</div>
                </div>
            )}
        </div>
    );
}

function Buttons({ data, params }: { data: Timeline; params: URLSearchParams }) {
    const windowed = params.has('begin') || params.has('end');
    return (
        <div class="toolbar">
            <span class="pkg">{data.begin.replace('T', ' ')} · {formatNs(data.step_ns * data.width)} · one column is {formatNs(data.step_ns)}</span>
            <span class="spring" />
            <button type="button" title="Key +" onClick={() => setParams(zoomed(data, 0.5, 0))}>Zoom in</button>
            <button type="button" title="Key -" onClick={() => setParams(zoomed(data, 2, 0))}>Zoom out</button>
            <button type="button" disabled={!windowed} onClick={() => setParams({ begin: null, end: null })}>Whole</button>
        </div>
    );
}

function Notes({ data }: { data: Timeline }) {
    return (
        <p class="note">
            Spans are made of {plural(data.samples, 'sample')}: between two of them nothing is known. A thread is looked at every {formatNs(data.period_ns)}{data.period_known ? '' : ' (the usual distance; the source does not say)'}, longer gaps are left empty.{' '}
            {data.lanes_left_out > 0 && <>{plural(data.lanes_left_out, 'quieter thread')} not drawn. <button type="button" class="link" onClick={() => setParams({ lanes: String(Math.min(data.lanes.length + data.lanes_left_out, 500)) })}>Draw them</button></>}
        </p>
    );
}

export function TimeTab({ params, source, tick }: TabProps) {
    const [ref, width] = useWidth<HTMLDivElement>();
    const columns = width ? String(Math.max(Math.round(width), 100)) : null;
    const url = columns ? apiUrl('timeline', source, { begin: params.get('begin'), end: params.get('end'), lanes: params.get('lanes'), width: columns }) : null;
    const answer = useApi<Timeline>(url, tick);
    return (
        <div ref={ref}>
            <Async answer={answer} what="the timeline">
                {(data) => (
                    <>
                        <Buttons data={data} params={params} />
                        {data.lanes.length === 0
                            ? <Empty title="No sample in this window">Zoom out, or show the whole with the button above.</Empty>
                            : <Lanes data={data} params={params} width={Math.max(width, 100)} />}
                        <Notes data={data} />
                        <CompletenessLine value={data.completeness} />
                    </>
                )}
            </Async>
        </div>
    );
}
