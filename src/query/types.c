// SPDX-License-Identifier: Apache-2.0
// Which profile types and services there are, from tables and rows alone.
#include "query/query_int.h"

#include <stdlib.h>

struct known_type {
    struct fk_type_facts facts;
    uint64_t services, profiles;
};

struct known_service {
    struct fk_str service;
    FK_VEC(struct fk_str) types;
    uint64_t profiles;
    int64_t last_seen_ns;
};

struct types {
    struct fk_query *q;
    FK_VEC(struct known_type) types;
    FK_VEC(struct known_service) services;
    uint32_t
        *cache; // of the part: [series * n_shapes + shape] -> first type id + 1, 0: not looked up
    FK_VEC(uint32_t) ids;
    size_t service; // of the part
};

static void types_free(struct types *t)
{
    for (size_t i = 0; i < t->services.n; i++)
        fk_vec_free(&t->services.v[i].types);
    fk_vec_free(&t->types);
    fk_vec_free(&t->services);
    fk_vec_free(&t->ids);
}

static int facts_of(struct fk_query *q, struct fk_str id, const struct fk_value_type *v,
                    struct fk_type_facts *ret)
{
    *ret =
        (struct fk_type_facts){.id = id,
                               .type = fk_arena_str(&q->arena, v->type),
                               .unit = fk_arena_str(&q->arena, v->unit.n ? v->unit : FK_S("count")),
                               .kind = v->kind};
    return id.p && ret->type.p && ret->unit.p ? 0 : -FK_E_NOMEM;
}

static int type_of(struct types *t, struct fk_str id, const struct fk_value_type *v, uint32_t *ret)
{
    for (size_t i = 0; i < t->types.n; i++)
        if (fk_str_eq(t->types.v[i].facts.id, id)) {
            *ret = (uint32_t)i;
            return 0;
        }
    struct known_type k = {0};
    if (facts_of(t->q, id, v, &k.facts) || fk_vec_push(&t->types, k))
        return -FK_E_NOMEM;
    *ret = (uint32_t)t->types.n - 1;
    return 0;
}

static int service_of(struct types *t, struct fk_str service, size_t *ret)
{
    for (size_t i = 0; i < t->services.n; i++)
        if (fk_str_eq(t->services.v[i].service, service)) {
            *ret = i;
            return 0;
        }
    struct known_service k = {.service = fk_arena_str(&t->q->arena, service),
                              .last_seen_ns = INT64_MIN};
    if (!k.service.p || fk_vec_push(&t->services, k))
        return -FK_E_NOMEM;
    *ret = t->services.n - 1;
    return 0;
}

static int begin(struct fk_scan *s, struct fk_err *err)
{
    struct types *t = s->arg;
    size_t cells = (size_t)s->tables->n_series * s->tables->n_shapes;
    t->ids.n = 0;
    t->cache = fk_arena_zalloc(&s->part_arena, FK_MAX(cells, (size_t)1) * sizeof(*t->cache));
    if (!t->cache || service_of(t, fk_part_service(s->part), &t->service))
        return fk_fail_nomem(err);
    return 0;
}

static int join(struct types *t, uint32_t type)
{
    struct known_type *k = &t->types.v[type];
    struct known_service *s = &t->services.v[t->service];
    bool have = false;
    for (size_t i = 0; !have && i < s->types.n; i++)
        have = fk_str_eq(s->types.v[i], k->facts.id);
    if (have)
        return 0;
    k->services++;
    return fk_vec_push(&s->types, k->facts.id) ? -FK_E_NOMEM : 0;
}

// Types of a (series, shape) pair of the part, looked up once: ids[cache - 1 ..].
static int look_up(struct fk_scan *s, struct types *t, const struct fk_row *row, uint32_t *cell)
{
    const struct fk_shape *shape = &s->tables->shape[row->shape];
    uint32_t first = (uint32_t)t->ids.n;
    for (uint32_t k = 0; k < shape->n_types; k++) {
        uint32_t type;
        struct fk_str id = fk_row_type_id(t->q, s->tables, row->series, row->shape, k);
        if (type_of(t, id, &shape->type[k], &type) || join(t, type) || fk_vec_push(&t->ids, type))
            return -FK_E_NOMEM;
    }
    *cell = first + 1;
    return 0;
}

static int on_row(struct fk_scan *s, const struct fk_hit *h, struct fk_err *err)
{
    struct types *t = s->arg;
    uint32_t *cell = &t->cache[(size_t)h->row->series * s->tables->n_shapes + h->row->shape];
    if (*cell == 0 && look_up(s, t, h->row, cell))
        return fk_fail_nomem(err);
    for (uint32_t k = 0; k < s->tables->shape[h->row->shape].n_types; k++)
        t->types.v[t->ids.v[*cell - 1 + k]].profiles++;
    struct known_service *service = &t->services.v[t->service];
    service->profiles++;
    service->last_seen_ns = FK_MAX(service->last_seen_ns, h->row->time_ns);
    return 0;
}

static int collect(struct fk_query *q, struct types *t, struct fk_err *err)
{
    *t = (struct types){.q = q};
    struct fk_scan s = {.q = q, .begin = begin, .row = on_row, .arg = t};
    return fk_scan_run(&s, err);
}

static int by_id(const void *pa, const void *pb)
{
    return fk_str_cmp(((const struct fk_type_row *)pa)->facts.id,
                      ((const struct fk_type_row *)pb)->facts.id);
}

