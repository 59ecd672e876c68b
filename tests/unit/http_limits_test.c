// SPDX-License-Identifier: Apache-2.0
// Limits, slowness, disconnects, the graceful end, many idle connections. Times are short so that
// the tests are; nothing depends on how short.
#include "http_fixture.h"

#define H     " HTTP/1.1\r\nHost: x\r\n"
#define CLOSE "Connection: close\r\n"

static void expect(struct fx *fx, const char *ask, size_t n, int status, const char *flag)
{
    FK_AUTO_BUF b;
    fk_buf_init(&b, 0);
    int got = fx_ask(fx, ask, n, &b);
    if (got != status || !fx_has(&b, flag) || !fx_has(&b, "\"limit\":"))
        fail_msg("want %d with %s, got %d: %.*s", status, flag, got, FK_STR_ARG(fk_buf_view(&b)));
}

// Each limit names itself, its value and its flag.
static void test_limits_of_the_header(void **state)
{
    (void)state;
    struct fx fx;
    struct fk_http_server_opts o = fx_opts();
    o.limits.head_bytes = 4096;
    o.limits.fields = 20;
    o.limits.target = 1000;
    fx_start(&fx, o);
    FK_AUTO_BUF in;
    fk_buf_init(&in, 0);
    fk_buf_cstr(&in, "GET /");
    fk_buf_fill(&in, 'a', 1200);
    fk_buf_cstr(&in, H CLOSE "\r\n");
    expect(&fx, in.p, in.n, 414, "--http-target-bytes");
    in.n = 5 + 999; // just what is allowed
    fk_buf_cstr(&in, H CLOSE "\r\n");
    FK_AUTO_BUF b;
    fk_buf_init(&b, 0);
    assert_int_equal(fx_ask(&fx, in.p, in.n, &b), 404);
    in.n = 5 + 999;
    fk_buf_byte(&in, 'a');
    fk_buf_cstr(&in, H CLOSE "\r\n");
    expect(&fx, in.p, in.n, 414, "--http-target-bytes");
    fk_buf_clear(&in); // a request line without an end
    fk_buf_cstr(&in, "GET /");
    fk_buf_fill(&in, 'a', 3000);
    expect(&fx, in.p, in.n, 414, "--http-target-bytes");
    fk_buf_clear(&in);
    fk_buf_cstr(&in, "GET /" H "A: ");
    fk_buf_fill(&in, 'a', 100 << 10);
    fk_buf_cstr(&in, "\r\n\r\n");
    expect(&fx, in.p, in.n, 431, "--http-head-bytes");
    fk_buf_clear(&in);
    fk_buf_cstr(&in, "GET /" H);
    for (int i = 0; i < 25; i++)
        fk_buf_printf(&in, "A%d: b\r\n", i);
    fk_buf_cstr(&in, "\r\n");
    expect(&fx, in.p, in.n, 431, "--http-fields");
    fk_buf_clear(&in); // 20 with Host and Connection: allowed
    fk_buf_cstr(&in, "GET /" H CLOSE);
    for (int i = 0; i < 18; i++)
        fk_buf_printf(&in, "A%d: b\r\n", i);
    fk_buf_cstr(&in, "\r\n");
    assert_int_equal(fx_ask(&fx, in.p, in.n, &b), 200);
    fk_buf_clear(&in); // empty lines in front count too
    for (int i = 0; i < 5000; i++)
        fk_buf_cstr(&in, "\r\n");
    expect(&fx, in.p, in.n, 431, "--http-head-bytes");
    fk_buf_clear(&in); // so do trailers and chunk extensions
    fk_buf_cstr(&in, "POST /a" H "Transfer-Encoding: chunked\r\n\r\n0\r\nA: ");
    fk_buf_fill(&in, 'a', 8000);
    expect(&fx, in.p, in.n, 431, "--http-head-bytes");
    fk_buf_clear(&in);
    fk_buf_cstr(&in, "POST /a" H "Transfer-Encoding: chunked\r\n\r\n");
    for (int i = 0; i < 500; i++)
        fk_buf_cstr(&in, "1;abcdefghijkl\r\nx\r\n");
    expect(&fx, in.p, in.n, 431, "--http-head-bytes");
    fx_stop(&fx);
}

