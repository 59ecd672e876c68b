// SPDX-License-Identifier: Apache-2.0
// Sealing: a head becomes one level-1 block per tenant. Order: block file whole and durable (file,
// then its folder), then its row, which names the packs it replaces; then the swap in memory; then
// the packs go. A crash in between leaves either a block without row (swept at start, the pack is
// still there) or a pack whose row says it is replaced (removed at start).
#include "store/store_int.h"

#include <stdlib.h>

// Rows of the catalog that one block brings.
struct row_facts {
    struct fk_arena arena;
    FK_VEC(struct fk_catalog_dataset) datasets;
    FK_VEC(struct fk_catalog_series) series;
    FK_VEC(struct fk_catalog_attr) attrs;
    struct fk_map seen; // (day, series) of the dataset at hand
    FK_VEC(uint64_t) seen_key;
    int32_t min_day, max_day;
};

static void facts_free(struct row_facts *f)
{
    fk_arena_free(&f->arena);
    fk_vec_free(&f->datasets);
    fk_vec_free(&f->series);
    fk_vec_free(&f->attrs);
    fk_vec_free(&f->seen_key);
    fk_map_free(&f->seen);
}

static bool first_time(struct row_facts *f, uint64_t key, bool *failed)
{
    uint64_t h = fk_hash_u64(key);
    for (uint32_t at = fk_map_first(&f->seen, h); at != FK_NONE; at = fk_map_next(&f->seen, h, at))
        if (f->seen_key.v[fk_map_id(&f->seen, at)] == key)
            return false;
    *failed = fk_vec_reserve(&f->seen_key, 1) || fk_map_add(&f->seen, h, (uint32_t)f->seen_key.n);
    if (!*failed)
        f->seen_key.v[f->seen_key.n++] = key;
    return !*failed;
}

static int add_series(struct row_facts *f, const struct fk_dataset *t, int32_t day, uint32_t series)
{
    const struct fk_labels *l = &t->series[series];
    struct fk_catalog_label *labels =
        fk_arena_array(&f->arena, FK_MAX(l->n, (size_t)1), sizeof(*labels));
    if (!labels)
        return -FK_E_NOMEM;
    for (size_t i = 0; i < l->n; i++)
        labels[i] = (struct fk_catalog_label){l->v[i].name, l->v[i].value};
    struct fk_catalog_series s = {day, fk_labels_hash(l), t->service, labels, l->n};
    return fk_vec_push(&f->series, s) ? -FK_E_NOMEM : 0;
}

static int add_row_days(struct row_facts *f, const struct fk_dataset *t, const struct fk_row *row,
                        uint64_t n)
{
    for (uint64_t i = 0; i < n; i++) {
        int32_t day = fk_catalog_day(row[i].time_ns);
        bool failed = false;
        f->min_day = FK_MIN(f->min_day, day);
        f->max_day = FK_MAX(f->max_day, day);
        if (first_time(f, (uint64_t)(uint32_t)day << 32 | row[i].series, &failed) &&
            add_series(f, t, day, row[i].series))
            return -FK_E_NOMEM;
        if (failed)
            return -FK_E_NOMEM;
    }
    return 0;
}

// Attributes are noted for the first and last day of the dataset: which row has which is not looked
// up.
static int add_attrs(struct row_facts *f, const struct fk_dataset *t, const struct fk_symbols *sym)
{
    const int32_t days[] = {f->min_day, f->max_day};
    for (size_t d = 0; d < (f->min_day == f->max_day ? 1 : 2); d++)
        for (uint32_t i = 0; i < sym->set_begin[sym->n_sets]; i++) {
            const struct fk_attr *a = &sym->attr[i];
            struct fk_catalog_attr x = {days[d], t->service, sym->string[a->key],
                                        sym->string[a->str], a->str == 0};
            if (fk_vec_push(&f->attrs, x))
                return -FK_E_NOMEM;
        }
    return 0;
}

