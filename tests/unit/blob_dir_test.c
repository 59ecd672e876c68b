// SPDX-License-Identifier: Apache-2.0
// The folder of blobs: the contract on the real file system, crashes on the simulated one.
#include "blob/blob.h"
#include "support/support.h"

#include <stdio.h>
#include <stdlib.h>

struct world {
    char *dir;
    struct fk_blob *b;
};

static int setup(void **state)
{
    struct fk_err err;
    struct world *w = calloc(1, sizeof(*w));
    w->dir = fk_test_tmpdir();
    fk_test_ok(fk_blob_open_dir(fk_fs_real(), w->dir, &w->b, &err), &err);
    *state = w;
    return 0;
}

static int teardown(void **state)
{
    struct world *w = *state;
    fk_blob_close(w->b);
    fk_test_rmtree(w->dir);
    free(w);
    return 0;
}

static void test_keys(void **state)
{
    (void)state;
    struct fk_err err;
    char longest[1100];
    static const char *const good[] = {"a", "blocks/anonymous/0193-x", "a/b.c/(d)'!*_", "x..y"};
    static const char *const bad[] = {"",     "/a",  "a/",   "a//b", "..",   "a/../b",
                                      ".tmp", "a/.", "a\\b", "a b",  "a\nb", "\xc3\xa4"};
    for (size_t i = 0; i < FK_COUNTOF(good); i++)
        fk_test_ok(fk_blob_check_key(good[i], &err), &err);
    for (size_t i = 0; i < FK_COUNTOF(bad); i++)
        fk_test_fails(fk_blob_check_key(bad[i], &err), FK_E_INVALID);
    memset(longest, 'a', sizeof(longest));
    for (size_t i = 100; i < sizeof(longest); i += 101)
        longest[i] = '/';
    longest[1025] = 0;
    fk_test_fails(fk_blob_check_key(longest, &err), FK_E_INVALID);
    longest[1024] = 0;
    fk_test_ok(fk_blob_check_key(longest, &err), &err);
    longest[100] = 'a';
    longest[201] = 0;
    fk_test_fails(fk_blob_check_key(longest, &err), FK_E_INVALID);
    fk_test_fails(fk_blob_check_key("1/2/3/4/5/6/7/8/9/0/1/2/3/4/5/6/7", &err), FK_E_INVALID);
    fk_test_ok(fk_blob_check_key("1/2/3/4/5/6/7/8/9/0/1/2/3/4/5/6", &err), &err);
}

static void test_put_get(void **state)
{
    struct world *w = *state;
    struct fk_err err;
    char got[6] = {0};
    uint64_t size;
    fk_test_ok(fk_blob_put(w->b, "blocks/t/1", FK_S("hello world"), &err), &err);
    fk_test_ok(fk_blob_put(w->b, "blocks/t/empty", FK_S(""), &err), &err);
    fk_test_ok(fk_blob_get(w->b, "blocks/t/1", 6, got, 5, &err), &err);
    assert_string_equal(got, "world");
    fk_test_fails(fk_blob_get(w->b, "blocks/t/1", 7, got, 5, &err), FK_E_CORRUPT);
    fk_test_ok(fk_blob_get(w->b, "blocks/t/empty", 0, got, 0, &err), &err);
    fk_test_fails(fk_blob_get(w->b, "blocks/t/2", 0, got, 1, &err), FK_E_NOTFOUND);
    fk_test_ok(fk_blob_size(w->b, "blocks/t/1", &size, &err), &err);
    assert_int_equal(size, 11);
    assert_int_equal(fk_blob_exists(w->b, "blocks/t/1", &err), 1);
    assert_int_equal(fk_blob_exists(w->b, "blocks/t", &err), 0); // a folder is no blob
    assert_int_equal(fk_blob_exists(w->b, "nothing/t", &err), 0);
    fk_test_fails(fk_blob_exists(w->b, "../x", &err), FK_E_INVALID);
    fk_test_fails(fk_blob_put(w->b, "../x", FK_S("1"), &err), FK_E_INVALID);
    fk_test_ok(fk_blob_remove(w->b, "blocks/t/1", &err), &err);
    fk_test_ok(fk_blob_remove(w->b, "blocks/t/1", &err), &err);
    fk_test_ok(fk_blob_remove(w->b, "no/such/folder", &err), &err);
    assert_int_equal(fk_blob_exists(w->b, "blocks/t/1", &err), 0);
}

