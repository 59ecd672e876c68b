// SPDX-License-Identifier: Apache-2.0
// pprof both ways: what is kept, what is dropped and said, what is refused.
#include "formats/formats.h"

#include "support/test.h"

struct seen {
    struct fk_profile p;
    struct fk_entry e;
    uint64_t n;
    struct fk_report report;
    struct fk_arena arena;
    struct fk_err err;
};

static int keep(void *arg, struct fk_entry *e, struct fk_profile *p, struct fk_err *err)
{
    struct seen *s = arg;
    s->p = *p;
    s->e = *e;
    s->n++;
    return fk_profile_validate(p, err);
}

static int decode_limited(struct seen *s, struct fk_str bytes, const struct fk_limits *l)
{
    memset(s, 0, sizeof(*s));
    fk_arena_init(&s->arena, 0);
    struct fk_decode_opts o = fk_decode_opts_push(l);
    return fk_decode(FK_FORMAT_PPROF, bytes, &o, &s->arena, (struct fk_each_profile){keep, s},
                     &s->report, &s->err);
}

static int decode(struct seen *s, const struct fk_buf *b)
{
    struct fk_limits l = fk_limits_default();
    return decode_limited(s, fk_buf_view(b), &l);
}

// ---- messages

static void put_type(struct fk_buf *b, uint32_t field, uint64_t type, uint64_t unit)
{
    size_t m = fk_pb_begin(b, field);
    fk_pb_u64(b, 1, type);
    fk_pb_u64(b, 2, unit);
    fk_pb_end(b, m);
}

static void put_strings(struct fk_buf *b, const char *const *s)
{
    for (; *s; s++)
        fk_pb_bytes(b, 6, fk_str_of(*s));
}

static void put_function(struct fk_buf *b, uint64_t id, uint64_t name)
{
    size_t m = fk_pb_begin(b, 5);
    fk_pb_u64(b, 1, id);
    fk_pb_u64(b, 2, name);
    fk_pb_end(b, m);
}

static void put_location(struct fk_buf *b, uint64_t id, uint64_t mapping, uint64_t address,
                         uint64_t function)
{
    size_t m = fk_pb_begin(b, 4);
    fk_pb_u64(b, 1, id);
    fk_pb_u64(b, 2, mapping);
    fk_pb_u64(b, 3, address);
    if (function) {
        size_t line = fk_pb_begin(b, 4);
        fk_pb_u64(b, 1, function);
        fk_pb_u64(b, 2, 42);
        fk_pb_u64(b, 3, 7);
        fk_pb_end(b, line);
    }
    fk_pb_end(b, m);
}

static void put_mapping(struct fk_buf *b, uint64_t id, uint64_t start, uint64_t file)
{
    size_t m = fk_pb_begin(b, 3);
    fk_pb_u64(b, 1, id);
    fk_pb_u64(b, 2, start);
    fk_pb_u64(b, 3, start + 0x1000);
    fk_pb_u64(b, 4, 0x200);
    fk_pb_u64(b, 5, file);
    fk_pb_u64(b, 7, 1);
    fk_pb_end(b, m);
}

struct label {
    uint64_t key, str, num, unit;
};

static void put_sample(struct fk_buf *b, const uint64_t *locs, size_t n_locs,
                       const uint64_t *values, size_t n_values, const struct label *labels,
                       size_t n_labels)
{
    size_t m = fk_pb_begin(b, 2);
    fk_pb_packed(b, 1, locs, n_locs);
    fk_pb_packed(b, 2, values, n_values);
    for (size_t i = 0; i < n_labels; i++) {
        size_t l = fk_pb_begin(b, 3);
        fk_pb_u64_nz(b, 1, labels[i].key);
        fk_pb_u64_nz(b, 2, labels[i].str);
        fk_pb_u64_nz(b, 3, labels[i].num);
        fk_pb_u64_nz(b, 4, labels[i].unit);
        fk_pb_end(b, l);
    }
    fk_pb_end(b, m);
}

static const char *const strings[] = {"",       "samples", "count",  "cpu",  "nanoseconds",
                                      "main",   "work",    "/bin/a", "\xff", "end_timestamp_ns",
                                      "thread", NULL};

