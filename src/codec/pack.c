// SPDX-License-Identifier: Apache-2.0
// Integer packing: blocks, differences and exceptions. The kernels that move bits are in bits.c.
#include "codec/pack.h"

#include "codec/bits_int.h"

// ---- u32
// -----------------------------------------------------------------------------------------------------------

static unsigned width_u32(const uint32_t *v, size_t n)
{
    uint32_t any = 0;
    for (size_t i = 0; i < n; i++)
        any |= v[i];
    return fk_bit_width(any);
}

static void put_u32(struct fk_buf *b, const uint32_t *v, size_t n)
{
    unsigned w = width_u32(v, n);
    size_t bytes = fk_bits_bytes(n, w);
    uint8_t *to = (uint8_t *)fk_buf_reserve(b, 1 + bytes);
    if (!to)
        return;
    *to = (uint8_t)w;
    fk_bits_put32(to + 1, v, n, w);
    b->n += 1 + bytes;
}

static int get_u32(struct fk_cur *c, uint32_t *out, size_t n)
{
    if (c->p >= c->end || *c->p > 32)
        return -FK_E_CORRUPT;
    unsigned w = *c->p++;
    size_t bytes = fk_bits_bytes(n, w);
    if (bytes > fk_cur_left(c))
        return -FK_E_CORRUPT;
    fk_bits_get32(c->p, out, n, w);
    c->p += bytes;
    return 0;
}

void fk_pack_u32(struct fk_buf *b, const uint32_t *v, size_t n)
{
    for (size_t at = 0; at < n; at += FK_PACK_BLOCK)
        put_u32(b, v + at, FK_MIN(n - at, (size_t)FK_PACK_BLOCK));
}

int fk_unpack_u32(struct fk_cur *c, uint32_t *out, size_t n)
{
    for (size_t at = 0; at < n; at += FK_PACK_BLOCK)
        if (get_u32(c, out + at, FK_MIN(n - at, (size_t)FK_PACK_BLOCK)))
            return -FK_E_CORRUPT;
    return 0;
}

size_t fk_pack_u32_size(const uint32_t *v, size_t n)
{
    size_t bytes = 0;
    for (size_t at = 0; at < n; at += FK_PACK_BLOCK) {
        size_t k = FK_MIN(n - at, (size_t)FK_PACK_BLOCK);
        bytes += 1 + fk_bits_bytes(k, width_u32(v + at, k));
    }
    return bytes;
}

// ---- ascending
// -----------------------------------------------------------------------------------------------------

// The differences of one block; returns how many values it has.
static size_t differences(const uint32_t *v, size_t n, size_t at, uint32_t *ret)
{
    size_t k = FK_MIN(n - at, (size_t)FK_PACK_BLOCK);
    ret[0] = at ? v[at] - v[at - 1] : v[0];
    for (size_t i = 1; i < k; i++)
        ret[i] = v[at + i] - v[at + i - 1];
    return k;
}

void fk_pack_ascending(struct fk_buf *b, const uint32_t *v, size_t n)
{
    uint32_t d[FK_PACK_BLOCK];
    for (size_t at = 0; at < n; at += FK_PACK_BLOCK) {
        size_t k = differences(v, n, at, d);
        put_u32(b, d, k);
    }
}

// The running sum is kept in 64 bits: one check a block finds a sum beyond 32.
int fk_unpack_ascending(struct fk_cur *c, uint32_t *out, size_t n)
{
    uint64_t sum = 0;
    for (size_t at = 0; at < n; at += FK_PACK_BLOCK) {
        size_t k = FK_MIN(n - at, (size_t)FK_PACK_BLOCK);
        if (get_u32(c, out + at, k))
            return -FK_E_CORRUPT;
        for (size_t i = at; i < at + k; i++) {
            sum += out[i];
            out[i] = (uint32_t)sum;
        }
        if (sum > UINT32_MAX)
            return -FK_E_CORRUPT;
    }
    return 0;
}

size_t fk_pack_ascending_size(const uint32_t *v, size_t n)
{
    uint32_t d[FK_PACK_BLOCK];
    size_t bytes = 0;
    for (size_t at = 0; at < n; at += FK_PACK_BLOCK) {
        size_t k = differences(v, n, at, d);
        bytes += 1 + fk_bits_bytes(k, width_u32(d, k));
    }
    return bytes;
}

// ---- u64, patched
// --------------------------------------------------------------------------------------------------

struct plan {
    unsigned width, extra; // of the low parts, of the high parts
    size_t exceptions, bytes;
};

