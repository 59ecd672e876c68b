// SPDX-License-Identifier: Apache-2.0
// Keys of the flame graph.

import type { Direction } from './model';

export type FlameCommand = Direction | 'zoom' | 'out' | 'reset' | 'copy' | 'menu' | 'sandwich' | 'next' | 'previous';

const KEYS: Record<string, FlameCommand> = {
    ArrowUp: 'parent', ArrowDown: 'child', ArrowLeft: 'left', ArrowRight: 'right', Enter: 'zoom', Backspace: 'out', Escape: 'reset', Home: 'reset',
    c: 'copy', s: 'sandwich', n: 'next', N: 'previous', ContextMenu: 'menu',
};

/** `flip`: the root stands at the bottom, so up leads to the children. */
export function flameKey(e: Pick<KeyboardEvent, 'key' | 'ctrlKey' | 'metaKey' | 'altKey' | 'shiftKey'>, flip: boolean): FlameCommand | null {
    if (e.ctrlKey || e.metaKey || e.altKey) return null;
    if (e.key === 'F10' && e.shiftKey) return 'menu';
    const c = KEYS[e.key] ?? null;
    if (flip && c === 'parent') return 'child';
    if (flip && c === 'child') return 'parent';
    return c;
}
