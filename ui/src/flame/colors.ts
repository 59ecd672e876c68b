// SPDX-License-Identifier: Apache-2.0
// Colours of bars. Hues after Okabe and Ito ("Color Universal Design", 2008), which people with any colour vision can tell apart;
// bars are tints of them under one dark text. A difference runs from blue (less) over grey to orange (more), never red and green.

import type { Theme } from '../base/theme';
import type { Tree } from './model';
import { packageOf } from './names';

const OKABE_ITO = ['#e69f00', '#56b4e9', '#009e73', '#f0e442', '#0072b2', '#d55e00', '#cc79a7'];
export const SERIES: Record<Theme, string[]> = {
    light: ['#0072b2', '#e69f00', '#009e73', '#cc79a7', '#56b4e9', '#d55e00'],
    dark: ['#56b4e9', '#e69f00', '#2bc79a', '#dd92bb', '#3f92d6', '#f0813a'],
};

type Rgb = [number, number, number];

function rgb(hex: string): Rgb {
    const n = parseInt(hex.slice(1), 16);
    return [n >> 16, (n >> 8) & 255, n & 255];
}

export function mix(a: string, b: string, share: number): string {
    const x = rgb(a);
    const y = rgb(b);
    return '#' + x.map((v, i) => Math.round(v * (1 - share) + y[i]! * share).toString(16).padStart(2, '0')).join('');
}

function linear(v: number): number {
    const s = v / 255;
    return s <= 0.04045 ? s / 12.92 : ((s + 0.055) / 1.055) ** 2.4;
}

function luminance(hex: string): number {
    const [r, g, b] = rgb(hex).map(linear) as Rgb;
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

/** Contrast ratio after WCAG 2.2, 1 … 21. */
export function contrast(a: string, b: string): number {
    const [hi, lo] = [luminance(a), luminance(b)].sort((x, y) => y - x) as [number, number];
    return (hi + 0.05) / (lo + 0.05);
}

/** The seven and five between them: twelve packages can be neighbours. */
const HUES = [...OKABE_ITO, ...[[2, 1], [4, 6], [5, 6], [2, 3], [0, 6]].map(([a, b]) => mix(OKABE_ITO[a!]!, OKABE_ITO[b!]!, 0.5))];

export interface Palette {
    /** Bars by package; index 0 is for names without a package. */
    bars: string[];
    /** Less … the same … more; odd in number, the middle one is "no change". */
    diff: string[];
    text: string;
    fadedText: string;
    faded: string;
    hit: string;
    background: string;
    edge: string;
    focus: string;
}

const DIFF_STEPS = 4;

function diffRamp(less: string, same: string, more: string): string[] {
    const side = (to: string): string[] => Array.from({ length: DIFF_STEPS }, (_, i) => mix(same, to, (i + 1) / DIFF_STEPS));
    return [...side(less).reverse(), same, ...side(more)];
}

function lightPalette(): Palette {
    const bars = ['#d5d8dc', ...HUES.map((h) => mix(h, '#ffffff', 0.52))];
    return {
        bars, diff: diffRamp('#4d9fe0', '#dcdfe2', '#f08a1d'), text: '#14181c', fadedText: '#5c656d', faded: '#eceef0', hit: '#ffb000',
        background: '#ffffff', edge: '#ffffff', focus: '#0a4f9e',
    };
}

function darkPalette(): Palette {
    const tint = (h: string): string => mix(mix(h, '#ffffff', 0.42), '#14181c', 0.16);
    const bars = ['#8d959d', ...HUES.map(tint)];
    return {
        bars, diff: diffRamp('#5aaef0', '#868e96', '#f59a35'), text: '#0d1013', fadedText: '#a3adb5', faded: '#2a3036', hit: '#ffc233',
        background: '#15191d', edge: '#15191d', focus: '#ffffff',
    };
}

export const PALETTES: Record<Theme, Palette> = { light: lightPalette(), dark: darkPalette() };

function hashText(text: string): number {
    let h = 0x811c9dc5;
    for (let i = 0; i < text.length; i++) h = Math.imul(h ^ text.charCodeAt(i), 0x01000193);
    return (h ^ (h >>> 15)) >>> 0;
}

/** Index into Palette.bars for each name. */
export function packageColors(names: string[]): Uint8Array {
    const hues = PALETTES.light.bars.length - 1;
    return Uint8Array.from(names, (name) => {
        const pkg = packageOf(name);
        return pkg === '' ? 0 : 1 + (hashText(pkg) % hues);
    });
}

/** Index into Palette.diff of a change from `left` to `right`, both in the mode's unit: one step for each quarter of the way to "gone" or "new". */
export function diffColor(left: number, right: number): number {
    const sum = left + right;
    const d = sum > 0 ? (right - left) / sum : 0;
    // Half of the scale is a factor of three: the root widens what lies between, where most changes are.
    const reach = Math.min(Math.ceil(Math.sqrt(Math.abs(d)) * DIFF_STEPS - 0.5), DIFF_STEPS);
    return DIFF_STEPS + Math.sign(d) * Math.max(reach, 0);
}

/** Colour index of each node of a tree painted by package. */
export function barColors(tree: Tree): Uint8Array {
    const byName = packageColors(tree.names);
    return Uint8Array.from(tree.name, (n) => byName[n]!);
}
