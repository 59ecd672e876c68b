// SPDX-License-Identifier: Apache-2.0
// The server: its loops and their threads, listeners shared by all loops, the graceful end.
#include "http/tls_int.h"

#include "os/clock.h"

static int make_loop(struct fk_http_server *s, struct fk_http_loop *l, struct fk_err *err);

static int check_opts(const struct fk_http_server_opts *o, struct fk_err *err)
{
    if (!o->pool)
        return fk_fail_param(err, "pool", "the server needs a worker pool");
    if (o->loops > FK_HTTP_MAX_LOOPS)
        return fk_fail_limit(err, "loops", FK_HTTP_MAX_LOOPS, NULL, "too many event loops");
    for (size_t i = 0; i < fk_http_limit_count; i++) {
        const struct fk_limit_info *info = &fk_http_limit_table[i];
        uint64_t v = *(const uint64_t *)(const void *)((const char *)&o->limits + info->offset);
        if (v == 0 || v > INT64_MAX)
            return fk_fail_param(err, info->name, "%s must be more than 0 (%s)", info->flag,
                                 info->text);
    }
    if (o->limits.h2_window > INT32_MAX || o->limits.h2_stream_window > INT32_MAX)
        return fk_fail_limit(err, "window", INT32_MAX,
                             o->limits.h2_window > INT32_MAX ? FK_HTTP_FLAG(h2_window)
                                                             : FK_HTTP_FLAG(h2_stream_window),
                             "a window of HTTP/2 cannot be that large");
    return 0;
}

int fk_http_server_new(const struct fk_http_server_opts *opts, struct fk_http_server **ret,
                       struct fk_err *err)
{
    int rc = check_opts(opts, err);
    if (rc)
        return rc;
    struct fk_http_server *s = fk_calloc(1, sizeof(*s));
    if (!s)
        return fk_fail_nomem(err);
    s->opts = *opts;
    s->opts.fs = opts->fs ? opts->fs : fk_fs_real();
    s->opts.clock = opts->clock ? opts->clock : fk_clock_real();
    unsigned loops = opts->loops ? opts->loops : 1;
    rc = fk_http_router_init(&s->router, opts->routes, opts->routes_n, err);
    fk_mutex_init(&s->tls_lock, FK_HTTP_RANK);
    if (!rc)
        rc = fk_http_h2_setup(s, err);
    if (!rc && opts->tls.cert)
        rc = fk_tls_setup(&s->tls_bio, err);
    if (!rc && opts->tls.cert)
        rc = fk_tls_load(&opts->tls, &s->tls, err);
    s->loops = rc ? NULL : fk_calloc(loops, sizeof(*s->loops));
    s->counters = rc ? NULL : fk_calloc(opts->routes_n + 1, sizeof(*s->counters));
    if (!rc && (!s->loops || !s->counters))
        rc = fk_fail_nomem(err);
    for (unsigned i = 0; !rc && i < loops; i++) {
        rc = make_loop(s, &s->loops[i], err);
        s->loops_n += rc == 0;
    }
    if (rc) {
        fk_http_server_free(s);
        return rc;
    }
    *ret = s;
    return 0;
}

static int listen_at(struct fk_http_server *s, const struct fk_addr *a, bool tls,
                     struct fk_addr *ret_bound, struct fk_err *err)
{
    struct fk_listen_opts o = {0};
    struct fk_http_socket k = {.tls = tls};
    if (s->started)
        return fk_fail(err, FK_E_INVALID, "the server is running already");
    int rc = fk_net_listen(a, &o, &k.fd, ret_bound, err);
    if (rc)
        return rc;
    // Peers that vanish while they wait for an answer; without it they stay longer, no more.
    (void)fk_net_keepalive(k.fd, (int)FK_MAX((int64_t)s->opts.limits.idle_ns / FK_NS_PER_S, 1),
                           NULL);
    if (fk_vec_push(&s->sockets, k)) {
        fk_net_close(k.fd);
        return fk_fail_nomem(err);
    }
    return 0;
}

int fk_http_server_listen(struct fk_http_server *s, const struct fk_addr *a,
                          struct fk_addr *ret_bound, struct fk_err *err)
{
    return listen_at(s, a, s->tls != NULL, ret_bound, err);
}

