// SPDX-License-Identifier: Apache-2.0
// Start-up. Rows say which blocks live. A block file without a row is of a seal that did not
// finish: it goes, its packs are still there (or, when the catalog is rebuilt, it is adopted and
// its packs go). Packs that a row names as replaced go; the others are read into the head. The same
// record found twice (a pack died and its last batch went into the next one too) is taken once.
#include "store/store_int.h"

#include <stdlib.h>

// ---- blocks ----

struct sweep {
    struct fk_store *s;
    struct fk_arena arena;
    FK_VEC(char *) keys; // block files that no row knows
};

static int parse_key(const char *key, struct fk_str *ret_tenant, struct fk_id *ret)
{
    struct fk_str rest = fk_str_of(key), dir, tenant, id;
    if (!fk_str_split(&rest, '/', &dir) || !fk_str_split(&rest, '/', &tenant) ||
        !fk_str_split(&rest, '/', &id) || rest.p || !fk_str_eq(dir, FK_S("blocks")) ||
        fk_id_parse(id, ret, NULL))
        return -1;
    *ret_tenant = tenant;
    return 0;
}

static struct live_block *known(struct fk_store *s, struct fk_id id)
{
    for (size_t i = 0; i < s->blocks.n; i++)
        if (fk_id_cmp(s->blocks.v[i]->id, id) == 0)
            return s->blocks.v[i];
    return NULL;
}

static int note_file(void *arg, const char *key, uint64_t size, struct fk_err *err)
{
    struct sweep *w = arg;
    struct fk_str tenant;
    struct fk_id id;
    (void)size;
    if (parse_key(key, &tenant, &id) || known(w->s, id))
        return 0;
    struct fk_str copy = fk_arena_str(&w->arena, fk_str_of(key));
    if (!copy.p || fk_vec_reserve(&w->keys, 1))
        return fk_fail_nomem(err);
    union {
        const char *in;
        char *out;
    } owned = {.in = copy.p}; // the arena's bytes are ours
    w->keys.v[w->keys.n++] = owned.out;
    return 0;
}

