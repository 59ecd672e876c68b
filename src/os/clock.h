// SPDX-License-Identifier: Apache-2.0
// The real clock, a clock that tests set, and random bytes.
#ifndef FK_OS_CLOCK_H
#define FK_OS_CLOCK_H

#include "base/base.h"

// CLOCK_REALTIME and CLOCK_MONOTONIC; static.
const struct fk_clock *fk_clock_real(void);

// A clock that stands still until it is told to move. Set and read from any thread. Not moved or
// copied once initialised: `clock` points into it.
struct fk_test_clock {
    _Atomic int64_t wall, mono;
    struct fk_clock clock;
};
void fk_test_clock_init(struct fk_test_clock *c, int64_t wall_ns);
void fk_test_clock_add(struct fk_test_clock *c, int64_t ns);           // both times; ns >= 0
void fk_test_clock_set_wall(struct fk_test_clock *c, int64_t wall_ns); // a step; mono stays

// Sleeps at least so long; for tests and retries, never on a loop's thread.
void fk_sleep_ns(int64_t ns);

// n bytes of getrandom(2).
int fk_random(void *to, size_t n, struct fk_err *err);

#endif