// Two types, two functions, three locations (ids scale, 2 scale, 3 scale), two equal mappings.
static void put_tables(struct fk_buf *b, uint64_t scale)
{
    put_type(b, 1, 1, 2);
    put_type(b, 1, 3, 4);
    put_mapping(b, 1, 0x10000, 7);
    put_mapping(b, 2, 0x30000, 7);
    put_location(b, scale, 1, 0x10010, 1);
    put_location(b, 2 * scale, 2, 0x30020, 2);
    put_location(b, 3 * scale, 0, 0x77, 0);
    put_function(b, 1, 5);
    put_function(b, 2, 6);
    put_strings(b, strings);
    fk_pb_u64(b, 9, 1700000000000000000);
    fk_pb_u64(b, 10, 10000000000);
    put_type(b, 11, 3, 4);
    fk_pb_u64(b, 12, 10000000);
    fk_pb_u64(b, 13, 8);
    fk_pb_u64(b, 14, 3);
}

static void free_seen(struct seen *s)
{
    fk_arena_free(&s->arena);
}

static const uint64_t locs[] = {3, 2, 1}, values[] = {1, 10000000}, minus[] = {UINT64_MAX, 0};

static void keeps_everything(void **state)
{
    (void)state;
    static const struct label labels[] = {{10, 8, 0, 0}, {10, 0, 5, 2}};
    FK_AUTO_BUF b;
    fk_buf_init(&b, 0);
    put_sample(&b, locs, 3, values, 2, labels, 2); // before its tables, as Go writes it
    put_sample(&b, locs, 3, values, 2, labels, 2);
    put_sample(&b, locs, 0, minus, 2, NULL, 0);
    put_tables(&b, 1);
    struct seen s;
    assert_int_equal(decode(&s, &b), 0);
    assert_int_equal(s.report.n, 0);
    assert_int_equal(s.p.n_rows, 3);
    assert_int_equal(s.p.sym.n_stacks, 2); // equal neighbours share one
    assert_int_equal(s.p.sym.n_sets, 2);
    assert_int_equal(s.p.set[0], s.p.set[1]);
    assert_int_equal(s.p.set[2], 0);
    assert_int_equal(s.e.type[0].total, 1);
    assert_int_equal(s.e.type[1].total, 20000000);
    assert_int_equal(s.p.type[0].kind, FK_KIND_DELTA);
    assert_int_equal(s.p.sym.location[0].address, 0x10 + 0x200);
    assert_int_equal(s.p.sym.location[2].mapping, FK_NONE);
    assert_int_equal(s.p.sym.mapping[0].ordinal, 0);
    assert_int_equal(s.p.sym.mapping[1].ordinal, 1);
    assert_int_equal(s.p.placement[0].flags, FK_PLACEMENT_HAS_FUNCTIONS);
    assert_true(fk_str_eq(s.p.comment[0], FK_S("\xff")));
    assert_true(fk_str_eq(s.p.default_type, FK_S("cpu")));
    assert_true(s.p.has_period_type);
    assert_null(s.p.time_ns);
    free_seen(&s);
}

// Writes, reads again and writes: the second output must be the first.
static void check_stable(const struct fk_profile *p)
{
    FK_AUTO_BUF one, two;
    struct fk_encode_opts o = {.gzip_level = 1};
    fk_buf_init(&one, 0);
    fk_buf_init(&two, 0);
    assert_int_equal(fk_encode(FK_FORMAT_PPROF, p, &o, fk_out_buf(&one), NULL), 0);
    struct seen s;
    assert_int_equal(decode(&s, &one), 0);
    assert_int_equal(s.p.n_obs, p->n_obs);
    assert_int_equal(fk_encode(FK_FORMAT_PPROF, &s.p, &o, fk_out_buf(&two), NULL), 0);
    assert_true(fk_str_eq(fk_buf_view(&one), fk_buf_view(&two)));
    free_seen(&s);
}

static void round_trips(void **state)
{
    (void)state;
    static const uint64_t scales[] = {1, 1000, 1ull << 50};
    for (size_t i = 0; i < FK_COUNTOF(scales); i++) {
        static const struct label labels[] = {{10, 0, 0, 0}};
        uint64_t at[3];
        FK_AUTO_BUF b;
        fk_buf_init(&b, 0);
        for (int k = 0; k < 3; k++)
            at[k] = locs[k] * scales[i];
        put_tables(&b, scales[i]); // sparse ids go through a map
        put_sample(&b, at, 3, values, 2, labels, 1);
        put_sample(&b, at, 1, minus, 2, NULL, 0);
        struct seen s;
        assert_int_equal(decode(&s, &b), 0);
        assert_int_equal(s.p.sym.frame[0], 2);
        check_stable(&s.p);
        free_seen(&s);
    }
}