static void test_limits_of_bodies(void **state)
{
    (void)state;
    struct fx fx;
    struct fk_http_server_opts o = fx_opts();
    o.limits.bodies = 1 << 20;
    o.limits.spool_from = 600 << 10;
    o.limits.spool = 8 << 20;
    fx_start(&fx, o);
    FK_AUTO_BUF in;
    FK_AUTO_BUF b;
    fk_buf_init(&in, 0);
    fk_buf_init(&b, 0);
    static const char big[] = "POST /a" H "Content-Length: 99999999\r\n\r\n";
    expect(&fx, big, strlen(big), 413, "--limit-test-body");
    // Two connections that hold 900 KiB; a third one with 500 KiB does not fit.
    int fd[2];
    for (int i = 0; i < 2; i++) {
        fk_buf_clear(&in);
        fk_buf_cstr(&in, "POST /a" H CLOSE "Content-Length: 500000\r\n\r\n");
        fk_buf_fill(&in, 'x', 450000);
        fd[i] = fx_connect(&fx);
        fx_send(fd[i], in.p, in.n);
    }
    struct fk_http_stats st;
    fx_wait_for((fk_http_server_stats(fx.server, &st), st.bodies_memory >= 900000));
    fk_buf_fill(&in, 'x', 50000);
    fx_ask(&fx, in.p, in.n, &b);
    assert_int_equal(fx_status(&b), 503);
    assert_true(fx_has(&b, "--http-bodies-memory") && fx_has(&b, "Retry-After: 1"));
    fk_net_close(fd[0]);
    fk_net_close(fd[1]);
    fx_wait_for((fk_http_server_stats(fx.server, &st), st.bodies_memory == 0));
    assert_int_equal(fx_ask(&fx, in.p, in.n, &b), 200); // it goes again
    fx_stop(&fx);
    // The files have a budget as well.
    o.limits.bodies = 4 << 20;
    fx_start(&fx, o);
    fk_buf_clear(&in);
    fk_buf_cstr(&in, "POST /big" H "Content-Length: 20000000\r\n\r\n");
    fk_buf_fill(&in, 'x', 20000000);
    fx_ask(&fx, in.p, in.n, &b);
    assert_int_equal(fx_status(&b), 503);
    assert_true(fx_has(&b, "--http-spool-bytes"));
    fx_stop(&fx);
}

static void test_spool_folder_fails(void **state)
{
    (void)state;
    struct fx fx;
    struct fk_http_server_opts o = fx_opts();
    o.limits.spool_from = 100000;
    o.spool_folder = "/nonexistent/folder";
    fx_start(&fx, o);
    FK_AUTO_BUF in;
    FK_AUTO_BUF b;
    fk_buf_init(&in, 0);
    fk_buf_init(&b, 0);
    size_t sizes[] = {300000, 3000000}; // found by the handler's worker, and by the one that writes
    for (size_t i = 0; i < 2; i++) {
        fk_buf_clear(&in);
        fk_buf_printf(&in, "POST /big" H CLOSE "Content-Length: %zu\r\n\r\n", sizes[i]);
        fk_buf_fill(&in, 'x', sizes[i]);
        assert_int_equal(fx_ask(&fx, in.p, in.n, &b), 500);
        assert_true(fx_has(&b, "/nonexistent/folder"));
    }
    fx_stop(&fx);
}

