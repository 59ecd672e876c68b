// SPDX-License-Identifier: Apache-2.0
// HTTP/2 requests as they come: header blocks, bodies with their windows, the end of streams.
//
// Windows: the connection's is opened again as soon as bytes are here, so that one sink that pauses
// holds up no other stream; the stream's only when its sink has taken them. What came meanwhile is
// held, at most a window, and counts as a body in memory.
#include "http/h2_int.h"

static void on_timer(void *arg);

static struct fk_h2_stream *stream_of(nghttp2_session *session, int32_t id)
{
    return nghttp2_session_get_stream_user_data(session, id);
}

// --- life ---
static struct fk_h2_stream *open_stream(struct fk_h2 *h2, int32_t id)
{
    struct fk_http_loop *l = h2->conn->loop;
    struct fk_h2_stream *s = fk_calloc(1, sizeof(*s));
    if (!s)
        return NULL;
    s->h2 = h2;
    s->id = id;
    s->timer = (struct fk_timer){.on = on_timer, .arg = s};
    fk_buf_init(&s->held, 0);
    s->ex = fk_http_ex_new(l, &fk_h2_link, s, &h2->conn->peer);
    // Its first span is that of the header; a place for the timer is had from here on.
    if (!s->ex || fk_timer_set(l->loop, &s->timer,
                               fk_h2_now(h2) + (int64_t)fk_h2_limits(h2)->head_ns, NULL)) {
        if (s->ex)
            fk_http_ex_leave(s->ex, false);
        fk_free(s);
        return NULL;
    }
    s->ex->req.tls = h2->conn->wire.ssl != NULL;
    s->next = h2->streams;
    if (s->next)
        s->next->prev = s;
    h2->streams = s;
    h2->streams_n++;
    return s;
}

static void untouch(struct fk_h2_stream *s)
{
    struct fk_h2_stream **at = &s->h2->touched;
    while (*at && *at != s)
        at = &(*at)->next_touched;
    if (*at)
        *at = s->next_touched;
}

static void drop_held(struct fk_h2_stream *s)
{
    struct fk_http_server *server = s->h2->conn->loop->server;
    atomic_fetch_sub_explicit(&server->memory, s->held_charged, memory_order_relaxed);
    s->held_charged = 0;
    fk_buf_free(&s->held);
}

void fk_h2_stream_free(struct fk_h2_stream *s, bool sent_all)
{
    struct fk_h2 *h2 = s->h2;
    if (s->touched)
        untouch(s);
    fk_timer_clear(h2->conn->loop->loop, &s->timer);
    fk_http_segs_free(&s->out);
    drop_held(s);
    fk_h2_head_free(&s->head);
    if (s->prev)
        s->prev->next = s->next;
    else
        h2->streams = s->next;
    if (s->next)
        s->next->prev = s->prev;
    if (--h2->streams_n == 0)
        h2->since = fk_h2_now(h2);
    fk_http_ex_leave(s->ex, sent_all);
    fk_free(s);
}

void fk_h2_stream_reset(struct fk_h2_stream *s, uint32_t code)
{
    if (s->reset)
        return;
    s->reset = true;
    if (nghttp2_submit_rst_stream(s->h2->session, NGHTTP2_FLAG_NONE, s->id, code))
        s->h2->end = FK_H2_DEAD;
}

// --- header blocks ---
static int on_begin_headers(nghttp2_session *session, const nghttp2_frame *frame, void *user)
{
    struct fk_h2 *h2 = user;
    struct fk_http_server *server = h2->conn->loop->server;
    if (frame->headers.cat != NGHTTP2_HCAT_REQUEST) {
        h2->head_since = fk_h2_now(h2);
        return 0;
    }
    h2->conn->requests++;
    atomic_fetch_add_explicit(&server->h2_streams, 1, memory_order_relaxed);
    struct fk_h2_stream *s = open_stream(h2, frame->hd.stream_id);
    if (!s)
        return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
    h2->head_since = fk_h2_now(h2); // else nobody would tell of the block's end
    return nghttp2_session_set_stream_user_data(session, s->id, s);
}

