// SPDX-License-Identifier: Apache-2.0
// The order of things within profiles: lanes of spans per thread, and the grid of seconds.
//
// A span is made of samples: a function is taken to run from the sample that first shows it in its
// place to the next sample of the thread that does not. Between two samples nothing is known, so a
// gap longer than one and a half times what the sample stands for (its period, or its value where
// that is a time) ends all spans where that is over.
#include "query/timeline_int.h"

#include <stdlib.h>

#define MAX_SPANS    1000000u
#define LOOK_BACK_NS (2 * FK_NS_PER_S) // for samples that reach into the window

static int by_lane_and_time(const void *pa, const void *pb)
{
    const struct fk_observation *a = pa, *b = pb;
    if (a->lane != b->lane)
        return a->lane < b->lane ? -1 : 1;
    if (a->time_ns != b->time_ns)
        return a->time_ns < b->time_ns ? -1 : 1;
    return a->node < b->node ? -1 : a->node > b->node;
}

static int by_node(const void *pa, const void *pb)
{
    const struct fk_observation *a = pa, *b = pb;
    return a->node < b->node ? -1 : a->node > b->node;
}

static int by_value(const void *pa, const void *pb)
{
    int64_t a = *(const int64_t *)pa, b = *(const int64_t *)pb;
    return a < b ? -1 : a > b;
}

// ---- one lane ----

struct lane_job {
    const struct fk_observed *o;
    const struct fk_timeline *t;
    int64_t period_ns;
    FK_VEC(struct fk_span) spans;
    FK_VEC(uint32_t) open;  // nodes of the path at hand, outermost first
    FK_VEC(size_t) span_of; // and their spans
    FK_VEC(uint32_t) path;  // scratch
    uint32_t end;           // column up to which the path reaches
    struct fk_err *err;
};

static void close_from(struct lane_job *j, size_t depth)
{
    for (size_t i = depth; i < j->open.n; i++)
        j->spans.v[j->span_of.v[i]].end = j->end;
    j->open.n = j->span_of.n = FK_MIN(depth, j->open.n);
}

static int path_of(struct lane_job *j, uint32_t node)
{
    j->path.n = 0;
    for (; node; node = fk_tree_parent(j->o->tree, node))
        if (fk_vec_push(&j->path, node))
            return fk_fail_nomem(j->err);
    for (size_t a = 0, b = j->path.n; b > a + 1; a++) {
        uint32_t swap = j->path.v[a];
        j->path.v[a] = j->path.v[--b];
        j->path.v[b] = swap;
    }
    return 0;
}

// The thread is in this node from column `begin` to column `end`.
static int put_run(struct lane_job *j, uint32_t begin, uint32_t end, uint32_t node)
{
    size_t same = 0;
    int r = path_of(j, node);
    if (r)
        return r;
    if (begin > j->end)
        close_from(j, 0);
    while (same < j->path.n && same < j->open.n && j->path.v[same] == j->open.v[same])
        same++;
    j->end = begin > j->end ? j->end : begin;
    close_from(j, same);
    for (size_t d = same; d < j->path.n; d++) {
        struct fk_span span = {.begin = begin, .depth = (uint32_t)d};
        fk_tree_node_name(j->o->tree, j->path.v[d], &span.name);
        if (fk_vec_push(&j->span_of, j->spans.n) || fk_vec_push(&j->open, j->path.v[d]) ||
            fk_vec_push(&j->spans, span))
            return fk_fail_nomem(j->err);
    }
    j->end = end;
    if (j->spans.n > MAX_SPANS)
        return fk_fail_limit(j->err, "width", MAX_SPANS, NULL,
                             "the timeline has too many spans; ask for a smaller width or window");
    return 0;
}

// Of the samples of one column the path that most of them have.
static uint32_t usual_node(struct fk_observation *v, size_t n)
{
    uint32_t best = v[0].node;
    size_t most = 0;
    if (n > 1)
        qsort(v, n, sizeof(*v), by_node);
    for (size_t from = 0, k; from < n; from += k) {
        for (k = 1; from + k < n && v[from + k].node == v[from].node; k++)
            ;
        if (k > most) {
            most = k;
            best = v[from].node;
        }
    }
    return best;
}

