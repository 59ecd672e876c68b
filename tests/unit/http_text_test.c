// SPDX-License-Identifier: Apache-2.0
// The small parsers: percent encoding, forms, media types, Accept, URLs, multipart, entity tags;
// and what they do when memory runs out.
#include "http/http.h"
#include "support/support.h"

#include <stdlib.h>

static struct fk_arena arena;

static int setup(void **state)
{
    (void)state;
    fk_arena_init(&arena, (size_t)1 << 20);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    fk_arena_free(&arena);
    return 0;
}

static void assert_str(struct fk_str got, const char *want)
{
    if (!fk_str_eq(got, fk_str_of(want)))
        fail_msg("got \"%.*s\", want \"%s\"", FK_STR_ARG(got), want);
}

static void test_percent(void **state)
{
    (void)state;
    struct fk_err err;
    struct fk_str s;
    static const char *const good[][2] = {{"", ""},
                                          {"abc", "abc"},
                                          {"a%20b", "a b"},
                                          {"%41%4a%4A", "AJJ"},
                                          {"%e2%82%ac", "\xe2\x82\xac"},
                                          {"%25", "%"}};
    for (size_t i = 0; i < FK_COUNTOF(good); i++) {
        fk_test_ok(fk_http_percent_decode(fk_str_of(good[i][0]), false, &arena, &s, &err), &err);
        assert_str(s, good[i][1]);
    }
    fk_test_ok(fk_http_percent_decode(FK_S("a+b%2B"), true, &arena, &s, &err), &err);
    assert_str(s, "a b+");
    fk_test_ok(fk_http_percent_decode(FK_S("a+b"), false, &arena, &s, &err), &err);
    assert_str(s, "a+b");
    static const char *const bad[] = {"%", "%a", "a%2", "%zz", "%2g", "%%41", "%00", "% 1"};
    for (size_t i = 0; i < FK_COUNTOF(bad); i++)
        if (fk_http_percent_decode(fk_str_of(bad[i]), false, &arena, &s, &err) != -FK_E_FORMAT)
            fail_msg("\"%s\" was taken", bad[i]);
    FK_AUTO_BUF b;
    fk_buf_init(&b, 0);
    fk_http_percent_put(&b, FK_S("a/b c~\xff"), true);
    assert_str(fk_buf_view(&b), "a/b%20c~%FF");
    fk_buf_clear(&b);
    fk_http_percent_put(&b, FK_S("a/b"), false);
    assert_str(fk_buf_view(&b), "a%2Fb");
}

static void test_forms(void **state)
{
    (void)state;
    struct fk_err err;
    const struct fk_http_pair *p;
    size_t n;
    fk_test_ok(fk_http_form_parse(FK_S("a=1&b=x%20y+z&&a=2&c&=d&e=f=g"), 10, &arena, &p, &n, &err),
               &err);
    assert_int_equal(n, 6);
    assert_str(fk_http_pair_find(p, n, "a")->value, "1");
    assert_str(fk_http_pair_nth(p, n, "a", 1)->value, "2");
    assert_null(fk_http_pair_nth(p, n, "a", 2));
    assert_str(fk_http_pair_find(p, n, "b")->value, "x y z");
    assert_str(fk_http_pair_find(p, n, "c")->value, "");
    assert_str(fk_http_pair_find(p, n, "")->value, "d");
    assert_str(fk_http_pair_find(p, n, "e")->value, "f=g");
    fk_test_ok(fk_http_form_parse(FK_S(""), 10, &arena, &p, &n, &err), &err);
    assert_int_equal(n, 0);
    fk_test_ok(fk_http_form_parse(FK_S("&&&&"), 1, &arena, &p, &n, &err), &err);
    assert_int_equal(n, 0);
    fk_test_fails(fk_http_form_parse(FK_S("a&b&c"), 2, &arena, &p, &n, &err), FK_E_LIMIT);
    fk_test_ok(fk_http_form_parse(FK_S("a&b"), 2, &arena, &p, &n, &err), &err);
    fk_test_fails(fk_http_form_parse(FK_S("a=%zz"), 2, &arena, &p, &n, &err), FK_E_FORMAT);
}