int fk_http_server_listen_plain(struct fk_http_server *s, const struct fk_addr *a,
                                struct fk_addr *ret_bound, struct fk_err *err)
{
    return listen_at(s, a, false, ret_bound, err);
}

int fk_http_server_reload_tls(struct fk_http_server *s, struct fk_err *err)
{
    struct ssl_ctx_st *new, *old;
    if (!s->opts.tls.cert)
        return fk_fail(err, FK_E_INVALID, "the server has no certificate: give it --tls-cert");
    int rc = fk_tls_load(&s->opts.tls, &new, err);
    if (rc)
        return rc;
    fk_mutex_lock(&s->tls_lock);
    old = s->tls;
    s->tls = new;
    fk_mutex_unlock(&s->tls_lock);
    fk_tls_free(old);
    return 0;
}

// --- accepting ---
// One socket in all loops: whoever is awake first gets the connection.
static void refuse_connection(struct fk_http_server *s, int fd, bool tls)
{
    char text[256];
    size_t sent;
    int n = snprintf(text, sizeof(text),
                     "HTTP/1.1 503 Service Unavailable\r\nRetry-After: 1\r\nContent-Length: 0\r\n"
                     "Connection: close\r\nWarning: 199 - \"%llu connections, set by %s\"\r\n\r\n",
                     (unsigned long long)s->opts.limits.connections, FK_HTTP_FLAG(connections));
    atomic_fetch_add_explicit(&s->refused, 1, memory_order_relaxed);
    if (!tls) // else a handshake would be needed to say so
        fk_net_write(fd, text, (size_t)n, &sent, NULL); // as far as it goes
    fk_net_end_writes(fd);
    fk_net_close(fd);
}

static void listen_all(struct fk_http_loop *l, bool on)
{
    for (size_t i = 0; i < l->server->sockets.n && on != l->listening; i++) {
        struct fk_http_listener *k = &l->listeners[i];
        if (on)
            fk_loop_add(l->loop, &k->io, FK_READY_IN, NULL);
        else
            fk_loop_del(l->loop, &k->io);
    }
    l->listening = on;
}

static void on_accept_again(void *arg)
{
    struct fk_http_loop *l = arg;
    if (!l->draining)
        listen_all(l, true);
}

static void accept_some(struct fk_http_listener *k, int most)
{
    struct fk_http_loop *l = k->loop;
    struct fk_http_server *s = l->server;
    struct fk_addr peer;
    int fd;
    for (int i = 0; i < most; i++) {
        int rc = fk_net_accept(k->io.fd, &fd, &peer, NULL);
        if (rc == FK_IO_OK) {
            atomic_fetch_add_explicit(&s->accepted, 1, memory_order_relaxed);
            if (fk_http_budget_take(&s->open, 1, s->opts.limits.connections))
                fk_http_conn_open(l, fd, &peer, k->tls);
            else
                refuse_connection(s, fd, k->tls);
            continue;
        }
        // No descriptors left: a level-triggered socket would spin; others finish meanwhile.
        if (rc == -FK_E_BUSY && fk_timer_set(l->loop, &l->accept_again,
                                             fk_loop_now(l->loop) + FK_NS_PER_S / 10, NULL) == 0)
            listen_all(l, false);
        return;
    }
}

static void on_accept(void *arg, uint32_t ready)
{
    (void)ready;
    accept_some(arg, 16); // then others have their turn
}

// --- loops ---
bool fk_http_on_loop(const struct fk_http_loop *l)
{
    return pthread_equal(l->self, pthread_self());
}

