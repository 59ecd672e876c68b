// SPDX-License-Identifier: Apache-2.0
// Reading an answer: header by llhttp, body by its framing (RFC 9112 §6.3).
#include "http/client_int.h"

#include <llhttp.h>

#define MAX_INFO 16 // answers 1xx before the real one

struct parse {
    struct fk_http_reply *r;
    bool complete, keep;
    int status;
    uint8_t major, minor;
};

static int on_field(llhttp_t *h, const char *p, size_t n)
{
    struct fk_http_reply *r = ((struct parse *)h->data)->r;
    if (r->fields_n == FK_CLIENT_FIELDS || n == 0)
        return -1;
    r->fields[r->fields_n++] = (struct fk_http_field){fk_str_make(p, n), FK_S("")};
    return 0;
}

static int on_value(llhttp_t *h, const char *p, size_t n)
{
    struct fk_http_reply *r = ((struct parse *)h->data)->r;
    if (r->fields_n == 0 || r->fields[r->fields_n - 1].value.n)
        return -1;
    r->fields[r->fields_n - 1].value = fk_str_trim(fk_str_make(p, n));
    return 0;
}

static int on_headers(llhttp_t *h)
{
    struct parse *parse = h->data;
    parse->complete = true;
    parse->status = h->status_code;
    parse->keep = llhttp_should_keep_alive(h);
    parse->major = h->http_major;
    parse->minor = h->http_minor;
    h->upgrade = 0;
    return 1;
}

static int broken(struct fk_err *err, const char *why)
{
    return fk_fail(err, FK_E_FORMAT, "the server's answer is not valid HTTP: %s", why);
}

struct fk_str fk_http_reply_field(const struct fk_http_reply *r, const char *name)
{
    for (size_t i = 0; i < r->fields_n; i++)
        if (fk_str_eq_nocase(r->fields[i].name, fk_str_of(name)))
            return r->fields[i].value;
    return (struct fk_str){NULL, 0};
}

void fk_http_reply_free(struct fk_http_reply *r)
{
    fk_free(r->fields);
    fk_buf_free(&r->head);
    fk_buf_free(&r->body);
    *r = (struct fk_http_reply){0};
}

static size_t count_fields(const struct fk_http_reply *r, const char *name)
{
    size_t n = 0;
    for (size_t i = 0; i < r->fields_n; i++)
        n += fk_str_eq_nocase(r->fields[i].name, fk_str_of(name));
    return n;
}

static int reply_framing(struct fk_http_reply *r, enum fk_http_framing *ret_framing,
                         uint64_t *ret_length, struct fk_err *err)
{
    size_t te = count_fields(r, "Transfer-Encoding"), cl = count_fields(r, "Content-Length");
    *ret_length = 0;
    if (r->status == 204 || r->status == 304 || r->status / 100 == 1) {
        *ret_framing = FK_HTTP_NO_BODY;
    } else if (te) {
        if (te > 1 || cl ||
            !fk_str_eq_nocase(fk_http_reply_field(r, "Transfer-Encoding"), FK_S("chunked")))
            return broken(err, "its length is ambiguous");
        *ret_framing = FK_HTTP_CHUNKED;
    } else if (cl) {
        if (cl > 1 || fk_str_to_u64(fk_http_reply_field(r, "Content-Length"), ret_length))
            return broken(err, "its length is ambiguous");
        *ret_framing = FK_HTTP_BY_LENGTH;
    } else {
        *ret_framing = FK_HTTP_BY_CLOSE;
    }
    return 0;
}

int fk_http_reply_parse(struct fk_http_reply *r, enum fk_http_framing *ret_framing,
                        uint64_t *ret_length, bool *ret_keep, struct fk_err *err)
{
    struct parse parse = {.r = r};
    llhttp_settings_t on;
    llhttp_t h;
    r->fields_n = 0;
    if (!r->fields)
        r->fields = fk_calloc(FK_CLIENT_FIELDS, sizeof(*r->fields));
    if (!r->fields)
        return fk_fail_nomem(err);
    llhttp_settings_init(&on);
    on.on_header_field = on_field;
    on.on_header_value = on_value;
    on.on_headers_complete = on_headers;
    llhttp_init(&h, HTTP_RESPONSE, &on);
    h.data = &parse;
    enum llhttp_errno e = llhttp_execute(&h, r->head.p, r->head.n);
    if (!parse.complete)
        return broken(err, e == HPE_OK ? "its header has no end" : llhttp_get_error_reason(&h));
    if (parse.major != 1 || parse.status < 100 || parse.status > 999)
        return broken(err, "version or status");
    r->status = parse.status;
    *ret_keep = parse.keep;
    return reply_framing(r, ret_framing, ret_length, err);
}

// --- reading ---
struct input {
    struct fk_http_client *c;
    struct fk_buf buf; // read and not yet used from `at`
    size_t at;
};

