// SPDX-License-Identifier: Apache-2.0
// The server's ordinary life on real sockets: keep-alive, pipelining, bodies, codings, answers,
// errors, routes, sinks. Meant for the sanitizers too.
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

#define H     " HTTP/1.1\r\nHost: x\r\n"
#define CLOSE "Connection: close\r\n"

// --- connections ---
static void test_keep_alive_and_pipelining(void **state)
{
    (void)state;
    FK_AUTO_BUF b;
    fk_buf_init(&b, 0);
    int fd = fx_connect(&fx);
    for (int i = 0; i < 5; i++) {
        fk_buf_clear(&b);
        fx_say(fd, "GET /item/one" H "\r\n");
        assert_int_equal(fx_read(fd, &b, "item one", 5000), 1);
        assert_false(fx_has(&b, "Connection:"));
    }
    // Several at once, answered in order, among them one with a body.
    fk_buf_clear(&b);
    fx_say(fd, "GET /item/1" H "\r\nPOST /a" H "Content-Length: 3\r\n\r\nabcGET /item/2" H
               "\r\nHEAD /item/3" H "\r\nGET /item/4" H CLOSE "\r\n");
    assert_int_equal(fx_read(fd, &b, NULL, 5000), 1);
    struct fk_str all = fk_buf_view(&b);
    ptrdiff_t one = fk_str_find(all, FK_S("item 1")), two = fk_str_find(all, FK_S("|abc")),
              three = fk_str_find(all, FK_S("item 2")), four = fk_str_find(all, FK_S("item 4"));
    assert_true(0 < one && one < two && two < three && three < four);
    assert_false(fx_has(&b, "item 3"));
    assert_true(fx_has(&b, "Connection: close"));
    fk_net_close(fd);
}

// A client that sends requests and reads no answers must be stopped, not stored.
static void test_flood_is_stopped(void **state)
{
    (void)state;
    static const char one[] = "GET /json" H "\r\n";
    FK_AUTO_BUF flood;
    struct fk_err err;
    fk_buf_init(&flood, 0);
    for (int i = 0; i < 2000; i++)
        fk_buf_cstr(&flood, one);
    int fd = fx_connect(&fx);
    size_t total = 0;
    for (int stuck = 0; stuck < 50 && total < (size_t)64 << 20;) {
        size_t n = 0;
        int rc = fk_net_write(fd, flood.p, flood.n, &n, &err);
        total += n;
        stuck = rc == FK_IO_AGAIN ? stuck + 1 : 0;
        if (rc == FK_IO_AGAIN)
            fk_sleep_ns(2 * FK_NS_PER_MS);
        assert_true(rc >= 0);
    }
    assert_true(total < (size_t)32 << 20); // the rest is the kernel's buffers
    fk_net_close(fd);
}

static void test_http_1_0(void **state)
{
    (void)state;
    FK_AUTO_BUF b;
    fk_buf_init(&b, 0);
    static const char a[] = "GET /a HTTP/1.0\r\n\r\n";
    assert_int_equal(fx_ask(&fx, a, strlen(a), &b), 200);
    assert_true(fx_has(&b, "Connection: close"));
    // A streamed answer ends with the connection: nothing is chunked.
    static const char s[] = "GET /stream?n=2500 HTTP/1.0\r\nConnection: keep-alive\r\n\r\n";
    assert_int_equal(fx_ask(&fx, s, strlen(s), &b), 200);
    assert_false(fx_has(&b, "chunked"));
    assert_true(fk_str_ends(fk_buf_view(&b), FK_S("aaaa")));
    assert_false(fx_has(&b, "x-end"));
}

