// SPDX-License-Identifier: Apache-2.0
// Before a body is read: who asks (a token in Authorization, or the interface's cookie), whether
// the endpoint's scope is theirs, and for which tenants. On the loop's thread, so only in memory.
#include "api/access_int.h"

#include <stdio.h>

// ---- tenants ----

static bool is_tenant_char(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           (c && strchr("!-_.*'()", c));
}

int fk_tenant_check(struct fk_str tenant, struct fk_err *err)
{
    bool good = tenant.n > 0 && tenant.n <= FK_TENANT_BYTES && !fk_str_eq(tenant, FK_S(".")) &&
                !fk_str_eq(tenant, FK_S(".."));
    for (size_t i = 0; good && i < tenant.n; i++)
        good = is_tenant_char(tenant.p[i]);
    if (good)
        return 0;
    return fk_fail_param(
        err, "X-Scope-OrgID",
        "'%.*s' is no tenant: those have 1 to %d letters, digits and !-_.*'(), and "
        "are not . or ..",
        FK_STR_ARG(fk_str_head(tenant, 60)), FK_TENANT_BYTES);
}

static bool is_in(struct fk_str x, const struct fk_str *v, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (fk_str_eq(x, v[i]))
            return true;
    return false;
}

int fk_tenants_parse(struct fk_str text, struct fk_arena *a, const struct fk_str **ret,
                     size_t *ret_n, struct fk_err *err)
{
    struct fk_str rest = text, part, *v = fk_arena_array(a, FK_TENANTS_MAX, sizeof(*v));
    size_t n = 0;
    if (!v)
        return fk_fail_nomem(err);
    if (text.n == 0)
        return fk_tenant_check(text, err);
    while (fk_str_split(&rest, '|', &part)) {
        part = fk_str_trim(part);
        int r = fk_tenant_check(part, err);
        if (r)
            return r;
        if (is_in(part, v, n))
            continue;
        if (n == FK_TENANTS_MAX)
            return fk_fail_limit(err, "X-Scope-OrgID", FK_TENANTS_MAX, NULL, "too many tenants");
        v[n++] = part;
    }
    *ret = v;
    *ret_n = n;
    return 0;
}

// ---- what was sent along ----

// The password is the token; who sends the token as the name alone is understood too.
static struct fk_str of_basic(struct fk_str text, struct fk_arena *a)
{
    struct fk_str pair;
    if (fk_base64_decode(text, a, &pair))
        return FK_S("");
    ptrdiff_t colon = fk_str_chr(pair, ':');
    struct fk_str user = colon < 0 ? pair : fk_str_head(pair, (size_t)colon);
    struct fk_str password = colon < 0 ? FK_S("") : fk_str_from(pair, (size_t)colon + 1);
    return password.n ? password : user;
}

static bool scheme(struct fk_str field, struct fk_str name, struct fk_str *ret_rest)
{
    if (field.n <= name.n || field.p[name.n] != ' ' ||
        !fk_str_eq_nocase(fk_str_head(field, name.n), name))
        return false;
    *ret_rest = fk_str_trim(fk_str_from(field, name.n));
    return true;
}

struct fk_str fk_access_cookie_of(struct fk_str cookies)
{
    struct fk_str part;
    while (fk_str_split(&cookies, ';', &part)) {
        part = fk_str_trim(part);
        if (fk_str_starts(part, FK_S(FK_ACCESS_COOKIE "=")))
            return fk_str_from(part, sizeof(FK_ACCESS_COOKIE));
    }
    return (struct fk_str){NULL, 0};
}

struct fk_str fk_access_token_of(struct fk_str authorization, struct fk_arena *a)
{
    struct fk_str rest;
    if (scheme(authorization, FK_S("Bearer"), &rest))
        return rest;
    if (scheme(authorization, FK_S("Basic"), &rest))
        return of_basic(rest, a);
    return FK_S("");
}

// One field, or several that say the same: what a proxy adds must not lose against what a client
// sent along. False: they differ.
static bool only_field(const struct fk_http_req *req, const char *name, struct fk_str *ret)
{
    struct fk_str v[8];
    size_t n = fk_http_req_fields(req, name, v, FK_COUNTOF(v));
    *ret = n ? v[0] : (struct fk_str){NULL, 0};
    for (size_t i = 1; i < FK_MIN(n, FK_COUNTOF(v)); i++)
        if (!fk_str_eq(v[0], v[i]))
            return false;
    return n <= FK_COUNTOF(v);
}

// .p NULL: none was sent. A bad Authorization is not made good by a cookie.
static struct fk_str sent_token(const struct fk_http_req *req)
{
    struct fk_str field, cookies[16], token = {NULL, 0};
    if (!only_field(req, "Authorization", &field))
        return FK_S("");
    if (field.p)
        return fk_access_token_of(field, req->arena);
    size_t n = FK_MIN(fk_http_req_fields(req, "Cookie", cookies, FK_COUNTOF(cookies)),
                      FK_COUNTOF(cookies));
    for (size_t i = 0; i < n && !token.p; i++)
        token = fk_access_cookie_of(cookies[i]);
    return token;
}

