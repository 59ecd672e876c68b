// SPDX-License-Identifier: Apache-2.0
// grpc.health.v1 while the server comes and goes, and what is asked of a browser's name for the
// server.
#include "api_fixture.h"

#define WEB                                                                                        \
    "POST /grpc.health.v1.Health/Watch HTTP/1.1\r\nHost: x\r\n"                                    \
    "Content-Type: application/grpc-web+proto\r\n"
#define CONNECT                                                                                    \
    "POST /grpc.health.v1.Health/Watch HTTP/1.1\r\nHost: x\r\n"                                    \
    "Content-Type: application/connect+proto\r\n"
// A question without a service, and the statuses as they come back: an envelope each.
#define WATCH       WEB "Content-Length: 5\r\n\r\n\0\0\0\0\0"
#define SERVING     "\0\0\0\0\2\x08\1"
#define NOT_SERVING "\0\0\0\0\2\x08\2"

struct raw {
    int fd;
    struct fk_buf in;
};

static void open_raw(struct world *w, struct raw *c)
{
    struct fk_err err;
    uint32_t ready;
    fk_test_ok(fk_net_connect(&w->at, &c->fd, &err), &err);
    fk_test_ok(fk_net_wait(c->fd, FK_READY_OUT, 10 * FK_NS_PER_S, &ready, &err), &err);
    fk_test_ok(fk_net_connected(c->fd, &err), &err);
    fk_buf_init(&c->in, 0);
}

static void say(struct raw *c, struct fk_str text)
{
    struct fk_err err;
    size_t n = 0;
    assert_int_equal(fk_net_write(c->fd, text.p, text.n, &n, &err), FK_IO_OK);
    assert_int_equal(n, text.n);
}

static bool hears(struct raw *c, struct fk_str text)
{
    struct fk_err err;
    uint32_t ready = 1;
    while (fk_str_find(fk_buf_view(&c->in), text) < 0) {
        char some[4096];
        size_t n = 0;
        int rc = fk_net_read(c->fd, some, sizeof(some), &n, &err);
        fk_buf_put(&c->in, some, n);
        if (rc == FK_IO_AGAIN)
            rc = fk_net_wait(c->fd, FK_READY_IN, 10 * FK_NS_PER_S, &ready, &err);
        if (rc < 0 || rc == FK_IO_END || !ready)
            return false;
    }
    fk_buf_clear(&c->in);
    return true;
}

static void close_raw(struct raw *c)
{
    fk_net_close(c->fd);
    fk_buf_free(&c->in);
}

static void test_watchers_hear_of_changes(void **state)
{
    struct world *w = *state;
    struct raw a, b;
    start(w, FK_AUTH_NONE, false);
    w->api->ready = false; // as before all is there
    open_raw(w, &a);
    open_raw(w, &b);
    say(&a, FK_S(WATCH));
    assert_true(hears(&a, FK_S(NOT_SERVING)));
    fk_api_set_ready(w->api, true);
    assert_true(hears(&a, FK_S(SERVING)));
    // One that has not finished its question, and begun another.
    say(&b, FK_S(WEB "Content-Length: 100\r\n\r\n\0\0\0\0\0\0\0\0\0\x09par"));
    assert_true(hears(&b, FK_S(SERVING)));
    fk_api_set_ready(w->api, false);
    assert_true(hears(&a, FK_S("grpc-status: 14")));
    assert_true(hears(&b, FK_S("grpc-status: 14")));
    close_raw(&a);
    close_raw(&b);
}

// Else it would hold up the end of the server.
static void test_nobody_watches_a_server_that_goes(void **state)
{
    struct world *w = *state;
    struct raw c;
    start(w, FK_AUTH_NONE, false);
    fk_api_set_ready(w->api, false);
    open_raw(w, &c);
    say(&c, FK_S(WATCH));
    assert_true(hears(&c, FK_S("grpc-status: 14")));
    close_raw(&c);
}

// Over HTTP/1.1: with the question complete, and still open; in both forms of an outcome.
static void test_watchers_have_a_deadline(void **state)
{
    struct world *w = *state;
    struct raw a, b, c;
    start(w, FK_AUTH_NONE, false);
    open_raw(w, &a);
    open_raw(w, &b);
    open_raw(w, &c);
    say(&a, FK_S(WEB "Grpc-Timeout: 30m\r\nContent-Length: 5\r\n\r\n\0\0\0\0\0"));
    say(&b, FK_S(WEB "Grpc-Timeout: 30m\r\nContent-Length: 100\r\n\r\n\0\0\0\0\0"));
    say(&c, FK_S(CONNECT "Connect-Timeout-Ms: 30\r\nContent-Length: 5\r\n\r\n\0\0\0\0\0"));
    assert_true(hears(&a, FK_S("grpc-status: 4\r\n")));
    assert_true(hears(&b, FK_S("grpc-status: 4\r\n")));
    assert_true(hears(&c, FK_S("\"code\":\"deadline_exceeded\"")));
    close_raw(&a);
    close_raw(&b);
    close_raw(&c);
    // Nobody of them is told of what comes then.
    fk_api_set_ready(w->api, false);
}

static void test_watchers_that_leave(void **state)
{
    struct world *w = *state;
    struct fk_http_stats s;
    struct raw c;
    start(w, FK_AUTH_NONE, false);
    for (int i = 0; i < 3; i++) {
        open_raw(w, &c);
        say(&c, FK_S(WATCH));
        assert_true(hears(&c, FK_S(SERVING)));
        close_raw(&c);
    }
    for (int left = 10000; left > 0; left--) {
        fk_http_server_stats(w->server, &s);
        if (s.open == 0)
            break;
        fk_sleep_ns(FK_NS_PER_MS);
    }
    assert_int_equal(s.open, 0);
}

// A page that lets its own name resolve to this machine learns nothing of the server.
static void test_names_for_browsers(void **state)
{
    static const struct {
        const char *path;
        int status;
    } paths[] = {{"/api/v1/services", 403},
                 {"/pyroscope/label-values?label=a", 403},
                 {"/metrics", 403},
                 {"/config", 403},
                 {"/ready", 200}};
    struct world *w = *state;
    start(w, FK_AUTH_NONE, false);
    fk_api_set_local(w->api, true);
    for (size_t i = 0; i < FK_COUNTOF(paths); i++) {
        struct raw c;
        char text[300], want[40];
        open_raw(w, &c);
        int n = snprintf(text, sizeof(text),
                         "GET %s HTTP/1.1\r\nHost: evil.example\r\nUser-Agent: Mozilla/5.0\r\n\r\n",
                         paths[i].path);
        say(&c, fk_str_make(text, (size_t)n));
        snprintf(want, sizeof(want), "HTTP/1.1 %d ", paths[i].status);
        if (!hears(&c, fk_str_of(want)))
            fail_msg("%s: not %d", paths[i].path, paths[i].status);
        close_raw(&c);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_watchers_hear_of_changes), TEST(test_nobody_watches_a_server_that_goes),
        TEST(test_watchers_have_a_deadline), TEST(test_watchers_that_leave),
        TEST(test_names_for_browsers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
