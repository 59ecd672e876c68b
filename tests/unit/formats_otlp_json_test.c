// SPDX-License-Identifier: Apache-2.0
// OpenTelemetry profiles in JSON, and what is easier said in JSON: values of attributes, periods,
// odd samples.
#include "otlp_fixture.h"

static void json_entry(struct seen *s, const char *resource, const char *profile)
{
    static char text[4000]; // views of it stay in the profile
    snprintf(text, sizeof(text),
             "{\"resourceProfiles\":[{\"resource\":{\"attributes\":[%s]},\"scopeProfiles\":[{"
             "\"profiles\":[{%s}]}]}],\"dictionary\":{\"stringTable\":[\"\",\"wall\",\"count\","
             "\"cpu\",\"nanoseconds\",\"bytes\"],\"stackTable\":[{}]}}",
             resource, profile);
    must(s, fk_str_of(text));
}

#define KV(k, v) "{\"key\":\"" k "\",\"value\":{" v "}}"

static void values_of_attributes(void **state)
{
    (void)state;
    struct seen s;
    json_entry(
        &s,
        KV("a", "\"boolValue\":true") "," KV("b", "\"doubleValue\":1.5") "," KV(
            "c",
            "\"arrayValue"
            "\":{"
            "\"values\":[{"
            "\"stringValue"
            "\":\"x\"},{"
            "\"intValue\":"
            "\"2\"}]}") "," KV("d",
                               "\"arrayValue\":{\"values\":[{\"stringValue\":\"one\"}]"
                               "}") "," KV("e",
                                           "\"kvlistValue\":{\"values\":[" KV(
                                               "k",
                                               "\"intValue\":7") "]}") "," KV("f",
                                                                              "\"bytesV"
                                                                              "alue\":"
                                                                              "\"AP8="
                                                                              "\"") "," KV("g",
                                                                                           "\"strin"
                                                                                           "gValue"
                                                                                           "\":"
                                                                                           "\"\"") "," KV("__"
                                                                                                          "na"
                                                                                                          "me"
                                                                                                          "_"
                                                                                                          "_",
                                                                                                          "\""
                                                                                                          "st"
                                                                                                          "ri"
                                                                                                          "ng"
                                                                                                          "Va"
                                                                                                          "lu"
                                                                                                          "e"
                                                                                                          "\""
                                                                                                          ":"
                                                                                                          "\""
                                                                                                          "ev"
                                                                                                          "il"
                                                                                                          "\"") "," KV("h",
                                                                                                                       "") "," KV("process.executable.name",
                                                                                                                                  "\"stringValue\":\"prog\"") "," KV("container.id",
                                                                                                                                                                     "\"stringValue\":\"c1\""),
        "\"samples\":[{\"values\":[1]}]");
    assert_text(label(&s, 0, "a"), "true");
    assert_text(label(&s, 0, "b"), "1.5");
    assert_text(label(&s, 0, "c"), "[\"x\",2]");
    assert_text(label(&s, 0, "d"), "one");
    assert_text(label(&s, 0, "e"), "{\"k\":7}");
    assert_text(label(&s, 0, "f"), "00ff");
    assert_null(label(&s, 0, "g").p);
    assert_null(label(&s, 0, "h").p);
    assert_null(label(&s, 0, "__name__").p);
    assert_text(label(&s, 0, "service_name"), "prog");
    assert_text(attr(&s.p[0], 0, "container.id"), "c1");
    fk_arena_free(&s.arena);
}

static void periods_add_time_to_counts(void **state)
{
    (void)state;
    struct seen s;
    json_entry(&s, "",
               "\"sampleType\":{\"typeStrindex\":1,\"unitStrindex\":2},\"period\":\"10\","
               "\"periodType\":{\"typeStrindex\":3,\"unitStrindex\":4},"
               "\"samples\":[{\"values\":[\"6\"]}]");
    assert_int_equal(s.p[0].n_types, 2);
    assert_text(s.p[0].type[0].type, "wall");
    assert_text(s.p[0].type[1].type, "cpu");
    assert_int_equal(fk_profile_total(&s.p[0], 1), 60);
    assert_null(label(&s, 0, "service_name").p); // unknown_service is fk_accept's
    fk_arena_free(&s.arena);
    json_entry(&s, "",
               "\"sampleType\":{\"typeStrindex\":5,\"unitStrindex\":5},\"period\":\"10\","
               "\"periodType\":{\"typeStrindex\":3,\"unitStrindex\":4},"
               "\"samples\":[{\"values\":[\"6\"]}]");
    assert_int_equal(s.p[0].n_types, 1); // bytes are no counts
    fk_arena_free(&s.arena);
    json_entry(&s, "",
               "\"sampleType\":{\"typeStrindex\":1,\"unitStrindex\":2},\"period\":\"10\","
               "\"periodType\":{\"typeStrindex\":3,\"unitStrindex\":2},"
               "\"samples\":[{\"values\":[\"6\"]}]");
    assert_int_equal(s.p[0].n_types, 1); // a period of counts is no time
    fk_arena_free(&s.arena);
}

