// SPDX-License-Identifier: Apache-2.0
// Rows in, rows out, and every transition, on a real folder.
#include "catalog/catalog.h"
#include "support/support.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>

#define TENANT FK_S("anonymous")
#define DAY_NS (86400 * FK_NS_PER_S)

struct world {
    char *dir;
    char path[FK_PATH_MAX];
    struct fk_catalog *c;
};

static int setup(void **state)
{
    struct fk_err err;
    struct world *w = calloc(1, sizeof(*w));
    w->dir = fk_test_tmpdir();
    fk_test_ok(fk_path_printf(w->path, &err, "%s/catalog.db", w->dir), &err);
    fk_test_ok(fk_catalog_open(fk_fs_real(), w->path, &w->c, &err), &err);
    *state = w;
    return 0;
}

static int teardown(void **state)
{
    struct world *w = *state;
    fk_catalog_close(w->c);
    fk_test_rmtree(w->dir);
    free(w);
    return 0;
}

static struct fk_id id_of(uint64_t n)
{
    return (struct fk_id){0x0193000000007000u + n, 0x8000000000000000u | n};
}

// A block over [day, day + 1) with n profiles.
static struct fk_catalog_add add_of(uint64_t n, int64_t day)
{
    return (struct fk_catalog_add){.block = {.id = id_of(n),
                                             .tenant = TENANT,
                                             .level = 1,
                                             .min_id = id_of(n * 100),
                                             .max_id = id_of(n * 100 + 99),
                                             .min_time_ns = day * DAY_NS + 5,
                                             .max_time_ns = day * DAY_NS + 1000,
                                             .min_received_ns = day * DAY_NS + 7,
                                             .max_received_ns = day * DAY_NS + 2000,
                                             .bytes = 1000 * n,
                                             .profiles = n,
                                             .samples = 10 * n}};
}

struct got {
    FK_VEC(struct fk_catalog_block) block;
    FK_VEC(struct fk_catalog_dataset) dataset;
    FK_VEC(struct fk_catalog_series) series;
    struct fk_buf text; // what was shown, each ended by a comma
};

static void got_init(struct got *g)
{
    *g = (struct got){0};
    fk_buf_init(&g->text, 0);
}

static void got_free(struct got *g)
{
    fk_vec_free(&g->block);
    fk_vec_free(&g->dataset);
    fk_vec_free(&g->series);
    fk_buf_free(&g->text);
}

static int on_block(void *arg, const struct fk_catalog_block *b, struct fk_err *err)
{
    struct got *g = arg;
    struct fk_catalog_block copy = *b;
    (void)err;
    assert_true(fk_str_eq(b->tenant, TENANT));
    copy.tenant = TENANT;
    for (size_t i = 0; i < b->replaces_n; i++)
        fk_buf_printf(&g->text, "%u,", (unsigned)(b->replaces[i].hi - id_of(0).hi));
    copy.replaces = NULL;
    return fk_vec_push(&g->block, copy);
}

static int on_text(void *arg, struct fk_str text, struct fk_err *err)
{
    struct got *g = arg;
    (void)err;
    fk_buf_str(&g->text, text);
    fk_buf_byte(&g->text, ',');
    return 0;
}

static int on_dataset(void *arg, const struct fk_catalog_dataset *d, struct fk_err *err)
{
    struct got *g = arg;
    on_text(g, d->service, err);
    on_text(g, d->types, err);
    return fk_vec_push(&g->dataset, *d);
}

static int on_series(void *arg, const struct fk_catalog_series *s, struct fk_err *err)
{
    struct got *g = arg;
    for (size_t i = 0; i < s->labels_n; i++) {
        fk_buf_str(&g->text, s->labels[i].name);
        fk_buf_byte(&g->text, '=');
        on_text(g, s->labels[i].value, err);
    }
    return fk_vec_push(&g->series, *s);
}

