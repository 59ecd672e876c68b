// SPDX-License-Identifier: Apache-2.0
// A running server with a few routes, and a raw client, for the tests of the http room.
#ifndef FK_TESTS_HTTP_FIXTURE_H
#define FK_TESTS_HTTP_FIXTURE_H

#include "codec/codec.h"
#include "http/http.h"
#include "support/support.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

struct fx {
    struct fk_http_server *server;
    struct fk_pool *pool;
    struct fk_addr addr;
    char *folder;
    _Atomic int cancelled; // reason that a handler saw
    _Atomic int started;   // handlers that began to wait
    _Atomic int release;   // waiting handlers may end
    _Atomic int sink_bytes, sink_done, sink_aborted;
    _Atomic int kept; // bodies of fx_keep whose handler ended
    _Atomic int accesses, last_status, last_aborted;
    struct fk_http_req *_Atomic paused; // of the sink route
};

// --- handlers; arg is the fixture ---
static inline void fx_hello(void *arg, struct fk_http_req *req, struct fk_http_res *res)
{
    (void)arg;
    (void)req;
    fk_http_res_type(res, "text/plain");
    fk_http_res_borrow(res, FK_S("hello\n"));
}

// Length, checksum and kind of the body; up to 64 bytes of it.
static inline void fx_echo(void *arg, struct fk_http_req *req, struct fk_http_res *res)
{
    (void)arg;
    FK_AUTO_BUF b;
    fk_buf_init(&b, 0);
    fk_buf_printf(&b, "%zu %016llx %s|", req->body.n,
                  (unsigned long long)fk_checksum(req->body.p, req->body.n),
                  req->spooled ? "file" : "memory");
    fk_buf_str(&b, fk_str_head(req->body, 64));
    fk_http_res_type(res, "text/plain");
    fk_http_res_take(res, &b);
}

static inline void fx_item(void *arg, struct fk_http_req *req, struct fk_http_res *res)
{
    (void)arg;
    FK_AUTO_BUF b;
    fk_buf_init(&b, 0);
    fk_buf_cstr(&b, "item ");
    fk_buf_str(&b, fk_http_req_param(req, "id"));
    fk_buf_str(&b, fk_http_req_param(req, "rest"));
    fk_http_res_take(res, &b);
}

// n bytes, streamed; chunk by chunk.
static inline void fx_stream(void *arg, struct fk_http_req *req, struct fk_http_res *res)
{
    struct fx *fx = arg;
    const struct fk_http_pair *q;
    struct fk_err err;
    size_t q_n;
    uint64_t n = 1000;
    if (fk_http_req_query(req, &q, &q_n, &err) == 0 && fk_http_pair_find(q, q_n, "n"))
        fk_str_to_u64(fk_http_pair_find(q, q_n, "n")->value, &n);
    if (fk_http_pair_find(q, q_n, "length"))
        fk_http_res_length(res, (int64_t)n);
    fk_http_res_trailer(res, "x-end", FK_S("yes"));
    char block[1000];
    memset(block, 'a', sizeof(block));
    fx->started++;
    while (n > 0) {
        size_t k = FK_MIN(n, sizeof(block));
        int rc = fk_http_res_write(res, block, k, &err);
        if (rc) {
            fx->cancelled = -rc;
            return;
        }
        n -= k;
    }
    if (fk_http_pair_find(q, q_n, "abort"))
        fk_http_res_abort(res);
}

// Waits until it is cancelled or released.
static inline void fx_wait(void *arg, struct fk_http_req *req, struct fk_http_res *res)
{
    struct fx *fx = arg;
    fx->started++;
    while (!fx->release && fk_cancel_check(req->cancel, NULL) == 0)
        fk_sleep_ns(FK_NS_PER_MS);
    fx->cancelled = atomic_load(&req->cancel->reason);
    fk_http_res_copy(res, FK_S("waited"));
}

