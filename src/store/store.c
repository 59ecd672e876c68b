// SPDX-License-Identifier: Apache-2.0
// Opening and closing, the keeper's thread, statistics.
#include "store/store_int.h"

#include <stdio.h>
#include <stdlib.h>

#define RETAIN_EVERY_NS (60 * FK_NS_PER_S)
#define MANY_PACKS      16 // left by commands that opened the folder for a push or two

static void defaults(struct fk_store_opts *o)
{
    o->seal_bytes = o->seal_bytes ? o->seal_bytes : (uint64_t)64 << 20;
    o->seal_age_ns = o->seal_age_ns ? o->seal_age_ns : 600 * FK_NS_PER_S;
    o->head_memory = o->head_memory ? o->head_memory : (uint64_t)96 << 20;
    o->retention_age_ns = o->retention_age_ns ? o->retention_age_ns : 31 * 86400 * FK_NS_PER_S;
}

// ---- folder ----

static int check_version(struct fk_store *s, struct fk_err *err)
{
    char path[FK_PATH_MAX], text[16];
    FK_AUTO_BUF b;
    fk_buf_init(&b, 0);
    snprintf(text, sizeof(text), "%d\n", FK_BLOCK_VERSION);
    int r = fk_path_printf(path, err, "%s/VERSION", s->dir);
    if (r)
        return r;
    int there = fk_fs_exists(s->fs, path, err);
    if (there < 0)
        return there;
    if (!there)
        return fk_fs_write_file(s->fs, path, fk_str_of(text), err);
    if ((r = fk_fs_read_file(s->fs, path, 64, &b, err)))
        return r;
    if (fk_str_eq(fk_str_trim(fk_buf_view(&b)), fk_str_trim(fk_str_of(text))))
        return 0;
    return fk_fail(err, FK_E_UNSUPPORTED,
                   "%s was written in format version '%.*s', this program reads version %d only: "
                   "use the flamekeep that wrote "
                   "it, or another --data folder",
                   s->dir, FK_STR_ARG(fk_str_trim(fk_buf_view(&b))), FK_BLOCK_VERSION);
}

static int make_folder(struct fk_store *s, struct fk_err *err)
{
    char path[FK_PATH_MAX];
    int r = fk_path_printf(path, err, "%s/packs", s->dir);
    if (r == 0)
        r = fk_fs_mkdirs(s->fs, path, err);
    if (r == 0)
        r = fk_path_printf(path, err, "%s/LOCK", s->dir);
    if (r)
        return r;
    r = fk_fs_lock(s->fs, path, &s->lock_file, err);
    if (r == -FK_E_BUSY)
        return fk_fail(err, FK_E_BUSY,
                       "%s is in use by another flamekeep; stop it, ask it with --server URL, or "
                       "choose another "
                       "--data folder",
                       s->dir);
    return r ? r : check_version(s, err);
}

static int no_sync_dir(void *arg, const char *path, struct fk_err *err)
{
    (void)arg;
    (void)path;
    (void)err;
    return 0;
}

// A planted fault: the blob store on a file system whose folder sync does nothing.
static const struct fk_fs *planted_fs(struct fk_store *s)
{
    s->planted_ops = *s->fs->ops;
    s->planted_ops.sync_dir = no_sync_dir;
    s->planted_fs = (struct fk_fs){&s->planted_ops, s->fs->arg};
    return &s->planted_fs;
}

// Whether the catalog is made anew: when asked for, when there is none (blocks without a catalog
// are adopted, never swept), and when an earlier start did not finish it, which the file REBUILD
// says: to the next start the blocks that were not reached yet would look like leftovers.
static int begin_rebuild(struct fk_store *s, const char *catalog, struct fk_err *err)
{
    char path[FK_PATH_MAX];
    int r = fk_path_printf(path, err, "%s/REBUILD", s->dir);
    if (r)
        return r;
    int had_catalog = fk_fs_exists(s->fs, catalog, err);
    int unfinished = had_catalog < 0 ? 0 : fk_fs_exists(s->fs, path, err);
    if (had_catalog < 0 || unfinished < 0)
        return had_catalog < 0 ? had_catalog : unfinished;
    s->opts.rebuild |= unfinished || !had_catalog;
    if (!s->opts.rebuild)
        return 0;
    r = fk_fs_write_file(s->fs, path, FK_S("the catalog is being made from the blocks\n"), err);
    return r || !had_catalog ? r : fk_catalog_remove(s->fs, catalog, err);
}

