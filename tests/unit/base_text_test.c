// SPDX-License-Identifier: Apache-2.0
// Strings, numbers, ids, times and durations, errors and limits.
#include "base/base.h"

#include "support/test.h"

#include <errno.h>

static struct fk_str s_of(const char *text)
{
    return fk_str_of(text);
}

// ---- strings ----

static void searching(void **state)
{
    (void)state;
    struct fk_str s = FK_S("a/b/c"), none = {NULL, 0};
    assert_int_equal(fk_str_chr(s, '/'), 1);
    assert_int_equal(fk_str_rchr(s, '/'), 3);
    assert_int_equal(fk_str_chr(s, 'x'), -1);
    assert_int_equal(fk_str_rchr(none, 'x'), -1);
    assert_int_equal(fk_str_find(s, FK_S("b/c")), 2);
    assert_int_equal(fk_str_find(s, FK_S("")), 0);
    assert_int_equal(fk_str_find(none, FK_S("a")), -1);
    assert_int_equal(fk_str_find(s, FK_S("a/b/c/d")), -1);
    assert_true(fk_str_starts(s, FK_S("a/")) && fk_str_ends(s, FK_S("/c")));
    assert_false(fk_str_starts(FK_S("a"), s) || fk_str_ends(FK_S("c"), s));
    assert_true(fk_str_eq_nocase(FK_S("Content-Type"), FK_S("content-tYPE")));
    assert_false(fk_str_eq_nocase(FK_S("a["), FK_S("a{"))); // differ by the same bit as letters do
}

static void order(void **state)
{
    (void)state;
    static const char *const rising[] = {"", "a", "aa", "ab", "b", "\xff"};
    for (size_t i = 0; i < FK_COUNTOF(rising); i++)
        for (size_t k = 0; k < FK_COUNTOF(rising); k++) {
            int c = fk_str_cmp(s_of(rising[i]), s_of(rising[k]));
            assert_int_equal((c > 0) - (c < 0), (i > k) - (i < k));
        }
}

static void cutting(void **state)
{
    (void)state;
    struct fk_str rest = FK_S("a,,b"), part;
    static const char *const parts[] = {"a", "", "b"};
    for (size_t i = 0; i < FK_COUNTOF(parts); i++) {
        assert_true(fk_str_split(&rest, ',', &part));
        assert_true(fk_str_eq(part, s_of(parts[i])));
    }
    assert_false(fk_str_split(&rest, ',', &part));
    assert_true(fk_str_eq(fk_str_trim(FK_S(" \t a b\r\n")), FK_S("a b")));
    assert_int_equal(fk_str_trim(FK_S(" \n")).n, 0);
    assert_int_equal(fk_str_from(FK_S("abc"), 9).n, 0);
    assert_int_equal(fk_str_head(FK_S("abc"), 9).n, 3);
}

static void numbers(void **state)
{
    (void)state;
    static const char *const bad[] = {"",   "-",  "+1",  " 1",
                                      "1 ", "1x", "0x1", "18446744073709551616"};
    uint64_t u = 7;
    int64_t i = 7;
    for (size_t k = 0; k < FK_COUNTOF(bad); k++) {
        assert_int_equal(fk_str_to_u64(s_of(bad[k]), &u), -FK_E_FORMAT);
        assert_int_equal(fk_str_to_i64(s_of(bad[k]), &i), -FK_E_FORMAT);
    }
    assert_int_equal(fk_str_to_u64(FK_S("-1"), &u), -FK_E_FORMAT);
    assert_int_equal(fk_str_to_i64(FK_S("9223372036854775808"), &i), -FK_E_FORMAT);
    assert_int_equal(fk_str_to_i64(FK_S("-9223372036854775809"), &i), -FK_E_FORMAT);
    assert_true(u == 7 && i == 7); // untouched
    assert_int_equal(fk_str_to_u64(FK_S("18446744073709551615"), &u), 0);
    assert_true(u == UINT64_MAX);
    assert_int_equal(fk_str_to_i64(FK_S("-9223372036854775808"), &i), 0);
    assert_true(i == INT64_MIN);
}

