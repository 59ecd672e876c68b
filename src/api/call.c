// SPDX-License-Identifier: Apache-2.0
// Running a call: from an http route, or in this process. Errors become problem+json, on RPCs and
// /ingest Connect's JSON.
#include "api/access_int.h"
#include "api/health_int.h"
#include "api/rejects_int.h"
#include "api/seen_int.h"

#include <stdio.h>

#define LATE_NS (100 * FK_NS_PER_MS) // a cancelled call should end sooner

void fk_call_init(struct fk_api_call *c, struct fk_api *api, const struct fk_api_endpoint *e,
                  struct fk_arena *a)
{
    static const struct fk_str anonymous[] = {{FK_TENANT_DEFAULT, sizeof(FK_TENANT_DEFAULT) - 1}};
    *c = (struct fk_api_call){.api = api,
                              .endpoint = e,
                              .arena = a,
                              .tenant = anonymous[0],
                              .tenants = anonymous,
                              .n_tenants = 1,
                              .scopes = FK_SCOPE_PUSH | FK_SCOPE_READ | FK_SCOPE_ADMIN,
                              .status = 200,
                              .type = "application/json",
                              .now_ns = fk_clock_wall(api->clock)};
    fk_buf_init(&c->body, 0);
}

void fk_call_free(struct fk_api_call *c)
{
    for (size_t i = 0; i < FK_COUNTOF(c->query_run); i++)
        fk_query_free(c->query_run[i]);
    fk_buf_free(&c->body);
}

// ---- errors ----

static int status_of(const struct fk_err *err)
{
    // A pattern that needs too many steps is understood but cannot be done; other limits are about
    // the body.
    if (err->code == FK_E_LIMIT && (fk_str_eq(fk_str_of(err->param), FK_S("regex")) ||
                                    fk_str_eq(fk_str_of(err->param), FK_S("query")) ||
                                    fk_str_eq(fk_str_of(err->param), FK_S("memory"))))
        return 422;
    if (err->code == FK_E_LIMIT && fk_str_eq(fk_str_of(err->param), FK_S("series")))
        return 429; // the tenant's own limit
    if (err->code == FK_E_LIMIT && (fk_str_eq(fk_str_of(err->param), FK_S("labels")) ||
                                    fk_str_eq(fk_str_of(err->param), FK_S("time")) ||
                                    fk_str_eq(fk_str_of(err->param), FK_S("step")) ||
                                    fk_str_eq(fk_str_of(err->param), FK_S("sample_type"))))
        return 400;
    if (err->code == FK_E_UNSUPPORTED)
        return 400;
    return fk_http_status_of(err);
}

static void put_problem(struct fk_api_call *c, int status, const struct fk_err *err)
{
    c->type = "application/problem+json";
    fk_http_problem_put(&c->body, status, err);
}

// Connect's error object; protocols with envelopes say it in their own form.
static void put_rpc_failure(struct fk_api_call *c, const struct fk_err *err)
{
    struct fk_rpc_failure f;
    c->failure = *err;
    if (fk_rpc_enveloped(&c->rpc) || !fk_call_failure(c, &f))
        return;
    c->type = "application/json";
    fk_rpc_put_error(&f, &c->body);
}

