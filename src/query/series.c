// SPDX-License-Identifier: Apache-2.0
// Values over time, from the entries' totals. Delta and cumulative values are summed per step (or
// made a rate); gauges are averaged over the snapshots of each series first and then summed over
// the series of a group.
#include "query/query_int.h"

#include <math.h>
#include <stdlib.h>

#define MAX_CELLS ((size_t)8 << 20) // series x steps
#define MAX_STEPS 100000

struct cell {
    double sum;
    uint64_t n;
};

// The heaviest of a cell.
struct best {
    bool there;
    int64_t value, time_ns;
    struct fk_id id;
    struct fk_str span_id, trace_id; // in the query's arena
};

struct one_series {
    struct fk_labels labels; // borrowed from the snapshot
    uint32_t group, next;    // series of its group, FK_NONE: the last
    struct cell *cell;       // n_steps, in the query's arena
    struct best *best;       // likewise; NULL: none are wanted
};

struct job {
    struct fk_query *q;
    const struct fk_series_spec *spec;
    int64_t start_ns, step_ns;
    int64_t label_ns; // time shown for step 0
    size_t n_steps, cells;
    FK_VEC(struct one_series) series;
    struct fk_map series_index;
    struct fk_groups groups;
    uint32_t *of_part; // series of the part -> ours + 1
    uint32_t *first;   // series of each group
};

static int series_of(struct job *j, const struct fk_labels *labels, uint32_t *ret,
                     struct fk_err *err)
{
    uint64_t hash = fk_labels_hash(labels);
    for (uint32_t at = fk_map_first(&j->series_index, hash); at != FK_NONE;
         at = fk_map_next(&j->series_index, hash, at))
        if (fk_labels_eq(&j->series.v[fk_map_id(&j->series_index, at)].labels, labels)) {
            *ret = fk_map_id(&j->series_index, at);
            return 0;
        }
    struct one_series s = {.labels = *labels};
    j->cells += j->n_steps;
    if (j->cells > MAX_CELLS)
        return fk_fail_limit(
            err, "step", MAX_CELLS, NULL,
            "series times steps are too many: choose a larger step or fewer series");
    s.cell = fk_arena_zalloc(&j->q->arena, j->n_steps * sizeof(*s.cell));
    if (j->spec->exemplars)
        s.best = fk_arena_zalloc(&j->q->arena, j->n_steps * sizeof(*s.best));
    *ret = (uint32_t)j->series.n;
    if (!s.cell || (j->spec->exemplars && !s.best))
        return fk_fail_nomem(err);
    int r = fk_groups_find(j->q, &j->groups, labels, j->spec->group_by, j->spec->n_group_by,
                           &s.group, err);
    if (r)
        return r;
    return fk_vec_push(&j->series, s) || fk_map_add(&j->series_index, hash, *ret)
               ? fk_fail_nomem(err)
               : 0;
}

static int begin(struct fk_scan *s, struct fk_err *err)
{
    struct job *j = s->arg;
    j->of_part =
        fk_arena_zalloc(&s->part_arena, FK_MAX(s->tables->n_series, 1u) * sizeof(*j->of_part));
    return j->of_part ? 0 : fk_fail_nomem(err);
}

static bool offer(struct best *b, int64_t value, const struct fk_row *row)
{
    bool better = !b->there || value > b->value;
    if (better)
        *b = (struct best){.there = true, .value = value, .time_ns = row->time_ns, .id = row->id};
    return better;
}

static int offer_spans(struct fk_scan *s, const struct fk_hit *h, struct best *b,
                       struct fk_err *err)
{
    const struct fk_span_sum *v;
    size_t n;
    int r = fk_hit_spans(s, h, h->column, &v, &n, err);
    for (size_t i = 0; r == 0 && i < n; i++) {
        if (!offer(b, v[i].value, h->row))
            continue;
        b->span_id = fk_arena_str(&s->q->arena, v[i].span_id);
        b->trace_id = fk_arena_str(&s->q->arena, v[i].trace_id);
        r = b->span_id.p && b->trace_id.p ? 0 : fk_fail_nomem(err);
    }
    return r;
}

static int on_row(struct fk_scan *s, const struct fk_hit *h, struct fk_err *err)
{
    struct job *j = s->arg;
    uint32_t *known = &j->of_part[h->row->series], id;
    int64_t value;
    int r;
    if (*known == 0) {
        if ((r = series_of(j, &s->tables->series[h->row->series], &id, err)))
            return r;
        *known = id + 1;
    }
    if ((r = fk_hit_total(s, h, h->column, &value, err)))
        return r;
    size_t step =
        (size_t)((uint64_t)fk_wrap_sub(h->row->time_ns, j->start_ns) / (uint64_t)j->step_ns);
    // Below a call site a profile without a sample there is no point of zero.
    if (step >= j->n_steps || (value == 0 && j->q->spec.n_call_site))
        return 0;
    struct one_series *o = &j->series.v[*known - 1];
    o->cell[step].sum += (double)value;
    o->cell[step].n++;
    if (j->spec->exemplars == FK_EXEMPLARS_SPANS)
        return offer_spans(s, h, &o->best[step], err);
    if (o->best)
        offer(&o->best[step], value, h->row);
    return 0;
}

