// SPDX-License-Identifier: Apache-2.0
// Framings of calls over a real server: Connect (POST, GET, stream), gRPC and gRPC-Web on HTTP/1.1,
// their failures, compression, deadlines; reflection.
#include "http_fixture.h"
#include "rpc/rpc_int.h"

// ---- a server with one unary method that echoes, and reflection ----

static struct fk_http_server *server;
static struct fk_pool *pool;
static struct fx fx; // its address only

static void echo(void *arg, struct fk_http_req *req, struct fk_http_res *res)
{
    const struct fk_size_limit limit = {1000, "--limit-test", "the message"};
    struct fk_rpc rpc;
    struct fk_str message;
    struct fk_err err;
    FK_AUTO_BUF b;
    (void)arg;
    fk_buf_init(&b, 0);
    fk_rpc_open(req, &rpc);
    int rc = fk_rpc_request(&rpc, req, &limit, req->arena, &message, &err);
    if (rc == 0 && fk_str_eq(message, FK_S("busy")))
        rc = fk_fail(&err, FK_E_BUSY, "too much \x01 to do: 100%%");
    if (rc == 0) {
        fk_buf_str(&b, message);
        if (rpc.protocol == FK_RPC_CONNECT)
            fk_http_res_type(res, rpc.type);
        fk_rpc_reply(&rpc, res, &b);
        return;
    }
    struct fk_rpc_failure f = {fk_rpc_code_of(fk_http_status_of(&err)), 0, &err,
                               rc == -FK_E_BUSY ? 2 * FK_NS_PER_S : 0};
    fk_rpc_fail(&rpc, res, &f);
}

static const struct fk_rpc_stream_route reflection = {&fk_rpc_reflection, NULL};
static const struct fk_http_route routes[] = {
    {.method = "POST", .pattern = "/t.S/Echo", .run = echo, .body_max = 1 << 20},
    {.method = "GET", .pattern = "/t.S/Echo", .run = echo},
    {.method = "POST",
     .pattern = "/t.S/Reflect",
     .sink = &fk_rpc_stream_sink,
     .arg = (void *)(uintptr_t)&reflection,
     .error = fk_rpc_http_error,
     .body_max = 1 << 20},
};

static int setup(void **state)
{
    struct fk_err err;
    struct fk_addr any;
    (void)state;
    fk_test_ok(fk_pool_new(&(struct fk_pool_opts){.workers = 2}, &pool, &err), &err);
    struct fk_http_server_opts o = {.routes = routes,
                                    .routes_n = FK_COUNTOF(routes),
                                    .pool = pool,
                                    .limits = fk_http_limits_default()};
    fk_test_ok(fk_http_server_new(&o, &server, &err), &err);
    fk_test_ok(fk_addr_parse(FK_S("127.0.0.1:0"), 0, &any, &err), &err);
    fk_test_ok(fk_http_server_listen(server, &any, &fx.addr, &err), &err);
    fk_test_ok(fk_http_server_start(server, &err), &err);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    fk_http_server_free(server);
    fk_pool_free(pool);
    return 0;
}

// One request on a connection of its own; the whole answer.
static void ask(const char *line, const char *fields, struct fk_str body, struct fk_buf *answer)
{
    FK_AUTO_BUF b;
    fk_buf_init(&b, 0);
    fk_buf_printf(&b,
                  "%s HTTP/1.1\r\nHost: x\r\nConnection: close\r\n%sContent-Length: %zu\r\n\r\n",
                  line, fields, body.n);
    fk_buf_str(&b, body);
    int fd = fx_connect(&fx);
    fx_send(fd, b.p, b.n);
    fk_buf_clear(answer);
    assert_int_equal(fx_read(fd, answer, NULL, 5000), 1);
    fk_net_close(fd);
}

static bool has(const struct fk_buf *b, struct fk_str bytes)
{
    return fk_str_find(fk_buf_view(b), bytes) >= 0;
}

#define POST "POST /t.S/Echo"

// ---- tests ----

