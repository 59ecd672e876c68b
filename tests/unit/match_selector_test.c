// SPDX-License-Identifier: Apache-2.0
// Selectors: grammar, errors, matching, canonical text.
#include "match/match.h"

#include "support/test.h"

#include <pthread.h>

static void canonical(struct fk_str text, const char *want)
{
    FK_AUTO_ARENA a;
    FK_AUTO_BUF b;
    struct fk_selector *s = NULL;
    struct fk_err err = {0};
    fk_arena_init(&a, 0);
    fk_buf_init(&b, 0);
    if (fk_selector_parse(text, &a, &s, &err))
        fail_msg("%.*s: %s", FK_STR_ARG(text), err.msg);
    fk_selector_put(&b, s);
    fk_selector_free(s);
    if (!fk_str_eq(fk_buf_view(&b), fk_str_of(want)))
        fail_msg("got %.*s, not %s", FK_STR_ARG(fk_buf_view(&b)), want);
    // and the canonical text is its own canonical text
    if (!fk_str_eq(text, fk_str_of(want)))
        canonical(fk_buf_view(&b), want);
}

static void grammar(void **state)
{
    (void)state;
    canonical(FK_S(""), "{}");
    canonical(FK_S(" {} "), "{}");
    canonical(FK_S("{service_name=\"x\", pod=~'a.*',}"), "{pod=~\"a.*\",service_name=\"x\"}");
    canonical(FK_S("{b!=`\\x`,a!~\"\",a!~\"\"}"), "{a!~\"\",b!=\"\\\\x\"}");
    canonical(FK_S("{otel.scope.name=\"x\"}"), "{otel.scope.name=\"x\"}");
    canonical(FK_S("{\"a b\"=\"x\"}"), "{\"a b\"=\"x\"}");
    canonical(FK_S("{\"the.metric\", a=\"1\"}"), "{__name__=\"the.metric\",a=\"1\"}");
    canonical(FK_S("up"), "{__name__=\"up\"}");
    canonical(FK_S("process_cpu:cpu:nanoseconds:cpu:nanoseconds{a=\"1\"}"),
              "{__name__=\"process_cpu:cpu:nanoseconds:cpu:nanoseconds\",a=\"1\"}");
    canonical(FK_S("{a=\"\\n\\t\\\"\\\\\\x41\\u00e9\\101\\U0001F600\"}"),
              "{a=\"\\x0a\\x09\\\"\\\\A\xc3\xa9"
              "A\xf0\x9f\x98\x80\"}");
    canonical(FK_S("{a=\"\xff\"}"), "{a=\"\xff\"}");
}

static void errors_say_where(void **state)
{
    (void)state;
    static const struct {
        const char *text, *says;
    } cases[] = {
        {"{a}", "expected one of = != =~ !~ at position 3, found '}'"},
        {"{a=}", "expected a value in quotes at position 4"},
        {"{a=\"x}", "expected a closing \" at position 7, found the end"},
        {"{a=\"x\" b=\"y\"}", "expected ',' or '}' at position 8"},
        {"{=\"x\"}", "expected a label name at position 2"},
        {"{a=\"x\"", "expected ',' or '}' at position 7, found the end"},
        {"{a=\"x\"} z", "expected the end at position 9"},
        {"{a=\"\\q\"}", "a valid escape"},
        {"{a=\"\\xg1\"}", "a valid escape"},
        {"{a=\"\\ud800\"}", "a valid escape"},
        {"{\"\"=\"x\"}", "empty label name"},
        {"=", "expected '{' or a name at position 1"},
        {"{1a=\"x\"}", "expected a label name"},
        {"{a=~\"(\"}", "regular expression"},
        {"{", "expected a label name at position 2, found the end"},
    };
    for (size_t i = 0; i < FK_COUNTOF(cases); i++) {
        FK_AUTO_ARENA a;
        struct fk_selector *s = NULL;
        struct fk_err err = {0};
        fk_arena_init(&a, 0);
        assert_int_equal(fk_selector_parse(fk_str_of(cases[i].text), &a, &s, &err), -FK_E_INVALID);
        assert_null(s);
        assert_string_equal(err.param, "query");
        if (!strstr(err.msg, cases[i].says))
            fail_msg("%s: '%s' does not say '%s'", cases[i].text, err.msg, cases[i].says);
    }
    FK_AUTO_BUF b;
    FK_AUTO_ARENA a;
    struct fk_selector *s = NULL;
    fk_buf_init(&b, 0);
    fk_arena_init(&a, 0);
    fk_buf_cstr(&b, "{");
    for (int i = 0; i <= FK_SELECTOR_MATCHERS; i++)
        fk_buf_printf(&b, "a%d=~\"x.y\",", i);
    fk_buf_cstr(&b, "}");
    assert_int_equal(fk_selector_parse(fk_buf_view(&b), &a, &s, NULL), -FK_E_INVALID);
}

static struct fk_label label_of[] = {{{"pod", 3}, {"web-1", 5}}, {{"zone", 4}, {"a\xff", 2}}};
static const struct fk_labels labels = {label_of, 2};

