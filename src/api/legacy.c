// SPDX-License-Identifier: Apache-2.0
// Pyroscope's older reads: /pyroscope/render, /pyroscope/render-diff, /pyroscope/label-values.
#include "api/rpc_int.h"

#define STEP_MIN (15 * FK_NS_PER_S)
#define SHOWN    1500 // points that a step is chosen for
#define MINUTE   (60 * FK_NS_PER_S)
#define HOUR     (60 * MINUTE)
#define DAY      (24 * HOUR)

// ---- parameters ----

static bool is_date(struct fk_str s)
{
    uint64_t v;
    return s.n == 8 && fk_str_to_u64(s, &v) == 0 && v >= 19700101 && v % 10000 / 100 >= 1 &&
           v % 10000 / 100 <= 12 && v % 100 >= 1 && v % 100 <= 31;
}

// What fk_time_parse knows, and besides "-1h" for "now-1h" and 20260131.
static int read_time(struct fk_api_call *c, const char *name, int64_t *ret_ms, struct fk_err *err)
{
    struct fk_str s = fk_str_trim(fk_param(c, name));
    int64_t ns = c->now_ns;
    if (s.n && (s.p[0] == '-' || s.p[0] == '+'))
        s = fk_arena_printf(c->arena, "now%.*s", FK_STR_ARG(s));
    else if (is_date(s))
        s = fk_arena_printf(c->arena, "%.4s-%.2s-%.2sT00:00:00Z", s.p, s.p + 4, s.p + 6);
    int r = s.n ? fk_time_parse(s, c->now_ns, &ns, err) : 0;
    if (r)
        return fk_fail_param(err, name, "%s is no time: Unix time, RFC 3339 or now-1h, not '%.*s'",
                             name, FK_STR_ARG(fk_str_head(s, 60)));
    *ret_ms = ns / FK_NS_PER_MS;
    return 0;
}

struct side {
    struct fk_str query;
    int64_t from_ms, until_ms;
    struct fk_query *run;
    struct fk_type_facts type;
    bool there; // any profile of the type
};

// The profile type: given in front of the braces or as a matcher, else the only one there is.
static int open_side(struct fk_api_call *c, const char *const names[3], int slot, struct side *s,
                     struct fk_err *err)
{
    int r;
    s->query = fk_param(c, names[0]);
    if (!s->query.n)
        return fk_fail_param(err, names[0],
                             "%s is missing: a profile type id and a selector, like "
                             "process_cpu:cpu:nanoseconds:cpu:nanoseconds{service_name=\"web\"}",
                             names[0]);
    if ((r = read_time(c, names[1], &s->from_ms, err)) ||
        (r = read_time(c, names[2], &s->until_ms, err)))
        return r;
    struct fk_rpc_source from = {
        .selector = s->query, .start_ms = s->from_ms, .end_ms = s->until_ms};
    if ((r = fk_rpc_query(c, &from, slot, &s->run, err)))
        return r;
    r = fk_query_type(s->run, &s->type, err);
    s->there = r == 0;
    return r == -FK_E_NOTFOUND ? 0 : r;
}

// What is not a number is as if it were not there.
static int read_nodes(struct fk_api_call *c, int64_t *ret, struct fk_err *err)
{
    static const char *const names[] = {"max-nodes", "maxNodes"};
    int64_t v;
    *ret = 0;
    for (size_t i = 0; i < FK_COUNTOF(names); i++)
        if (fk_param(c, names[i]).n && fk_str_to_i64(fk_param(c, names[i]), &v) == 0)
            *ret = v;
    return fk_rpc_check_nodes(*ret, err);
}

static int fold(const struct side *s, struct fk_tree *t, uint32_t column, struct fk_err *err)
{
    return s->there ? fk_query_tree(s->run, t, column, err) : 0;
}

// ---- timeline ----

