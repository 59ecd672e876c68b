// SPDX-License-Identifier: Apache-2.0
// What the encoders write is read again: equal where the format can hold it, with hostile names,
// without memory.
#include "support/decoded.h"
#include "support/hostile.h"
#include "support/profiles.h"

struct read {
    struct fk_profile p[64];
    size_t n;
    struct fk_arena arena;
    struct fk_report report;
};

static int keep(void *arg, struct fk_entry *e, struct fk_profile *p, struct fk_err *err)
{
    struct read *r = arg;
    (void)e;
    assert_true(r->n < FK_COUNTOF(r->p));
    r->p[r->n++] = *p;
    return fk_profile_validate(p, err);
}

FK_TEST_HELPER void must_read(struct read *r, enum fk_format f, struct fk_str bytes)
{
    struct fk_limits l = fk_limits_default();
    struct fk_decode_opts o = fk_decode_opts_push(&l);
    struct fk_err err = {0};
    memset(r, 0, sizeof(*r));
    fk_arena_init(&r->arena, 0);
    if (fk_decode(f, bytes, &o, &r->arena, (struct fk_each_profile){keep, r}, &r->report, &err))
        fail_msg("%s: %s", fk_format_name(f), err.msg);
}

static void must_write(enum fk_format f, const struct fk_profile *p, uint32_t type,
                       struct fk_buf *to)
{
    struct fk_err err = {0};
    struct fk_encode_opts o = {.type = type, .title = FK_S("shop")};
    fk_buf_clear(to);
    if (fk_encode(f, p, &o, fk_out_buf(to), &err))
        fail_msg("%s: %s", fk_format_name(f), err.msg);
}

static void must_be_equal(enum fk_format f, const struct fk_profile *a, const struct fk_profile *b)
{
    FK_AUTO_BUF one, two;
    fk_buf_init(&one, 0);
    fk_buf_init(&two, 0);
    fk_profile_text(a, &one);
    fk_profile_text(b, &two);
    if (!fk_str_eq(fk_buf_view(&one), fk_buf_view(&two)))
        fail_msg("%s:\n%.*s\nbecame\n%.*s", fk_format_name(f), FK_STR_ARG(fk_buf_view(&one)),
                 FK_STR_ARG(fk_buf_view(&two)));
}

static void folded_text(const struct fk_profile *p, uint32_t type, struct fk_buf *to)
{
    struct fk_encode_opts o = {.type = type};
    fk_buf_clear(to);
    assert_int_equal(fk_encode(FK_FORMAT_FOLDED, p, &o, fk_out_buf(to), NULL), 0);
}

// ---- round trips ----

static struct fk_gen gen_of(struct fk_rng *rng, int i)
{
    return (struct fk_gen){.rows = 1 + fk_rng_below(rng, 40),
                           .types = 2,
                           .depth = 1 + fk_rng_below(rng, 12),
                           .functions = 1 + fk_rng_below(rng, 30),
                           .times = i % 2 != 0,
                           .observations = i % 4 == 3,
                           .attributes = i % 3 != 0,
                           .mappings = i % 5 >= 2};
}

// What was read once is read again just so; it has the same stacks as the profile.
static void come_back(enum fk_format f, uint32_t type, bool empty_stacks, bool exact)
{
    struct fk_rng rng = {1000 + f};
    FK_AUTO_BUF bytes, want, got;
    fk_buf_init(&bytes, 0);
    fk_buf_init(&want, 0);
    fk_buf_init(&got, 0);
    for (int i = 0; i < 200; i++) {
        struct fk_gen g = gen_of(&rng, i);
        struct fk_arena a;
        struct fk_profile p;
        static struct read once, twice;
        int64_t total = 0;
        fk_arena_init(&a, 0);
        fk_gen_profile(&rng, &g, &a, &p);
        folded_text(&p, 0, &want);
        if (f == FK_FORMAT_FOLDED && !want.n) { // no line at all is no folded text
            fk_arena_free(&a);
            continue;
        }
        must_write(f, &p, type, &bytes);
        must_read(&once, f, fk_buf_view(&bytes));
        for (size_t k = 0; k < once.n; k++) {
            total += fk_profile_total(&once.p[k], 0);
            must_write(f, &once.p[k], once.p[k].n_types > 1 ? type : 0, &bytes);
            must_read(&twice, f, fk_buf_view(&bytes));
            assert_int_equal(twice.n, 1);
            must_be_equal(f, &once.p[k], &twice.p[0]);
            fk_arena_free(&twice.arena);
        }
        if (empty_stacks)
            assert_int_equal(total, fk_profile_total(&p, type == FK_NONE ? 0 : type));
        if (exact && !g.observations) // else each is a row of its own
            must_be_equal(f, &p, &once.p[0]);
        if (once.n == 1) { // by name, without stacks that are empty
            folded_text(&p, type, &want);
            folded_text(&once.p[0], type == 1 && once.p[0].n_types == 1 ? 0 : type, &got);
            if (!fk_str_eq(fk_buf_view(&want), fk_buf_view(&got)))
                fail_msg("%s: %.*s\nis not\n%.*s", fk_format_name(f), FK_STR_ARG(fk_buf_view(&got)),
                         FK_STR_ARG(fk_buf_view(&want)));
        }
        fk_arena_free(&once.arena);
        fk_arena_free(&a);
    }
}

