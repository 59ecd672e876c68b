// SPDX-License-Identifier: Apache-2.0
// Cursors as opaque text: eight words and a flag in hexadecimal, with a check sum so that a mangled
// one is refused in plain words.
#include "query/cursor_int.h"

#define WORDS 9

struct fk_str fk_cursor_put(struct fk_arena *a, const struct fk_cursor *c)
{
    uint64_t w[WORDS] = {c->hash,
                         (uint64_t)c->from_ns,
                         (uint64_t)c->until_ns,
                         c->max_id.hi,
                         c->max_id.lo,
                         (uint64_t)c->key,
                         c->id.hi,
                         c->id.lo};
    w[8] = (fk_hash_bytes(w, 8 * sizeof(*w)) & ~(uint64_t)1) | c->backward;
    return fk_arena_printf(
        a, "%016llx%016llx%016llx%016llx%016llx%016llx%016llx%016llx%016llx",
        (unsigned long long)w[0], (unsigned long long)w[1], (unsigned long long)w[2],
        (unsigned long long)w[3], (unsigned long long)w[4], (unsigned long long)w[5],
        (unsigned long long)w[6], (unsigned long long)w[7], (unsigned long long)w[8]);
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
    if (!good || (fk_hash_bytes(w, 8 * sizeof(*w)) & ~(uint64_t)1) != (w[8] & ~(uint64_t)1))
        return fk_fail_param(
            err, "cursor",
            "the cursor is not one that this server gave out; start again without cursor=");
    *ret = (struct fk_cursor){.hash = w[0],
                              .from_ns = (int64_t)w[1],
                              .until_ns = (int64_t)w[2],
                              .max_id = {w[3], w[4]},
                              .key = (int64_t)w[5],
                              .id = {w[6], w[7]},
                              .backward = w[8] & 1};
    return 0;
}
