// SPDX-License-Identifier: Apache-2.0
// HTTP/2 clients that do too much, too little or wrong things: floods, bombs, windows that never
// open, silence, frames against RFC 9113. Each ends with the error that the RFC names or with the
// server's own limit, and the server goes on.
#include "h2_fixture.h"

static struct fk_http_server_opts hasty(void)
{
    struct fk_http_server_opts o = fx_opts();
    o.limits.idle_ns = 300 * FK_NS_PER_MS;
    o.limits.head_ns = 200 * FK_NS_PER_MS;
    o.limits.rate_ns = 200 * FK_NS_PER_MS;
    o.limits.linger_ns = 200 * FK_NS_PER_MS;
    return o;
}

static uint64_t floods(struct fx *fx)
{
    struct fk_http_stats st;
    fk_http_server_stats(fx->server, &st);
    return st.h2_floods;
}

static void check_alive(struct fx *fx)
{
    struct h2 c;
    h2_open(&c, fx);
    h2_get(&c, 1, "/a");
    assert_int_equal(h2_over(&c, 1)->status, 200);
    h2_close(&c);
}

// --- floods: the same frame again and again ---
struct flood {
    const char *name;
    uint8_t type, flags;
    uint32_t id;
    const char *bytes;
    size_t n;
};

static const struct flood flood_rows[] = {
    {"PING", NGHTTP2_PING, 0, 0, "12345678", 8},
    {"SETTINGS", NGHTTP2_SETTINGS, 0, 0, "", 0},
    {"SETTINGS with a value", NGHTTP2_SETTINGS, 0, 0, "\0\1\0\0\20\0", 6},
    {"PRIORITY", NGHTTP2_PRIORITY, 0, 1, "\0\0\0\0\1", 5},
    {"WINDOW_UPDATE", NGHTTP2_WINDOW_UPDATE, 0, 0, "\0\0\0\1", 4},
    {"empty DATA", NGHTTP2_DATA, 0, 1, "", 0},
    {"padded DATA without data", NGHTTP2_DATA, NGHTTP2_FLAG_PADDED, 1, "\0", 1},
};

// The client reads (or not) only when all is sent, which the server must not need.
static void flood_one(struct fx *fx, const struct flood *f)
{
    struct h2 c;
    FK_AUTO_BUF b;
    uint64_t before = floods(fx);
    fk_buf_init(&b, 0);
    h2_open(&c, fx);
    if (f->id)
        h2_headers(&c, f->id, H2_HEAD("POST", "/sink"), false);
    for (int i = 0; i < 200; i++)
        h2_frame(&b, f->type, f->flags, f->id, f->bytes, f->n);
    for (int i = 0; i < 200 && fx_send(c.fd, b.p, b.n) == b.n; i++)
        ;
    while (h2_pump(&c, 5000))
        ;
    if (!c.closed || floods(fx) != before + 1 || (c.goaways && c.code != NGHTTP2_ENHANCE_YOUR_CALM))
        fail_msg("%s: floods %d, goaways %d, code %u", f->name, (int)(floods(fx) - before),
                 c.goaways, (unsigned)c.code);
    h2_close(&c);
}

static void test_floods(void **state)
{
    (void)state;
    struct fx fx;
    fx_start(&fx, fx_opts());
    for (size_t i = 0; i < FK_COUNTOF(flood_rows); i++)
        flood_one(&fx, &flood_rows[i]);
    check_alive(&fx);
    fx_stop(&fx);
}

// Frames of types that are not known are skipped (RFC 9113 §4.1), wherever they stand.
static void test_unknown_frames(void **state)
{
    (void)state;
    struct fx fx;
    struct h2 c;
    fx_start(&fx, fx_opts());
    h2_open(&c, &fx);
    h2_headers(&c, 1, H2_HEAD("POST", "/a"), false);
    for (uint32_t i = 0; i < 3000; i++)
        h2_send(&c, 0xee, 0xff, i % 3, "xyz", i % 4);
    h2_send(&c, NGHTTP2_SETTINGS, 0, 0, "\xee\xee\1\2\3\4", 6); // settings likewise
    h2_data(&c, 1, "abc", 3, true);
    assert_int_equal(h2_over(&c, 1)->status, 200);
    h2_close(&c);
    fx_stop(&fx);
}

