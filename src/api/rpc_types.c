// SPDX-License-Identifier: Apache-2.0
// The message tables, and reading and answering RPCs with them.
#include "api/rpc_int.h"

#define F(s, member, num, knd, nam, jsn)                                                           \
    {                                                                                              \
        .number = (num), .kind = (knd), .offset = offsetof(s, member), .name = (nam),              \
        .json = (jsn)                                                                              \
    }
#define FR(s, member, num, knd, nam, jsn)                                                          \
    {                                                                                              \
        .number = (num), .kind = (knd), .repeated = true, .offset = offsetof(s, member),           \
        .name = (nam), .json = (jsn)                                                               \
    }
#define FM(s, member, num, typ, nam, jsn)                                                          \
    {                                                                                              \
        .number = (num), .kind = FK_FIELD_MSG, .offset = offsetof(s, member), .name = (nam),       \
        .json = (jsn), .type = (typ)                                                               \
    }
#define FMR(s, member, num, typ, nam, jsn)                                                         \
    {                                                                                              \
        .number = (num), .kind = FK_FIELD_MSG, .repeated = true, .offset = offsetof(s, member),    \
        .name = (nam), .json = (jsn), .type = (typ)                                                \
    }
#define TYPE(var, text, s, fields)                                                                 \
    const struct fk_msg_type var = {text, fields, FK_COUNTOF(fields), sizeof(s)}

static const struct fk_field label_fields[] = {
    F(struct rpc_label, name, 1, FK_FIELD_STR, "name", "name"),
    F(struct rpc_label, value, 2, FK_FIELD_STR, "value", "value")};
static TYPE(label_type, "LabelPair", struct rpc_label, label_fields);

static const struct fk_field sample_fields[] = {
    F(struct rpc_sample, raw_profile, 1, FK_FIELD_BYTES, "raw_profile", "rawProfile"),
    F(struct rpc_sample, id, 2, FK_FIELD_STR, "ID", "ID")};
static TYPE(sample_type, "RawSample", struct rpc_sample, sample_fields);
static const struct fk_field raw_series_fields[] = {
    FMR(struct rpc_raw_series, labels, 1, &label_type, "labels", "labels"),
    FMR(struct rpc_raw_series, samples, 2, &sample_type, "samples", "samples")};
static TYPE(raw_series_type, "RawProfileSeries", struct rpc_raw_series, raw_series_fields);
static const struct fk_field push_fields[] = {
    FMR(struct rpc_push, series, 1, &raw_series_type, "series", "series")};
TYPE(rpc_push_type, "PushRequest", struct rpc_push, push_fields);
const struct fk_msg_type rpc_empty_type = {"PushResponse", NULL, 0, sizeof(struct rpc_empty)};

static const char *const formats[] = {"PROFILE_FORMAT_UNSPECIFIED", "PROFILE_FORMAT_FLAMEGRAPH",
                                      "PROFILE_FORMAT_TREE",        "PROFILE_FORMAT_DOT",
                                      "PROFILE_FORMAT_PPROF",       NULL};
static const struct fk_field select_fields[] = {
    F(struct rpc_select, profile_type, 1, FK_FIELD_STR, "profile_typeID", "profileTypeID"),
    F(struct rpc_select, label_selector, 2, FK_FIELD_STR, "label_selector", "labelSelector"),
    F(struct rpc_select, start, 3, FK_FIELD_I64, "start", "start"),
    F(struct rpc_select, end, 4, FK_FIELD_I64, "end", "end"),
    F(struct rpc_select, max_nodes, 5, FK_FIELD_I64, "max_nodes", "maxNodes"),
    {.number = 6,
     .kind = FK_FIELD_ENUM,
     .offset = offsetof(struct rpc_select, format),
     .name = "format",
     .json = "format",
     .names = formats},
    FR(struct rpc_select, profile_ids, 8, FK_FIELD_STR, "profile_id_selector", "profileIdSelector"),
};
TYPE(rpc_select_type, "SelectMergeStacktracesRequest", struct rpc_select, select_fields);
static const struct fk_field select_profile_fields[] = {
    F(struct rpc_select, profile_type, 1, FK_FIELD_STR, "profile_typeID", "profileTypeID"),
    F(struct rpc_select, label_selector, 2, FK_FIELD_STR, "label_selector", "labelSelector"),
    F(struct rpc_select, start, 3, FK_FIELD_I64, "start", "start"),
    F(struct rpc_select, end, 4, FK_FIELD_I64, "end", "end"),
    F(struct rpc_select, max_nodes, 5, FK_FIELD_I64, "max_nodes", "maxNodes"),
    FR(struct rpc_select, profile_ids, 7, FK_FIELD_STR, "profile_id_selector", "profileIdSelector"),
};
TYPE(rpc_select_profile_type, "SelectMergeProfileRequest", struct rpc_select,
     select_profile_fields);

