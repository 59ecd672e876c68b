// SPDX-License-Identifier: Apache-2.0
// The catalog on the simulated file system: power lost at every call of a workload, every call
// failing in turn, a full disk. What was answered with 0 is there afterwards, all or nothing of
// what was not, and the file is sound.
#include "catalog/catalog.h"
#include "support/support.h"

#define PATH "/data/catalog.db"

static struct fk_id id_of(uint64_t n)
{
    return (struct fk_id){0x0193000000007000u + n, 0x8000000000000000u | n};
}

// The workload: blocks 1 to 6, then 7 replaces 1 and 2, 8 replaces 3 and 4, then 5 is deleted, then
// block 9. Step i is 1-based.
#define STEPS 10

static int add(struct fk_catalog *c, uint64_t n, const struct fk_id *replaces, size_t replaces_n,
               struct fk_err *err)
{
    const struct fk_catalog_label labels[] = {{FK_S("service_name"), FK_S("api")}};
    struct fk_catalog_series series[20];
    for (unsigned i = 0; i < FK_COUNTOF(series); i++)
        series[i] = (struct fk_catalog_series){20000, n * 1000 + i, FK_S("api"), labels, 1};
    struct fk_catalog_dataset set = {FK_S("api"), 0, 1, 0, n, FK_S("cpu")};
    struct fk_catalog_add a = {.block = {.id = id_of(n),
                                         .tenant = FK_S("t"),
                                         .level = 1,
                                         .profiles = 1,
                                         .replaces = replaces,
                                         .replaces_n = replaces_n},
                               .datasets = &set,
                               .datasets_n = 1,
                               .series = series,
                               .series_n = FK_COUNTOF(series)};
    return fk_catalog_add(c, &a, NULL, err);
}

static int step(struct fk_catalog *c, unsigned i, struct fk_err *err)
{
    const struct fk_id first[] = {id_of(1), id_of(2)}, second[] = {id_of(3), id_of(4)};
    const struct fk_id five = id_of(5);
    switch (i) {
    case 7:
        return add(c, 7, first, 2, err);
    case 8:
        return add(c, 8, second, 2, err);
    case 9:
        return fk_catalog_delete(c, &five, 1, err);
    case 10:
        return add(c, 9, NULL, 0, err);
    default:
        return add(c, i, NULL, 0, err);
    }
}

// The set of live blocks after steps 1 to i, as bits.
static unsigned expected(unsigned i)
{
    unsigned set = 0;
    for (unsigned s = 1; s <= i; s++)
        set |= s <= 8 ? 1u << s : s == 10 ? 1u << 9 : 0;
    if (i >= 7)
        set &= ~(1u << 1 | 1u << 2);
    if (i >= 8)
        set &= ~(1u << 3 | 1u << 4);
    if (i >= 9)
        set &= ~(1u << 5);
    return set;
}

struct look {
    unsigned live;
    uint64_t series;
};

static int see_block(void *arg, const struct fk_catalog_block *b, struct fk_err *err)
{
    struct look *l = arg;
    (void)err;
    l->live |= 1u << (b->id.hi - id_of(0).hi);
    return 0;
}

static int see_day(void *arg, int32_t day, uint64_t series, struct fk_err *err)
{
    struct look *l = arg;
    (void)err;
    assert_int_equal(day, 20000);
    l->series = series;
    return 0;
}

static struct look look_at(struct fk_catalog *c)
{
    struct fk_err err;
    struct look l = {0};
    struct fk_catalog_filter all = {FK_CATALOG_ALL_TIMES};
    struct fk_catalog_days days = {FK_S("t"), 0, 30000, FK_S("")};
    fk_test_ok(fk_catalog_check(c, &err), &err);
    fk_test_ok(fk_catalog_blocks(c, &all, (struct fk_catalog_each_block){see_block, &l}, &err),
               &err);
    fk_test_ok(fk_catalog_each_day(c, &days, (struct fk_catalog_each_day){see_day, &l}, &err),
               &err);
    return l;
}

