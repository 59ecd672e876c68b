// SPDX-License-Identifier: Apache-2.0
// The bar above every view over a selector: selector, type, range, refresh. `side` prefixes its parameters in a diff.

import type { ComponentChildren } from 'preact';
import type { Side, Source } from '../base/source';
import { DEFAULT_FROM, DEFAULT_UNTIL } from '../base/time';
import { setParams, type Changes } from '../base/url';
import { RangePicker } from './rangepicker';
import { SelectorBox } from './selectorbox';
import { TypeChooser, type TypeOption } from './typechooser';

interface Props {
    source: Source;
    side?: Side;
    types: TypeOption[];
    allTypes?: string;
    /** Parameters that lose their meaning when the source changes (a cursor, a brushed value range). */
    forget?: Changes;
    typeless?: boolean;
    onRefresh?: () => void;
    children?: ComponentChildren;
}

export function SourceBar({ source, side = '', types, allTypes, forget = {}, typeless, onRefresh, children }: Props) {
    const set = (changes: Changes): void => setParams({ ...forget, ...changes });
    const setRange = (from: string, until: string): void =>
        set({ [side + 'from']: from === DEFAULT_FROM ? null : from, [side + 'until']: until === DEFAULT_UNTIL ? null : until });
    return (
        <div class="sourcebar">
            <SelectorBox id={side + 'selector'} value={source.query} from={source.from} until={source.until} onSubmit={(query) => set({ [side + 'query']: query })} />
            {!typeless && <TypeChooser id={side + 'type'} value={source.type} options={types} all={allTypes} onChange={(type) => set({ [side + 'type']: type })} />}
            <RangePicker from={source.from} until={source.until} onChange={setRange} />
            {onRefresh && <button type="button" class="icon" aria-label="Refresh" title="Refresh" onClick={onRefresh}>⟳</button>}
            {children}
        </div>
    );
}
