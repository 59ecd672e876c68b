// SPDX-License-Identifier: Apache-2.0
// querier.v1: what dashboards ask. Sums, both ends of a range included, empty answers where there
// is nothing.
#include "api/rpc_int.h"

#define MAX_TIME_MS (INT64_MAX / FK_NS_PER_MS) // what 64 bits of nanoseconds reach

// ---- flame graph ----

static int put_flamegraph(struct fk_api_call *c, const struct fk_tree *t, int64_t max_nodes,
                          struct rpc_flamegraph *out, struct fk_err *err)
{
    struct fk_tree_view v;
    struct fk_flamebearer f;
    int r = fk_tree_view(t, &(struct fk_tree_opts){.max_nodes = (uint32_t)max_nodes}, c->arena, &v,
                         err);
    if (r || (r = fk_flamebearer_make(&v, c->arena, &f, err)))
        return r;
    struct rpc_level *level = fk_arena_array(c->arena, FK_MAX(f.n_levels, 1u), sizeof(*level));
    struct fk_str *name = fk_arena_array(c->arena, FK_MAX(f.n_names, 1u), sizeof(*name));
    int64_t *value = fk_arena_array(c->arena, f.begin[f.n_levels] + 1, sizeof(*value));
    if (!level || !name || !value)
        return fk_fail_nomem(err);
    memcpy(value, f.value, f.begin[f.n_levels] * sizeof(*value));
    memcpy(name, f.name, f.n_names * sizeof(*name));
    for (uint32_t i = 0; i < f.n_levels; i++)
        level[i].values = (struct fk_list){value + f.begin[i], f.begin[i + 1] - f.begin[i]};
    *out = (struct rpc_flamegraph){{name, f.n_names}, {level, f.n_levels}, f.ticks[0], f.max_self};
    return 0;
}

static int check_select(const struct rpc_select *in, struct fk_err *err)
{
    struct fk_type_id id;
    int r = fk_type_id_parse(in->profile_type, &id, err);
    if (r)
        return r;
    if ((in->start == 0 || in->end == 0) && in->profile_ids.n == 0)
        return fk_fail_param(err, "start", "missing time range in the query");
    if (in->max_nodes < 0 || in->max_nodes > 1048576)
        return fk_fail_param(err, "max_nodes", "max_nodes must lie between 0 and 1048576");
    return 0;
}

static int put_profile(struct fk_api_call *c, struct fk_query *q, struct fk_err *err)
{
    struct fk_profile p;
    struct fk_buf raw;
    void *msg = fk_arena_alloc(c->arena, rpc_pprof_type.size);
    int r = fk_query_profile(q, &p, err);
    bool json = fk_rpc_codec_of(c->content_type) == FK_RPC_JSON;
    c->type = json ? "application/json" : "application/proto";
    if (r == -FK_E_NOTFOUND) { // nothing there: the empty message
        if (json)
            fk_buf_cstr(&c->body, "{}");
        return 0;
    }
    if (r || !msg)
        return r ? r : fk_fail_nomem(err);
    if (!json)
        return fk_encode(FK_FORMAT_PPROF, &p, &(struct fk_encode_opts){0}, fk_out_buf(&c->body),
                         err);
    fk_buf_init(&raw, 0);
    r = fk_encode(FK_FORMAT_PPROF, &p, &(struct fk_encode_opts){0}, fk_out_buf(&raw), err);
    if (r == 0)
        r = fk_msg_decode(&rpc_pprof_type, fk_buf_view(&raw), c->arena, msg, err);
    if (r == 0)
        r = fk_rpc_answer(c, &rpc_pprof_type, msg, err);
    fk_buf_free(&raw);
    return r;
}

static int put_stacktraces(struct fk_api_call *c, struct fk_query *q, const struct rpc_select *in,
                           struct fk_err *err)
{
    struct rpc_stacktraces out = {0};
    struct fk_tree *t = fk_tree_new(1, (size_t)c->api->opts.limits.query_memory);
    if (!t)
        return fk_fail_nomem(err);
    int r = fk_query_tree(q, t, 0, err);
    if (r == 0 || r == -FK_E_NOTFOUND)
        r = put_flamegraph(c, t, in->max_nodes ? in->max_nodes : 8192, &out.flamegraph, err);
    fk_tree_free(t);
    return r ? r : fk_rpc_answer(c, &rpc_stacktraces_type, &out, err);
}

