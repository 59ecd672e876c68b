// SPDX-License-Identifier: Apache-2.0
// Uploaded bytes as they came, kept for a while so that they can be had back unchanged. Blobs
// "originals/<seconds>-<hash>-<size>.raw" (or .zst: compressed here), the same content once while
// it is fresh. What was acknowledged does not depend on them: losing one loses a download.
#include "codec/codec.h"
#include "store/store_int.h"

#include <stdio.h>
#include <stdlib.h>

#define PREFIX "originals/"

static int by_time(const void *pa, const void *pb)
{
    const struct fk_original *a = pa, *b = pb;
    return a->received_s < b->received_s ? -1 : a->received_s > b->received_s;
}

static void blob_key(char to[FK_PATH_MAX], const struct fk_original *o)
{
    snprintf(to, FK_PATH_MAX, PREFIX "%llu-%016llx-%llu.%s", (unsigned long long)o->received_s,
             (unsigned long long)o->hash, (unsigned long long)o->size, o->packed ? "zst" : "raw");
}

static bool parse_key(const char *name, struct fk_original *ret)
{
    unsigned long long seconds, hash, size;
    char ending[4], again[FK_PATH_MAX];
    if (sscanf(name, "%20llu-%16llx-%20llu.%3s", &seconds, &hash, &size, ending) != 4)
        return false;
    *ret = (struct fk_original){
        .received_s = seconds, .hash = hash, .size = size, .packed = ending[0] == 'z'};
    blob_key(again, ret);
    return strcmp(again + strlen(PREFIX), name) == 0;
}

static int on_blob(void *arg, const char *key, uint64_t size, struct fk_err *err)
{
    struct fk_originals *all = arg;
    struct fk_original o;
    if (!parse_key(key + strlen(PREFIX), &o))
        return 0;
    o.stored = size;
    return fk_vec_push(&all->v, o) ? fk_fail_nomem(err) : 0;
}

int fk_originals_load(struct fk_store *s, struct fk_err *err)
{
    int r = fk_blob_list(s->blob, PREFIX, (struct fk_each_blob){on_blob, &s->originals}, err);
    if (s->originals.v.n)
        qsort(s->originals.v.v, s->originals.v.n, sizeof(struct fk_original), by_time);
    return r;
}

void fk_originals_free(struct fk_originals *o)
{
    fk_vec_free(&o->v);
}

// ---- keeping ----

static int read_back(struct fk_store *s, const struct fk_original *o, struct fk_buf *to,
                     struct fk_err *err)
{
    char key[FK_PATH_MAX];
    FK_AUTO_BUF stored;
    fk_buf_init(&stored, 0);
    blob_key(key, o);
    char *p = fk_buf_reserve(&stored, o->stored);
    int r = p ? fk_blob_get(s->blob, key, 0, p, o->stored, err) : fk_fail_nomem(err);
    if (r)
        return r;
    if (!o->packed) {
        fk_buf_put(to, p, o->stored);
        return fk_buf_check(to, "original", err);
    }
    char *raw = fk_buf_reserve(to, o->size);
    if (!raw)
        return fk_fail_nomem(err);
    r = fk_unzstd(p, o->stored, raw, o->size, err);
    to->n += r == 0 ? o->size : 0;
    return r;
}

// Whether what is kept under this hash is really the same.
static bool is_same(struct fk_store *s, const struct fk_original *o, struct fk_str bytes)
{
    FK_AUTO_BUF have;
    fk_buf_init(&have, 0);
    return read_back(s, o, &have, NULL) == 0 && fk_str_eq(fk_buf_view(&have), bytes);
}

static bool find(struct fk_store *s, uint64_t hash, uint64_t size, uint64_t since_s,
                 struct fk_original *ret)
{
    bool found = false;
    fk_mutex_lock(&s->originals.lock);
    for (size_t i = s->originals.v.n; !found && i-- > 0;) {
        *ret = s->originals.v.v[i];
        if (ret->received_s < since_s)
            break;
        found = ret->hash == hash && ret->size == size;
    }
    fk_mutex_unlock(&s->originals.lock);
    return found;
}

