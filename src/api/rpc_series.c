// SPDX-License-Identifier: Apache-2.0
// querier.v1 over time: series and heatmaps, with the heaviest profile or span of each place.
#include "api/rpc_int.h"

#define MAX_TIME_MS (INT64_MAX / FK_NS_PER_MS / 2) // steps are added to it

enum { EXEMPLAR_INDIVIDUAL = 2, EXEMPLAR_SPAN = 3, QUERY_INDIVIDUAL = 1, QUERY_SPAN = 2 };

static int check_range(const struct rpc_select_series *in, struct fk_err *err)
{
    if (in->start == 0 || in->end == 0)
        return fk_fail_param(err, "start", "missing time range in the query");
    if (in->start < -MAX_TIME_MS || in->start > MAX_TIME_MS || in->end < -MAX_TIME_MS ||
        in->end > MAX_TIME_MS)
        return fk_fail_param(err, "start", "times must lie between the years 1824 and 2116");
    if (!(in->step >= 0.001) || in->step > 1e9)
        return fk_fail_param(err, "step", "step must lie between 0.001 and 1000000000 seconds");
    if (in->limit < 0)
        return fk_fail_param(err, "limit", "limit must not be negative");
    return fk_rpc_check_list(&in->group_by, FK_RPC_MAX_LABELS, "group_by", err);
}

static int64_t step_ms(const struct rpc_select_series *in)
{
    return (int64_t)(in->step * 1000);
}

// Times count in whole milliseconds: a point takes what lies within its own last one.
static int64_t edge_ns(int64_t ms)
{
    return ms * FK_NS_PER_MS + FK_NS_PER_MS - 1;
}

// ---- parts of answers ----

static struct fk_list labels_of(const struct fk_labels *l)
{
    return (struct fk_list){l->v, l->n}; // struct fk_label is struct rpc_label
}

static int put_exemplar(struct fk_api_call *c, const struct fk_exemplar *e, struct rpc_exemplar *to)
{
    char text[FK_ID_CHARS + 1];
    fk_id_format(e->id, text);
    *to = (struct rpc_exemplar){.timestamp = e->time_ns / FK_NS_PER_MS,
                                .value = e->value,
                                .profile_id = fk_arena_str(c->arena, fk_str_of(text)),
                                .span_id = e->span_id,
                                .trace_id = e->trace_id,
                                .labels = labels_of(&e->labels)};
    return to->profile_id.p ? 0 : -FK_E_NOMEM;
}

static int put_exemplars(struct fk_api_call *c, const struct fk_exemplar *v, size_t n,
                         struct fk_list *to)
{
    struct rpc_exemplar *x = fk_arena_array(c->arena, n + 1, sizeof(*x));
    for (size_t i = 0; x && i < n; i++)
        if (put_exemplar(c, &v[i], &x[i]))
            x = NULL;
    *to = (struct fk_list){x, n};
    return x ? 0 : -FK_E_NOMEM;
}

// ---- series ----

