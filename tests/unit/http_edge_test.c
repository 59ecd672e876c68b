// SPDX-License-Identifier: Apache-2.0
// Rarer ways through the server: no descriptors, no free worker, uploads that are slow but fast
// enough, answers that begin before their request has ended, lengths that do not agree.
#include "http_fixture.h"

#include <sys/resource.h>

#define H     " HTTP/1.1\r\nHost: x\r\n"
#define CLOSE "Connection: close\r\n"

// --- routes of this file ---
static void flush_first(void *arg, struct fk_http_req *req, struct fk_http_res *res)
{
    struct fx *fx = arg;
    struct fk_err err;
    (void)req;
    fk_http_res_status(res, 202);
    assert_false(fk_http_res_begun(res));
    fk_http_res_flush(res, &err); // only the header
    assert_true(fk_http_res_begun(res));
    assert_int_equal(fk_http_res_get_status(res), 202);
    fk_test_fails(fk_http_res_set(res, "X-Late", FK_S("y")), FK_E_INVALID);
    fx->started++;
    while (!fx->release)
        fk_sleep_ns(FK_NS_PER_MS);
    fk_out_put(fk_http_res_out(res), "part one,", 9, &err);
    fk_http_res_flush(res, &err);
    fk_out_put(fk_http_res_out(res), "part two", 8, &err);
}

// Says a length and writes another.
static void short_answer(void *arg, struct fk_http_req *req, struct fk_http_res *res)
{
    struct fk_err err;
    (void)arg;
    (void)req;
    fk_http_res_length(res, 10);
    fk_http_res_write(res, "abc", 3, &err);
}

static void empty(void *arg, struct fk_http_req *req, struct fk_http_res *res)
{
    (void)arg;
    (void)req;
    fk_http_res_status(res, 204);
    fk_http_res_copy(res, FK_S("must not be sent"));
}

// Answers while the body still comes; what is too long afterwards can only be cut.
static void early_headers(void *arg, struct fk_http_req *req, struct fk_http_res *res)
{
    struct fk_err err;
    (void)arg;
    (void)req;
    fk_http_res_write(res, "early,", 6, &err);
    fk_http_res_flush(res, &err);
}

static enum fk_http_more early_body(void *arg, struct fk_http_req *req, struct fk_http_res *res,
                                    const uint8_t *p, size_t n)
{
    struct fk_err err;
    (void)arg;
    (void)req;
    fk_http_res_write(res, p, n, &err);
    fk_http_res_flush(res, &err);
    return FK_HTTP_MORE;
}

static void early_end(void *arg, struct fk_http_req *req, struct fk_http_res *res)
{
    (void)arg;
    (void)req;
    fk_http_res_end(res);
}

static const struct fk_http_sink early = {early_headers, early_body, early_end, early_end, NULL};

static struct fk_http_route routes[] = {
    {.method = "GET", .pattern = "/flush", .run = flush_first, .cls = FK_WORK_QUERY},
    {.method = "GET", .pattern = "/short", .run = short_answer, .cls = FK_WORK_QUERY},
    {.method = "GET", .pattern = "/empty", .run = empty, .cls = FK_WORK_QUERY},
    {.method = "GET", .pattern = "/wait", .run = fx_wait, .cls = FK_WORK_QUERY},
    {.method = "GET", .pattern = "/item/{id}", .run = fx_item, .on_loop = true},
    {.method = "POST", .pattern = "/early", .sink = &early, .body_max = 100000},
    {.method = "POST",
     .pattern = "/echo",
     .run = fx_echo,
     .body_max = 64 << 20,
     .cls = FK_WORK_INGEST},
    {.method = "POST",
     .pattern = "/raw",
     .run = fx_echo,
     .keep_encoding = true,
     .body_max = 64 << 20,
     .cls = FK_WORK_INGEST},
};