// --- answers ---
static void test_streamed_answers(void **state)
{
    (void)state;
    FK_AUTO_BUF b;
    fk_buf_init(&b, 0);
    static const char s[] = "GET /stream?n=100000" H CLOSE "\r\n";
    assert_int_equal(fx_ask(&fx, s, strlen(s), &b), 200);
    assert_true(fx_has(&b, "Transfer-Encoding: chunked"));
    assert_true(fk_str_ends(fk_buf_view(&b), FK_S("\r\n0\r\nx-end: yes\r\n\r\n")));
    size_t as = 0;
    for (size_t i = 0; i < b.n; i++)
        as += b.p[i] == 'a';
    assert_true(as >= 100000 && as < 100100);
    static const char l[] = "GET /stream?n=5000&length=1" H CLOSE "\r\n";
    assert_int_equal(fx_ask(&fx, l, strlen(l), &b), 200);
    assert_true(fx_has(&b, "Content-Length: 5000\r\n"));
    assert_false(fx_has(&b, "chunked"));
    static const char h[] = "HEAD /stream?n=5000" H CLOSE "\r\n";
    assert_int_equal(fx_ask(&fx, h, strlen(h), &b), 200);
    assert_true(fk_str_ends(fk_buf_view(&b), FK_S("\r\n\r\n")));
    // An answer that breaks off must not look complete.
    static const char x[] = "GET /stream?n=50000&abort=1" H "\r\n";
    fx_ask(&fx, x, strlen(x), &b);
    assert_false(fk_str_ends(fk_buf_view(&b), FK_S("0\r\nx-end: yes\r\n\r\n")));
}

static void test_gzip_answers(void **state)
{
    (void)state;
    FK_AUTO_BUF b;
    fk_buf_init(&b, 0);
    static const char z[] = "GET /json" H CLOSE "Accept-Encoding: br, gzip;q=0.5\r\n\r\n";
    assert_int_equal(fx_ask(&fx, z, strlen(z), &b), 200);
    assert_true(fx_has(&b, "Content-Encoding: gzip") && fx_has(&b, "Vary: Accept-Encoding"));
    assert_true(b.n < 2000);
    static const char no[] = "GET /json" H CLOSE "Accept-Encoding: gzip;q=0\r\n\r\n";
    assert_int_equal(fx_ask(&fx, no, strlen(no), &b), 200);
    assert_false(fx_has(&b, "Content-Encoding"));
    assert_true(b.n > 100000);
    static const char head[] = "HEAD /json" H CLOSE "\r\n";
    assert_int_equal(fx_ask(&fx, head, strlen(head), &b), 200);
    assert_true(fx_has(&b, "Content-Length: 100002\r\n") && b.n < 1000);
}

static void test_errors(void **state)
{
    (void)state;
    FK_AUTO_BUF b;
    fk_buf_init(&b, 0);
    static const char f[] = "GET /fail" H CLOSE "\r\n";
    assert_int_equal(fx_ask(&fx, f, strlen(f), &b), 400);
    assert_true(fx_has(&b, "application/problem+json"));
    assert_true(fx_has(&b, "{\"type\":\"about:blank\",\"title\":\"Bad "
                           "Request\",\"status\":400,\"detail\":\"from is later than "
                           "until\",\"param\":\"from\"}"));
    // A field that would split the answer makes it a 500, whatever else was said.
    static const char e[] = "GET /evil" H CLOSE "\r\n";
    assert_int_equal(fx_ask(&fx, e, strlen(e), &b), 500);
    assert_false(fx_has(&b, "Set-Cookie") || fx_has(&b, "should not"));
}

static void test_routes(void **state)
{
    (void)state;
    FK_AUTO_BUF b;
    fk_buf_init(&b, 0);
    static const struct {
        const char *ask;
        int status;
        const char *has;
    } rows[] = {
        {"GET /item/a%20b%2Fc", 200, "item a b/c"},
        {"GET /item/fixed", 200, "hello"},
        {"GET //item///x", 200, "item x"},
        {"GET /item/", 404, "there is nothing"},
        {"GET /item/x/y", 404, "there is nothing"},
        {"GET /files/x/y%2e?a=b", 200, "item x/y."},
        {"GET /files/", 200, "item "},
        {"GET /files", 404, "there is nothing"},
        {"GET /?x", 200, "hello"},
        {"GET ?x", 400, "Unexpected start"},
        {"DELETE /a", 405, "Allow: "},
        {"PUT /item/x", 405, "Allow: GET, HEAD"},
        {"GET /A", 404, "there is nothing at /A"},
    };
    for (size_t i = 0; i < FK_COUNTOF(rows); i++) {
        char ask[300];
        snprintf(ask, sizeof(ask), "%s" H CLOSE "\r\n", rows[i].ask);
        int status = fx_ask(&fx, ask, strlen(ask), &b);
        if (status != rows[i].status || !fx_has(&b, rows[i].has))
            fail_msg("%s: %d, %.*s", rows[i].ask, status, FK_STR_ARG(fk_buf_view(&b)));
    }
}