static void test_stream(void **state)
{
    struct world *w = *state;
    struct fk_err err;
    struct fk_blob_writer *writer;
    struct fk_blob_reader *reader;
    static uint8_t piece[700001];
    uint64_t total = 0;
    fk_test_ok(fk_blob_begin(w->b, "s", &writer, &err), &err);
    for (size_t n = 1; n < sizeof(piece); n = n * 3 + 1) { // below and above the buffer
        for (size_t i = 0; i < n; i++)
            piece[i] = (uint8_t)((total + i) * 7 >> 3);
        fk_test_ok(fk_out_put(fk_blob_out(writer), piece, n, &err), &err);
        total += n;
    }
    assert_int_equal(fk_blob_exists(w->b, "s", &err), 0); // not before commit
    fk_test_ok(fk_blob_commit(writer, &err), &err);
    fk_test_ok(fk_blob_open(w->b, "s", &reader, &err), &err);
    fk_test_ok(fk_blob_put_source(w->b, "copy", &reader->source, &err), &err);
    fk_test_ok(fk_blob_remove(w->b, "s", &err), &err);
    assert_int_equal(reader->source.size, total);
    const uint8_t *all = reader->source.map(reader->source.arg, 0, total);
    for (size_t i = 0; i < total; i++)
        assert_int_equal(all[i], (uint8_t)(i * 7 >> 3));
    struct fk_blob_reader *copied;
    fk_test_ok(fk_blob_open(w->b, "copy", &copied, &err), &err);
    assert_int_equal(copied->source.size, total);
    assert_memory_equal(copied->source.map(copied->source.arg, 0, total), all, total);
    fk_blob_close_reader(copied);
    fk_blob_close_reader(reader);
    fk_test_ok(fk_blob_begin(w->b, "gone", &writer, &err), &err);
    fk_test_ok(fk_blob_write(writer, "x", 1, &err), &err);
    fk_blob_abort(writer);
    assert_int_equal(fk_blob_exists(w->b, "gone", &err), 0);
}

struct listed {
    struct fk_blob *b; // remove what is listed, unless NULL
    int n;
    uint64_t bytes;
};

static int on_blob(void *arg, const char *key, uint64_t size, struct fk_err *err)
{
    struct listed *l = arg;
    l->n++;
    l->bytes += size;
    return l->b ? fk_blob_remove(l->b, key, err) : 0;
}

static struct listed list(struct fk_blob *b, const char *prefix, bool remove)
{
    struct fk_err err;
    struct listed l = {.b = remove ? b : NULL};
    fk_test_ok(fk_blob_list(b, prefix, (struct fk_each_blob){on_blob, &l}, &err), &err);
    return l;
}

static int stop(void *arg, const char *key, uint64_t size, struct fk_err *err)
{
    (void)arg;
    (void)size;
    return fk_fail(err, FK_E_CANCELLED, "%s", key);
}

static void test_list(void **state)
{
    struct world *w = *state;
    struct fk_err err;
    static const char *const keys[] = {"blocks/a/1", "blocks/a/2", "blocks/ab/1", "blocks/b/1",
                                       "x"};
    for (size_t i = 0; i < FK_COUNTOF(keys); i++)
        fk_test_ok(fk_blob_put(w->b, keys[i], FK_S("12"), &err), &err);
    assert_int_equal(list(w->b, "", false).n, 5);
    assert_int_equal(list(w->b, "", false).bytes, 10);
    assert_int_equal(list(w->b, "blocks/a/", false).n, 2);
    assert_int_equal(list(w->b, "blocks/a", false).n, 3);
    assert_int_equal(list(w->b, "blocks/a/2", false).n, 1);
    assert_int_equal(list(w->b, "nothing/", false).n, 0);
    fk_test_fails(fk_blob_list(w->b, "", (struct fk_each_blob){stop, NULL}, &err), FK_E_CANCELLED);
    assert_int_equal(list(w->b, "blocks/", true).n, 4);
    assert_int_equal(list(w->b, "", false).n, 1);
}

