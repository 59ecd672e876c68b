// SPDX-License-Identifier: Apache-2.0
// How many series a tenant has on a day. A label that changes all the time (a request id) would
// otherwise fill the catalog: beyond the limit profiles of new series are refused, those of known
// ones go on. What was sealed comes from the catalog when a day is first asked for; a day that has
// to make room for others is read again, without what only the head knows: best effort then.
#include "store/store_int.h"

#define MAX_DAYS 400

struct fk_series_day {
    uint64_t tenant; // hash
    int32_t day;
    bool loaded; // the catalog's are in
    uint64_t used_at;
    struct fk_map index;
    FK_VEC(uint64_t) series; // hashes of label sets
};

static void day_free(struct fk_series_day *d)
{
    fk_map_free(&d->index);
    fk_vec_free(&d->series);
}

void fk_quota_free(struct fk_quota *q)
{
    for (size_t i = 0; i < q->days.n; i++)
        day_free(&q->days.v[i]);
    fk_vec_free(&q->days);
}

static bool has(const struct fk_series_day *d, uint64_t hash)
{
    uint64_t h = fk_hash_u64(hash);
    for (uint32_t at = fk_map_first(&d->index, h); at != FK_NONE;
         at = fk_map_next(&d->index, h, at))
        if (d->series.v[fk_map_id(&d->index, at)] == hash)
            return true;
    return false;
}

static int add(struct fk_series_day *d, uint64_t hash)
{
    if (has(d, hash))
        return 0;
    if (fk_vec_reserve(&d->series, 1) ||
        fk_map_add(&d->index, fk_hash_u64(hash), (uint32_t)d->series.n))
        return -FK_E_NOMEM;
    d->series.v[d->series.n++] = hash;
    return 0;
}

static struct fk_series_day *least_used(struct fk_quota *q)
{
    struct fk_series_day *least = &q->days.v[0];
    for (size_t i = 1; i < q->days.n; i++)
        if (q->days.v[i].used_at < least->used_at)
            least = &q->days.v[i];
    return least;
}

static struct fk_series_day *day_of(struct fk_quota *q, uint64_t tenant, int32_t day)
{
    struct fk_series_day *d = NULL;
    for (size_t i = 0; !d && i < q->days.n; i++)
        if (q->days.v[i].tenant == tenant && q->days.v[i].day == day)
            d = &q->days.v[i];
    if (!d && q->days.n == MAX_DAYS) {
        d = least_used(q);
        day_free(d);
        *d = (struct fk_series_day){tenant, day, false, 0, {0}, {0}};
    }
    if (!d && fk_vec_reserve(&q->days, 1) == 0) {
        d = &q->days.v[q->days.n++];
        *d = (struct fk_series_day){tenant, day, false, 0, {0}, {0}};
    }
    if (d)
        d->used_at = ++q->uses;
    return d;
}

static int on_series(void *arg, const struct fk_catalog_series *s, struct fk_err *err)
{
    return add(arg, s->hash) ? fk_fail_nomem(err) : 0;
}

static int load(struct fk_store *s, struct fk_str tenant, struct fk_series_day *d,
                struct fk_err *err)
{
    struct fk_catalog_days days = {.tenant = tenant, .from = d->day, .until = d->day};
    int r =
        fk_catalog_series(s->catalog, &days, 0, (struct fk_catalog_each_series){on_series, d}, err);
    d->loaded = r == 0;
    return r;
}

int fk_quota_note(struct fk_store *s, struct fk_str tenant, const struct fk_entry *e,
                  struct fk_err *err)
{
    int32_t day = fk_catalog_day(e->time_ns);
    fk_mutex_lock(&s->quota.lock);
    struct fk_series_day *d = day_of(&s->quota, fk_hash_str(tenant), day);
    int r = !d || add(d, fk_labels_hash(&e->labels)) ? fk_fail_nomem(err) : 0;
    fk_mutex_unlock(&s->quota.lock);
    return r;
}

static int refuse(const struct fk_store *s, const struct fk_entry *e, struct fk_err *err)
{
    char text[FK_TIME_CHARS + 1];
    fk_time_format(e->time_ns, text);
    return fk_fail_limit(err, "series", s->opts.series_per_day, FK_LIMIT_FLAG(series_per_day),
                         "%.10s has its full number of series (label sets) already; this profile "
                         "would begin another: does a label change all the time?",
                         text);
}

int fk_quota_take(struct fk_store *s, struct fk_str tenant, const struct fk_entry *e,
                  struct fk_err *err)
{
    uint64_t hash = fk_labels_hash(&e->labels), most = s->opts.series_per_day;
    int r = 0;
    if (!most)
        return 0;
    fk_mutex_lock(&s->quota.lock);
    struct fk_series_day *d = day_of(&s->quota, fk_hash_str(tenant), fk_catalog_day(e->time_ns));
    if (!d)
        r = fk_fail_nomem(err);
    else if (!d->loaded)
        r = load(s, tenant, d, err);
    if (r == 0 && !has(d, hash)) {
        if (d->series.n >= most)
            r = refuse(s, e, err);
        else if (add(d, hash))
            r = fk_fail_nomem(err);
    }
    fk_mutex_unlock(&s->quota.lock);
    return r;
}
