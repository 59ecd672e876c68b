// SPDX-License-Identifier: Apache-2.0
// Where the graph is zoomed to: the callers as a path, each a way back, and a reset that cannot be overlooked.

import { plural } from '../base/format';
import { shorterNames } from './names';
import { nodeName, pathTo, type Tree } from './model';

const SHOWN = 5;

export function Crumbs({ tree, zoom, onZoom }: { tree: Tree; zoom: number; onZoom: (node: number) => void }) {
    if (zoom === 0) return null;
    const path = pathTo(tree, zoom);
    const shown = path.length > SHOWN ? path.slice(-SHOWN) : path;
    return (
        <nav class="crumbs" aria-label="Zoomed to">
            <button type="button" class="primary" onClick={() => onZoom(0)}>Reset zoom</button>
            {shown.length < path.length && <span class="more">… {plural(path.length - shown.length, 'caller')}</span>}
            {shown.map((node) => (
                <button key={node} type="button" aria-current={node === zoom ? 'true' : undefined} title={nodeName(tree, node)} onClick={() => onZoom(node)}>
                    {shorterNames(nodeName(tree, node))[1] ?? nodeName(tree, node)}
                </button>
            ))}
        </nav>
    );
}