static void test_grpc(void **state)
{
    FK_AUTO_BUF b;
    (void)state;
    fk_buf_init(&b, 0);
    ask(POST, "Content-Type: application/grpc+proto\r\nTE: trailers\r\n", FK_S("\0\0\0\0\5hello"),
        &b);
    assert_true(has(&b, FK_S("HTTP/1.1 200")));
    assert_true(has(&b, FK_S("Content-Type: application/grpc+proto")));
    assert_true(has(&b, FK_S("\0\0\0\0\5hello")));
    assert_true(has(&b, FK_S("0\r\ngrpc-status: 0\r\n\r\n")));
    // A failure has no body, and its text is percent-encoded.
    ask(POST, "Content-Type: application/grpc\r\n", FK_S("\0\0\0\0\4busy"), &b);
    assert_true(has(&b, FK_S("HTTP/1.1 200")));
    assert_true(has(&b, FK_S("grpc-status: 14\r\n")));
    assert_true(has(&b, FK_S("grpc-message: too much %01 to do: 100%25\r\n")));
    assert_true(has(&b, FK_S("grpc-status-details-bin: ")));
    assert_true(has(&b, FK_S("Content-Length: 0")));
}

static void test_grpc_web(void **state)
{
    FK_AUTO_BUF b;
    (void)state;
    fk_buf_init(&b, 0);
    ask(POST, "Content-Type: application/grpc-web\r\n", FK_S("\0\0\0\0\2hi"), &b);
    assert_true(has(&b, FK_S("\0\0\0\0\2hi\x80\0\0\0\x10grpc-status: 0\r\n")));
}

static void test_broken_envelopes(void **state)
{
    const struct {
        struct fk_str body;
        const char *status, *text;
    } cases[] = {
        {FK_S(""), "grpc-status: 3", "no whole message"},
        {FK_S("\0\0\0\0"), "grpc-status: 3", "no whole message"},
        {FK_S("\0\0\0\0\5hell"), "grpc-status: 3", "no whole message"},
        {FK_S("\0\0\0\0\1a\0\0\0\0\1b"), "grpc-status: 3", "more than one message"},
        {FK_S("\0\0\0\0\1ab"), "grpc-status: 3", "more than one message"},
        {FK_S("\7\0\0\0\1a"), "grpc-status: 3", "unknown flags 0x07"},
        {FK_S("\1\0\0\0\1a"), "grpc-status: 3", "no field says how"},
        {FK_S("\0\0\0\x3\xe9"), "grpc-status: 3", "--limit-test"},
        {FK_S("\0\xff\xff\xff\xff"), "grpc-status: 3", "--limit-test"},
    };
    FK_AUTO_BUF b;
    (void)state;
    fk_buf_init(&b, 0);
    for (size_t i = 0; i < FK_COUNTOF(cases); i++) {
        ask(POST, "Content-Type: application/grpc\r\n", cases[i].body, &b);
        if (!has(&b, fk_str_of(cases[i].status)) || !has(&b, fk_str_of(cases[i].text)))
            fail_msg("case %zu: %.*s", i, FK_STR_ARG(fk_buf_view(&b)));
    }
}

static void envelope_of(uint8_t flags, struct fk_str bytes, struct fk_buf *b)
{
    fk_buf_clear(b);
    fk_buf_byte(b, flags);
    for (int k = 24; k >= 0; k -= 8)
        fk_buf_byte(b, (uint8_t)(bytes.n >> k));
    fk_buf_str(b, bytes);
}

static void test_compressed(void **state)
{
    FK_AUTO_BUF b, z, body;
    struct fk_err err;
    (void)state;
    fk_buf_init(&b, 0);
    fk_buf_init(&z, 0);
    fk_buf_init(&body, 0);
    fk_test_ok(fk_gzip("hello", 5, 1, &z, &err), &err);
    envelope_of(1, fk_buf_view(&z), &body);
    ask(POST, "Content-Type: application/grpc\r\ngrpc-encoding: gzip\r\n", fk_buf_view(&body), &b);
    assert_true(has(&b, FK_S("\0\0\0\0\5hello")));
    ask(POST, "Content-Type: application/grpc\r\ngrpc-encoding: snappy\r\n", fk_buf_view(&body),
        &b);
    assert_true(has(&b, FK_S("snappy")));
    assert_true(has(&b, FK_S("use gzip")));
    // A bomb is stopped at the limit.
    char *zeros = calloc(1, 1 << 20);
    fk_buf_clear(&z);
    fk_test_ok(fk_gzip(zeros, 1 << 20, 9, &z, &err), &err);
    free(zeros);
    envelope_of(1, fk_buf_view(&z), &body);
    ask(POST, "Content-Type: application/grpc\r\ngrpc-encoding: gzip\r\n", fk_buf_view(&body), &b);
    assert_true(has(&b, FK_S("--limit-test")));
}