static int adopt(struct fk_store *s, const char *key, struct fk_err *err)
{
    struct fk_blob_reader *reader = NULL;
    struct fk_block *b;
    int r = fk_blob_sync(s->blob, key, err); // its packs go
    if (r == 0)
        r = fk_blob_open(s->blob, key, &reader, err);
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

static int ignore_row(void *arg, uint32_t dataset, const struct fk_row *r, struct fk_err *err)
{
    (void)arg;
    (void)dataset;
    (void)r;
    (void)err;
    return 0;
}

// Damaged blocks go to damaged/, where no start sweeps them. 0 also when it is not the block that
// is damaged: *ret_moved tells.
static int set_block_aside(struct fk_store *s, const char *key, bool *ret_moved, struct fk_err *err)
{
    char aside[FK_PATH_MAX];
    struct fk_blob_reader *reader = NULL;
    struct fk_block *b = NULL;
    struct fk_err why = {0};
    int r = fk_path_printf(aside, err, "damaged/%s", key + strlen("blocks/"));
    if (r || (r = fk_blob_open(s->blob, key, &reader, err)))
        return r;
    bool damaged = fk_block_open(reader->source, &b, &why) == -FK_E_CORRUPT ||
                   (b && fk_block_verify(b, ignore_row, NULL, &why) == -FK_E_CORRUPT);
    fk_block_close(b);
    if (damaged)
        r = fk_blob_put_source(s->blob, aside, &reader->source, err);
    fk_blob_close_reader(reader);
    if (r == 0 && damaged)
        r = fk_blob_remove(s->blob, key, err);
    *ret_moved = r == 0 && damaged;
    if (*ret_moved)
        fk_logf(s->opts.log, FK_LOG_ERROR, "store", "damaged block is set aside key=%s: %s", aside,
                why.msg);
    return r;
}

static int handle_orphans(struct fk_store *s, struct sweep *w, struct fk_err *err)
{
    for (size_t i = 0; i < w->keys.n; i++) {
        struct fk_err why = {0};
        int r = s->opts.rebuild ? adopt(s, w->keys.v[i], &why)
                                : fk_blob_remove(s->blob, w->keys.v[i], &why);
        bool moved = false;
        if (r == -FK_E_CORRUPT) { // of the block, or of the catalog
            int failed = set_block_aside(s, w->keys.v[i], &moved, &why);
            r = failed ? failed : moved ? 0 : r;
        }
        if (r) {
            if (err)
                *err = why;
            return r;
        }
    }
    return 0;
}

static int load_rows(struct fk_store *s, struct fk_err *err)
{
    struct live_list all = {.store = s};
    struct fk_catalog_filter f = {FK_CATALOG_ALL_TIMES};
    int r =
        fk_catalog_blocks(s->catalog, &f, (struct fk_catalog_each_block){fk_live_note, &all}, err);
    for (size_t i = 0; i < s->blocks.n; i++)
        fk_live_unref(s->blocks.v[i]);
    fk_vec_free(&s->blocks);
    s->blocks.v = all.blocks.v;
    s->blocks.n = all.blocks.n;
    s->blocks.cap = all.blocks.cap;
    return r;
}

// Rows whose file is gone: retention removed the file and was stopped before the row, or somebody
// took it.
static int drop_rows_without_file(struct fk_store *s, struct fk_err *err)
{
    for (size_t i = 0; i < s->blocks.n;) {
        struct live_block *b = s->blocks.v[i];
        char key[FK_PATH_MAX];
        fk_block_key(key, b->tenant, b->id);
        int there = fk_blob_exists(s->blob, key, err);
        if (there < 0)
            return there;
        if (there) {
            i++;
            continue;
        }
        fk_logf(s->opts.log, FK_LOG_WARN, "store",
                "block file is gone, its row goes too key=%s profiles=%llu", key,
                (unsigned long long)b->profiles);
        int r = fk_catalog_delete(s->catalog, &b->id, 1, err);
        if (r)
            return r;
        fk_live_unref(b);
        s->blocks.v[i] = s->blocks.v[--s->blocks.n];
    }
    return 0;
}

static int recover_blocks(struct fk_store *s, struct fk_err *err)
{
    struct sweep w = {.s = s};
    int r = load_rows(s, err);
    if (r)
        return r;
    fk_arena_init(&w.arena, 0);
    r = fk_blob_list(s->blob, "blocks/", (struct fk_each_blob){note_file, &w}, err);
    if (r == 0)
        r = handle_orphans(s, &w, err);
    if (r == 0 && s->opts.rebuild)
        r = load_rows(s, err);
    if (r == 0)
        r = drop_rows_without_file(s, err);
    fk_vec_free(&w.keys);
    fk_arena_free(&w.arena);
    return r;
}

// ---- packs ----

struct pack_list {
    FK_VEC(struct fk_id) ids;
};

static int note_pack(void *arg, const char *name, bool is_dir, struct fk_err *err)
{
    struct pack_list *l = arg;
    struct fk_str s = fk_str_of(name);
    struct fk_id id;
    if (is_dir || !fk_str_ends(s, FK_S(".pack")) || fk_id_parse(fk_str_head(s, s.n - 5), &id, NULL))
        return 0;
    if (fk_vec_push(&l->ids, id))
        return fk_fail_nomem(err);
    return 0;
}

static int by_id(const void *pa, const void *pb)
{
    return fk_id_cmp(*(const struct fk_id *)pa, *(const struct fk_id *)pb);
}

struct last_id {
    struct fk_str tenant;
    struct fk_id id;
};

// Reading packs into the head.
struct replay {
    struct fk_store *s;
    struct fk_id pack;
    FK_VEC(struct last_id) last; // per tenant
    struct fk_arena names;
    struct fk_id max_id;
    bool kept, replaced; // of this pack: whether any segment is (not) in a block
};

static struct last_id *last_of(struct replay *p, struct fk_str tenant)
{
    for (size_t i = 0; i < p->last.n; i++)
        if (fk_str_eq(p->last.v[i].tenant, tenant))
            return &p->last.v[i];
    struct last_id l = {.tenant = fk_arena_str(&p->names, tenant)};
    if (!l.tenant.p || fk_vec_push(&p->last, l))
        return NULL;
    return &p->last.v[p->last.n - 1];
}

static int replay_record(struct replay *p, struct fk_str tenant, struct fk_str bytes,
                         struct fk_err *err)
{
    FK_AUTO_ARENA a;
    struct fk_entry e;
    struct fk_profile profile;
    fk_arena_init(&a, 0);
    int r = fk_record_read(bytes, &a, &e, &profile, err);
    if (r)
        return r;
    struct last_id *last = last_of(p, tenant);
    if (!last)
        return fk_fail_nomem(err);
    if (fk_id_cmp(e.id, last->id) <= 0) {
        p->s->stats.replay_skipped++;
        return 0;
    }
    last->id = e.id;
    p->max_id = fk_id_cmp(e.id, p->max_id) > 0 ? e.id : p->max_id;
    p->s->stats.replayed++;
    r = fk_head_add(p->s->head, tenant, &e, &profile, err);
    return r ? r : fk_quota_note(p->s, tenant, &e, err);
}

static int replay_segment(void *arg, struct fk_str bytes, struct fk_err *err)
{
    struct replay *p = arg;
    FK_AUTO_ARENA a;
    struct fk_segment segment;
    bool replaced = false;
    fk_arena_init(&a, 0);
    int r = fk_segment_read(bytes, &a, &segment, err);
    if (r == 0)
        r = fk_catalog_replaced(p->s->catalog, fk_pack_part(p->pack, segment.tenant), &replaced,
                                err);
    p->replaced |= replaced;
    p->kept |= !replaced;
    for (size_t i = 0; r == 0 && !replaced && i < segment.n; i++)
        r = replay_record(p, segment.tenant, segment.record[i], err);
    p->s->head->pack_bytes += replaced ? 0 : bytes.n;
    return r;
}

// A pack whose header is not whole and that holds nothing else was never finished; one with other
// content is kept for a person to look at.
static int set_aside(struct fk_store *s, const char *path, uint64_t content, struct fk_err *err)
{
    char aside[FK_PATH_MAX];
    if (content == 0)
        return fk_fs_unlink(s->fs, path, err);
    fk_logf(s->opts.log, FK_LOG_ERROR, "store", "pack without a valid head is left aside as %s.bad",
            path);
    int r = fk_path_printf(aside, err, "%s.bad", path);
    return r ? r : fk_fs_rename(s->fs, path, aside, err);
}

static int replay_pack(struct replay *p, struct fk_err *err)
{
    char path[FK_PATH_MAX], text[FK_ID_CHARS + 1];
    struct fk_store *s = p->s;
    struct fk_pack_scan scan = {.on = replay_segment, .arg = p};
    fk_id_format(p->pack, text);
    p->kept = p->replaced = false;
    int r = fk_path_printf(path, err, "%s/packs/%s.pack", s->dir, text);
    if (r == 0)
        r = fk_pack_read(s->fs, path, &scan, err);
    if (r)
        return r;
    s->stats.torn_bytes += scan.torn_bytes;
    if (scan.torn_bytes || scan.bad_frames)
        fk_logf(s->opts.log, scan.bad_frames ? FK_LOG_ERROR : FK_LOG_WARN, "store",
                "pack=%s unfinished_bytes=%llu damaged_segments=%llu", text,
                (unsigned long long)scan.torn_bytes, (unsigned long long)scan.bad_frames);
    if (scan.bad_header)
        return set_aside(s, path, scan.torn_bytes, err);
    if (!p->kept) // all in blocks, or nothing in it
        return fk_fs_unlink(s->fs, path, err);
    s->head->part_sealed |= p->replaced;
    return fk_vec_push(&s->head->packs, p->pack) ? fk_fail_nomem(err) : 0;
}

static int recover_packs(struct fk_store *s, struct fk_id *max_id, struct fk_err *err)
{
    char folder[FK_PATH_MAX];
    struct pack_list list = {0};
    struct replay p = {.s = s};
    fk_arena_init(&p.names, 0);
    int r = fk_path_printf(folder, err, "%s/packs", s->dir);
    if (r == 0)
        r = fk_fs_list(s->fs, folder, (struct fk_each_name){note_pack, &list}, err);
    if (r == 0 && list.ids.n)
        qsort(list.ids.v, list.ids.n, sizeof(struct fk_id), by_id);
    for (size_t i = 0; r == 0 && i < list.ids.n; i++) {
        p.pack = list.ids.v[i];
        r = replay_pack(&p, err);
        *max_id = fk_id_cmp(p.pack, *max_id) > 0 ? p.pack : *max_id;
    }
    *max_id = fk_id_cmp(p.max_id, *max_id) > 0 ? p.max_id : *max_id;
    fk_vec_free(&list.ids);
    fk_vec_free(&p.last);
    fk_arena_free(&p.names);
    return r;
}

int fk_store_recover(struct fk_store *s, struct fk_err *err)
{
    struct fk_id max_id = {0, 0};
    uint64_t random[2];
    int r = fk_random(random, sizeof(random), err);
    if (r == 0)
        r = recover_blocks(s, err);
    for (size_t i = 0; r == 0 && i < s->blocks.n; i++)
        max_id = fk_id_cmp(s->blocks.v[i]->max_id, max_id) > 0 ? s->blocks.v[i]->max_id : max_id;
    if (r == 0)
        r = recover_packs(s, &max_id, err);
    if (r)
        return r;
    fk_id_source_init(&s->ids, random[0], max_id);
    fk_id_source_init(&s->block_ids, random[1], (struct fk_id){0, 0});
    if (s->head->profiles)
        s->head->first_mono_ns = fk_clock_mono(s->clock);
    return 0;
}