// ---- range and step ----

struct bounds {
    int64_t min, max;
};

static int widen(struct fk_scan *s, const struct fk_hit *h, struct fk_err *err)
{
    struct bounds *b = s->arg;
    (void)err;
    b->min = FK_MIN(b->min, h->row->time_ns);
    b->max = FK_MAX(b->max, h->row->time_ns);
    return 0;
}

// Steps people can read, near a two-hundredth of the range.
static int64_t nice_step(int64_t range_ns)
{
    static const int64_t seconds[] = {1,   5,    10,   15,   30,    60,    120,   300,   600,
                                      900, 1800, 3600, 7200, 14400, 21600, 43200, 86400, 604800};
    for (size_t i = 0; i < FK_COUNTOF(seconds); i++)
        if (range_ns / (seconds[i] * FK_NS_PER_S) <= 200)
            return seconds[i] * FK_NS_PER_S;
    return range_ns / 200 + 1;
}

static int64_t floor_to(int64_t t, int64_t step)
{
    int64_t rest = t % step;
    return t - (rest < 0 ? rest + step : rest);
}

// The asked range, or where the chosen profiles lie. Steps are aligned to multiples of the step, so
// that a moving "now" does not shift every point.
static int set_grid(struct job *j, struct fk_err *err)
{
    const struct fk_series_spec *s = j->spec;
    if (s->step_ns <= 0 || s->grid_ns > s->grid_end_ns)
        return fk_fail_param(err, "step",
                             "step must be positive and start must not lie behind end");
    uint64_t steps = (uint64_t)(s->grid_end_ns - s->grid_ns) / (uint64_t)s->step_ns + 1;
    if (steps > MAX_STEPS)
        return fk_fail_limit(err, "step", MAX_STEPS, NULL,
                             "the range has %llu steps: choose a larger step",
                             (unsigned long long)steps);
    j->n_steps = (size_t)steps;
    j->start_ns = s->grid_ns - s->step_ns + 1;
    j->label_ns = s->grid_ns;
    j->q->spec.from_ns = j->start_ns;
    j->q->spec.until_ns = s->grid_ns + (int64_t)(steps - 1) * s->step_ns + 1;
    return 0;
}

static int set_range(struct job *j, struct fk_err *err)
{
    if (j->spec->on_grid)
        return set_grid(j, err);
    struct bounds b = {j->q->spec.from_ns, j->q->spec.until_ns};
    if (j->q->spec.n_ids || b.min < 0 || b.max > INT64_MAX / 2) {
        b = (struct bounds){INT64_MAX, INT64_MIN};
        struct fk_scan s = {.q = j->q, .want_type = true, .row = widen, .arg = &b};
        int r = fk_scan_run(&s, err);
        if (r)
            return r;
        b.max += b.max < INT64_MAX;
    }
    if (b.min >= b.max)
        return 0;
    j->step_ns = j->spec->step_ns ? j->spec->step_ns : nice_step(b.max - b.min);
    j->start_ns = floor_to(b.min, j->step_ns);
    uint64_t steps = ((uint64_t)b.max - (uint64_t)j->start_ns - 1) / (uint64_t)j->step_ns + 1;
    if (steps > MAX_STEPS)
        return fk_fail_limit(err, "step", MAX_STEPS, NULL,
                             "the range has %llu steps: choose a larger step",
                             (unsigned long long)steps);
    j->n_steps = (size_t)steps;
    j->label_ns = j->start_ns;
    return 0;
}

// ---- groups ----

static double cell_value(const struct job *j, const struct cell *c, enum fk_aggregation how)
{
    if (how == FK_AGG_AVG)
        return c->sum / (double)c->n;
    return how == FK_AGG_RATE ? c->sum / ((double)j->step_ns / 1e9) : c->sum;
}

// The heaviest of a step among the series of a group.
static int put_exemplar(struct job *j, uint32_t g, size_t step, struct fk_point *to)
{
    const struct one_series *from = NULL;
    for (uint32_t i = j->first[g]; i != FK_NONE; i = j->series.v[i].next) {
        const struct one_series *o = &j->series.v[i];
        if (o->best && o->best[step].there &&
            (!from || o->best[step].value > from->best[step].value))
            from = o;
    }
    if (!from)
        return 0;
    const struct best *b = &from->best[step];
    struct fk_exemplar *e = fk_arena_alloc(&j->q->arena, sizeof(*e));
    if (!e)
        return -FK_E_NOMEM;
    *e = (struct fk_exemplar){b->time_ns, b->value, b->id, b->span_id, b->trace_id, {NULL, 0}};
    to->exemplar = e;
    return fk_labels_without(j->q, &from->labels, j->spec->group_by, j->spec->n_group_by,
                             &e->labels, NULL);
}

