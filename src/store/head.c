// SPDX-License-Identifier: Apache-2.0
// The head: unsealed profiles in memory, per tenant and service, symbols interned, one packed row
// each. One writer appends; readers copy a view under the lock and then read without one: nothing
// below a view's lengths changes, arrays that grew stay until the head goes.
#include "store/store_int.h"

struct fk_head *fk_head_new(void)
{
    struct fk_head *h = fk_calloc(1, sizeof(*h));
    if (!h)
        return NULL;
    fk_ref_init(&h->ref);
    fk_mutex_init(&h->lock, FK_RANK_STORE_HEAD);
    fk_arena_init(&h->arena, 0);
    fk_buf_init(&h->scratch, 0);
    h->remap = fk_remap_new();
    if (!h->remap) {
        fk_head_unref(h);
        return NULL;
    }
    return h;
}

static void set_free(struct head_set *s)
{
    fk_dict_free(s->dict);
    fk_map_free(&s->series_index);
    fk_map_free(&s->shape_index);
    fk_map_free(&s->placement_index);
    struct keyed_table *tables[] = {&s->series, &s->shapes, &s->placements};
    for (size_t i = 0; i < FK_COUNTOF(tables); i++) {
        fk_free(tables[i]->key);
        fk_free(tables[i]->value);
    }
    fk_free(s->page);
    fk_free(s);
}

void fk_head_unref(struct fk_head *h)
{
    if (!h || !fk_ref_drop(&h->ref))
        return;
    for (size_t i = 0; i < h->sets.n; i++)
        set_free(h->sets.v[i]);
    for (size_t i = 0; i < h->retired.n; i++)
        fk_free(h->retired.v[i]);
    fk_vec_free(&h->sets);
    fk_vec_free(&h->retired);
    fk_vec_free(&h->packs);
    fk_vec_free(&h->block_ids);
    fk_map_free(&h->set_index);
    fk_remap_free(h->remap);
    fk_samples_free(&h->samples);
    fk_buf_free(&h->scratch);
    fk_arena_free(&h->arena);
    fk_mutex_destroy(&h->lock);
    fk_free(h);
}

uint64_t fk_head_memory(const struct fk_head *h)
{
    uint64_t n = h->arena.used;
    for (size_t i = 0; i < h->sets.n; i++)
        n += fk_dict_bytes(h->sets.v[i]->dict);
    return n;
}

// A larger copy of an array; the old one is kept for readers.
static int grow(struct fk_head *h, void **v, uint32_t n, uint32_t cap, size_t size)
{
    if (*v && fk_vec_reserve(&h->retired, 1))
        return -FK_E_NOMEM;
    void *p = fk_reallocarray(NULL, cap, size);
    if (!p)
        return -FK_E_NOMEM;
    if (*v) {
        memcpy(p, *v, n * size);
        h->retired.v[h->retired.n++] = *v;
    }
    *v = p;
    return 0;
}

// ---- sets ----

static uint64_t set_hash(struct fk_str tenant, struct fk_str service)
{
    return fk_hash_u64(fk_hash_str(tenant) * 31 + fk_hash_str(service));
}

static struct head_set *set_new(struct fk_head *h, struct fk_str tenant, struct fk_str service)
{
    struct head_set *s = fk_calloc(1, sizeof(*s));
    if (!s)
        return NULL;
    s->tenant = fk_arena_str(&h->arena, tenant);
    s->service = fk_arena_str(&h->arena, service);
    s->dict = fk_dict_new(true);
    s->min_time_ns = INT64_MAX;
    s->max_time_ns = INT64_MIN;
    bool good = s->tenant.p && s->service.p && s->dict && fk_vec_reserve(&h->sets, 1) == 0 &&
                fk_map_add(&h->set_index, set_hash(tenant, service), (uint32_t)h->sets.n) == 0;
    if (!good) {
        set_free(s);
        return NULL;
    }
    fk_mutex_lock(&h->lock);
    h->sets.v[h->sets.n++] = s;
    fk_mutex_unlock(&h->lock);
    return s;
}

static struct head_set *set_of(struct fk_head *h, struct fk_str tenant, struct fk_str service)
{
    uint64_t hash = set_hash(tenant, service);
    for (uint32_t at = fk_map_first(&h->set_index, hash); at != FK_NONE;
         at = fk_map_next(&h->set_index, hash, at)) {
        struct head_set *s = h->sets.v[fk_map_id(&h->set_index, at)];
        if (fk_str_eq(s->tenant, tenant) && fk_str_eq(s->service, service))
            return s;
    }
    // Growing the vector moves it: readers look at it under the lock only.
    fk_mutex_lock(&h->lock);
    int r = fk_vec_reserve(&h->sets, 1);
    fk_mutex_unlock(&h->lock);
    return r ? NULL : set_new(h, tenant, service);
}

// ---- tables with canonical keys ----

