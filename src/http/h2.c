// SPDX-License-Identifier: Apache-2.0
// HTTP/2 connections: the session, reading and writing, what a client may not do too often, the
// graceful end (RFC 9113 §6.8).
#include "http/h2_int.h"

#define OUT_FULL ((size_t)48 << 10) // frames are made until so much waits for the socket
#define QUEUED   200 // frames that wait to be made; with more nothing is read: they are acks mostly

// --- once a server ---
static void *h2_malloc(size_t n, void *arg)
{
    (void)arg;
    return fk_malloc(n);
}

static void h2_free_mem(void *p, void *arg)
{
    (void)arg;
    fk_free(p);
}

static void *h2_calloc(size_t n, size_t size, void *arg)
{
    (void)arg;
    return fk_calloc(n, size);
}

static void *h2_realloc(void *p, size_t n, void *arg)
{
    (void)arg;
    return fk_realloc(p, n);
}

static uint32_t as_u32(uint64_t v)
{
    return (uint32_t)FK_MIN(v, (uint64_t)INT32_MAX);
}

int fk_http_h2_setup(struct fk_http_server *s, struct fk_err *err)
{
    const struct fk_http_limits *l = &s->opts.limits;
    if (nghttp2_session_callbacks_new(&s->h2_callbacks) || nghttp2_option_new(&s->h2_options))
        return fk_fail_nomem(err);
    fk_h2_in_callbacks(s->h2_callbacks);
    fk_h2_out_callbacks(s->h2_callbacks);
    nghttp2_option *o = s->h2_options;
    nghttp2_option_set_no_auto_window_update(o, 1);
    nghttp2_option_set_max_outbound_ack(o, 1000);
    // Ours (--http2-resets) comes first and says why.
    nghttp2_option_set_stream_reset_rate_limit(o, 2 * l->h2_resets + 1000, l->h2_resets);
    return 0;
}

void fk_http_h2_teardown(struct fk_http_server *s)
{
    nghttp2_session_callbacks_del(s->h2_callbacks);
    nghttp2_option_del(s->h2_options);
}

// --- life ---
static int submit_settings(struct fk_h2 *h2)
{
    const struct fk_http_limits *l = fk_h2_limits(h2);
    nghttp2_settings_entry e[] = {
        {NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, as_u32(l->h2_streams)},
        {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, as_u32(l->h2_stream_window)},
        {NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, as_u32(l->head_bytes)}};
    int rc = nghttp2_submit_settings(h2->session, NGHTTP2_FLAG_NONE, e, FK_COUNTOF(e));
    return rc ? rc
              : nghttp2_session_set_local_window_size(h2->session, NGHTTP2_FLAG_NONE, 0,
                                                      (int32_t)as_u32(l->h2_window));
}

static int h2_open(struct fk_http_conn *conn, int64_t since)
{
    static const nghttp2_mem ours = {NULL, h2_malloc, h2_free_mem, h2_calloc, h2_realloc};
    struct fk_http_server *server = conn->loop->server;
    nghttp2_mem mem = ours;
    struct fk_h2 *h2 = fk_calloc(1, sizeof(*h2));
    if (!h2)
        return -FK_E_NOMEM;
    h2->conn = conn;
    h2->since = h2->span_since = h2->heard = since;
    fk_buf_init(&h2->out, 0);
    if (nghttp2_session_server_new3(&h2->session, server->h2_callbacks, h2, server->h2_options,
                                    &mem) ||
        submit_settings(h2)) {
        nghttp2_session_del(h2->session);
        fk_free(h2);
        return -FK_E_NOMEM;
    }
    conn->state = h2;
    atomic_fetch_add_explicit(&server->h2_connections, 1, memory_order_relaxed);
    return 0;
}

static void h2_free(struct fk_http_conn *conn)
{
    struct fk_h2 *h2 = conn->state;
    nghttp2_session_del(h2->session); // tells of no stream
    while (h2->streams)
        fk_h2_stream_free(h2->streams, false);
    fk_buf_free(&h2->out);
    fk_free(h2);
}

static void enter(struct fk_h2 *h2, enum fk_h2_end end)
{
    h2->end = end;
    h2->since = fk_h2_now(h2);
}