static void pprof_comes_back(void **state)
{
    (void)state;
    come_back(FK_FORMAT_PPROF, 0, true, true);
}

static void speedscope_comes_back(void **state)
{
    (void)state;
    come_back(FK_FORMAT_SPEEDSCOPE, 0, true, false);
    come_back(FK_FORMAT_SPEEDSCOPE, 1, true, false);
}

static void firefox_comes_back(void **state)
{
    (void)state;
    come_back(FK_FORMAT_FIREFOX, 0, false, false);
    come_back(FK_FORMAT_FIREFOX, 1, false, false);
}

static void folded_comes_back(void **state)
{
    (void)state;
    come_back(FK_FORMAT_FOLDED, 0, false, false);
}

// ---- threads and times ----

static void lanes_are_in_the_order_of_time(void **state)
{
    (void)state;
    static struct read r;
    struct fk_rng rng = {77};
    struct fk_gen g = {.rows = 60,
                       .types = 2,
                       .depth = 5,
                       .functions = 9,
                       .times = true,
                       .observations = true,
                       .attributes = true};
    FK_AUTO_BUF bytes;
    fk_buf_init(&bytes, 0);
    for (int i = 0; i < 50; i++) {
        struct fk_arena a;
        struct fk_profile p;
        int64_t total = 0, first = INT64_MAX;
        fk_arena_init(&a, 0);
        fk_gen_profile(&rng, &g, &a, &p);
        must_write(FK_FORMAT_FIREFOX, &p, 0, &bytes);
        must_read(&r, FK_FORMAT_FIREFOX, fk_buf_view(&bytes));
        assert_int_equal(r.n, 1);
        for (uint64_t k = 0; k < r.p[0].n_rows; k++) {
            first = FK_MIN(first, r.p[0].time_ns[k]);
            if (k && r.p[0].set[k] == r.p[0].set[k - 1])
                assert_true(r.p[0].time_ns[k] >= r.p[0].time_ns[k - 1]);
        }
        bool found = r.p[0].n_rows == 0;
        for (uint64_t o = 0; !found && o < p.n_obs; o++) // to the nanosecond
            found = p.time_ns[o] == first;
        assert_true(found);
        fk_arena_free(&r.arena);
        must_write(FK_FORMAT_SPEEDSCOPE, &p, 1, &bytes);
        must_read(&r, FK_FORMAT_SPEEDSCOPE, fk_buf_view(&bytes));
        for (size_t k = 0; k < r.n; k++)
            total += fk_profile_total(&r.p[k], 0);
        assert_int_equal(total, fk_profile_total(&p, 1));
        assert_true(r.n <= 5);
        fk_arena_free(&r.arena);
        fk_arena_free(&a);
    }
}

// ---- what cannot be written ----

static void refused(enum fk_format f, const struct fk_profile *p, const char *says)
{
    struct fk_err err = {0};
    struct fk_encode_opts o = {.type = 0};
    FK_AUTO_BUF b;
    fk_buf_init(&b, 0);
    assert_int_equal(fk_encode(f, p, &o, fk_out_buf(&b), &err), -FK_E_UNSUPPORTED);
    if (!strstr(err.msg, says))
        fail_msg("'%s' does not say '%s'", err.msg, says);
}