static int write_new(struct fk_store *s, struct fk_str bytes, struct fk_original *o,
                     struct fk_err *err)
{
    char key[FK_PATH_MAX];
    FK_AUTO_BUF packed;
    fk_buf_init(&packed, 0);
    o->packed = fk_zip_detect((const uint8_t *)bytes.p, bytes.n) == FK_ZIP_NONE && bytes.n > 256;
    int r = o->packed ? fk_zstd(bytes.p, bytes.n, 3, &packed, err) : 0;
    if (r == 0 && atomic_load(&s->full))
        r = fk_fail(err, FK_E_FULL, "the disk is full (--min-free)");
    if (r)
        return r;
    struct fk_str stored = o->packed ? fk_buf_view(&packed) : bytes;
    o->stored = stored.n;
    blob_key(key, o);
    if ((r = fk_blob_put(s->blob, key, stored, err)))
        return r;
    fk_mutex_lock(&s->originals.lock);
    r = fk_vec_push(&s->originals.v, *o) ? fk_fail_nomem(err) : 0;
    fk_mutex_unlock(&s->originals.lock);
    return r;
}

int fk_store_keep_original(struct fk_store *s, struct fk_str bytes, char ret_name[FK_ORIGINAL_NAME],
                           struct fk_err *err)
{
    uint64_t now_s = (uint64_t)(fk_clock_wall(s->clock) / FK_NS_PER_S);
    uint64_t half = (uint64_t)(s->opts.originals_age_ns / FK_NS_PER_S / 2);
    struct fk_original o,
        mine = {.received_s = now_s, .hash = fk_hash_bytes(bytes.p, bytes.n), .size = bytes.n};
    char key[FK_PATH_MAX];
    int r = 0;
    if (s->opts.originals_bytes == 0 || bytes.n > s->opts.originals_bytes)
        return fk_fail(err, FK_E_UNSUPPORTED, "originals are not kept (--originals-bytes)");
    bool have = find(s, mine.hash, mine.size, now_s > half ? now_s - half : 0, &o);
    if (have && !is_same(s, &o, bytes))
        return fk_fail(err, FK_E_EXISTS, "another file of the same checksum is kept");
    if (!have) {
        r = write_new(s, bytes, &mine, err);
        o = mine;
    }
    if (r == 0) {
        blob_key(key, &o);
        snprintf(ret_name, FK_ORIGINAL_NAME, "%.*s", FK_ORIGINAL_NAME - 1, key + strlen(PREFIX));
    }
    return r;
}

int fk_store_original(struct fk_store *s, struct fk_str name, struct fk_buf *to, struct fk_err *err)
{
    char text[FK_ORIGINAL_NAME];
    struct fk_original o;
    snprintf(text, sizeof(text), "%.*s", FK_STR_ARG(name));
    if (!parse_key(text, &o) || !find(s, o.hash, o.size, o.received_s, &o))
        return fk_fail(err, FK_E_NOTFOUND,
                       "the uploaded bytes are not kept any more (--originals-age, "
                       "--originals-bytes); format=pprof exports what was stored");
    return read_back(s, &o, to, err);
}

// ---- letting go ----

static bool oldest_due(struct fk_store *s, struct fk_original *ret)
{
    uint64_t now_s = (uint64_t)(fk_clock_wall(s->clock) / FK_NS_PER_S), bytes = 0;
    uint64_t age_s = (uint64_t)(s->opts.originals_age_ns / FK_NS_PER_S);
    bool due = false;
    fk_mutex_lock(&s->originals.lock);
    for (size_t i = 0; i < s->originals.v.n; i++)
        bytes += s->originals.v.v[i].stored;
    if (s->originals.v.n) {
        *ret = s->originals.v.v[0];
        due = bytes > s->opts.originals_bytes || ret->received_s + age_s < now_s;
    }
    fk_mutex_unlock(&s->originals.lock);
    return due;
}

int fk_originals_retain(struct fk_store *s, struct fk_err *err)
{
    struct fk_original o;
    char key[FK_PATH_MAX];
    while (oldest_due(s, &o)) {
        blob_key(key, &o);
        int r = fk_blob_remove(s->blob, key, err);
        if (r)
            return r;
        fk_mutex_lock(&s->originals.lock);
        s->originals.v.n--;
        memmove(s->originals.v.v, s->originals.v.v + 1, s->originals.v.n * sizeof(o));
        fk_mutex_unlock(&s->originals.lock);
    }
    return 0;
}
