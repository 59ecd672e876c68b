// SPDX-License-Identifier: Apache-2.0
// TLS: what is agreed on, what is refused, both protocols over it, client certificates, a new
// certificate under open connections, and clients that do not speak it. Certificates are made here.
#include "cert_fixture.h"
#include "h2_fixture.h"

#include <openssl/err.h>
#include <openssl/ssl.h>

struct tx {
    struct fx fx;
    char *folder;
    char cert[300], key[300], ca[300], bad[300];
    struct made authority, server, client, stranger;
};

static void tx_start(struct tx *t, struct fk_http_server_opts o, bool client_ca)
{
    t->folder = fk_test_tmpdir();
    snprintf(t->cert, sizeof(t->cert), "%s/cert.pem", t->folder);
    snprintf(t->key, sizeof(t->key), "%s/key.pem", t->folder);
    snprintf(t->ca, sizeof(t->ca), "%s/ca.pem", t->folder);
    snprintf(t->bad, sizeof(t->bad), "%s/bad.pem", t->folder);
    t->authority = make_cert("authority", NULL, true);
    t->server = make_cert("server one", NULL, false);
    t->client = make_cert("client", &t->authority, false);
    t->stranger = make_cert("stranger", NULL, false);
    write_pem(t->cert, &t->server, true, false);
    write_pem(t->key, &t->server, false, true);
    write_pem(t->ca, &t->authority, true, false);
    write_pem(t->bad, &t->stranger, false, true);
    o.tls = (struct fk_http_tls){t->cert, t->key, client_ca ? t->ca : NULL};
    fx_start(&t->fx, o);
}

static void tx_stop(struct tx *t)
{
    fx_stop(&t->fx);
    free_cert(&t->authority);
    free_cert(&t->server);
    free_cert(&t->client);
    free_cert(&t->stranger);
    fk_test_rmtree(t->folder);
}

// --- a client ---
struct ask {
    int min, max;           // versions; 0: any
    const char *alpn;       // as on the wire; NULL: none
    const struct made *who; // its certificate
    const char *ciphers;    // of TLS 1.2
};

struct client {
    SSL_CTX *ctx;
    SSL *ssl;
    int fd;
};

static void wait_fd(struct client *c)
{
    struct fk_err err;
    uint32_t ready;
    fk_net_wait(c->fd, SSL_want_write(c->ssl) ? FK_READY_OUT : FK_READY_IN, 5 * FK_NS_PER_S, &ready,
                &err);
}

// 1: done; else an error of OpenSSL's.
static int step(struct client *c, int rc)
{
    int e = SSL_get_error(c->ssl, rc);
    if (rc > 0)
        return 1;
    if (e != SSL_ERROR_WANT_READ && e != SSL_ERROR_WANT_WRITE)
        return -e;
    wait_fd(c);
    return 0;
}

static int shake(struct client *c)
{
    for (int i = 0; i < 1000; i++) {
        ERR_clear_error();
        int rc = step(c, SSL_connect(c->ssl));
        if (rc)
            return rc;
    }
    return -1;
}

static int tls_open(struct client *c, struct fx *fx, struct ask a)
{
    c->ctx = SSL_CTX_new(TLS_client_method());
    SSL_CTX_set_security_level(c->ctx, 0); // to offer what the server must refuse
    SSL_CTX_set_min_proto_version(c->ctx, a.min);
    SSL_CTX_set_max_proto_version(c->ctx, a.max);
    SSL_CTX_set_options(c->ctx, SSL_OP_IGNORE_UNEXPECTED_EOF);
    if (a.ciphers)
        assert_int_equal(SSL_CTX_set_cipher_list(c->ctx, a.ciphers), 1);
    if (a.alpn)
        SSL_CTX_set_alpn_protos(c->ctx, (const unsigned char *)a.alpn, (unsigned)strlen(a.alpn));
    if (a.who) {
        SSL_CTX_use_certificate(c->ctx, a.who->cert);
        SSL_CTX_use_PrivateKey(c->ctx, a.who->key);
    }
    c->fd = fx_connect(fx);
    c->ssl = SSL_new(c->ctx);
    SSL_set_fd(c->ssl, c->fd);
    return shake(c);
}

static void tls_close(struct client *c)
{
    SSL_free(c->ssl);
    SSL_CTX_free(c->ctx);
    fk_net_close(c->fd);
}

