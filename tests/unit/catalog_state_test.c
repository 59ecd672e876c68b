// SPDX-License-Identifier: Apache-2.0
// Settings and tokens: two connections to one file, what is refused, and lack of memory.
#include "catalog/catalog.h"
#include "support/support.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>

struct world {
    char *dir;
    char path[FK_PATH_MAX];
    struct fk_state *a, *b; // as the server's and the command line's
};

static int setup(void **state)
{
    struct fk_err err;
    struct world *w = calloc(1, sizeof(*w));
    w->dir = fk_test_tmpdir();
    fk_test_ok(fk_path_printf(w->path, &err, "%s/state.db", w->dir), &err);
    fk_test_ok(fk_state_open(w->path, &w->a, &err), &err);
    fk_test_ok(fk_state_open(w->path, &w->b, &err), &err);
    *state = w;
    return 0;
}

static int teardown(void **state)
{
    struct world *w = *state;
    fk_state_close(w->a);
    fk_state_close(w->b);
    fk_test_rmtree(w->dir);
    free(w);
    return 0;
}

static int on_setting(void *arg, const struct fk_setting *s, struct fk_err *err)
{
    fk_buf_printf(arg, "%.*s=%.*s@%lld,", FK_STR_ARG(s->name), FK_STR_ARG(s->value),
                  (long long)s->modified_ms);
    return fk_buf_check(arg, "list", err);
}

static void assert_settings(struct fk_state *s, const char *tenant, const char *expected)
{
    struct fk_buf got;
    struct fk_err err;
    fk_buf_init(&got, 0);
    fk_test_ok(fk_state_settings(s, fk_str_of(tenant),
                                 (struct fk_state_each_setting){on_setting, &got}, &err),
               &err);
    fk_buf_byte(&got, 0);
    assert_string_equal(got.p, expected);
    fk_buf_free(&got);
}

static int set(struct fk_state *s, const char *tenant, const char *name, const char *value,
               int64_t at)
{
    struct fk_err err;
    struct fk_setting setting = {fk_str_of(name), fk_str_of(value), at};
    return fk_state_set(s, fk_str_of(tenant), &setting, &err);
}

static void test_settings(void **state)
{
    struct world *w = *state;
    struct fk_err err;
    assert_settings(w->a, "t", "");
    assert_int_equal(set(w->a, "t", "theme", "dark", 20), 0);
    assert_int_equal(set(w->b, "t", "lang", "", 10), 0);
    assert_int_equal(set(w->a, "u", "theme", "light", 1), 0);
    assert_settings(w->a, "t", "lang=@10,theme=dark@20,");
    assert_settings(w->b, "u", "theme=light@1,");
    // an older one does not win, from the other process either; an equally old one does
    assert_int_equal(set(w->b, "t", "theme", "old", 19), -FK_E_EXISTS);
    assert_int_equal(set(w->b, "t", "theme", "same", 20), 0);
    assert_settings(w->a, "t", "lang=@10,theme=same@20,");
    fk_test_ok(fk_state_unset(w->a, FK_S("t"), FK_S("theme"), &err), &err);
    fk_test_ok(fk_state_unset(w->a, FK_S("t"), FK_S("theme"), &err), &err);
    assert_settings(w->b, "t", "lang=@10,");
    assert_settings(w->b, "u", "theme=light@1,");
}

static void test_settings_limits(void **state)
{
    struct world *w = *state;
    char *big = malloc(FK_STATE_VALUE_BYTES + 2), name[32];
    memset(big, 'x', FK_STATE_VALUE_BYTES + 1);
    big[FK_STATE_VALUE_BYTES + 1] = 0;
    assert_int_equal(set(w->a, "t", "", "v", 1), -FK_E_INVALID);
    assert_int_equal(set(w->a, "t", "n", big, 1), -FK_E_LIMIT);
    assert_int_equal(set(w->a, "t", "n", big + 1, 1), 0);
    big[FK_STATE_NAME_BYTES + 1] = 0;
    assert_int_equal(set(w->a, "t", big, "v", 1), -FK_E_LIMIT);
    assert_int_equal(set(w->a, "t", big + 1, "v", 1), 0);
    for (int i = 2; i < FK_STATE_SETTINGS; i++) {
        snprintf(name, sizeof(name), "s%d", i);
        assert_int_equal(set(w->a, "t", name, "v", 1), 0);
    }
    assert_int_equal(set(w->a, "t", "more", "v", 1), -FK_E_LIMIT);
    assert_int_equal(set(w->a, "t", "s2", "changed", 2), 0);
    assert_int_equal(set(w->a, "u", "more", "v", 1), 0);
    free(big);
}