static void refusals_name_what_is_missing(void **state)
{
    (void)state;
    struct fk_rng rng = {5};
    struct fk_gen g = {.rows = 40, .types = 1, .depth = 4, .functions = 3, .negative = true};
    struct fk_arena a;
    struct fk_profile p;
    fk_arena_init(&a, 0);
    do
        fk_gen_profile(&rng, &g, &a, &p);
    while (p.n_rows < 30);
    refused(FK_FORMAT_SPEEDSCOPE, &p, "negative");
    static const struct fk_value_type heap = {{"space", 5}, {"bytes", 5}, FK_KIND_INSTANT};
    p.type = &heap;
    refused(FK_FORMAT_PGO, &p, "space/bytes");
    fk_arena_free(&a);
    fk_arena_init(&a, 0);
    fk_hostile_profile(&a, false, &p);
    struct fk_function *f = fk_arena_array(&a, p.sym.n_functions, sizeof(*f));
    for (uint32_t i = 0; i < p.sym.n_functions; i++) {
        f[i] = p.sym.function[i];
        f[i].start_line = 0;
    }
    p.sym.function = f;
    refused(FK_FORMAT_PGO, &p, "at which line");
    fk_arena_free(&a);
}

// ---- PGO ----

// Stacks that differ above their two innermost locations, in addresses and attributes only are one
// call; a function that calls itself from elsewhere is a call, one place twice is not.
static void pgo_keeps_the_last_call(void **state)
{
    (void)state;
    static const struct fk_str string[] = {{"", 0},  {"main", 4}, {"a", 1},
                                           {"b", 1}, {"k", 1},    {"/src/x.go", 9}};
    static const struct fk_function function[] = {{1, 1, 5, 3}, {2, 2, 5, 10}, {3, 3, 5, 20}};
    static const struct fk_line line[] = {{0, 5, 1}, {1, 12, 1}, {2, 22, 1}};
    static const struct fk_mapping mapping[] = {{5, 0, 0, 0}};
    static const struct fk_location location[] = {
        {0, 0, 0, 1, 100}, {0, 0, 1, 1, 200}, {0, 0, 2, 1, 300}, {0, 0, 2, 1, 301}};
    // b<-a<-main, b'<-a, b<-b', b<-b
    static const uint32_t begin[] = {0, 3, 5, 7, 9}, frame[] = {2, 1, 0, 3, 1, 2, 3, 2, 2};
    static const uint32_t set_begin[] = {0, 0, 1}, stack[] = {0, 1, 2, 3, 1},
                          set[] = {1, 0, 0, 0, 0};
    static const struct fk_attr attr[] = {{4, 2, 0, 0}};
    static const struct fk_value_type type[] = {{{"alloc", 5}, {"count", 5}, FK_KIND_DELTA},
                                                {{"cpu", 3}, {"nanoseconds", 11}, FK_KIND_DELTA}};
    static const int64_t other[] = {9, 9, 9, 9, 9}, cpu[] = {1, 2, 4, 8, 0};
    static const int64_t *const value[] = {other, cpu};
    struct fk_profile p = {.sym = {6, 3, 1, 3, 4, 4, 2, string, function, mapping, line, location,
                                   begin, frame, set_begin, attr},
                           .type = type,
                           .n_types = 2,
                           .n_rows = 5,
                           .n_obs = 5,
                           .stack = stack,
                           .set = set,
                           .value = value};
    struct decoded d;
    struct fk_err err = {0};
    FK_AUTO_BUF bytes;
    fk_buf_init(&bytes, 0);
    assert_int_equal(fk_profile_validate(&p, &err), 0);
    must_write(FK_FORMAT_PGO, &p, 0, &bytes);
    assert_int_equal(decode(&d, FK_FORMAT_PPROF, fk_buf_view(&bytes)), 0);
    if (!fk_str_eq(fk_buf_view(&d.text), FK_S("{} cpu/nanoseconds\na;b 3\nb;b 4\n")))
        fail_msg("%.*s", FK_STR_ARG(fk_buf_view(&d.text)));
    const struct fk_symbols *s = &d.last.sym;
    assert_int_equal(d.last.n_placements, 0);
    const struct fk_location *callee = &s->location[s->frame[0]],
                             *caller = &s->location[s->frame[1]];
    assert_int_equal(callee->address, 0);
    assert_int_equal(caller->address, 1);
    assert_int_equal(s->line[caller->line_begin].line, 3); // 12, of what starts at 10
    assert_int_equal(s->line[callee->line_begin].line, 0);
    assert_int_equal(s->function[s->line[caller->line_begin].function].start_line, 1);
    assert_int_equal(s->function[s->line[callee->line_begin].function].start_line, 1);
    decoded_free(&d);
}