static int add_dataset(struct row_facts *f, const struct fk_block *b, uint32_t i,
                       const struct fk_dataset *t)
{
    struct fk_buf types;
    fk_buf_init(&types, 0);
    for (uint32_t s = 0; s < t->n_shapes; s++)
        for (uint32_t k = 0; k < t->shape[s].n_types; k++) {
            fk_buf_str(&types, t->shape[s].type[k].type);
            fk_buf_byte(&types, '/');
            fk_buf_str(&types, t->shape[s].type[k].unit);
            fk_buf_byte(&types, '\n');
        }
    struct fk_catalog_dataset d = {.service = t->service,
                                   .min_time_ns = t->min_time_ns,
                                   .max_time_ns = t->max_time_ns,
                                   .types = fk_arena_str(&f->arena, fk_buf_view(&types))};
    fk_block_dataset_range(b, i, &d.offset, &d.length);
    bool failed = types.failed || !d.types.p || fk_vec_push(&f->datasets, d);
    fk_buf_free(&types);
    return failed ? -FK_E_NOMEM : 0;
}

static int dataset_facts(struct row_facts *f, struct fk_block *b, uint32_t i, struct fk_err *err)
{
    const struct fk_dataset *t;
    struct fk_symbols sym;
    struct fk_page page = {0};
    int r = fk_block_dataset(b, i, &t, err);
    if (r == 0)
        r = fk_block_symbols(b, i, &f->arena, &sym, err);
    f->seen_key.n = 0;
    fk_map_free(&f->seen);
    f->min_day = INT32_MAX;
    f->max_day = INT32_MIN;
    for (uint32_t p = 0; r == 0 && p < fk_block_pages(b, i); p++) {
        r = fk_block_page(b, i, p, &page, err);
        if (r == 0 && add_row_days(f, t, page.row, page.n))
            r = fk_fail_nomem(err);
    }
    fk_page_free(&page);
    if (r == 0 && (add_dataset(f, b, i, t) || add_attrs(f, t, &sym)))
        r = fk_fail_nomem(err);
    return r;
}

int fk_store_add_row(struct fk_store *s, struct fk_block *b, struct fk_err *err)
{
    const struct fk_block_info *i = fk_block_get_info(b);
    struct row_facts f = {0};
    int r = 0;
    fk_arena_init(&f.arena, 0);
    for (uint32_t d = 0; r == 0 && d < i->n_datasets; d++)
        r = dataset_facts(&f, b, d, err);
    struct fk_catalog_add add = {.block = {.id = i->id,
                                           .tenant = i->tenant,
                                           .level = (int32_t)i->level,
                                           .min_id = i->min_id,
                                           .max_id = i->max_id,
                                           .min_time_ns = i->min_time_ns,
                                           .max_time_ns = i->max_time_ns,
                                           .min_received_ns = i->min_received_ns,
                                           .max_received_ns = i->max_received_ns,
                                           .bytes = i->bytes,
                                           .profiles = i->profiles,
                                           .samples = i->samples,
                                           .replaces = i->replaces,
                                           .replaces_n = i->n_replaces},
                                 .datasets = f.datasets.v,
                                 .datasets_n = f.datasets.n,
                                 .series = f.series.v,
                                 .series_n = f.series.n,
                                 .attrs = f.attrs.v,
                                 .attrs_n = f.attrs.n};
    if (r == 0)
        r = fk_catalog_add(s->catalog, &add, NULL, err);
    facts_free(&f);
    return r;
}

// ---- one block ----

static int write_set(struct fk_block_writer *w, const struct head_set *set, struct fk_err *err)
{
    const struct head_view *v = &set->view;
    struct fk_row *row = fk_reallocarray(NULL, (size_t)v->tables.n_rows, sizeof(*row));
    if (!row)
        return fk_fail_nomem(err);
    for (uint64_t i = 0; i < v->tables.n_rows; i++)
        row[i] = v->page[i / FK_PAGE_ROWS][i % FK_PAGE_ROWS];
    int r = fk_block_writer_dataset(w, &v->tables, &v->sym, row, v->tables.n_rows, err);
    fk_free(row);
    return r;
}

