// SPDX-License-Identifier: Apache-2.0
// Cursors as opaque text: nine words and a flag in hexadecimal, with a check sum so that a mangled
// one is refused in plain words.
#include "query/cursor_int.h"

#include <stdio.h>

#define WORDS 10
#define LAST  (WORDS - 1)

struct fk_str fk_cursor_put(struct fk_arena *a, const struct fk_cursor *c)
{
    uint64_t w[WORDS] = {c->hash,      c->tenants,   (uint64_t)c->from_ns, (uint64_t)c->until_ns,
                         c->max_id.hi, c->max_id.lo, (uint64_t)c->key,     c->id.hi,
                         c->id.lo};
    w[LAST] = (fk_hash_bytes(w, LAST * sizeof(*w)) & ~(uint64_t)1) | c->backward;
    char text[WORDS * 16 + 1];
    for (size_t i = 0; i < WORDS; i++)
        snprintf(text + i * 16, 17, "%016llx", (unsigned long long)w[i]);
    return fk_arena_str(a, fk_str_of(text));
}

static bool word_at(const char *p, uint64_t *ret)
{
    uint64_t v = 0;
    for (int i = 0; i < 16; i++) {
        char c = p[i];
        int digit = c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
        if (digit < 0)
            return false;
        v = v << 4 | (uint64_t)digit;
    }
    *ret = v;
    return true;
}

int fk_cursor_read(struct fk_str text, struct fk_cursor *ret, struct fk_err *err)
{
    uint64_t w[WORDS];
    bool good = text.n == WORDS * 16;
    for (size_t i = 0; good && i < WORDS; i++)
        good = word_at(text.p + i * 16, &w[i]);
    if (!good || (fk_hash_bytes(w, LAST * sizeof(*w)) & ~(uint64_t)1) != (w[LAST] & ~(uint64_t)1))
        return fk_fail_param(
            err, "cursor",
            "the cursor is not one that this server gave out; start again without cursor=");
    *ret = (struct fk_cursor){.hash = w[0],
                              .tenants = w[1],
                              .from_ns = (int64_t)w[2],
                              .until_ns = (int64_t)w[3],
                              .max_id = {w[4], w[5]},
                              .key = (int64_t)w[6],
                              .id = {w[7], w[8]},
                              .backward = w[LAST] & 1};
    return 0;
}
