// SPDX-License-Identifier: Apache-2.0
// Keys that work everywhere, and the page of help about all keys.

import { useEffect, useRef } from 'preact/hooks';

/** Whether a key belongs to a field that takes text. */
export function typing(e: KeyboardEvent): boolean {
    const t = e.target;
    return t instanceof HTMLInputElement || t instanceof HTMLTextAreaElement || t instanceof HTMLSelectElement;
}

function onEscape(e: KeyboardEvent): void {
    if (typing(e)) (e.target as HTMLElement).blur();
}

/** `/` to the search field, `?` for help, Escape out of a field. */
export function useGlobalKeys(onHelp: () => void): void {
    useEffect(() => {
        const onKey = (e: KeyboardEvent): void => {
            if (e.key === 'Escape') return onEscape(e);
            if (typing(e) || e.ctrlKey || e.metaKey || e.altKey) return;
            const search = e.key === '/' ? document.querySelector<HTMLInputElement>('[data-search]') : null;
            if (search) {
                search.focus();
                search.select();
            } else if (e.key === '?') onHelp();
            else return;
            e.preventDefault();
        };
        addEventListener('keydown', onKey);
        return () => removeEventListener('keydown', onKey);
    }, [onHelp]);
}

const HELP: [string, [string, string][]][] = [
    ['Everywhere', [['/', 'Search'], ['1 … 4', 'Tabs'], ['?', 'This help'], ['Esc', 'Leave, clear, close']]],
    ['Flame graph', [
        ['↑ ↓', 'To the caller, to the widest callee'], ['← →', 'To the neighbours'], ['Enter', 'Zoom in'], ['Backspace', 'Zoom out by one'],
        ['Esc', 'Whole graph'], ['n N', 'Next, previous hit of the search'], ['s', 'Sandwich: callers and callees'], ['c', 'Copy the name'], ['Shift F10', 'Menu'],
    ]],
    ['Lists and tables', [['↑ ↓', 'Rows'], ['Enter', 'Open'], ['Space', 'Pick to compare'], ['[ ]', 'Page before, page after']]],
];

export function Help({ open, onClose }: { open: boolean; onClose: () => void }) {
    const ref = useRef<HTMLDialogElement>(null);
    useEffect(() => {
        const d = ref.current!;
        if (open && !d.open) d.showModal();
        if (!open && d.open) d.close();
    }, [open]);
    return (
        <dialog ref={ref} class="help" aria-label="Keys and help" onClose={onClose} onClick={(e) => { if (e.target === ref.current) onClose(); }}>
            <h2>Keys</h2>
            <div class="help-grid">
                {HELP.map(([title, keys]) => (
                    <section key={title}>
                        <h3>{title}</h3>
                        <dl>{keys.map(([key, what]) => <div key={key}><dt>{key.split(' ').map((k) => <kbd key={k}>{k}</kbd>)}</dt><dd>{what}</dd></div>)}</dl>
                    </section>
                ))}
            </div>
            <p>
                <a href="./docs/reading-profiles" target="_blank">About reading profiles</a> · <a href="./api/openapi.json" target="_blank">API</a> · <a href={LICENCES_URL} target="_blank">Third-party licences</a>
            </p>
            <button type="button" class="primary" autofocus onClick={onClose}>Close</button>
        </dialog>
    );
}
