// SPDX-License-Identifier: Apache-2.0
// In what a diff compares: shares of each side's total, or plain sums; and how such numbers read.

import { formatShare, formatValue, signed } from '../base/format';

export type Mode = 'share' | 'absolute';

export const MODES: { mode: Mode; label: string; title: string }[] = [
    { mode: 'share', label: 'Share of total', title: 'Each side in shares of its own total: sides of different length or load compare' },
    { mode: 'absolute', label: 'Absolute', title: 'Plain sums as uploaded: only for sides of the same length and load' },
];

export function readMode(params: URLSearchParams): Mode {
    return params.get('mode') === 'absolute' ? 'absolute' : 'share';
}

/** A number in the mode's unit. */
export function formatInMode(v: number, mode: string, unit: string): string {
    return mode === 'share' ? formatShare(v) : formatValue(v, unit);
}

/** What would print as "less than 0.01": a sign in front of that says nothing. */
function tiny(share: number): boolean {
    return Math.abs(share) < 0.0001;
}

/** The same with a sign. Shares differ by percentage points, which are not per cent of anything. */
export function formatDelta(v: number, mode: string, unit: string): string {
    if (mode !== 'share') return signed(v, (x) => formatValue(x, unit));
    return tiny(v) ? '±0 pp' : signed(v, (x) => formatShare(x).replace(' %', ' pp'));
}

export function formatRelative(left: number, right: number): string {
    if (left === 0) return right === 0 ? '' : 'new';
    if (right === 0) return 'gone';
    const r = right / left - 1;
    if (r >= 9.995) return '×' + (right / left).toFixed(right / left >= 100 ? 0 : 1);
    return tiny(r) ? '±0 %' : signed(r, formatShare);
}