static void times_become_a_column(void **state)
{
    (void)state;
    static const struct label time[] = {{9, 0, 1700000000000000001, 4}, {10, 0, 5, 0}};
    FK_AUTO_BUF b;
    fk_buf_init(&b, 0);
    put_tables(&b, 1);
    put_sample(&b, locs, 3, values, 2, time, 2);
    put_sample(&b, locs, 3, values, 2, NULL, 0);
    struct seen s;
    assert_int_equal(decode(&s, &b), 0);
    assert_true(s.p.time_ns[0] == 1700000000000000001);
    assert_true(s.p.time_ns[1] == FK_NO_TIME);
    assert_int_equal(s.p.sym.n_sets, 2);
    assert_int_equal(s.p.sym.set_begin[2], 1);
    assert_int_equal(s.e.flags, FK_ENTRY_HAS_TIME);
    assert_true(fk_str_eq(s.p.time_key, FK_S("end_timestamp_ns")));
    assert_true(fk_str_eq(s.p.time_unit, FK_S("nanoseconds")));
    check_stable(&s.p);
    free_seen(&s);
}

static void unclear_times_stay_labels(void **state)
{
    (void)state;
    static const struct label twice[] = {{9, 0, 1, 4}, {9, 0, 2, 4}}, other_unit[] = {{9, 0, 1, 2}},
                              text[] = {{9, 8, 0, 0}};
    const struct label *cases[] = {twice, other_unit, text};
    for (size_t i = 0; i < 3; i++) {
        FK_AUTO_BUF b;
        fk_buf_init(&b, 0);
        put_tables(&b, 1);
        put_sample(&b, locs, 3, values, 2, twice, 1);
        put_sample(&b, locs, 3, values, 2, cases[i], i == 0 ? 2 : 1);
        struct seen s;
        assert_int_equal(decode(&s, &b), 0);
        assert_null(s.p.time_ns);
        assert_int_equal(s.p.n_rows, 2);
        assert_int_equal(s.p.sym.set_begin[s.p.sym.n_sets], i == 0 ? 3 : 2);
        free_seen(&s);
    }
}

static uint64_t reported(const struct seen *s, const char *reason, bool dropped)
{
    for (uint32_t i = 0; i < s->report.n; i++)
        if (s->report.item[i].dropped == dropped && strstr(s->report.item[i].reason, reason))
            return s->report.item[i].count;
    return 0;
}

static void salvages(void **state)
{
    (void)state;
    static const uint64_t gone[] = {1, 99}, three[] = {1, 2, 3};
    FK_AUTO_BUF b;
    fk_buf_init(&b, 0);
    put_tables(&b, 1);
    put_location(&b, 4, 9, 0x10, 77); // mapping and function that are not there
    put_location(&b, 4, 0, 0x11, 1000);
    put_function(&b, 1, 999); // a duplicate, with a string that is not there
    put_sample(&b, gone, 2, values, 2, NULL, 0);
    put_sample(&b, locs, 3, values, 1, NULL, 0);
    put_sample(&b, locs, 3, three, 3, NULL, 0);
    put_sample(&b, locs, 3, values, 2, NULL, 0);
    fk_pb_u64(&b, 77, 1); // unknown
    fk_pb_fixed64(&b, 78, 1);
    struct seen s;
    assert_int_equal(decode(&s, &b), 0);
    assert_int_equal(s.p.n_rows, 1);
    assert_int_equal(reported(&s, "missing location", true), 1);
    assert_int_equal(reported(&s, "values", true), 2);
    assert_int_equal(reported(&s, "missing function", false), 2);
    assert_int_equal(reported(&s, "missing mapping", false), 1);
    assert_int_equal(reported(&s, "duplicate", false), 2);
    assert_int_equal(reported(&s, "string number", false), 1);
    assert_int_equal(fk_report_dropped(&s.report), 3);
    check_stable(&s.p);
    free_seen(&s);
}

