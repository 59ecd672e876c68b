// SPDX-License-Identifier: Apache-2.0
// The exchange: routing, limits of the body, the way between a connection and a sink, its end.
#include "http/http_int.h"

#include "os/clock.h"

static void on_wake(struct fk_loop_msg *msg);

struct fk_http_ex *fk_http_ex_new(struct fk_http_loop *l, const struct fk_http_link *link,
                                  void *conn, const struct fk_addr *peer)
{
    struct fk_http_server *s = l->server;
    struct fk_http_ex *ex = fk_calloc(1, sizeof(*ex));
    if (!ex)
        return NULL;
    ex->loop = l;
    ex->link = link;
    ex->conn = conn;
    ex->wake.on = on_wake;
    ex->route = s->opts.routes_n;
    ex->content_length = -1;
    ex->mono_ns = fk_loop_now(l->loop);
    fk_arena_init(&ex->arena, s->opts.limits.request_memory);
    fk_buf_init(&ex->head, s->opts.limits.head_bytes + 1);
    fk_buf_init(&ex->collect.body, 0);
    fk_buf_init(&ex->collect.stage, 0);
    ex->req = (struct fk_http_req){.method = FK_S(""),
                                   .target = FK_S(""),
                                   .peer = *peer,
                                   .version = 11,
                                   .start_ns = fk_clock_wall(s->opts.clock),
                                   .arena = &ex->arena,
                                   .cancel = &ex->cancel};
    fk_http_res_init(&ex->res, ex);
    l->exs++;
    atomic_fetch_add_explicit(&s->active, 1, memory_order_relaxed);
    return ex;
}

static void free_ex(struct fk_http_ex *ex)
{
    struct fk_http_loop *l = ex->loop;
    atomic_fetch_sub_explicit(&l->server->active, 1, memory_order_relaxed);
    fk_http_collect_free(ex);
    fk_http_res_free(&ex->res);
    fk_buf_free(&ex->head);
    fk_arena_free(&ex->arena);
    fk_free(ex);
    l->exs--;
    fk_http_loop_idle(l);
}

// Frees it once the handler has let go and no message is under way.
static void maybe_free(struct fk_http_ex *ex)
{
    fk_mutex_lock(&ex->res.lock);
    bool over = (ex->res.ended || !ex->handed) && !ex->res.posted;
    fk_mutex_unlock(&ex->res.lock);
    if (over && !ex->conn)
        free_ex(ex);
}

static void on_wake(struct fk_loop_msg *msg)
{
    struct fk_http_ex *ex =
        (struct fk_http_ex *)(void *)((char *)msg - offsetof(struct fk_http_ex, wake));
    fk_mutex_lock(&ex->res.lock);
    bool resume = ex->res.resume;
    ex->res.posted = ex->res.resume = false;
    fk_mutex_unlock(&ex->res.lock);
    if (resume && ex->sink == &fk_http_collect_sink)
        fk_http_collect_resumed(ex);
    ex->resumed |= resume;
    if (ex->conn)
        ex->link->progress(ex);
    else
        maybe_free(ex);
}

// --- the request's side ---
static void answer_now(struct fk_http_ex *ex, int status, const struct fk_err *err)
{
    ex->handed = true;
    ex->in_call = true;
    fk_http_res_fail(&ex->res, status, err);
    fk_http_res_end(&ex->res);
    ex->in_call = false;
}

void fk_http_ex_break(struct fk_http_ex *ex, int status, const struct fk_err *err)
{
    if (!ex->handed) {
        answer_now(ex, status, err);
        return;
    }
    if (ex->override)
        return; // the first reason counts
    ex->override = status;
    ex->override_err = *err;
    fk_cancel_set(&ex->cancel, FK_E_CANCELLED);
    ex->in_call = true;
    if (ex->sink && ex->sink->on_abort && fk_http_ex_wants_body(ex))
        ex->sink->on_abort(ex->sink_arg, &ex->req, &ex->res);
    ex->in_call = false;
}

static uint64_t body_limit(const struct fk_http_ex *ex)
{
    return ex->req.route->body_max;
}