static void test_connections_and_requests(void **state)
{
    (void)state;
    struct fx fx;
    struct fk_http_server_opts o = fx_opts();
    o.limits.connections = 10;
    o.limits.requests = 3;
    fx_start(&fx, o);
    struct fk_http_stats st;
    FK_AUTO_BUF b;
    fk_buf_init(&b, 0);
    int fd[11];
    for (int i = 0; i < 11; i++)
        fd[i] = fx_connect(&fx);
    int refused = 0;
    fx_wait_for((fk_http_server_stats(fx.server, &st), st.refused == 1));
    for (int i = 0; i < 11; i++) {
        fk_buf_clear(&b);
        if (fx_read(fd[i], &b, NULL, i == 10 ? 1000 : 10) == 1) {
            assert_int_equal(fx_status(&b), 503);
            assert_true(fx_has(&b, "--http-connections"));
            refused++;
        }
    }
    assert_int_equal(refused, 1);
    for (int i = 0; i < 11; i++)
        fk_net_close(fd[i]);
    fx_wait_for((fk_http_server_stats(fx.server, &st), st.open == 0));
    fk_buf_clear(&b);
    int one = fx_connect(&fx);
    fx_say(one, "GET /a" H "\r\nGET /a" H "\r\nGET /a" H "\r\nGET /item/four" H "\r\n");
    assert_int_equal(fx_read(one, &b, NULL, 5000), 1);
    assert_true(fx_has(&b, "Connection: close"));
    assert_false(fx_has(&b, "item four"));
    fk_net_close(one);
    fx_stop(&fx);
}

// --- slowness ---
static struct fk_http_server_opts quick(void)
{
    struct fk_http_server_opts o = fx_opts();
    o.limits.head_ns = 200 * FK_NS_PER_MS;
    o.limits.idle_ns = 300 * FK_NS_PER_MS;
    o.limits.rate_ns = 200 * FK_NS_PER_MS;
    o.limits.linger_ns = 100 * FK_NS_PER_MS;
    return o;
}

// Sends a byte each 20 ms until the server has had enough; the answer is in b.
static int drip(struct fx *fx, const char *first, char c, struct fk_buf *b)
{
    int fd = fx_connect(fx);
    fk_buf_clear(b);
    fx_say(fd, first);
    for (int i = 0; i < 500; i++) {
        if (fx_read(fd, b, NULL, 20) != 0)
            break;
        fx_send(fd, &c, 1);
    }
    fk_net_close(fd);
    return fx_status(b);
}

static void test_slow_clients(void **state)
{
    (void)state;
    struct fx fx;
    FK_AUTO_BUF b;
    fk_buf_init(&b, 0);
    fx_start(&fx, quick());
    assert_int_equal(drip(&fx, "GET / HTTP/1.1\r\nHost: x\r\nA: ", 'x', &b), 408);
    assert_true(fx_has(&b, "--http-head-time"));
    assert_int_equal(drip(&fx, "POST /a" H "Content-Length: 1000\r\n\r\n", 'x', &b), 408);
    assert_true(fx_has(&b, "--http-body-rate"));
    assert_int_equal(drip(&fx, "POST /sink" H "Content-Length: 1000\r\n\r\n", 'x', &b), 408);
    assert_int_equal(fx.sink_aborted, 1);
    // Idle: closed without a word, before and after a request.
    int fd = fx_connect(&fx);
    fk_buf_clear(&b);
    assert_int_equal(fx_read(fd, &b, NULL, 5000), 1);
    assert_int_equal(b.n, 0);
    fk_net_close(fd);
    fd = fx_connect(&fx);
    fx_say(fd, "GET /a" H "\r\n");
    assert_int_equal(fx_read(fd, &b, NULL, 5000), 1);
    assert_int_equal(fx_status(&b), 200);
    fk_net_close(fd);
    struct fk_http_stats st;
    fk_http_server_stats(fx.server, &st);
    assert_int_equal(st.timeouts, 3);
    fx_stop(&fx);
}