static void add_trailer(struct fk_h2_stream *s, size_t n)
{
    const struct fk_http_limits *l = fk_h2_limits(s->h2);
    struct fk_err err;
    if (s->trailer_bytes > l->head_bytes)
        return;
    s->trailer_bytes += n + 32;
    if (s->trailer_bytes <= l->head_bytes)
        return;
    fk_fail_limit(&err, "header", l->head_bytes, FK_HTTP_FLAG(head_bytes),
                  "the request's trailers are too large");
    fk_http_ex_break(s->ex, 431, &err);
    fk_h2_touch(s);
}

static int on_header(nghttp2_session *session, const nghttp2_frame *frame, nghttp2_rcbuf *name,
                     nghttp2_rcbuf *value, uint8_t flags, void *user)
{
    (void)flags;
    struct fk_h2 *h2 = user;
    struct fk_h2_stream *s = stream_of(session, frame->hd.stream_id);
    nghttp2_vec n = nghttp2_rcbuf_get_buf(name), v = nghttp2_rcbuf_get_buf(value);
    if (!s)
        return 0;
    s->ex->bytes_in += n.len + v.len;
    if (s->headed)
        add_trailer(s, n.len + v.len);
    else
        fk_h2_head_add(s->ex, &s->head, fk_str_make(n.base, n.len), fk_str_make(v.base, v.len),
                       fk_h2_limits(h2));
    return 0;
}

// A regular field with a character that must not be there: nghttp2 would only leave it out.
static int on_invalid_header(nghttp2_session *session, const nghttp2_frame *frame,
                             nghttp2_rcbuf *name, nghttp2_rcbuf *value, uint8_t flags, void *user)
{
    (void)name, (void)value, (void)flags, (void)user;
    struct fk_h2_stream *s = stream_of(session, frame->hd.stream_id);
    if (s && !s->headed && !s->head.fault)
        s->head.fault = FK_H2_BAD;
    return 0;
}

static void body_over(struct fk_h2_stream *s)
{
    if (!s->fin || s->told || s->paused)
        return;
    s->told = true;
    fk_http_ex_complete(s->ex);
}

static void head_over(struct fk_h2_stream *s, bool fin)
{
    struct fk_http_ex *ex = s->ex;
    struct fk_err err = {0};
    s->headed = true;
    s->fin = fin;
    int status = fk_h2_head_finish(ex, &s->head, fk_h2_limits(s->h2), &err);
    if (!status && !fk_http_ex_charge_head(ex, &err))
        status = 503;
    fk_h2_touch(s);
    if (status) {
        s->told = true;
        fk_http_ex_break(ex, status, &err);
        return;
    }
    ex->has_body = !fin && ex->content_length != 0;
    fk_http_ex_headers(ex);
    if (fin)
        body_over(s);
    else if (ex->expect_100 && fk_http_ex_wants_body(ex))
        fk_h2_continue(s);
}

// --- bodies ---
static void lose_held(struct fk_h2_stream *s, enum fk_error code)
{
    struct fk_err err;
    fk_fail_limit(&err, "body", fk_h2_limits(s->h2)->bodies, FK_HTTP_FLAG(bodies),
                  "too many request bodies are in memory: try again");
    err.code = code;
    fk_http_ex_break(s->ex, 503, &err);
    s->paused = false;
    drop_held(s);
    fk_h2_touch(s);
}

static void hold(struct fk_h2_stream *s, const uint8_t *p, size_t n)
{
    struct fk_http_server *server = s->h2->conn->loop->server;
    if (!fk_http_budget_take(&server->memory, n, server->opts.limits.bodies)) {
        lose_held(s, FK_E_BUSY);
        return;
    }
    s->held_charged += n;
    fk_buf_put(&s->held, p, n);
    if (s->held.failed)
        lose_held(s, FK_E_NOMEM);
}

static void give(struct fk_h2_stream *s, const uint8_t *p, size_t n)
{
    if (fk_http_ex_body(s->ex, p, n) == FK_HTTP_PAUSE)
        s->paused = true;
    fk_h2_touch(s);
}

static int on_data(nghttp2_session *session, uint8_t flags, int32_t id, const uint8_t *p, size_t n,
                   void *user)
{
    (void)flags;
    struct fk_h2_stream *s = stream_of(session, id);
    int rc = nghttp2_session_consume_connection(session, n);
    fk_h2_noise(user, -2); // for the frame and one more
    if (!s || rc)
        return rc == NGHTTP2_ERR_NOMEM ? NGHTTP2_ERR_CALLBACK_FAILURE : 0;
    s->ex->bytes_in += n;
    if (!s->rate_out)
        s->rate_bytes += n;
    if (s->paused) {
        hold(s, p, n);
        if (s->paused)
            return 0; // its window opens when the sink goes on
    } else {
        give(s, p, n);
    }
    if (nghttp2_session_consume_stream(session, id, n) == NGHTTP2_ERR_NOMEM)
        return NGHTTP2_ERR_CALLBACK_FAILURE;
    return 0;
}