static bool tls_send(struct client *c, const void *p, size_t n)
{
    for (size_t at = 0; at < n;) {
        ERR_clear_error();
        int k = SSL_write(c->ssl, (const char *)p + at, (int)FK_MIN(n - at, (size_t)1 << 20));
        int rc = step(c, k);
        if (rc < 0)
            return false;
        at += rc > 0 ? (size_t)k : 0;
    }
    return true;
}

static bool tls_say(struct client *c, const char *text)
{
    return tls_send(c, text, strlen(text));
}

// Until `until` occurs, or NULL: the end. 1: found or ended with a close_notify or a plain end.
static int tls_read(struct client *c, struct fk_buf *b, const char *until)
{
    for (int i = 0; i < 100000; i++) {
        if (until && fx_has(b, until))
            return 1;
        ERR_clear_error();
        int k = SSL_read(c->ssl, fk_buf_reserve(b, 65536), 65536);
        int rc = step(c, k);
        if (rc > 0)
            b->n += (size_t)k;
        if (rc == -SSL_ERROR_ZERO_RETURN)
            return until ? 0 : 1;
        if (rc < 0)
            return -1;
    }
    return 0;
}

static int tls_ask(struct client *c, const char *text, const char *until, struct fk_buf *b)
{
    fk_buf_clear(b);
    return tls_say(c, text) && tls_read(c, b, until) == 1 ? fx_status(b) : 0;
}

static struct fk_http_stats stats(struct fx *fx)
{
    struct fk_http_stats st;
    fk_http_server_stats(fx->server, &st);
    return st;
}

#define GET_A "GET /a HTTP/1.1\r\nHost: x\r\n\r\n"

// --- versions, ciphers, protocols ---
struct agreed {
    const char *name;
    struct ask ask;
    bool ok;
    int version;
    const char *alpn; // that is chosen; "": none
};

static const struct agreed agreed_rows[] = {
    {"TLS 1.0", {TLS1_VERSION, TLS1_VERSION}, false, 0, ""},
    {"TLS 1.1", {TLS1_1_VERSION, TLS1_1_VERSION}, false, 0, ""},
    {"TLS 1.2", {TLS1_2_VERSION, TLS1_2_VERSION}, true, TLS1_2_VERSION, ""},
    {"TLS 1.3", {TLS1_3_VERSION, TLS1_3_VERSION}, true, TLS1_3_VERSION, ""},
    {"any", {0, 0}, true, TLS1_3_VERSION, ""},
    {"h2", {0, 0, "\2h2"}, true, TLS1_3_VERSION, "h2"},
    {"http/1.1", {0, 0, "\10http/1.1"}, true, TLS1_3_VERSION, "http/1.1"},
    {"both", {0, 0, "\10http/1.1\2h2"}, true, TLS1_3_VERSION, "h2"},
    {"both on 1.2", {0, TLS1_2_VERSION, "\2h2\10http/1.1"}, true, TLS1_2_VERSION, "h2"},
    {"unknown protocol", {0, 0, "\3abc"}, false, 0, ""},
    {"CBC", {0, TLS1_2_VERSION, NULL, NULL, "ECDHE-ECDSA-AES128-SHA"}, false, 0, ""},
    {"3DES, RC4, MD5", {0, TLS1_2_VERSION, NULL, NULL, "ALL:!AESGCM:!CHACHA20:!AESCCM"}, false},
    {"CHACHA20", {0, TLS1_2_VERSION, NULL, NULL, "ECDHE+CHACHA20"}, true, TLS1_2_VERSION, ""},
};

static void test_agreement(void **state)
{
    (void)state;
    struct tx t;
    int bad = 0;
    uint64_t ok = 0;
    tx_start(&t, fx_opts(), false);
    for (size_t i = 0; i < FK_COUNTOF(agreed_rows); i++) {
        const struct agreed *r = &agreed_rows[i];
        struct client c;
        const unsigned char *alpn;
        unsigned n;
        bool done = tls_open(&c, &t.fx, r->ask) == 1;
        SSL_get0_alpn_selected(c.ssl, &alpn, &n);
        if (done != r->ok ||
            (done && (SSL_version(c.ssl) != r->version || n != strlen(r->alpn) ||
                      (n && memcmp(alpn, r->alpn, n)) || SSL_get_current_compression(c.ssl)))) {
            print_error("%s: done %d, version %x, protocol %.*s\n", r->name, done,
                        (unsigned)SSL_version(c.ssl), (int)n, n ? (const char *)alpn : "");
            bad++;
        }
        ok += done;
        tls_close(&c);
    }
    assert_int_equal(bad, 0);
    fx_wait_for(stats(&t.fx).tls_connections == ok);
    assert_int_equal(stats(&t.fx).tls_failed, FK_COUNTOF(agreed_rows) - ok);
    tx_stop(&t);
}