static inline void fx_json(void *arg, struct fk_http_req *req, struct fk_http_res *res)
{
    (void)arg;
    (void)req;
    struct fk_buf b;
    fk_buf_init(&b, 0);
    fk_buf_byte(&b, '"');
    fk_buf_fill(&b, 'z', 100000);
    fk_buf_byte(&b, '"');
    fk_http_res_type(res, "application/json");
    fk_http_res_take(res, &b);
}

static inline void fx_fail(void *arg, struct fk_http_req *req, struct fk_http_res *res)
{
    (void)arg;
    (void)req;
    struct fk_err err;
    fk_fail_param(&err, "from", "from is later than until");
    fk_http_res_fail(res, 0, &err);
}

static inline void fx_evil(void *arg, struct fk_http_req *req, struct fk_http_res *res)
{
    (void)arg;
    (void)req;
    fk_http_res_set(res, "X-Evil", FK_S("a\r\nSet-Cookie: b"));
    fk_http_res_copy(res, FK_S("should not be seen"));
}

// What arrived, as text.
static inline void fx_show(void *arg, struct fk_http_req *req, struct fk_http_res *res)
{
    (void)arg;
    FK_AUTO_BUF b;
    fk_buf_init(&b, 0);
    fk_buf_printf(&b, "%d %.*s %.*s?%.*s host=%.*s%s\n", req->version, FK_STR_ARG(req->method),
                  FK_STR_ARG(req->path), FK_STR_ARG(req->query), FK_STR_ARG(req->host),
                  req->tls ? " tls" : "");
    for (size_t i = 0; i < req->fields_n; i++)
        fk_buf_printf(&b, "%.*s=%.*s\n", FK_STR_ARG(req->fields[i].name),
                      FK_STR_ARG(req->fields[i].value));
    fk_http_res_take(res, &b);
}

// A whole body, or with ?empty none, with a field behind it.
static inline void fx_trailer(void *arg, struct fk_http_req *req, struct fk_http_res *res)
{
    (void)arg;
    if (req->query.n == 0)
        fk_http_res_copy(res, FK_S("whole"));
    fk_http_res_trailer(res, "X-Status", FK_S("7"));
}

// Waits like fx_wait, with a body that is to be kept whatever the client does.
static inline void fx_keep(void *arg, struct fk_http_req *req, struct fk_http_res *res)
{
    struct fx *fx = arg;
    fx_wait(arg, req, res);
    fx->kept++;
}

// --- a sink that pauses after each piece until the test lets it go on ---
static inline void fx_sink_headers(void *arg, struct fk_http_req *req, struct fk_http_res *res)
{
    (void)arg;
    struct fk_err err;
    if (fk_http_req_field(req, "X-Refuse").p) {
        fk_fail(&err, FK_E_NOTFOUND, "refused before the body");
        fk_http_res_fail(res, 0, &err);
        fk_http_res_end(res);
    }
}

static inline enum fk_http_more fx_sink_body(void *arg, struct fk_http_req *req,
                                             struct fk_http_res *res, const uint8_t *p, size_t n)
{
    struct fx *fx = arg;
    (void)res;
    (void)p;
    fx->sink_bytes += (int)n;
    if (!fk_http_req_field(req, "X-Pause").p)
        return FK_HTTP_MORE;
    fx->paused = req;
    return FK_HTTP_PAUSE;
}

static inline void fx_sink_complete(void *arg, struct fk_http_req *req, struct fk_http_res *res)
{
    struct fx *fx = arg;
    (void)req;
    fx->sink_done++;
    fk_http_res_copy(res, FK_S("sunk"));
    fk_http_res_end(res);
}

static inline void fx_sink_abort(void *arg, struct fk_http_req *req, struct fk_http_res *res)
{
    struct fx *fx = arg;
    (void)req;
    fx->sink_aborted++;
    fk_http_res_end(res);
}

static const struct fk_http_sink fx_sink = {fx_sink_headers, fx_sink_body, fx_sink_complete,
                                            fx_sink_abort, NULL};

static inline void fx_access(void *arg, const struct fk_http_access *a)
{
    struct fx *fx = arg;
    fx->last_status = a->status;
    fx->last_aborted = a->aborted;
    fx->accesses++;
}

