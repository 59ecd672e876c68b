// SPDX-License-Identifier: Apache-2.0
// The heatmap that dashboards ask for: each profile, or each span within one, is a point at its
// time and value; points are counted per group, time cell and value bucket.
#include "query/query_int.h"

#include <math.h>
#include <stdlib.h>

#define MAX_POINTS ((size_t)4 << 20)
#define MAX_CELLS  100000

struct point {
    int64_t time_ns, value;
    struct fk_id id;
    uint32_t group, cell, bucket, series; // series: into job.series
    struct fk_str span_id, trace_id;      // in the query's arena
};

struct job {
    struct fk_query *q;
    const struct fk_slots_spec *spec;
    FK_VEC(struct point) points;
    struct fk_groups groups, series;
    struct of_part {
        bool known;
        uint32_t series, group;
    } * of_part;       // by series of the part
    double low, width; // of a value bucket
};

// ---- points ----

static int begin(struct fk_scan *s, struct fk_err *err)
{
    struct job *j = s->arg;
    j->of_part =
        fk_arena_zalloc(&s->part_arena, FK_MAX(s->tables->n_series, 1u) * sizeof(*j->of_part));
    return j->of_part ? 0 : fk_fail_nomem(err);
}

static int add_point(struct job *j, const struct point *p, struct fk_err *err)
{
    if (j->points.n >= MAX_POINTS)
        return fk_fail_limit(err, "query", MAX_POINTS, NULL,
                             "the heatmap has too many points: choose a shorter range or fewer "
                             "series");
    return fk_vec_push(&j->points, *p) ? fk_fail_nomem(err) : 0;
}

static int add_spans(struct fk_scan *s, const struct fk_hit *h, struct point *p, struct fk_err *err)
{
    const struct fk_span_sum *v;
    size_t n;
    int r = fk_hit_spans(s, h, h->column, &v, &n, err);
    for (size_t i = 0; r == 0 && i < n; i++) {
        p->value = v[i].value;
        p->span_id = fk_arena_str(&s->q->arena, v[i].span_id);
        p->trace_id = fk_arena_str(&s->q->arena, v[i].trace_id);
        r = p->span_id.p && p->trace_id.p ? add_point(s->arg, p, err) : fk_fail_nomem(err);
    }
    return r;
}

// Which of our series and groups a series of the part is.
static int series_of(struct fk_scan *s, uint32_t series, struct fk_err *err)
{
    struct job *j = s->arg;
    const struct fk_labels *l = &s->tables->series[series];
    struct of_part *known = &j->of_part[series];
    if (known->known)
        return 0;
    struct fk_str *name = fk_arena_array(&s->part_arena, l->n + 1, sizeof(*name));
    if (!name)
        return fk_fail_nomem(err);
    for (size_t i = 0; i < l->n; i++)
        name[i] = l->v[i].name;
    int r = fk_groups_find(j->q, &j->series, l, name, l->n, &known->series, err);
    if (r == 0)
        r = fk_groups_find(j->q, &j->groups, l, j->spec->group_by, j->spec->n_group_by,
                           &known->group, err);
    known->known = r == 0;
    return r;
}

static int on_row(struct fk_scan *s, const struct fk_hit *h, struct fk_err *err)
{
    struct job *j = s->arg;
    int r = series_of(s, h->row->series, err);
    if (r)
        return r;
    struct point p = {.time_ns = h->row->time_ns,
                      .id = h->row->id,
                      .series = j->of_part[h->row->series].series,
                      .group = j->of_part[h->row->series].group};
    if (j->spec->spans)
        return add_spans(s, h, &p, err);
    r = fk_hit_total(s, h, h->column, &p.value, err);
    return r ? r : add_point(j, &p, err);
}

// ---- places ----

static void set_buckets(struct job *j)
{
    double low = (double)j->points.v[0].value, high = low;
    for (size_t i = 1; i < j->points.n; i++) {
        low = FK_MIN(low, (double)j->points.v[i].value);
        high = FK_MAX(high, (double)j->points.v[i].value);
    }
    if (!(high > low))
        high = low + 1;
    j->low = low;
    j->width = (high - low) / FK_SLOT_BUCKETS;
}

static double lower_edge(const struct job *j, uint32_t bucket)
{
    return j->low + trunc(bucket * j->width);
}

static uint32_t bucket_of(const struct job *j, int64_t value)
{
    uint32_t b = FK_SLOT_BUCKETS - 1;
    while (b > 0 && (double)value < lower_edge(j, b))
        b--;
    return b;
}

static void place(struct job *j)
{
    const struct fk_slots_spec *s = j->spec;
    for (size_t i = 0; i < j->points.n; i++) {
        struct point *p = &j->points.v[i];
        int64_t behind = p->time_ns - s->start_ns;
        p->cell = behind <= 0 ? 0 : (uint32_t)((behind - 1) / s->step_ns + 1);
        p->bucket = bucket_of(j, p->value);
    }
}

static int by_place(const void *pa, const void *pb)
{
    const struct point *a = pa, *b = pb;
    if (a->group != b->group)
        return a->group < b->group ? -1 : 1;
    if (a->cell != b->cell)
        return a->cell < b->cell ? -1 : 1;
    if (a->bucket != b->bucket)
        return a->bucket < b->bucket ? -1 : 1;
    if (a->value != b->value)
        return a->value > b->value ? -1 : 1;
    return fk_id_cmp(a->id, b->id);
}