static uint32_t column_of(const struct fk_timeline *t, int64_t time_ns, bool up)
{
    uint64_t off = (uint64_t)time_ns - (uint64_t)t->begin_ns, step = (uint64_t)t->step_ns;
    uint64_t at = off / step + (up && off % step);
    return (uint32_t)FK_MIN(at, (uint64_t)t->width);
}

// v: the lane's observations by time; they are put in another order.
static int lane_spans(struct lane_job *j, struct fk_observation *v, size_t n)
{
    j->spans.n = j->open.n = j->span_of.n = 0;
    j->end = 0;
    for (size_t from = 0, k; from < n; from += k) {
        uint32_t column = column_of(j->t, v[from].time_ns, false);
        for (k = 1; from + k < n && column_of(j->t, v[from + k].time_ns, false) == column; k++)
            ;
        int64_t last = v[from + k - 1].time_ns,
                cover = FK_MAX(j->period_ns, v[from + k - 1].cover_ns);
        bool near = from + k < n && v[from + k].time_ns - last <= fk_wrap_add(cover, cover / 2);
        uint32_t end = near ? column_of(j->t, v[from + k].time_ns, false)
                            : column_of(j->t, fk_wrap_add(last, cover), true);
        int r = put_run(j, column, FK_MAX(end, column + 1), usual_node(v + from, k));
        if (r)
            return r;
    }
    close_from(j, 0);
    return 0;
}

// ---- the whole ----

// Where the source does not say how often it looked: the usual distance of two samples.
static int64_t usual_gap(const struct fk_observed *o)
{
    int64_t gap[2000];
    size_t n = 0;
    for (size_t i = 1; i < o->v.n && n < FK_COUNTOF(gap); i++)
        if (o->v.v[i].lane == o->v.v[i - 1].lane && o->v.v[i].time_ns > o->v.v[i - 1].time_ns)
            gap[n++] = o->v.v[i].time_ns - o->v.v[i - 1].time_ns;
    if (n == 0)
        return FK_NS_PER_MS;
    qsort(gap, n, sizeof(*gap), by_value);
    return gap[n / 2];
}

static void choose_window(const struct fk_observed *o, const struct fk_timeline_spec *spec,
                          struct fk_timeline *t)
{
    int64_t first = INT64_MAX, last = INT64_MIN;
    for (size_t i = 0; i < o->v.n; i++) {
        first = FK_MIN(first, o->v.v[i].time_ns);
        last =
            FK_MAX(last, fk_wrap_add(o->v.v[i].time_ns, FK_MAX(o->v.v[i].cover_ns, t->period_ns)));
    }
    t->begin_ns = spec->begin_ns > INT64_MIN ? spec->begin_ns : o->v.n ? first : 0;
    t->end_ns = spec->end_ns < INT64_MAX ? spec->end_ns : o->v.n ? last : 1;
    t->end_ns = FK_MAX(t->end_ns, fk_wrap_add(t->begin_ns, 1));
    uint64_t range = (uint64_t)t->end_ns - (uint64_t)t->begin_ns;
    t->width = spec->width ? spec->width : 1000;
    if (range > (uint64_t)INT64_MAX) // a step has a sign bit less than centuries may have
        t->width = FK_MAX(t->width, 4u);
    t->step_ns = (int64_t)FK_MAX(range / t->width + (range % t->width != 0), (uint64_t)1);
}

// A sample from before the window may reach into it: of each lane the last such one stays, cut.
static void clip(struct fk_observed *o, const struct fk_timeline *t)
{
    size_t kept = 0;
    for (size_t i = 0; i < o->lanes.n; i++)
        o->lanes.v[i].samples = 0;
    for (size_t i = 0; i < o->v.n; i++) {
        struct fk_observation x = o->v.v[i];
        bool last =
            i + 1 == o->v.n || o->v.v[i + 1].lane != x.lane || o->v.v[i + 1].time_ns >= t->begin_ns;
        if (x.time_ns < t->begin_ns) {
            int64_t gone = t->begin_ns - x.time_ns;
            x.cover_ns = FK_MAX(x.cover_ns, t->period_ns) - gone;
            x.time_ns = t->begin_ns;
            if (!last || x.cover_ns <= 0)
                continue;
        }
        o->lanes.v[x.lane].samples++;
        o->v.v[kept++] = x;
    }
    o->v.n = kept;
}

