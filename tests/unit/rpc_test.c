// SPDX-License-Identifier: Apache-2.0
// Messages over tables, with a message of its own that has a field of every kind: both codecs, what
// they skip, what they refuse and how they say so. (The tables of the real messages are met by
// fuzz_rpc and by the API's tests.)
#include "rpc/rpc.h"

#include "support/profiles.h"
#include "support/support.h"
#include "support/test.h"

#include <math.h>

struct inner {
    struct fk_str name;
    int64_t number;
};
struct outer {
    struct fk_str text, bytes;
    int64_t i64, u64, i32, colour;
    double f64;
    bool flag;
    struct inner one;
    struct fk_list many, numbers, texts, blobs, doubles;
    int64_t time_ns;
    struct inner *maybe, *never;
};

static const char *const colours[] = {"COLOUR_NONE", "COLOUR_RED", "COLOUR_BLUE", NULL};
static const struct fk_field inner_fields[] = {
    {1, FK_FIELD_STR, false, offsetof(struct inner, name), "name", "name"},
    {2, FK_FIELD_I64, false, offsetof(struct inner, number), "number", "number"}};
static const struct fk_msg_type inner_type = {"Inner", inner_fields, FK_COUNTOF(inner_fields),
                                              sizeof(struct inner)};
static const struct fk_field outer_fields[] = {
    {1, FK_FIELD_STR, false, offsetof(struct outer, text), "some_text", "someText"},
    {2, FK_FIELD_BYTES, false, offsetof(struct outer, bytes), "bytes", "bytes"},
    {3, FK_FIELD_I64, false, offsetof(struct outer, i64), "i64", "i64"},
    {4, FK_FIELD_U64, false, offsetof(struct outer, u64), "u64", "u64"},
    {5, FK_FIELD_I32, false, offsetof(struct outer, i32), "i32", "i32"},
    {6, FK_FIELD_ENUM, false, offsetof(struct outer, colour), "colour", "colour", .names = colours},
    {7, FK_FIELD_F64, false, offsetof(struct outer, f64), "f64", "f64"},
    {8, FK_FIELD_BOOL, false, offsetof(struct outer, flag), "flag", "flag"},
    {9, FK_FIELD_MSG, false, offsetof(struct outer, one), "one", "one", .type = &inner_type},
    {10, FK_FIELD_MSG, true, offsetof(struct outer, many), "many", "many", .type = &inner_type},
    {11, FK_FIELD_I64, true, offsetof(struct outer, numbers), "numbers", "numbers"},
    {12, FK_FIELD_STR, true, offsetof(struct outer, texts), "texts", "texts"},
    {13, FK_FIELD_BYTES, true, offsetof(struct outer, blobs), "blobs", "blobs"},
    {14, FK_FIELD_F64, true, offsetof(struct outer, doubles), "doubles", "doubles"},
    {15, FK_FIELD_TIME, false, offsetof(struct outer, time_ns), "time", "time"},
    {16, FK_FIELD_MSG, false, offsetof(struct outer, maybe), "maybe", "maybe", .type = &inner_type,
     .optional = true},
    {17, FK_FIELD_MSG, false, offsetof(struct outer, never), "never", "never", .type = &inner_type,
     .optional = true},
};
static const struct fk_msg_type outer_type = {"Outer", outer_fields, FK_COUNTOF(outer_fields),
                                              sizeof(struct outer)};

static int64_t numbers[] = {0, 1, -1, INT64_MAX, INT64_MIN, 300, 7};
static struct inner inners[] = {{{"x", 1}, 5}, {{NULL, 0}, 0}, {{"\xc3\xa9\"\n", 4}, -5}};
static double doubles[] = {0, -0.5, 1e300};
static struct inner maybe = {{NULL, 0}, 0}; // there, with nothing in it
static struct fk_str texts[] = {{"", 0}, {"a", 1}, {"bc", 2}};

static struct outer full(void)
{
    return (struct outer){.text = FK_S("text \"quoted\" \xe2\x82\xac"),
                          .bytes = fk_str_make("\0\xff\xfe\x80", 4),
                          .i64 = INT64_MIN,
                          .u64 = -1,
                          .i32 = -7,
                          .colour = 2,
                          .f64 = 0.1,
                          .flag = true,
                          .one = {FK_S("inner"), 1},
                          .many = {inners, FK_COUNTOF(inners)},
                          .numbers = {numbers, FK_COUNTOF(numbers)},
                          .texts = {texts, FK_COUNTOF(texts)},
                          .blobs = {texts, FK_COUNTOF(texts)},
                          .doubles = {doubles, FK_COUNTOF(doubles)},
                          .time_ns = -1, // nanos count forward from a second before 1970
                          .maybe = &maybe};
}

