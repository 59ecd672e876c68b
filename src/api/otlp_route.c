// SPDX-License-Identifier: Apache-2.0
// OpenTelemetry's ProfilesService/Export: fk_otlp_export is the service (a message in, a message
// out, whatever carried them), the rest is OTLP over HTTP around it
// (opentelemetry.io/docs/specs/otlp, "OTLP/HTTP"). A profile that is refused does not keep the
// others from being stored: the answer then has partial_success.
#include "api/rejects_int.h"
#include "api/seen_int.h"
#include "rpc/rpc.h"

#include <stdio.h>

// ---- messages ----

struct partial {
    int64_t rejected_profiles;
    struct fk_str error_message;
};
struct response {
    struct fk_list partial_success; // 0 or 1
};
struct status {
    int64_t code;
    struct fk_str message;
};

static const struct fk_field partial_fields[] = {
    {1, FK_FIELD_I64, false, offsetof(struct partial, rejected_profiles), "rejected_profiles",
     "rejectedProfiles", NULL, NULL, false},
    {2, FK_FIELD_STR, false, offsetof(struct partial, error_message), "error_message",
     "errorMessage", NULL, NULL, false},
};
static const struct fk_msg_type partial_type = {"ExportProfilesPartialSuccess", partial_fields,
                                                FK_COUNTOF(partial_fields), sizeof(struct partial)};
static const struct fk_field status_fields[] = {
    {1, FK_FIELD_I32, false, offsetof(struct status, code), "code", "code", NULL, NULL, false},
    {2, FK_FIELD_STR, false, offsetof(struct status, message), "message", "message", NULL, NULL,
     false},
};
static const struct fk_msg_type status_type = {"Status", status_fields, FK_COUNTOF(status_fields),
                                               sizeof(struct status)};

static void put_json(const struct fk_msg_type *type, const void *msg, const char *within,
                     struct fk_buf *to)
{
    struct fk_json w;
    fk_json_init(&w, fk_out_buf(to), false);
    if (within) {
        fk_json_object(&w);
        fk_json_key(&w, fk_str_of(within));
    }
    fk_msg_encode_json(type, msg, &w);
    if (within)
        fk_json_object_end(&w);
    if (fk_json_finish(&w, NULL) && !to->failed)
        to->failed = FK_E_NOMEM;
}

// An answer without partial_success is an empty message.
static void put_response(const struct partial *p, bool json, struct fk_buf *to)
{
    bool empty = p->rejected_profiles == 0 && p->error_message.n == 0;
    if (json && empty) {
        fk_buf_cstr(to, "{}");
    } else if (json) {
        put_json(&partial_type, p, "partialSuccess", to);
    } else if (!empty) {
        size_t mark = fk_pb_begin(to, 1);
        fk_msg_encode(&partial_type, p, to);
        fk_pb_end(to, mark);
    }
}

// ---- errors: google.rpc.Status in the encoding of the request ----

static int64_t grpc_code(int status)
{
    static const int codes[][2] = {{400, 3}, {401, 16}, {403, 7}, {404, 5}, {405, 12},
                                   {408, 4}, {413, 3},  {415, 3}, {422, 3}, {429, 8},
                                   {499, 1}, {503, 14}, {504, 4}};
    for (size_t i = 0; i < FK_COUNTOF(codes); i++)
        if (codes[i][0] == status)
            return codes[i][1];
    return 13;
}

static const char *put_status(bool json, int status, const struct fk_err *err, struct fk_buf *to)
{
    struct status s = {grpc_code(status), fk_str_of(err->msg)};
    if (json)
        put_json(&status_type, &s, NULL, to);
    else
        fk_msg_encode(&status_type, &s, to);
    return json ? "application/json" : "application/x-protobuf";
}

void fk_otlp_error(struct fk_api_call *c, int status, const struct fk_err *err)
{
    bool json = fk_rpc_codec_of(c->content_type) == FK_RPC_JSON;
    c->type = put_status(json, status, err, &c->body);
}

void fk_otlp_http_error(struct fk_http_res *res, int status, const struct fk_err *err)
{
    FK_AUTO_BUF b;
    struct fk_http_req *req = fk_http_res_req(res);
    struct fk_str type = fk_http_req_field(req, "Content-Type");
    struct fk_rpc rpc;
    fk_buf_init(&b, 0);
    fk_rpc_open(req, &rpc);
    if (!fk_api_answers_otlp(req->route->extra, &rpc)) {
        fk_rpc_http_error(res, status, err);
        return;
    }
    fk_http_res_status(res, status);
    fk_http_res_type(res, put_status(fk_rpc_codec_of(type) == FK_RPC_JSON, status, err, &b));
    fk_http_res_take(res, &b);
}

