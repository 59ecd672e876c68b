// SPDX-License-Identifier: Apache-2.0
// A raw HTTP/2 client for the tests of the http room: frames are written by hand, so that wrong
// ones can be; header blocks of answers go through nghttp2's HPACK decoder.
#ifndef FK_TESTS_H2_FIXTURE_H
#define FK_TESTS_H2_FIXTURE_H

#include "http_fixture.h"

#include <nghttp2/nghttp2.h>

#define H2_PREFACE "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
#define H2_STREAMS 512 // by id / 2

struct h2_answer { // of one stream, as far as it came
    int status;
    bool interim, end, reset;
    uint32_t code; // of RST_STREAM
    struct fk_buf head, body, trailers;
    uint64_t opened; // by WINDOW_UPDATE
};

struct h2 {
    int fd;
    struct fk_buf in;
    size_t at;
    nghttp2_hd_inflater *hpack;
    struct h2_answer *s; // by id / 2
    bool closed;         // the server has ended its direction, or reset it
    int goaways;         // that came
    uint32_t last;       // stream of the newest
    uint32_t code;       // and its reason
    int acks, pings;     // of SETTINGS, of PING
    int asked;           // PINGs that came
    bool mute;           // they are not answered
    uint64_t opened_all; // by WINDOW_UPDATE
};

static inline void h2_frame(struct fk_buf *b, uint8_t type, uint8_t flags, uint32_t id,
                            const void *p, size_t n)
{
    uint8_t hd[9] = {
        (uint8_t)(n >> 16),  (uint8_t)(n >> 8),   (uint8_t)n,         type,       flags,
        (uint8_t)(id >> 24), (uint8_t)(id >> 16), (uint8_t)(id >> 8), (uint8_t)id};
    fk_buf_put(b, hd, sizeof(hd));
    fk_buf_put(b, p, n);
}

static inline void h2_number(struct fk_buf *b, size_t n) // 7 bit prefix (RFC 7541 §5.1)
{
    if (n < 127) {
        fk_buf_byte(b, (uint8_t)n);
        return;
    }
    fk_buf_byte(b, 127);
    for (n -= 127; n >= 128; n >>= 7)
        fk_buf_byte(b, (uint8_t)(n | 128));
    fk_buf_byte(b, (uint8_t)n);
}

static inline void h2_field(struct fk_buf *b, struct fk_str name, struct fk_str value)
{
    fk_buf_byte(b, 0); // literal, not indexed, new name
    h2_number(b, name.n);
    fk_buf_str(b, name);
    h2_number(b, value.n);
    fk_buf_str(b, value);
}

// "name: value\n" lines; a name may begin with a colon.
static inline void h2_fields(struct fk_buf *b, const char *lines)
{
    struct fk_str rest = fk_str_of(lines), line;
    while (rest.n && fk_str_split(&rest, '\n', &line)) {
        ptrdiff_t at = line.n ? fk_str_find(fk_str_from(line, 1), FK_S(": ")) : -1;
        if (at >= 0)
            h2_field(b, fk_str_head(line, (size_t)at + 1), fk_str_from(line, (size_t)at + 3));
    }
}

static inline void h2_send(struct h2 *c, uint8_t type, uint8_t flags, uint32_t id, const void *p,
                           size_t n)
{
    FK_AUTO_BUF b;
    fk_buf_init(&b, 0);
    h2_frame(&b, type, flags, id, p, n);
    fx_send(c->fd, b.p, b.n);
}

static inline void h2_headers(struct h2 *c, uint32_t id, const char *lines, bool end)
{
    FK_AUTO_BUF b;
    fk_buf_init(&b, 0);
    h2_fields(&b, lines);
    h2_send(c, NGHTTP2_HEADERS, (uint8_t)(NGHTTP2_FLAG_END_HEADERS | (end ? 1 : 0)), id, b.p, b.n);
}

#define H2_HEAD(method, path) ":method: " method "\n:path: " path "\n:scheme: http\n:authority: x\n"