int fk_query_types(struct fk_query *q, struct fk_type_row **ret, size_t *ret_n, struct fk_err *err)
{
    struct types t;
    int r = collect(q, &t, err);
    struct fk_type_row *v =
        r ? NULL : fk_arena_array(&q->arena, FK_MAX(t.types.n, (size_t)1), sizeof(*v));
    if (r == 0 && !v)
        r = fk_fail_nomem(err);
    for (size_t i = 0; r == 0 && i < t.types.n; i++)
        v[i] =
            (struct fk_type_row){t.types.v[i].facts, t.types.v[i].services, t.types.v[i].profiles};
    if (r == 0) {
        qsort(v, t.types.n, sizeof(*v), by_id);
        *ret = v;
        *ret_n = t.types.n;
    }
    types_free(&t);
    return r;
}

static int by_service(const void *pa, const void *pb)
{
    return fk_str_cmp(((const struct fk_service_row *)pa)->service,
                      ((const struct fk_service_row *)pb)->service);
}

static int by_text(const void *pa, const void *pb)
{
    return fk_str_cmp(*(const struct fk_str *)pa, *(const struct fk_str *)pb);
}

static int service_row(struct fk_query *q, const struct known_service *k,
                       struct fk_service_row *ret)
{
    struct fk_str *type = fk_arena_array(&q->arena, FK_MAX(k->types.n, (size_t)1), sizeof(*type));
    if (!type)
        return -FK_E_NOMEM;
    if (k->types.n)
        memcpy(type, k->types.v, k->types.n * sizeof(*type));
    qsort(type, k->types.n, sizeof(*type), by_text);
    *ret = (struct fk_service_row){k->service, type, k->types.n, k->profiles, k->last_seen_ns};
    return 0;
}

int fk_query_services(struct fk_query *q, struct fk_service_row **ret, size_t *ret_n,
                      struct fk_err *err)
{
    struct types t;
    size_t n = 0;
    int r = collect(q, &t, err);
    struct fk_service_row *v =
        r ? NULL : fk_arena_array(&q->arena, FK_MAX(t.services.n, (size_t)1), sizeof(*v));
    if (r == 0 && !v)
        r = fk_fail_nomem(err);
    for (size_t i = 0; r == 0 && i < t.services.n; i++)
        if (t.services.v[i].profiles && service_row(q, &t.services.v[i], &v[n++]))
            r = fk_fail_nomem(err);
    if (r == 0) {
        qsort(v, n, sizeof(*v), by_service);
        *ret = v;
        *ret_n = n;
    }
    types_free(&t);
    return r;
}

// ---- the type of an answer ----

static int adopt(struct fk_query *q, const struct fk_type_facts *f, struct fk_err *err)
{
    q->has_type = true;
    q->spec.type = f->id;
    return fk_type_id_parse(f->id, &q->type, err);
}

static int ambiguous(const struct types *t, struct fk_err *err)
{
    struct fk_buf b;
    fk_buf_init(&b, 0);
    for (size_t i = 0; i < t->types.n; i++) {
        fk_buf_cstr(&b, i ? ", " : "");
        fk_buf_str(&b, t->types.v[i].facts.id);
    }
    int r =
        fk_fail_param(err, "type", "the source has %zu profile types, choose one with type=: %.*s",
                      t->types.n, FK_STR_ARG(fk_str_head(fk_buf_view(&b), 220)));
    fk_buf_free(&b);
    return r;
}

// The scan need not go on; no error.
#define ENOUGH 1

static int first_of_type(struct fk_scan *s, const struct fk_hit *h, struct fk_err *err)
{
    const struct fk_value_type *v = &s->tables->shape[h->row->shape].type[h->column];
    return facts_of(s->q, s->q->spec.type, v, s->arg) ? fk_fail_nomem(err) : ENOUGH;
}

// Of a source without the type: whether it has others.
static int is_missing(struct fk_query *q, const struct types *t, struct fk_err *err)
{
    return t->types.n ? fk_fail(err, FK_E_NOTFOUND, "no profile of the source has the type %.*s",
                                FK_STR_ARG(fk_str_head(q->spec.type, 120)))
                      : fk_query_none(q, err);
}

static int find_type(struct fk_query *q, struct fk_type_facts *ret, struct fk_err *err)
{
    struct types t;
    struct fk_type_facts found;
    struct fk_scan s = {.q = q, .want_type = true, .row = first_of_type, .arg = &found};
    int r = fk_scan_run(&s, err);
    if (r == ENOUGH)
        *ret = found;
    if (r)
        return r == ENOUGH ? 0 : r;
    r = collect(q, &t, err);
    if (r == 0)
        r = is_missing(q, &t, err);
    types_free(&t);
    return r;
}

static int only_type(struct fk_query *q, struct fk_type_facts *ret, struct fk_err *err)
{
    struct types t;
    int r = collect(q, &t, err);
    if (r == 0 && t.types.n != 1)
        r = t.types.n ? ambiguous(&t, err) : fk_query_none(q, err);
    if (r == 0) {
        *ret = t.types.v[0].facts;
        r = adopt(q, ret, err);
    }
    types_free(&t);
    return r;
}

int fk_query_type(struct fk_query *q, struct fk_type_facts *ret, struct fk_err *err)
{
    return q->has_type ? find_type(q, ret, err) : only_type(q, ret, err);
}
