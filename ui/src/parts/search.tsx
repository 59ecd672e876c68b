// SPDX-License-Identifier: Apache-2.0
// The search field: its text is the URL parameter `s`, so graph and table look for the same.

import { setParams } from '../base/url';

export function SearchBox({ value, what = 'functions' }: { value: string; what?: string }) {
    const set = (s: string): void => setParams({ s }, true);
    const onKeyDown = (e: KeyboardEvent): void => {
        if (e.key !== 'Escape' || value === '') return;
        e.stopPropagation();
        set('');
    };
    return (
        <div class="search">
            <input type="search" data-search value={value} placeholder={`Search ${what}, or /regex/`} aria-label={`Search ${what}`}
                spellcheck={false} onInput={(e) => set(e.currentTarget.value)} onKeyDown={onKeyDown} />
            <kbd class="keyhint" aria-hidden="true">/</kbd>
        </div>
    );
}
