// SPDX-License-Identifier: Apache-2.0
// 128-bit ids: UUID version 7 (RFC 9562 §5.7), kept as two host integers whose order is the id
// order.
#ifndef FK_BASE_ID_H
#define FK_BASE_ID_H

#include "base/err.h"
#include "base/str.h"

struct fk_id {
    uint64_t hi; // 48 bits of Unix milliseconds, version 7, 12 bits of counter
    uint64_t lo; // variant and tail
};

#define FK_ID_CHARS 36

static inline int fk_id_cmp(struct fk_id a, struct fk_id b)
{
    if (a.hi != b.hi)
        return a.hi < b.hi ? -1 : 1;
    return a.lo < b.lo ? -1 : a.lo > b.lo;
}

static inline bool fk_id_is_zero(struct fk_id a)
{
    return (a.hi | a.lo) == 0;
}

void fk_id_format(struct fk_id id, char ret[FK_ID_CHARS + 1]);
// 36-character form, either case of hex digits. Any UUID is taken, not only version 7.
int fk_id_parse(struct fk_str s, struct fk_id *ret, struct fk_err *err);
// Milliseconds since 1970 that a version 7 id carries.
int64_t fk_id_time_ms(struct fk_id id);

// Gives strictly increasing ids, also when the clock steps back or more than 4,096 are asked for in
// a millisecond (the millisecond field then runs ahead of the clock). One owner; not for several
// threads.
struct fk_id_source {
    uint64_t last_hi; // never given out again
    uint64_t tail;    // 62 bits, drawn once per process
};
// random: any 64 bits; last: the highest id known so far, zero if none.
void fk_id_source_init(struct fk_id_source *s, uint64_t random, struct fk_id last);
struct fk_id fk_id_next(struct fk_id_source *s, int64_t now_ns);

#endif