static void test_http1(void **state)
{
    (void)state;
    struct tx t;
    struct client c;
    FK_AUTO_BUF b;
    FK_AUTO_BUF post;
    fk_buf_init(&b, 0);
    fk_buf_init(&post, 0);
    tx_start(&t, fx_opts(), false);
    for (int version = TLS1_2_VERSION; version <= TLS1_3_VERSION; version++) {
        assert_int_equal(tls_open(&c, &t.fx, (struct ask){version, version}), 1);
        assert_int_equal(tls_ask(&c, GET_A, "hello\n", &b), 200);
        assert_int_equal(tls_ask(&c, "GET /show HTTP/1.1\r\nHost: x\r\n\r\n", "=x\n", &b), 200);
        assert_true(fx_has(&b, "11 GET /show? host=x tls\n"));
        // Long both ways, and two at once.
        fk_buf_clear(&post);
        fk_buf_cstr(&post, "POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: 3000000\r\n\r\n");
        fk_buf_fill(&post, 'x', 3000000);
        fk_buf_cstr(&post, GET_A);
        assert_true(tls_send(&c, post.p, post.n));
        fk_buf_clear(&b);
        assert_int_equal(tls_read(&c, &b, "hello\n"), 1);
        assert_true(fx_has(&b, "\r\n\r\n3000000 "));
        assert_int_equal(tls_ask(&c,
                                 "GET /stream?n=5000000&length=1 HTTP/1.1\r\nHost: x\r\n"
                                 "Connection: close\r\n\r\n",
                                 NULL, &b),
                         200);
        assert_in_range(b.n, 5000100, 5000400);
        assert_int_equal(SSL_get_shutdown(c.ssl) & SSL_RECEIVED_SHUTDOWN, SSL_RECEIVED_SHUTDOWN);
        tls_close(&c);
    }
    tx_stop(&t);
}

// A client that has ended its direction still gets its answer; one that is just gone does not
// disturb.
static void test_ends(void **state)
{
    (void)state;
    struct tx t;
    struct client c;
    FK_AUTO_BUF b;
    fk_buf_init(&b, 0);
    tx_start(&t, fx_opts(), false);
    assert_int_equal(tls_open(&c, &t.fx, (struct ask){0}), 1);
    assert_true(tls_say(&c, "GET /a HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"));
    SSL_shutdown(c.ssl);
    fk_net_end_writes(c.fd);
    assert_int_equal(tls_read(&c, &b, NULL), 1);
    assert_true(fx_has(&b, "hello"));
    tls_close(&c);
    // In the midst of a body: no answer, on_abort.
    assert_int_equal(tls_open(&c, &t.fx, (struct ask){0}), 1);
    assert_true(tls_say(&c, "POST /sink HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\nabc"));
    fx_wait_for(t.fx.sink_bytes == 3);
    tls_close(&c);
    fx_wait_for(t.fx.sink_aborted == 1);
    // While the answer is awaited.
    assert_int_equal(tls_open(&c, &t.fx, (struct ask){0}), 1);
    assert_true(tls_say(&c, "GET /wait HTTP/1.1\r\nHost: x\r\n\r\n"));
    fx_wait_for(t.fx.started == 1);
    tls_close(&c);
    fx_wait_for(t.fx.cancelled == FK_E_CANCELLED);
    tx_stop(&t);
}

