// SPDX-License-Identifier: Apache-2.0
// Message tables of querier.v1.
#include "api/rpc_fields_int.h"
#include "api/rpc_int.h"

static const char *const formats[] = {"PROFILE_FORMAT_UNSPECIFIED", "PROFILE_FORMAT_FLAMEGRAPH",
                                      "PROFILE_FORMAT_TREE",        "PROFILE_FORMAT_DOT",
                                      "PROFILE_FORMAT_PPROF",       NULL};
static const struct fk_field site_fields[] = {
    F(struct rpc_site, name, 1, FK_FIELD_STR, "name", "name")};
static TYPE(site_type, "Location", struct rpc_site, site_fields);
static const struct fk_field pgo_fields[] = {
    F(struct rpc_pgo, keep_locations, 1, FK_FIELD_I32, "keep_locations", "keepLocations"),
    F(struct rpc_pgo, aggregate_callees, 2, FK_FIELD_BOOL, "aggregate_callees",
      "aggregateCallees")};
static TYPE(pgo_type, "GoPGO", struct rpc_pgo, pgo_fields);
// Field 3, frame_filter, changes what is shown, not which samples count: it is skipped.
static const struct fk_field stack_fields[] = {
    FMR(struct rpc_stack_selector, call_site, 1, &site_type, "call_site", "callSite"),
    FMO(struct rpc_stack_selector, pgo, 2, &pgo_type, "go_pgo", "goPgo")};
static TYPE(stack_type, "StackTraceSelector", struct rpc_stack_selector, stack_fields);
static const char *const async_types[] = {"ASYNC_QUERY_TYPE_DISABLED", "ASYNC_QUERY_TYPE_FORCE",
                                          NULL};
static const struct fk_field async_fields[] = {
    F(struct rpc_async, request_id, 1, FK_FIELD_STR, "request_id", "requestId"),
    FE(struct rpc_async, type, 2, async_types, "type", "type")};
static TYPE(async_type, "AsyncQueryRequest", struct rpc_async, async_fields);

static const struct fk_field select_fields[] = {
    F(struct rpc_select, profile_type, 1, FK_FIELD_STR, "profile_typeID", "profileTypeID"),
    F(struct rpc_select, label_selector, 2, FK_FIELD_STR, "label_selector", "labelSelector"),
    F(struct rpc_select, start, 3, FK_FIELD_I64, "start", "start"),
    F(struct rpc_select, end, 4, FK_FIELD_I64, "end", "end"),
    F(struct rpc_select, max_nodes, 5, FK_FIELD_I64, "max_nodes", "maxNodes"),
    FE(struct rpc_select, format, 6, formats, "format", "format"),
    FMO(struct rpc_select, stacks, 7, &stack_type, "stack_trace_selector", "stackTraceSelector"),
    FR(struct rpc_select, profile_ids, 8, FK_FIELD_STR, "profile_id_selector", "profileIdSelector"),
    FMO(struct rpc_select, async, 9, &async_type, "async", "async"),
    FR(struct rpc_select, traces, 10, FK_FIELD_STR, "trace_id_selector", "traceIdSelector"),
    FR(struct rpc_select, spans, 11, FK_FIELD_STR, "span_selector", "spanSelector"),
};
TYPE(rpc_select_type, "SelectMergeStacktracesRequest", struct rpc_select, select_fields);
static const struct fk_field select_profile_fields[] = {
    F(struct rpc_select, profile_type, 1, FK_FIELD_STR, "profile_typeID", "profileTypeID"),
    F(struct rpc_select, label_selector, 2, FK_FIELD_STR, "label_selector", "labelSelector"),
    F(struct rpc_select, start, 3, FK_FIELD_I64, "start", "start"),
    F(struct rpc_select, end, 4, FK_FIELD_I64, "end", "end"),
    F(struct rpc_select, max_nodes, 5, FK_FIELD_I64, "max_nodes", "maxNodes"),
    FMO(struct rpc_select, stacks, 6, &stack_type, "stack_trace_selector", "stackTraceSelector"),
    FR(struct rpc_select, profile_ids, 7, FK_FIELD_STR, "profile_id_selector", "profileIdSelector"),
    FR(struct rpc_select, traces, 8, FK_FIELD_STR, "trace_id_selector", "traceIdSelector"),
};
TYPE(rpc_select_profile_type, "SelectMergeProfileRequest", struct rpc_select,
     select_profile_fields);