static void assert_same(const struct outer *a, const struct outer *b)
{
    assert_true(fk_str_eq(a->text, b->text) && fk_str_eq(a->bytes, b->bytes));
    assert_true(a->i64 == b->i64 && a->u64 == b->u64 && a->i32 == b->i32);
    assert_true(a->colour == b->colour && a->flag == b->flag);
    assert_memory_equal(&a->f64, &b->f64, sizeof(double));
    assert_true(fk_str_eq(a->one.name, b->one.name) && a->one.number == b->one.number);
    assert_int_equal(a->doubles.n, b->doubles.n);
    assert_memory_equal(a->doubles.v, b->doubles.v, a->doubles.n * sizeof(double));
    assert_int_equal(a->time_ns, b->time_ns);
    assert_true(!a->maybe == !b->maybe && !b->never);
    assert_int_equal(a->numbers.n, b->numbers.n);
    assert_memory_equal(a->numbers.v, b->numbers.v, a->numbers.n * sizeof(int64_t));
    assert_int_equal(a->many.n, b->many.n);
    for (size_t i = 0; i < a->many.n; i++) {
        const struct inner *x = (struct inner *)a->many.v + i, *y = (struct inner *)b->many.v + i;
        assert_true(fk_str_eq(x->name, y->name) && x->number == y->number);
    }
    const struct fk_list *lists[][2] = {{&a->texts, &b->texts}, {&a->blobs, &b->blobs}};
    for (size_t k = 0; k < FK_COUNTOF(lists); k++) {
        assert_int_equal(lists[k][0]->n, lists[k][1]->n);
        for (size_t i = 0; i < lists[k][0]->n; i++)
            assert_true(fk_str_eq(((struct fk_str *)lists[k][0]->v)[i],
                                  ((struct fk_str *)lists[k][1]->v)[i]));
    }
}

static int to_json(const struct outer *m, struct fk_buf *b, struct fk_err *err)
{
    struct fk_json w;
    fk_json_init(&w, fk_out_buf(b), false);
    fk_msg_encode_json(&outer_type, m, &w);
    return fk_json_finish(&w, err);
}

static int from_json(const char *text, struct fk_arena *a, struct outer *m, struct fk_err *err)
{
    return fk_msg_decode_json(&outer_type, fk_str_of(text), a, m, err);
}

static void all_kinds_round_trip(void **state)
{
    (void)state;
    FK_AUTO_ARENA a;
    FK_AUTO_BUF pb, json;
    struct outer m = full(), empty = {0}, from;
    struct fk_err err = {0};
    fk_arena_init(&a, 0);
    fk_buf_init(&pb, 0);
    fk_buf_init(&json, 0);
    fk_msg_encode(&outer_type, &m, &pb);
    fk_test_ok(fk_msg_decode(&outer_type, fk_buf_view(&pb), &a, &from, &err), &err);
    assert_same(&m, &from);
    fk_test_ok(to_json(&from, &json, &err), &err);
    fk_test_ok(fk_msg_decode_json(&outer_type, fk_buf_view(&json), &a, &from, &err), &err);
    assert_same(&m, &from);
    fk_buf_clear(&json);
    fk_test_ok(to_json(&empty, &json, &err), &err);
    assert_true(fk_str_eq(fk_buf_view(&json), FK_S("{\"one\":{}}")));
    fk_test_ok(fk_msg_decode(&outer_type, FK_S(""), &a, &from, &err), &err);
    assert_same(&empty, &from);
}

static void json_is_written_as_the_mapping_says(void **state)
{
    (void)state;
    FK_AUTO_BUF b;
    struct outer m = {.text = FK_S("t"),
                      .bytes = FK_S("\xfb\xff"),
                      .i64 = -5,
                      .u64 = -1,
                      .i32 = -7,
                      .colour = 1,
                      .f64 = -INFINITY,
                      .numbers = {numbers, 2}};
    struct fk_err err = {0};
    fk_buf_init(&b, 0);
    fk_test_ok(to_json(&m, &b, &err), &err);
    fk_buf_byte(&b, 0);
    assert_string_equal(b.p,
                        "{\"someText\":\"t\",\"bytes\":\"+/8=\",\"i64\":\"-5\","
                        "\"u64\":\"18446744073709551615\",\"i32\":-7,\"colour\":\"COLOUR_RED\","
                        "\"f64\":\"-Infinity\",\"one\":{},\"numbers\":[\"0\",\"1\"]}");
}

