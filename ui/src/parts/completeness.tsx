// SPDX-License-Identifier: Apache-2.0
// The line under every graph: what it was made from and what is missing in it.

import { formatBytes, formatCount, formatShare, plural } from '../base/format';
import type { Completeness } from '../base/types';

interface Part {
    text: string;
    bad: boolean;
    title: string;
}

export function completenessParts(c: Completeness): Part[] {
    const parts: Part[] = [];
    const add = (text: string, title: string, bad = false): number => parts.push({ text, title, bad });
    if (c.profiles !== undefined) add(plural(c.profiles, 'profile'), 'Profiles this answer was made from');
    if (c.bytes !== undefined) add(`${formatBytes(c.bytes)} read`, 'Stored bytes looked at for this answer');
    if (c.truncated_share) add(`${formatShare(c.truncated_share)} cut stacks`, 'Share of the weight whose stacks were cut by the profiler: their outermost callers are missing', true);
    if (c.unsymbolized_share) add(`${formatShare(c.unsymbolized_share)} without function names`, 'Share of the weight in frames that have only an address', true);
    if (c.dropped_samples) add(`${formatCount(c.dropped_samples)} samples dropped`, 'Samples that the sender or the server had to leave out', true);
    return parts;
}

export function CompletenessLine({ value, extra }: { value?: Completeness; extra?: string | null }) {
    if (!value && !extra) return null;
    const parts = completenessParts(value ?? {});
    const warnings = value?.warnings ?? [];
    const whole = value !== undefined && warnings.length === 0 && !parts.some((p) => p.bad);
    return (
        <div class="completeness" aria-label="Completeness">
            {parts.map((p) => <span key={p.text} class={p.bad ? 'warn' : undefined} title={p.title}>{p.text}</span>)}
            {extra && <span>{extra}</span>}
            {whole && <span>nothing missing</span>}
            {warnings.map((w) => <span key={w} class="warn">⚠ {w}</span>)}
        </div>
    );
}
