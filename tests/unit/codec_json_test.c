// SPDX-License-Identifier: Apache-2.0
// JSON both ways.
#include "codec/codec.h"

#include "support/test.h"

#include <math.h>

static void put_all(struct fk_json *w)
{
    fk_json_object(w);
    fk_json_k(w, "s");
    fk_json_str(w, FK_S("a\"\\\n\x01\x7f\xc3\xa9\xff\xe2\x80\xa8/"));
    fk_json_k(w, "n");
    fk_json_array(w);
    fk_json_i64(w, INT64_MIN);
    fk_json_u64(w, UINT64_MAX);
    fk_json_f64(w, 0.1);
    fk_json_f64(w, 1e300);
    fk_json_f64(w, NAN);
    fk_json_bool(w, true);
    fk_json_null(w);
    fk_json_raw(w, FK_S("{}"));
    fk_json_array_end(w);
    fk_json_key(w, FK_S("k\n"));
    fk_json_object(w);
    fk_json_object_end(w);
    fk_json_object_end(w);
}

static void writes(void **state)
{
    (void)state;
    FK_AUTO_BUF b;
    fk_buf_init(&b, 0);
    struct fk_json w;
    struct fk_err err = {0};
    fk_json_init(&w, fk_out_buf(&b), false);
    put_all(&w);
    assert_int_equal(fk_json_finish(&w, &err), 0);
    assert_true(fk_str_eq(
        fk_buf_view(&b),
        FK_S("{\"s\":\"a\\\"\\\\\\n\\u0001\\u007f\xc3\xa9\xef\xbf\xbd\\u2028/\","
             "\"n\":[-9223372036854775808,18446744073709551615,0.1,1e+300,null,true,null,{}],"
             "\"k\\n\":{}}")));
    fk_buf_clear(&b);
    fk_json_init(&w, fk_out_buf(&b), true);
    fk_json_object(&w);
    fk_json_k(&w, "a");
    fk_json_i64(&w, 1);
    fk_json_object_end(&w);
    assert_int_equal(fk_json_finish(&w, &err), 0);
    assert_true(fk_str_eq(fk_buf_view(&b), FK_S("{\n  \"a\": 1\n}\n")));
}

static void writer_reports_failures(void **state)
{
    (void)state;
    struct fk_json w;
    struct fk_err err = {0};
    FK_AUTO_BUF b;
    fk_buf_init(&b, 100000);
    fk_json_init(&w, fk_out_buf(&b), false);
    fk_json_array(&w);
    for (int i = 0; i < 100000; i++)
        fk_json_i64(&w, i);
    fk_json_array_end(&w);
    assert_int_equal(fk_json_finish(&w, &err), -FK_E_LIMIT);
    fk_buf_clear(&b);
    fk_json_init(&w, fk_out_buf(&b), false);
    for (int i = 0; i < 100; i++)
        fk_json_array(&w);
    assert_int_equal(fk_json_finish(&w, &err), -FK_E_INVALID);
    fk_json_init(&w, fk_out_buf(&b), false);
    fk_json_array(&w);
    assert_int_equal(fk_json_finish(&w, &err), -FK_E_INVALID);
    for (uint64_t k = 1;; k++) {
        fk_buf_free(&b);
        fk_mem_fail_after(k, true);
        fk_json_init(&w, fk_out_buf(&b), false);
        put_all(&w);
        int rc = fk_json_finish(&w, &err);
        uint64_t failed = fk_mem_failed();
        fk_mem_fail_after(0, false);
        assert_int_equal(rc, failed ? -FK_E_NOMEM : 0);
        if (!failed)
            break;
    }
}

// The tokens of a text as one letter each; "!" ends it where it is refused.
static void tokens(struct fk_str s, uint32_t depth, char *to)
{
    static const char letters[] = ".{}[]ksn+-0";
    struct fk_json_reader r;
    struct fk_json_tok t = {0};
    struct fk_err err = {0};
    fk_json_read(&r, s, depth);
    do {
        if (fk_json_next(&r, &t, &err)) {
            assert_true(err.code == FK_E_FORMAT || err.code == FK_E_LIMIT);
            *to++ = '!';
            break;
        }
        *to++ = letters[t.kind];
    } while (t.kind != FK_JSON_END);
    *to = '\0';
}

