// SPDX-License-Identifier: Apache-2.0
// .cpuprofile in both forms, .heapprofile, and the profiles within a Chrome trace.
#include "support/decoded.h"

#define FRAME(name)                                                                                \
    "\"callFrame\":{\"functionName\":\"" name "\",\"url\":\"a.js\",\"lineNumber\":4}"
#define NODES                                                                                      \
    "{\"id\":1," FRAME(                                                                            \
        "(root)") ",\"hitCount\":0,\"children\":[2,3]},"                                           \
                  "{\"id\":2," FRAME("f\\u00e9") ",\"hitCount\":2},{\"id\":3," FRAME(              \
                      "") ",\"hitCount\":1}"

static const char cpu[] =
    "{\"nodes\":[" NODES "],\"startTime\":1000,\"endTime\":1100,\"samples\":[2,3,2],"
    "\"timeDeltas\":[10,20,30]}";

static void cpuprofile(void **state)
{
    (void)state;
    expect_decoded(FK_FORMAT_UNKNOWN, fk_str_of(cpu),
                   "{} samples/count wall/nanoseconds\n"
                   "(root);f\xc3\xa9 1 20000 @1010000\n(root);(anonymous) 1 30000 @1030000\n"
                   "(root);f\xc3\xa9 1 40000 @1060000\n");
    struct decoded d;
    assert_int_equal(decode(&d, FK_FORMAT_CPUPROFILE, fk_str_of(cpu)), 0);
    assert_int_equal(d.last.duration_ns, 100000);
    assert_int_equal(d.last.sym.line[0].line, 5);
    assert_int_equal(d.report.n, 0);
    decoded_free(&d);
    // Without samples the hit counts are the profile; the parent may be named by the child.
    expect_decoded(FK_FORMAT_CPUPROFILE,
                   FK_S("{\"nodes\":[{\"id\":7," FRAME(
                       "b") ",\"parent\":8,\"hitCount\":3},{\"id\":8," FRAME("a") "}]}"),
                   "{} samples/count\na;b 3\n");
    // A time that goes back, a node that is not there, other hit counts.
    assert_int_equal(
        decode(&d, FK_FORMAT_CPUPROFILE,
               FK_S("{\"nodes\":[" NODES "],\"samples\":[2,3,9,2],\"timeDeltas\":[10,-5,30,1]}")),
        0);
    assert_true(fk_str_eq(fk_buf_view(&d.text), FK_S("{} samples/count wall/nanoseconds\n"
                                                     "(root);f\xc3\xa9 1 0 @10000\n"
                                                     "(root);(anonymous) 1 25000 @10000\n"
                                                     "(root);f\xc3\xa9 1 0 @36000\n")));
    assert_int_equal(item(&d, "not there")->count, 1);
    assert_int_equal(item(&d, "older")->count, 1);
    assert_non_null(item(&d, "hit counts"));
    decoded_free(&d);
}

static void head_tree(void **state)
{
    (void)state;
    static const char old[] = "{\"typeId\":\"CPU\",\"head\":{\"functionName\":\"(root)\",\"id\":1,"
                              "\"hitCount\":0,\"children\":["
                              "{\"children\":[],\"functionName\":\"x\",\"url\":\"u\","
                              "\"lineNumber\":7,\"id\":2,\"hitCount\":2}]},"
                              "\"startTime\":10.5,\"endTime\":12,\"samples\":[2,2]";
    FK_AUTO_BUF b;
    fk_buf_init(&b, 0);
    fk_buf_printf(&b, "%s}", old);
    expect_decoded(FK_FORMAT_UNKNOWN, fk_buf_view(&b), "{} samples/count\n(root);x 2\n");
    struct decoded d;
    assert_int_equal(decode(&d, FK_FORMAT_CPUPROFILE, fk_buf_view(&b)), 0);
    assert_int_equal(d.last.duration_ns, 1500000000);
    decoded_free(&d);
    fk_buf_clear(&b);
    fk_buf_printf(&b, "%s,\"timestamps\":[100,150]}", old);
    expect_decoded(FK_FORMAT_UNKNOWN, fk_buf_view(&b),
                   "{} samples/count wall/nanoseconds\n(root);x 1 50000 @100000\n"
                   "(root);x 1 0 @150000\n");
    expect_survives(FK_FORMAT_UNKNOWN, fk_buf_view(&b));
}

static void heapprofile(void **state)
{
    (void)state;
    static const char heap[] =
        "{\"head\":{" FRAME("(root)") ",\"selfSize\":1,\"id\":1,\"children\":[{" FRAME(
            "a") ",\"selfSize\":32,\"children\":[]}]},\"samples\":[{\"size\":1}]}";
    expect_decoded(FK_FORMAT_UNKNOWN, fk_str_of(heap),
                   "{} inuse_space/bytes\n(root) 1\n(root);a 32\n");
    expect_survives(FK_FORMAT_UNKNOWN, fk_str_of(heap));
    expect_cuts_are_harmless(FK_FORMAT_HEAPPROFILE, fk_str_of(heap));
    // As deep as the limit of nesting allows, and deeper.
    for (int depth = 2000; depth < 4000; depth += 1000) {
        FK_AUTO_BUF b;
        struct decoded d;
        fk_buf_init(&b, 0);
        fk_buf_cstr(&b, "{\"head\":");
        for (int i = 0; i < depth; i++)
            fk_buf_cstr(&b, "{\"selfSize\":0,\"children\":[");
        fk_buf_cstr(&b, "{\"selfSize\":5}");
        for (int i = 0; i < depth; i++)
            fk_buf_cstr(&b, "]}");
        fk_buf_cstr(&b, "}");
        assert_int_equal(decode(&d, FK_FORMAT_HEAPPROFILE, fk_buf_view(&b)),
                         depth == 2000 ? 0 : -FK_E_LIMIT);
        decoded_free(&d);
    }
}