static int on_day(void *arg, int32_t day, uint64_t series, struct fk_err *err)
{
    struct got *g = arg;
    (void)err;
    fk_buf_printf(&g->text, "%d:%u,", (int)day, (unsigned)series);
    return 0;
}

#define assert_texts(g, expected)                                                                  \
    do {                                                                                           \
        fk_buf_byte(&(g)->text, 0);                                                                \
        assert_string_equal((g)->text.p, expected);                                                \
        fk_buf_clear(&(g)->text);                                                                  \
    } while (0)

static size_t count_blocks(struct world *w, struct fk_catalog_filter f)
{
    struct fk_err err;
    struct got g;
    got_init(&g);
    fk_test_ok(fk_catalog_blocks(w->c, &f, (struct fk_catalog_each_block){on_block, &g}, &err),
               &err);
    size_t n = g.block.n;
    got_free(&g);
    return n;
}

static void test_block_round_trip(void **state)
{
    struct world *w = *state;
    struct fk_err err;
    struct got g;
    got_init(&g);
    struct fk_id replaces[] = {id_of(7), id_of(8)};
    struct fk_catalog_add a = add_of(1, 20000);
    struct fk_catalog_dataset sets[] = {
        {FK_S("api"), -5, 6, 4096, 100, FK_S("cpu")},
        {FK_S("we\0rd"), 1, 2, 0, 4096, FK_S("")},
    };
    bool added = false;
    a.block.replaces = replaces;
    a.block.replaces_n = 2;
    a.datasets = sets;
    a.datasets_n = 2;
    fk_test_ok(fk_catalog_add(w->c, &a, &added, &err), &err);
    assert_true(added);
    fk_test_ok(fk_catalog_get(w->c, id_of(1), (struct fk_catalog_each_block){on_block, &g}, &err),
               &err);
    assert_int_equal(g.block.n, 1);
    const struct fk_catalog_block *b = &g.block.v[0];
    assert_int_equal(fk_id_cmp(b->id, a.block.id), 0);
    assert_int_equal(fk_id_cmp(b->min_id, a.block.min_id), 0);
    assert_int_equal(fk_id_cmp(b->max_id, a.block.max_id), 0);
    assert_int_equal(b->level, a.block.level);
    assert_true(b->min_time_ns == a.block.min_time_ns && b->max_time_ns == a.block.max_time_ns);
    assert_true(b->min_received_ns == a.block.min_received_ns);
    assert_true(b->max_received_ns == a.block.max_received_ns);
    assert_true(b->bytes == 1000 && b->profiles == 1 && b->samples == 10);
    assert_texts(&g, "7,8,");
    struct fk_catalog_each_dataset each = {on_dataset, &g};
    fk_test_ok(fk_catalog_datasets(w->c, id_of(1), each, &err), &err);
    assert_int_equal(g.dataset.n, 2);
    assert_int_equal(g.dataset.v[0].length, 4096);
    assert_int_equal(g.dataset.v[1].offset, 4096);
    assert_int_equal(g.dataset.v[1].min_time_ns, -5);
    assert_int_equal(g.text.n, sizeof("we\0rd,,api,cpu,") - 1);
    assert_memory_equal(g.text.p, "we\0rd,,api,cpu,", g.text.n);
    fk_test_fails(
        fk_catalog_get(w->c, id_of(2), (struct fk_catalog_each_block){on_block, &g}, &err),
        FK_E_NOTFOUND);
    got_free(&g);
}