#define FX_BODY_MAX ((uint64_t)4 << 20)

static const struct fk_http_route fx_routes[] = {
    {.method = "GET", .pattern = "/", .run = fx_hello, .on_loop = true},
    {.method = "GET", .pattern = "/a", .run = fx_hello, .on_loop = true},
    {.method = "POST",
     .pattern = "/a",
     .run = fx_echo,
     .body_max = FX_BODY_MAX,
     .body_flag = "--limit-test-body",
     .decoded_max = FX_BODY_MAX * 8,
     .decoded_flag = "--limit-test-decoded",
     .cls = FK_WORK_INGEST},
    {.method = "POST",
     .pattern = "/big",
     .run = fx_echo,
     .body_max = (uint64_t)1 << 30,
     .cls = FK_WORK_INGEST},
    {.method = "GET", .pattern = "/item/{id}", .run = fx_item, .cls = FK_WORK_QUERY},
    {.method = "GET", .pattern = "/item/fixed", .run = fx_hello, .cls = FK_WORK_QUERY},
    {.method = "GET", .pattern = "/files/{rest...}", .run = fx_item, .cls = FK_WORK_QUERY},
    {.method = "GET", .pattern = "/stream", .run = fx_stream, .cls = FK_WORK_QUERY},
    {.method = "GET", .pattern = "/wait", .run = fx_wait, .cls = FK_WORK_QUERY},
    {.method = "GET",
     .pattern = "/deadline",
     .run = fx_wait,
     .cls = FK_WORK_QUERY,
     .deadline_ns = 50 * FK_NS_PER_MS},
    {.method = "GET", .pattern = "/show", .run = fx_show, .cls = FK_WORK_QUERY},
    {.method = "GET", .pattern = "/trailer", .run = fx_trailer, .cls = FK_WORK_QUERY},
    {.method = "POST",
     .pattern = "/keep",
     .run = fx_keep,
     .cls = FK_WORK_INGEST,
     .body_max = FX_BODY_MAX},
    {.method = "GET", .pattern = "/json", .run = fx_json, .cls = FK_WORK_QUERY},
    {.method = "GET", .pattern = "/fail", .run = fx_fail, .cls = FK_WORK_QUERY},
    {.method = "GET", .pattern = "/evil", .run = fx_evil, .cls = FK_WORK_QUERY},
    {.method = "POST", .pattern = "/sink", .sink = &fx_sink, .body_max = FX_BODY_MAX},
};

static inline struct fk_http_server_opts fx_opts(void)
{
    return (struct fk_http_server_opts){.loops = 2, .limits = fk_http_limits_default()};
}

static inline void fx_start(struct fx *fx, struct fk_http_server_opts o)
{
    static struct fk_http_route routes[FK_COUNTOF(fx_routes)];
    struct fk_err err;
    struct fk_pool_opts po = {.workers = 4};
    struct fk_addr any;
    memset(fx, 0, sizeof(*fx));
    fk_test_ok(fk_pool_new(&po, &fx->pool, &err), &err);
    for (size_t i = 0; i < FK_COUNTOF(routes); i++) {
        routes[i] = fx_routes[i];
        routes[i].arg = fx;
    }
    fx->folder = fk_test_tmpdir();
    o.routes = routes;
    o.routes_n = FK_COUNTOF(routes);
    o.pool = fx->pool;
    o.spool_folder = o.spool_folder ? o.spool_folder : fx->folder;
    o.arg = fx;
    o.access = fx_access;
    fk_test_ok(fk_http_server_new(&o, &fx->server, &err), &err);
    fk_test_ok(fk_addr_parse(FK_S("127.0.0.1:0"), 0, &any, &err), &err);
    fk_test_ok(fk_http_server_listen(fx->server, &any, &fx->addr, &err), &err);
    fk_test_ok(fk_http_server_start(fx->server, &err), &err);
}

