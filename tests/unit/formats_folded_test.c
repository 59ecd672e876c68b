// SPDX-License-Identifier: Apache-2.0
// Folded stacks both ways, and telling formats apart.
#include "formats/formats.h"

#include "support/test.h"

struct seen {
    struct fk_profile p;
    struct fk_entry e;
    struct fk_report report;
    struct fk_arena arena;
    struct fk_err err;
};

static int keep(void *arg, struct fk_entry *e, struct fk_profile *p, struct fk_err *err)
{
    struct seen *s = arg;
    s->p = *p;
    s->e = *e;
    return fk_profile_validate(p, err);
}

static int decode_with(struct seen *s, struct fk_str text, const struct fk_decode_opts *o)
{
    memset(s, 0, sizeof(*s));
    fk_arena_init(&s->arena, 0);
    return fk_decode(FK_FORMAT_FOLDED, text, o, &s->arena, (struct fk_each_profile){keep, s},
                     &s->report, &s->err);
}

static int decode(struct seen *s, struct fk_str text)
{
    struct fk_limits l = fk_limits_default();
    struct fk_decode_opts o = fk_decode_opts_push(&l);
    return decode_with(s, text, &o);
}

static void expect_text(struct fk_str in, const char *want, uint64_t rows)
{
    struct seen s;
    FK_AUTO_BUF out;
    fk_buf_init(&out, 0);
    assert_int_equal(decode(&s, in), 0);
    assert_int_equal(s.p.n_rows, rows);
    assert_int_equal(fk_encode(FK_FORMAT_FOLDED, &s.p, NULL, fk_out_buf(&out), &s.err), 0);
    if (!fk_str_eq(fk_buf_view(&out), fk_str_of(want)))
        fail_msg("got '%.*s'", FK_STR_ARG(fk_buf_view(&out)));
    fk_arena_free(&s.arena);
}

static void reads_and_writes(void **state)
{
    (void)state;
    expect_text(FK_S("b;c 2\na 1\nb 3\nb;c 4\n"), "a 1\nb 3\nb;c 6\n", 4);
    expect_text(FK_S("a b;c d  7 \r\n\r\n\t\r\n"), "a b;c d 7\n", 1);
    expect_text(FK_S("a;b -3\na;b;c 3\n"), "a;b -3\na;b;c 3\n", 2);
    expect_text(FK_S("a;a;a 1"), "a;a;a 1\n", 1);
    expect_text(FK_S("a\t5\n"), "a 5\n", 1);
    expect_text(FK_S("\xef\xbb\xbf"
                     "a 5\n"),
                "a 5\n", 1);
    expect_text(FK_S("\xff\xfe"
                     "a\0;\0\xac\x20 \0"
                     "5\0\r\0\n\0"),
                "a;\xe2\x82\xac 5\n", 1);
    expect_text(FK_S("\xfe\xff"
                     "\0a\0 \0"
                     "5"),
                "a 5\n", 1);
    expect_text(FK_S("a;; 5\n;b 1\n"), "[unknown];b 1\na;[unknown];[unknown] 5\n", 2);
    expect_text(FK_S("f\xff 5\n"), "f\xff 5\n", 1);
    expect_text(FK_S("a 0\nb 1\n"), "b 1\n", 2);
}

static const struct fk_report_item *item(const struct seen *s, const char *reason)
{
    for (uint32_t i = 0; i < s->report.n; i++)
        if (strstr(s->report.item[i].reason, reason))
            return &s->report.item[i];
    return NULL;
}

static void bad_lines_and_fractions_are_counted(void **state)
{
    (void)state;
    struct seen s;
    assert_int_equal(decode(&s, FK_S("# a comment\na 1.9\nb 2.0\nc 3.\nd .5\ne 12V.43\nf -1.5\n"
                                     "g 99999999999999999999\nh -\ni 1.2.3\nj --1\nk 1e3\nl\n5\n")),
                     0);
    assert_int_equal(s.p.n_rows, 5);
    assert_int_equal(s.e.type[0].total, 1 + 2 + 3 + 0 - 1);
    assert_int_equal(item(&s, "line that is not")->count, 9);
    assert_true(item(&s, "line that is not")->dropped);
    assert_string_equal(item(&s, "line that is not")->detail, "'# a comment'");
    assert_int_equal(item(&s, "fractional")->count, 3);
    assert_int_equal(s.e.time_ns, 0);
    fk_arena_free(&s.arena);
}

