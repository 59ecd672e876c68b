// SPDX-License-Identifier: Apache-2.0
// Grouping by labels, and the figures of a query that need no samples.
#include "query/query_int.h"

int fk_groups_find(struct fk_query *q, struct fk_groups *g, const struct fk_labels *labels,
                   const struct fk_str *by, size_t n_by, uint32_t *ret, struct fk_err *err)
{
    struct fk_labels key;
    struct fk_label *v = fk_arena_array(&q->arena, n_by + 1, sizeof(*v));
    size_t n = 0;
    for (size_t i = 0; v && i < n_by; i++) {
        struct fk_str value = fk_labels_get(labels, by[i]);
        if (value.p)
            v[n++] = (struct fk_label){by[i], value};
    }
    if (!v)
        return fk_fail_nomem(err);
    int r = fk_labels_make(&q->arena, v, n, &key, err);
    if (r)
        return r;
    uint64_t hash = fk_labels_hash(&key);
    for (uint32_t at = fk_map_first(&g->index, hash); at != FK_NONE;
         at = fk_map_next(&g->index, hash, at))
        if (fk_labels_eq(&g->v.v[fk_map_id(&g->index, at)], &key)) {
            *ret = fk_map_id(&g->index, at);
            return 0;
        }
    *ret = (uint32_t)g->v.n;
    return fk_vec_push(&g->v, key) || fk_map_add(&g->index, hash, *ret) ? fk_fail_nomem(err) : 0;
}

void fk_groups_free(struct fk_groups *g)
{
    fk_vec_free(&g->v);
    fk_map_free(&g->index);
}

int fk_labels_without(struct fk_query *q, const struct fk_labels *l, const struct fk_str *by,
                      size_t n_by, struct fk_labels *ret, struct fk_err *err)
{
    struct fk_label *v = fk_arena_array(&q->arena, l->n + 1, sizeof(*v));
    size_t n = 0;
    if (!v)
        return fk_fail_nomem(err);
    for (size_t i = 0; i < l->n; i++) {
        bool grouped = false;
        for (size_t k = 0; k < n_by && !grouped; k++)
            grouped = fk_str_eq(l->v[i].name, by[k]);
        if (!grouped)
            v[n++] = l->v[i];
    }
    *ret = (struct fk_labels){v, n};
    return 0;
}

// ---- extent ----

struct extent {
    struct fk_extent sum;
    uint8_t *seen; // series of the part at hand
    FK_VEC(uint64_t) series;
    struct fk_map index;
};

static int begin(struct fk_scan *s, struct fk_err *err)
{
    struct extent *x = s->arg;
    x->seen = fk_arena_zalloc(&s->part_arena, FK_MAX(s->tables->n_series, 1u));
    return x->seen ? 0 : fk_fail_nomem(err);
}

// Series are told apart by 64 bits of their hash: this is an estimate of cost.
static int note_series(struct extent *x, uint64_t hash)
{
    for (uint32_t at = fk_map_first(&x->index, hash); at != FK_NONE;
         at = fk_map_next(&x->index, hash, at))
        if (x->series.v[fk_map_id(&x->index, at)] == hash)
            return 0;
    return fk_map_add(&x->index, hash, (uint32_t)x->series.n) || fk_vec_push(&x->series, hash)
               ? -FK_E_NOMEM
               : 0;
}

static int on_row(struct fk_scan *s, const struct fk_hit *h, struct fk_err *err)
{
    struct extent *x = s->arg;
    x->sum.profiles++;
    x->sum.samples += h->row->samples;
    x->sum.sample_bytes += h->row->data.n;
    if (x->seen[h->row->series])
        return 0;
    x->seen[h->row->series] = 1;
    return note_series(x, fk_labels_hash(&s->tables->series[h->row->series])) ? fk_fail_nomem(err)
                                                                              : 0;
}

int fk_query_extent(struct fk_query *q, struct fk_extent *ret, struct fk_err *err)
{
    struct extent x = {.sum.blocks = fk_snapshot_blocks(q->snapshot)};
    struct fk_scan s = {.q = q, .want_type = q->has_type, .begin = begin, .row = on_row, .arg = &x};
    int r = fk_scan_run(&s, err);
    x.sum.series = x.series.n;
    if (r == 0)
        *ret = x.sum;
    fk_vec_free(&x.series);
    fk_map_free(&x.index);
    return r;
}
