// SPDX-License-Identifier: Apache-2.0
// Where time comes from. Rooms that decide by time take a clock, so that tests can set it.
#ifndef FK_BASE_CLOCK_H
#define FK_BASE_CLOCK_H

#include <stdint.h>

#define FK_NS_PER_US ((int64_t)1000)
#define FK_NS_PER_MS ((int64_t)1000000)
#define FK_NS_PER_S  ((int64_t)1000000000)

struct fk_clock {
    int64_t (*wall_ns)(void *arg); // Unix time; may step back
    int64_t (*mono_ns)(void *arg); // never steps back; origin unspecified
    void *arg;
};

static inline int64_t fk_clock_wall(const struct fk_clock *c)
{
    return c->wall_ns(c->arg);
}

static inline int64_t fk_clock_mono(const struct fk_clock *c)
{
    return c->mono_ns(c->arg);
}

#endif
