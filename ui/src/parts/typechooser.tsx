// SPDX-License-Identifier: Apache-2.0
// Which profile type a view shows, and which one it shows when nobody said.

import { useEffect } from 'preact/hooks';
import { apiUrl, useApi, type Answer } from '../base/api';
import { formatCount, typeName, typeParts } from '../base/format';
import type { Source } from '../base/source';
import type { Types } from '../base/types';
import { setParams } from '../base/url';

export interface TypeOption {
    type: string;
    profiles?: number;
}

interface Props {
    id: string;
    value: string;
    options: TypeOption[];
    /** Text of the entry for "no particular type"; without it one has to be chosen. */
    all?: string;
    onChange: (type: string) => void;
}

export function useTypes(source: Source, tick = 0): Answer<Types> {
    const url = source.ids.length > 0 ? null : apiUrl('types', { query: source.query || '{}', from: source.from, until: source.until });
    return useApi<Types>(url, tick);
}

/** CPU where there is any, for that is what most people come for; else the type with most profiles. */
export function defaultType(options: TypeOption[]): string {
    const most = [...options].sort((a, b) => (b.profiles ?? 0) - (a.profiles ?? 0));
    return (most.find((o) => typeParts(o.type).sample === 'cpu') ?? most[0])?.type ?? '';
}

/** Writes the default into the URL (replacing, so Back is not caught), so that the copied address names its type. */
export function useDefaultType(chosen: string, options: TypeOption[], param = 'type'): void {
    const fallback = chosen === '' ? defaultType(options) : '';
    useEffect(() => {
        if (fallback) setParams({ [param]: fallback }, true);
    }, [fallback, param]);
}

function optionText(o: TypeOption, options: TypeOption[]): string {
    const name = typeName(o.type);
    const twin = options.some((p) => p !== o && typeName(p.type) === name);
    const count = o.profiles === undefined ? '' : ` (${formatCount(o.profiles)})`;
    return (twin ? `${name} – ${o.type}` : name) + count;
}

export function TypeChooser({ id, value, options, all, onChange }: Props) {
    const list = value && !options.some((o) => o.type === value) ? [{ type: value }, ...options] : options;
    return (
        <select id={id} aria-label="Profile type" title={value} value={value} onChange={(e) => onChange(e.currentTarget.value)}>
            {all !== undefined && <option value="">{all}</option>}
            {list.length === 0 && all === undefined && <option value="">No type here</option>}
            {list.map((o) => <option key={o.type} value={o.type}>{optionText(o, list)}</option>)}
        </select>
    );
}
