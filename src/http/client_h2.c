// SPDX-License-Identifier: Apache-2.0
// The client's HTTP/2 (RFC 9113), by nghttp2: one stream at a time on a kept connection. The answer
// looks like one of HTTP/1.1; its trailers stand behind the fields.
#include "http/client_int.h"

#include <nghttp2/nghttp2.h>

#define MAX_REQUEST 64 // fields of a request, beside our own

struct span { // in the reply's head
    size_t name, name_n, value, value_n;
};

struct fk_client_h2 {
    nghttp2_session *session;
    struct fk_http_client *c;
    // of the present call
    const struct fk_http_ask *ask;
    struct fk_http_reply *reply;
    int32_t stream;
    uint64_t sent; // bytes of the body
    FK_VEC(struct span) spans;
    bool over; // the stream is closed
    uint32_t reason;
    int rc; // what went wrong in a callback, with err
    struct fk_err err;
};

// ---- what comes ----

static int on_begin(nghttp2_session *s, const nghttp2_frame *f, void *arg)
{
    struct fk_client_h2 *h = arg;
    (void)s;
    if (f->hd.stream_id != h->stream || f->headers.cat == NGHTTP2_HCAT_HEADERS)
        return 0; // trailers, or those of an answer that follows 1xx
    h->spans.n = 0;
    fk_buf_clear(&h->reply->head);
    return 0;
}

static int too_large(struct fk_client_h2 *h)
{
    h->rc = fk_fail_limit(&h->err, "header", FK_CLIENT_MAX_HEAD, NULL,
                          "the header of the server's answer is too large");
    return NGHTTP2_ERR_CALLBACK_FAILURE;
}

static int on_field(nghttp2_session *s, const nghttp2_frame *f, nghttp2_rcbuf *n, nghttp2_rcbuf *v,
                    uint8_t flags, void *arg)
{
    struct fk_client_h2 *h = arg;
    struct fk_buf *b = &h->reply->head;
    nghttp2_vec name = nghttp2_rcbuf_get_buf(n), value = nghttp2_rcbuf_get_buf(v);
    uint64_t status = 0;
    (void)s, (void)flags;
    if (f->hd.stream_id != h->stream)
        return 0;
    if (name.len && name.base[0] == ':') { // nghttp2 has checked it
        fk_str_to_u64(fk_str_make(value.base, value.len), &status);
        if (h->reply->status / 100 == 1) { // an interim answer was before
            h->spans.n = 0;
            fk_buf_clear(b);
        }
        h->reply->status = (int)status;
        return 0;
    }
    if (h->spans.n == FK_CLIENT_FIELDS || b->n + name.len + value.len > FK_CLIENT_MAX_HEAD)
        return too_large(h);
    struct span x = {b->n, name.len, b->n + name.len, value.len};
    fk_buf_put(b, name.base, name.len);
    fk_buf_put(b, value.base, value.len);
    if (b->failed || fk_vec_push(&h->spans, x)) {
        h->rc = fk_fail_nomem(&h->err);
        return NGHTTP2_ERR_CALLBACK_FAILURE;
    }
    return 0;
}

static int on_data(nghttp2_session *s, uint8_t flags, int32_t stream, const uint8_t *p, size_t n,
                   void *arg)
{
    struct fk_client_h2 *h = arg;
    (void)s, (void)flags;
    if (stream != h->stream)
        return 0;
    h->rc = fk_client_keep(h->c, h->ask, h->reply, fk_str_make(p, n), &h->err);
    return h->rc ? NGHTTP2_ERR_CALLBACK_FAILURE : 0;
}

static int on_close(nghttp2_session *s, int32_t stream, uint32_t reason, void *arg)
{
    struct fk_client_h2 *h = arg;
    (void)s;
    if (stream == h->stream) {
        h->over = true;
        h->reason = reason;
    }
    return 0;
}

// ---- what goes ----

