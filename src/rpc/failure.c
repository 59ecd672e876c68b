// SPDX-License-Identifier: Apache-2.0
// What a failure carries: Connect's JSON object and gRPC's google.rpc.Status with the same details.
// Sources: connectrpc.com/docs/protocol, "Error end-stream"; googleapis google/rpc/status.proto and
// error_details.proto.
#include "rpc/rpc_int.h"

#include <stdio.h>

#define DETAILS 3

struct detail {
    const char *type; // without the prefix of type URLs
    struct fk_buf bytes;
};

// field_violations = 1 {field = 1, description = 2}
static void put_bad_request(const struct fk_err *err, struct fk_buf *to)
{
    size_t mark = fk_pb_begin(to, 1);
    fk_pb_bytes(to, 1, fk_str_of(err->param));
    fk_pb_bytes(to, 2, fk_str_of(err->msg));
    fk_pb_end(to, mark);
}

// retry_delay = 1, a Duration {seconds = 1, nanos = 2}
static void put_retry_info(int64_t ns, struct fk_buf *to)
{
    size_t mark = fk_pb_begin(to, 1);
    fk_pb_u64_nz(to, 1, (uint64_t)(ns / FK_NS_PER_S));
    fk_pb_u64_nz(to, 2, (uint64_t)(ns % FK_NS_PER_S));
    fk_pb_end(to, mark);
}

static void put_entry(struct fk_buf *to, const char *key, struct fk_str value)
{
    size_t mark = fk_pb_begin(to, 3);
    fk_pb_bytes(to, 1, fk_str_of(key));
    fk_pb_bytes(to, 2, value);
    fk_pb_end(to, mark);
}

// reason = 1, domain = 2, metadata = 3
static void put_error_info(const struct fk_err *err, struct fk_buf *to)
{
    char text[24];
    fk_pb_bytes(to, 1, FK_S("LIMIT"));
    fk_pb_bytes(to, 2, FK_S("flamekeep"));
    int n = snprintf(text, sizeof(text), "%llu", (unsigned long long)err->limit);
    put_entry(to, "limit", (struct fk_str){text, (size_t)n});
    if (err->flag[0])
        put_entry(to, "flag", fk_str_of(err->flag));
}

static size_t make_details(const struct fk_rpc_failure *f, struct detail *d)
{
    size_t n = 0;
    for (size_t i = 0; i < DETAILS; i++)
        fk_buf_init(&d[i].bytes, 0);
    if (f->err->param[0]) {
        d[n].type = "google.rpc.BadRequest";
        put_bad_request(f->err, &d[n++].bytes);
    }
    if (f->retry_ns > 0) {
        d[n].type = "google.rpc.RetryInfo";
        put_retry_info(f->retry_ns, &d[n++].bytes);
    }
    if (f->err->code == FK_E_LIMIT && f->err->limit) {
        d[n].type = "google.rpc.ErrorInfo";
        put_error_info(f->err, &d[n++].bytes);
    }
    return n;
}

static void free_details(struct detail *d)
{
    for (size_t i = 0; i < DETAILS; i++)
        fk_buf_free(&d[i].bytes);
}

static void put_json_detail(struct fk_json *w, const struct detail *d)
{
    FK_AUTO_BUF text;
    fk_buf_init(&text, 0);
    fk_base64_put(&text, fk_buf_view(&d->bytes));
    struct fk_str s = fk_buf_view(&text);
    while (s.n && s.p[s.n - 1] == '=') // Connect leaves the padding out
        s.n--;
    fk_json_object(w);
    fk_json_k(w, "type");
    fk_json_str(w, fk_str_of(d->type));
    fk_json_k(w, "value");
    fk_json_str(w, s);
    fk_json_object_end(w);
}

static void put_error_object(struct fk_json *w, const struct fk_rpc_failure *f)
{
    struct detail d[DETAILS];
    size_t n = make_details(f, d);
    fk_json_object(w);
    fk_json_k(w, "code");
    fk_json_str(w, fk_str_of(fk_rpc_code_name(f->code)));
    fk_json_k(w, "message");
    fk_json_str(w, fk_str_of(f->err->msg));
    if (n) {
        fk_json_k(w, "details");
        fk_json_array(w);
        for (size_t i = 0; i < n; i++)
            put_json_detail(w, &d[i]);
        fk_json_array_end(w);
    }
    fk_json_object_end(w);
    free_details(d);
}

void fk_rpc_put_error(const struct fk_rpc_failure *f, struct fk_buf *to)
{
    struct fk_json w;
    fk_json_init(&w, fk_out_buf(to), false);
    put_error_object(&w, f);
    fk_json_finish(&w, NULL);
}

void fk_rpc_put_end(const struct fk_rpc_failure *f, struct fk_buf *to)
{
    struct fk_json w;
    fk_json_init(&w, fk_out_buf(to), false);
    fk_json_object(&w);
    if (f) {
        fk_json_k(&w, "error");
        put_error_object(&w, f);
    }
    fk_json_object_end(&w);
    fk_json_finish(&w, NULL);
}

void fk_rpc_put_status(const struct fk_rpc_failure *f, struct fk_buf *to)
{
    struct detail d[DETAILS];
    size_t n = make_details(f, d);
    fk_pb_u64_nz(to, 1, (uint64_t)f->code);
    fk_pb_bytes_nz(to, 2, fk_str_of(f->err->msg));
    for (size_t i = 0; i < n; i++) {
        char url[64];
        int k = snprintf(url, sizeof(url), "type.googleapis.com/%s", d[i].type);
        size_t mark = fk_pb_begin(to, 3);
        fk_pb_bytes(to, 1, (struct fk_str){url, (size_t)k});
        fk_pb_bytes(to, 2, fk_buf_view(&d[i].bytes));
        fk_pb_end(to, mark);
    }
    free_details(d);
}
