// SPDX-License-Identifier: Apache-2.0
// Label selectors as text: reading matchers, adding one, and telling what is being typed at the caret (for completion).
// The server has the last word on the grammar; this only has to be right about what it offers.

export interface Matcher {
    name: string;
    op: '=' | '!=' | '=~' | '!~';
    value: string;
}

const MATCHER = /\s*([A-Za-z_][\w.:/-]*|"(?:[^"\\]|\\.)*")\s*(=~|!~|!=|=)\s*"((?:[^"\\]|\\.)*)"\s*/y;

function unquote(text: string): string {
    return text.replace(/\\(.)/g, (_, c: string) => (c === 'n' ? '\n' : c === 't' ? '\t' : c));
}

export function quote(text: string): string {
    return '"' + text.replace(/[\\"]/g, '\\$&').replace(/\n/g, '\\n').replace(/\t/g, '\\t') + '"';
}

/** The matchers of `{a="b",…}`, or null where the text is not of that form. */
export function parseSelector(text: string): Matcher[] | null {
    const m = /^\s*\{([^]*)\}\s*$/.exec(text);
    if (!m) return null;
    const body = m[1]!;
    const out: Matcher[] = [];
    let at = 0;
    while (at < body.length && body.slice(at).trim() !== '') {
        MATCHER.lastIndex = at;
        const hit = MATCHER.exec(body);
        if (!hit) return null;
        out.push({ name: hit[1]!.startsWith('"') ? unquote(hit[1]!.slice(1, -1)) : hit[1]!, op: hit[2] as Matcher['op'], value: unquote(hit[3]!) });
        at = MATCHER.lastIndex;
        if (body[at] === ',') at++;
        else if (at < body.length) return null;
    }
    return out;
}

export function formatSelector(matchers: Matcher[]): string {
    const name = (n: string): string => (/^[A-Za-z_][A-Za-z0-9_]*$/.test(n) ? n : quote(n));
    return '{' + matchers.map((m) => name(m.name) + m.op + quote(m.value)).join(', ') + '}';
}

export function serviceSelector(service: string): string {
    return formatSelector([{ name: 'service_name', op: '=', value: service }]);
}

/** `text` with `name="value"` in it, replacing an equality on the same name. */
export function addMatcher(text: string, name: string, value: string): string {
    const rest = (parseSelector(text) ?? []).filter((m) => !(m.name === name && m.op === '='));
    return formatSelector([...rest, { name, op: '=', value }]);
}

/** What people type instead of a selector: a bare word means the service of that name. */
export function normalizeSelector(text: string): string {
    const t = text.trim();
    if (t === '' || t.includes('{')) return t;
    if (/^[\w./-]+$/.test(t)) return serviceSelector(t);
    return `{${t}}`;
}

export interface Typing {
    /** What stands at the caret: a label's name, or the value of `label`. */
    what: 'name' | 'value';
    label: string;
    prefix: string;
    /** Part of the text that a chosen completion replaces. */
    start: number;
    end: number;
    /** Matchers finished before the caret, as a selector: completion counts within them. */
    before: string;
}

const VALUE_AT = /([A-Za-z_][\w.:/-]*)\s*(?:=~|!~|!=|=)\s*"?([^"]*)$/;

function restOfWord(text: string, caret: number, stop: RegExp): number {
    const rest = text.slice(caret).search(stop);
    return rest < 0 ? text.length : caret + rest;
}

export function typingAt(text: string, caret: number): Typing {
    const open = text.indexOf('{');
    const head = text.slice(open + 1, caret);
    let cut = 0;
    let quoted = false;
    for (let i = 0; i < head.length; i++) {
        if (head[i] === '\\') i++;
        else if (head[i] === '"') quoted = !quoted;
        else if (head[i] === ',' && !quoted) cut = i + 1;
    }
    const part = head.slice(cut);
    const before = '{' + head.slice(0, cut).replace(/,\s*$/, '') + '}';
    const value = VALUE_AT.exec(part);
    if (value) {
        const start = caret - value[2]!.length - (part[part.length - value[2]!.length - 1] === '"' ? 1 : 0);
        const stop = restOfWord(text, caret, /[",}]/);
        return { what: 'value', label: value[1]!, prefix: value[2]!, start, end: text[stop] === '"' ? stop + 1 : stop, before };
    }
    const prefix = part.trimStart();
    return { what: 'name', label: '', prefix, start: caret - prefix.length, end: restOfWord(text, caret, /[=!,}\s]/), before };
}

/** Puts a completion into the text; gives the text and where the caret belongs. */
export function complete(text: string, typing: Typing, chosen: string): { text: string; caret: number } {
    const inner = typing.what === 'name' ? chosen + (/^\s*[=!]/.test(text.slice(typing.end)) ? '' : '="') : quote(chosen);
    const open = text.includes('{') ? '' : '{';
    const head = open + text.slice(0, typing.start) + inner;
    let tail = text.slice(typing.end);
    if (typing.what === 'value' && !tail.includes('}')) tail += '}';
    return { text: head + tail, caret: head.length };
}