static void odd_samples(void **state)
{
    (void)state;
    struct seen s;
    json_entry(&s, "",
               "\"samples\":[{},{\"values\":[1,2,3]},{\"values\":[5],"
               "\"timestampsUnixNano\":[\"1700000000000000000\",1700000000000000001]}]");
    assert_int_equal(s.p[0].n_rows, 2);
    assert_int_equal(fk_profile_total(&s.p[0], 0), 11);
    assert_null(s.p[0].time_ns);
    assert_int_equal(reported(&s, "without values and timestamps")->count, 1);
    assert_true(reported(&s, "without values and timestamps")->dropped);
    assert_int_equal(reported(&s, "unequal")->count, 1);
    fk_arena_free(&s.arena);
    json_entry(&s, "", "");
    assert_int_equal(s.n, 1); // a profile without samples is a profile
    assert_int_equal(s.p[0].n_rows, 0);
    fk_arena_free(&s.arena);
}
// ---- JSON ----

static void json_reads_as_protobuf(void **state)
{
    (void)state;
    static const char text[] =
        "\xef\xbb\xbf {\"resource_profiles\":[{\"unknown\":[{}],\"scopeProfiles\":{\"profiles\":[{"
        "\"sample_type\":{\"typeStrindex\":1},\"profileId\":\"MDEyMzQ1Njc4OWFiY2RlZg==\","
        "\"timeUnixNano\":\"1700000000000000000\",\"durationNano\":null,\"samples\":["
        "{\"stackIndex\":1,\"attributeIndices\":[1],\"linkIndex\":1,\"values\":[\"2\",3e0],"
        "\"timestampsUnixNano\":[\"1700000000000000000\",1700000000000000005]},"
        "{\"stackIndex\":1,\"linkIndex\":2,\"values\":4}]}]}}],\"dictionary\":{"
        "\"mappingTable\":[{},{\"memoryStart\":\"18446744073709551615\",\"memoryLimit\":0}],"
        "\"locationTable\":[{},{\"mappingIndex\":1,\"lines\":[{\"functionIndex\":1}]}],"
        "\"functionTable\":[{},{\"nameStrindex\":2}],"
        "\"linkTable\":[{},{\"traceId\":\"0102030405060708090A0B0C0D0E0F10\","
        "\"spanId\":\"a1a2a3a4a5a6a7a8\"},{\"traceId\":\"AQIDBAUGBwgJCgsMDQ4PEA==\","
        "\"spanId\":\"oaKjpKWmp6g\"}],\"stringTable\":[\"\",\"x\",\"f\\u0067\",\"k\",\"1\"],"
        "\"attributeTable\":[{},{\"keyStrindex\":3,\"value\":{\"intValue\":\"9\"},"
        "\"unitStrindex\":4}],\"stackTable\":[{},{\"locationIndices\":[1]}]}}";
    struct seen s;
    enum fk_format f;
    must(&s, fk_str_of(text));
    const struct fk_profile *p = &s.p[0];
    assert_int_equal(p->n_rows, 2);
    assert_int_equal(p->n_obs, 3);
    assert_int_equal(fk_profile_total(p, 0), 9);
    assert_int_equal(p->time_ns[1], 1700000000000000005);
    for (uint64_t r = 0; r < 2; r++) {
        assert_text(attr(p, r, "trace_id"), "0102030405060708090a0b0c0d0e0f10");
        assert_text(attr(p, r, "span_id"), "a1a2a3a4a5a6a7a8");
    }
    const struct fk_line *l = &p->sym.line[p->sym.location[0].line_begin];
    assert_text(p->sym.string[p->sym.function[l->function].name], "fg");
    assert_true(p->placement[0].start == UINT64_MAX);
    assert_int_equal(p->duration_ns, 0);
    assert_int_equal(fk_format_detect(fk_str_of(text), &f, NULL), 0);
    assert_int_equal(f, FK_FORMAT_OTLP);
    fk_arena_free(&s.arena);
}

