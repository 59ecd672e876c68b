// SPDX-License-Identifier: Apache-2.0
// HTTP/1 on a connection: one request at a time, its timers, its end.
//
// A connection handles one exchange at a time; what a client sends beyond it (pipelining) is held
// up to one read and then left in the socket. All on the loop's thread.
#include "http/http_int.h"

enum state {
    IDLE,   // between requests
    HEAD,   // a header has begun
    BODY,   // its body comes
    WAIT,   // the request is complete, the answer is not
    LINGER, // the answer is out, the rest of the request is read away
    DEAD,   // to be freed at the end of this turn
};

struct h1 {
    struct fk_http_conn *conn;
    struct fk_http_ex *ex; // of the present request
    struct fk_http_scan scan;
    struct fk_http_body body;
    struct fk_buf held; // read, not yet parsed
    size_t held_at, held_charged;
    struct fk_http_segs out;
    enum state state;
    bool read_end;      // the client has ended its direction
    bool paused;        // the sink wants no more for now
    bool keep;          // the connection goes on behind this answer
    bool answered;      // the whole answer is in `out` or sent
    bool busy;          // inside settle
    int64_t since;      // the state was entered
    int64_t rate_since; // a measuring span began, of the body or of the answer
    uint64_t rate_bytes;
    bool rate_out; // it measures the answer
};

static void settle(struct h1 *c);
static void drop_held(struct h1 *c);

static int64_t now(const struct h1 *c)
{
    return fk_loop_now(c->conn->loop->loop);
}

static const struct fk_http_limits *limits(const struct h1 *c)
{
    return &c->conn->loop->server->opts.limits;
}

static void enter(struct h1 *c, enum state state)
{
    c->state = state;
    c->since = now(c);
    c->rate_since = 0;
}

// --- life ---
static void on_progress(struct fk_http_ex *ex)
{
    settle(ex->conn);
}

static const struct fk_http_link link_ops = {on_progress};

static int h1_open(struct fk_http_conn *conn, int64_t since)
{
    struct h1 *c = fk_calloc(1, sizeof(*c));
    if (!c)
        return -FK_E_NOMEM;
    c->conn = conn;
    fk_buf_init(&c->held, 0);
    enter(c, IDLE);
    c->since = since;
    conn->state = c;
    return 0;
}

// The exchange is over for this connection.
static void leave(struct h1 *c, bool sent_all)
{
    struct fk_http_ex *ex = c->ex;
    c->ex = NULL;
    if (ex)
        fk_http_ex_leave(ex, sent_all);
}

static void h1_free(struct fk_http_conn *conn)
{
    struct h1 *c = conn->state;
    leave(c, false);
    fk_http_segs_free(&c->out);
    drop_held(c);
    fk_free(c);
}

// --- requests ---
static void refuse(struct h1 *c, int status, const struct fk_err *err)
{
    c->ex->keep_alive = false;
    fk_http_ex_break(c->ex, status, err);
    if (c->state == HEAD)
        enter(c, WAIT); // nothing more is parsed
}

static void say_continue(struct h1 *c)
{
    static const char text[] = "HTTP/1.1 100 Continue\r\n\r\n";
    struct fk_http_seg *seg = fk_http_seg_new(text, sizeof(text) - 1, NULL);
    if (seg)
        fk_http_segs_add(&c->out, seg);
    else
        enter(c, DEAD);
}

static void begin_request(struct h1 *c)
{
    c->ex = fk_http_ex_new(c->conn->loop, &link_ops, c, &c->conn->peer);
    if (c->ex)
        c->ex->req.tls = c->conn->wire.ssl != NULL;
    c->scan = (struct fk_http_scan){0};
    c->paused = c->keep = c->answered = false;
    c->conn->requests++;
    enter(c, c->ex ? HEAD : DEAD);
}

static void body_over(struct h1 *c)
{
    enter(c, WAIT);
    fk_http_ex_complete(c->ex);
}

