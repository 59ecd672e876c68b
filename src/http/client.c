// SPDX-License-Identifier: Apache-2.0
// The client: one connection, one call at a time, sockets without blocking under one deadline. How
// an answer is read lies in reply.c.
#include "http/client_int.h"

#include "os/clock.h"

#define MAX_ADDRS 8
#define SLICE     (100 * FK_NS_PER_MS) // a wait, before cancellation is asked for again

int fk_http_client_new(const struct fk_http_client_opts *opts, struct fk_http_client **ret,
                       struct fk_err *err)
{
    struct fk_http_url url;
    int rc = fk_http_url_parse(fk_str_of(opts->url), &url, err);
    if (rc)
        return rc;
    if (fk_str_eq_nocase(url.scheme, FK_S("https")))
        return fk_fail(err, FK_E_UNSUPPORTED,
                       "https is not available yet: use an http:// address, or a TLS proxy");
    if (url.query.n)
        return fk_fail_param(err, "url", "the server's URL must not have a query");
    struct fk_http_client *c = fk_calloc(1, sizeof(*c));
    char *text = c ? fk_strndup(opts->url, strlen(opts->url)) : NULL;
    if (!text) {
        fk_free(c);
        return fk_fail_nomem(err);
    }
    fk_http_url_parse(fk_str_of(text), &c->url, NULL); // again, so that the views are ours
    c->text = text;
    c->opts = *opts;
    c->opts.connect_ns = opts->connect_ns ? opts->connect_ns : 10 * FK_NS_PER_S;
    c->opts.total_ns = opts->total_ns ? opts->total_ns : 300 * FK_NS_PER_S;
    c->opts.body_max = opts->body_max ? opts->body_max : (uint64_t)256 << 20;
    while (c->url.path.n && c->url.path.p[c->url.path.n - 1] == '/')
        c->url.path.n--;
    c->fd = -1;
    *ret = c;
    return 0;
}

void fk_http_client_free(struct fk_http_client *c)
{
    if (!c)
        return;
    fk_net_close(c->fd);
    fk_free(c->text);
    fk_free(c);
}

static void hang_up(struct fk_http_client *c)
{
    fk_net_close(c->fd);
    c->fd = -1;
}

// --- waiting ---
static int fail_timeout(struct fk_http_client *c, const char *what, struct fk_err *err)
{
    return fk_fail(err, FK_E_TIMEOUT, "%.*s:%u: %s in time", FK_STR_ARG(c->url.host),
                   (unsigned)c->url.port, what);
}

int fk_http_client_wait(struct fk_http_client *c, uint32_t want, int64_t deadline, const char *what,
                        uint32_t *ret_ready, struct fk_err *err)
{
    for (;;) {
        int64_t left = deadline - fk_clock_mono(fk_clock_real());
        int rc = fk_cancel_check(c->cancel, err);
        if (!rc && left <= 0)
            rc = fail_timeout(c, what, err);
        if (!rc)
            rc = fk_net_wait(c->fd, want, FK_MIN(left, SLICE), ret_ready, err);
        if (rc || *ret_ready)
            return rc;
    }
}

// --- connecting ---
static int connect_one(struct fk_http_client *c, const struct fk_addr *a, int64_t deadline,
                       struct fk_err *err)
{
    uint32_t ready;
    int rc = fk_net_connect(a, &c->fd, err);
    if (!rc)
        rc = fk_http_client_wait(c, FK_READY_OUT, deadline, "it was not reached", &ready, err);
    if (!rc && fk_net_connected(c->fd, err)) {
        char text[FK_ADDR_CHARS];
        fk_addr_format(a, text);
        rc = fk_fail_in(err, "%s", text);
    }
    if (rc)
        hang_up(c);
    return rc;
}

