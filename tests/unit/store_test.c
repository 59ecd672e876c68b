// SPDX-License-Identifier: Apache-2.0
// The engine on the real file system: append, read back, seal, restart, rebuild, retention, full
// disk, many threads.
#include "store/store.h"

#include "blob/blob.h"
#include "os/simfs.h"
#include "support/profiles.h"
#include "support/support.h"
#include "support/test.h"

static const struct fk_gen gen = {
    .rows = 60, .types = 2, .depth = 12, .functions = 60, .attributes = true, .mappings = true};

// What was acknowledged: id and canonical text.
struct kept {
    struct fk_id id;
    char *text;
};

struct world {
    char *tmp;
    struct fk_store *store;
    struct fk_store_opts opts;
    struct kept kept[400];
    size_t n;
    struct fk_rng rng;
};

static char *text_of(const struct fk_profile *p)
{
    struct fk_buf b;
    size_t n;
    fk_buf_init(&b, 0);
    fk_profile_text(p, &b);
    fk_buf_byte(&b, 0);
    return fk_buf_take(&b, &n);
}

static void reopen(struct world *w, bool rebuild)
{
    struct fk_err err = {0};
    fk_store_close(w->store);
    w->store = NULL;
    w->opts.rebuild = rebuild;
    int r = fk_store_open(&w->opts, &w->store, &err);
    if (r)
        fail_msg("open: %s", err.msg);
}

static int setup(void **state)
{
    struct world *w = calloc(1, sizeof(*w));
    w->tmp = fk_test_tmpdir();
    w->opts = (struct fk_store_opts){.dir = w->tmp, .min_free = 1, .run_inline = true};
    w->rng.s = 99;
    *state = w;
    reopen(w, false);
    return 0;
}

static int teardown(void **state)
{
    struct world *w = *state;
    fk_store_close(w->store);
    for (size_t i = 0; i < w->n; i++)
        fk_free(w->kept[i].text);
    fk_test_rmtree(w->tmp);
    free(w);
    return 0;
}

static void push(struct world *w, const char *service, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        FK_AUTO_ARENA a;
        struct fk_profile p;
        struct fk_entry e;
        struct fk_err err = {0};
        fk_arena_init(&a, 0);
        fk_gen_profile(&w->rng, &gen, &a, &p);
        fk_gen_entry(&p, service, (uint32_t)w->n % 3, p.time_ns_start + (int64_t)w->n * 1000000000,
                     &a, &e);
        int r = fk_store_append_wait(w->store, FK_S(FK_TENANT_DEFAULT), &e, &p, &w->kept[w->n].id,
                                     &err);
        if (r)
            fail_msg("append: %s", err.msg);
        w->kept[w->n++].text = text_of(&p);
    }
}

struct reading {
    struct world *w;
    size_t seen;
};

static int read_part(void *arg, const struct fk_part *part, struct fk_err *err)
{
    struct reading *x = arg;
    struct fk_page page = {0};
    struct fk_samples samples = {0};
    FK_AUTO_ARENA a;
    const struct fk_dataset *tables;
    struct fk_symbols sym;
    fk_arena_init(&a, 0);
    assert_int_equal(fk_part_tables(part, &tables, err), 0);
    assert_int_equal(fk_part_symbols(part, &a, &sym, err), 0);
    for (uint32_t p = 0; p < fk_part_pages(part); p++) {
        const struct fk_row *row;
        uint32_t n;
        assert_int_equal(fk_part_page(part, p, &page, &row, &n, err), 0);
        for (uint32_t i = 0; i < n; i++, x->seen++) {
            size_t k = 0;
            while (k < x->w->n && fk_id_cmp(x->w->kept[k].id, row[i].id))
                k++;
            assert_true(k < x->w->n);
            struct fk_profile profile;
            assert_int_equal(fk_row_profile(&row[i], tables, &sym, &samples, &a, &profile, err), 0);
            char *text = text_of(&profile);
            assert_string_equal(text, x->w->kept[k].text);
            fk_free(text);
        }
    }
    fk_page_free(&page);
    fk_samples_free(&samples);
    return 0;
}

