// SPDX-License-Identifier: Apache-2.0
// What every file system must do: the same cases run on the real one and on the simulated one.
#include "support/support.h"

#include <stdio.h>
#include <stdlib.h>

struct world {
    const struct fk_fs *fs;
    const char *root; // "" in the simulation
    char *tmp;
    struct fk_simfs *sim;
};

static int real_setup(void **state)
{
    struct world *w = calloc(1, sizeof(*w));
    w->fs = fk_fs_real();
    w->root = w->tmp = fk_test_tmpdir();
    *state = w;
    return 0;
}

static int sim_setup(void **state)
{
    struct fk_err err;
    struct world *w = calloc(1, sizeof(*w));
    fk_test_ok(fk_simfs_new(&(struct fk_simfs_opts){.seed = 1}, &w->sim, &err), &err);
    w->fs = fk_simfs_fs(w->sim);
    w->root = "";
    *state = w;
    return 0;
}

static int teardown(void **state)
{
    struct world *w = *state;
    fk_simfs_free(w->sim);
    fk_test_rmtree(w->tmp);
    free(w);
    return 0;
}

static const char *in(const struct world *w, const char *name)
{
    static char path[8][FK_PATH_MAX];
    static unsigned turn;
    struct fk_err err;
    char *ret = path[turn++ % 8];
    fk_test_ok(fk_path_printf(ret, &err, "%s/%s", w->root, name), &err);
    return ret;
}

static void test_read_write(void **state)
{
    struct world *w = *state;
    struct fk_err err;
    struct fk_file *f;
    char got[16] = {0};
    uint64_t size;
    fk_test_fails(fk_fs_open(w->fs, in(w, "a"), FK_OPEN_READ, &f, &err), FK_E_NOTFOUND);
    assert_non_null(strstr(err.msg, "/a"));
    fk_test_ok(fk_fs_open(w->fs, in(w, "a"), FK_OPEN_CREATE, &f, &err), &err);
    fk_test_ok(fk_file_write_at(f, 5, "world", 5, &err), &err);
    fk_test_ok(fk_file_write_at(f, 0, "hello", 5, &err), &err);
    fk_test_ok(fk_file_fdatasync(f, &err), &err);
    fk_test_ok(fk_file_size(f, &size, &err), &err);
    assert_int_equal(size, 10);
    fk_test_ok(fk_file_read_at(f, 3, got, 4, &err), &err);
    assert_string_equal(got, "lowo");
    fk_test_fails(fk_file_read_at(f, 8, got, 3, &err), FK_E_CORRUPT);
    fk_test_fails(fk_fs_open(w->fs, in(w, "a"), FK_OPEN_CREATE, &f, &err), FK_E_EXISTS);
    fk_file_close(f);
    fk_test_ok(fk_fs_open(w->fs, in(w, "a"), FK_OPEN_READ, &f, &err), &err);
    fk_test_fails(fk_file_write_at(f, 0, "x", 1, &err), FK_E_IO);
    fk_file_close(f);
}

static void test_lengths(void **state)
{
    struct world *w = *state;
    struct fk_err err;
    struct fk_file *f;
    uint64_t size;
    uint8_t got[8192];
    fk_test_ok(fk_fs_open(w->fs, in(w, "a"), FK_OPEN_WRITE_CREATE, &f, &err), &err);
    fk_test_ok(fk_file_preallocate(f, 8192, &err), &err);
    fk_test_ok(fk_file_preallocate(f, 100, &err), &err);
    fk_test_ok(fk_file_size(f, &size, &err), &err);
    assert_int_equal(size, 8192);
    fk_test_ok(fk_file_write_at(f, 4000, "abcdef", 6, &err), &err);
    fk_test_ok(fk_file_truncate(f, 4003, &err), &err);
    fk_test_ok(fk_file_truncate(f, 8192, &err), &err);
    fk_test_ok(fk_file_read_at(f, 0, got, sizeof(got), &err), &err);
    assert_memory_equal(got + 3999, "\0abc\0\0\0", 7);
    for (size_t i = 4003; i < sizeof(got); i++)
        assert_int_equal(got[i], 0);
    fk_file_close(f);
}

