// SPDX-License-Identifier: Apache-2.0
// Checked arithmetic and the few macros everybody needs.
#ifndef FK_BASE_CHECK_H
#define FK_BASE_CHECK_H

#include <assert.h>
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FK_COUNTOF(a)      (sizeof(a) / sizeof((a)[0]))
#define FK_MIN(a, b)       ((a) < (b) ? (a) : (b))
#define FK_MAX(a, b)       ((a) > (b) ? (a) : (b))
#define FK_PRINTF(fmt, at) __attribute__((format(printf, fmt, at)))
#define FK_MUST_USE        __attribute__((warn_unused_result))
#define FK_LIKELY(x)       __builtin_expect(!!(x), 1)
#define FK_UNLIKELY(x)     __builtin_expect(!!(x), 0)

__extension__ typedef __int128 fk_i128; // for products before a division
__extension__ typedef unsigned __int128 fk_u128;

// *ret = a op b; true when the result does not fit (ret is then unspecified).
static inline bool fk_add_size(size_t a, size_t b, size_t *ret)
{
    return __builtin_add_overflow(a, b, ret);
}

static inline bool fk_mul_size(size_t a, size_t b, size_t *ret)
{
    return __builtin_mul_overflow(a, b, ret);
}

// True when [offset, offset+length) lies within [0, size).
static inline bool fk_in_range(uint64_t offset, uint64_t length, uint64_t size)
{
    return offset <= size && length <= size - offset;
}

// Sums of sample values wrap modulo 2^64, as the sums of pprof's own tools do; signed overflow
// would be undefined.
static inline int64_t fk_wrap_add(int64_t a, int64_t b)
{
    return (int64_t)((uint64_t)a + (uint64_t)b);
}

static inline int64_t fk_wrap_sub(int64_t a, int64_t b)
{
    return (int64_t)((uint64_t)a - (uint64_t)b);
}

#endif
