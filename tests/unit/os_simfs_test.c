// SPDX-License-Identifier: Apache-2.0
// The simulation's promises: what is synced survives every crash, what is not may be lost in each
// of the ways that the header names, and faults strike where the plan says.
#include "support/support.h"

#include <errno.h>
#include <stdio.h>

static struct fk_simfs *new_sim(uint64_t seed, uint64_t capacity)
{
    struct fk_err err;
    struct fk_simfs *sim;
    struct fk_simfs_opts opts = {.seed = seed, .capacity = capacity};
    fk_test_ok(fk_simfs_new(&opts, &sim, &err), &err);
    return sim;
}

static struct fk_file *create(struct fk_simfs *sim, const char *path)
{
    struct fk_err err;
    struct fk_file *f;
    fk_test_ok(fk_fs_open(fk_simfs_fs(sim), path, FK_OPEN_CREATE, &f, &err), &err);
    return f;
}

static bool exists(struct fk_simfs *sim, const char *path)
{
    struct fk_err err;
    int r = fk_fs_exists(fk_simfs_fs(sim), path, &err);
    assert_true(r >= 0);
    return r;
}

static void read_all(struct fk_simfs *sim, const char *path, struct fk_buf *b)
{
    struct fk_err err;
    fk_buf_clear(b);
    fk_test_ok(fk_fs_read_file(fk_simfs_fs(sim), path, 1 << 20, b, &err), &err);
}

static void test_synced_survives(void **state)
{
    (void)state;
    struct fk_err err;
    FK_AUTO_BUF b;
    fk_buf_init(&b, 0);
    for (uint64_t seed = 0; seed < 200; seed++) {
        struct fk_simfs *sim = new_sim(seed, 0);
        const struct fk_fs *fs = fk_simfs_fs(sim);
        fk_test_ok(fk_fs_mkdirs(fs, "/d/e", &err), &err);
        struct fk_file *f = create(sim, "/d/e/f");
        fk_test_ok(fk_file_write_at(f, 0, "durable", 7, &err), &err);
        fk_test_ok(fk_file_fdatasync(f, &err), &err);
        fk_test_ok(fk_fs_sync_dir(fs, "/d/e", &err), &err);
        fk_test_ok(fk_fs_write_file(fs, "/d/v", FK_S("old"), &err), &err);
        fk_test_ok(fk_fs_write_file(fs, "/d/v", FK_S("new"), &err), &err);
        fk_test_ok(fk_simfs_crash(sim, seed, &err), &err);
        fk_test_fails(fk_file_write_at(f, 0, "x", 1, &err), FK_E_IO);
        fk_file_close(f);
        read_all(sim, "/d/e/f", &b);
        assert_true(fk_str_eq(fk_buf_view(&b), FK_S("durable")));
        read_all(sim, "/d/v", &b);
        assert_true(fk_str_eq(fk_buf_view(&b), FK_S("new")));
        fk_simfs_free(sim);
    }
}

