// SPDX-License-Identifier: Apache-2.0
// Base64 (RFC 4648 §4, §5).
#include "codec/base64.h"

static int digit(char c)
{
    if (c >= 'A' && c <= 'Z')
        return c - 'A';
    if (c >= 'a' && c <= 'z')
        return c - 'a' + 26;
    if (c >= '0' && c <= '9')
        return c - '0' + 52;
    return c == '+' || c == '-' ? 62 : c == '/' || c == '_' ? 63 : -1;
}

static struct fk_str unpadded(struct fk_str s)
{
    while (s.n && s.p[s.n - 1] == '=')
        s.n--;
    return s;
}

static size_t size_of(struct fk_str s)
{
    return s.n / 4 * 3 + s.n % 4 * 3 / 4;
}

// Without padding; `to` has size_of(s) bytes.
static int decode(struct fk_str s, char *to)
{
    uint32_t bits = 0, have = 0;
    if (s.n % 4 == 1)
        return -FK_E_FORMAT;
    for (size_t i = 0; i < s.n; i++) {
        int d = digit(s.p[i]);
        if (d < 0)
            return -FK_E_FORMAT;
        bits = bits << 6 | (uint32_t)d;
        have += 6;
        if (have >= 8) {
            have -= 8;
            *to++ = (char)(bits >> have & 0xff);
        }
    }
    return 0;
}

int fk_base64_decode(struct fk_str s, struct fk_arena *a, struct fk_str *ret)
{
    s = unpadded(s);
    char *to = fk_arena_alloc(a, size_of(s));
    if (!to)
        return -FK_E_NOMEM;
    *ret = fk_str_make(to, size_of(s));
    return decode(s, to);
}

int fk_base64_read(struct fk_buf *b, struct fk_str s)
{
    s = unpadded(s);
    char *to = fk_buf_reserve(b, size_of(s));
    if (!to)
        return 0;
    int r = decode(s, to);
    if (r == 0)
        b->n += size_of(s);
    return r;
}

void fk_base64_put(struct fk_buf *b, struct fk_str s)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (size_t i = 0; i < s.n; i += 3) {
        uint32_t n = (uint32_t)(uint8_t)s.p[i] << 16;
        if (i + 1 < s.n)
            n |= (uint32_t)(uint8_t)s.p[i + 1] << 8;
        if (i + 2 < s.n)
            n |= (uint8_t)s.p[i + 2];
        fk_buf_byte(b, (uint8_t)digits[n >> 18]);
        fk_buf_byte(b, (uint8_t)digits[n >> 12 & 63]);
        fk_buf_byte(b, (uint8_t)(i + 1 < s.n ? digits[n >> 6 & 63] : '='));
        fk_buf_byte(b, (uint8_t)(i + 2 < s.n ? digits[n & 63] : '='));
    }
}