static void enums_without_a_name_are_numbers(void **state)
{
    (void)state;
    static const int64_t values[] = {3, 4, -1, INT64_MIN, INT64_MAX};
    for (size_t i = 0; i < FK_COUNTOF(values); i++) {
        FK_AUTO_ARENA a;
        FK_AUTO_BUF b;
        struct outer m = {.colour = values[i]}, from;
        struct fk_err err = {0};
        fk_arena_init(&a, 0);
        fk_buf_init(&b, 0);
        fk_test_ok(to_json(&m, &b, &err), &err);
        fk_test_ok(fk_msg_decode_json(&outer_type, fk_buf_view(&b), &a, &from, &err), &err);
        assert_true(from.colour == values[i]);
    }
}

static void json_is_read_in_all_its_spellings(void **state)
{
    (void)state;
    FK_AUTO_ARENA a;
    struct outer m;
    struct fk_err err = {0};
    fk_arena_init(&a, 0);
    fk_test_ok(from_json("{\"some_text\":\"a\\u00e9\",\"i64\":9223372036854775807,\"u64\":\"5\","
                         "\"i32\":\"-3\",\"colour\":2,\"f64\":\"1.5\",\"flag\":true}",
                         &a, &m, &err),
               &err);
    assert_true(fk_str_eq(m.text, FK_S("a\xc3\xa9")) && m.i64 == INT64_MAX && m.u64 == 5);
    assert_true(m.i32 == -3 && m.colour == 2 && m.flag && m.f64 > 1.4);
    fk_test_ok(
        from_json("{\"i64\":\"-9223372036854775808\",\"f64\":\"NaN\",\"u64\":1e3}", &a, &m, &err),
        &err);
    assert_true(m.i64 == INT64_MIN && isnan(m.f64) && m.u64 == 1000);
    fk_test_ok(from_json(" {\"bytes\":\"-_-_\",\"blobs\":[\"-_8\",\"+/8=\",\"\"]} ", &a, &m, &err),
               &err);
    assert_true(fk_str_eq(m.bytes, FK_S("\xfb\xff\xbf")));
    const struct fk_str *blob = m.blobs.v;
    assert_true(fk_str_eq(blob[0], FK_S("\xfb\xff")) && fk_str_eq(blob[1], blob[0]));
    fk_test_ok(from_json("{\"i64\":null,\"many\":null,\"one\":null}", &a, &m, &err), &err);
    assert_int_equal(m.many.n, 0);
}

static void unknown_fields_are_skipped(void **state)
{
    (void)state;
    FK_AUTO_ARENA a;
    FK_AUTO_BUF b;
    struct outer m;
    struct fk_err err = {0};
    fk_arena_init(&a, 0);
    fk_buf_init(&b, 0);
    fk_pb_u64(&b, 99, 1);
    fk_pb_fixed64(&b, 98, 1);
    fk_pb_u64(&b, 3, 42);
    fk_pb_fixed32(&b, 97, 1);
    fk_pb_bytes(&b, 96, FK_S("anything"));
    fk_test_ok(fk_msg_decode(&outer_type, fk_buf_view(&b), &a, &m, &err), &err);
    assert_int_equal(m.i64, 42);
    fk_test_ok(from_json("{\"x\":{\"i64\":[1,{\"a\":null}]},\"i64\":42,\"y\":[[]],\"z\":\"\"}", &a,
                         &m, &err),
               &err);
    assert_int_equal(m.i64, 42);
}

