// SPDX-License-Identifier: Apache-2.0
// Answers, on the handler's side: status, fields, a body at once or streamed, the end.
#include "http/http_int.h"

#include "codec/codec.h"

#include <stdio.h>

void fk_http_res_init(struct fk_http_res *res, struct fk_http_ex *ex)
{
    res->ex = ex;
    res->status = 200;
    res->length = -1;
    fk_buf_init(&res->body, 0);
    fk_mutex_init(&res->lock, FK_HTTP_RANK);
    fk_cond_init(&res->room);
}

void fk_http_res_reset(struct fk_http_res *res)
{
    res->fields.n = res->trailers.n = 0;
    fk_buf_free(&res->body);
    res->borrowed = FK_S("");
    res->broken = 0;
    res->length = -1;
    res->status = 200;
}

void fk_http_res_free(struct fk_http_res *res)
{
    fk_buf_free(&res->body);
    fk_vec_free(&res->fields);
    fk_vec_free(&res->trailers);
    fk_http_segs_free(&res->pending);
    if (res->piece)
        fk_free(res->piece->owned);
    fk_free(res->piece);
    fk_cond_destroy(&res->room);
    fk_mutex_destroy(&res->lock);
}

struct fk_http_req *fk_http_res_req(struct fk_http_res *res)
{
    return &res->ex->req;
}

bool fk_http_res_begun(const struct fk_http_res *res)
{
    return res->begun;
}

int fk_http_res_get_status(const struct fk_http_res *res)
{
    return res->status;
}

void fk_http_res_status(struct fk_http_res *res, int status)
{
    if (!res->begun)
        res->status = status >= 200 && status <= 599 ? status : 500;
}

// --- fields ---
static bool is_token(struct fk_str s)
{
    for (size_t i = 0; i < s.n; i++) {
        unsigned char c = (unsigned char)s.p[i];
        if (c <= ' ' || c >= 0x7f || strchr("()<>@,;:\\\"/[]?={}", c))
            return false;
    }
    return s.n > 0;
}

static bool is_value(struct fk_str s)
{
    for (size_t i = 0; i < s.n; i++)
        if (((unsigned char)s.p[i] < 0x20 && s.p[i] != '\t') || s.p[i] == 0x7f)
            return false;
    return true;
}

static int lost(struct fk_http_res *res, enum fk_error code)
{
    if (!res->broken)
        res->broken = (int)code;
    return -(int)code;
}

static int copy_field(struct fk_http_res *res, const char *name, struct fk_str value,
                      struct fk_http_field *ret)
{
    struct fk_str n = fk_str_of(name);
    if (!is_token(n) || !is_value(value))
        return lost(res, FK_E_INVALID);
    *ret = (struct fk_http_field){fk_arena_str(&res->ex->arena, n),
                                  fk_arena_str(&res->ex->arena, value)};
    return ret->name.p && ret->value.p ? 0 : lost(res, FK_E_NOMEM);
}

int fk_http_res_add(struct fk_http_res *res, const char *name, struct fk_str value)
{
    struct fk_http_field f;
    if (res->begun)
        return -FK_E_INVALID;
    int rc = copy_field(res, name, value, &f);
    if (rc)
        return rc;
    return fk_vec_push(&res->fields, f) ? lost(res, FK_E_NOMEM) : 0;
}

int fk_http_res_set(struct fk_http_res *res, const char *name, struct fk_str value)
{
    struct fk_str want = fk_str_of(name);
    size_t n = 0;
    if (res->begun)
        return -FK_E_INVALID;
    for (size_t i = 0; i < res->fields.n; i++)
        if (!fk_str_eq_nocase(res->fields.v[i].name, want))
            res->fields.v[n++] = res->fields.v[i];
    res->fields.n = n;
    return fk_http_res_add(res, name, value);
}

int fk_http_res_trailer(struct fk_http_res *res, const char *name, struct fk_str value)
{
    struct fk_http_field f;
    int rc = copy_field(res, name, value, &f);
    if (rc)
        return rc;
    return fk_vec_push(&res->trailers, f) ? lost(res, FK_E_NOMEM) : 0;
}

bool fk_http_res_has(const struct fk_http_res *res, const char *name)
{
    for (size_t i = 0; i < res->fields.n; i++)
        if (fk_str_eq_nocase(res->fields.v[i].name, fk_str_of(name)))
            return true;
    return false;
}

