// SPDX-License-Identifier: Apache-2.0
// Answers: one message and the outcome, as each protocol frames them.
#include "rpc/rpc_int.h"

#include <stdio.h>

#define GZIP_FROM 1400 // shorter messages save no packet

// ---- gRPC's fields ----

// Everything but printable ASCII, and the percent sign, as %XX (PROTOCOL-HTTP2.md, "Status").
static void put_message(struct fk_str s, struct fk_buf *to)
{
    for (size_t i = 0; i < s.n; i++) {
        uint8_t c = (uint8_t)s.p[i];
        if (c < 0x20 || c > 0x7e || c == '%')
            fk_buf_printf(to, "%%%02X", c);
        else
            fk_buf_byte(to, c);
    }
}

typedef int put_field(struct fk_http_res *res, const char *name, struct fk_str value);

static void put_grpc(struct fk_http_res *res, put_field *put, const struct fk_rpc_failure *f)
{
    FK_AUTO_BUF text;
    FK_AUTO_BUF status;
    FK_AUTO_BUF base64;
    char code[16];
    fk_buf_init(&text, 0);
    fk_buf_init(&status, 0);
    fk_buf_init(&base64, 0);
    int n = snprintf(code, sizeof(code), "%d", f ? (int)f->code : 0);
    put(res, "grpc-status", (struct fk_str){code, (size_t)n});
    if (!f)
        return;
    put_message(fk_str_of(f->err->msg), &text);
    fk_rpc_put_status(f, &status);
    fk_base64_put(&base64, fk_buf_view(&status));
    if (!text.failed)
        put(res, "grpc-message", fk_buf_view(&text));
    if (!status.failed && !base64.failed)
        put(res, "grpc-status-details-bin", fk_buf_view(&base64));
}

// Trailers as the last message of gRPC-Web: fields as in an HTTP/1 header.
static void write_web_trailers(const struct fk_rpc *rpc, struct fk_http_res *res,
                               const struct fk_rpc_failure *f)
{
    FK_AUTO_BUF b;
    fk_buf_init(&b, 0);
    fk_buf_printf(&b, "grpc-status: %d\r\n", f ? (int)f->code : 0);
    if (f) {
        fk_buf_cstr(&b, "grpc-message: ");
        put_message(fk_str_of(f->err->msg), &b);
        fk_buf_cstr(&b, "\r\n");
    }
    if (b.failed)
        fk_http_res_abort(res);
    else
        fk_rpc_write(rpc, res, FK_RPC_TRAILERS, fk_buf_view(&b), NULL);
}

// ---- envelopes ----

void fk_rpc_begin(const struct fk_rpc *rpc, struct fk_http_res *res)
{
    bool connect = rpc->protocol == FK_RPC_CONNECT_STREAM;
    fk_http_res_status(res, 200);
    fk_http_res_type(res, rpc->type);
    fk_http_res_set(res, connect ? "connect-accept-encoding" : "grpc-accept-encoding",
                    FK_S("identity,gzip"));
    if (rpc->gzip)
        fk_http_res_set(res, connect ? "connect-content-encoding" : "grpc-encoding", FK_S("gzip"));
}

int fk_rpc_write(const struct fk_rpc *rpc, struct fk_http_res *res, uint8_t flags,
                 struct fk_str bytes, struct fk_err *err)
{
    FK_AUTO_BUF z;
    fk_buf_init(&z, 0);
    if (rpc->gzip && bytes.n >= GZIP_FROM && fk_gzip(bytes.p, bytes.n, 1, &z, NULL) == 0 &&
        z.n < bytes.n) {
        bytes = fk_buf_view(&z);
        flags |= FK_RPC_COMPRESSED;
    }
    if (bytes.n > UINT32_MAX)
        return fk_fail(err, FK_E_LIMIT, "the answer is longer than an envelope can say");
    uint32_t n = (uint32_t)bytes.n;
    uint8_t head[FK_RPC_HEAD] = {flags, (uint8_t)(n >> 24), (uint8_t)(n >> 16), (uint8_t)(n >> 8),
                                 (uint8_t)n};
    int rc = fk_http_res_write(res, head, sizeof(head), err);
    return rc ? rc : fk_http_res_write(res, bytes.p, bytes.n, err);
}

void fk_rpc_outcome(const struct fk_rpc *rpc, struct fk_http_res *res,
                    const struct fk_rpc_failure *f)
{
    FK_AUTO_BUF b;
    fk_buf_init(&b, 0);
    switch (rpc->protocol) {
    case FK_RPC_GRPC:
        put_grpc(res, fk_http_res_trailer, f);
        break;
    case FK_RPC_GRPC_WEB:
        write_web_trailers(rpc, res, f);
        break;
    case FK_RPC_CONNECT_STREAM:
        fk_rpc_put_end(f, &b);
        if (b.failed)
            fk_http_res_abort(res);
        else
            fk_rpc_write(rpc, res, FK_RPC_END_CONNECT, fk_buf_view(&b), NULL);
        break;
    case FK_RPC_CONNECT:
    case FK_RPC_PLAIN:
        break;
    }
}

// ---- whole answers ----

void fk_rpc_reply(const struct fk_rpc *rpc, struct fk_http_res *res, struct fk_buf *message)
{
    struct fk_err err;
    if (rpc->protocol != FK_RPC_GRPC && rpc->protocol != FK_RPC_GRPC_WEB) {
        fk_http_res_take(res, message);
        return;
    }
    fk_rpc_begin(rpc, res);
    if (message->failed || fk_rpc_write(rpc, res, 0, fk_buf_view(message), &err))
        fk_http_res_abort(res);
    else
        fk_rpc_outcome(rpc, res, NULL);
    fk_buf_free(message);
}

void fk_rpc_set_retry(struct fk_http_res *res, int64_t retry_ns)
{
    char text[24];
    if (retry_ns <= 0)
        return;
    int n = snprintf(text, sizeof(text), "%lld",
                     (long long)((retry_ns + FK_NS_PER_S - 1) / FK_NS_PER_S));
    fk_http_res_set(res, "Retry-After", (struct fk_str){text, (size_t)n});
}

// An answer without messages: gRPC's outcome stands in the header.
void fk_rpc_fail(const struct fk_rpc *rpc, struct fk_http_res *res, const struct fk_rpc_failure *f)
{
    FK_AUTO_BUF b;
    fk_buf_init(&b, 0);
    switch (rpc->protocol) {
    case FK_RPC_GRPC:
    case FK_RPC_GRPC_WEB:
        fk_http_res_status(res, 200);
        fk_http_res_type(res, rpc->type);
        put_grpc(res, fk_http_res_set, f);
        return;
    case FK_RPC_CONNECT_STREAM:
        fk_rpc_begin(rpc, res);
        fk_rpc_outcome(rpc, res, f);
        return;
    case FK_RPC_CONNECT:
    case FK_RPC_PLAIN:
        break;
    }
    fk_http_res_status(res, f->status ? f->status : fk_rpc_code_status(f->code));
    fk_http_res_type(res, "application/json");
    fk_rpc_set_retry(res, f->retry_ns);
    fk_rpc_put_error(f, &b);
    fk_http_res_take(res, &b);
}

void fk_rpc_http_error(struct fk_http_res *res, int status, const struct fk_err *err)
{
    struct fk_rpc rpc;
    struct fk_rpc_failure f = {fk_rpc_code_of(status), status, err, fk_rpc_retry_of(status)};
    fk_rpc_open(fk_http_res_req(res), &rpc);
    fk_rpc_fail(&rpc, res, &f);
}
