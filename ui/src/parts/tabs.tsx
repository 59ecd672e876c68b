// SPDX-License-Identifier: Apache-2.0
// Tabs; the chosen one is a URL parameter, and the digits 1… choose from anywhere on the page.

import { useEffect } from 'preact/hooks';
import { setParams } from '../base/url';
import { typing } from './keyboard';

export interface Tab {
    key: string;
    label: string;
}

function choose(tabs: Tab[], key: string): void {
    setParams({ tab: key === tabs[0]!.key ? null : key });
}

function useDigits(tabs: Tab[]): void {
    useEffect(() => {
        const onKey = (e: KeyboardEvent): void => {
            const tab = tabs[Number(e.key) - 1];
            if (!tab || typing(e) || e.ctrlKey || e.metaKey || e.altKey) return;
            e.preventDefault();
            choose(tabs, tab.key);
        };
        addEventListener('keydown', onKey);
        return () => removeEventListener('keydown', onKey);
    }, [tabs]);
}

export function Tabs({ tabs, current, label }: { tabs: Tab[]; current: string; label: string }) {
    useDigits(tabs);
    const onKeyDown = (e: KeyboardEvent): void => {
        const move = e.key === 'ArrowRight' ? 1 : e.key === 'ArrowLeft' ? -1 : 0;
        if (move === 0) return;
        const at = tabs.findIndex((t) => t.key === current);
        const next = tabs[(at + move + tabs.length) % tabs.length]!;
        choose(tabs, next.key);
        (e.currentTarget as HTMLElement).querySelector<HTMLElement>(`[data-tab=${next.key}]`)?.focus();
    };
    return (
        <div class="tabs" role="tablist" aria-label={label} onKeyDown={onKeyDown}>
            {tabs.map((t, i) => (
                <button key={t.key} type="button" role="tab" data-tab={t.key} aria-selected={t.key === current} tabIndex={t.key === current ? 0 : -1}
                    title={`Key ${i + 1}`} onClick={() => choose(tabs, t.key)}>{t.label}</button>
            ))}
        </div>
    );
}
