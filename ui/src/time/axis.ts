// SPDX-License-Identifier: Apache-2.0
// Colours of axes and grids, which stand on canvases and so cannot come from the style sheet.

import type { Theme } from '../base/theme';

export const AXIS: Record<Theme, { text: string; grid: string }> = {
    light: { text: '#566069', grid: '#e6e9ec' },
    dark: { text: '#a3adb5', grid: '#2a3036' },
};