static void test_media_types(void **state)
{
    (void)state;
    struct fk_err err;
    struct fk_str s;
    assert_true(fk_http_media_is(FK_S("Text/Plain ; charset=utf-8"), "text/plain"));
    assert_false(fk_http_media_is(FK_S("text/plainer"), "text/plain"));
    static const char field[] = "multipart/form-data; x=\"a;boundary=no\"; Boundary=\"a\\\"b\\c\"";
    assert_int_equal(fk_http_media_param(fk_str_of(field), "boundary", &arena, &s, &err), 1);
    assert_str(s, "a\"b\\c");
    assert_int_equal(fk_http_media_param(FK_S("a/b;c= d "), "c", &arena, &s, &err), 1);
    assert_str(s, "d");
    assert_int_equal(fk_http_media_param(FK_S("a/b;cc=d"), "c", &arena, &s, &err), 0);
    assert_int_equal(fk_http_media_param(FK_S("c=d"), "c", &arena, &s, &err), 0);
    fk_test_fails(fk_http_media_param(FK_S("a/b;c=\"d"), "c", &arena, &s, &err), FK_E_FORMAT);
    fk_test_fails(fk_http_media_param(FK_S("a/b;c=\""), "c", &arena, &s, &err), FK_E_FORMAT);
}

static void test_accept(void **state)
{
    (void)state;
    static const struct {
        const char *field, *offer;
        int q;
    } rows[] = {
        {NULL, "a/b", 1000},
        {"", "a/b", 1000},
        {"*/*", "a/b", 1000},
        {"a/*;q=0.5, */*;q=0.1", "a/b", 500},
        {"a/*;q=0.5, a/b;q=0, */*", "a/b", 0},
        {"*/*;q=0.1, A/B", "a/b", 1000},
        {"x/y", "a/b", 0},
        {"a/b;level=1;q=0.25", "a/b", 250},
        {"a/b;q=0.12345", "a/b", 123},
        {"a/b;q=0", "a/b", 0},
        {"a/b;q=nonsense", "a/b", 1000},
        {"a/bc", "a/b", 0},
        {"a", "a/b", 0},
    };
    for (size_t i = 0; i < FK_COUNTOF(rows); i++)
        if (fk_http_accept(fk_str_of(rows[i].field), rows[i].offer) != rows[i].q)
            fail_msg("\"%s\" for %s gives %d", rows[i].field, rows[i].offer,
                     fk_http_accept(fk_str_of(rows[i].field), rows[i].offer));
    static const char *const offers[] = {"application/json", "text/html"};
    assert_int_equal(fk_http_accept_best(FK_S("text/html, */*;q=0.1"), offers, 2), 1);
    assert_int_equal(fk_http_accept_best(FK_S("*/*"), offers, 2), 0);
    assert_int_equal(fk_http_accept_best(FK_S("image/png"), offers, 2), -1);
    assert_int_equal(fk_http_accept_coding(FK_S("gzip;q=0.5, *;q=0"), "gzip"), 500);
    assert_int_equal(fk_http_accept_coding(FK_S("gzip;q=0.5, *;q=0"), "br"), 0);
    assert_int_equal(fk_http_accept_coding(FK_S("br"), "identity"), 1000);
    assert_int_equal(fk_http_accept_coding(FK_S("br, identity;q=0"), "identity"), 0);
    assert_int_equal(fk_http_accept_coding(FK_S("*"), "zstd"), 1000);
}

// --- multipart ---
static int begin(struct fk_http_parts *m, const char *type, const char *body, size_t n,
                 struct fk_err *err)
{
    return fk_http_parts_begin(m, fk_str_of(type), fk_str_make(body, n), &arena, err);
}

#define FORM "multipart/form-data; boundary=XX"

static void test_multipart(void **state)
{
    (void)state;
    struct fk_err err;
    struct fk_http_parts m;
    struct fk_http_part p;
    static const char body[] =
        "preamble\r\n--XX  \r\n"
        "Content-Disposition: form-data; name=\"profile\"; filename=\"a \\\"b\\\" C:\\x.pb\"\r\n"
        "content-type: application/octet-stream\r\n\r\n"
        "bi\0nary\r\n--X not yet --XX either\r\n\r\n--XX\r\n"
        "Content-Disposition: form-data; name=empty\r\n\r\n\r\n--XX\r\n"
        "Content-Disposition: form-data; name=none\r\n\r\n--XX\r\n"
        "\r\nno fields\r\n--XX--\r\nepilogue --XX\r\n--XX\r\n";
    fk_test_ok(begin(&m, FORM, body, sizeof(body) - 1, &err), &err);
    assert_int_equal(fk_http_parts_next(&m, &p, &err), 1);
    assert_str(p.name, "profile");
    assert_str(p.filename, "a \"b\" C:\\x.pb");
    assert_str(p.type, "application/octet-stream");
    assert_int_equal(p.bytes.n, sizeof("bi\0nary\r\n--X not yet --XX either\r\n") - 1);
    assert_memory_equal(p.bytes.p, "bi\0nary\r\n--X not yet --XX either\r\n", p.bytes.n);
    assert_int_equal(fk_http_parts_next(&m, &p, &err), 1);
    assert_str(p.name, "empty");
    assert_null(p.filename.p);
    assert_int_equal(p.bytes.n, 0);
    assert_int_equal(fk_http_parts_next(&m, &p, &err), 1);
    assert_str(p.name, "none");
    assert_int_equal(p.bytes.n, 0);
    assert_int_equal(fk_http_parts_next(&m, &p, &err), 1);
    assert_str(p.name, "");
    assert_str(p.bytes, "no fields");
    assert_int_equal(fk_http_parts_next(&m, &p, &err), 0);
    assert_int_equal(fk_http_parts_next(&m, &p, &err), 0);
}

