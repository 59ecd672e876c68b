// SPDX-License-Identifier: Apache-2.0
// Numbers and names for people: values by unit, shares, durations. Values beyond 2^53 have been rounded to doubles, enough to draw.

const BINARY = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB', 'EiB'];
const DECIMAL = ['', ' k', ' M', ' G', ' T', ' P', ' E'];
const TIME_NS: [number, string][] = [[1e9, 's'], [1e6, 'ms'], [1e3, 'µs'], [1, 'ns']];

function digits(v: number): string {
    const a = Math.abs(v);
    return a >= 100 || Number.isInteger(v) ? v.toFixed(0) : a >= 10 ? v.toFixed(1) : v.toFixed(2);
}

function scaled(v: number, step: number, names: string[]): string {
    let i = 0;
    let x = v;
    // 0.9995 of a step would print as "1000": it belongs to the next prefix.
    while (Math.abs(x) >= step * 0.9995 && i < names.length - 1) {
        x /= step;
        i++;
    }
    return digits(x) + (names[i]!.startsWith(' ') || names[i] === '' ? names[i] : ' ' + names[i]);
}

export function formatBytes(v: number): string {
    return scaled(v, 1024, BINARY);
}

export function formatCount(v: number): string {
    return Math.abs(v) < 10000 && Number.isInteger(v) ? v.toLocaleString('en') : scaled(v, 1000, DECIMAL);
}

/** A length of time in nanoseconds. Long ones stay in hours: CPU time is compared by its core-hours. */
export function formatNs(v: number): string {
    const a = Math.abs(v);
    if (a === 0) return '0 s';
    if (a >= 3600e9) return digits(v / 3600e9) + ' h';
    for (const [size, name] of TIME_NS) if (a >= size * 0.9995) return digits(v / size) + ' ' + name;
    return digits(v) + ' ns';
}

const TIME_UNITS: Record<string, number> = { nanoseconds: 1, ns: 1, microseconds: 1e3, us: 1e3, milliseconds: 1e6, ms: 1e6, seconds: 1e9, s: 1e9 };

export function formatValue(v: number, unit: string): string {
    const u = unit.toLowerCase();
    if (u === 'bytes' || u === 'byte') return formatBytes(v);
    const ns = TIME_UNITS[u];
    if (ns !== undefined) return formatNs(v * ns);
    if (u === '' || u === 'count' || u === 'samples' || u === 'objects') return formatCount(v);
    if (u === 'cores') return digits(v) + ' cores';
    const rate = /^(.+)\/(s|second)$/.exec(unit);
    if (rate) return formatValue(v, rate[1]!) + '/s';
    return formatCount(v) + ' ' + unit;
}

/** The value with every digit, for the title of what formatValue shortened. */
export function exactValue(v: number, unit: string): string {
    return v.toLocaleString('en', { maximumFractionDigits: 3 }) + (unit ? ' ' + unit : '');
}

export function signed(v: number, format: (v: number) => string): string {
    return v > 0 ? '+' + format(v) : v < 0 ? '−' + format(-v) : format(0);
}

export function formatShare(share: number): string {
    const p = share * 100;
    const a = Math.abs(p);
    if (a === 0) return '0 %';
    if (a < 0.01) return '<0.01 %';
    return p.toFixed(a >= 99.95 ? 0 : a >= 10 ? 1 : 2) + ' %';
}

export function plural(n: number, one: string, many = one + 's'): string {
    return `${formatCount(n)} ${n === 1 ? one : many}`;
}

export interface TypeParts {
    profile: string;
    sample: string;
    unit: string;
}

/** The five parts of a type id, split from the right: a name may contain a colon. */
export function typeParts(id: string): TypeParts {
    const parts = id.split(':');
    const tail = parts.splice(Math.max(parts.length - 4, 1));
    return { profile: parts.join(':'), sample: tail[0] ?? '', unit: tail[1] ?? '' };
}

const WORDS: Record<string, string> = {
    cpu: 'CPU time', alloc_space: 'allocated bytes', alloc_objects: 'allocated objects', inuse_space: 'bytes in use',
    inuse_objects: 'objects in use', goroutine: 'goroutines', goroutines: 'goroutines', contentions: 'contentions',
    delay: 'time waiting', samples: 'samples', wall: 'wall-clock time',
};

/** A type as people say it: "CPU time", "mutex: time waiting". */
export function typeName(id: string): string {
    const { profile, sample } = typeParts(id);
    const words = WORDS[sample] ?? (sample || profile).replace(/_/g, ' ');
    const obvious = profile === 'process_cpu' || profile === 'memory' || profile === sample || profile === '' || profile.startsWith('goroutine');
    return obvious ? words : `${profile.replace(/_/g, ' ')}: ${words}`;
}