// As many as are allowed, among them data that pays for them, are fine.
static void test_no_flood(void **state)
{
    (void)state;
    struct fx fx;
    struct h2 c;
    fx_start(&fx, fx_opts());
    h2_open(&c, &fx);
    h2_headers(&c, 1, H2_HEAD("POST", "/sink"), false);
    for (int i = 0; i < 5000; i++) {
        h2_send(&c, NGHTTP2_PING, 0, 0, "12345678", 8);
        h2_data(&c, 1, "x", 1, false);
        if (i % 100 == 99)
            h2_until(&c, c.pings > i - 50);
    }
    h2_data(&c, 1, "", 0, true);
    assert_int_equal(h2_over(&c, 1)->status, 200);
    assert_int_equal(fx.sink_bytes, 5000);
    assert_int_equal(floods(&fx), 0);
    h2_close(&c);
    fx_stop(&fx);
}

static void test_rapid_reset(void **state)
{
    (void)state;
    struct fx fx;
    struct h2 c;
    struct fk_http_stats st;
    struct fk_http_server_opts o = fx_opts();
    o.limits.h2_resets = 100;
    fx_start(&fx, o);
    h2_open(&c, &fx);
    for (uint32_t id = 1; id < 20001; id += 2) {
        FK_AUTO_BUF b, f;
        fk_buf_init(&b, 0);
        fk_buf_init(&f, 0);
        h2_fields(&f, H2_HEAD("GET", "/item/a"));
        h2_frame(&b, NGHTTP2_HEADERS, 5, id, f.p, f.n);
        h2_frame(&b, NGHTTP2_RST_STREAM, 0, id, "\0\0\0\10", 4);
        if (fx_send(c.fd, b.p, b.n) < b.n)
            break;
    }
    h2_until(&c, c.closed);
    fk_http_server_stats(fx.server, &st);
    assert_int_equal(st.h2_floods, 1);
    assert_in_range(st.h2_resets, 101, 2000);
    assert_in_range(st.h2_streams, 101, 2000);
    h2_close(&c);
    // Broken requests count as well: the client makes the server reset them.
    h2_open(&c, &fx);
    for (uint32_t id = 1; id < 1001; id += 2)
        h2_headers(&c, id, H2_HEAD("GET", "/a") "Upper: 1\n", true);
    h2_until(&c, c.closed);
    assert_int_equal(floods(&fx), 2);
    h2_close(&c);
    check_alive(&fx);
    fx_stop(&fx);
}

static void test_continuations(void **state)
{
    (void)state;
    struct fx fx;
    struct h2 c;
    FK_AUTO_BUF b;
    fx_start(&fx, fx_opts());
    fk_buf_init(&b, 0);
    h2_fields(&b, H2_HEAD("GET", "/a"));
    // A few are fine.
    h2_open(&c, &fx);
    h2_send(&c, NGHTTP2_HEADERS, 1, 1, b.p, 20);
    h2_send(&c, NGHTTP2_CONTINUATION, 0, 1, b.p + 20, 10);
    h2_send(&c, NGHTTP2_CONTINUATION, 4, 1, b.p + 30, b.n - 30);
    assert_int_equal(h2_over(&c, 1)->status, 200);
    // Without an end they are not.
    h2_send(&c, NGHTTP2_HEADERS, 1, 3, b.p, b.n);
    fk_buf_clear(&b);
    h2_field(&b, FK_S("abcd"), FK_S("efgh"));
    for (int i = 0; i < 1000; i++)
        h2_send(&c, NGHTTP2_CONTINUATION, 0, 3, b.p, b.n);
    h2_until(&c, c.closed);
    assert_int_equal(floods(&fx), 1);
    h2_close(&c);
    check_alive(&fx);
    fx_stop(&fx);
}