static struct fk_rpc_source select_source(const struct rpc_select *in)
{
    return (struct fk_rpc_source){in->profile_type, in->label_selector, in->start, in->end,
                                  &in->profile_ids};
}

int fk_rpc_select_stacktraces(struct fk_api_call *c, struct fk_err *err)
{
    enum { FLAMEGRAPH = 1, PPROF = 4 };
    struct rpc_select in;
    struct fk_query *q;
    int r = fk_rpc_read(c, &rpc_select_type, &in, err);
    if (r || (r = check_select(&in, err)))
        return r;
    if (in.format > FLAMEGRAPH)
        return fk_fail_param(err, "format",
                             "only PROFILE_FORMAT_FLAMEGRAPH is available in this version; "
                             "SelectMergeProfile gives pprof");
    struct fk_rpc_source from = select_source(&in);
    if ((r = fk_rpc_query(c, &from, &q, err)))
        return r;
    return put_stacktraces(c, q, &in, err);
}

int fk_rpc_select_profile(struct fk_api_call *c, struct fk_err *err)
{
    struct rpc_select in;
    struct fk_query *q;
    int r = fk_rpc_read(c, &rpc_select_profile_type, &in, err);
    if (r || (r = check_select(&in, err)))
        return r;
    struct fk_rpc_source from = select_source(&in);
    if ((r = fk_rpc_query(c, &from, &q, err)))
        return r;
    return put_profile(c, q, err);
}

// ---- series ----

static int put_series_row(struct fk_api_call *c, const struct fk_group *g,
                          struct rpc_series_row *to)
{
    struct rpc_label *label = fk_arena_array(c->arena, g->labels.n + 1, sizeof(*label));
    struct rpc_point *point = fk_arena_array(c->arena, g->n + 1, sizeof(*point));
    if (!label || !point)
        return -FK_E_NOMEM;
    for (size_t i = 0; i < g->labels.n; i++)
        label[i] = (struct rpc_label){g->labels.v[i].name, g->labels.v[i].value};
    for (size_t i = 0; i < g->n; i++)
        point[i] = (struct rpc_point){g->point[i].value, g->point[i].time_ms};
    *to = (struct rpc_series_row){{label, g->labels.n}, {point, g->n}};
    return 0;
}

static int put_series(struct fk_api_call *c, const struct fk_series *s, struct fk_err *err)
{
    struct rpc_series_row *row = fk_arena_array(c->arena, s->n + 1, sizeof(*row));
    struct rpc_series_answer out = {{row, s->n}};
    for (size_t i = 0; row && i < s->n; i++)
        if (put_series_row(c, &s->group[i], &row[i]))
            row = NULL;
    return row ? fk_rpc_answer(c, &rpc_series_answer_type, &out, err) : fk_fail_nomem(err);
}

int fk_rpc_select_series(struct fk_api_call *c, struct fk_err *err)
{
    struct rpc_select_series in;
    struct fk_series series = {0};
    struct fk_query *q;
    int r = fk_rpc_read(c, &rpc_select_series_type, &in, err);
    if (r)
        return r;
    if (in.start == 0 || in.end == 0)
        return fk_fail_param(err, "start", "missing time range in the query");
    if (in.start < -MAX_TIME_MS || in.start > MAX_TIME_MS || in.end < -MAX_TIME_MS ||
        in.end > MAX_TIME_MS)
        return fk_fail_param(err, "start", "times must lie between the years 1678 and 2262");
    if (!(in.step >= 0.001) || in.step > 1e9)
        return fk_fail_param(err, "step", "step must be at least 0.001 seconds");
    struct fk_series_spec spec = {.step_ns = (int64_t)(in.step * 1000) * FK_NS_PER_MS,
                                  .group_by = in.group_by.v,
                                  .n_group_by = in.group_by.n,
                                  .aggregation = in.aggregation == 1 ? FK_AGG_AVG : FK_AGG_SUM,
                                  .limit = in.limit > 0 ? (size_t)in.limit : 0,
                                  .on_grid = true,
                                  .grid_ns = in.start * FK_NS_PER_MS,
                                  .grid_end_ns = in.end * FK_NS_PER_MS};
    struct fk_rpc_source from = {in.profile_type, in.label_selector,
                                 in.start - (int64_t)(in.step * 1000), in.end, NULL};
    if ((r = fk_rpc_query(c, &from, &q, err)))
        return r;
    r = fk_query_series(q, &spec, &series, err);
    return r && r != -FK_E_NOTFOUND ? r : put_series(c, &series, err);
}

