// SPDX-License-Identifier: Apache-2.0
// Messages out of requests: envelopes, compression, the query of a GET.
#include "rpc/rpc_int.h"

static int check_coding(struct fk_str coding, bool *ret_gzip, struct fk_err *err)
{
    *ret_gzip = fk_str_eq(coding, FK_S("gzip"));
    if (*ret_gzip || coding.n == 0 || fk_str_eq(coding, FK_S("identity")))
        return 0;
    return fk_fail(err, FK_E_UNSUPPORTED,
                   "messages compressed as '%.*s' are not taken: use gzip or identity",
                   FK_STR_ARG(fk_str_head(coding, 40)));
}

static int inflate(struct fk_str in, const struct fk_size_limit *limit, struct fk_arena *a,
                   struct fk_str *ret, struct fk_err *err)
{
    struct fk_inflated out;
    if (in.n == 0) { // some senders flag an empty message as compressed
        *ret = in;
        return 0;
    }
    if (fk_zip_detect((const uint8_t *)in.p, in.n) != FK_ZIP_GZIP)
        return fk_fail(err, FK_E_FORMAT, "a message is said to be compressed and is no gzip");
    int rc = fk_inflate((const uint8_t *)in.p, in.n, limit, a, &out, err);
    if (rc == 0)
        *ret = out.bytes;
    return rc;
}

static int too_large(const struct fk_size_limit *limit, struct fk_err *err)
{
    return fk_fail_limit(err, "message", limit->bytes, limit->flag,
                         "the message is too large; send less at once or raise the limit");
}

int fk_rpc_envelope(const struct fk_rpc *rpc, struct fk_str *in, const struct fk_size_limit *limit,
                    struct fk_arena *a, struct fk_str *ret, struct fk_err *err)
{
    const uint8_t *p = (const uint8_t *)in->p;
    bool gzip = false;
    if (in->n < FK_RPC_HEAD)
        return 0;
    uint32_t n = (uint32_t)p[1] << 24 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 8 | p[4];
    if (p[0] > 1)
        return fk_fail(err, FK_E_FORMAT, "an envelope has the unknown flags 0x%02x", p[0]);
    if (limit->bytes && n > limit->bytes)
        return too_large(limit, err);
    if (n > in->n - FK_RPC_HEAD)
        return 0;
    struct fk_str message = {in->p + FK_RPC_HEAD, n};
    int rc = p[0] ? check_coding(rpc->coding, &gzip, err) : 0;
    if (rc == 0 && p[0] && !gzip)
        rc = fk_fail(err, FK_E_FORMAT,
                     "a message is flagged as compressed, but no field says how (grpc-encoding)");
    if (rc == 0 && p[0])
        rc = inflate(message, limit, a, &message, err);
    if (rc)
        return rc;
    *in = fk_str_from(*in, FK_RPC_HEAD + n);
    *ret = message;
    return 1;
}

static int only_envelope(const struct fk_rpc *rpc, struct fk_str body,
                         const struct fk_size_limit *limit, struct fk_arena *a, struct fk_str *ret,
                         struct fk_err *err)
{
    struct fk_str message;
    int rc = fk_rpc_envelope(rpc, &body, limit, a, &message, err);
    if (rc < 0)
        return rc;
    if (rc == 0)
        return fk_fail(err, FK_E_FORMAT, "the call carries no whole message: %zu bytes of body",
                       body.n);
    if (body.n)
        return fk_fail(err, FK_E_FORMAT, "the call carries more than one message");
    *ret = message;
    return 0;
}

static int of_query(const struct fk_rpc *rpc, struct fk_http_req *req,
                    const struct fk_size_limit *limit, struct fk_arena *a, struct fk_str *ret,
                    struct fk_err *err)
{
    const struct fk_http_pair *q;
    size_t n;
    bool gzip;
    int rc = fk_http_req_query(req, &q, &n, err);
    if (rc)
        return rc;
    const struct fk_http_pair *message = fk_http_pair_find(q, n, "message"),
                              *base64 = fk_http_pair_find(q, n, "base64");
    if (!message)
        return fk_fail_param(err, "message", "the parameter message is missing");
    struct fk_str bytes = message->value;
    if (base64 && fk_str_eq(base64->value, FK_S("1")) && (rc = fk_base64_decode(bytes, a, &bytes)))
        return rc == -FK_E_NOMEM ? fk_fail_nomem(err)
                                 : fk_fail_param(err, "message", "message is no base64");
    if ((rc = check_coding(rpc->coding, &gzip, err)) ||
        (gzip && (rc = inflate(bytes, limit, a, &bytes, err))))
        return rc;
    *ret = bytes;
    return 0;
}

static int check_version(const struct fk_http_req *req, struct fk_err *err)
{
    struct fk_str v = fk_http_req_field(req, "Connect-Protocol-Version");
    if (!v.p || fk_str_eq(v, FK_S("1")))
        return 0;
    return fk_fail_param(err, "connect-protocol-version",
                         "connect-protocol-version is 1, not '%.*s'",
                         FK_STR_ARG(fk_str_head(v, 20)));
}

int fk_rpc_request(const struct fk_rpc *rpc, struct fk_http_req *req,
                   const struct fk_size_limit *limit, struct fk_arena *a, struct fk_str *ret,
                   struct fk_err *err)
{
    int rc;
    switch (rpc->protocol) {
    case FK_RPC_CONNECT:
        if ((rc = check_version(req, err)))
            return rc;
        if (rpc->by_get)
            return of_query(rpc, req, limit, a, ret, err);
        break;
    case FK_RPC_GRPC:
    case FK_RPC_GRPC_WEB:
        return only_envelope(rpc, req->body, limit, a, ret, err);
    case FK_RPC_CONNECT_STREAM:
        return fk_fail(err, FK_E_UNSUPPORTED,
                       "this method has one question and one answer: call it as unary Connect "
                       "(application/proto) or gRPC");
    case FK_RPC_PLAIN:
        break;
    }
    *ret = req->body;
    return 0;
}
