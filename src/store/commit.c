// SPDX-License-Identifier: Apache-2.0
// Group commit. All appends that wait become one segment per tenant at the end of the pack, made
// durable by one sync; then they join the head, and only then are they acknowledged. A failed write
// or sync kills the pack: the batch is written once more, to a new one, under the same ids (a
// replay that finds it in both takes it once); when that fails too, the batch is refused.
#include "store/store_int.h"

#include <stdlib.h>

static void finish(struct append *a, int code, const struct fk_err *err)
{
    a->done(a->arg, code, a->id, err);
    fk_buf_free(&a->record);
    fk_free(a);
}

static void finish_all(struct append *batch, int code, const struct fk_err *err)
{
    for (struct append *a = batch, *next; a; a = next) {
        next = a->next;
        finish(a, code, err);
    }
}

// ---- one batch ----

static int by_tenant(const void *pa, const void *pb)
{
    const struct append *a = *(struct append *const *)pa, *b = *(struct append *const *)pb;
    int order = fk_str_cmp(a->tenant, b->tenant);
    return order ? order : a->order < b->order ? -1 : a->order > b->order;
}

struct batch {
    struct append **v; // by tenant, then by arrival
    size_t n;
    struct fk_buf segment;
    struct fk_str *record;
};

static int batch_sort(struct batch *b, struct append *list, struct fk_err *err)
{
    size_t n = 0;
    for (struct append *a = list; a; a = a->next)
        a->order = n++;
    b->v = fk_reallocarray(NULL, n, sizeof(*b->v));
    b->record = fk_reallocarray(NULL, n, sizeof(*b->record));
    if (!b->v || !b->record)
        return fk_fail_nomem(err);
    for (struct append *a = list; a; a = a->next)
        b->v[b->n++] = a;
    qsort(b->v, n, sizeof(struct append *), by_tenant);
    return 0;
}

// Ids rise within a tenant in the order of the segments, which is what replay relies on.
static void stamp(struct fk_store *s, struct batch *b)
{
    int64_t now = fk_clock_wall(s->clock);
    for (size_t i = 0; i < b->n; i++) {
        b->v[i]->id = fk_id_next(&s->ids, now);
        fk_record_stamp(b->v[i]->record.p, b->v[i]->id);
        b->record[i] = fk_buf_view(&b->v[i]->record);
    }
}

static size_t tenant_run(const struct batch *b, size_t from)
{
    size_t end = from + 1;
    while (end < b->n && fk_str_eq(b->v[end]->tenant, b->v[from]->tenant))
        end++;
    return end;
}

static int need_pack(struct fk_store *s, struct fk_err *err)
{
    if (s->pack && !s->pack->dead)
        return 0;
    if (fk_vec_reserve(&s->head->packs, 1))
        return fk_fail_nomem(err);
    struct fk_pack *pack;
    struct fk_id id = fk_id_next(&s->ids, fk_clock_wall(s->clock));
    int r = fk_pack_create(s->fs, s->dir, id, &pack, err);
    if (r)
        return r;
    fk_pack_close(s->pack);
    s->pack = pack;
    s->head->packs.v[s->head->packs.n++] = id;
    return 0;
}

static int write_segments(struct fk_store *s, struct batch *b, struct fk_err *err)
{
    int r = need_pack(s, err);
    for (size_t from = 0, end; r == 0 && from < b->n; from = end) {
        end = tenant_run(b, from);
        fk_buf_clear(&b->segment);
        fk_buf_fill(&b->segment, 0, FK_PACK_FRAME);
        r = fk_segment_put(&b->segment, b->record + from, end - from, b->v[from]->tenant, err);
        bool no_sync = end < b->n || (s->opts.plant & FK_PLANT_NO_SYNC);
        if (r == 0) // one sync for all: that of the last tenant's frame
            r = fk_pack_append(s->pack, &b->segment,
                               (no_sync ? FK_PACK_NO_SYNC : 0u) | (from ? FK_PACK_MORE : 0u), err);
        s->head->pack_bytes += r == 0 ? b->segment.n : 0;
    }
    return r;
}