// ---- answer ----

static int put_exemplar(struct job *j, const struct point *p, struct fk_exemplar *to,
                        struct fk_err *err)
{
    *to = (struct fk_exemplar){p->time_ns, p->value, p->id, p->span_id, p->trace_id, {NULL, 0}};
    return fk_labels_without(j->q, &j->series.v.v[p->series], j->spec->group_by,
                             j->spec->n_group_by, &to->labels, err);
}

// Points [i, end) are those of one group and cell, by bucket, the heaviest of a bucket first.
static int put_slot(struct job *j, size_t i, size_t end, struct fk_slot *to, struct fk_err *err)
{
    const struct point *v = j->points.v;
    struct fk_exemplar room[FK_SLOT_BUCKETS];
    int64_t edge = j->spec->start_ns + (int64_t)v[i].cell * j->spec->step_ns;
    *to = (struct fk_slot){.time_ms = edge / FK_NS_PER_MS};
    for (; i < end; i++) {
        if (to->count[v[i].bucket]++ || !j->spec->exemplars)
            continue;
        int r = put_exemplar(j, &v[i], &room[to->n_exemplars], err);
        if (r)
            return r;
        to->n_exemplars++;
    }
    size_t bytes = to->n_exemplars * sizeof(room[0]);
    to->exemplar = fk_arena_alloc(&j->q->arena, FK_MAX(bytes, (size_t)1));
    if (!to->exemplar)
        return fk_fail_nomem(err);
    memcpy(to->exemplar, room, bytes);
    return 0;
}

static int put_group(struct job *j, size_t *at, struct fk_slot_group *to, struct fk_err *err)
{
    const struct point *v = j->points.v;
    size_t n = j->points.n, begin = *at, i = begin, cells = 0;
    uint32_t group = v[begin].group;
    for (; i < n && v[i].group == group; i++)
        cells += i == begin || v[i].cell != v[i - 1].cell;
    *to = (struct fk_slot_group){.labels = j->groups.v.v[group],
                                 .slot = fk_arena_array(&j->q->arena, cells, sizeof(*to->slot)),
                                 .points = i - begin};
    if (!to->slot)
        return fk_fail_nomem(err);
    for (*at = i, i = begin; i < *at;) {
        size_t end = i + 1;
        while (end < *at && v[end].cell == v[i].cell)
            end++;
        int r = put_slot(j, i, end, &to->slot[to->n++], err);
        if (r)
            return r;
        i = end;
    }
    return 0;
}

static int by_points(const void *pa, const void *pb)
{
    const struct fk_slot_group *a = pa, *b = pb;
    if (a->points != b->points)
        return a->points > b->points ? -1 : 1;
    for (size_t i = 0; i < a->labels.n && i < b->labels.n; i++) {
        int o = fk_str_cmp(a->labels.v[i].value, b->labels.v[i].value);
        if (o)
            return o;
    }
    return a->labels.n < b->labels.n ? -1 : a->labels.n > b->labels.n;
}

static int finish(struct job *j, struct fk_slots *ret, struct fk_err *err)
{
    struct fk_slots out = {0};
    size_t at = 0;
    out.group = fk_arena_array(&j->q->arena, j->groups.v.n + 1, sizeof(*out.group));
    if (!out.group)
        return fk_fail_nomem(err);
    if (j->points.n) {
        set_buckets(j);
        place(j);
        qsort(j->points.v, j->points.n, sizeof(*j->points.v), by_place);
    }
    for (uint32_t b = 0; b < FK_SLOT_BUCKETS; b++)
        out.y_min[b] = lower_edge(j, b);
    while (at < j->points.n) {
        int r = put_group(j, &at, &out.group[out.n++], err);
        if (r)
            return r;
    }
    qsort(out.group, out.n, sizeof(*out.group), by_points);
    out.n = j->spec->limit ? FK_MIN(out.n, j->spec->limit) : out.n;
    *ret = out;
    return 0;
}

int fk_query_slots(struct fk_query *q, const struct fk_slots_spec *spec, struct fk_slots *ret,
                   struct fk_err *err)
{
    struct job j = {.q = q, .spec = spec};
    struct fk_type_facts type;
    if (spec->step_ns <= 0 || spec->start_ns >= spec->end_ns)
        return fk_fail_param(err, "step", "step must be positive, and start must lie before end");
    if ((spec->end_ns - spec->start_ns) / spec->step_ns > MAX_CELLS)
        return fk_fail_limit(err, "step", MAX_CELLS, NULL,
                             "the range has too many steps: choose a larger step");
    int r = fk_query_type(q, &type, err);
    struct fk_scan s = {.q = q, .want_type = true, .begin = begin, .row = on_row, .arg = &j};
    if (r == 0)
        r = fk_scan_run(&s, err);
    if (r == 0)
        r = finish(&j, ret, err);
    fk_vec_free(&j.points);
    fk_groups_free(&j.groups);
    fk_groups_free(&j.series);
    return r;
}