static inline void h2_get(struct h2 *c, uint32_t id, const char *path)
{
    char lines[512];
    snprintf(lines, sizeof(lines), ":method: GET\n:path: %s\n:scheme: http\n:authority: x\n", path);
    h2_headers(c, id, lines, true);
}

static inline void h2_data(struct h2 *c, uint32_t id, const void *p, size_t n, bool end)
{
    for (size_t at = 0; at < n || n == 0; at += 16384) { // as large as frames may be
        size_t k = FK_MIN(n - at, (size_t)16384);
        h2_send(c, NGHTTP2_DATA, end && at + k == n ? 1 : 0, id, (const char *)p + at, k);
        if (n == 0)
            break;
    }
}

static inline void h2_connect(struct h2 *c, struct fx *fx)
{
    memset(c, 0, sizeof(*c));
    c->fd = fx_connect(fx);
    c->s = fk_calloc(H2_STREAMS, sizeof(*c->s));
    fk_buf_init(&c->in, 0);
    for (size_t i = 0; i < H2_STREAMS; i++) {
        fk_buf_init(&c->s[i].head, 0);
        fk_buf_init(&c->s[i].body, 0);
        fk_buf_init(&c->s[i].trailers, 0);
    }
    assert_int_equal(nghttp2_hd_inflate_new(&c->hpack), 0);
}

static inline void h2_close(struct h2 *c)
{
    fk_net_close(c->fd);
    nghttp2_hd_inflate_del(c->hpack);
    fk_buf_free(&c->in);
    for (size_t i = 0; i < H2_STREAMS; i++) {
        fk_buf_free(&c->s[i].head);
        fk_buf_free(&c->s[i].body);
        fk_buf_free(&c->s[i].trailers);
    }
    fk_free(c->s);
}