// Over many seeds each outcome that the model allows is seen, and no other.
static void test_unsynced_outcomes(void **state)
{
    (void)state;
    struct fk_err err;
    FK_AUTO_BUF b;
    fk_buf_init(&b, 0);
    unsigned kept_first = 0, kept_second_only = 0, none = 0, both = 0, torn = 0;
    static uint8_t ones[4096], twos[4096];
    memset(ones, 1, sizeof(ones));
    memset(twos, 2, sizeof(twos));
    for (uint64_t seed = 0; seed < 400; seed++) {
        struct fk_simfs *sim = new_sim(seed, 0);
        struct fk_file *f = create(sim, "/f");
        fk_test_ok(fk_file_preallocate(f, 8192, &err), &err);
        fk_test_ok(fk_file_fdatasync(f, &err), &err);
        fk_test_ok(fk_fs_sync_dir(fk_simfs_fs(sim), "/", &err), &err);
        fk_test_ok(fk_file_write_at(f, 0, ones, 4096, &err), &err);
        fk_test_ok(fk_file_write_at(f, 4096, twos, 4096, &err), &err);
        fk_test_ok(fk_simfs_crash(sim, seed * 7 + 1, &err), &err);
        fk_file_close(f);
        read_all(sim, "/f", &b);
        assert_int_equal(b.n, 8192);
        unsigned a = 0, c = 0;
        for (size_t i = 0; i < 8192; i += 512) {
            for (size_t k = 1; k < 512; k++) // sectors are whole
                assert_int_equal(b.p[i + k], b.p[i]);
            assert_true(b.p[i] == 0 || b.p[i] == (i < 4096 ? 1 : 2));
            *(i < 4096 ? &a : &c) += b.p[i] != 0;
        }
        none += a == 0 && c == 0;
        both += a == 8 && c == 8;
        kept_first += a == 8 && c == 0;
        kept_second_only += a == 0 && c == 8;
        torn += a % 8 || c % 8;
        fk_simfs_free(sim);
    }
    assert_true(none > 20 && both > 20 && torn > 20 && kept_first > 5 && kept_second_only > 5);
}

static void test_overlapping_writes_reorder(void **state)
{
    (void)state;
    struct fk_err err;
    FK_AUTO_BUF b;
    fk_buf_init(&b, 0);
    unsigned seen[3] = {0};
    for (uint64_t seed = 0; seed < 300; seed++) {
        struct fk_simfs *sim = new_sim(seed, 0);
        struct fk_file *f = create(sim, "/f");
        fk_test_ok(fk_file_write_at(f, 0, "\0", 1, &err), &err);
        fk_test_ok(fk_file_fdatasync(f, &err), &err);
        fk_test_ok(fk_fs_sync_dir(fk_simfs_fs(sim), "/", &err), &err);
        fk_test_ok(fk_file_write_at(f, 0, "\1", 1, &err), &err);
        fk_test_ok(fk_file_write_at(f, 0, "\2", 1, &err), &err);
        fk_test_ok(fk_simfs_crash(sim, seed, &err), &err);
        fk_file_close(f);
        read_all(sim, "/f", &b);
        seen[(int)b.p[0]]++;
        fk_simfs_free(sim);
    }
    assert_true(seen[0] > 10 && seen[1] > 10 && seen[2] > 10);
}

static void test_names_need_sync(void **state)
{
    (void)state;
    struct fk_err err;
    unsigned seen[4] = {0}, lost_dir = 0, unlinked = 0;
    for (uint64_t seed = 0; seed < 300; seed++) {
        struct fk_simfs *sim = new_sim(seed, 0);
        const struct fk_fs *fs = fk_simfs_fs(sim);
        fk_test_ok(fk_fs_write_file(fs, "/old", FK_S("x"), &err), &err);
        fk_test_ok(fk_fs_mkdir(fs, "/d", &err), &err);
        struct fk_file *f = create(sim, "/d/synced"); // in a folder that never was
        fk_test_ok(fk_file_fdatasync(f, &err), &err);
        fk_test_ok(fk_fs_sync_dir(fs, "/d", &err), &err);
        fk_file_close(f);
        f = create(sim, "/tmp");
        fk_test_ok(fk_file_write_at(f, 0, "y", 1, &err), &err);
        fk_test_ok(fk_file_fdatasync(f, &err), &err);
        fk_test_ok(fk_fs_rename(fs, "/tmp", "/final", &err), &err);
        fk_test_ok(fk_fs_unlink(fs, "/old", &err), &err);
        fk_test_ok(fk_simfs_crash(sim, seed, &err), &err);
        fk_file_close(f);
        seen[exists(sim, "/tmp") + 2 * exists(sim, "/final")]++;
        lost_dir += !exists(sim, "/d");
        unlinked += !exists(sim, "/old");
        if (exists(sim, "/d"))
            assert_true(exists(sim, "/d/synced"));
        fk_simfs_free(sim);
    }
    assert_true(seen[0] > 10 && seen[1] > 5 && seen[2] > 10);
    assert_int_equal(seen[3], 0); // a rename is atomic
    assert_true(lost_dir > 10 && unlinked > 10 && lost_dir < 290 && unlinked < 290);
}

