// SPDX-License-Identifier: Apache-2.0
// Errors as answers: status codes, their names, problem+json (RFC 9457).
#include "http/http_int.h"

#include "codec/codec.h"

int fk_http_status_of(const struct fk_err *err)
{
    static const int status[] = {
        [FK_E_NOMEM] = 503,   [FK_E_LIMIT] = 413,       [FK_E_FORMAT] = 400,
        [FK_E_CORRUPT] = 500, [FK_E_IO] = 500,          [FK_E_NOTFOUND] = 404,
        [FK_E_INVALID] = 400, [FK_E_UNSUPPORTED] = 415, [FK_E_BUSY] = 503,
        [FK_E_FULL] = 503,    [FK_E_CANCELLED] = 499,   [FK_E_EXISTS] = 409,
        [FK_E_TIMEOUT] = 504, [FK_E_STOPPED] = 503,
    };
    int code = err->code;
    return code > 0 && (size_t)code < FK_COUNTOF(status) && status[code] ? status[code] : 500;
}

const char *fk_http_reason(int status)
{
    static const struct {
        int status;
        const char *text;
    } names[] = {
        {200, "OK"},
        {201, "Created"},
        {202, "Accepted"},
        {204, "No Content"},
        {206, "Partial Content"},
        {301, "Moved Permanently"},
        {302, "Found"},
        {303, "See Other"},
        {304, "Not Modified"},
        {307, "Temporary Redirect"},
        {308, "Permanent Redirect"},
        {400, "Bad Request"},
        {401, "Unauthorized"},
        {403, "Forbidden"},
        {404, "Not Found"},
        {405, "Method Not Allowed"},
        {406, "Not Acceptable"},
        {408, "Request Timeout"},
        {409, "Conflict"},
        {410, "Gone"},
        {411, "Length Required"},
        {412, "Precondition Failed"},
        {413, "Content Too Large"},
        {414, "URI Too Long"},
        {415, "Unsupported Media Type"},
        {416, "Range Not Satisfiable"},
        {417, "Expectation Failed"},
        {421, "Misdirected Request"},
        {422, "Unprocessable Content"},
        {429, "Too Many Requests"},
        {431, "Request Header Fields Too Large"},
        {499, "Client Closed Request"},
        {500, "Internal Server Error"},
        {501, "Not Implemented"},
        {502, "Bad Gateway"},
        {503, "Service Unavailable"},
        {504, "Gateway Timeout"},
        {505, "HTTP Version Not Supported"},
    };
    for (size_t i = 0; i < FK_COUNTOF(names); i++)
        if (names[i].status == status)
            return names[i].text;
    return "";
}

void fk_http_problem_put(struct fk_buf *to, int status, const struct fk_err *err)
{
    struct fk_json w;
    fk_json_init(&w, fk_out_buf(to), false);
    fk_json_object(&w);
    fk_json_k(&w, "type");
    fk_json_str(&w, FK_S("about:blank"));
    fk_json_k(&w, "title");
    fk_json_str(&w, fk_str_of(fk_http_reason(status)));
    fk_json_k(&w, "status");
    fk_json_i64(&w, status);
    fk_json_k(&w, "detail");
    fk_json_str(&w, fk_str_of(err->msg));
    if (err->param[0]) {
        fk_json_k(&w, "param");
        fk_json_str(&w, fk_str_of(err->param));
    }
    if (err->limit) {
        fk_json_k(&w, "limit");
        fk_json_u64(&w, err->limit);
    }
    if (err->flag[0]) {
        fk_json_k(&w, "flag");
        fk_json_str(&w, fk_str_of(err->flag));
    }
    fk_json_object_end(&w);
    if (fk_json_finish(&w, NULL)) // no memory: the status must do
        fk_buf_clear(to);
}

void fk_http_problem(struct fk_http_res *res, int status, const struct fk_err *err)
{
    struct fk_buf b;
    fk_buf_init(&b, 16u << 10);
    fk_http_problem_put(&b, status, err);
    fk_http_res_type(res, "application/problem+json");
    fk_http_res_take(res, &b);
}

void fk_http_res_fail(struct fk_http_res *res, int status, const struct fk_err *err)
{
    const struct fk_http_route *route = res->ex->req.route;
    const struct fk_http_server_opts *opts = &res->ex->loop->server->opts;
    if (res->begun) {
        fk_http_res_abort(res);
        return;
    }
    if (status == 0)
        status = fk_http_status_of(err);
    fk_http_res_status(res, status);
    if ((status == 503 || status == 429) && !fk_http_res_has(res, "Retry-After"))
        fk_http_res_set(res, "Retry-After", FK_S("1"));
    if (route && route->error)
        route->error(res, status, err);
    else if (!route && opts->error)
        opts->error(res, status, err);
    else
        fk_http_problem(res, status, err);
}
