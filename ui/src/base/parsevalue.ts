// SPDX-License-Identifier: Apache-2.0
// What people type as a limit ("20ms", "1.5 MiB", "300k") as a whole number in the unit of a type.

const TIME: Record<string, number> = { ns: 1, us: 1e3, 'µs': 1e3, ms: 1e6, s: 1e9, m: 60e9, min: 60e9, h: 3600e9 };
const SIZE: Record<string, number> = { b: 1, kib: 2 ** 10, mib: 2 ** 20, gib: 2 ** 30, tib: 2 ** 40, kb: 1e3, mb: 1e6, gb: 1e9, tb: 1e12 };
const COUNT: Record<string, number> = { k: 1e3, m: 1e6, g: 1e9 };

function factor(suffix: string, unit: string): number | null {
    if (suffix === '') return 1;
    if (unit === 'nanoseconds') return TIME[suffix] ?? null;
    if (unit === 'bytes') return SIZE[suffix] ?? SIZE[suffix + 'ib'] ?? null;
    return COUNT[suffix] ?? null;
}

/** The number as text for a URL, '' for an empty field, null where it cannot be read. */
export function parseValue(text: string, unit: string): string | null {
    const t = text.trim().toLowerCase().replace(/,/g, '');
    if (t === '') return '';
    const m = /^(-?\d+(?:\.\d+)?)\s*([a-zµ]*)$/.exec(t);
    const by = m ? factor(m[2]!, unit) : null;
    return by === null ? null : String(Math.round(Number(m![1]) * by));
}
