// SPDX-License-Identifier: Apache-2.0
// OpenTelemetry's export without a socket: answers in the encoding of the request, what is refused
// and what is dropped, the same request again.
#include "api/api_int.h"
#include "support/support.h"
#include "support/test.h"

struct world {
    char *tmp;
    struct fk_store *store;
    struct fk_api *api;
};

#define PROTO "application/x-protobuf"
#define JSON  "application/json; charset=utf-8"

static struct fk_api_answer post(struct world *w, const char *type, struct fk_str body)
{
    struct fk_api_answer a;
    fk_api_local(w->api,
                 &(struct fk_api_ask){.method = "POST",
                                      .target = FK_S("/v1development/profiles?x=1"),
                                      .body = body,
                                      .content_type = fk_str_of(type)},
                 &a);
    fk_buf_byte(&a.body, 0); // to be read as text
    a.body.n--;
    assert_int_equal(a.body.failed, 0);
    return a;
}

static void expect(struct world *w, const char *type, struct fk_str body, int status,
                   const char *text)
{
    struct fk_api_answer a = post(w, type, body);
    if (a.status != status || !strstr(a.body.p, text))
        fail_msg("%d %s, not %d %s", a.status, a.body.p, status, text);
    assert_string_equal(a.type, strstr(type, "json") ? "application/json" : PROTO);
    fk_buf_free(&a.body);
}

static uint64_t entries(struct world *w)
{
    return w->api->stored_profiles;
}

static int setup(void **state)
{
    struct world *w = fk_calloc(1, sizeof(*w));
    struct fk_err err = {0};
    assert_non_null(w);
    *state = w;
    w->tmp = fk_test_tmpdir();
    fk_test_ok(
        fk_store_open(&(struct fk_store_opts){.dir = w->tmp, .min_free = 1, .run_inline = true},
                      &w->store, &err),
        &err);
    fk_test_ok(fk_api_new(&(struct fk_api_opts){.store = w->store, .limits = fk_limits_default()},
                          &w->api, &err),
               &err);
    return 0;
}

static int teardown(void **state)
{
    struct world *w = *state;
    fk_api_free(w->api);
    fk_store_close(w->store);
    fk_test_rmtree(w->tmp);
    fk_free(w);
    return 0;
}

// A request with one profile for each text, whose attributes and profile it gives.
static struct fk_str json(struct fk_buf *b, const char *const (*one)[2], size_t n)
{
    fk_buf_clear(b);
    fk_buf_cstr(b, "{\"resourceProfiles\":[");
    for (size_t i = 0; i < n; i++)
        fk_buf_printf(b,
                      "%s{\"resource\":{\"attributes\":[%s]},\"scopeProfiles\":[{\"profiles\":[{%s,"
                      "\"sampleType\":{\"typeStrindex\":1,\"unitStrindex\":1}}]}]}",
                      i ? "," : "", one[i][0], one[i][1]);
    fk_buf_cstr(b, "],\"dictionary\":{\"stringTable\":[\"\",\"x\"],\"stackTable\":[{}]}}");
    return fk_buf_view(b);
}

#define KV(k, v) "{\"key\":\"" k "\",\"value\":{\"stringValue\":\"" v "\"}}"
#define TIMED    "\"timeUnixNano\":\"1700000000000000000\","
#define SAMPLE   "\"samples\":[{\"stackIndex\":0,\"values\":[4]}]"

static void answers_as_it_was_asked(void **state)
{
    struct world *w = *state;
    static const char *const one[][2] = {{KV("service.name", "a"), TIMED SAMPLE}};
    FK_AUTO_BUF b;
    fk_buf_init(&b, 0);
    struct fk_api_answer a = post(w, JSON, json(&b, one, 1));
    assert_int_equal(a.status, 200);
    assert_string_equal(a.body.p, "{}");
    assert_string_equal(a.type, "application/json");
    fk_buf_free(&a.body);
    a = post(w, PROTO, FK_S("")); // nothing in it is nothing wrong
    assert_int_equal(a.status, 200);
    assert_int_equal(a.body.n, 0);
    assert_string_equal(a.type, PROTO);
    fk_buf_free(&a.body);
    assert_int_equal(entries(w), 1);
}

static void errors_are_statuses(void **state)
{
    struct world *w = *state;
    static const char *const beyond[][2] = {
        {"", "\"samples\":[{\"stackIndex\":5,\"values\":[1]}]"}};
    FK_AUTO_BUF b;
    fk_buf_init(&b, 0);
    expect(w, JSON, json(&b, beyond, 1), 400, "{\"code\":3,\"message\":\"");
    expect(w, JSON, FK_S("<html>"), 400, "HTML page");
    expect(w, PROTO, FK_S("\xff\xff"), 400, "not OTLP profiles of any revision");
    expect(w, "text/plain", FK_S("x"), 415, "application/x-protobuf or application/json");
    struct fk_api_answer a = post(w, PROTO, FK_S("\x0a\x05")); // Status{code = 3, message}
    assert_int_equal(a.status, 400);
    assert_memory_equal(a.body.p, "\x08\x03\x12", 3);
    fk_buf_free(&a.body);
    assert_int_equal(entries(w), 0);
}

