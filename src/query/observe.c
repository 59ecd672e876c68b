// SPDX-License-Identifier: Apache-2.0
// Samples with their own times: read from the time columns, with the thread that they name.
#include "query/timeline_int.h"

// Attributes that name the thread of a sample, the best first.
static const char *const thread_keys[] = {"thread",    "thread.name", "thread_name", "thread.id",
                                          "thread id", "tid",         "goroutine"};

struct part_job {
    struct fk_observed *o;
    uint32_t *lane_of_set;   // of the series at hand, FK_NONE: not asked yet
    uint32_t series;         // for which that holds
    size_t first;            // observation of the part
    FK_VEC(uint32_t) stacks; // of the part's observations
};

void fk_observed_free(struct fk_observed *o)
{
    fk_vec_free(&o->v);
    fk_vec_free(&o->lanes);
    fk_map_free(&o->lane_index);
}

// ---- lanes ----

static struct fk_str attr_text(struct fk_query *q, const struct fk_symbols *s,
                               const struct fk_attr *a)
{
    return a->str ? fk_symbols_string(s, a->str)
                  : fk_arena_printf(&q->arena, "%lld", (long long)a->num);
}

static struct fk_str thread_of(struct fk_query *q, const struct fk_symbols *s, uint32_t set)
{
    for (size_t k = 0; k < FK_COUNTOF(thread_keys); k++)
        for (uint32_t i = s->set_begin[set]; i < s->set_begin[set + 1]; i++)
            if (fk_str_eq(fk_symbols_string(s, s->attr[i].key), fk_str_of(thread_keys[k])))
                return attr_text(q, s, &s->attr[i]);
    return FK_S("");
}

static int add_lane(struct fk_observed *o, struct fk_str thread, const struct fk_labels *labels,
                    uint32_t *ret, struct fk_err *err)
{
    uint64_t h = fk_hash_u64(fk_hash_str(thread) * 31 + fk_labels_hash(labels));
    for (uint32_t at = fk_map_first(&o->lane_index, h); at != FK_NONE;
         at = fk_map_next(&o->lane_index, h, at)) {
        const struct fk_lane_key *k = &o->lanes.v[fk_map_id(&o->lane_index, at)];
        if (fk_str_eq(k->thread, thread) && fk_labels_eq(&k->labels, labels)) {
            *ret = fk_map_id(&o->lane_index, at);
            return 0;
        }
    }
    struct fk_lane_key key = {.thread = fk_arena_str(&o->q->arena, thread)};
    if (!key.thread.p || fk_labels_copy(&o->q->arena, labels, &key.labels, err) ||
        fk_map_add(&o->lane_index, h, (uint32_t)o->lanes.n) || fk_vec_push(&o->lanes, key))
        return fk_fail_nomem(err);
    *ret = (uint32_t)(o->lanes.n - 1);
    return 0;
}

static int lane_of(struct fk_scan *s, const struct fk_hit *h, uint32_t set, uint32_t *ret,
                   struct fk_err *err)
{
    struct part_job *j = s->arg;
    if (!j->lane_of_set || j->series != h->row->series) {
        size_t bytes = FK_MAX(s->sym.n_sets, 1u) * sizeof(*j->lane_of_set);
        if (!j->lane_of_set && !(j->lane_of_set = fk_arena_alloc(&s->part_arena, bytes)))
            return fk_fail_nomem(err);
        memset(j->lane_of_set, 0xff, bytes);
        j->series = h->row->series;
    }
    if (j->lane_of_set[set] == FK_NONE) {
        int r = add_lane(j->o, thread_of(j->o->q, &s->sym, set), &s->tables->series[h->row->series],
                         &j->lane_of_set[set], err);
        if (r)
            return r;
    }
    *ret = j->lane_of_set[set];
    return 0;
}

// ---- observations ----

static int observe_begin(struct fk_scan *s, struct fk_err *err)
{
    struct part_job *j = s->arg;
    (void)err;
    j->lane_of_set = NULL;
    j->first = j->o->v.n;
    j->stacks.n = 0;
    return 0;
}

static int too_many(const struct fk_observed *o, struct fk_err *err)
{
    uint64_t most = o->q->opts.memory ? o->q->opts.memory / 64 : UINT64_MAX;
    if (o->v.n <= most)
        return 0;
    return fk_fail_limit(err, "memory", o->q->opts.memory, FK_LIMIT_FLAG(query_memory),
                         "over %zu samples with times; narrow the window or the selector", o->v.n);
}

