// SPDX-License-Identifier: Apache-2.0
// Methods whose messages come and go one by one, over gRPC, gRPC-Web and Connect's streams.
//
// Messages arrive on the connection's loop; whoever sets `over` ends the call. What a client is
// sent is bounded, since a loop cannot wait for a slow one.
#include "rpc/rpc_int.h"

#define MESSAGE_MAX ((size_t)64 << 10)  // of these small services' questions
#define SENT_MAX    ((uint64_t)1 << 20) // of all of a call's answers, sent or waiting
#define SENT_LEAST  ((size_t)128)       // what a message takes while it waits, beside its bytes
#define IN_MAX      (MESSAGE_MAX + FK_RPC_HEAD + FK_RPC_STREAM_PIECE)

struct fk_rpc_stream {
    struct fk_rpc rpc;
    struct fk_http_res *res;
    const struct fk_rpc_stream_route *route;
    char *in; // begun envelopes, the loop's; IN_MAX bytes in the request's arena, since another
              // thread may end the call at any time
    size_t in_n;
    uint64_t sent;
    bool begun;
    _Atomic bool over;
};

int fk_rpc_stream_send(struct fk_rpc_stream *s, struct fk_str message, struct fk_err *err)
{
    if (s->sent + SENT_LEAST + message.n > SENT_MAX)
        return fk_fail_limit(err, "stream", SENT_MAX, NULL,
                             "one call has been answered at such length: call again");
    s->sent += SENT_LEAST + message.n;
    if (!s->begun)
        fk_rpc_begin(&s->rpc, s->res);
    s->begun = true;
    int rc = fk_rpc_write(&s->rpc, s->res, 0, message, err);
    return rc ? rc : fk_http_res_flush(s->res, err);
}

void fk_rpc_stream_end(struct fk_rpc_stream *s, enum fk_rpc_code code, const struct fk_err *err)
{
    struct fk_rpc_failure f = {code, 0, err, 0};
    struct fk_http_res *res = s->res;
    if (atomic_exchange(&s->over, true))
        return;
    if (!s->begun && code != FK_RPC_OK) {
        fk_rpc_fail(&s->rpc, res, &f);
    } else {
        if (!s->begun) {
            fk_rpc_begin(&s->rpc, res);
            fk_http_res_write(res, "", 0, NULL);
        }
        fk_rpc_outcome(&s->rpc, res, code == FK_RPC_OK ? NULL : &f);
    }
    fk_http_res_end(res);
}

static enum fk_rpc_code code_of(const struct fk_err *err)
{
    if (err->code == FK_E_UNSUPPORTED)
        return FK_RPC_UNIMPLEMENTED;
    if (err->code == FK_E_LIMIT)
        return FK_RPC_RESOURCE_EXHAUSTED;
    return fk_rpc_code_of(fk_http_status_of(err));
}

// ---- the sink, all on the loop ----

static void refuse(struct fk_http_res *res, int status, const struct fk_err *err)
{
    fk_rpc_http_error(res, status, err);
    fk_http_res_end(res);
}

static void on_headers(void *arg, struct fk_http_req *req, struct fk_http_res *res)
{
    struct fk_err err;
    struct fk_rpc rpc;
    fk_rpc_open(req, &rpc);
    if (!fk_rpc_enveloped(&rpc) || rpc.codec != FK_RPC_PROTO) {
        fk_fail(&err, FK_E_UNSUPPORTED,
                "this method streams protobuf messages: call it as application/grpc, "
                "application/grpc-web or application/connect+proto");
        refuse(res, 415, &err);
        return;
    }
    struct fk_rpc_stream *s = fk_arena_zalloc(req->arena, sizeof(*s));
    if (!s || !(s->in = fk_arena_alloc(req->arena, IN_MAX))) {
        fk_fail_nomem(&err);
        refuse(res, 503, &err);
        return;
    }
    s->rpc = rpc;
    s->res = res;
    s->route = arg;
    req->call = s;
}

static void give_up(struct fk_rpc_stream *s, const struct fk_err *err)
{
    if (s->route->ops->on_gone)
        s->route->ops->on_gone(s->route->arg, s);
    fk_rpc_stream_end(s, code_of(err), err);
}

// 1 with a message taken, 0 when there is no whole one. What it unpacks to is in an arena of its
// own: the request's is whose who answers, and would fill up.
static int take_message(struct fk_rpc_stream *s, struct fk_str *in, struct fk_err *err)
{
    const struct fk_size_limit limit = {MESSAGE_MAX, NULL, "the message"};
    struct fk_str message;
    FK_AUTO_ARENA a;
    fk_arena_init(&a, 0);
    int more = fk_rpc_envelope(&s->rpc, in, &limit, &a, &message, err);
    if (more <= 0)
        return more;
    int rc = s->route->ops->on_message(s->route->arg, s, message, err);
    return rc ? rc : 1;
}

static int take_messages(struct fk_rpc_stream *s, struct fk_err *err)
{
    struct fk_str in = {s->in, s->in_n};
    int more = 1;
    while (more > 0 && !atomic_load(&s->over))
        more = take_message(s, &in, err);
    if (more < 0 || atomic_load(&s->over))
        return more < 0 ? more : 0;
    memmove(s->in, in.p, in.n);
    s->in_n = in.n;
    return 0;
}

static enum fk_http_more on_body(void *arg, struct fk_http_req *req, struct fk_http_res *res,
                                 const uint8_t *p, size_t n)
{
    struct fk_rpc_stream *s = req->call;
    struct fk_err err;
    int rc = 0;
    (void)arg;
    (void)res;
    while (n && rc == 0 && !atomic_load(&s->over)) {
        size_t k = FK_MIN(n, (size_t)FK_RPC_STREAM_PIECE);
        memcpy(s->in + s->in_n, p, k); // behind a message that is not whole: there is room
        s->in_n += k;
        rc = take_messages(s, &err);
        p += k;
        n -= k;
    }
    if (rc)
        give_up(s, &err);
    return FK_HTTP_MORE;
}

static void on_complete(void *arg, struct fk_http_req *req, struct fk_http_res *res)
{
    struct fk_rpc_stream *s = req->call;
    struct fk_err err;
    bool cut = s->in_n > 0;
    (void)arg;
    (void)res;
    if (cut) {
        fk_fail(&err, FK_E_FORMAT, "the call ends in the midst of a message");
        give_up(s, &err);
        return;
    }
    if (s->route->ops->on_last)
        s->route->ops->on_last(s->route->arg, s);
    else
        fk_rpc_stream_end(s, FK_RPC_OK, NULL);
}

static void on_abort(void *arg, struct fk_http_req *req, struct fk_http_res *res)
{
    struct fk_rpc_stream *s = req->call;
    (void)arg;
    if (!s) {
        fk_http_res_end(res);
        return;
    }
    if (s->route->ops->on_gone)
        s->route->ops->on_gone(s->route->arg, s);
    if (!atomic_exchange(&s->over, true))
        fk_http_res_end(res);
}

static void on_deadline(void *arg, struct fk_http_req *req, struct fk_http_res *res)
{
    struct fk_err err;
    (void)arg;
    (void)res;
    fk_fail(&err, FK_E_TIMEOUT, "the time that the caller gave is over: call again");
    give_up(req->call, &err);
}

const struct fk_http_sink fk_rpc_stream_sink = {on_headers, on_body, on_complete, on_abort,
                                                on_deadline};