// --- too much of something ---
void fk_h2_terminate(struct fk_h2 *h2, uint32_t code)
{
    h2->terminated = true;
    if (nghttp2_session_terminate_session(h2->session, code))
        h2->end = FK_H2_DEAD;
}

static void calm(struct fk_h2 *h2)
{
    if (h2->terminated)
        return;
    atomic_fetch_add_explicit(&h2->conn->loop->server->h2_floods, 1, memory_order_relaxed);
    fk_h2_terminate(h2, NGHTTP2_ENHANCE_YOUR_CALM);
}

static void new_span(struct fk_h2 *h2)
{
    if (fk_h2_now(h2) - h2->span_since < (int64_t)fk_h2_limits(h2)->rate_ns)
        return;
    h2->span_since = fk_h2_now(h2);
    h2->noise = h2->resets = 0;
}

void fk_h2_noise(struct fk_h2 *h2, int by)
{
    uint64_t most = fk_h2_limits(h2)->h2_control;
    if (by < 0) {
        h2->noise -= FK_MIN(h2->noise, (uint32_t)-by);
        return;
    }
    new_span(h2);
    if (h2->noise <= most && ++h2->noise > most)
        calm(h2);
}

void fk_h2_reset_seen(struct fk_h2 *h2)
{
    uint64_t most = fk_h2_limits(h2)->h2_resets;
    atomic_fetch_add_explicit(&h2->conn->loop->server->h2_resets, 1, memory_order_relaxed);
    new_span(h2);
    if (h2->resets <= most && ++h2->resets > most)
        calm(h2);
}

// --- reading ---
static void input(struct fk_h2 *h2, const uint8_t *p, size_t n)
{
    if (h2->end >= FK_H2_LINGER || h2->terminated)
        return;
    ssize_t rc = nghttp2_session_mem_recv(h2->session, p, n);
    if (rc >= 0)
        return;
    // A client that is told why has the better chance; without memory it is not.
    if (rc == NGHTTP2_ERR_NOMEM || rc == NGHTTP2_ERR_CALLBACK_FAILURE)
        h2->end = FK_H2_DEAD;
    else if (rc == NGHTTP2_ERR_FLOODED || rc == NGHTTP2_ERR_TOO_MANY_CONTINUATIONS)
        calm(h2);
    else
        fk_h2_terminate(h2, NGHTTP2_PROTOCOL_ERROR);
}

static void read_in(struct fk_h2 *h2)
{
    uint8_t *in = h2->conn->loop->in;
    size_t n = 0;
    int rc = fk_http_wire_read(&h2->conn->wire, in, FK_HTTP_READ, &n, NULL);
    if (rc == FK_IO_OK) {
        h2->heard = fk_h2_now(h2);
        h2->probed = false;
        input(h2, in, n);
    } else if (rc != FK_IO_AGAIN) {
        h2->end = FK_H2_DEAD; // an end of one direction is of no use to HTTP/2
    }
}

// --- writing ---
// Makes frames until enough of them wait. False: there are no more.
static bool make_frames(struct fk_h2 *h2)
{
    const uint8_t *p;
    while (h2->out.n < OUT_FULL) {
        ssize_t n = nghttp2_session_mem_send(h2->session, &p);
        if (n < 0)
            h2->end = FK_H2_DEAD;
        if (n <= 0)
            return false;
        fk_buf_put(&h2->out, p, (size_t)n);
        if (h2->out.failed) {
            h2->end = FK_H2_DEAD;
            return false;
        }
    }
    return true;
}

static void write_out(struct fk_h2 *h2)
{
    bool more = true;
    h2->blocked = false;
    while (h2->end != FK_H2_DEAD && more) {
        more = make_frames(h2);
        while (h2->out_at < h2->out.n && h2->end != FK_H2_DEAD) {
            size_t n = 0;
            int rc = fk_http_wire_write(&h2->conn->wire, h2->out.p + h2->out_at,
                                        h2->out.n - h2->out_at, &n, NULL);
            if (rc == FK_IO_AGAIN) {
                h2->blocked = true;
                return;
            }
            if (rc < 0)
                h2->end = FK_H2_DEAD;
            h2->out_at += n;
            h2->rate_bytes += n;
            h2->sent += n;
        }
        fk_buf_clear(&h2->out);
        h2->out_at = 0;
    }
    fk_buf_free(&h2->out); // idle connections keep no memory
}