static uint32_t table_find(const struct fk_map *index, const struct keyed_table *t, uint64_t hash,
                           struct fk_str key)
{
    for (uint32_t at = fk_map_first(index, hash); at != FK_NONE; at = fk_map_next(index, hash, at))
        if (fk_map_id(index, at) < t->n && fk_str_eq(t->key[fk_map_id(index, at)], key))
            return fk_map_id(index, at);
    return FK_NONE;
}

// Room for one more entry of `size` bytes.
static int table_reserve(struct fk_head *h, struct keyed_table *t, size_t size)
{
    if (t->n < t->cap)
        return 0;
    uint32_t cap = t->cap ? t->cap * 2 : 8;
    if (grow(h, (void **)&t->key, t->n, cap, sizeof(*t->key)) ||
        grow(h, &t->value, t->n, cap, size))
        return -FK_E_NOMEM;
    t->cap = cap;
    return 0;
}

// The place for a new value under this key, or its id when the table has it. *ret_key: the key's
// lasting copy, .p NULL when found.
static int table_intern(struct fk_head *h, struct fk_map *index, struct keyed_table *t, size_t size,
                        struct fk_str key, uint32_t *ret_id, struct fk_str *ret_key)
{
    uint64_t hash = fk_hash_str(key);
    *ret_id = table_find(index, t, hash, key);
    *ret_key = (struct fk_str){NULL, 0};
    if (*ret_id != FK_NONE)
        return 0;
    struct fk_str copy = fk_arena_str(&h->arena, key);
    if (!copy.p || table_reserve(h, t, size) || fk_map_add(index, hash, t->n))
        return -FK_E_NOMEM;
    t->key[t->n] = copy;
    *ret_id = t->n;
    *ret_key = copy;
    return 0;
}

static int intern_series(struct fk_head *h, struct head_set *s, const struct fk_labels *labels,
                         uint32_t *ret, struct fk_err *err)
{
    struct fk_str key;
    fk_buf_clear(&h->scratch);
    fk_labels_put(&h->scratch, labels);
    if (h->scratch.failed || table_intern(h, &s->series_index, &s->series, sizeof(struct fk_labels),
                                          fk_buf_view(&h->scratch), ret, &key))
        return fk_fail_nomem(err);
    if (!key.p)
        return 0;
    int r = fk_labels_read(&h->arena, key, (struct fk_labels *)s->series.value + *ret, err);
    s->series.n += r == 0;
    return r;
}

static int intern_shape(struct fk_head *h, struct head_set *s, const struct fk_profile *p,
                        uint32_t *ret, struct fk_err *err)
{
    struct fk_str key;
    struct fk_shape shape;
    fk_shape_of(p, &shape);
    fk_buf_clear(&h->scratch);
    fk_shape_put(&h->scratch, &shape);
    if (h->scratch.failed || table_intern(h, &s->shape_index, &s->shapes, sizeof(struct fk_shape),
                                          fk_buf_view(&h->scratch), ret, &key))
        return fk_fail_nomem(err);
    if (!key.p)
        return 0;
    int r = fk_shape_read(&h->arena, key, (struct fk_shape *)s->shapes.value + *ret, err);
    s->shapes.n += r == 0;
    return r;
}

static int intern_placements(struct fk_head *h, struct head_set *s, const struct fk_profile *p,
                             uint32_t *ret, struct fk_err *err)
{
    struct fk_str key;
    fk_buf_clear(&h->scratch);
    for (uint32_t i = 0; i < p->n_placements; i++) {
        struct fk_placement l = p->placement[i];
        if (fk_remap_mapping(h->remap, l.mapping, &l.mapping))
            return fk_fail_nomem(err);
        fk_buf_put(&h->scratch, &l, sizeof(l));
    }
    if (h->scratch.failed ||
        table_intern(h, &s->placement_index, &s->placements, sizeof(struct fk_placements),
                     fk_buf_view(&h->scratch), ret, &key))
        return fk_fail_nomem(err);
    if (key.p) { // keys lie aligned in the arena and have the array's layout
        ((struct fk_placements *)s->placements.value)[*ret] = (struct fk_placements){
            (const struct fk_placement *)(const void *)key.p, p->n_placements};
        s->placements.n++;
    }
    return 0;
}

// ---- rows ----

static int remap_rows(struct fk_head *h, const struct fk_profile *p, struct fk_err *err)
{
    struct fk_samples *x = &h->samples;
    int r = fk_samples_reserve(x, p->n_rows, p->n_obs, p->n_types, err);
    if (r)
        return r;
    x->n_rows = p->n_rows;
    x->n_obs = p->n_obs;
    x->n_types = p->n_types;
    x->has_sets = false;
    x->has_obs = p->obs_begin != NULL;
    x->has_times = p->time_ns != NULL;
    if (fk_remap_stacks(h->remap, p->stack, p->n_rows, x->stack))
        return fk_fail_nomem(err);
    for (uint64_t i = 0; p->set && i < p->n_rows; i++) {
        if (fk_remap_set(h->remap, p->set[i], &x->set[i]))
            return fk_fail_nomem(err);
        x->has_sets |= x->set[i] != 0;
    }
    for (uint32_t t = 0; t < p->n_types; t++)
        memcpy(x->value[t], p->value[t], (size_t)p->n_obs * sizeof(int64_t));
    if (p->obs_begin)
        memcpy(x->obs_begin, p->obs_begin, ((size_t)p->n_rows + 1) * sizeof(uint64_t));
    if (p->time_ns)
        memcpy(x->time_ns, p->time_ns, (size_t)p->n_obs * sizeof(int64_t));
    return 0;
}

