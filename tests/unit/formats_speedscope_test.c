// SPDX-License-Identifier: Apache-2.0
// speedscope's files and flamebearer JSON.
#include "support/decoded.h"

#define SCHEMA "\"$schema\":\"https://www.speedscope.app/file-format-schema.json\","
#define SHARED                                                                                     \
    "\"shared\":{\"frames\":[{\"name\":\"a\",\"file\":\"f\",\"line\":3},{\"name\":\"b\"},{"        \
    "\"name\":"                                                                                    \
    "\"\"}]}"

static const char both[] =
    "{" SCHEMA SHARED ",\"profiles\":[{\"type\":\"sampled\",\"name\":\"one\",\"unit\":"
    "\"milliseconds\",\"startValue\":10,"
    "\"endValue\":14,\"samples\":[[0,1],[0,2],[]],\"weights\":[1,2.5,0.5]},"
    "{\"type\":\"evented\",\"name\":\"\",\"unit\":\"none\",\"startValue\":0,\"endValue\":9,"
    "\"events\":["
    "{\"type\":\"O\",\"frame\":0,\"at\":0},{\"type\":\"O\",\"frame\":1,\"at\":2},"
    "{\"type\":\"C\",\"frame\":1,\"at\":5},{\"type\":\"O\",\"frame\":0,\"at\":5}]}]}";

static void speedscope(void **state)
{
    (void)state;
    expect_decoded(FK_FORMAT_UNKNOWN, fk_str_of(both),
                   "{profile_name=\"one\"} wall/nanoseconds\n"
                   "a;b 1000000 @10000000\na;[unknown] 2500000 @11000000\n 500000 @13500000\n"
                   "{} samples/count\na 2\na;b 3\na;a 4\n");
    expect_survives(FK_FORMAT_UNKNOWN, fk_str_of(both));
    expect_cuts_are_harmless(FK_FORMAT_SPEEDSCOPE, fk_str_of(both));
}

static void odd_events_are_reported(void **state)
{
    (void)state;
    struct decoded d;
    assert_int_equal(
        decode(&d, FK_FORMAT_UNKNOWN,
               FK_S("{" SCHEMA SHARED
                    ",\"profiles\":[{\"type\":\"evented\",\"name\":\"x\\ud800\",\"unit\":"
                    "\"bytes\",\"startValue\":0,\"endValue\":0,\"events\":["
                    "{\"type\":\"C\",\"frame\":1,\"at\":0},{\"type\":\"O\",\"frame\":9,\"at\":0},"
                    "{\"type\":\"O\",\"frame\":0,\"at\":1.5},{\"type\":\"O\",\"frame\":1,\"at\":4},"
                    "{\"type\":\"C\",\"frame\":0,\"at\":3}]}]}")),
        0);
    assert_true(fk_str_eq(fk_buf_view(&d.text),
                          FK_S("{profile_name=\"x\xef\xbf\xbd\"} space/bytes\na 2\n")));
    assert_int_equal(item(&d, "not in the list")->count, 1);
    assert_int_equal(item(&d, "does not match")->count, 2);
    assert_int_equal(item(&d, "older")->count, 1);
    assert_int_equal(item(&d, "fractional")->count, 1);
    decoded_free(&d);
}

static void refuses(void **state)
{
    (void)state;
#define PROFILE(members) "{" SCHEMA SHARED ",\"profiles\":[{" members "}]}"
    static const struct {
        const char *text, *says;
    } cases[] = {
        {PROFILE("\"type\":\"x\",\"unit\":\"none\""), "neither sampled"},
        {PROFILE("\"type\":\"sampled\",\"unit\":\"parsecs\""), "'parsecs'"},
        {PROFILE("\"type\":\"sampled\",\"unit\":\"none\",\"samples\":[[0]],\"weights\":[]"),
         "weights"},
        {PROFILE(
             "\"type\":\"evented\",\"unit\":\"none\",\"events\":[{\"type\":\"X\",\"frame\":0}]"),
         "neither \"O\""},
        {"{" SCHEMA "\"profiles\":[]}", "shared.frames"},
        {"{" SCHEMA SHARED "}", "'profiles'"},
    };
    for (size_t i = 0; i < FK_COUNTOF(cases); i++)
        expect_refused(FK_FORMAT_UNKNOWN, fk_str_of(cases[i].text), FK_E_FORMAT, cases[i].says);
}