void fk_call_run(struct fk_api_call *c)
{
    struct fk_err err = {0};
    bool method = fk_api_is_method(fk_str_of(c->endpoint->pattern));
    int r = method ? fk_call_open(c, &err) : fk_api_check_params(c, &err);
    if (r == 0)
        r = c->endpoint->handle(c, &err);
    if (r == 0 && c->body.failed)
        r = fk_buf_check(&c->body, "answer", &err);
    if (r == 0)
        return;
    if (err.code == 0)
        fk_fail(&err, (enum fk_error) - r, "the request failed");
    if (err.code == FK_E_NOMEM && c->arena->limit && c->arena->used >= c->arena->limit / 2)
        fk_fail_limit(&err, "memory", c->arena->limit, FK_LIMIT_FLAG(query_memory),
                      "this request needs more memory than one may take");
    if (c->streamed) {
        c->api->query_errors++;
        fk_logf(c->api->opts.log, FK_LOG_WARN, "api", "%s %s: cut: %s", c->endpoint->method,
                c->endpoint->pattern, err.msg);
        fk_http_res_abort(c->res);
        return;
    }
    fk_buf_clear(&c->body);
    c->file_name = (struct fk_str){NULL, 0};
    c->status = status_of(&err);
    if (c->fail_status && (err.code == FK_E_FORMAT || err.code == FK_E_INVALID))
        c->status = c->fail_status;
    if (c->fail_code)
        c->status = fk_rpc_code_status((enum fk_rpc_code)c->fail_code);
    if (c->endpoint->flags & FK_API_INGEST)
        fk_rejects_note(c, &err, 1);
    else
        c->api->query_errors++;
    if (c->status >= 500)
        fk_logf(c->api->opts.log, FK_LOG_WARN, "api", "%s %s: %s", c->endpoint->method,
                c->endpoint->pattern, err.msg);
    if (fk_api_answers_otlp(c->endpoint, &c->rpc))
        fk_otlp_error(c, c->status, &err);
    else if (c->endpoint->flags & FK_API_RPC)
        put_rpc_failure(c, &err);
    else
        put_problem(c, c->status, &err);
}

// ---- from a route ----

static void put_head(struct fk_api_call *c, struct fk_http_res *res)
{
    fk_http_res_status(res, c->status);
    fk_http_res_type(res, c->type);
    fk_rpc_set_retry(res, fk_rpc_retry_of(c->status));
    if (c->receipt.n)
        fk_http_res_set(res, "flamekeep-receipt", c->receipt);
    if (c->file_name.n) {
        struct fk_str value =
            fk_arena_printf(c->arena, "attachment; filename=\"%.*s\"", FK_STR_ARG(c->file_name));
        if (value.p)
            fk_http_res_set(res, "Content-Disposition", value);
    }
}

static void answer(struct fk_api_call *c, struct fk_http_res *res)
{
    if (c->streamed)
        return;
    put_head(c, res);
    fk_call_reply(c, res);
}

// An answer up to this size is sent whole, with its length.
#define STREAM_FROM ((size_t)256 << 10)

static int call_write(void *arg, const void *p, size_t n, struct fk_err *err)
{
    struct fk_api_call *c = arg;
    if (!c->streamed && (!c->res || c->body.n + n <= STREAM_FROM)) {
        fk_buf_put(&c->body, p, n);
        return fk_buf_check(&c->body, "answer", err);
    }
    if (!c->streamed) {
        c->streamed = true;
        put_head(c, c->res);
        int r = fk_http_res_write(c->res, c->body.p, c->body.n, err);
        fk_buf_free(&c->body);
        if (r)
            return r;
    }
    return fk_http_res_write(c->res, p, n, err);
}

struct fk_out fk_call_out(struct fk_api_call *c)
{
    return (struct fk_out){call_write, c};
}

// What pages of others may not make a browser do; logging in is among it.
#define WRITES (FK_API_INGEST | FK_API_PUSH | FK_API_ADMIN | FK_API_OPEN)

// Pages and probes, which say nothing of what is stored.
#define OF_PROBES (FK_API_HIDDEN | FK_API_OPEN)

// A call whose client left, or whose time was over: how long it went on.
static void note_cancelled(struct fk_api *api, const struct fk_cancel *cancel)
{
    int64_t age = fk_cancel_age(cancel), longest = api->cancelled_longest_ns;
    if (age < 0)
        return;
    api->cancelled++;
    api->cancelled_late += age > LATE_NS;
    while (age > longest &&
           !atomic_compare_exchange_weak(&api->cancelled_longest_ns, &longest, age))
        ;
}

