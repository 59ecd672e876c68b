// SPDX-License-Identifier: Apache-2.0
// Kernels of the integer packing, for pack.c only: at most 128 values at one width. Callers have
// checked that fk_bits_bytes(n, w) bytes are there.
#ifndef FK_CODEC_BITS_INT_H
#define FK_CODEC_BITS_INT_H

#include "codec/pack.h"

static inline size_t fk_bits_bytes(size_t n, unsigned w)
{
    return (n * w + 7) / 8;
}

// One bit string; w <= 64, n <= 128. `put` keeps the low w bits of each value.
void fk_bits_put_string(uint8_t *to, const uint64_t *v, size_t n, unsigned w);
void fk_bits_get_string(const uint8_t *p, uint64_t *out, size_t n, unsigned w);
// Full blocks in lanes (w <= 32), others as a bit string.
void fk_bits_put32(uint8_t *to, const uint32_t *v, size_t n, unsigned w);
void fk_bits_get32(const uint8_t *p, uint32_t *out, size_t n, unsigned w);
void fk_bits_put64(uint8_t *to, const uint64_t *v, size_t n, unsigned w);
void fk_bits_get64(const uint8_t *p, uint64_t *out, size_t n, unsigned w);

#endif
