// SPDX-License-Identifier: Apache-2.0
// Answers about the time within profiles: the timeline and the grid of seconds.
#include "api/api_int.h"

static int read_window(struct fk_api_call *c, struct fk_timeline_spec *s, struct fk_query **ret,
                       struct fk_type_facts *type, struct fk_err *err)
{
    uint64_t width = 0, lanes = 0;
    bool given;
    *s = (struct fk_timeline_spec){.begin_ns = INT64_MIN, .end_ns = INT64_MAX};
    int r;
    if ((r = fk_param_time(c, "begin", &s->begin_ns, &given, err)) ||
        (r = fk_param_time(c, "end", &s->end_ns, &given, err)) ||
        (r = fk_param_u64(c, "width", 1, 20000, &width, err)) ||
        (r = fk_param_u64(c, "lanes", 1, 10000, &lanes, err)) ||
        (r = fk_call_source(c, "", 0, ret, err)) || (r = fk_query_type(*ret, type, err)))
        return r;
    if (s->begin_ns >= s->end_ns)
        return fk_fail_param(err, "begin", "the window is empty: begin must lie before end");
    s->width = (uint32_t)width;
    s->max_lanes = (uint32_t)lanes;
    c->fail_status = 422; // from here on it is the source that does not have what is asked for
    return 0;
}

#define SPAN_COLUMN(w, key, l, member)                                                             \
    do {                                                                                           \
        fk_json_k(w, key);                                                                         \
        fk_json_array(w);                                                                          \
        for (size_t i_ = 0; i_ < (l)->n; i_++)                                                     \
            fk_json_u64(w, (l)->span[i_].member);                                                  \
        fk_json_array_end(w);                                                                      \
    } while (0)

static void put_lane(struct fk_json *w, const struct fk_lane *l)
{
    fk_json_object(w);
    fk_json_k(w, "thread");
    fk_json_str(w, l->thread);
    fk_json_k(w, "labels");
    fk_json_labels(w, &l->labels, true);
    fk_json_k(w, "samples");
    fk_json_u64(w, l->samples);
    fk_json_k(w, "spans");
    fk_json_object(w);
    SPAN_COLUMN(w, "begin", l, begin);
    SPAN_COLUMN(w, "end", l, end);
    SPAN_COLUMN(w, "depth", l, depth);
    SPAN_COLUMN(w, "name", l, name);
    fk_json_object_end(w);
    fk_json_object_end(w);
}

int fk_api_timeline(struct fk_api_call *c, struct fk_err *err)
{
    struct fk_timeline_spec spec;
    struct fk_type_facts type;
    struct fk_timeline t;
    struct fk_query *q;
    int r = read_window(c, &spec, &q, &type, err);
    if (r || (r = fk_query_timeline(q, &spec, &t, err)))
        return r;
    struct fk_json w;
    fk_call_json(c, &w);
    fk_json_type_facts(&w, &type);
    fk_json_k(&w, "begin");
    fk_json_time(&w, t.begin_ns);
    fk_json_k(&w, "end");
    fk_json_time(&w, t.end_ns);
    fk_json_k(&w, "step_ns");
    fk_json_i64(&w, t.step_ns);
    fk_json_k(&w, "width");
    fk_json_u64(&w, t.width);
    fk_json_k(&w, "samples");
    fk_json_u64(&w, t.samples);
    fk_json_k(&w, "sampled"); // spans are guessed from samples, not measured
    fk_json_bool(&w, true);
    fk_json_k(&w, "period_ns");
    fk_json_i64(&w, t.period_ns);
    fk_json_k(&w, "period_known");
    fk_json_bool(&w, t.period_known);
    fk_json_k(&w, "names");
    fk_json_array(&w);
    for (uint32_t i = 0; i < t.n_names; i++)
        fk_json_str(&w, t.name[i]);
    fk_json_array_end(&w);
    fk_json_k(&w, "lanes");
    fk_json_array(&w);
    for (size_t i = 0; i < t.n; i++)
        put_lane(&w, &t.lane[i]);
    fk_json_array_end(&w);
    fk_json_k(&w, "lanes_left_out");
    fk_json_u64(&w, t.all - t.n);
    fk_json_completeness(c, &w, q);
    return fk_call_json_end(c, &w, err);
}

int fk_api_subsecond(struct fk_api_call *c, struct fk_err *err)
{
    struct fk_timeline_spec spec;
    struct fk_type_facts type;
    struct fk_heatmap map;
    struct fk_query *q;
    int r = read_window(c, &spec, &q, &type, err);
    if (r || (r = fk_query_subsecond(q, &spec, &map, err)))
        return r;
    struct fk_json w;
    fk_call_json(c, &w);
    fk_json_type_facts(&w, &type);
    fk_json_k(&w, "x_start");
    fk_json_time(&w, map.x_start_ns);
    fk_json_k(&w, "x_step_ns");
    fk_json_i64(&w, map.x_step_ns);
    fk_json_k(&w, "y_step_ns");
    fk_json_i64(&w, (int64_t)map.y_step);
    fk_json_cells(&w, &map);
    fk_json_completeness(c, &w, q);
    return fk_call_json_end(c, &w, err);
}