static void test_failed_sync_loses(void **state)
{
    (void)state;
    struct fk_err err;
    FK_AUTO_BUF b;
    fk_buf_init(&b, 0);
    unsigned lost = 0;
    for (uint64_t seed = 0; seed < 100; seed++) {
        struct fk_simfs *sim = new_sim(seed, 0);
        struct fk_file *f = create(sim, "/f");
        fk_test_ok(fk_file_preallocate(f, 4, &err), &err);
        fk_test_ok(fk_file_fdatasync(f, &err), &err);
        fk_test_ok(fk_fs_sync_dir(fk_simfs_fs(sim), "/", &err), &err);
        fk_test_ok(fk_file_write_at(f, 0, "data", 4, &err), &err);
        struct fk_sim_fault fault = {.calls = FK_SIM_SYNC, .at = 1, .action = FK_SIM_EIO};
        fk_test_ok(fk_simfs_fault(sim, &fault, &err), &err);
        fk_test_fails(fk_file_fdatasync(f, &err), FK_E_IO);
        assert_int_equal(err.sys, EIO);
        read_all(sim, "/f", &b); // the page cache still has it
        assert_memory_equal(b.p, "data", 4);
        fk_test_ok(fk_file_fdatasync(f, &err), &err); // and the kernel now says that all is well
        fk_test_ok(fk_simfs_crash(sim, seed, &err), &err);
        fk_file_close(f);
        read_all(sim, "/f", &b);
        lost += memcmp(b.p, "data", 4) != 0;
        fk_simfs_free(sim);
    }
    assert_true(lost > 10 && lost < 100);
}

static void test_fault_plan(void **state)
{
    (void)state;
    struct fk_err err;
    struct fk_simfs *sim = new_sim(3, 0);
    struct fk_file *a = create(sim, "/a"), *c = create(sim, "/c");
    struct fk_sim_fault second = {
        .calls = FK_SIM_WRITE, .path = "/a", .at = 2, .action = FK_SIM_ENOSPC};
    struct fk_sim_fault later = {
        .calls = FK_SIM_SYNC, .at = 2, .forever = true, .action = FK_SIM_EIO};
    fk_test_ok(fk_simfs_fault(sim, &second, &err), &err);
    fk_test_ok(fk_simfs_fault(sim, &later, &err), &err);
    fk_test_ok(fk_file_write_at(c, 0, "1", 1, &err), &err);
    fk_test_ok(fk_file_write_at(a, 0, "1", 1, &err), &err);
    fk_test_ok(fk_file_write_at(c, 0, "1", 1, &err), &err);
    fk_test_fails(fk_file_write_at(a, 0, "2", 1, &err), FK_E_FULL);
    fk_test_ok(fk_file_write_at(a, 0, "3", 1, &err), &err);
    fk_test_ok(fk_file_fdatasync(a, &err), &err);
    fk_test_fails(fk_file_fdatasync(a, &err), FK_E_IO);
    fk_test_fails(fk_file_fdatasync(c, &err), FK_E_IO);
    assert_int_equal(fk_simfs_struck(sim), 3);
    fk_simfs_clear_faults(sim);
    fk_test_ok(fk_file_fdatasync(c, &err), &err);
    assert_int_equal(fk_simfs_calls(sim, FK_SIM_SYNC), 4);
    assert_int_equal(fk_simfs_calls(sim, FK_SIM_WRITE | FK_SIM_SYNC), 9);
    for (int i = 0; i < 8; i++)
        fk_test_ok(fk_simfs_fault(sim, &later, &err), &err);
    fk_test_fails(fk_simfs_fault(sim, &later, &err), FK_E_LIMIT);
    fk_file_close(a);
    fk_file_close(c);
    fk_simfs_free(sim);
}