static void test_connect(void **state)
{
    FK_AUTO_BUF b;
    (void)state;
    fk_buf_init(&b, 0);
    ask(POST, "Content-Type: application/proto\r\nConnect-Protocol-Version: 1\r\n", FK_S("hello"),
        &b);
    assert_true(has(&b, FK_S("\r\n\r\nhello")));
    ask(POST, "Content-Type: application/proto\r\nConnect-Protocol-Version: 2\r\n", FK_S("hello"),
        &b);
    assert_true(has(&b, FK_S("HTTP/1.1 400")));
    assert_true(has(&b, FK_S("connect-protocol-version is 1")));
    ask(POST, "Content-Type: application/json\r\n", FK_S("busy"), &b);
    assert_true(has(&b, FK_S("HTTP/1.1 503")));
    assert_true(has(&b, FK_S("Retry-After: 2\r\n")));
    assert_true(has(&b, FK_S("{\"code\":\"unavailable\",")));
    // RetryInfo {retry_delay {seconds: 2}} in unpadded base64
    assert_true(has(&b, FK_S("{\"type\":\"google.rpc.RetryInfo\",\"value\":\"CgIIAg\"}")));
}

static void test_connect_get(void **state)
{
    static const struct {
        const char *query, *want;
    } cases[] = {
        {"?connect=v1&encoding=json&message=%7B%7D", "\r\n\r\n{}"},
        {"?encoding=proto&base64=1&message=aGVsbG8", "\r\n\r\nhello"},
        {"?encoding=proto&base64=1&message=aGVsbG8%3D", "\r\n\r\nhello"},
        {"?encoding=proto&base64=1&message=a", "message is no base64"},
        {"?encoding=proto", "message is missing"},
        {"?encoding=proto&compression=br&message=a", "use gzip"},
    };
    FK_AUTO_BUF b;
    char line[200];
    (void)state;
    fk_buf_init(&b, 0);
    for (size_t i = 0; i < FK_COUNTOF(cases); i++) {
        snprintf(line, sizeof(line), "GET /t.S/Echo%s", cases[i].query);
        ask(line, "", FK_S(""), &b);
        if (!has(&b, fk_str_of(cases[i].want)))
            fail_msg("%s: %.*s", line, FK_STR_ARG(fk_buf_view(&b)));
    }
}

static void test_timeouts(void **state)
{
    static const struct {
        const char *name, *value;
        int64_t ns;
    } cases[] = {
        {"grpc-timeout", "10S", 10 * FK_NS_PER_S},
        {"grpc-timeout", "99999999H", INT64_MAX / 4},
        {"grpc-timeout", "100m", 100 * FK_NS_PER_MS},
        {"Grpc-Timeout", "0n", 1},
        {"grpc-timeout", "100000000m", 0}, // nine digits
        {"grpc-timeout", "10", 0},
        {"grpc-timeout", "10X", 0},
        {"grpc-timeout", "-1S", 0},
        {"connect-timeout-ms", "250", 250 * FK_NS_PER_MS},
        {"connect-timeout-ms", "250ms", 0},
        {"connect-timeout-ms", "", 0},
    };
    (void)state;
    for (size_t i = 0; i < FK_COUNTOF(cases); i++) {
        struct fk_http_field f = {fk_str_of(cases[i].name), fk_str_of(cases[i].value)};
        struct fk_http_req req = {.fields = &f, .fields_n = 1};
        if (fk_rpc_timeout(&req) != cases[i].ns)
            fail_msg("%s: %s", cases[i].name, cases[i].value);
    }
}

static void test_codes(void **state)
{
    (void)state;
    for (int i = 0; i <= 16; i++) {
        int status = fk_rpc_code_status((enum fk_rpc_code)i);
        assert_true(i == 0 ? status == 200 : status >= 400);
        assert_true(fk_rpc_code_name((enum fk_rpc_code)i)[0] != '\0');
    }
    assert_int_equal(fk_rpc_code_of(413), FK_RPC_INVALID_ARGUMENT); // not sent again
    assert_int_equal(fk_rpc_code_of(429), FK_RPC_RESOURCE_EXHAUSTED);
    assert_int_equal(fk_rpc_code_of(418), FK_RPC_INTERNAL);
    assert_string_equal(fk_rpc_code_name((enum fk_rpc_code)99), "unknown");
}