// More bytes behind buf. 1: some came; 0: the server has closed.
static int read_more(struct input *in, struct fk_err *err)
{
    uint32_t ready;
    if (in->at == in->buf.n) {
        fk_buf_clear(&in->buf);
        in->at = 0;
    }
    char *to = fk_buf_reserve(&in->buf, FK_HTTP_READ);
    if (!to)
        return fk_fail_nomem(err);
    for (;;) {
        size_t n = 0;
        int rc = fk_http_wire_read(&in->c->wire, to, FK_HTTP_READ, &n, err);
        if (rc == FK_IO_OK) {
            in->buf.n += n;
            in->c->got_any = true;
            return 1;
        }
        if (rc != FK_IO_AGAIN)
            return rc == FK_IO_END ? 0 : rc;
        rc = fk_client_wait(in->c, FK_READY_IN, in->c->deadline, "it did not answer", &ready, err);
        if (rc)
            return rc;
    }
}

// One header, up to and with its empty line, into r->head.
static int read_head(struct input *in, struct fk_http_reply *r, struct fk_err *err)
{
    for (;;) {
        struct fk_str all = fk_str_from(fk_buf_view(&in->buf), in->at);
        ptrdiff_t end = fk_str_find(all, FK_S("\r\n\r\n"));
        size_t n = end < 0 ? all.n : (size_t)end + 4;
        if (n > FK_CLIENT_MAX_HEAD)
            return fk_fail_limit(err, "header", FK_CLIENT_MAX_HEAD, NULL,
                                 "the header of the server's answer is too large");
        if (end >= 0) {
            fk_buf_clear(&r->head);
            fk_buf_put(&r->head, all.p, n);
            in->at += n;
            return fk_buf_check(&r->head, "header", err);
        }
        int rc = read_more(in, err);
        if (rc < 0)
            return rc;
        if (rc == 0)
            return all.n ? broken(err, "the connection was closed within the header")
                         : fk_fail(err, FK_E_IO,
                                   "the server closed the connection without an "
                                   "answer");
    }
}

int fk_client_keep(struct fk_http_client *c, const struct fk_http_ask *a, struct fk_http_reply *r,
                   struct fk_str data, struct fk_err *err)
{
    r->body_bytes += data.n;
    if (a->out && r->status / 100 == 2)
        return fk_out_put(*a->out, data.p, data.n, err);
    fk_buf_str(&r->body, data);
    if (r->body.failed == FK_E_LIMIT)
        return fk_fail_limit(err, "body", c->opts.body_max, c->opts.body_flag,
                             "the server's answer is too large");
    return fk_buf_check(&r->body, "body", err);
}

static int read_body(struct input *in, const struct fk_http_ask *a, struct fk_http_reply *r,
                     struct fk_http_body *b, struct fk_err *err)
{
    while (!b->over) {
        struct fk_str data;
        size_t used = 0;
        struct fk_str all = fk_str_from(fk_buf_view(&in->buf), in->at);
        int rc = fk_http_body_next(b, (const uint8_t *)all.p, all.n, &used, &data, err);
        if (!rc && data.n)
            rc = fk_client_keep(in->c, a, r, data, err);
        if (rc)
            return rc;
        in->at += used;
        if (b->over || in->at < in->buf.n)
            continue;
        rc = read_more(in, err);
        if (rc < 0)
            return rc;
        if (rc == 0 && b->framing != FK_HTTP_BY_CLOSE)
            return fk_fail(err, FK_E_IO, "the server cut its answer off after %llu bytes",
                           (unsigned long long)r->body_bytes);
        b->over = rc == 0;
    }
    return 0;
}

static int read_answer(struct input *in, const struct fk_http_ask *a, struct fk_http_reply *r,
                       bool *ret_keep, struct fk_err *err)
{
    enum fk_http_framing framing = FK_HTTP_NO_BODY;
    uint64_t length = 0;
    bool keep = false;
    for (int i = 0; i == 0 || r->status / 100 == 1; i++) {
        int rc = read_head(in, r, err);
        if (!rc)
            rc = fk_http_reply_parse(r, &framing, &length, &keep, err);
        if (rc)
            return rc;
        if (i == MAX_INFO)
            return broken(err, "too many interim answers");
    }
    if (strcmp(a->method, "HEAD") == 0)
        framing = FK_HTTP_NO_BODY;
    struct fk_http_body b;
    fk_http_body_start(&b, framing, length, FK_CLIENT_MAX_HEAD);
    int rc = read_body(in, a, r, &b, err);
    *ret_keep = keep && framing != FK_HTTP_BY_CLOSE && in->at == in->buf.n;
    return rc;
}

int fk_http_reply_read(struct fk_http_client *c, const struct fk_http_ask *a,
                       struct fk_http_reply *ret, bool *ret_keep, struct fk_err *err)
{
    struct input in = {.c = c};
    fk_buf_init(&in.buf, 0);
    int rc = read_answer(&in, a, ret, ret_keep, err);
    fk_buf_free(&in.buf);
    return rc;
}