// --- bodies ---
static void test_100_continue(void **state)
{
    (void)state;
    FK_AUTO_BUF b;
    fk_buf_init(&b, 0);
    int fd = fx_connect(&fx);
    fx_say(fd, "POST /a" H "Expect: 100-continue\r\nContent-Length: 3\r\n\r\n");
    assert_int_equal(fx_read(fd, &b, "HTTP/1.1 100 Continue\r\n\r\n", 5000), 1);
    fx_say(fd, "abc");
    assert_int_equal(fx_read(fd, &b, "|abc", 5000), 1);
    // Refused at once: no 100, and the connection ends, since the body may or may not come.
    fk_buf_clear(&b);
    fx_say(fd, "POST /a" H "Expect: 100-continue\r\nContent-Length: 99999999\r\n\r\n");
    assert_int_equal(fx_read(fd, &b, NULL, 5000), 1);
    assert_int_equal(fx_status(&b), 413);
    assert_true(fx_has(&b, "--limit-test-body") && fx_has(&b, "Connection: close"));
    fk_net_close(fd);
}

static void put_chunked(struct fk_buf *b, const char *p, size_t n, size_t piece)
{
    for (size_t at = 0; at < n; at += piece) {
        size_t k = FK_MIN(piece, n - at);
        fk_buf_printf(b, "%zx\r\n", k);
        fk_buf_put(b, p + at, k);
        fk_buf_cstr(b, "\r\n");
    }
    fk_buf_cstr(b, "0\r\n\r\n");
}

static void fill_random(char *p, size_t n)
{
    uint64_t x = 1;
    for (size_t i = 0; i < n; i++) {
        x = fk_hash_u64(x + i);
        p[i] = (char)x;
    }
}

static void expect_echo(const struct fk_buf *b, const char *p, size_t n, const char *where)
{
    char want[80];
    snprintf(want, sizeof(want), "%zu %016llx %s|", n, (unsigned long long)fk_checksum(p, n),
             where);
    if (!fx_has(b, want))
        fail_msg("want %s, got %.*s", want, FK_STR_ARG(fk_str_head(fk_buf_view(b), 600)));
}

static void test_chunked_bodies(void **state)
{
    (void)state;
    static char body[200000];
    FK_AUTO_BUF in;
    FK_AUTO_BUF b;
    fk_buf_init(&in, 0);
    fk_buf_init(&b, 0);
    fill_random(body, sizeof(body));
    size_t pieces[] = {1, 7, 4096, 65536, sizeof(body)};
    for (size_t i = 0; i < FK_COUNTOF(pieces); i++) {
        size_t n = pieces[i] < 100 ? 3000 : sizeof(body);
        fk_buf_clear(&in);
        fk_buf_cstr(&in, "POST /a" H CLOSE "Transfer-Encoding: chunked\r\n\r\n");
        put_chunked(&in, body, n, pieces[i]);
        assert_int_equal(fx_ask(&fx, in.p, in.n, &b), 200);
        expect_echo(&b, body, n, "memory");
    }
    // Too much, found while it comes.
    fk_buf_clear(&in);
    fk_buf_cstr(&in, "POST /a" H "Transfer-Encoding: chunked\r\n\r\n");
    FK_AUTO_BUF big;
    fk_buf_init(&big, 0);
    fk_buf_fill(&big, 'q', FX_BODY_MAX + 70000);
    put_chunked(&in, big.p, big.n, 65536);
    assert_int_equal(fx_ask(&fx, in.p, in.n, &b), 413);
    assert_true(fx_has(&b, "(limit 4194304, set by --limit-test-body)"));
}

static void ask_coded(const char *coding, const struct fk_buf *body, struct fk_buf *b)
{
    FK_AUTO_BUF in;
    fk_buf_init(&in, 0);
    fk_buf_printf(&in, "POST /a" H CLOSE "Content-Encoding: %s\r\nContent-Length: %zu\r\n\r\n",
                  coding, body->n);
    fk_buf_str(&in, fk_buf_view(body));
    fx_ask(&fx, in.p, in.n, b);
}