// ---- reflection ----

static void reflect(const char *type, struct fk_str question, struct fk_buf *b)
{
    FK_AUTO_BUF body;
    char fields[100];
    fk_buf_init(&body, 0);
    envelope_of(0, question, &body);
    snprintf(fields, sizeof(fields), "Content-Type: %s\r\n", type);
    ask("POST /t.S/Reflect", fields, fk_buf_view(&body), b);
}

static void test_reflection(void **state)
{
    FK_AUTO_BUF b;
    (void)state;
    fk_buf_init(&b, 0);
    reflect("application/grpc", FK_S("\x3a\0"), &b); // list_services
    assert_true(has(&b, FK_S("querier.v1.QuerierService")));
    assert_true(has(&b, FK_S("grpc.health.v1.Health")));
    assert_true(has(&b, FK_S("grpc-status: 0")));
    reflect("application/grpc-web", FK_S("\x22\x21querier.v1.QuerierService.Series"), &b);
    assert_true(has(&b, FK_S("SeriesRequest")) == false); // cut: the length above is one too long
    reflect("application/grpc-web", FK_S("\x22\x20querier.v1.QuerierService.Series"), &b);
    assert_true(has(&b, FK_S("SelectHeatmapRequest")));
    assert_true(has(&b, FK_S("google/v1/profile.proto"))); // imports come along
    reflect("application/connect+proto", FK_S("\x1a\x14types/v1/types.proto"), &b);
    assert_true(has(&b, FK_S("LabelPair")));
    assert_true(has(&b, FK_S("\2\0\0\0\2{}"))); // the outcome
    reflect("application/grpc", FK_S("\x22\x07no.such"), &b);
    assert_true(has(&b, FK_S("nothing here is called no.such")));
    reflect("application/grpc", FK_S("\x22\x20querier.v1.QuerierServiceXSeries"), &b);
    assert_true(has(&b, FK_S("nothing here")));
    reflect("application/grpc", FK_S(""), &b);
    assert_true(has(&b, FK_S("asks for nothing")));
    reflect("application/json", FK_S("{}"), &b);
    assert_true(has(&b, FK_S("HTTP/1.1 415")));
    ask("POST /t.S/Reflect", "Content-Type: application/grpc\r\n", FK_S("\0\0\0\0\5x"), &b);
    assert_true(has(&b, FK_S("in the midst of a message")));
    ask("POST /t.S/Reflect", "Content-Type: application/grpc\r\n", FK_S("\0\0\xff\0\5x"), &b);
    assert_true(has(&b, FK_S("grpc-status: 8")));
}

// A client that asks and asks is answered up to a limit.
static void test_stream_is_bounded(void **state)
{
    FK_AUTO_BUF b, body;
    (void)state;
    fk_buf_init(&b, 0);
    fk_buf_init(&body, 0);
    for (int i = 0; i < 2000; i++)
        fk_buf_str(&body, FK_S("\0\0\0\0\x16\x1a\x14types/v1/types.proto"));
    ask("POST /t.S/Reflect", "Content-Type: application/grpc\r\n", fk_buf_view(&body), &b);
    assert_true(has(&b, FK_S("grpc-status: 8")));
    assert_true(b.n < 2 << 20);
}

static void test_services(void **state)
{
    (void)state;
    assert_true(fk_rpc_has_service(FK_S("push.v1.PusherService")));
    assert_false(fk_rpc_has_service(FK_S("push.v1.Pusher")));
    assert_false(fk_rpc_has_service(FK_S("")));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_grpc),
        cmocka_unit_test(test_grpc_web),
        cmocka_unit_test(test_broken_envelopes),
        cmocka_unit_test(test_compressed),
        cmocka_unit_test(test_connect),
        cmocka_unit_test(test_connect_get),
        cmocka_unit_test(test_timeouts),
        cmocka_unit_test(test_codes),
        cmocka_unit_test(test_reflection),
        cmocka_unit_test(test_stream_is_bounded),
        cmocka_unit_test(test_services),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