// Records that the socket takes in small parts: a client that reads slowly.
static void test_slow_reader(void **state)
{
    (void)state;
    struct tx t;
    struct client c;
    FK_AUTO_BUF b;
    fk_buf_init(&b, 0);
    tx_start(&t, fx_opts(), false);
    assert_int_equal(tls_open(&c, &t.fx, (struct ask){0}), 1);
    assert_true(tls_say(&c, "GET /stream?n=20000000 HTTP/1.1\r\nHost: x\r\n\r\n"));
    fx_wait_for(t.fx.started == 1);
    fk_sleep_ns(50 * FK_NS_PER_MS);
    assert_int_equal(tls_read(&c, &b, "0\r\nx-end: yes\r\n\r\n"), 1);
    assert_true(b.n > 20000000);
    tls_close(&c);
    tx_stop(&t);
}

// Frames by hand, without looking at those of the server but for the answer.
static void test_http2(void **state)
{
    (void)state;
    struct tx t;
    struct client c;
    FK_AUTO_BUF b;
    FK_AUTO_BUF f;
    FK_AUTO_BUF out;
    static const char *const alpn[] = {"\2h2", NULL};
    fk_buf_init(&b, 0);
    fk_buf_init(&f, 0);
    fk_buf_init(&out, 0);
    fk_buf_cstr(&out, H2_PREFACE);
    h2_frame(&out, NGHTTP2_SETTINGS, 0, 0, NULL, 0);
    h2_fields(&f, H2_HEAD("GET", "/show"));
    h2_frame(&out, NGHTTP2_HEADERS, 5, 1, f.p, f.n);
    tx_start(&t, fx_opts(), false);
    for (size_t i = 0; i < 2; i++) { // agreed on, or with prior knowledge
        assert_int_equal(tls_open(&c, &t.fx, (struct ask){.alpn = alpn[i]}), 1);
        assert_true(tls_send(&c, out.p, out.n));
        fk_buf_clear(&b);
        assert_int_equal(tls_read(&c, &b, "20 GET /show? host=x tls\n"), 1);
        tls_close(&c);
    }
    // Agreed on HTTP/2, speaks HTTP/1.
    assert_int_equal(tls_open(&c, &t.fx, (struct ask){.alpn = "\2h2"}), 1);
    assert_true(tls_say(&c, GET_A));
    fk_buf_clear(&b);
    assert_int_equal(tls_read(&c, &b, NULL), 1);
    assert_false(fx_has(&b, "hello"));
    tls_close(&c);
    tx_stop(&t);
}

static void test_client_certificates(void **state)
{
    (void)state;
    struct tx t;
    FK_AUTO_BUF b;
    fk_buf_init(&b, 0);
    tx_start(&t, fx_opts(), true);
    struct made later = make_cert("late", &t.authority, false);
    X509_gmtime_adj(X509_getm_notAfter(later.cert), -60);
    X509_sign(later.cert, t.authority.key, EVP_sha256());
    const struct made *who[] = {&t.client, NULL, &t.stranger, &later};
    for (int version = TLS1_2_VERSION; version <= TLS1_3_VERSION; version++)
        for (size_t i = 0; i < FK_COUNTOF(who); i++) {
            struct client c;
            bool ok = tls_open(&c, &t.fx, (struct ask){version, version, NULL, who[i]}) == 1;
            // With 1.3 the client learns of a refusal only when it reads.
            ok = ok && tls_ask(&c, GET_A, "hello\n", &b) == 200;
            assert_int_equal(ok, i == 0);
            tls_close(&c);
        }
    fx_wait_for(stats(&t.fx).tls_failed == 6);
    free_cert(&later);
    tx_stop(&t);
}

// --- others than TLS ---
static void test_clear_bytes(void **state)
{
    (void)state;
    struct tx t;
    FK_AUTO_BUF b;
    struct fk_http_server_opts o = fx_opts();
    fk_buf_init(&b, 0);
    o.limits.head_ns = 200 * FK_NS_PER_MS;
    tx_start(&t, o, false);
    static const char *const texts[] = {GET_A, "DELETE /a HTTP/1.1\r\nHost: x\r\n\r\n", H2_PREFACE};
    for (size_t i = 0; i < FK_COUNTOF(texts); i++) {
        assert_int_equal(fx_ask(&t.fx, texts[i], strlen(texts[i]), &b), 400);
        assert_true(fx_has(&b, "https://"));
    }
    assert_int_equal(stats(&t.fx).tls_clear, 3);
    // Rubbish, and silence, from the start and in the midst of the handshake.
    assert_true(fx_ask(&t.fx, FX_LIT("\x80\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0a"), &b) <= 0);
    for (int i = 0; i < 2; i++) {
        int fd = fx_connect(&t.fx);
        fk_buf_clear(&b);
        fx_send(fd, "\x16\x03\x01\x02\x00\x01", i ? 6 : 0);
        assert_int_equal(fx_read(fd, &b, NULL, 5000), 1);
        fk_net_close(fd);
    }
    assert_int_equal(stats(&t.fx).tls_failed, 6);
    tx_stop(&t);
}

