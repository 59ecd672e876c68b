// SPDX-License-Identifier: Apache-2.0
// Connections: from accept to close, whatever is spoken over them. The first bytes tell which
// protocol that is: the preface of HTTP/2 (RFC 9113 §3.4), or HTTP/1; under TLS the handshake may
// have settled it. All on the loop's thread.
#include "http/tls_int.h"

#define CLEAR_READS 16 // of a client that should have spoken TLS

static const char preface[] = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

static void on_io(void *arg, uint32_t ready);
static void on_timer(void *arg);

static int begin_tls(struct fk_http_conn *c)
{
    struct fk_http_server *s = c->loop->server;
    fk_mutex_lock(&s->tls_lock);
    int rc = fk_tls_begin(&c->wire, s->tls, s->tls_bio);
    fk_mutex_unlock(&s->tls_lock);
    return rc;
}

void fk_http_conn_open(struct fk_http_loop *l, int fd, const struct fk_addr *peer, bool tls)
{
    const struct fk_http_limits *limits = &l->server->opts.limits;
    struct fk_http_conn *c = fk_calloc(1, sizeof(*c));
    int64_t now = fk_loop_now(l->loop);
    if (c) {
        c->wire.io = (struct fk_loop_fd){.fd = fd, .on = on_io, .arg = c};
        c->timer = (struct fk_timer){.on = on_timer, .arg = c};
        c->loop = l;
        c->peer = *peer;
        c->since = now;
    }
    int64_t most = (int64_t)(tls ? limits->head_ns : limits->idle_ns);
    if (!c || (tls && begin_tls(c)) || fk_timer_set(l->loop, &c->timer, now + most, NULL) ||
        fk_loop_add(l->loop, &c->wire.io, FK_READY_IN, NULL)) {
        if (c) {
            fk_timer_clear(l->loop, &c->timer);
            fk_http_wire_close(&c->wire);
        } else {
            fk_net_close(fd);
        }
        fk_free(c);
        atomic_fetch_sub_explicit(&l->server->open, 1, memory_order_relaxed);
        return;
    }
    c->next = l->conns;
    if (c->next)
        c->next->prev = c;
    l->conns = c;
}

void fk_http_conn_destroy(struct fk_http_conn *c)
{
    struct fk_http_loop *l = c->loop;
    if (c->state)
        c->proto->free(c);
    fk_loop_del(l->loop, &c->wire.io);
    fk_timer_clear(l->loop, &c->timer);
    fk_http_wire_close(&c->wire);
    if (c->prev)
        c->prev->next = c->next;
    else
        l->conns = c->next;
    if (c->next)
        c->next->prev = c->prev;
    fk_free(c);
    atomic_fetch_sub_explicit(&l->server->open, 1, memory_order_relaxed);
    fk_http_loop_idle(l);
}

void fk_http_conn_wait(struct fk_http_conn *c, int64_t at_ns, uint32_t want)
{
    struct fk_loop *loop = c->loop->loop;
    if (c->timer.place == 0 || c->timer.at_ns != at_ns)
        fk_timer_set(loop, &c->timer, at_ns, NULL); // its place is there: cannot fail
    if (fk_loop_mod(loop, &c->wire.io, fk_http_wire_want(&c->wire, want), NULL))
        fk_http_conn_destroy(c);
}

// --- which protocol ---
static void begin(struct fk_http_conn *c, const struct fk_http_proto *proto, const uint8_t *p,
                  size_t n)
{
    c->proto = proto;
    if (proto->open(c, c->since))
        fk_http_conn_destroy(c);
    else
        proto->input(c, p, n);
}

// The first bytes; a beginning of the preface is not enough to tell, though "PRI" is no HTTP/1.
static void sniff(struct fk_http_conn *c, const uint8_t *p, size_t n)
{
    size_t most = sizeof(preface) - 1;
    if (memcmp(p, preface, FK_MIN(n, most)) != 0) {
        begin(c, &fk_http_h1, p, n);
    } else if (n >= most) {
        begin(c, &fk_http_h2, p, n);
    } else {
        c->early = (uint8_t)n;
        fk_http_conn_wait(c, c->since + (int64_t)c->loop->server->opts.limits.head_ns, FK_READY_IN);
    }
}

