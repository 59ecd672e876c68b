// SPDX-License-Identifier: Apache-2.0
// What all blob stores share: keys, whole blobs.
#include "blob/blob.h"

#define MAX_PARTS 16
#define MAX_PART  200
#define PIECE     ((size_t)1 << 20)

static bool good_part(struct fk_str part)
{
    if (part.n == 0 || part.n > MAX_PART || part.p[0] == '.')
        return false;
    for (size_t i = 0; i < part.n; i++)
        if (part.p[i] <= ' ' || part.p[i] > '~' || part.p[i] == '\\')
            return false;
    return true;
}

int fk_blob_check_key(const char *key, struct fk_err *err)
{
    struct fk_str rest = fk_str_of(key), part;
    size_t parts = 0;
    bool good = rest.n > 0 && rest.n <= FK_BLOB_KEY_MAX;
    while (good && fk_str_split(&rest, '/', &part))
        good = good_part(part) && ++parts <= MAX_PARTS;
    return good ? 0 : fk_fail_param(err, "key", "'%.60s' is not a key of a blob", key);
}

static int write_out(void *arg, const void *p, size_t n, struct fk_err *err)
{
    return fk_blob_write(arg, p, n, err);
}

struct fk_out fk_blob_out(struct fk_blob_writer *w)
{
    return (struct fk_out){write_out, w};
}

int fk_blob_put(struct fk_blob *b, const char *key, struct fk_str bytes, struct fk_err *err)
{
    struct fk_blob_writer *w = NULL;
    int r = fk_blob_begin(b, key, &w, err);
    if (r)
        return r;
    r = fk_blob_write(w, bytes.p, bytes.n, err);
    if (r == 0)
        return fk_blob_commit(w, err);
    fk_blob_abort(w);
    return r;
}

static int copy(const struct fk_source *from, struct fk_blob_writer *w, struct fk_err *err)
{
    size_t piece = (size_t)FK_MIN(from->size, (uint64_t)PIECE);
    FK_AUTO_FREE uint8_t *buf = fk_malloc(piece);
    if (!buf)
        return fk_fail_nomem(err);
    int r = 0;
    for (uint64_t at = 0; r == 0 && at < from->size; at += piece) {
        size_t n = (size_t)FK_MIN((uint64_t)piece, from->size - at);
        r = from->read_at(from->arg, at, buf, n, err);
        if (r == 0)
            r = fk_blob_write(w, buf, n, err);
    }
    return r;
}

int fk_blob_put_source(struct fk_blob *b, const char *key, const struct fk_source *from,
                       struct fk_err *err)
{
    struct fk_blob_writer *w = NULL;
    int r = fk_blob_begin(b, key, &w, err);
    if (r)
        return r;
    r = copy(from, w, err);
    if (r == 0)
        return fk_blob_commit(w, err);
    fk_blob_abort(w);
    return r;
}

int fk_blob_get(struct fk_blob *b, const char *key, uint64_t offset, void *to, size_t n,
                struct fk_err *err)
{
    struct fk_blob_reader *reader = NULL;
    int r = fk_blob_open(b, key, &reader, err);
    if (r)
        return r;
    if (!fk_in_range(offset, n, reader->source.size))
        r = fk_fail(err, FK_E_CORRUPT, "blob %.200s ends before byte %llu", key,
                    (unsigned long long)offset + n);
    else
        r = reader->source.read_at(reader->source.arg, offset, to, n, err);
    fk_blob_close_reader(reader);
    return r;
}

int fk_blob_exists(struct fk_blob *b, const char *key, struct fk_err *err)
{
    uint64_t size;
    int r = fk_blob_size(b, key, &size, err);
    if (r == -FK_E_NOTFOUND)
        return 0;
    return r ? r : 1;
}
