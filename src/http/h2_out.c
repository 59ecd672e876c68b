// SPDX-License-Identifier: Apache-2.0
// HTTP/2 answers: header, body in pieces as the windows allow, trailers.
#include "http/h2_int.h"

#include <stdio.h>

static void on_progress(struct fk_http_ex *ex)
{
    struct fk_h2_stream *s = ex->conn;
    fk_h2_touch(s);
    fk_h2_settle(s->h2);
}

const struct fk_http_link fk_h2_link = {on_progress};

static nghttp2_nv pair(struct fk_str name, struct fk_str value)
{
    // nghttp2 takes copies; its structure has no const.
    return (nghttp2_nv){(uint8_t *)(uintptr_t)name.p, (uint8_t *)(uintptr_t)value.p, name.n,
                        value.n, NGHTTP2_NV_FLAG_NONE};
}

static bool of_connection(struct fk_str name)
{
    static const char *const names[] = {"connection", "keep-alive", "proxy-connection",
                                        "transfer-encoding", "upgrade"};
    for (size_t i = 0; i < FK_COUNTOF(names); i++)
        if (fk_str_eq_nocase(name, fk_str_of(names[i])))
            return true;
    return false;
}

static size_t put_fields(nghttp2_nv *to, const struct fk_http_field *f, size_t n)
{
    size_t k = 0;
    for (size_t i = 0; i < n; i++)
        if (!of_connection(f[i].name))
            to[k++] = pair(f[i].name, f[i].value);
    return k;
}

static void count_fields(struct fk_h2_stream *s, const nghttp2_nv *nv, size_t n)
{
    for (size_t i = 0; i < n; i++)
        s->ex->bytes_out += nv[i].namelen + nv[i].valuelen;
}

// --- body ---
static int send_trailers(struct fk_h2_stream *s)
{
    struct fk_http_res *res = &s->ex->res;
    nghttp2_nv *nv = fk_calloc(res->trailers.n, sizeof(*nv));
    if (!nv)
        return NGHTTP2_ERR_NOMEM;
    size_t n = put_fields(nv, res->trailers.v, res->trailers.n);
    count_fields(s, nv, n);
    int rc = nghttp2_submit_trailer(s->h2->session, s->id, nv, n);
    fk_free(nv);
    return rc;
}

static bool has_trailers(const struct fk_h2_stream *s)
{
    return s->ex->res.trailers.n > 0 && s->ex->res.framing != FK_HTTP_NO_BODY;
}

static size_t copy_out(struct fk_h2_stream *s, uint8_t *to, size_t most)
{
    size_t n = 0;
    while (s->out.first && n < most) {
        size_t k = FK_MIN(s->out.first->n, most - n);
        if (k)
            memcpy(to + n, s->out.first->p, k);
        fk_http_segs_sent(&s->out, k);
        n += k;
    }
    return n;
}

static ssize_t read_body(nghttp2_session *session, int32_t id, uint8_t *to, size_t most,
                         uint32_t *flags, nghttp2_data_source *source, void *user)
{
    (void)session, (void)id, (void)user;
    struct fk_h2_stream *s = source->ptr;
    size_t n = copy_out(s, to, most);
    if (n) {
        fk_http_ex_sent(s->ex, n);
        if (s->rate_out)
            s->rate_bytes += n;
    }
    if (!s->out.first && s->answered) {
        *flags |= NGHTTP2_DATA_FLAG_EOF;
        if (has_trailers(s)) {
            *flags |= NGHTTP2_DATA_FLAG_NO_END_STREAM;
            int rc = send_trailers(s);
            if (rc)
                return rc == NGHTTP2_ERR_NOMEM ? NGHTTP2_ERR_CALLBACK_FAILURE
                                               : NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
        }
    } else if (n == 0) {
        s->deferred = true;
        return NGHTTP2_ERR_DEFERRED;
    }
    return (ssize_t)n;
}

// --- header ---
void fk_h2_continue(struct fk_h2_stream *s)
{
    nghttp2_nv nv = pair(FK_S(":status"), FK_S("100"));
    if (nghttp2_submit_headers(s->h2->session, NGHTTP2_FLAG_NONE, s->id, NULL, &nv, 1, NULL))
        fk_h2_stream_reset(s, NGHTTP2_INTERNAL_ERROR);
}

static void submit(struct fk_h2_stream *s)
{
    struct fk_http_res *res = &s->ex->res;
    char status[12], length[24];
    nghttp2_nv *nv = fk_calloc(res->fields.n + 3, sizeof(*nv));
    nghttp2_data_provider body = {{.ptr = s}, read_body};
    bool empty = s->answered && !s->out.first && !has_trailers(s);
    int rc = NGHTTP2_ERR_NOMEM;
    s->submitted = true;
    if (nv) {
        size_t n = 0;
        snprintf(status, sizeof(status), "%d", res->status);
        snprintf(length, sizeof(length), "%lld", (long long)res->length);
        nv[n++] = pair(FK_S(":status"), fk_str_of(status));
        nv[n++] = pair(FK_S("date"), fk_str_of(fk_http_date(s->ex->loop)));
        n += put_fields(nv + n, res->fields.v, res->fields.n);
        if (res->framing == FK_HTTP_BY_LENGTH)
            nv[n++] = pair(FK_S("content-length"), fk_str_of(length));
        count_fields(s, nv, n);
        rc = nghttp2_submit_response(s->h2->session, s->id, nv, n, empty ? NULL : &body);
    }
    fk_free(nv);
    if (rc)
        fk_h2_stream_reset(s, NGHTTP2_INTERNAL_ERROR);
}

void fk_h2_pull(struct fk_h2_stream *s)
{
    struct fk_http_ex *ex = s->ex;
    struct fk_http_pull got;
    if (ex->resumed) {
        ex->resumed = false;
        fk_h2_stream_resumed(s);
    }
    if (s->reset)
        return;
    fk_http_ex_pull(ex, &got);
    fk_http_segs_join(&s->out, &got.segs);
    if (got.aborted) {
        fk_h2_stream_reset(s, NGHTTP2_INTERNAL_ERROR);
        return;
    }
    s->answered = got.ended && got.begun;
    if (got.begun && !s->submitted) {
        ex->head_sent = true;
        submit(s);
    } else if (s->deferred && (s->out.first || s->answered)) {
        s->deferred = false;
        if (nghttp2_session_resume_data(s->h2->session, s->id) == NGHTTP2_ERR_NOMEM)
            s->h2->end = FK_H2_DEAD;
    }
}

// --- what went out ---
// The answer is complete; what is left of the request is not wanted (RFC 9113 §8.1).
static int on_sent(nghttp2_session *session, const nghttp2_frame *frame, void *user)
{
    (void)user;
    struct fk_h2_stream *s = NULL;
    if (frame->hd.type == NGHTTP2_DATA)
        fk_h2_noise(user, -2);
    if ((frame->hd.type == NGHTTP2_DATA || frame->hd.type == NGHTTP2_HEADERS) &&
        (frame->hd.flags & NGHTTP2_FLAG_END_STREAM))
        s = nghttp2_session_get_stream_user_data(session, frame->hd.stream_id);
    if (s && !s->fin)
        fk_h2_stream_reset(s, NGHTTP2_NO_ERROR);
    return 0;
}

int fk_h2_out_callbacks(nghttp2_session_callbacks *cb)
{
    nghttp2_session_callbacks_set_on_frame_send_callback(cb, on_sent);
    return 0;
}