static void assert_all_there(struct world *w)
{
    struct fk_snapshot *s;
    struct fk_err err = {0};
    struct reading x = {w, 0};
    assert_int_equal(fk_store_snapshot(w->store, &FK_S(FK_TENANT_DEFAULT), 1, &s, &err), 0);
    assert_int_equal(fk_snapshot_parts(s, INT64_MIN, INT64_MAX, read_part, &x, &err), 0);
    assert_int_equal(x.seen, w->n);
    fk_snapshot_free(s);
}

static void print_problem(void *arg, const char *text)
{
    (void)arg;
    print_error("check: %s\n", text);
}

static void assert_clean(struct world *w)
{
    struct fk_store_check c = {.report = print_problem};
    struct fk_err err = {0};
    assert_int_equal(fk_store_check(w->store, &c, &err), 0);
    assert_int_equal(c.problems, 0);
    assert_int_equal(c.profiles, w->n);
}

static void profiles_survive_restart_seal_and_rebuild(void **state)
{
    struct world *w = *state;
    struct fk_err err = {0};
    struct fk_store_stats stats;
    push(w, "shop", 20);
    assert_all_there(w);
    reopen(w, false);
    assert_all_there(w);
    push(w, "cart", 150);
    assert_clean(w);
    if (fk_store_seal(w->store, &err))
        fail_msg("seal: %s", err.msg);
    fk_store_stats(w->store, &stats);
    assert_int_equal(stats.blocks, 1);
    assert_int_equal(stats.profiles, 170);
    assert_int_equal(stats.head_profiles, 0);
    assert_all_there(w);
    push(w, "shop", 5);
    reopen(w, false);
    assert_all_there(w);
    assert_clean(w);
    reopen(w, true);
    assert_all_there(w);
    assert_clean(w);
    assert_int_equal(fk_store_seal(w->store, &err), 0);
    reopen(w, true);
    assert_all_there(w);
    assert_clean(w);
}

static void ids_rise_across_restarts(void **state)
{
    struct world *w = *state;
    for (int i = 0; i < 3; i++) {
        push(w, "shop", 4);
        reopen(w, false);
    }
    for (size_t i = 1; i < w->n; i++)
        assert_true(fk_id_cmp(w->kept[i - 1].id, w->kept[i].id) < 0);
}

static void old_snapshots_keep_reading(void **state)
{
    struct world *w = *state;
    struct fk_snapshot *s;
    struct fk_err err = {0};
    push(w, "shop", 10);
    assert_int_equal(fk_store_snapshot(w->store, &FK_S(FK_TENANT_DEFAULT), 1, &s, &err), 0);
    struct fk_id max = fk_snapshot_max_id(s);
    push(w, "shop", 10);
    assert_int_equal(fk_store_seal(w->store, &err), 0);
    struct reading x = {w, 0};
    assert_int_equal(fk_snapshot_parts(s, INT64_MIN, INT64_MAX, read_part, &x, &err), 0);
    assert_int_equal(x.seen, 10);
    assert_true(fk_id_cmp(max, w->kept[9].id) == 0);
    fk_snapshot_free(s);
    assert_all_there(w);
}

static void one_process_at_a_time(void **state)
{
    struct world *w = *state;
    struct fk_store *second;
    struct fk_err err = {0};
    assert_int_equal(fk_store_open(&w->opts, &second, &err), -FK_E_BUSY);
    assert_non_null(strstr(err.msg, "--server"));
}

static void other_versions_are_refused(void **state)
{
    struct world *w = *state;
    struct fk_err err = {0};
    char path[FK_PATH_MAX];
    fk_store_close(w->store);
    w->store = NULL;
    assert_int_equal(fk_path_printf(path, &err, "%s/VERSION", w->tmp), 0);
    assert_int_equal(fk_fs_write_file(fk_fs_real(), path, FK_S("7\n"), &err), 0);
    assert_int_equal(fk_store_open(&w->opts, &w->store, &err), -FK_E_UNSUPPORTED);
    assert_non_null(strstr(err.msg, "'7'"));
}

static int push_series(struct world *w, uint32_t pod, int64_t time_ns, struct fk_err *err)
{
    FK_AUTO_ARENA a;
    struct fk_profile p;
    struct fk_entry e;
    struct fk_id id;
    fk_arena_init(&a, 0);
    fk_gen_profile(&w->rng, &gen, &a, &p);
    fk_gen_entry(&p, "api", pod, time_ns, &a, &e);
    return fk_store_append_wait(w->store, FK_S(FK_TENANT_DEFAULT), &e, &p, &id, err);
}