static inline void fx_stop(struct fx *fx)
{
    struct fk_http_stats st;
    fk_http_server_drain(fx->server, 0);
    fk_http_server_stats(fx->server, &st);
    assert_int_equal(st.open, 0);
    assert_int_equal(st.active, 0);
    assert_int_equal(st.bodies_memory, 0);
    assert_int_equal(st.bodies_spool, 0);
    fk_http_server_free(fx->server);
    fk_pool_free(fx->pool);
    fk_test_rmtree(fx->folder);
}

// --- raw client ---
static inline int fx_connect(struct fx *fx)
{
    struct fk_err err;
    uint32_t ready;
    int fd;
    fk_test_ok(fk_net_connect(&fx->addr, &fd, &err), &err);
    fk_test_ok(fk_net_wait(fd, FK_READY_OUT, 5 * FK_NS_PER_S, &ready, &err), &err);
    fk_test_ok(fk_net_connected(fd, &err), &err);
    return fd;
}

// Sends all, or as much as goes until the server closes; returns what went.
static inline size_t fx_send(int fd, const void *p, size_t n)
{
    struct fk_err err;
    uint32_t ready;
    size_t at = 0;
    while (at < n) {
        size_t k = 0;
        int rc = fk_net_write(fd, (const char *)p + at, n - at, &k, &err);
        if (rc < 0)
            break;
        at += k;
        if (rc == FK_IO_AGAIN &&
            (fk_net_wait(fd, FK_READY_OUT, 5 * FK_NS_PER_S, &ready, &err) || !ready))
            break;
    }
    return at;
}

static inline void fx_say(int fd, const char *text)
{
    fx_send(fd, text, strlen(text));
}

// Reads until `until` occurs (NULL: until the end) or ms are over. 1: found or ended; 0: time is
// over; -1: reset.
static inline int fx_read(int fd, struct fk_buf *b, const char *until, int ms)
{
    struct fk_err err;
    uint32_t ready;
    int64_t end = fk_clock_mono(fk_clock_real()) + ms * FK_NS_PER_MS;
    for (;;) {
        if (until && fk_str_find(fk_buf_view(b), fk_str_of(until)) >= 0)
            return 1;
        size_t got = 0;
        char *to = fk_buf_reserve(b, 65536);
        int rc = fk_net_read(fd, to, 65536, &got, &err);
        if (rc == FK_IO_OK)
            b->n += got;
        if (rc == FK_IO_END)
            return until ? 0 : 1;
        if (rc < 0)
            return -1;
        int64_t left = end - fk_clock_mono(fk_clock_real());
        if (left <= 0)
            return 0;
        if (rc == FK_IO_AGAIN)
            fk_net_wait(fd, FK_READY_IN, left, &ready, &err);
    }
}

// The status of the first answer in b; 0 when there is none.
static inline int fx_status(const struct fk_buf *b)
{
    struct fk_str s = fk_buf_view(b);
    uint64_t status = 0;
    if (s.n < 12 || !fk_str_starts(s, FK_S("HTTP/1.1 ")) ||
        fk_str_to_u64(fk_str_head(fk_str_from(s, 9), 3), &status))
        return 0;
    return (int)status;
}

static inline bool fx_has(const struct fk_buf *b, const char *text)
{
    return fk_str_find(fk_buf_view(b), fk_str_of(text)) >= 0;
}

#define FX_LIT(s) s, sizeof(s) - 1

// One exchange on a connection of its own that the request closes: the whole answer in b.
static inline int fx_ask(struct fx *fx, const void *p, size_t n, struct fk_buf *b)
{
    int fd = fx_connect(fx);
    fk_buf_clear(b);
    fx_send(fd, p, n);
    int rc = fx_read(fd, b, NULL, 10000);
    fk_net_close(fd);
    return rc == 1 ? fx_status(b) : -1;
}

#define fx_wait_for(condition)                                                                     \
    do {                                                                                           \
        int fx_left_ = 10000;                                                                      \
        while (!(condition) && fx_left_-- > 0)                                                     \
            fk_sleep_ns(FK_NS_PER_MS);                                                             \
        assert_true(condition);                                                                    \
    } while (0)

#endif