static int by_service(const void *pa, const void *pb)
{
    const struct head_set *a = *(struct head_set *const *)pa, *b = *(struct head_set *const *)pb;
    return fk_str_cmp(a->service, b->service);
}

// The sets of one tenant as a block in the blob store.
static int write_block(struct fk_store *s, const struct fk_head *h, struct head_set **set, size_t n,
                       struct fk_id id, struct fk_err *err)
{
    char key[FK_PATH_MAX];
    struct fk_blob_writer *blob;
    struct fk_block_info info;
    struct fk_str tenant = set[0]->tenant;
    fk_block_key(key, tenant, id);
    int r = fk_blob_begin(s->blob, key, &blob, err);
    if (r)
        return r;
    struct fk_block_writer *w = fk_block_writer_new(fk_blob_out(blob), id, tenant, 1);
    r = w ? 0 : fk_fail_nomem(err);
    for (size_t i = 0; r == 0 && i < h->packs.n; i++)
        if (fk_block_writer_replaces(w, fk_pack_part(h->packs.v[i], tenant)))
            r = fk_fail_nomem(err);
    qsort(set, n, sizeof(struct head_set *), by_service);
    for (size_t i = 0; r == 0 && i < n; i++)
        r = write_set(w, set[i], err);
    if (r == 0)
        r = fk_block_writer_finish(w, &info, err);
    fk_block_writer_free(w);
    if (r)
        fk_blob_abort(blob);
    else
        r = fk_blob_commit(blob, err);
    return r;
}

static int add_block_row(struct fk_store *s, struct fk_str tenant, struct fk_id id,
                         struct fk_err *err)
{
    char key[FK_PATH_MAX];
    struct fk_blob_reader *reader;
    struct fk_block *b;
    fk_block_key(key, tenant, id);
    int r = fk_blob_open(s->blob, key, &reader, err);
    if (r)
        return r;
    r = fk_block_open(reader->source, &b, err);
    if (r == 0) {
        r = fk_store_add_row(s, b, err);
        fk_block_close(b);
    }
    fk_blob_close_reader(reader);
    return r;
}

// ---- the whole head ----

static int remove_pack(struct fk_store *s, struct fk_id id, struct fk_err *err)
{
    char path[FK_PATH_MAX], text[FK_ID_CHARS + 1];
    fk_id_format(id, text);
    int r = fk_path_printf(path, err, "%s/packs/%s.pack", s->dir, text);
    if (r == 0)
        r = fk_fs_unlink(s->fs, path, err);
    return r == -FK_E_NOTFOUND ? 0 : r;
}

static void remove_packs(struct fk_store *s, const struct fk_head *h)
{
    s->packs_unsynced = true;
    for (size_t i = 0; i < h->packs.n; i++) {
        struct fk_err err;
        if (remove_pack(s, h->packs.v[i], &err) == 0)
            continue;
        fk_logf(s->opts.log, FK_LOG_WARN, "store", "sealed pack stays for now: %s", err.msg);
        s->old_packs.v[s->old_packs.n++] = h->packs.v[i];
    }
}

int fk_store_settle_packs(struct fk_store *s, struct fk_err *err)
{
    char folder[FK_PATH_MAX];
    while (s->old_packs.n) {
        int r = remove_pack(s, s->old_packs.v[s->old_packs.n - 1], err);
        if (r)
            return r;
        s->old_packs.n--;
    }
    if (!s->packs_unsynced)
        return 0;
    int r = fk_path_printf(folder, err, "%s/packs", s->dir);
    if (r == 0)
        r = fk_fs_sync_dir(s->fs, folder, err);
    if (r == 0)
        s->packs_unsynced = false;
    return r;
}

