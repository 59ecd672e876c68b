// SPDX-License-Identifier: Apache-2.0
// The selector as a text box with completion: label names and values with their counts, within what stands before the caret.

import { useEffect, useRef, useState } from 'preact/hooks';
import { apiUrl, useApi } from '../base/api';
import { formatCount } from '../base/format';
import { useSettled } from '../base/hooks';
import { complete, normalizeSelector, parseSelector, typingAt, type Typing } from '../base/selector';
import type { Labels, LabelValues } from '../base/types';

interface Props {
    id: string;
    value: string;
    from: string;
    until: string;
    onSubmit: (query: string) => void;
}

interface Option {
    text: string;
    profiles?: number;
}

const LIMIT = 30;

function completionUrl(t: Typing | null, from: string, until: string): string | null {
    if (!t) return null;
    const path = t.what === 'name' ? 'labels' : `labels/${encodeURIComponent(t.label)}/values`;
    return apiUrl(path, { query: t.before, from, until, prefix: t.prefix, limit: String(LIMIT) });
}

function options(t: Typing | null, answer: Labels | LabelValues | undefined): Option[] {
    if (!t || !answer) return [];
    const all: Option[] = 'names' in answer
        ? answer.names.map((n) => ({ text: n.name, profiles: n.profiles }))
        : (answer.values ?? []).map((v) => ({ text: v.value, profiles: v.profiles }));
    const used = new Set(t.what === 'name' ? parseSelector(t.before)?.map((m) => m.name) : []);
    return all.filter((o) => o.text.startsWith(t.prefix) && !used.has(o.text)).slice(0, LIMIT);
}

function useCompletion(text: string, caret: number, open: boolean, from: string, until: string) {
    const typing = open ? typingAt(text, caret) : null;
    const url = useSettled(completionUrl(typing, from, until), 80);
    const answer = useApi<Labels | LabelValues>(open ? url : null);
    return { typing, list: options(typing, answer.data), failed: answer.status === 'failed' };
}

export function SelectorBox({ id, value, from, until, onSubmit }: Props) {
    const [text, setText] = useState(value);
    const [caret, setCaret] = useState(0);
    const [open, setOpen] = useState(false);
    const [active, setActive] = useState(-1);
    const input = useRef<HTMLInputElement>(null);
    useEffect(() => setText(value), [value]);
    const { typing, list } = useCompletion(text, caret, open, from, until);
    const submit = (t: string): void => {
        setOpen(false);
        setActive(-1);
        const query = normalizeSelector(t);
        setText(query);
        if (query !== value) onSubmit(query);
    };
    // Leaving the field takes over what is complete; half a selector waits for the rest instead of an error.
    const onBlur = (): void => {
        setOpen(false);
        const query = normalizeSelector(text);
        if (query === '' || parseSelector(query) !== null) submit(text);
    };
    const choose = (o: Option): void => {
        const next = complete(text, typing!, o.text);
        setText(next.text);
        setCaret(next.caret);
        setActive(-1);
        const el = input.current!;
        el.value = next.text;
        el.focus();
        el.setSelectionRange(next.caret, next.caret);
    };
    const onInput = (): void => {
        setText(input.current!.value);
        setCaret(input.current!.selectionStart ?? 0);
        setActive(-1);
        setOpen(true);
    };
    const onKeyDown = (e: KeyboardEvent): void => {
        const move = e.key === 'ArrowDown' ? 1 : e.key === 'ArrowUp' ? -1 : 0;
        if (move !== 0 && list.length > 0) setActive((active + move + list.length) % list.length);
        else if (move !== 0) onInput();
        else if (e.key === 'Tab' && open && active >= 0) choose(list[active]!);
        else if (e.key === 'Enter' && open && active >= 0) choose(list[active]!);
        else if (e.key === 'Enter') submit(text);
        else if (e.key === 'Escape' && open) setOpen(false);
        else return;
        e.preventDefault();
        e.stopPropagation();
    };
    const shown = open && list.length > 0;
    return (
        <div class="selector" role="search">
            <input ref={input} id={id} type="text" value={text} spellcheck={false} autocomplete="off" placeholder='All services. Type a service, or {service_name="…"}'
                role="combobox" aria-label="Selector" aria-expanded={shown} aria-controls={id + '-list'} aria-autocomplete="list"
                aria-activedescendant={shown && active >= 0 ? `${id}-${active}` : undefined}
                onInput={onInput} onClick={onInput} onKeyDown={onKeyDown} onBlur={onBlur} />
            <ul id={id + '-list'} role="listbox" aria-label="Completions" class="floating" hidden={!shown}>
                {shown && list.map((o, i) => (
                    <li key={o.text} id={`${id}-${i}`} role="option" aria-selected={i === active} onPointerDown={(e) => { e.preventDefault(); choose(o); }}>
                        <span>{o.text}</span>
                        {o.profiles !== undefined && <span class="count">{formatCount(o.profiles)}</span>}
                    </li>
                ))}
            </ul>
        </div>
    );
}
