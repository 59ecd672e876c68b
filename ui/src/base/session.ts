// SPDX-License-Identifier: Apache-2.0
// Who asks: the token in its cookie, which scripts cannot read, and the tenant in the address of the page.

import { apiUrl, getJson } from './api';
import type { Session } from './types';
import { parsePlace, searchText, withChanges } from './url';

/** The tenant of this page; null: all that the token covers. */
export function currentTenant(): string | null {
    return typeof location === 'undefined' ? null : new URLSearchParams(location.search).get('tenant');
}

/** The same page of another tenant. Ids and cursors of the one are none of the other. */
export function tenantHref(tenant: string | null): string {
    const { page, params } = parsePlace(location.pathname, location.search);
    const keep = page === 'profile' || page === 'diff' ? new URLSearchParams() : params;
    for (const name of ['id', 'cursor', 'pick']) keep.delete(name);
    return './' + (page === 'profile' || page === 'diff' ? '' : page) + searchText(withChanges(keep, { tenant }));
}

export function logIn(token: string): Promise<Session> {
    return getJson<Session>(apiUrl('login'), undefined, { method: 'POST', body: token.trim() });
}

export function logOut(): Promise<unknown> {
    return getJson<unknown>(apiUrl('logout'), undefined, { method: 'POST' });
}
