// SPDX-License-Identifier: Apache-2.0
// Regular expressions: the subset, anchoring, plain patterns, limits; name filters.
#include "match/match.h"

#include "support/test.h"

static int match(struct fk_str pattern, struct fk_str text, bool *ret, struct fk_err *err)
{
    struct fk_regex *r = NULL;
    int rc = fk_regex_new(pattern, &r, err);
    if (!rc)
        rc = fk_regex_match(r, text, ret, err);
    fk_regex_free(r);
    return rc;
}

static void expect(const char *pattern, const char *text, bool want)
{
    struct fk_err err = {0};
    bool hit = !want;
    if (match(fk_str_of(pattern), fk_str_of(text), &hit, &err))
        fail_msg("%s: %s", pattern, err.msg);
    if (hit != want)
        fail_msg("'%s' on '%s'", pattern, text);
}

static void plain_patterns(void **state)
{
    (void)state;
    expect("abc", "abc", true);
    expect("abc", "abcd", false);
    expect("a\\.b", "a.b", true);
    expect("a\\.b", "axb", false);
    expect("a|b|", "b", true);
    expect("a|b|", "", true);
    expect("a|b|", "c", false);
    expect("a\\|b", "a|b", true);
    expect(".*", "", true);
    expect(".*", "a\nb", true);
    expect("ab.*", "abc", true);
    expect("ab.*", "xabc", false);
    expect(".*bc", "abc", true);
    expect(".*b.*", "abc", true);
    expect(".*x.*", "abc", false);
    expect("a\\.*", "a...", true); // an escaped dot, repeated
    expect("a\\.*", "ax", false);
    expect("a\\\\.*", "a\\xyz", true); // a backslash, then anything
    expect("", "", true);
    expect("", "a", false);
}

static void real_patterns(void **state)
{
    (void)state;
    expect("a+", "aaa", true);
    expect("a.c", "abc", true);
    expect("a.c", "a\nc", true);
    expect("a|ab", "ab", true); // anchored: the longer alternative is found
    expect("(?i)ABC", "abc", true);
    expect("(?i:A)b", "ab", true);
    expect("(?P<n>a)(b)", "ab", true);
    expect("[[:alpha:]]+\\d{2,3}", "ab12", true);
    expect("\\pL+", "\xc3\xa9", true);
    expect("a{2}", "aa", true);
    expect("a{x}", "a{x}", true);
    expect("\\Qa.b\\E.", "a.bc", true);
    expect("[]a]+", "]a", true);
    expect("[^\\]a]+", "bc", true);
    expect("a??b", "b", true);
    expect("a$", "a\n", false);
    expect("\xe2\x82\xac.", "\xe2\x82\xac\xe2\x82\xac", true);
    expect("[\xff\xfe]+", "\xfe\xff", true); // bytes that are no UTF-8
    expect("[\xff]+", "\xfe", false);
    expect("[^a]", "\xff", true);
}

static void refuses_what_re2_does_not_have(void **state)
{
    (void)state;
    static const char *const patterns[] = {
        "(a)\\1",  "(?=a)",   "(?!a)",   "(?<=a)b", "(?<!a)b", "(?>a)", "a++",        "a*+",
        "a?+",     "a{1}+",   "a**",     "(?R)",    "(?1)",    "(?&n)", "(*ACCEPT)a", "(?#c)a",
        "(?|a|b)", "\\Ka",    "\\Ca",    "\\Ga",    "\\R",     "\\X",   "\\ka",       "\\ga",
        "\\h",     "[\\h]",   "(?x)a",   "a{1001}", "a\\",     "(",     ")",          "[a",
        "*a",      "(?'n'a)", "(?P=n)",  "(?P>n)",  "(?C1)",   "\\Z",   "\\c",        "(?)",
        "(?^:a)",  "[[:<:]]", "[[.a.]]",
    };
    for (size_t i = 0; i < FK_COUNTOF(patterns); i++) {
        struct fk_err err = {0};
        struct fk_regex *r = NULL;
        if (fk_regex_new(fk_str_of(patterns[i]), &r, &err) != -FK_E_INVALID)
            fail_msg("'%s' was taken", patterns[i]);
        assert_string_equal(err.param, "regex");
    }
    FK_AUTO_BUF b;
    struct fk_regex *r = NULL;
    fk_buf_init(&b, 0);
    fk_buf_fill(&b, 'a', 20000);
    assert_int_equal(fk_regex_new(fk_buf_view(&b), &r, NULL), -FK_E_INVALID);
    assert_int_equal(fk_regex_new(FK_S("((((a{1000}){1000}){1000}){1000})"), &r, NULL),
                     -FK_E_INVALID);
}

static void the_limit_is_an_error(void **state)
{
    (void)state;
    FK_AUTO_BUF b;
    bool hit = false;
    struct fk_err err = {0};
    fk_buf_init(&b, 0);
    fk_buf_fill(&b, 'a', 5000);
    fk_buf_byte(&b, 'b');
    assert_int_equal(match(FK_S("(a*)*(a*)*(a*)*c|(a|aa)+$"), fk_buf_view(&b), &hit, &err),
                     -FK_E_LIMIT);
    assert_false(hit);
    assert_non_null(strstr(err.msg, "too many steps"));
}

static void long_texts_do_not_exhaust_the_stack(void **state)
{
    (void)state;
    FK_AUTO_BUF b;
    bool hit = false;
    fk_buf_init(&b, 0);
    fk_buf_fill(&b, 'a', 30000);
    struct fk_err err = {0};
    int rc = match(FK_S("(?:(a)|b)*"), fk_buf_view(&b), &hit, &err);
    assert_true(rc == 0 ? hit : rc == -FK_E_LIMIT);
}

static void name_filters(void **state)
{
    (void)state;
    static const struct {
        struct fk_str filter, name;
        bool want;
    } cases[] = {
        {{"main.run", 8}, {"main.run", 8}, true}, {{"main.run", 8}, {"main.runx", 9}, false},
        {{"/run/", 5}, {"main.runx", 9}, true},   {{"/^run/", 6}, {"main.run", 8}, false},
        {{"/r.n$/", 6}, {"main.run", 8}, true},   {{"/a|run/", 7}, {"main.run", 8}, true},
        {{"/run.*/", 7}, {"main.run", 8}, true},  {{"/", 1}, {"/", 1}, true},
        {{"//", 2}, {"anything", 8}, true},
    };
    for (size_t i = 0; i < FK_COUNTOF(cases); i++) {
        struct fk_name_filter f;
        bool hit = !cases[i].want;
        assert_int_equal(fk_name_filter_parse(cases[i].filter, &f, NULL), 0);
        assert_int_equal(fk_name_filter_match(&f, cases[i].name, &hit, NULL), 0);
        if (hit != cases[i].want)
            fail_msg("%.*s", FK_STR_ARG(cases[i].filter));
        fk_name_filter_free(&f);
    }
    struct fk_name_filter f;
    assert_int_equal(fk_name_filter_parse(FK_S("/(/"), &f, NULL), -FK_E_INVALID);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plain_patterns),
        cmocka_unit_test(real_patterns),
        cmocka_unit_test(refuses_what_re2_does_not_have),
        cmocka_unit_test(the_limit_is_an_error),
        cmocka_unit_test(long_texts_do_not_exhaust_the_stack),
        cmocka_unit_test(name_filters),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