static void run_route(void *arg, struct fk_http_req *req, struct fk_http_res *res)
{
    const struct route_arg *a = arg;
    FK_AUTO_ARENA arena; // req->arena is for what a request carries, not for what it asks
    struct fk_api_call c;
    struct fk_err err = {0};
    fk_arena_init(&arena, (size_t)a->api->opts.limits.query_memory);
    fk_call_init(&c, a->api, a->endpoint, &arena);
    c.res = res;
    c.request = req->body;
    c.content_type = fk_http_req_field(req, "Content-Type");
    c.accept = fk_http_req_field(req, "Accept");
    c.user_agent = fk_http_req_field(req, "User-Agent");
    c.cancel = req->cancel;
    if (req->params_n)
        c.path_param = req->params[0].value;
    if ((a->endpoint->flags & OF_PROBES) != OF_PROBES &&
        fk_api_guard(a->api, (a->endpoint->flags & WRITES) != 0, req, &err)) {
        fk_http_res_fail(res, 403, &err);
    } else if (fk_call_take_caller(&c, req, &err)) {
        fk_http_res_fail(res, 500, &err);
    } else if (fk_http_req_query(req, &c.query, &c.n_query, &err)) {
        fk_http_res_fail(res, 0, &err);
    } else {
        c.http = req;
        fk_call_run(&c);
        note_cancelled(a->api, c.cancel);
        if (!(a->endpoint->flags & FK_API_RAW) || c.status >= 400)
            answer(&c, res);
    }
    fk_call_free(&c);
}

static void set_limits(const struct fk_limits *l, const struct fk_api_endpoint *e,
                       struct fk_http_route *r)
{
    if (e->handle == fk_api_upload) {
        r->body_max = l->upload_body;
        r->body_flag = FK_LIMIT_FLAG(upload_body);
    } else if (e->handle == fk_api_debug_upload) {
        r->body_max = l->debuginfo_file;
        r->body_flag = FK_LIMIT_FLAG(debuginfo_file);
    } else if (e->flags & FK_API_INGEST) {
        r->body_max = l->push_body;
        r->decoded_max = l->push_body + l->push_decoded;
        r->body_flag = FK_LIMIT_FLAG(push_body);
    } else if (fk_str_eq(fk_str_of(r->method), FK_S("POST"))) {
        r->body_max = 1 << 20; // questions are small
    }
}

static void fill_route(struct fk_api *api, size_t i, const struct fk_api_endpoint *e,
                       const char *method)
{
    bool ingest = (e->flags & FK_API_INGEST) != 0;
    api->args[i] = (struct route_arg){api, e, {e->stream, api}};
    api->routes[i] =
        (struct fk_http_route){.method = method,
                               .pattern = e->pattern,
                               .run = e->stream ? NULL : run_route,
                               .sink = e->stream ? &fk_rpc_stream_sink : NULL,
                               .arg = e->stream ? (void *)&api->args[i].stream : &api->args[i],
                               .cls = ingest ? FK_WORK_INGEST : FK_WORK_QUERY,
                               .on_loop = (e->flags & FK_API_LOOP) != 0,
                               .error = e->flags & FK_API_OTLP  ? fk_otlp_http_error
                                        : e->flags & FK_API_RPC ? fk_rpc_http_error
                                                                : NULL,
                               .deadline_ns = ingest || e->stream ? 0 : 120 * FK_NS_PER_S,
                               .extra = e};
    set_limits(&api->opts.limits, e, &api->routes[i]);
}

// Methods that only read have a second route, for Connect's GET.
static void fill_routes(struct fk_api *api)
{
    size_t n = 0;
    for (size_t i = 0; i < fk_api_table_n; i++) {
        const struct fk_api_endpoint *e = &fk_api_table[i];
        fill_route(api, n++, e, e->method);
        if (e->flags & FK_API_READS)
            fill_route(api, n++, e, "GET");
    }
    api->n_routes = n;
}

const struct fk_http_route *fk_api_routes(struct fk_api *api, size_t *ret_n)
{
    *ret_n = api->n_routes;
    return api->routes;
}

// ---- in this process ----

// Whether a pattern fits a path; the value of its parameter, if it has one.
static bool fits(const char *pattern, struct fk_str path, struct fk_str *ret_param)
{
    struct fk_str p = fk_str_of(pattern), have, want;
    while (fk_str_split(&p, '/', &want)) {
        if (!fk_str_split(&path, '/', &have))
            return false;
        if (want.n > 2 && want.p[0] == '{')
            *ret_param = have;
        else if (!fk_str_eq(want, have))
            return false;
    }
    return path.p == NULL;
}