static void cuts_deep_stacks(void **state)
{
    (void)state;
    struct fk_limits l = fk_limits_default();
    l.stack_depth = 2;
    FK_AUTO_BUF b;
    fk_buf_init(&b, 0);
    put_tables(&b, 1);
    put_sample(&b, locs, 3, values, 2, NULL, 0);
    struct seen s;
    assert_int_equal(decode_limited(&s, fk_buf_view(&b), &l), 0);
    assert_true(s.p.truncated);
    assert_int_equal(s.e.flags, FK_ENTRY_TRUNCATED);
    assert_int_equal(s.p.sym.stack_begin[1], 2);
    assert_int_equal(s.p.sym.frame[0], 2); // the leaf stays
    assert_int_equal(reported(&s, "depth", false), 1);
    free_seen(&s);
}

static void limits_name_their_flag(void **state)
{
    (void)state;
    struct fk_limits l = fk_limits_default();
    FK_AUTO_BUF b;
    fk_buf_init(&b, 0);
    put_tables(&b, 1);
    put_sample(&b, locs, 3, values, 2, NULL, 0);
    put_sample(&b, locs, 3, values, 2, NULL, 0);
    struct seen s;
    l.push_rows = 1;
    assert_int_equal(decode_limited(&s, fk_buf_view(&b), &l), -FK_E_LIMIT);
    assert_string_equal(s.err.flag, "--limit-push-rows");
    free_seen(&s);
    l = fk_limits_default();
    l.sample_types = 1;
    assert_int_equal(decode_limited(&s, fk_buf_view(&b), &l), -FK_E_LIMIT);
    assert_string_equal(s.err.flag, "--limit-sample-types");
    free_seen(&s);
    l = fk_limits_default();
    l.push_decoded = 10;
    assert_int_equal(decode_limited(&s, fk_buf_view(&b), &l), -FK_E_LIMIT);
    assert_string_equal(s.err.flag, "--limit-push-decoded");
    free_seen(&s);
}

static void broken_at_every_byte(void **state)
{
    (void)state;
    static const struct label labels[] = {{10, 8, 0, 0}, {9, 0, 5, 4}};
    FK_AUTO_BUF b;
    fk_buf_init(&b, 0);
    put_tables(&b, 1);
    put_sample(&b, locs, 3, values, 2, labels, 2);
    size_t n = b.n;
    for (size_t cut = 0; cut < n; cut++) {
        struct seen s;
        struct fk_limits l = fk_limits_default();
        FK_AUTO_FREE char *copy = fk_memdup(b.p, cut); // so that a sanitizer sees the end
        (void)decode_limited(&s, fk_str_make(copy, cut), &l);
        free_seen(&s);
    }
    for (size_t at = 0; at < n; at++)
        for (int bit = 0; bit < 8; bit++) {
            struct seen s;
            b.p[at] ^= (char)(1 << bit);
            if (decode(&s, &b) == 0)
                check_stable(&s.p);
            free_seen(&s);
            b.p[at] ^= (char)(1 << bit);
        }
}

static void survives_lack_of_memory(void **state)
{
    (void)state;
    static const struct label labels[] = {{10, 8, 0, 0}, {9, 0, 5, 4}};
    FK_AUTO_BUF b, out;
    fk_buf_init(&b, 0);
    fk_buf_init(&out, 0);
    put_tables(&b, 1ull << 50);
    for (int i = 0; i < 300; i++)
        put_sample(&b, locs, 0, values, 2, labels, 2);
    struct fk_encode_opts o = {.gzip_level = 1};
    for (uint64_t k = 1, done = 0; !done; k++) {
        struct seen s;
        fk_mem_fail_after(k, true);
        int rc = decode(&s, &b);
        if (rc == 0)
            rc = fk_encode(FK_FORMAT_PPROF, &s.p, &o, fk_out_buf(&out), NULL);
        done = fk_mem_failed() == 0;
        fk_mem_fail_after(0, false);
        assert_int_equal(rc, done ? 0 : -FK_E_NOMEM);
        free_seen(&s);
        fk_buf_free(&out);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keeps_everything),
        cmocka_unit_test(round_trips),
        cmocka_unit_test(times_become_a_column),
        cmocka_unit_test(unclear_times_stay_labels),
        cmocka_unit_test(salvages),
        cmocka_unit_test(cuts_deep_stacks),
        cmocka_unit_test(limits_name_their_flag),
        cmocka_unit_test(broken_at_every_byte),
        cmocka_unit_test(survives_lack_of_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