static void test_headers(void **state)
{
    (void)state;
    struct fx fx;
    struct h2 c;
    FK_AUTO_BUF b;
    fx_start(&fx, fx_opts());
    h2_open(&c, &fx);
    fk_buf_init(&b, 0);
    // HPACK bomb: one long entry of the table, named again and again by a byte.
    h2_fields(&b, H2_HEAD("GET", "/a"));
    fk_buf_byte(&b, 0x40);
    fk_buf_cstr(&b, "\1a");
    h2_number(&b, 3900);
    fk_buf_fill(&b, 'v', 3900);
    fk_buf_fill(&b, 0x80 | 62, 10000);
    h2_send(&c, NGHTTP2_HEADERS, 5, 1, b.p, b.n);
    assert_int_equal(h2_over(&c, 1)->status, 431);
    assert_true(h2_has(&c.s[0].body, "--http-head-bytes"));
    // Too many fields, a long target; the connection goes on.
    fk_buf_clear(&b);
    h2_fields(&b, H2_HEAD("GET", "/a"));
    for (int i = 0; i < 101; i++)
        h2_field(&b, FK_S("a"), FK_S("b"));
    h2_send(&c, NGHTTP2_HEADERS, 5, 3, b.p, b.n);
    assert_int_equal(h2_over(&c, 3)->status, 431);
    assert_true(h2_has(&c.s[1].body, "--http-fields"));
    fk_buf_clear(&b);
    h2_fields(&b, ":method: GET\n:scheme: http\n:authority: x\n");
    fk_buf_cstr(&b, "\x04");
    h2_number(&b, 16386);
    fk_buf_fill(&b, '/', 16386);
    h2_send(&c, NGHTTP2_HEADERS, 1, 5, b.p, 8000);
    h2_send(&c, NGHTTP2_CONTINUATION, 4, 5, b.p + 8000, b.n - 8000);
    assert_int_equal(h2_over(&c, 5)->status, 414);
    // Trailers that are too large.
    h2_headers(&c, 7, H2_HEAD("POST", "/a"), false);
    h2_data(&c, 7, "abc", 3, false);
    fk_buf_clear(&b);
    for (int i = 0; i < 1200; i++)
        h2_field(&b, FK_S("a"), FK_S("b"));
    h2_send(&c, NGHTTP2_HEADERS, 5, 7, b.p, b.n);
    assert_int_equal(h2_over(&c, 7)->status, 431);
    h2_headers(&c, 9, H2_HEAD("POST", "/a"), false);
    h2_data(&c, 9, "abc", 3, false);
    h2_headers(&c, 9, "grpc-x: y\n", true);
    assert_true(h2_has(&h2_over(&c, 9)->body, "|abc"));
    h2_close(&c);
    fx_stop(&fx);
}

// --- frames that are wrong: the connection ends with the RFC's code ---
struct wrong {
    const char *name;
    uint8_t type, flags;
    uint32_t id;
    const char *bytes;
    size_t n;
    uint32_t code;
};

