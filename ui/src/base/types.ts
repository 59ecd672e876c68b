// SPDX-License-Identifier: Apache-2.0
// Shapes of the server's answers (/api/v1). What may be absent is optional: absent means unknown, never zero.

export interface Completeness {
    profiles?: number;
    blocks?: number;
    bytes?: number;
    truncated_share?: number;
    unsymbolized_share?: number;
    dropped_samples?: number;
    warnings?: string[];
}

export type Kind = 'cumulative' | 'delta' | 'instant';

export interface EntryType {
    type: string;
    unit: string;
    kind?: Kind;
    total: number;
}

export interface Entry {
    id: string;
    time: string;
    duration_ns?: number;
    service_name?: string;
    labels?: Record<string, string>;
    types: EntryType[];
    samples?: number;
    size?: number;
    has_time?: boolean;
    truncated?: boolean;
    pinned?: boolean;
    client_id?: string;
}

/** One side of "previous and next of its series": the id alone, or an entry. */
export type Neighbour = string | { id: string; time?: string };

export interface Mapping {
    file?: string;
    build_id?: string;
}

export interface EntryDetail extends Entry {
    annotations?: Record<string, string>;
    comments?: string[];
    mappings?: Mapping[];
    attributes?: (string | { name: string })[];
    previous?: Neighbour;
    next?: Neighbour;
}

export interface ProfileList {
    profiles: Entry[];
    next_cursor?: string;
    prev_cursor?: string;
    completeness?: Completeness;
}

export interface TreeColumns {
    parent: number[];
    name: number[];
    self: number[];
    total: number[];
}

export interface Flamegraph {
    type: string;
    unit: string;
    total: number;
    names: string[];
    nodes: TreeColumns;
    folded?: number;
    completeness?: Completeness;
}

export interface SandwichTree {
    names: string[];
    nodes: TreeColumns;
}

export interface Sandwich {
    type: string;
    unit: string;
    total: number;
    function: string;
    self: number;
    callers: SandwichTree;
    callees: SandwichTree;
    completeness?: Completeness;
}

export interface TopRow {
    function: string;
    file?: string;
    package?: string;
    self: number;
    total: number;
    self_share?: number;
    total_share?: number;
}

export interface Top {
    type: string;
    unit: string;
    total: number;
    rows: TopRow[];
    completeness?: Completeness;
}

export interface DiffSide {
    total: number;
    profiles?: number;
    factor: number;
}

export interface DiffColumns {
    parent: number[];
    name: number[];
    left_self: number[];
    left_total: number[];
    right_self: number[];
    right_total: number[];
}

interface DiffHead {
    type: string;
    unit: string;
    mode: string;
    left: DiffSide;
    right: DiffSide;
    completeness?: Completeness;
}

export interface Diff extends DiffHead {
    names: string[];
    nodes: DiffColumns;
    folded?: number;
}

export interface DiffRow {
    function: string;
    file?: string;
    package?: string;
    left_self: number;
    left_total: number;
    right_self: number;
    right_total: number;
    delta: number;
    relative?: number;
    low?: number;
    high?: number;
    p?: number;
    q?: number;
    verdict?: string;
}

export interface DiffTop extends DiffHead {
    rows: DiffRow[];
}

export interface Series {
    type: string;
    unit: string;
    step_ns: number;
    groups: { labels: Record<string, string>; points: [number, number | null][] }[];
    completeness?: Completeness;
}

export interface Heatmap {
    type: string;
    unit: string;
    x_start: string | number;
    x_step_ns: number;
    y_min: number;
    y_step: number;
    counts: [number, number, number][];
    max: number;
    completeness?: Completeness;
}

export interface Lane {
    thread: string;
    labels: Record<string, string>;
    samples: number;
    /** Columns of equal length, by begin, then depth; begin and end count steps of the timeline. */
    spans: { begin: number[]; end: number[]; depth: number[]; name: number[] };
}

export interface Timeline {
    type: string;
    unit: string;
    begin: string;
    end: string;
    step_ns: number;
    width: number;
    samples: number;
    period_ns: number;
    period_known: boolean;
    names: string[];
    lanes: Lane[];
    lanes_left_out: number;
    completeness?: Completeness;
}

export interface Session {
    auth: 'token' | 'none';
    multitenancy: boolean;
    name?: string;
    scopes: string[];
    tenants: string[];
}

export interface Rejects {
    total: number;
    reasons: { reason: string; count: number }[];
    rejects: { time: string; endpoint: string; status: number; reason: string; detail?: string; count: number; name?: string; user_agent?: string; bytes: number; fingerprint: string }[];
}

export interface Labels {
    names: { name: string; values?: number; profiles?: number }[];
    truncated?: boolean;
}

export interface LabelValues {
    values: { value: string; profiles?: number }[];
    truncated?: boolean;
}

export interface Types {
    types: { type: string; unit: string; kind?: Kind; services?: number; profiles?: number }[];
}

export interface Services {
    services: { service_name: string; types: (string | { type: string })[]; profiles?: number; last_seen?: string }[];
}

export interface Problem {
    title: string;
    status?: number;
    detail?: string;
    param?: string;
    limit?: string | number;
    flag?: string;
}
