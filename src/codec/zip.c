// SPDX-License-Identifier: Apache-2.0
// Whole bodies: libdeflate and zstd into memory of the right size. Streams are in stream.c.
#include "codec/zip.h"

#include <libdeflate.h>
#include <zstd.h>

enum fk_zip fk_zip_detect(const uint8_t *p, size_t n)
{
    if (n >= 3 && p[0] == 0x1f && p[1] == 0x8b && p[2] == 8)
        return FK_ZIP_GZIP;
    if (n >= 4 && fk_load32(p) == 0xfd2fb528u)
        return FK_ZIP_ZSTD;
    // RFC 1950: method 8, window at most 32 KiB, no dictionary, check bits; "x^" and its like.
    if (n >= 2 && p[0] == 0x78 && (p[1] & 0x20) == 0 && (p[0] * 256 + p[1]) % 31 == 0)
        return FK_ZIP_ZLIB;
    return FK_ZIP_NONE;
}

const char *fk_zip_name(enum fk_zip kind)
{
    static const char *const names[] = {"none", "gzip", "zlib", "zstd"};
    return names[kind];
}

static uint64_t limit_bytes(const struct fk_size_limit *l)
{
    return l && l->bytes ? l->bytes : SIZE_MAX / 2;
}

static const char *what(const struct fk_size_limit *l)
{
    return l && l->what ? l->what : "the input";
}

static int fail_limit(const struct fk_size_limit *l, struct fk_err *err)
{
    return fk_fail_limit(err, "size", limit_bytes(l), l ? l->flag : NULL,
                         "%s is too large when decompressed; send less at once or raise the limit",
                         what(l));
}

// A counting run: nothing is kept, so that nothing needs memory.
static int count_bytes(void *arg, const void *p, size_t n, struct fk_err *err)
{
    (void)p;
    (void)err;
    *(uint64_t *)arg += n;
    return 0;
}

static int measure(const uint8_t *p, size_t n, enum fk_zip kind, const struct fk_size_limit *limit,
                   uint64_t *ret_size, struct fk_inflated *info, struct fk_err *err)
{
    uint64_t size = 0, trailing = 0;
    struct fk_inflater *z = fk_inflater_new(kind, limit);
    if (!z)
        return fk_fail_nomem(err);
    int rc = fk_inflater_feed(z, p, n, (struct fk_out){count_bytes, &size}, err);
    if (!rc)
        rc = fk_inflater_end(z, &info->members, &trailing, err);
    fk_inflater_free(z);
    if (rc)
        return rc;
    info->trailing = (size_t)trailing;
    *ret_size = size;
    return 0;
}

static int fill(void *arg, const void *p, size_t n, struct fk_err *err)
{
    struct fk_str *to = arg; // what is left to fill
    union {
        const char *in;
        char *out;
    } at = {.in = to->p};
    if (n > to->n)
        return fk_fail(err, FK_E_FORMAT, "the compressed data changed while it was read");
    memcpy(at.out, p, n);
    *to = fk_str_from(*to, n);
    return 0;
}

// Counts first, then decompresses into exactly so much.
static int inflate_counted(const uint8_t *p, size_t n, enum fk_zip kind,
                           const struct fk_size_limit *limit, struct fk_arena *arena,
                           struct fk_inflated *ret, struct fk_err *err)
{
    struct fk_inflated info = {.kind = kind};
    uint64_t size = 0;
    int rc = measure(p, n, kind, limit, &size, &info, err);
    if (rc)
        return rc;
    char *to = fk_arena_alloc(arena, size + 1);
    struct fk_inflater *z = fk_inflater_new(kind, limit);
    struct fk_str left = {to, (size_t)size};
    rc =
        to && z ? fk_inflater_feed(z, p, n, (struct fk_out){fill, &left}, err) : fk_fail_nomem(err);
    fk_inflater_free(z);
    if (rc)
        return rc;
    info.bytes = fk_str_make(to, (size_t)size);
    *ret = info;
    return 0;
}

// One gzip member whose last four bytes tell the size honestly: 1 done, 0 try the counted way.
// Deflate cannot grow data more than 1032 times (RFC 1951: 258 bytes from 2 bits).
static int inflate_gzip_at_once(const uint8_t *p, size_t n, const struct fk_size_limit *limit,
                                struct fk_arena *arena, struct fk_inflated *ret, struct fk_err *err)
{
    size_t size = n >= 18 ? fk_load32(p + n - 4) : 0, got = 0, used = 0;
    if (n < 18 || size > limit_bytes(limit) || size / 1032 > n)
        return 0;
    struct libdeflate_decompressor *d = libdeflate_alloc_decompressor();
    char *to = d ? fk_arena_alloc(arena, size + 1) : NULL;
    if (!to) {
        libdeflate_free_decompressor(d);
        return fk_fail_nomem(err);
    }
    enum libdeflate_result r = libdeflate_gzip_decompress_ex(d, p, n, to, size, &used, &got);
    libdeflate_free_decompressor(d);
    if (r != LIBDEFLATE_SUCCESS || used != n)
        return 0;
    *ret = (struct fk_inflated){{to, got}, FK_ZIP_GZIP, 1, 0};
    return 1;
}

