// SPDX-License-Identifier: Apache-2.0
// HTTP/2 as it should go: requests, answers, windows, trailers, cancelling, the graceful end; and
// what RFC 9113 says of requests that are malformed.
#include "h2_fixture.h"

static void test_requests(void **state)
{
    (void)state;
    struct fx fx;
    struct h2 c;
    struct fk_http_stats st;
    fx_start(&fx, fx_opts());
    h2_open(&c, &fx);
    h2_get(&c, 1, "/a");
    h2_get(&c, 3, "/nothing");
    h2_get(&c, 5, "/show?x=1");
    h2_headers(&c, 7, H2_HEAD("HEAD", "/a"), true);
    h2_headers(&c, 9, H2_HEAD("DELETE", "/a"), true);
    h2_headers(&c, 11, H2_HEAD("POST", "/a") "content-length: 5\n", false);
    h2_data(&c, 11, "xxxxx", 5, true);
    h2_headers(&c, 13, H2_HEAD("OPTIONS", "*"), true);
    assert_int_equal(h2_over(&c, 1)->status, 200);
    assert_true(h2_has(&c.s[0].head, "content-length: 6\n"));
    assert_true(h2_has(&c.s[0].head, "date: "));
    assert_true(h2_has(&c.s[0].body, "hello\n"));
    assert_int_equal(h2_over(&c, 3)->status, 404);
    assert_true(h2_has(&h2_over(&c, 5)->body, "20 GET /show?x=1 host=x\n"));
    assert_int_equal(h2_over(&c, 7)->status, 200);
    assert_true(h2_has(&c.s[3].head, "content-length: 6\n"));
    assert_int_equal(c.s[3].body.n, 0);
    assert_int_equal(h2_over(&c, 9)->status, 405);
    assert_true(h2_has(&c.s[4].head, "allow: GET, HEAD, POST\n"));
    assert_true(h2_has(&h2_over(&c, 11)->body, "5 "));
    assert_int_equal(h2_over(&c, 13)->status, 404);
    fk_http_server_stats(fx.server, &st);
    assert_int_equal(st.h2_connections, 1);
    assert_int_equal(st.h2_streams, 7);
    assert_int_equal(st.h2_resets, 0);
    fx_wait_for(fx.accesses == 7);
    h2_close(&c);
    fx_stop(&fx);
}

// Many at once: a slow one holds up no other.
static void test_many_at_once(void **state)
{
    (void)state;
    struct fx fx;
    struct h2 c;
    fx_start(&fx, fx_opts());
    h2_open(&c, &fx);
    h2_setting(&c, NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, 1u << 20);
    h2_window(&c, 0, 1u << 30);
    h2_get(&c, 1, "/wait");
    fx_wait_for(fx.started == 1);
    for (uint32_t id = 3; id < 199; id += 2)
        h2_get(&c, id, id % 4 == 1 ? "/json" : "/item/a");
    for (uint32_t id = 3; id < 199; id += 2)
        assert_int_equal(h2_over(&c, id)->status, 200);
    assert_int_equal(c.s[2].body.n, 100002); // id 5
    assert_int_equal(c.s[0].status, 0);
    fx.release = 1;
    assert_true(h2_has(&h2_over(&c, 1)->body, "waited"));
    h2_close(&c);
    fx_stop(&fx);
}

struct bad_row {
    const char *name, *lines;
    int status;    // 0: RST_STREAM
    uint32_t code; // beside a status: newer nghttp2 refuses it first
};

#define GETS ":method: GET\n:scheme: http\n:authority: x\n"