static void test_short_write(void **state)
{
    (void)state;
    struct fk_err err;
    bool partial = false;
    for (uint64_t seed = 0; seed < 20; seed++) {
        struct fk_simfs *sim = new_sim(seed, 0);
        struct fk_file *f = create(sim, "/f");
        uint64_t size;
        struct fk_sim_fault fault = {.calls = FK_SIM_WRITE, .at = 1, .action = FK_SIM_SHORT};
        fk_test_ok(fk_simfs_fault(sim, &fault, &err), &err);
        fk_test_fails(fk_file_write_at(f, 0, "0123456789", 10, &err), FK_E_FULL);
        fk_test_ok(fk_file_size(f, &size, &err), &err);
        partial |= size > 0 && size < 10;
        fk_file_close(f);
        fk_simfs_free(sim);
    }
    assert_true(partial);
}

static void test_capacity(void **state)
{
    (void)state;
    struct fk_err err;
    struct fk_space space;
    static uint8_t bytes[1000];
    struct fk_simfs *sim = new_sim(1, 2500);
    const struct fk_fs *fs = fk_simfs_fs(sim);
    struct fk_file *f = create(sim, "/f"), *g = create(sim, "/g");
    fk_test_ok(fk_file_write_at(f, 0, bytes, 1000, &err), &err);
    fk_test_ok(fk_file_write_at(f, 500, bytes, 1000, &err), &err);
    fk_test_fails(fk_file_preallocate(g, 1001, &err), FK_E_FULL);
    fk_test_ok(fk_file_preallocate(g, 900, &err), &err);
    fk_test_fails(fk_file_write_at(f, 1500, bytes, 101, &err), FK_E_FULL);
    fk_test_ok(fk_fs_space(fs, "/", &space, &err), &err);
    assert_int_equal(space.free, 0);
    fk_test_ok(fk_fs_unlink(fs, "/f", &err), &err);
    assert_int_equal(fk_simfs_used(sim), 2500); // still open
    fk_file_close(f);
    assert_int_equal(fk_simfs_used(sim), 900);
    fk_test_ok(fk_file_truncate(g, 0, &err), &err);
    assert_int_equal(fk_simfs_used(sim), 0);
    fk_file_close(g);
    fk_simfs_free(sim);
}

// A small workload, cut at every call: the file is always one of the two versions, and the new one
// once write_file returned.
static void test_crash_at_every_call(void **state)
{
    (void)state;
    struct fk_err err;
    FK_AUTO_BUF b;
    fk_buf_init(&b, 0);
    bool finished = false;
    for (uint64_t k = 1; !finished; k++) {
        for (uint64_t seed = 0; seed < 50; seed++) {
            struct fk_simfs *sim = new_sim(seed, 0);
            const struct fk_fs *fs = fk_simfs_fs(sim);
            fk_test_ok(fk_fs_write_file(fs, "/v", FK_S("old"), &err), &err);
            struct fk_sim_fault cut = {.at = k, .action = FK_SIM_CRASH};
            fk_test_ok(fk_simfs_fault(sim, &cut, &err), &err);
            bool acked = fk_fs_write_file(fs, "/v", FK_S("new!"), &err) == 0;
            finished = !fk_simfs_stopped(sim);
            assert_int_equal(acked, finished);
            fk_test_ok(fk_simfs_crash(sim, seed + k, &err), &err);
            read_all(sim, "/v", &b);
            bool is_new = fk_str_eq(fk_buf_view(&b), FK_S("new!"));
            assert_true(is_new || (!acked && fk_str_eq(fk_buf_view(&b), FK_S("old"))));
            fk_simfs_free(sim);
        }
    }
}