// ---- names ----

// Several selectors are one: all of their matchers must hold.
static int join_matchers(struct fk_api_call *c, const struct fk_list *matchers, struct fk_str *ret,
                         struct fk_err *err)
{
    const struct fk_str *text = matchers->v;
    struct fk_buf all, one;
    int r = 0;
    fk_buf_init(&all, 0);
    fk_buf_init(&one, 0);
    fk_buf_byte(&all, '{');
    for (size_t i = 0; r == 0 && i < matchers->n; i++) {
        struct fk_selector *s;
        if ((r = fk_selector_parse(text[i], c->arena, &s, err)))
            break;
        fk_buf_clear(&one);
        fk_selector_put(&one, s);
        if (s->n) {
            fk_buf_cstr(&all, all.n > 1 ? "," : "");
            fk_buf_put(&all, one.p + 1, one.n - 2); // without its braces
        }
        fk_selector_free(s);
    }
    fk_buf_byte(&all, '}');
    if (r == 0)
        r = fk_buf_check(&all, "selector", err);
    if (r == 0)
        *ret = fk_arena_str(c->arena, fk_buf_view(&all));
    fk_buf_free(&all);
    fk_buf_free(&one);
    return r;
}

static int names_query(struct fk_api_call *c, const struct rpc_names *in, struct fk_query **ret,
                       struct fk_err *err)
{
    struct fk_str selector = FK_S("{}");
    int r = join_matchers(c, &in->matchers, &selector, err);
    int64_t end = in->end ? in->end : INT64_MAX / FK_NS_PER_MS;
    struct fk_rpc_source from = {FK_S(""), selector, in->start, end, NULL};
    return r ? r : fk_rpc_query(c, &from, ret, err);
}

static bool is_legacy_name(struct fk_str s)
{
    for (size_t i = 0; i < s.n; i++) {
        char x = s.p[i];
        if (!((x >= 'a' && x <= 'z') || (x >= 'A' && x <= 'Z') || x == '_' ||
              (i && x >= '0' && x <= '9')))
            return false;
    }
    return s.n > 0;
}

static int put_strings(struct fk_api_call *c, const struct fk_counted_list *l, bool legacy_only,
                       const char *const *more, struct fk_err *err)
{
    struct fk_str *v = fk_arena_array(c->arena, l->n + 16, sizeof(*v));
    size_t n = 0;
    if (!v)
        return fk_fail_nomem(err);
    for (; more && more[n]; n++)
        v[n] = fk_str_of(more[n]);
    for (size_t i = 0; i < l->n; i++)
        if ((!legacy_only || is_legacy_name(l->v[i].text)) &&
            !(more && fk_str_eq(l->v[i].text, FK_S("__name__"))))
            v[n++] = l->v[i].text;
    struct rpc_strings out = {{v, n}};
    return fk_rpc_answer(c, &rpc_strings_type, &out, err);
}

int fk_rpc_label_names(struct fk_api_call *c, struct fk_err *err)
{
    static const char *const virtual_names[] = {"__name__",
                                                "__period_type__",
                                                "__period_unit__",
                                                "__profile_type__",
                                                "__type__",
                                                "__unit__",
                                                NULL};
    struct rpc_names in;
    struct fk_counted_list list;
    struct fk_query *q;
    int r = fk_rpc_read(c, &rpc_label_names_type, &in, err);
    if (r || (r = names_query(c, &in, &q, err)) ||
        (r = fk_query_label_names(q, FK_S(""), 0, &list, err)))
        return r;
    bool utf8 = fk_str_find(c->accept, FK_S("allow-utf8-labelnames=true")) >= 0;
    return put_strings(c, &list, !utf8, list.n ? virtual_names : NULL, err);
}

static int put_type_values(struct fk_api_call *c, struct fk_query *q, struct fk_err *err)
{
    struct fk_type_row *v;
    size_t n;
    int r = fk_query_types(q, &v, &n, err);
    struct fk_counted *x = r ? NULL : fk_arena_array(c->arena, n + 1, sizeof(*x));
    if (r || !x)
        return r ? r : fk_fail_nomem(err);
    for (size_t i = 0; i < n; i++)
        x[i] = (struct fk_counted){.text = v[i].facts.id};
    return put_strings(c, &(struct fk_counted_list){x, n, false}, false, NULL, err);
}