static void old_json(void **state)
{
    (void)state;
    static const char text[] =
        "{\"resourceProfiles\":[{\"scopeProfiles\":[{\"profiles\":[{\"profileId\":\"\","
        "\"startTimeUnixNano\":\"1700000000000000000\",\"endTimeUnixNano\":\"1700000001000000000\","
        "\"attributes\":[{\"key\":\"k\",\"value\":{\"stringValue\":\"v\"}}],\"profile\":{"
        "\"sampleType\":[{\"type\":1,\"unit\":2,\"aggregationTemporality\":\"X\"},{\"type\":2}],"
        "\"sample\":[{\"locationIndex\":[1,0],\"value\":[\"2\",\"30\"],"
        "\"label\":[{\"key\":3,\"str\":4},{\"key\":4,\"num\":\"5\",\"numUnit\":2}]}],"
        "\"location\":[{\"line\":[{\"functionIndex\":0}]},{\"address\":\"16\"}],"
        "\"function\":[{\"name\":3}],\"stringTable\":[\"\",\"a\",\"b\",\"c\",\"d\"]}}]}]}]}";
    struct seen s;
    must(&s, fk_str_of(text));
    const struct fk_profile *p = &s.p[0];
    assert_int_equal(p->n_types, 2);
    assert_int_equal(fk_profile_total(p, 0), 2);
    assert_int_equal(fk_profile_total(p, 1), 30);
    assert_int_equal(p->time_ns_start, 1700000000000000000);
    assert_int_equal(p->duration_ns, 1000000000);
    assert_text(label(&s, 0, "k"), "v");
    assert_text(attr(p, 0, "c"), "d");
    assert_int_equal(p->sym.stack_begin[p->stack[0] + 1] - p->sym.stack_begin[p->stack[0]], 2);
    fk_arena_free(&s.arena);
}

static void wrong_json_is_refused(void **state)
{
    (void)state;
    static const char *const bad[][2] = {
        {"{\"resourceProfiles\":5}", "no object"},
        {"{\"resourceProfiles\":[{\"scopeProfiles\":[{\"profiles\":[{\"period\":\"x\"}]}]}]}",
         "period is no integer"},
        {"{\"resourceProfiles\":[],\"dictionary\":{\"stringTable\":[1]}}", "no string"},
        {"{\"resourceProfiles\":[],\"dictionary\":{\"linkTable\":[{\"traceId\":\"?\"}]}}",
         "no base64"},
        {"{\"resourceProfiles\":[],\"dictionary\":{\"stackTable\":[{\"locationIndices\":[{}]}]}}",
         "no list of integers"},
        {"{\"resourceProfiles\":[],\"dictionary\":{\"stackTable\":[{\"locationIndices\":[3]}]}}",
         "beyond its table"},
        {"{\"resourceProfiles\":[", "JSON"},
    };
    for (size_t i = 0; i < FK_COUNTOF(bad); i++) {
        struct seen s;
        assert_int_equal(decode(&s, fk_str_of(bad[i][0])), -FK_E_FORMAT);
        if (fk_str_find(fk_str_of(s.err.msg), fk_str_of(bad[i][1])) < 0)
            fail_msg("%s: %s", bad[i][0], s.err.msg);
        fk_arena_free(&s.arena);
    }
}

static const char every_kind[] =
    "{\"resourceProfiles\":[{\"resource\":{\"attributes\":[{\"keyStrindex\":1,\"value\":{"
    "\"arrayValue\":{\"values\":[{\"stringValueStrindex\":2},{}]}}},"
    "{\"key\":\"service_name\",\"value\":{\"stringValue\":\"under\"}},"
    "{\"key\":\"process.pid\",\"value\":{\"intValue\":\"5\"}},"
    "{\"key\":\"process.pid\",\"value\":{\"intValue\":\"6\"}},"
    "{\"key\":\"thread.id\",\"value\":{\"intValue\":\"1\"}}]},\"scopeProfiles\":[{\"profiles\":[{"
    "\"attributeIndices\":[1,2],\"commentStrindices\":[3],\"defaultSampleTypeIndex\":0,"
    "\"sampleType\":{\"typeStrindex\":2},\"originalPayload\":\"AAAA\","
    "\"samples\":[{\"stackIndex\":1,\"values\":[1],\"attributeIndices\":[3,0]},"
    "{\"stackIndex\":2,\"values\":[2]}]}]}]}],\"dictionary\":{\"stringTable\":[\"\",\"k\","
    "\"word\",\"note\",\"pprof.profile.comment\",\"thread.id\",\"/lib\",\"p.attr\","
    "\"pprof.location.is_folded\"],\"attributeTable\":[{},{\"keyStrindex\":4,\"value\":{"
    "\"stringValue\":\"c\"}},{\"keyStrindex\":7,\"value\":{\"stringValue\":\"pv\"}},"
    "{\"keyStrindex\":5,\"value\":{\"intValue\":2}},{\"keyStrindex\":8,\"value\":{"
    "\"boolValue\":true}}],\"mappingTable\":[{},{\"memoryStart\":16,\"filenameStrindex\":6},"
    "{\"memoryStart\":32,\"filenameStrindex\":6}],\"locationTable\":[{},{\"mappingIndex\":1,"
    "\"address\":20,\"attributeIndices\":[4]},{\"mappingIndex\":2,\"address\":36,"
    "\"attributeIndices\":[2,0]}],\"stackTable\":[{},{\"locationIndices\":[1]},"
    "{\"locationIndices\":[2,1]}]}}";