static const struct fk_api_endpoint *endpoint_of(const char *method, struct fk_str path,
                                                 struct fk_str *ret_param)
{
    for (size_t i = 0; i < fk_api_table_n; i++)
        if (!(fk_api_table[i].flags & FK_API_RAW) &&
            fk_str_eq(fk_str_of(fk_api_table[i].method), fk_str_of(method)) &&
            fits(fk_api_table[i].pattern, path, ret_param))
            return &fk_api_table[i];
    return NULL;
}

static void run_local(struct fk_api *api, const struct fk_api_ask *ask,
                      const struct fk_api_endpoint *e, struct fk_str param, struct fk_str query,
                      struct fk_api_answer *ret)
{
    FK_AUTO_ARENA a;
    struct fk_api_call c;
    struct fk_err err = {0};
    fk_arena_init(&a, 0);
    fk_call_init(&c, api, e, &a);
    c.request = ask->body;
    c.content_type = ask->content_type;
    c.user_agent = ask->user_agent;
    c.cancel = ask->cancel;
    if (fk_http_form_parse(query, FK_HTTP_PAIRS, &a, &c.query, &c.n_query, &err) ||
        fk_http_percent_decode(param, false, &a, &c.path_param, &err)) {
        c.status = 400;
        put_problem(&c, 400, &err);
    } else if (fk_call_take_tenants(&c, ask->tenant, &err)) {
        c.status = 400;
        put_problem(&c, 400, &err);
    } else {
        fk_call_run(&c);
    }
    ret->status = c.status;
    snprintf(ret->type, sizeof(ret->type), "%s", c.type);
    snprintf(ret->file_name, sizeof(ret->file_name), "%.*s", FK_STR_ARG(c.file_name));
    ret->body = c.body;
    fk_buf_init(&c.body, 0);
    fk_call_free(&c);
}

void fk_api_local(struct fk_api *api, const struct fk_api_ask *ask, struct fk_api_answer *ret)
{
    ptrdiff_t mark = fk_str_chr(ask->target, '?');
    struct fk_str path = mark < 0 ? ask->target : fk_str_head(ask->target, (size_t)mark);
    struct fk_str query = mark < 0 ? FK_S("") : fk_str_from(ask->target, (size_t)mark + 1),
                  param = {"", 0};
    const struct fk_api_endpoint *e = endpoint_of(ask->method, path, &param);
    *ret = (struct fk_api_answer){.status = 404};
    fk_buf_init(&ret->body, 0);
    if (e)
        run_local(api, ask, e, param, query, ret);
}

// ---- life ----

int fk_api_new(const struct fk_api_opts *o, struct fk_api **ret, struct fk_err *err)
{
    struct fk_api *api = fk_calloc(1, sizeof(*api));
    if (!api)
        return fk_fail_nomem(err);
    api->opts = *o;
    api->clock = o->clock ? o->clock : fk_clock_real();
    api->started_ns = fk_clock_wall(api->clock);
    api->routes = fk_calloc(2 * fk_api_table_n, sizeof(*api->routes));
    api->args = fk_calloc(2 * fk_api_table_n, sizeof(*api->args));
    api->seen = fk_seen_new();
    api->rejects = fk_rejects_new();
    api->watchers = fk_watchers_new();
    api->access = fk_access_new();
    if (!api->access || !api->routes || !api->args || !api->seen || !api->rejects ||
        !api->watchers) {
        fk_api_free(api);
        return fk_fail_nomem(err);
    }
    fill_routes(api);
    *ret = api;
    return 0;
}

void fk_api_free(struct fk_api *api)
{
    if (!api)
        return;
    fk_free(api->routes);
    fk_free(api->args);
    fk_seen_free(api->seen);
    fk_rejects_free(api->rejects);
    fk_watchers_free(api->watchers);
    fk_access_free(api->access);
    fk_free(api);
}

void fk_api_set_server(struct fk_api *api, struct fk_http_server *server)
{
    api->server = server;
}

void fk_api_set_pool(struct fk_api *api, struct fk_pool *pool)
{
    api->pool = pool;
}

void fk_api_set_local(struct fk_api *api, bool local)
{
    api->local = local;
}

void fk_api_set_ready(struct fk_api *api, bool ready)
{
    api->ready = ready;
    if (ready)
        fk_watchers_come(api->watchers);
    else
        fk_watchers_leave(api->watchers);
}