static void what_is_refused_is_told(void **state)
{
    struct world *w = *state;
    static const char *const mixed[][2] = {
        {KV("service.name", "a"), TIMED SAMPLE},
        {KV("bad", "\\ud800x\xff"), TIMED SAMPLE}, // no UTF-8
        {KV("service.name", "c"), TIMED SAMPLE},
    };
    static const char *const dropped[][2] = {
        {KV("service.name", "d"), TIMED "\"samples\":[{\"values\":[1]},{},{}]"}};
    FK_AUTO_BUF b;
    fk_buf_init(&b, 0);
    expect(w, JSON, json(&b, mixed, 3), 200, "{\"partialSuccess\":{\"rejectedProfiles\":\"1\"");
    assert_int_equal(entries(w), 2);
    struct fk_api_answer list;
    fk_api_local(w->api, &(struct fk_api_ask){.method = "GET", .target = FK_S("/api/v1/rejects")},
                 &list);
    fk_buf_byte(&list.body, 0); // also where others of the request are stored
    assert_non_null(strstr(list.body.p, "\"status\":0"));
    assert_non_null(strstr(list.body.p, "not valid UTF-8"));
    fk_buf_free(&list.body);
    expect(w, JSON, json(&b, mixed + 1, 1), 400, "not valid UTF-8"); // nothing is left
    expect(w, JSON, json(&b, dropped, 1), 200,
           "{\"partialSuccess\":{\"errorMessage\":\"sample without values and timestamps (2)");
    struct fk_api_answer a =
        post(w, PROTO, json(&b, mixed, 3)); // the content decides how it is read
    assert_memory_equal(a.body.p, "\x0a", 1);
    assert_string_equal(a.type, PROTO);
    fk_buf_free(&a.body);
}

static void the_same_again_is_not_stored_again(void **state)
{
    struct world *w = *state;
    static const char *const timed[][2] = {{KV("service.name", "a"), TIMED SAMPLE},
                                           {KV("service.name", "a"), TIMED SAMPLE}};
    static const char *const untimed[][2] = {{KV("service.name", "a"), SAMPLE}};
    FK_AUTO_BUF b;
    fk_buf_init(&b, 0);
    for (int i = 0; i < 3; i++) {
        expect(w, JSON, json(&b, timed, 2), 200, "{}");
        assert_int_equal(entries(w), 2); // two equal ones of one request are two
    }
    for (uint64_t i = 1; i <= 3; i++) {
        expect(w, JSON, json(&b, untimed, 1), 200, "{}"); // without a time it may be another
        assert_int_equal(entries(w), 2 + i);
    }
}

static void every_address_is_served(void **state)
{
    struct world *w = *state;
    static const char *const paths[] = {
        "/v1development/profiles", "/otlp/v1development/profiles", "/v1experimental/profiles",
        "/opentelemetry.proto.collector.profiles.v1development.ProfilesService/Export"};
    for (size_t i = 0; i < FK_COUNTOF(paths); i++) {
        struct fk_api_answer a;
        fk_api_local(w->api,
                     &(struct fk_api_ask){.method = "POST",
                                          .target = fk_str_of(paths[i]),
                                          .body = FK_S("{}"),
                                          .content_type = FK_S("application/json")},
                     &a);
        assert_int_equal(a.status, 200);
        fk_buf_free(&a.body);
    }
}

// Profiles of one request are on their way together: each arrives once, what is wrong with some
// does not hold the others up, and the same request again finds all of them.
static void many_travel_together(void **state)
{
    enum { N = 300, WRONG = 50 };
    struct world mine = {.tmp = fk_test_tmpdir()}, *w = &mine;
    struct fk_err err = {0};
    static char profile[N][200];
    static const char *texts[N][2];
    FK_AUTO_BUF b;
    (void)state;
    fk_test_ok(
        fk_store_open(&(struct fk_store_opts){.dir = w->tmp, .min_free = 1}, &w->store, &err),
        &err);
    fk_test_ok(fk_api_new(&(struct fk_api_opts){.store = w->store, .limits = fk_limits_default()},
                          &w->api, &err),
               &err);
    for (int i = 0; i < N; i++) { // every fiftieth lies in the far future
        snprintf(profile[i], sizeof(profile[i]),
                 "\"timeUnixNano\":\"%lld\",\"samples\":[{\"stackIndex\":0,\"values\":[%d]}]",
                 i % WRONG ? 1700000000000000000ll + i : 9000000000000000000ll + i, i + 1);
        texts[i][0] = KV("service.name", "many");
        texts[i][1] = profile[i];
    }
    fk_buf_init(&b, 0);
    json(&b, (const char *const(*)[2])texts, N);
    for (int round = 0; round < 2; round++) {
        expect(w, JSON, fk_buf_view(&b), 200, "\"rejectedProfiles\":\"6\"");
        assert_int_equal(entries(w), N - N / WRONG);
        assert_int_equal(w->api->repeated_profiles, round * (N - N / WRONG));
    }
    struct fk_store_stats st;
    fk_store_stats(w->store, &st);
    assert_int_equal(st.committed, N - N / WRONG);
    fk_api_free(w->api);
    fk_store_close(w->store);
    fk_test_rmtree(w->tmp);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(many_travel_together),
        cmocka_unit_test_setup_teardown(answers_as_it_was_asked, setup, teardown),
        cmocka_unit_test_setup_teardown(errors_are_statuses, setup, teardown),
        cmocka_unit_test_setup_teardown(what_is_refused_is_told, setup, teardown),
        cmocka_unit_test_setup_teardown(the_same_again_is_not_stored_again, setup, teardown),
        cmocka_unit_test_setup_teardown(every_address_is_served, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