static void start_in(struct fx *fx, struct fk_http_server_opts o, size_t queue, const char *folder)
{
    struct fk_err err;
    struct fk_pool_opts po = {.workers = 2, .queue = {queue, queue, queue}};
    struct fk_addr any;
    memset(fx, 0, sizeof(*fx));
    fk_test_ok(fk_pool_new(&po, &fx->pool, &err), &err);
    for (size_t i = 0; i < FK_COUNTOF(routes); i++)
        routes[i].arg = fx;
    fx->folder = fk_test_tmpdir();
    o.routes = routes;
    o.routes_n = FK_COUNTOF(routes);
    o.pool = fx->pool;
    o.spool_folder = folder ? folder : fx->folder;
    o.arg = fx;
    o.access = fx_access;
    fk_test_ok(fk_http_server_new(&o, &fx->server, &err), &err);
    fk_test_ok(fk_addr_parse(FK_S("127.0.0.1:0"), 0, &any, &err), &err);
    fk_test_ok(fk_http_server_listen(fx->server, &any, &fx->addr, &err), &err);
    fk_test_ok(fk_http_server_start(fx->server, &err), &err);
}

static void start(struct fx *fx, struct fk_http_server_opts o, size_t queue)
{
    start_in(fx, o, queue, NULL);
}

static void test_answers(void **state)
{
    (void)state;
    struct fx fx;
    FK_AUTO_BUF b;
    fk_buf_init(&b, 0);
    start(&fx, fx_opts(), 0);
    int fd = fx_connect(&fx);
    fx_say(fd, "GET /flush" H CLOSE "\r\n");
    assert_int_equal(fx_read(fd, &b, "\r\n\r\n", 5000), 1); // before there is any body
    assert_int_equal(fx_status(&b), 202);
    assert_false(fx_has(&b, "part"));
    fx.release = 1;
    assert_int_equal(fx_read(fd, &b, NULL, 5000), 1);
    assert_true(fx_has(&b, "00000009\r\npart one,\r\n00000008\r\npart two\r\n0\r\n\r\n"));
    assert_false(fx_has(&b, "X-Late"));
    fk_net_close(fd);
    static const char s[] = "GET /short" H "\r\n";
    fx_ask(&fx, s, strlen(s), &b); // ends: the client sees that 7 bytes are missing
    assert_false(fx_has(&b, "abc\r\n"));
    static const char e[] = "GET /empty" H CLOSE "\r\n";
    assert_int_equal(fx_ask(&fx, e, strlen(e), &b), 204);
    assert_true(fk_str_ends(fk_buf_view(&b), FK_S("\r\n\r\n")));
    assert_false(fx_has(&b, "Content-Length") || fx_has(&b, "chunked"));
    fx_stop(&fx);
}

static void test_early_answers(void **state)
{
    (void)state;
    struct fx fx;
    FK_AUTO_BUF b;
    fk_buf_init(&b, 0);
    start(&fx, fx_opts(), 0);
    int fd = fx_connect(&fx);
    fx_say(fd, "POST /early" H "Content-Length: 6\r\n\r\n");
    assert_int_equal(fx_read(fd, &b, "early,", 5000), 1);
    fx_say(fd, "abc");
    assert_int_equal(fx_read(fd, &b, "abc", 5000), 1);
    fx_say(fd, "def");
    assert_int_equal(fx_read(fd, &b, "def\r\n0\r\n\r\n", 5000), 1);
    fk_net_close(fd);
    fk_buf_clear(&b);
    fd = fx_connect(&fx);
    fx_say(fd, "POST /early" H "Transfer-Encoding: chunked\r\n\r\n");
    assert_int_equal(fx_read(fd, &b, "early,", 5000), 1);
    FK_AUTO_BUF big;
    fk_buf_init(&big, 0);
    fk_buf_printf(&big, "%x\r\n", 200000u);
    fk_buf_fill(&big, 'y', 200000);
    fx_send(fd, big.p, big.n);
    fx_read(fd, &b, NULL, 5000);
    assert_false(fx_has(&b, "\r\n0\r\n\r\n")); // it does not look complete
    fk_net_close(fd);
    fx_stop(&fx);
}

