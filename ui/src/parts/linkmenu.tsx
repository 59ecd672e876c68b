// SPDX-License-Identifier: Apache-2.0
// Copies the address of the view: as it is, or with "now" turned into the moment it means at present.

import { useState } from 'preact/hooks';
import { copyText } from '../base/clipboard';
import { isRelative, parseTime, urlTime, DEFAULT_FROM, DEFAULT_UNTIL } from '../base/time';
import { href, parsePlace, withChanges, type Changes, type Page } from '../base/url';
import { Popover } from './popover';

const SIDES = ['', 'left_', 'right_'];

/** Parameters with every relative time made absolute; null where none is relative (or no range is looked at). */
export function frozen(page: string, params: URLSearchParams, now: number): URLSearchParams | null {
    const changes: Changes = {};
    for (const side of SIDES) {
        const unused = params.has(side + 'id') || (page === 'diff') !== (side !== '') || (side !== '' && !params.has(side + 'query'));
        if (unused) continue;
        for (const [key, absent] of [['from', DEFAULT_FROM], ['until', DEFAULT_UNTIL]] as const) {
            const text = params.get(side + key) ?? absent;
            if (isRelative(text)) changes[side + key] = urlTime(parseTime(text, now) ?? now);
        }
    }
    return Object.keys(changes).length > 0 ? withChanges(params, changes) : null;
}

export function LinkMenu() {
    const [said, say] = useState('');
    const copy = async (text: string, close: () => void): Promise<void> => {
        const done = await copyText(text);
        say(done ? 'Copied' : 'The browser refuses; copy the address bar');
        close();
        setTimeout(() => say(''), 2000);
    };
    const { page, params } = parsePlace(location.pathname, location.search);
    const fixed = frozen(page, params, Date.now());
    return (
        <>
            <Popover name="Copy link" label={said || 'Link'} align="right">
                {(close) => (
                    <div class="menu">
                        <button type="button" onClick={() => void copy(location.href, close)}><span>Copy the address</span><small>{fixed ? 'moves on with time' : 'always the same view'}</small></button>
                        {fixed && (
                            <button type="button" onClick={() => void copy(new URL(href(page as Page, fixed), location.href).href, close)}>
                                <span>Copy with fixed times</span><small>always this range</small>
                            </button>
                        )}
                    </div>
                )}
            </Popover>
            <span class="sr" role="status">{said}</span>
        </>
    );
}
