// SPDX-License-Identifier: Apache-2.0
// Clocks and randomness.
#include "os/clock.h"

#include <errno.h>
#include <stdatomic.h>
#include <sys/random.h>
#include <time.h>

static int64_t read_clock(clockid_t id)
{
    struct timespec ts;
    clock_gettime(id, &ts);
    return (int64_t)ts.tv_sec * FK_NS_PER_S + ts.tv_nsec;
}

static int64_t real_wall(void *arg)
{
    (void)arg;
    return read_clock(CLOCK_REALTIME);
}

static int64_t real_mono(void *arg)
{
    (void)arg;
    return read_clock(CLOCK_MONOTONIC);
}

const struct fk_clock *fk_clock_real(void)
{
    static const struct fk_clock clock = {real_wall, real_mono, NULL};
    return &clock;
}

static int64_t test_wall(void *arg)
{
    struct fk_test_clock *c = arg;
    return atomic_load(&c->wall);
}

static int64_t test_mono(void *arg)
{
    struct fk_test_clock *c = arg;
    return atomic_load(&c->mono);
}

void fk_test_clock_init(struct fk_test_clock *c, int64_t wall_ns)
{
    atomic_init(&c->wall, wall_ns);
    atomic_init(&c->mono, FK_NS_PER_S);
    c->clock = (struct fk_clock){test_wall, test_mono, c};
}

void fk_test_clock_add(struct fk_test_clock *c, int64_t ns)
{
    atomic_fetch_add(&c->wall, ns);
    atomic_fetch_add(&c->mono, ns);
}

void fk_test_clock_set_wall(struct fk_test_clock *c, int64_t wall_ns)
{
    atomic_store(&c->wall, wall_ns);
}

void fk_sleep_ns(int64_t ns)
{
    struct timespec ts = {ns / FK_NS_PER_S, ns % FK_NS_PER_S};
    while (ns > 0 && clock_nanosleep(CLOCK_MONOTONIC, 0, &ts, &ts) == EINTR) {
    }
}

int fk_random(void *to, size_t n, struct fk_err *err)
{
    uint8_t *at = to;
    while (n) {
        ssize_t got = getrandom(at, n, 0);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return fk_fail_errno(err, errno, "cannot get random bytes");
        at += got;
        n -= (size_t)got;
    }
    return 0;
}
