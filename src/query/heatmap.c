// SPDX-License-Identifier: Apache-2.0
// How many entries lie where over time and value.
#include "query/query_int.h"

struct point {
    int64_t time_ns, value;
};

struct job {
    FK_VEC(struct point) points;
};

static int on_row(struct fk_scan *s, const struct fk_hit *h, struct fk_err *err)
{
    struct job *j = s->arg;
    struct point p = {.time_ns = h->row->time_ns};
    int r = fk_hit_total(s, h, h->column, &p.value, err);
    if (r)
        return r;
    return fk_vec_push(&j->points, p) ? fk_fail_nomem(err) : 0;
}

struct grid {
    int64_t x_start_ns, x_step_ns;
    uint32_t x_n, y_n;
    double y_min, y_step;
};

static int make_grid(const struct fk_query *q, const struct job *j,
                     const struct fk_heatmap_spec *spec, struct grid *g, struct fk_err *err)
{
    int64_t from = j->points.v[0].time_ns, last = from;
    double low = (double)j->points.v[0].value, high = low;
    for (size_t i = 1; i < j->points.n; i++) {
        from = FK_MIN(from, j->points.v[i].time_ns);
        last = FK_MAX(last, j->points.v[i].time_ns);
        low = FK_MIN(low, (double)j->points.v[i].value);
        high = FK_MAX(high, (double)j->points.v[i].value);
    }
    int64_t until = last < INT64_MAX ? last + 1 : last;
    if (!q->spec.n_ids && q->spec.from_ns > 0 && q->spec.until_ns < INT64_MAX / 2) {
        from = q->spec.from_ns;
        until = q->spec.until_ns;
    }
    uint64_t range = (uint64_t)until - (uint64_t)from;
    uint64_t columns = spec->x_buckets ? spec->x_buckets : 120;
    g->y_n = spec->y_buckets ? spec->y_buckets : 40;
    g->x_step_ns =
        spec->step_ns ? spec->step_ns : (int64_t)(range / columns + (range % columns != 0));
    g->x_step_ns = FK_MAX(g->x_step_ns, (int64_t)1);
    columns = (range - 1) / (uint64_t)g->x_step_ns + 1;
    if (columns > 10000 || g->y_n > 1000)
        return fk_fail_param(err, columns > 10000 ? "step" : "y_buckets",
                             "a heatmap has at most 10000 x 1000 cells, not %llu x %u",
                             (unsigned long long)columns, g->y_n);
    g->x_n = (uint32_t)columns;
    g->x_start_ns = from;
    g->y_min = low > 0 ? 0 : low; // bars begin at zero, so that heights can be compared
    g->y_step = high > g->y_min ? (high - g->y_min) / g->y_n : 1;
    return 0;
}

static int count(struct fk_query *q, const struct job *j, const struct grid *g,
                 struct fk_heatmap *ret, struct fk_err *err)
{
    uint32_t *n = fk_arena_zalloc(&q->arena, (size_t)g->x_n * g->y_n * sizeof(*n));
    size_t used = 0;
    if (!n)
        return fk_fail_nomem(err);
    for (size_t i = 0; i < j->points.n; i++) {
        uint64_t x =
            ((uint64_t)j->points.v[i].time_ns - (uint64_t)g->x_start_ns) / (uint64_t)g->x_step_ns;
        double y = ((double)j->points.v[i].value - g->y_min) / g->y_step;
        uint32_t row = y >= g->y_n ? g->y_n - 1 : (uint32_t)y;
        if (x < g->x_n)
            used += n[x * g->y_n + row]++ == 0;
    }
    ret->cell = fk_arena_array(&q->arena, FK_MAX(used, (size_t)1), sizeof(*ret->cell));
    if (!ret->cell)
        return fk_fail_nomem(err);
    for (uint32_t x = 0; x < g->x_n; x++)
        for (uint32_t y = 0; y < g->y_n; y++) {
            uint32_t c = n[(size_t)x * g->y_n + y];
            if (c)
                ret->cell[ret->n++] = (struct fk_heat_cell){x, y, c};
            ret->max = FK_MAX(ret->max, (uint64_t)c);
        }
    return 0;
}

int fk_query_heatmap(struct fk_query *q, const struct fk_heatmap_spec *spec, struct fk_heatmap *ret,
                     struct fk_err *err)
{
    struct job j = {0};
    struct grid g = {0};
    struct fk_type_facts type;
    struct fk_heatmap map = {.x_step_ns = 1, .y_step = 1};
    int r = fk_query_type(q, &type, err);
    struct fk_scan s = {.q = q, .want_type = true, .row = on_row, .arg = &j};
    if (r == 0)
        r = fk_scan_run(&s, err);
    if (r == 0 && j.points.n) {
        r = make_grid(q, &j, spec, &g, err);
        if (r == 0) {
            map = (struct fk_heatmap){g.x_start_ns, g.x_step_ns, g.y_min, g.y_step, NULL, 0, 0};
            r = count(q, &j, &g, &map, err);
        }
    }
    if (r == 0)
        *ret = map;
    fk_vec_free(&j.points);
    return r;
}
