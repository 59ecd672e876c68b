// SPDX-License-Identifier: Apache-2.0
// Sampling our own threads: by perf where it is permitted, and by timers.
#include "os/perf.h"
#include "support/support.h"

#include <stdio.h>
#include <unistd.h>

struct seen {
    uint32_t own, other, deep; // samples of the main thread, of others, with callers
    uint32_t tid;
    int64_t first, last;
};

static int on_sample(void *arg, const struct fk_perf_sample *s, struct fk_err *err)
{
    struct seen *x = arg;
    (void)err;
    x->own += s->tid == x->tid;
    x->other += s->tid != x->tid;
    x->deep += s->n - s->n_kernel > 2;
    x->first = x->first ? FK_MIN(x->first, s->time_ns) : s->time_ns;
    x->last = FK_MAX(x->last, s->time_ns);
    return 0;
}

// Burns processor time of the calling thread.
__attribute__((noinline)) static uint64_t burn_inner(int64_t ns)
{
    uint64_t x = 1;
    struct timespec t;
    int64_t end = 0;
    for (;;) {
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
        int64_t now = (int64_t)t.tv_sec * FK_NS_PER_S + t.tv_nsec;
        end = end ? end : now + ns;
        if (now >= end)
            return x;
        for (int i = 0; i < 10000; i++)
            x = x * 6364136223846793005u + 1442695040888963407u;
    }
}

static void burn(void *arg)
{
    uint64_t *to = arg;
    *to = burn_inner(300 * FK_NS_PER_MS) + 1;
}

static void sample_with(int (*open)(uint32_t, struct fk_perf **, struct fk_err *))
{
    struct fk_perf *p;
    struct fk_err err = {0};
    struct seen x = {.tid = (uint32_t)gettid()};
    struct fk_thread thread;
    uint64_t one = 0, two = 0;
    int r = open(1000, &p, &err);
    if (r == -FK_E_UNSUPPORTED) {
        printf("SKIP: %s\n", err.msg);
        skip();
    }
    fk_test_ok(r, &err);
    int64_t began = fk_clock_wall(fk_clock_real());
    fk_test_ok(fk_thread_start(&thread, "burner", burn, &one, &err), &err);
    fk_test_ok(fk_perf_drain(p, on_sample, &x, NULL, &err), &err);
    burn(&two);
    fk_thread_join(&thread);
    fk_test_ok(fk_perf_drain(p, on_sample, &x, NULL, &err), &err);
    fk_perf_close(p);
    assert_true(one && two);
    // Of about 300 each; a busy machine's clock ticks may be coarse (250 Hz and less).
    assert_in_range(x.own, 20, 100000);
    assert_in_range(x.other, 20, 100000);
    assert_true(x.deep * 2 > x.own + x.other);
    assert_true(x.first >= began - FK_NS_PER_S);
    assert_true(x.last <= fk_clock_wall(fk_clock_real()) + FK_NS_PER_S);
}

static void test_by_perf(void **state)
{
    (void)state;
    sample_with(fk_perf_open_self);
}

static void test_by_timers(void **state)
{
    (void)state;
    sample_with(fk_perf_open_timer);
}

static void test_timers_can_be_opened_again(void **state)
{
    (void)state;
    struct fk_err err = {0};
    for (int i = 0; i < 3; i++) {
        struct fk_perf *p;
        fk_test_ok(fk_perf_open_timer(97, &p, &err), &err);
        fk_perf_close(p);
    }
}

static void test_lack_of_memory(void **state)
{
    (void)state;
    for (uint64_t k = 1; k < 4; k++) {
        struct fk_perf *p = NULL;
        fk_mem_fail_after(k, true);
        int r = fk_perf_open_timer(97, &p, NULL);
        bool failed = fk_mem_failed() > 0;
        fk_mem_fail_after(0, false);
        if (r == 0)
            fk_perf_close(p);
        else
            assert_true(failed);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_by_perf),
        cmocka_unit_test(test_by_timers),
        cmocka_unit_test(test_timers_can_be_opened_again),
        cmocka_unit_test(test_lack_of_memory),
    };
    return cmocka_run_group_tests_name("os_perf", tests, NULL, NULL);
}