static void series_of_a_day_are_limited(void **state)
{
    struct world *w = *state;
    struct fk_err err = {0};
    const int64_t day = 86400 * FK_NS_PER_S, noon = 20000 * day + day / 2;
    w->opts.series_per_day = 2;
    reopen(w, false);
    fk_test_ok(push_series(w, 0, noon, &err), &err);
    fk_test_ok(push_series(w, 1, noon, &err), &err);
    for (int step = 0; step < 3; step++) { // from the head, replayed, sealed
        assert_int_equal(push_series(w, 2, noon, &err), -FK_E_LIMIT);
        assert_string_equal(err.param, "series");
        assert_string_equal(err.flag, "--limit-series-per-day");
        fk_test_ok(push_series(w, 1, noon + 1, &err), &err);
        if (step == 1)
            fk_test_ok(fk_store_seal(w->store, &err), &err);
        reopen(w, false);
    }
    fk_test_ok(push_series(w, 2, noon + day, &err), &err);
    w->opts.series_per_day = 3;
    reopen(w, false);
    fk_test_ok(push_series(w, 2, noon, &err), &err);
    assert_int_equal(push_series(w, 3, noon, &err), -FK_E_LIMIT);
}

static int flip_byte(void *arg, const char *key, uint64_t size, struct fk_err *err)
{
    char path[FK_PATH_MAX];
    uint8_t byte;
    FK_AUTO_FILE f = NULL;
    struct world *w = arg;
    assert_int_equal(fk_path_printf(path, err, "%s/blob/%s", w->tmp, key), 0);
    assert_int_equal(fk_fs_open(fk_fs_real(), path, FK_OPEN_WRITE, &f, err), 0);
    assert_int_equal(fk_file_read_at(f, size / 2, &byte, 1, err), 0);
    byte ^= 255;
    return fk_file_write_at(f, size / 2, &byte, 1, err);
}

static void count_problem(void *arg, const char *text)
{
    assert_non_null(strstr(text, "blob/damaged/anonymous/"));
    ++*(int *)arg;
}

// A block that a rebuild cannot read is kept for a person: no later start sweeps it.
static void damaged_blocks_are_set_aside(void **state)
{
    struct world *w = *state;
    struct fk_err err = {0};
    push(w, "shop", 10);
    assert_int_equal(fk_store_seal(w->store, &err), 0);
    fk_store_close(w->store);
    w->store = NULL;
    char path[FK_PATH_MAX];
    struct fk_blob *blob;
    assert_int_equal(fk_path_printf(path, &err, "%s/blob", w->tmp), 0);
    assert_int_equal(fk_blob_open_dir(fk_fs_real(), path, &blob, &err), 0);
    fk_test_ok(fk_blob_list(blob, "blocks/", (struct fk_each_blob){flip_byte, w}, &err), &err);
    fk_blob_close(blob);
    for (int i = 0; i < 3; i++) {
        int problems = 0;
        struct fk_store_check c = {.report = count_problem, .arg = &problems};
        reopen(w, i == 0);
        assert_int_equal(fk_store_check(w->store, &c, &err), 0);
        assert_int_equal(problems, 1);
        assert_int_equal(c.profiles, 0);
    }
}

static void retention_by_bytes_and_age(void **state)
{
    struct world *w = *state;
    struct fk_err err = {0};
    struct fk_store_stats stats;
    for (int i = 0; i < 4; i++) {
        push(w, "shop", 10);
        assert_int_equal(fk_store_seal(w->store, &err), 0);
    }
    fk_store_stats(w->store, &stats);
    assert_int_equal(stats.blocks, 4);
    w->opts.retention_age_ns = -1;
    w->opts.retention_bytes = stats.block_bytes - 1;
    reopen(w, false);
    assert_int_equal(fk_store_maintain(w->store, &err), 0);
    fk_store_stats(w->store, &stats);
    assert_int_equal(stats.blocks, 3);
    w->opts.retention_bytes = 0;
    w->opts.retention_age_ns = 86400 * FK_NS_PER_S; // the generated profiles were received in 2023
    reopen(w, false);
    assert_int_equal(fk_store_maintain(w->store, &err), 0);
    fk_store_stats(w->store, &stats);
    assert_int_equal(stats.blocks, 0);
    while (w->n)
        fk_free(w->kept[--w->n].text);
    assert_clean(w);
}

