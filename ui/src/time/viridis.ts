// SPDX-License-Identifier: Apache-2.0
// Colours of counts: a ramp from dark violet over green to yellow that rises evenly in lightness (after Smith and van der Walt's viridis), read the
// same with any colour vision. Counts are mapped by their logarithm: a heatmap has few hot cells and many cool ones.

type Rgb = [number, number, number];

const STOPS: Rgb[] = [[68, 1, 84], [72, 40, 120], [62, 74, 137], [49, 104, 142], [38, 130, 142], [31, 158, 137], [53, 183, 121], [109, 205, 89], [180, 222, 44], [253, 231, 37]];

export function ramp(share: number): Rgb {
    const at = Math.min(Math.max(share, 0), 1) * (STOPS.length - 1);
    const i = Math.min(Math.floor(at), STOPS.length - 2);
    const [a, b] = [STOPS[i]!, STOPS[i + 1]!];
    return a.map((v, k) => Math.round(v + (b[k]! - v) * (at - i))) as Rgb;
}

/** Where a count stands between 1 and max, 0 … 1. On a light page the ramp runs backwards: few is pale, many is dark. */
export function countColor(count: number, max: number, light: boolean): string {
    const share = max <= 1 ? 0.5 : Math.log(count) / Math.log(max);
    const [r, g, b] = ramp(light ? 0.7 * (1 - share) : 0.15 + 0.85 * share);
    return `rgb(${r},${g},${b})`;
}
