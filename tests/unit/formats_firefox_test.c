// SPDX-License-Identifier: Apache-2.0
// Firefox profiles in their forms, and stackprof.
#include "support/decoded.h"

// As the browser writes it; with a second process.
#define THREAD(samples)                                                                            \
    "{\"name\":\"Main\",\"pid\":5,\"tid\":6,\"samples\":{\"schema\":{\"stack\":0,\"time\":1},"     \
    "\"data\":[" samples "]},\"stackTable\":{\"schema\":{\"prefix\":0,\"frame\":1},\"data\":["     \
    "[null,0],[0,1],[1,2]]},\"frameTable\":{\"schema\":{\"location\":0,\"line\":3},\"data\":["     \
    "[0],[1,null,null,7],[2]]},\"stringTable\":[\"(root)\",\"f (http://a/b.js:12:3)\",\"0x1f\"]}"
static const char gecko[] =
    "{\"meta\":{\"interval\":2,\"startTime\":1000000.5},\"libs\":[],\"threads\":[" THREAD(
        "[1,1.5],[null,2],[2,3],[9,4]") "],\"processes\":[{\"meta\":{\"startTime\":1000001.5,"
                                        "\"interval\":9},\"threads\":[" THREAD("[0,0]") "]}]}";

static void gecko_form(void **state)
{
    (void)state;
    struct decoded d;
    expect_decoded(FK_FORMAT_UNKNOWN, fk_str_of(gecko),
                   "{} samples/count wall/nanoseconds\n"
                   "(root);f 1 2000000 [thread=Main pid=5 tid=6] @1000002000000\n"
                   "(root);f;0x1f 1 2000000 [thread=Main pid=5 tid=6] @1000003500000\n"
                   "(root) 1 2000000 [thread=Main pid=5 tid=6] @1000001500000\n");
    assert_int_equal(decode(&d, FK_FORMAT_FIREFOX, fk_str_of(gecko)), 0);
    assert_int_equal(item(&d, "idle")->count, 1);
    assert_int_equal(item(&d, "not there")->count, 1);
    assert_int_equal(d.last.sym.line[1].line, 7); // the frame's own, not that of its location
    assert_int_equal(d.last.period, 2000000);
    decoded_free(&d);
    expect_survives(FK_FORMAT_UNKNOWN, fk_str_of(gecko));
    expect_cuts_are_harmless(FK_FORMAT_FIREFOX, fk_str_of(gecko));
}

#define TABLES                                                                                     \
    "\"frameTable\":{\"func\":[0,1],\"line\":[null,4],\"column\":[null,2]},\"funcTable\":{"        \
    "\"name\":[0,1],\"fileName\":[null,2],\"lineNumber\":[null,3]}"

static void processed_form(void **state)
{
    (void)state;
    expect_decoded(
        FK_FORMAT_UNKNOWN,
        FK_S(
            "{\"meta\":{\"interval\":1,\"startTime\":0},\"threads\":[{\"name\":\"a\",\"pid\":\"5\","
            "\"tid\":\"x\"," TABLES ",\"stackTable\":{\"prefix\":[null,0],\"frame\":[0,1]},"
            "\"stringArray\":[\"r\",\"f\",\"f.c\"],\"samples\":{\"stack\":[1,0],\"time\":[1,2],"
            "\"weight\":[3,null]}}]}"),
        "{} samples/count wall/nanoseconds\n"
        "r;f 3 3000000 [thread=a pid=5 tid=x] @1000000\n"
        "r 1 1000000 [thread=a pid=5 tid=x] @2000000\n");
    // Newer: tables shared by the threads, prefixes as distances, times as differences.
    static const char shared[] = "{\"meta\":{\"startTime\":0},\"libs\":[],\"shared\":{" TABLES
                                 ",\"stackTable\":{\"prefixOffset\":[0,1],\"frame\":[0,1]},"
                                 "\"stringArray\":[\"r\",\"f\",\"f.c\"]},"
                                 "\"threads\":[{\"name\":\"a\",\"samples\":{\"stack\":[1,1],"
                                 "\"timeDeltas\":[1,2]}},{\"name\":\"b\","
                                 "\"samples\":{\"stack\":[0],\"timeDeltas\":[5]}}]}";
    expect_decoded(FK_FORMAT_UNKNOWN, fk_str_of(shared),
                   "{} samples/count\nr;f 1 [thread=a] @1000000\nr;f 1 [thread=a] @3000000\n"
                   "r 1 [thread=b] @5000000\n");
    expect_survives(FK_FORMAT_UNKNOWN, fk_str_of(shared));
    expect_refused(FK_FORMAT_FIREFOX, FK_S("{\"meta\":{}}"), FK_E_FORMAT, "threads");
    expect_refused(
        FK_FORMAT_FIREFOX,
        FK_S("{\"threads\":[{\"samples\":{},\"stackTable\":{\"prefix\":[9],\"frame\":[0]}}]}"),
        FK_E_FORMAT, "stack 0");
    expect_refused(
        FK_FORMAT_FIREFOX,
        FK_S("{\"threads\":[{\"stackTable\":{\"prefix\":[1,0],\"frame\":[0,0]},\"frameTable\":{"
             "\"func\":[0]}}]}"),
        FK_E_FORMAT, "ancestor");
}