static const struct wrong wrong_rows[] = {
    {"DATA on stream 0", NGHTTP2_DATA, 0, 0, "x", 1, NGHTTP2_PROTOCOL_ERROR},
    {"DATA on an idle stream", NGHTTP2_DATA, 0, 9, "x", 1, NGHTTP2_PROTOCOL_ERROR},
    {"padding longer than DATA", NGHTTP2_DATA, 8, 1, "\5x", 2, NGHTTP2_PROTOCOL_ERROR},
    {"HEADERS on stream 0", NGHTTP2_HEADERS, 5, 0, "\x82", 1, NGHTTP2_PROTOCOL_ERROR},
    {"HEADERS on an even stream", NGHTTP2_HEADERS, 5, 2, "\x82", 1, NGHTTP2_PROTOCOL_ERROR},
    {"HEADERS on a stream passed over", NGHTTP2_HEADERS, 5, 3, "\x82", 1, NGHTTP2_PROTOCOL_ERROR},
    {"bad HPACK index", NGHTTP2_HEADERS, 5, 9, "\xff\xff\xff\xff\x0f", 5,
     NGHTTP2_COMPRESSION_ERROR},
    {"table size beyond the setting", NGHTTP2_HEADERS, 5, 9, "\x3f\xe1\xff\x03\x82", 5,
     NGHTTP2_COMPRESSION_ERROR},
    {"Huffman code with an end in it", NGHTTP2_HEADERS, 5, 9, "\x00\x84\xff\xff\xff\xff\x00", 7,
     NGHTTP2_COMPRESSION_ERROR},
    {"CONTINUATION without HEADERS", NGHTTP2_CONTINUATION, 4, 1, "\x82", 1, NGHTTP2_PROTOCOL_ERROR},
    {"RST_STREAM on stream 0", NGHTTP2_RST_STREAM, 0, 0, "\0\0\0\0", 4, NGHTTP2_PROTOCOL_ERROR},
    {"RST_STREAM on an idle stream", NGHTTP2_RST_STREAM, 0, 9, "\0\0\0\0", 4,
     NGHTTP2_PROTOCOL_ERROR},
    {"short RST_STREAM", NGHTTP2_RST_STREAM, 0, 1, "\0\0\0", 3, NGHTTP2_FRAME_SIZE_ERROR},
    {"SETTINGS on a stream", NGHTTP2_SETTINGS, 0, 1, "", 0, NGHTTP2_PROTOCOL_ERROR},
    {"SETTINGS of 5 bytes", NGHTTP2_SETTINGS, 0, 0, "\0\1\0\0\0", 5, NGHTTP2_FRAME_SIZE_ERROR},
    {"SETTINGS ack with a payload", NGHTTP2_SETTINGS, 1, 0, "\0\1\0\0\0\0", 6,
     NGHTTP2_FRAME_SIZE_ERROR},
    {"ENABLE_PUSH 2", NGHTTP2_SETTINGS, 0, 0, "\0\2\0\0\0\2", 6, NGHTTP2_PROTOCOL_ERROR},
    {"window of 2^31", NGHTTP2_SETTINGS, 0, 0, "\0\4\x80\0\0\0", 6, NGHTTP2_FLOW_CONTROL_ERROR},
    {"frame size of 100", NGHTTP2_SETTINGS, 0, 0, "\0\5\0\0\0\x64", 6, NGHTTP2_PROTOCOL_ERROR},
    {"PUSH_PROMISE", NGHTTP2_PUSH_PROMISE, 4, 1, "\0\0\0\2\x82", 5, NGHTTP2_PROTOCOL_ERROR},
    {"PING on a stream", NGHTTP2_PING, 0, 1, "12345678", 8, NGHTTP2_PROTOCOL_ERROR},
    {"PING of 6 bytes", NGHTTP2_PING, 0, 0, "123456", 6, NGHTTP2_FRAME_SIZE_ERROR},
    {"GOAWAY on a stream", NGHTTP2_GOAWAY, 0, 1, "\0\0\0\0\0\0\0\0", 8, NGHTTP2_PROTOCOL_ERROR},
    {"WINDOW_UPDATE of 0", NGHTTP2_WINDOW_UPDATE, 0, 0, "\0\0\0\0", 4, NGHTTP2_PROTOCOL_ERROR},
    {"WINDOW_UPDATE of 3 bytes", NGHTTP2_WINDOW_UPDATE, 0, 0, "\0\0\1", 3,
     NGHTTP2_FRAME_SIZE_ERROR},
    {"WINDOW_UPDATE on an idle stream", NGHTTP2_WINDOW_UPDATE, 0, 9, "\0\0\0\1", 4,
     NGHTTP2_PROTOCOL_ERROR},
    {"window beyond 2^31-1", NGHTTP2_WINDOW_UPDATE, 0, 0, "\x7f\xff\xff\xff", 4,
     NGHTTP2_FLOW_CONTROL_ERROR},
    {"PRIORITY of 4 bytes", NGHTTP2_PRIORITY, 0, 1, "\0\0\0\3", 4, NGHTTP2_FRAME_SIZE_ERROR},
};

static void test_wrong_frames(void **state)
{
    (void)state;
    struct fx fx;
    int bad = 0;
    fx_start(&fx, fx_opts());
    for (size_t i = 0; i < FK_COUNTOF(wrong_rows); i++) {
        const struct wrong *r = &wrong_rows[i];
        struct h2 c;
        h2_open(&c, &fx);
        h2_headers(&c, 1, H2_HEAD("POST", "/sink"), false);
        h2_headers(&c, 5, H2_HEAD("POST", "/sink"), false);
        h2_send(&c, r->type, r->flags, r->id, r->bytes, r->n);
        h2_until(&c, c.closed);
        if (c.goaways != 1 || c.code != r->code) {
            print_error("%s: goaways %d, code %u, want %u\n", r->name, c.goaways, (unsigned)c.code,
                        (unsigned)r->code);
            bad++;
        }
        h2_close(&c);
    }
    assert_int_equal(bad, 0);
    check_alive(&fx);
    fx_stop(&fx);
}

