// SPDX-License-Identifier: Apache-2.0
// Looking things up in a request.
#include "http/http_int.h"

static const struct fk_http_ex *ex_of(const struct fk_http_req *req)
{
    return (const struct fk_http_ex *)(const void *)req; // its first member
}

size_t fk_http_req_fields(const struct fk_http_req *req, const char *name, struct fk_str *ret,
                          size_t max)
{
    struct fk_str want = fk_str_of(name);
    size_t n = 0;
    for (size_t i = 0; i < req->fields_n; i++)
        if (fk_str_eq_nocase(req->fields[i].name, want)) {
            if (n < max)
                ret[n] = req->fields[i].value;
            n++;
        }
    return n;
}

struct fk_str fk_http_req_field(const struct fk_http_req *req, const char *name)
{
    struct fk_str value = {NULL, 0};
    fk_http_req_fields(req, name, &value, 1);
    return value;
}

struct fk_str fk_http_req_param(const struct fk_http_req *req, const char *name)
{
    const struct fk_http_pair *p = fk_http_pair_find(req->params, req->params_n, name);
    return p ? p->value : (struct fk_str){NULL, 0};
}

int fk_http_req_query(struct fk_http_req *req, const struct fk_http_pair **ret, size_t *ret_n,
                      struct fk_err *err)
{
    struct fk_http_ex *ex = (struct fk_http_ex *)(void *)req;
    if (!ex->query_done) {
        int rc = fk_http_form_parse(req->query, FK_HTTP_PAIRS, req->arena, &ex->query, &ex->query_n,
                                    err);
        if (rc)
            return rc;
        ex->query_done = true;
    }
    *ret = ex_of(req)->query;
    *ret_n = ex->query_n;
    return 0;
}

void fk_http_req_deadline(struct fk_http_req *req, int64_t ns)
{
    struct fk_http_ex *ex = (struct fk_http_ex *)(void *)req;
    int64_t now = fk_loop_now(ex->loop->loop);
    int64_t at = ns <= 0 ? now : ns > INT64_MAX - now ? INT64_MAX : now + ns;
    if (ex->deadline_ns == 0 || at < ex->deadline_ns)
        ex->deadline_ns = at;
}

void fk_http_req_resume(struct fk_http_req *req)
{
    struct fk_http_ex *ex = (struct fk_http_ex *)(void *)req;
    struct fk_http_res *res = &ex->res;
    fk_mutex_lock(&res->lock);
    res->resume = true;
    if (!res->posted) {
        res->posted = true;
        fk_loop_post(ex->loop->loop, &ex->wake);
    }
    fk_mutex_unlock(&res->lock);
}
