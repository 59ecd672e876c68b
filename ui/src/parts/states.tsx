// SPDX-License-Identifier: Apache-2.0
// Loading, empty and failed look and read differently; empty says why, failed says what to do next.

import type { ComponentChildren } from 'preact';
import { useEffect, useErrorBoundary } from 'preact/hooks';
import type { Answer } from '../base/api';
import type { Problem } from '../base/types';

export function Loading({ what }: { what: string }) {
    return (
        <div class="state loading" role="status">
            <span class="spinner" aria-hidden="true" />
            Loading {what}…
        </div>
    );
}

export function Empty({ title, children }: { title: string; children?: ComponentChildren }) {
    return (
        <div class="state empty" role="status">
            <strong>{title}</strong>
            {children && <div>{children}</div>}
        </div>
    );
}

function advice(p: Problem): string | null {
    if (p.detail) return null;
    if (p.status === 404) return 'It is not here (any more): retention may have removed it, or the server is older than this page.';
    if (p.status === 401 || p.status === 403) return 'The server wants a token for this. Log in, or ask who runs it.';
    if (p.status === 422 || p.status === 400) return 'Change the selector, type or range of this view.';
    if (p.status === 429 || p.status === 503) return 'The server is busy or short of space. Try again in a moment; a shorter range asks for less.';
    return 'Try again; if it stays, the log of the server says more.';
}

export function Failed({ problem, onRetry }: { problem: Problem; onRetry?: () => void }) {
    const hint = advice(problem);
    return (
        <div class="state failed" role="alert">
            <strong>{problem.title}{problem.status ? ` (${problem.status})` : ''}</strong>
            {problem.detail && <div>{problem.detail}</div>}
            {hint && <div>{hint}</div>}
            {problem.param && <div>Parameter: <code>{problem.param}</code></div>}
            {problem.limit !== undefined && <div>Limit: {problem.limit}{problem.flag ? <>, set by <code>{problem.flag}</code></> : null}</div>}
            {onRetry && <button type="button" onClick={onRetry}>Try again</button>}
        </div>
    );
}

/** Calls its content as a component of its own, so that what it throws belongs to the boundary above. */
function Drawn({ draw }: { draw: () => ComponentChildren }) {
    return <>{draw()}</>;
}

/** Keeps the page alive when a view cannot draw its data; other data get another chance. */
function Boundary({ data, children }: { data: unknown; children: () => ComponentChildren }) {
    const [error, reset] = useErrorBoundary();
    useEffect(reset, [data]);
    if (!error) return <Drawn draw={children} />;
    const detail = error instanceof Error ? error.message : String(error);
    return <Failed problem={{ title: 'This view cannot be drawn', detail: `${detail}. The other views still work; please report this with the address of the page.` }} onRetry={reset} />;
}

interface AsyncProps<T> {
    answer: Answer<T>;
    what: string;
    children: (data: T) => ComponentChildren;
}

/** Shows an answer in whichever state it is. What was there before stays, dimmed, while the new one comes. */
export function Async<T>({ answer, what, children }: AsyncProps<T>) {
    if (answer.status === 'failed' && answer.problem) return <Failed problem={answer.problem} onRetry={answer.reload} />;
    if (answer.data === undefined) return answer.status === 'idle' ? null : <Loading what={what} />;
    const stale = answer.status === 'loading';
    return (
        <div class={stale ? 'stale' : undefined} aria-busy={stale}>
            {stale && <div class="progress" aria-hidden="true" />}
            <Boundary data={answer.data}>{() => children(answer.data!)}</Boundary>
        </div>
    );
}