static void kinds_of_text(void **state)
{
    (void)state;
    static const char *const good[] = {
        "", "a", "\xc3\xa4", "\xe2\x82\xac", "\xf0\x9f\x94\xa5", "\xf4\x8f\xbf\xbf"};
    static const char *const bad[] = {"\x80",
                                      "\xc0\xaf",
                                      "\xc3",
                                      "\xe0\x80\x80",
                                      "\xed\xa0\x80",
                                      "\xf0\x80\x80\x80",
                                      "\xf4\x90\x80\x80",
                                      "\xf8\x88\x80\x80",
                                      "a\xe2\x82"};
    for (size_t i = 0; i < FK_COUNTOF(good); i++)
        assert_true(fk_str_is_utf8(s_of(good[i])));
    for (size_t i = 0; i < FK_COUNTOF(bad); i++)
        assert_false(fk_str_is_utf8(s_of(bad[i])));
    assert_true(fk_str_is_hex(FK_S("09afAF")) && fk_str_is_hex(FK_S("")));
    assert_false(fk_str_is_hex(FK_S("0g")) || fk_str_is_hex(FK_S("0/")) ||
                 fk_str_is_hex(FK_S(":0")) || fk_str_is_hex(FK_S("@")) ||
                 fk_str_is_hex(FK_S("0\0")));
}

// ---- ids ----

static void ids_as_text(void **state)
{
    (void)state;
    char text[FK_ID_CHARS + 1];
    struct fk_id id = {0x01939a1e7c007001u, 0x80001f2e3d4c5b6au}, back;
    struct fk_err err;
    fk_id_format(id, text);
    assert_string_equal(text, "01939a1e-7c00-7001-8000-1f2e3d4c5b6a");
    assert_int_equal(fk_id_parse(FK_S("01939A1E-7C00-7001-8000-1F2E3D4C5B6A"), &back, &err), 0);
    assert_int_equal(fk_id_cmp(id, back), 0);
    assert_int_equal(fk_id_time_ms(id), 0x01939a1e7c00);
    for (size_t i = 0; i < FK_ID_CHARS; i++) {
        char broken[FK_ID_CHARS + 1];
        memcpy(broken, text, sizeof(broken));
        broken[i] = broken[i] == '-' ? '0' : '-';
        assert_int_equal(fk_id_parse(s_of(broken), &back, &err), -FK_E_INVALID);
    }
    assert_int_equal(fk_id_parse(FK_S("01939a1e"), &back, &err), -FK_E_INVALID);
    assert_non_null(strstr(err.msg, "is not a profile id"));
}

// Also when the clock steps back, stands still for more ids than a millisecond has, or is broken.
static void ids_rise(void **state)
{
    (void)state;
    struct fk_id_source s;
    int64_t now = 1700000000000 * FK_NS_PER_MS;
    struct fk_id last = {0, 0};
    fk_id_source_init(&s, 0x123456789abcdef0u, last);
    for (int i = 0; i < 20000; i++) {
        int64_t at = i == 5000 ? now - FK_NS_PER_S : i == 9000 ? -1 : now + i / 6000 * FK_NS_PER_MS;
        struct fk_id id = fk_id_next(&s, at);
        assert_true(fk_id_cmp(id, last) > 0);
        assert_int_equal(id.hi >> 12 & 15, 7); // version and variant of RFC 9562
        assert_int_equal(id.lo >> 62, 2);
        last = id;
    }
    assert_in_range(fk_id_time_ms(last), 1700000000003, 1700000000005);
    fk_id_source_init(&s, 1, last); // after a restart: beyond what there is
    assert_true(fk_id_cmp(fk_id_next(&s, now), last) > 0);
}

// ---- times ----

static int64_t time_of(const char *text)
{
    int64_t ns = 0;
    struct fk_err err;
    if (fk_time_parse(s_of(text), 1000 * FK_NS_PER_S, &ns, &err))
        fail_msg("%s: %s", text, err.msg);
    return ns;
}