static void test_add_is_idempotent_and_replaces(void **state)
{
    struct world *w = *state;
    struct fk_err err;
    struct fk_catalog_filter all = {.tenant = TENANT, FK_CATALOG_ALL_TIMES};
    bool added, replaced;
    for (uint64_t i = 1; i <= 3; i++) {
        struct fk_id pack = id_of(100 + i);
        struct fk_catalog_add a = add_of(i, 20000);
        a.block.replaces = &pack;
        a.block.replaces_n = 1;
        for (int twice = 0; twice < 2; twice++) {
            fk_test_ok(fk_catalog_add(w->c, &a, &added, &err), &err);
            assert_int_equal(added, !twice);
        }
    }
    assert_int_equal(count_blocks(w, all), 3);
    struct fk_id two[] = {id_of(1), id_of(2)};
    struct fk_catalog_add merged = add_of(4, 20000);
    merged.block.level = 2;
    merged.block.replaces = two;
    merged.block.replaces_n = 2;
    fk_test_ok(fk_catalog_add(w->c, &merged, &added, &err), &err);
    assert_true(added);
    assert_int_equal(count_blocks(w, all), 2);
    // a replaced block does not come back, as when a rebuild meets it later
    struct fk_catalog_add again = add_of(1, 20000);
    fk_test_ok(fk_catalog_add(w->c, &again, &added, &err), &err);
    assert_false(added);
    assert_int_equal(count_blocks(w, all), 2);
    for (uint64_t i = 101; i <= 103; i++) {
        fk_test_ok(fk_catalog_replaced(w->c, id_of(i), &replaced, &err), &err);
        assert_true(replaced); // also through the block that was itself replaced
    }
    fk_test_ok(fk_catalog_replaced(w->c, id_of(3), &replaced, &err), &err);
    assert_false(replaced);
    fk_test_ok(fk_catalog_check(w->c, &err), &err);
    merged.block.replaces = &merged.block.id;
    fk_test_fails(fk_catalog_add(w->c, &merged, NULL, &err), FK_E_INVALID);
}

static void test_filters(void **state)
{
    struct world *w = *state;
    struct fk_err err;
    struct fk_catalog_totals totals;
    for (uint64_t i = 1; i <= 5; i++) {
        struct fk_catalog_add a = add_of(6 - i, 20000 + (int64_t)i);
        fk_test_ok(fk_catalog_add(w->c, &a, NULL, &err), &err);
    }
    struct fk_catalog_filter f = {.tenant = TENANT, FK_CATALOG_ALL_TIMES};
    assert_int_equal(count_blocks(w, f), 5);
    f.tenant = FK_S("other");
    assert_int_equal(count_blocks(w, f), 0);
    f.tenant = FK_S("");
    assert_int_equal(count_blocks(w, f), 5);
    f.from_ns = 20002 * DAY_NS + 1000; // both ends of a block are in it
    f.until_ns = 20003 * DAY_NS + 6;
    assert_int_equal(count_blocks(w, f), 2);
    f.until_ns--;
    assert_int_equal(count_blocks(w, f), 1);
    f = (struct fk_catalog_filter){FK_CATALOG_ALL_TIMES,
                                   .received_before_ns = 20003 * DAY_NS + 2000};
    assert_int_equal(count_blocks(w, f), 2);
    f = (struct fk_catalog_filter){.tenant = TENANT, FK_CATALOG_ALL_TIMES, .after = id_of(2)};
    assert_int_equal(count_blocks(w, f), 3);
    f.limit = 2;
    assert_int_equal(count_blocks(w, f), 2);
    struct got g;
    got_init(&g);
    f = (struct fk_catalog_filter){FK_CATALOG_ALL_TIMES, .by_received = true, .limit = 1};
    for (int i = 0; i < 2; i++) {
        f.tenant = i ? TENANT : FK_S("");
        fk_test_ok(fk_catalog_blocks(w->c, &f, (struct fk_catalog_each_block){on_block, &g}, &err),
                   &err);
        assert_int_equal(fk_id_cmp(g.block.v[i].id, id_of(5)), 0);
    }
    got_free(&g);
    fk_test_ok(fk_catalog_totals(w->c, TENANT, &totals, &err), &err);
    assert_int_equal(totals.blocks, 5);
    assert_int_equal(totals.bytes, 15000);
    assert_int_equal(totals.samples, 150);
    assert_true(totals.min_time_ns == 20001 * DAY_NS + 5);
    fk_test_ok(fk_catalog_totals(w->c, FK_S("other"), &totals, &err), &err);
    assert_int_equal(totals.blocks, 0);
    assert_int_equal(totals.bytes, 0);
}