// All parts of a body: how many, or the error.
static int walk_all(const char *type, const char *body, size_t n)
{
    struct fk_err err;
    struct fk_http_parts m;
    struct fk_http_part p;
    int parts = 0, rc = begin(&m, type, body, n, &err);
    if (rc)
        return rc;
    for (; (rc = fk_http_parts_next(&m, &p, &err)) == 1; parts++)
        assert_true(p.bytes.n == 0 || (p.bytes.p >= body && p.bytes.p + p.bytes.n <= body + n));
    return rc < 0 ? rc : parts;
}

static void test_broken_multipart(void **state)
{
    (void)state;
    static const struct {
        const char *type, *body;
        int want;
    } rows[] = {
        {"text/plain", "x", -FK_E_UNSUPPORTED},
        {"multipart/form-data", "x", -FK_E_FORMAT},
        {"multipart/form-data; boundary=", "x", -FK_E_FORMAT},
        {"multipart/form-data; boundary=\"a\x01\"", "x", -FK_E_FORMAT},
        {"multipart/form-data; "
         "boundary=aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
         "aaaaaaaaaaaaaaaaa",
         "x", -FK_E_FORMAT},
        {FORM, "", -FK_E_FORMAT},
        {FORM, "XX", -FK_E_FORMAT},
        {FORM, "--XX", -FK_E_FORMAT},
        {FORM, "--XX--", 0},
        {FORM, "--XX\r\n", -FK_E_FORMAT},
        {FORM, "--XX\r\n\r\n", -FK_E_FORMAT},
        {FORM, "--XX\r\n\r\nabc", -FK_E_FORMAT},
        {FORM, "--XX\r\n\r\nabc\r\n--XX", -FK_E_FORMAT},
        {FORM, "--XX\r\n\r\nabc\r\n--XXX\r\n", -FK_E_FORMAT},
        {FORM, "--XX\r\nnocolon\r\n\r\nabc\r\n--XX--", -FK_E_FORMAT},
        {FORM, "--XX\r\nA: b\r\nabc\r\n--XX--", -FK_E_FORMAT},
        {FORM, "--XX\r\n\r\n\r\n--XX--", 1},
        {FORM, "--XX\r\n\r\n--XX--", 1},
        {FORM, "--XX\r\nContent-Disposition: form-data; name=\"x\r\n\r\n\r\n--XX--", -FK_E_FORMAT},
    };
    for (size_t i = 0; i < FK_COUNTOF(rows); i++) {
        int got = walk_all(rows[i].type, rows[i].body, strlen(rows[i].body));
        if (got != rows[i].want)
            fail_msg("row %zu: %d, want %d", i, got, rows[i].want);
    }
    FK_AUTO_BUF b;
    fk_buf_init(&b, 0);
    for (int i = 0; i < FK_HTTP_PARTS + 1; i++)
        fk_buf_cstr(&b, "--XX\r\n\r\n\r\n");
    fk_buf_cstr(&b, "--XX--");
    assert_int_equal(walk_all(FORM, b.p, b.n), -FK_E_LIMIT);
    fk_buf_clear(&b);
    fk_buf_cstr(&b, "--XX\r\nA: ");
    fk_buf_fill(&b, 'a', FK_HTTP_PART_HEAD);
    fk_buf_cstr(&b, "\r\n\r\n\r\n--XX--");
    assert_int_equal(walk_all(FORM, b.p, b.n), -FK_E_LIMIT);
    fk_buf_clear(&b);
    fk_buf_cstr(&b, "--XX\r\nContent-Disposition: form-data; name=");
    fk_buf_fill(&b, 'a', FK_HTTP_PART_NAMES + 1);
    fk_buf_cstr(&b, "\r\n\r\n\r\n--XX--");
    assert_int_equal(walk_all(FORM, b.p, b.n), -FK_E_LIMIT);
}