// Steps that people can read, at least 15 seconds.
static int64_t step_of(int64_t range_ns)
{
    static const struct {
        int64_t up_to, step;
    } steps[] = {{17 * FK_NS_PER_S + FK_NS_PER_S / 2, STEP_MIN},
                 {25 * FK_NS_PER_S, 20 * FK_NS_PER_S},
                 {45 * FK_NS_PER_S, 30 * FK_NS_PER_S},
                 {MINUTE * 3 / 2, MINUTE},
                 {MINUTE * 7 / 2, 2 * MINUTE},
                 {MINUTE * 15 / 2, 5 * MINUTE},
                 {MINUTE * 25 / 2, 10 * MINUTE},
                 {MINUTE * 35 / 2, 15 * MINUTE},
                 {25 * MINUTE, 20 * MINUTE},
                 {45 * MINUTE, 30 * MINUTE},
                 {HOUR * 3 / 2, HOUR},
                 {HOUR * 5 / 2, 2 * HOUR},
                 {HOUR * 9 / 2, 3 * HOUR},
                 {9 * HOUR, 6 * HOUR},
                 {DAY, 12 * HOUR},
                 {7 * DAY, DAY},
                 {21 * DAY, 7 * DAY},
                 {42 * DAY, 30 * DAY}};
    int64_t want = range_ns / SHOWN;
    for (size_t i = 0; i < FK_COUNTOF(steps); i++)
        if (want <= steps[i].up_to)
            return steps[i].step;
    return 365 * DAY;
}

static struct fk_flamebearer_line line_of(struct fk_api_call *c, int64_t start_ns, int64_t step_ns,
                                          size_t n, const struct fk_group *g)
{
    struct fk_flamebearer_line line = {
        .start_s = start_ns / FK_NS_PER_S, .step_s = step_ns / FK_NS_PER_S, .n = n};
    double *v = fk_arena_zalloc(c->arena, (n + 1) * sizeof(*v));
    for (size_t i = 0; v && g && i < g->n; i++) {
        int64_t at = (g->point[i].time_ms * FK_NS_PER_MS - start_ns) / step_ns;
        if (at >= 0 && (uint64_t)at < n)
            v[at] = g->point[i].value;
    }
    line.value = v;
    return line;
}

static int put_groups(struct fk_api_call *c, const struct fk_series *s, struct fk_str by,
                      struct fk_flamebearer_more *more, struct fk_err *err)
{
    struct fk_flamebearer_group *g = fk_arena_array(c->arena, s->n + 1, sizeof(*g));
    if (!g)
        return fk_fail_nomem(err);
    for (size_t i = 0; i < s->n; i++) {
        struct fk_str name = fk_labels_get(&s->group[i].labels, by);
        g[i] = (struct fk_flamebearer_group){
            name.p ? name : FK_S("*"),
            line_of(c, more->line.start_s * FK_NS_PER_S, s->step_ns, more->line.n, &s->group[i])};
        if (!g[i].line.value)
            return fk_fail_nomem(err);
    }
    more->group = g;
    more->n_groups = s->n;
    more->has_groups = true;
    return 0;
}

static int make_timeline(struct fk_api_call *c, struct side *s, struct fk_flamebearer_more *more,
                         struct fk_err *err)
{
    static const char *const aggregations[] = {"sum", "avg", NULL};
    struct fk_str by = fk_param(c, "groupBy");
    struct fk_series series = {0};
    struct fk_query *q;
    int64_t from = s->from_ms * FK_NS_PER_MS, until = s->until_ms * FK_NS_PER_MS,
            step = step_of(until - from), start = from - from % step, end = until - until % step;
    size_t n = end > start ? (size_t)((end - start) / step) : 0;
    int how, r = fk_param_word(c, "aggregation", aggregations, 0, &how, err);
    struct fk_rpc_source source = {
        .selector = s->query, .start_ms = (start - step) / FK_NS_PER_MS, .end_ms = s->until_ms};
    struct fk_series_spec spec = {.step_ns = step,
                                  .group_by = &by,
                                  .n_group_by = by.n ? 1 : 0,
                                  .aggregation = how ? FK_AGG_MEAN : FK_AGG_SUM,
                                  .on_grid = true,
                                  .grid_ns = start + FK_NS_PER_MS - 1,
                                  .grid_end_ns = FK_MAX(end - step, start) + FK_NS_PER_MS - 1};
    if (r == 0 && s->there && (r = fk_rpc_query(c, &source, 1, &q, err)) == 0)
        r = fk_query_series(q, &spec, &series, err);
    if (r && r != -FK_E_NOTFOUND)
        return r;
    more->line = line_of(c, start, step, n, series.n == 1 ? series.group : NULL);
    if (!more->line.value)
        return fk_fail_nomem(err);
    more->has_line = true;
    series.step_ns = step;
    return by.n ? put_groups(c, &series, by, more, err) : 0;
}