void fk_h2_stream_resumed(struct fk_h2_stream *s)
{
    s->paused = false;
    s->rate_since = 0;
    if (s->held.n) {
        struct fk_buf held = s->held;
        fk_buf_init(&s->held, 0);
        give(s, (const uint8_t *)held.p, held.n);
        if (nghttp2_session_consume_stream(s->h2->session, s->id, held.n) == NGHTTP2_ERR_NOMEM)
            s->h2->end = FK_H2_DEAD;
        fk_buf_free(&held);
        drop_held(s);
    }
    body_over(s);
}

// --- frames ---
static void request_frame(struct fk_h2 *h2, struct fk_h2_stream *s, const nghttp2_frame *frame)
{
    bool fin = frame->hd.flags & NGHTTP2_FLAG_END_STREAM;
    if (!s->headed) {
        head_over(s, fin);
        if (h2->conn->requests >= fk_h2_limits(h2)->requests && h2->end == FK_H2_OPEN)
            fk_h2_shut_down(h2);
        return;
    }
    s->fin |= fin;
    body_over(s);
    fk_h2_touch(s);
}

static int on_frame(nghttp2_session *session, const nghttp2_frame *frame, void *user)
{
    struct fk_h2 *h2 = user;
    struct fk_h2_stream *s = NULL;
    switch (frame->hd.type) {
    case NGHTTP2_HEADERS:
        h2->head_since = 0;
        __attribute__((fallthrough));
    case NGHTTP2_DATA:
        s = stream_of(session, frame->hd.stream_id);
        if (s)
            request_frame(h2, s, frame);
        break;
    case NGHTTP2_RST_STREAM:
        fk_h2_reset_seen(h2);
        break;
    case NGHTTP2_SETTINGS:
        h2->settled = true;
        break;
    case NGHTTP2_PING:
        if ((frame->hd.flags & NGHTTP2_FLAG_ACK) && h2->end == FK_H2_NOTICE &&
            memcmp(frame->ping.opaque_data, fk_h2_drained, sizeof(fk_h2_drained)) == 0)
            fk_h2_shut_down(h2); // what was under way then has come
        break;
    default:
        break;
    }
    return 0;
}

// A stream that was passed over can no longer be opened (RFC 9113 §5.1.1); nghttp2 takes it for one
// that is closed. Ids that lie further back than 64 streams are left to it.
static void check_id(struct fk_h2 *h2, int32_t id)
{
    int32_t ahead = (id - h2->newest) / 2;
    if (id % 2 == 0)
        return; // nghttp2's to refuse
    if (id > h2->newest) {
        h2->opened = (ahead < 64 ? h2->opened << ahead : 0) | 1;
        h2->newest = id;
    } else if (ahead > -64 && !(h2->opened >> -ahead & 1)) {
        fk_h2_terminate(h2, NGHTTP2_PROTOCOL_ERROR);
    }
}

// Frames that bring neither a request nor a part of one are counted, whether nghttp2 knows them or
// not; those that do pay for some.
static int on_begin_frame(nghttp2_session *session, const nghttp2_frame_hd *hd, void *user)
{
    (void)session;
    struct fk_h2 *h2 = user;
    bool last = hd->type == NGHTTP2_DATA && (hd->flags & NGHTTP2_FLAG_END_STREAM);
    if (hd->type == NGHTTP2_HEADERS)
        check_id(h2, hd->stream_id);
    if (hd->type != NGHTTP2_HEADERS && hd->type != NGHTTP2_CONTINUATION && !last)
        fk_h2_noise(h2, 1);
    return 0;
}

static int on_invalid_frame(nghttp2_session *session, const nghttp2_frame *frame, int code,
                            void *user)
{
    (void)session, (void)frame, (void)code;
    struct fk_h2 *h2 = user;
    h2->head_since = 0;
    fk_h2_reset_seen(h2);
    return 0;
}