static int by_samples(const void *pa, const void *pb)
{
    const struct fk_lane *a = pa, *b = pb;
    if (a->samples != b->samples)
        return a->samples > b->samples ? -1 : 1;
    return fk_str_cmp(a->thread, b->thread);
}

static int make_lanes(struct fk_query *q, struct fk_observed *o, struct fk_timeline *t,
                      struct fk_err *err)
{
    struct lane_job j = {.o = o, .t = t, .period_ns = t->period_ns, .err = err};
    int r = 0;
    for (size_t i = 0; r == 0 && i < t->n; i++) {
        struct fk_lane *l = &t->lane[i];
        if ((r = lane_spans(&j, o->v.v + l->first_, (size_t)l->samples)))
            break;
        l->span = fk_arena_array(&q->arena, FK_MAX(j.spans.n, (size_t)1), sizeof(*l->span));
        if (!l->span)
            r = fk_fail_nomem(err);
        else if (j.spans.n)
            memcpy(l->span, j.spans.v, j.spans.n * sizeof(*l->span));
        l->n = j.spans.n;
    }
    fk_vec_free(&j.spans);
    fk_vec_free(&j.open);
    fk_vec_free(&j.span_of);
    fk_vec_free(&j.path);
    return r;
}

static int choose_lanes(struct fk_query *q, const struct fk_observed *o, uint32_t most,
                        struct fk_timeline *t, struct fk_err *err)
{
    size_t first = 0;
    t->lane = fk_arena_zalloc(&q->arena, FK_MAX(o->lanes.n, (size_t)1) * sizeof(*t->lane));
    if (!t->lane)
        return fk_fail_nomem(err);
    for (size_t i = 0; i < o->lanes.n; i++) {
        const struct fk_lane_key *k = &o->lanes.v[i];
        t->lane[i] = (struct fk_lane){
            .thread = k->thread, .labels = k->labels, .samples = k->samples, .first_ = first};
        first += (size_t)k->samples;
    }
    qsort(t->lane, o->lanes.n, sizeof(*t->lane), by_samples);
    while (t->all < o->lanes.n && t->lane[t->all].samples) // the rest has none in the window
        t->all++;
    t->n = FK_MIN(t->all, (size_t)(most ? most : 50));
    return 0;
}

// Names that spans use, numbered anew.
static int number_names(struct fk_query *q, const struct fk_tree *tree, struct fk_timeline *t,
                        struct fk_err *err)
{
    uint32_t nodes = fk_tree_n_nodes(tree), most = 0, name;
    for (uint32_t i = 0; i < nodes; i++) {
        fk_tree_node_name(tree, i, &name);
        most = FK_MAX(most, name);
    }
    uint32_t *number = fk_arena_alloc(&q->arena, ((size_t)most + 1) * sizeof(*number));
    const struct fk_str **by_name =
        fk_arena_zalloc(&q->arena, ((size_t)most + 1) * sizeof(*by_name));
    t->name = fk_arena_array(&q->arena, (size_t)most + 1, sizeof(*t->name));
    if (!number || !by_name || !t->name)
        return fk_fail_nomem(err);
    memset(number, 0xff, ((size_t)most + 1) * sizeof(*number));
    for (uint32_t i = 0; i < nodes; i++) {
        const struct fk_tree_name *n = fk_tree_node_name(tree, i, &name);
        by_name[name] = &n->name;
    }
    for (size_t i = 0; i < t->n; i++)
        for (size_t k = 0; k < t->lane[i].n; k++) {
            uint32_t *at = &number[t->lane[i].span[k].name];
            if (*at == FK_NONE) {
                *at = t->n_names;
                const struct fk_str copy =
                    fk_arena_str(&q->arena, *by_name[t->lane[i].span[k].name]);
                if (!copy.p)
                    return fk_fail_nomem(err);
                t->name[t->n_names++] = copy;
            }
            t->lane[i].span[k].name = *at;
        }
    return 0;
}