// ---- full disk ----

static void originals_come_back_and_go(void **state)
{
    struct world *w = *state;
    struct fk_err err = {0};
    struct fk_test_clock clock;
    char text[FK_ORIGINAL_NAME], other[FK_ORIGINAL_NAME], small[FK_ORIGINAL_NAME];
    FK_AUTO_BUF bytes;
    FK_AUTO_BUF back;
    fk_buf_init(&bytes, 0);
    fk_buf_init(&back, 0);
    fk_test_clock_init(&clock, 1800000000 * FK_NS_PER_S);
    for (int i = 0; i < 3000; i++)
        fk_buf_printf(&bytes, "main;work;leaf%d %d\n", i % 17, i);
    w->opts.clock = &clock.clock;
    w->opts.originals_bytes = 1 << 20;
    w->opts.originals_age_ns = 3600 * FK_NS_PER_S;
    reopen(w, false);
    fk_test_ok(fk_store_keep_original(w->store, fk_buf_view(&bytes), text, &err), &err);
    fk_test_ok(fk_store_keep_original(w->store, fk_buf_view(&bytes), other, &err), &err);
    assert_string_equal(text, other);
    fk_test_ok(fk_store_keep_original(w->store, FK_S("a 1"), small, &err), &err);
    reopen(w, false); // they are found again
    fk_test_ok(fk_store_original(w->store, fk_str_of(text), &back, &err), &err);
    assert_true(fk_str_eq(fk_buf_view(&back), fk_buf_view(&bytes)));
    fk_buf_clear(&back);
    fk_test_ok(fk_store_original(w->store, fk_str_of(small), &back, &err), &err);
    assert_true(fk_str_eq(fk_buf_view(&back), FK_S("a 1")));
    assert_int_equal(fk_store_original(w->store, FK_S("1-2-3.raw"), &back, &err), -FK_E_NOTFOUND);
    assert_int_equal(fk_store_original(w->store, FK_S("../catalog.db"), &back, &err),
                     -FK_E_NOTFOUND);
    fk_test_clock_add(&clock, 3602 * FK_NS_PER_S);
    fk_test_ok(fk_store_maintain(w->store, &err), &err);
    assert_int_equal(fk_store_original(w->store, fk_str_of(text), &back, &err), -FK_E_NOTFOUND);
    w->opts.originals_bytes = 4000; // the folded text is smaller than that only when compressed
    reopen(w, false);
    assert_int_equal(fk_store_keep_original(w->store, fk_buf_view(&bytes), text, &err),
                     -FK_E_UNSUPPORTED);
    fk_buf_clear(&bytes);
    for (uint32_t i = 0; i < 700; i++)
        fk_buf_le32(&bytes, (uint32_t)fk_hash_u64(i));
    fk_test_ok(fk_store_keep_original(w->store, fk_buf_view(&bytes), text, &err), &err);
    bytes.p[0] ^= 1;
    fk_test_ok(fk_store_keep_original(w->store, fk_buf_view(&bytes), other, &err), &err);
    fk_test_ok(fk_store_maintain(w->store, &err), &err); // 5,600 bytes: the older one goes
    assert_int_equal(fk_store_original(w->store, fk_str_of(text), &back, &err), -FK_E_NOTFOUND);
    fk_test_ok(fk_store_original(w->store, fk_str_of(other), &back, &err), &err);
    fk_store_close(w->store); // before its clock goes
    w->store = NULL;
}

