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
    bool known; // the service it asks for
};

// Who waits for a change. A stream in the list has not ended; it is ended by whoever takes it out.
struct fk_api_watchers {
    struct fk_mutex lock;
    struct watcher *first;
    size_t n;
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

static int add_watcher(struct fk_api_watchers *w, struct fk_rpc_stream *s, bool known,
                       struct fk_err *err)
{
    struct watcher *x = fk_calloc(1, sizeof(*x));
    if (!x)
        return fk_fail_nomem(err);
    *x = (struct watcher){NULL, s, known};
    fk_mutex_lock(&w->lock);
    bool full = w->n >= WATCHERS_MAX, there = false;
    for (struct watcher *y = w->first; y && !there; y = y->next)
        there = y->stream == s;
    if (!full && !there) {
        x->next = w->first;
        w->first = x;
        w->n++;
    }
    fk_mutex_unlock(&w->lock);
    if (!full && !there)
        return 0;
    fk_free(x);
    if (there)
        return fk_fail(err, FK_E_INVALID, "one call watches one service: call again");
    return fk_fail_limit(err, "watchers", WATCHERS_MAX, NULL, "too many clients watch the health");
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
    enum status status = status_of(api, in.service);
    if ((r = send_status(s, status, err)))
        return r;
    return add_watcher(api->watchers, s, status != SERVICE_UNKNOWN, err);
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

// The server goes: watchers hear of it and their calls end, which else would hold up its end.
void fk_watchers_leave(struct fk_api_watchers *w)
{
    struct fk_err err;
    fk_fail(&err, FK_E_STOPPED, "the server is going");
    fk_mutex_lock(&w->lock);
    while (w->first) {
        struct watcher *x = w->first;
        w->first = x->next;
        w->n--;
        if (x->known)
            send_status(x->stream, NOT_SERVING, NULL);
        fk_rpc_stream_end(x->stream, FK_RPC_UNAVAILABLE, &err);
        fk_free(x);
    }
    fk_mutex_unlock(&w->lock);
}