static const struct fk_field level_fields[] = {
    FR(struct rpc_level, values, 1, FK_FIELD_I64, "values", "values")};
static TYPE(level_type, "Level", struct rpc_level, level_fields);
static const struct fk_field flamegraph_fields[] = {
    FR(struct rpc_flamegraph, names, 1, FK_FIELD_STR, "names", "names"),
    FMR(struct rpc_flamegraph, levels, 2, &level_type, "levels", "levels"),
    F(struct rpc_flamegraph, total, 3, FK_FIELD_I64, "total", "total"),
    F(struct rpc_flamegraph, max_self, 4, FK_FIELD_I64, "max_self", "maxSelf"),
};
static TYPE(flamegraph_type, "FlameGraph", struct rpc_flamegraph, flamegraph_fields);
static const struct fk_field stacktraces_fields[] = {
    FM(struct rpc_stacktraces, flamegraph, 1, &flamegraph_type, "flamegraph", "flamegraph")};
TYPE(rpc_stacktraces_type, "SelectMergeStacktracesResponse", struct rpc_stacktraces,
     stacktraces_fields);

static const char *const aggregations[] = {"TIME_SERIES_AGGREGATION_TYPE_SUM",
                                           "TIME_SERIES_AGGREGATION_TYPE_AVERAGE", NULL};
static const struct fk_field select_series_fields[] = {
    F(struct rpc_select_series, profile_type, 1, FK_FIELD_STR, "profile_typeID", "profileTypeID"),
    F(struct rpc_select_series, label_selector, 2, FK_FIELD_STR, "label_selector", "labelSelector"),
    F(struct rpc_select_series, start, 3, FK_FIELD_I64, "start", "start"),
    F(struct rpc_select_series, end, 4, FK_FIELD_I64, "end", "end"),
    FR(struct rpc_select_series, group_by, 5, FK_FIELD_STR, "group_by", "groupBy"),
    F(struct rpc_select_series, step, 6, FK_FIELD_F64, "step", "step"),
    {.number = 7,
     .kind = FK_FIELD_ENUM,
     .offset = offsetof(struct rpc_select_series, aggregation),
     .name = "aggregation",
     .json = "aggregation",
     .names = aggregations},
    F(struct rpc_select_series, limit, 9, FK_FIELD_I64, "limit", "limit"),
};
TYPE(rpc_select_series_type, "SelectSeriesRequest", struct rpc_select_series, select_series_fields);
static const struct fk_field point_fields[] = {
    F(struct rpc_point, value, 1, FK_FIELD_F64, "value", "value"),
    F(struct rpc_point, timestamp, 2, FK_FIELD_I64, "timestamp", "timestamp")};
static TYPE(point_type, "Point", struct rpc_point, point_fields);
static const struct fk_field series_row_fields[] = {
    FMR(struct rpc_series_row, labels, 1, &label_type, "labels", "labels"),
    FMR(struct rpc_series_row, points, 2, &point_type, "points", "points")};
static TYPE(series_row_type, "Series", struct rpc_series_row, series_row_fields);
static const struct fk_field series_answer_fields[] = {
    FMR(struct rpc_series_answer, series, 1, &series_row_type, "series", "series")};
TYPE(rpc_series_answer_type, "SelectSeriesResponse", struct rpc_series_answer,
     series_answer_fields);

static const struct fk_field label_values_fields[] = {
    F(struct rpc_names, name, 1, FK_FIELD_STR, "name", "name"),
    FR(struct rpc_names, matchers, 2, FK_FIELD_STR, "matchers", "matchers"),
    F(struct rpc_names, start, 3, FK_FIELD_I64, "start", "start"),
    F(struct rpc_names, end, 4, FK_FIELD_I64, "end", "end"),
};
TYPE(rpc_label_values_type, "LabelValuesRequest", struct rpc_names, label_values_fields);
static const struct fk_field label_names_fields[] = {
    FR(struct rpc_names, matchers, 1, FK_FIELD_STR, "matchers", "matchers"),
    F(struct rpc_names, start, 2, FK_FIELD_I64, "start", "start"),
    F(struct rpc_names, end, 3, FK_FIELD_I64, "end", "end"),
};
TYPE(rpc_label_names_type, "LabelNamesRequest", struct rpc_names, label_names_fields);
static const struct fk_field series_fields[] = {
    FR(struct rpc_names, matchers, 1, FK_FIELD_STR, "matchers", "matchers"),
    FR(struct rpc_names, label_names, 2, FK_FIELD_STR, "label_names", "labelNames"),
    F(struct rpc_names, start, 3, FK_FIELD_I64, "start", "start"),
    F(struct rpc_names, end, 4, FK_FIELD_I64, "end", "end"),
};
TYPE(rpc_series_type, "SeriesRequest", struct rpc_names, series_fields);
static const struct fk_field range_fields[] = {
    F(struct rpc_names, start, 1, FK_FIELD_I64, "start", "start"),
    F(struct rpc_names, end, 2, FK_FIELD_I64, "end", "end")};
