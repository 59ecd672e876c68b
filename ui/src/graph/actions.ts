// SPDX-License-Identifier: Apache-2.0
// What can be done with a function, from a bar or a row: each is a change of the URL, so Back undoes it.

import { href, setParams, withChanges, type Page } from '../base/url';

export interface Action {
    label: string;
    hint?: string;
    run: () => void;
}

function addFilter(params: URLSearchParams, key: string, name: string): void {
    setParams({ [key]: [...params.getAll(key).filter((v) => v !== name), name], at: null });
}

export function functionActions(params: URLSearchParams, name: string): Action[] {
    return [
        { label: 'Callers and callees', hint: 's', run: () => setParams({ tab: 'sandwich', function: name }) },
        { label: 'Only stacks with this function', run: () => addFilter(params, 'focus', name) },
        { label: 'Hide this function', run: () => addFilter(params, 'hide', name) },
        { label: 'Find it in the graph', run: () => setParams({ s: name }, true) },
    ];
}

export function sandwichHref(page: string, params: URLSearchParams, name: string): string {
    return href(page as Page, withChanges(params, { tab: 'sandwich', function: name }));
}