#define L(lit)                                                                                     \
    {                                                                                              \
        lit, sizeof(lit) - 1                                                                       \
    }
static const struct fk_catalog_label api_a[] = {{L("pod"), L("a")}, {L("service_name"), L("api")}};
static const struct fk_catalog_label api_b[] = {{L("pod"), L("b\0\xff")},
                                                {L("service_name"), L("api")}};
static const struct fk_catalog_label web[] = {{L("service_name"), L("web")}, {L("version"), L("")}};

static void add_series(struct world *w)
{
    struct fk_err err;
    struct fk_catalog_series series[] = {
        {20000, UINT64_MAX, FK_S("api"), api_a, 2},
        {20001, UINT64_MAX, FK_S("api"), api_a, 2},
        {20000, 7, FK_S("api"), api_b, 2},
        {20001, 8, FK_S("web"), web, 2},
        {20001, 8, FK_S("web"), web, 2},
    };
    for (uint64_t i = 1; i <= 2; i++) {
        struct fk_catalog_add a = add_of(i, 20000);
        a.block.max_time_ns += DAY_NS;
        a.series = series;
        a.series_n = FK_COUNTOF(series);
        fk_test_ok(fk_catalog_add(w->c, &a, NULL, &err), &err);
    }
}

static void test_series(void **state)
{
    struct world *w = *state;
    struct fk_err err;
    struct got g;
    got_init(&g);
    struct fk_catalog_days days = {TENANT, 20000, 20001, FK_S("")};
    struct fk_catalog_each_series each = {on_series, &g};
    struct fk_catalog_each_text text = {.on = on_text, .arg = &g};
    add_series(w);
    fk_test_ok(fk_catalog_series(w->c, &days, 0, each, &err), &err);
    assert_int_equal(g.series.n, 3);
    g.series.n = 0;
    fk_buf_clear(&g.text);
    fk_test_ok(fk_catalog_series(w->c, &days, 2, each, &err), &err);
    assert_int_equal(g.series.n, 2);
    fk_buf_clear(&g.text);
    days.from = 20001;
    days.service = FK_S("api");
    fk_test_ok(fk_catalog_series(w->c, &days, 0, each, &err), &err);
    assert_texts(&g, "pod=a,service_name=api,");
    assert_true(g.series.v[2].hash == UINT64_MAX);
    days.from = 20000;
    fk_test_ok(fk_catalog_label_names(w->c, &days, FK_S(""), 0, text, &err), &err);
    assert_texts(&g, "pod,service_name,");
    days.service = FK_S("");
    fk_test_ok(fk_catalog_label_names(w->c, &days, FK_S(""), 0, text, &err), &err);
    assert_texts(&g, "pod,service_name,version,");
    fk_test_ok(fk_catalog_label_names(w->c, &days, FK_S("s"), 0, text, &err), &err);
    assert_texts(&g, "service_name,");
    fk_test_ok(fk_catalog_label_values(w->c, &days, FK_S("service_name"), FK_S(""), 1, text, &err),
               &err);
    assert_texts(&g, "api,");
    fk_test_ok(fk_catalog_label_values(w->c, &days, FK_S("pod"), FK_S("b"), 0, text, &err), &err);
    assert_int_equal(g.text.n, 4);
    assert_memory_equal(g.text.p, "b\0\xff,", 4);
    fk_buf_clear(&g.text);
    fk_test_ok(fk_catalog_services(w->c, &days, FK_S(""), 0, text, &err), &err);
    assert_texts(&g, "api,web,");
    fk_test_ok(fk_catalog_each_day(w->c, &days, (struct fk_catalog_each_day){on_day, &g}, &err),
               &err);
    assert_texts(&g, "20000:2,20001:2,");
    days.service = FK_S("api");
    fk_test_ok(fk_catalog_each_day(w->c, &days, (struct fk_catalog_each_day){on_day, &g}, &err),
               &err);
    assert_texts(&g, "20000:2,20001:1,");
    got_free(&g);
}