// Every prefix of a body, each in memory of its own size: the sanitizer sees any step beyond.
static void test_cut_multipart(void **state)
{
    (void)state;
    static const char body[] = "--XX\r\nContent-Disposition: form-data; name=\"a\"; filename=b\r\n"
                               "\r\nabc\r\n--XX\r\n\r\n\r\n--XX--\r\n";
    for (size_t n = 0; n < sizeof(body); n++) {
        char *copy = malloc(n ? n : 1);
        memcpy(copy, body, n);
        int rc = walk_all(FORM, copy, n);
        assert_true(n >= sizeof(body) - 3 ? rc == 2 : rc == -FK_E_FORMAT);
        free(copy);
    }
}

// --- when memory runs out ---
static void test_no_memory(void **state)
{
    (void)state;
    static const char body[] = "--XX\r\nContent-Disposition: form-data; name=\"a\\\"\"; "
                               "filename=\"b\\\"\"\r\n\r\nabc\r\n--XX--\r\n";
    struct fk_err err;
    for (uint64_t k = 1;; k++) {
        struct fk_arena a;
        struct fk_http_parts m;
        struct fk_http_part p;
        const struct fk_http_pair *pairs;
        size_t n;
        fk_arena_init(&a, 0);
        fk_mem_fail_after(k, true);
        int rc = fk_http_parts_begin(&m, FK_S("multipart/x; boundary=\"XX\""), fk_str_of(body), &a,
                                     &err);
        if (rc == 0)
            rc = fk_http_parts_next(&m, &p, &err);
        if (rc >= 0) {
            int rc2 = fk_http_form_parse(FK_S("a=%20b&c=%41"), 10, &a, &pairs, &n, &err);
            rc = rc2 ? rc2 : rc;
        }
        uint64_t failed = fk_mem_failed();
        fk_mem_fail_after(0, false);
        fk_arena_free(&a);
        assert_int_equal(rc, failed ? -FK_E_NOMEM : 1);
        if (!failed)
            break;
    }
    // An arena that is too small is no different.
    struct fk_arena small;
    struct fk_str s;
    fk_arena_init(&small, 16);
    fk_test_fails(fk_http_percent_decode(FK_S("%41aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"), false, &small,
                                         &s, &err),
                  FK_E_NOMEM);
    fk_arena_free(&small);
}

static void test_etags(void **state)
{
    (void)state;
    assert_true(fk_http_etag_in(FK_S("\"a\""), FK_S("\"a\"")));
    assert_true(fk_http_etag_in(FK_S("\"b\" , W/\"a\""), FK_S("\"a\"")));
    assert_true(fk_http_etag_in(FK_S(" * "), FK_S("\"a\"")));
    assert_false(fk_http_etag_in(FK_S(""), FK_S("\"a\"")));
    assert_false(fk_http_etag_in(FK_S("\"ab\""), FK_S("\"a\"")));
    assert_false(fk_http_etag_in(FK_S("a"), FK_S("\"a\"")));
    static const struct fk_http_asset table[] = {
        {.path = "a.js"}, {.path = "assets/b.js"}, {.path = "index.html"}};
    for (size_t i = 0; i < FK_COUNTOF(table); i++)
        assert_ptr_equal(fk_http_asset_find(table, 3, fk_str_of(table[i].path)), &table[i]);
    assert_null(fk_http_asset_find(table, 3, FK_S("a")));
    assert_null(fk_http_asset_find(table, 3, FK_S("zz")));
    assert_null(fk_http_asset_find(table, 0, FK_S("a.js")));
}

static void test_urls(void **state)
{
    (void)state;
    struct fk_err err;
    struct fk_http_url u;
    fk_test_ok(fk_http_url_parse(FK_S("HTTP://Host.name:4040/a/b?c=d#e"), &u, &err), &err);
    assert_str(u.host, "Host.name");
    assert_int_equal(u.port, 4040);
    assert_str(u.path, "/a/b");
    assert_str(u.query, "c=d");
    fk_test_ok(fk_http_url_parse(FK_S("https://[fe80::1]"), &u, &err), &err);
    assert_str(u.host, "fe80::1");
    assert_int_equal(u.port, 443);
    assert_str(u.path, "");
    fk_test_ok(fk_http_url_parse(FK_S("http://x?y"), &u, &err), &err);
    assert_str(u.query, "y");
    assert_int_equal(u.port, 80);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_percent),       cmocka_unit_test(test_forms),
        cmocka_unit_test(test_media_types),   cmocka_unit_test(test_accept),
        cmocka_unit_test(test_multipart),     cmocka_unit_test(test_broken_multipart),
        cmocka_unit_test(test_cut_multipart), cmocka_unit_test(test_no_memory),
        cmocka_unit_test(test_etags),         cmocka_unit_test(test_urls),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
