// SPDX-License-Identifier: Apache-2.0
// The way of bytes between a connection and its socket.
#include "http/http_int.h"

int fk_http_wire_read(struct fk_http_wire *w, void *to, size_t n, size_t *ret_n, struct fk_err *err)
{
    return fk_net_read(w->io.fd, to, n, ret_n, err);
}

int fk_http_wire_write(struct fk_http_wire *w, const void *p, size_t n, size_t *ret_n,
                       struct fk_err *err)
{
    return fk_net_write(w->io.fd, p, n, ret_n, err);
}

int fk_http_wire_send(struct fk_http_wire *w, struct fk_http_segs *s, uint64_t *ret_sent,
                      struct fk_err *err)
{
    *ret_sent = 0;
    while (s->first) {
        struct fk_str parts[16];
        size_t parts_n = 0, bytes = 0, sent = 0;
        for (struct fk_http_seg *seg = s->first; seg && parts_n < FK_COUNTOF(parts);
             seg = seg->next) {
            if (seg->n)
                parts[parts_n++] = fk_str_make(seg->p, seg->n);
            bytes += seg->n;
        }
        int rc = parts_n ? fk_net_writev(w->io.fd, parts, parts_n, &sent, err) : FK_IO_OK;
        if (rc != FK_IO_OK)
            return rc;
        *ret_sent += sent;
        fk_http_segs_sent(s, sent);
        if (sent < bytes)
            return FK_IO_AGAIN; // the socket is full
    }
    return FK_IO_OK;
}

void fk_http_wire_end_writes(struct fk_http_wire *w)
{
    fk_net_end_writes(w->io.fd);
}