static void two_columns(void **state)
{
    (void)state;
    struct seen s;
    assert_int_equal(decode(&s, FK_S("a;b 1 2\na 10 20\n")), 0);
    assert_int_equal(s.p.n_types, 2);
    assert_int_equal(s.e.type[0].total, 22);
    assert_int_equal(s.e.type[1].total, 11);
    assert_true(fk_str_eq(s.e.type[1].type, FK_S("samples_before")));
    fk_arena_free(&s.arena);
    assert_int_equal(decode(&s, FK_S("a;b 1 2\na 20\n")), 0); // else it is a name
    assert_int_equal(s.p.n_types, 1);
    fk_arena_free(&s.arena);
}

static void sample_rate_adds_time(void **state)
{
    (void)state;
    struct fk_limits l = fk_limits_default();
    struct fk_decode_opts o = fk_decode_opts_push(&l);
    struct seen s;
    o.sample_rate = 100;
    assert_int_equal(decode_with(&s, FK_S("a 3\n"), &o), 0);
    assert_int_equal(s.p.n_types, 2);
    assert_int_equal(s.e.type[0].total, 3);
    assert_int_equal(s.e.type[1].total, 30000000);
    assert_true(fk_str_eq(s.e.type[1].type, FK_S("cpu")));
    assert_int_equal(s.p.period, 10000000);
    fk_arena_free(&s.arena);
    o = fk_decode_opts_push(&l);
    o.type = FK_S("inuse_space");
    o.unit = FK_S("bytes");
    assert_int_equal(decode_with(&s, FK_S("a 3\n"), &o), 0);
    assert_int_equal(s.p.n_types, 1);
    assert_true(fk_str_eq(s.e.type[0].unit, FK_S("bytes")));
    assert_int_equal(s.e.type[0].kind, FK_KIND_INSTANT);
    fk_arena_free(&s.arena);
}

static void limits(void **state)
{
    (void)state;
    struct fk_limits l = fk_limits_default();
    struct seen s;
    l.stack_depth = 2;
    struct fk_decode_opts o = fk_decode_opts_push(&l);
    assert_int_equal(decode_with(&s, FK_S("a;b;c 3\n"), &o), 0);
    assert_true(s.p.truncated);
    assert_true(fk_str_eq(s.p.sym.string[s.p.sym.frame[0] + 1], FK_S("c")));
    fk_arena_free(&s.arena);
    o.max_rows = 1;
    assert_int_equal(decode_with(&s, FK_S("a 1\na 1\n"), &o), -FK_E_LIMIT);
    assert_string_equal(s.err.flag, "--limit-push-rows");
    fk_arena_free(&s.arena);
}

static void what_a_view_leaves_out_is_other(void **state)
{
    (void)state;
    struct seen s;
    assert_int_equal(decode(&s, FK_S("a;b 4\na;c 1\nd 2\n")), 0);
    static const int64_t self[] = {4, 1, 2};
    struct fk_tree *t = fk_tree_new(1, 0);
    assert_non_null(t);
    assert_int_equal(fk_tree_fold(t, 0, &s.p.sym, self, false, NULL, NULL), 0);
    static const struct {
        uint32_t max_nodes;
        const char *want;
    } cases[] = {{0, "a;b 4\na;c 1\nd 2\n"},
                 {3, "a;other 1\na;b 4\nother 2\n"},
                 {2, "a;other 5\nother 2\n"},
                 {1, "other 7\n"}};
    for (size_t i = 0; i < FK_COUNTOF(cases); i++) {
        FK_AUTO_BUF out;
        struct fk_tree_view v;
        struct fk_tree_opts o = {cases[i].max_nodes, FK_ORDER_NAME};
        fk_buf_init(&out, 0);
        assert_int_equal(fk_tree_view(t, &o, &s.arena, &v, NULL), 0);
        assert_int_equal(fk_folded_tree(&v, 0, fk_out_buf(&out), NULL), 0);
        if (!fk_str_eq(fk_buf_view(&out), fk_str_of(cases[i].want)))
            fail_msg("got '%.*s'", FK_STR_ARG(fk_buf_view(&out)));
    }
    fk_tree_free(t);
    fk_arena_free(&s.arena);
}