// New blocks appear and the head disappears in one step.
static int publish(struct fk_store *s, const struct fk_id *ids, size_t n, struct fk_err *err)
{
    struct live_list fresh = {.store = s};
    struct fk_head *old = s->sealing;
    int r = 0;
    for (size_t i = 0; r == 0 && i < n; i++)
        r = fk_catalog_get(s->catalog, ids[i], (struct fk_catalog_each_block){fk_live_note, &fresh},
                           err);
    fk_mutex_lock(&s->state_lock);
    if (r == 0 && fk_vec_reserve(&s->blocks, fresh.blocks.n))
        r = fk_fail_nomem(err);
    for (size_t i = 0; r == 0 && i < fresh.blocks.n; i++)
        s->blocks.v[s->blocks.n++] = fresh.blocks.v[i];
    if (r == 0)
        s->sealing = NULL;
    fk_mutex_unlock(&s->state_lock);
    if (r == 0)
        fk_head_unref(old);
    for (size_t i = 0; r && i < fresh.blocks.n; i++)
        fk_live_unref(fresh.blocks.v[i]);
    fk_vec_free(&fresh.blocks);
    return r;
}

// The sets, tenant after tenant.
static int by_tenant(const void *pa, const void *pb)
{
    const struct head_set *a = *(struct head_set *const *)pa, *b = *(struct head_set *const *)pb;
    return fk_str_cmp(a->tenant, b->tenant);
}

// The id of the head's i-th block. It stays: were a second try to write another block, both could
// come to live.
static int block_id(struct fk_store *s, struct fk_head *h, size_t i, struct fk_id *ret,
                    struct fk_err *err)
{
    if (i == h->block_ids.n &&
        fk_vec_push(&h->block_ids, fk_id_next(&s->block_ids, fk_clock_wall(s->clock))))
        return fk_fail_nomem(err);
    *ret = h->block_ids.v[i];
    return 0;
}

// Blocks of the n sets, whose files are all there before the first row is written.
static int write_all(struct fk_store *s, struct fk_head *h, struct head_set **set, size_t n,
                     struct fk_id *ids, size_t *ret_n, struct fk_err *err)
{
    size_t blocks = 0;
    int r = 0;
    for (size_t from = 0, end; r == 0 && from < n; from = end) {
        for (end = from + 1; end < n && fk_str_eq(set[end]->tenant, set[from]->tenant); end++)
            ;
        r = block_id(s, h, blocks, &ids[blocks], err);
        if (r == 0)
            r = write_block(s, h, set + from, end - from, ids[blocks++], err);
    }
    if (s->opts.plant & FK_PLANT_UNLINK_BEFORE_ROW)
        remove_packs(s, h);
    for (size_t i = 0, from = 0; r == 0 && i < blocks; i++) {
        struct fk_str tenant = set[from]->tenant;
        r = add_block_row(s, tenant, ids[i], err);
        while (from < n && fk_str_eq(set[from]->tenant, tenant))
            from++;
    }
    *ret_n = blocks;
    return r;
}

int fk_store_write_blocks(struct fk_store *s, struct fk_err *err)
{
    struct fk_head *h = fk_store_sealing(s);
    size_t n = 0, blocks = 0;
    if (!h)
        return 0;
    struct head_set **set = fk_reallocarray(NULL, h->sets.n, sizeof(*set));
    struct fk_id *ids = fk_reallocarray(NULL, h->sets.n, sizeof(*ids));
    int r =
        set && ids && fk_vec_reserve(&s->old_packs, 2 * h->packs.n) == 0 ? 0 : fk_fail_nomem(err);
    fk_ref_take(&h->ref); // its list of packs is needed after the swap
    for (size_t i = 0; r == 0 && i < h->sets.n; i++)
        if (h->sets.v[i]->view.tables.n_rows)
            set[n++] = h->sets.v[i];
    if (r == 0) {
        qsort(set, n, sizeof(struct head_set *), by_tenant);
        r = write_all(s, h, set, n, ids, &blocks, err);
    }
    if (r == 0 && (r = publish(s, ids, blocks, err)) == 0)
        remove_packs(s, h);
    fk_mutex_lock(&s->stats_lock);
    s->stats.sealed += r == 0;
    s->stats.seal_failures += r != 0;
    fk_mutex_unlock(&s->stats_lock);
    fk_head_unref(h);
    fk_free(set);
    fk_free(ids);
    return r;
}