static void test_leftovers_are_swept(void **state)
{
    struct world *w = *state;
    struct fk_err err;
    char path[FK_PATH_MAX];
    fk_test_ok(fk_path_printf(path, &err, "%s/.tmp/77", w->dir), &err);
    fk_test_ok(fk_fs_write_file(fk_fs_real(), path, FK_S("half"), &err), &err);
    assert_int_equal(list(w->b, "", false).n, 0);
    fk_blob_close(w->b);
    w->b = NULL;
    fk_test_ok(fk_blob_open_dir(fk_fs_real(), w->dir, &w->b, &err), &err);
    assert_int_equal(fk_fs_exists(fk_fs_real(), path, &err), 0);
}

static void test_no_memory(void **state)
{
    struct world *w = *state;
    struct fk_err err;
    char got[3];
    for (uint64_t k = 1;; k++) {
        struct fk_blob *b = NULL;
        fk_mem_fail_after(k, false);
        int r = fk_blob_open_dir(fk_fs_real(), w->dir, &b, &err);
        if (r == 0)
            r = fk_blob_put(b, "q/w", FK_S("abc"), &err);
        if (r == 0)
            r = fk_blob_get(b, "q/w", 0, got, 3, &err);
        bool failed = fk_mem_failed() > 0;
        fk_mem_fail_after(0, false);
        fk_blob_close(b);
        if (r == 0)
            assert_memory_equal(got, "abc", 3);
        if (!failed) {
            assert_int_equal(r, 0);
            break;
        }
        assert_true(r == 0 || r == -FK_E_NOMEM);
    }
}

// --- crashes ---
// Puts three blobs in folders that are new, removes one, puts a fourth. Bits: acknowledged steps.
static unsigned workload(struct fk_blob *b)
{
    static const char *const keys[] = {"blocks/t/1", "blocks/t/2", "blocks/u/3"};
    unsigned acked = 0;
    for (unsigned i = 0; i < 3; i++)
        if (fk_blob_put(b, keys[i], FK_S("0123456789"), NULL) == 0)
            acked |= 1u << i;
    if (fk_blob_remove(b, keys[1], NULL) == 0)
        acked |= 1u << 3;
    if (fk_blob_put(b, "blocks/u/4", FK_S("0123456789"), NULL) == 0)
        acked |= 1u << 4;
    return acked;
}

static void check_after(struct fk_simfs *sim, unsigned acked, bool stopped)
{
    struct fk_err err;
    struct fk_blob *b;
    static const struct {
        const char *key;
        unsigned put, removed;
    } all[] = {
        {"blocks/t/1", 1, 0}, {"blocks/t/2", 2, 8}, {"blocks/u/3", 4, 0}, {"blocks/u/4", 16, 0}};
    fk_test_ok(fk_blob_open_dir(fk_simfs_fs(sim), "/b", &b, &err), &err);
    for (size_t i = 0; i < FK_COUNTOF(all); i++) {
        int there = fk_blob_exists(b, all[i].key, &err);
        bool may_be_removed = all[i].removed && (stopped || acked & all[i].removed);
        if (acked & all[i].put && !may_be_removed)
            assert_int_equal(there, 1);
        if (all[i].removed && acked & all[i].removed)
            assert_int_equal(there, 0);
        char got[10];
        uint64_t size;
        if (there) { // whole, also when it was not acknowledged
            fk_test_ok(fk_blob_size(b, all[i].key, &size, &err), &err);
            assert_int_equal(size, 10);
            fk_test_ok(fk_blob_get(b, all[i].key, 0, got, 10, &err), &err);
            assert_memory_equal(got, "0123456789", 10);
        }
    }
    struct listed l = list(b, "", false);
    assert_true(l.n <= 4 && l.bytes == 10 * (uint64_t)l.n);
    assert_int_equal(fk_simfs_used(sim), l.bytes); // nothing left over
    fk_blob_close(b);
}