static int make_durable(struct fk_store *s, struct batch *b, struct fk_err *err)
{
    int64_t begin = fk_clock_mono(s->clock);
    int r = write_segments(s, b, err);
    if (r && s->pack && s->pack->dead)
        r = write_segments(s, b, err);
    fk_mutex_lock(&s->stats_lock);
    s->stats.last_sync_ns = fk_clock_mono(s->clock) - begin;
    s->stats.commits += r == 0;
    s->stats.committed += r == 0 ? b->n : 0;
    s->stats.commit_failures += r != 0;
    fk_mutex_unlock(&s->stats_lock);
    return r;
}

static int join_head(struct fk_store *s, struct append *a, struct fk_err *err)
{
    struct fk_entry e = *a->entry;
    e.id = a->id;
    e.size = a->record.n;
    fk_buf_free(&a->record); // it is on disk, and may be as large as what the head makes of it
    int r = fk_head_add(s->head, a->tenant, &e, a->profile, err);
    if (r == 0 && s->head->first_mono_ns == 0)
        s->head->first_mono_ns = fk_clock_mono(s->clock);
    return r;
}

static uint64_t batch_bytes(const struct batch *b)
{
    uint64_t n = 0;
    for (size_t i = 0; i < b->n; i++)
        n += b->v[i]->record.n + 256;
    return n;
}

static void publish_sizes(struct fk_head *h)
{
    uint64_t memory = fk_head_memory(h);
    fk_mutex_lock(&h->lock);
    h->memory = memory;
    h->published_pack_bytes = h->pack_bytes;
    fk_mutex_unlock(&h->lock);
}

void fk_store_commit(struct fk_store *s, struct append *list)
{
    struct batch b = {0};
    struct fk_err err = {0};
    fk_buf_init(&b.segment, 0);
    int r = batch_sort(&b, list, &err);
    if (r == 0)
        r = fk_store_check_space(s, fk_pack_growth(s->pack, batch_bytes(&b), b.n), &err);
    if (r == 0) {
        stamp(s, &b);
        r = make_durable(s, &b, &err);
    }
    fk_buf_free(&b.segment); // not needed while the head takes the same in
    if (r) {
        finish_all(list, r, &err);
    } else {
        for (size_t i = 0; i < b.n; i++) {
            r = join_head(s, b.v[i], &err);
            finish(b.v[i], r, r ? &err : NULL);
        }
    }
    fk_free(b.v);
    fk_free(b.record);
    publish_sizes(s->head);
}

// ---- the committer's thread ----

// Takes what waits, up to FK_SEGMENT_MAX bytes; NULL when the store stops. Does not linger.
static struct append *take(struct fk_store *s)
{
    struct append *batch = NULL, **end = &batch;
    size_t bytes = 0;
    fk_mutex_lock(&s->queue_lock);
    while (!s->first && !s->stopping && !s->seal_wanted && !s->look)
        fk_cond_wait(&s->queue_filled, &s->queue_lock);
    s->look = false;
    while (s->first && (!batch || bytes + s->first->record.n <= FK_SEGMENT_MAX)) {
        *end = s->first;
        s->first = s->first->next;
        bytes += (*end)->record.n;
        end = &(*end)->next;
    }
    if (!s->first)
        s->last = NULL;
    *end = NULL;
    s->waiting_bytes -= bytes;
    fk_mutex_unlock(&s->queue_lock);
    return batch;
}

bool fk_store_seal_is_due(struct fk_store *s)
{
    const struct fk_head *h = s->head;
    if (h->profiles == 0)
        return false;
    if (h->part_sealed) // so that the rest of its packs does not stand in retention's way
        return true;
    return h->pack_bytes >= s->opts.seal_bytes || h->memory >= s->opts.head_memory ||
           fk_clock_mono(s->clock) - h->first_mono_ns >= s->opts.seal_age_ns;
}

struct fk_head *fk_store_sealing(struct fk_store *s)
{
    fk_mutex_lock(&s->state_lock);
    struct fk_head *h = s->sealing;
    fk_mutex_unlock(&s->state_lock);
    return h;
}