static int refuse_text(void *arg, struct fk_str text, struct fk_err *err)
{
    (void)arg;
    return fk_fail(err, FK_E_CANCELLED, "enough of %.*s", FK_STR_ARG(text));
}

static int refuse_series(void *arg, const struct fk_catalog_series *s, struct fk_err *err)
{
    (void)s;
    return refuse_text(arg, FK_S("series"), err);
}

static int refuse_block(void *arg, const struct fk_catalog_block *b, struct fk_err *err)
{
    (void)b;
    return refuse_text(arg, FK_S("blocks"), err);
}

static void test_callbacks_end_calls(void **state)
{
    struct world *w = *state;
    struct fk_err err;
    struct fk_catalog_days days = {TENANT, 20000, 20001, FK_S("")};
    struct fk_catalog_filter all = {FK_CATALOG_ALL_TIMES};
    add_series(w);
    for (int i = 0; i < 2; i++) { // and the statements can be used again
        fk_test_fails(fk_catalog_services(w->c, &days, FK_S(""), 0,
                                          (struct fk_catalog_each_text){refuse_text, NULL}, &err),
                      FK_E_CANCELLED);
        fk_test_fails(fk_catalog_series(w->c, &days, 0,
                                        (struct fk_catalog_each_series){refuse_series, NULL}, &err),
                      FK_E_CANCELLED);
        fk_test_fails(
            fk_catalog_blocks(w->c, &all, (struct fk_catalog_each_block){refuse_block, NULL}, &err),
            FK_E_CANCELLED);
    }
}

static void test_attrs_are_capped(void **state)
{
    struct world *w = *state;
    struct fk_err err;
    struct got g;
    got_init(&g);
    struct fk_catalog_each_text text = {.on = on_text, .arg = &g};
    static struct fk_catalog_attr attrs[1004];
    static char value[1001][16];
    for (int i = 0; i < 1001; i++) {
        snprintf(value[i], sizeof(value[i]), "v%04d", i);
        attrs[i] = (struct fk_catalog_attr){20000, FK_S("api"), FK_S("span"), fk_str_of(value[i])};
    }
    attrs[1001] = (struct fk_catalog_attr){20000, FK_S("api"), FK_S("thread"), FK_S("main")};
    attrs[1002] = (struct fk_catalog_attr){20000, FK_S("web"), FK_S("thread"), FK_S("")};
    attrs[1003] = (struct fk_catalog_attr){20000, FK_S("web"), FK_S("known"), .capped = true};
    struct fk_catalog_days days = {TENANT, 20000, 20000, FK_S("")};
    bool capped;
    text.ret_capped = &capped;
    struct fk_catalog_add a = add_of(1, 20000);
    a.attrs = attrs;
    a.attrs_n = 1000; // exactly as many as are kept
    fk_test_ok(fk_catalog_add(w->c, &a, NULL, &err), &err);
    fk_test_ok(fk_catalog_attr_values(w->c, &days, FK_S("span"), FK_S("v0"), 2, text, &err), &err);
    assert_false(capped);
    assert_texts(&g, "v0000,v0001,");
    a = add_of(2, 20000);
    a.attrs = attrs;
    a.attrs_n = FK_COUNTOF(attrs);
    fk_test_ok(fk_catalog_add(w->c, &a, NULL, &err), &err);
    fk_test_ok(fk_catalog_attr_values(w->c, &days, FK_S("span"), FK_S(""), 0, text, &err), &err);
    assert_true(capped);
    assert_texts(&g, "");
    a = add_of(3, 20000); // once capped, always
    a.attrs = attrs;
    a.attrs_n = 1;
    fk_test_ok(fk_catalog_add(w->c, &a, NULL, &err), &err);
    fk_test_ok(fk_catalog_attr_names(w->c, &days, FK_S(""), 0, text, &err), &err);
    assert_texts(&g, "known,span,thread,");
    fk_test_ok(fk_catalog_attr_values(w->c, &days, FK_S("span"), FK_S(""), 0, text, &err), &err);
    assert_true(capped);
    assert_texts(&g, "");
    fk_test_ok(fk_catalog_attr_values(w->c, &days, FK_S("thread"), FK_S(""), 0, text, &err), &err);
    assert_false(capped);
    assert_texts(&g, ",main,");
    days.service = FK_S("web");
    fk_test_ok(fk_catalog_attr_names(w->c, &days, FK_S(""), 0, text, &err), &err);
    assert_texts(&g, "known,thread,");
    fk_test_ok(fk_catalog_attr_values(w->c, &days, FK_S("thread"), FK_S(""), 0, text, &err), &err);
    assert_texts(&g, ",");
    got_free(&g);
}