static void ids_of_another_length(void **state)
{
    (void)state;
    static const char text[] =
        "{\"resourceProfiles\":[{\"scopeProfiles\":[{\"profiles\":[{\"profileId\":\"AAAA\","
        "\"samples\":[{\"values\":[1],\"linkIndex\":1}]}]}]}],\"dictionary\":{\"linkTable\":[{},"
        "{\"traceId\":\"AAAA\",\"spanId\":\"a1a2a3a4a5a6a7a8\"}]}}";
    struct seen s;
    must(&s, fk_str_of(text));
    assert_text(attr(&s.p[0], 0, "trace_id"), "");
    assert_text(attr(&s.p[0], 0, "span_id"), "a1a2a3a4a5a6a7a8");
    assert_int_equal(reported(&s, "another length")->count, 1);
    fk_arena_free(&s.arena);
}

// A file mapped twice is two mappings; the profile's attributes go to its samples, what pprof has a
// field for to that field; of resource and sample the sample's word counts.
static void attributes_of_all_kinds(void **state)
{
    (void)state;
    struct seen s;
    must(&s, fk_str_of(every_kind));
    const struct fk_profile *p = &s.p[0];
    assert_text(label(&s, 0, "k"), "[\"word\",null]");
    assert_text(label(&s, 0, "service_name"), "under");
    assert_text(attr(p, 0, "process.pid"), "5");
    assert_text(attr(p, 0, "thread.id"), "2");
    assert_text(attr(p, 1, "thread.id"), "1");
    assert_text(attr(p, 1, "p.attr"), "pv");
    assert_int_equal(p->n_comments, 2);
    assert_text(p->default_type, "word");
    assert_int_equal(p->n_placements, 2);
    assert_int_equal(p->sym.mapping[p->placement[0].mapping].ordinal, 0);
    assert_int_equal(p->sym.mapping[p->placement[1].mapping].ordinal, 1);
    assert_int_equal(p->sym.n_locations, 2);
    assert_int_equal(p->sym.location[0].flags, FK_LOCATION_FOLDED);
    assert_int_equal(reported(&s, "original payload")->count, 1);
    assert_int_equal(reported(&s, "attributes of locations")->count, 1);
    fk_arena_free(&s.arena);
}

static const char five_attributes[] =
    "{\"resourceProfiles\":[{\"resource\":{\"attributes\":["
    "{\"key\":\"process.pid\",\"value\":{\"intValue\":\"5\"}},"
    "{\"key\":\"container.id\",\"value\":{\"stringValue\":\"c\"}},"
    "{\"key\":\"a\",\"value\":{\"intValue\":\"5\"}},{\"key\":\"b\",\"value\":{\"intValue\":\"5\"}},"
    "{\"key\":\"c\",\"value\":{\"intValue\":\"5\"}}]},\"scopeProfiles\":[{\"profiles\":[{"
    "\"sampleType\":[{},{}],\"samples\":[{\"values\":[1]}]}]}]}]}";

static void limits_of_attributes_and_types(void **state)
{
    (void)state;
    struct fk_limits l = fk_limits_default();
    struct fk_decode_opts o = fk_decode_opts_push(&l);
    struct seen s;
    l.labels = 1; // one more is delivered, so that whoever checks labels can name it
    assert_int_equal(decode_with(&s, fk_str_of(five_attributes), &o), 0);
    assert_int_equal(s.e[0].labels.n, 3);
    assert_int_equal(reported(&s, "beyond the limit of labels")->count, 1);
    fk_arena_free(&s.arena);
    l.sample_types = 1;
    assert_int_equal(decode_with(&s, fk_str_of(five_attributes), &o), -FK_E_LIMIT);
    assert_string_equal(s.err.flag, "--limit-sample-types");
    fk_arena_free(&s.arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_of_attributes),
        cmocka_unit_test(periods_add_time_to_counts),
        cmocka_unit_test(odd_samples),
        cmocka_unit_test(json_reads_as_protobuf),
        cmocka_unit_test(old_json),
        cmocka_unit_test(wrong_json_is_refused),
        cmocka_unit_test(ids_of_another_length),
        cmocka_unit_test(attributes_of_all_kinds),
        cmocka_unit_test(limits_of_attributes_and_types),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
