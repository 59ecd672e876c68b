// SPDX-License-Identifier: Apache-2.0
// Messages of push.v1, types.v1 and querier.v1, as structures and tables. Field numbers and names
// are those of Pyroscope's published API.
#ifndef FK_API_RPC_INT_H
#define FK_API_RPC_INT_H

#include "api/api_int.h"
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
struct rpc_select {
    struct fk_str profile_type, label_selector;
    int64_t start, end, max_nodes, format;
    struct fk_list profile_ids; // of struct fk_str
};
struct rpc_level {
    struct fk_list values; // of int64_t
};
struct rpc_flamegraph {
    struct fk_list names, levels;
    int64_t total, max_self;
};
struct rpc_stacktraces {
    struct rpc_flamegraph flamegraph;
};
struct rpc_select_series {
    struct fk_str profile_type, label_selector;
    int64_t start, end, limit, aggregation;
    struct fk_list group_by;
    double step;
};
struct rpc_point {
    double value;
    int64_t timestamp;
};
struct rpc_series_row {
    struct fk_list labels, points;
};
struct rpc_series_answer {
    struct fk_list series;
};
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

extern const struct fk_msg_type rpc_push_type, rpc_empty_type, rpc_select_type,
    rpc_select_profile_type, rpc_stacktraces_type, rpc_select_series_type, rpc_series_answer_type,
    rpc_label_values_type, rpc_label_names_type, rpc_series_type, rpc_strings_type,
    rpc_label_sets_type, rpc_stats_type, rpc_profile_types_type, rpc_range_type, rpc_pprof_type;

// Decodes the request by its content type; FK_E_UNSUPPORTED for another one.
int fk_rpc_read(struct fk_api_call *c, const struct fk_msg_type *t, void *out, struct fk_err *err);
// Encodes the answer in the codec of the request.
int fk_rpc_answer(struct fk_api_call *c, const struct fk_msg_type *t, const void *msg,
                  struct fk_err *err);
// What a request asks for: type and selector, milliseconds with both ends included.
struct fk_rpc_source {
    struct fk_str type, selector;
    int64_t start_ms, end_ms;
    const struct fk_list *ids; // or NULL
};
// Its query; kept in c->query_run[0].
int fk_rpc_query(struct fk_api_call *c, const struct fk_rpc_source *from, struct fk_query **ret,
                 struct fk_err *err);

#endif