static void fail_body(const struct fk_http_ex *ex, struct fk_err *err)
{
    const struct fk_http_route *r = ex->req.route;
    if (r->body_max == 0)
        fk_fail(err, FK_E_LIMIT, "%s %s takes no body", r->method, r->pattern);
    else
        fk_fail_limit(err, "body", r->body_max, r->body_flag,
                      "the body is too large; send less at once or raise the limit");
}

// 0, or the status of a refusal.
static int find_route(struct fk_http_ex *ex, struct fk_err *err)
{
    struct fk_http_server *s = ex->loop->server;
    struct fk_http_match match = {0};
    int status =
        fk_http_router_find(&s->router, ex->req.method, ex->req.path, &ex->arena, &match, err);
    if (status == 405)
        fk_http_res_set(&ex->res, "Allow", match.allow);
    if (status)
        return status;
    ex->route = match.at;
    ex->req.params = match.params;
    ex->req.params_n = match.params_n;
    ex->req.route = &s->opts.routes[ex->route];
    ex->sink = ex->req.route->sink ? ex->req.route->sink : &fk_http_collect_sink;
    ex->sink_arg = ex->req.route->arg;
    if (s->opts.admit)
        status = s->opts.admit(s->opts.arg, &ex->req, &ex->res, err);
    if (status)
        return status;
    if ((ex->content_length > 0 && (uint64_t)ex->content_length > body_limit(ex)) ||
        (ex->chunked && body_limit(ex) == 0)) {
        fail_body(ex, err);
        return 413;
    }
    return 0;
}

void fk_http_ex_headers(struct fk_http_ex *ex)
{
    struct fk_err err = {0};
    int status = find_route(ex, &err);
    if (status) {
        answer_now(ex, status, &err);
        return;
    }
    ex->handed = true;
    ex->in_call = true;
    ex->sink->on_headers(ex->sink_arg, &ex->req, &ex->res);
    ex->in_call = false;
}

bool fk_http_ex_wants_body(struct fk_http_ex *ex)
{
    fk_mutex_lock(&ex->res.lock);
    bool ended = ex->res.ended || ex->res.aborted;
    fk_mutex_unlock(&ex->res.lock);
    return ex->handed && !ended;
}

enum fk_http_more fk_http_ex_body(struct fk_http_ex *ex, const uint8_t *p, size_t n)
{
    enum fk_http_more more = FK_HTTP_MORE;
    struct fk_err err;
    ex->req.wire_body += n;
    if (ex->override || !fk_http_ex_wants_body(ex))
        return more;
    if (ex->req.wire_body > body_limit(ex)) {
        fail_body(ex, &err);
        fk_http_ex_break(ex, 413, &err);
        return more;
    }
    ex->in_call = true;
    more = ex->sink->on_body(ex->sink_arg, &ex->req, &ex->res, p, n);
    ex->in_call = false;
    return more;
}

void fk_http_ex_complete(struct fk_http_ex *ex)
{
    ex->complete = true;
    ex->complete_ns = fk_loop_now(ex->loop->loop);
    if (ex->override || !fk_http_ex_wants_body(ex))
        return;
    ex->in_call = true;
    ex->sink->on_complete(ex->sink_arg, &ex->req, &ex->res);
    ex->in_call = false;
}

int64_t fk_http_ex_deadline(const struct fk_http_ex *ex)
{
    const struct fk_http_route *r = ex->req.route;
    int64_t at = ex->deadline_ns ? ex->deadline_ns : INT64_MAX;
    if (ex->expired || atomic_load_explicit(&ex->cancel.reason, memory_order_relaxed))
        return INT64_MAX;
    if (ex->complete && r && r->deadline_ns > 0)
        at = FK_MIN(at, ex->complete_ns + r->deadline_ns);
    return at;
}

bool fk_http_ex_expire(struct fk_http_ex *ex)
{
    ex->expired = true;
    if (!ex->sink || !ex->sink->on_deadline || ex->override || !fk_http_ex_wants_body(ex)) {
        fk_cancel_set(&ex->cancel, FK_E_TIMEOUT);
        return false;
    }
    ex->in_call = true;
    ex->sink->on_deadline(ex->sink_arg, &ex->req, &ex->res);
    ex->in_call = false;
    return true;
}

