// SPDX-License-Identifier: Apache-2.0
// Clients that do anything at any time: requests of every kind cut into random pieces, pipelined,
// given up, reset, half-closed, never read. Whoever behaves gets all its answers; at the end
// nothing is left over. Seeded, with FK_SEEDS for more. Meant for the sanitizers.
#include "http_fixture.h"

#include <sys/socket.h>

#define H " HTTP/1.1\r\nHost: x\r\n"

struct rnd {
    uint64_t s;
};

static uint32_t draw(struct rnd *r, uint32_t n)
{
    r->s = fk_hash_u64(r->s + 0x9e3779b97f4a7c15u);
    return (uint32_t)(r->s >> 20) % n;
}

static void put_body(struct rnd *r, struct fk_buf *b, const char *path, size_t n)
{
    struct fk_buf body, z;
    fk_buf_init(&body, 0);
    fk_buf_init(&z, 0);
    fk_buf_fill(&body, (uint8_t)draw(r, 256), n);
    if (n && draw(r, 3) == 0 && fk_gzip(body.p, body.n, 1, &z, NULL) == 0) {
        fk_buf_printf(b, "POST %s" H "Content-Encoding: gzip\r\n", path);
        fk_buf_free(&body);
        body = z;
    } else {
        fk_buf_free(&z);
        fk_buf_printf(b, "POST %s" H, path);
    }
    if (draw(r, 2)) {
        fk_buf_printf(b, "Content-Length: %zu\r\n\r\n", body.n);
        fk_buf_str(b, fk_buf_view(&body));
    } else {
        fk_buf_cstr(b, "Transfer-Encoding: chunked\r\n\r\n");
        for (size_t at = 0; at < body.n;) {
            size_t k = 1 + draw(r, 20000);
            k = FK_MIN(body.n - at, k);
            fk_buf_printf(b, "%zx\r\n", k);
            fk_buf_put(b, body.p + at, k);
            fk_buf_cstr(b, "\r\n");
            at += k;
        }
        fk_buf_cstr(b, draw(r, 2) ? "0\r\n\r\n" : "0\r\nX-T: y\r\n\r\n");
    }
    fk_buf_free(&body);
}

// One good request.
static void put_request(struct rnd *r, struct fk_buf *b)
{
    static const char *const gets[] = {
        "/a",       "/item/x", "/json", "/stream?n=100000", "/stream?n=40000&length=1",
        "/nothing", "/fail"};
    switch (draw(r, 5)) {
    case 0:
        put_body(r, b, "/a", draw(r, 50000));
        break;
    case 1:
        put_body(r, b, "/big", draw(r, 400000)); // spooled from 100,000
        break;
    case 2:
        put_body(r, b, "/sink", draw(r, 100000));
        break;
    case 3:
        fk_buf_printf(b, "HEAD %s" H "\r\n", gets[draw(r, FK_COUNTOF(gets))]);
        break;
    default:
        fk_buf_printf(b, "GET %s" H "Accept-Encoding: gzip\r\n\r\n",
                      gets[draw(r, FK_COUNTOF(gets))]);
    }
}

static void spoil(struct rnd *r, struct fk_buf *b)
{
    for (uint32_t i = 1 + draw(r, 3); i > 0 && b->n; i--)
        b->p[draw(r, (uint32_t)FK_MIN(b->n, (size_t)300))] = (char)draw(r, 256);
}

static void reset(int fd)
{
    struct linger l = {1, 0};
    setsockopt(fd, SOL_SOCKET, SO_LINGER, &l, sizeof(l));
}

// Sends up to n bytes in random pieces, reading now and then.
static void send_pieces(struct rnd *r, int fd, const struct fk_buf *b, size_t n, bool read,
                        struct fk_buf *in)
{
    for (size_t at = 0; at < n;) {
        size_t k = 1 + draw(r, draw(r, 4) ? 60000 : 50), sent = 0;
        k = FK_MIN(n - at, k);
        int rc = fk_net_write(fd, b->p + at, k, &sent, NULL);
        if (rc < 0)
            return;
        at += sent;
        if (rc == FK_IO_AGAIN) {
            uint32_t ready;
            if (!read)
                return; // it would wait for ever
            fk_net_wait(fd, FK_READY_OUT | FK_READY_IN, FK_NS_PER_S, &ready, NULL);
        }
        if (read && fx_read(fd, in, "\xff\xfe none", 0) != 0)
            return;
    }
}

static size_t count_answers(const struct fk_buf *b)
{
    struct fk_str s = fk_buf_view(b);
    size_t n = 0;
    for (ptrdiff_t at; (at = fk_str_find(s, FK_S("HTTP/1.1 "))) >= 0; n++)
        s = fk_str_from(s, (size_t)at + 9);
    return n;
}