TYPE(rpc_range_type, "ProfileTypesRequest", struct rpc_names, range_fields);
static const struct fk_field strings_fields[] = {
    FR(struct rpc_strings, names, 1, FK_FIELD_STR, "names", "names")};
TYPE(rpc_strings_type, "LabelNamesResponse", struct rpc_strings, strings_fields);
static const struct fk_field label_set_fields[] = {
    FMR(struct rpc_label_set, labels, 1, &label_type, "labels", "labels")};
static TYPE(label_set_type, "Labels", struct rpc_label_set, label_set_fields);
static const struct fk_field label_sets_fields[] = {
    FMR(struct rpc_label_sets, sets, 2, &label_set_type, "labels_set", "labelsSet")};
TYPE(rpc_label_sets_type, "SeriesResponse", struct rpc_label_sets, label_sets_fields);
static const struct fk_field stats_fields[] = {
    F(struct rpc_stats, ingested, 1, FK_FIELD_BOOL, "data_ingested", "dataIngested"),
    F(struct rpc_stats, oldest_ms, 2, FK_FIELD_I64, "oldest_profile_time", "oldestProfileTime"),
    F(struct rpc_stats, newest_ms, 3, FK_FIELD_I64, "newest_profile_time", "newestProfileTime")};
TYPE(rpc_stats_type, "GetProfileStatsResponse", struct rpc_stats, stats_fields);
static const struct fk_field profile_type_fields[] = {
    F(struct rpc_profile_type, id, 1, FK_FIELD_STR, "ID", "ID"),
    F(struct rpc_profile_type, name, 2, FK_FIELD_STR, "name", "name"),
    F(struct rpc_profile_type, sample_type, 4, FK_FIELD_STR, "sample_type", "sampleType"),
    F(struct rpc_profile_type, sample_unit, 5, FK_FIELD_STR, "sample_unit", "sampleUnit"),
    F(struct rpc_profile_type, period_type, 6, FK_FIELD_STR, "period_type", "periodType"),
    F(struct rpc_profile_type, period_unit, 7, FK_FIELD_STR, "period_unit", "periodUnit"),
};
static TYPE(profile_type_type, "ProfileType", struct rpc_profile_type, profile_type_fields);
static const struct fk_field profile_types_fields[] = {
    FMR(struct rpc_profile_types, types, 1, &profile_type_type, "profile_types", "profileTypes")};
TYPE(rpc_profile_types_type, "ProfileTypesResponse", struct rpc_profile_types,
     profile_types_fields);

// ---- google.v1.Profile, for its JSON form (proto/profile.proto of github.com/google/pprof) ----

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
    struct fk_list period_type; // at most one
};

static const struct fk_field value_type_fields[] = {
    F(struct pb_value_type, type, 1, FK_FIELD_I64, "type", "type"),
    F(struct pb_value_type, unit, 2, FK_FIELD_I64, "unit", "unit")};
static TYPE(value_type_type, "ValueType", struct pb_value_type, value_type_fields);
static const struct fk_field pb_label_fields[] = {
    F(struct pb_label, key, 1, FK_FIELD_I64, "key", "key"),
    F(struct pb_label, str, 2, FK_FIELD_I64, "str", "str"),
    F(struct pb_label, num, 3, FK_FIELD_I64, "num", "num"),
    F(struct pb_label, num_unit, 4, FK_FIELD_I64, "num_unit", "numUnit")};
static TYPE(pb_label_type, "Label", struct pb_label, pb_label_fields);
static const struct fk_field pb_sample_fields[] = {
    FR(struct pb_sample, location_id, 1, FK_FIELD_U64, "location_id", "locationId"),
    FR(struct pb_sample, value, 2, FK_FIELD_I64, "value", "value"),
    FMR(struct pb_sample, label, 3, &pb_label_type, "label", "label")};