// --- whole bodies ---
void fk_http_res_take(struct fk_http_res *res, struct fk_buf *body)
{
    fk_buf_free(&res->body);
    res->borrowed = FK_S("");
    if (body->failed)
        lost(res, (enum fk_error)body->failed);
    res->body = *body;
    fk_buf_init(body, body->max);
}

void fk_http_res_borrow(struct fk_http_res *res, struct fk_str body)
{
    fk_buf_free(&res->body);
    res->borrowed = body;
}

void fk_http_res_copy(struct fk_http_res *res, struct fk_str body)
{
    struct fk_buf b;
    fk_buf_init(&b, 0);
    fk_buf_str(&b, body);
    fk_http_res_take(res, &b);
}

// --- to the loop ---
// Wakes the loop; the lock is held.
static void ring(struct fk_http_res *res)
{
    struct fk_http_ex *ex = res->ex;
    if (res->posted || (fk_http_on_loop(ex->loop) && ex->in_call))
        return;
    res->posted = true;
    fk_loop_post(ex->loop->loop, &ex->wake);
}

static bool bodyless(const struct fk_http_res *res)
{
    return res->status == 204 || res->status == 304;
}

static bool is_head(const struct fk_http_res *res)
{
    return fk_str_eq(res->ex->req.method, FK_S("HEAD"));
}

void fk_http_res_length(struct fk_http_res *res, int64_t length)
{
    if (!res->begun)
        res->length = length;
}

// Fixes how the body will be framed; fields can no longer be set.
static void begin(struct fk_http_res *res)
{
    if (bodyless(res))
        res->framing = FK_HTTP_NO_BODY;
    else if (res->length >= 0)
        res->framing = FK_HTTP_BY_LENGTH;
    else if (res->ex->req.version >= 20)
        res->framing = FK_HTTP_BY_STREAM;
    else
        res->framing = res->ex->req.version == 11 ? FK_HTTP_CHUNKED : FK_HTTP_BY_CLOSE;
    fk_mutex_lock(&res->lock);
    res->begun = true;
    fk_mutex_unlock(&res->lock);
}

// Hands a segment over, waiting while too much is under way. The segment is freed when the client
// is gone.
static int hand_over(struct fk_http_res *res, struct fk_http_seg *seg, bool wait,
                     struct fk_err *err)
{
    uint64_t most = res->ex->loop->server->opts.limits.answer_buffer;
    fk_mutex_lock(&res->lock);
    while (wait && !res->gone && res->waiting && res->waiting + seg->n > most)
        fk_cond_wait(&res->room, &res->lock);
    bool gone = res->gone;
    if (!gone) {
        res->waiting += seg->n;
        fk_http_segs_add(&res->pending, seg);
        ring(res);
    }
    fk_mutex_unlock(&res->lock);
    if (!gone)
        return 0;
    fk_free(seg->owned);
    fk_free(seg);
    return fk_fail(err, FK_E_CANCELLED, "the client is gone");
}

// --- streamed bodies ---
// A piece holds room for its chunk's size line in front and the line end behind.
#define CHUNK_HEAD 10 // "0000abcd\r\n"

static int new_piece(struct fk_http_res *res, struct fk_err *err)
{
    char *p = fk_malloc(CHUNK_HEAD + FK_HTTP_PIECE + 2);
    res->piece = p ? fk_http_seg_new(p, 0, p) : NULL;
    if (!res->piece) {
        fk_free(p);
        lost(res, FK_E_NOMEM);
        return fk_fail_nomem(err);
    }
    res->piece_n = 0;
    return 0;
}

// What a short piece does not need goes back: many of them may wait for a slow client.
static void shrink(struct fk_http_seg *seg, size_t n)
{
    char *p = n < FK_HTTP_PIECE / 2 ? fk_realloc(seg->owned, n) : NULL;
    if (p)
        seg->owned = p;
}

static int send_piece(struct fk_http_res *res, struct fk_err *err)
{
    struct fk_http_seg *seg = res->piece;
    if (!seg || res->piece_n == 0)
        return 0;
    shrink(seg, CHUNK_HEAD + res->piece_n + 2);
    char *p = seg->owned;
    seg->p = p + CHUNK_HEAD;
    seg->n = res->piece_n;
    if (res->framing == FK_HTTP_CHUNKED) {
        char line[CHUNK_HEAD + 1];
        snprintf(line, sizeof(line), "%08x\r\n", (unsigned)res->piece_n);
        memcpy(p, line, CHUNK_HEAD);
        memcpy(p + CHUNK_HEAD + res->piece_n, "\r\n", 2);
        seg->p = p;
        seg->n += CHUNK_HEAD + 2;
    }
    res->piece = NULL;
    res->piece_n = 0;
    return hand_over(res, seg, !fk_http_on_loop(res->ex->loop), err);
}