static const struct bad_row bad_rows[] = {
    {"upper case", H2_HEAD("GET", "/a") "Abc: d\n", 0, NGHTTP2_PROTOCOL_ERROR},
    {"no path", GETS, 0, NGHTTP2_PROTOCOL_ERROR},
    {"no method", ":path: /a\n:scheme: http\n:authority: x\n", 0, NGHTTP2_PROTOCOL_ERROR},
    {"no scheme", ":path: /a\n:method: GET\n:authority: x\n", 0, NGHTTP2_PROTOCOL_ERROR},
    {"no host", ":path: /a\n:method: GET\n:scheme: http\n", 0, NGHTTP2_PROTOCOL_ERROR},
    {"path twice", H2_HEAD("GET", "/a") ":path: /b\n", 0, NGHTTP2_PROTOCOL_ERROR},
    {"unknown pseudo", H2_HEAD("GET", "/a") ":abc: d\n", 0, NGHTTP2_PROTOCOL_ERROR},
    {"status", H2_HEAD("GET", "/a") ":status: 200\n", 0, NGHTTP2_PROTOCOL_ERROR},
    {"pseudo late", ":method: GET\n:scheme: http\n:authority: x\na: b\n:path: /a\n", 0,
     NGHTTP2_PROTOCOL_ERROR},
    {"connection", H2_HEAD("GET", "/a") "connection: close\n", 0, NGHTTP2_PROTOCOL_ERROR},
    {"keep-alive", H2_HEAD("GET", "/a") "keep-alive: 5\n", 0, NGHTTP2_PROTOCOL_ERROR},
    {"transfer-encoding", H2_HEAD("GET", "/a") "transfer-encoding: chunked\n", 0,
     NGHTTP2_PROTOCOL_ERROR},
    {"upgrade", H2_HEAD("GET", "/a") "upgrade: h2c\n", 0, NGHTTP2_PROTOCOL_ERROR},
    {"te", H2_HEAD("GET", "/a") "te: gzip\n", 0, NGHTTP2_PROTOCOL_ERROR},
    {"length is no number", H2_HEAD("GET", "/a") "content-length: 1x\n", 0, NGHTTP2_PROTOCOL_ERROR},
    {"length twice", H2_HEAD("GET", "/a") "content-length: 0\ncontent-length: 0\n", 0,
     NGHTTP2_PROTOCOL_ERROR},
    {"length without a body", H2_HEAD("GET", "/a") "content-length: 5\n", 0,
     NGHTTP2_PROTOCOL_ERROR},
    {"path without a slash", GETS ":path: a\n", 0, NGHTTP2_PROTOCOL_ERROR},
    {"absolute path", GETS ":path: http://x/a\n", 0, NGHTTP2_PROTOCOL_ERROR},
    {"te: trailers", H2_HEAD("GET", "/a") "te: trailers\n", 200, 0},
    {"fragment", GETS ":path: /a#b\n", 400, 0},
    {"asterisk", GETS ":path: *\n", 0, NGHTTP2_PROTOCOL_ERROR},
    {"two hosts", H2_HEAD("GET", "/a") "host: y\n", 400, 0},
    {"the same host", H2_HEAD("GET", "/a") "host: x\n", 200, 0},
    {"host only", ":path: /a\n:method: GET\n:scheme: http\nhost: x\n", 200, 0},
    {"host with a path", ":path: /a\n:method: GET\n:scheme: http\nhost: x/y\n", 0,
     NGHTTP2_PROTOCOL_ERROR},
    {"user in the authority", ":path: /a\n:method: GET\n:scheme: http\n:authority: a@b\n", 400,
     NGHTTP2_PROTOCOL_ERROR},
    {"other scheme", ":path: /a\n:method: GET\n:scheme: ftp\n:authority: x\n", 400, 0},
    {"https", ":path: /a\n:method: GET\n:scheme: https\n:authority: x\n", 200, 0},
    {"unknown method", H2_HEAD("BREW", "/a"), 501, 0},
    {"CONNECT", ":method: CONNECT\n:authority: x:80\n", 501, 0},
    {"other Expect", H2_HEAD("GET", "/a") "expect: 200-ok\n", 417, 0},
    {"control character", H2_HEAD("GET", "/a") "a: b\x01\n", 400, 0},
    {"carriage return", H2_HEAD("GET", "/a") "a: b\rc\n", 400, 0},
    {"bracket in a name", H2_HEAD("GET", "/a") "a[: b\n", 400, 0},
    {"high bytes", H2_HEAD("GET", "/a") "a: \xc3\xa9\n", 200, 0},
    {"NUL in the path", H2_HEAD("GET", "/item/%00"), 400, 0},
};

