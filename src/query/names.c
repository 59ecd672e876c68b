// SPDX-License-Identifier: Apache-2.0
// Names and values of labels, with counts; sample attributes stand beside the labels of the series.
#include "query/query_int.h"

#include <stdlib.h>

struct counted {
    struct fk_str text;
    uint64_t profiles;
    struct fk_map values; // of a name: hashes of the values seen
    FK_VEC(uint64_t) value_hash;
};

struct names {
    struct fk_query *q;
    struct fk_str name; // values of this one; .p NULL: names are wanted
    struct fk_str prefix;
    FK_VEC(struct counted) v;
    struct fk_map index;
    uint64_t *rows; // of the part, per series
};

static int counted_of(struct names *n, struct fk_str text, struct counted **ret)
{
    uint64_t hash = fk_hash_str(text);
    for (uint32_t at = fk_map_first(&n->index, hash); at != FK_NONE;
         at = fk_map_next(&n->index, hash, at))
        if (fk_str_eq(n->v.v[fk_map_id(&n->index, at)].text, text)) {
            *ret = &n->v.v[fk_map_id(&n->index, at)];
            return 0;
        }
    struct counted c = {.text = fk_arena_str(&n->q->arena, text)};
    if (!c.text.p || fk_map_add(&n->index, hash, (uint32_t)n->v.n) || fk_vec_push(&n->v, c))
        return -FK_E_NOMEM;
    *ret = &n->v.v[n->v.n - 1];
    return 0;
}

static int count_value(struct counted *c, struct fk_str value)
{
    uint64_t hash = fk_hash_str(value);
    for (uint32_t at = fk_map_first(&c->values, hash); at != FK_NONE;
         at = fk_map_next(&c->values, hash, at))
        if (c->value_hash.v[fk_map_id(&c->values, at)] == hash)
            return 0;
    return fk_map_add(&c->values, hash, (uint32_t)c->value_hash.n) ||
                   fk_vec_push(&c->value_hash, hash)
               ? -FK_E_NOMEM
               : 0;
}

// One name = value, seen in so many profiles.
static int note(struct names *n, struct fk_str name, struct fk_str value, uint64_t profiles)
{
    struct counted *c;
    bool values = n->name.p != NULL;
    if (values && !fk_str_eq(name, n->name))
        return 0;
    if (!fk_str_starts(values ? value : name, n->prefix))
        return 0;
    if (counted_of(n, values ? value : name, &c))
        return -FK_E_NOMEM;
    c->profiles += profiles;
    return values ? 0 : count_value(c, value);
}

static int begin(struct fk_scan *s, struct fk_err *err)
{
    struct names *n = s->arg;
    n->rows = fk_arena_zalloc(&s->part_arena, FK_MAX(s->tables->n_series, 1u) * sizeof(*n->rows));
    return n->rows ? 0 : fk_fail_nomem(err);
}

static int on_row(struct fk_scan *s, const struct fk_hit *h, struct fk_err *err)
{
    (void)err;
    ((struct names *)s->arg)->rows[h->row->series]++;
    return 0;
}

// Attributes are counted with 0 profiles: which profiles have them is not known without reading
// samples.
static int note_attrs(struct fk_scan *s, struct names *n, struct fk_err *err)
{
    const struct fk_symbols *sym;
    int r = fk_scan_symbols(s, &sym, err);
    for (uint32_t i = 0; r == 0 && i < sym->set_begin[sym->n_sets]; i++) {
        const struct fk_attr *a = &sym->attr[i];
        struct fk_str value = a->str ? sym->string[a->str] : FK_S("");
        if (n->name.p && a->str == 0)
            continue;
        if (note(n, sym->string[a->key], value, 0))
            r = fk_fail_nomem(err);
    }
    return r;
}

static int end(struct fk_scan *s, struct fk_err *err)
{
    struct names *n = s->arg;
    uint64_t any = 0;
    for (uint32_t i = 0; i < s->tables->n_series; i++) {
        const struct fk_labels *l = &s->tables->series[i];
        any += n->rows[i];
        for (size_t k = 0; n->rows[i] && k < l->n; k++)
            if (note(n, l->v[k].name, l->v[k].value, n->rows[i]))
                return fk_fail_nomem(err);
    }
    return any ? note_attrs(s, n, err) : 0;
}