bool fk_store_rotate(struct fk_store *s, struct fk_err *err)
{
    struct fk_head *next;
    if (s->head->profiles == 0 || fk_store_sealing(s))
        return false;
    next = fk_head_new();
    if (!next) {
        fk_fail_nomem(err);
        return false;
    }
    fk_pack_close(s->pack);
    s->pack = NULL;
    fk_mutex_lock(&s->state_lock);
    s->sealing = s->head;
    s->head = next;
    fk_mutex_unlock(&s->state_lock);
    return true;
}

void fk_store_committer(void *arg)
{
    struct fk_store *s = arg;
    for (;;) {
        struct append *batch = take(s);
        if (batch)
            fk_store_commit(s, batch);
        fk_mutex_lock(&s->queue_lock);
        bool wanted = s->seal_wanted, over = s->stopping && !s->first;
        fk_mutex_unlock(&s->queue_lock);
        if ((wanted || fk_store_seal_is_due(s)) && !over) {
            fk_store_rotate(s, NULL);
            fk_mutex_lock(&s->queue_lock);
            s->seal_wanted = false;
            fk_cond_broadcast(&s->keeper_wake);
            fk_mutex_unlock(&s->queue_lock);
        }
        if (over)
            return;
    }
}

// ---- appending ----

static int enqueue(struct fk_store *s, struct append *a, struct fk_err *err)
{
    fk_mutex_lock(&s->queue_lock);
    bool stopping = s->stopping;
    if (!stopping) {
        if (s->last)
            s->last->next = a;
        else
            s->first = a;
        s->last = a;
        s->waiting_bytes += a->record.n;
        fk_cond_signal(&s->queue_filled);
    }
    fk_mutex_unlock(&s->queue_lock);
    return stopping
               ? fk_fail(err, FK_E_STOPPED, "the server is shutting down; send the profile again")
               : 0;
}

int fk_store_append(struct fk_store *s, struct fk_str tenant, const struct fk_entry *entry,
                    const struct fk_profile *profile, fk_done_fn *done, void *arg,
                    struct fk_err *err)
{
    if (profile->n_types > FK_MAX_TYPES)
        return fk_fail_limit(err, "sample_type", FK_MAX_TYPES, NULL,
                             "the profile has %u sample types", profile->n_types);
    int r = fk_quota_take(s, tenant, entry, err);
    if (r)
        return r;
    struct append *a = fk_calloc(1, sizeof(*a));
    if (!a)
        return fk_fail_nomem(err);
    *a = (struct append){
        .tenant = tenant, .entry = entry, .profile = profile, .done = done, .arg = arg};
    fk_buf_init(&a->record, 0);
    r = fk_record_put(&a->record, entry, profile, err);
    if (r == 0 && s->threads)
        r = enqueue(s, a, err);
    else if (r == 0)
        fk_store_commit(s, a);
    if (r) {
        fk_buf_free(&a->record);
        fk_free(a);
    }
    return r;
}

struct waiting {
    struct fk_event over;
    int code;
    struct fk_id id;
    struct fk_err err;
};

static void on_done(void *arg, int code, struct fk_id id, const struct fk_err *err)
{
    struct waiting *w = arg;
    w->code = code;
    w->id = id;
    if (err)
        w->err = *err;
    fk_event_set(&w->over);
}

int fk_store_append_wait(struct fk_store *s, struct fk_str tenant, const struct fk_entry *entry,
                         const struct fk_profile *profile, struct fk_id *ret, struct fk_err *err)
{
    struct waiting w = {0};
    fk_event_init(&w.over);
    int r = fk_store_append(s, tenant, entry, profile, on_done, &w, err);
    if (r)
        return r;
    fk_event_wait(&w.over);
    if (w.code && err)
        *err = w.err;
    if (w.code == 0)
        *ret = w.id;
    return w.code;
}

static int deliver(void *arg, struct fk_str tenant, const struct fk_entry *entry,
                   const struct fk_profile *profile, fk_done_fn *done, void *done_arg,
                   struct fk_err *err)
{
    return fk_store_append(arg, tenant, entry, profile, done, done_arg, err);
}

struct fk_sink fk_store_sink(struct fk_store *s)
{
    return (struct fk_sink){deliver, s};
}
