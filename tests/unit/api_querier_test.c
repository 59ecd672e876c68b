// SPDX-License-Identifier: Apache-2.0
// querier.v1 with profiles whose every number is known, each call in protobuf and in JSON.
#include "api_rpc_world.h"

#define Q     "/querier.v1.QuerierService/"
#define T0    1700000000000
#define SPAN  "00f067aa0ba902b7"
#define TRACE "4bf92f3577b34da6a3ce929d0e0e4736"
#define OLD   "00000000000000aa"
#define SOURCE                                                                                     \
    "\"profileTypeID\":\"" CPU "\",\"labelSelector\":\"{}\",\"start\":\"1700000000000\","          \
    "\"end\":\"1700000060000\""

// Two pods; the sums of both: main 16, idle 1, rest 2, work 13 (3 of its own), hash 10.
static void add_shop(struct world *w, const char *id[2])
{
    id[0] = add(w, "a", T0,
                "main;work;hash 6 span_id=" SPAN " trace_id=" TRACE "\nmain;work 3\nmain;idle 1\n");
    id[1] = add(w, "b", T0 + 20000, "main;work;hash 4 profile_id=" OLD "\nmain;rest 2\n");
}

static const char *stacktraces(struct world *w, const char *more)
{
    struct fk_str json = fk_arena_printf(&w->arena, "{" SOURCE "%s}", more);
    return ask(w, Q "SelectMergeStacktraces", &rpc_select_type, &rpc_stacktraces_type, json.p);
}

#define EMPTY_GRAPH                                                                                \
    "{\"flamegraph\":{\"names\":[\"total\"],\"levels\":[{\"values\":[\"0\",\"0\",\"0\",\"0\"]}]}}"

static void flame_graphs_have_levels(void **state)
{
    struct world *w = *state;
    const char *id[2];
    assert_string_equal(stacktraces(w, ""), EMPTY_GRAPH);
    add_shop(w, id);
    assert_string_equal(
        stacktraces(w, ",\"format\":\"PROFILE_FORMAT_FLAMEGRAPH\",\"maxNodes\":\"0\""),
        "{\"flamegraph\":{\"names\":[\"total\",\"main\",\"idle\",\"rest\",\"work\",\"hash\"],"
        "\"levels\":[{\"values\":[\"0\",\"16\",\"0\",\"0\"]},"
        "{\"values\":[\"0\",\"16\",\"0\",\"1\"]},"
        "{\"values\":[\"0\",\"1\",\"1\",\"2\",\"0\",\"2\",\"2\",\"3\",\"0\",\"13\",\"3\",\"4\"]},"
        "{\"values\":[\"6\",\"10\",\"10\",\"5\"]}],\"total\":\"16\",\"maxSelf\":\"10\"}}");
    // An unknown format is a flame graph; what newer clients send along is skipped.
    assert_string_equal(stacktraces(w, ",\"format\":9,\"stackTraceSelector\":{\"frameFilter\":"
                                       "{\"includeRegex\":\"x\"}}"),
                        stacktraces(w, ""));
    refuse(w, Q "SelectMergeStacktraces", "{" SOURCE ",\"maxNodes\":-1}", 400, "invalid_argument",
           "max_nodes");
    refuse(w, Q "SelectMergeStacktraces", "{" SOURCE ",\"maxNodes\":1048577}", 400,
           "invalid_argument", "1048576");
    stacktraces(w, ",\"maxNodes\":1048576");
}