#define EVENT(name, data)                                                                          \
    "{\"ph\":\"P\",\"pid\":5,\"tid\":6,\"id\":\"0x1\",\"ts\":1,\"name\":\"" name                   \
    "\",\"args\":{\"data\":{" data "}}}"
static const char trace[] = "[" EVENT(
    "ProfileChunk",
    "\"cpuProfile\":{\"nodes\":[" NODES
    "],\"samples\":[2]},\"timeDeltas\":[10]") ","
                                              "{\"ph\":\"M\",\"pid\":5,\"tid\":6,\"name\":\"thread_"
                                              "name\",\"args\":{\"name\":\"Main\"}}," EVENT(
                                                  "Profile",
                                                  "\"startTime\":100") "," EVENT("ProfileChunk",
                                                                                 "\"cpuProfile\":{"
                                                                                 "\"samples\":[3]},"
                                                                                 "\"timeDeltas\":["
                                                                                 "7],\"endTime\":"
                                                                                 "120") ",{\"ph\":"
                                                                                        "\"I\","
                                                                                        "\"pid\":5,"
                                                                                        "\"tid\":8,"
                                                                                        "\"name\":"
                                                                                        "\"CpuProfi"
                                                                                        "le\","
                                                                                        "\"args\":{"
                                                                                        "\"data\":{"
                                                                                        "\"cpuProfi"
                                                                                        "le\":"
                                                                                        "{\"nodes\""
                                                                                        ":[" NODES
                                                                                        "],"
                                                                                        "\"startTim"
                                                                                        "e\":0,"
                                                                                        "\"samples"
                                                                                        "\":[1],"
                                                                                        "\"timeDelt"
                                                                                        "as\":[0]}}"
                                                                                        "}},";

static void chrome_trace(void **state)
{
    (void)state;
    // The list has no end: the file of a program that died.
    expect_decoded(FK_FORMAT_UNKNOWN, fk_str_of(trace),
                   "{} samples/count wall/nanoseconds\n"
                   "(root);f\xc3\xa9 1 7000 [pid=5 tid=6 thread=Main] @110000\n"
                   "(root);(anonymous) 1 3000 [pid=5 tid=6 thread=Main] @117000\n"
                   "{} samples/count wall/nanoseconds\n(root) 1 0 [pid=5 tid=8] @0\n");
    expect_refused(FK_FORMAT_UNKNOWN, FK_S("{\"traceEvents\":[{\"name\":\"a\",\"ph\":\"B\"}]}"),
                   FK_E_UNSUPPORTED, "trace of events");
    expect_refused(FK_FORMAT_UNKNOWN, FK_S("[{\"ph\":\"B\"},]"), FK_E_FORMAT, "JSON");
    expect_survives(FK_FORMAT_UNKNOWN, fk_str_of(trace));
    expect_cuts_are_harmless(FK_FORMAT_CHROME_TRACE, fk_str_of(trace));
}

static void refuses(void **state)
{
    (void)state;
    static const struct {
        const char *text, *says;
    } cases[] = {
        {"{\"nodes\":[{\"id\":1,\"callFrame\":{},\"parent\":2},{\"id\":2,\"callFrame\":{},"
         "\"parent\":1}]}",
         "its own ancestor"},
        {"{\"nodes\":[{\"callFrame\":{}}]}", "no id"},
        {"{\"nodes\":[{\"id\":1}]}", "no callFrame"},
        {"{\"samples\":[]}", "neither"},
        {"{\"head\":{\"children\":5}}", "no list"},
        {"{\"head\":{\"children\":[5]}}", "no object"},
        {"{\"nodes\":[}", "JSON"},
    };
    for (size_t i = 0; i < FK_COUNTOF(cases); i++)
        expect_refused(FK_FORMAT_CPUPROFILE, fk_str_of(cases[i].text), FK_E_FORMAT, cases[i].says);
    expect_refused(FK_FORMAT_CPUPROFILE, FK_S("{\"nodes\":[],\"locations\":[]}"), FK_E_UNSUPPORTED,
                   "viewer");
    expect_refused(FK_FORMAT_HEAPPROFILE, FK_S("{}"), FK_E_FORMAT, "head");
    expect_survives(FK_FORMAT_UNKNOWN, fk_str_of(cpu));
    expect_cuts_are_harmless(FK_FORMAT_CPUPROFILE, fk_str_of(cpu));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cpuprofile),   cmocka_unit_test(head_tree), cmocka_unit_test(heapprofile),
        cmocka_unit_test(chrome_trace), cmocka_unit_test(refuses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
