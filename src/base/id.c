// SPDX-License-Identifier: Apache-2.0
// UUIDv7 with a counter in the 12 rand_a bits (RFC 9562 §6.2, method 1) and a tail per process.
#include "base/id.h"

#define VERSION_BITS ((uint64_t)7 << 12)
#define VARIANT_BITS ((uint64_t)2 << 62)

void fk_id_format(struct fk_id id, char ret[FK_ID_CHARS + 1])
{
    static const char hex[] = "0123456789abcdef";
    size_t at = 0;
    for (unsigned nibble = 0; nibble < 32; nibble++) {
        uint64_t half = nibble < 16 ? id.hi : id.lo;
        if (nibble == 8 || nibble == 12 || nibble == 16 || nibble == 20)
            ret[at++] = '-';
        ret[at++] = hex[half >> (60 - 4 * (nibble % 16)) & 15];
    }
    ret[at] = '\0';
}

static int hex_value(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c |= 0x20;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

int fk_id_parse(struct fk_str s, struct fk_id *ret, struct fk_err *err)
{
    uint64_t half[2] = {0, 0};
    unsigned nibble = 0;
    bool good = s.n == FK_ID_CHARS;
    for (size_t i = 0; good && i < s.n; i++) {
        bool dash = i == 8 || i == 13 || i == 18 || i == 23;
        int digit = dash ? 0 : hex_value(s.p[i]);
        good = dash ? s.p[i] == '-' : digit >= 0;
        if (good && !dash) {
            half[nibble / 16] = half[nibble / 16] << 4 | (uint64_t)digit;
            nibble++;
        }
    }
    if (!good)
        return fk_fail(
            err, FK_E_INVALID,
            "'%.*s' is not a profile id (36 characters like 01939a1e-7c00-7001-8000-1f2e3d4c5b6a)",
            (int)FK_MIN(s.n, (size_t)60), s.p ? s.p : "");
    *ret = (struct fk_id){half[0], half[1]};
    return 0;
}

int64_t fk_id_time_ms(struct fk_id id)
{
    return (int64_t)(id.hi >> 16);
}

// The counter runs across the version nibble: advance the 60 free bits of hi as one number.
static uint64_t pack(uint64_t ms, uint64_t counter)
{
    return ms << 16 | VERSION_BITS | counter;
}

void fk_id_source_init(struct fk_id_source *s, uint64_t random, struct fk_id last)
{
    s->last_hi = last.hi;
    s->tail = VARIANT_BITS | (random >> 2);
}

struct fk_id fk_id_next(struct fk_id_source *s, int64_t now_ns)
{
    uint64_t ms = now_ns > 0 ? (uint64_t)now_ns / 1000000 : 0;
    uint64_t hi = pack(ms & (((uint64_t)1 << 48) - 1), 0);
    if (hi <= s->last_hi) {
        uint64_t last_ms = s->last_hi >> 16, counter = (s->last_hi & 0xfff) + 1;
        hi = pack(last_ms + (counter >> 12), counter & 0xfff);
    }
    s->last_hi = hi;
    return (struct fk_id){hi, s->tail};
}