// --- the end ---
const uint8_t fk_h2_drained[8] = "drained";

// Two steps: what the client sends until it knows of the first is still taken.
void fk_h2_shut_down(struct fk_h2 *h2)
{
    int rc = 0;
    if (h2->end == FK_H2_OPEN) {
        enter(h2, FK_H2_NOTICE);
        rc = nghttp2_submit_shutdown_notice(h2->session);
        if (!rc)
            rc = nghttp2_submit_ping(h2->session, NGHTTP2_FLAG_NONE, fk_h2_drained);
    } else if (h2->end == FK_H2_NOTICE) {
        enter(h2, FK_H2_GOAWAY);
        rc = nghttp2_submit_goaway(h2->session, NGHTTP2_FLAG_NONE,
                                   nghttp2_session_get_last_proc_stream_id(h2->session),
                                   NGHTTP2_NO_ERROR, NULL, 0);
    }
    if (rc)
        h2->end = FK_H2_DEAD;
}

// All streams are over and all frames are out: ends this direction and reads the other away, so
// that what was sent arrives.
static void maybe_linger(struct fk_h2 *h2)
{
    bool over = h2->end == FK_H2_GOAWAY && h2->streams_n == 0;
    if (h2->end >= FK_H2_LINGER || h2->out.n || nghttp2_session_want_write(h2->session))
        return;
    if (!over && nghttp2_session_want_read(h2->session))
        return;
    while (h2->streams) // of a connection that was terminated; nghttp2 is not asked any more
        fk_h2_stream_free(h2->streams, false);
    fk_http_wire_end_writes(&h2->conn->wire);
    enter(h2, FK_H2_LINGER);
}

// --- waiting ---
// When a silent client with open streams is asked for a sign of life, or given up. While the socket
// takes nothing its rate counts instead.
static int64_t silent_at(const struct fk_h2 *h2)
{
    bool waits = h2->streams_n && !h2->blocked;
    return waits ? h2->heard + (int64_t)fk_h2_limits(h2)->idle_ns : INT64_MAX;
}

// The PING may wait behind an answer that a slow client takes bit by bit: that is a sign too.
static void silent(struct fk_h2 *h2)
{
    static const uint8_t mark[8] = "there?";
    int64_t taken = (int64_t)h2->sent - (int64_t)fk_net_unsent(h2->conn->wire.io.fd);
    if (h2->probed && taken <= h2->taken) {
        atomic_fetch_add_explicit(&h2->conn->loop->server->timeouts, 1, memory_order_relaxed);
        h2->end = FK_H2_DEAD;
        return;
    }
    if (!h2->probed && nghttp2_submit_ping(h2->session, NGHTTP2_FLAG_NONE, mark))
        h2->end = FK_H2_DEAD;
    h2->probed = true;
    h2->heard = fk_h2_now(h2);
    h2->taken = taken;
}

static int64_t deadline(struct fk_h2 *h2)
{
    const struct fk_http_limits *l = fk_h2_limits(h2);
    int64_t at = INT64_MAX;
    if (h2->end == FK_H2_NOTICE || h2->end == FK_H2_LINGER)
        return h2->since + (int64_t)l->linger_ns;
    if (h2->blocked && h2->rate_since == 0) {
        h2->rate_since = fk_h2_now(h2);
        h2->rate_bytes = 0;
    }
    if (!h2->blocked)
        h2->rate_since = 0;
    if (h2->rate_since)
        at = h2->rate_since + (int64_t)l->rate_ns;
    if (h2->head_since)
        at = FK_MIN(at, h2->head_since + (int64_t)l->head_ns);
    at = FK_MIN(at, silent_at(h2));
    if (h2->streams_n == 0)
        at = FK_MIN(at, h2->since + (int64_t)(h2->settled ? l->idle_ns : l->head_ns));
    return at;
}

