// SPDX-License-Identifier: Apache-2.0
// grpc.health.v1.Health: whether the server, or one of its services, can be used. Check answers
// once; Watch answers, and again when it changes, until the server goes.
// Source: grpc/grpc doc/health-checking.md.
#include "api/health_int.h"

#define WATCHERS_MAX 1000

enum status { UNKNOWN, SERVING, NOT_SERVING, SERVICE_UNKNOWN };

struct check {
    struct fk_str service;
};
struct answer {
    int64_t status;
};
static const char *const names[] = {"UNKNOWN", "SERVING", "NOT_SERVING", "SERVICE_UNKNOWN", NULL};
static const struct fk_field check_fields[] = {{.number = 1,
                                                .kind = FK_FIELD_STR,
                                                .offset = offsetof(struct check, service),
                                                .name = "service",
                                                .json = "service"}};
static const struct fk_msg_type check_type = {"HealthCheckRequest", check_fields, 1,
                                              sizeof(struct check)};
static const struct fk_field answer_fields[] = {{.number = 1,
                                                 .kind = FK_FIELD_ENUM,
                                                 .offset = offsetof(struct answer, status),
                                                 .name = "status",
                                                 .json = "status",
                                                 .names = names}};
static const struct fk_msg_type answer_type = {"HealthCheckResponse", answer_fields, 1,
                                               sizeof(struct answer)};

static enum status status_of(const struct fk_api *api, struct fk_str service)
{
    if (service.n && !fk_rpc_has_service(service))
        return SERVICE_UNKNOWN;
    return api->ready ? SERVING : NOT_SERVING;
}

int fk_rpc_health_check(struct fk_api_call *c, struct fk_err *err)
{
    struct check in;
    int r = fk_rpc_read(c, &check_type, &in, err);
    if (r)
        return r;
    struct answer out = {status_of(c->api, in.service)};
    if (out.status == SERVICE_UNKNOWN)
        return fk_fail(err, FK_E_NOTFOUND, "there is no service '%.*s' here",
                       FK_STR_ARG(fk_str_head(in.service, 100)));
    return fk_rpc_answer(c, &answer_type, &out, err);
}

// ---- Watch ----

struct watcher {
    struct watcher *next;
    struct fk_rpc_stream *stream;
    enum status said; // last; SERVICE_UNKNOWN does not change
};

// Who waits for a change. A stream in the list has not ended, and is answered under the lock only;
// it is ended by whoever takes it out.
struct fk_api_watchers {
    struct fk_mutex lock;
    struct watcher *first;
    size_t n;
    bool left; // the server goes: nobody is taken in any more
};

struct fk_api_watchers *fk_watchers_new(void)
{
    struct fk_api_watchers *w = fk_calloc(1, sizeof(*w));
    if (w)
        fk_mutex_init(&w->lock, FK_RANK_API);
    return w;
}

void fk_watchers_free(struct fk_api_watchers *w)
{
    if (!w)
        return;
    while (w->first) {
        struct watcher *x = w->first;
        w->first = x->next;
        fk_free(x);
    }
    fk_mutex_destroy(&w->lock);
    fk_free(w);
}

static int send_status(struct fk_rpc_stream *s, enum status status, struct fk_err *err)
{
    FK_AUTO_BUF b;
    struct answer out = {status};
    fk_buf_init(&b, 0);
    fk_msg_encode(&answer_type, &out, &b);
    int r = fk_buf_check(&b, "answer", err);
    return r ? r : fk_rpc_stream_send(s, fk_buf_view(&b), err);
}

// Answers and takes it in, under the lock.
static int add_watcher(struct fk_api_watchers *w, struct watcher *x, struct fk_err *err)
{
    if (w->left)
        return fk_fail(err, FK_E_STOPPED, "the server is going");
    for (struct watcher *y = w->first; y; y = y->next)
        if (y->stream == x->stream)
            return fk_fail(err, FK_E_INVALID, "one call watches one service: call again");
    if (w->n >= WATCHERS_MAX)
        return fk_fail_limit(err, "watchers", WATCHERS_MAX, NULL,
                             "too many clients watch the health");
    int r = send_status(x->stream, x->said, err);
    if (r)
        return r;
    x->next = w->first;
    w->first = x;
    w->n++;
    return 0;
}

static int watch_message(void *arg, struct fk_rpc_stream *s, struct fk_str message,
                         struct fk_err *err)
{
    struct fk_api *api = arg;
    FK_AUTO_ARENA a;
    struct check in;
    fk_arena_init(&a, 0);
    int r = fk_msg_decode(&check_type, message, &a, &in, err);
    if (r)
        return r;
    struct watcher *x = fk_calloc(1, sizeof(*x));
    if (!x)
        return fk_fail_nomem(err);
    fk_mutex_lock(&api->watchers->lock);
    *x = (struct watcher){NULL, s, status_of(api, in.service)};
    r = add_watcher(api->watchers, x, err);
    fk_mutex_unlock(&api->watchers->lock);
    if (r)
        fk_free(x);
    return r;
}

static void watch_last(void *arg, struct fk_rpc_stream *s)
{
    (void)arg;
    (void)s; // the question is over, the answer is not
}

static void watch_gone(void *arg, struct fk_rpc_stream *s)
{
    struct fk_api_watchers *w = ((struct fk_api *)arg)->watchers;
    fk_mutex_lock(&w->lock);
    for (struct watcher **at = &w->first; *at;) {
        struct watcher *x = *at;
        if (x->stream != s) {
            at = &x->next;
            continue;
        }
        *at = x->next;
        w->n--;
        fk_free(x);
    }
    fk_mutex_unlock(&w->lock);
}

const struct fk_rpc_stream_ops fk_api_health_watch = {watch_message, watch_last, watch_gone};

// The server can be used now. Who cannot be told hears it by the end of the connection.
void fk_watchers_come(struct fk_api_watchers *w)
{
    fk_mutex_lock(&w->lock);
    w->left = false;
    for (struct watcher *x = w->first; x; x = x->next)
        if (x->said == NOT_SERVING && send_status(x->stream, SERVING, NULL) == 0)
            x->said = SERVING;
    fk_mutex_unlock(&w->lock);
}

// The server goes: watchers hear of it and their calls end, which else would hold up its end; so
// would those that come back at once.
void fk_watchers_leave(struct fk_api_watchers *w)
{
    struct fk_err err;
    fk_fail(&err, FK_E_STOPPED, "the server is going");
    fk_mutex_lock(&w->lock);
    w->left = true;
    while (w->first) {
        struct watcher *x = w->first;
        w->first = x->next;
        w->n--;
        if (x->said == SERVING)
            send_status(x->stream, NOT_SERVING, NULL);
        fk_rpc_stream_end(x->stream, FK_RPC_UNAVAILABLE, &err);
        fk_free(x);
    }
    fk_mutex_unlock(&w->lock);
}