#define FRAMES                                                                                     \
    "\"frames\":{\"7\":{\"name\":\"A#f\",\"file\":\"a.rb\",\"line\":3,\"samples\":2},\"9\":{"      \
    "\"name\":"                                                                                    \
    "\"g\",\"samples\":0}}"

static void stackprof(void **state)
{
    (void)state;
    static const char cpu[] =
        "{\"version\":1.2,\"mode\":\"cpu\",\"interval\":1000,\"missed_samples\":4," FRAMES
        ",\"raw\":[2,9,7,2,1,9,1],\"raw_timestamp_deltas\":[5,6]}";
    struct decoded d;
    expect_decoded(
        FK_FORMAT_UNKNOWN, fk_str_of(cpu),
        "{} samples/count cpu/nanoseconds\ng;A#f 1 1000000 @5000\ng;A#f 1 1000000 @11000\n"
        "g 1 1000000\n");
    assert_int_equal(decode(&d, FK_FORMAT_STACKPROF, fk_str_of(cpu)), 0);
    assert_int_equal(item(&d, "missed")->count, 4);
    decoded_free(&d);
    expect_decoded(
        FK_FORMAT_UNKNOWN,
        FK_S("{\"mode\":\"object\",\"interval\":10," FRAMES ",\"raw\":[2,9,7,2,2,8,9,1]}"),
        "{} alloc_objects/count\ng;A#f 20\ng 10\n");
    expect_decoded(FK_FORMAT_UNKNOWN, FK_S("{\"mode\":\"wall\",\"interval\":10," FRAMES "}"),
                   "{} samples/count wall/nanoseconds\nA#f 2 20000\n");
    expect_decoded(FK_FORMAT_STACKPROF, FK_S("{\"mode\":\"custom\",\"interval\":1," FRAMES "}"),
                   "{} samples/count\nA#f 2\n");
    expect_decoded(FK_FORMAT_STACKPROF, // of one id the first holds
                   FK_S("{\"mode\":\"object\",\"interval\":1,\"frames\":{\"1\":{\"name\":\"a\"},"
                        "\"1\":{\"name\":\"b\"}},\"raw\":[1,1,3]}"),
                   "{} alloc_objects/count\na 3\n");
    expect_refused(FK_FORMAT_UNKNOWN, FK_S("\x04\x08{\x06"), FK_E_UNSUPPORTED, "--json");
    expect_refused(FK_FORMAT_STACKPROF, FK_S("{}"), FK_E_FORMAT, "mode");
    expect_refused(FK_FORMAT_STACKPROF, FK_S("{\"mode\":\"cpu\",\"frames\":{\"x\":{}}}"),
                   FK_E_FORMAT, "no number");
    expect_refused(FK_FORMAT_STACKPROF, FK_S("{\"mode\":\"cpu\"," FRAMES ",\"raw\":[2,9]}"),
                   FK_E_FORMAT, "within a stack");
    expect_refused(FK_FORMAT_STACKPROF, FK_S("{\"mode\":\"cpu\"," FRAMES ",\"raw\":[1,9]}"),
                   FK_E_FORMAT, "without a count");
    expect_survives(FK_FORMAT_UNKNOWN, fk_str_of(cpu));
    expect_cuts_are_harmless(FK_FORMAT_STACKPROF, fk_str_of(cpu));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gecko_form),
        cmocka_unit_test(processed_form),
        cmocka_unit_test(stackprof),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
