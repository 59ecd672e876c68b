// SPDX-License-Identifier: Apache-2.0
// OpenTelemetry profiles out and in again: nothing is lost that OTLP has a place for.
#include "otlp_fixture.h"

static struct fk_str write_out(const struct fk_profile *p, struct fk_buf *b)
{
    struct fk_err err = {0};
    fk_buf_clear(b);
    if (fk_encode(FK_FORMAT_OTLP, p, NULL, fk_out_buf(b), &err))
        fail_msg("%s", err.msg);
    return fk_buf_view(b);
}

static void assert_same(const struct fk_profile *a, const struct fk_profile *b)
{
    FK_AUTO_BUF one, two;
    fk_buf_init(&one, 0);
    fk_buf_init(&two, 0);
    fk_profile_text(a, &one);
    fk_profile_text(b, &two);
    if (!fk_str_eq(fk_buf_view(&one), fk_buf_view(&two)))
        fail_msg("%.*s\nbecame\n%.*s", FK_STR_ARG(fk_buf_view(&one)),
                 FK_STR_ARG(fk_buf_view(&two)));
}

// One type: the profile itself comes back. Mappings that no sample reaches do not, so with mappings
// it is what came back that must stay.
static void one_type_comes_back(void **state)
{
    (void)state;
    struct fk_rng rng = {42};
    FK_AUTO_BUF b, again;
    fk_buf_init(&b, 0);
    fk_buf_init(&again, 0);
    for (int i = 0; i < 300; i++) {
        struct fk_gen g = {.rows = 1 + fk_rng_below(&rng, 40),
                           .types = 1,
                           .depth = 1 + fk_rng_below(&rng, 12),
                           .functions = 1 + fk_rng_below(&rng, 30),
                           .times = i % 2 != 0,
                           .observations = i % 2 != 0,
                           .attributes = i % 3 != 0,
                           .negative = i % 5 == 0,
                           .mappings = i % 4 >= 2};
        struct fk_arena a;
        struct fk_profile p;
        struct seen s, t;
        fk_arena_init(&a, 0);
        fk_gen_profile(&rng, &g, &a, &p);
        if (!g.mappings)
            p.period = 0; // else counts get a column of time
        must(&s, write_out(&p, &b));
        assert_int_equal(s.n, 1);
        assert_int_equal(s.p[0].n_types, g.mappings ? 2 : 1);
        assert_int_equal(s.report.n, 0);
        assert_int_equal(fk_profile_total(&s.p[0], 0), fk_profile_total(&p, 0));
        must(&t, write_out(&s.p[0], &again));
        assert_same(&s.p[0], &t.p[0]);
        if (!g.mappings)
            assert_same(&p, &s.p[0]);
        fk_arena_free(&a);
        fk_arena_free(&s.arena);
        fk_arena_free(&t.arena);
    }
}

static void each_type_is_a_profile(void **state)
{
    (void)state;
    struct fk_rng rng = {7};
    struct fk_gen g = {.rows = 20, .types = 4, .depth = 5, .functions = 9};
    FK_AUTO_BUF b;
    fk_buf_init(&b, 0);
    for (int i = 0; i < 20; i++) {
        struct fk_arena a;
        struct fk_profile p;
        struct seen s;
        fk_arena_init(&a, 0);
        fk_gen_profile(&rng, &g, &a, &p);
        must(&s, write_out(&p, &b));
        assert_int_equal(s.n, p.n_types);
        for (uint32_t k = 0; k < p.n_types; k++) {
            assert_true(fk_str_eq(s.p[k].type[0].type, p.type[k].type));
            assert_int_equal(fk_profile_total(&s.p[k], 0), fk_profile_total(&p, k));
            assert_int_equal(s.p[k].n_rows, p.n_rows);
        }
        fk_arena_free(&a);
        fk_arena_free(&s.arena);
    }
}

