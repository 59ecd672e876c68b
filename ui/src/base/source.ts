// SPDX-License-Identifier: Apache-2.0
// A source: what a view looks at. Either ids, or a selector with a range; read from and written to URL parameters named as in the API.

import { DEFAULT_FROM, DEFAULT_UNTIL } from './time';
import type { Changes } from './url';

export interface Source {
    ids: string[];
    query: string;
    from: string;
    until: string;
    type: string;
}

export type Side = '' | 'left_' | 'right_';

/** Filters that hold for every answer over a source. They travel unchanged from the page's URL to the API's. */
export const FILTERS = ['focus', 'hide', 'collapse'] as const;

export function readSource(params: URLSearchParams, side: Side = ''): Source {
    const get = (key: string, absent: string): string => params.get(side + key) || absent;
    return {
        ids: params.getAll(side + 'id').filter((id) => id !== ''),
        query: get('query', ''),
        from: get('from', DEFAULT_FROM),
        until: get('until', DEFAULT_UNTIL),
        type: get('type', ''),
    };
}

/** The parameters of a source for the API: complete, nothing left to a default of the server. */
export function sourceParams(source: Source, side: Side = ''): Changes {
    if (source.ids.length > 0) return { [side + 'id']: source.ids, [side + 'type']: source.type };
    return {
        [side + 'query']: source.query || '{}',
        [side + 'from']: source.from,
        [side + 'until']: source.until,
        [side + 'type']: source.type,
    };
}

/** The parameters of a source for a page: defaults left out, and what belongs to the other form of source removed. */
export function pageParams(source: Source, side: Side = ''): Changes {
    const range = source.ids.length === 0;
    return {
        [side + 'id']: source.ids,
        [side + 'query']: range ? source.query : null,
        [side + 'from']: range && source.from !== DEFAULT_FROM ? source.from : null,
        [side + 'until']: range && source.until !== DEFAULT_UNTIL ? source.until : null,
        [side + 'type']: source.type,
    };
}

export function filterParams(params: URLSearchParams): Changes {
    const out: Changes = {};
    for (const key of FILTERS) out[key] = params.getAll(key);
    for (const key of params.keys()) if (key.startsWith('attr.')) out[key] = params.getAll(key);
    return out;
}

/** Whether there is anything to ask for: an id, or a selector (a diff's side may be still empty). */
export function isSet(source: Source): boolean {
    return source.ids.length > 0 || source.query !== '';
}