// A time is its own extent; a count stands for so many periods (a profiler that looks at a waiting
// thread writes one observation for many looks).
static int64_t cover_of(const struct fk_scan *s, const struct fk_hit *h, int64_t value)
{
    const struct fk_shape *shape = &s->tables->shape[h->row->shape];
    struct fk_str unit = shape->type[h->column].unit;
    bool count = fk_str_eq(unit, FK_S("count")), time = fk_str_eq(unit, FK_S("nanoseconds"));
    int64_t each = fk_str_eq(shape->period_unit, FK_S("nanoseconds")) ? shape->period : 0, all;
    if (value <= 0 || !(count || time))
        return 0;
    if (time)
        return value;
    return __builtin_mul_overflow(value, each, &all) ? 0 : all;
}

static int add_row(struct fk_scan *s, const struct fk_hit *h, uint64_t row, struct fk_err *err)
{
    struct part_job *j = s->arg;
    struct fk_observed *o = j->o;
    const struct fk_samples *x = &s->samples;
    uint64_t begin = x->has_obs ? x->obs_begin[row] : row,
             end = x->has_obs ? x->obs_begin[row + 1] : row + 1;
    uint32_t lane, set = x->has_sets ? x->set[row] : 0;
    if (h->keep_set && !h->keep_set[set])
        return 0;
    int r = lane_of(s, h, set, &lane, err);
    for (uint64_t i = begin; r == 0 && i < end; i++) {
        int64_t at = x->time_ns[i];
        if (at == FK_NO_TIME || at < o->from_ns || at >= o->until_ns)
            continue;
        struct fk_observation one = {at, cover_of(s, h, x->value[h->column][i]), lane, 0};
        if (fk_vec_push(&o->v, one) || (o->want_nodes && fk_vec_push(&j->stacks, x->stack[row])))
            return fk_fail_nomem(err);
        o->lanes.v[lane].samples++;
    }
    return r ? r : too_many(o, err);
}

static void note_period(struct fk_observed *o, const struct fk_shape *shape)
{
    if (fk_str_eq(shape->period_unit, FK_S("nanoseconds")))
        o->period_ns = FK_MAX(o->period_ns, shape->period);
}

static int observe_row(struct fk_scan *s, const struct fk_hit *h, struct fk_err *err)
{
    struct part_job *j = s->arg;
    const struct fk_symbols *sym;
    j->o->profiles++;
    if (!(h->row->flags & FK_ENTRY_HAS_TIME))
        return 0;
    j->o->timed++;
    note_period(j->o, &s->tables->shape[h->row->shape]);
    int r = fk_scan_symbols(s, &sym, err);
    if (r)
        return r;
    struct fk_packed in = fk_row_packed(h->row, s->tables, sym);
    s->q->bytes += h->row->data.n;
    r = fk_samples_unpack(&s->samples, &in, err);
    for (uint64_t i = 0; r == 0 && s->samples.has_times && i < s->samples.n_rows; i++)
        r = add_row(s, h, i, err);
    return r;
}

// The part's stacks become nodes of the common tree: symbols go with the part.
static int observe_end(struct fk_scan *s, struct fk_err *err)
{
    struct part_job *j = s->arg;
    struct fk_observed *o = j->o;
    size_t n = j->stacks.n;
    struct fk_frame_filter filter;
    uint32_t *node;
    if (n == 0)
        return 0;
    node = fk_reallocarray(NULL, n, sizeof(*node));
    if (!node)
        return fk_fail_nomem(err);
    int r =
        fk_tree_nodes(o->tree, &s->sym, j->stacks.v, n, fk_query_filter(o->q, &filter), node, err);
    for (size_t i = 0; r == 0 && i < n; i++)
        o->v.v[j->first + i].node = node[i];
    fk_free(node);
    return r;
}

int fk_observe(struct fk_observed *o, struct fk_err *err)
{
    struct part_job j = {.o = o};
    struct fk_scan s = {.q = o->q,
                        .want_type = true,
                        .begin = observe_begin,
                        .row = observe_row,
                        .end = observe_end,
                        .arg = &j};
    o->q->bytes = 0;
    int r = fk_scan_run(&s, err);
    fk_vec_free(&j.stacks);
    if (r)
        return r;
    if (o->profiles == 0)
        return fk_query_none(o->q, err);
    if (o->timed == 0)
        return fk_fail_param(
            err, "id",
            "none of these profiles has times inside: their source gives sums over "
            "the whole profile (JFR, OTLP, perf script and others can give times)");
    return 0;
}