static void faults(enum fk_sim_action action, bool forever, uint64_t seeds)
{
    struct fk_err err;
    bool finished = false;
    for (uint64_t k = 1; !finished; k++) {
        for (uint64_t seed = 0; seed < fk_test_seeds(seeds); seed++) {
            struct fk_simfs *sim;
            struct fk_blob *b = NULL;
            fk_test_ok(fk_simfs_new(&(struct fk_simfs_opts){.seed = seed}, &sim, &err), &err);
            struct fk_sim_fault f = {.at = k, .action = action, .forever = forever};
            fk_test_ok(fk_simfs_fault(sim, &f, &err), &err);
            unsigned acked = 0;
            if (fk_blob_open_dir(fk_simfs_fs(sim), "/b", &b, NULL) == 0)
                acked = workload(b);
            fk_blob_close(b);
            finished = fk_simfs_struck(sim) == 0;
            assert_true(!finished || acked == 31);
            fk_test_ok(fk_simfs_crash(sim, seed * 31 + k, &err), &err);
            check_after(sim, acked, !finished);
            fk_simfs_free(sim);
        }
    }
}

static void test_power_lost_at_every_call(void **state)
{
    (void)state;
    faults(FK_SIM_CRASH, false, 40);
}

static void test_every_call_fails(void **state)
{
    (void)state;
    faults(FK_SIM_EIO, false, 20);
    faults(FK_SIM_EIO, true, 5);
    faults(FK_SIM_ENOSPC, false, 5);
    faults(FK_SIM_SHORT, false, 20);
}

static void test_full_disk(void **state)
{
    (void)state;
    struct fk_err err;
    struct fk_simfs *sim;
    struct fk_blob *b;
    struct fk_simfs_opts opts = {.seed = 1, .capacity = 15};
    fk_test_ok(fk_simfs_new(&opts, &sim, &err), &err);
    fk_test_ok(fk_blob_open_dir(fk_simfs_fs(sim), "/b", &b, &err), &err);
    fk_test_ok(fk_blob_put(b, "a", FK_S("0123456789"), &err), &err);
    fk_test_fails(fk_blob_put(b, "c", FK_S("0123456789"), &err), FK_E_FULL);
    assert_int_equal(fk_simfs_used(sim), 10);
    fk_test_ok(fk_blob_remove(b, "a", &err), &err);
    fk_test_ok(fk_blob_put(b, "c", FK_S("0123456789"), &err), &err);
    struct fk_blob_writer *w;
    fk_test_ok(fk_blob_begin(b, "d", &w, &err), &err);
    static uint8_t big[300000];
    fk_test_fails(fk_blob_write(w, big, sizeof(big), &err), FK_E_FULL);
    fk_test_fails(fk_blob_write(w, big, 1, &err), FK_E_FULL);
    fk_test_fails(fk_blob_commit(w, &err), FK_E_FULL);
    fk_blob_close(b);
    fk_simfs_free(sim);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_keys),
        cmocka_unit_test_setup_teardown(test_put_get, setup, teardown),
        cmocka_unit_test_setup_teardown(test_stream, setup, teardown),
        cmocka_unit_test_setup_teardown(test_list, setup, teardown),
        cmocka_unit_test_setup_teardown(test_leftovers_are_swept, setup, teardown),
        cmocka_unit_test_setup_teardown(test_no_memory, setup, teardown),
        cmocka_unit_test(test_power_lost_at_every_call),
        cmocka_unit_test(test_every_call_fails),
        cmocka_unit_test(test_full_disk),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