// Frames that all say their size: 1 done, 0 try the counted way.
static int inflate_zstd_at_once(const uint8_t *p, size_t n, const struct fk_size_limit *limit,
                                struct fk_arena *arena, struct fk_inflated *ret, struct fk_err *err)
{
    unsigned long long size = ZSTD_getFrameContentSize(p, n);
    if (size == ZSTD_CONTENTSIZE_UNKNOWN || size == ZSTD_CONTENTSIZE_ERROR ||
        ZSTD_findFrameCompressedSize(p, n) != n)
        return 0;
    if (size > limit_bytes(limit))
        return fail_limit(limit, err);
    // A frame may lie: memory is only taken for what a block header each 128 KiB could hold.
    if (size / (128 << 10) > n)
        return 0;
    char *to = fk_arena_alloc(arena, (size_t)size + 1);
    if (!to)
        return fk_fail_nomem(err);
    size_t got = ZSTD_decompress(to, (size_t)size, p, n);
    if (ZSTD_isError(got))
        return fk_fail(err, FK_E_FORMAT, "%s: the zstd data is broken: %s", what(limit),
                       ZSTD_getErrorName(got));
    *ret = (struct fk_inflated){{to, got}, FK_ZIP_ZSTD, 1, 0};
    return 1;
}

int fk_inflate(const uint8_t *p, size_t n, const struct fk_size_limit *limit,
               struct fk_arena *arena, struct fk_inflated *ret, struct fk_err *err)
{
    enum fk_zip kind = fk_zip_detect(p, n);
    int rc = 0;
    if (kind == FK_ZIP_NONE) {
        if (n > limit_bytes(limit))
            return fk_fail_limit(err, "size", limit_bytes(limit), limit->flag, "%s is too large",
                                 what(limit));
        *ret = (struct fk_inflated){fk_str_make(p, n), FK_ZIP_NONE, 0, 0};
        return 0;
    }
    if (kind == FK_ZIP_GZIP)
        rc = inflate_gzip_at_once(p, n, limit, arena, ret, err);
    else if (kind == FK_ZIP_ZSTD)
        rc = inflate_zstd_at_once(p, n, limit, arena, ret, err);
    if (rc)
        return rc < 0 ? rc : 0;
    return inflate_counted(p, n, kind, limit, arena, ret, err);
}

int fk_gzip(const void *p, size_t n, int level, struct fk_buf *to, struct fk_err *err)
{
    struct libdeflate_compressor *c = libdeflate_alloc_compressor(level);
    size_t bound = c ? libdeflate_gzip_compress_bound(c, n) : 0;
    char *room = c ? fk_buf_reserve(to, bound) : NULL;
    if (!room) {
        libdeflate_free_compressor(c);
        return c ? fk_buf_check(to, "compressed data", err) : fk_fail_nomem(err);
    }
    size_t got = libdeflate_gzip_compress(c, n ? p : "", n, room, bound);
    libdeflate_free_compressor(c);
    to->n += got;
    return 0;
}

int fk_zstd(const void *p, size_t n, int level, struct fk_buf *to, struct fk_err *err)
{
    ZSTD_CCtx *c = ZSTD_createCCtx();
    size_t bound = ZSTD_compressBound(n);
    char *room = c ? fk_buf_reserve(to, bound) : NULL;
    if (!room) {
        ZSTD_freeCCtx(c);
        return c ? fk_buf_check(to, "compressed data", err) : fk_fail_nomem(err);
    }
    ZSTD_CCtx_setParameter(c, ZSTD_c_compressionLevel, level);
    ZSTD_CCtx_setParameter(c, ZSTD_c_checksumFlag, 1);
    size_t got = ZSTD_compress2(c, room, bound, n ? p : "", n);
    ZSTD_freeCCtx(c);
    if (ZSTD_isError(got))
        return fk_fail_nomem(err);
    to->n += got;
    return 0;
}

int fk_unzstd(const void *p, size_t n, void *to, size_t to_n, struct fk_err *err)
{
    size_t got = ZSTD_decompress(to, to_n, p, n);
    if (ZSTD_isError(got))
        return fk_fail(err, FK_E_CORRUPT, "zstd frame of %zu bytes: %s", n, ZSTD_getErrorName(got));
    if (got != to_n)
        return fk_fail(err, FK_E_CORRUPT, "zstd frame holds %zu bytes where %zu are expected", got,
                       to_n);
    return 0;
}