static int connect_any(struct fk_http_client *c, struct fk_err *err)
{
    struct fk_addr addr[MAX_ADDRS];
    char host[256];
    size_t n = 0;
    int64_t deadline = fk_clock_mono(fk_clock_real()) + c->opts.connect_ns;
    deadline = FK_MIN(deadline, c->deadline);
    memcpy(host, c->url.host.p, c->url.host.n); // at most 255 (fk_http_url_parse)
    host[c->url.host.n] = '\0';
    int rc = fk_addr_resolve(host, c->url.port, addr, MAX_ADDRS, &n, err);
    if (rc)
        return rc;
    for (size_t i = 0; i < n; i++) {
        rc = connect_one(c, &addr[i], deadline, err);
        if (!rc || rc == -FK_E_CANCELLED || rc == -FK_E_TIMEOUT)
            return rc;
    }
    return rc ? rc : fk_fail(err, FK_E_NOTFOUND, "%s has no address", host);
}

// --- sending ---
static bool field_ok(const struct fk_http_field *f)
{
    for (size_t i = 0; i < f->name.n; i++)
        if ((unsigned char)f->name.p[i] <= ' ' || f->name.p[i] == ':' || f->name.p[i] == 0x7f)
            return false;
    for (size_t i = 0; i < f->value.n; i++)
        if ((unsigned char)f->value.p[i] < ' ' && f->value.p[i] != '\t')
            return false;
    return f->name.n > 0;
}

static void put_host(struct fk_http_client *c, struct fk_buf *b)
{
    bool v6 = fk_str_chr(c->url.host, ':') >= 0;
    fk_buf_cstr(b, v6 ? "\r\nHost: [" : "\r\nHost: ");
    fk_buf_str(b, c->url.host);
    fk_buf_cstr(b, v6 ? "]" : "");
    if (c->url.port != 80)
        fk_buf_printf(b, ":%u", (unsigned)c->url.port);
}

static uint64_t body_size(const struct fk_http_ask *a)
{
    return a->source ? a->source->size : a->body.n;
}

static int put_request(struct fk_http_client *c, const struct fk_http_ask *a, struct fk_buf *b,
                       struct fk_err *err)
{
    struct fk_str target[2] = {a->path, a->query};
    for (size_t k = 0; k < 2; k++)
        for (size_t i = 0; i < target[k].n; i++)
            if ((unsigned char)target[k].p[i] <= ' ' || target[k].p[i] == 0x7f)
                return fk_fail_param(err, "path", "the request's path is not encoded");
    fk_buf_cstr(b, a->method);
    fk_buf_byte(b, ' ');
    fk_buf_str(b, c->url.path);
    fk_buf_str(b, a->path.n ? a->path : FK_S("/"));
    if (a->query.n) {
        fk_buf_byte(b, '?');
        fk_buf_str(b, a->query);
    }
    fk_buf_cstr(b, " HTTP/1.1");
    put_host(c, b);
    fk_buf_cstr(b, "\r\nUser-Agent: ");
    fk_buf_cstr(b, c->opts.user_agent ? c->opts.user_agent : "flamekeep/" FK_VERSION);
    for (size_t i = 0; i < a->fields_n; i++) {
        if (!field_ok(&a->fields[i]))
            return fk_fail_param(err, "fields", "a header field of the request is broken");
        fk_buf_cstr(b, "\r\n");
        fk_buf_str(b, a->fields[i].name);
        fk_buf_cstr(b, ": ");
        fk_buf_str(b, a->fields[i].value);
    }
    if (a->has_body) {
        fk_buf_cstr(b, "\r\nContent-Length: ");
        fk_buf_u64(b, body_size(a));
    }
    fk_buf_cstr(b, "\r\n\r\n");
    return fk_buf_check(b, "request", err);
}

// All n bytes; *ret_early when the server answers before it has them, or has closed.
static int send_bytes(struct fk_http_client *c, const char *p, size_t n, bool *ret_early,
                      struct fk_err *err)
{
    uint32_t ready;
    while (n) {
        size_t sent = 0;
        int rc = fk_net_write(c->fd, p, n, &sent, err);
        if (rc == FK_IO_OK) {
            p += sent;
            n -= sent;
            continue;
        }
        if (rc < 0) { // its answer may still be there to be read
            *ret_early = true;
            return 0;
        }
        rc = fk_http_client_wait(c, FK_READY_OUT | FK_READY_IN, c->deadline,
                                 "it did not take the request", &ready, err);
        if (rc)
            return rc;
        if (ready & ~(uint32_t)FK_READY_OUT) {
            *ret_early = true;
            return 0;
        }
    }
    return 0;
}

