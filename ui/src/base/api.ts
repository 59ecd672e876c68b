// SPDX-License-Identifier: Apache-2.0
// Asking the server: addresses of the API, and a hook that tells loading, done and failed apart. Requests of a view left behind are aborted.

import { useCallback, useEffect, useState } from 'preact/hooks';
import type { Problem } from './types';
import { carriedTenant, searchText, withChanges, type Changes } from './url';

export function apiUrl(path: string, ...params: Changes[]): string {
    return './api/v1/' + path + searchText(withChanges(new URLSearchParams(), Object.assign(carriedTenant(), ...params)));
}

let refused = (): void => undefined;

/** Is called whenever the server answers that it does not know who asks. One at a time. */
export function onRefused(fn: () => void): void {
    refused = fn;
}

export class ApiError extends Error {
    constructor(readonly problem: Problem) {
        super(problem.detail ?? problem.title);
    }
}

async function readProblem(response: Response): Promise<Problem> {
    const text = await response.text();
    try {
        const body = JSON.parse(text) as Partial<Problem>;
        return { ...body, title: body.title ?? `The server answered ${response.status}`, status: response.status };
    } catch {
        return { title: `The server answered ${response.status} ${response.statusText}`.trim(), status: response.status, detail: text.slice(0, 300) };
    }
}

async function send(url: string, signal?: AbortSignal, init?: RequestInit): Promise<Response> {
    try {
        return await fetch(url, { ...init, signal, headers: { Accept: 'application/json' }, credentials: 'same-origin' });
    } catch (e) {
        if (signal?.aborted) throw e;
        throw new ApiError({ title: 'The server does not answer', detail: 'No connection, or it was cut. See whether flamekeep still runs and whether a proxy stands between, then try again.' });
    }
}

async function parse<T>(response: Response): Promise<T> {
    try {
        return (await response.json()) as T;
    } catch {
        throw new ApiError({ title: 'The answer is not JSON', status: response.status, detail: 'It may have been cut, or something else than Flamekeep answered at this address.' });
    }
}

export async function getJson<T>(url: string, signal?: AbortSignal, init?: RequestInit): Promise<T> {
    const response = await send(url, signal, init);
    if (response.status === 401) refused();
    if (!response.ok) throw new ApiError(await readProblem(response));
    return parse<T>(response);
}

export interface Answer<T> {
    status: 'idle' | 'loading' | 'done' | 'failed';
    /** While loading, what the address before gave: a view keeps its old picture until the new one is there. */
    data?: T;
    problem?: Problem;
    reload: () => void;
}

export function toProblem(e: unknown): Problem {
    return e instanceof ApiError ? e.problem : { title: 'The view failed', detail: String(e) };
}

/** Fetches `url` whenever it changes; null fetches nothing. `tick` changes to fetch the same address again. */
export function useApi<T>(url: string | null, tick = 0): Answer<T> {
    const [again, setAgain] = useState(0);
    const [answer, setAnswer] = useState<Omit<Answer<T>, 'reload'>>({ status: url ? 'loading' : 'idle' });
    const reload = useCallback(() => setAgain((n) => n + 1), []);
    useEffect(() => {
        if (!url) return setAnswer({ status: 'idle' });
        const abort = new AbortController();
        setAnswer((a) => ({ status: 'loading', data: a.data }));
        getJson<T>(url, abort.signal).then(
            (data) => !abort.signal.aborted && setAnswer({ status: 'done', data }),
            (e: unknown) => !abort.signal.aborted && setAnswer({ status: 'failed', problem: toProblem(e) }),
        );
        return () => abort.abort();
    }, [url, tick, again]);
    return { ...answer, reload };
}

/** Code that is loaded when a view first needs it, in the states of an answer. */
export function useModule<M>(load: () => Promise<M>): Answer<M> {
    const [answer, setAnswer] = useState<Omit<Answer<M>, 'reload'>>({ status: 'loading' });
    const reload = useCallback(() => {
        setAnswer({ status: 'loading' });
        load().then(
            (data) => setAnswer({ status: 'done', data }),
            () => setAnswer({ status: 'failed', problem: { title: 'A part of this page did not load', detail: 'The server may have been updated meanwhile: load the page again.' } }),
        );
    }, []);
    useEffect(reload, []);
    return { ...answer, reload };
}
