// SPDX-License-Identifier: Apache-2.0
// The client against our server, and against servers that misbehave.
#include "http_fixture.h"

static char *url_of(const struct fk_addr *a, const char *path)
{
    char text[FK_ADDR_CHARS], *url = malloc(FK_ADDR_CHARS + 100);
    fk_addr_format(a, text);
    snprintf(url, FK_ADDR_CHARS + 100, "http://%s%s", text, path);
    return url;
}

static struct fk_http_client *client(const struct fk_addr *a, const char *path)
{
    struct fk_err err;
    struct fk_http_client *c;
    char *url = url_of(a, path);
    struct fk_http_client_opts o = {.url = url, .total_ns = 20 * FK_NS_PER_S};
    fk_test_ok(fk_http_client_new(&o, &c, &err), &err);
    free(url);
    return c;
}

static void test_calls(void **state)
{
    (void)state;
    struct fx fx;
    struct fk_err err;
    struct fk_http_reply r;
    struct fk_http_stats st;
    fx_start(&fx, fx_opts());
    struct fk_http_client *c = client(&fx.addr, "//item/");
    struct fk_http_ask get = {.method = "GET", .path = FK_S("/a%20b"), .query = FK_S("x=1")};
    for (int i = 0; i < 3; i++) {
        fk_test_ok(fk_http_client_call(c, &get, &r, &err), &err);
        assert_int_equal(r.status, 200);
        assert_true(fk_str_eq(fk_buf_view(&r.body), FK_S("item a b")));
        assert_true(fk_str_eq(fk_http_reply_field(&r, "content-length"), FK_S("8")));
        fk_http_reply_free(&r);
    }
    fk_http_server_stats(fx.server, &st);
    assert_int_equal(st.accepted, 1); // the connection was kept
    fk_http_client_free(c);
    c = client(&fx.addr, "");
    struct fk_http_ask head = {.method = "HEAD", .path = FK_S("/json")};
    fk_test_ok(fk_http_client_call(c, &head, &r, &err), &err);
    assert_int_equal(r.body.n, 0);
    fk_http_reply_free(&r);
    struct fk_http_field fields[] = {{FK_S("X-Locked"), FK_S("1")},
                                     {FK_S("Accept-Encoding"), FK_S("gzip")}};
    struct fk_http_ask zipped = {
        .method = "GET", .path = FK_S("/json"), .fields = fields, .fields_n = 2};
    fk_test_ok(fk_http_client_call(c, &zipped, &r, &err), &err);
    assert_true(fk_str_eq(fk_http_reply_field(&r, "Content-Encoding"), FK_S("gzip")));
    assert_null(fk_http_reply_field(&r, "X-None").p);
    fk_http_reply_free(&r);
    struct fk_http_ask no = {.method = "GET", .path = FK_S("/nothing")};
    fk_test_ok(fk_http_client_call(c, &no, &r, &err), &err);
    assert_int_equal(r.status, 404);
    assert_true(fx_has(&r.body, "there is nothing at /nothing"));
    fk_http_reply_free(&r);
    fk_http_client_free(c);
    fx_stop(&fx);
}

static int count_out(void *arg, const void *p, size_t n, struct fk_err *err)
{
    (void)p;
    (void)err;
    *(size_t *)arg += n;
    return 0;
}

static int fail_out(void *arg, const void *p, size_t n, struct fk_err *err)
{
    (void)arg;
    (void)p;
    (void)n;
    return fk_fail(err, FK_E_FULL, "no room");
}

