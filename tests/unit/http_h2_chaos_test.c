// SPDX-License-Identifier: Apache-2.0
// HTTP/2 clients that do anything at any time, several at once: requests of every kind, uploads in
// pieces, streams given up, windows that shrink, frames that are rubbish, connections that break.
// Whoever behaves gets all its answers; at the end nothing is left over. Seeded, with FK_SEEDS for
// more. Meant for the sanitizers.
#include "h2_fixture.h"

struct rnd {
    uint64_t s;
};

static uint32_t draw(struct rnd *r, uint32_t n)
{
    r->s = fk_hash_u64(r->s + 0x9e3779b97f4a7c15u);
    return (uint32_t)(r->s >> 20) % n;
}

struct client {
    struct fx *fx;
    struct rnd rnd;
    struct fk_thread thread;
    uint64_t rounds;
    int bad;
    bool given_up[H2_STREAMS]; // by us
    uint32_t next;             // stream
};

static const char *const paths[] = {"/a",
                                    "/item/x",
                                    "/json",
                                    "/stream?n=100000",
                                    "/stream?n=40000&length=1",
                                    "/trailer",
                                    "/nothing",
                                    "/fail",
                                    "/show",
                                    "/stream?n=30000&abort=1"};

static void post(struct client *k, struct h2 *c, uint32_t id)
{
    static const char *const to[] = {"/a", "/big", "/sink", "/keep"};
    struct rnd *r = &k->rnd;
    uint32_t where = draw(r, 4), n = draw(r, where == 1 ? 300000 : 30000);
    char lines[300];
    char *body = calloc(1, n + 1);
    snprintf(lines, sizeof(lines), ":method: POST\n:path: %s\n:scheme: http\n:authority: x\n%s",
             to[where], draw(r, 4) ? "" : "expect: 100-continue\n");
    h2_headers(c, id, lines, false);
    for (uint32_t at = 0; at < n;) {
        uint32_t most = 1 + draw(r, 20000), piece = FK_MIN(n - at, most);
        h2_data(c, id, body + at, piece, false);
        at += piece;
        if (draw(r, 30) == 0) { // leaves it unfinished
            h2_rst(c, id);
            k->given_up[id / 2] = true;
            free(body);
            return;
        }
    }
    if (draw(r, 4))
        h2_send(c, NGHTTP2_DATA, NGHTTP2_FLAG_END_STREAM, id, NULL, 0);
    else
        h2_headers(c, id, "x-t: y\n", true);
    free(body);
}

static void rubbish(struct rnd *r, struct h2 *c)
{
    char bytes[64];
    uint32_t n = draw(r, sizeof(bytes));
    for (uint32_t i = 0; i < n; i++)
        bytes[i] = (char)draw(r, 256);
    if (draw(r, 2))
        fx_send(c->fd, bytes, n);
    else
        h2_send(c, (uint8_t)draw(r, 11), (uint8_t)draw(r, 256), draw(r, 2 * 20), bytes, n);
}

// One thing a client may do.
static void act(struct client *k, struct h2 *c)
{
    struct rnd *r = &k->rnd;
    uint32_t some = draw(r, (k->next + 1) / 2) * 2 + 1;
    switch (draw(r, 8)) {
    case 0:
    case 1:
        post(k, c, k->next);
        k->next += 2;
        break;
    case 2:
        if (some < k->next) {
            h2_rst(c, some);
            k->given_up[some / 2] = true;
        }
        break;
    case 3:
        h2_send(c, NGHTTP2_PING, 0, 0, "12345678", 8);
        break;
    case 4:
        h2_setting(c, NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, draw(r, 2) ? 1000 : 1u << 20);
        break;
    case 5:
        h2_pump(c, (int)draw(r, 3));
        break;
    default:
        h2_get(c, k->next, paths[draw(r, FK_COUNTOF(paths))]);
        k->next += 2;
    }
}

// All that was asked for and not given up has been answered, or cut by its handler.
static bool is_answered(struct client *k, struct h2 *c)
{
    h2_setting(c, NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, 1u << 24);
    for (uint32_t id = 1; id < k->next; id += 2) {
        struct h2_answer *a = &c->s[id / 2];
        if (k->given_up[id / 2])
            continue;
        while (!a->end && !a->reset && h2_pump(c, 10000))
            ;
        if (!a->end && !(a->reset && a->code == NGHTTP2_INTERNAL_ERROR))
            return false;
    }
    return true;
}

static void run_client(void *arg)
{
    struct client *k = arg;
    for (uint64_t i = 0; i < k->rounds; i++) {
        struct h2 c;
        bool behaves = draw(&k->rnd, 2) == 0;
        memset(k->given_up, 0, sizeof(k->given_up));
        k->next = 1;
        h2_open(&c, k->fx);
        h2_window(&c, 0, 1u << 30);
        for (uint32_t n = 1 + draw(&k->rnd, 40); n > 0 && !c.closed; n--) {
            act(k, &c);
            if (!behaves && draw(&k->rnd, 20) == 0)
                rubbish(&k->rnd, &c);
        }
        if (behaves && draw(&k->rnd, 4))
            k->bad += !is_answered(k, &c);
        h2_close(&c);
    }
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
    fx.release = 1; // /keep ends at once
    for (int i = 0; i < N; i++) {
        client[i] =
            (struct client){.fx = &fx, .rnd = {(uint64_t)i + 1}, .rounds = fk_test_seeds(60)};
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
        enum { N = 20 };
        struct fx fx;
        struct h2 c[N];
        struct fk_http_server_opts o = fx_opts();
        struct client k = {.fx = &fx, .rnd = {round + 100}};
        o.limits.spool_from = 100000;
        fx_start(&fx, o);
        fx.release = 1;
        for (int i = 0; i < N; i++) {
            k.next = 1;
            h2_open(&c[i], &fx);
            for (uint32_t n = draw(&k.rnd, 10); n > 0; n--)
                act(&k, &c[i]);
        }
        fk_http_server_drain(fx.server, draw(&k.rnd, 30) * FK_NS_PER_MS);
        for (int i = 0; i < N; i++)
            h2_close(&c[i]);
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