int fk_rpc_label_values(struct fk_api_call *c, struct fk_err *err)
{
    struct rpc_names in;
    struct fk_counted_list list;
    struct fk_query *q;
    int r = fk_rpc_read(c, &rpc_label_values_type, &in, err);
    if (r)
        return r;
    if (!in.name.n)
        return fk_fail_param(err, "name", "name is missing: the label whose values are asked for");
    if ((r = names_query(c, &in, &q, err)))
        return r;
    if (fk_str_eq(in.name, FK_S("__profile_type__")))
        return put_type_values(c, q, err);
    r = fk_query_label_values(q, in.name, FK_S(""), 0, &list, err);
    return r ? r : put_strings(c, &list, false, NULL, err);
}

int fk_rpc_profile_types(struct fk_api_call *c, struct fk_err *err)
{
    struct rpc_names in;
    struct fk_query *q;
    struct fk_type_row *v;
    size_t n;
    int r = fk_rpc_read(c, &rpc_range_type, &in, err);
    if (r || (r = names_query(c, &in, &q, err)) || (r = fk_query_types(q, &v, &n, err)))
        return r;
    struct rpc_profile_type *type = fk_arena_zalloc(c->arena, (n + 1) * sizeof(*type));
    if (!type)
        return fk_fail_nomem(err);
    for (size_t i = 0; i < n; i++) {
        struct fk_type_id id;
        if ((r = fk_type_id_parse(v[i].facts.id, &id, err)))
            return r;
        type[i] = (struct rpc_profile_type){v[i].facts.id, id.name,        id.type,
                                            id.unit,       id.period_type, id.period_unit};
    }
    struct rpc_profile_types out = {{type, n}};
    return fk_rpc_answer(c, &rpc_profile_types_type, &out, err);
}

// querier.v1.Series: what Grafana's pages start with.
int fk_rpc_series(struct fk_api_call *c, struct fk_err *err)
{
    struct rpc_names in;
    struct fk_labels *v;
    struct fk_query *q;
    size_t n;
    int r = fk_rpc_read(c, &rpc_series_type, &in, err);
    if (r || (r = names_query(c, &in, &q, err)) ||
        (r = fk_query_typed_sets(q, in.label_names.v, in.label_names.n, &v, &n, err)))
        return r;
    struct rpc_label_set *set = fk_arena_zalloc(c->arena, (n + 1) * sizeof(*set));
    for (size_t i = 0; set && i < n; i++)
        set[i].labels = (struct fk_list){v[i].v, v[i].n}; // struct fk_label is struct rpc_label
    struct rpc_label_sets out = {{set, n}};
    return set ? fk_rpc_answer(c, &rpc_label_sets_type, &out, err) : fk_fail_nomem(err);
}

static int edge_ms(struct fk_query *q, bool oldest, bool *there, int64_t *ret, struct fk_err *err)
{
    struct fk_list_spec first = {.key = FK_LIST_TIME, .ascending = oldest, .limit = 1};
    struct fk_page_of_entries page;
    int r = fk_query_list(q, &first, &page, err);
    *there = r == 0 && page.n > 0;
    if (*there)
        *ret = page.entry[0].time_ns / FK_NS_PER_MS;
    return r;
}

// querier.v1.GetProfileStats: before there is anything the answer is empty, no error.
int fk_rpc_profile_stats(struct fk_api_call *c, struct fk_err *err)
{
    const struct rpc_names all = {.matchers = {NULL, 0}};
    struct rpc_stats out = {0};
    struct rpc_empty in;
    struct fk_query *q;
    int r = fk_rpc_read(c, &rpc_empty_type, &in, err);
    if (r || (r = names_query(c, &all, &q, err)) ||
        (r = edge_ms(q, true, &out.ingested, &out.oldest_ms, err)) ||
        (r = edge_ms(q, false, &out.ingested, &out.newest_ms, err)))
        return r;
    return fk_rpc_answer(c, &rpc_stats_type, &out, err);
}

// querier.v1.AnalyzeQuery: clients show what it says about a query's cost; there is nothing to say.
int fk_rpc_analyze_query(struct fk_api_call *c, struct fk_err *err)
{
    struct rpc_empty in, out = {0};
    int r = fk_rpc_read(c, &rpc_empty_type, &in, err);
    return r ? r : fk_rpc_answer(c, &rpc_empty_type, &out, err);
}