// What weighs less than the last of max_nodes is summed as "other"; ties stay.
static void cut_nodes_become_other(void **state)
{
    struct world *w = *state;
    const char *id[2];
    add_shop(w, id);
    assert_string_equal(
        stacktraces(w, ",\"maxNodes\":2"),
        "{\"flamegraph\":{\"names\":[\"total\",\"main\",\"work\",\"other\"],"
        "\"levels\":[{\"values\":[\"0\",\"16\",\"0\",\"0\"]},"
        "{\"values\":[\"0\",\"16\",\"0\",\"1\"]},"
        "{\"values\":[\"0\",\"13\",\"3\",\"2\",\"0\",\"3\",\"3\",\"3\"]},"
        "{\"values\":[\"3\",\"10\",\"10\",\"3\"]}],\"total\":\"16\",\"maxSelf\":\"10\"}}");
    add(w, "c", T0 + 30000, "main;twin 1\n");
    has(stacktraces(w, ",\"maxNodes\":5"),
        "\"idle\",\"rest\",\"twin\",\"work\""); // two of weight 1
}

static void trees_and_graphs_have_other_forms(void **state)
{
    struct world *w = *state;
    const char *id[2];
    assert_string_equal(stacktraces(w, ",\"format\":2"), "{}");
    assert_string_equal(stacktraces(w, ",\"format\":3"), "{}");
    assert_string_equal(stacktraces(w, ",\"format\":4"), "{\"pprof\":{\"profile\":{}}}");
    add_shop(w, id);
    // Root, main (3 children), work and hash, rest, idle: the last sibling first.
    static const char want[] = "\0\0\1\4main\0\3\4work\3\1\4hash\x0a\0\4rest\2\0\4idle\1\0";
    struct rpc_stacktraces got;
    struct fk_err err = {0};
    fk_test_ok(fk_msg_decode_json(&rpc_stacktraces_type,
                                  fk_str_of(stacktraces(w, ",\"format\":\"PROFILE_FORMAT_TREE\"")),
                                  &w->arena, &got, &err),
               &err);
    assert_int_equal(got.tree.n, sizeof(want) - 1);
    assert_memory_equal(got.tree.p, want, sizeof(want) - 1);
    fk_test_ok(fk_msg_decode_json(&rpc_stacktraces_type,
                                  fk_str_of(stacktraces(w, ",\"format\":2,\"maxNodes\":2")),
                                  &w->arena, &got, &err),
               &err);
    static const char cut[] = "\0\0\1\4main\0\2\5other\3\0\4work\3\1\5other\x0a\0";
    assert_int_equal(got.tree.n, sizeof(cut) - 1);
    assert_memory_equal(got.tree.p, cut, sizeof(cut) - 1);
    const char *dot = stacktraces(w, ",\"format\":\"PROFILE_FORMAT_DOT\"");
    has(dot, "{\"dot\":\"digraph ");
    has(dot, "hash");
    assert_null(strstr(stacktraces(w, ",\"format\":3,\"maxNodes\":2"), "label=\\\"hash"));
}

// ---- which samples count ----

static void total_is(struct world *w, const char *more, const char *total)
{
    struct fk_str want = fk_arena_printf(&w->arena, "\"total\":\"%s\",", total);
    has(stacktraces(w, more), want.p);
}

