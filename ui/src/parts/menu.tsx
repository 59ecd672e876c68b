// SPDX-License-Identifier: Apache-2.0
// A menu at a point of the screen: arrows, Enter, Escape, and a click elsewhere closes it.

import { useEffect, useRef } from 'preact/hooks';

export interface MenuItem {
    label: string;
    hint?: string;
    run: () => void;
}

interface Props {
    x: number;
    y: number;
    label: string;
    items: MenuItem[];
    onClose: () => void;
}

function moveFocus(menu: HTMLElement, by: number): void {
    const items = [...menu.querySelectorAll<HTMLElement>('[role=menuitem]')];
    const at = items.indexOf(document.activeElement as HTMLElement);
    items[(at + by + items.length) % items.length]?.focus();
}

export function Menu({ x, y, label, items, onClose }: Props) {
    const ref = useRef<HTMLDivElement>(null);
    useEffect(() => {
        const menu = ref.current!;
        menu.style.left = Math.max(4, Math.min(x, innerWidth - menu.offsetWidth - 8)) + 'px';
        menu.style.top = Math.max(4, Math.min(y, innerHeight - menu.offsetHeight - 8)) + 'px';
        menu.querySelector<HTMLElement>('[role=menuitem]')?.focus();
        const outside = (e: Event): void => {
            if (!menu.contains(e.target as Node)) onClose();
        };
        document.addEventListener('pointerdown', outside);
        return () => document.removeEventListener('pointerdown', outside);
    }, []);
    const onKeyDown = (e: KeyboardEvent): void => {
        if (e.key === 'ArrowDown') moveFocus(ref.current!, 1);
        else if (e.key === 'ArrowUp') moveFocus(ref.current!, -1);
        else if (e.key === 'Escape' || e.key === 'Tab') onClose();
        else return;
        e.preventDefault();
        e.stopPropagation();
    };
    return (
        <div ref={ref} class="menu floating" role="menu" aria-label={label} onKeyDown={onKeyDown}>
            {items.map((item) => (
                <button key={item.label} type="button" role="menuitem" onClick={() => { onClose(); item.run(); }}>
                    <span>{item.label}</span>
                    {item.hint && <kbd>{item.hint}</kbd>}
                </button>
            ))}
        </div>
    );
}
