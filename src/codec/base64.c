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

int fk_base64_decode(struct fk_str s, struct fk_arena *a, struct fk_str *ret)
{
    while (s.n && s.p[s.n - 1] == '=')
        s.n--;
    char *to = fk_arena_alloc(a, s.n / 4 * 3 + 3);
    size_t n = 0;
    uint32_t bits = 0, have = 0;
    if (!to)
        return -FK_E_NOMEM;
    for (size_t i = 0; i < s.n; i++) {
        int d = digit(s.p[i]);
        if (d < 0)
            return -FK_E_FORMAT;
        bits = bits << 6 | (uint32_t)d;
        have += 6;
        if (have >= 8) {
            have -= 8;
            to[n++] = (char)(bits >> have & 0xff);
        }
    }
    *ret = fk_str_make(to, n);
    return have == 6 ? -FK_E_FORMAT : 0;
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