static ssize_t give_body(nghttp2_session *s, int32_t stream, uint8_t *to, size_t n, uint32_t *flags,
                         nghttp2_data_source *source, void *arg)
{
    struct fk_client_h2 *h = arg;
    const struct fk_http_ask *a = h->ask;
    uint64_t size = fk_client_body_size(a);
    (void)s, (void)stream, (void)source;
    n = (size_t)FK_MIN((uint64_t)n, size - h->sent);
    if (a->source && n)
        h->rc = a->source->read_at(a->source->arg, h->sent, to, n, &h->err);
    else if (n)
        memcpy(to, a->body.p + h->sent, n);
    if (h->rc)
        return NGHTTP2_ERR_CALLBACK_FAILURE;
    h->sent += n;
    if (h->sent == size)
        *flags |= NGHTTP2_DATA_FLAG_EOF;
    return (ssize_t)n;
}

static nghttp2_nv pair(const char *name, struct fk_str value)
{
    return (nghttp2_nv){(uint8_t *)(uintptr_t)name, (uint8_t *)(uintptr_t)value.p, strlen(name),
                        value.n, NGHTTP2_NV_FLAG_NONE};
}

// Fields that HTTP/2 has no place for (RFC 9113 §8.2.2).
static bool of_connection(struct fk_str name)
{
    static const char *const names[] = {
        "connection", "host", "keep-alive", "proxy-connection", "transfer-encoding", "upgrade"};
    for (size_t i = 0; i < FK_COUNTOF(names); i++)
        if (fk_str_eq_nocase(name, fk_str_of(names[i])))
            return true;
    return false;
}

static char *lower(struct fk_arena *a, struct fk_str name)
{
    char *to = fk_arena_alloc(a, name.n + 1);
    for (size_t i = 0; to && i < name.n; i++)
        to[i] = (char)(name.p[i] >= 'A' && name.p[i] <= 'Z' ? name.p[i] | 0x20 : name.p[i]);
    if (to)
        to[name.n] = '\0';
    return to;
}

static struct fk_str text_of(struct fk_arena *a, const struct fk_http_client *c,
                             const struct fk_http_ask *ask, bool host)
{
    FK_AUTO_BUF b;
    fk_buf_init(&b, 0);
    if (host)
        fk_client_put_host(c, &b);
    else
        fk_client_put_target(c, ask, &b);
    return b.failed ? (struct fk_str){NULL, 0} : fk_arena_str(a, fk_buf_view(&b));
}

static int make_fields(struct fk_client_h2 *h, struct fk_arena *a, nghttp2_nv *nv, size_t *ret_n,
                       struct fk_err *err)
{
    const struct fk_http_ask *ask = h->ask;
    struct fk_str host = text_of(a, h->c, ask, true), target = text_of(a, h->c, ask, false);
    struct fk_str length = fk_arena_printf(a, "%llu", (unsigned long long)fk_client_body_size(ask));
    size_t n = 0;
    if (!host.p || !target.p || !length.p)
        return fk_fail_nomem(err);
    nv[n++] = pair(":method", fk_str_of(ask->method));
    nv[n++] = pair(":scheme", h->c->secure ? FK_S("https") : FK_S("http"));
    nv[n++] = pair(":authority", host);
    nv[n++] = pair(":path", target);
    nv[n++] = pair("user-agent", fk_str_of(fk_client_agent(h->c)));
    if (ask->has_body)
        nv[n++] = pair("content-length", length);
    for (size_t i = 0; i < ask->fields_n; i++) {
        if (of_connection(ask->fields[i].name))
            continue;
        char *name = lower(a, ask->fields[i].name);
        if (!name)
            return fk_fail_nomem(err);
        nv[n++] = pair(name, ask->fields[i].value);
    }
    *ret_n = n;
    return 0;
}