// Streams that are wrong: only they end.
static void test_wrong_streams(void **state)
{
    (void)state;
    struct fx fx;
    struct h2 c;
    struct fk_http_server_opts o = fx_opts();
    char *big = fk_calloc(1, 200000);
    o.limits.h2_streams = 3;
    o.limits.h2_stream_window = 100000;
    fx_start(&fx, o);
    h2_open(&c, &fx);
    // More at once than it was told: a client that keeps no count.
    for (uint32_t id = 1; id <= 7; id += 2)
        h2_get(&c, id, "/wait");
    h2_until(&c, c.closed);
    assert_int_equal(c.code, NGHTTP2_PROTOCOL_ERROR);
    fx_wait_for(fx.accesses == 3); // those that were allowed ended with it
    h2_close(&c);
    h2_open(&c, &fx);
    // A window that the client makes larger than there are numbers, however much of it is used up.
    h2_get(&c, 9, "/stream?n=200000");
    h2_window(&c, 9, 0x7fffffff);
    h2_window(&c, 9, 0x7fffffff);
    h2_until(&c, c.s[4].reset);
    assert_int_equal(c.s[4].code, NGHTTP2_FLOW_CONTROL_ERROR);
    // A body beyond its window.
    h2_headers(&c, 11, H2_HEAD("POST", "/sink") "x-pause: 1\n", false);
    h2_data(&c, 11, big, 150000, false);
    h2_until(&c, c.s[5].reset);
    assert_int_equal(c.s[5].code, NGHTTP2_FLOW_CONTROL_ERROR);
    // Data behind the end.
    h2_headers(&c, 13, H2_HEAD("POST", "/wait"), false);
    h2_headers(&c, 15, H2_HEAD("POST", "/keep"), false);
    h2_data(&c, 15, "a", 1, true);
    h2_data(&c, 15, "b", 1, true);
    h2_until(&c, c.s[7].reset || c.closed);
    assert_int_equal(c.closed ? c.code : c.s[7].code, NGHTTP2_STREAM_CLOSED);
    fx.release = 1;
    fk_free(big);
    h2_close(&c);
    check_alive(&fx);
    fx_stop(&fx);
}

// --- silence ---
static void test_idle(void **state)
{
    (void)state;
    struct fx fx;
    struct h2 c;
    fx_start(&fx, hasty());
    h2_open(&c, &fx);
    h2_get(&c, 1, "/a");
    assert_int_equal(h2_over(&c, 1)->status, 200);
    h2_until(&c, c.closed);
    assert_int_equal(c.goaways, 1);
    assert_int_equal(c.code, NGHTTP2_NO_ERROR);
    h2_close(&c);
    // The preface, or a part of it, and nothing more; half a header block.
    for (int i = 0; i < 3; i++) {
        h2_connect(&c, &fx);
        fx_send(c.fd, H2_PREFACE, i == 0 ? 10 : 24);
        if (i == 2) {
            h2_send(&c, NGHTTP2_SETTINGS, 0, 0, NULL, 0);
            h2_send(&c, NGHTTP2_HEADERS, 1, 1, "\x82", 1);
        }
        if (i == 0) {
            FK_AUTO_BUF b;
            fk_buf_init(&b, 0);
            assert_int_equal(fx_read(c.fd, &b, NULL, 5000), 1);
            assert_int_equal(fx_status(&b), 408);
        } else {
            h2_until(&c, c.closed);
            assert_int_equal(c.goaways, 1);
        }
        h2_close(&c);
    }
    check_alive(&fx);
    fx_stop(&fx);
}