// The width with which a block is smallest: exceptions cost a position and a high part each.
static struct plan plan_u64(const uint64_t *v, size_t n)
{
    uint8_t of_width[65] = {0};
    unsigned top = 0;
    for (size_t i = 0; i < n; i++)
        of_width[fk_bit_width(v[i])]++;
    for (unsigned w = 0; w <= 64; w++)
        if (of_width[w])
            top = w;
    struct plan best = {top, 0, 0, 2 + fk_bits_bytes(n, top)};
    size_t beyond = 0;
    for (unsigned w = top; w-- > 0;) {
        beyond += of_width[w + 1];
        size_t bytes = 3 + fk_bits_bytes(n, w) + beyond + fk_bits_bytes(beyond, top - w);
        if (bytes < best.bytes)
            best = (struct plan){w, top - w, beyond, bytes};
    }
    return best;
}

static uint8_t *put_exceptions(uint8_t *to, const uint64_t *v, size_t n, const struct plan *p)
{
    uint64_t high[FK_PACK_BLOCK];
    size_t e = 0;
    *to++ = (uint8_t)p->extra;
    uint8_t *position = to + fk_bits_bytes(n, p->width);
    for (size_t i = 0; i < n; i++)
        if (v[i] >> p->width) {
            position[e] = (uint8_t)i;
            high[e++] = v[i] >> p->width;
        }
    fk_bits_put_string(position + e, high, e, p->extra);
    return to;
}

static void put_u64(struct fk_buf *b, const uint64_t *v, size_t n)
{
    struct plan p = plan_u64(v, n);
    uint8_t *to = (uint8_t *)fk_buf_reserve(b, p.bytes);
    if (!to)
        return;
    *to++ = (uint8_t)p.width;
    *to++ = (uint8_t)p.exceptions;
    if (p.exceptions)
        to = put_exceptions(to, v, n, &p);
    fk_bits_put64(to, v, n, p.width);
    b->n += p.bytes;
}

static int get_exceptions(struct fk_cur *c, uint64_t *out, size_t n, unsigned w, size_t e,
                          unsigned extra)
{
    uint64_t high[FK_PACK_BLOCK];
    size_t bytes = fk_bits_bytes(e, extra);
    if (e > n || e + bytes > fk_cur_left(c))
        return -FK_E_CORRUPT;
    const uint8_t *position = c->p;
    fk_bits_get_string(c->p + e, high, e, extra);
    c->p += e + bytes;
    for (size_t i = 0; i < e; i++) {
        if (position[i] >= n)
            return -FK_E_CORRUPT;
        out[position[i]] |= high[i] << w;
    }
    return 0;
}

static int get_u64(struct fk_cur *c, uint64_t *out, size_t n)
{
    if (fk_cur_left(c) < 2)
        return -FK_E_CORRUPT;
    unsigned w = c->p[0], extra = 0;
    size_t e = c->p[1];
    c->p += 2;
    if (e) {
        if (c->p >= c->end)
            return -FK_E_CORRUPT;
        extra = *c->p++;
        if (extra == 0)
            return -FK_E_CORRUPT;
    }
    if (w + extra > 64)
        return -FK_E_CORRUPT;
    size_t bytes = fk_bits_bytes(n, w);
    if (bytes > fk_cur_left(c))
        return -FK_E_CORRUPT;
    fk_bits_get64(c->p, out, n, w);
    c->p += bytes;
    return e ? get_exceptions(c, out, n, w, e, extra) : 0;
}

void fk_pack_u64(struct fk_buf *b, const uint64_t *v, size_t n)
{
    for (size_t at = 0; at < n; at += FK_PACK_BLOCK)
        put_u64(b, v + at, FK_MIN(n - at, (size_t)FK_PACK_BLOCK));
}

int fk_unpack_u64(struct fk_cur *c, uint64_t *out, size_t n)
{
    for (size_t at = 0; at < n; at += FK_PACK_BLOCK)
        if (get_u64(c, out + at, FK_MIN(n - at, (size_t)FK_PACK_BLOCK)))
            return -FK_E_CORRUPT;
    return 0;
}

size_t fk_pack_u64_size(const uint64_t *v, size_t n)
{
    size_t bytes = 0;
    for (size_t at = 0; at < n; at += FK_PACK_BLOCK)
        bytes += plan_u64(v + at, FK_MIN(n - at, (size_t)FK_PACK_BLOCK)).bytes;
    return bytes;
}