static int by_text(const void *pa, const void *pb)
{
    return fk_str_cmp(((const struct fk_counted *)pa)->text, ((const struct fk_counted *)pb)->text);
}

static int finish(struct names *n, size_t limit, struct fk_counted_list *ret, struct fk_err *err)
{
    struct fk_counted *v = fk_arena_array(&n->q->arena, FK_MAX(n->v.n, (size_t)1), sizeof(*v));
    if (!v)
        return fk_fail_nomem(err);
    for (size_t i = 0; i < n->v.n; i++)
        v[i] = (struct fk_counted){n->v.v[i].text, n->v.v[i].value_hash.n, n->v.v[i].profiles};
    qsort(v, n->v.n, sizeof(*v), by_text);
    *ret = (struct fk_counted_list){v, limit ? FK_MIN(n->v.n, limit) : n->v.n,
                                    limit && n->v.n > limit};
    return 0;
}

static int run(struct names *n, size_t limit, struct fk_counted_list *ret, struct fk_err *err)
{
    struct fk_scan s = {.q = n->q,
                        .want_type = n->q->has_type,
                        .begin = begin,
                        .row = on_row,
                        .end = end,
                        .arg = n};
    int r = fk_scan_run(&s, err);
    if (r == 0)
        r = finish(n, limit, ret, err);
    for (size_t i = 0; i < n->v.n; i++) {
        fk_map_free(&n->v.v[i].values);
        fk_vec_free(&n->v.v[i].value_hash);
    }
    fk_vec_free(&n->v);
    fk_map_free(&n->index);
    return r;
}

int fk_query_label_names(struct fk_query *q, struct fk_str prefix, size_t limit,
                         struct fk_counted_list *ret, struct fk_err *err)
{
    struct names n = {.q = q, .prefix = prefix};
    return run(&n, limit, ret, err);
}

int fk_query_label_values(struct fk_query *q, struct fk_str name, struct fk_str prefix,
                          size_t limit, struct fk_counted_list *ret, struct fk_err *err)
{
    struct names n = {.q = q, .name = name.p ? name : FK_S(""), .prefix = prefix};
    return run(&n, limit, ret, err);
}

// ---- label sets ----

struct sets {
    struct fk_query *q;
    FK_VEC(struct fk_labels) v;
    struct fk_map index;
    size_t limit;
    uint8_t *seen; // of the part
};

static int sets_begin(struct fk_scan *s, struct fk_err *err)
{
    struct sets *x = s->arg;
    x->seen = fk_arena_zalloc(&s->part_arena, FK_MAX(s->tables->n_series, 1u));
    return x->seen ? 0 : fk_fail_nomem(err);
}

static int sets_row(struct fk_scan *s, const struct fk_hit *h, struct fk_err *err)
{
    struct sets *x = s->arg;
    const struct fk_labels *l = &s->tables->series[h->row->series];
    if (x->seen[h->row->series]++ || (x->limit && x->v.n == x->limit))
        return 0;
    uint64_t hash = fk_labels_hash(l);
    for (uint32_t at = fk_map_first(&x->index, hash); at != FK_NONE;
         at = fk_map_next(&x->index, hash, at))
        if (fk_labels_eq(&x->v.v[fk_map_id(&x->index, at)], l))
            return 0;
    if (fk_map_add(&x->index, hash, (uint32_t)x->v.n) || fk_vec_push(&x->v, *l))
        return fk_fail_nomem(err);
    x->seen[h->row->series] = 1;
    return 0;
}

int fk_query_label_sets(struct fk_query *q, size_t limit, struct fk_labels **ret, size_t *ret_n,
                        struct fk_err *err)
{
    struct sets x = {.q = q, .limit = limit};
    struct fk_scan s = {
        .q = q, .want_type = q->has_type, .begin = sets_begin, .row = sets_row, .arg = &x};
    int r = fk_scan_run(&s, err);
    struct fk_labels *v =
        r ? NULL : fk_arena_array(&q->arena, FK_MAX(x.v.n, (size_t)1), sizeof(*v));
    if (r == 0 && !v)
        r = fk_fail_nomem(err);
    if (r == 0) {
        if (x.v.n)
            memcpy(v, x.v.v, x.v.n * sizeof(*v));
        *ret = v;
        *ret_n = x.v.n;
    }
    fk_vec_free(&x.v);
    fk_map_free(&x.index);
    return r;
}