static int stop(void *arg, const struct fk_setting *s, struct fk_err *err)
{
    (void)s;
    ++*(int *)arg;
    return fk_fail(err, FK_E_CANCELLED, "enough");
}

// A callback that ends the call leaves nothing locked behind.
static void test_callback_ends(void **state)
{
    struct world *w = *state;
    struct fk_err err;
    int n = 0;
    assert_int_equal(set(w->a, "t", "a", "", 1), 0);
    assert_int_equal(set(w->a, "t", "b", "", 1), 0);
    fk_test_fails(
        fk_state_settings(w->a, FK_S("t"), (struct fk_state_each_setting){stop, &n}, &err),
        FK_E_CANCELLED);
    assert_int_equal(n, 1);
    assert_int_equal(set(w->b, "t", "c", "", 1), 0);
    assert_settings(w->a, "t", "a=@1,b=@1,c=@1,");
}

// ---- tokens ----

static struct fk_token token_of(const char *id, int64_t created)
{
    struct fk_token t = {.id = fk_str_of(id),
                         .name = FK_S("a name"),
                         .tenants = FK_S("one|two"),
                         .scopes = FK_SCOPE_PUSH | FK_SCOPE_ADMIN,
                         .created_ms = created,
                         .expires_ms = created + 100};
    for (int i = 0; i < FK_TOKEN_HASH; i++)
        t.hash[i] = (uint8_t)(i * 7 + id[0]);
    return t;
}

static int on_token(void *arg, const struct fk_token *t, struct fk_err *err)
{
    fk_buf_printf(arg, "%.*s %.*s %.*s %u %d %lld %lld %lld,", FK_STR_ARG(t->id),
                  FK_STR_ARG(t->name), FK_STR_ARG(t->tenants), t->scopes, t->hash[31],
                  (long long)t->created_ms, (long long)t->expires_ms, (long long)t->revoked_ms);
    return fk_buf_check(arg, "list", err);
}

static void assert_tokens(struct fk_state *s, const char *expected)
{
    struct fk_buf got;
    struct fk_err err;
    fk_buf_init(&got, 0);
    fk_test_ok(fk_state_tokens(s, (struct fk_state_each_token){on_token, &got}, &err), &err);
    fk_buf_byte(&got, 0);
    assert_string_equal(got.p, expected);
    fk_buf_free(&got);
}

static uint64_t changes(struct fk_state *s)
{
    struct fk_err err;
    uint64_t n = 0;
    fk_test_ok(fk_state_changes(s, &n, &err), &err);
    return n;
}

static void test_tokens(void **state)
{
    struct world *w = *state;
    struct fk_err err;
    struct fk_token t = token_of("b", 5), early = token_of("c", 4);
    uint64_t first = changes(w->a), second, third;
    fk_test_ok(fk_state_token_add(w->b, &t, &err), &err);
    second = changes(w->a);
    assert_int_not_equal(first, second);
    fk_test_fails(fk_state_token_add(w->a, &t, &err), FK_E_EXISTS);
    assert_int_equal(changes(w->b), second);
    fk_test_ok(fk_state_token_add(w->a, &early, &err), &err);
    assert_tokens(w->a, "c a name one|two 5 60 4 104 0,b a name one|two 5 59 5 105 0,");
    third = changes(w->a);
    fk_test_ok(fk_state_token_revoke(w->b, FK_S("c"), 50, &err), &err);
    assert_int_not_equal(changes(w->a), third);
    fk_test_ok(fk_state_token_revoke(w->b, FK_S("c"), 60, &err), &err);
    assert_tokens(w->a, "c a name one|two 5 60 4 104 50,b a name one|two 5 59 5 105 0,");
    fk_test_fails(fk_state_token_revoke(w->a, FK_S("d"), 50, &err), FK_E_NOTFOUND);
    assert_int_equal(set(w->a, "t", "a", "", 1), 0);
    third = changes(w->a);
    assert_int_equal(set(w->b, "t", "b", "", 1), 0);
    assert_int_equal(changes(w->a), third); // settings are no tokens
}

