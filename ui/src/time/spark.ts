// SPDX-License-Identifier: Apache-2.0
// A line without axes: an SVG path of points scaled into a box, from zero to the largest value.

export function sparkPath(points: [number, number | null][], width: number, height: number): string {
    const known = points.filter((p): p is [number, number] => p[1] !== null);
    if (known.length < 2) return '';
    const [first, last] = [known[0]![0], known[known.length - 1]![0]];
    const top = known.reduce((m, p) => Math.max(m, p[1]), 0) || 1;
    const at = ([t, v]: [number, number]): string => `${(((t - first) / (last - first || 1)) * (width - 2) + 1).toFixed(1)} ${(height - 2 - (v / top) * (height - 4)).toFixed(1)}`;
    return 'M' + known.map(at).join('L');
}
