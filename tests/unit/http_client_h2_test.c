// SPDX-License-Identifier: Apache-2.0
// The client's HTTP/2 against our own server, and what it asks again.
#include "http_fixture.h"

static struct fx fx;

static int setup(void **state)
{
    (void)state;
    fx_start(&fx, fx_opts());
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    fx_stop(&fx);
    return 0;
}

static struct fk_http_client *client_of(const struct fk_addr *a, bool http2, unsigned tries)
{
    char text[FK_ADDR_CHARS], url[FK_ADDR_CHARS + 16];
    struct fk_http_client *c;
    struct fk_err err;
    fk_addr_format(a, text);
    snprintf(url, sizeof(url), "http://%s", text);
    struct fk_http_client_opts o = {
        .url = url, .total_ns = 20 * FK_NS_PER_S, .http2 = http2, .tries = tries};
    fk_test_ok(fk_http_client_new(&o, &c, &err), &err);
    return c;
}

static void test_calls(void **state)
{
    struct fk_http_client *c = client_of(&fx.addr, true, 0);
    struct fk_http_stats before, after;
    struct fk_http_reply r;
    struct fk_err err;
    (void)state;
    fk_http_server_stats(fx.server, &before);
    struct fk_http_ask get = {.method = "GET", .path = FK_S("/item/a%20b"), .query = FK_S("x=1")};
    for (int i = 0; i < 3; i++) {
        fk_test_ok(fk_http_client_call(c, &get, &r, &err), &err);
        assert_int_equal(r.status, 200);
        assert_true(fk_str_eq(fk_buf_view(&r.body), FK_S("item a b")));
        assert_true(fk_str_eq(fk_http_reply_field(&r, "content-length"), FK_S("8")));
        fk_http_reply_free(&r);
    }
    fk_http_server_stats(fx.server, &after);
    assert_int_equal(after.accepted - before.accepted, 1); // the connection was kept
    struct fk_http_ask head = {.method = "HEAD", .path = FK_S("/json")};
    fk_test_ok(fk_http_client_call(c, &head, &r, &err), &err);
    assert_int_equal(r.status, 200);
    assert_int_equal(r.body.n, 0);
    fk_http_reply_free(&r);
    struct fk_http_field fields[] = {{FK_S("Accept-Encoding"), FK_S("gzip")},
                                     {FK_S("Connection"), FK_S("keep-alive")}};
    struct fk_http_ask zipped = {
        .method = "GET", .path = FK_S("/json"), .fields = fields, .fields_n = 2};
    fk_test_ok(fk_http_client_call(c, &zipped, &r, &err), &err);
    assert_true(fk_str_eq(fk_http_reply_field(&r, "Content-Encoding"), FK_S("gzip")));
    fk_http_reply_free(&r);
    struct fk_http_ask no = {.method = "GET", .path = FK_S("/nothing")};
    fk_test_ok(fk_http_client_call(c, &no, &r, &err), &err);
    assert_int_equal(r.status, 404);
    fk_http_reply_free(&r);
    fk_http_client_free(c);
}

static int count_out(void *arg, const void *p, size_t n, struct fk_err *err)
{
    (void)p, (void)err;
    *(uint64_t *)arg += n;
    return 0;
}

static int read_zeros(void *arg, uint64_t at, void *to, size_t n, struct fk_err *err)
{
    (void)arg, (void)at, (void)err;
    memset(to, 0, n);
    return 0;
}

// Idle connections are closed by servers; what may not be sent twice must not be lost in one.
static void test_idle(void **state)
{
    struct fk_http_server_opts o = fx_opts();
    struct fx idle;
    struct fk_http_stats stats;
    struct fk_http_reply r;
    struct fk_err err;
    (void)state;
    o.limits.idle_ns = 50 * FK_NS_PER_MS;
    o.limits.linger_ns = 50 * FK_NS_PER_MS;
    fx_start(&idle, o);
    struct fk_http_client *c = client_of(&idle.addr, true, 0);
    struct fk_http_ask post = {
        .method = "POST", .path = FK_S("/a"), .body = FK_S("abc"), .has_body = true};
    for (int i = 0; i < 2; i++) {
        fk_test_ok(fk_http_client_call(c, &post, &r, &err), &err);
        assert_int_equal(r.status, 200);
        fk_http_reply_free(&r);
        fx_wait_for((fk_http_server_stats(idle.server, &stats), stats.open == 0));
    }
    fk_http_client_free(c);
    fx_stop(&idle);
}

