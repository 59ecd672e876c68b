// SPDX-License-Identifier: Apache-2.0
// What several pages share: addresses of views of a service, an entry, a moment.

import { parseTime, urlTime } from '../base/time';
import { formatSelector } from '../base/selector';
import type { Entry, EntryType } from '../base/types';
import { href } from '../base/url';
import { typeParts } from '../base/format';

/** The value that stands for an entry: of the type looked at, else CPU where there is any, else the first. */
export function mainType(entry: Entry, wanted: string): EntryType | undefined {
    return entry.types.find((t) => t.type === wanted) ?? entry.types.find((t) => typeParts(t.type).sample === 'cpu') ?? entry.types[0];
}

export function profileHref(id: string, type: string): string {
    return href('profile', { id, type });
}

/** All labels of an entry as a selector: its series. */
export function seriesSelector(entry: Entry): string {
    const labels = { ...entry.labels };
    if (entry.service_name && !labels.service_name) labels.service_name = entry.service_name;
    return formatSelector(Object.entries(labels).filter(([name]) => !name.startsWith('__')).map(([name, value]) => ({ name, op: '=', value })));
}

/** The range around an entry: its own length, at least, and as much again as is asked before and after. */
export function around(entry: Entry, marginMs: number): { from: string; until: string } {
    const start = parseTime(entry.time, Date.now()) ?? Date.now();
    const length = (entry.duration_ns ?? 0) / 1e6;
    return { from: urlTime(Math.floor(start - marginMs)), until: urlTime(Math.ceil(start + length + marginMs)) };
}