// Inlined calls of both locations count, each pair once a stack.
static void pgo_has_inlined_calls(void **state)
{
    (void)state;
    static const struct fk_str string[] = {{"", 0}, {"a", 1}, {"b", 1}, {"c", 1}};
    static const struct fk_function function[] = {{1, 0, 0, 1}, {2, 0, 0, 2}, {3, 0, 0, 3}};
    // Location 0: c inlined in b; 1: b inlined in a; 2: a.
    static const struct fk_line line[] = {
        {2, 30, 0}, {1, 20, 0}, {1, 21, 0}, {0, 10, 0}, {0, 11, 0}};
    static const struct fk_location location[] = {
        {FK_NONE, 0, 0, 2, 1}, {FK_NONE, 0, 2, 2, 2}, {FK_NONE, 0, 4, 1, 3}};
    static const uint32_t begin[] = {0, 3}, frame[] = {0, 1, 2}, set_begin[] = {0, 0},
                          stack[] = {0};
    static const struct fk_value_type type[] = {{{"samples", 7}, {"count", 5}, FK_KIND_DELTA}};
    static const int64_t count[] = {5};
    static const int64_t *const value[] = {count};
    struct fk_profile p = {.sym = {4, 3, 0, 5, 3, 1, 1, string, function, NULL, line, location,
                                   begin, frame, set_begin, NULL},
                           .type = type,
                           .n_types = 1,
                           .n_rows = 1,
                           .n_obs = 1,
                           .stack = stack,
                           .value = value};
    struct decoded d;
    struct fk_err err = {0};
    FK_AUTO_BUF bytes;
    fk_buf_init(&bytes, 0);
    assert_int_equal(fk_profile_validate(&p, &err), 0);
    must_write(FK_FORMAT_PGO, &p, 0, &bytes);
    assert_int_equal(decode(&d, FK_FORMAT_PPROF, fk_buf_view(&bytes)), 0);
    if (!fk_str_eq(fk_buf_view(&d.text), FK_S("{} samples/count\na;b 5\nb;c 5\nb;b 5\n")))
        fail_msg("%.*s", FK_STR_ARG(fk_buf_view(&d.text)));
    decoded_free(&d);
}

// ---- hostile names ----

static void hostile_names_stay_names(void **state)
{
    (void)state;
    static const enum fk_format exact[] = {FK_FORMAT_PPROF, FK_FORMAT_OTLP};
    static struct read r;
    FK_AUTO_BUF bytes, json;
    fk_buf_init(&bytes, 0);
    fk_buf_init(&json, 0);
    for (int times = 0; times < 2; times++) {
        struct fk_arena a;
        struct fk_profile p;
        fk_arena_init(&a, 0);
        int64_t sum = fk_hostile_profile(&a, times, &p);
        for (int f = FK_FORMAT_PPROF; f < FK_FORMAT_COUNT; f++) {
            int64_t got = 0;
            if (!fk_format_is_written((enum fk_format)f) || f == FK_FORMAT_FOLDED)
                continue;
            must_write((enum fk_format)f, &p, 0, &bytes);
            must_read(&r, f == FK_FORMAT_PGO ? FK_FORMAT_PPROF : (enum fk_format)f,
                      fk_buf_view(&bytes));
            for (size_t k = 0; k < r.n; k++)
                got += fk_str_eq(r.p[k].type[0].type, FK_S("samples"))
                           ? fk_profile_total(&r.p[k], 0)
                           : 0;
            if (f != FK_FORMAT_PGO) // calls: the stack of one frame is none
                assert_int_equal(got, sum);
            else
                assert_int_equal(got, sum - 1);
            for (size_t k = 0; k < FK_COUNTOF(exact); k++)
                for (size_t i = 0; exact[k] == (enum fk_format)f && i < FK_COUNTOF(fk_hostile);
                     i++) {
                    bool found = false;
                    for (uint32_t s = 0; !found && s < r.p[0].sym.n_strings; s++)
                        found = fk_str_eq(r.p[0].sym.string[s], fk_hostile[i]);
                    if (!found && (f == FK_FORMAT_PPROF || fk_str_is_utf8(fk_hostile[i])))
                        fail_msg("%s lost '%.*s'", fk_format_name((enum fk_format)f),
                                 FK_STR_ARG(fk_hostile[i]));
                }
            if (fk_buf_view(&bytes).p[0] == '{') { // JSON is UTF-8, whatever the names are
                assert_true(fk_str_is_utf8(fk_buf_view(&bytes)));
                for (size_t i = 0; i < bytes.n; i++)
                    assert_true((uint8_t)bytes.p[i] >= 0x20);
            }
            fk_arena_free(&r.arena);
        }
        fk_arena_free(&a);
    }
}

