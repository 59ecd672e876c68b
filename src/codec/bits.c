// SPDX-License-Identifier: Apache-2.0
// Moving bits. Full blocks of at most 32 bits use four lanes in vector registers (GCC's vector
// extension: SSE2, NEON), unrolled for each width; everything else is one bit string.
#include "codec/bits_int.h"

#define FULL       FK_PACK_BLOCK
#define MAX_STRING (FULL * 8) // bytes of 128 values at 64 bits

typedef uint32_t v4 __attribute__((vector_size(16)));

// ---- bit strings
// ---------------------------------------------------------------------------------------------------

// A padded copy lets each value be one unaligned load, whatever lies behind the input.
void fk_bits_get_string(const uint8_t *p, uint64_t *out, size_t n, unsigned w)
{
    uint8_t padded[MAX_STRING + 16];
    size_t bytes = fk_bits_bytes(n, w);
    uint64_t mask = w == 64 ? UINT64_MAX : ((uint64_t)1 << w) - 1;
    memcpy(padded, p, bytes);
    memset(padded + bytes, 0, 16);
    for (size_t i = 0, bit = 0; i < n; i++, bit += w) {
        const uint8_t *at = padded + bit / 8;
        unsigned shift = bit % 8;
        uint64_t v = fk_load64(at) >> shift;
        if (shift + w > 64)
            v |= (uint64_t)at[8] << (64 - shift);
        out[i] = v & mask;
    }
}

void fk_bits_put_string(uint8_t *to, const uint64_t *v, size_t n, unsigned w)
{
    uint64_t mask = w == 64 ? UINT64_MAX : ((uint64_t)1 << w) - 1;
    fk_u128 acc = 0;
    unsigned have = 0;
    for (size_t i = 0; i < n; i++) {
        acc |= (fk_u128)(v[i] & mask) << have;
        for (have += w; have >= 8; have -= 8) {
            *to++ = (uint8_t)acc;
            acc >>= 8;
        }
    }
    if (have)
        *to = (uint8_t)acc;
}

// ---- lanes
// ---------------------------------------------------------------------------------------------------------

static inline v4 lanes_load(const void *p)
{
    v4 v;
    memcpy(&v, p, sizeof(v));
    return v;
}

static inline void lanes_store(void *p, v4 v)
{
    memcpy(p, &v, sizeof(v));
}

static void lanes_put(uint8_t *to, const uint32_t *v, unsigned w)
{
    v4 acc = {0};
    unsigned bit = 0;
    for (size_t i = 0; w && i < FULL; i += 4) {
        v4 x = lanes_load(v + i);
        acc |= x << bit;
        bit += w;
        if (bit < 32)
            continue;
        lanes_store(to, acc);
        to += 16;
        bit -= 32;
        acc = bit ? x >> (w - bit) : (v4){0};
    }
}

// With a constant w all conditions go away.
__attribute__((always_inline)) static inline void lanes_get(const uint8_t *p, uint32_t *out,
                                                            unsigned w)
{
    const uint32_t ones = w == 32 ? UINT32_MAX : ((uint32_t)1 << w) - 1;
    const v4 mask = {ones, ones, ones, ones};
    v4 word = lanes_load(p);
    unsigned bit = 0, words = 1;
#pragma GCC unroll 32
    for (unsigned g = 0; g < FULL / 4; g++) {
        v4 v = word >> bit;
        bit += w;
        if (bit >= 32) {
            bit -= 32;
            if (words < w) {
                word = lanes_load(p + 16 * (size_t)words++);
                if (bit)
                    v |= word << (w - bit);
            }
        }
        lanes_store(out + 4 * (size_t)g, v & mask);
    }
}

#define W8(X)     X(1) X(2) X(3) X(4) X(5) X(6) X(7) X(8)
#define W16(X)    X(9) X(10) X(11) X(12) X(13) X(14) X(15) X(16)
#define W24(X)    X(17) X(18) X(19) X(20) X(21) X(22) X(23) X(24)
#define W32(X)    X(25) X(26) X(27) X(28) X(29) X(30) X(31) X(32)
#define WIDTHS(X) W8(X) W16(X) W24(X) W32(X)

#define KERNEL(w)                                                                                  \
    static void lanes_get_##w(const uint8_t *p, uint32_t *out)                                     \
    {                                                                                              \
        lanes_get(p, out, w);                                                                      \
    }
WIDTHS(KERNEL)

static void lanes_get_0(const uint8_t *p, uint32_t *out)
{
    (void)p;
    memset(out, 0, FULL * sizeof(*out));
}

#define ENTRY(w) [w] = lanes_get_##w,
static void (*const lanes_kernel[33])(const uint8_t *, uint32_t *) = {[0] = lanes_get_0,
                                                                      WIDTHS(ENTRY)};

// ---- blocks
// --------------------------------------------------------------------------------------------------------

void fk_bits_put32(uint8_t *to, const uint32_t *v, size_t n, unsigned w)
{
    uint64_t wide[FULL];
    if (n == FULL) {
        lanes_put(to, v, w);
        return;
    }
    for (size_t i = 0; i < n; i++)
        wide[i] = v[i];
    fk_bits_put_string(to, wide, n, w);
}

void fk_bits_get32(const uint8_t *p, uint32_t *out, size_t n, unsigned w)
{
    uint64_t wide[FULL];
    if (n == FULL) {
        lanes_kernel[w](p, out);
        return;
    }
    fk_bits_get_string(p, wide, n, w);
    for (size_t i = 0; i < n; i++)
        out[i] = (uint32_t)wide[i];
}

void fk_bits_put64(uint8_t *to, const uint64_t *v, size_t n, unsigned w)
{
    uint32_t narrow[FULL];
    if (n != FULL || w > 32) {
        fk_bits_put_string(to, v, n, w);
        return;
    }
    uint32_t mask = w == 32 ? UINT32_MAX : ((uint32_t)1 << w) - 1;
    for (size_t i = 0; i < FULL; i++)
        narrow[i] = (uint32_t)v[i] & mask;
    lanes_put(to, narrow, w);
}

void fk_bits_get64(const uint8_t *p, uint64_t *out, size_t n, unsigned w)
{
    uint32_t narrow[FULL];
    if (n != FULL || w > 32) {
        fk_bits_get_string(p, out, n, w);
        return;
    }
    lanes_kernel[w](p, narrow);
    for (size_t i = 0; i < FULL; i++)
        out[i] = narrow[i];
}
