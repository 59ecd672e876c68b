// SPDX-License-Identifier: Apache-2.0
// Labels as chips, and filters that can be taken away again.

import type { ComponentChildren } from 'preact';
import { setParams } from '../base/url';

export function LabelChips({ labels, skip = [], max, hrefFor }: {
    labels: Record<string, string>;
    skip?: string[];
    max?: number;
    hrefFor: (name: string, value: string) => string;
}) {
    const all = Object.entries(labels).filter(([name]) => !skip.includes(name)).sort(([a], [b]) => (a < b ? -1 : 1));
    const shown = max === undefined ? all : all.slice(0, max);
    const hidden = all.slice(shown.length);
    return (
        <span class="chips">
            {shown.map(([name, value]) => (
                <a key={name} class="chip" href={hrefFor(name, value)} title={`Only ${name}="${value}"`}><i>{name}</i>{value}</a>
            ))}
            {hidden.length > 0 && <span class="more" title={hidden.map(([n, v]) => `${n}="${v}"`).join('\n')}>+{hidden.length}</span>}
        </span>
    );
}

const WORDS: Record<string, string> = { focus: 'Only stacks with', hide: 'Without', collapse: 'Collapsed' };

export function FilterChips({ params }: { params: URLSearchParams }) {
    const chips: ComponentChildren[] = [];
    for (const [key, word] of Object.entries(WORDS)) {
        for (const value of params.getAll(key)) {
            const drop = (): void => setParams({ [key]: params.getAll(key).filter((v) => v !== value) });
            chips.push(
                <span key={key + value} class="chip filter">
                    <i>{word}</i><span class="name">{value}</span>
                    <button type="button" aria-label={`Remove: ${word} ${value}`} onClick={drop}>×</button>
                </span>,
            );
        }
    }
    return chips.length > 0 ? <div class="chips filters">{chips}</div> : null;
}
