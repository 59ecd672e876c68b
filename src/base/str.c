// SPDX-License-Identifier: Apache-2.0
// Operations on string views.
#include "base/str.h"

#include "base/err.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

int fk_str_cmp(struct fk_str a, struct fk_str b)
{
    size_t n = FK_MIN(a.n, b.n);
    int order = n ? memcmp(a.p, b.p, n) : 0;
    if (order)
        return order;
    return a.n < b.n ? -1 : a.n > b.n;
}

bool fk_str_starts(struct fk_str s, struct fk_str prefix)
{
    return s.n >= prefix.n && fk_str_eq(fk_str_head(s, prefix.n), prefix);
}

bool fk_str_ends(struct fk_str s, struct fk_str suffix)
{
    return s.n >= suffix.n && fk_str_eq(fk_str_from(s, s.n - suffix.n), suffix);
}

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

bool fk_str_eq_nocase(struct fk_str a, struct fk_str b)
{
    if (a.n != b.n)
        return false;
    for (size_t i = 0; i < a.n; i++)
        if (lower(a.p[i]) != lower(b.p[i]))
            return false;
    return true;
}

ptrdiff_t fk_str_chr(struct fk_str s, char c)
{
    const char *at = s.n ? memchr(s.p, c, s.n) : NULL;
    return at ? at - s.p : -1;
}

ptrdiff_t fk_str_rchr(struct fk_str s, char c)
{
    const char *at = s.n ? memrchr(s.p, c, s.n) : NULL;
    return at ? at - s.p : -1;
}

ptrdiff_t fk_str_find(struct fk_str s, struct fk_str needle)
{
    if (needle.n == 0)
        return 0;
    const char *at = s.n ? memmem(s.p, s.n, needle.p, needle.n) : NULL;
    return at ? at - s.p : -1;
}

static bool is_blank(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

struct fk_str fk_str_trim(struct fk_str s)
{
    while (s.n && is_blank(s.p[0]))
        s = fk_str_from(s, 1);
    while (s.n && is_blank(s.p[s.n - 1]))
        s.n--;
    return s;
}

bool fk_str_split(struct fk_str *rest, char sep, struct fk_str *ret_part)
{
    if (!rest->p)
        return false;
    ptrdiff_t at = fk_str_chr(*rest, sep);
    if (at < 0) {
        *ret_part = *rest;
        *rest = (struct fk_str){NULL, 0};
        return true;
    }
    *ret_part = fk_str_head(*rest, (size_t)at);
    *rest = fk_str_make(rest->p + at + 1, rest->n - (size_t)at - 1);
    return true;
}

int fk_str_to_u64(struct fk_str s, uint64_t *ret)
{
    uint64_t value = 0;
    if (s.n == 0)
        return -FK_E_FORMAT;
    for (size_t i = 0; i < s.n; i++) {
        if (s.p[i] < '0' || s.p[i] > '9')
            return -FK_E_FORMAT;
        if (__builtin_mul_overflow(value, (uint64_t)10, &value) ||
            __builtin_add_overflow(value, (uint64_t)(s.p[i] - '0'), &value))
            return -FK_E_FORMAT;
    }
    *ret = value;
    return 0;
}

int fk_str_to_i64(struct fk_str s, int64_t *ret)
{
    bool negative = s.n && s.p[0] == '-';
    uint64_t value;
    if (fk_str_to_u64(negative ? fk_str_from(s, 1) : s, &value))
        return -FK_E_FORMAT;
    if (value > (uint64_t)INT64_MAX + negative)
        return -FK_E_FORMAT;
    *ret = negative ? (int64_t)(0 - value) : (int64_t)value;
    return 0;
}

// Length of the valid sequence at p (n bytes left), 0 when invalid. Table 3-7 of the Unicode
// standard (15.0).
static size_t utf8_sequence(const uint8_t *p, size_t n)
{
    uint8_t low = 0x80, high = 0xbf;
    size_t need = p[0] < 0x80                    ? 1
                  : p[0] >= 0xc2 && p[0] <= 0xdf ? 2
                  : (p[0] & 0xf0) == 0xe0        ? 3
                                                 : 0;
    if (p[0] >= 0xf0 && p[0] <= 0xf4)
        need = 4;
    if (need == 0 || need > n)
        return 0;
    if (p[0] == 0xe0)
        low = 0xa0;
    else if (p[0] == 0xed)
        high = 0x9f;
    else if (p[0] == 0xf0)
        low = 0x90;
    else if (p[0] == 0xf4)
        high = 0x8f;
    for (size_t i = 1; i < need; i++) {
        if (p[i] < low || p[i] > high)
            return 0;
        low = 0x80;
        high = 0xbf;
    }
    return need;
}

bool fk_str_is_hex(struct fk_str s)
{
    bool good = true;
    for (size_t i = 0; good && i < s.n; i++)
        good = (s.p[i] >= '0' && s.p[i] <= '9') || (s.p[i] >= 'a' && s.p[i] <= 'f') ||
               (s.p[i] >= 'A' && s.p[i] <= 'F');
    return good;
}

bool fk_str_is_utf8(struct fk_str s)
{
    size_t i = 0;
    while (i < s.n) {
        size_t n = utf8_sequence((const uint8_t *)s.p + i, s.n - i);
        if (n == 0)
            return false;
        i += n;
    }
    return true;
}

uint64_t fk_hash_bytes(const void *p, size_t n)
{
    return XXH3_64bits(n ? p : "", n);
}