// --- the answer's side ---
// The sink has let go: what it said is replaced by the error that made the server break off.
static void apply_override(struct fk_http_ex *ex)
{
    struct fk_http_res *res = &ex->res;
    int status = ex->override;
    ex->override = 0;
    fk_http_segs_free(&res->pending);
    res->waiting = 0;
    res->begun = res->ended = res->aborted = false;
    fk_http_res_reset(res);
    ex->in_call = true;
    fk_http_res_fail(res, status, &ex->override_err);
    fk_http_res_end(res);
    ex->in_call = false;
}

void fk_http_ex_pull(struct fk_http_ex *ex, struct fk_http_pull *ret)
{
    struct fk_http_res *res = &ex->res;
    *ret = (struct fk_http_pull){0};
    fk_mutex_lock(&res->lock);
    bool over = res->ended;
    fk_mutex_unlock(&res->lock);
    if (ex->override && (ex->head_sent || !over)) {
        ret->aborted = ex->head_sent;
        return;
    }
    if (ex->override)
        apply_override(ex);
    fk_mutex_lock(&res->lock);
    fk_http_segs_join(&ret->segs, &res->pending);
    ret->begun = res->begun;
    ret->ended = res->ended;
    ret->aborted = res->aborted;
    fk_mutex_unlock(&res->lock);
}

void fk_http_ex_sent(struct fk_http_ex *ex, uint64_t n)
{
    struct fk_http_res *res = &ex->res;
    ex->bytes_out += n;
    fk_mutex_lock(&res->lock);
    res->waiting -= FK_MIN(res->waiting, n);
    fk_cond_broadcast(&res->room);
    fk_mutex_unlock(&res->lock);
}

static void tell_access(struct fk_http_ex *ex, int status, bool sent_all, int64_t duration,
                        int64_t run_ns)
{
    const struct fk_http_server_opts *o = &ex->loop->server->opts;
    if (!o->access)
        return;
    struct fk_http_access a = {.route = ex->req.route,
                               .method = ex->req.method,
                               .target = ex->req.target,
                               .peer = ex->req.peer,
                               .status = status,
                               .aborted = !sent_all,
                               .bytes_in = ex->bytes_in,
                               .bytes_out = ex->bytes_out,
                               .start_ns = ex->req.start_ns,
                               .duration_ns = duration,
                               .run_ns = run_ns};
    o->access(o->arg, &a);
}

// What it wanted to be kept is kept, though it does not wait for the answer.
static bool is_kept(const struct fk_http_ex *ex)
{
    const struct fk_http_route *r = ex->req.route;
    return ex->complete && r && r->run && r->cls == FK_WORK_INGEST && !ex->override &&
           !ex->loop->draining;
}

// The client left before the sink was done.
static void tell_sink(struct fk_http_ex *ex)
{
    struct fk_http_res *res = &ex->res;
    fk_mutex_lock(&res->lock);
    res->gone = true;
    fk_http_segs_free(&res->pending);
    fk_cond_broadcast(&res->room);
    bool ended = res->ended;
    fk_mutex_unlock(&res->lock);
    if (ended || !ex->handed || is_kept(ex))
        return;
    fk_cancel_set(&ex->cancel, ex->loop->draining ? FK_E_STOPPED : FK_E_CANCELLED);
    ex->in_call = true;
    if (ex->sink && ex->sink->on_abort && !ex->override)
        ex->sink->on_abort(ex->sink_arg, &ex->req, &ex->res);
    ex->in_call = false;
}

void fk_http_ex_leave(struct fk_http_ex *ex, bool sent_all)
{
    int64_t duration = fk_clock_mono(fk_clock_real()) - ex->mono_ns;
    fk_mutex_lock(&ex->res.lock);
    int status = ex->res.begun ? ex->res.status : 0;
    int64_t run = ex->res.ended ? ex->run_ns : 0; // else the handler still runs
    fk_mutex_unlock(&ex->res.lock);
    ex->conn = NULL;
    tell_sink(ex);
    if (ex->handed) {
        fk_http_count(ex, sent_all ? status : 0, duration);
        tell_access(ex, status, sent_all, duration, run);
    }
    maybe_free(ex);
}
