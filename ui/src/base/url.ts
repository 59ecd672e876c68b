// SPDX-License-Identifier: Apache-2.0
// The state of a view is its URL: page from the last part of the path, the rest from the query string. Nothing is kept elsewhere,
// so a copied URL opens the same view. Every page lies one level deep: relative addresses work behind any path prefix.

import { useEffect, useState } from 'preact/hooks';

export type Page = '' | 'profiles' | 'profile' | 'flamegraph' | 'diff' | 'rejects';

export interface Place {
    page: string;
    params: URLSearchParams;
}

/** Values to set; null, undefined and '' remove the parameter, an array repeats it. */
export type Changes = Record<string, string | string[] | null | undefined>;

export function parsePlace(path: string, search: string): Place {
    return { page: path.slice(path.lastIndexOf('/') + 1), params: new URLSearchParams(search) };
}

export function withChanges(params: URLSearchParams, changes: Changes): URLSearchParams {
    const next = new URLSearchParams(params);
    for (const [key, value] of Object.entries(changes)) {
        next.delete(key);
        for (const v of Array.isArray(value) ? value : [value]) if (v) next.append(key, v);
    }
    next.sort();
    return next;
}

/** Query string with the characters of selectors left readable; what a URL parser would take for something else stays encoded. */
export function searchText(params: URLSearchParams): string {
    const text = params.toString().replace(/%3A/g, ':').replace(/%2C/g, ',').replace(/%2F/g, '/');
    return text ? '?' + text : '';
}

/** A page's tenant goes along into all links and questions of it. */
export function carriedTenant(): Changes {
    const tenant = typeof location === 'undefined' ? null : new URLSearchParams(location.search).get('tenant');
    return tenant ? { tenant } : {};
}

export function href(page: Page, params: URLSearchParams | Changes): string {
    const p = params instanceof URLSearchParams ? withChanges(params, carriedTenant()) : withChanges(new URLSearchParams(), { ...carriedTenant(), ...params });
    return './' + page + searchText(p);
}

const listeners = new Set<() => void>();

export function navigate(to: string, replace = false): void {
    if (replace) history.replaceState(null, '', to);
    else history.pushState(null, '', to);
    for (const fn of listeners) fn();
}

/** Changes parameters of this page. `replace` for what is typed or merely shown differently, so that Back means "the view before". */
export function setParams(changes: Changes, replace = false): void {
    const { page, params } = parsePlace(location.pathname, location.search);
    navigate(href(page as Page, withChanges(params, changes)), replace);
}

export function usePlace(): Place {
    const read = (): Place => parsePlace(location.pathname, location.search);
    const [place, setPlace] = useState(read);
    useEffect(() => {
        const update = (): void => setPlace(read());
        listeners.add(update);
        addEventListener('popstate', update);
        return () => {
            listeners.delete(update);
            removeEventListener('popstate', update);
        };
    }, []);
    return place;
}

function plainClick(e: MouseEvent): boolean {
    return e.button === 0 && !e.metaKey && !e.ctrlKey && !e.shiftKey && !e.altKey && !e.defaultPrevented;
}

/** One handler for all links: those to our own pages change the view without loading the document again. */
export function interceptLinks(pages: readonly string[]): void {
    document.addEventListener('click', (e) => {
        const a = e.target instanceof Element ? e.target.closest('a') : null;
        if (!a || !plainClick(e) || a.target || a.hasAttribute('download')) return;
        const here = location.pathname.slice(0, location.pathname.lastIndexOf('/') + 1);
        const inside = a.origin === location.origin && a.pathname.startsWith(here);
        if (!inside || !pages.includes(a.pathname.slice(here.length)) || a.hash) return;
        e.preventDefault();
        navigate(a.href);
        scrollTo(0, 0);
    });
}