static const struct fk_field select_span_fields[] = {
    F(struct rpc_select, profile_type, 1, FK_FIELD_STR, "profile_typeID", "profileTypeID"),
    F(struct rpc_select, label_selector, 2, FK_FIELD_STR, "label_selector", "labelSelector"),
    FR(struct rpc_select, spans, 3, FK_FIELD_STR, "span_selector", "spanSelector"),
    F(struct rpc_select, start, 4, FK_FIELD_I64, "start", "start"),
    F(struct rpc_select, end, 5, FK_FIELD_I64, "end", "end"),
    F(struct rpc_select, max_nodes, 6, FK_FIELD_I64, "max_nodes", "maxNodes"),
    FE(struct rpc_select, format, 7, formats, "format", "format"),
};
TYPE(rpc_select_span_type, "SelectMergeSpanProfileRequest", struct rpc_select, select_span_fields);

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
static const struct fk_field pprof_answer_fields[] = {
    FMO(struct rpc_pprof, profile, 1, &rpc_pprof_type, "profile", "profile")};
static TYPE(pprof_answer_type, "PprofProfile", struct rpc_pprof, pprof_answer_fields);
static const struct fk_field stacktraces_fields[] = {
    FMO(struct rpc_stacktraces, flamegraph, 1, &flamegraph_type, "flamegraph", "flamegraph"),
    F(struct rpc_stacktraces, tree, 2, FK_FIELD_BYTES, "tree", "tree"),
    F(struct rpc_stacktraces, dot, 3, FK_FIELD_STR, "dot", "dot"),
    FMO(struct rpc_stacktraces, pprof, 5, &pprof_answer_type, "pprof", "pprof"),
};
TYPE(rpc_stacktraces_type, "SelectMergeStacktracesResponse", struct rpc_stacktraces,
     stacktraces_fields);

static const struct fk_field diff_fields[] = {
    FMO(struct rpc_diff, left, 1, &rpc_select_type, "left", "left"),
    FMO(struct rpc_diff, right, 2, &rpc_select_type, "right", "right")};
TYPE(rpc_diff_type, "DiffRequest", struct rpc_diff, diff_fields);
static const struct fk_field diff_graph_fields[] = {
    FR(struct rpc_flamegraph, names, 1, FK_FIELD_STR, "names", "names"),
    FMR(struct rpc_flamegraph, levels, 2, &level_type, "levels", "levels"),
    F(struct rpc_flamegraph, total, 3, FK_FIELD_I64, "total", "total"),
    F(struct rpc_flamegraph, max_self, 4, FK_FIELD_I64, "max_self", "maxSelf"),
    F(struct rpc_flamegraph, left, 5, FK_FIELD_I64, "leftTicks", "leftTicks"),
    F(struct rpc_flamegraph, right, 6, FK_FIELD_I64, "rightTicks", "rightTicks"),
};
static TYPE(diff_graph_type, "FlameGraphDiff", struct rpc_flamegraph, diff_graph_fields);
static const struct fk_field diff_answer_fields[] = {
    FMO(struct rpc_diff_answer, flamegraph, 1, &diff_graph_type, "flamegraph", "flamegraph")};
TYPE(rpc_diff_answer_type, "DiffResponse", struct rpc_diff_answer, diff_answer_fields);

// ---- over time ----

static const char *const aggregations[] = {"TIME_SERIES_AGGREGATION_TYPE_SUM",
                                           "TIME_SERIES_AGGREGATION_TYPE_AVERAGE", NULL};
static const char *const exemplar_types[] = {"EXEMPLAR_TYPE_UNSPECIFIED", "EXEMPLAR_TYPE_NONE",
                                             "EXEMPLAR_TYPE_INDIVIDUAL", "EXEMPLAR_TYPE_SPAN",
                                             NULL};
