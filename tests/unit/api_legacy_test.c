// SPDX-License-Identifier: Apache-2.0
// Pyroscope's older reads: documents, timelines and errors with profiles whose numbers are known.
#include "api_rpc_world.h"

#define T0    1700000000000
#define RANGE "from=1700000000&until=1700000060"
#define TYPED "/pyroscope/render?" RANGE "&query=" CPU "%7B%7D"

static void add_shop(struct world *w)
{
    add(w, "a", T0, "main;work;hash 6\nmain;work 3\nmain;idle 1\n");
    add(w, "b", T0 + 20000, "main;work;hash 4\nmain;rest 2\n");
}

static const char *get(struct world *w, const char *target)
{
    int status;
    const char *text = call(w, "GET", target, "", FK_S(""), &status);
    if (status != 200)
        fail_msg("%s: %d %s", target, status, text);
    return text;
}

static void refused(struct world *w, const char *target, const char *words)
{
    int status;
    const char *text = call(w, "GET", target, "", FK_S(""), &status);
    assert_int_equal(status, 400);
    has(text, "{\"code\":\"invalid_argument\",\"message\":");
    has(text, words);
}

static void renders_have_graph_and_timeline(void **state)
{
    struct world *w = *state;
    add_shop(w);
    const char *got = get(w, TYPED);
    has(got, "{\"version\":1,\"flamebearer\":{\"names\":[\"total\",\"main\",\"idle\",\"rest\","
             "\"work\",\"hash\"],\"levels\":[[0,16,0,0],[0,16,0,1],"
             "[0,1,1,2,0,2,2,3,0,13,3,4],[6,10,10,5]],\"numTicks\":16,\"maxSelf\":10}");
    has(got, "\"metadata\":{\"format\":\"single\",\"spyName\":\"\",\"sampleRate\":1000000000,"
             "\"units\":\"samples\",\"name\":\"cpu\"}");
    has(got, "\"timeline\":{\"startTime\":1699999995,\"samples\":[0,10,6,0],\"durationDelta\":15,"
             "\"watermarks\":null},\"groups\":null,\"heatmap\":null}");
    assert_string_equal(get(w, "/pyroscope/render?from=1700000000000&until=1700000060000&query="
                               "%7B__profile_type__%3D%22" CPU "%22%7D&format=json"),
                        got);
    // The larger name wins over the older one, and what is no number is nothing.
    has(get(w, TYPED "&max-nodes=5000&maxNodes=2"), "[3,10,10,3]]");
    assert_string_equal(get(w, TYPED "&max-nodes=many"), got);
}

static void groups_have_timelines(void **state)
{
    struct world *w = *state;
    add_shop(w);
    const char *got = get(w, TYPED "&groupBy=pod&groupBy=region");
    has(got, "\"timeline\":{\"startTime\":1699999995,\"samples\":[0,0,0,0],");
    has(got, "\"groups\":{\"a\":{\"startTime\":1699999995,\"samples\":[0,10,0,0],"
             "\"durationDelta\":15,\"watermarks\":null},\"b\":{\"startTime\":1699999995,"
             "\"samples\":[0,0,6,0],");
    has(get(w, TYPED "&groupBy=region"), "\"groups\":{\"*\":{");
    add(w, "b", T0 + 21000, "main;rest 10\n");
    has(get(w, TYPED "&aggregation=avg"), "\"samples\":[0,10,8,0]");
    refused(w, TYPED "&aggregation=max", "aggregation must be one of sum, avg");
}

static void other_forms_and_nothing(void **state)
{
    struct world *w = *state;
    assert_string_equal(get(w, TYPED "&format=dot"), "");
    const char *got = get(w, TYPED);
    has(got, "\"names\":[\"total\"],\"levels\":[[0,0,0,0]],\"numTicks\":0");
    has(got, "\"samples\":[0,0,0,0]");
    add_shop(w);
    has(get(w, TYPED "&format=dot"), "digraph ");
    refused(w, "/pyroscope/render?" RANGE, "query is missing");
    refused(w, TYPED "&format=html", "format must be one of json, dot");
    refused(w, "/pyroscope/render?from=soon&query=%7B%7D", "from is no time");
    refused(w, TYPED "&maxNodes=1048577", "max_nodes");
    get(w, "/pyroscope/render?from=-1h&until=now&query=" CPU "%7B%7D");
    has(get(w, "/pyroscope/render?from=20231114&until=20231116&query=" CPU "%7B%7D"),
        "\"numTicks\":16");
}

static void differences_need_one_type(void **state)
{
    struct world *w = *state;
    add_shop(w);
    const char *got =
        get(w, "/pyroscope/render-diff?leftQuery=" CPU "%7Bpod%3D%22a%22%7D&leftFrom=1700000000"
               "&leftUntil=1700000060&rightQuery=" CPU "%7Bpod%3D%22b%22%7D&rightFrom=1700000000"
               "&rightUntil=1700000060");
    has(got, "\"levels\":[[0,10,0,0,6,0,0],[0,10,0,0,6,0,1],"
             "[0,1,1,0,0,0,2,0,0,0,0,2,2,3,0,9,3,0,4,0,4],[4,6,6,2,4,4,5]],\"numTicks\":16");
    has(got, "\"format\":\"double\"");
    has(got, "\"timeline\":null,");
    has(got, "\"leftTicks\":10,\"rightTicks\":6}");
    refused(w, "/pyroscope/render-diff?leftQuery=" CPU "%7B%7D", "rightQuery is missing");
}

static void values_of_every_label(void **state)
{
    struct world *w = *state;
    assert_string_equal(get(w, "/pyroscope/label-values?label=pod"), "[]");
    add_shop(w);
    assert_string_equal(get(w, "/pyroscope/label-values?label=pod"), "[\"a\",\"b\"]");
    assert_string_equal(get(w, "/pyroscope/label-values?label=__name__"), "[\"" CPU "\"]");
    assert_string_equal(get(w, "/pyroscope/label-values?label=service_name"), "[\"shop\"]");
    refused(w, "/pyroscope/label-values", "label is missing");
}

static void flags_are_told(void **state)
{
    struct world *w = *state;
    assert_string_equal(get(w, "/api/v1/status/config"), "data: \"x\"\nworkers: 4\n");
    assert_string_equal(get(w, "/config"), "data: \"x\"\nworkers: 4\n");
    assert_string_equal(get(w, "/api/v1/status/config/diff"), "data: \"x\"\n");
    assert_string_equal(get(w, "/api/v1/status/config/default"), "data: ./data\nworkers: 4\n");
    has(get(w, "/api/v1/status/buildinfo"), "{\"status\":\"success\",\"data\":{\"version\":");
    has(get(w, "/api/v1/status"), "\"profiles\":0");
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, world_setup, world_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(renders_have_graph_and_timeline), TEST(groups_have_timelines),
        TEST(other_forms_and_nothing),         TEST(differences_need_one_type),
        TEST(values_of_every_label),           TEST(flags_are_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
