// SPDX-License-Identifier: Apache-2.0
// A connection from its first byte: which protocol it speaks, HTTP/2's frames and HPACK through
// nghttp2 and all of this side's callbacks. The server's loop does not run: its events are made by
// hand over a pair of sockets. The first byte chooses how the input is cut into reads, the second
// whether the preface and a SETTINGS frame come first.
#include "fuzz.h"
#include "http/http_int.h"

static struct fk_http_server *server;

static void hello(void *arg, struct fk_http_req *req, struct fk_http_res *res)
{
    (void)arg;
    FK_FUZZ_CHECK(req->path.n > 0 && req->version >= 10);
    for (size_t i = 0; i < req->fields_n; i++)
        FK_FUZZ_CHECK(req->fields[i].name.n > 0 && req->fields[i].name.p[0] != ':');
    fk_http_res_copy(res, req->path);
    fk_http_res_trailer(res, "x-t", FK_S("y"));
}

static void sink_headers(void *arg, struct fk_http_req *req, struct fk_http_res *res)
{
    (void)arg;
    if (fk_http_req_field(req, "refuse").p)
        fk_http_res_end(res);
    if (fk_http_req_field(req, "deadline").p)
        fk_http_req_deadline(req, 1000);
}

static enum fk_http_more sink_body(void *arg, struct fk_http_req *req, struct fk_http_res *res,
                                   const uint8_t *p, size_t n)
{
    (void)arg, (void)res;
    FK_FUZZ_CHECK(n > 0 && p);
    return fk_http_req_field(req, "pause").p ? FK_HTTP_PAUSE : FK_HTTP_MORE;
}

static void sink_end(void *arg, struct fk_http_req *req, struct fk_http_res *res)
{
    (void)arg, (void)req;
    fk_http_res_end(res);
}

static const struct fk_http_sink sink = {sink_headers, sink_body, sink_end, sink_end, NULL};
static const struct fk_http_route routes[] = {
    {.method = "GET", .pattern = "/{rest...}", .run = hello, .on_loop = true},
    {.method = "POST", .pattern = "/run", .run = hello, .on_loop = true, .body_max = 1 << 20},
    {.method = "POST", .pattern = "/sink", .sink = &sink, .body_max = 100000},
};

static void start(void)
{
    struct fk_pool_opts po = {.workers = 1};
    struct fk_http_server_opts o = {
        .routes = routes, .routes_n = FK_COUNTOF(routes), .limits = fk_http_limits_default()};
    struct fk_err err;
    o.limits.head_bytes = 4096;
    o.limits.h2_stream_window = 65535;
    FK_FUZZ_CHECK(fk_pool_new(&po, &o.pool, &err) == 0);
    FK_FUZZ_CHECK(fk_http_server_new(&o, &server, &err) == 0);
    server->loops[0].self = pthread_self();
}

static bool is_open(void)
{
    return server->loops[0].conns != NULL;
}

// Reads what was answered, so that the socket never stays full.
static void read_away(int fd)
{
    static char to[65536];
    size_t n;
    while (fk_net_read(fd, to, sizeof(to), &n, NULL) == FK_IO_OK)
        ;
}

static void ready(uint32_t bits)
{
    struct fk_http_conn *c = server->loops[0].conns;
    if (c)
        c->wire.io.on(c->wire.io.arg, bits);
}

static void feed(int fd, const uint8_t *p, size_t n, size_t piece)
{
    for (size_t at = 0; at < n && is_open();) {
        size_t sent = 0, k = FK_MIN(piece, n - at);
        if (fk_net_write(fd, p + at, k, &sent, NULL) != FK_IO_OK)
            return;
        at += sent;
        ready(FK_READY_IN);
        read_away(fd);
        ready(FK_READY_OUT);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char hello_h2[] = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\4\0\0\0\0";
    struct fk_addr peer = {0};
    int fd[2];
    if (size < 2)
        return 0;
    if (!server)
        start();
    struct fk_http_loop *l = &server->loops[0];
    FK_FUZZ_CHECK(fk_net_pair(fd, NULL) == 0);
    server->open++;
    fk_http_conn_open(l, fd[0], &peer, false);
    if (data[1] & 1)
        feed(fd[1], (const uint8_t *)hello_h2, sizeof(hello_h2), sizeof(hello_h2));
    feed(fd[1], data + 2, size - 2, data[0] ? data[0] : size);
    if (data[1] & 2 && is_open())
        fk_http_conn_drain_all(l);
    fk_net_close(fd[1]);
    ready(FK_READY_IN);
    fk_http_conn_cut_all(l);
    FK_FUZZ_CHECK(l->exs == 0 && server->open == 0 && server->active == 0 && server->memory == 0);
    return 0;
}
