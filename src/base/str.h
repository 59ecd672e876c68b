// SPDX-License-Identifier: Apache-2.0
// A string view: borrowed bytes, any content, never relying on a final NUL. Passed by value.
#ifndef FK_BASE_STR_H
#define FK_BASE_STR_H

#include "base/check.h"

#include <string.h>

struct fk_str {
    const char *p; // may be NULL when n is 0
    size_t n;
};

#define FK_S(lit)     ((struct fk_str){"" lit, sizeof(lit) - 1})
#define FK_STR_ARG(s) ((int)FK_MIN((s).n, (size_t)INT_MAX)), ((s).p ? (s).p : "") // for "%.*s"

static inline struct fk_str fk_str_of(const char *cstr)
{
    return (struct fk_str){cstr, cstr ? strlen(cstr) : 0};
}

static inline struct fk_str fk_str_make(const void *p, size_t n)
{
    return (struct fk_str){(const char *)p, n};
}

static inline bool fk_str_eq(struct fk_str a, struct fk_str b)
{
    return a.n == b.n && (a.n == 0 || memcmp(a.p, b.p, a.n) == 0);
}

static inline struct fk_str fk_str_from(struct fk_str s, size_t at)
{
    at = FK_MIN(at, s.n);
    return (struct fk_str){at ? s.p + at : s.p, s.n - at};
}

static inline struct fk_str fk_str_head(struct fk_str s, size_t n)
{
    return (struct fk_str){s.p, FK_MIN(n, s.n)};
}

// Byte order, shorter first among equal prefixes: <0, 0, >0.
int fk_str_cmp(struct fk_str a, struct fk_str b);
bool fk_str_starts(struct fk_str s, struct fk_str prefix);
bool fk_str_ends(struct fk_str s, struct fk_str suffix);
bool fk_str_eq_nocase(struct fk_str a, struct fk_str b); // ASCII only
// Index of the first/last byte c, or -1.
ptrdiff_t fk_str_chr(struct fk_str s, char c);
ptrdiff_t fk_str_rchr(struct fk_str s, char c);
// Index of the first occurrence of needle, or -1. An empty needle is found at 0.
ptrdiff_t fk_str_find(struct fk_str s, struct fk_str needle);
// Without ASCII white space at both ends.
struct fk_str fk_str_trim(struct fk_str s);
// Cuts the part before the first `sep` off *rest into *ret_part; false when nothing is left. "a,,b"
// gives "a", "", "b". Start with *rest = the whole; after the last part rest->p is NULL.
bool fk_str_split(struct fk_str *rest, char sep, struct fk_str *ret_part);
// Decimal integers, the whole view, no blanks; 0 or -FK_E_FORMAT (also when out of range).
int fk_str_to_u64(struct fk_str s, uint64_t *ret);
int fk_str_to_i64(struct fk_str s, int64_t *ret);
// Hex digits only, of either case; an empty one is.
bool fk_str_is_hex(struct fk_str s);
// Valid UTF-8 (no surrogates, no overlong forms, at most U+10FFFF).
bool fk_str_is_utf8(struct fk_str s);
// 64-bit hash of the bytes (XXH3 with a seed per process is not needed here: tables bound their
// probes by growing).
uint64_t fk_hash_bytes(const void *p, size_t n);

static inline uint64_t fk_hash_str(struct fk_str s)
{
    return fk_hash_bytes(s.p, s.n);
}

// A good mix of one word; for keys that are numbers.
static inline uint64_t fk_hash_u64(uint64_t x)
{
    x ^= x >> 32;
    x *= 0x9e3779b97f4a7c15u;
    x ^= x >> 29;
    x *= 0xbf58476d1ce4e5b9u;
    return x ^ (x >> 32);
}

#endif