static void samples_are_chosen(void **state)
{
    struct world *w = *state;
    const char *id[2];
    add_shop(w, id);
    total_is(w, ",\"spanSelector\":[\"00F067AA0BA902B7\"]", "6");
    total_is(w, ",\"spanSelector\":[\"" OLD "\"]", "4"); // kept as profile_id
    total_is(w, ",\"span_selector\":[\"" OLD "\",\"" SPAN "\",\"1111111111111111\"]", "10");
    total_is(w, ",\"traceIdSelector\":[\"" TRACE "\"]", "6");
    assert_string_equal(stacktraces(w, ",\"spanSelector\":[\"1111111111111111\"]"), EMPTY_GRAPH);
    total_is(w, ",\"stackTraceSelector\":{\"callSite\":[{\"name\":\"main\"},{\"name\":\"work\"}]}",
             "13");
    total_is(w,
             ",\"stackTraceSelector\":{\"call_site\":[{\"name\":\"main\"},{\"name\":\"work\"},"
             "{\"name\":\"hash\"}]}",
             "10");
    assert_string_equal(
        stacktraces(w, ",\"stackTraceSelector\":{\"callSite\":[{\"name\":\"work\"}]}"),
        EMPTY_GRAPH);
    struct fk_str one = fk_arena_printf(&w->arena, ",\"profileIdSelector\":[\"%s\"]", id[1]);
    total_is(w, one.p, "6");
    refuse(w, Q "SelectMergeStacktraces", "{" SOURCE ",\"spanSelector\":[\"xyz\"]}", 400,
           "invalid_argument", "span_selector: 'xyz'");
    refuse(w, Q "SelectMergeStacktraces", "{" SOURCE ",\"traceIdSelector\":[\"" SPAN "\"]}", 400,
           "invalid_argument", "32 hex digits");
    refuse(w, Q "SelectMergeStacktraces",
           "{" SOURCE ",\"spanSelector\":[\"" SPAN "\"],\"traceIdSelector\":[\"" TRACE "\"]}", 400,
           "invalid_argument", "together");
    refuse(w, Q "SelectMergeStacktraces", "{" SOURCE ",\"profileIdSelector\":[\"7\"]}", 400,
           "invalid_argument", "profile_id_selector");
    refuse(w, Q "SelectMergeStacktraces", "{\"profileTypeID\":\"" CPU "\"}", 400,
           "invalid_argument", "missing time range");
}

static void spans_have_a_call_of_their_own(void **state)
{
    struct world *w = *state;
    const char *id[2];
    add_shop(w, id);
    has(ask(w, Q "SelectMergeSpanProfile", &rpc_select_span_type, &rpc_stacktraces_type,
            "{" SOURCE ",\"spanSelector\":[\"" SPAN "\"],\"format\":\"PROFILE_FORMAT_DOT\"}"),
        "\"names\":[\"total\",\"main\",\"work\",\"hash\"]");
    has(ask(w, Q "SelectMergeSpanProfile", &rpc_select_span_type, &rpc_stacktraces_type,
            "{" SOURCE ",\"spanSelector\":[\"" SPAN "\"],\"format\":\"PROFILE_FORMAT_TREE\"}"),
        "{\"tree\":\"");
    refuse(w, Q "SelectMergeSpanProfile", "{" SOURCE "}", 400, "invalid_argument",
           "span_selector is missing");
}

// Who asks for a query that runs on gets its result at once.
static void async_is_answered_at_once(void **state)
{
    struct world *w = *state;
    const char *id[2];
    add_shop(w, id);
    assert_string_equal(stacktraces(w, ",\"async\":{\"type\":\"ASYNC_QUERY_TYPE_FORCE\"}"),
                        stacktraces(w, ""));
    assert_string_equal(stacktraces(w, ",\"async\":{}"), stacktraces(w, ""));
    refuse(w, Q "SelectMergeStacktraces", "{" SOURCE ",\"async\":{\"requestId\":\"q7\"}}", 404,
           "not_found", "q7");
}

// The id in front of the braces, or as the name, is the type.
static void types_stand_in_selectors_too(void **state)
{
    struct world *w = *state;
    const char *id[2];
    add_shop(w, id);
    static const char *const matchers[] = {CPU "{pod=\\\"a\\\"}",
                                           "{__name__=\\\"" CPU "\\\",pod=\\\"a\\\"}",
                                           "{__profile_type__=\\\"" CPU "\\\",pod=\\\"a\\\"}"};
    for (size_t i = 0; i < FK_COUNTOF(matchers); i++) {
        struct fk_str json =
            fk_arena_printf(&w->arena, "{\"name\":\"pod\",\"matchers\":[\"%s\"]}", matchers[i]);
        assert_string_equal(
            ask(w, Q "LabelValues", &rpc_label_values_type, &rpc_strings_type, json.p),
            "{\"names\":[\"a\"]}");
    }
    assert_string_equal(ask(w, Q "LabelValues", &rpc_label_values_type, &rpc_strings_type,
                            "{\"name\":\"__unit__\"}"),
                        "{\"names\":[\"nanoseconds\"]}");
    assert_string_equal(ask(w, Q "LabelValues", &rpc_label_values_type, &rpc_strings_type,
                            "{\"name\":\"__profile_type__\",\"start\":\"1000\"}"),
                        "{\"names\":[\"" CPU "\"]}");
    assert_string_equal(ask(w, Q "ProfileTypes", &rpc_range_type, &rpc_profile_types_type,
                            "{\"start\":\"1000\",\"end\":\"4000\"}"),
                        "{}");
}

