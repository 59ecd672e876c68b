// SPDX-License-Identifier: Apache-2.0
// The interface's log-in: a token goes into a cookie that scripts cannot read and that no other
// site can make a browser send.
#include "api/access_int.h"

static void put_texts(struct fk_json *w, const char *key, const struct fk_str *v, size_t n)
{
    fk_json_key(w, fk_str_of(key));
    fk_json_array(w);
    for (size_t i = 0; i < n; i++)
        fk_json_str(w, v[i]);
    fk_json_array_end(w);
}

static int put_session(struct fk_api_call *c, const struct fk_caller *who, struct fk_err *err)
{
    struct fk_json w;
    fk_call_json(c, &w);
    fk_json_k(&w, "auth");
    fk_json_str(&w, who->by_token ? FK_S("token") : FK_S("none"));
    fk_json_k(&w, "multitenancy");
    fk_json_bool(&w, c->api->opts.multitenancy);
    if (who->name.n) {
        fk_json_k(&w, "name");
        fk_json_str(&w, who->name);
    }
    fk_json_k(&w, "scopes");
    fk_json_array(&w);
    for (uint32_t scope = FK_SCOPE_PUSH; scope <= FK_SCOPE_ADMIN; scope <<= 1)
        if (who->scopes & scope)
            fk_json_str(&w, fk_str_of(fk_scope_word(scope)));
    fk_json_array_end(&w);
    put_texts(&w, "tenants", who->covers, who->n_covers);
    return fk_call_json_end(c, &w, err);
}

int fk_api_session(struct fk_api_call *c, struct fk_err *err)
{
    static const struct fk_caller here = {.scopes = FK_SCOPE_PUSH | FK_SCOPE_READ | FK_SCOPE_ADMIN};
    const struct fk_caller *who = c->res ? fk_http_res_req(c->res)->user : &here;
    return put_session(c, who ? who : &here, err);
}

// Browsers say in Origin with which scheme they came, also through a proxy that ends TLS.
static int set_cookie(struct fk_api_call *c, struct fk_str value, const char *age,
                      struct fk_err *err)
{
    struct fk_str origin = fk_http_req_field(fk_http_res_req(c->res), "Origin");
    struct fk_str field = fk_arena_printf(
        c->arena, FK_ACCESS_COOKIE "=%.*s; Path=/; HttpOnly; SameSite=Strict%s%s",
        FK_STR_ARG(value), age, fk_str_starts(origin, FK_S("https://")) ? "; Secure" : "");
    if (!field.p)
        return fk_fail_nomem(err);
    fk_http_res_set(c->res, "Cache-Control", FK_S("no-store"));
    return fk_http_res_add(c->res, "Set-Cookie", field);
}

int fk_api_login(struct fk_api_call *c, struct fk_err *err)
{
    struct fk_str token = fk_str_trim(c->request);
    struct fk_caller who;
    if (!c->res)
        return fk_fail(err, FK_E_UNSUPPORTED, "there is nothing to log in to without a server");
    int r = fk_access_find(c->api->access, token, c->now_ns / FK_NS_PER_MS, c->arena, &who, err);
    if (r == -FK_E_INVALID)
        c->fail_status = 401;
    if (r == 0)
        r = set_cookie(c, token, "; Max-Age=31536000", err);
    return r ? r : put_session(c, &who, err);
}

int fk_api_logout(struct fk_api_call *c, struct fk_err *err)
{
    struct fk_json w;
    int r = c->res ? set_cookie(c, FK_S(""), "; Max-Age=0", err) : 0;
    if (r)
        return r;
    fk_call_json(c, &w);
    return fk_call_json_end(c, &w, err);
}