// All workers busy and the queue full: said at once, and again a moment later it goes.
static void test_no_worker_is_free(void **state)
{
    (void)state;
    struct fx fx;
    FK_AUTO_BUF b;
    fk_buf_init(&b, 0);
    start(&fx, fx_opts(), 1);
    int fd[2];
    for (int i = 0; i < 2; i++) {
        fd[i] = fx_connect(&fx);
        fx_say(fd[i], "GET /wait" H "\r\n");
        if (i == 0)
            fx_wait_for(fx.started == 1);
    }
    struct fk_pool_stats ps;
    fx_wait_for((fk_pool_stats(fx.pool, &ps), ps.waiting[FK_WORK_QUERY] == 1));
    static const char ask[] = "GET /wait" H CLOSE "\r\n";
    assert_int_equal(fx_ask(&fx, ask, strlen(ask), &b), 503);
    assert_true(fx_has(&b, "Retry-After: 1") && fx_has(&b, "try again later"));
    static const char up[] = "POST /echo" H CLOSE "Content-Length: 3\r\n\r\nabc";
    assert_int_equal(fx_ask(&fx, up, strlen(up), &b), 200); // pushes have a worker of their own
    fx.release = 1;
    fx_wait_for((fk_pool_stats(fx.pool, &ps), ps.waiting[FK_WORK_QUERY] == 0));
    assert_int_equal(fx_ask(&fx, ask, strlen(ask), &b), 200);
    fk_net_close(fd[0]);
    fk_net_close(fd[1]);
    fx_stop(&fx);
}

static void test_slow_but_fast_enough(void **state)
{
    (void)state;
    struct fx fx;
    FK_AUTO_BUF b;
    fk_buf_init(&b, 0);
    struct fk_http_server_opts o = fx_opts();
    o.limits.rate_ns = 50 * FK_NS_PER_MS;
    o.limits.body_rate = 2000;
    start(&fx, o, 0);
    int fd = fx_connect(&fx);
    fx_say(fd, "POST /echo" H CLOSE "Content-Length: 40000\r\n\r\n");
    static char piece[1000];
    for (int i = 0; i < 40; i++) { // a hundred times the rate asked for, over several spans
        fx_send(fd, piece, sizeof(piece));
        fk_sleep_ns(5 * FK_NS_PER_MS);
    }
    assert_int_equal(fx_read(fd, &b, NULL, 5000), 1);
    assert_int_equal(fx_status(&b), 200);
    fk_net_close(fd);
    fx_stop(&fx);
}

static void test_more_codings(void **state)
{
    (void)state;
    struct fx fx;
    struct fk_err err;
    FK_AUTO_BUF b;
    FK_AUTO_BUF z;
    FK_AUTO_BUF in;
    fk_buf_init(&b, 0);
    fk_buf_init(&z, 0);
    fk_buf_init(&in, 0);
    start(&fx, fx_opts(), 0);
    size_t n = 6 << 20; // too long for the quick way, too short for a file
    char *body = malloc(n), want[80];
    for (size_t i = 0; i < n; i++)
        body[i] = (char)(fk_hash_u64(i / 8) >> (i % 3));
    fk_test_ok(fk_gzip(body, n, 1, &z, &err), &err);
    fk_buf_printf(&in, "POST /echo" H CLOSE "Content-Encoding: gzip\r\nContent-Length: %zu\r\n\r\n",
                  z.n);
    fk_buf_str(&in, fk_buf_view(&z));
    assert_int_equal(fx_ask(&fx, in.p, in.n, &b), 200);
    snprintf(want, sizeof(want), "%zu %016llx memory|", n,
             (unsigned long long)fk_checksum(body, n));
    assert_true(fx_has(&b, want));
    fk_buf_clear(&in); // the same to a route that wants it as it is
    fk_buf_printf(&in, "POST /raw" H CLOSE "Content-Encoding: gzip\r\nContent-Length: %zu\r\n\r\n",
                  z.n);
    fk_buf_str(&in, fk_buf_view(&z));
    assert_int_equal(fx_ask(&fx, in.p, in.n, &b), 200);
    snprintf(want, sizeof(want), "%zu %016llx memory|", z.n,
             (unsigned long long)fk_checksum(z.p, z.n));
    assert_true(fx_has(&b, want));
    free(body);
    static const char two[] = "POST /echo" H CLOSE "Content-Encoding: gzip\r\n"
                              "Content-Encoding: gzip\r\nContent-Length: 1\r\n\r\nx";
    assert_int_equal(fx_ask(&fx, two, strlen(two), &b), 415);
    static const char none[] = "POST /echo" H CLOSE "Content-Encoding: gzip\r\n\r\n";
    assert_int_equal(fx_ask(&fx, none, strlen(none), &b), 200);
    static const char get[] = "GET /item/x" H CLOSE "Content-Encoding: gzip\r\n\r\n";
    assert_int_equal(fx_ask(&fx, get, strlen(get), &b), 200);
    fx_stop(&fx);
}