int fk_query_timeline(struct fk_query *q, const struct fk_timeline_spec *spec,
                      struct fk_timeline *ret, struct fk_err *err)
{
    struct fk_observed o = {.q = q,
                            .from_ns = spec->begin_ns > INT64_MIN + LOOK_BACK_NS
                                           ? spec->begin_ns - LOOK_BACK_NS
                                           : INT64_MIN,
                            .until_ns = spec->end_ns,
                            .want_nodes = true};
    struct fk_timeline t = {0};
    struct fk_type_facts type;
    int r = fk_query_type(q, &type, err);
    if (r)
        return r;
    o.tree = fk_tree_new(1, (size_t)q->opts.memory);
    r = o.tree ? fk_observe(&o, err) : fk_fail_nomem(err);
    if (r == 0) {
        if (o.v.n)
            qsort(o.v.v, o.v.n, sizeof(struct fk_observation), by_lane_and_time);
        t.period_ns = o.period_ns ? o.period_ns : usual_gap(&o);
        t.period_known = o.period_ns != 0;
        choose_window(&o, spec, &t);
        clip(&o, &t);
        t.samples = o.v.n;
        r = choose_lanes(q, &o, spec->max_lanes, &t, err);
    }
    if (r == 0)
        r = make_lanes(q, &o, &t, err);
    if (r == 0)
        r = number_names(q, o.tree, &t, err);
    fk_tree_free(o.tree);
    fk_observed_free(&o);
    if (r == 0)
        *ret = t;
    return r;
}

// ---- seconds ----

#define ROWS 50 // of 20 ms

static int by_cell(const void *pa, const void *pb)
{
    const struct fk_heat_cell *a = pa, *b = pb;
    if (a->x != b->x)
        return a->x < b->x ? -1 : 1;
    return a->y < b->y ? -1 : a->y > b->y;
}

int fk_query_subsecond(struct fk_query *q, const struct fk_timeline_spec *spec,
                       struct fk_heatmap *ret, struct fk_err *err)
{
    struct fk_observed o = {.q = q, .from_ns = spec->begin_ns, .until_ns = spec->end_ns};
    struct fk_type_facts type;
    int64_t first = INT64_MAX;
    int r = fk_query_type(q, &type, err);
    if (r == 0)
        r = fk_observe(&o, err);
    struct fk_heatmap map = {.x_step_ns = FK_NS_PER_S, .y_step = (double)FK_NS_PER_S / ROWS};
    for (size_t i = 0; i < o.v.n; i++)
        first = FK_MIN(first, o.v.v[i].time_ns);
    if (r == 0 && o.v.n) {
        map.x_start_ns = first - (first % FK_NS_PER_S + FK_NS_PER_S) % FK_NS_PER_S;
        map.cell = fk_arena_array(&q->arena, o.v.n, sizeof(*map.cell));
        r = map.cell ? 0 : fk_fail_nomem(err);
    }
    for (size_t i = 0; r == 0 && i < o.v.n; i++) {
        uint64_t off = (uint64_t)(o.v.v[i].time_ns - map.x_start_ns);
        if (off / (uint64_t)FK_NS_PER_S >= 1000000)
            r = fk_fail_param(err, "until",
                              "the samples lie over more than a million seconds apart");
        map.cell[i] = (struct fk_heat_cell){
            (uint32_t)(off / (uint64_t)FK_NS_PER_S),
            (uint32_t)(off % (uint64_t)FK_NS_PER_S / (uint64_t)(FK_NS_PER_S / ROWS)), 1};
    }
    if (r == 0 && o.v.n) {
        qsort(map.cell, o.v.n, sizeof(*map.cell), by_cell);
        for (size_t i = 0; i < o.v.n; i++) {
            struct fk_heat_cell *last = map.n ? &map.cell[map.n - 1] : NULL;
            if (last && by_cell(last, &map.cell[i]) == 0)
                last->n++;
            else
                map.cell[map.n++] = map.cell[i];
            map.max = FK_MAX(map.max, map.cell[map.n - 1].n);
        }
    }
    fk_observed_free(&o);
    if (r == 0)
        *ret = map;
    return r;
}