// --- TLS ---
static void count(_Atomic uint64_t *n)
{
    atomic_fetch_add_explicit(n, 1, memory_order_relaxed);
}

// A client that speaks HTTP in the clear is told so in the same way.
static void answer_clear(struct fk_http_conn *c)
{
    static const char text[] =
        "HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain\r\nContent-Length: 57\r\n"
        "Connection: close\r\n\r\nThis port speaks TLS: begin the server's URL by https://\n";
    size_t n;
    count(&c->loop->server->tls_clear);
    fk_net_write(c->wire.io.fd, text, sizeof(text) - 1, &n, NULL); // as far as it goes
    fk_net_end_writes(c->wire.io.fd);
    // Bytes that stay unread would take the answer away from the client; not for ever, though.
    for (int i = 0; i < CLEAR_READS; i++)
        if (fk_net_read(c->wire.io.fd, c->loop->in, FK_HTTP_READ, &n, NULL) != FK_IO_OK)
            break;
}

static void tls_over(struct fk_http_conn *c)
{
    count(&c->loop->server->tls_failed);
    if (c->wire.first >= 'A' && c->wire.first <= 'Z')
        answer_clear(c);
    fk_http_conn_destroy(c);
}

static void shake_hands(struct fk_http_conn *c)
{
    const struct fk_http_limits *l = &c->loop->server->opts.limits;
    int rc = fk_tls_handshake(&c->wire, NULL);
    if (rc == FK_IO_AGAIN) {
        fk_http_conn_wait(c, c->since + (int64_t)l->head_ns, FK_READY_IN);
        return;
    }
    if (rc != FK_IO_OK) {
        tls_over(c);
        return;
    }
    count(&c->loop->server->tls_connections);
    c->since = fk_loop_now(c->loop->loop);
    enum fk_tls_protocol p = fk_tls_protocol(&c->wire);
    if (p == FK_TLS_UNSAID)
        fk_http_conn_wait(c, c->since + (int64_t)l->idle_ns, FK_READY_IN);
    else
        begin(c, p == FK_TLS_H2 ? &fk_http_h2 : &fk_http_h1, c->loop->in, 0);
}

// --- reading ---
static void read_first(struct fk_http_conn *c)
{
    uint8_t *in = c->loop->in;
    size_t early = c->early, n = 0;
    struct fk_err err;
    if (c->wire.ssl && !c->wire.ready) {
        shake_hands(c);
        return;
    }
    int rc = fk_http_wire_read(&c->wire, in + early, FK_HTTP_READ - early, &n, &err);
    if (rc == FK_IO_AGAIN)
        return;
    if (rc != FK_IO_OK) {
        fk_http_conn_destroy(c);
        return;
    }
    if (early == 0)
        c->since = fk_loop_now(c->loop->loop);
    memcpy(in, preface, early);
    sniff(c, in, early + n);
}

// --- events ---
static void on_io(void *arg, uint32_t ready)
{
    struct fk_http_conn *c = arg;
    ready = fk_http_wire_ready(&c->wire, ready);
    if (c->proto)
        c->proto->ready(c, ready);
    else if (ready & FK_READY_ERR)
        fk_http_conn_destroy(c);
    else if (ready & FK_READY_IN)
        read_first(c);
    else if (ready & FK_READY_HUP)
        fk_http_conn_destroy(c);
}

static void on_timer(void *arg)
{
    struct fk_http_conn *c = arg;
    if (c->proto)
        c->proto->timer(c);
    else if (c->early) // HTTP/1 has an answer for those that do not go on
        begin(c, &fk_http_h1, (const uint8_t *)preface, c->early);
    else if (c->wire.ssl && !c->wire.ready)
        tls_over(c);
    else
        fk_http_conn_destroy(c);
}

void fk_http_conn_drain_all(struct fk_http_loop *l)
{
    struct fk_http_conn *next;
    for (struct fk_http_conn *c = l->conns; c; c = next) {
        next = c->next;
        if (!c->proto)
            read_first(c); // a request that is here already is still answered
    }
    for (struct fk_http_conn *c = l->conns; c; c = next) {
        next = c->next;
        if (c->proto)
            c->proto->drain(c);
        else
            fk_http_conn_destroy(c);
    }
}

void fk_http_conn_cut_all(struct fk_http_loop *l)
{
    while (l->conns)
        fk_http_conn_destroy(l->conns);
}