// Each on one connection, which goes on.
static void test_malformed(void **state)
{
    (void)state;
    struct fx fx;
    struct h2 c;
    int bad = 0;
    fx_start(&fx, fx_opts());
    h2_open(&c, &fx);
    for (size_t i = 0; i < FK_COUNTOF(bad_rows); i++) {
        const struct bad_row *r = &bad_rows[i];
        uint32_t id = (uint32_t)(4 * i + 1);
        h2_headers(&c, id, r->lines, true);
        struct h2_answer *a = h2_over(&c, id);
        h2_get(&c, id + 2, "/a");
        bool alive = h2_over(&c, id + 2)->status == 200;
        bool reset = a->status == 0 && r->code && a->code == r->code;
        if (!alive || (!reset && (r->status == 0 || a->status != r->status))) {
            print_error("%s: status %d, want %d, reset %d code %u, alive %d\n", r->name, a->status,
                        r->status, a->reset, (unsigned)a->code, alive);
            bad++;
        }
        if (c.closed)
            break;
    }
    assert_int_equal(bad, 0);
    h2_close(&c);
    fx_stop(&fx);
}

static void test_cookies(void **state)
{
    (void)state;
    struct fx fx;
    struct h2 c;
    fx_start(&fx, fx_opts());
    h2_open(&c, &fx);
    h2_headers(&c, 1, H2_HEAD("GET", "/show") "cookie: a=1\nx: y\ncookie: b=2\ncookie: c=3\nz: w\n",
               true);
    struct h2_answer *a = h2_over(&c, 1);
    assert_true(h2_has(&a->body, "\ncookie=a=1; b=2; c=3\nx=y\nz=w\nhost=x\n"));
    h2_close(&c);
    fx_stop(&fx);
}

static void test_bodies(void **state)
{
    (void)state;
    struct fx fx;
    struct h2 c;
    struct fk_http_server_opts o = fx_opts();
    char *big = fk_calloc(1, 5000000);
    o.limits.spool_from = 100000;
    fx_start(&fx, o);
    h2_open(&c, &fx);
    // Content-Length and what came differ, both ways.
    h2_headers(&c, 1, H2_HEAD("POST", "/a") "content-length: 5\n", false);
    h2_data(&c, 1, "xxxxxx", 6, true);
    assert_true(h2_over(&c, 1)->reset && c.s[0].code == NGHTTP2_PROTOCOL_ERROR);
    h2_headers(&c, 3, H2_HEAD("POST", "/a") "content-length: 5\n", false);
    h2_data(&c, 3, "xxxx", 4, true);
    assert_true(h2_over(&c, 3)->reset && c.s[1].code == NGHTTP2_PROTOCOL_ERROR);
    // Too large by its length, before any of it is here; the rest is not wanted.
    h2_headers(&c, 5, H2_HEAD("POST", "/a") "content-length: 5000000\n", false);
    h2_until(&c, c.s[2].reset);
    assert_int_equal(c.s[2].status, 413);
    assert_int_equal(c.s[2].code, NGHTTP2_NO_ERROR);
    // Without a length, in a window's pieces; where none is taken.
    h2_headers(&c, 7, H2_HEAD("GET", "/a"), false);
    h2_data(&c, 7, "x", 1, true);
    assert_int_equal(h2_over(&c, 7)->status, 413);
    h2_headers(&c, 9, H2_HEAD("GET", "/a"), false);
    h2_data(&c, 9, "", 0, true);
    assert_int_equal(h2_over(&c, 9)->status, 200);
    // Long ones go to a file; the windows open as they are taken.
    h2_headers(&c, 11, H2_HEAD("POST", "/a"), false);
    for (int i = 0; i < 30; i++) {
        h2_data(&c, 11, big, 100000, i == 29);
        h2_until(&c, c.s[5].opened + (1u << 20) >= 100000u * (unsigned)(i + 2) || i == 29);
    }
    assert_true(h2_has(&h2_over(&c, 11)->body, "3000000 "));
    assert_true(h2_has(&c.s[5].body, " file|"));
    // Beyond the limit, while it comes.
    h2_headers(&c, 13, H2_HEAD("POST", "/a"), false);
    for (int i = 0; i < 50 && !c.s[6].reset; i++) {
        h2_data(&c, 13, big, 100000, false);
        h2_until(&c, c.s[6].opened + (1u << 20) >= 100000u * (unsigned)(i + 2) || c.s[6].reset);
    }
    h2_until(&c, c.s[6].reset);
    assert_int_equal(c.s[6].status, 413);
    h2_get(&c, 15, "/a");
    assert_int_equal(h2_over(&c, 15)->status, 200);
    fk_free(big);
    h2_close(&c);
    fx_stop(&fx);
}

