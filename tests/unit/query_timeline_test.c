// SPDX-License-Identifier: Apache-2.0
// Time within profiles: spans out of samples, gaps, lanes, windows; the grid of seconds; profiles
// without times; lack of memory.
#include "query/query.h"

#include "support/profiles.h"
#include "support/support.h"
#include "support/test.h"

#define BEGIN 1700000000000000000 // a whole second
#define MS    FK_NS_PER_MS

struct world {
    char *tmp;
    struct fk_store *store;
    struct fk_id timed, untimed;
};

static uint32_t location(struct fk_dict *d, const char *name)
{
    struct fk_function f = {0};
    struct fk_line line = {0};
    struct fk_location l = {.mapping = FK_NONE, .line_count = 1};
    uint32_t id = 0;
    assert_int_equal(fk_dict_string(d, fk_str_of(name), &f.name), 0);
    assert_int_equal(fk_dict_function(d, &f, &line.function), 0);
    assert_int_equal(fk_dict_location(d, &l, &line, &id), 0);
    return id;
}

static uint32_t stack(struct fk_dict *d, const char *outer, const char *leaf)
{
    uint32_t frames[] = {location(d, leaf), location(d, outer)}, id = 0;
    assert_int_equal(fk_dict_stack(d, frames, 2, &id), 0);
    return id;
}

static uint32_t thread(struct fk_dict *d, const char *name)
{
    struct fk_attr a = {0};
    uint32_t id = 0;
    assert_int_equal(fk_dict_string(d, FK_S("thread"), &a.key), 0);
    assert_int_equal(fk_dict_string(d, fk_str_of(name), &a.str), 0);
    assert_int_equal(fk_dict_set(d, &a, 1, &id), 0);
    return id;
}

static void sample(struct fk_builder *b, uint32_t stack, uint32_t set, const int *at_ms, size_t n)
{
    int64_t values[8], times[8];
    struct fk_err err = {0};
    for (size_t i = 0; i < n; i++) {
        values[i] = 10 * MS;
        times[i] = BEGIN + at_ms[i] * MS;
    }
    fk_test_ok(fk_builder_sample(b, stack, set, values, times, n, &err), &err);
}

// Thread one: main;a at 0 and 10 ms, main;b at 20, nothing until 100, main;a at 100. Thread two:
// one sample in the next second.
static void push_timed(struct world *w)
{
    FK_AUTO_ARENA a;
    struct fk_profile p;
    struct fk_entry e;
    struct fk_err err = {0};
    fk_arena_init(&a, 0);
    struct fk_builder *b = fk_builder_new(&a, 100, "");
    struct fk_dict *d = fk_builder_dict(b);
    assert_int_equal(fk_builder_type(b, FK_S("cpu"), FK_S("nanoseconds"), FK_KIND_DELTA), 0);
    sample(b, stack(d, "main", "a"), thread(d, "one"), (const int[]){0, 100, 10}, 3);
    sample(b, stack(d, "main", "b"), thread(d, "one"), (const int[]){20}, 1);
    sample(b, stack(d, "main", "a"), thread(d, "two"), (const int[]){1510}, 1);
    fk_test_ok(fk_builder_finish(b, &p, &err), &err);
    p.has_period_type = true;
    p.period = 10 * MS;
    p.period_type = FK_S("cpu");
    p.period_unit = FK_S("nanoseconds");
    p.time_ns_start = BEGIN;
    fk_gen_entry(&p, "timed", 0, BEGIN, &a, &e);
    e.flags |= FK_ENTRY_HAS_TIME;
    fk_test_ok(fk_store_append_wait(w->store, FK_S(FK_TENANT_DEFAULT), &e, &p, &w->timed, &err),
               &err);
    fk_builder_free(b);
}

static int setup(void **state)
{
    struct world *w = fk_calloc(1, sizeof(*w));
    struct fk_rng rng = {3};
    struct fk_err err = {0};
    FK_AUTO_ARENA a;
    struct fk_profile p;
    struct fk_entry e;
    assert_non_null(w);
    *state = w;
    w->tmp = fk_test_tmpdir();
    fk_test_ok(
        fk_store_open(&(struct fk_store_opts){.dir = w->tmp, .min_free = 1, .run_inline = true},
                      &w->store, &err),
        &err);
    push_timed(w);
    fk_arena_init(&a, 0);
    fk_gen_profile(&rng, &(struct fk_gen){.rows = 9, .types = 1, .depth = 3, .functions = 4}, &a,
                   &p);
    fk_gen_entry(&p, "untimed", 0, BEGIN, &a, &e);
    fk_test_ok(fk_store_append_wait(w->store, FK_S(FK_TENANT_DEFAULT), &e, &p, &w->untimed, &err),
               &err);
    return 0;
}

static int teardown(void **state)
{
    struct world *w = *state;
    fk_store_close(w->store);
    fk_test_rmtree(w->tmp);
    fk_free(w);
    return 0;
}

static const struct fk_str tenant = {FK_TENANT_DEFAULT, sizeof(FK_TENANT_DEFAULT) - 1};

