// SPDX-License-Identifier: Apache-2.0
// How a request is framed: protocol, codec, compression, deadline.
#include "rpc/rpc.h"

static const struct {
    const char *type;
    enum fk_rpc_protocol protocol;
    enum fk_rpc_codec codec;
} types[] = {
    {"application/proto", FK_RPC_CONNECT, FK_RPC_PROTO},
    {"application/json", FK_RPC_CONNECT, FK_RPC_JSON},
    {"application/grpc", FK_RPC_GRPC, FK_RPC_PROTO},
    {"application/grpc+proto", FK_RPC_GRPC, FK_RPC_PROTO},
    {"application/grpc+json", FK_RPC_GRPC, FK_RPC_JSON},
    {"application/grpc-web", FK_RPC_GRPC_WEB, FK_RPC_PROTO},
    {"application/grpc-web+proto", FK_RPC_GRPC_WEB, FK_RPC_PROTO},
    {"application/grpc-web+json", FK_RPC_GRPC_WEB, FK_RPC_JSON},
    {"application/connect+proto", FK_RPC_CONNECT_STREAM, FK_RPC_PROTO},
    {"application/connect+json", FK_RPC_CONNECT_STREAM, FK_RPC_JSON},
    {"application/x-protobuf", FK_RPC_PLAIN, FK_RPC_PROTO},
    {"application/protobuf", FK_RPC_PLAIN, FK_RPC_PROTO},
};

enum fk_rpc_codec fk_rpc_codec_of(struct fk_str content_type)
{
    for (size_t i = 0; i < FK_COUNTOF(types); i++)
        if ((types[i].protocol == FK_RPC_PLAIN || types[i].protocol == FK_RPC_CONNECT) &&
            fk_http_media_is(content_type, types[i].type))
            return types[i].codec;
    return FK_RPC_OTHER;
}

bool fk_rpc_enveloped(const struct fk_rpc *rpc)
{
    return rpc->protocol == FK_RPC_GRPC || rpc->protocol == FK_RPC_GRPC_WEB ||
           rpc->protocol == FK_RPC_CONNECT_STREAM;
}

// A GET says in its query what a POST says in its fields.
static void open_get(struct fk_http_req *req, struct fk_rpc *ret)
{
    const struct fk_http_pair *q;
    size_t n;
    if (fk_http_req_query(req, &q, &n, NULL))
        return;
    const struct fk_http_pair *encoding = fk_http_pair_find(q, n, "encoding"),
                              *coding = fk_http_pair_find(q, n, "compression");
    if (!encoding)
        return;
    bool json = fk_str_eq(encoding->value, FK_S("json"));
    if (!json && !fk_str_eq(encoding->value, FK_S("proto")))
        return;
    ret->by_get = true;
    ret->protocol = FK_RPC_CONNECT;
    ret->codec = json ? FK_RPC_JSON : FK_RPC_PROTO;
    ret->type = json ? "application/json" : "application/proto";
    ret->coding = coding ? coding->value : FK_S("");
}

void fk_rpc_open(struct fk_http_req *req, struct fk_rpc *ret)
{
    struct fk_str type = fk_http_req_field(req, "Content-Type");
    *ret = (struct fk_rpc){FK_RPC_PLAIN, FK_RPC_OTHER, false, false, FK_S(""), "application/json"};
    if (!fk_str_eq(req->method, FK_S("POST"))) {
        open_get(req, ret);
        return;
    }
    for (size_t i = 0; i < FK_COUNTOF(types); i++)
        if (fk_http_media_is(type, types[i].type)) {
            ret->protocol = types[i].protocol;
            ret->codec = types[i].codec;
            ret->type = types[i].type;
        }
    // Unary Connect compresses as HTTP does, which is undone and done below this room.
    if (!fk_rpc_enveloped(ret))
        return;
    bool connect = ret->protocol == FK_RPC_CONNECT_STREAM;
    struct fk_str coding =
        fk_http_req_field(req, connect ? "Connect-Content-Encoding" : "Grpc-Encoding");
    struct fk_str accept =
        fk_http_req_field(req, connect ? "Connect-Accept-Encoding" : "Grpc-Accept-Encoding");
    ret->coding = coding.p ? coding : FK_S("");
    ret->gzip = accept.p && fk_http_accept_coding(accept, "gzip") > 0;
}

// ---- deadlines ----

// Digits, at most `most`, and what follows them.
static bool number(struct fk_str s, size_t most, uint64_t *ret, struct fk_str *rest)
{
    size_t n = 0;
    while (n < s.n && s.p[n] >= '0' && s.p[n] <= '9')
        n++;
    *rest = fk_str_from(s, n);
    return n > 0 && n <= most && fk_str_to_u64(fk_str_head(s, n), ret) == 0;
}

static int64_t times(uint64_t n, int64_t unit)
{
    return n > (uint64_t)(INT64_MAX / 4 / unit) ? INT64_MAX / 4 : (int64_t)n * unit;
}

static int64_t unit_ns(char c)
{
    switch (c) {
    case 'H':
        return 3600 * FK_NS_PER_S;
    case 'M':
        return 60 * FK_NS_PER_S;
    case 'S':
        return FK_NS_PER_S;
    case 'm':
        return FK_NS_PER_MS;
    case 'u':
        return 1000;
    case 'n':
        return 1;
    default:
        return 0;
    }
}

// What makes no sense is no deadline. One that is over already is the shortest.
int64_t fk_rpc_timeout(const struct fk_http_req *req)
{
    struct fk_str grpc = fk_http_req_field(req, "Grpc-Timeout"), rest;
    struct fk_str connect = fk_http_req_field(req, "Connect-Timeout-Ms");
    uint64_t n = 0;
    int64_t unit = 0;
    if (grpc.p && number(grpc, 8, &n, &rest) && rest.n == 1)
        unit = unit_ns(rest.p[0]);
    else if (connect.p && number(connect, 10, &n, &rest) && rest.n == 0)
        unit = FK_NS_PER_MS;
    return unit ? FK_MAX(times(n, unit), (int64_t)1) : 0;
}