// ---- pprof ----

static int64_t weight_of(const struct pb_profile *p)
{
    const struct pb_sample *s = p->sample.v;
    int64_t sum = 0;
    for (size_t i = 0; i < p->sample.n; i++) {
        assert_int_equal(s[i].value.n, 1);
        sum += ((const int64_t *)s[i].value.v)[0];
    }
    return sum;
}

static const char *string_at(struct world *w, const struct pb_profile *p, int64_t at)
{
    assert_true(at >= 0 && (size_t)at < p->strings.n);
    return text_of(w, ((const struct fk_str *)p->strings.v)[at]);
}

static bool names_function(struct world *w, const struct pb_profile *p, const char *name)
{
    const struct pb_function *f = p->function.v;
    bool found = false;
    for (size_t i = 0; i < p->function.n && !found; i++)
        found = strcmp(string_at(w, p, f[i].name), name) == 0;
    return found;
}

static struct pb_profile *merged(struct world *w, const char *more)
{
    struct fk_err err = {0};
    struct pb_profile *p = fk_arena_zalloc(&w->arena, sizeof(*p));
    struct fk_str json = fk_arena_printf(&w->arena, "{" SOURCE "%s}", more);
    fk_test_ok(fk_msg_decode_json(&rpc_pprof_type,
                                  fk_str_of(ask(w, Q "SelectMergeProfile", &rpc_select_profile_type,
                                                &rpc_pprof_type, json.p)),
                                  &w->arena, p, &err),
               &err);
    return p;
}

static void merged_pprof_has_one_type(void **state)
{
    struct world *w = *state;
    const char *id[2];
    assert_int_equal(merged(w, "")->sample_type.n, 0);
    add_shop(w, id);
    struct pb_profile *p = merged(w, "");
    assert_int_equal(p->sample_type.n, 1);
    assert_int_equal(weight_of(p), 16);
    assert_non_null(p->period_type);
    assert_string_equal(string_at(w, p, p->period_type->type), "cpu");
    assert_string_equal(string_at(w, p, p->default_sample_type), "cpu");
    assert_true(names_function(w, p, "idle") && !names_function(w, p, "other"));
    assert_int_equal(weight_of(merged(w, ",\"traceIdSelector\":[\"" TRACE "\"]")), 6);
    p = merged(w,
               ",\"stackTraceSelector\":{\"callSite\":[{\"name\":\"main\"},{\"name\":\"work\"}]}");
    assert_int_equal(weight_of(p), 13);
    p = merged(w, ",\"maxNodes\":2");
    assert_int_equal(weight_of(p), 16);
    assert_true(names_function(w, p, "other") && names_function(w, p, "work"));
    assert_false(names_function(w, p, "hash") || names_function(w, p, "idle"));
    has(stacktraces(w, ",\"format\":\"PROFILE_FORMAT_PPROF\""),
        "{\"pprof\":{\"profile\":{\"sampleType\":[{\"type\":");
}