// ---- the three questions ----

bool fk_api_asks_for_tokens(struct fk_api *api)
{
    return api->opts.auth == FK_AUTH_TOKENS ||
           (api->opts.auth == FK_AUTH_AUTO && fk_access_has_tokens(api->access));
}

// Basic is not offered though it is taken: browsers would ask with a window of their own.
static int refuse(struct fk_api *api, struct fk_http_res *res, int status, const char *challenge)
{
    api->access_refused[status == 403]++;
    fk_http_res_set(res, "WWW-Authenticate", fk_str_of(challenge));
    return status;
}

static int identify(struct fk_api *api, struct fk_http_req *req, struct fk_http_res *res,
                    struct fk_caller *who, struct fk_err *err)
{
    if (!fk_api_asks_for_tokens(api)) {
        who->scopes = FK_SCOPE_PUSH | FK_SCOPE_READ | FK_SCOPE_ADMIN;
        return 0;
    }
    struct fk_str token = sent_token(req);
    if (!token.p) {
        fk_fail(err, FK_E_INVALID,
                "this server asks for a token: send \"Authorization: Bearer fk_...\", or the "
                "token as the password of Basic; the command line takes it from FLAMEKEEP_TOKEN; "
                "flamekeep admin token create makes one");
        return refuse(api, res, 401, "Bearer realm=\"flamekeep\"");
    }
    int64_t now_ms = fk_clock_wall(api->clock) / FK_NS_PER_MS;
    int r = fk_access_find(api->access, token, now_ms, req->arena, who, err);
    if (r == -FK_E_NOMEM)
        return 503;
    return r ? refuse(api, res, 401, "Bearer realm=\"flamekeep\", error=\"invalid_token\"") : 0;
}

static uint32_t scope_of(const struct fk_api_endpoint *e)
{
    return e->flags & FK_API_PUSH                  ? FK_SCOPE_PUSH
           : e->flags & FK_API_READ                ? FK_SCOPE_READ
           : e->flags & (FK_API_ANY | FK_API_OPEN) ? 0
                                                   : FK_SCOPE_ADMIN;
}

static int permit(struct fk_api *api, const struct fk_api_endpoint *e, struct fk_http_res *res,
                  const struct fk_caller *who, struct fk_err *err)
{
    uint32_t need = scope_of(e);
    char challenge[96];
    if ((who->scopes & need) == need)
        return 0;
    snprintf(challenge, sizeof(challenge),
             "Bearer realm=\"flamekeep\", error=\"insufficient_scope\", scope=\"%s\"",
             fk_scope_word(need));
    fk_fail(err, FK_E_INVALID, "this needs a token with the scope %s, which yours does not have",
            fk_scope_word(need));
    return refuse(api, res, 403, challenge);
}

// tenant= is for the own API only; elsewhere parameters are other people's. .p NULL: absent.
static int tenant_param(const struct fk_api_endpoint *e, struct fk_http_req *req,
                        struct fk_str *ret, struct fk_err *err)
{
    const struct fk_http_pair *v, *pair;
    size_t n;
    *ret = (struct fk_str){NULL, 0};
    if ((e->flags & (FK_API_RPC | FK_API_HIDDEN)) || req->query.n == 0)
        return 0;
    int r = fk_http_req_query(req, &v, &n, err);
    if (r)
        return r;
    pair = fk_http_pair_find(v, n, "tenant");
    if (pair)
        *ret = pair->value;
    return 0;
}

// What the request says; .p NULL: nothing. The field counts only where tenants are kept apart.
static int asked_tenant(const struct fk_api_endpoint *e, struct fk_http_req *req, bool kept_apart,
                        struct fk_str *ret, struct fk_err *err)
{
    struct fk_str field = {NULL, 0}, param;
    if (kept_apart && !only_field(req, "X-Scope-OrgID", &field))
        return fk_fail_param(err, "X-Scope-OrgID",
                             "two fields X-Scope-OrgID name different tenants");
    int r = tenant_param(e, req, &param, err);
    if (r)
        return r;
    if (param.p && field.p && !fk_str_eq(field, param))
        return fk_fail_param(err, "tenant", "tenant= and X-Scope-OrgID name different tenants");
    if (!kept_apart && param.p && !fk_str_eq(param, FK_S(FK_TENANT_DEFAULT)))
        return fk_fail_param(err, "tenant",
                             "there are no tenants here: --multitenancy switches them on");
    *ret = param.p ? param : field;
    return 0;
}

static int take_default(struct fk_api *api, struct fk_caller *who, struct fk_err *err)
{
    static const struct fk_str anonymous[] = {{FK_TENANT_DEFAULT, sizeof(FK_TENANT_DEFAULT) - 1}};
    if (who->by_token) {
        who->tenants = who->covers;
        who->n_tenants = who->n_covers;
        return 0;
    }
    if (api->opts.multitenancy) {
        fk_fail(err, FK_E_INVALID,
                "no org id: this server keeps tenants apart, say whose profiles are meant "
                "with the field X-Scope-OrgID or tenant= (flamekeep: --tenant)");
        return 401;
    }
    who->tenants = anonymous;
    who->n_tenants = 1;
    return 0;
}