static void test_100_continue(void **state)
{
    (void)state;
    struct fx fx;
    struct h2 c;
    fx_start(&fx, fx_opts());
    h2_open(&c, &fx);
    h2_headers(&c, 1, H2_HEAD("POST", "/a") "expect: 100-continue\ncontent-length: 3\n", false);
    h2_until(&c, c.s[0].status == 100);
    h2_data(&c, 1, "abc", 3, true);
    h2_until(&c, c.s[0].end);
    assert_int_equal(c.s[0].status, 200);
    assert_true(h2_has(&c.s[0].body, "|abc"));
    // Refused before the body: no 100.
    h2_headers(&c, 3, H2_HEAD("POST", "/a") "expect: 100-continue\ncontent-length: 9000000\n",
               false);
    assert_int_equal(h2_over(&c, 3)->status, 413);
    assert_false(h2_has(&c.s[1].head, ":status: 100"));
    h2_close(&c);
    fx_stop(&fx);
}

static void test_answers(void **state)
{
    (void)state;
    struct fx fx;
    struct h2 c;
    struct fk_buf b;
    fx_start(&fx, fx_opts());
    h2_open(&c, &fx);
    h2_setting(&c, NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, 1000);
    h2_until(&c, c.acks == 2); // it counts the first as well
    // As much as the window allows, and on as it opens.
    h2_get(&c, 1, "/stream?n=2000000");
    h2_until(&c, c.s[0].body.n == 1000);
    h2_get(&c, 3, "/item/z"); // others go on
    assert_true(h2_has(&h2_over(&c, 3)->body, "item z"));
    assert_int_equal(c.s[0].body.n, 1000);
    h2_window(&c, 0, 2000000);
    h2_window(&c, 1, 2000000);
    h2_until(&c, c.s[0].end);
    assert_int_equal(c.s[0].body.n, 2000000);
    assert_true(h2_has(&c.s[0].trailers, "x-end: yes\n"));
    assert_false(h2_has(&c.s[0].head, "content-length"));
    h2_setting(&c, NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, 1u << 20);
    h2_get(&c, 5, "/stream?n=5000&length=1");
    assert_int_equal(h2_over(&c, 5)->body.n, 5000);
    assert_true(h2_has(&c.s[2].head, "content-length: 5000\n"));
    h2_get(&c, 7, "/trailer");
    assert_true(h2_has(&h2_over(&c, 7)->body, "whole"));
    assert_true(h2_has(&c.s[3].trailers, "x-status: 7\n"));
    h2_get(&c, 9, "/trailer?empty");
    assert_int_equal(h2_over(&c, 9)->body.n, 0);
    assert_true(h2_has(&c.s[4].trailers, "x-status: 7\n"));
    h2_get(&c, 11, "/stream?n=5000&abort=1");
    assert_true(h2_over(&c, 11)->reset);
    assert_int_equal(c.s[5].code, NGHTTP2_INTERNAL_ERROR);
    h2_headers(&c, 13, H2_HEAD("GET", "/json") "accept-encoding: gzip\n", true);
    assert_true(h2_has(&h2_over(&c, 13)->head, "content-encoding: gzip\n"));
    h2_close(&c);
    // The same trailers on HTTP/1.1: such an answer is chunked.
    fk_buf_init(&b, 0);
    assert_int_equal(fx_ask(&fx,
                            FX_LIT("GET /trailer HTTP/1.1\r\nHost: x\r\n"
                                   "Connection: close\r\n\r\n"),
                            &b),
                     200);
    assert_true(fx_has(&b, "\r\n\r\n5\r\nwhole\r\n0\r\nX-Status: 7\r\n\r\n"));
    assert_false(fx_has(&b, "Content-Length"));
    assert_int_equal(fx_ask(&fx,
                            FX_LIT("GET /trailer?empty HTTP/1.1\r\nHost: x\r\n"
                                   "Connection: close\r\n\r\n"),
                            &b),
                     200);
    assert_true(fx_has(&b, "\r\n\r\n0\r\nX-Status: 7\r\n\r\n"));
    assert_int_equal(fx_ask(&fx, FX_LIT("GET /trailer HTTP/1.0\r\n\r\n"), &b), 200);
    assert_true(fx_has(&b, "\r\n\r\nwhole"));
    assert_int_equal(fx_ask(&fx,
                            FX_LIT("HEAD /trailer HTTP/1.1\r\nHost: x\r\n"
                                   "Connection: close\r\n\r\n"),
                            &b),
                     200);
    assert_true(fx_has(&b, "chunked") && !fx_has(&b, "whole"));
    fk_buf_free(&b);
    fx_stop(&fx);
}

