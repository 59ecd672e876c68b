// SPDX-License-Identifier: Apache-2.0
// The time range: presets, two fields for anything else, and steps to the neighbouring ranges.

import { useState } from 'preact/hooks';
import { DEFAULT_UNTIL, isRelative, parseTime, PRESETS, rangeLabel, showTime, urlTime } from '../base/time';
import { Popover } from './popover';

interface Props {
    from: string;
    until: string;
    onChange: (from: string, until: string) => void;
}

function editable(text: string): string {
    const ms = isRelative(text) ? null : parseTime(text, Date.now());
    return ms === null ? text : showTime(ms);
}

/** What goes into the URL: relative times as typed, all others as UTC. */
function normalized(text: string): string | null {
    const t = text.trim();
    const ms = parseTime(t, Date.now());
    return ms === null ? null : isRelative(t) ? t : urlTime(ms);
}

function Absolute({ from, until, onApply }: { from: string; until: string; onApply: (from: string, until: string) => void }) {
    const [a, setA] = useState(editable(from));
    const [b, setB] = useState(editable(until));
    const [error, setError] = useState('');
    const apply = (e: Event): void => {
        e.preventDefault();
        const [x, y] = [normalized(a), normalized(b)];
        if (x === null || y === null) return setError(`“${x === null ? a : b}” is not a time. Write 2026-11-30 15:04:05 or now-2h.`);
        if (parseTime(x, Date.now())! >= parseTime(y, Date.now())!) return setError('The range ends before it begins.');
        onApply(x, y);
    };
    return (
        <form class="absolute" onSubmit={apply}>
            <label>From <input value={a} onInput={(e) => setA(e.currentTarget.value)} aria-label="From" /></label>
            <label>Until <input value={b} onInput={(e) => setB(e.currentTarget.value)} aria-label="Until" /></label>
            {error && <p class="error" role="alert">{error}</p>}
            <p class="hint">Local time, or relative such as <code>now-2h</code>.</p>
            <button type="submit" class="primary">Apply</button>
        </form>
    );
}

/** The range `by` times its own length away; a whole one when by is ±1, twice as wide around its middle when 0. */
export function movedRange(from: string, until: string, by: number, now: number): [string, string] | null {
    const [a, b] = [parseTime(from, now), parseTime(until, now)];
    if (a === null || b === null) return null;
    const length = b - a;
    return by === 0 ? [urlTime(a - length / 2), urlTime(b + length / 2)] : [urlTime(a + by * length), urlTime(b + by * length)];
}

export function RangePicker({ from, until, onChange }: Props) {
    const move = (by: number): void => {
        const next = movedRange(from, until, by, Date.now());
        if (next) onChange(...next);
    };
    return (
        <div class="range" role="group" aria-label="Time range">
            <button type="button" class="icon" aria-label="The range before" title="The range before" onClick={() => move(-1)}>‹</button>
            <Popover name="Time range" label={rangeLabel(from, until, Date.now())}>
                {(close) => (
                    <div class="range-panel">
                        <div class="presets">
                            {PRESETS.map((p) => (
                                <button key={p.from} type="button" aria-pressed={p.from === from && until === DEFAULT_UNTIL}
                                    onClick={() => { onChange(p.from, DEFAULT_UNTIL); close(); }}>{p.label}</button>
                            ))}
                        </div>
                        <Absolute from={from} until={until} onApply={(a, b) => { onChange(a, b); close(); }} />
                    </div>
                )}
            </Popover>
            <button type="button" class="icon" aria-label="The range after" title="The range after" onClick={() => move(1)}>›</button>
            <button type="button" class="icon" aria-label="Twice the range" title="Twice the range" onClick={() => move(0)}>⤢</button>
        </div>
    );
}
