// SPDX-License-Identifier: Apache-2.0
// Fields of an HTTP/2 request. nghttp2 has checked the rules of RFC 9113 §8.2 and 8.3 (case,
// pseudo-header fields and their order, connection-specific fields, Content-Length); here are the
// limits, and the rules that hold for HTTP/1 as well.
#include "http/h2_int.h"

#define SPAN_COST 32 // RFC 9113 §6.5.2

void fk_h2_head_free(struct fk_h2_head *h)
{
    fk_vec_free(&h->spans);
}

static void fault(struct fk_h2_head *h, enum fk_h2_fault what)
{
    if (h->fault == FK_H2_FINE)
        h->fault = what;
}

void fk_h2_head_add(struct fk_http_ex *ex, struct fk_h2_head *h, struct fk_str name,
                    struct fk_str value, const struct fk_http_limits *limits)
{
    h->bytes += name.n + value.n + SPAN_COST;
    h->fields += name.n > 0 && name.p[0] != ':';
    if (h->bytes > limits->head_bytes)
        fault(h, FK_H2_LARGE);
    else if (h->fields > limits->fields)
        fault(h, FK_H2_MANY);
    if (h->fault)
        return;
    struct fk_h2_span s = {(uint32_t)ex->head.n, (uint32_t)name.n, (uint32_t)(ex->head.n + name.n),
                           (uint32_t)value.n};
    fk_buf_str(&ex->head, name);
    fk_buf_str(&ex->head, value);
    if (ex->head.failed || fk_vec_push(&h->spans, s))
        fault(h, FK_H2_NOMEM);
}

static int bad(struct fk_err *err, int status, const char *text)
{
    fk_fail(err, FK_E_FORMAT, "%s", text);
    return status;
}

static int fail_fault(enum fk_h2_fault what, const struct fk_http_limits *l, struct fk_err *err)
{
    switch (what) {
    case FK_H2_FINE:
        return 0;
    case FK_H2_BAD:
        return bad(err, 400, "a character in the header that must not be there");
    case FK_H2_LARGE:
        fk_fail_limit(err, "header", l->head_bytes, FK_HTTP_FLAG(head_bytes),
                      "the request's header is too large");
        return 431;
    case FK_H2_MANY:
        fk_fail_limit(err, "header", l->fields, FK_HTTP_FLAG(fields),
                      "the request has too many header fields");
        return 431;
    case FK_H2_NOMEM:
        break;
    }
    fk_fail_nomem(err);
    return 503;
}

static int add_pseudo(struct fk_http_req *req, const struct fk_http_field *f, struct fk_str *scheme)
{
    if (fk_str_eq(f->name, FK_S(":method")))
        req->method = f->value;
    else if (fk_str_eq(f->name, FK_S(":path")))
        req->target = f->value;
    else if (fk_str_eq(f->name, FK_S(":authority")))
        req->host = f->value;
    else if (fk_str_eq(f->name, FK_S(":scheme")))
        *scheme = f->value;
    else
        return -1;
    return 0;
}

// Crumbs of a cookie become one field again (RFC 9113 §8.2.3); `first` is the place of the field.
static int join_cookies(struct fk_http_ex *ex, struct fk_http_field *fields, size_t n, size_t first)
{
    FK_AUTO_BUF all;
    fk_buf_init(&all, 0);
    for (size_t i = first; i < n; i++)
        if (fk_str_eq(fields[i].name, FK_S("cookie"))) {
            fk_buf_cstr(&all, all.n ? "; " : "");
            fk_buf_str(&all, fields[i].value);
        }
    fields[first].value = fk_arena_str(&ex->arena, fk_buf_view(&all));
    return all.failed || !fields[first].value.p ? -1 : 0;
}