static TYPE(pb_sample_type, "Sample", struct pb_sample, pb_sample_fields);
static const struct fk_field mapping_fields[] = {
    F(struct pb_mapping, id, 1, FK_FIELD_U64, "id", "id"),
    F(struct pb_mapping, start, 2, FK_FIELD_U64, "memory_start", "memoryStart"),
    F(struct pb_mapping, limit, 3, FK_FIELD_U64, "memory_limit", "memoryLimit"),
    F(struct pb_mapping, offset, 4, FK_FIELD_U64, "file_offset", "fileOffset"),
    F(struct pb_mapping, filename, 5, FK_FIELD_I64, "filename", "filename"),
    F(struct pb_mapping, build_id, 6, FK_FIELD_I64, "build_id", "buildId"),
    F(struct pb_mapping, has_functions, 7, FK_FIELD_BOOL, "has_functions", "hasFunctions"),
    F(struct pb_mapping, has_filenames, 8, FK_FIELD_BOOL, "has_filenames", "hasFilenames"),
    F(struct pb_mapping, has_lines, 9, FK_FIELD_BOOL, "has_line_numbers", "hasLineNumbers"),
    F(struct pb_mapping, has_inlines, 10, FK_FIELD_BOOL, "has_inline_frames", "hasInlineFrames"),
};
static TYPE(mapping_type, "Mapping", struct pb_mapping, mapping_fields);
static const struct fk_field line_fields[] = {
    F(struct pb_line, function_id, 1, FK_FIELD_U64, "function_id", "functionId"),
    F(struct pb_line, line, 2, FK_FIELD_I64, "line", "line"),
    F(struct pb_line, column, 3, FK_FIELD_I64, "column", "column")};
static TYPE(line_type, "Line", struct pb_line, line_fields);
static const struct fk_field location_fields[] = {
    F(struct pb_location, id, 1, FK_FIELD_U64, "id", "id"),
    F(struct pb_location, mapping_id, 2, FK_FIELD_U64, "mapping_id", "mappingId"),
    F(struct pb_location, address, 3, FK_FIELD_U64, "address", "address"),
    FMR(struct pb_location, line, 4, &line_type, "line", "line"),
    F(struct pb_location, is_folded, 5, FK_FIELD_BOOL, "is_folded", "isFolded")};
static TYPE(location_type, "Location", struct pb_location, location_fields);
static const struct fk_field function_fields[] = {
    F(struct pb_function, id, 1, FK_FIELD_U64, "id", "id"),
    F(struct pb_function, name, 2, FK_FIELD_I64, "name", "name"),
    F(struct pb_function, system_name, 3, FK_FIELD_I64, "system_name", "systemName"),
    F(struct pb_function, filename, 4, FK_FIELD_I64, "filename", "filename"),
    F(struct pb_function, start_line, 5, FK_FIELD_I64, "start_line", "startLine")};
static TYPE(function_type, "Function", struct pb_function, function_fields);
static const struct fk_field pprof_fields[] = {
    FMR(struct pb_profile, sample_type, 1, &value_type_type, "sample_type", "sampleType"),
    FMR(struct pb_profile, sample, 2, &pb_sample_type, "sample", "sample"),
    FMR(struct pb_profile, mapping, 3, &mapping_type, "mapping", "mapping"),
    FMR(struct pb_profile, location, 4, &location_type, "location", "location"),
    FMR(struct pb_profile, function, 5, &function_type, "function", "function"),
    FR(struct pb_profile, strings, 6, FK_FIELD_STR, "string_table", "stringTable"),
    F(struct pb_profile, drop_frames, 7, FK_FIELD_I64, "drop_frames", "dropFrames"),
    F(struct pb_profile, keep_frames, 8, FK_FIELD_I64, "keep_frames", "keepFrames"),
    F(struct pb_profile, time_nanos, 9, FK_FIELD_I64, "time_nanos", "timeNanos"),
    F(struct pb_profile, duration_nanos, 10, FK_FIELD_I64, "duration_nanos", "durationNanos"),
    FMR(struct pb_profile, period_type, 11, &value_type_type, "period_type", "periodType"),
    F(struct pb_profile, period, 12, FK_FIELD_I64, "period", "period"),
    FR(struct pb_profile, comment, 13, FK_FIELD_I64, "comment", "comment"),
    F(struct pb_profile, default_sample_type, 14, FK_FIELD_I64, "default_sample_type",
      "defaultSampleType"),
    F(struct pb_profile, doc_url, 15, FK_FIELD_I64, "doc_url", "docUrl"),
};
TYPE(rpc_pprof_type, "Profile", struct pb_profile, pprof_fields);