static void hostile_names_stay_one_line(void **state)
{
    (void)state;
    FK_AUTO_ARENA a;
    fk_arena_init(&a, 0);
    struct fk_builder *b = fk_builder_new(&a, 10, NULL);
    struct fk_dict *d = fk_builder_dict(b);
    struct fk_profile p = {0};
    struct fk_function f = {0};
    struct fk_location loc = {.mapping = FK_NONE, .line_count = 1};
    uint32_t location, stack;
    int64_t one = 1;
    assert_int_equal(fk_dict_string(d, FK_S("x;y\nz\r"), &f.name), 0);
    struct fk_line line = {0, 0, 0};
    assert_int_equal(fk_dict_function(d, &f, &line.function), 0);
    assert_int_equal(fk_dict_location(d, &loc, &line, &location), 0);
    assert_int_equal(fk_dict_stack(d, &location, 1, &stack), 0);
    assert_int_equal(fk_builder_type(b, FK_S("samples"), FK_S("count"), FK_KIND_DELTA), 0);
    assert_int_equal(fk_builder_sample(b, stack, 0, &one, NULL, 1, NULL), 0);
    assert_int_equal(fk_builder_finish(b, &p, NULL), 0);
    fk_builder_free(b);
    FK_AUTO_BUF out;
    fk_buf_init(&out, 0);
    assert_int_equal(fk_encode(FK_FORMAT_FOLDED, &p, NULL, fk_out_buf(&out), NULL), 0);
    assert_true(fk_str_eq(fk_buf_view(&out), FK_S("x:y_z_ 1\n")));
    struct fk_encode_opts o = {.type = 1};
    struct fk_err err;
    assert_int_equal(fk_encode(FK_FORMAT_FOLDED, &p, &o, fk_out_buf(&out), &err), -FK_E_INVALID);
}

static void detects(void **state)
{
    (void)state;
    static const struct {
        struct fk_str bytes;
        enum fk_format want;
        const char *says;
    } cases[] = {
        {{"a;b 1\n", 6}, FK_FORMAT_FOLDED, NULL},
        {{"x^foo;b 1\n", 10}, FK_FORMAT_FOLDED, NULL},
        {{"\xff\xfe"
          "a\0",
          4},
         FK_FORMAT_FOLDED,
         NULL},
        {{"\x0a\x04\x08\x01\x10\x02\x32\x00", 8}, FK_FORMAT_PPROF, NULL},
        {{"", 0}, FK_FORMAT_UNKNOWN, "empty"},
        {{" <!DOCTYPE html><p>", 19}, FK_FORMAT_UNKNOWN, "HTML"},
        {{"<html>\n404 1\n", 13}, FK_FORMAT_UNKNOWN, "HTML"},
        {{"{\"a\": 1}", 8}, FK_FORMAT_UNKNOWN, "JSON"},
        {{"go 1.22 trace\0\0\0", 16}, FK_FORMAT_UNKNOWN, "Go execution trace"},
        {{"/bin/x\0--y\0", 11}, FK_FORMAT_UNKNOWN, "command line"},
        {{"/bin/x", 6}, FK_FORMAT_UNKNOWN, "plain text"},
        {{"FLR\0\0\2", 6}, FK_FORMAT_JFR, NULL},
        {{"PERFILE2", 8}, FK_FORMAT_UNKNOWN, "perf.data"},
        {{"2ELIFREP", 8}, FK_FORMAT_UNKNOWN, "byte order"},
        {{"JAVA PROFILE 1.0.2\0", 19}, FK_FORMAT_UNKNOWN, "HPROF"},
        {{"{\"snapshot\":{\"meta\":{}", 22}, FK_FORMAT_UNKNOWN, "heap snapshot"},
        {{"MDMP\x93\xa7", 6}, FK_FORMAT_UNKNOWN, "minidump"},
        {{"Nettrace", 8}, FK_FORMAT_UNKNOWN, "dotnet-trace"},
        {{"gmon\1\0\0\0", 8}, FK_FORMAT_UNKNOWN, "gprof"},
        {{"go1.7 heap dump\n", 16}, FK_FORMAT_UNKNOWN, "Go heap dump"},
        {{"\x7f"
          "ELF\x02\x01",
          6},
         FK_FORMAT_UNKNOWN,
         "ELF"},
        {{"a;b 1\nno\n", 9}, FK_FORMAT_FOLDED, NULL},
        {{"no\nno\na 1\n", 10}, FK_FORMAT_UNKNOWN, "plain text"},
        {{"version: 1\nevents: Ir\n1 2\n", 26}, FK_FORMAT_CALLGRIND, NULL},
        {{"heap_v2/1\n t*: 1: 2\n", 20}, FK_FORMAT_JEMALLOC, NULL},
        {{"heap profile: 1: 2", 18}, FK_FORMAT_LEGACY_TEXT, NULL},
        {{"\xde\xad\xbe\xef\x01", 5}, FK_FORMAT_UNKNOWN, "not recognised"},
    };
    for (size_t i = 0; i < FK_COUNTOF(cases); i++) {
        enum fk_format f = FK_FORMAT_UNKNOWN;
        struct fk_err err = {0};
        int rc = fk_format_detect(cases[i].bytes, &f, &err);
        assert_int_equal(f, cases[i].want);
        assert_int_equal(rc == 0, cases[i].says == NULL);
        if (cases[i].says && !strstr(err.msg, cases[i].says))
            fail_msg("'%s' does not say '%s'", err.msg, cases[i].says);
        FK_AUTO_BUF gz;
        fk_buf_init(&gz, 0);
        assert_int_equal(fk_gzip(cases[i].bytes.p, cases[i].bytes.n, 1, &gz, NULL), 0);
        f = FK_FORMAT_UNKNOWN;
        rc = fk_format_detect(fk_buf_view(&gz), &f, &err);
        if (cases[i].bytes.n)
            assert_int_equal(f, cases[i].want);
    }
}