static void test_map_and_source(void **state)
{
    struct world *w = *state;
    struct fk_err err;
    struct fk_source src;
    struct fk_file *f;
    char got[8] = {0};
    fk_test_ok(fk_fs_write_file(w->fs, in(w, "a"), FK_S("0123456789"), &err), &err);
    fk_test_ok(fk_fs_write_file(w->fs, in(w, "empty"), FK_S(""), &err), &err);
    for (int mapped = 0; mapped < 2; mapped++) {
        fk_test_ok(fk_fs_open(w->fs, in(w, "a"), FK_OPEN_READ, &f, &err), &err);
        fk_test_ok(fk_file_source(f, mapped, &src, &err), &err);
        assert_int_equal(src.size, 10);
        fk_test_ok(src.read_at(src.arg, 7, got, 3, &err), &err);
        assert_string_equal(got, "789");
        fk_test_fails(src.read_at(src.arg, 8, got, 3, &err), FK_E_CORRUPT);
        assert_true((src.map != NULL) == mapped);
        if (mapped) {
            assert_memory_equal(src.map(src.arg, 2, 3), "234", 3);
            assert_null(src.map(src.arg, 9, 2));
        }
        fk_file_close(f);
        fk_test_ok(fk_fs_open(w->fs, in(w, "empty"), FK_OPEN_READ, &f, &err), &err);
        fk_test_ok(fk_file_source(f, mapped, &src, &err), &err);
        assert_int_equal(src.size, 0);
        if (mapped)
            assert_non_null(src.map(src.arg, 0, 0));
        fk_file_close(f);
    }
}

struct seen {
    int files, dirs;
    char last[256];
    const struct world *w;
};

static int count_name(void *arg, const char *name, bool is_dir, struct fk_err *err)
{
    struct seen *s = arg;
    (void)err;
    if (is_dir)
        s->dirs++;
    else
        s->files++;
    snprintf(s->last, sizeof(s->last), "%.255s", name);
    return 0;
}

static int unlink_name(void *arg, const char *name, bool is_dir, struct fk_err *err)
{
    struct seen *s = arg;
    assert_false(is_dir);
    s->files++;
    return fk_fs_unlink(s->w->fs, in(s->w, name), err);
}

static int stop_at_once(void *arg, const char *name, bool is_dir, struct fk_err *err)
{
    (void)arg;
    (void)is_dir;
    return fk_fail(err, FK_E_CANCELLED, "saw %s", name);
}

static void test_names(void **state)
{
    struct world *w = *state;
    struct fk_err err;
    struct fk_file_stat st;
    struct seen seen = {.w = w};
    fk_test_ok(fk_fs_mkdirs(w->fs, in(w, "x/y/z"), &err), &err);
    fk_test_ok(fk_fs_mkdirs(w->fs, in(w, "x/y/z"), &err), &err);
    fk_test_fails(fk_fs_mkdir(w->fs, in(w, "x"), &err), FK_E_EXISTS);
    fk_test_fails(fk_fs_mkdir(w->fs, in(w, "no/such"), &err), FK_E_NOTFOUND);
    fk_test_ok(fk_fs_write_file(w->fs, in(w, "x/f"), FK_S("1"), &err), &err);
    fk_test_ok(fk_fs_write_file(w->fs, in(w, "x/f"), FK_S("22"), &err), &err);
    fk_test_fails(fk_fs_mkdirs(w->fs, in(w, "x/f/g"), &err), FK_E_EXISTS);
    fk_test_ok(fk_fs_list(w->fs, in(w, "x"), (struct fk_each_name){count_name, &seen}, &err), &err);
    assert_int_equal(seen.files, 1);
    assert_int_equal(seen.dirs, 1);
    fk_test_ok(fk_fs_stat(w->fs, in(w, "x/f"), &st, &err), &err);
    assert_int_equal(st.size, 2);
    assert_false(st.is_dir);
    fk_test_ok(fk_fs_stat(w->fs, in(w, "x/y"), &st, &err), &err);
    assert_true(st.is_dir);
    fk_test_ok(fk_fs_rename(w->fs, in(w, "x/f"), in(w, "x/y/g"), &err), &err);
    fk_test_fails(fk_fs_rename(w->fs, in(w, "x/f"), in(w, "x/y/g"), &err), FK_E_NOTFOUND);
    assert_int_equal(fk_fs_exists(w->fs, in(w, "x/f"), &err), 0);
    assert_int_equal(fk_fs_exists(w->fs, in(w, "x/y/g"), &err), 1);
    fk_test_fails(fk_fs_rmdir(w->fs, in(w, "x/y"), &err), FK_E_EXISTS);
    fk_test_ok(fk_fs_rmdir(w->fs, in(w, "x/y/z"), &err), &err);
    fk_test_ok(fk_fs_unlink(w->fs, in(w, "x/y/g"), &err), &err);
    fk_test_fails(fk_fs_unlink(w->fs, in(w, "x/y/g"), &err), FK_E_NOTFOUND);
    fk_test_fails(fk_fs_list(w->fs, in(w, "q"), (struct fk_each_name){count_name, &seen}, &err),
                  FK_E_NOTFOUND);
    fk_test_fails(fk_fs_list(w->fs, in(w, "x"), (struct fk_each_name){stop_at_once, NULL}, &err),
                  FK_E_CANCELLED);
}