static void rate_over(struct fk_h2 *h2)
{
    const struct fk_http_limits *l = fk_h2_limits(h2);
    fk_i128 want = (fk_i128)l->answer_rate * (int64_t)l->rate_ns / FK_NS_PER_S;
    h2->rate_since = 0;
    if ((fk_i128)h2->rate_bytes >= want)
        return;
    atomic_fetch_add_explicit(&h2->conn->loop->server->timeouts, 1, memory_order_relaxed);
    h2->end = FK_H2_DEAD;
}

static void h2_timer(struct fk_http_conn *conn)
{
    struct fk_h2 *h2 = conn->state;
    const struct fk_http_limits *l = fk_h2_limits(h2);
    int64_t now = fk_h2_now(h2);
    if (deadline(h2) > now) {
        fk_h2_settle(h2);
        return;
    }
    if (h2->end == FK_H2_LINGER)
        h2->end = FK_H2_DEAD;
    else if (h2->end == FK_H2_NOTICE)
        fk_h2_shut_down(h2); // no answer to the ping
    else if (h2->rate_since && h2->rate_since + (int64_t)l->rate_ns <= now)
        rate_over(h2);
    else if (silent_at(h2) <= now)
        silent(h2);
    else if (h2->head_since || !h2->settled) {
        atomic_fetch_add_explicit(&conn->loop->server->timeouts, 1, memory_order_relaxed);
        fk_h2_terminate(h2, NGHTTP2_ENHANCE_YOUR_CALM);
        h2->head_since = 0;
        h2->since = now;
    } else {
        fk_h2_terminate(h2, NGHTTP2_NO_ERROR); // idle
        h2->since = now;
    }
    fk_h2_settle(h2);
}

static uint32_t wanted(struct fk_h2 *h2)
{
    uint32_t want = h2->blocked ? FK_READY_OUT : 0;
    // A client that does not read what it makes us say is not listened to either.
    bool read = !h2->blocked || nghttp2_session_get_outbound_queue_size(h2->session) < QUEUED;
    return read ? want | FK_READY_IN : want;
}

void fk_h2_touch(struct fk_h2_stream *s)
{
    if (s->touched)
        return;
    s->touched = true;
    s->next_touched = s->h2->touched;
    s->h2->touched = s;
}

void fk_h2_settle(struct fk_h2 *h2)
{
    if (h2->busy)
        return;
    h2->busy = true;
    do {
        while (h2->touched && h2->end != FK_H2_DEAD) {
            struct fk_h2_stream *s = h2->touched;
            h2->touched = s->next_touched;
            s->touched = false;
            fk_h2_pull(s);
            fk_h2_stream_arm(s);
        }
        if (h2->end < FK_H2_LINGER)
            write_out(h2);
    } while (h2->touched && h2->end != FK_H2_DEAD);
    if (h2->end != FK_H2_DEAD)
        maybe_linger(h2);
    h2->busy = false;
    if (h2->end == FK_H2_DEAD)
        fk_http_conn_destroy(h2->conn);
    else
        fk_http_conn_wait(h2->conn, deadline(h2), wanted(h2));
}

// --- events ---
static void h2_input(struct fk_http_conn *conn, const uint8_t *p, size_t n)
{
    struct fk_h2 *h2 = conn->state;
    input(h2, p, n);
    fk_h2_settle(h2);
}

static void h2_ready(struct fk_http_conn *conn, uint32_t ready)
{
    struct fk_h2 *h2 = conn->state;
    if (ready & FK_READY_ERR)
        h2->end = FK_H2_DEAD;
    else if (ready & FK_READY_IN)
        read_in(h2);
    else if (ready & FK_READY_HUP)
        h2->end = FK_H2_DEAD;
    fk_h2_settle(h2);
}

static void h2_drain(struct fk_http_conn *conn)
{
    struct fk_h2 *h2 = conn->state;
    if (h2->end == FK_H2_OPEN)
        fk_h2_shut_down(h2);
    fk_h2_settle(h2);
}

const struct fk_http_proto fk_http_h2 = {h2_open, h2_input, h2_ready, h2_timer, h2_drain, h2_free};