static void head_over(struct h1 *c, bool more_here)
{
    struct fk_http_ex *ex = c->ex;
    struct fk_err err = {0};
    int status = fk_http_head_parse(ex, limits(c), &err);
    if (status) {
        refuse(c, status, &err);
        return;
    }
    uint64_t length = ex->content_length > 0 ? (uint64_t)ex->content_length : 0;
    fk_http_body_start(&c->body, ex->chunked ? FK_HTTP_CHUNKED : FK_HTTP_BY_LENGTH, length,
                       limits(c)->head_bytes);
    enter(c, BODY);
    fk_http_ex_headers(ex);
    if (c->body.over)
        body_over(c);
    else if (ex->expect_100 && !more_here && fk_http_ex_wants_body(ex))
        say_continue(c);
    else if (ex->expect_100 && !more_here)
        ex->keep_alive = false; // nobody knows whether the body will come
}

static size_t feed_head(struct h1 *c, const uint8_t *p, size_t n)
{
    struct fk_err err;
    size_t used = 0;
    int status = fk_http_scan_feed(&c->scan, p, n, limits(c), &used, &err);
    fk_buf_put(&c->ex->head, p, used);
    c->ex->bytes_in += used;
    if (!status && c->ex->head.failed) {
        fk_fail_nomem(&err);
        status = 503;
    }
    if (!status && !fk_http_ex_charge_head(c->ex, &err))
        status = 503;
    if (status)
        refuse(c, status, &err);
    else if (c->scan.over)
        head_over(c, used < n);
    return used;
}

static size_t feed_body(struct h1 *c, const uint8_t *p, size_t n)
{
    struct fk_err err;
    struct fk_str data;
    size_t used = 0;
    int rc = fk_http_body_next(&c->body, p, n, &used, &data, &err);
    c->ex->bytes_in += used;
    c->rate_bytes += used;
    if (rc) {
        c->ex->keep_alive = false;
        c->body.over = true;
        fk_http_ex_break(c->ex, rc == -FK_E_LIMIT ? 431 : 400, &err);
        enter(c, WAIT);
        return n;
    }
    if (data.n && fk_http_ex_body(c->ex, (const uint8_t *)data.p, data.n) == FK_HTTP_PAUSE)
        c->paused = true;
    if (c->body.over && !c->paused)
        body_over(c);
    return used;
}

static bool may_parse(const struct h1 *c)
{
    return c->state == IDLE || c->state == HEAD || (c->state == BODY && !c->paused);
}

// Parses as far as the state allows; returns how many bytes were used.
static size_t feed(struct h1 *c, const uint8_t *p, size_t n)
{
    size_t at = 0;
    while (at < n && may_parse(c)) {
        if (c->state == IDLE)
            begin_request(c);
        else if (c->state == HEAD)
            at += feed_head(c, p + at, n - at);
        else
            at += feed_body(c, p + at, n - at);
    }
    return at;
}

// Held bytes count as bodies in memory.
static void hold(struct h1 *c, const uint8_t *p, size_t n)
{
    struct fk_http_server *s = c->conn->loop->server;
    if (!fk_http_budget_take(&s->memory, n, limits(c)->bodies)) {
        enter(c, DEAD);
        return;
    }
    c->held_charged += n;
    fk_buf_put(&c->held, p, n);
    if (c->held.failed)
        enter(c, DEAD);
}

static void drop_held(struct h1 *c)
{
    atomic_fetch_sub_explicit(&c->conn->loop->server->memory, c->held_charged,
                              memory_order_relaxed);
    c->held_charged = c->held_at = 0;
    fk_buf_free(&c->held);
}

static void feed_held(struct h1 *c)
{
    size_t n = c->held.n - c->held_at;
    c->held_at += feed(c, (const uint8_t *)c->held.p + c->held_at, n);
    if (c->held_at == c->held.n)
        drop_held(c); // idle connections keep no memory
}

// --- answers ---
// Will the connection be of use behind this answer?
static bool decide_keep(struct h1 *c)
{
    struct fk_http_ex *ex = c->ex;
    if (!ex->keep_alive || c->conn->loop->draining || c->read_end ||
        c->conn->requests >= limits(c)->requests || ex->res.framing == FK_HTTP_BY_CLOSE)
        return false;
    return c->state == WAIT ||
           (c->body.framing == FK_HTTP_BY_LENGTH && !c->paused && c->body.left <= FK_HTTP_FORGIVE);
}