// ---- the file ----

static void test_kept(void **state)
{
    struct world *w = *state;
    struct fk_err err;
    struct fk_token t = token_of("b", 5);
    fk_test_ok(fk_state_token_add(w->a, &t, &err), &err);
    assert_int_equal(set(w->a, "t", "a", "x", 1), 0);
    fk_state_close(w->a);
    fk_state_close(w->b);
    w->b = NULL;
    fk_test_ok(fk_state_open(w->path, &w->a, &err), &err);
    assert_tokens(w->a, "b a name one|two 5 59 5 105 0,");
    assert_settings(w->a, "t", "a=x@1,");
}

static void test_newer_version(void **state)
{
    struct world *w = *state;
    struct fk_err err;
    struct fk_state *again;
    sqlite3 *raw;
    assert_int_equal(sqlite3_open(w->path, &raw), SQLITE_OK);
    assert_int_equal(sqlite3_exec(raw, "UPDATE schema_version SET version = 99", 0, 0, 0), 0);
    sqlite3_close(raw);
    fk_test_fails(fk_state_open(w->path, &again, &err), FK_E_UNSUPPORTED);
    assert_non_null(strstr(err.msg, "newer flamekeep"));
}

static void test_damaged(void **state)
{
    struct world *w = *state;
    struct fk_err err;
    struct fk_state *s;
    char path[FK_PATH_MAX];
    fk_test_ok(fk_path_printf(path, &err, "%s/other.db", w->dir), &err);
    fk_test_ok(
        fk_fs_write_file(fk_fs_real(), path, FK_S("this is no database at all, is it?"), &err),
        &err);
    fk_test_fails(fk_state_open(path, &s, &err), FK_E_CORRUPT);
    assert_non_null(strstr(err.msg, "backup"));
    fk_test_ok(fk_path_printf(path, &err, "%s/none/state.db", w->dir), &err);
    fk_test_fails(fk_state_open(path, &s, &err), FK_E_NOTFOUND);
}

// Every allocation fails in turn: an error, and nothing is done by halves.
static void test_no_memory(void **state)
{
    struct world *w = *state;
    struct fk_err err;
    bool failed = true;
    for (uint64_t k = 1; failed && k < 50; k++) {
        struct fk_state *s = NULL;
        fk_mem_fail_after(k, true);
        int r = fk_state_open(w->path, &s, &err);
        if (r == 0)
            r = set(s, "t", "a", "x", 1);
        failed = fk_mem_failed() > 0;
        fk_mem_fail_after(0, false);
        assert_int_equal(r, failed ? -FK_E_NOMEM : 0);
        fk_state_close(s);
        assert_settings(w->a, "t", r ? "" : "a=x@1,");
    }
    assert_false(failed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_settings, setup, teardown),
        cmocka_unit_test_setup_teardown(test_settings_limits, setup, teardown),
        cmocka_unit_test_setup_teardown(test_callback_ends, setup, teardown),
        cmocka_unit_test_setup_teardown(test_tokens, setup, teardown),
        cmocka_unit_test_setup_teardown(test_kept, setup, teardown),
        cmocka_unit_test_setup_teardown(test_newer_version, setup, teardown),
        cmocka_unit_test_setup_teardown(test_damaged, setup, teardown),
        cmocka_unit_test_setup_teardown(test_no_memory, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