// --- certificates that change ---
static bool shows(struct client *c, const char *cn)
{
    char have[100] = "";
    X509 *x = SSL_get1_peer_certificate(c->ssl);
    X509_NAME_get_text_by_NID(X509_get_subject_name(x), NID_commonName, have, sizeof(have));
    X509_free(x);
    return strcmp(have, cn) == 0;
}

static void test_reload(void **state)
{
    (void)state;
    struct tx t;
    struct client old, new;
    struct fk_err err;
    FK_AUTO_BUF b;
    fk_buf_init(&b, 0);
    tx_start(&t, fx_opts(), false);
    struct made two = make_cert("server two", NULL, false);
    assert_int_equal(tls_open(&old, &t.fx, (struct ask){0}), 1);
    assert_true(shows(&old, "server one"));
    // Half a change: the key is not that of the certificate. The old pair stays.
    write_pem(t.cert, &two, true, false);
    assert_int_equal(fk_http_server_reload_tls(t.fx.server, &err), -FK_E_INVALID);
    assert_string_equal(err.param, "--tls-key");
    assert_int_equal(tls_open(&new, &t.fx, (struct ask){0}), 1);
    assert_true(shows(&new, "server one"));
    tls_close(&new);
    write_pem(t.key, &two, false, true);
    fk_test_ok(fk_http_server_reload_tls(t.fx.server, &err), &err);
    assert_int_equal(tls_open(&new, &t.fx, (struct ask){0}), 1);
    assert_true(shows(&new, "server two"));
    assert_int_equal(tls_ask(&old, GET_A, "hello\n", &b), 200);
    assert_int_equal(tls_ask(&new, GET_A, "hello\n", &b), 200);
    tls_close(&old);
    tls_close(&new);
    free_cert(&two);
    tx_stop(&t);
}

static void test_bad_files(void **state)
{
    (void)state;
    struct tx t;
    struct fk_err err;
    tx_start(&t, fx_opts(), false);
    const struct {
        struct fk_http_tls files;
        const char *flag;
    } rows[] = {
        {{"/nonexistent/cert.pem", t.key, NULL}, "--tls-cert"},
        {{t.key, t.key, NULL}, "--tls-cert"},
        {{t.cert, "/nonexistent/key.pem", NULL}, "--tls-key"},
        {{t.cert, t.cert, NULL}, "--tls-key"},
        {{t.cert, NULL, NULL}, "--tls-cert"}, // no key in it
        {{t.cert, t.bad, NULL}, "--tls-key"}, // of another certificate
        {{t.cert, t.key, "/nonexistent/ca.pem"}, "--tls-client-ca"},
        {{t.cert, t.key, t.key}, "--tls-client-ca"},
    };
    for (size_t i = 0; i < FK_COUNTOF(rows); i++) {
        struct fk_http_server_opts o = fx_opts();
        struct fk_http_server *s = NULL;
        o.routes = fx_routes;
        o.routes_n = FK_COUNTOF(fx_routes);
        o.pool = t.fx.pool;
        o.tls = rows[i].files;
        assert_int_equal(fk_http_server_new(&o, &s, &err), -FK_E_INVALID);
        assert_string_equal(err.param, rows[i].flag);
        assert_non_null(strstr(err.msg, rows[i].flag));
        assert_null(s);
    }
    tx_stop(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_agreement),   cmocka_unit_test(test_http1),
        cmocka_unit_test(test_ends),        cmocka_unit_test(test_slow_reader),
        cmocka_unit_test(test_http2),       cmocka_unit_test(test_client_certificates),
        cmocka_unit_test(test_clear_bytes), cmocka_unit_test(test_reload),
        cmocka_unit_test(test_bad_files),
    };
    fk_signals_block(); // OpenSSL's own socket calls, of the client here, raise SIGPIPE
    return cmocka_run_group_tests(tests, NULL, NULL);
}
