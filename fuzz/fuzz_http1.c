// SPDX-License-Identifier: Apache-2.0
// HTTP/1 header and body framing, of requests and of answers. The first byte chooses how the input
// is cut into reads; the result must not depend on it.
#include "fuzz.h"
#include "http/client_int.h"

struct outcome {
    int status;     // of the header
    int body;       // of the framing
    uint64_t bytes; // of the body
    uint64_t sum;   // of its bytes
    size_t used;    // of the input
    bool over;
};

static void feed_body(struct fk_http_ex *ex, const uint8_t *p, size_t n, size_t piece,
                      struct outcome *o)
{
    struct fk_http_body b;
    struct fk_err err;
    uint64_t length = ex->content_length > 0 ? (uint64_t)ex->content_length : 0;
    fk_http_body_start(&b, ex->chunked ? FK_HTTP_CHUNKED : FK_HTTP_BY_LENGTH, length, 4096);
    for (size_t at = 0; at < n && !b.over && o->body == 0;) {
        size_t used = 0, k = FK_MIN(piece, n - at);
        struct fk_str data;
        o->body = fk_http_body_next(&b, p + at, k, &used, &data, &err);
        if (o->body)
            break;
        FK_FUZZ_CHECK(used > 0 && used <= k && data.n <= used);
        for (size_t i = 0; i < data.n; i++)
            o->sum = o->sum * 31 + (uint8_t)data.p[i];
        o->bytes += data.n;
        o->used += used;
        at += used;
    }
    o->over = b.over;
}

static struct outcome run(const uint8_t *p, size_t n, size_t piece)
{
    struct outcome o = {0};
    struct fk_http_limits limits = fk_http_limits_default();
    struct fk_http_scan scan = {0};
    struct fk_http_ex *ex = calloc(1, sizeof(*ex));
    struct fk_err err;
    limits.head_bytes = 8192;
    limits.target = 2048;
    limits.fields = 50;
    fk_arena_init(&ex->arena, (size_t)1 << 20);
    fk_buf_init(&ex->head, 0);
    ex->req.arena = &ex->arena;
    while (o.used < n && !scan.over && !o.status) {
        size_t used = 0;
        o.status =
            fk_http_scan_feed(&scan, p + o.used, FK_MIN(piece, n - o.used), &limits, &used, &err);
        fk_buf_put(&ex->head, p + o.used, used);
        o.used += used;
    }
    if (scan.over && !o.status) {
        o.status = fk_http_head_parse(ex, &limits, &err);
        if (!o.status) {
            const struct fk_http_pair *q;
            size_t q_n;
            FK_FUZZ_CHECK(ex->req.path.n > 0 && ex->req.version >= 10 && ex->req.version <= 11);
            (void)fk_http_form_parse(ex->req.query, 100, &ex->arena, &q, &q_n, &err);
            feed_body(ex, p + o.used, n - o.used, piece, &o);
        }
    }
    fk_arena_free(&ex->arena);
    fk_buf_free(&ex->head);
    free(ex);
    return o;
}

static void run_reply(const uint8_t *p, size_t n)
{
    struct fk_http_reply r = {0};
    enum fk_http_framing framing;
    uint64_t length;
    bool keep;
    struct fk_err err;
    fk_buf_init(&r.head, 0);
    fk_buf_put(&r.head, p, n);
    if (n && fk_http_reply_parse(&r, &framing, &length, &keep, &err) == 0)
        for (size_t i = 0; i < r.fields_n; i++)
            FK_FUZZ_CHECK(r.fields[i].name.n > 0);
    fk_http_reply_free(&r);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 1)
        return 0;
    size_t piece = data[0] ? data[0] : 1;
    struct outcome whole = run(data + 1, size - 1, size), cut = run(data + 1, size - 1, piece);
    // A broken body may be noticed before or after good bytes of the same read.
    FK_FUZZ_CHECK(whole.status == cut.status && whole.body == cut.body && whole.over == cut.over);
    if (whole.body == 0)
        FK_FUZZ_CHECK(whole.bytes == cut.bytes && whole.sum == cut.sum && whole.used == cut.used);
    run_reply(data + 1, size - 1);
    return 0;
}