static void test_content_codings(void **state)
{
    (void)state;
    static char body[300000];
    struct fk_err err;
    FK_AUTO_BUF z;
    FK_AUTO_BUF b;
    fk_buf_init(&z, 0);
    fk_buf_init(&b, 0);
    for (size_t i = 0; i < sizeof(body); i++)
        body[i] = (char)("profile"[i % 7] + i / 10000);
    fk_test_ok(fk_gzip(body, sizeof(body), 6, &z, &err), &err);
    ask_coded("gzip", &z, &b);
    expect_echo(&b, body, sizeof(body), "memory");
    ask_coded("X-GZIP", &z, &b);
    expect_echo(&b, body, sizeof(body), "memory");
    ask_coded("identity", &z, &b);
    expect_echo(&b, z.p, z.n, "memory");
    ask_coded("zstd", &z, &b); // it is gzip
    assert_int_equal(fx_status(&b), 400);
    z.n -= 9; // cut
    ask_coded("gzip", &z, &b);
    assert_int_equal(fx_status(&b), 400);
    ask_coded("br", &z, &b);
    assert_int_equal(fx_status(&b), 415);
    assert_true(fx_has(&b, "Accept-Encoding: gzip, deflate, zstd"));
    ask_coded("gzip, gzip", &z, &b);
    assert_int_equal(fx_status(&b), 415);
    fk_buf_clear(&z);
    fk_test_ok(fk_zstd(body, sizeof(body), 3, &z, &err), &err);
    ask_coded("zstd", &z, &b);
    expect_echo(&b, body, sizeof(body), "memory");
    // RFC 1950 around a stored block.
    static const char zlib[] = "\x78\x01\x01\x03\x00\xfc\xff"
                               "abc\x02\x4d\x01\x27";
    fk_buf_clear(&z);
    fk_buf_put(&z, zlib, sizeof(zlib) - 1);
    ask_coded("deflate", &z, &b);
    expect_echo(&b, "abc", 3, "memory");
}

// A megabyte that becomes a gigabyte must be refused, in bounded memory.
static void test_bomb(void **state)
{
    (void)state;
    struct fk_err err;
    struct fk_process_facts before, after;
    FK_AUTO_BUF zeros;
    FK_AUTO_BUF one;
    FK_AUTO_BUF z;
    FK_AUTO_BUF b;
    fk_buf_init(&zeros, 0);
    fk_buf_init(&one, 0);
    fk_buf_init(&z, 0);
    fk_buf_init(&b, 0);
    fk_buf_fill(&zeros, 0, (size_t)16 << 20);
    fk_test_ok(fk_gzip(zeros.p, zeros.n, 6, &one, &err), &err);
    fk_buf_free(&zeros);
    for (int i = 0; i < 64; i++)
        fk_buf_str(&z, fk_buf_view(&one));
    fk_test_ok(fk_process_facts(&before, &err), &err);
    ask_coded("gzip", &z, &b);
    fk_test_ok(fk_process_facts(&after, &err), &err);
    assert_int_equal(fx_status(&b), 413);
    assert_true(fx_has(&b, "(limit 33554432, set by --limit-test-decoded)"));
    print_message(
        "bomb of 1 GiB: %llu KiB more resident\n",
        (unsigned long long)(after.resident_anon_bytes > before.resident_anon_bytes
                                 ? (after.resident_anon_bytes - before.resident_anon_bytes) >> 10
                                 : 0));
}