static void what_is_not_to_be_stored_goes_after_an_hour(void **state)
{
    struct world *w = *state;
    struct fk_err err = {0};
    struct fk_store_stats stats;
    FK_AUTO_ARENA a;
    struct fk_profile p;
    struct fk_entry e;
    struct fk_id id;
    struct fk_test_clock clock;
    fk_arena_init(&a, 0);
    fk_gen_profile(&w->rng, &gen, &a, &p);
    fk_gen_entry(&p, "api", 0, p.time_ns_start, &a, &e);
    fk_test_clock_init(&clock, e.received_ns);
    w->opts.clock = &clock.clock;
    reopen(w, false);
    fk_test_ok(fk_store_append_wait(w->store, FK_S(FK_TENANT_DEFAULT), &e, &p, &id, &err), &err);
    fk_test_ok(fk_store_append_wait(w->store, FK_S(FK_TENANT_ADHOC), &e, &p, &id, &err), &err);
    fk_test_ok(fk_store_seal(w->store, &err), &err);
    fk_test_ok(fk_store_maintain(w->store, &err), &err);
    fk_store_stats(w->store, &stats);
    assert_int_equal(stats.blocks, 2);
    fk_test_clock_add(&clock, 3601 * FK_NS_PER_S);
    fk_test_ok(fk_store_maintain(w->store, &err), &err);
    fk_store_stats(w->store, &stats);
    assert_int_equal(stats.blocks, 1);
    fk_store_close(w->store);
    w->store = NULL;
}

static void a_full_disk_refuses_and_recovers(void **state)
{
    (void)state;
    struct fk_simfs *sim;
    struct fk_err err = {0};
    struct fk_rng rng = {3};
    struct fk_store *s;
    struct fk_id id;
    assert_int_equal(
        fk_simfs_new(&(struct fk_simfs_opts){.seed = 1, .capacity = 40u << 20}, &sim, &err), 0);
    struct fk_test_clock clock;
    fk_test_clock_init(&clock, 1700000000000000000);
    struct fk_store_opts o = {.fs = fk_simfs_fs(sim),
                              .dir = "/data",
                              .min_free = 8u << 20,
                              .run_inline = true,
                              .clock = &clock.clock};
    if (fk_store_open(&o, &s, &err))
        fail_msg("open: %s", err.msg);
    int r = 0, stored = 0;
    while (r == 0 && stored < 100000) {
        FK_AUTO_ARENA a;
        struct fk_profile p;
        struct fk_entry e;
        fk_arena_init(&a, 0);
        fk_gen_profile(&rng,
                       &(struct fk_gen){.rows = 6000, .types = 2, .depth = 30, .functions = 4000},
                       &a, &p);
        fk_gen_entry(&p, "shop", 1, 1700000000000000000, &a, &e);
        fk_test_clock_add(&clock, 2 * FK_NS_PER_S);
        r = fk_store_append_wait(s, FK_S(FK_TENANT_DEFAULT), &e, &p, &id, &err);
        stored += r == 0;
    }
    assert_int_equal(r, -FK_E_FULL);
    assert_non_null(strstr(err.msg, "--min-free"));
    struct fk_space space; // not even the last pack was taken from what must stay free
    assert_int_equal(fk_fs_space(o.fs, "/", &space, &err), 0);
    assert_true(space.free >= o.min_free);
    struct fk_store_check c = {.report = print_problem};
    assert_int_equal(fk_store_check(s, &c, &err), 0);
    assert_int_equal(c.problems, 0);
    assert_int_equal(c.profiles, stored);
    fk_simfs_set_capacity(sim, 400u << 20); // somebody made room
    FK_AUTO_ARENA a;
    struct fk_profile p;
    struct fk_entry e;
    fk_arena_init(&a, 0);
    fk_gen_profile(&rng, &gen, &a, &p);
    fk_gen_entry(&p, "shop", 1, 1700000000000000000, &a, &e);
    assert_int_equal(fk_store_append_wait(s, FK_S(FK_TENANT_DEFAULT), &e, &p, &id, &err), 0);
    fk_store_close(s);
    fk_simfs_free(sim);
}

// ---- threads ----

struct pusher {
    struct fk_thread thread;
    struct fk_store *store;
    uint64_t seed;
    _Atomic int pushed;
};

static void push_many(void *arg)
{
    struct pusher *p = arg;
    struct fk_rng rng = {p->seed};
    for (int i = 0; i < 60; i++) {
        FK_AUTO_ARENA a;
        struct fk_profile profile;
        struct fk_entry e;
        struct fk_id id;
        struct fk_err err = {0};
        fk_arena_init(&a, 0);
        fk_gen_profile(&rng, &gen, &a, &profile);
        fk_gen_entry(&profile, i % 2 ? "shop" : "cart", (uint32_t)i % 4, 1700000000000000000 + i,
                     &a, &e);
        if (fk_store_append_wait(p->store, FK_S(FK_TENANT_DEFAULT), &e, &profile, &id, &err) == 0)
            p->pushed++;
    }
}

