// SPDX-License-Identifier: Apache-2.0
// A button that opens a panel below itself. Escape and a click elsewhere close it; the focus goes back to the button.

import { useEffect, useRef, useState } from 'preact/hooks';
import type { ComponentChildren } from 'preact';

interface Props {
    label: string;
    name: string;
    children: (close: () => void) => ComponentChildren;
    align?: 'right';
}

export function Popover({ label, name, children, align }: Props) {
    const [open, setOpen] = useState(false);
    const root = useRef<HTMLDivElement>(null);
    const button = useRef<HTMLButtonElement>(null);
    useEffect(() => {
        if (!open) return;
        const outside = (e: Event): void => {
            if (!root.current!.contains(e.target as Node)) setOpen(false);
        };
        document.addEventListener('pointerdown', outside);
        return () => document.removeEventListener('pointerdown', outside);
    }, [open]);
    // What is read aloud must hold what is seen, so that it can be asked for by voice.
    const spoken = name.toLowerCase().includes(label.toLowerCase()) ? name : `${name}: ${label}`;
    const close = (): void => {
        setOpen(false);
        button.current?.focus();
    };
    const onKeyDown = (e: KeyboardEvent): void => {
        if (e.key !== 'Escape' || !open) return;
        e.stopPropagation();
        close();
    };
    return (
        <div class="popover" ref={root} onKeyDown={onKeyDown}>
            <button ref={button} type="button" aria-haspopup="dialog" aria-expanded={open} aria-label={spoken} onClick={() => setOpen(!open)}>
                {label} <span class="caret" aria-hidden="true">▾</span>
            </button>
            {open && <div class={'panel floating' + (align ? ' ' + align : '')} role="dialog" aria-label={name}>{children(close)}</div>}
        </div>
    );
}
