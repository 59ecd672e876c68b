// SPDX-License-Identifier: Apache-2.0
// Messages of push.v1, types.v1, querier.v1 and google.v1 as structures; their tables are in
// rpc_types_*.c. Field numbers and names are those of Pyroscope's published API.
#ifndef FK_API_RPC_TYPES_INT_H
#define FK_API_RPC_TYPES_INT_H

#include "rpc/rpc.h"

struct rpc_label {
    struct fk_str name, value;
};
struct rpc_sample {
    struct fk_str raw_profile, id;
};
struct rpc_raw_series {
    struct fk_list labels, samples;
};
struct rpc_push {
    struct fk_list series;
};
struct rpc_empty {
    char none;
};

// ---- querier.v1: profiles ----

struct rpc_site { // one function of a call site
    struct fk_str name;
};
struct rpc_pgo {
    int64_t keep_locations;
    bool aggregate_callees;
};
struct rpc_stack_selector {
    struct fk_list call_site; // of struct rpc_site, from the root
    struct rpc_pgo *pgo;
};
struct rpc_async {
    struct fk_str request_id;
    int64_t type;
};
struct rpc_select {
    struct fk_str profile_type, label_selector;
    int64_t start, end, max_nodes, format;
    struct rpc_stack_selector *stacks;
    struct fk_list profile_ids, traces, spans; // of struct fk_str
    struct rpc_async *async;
};
struct rpc_level {
    struct fk_list values; // of int64_t
};
struct rpc_flamegraph {
    struct fk_list names, levels;
    int64_t total, max_self;
    int64_t left, right; // of a diff only
};
struct rpc_stacktraces {
    struct rpc_flamegraph *flamegraph;
    struct fk_str tree, dot;
    struct rpc_pprof *pprof;
};
struct rpc_pprof {
    struct pb_profile *profile;
};
struct rpc_diff {
    struct rpc_select *left, *right;
};
struct rpc_diff_answer {
    struct rpc_flamegraph *flamegraph;
};

// ---- querier.v1: over time ----

struct rpc_select_series {
    struct fk_str profile_type, label_selector;
    int64_t start, end, limit, aggregation, exemplars, query_type; // query_type: of a heatmap
    struct fk_list group_by;
    struct rpc_stack_selector *stacks;
    double step;
};
struct rpc_exemplar {
    int64_t timestamp, value;
    struct fk_str profile_id, span_id, trace_id;
    struct fk_list labels;
};
struct rpc_point {
    double value;
    int64_t timestamp;
    struct fk_list exemplars;
};
struct rpc_series_row {
    struct fk_list labels, points;
};
struct rpc_series_answer {
    struct fk_list series;
};
struct rpc_slot {
    int64_t timestamp;
    struct fk_list y_min, counts, exemplars;
};
struct rpc_slot_series {
    struct fk_list labels, slots;
};
struct rpc_heatmap_answer {
    struct fk_list series;
};

// ---- querier.v1: names ----

struct rpc_names {
    struct fk_str name;      // LabelValues only
    struct fk_list matchers; // of struct fk_str
    struct fk_list label_names;
    int64_t start, end;
};
struct rpc_strings {
    struct fk_list names;
};
struct rpc_label_set {
    struct fk_list labels;
};
struct rpc_label_sets {
    struct fk_list sets;
};
struct rpc_stats {
    bool ingested;
    int64_t oldest_ms, newest_ms;
};
struct rpc_profile_type {
    struct fk_str id, name, sample_type, sample_unit, period_type, period_unit;
};
struct rpc_profile_types {
    struct fk_list types;
};
struct rpc_analyze {
    int64_t start, end;
    struct fk_str query;
};
struct rpc_scope {
    struct fk_str component;
    int64_t components, blocks, series, profiles, samples, index_bytes, profile_bytes, symbol_bytes;
};
struct rpc_impact {
    int64_t bytes, series;
    bool deduplication;
};
struct rpc_analyze_answer {
    struct fk_list scopes;
    struct rpc_impact *impact;
};

// ---- google.v1.Profile ----

struct pb_value_type {
    int64_t type, unit;
};
struct pb_label {
    int64_t key, str, num, num_unit;
};
struct pb_sample {
    struct fk_list location_id, value, label;
};
struct pb_mapping {
    int64_t id, start, limit, offset, filename, build_id;
    bool has_functions, has_filenames, has_lines, has_inlines;
};
struct pb_line {
    int64_t function_id, line, column;
};
struct pb_location {
    int64_t id, mapping_id, address;
    struct fk_list line;
    bool is_folded;
};
struct pb_function {
    int64_t id, name, system_name, filename, start_line;
};
struct pb_profile {
    struct fk_list sample_type, sample, mapping, location, function, strings, comment;
    int64_t drop_frames, keep_frames, time_nanos, duration_nanos, period, default_sample_type,
        doc_url;
    struct pb_value_type *period_type; // NULL: none
};

extern const struct fk_msg_type rpc_label_type, rpc_push_type, rpc_empty_type, rpc_select_type,
    rpc_select_profile_type, rpc_select_span_type, rpc_stacktraces_type, rpc_diff_type,
    rpc_diff_answer_type, rpc_select_series_type, rpc_series_answer_type, rpc_select_heatmap_type,
    rpc_heatmap_answer_type, rpc_label_values_type, rpc_label_names_type, rpc_series_type,
    rpc_strings_type, rpc_label_sets_type, rpc_stats_type, rpc_profile_types_type, rpc_range_type,
    rpc_analyze_type, rpc_analyze_answer_type, rpc_pprof_type;

#endif