static int end_rebuild(struct fk_store *s, struct fk_err *err)
{
    char path[FK_PATH_MAX];
    if (!s->opts.rebuild)
        return 0;
    s->opts.rebuild = false;
    int r = fk_path_printf(path, err, "%s/REBUILD", s->dir);
    if (r == 0)
        r = fk_fs_unlink(s->fs, path, err);
    return r ? r : fk_fs_sync_dir(s->fs, s->dir, err);
}

static int open_parts(struct fk_store *s, struct fk_err *err)
{
    char path[FK_PATH_MAX];
    int r = fk_path_printf(path, err, "%s/catalog.db", s->dir);
    if (r == 0)
        r = begin_rebuild(s, path, err);
    if (r)
        return r;
    if ((r = fk_catalog_open(s->fs, path, &s->catalog, err)) ||
        (r = fk_path_printf(path, err, "%s/blob", s->dir)))
        return r;
    return fk_blob_open_dir(s->opts.plant & FK_PLANT_NO_FOLDER_SYNC ? planted_fs(s) : s->fs, path,
                            &s->blob, err);
}

// ---- keeper ----

static void keep(struct fk_store *s, int64_t *last_retain_ns)
{
    struct fk_err err;
    fk_mutex_lock(&s->seal_lock);
    if (fk_store_write_blocks(s, &err))
        fk_logf(s->opts.log, FK_LOG_ERROR, "store", "sealing failed, will be tried again: %s",
                err.msg);
    if (fk_clock_mono(s->clock) - *last_retain_ns >= RETAIN_EVERY_NS) {
        *last_retain_ns = fk_clock_mono(s->clock);
        if (fk_store_retain(s, &err))
            fk_logf(s->opts.log, FK_LOG_ERROR, "store", "retention failed, will be tried again: %s",
                    err.msg);
    }
    fk_mutex_unlock(&s->seal_lock);
}

// Sleeps in steps, so that an old head is sealed also when nothing arrives: the committer is asked
// to look.
static void keeper(void *arg)
{
    struct fk_store *s = arg;
    int64_t last_retain_ns = fk_clock_mono(s->clock);
    for (;;) {
        fk_mutex_lock(&s->queue_lock);
        if (!s->stopping)
            fk_cond_wait_until(&s->keeper_wake, &s->queue_lock,
                               fk_clock_mono(fk_clock_real()) + FK_NS_PER_S);
        bool stopping = s->stopping;
        fk_cond_signal(&s->queue_filled);
        s->look = true;
        fk_mutex_unlock(&s->queue_lock);
        if (stopping)
            return;
        keep(s, &last_retain_ns);
    }
}

static int start_threads(struct fk_store *s, struct fk_err *err)
{
    int r = fk_thread_start(&s->committer, "committer", fk_store_committer, s, err);
    if (r)
        return r;
    s->threads = true;
    r = fk_thread_start(&s->keeper, "keeper", keeper, s, err);
    s->has_keeper = r == 0;
    return r;
}

// ---- open, close ----

static void init_locks(struct fk_store *s)
{
    fk_mutex_init(&s->queue_lock, FK_RANK_STORE_QUEUE);
    fk_mutex_init(&s->state_lock, FK_RANK_STORE_STATE);
    fk_mutex_init(&s->seal_lock, FK_RANK_STORE_SEAL);
    fk_mutex_init(&s->stats_lock, FK_RANK_LEAF);
    fk_mutex_init(&s->quota.lock, FK_RANK_STORE_QUOTA);
    fk_mutex_init(&s->originals.lock, FK_RANK_LEAF);
    fk_cond_init(&s->queue_filled);
    fk_cond_init(&s->keeper_wake);
}

int fk_store_open(const struct fk_store_opts *opts, struct fk_store **ret, struct fk_err *err)
{
    struct fk_store *s = fk_calloc(1, sizeof(*s));
    if (!s)
        return fk_fail_nomem(err);
    s->opts = *opts;
    s->fs = opts->fs ? opts->fs : fk_fs_real();
    s->clock = opts->clock ? opts->clock : fk_clock_real();
    s->packs_unsynced = true; // who had it open before may have removed some
    defaults(&s->opts);
    init_locks(s);
    s->head = fk_head_new();
    int r = s->head ? fk_path_printf(s->dir, err, "%s", opts->dir) : fk_fail_nomem(err);
    if (r || (r = make_folder(s, err)) || (r = open_parts(s, err)) ||
        (r = fk_store_recover(s, err)) || (r = end_rebuild(s, err)) ||
        (r = fk_originals_load(s, err)) || (!opts->run_inline && (r = start_threads(s, err)))) {
        fk_store_close(s);
        return r;
    }
    if (opts->run_inline && s->head->packs.n >= MANY_PACKS && (r = fk_store_seal(s, err))) {
        fk_store_close(s);
        return r;
    }
    *ret = s;
    return 0;
}

