// SPDX-License-Identifier: Apache-2.0
// Lists of byte ranges on their way to a socket.
#include "http/http_int.h"

void fk_http_segs_add(struct fk_http_segs *s, struct fk_http_seg *seg)
{
    seg->next = NULL;
    if (s->last)
        s->last->next = seg;
    else
        s->first = seg;
    s->last = seg;
}

void fk_http_segs_join(struct fk_http_segs *s, struct fk_http_segs *more)
{
    if (more->first) {
        if (s->last)
            s->last->next = more->first;
        else
            s->first = more->first;
        s->last = more->last;
    }
    *more = (struct fk_http_segs){0};
}

static void drop_first(struct fk_http_segs *s)
{
    struct fk_http_seg *seg = s->first;
    s->first = seg->next;
    if (!s->first)
        s->last = NULL;
    fk_free(seg->owned);
    fk_free(seg);
}

void fk_http_segs_free(struct fk_http_segs *s)
{
    while (s->first)
        drop_first(s);
}

struct fk_http_seg *fk_http_seg_new(const char *p, size_t n, void *owned)
{
    struct fk_http_seg *seg = fk_malloc(sizeof(*seg));
    if (seg)
        *seg = (struct fk_http_seg){NULL, p, n, owned};
    return seg;
}

struct fk_http_seg *fk_http_seg_copy(struct fk_str bytes)
{
    struct fk_http_seg *seg = fk_malloc(sizeof(*seg) + bytes.n);
    if (!seg)
        return NULL;
    if (bytes.n)
        memcpy(seg + 1, bytes.p, bytes.n);
    *seg = (struct fk_http_seg){NULL, (const char *)(seg + 1), bytes.n, NULL};
    return seg;
}

void fk_http_segs_sent(struct fk_http_segs *s, size_t n)
{
    while (s->first && n >= s->first->n) {
        n -= s->first->n;
        drop_first(s);
    }
    if (n) {
        s->first->p += n;
        s->first->n -= n;
    }
}