static void test_bodies(void **state)
{
    (void)state;
    struct fx fx;
    struct fk_err err;
    struct fk_http_reply r;
    fx_start(&fx, fx_opts());
    struct fk_http_client *c = client(&fx.addr, "");
    size_t n = (size_t)12 << 20, got = 0;
    char *body = malloc(n), want[100];
    for (size_t i = 0; i < n; i++)
        body[i] = (char)fk_hash_u64(i);
    struct fk_str bytes = {body, n};
    struct fk_source source = fk_source_bytes(&bytes);
    struct fk_http_ask post = {
        .method = "POST", .path = FK_S("/big"), .source = &source, .has_body = true};
    snprintf(want, sizeof(want), "%zu %016llx file|", n, (unsigned long long)fk_checksum(body, n));
    fk_test_ok(fk_http_client_call(c, &post, &r, &err), &err);
    assert_true(fx_has(&r.body, want));
    fk_http_reply_free(&r);
    post.source = NULL;
    post.body = bytes;
    fk_test_ok(fk_http_client_call(c, &post, &r, &err), &err);
    assert_true(fx_has(&r.body, want));
    fk_http_reply_free(&r);
    // Refused early: the answer is read although the body was not taken.
    post.path = FK_S("/a");
    fk_test_ok(fk_http_client_call(c, &post, &r, &err), &err);
    assert_int_equal(r.status, 413);
    fk_http_reply_free(&r);
    free(body);
    struct fk_out out = {count_out, &got}, full = {fail_out, NULL};
    struct fk_http_ask get = {
        .method = "GET", .path = FK_S("/stream"), .query = FK_S("n=3000000"), .out = &out};
    fk_test_ok(fk_http_client_call(c, &get, &r, &err), &err);
    assert_int_equal(got, 3000000);
    assert_int_equal(r.body_bytes, got);
    fk_http_reply_free(&r);
    get.out = &full;
    fk_test_fails(fk_http_client_call(c, &get, &r, &err), FK_E_FULL);
    fk_http_reply_free(&r);
    // Cut off by the server within a chunked body.
    get.out = &out;
    get.query = FK_S("n=200000&abort=1");
    fk_test_fails(fk_http_client_call(c, &get, &r, &err), FK_E_IO);
    fk_http_reply_free(&r);
    fk_http_client_free(c);
    fx_stop(&fx);
}

static void test_cancel_and_timeout(void **state)
{
    (void)state;
    struct fx fx;
    struct fk_err err;
    struct fk_http_reply r;
    fx_start(&fx, fx_opts());
    struct fk_cancel cancel = {0};
    fk_cancel_set(&cancel, FK_E_CANCELLED);
    struct fk_http_client *c = client(&fx.addr, "");
    struct fk_http_ask get = {.method = "GET", .path = FK_S("/wait"), .cancel = &cancel};
    fk_test_fails(fk_http_client_call(c, &get, &r, &err), FK_E_CANCELLED);
    fk_http_reply_free(&r);
    fk_http_client_free(c);
    char *url = url_of(&fx.addr, "");
    struct fk_http_client_opts o = {
        .url = url, .total_ns = 50 * FK_NS_PER_MS, .body_max = 1000, .body_flag = "--limit-test"};
    fk_test_ok(fk_http_client_new(&o, &c, &err), &err);
    get.cancel = NULL;
    fk_test_fails(fk_http_client_call(c, &get, &r, &err), FK_E_TIMEOUT);
    fk_http_reply_free(&r);
    fk_http_client_free(c);
    o.total_ns = 0;
    fk_test_ok(fk_http_client_new(&o, &c, &err), &err);
    get.path = FK_S("/json");
    fk_test_fails(fk_http_client_call(c, &get, &r, &err), FK_E_LIMIT);
    assert_non_null(strstr(err.msg, "--limit-test"));
    fk_http_reply_free(&r);
    fk_http_client_free(c);
    free(url);
    fx_stop(&fx);
}

// --- a server that says what the row says, to whoever connects ---
struct liar {
    int fd;
    const char *says;
    struct fk_thread thread;
};

static void lie(void *arg)
{
    struct liar *l = arg;
    struct fk_err err;
    uint32_t ready;
    char in[4096];
    size_t n;
    int fd;
    if (fk_net_wait(l->fd, FK_READY_IN, 10 * FK_NS_PER_S, &ready, &err) || !ready ||
        fk_net_accept(l->fd, &fd, NULL, &err))
        return;
    fk_net_wait(fd, FK_READY_IN, 10 * FK_NS_PER_S, &ready, &err);
    fk_net_read(fd, in, sizeof(in), &n, &err);
    fx_say(fd, l->says);
    fk_net_end_writes(fd);
    while (fk_net_wait(fd, FK_READY_IN, 10 * FK_NS_PER_S, &ready, &err) == 0 && ready &&
           fk_net_read(fd, in, sizeof(in), &n, &err) == FK_IO_OK)
        ;
    fk_net_close(fd);
}

