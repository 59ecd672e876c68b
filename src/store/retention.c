// SPDX-License-Identifier: Apache-2.0
// Room on the disk: the low-water mark below which nothing is accepted, and retention of whole
// blocks by age and by bytes. Files go before rows: on a full disk only the first is sure to work,
// and a row without a file is dropped at start.
#include "store/store_int.h"

#define SPACE_EVERY_NS FK_NS_PER_S
#define ADHOC_NS       (3600 * FK_NS_PER_S)

static uint64_t low_water(const struct fk_store *s, const struct fk_space *space)
{
    if (s->opts.min_free)
        return s->opts.min_free;
    return FK_MAX((uint64_t)256 << 20, space->total / 50);
}

int fk_store_check_space(struct fk_store *s, uint64_t more, struct fk_err *err)
{
    int64_t now = fk_clock_mono(s->clock);
    if (!more && s->space_checked_ns && now - s->space_checked_ns < SPACE_EVERY_NS &&
        !atomic_load(&s->full))
        return 0;
    struct fk_space space;
    int r = fk_fs_space(s->fs, s->dir, &space, err);
    if (r)
        return r;
    s->space_checked_ns = now;
    uint64_t need = low_water(s, &space);
    bool full = space.free < need || space.free - need < more;
    atomic_store(&s->full, full);
    fk_mutex_lock(&s->stats_lock);
    s->stats.space = space;
    fk_mutex_unlock(&s->stats_lock);
    if (full)
        return fk_fail(err, FK_E_FULL,
                       "the disk of %s has %llu MiB free, %llu MiB must stay free (--min-free) and "
                       "%llu MiB are needed: profiles are refused until there "
                       "is room; free some, or shorten --retention-age or --retention-bytes",
                       s->dir, (unsigned long long)(space.free >> 20),
                       (unsigned long long)(need >> 20), (unsigned long long)(more >> 20));
    return 0;
}

// ---- retention ----

static uint64_t own_bytes(struct fk_store *s)
{
    uint64_t n = 0;
    fk_mutex_lock(&s->state_lock);
    for (size_t i = 0; i < s->blocks.n; i++)
        n += s->blocks.v[i]->bytes;
    struct fk_head *heads[] = {s->head, s->sealing};
    for (size_t i = 0; i < FK_COUNTOF(heads); i++)
        if (heads[i]) {
            fk_mutex_lock(&heads[i]->lock);
            n += heads[i]->published_pack_bytes;
            fk_mutex_unlock(&heads[i]->lock);
        }
    fk_mutex_unlock(&s->state_lock);
    return n;
}

static int byte_budget(struct fk_store *s, uint64_t own, uint64_t *ret, struct fk_err *err)
{
    struct fk_space space;
    if (s->opts.retention_bytes) {
        *ret = s->opts.retention_bytes;
        return 0;
    }
    int r = fk_fs_space(s->fs, s->dir, &space, err);
    if (r == 0)
        *ret = (own + space.free) / 5 * 4;
    return r;
}

static bool is_adhoc(const struct live_block *b)
{
    return fk_str_starts(b->tenant, FK_S(FK_TENANT_ADHOC));
}

static struct live_block *oldest(struct fk_store *s, bool adhoc)
{
    struct live_block *found = NULL;
    fk_mutex_lock(&s->state_lock);
    for (size_t i = 0; i < s->blocks.n; i++)
        if ((!adhoc || is_adhoc(s->blocks.v[i])) &&
            (!found || s->blocks.v[i]->max_received_ns < found->max_received_ns))
            found = s->blocks.v[i];
    if (found)
        fk_ref_take(&found->ref);
    fk_mutex_unlock(&s->state_lock);
    return found;
}

// Takes the block out of the list: no new snapshot sees it, old ones keep reading. Its reference
// goes over to the list of those that expire, where room was made for it.
static void take_out(struct fk_store *s, const struct live_block *b)
{
    fk_mutex_lock(&s->state_lock);
    for (size_t i = 0; i < s->blocks.n; i++)
        if (s->blocks.v[i] == b) {
            s->expiring.v[s->expiring.n++] = s->blocks.v[i];
            s->blocks.v[i] = s->blocks.v[--s->blocks.n];
            break;
        }
    fk_mutex_unlock(&s->state_lock);
}

// While a pack is there a part of which is in a block already, that block's row must stay: without
// it the next start would take the part for new. Ends with the next seal.
static bool part_sealed(struct fk_store *s)
{
    fk_mutex_lock(&s->state_lock);
    bool ret = s->head->part_sealed || (s->sealing && s->sealing->part_sealed);
    fk_mutex_unlock(&s->state_lock);
    return ret;
}

// Removes what was taken out: now, and in the next round what could not be removed now.
static int remove_expiring(struct fk_store *s, struct fk_err *err)
{
    int r = 0;
    while (r == 0 && s->expiring.n) {
        char key[FK_PATH_MAX];
        struct live_block *b = s->expiring.v[s->expiring.n - 1];
        fk_block_key(key, b->tenant, b->id);
        if ((r = fk_blob_remove(s->blob, key, err)) ||
            (r = fk_catalog_delete(s->catalog, &b->id, 1, err)) ||
            (r = fk_catalog_trim_days(s->catalog, b->tenant, err)))
            break;
        s->expiring.n--;
        fk_live_unref(b);
        fk_mutex_lock(&s->stats_lock);
        s->stats.expired_blocks++;
        fk_mutex_unlock(&s->stats_lock);
    }
    return r;
}

static int expire(struct fk_store *s, struct live_block *b, const char *why, struct fk_err *err)
{
    char key[FK_PATH_MAX];
    if (fk_vec_reserve(&s->expiring, 1))
        return fk_fail_nomem(err);
    fk_block_key(key, b->tenant, b->id);
    take_out(s, b);
    fk_logf(s->opts.log, FK_LOG_INFO, "store",
            "block expires key=%s reason=%s profiles=%llu bytes=%llu", key, why,
            (unsigned long long)b->profiles, (unsigned long long)b->bytes);
    return remove_expiring(s, err);
}

struct keeping {
    bool adhoc; // only what was not to be stored
    int64_t age_ns;
    uint64_t own, budget; // bytes
};

static int retain(struct fk_store *s, struct keeping *k, struct fk_err *err)
{
    int64_t now = fk_clock_wall(s->clock);
    int r = 0;
    while (r == 0) {
        struct live_block *b = oldest(s, k->adhoc);
        if (!b)
            break;
        bool old = k->age_ns > 0 && b->max_received_ns < now - k->age_ns;
        bool due = (old || k->own > k->budget) && !part_sealed(s);
        if (due && (r = fk_store_settle_packs(s, err)) == 0) {
            k->own -= FK_MIN(b->bytes, k->own);
            r = expire(s, b, old ? "age" : "bytes", err);
        }
        fk_live_unref(b);
        if (!due)
            break;
    }
    return r;
}

int fk_store_retain(struct fk_store *s, struct fk_err *err)
{
    struct keeping adhoc = {true, ADHOC_NS, 0, 0},
                   all = {false, s->opts.retention_age_ns, own_bytes(s), 0};
    int r = remove_expiring(s, err);
    if (r == 0)
        r = byte_budget(s, all.own, &all.budget, err);
    if (r == 0)
        r = retain(s, &adhoc, err);
    if (r == 0)
        r = retain(s, &all, err);
    return r ? r : fk_originals_retain(s, err);
}