static void stop_threads(struct fk_store *s)
{
    fk_mutex_lock(&s->queue_lock);
    s->stopping = true;
    fk_cond_broadcast(&s->queue_filled);
    fk_cond_broadcast(&s->keeper_wake);
    fk_mutex_unlock(&s->queue_lock);
    if (s->threads)
        fk_thread_join(&s->committer);
    if (s->has_keeper)
        fk_thread_join(&s->keeper);
}

void fk_store_close(struct fk_store *s)
{
    if (!s)
        return;
    stop_threads(s);
    fk_pack_close(s->pack);
    for (size_t i = 0; i < s->blocks.n; i++)
        fk_live_unref(s->blocks.v[i]);
    fk_vec_free(&s->blocks);
    fk_vec_free(&s->old_packs);
    for (size_t i = 0; i < s->expiring.n; i++)
        fk_live_unref(s->expiring.v[i]);
    fk_vec_free(&s->expiring);
    fk_head_unref(s->head);
    fk_head_unref(s->sealing);
    fk_catalog_close(s->catalog);
    fk_blob_close(s->blob);
    fk_file_close(s->lock_file);
    struct fk_mutex *locks[] = {&s->queue_lock, &s->state_lock, &s->seal_lock,
                                &s->stats_lock, &s->quota.lock, &s->originals.lock};
    fk_quota_free(&s->quota);
    fk_originals_free(&s->originals);
    for (size_t i = 0; i < FK_COUNTOF(locks); i++)
        fk_mutex_destroy(locks[i]);
    fk_cond_destroy(&s->queue_filled);
    fk_cond_destroy(&s->keeper_wake);
    fk_free(s);
}

// ---- asked for ----

// Asks the committer to rotate and waits until it did; the blocks are then written here.
static int seal_with_threads(struct fk_store *s, struct fk_err *err)
{
    fk_mutex_lock(&s->seal_lock);
    int r = fk_store_write_blocks(s, err); // what is on its way already
    fk_mutex_unlock(&s->seal_lock);
    if (r)
        return r;
    fk_mutex_lock(&s->queue_lock);
    s->seal_wanted = true;
    fk_cond_signal(&s->queue_filled);
    while (s->seal_wanted && !s->stopping)
        fk_cond_wait(&s->keeper_wake, &s->queue_lock);
    fk_mutex_unlock(&s->queue_lock);
    fk_mutex_lock(&s->seal_lock);
    r = fk_store_write_blocks(s, err);
    fk_mutex_unlock(&s->seal_lock);
    return r;
}

int fk_store_seal(struct fk_store *s, struct fk_err *err)
{
    if (s->threads)
        return seal_with_threads(s, err);
    int r = fk_store_write_blocks(s, err); // what an earlier, failed seal left
    if (r == 0 && fk_store_rotate(s, err))
        r = fk_store_write_blocks(s, err);
    return r;
}

int fk_store_maintain(struct fk_store *s, struct fk_err *err)
{
    int r = 0;
    if (fk_store_sealing(s) || fk_store_seal_is_due(s))
        r = fk_store_seal(s, err);
    return r ? r : fk_store_retain(s, err);
}

void fk_store_stats(struct fk_store *s, struct fk_store_stats *ret)
{
    fk_mutex_lock(&s->stats_lock);
    struct fk_store_stats x = s->stats;
    fk_mutex_unlock(&s->stats_lock);
    fk_mutex_lock(&s->state_lock);
    struct fk_head *heads[] = {s->head, s->sealing};
    for (size_t i = 0; i < FK_COUNTOF(heads); i++) {
        if (!heads[i])
            continue;
        fk_mutex_lock(&heads[i]->lock);
        for (size_t k = 0; k < heads[i]->sets.n; k++) {
            x.head_profiles += heads[i]->sets.v[k]->view.tables.n_rows;
            x.head_samples += heads[i]->sets.v[k]->view.tables.samples;
        }
        x.head_memory += heads[i]->memory;
        x.pack_bytes += heads[i]->published_pack_bytes;
        fk_mutex_unlock(&heads[i]->lock);
    }
    for (size_t i = 0; i < s->blocks.n; i++) {
        x.blocks++;
        x.block_bytes += s->blocks.v[i]->bytes;
        x.profiles += s->blocks.v[i]->profiles;
        x.samples += s->blocks.v[i]->samples;
    }
    fk_mutex_unlock(&s->state_lock);
    x.full = atomic_load(&s->full);
    *ret = x;
}