// Sums of a group's series, of each step.
static void add_up(const struct job *j, uint32_t g, enum fk_aggregation how, struct cell *sum)
{
    for (uint32_t i = j->first[g]; i != FK_NONE; i = j->series.v[i].next)
        for (size_t k = 0; k < j->n_steps; k++) {
            const struct cell *c = &j->series.v[i].cell[k];
            if (!c->n)
                continue;
            sum[k].sum += cell_value(j, c, how);
            sum[k].n += c->n;
        }
    for (size_t k = 0; how == FK_AGG_MEAN && k < j->n_steps; k++)
        sum[k].sum = sum[k].n ? sum[k].sum / (double)sum[k].n : 0;
}

// Chains the series of each group, in their order.
static int chain(struct job *j)
{
    j->first = fk_arena_array(&j->q->arena, j->groups.v.n + 1, sizeof(*j->first));
    if (!j->first)
        return -FK_E_NOMEM;
    for (size_t g = 0; g < j->groups.v.n; g++)
        j->first[g] = FK_NONE;
    for (size_t i = j->series.n; i-- > 0;) {
        struct one_series *o = &j->series.v[i];
        o->next = j->first[o->group];
        j->first[o->group] = (uint32_t)i;
    }
    return 0;
}

static int make_group(struct job *j, uint32_t g, enum fk_aggregation how, struct fk_group *ret)
{
    struct cell *sum = fk_arena_zalloc(&j->q->arena, FK_MAX(j->n_steps, (size_t)1) * sizeof(*sum));
    ret->point = fk_arena_array(&j->q->arena, FK_MAX(j->n_steps, (size_t)1), sizeof(*ret->point));
    if (!sum || !ret->point)
        return -FK_E_NOMEM;
    add_up(j, g, how, sum);
    for (size_t k = 0; k < j->n_steps; k++) {
        if (!sum[k].n)
            continue;
        struct fk_point *p = &ret->point[ret->n++];
        *p = (struct fk_point){(j->label_ns + (int64_t)k * j->step_ns) / FK_NS_PER_MS, sum[k].sum,
                               NULL};
        ret->total += sum[k].sum;
        if (j->spec->exemplars && put_exemplar(j, g, k, p))
            return -FK_E_NOMEM;
    }
    ret->labels = j->groups.v.v[g];
    return 0;
}

static int by_total(const void *pa, const void *pb)
{
    const struct fk_group *a = pa, *b = pb;
    if (a->total < b->total || a->total > b->total)
        return a->total > b->total ? -1 : 1;
    for (size_t i = 0; i < a->labels.n && i < b->labels.n; i++) {
        int o = fk_str_cmp(a->labels.v[i].value, b->labels.v[i].value);
        if (o)
            return o;
    }
    return a->labels.n < b->labels.n ? -1 : a->labels.n > b->labels.n;
}

static int finish(struct job *j, enum fk_kind kind, struct fk_series *ret, struct fk_err *err)
{
    enum fk_aggregation how = j->spec->aggregation;
    if (how == FK_AGG_AUTO)
        how = kind == FK_KIND_INSTANT ? FK_AGG_AVG : FK_AGG_SUM;
    if (how == FK_AGG_RATE && kind == FK_KIND_CUMULATIVE)
        return fk_fail_param(
            err, "aggregation",
            "a counter since process start has no rate per profile; ask for sum or avg");
    struct fk_group *group =
        fk_arena_zalloc(&j->q->arena, FK_MAX(j->groups.v.n, (size_t)1) * sizeof(*group));
    int r = !group || chain(j) ? fk_fail_nomem(err) : 0;
    for (uint32_t g = 0; r == 0 && g < j->groups.v.n; g++) {
        r = fk_cancel_check(j->q->opts.cancel, err);
        if (r == 0 && make_group(j, g, how, &group[g]))
            r = fk_fail_nomem(err);
    }
    if (r)
        return r;
    qsort(group, j->groups.v.n, sizeof(*group), by_total);
    size_t n = j->spec->limit ? FK_MIN(j->spec->limit, j->groups.v.n) : j->groups.v.n;
    *ret = (struct fk_series){group, n, j->groups.v.n, j->step_ns, how};
    return 0;
}

int fk_query_series(struct fk_query *q, const struct fk_series_spec *spec, struct fk_series *ret,
                    struct fk_err *err)
{
    struct job j = {.q = q, .spec = spec, .step_ns = spec->step_ns ? spec->step_ns : FK_NS_PER_S};
    struct fk_type_facts type;
    int r = fk_query_type(q, &type, err);
    if (r == 0)
        r = set_range(&j, err);
    struct fk_scan s = {.q = q, .want_type = true, .begin = begin, .row = on_row, .arg = &j};
    if (r == 0 && j.n_steps)
        r = fk_scan_run(&s, err);
    if (r == 0)
        r = finish(&j, type.kind, ret, err);
    fk_vec_free(&j.series);
    fk_groups_free(&j.groups);
    fk_map_free(&j.series_index);
    return r;
}