static void test_bodies(void **state)
{
    struct fk_http_client *c = client_of(&fx.addr, true, 0);
    struct fk_http_reply r;
    struct fk_err err;
    uint64_t got = 0;
    char want[64];
    (void)state;
    // Longer than both windows.
    const size_t n = 12 << 20;
    char *zeros = calloc(1, n);
    struct fk_source source = {.size = n, .read_at = read_zeros};
    struct fk_http_ask post = {
        .method = "POST", .path = FK_S("/big"), .source = &source, .has_body = true};
    fk_test_ok(fk_http_client_call(c, &post, &r, &err), &err);
    assert_int_equal(r.status, 200);
    snprintf(want, sizeof(want), "%zu %016llx", n, (unsigned long long)fk_checksum(zeros, n));
    assert_true(fk_str_starts(fk_buf_view(&r.body), fk_str_of(want)));
    fk_http_reply_free(&r);
    free(zeros);
    struct fk_http_ask empty = {.method = "POST", .path = FK_S("/a"), .has_body = true};
    fk_test_ok(fk_http_client_call(c, &empty, &r, &err), &err);
    assert_true(fk_str_starts(fk_buf_view(&r.body), FK_S("0 ")));
    fk_http_reply_free(&r);
    struct fk_out out = {count_out, &got};
    struct fk_http_ask stream = {
        .method = "GET", .path = FK_S("/stream"), .query = FK_S("n=9000000"), .out = &out};
    fk_test_ok(fk_http_client_call(c, &stream, &r, &err), &err);
    assert_int_equal(got, 9000000);
    assert_true(fk_str_eq(fk_http_reply_field(&r, "x-end"), FK_S("yes"))); // a trailer
    fk_http_reply_free(&r);
    stream.query = FK_S("n=9000&abort=1");
    assert_true(fk_http_client_call(c, &stream, &r, &err) < 0);
    fk_http_reply_free(&r);
    // Too large a body is refused before it is sent whole; the next call goes on.
    source.size = FX_BODY_MAX + 1;
    post.path = FK_S("/a");
    fk_test_ok(fk_http_client_call(c, &post, &r, &err), &err);
    assert_int_equal(r.status, 413);
    fk_http_reply_free(&r);
    fk_test_ok(fk_http_client_call(c, &empty, &r, &err), &err);
    fk_http_reply_free(&r);
    fk_http_client_free(c);
}

static void test_cancel(void **state)
{
    struct fk_http_client *c = client_of(&fx.addr, true, 3);
    struct fk_cancel cancel = {0};
    struct fk_http_reply r;
    struct fk_err err;
    (void)state;
    fk_cancel_set(&cancel, FK_E_CANCELLED);
    struct fk_http_ask wait = {.method = "GET", .path = FK_S("/wait"), .cancel = &cancel};
    fk_test_fails(fk_http_client_call(c, &wait, &r, &err), FK_E_CANCELLED);
    fk_http_reply_free(&r);
    struct fk_http_ask get = {.method = "GET", .path = FK_S("/item/x")};
    fk_test_ok(fk_http_client_call(c, &get, &r, &err), &err);
    fk_http_reply_free(&r);
    fk_http_client_free(c);
}

// An HTTP/1.1 server that is spoken to in HTTP/2, and none at all.
static void test_no_http2_there(void **state)
{
    struct fk_http_reply r;
    struct fk_err err;
    struct fk_addr a;
    int fd;
    (void)state;
    fk_test_ok(fk_addr_parse(FK_S("127.0.0.1:0"), 0, &a, &err), &err);
    fk_test_ok(fk_net_listen(&a, &(struct fk_listen_opts){0}, &fd, &a, &err), &err);
    struct fk_http_client *c = client_of(&a, true, 2);
    fk_net_close(fd);
    struct fk_http_ask get = {.method = "GET", .path = FK_S("/")};
    fk_test_fails(fk_http_client_call(c, &get, &r, &err), FK_E_IO);
    fk_http_reply_free(&r);
    fk_http_client_free(c);
}