static void test_delete_trim_wipe(void **state)
{
    struct world *w = *state;
    struct fk_err err;
    struct got g;
    got_init(&g);
    struct fk_catalog_days days = {TENANT, INT32_MIN, INT32_MAX, FK_S("")};
    struct fk_catalog_each_day each = {on_day, &g};
    for (int64_t day = -1; day <= 2; day++) {
        struct fk_catalog_series s = {(int32_t)day, 1, FK_S("api"), api_a, 2};
        struct fk_catalog_attr attr = {(int32_t)day, FK_S("api"), FK_S("n"), FK_S("v")};
        struct fk_catalog_add a = add_of((uint64_t)(day + 2), day);
        a.series = &s;
        a.series_n = 1;
        a.attrs = &attr;
        a.attrs_n = 1;
        fk_test_ok(fk_catalog_add(w->c, &a, NULL, &err), &err);
    }
    struct fk_id ids[] = {id_of(1), id_of(3), id_of(77)};
    fk_test_ok(fk_catalog_delete(w->c, ids, 3, &err), &err);
    fk_test_ok(fk_catalog_delete(w->c, ids, 3, &err), &err);
    assert_int_equal(count_blocks(w, (struct fk_catalog_filter){FK_CATALOG_ALL_TIMES}), 2);
    fk_test_ok(fk_catalog_trim_days(w->c, TENANT, &err), &err);
    fk_test_ok(fk_catalog_each_day(w->c, &days, each, &err), &err);
    assert_texts(&g, "0:1,2:1,");
    fk_test_ok(fk_catalog_check(w->c, &err), &err);
    fk_test_ok(fk_catalog_wipe(w->c, &err), &err);
    assert_int_equal(count_blocks(w, (struct fk_catalog_filter){FK_CATALOG_ALL_TIMES}), 0);
    fk_test_ok(fk_catalog_each_day(w->c, &days, each, &err), &err);
    assert_texts(&g, "");
    got_free(&g);
}

static void test_reopen_and_lock(void **state)
{
    struct world *w = *state;
    struct fk_err err;
    struct fk_catalog *second;
    struct fk_catalog_add a = add_of(1, 20000);
    fk_test_ok(fk_catalog_add(w->c, &a, NULL, &err), &err);
    fk_test_fails(fk_catalog_open(fk_fs_real(), w->path, &second, &err), FK_E_BUSY);
    fk_test_ok(fk_catalog_checkpoint(w->c, &err), &err);
    fk_catalog_close(w->c);
    w->c = NULL;
    fk_test_ok(fk_catalog_open(fk_fs_real(), w->path, &w->c, &err), &err);
    assert_int_equal(count_blocks(w, (struct fk_catalog_filter){FK_CATALOG_ALL_TIMES}), 1);
}