const char *fk_http_date(struct fk_http_loop *l)
{
    static const char days[] = "ThuFriSatSunMonTueWed"; // 1970-01-01 was a Thursday
    static const char months[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
    int64_t now = fk_clock_wall(l->server->opts.clock) / FK_NS_PER_S;
    if (now != l->date_s || !l->date[0]) {
        char t[FK_TIME_CHARS + 1]; // 2026-11-30T12:00:00.000000000Z
        fk_time_format(now * FK_NS_PER_S, t);
        int month = (t[5] - '0') * 10 + t[6] - '1';
        snprintf(l->date, sizeof(l->date), "%.3s, %.2s %.3s %.4s %.8s GMT",
                 days + 3 * (now / 86400 % 7), t + 8, months + 3 * month, t, t + 11);
        l->date_s = now;
    }
    return l->date;
}

void fk_http_loop_idle(struct fk_http_loop *l)
{
    if (l->draining && !l->conns && l->exs == 0)
        fk_loop_stop(l->loop);
}

static void on_cut(void *arg)
{
    struct fk_http_loop *l = arg;
    fk_http_conn_cut_all(l);
    fk_http_loop_idle(l);
}

static void close_listeners(struct fk_http_server *s)
{
    for (size_t i = 0; i < s->sockets.n; i++)
        fk_net_close(s->sockets.v[i].fd);
    s->sockets.n = 0;
}

static void on_drain(struct fk_loop_msg *msg)
{
    struct fk_http_loop *l =
        (struct fk_http_loop *)(void *)((char *)msg - offsetof(struct fk_http_loop, drain_msg));
    int64_t grace = atomic_load(&l->server->grace_ns);
    // Those that wait were let in by the kernel already.
    for (size_t i = 0; i < l->server->sockets.n && l->listening; i++)
        accept_some(&l->listeners[i], 1024);
    if (l->listening)
        listen_all(l, false);
    if (atomic_fetch_sub(&l->server->listening, 1) == 1)
        close_listeners(l->server); // new connections are refused from here on
    l->draining = true;
    fk_http_conn_drain_all(l);
    // Without memory for the timer: cut now rather than never.
    if (grace <= 0 || fk_timer_set(l->loop, &l->cut, fk_loop_now(l->loop) + grace, NULL))
        on_cut(l);
    fk_http_loop_idle(l);
}

static int make_loop(struct fk_http_server *s, struct fk_http_loop *l, struct fk_err *err)
{
    l->server = s;
    l->drain_msg.on = on_drain;
    l->cut = (struct fk_timer){.on = on_cut, .arg = l};
    l->accept_again = (struct fk_timer){.on = on_accept_again, .arg = l};
    return fk_loop_new(NULL, &l->loop, err);
}

static void run_loop(void *arg)
{
    struct fk_http_loop *l = arg;
    l->self = pthread_self();
    fk_loop_run(l->loop, NULL);
}

static int start_loop(struct fk_http_server *s, unsigned at, struct fk_err *err)
{
    struct fk_http_loop *l = &s->loops[at];
    char name[16];
    l->listeners = fk_calloc(s->sockets.n, sizeof(*l->listeners));
    if (!l->listeners)
        return fk_fail_nomem(err);
    for (size_t i = 0; i < s->sockets.n; i++) {
        struct fk_http_listener *k = &l->listeners[i];
        *k = (struct fk_http_listener){
            {.fd = s->sockets.v[i].fd, .on = on_accept, .arg = k}, l, s->sockets.v[i].tls};
        int rc = fk_loop_add(l->loop, &k->io, FK_READY_IN, err);
        if (rc)
            return rc;
    }
    l->listening = true;
    snprintf(name, sizeof(name), "http%u", at % 100);
    return fk_thread_start(&l->thread, name, run_loop, l, err);
}

int fk_http_server_start(struct fk_http_server *s, struct fk_err *err)
{
    int rc = 0;
    for (unsigned i = 0; i < s->loops_n && !rc; i++) {
        rc = start_loop(s, i, err);
        s->started += rc == 0;
    }
    return rc;
}

// --- the end ---
void fk_http_server_drain(struct fk_http_server *s, int64_t grace_ns)
{
    if (s->drained)
        return;
    s->drained = true;
    atomic_store(&s->grace_ns, grace_ns);
    atomic_store(&s->listening, s->started);
    for (unsigned i = 0; i < s->started; i++)
        fk_loop_post(s->loops[i].loop, &s->loops[i].drain_msg);
    for (unsigned i = 0; i < s->started; i++)
        fk_thread_join(&s->loops[i].thread);
    close_listeners(s);
}

void fk_http_server_free(struct fk_http_server *s)
{
    if (!s)
        return;
    fk_http_server_drain(s, 0);
    for (unsigned i = 0; s->loops && i < s->loops_n; i++) {
        fk_loop_free(s->loops[i].loop);
        fk_free(s->loops[i].listeners);
    }
    fk_vec_free(&s->sockets);
    fk_http_router_free(&s->router);
    fk_http_h2_teardown(s);
    fk_tls_free(s->tls);
    fk_tls_teardown(s->tls_bio);
    fk_mutex_destroy(&s->tls_lock);
    fk_free(s->loops);
    fk_free(s->counters);
    fk_free(s);
}