static void test_long_bodies_are_spooled(void **state)
{
    (void)state;
    struct fk_err err;
    size_t n = (size_t)30 << 20;
    char *body = malloc(n);
    FK_AUTO_BUF in;
    FK_AUTO_BUF b;
    fk_buf_init(&in, 0);
    fk_buf_init(&b, 0);
    fill_random(body, n);
    fk_buf_printf(&in, "POST /big" H CLOSE "Content-Length: %zu\r\n\r\n", n);
    fk_buf_put(&in, body, n);
    assert_int_equal(fx_ask(&fx, in.p, in.n, &b), 200);
    expect_echo(&b, body, n, "file");
    fk_buf_clear(&in);
    fk_buf_cstr(&in, "POST /big" H CLOSE "Transfer-Encoding: chunked\r\n\r\n");
    put_chunked(&in, body, n, 100000);
    assert_int_equal(fx_ask(&fx, in.p, in.n, &b), 200);
    expect_echo(&b, body, n, "file");
    FK_AUTO_BUF z; // both the compressed and the decoded one are files
    fk_buf_init(&z, 0);
    fk_test_ok(fk_gzip(body, n, 1, &z, &err), &err);
    fk_buf_clear(&in);
    fk_buf_printf(&in, "POST /big" H CLOSE "Content-Encoding: gzip\r\nContent-Length: %zu\r\n\r\n",
                  z.n);
    fk_buf_str(&in, fk_buf_view(&z));
    assert_int_equal(fx_ask(&fx, in.p, in.n, &b), 200);
    expect_echo(&b, body, n, "file");
    free(body);
}

// --- hooks and assets ---
static const struct fk_http_asset assets[] = {
    {.path = "app.js",
     .type = "text/javascript",
     .etag = "\"t1\"",
     .cache_control = "max-age=60",
     .plain = {"plain", 5},
     .gzip = {"zipped", 6},
     .br = {"brotli!", 7}},
    {.path = "index.html", .type = "text/html", .etag = "\"t2\"", .plain = {"<html>", 6}},
};

static void serve_asset(void *arg, struct fk_http_req *req, struct fk_http_res *res)
{
    struct fk_err err;
    (void)arg;
    const struct fk_http_asset *a =
        fk_http_asset_find(assets, FK_COUNTOF(assets), fk_http_req_param(req, "file"));
    if (a) {
        fk_http_res_asset(res, a);
        return;
    }
    fk_fail(&err, FK_E_NOTFOUND, "no such file");
    fk_http_res_fail(res, 0, &err);
}

static int admit(void *arg, struct fk_http_req *req, struct fk_http_res *res, struct fk_err *err)
{
    (void)arg;
    if (!fk_http_req_field(req, "X-Locked").p)
        return 0;
    fk_http_res_set(res, "WWW-Authenticate", FK_S("Bearer"));
    fk_fail(err, FK_E_INVALID, "a token is needed for %s", req->route->pattern);
    return 401;
}

static void plain_error(struct fk_http_res *res, int status, const struct fk_err *err)
{
    FK_AUTO_BUF b;
    fk_buf_init(&b, 0);
    fk_buf_printf(&b, "plain %d: %s", status, err->msg);
    fk_http_res_set(res, "Retry-After", FK_S("77"));
    fk_http_res_take(res, &b);
}