static void times_as_text(void **state)
{
    (void)state;
    static const struct {
        int64_t ns;
        const char *text;
    } v[] = {
        {0, "1970-01-01T00:00:00.000000000Z"},
        {-1, "1969-12-31T23:59:59.999999999Z"},
        {951782400 * FK_NS_PER_S + 1, "2000-02-29T00:00:00.000000001Z"},
        {4107542400 * FK_NS_PER_S, "2100-03-01T00:00:00.000000000Z"}, // no leap year
        {INT64_MAX, "2262-04-11T23:47:16.854775807Z"},
        {INT64_MIN, "1677-09-21T00:12:43.145224192Z"},
    };
    for (size_t i = 0; i < FK_COUNTOF(v); i++) {
        char text[FK_TIME_CHARS + 1];
        fk_time_format(v[i].ns, text);
        assert_string_equal(text, v[i].text);
        if (v[i].ns != INT64_MIN) // whose seconds alone do not fit
            assert_true(time_of(text) == v[i].ns);
    }
}

static void times_are_read(void **state)
{
    (void)state;
    assert_true(time_of("2000-02-29T01:30:00.5+01:30") == 951782400 * FK_NS_PER_S + 500000000);
    assert_true(time_of("2000-02-28t22:30:00-01:30") == 951782400 * FK_NS_PER_S);
    assert_true(time_of("1700000000") == 1700000000 * FK_NS_PER_S);
    assert_true(time_of("1700000000.25") == 1700000000 * FK_NS_PER_S + 250000000);
    assert_true(time_of("1700000000123") == 1700000000123 * FK_NS_PER_MS);
    assert_true(time_of("1700000000123456") == 1700000000123456 * FK_NS_PER_US);
    assert_true(time_of("1700000000123456789") == 1700000000123456789);
    assert_true(time_of("-5") == -5 * FK_NS_PER_S);
    assert_true(time_of("now") == 1000 * FK_NS_PER_S);
    assert_true(time_of("now-1m30s") == 910 * FK_NS_PER_S);
    assert_true(time_of("now+1h") == 4600 * FK_NS_PER_S);
}

static void no_times(void **state)
{
    (void)state;
    static const char *const bad[] = {
        "",
        "now-",
        "now--5m",
        "nowadays",
        "yesterday",
        "2026-13-01T00:00:00Z",
        "2026-00-01T00:00:00Z",
        "2026-02-29T00:00:00Z",
        "2026-04-31T00:00:00Z",
        "2026-01-32T00:00:00Z",
        "2026-01-01T24:00:00Z",
        "2026-01-01T00:60:00Z",
        "2026-01-01T00:00:00",
        "2026-01-01T00:00:00.Z",
        "2026-01-01T00:00:00.1234567890Z",
        "2026-01-01T00:00:00+24:00",
        "2026-01-01T00:00:00Zx",
        "9999-01-01T00:00:00Z",
        "99999999999999999999",
        "--5",
        "1.5.5",
    };
    for (size_t i = 0; i < FK_COUNTOF(bad); i++) {
        int64_t ns = 7;
        struct fk_err err;
        if (fk_time_parse(s_of(bad[i]), 0, &ns, &err) != -FK_E_INVALID || ns != 7)
            fail_msg("'%s' was taken for %lld", bad[i], (long long)ns);
        assert_non_null(strstr(err.msg, "is not a time"));
    }
}

