// SPDX-License-Identifier: Apache-2.0
// Bit sets over u64 words, and little-endian loads.
#ifndef FK_BASE_BITS_H
#define FK_BASE_BITS_H

#include "base/check.h"

#include <string.h>

static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
              "the file formats are little-endian; big-endian hosts need swaps");

static inline size_t fk_bits_words(size_t bits)
{
    return bits / 64 + (bits % 64 != 0);
}

static inline bool fk_bits_get(const uint64_t *set, size_t i)
{
    return set[i / 64] >> (i % 64) & 1;
}

static inline void fk_bits_set(uint64_t *set, size_t i)
{
    set[i / 64] |= (uint64_t)1 << (i % 64);
}

static inline uint16_t fk_load16(const void *p)
{
    uint16_t v;
    memcpy(&v, p, sizeof(v));
    return v;
}

static inline uint32_t fk_load32(const void *p)
{
    uint32_t v;
    memcpy(&v, p, sizeof(v));
    return v;
}

static inline uint64_t fk_load64(const void *p)
{
    uint64_t v;
    memcpy(&v, p, sizeof(v));
    return v;
}

// Bits needed to write v: 0 for 0, 64 for values from 2^63.
static inline unsigned fk_bit_width(uint64_t v)
{
    return v ? 64u - (unsigned)__builtin_clzll(v) : 0;
}

#endif