struct client {
    struct fx *fx;
    struct rnd rnd;
    uint64_t rounds;
    struct fk_thread thread;
    _Atomic int bad;
};

// One that behaves: all its requests, then the end; as many answers as requests.
static void behave(struct client *c)
{
    struct fk_buf out, in;
    uint32_t n = 1 + draw(&c->rnd, 6);
    fk_buf_init(&out, 0);
    fk_buf_init(&in, 0);
    for (uint32_t i = 1; i < n; i++)
        put_request(&c->rnd, &out);
    fk_buf_cstr(&out, "GET /item/last" H "Connection: close\r\n\r\n");
    int fd = fx_connect(c->fx);
    send_pieces(&c->rnd, fd, &out, out.n, true, &in);
    int rc = fx_read(fd, &in, NULL, 30000);
    size_t got = count_answers(&in);
    if (rc != 1 || got != n || !fx_has(&in, "item last")) {
        print_error("%u requests, %zu answers, read %d\n", n, got, rc);
        c->bad++;
    }
    fk_net_close(fd);
    fk_buf_free(&out);
    fk_buf_free(&in);
}

static void misbehave(struct client *c)
{
    struct fk_buf out, in;
    fk_buf_init(&out, 0);
    fk_buf_init(&in, 0);
    for (uint32_t i = 1 + draw(&c->rnd, 4); i > 0; i--)
        put_request(&c->rnd, &out);
    if (draw(&c->rnd, 3) == 0)
        spoil(&c->rnd, &out);
    int fd = fx_connect(c->fx);
    bool read = draw(&c->rnd, 2);
    send_pieces(&c->rnd, fd, &out, draw(&c->rnd, (uint32_t)out.n + 1), read, &in);
    switch (draw(&c->rnd, 4)) {
    case 0:
        reset(fd);
        break;
    case 1:
        fk_net_end_writes(fd);
        fx_read(fd, &in, NULL, (int)draw(&c->rnd, 20));
        break;
    case 2:
        fk_sleep_ns(draw(&c->rnd, 3) * FK_NS_PER_MS);
        break;
    default:
        break;
    }
    fk_net_close(fd);
    fk_buf_free(&out);
    fk_buf_free(&in);
}

static void run_client(void *arg)
{
    struct client *c = arg;
    for (uint64_t i = 0; i < c->rounds; i++)
        if (draw(&c->rnd, 2))
            behave(c);
        else
            misbehave(c);
}

static void test_chaos(void **state)
{
    (void)state;
    enum { N = 4 };
    struct fx fx;
    struct fk_err err;
    static struct client client[N];
    struct fk_http_server_opts o = fx_opts();
    o.limits.spool_from = 100000;
    o.limits.linger_ns = 100 * FK_NS_PER_MS;
    o.limits.answer_buffer = 64 << 10;
    fx_start(&fx, o);
    for (int i = 0; i < N; i++) {
        client[i] =
            (struct client){.fx = &fx, .rnd = {(uint64_t)i + 1}, .rounds = fk_test_seeds(150)};
        fk_test_ok(fk_thread_start(&client[i].thread, "client", run_client, &client[i], &err),
                   &err);
    }
    int bad = 0;
    for (int i = 0; i < N; i++) {
        fk_thread_join(&client[i].thread);
        bad += client[i].bad;
    }
    assert_int_equal(bad, 0);
    struct fk_http_stats st;
    fx_wait_for((fk_http_server_stats(fx.server, &st), st.open == 0 && st.active == 0));
    fx_stop(&fx); // asserts that no byte is charged any more
}

// The same with the server ending in the midst of it.
static void test_drain_in_chaos(void **state)
{
    (void)state;
    for (uint64_t round = 0; round < fk_test_seeds(5); round++) {
        struct fx fx;
        struct fk_http_server_opts o = fx_opts();
        o.limits.spool_from = 100000;
        fx_start(&fx, o);
        int fd[40];
        struct rnd r = {round + 100};
        for (int i = 0; i < 40; i++) {
            struct fk_buf out;
            fk_buf_init(&out, 0);
            fd[i] = fx_connect(&fx);
            put_request(&r, &out);
            put_request(&r, &out);
            send_pieces(&r, fd[i], &out, draw(&r, (uint32_t)out.n + 1), false, NULL);
            fk_buf_free(&out);
        }
        fk_http_server_drain(fx.server, draw(&r, 30) * FK_NS_PER_MS);
        for (int i = 0; i < 40; i++)
            fk_net_close(fd[i]);
        fx_stop(&fx);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_chaos),
        cmocka_unit_test(test_drain_in_chaos),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
