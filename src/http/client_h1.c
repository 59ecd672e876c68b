// SPDX-License-Identifier: Apache-2.0
// The client's HTTP/1.1: sending a request. How its answer is read lies in reply.c.
#include "http/client_int.h"

static int put_request(struct fk_http_client *c, const struct fk_http_ask *a, struct fk_buf *b,
                       struct fk_err *err)
{
    fk_buf_cstr(b, a->method);
    fk_buf_byte(b, ' ');
    fk_client_put_target(c, a, b);
    fk_buf_cstr(b, " HTTP/1.1\r\nHost: ");
    fk_client_put_host(c, b);
    fk_buf_cstr(b, "\r\nUser-Agent: ");
    fk_buf_cstr(b, fk_client_agent(c));
    for (size_t i = 0; i < a->fields_n; i++) {
        fk_buf_cstr(b, "\r\n");
        fk_buf_str(b, a->fields[i].name);
        fk_buf_cstr(b, ": ");
        fk_buf_str(b, a->fields[i].value);
    }
    if (a->has_body) {
        fk_buf_cstr(b, "\r\nContent-Length: ");
        fk_buf_u64(b, fk_client_body_size(a));
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
        int rc = fk_http_wire_write(&c->wire, p, n, &sent, err);
        if (rc == FK_IO_OK) {
            p += sent;
            n -= sent;
            c->sent_any = true;
            continue;
        }
        if (rc < 0) { // its answer may still be there to be read
            *ret_early = true;
            return 0;
        }
        rc = fk_client_wait(c, FK_READY_OUT | FK_READY_IN, c->deadline,
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

int fk_client_h1_call(struct fk_http_client *c, const struct fk_http_ask *a,
                      struct fk_http_reply *ret, bool *ret_keep, struct fk_err *err)
{
    FK_AUTO_BUF head;
    bool early = false;
    fk_buf_init(&head, 0);
    int rc = put_request(c, a, &head, err);
    if (!rc)
        rc = send_all(c, a, fk_buf_view(&head), &early, err);
    if (!rc)
        rc = fk_http_reply_read(c, a, ret, ret_keep, err);
    *ret_keep &= !early;
    return rc;
}