// Fetches what the handler has produced.
static void pull(struct h1 *c)
{
    struct fk_http_ex *ex = c->ex;
    struct fk_http_pull got;
    if (ex->resumed) {
        ex->resumed = c->paused = false;
        if (c->state == BODY) {
            c->rate_since = 0;
            if (c->body.over)
                body_over(c);
        }
    }
    fk_http_ex_pull(ex, &got);
    if (got.begun && !ex->head_sent && !got.aborted) {
        FK_AUTO_BUF head;
        fk_buf_init(&head, 0);
        c->keep = decide_keep(c);
        fk_http_put_head(&head, ex, c->keep);
        struct fk_http_seg *seg = head.failed ? NULL : fk_http_seg_copy(fk_buf_view(&head));
        ex->head_sent = true;
        if (seg)
            fk_http_segs_add(&c->out, seg);
        else
            enter(c, DEAD);
    }
    fk_http_segs_join(&c->out, &got.segs);
    if (got.aborted)
        enter(c, DEAD);
    c->answered = got.ended && ex->head_sent;
}

static void write_out(struct h1 *c)
{
    uint64_t sent = 0;
    struct fk_err err;
    int rc = fk_http_wire_send(&c->conn->wire, &c->out, &sent, &err);
    if (sent && c->ex)
        fk_http_ex_sent(c->ex, sent);
    if (c->rate_out)
        c->rate_bytes += sent;
    if (rc < 0)
        enter(c, DEAD);
}

// The answer is out. Returns whether there may be more to do at once.
static bool answer_over(struct h1 *c)
{
    if (c->state == BODY && c->keep)
        return false; // the rest of the body is read away first
    bool complete = c->state == WAIT && !c->read_end;
    leave(c, true);
    if (c->keep && complete) {
        enter(c, IDLE);
        return c->held.n > 0;
    }
    // Closing at once could take the answer away from a client that still sends (RFC 9112 §9.6).
    enter(c, c->read_end ? DEAD : LINGER);
    if (c->state == LINGER)
        fk_http_wire_end_writes(&c->conn->wire);
    return false;
}

// --- waiting ---
static int64_t rate_start(struct h1 *c, bool out)
{
    if (c->rate_since == 0 || c->rate_out != out) {
        c->rate_since = now(c);
        c->rate_bytes = 0;
        c->rate_out = out;
    }
    return c->rate_since + (int64_t)limits(c)->rate_ns;
}

static int64_t deadline(struct h1 *c)
{
    const struct fk_http_limits *l = limits(c);
    int64_t at = c->ex ? fk_http_ex_deadline(c->ex) : INT64_MAX;
    if (c->out.first)
        return FK_MIN(at, rate_start(c, true));
    if (c->state == BODY && !c->paused)
        return FK_MIN(at, rate_start(c, false));
    c->rate_since = 0;
    switch (c->state) {
    case IDLE:
        return c->since + (int64_t)l->idle_ns;
    case HEAD:
        return c->since + (int64_t)l->head_ns;
    case LINGER:
        return c->since + (int64_t)l->linger_ns;
    case WAIT:
    case BODY:
    case DEAD:
        break;
    }
    return at;
}

static void count_timeout(struct h1 *c)
{
    atomic_fetch_add_explicit(&c->conn->loop->server->timeouts, 1, memory_order_relaxed);
}

static void head_timeout(struct h1 *c)
{
    struct fk_err err;
    fk_fail_limit(&err, "header", limits(c)->head_ns / (uint64_t)FK_NS_PER_MS,
                  FK_HTTP_FLAG(head_ns), "the request's header did not come in time, in ms");
    count_timeout(c);
    refuse(c, 408, &err);
}

static void break_body(struct h1 *c, int status, const struct fk_err *err)
{
    c->ex->keep_alive = false;
    if (c->answered || c->ex->head_sent) {
        enter(c, DEAD);
        return;
    }
    fk_http_ex_break(c->ex, status, err);
    c->paused = true; // nothing more is read
}

static void body_timeout(struct h1 *c)
{
    struct fk_err err;
    fk_fail_limit(&err, "body", limits(c)->body_rate, FK_HTTP_FLAG(body_rate),
                  "the request's body comes too slowly, in bytes per second");
    count_timeout(c);
    break_body(c, 408, &err);
}

static void deadline_over(struct h1 *c)
{
    struct fk_err err;
    if (fk_http_ex_expire(c->ex) || c->state != BODY)
        return;
    fk_fail(&err, FK_E_TIMEOUT, "the request's deadline was over before its body was here");
    break_body(c, 504, &err);
}