static struct fk_query *query(struct world *w, const struct fk_id *id)
{
    struct fk_query *q;
    struct fk_err err = {0};
    struct fk_source_spec s = {.id = id, .n_ids = 1, .from_ns = INT64_MIN, .until_ns = INT64_MAX};
    struct fk_query_opts o = {
        .store = w->store, .tenants = &tenant, .n_tenants = 1, .memory = 64 << 20};
    fk_test_ok(fk_query_new(&o, &s, &q, &err), &err);
    return q;
}

// The lane's spans as "begin-end depth name; ...".
static void spans_text(const struct fk_timeline *t, const struct fk_lane *l, struct fk_buf *to)
{
    fk_buf_clear(to);
    for (size_t i = 0; i < l->n; i++)
        fk_buf_printf(to, "%u-%u %u %.*s; ", l->span[i].begin, l->span[i].end, l->span[i].depth,
                      FK_STR_ARG(t->name[l->span[i].name]));
    fk_buf_byte(to, 0);
}

static void test_spans_and_gaps(void **state)
{
    struct world *w = *state;
    struct fk_query *q = query(w, &w->timed);
    struct fk_timeline t;
    struct fk_err err = {0};
    FK_AUTO_BUF text;
    fk_buf_init(&text, 0);
    struct fk_timeline_spec s = {
        .begin_ns = BEGIN, .end_ns = BEGIN + 200 * MS, .width = 20}; // columns of 10 ms
    fk_test_ok(fk_query_timeline(q, &s, &t, &err), &err);
    assert_int_equal(t.step_ns, 10 * MS);
    assert_int_equal(t.period_ns, 10 * MS);
    assert_true(t.period_known);
    assert_int_equal(t.samples, 4);
    assert_int_equal(t.all, 1);
    assert_true(fk_str_eq(t.lane[0].thread, FK_S("one")));
    spans_text(&t, &t.lane[0], &text);
    assert_string_equal(text.p, "0-3 0 main; 0-2 1 a; 2-3 1 b; 10-11 0 main; 10-11 1 a; ");
    // The same in columns of 50 ms: of the first one the usual path counts.
    s = (struct fk_timeline_spec){.begin_ns = BEGIN, .end_ns = BEGIN + 200 * MS, .width = 4};
    fk_test_ok(fk_query_timeline(q, &s, &t, &err), &err);
    spans_text(&t, &t.lane[0], &text);
    assert_string_equal(text.p, "0-1 0 main; 0-1 1 a; 2-3 0 main; 2-3 1 a; ");
    fk_query_free(q);
}

static void test_what_reaches_into_the_window(void **state)
{
    struct world *w = *state;
    struct fk_query *q = query(w, &w->timed);
    struct fk_timeline t;
    struct fk_err err = {0};
    FK_AUTO_BUF text;
    fk_buf_init(&text, 0);
    struct fk_timeline_spec s = {
        .begin_ns = BEGIN + 15 * MS, .end_ns = BEGIN + 35 * MS, .width = 4}; // columns of 5 ms
    fk_test_ok(fk_query_timeline(q, &s, &t, &err), &err);
    assert_int_equal(t.n, 1);
    spans_text(&t, &t.lane[0], &text);
    assert_string_equal(text.p, "0-3 0 main; 0-1 1 a; 1-3 1 b; ");
    s = (struct fk_timeline_spec){
        .begin_ns = BEGIN + 40 * MS, .end_ns = BEGIN + 90 * MS, .width = 10}; // in the gap
    fk_test_ok(fk_query_timeline(q, &s, &t, &err), &err);
    assert_int_equal(t.n, 0);
    fk_query_free(q);
}

static void test_whole_and_lanes(void **state)
{
    struct world *w = *state;
    struct fk_query *q = query(w, &w->timed);
    struct fk_timeline t;
    struct fk_err err = {0};
    struct fk_timeline_spec s = {.begin_ns = INT64_MIN, .end_ns = INT64_MAX};
    fk_test_ok(fk_query_timeline(q, &s, &t, &err), &err);
    assert_int_equal(t.begin_ns, BEGIN);
    assert_int_equal(t.end_ns, BEGIN + 1520 * MS);
    assert_int_equal(t.width, 1000);
    assert_int_equal(t.all, 2);
    assert_int_equal(t.lane[0].samples, 4); // the busiest first
    assert_true(fk_str_eq(t.lane[1].thread, FK_S("two")));
    s.max_lanes = 1;
    fk_test_ok(fk_query_timeline(q, &s, &t, &err), &err);
    assert_int_equal(t.n, 1);
    assert_int_equal(t.all, 2);
    fk_query_free(q);
}