static void test_sink(void **state)
{
    (void)state;
    struct fx fx;
    struct h2 c;
    char *big = fk_calloc(1, 1u << 20);
    fx_start(&fx, fx_opts());
    h2_open(&c, &fx);
    h2_headers(&c, 1, H2_HEAD("POST", "/sink") "x-pause: 1\n", false);
    h2_data(&c, 1, big, 1u << 20, false);
    fx_wait_for(fx.paused);
    // Its window stays shut; the connection's does not, and others go on.
    h2_headers(&c, 3, H2_HEAD("POST", "/a"), false);
    h2_data(&c, 3, big, 500000, true);
    assert_int_equal(h2_over(&c, 3)->status, 200);
    assert_int_equal(c.s[0].opened, 0);
    assert_int_equal(fx.sink_bytes, 16384);
    for (int i = 0; i < 100 && fx.sink_bytes < (1 << 20); i++) {
        struct fk_http_req *req = fx.paused;
        fx.paused = NULL;
        fk_http_req_resume(req);
        fx_wait_for(fx.paused);
    }
    h2_until(&c, c.s[0].opened >= 500000);
    h2_send(&c, NGHTTP2_DATA, 1, 1, NULL, 0);
    fk_http_req_resume(fx.paused);
    assert_true(h2_has(&h2_over(&c, 1)->body, "sunk"));
    assert_int_equal(fx.sink_bytes, 1 << 20);
    // Refused by the sink; given up by the client, while paused and while not.
    h2_headers(&c, 5, H2_HEAD("POST", "/sink") "x-refuse: 1\n", false);
    h2_until(&c, c.s[2].reset);
    assert_int_equal(c.s[2].status, 404);
    for (uint32_t id = 7; id <= 9; id += 2) {
        fx.paused = NULL;
        h2_headers(&c, id,
                   id == 7 ? H2_HEAD("POST", "/sink") "x-pause: 1\n" : H2_HEAD("POST", "/sink"),
                   false);
        h2_data(&c, id, big, 40000, false);
        if (id == 7)
            fx_wait_for(fx.paused);
        h2_rst(&c, id);
        fx_wait_for(fx.sink_aborted == (id == 7 ? 1 : 2));
    }
    fk_free(big);
    h2_close(&c);
    fx_stop(&fx);
}

static void test_cancel(void **state)
{
    (void)state;
    struct fx fx;
    struct h2 c;
    fx_start(&fx, fx_opts());
    h2_open(&c, &fx);
    h2_get(&c, 1, "/wait");
    fx_wait_for(fx.started == 1);
    h2_rst(&c, 1);
    fx_wait_for(fx.cancelled == FK_E_CANCELLED);
    fx.cancelled = 0;
    h2_get(&c, 3, "/deadline");
    if (h2_over(&c, 3)->status != 504) { // the deadline was not over before a worker came
        assert_true(h2_has(&c.s[1].body, "waited"));
        assert_int_equal(fx.cancelled, FK_E_TIMEOUT);
    }
    // A streaming handler notices too.
    fx.cancelled = 0;
    h2_get(&c, 5, "/stream?n=100000000");
    h2_until(&c, c.s[2].body.n > 0);
    h2_rst(&c, 5);
    fx_wait_for(fx.cancelled == FK_E_CANCELLED);
    // What is to be kept goes on, by RST_STREAM and by a lost connection.
    fx.cancelled = 0;
    h2_headers(&c, 7, H2_HEAD("POST", "/keep"), false);
    h2_data(&c, 7, "abc", 3, true);
    fx_wait_for(fx.started == 4);
    h2_rst(&c, 7);
    h2_headers(&c, 9, H2_HEAD("POST", "/keep"), false);
    h2_data(&c, 9, "abc", 3, true);
    h2_get(&c, 11, "/wait");
    fx_wait_for(fx.started == 6);
    h2_close(&c);
    fx_wait_for(fx.cancelled == FK_E_CANCELLED); // of /wait
    fx.release = 1;
    fx_wait_for(fx.kept == 2);
    assert_int_equal(fx.cancelled, 0);
    fx_stop(&fx);
}