static void test_slow(void **state)
{
    (void)state;
    struct fx fx;
    struct h2 c;
    fx_start(&fx, hasty());
    h2_open(&c, &fx);
    h2_headers(&c, 1, H2_HEAD("POST", "/a"), false);
    h2_data(&c, 1, "a", 1, false);
    h2_get(&c, 3, "/wait"); // keeps the connection, and is not measured itself
    h2_until(&c, c.s[0].reset);
    assert_int_equal(c.s[0].status, 408);
    assert_true(h2_has(&c.s[0].body, "--http-body-rate"));
    assert_int_equal(c.s[0].code, NGHTTP2_NO_ERROR);
    // A window that never opens: the stream ends, its writer is let go, the others go on.
    h2_setting(&c, NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, 0);
    h2_until(&c, c.acks == 2);
    h2_get(&c, 5, "/stream?n=10000000");
    h2_get(&c, 7, "/item/a");
    h2_until(&c, c.s[2].reset && c.s[3].reset);
    assert_int_equal(c.s[2].code, NGHTTP2_CANCEL);
    fx_wait_for(fx.cancelled == FK_E_CANCELLED);
    assert_int_equal(c.s[1].status, 0);
    fx.release = 1;
    h2_window(&c, 3, 100);
    assert_true(h2_has(&h2_over(&c, 3)->body, "waited"));
    h2_close(&c);
    // A socket that nobody reads, with windows wide open.
    fx.cancelled = 0;
    h2_open(&c, &fx);
    h2_setting(&c, NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, 0x7fffffff);
    h2_window(&c, 0, 0x7fffffff - 65535);
    h2_get(&c, 1, "/stream?n=1000000000");
    fx_wait_for(fx.cancelled == FK_E_CANCELLED);
    h2_close(&c);
    fx_stop(&fx);
}

// --- deadlines that are shorter than the route's ---
static int set_deadline(void *arg, struct fk_http_req *req, struct fk_http_res *res,
                        struct fk_err *err)
{
    (void)arg, (void)res, (void)err;
    uint64_t ms;
    struct fk_str value = fk_http_req_field(req, "x-deadline-ms");
    if (value.p && fk_str_to_u64(value, &ms) == 0)
        fk_http_req_deadline(req, (int64_t)ms * FK_NS_PER_MS);
    return 0;
}

static void test_deadline(void **state)
{
    (void)state;
    struct fx fx;
    struct h2 c;
    struct fk_buf b;
    struct fk_http_server_opts o = fx_opts();
    o.admit = set_deadline;
    fx_start(&fx, o);
    fk_buf_init(&b, 0);
    h2_open(&c, &fx);
    h2_headers(&c, 1, H2_HEAD("GET", "/wait") "x-deadline-ms: 30\n", true);
    assert_true(h2_has(&h2_over(&c, 1)->body, "waited"));
    assert_int_equal(fx.cancelled, FK_E_TIMEOUT);
    // While the body still comes, of a route with `run` and of a sink.
    h2_headers(&c, 3, H2_HEAD("POST", "/a") "x-deadline-ms: 30\n", false);
    h2_headers(&c, 5, H2_HEAD("POST", "/sink") "x-deadline-ms: 30\n", false);
    h2_headers(&c, 7, H2_HEAD("POST", "/sink") "x-deadline-ms: 30\nx-pause: 1\n", false);
    h2_data(&c, 7, "x", 1, false);
    for (uint32_t id = 3; id <= 7; id += 2)
        assert_int_equal(h2_over(&c, id)->status, 504);
    assert_int_equal(fx.sink_aborted, 2);
    // A route's own deadline is not made longer.
    fx.cancelled = 0;
    h2_headers(&c, 9, H2_HEAD("GET", "/deadline") "x-deadline-ms: 3600000\n", true);
    h2_over(&c, 9);
    assert_int_equal(fx.cancelled, FK_E_TIMEOUT);
    h2_close(&c);
    // The same on HTTP/1.
    fx.cancelled = 0;
    assert_int_equal(fx_ask(&fx,
                            FX_LIT("GET /wait HTTP/1.1\r\nHost: x\r\nX-Deadline-Ms: 30\r\n"
                                   "Connection: close\r\n\r\n"),
                            &b),
                     200);
    assert_int_equal(fx.cancelled, FK_E_TIMEOUT);
    assert_int_equal(fx_ask(&fx,
                            FX_LIT("POST /a HTTP/1.1\r\nHost: x\r\nX-Deadline-Ms: 30\r\n"
                                   "Content-Length: 10\r\n\r\nabc"),
                            &b),
                     504);
    assert_int_equal(fx_ask(&fx,
                            FX_LIT("POST /sink HTTP/1.1\r\nHost: x\r\nX-Deadline-Ms: 30\r\n"
                                   "Content-Length: 10\r\n\r\nabc"),
                            &b),
                     504);
    assert_int_equal(fx.sink_aborted, 3);
    fk_buf_free(&b);
    fx_stop(&fx);
}