// Every field with every wire type: taken where it fits, else refused by name.
static void wrong_wire_types_are_named(void **state)
{
    (void)state;
    for (size_t i = 0; i < FK_COUNTOF(outer_fields); i++)
        for (int wire = 0; wire < 4; wire++) {
            FK_AUTO_ARENA a;
            FK_AUTO_BUF b;
            const struct fk_field *f = &outer_fields[i];
            struct outer m;
            struct fk_err err = {0};
            char name[64];
            fk_arena_init(&a, 0);
            fk_buf_init(&b, 0);
            if (wire == 0)
                fk_pb_u64(&b, f->number, 1);
            else if (wire == 1)
                fk_pb_fixed64(&b, f->number, 1);
            else if (wire == 2)
                fk_pb_bytes(&b, f->number, FK_S(""));
            else
                fk_pb_fixed32(&b, f->number, 1);
            bool text = f->kind == FK_FIELD_STR || f->kind == FK_FIELD_BYTES,
                 nested = f->kind == FK_FIELD_MSG || f->kind == FK_FIELD_TIME,
                 real = f->kind == FK_FIELD_F64;
            bool fits = text || nested ? wire == 2 : real ? wire == 1 : wire == 0;
            fits =
                fits || (f->repeated && (f->kind == FK_FIELD_I64 || real) && wire == 2); // packed
            int r = fk_msg_decode(&outer_type, fk_buf_view(&b), &a, &m, &err);
            assert_int_equal(r, fits ? 0 : -FK_E_FORMAT);
            snprintf(name, sizeof(name), "Outer.%s ", f->name);
            assert_true(fits || strstr(err.msg, name));
        }
}

static void wrong_json_is_named(void **state)
{
    (void)state;
    static const char *const cases[][2] = {{"{\"someText\":1}", "Outer.someText"},
                                           {"{\"time\":1}", "Outer.time"},
                                           {"{\"time\":\"soon\"}", "Outer.time"},
                                           {"{\"maybe\":[]}", "Outer.maybe"},
                                           {"{\"bytes\":\"a\"}", "Outer.bytes"},
                                           {"{\"bytes\":\"a*b=\"}", "Outer.bytes"},
                                           {"{\"bytes\":[]}", "Outer.bytes"},
                                           {"{\"i64\":1.5}", "Outer.i64"},
                                           {"{\"i64\":\"9223372036854775808\"}", "Outer.i64"},
                                           {"{\"i64\":true}", "Outer.i64"},
                                           {"{\"u64\":-1}", "Outer.u64"},
                                           {"{\"u64\":\"18446744073709551616\"}", "Outer.u64"},
                                           {"{\"i32\":{}}", "Outer.i32"},
                                           {"{\"colour\":\"GREEN\"}", "Outer.colour"},
                                           {"{\"f64\":\"nan\"}", "Outer.f64"},
                                           {"{\"flag\":1}", "Outer.flag"},
                                           {"{\"one\":[]}", "Outer.one"},
                                           {"{\"one\":{\"number\":\"x\"}}", "Inner.number"},
                                           {"{\"many\":{}}", "Outer.many"},
                                           {"{\"many\":[1]}", "Outer.many"},
                                           {"{\"texts\":\"a\"}", "Outer.texts"},
                                           {"{\"texts\":[null]}", "Outer.texts"},
                                           {"[]", "Outer"},
                                           {"{} {}", ""},
                                           {"{\"i64\":1,}", ""},
                                           {"", ""}};
    for (size_t i = 0; i < FK_COUNTOF(cases); i++) {
        FK_AUTO_ARENA a;
        struct outer m;
        struct fk_err err = {0};
        fk_arena_init(&a, 0);
        if (from_json(cases[i][0], &a, &m, &err) != -FK_E_FORMAT || !strstr(err.msg, cases[i][1]))
            fail_msg("%s: %s '%s'", cases[i][0], fk_error_name(-err.code), err.msg);
    }
}

static void nesting_is_bounded(void **state)
{
    (void)state;
    FK_AUTO_ARENA a;
    struct outer m;
    struct fk_err err = {0};
    fk_arena_init(&a, 0);
    for (size_t depth = 1; depth <= 200; depth++) {
        FK_AUTO_BUF b;
        fk_buf_init(&b, 0);
        fk_buf_cstr(&b, "{\"unknown\":");
        fk_buf_fill(&b, '[', depth);
        fk_buf_fill(&b, ']', depth);
        fk_buf_byte(&b, '}');
        int r = fk_msg_decode_json(&outer_type, fk_buf_view(&b), &a, &m, &err);
        assert_int_equal(r, depth + 1 <= FK_JSON_NEST ? 0 : -FK_E_LIMIT);
    }
}