static void overwrite(const char *path, uint64_t offset, const char *text)
{
    struct fk_err err;
    struct fk_file *f;
    fk_test_ok(fk_fs_open(fk_fs_real(), path, FK_OPEN_WRITE, &f, &err), &err);
    fk_test_ok(fk_file_write_at(f, offset, text, strlen(text), &err), &err);
    fk_file_close(f);
}

static void test_damage_is_said(void **state)
{
    struct world *w = *state;
    struct fk_err err;
    fk_catalog_close(w->c);
    w->c = NULL;
    overwrite(w->path, 0, "this is no database");
    fk_test_fails(fk_catalog_open(fk_fs_real(), w->path, &w->c, &err), FK_E_CORRUPT);
    assert_non_null(strstr(err.msg, w->path));
    assert_non_null(strstr(err.msg, "check --rebuild"));
    fk_test_ok(fk_catalog_remove(fk_fs_real(), w->path, &err), &err);
    fk_test_ok(fk_catalog_remove(fk_fs_real(), w->path, &err), &err);
    fk_test_ok(fk_catalog_open(fk_fs_real(), w->path, &w->c, &err), &err);
    fk_test_ok(fk_catalog_check(w->c, &err), &err);
}

static void test_days(void **state)
{
    (void)state;
    assert_int_equal(fk_catalog_day(0), 0);
    assert_int_equal(fk_catalog_day(DAY_NS - 1), 0);
    assert_int_equal(fk_catalog_day(DAY_NS), 1);
    assert_int_equal(fk_catalog_day(-1), -1);
    assert_int_equal(fk_catalog_day(-DAY_NS), -1);
    assert_int_equal(fk_catalog_day(-DAY_NS - 1), -2);
    assert_int_equal(fk_catalog_day(INT64_MIN), -106752);
}

struct hand {
    struct world *w;
    uint64_t first;
};

static void work_along(void *arg)
{
    struct hand *h = arg;
    for (uint64_t i = 0; i < 25; i++) {
        struct fk_catalog_add a = add_of(h->first + i, 20000);
        assert_int_equal(fk_catalog_add(h->w->c, &a, NULL, NULL), 0);
        size_t n = count_blocks(h->w, (struct fk_catalog_filter){FK_CATALOG_ALL_TIMES});
        assert_true(n > i && n <= 75);
    }
}

static void test_many_threads(void **state)
{
    struct fk_err err;
    struct hand h[3];
    struct fk_thread t[3];
    for (uint64_t i = 0; i < 3; i++) {
        h[i] = (struct hand){*state, i * 100 + 1};
        fk_test_ok(fk_thread_start(&t[i], "hand", work_along, &h[i], &err), &err);
    }
    for (int i = 0; i < 3; i++)
        fk_thread_join(&t[i]);
    assert_int_equal(count_blocks(*state, (struct fk_catalog_filter){FK_CATALOG_ALL_TIMES}), 75);
}

// A schema of tomorrow is refused in plain words, and left alone.
static void test_newer_version(void **state)
{
    struct world *w = *state;
    struct fk_err err;
    sqlite3 *db;
    fk_catalog_close(w->c);
    w->c = NULL;
    assert_int_equal(sqlite3_open(w->path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, "UPDATE schema_version SET version = 99", 0, 0, 0), 0);
    sqlite3_close(db);
    for (int i = 0; i < 2; i++) {
        fk_test_fails(fk_catalog_open(fk_fs_real(), w->path, &w->c, &err), FK_E_UNSUPPORTED);
        assert_non_null(strstr(err.msg, "version 99"));
        assert_non_null(strstr(err.msg, "newer flamekeep"));
    }
}

