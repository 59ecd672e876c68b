// SPDX-License-Identifier: Apache-2.0
// Downloads of a source. Plain links: the browser streams them to disk under the name that the server gives.

import { apiUrl } from '../base/api';
import type { Changes } from '../base/url';
import { Popover } from './popover';

export const FORMATS: { format: string; label: string; hint: string }[] = [
    { format: 'pprof', label: 'pprof', hint: 'for go tool pprof and most others' },
    { format: 'html', label: 'Page', hint: 'one file that zooms and searches, for sending on' },
    { format: 'svg', label: 'Picture', hint: 'SVG, for documents' },
    { format: 'speedscope', label: 'speedscope', hint: 'in time order where there is time' },
    { format: 'firefox', label: 'Firefox Profiler', hint: 'for profiler.firefox.com' },
    { format: 'folded', label: 'Folded stacks', hint: 'one line per stack' },
    { format: 'otlp', label: 'OTLP', hint: 'for OpenTelemetry' },
    { format: 'pgo', label: 'PGO pprof', hint: 'for go build -pgo' },
    { format: 'dot', label: 'Graphviz', hint: 'calls as a graph' },
    { format: 'flamebearer', label: 'Flamebearer JSON', hint: 'the tree, for Pyroscope tools' },
    { format: 'top.csv', label: 'Table as CSV', hint: 'functions with self and total' },
    { format: 'top.json', label: 'Table as JSON', hint: 'the same for scripts' },
    { format: 'original', label: 'Original bytes', hint: 'of one uploaded profile, while they are kept' },
];

/** These hold stacks whole: frames cannot be taken out of them. */
const WHOLE = ['pprof', 'pgo', 'otlp', 'speedscope', 'firefox', 'original'];

function isFiltered(params: Changes): boolean {
    return ['focus', 'hide', 'collapse'].some((name) => { const v = params[name]; return Array.isArray(v) ? v.length > 0 : !!v; });
}

export function ExportMenu({ params }: { params: Changes }) {
    const filtered = isFiltered(params);
    return (
        <Popover name="Export" label="Export" align="right">
            {(close) => (
                <div class="menu">
                    {FORMATS.map((f) => filtered && WHOLE.includes(f.format) ? (
                        <span key={f.format} aria-disabled="true"><span>{f.label}</span><small>not with frames filtered: take the filters away first</small></span>
                    ) : (
                        <a key={f.format} data-format={f.format} href={apiUrl('export', params, { format: f.format })} download="" onClick={() => setTimeout(close)}>
                            <span>{f.label}</span>
                            <small>{f.hint}</small>
                        </a>
                    ))}
                </div>
            )}
        </Popover>
    );
}