static int take_asked(struct fk_api *api, struct fk_str text, struct fk_http_req *req,
                      struct fk_caller *who, struct fk_err *err)
{
    if (fk_tenants_parse(text, req->arena, &who->tenants, &who->n_tenants, err))
        return 400;
    for (size_t i = 0; who->by_token && i < who->n_tenants; i++)
        if (!is_in(who->tenants[i], who->covers, who->n_covers)) {
            fk_fail(err, FK_E_INVALID, "this token is not for the tenant %.*s",
                    FK_STR_ARG(who->tenants[i]));
            api->access_refused[1]++;
            return 403;
        }
    return 0;
}

static int check_one(const struct fk_api_endpoint *e, size_t n, struct fk_err *err)
{
    if (n <= 1 || !(e->flags & (FK_API_PUSH | FK_API_ONE_TENANT)))
        return 0;
    return fk_fail_param(err, "X-Scope-OrgID", "this needs one tenant; name it in X-Scope-OrgID");
}

static int choose_tenants(struct fk_api *api, const struct fk_api_endpoint *e,
                          struct fk_http_req *req, struct fk_caller *who, struct fk_err *err)
{
    struct fk_str text;
    bool kept_apart = who->by_token || api->opts.multitenancy;
    if (asked_tenant(e, req, kept_apart, &text, err))
        return 400;
    int status =
        kept_apart && text.n ? take_asked(api, text, req, who, err) : take_default(api, who, err);
    return status == 0 && check_one(e, who->n_tenants, err) ? 400 : status;
}

// Routes that are not of the table are for administrators.
static const struct fk_api_endpoint not_ours = {.flags = FK_API_ADMIN};

// What was pushed is kept though its sender waits no longer; questions end with their caller's
// patience.
static void limit_time(const struct fk_api_endpoint *e, struct fk_http_req *req)
{
    int64_t patience = e->flags & FK_API_INGEST ? 0 : fk_rpc_timeout(req);
    if (patience > 0)
        fk_http_req_deadline(req, patience);
}

int fk_api_admit(void *arg, struct fk_http_req *req, struct fk_http_res *res, struct fk_err *err)
{
    struct fk_api *api = arg;
    const struct fk_api_endpoint *e = req->route->extra ? req->route->extra : &not_ours;
    struct fk_caller *who = fk_arena_zalloc(req->arena, sizeof(*who));
    if (!who) {
        fk_fail_nomem(err);
        return 503;
    }
    req->user = who;
    if (e->flags & FK_API_OPEN) {
        limit_time(e, req);
        return 0;
    }
    int status = identify(api, req, res, who, err);
    if (status == 0)
        status = permit(api, e, res, who, err);
    if (status == 0 && !(e->flags & (FK_API_ANY | FK_API_NO_TENANT)))
        status = choose_tenants(api, e, req, who, err);
    if (status == 0)
        limit_time(e, req);
    return status;
}

// ---- of a call ----

// A server that forgot the hook must not answer as if it had asked.
int fk_call_take_caller(struct fk_api_call *c, struct fk_http_req *req, struct fk_err *err)
{
    const struct fk_caller *who = req->user;
    if (!who && (c->api->opts.multitenancy || fk_api_asks_for_tokens(c->api)))
        return fk_fail(err, FK_E_IO, "nobody checked who asks");
    if (!who || !who->n_tenants)
        return 0;
    c->scopes = who->scopes;
    c->tenants = who->tenants;
    c->n_tenants = who->n_tenants;
    c->tenant = who->tenants[0];
    return 0;
}

int fk_call_take_tenants(struct fk_api_call *c, struct fk_str text, struct fk_err *err)
{
    if (text.n == 0)
        return 0;
    int r = fk_tenants_parse(text, c->arena, &c->tenants, &c->n_tenants, err);
    if (r == 0)
        r = check_one(c->endpoint, c->n_tenants, err);
    c->tenant = c->tenants[0];
    return r;
}

int fk_call_needs(struct fk_api_call *c, enum fk_scope scope, const char *what, struct fk_err *err)
{
    if (c->scopes & (uint32_t)scope)
        return 0;
    c->fail_status = 403;
    return fk_fail(err, FK_E_INVALID, "%s needs a token with the scope %s", what,
                   fk_scope_word((uint32_t)scope));
}

int fk_api_refresh(struct fk_api *api, struct fk_err *err)
{
    return api->opts.state ? fk_access_load(api->access, api->opts.state, err) : 0;
}

void fk_access_metrics(struct fk_api *api, struct fk_buf *b)
{
    fk_buf_printf(
        b,
        "# HELP flamekeep_access_refused_total Requests without a good token, or with one "
        "for something else.\n"
        "# TYPE flamekeep_access_refused_total counter\n"
        "flamekeep_access_refused_total{status=\"401\"} %llu\n"
        "flamekeep_access_refused_total{status=\"403\"} %llu\n",
        (unsigned long long)api->access_refused[0], (unsigned long long)api->access_refused[1]);
}