static void reads(void **state)
{
    (void)state;
    static const struct {
        struct fk_str text;
        const char *tokens;
    } cases[] = {
        {{"{\"a\":[1,-2.5e3,true,false,null,{}],\"b\":\"x\"}", 43}, "{k[nn+-0{}]ks}."},
        {{" [ ] ", 5}, "[]."},
        {{"1", 1}, "n."},
        {{"", 0}, "!"},
        {{"[1,]", 4}, "[n!"},
        {{"[1 2]", 5}, "[n!"},
        {{"{\"a\"}", 5}, "{!"},
        {{"{\"a\":1,}", 8}, "{kn!"},
        {{"{a:1}", 5}, "{!"},
        {{"[1}", 3}, "[n!"},
        {{"01", 2}, "!"},
        {{"1.", 2}, "!"},
        {{"1e", 2}, "!"},
        {{"-", 1}, "!"},
        {{"tru", 3}, "!"},
        {{"\"a", 2}, "!"},
        {{"\"\\", 2}, "!"},
        {{"\"\\x\"", 4}, "!"},
        {{"\"\\u12\"", 6}, "!"},
        {{"\"a\nb\"", 5}, "!"},
        {{"1 1", 3}, "n!"},
        {{"[[[[]]]]", 8}, "[[[!"},
    };
    for (size_t i = 0; i < FK_COUNTOF(cases); i++) {
        char got[64];
        tokens(cases[i].text, 3, got);
        assert_string_equal(got, cases[i].tokens);
    }
}

static struct fk_json_tok first(struct fk_str s)
{
    struct fk_json_reader r;
    struct fk_json_tok t;
    fk_json_read(&r, s, 8);
    assert_int_equal(fk_json_next(&r, &t, NULL), 0);
    return t;
}

static void unescapes(void **state)
{
    (void)state;
    FK_AUTO_ARENA a;
    fk_arena_init(&a, 0);
    struct fk_json_tok t = first(FK_S(
        "\"\\\"\\\\\\/\\b\\f\\n\\r\\t\\u0041\\u00e9\\u20ac\\ud83d\\ude00\\ud83dx\\udc00\\u0000\""));
    struct fk_str s;
    assert_int_equal(fk_json_text(&t, &a, &s, NULL), 0);
    assert_true(fk_str_eq(s, FK_S("\"\\/\b\f\n\r\tA\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80"
                                  "\xef\xbf\xbdx\xef\xbf\xbd\0")));
    t = first(FK_S("\"plain\""));
    assert_int_equal(fk_json_text(&t, &a, &s, NULL), 0);
    assert_ptr_equal(s.p, t.text.p);
    t = first(FK_S("\"\\n\""));
    fk_arena_free(&a);
    fk_mem_fail_after(1, true);
    assert_int_equal(fk_json_text(&t, &a, &s, NULL), -FK_E_NOMEM);
    fk_mem_fail_after(0, false);
}

static void numbers(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int64_t want;
        bool ok;
    } cases[] = {{"0", 0, true},
                 {"-9223372036854775808", INT64_MIN, true},
                 {"9223372036854775807", INT64_MAX, true},
                 {"9223372036854775808", 0, false},
                 {"1e3", 1000, true},
                 {"5.0", 5, true},
                 {"1.5", 0, false},
                 {"\"42\"", 42, true},
                 {"\"0x10\"", 0, false},
                 {"\"inf\"", 0, false},
                 {"\"\"", 0, false},
                 {"1e400", 0, false},
                 {"true", 0, false}};
    for (size_t i = 0; i < FK_COUNTOF(cases); i++) {
        struct fk_json_tok t = first(fk_str_of(cases[i].text));
        int64_t v = 7;
        assert_int_equal(fk_json_to_i64(&t, &v), cases[i].ok ? 0 : -FK_E_FORMAT);
        assert_true(v == (cases[i].ok ? cases[i].want : 7));
    }
    double d;
    struct fk_json_tok t = first(FK_S("0.1"));
    assert_int_equal(fk_json_to_f64(&t, &d), 0);
    assert_true(d == 0.1);
}

static void skips(void **state)
{
    (void)state;
    struct fk_json_reader r;
    struct fk_json_tok t;
    fk_json_read(&r, FK_S("{\"a\":{\"x\":[1,2,{}]},\"b\":7}"), 8);
    assert_int_equal(fk_json_next(&r, &t, NULL), 0);
    assert_int_equal(fk_json_next(&r, &t, NULL), 0);
    assert_true(fk_str_eq(t.text, FK_S("a")));
    assert_int_equal(fk_json_skip(&r, &t, NULL), 0);
    assert_int_equal(fk_json_next(&r, &t, NULL), 0);
    assert_true(fk_str_eq(t.text, FK_S("b")));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(writes),  cmocka_unit_test(writer_reports_failures),
        cmocka_unit_test(reads),   cmocka_unit_test(unescapes),
        cmocka_unit_test(numbers), cmocka_unit_test(skips),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
