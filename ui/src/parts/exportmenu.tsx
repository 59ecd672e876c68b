// SPDX-License-Identifier: Apache-2.0
// Downloads of a source. Plain links: the browser streams them to disk under the name that the server gives.

import { apiUrl } from '../base/api';
import type { Changes } from '../base/url';
import { Popover } from './popover';

export const FORMATS: { format: string; label: string; hint: string }[] = [
    { format: 'pprof', label: 'pprof', hint: 'for go tool pprof and most others' },
    { format: 'folded', label: 'Folded stacks', hint: 'one line per stack' },
    { format: 'flamebearer', label: 'Flamebearer JSON', hint: 'the tree, for Pyroscope tools' },
    { format: 'top.csv', label: 'Table as CSV', hint: 'functions with self and total' },
    { format: 'top.json', label: 'Table as JSON', hint: 'the same for scripts' },
];

export function ExportMenu({ params }: { params: Changes }) {
    return (
        <Popover name="Export" label="Export" align="right">
            {(close) => (
                <div class="menu">
                    {FORMATS.map((f) => (
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