static const char *const query_types[] = {"HEATMAP_QUERY_TYPE_UNSPECIFIED",
                                          "HEATMAP_QUERY_TYPE_INDIVIDUAL",
                                          "HEATMAP_QUERY_TYPE_SPAN", NULL};
static const struct fk_field select_series_fields[] = {
    F(struct rpc_select_series, profile_type, 1, FK_FIELD_STR, "profile_typeID", "profileTypeID"),
    F(struct rpc_select_series, label_selector, 2, FK_FIELD_STR, "label_selector", "labelSelector"),
    F(struct rpc_select_series, start, 3, FK_FIELD_I64, "start", "start"),
    F(struct rpc_select_series, end, 4, FK_FIELD_I64, "end", "end"),
    FR(struct rpc_select_series, group_by, 5, FK_FIELD_STR, "group_by", "groupBy"),
    F(struct rpc_select_series, step, 6, FK_FIELD_F64, "step", "step"),
    FE(struct rpc_select_series, aggregation, 7, aggregations, "aggregation", "aggregation"),
    FMO(struct rpc_select_series, stacks, 8, &stack_type, "stack_trace_selector",
        "stackTraceSelector"),
    F(struct rpc_select_series, limit, 9, FK_FIELD_I64, "limit", "limit"),
    FE(struct rpc_select_series, exemplars, 10, exemplar_types, "exemplar_type", "exemplarType"),
};
TYPE(rpc_select_series_type, "SelectSeriesRequest", struct rpc_select_series, select_series_fields);
static const struct fk_field select_heatmap_fields[] = {
    F(struct rpc_select_series, profile_type, 1, FK_FIELD_STR, "profile_typeID", "profileTypeID"),
    F(struct rpc_select_series, label_selector, 2, FK_FIELD_STR, "label_selector", "labelSelector"),
    F(struct rpc_select_series, start, 3, FK_FIELD_I64, "start", "start"),
    F(struct rpc_select_series, end, 4, FK_FIELD_I64, "end", "end"),
    F(struct rpc_select_series, step, 5, FK_FIELD_F64, "step", "step"),
    FR(struct rpc_select_series, group_by, 6, FK_FIELD_STR, "group_by", "groupBy"),
    FE(struct rpc_select_series, query_type, 7, query_types, "query_type", "queryType"),
    FE(struct rpc_select_series, exemplars, 8, exemplar_types, "exemplar_type", "exemplarType"),
    F(struct rpc_select_series, limit, 9, FK_FIELD_I64, "limit", "limit"),
};
TYPE(rpc_select_heatmap_type, "SelectHeatmapRequest", struct rpc_select_series,
     select_heatmap_fields);
static const struct fk_field exemplar_fields[] = {
    F(struct rpc_exemplar, timestamp, 1, FK_FIELD_I64, "timestamp", "timestamp"),
    F(struct rpc_exemplar, profile_id, 2, FK_FIELD_STR, "profile_id", "profileId"),
    F(struct rpc_exemplar, span_id, 3, FK_FIELD_STR, "span_id", "spanId"),
    F(struct rpc_exemplar, value, 4, FK_FIELD_I64, "value", "value"),
    FMR(struct rpc_exemplar, labels, 5, &rpc_label_type, "labels", "labels"),
    F(struct rpc_exemplar, trace_id, 6, FK_FIELD_STR, "trace_id", "traceId"),
};
static TYPE(exemplar_type, "Exemplar", struct rpc_exemplar, exemplar_fields);
static const struct fk_field point_fields[] = {
    F(struct rpc_point, value, 1, FK_FIELD_F64, "value", "value"),
    F(struct rpc_point, timestamp, 2, FK_FIELD_I64, "timestamp", "timestamp"),
    FMR(struct rpc_point, exemplars, 4, &exemplar_type, "exemplars", "exemplars")};
static TYPE(point_type, "Point", struct rpc_point, point_fields);
static const struct fk_field series_row_fields[] = {
    FMR(struct rpc_series_row, labels, 1, &rpc_label_type, "labels", "labels"),
    FMR(struct rpc_series_row, points, 2, &point_type, "points", "points")};
static TYPE(series_row_type, "Series", struct rpc_series_row, series_row_fields);
static const struct fk_field series_answer_fields[] = {
    FMR(struct rpc_series_answer, series, 1, &series_row_type, "series", "series")};
