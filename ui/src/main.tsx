// SPDX-License-Identifier: Apache-2.0
// Entry of the bundle: theme first, so that nothing is painted twice.

import { render } from 'preact';
import { App, PAGES } from './app';
import { startTheme } from './base/theme';
import { interceptLinks } from './base/url';
import 'uplot/dist/uPlot.min.css';
import './style.css';

startTheme();
interceptLinks(PAGES);
render(<App />, document.getElementById('app')!);
