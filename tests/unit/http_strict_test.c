// SPDX-License-Identifier: Apache-2.0
// What a strict HTTP/1 server must refuse, and what it must take: raw bytes in, status and the
// connection's fate out.
#include "http_fixture.h"

struct row {
    const char *name;
    const char *bytes;
    size_t n; // 0: strlen
    int status;
    bool closes; // after the answer, though the client keeps its side open
};

#define POST   "POST /a HTTP/1.1\r\nHost: x\r\n"
#define GET    "GET /a HTTP/1.1\r\nHost: x\r\n"
#define TE     POST "Transfer-Encoding: chunked\r\n\r\n"
#define LIT(s) s, sizeof(s) - 1

static const struct row rows[] = {
    // framing that two readers could understand differently
    {"CL and TE", POST "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 0, 400,
     true},
    {"TE and CL", POST "Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n", 0, 400,
     true},
    {"two different CL", POST "Content-Length: 5\r\nContent-Length: 6\r\n\r\nxxxxx", 0, 400, true},
    {"two equal CL", POST "Content-Length: 5\r\nContent-Length: 5\r\n\r\nxxxxx", 0, 400, true},
    {"CL list", POST "Content-Length: 5, 5\r\n\r\nxxxxx", 0, 400, true},
    {"CL +5", POST "Content-Length: +5\r\n\r\nxxxxx", 0, 400, true},
    {"CL -5", POST "Content-Length: -5\r\n\r\nxxxxx", 0, 400, true},
    {"CL 0x5", POST "Content-Length: 0x5\r\n\r\nxxxxx", 0, 400, true},
    {"CL empty", POST "Content-Length:\r\n\r\n", 0, 400, true},
    {"CL with a blank inside", POST "Content-Length: 1 2\r\n\r\nxxxxx", 0, 400, true},
    {"CL beyond 64 bits", POST "Content-Length: 99999999999999999999999\r\n\r\n", 0, 400, true},
    {"CL near 64 bits", POST "Content-Length: 999999999999999999\r\n\r\n", 0, 413, true},
    {"TE xchunked", POST "Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n", 0, 400, true},
    {"TE gzip, chunked", POST "Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n", 0, 400, true},
    {"TE chunked, gzip", POST "Transfer-Encoding: chunked, gzip\r\n\r\n0\r\n\r\n", 0, 400, true},
    {"TE twice", POST "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
     0, 400, true},
    {"TE identity", POST "Transfer-Encoding: identity\r\n\r\n", 0, 400, true},
    {"TE empty", POST "Transfer-Encoding:\r\n\r\n0\r\n\r\n", 0, 400, true},
    {"TE with a tab before the colon", POST "Transfer-Encoding\t: chunked\r\n\r\n0\r\n\r\n", 0, 400,
     true},
    {"TE with VT",
     POST "Transfer-Encoding: \x0b"
          "chunked\r\n\r\n0\r\n\r\n",
     0, 400, true},
    {"TE on 1.0", "POST /a HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 0, 400, true},
    {"TE Chunked in capitals",
     POST "Transfer-Encoding: CHUNKED\r\nConnection: close\r\n\r\n0\r\n\r\n", 0, 200, true},
    // folded and malformed lines
    {"folded CL", POST "Content-Length:\r\n 5\r\n\r\nxxxxx", 0, 400, true},
    {"folded field", GET "A: b\r\n c\r\n\r\n", 0, 400, true},
    {"folded with a tab", GET "A: b\r\n\tc\r\n\r\n", 0, 400, true},
    {"blank before the first field", "GET /a HTTP/1.1\r\n Host: x\r\n\r\n", 0, 400, true},
    {"space before the colon", "GET /a HTTP/1.1\r\nHost : x\r\n\r\n", 0, 400, true},
    {"no colon", GET "Abc\r\n\r\n", 0, 400, true},
    {"empty name", GET ": b\r\n\r\n", 0, 400, true},
    {"name with a bracket", GET "A[: b\r\n\r\n", 0, 400, true},
    {"bare LF", "GET /a HTTP/1.1\nHost: x\n\n", 0, 400, true},
    {"bare LF after one field", GET "A: b\nC: d\r\n\r\n", 0, 400, true},
    {"bare CR in a value", GET "A: b\rX: y\r\n\r\n", 0, 400, true},
    {"CR CR LF", GET "A: b\r\r\n\r\n", 0, 400, true},
    {"NUL in a value", LIT(GET "A: b\0c\r\n\r\n"), 400, true},
    {"NUL in a name", LIT(GET "A\0: b\r\n\r\n"), 400, true},
    {"DEL in a value", GET "A: b\x7f\r\n\r\n", 0, 400, true},
    {"high bytes in a value", GET "A: \xc3\xa9\r\nConnection: close\r\n\r\n", 0, 200, true},
    // Host
    {"no Host", "GET /a HTTP/1.1\r\n\r\n", 0, 400, true},
    {"two Hosts", "GET /a HTTP/1.1\r\nHost: x\r\nHost: x\r\n\r\n", 0, 400, true},
    {"Host with a path", "GET /a HTTP/1.1\r\nHost: x/y\r\n\r\n", 0, 400, true},
    {"Host with a user", "GET /a HTTP/1.1\r\nHost: a@b\r\n\r\n", 0, 400, true},
    {"Host list", "GET /a HTTP/1.1\r\nHost: a,b\r\n\r\n", 0, 400, true},
    {"no Host on 1.0", "GET /a HTTP/1.0\r\n\r\n", 0, 200, true},
    // request line
    {"HTTP/1.2", "GET /a HTTP/1.2\r\nHost: x\r\n\r\n", 0, 505, true},
    {"HTTP/0.9", "GET /a HTTP/0.9\r\n\r\n", 0, 505, true},
    {"HTTP/2.0", "GET /a HTTP/2.0\r\nHost: x\r\n\r\n", 0, 505, true},
    {"HTTP/2 preface with a fault at its end", "PRI * HTTP/2.0\r\n\r\nSM\r\n\rX", 0, 400, true},
    {"HTTP/2 preface with a field", "PRI * HTTP/2.0\r\nHost: x\r\n\r\n", 0, 505, true},
    {"no version", "GET /a\r\n\r\n", 0, 505, true},
    {"lower-case version", "GET /a http/1.1\r\nHost: x\r\n\r\n", 0, 400, true},
    {"unknown method", "BREW /a HTTP/1.1\r\nHost: x\r\n\r\n", 0, 501, true},
    {"lower-case method", "get /a HTTP/1.1\r\nHost: x\r\n\r\n", 0, 501, true},
    {"CONNECT", "CONNECT x:80 HTTP/1.1\r\nHost: x:80\r\n\r\n", 0, 501, true},
    {"two blanks", "GET  /a HTTP/1.1\r\nHost: x\r\n\r\n", 0, 400, true},
    {"blank in the target", "GET /a b HTTP/1.1\r\nHost: x\r\n\r\n", 0, 400, true},
    {"control in the target", "GET /a\x01 HTTP/1.1\r\nHost: x\r\n\r\n", 0, 400, true},
    {"fragment", "GET /a#b HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", 0, 400, true},
    {"relative target", "GET a HTTP/1.1\r\nHost: x\r\n\r\n", 0, 400, true},
    {"TLS hello", LIT("\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"), 400, true},
    {"absolute target", "GET http://x/a HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", 0, 200,
     true},
    {"absolute target, other host", "GET http://y/a HTTP/1.1\r\nHost: x\r\n\r\n", 0, 400, true},
    {"absolute target with a user", "GET http://u@x/a HTTP/1.1\r\nHost: x\r\n\r\n", 0, 400, true},
    {"other scheme", "GET ftp://x/a HTTP/1.1\r\nHost: x\r\n\r\n", 0, 400, true},
    {"asterisk with GET", "GET * HTTP/1.1\r\nHost: x\r\n\r\n", 0, 400, true},
    {"double slash", "GET //a HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", 0, 200, true},
    {"empty line first", "\r\nGET /a HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", 0, 200,
     true},
    {"upgrade is ignored", GET "Connection: upgrade, close\r\nUpgrade: h2c\r\n\r\n", 0, 200, true},
    {"bad percent in the path", "GET /item/%zz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", 0,
     400, true},
    {"NUL encoded in the path", "GET /item/%00 HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", 0,
     400, true},
    // chunks
    {"chunk extension with a bare LF", TE "5;a\nxxxxx\r\n0\r\n\r\n", 0, 400, true},
    {"chunk size with a bare LF", TE "5\nxxxxx\r\n0\r\n\r\n", 0, 400, true},
    {"chunk size of letters", TE "zz\r\nxxxxx\r\n0\r\n\r\n", 0, 400, true},
    {"chunk size empty", TE "\r\nxxxxx\r\n0\r\n\r\n", 0, 400, true},
    {"chunk size 0x5", TE "0x5\r\nxxxxx\r\n0\r\n\r\n", 0, 400, true},
    {"chunk size -1", TE "-1\r\nxxxxx\r\n0\r\n\r\n", 0, 400, true},
    {"chunk size with a blank", TE "5 \r\nxxxxx\r\n0\r\n\r\n", 0, 400, true},
    {"chunk size of 17 digits", TE "00000000000000005\r\nxxxxx\r\n0\r\n\r\n", 0, 400, true},
    {"chunk size near 64 bits", TE "fffffffffffffff\r\nxxxxx", 0, 0, false},
    {"chunk longer than said", TE "5\r\nxxxxxx\r\n0\r\n\r\n", 0, 400, true},
    {"chunk end with a bare LF", TE "5\r\nxxxxx\n0\r\n\r\n", 0, 400, true},
    {"chunk end with a bare CR", TE "5\r\nxxxxx\r0\r\n\r\n", 0, 400, true},
    {"last chunk without its line", TE "0\r\nX\r\n0\r\n\r\n", 0, 200, false},
    {"folded trailer", TE "0\r\nA: b\r\n c\r\n\r\n", 0, 400, true},
    {"NUL in a trailer", LIT(TE "0\r\nA: \0b\r\n\r\n"), 400, true},
    {"chunk extension", TE "5;a=b\r\nxxxxx\r\n0;c\r\n\r\n", 0, 200, false},
    {"trailers", TE "5\r\nxxxxx\r\n0\r\nA: b\r\nC: d\r\n\r\n", 0, 200, false},
    // Expect
    {"other Expect", POST "Expect: 200-ok\r\nContent-Length: 5\r\n\r\nxxxxx", 0, 417, true},
    // what must go on
    {"GET", GET "\r\n", 0, 200, false},
    {"HEAD", "HEAD /a HTTP/1.1\r\nHost: x\r\n\r\n", 0, 200, false},
    {"POST", POST "Content-Length: 5\r\n\r\nxxxxx", 0, 200, false},
    {"POST without a body", POST "\r\n", 0, 200, false},
    {"not found", "GET /nothing HTTP/1.1\r\nHost: x\r\n\r\n", 0, 404, false},
    {"not allowed", "DELETE /a HTTP/1.1\r\nHost: x\r\n\r\n", 0, 405, false},
    {"OPTIONS *", "OPTIONS * HTTP/1.1\r\nHost: x\r\n\r\n", 0, 404, false},
    {"body where none is taken", GET "Content-Length: 5\r\n\r\nxxxxx", 0, 413, false},
    {"keep-alive on 1.0", "GET /a HTTP/1.0\r\nConnection: keep-alive\r\n\r\n", 0, 200, false},
};

// Whole and cut into single bytes: the answer must not depend on how the bytes arrive.
static bool check_row(struct fx *fx, const struct row *r, bool bytewise)
{
    struct fk_buf b;
    size_t n = r->n ? r->n : strlen(r->bytes);
    int fd = fx_connect(fx);
    fk_buf_init(&b, 0);
    for (size_t i = 0; i < n; i += bytewise ? 1 : n)
        if (fx_send(fd, r->bytes + i, bytewise ? 1 : n) == 0)
            break;
    int rc = fx_read(fd, &b, r->closes ? NULL : "\r\n\r\n", r->status ? 5000 : 300);
    bool ok = fx_status(&b) == r->status && (r->status == 0 || rc == 1);
    if (ok && r->status && !r->closes) { // it must still be of use
        fk_buf_clear(&b);
        fx_say(fd, "GET /item/again HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
        fx_read(fd, &b, NULL, 5000);
        ok = fx_has(&b, "item again");
    }
    if (!ok)
        print_error("%s (%s): status %d, want %d, read %d: %.*s\n", r->name,
                    bytewise ? "bytewise" : "whole", fx_status(&b), r->status, rc,
                    FK_STR_ARG(fk_str_head(fk_buf_view(&b), 300)));
    fk_net_close(fd);
    fk_buf_free(&b);
    return ok;
}

static void test_table(void **state)
{
    (void)state;
    struct fx fx;
    int bad = 0;
    fx_start(&fx, fx_opts());
    for (size_t i = 0; i < FK_COUNTOF(rows); i++)
        for (int bytewise = 0; bytewise < 2; bytewise++)
            bad += !check_row(&fx, &rows[i], bytewise);
    fx_stop(&fx);
    assert_int_equal(bad, 0);
}

// After a refusal nothing behind it may be taken for a request.
static void test_nothing_is_smuggled(void **state)
{
    (void)state;
    struct fx fx;
    struct fk_buf b;
    fk_buf_init(&b, 0);
    fx_start(&fx, fx_opts());
    for (size_t i = 0; i < FK_COUNTOF(rows); i++) {
        size_t n = rows[i].n ? rows[i].n : strlen(rows[i].bytes);
        FK_AUTO_BUF in;
        if (rows[i].status < 400 || !rows[i].closes)
            continue;
        fk_buf_init(&in, 0);
        fk_buf_put(&in, rows[i].bytes, n);
        fk_buf_cstr(&in, "GET /item/smuggled HTTP/1.1\r\nHost: x\r\n\r\n");
        fx_ask(&fx, in.p, in.n, &b);
        if (fx_has(&b, "item smuggled"))
            fail_msg("%s: a smuggled request was answered", rows[i].name);
    }
    fk_buf_free(&b);
    fx_stop(&fx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_table),
        cmocka_unit_test(test_nothing_is_smuggled),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