// A measuring span is over: too slow, or the next one begins.
static void rate_over(struct h1 *c)
{
    const struct fk_http_limits *l = limits(c);
    uint64_t rate = c->rate_out ? l->answer_rate : l->body_rate;
    fk_i128 want = (fk_i128)rate * (int64_t)l->rate_ns / FK_NS_PER_S;
    if ((fk_i128)c->rate_bytes >= want) {
        c->rate_since = 0;
    } else if (!c->rate_out) {
        body_timeout(c);
    } else {
        count_timeout(c);
        enter(c, DEAD);
    }
}

static void h1_timer(struct fk_http_conn *conn)
{
    struct h1 *c = conn->state;
    if (deadline(c) <= now(c)) {
        if (c->ex && fk_http_ex_deadline(c->ex) <= now(c))
            deadline_over(c);
        else if (c->rate_since)
            rate_over(c);
        else if (c->state == HEAD)
            head_timeout(c);
        else
            enter(c, DEAD); // idle or lingering
    }
    settle(c);
}

static uint32_t wanted(const struct h1 *c)
{
    uint32_t want = c->out.first ? FK_READY_OUT : 0;
    // While the answer is awaited one read is held, so that a client that leaves is noticed.
    bool read = c->state == LINGER || may_parse(c) || c->held.n == 0;
    return read && !c->read_end ? want | FK_READY_IN : want;
}

// Brings everything up to date after any event; may free the connection.
static void settle(struct h1 *c)
{
    if (c->busy)
        return;
    c->busy = true;
    for (bool more = true; more && c->state != DEAD;) {
        more = false;
        if (c->ex && c->state != HEAD)
            pull(c);
        if (c->out.first && c->state != DEAD)
            write_out(c);
        if (c->state != DEAD && c->ex && c->answered && !c->out.first)
            more = answer_over(c);
        if (c->held.n && may_parse(c)) {
            feed_held(c);
            more = true;
        }
    }
    c->busy = false;
    if (c->state == IDLE && c->conn->loop->draining)
        c->state = DEAD;
    if (c->state == DEAD)
        fk_http_conn_destroy(c->conn);
    else
        fk_http_conn_wait(c->conn, deadline(c), wanted(c));
}

// --- events ---
static void read_over(struct h1 *c)
{
    c->read_end = true;
    if (c->state != WAIT) {
        enter(c, DEAD);
        return;
    }
    // Most likely gone, though it may have ended its direction only: the answer is tried. What it
    // wanted to be kept is kept. A sink's answer may have no end, and nobody would notice.
    const struct fk_http_route *r = c->ex->req.route;
    if (r && r->sink && fk_http_ex_wants_body(c->ex))
        enter(c, DEAD);
    else if (!r || r->cls != FK_WORK_INGEST)
        fk_cancel_set(&c->ex->cancel, FK_E_CANCELLED);
}

static void take(struct h1 *c, const uint8_t *in, size_t n)
{
    if (c->state == LINGER)
        return;
    size_t used = c->held.n ? 0 : feed(c, in, n);
    if (used < n && c->state != DEAD)
        hold(c, in + used, n - used);
}

static void read_in(struct h1 *c)
{
    uint8_t *in = c->conn->loop->in;
    size_t n = 0;
    struct fk_err err;
    int rc = fk_http_wire_read(&c->conn->wire, in, FK_HTTP_READ, &n, &err);
    if (rc == FK_IO_OK)
        take(c, in, n);
    else if (rc == FK_IO_END)
        read_over(c);
    else if (rc < 0)
        enter(c, DEAD);
}

static void h1_input(struct fk_http_conn *conn, const uint8_t *p, size_t n)
{
    struct h1 *c = conn->state;
    take(c, p, n);
    settle(c);
}

static void h1_ready(struct fk_http_conn *conn, uint32_t ready)
{
    struct h1 *c = conn->state;
    if (ready & FK_READY_ERR)
        enter(c, DEAD);
    else if (ready & FK_READY_IN)
        read_in(c);
    else if (ready & FK_READY_HUP)
        enter(c, DEAD);
    settle(c);
}

static void h1_drain(struct fk_http_conn *conn)
{
    struct h1 *c = conn->state;
    if (c->state == IDLE)
        read_in(c); // a request that is here already is still answered
    settle(c);      // closes idle ones
}

const struct fk_http_proto fk_http_h1 = {h1_open, h1_input, h1_ready, h1_timer, h1_drain, h1_free};
