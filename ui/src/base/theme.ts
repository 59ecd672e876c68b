// SPDX-License-Identifier: Apache-2.0
// Light or dark: what the system asks for, unless the switch says otherwise (kept in this browser). Canvases redraw on change.

import { useEffect, useState } from 'preact/hooks';

export type Theme = 'light' | 'dark';
export type ThemeChoice = Theme | 'auto';

const KEY = 'flamekeep.theme';
const listeners = new Set<() => void>();

function systemDark(): MediaQueryList {
    return matchMedia('(prefers-color-scheme: dark)');
}

export function themeChoice(): ThemeChoice {
    try {
        const kept = localStorage.getItem(KEY);
        return kept === 'light' || kept === 'dark' ? kept : 'auto';
    } catch {
        return 'auto'; // storage may be forbidden; the system's wish still counts
    }
}

export function currentTheme(): Theme {
    const choice = themeChoice();
    return choice === 'auto' ? (systemDark().matches ? 'dark' : 'light') : choice;
}

function apply(): void {
    document.documentElement.dataset.theme = currentTheme();
    for (const fn of listeners) fn();
}

export function setTheme(choice: ThemeChoice): void {
    try {
        if (choice === 'auto') localStorage.removeItem(KEY);
        else localStorage.setItem(KEY, choice);
    } catch {
        // forbidden storage: the choice holds for nobody, which the unchanged page shows
    }
    apply();
}

export function startTheme(): void {
    systemDark().addEventListener('change', apply);
    apply();
}

export function useTheme(): Theme {
    const [theme, set] = useState(currentTheme);
    useEffect(() => {
        const update = (): void => set(currentTheme());
        listeners.add(update);
        return () => void listeners.delete(update);
    }, []);
    return theme;
}