TYPE(rpc_series_answer_type, "SelectSeriesResponse", struct rpc_series_answer,
     series_answer_fields);
static const struct fk_field slot_fields[] = {
    F(struct rpc_slot, timestamp, 1, FK_FIELD_I64, "timestamp", "timestamp"),
    FR(struct rpc_slot, y_min, 2, FK_FIELD_F64, "y_min", "yMin"),
    FR(struct rpc_slot, counts, 3, FK_FIELD_I32, "counts", "counts"),
    FMR(struct rpc_slot, exemplars, 4, &exemplar_type, "exemplars", "exemplars")};
static TYPE(slot_type, "HeatmapSlot", struct rpc_slot, slot_fields);
static const struct fk_field slot_series_fields[] = {
    FMR(struct rpc_slot_series, labels, 1, &rpc_label_type, "labels", "labels"),
    FMR(struct rpc_slot_series, slots, 2, &slot_type, "slots", "slots")};
static TYPE(slot_series_type, "HeatmapSeries", struct rpc_slot_series, slot_series_fields);
static const struct fk_field heatmap_answer_fields[] = {
    FMR(struct rpc_heatmap_answer, series, 1, &slot_series_type, "series", "series")};
TYPE(rpc_heatmap_answer_type, "SelectHeatmapResponse", struct rpc_heatmap_answer,
     heatmap_answer_fields);

// ---- names ----

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
    FMR(struct rpc_label_set, labels, 1, &rpc_label_type, "labels", "labels")};
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

static const struct fk_field analyze_fields[] = {
    F(struct rpc_analyze, start, 2, FK_FIELD_I64, "start", "start"),
    F(struct rpc_analyze, end, 3, FK_FIELD_I64, "end", "end"),
    F(struct rpc_analyze, query, 4, FK_FIELD_STR, "query", "query"),
};
TYPE(rpc_analyze_type, "AnalyzeQueryRequest", struct rpc_analyze, analyze_fields);
static const struct fk_field scope_fields[] = {
    F(struct rpc_scope, component, 1, FK_FIELD_STR, "component_type", "componentType"),
    F(struct rpc_scope, components, 2, FK_FIELD_U64, "component_count", "componentCount"),
    F(struct rpc_scope, blocks, 3, FK_FIELD_U64, "block_count", "blockCount"),
    F(struct rpc_scope, series, 4, FK_FIELD_U64, "series_count", "seriesCount"),
    F(struct rpc_scope, profiles, 5, FK_FIELD_U64, "profile_count", "profileCount"),
    F(struct rpc_scope, samples, 6, FK_FIELD_U64, "sample_count", "sampleCount"),
    F(struct rpc_scope, index_bytes, 7, FK_FIELD_U64, "index_bytes", "indexBytes"),
    F(struct rpc_scope, profile_bytes, 8, FK_FIELD_U64, "profile_bytes", "profileBytes"),
    F(struct rpc_scope, symbol_bytes, 9, FK_FIELD_U64, "symbol_bytes", "symbolBytes"),
};
static TYPE(scope_type, "QueryScope", struct rpc_scope, scope_fields);
static const struct fk_field impact_fields[] = {
    F(struct rpc_impact, bytes, 2, FK_FIELD_U64, "total_bytes_in_time_range",
      "totalBytesInTimeRange"),
    F(struct rpc_impact, series, 3, FK_FIELD_U64, "total_queried_series", "totalQueriedSeries"),
    F(struct rpc_impact, deduplication, 4, FK_FIELD_BOOL, "deduplication_needed",
      "deduplicationNeeded"),
};
static TYPE(impact_type, "QueryImpact", struct rpc_impact, impact_fields);
static const struct fk_field analyze_answer_fields[] = {
    FMR(struct rpc_analyze_answer, scopes, 1, &scope_type, "query_scopes", "queryScopes"),
    FMO(struct rpc_analyze_answer, impact, 2, &impact_type, "query_impact", "queryImpact"),
};
TYPE(rpc_analyze_answer_type, "AnalyzeQueryResponse", struct rpc_analyze_answer,
     analyze_answer_fields);