// Rows that other hands have spoilt are found out.
static void test_spoilt_rows(void **state)
{
    struct world *w = *state;
    struct fk_err err;
    sqlite3 *db;
    struct got g;
    struct fk_catalog_days days = {TENANT, 20000, 20001, FK_S("")};
    struct fk_catalog_filter all = {FK_CATALOG_ALL_TIMES};
    add_series(w);
    fk_catalog_close(w->c);
    w->c = NULL;
    assert_int_equal(sqlite3_open(w->path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db,
                                  "UPDATE series_day SET labels = x'0200ffffffff';"
                                  "UPDATE blocks SET min_id = x'01';"
                                  "INSERT INTO datasets VALUES (x'77', 0, 1, x'', 0, 0, x'');",
                                  0, 0, 0),
                     0);
    sqlite3_close(db);
    fk_test_ok(fk_catalog_open(fk_fs_real(), w->path, &w->c, &err), &err);
    got_init(&g);
    fk_test_fails(fk_catalog_label_names(w->c, &days, FK_S(""), 0,
                                         (struct fk_catalog_each_text){on_text, &g}, &err),
                  FK_E_CORRUPT);
    fk_test_fails(fk_catalog_blocks(w->c, &all, (struct fk_catalog_each_block){on_block, &g}, &err),
                  FK_E_CORRUPT);
    fk_test_fails(fk_catalog_check(w->c, &err), FK_E_CORRUPT);
    got_free(&g);
}

// Whatever allocation fails, the call fails or succeeds whole.
static void test_no_memory(void **state)
{
    struct world *w = *state;
    struct fk_err err;
    struct fk_catalog_series series = {20000, 1, FK_S("api"), api_a, 2};
    struct fk_id pack = id_of(100);
    struct fk_catalog_add a = add_of(1, 20000);
    a.block.replaces = &pack;
    a.block.replaces_n = 1;
    a.series = &series;
    a.series_n = 1;
    struct fk_catalog_days days = {TENANT, 20000, 20001, FK_S("")};
    for (uint64_t k = 1;; k++) {
        struct got g;
        got_init(&g);
        struct fk_catalog *c = NULL;
        char path[FK_PATH_MAX];
        fk_test_ok(fk_path_printf(path, &err, "%s/sweep.db", w->dir), &err);
        fk_mem_fail_after(k, false);
        int r = fk_catalog_open(fk_fs_real(), path, &c, &err);
        if (r == 0)
            r = fk_catalog_add(c, &a, NULL, &err);
        if (r == 0)
            r = fk_catalog_label_names(c, &days, FK_S(""), 0,
                                       (struct fk_catalog_each_text){on_text, &g}, &err);
        bool failed = fk_mem_failed() > 0;
        fk_mem_fail_after(0, false);
        fk_catalog_close(c);
        if (r == 0 && !g.text.failed)
            assert_texts(&g, "pod,service_name,");
        got_free(&g);
        if (!failed) {
            assert_int_equal(r, 0);
            break;
        }
        if (r)
            assert_true(r == -FK_E_NOMEM || r == -FK_E_IO);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_block_round_trip, setup, teardown),
        cmocka_unit_test_setup_teardown(test_add_is_idempotent_and_replaces, setup, teardown),
        cmocka_unit_test_setup_teardown(test_filters, setup, teardown),
        cmocka_unit_test_setup_teardown(test_series, setup, teardown),
        cmocka_unit_test_setup_teardown(test_callbacks_end_calls, setup, teardown),
        cmocka_unit_test_setup_teardown(test_attrs_are_capped, setup, teardown),
        cmocka_unit_test_setup_teardown(test_delete_trim_wipe, setup, teardown),
        cmocka_unit_test_setup_teardown(test_reopen_and_lock, setup, teardown),
        cmocka_unit_test_setup_teardown(test_damage_is_said, setup, teardown),
        cmocka_unit_test(test_days),
        cmocka_unit_test_setup_teardown(test_many_threads, setup, teardown),
        cmocka_unit_test_setup_teardown(test_newer_version, setup, teardown),
        cmocka_unit_test_setup_teardown(test_spoilt_rows, setup, teardown),
        cmocka_unit_test_setup_teardown(test_no_memory, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