// Long headers count as memory of bodies.
static void test_long_headers_are_charged(void **state)
{
    (void)state;
    struct fx fx;
    FK_AUTO_BUF b;
    FK_AUTO_BUF in;
    fk_buf_init(&b, 0);
    fk_buf_init(&in, 0);
    struct fk_http_server_opts o = fx_opts();
    o.limits.bodies = 100 << 10;
    start(&fx, o, 0);
    struct fk_http_stats st;
    int fd[4];
    fk_buf_cstr(&in, "GET /item/x" H CLOSE "A: ");
    fk_buf_fill(&in, 'a', 30000);
    for (int i = 0; i < 4; i++) {
        fd[i] = fx_connect(&fx);
        fx_send(fd[i], in.p, in.n);
        if (i < 3)
            fx_wait_for((fk_http_server_stats(fx.server, &st),
                         st.bodies_memory >= (uint64_t)(i + 1) * 30000));
    }
    assert_int_equal(fx_read(fd[3], &b, NULL, 5000), 1);
    assert_int_equal(fx_status(&b), 503);
    assert_true(fx_has(&b, "--http-bodies-memory"));
    fk_net_close(fd[1]);
    fk_buf_clear(&b);
    fx_say(fd[0], "\r\n\r\n");
    assert_int_equal(fx_read(fd[0], &b, NULL, 5000), 1);
    assert_int_equal(fx_status(&b), 200);
    for (int i = 0; i < 4; i++)
        if (i != 1)
            fk_net_close(fd[i]);
    fx_stop(&fx);
}

// The process has no descriptor left: connections wait, the loop does not spin, and later it goes.
static void test_no_descriptors(void **state)
{
    (void)state;
    struct fx fx;
    struct rlimit old, tight;
    struct fk_process_facts before, after;
    struct fk_err err;
    FK_AUTO_BUF b;
    fk_buf_init(&b, 0);
    start(&fx, fx_opts(), 0);
    int client = fx_connect(&fx); // takes the number before the limit
    fx_say(client, "GET /item/1" H "\r\n");
    assert_int_equal(fx_read(client, &b, "item 1", 5000), 1);
    int late = fx_connect(&fx), spare;
    struct fk_http_stats st;
    fx_wait_for((fk_http_server_stats(fx.server, &st), st.accepted == 2));
    getrlimit(RLIMIT_NOFILE, &old);
    tight = old;
    int pair[2]; // the highest numbers in use
    fk_test_ok(fk_net_pair(pair, &err), &err);
    spare = pair[1];
    tight.rlim_cur = (rlim_t)spare + 2; // one more: that of the client below
    setrlimit(RLIMIT_NOFILE, &tight);
    int waiting = fx_connect(&fx);
    fx_say(waiting, "GET /item/2" H CLOSE "\r\n");
    fk_test_ok(fk_process_facts(&before, &err), &err);
    fk_buf_clear(&b);
    assert_int_equal(fx_read(waiting, &b, "item 2", 400), 0);
    setrlimit(RLIMIT_NOFILE, &old);
    fk_test_ok(fk_process_facts(&after, &err), &err);
    assert_true(after.user_ns + after.system_ns - before.user_ns - before.system_ns <
                200 * FK_NS_PER_MS);
    assert_int_equal(fx_read(waiting, &b, "item 2", 5000), 1);
    fk_net_close(waiting);
    fk_net_close(late);
    fk_net_close(client);
    fk_net_close(pair[0]);
    fk_net_close(pair[1]);
    fx_stop(&fx);
}