static void test_remove_while_listing(void **state)
{
    struct world *w = *state;
    struct fk_err err;
    struct seen seen = {.w = w};
    char name[16];
    for (int i = 0; i < 20; i++) {
        snprintf(name, sizeof(name), "f%d", i);
        fk_test_ok(fk_fs_write_file(w->fs, in(w, name), FK_S("1"), &err), &err);
    }
    struct fk_each_name each = {unlink_name, &seen};
    fk_test_ok(fk_fs_list(w->fs, in(w, ""), each, &err), &err);
    assert_int_equal(seen.files, 20);
    seen.files = 0;
    fk_test_ok(fk_fs_list(w->fs, in(w, ""), each, &err), &err);
    assert_int_equal(seen.files, 0);
}

static void test_lock(void **state)
{
    struct world *w = *state;
    struct fk_err err;
    struct fk_file *a, *b;
    fk_test_ok(fk_fs_lock(w->fs, in(w, "LOCK"), &a, &err), &err);
    fk_test_fails(fk_fs_lock(w->fs, in(w, "LOCK"), &b, &err), FK_E_BUSY);
    fk_file_close(a);
    fk_test_ok(fk_fs_lock(w->fs, in(w, "LOCK"), &b, &err), &err);
    fk_file_close(b);
}

static void test_whole_files(void **state)
{
    struct world *w = *state;
    struct fk_err err;
    struct fk_space space;
    struct fk_file *f;
    struct seen seen = {.w = w};
    FK_AUTO_BUF b;
    fk_buf_init(&b, 0);
    fk_test_ok(fk_fs_write_file(w->fs, in(w, "v"), FK_S("version 0\n"), &err), &err);
    fk_test_ok(fk_fs_read_file(w->fs, in(w, "v"), 100, &b, &err), &err);
    assert_true(fk_str_eq(fk_buf_view(&b), FK_S("version 0\n")));
    fk_test_fails(fk_fs_read_file(w->fs, in(w, "v"), 9, &b, &err), FK_E_LIMIT);
    fk_test_ok(fk_fs_open_unnamed(w->fs, in(w, ""), &f, &err), &err);
    fk_test_ok(fk_file_write_at(f, 0, "spool", 5, &err), &err);
    fk_test_ok(fk_fs_list(w->fs, in(w, ""), (struct fk_each_name){count_name, &seen}, &err), &err);
    assert_int_equal(seen.files, 1);
    assert_string_equal(seen.last, "v");
    char got[5];
    fk_test_ok(fk_file_read_at(f, 0, got, 5, &err), &err);
    assert_memory_equal(got, "spool", 5);
    fk_file_close(f);
    fk_test_ok(fk_fs_space(w->fs, in(w, ""), &space, &err), &err);
    assert_true(space.free > 0 && space.free <= space.total);
}

static void test_paths(void **state)
{
    (void)state;
    char p[FK_PATH_MAX];
    struct fk_err err;
    static const char *const cases[][2] = {{"/a/b", "/a"}, {"/a/b/", "/a"}, {"b", "."},
                                           {"/b", "/"},    {"/", "/"},      {"", "."},
                                           {"a//b", "a"}};
    for (size_t i = 0; i < FK_COUNTOF(cases); i++) {
        fk_path_parent(cases[i][0], p);
        assert_string_equal(p, cases[i][1]);
    }
    fk_test_fails(fk_path_printf(p, &err, "%5000d", 1), FK_E_LIMIT);
}

// Each allocation fails in turn: an error, and no harm.
static void test_no_memory(void **state)
{
    struct world *w = *state;
    struct fk_err err;
    FK_AUTO_BUF b;
    fk_buf_init(&b, 0);
    for (uint64_t k = 1;; k++) {
        fk_mem_fail_after(k, false);
        int r = fk_fs_write_file(w->fs, in(w, "v"), FK_S("text"), &err);
        if (r == 0)
            r = fk_fs_read_file(w->fs, in(w, "v"), 100, &b, &err);
        bool failed = fk_mem_failed() > 0;
        fk_mem_fail_after(0, false);
        fk_buf_free(&b);
        if (!failed) {
            assert_int_equal(r, 0);
            assert_true(k > 1);
            break;
        }
        fk_test_fails(r, FK_E_NOMEM);
    }
}

#define BOTH(f)                                                                                    \
    {.name = #f " (real)", f, real_setup, teardown, NULL},                                         \
    {                                                                                              \
        .name = #f " (simulated)", f, sim_setup, teardown, NULL                                    \
    }

int main(void)
{
    const struct CMUnitTest tests[] = {
        BOTH(test_read_write),           BOTH(test_lengths),
        BOTH(test_map_and_source),       BOTH(test_names),
        BOTH(test_remove_while_listing), BOTH(test_lock),
        BOTH(test_whole_files),          BOTH(test_no_memory),
        cmocka_unit_test(test_paths),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