static void test_lock_released_by_crash(void **state)
{
    (void)state;
    struct fk_err err;
    struct fk_file *a, *c;
    struct fk_simfs *sim = new_sim(1, 0);
    fk_test_ok(fk_fs_lock(fk_simfs_fs(sim), "/L", &a, &err), &err);
    fk_test_ok(fk_simfs_crash(sim, 1, &err), &err);
    fk_test_ok(fk_fs_lock(fk_simfs_fs(sim), "/L", &c, &err), &err);
    fk_file_close(a);
    fk_file_close(c);
    fk_test_fails(fk_fs_open(fk_simfs_fs(sim), "/../x", FK_OPEN_CREATE, &a, &err), FK_E_IO);
    fk_simfs_free(sim);
}

// Files of past generations and removed names do not pile up.
static void test_space_is_reclaimed(void **state)
{
    (void)state;
    struct fk_err err;
    struct fk_simfs *sim = new_sim(1, 100);
    for (int i = 0; i < 1000; i++) {
        fk_test_ok(fk_fs_write_file(fk_simfs_fs(sim), "/f", FK_S("0123456789"), &err), &err);
        if (i % 100 == 99)
            fk_test_ok(fk_simfs_crash(sim, i, &err), &err);
    }
    assert_int_equal(fk_simfs_used(sim), 10);
    fk_simfs_free(sim);
}

// Threads write files of their own while the power goes twice; what was acknowledged in a
// generation is there in the next.
struct hand {
    struct fk_simfs *sim;
    int id;
    _Atomic int acked; // writes that were acknowledged
    _Atomic bool stop;
};

static void write_along(void *arg)
{
    struct hand *h = arg;
    char path[32];
    snprintf(path, sizeof(path), "/file%d", h->id);
    while (!atomic_load(&h->stop))
        if (fk_fs_write_file(fk_simfs_fs(h->sim), path, FK_S("mine"), NULL) == 0)
            atomic_fetch_add(&h->acked, 1);
}

static void test_threads(void **state)
{
    (void)state;
    struct fk_err err;
    struct hand h[3] = {{0}};
    struct fk_thread t[3];
    FK_AUTO_BUF b;
    fk_buf_init(&b, 0);
    struct fk_simfs *sim = new_sim(1, 0);
    for (int i = 0; i < 3; i++) {
        h[i].sim = sim;
        h[i].id = i;
        fk_test_ok(fk_thread_start(&t[i], "writer", write_along, &h[i], &err), &err);
    }
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < 3; i++) {
            int before = atomic_load(&h[i].acked);
            while (atomic_load(&h[i].acked) < before + 20)
                fk_sleep_ns(FK_NS_PER_MS / 10);
        }
        fk_test_ok(fk_simfs_crash(sim, (uint64_t)round, &err), &err);
    }
    for (int i = 0; i < 3; i++)
        atomic_store(&h[i].stop, true);
    for (int i = 0; i < 3; i++)
        fk_thread_join(&t[i]);
    fk_test_ok(fk_simfs_crash(sim, 9, &err), &err);
    for (int i = 0; i < 3; i++) {
        char path[32];
        snprintf(path, sizeof(path), "/file%d", i);
        read_all(sim, path, &b);
        assert_true(fk_str_eq(fk_buf_view(&b), FK_S("mine")));
    }
    fk_simfs_free(sim);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_synced_survives),
        cmocka_unit_test(test_unsynced_outcomes),
        cmocka_unit_test(test_overlapping_writes_reorder),
        cmocka_unit_test(test_names_need_sync),
        cmocka_unit_test(test_failed_sync_loses),
        cmocka_unit_test(test_fault_plan),
        cmocka_unit_test(test_short_write),
        cmocka_unit_test(test_capacity),
        cmocka_unit_test(test_crash_at_every_call),
        cmocka_unit_test(test_lock_released_by_crash),
        cmocka_unit_test(test_threads),
        cmocka_unit_test(test_space_is_reclaimed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