// ---- requests and answers ----

int fk_rpc_read(struct fk_api_call *c, const struct fk_msg_type *t, void *out, struct fk_err *err)
{
    switch (fk_rpc_codec_of(c->content_type)) {
    case FK_RPC_JSON:
        return fk_msg_decode_json(t, c->request, c->arena, out, err);
    case FK_RPC_PROTO:
        return fk_msg_decode(t, c->request, c->arena, out, err);
    case FK_RPC_OTHER:
        break;
    }
    return fk_fail(
        err, FK_E_UNSUPPORTED,
        "the content type '%.*s' is not taken; send application/proto or application/json",
        FK_STR_ARG(fk_str_head(c->content_type, 60)));
}

int fk_rpc_answer(struct fk_api_call *c, const struct fk_msg_type *t, const void *msg,
                  struct fk_err *err)
{
    if (fk_rpc_codec_of(c->content_type) == FK_RPC_JSON) {
        struct fk_json w;
        c->type = "application/json";
        fk_json_init(&w, fk_out_buf(&c->body), false);
        fk_msg_encode_json(t, msg, &w);
        return fk_json_finish(&w, err);
    }
    c->type = "application/proto";
    fk_msg_encode(t, msg, &c->body);
    return fk_buf_check(&c->body, "answer", err);
}

// A matcher {__profile_type__="..."} chooses the type; the others stay.
static int take_type_matcher(struct fk_api_call *c, struct fk_source_spec *s, struct fk_err *err)
{
    struct fk_selector *x;
    struct fk_buf b;
    int r = fk_selector_parse(s->selector, c->arena, &x, err);
    if (r)
        return r;
    size_t kept = 0, all = x->n;
    for (size_t i = 0; i < all; i++)
        if (fk_str_eq(x->v[i].name, FK_S("__profile_type__")) && x->v[i].op == FK_MATCH_EQ)
            s->type = s->type.n ? s->type : x->v[i].value;
        else
            kept++;
    if (kept < all) {
        struct fk_selector rest = {fk_arena_array(c->arena, kept + 1, sizeof(*rest.v)), 0};
        for (size_t i = 0; rest.v && i < all; i++)
            if (!fk_str_eq(x->v[i].name, FK_S("__profile_type__")) || x->v[i].op != FK_MATCH_EQ)
                rest.v[rest.n++] = x->v[i];
        fk_buf_init(&b, 0);
        if (rest.v)
            fk_selector_put(&b, &rest);
        s->selector = fk_arena_str(c->arena, fk_buf_view(&b));
        fk_buf_free(&b);
    }
    fk_selector_free(x);
    return s->selector.p || all == kept ? 0 : fk_fail_nomem(err);
}

static int read_ids(struct fk_api_call *c, const struct fk_list *ids, struct fk_source_spec *s,
                    struct fk_err *err)
{
    struct fk_id *id = fk_arena_array(c->arena, (ids ? ids->n : 0) + 1, sizeof(*id));
    if (!id)
        return fk_fail_nomem(err);
    for (size_t i = 0; ids && i < ids->n; i++) {
        int r = fk_id_parse(((const struct fk_str *)ids->v)[i], &id[i], err);
        if (r)
            return r;
    }
    s->id = id;
    s->n_ids = ids ? ids->n : 0;
    return 0;
}

int fk_rpc_query(struct fk_api_call *c, const struct fk_rpc_source *from, struct fk_query **ret,
                 struct fk_err *err)
{
    struct fk_source_spec s = {.selector = from->selector, .type = from->type};
    int r;
    if (from->start_ms > from->end_ms)
        return fk_fail_param(err, "start", "start lies behind end");
    if (__builtin_mul_overflow(from->start_ms, FK_NS_PER_MS, &s.from_ns))
        s.from_ns = INT64_MIN;
    if (__builtin_mul_overflow(from->end_ms, FK_NS_PER_MS, &s.until_ns) || s.until_ns == INT64_MAX)
        s.until_ns = INT64_MAX - 1;
    s.until_ns++; // both ends are in
    if ((r = take_type_matcher(c, &s, err)) || (r = read_ids(c, from->ids, &s, err)))
        return r;
    struct fk_query_opts o = {.store = c->api->opts.store,
                              .tenant = c->tenant,
                              .memory = c->api->opts.limits.query_memory,
                              .cancel = c->cancel};
    r = fk_query_new(&o, &s, &c->query_run[0], err);
    *ret = c->query_run[0];
    return r;
}