static unsigned added_until(unsigned i)
{
    return i >= 10 ? 9 : FK_MIN(i, 8u);
}

// Either exactly the acknowledged steps are in effect, or the one that failed too.
static void check_state(struct fk_catalog *c, unsigned acked, const char *what, uint64_t k,
                        uint64_t seed)
{
    struct look l = look_at(c);
    bool as_acked = l.live == expected(acked) && l.series == 20 * added_until(acked);
    bool one_more = l.live == expected(acked + 1) && l.series == 20 * added_until(acked + 1);
    if (!as_acked && !(acked < STEPS && one_more))
        fail_msg("%s at call %u, seed %u: %u steps were acknowledged, blocks %x, %u series", what,
                 (unsigned)k, (unsigned)seed, acked, l.live, (unsigned)l.series);
}

static struct fk_simfs *new_sim(uint64_t seed, uint64_t capacity)
{
    struct fk_err err;
    struct fk_simfs *sim;
    struct fk_simfs_opts opts = {.seed = seed, .capacity = capacity};
    fk_test_ok(fk_simfs_new(&opts, &sim, &err), &err);
    fk_test_ok(fk_fs_mkdirs(fk_simfs_fs(sim), "/data", &err), &err);
    return sim;
}

// Runs the steps from `from` until one fails; a checkpoint in the middle. Returns how many are
// done.
static unsigned run(struct fk_catalog *c, unsigned from)
{
    unsigned done = from;
    while (done < STEPS && step(c, done + 1, NULL) == 0) {
        done++;
        if (done == 6)
            fk_catalog_checkpoint(c, NULL);
    }
    return done;
}

static void test_power_lost_at_every_call(void **state)
{
    (void)state;
    struct fk_err err;
    bool finished = false;
    unsigned cuts = 0;
    for (uint64_t k = 1; !finished; k++) {
        for (uint64_t seed = 0; seed < fk_test_seeds(6); seed++) {
            struct fk_simfs *sim = new_sim(seed, 0);
            const struct fk_fs *fs = fk_simfs_fs(sim);
            struct fk_catalog *c = NULL;
            struct fk_sim_fault cut = {.calls = FK_SIM_CHANGES, .at = k, .action = FK_SIM_CRASH};
            fk_test_ok(fk_simfs_fault(sim, &cut, &err), &err);
            unsigned done = fk_catalog_open(fs, PATH, &c, NULL) == 0 ? run(c, 0) : 0;
            fk_catalog_close(c); // also a place where the power may go
            finished = !fk_simfs_stopped(sim);
            cuts += !finished;
            fk_test_ok(fk_simfs_crash(sim, seed * 1000 + k, &err), &err);
            fk_test_ok(fk_catalog_open(fs, PATH, &c, &err), &err);
            check_state(c, done, "power lost", k, seed);
            // life goes on: repeating what was not acknowledged leads to the same end
            assert_int_equal(run(c, done), STEPS);
            fk_test_ok(fk_simfs_crash(sim, seed, &err), &err); // without a close
            fk_catalog_close(c);
            fk_test_ok(fk_catalog_open(fs, PATH, &c, &err), &err);
            check_state(c, STEPS, "second loss", k, seed);
            fk_catalog_close(c);
            fk_simfs_free(sim);
        }
    }
    assert_true(cuts > 300);
    print_message("%u cuts\n", cuts);
}

// A fault in the k-th call, once or from then on; then the power goes.
static void fail_every_call(enum fk_sim_action action, bool forever, uint64_t seeds)
{
    struct fk_err err;
    bool finished = false;
    for (uint64_t k = 1; !finished; k++) {
        for (uint64_t seed = 0; seed < fk_test_seeds(seeds); seed++) {
            struct fk_simfs *sim = new_sim(seed, 0);
            const struct fk_fs *fs = fk_simfs_fs(sim);
            struct fk_catalog *c = NULL;
            struct fk_sim_fault fault = {.at = k, .forever = forever, .action = action};
            fk_test_ok(fk_simfs_fault(sim, &fault, &err), &err);
            unsigned done = fk_catalog_open(fs, PATH, &c, NULL) == 0 ? run(c, 0) : 0;
            finished = fk_simfs_struck(sim) == 0;
            if (c && !forever) { // the same connection goes on after the fault
                check_state(c, done, "call failed", k, seed);
                assert_int_equal(run(c, done), STEPS);
                done = STEPS;
            }
            fk_test_ok(fk_simfs_crash(sim, seed * 1000 + k, &err), &err);
            fk_catalog_close(c);
            fk_test_ok(fk_catalog_open(fs, PATH, &c, &err), &err);
            check_state(c, done, "call failed, then power lost", k, seed);
            fk_catalog_close(c);
            fk_simfs_free(sim);
        }
    }
}