static void test_request_limit(void **state)
{
    (void)state;
    struct fx fx;
    struct h2 c;
    struct fk_http_server_opts o = fx_opts();
    o.limits.requests = 5;
    fx_start(&fx, o);
    h2_open(&c, &fx);
    for (uint32_t id = 1; id <= 9; id += 2) {
        h2_get(&c, id, "/a");
        assert_int_equal(h2_over(&c, id)->status, 200);
    }
    h2_until(&c, c.closed);
    assert_int_equal(c.goaways, 2);
    assert_int_equal(c.last, 9);
    h2_close(&c);
    fx_stop(&fx);
}

// Held bytes count: when there is no room for them the request is refused.
static void test_bodies_memory(void **state)
{
    (void)state;
    struct fx fx;
    struct h2 c;
    struct fk_http_server_opts o = fx_opts();
    char *big = fk_calloc(1, 500000);
    o.limits.bodies = 300000;
    fx_start(&fx, o);
    h2_open(&c, &fx);
    h2_headers(&c, 1, H2_HEAD("POST", "/sink") "x-pause: 1\n", false);
    h2_data(&c, 1, big, 500000, false);
    assert_int_equal(h2_over(&c, 1)->status, 503);
    assert_true(h2_has(&c.s[0].body, "--http-bodies-memory"));
    fk_free(big);
    h2_close(&c);
    fx_stop(&fx);
}

// A client that went without a word: the request would wait for ever.
static void test_vanished(void **state)
{
    (void)state;
    struct fx fx;
    struct h2 c;
    struct fk_http_stats st;
    struct fk_http_server_opts o = fx_opts();
    o.limits.idle_ns = 200 * FK_NS_PER_MS;
    fx_start(&fx, o);
    h2_open(&c, &fx);
    c.mute = true;
    h2_get(&c, 1, "/wait");
    h2_until(&c, c.closed);
    assert_int_equal(c.asked, 1);
    fx_wait_for(fx.cancelled == FK_E_CANCELLED);
    fk_http_server_stats(fx.server, &st);
    assert_int_equal(st.timeouts, 1);
    h2_close(&c);
    check_alive(&fx);
    fx_stop(&fx);
}

// One that answers is waited for as long as it likes, and its requests with it.
static void test_silent_but_there(void **state)
{
    (void)state;
    struct fx fx;
    struct h2 c;
    struct fk_http_server_opts o = fx_opts();
    o.limits.idle_ns = 2 * FK_NS_PER_S; // a busy machine may answer late
    fx_start(&fx, o);
    h2_open(&c, &fx);
    h2_get(&c, 1, "/wait");
    h2_until(&c, c.asked == 2);
    assert_int_equal(fx.cancelled, 0);
    fx.release = 1;
    assert_true(h2_has(&h2_over(&c, 1)->body, "waited"));
    assert_int_equal(c.goaways, 0);
    h2_close(&c);
    fx_stop(&fx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_floods),
        cmocka_unit_test(test_unknown_frames),
        cmocka_unit_test(test_no_flood),
        cmocka_unit_test(test_rapid_reset),
        cmocka_unit_test(test_continuations),
        cmocka_unit_test(test_headers),
        cmocka_unit_test(test_wrong_frames),
        cmocka_unit_test(test_wrong_streams),
        cmocka_unit_test(test_idle),
        cmocka_unit_test(test_slow),
        cmocka_unit_test(test_deadline),
        cmocka_unit_test(test_request_limit),
        cmocka_unit_test(test_bodies_memory),
        cmocka_unit_test(test_vanished),
        cmocka_unit_test(test_silent_but_there),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