static void test_hooks_and_assets(void **state)
{
    (void)state;
    static const struct fk_http_route routes[] = {
        {.method = "GET", .pattern = "/ui/{file}", .run = serve_asset, .on_loop = true},
        {.method = "POST", .pattern = "/up", .run = fx_echo, .body_max = 10, .error = plain_error},
    };
    struct fk_err err;
    struct fk_addr any;
    struct fx own = {.pool = fx.pool};
    struct fk_http_server_opts o = fx_opts();
    o.routes = routes;
    o.routes_n = FK_COUNTOF(routes);
    o.pool = fx.pool;
    o.admit = admit;
    struct fk_test_clock clock; // the date of RFC 9110's own example
    fk_test_clock_init(&clock, 784111777 * FK_NS_PER_S);
    o.clock = &clock.clock;
    o.error = plain_error;
    fk_test_ok(fk_http_server_new(&o, &own.server, &err), &err);
    fk_test_ok(fk_addr_parse(FK_S("127.0.0.1:0"), 0, &any, &err), &err);
    fk_test_ok(fk_http_server_listen(own.server, &any, &own.addr, &err), &err);
    fk_test_ok(fk_http_server_start(own.server, &err), &err);
    static const struct {
        const char *ask;
        int status;
        const char *has[3];
    } rows[] = {
        {"GET /ui/app.js" H, 200, {"\r\n\r\nplain", "ETag: \"t1\"\r\n", "max-age=60"}},
        {"GET /ui/app.js" H "Accept-Encoding: gzip\r\n",
         200,
         {"\r\n\r\nzipped", "ETag: \"t1-gzip\"\r\n", "Vary: Accept-Encoding"}},
        {"GET /ui/app.js" H "Accept-Encoding: gzip, br\r\n",
         200,
         {"\r\n\r\nbrotli!", "ETag: \"t1-br\"\r\n", "Content-Encoding: br"}},
        {"GET /ui/app.js" H "Accept-Encoding: gzip\r\nIf-None-Match: \"x\", W/\"t1-gzip\"\r\n",
         304,
         {"ETag: \"t1-gzip\"", "Vary:", "Cache-Control"}},
        {"GET /ui/app.js" H "If-None-Match: \"t1-gzip\"\r\n",
         200,
         {"plain", "ETag", "Date: Sun, 06 Nov 1994 08:49:37 GMT\r\n"}},
        {"HEAD /ui/index.html" H, 200, {"Content-Length: 6\r\n", "no-cache", "text/html"}},
        {"GET /ui/none" H, 404, {"no such file", "problem+json", "Date"}},
        {"GET /ui/app.js" H "X-Locked: 1\r\n", 401, {"WWW-Authenticate: Bearer", "/ui/{file}", ""}},
        {"GET /no" H, 404, {"plain 404: there is nothing", "", ""}},
        {"PUT /up" H, 405, {"plain 405", "Allow: POST", ""}},
        {"POST /up" H "Content-Length: 11\r\n", 413, {"plain 413", "limit 10", "Retry-After: 77"}},
    };
    FK_AUTO_BUF b;
    fk_buf_init(&b, 0);
    for (size_t i = 0; i < FK_COUNTOF(rows); i++) {
        char ask[400];
        snprintf(ask, sizeof(ask), "%s" CLOSE "\r\n", rows[i].ask);
        int status = fx_ask(&own, ask, strlen(ask), &b);
        if (status != rows[i].status || !fx_has(&b, rows[i].has[0]) ||
            !fx_has(&b, rows[i].has[1]) || !fx_has(&b, rows[i].has[2]))
            fail_msg("%s: %d, %.*s", rows[i].ask, status, FK_STR_ARG(fk_buf_view(&b)));
    }
    fk_http_server_free(own.server);
}

// Two listeners, one of them a Unix socket, on both loops.
static void test_unix_listener(void **state)
{
    (void)state;
    struct fk_err err;
    struct fx own = {.pool = fx.pool};
    struct fk_http_server_opts o = fx_opts();
    char text[FK_PATH_MAX];
    static struct fk_http_route routes[] = {
        {.method = "GET", .pattern = "/item/{id}", .run = fx_item, .cls = FK_WORK_QUERY}};
    o.routes = routes;
    o.routes_n = 1;
    o.pool = fx.pool;
    fk_test_ok(fk_http_server_new(&o, &own.server, &err), &err);
    struct fk_addr a, tcp;
    snprintf(text, sizeof(text), "unix:%s/s", fx.folder);
    fk_test_ok(fk_addr_parse(fk_str_of(text), 0, &a, &err), &err);
    fk_test_ok(fk_http_server_listen(own.server, &a, NULL, &err), &err);
    fk_test_ok(fk_addr_parse(FK_S("127.0.0.1:0"), 0, &tcp, &err), &err);
    fk_test_ok(fk_http_server_listen(own.server, &tcp, &tcp, &err), &err);
    fk_test_ok(fk_http_server_start(own.server, &err), &err);
    fk_test_fails(fk_http_server_listen(own.server, &a, NULL, &err), FK_E_INVALID);
    FK_AUTO_BUF b;
    fk_buf_init(&b, 0);
    static const char ask[] = "GET /item/both" H CLOSE "\r\n";
    for (int i = 0; i < 20; i++) {
        own.addr = i % 2 ? a : tcp;
        assert_int_equal(fx_ask(&own, ask, strlen(ask), &b), 200);
        assert_true(fx_has(&b, "item both"));
    }
    fk_http_server_free(own.server);
}