// Uploads that are given up while a worker writes their file.
static void test_lost_while_spooling(void **state)
{
    (void)state;
    struct fx fx;
    FK_AUTO_BUF in;
    fk_buf_init(&in, 0);
    struct fk_http_server_opts o = fx_opts();
    o.limits.spool_from = 1000;
    start(&fx, o, 0);
    fk_buf_cstr(&in, "POST /echo" H "Content-Length: 60000000\r\n\r\n");
    fk_buf_fill(&in, 'z', 5 << 20);
    for (int i = 0; i < 30; i++) {
        int fd = fx_connect(&fx);
        fx_send(fd, in.p, in.n - (size_t)i * 100000);
        fk_net_close(fd);
    }
    struct fk_http_stats st;
    fx_wait_for((fk_http_server_stats(fx.server, &st), st.active == 0 && st.open == 0));
    assert_int_equal(st.bodies_memory + st.bodies_spool, 0);
    fx_stop(&fx);
}

// The disk that holds the spooled bodies fails at each of its calls in turn, or is full.
static void test_failing_disk(void **state)
{
    (void)state;
    struct fx fx;
    struct fk_err err;
    struct fk_simfs_opts so = {.seed = 1};
    struct fk_simfs *sim;
    FK_AUTO_BUF b;
    FK_AUTO_BUF z;
    FK_AUTO_BUF in;
    fk_buf_init(&b, 0);
    fk_buf_init(&z, 0);
    fk_buf_init(&in, 0);
    fk_test_ok(fk_simfs_new(&so, &sim, &err), &err);
    struct fk_http_server_opts o = fx_opts();
    o.fs = fk_simfs_fs(sim);
    o.limits.spool_from = 1000;
    start_in(&fx, o, 0, "/");
    char *body = malloc(5 << 20);
    for (size_t i = 0; i < 5 << 20; i++)
        body[i] = (char)fk_hash_u64(i / 2);
    fk_test_ok(fk_gzip(body, 5 << 20, 1, &z, &err), &err);
    free(body);
    fk_buf_printf(&in, "POST /echo" H CLOSE "Content-Encoding: gzip\r\nContent-Length: %zu\r\n\r\n",
                  z.n);
    fk_buf_str(&in, fk_buf_view(&z));
    static const enum fk_sim_action actions[] = {FK_SIM_EIO, FK_SIM_ENOSPC, FK_SIM_SHORT};
    for (size_t a = 0; a < FK_COUNTOF(actions); a++)
        for (uint64_t k = 1;; k++) {
            uint64_t struck = fk_simfs_struck(sim);
            struct fk_sim_fault fault = {.at = k, .action = actions[a]};
            fk_test_ok(fk_simfs_fault(sim, &fault, &err), &err);
            int status = fx_ask(&fx, in.p, in.n, &b);
            fk_simfs_clear_faults(sim);
            if (fk_simfs_struck(sim) == struck) {
                assert_int_equal(status, 200);
                assert_true(k > 5);
                break;
            }
            assert_true(status == 500 || status == 503);
        }
    fk_simfs_set_capacity(sim, 1 << 20);
    assert_int_equal(fx_ask(&fx, in.p, in.n, &b), 503);
    assert_true(fx_has(&b, "Retry-After"));
    fk_simfs_set_capacity(sim, 0);
    assert_int_equal(fx_ask(&fx, in.p, in.n, &b), 200);
    fx_stop(&fx);
    fk_simfs_free(sim);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_answers),           cmocka_unit_test(test_early_answers),
        cmocka_unit_test(test_no_worker_is_free), cmocka_unit_test(test_slow_but_fast_enough),
        cmocka_unit_test(test_more_codings),      cmocka_unit_test(test_long_headers_are_charged),
        cmocka_unit_test(test_no_descriptors),    cmocka_unit_test(test_lost_while_spooling),
        cmocka_unit_test(test_failing_disk),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