static inline uint32_t h2_u32(const uint8_t *p)
{
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static inline void h2_take_head(struct h2 *c, struct h2_answer *a, const uint8_t *p, size_t n,
                                bool end)
{
    struct fk_buf *to = a->status && !a->interim ? &a->trailers : &a->head;
    nghttp2_nv nv;
    int flags = 0;
    a->interim = false;
    while (n) {
        ssize_t k = nghttp2_hd_inflate_hd2(c->hpack, &nv, &flags, p, n, 1);
        assert_true(k >= 0);
        p += k;
        n -= (size_t)k;
        if (flags & NGHTTP2_HD_INFLATE_EMIT) {
            fk_buf_printf(to, "%.*s: %.*s\n", (int)nv.namelen, (char *)nv.name, (int)nv.valuelen,
                          (char *)nv.value);
            if (to == &a->head && nv.namelen == 7 && memcmp(nv.name, ":status", 7) == 0)
                a->status =
                    (nv.value[0] - '0') * 100 + (nv.value[1] - '0') * 10 + nv.value[2] - '0';
        }
    }
    nghttp2_hd_inflate_end_headers(c->hpack);
    a->interim = a->status == 100;
    a->end |= end;
}

static inline void h2_take(struct h2 *c, uint8_t type, uint8_t flags, uint32_t id, const uint8_t *p,
                           size_t n)
{
    struct h2_answer *a = &c->s[id / 2 % H2_STREAMS];
    bool end = flags & NGHTTP2_FLAG_END_STREAM;
    switch (type) {
    case NGHTTP2_HEADERS:
        h2_take_head(c, a, p, n, end);
        break;
    case NGHTTP2_DATA:
        fk_buf_put(&a->body, p, n);
        a->end |= end;
        break;
    case NGHTTP2_RST_STREAM:
        a->reset = true;
        a->code = h2_u32(p);
        break;
    case NGHTTP2_SETTINGS:
        if (flags & NGHTTP2_FLAG_ACK)
            c->acks++;
        else
            h2_send(c, NGHTTP2_SETTINGS, NGHTTP2_FLAG_ACK, 0, NULL, 0);
        break;
    case NGHTTP2_PING:
        c->pings += flags & NGHTTP2_FLAG_ACK;
        c->asked += !(flags & NGHTTP2_FLAG_ACK);
        if (!(flags & NGHTTP2_FLAG_ACK) && !c->mute)
            h2_send(c, NGHTTP2_PING, NGHTTP2_FLAG_ACK, 0, p, n);
        break;
    case NGHTTP2_GOAWAY:
        c->goaways++;
        c->last = h2_u32(p);
        c->code = h2_u32(p + 4);
        break;
    case NGHTTP2_WINDOW_UPDATE:
        if (id)
            a->opened += h2_u32(p);
        else
            c->opened_all += h2_u32(p);
        break;
    default:
        break;
    }
}

// Takes what has come, waiting at most ms for something; false: nothing did.
static inline bool h2_pump(struct h2 *c, int ms)
{
    struct fk_err err;
    uint32_t ready = 0;
    size_t got = 0;
    if (c->closed)
        return false;
    int rc = fk_net_read(c->fd, fk_buf_reserve(&c->in, 65536), 65536, &got, &err);
    if (rc == FK_IO_AGAIN) {
        fk_net_wait(c->fd, FK_READY_IN, ms * FK_NS_PER_MS, &ready, &err);
        if (!ready)
            return false;
        rc = fk_net_read(c->fd, fk_buf_reserve(&c->in, 65536), 65536, &got, &err);
    }
    if (rc != FK_IO_OK && rc != FK_IO_AGAIN)
        c->closed = true;
    c->in.n += got;
    while (c->in.n - c->at >= 9) {
        const uint8_t *p = (const uint8_t *)c->in.p + c->at;
        size_t n = (size_t)p[0] << 16 | (size_t)p[1] << 8 | p[2];
        if (c->in.n - c->at < 9 + n)
            break;
        h2_take(c, p[3], p[4], h2_u32(p + 5), p + 9, n);
        c->at += 9 + n;
    }
    if (c->at == c->in.n) {
        fk_buf_clear(&c->in);
        c->at = 0;
    }
    return rc == FK_IO_OK || rc == FK_IO_AGAIN;
}

// Until the condition holds; the test fails when the server has nothing more to say.
#define h2_until(c, condition)                                                                     \
    do {                                                                                           \
        while (!(condition) && h2_pump(c, 10000))                                                  \
            ;                                                                                      \
        assert_true(condition);                                                                    \
    } while (0)

static inline void h2_open(struct h2 *c, struct fx *fx)
{
    h2_connect(c, fx);
    fx_say(c->fd, H2_PREFACE);
    h2_send(c, NGHTTP2_SETTINGS, 0, 0, NULL, 0);
    h2_until(c, c->acks == 1); // its windows hold from now on
}

static inline struct h2_answer *h2_over(struct h2 *c, uint32_t id)
{
    struct h2_answer *a = &c->s[id / 2];
    h2_until(c, a->end || a->reset || c->closed);
    return a;
}

static inline void h2_window(struct h2 *c, uint32_t id, uint32_t by)
{
    uint8_t p[4] = {(uint8_t)(by >> 24), (uint8_t)(by >> 16), (uint8_t)(by >> 8), (uint8_t)by};
    h2_send(c, NGHTTP2_WINDOW_UPDATE, 0, id, p, 4);
}

static inline void h2_rst(struct h2 *c, uint32_t id)
{
    uint8_t p[4] = {0, 0, 0, NGHTTP2_CANCEL};
    h2_send(c, NGHTTP2_RST_STREAM, 0, id, p, 4);
}

// One of the client's settings.
static inline void h2_setting(struct h2 *c, uint16_t what, uint32_t value)
{
    uint8_t p[6] = {(uint8_t)(what >> 8),   (uint8_t)what,         (uint8_t)(value >> 24),
                    (uint8_t)(value >> 16), (uint8_t)(value >> 8), (uint8_t)value};
    h2_send(c, NGHTTP2_SETTINGS, 0, 0, p, 6);
}

static inline bool h2_has(const struct fk_buf *b, const char *text)
{
    return fx_has(b, text);
}

#endif