// Only what the compiler looks at: the leaf's end of a stack, callees as one.
static void pgo_keeps_the_leaves(void **state)
{
    struct world *w = *state;
    add(w, "a", T0, "main;f;g 5\nmain;f;gg 3\nroot;f;g 2\n");
    struct pb_profile *p = merged(
        w, ",\"stackTraceSelector\":{\"goPgo\":{\"keepLocations\":2,\"aggregateCallees\":true},"
           "\"callSite\":[{\"name\":\"nowhere\"}]}");
    assert_int_equal(weight_of(p), 10);
    assert_int_equal(p->sample.n, 2); // f;g of main and root are one
    assert_false(names_function(w, p, "main"));
    const struct pb_location *l = p->location.v;
    for (size_t i = 0; i < p->location.n; i++) {
        const struct pb_line *line = l[i].line.v;
        const struct pb_function *f = p->function.v;
        const char *name = string_at(w, p, f[line[0].function_id - 1].name);
        assert_int_equal(line[0].line, name[0] == 'g' ? 0 : 1); // its line is the length of a name
    }
    // More than there are: all.
    p = merged(w,
               ",\"stackTraceSelector\":{\"goPgo\":{\"keepLocations\":\"9223372036854775807\"}}");
    assert_int_equal(p->sample.n, 3);
    assert_true(names_function(w, p, "main") && names_function(w, p, "root"));
}

// ---- difference ----

static void diffs_have_seven_numbers(void **state)
{
    struct world *w = *state;
    const char *id[2];
    add_shop(w, id);
    assert_string_equal(
        ask(w, Q "Diff", &rpc_diff_type, &rpc_diff_answer_type,
            "{\"left\":{" SOURCE ",\"labelSelector\":\"{pod=\\\"a\\\"}\"},"
            "\"right\":{" SOURCE ",\"labelSelector\":\"{pod=\\\"b\\\"}\"}}"),
        "{\"flamegraph\":{\"names\":[\"total\",\"main\",\"idle\",\"rest\",\"work\",\"hash\"],"
        "\"levels\":[{\"values\":[\"0\",\"10\",\"0\",\"0\",\"6\",\"0\",\"0\"]},"
        "{\"values\":[\"0\",\"10\",\"0\",\"0\",\"6\",\"0\",\"1\"]},"
        "{\"values\":[\"0\",\"1\",\"1\",\"0\",\"0\",\"0\",\"2\",\"0\",\"0\",\"0\",\"0\",\"2\","
        "\"2\",\"3\",\"0\",\"9\",\"3\",\"0\",\"4\",\"0\",\"4\"]},"
        "{\"values\":[\"4\",\"6\",\"6\",\"2\",\"4\",\"4\",\"5\"]}],"
        "\"total\":\"16\",\"maxSelf\":\"6\",\"leftTicks\":\"10\",\"rightTicks\":\"6\"}}");
    refuse(w, Q "Diff", "{\"left\":{" SOURCE "}}", 400, "invalid_argument", "right is missing");
    refuse(w, Q "Diff", "{\"left\":{" SOURCE "},\"right\":{" SOURCE ",\"maxNodes\":-2}}", 400,
           "invalid_argument", "max_nodes");
}

// ---- over time ----

static const char *series(struct world *w, const char *more)
{
    struct fk_str json = fk_arena_printf(&w->arena, "{" SOURCE ",\"step\":15%s}", more);
    return ask(w, Q "SelectSeries", &rpc_select_series_type, &rpc_series_answer_type, json.p);
}