// ---- calls ----

static int put_json(struct fk_api_call *c, const struct side *s, const struct fk_tree *t,
                    int64_t max_nodes, const struct fk_flamebearer_more *more, struct fk_err *err)
{
    struct fk_flamebearer f;
    int r = fk_rpc_flamegraph(c, t, max_nodes, &f, err);
    c->type = "application/json";
    return r ? r
             : fk_render_flamebearer(&f, s->type.type, s->type.unit, more, fk_out_buf(&c->body),
                                     err);
}

static int put_dot(struct fk_api_call *c, const struct side *s, const struct fk_tree *t,
                   int64_t max_nodes, struct fk_err *err)
{
    struct fk_render_picture p = {s->type.id, s->type.id, s->type.unit};
    c->type = "text/plain; charset=utf-8";
    if (fk_tree_n_nodes(t) < 2)
        return 0;
    return fk_render_dot(t, &p, max_nodes ? (size_t)max_nodes : 100, fk_out_buf(&c->body), err);
}

int fk_api_legacy_render(struct fk_api_call *c, struct fk_err *err)
{
    static const char *const names[] = {"query", "from", "until"}, *const formats[] = {"json",
                                                                                       "dot", NULL};
    struct fk_flamebearer_more more = {0};
    struct side s = {0};
    int64_t max_nodes;
    int format, r;
    if ((r = fk_param_word(c, "format", formats, 0, &format, err)) ||
        (r = read_nodes(c, &max_nodes, err)) || (r = open_side(c, names, 0, &s, err)) ||
        (!format && (r = make_timeline(c, &s, &more, err))))
        return r;
    struct fk_tree *t = fk_tree_new(1, (size_t)c->api->opts.limits.query_memory);
    r = t ? fold(&s, t, 0, err) : fk_fail_nomem(err);
    if (r == 0)
        r = format ? put_dot(c, &s, t, max_nodes, err) : put_json(c, &s, t, max_nodes, &more, err);
    fk_tree_free(t);
    return r;
}

int fk_api_legacy_diff(struct fk_api_call *c, struct fk_err *err)
{
    static const char *const names[2][3] = {{"leftQuery", "leftFrom", "leftUntil"},
                                            {"rightQuery", "rightFrom", "rightUntil"}};
    struct side s[2] = {0};
    int64_t max_nodes;
    int r = read_nodes(c, &max_nodes, err);
    for (int i = 0; r == 0 && i < 2; i++)
        r = open_side(c, names[i], i, &s[i], err);
    if (r == 0 && s[0].there && s[1].there && !fk_str_eq(s[0].type.id, s[1].type.id))
        r = fk_fail_param(err, "rightQuery",
                          "the sides have different profile types, %.*s and %.*s",
                          FK_STR_ARG(s[0].type.id), FK_STR_ARG(s[1].type.id));
    if (r)
        return r;
    struct fk_tree *t = fk_tree_new(2, (size_t)c->api->opts.limits.query_memory);
    r = t ? 0 : fk_fail_nomem(err);
    for (int i = 0; r == 0 && i < 2; i++)
        r = fold(&s[i], t, (uint32_t)i, err);
    if (r == 0)
        r = put_json(c, &s[s[0].there ? 0 : 1], t, max_nodes, NULL, err);
    fk_tree_free(t);
    return r;
}

// Of every label; those of __name__ are profile type ids, as older clients expect.
int fk_api_legacy_label_values(struct fk_api_call *c, struct fk_err *err)
{
    struct fk_str label = fk_param(c, "label"), *v;
    struct fk_json w;
    size_t n;
    if (!label.n)
        return fk_fail_param(err, "label",
                             "label is missing: the label whose values are asked for");
    if (fk_str_eq(label, FK_S("__name__")))
        label = FK_S("__profile_type__");
    int r = fk_rpc_values(c, label, &v, &n, err);
    if (r)
        return r;
    c->type = "application/json";
    fk_json_init(&w, fk_out_buf(&c->body), false);
    fk_json_array(&w);
    for (size_t i = 0; i < n; i++)
        fk_json_str(&w, v[i]);
    fk_json_array_end(&w);
    return fk_json_finish(&w, err);
}
