// SPDX-License-Identifier: Apache-2.0
// Methods of services: between the framing of the protocol and handlers that see one message and
// give one.
#include "api/api_int.h"

bool fk_api_is_method(struct fk_str path)
{
    struct fk_str service, method;
    if (!fk_str_starts(path, FK_S("/")))
        return false;
    path = fk_str_from(path, 1);
    return fk_str_split(&path, '/', &service) && fk_str_split(&path, '/', &method) && !path.p &&
           fk_str_chr(service, '.') > 0 && method.n > 0;
}

bool fk_api_answers_otlp(const struct fk_api_endpoint *e, const struct fk_rpc *rpc)
{
    bool connect = rpc->protocol == FK_RPC_CONNECT && rpc->codec == FK_RPC_PROTO;
    return (e->flags & FK_API_OTLP) && !fk_rpc_enveloped(rpc) && !connect;
}

static struct fk_size_limit limit_of(const struct fk_api_call *c)
{
    const struct fk_limits *l = &c->api->opts.limits;
    if (c->endpoint->flags & FK_API_INGEST)
        return (struct fk_size_limit){l->push_body + l->push_decoded, FK_LIMIT_FLAG(push_decoded),
                                      "the message"};
    return (struct fk_size_limit){1 << 20, NULL, "the message"};
}

// Another content type, with those that are taken.
static int refuse_type(struct fk_api_call *c, struct fk_err *err)
{
    static const char types[] = "application/proto, application/json, application/grpc, "
                                "application/grpc+proto, application/grpc+json, "
                                "application/grpc-web, application/grpc-web+proto, "
                                "application/grpc-web+json";
    c->fail_status = 415;
    if (c->res)
        fk_http_res_set(c->res, "Accept-Post", fk_str_of(types));
    return fk_fail_param(err, "content-type",
                         "the content type '%.*s' is not taken; send application/proto or "
                         "application/json, or gRPC",
                         FK_STR_ARG(fk_str_head(c->content_type, 60)));
}

int fk_call_open(struct fk_api_call *c, struct fk_err *err)
{
    if (!c->http)
        return 0; // in this process: the body is the message
    fk_rpc_open(c->http, &c->rpc);
    c->n_query = 0; // a message has all there is to say
    if (c->rpc.codec == FK_RPC_OTHER)
        return refuse_type(c, err);
    struct fk_size_limit limit = limit_of(c);
    int r = fk_rpc_request(&c->rpc, c->http, &limit, c->arena, &c->request, err);
    if (r == -FK_E_UNSUPPORTED)
        c->fail_code = FK_RPC_UNIMPLEMENTED;
    if (c->rpc.protocol != FK_RPC_PLAIN) // how handlers read and write it
        c->content_type =
            c->rpc.codec == FK_RPC_JSON ? FK_S("application/json") : FK_S("application/proto");
    return r;
}

bool fk_call_failure(const struct fk_api_call *c, struct fk_rpc_failure *ret)
{
    *ret = (struct fk_rpc_failure){.code = c->fail_code ? (enum fk_rpc_code)c->fail_code
                                                        : fk_rpc_code_of(c->status),
                                   .err = &c->failure,
                                   .retry_ns = fk_rpc_retry_of(c->status)};
    return c->failure.code != 0;
}

void fk_call_reply(struct fk_api_call *c, struct fk_http_res *res)
{
    struct fk_rpc_failure f;
    if (!fk_rpc_enveloped(&c->rpc))
        fk_http_res_take(res, &c->body);
    else if (fk_call_failure(c, &f))
        fk_rpc_fail(&c->rpc, res, &f);
    else
        fk_rpc_reply(&c->rpc, res, &c->body);
}

// What looks like a method and is none here is said so in the caller's protocol.
void fk_api_http_error(struct fk_http_res *res, int status, const struct fk_err *err)
{
    struct fk_http_req *req = fk_http_res_req(res);
    struct fk_rpc rpc;
    struct fk_err none;
    fk_rpc_open(req, &rpc);
    if (rpc.protocol == FK_RPC_PLAIN || !fk_api_is_method(req->path)) {
        fk_http_problem(res, status, err);
        return;
    }
    struct fk_rpc_failure f = {fk_rpc_code_of(status), status, err, 0};
    if (status == 404 || status == 405) {
        fk_fail(&none, FK_E_NOTFOUND, "there is no method %.*s here",
                FK_STR_ARG(fk_str_head(req->path, 120)));
        f = (struct fk_rpc_failure){FK_RPC_UNIMPLEMENTED, 404, &none, 0};
    }
    fk_rpc_fail(&rpc, res, &f);
}