static int submit(struct fk_client_h2 *h, struct fk_err *err)
{
    FK_AUTO_ARENA a;
    nghttp2_nv nv[MAX_REQUEST + 6];
    size_t n = 0;
    fk_arena_init(&a, 0);
    if (h->ask->fields_n > MAX_REQUEST)
        return fk_fail_limit(err, "fields", MAX_REQUEST, NULL, "the request has too many fields");
    int rc = make_fields(h, &a, nv, &n, err);
    if (rc)
        return rc;
    nghttp2_data_provider body = {.read_callback = give_body};
    h->stream =
        nghttp2_submit_request(h->session, NULL, nv, n, h->ask->has_body ? &body : NULL, NULL);
    return h->stream > 0 ? 0 : fk_fail_nomem(err);
}

// ---- the connection ----

static int broken(struct fk_client_h2 *h, int code, struct fk_err *err)
{
    if (h->rc) {
        *err = h->err;
        return h->rc;
    }
    return code == NGHTTP2_ERR_NOMEM
               ? fk_fail_nomem(err)
               : fk_fail(err, FK_E_FORMAT, "the server's answer is not valid HTTP/2: %s",
                         nghttp2_strerror(code));
}

static int read_some(struct fk_client_h2 *h, struct fk_err *err)
{
    uint8_t in[16384];
    size_t n = 0;
    int rc = fk_http_wire_read(&h->c->wire, in, sizeof(in), &n, err);
    if (rc == FK_IO_END)
        return fk_fail(err, FK_E_IO, "the server closed the connection without an answer");
    if (rc != FK_IO_OK)
        return rc == FK_IO_AGAIN ? 0 : rc;
    ssize_t took = nghttp2_session_mem_recv(h->session, in, n);
    if (took < 0 || h->rc)
        return broken(h, (int)took, err);
    return 0;
}

bool fk_client_h2_is_over(struct fk_client_h2 *h)
{
    struct fk_err err;
    uint32_t ready = 1;
    int rc = 0;
    h->stream = 0;
    h->rc = 0;
    for (int i = 0; rc == 0 && ready && i < 16; i++) {
        rc = read_some(h, &err);
        ready = 0;
        if (rc == 0)
            rc = fk_net_wait(h->c->wire.io.fd, FK_READY_IN, 0, &ready, &err);
    }
    return rc || ready || !nghttp2_session_check_request_allowed(h->session);
}

// *ret_blocked: the socket takes no more.
static int write_some(struct fk_client_h2 *h, struct fk_buf *out, size_t *at, bool *ret_blocked,
                      struct fk_err *err)
{
    *ret_blocked = false;
    for (;;) {
        if (*at == out->n) {
            const uint8_t *p;
            fk_buf_clear(out);
            *at = 0;
            ssize_t n = nghttp2_session_mem_send(h->session, &p);
            if (n < 0 || h->rc)
                return broken(h, (int)n, err);
            if (n == 0)
                return 0;
            fk_buf_put(out, p, (size_t)n);
            if (out->failed)
                return fk_fail_nomem(err);
        }
        size_t sent = 0;
        int rc = fk_http_wire_write(&h->c->wire, out->p + *at, out->n - *at, &sent, err);
        if (rc == FK_IO_AGAIN) {
            *ret_blocked = true;
            return 0;
        }
        if (rc < 0)
            return rc;
        *at += sent;
        h->c->sent_any |= h->stream > 0;
    }
}

// Until the answer is whole.
static int run(struct fk_client_h2 *h, struct fk_buf *out, struct fk_err *err)
{
    size_t at = 0;
    bool blocked;
    uint32_t ready = 0;
    while (!h->over) {
        int rc = write_some(h, out, &at, &blocked, err);
        if (!rc && !nghttp2_session_want_read(h->session))
            rc = fk_fail(err, FK_E_IO, "the server ended the connection");
        if (!rc)
            rc = fk_client_wait(h->c, FK_READY_IN | (blocked ? FK_READY_OUT : 0u), h->c->deadline,
                                "it did not answer", &ready, err);
        if (!rc && (ready & ~(uint32_t)FK_READY_OUT))
            rc = read_some(h, err);
        h->c->got_any |= h->reply->status != 0;
        if (rc)
            return rc;
    }
    return at < out->n ? 0 : write_some(h, out, &at, &blocked, err);
}