static bool matches(const char *text)
{
    FK_AUTO_ARENA a;
    struct fk_selector *s = NULL;
    struct fk_err err = {0};
    bool hit = false;
    fk_arena_init(&a, 0);
    if (fk_selector_parse(fk_str_of(text), &a, &s, &err) ||
        fk_selector_match(s, &labels, &hit, &err))
        fail_msg("%s: %s", text, err.msg);
    fk_selector_free(s);
    return hit;
}

static void matching(void **state)
{
    (void)state;
    assert_true(matches("{}"));
    assert_true(matches("{pod=\"web-1\"}"));
    assert_false(matches("{pod=\"web\"}"));
    assert_true(matches("{pod!=\"web\"}"));
    assert_true(matches("{pod=~\"web-[0-9]\"}"));
    assert_false(matches("{pod=~\"web\"}")); // anchored
    assert_false(matches("{pod=~\"eb-.\"}"));
    assert_true(matches("{pod=~\"web.*|x\"}"));
    assert_true(matches("{pod!~\"db.*\"}"));
    assert_false(matches("{pod=\"web-1\",zone=\"b\"}"));
    // absent labels are ""
    assert_true(matches("{x=\"\"}"));
    assert_true(matches("{x!=\"y\"}"));
    assert_true(matches("{x=~\".*\"}"));
    assert_true(matches("{x=~\"|y\"}"));
    assert_true(matches("{x!~\"y+\"}"));
    assert_false(matches("{x=~\".+\"}"));
    assert_false(matches("{x!=\"\"}"));
    // invalid UTF-8 matches itself
    assert_true(matches("{zone=\"a\xff\"}"));
    assert_true(matches("{zone=~\"[a]\xff\"}"));
    assert_true(matches("{zone=~\"a.\"}"));
    assert_false(matches("{zone=~\"[a]\xfe\"}"));
}

static void labels_of_a_selector(void **state)
{
    (void)state;
    FK_AUTO_ARENA a;
    struct fk_selector *s = NULL;
    struct fk_labels l;
    struct fk_err err = {0};
    fk_arena_init(&a, 0);
    assert_int_equal(fk_selector_parse(FK_S("{service_name=\"web\",pod=\"web-1\"}"), &a, &s, &err),
                     0);
    assert_int_equal(fk_selector_labels(s, &a, &l, &err), 0);
    assert_int_equal(l.n, 2);
    assert_true(fk_str_eq(l.v[0].name, FK_S("pod")));
    fk_selector_free(s);
    assert_int_equal(fk_selector_parse(FK_S("{a=~\"b\"}"), &a, &s, &err), 0);
    assert_int_equal(fk_selector_labels(s, &a, &l, &err), -FK_E_INVALID);
    assert_string_equal(err.param, "labels");
    fk_selector_free(s);
}

struct job {
    const struct fk_selector *s;
    int wrong;
};

static void *match_often(void *arg)
{
    struct job *j = arg;
    for (int i = 0; i < 3000; i++) {
        bool hit = false;
        j->wrong += fk_selector_match(j->s, &labels, &hit, NULL) != 0 || !hit;
    }
    return NULL;
}

static void threads_share_a_selector(void **state)
{
    (void)state;
    FK_AUTO_ARENA a;
    struct fk_selector *s = NULL;
    fk_arena_init(&a, 0);
    assert_int_equal(
        fk_selector_parse(FK_S("{pod=~\"(web|db)-[0-9]+\",zone!~\"[b-z].*\"}"), &a, &s, NULL), 0);
    struct job jobs[4];
    pthread_t t[4];
    for (int i = 0; i < 4; i++) {
        jobs[i] = (struct job){s, 0};
        assert_int_equal(pthread_create(&t[i], NULL, match_often, &jobs[i]), 0);
    }
    for (int i = 0; i < 4; i++) {
        pthread_join(t[i], NULL);
        assert_int_equal(jobs[i].wrong, 0);
    }
    fk_selector_free(s);
}

static void survives_lack_of_memory(void **state)
{
    (void)state;
    for (uint64_t k = 1, done = 0; !done; k++) {
        FK_AUTO_ARENA a;
        struct fk_selector *s = NULL;
        bool hit = false;
        fk_arena_init(&a, 0);
        fk_mem_fail_after(k, true);
        int rc =
            fk_selector_parse(FK_S("up{a=~\"x.[yz]+\",b=\"c\",pod=~\"a|web-1\"}"), &a, &s, NULL);
        if (rc == 0)
            rc = fk_selector_match(s, &labels, &hit, NULL);
        done = fk_mem_failed() == 0;
        fk_mem_fail_after(0, false);
        if (rc)
            assert_int_equal(rc, -FK_E_NOMEM);
        assert_true(!done || rc == 0); // PCRE2 does without its JIT when that fails
        fk_selector_free(s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(grammar),
        cmocka_unit_test(errors_say_where),
        cmocka_unit_test(matching),
        cmocka_unit_test(labels_of_a_selector),
        cmocka_unit_test(threads_share_a_selector),
        cmocka_unit_test(survives_lack_of_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