static int on_close(nghttp2_session *session, int32_t id, uint32_t code, void *user)
{
    (void)user;
    struct fk_h2_stream *s = stream_of(session, id);
    if (s)
        fk_h2_stream_free(s, code == NGHTTP2_NO_ERROR && s->answered && !s->out.first);
    return 0;
}

int fk_h2_in_callbacks(nghttp2_session_callbacks *cb)
{
    nghttp2_session_callbacks_set_on_begin_headers_callback(cb, on_begin_headers);
    nghttp2_session_callbacks_set_on_header_callback2(cb, on_header);
    nghttp2_session_callbacks_set_on_invalid_header_callback2(cb, on_invalid_header);
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(cb, on_data);
    nghttp2_session_callbacks_set_on_frame_recv_callback(cb, on_frame);
    nghttp2_session_callbacks_set_on_begin_frame_callback(cb, on_begin_frame);
    nghttp2_session_callbacks_set_on_invalid_frame_recv_callback(cb, on_invalid_frame);
    nghttp2_session_callbacks_set_on_stream_close_callback(cb, on_close);
    return 0;
}

// --- time ---
static int64_t rate_at(struct fk_h2_stream *s, bool out)
{
    if (s->rate_since == 0 || s->rate_out != out) {
        s->rate_since = fk_h2_now(s->h2);
        s->rate_bytes = 0;
        s->rate_out = out;
    }
    return s->rate_since + (int64_t)fk_h2_limits(s->h2)->rate_ns;
}

static int64_t stream_deadline(struct fk_h2_stream *s)
{
    int64_t at = fk_http_ex_deadline(s->ex);
    int64_t rate = INT64_MAX;
    if (!s->headed)
        return INT64_MAX; // the connection's
    if (s->out.first)
        rate = rate_at(s, true);
    else if (!s->fin && !s->paused && !s->answered)
        rate = rate_at(s, false);
    else
        s->rate_since = 0;
    return FK_MIN(at, rate);
}

void fk_h2_stream_arm(struct fk_h2_stream *s)
{
    int64_t at = stream_deadline(s);
    // A timer that fires early finds nothing to do and is set anew: cheaper than moving it often.
    if (s->timer.place == 0 ? at != INT64_MAX : at < s->timer.at_ns)
        fk_timer_set(s->h2->conn->loop->loop, &s->timer, at, NULL);
}

static void body_timeout(struct fk_h2_stream *s, int status, const struct fk_err *err)
{
    if (s->submitted) {
        fk_h2_stream_reset(s, NGHTTP2_CANCEL);
        return;
    }
    fk_http_ex_break(s->ex, status, err);
    s->paused = false;
    drop_held(s);
}

static void rate_over(struct fk_h2_stream *s)
{
    const struct fk_http_limits *l = fk_h2_limits(s->h2);
    uint64_t rate = s->rate_out ? l->answer_rate : l->body_rate;
    fk_i128 want = (fk_i128)rate * (int64_t)l->rate_ns / FK_NS_PER_S;
    struct fk_err err;
    s->rate_since = 0;
    // While the socket itself takes nothing, the connection's rate counts, not the stream's.
    if ((fk_i128)s->rate_bytes >= want || (s->rate_out && s->h2->blocked))
        return;
    atomic_fetch_add_explicit(&s->h2->conn->loop->server->timeouts, 1, memory_order_relaxed);
    if (s->rate_out) {
        fk_h2_stream_reset(s, NGHTTP2_CANCEL);
        return;
    }
    fk_fail_limit(&err, "body", l->body_rate, FK_HTTP_FLAG(body_rate),
                  "the request's body comes too slowly, in bytes per second");
    body_timeout(s, 408, &err);
}

static void on_timer(void *arg)
{
    struct fk_h2_stream *s = arg;
    int64_t now = fk_h2_now(s->h2);
    struct fk_err err;
    if (fk_http_ex_deadline(s->ex) <= now) {
        if (!fk_http_ex_expire(s->ex) && !s->told && s->headed) {
            fk_fail(&err, FK_E_TIMEOUT, "the request's deadline was over before its body was here");
            body_timeout(s, 504, &err);
        }
    } else if (s->rate_since && s->rate_since + (int64_t)fk_h2_limits(s->h2)->rate_ns <= now) {
        rate_over(s);
    }
    fk_h2_touch(s);
    fk_h2_settle(s->h2);
}
