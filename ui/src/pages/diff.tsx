// SPDX-License-Identifier: Apache-2.0
// Diff: any two sources against each other, merged into one graph, side by side, and as a table.

import { useEffect } from 'preact/hooks';
import { apiUrl, useApi } from '../base/api';
import { typeName } from '../base/format';
import { useTitle } from '../base/hooks';
import { isSet, readSource, sourceParams, type Source } from '../base/source';
import type { EntryDetail, Types } from '../base/types';
import { href, navigate, setParams } from '../base/url';
import { DiffTableTab } from '../diff/difftable';
import { MergedTab } from '../diff/merged';
import { MODES, readMode } from '../diff/mode';
import { Sides, swapped } from '../diff/sides';
import { FlameTab } from '../graph/flametab';
import { OrderChoice } from '../graph/panel';
import { LinkMenu } from '../parts/linkmenu';
import { SearchBox } from '../parts/search';
import { Empty } from '../parts/states';
import { Tabs } from '../parts/tabs';
import { defaultType, TypeChooser, useTypes, type TypeOption } from '../parts/typechooser';

const TABS = [
    { key: 'merged', label: 'Merged' },
    { key: 'beside', label: 'Side by side' },
    { key: 'table', label: 'Table' },
];

function useSideTypes(source: Source): TypeOption[] {
    const entry = useApi<EntryDetail>(source.ids[0] ? apiUrl('profiles/' + encodeURIComponent(source.ids[0])) : null);
    const types = useTypes(source);
    return (source.ids.length > 0 ? entry.data?.types : (types.data as Types | undefined)?.types) ?? [];
}

/** Types of both sides; where one side's are not known (yet), the other's. */
export function commonTypes(a: TypeOption[], b: TypeOption[]): TypeOption[] {
    if (a.length === 0 || b.length === 0) return a.length > 0 ? a : b;
    return a.filter((x) => b.some((y) => y.type === x.type)).map((x) => ({ type: x.type }));
}

/** One type for both sides: the one in the URL, else a default that is written there. */
function useOneType(left: Source, right: Source, options: TypeOption[]): string {
    const chosen = right.type || left.type;
    const type = chosen || defaultType(options);
    useEffect(() => {
        if (type && (left.type !== type || right.type !== type)) setParams({ left_type: type, right_type: type }, true);
    }, [type, left.type, right.type]);
    return type;
}

function Modes({ params }: { params: URLSearchParams }) {
    const mode = readMode(params);
    return (
        <div class="choice" role="group" aria-label="Compare by">
            {MODES.map((m) => (
                <button key={m.mode} type="button" data-mode={m.mode} aria-pressed={m.mode === mode} title={m.title} onClick={() => setParams({ mode: m.mode === 'share' ? null : m.mode })}>{m.label}</button>
            ))}
        </div>
    );
}

function Beside({ left, right, params }: { left: Source; right: Source; params: URLSearchParams }) {
    return (
        <div class="beside">
            <div><h3>Left</h3><FlameTab params={params} page="diff" source={sourceParams(left)} tick={0} /></div>
            <div><h3>Right</h3><FlameTab params={params} page="diff" source={sourceParams(right)} tick={0} /></div>
        </div>
    );
}

function Comparison({ left, right, params, options, type }: { left: Source; right: Source; params: URLSearchParams; options: TypeOption[]; type: string }) {
    const wanted = params.get('tab');
    const tab = TABS.some((t) => t.key === wanted) ? wanted! : 'merged';
    const source = { ...sourceParams(left, 'left_'), ...sourceParams(right, 'right_'), mode: readMode(params) };
    return (
        <>
            <div class="toolbar">
                <Tabs tabs={TABS} current={tab} label="Views" />
                <TypeChooser id="type" value={type} options={options} onChange={(t) => setParams({ left_type: t, right_type: t, at: null })} />
                {tab !== 'beside' && <Modes params={params} />}
                <SearchBox value={params.get('s') ?? ''} />
                {tab !== 'table' && <OrderChoice params={params} />}
                <span class="spring" />
                <LinkMenu />
            </div>
            <div role="tabpanel" aria-label={TABS.find((t) => t.key === tab)!.label}>
                {tab === 'merged' && <MergedTab params={params} source={source} tick={0} />}
                {tab === 'beside' && <Beside left={left} right={right} params={params} />}
                {tab === 'table' && <DiffTableTab params={params} source={source} tick={0} />}
            </div>
        </>
    );
}

function Unset({ left, right }: { left: Source; right: Source }) {
    const which = !isSet(left) && !isSet(right) ? 'both sides' : isSet(left) ? 'the right side' : 'the left side';
    return <Empty title={`Choose ${which}`}>Type a selector above, or <a href="./profiles">pick two profiles in the list</a> and compare them.</Empty>;
}

export function DiffPage({ params }: { params: URLSearchParams }) {
    const [left, right] = [readSource(params, 'left_'), readSource(params, 'right_')];
    const ready = isSet(left) && isSet(right);
    const [a, b] = [useSideTypes(left), useSideTypes(right)];
    const options = commonTypes(a, b);
    const type = useOneType(left, right, ready ? options : []);
    useTitle(type ? `Diff, ${typeName(type)}` : 'Diff');
    const apart = ready && a.length > 0 && b.length > 0 && options.length === 0;
    return (
        <>
            <Sides left={left} right={right} onSwap={() => navigate(href('diff', swapped(params)))} />
            {!ready && <Unset left={left} right={right} />}
            {apart && <Empty title="The sides have no type in common">Left has {a.map((t) => typeName(t.type)).join(', ')}; right has {b.map((t) => typeName(t.type)).join(', ')}.</Empty>}
            {ready && type && !apart && <Comparison left={{ ...left, type }} right={{ ...right, type }} params={params} options={options} type={type} />}
        </>
    );
}
