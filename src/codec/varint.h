// SPDX-License-Identifier: Apache-2.0
// Variable-length integers as protobuf has them (base 128, least significant group first, at most
// 10 bytes), zigzag, and a bounded cursor over foreign bytes.
// Source: protobuf.dev/programming-guides/encoding (varints, "More Integer Types").
#ifndef FK_CODEC_VARINT_H
#define FK_CODEC_VARINT_H

#include "base/base.h"

#define FK_VARINT_MAX 10 // bytes of the longest varint

static inline uint64_t fk_zigzag(int64_t v)
{
    return ((uint64_t)v << 1) ^ (0 - ((uint64_t)v >> 63));
}

static inline int64_t fk_unzigzag(uint64_t v)
{
    return (int64_t)((v >> 1) ^ (0 - (v & 1)));
}

const uint8_t *fk_varint_slow_(const uint8_t *p, const uint8_t *end, uint64_t *ret);

// Reads one varint at p: the byte after it, or NULL when it is cut off or longer than 10 bytes
// (*ret is then unspecified). Bits beyond the 64th are dropped, as protobuf does.
static inline const uint8_t *fk_varint_at(const uint8_t *p, const uint8_t *end, uint64_t *ret)
{
    if (FK_LIKELY(p < end && p[0] < 0x80)) {
        *ret = p[0];
        return p + 1;
    }
    if (FK_LIKELY(end - p >= 2 && p[1] < 0x80)) {
        *ret = (uint64_t)(p[0] & 0x7f) | (uint64_t)p[1] << 7;
        return p + 2;
    }
    return fk_varint_slow_(p, end, ret);
}

// How many varints end in [p, p + n): bytes without a continuation bit.
size_t fk_varint_count(const uint8_t *p, size_t n);
// Bytes that v takes.
static inline size_t fk_varint_size(uint64_t v)
{
    return ((size_t)fk_bit_width(v | 1) + 6) / 7;
}
uint8_t *fk_varint_write_slow_(uint8_t *to, uint64_t v);

// Writes v to `to` (room for FK_VARINT_MAX bytes): the place after it.
static inline uint8_t *fk_varint_write(uint8_t *to, uint64_t v)
{
    if (FK_LIKELY(v < 0x80)) {
        *to = (uint8_t)v;
        return to + 1;
    }
    if (FK_LIKELY(v < 0x4000)) {
        to[0] = (uint8_t)(v | 0x80);
        to[1] = (uint8_t)(v >> 7);
        return to + 2;
    }
    return fk_varint_write_slow_(to, v);
}
void fk_buf_varint(struct fk_buf *b, uint64_t v);
// varint length, then the bytes
void fk_buf_sized(struct fk_buf *b, struct fk_str s);

// A position in foreign bytes. Reads give 0, or -FK_E_FORMAT with the cursor and *ret as they were.
struct fk_cur {
    const uint8_t *p, *end;
};

static inline struct fk_cur fk_cur_of(struct fk_str s)
{
    const uint8_t *p = (const uint8_t *)(s.p ? s.p : "");
    return (struct fk_cur){p, p + s.n};
}

static inline size_t fk_cur_left(const struct fk_cur *c)
{
    return (size_t)(c->end - c->p);
}

static inline int fk_cur_varint(struct fk_cur *c, uint64_t *ret)
{
    uint64_t v;
    const uint8_t *next = fk_varint_at(c->p, c->end, &v);
    if (FK_UNLIKELY(!next))
        return -FK_E_FORMAT;
    c->p = next;
    *ret = v;
    return 0;
}

static inline int fk_cur_zigzag(struct fk_cur *c, int64_t *ret)
{
    uint64_t v;
    if (fk_cur_varint(c, &v))
        return -FK_E_FORMAT;
    *ret = fk_unzigzag(v);
    return 0;
}

// A varint that must be at most `max`.
static inline int fk_cur_varint_max(struct fk_cur *c, uint64_t max, uint64_t *ret)
{
    struct fk_cur at = *c;
    uint64_t v;
    if (fk_cur_varint(&at, &v) || v > max)
        return -FK_E_FORMAT;
    *c = at;
    *ret = v;
    return 0;
}

// The next n bytes, borrowed.
static inline int fk_cur_bytes(struct fk_cur *c, uint64_t n, struct fk_str *ret)
{
    if (n > fk_cur_left(c))
        return -FK_E_FORMAT;
    *ret = fk_str_make(c->p, (size_t)n);
    c->p += n;
    return 0;
}

// varint length, then so many bytes, borrowed.
static inline int fk_cur_sized(struct fk_cur *c, struct fk_str *ret)
{
    struct fk_cur at = *c;
    uint64_t n;
    if (fk_cur_varint(&at, &n) || fk_cur_bytes(&at, n, ret))
        return -FK_E_FORMAT;
    *c = at;
    return 0;
}

int fk_cur_le32(struct fk_cur *c, uint32_t *ret);
int fk_cur_le64(struct fk_cur *c, uint64_t *ret);

#endif
