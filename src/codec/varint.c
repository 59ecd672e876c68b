// SPDX-License-Identifier: Apache-2.0
// Varints that are longer than two bytes, and their writing.
#include "codec/codec.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

// Drops the top bit of each byte and closes the gaps, pairwise.
static uint64_t close_gaps(uint64_t w)
{
    w &= 0x7f7f7f7f7f7f7f7fu;
    w = (w & 0x007f007f007f007fu) | (w & 0x7f007f007f007f00u) >> 1;
    w = (w & 0x00003fff00003fffu) | (w & 0x3fff00003fff0000u) >> 2;
    return (w & 0x000000000fffffffu) | (w & 0x0fffffff00000000u) >> 4;
}

// Up to eight bytes at once, without a branch for each.
const uint8_t *fk_varint_slow_(const uint8_t *p, const uint8_t *end, uint64_t *ret)
{
    uint64_t w = end - p >= 8 ? fk_load64(p) : UINT64_MAX, last = ~w & 0x8080808080808080u;
    if (FK_LIKELY(last)) {
        *ret = close_gaps(w & (last ^ (last - 1)));
        return p + (__builtin_ctzll(last) + 1) / 8;
    }
    uint64_t v = 0;
    const uint8_t *stop = end - p > FK_VARINT_MAX ? p + FK_VARINT_MAX : end;
    for (unsigned shift = 0; p < stop; shift += 7) {
        uint8_t c = *p++;
        v |= (uint64_t)(c & 0x7f) << shift;
        if (c < 0x80) {
            *ret = v;
            return p;
        }
    }
    return NULL;
}

// Eight bytes at a time: the inverted top bits, summed by a multiplication.
size_t fk_varint_count(const uint8_t *p, size_t n)
{
    size_t count = 0;
    for (; n >= 8; p += 8, n -= 8) {
        uint64_t ends = (~fk_load64(p) >> 7) & 0x0101010101010101u;
        count += (size_t)((ends * 0x0101010101010101u) >> 56);
    }
    for (; n; p++, n--)
        count += *p < 0x80;
    return count;
}

uint8_t *fk_varint_write_slow_(uint8_t *to, uint64_t v)
{
    while (v >= 0x80) {
        *to++ = (uint8_t)(v | 0x80);
        v >>= 7;
    }
    *to++ = (uint8_t)v;
    return to;
}

void fk_buf_varint(struct fk_buf *b, uint64_t v)
{
    char *to = fk_buf_reserve(b, fk_varint_size(v));
    if (to)
        b->n += (size_t)(fk_varint_write((uint8_t *)to, v) - (uint8_t *)to);
}

void fk_buf_sized(struct fk_buf *b, struct fk_str s)
{
    fk_buf_varint(b, s.n);
    fk_buf_str(b, s);
}

int fk_cur_le32(struct fk_cur *c, uint32_t *ret)
{
    if (fk_cur_left(c) < 4)
        return -FK_E_FORMAT;
    *ret = fk_load32(c->p);
    c->p += 4;
    return 0;
}

int fk_cur_le64(struct fk_cur *c, uint64_t *ret)
{
    if (fk_cur_left(c) < 8)
        return -FK_E_FORMAT;
    *ret = fk_load64(c->p);
    c->p += 8;
    return 0;
}

uint64_t fk_checksum(const void *p, size_t n)
{
    return XXH3_64bits(n ? p : "", n);
}