// A client that asks for much and reads nothing: the writer is held up, then let go.
static void test_slow_reader(void **state)
{
    (void)state;
    struct fx fx;
    fx_start(&fx, quick());
    int fd = fx_connect(&fx);
    fx_say(fd, "GET /stream?n=100000000" H "\r\n");
    fx_wait_for(fx.started == 1);
    fx_wait_for(fx.cancelled == FK_E_CANCELLED);
    fx_wait_for(fx.accesses == 1);
    assert_true(fx.last_aborted);
    fk_net_close(fd);
    // One that reads, if slowly, gets everything.
    fd = fx_connect(&fx);
    fx_say(fd, "GET /stream?n=3000000" H CLOSE "\r\n");
    FK_AUTO_BUF b;
    fk_buf_init(&b, 0);
    int rc = 0;
    for (int i = 0; rc == 0 && i < 1000; i++) {
        fk_sleep_ns(FK_NS_PER_MS);
        rc = fx_read(fd, &b, NULL, 1);
    }
    assert_int_equal(rc, 1);
    assert_true(fk_str_ends(fk_buf_view(&b), FK_S("0\r\nx-end: yes\r\n\r\n")));
    fk_net_close(fd);
    fx_stop(&fx);
}

static void test_disconnect_and_deadline_cancel(void **state)
{
    (void)state;
    struct fx fx;
    FK_AUTO_BUF b;
    fk_buf_init(&b, 0);
    fx_start(&fx, fx_opts());
    int fd = fx_connect(&fx);
    fx_say(fd, "GET /wait" H "\r\n");
    fx_wait_for(fx.started == 1);
    fk_net_close(fd);
    fx_wait_for(fx.cancelled == FK_E_CANCELLED);
    static const char d[] = "GET /deadline" H CLOSE "\r\n";
    assert_int_equal(fx_ask(&fx, d, strlen(d), &b), 200);
    assert_int_equal(fx.cancelled, FK_E_TIMEOUT);
    // Half-closed: the handler is told, but what it says still arrives.
    fx.cancelled = 0;
    fd = fx_connect(&fx);
    fx_say(fd, "GET /wait" H "\r\n");
    fx_wait_for(fx.started == 3);
    fk_net_end_writes(fd);
    fk_buf_clear(&b);
    assert_int_equal(fx_read(fd, &b, "waited", 5000), 1);
    assert_int_equal(fx.cancelled, FK_E_CANCELLED);
    fk_net_close(fd);
    // An upload that came whole is taken, though its sender has ended its direction at once.
    for (int i = 0; i < 50; i++) {
        fd = fx_connect(&fx);
        fx_say(fd, "POST /a" H "Content-Length: 3\r\n\r\nabc");
        fk_net_end_writes(fd);
        fk_buf_clear(&b);
        assert_int_equal(fx_read(fd, &b, "|abc", 5000), 1);
        fk_net_close(fd);
    }
    fx_stop(&fx);
}

// --- the end ---
struct drainer {
    struct fx *fx;
    struct fk_thread thread;
    int64_t grace;
    _Atomic int done;
};

static void drain(void *arg)
{
    struct drainer *d = arg;
    fk_http_server_drain(d->fx->server, d->grace);
    d->done = 1;
}

static bool refused(struct fx *fx)
{
    struct fk_err err;
    uint32_t ready;
    int fd;
    if (fk_net_connect(&fx->addr, &fd, &err))
        return true;
    bool no =
        fk_net_wait(fd, FK_READY_OUT, FK_NS_PER_S, &ready, &err) || fk_net_connected(fd, &err) != 0;
    fk_net_close(fd);
    return no;
}