static void test_every_call_fails_once(void **state)
{
    (void)state;
    fail_every_call(FK_SIM_EIO, false, 2);
    fail_every_call(FK_SIM_ENOSPC, false, 1);
    fail_every_call(FK_SIM_SHORT, false, 2);
}

static void test_every_call_fails_from_then_on(void **state)
{
    (void)state;
    fail_every_call(FK_SIM_EIO, true, 2);
    fail_every_call(FK_SIM_ENOSPC, true, 1);
}

static void test_full_disk(void **state)
{
    (void)state;
    struct fk_err err;
    unsigned full = 0;
    for (uint64_t capacity = 60000; capacity < 400000; capacity += 4001) {
        struct fk_simfs *sim = new_sim(capacity, 0);
        struct fk_catalog *c = NULL;
        fk_test_ok(fk_catalog_open(fk_simfs_fs(sim), PATH, &c, &err), &err);
        fk_simfs_set_capacity(sim, capacity);
        unsigned done = 0;
        int r = 0;
        while (done < STEPS && (r = step(c, done + 1, &err)) == 0)
            done++;
        if (done < STEPS) {
            full++;
            fk_test_fails(r, FK_E_FULL);
            assert_non_null(strstr(err.msg, PATH));
        }
        check_state(c, done, "disk full", capacity, 0); // reads go on
        fk_simfs_set_capacity(sim, 0);
        assert_int_equal(run(c, done), STEPS); // writes resume
        check_state(c, STEPS, "disk was full", capacity, 0);
        fk_catalog_close(c);
        fk_simfs_free(sim);
    }
    assert_true(full > 5);
}

// A power loss while the database changes over from its rollback journal to the log, and another
// one later: the journal must not come back then and undo what the log holds.
static void test_old_journal_stays_away(void **state)
{
    (void)state;
    struct fk_err err;
    unsigned cuts = 0;
    for (uint64_t seed = 0; seed < fk_test_seeds(300); seed++) {
        struct fk_simfs *sim = new_sim(seed, 0);
        const struct fk_fs *fs = fk_simfs_fs(sim);
        struct fk_catalog *c = NULL;
        struct fk_sim_fault cut = {
            .calls = FK_SIM_CHANGES, .at = 8 + seed % 10, .action = FK_SIM_CRASH};
        fk_test_ok(fk_simfs_fault(sim, &cut, &err), &err);
        fk_catalog_open(fs, PATH, &c, NULL);
        fk_catalog_close(c);
        cuts += fk_simfs_stopped(sim);
        fk_test_ok(fk_simfs_crash(sim, seed * 1000, &err), &err);
        fk_test_ok(fk_catalog_open(fs, PATH, &c, &err), &err);
        assert_int_equal(run(c, 0), STEPS);
        fk_test_ok(fk_simfs_crash(sim, seed, &err), &err);
        fk_catalog_close(c);
        fk_test_ok(fk_catalog_open(fs, PATH, &c, &err), &err);
        check_state(c, STEPS, "late loss", cut.at, seed);
        fk_catalog_close(c);
        fk_simfs_free(sim);
    }
    assert_true(cuts > 250);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_power_lost_at_every_call),
        cmocka_unit_test(test_old_journal_stays_away),
        cmocka_unit_test(test_every_call_fails_once),
        cmocka_unit_test(test_every_call_fails_from_then_on),
        cmocka_unit_test(test_full_disk),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