static void test_sniffing(void **state)
{
    (void)state;
    struct fx fx;
    struct h2 c;
    struct fk_buf b;
    fx_start(&fx, fx_opts());
    h2_open(&c, &fx);
    h2_close(&c);
    h2_connect(&c, &fx);
    for (size_t i = 0; i < sizeof(H2_PREFACE) - 1; i++)
        fx_send(c.fd, &H2_PREFACE[i], 1);
    h2_send(&c, NGHTTP2_SETTINGS, 0, 0, NULL, 0);
    h2_get(&c, 1, "/a");
    assert_int_equal(h2_over(&c, 1)->status, 200);
    h2_close(&c);
    // HTTP/1 with an offer of h2c stays HTTP/1 (RFC 9113 §3.1); POST begins like the preface.
    fk_buf_init(&b, 0);
    assert_int_equal(fx_ask(&fx,
                            FX_LIT("GET /show HTTP/1.1\r\nHost: x\r\nUpgrade: h2c\r\n"
                                   "HTTP2-Settings: AAMAAABkAAQAAP__\r\n"
                                   "Connection: close, Upgrade, HTTP2-Settings\r\n\r\n"),
                            &b),
                     200);
    assert_true(fx_has(&b, "11 GET /show"));
    int fd = fx_connect(&fx);
    fk_buf_clear(&b);
    for (const char *p = "POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\n\r\nx"; *p; p++)
        fx_send(fd, p, 1);
    assert_int_equal(fx_read(fd, &b, "|x", 5000), 1);
    fk_net_close(fd);
    fk_buf_free(&b);
    fx_stop(&fx);
}

// Two steps: first a notice, then the last stream; what is under way is answered.
static void drain(void *arg)
{
    struct fx *fx = arg;
    fk_http_server_drain(fx->server, 10 * FK_NS_PER_S);
}

static void test_drain(void **state)
{
    (void)state;
    struct fx fx;
    struct h2 c, idle;
    struct fk_thread t;
    struct fk_err err;
    fx_start(&fx, fx_opts());
    h2_open(&c, &fx);
    h2_open(&idle, &fx);
    h2_get(&c, 1, "/wait");
    fx_wait_for(fx.started == 1);
    fk_test_ok(fk_thread_start(&t, "drain", drain, &fx, &err), &err);
    while (c.goaways == 0 && h2_pump(&c, 10000))
        ;
    h2_until(&c, c.goaways == 2); // the fixture answers the ping between them
    assert_int_equal(c.last, 1);
    assert_int_equal(c.code, NGHTTP2_NO_ERROR);
    h2_until(&idle, idle.closed);
    assert_int_equal(idle.goaways, 2);
    h2_get(&c, 3, "/a"); // behind the last stream: not answered
    fx.release = 1;
    assert_true(h2_has(&h2_over(&c, 1)->body, "waited"));
    h2_until(&c, c.closed);
    assert_int_equal(c.s[1].status, 0);
    fk_thread_join(&t);
    h2_close(&c);
    h2_close(&idle);
    fx_stop(&fx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_requests),  cmocka_unit_test(test_many_at_once),
        cmocka_unit_test(test_malformed), cmocka_unit_test(test_cookies),
        cmocka_unit_test(test_bodies),    cmocka_unit_test(test_100_continue),
        cmocka_unit_test(test_answers),   cmocka_unit_test(test_sink),
        cmocka_unit_test(test_cancel),    cmocka_unit_test(test_sniffing),
        cmocka_unit_test(test_drain),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