static void test_seconds(void **state)
{
    struct world *w = *state;
    struct fk_query *q = query(w, &w->timed);
    struct fk_heatmap m;
    struct fk_err err = {0};
    struct fk_timeline_spec s = {.begin_ns = INT64_MIN, .end_ns = INT64_MAX};
    fk_test_ok(fk_query_subsecond(q, &s, &m, &err), &err);
    const struct fk_heat_cell want[] = {{0, 0, 2}, {0, 1, 1}, {0, 5, 1}, {1, 25, 1}};
    assert_int_equal(m.x_start_ns, BEGIN);
    assert_int_equal(m.n, FK_COUNTOF(want));
    assert_int_equal(m.max, 2);
    for (size_t i = 0; i < m.n; i++) {
        assert_int_equal(m.cell[i].x, want[i].x);
        assert_int_equal(m.cell[i].y, want[i].y);
        assert_int_equal(m.cell[i].n, want[i].n);
    }
    fk_query_free(q);
}

static void test_windows_of_centuries(void **state)
{
    struct world *w = *state;
    struct fk_query *q = query(w, &w->timed);
    struct fk_timeline t;
    struct fk_err err = {0};
    struct fk_timeline_spec s = {
        .begin_ns = INT64_MIN + 1, .end_ns = INT64_MAX - 1, .width = 1, .max_lanes = 9};
    fk_test_ok(fk_query_timeline(q, &s, &t, &err), &err);
    assert_true(t.step_ns > 0);
    assert_int_equal(t.samples, 5);
    assert_int_equal(t.n, 2);
    for (size_t i = 0; i < t.lane[0].n; i++)
        assert_true(t.lane[0].span[i].begin < t.lane[0].span[i].end &&
                    t.lane[0].span[i].end <= t.width);
    fk_query_free(q);
}

// Each sample on a thread of its own: must take as long as as many on one, not the square of it.
static void test_many_threads(void **state)
{
    struct world *w = *state;
    const uint32_t n = 150000;
    FK_AUTO_ARENA a;
    struct fk_profile p;
    struct fk_entry e;
    struct fk_id id;
    struct fk_timeline t;
    struct fk_err err = {0};
    fk_arena_init(&a, 0);
    struct fk_builder *b = fk_builder_new(&a, n, "");
    struct fk_dict *d = fk_builder_dict(b);
    assert_int_equal(fk_builder_type(b, FK_S("cpu"), FK_S("nanoseconds"), FK_KIND_DELTA), 0);
    uint32_t at = stack(d, "main", "a");
    for (uint32_t i = 0; i < n; i++) {
        char name[16];
        snprintf(name, sizeof(name), "t%u", i);
        sample(b, at, thread(d, name), (const int[]){(int)(i % 1000)}, 1);
    }
    fk_test_ok(fk_builder_finish(b, &p, &err), &err);
    fk_gen_entry(&p, "threads", 0, BEGIN, &a, &e);
    e.flags |= FK_ENTRY_HAS_TIME;
    fk_test_ok(fk_store_append_wait(w->store, FK_S(FK_TENANT_DEFAULT), &e, &p, &id, &err), &err);
    fk_builder_free(b);
    struct fk_query *q = query(w, &id);
    struct fk_timeline_spec s = {.begin_ns = INT64_MIN, .end_ns = INT64_MAX, .max_lanes = 3};
    fk_test_ok(fk_query_timeline(q, &s, &t, &err), &err);
    assert_int_equal(t.all, n);
    assert_int_equal(t.n, 3);
    fk_query_free(q);
}

static void test_without_times(void **state)
{
    struct world *w = *state;
    struct fk_query *q = query(w, &w->untimed);
    struct fk_timeline t;
    struct fk_heatmap m;
    struct fk_err err = {0};
    struct fk_timeline_spec s = {.begin_ns = INT64_MIN, .end_ns = INT64_MAX};
    assert_int_equal(fk_query_timeline(q, &s, &t, &err), -FK_E_INVALID);
    assert_non_null(strstr(err.msg, "times inside"));
    assert_int_equal(fk_query_subsecond(q, &s, &m, &err), -FK_E_INVALID);
    fk_query_free(q);
}

static void test_lack_of_memory(void **state)
{
    struct world *w = *state;
    for (uint64_t k = 1;; k++) {
        struct fk_query *q = query(w, &w->timed);
        struct fk_timeline t;
        struct fk_err err = {0};
        struct fk_timeline_spec s = {.begin_ns = INT64_MIN, .end_ns = INT64_MAX};
        fk_mem_fail_after(k, true);
        int r = fk_query_timeline(q, &s, &t, &err);
        bool failed = fk_mem_failed() > 0;
        fk_mem_fail_after(0, false);
        fk_query_free(q);
        assert_int_equal(r, failed ? -FK_E_NOMEM : 0);
        if (!failed)
            break;
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_reaches_into_the_window),
        cmocka_unit_test(test_spans_and_gaps),
        cmocka_unit_test(test_whole_and_lanes),
        cmocka_unit_test(test_seconds),
        cmocka_unit_test(test_windows_of_centuries),
        cmocka_unit_test(test_many_threads),
        cmocka_unit_test(test_without_times),
        cmocka_unit_test(test_lack_of_memory),
    };
    return cmocka_run_group_tests_name("query_timeline", tests, setup, teardown);
}
