// SPDX-License-Identifier: Apache-2.0
// Answers over time: series and heatmap.
#include "api/api_int.h"

static void put_group(struct fk_json *w, const struct fk_group *g)
{
    fk_json_object(w);
    fk_json_k(w, "labels");
    fk_json_labels(w, &g->labels, true);
    fk_json_k(w, "points");
    fk_json_array(w);
    for (size_t i = 0; i < g->n; i++) {
        fk_json_array(w);
        fk_json_i64(w, g->point[i].time_ms);
        fk_json_f64(w, g->point[i].value);
        fk_json_array_end(w);
    }
    fk_json_array_end(w);
    fk_json_object_end(w);
}

static int series_spec(struct fk_api_call *c, struct fk_series_spec *s, struct fk_err *err)
{
    static const char *const words[] = {"auto", "sum", "rate", "avg", NULL};
    uint64_t limit = 0;
    int how, r;
    if (fk_param(c, "function").p)
        return fk_fail(err, FK_E_UNSUPPORTED, "function= is not available in this version");
    if ((r = fk_param_word(c, "aggregation", words, 0, &how, err)) ||
        (r = fk_param_duration(c, "step", &s->step_ns, err)) ||
        (r = fk_param_u64(c, "limit", 1, 100000, &limit, err)) ||
        (r = fk_params(c, "group_by", &s->group_by, &s->n_group_by, err)))
        return r;
    if (fk_param(c, "step").n && s->step_ns <= 0)
        return fk_fail_param(err, "step", "step must be a positive duration, like 15s");
    s->aggregation = (enum fk_aggregation)how;
    s->limit = (size_t)limit;
    return 0;
}

int fk_api_series(struct fk_api_call *c, struct fk_err *err)
{
    static const char *const names[] = {"auto", "sum", "rate", "avg"};
    struct fk_series_spec spec = {0};
    struct fk_type_facts type;
    struct fk_series series;
    struct fk_query *q;
    int r;
    if ((r = series_spec(c, &spec, err)) || (r = fk_call_source(c, "", 0, &q, err)) ||
        (r = fk_query_type(q, &type, err)) || (r = fk_query_series(q, &spec, &series, err)))
        return r;
    struct fk_json w;
    fk_call_json(c, &w);
    fk_json_type_facts(&w, &type);
    fk_json_k(&w, "step_ns");
    fk_json_i64(&w, series.step_ns);
    fk_json_k(&w, "aggregation");
    fk_json_str(&w, fk_str_of(names[series.aggregation]));
    fk_json_k(&w, "groups");
    fk_json_array(&w);
    for (size_t i = 0; i < series.n; i++)
        put_group(&w, &series.group[i]);
    fk_json_array_end(&w);
    if (series.n < series.all) {
        fk_json_k(&w, "groups_left_out");
        fk_json_u64(&w, series.all - series.n);
    }
    fk_json_completeness(c, &w, q);
    return fk_call_json_end(c, &w, err);
}

int fk_api_heatmap(struct fk_api_call *c, struct fk_err *err)
{
    struct fk_heatmap_spec spec = {0};
    struct fk_type_facts type;
    struct fk_heatmap map;
    struct fk_query *q;
    uint64_t x = 0, y = 0;
    int r;
    if ((r = fk_param_u64(c, "x_buckets", 1, 10000, &x, err)) ||
        (r = fk_param_u64(c, "y_buckets", 1, 1000, &y, err)) ||
        (r = fk_param_duration(c, "step", &spec.step_ns, err)) ||
        (r = fk_call_source(c, "", 0, &q, err)) || (r = fk_query_type(q, &type, err)))
        return r;
    spec.x_buckets = (uint32_t)x;
    spec.y_buckets = (uint32_t)y;
    if ((r = fk_query_heatmap(q, &spec, &map, err)))
        return r;
    struct fk_json w;
    fk_call_json(c, &w);
    fk_json_type_facts(&w, &type);
    fk_json_k(&w, "x_start");
    fk_json_time(&w, map.x_start_ns);
    fk_json_k(&w, "x_step_ns");
    fk_json_i64(&w, map.x_step_ns);
    fk_json_k(&w, "y_min");
    fk_json_f64(&w, map.y_min);
    fk_json_k(&w, "y_step");
    fk_json_f64(&w, map.y_step);
    fk_json_cells(&w, &map);
    fk_json_completeness(c, &w, q);
    return fk_call_json_end(c, &w, err);
}