static void points_are_sums_at_right_edges(void **state)
{
    struct world *w = *state;
    const char *id[2];
    assert_string_equal(series(w, ""), "{}");
    add_shop(w, id);
    add(w, "b", T0 + 29000, "main;rest 5\n");
    assert_string_equal(series(w, ""),
                        "{\"series\":[{\"points\":[{\"value\":10,\"timestamp\":\"1700000000000\"},"
                        "{\"value\":11,\"timestamp\":\"1700000030000\"}]}]}");
    assert_string_equal(series(w, ",\"groupBy\":[\"pod\"],\"limit\":\"1\""),
                        "{\"series\":[{\"labels\":[{\"name\":\"pod\",\"value\":\"b\"}],"
                        "\"points\":[{\"value\":11,\"timestamp\":\"1700000030000\"}]}]}");
    has(series(w, ",\"aggregation\":\"TIME_SERIES_AGGREGATION_TYPE_AVERAGE\""),
        "{\"value\":5.5,\"timestamp\":\"1700000030000\"}");
    assert_string_equal(
        series(w,
               ",\"stackTraceSelector\":{\"callSite\":[{\"name\":\"main\"},{\"name\":\"work\"}]}"),
        "{\"series\":[{\"points\":[{\"value\":9,\"timestamp\":\"1700000000000\"},"
        "{\"value\":4,\"timestamp\":\"1700000030000\"}]}]}");
    refuse(w, Q "SelectSeries", "{" SOURCE ",\"step\":0.0005}", 400, "invalid_argument", "step");
    refuse(w, Q "SelectSeries", "{" SOURCE ",\"step\":\"NaN\"}", 400, "invalid_argument", "step");
    refuse(w, Q "SelectSeries", "{" SOURCE ",\"step\":1,\"limit\":-1}", 400, "invalid_argument",
           "limit");
}

// The ids of exemplars open the profile in both APIs.
static void exemplars_are_profiles(void **state)
{
    struct world *w = *state;
    const char *id[2];
    int status;
    add_shop(w, id);
    add(w, "b", T0 + 29000, "main;rest 5\n"); // lighter than the other of its step
    const char *got =
        series(w, ",\"exemplarType\":\"EXEMPLAR_TYPE_INDIVIDUAL\",\"groupBy\":[\"pod\"]");
    struct fk_str want = fk_arena_printf(
        &w->arena,
        "\"timestamp\":\"1700000030000\",\"exemplars\":[{\"timestamp\":\"1700000020000\","
        "\"profileId\":\"%s\",\"value\":\"6\",\"labels\":[{\"name\":\"__name__\",\"value\":"
        "\"process_cpu\"},{\"name\":\"service_name\",\"value\":\"shop\"}]}]}",
        id[1]);
    has(got, want.p);
    struct fk_str path = fk_arena_printf(&w->arena, "/api/v1/profiles/%s", id[1]);
    has(call(w, "GET", path.p, "", FK_S(""), &status), "\"samples\":2");
    assert_int_equal(status, 200);
    want = fk_arena_printf(&w->arena, ",\"profileIdSelector\":[\"%s\"]", id[1]);
    total_is(w, want.p, "6");
    has(series(w, ",\"exemplarType\":\"EXEMPLAR_TYPE_SPAN\""),
        "\"spanId\":\"" SPAN "\",\"value\":\"6\"");
    assert_null(strstr(series(w, ",\"exemplarType\":\"EXEMPLAR_TYPE_NONE\""), "exemplars"));
}

static const char *heatmap(struct world *w, const char *more)
{
    struct fk_str json = fk_arena_printf(&w->arena, "{" SOURCE ",\"step\":15%s}", more);
    return ask(w, Q "SelectHeatmap", &rpc_select_heatmap_type, &rpc_heatmap_answer_type, json.p);
}

static struct rpc_heatmap_answer heatmap_of(struct world *w, const char *more)
{
    struct rpc_heatmap_answer got;
    struct fk_err err = {0};
    fk_test_ok(fk_msg_decode_json(&rpc_heatmap_answer_type, fk_str_of(heatmap(w, more)), &w->arena,
                                  &got, &err),
               &err);
    return got;
}

static void slot_is(const struct rpc_slot *s, int64_t time_ms, size_t bucket, int64_t n)
{
    assert_int_equal(s->timestamp, time_ms);
    assert_int_equal(s->y_min.n, 20);
    assert_int_equal(s->counts.n, 20);
    assert_int_equal(((const int64_t *)s->counts.v)[bucket], n);
}