static void test_odd_servers(void **state)
{
    (void)state;
    static const struct {
        const char *says;
        int code; // of the call
        const char *body;
    } rows[] = {
        {"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", 0, "ok"},
        {"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", 0, "ok"},
        {"HTTP/1.0 200 OK\r\n\r\nuntil the end", 0, "until the end"},
        {"HTTP/1.1 204 No Content\r\n\r\n", 0, ""},
        {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\nA: b\r\n\r\n", 0,
         "ok"},
        {"HTTP/1.1 302 Found\r\nLocation: http://else.where/\r\nContent-Length: 0\r\n\r\n",
         FK_E_UNSUPPORTED, NULL},
        {"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nok", FK_E_IO, NULL},
        {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nok", FK_E_IO, NULL},
        {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nok", FK_E_FORMAT, NULL},
        {"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n", FK_E_FORMAT, NULL},
        {"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\nok", FK_E_FORMAT, NULL},
        {"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\nok",
         FK_E_FORMAT, NULL},
        {"HTTP/1.1 200 OK\r\nContent-Len", FK_E_FORMAT, NULL},
        {"SSH-2.0-OpenSSH_9.2\r\n\r\n", FK_E_FORMAT, NULL},
        {"", FK_E_IO, NULL},
    };
    for (size_t i = 0; i < FK_COUNTOF(rows); i++) {
        struct liar l = {.says = rows[i].says};
        struct fk_err err;
        struct fk_addr any, addr;
        struct fk_listen_opts lo = {0};
        struct fk_http_reply r;
        fk_test_ok(fk_addr_parse(FK_S("127.0.0.1:0"), 0, &any, &err), &err);
        fk_test_ok(fk_net_listen(&any, &lo, &l.fd, &addr, &err), &err);
        fk_test_ok(fk_thread_start(&l.thread, "liar", lie, &l, &err), &err);
        struct fk_http_client *c = client(&addr, "");
        struct fk_http_ask ask = {.method = "GET", .path = FK_S("/")};
        int rc = fk_http_client_call(c, &ask, &r, &err);
        if (rc != -rows[i].code ||
            (rows[i].body && !fk_str_eq(fk_buf_view(&r.body), fk_str_of(rows[i].body))))
            fail_msg("%s: %d %s", rows[i].says, rc, rc ? err.msg : "");
        fk_http_reply_free(&r);
        fk_http_client_free(c);
        fk_thread_join(&l.thread);
        fk_net_close(l.fd);
    }
}

static void test_refused_before_a_byte_is_sent(void **state)
{
    (void)state;
    struct fk_err err;
    struct fk_http_client *c;
    static const char *const bad[] = {"",
                                      "localhost:4040",
                                      "ftp://x/",
                                      "http://",
                                      "http://:80/",
                                      "http://x:0/",
                                      "http://x:99999/",
                                      "http://u@x/",
                                      "http://x/a b",
                                      "http://[::1/",
                                      "http://x/?q"};
    for (size_t i = 0; i < FK_COUNTOF(bad); i++) {
        struct fk_http_client_opts o = {.url = bad[i]};
        if (fk_http_client_new(&o, &c, &err) != -FK_E_INVALID)
            fail_msg("\"%s\" was taken", bad[i]);
    }
    struct fk_http_client_opts https = {.url = "https://x/", .ca = "/no/such/file"};
    fk_test_fails(fk_http_client_new(&https, &c, &err), FK_E_INVALID);
    assert_string_equal(err.param, "--ca");
    struct fk_http_client_opts ok = {.url = "http://[::1]:4040/x/"};
    fk_test_ok(fk_http_client_new(&ok, &c, &err), &err);
    struct fk_http_reply r;
    struct fk_http_field evil[] = {
        {FK_S("A"), FK_S("b\r\nC: d")}, {FK_S("A b"), FK_S("")}, {FK_S(""), FK_S("")}};
    for (size_t i = 0; i < FK_COUNTOF(evil); i++) {
        struct fk_http_ask ask = {
            .method = "GET", .path = FK_S("/"), .fields = &evil[i], .fields_n = 1};
        fk_test_fails(fk_http_client_call(c, &ask, &r, &err), FK_E_INVALID);
        fk_http_reply_free(&r);
    }
    struct fk_http_ask ask = {.method = "GET", .path = FK_S("/a b")};
    fk_test_fails(fk_http_client_call(c, &ask, &r, &err), FK_E_INVALID);
    fk_http_reply_free(&r);
    fk_http_client_free(c);
    struct fk_http_client_opts none = {.url = "http://127.0.0.1:1/"};
    fk_test_ok(fk_http_client_new(&none, &c, &err), &err);
    ask.path = FK_S("/");
    fk_test_fails(fk_http_client_call(c, &ask, &r, &err), FK_E_IO);
    assert_non_null(strstr(err.msg, "127.0.0.1:1"));
    fk_http_reply_free(&r);
    fk_http_client_free(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_calls),
        cmocka_unit_test(test_bodies),
        cmocka_unit_test(test_cancel_and_timeout),
        cmocka_unit_test(test_odd_servers),
        cmocka_unit_test(test_refused_before_a_byte_is_sent),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