static void test_drain_with_an_upload_in_flight(void **state)
{
    (void)state;
    struct fx fx;
    struct fk_err err;
    FK_AUTO_BUF b;
    fk_buf_init(&b, 0);
    fx_start(&fx, fx_opts());
    struct drainer d = {.fx = &fx, .grace = 60 * FK_NS_PER_S};
    int idle = fx_connect(&fx), up = fx_connect(&fx), wait = fx_connect(&fx);
    fx_say(up, "POST /a" H "Content-Length: 6\r\n\r\nabc");
    fx_say(wait, "GET /wait" H "\r\n");
    fx_wait_for(fx.started == 1);
    fk_test_ok(fk_thread_start(&d.thread, "drain", drain, &d, &err), &err);
    assert_int_equal(fx_read(idle, &b, NULL, 5000), 1); // closed at once
    fx_wait_for(refused(&fx));
    assert_false(d.done);
    fx_say(up, "def");
    assert_int_equal(fx_read(up, &b, NULL, 5000), 1);
    assert_true(fx_has(&b, "|abcdef") && fx_has(&b, "Connection: close"));
    fk_net_close(up);
    fx.release = 1;
    fk_buf_clear(&b);
    assert_int_equal(fx_read(wait, &b, NULL, 5000), 1);
    assert_true(fx_has(&b, "waited") && fx_has(&b, "Connection: close"));
    fk_net_close(wait);
    fk_thread_join(&d.thread);
    fk_net_close(idle);
    fx_stop(&fx);
}

// What reached the socket before the drain began is answered, whether or not it was looked at.
static void test_drain_answers_what_is_there(void **state)
{
    (void)state;
    enum { N = 50 };
    struct fx fx;
    struct fk_http_server_opts o = fx_opts();
    int fd[N];
    fx_start(&fx, o);
    for (int i = 0; i < N; i++)
        fd[i] = fx_connect(&fx);
    for (int i = 0; i < N; i++)
        fx_say(fd[i], "GET /item/late" H "\r\n");
    fk_http_server_drain(fx.server, 10 * FK_NS_PER_S);
    for (int i = 0; i < N; i++) {
        FK_AUTO_BUF b;
        fk_buf_init(&b, 0);
        fx_read(fd[i], &b, "item late", 5000);
        assert_true(fx_has(&b, "item late"));
        fk_net_close(fd[i]);
    }
    fx_stop(&fx);
}

static void test_drain_cuts_after_its_grace(void **state)
{
    (void)state;
    struct fx fx;
    fx_start(&fx, fx_opts());
    int fd[3];
    for (int i = 0; i < 3; i++)
        fd[i] = fx_connect(&fx);
    fx_say(fd[0], "GET /wait" H "\r\n");
    fx_say(fd[1], "POST /a" H "Content-Length: 6\r\n\r\nabc");
    fx_say(fd[2], "GET / HT");
    fx_wait_for(fx.started == 1);
    fk_http_server_drain(fx.server, 100 * FK_NS_PER_MS);
    assert_int_equal(fx.cancelled, FK_E_STOPPED);
    for (int i = 0; i < 3; i++)
        fk_net_close(fd[i]);
    fx_stop(&fx);
}

// --- many ---
static void test_two_thousand_idle_connections(void **state)
{
    (void)state;
    enum { N = 2000 };
    static int fd[N];
    struct fx fx;
    struct fk_err err;
    struct fk_process_facts before, after;
    struct fk_http_stats st;
    uint64_t fds = 0;
    fk_process_raise_fds(2 * N + 200, &fds, &err);
    if (fds < 2 * N + 200) {
        print_message("SKIP idle connections: only %llu descriptors allowed\n",
                      (unsigned long long)fds);
        return;
    }
    fx_start(&fx, fx_opts());
    FK_AUTO_BUF b;
    fk_buf_init(&b, 0);
    fk_test_ok(fk_process_facts(&before, &err), &err);
    for (int i = 0; i < N; i++) { // each has had a request, so that what it keeps is counted
        fd[i] = fx_connect(&fx);
        fk_buf_clear(&b);
        fx_say(fd[i], "GET /a" H "\r\n");
        assert_int_equal(fx_read(fd[i], &b, "hello", 5000), 1);
    }
    fx_wait_for((fk_http_server_stats(fx.server, &st), st.active == 0));
    assert_int_equal(st.open, N);
    fk_test_ok(fk_process_facts(&after, &err), &err);
    print_message("%d idle connections: %lld bytes of memory each\n", N,
                  (long long)(after.resident_anon_bytes - before.resident_anon_bytes) / N);
    static const char ask[] = "GET /item/busy" H CLOSE "\r\n";
    assert_int_equal(fx_ask(&fx, ask, strlen(ask), &b), 200);
    for (int i = 0; i < N; i++)
        fk_net_close(fd[i]);
    fx_wait_for((fk_http_server_stats(fx.server, &st), st.open == 0));
    fx_stop(&fx);
}

