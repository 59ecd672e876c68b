// SPDX-License-Identifier: Apache-2.0
// Live blocks: known from their rows, opened when first read.
#include "store/store_int.h"

#include <stdio.h>

struct live_block *fk_live_new(struct fk_store *s, const struct fk_catalog_block *row)
{
    struct live_block *b = fk_calloc(1, sizeof(*b));
    if (!b)
        return NULL;
    fk_ref_init(&b->ref);
    fk_mutex_init(&b->opening, FK_RANK_STORE_HEAD);
    fk_arena_init(&b->arena, 0);
    b->store = s;
    b->id = row->id;
    b->tenant = fk_arena_str(&b->arena, row->tenant);
    b->min_time_ns = row->min_time_ns;
    b->max_time_ns = row->max_time_ns;
    b->max_received_ns = row->max_received_ns;
    b->max_id = row->max_id;
    b->bytes = row->bytes;
    b->profiles = row->profiles;
    b->samples = row->samples;
    if (!b->tenant.p) {
        fk_live_unref(b);
        return NULL;
    }
    return b;
}

int fk_live_note(void *list, const struct fk_catalog_block *row, struct fk_err *err)
{
    struct live_list *l = list;
    struct live_block *b = fk_live_new(l->store, row);
    if (!b || fk_vec_push(&l->blocks, b)) {
        fk_live_unref(b);
        return fk_fail_nomem(err);
    }
    return 0;
}

void fk_live_unref(struct live_block *b)
{
    if (!b || !fk_ref_drop(&b->ref))
        return;
    fk_block_close(atomic_load(&b->open));
    fk_blob_close_reader(b->reader);
    fk_arena_free(&b->arena);
    fk_mutex_destroy(&b->opening);
    fk_free(b);
}

void fk_block_key(char ret[FK_PATH_MAX], struct fk_str tenant, struct fk_id id)
{
    char text[FK_ID_CHARS + 1];
    fk_id_format(id, text);
    snprintf(ret, FK_PATH_MAX, "blocks/%.*s/%s", FK_STR_ARG(tenant), text);
}

struct fk_id fk_pack_part(struct fk_id pack, struct fk_str tenant)
{
    return (struct fk_id){pack.hi, pack.lo ^ fk_hash_str(tenant)};
}

static int open_locked(struct live_block *b, struct fk_err *err)
{
    char key[FK_PATH_MAX];
    struct fk_block *open = NULL;
    fk_block_key(key, b->tenant, b->id);
    int r = b->reader ? 0 : fk_blob_open(b->store->blob, key, &b->reader, err);
    if (r == 0)
        r = fk_block_open(b->reader->source, &open, err);
    if (r) {
        if (err)
            fk_fail_in(err, "%s", key);
        return r;
    }
    atomic_store_explicit(&b->open, open, memory_order_release);
    return 0;
}

int fk_live_open(struct live_block *b, struct fk_block **ret, struct fk_err *err)
{
    struct fk_block *open = atomic_load_explicit(&b->open, memory_order_acquire);
    int r = 0;
    if (!open) {
        fk_mutex_lock(&b->opening);
        if (!atomic_load(&b->open))
            r = open_locked(b, err);
        open = atomic_load(&b->open);
        fk_mutex_unlock(&b->opening);
    }
    if (r == 0)
        *ret = open;
    return r;
}