// *ret has room for one field more: handlers find the authority as the field "host".
static int keep_fields(struct fk_http_ex *ex, const struct fk_h2_head *h, struct fk_str *scheme,
                       struct fk_http_field **ret, struct fk_err *err)
{
    struct fk_http_req *req = &ex->req;
    size_t n = 0, cookie = SIZE_MAX, cookies = 0;
    struct fk_http_field *to = fk_arena_array(&ex->arena, h->spans.n + 1, sizeof(*to));
    if (!to)
        return bad(err, 503, "out of memory");
    for (size_t i = 0; i < h->spans.n; i++) {
        const struct fk_h2_span *s = &h->spans.v[i];
        struct fk_http_field f = {fk_str_make(ex->head.p + s->name, s->name_n),
                                  fk_str_trim(fk_str_make(ex->head.p + s->value, s->value_n))};
        if (f.name.p[0] == ':') {
            if (add_pseudo(req, &f, scheme))
                return bad(err, 400, "a pseudo-header field that is not known");
            continue;
        }
        bool crumb = fk_str_eq(f.name, FK_S("cookie"));
        cookies += crumb;
        if (crumb && cookie == SIZE_MAX)
            cookie = n;
        to[n++] = f;
    }
    if (cookies > 1) {
        if (join_cookies(ex, to, n, cookie))
            return bad(err, 503, "out of memory");
        size_t kept = cookie + 1;
        for (size_t i = kept; i < n; i++)
            if (!fk_str_eq(to[i].name, FK_S("cookie")))
                to[kept++] = to[i];
        n = kept;
    }
    req->fields = *ret = to;
    req->fields_n = n;
    return 0;
}

// The authority, or the Host field instead; both must say the same (RFC 9113 §8.3.1).
static int settle_host(struct fk_http_req *req, struct fk_http_field *fields, struct fk_err *err)
{
    struct fk_str host[2];
    size_t n = fk_http_req_fields(req, "host", host, 2);
    if (n > 1)
        return bad(err, 400, "more than one Host field");
    if (n == 1 && req->host.n && !fk_str_eq_nocase(host[0], req->host))
        return bad(err, 400, "the authority and the Host field differ");
    if (n == 1)
        req->host = host[0];
    else
        fields[req->fields_n++] = (struct fk_http_field){FK_S("host"), req->host};
    return fk_http_host_ok(req->host) ? 0 : bad(err, 400, "the request's authority is no host");
}

static int content_length(struct fk_http_ex *ex, struct fk_err *err)
{
    struct fk_str cl = fk_http_req_field(&ex->req, "content-length");
    uint64_t length = 0;
    if (!cl.p)
        return 0;
    if (cl.n == 0 || cl.n > 18 || fk_str_to_u64(cl, &length))
        return bad(err, 400, "the Content-Length is no number of bytes");
    ex->content_length = (int64_t)length;
    return 0;
}

int fk_h2_head_finish(struct fk_http_ex *ex, struct fk_h2_head *h,
                      const struct fk_http_limits *limits, struct fk_err *err)
{
    struct fk_http_req *req = &ex->req;
    struct fk_str scheme = FK_S("");
    struct fk_http_field *fields = NULL;
    int status = fail_fault(h->fault, limits, err);
    req->host = FK_S("");
    req->version = 20;
    if (!status)
        status = keep_fields(ex, h, &scheme, &fields, err);
    fk_h2_head_free(h);
    if (status)
        return status;
    if (fk_str_eq(req->method, FK_S("CONNECT")))
        return fk_http_head_common(ex, limits, err); // has neither scheme nor path
    if (!fk_str_eq(scheme, FK_S("http")) && !fk_str_eq(scheme, FK_S("https")))
        return bad(err, 400, "the request's scheme is neither http nor https");
    if (req->target.n == 0 || (req->target.p[0] != '/' && !fk_str_eq(req->target, FK_S("*"))))
        return bad(err, 400, "the request's target is no path");
    if ((status = settle_host(req, fields, err)) || (status = content_length(ex, err)))
        return status;
    return fk_http_head_common(ex, limits, err);
}