// ---- without memory, without room ----

static void every_allocation_may_fail(void **state)
{
    (void)state;
    for (int times = 0; times < 2; times++) {
        struct fk_arena a;
        struct fk_profile p;
        fk_arena_init(&a, 0);
        fk_hostile_profile(&a, times, &p);
        for (int f = FK_FORMAT_PPROF; f < FK_FORMAT_COUNT; f++) {
            FK_AUTO_BUF want;
            struct fk_encode_opts o = {.gzip_level = 1, .type = 0, .title = FK_S("shop")};
            if (!fk_format_is_written((enum fk_format)f))
                continue;
            fk_buf_init(&want, 0);
            assert_int_equal(fk_encode((enum fk_format)f, &p, &o, fk_out_buf(&want), NULL), 0);
            for (uint64_t k = 1, done = 0; !done; k++) {
                FK_AUTO_BUF got;
                struct fk_err err = {0};
                fk_buf_init(&got, 0);
                fk_mem_fail_after(k, true);
                int rc = fk_encode((enum fk_format)f, &p, &o, fk_out_buf(&got), &err);
                done = fk_mem_failed() == 0;
                fk_mem_fail_after(0, false);
                if (rc != (done ? 0 : -FK_E_NOMEM))
                    fail_msg("%s, allocation %llu: %d '%s'", fk_format_name((enum fk_format)f),
                             (unsigned long long)k, rc, err.msg);
                if (done)
                    assert_true(fk_str_eq(fk_buf_view(&want), fk_buf_view(&got)));
            }
        }
        fk_arena_free(&a);
    }
}

// An out that takes so many bytes and then no more.
static int take(void *arg, const void *p, size_t n, struct fk_err *err)
{
    size_t *left = arg;
    (void)p;
    if (n > *left)
        return fk_fail(err, FK_E_CANCELLED, "the reader is gone");
    *left -= n;
    return 0;
}

static void a_reader_that_goes_ends_it(void **state)
{
    (void)state;
    struct fk_arena a;
    struct fk_profile p;
    fk_arena_init(&a, 0);
    fk_hostile_profile(&a, true, &p);
    for (int f = FK_FORMAT_PPROF; f < FK_FORMAT_COUNT; f++)
        for (size_t room = 0; fk_format_is_written((enum fk_format)f) && room < 3; room++) {
            size_t left = room * 10;
            struct fk_err err = {0};
            struct fk_encode_opts o = {.type = 0};
            assert_int_equal(
                fk_encode((enum fk_format)f, &p, &o, (struct fk_out){take, &left}, &err),
                -FK_E_CANCELLED);
            assert_string_equal(err.msg, "the reader is gone");
        }
    fk_arena_free(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pprof_comes_back),
        cmocka_unit_test(speedscope_comes_back),
        cmocka_unit_test(firefox_comes_back),
        cmocka_unit_test(folded_comes_back),
        cmocka_unit_test(lanes_are_in_the_order_of_time),
        cmocka_unit_test(refusals_name_what_is_missing),
        cmocka_unit_test(pgo_keeps_the_last_call),
        cmocka_unit_test(pgo_has_inlined_calls),
        cmocka_unit_test(hostile_names_stay_names),
        cmocka_unit_test(every_allocation_may_fail),
        cmocka_unit_test(a_reader_that_goes_ends_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
