// SPDX-License-Identifier: Apache-2.0
// Compression: whole bodies at once, and streams. Nothing here allocates beyond the given limit and
// a small working state.
// Sources: RFC 1950, 1952 (several gzip members, §2.2), RFC 8878 (zstd, several frames).
#ifndef FK_CODEC_ZIP_H
#define FK_CODEC_ZIP_H

#include "base/base.h"

enum fk_zip { FK_ZIP_NONE, FK_ZIP_GZIP, FK_ZIP_ZLIB, FK_ZIP_ZSTD };

// By magic number; NONE when there is none. zlib is recognised by its two header bytes.
enum fk_zip fk_zip_detect(const uint8_t *p, size_t n);
const char *fk_zip_name(enum fk_zip kind); // "none", "gzip", "zlib", "zstd"

// How much may come out, and what to say when it is more.
struct fk_size_limit {
    uint64_t bytes;   // 0: none
    const char *flag; // flag that sets it, or NULL
    const char *what; // "the profile"
};

struct fk_inflated {
    struct fk_str bytes; // in the arena; the input itself (borrowed) when kind is NONE
    enum fk_zip kind;
    uint32_t members; // gzip members or zstd frames
    size_t trailing;  // bytes after the last member, ignored
};

// Decompresses a whole body, whatever it is (detected). Checksums are checked. FK_E_FORMAT says
// what is broken; more than the limit is FK_E_LIMIT, found before it is allocated. An honest gzip
// member or zstd frame is decompressed once; where the size is not known it is counted first.
int fk_inflate(const uint8_t *p, size_t n, const struct fk_size_limit *limit,
               struct fk_arena *arena, struct fk_inflated *ret, struct fk_err *err);
// The first bytes of what is inside, at most *n (set to what there was); never fails: 0 bytes when
// broken.
void fk_inflate_head(const uint8_t *p, size_t n, uint8_t *to, size_t *to_n);

// A stream: bytes in, bytes out through `out`, in pieces of at most 64 KiB.
struct fk_inflater;
// NULL: no memory. kind NONE passes bytes through (and still counts).
struct fk_inflater *fk_inflater_new(enum fk_zip kind, const struct fk_size_limit *limit);
void fk_inflater_free(struct fk_inflater *z);
int fk_inflater_feed(struct fk_inflater *z, const uint8_t *p, size_t n, struct fk_out out,
                     struct fk_err *err);
// The input is over: FK_E_FORMAT when it was cut off. Counts may be NULL.
int fk_inflater_end(struct fk_inflater *z, uint32_t *ret_members, uint64_t *ret_trailing,
                    struct fk_err *err);

// Appends the compressed bytes. gzip: level 1..12, no time stamp, so equal input gives equal
// output. zstd: level 1..19, with the content's size and a checksum.
int fk_gzip(const void *p, size_t n, int level, struct fk_buf *to, struct fk_err *err);
int fk_zstd(const void *p, size_t n, int level, struct fk_buf *to, struct fk_err *err);
// One zstd frame into exactly to_n bytes; FK_E_CORRUPT when it is anything else.
int fk_unzstd(const void *p, size_t n, void *to, size_t to_n, struct fk_err *err);

#endif
