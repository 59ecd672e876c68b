// SPDX-License-Identifier: Apache-2.0
// Limits on value and duration of the listed profiles, in the units people write.

import { useEffect, useState } from 'preact/hooks';
import { formatNs, formatValue } from '../base/format';
import { parseValue } from '../base/parsevalue';
import { setParams } from '../base/url';

export const LIMITS = ['min_value', 'max_value', 'min_duration', 'max_duration', 'has_time'] as const;

interface FieldProps {
    param: string;
    label: string;
    value: string | null;
    unit: string;
    disabled?: string;
}

function shown(value: string | null, unit: string): string {
    if (value === null || !/^-?\d+$/.test(value)) return value ?? '';
    return unit === 'nanoseconds' ? formatNs(Number(value)) : formatValue(Number(value), unit);
}

function LimitField({ param, label, value, unit, disabled }: FieldProps) {
    const [text, setText] = useState(shown(value, unit));
    const [bad, setBad] = useState(false);
    useEffect(() => { setText(shown(value, unit)); setBad(false); }, [value, unit]);
    const apply = (): void => {
        if (text === shown(value, unit)) return setBad(false); // untouched: the rounded text must not replace the exact limit
        const parsed = parseValue(text, unit);
        setBad(parsed === null);
        if (parsed !== null && parsed !== (value ?? '')) setParams({ [param]: parsed, cursor: null, page: null });
    };
    const onKeyDown = (e: KeyboardEvent): void => {
        if (e.key === 'Enter') apply();
    };
    return (
        <input class="limit" aria-label={label} aria-invalid={bad} placeholder={label.split(' ').pop()} value={text} disabled={disabled !== undefined}
            title={disabled ?? (bad ? 'Not a number with a unit of this type, such as 20ms, 1.5MiB, 300k' : `${label}; units as in 20ms, 1.5MiB, 300k`)}
            onInput={(e) => setText(e.currentTarget.value)} onBlur={apply} onKeyDown={onKeyDown} />
    );
}

export function ListFilters({ params, unit }: { params: URLSearchParams; unit: string }) {
    const field = (param: string, label: string, u: string, disabled?: string) => <LimitField param={param} label={label} value={params.get(param)} unit={u} disabled={disabled} />;
    const noType = unit === '' ? 'Choose a type first: values of different types do not compare' : undefined;
    const any = LIMITS.some((l) => params.has(l));
    return (
        <div class="limits" role="group" aria-label="Limits">
            <span>Value</span>{field('min_value', 'Value at least', unit, noType)}–{field('max_value', 'Value at most', unit, noType)}
            <span>Duration</span>{field('min_duration', 'Duration at least', 'nanoseconds')}–{field('max_duration', 'Duration at most', 'nanoseconds')}
            <label><input type="checkbox" checked={params.get('has_time') === 'true'} onChange={(e) => setParams({ has_time: e.currentTarget.checked ? 'true' : null, cursor: null, page: null })} /> with time inside</label>
            {any && <button type="button" class="link" onClick={() => setParams({ ...Object.fromEntries(LIMITS.map((l) => [l, null])), cursor: null, page: null })}>Clear limits</button>}
        </div>
    );
}