static void durations(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int64_t ns;
        const char *back;
    } v[] = {
        {"0", 0, "0s"},
        {"90s", 90 * FK_NS_PER_S, "1m30s"},
        {"90", 90 * FK_NS_PER_S, "1m30s"},
        {"1h30m", 5400 * FK_NS_PER_S, "1h30m"},
        {"250ms", 250 * FK_NS_PER_MS, "250ms"},
        {"1.5h", 5400 * FK_NS_PER_S, "1h30m"},
        {"-2w", -14 * 86400 * FK_NS_PER_S, NULL},
        {"3us", 3000, NULL},
        {"3\xc2\xb5s", 3000, NULL},
        {"7ns", 7, NULL},
    };
    static const char *const bad[] = {"", "-", "s", "1x", "1.h", "1h 5m", "1e3s", "106752d", "m5"};
    struct fk_err err;
    int64_t ns;
    for (size_t i = 0; i < FK_COUNTOF(v); i++) {
        FK_AUTO_BUF b;
        fk_buf_init(&b, 0);
        assert_int_equal(fk_duration_parse(s_of(v[i].text), &ns, &err), 0);
        assert_true(ns == v[i].ns);
        fk_duration_put(&b, ns);
        if (v[i].back)
            assert_true(fk_str_eq(fk_buf_view(&b), s_of(v[i].back)));
        assert_int_equal(fk_duration_parse(fk_buf_view(&b), &ns, &err), 0); // reads back exactly
        assert_true(ns == v[i].ns);
    }
    for (size_t i = 0; i < FK_COUNTOF(bad); i++)
        assert_int_equal(fk_duration_parse(s_of(bad[i]), &ns, &err), -FK_E_INVALID);
}

// ---- errors and limits ----

static void errors(void **state)
{
    (void)state;
    struct fk_err err;
    char long_text[1000];
    memset(long_text, 'x', sizeof(long_text) - 1);
    long_text[sizeof(long_text) - 1] = 0;
    assert_int_equal(fk_fail(&err, FK_E_FORMAT, "%s", long_text), -FK_E_FORMAT);
    assert_int_equal(strlen(err.msg), sizeof(err.msg) - 1); // cut, not overrun
    assert_int_equal(fk_fail_in(&err, "file %d", 3), -FK_E_FORMAT);
    assert_memory_equal(err.msg, "file 3: xxx", 11);
    assert_int_equal(fk_fail_limit(&err, "rows", 12, "--limit-push-rows", "too many"), -FK_E_LIMIT);
    assert_non_null(strstr(err.msg, "12"));
    assert_non_null(strstr(err.msg, "--limit-push-rows"));
    assert_string_equal(err.param, "rows");
    assert_int_equal(err.limit, 12);
    assert_int_equal(fk_fail_errno(&err, ENOSPC, "write"), -FK_E_FULL);
    assert_int_equal(err.sys, ENOSPC);
    assert_int_equal(fk_fail_errno(&err, EIO, "write"), -FK_E_IO);
    assert_int_equal(fk_fail(NULL, FK_E_BUSY, "nobody asks"), -FK_E_BUSY);
    for (int code = FK_E_NOMEM; code <= FK_E_STOPPED; code++)
        for (int other = FK_E_NOMEM; other < code; other++)
            assert_string_not_equal(fk_error_name(code), fk_error_name(other));
}

static void limits_are_the_table(void **state)
{
    (void)state;
    struct fk_limits l = fk_limits_default();
    for (size_t i = 0; i < fk_limit_count; i++) {
        const struct fk_limit_info *x = &fk_limit_table[i];
        uint64_t value;
        memcpy(&value, (const char *)&l + x->offset, sizeof(value));
        assert_true(value == x->value);
        assert_ptr_equal(fk_limit_flag(x->offset), x->flag);
        assert_memory_equal(x->flag, "--limit-", 8);
    }
    assert_string_equal(FK_LIMIT_FLAG(push_rows), "--limit-push-rows");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(searching),
        cmocka_unit_test(order),
        cmocka_unit_test(cutting),
        cmocka_unit_test(numbers),
        cmocka_unit_test(kinds_of_text),
        cmocka_unit_test(ids_as_text),
        cmocka_unit_test(ids_rise),
        cmocka_unit_test(times_as_text),
        cmocka_unit_test(times_are_read),
        cmocka_unit_test(no_times),
        cmocka_unit_test(durations),
        cmocka_unit_test(errors),
        cmocka_unit_test(limits_are_the_table),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