static void cut_and_changed_bytes_never_crash(void **state)
{
    (void)state;
    FK_AUTO_BUF pb, json;
    struct outer m = full(), from;
    struct fk_err err = {0};
    struct fk_rng rng = {17};
    fk_buf_init(&pb, 0);
    fk_buf_init(&json, 0);
    fk_msg_encode(&outer_type, &m, &pb);
    fk_test_ok(to_json(&m, &json, &err), &err);
    for (int i = 0; i < 20000; i++) {
        const struct fk_buf *whole = i % 2 ? &json : &pb;
        size_t n = i / 2 < (int)whole->n ? (size_t)i / 2 : whole->n;
        FK_AUTO_ARENA a;
        char *copy = malloc(n ? n : 1); // exact, so that a sanitizer sees the end
        assert_non_null(copy);
        memcpy(copy, whole->p, n);
        if (n == whole->n)
            copy[fk_rng_below(&rng, (uint32_t)n)] = (char)fk_rng_next(&rng);
        fk_arena_init(&a, 1 << 20);
        err = (struct fk_err){0};
        int r = i % 2 ? fk_msg_decode_json(&outer_type, fk_str_make(copy, n), &a, &from, &err)
                      : fk_msg_decode(&outer_type, fk_str_make(copy, n), &a, &from, &err);
        assert_int_equal(r, -err.code);
        assert_true(r || n == whole->n || i % 2 == 0); // cut JSON is never whole
        free(copy);
    }
}

static void allocation_failures_are_errors(void **state)
{
    (void)state;
    FK_AUTO_BUF pb, json;
    struct outer m = full(), from;
    struct fk_err err = {0};
    bool done = false;
    size_t refused = 0;
    fk_buf_init(&pb, 0);
    fk_buf_init(&json, 0);
    fk_msg_encode(&outer_type, &m, &pb);
    fk_test_ok(to_json(&m, &json, &err), &err);
    for (uint64_t k = 1; !done && k < 1000; k++) {
        FK_AUTO_ARENA a;
        FK_AUTO_BUF again, text;
        fk_arena_init(&a, 0);
        fk_buf_init(&again, 0);
        fk_buf_init(&text, 0);
        fk_mem_fail_after(k, false); // only one: what follows must not hide it
        int r = fk_msg_decode(&outer_type, fk_buf_view(&pb), &a, &from, &err);
        if (r == 0)
            r = fk_msg_decode_json(&outer_type, fk_buf_view(&json), &a, &from, &err);
        if (r == 0)
            r = to_json(&from, &text, &err);
        if (r == 0) {
            fk_msg_encode(&outer_type, &from, &again);
            r = fk_buf_check(&again, "message", &err);
        }
        done = fk_mem_failed() == 0;
        fk_mem_fail_after(0, false);
        refused += r != 0;
        assert_true(r == 0 || (!done && r == -FK_E_NOMEM));
        if (r == 0) // an arena that asked for less and got it is no failure
            assert_true(fk_str_eq(fk_buf_view(&text), fk_buf_view(&json)) &&
                        fk_str_eq(fk_buf_view(&again), fk_buf_view(&pb)));
    }
    assert_true(done && refused > 3);
}

static void content_types_choose_the_codec(void **state)
{
    (void)state;
    assert_int_equal(fk_rpc_codec_of(FK_S("application/json")), FK_RPC_JSON);
    assert_int_equal(fk_rpc_codec_of(FK_S("Application/JSON; charset=utf-8")), FK_RPC_JSON);
    assert_int_equal(fk_rpc_codec_of(FK_S("application/proto")), FK_RPC_PROTO);
    assert_int_equal(fk_rpc_codec_of(FK_S("application/x-protobuf")), FK_RPC_PROTO);
    assert_int_equal(fk_rpc_codec_of(FK_S("application/grpc")), FK_RPC_OTHER);
    assert_int_equal(fk_rpc_codec_of(FK_S("")), FK_RPC_OTHER);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_kinds_round_trip),
        cmocka_unit_test(json_is_written_as_the_mapping_says),
        cmocka_unit_test(enums_without_a_name_are_numbers),
        cmocka_unit_test(json_is_read_in_all_its_spellings),
        cmocka_unit_test(unknown_fields_are_skipped),
        cmocka_unit_test(wrong_wire_types_are_named),
        cmocka_unit_test(wrong_json_is_named),
        cmocka_unit_test(nesting_is_bounded),
        cmocka_unit_test(cut_and_changed_bytes_never_crash),
        cmocka_unit_test(allocation_failures_are_errors),
        cmocka_unit_test(content_types_choose_the_codec),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