// The columns of so many observations stay for the next profile; more are given back at once, about
// a hundred bytes each.
#define KEPT_OBS 65536

static int row_bytes(struct fk_head *h, const struct fk_entry *e, const struct fk_profile *p,
                     struct fk_row *row, struct fk_err *err)
{
    int r = remap_rows(h, p, err);
    fk_buf_clear(&h->scratch);
    if (r == 0)
        r = fk_samples_pack(&h->samples, row->time_ns, &h->scratch, err);
    if (p->n_obs > KEPT_OBS)
        fk_samples_free(&h->samples);
    if (r)
        return r;
    row->data = fk_arena_str(&h->arena, fk_buf_view(&h->scratch));
    fk_buf_clear(&h->scratch);
    fk_labels_put(&h->scratch, &e->annotations);
    if ((r = fk_buf_check(&h->scratch, "annotations", err)))
        return r;
    row->notes = fk_arena_str(&h->arena, fk_buf_view(&h->scratch));
    int64_t *total = fk_arena_array(&h->arena, FK_MAX(p->n_types, 1u), sizeof(*total));
    if (!row->data.p || !row->notes.p || !total)
        return fk_fail_nomem(err);
    for (uint32_t t = 0; t < p->n_types; t++)
        total[t] = fk_profile_total(p, t);
    row->total = total;
    return 0;
}

static struct fk_row *row_place(struct fk_head *h, struct head_set *s)
{
    uint32_t page = (uint32_t)(s->n_rows / FK_PAGE_ROWS);
    if (s->n_rows % FK_PAGE_ROWS)
        return &s->page[page][s->n_rows % FK_PAGE_ROWS];
    if (page == s->page_cap) {
        uint32_t cap = s->page_cap ? s->page_cap * 2 : 4;
        if (grow(h, (void **)&s->page, page, cap, sizeof(*s->page)))
            return NULL;
        s->page_cap = cap;
    }
    s->page[page] = fk_arena_array(&h->arena, FK_PAGE_ROWS, sizeof(struct fk_row));
    return s->page[page];
}

static void publish(struct fk_head *h, struct head_set *s, struct fk_id id)
{
    fk_mutex_lock(&h->lock);
    s->view.tables = (struct fk_dataset){.service = s->service,
                                         .n_series = s->series.n,
                                         .n_shapes = s->shapes.n,
                                         .n_placements = s->placements.n,
                                         .series = s->series.value,
                                         .shape = s->shapes.value,
                                         .placement = s->placements.value,
                                         .n_rows = s->n_rows,
                                         .min_time_ns = s->min_time_ns,
                                         .max_time_ns = s->max_time_ns,
                                         .samples = s->samples};
    fk_dict_view(s->dict, &s->view.sym);
    s->view.page = s->page;
    h->max_id = id;
    fk_mutex_unlock(&h->lock);
}

int fk_head_add(struct fk_head *h, struct fk_str tenant, const struct fk_entry *e,
                const struct fk_profile *p, struct fk_err *err)
{
    struct fk_str service = fk_labels_get(&e->labels, FK_S("service_name"));
    struct head_set *s = set_of(h, tenant, service.p ? service : FK_S("unknown_service"));
    struct fk_row row = {.id = e->id,
                         .time_ns = e->time_ns,
                         .duration_ns = e->duration_ns,
                         .received_ns = e->received_ns,
                         .file_time_ns = p->time_ns_start,
                         .flags = e->flags,
                         .n_rows = p->n_rows,
                         .n_obs = p->n_obs,
                         .samples = e->samples};
    int r;
    if (!s || fk_remap_start(h->remap, s->dict, &p->sym))
        return fk_fail_nomem(err);
    if ((r = intern_series(h, s, &e->labels, &row.series, err)) ||
        (r = intern_shape(h, s, p, &row.shape, err)) ||
        (r = intern_placements(h, s, p, &row.placement, err)) ||
        (r = row_bytes(h, e, p, &row, err)))
        return r;
    struct fk_row *place = row_place(h, s);
    if (!place)
        return fk_fail_nomem(err);
    *place = row;
    s->n_rows++;
    s->samples += row.samples;
    s->min_time_ns = FK_MIN(s->min_time_ns, row.time_ns);
    s->max_time_ns = FK_MAX(s->max_time_ns, row.time_ns);
    h->profiles++;
    h->n_samples += row.samples;
    publish(h, s, row.id);
    return 0;
}
