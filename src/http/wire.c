// SPDX-License-Identifier: Apache-2.0
// The way of bytes between a connection and its socket, clear or under TLS.
#include "http/tls_int.h"

int fk_http_wire_read(struct fk_http_wire *w, void *to, size_t n, size_t *ret_n, struct fk_err *err)
{
    return w->ssl ? fk_tls_read(w, to, n, ret_n, err) : fk_net_read(w->io.fd, to, n, ret_n, err);
}

int fk_http_wire_write(struct fk_http_wire *w, const void *p, size_t n, size_t *ret_n,
                       struct fk_err *err)
{
    return w->ssl ? fk_tls_write(w, p, n, ret_n, err) : fk_net_write(w->io.fd, p, n, ret_n, err);
}

// A record's worth of small segments in one piece: each record costs a write and its overhead.
__attribute__((noinline)) static int send_gathered(struct fk_http_wire *w, struct fk_http_segs *s,
                                                   size_t *ret_sent, struct fk_err *err)
{
    char all[FK_TLS_RECORD];
    size_t n = 0;
    if (!s->first->next || s->first->n >= sizeof(all))
        return fk_tls_write(w, s->first->p, s->first->n, ret_sent, err);
    for (const struct fk_http_seg *seg = s->first; seg && n < sizeof(all); seg = seg->next) {
        size_t k = FK_MIN(seg->n, sizeof(all) - n);
        if (k)
            memcpy(all + n, seg->p, k);
        n += k;
    }
    return fk_tls_write(w, all, n, ret_sent, err);
}

// *ret_full: less went than was offered, so the socket takes no more.
static int send_parts(struct fk_http_wire *w, struct fk_http_segs *s, size_t *ret_sent,
                      bool *ret_full, struct fk_err *err)
{
    struct fk_str parts[16];
    size_t n = 0, bytes = 0;
    for (struct fk_http_seg *seg = s->first; seg && n < FK_COUNTOF(parts); seg = seg->next)
        if (seg->n) {
            parts[n++] = fk_str_make(seg->p, seg->n);
            bytes += seg->n;
        }
    int rc = fk_net_writev(w->io.fd, parts, n, ret_sent, err);
    *ret_full = *ret_sent < bytes;
    return rc;
}

int fk_http_wire_send(struct fk_http_wire *w, struct fk_http_segs *s, uint64_t *ret_sent,
                      struct fk_err *err)
{
    *ret_sent = 0;
    for (;;) {
        size_t sent = 0;
        bool full = false;
        fk_http_segs_sent(s, 0); // empty ones are of no use to a socket
        if (!s->first)
            return FK_IO_OK;
        int rc = w->ssl ? send_gathered(w, s, &sent, err) : send_parts(w, s, &sent, &full, err);
        if (rc != FK_IO_OK)
            return rc;
        *ret_sent += sent;
        fk_http_segs_sent(s, sent);
        if (full)
            return FK_IO_AGAIN;
    }
}

void fk_http_wire_end_writes(struct fk_http_wire *w)
{
    if (w->ssl)
        fk_tls_end_writes(w);
    fk_net_end_writes(w->io.fd);
}

uint32_t fk_http_wire_want(const struct fk_http_wire *w, uint32_t want)
{
    if ((want & FK_READY_IN) && w->crossed)
        want = (want & ~(uint32_t)FK_READY_IN) | FK_READY_OUT;
    if ((want & FK_READY_OUT) && w->stuck)
        want = (want & ~(uint32_t)FK_READY_OUT) | FK_READY_IN;
    return want;
}

uint32_t fk_http_wire_ready(const struct fk_http_wire *w, uint32_t ready)
{
    return w->crossed && (ready & FK_READY_OUT) ? ready | FK_READY_IN : ready;
}

void fk_http_wire_close(struct fk_http_wire *w)
{
    if (w->ssl)
        fk_tls_end(w);
    fk_net_close(w->io.fd);
}