static void test_counters(void **state)
{
    (void)state;
    struct fx fx;
    struct fk_http_route_stats r;
    FK_AUTO_BUF b;
    fk_buf_init(&b, 0);
    fx_start(&fx, fx_opts());
    static const char a[] = "POST /a" H CLOSE "Content-Length: 5\r\n\r\nabcde",
                      n[] = "GET /nothing" H CLOSE "\r\n", x[] = "GARBAGE\r\n\r\n";
    for (int i = 0; i < 3; i++)
        assert_int_equal(fx_ask(&fx, a, strlen(a), &b), 200);
    assert_int_equal(fx_ask(&fx, n, strlen(n), &b), 404);
    fx_ask(&fx, x, strlen(x), &b);
    fx_wait_for(fx.accesses == 5);
    fk_http_route_stats(fx.server, 2, &r);
    assert_int_equal(r.requests, 3);
    assert_int_equal(r.status[2], 3);
    assert_int_equal(r.bytes_in, 3 * strlen(a));
    assert_true(r.bytes_out > 300);
    uint64_t sum = 0;
    for (size_t i = 0; i < FK_HTTP_BUCKETS; i++)
        sum += r.bucket[i];
    assert_int_equal(sum, 3);
    fk_http_route_stats(fx.server, FK_COUNTOF(fx_routes), &r);
    assert_int_equal(r.requests, 2);
    assert_true(r.status[4] >= 1);
    fx_stop(&fx);
}

static void test_bad_options(void **state)
{
    (void)state;
    struct fk_err err;
    struct fk_http_server *s;
    struct fk_pool_opts po = {.workers = 2};
    struct fk_pool *pool;
    fk_test_ok(fk_pool_new(&po, &pool, &err), &err);
    struct fk_http_server_opts o = fx_opts();
    fk_test_fails(fk_http_server_new(&o, &s, &err), FK_E_INVALID);
    o.pool = pool;
    o.limits.idle_ns = 0;
    fk_test_fails(fk_http_server_new(&o, &s, &err), FK_E_INVALID);
    assert_non_null(strstr(err.msg, "--http-idle-time"));
    o = fx_opts();
    o.pool = pool;
    o.loops = 1000;
    fk_test_fails(fk_http_server_new(&o, &s, &err), FK_E_LIMIT);
    static const struct fk_http_route bad[] = {
        {.method = "GET", .pattern = "x"},
        {.method = "GET", .pattern = "/x"},
        {.method = NULL, .pattern = "/x", .run = fx_hello},
        {.method = "GET", .pattern = "/{a...}/x", .run = fx_hello}};
    o.loops = 1;
    for (size_t i = 0; i < FK_COUNTOF(bad); i++) {
        o.routes = &bad[i];
        o.routes_n = 1;
        fk_test_fails(fk_http_server_new(&o, &s, &err), FK_E_INVALID);
    }
    fk_pool_free(pool);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_two_thousand_idle_connections),
        cmocka_unit_test(test_limits_of_the_header),
        cmocka_unit_test(test_limits_of_bodies),
        cmocka_unit_test(test_spool_folder_fails),
        cmocka_unit_test(test_connections_and_requests),
        cmocka_unit_test(test_slow_clients),
        cmocka_unit_test(test_slow_reader),
        cmocka_unit_test(test_disconnect_and_deadline_cancel),
        cmocka_unit_test(test_drain_with_an_upload_in_flight),
        cmocka_unit_test(test_drain_answers_what_is_there),
        cmocka_unit_test(test_drain_cuts_after_its_grace),
        cmocka_unit_test(test_counters),
        cmocka_unit_test(test_bad_options),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