// ---- the service ----

// What was dropped, and what was not certain, in one line.
static struct fk_str explain(struct fk_api_call *c, const struct fk_store_ask *ask,
                             const struct fk_receipt *r)
{
    FK_AUTO_BUF b;
    fk_buf_init(&b, 8000); // more than all reasons take
    if (ask->refused)
        fk_buf_printf(&b, "%s", ask->first_refusal.msg);
    for (uint32_t i = 0; i < r->report.n; i++) {
        const struct fk_report_item *x = &r->report.item[i];
        if (!x->dropped && !fk_str_starts(fk_str_of(x->reason), FK_S("OTLP revision")))
            continue;
        fk_buf_printf(&b, "%s%s (%llu)%s%s", b.n ? "; " : "", x->reason,
                      (unsigned long long)x->count, x->detail[0] ? ": " : "", x->detail);
    }
    struct fk_str text = b.failed ? FK_S("") : fk_arena_str(c->arena, fk_buf_view(&b));
    return text.p ? text : FK_S("");
}

static void put_receipt(struct fk_api_call *c, const struct fk_store_ask *ask,
                        const struct fk_receipt *r)
{
    FK_AUTO_BUF b;
    fk_buf_init(&b, 4000);
    fk_buf_printf(
        &b, "{\"stored\":%zu,\"repeated\":%llu,\"refused\":%llu,\"dropped\":%llu,\"ids\":[",
        r->n - (size_t)ask->repeated, (unsigned long long)ask->repeated,
        (unsigned long long)ask->refused, (unsigned long long)fk_report_dropped(&r->report));
    for (size_t i = 0; i < r->n && i < 64; i++) {
        char id[FK_ID_CHARS + 1];
        fk_id_format(r->v[i].id, id);
        fk_buf_printf(&b, "%s\"%s\"", i ? "," : "", id);
    }
    fk_buf_cstr(&b, "]}");
    if (!b.failed)
        c->receipt = fk_arena_str(c->arena, fk_buf_view(&b));
}

int fk_otlp_export(struct fk_api_call *c, struct fk_str message, bool json, struct fk_buf *to,
                   struct fk_err *err)
{
    struct fk_receipt receipt = {0};
    struct fk_label agent = {FK_S("user_agent"), fk_str_head(c->user_agent, 200)};
    struct fk_seen_key seen = {
        fk_hash_u64(fk_hash_str(c->tenant) * 31 + message.n),
        fk_hash_str(message) ^ fk_hash_u64(message.n),
    };
    struct fk_store_ask ask = {.format = FK_FORMAT_OTLP,
                               .decode = fk_decode_opts_push(&c->api->opts.limits),
                               .one_by_one = true,
                               .seen = &seen};
    ask.decode.is_delta = true;
    ask.accept.push = true;
    ask.accept.annotation = &agent;
    ask.accept.n_annotations = agent.value.n ? 1 : 0;
    int r = fk_call_store(c, message, &ask, &receipt, err);
    if (r)
        return r;
    put_receipt(c, &ask, &receipt);
    if (ask.refused && receipt.n == 0 && ask.repeated == 0) {
        *err = ask.first_refusal;
        return -err->code;
    }
    if (ask.refused)
        fk_rejects_note(c, &ask.first_refusal, ask.refused);
    struct partial p = {(int64_t)ask.refused, explain(c, &ask, &receipt)};
    put_response(&p, json, to);
    return 0;
}

// ---- over HTTP ----

int fk_api_otlp(struct fk_api_call *c, struct fk_err *err)
{
    enum fk_rpc_codec codec = fk_rpc_codec_of(c->content_type);
    if (codec == FK_RPC_OTHER) {
        c->fail_status = 415;
        return fk_fail_param(err, "content-type",
                             "the content type '%.*s' is not known here; send "
                             "application/x-protobuf or application/json",
                             FK_STR_ARG(fk_str_head(c->content_type, 60)));
    }
    bool json = codec == FK_RPC_JSON;
    int r = fk_otlp_export(c, c->request, json, &c->body, err);
    c->type = json ? "application/json" : "application/x-protobuf";
    return r;
}