int fk_http_res_write(struct fk_http_res *res, const void *p, size_t n, struct fk_err *err)
{
    if (!res->begun)
        begin(res);
    if (res->broken)
        return fk_fail(err, (enum fk_error)res->broken, "the answer is broken already");
    int rc = fk_cancel_check(res->ex->req.cancel, err);
    if (rc)
        return rc;
    res->written += n;
    if (is_head(res) || res->framing == FK_HTTP_NO_BODY)
        return 0;
    for (const char *from = p; n > 0;) {
        if (!res->piece && (rc = new_piece(res, err)))
            return rc;
        char *to = res->piece->owned;
        size_t k = FK_MIN(n, FK_HTTP_PIECE - res->piece_n);
        memcpy(to + CHUNK_HEAD + res->piece_n, from, k);
        res->piece_n += k;
        from += k;
        n -= k;
        if (res->piece_n == FK_HTTP_PIECE && (rc = send_piece(res, err)))
            return rc;
    }
    return 0;
}

int fk_http_res_flush(struct fk_http_res *res, struct fk_err *err)
{
    if (!res->begun) {
        begin(res);
        fk_mutex_lock(&res->lock);
        ring(res);
        fk_mutex_unlock(&res->lock);
    }
    return send_piece(res, err);
}

static int write_out(void *arg, const void *p, size_t n, struct fk_err *err)
{
    return fk_http_res_write(arg, p, n, err);
}

struct fk_out fk_http_res_out(struct fk_http_res *res)
{
    return (struct fk_out){write_out, res};
}

void fk_http_res_abort(struct fk_http_res *res)
{
    fk_mutex_lock(&res->lock);
    res->aborted = true;
    ring(res);
    fk_mutex_unlock(&res->lock);
}

// --- the end ---
static bool compressible(struct fk_str type)
{
    static const char *const yes[] = {"application/json", "application/problem+json",
                                      "application/javascript", "image/svg+xml",
                                      "application/vnd.flamekeep.flamegraph+json"};
    if (fk_str_starts(type, FK_S("text/")))
        return true;
    for (size_t i = 0; i < FK_COUNTOF(yes); i++)
        if (fk_http_media_is(type, yes[i]))
            return true;
    return fk_str_ends(type, FK_S("+json"));
}

// Worth a compression: long enough for a packet to be saved. Level 1: the client waits.
static void maybe_gzip(struct fk_http_res *res)
{
    struct fk_buf *b = &res->body, z;
    struct fk_str type = {NULL, 0};
    for (size_t i = 0; i < res->fields.n; i++)
        if (fk_str_eq_nocase(res->fields.v[i].name, FK_S("Content-Type")))
            type = res->fields.v[i].value;
    if (b->n < 1400 || !compressible(type) || fk_http_res_has(res, "Content-Encoding") ||
        fk_http_on_loop(res->ex->loop))
        return;
    fk_http_res_add(res, "Vary", FK_S("Accept-Encoding"));
    struct fk_str accept = fk_http_req_field(&res->ex->req, "Accept-Encoding");
    if (!accept.p || fk_http_accept_coding(accept, "gzip") == 0)
        return;
    fk_buf_init(&z, 0);
    if (fk_gzip(b->p, b->n, 1, &z, NULL) || z.n >= b->n) {
        fk_buf_free(&z);
        return;
    }
    fk_buf_free(b);
    *b = z;
    fk_http_res_set(res, "Content-Encoding", FK_S("gzip"));
}

// One chunk and what ends the body: trailers have no other place in HTTP/1.1.
static int hand_chunk(struct fk_http_res *res, struct fk_http_seg *seg)
{
    char line[24];
    int n = snprintf(line, sizeof(line), "%zx\r\n", seg->n);
    struct fk_http_seg *head = fk_http_seg_copy(fk_str_make(line, (size_t)n));
    struct fk_http_seg *end = fk_http_seg_copy(FK_S("\r\n"));
    if (!head || !end) {
        fk_free(head);
        fk_free(end);
        fk_free(seg->owned);
        fk_free(seg);
        return -FK_E_NOMEM;
    }
    int rc = hand_over(res, head, false, NULL);
    if (!rc)
        rc = hand_over(res, seg, false, NULL);
    return rc ? rc : hand_over(res, end, false, NULL);
}

