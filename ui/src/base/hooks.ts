// SPDX-License-Identifier: Apache-2.0
// Small hooks that several rooms need: the size of an element, the clock of relative times, a delayed value.

import { useEffect, useRef, useState } from 'preact/hooks';
import type { RefObject } from 'preact';

/** Width of an element in CSS pixels, followed through resizes; 0 before the first layout. */
export function useWidth<E extends HTMLElement>(): [RefObject<E>, number] {
    const ref = useRef<E>(null);
    const [width, setWidth] = useState(0);
    useEffect(() => {
        const el = ref.current!;
        setWidth(el.clientWidth);
        const observer = new ResizeObserver(() => setWidth(el.clientWidth));
        observer.observe(el);
        return () => observer.disconnect();
    }, []);
    return [ref, width];
}

/** The value as it was once it stood still for `ms`. */
export function useSettled<T>(value: T, ms: number): T {
    const [settled, setSettled] = useState(value);
    useEffect(() => {
        const timer = setTimeout(() => setSettled(value), ms);
        return () => clearTimeout(timer);
    }, [value, ms]);
    return settled;
}

/** Sets the title of the document while the page is shown. */
export function useTitle(title: string): void {
    useEffect(() => {
        document.title = title ? `${title} · Flamekeep` : 'Flamekeep';
    }, [title]);
}