static void heatmaps_count_profiles(void **state)
{
    struct world *w = *state;
    const char *id[2];
    assert_string_equal(heatmap(w, ",\"queryType\":\"HEATMAP_QUERY_TYPE_INDIVIDUAL\""), "{}");
    add_shop(w, id);
    add(w, "b", T0 + 29000, "main;rest 46\n"); // values 10, 6 and 46: buckets 2 wide from 6 on
    struct rpc_heatmap_answer got = heatmap_of(
        w, ",\"queryType\":1,\"exemplarType\":\"EXEMPLAR_TYPE_INDIVIDUAL\",\"groupBy\":[\"pod\"]");
    const struct rpc_slot_series *s = got.series.v;
    assert_int_equal(got.series.n, 2);
    const struct rpc_slot *b = s[0].slots.v, *a = s[1].slots.v; // pod b has two
    assert_int_equal(s[0].slots.n, 1);
    slot_is(b, T0 + 30000, 0, 1);
    slot_is(b, T0 + 30000, 19, 1);
    slot_is(a, T0, 2, 1);
    assert_true(((const double *)a->y_min.v)[0] == 6 && ((const double *)a->y_min.v)[19] == 44);
    const struct rpc_exemplar *e = b->exemplars.v;
    assert_int_equal(b->exemplars.n, 2);
    assert_true(fk_str_eq(e[0].profile_id, fk_str_of(id[1])) && e[0].value == 6);
    assert_int_equal(heatmap_of(w, ",\"queryType\":1,\"groupBy\":[\"pod\"],\"limit\":1").series.n,
                     1);
}

static void heatmaps_count_spans(void **state)
{
    struct world *w = *state;
    const char *id[2];
    add_shop(w, id);
    struct rpc_heatmap_answer got = heatmap_of(
        w, ",\"queryType\":\"HEATMAP_QUERY_TYPE_SPAN\",\"exemplarType\":\"EXEMPLAR_TYPE_SPAN\"");
    const struct rpc_slot_series *s = got.series.v;
    assert_int_equal(got.series.n, 1);
    assert_int_equal(s->slots.n, 2);
    const struct rpc_slot *slot = s->slots.v;
    slot_is(&slot[0], T0, 19, 1);        // 6 of 4 to 6
    slot_is(&slot[1], T0 + 30000, 9, 1); // the last whose lower edge, a whole number, is 4
    const struct rpc_exemplar *e = slot[0].exemplars.v;
    assert_true(fk_str_eq(e->span_id, FK_S(SPAN)) && fk_str_eq(e->trace_id, FK_S(TRACE)));
    assert_int_equal(e->value, 6);
    refuse(w, Q "SelectHeatmap", "{" SOURCE ",\"step\":15}", 400, "invalid_argument", "query_type");
    refuse(w, Q "SelectHeatmap", "{" SOURCE ",\"step\":15,\"queryType\":1,\"exemplarType\":3}", 400,
           "invalid_argument", "exemplar_type");
}

// Each of them is looked for in every series or set of attributes.
static void long_lists_are_refused(void **state)
{
    static const struct {
        const char *method, *begin, *item, *words;
        int most;
    } lists[] = {
        {Q "SelectSeries", "{" SOURCE ",\"step\":15,\"groupBy\":[", "\"a\"", "group_by", 256},
        {Q "SelectHeatmap", "{" SOURCE ",\"step\":15,\"queryType\":1,\"groupBy\":[", "\"a\"",
         "group_by", 256},
        {Q "Series", "{\"labelNames\":[", "\"a\"", "label_names", 256},
        {Q "SelectMergeSpanProfile", "{" SOURCE ",\"spanSelector\":[", "\"" SPAN "\"",
         "span_selector", 1000}};
    struct world *w = *state;
    for (size_t i = 0; i < FK_COUNTOF(lists); i++) {
        FK_AUTO_BUF b;
        int status;
        fk_buf_init(&b, 0);
        fk_buf_cstr(&b, lists[i].begin);
        for (int k = 0; k < lists[i].most; k++)
            fk_buf_printf(&b, "%s,", lists[i].item);
        size_t n = b.n;
        b.p[n - 1] = ']';
        fk_buf_cstr(&b, "}");
        call(w, "POST", lists[i].method, "application/json", fk_buf_view(&b), &status);
        assert_int_equal(status, 200);
        b.n = n;
        b.p[n - 1] = ',';
        fk_buf_printf(&b, "%s]}", lists[i].item);
        refuse(w, lists[i].method, text_of(w, fk_buf_view(&b)), 400, "invalid_argument",
               lists[i].words);
    }
}

