// SPDX-License-Identifier: Apache-2.0
// Holding blocks, packs and catalog against each other: every block is read whole, every row has
// its file, every profile is there once, every pack is intact.
#include "store/store_int.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

struct checking {
    struct fk_store *s;
    struct fk_store_check *c;
    FK_VEC(struct fk_id) ids;
    struct live_block *block; // at hand
};

static void problem(struct checking *k, const char *fmt, ...) FK_PRINTF(2, 3);
static void problem(struct checking *k, const char *fmt, ...)
{
    char text[512];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof(text), fmt, ap);
    va_end(ap);
    k->c->problems++;
    if (k->c->report)
        k->c->report(k->c->arg, text);
}

static int note_id(struct checking *k, struct fk_id id, struct fk_err *err)
{
    return fk_vec_push(&k->ids, id) ? fk_fail_nomem(err) : 0;
}

static int on_row(void *arg, uint32_t dataset, const struct fk_row *r, struct fk_err *err)
{
    struct checking *k = arg;
    (void)dataset;
    k->c->profiles++;
    k->c->samples += r->samples;
    return note_id(k, r->id, err);
}

static void check_block(struct checking *k)
{
    struct fk_block *b;
    struct fk_err err = {0};
    char key[FK_PATH_MAX];
    fk_block_key(key, k->block->tenant, k->block->id);
    k->c->blocks++;
    k->c->bytes += k->block->bytes;
    if (fk_live_open(k->block, &b, &err) || fk_block_verify(b, on_row, k, &err)) {
        problem(k, "block %s: %s", key, err.msg);
        return;
    }
    const struct fk_block_info *i = fk_block_get_info(b);
    if (fk_id_cmp(i->id, k->block->id) || i->profiles != k->block->profiles ||
        i->samples != k->block->samples || i->bytes != k->block->bytes ||
        i->min_time_ns != k->block->min_time_ns || i->max_time_ns != k->block->max_time_ns)
        problem(k,
                "block %s: its row in the catalog says something else than the file; run "
                "`flamekeep check --rebuild`",
                key);
}

// References to all live blocks, so that none goes while it is read.
static int check_blocks(struct checking *k, struct fk_err *err)
{
    FK_VEC(struct live_block *) blocks = {0};
    fk_mutex_lock(&k->s->state_lock);
    int r = fk_vec_reserve(&blocks, k->s->blocks.n) ? fk_fail_nomem(err) : 0;
    for (size_t i = 0; r == 0 && i < k->s->blocks.n; i++) {
        fk_ref_take(&k->s->blocks.v[i]->ref);
        blocks.v[blocks.n++] = k->s->blocks.v[i];
    }
    fk_mutex_unlock(&k->s->state_lock);
    for (size_t i = 0; i < blocks.n; i++) {
        k->block = blocks.v[i];
        check_block(k);
        fk_live_unref(blocks.v[i]);
    }
    fk_vec_free(&blocks);
    return r;
}

static int check_set(struct checking *k, const struct head_view *v, struct fk_err *err)
{
    struct fk_samples samples = {0};
    int r = 0;
    for (uint64_t i = 0; r == 0 && i < v->tables.n_rows; i++) {
        const struct fk_row *row = &v->page[i / FK_PAGE_ROWS][i % FK_PAGE_ROWS];
        struct fk_err why = {0};
        struct fk_packed in = fk_row_packed(row, &v->tables, &v->sym);
        if (fk_samples_unpack(&samples, &in, &why))
            problem(k, "a profile in memory cannot be read: %s", why.msg);
        k->c->profiles++;
        k->c->samples += row->samples;
        r = note_id(k, row->id, err);
    }
    fk_samples_free(&samples);
    return r;
}

static int check_head(struct checking *k, struct fk_head *h, struct fk_err *err)
{
    FK_VEC(struct head_view) views = {0};
    fk_mutex_lock(&h->lock);
    int r = fk_vec_reserve(&views, h->sets.n) ? fk_fail_nomem(err) : 0;
    for (size_t i = 0; r == 0 && i < h->sets.n; i++)
        views.v[views.n++] = h->sets.v[i]->view;
    fk_mutex_unlock(&h->lock);
    for (size_t i = 0; r == 0 && i < views.n; i++)
        r = check_set(k, &views.v[i], err);
    fk_vec_free(&views);
    return r;
}