static int put_series_row(struct fk_api_call *c, const struct fk_group *g,
                          struct rpc_series_row *to)
{
    struct rpc_point *point = fk_arena_array(c->arena, g->n + 1, sizeof(*point));
    if (!point)
        return -FK_E_NOMEM;
    for (size_t i = 0; i < g->n; i++) {
        point[i] = (struct rpc_point){.value = g->point[i].value, .timestamp = g->point[i].time_ms};
        if (g->point[i].exemplar && put_exemplars(c, g->point[i].exemplar, 1, &point[i].exemplars))
            return -FK_E_NOMEM;
    }
    *to = (struct rpc_series_row){labels_of(&g->labels), {point, g->n}};
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

static struct fk_series_spec series_spec(const struct rpc_select_series *in)
{
    return (struct fk_series_spec){.step_ns = step_ms(in) * FK_NS_PER_MS,
                                   .group_by = in->group_by.v,
                                   .n_group_by = in->group_by.n,
                                   .aggregation = in->aggregation == 1 ? FK_AGG_MEAN : FK_AGG_SUM,
                                   .limit = (size_t)in->limit,
                                   .on_grid = true,
                                   .grid_ns = edge_ns(in->start),
                                   .grid_end_ns = edge_ns(in->end),
                                   .exemplars =
                                       in->exemplars == EXEMPLAR_INDIVIDUAL ? FK_EXEMPLARS_PROFILES
                                       : in->exemplars == EXEMPLAR_SPAN     ? FK_EXEMPLARS_SPANS
                                                                            : FK_EXEMPLARS_NONE};
}

int fk_rpc_select_series(struct fk_api_call *c, struct fk_err *err)
{
    struct rpc_select_series in;
    struct fk_series series = {0};
    struct fk_query *q;
    int r = fk_rpc_read(c, &rpc_select_series_type, &in, err);
    if (r || (r = check_range(&in, err)))
        return r;
    struct fk_series_spec spec = series_spec(&in);
    struct fk_rpc_source from = {.type = in.profile_type,
                                 .selector = in.label_selector,
                                 .start_ms = in.start - step_ms(&in),
                                 .end_ms = in.end,
                                 .stacks = in.stacks};
    if ((r = fk_rpc_query(c, &from, 0, &q, err)))
        return r;
    r = fk_query_series(q, &spec, &series, err);
    return r && r != -FK_E_NOTFOUND ? r : put_series(c, &series, err);
}

// ---- heatmap ----

static int put_slot(struct fk_api_call *c, const struct fk_slot *s, const double *y_min,
                    struct rpc_slot *to)
{
    double *y = fk_arena_array(c->arena, FK_SLOT_BUCKETS, sizeof(*y));
    int64_t *count = fk_arena_array(c->arena, FK_SLOT_BUCKETS, sizeof(*count));
    *to = (struct rpc_slot){
        .timestamp = s->time_ms, .y_min = {y, FK_SLOT_BUCKETS}, .counts = {count, FK_SLOT_BUCKETS}};
    if (!y || !count)
        return -FK_E_NOMEM;
    for (size_t i = 0; i < FK_SLOT_BUCKETS; i++) {
        y[i] = y_min[i];
        count[i] = s->count[i];
    }
    return put_exemplars(c, s->exemplar, s->n_exemplars, &to->exemplars);
}

static int put_heatmap(struct fk_api_call *c, const struct fk_slots *s, struct fk_err *err)
{
    struct rpc_slot_series *row = fk_arena_array(c->arena, s->n + 1, sizeof(*row));
    struct rpc_heatmap_answer out = {{row, s->n}};
    if (!row)
        return fk_fail_nomem(err);
    for (size_t i = 0; i < s->n; i++) {
        const struct fk_slot_group *g = &s->group[i];
        struct rpc_slot *slot = fk_arena_array(c->arena, g->n + 1, sizeof(*slot));
        for (size_t k = 0; slot && k < g->n; k++)
            if (put_slot(c, &g->slot[k], s->y_min, &slot[k]))
                slot = NULL;
        if (!slot)
            return fk_fail_nomem(err);
        row[i] = (struct rpc_slot_series){labels_of(&g->labels), {slot, g->n}};
    }
    return fk_rpc_answer(c, &rpc_heatmap_answer_type, &out, err);
}

static int check_heatmap(const struct rpc_select_series *in, struct fk_err *err)
{
    int64_t kind = in->query_type == QUERY_SPAN ? EXEMPLAR_SPAN : EXEMPLAR_INDIVIDUAL;
    int r = check_range(in, err);
    if (r)
        return r;
    if (in->start >= in->end)
        return fk_fail_param(err, "start", "start must lie before end");
    if (in->query_type != QUERY_INDIVIDUAL && in->query_type != QUERY_SPAN)
        return fk_fail_param(err, "query_type",
                             "query_type must be HEATMAP_QUERY_TYPE_INDIVIDUAL or "
                             "HEATMAP_QUERY_TYPE_SPAN");
    if (in->exemplars >= EXEMPLAR_INDIVIDUAL && in->exemplars != kind)
        return fk_fail_param(err, "exemplar_type",
                             "exemplar_type must be none or of the kind of query_type");
    return 0;
}

int fk_rpc_select_heatmap(struct fk_api_call *c, struct fk_err *err)
{
    struct rpc_select_series in;
    struct fk_slots slots = {0};
    struct fk_query *q;
    int r = fk_rpc_read(c, &rpc_select_heatmap_type, &in, err);
    if (r || (r = check_heatmap(&in, err)))
        return r;
    struct fk_slots_spec spec = {.start_ns = edge_ns(in.start),
                                 .end_ns = edge_ns(in.end),
                                 .step_ns = step_ms(&in) * FK_NS_PER_MS,
                                 .group_by = in.group_by.v,
                                 .n_group_by = in.group_by.n,
                                 .limit = (size_t)in.limit,
                                 .spans = in.query_type == QUERY_SPAN,
                                 .exemplars = in.exemplars >= EXEMPLAR_INDIVIDUAL};
    struct fk_rpc_source from = {.type = in.profile_type,
                                 .selector = in.label_selector,
                                 .start_ms = in.start,
                                 .end_ms = in.end};
    if ((r = fk_rpc_query(c, &from, 0, &q, err)))
        return r;
    r = fk_query_slots(q, &spec, &slots, err);
    return r && r != -FK_E_NOTFOUND ? r : put_heatmap(c, &slots, err);
}
