// SPDX-License-Identifier: Apache-2.0
// Streams: zlib (gzip and zlib) and zstd, member after member, counted against a limit.
#include "codec/zip.h"

#include <zlib.h>
#include <zstd.h>

#define PIECE ((size_t)64 << 10)

struct fk_inflater {
    enum fk_zip kind;
    struct fk_size_limit limit;
    uint64_t out_bytes, trailing;
    uint32_t members;
    bool inside;  // a member has begun and is not over
    uint8_t held; // bytes of a gzip magic seen after a member, 0 or 1
    bool over;    // what follows the last member is ignored
    bool ready;   // z was initialised
    z_stream z;
    ZSTD_DStream *zstd;
    uint8_t piece[PIECE];
};

static int zstd_start(struct fk_inflater *z)
{
    z->zstd = ZSTD_createDStream();
    if (!z->zstd)
        return -FK_E_NOMEM;
    // The window is memory that the input asks for: not more than may come out, but at least the
    // 8 MiB that RFC 8878 wants every decoder to have.
    int log = 27;
    while (log > 23 && z->limit.bytes && ((uint64_t)1 << (log - 1)) >= z->limit.bytes)
        log--;
    ZSTD_DCtx_setParameter(z->zstd, ZSTD_d_windowLogMax, log);
    return 0;
}

struct fk_inflater *fk_inflater_new(enum fk_zip kind, const struct fk_size_limit *limit)
{
    struct fk_inflater *z = fk_malloc(sizeof(*z));
    if (!z)
        return NULL;
    memset(z, 0, offsetof(struct fk_inflater, piece));
    z->kind = kind;
    if (limit)
        z->limit = *limit;
    bool ok = true;
    if (kind == FK_ZIP_ZSTD)
        ok = zstd_start(z) == 0;
    else if (kind != FK_ZIP_NONE)
        ok = z->ready = inflateInit2(&z->z, kind == FK_ZIP_GZIP ? 15 + 16 : 15) == Z_OK;
    if (!ok) {
        fk_inflater_free(z);
        return NULL;
    }
    return z;
}

void fk_inflater_free(struct fk_inflater *z)
{
    if (!z)
        return;
    if (z->ready)
        inflateEnd(&z->z);
    ZSTD_freeDStream(z->zstd);
    fk_free(z);
}

static int fail_broken(const struct fk_inflater *z, const char *why, struct fk_err *err)
{
    return fk_fail(err, FK_E_FORMAT, "%s: the %s data is broken: %s",
                   z->limit.what ? z->limit.what : "the input", fk_zip_name(z->kind), why);
}

static int emit(struct fk_inflater *z, const void *p, size_t n, struct fk_out out,
                struct fk_err *err)
{
    if (z->limit.bytes && n > z->limit.bytes - z->out_bytes)
        return fk_fail_limit(
            err, "size", z->limit.bytes, z->limit.flag,
            "%s is too large when decompressed; send less at once or raise the limit",
            z->limit.what ? z->limit.what : "the input");
    z->out_bytes += n;
    return fk_out_put(out, p, n, err);
}

// After a member: another one begins, or what follows is ignored. The magic may be cut in two.
static bool next_member(struct fk_inflater *z, const uint8_t **p, size_t *n)
{
    static const uint8_t magic[2] = {0x1f, 0x8b};
    while (*n && z->held < 2) {
        if (z->kind != FK_ZIP_GZIP || **p != magic[z->held]) {
            z->over = true;
            z->trailing += z->held;
            return false;
        }
        z->held++;
        ++*p;
        --*n;
    }
    return z->held == 2;
}

static int inflate_piece(struct fk_inflater *z, const uint8_t **p, size_t *n, struct fk_out out,
                         struct fk_err *err)
{
    union {
        const uint8_t *in;
        uint8_t *out;
    } next = {.in = *p};
    uInt given = (uInt)FK_MIN(*n, (size_t)1 << 30);
    z->z.next_in = next.out;
    z->z.avail_in = given;
    z->z.next_out = z->piece;
    z->z.avail_out = (uInt)PIECE;
    int r = inflate(&z->z, Z_NO_FLUSH);
    if (r != Z_OK && r != Z_STREAM_END && r != Z_BUF_ERROR)
        return r == Z_MEM_ERROR ? fk_fail_nomem(err)
                                : fail_broken(z, z->z.msg ? z->z.msg : "no valid stream", err);
    *p += given - z->z.avail_in;
    *n -= given - z->z.avail_in;
    z->inside = r != Z_STREAM_END;
    if (!z->inside)
        z->members++;
    return emit(z, z->piece, PIECE - z->z.avail_out, out, err);
}