// --- sinks ---
static void test_sink_pauses(void **state)
{
    (void)state;
    static char body[1 << 20];
    FK_AUTO_BUF b;
    fk_buf_init(&b, 0);
    fx.sink_bytes = fx.sink_done = 0;
    fx.paused = NULL;
    int fd = fx_connect(&fx);
    char head[200];
    snprintf(head, sizeof(head), "POST /sink" H CLOSE "X-Pause: 1\r\nContent-Length: %zu\r\n\r\n",
             sizeof(body));
    fx_say(fd, head);
    struct fk_err err;
    size_t sent = 0;
    for (;;) { // as far as the kernel takes it
        size_t n = 0;
        if (sent == sizeof(body) ||
            fk_net_write(fd, body + sent, sizeof(body) - sent, &n, &err) != FK_IO_OK)
            break;
        sent += n;
    }
    fx_wait_for(fx.paused);
    fk_sleep_ns(20 * FK_NS_PER_MS);
    assert_true(fx.sink_bytes <= 65536); // one read, however much has come
    while (!fx.sink_done) {
        struct fk_http_req *req = atomic_exchange(&fx.paused, NULL);
        size_t n = 0;
        if (req)
            fk_http_req_resume(req);
        if (sent < sizeof(body) &&
            fk_net_write(fd, body + sent, sizeof(body) - sent, &n, &err) == FK_IO_OK)
            sent += n;
    }
    assert_int_equal(fx.sink_bytes, sizeof(body));
    assert_int_equal(fx_read(fd, &b, "sunk", 5000), 1);
    fk_net_close(fd);
}

static void test_sink_refuses_and_aborts(void **state)
{
    (void)state;
    FK_AUTO_BUF b;
    fk_buf_init(&b, 0);
    int bytes = fx.sink_bytes, aborted = fx.sink_aborted;
    int fd = fx_connect(&fx);
    fx_say(fd, "POST /sink" H "X-Refuse: 1\r\nContent-Length: 100000\r\n\r\n");
    assert_int_equal(fx_read(fd, &b, "refused before the body", 5000), 1);
    assert_int_equal(fx_status(&b), 404);
    assert_int_equal(fx.sink_bytes, bytes);
    fk_net_close(fd);
    // A short rest is read away, so that the connection is kept.
    fk_buf_clear(&b);
    fd = fx_connect(&fx);
    fx_say(fd, "POST /sink" H "X-Refuse: 1\r\nContent-Length: 10\r\n\r\n");
    assert_int_equal(fx_read(fd, &b, "refused before the body", 5000), 1);
    fx_say(fd, "0123456789GET /item/next" H "\r\n");
    assert_int_equal(fx_read(fd, &b, "item next", 5000), 1);
    fk_net_close(fd);
    // The client leaves within the body.
    fd = fx_connect(&fx);
    fx_say(fd, "POST /sink" H "Content-Length: 100000\r\n\r\nabc");
    fx_wait_for(fx.sink_bytes == bytes + 3);
    fk_net_close(fd);
    fx_wait_for(fx.sink_aborted == aborted + 1);
    // Too long, found on the way: the sink is told, the answer is the server's.
    FK_AUTO_BUF in;
    fk_buf_init(&in, 0);
    FK_AUTO_BUF big;
    fk_buf_init(&big, 0);
    fk_buf_fill(&big, 'q', FX_BODY_MAX + 70000);
    fk_buf_cstr(&in, "POST /sink" H "Transfer-Encoding: chunked\r\n\r\n");
    put_chunked(&in, big.p, big.n, 65536);
    assert_int_equal(fx_ask(&fx, in.p, in.n, &b), 413);
    assert_int_equal(fx.sink_aborted, aborted + 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_keep_alive_and_pipelining),
        cmocka_unit_test(test_flood_is_stopped),
        cmocka_unit_test(test_http_1_0),
        cmocka_unit_test(test_streamed_answers),
        cmocka_unit_test(test_gzip_answers),
        cmocka_unit_test(test_errors),
        cmocka_unit_test(test_routes),
        cmocka_unit_test(test_100_continue),
        cmocka_unit_test(test_chunked_bodies),
        cmocka_unit_test(test_content_codings),
        cmocka_unit_test(test_bomb),
        cmocka_unit_test(test_long_bodies_are_spooled),
        cmocka_unit_test(test_hooks_and_assets),
        cmocka_unit_test(test_unix_listener),
        cmocka_unit_test(test_sink_pauses),
        cmocka_unit_test(test_sink_refuses_and_aborts),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
