// SPDX-License-Identifier: Apache-2.0
// Distinct label sets, whole or projected to some names, with the labels that stand for each sample
// type (__profile_type__ and its parts).
#include "query/query_int.h"

#include <stdlib.h>

struct typed_sets {
    struct fk_query *q;
    const struct fk_str *name;
    size_t n_names; // 0: whole sets
    FK_VEC(struct fk_labels) v;
    struct fk_map index;
    uint8_t *seen; // of the part: [series][shape]
};

static int begin(struct fk_scan *s, struct fk_err *err)
{
    struct typed_sets *x = s->arg;
    size_t cells;
    if (fk_mul_size(FK_MAX(s->tables->n_series, 1u), FK_MAX(s->tables->n_shapes, 1u), &cells))
        return fk_fail_nomem(err);
    x->seen = fk_arena_zalloc(&s->part_arena, cells);
    return x->seen ? 0 : fk_fail_nomem(err);
}

static int on_row(struct fk_scan *s, const struct fk_hit *h, struct fk_err *err)
{
    struct typed_sets *x = s->arg;
    (void)err;
    x->seen[(size_t)h->row->series * s->tables->n_shapes + h->row->shape] = 1;
    return 0;
}

static int add(struct typed_sets *x, const struct fk_labels *l, struct fk_err *err)
{
    uint64_t h = fk_labels_hash(l);
    struct fk_labels copy;
    for (uint32_t at = fk_map_first(&x->index, h); at != FK_NONE;
         at = fk_map_next(&x->index, h, at))
        if (fk_labels_eq(&x->v.v[fk_map_id(&x->index, at)], l))
            return 0;
    int r = fk_labels_copy(&x->q->arena, l, &copy, err);
    if (r)
        return r;
    return fk_map_add(&x->index, h, (uint32_t)x->v.n) || fk_vec_push(&x->v, copy)
               ? fk_fail_nomem(err)
               : 0;
}

static bool is_wanted(const struct typed_sets *x, struct fk_str name)
{
    bool wanted = x->n_names == 0;
    for (size_t i = 0; i < x->n_names && !wanted; i++)
        wanted = fk_str_eq(x->name[i], name);
    return wanted;
}

// One sample type of one series and shape.
static int add_type(struct fk_scan *s, uint32_t series, uint32_t shape, uint32_t k,
                    struct fk_err *err)
{
    struct typed_sets *x = s->arg;
    const struct fk_labels *l = &s->tables->series[series];
    if (x->q->has_type && !fk_query_is_column(x->q, s->tables, series, shape, k))
        return 0;
    const struct fk_shape *p = &s->tables->shape[shape];
    struct fk_str id = fk_row_type_id(x->q, s->tables, series, shape, k);
    const struct fk_label more[] = {{FK_S("__profile_type__"), id},
                                    {FK_S("__type__"), p->type[k].type},
                                    {FK_S("__unit__"), p->type[k].unit},
                                    {FK_S("__period_type__"), p->period_type},
                                    {FK_S("__period_unit__"), p->period_unit}};
    struct fk_label *v =
        fk_arena_array(&s->part_arena, l->n + FK_COUNTOF(more), sizeof(struct fk_label));
    struct fk_labels set;
    size_t n = 0;
    if (!v || !id.p)
        return fk_fail_nomem(err);
    for (size_t i = 0; i < l->n; i++)
        if (is_wanted(x, l->v[i].name))
            v[n++] = l->v[i];
    for (size_t i = 0; i < FK_COUNTOF(more); i++)
        if (is_wanted(x, more[i].name))
            v[n++] = more[i];
    int r = fk_labels_make(&s->part_arena, v, n, &set, err);
    return r ? r : add(x, &set, err);
}

static int end(struct fk_scan *s, struct fk_err *err)
{
    struct typed_sets *x = s->arg;
    int r = 0;
    for (uint32_t i = 0; i < s->tables->n_series; i++)
        for (uint32_t j = 0; j < s->tables->n_shapes; j++)
            for (uint32_t k = 0; r == 0 && x->seen[(size_t)i * s->tables->n_shapes + j] &&
                                 k < s->tables->shape[j].n_types;
                 k++)
                r = add_type(s, i, j, k, err);
    return r;
}

static int by_labels(const void *pa, const void *pb)
{
    const struct fk_labels *a = pa, *b = pb;
    for (size_t i = 0; i < a->n && i < b->n; i++) {
        int order = fk_str_cmp(a->v[i].name, b->v[i].name);
        if (order == 0)
            order = fk_str_cmp(a->v[i].value, b->v[i].value);
        if (order)
            return order;
    }
    return a->n < b->n ? -1 : a->n > b->n;
}

int fk_query_typed_sets(struct fk_query *q, const struct fk_str *names, size_t n_names,
                        struct fk_labels **ret, size_t *ret_n, struct fk_err *err)
{
    struct typed_sets x = {.q = q, .name = names, .n_names = n_names};
    struct fk_scan s = {
        .q = q, .want_type = q->has_type, .begin = begin, .row = on_row, .end = end, .arg = &x};
    int r = fk_scan_run(&s, err);
    struct fk_labels *v = r ? NULL : fk_arena_array(&q->arena, x.v.n + 1, sizeof(*v));
    if (r == 0 && !v)
        r = fk_fail_nomem(err);
    if (r == 0 && x.v.n) {
        memcpy(v, x.v.v, x.v.n * sizeof(*v));
        qsort(v, x.v.n, sizeof(*v), by_labels);
    }
    if (r == 0) {
        *ret = v;
        *ret_n = x.v.n;
    }
    fk_vec_free(&x.v);
    fk_map_free(&x.index);
    return r;
}
