// SPDX-License-Identifier: Apache-2.0
// Points in time as the API takes them (RFC 3339, Unix in s/ms/us/ns, now-15m) and as people read them. Unit inside: milliseconds.

const UNITS: Record<string, number> = { s: 1e3, m: 60e3, h: 3600e3, d: 86400e3, w: 7 * 86400e3 };

export const PRESETS: { from: string; label: string }[] = [
    { from: 'now-15m', label: 'Last 15 minutes' },
    { from: 'now-1h', label: 'Last hour' },
    { from: 'now-6h', label: 'Last 6 hours' },
    { from: 'now-24h', label: 'Last 24 hours' },
    { from: 'now-7d', label: 'Last 7 days' },
    { from: 'now-30d', label: 'Last 30 days' },
];
export const DEFAULT_FROM = 'now-1h';
export const DEFAULT_UNTIL = 'now';

function relative(text: string, now: number): number | null {
    const m = /^now(?:-(\d+)(ms|s|m|h|d|w))?$/.exec(text);
    if (!m) return null;
    return m[1] === undefined ? now : now - Number(m[1]) * (m[2] === 'ms' ? 1 : UNITS[m[2]!]!);
}

function unix(text: string): number | null {
    if (!/^\d{1,19}$/.test(text)) return null;
    const n = Number(text);
    return text.length <= 11 ? n * 1e3 : text.length <= 14 ? n : text.length <= 17 ? n / 1e3 : n / 1e6;
}

/** Milliseconds since 1970, or null where the text is not a time. */
export function parseTime(text: string | number, now: number): number | null {
    const t = String(text).trim();
    const known = relative(t, now) ?? unix(t);
    if (known !== null) return known;
    if (!/^\d{4}-\d\d-\d\d/.test(t)) return null;
    const ms = Date.parse(t.replace(/(\.\d{3})\d+/, '$1').replace(' ', 'T'));
    return Number.isNaN(ms) ? null : ms;
}

export function isRelative(text: string): boolean {
    return text.startsWith('now');
}

function pad(n: number, width = 2): string {
    return String(n).padStart(width, '0');
}

/** Local time, for the eye: 2026-11-30 15:04:05.250; the milliseconds only where there are any and they are wanted. */
export function showTime(ms: number, millis = false): string {
    const d = new Date(ms);
    const day = `${d.getFullYear()}-${pad(d.getMonth() + 1)}-${pad(d.getDate())}`;
    const time = `${pad(d.getHours())}:${pad(d.getMinutes())}:${pad(d.getSeconds())}`;
    return `${day} ${time}${millis ? '.' + pad(d.getMilliseconds(), 3) : ''}`;
}

/** For URLs: UTC, RFC 3339, whole seconds where they are whole. */
export function urlTime(ms: number): string {
    return new Date(Math.round(ms)).toISOString().replace('.000Z', 'Z');
}

const STEPS: [number, string][] = [[86400e3, 'd'], [3600e3, 'h'], [60e3, 'min'], [1e3, 's']];

export function ago(ms: number, now: number): string {
    const diff = now - ms;
    for (const [size, name] of STEPS) if (Math.abs(diff) >= size) return diff > 0 ? `${Math.floor(diff / size)} ${name} ago` : `in ${Math.floor(-diff / size)} ${name}`;
    return 'just now';
}

export function rangeLabel(from: string, until: string, now: number): string {
    const preset = until === DEFAULT_UNTIL ? PRESETS.find((p) => p.from === from) : undefined;
    if (preset) return preset.label;
    const show = (t: string): string => {
        if (isRelative(t)) return t;
        const ms = parseTime(t, now);
        return ms === null ? t : showTime(ms);
    };
    return `${show(from)} – ${show(until)}`;
}