static int finish(struct fk_client_h2 *h, bool *ret_keep, struct fk_err *err)
{
    struct fk_http_reply *r = h->reply;
    if (h->reason || r->status < 200)
        return fk_fail(err, FK_E_IO, "the server broke the answer off: %s",
                       nghttp2_http2_strerror(h->reason));
    r->fields = fk_calloc(FK_MAX(h->spans.n, (size_t)1), sizeof(*r->fields));
    if (!r->fields)
        return fk_fail_nomem(err);
    for (size_t i = 0; i < h->spans.n; i++) {
        const struct span *x = &h->spans.v[i];
        r->fields[i] = (struct fk_http_field){{r->head.p + x->name, x->name_n},
                                              {r->head.p + x->value, x->value_n}};
    }
    r->fields_n = h->spans.n;
    *ret_keep =
        nghttp2_session_want_read(h->session) && nghttp2_session_check_request_allowed(h->session);
    return 0;
}

int fk_client_h2_call(struct fk_http_client *c, const struct fk_http_ask *a,
                      struct fk_http_reply *ret, bool *ret_keep, struct fk_err *err)
{
    FK_AUTO_BUF out;
    struct fk_client_h2 *h = c->h2;
    struct fk_err why = {0};
    fk_buf_init(&out, 0);
    h->ask = a;
    h->reply = ret;
    h->stream = 0;
    h->sent = 0;
    h->over = false;
    h->reason = 0;
    h->rc = 0;
    h->spans.n = 0;
    *ret_keep = false;
    int rc = submit(h, &why);
    if (!rc)
        rc = run(h, &out, &why);
    if (!rc)
        rc = finish(h, ret_keep, &why);
    if (rc && err)
        *err = why;
    return rc;
}

static int make_session(struct fk_client_h2 *h, nghttp2_session_callbacks *on, struct fk_err *err)
{
    static const nghttp2_settings_entry settings[] = {
        {NGHTTP2_SETTINGS_ENABLE_PUSH, 0},
        {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, 1 << 20},
        {NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, (uint32_t)FK_CLIENT_MAX_HEAD}};
    nghttp2_session_callbacks_set_on_begin_headers_callback(on, on_begin);
    nghttp2_session_callbacks_set_on_header_callback2(on, on_field);
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(on, on_data);
    nghttp2_session_callbacks_set_on_stream_close_callback(on, on_close);
    if (nghttp2_session_client_new(&h->session, on, h) ||
        nghttp2_submit_settings(h->session, NGHTTP2_FLAG_NONE, settings, FK_COUNTOF(settings)) ||
        nghttp2_session_set_local_window_size(h->session, NGHTTP2_FLAG_NONE, 0, 4 << 20))
        return fk_fail_nomem(err);
    return 0;
}

int fk_client_h2_new(struct fk_http_client *c, struct fk_client_h2 **ret, struct fk_err *err)
{
    struct fk_client_h2 *h = fk_calloc(1, sizeof(*h));
    nghttp2_session_callbacks *on = NULL;
    if (!h || nghttp2_session_callbacks_new(&on)) {
        fk_free(h);
        return fk_fail_nomem(err);
    }
    h->c = c;
    int rc = make_session(h, on, err);
    nghttp2_session_callbacks_del(on);
    if (rc)
        fk_client_h2_free(h);
    else
        *ret = h;
    return rc;
}

void fk_client_h2_free(struct fk_client_h2 *h)
{
    if (!h)
        return;
    nghttp2_session_del(h->session);
    fk_vec_free(&h->spans);
    fk_free(h);
}