static void queries_can_be_weighed(void **state)
{
    struct world *w = *state;
    const char *id[2];
    add_shop(w, id);
    const char *got = ask(w, Q "AnalyzeQuery", &rpc_analyze_type, &rpc_analyze_answer_type,
                          "{\"query\":\"" CPU "{pod=\\\"a\\\"}\",\"start\":\"1\"}");
    has(got, "\"seriesCount\":\"1\",\"profileCount\":\"1\",\"sampleCount\":\"3\"");
    has(got, "\"totalQueriedSeries\":\"1\"");
    has(ask(w, Q "GetProfileStats", &rpc_empty_type, &rpc_stats_type, "{}"),
        "{\"dataIngested\":true,\"oldestProfileTime\":\"1700000000000\",\"newestProfileTime\":"
        "\"1700000020000\"}");
}

// ---- memory ----

static void calls_without_memory_fail_whole(void **state)
{
    struct world *w = *state;
    const char *id[2];
    add_shop(w, id);
    static const char *const calls[][2] = {
        {"SelectMergeStacktraces", "{" SOURCE ",\"maxNodes\":2}"},
        {"SelectMergeStacktraces", "{" SOURCE ",\"format\":2,\"spanSelector\":[\"" SPAN "\"]}"},
        {"SelectMergeStacktraces",
         "{" SOURCE ",\"format\":4,\"maxNodes\":2,\"stackTraceSelector\":{\"callSite\":"
         "[{\"name\":\"main\"}]}}"},
        {"SelectMergeProfile", "{" SOURCE ",\"stackTraceSelector\":{\"goPgo\":"
                               "{\"keepLocations\":2,\"aggregateCallees\":true}}}"},
        {"Diff", "{\"left\":{" SOURCE "},\"right\":{" SOURCE "}}"},
        {"SelectSeries", "{" SOURCE ",\"step\":15,\"exemplarType\":3,\"groupBy\":[\"pod\"]}"},
        {"SelectHeatmap", "{" SOURCE ",\"step\":15,\"queryType\":2,\"exemplarType\":3}"},
        {"AnalyzeQuery", "{\"query\":\"{}\"}"},
    };
    for (size_t i = 0; i < FK_COUNTOF(calls); i++)
        without_memory(w, fk_arena_printf(&w->arena, Q "%s", calls[i][0]).p, calls[i][1]);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, world_setup, world_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(flame_graphs_have_levels),
        TEST(cut_nodes_become_other),
        TEST(trees_and_graphs_have_other_forms),
        TEST(samples_are_chosen),
        TEST(spans_have_a_call_of_their_own),
        TEST(async_is_answered_at_once),
        TEST(types_stand_in_selectors_too),
        TEST(merged_pprof_has_one_type),
        TEST(pgo_keeps_the_leaves),
        TEST(diffs_have_seven_numbers),
        TEST(points_are_sums_at_right_edges),
        TEST(exemplars_are_profiles),
        TEST(heatmaps_count_profiles),
        TEST(heatmaps_count_spans),
        TEST(long_lists_are_refused),
        TEST(queries_can_be_weighed),
        TEST(calls_without_memory_fail_whole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
