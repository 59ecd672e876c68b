// SPDX-License-Identifier: Apache-2.0
// The growing buffer.
#include "base/buf.h"

#include "base/mem.h"

#include <stdarg.h>
#include <stdio.h>

void fk_buf_init(struct fk_buf *b, size_t max)
{
    *b = (struct fk_buf){.max = max ? max : SIZE_MAX};
}

void fk_buf_free(struct fk_buf *b)
{
    fk_free(b->p);
    fk_buf_init(b, b->max);
}

void fk_buf_clear(struct fk_buf *b)
{
    b->n = 0;
    b->failed = 0;
}

static char *poison(struct fk_buf *b, enum fk_error code)
{
    if (!b->failed)
        b->failed = (int)code;
    return NULL;
}

char *fk_buf_reserve(struct fk_buf *b, size_t n)
{
    size_t need;
    if (b->failed)
        return NULL;
    if (fk_add_size(b->n, n, &need) || need > b->max)
        return poison(b, FK_E_LIMIT);
    if (need > b->cap) {
        size_t cap = FK_MAX(need, b->cap < SIZE_MAX / 2 ? b->cap * 2 : need);
        cap = FK_MIN(FK_MAX(cap, (size_t)64), b->max);
        char *p = fk_realloc(b->p, cap);
        if (!p)
            return poison(b, FK_E_NOMEM);
        b->p = p;
        b->cap = cap;
    }
    return b->p + b->n;
}

void fk_buf_put(struct fk_buf *b, const void *p, size_t n)
{
    char *to = n ? fk_buf_reserve(b, n) : NULL;
    if (to) {
        memcpy(to, p, n);
        b->n += n;
    }
}

void fk_buf_str(struct fk_buf *b, struct fk_str s)
{
    fk_buf_put(b, s.p, s.n);
}

void fk_buf_cstr(struct fk_buf *b, const char *s)
{
    fk_buf_put(b, s, strlen(s));
}

void fk_buf_byte(struct fk_buf *b, uint8_t c)
{
    char *to = fk_buf_reserve(b, 1);
    if (to) {
        *to = (char)c;
        b->n++;
    }
}

void fk_buf_fill(struct fk_buf *b, uint8_t c, size_t n)
{
    char *to = n ? fk_buf_reserve(b, n) : NULL;
    if (to) {
        memset(to, c, n);
        b->n += n;
    }
}

void fk_buf_printf(struct fk_buf *b, const char *fmt, ...)
{
    va_list ap, again;
    va_start(ap, fmt);
    va_copy(again, ap);
    int n = vsnprintf(NULL, 0, fmt, ap);
    va_end(ap);
    char *to = n < 0 ? NULL : fk_buf_reserve(b, (size_t)n + 1);
    if (to) {
        vsnprintf(to, (size_t)n + 1, fmt, again);
        b->n += (size_t)n;
    }
    va_end(again);
}

void fk_buf_u64(struct fk_buf *b, uint64_t v)
{
    char digits[20];
    size_t at = sizeof(digits);
    do
        digits[--at] = (char)('0' + v % 10);
    while (v /= 10);
    fk_buf_put(b, digits + at, sizeof(digits) - at);
}

void fk_buf_i64(struct fk_buf *b, int64_t v)
{
    if (v < 0)
        fk_buf_byte(b, '-');
    fk_buf_u64(b, v < 0 ? 0 - (uint64_t)v : (uint64_t)v);
}

static void put_le(struct fk_buf *b, uint64_t v, size_t bytes)
{
    uint8_t le[8];
    for (size_t i = 0; i < bytes; i++)
        le[i] = (uint8_t)(v >> (8 * i));
    fk_buf_put(b, le, bytes);
}

void fk_buf_le16(struct fk_buf *b, uint16_t v)
{
    put_le(b, v, 2);
}

void fk_buf_le32(struct fk_buf *b, uint32_t v)
{
    put_le(b, v, 4);
}

void fk_buf_le64(struct fk_buf *b, uint64_t v)
{
    put_le(b, v, 8);
}

int fk_buf_check(const struct fk_buf *b, const char *what, struct fk_err *err)
{
    if (!b->failed)
        return 0;
    if (b->failed == FK_E_LIMIT)
        return fk_fail_limit(err, what, b->max, NULL, "%s grows too large", what);
    return fk_fail_nomem(err);
}

char *fk_buf_take(struct fk_buf *b, size_t *ret_n)
{
    char *p = b->p;
    *ret_n = b->n;
    fk_buf_init(b, b->max);
    return p;
}
