// SPDX-License-Identifier: Apache-2.0
// The views of one source, be it a profile or a merge of many: tabs, search, order, export.

import { filterParams, sourceParams, type Source } from '../base/source';
import { setParams } from '../base/url';
import { FilterChips } from '../parts/chips';
import { ExportMenu } from '../parts/exportmenu';
import { LinkMenu } from '../parts/linkmenu';
import { SearchBox } from '../parts/search';
import { Tabs } from '../parts/tabs';
import { FlameTab, readOrder, type TabProps } from './flametab';
import { SandwichTab } from './sandwichtab';
import { TimeTab } from './timetab';
import { TopTab } from './toptab';

const TABS = [
    { key: 'flame', label: 'Flame graph' },
    { key: 'table', label: 'Table' },
    { key: 'both', label: 'Both' },
    { key: 'sandwich', label: 'Sandwich' },
    { key: 'time', label: 'Time order' },
];

export function OrderChoice({ params }: { params: URLSearchParams }) {
    return (
        <select aria-label="Order of bars" title="Order of bars side by side. It never means time." value={readOrder(params)}
            onChange={(e) => setParams({ order: e.currentTarget.value === 'name' ? null : e.currentTarget.value, at: params.get('at') })}>
            <option value="name">By name</option>
            <option value="-total">Widest first</option>
        </select>
    );
}

function InvertToggle({ params }: { params: URLSearchParams }) {
    const on = params.get('invert') === 'true';
    return (
        <button type="button" aria-pressed={on} title="Start from the functions that did the work, callers below" onClick={() => setParams({ invert: on ? null : 'true', at: null })}>Invert</button>
    );
}

function Content(props: TabProps & { tab: string }) {
    if (props.tab === 'table') return <TopTab {...props} />;
    if (props.tab === 'sandwich') return <SandwichTab {...props} />;
    if (props.tab === 'time') return <TimeTab {...props} />;
    if (props.tab === 'both') return <div class="split"><TopTab {...props} narrow /><div><FlameTab {...props} /></div></div>;
    return <FlameTab {...props} />;
}

export function GraphPanel({ source, params, page, tick }: { source: Source; params: URLSearchParams; page: string; tick: number }) {
    const wanted = params.get('tab');
    const tab = TABS.some((t) => t.key === wanted) ? wanted! : 'flame';
    const api = { ...sourceParams(source), ...filterParams(params) };
    const flame = tab === 'flame' || tab === 'both';
    return (
        <section class="panel-graph" aria-label="Graph">
            <div class="toolbar">
                <Tabs tabs={TABS} current={tab} label="Views" />
                <SearchBox value={params.get('s') ?? ''} />
                {tab !== 'table' && tab !== 'time' && <OrderChoice params={params} />}
                {flame && <InvertToggle params={params} />}
                <span class="spring" />
                <ExportMenu params={api} />
                <LinkMenu />
            </div>
            <FilterChips params={params} />
            <div role="tabpanel" aria-label={TABS.find((t) => t.key === tab)!.label}>
                <Content tab={tab} params={params} page={page} source={api} tick={tick} />
            </div>
        </section>
    );
}