static void put_fields(struct fk_buf *b, const struct fk_http_field *f, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        fk_buf_str(b, f[i].name);
        fk_buf_cstr(b, ": ");
        fk_buf_str(b, f[i].value);
        fk_buf_cstr(b, "\r\n");
    }
}

static int end_chunks(struct fk_http_res *res)
{
    struct fk_buf b;
    fk_buf_init(&b, 0);
    fk_buf_cstr(&b, "0\r\n");
    put_fields(&b, res->trailers.v, res->trailers.n);
    fk_buf_cstr(&b, "\r\n");
    struct fk_http_seg *seg = b.failed ? NULL : fk_http_seg_new(b.p, b.n, b.p);
    if (!seg) {
        fk_buf_free(&b);
        return -FK_E_NOMEM;
    }
    return hand_over(res, seg, false, NULL);
}

// A body that was given whole, or none.
static void end_whole(struct fk_http_res *res)
{
    if (res->body.n && !bodyless(res))
        maybe_gzip(res);
    if (res->broken) {
        struct fk_err err;
        int code = res->broken;
        fk_http_res_reset(res);
        fk_fail(&err, (enum fk_error)code,
                code == FK_E_NOMEM ? "out of memory for the answer"
                                   : "the answer could not be built");
        fk_http_res_fail(res, code == FK_E_NOMEM ? 503 : 500, &err);
        res->broken = 0; // what is there is sent, be it without a body
    }
    size_t n = res->body.n ? res->body.n : res->borrowed.n;
    bool send = n && !is_head(res) && !bodyless(res);
    struct fk_http_seg *seg = NULL;
    if (send && res->body.n) {
        seg = fk_http_seg_new(res->body.p, n, res->body.p);
        if (seg)
            fk_buf_init(&res->body, 0);
    } else if (send) {
        seg = fk_http_seg_new(res->borrowed.p, n, NULL);
    }
    // With trailers the length does not end the message.
    bool chunked = res->trailers.n && res->ex->req.version >= 11;
    res->length = chunked ? -1 : (int64_t)n;
    begin(res);
    int rc = send && !seg ? -FK_E_NOMEM : 0;
    if (seg && res->framing == FK_HTTP_CHUNKED)
        rc = hand_chunk(res, seg);
    else if (seg)
        hand_over(res, seg, false, NULL);
    if (!rc && res->framing == FK_HTTP_CHUNKED && !is_head(res))
        rc = end_chunks(res);
    if (rc)
        fk_http_res_abort(res);
}

static void end_stream(struct fk_http_res *res)
{
    bool ok = !res->broken && send_piece(res, NULL) == 0;
    if (res->framing == FK_HTTP_BY_LENGTH && res->written != (uint64_t)res->length)
        ok = false; // too little, and too much is no better
    if (ok && res->framing == FK_HTTP_CHUNKED && !is_head(res))
        ok = end_chunks(res) != -FK_E_NOMEM;
    if (!ok)
        fk_http_res_abort(res);
}

void fk_http_res_end(struct fk_http_res *res)
{
    if (res->begun)
        end_stream(res);
    else
        end_whole(res);
    fk_mutex_lock(&res->lock);
    res->ended = true;
    ring(res);
    fk_mutex_unlock(&res->lock); // the loop may free it from here on
}

// --- header ---
void fk_http_put_head(struct fk_buf *b, struct fk_http_ex *ex, bool keep_alive)
{
    struct fk_http_res *res = &ex->res;
    fk_buf_printf(b, "HTTP/1.1 %d ", res->status);
    fk_buf_cstr(b, fk_http_reason(res->status));
    fk_buf_cstr(b, "\r\nDate: ");
    fk_buf_cstr(b, fk_http_date(ex->loop));
    fk_buf_cstr(b, "\r\n");
    put_fields(b, res->fields.v, res->fields.n);
    if (res->framing == FK_HTTP_BY_LENGTH) {
        fk_buf_cstr(b, "Content-Length: ");
        fk_buf_i64(b, res->length);
        fk_buf_cstr(b, "\r\n");
    } else if (res->framing == FK_HTTP_CHUNKED) {
        fk_buf_cstr(b, "Transfer-Encoding: chunked\r\n");
    }
    if (!keep_alive)
        fk_buf_cstr(b, "Connection: close\r\n");
    else if (ex->req.version == 10)
        fk_buf_cstr(b, "Connection: keep-alive\r\n");
    fk_buf_cstr(b, "\r\n");
}