static int count_rows(void *arg, const struct fk_part *part, struct fk_err *err)
{
    uint64_t *rows = arg;
    struct fk_page page = {0};
    struct fk_symbols sym;
    FK_AUTO_ARENA a;
    fk_arena_init(&a, 0);
    int r = fk_part_symbols(part, &a, &sym, err);
    for (uint32_t p = 0; r == 0 && p < fk_part_pages(part); p++) {
        const struct fk_row *row;
        const struct fk_dataset *tables;
        struct fk_samples samples = {0};
        uint32_t n = 0;
        if ((r = fk_part_page(part, p, &page, &row, &n, err)) ||
            (r = fk_part_tables(part, &tables, err)))
            break;
        *rows += n;
        for (uint32_t i = 0; r == 0 && i < n; i++) {
            struct fk_packed in = fk_row_packed(&row[i], tables, &sym);
            r = fk_samples_unpack(&samples, &in, err);
        }
        fk_samples_free(&samples);
    }
    fk_page_free(&page);
    return r;
}

static void many_threads_push_read_and_seal(void **state)
{
    struct world *w = *state;
    struct pusher pushers[4] = {0};
    struct fk_err err = {0};
    w->opts.run_inline = false;
    reopen(w, false);
    for (size_t i = 0; i < FK_COUNTOF(pushers); i++) {
        pushers[i].store = w->store;
        pushers[i].seed = i + 1;
        assert_int_equal(
            fk_thread_start(&pushers[i].thread, "pusher", push_many, &pushers[i], &err), 0);
    }
    uint64_t before = 0;
    for (int round = 0; round < 30; round++) {
        struct fk_snapshot *s;
        uint64_t rows = 0;
        assert_int_equal(fk_store_snapshot(w->store, &FK_S(FK_TENANT_DEFAULT), 1, &s, &err), 0);
        int r = fk_snapshot_parts(s, INT64_MIN, INT64_MAX, count_rows, &rows, &err);
        if (r)
            fail_msg("read: %s", err.msg);
        assert_true(rows >= before); // nothing disappears while heads become blocks
        before = rows;
        fk_snapshot_free(s);
        if (round % 5 == 4 && fk_store_seal(w->store, &err))
            fail_msg("seal: %s", err.msg);
    }
    uint64_t pushed = 0, rows = 0;
    for (size_t i = 0; i < FK_COUNTOF(pushers); i++) {
        fk_thread_join(&pushers[i].thread);
        pushed += (uint64_t)pushers[i].pushed;
    }
    assert_int_equal(pushed, 240);
    struct fk_snapshot *s;
    assert_int_equal(fk_store_snapshot(w->store, &FK_S(FK_TENANT_DEFAULT), 1, &s, &err), 0);
    assert_int_equal(fk_snapshot_parts(s, INT64_MIN, INT64_MAX, count_rows, &rows, &err), 0);
    fk_snapshot_free(s);
    assert_int_equal(rows, 240);
    struct fk_store_check c = {.report = print_problem};
    assert_int_equal(fk_store_check(w->store, &c, &err), 0);
    assert_int_equal(c.problems, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(profiles_survive_restart_seal_and_rebuild, setup, teardown),
        cmocka_unit_test_setup_teardown(ids_rise_across_restarts, setup, teardown),
        cmocka_unit_test_setup_teardown(old_snapshots_keep_reading, setup, teardown),
        cmocka_unit_test_setup_teardown(one_process_at_a_time, setup, teardown),
        cmocka_unit_test_setup_teardown(other_versions_are_refused, setup, teardown),
        cmocka_unit_test_setup_teardown(damaged_blocks_are_set_aside, setup, teardown),
        cmocka_unit_test_setup_teardown(retention_by_bytes_and_age, setup, teardown),
        cmocka_unit_test_setup_teardown(series_of_a_day_are_limited, setup, teardown),
        cmocka_unit_test_setup_teardown(originals_come_back_and_go, setup, teardown),
        cmocka_unit_test_setup_teardown(what_is_not_to_be_stored_goes_after_an_hour, setup,
                                        teardown),
        cmocka_unit_test(a_full_disk_refuses_and_recovers),
        cmocka_unit_test_setup_teardown(many_threads_push_read_and_seal, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