// Starts the next member; a gzip magic that was taken from the input already is given first.
static int restart(struct fk_inflater *z, struct fk_err *err)
{
    static uint8_t const magic[2] = {0x1f, 0x8b};
    uint8_t copy[2];
    z->inside = true;
    if (z->members == 0)
        return 0;
    memcpy(copy, magic, sizeof(copy));
    inflateReset(&z->z);
    z->z.next_in = copy;
    z->z.avail_in = sizeof(copy);
    z->z.next_out = z->piece;
    z->z.avail_out = (uInt)PIECE;
    z->held = 0;
    return inflate(&z->z, Z_NO_FLUSH) == Z_OK ? 0 : fail_broken(z, "no valid member header", err);
}

static int feed_zlib(struct fk_inflater *z, const uint8_t *p, size_t n, struct fk_out out,
                     struct fk_err *err)
{
    bool full = false; // the last piece was filled: more may wait inside zlib
    while (n || full) {
        if (!z->inside) {
            if (z->over || (z->members && !next_member(z, &p, &n)))
                break;
            int rc = restart(z, err);
            if (rc)
                return rc;
        }
        int rc = inflate_piece(z, &p, &n, out, err);
        if (rc)
            return rc;
        full = z->inside && z->z.avail_out == 0;
    }
    if (z->over)
        z->trailing += n;
    return 0;
}

static int feed_zstd(struct fk_inflater *z, const uint8_t *p, size_t n, struct fk_out out,
                     struct fk_err *err)
{
    ZSTD_inBuffer in = {p, n, 0};
    bool full = false;
    while (in.pos < in.size || full) {
        // Anything but another frame behind the last one is ignored, as for gzip.
        if (!z->inside && z->members && in.size - in.pos >= 4 &&
            fk_load32(p + in.pos) != 0xfd2fb528u &&
            (fk_load32(p + in.pos) & 0xfffffff0u) != 0x184d2a50u)
            z->over = true;
        if (z->over)
            break;
        ZSTD_outBuffer to = {z->piece, PIECE, 0};
        size_t r = ZSTD_decompressStream(z->zstd, &to, &in);
        if (ZSTD_isError(r))
            return fail_broken(z, ZSTD_getErrorName(r), err);
        z->inside = r != 0;
        z->members += r == 0;
        full = z->inside && to.pos == to.size;
        int rc = emit(z, z->piece, to.pos, out, err);
        if (rc)
            return rc;
    }
    z->trailing += in.size - in.pos;
    return 0;
}

int fk_inflater_feed(struct fk_inflater *z, const uint8_t *p, size_t n, struct fk_out out,
                     struct fk_err *err)
{
    switch (z->kind) {
    case FK_ZIP_NONE:
        return emit(z, p, n, out, err);
    case FK_ZIP_ZSTD:
        return feed_zstd(z, p, n, out, err);
    case FK_ZIP_GZIP:
    case FK_ZIP_ZLIB:
        break;
    }
    return feed_zlib(z, p, n, out, err);
}

int fk_inflater_end(struct fk_inflater *z, uint32_t *ret_members, uint64_t *ret_trailing,
                    struct fk_err *err)
{
    if (z->kind != FK_ZIP_NONE && (z->inside || z->members == 0))
        return fail_broken(z, "it ends too early", err);
    if (ret_members)
        *ret_members = z->members;
    if (ret_trailing)
        *ret_trailing = z->trailing + (z->over ? 0 : z->held);
    return 0;
}

struct head {
    uint8_t *to;
    size_t n, max;
};

// Stops the stream once the head is full.
static int keep_head(void *arg, const void *p, size_t n, struct fk_err *err)
{
    struct head *h = arg;
    size_t k = FK_MIN(n, h->max - h->n);
    memcpy(h->to + h->n, p, k);
    h->n += k;
    return h->n == h->max ? fk_fail(err, FK_E_CANCELLED, "enough") : 0;
}

void fk_inflate_head(const uint8_t *p, size_t n, uint8_t *to, size_t *to_n)
{
    struct head h = {to, 0, *to_n};
    struct fk_inflater *z = fk_inflater_new(fk_zip_detect(p, n), NULL);
    *to_n = 0;
    if (!z)
        return;
    // What came out before a fault is as good as any for a look: the result does not matter.
    struct fk_err err;
    if (n)
        (void)fk_inflater_feed(z, p, n, (struct fk_out){keep_head, &h}, &err);
    fk_inflater_free(z);
    *to_n = h.n;
}
