// SPDX-License-Identifier: Apache-2.0
// Where observations are put whose clock does not count from 1970.
#include "ingest/ingest.h"

#include "support/test.h"

#define NOW ((int64_t)1700000000 * FK_NS_PER_S)

struct accepted {
    struct fk_arena arena;
    struct fk_profile p;
    struct fk_entry e;
};

static int make(struct accepted *x, const int64_t *times, size_t n)
{
    struct fk_err err;
    memset(x, 0, sizeof(*x));
    fk_arena_init(&x->arena, 0);
    struct fk_builder *b = fk_builder_new(&x->arena, 100, NULL);
    if (!b)
        return -FK_E_NOMEM;
    int rc = fk_builder_type(b, FK_S("samples"), FK_S("count"), FK_KIND_DELTA);
    for (size_t i = 0; !rc && i < n; i++) {
        uint32_t stack;
        int64_t one = 1;
        rc = fk_dict_stack(fk_builder_dict(b), NULL, 0, &stack);
        if (!rc)
            rc = fk_builder_sample(b, stack, 0, &one, &times[i], 1, &err);
    }
    if (!rc)
        rc = fk_builder_finish(b, &x->p, &err);
    fk_builder_free(b);
    return rc;
}

static int accept(struct accepted *x, int64_t time_ns)
{
    struct fk_limits l = fk_limits_default();
    struct fk_accept_opts o = {.limits = &l, .now_ns = NOW, .time_ns = time_ns};
    struct fk_err err;
    return fk_accept(&o, &x->arena, &x->e, &x->p, NULL, &err);
}

static void a_clock_since_boot_is_moved(void **state)
{
    (void)state;
    static const int64_t since_boot[] = {5000, 2000, FK_NO_TIME, 9000};
    struct accepted x;
    assert_int_equal(make(&x, since_boot, 4), 0);
    x.p.duration_ns = 7000;
    assert_int_equal(accept(&x, 0), 0); // the time is that of arrival
    assert_int_equal(x.e.time_ns, NOW - 7000);
    assert_int_equal(x.p.time_ns[1], NOW - 7000);
    assert_int_equal(x.p.time_ns[0], NOW - 4000);
    assert_int_equal(x.p.time_ns[3], NOW);
    assert_true(x.p.time_ns[2] == FK_NO_TIME);
    fk_arena_free(&x.arena);
    assert_int_equal(make(&x, since_boot, 4), 0);
    assert_int_equal(accept(&x, NOW - 100000), 0); // the one that was given
    assert_int_equal(x.p.time_ns[1], NOW - 100000);
    fk_arena_free(&x.arena);
    assert_int_equal(make(&x, since_boot, 4), 0);
    x.p.duration_ns = -1; // all bits of 64 set, as some write "not known"
    assert_int_equal(accept(&x, 0), 0);
    assert_int_equal(x.e.duration_ns, 0);
    fk_arena_free(&x.arena);
}

static void unix_times_and_those_of_a_pprof_stay(void **state)
{
    (void)state;
    static const int64_t known[] = {NOW - 5, NOW - 3}, since_boot[] = {5, 6};
    struct accepted x;
    assert_int_equal(make(&x, known, 2), 0);
    assert_int_equal(accept(&x, 0), 0);
    assert_int_equal(x.p.time_ns[0], NOW - 5);
    fk_arena_free(&x.arena);
    assert_int_equal(make(&x, since_boot, 2), 0);
    x.p.time_key = FK_S("timestamp_ns");
    assert_int_equal(accept(&x, 0), 0);
    assert_int_equal(x.p.time_ns[0], 5);
    fk_arena_free(&x.arena);
}

static void survives_lack_of_memory(void **state)
{
    (void)state;
    static const int64_t since_boot[] = {5, 6};
    for (uint64_t k = 1, done = 0; !done; k++) {
        struct accepted x;
        fk_mem_fail_after(k, true);
        int rc = make(&x, since_boot, 2);
        if (!rc)
            rc = accept(&x, 0);
        done = fk_mem_failed() == 0;
        fk_mem_fail_after(0, false);
        assert_int_equal(rc, done ? 0 : -FK_E_NOMEM);
        fk_arena_free(&x.arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_clock_since_boot_is_moved),
        cmocka_unit_test(unix_times_and_those_of_a_pprof_stay),
        cmocka_unit_test(survives_lack_of_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