// Each allocation of a call fails once: an error, never a wrong answer or a leak.
static void test_memory(void **state)
{
    struct fk_http_field fields[] = {{FK_S("X-One"), FK_S("1")}, {FK_S("X-Two"), FK_S("2")}};
    struct fk_http_ask get = {
        .method = "GET", .path = FK_S("/item/x"), .fields = fields, .fields_n = 2};
    struct fk_http_reply r = {0};
    struct fk_err err = {0};
    bool done = false;
    (void)state;
    for (uint64_t k = 1; !done && k < 1000; k++) {
        struct fk_http_client *c = client_of(&fx.addr, true, 0);
        fk_mem_fail_after(k, true);
        int rc = fk_http_client_call(c, &get, &r, &err);
        done = fk_mem_failed() == 0;
        fk_mem_fail_after(0, false);
        if (rc == 0)
            assert_true(fk_str_eq(fk_buf_view(&r.body), FK_S("item x")));
        assert_true(!done || rc == 0);
        fk_http_reply_free(&r);
        fk_http_client_free(c);
    }
    assert_true(done);
}

// ---- once more ----

static _Atomic int asked, failures, failing;

static void flaky(void *arg, struct fk_http_req *req, struct fk_http_res *res)
{
    (void)arg, (void)req;
    asked++;
    if (failures-- > 0) {
        fk_http_res_status(res, failing);
        fk_http_res_copy(res, FK_S("not now"));
        return;
    }
    fk_http_res_copy(res, FK_S("done"));
}

static int ask_flaky(struct fk_http_client *c, const char *method, bool repeatable, int status,
                     int times)
{
    struct fk_http_reply r;
    struct fk_err err;
    struct fk_http_ask a = {.method = method, .path = FK_S("/flaky"), .repeatable = repeatable};
    asked = 0;
    failing = status;
    failures = times;
    fk_test_ok(fk_http_client_call(c, &a, &r, &err), &err);
    status = r.status;
    assert_true(fk_str_eq(fk_buf_view(&r.body), status == 200 ? FK_S("done") : FK_S("not now")));
    fk_http_reply_free(&r);
    return status;
}

static void test_tries(void **state)
{
    static const struct fk_http_route routes[] = {
        {.method = "GET", .pattern = "/flaky", .run = flaky},
        {.method = "POST", .pattern = "/flaky", .run = flaky}};
    struct fk_http_server *server;
    struct fk_addr any, bound;
    struct fk_err err;
    (void)state;
    struct fk_http_server_opts o = {.routes = routes,
                                    .routes_n = FK_COUNTOF(routes),
                                    .pool = fx.pool,
                                    .limits = fk_http_limits_default()};
    fk_test_ok(fk_http_server_new(&o, &server, &err), &err);
    fk_test_ok(fk_addr_parse(FK_S("127.0.0.1:0"), 0, &any, &err), &err);
    fk_test_ok(fk_http_server_listen(server, &any, &bound, &err), &err);
    fk_test_ok(fk_http_server_start(server, &err), &err);
    for (int http2 = 0; http2 < 2; http2++) {
        struct fk_http_client *c = client_of(&bound, http2, 3);
        assert_int_equal(ask_flaky(c, "GET", false, 503, 2), 200);
        assert_int_equal(asked, 3);
        assert_int_equal(ask_flaky(c, "GET", false, 502, 9), 502);
        assert_int_equal(asked, 3);
        assert_int_equal(ask_flaky(c, "GET", false, 500, 9), 500); // no matter of time
        assert_int_equal(asked, 1);
        assert_int_equal(ask_flaky(c, "POST", false, 502, 9), 502); // may have been done
        assert_int_equal(asked, 1);
        assert_int_equal(ask_flaky(c, "POST", false, 429, 1), 200); // was not done
        assert_int_equal(asked, 2);
        assert_int_equal(ask_flaky(c, "POST", true, 504, 1), 200);
        assert_int_equal(asked, 2);
        fk_http_client_free(c);
    }
    fk_http_server_free(server);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_calls),          cmocka_unit_test(test_bodies),
        cmocka_unit_test(test_idle),           cmocka_unit_test(test_cancel),
        cmocka_unit_test(test_no_http2_there), cmocka_unit_test(test_tries),
        cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