// 4000 deep, then 200,000 calls from there, or closes of what was never opened: costs as much as
// there are events, not the depth for each.
static void deep_events(void **state)
{
    (void)state;
    struct decoded d;
    FK_AUTO_BUF b;
    for (int odd = 0; odd < 2; odd++) {
        fk_buf_init(&b, 0);
        fk_buf_cstr(&b, "{" SCHEMA "\"shared\":{\"frames\":[");
        for (int i = 0; i < 4002; i++)
            fk_buf_printf(&b, "%s{\"name\":\"f%d\"}", i ? "," : "", i);
        fk_buf_cstr(&b, "]},\"profiles\":[{\"type\":\"evented\",\"unit\":\"none\",\"startValue\":0,"
                        "\"endValue\":0,\"events\":[");
        for (int i = 0; i < 4000; i++)
            fk_buf_printf(&b, "%s{\"type\":\"O\",\"frame\":%d,\"at\":0}", i ? "," : "", i);
        for (int i = 0; i < 200000; i++)
            fk_buf_printf(&b, ",{\"type\":\"%s\",\"frame\":%d,\"at\":%d}", i % 2 || odd ? "C" : "O",
                          4000 + i / 2 % 2, odd ? 0 : i + 1);
        fk_buf_cstr(&b, "]}]}");
        assert_int_equal(decode(&d, FK_FORMAT_SPEEDSCOPE, fk_buf_view(&b)), 0);
        assert_int_equal(d.last.n_rows, odd ? 0 : 200000);
        assert_int_equal(d.last.sym.n_stacks, odd ? 0 : 3);
        if (odd)
            assert_int_equal(item(&d, "does not match")->count, 200000);
        decoded_free(&d);
        fk_buf_free(&b);
    }
}

static const char graph[] =
    "{\"flamebearer\":{\"names\":[\"total\",\"a\",\"b\",\"\"],\"levels\":[[0,10,0,0],[0,4,1,1,2,4,"
    "4,2],"
    "[1,3,3,3]]},\"metadata\":{\"units\":\"samples\",\"sampleRate\":100,\"format\":\"single\"},"
    "\"timeline\":{\"startTime\":1700000000,\"samples\":[1,2],\"durationDelta\":10}}";

static void flamebearer(void **state)
{
    (void)state;
    struct decoded d;
    expect_decoded(FK_FORMAT_UNKNOWN, fk_str_of(graph),
                   "{} samples/count cpu/nanoseconds\n"
                   "a 1 10000000\nb 4 40000000\na;[unknown] 3 30000000\n");
    assert_int_equal(decode(&d, FK_FORMAT_FLAMEBEARER, fk_str_of(graph)), 0);
    assert_int_equal(d.last.time_ns_start, 1700000000000000000);
    assert_int_equal(d.last.duration_ns, 20000000000);
    assert_int_equal(d.last.period, 10000000);
    decoded_free(&d);
    // A difference; metadata within, as an older server wrote them.
    expect_decoded(
        FK_FORMAT_UNKNOWN,
        FK_S("{\"flamebearer\":{\"names\":[\"total\",\"a\",\"b\"],\"format\":\"double\",\"units\":"
             "\"bytes\",\"levels\":[[0,3,0,0,7,0,0],[0,3,3,0,5,5,1,0,0,0,0,2,2,2]]}}"),
        "{} space/bytes samples_before/bytes\na 5 3\nb 2 0\n");
    // A node beside those above it.
    assert_int_equal(
        decode(&d, FK_FORMAT_FLAMEBEARER,
               FK_S("{\"names\":[\"a\"],\"levels\":[[0,1,0,0],[5,1,1,0]],\"units\":\"odd\"}")),
        0);
    assert_true(fk_str_eq(fk_buf_view(&d.text), FK_S("{} odd/count\na;a 1\n")));
    assert_int_equal(item(&d, "not above")->count, 1);
    decoded_free(&d);
    expect_refused(FK_FORMAT_FLAMEBEARER, FK_S("{\"names\":[\"a\"],\"levels\":[[0,1,0]]}"),
                   FK_E_FORMAT, "groups of 4");
    expect_refused(FK_FORMAT_FLAMEBEARER, FK_S("{\"names\":[\"a\"],\"levels\":[[0,1,0,1]]}"),
                   FK_E_FORMAT, "name 1 of 1");
    expect_refused(FK_FORMAT_FLAMEBEARER, FK_S("{}"), FK_E_FORMAT, "no list");
    expect_survives(FK_FORMAT_UNKNOWN, fk_str_of(graph));
    expect_cuts_are_harmless(FK_FORMAT_FLAMEBEARER, fk_str_of(graph));
}

static void the_request_may_name_the_type(void **state)
{
    (void)state;
    struct fk_limits l = fk_limits_default();
    struct fk_decode_opts o = fk_decode_opts_push(&l);
    struct decoded d;
    o.type = FK_S("inuse_objects");
    o.unit = FK_S("count");
    assert_int_equal(decode_with(&d, FK_FORMAT_SPEEDSCOPE, fk_str_of(both), &o), 0);
    assert_true(fk_str_find(fk_buf_view(&d.text), FK_S("{} inuse_objects/count\n")) > 0);
    decoded_free(&d);
    l.label_value = 2;
    assert_int_equal(decode_with(&d, FK_FORMAT_SPEEDSCOPE, fk_str_of(both), &o), 0);
    assert_true(fk_str_starts(fk_buf_view(&d.text), FK_S("{profile_name=\"on\"}")));
    decoded_free(&d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(speedscope),
        cmocka_unit_test(deep_events),
        cmocka_unit_test(odd_events_are_reported),
        cmocka_unit_test(refuses),
        cmocka_unit_test(flamebearer),
        cmocka_unit_test(the_request_may_name_the_type),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