// samples and time by the period, links, what pprof has and OTLP says in attributes.
static void facts_come_back(void **state)
{
    (void)state;
    static const uint32_t frames_begin[] = {0, 1}, frame[] = {0}, set_begin[] = {0, 0, 4},
                          stack[] = {0, 0}, set[] = {1, 0};
    static const struct fk_str string[] = {
        {"", 0},         {"f", 1},
        {"trace_id", 8}, {"0102030405060708090a0b0c0d0e0f10", 32},
        {"span_id", 7},  {"a1a2a3a4a5a6a7a8", 16},
        {"n", 1},        {"bytes", 5},
        {"/bin/x", 6},   {"id", 2},
        {"m", 1}};
    static const struct fk_function function[] = {{1, 0, 0, 0}};
    static const struct fk_line line[] = {{0, 4, 2}};
    static const struct fk_mapping mapping[] = {{8, 9, 0, 4096}};
    static const struct fk_placement place[] = {
        {0, FK_PLACEMENT_HAS_FUNCTIONS | FK_PLACEMENT_HAS_INLINES, 65536, 131072}};
    static const struct fk_location location[] = {{0, FK_LOCATION_FOLDED, 0, 1, 4100}};
    static const struct fk_attr attr[] = {{2, 3, 0, 0}, {4, 5, 0, 0}, {6, 0, 7, -3}, {10, 0, 0, 9}};
    static const struct fk_value_type type[] = {{{"samples", 7}, {"count", 5}, FK_KIND_DELTA},
                                                {{"cpu", 3}, {"nanoseconds", 11}, FK_KIND_DELTA}};
    static const int64_t counts[] = {2, 3}, times[] = {20, 30};
    static const int64_t *const value[] = {counts, times};
    static const struct fk_str comment[] = {{"one", 3}, {"two, too", 8}};
    struct fk_profile p = {.sym = {11, 1, 1, 1, 1, 1, 2, string, function, mapping, line, location,
                                   frames_begin, frame, set_begin, attr},
                           .placement = place,
                           .n_placements = 1,
                           .type = type,
                           .n_types = 2,
                           .n_rows = 2,
                           .n_obs = 2,
                           .stack = stack,
                           .set = set,
                           .value = value,
                           .time_ns_start = 1700000000000000000,
                           .duration_ns = 5,
                           .period = 10,
                           .period_type = {"cpu", 3},
                           .period_unit = {"nanoseconds", 11},
                           .has_period_type = true,
                           .default_type = {"cpu", 3},
                           .drop_frames = {"d.*", 3},
                           .keep_frames = {"k", 1},
                           .doc_url = {"https://x", 9},
                           .comment = comment,
                           .n_comments = 2};
    FK_AUTO_BUF b;
    fk_buf_init(&b, 0);
    struct seen s;
    struct fk_err err;
    assert_int_equal(fk_profile_validate(&p, &err), 0);
    must(&s, write_out(&p, &b));
    assert_int_equal(s.n, 1);
    assert_same(&p, &s.p[0]);
    assert_text(s.p[0].default_type, "cpu");
    assert_text(s.p[0].drop_frames, "d.*");
    assert_text(s.p[0].keep_frames, "k");
    assert_text(s.p[0].doc_url, "https://x");
    fk_arena_free(&s.arena);
}

static void labels_become_the_resource(void **state)
{
    (void)state;
    struct fk_rng rng = {3};
    struct fk_gen g = {.rows = 3, .types = 1, .depth = 3, .functions = 4};
    struct fk_label three[] = {{FK_S("__name__"), FK_S("x")},
                               {FK_S("pod"), FK_S("web-1")},
                               {FK_S("service_name"), FK_S("web")}};
    struct fk_labels labels = {three, 3};
    struct fk_encode_opts o = {.labels = &labels};
    struct fk_arena a;
    struct fk_profile p;
    struct seen s;
    FK_AUTO_BUF b;
    fk_buf_init(&b, 0);
    fk_arena_init(&a, 0);
    fk_gen_profile(&rng, &g, &a, &p);
    assert_int_equal(fk_encode(FK_FORMAT_OTLP, &p, &o, fk_out_buf(&b), NULL), 0);
    must(&s, fk_buf_view(&b));
    assert_int_equal(s.n, 1);
    assert_text(label(&s, 0, "service_name"), "web");
    assert_text(label(&s, 0, "pod"), "web-1");
    assert_null(label(&s, 0, "__name__").p);
    fk_arena_free(&a);
    fk_arena_free(&s.arena);
}

static void survives_lack_of_memory(void **state)
{
    (void)state;
    struct fk_rng rng = {3};
    struct fk_gen g = {.rows = 30,
                       .types = 2,
                       .depth = 5,
                       .functions = 9,
                       .times = true,
                       .attributes = true,
                       .mappings = true};
    struct fk_arena a;
    struct fk_profile p;
    FK_AUTO_BUF b;
    fk_buf_init(&b, 0);
    fk_arena_init(&a, 0);
    fk_gen_profile(&rng, &g, &a, &p);
    for (uint64_t k = 1, done = 0; !done; k++) {
        fk_buf_free(&b);
        fk_mem_fail_after(k, true);
        int rc = fk_encode(FK_FORMAT_OTLP, &p, NULL, fk_out_buf(&b), NULL);
        done = fk_mem_failed() == 0;
        fk_mem_fail_after(0, false);
        assert_int_equal(rc, done ? 0 : -FK_E_NOMEM);
    }
    fk_arena_free(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_type_comes_back),     cmocka_unit_test(each_type_is_a_profile),
        cmocka_unit_test(facts_come_back),         cmocka_unit_test(labels_become_the_resource),
        cmocka_unit_test(survives_lack_of_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