// What was announced as pprof but is something else is refused by its own name.
static void names_the_impostor(void **state)
{
    (void)state;
    struct fk_limits l = fk_limits_default();
    struct fk_decode_opts o = fk_decode_opts_push(&l);
    struct seen s = {0};
    fk_arena_init(&s.arena, 0);
    assert_int_equal(fk_decode(FK_FORMAT_PPROF, FK_S("<html><body>no</body>"), &o, &s.arena,
                               (struct fk_each_profile){keep, &s}, &s.report, &s.err),
                     -FK_E_FORMAT);
    assert_non_null(strstr(s.err.msg, "HTML"));
    fk_arena_free(&s.arena);
    enum fk_format f;
    assert_int_equal(fk_format_parse(FK_S("folded"), &f, NULL), 0);
    assert_int_equal(f, FK_FORMAT_FOLDED);
    assert_int_equal(fk_format_parse(FK_S("x"), &f, NULL), -FK_E_INVALID);
}

static void survives_lack_of_memory(void **state)
{
    (void)state;
    FK_AUTO_BUF text, out;
    fk_buf_init(&text, 0);
    fk_buf_init(&out, 0);
    for (int i = 0; i < 300; i++)
        fk_buf_printf(&text, "a;b%d;c 1\n", i);
    for (uint64_t k = 1, done = 0; !done; k += 1 + k / 8) {
        struct seen s;
        fk_mem_fail_after(k, true);
        int rc = decode(&s, fk_buf_view(&text));
        if (rc == 0)
            rc = fk_encode(FK_FORMAT_FOLDED, &s.p, NULL, fk_out_buf(&out), NULL);
        done = fk_mem_failed() == 0;
        fk_mem_fail_after(0, false);
        assert_int_equal(rc, done ? 0 : -FK_E_NOMEM);
        fk_arena_free(&s.arena);
        fk_buf_free(&out);
    }
}

static void report_is_bounded(void **state)
{
    (void)state;
    static char reasons[40][16];
    struct fk_report r = {0};
    for (int i = 0; i < 40; i++) {
        snprintf(reasons[i], sizeof(reasons[i]), "r%d", i);
        fk_report_drop(&r, reasons[i], 1, "%d", i);
        fk_report_drop(&r, reasons[i], 0, "nothing");
    }
    assert_int_equal(r.n, FK_REPORT_ITEMS);
    assert_int_equal(fk_report_dropped(&r), 40);
    fk_report_warn(NULL, "nobody listens", 1, "x");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_and_writes),
        cmocka_unit_test(bad_lines_and_fractions_are_counted),
        cmocka_unit_test(two_columns),
        cmocka_unit_test(sample_rate_adds_time),
        cmocka_unit_test(limits),
        cmocka_unit_test(what_a_view_leaves_out_is_other),
        cmocka_unit_test(hostile_names_stay_one_line),
        cmocka_unit_test(detects),
        cmocka_unit_test(names_the_impostor),
        cmocka_unit_test(survives_lack_of_memory),
        cmocka_unit_test(report_is_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