static int send_source(struct fk_http_client *c, const struct fk_source *s, bool *ret_early,
                       struct fk_err *err)
{
    size_t piece = (size_t)256 << 10;
    FK_AUTO_FREE char *buf = fk_malloc(piece);
    int rc = buf ? 0 : fk_fail_nomem(err);
    for (uint64_t at = 0; !rc && at < s->size && !*ret_early;) {
        size_t n = (size_t)FK_MIN(s->size - at, (uint64_t)piece);
        rc = s->read_at(s->arg, at, buf, n, err);
        if (!rc)
            rc = send_bytes(c, buf, n, ret_early, err);
        at += n;
    }
    return rc;
}

static int send_all(struct fk_http_client *c, const struct fk_http_ask *a, struct fk_str head,
                    bool *ret_early, struct fk_err *err)
{
    *ret_early = false;
    int rc = send_bytes(c, head.p, head.n, ret_early, err);
    if (rc || *ret_early || !a->has_body)
        return rc;
    if (a->source)
        return send_source(c, a->source, ret_early, err);
    return send_bytes(c, a->body.p, a->body.n, ret_early, err);
}

// --- a call ---
// An idle connection that can be read was closed by the server (or says what nobody asked for).
static void drop_stale(struct fk_http_client *c)
{
    uint32_t ready = 0;
    if (c->fd >= 0 && (fk_net_wait(c->fd, FK_READY_IN, 0, &ready, NULL) || ready))
        hang_up(c);
}

// One try on one connection.
static int try_call(struct fk_http_client *c, const struct fk_http_ask *a, struct fk_str head,
                    struct fk_http_reply *ret, struct fk_err *err)
{
    bool early = false, keep = false;
    c->got_any = false;
    int rc = c->fd < 0 ? connect_any(c, err) : 0;
    if (!rc)
        rc = send_all(c, a, head, &early, err);
    if (!rc)
        rc = fk_http_reply_read(c, a, ret, &keep, err);
    if (c->fd >= 0 && (rc || !keep || early))
        hang_up(c);
    return rc;
}

static bool is_redirect(int status)
{
    return status == 301 || status == 302 || status == 303 || status == 307 || status == 308;
}

int fk_http_client_call(struct fk_http_client *c, const struct fk_http_ask *a,
                        struct fk_http_reply *ret, struct fk_err *err)
{
    FK_AUTO_BUF head;
    *ret = (struct fk_http_reply){0};
    fk_buf_init(&ret->head, 0);
    fk_buf_init(&ret->body, c->opts.body_max);
    fk_buf_init(&head, 0);
    int rc = put_request(c, a, &head, err);
    if (rc)
        return rc;
    c->cancel = a->cancel;
    c->deadline = fk_clock_mono(fk_clock_real()) + c->opts.total_ns;
    drop_stale(c);
    // A kept connection may be closed just now; what may have had an effect is not sent twice.
    bool again = c->fd >= 0 && (!strcmp(a->method, "GET") || !strcmp(a->method, "HEAD"));
    rc = try_call(c, a, fk_buf_view(&head), ret, err);
    if (rc == -FK_E_IO && again && !c->got_any)
        rc = try_call(c, a, fk_buf_view(&head), ret, err);
    if (!rc && is_redirect(ret->status)) {
        struct fk_str to = fk_http_reply_field(ret, "Location");
        rc = fk_fail(err, FK_E_UNSUPPORTED,
                     "the server redirects to \"%.*s\": redirects are not followed, give that "
                     "address instead",
                     FK_STR_ARG(fk_str_head(to, 150)));
    }
    return rc;
}
