// SPDX-License-Identifier: Apache-2.0
// Snapshots: the heads' published views and the live blocks of chosen tenants at one moment. A
// profile is seen once: a head that is being sealed disappears in the same instant in which its
// block appears.
#include "store/store_int.h"

struct fk_snapshot {
    struct fk_head *head[2];
    size_t n_heads;
    FK_VEC(struct head_view) views;
    FK_VEC(struct live_block *) blocks;
    struct fk_id max_id;
};

static void raise(struct fk_snapshot *x, struct fk_id id)
{
    if (fk_id_cmp(id, x->max_id) > 0)
        x->max_id = id;
}

struct tenants {
    const struct fk_str *v;
    size_t n;
};

static bool has(const struct tenants *t, struct fk_str tenant)
{
    for (size_t i = 0; i < t->n; i++)
        if (fk_str_eq(t->v[i], tenant))
            return true;
    return false;
}

// Under the state lock: take references only.
static int take_references(struct fk_store *s, const struct tenants *t, struct fk_snapshot *x)
{
    struct fk_head *heads[] = {s->sealing, s->head};
    for (size_t i = 0; i < FK_COUNTOF(heads); i++)
        if (heads[i]) {
            fk_ref_take(&heads[i]->ref);
            x->head[x->n_heads++] = heads[i];
        }
    if (fk_vec_reserve(&x->blocks, s->blocks.n))
        return -FK_E_NOMEM;
    for (size_t i = 0; i < s->blocks.n; i++)
        if (has(t, s->blocks.v[i]->tenant)) {
            fk_ref_take(&s->blocks.v[i]->ref);
            x->blocks.v[x->blocks.n++] = s->blocks.v[i];
            raise(x, s->blocks.v[i]->max_id);
        }
    return 0;
}

static int take_views(struct fk_head *h, const struct tenants *t, struct fk_snapshot *x)
{
    fk_mutex_lock(&h->lock);
    int r = fk_vec_reserve(&x->views, h->sets.n);
    for (size_t i = 0; r == 0 && i < h->sets.n; i++)
        if (h->sets.v[i]->view.tables.n_rows && has(t, h->sets.v[i]->tenant))
            x->views.v[x->views.n++] = h->sets.v[i]->view;
    raise(x, h->max_id);
    fk_mutex_unlock(&h->lock);
    return r;
}

int fk_store_snapshot(struct fk_store *s, const struct fk_str *tenants, size_t n,
                      struct fk_snapshot **ret, struct fk_err *err)
{
    const struct tenants t = {tenants, n};
    struct fk_snapshot *x = fk_calloc(1, sizeof(*x));
    if (!x)
        return fk_fail_nomem(err);
    fk_mutex_lock(&s->state_lock);
    int r = take_references(s, &t, x);
    fk_mutex_unlock(&s->state_lock);
    for (size_t i = 0; r == 0 && i < x->n_heads; i++)
        r = take_views(x->head[i], &t, x);
    if (r) {
        fk_snapshot_free(x);
        return fk_fail_nomem(err);
    }
    *ret = x;
    return 0;
}

void fk_snapshot_free(struct fk_snapshot *s)
{
    if (!s)
        return;
    for (size_t i = 0; i < s->n_heads; i++)
        fk_head_unref(s->head[i]);
    for (size_t i = 0; i < s->blocks.n; i++)
        fk_live_unref(s->blocks.v[i]);
    fk_vec_free(&s->blocks);
    fk_vec_free(&s->views);
    fk_free(s);
}

struct fk_id fk_snapshot_max_id(const struct fk_snapshot *s)
{
    return s->max_id;
}

uint32_t fk_snapshot_blocks(const struct fk_snapshot *s)
{
    return (uint32_t)s->blocks.n;
}

// ---- parts ----

static int block_parts(struct live_block *live, int64_t from_ns, int64_t until_ns,
                       int (*on)(void *arg, const struct fk_part *part, struct fk_err *err),
                       void *arg, struct fk_err *err)
{
    struct fk_block *b;
    if (live->max_time_ns < from_ns || live->min_time_ns >= until_ns)
        return 0;
    int r = fk_live_open(live, &b, err);
    for (uint32_t i = 0; r == 0 && i < fk_block_get_info(b)->n_datasets; i++) {
        struct fk_part part = {.block = live, .dataset = i};
        r = on(arg, &part, err);
    }
    return r;
}

int fk_snapshot_parts(struct fk_snapshot *s, int64_t from_ns, int64_t until_ns,
                      int (*on)(void *arg, const struct fk_part *part, struct fk_err *err),
                      void *arg, struct fk_err *err)
{
    int r = 0;
    for (size_t i = 0; r == 0 && i < s->blocks.n; i++)
        r = block_parts(s->blocks.v[i], from_ns, until_ns, on, arg, err);
    for (size_t i = 0; r == 0 && i < s->views.n; i++) {
        const struct fk_dataset *t = &s->views.v[i].tables;
        struct fk_part part = {.head = &s->views.v[i]};
        if (t->max_time_ns >= from_ns && t->min_time_ns < until_ns)
            r = on(arg, &part, err);
    }
    return r;
}

// Parts are given out only after their block was opened.
static struct fk_block *opened(const struct fk_part *p)
{
    return atomic_load_explicit(&p->block->open, memory_order_acquire);
}

struct fk_str fk_part_service(const struct fk_part *p)
{
    return p->head ? p->head->tables.service : fk_block_service(opened(p), p->dataset);
}

int fk_part_tables(const struct fk_part *p, const struct fk_dataset **ret, struct fk_err *err)
{
    if (!p->head)
        return fk_block_dataset(opened(p), p->dataset, ret, err);
    *ret = &p->head->tables;
    return 0;
}

uint32_t fk_part_pages(const struct fk_part *p)
{
    if (!p->head)
        return fk_block_pages(opened(p), p->dataset);
    return (uint32_t)((p->head->tables.n_rows + FK_PAGE_ROWS - 1) / FK_PAGE_ROWS);
}

int fk_part_bounds(const struct fk_part *p, uint32_t page, struct fk_page_bounds *ret,
                   struct fk_err *err)
{
    if (!p->head)
        return fk_block_page_bounds(opened(p), p->dataset, page, ret, err);
    uint64_t last = FK_MIN(((uint64_t)page + 1) * FK_PAGE_ROWS, p->head->tables.n_rows) - 1;
    *ret = (struct fk_page_bounds){.min_time_ns = p->head->tables.min_time_ns,
                                   .max_time_ns = p->head->tables.max_time_ns,
                                   .min_id = p->head->page[page][0].id,
                                   .max_id = p->head->page[page][last % FK_PAGE_ROWS].id};
    return 0;
}

int fk_part_page(const struct fk_part *p, uint32_t page, struct fk_page *scratch,
                 const struct fk_row **ret, uint32_t *ret_n, struct fk_err *err)
{
    if (p->head) {
        uint64_t left = p->head->tables.n_rows - (uint64_t)page * FK_PAGE_ROWS;
        *ret = p->head->page[page];
        *ret_n = (uint32_t)FK_MIN(left, (uint64_t)FK_PAGE_ROWS);
        return 0;
    }
    int r = fk_block_page(opened(p), p->dataset, page, scratch, err);
    if (r == 0) {
        *ret = scratch->row;
        *ret_n = scratch->n;
    }
    return r;
}

int fk_part_symbols(const struct fk_part *p, struct fk_arena *a, struct fk_symbols *ret,
                    struct fk_err *err)
{
    if (!p->head)
        return fk_block_symbols(opened(p), p->dataset, a, ret, err);
    *ret = p->head->sym;
    return 0;
}