static int check_heads(struct checking *k, struct fk_err *err)
{
    struct fk_head *heads[2];
    size_t n = 0;
    int r = 0;
    fk_mutex_lock(&k->s->state_lock);
    heads[n++] = k->s->head;
    if (k->s->sealing)
        heads[n++] = k->s->sealing;
    for (size_t i = 0; i < n; i++)
        fk_ref_take(&heads[i]->ref);
    fk_mutex_unlock(&k->s->state_lock);
    for (size_t i = 0; i < n; i++) {
        if (r == 0)
            r = check_head(k, heads[i], err);
        fk_head_unref(heads[i]);
    }
    return r;
}

static int by_id(const void *pa, const void *pb)
{
    return fk_id_cmp(*(const struct fk_id *)pa, *(const struct fk_id *)pb);
}

static void check_once(struct checking *k)
{
    if (k->ids.n)
        qsort(k->ids.v, k->ids.n, sizeof(struct fk_id), by_id);
    for (size_t i = 1; i < k->ids.n; i++)
        if (fk_id_cmp(k->ids.v[i - 1], k->ids.v[i]) == 0) {
            char text[FK_ID_CHARS + 1];
            fk_id_format(k->ids.v[i], text);
            problem(k, "profile %s is there twice", text);
        }
}

// ---- packs ----

static int on_segment(void *arg, struct fk_str bytes, struct fk_err *err)
{
    struct checking *k = arg;
    FK_AUTO_ARENA a;
    struct fk_segment segment;
    struct fk_err why = {0};
    (void)err;
    fk_arena_init(&a, 0);
    if (fk_segment_read(bytes, &a, &segment, &why))
        problem(k, "a segment cannot be read: %s", why.msg);
    return 0;
}

static int check_pack(void *arg, const char *name, bool is_dir, struct fk_err *err)
{
    struct checking *k = arg;
    char path[FK_PATH_MAX];
    struct fk_pack_scan scan = {.on = on_segment, .arg = k};
    struct fk_err why = {0};
    if (is_dir)
        return 0;
    if (fk_str_ends(fk_str_of(name), FK_S(".bad"))) {
        problem(k, "packs/%s was set aside at a start because its head is damaged", name);
        return 0;
    }
    if (!fk_str_ends(fk_str_of(name), FK_S(".pack")))
        return 0;
    int r = fk_path_printf(path, err, "%s/packs/%s", k->s->dir, name);
    if (r)
        return r;
    k->c->packs++;
    if (fk_pack_read(k->s->fs, path, &scan, &why)) {
        if (why.code != FK_E_NOTFOUND) // sealed and removed meanwhile
            problem(k, "packs/%s: %s", name, why.msg);
    } else if (scan.bad_frames) {
        problem(k, "packs/%s: %llu damaged segments between good ones", name,
                (unsigned long long)scan.bad_frames);
    }
    return 0;
}

static int on_damaged(void *arg, const char *key, uint64_t size, struct fk_err *err)
{
    (void)size;
    (void)err;
    problem(arg,
            "blob/%s was set aside by a rebuild because it is damaged; remove it when it is of no "
            "more use",
            key);
    return 0;
}

int fk_store_check(struct fk_store *s, struct fk_store_check *check, struct fk_err *err)
{
    struct checking k = {.s = s, .c = check};
    char folder[FK_PATH_MAX];
    struct fk_err why = {0};
    if (fk_catalog_check(s->catalog, &why))
        problem(&k, "catalog: %s; run `flamekeep check --rebuild`", why.msg);
    int r = check_blocks(&k, err);
    if (r == 0)
        r = check_heads(&k, err);
    if (r == 0)
        check_once(&k);
    if (r == 0)
        r = fk_path_printf(folder, err, "%s/packs", s->dir);
    if (r == 0)
        r = fk_fs_list(s->fs, folder, (struct fk_each_name){check_pack, &k}, err);
    if (r == 0)
        r = fk_blob_list(s->blob, "damaged/", (struct fk_each_blob){on_damaged, &k}, err);
    fk_vec_free(&k.ids);
    return r;
}
