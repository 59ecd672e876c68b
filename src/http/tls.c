// SPDX-License-Identifier: Apache-2.0
// TLS of the server, by OpenSSL: certificates and what is allowed, the handshake, records on the
// way between a connection and its socket. OpenSSL reads and writes through the room's own socket
// calls, so that nothing waits and no signal is raised.
#include "http/tls_int.h"

#include <openssl/err.h>
#include <openssl/ssl.h>

// --- errors ---
// The first error of OpenSSL's queue, which is emptied.
static void reason(char ret[160])
{
    unsigned long e = ERR_get_error();
    ERR_clear_error();
    const char *text = e ? ERR_reason_error_string(e) : NULL;
    snprintf(ret, 160, "%s", text ? text : e ? "the file cannot be read" : "unknown reason");
}

static int fail_file(struct fk_err *err, const char *flag, const char *file, const char *what)
{
    char why[160];
    reason(why);
    fk_fail_param(err, flag, "%s: %s is no %s: %s", flag, file, what, why);
    return -FK_E_INVALID;
}

// --- bytes of the socket ---
static int bio_read(BIO *b, char *to, int n)
{
    struct fk_http_wire *w = BIO_get_data(b);
    size_t got = 0;
    BIO_clear_retry_flags(b);
    int rc = fk_net_read(w->io.fd, to, (size_t)n, &got, NULL);
    if (rc == FK_IO_OK) {
        if (!w->first)
            w->first = to[0];
        return (int)got;
    }
    if (rc == FK_IO_AGAIN)
        BIO_set_retry_read(b);
    w->ended |= rc == FK_IO_END;
    return rc == FK_IO_END ? 0 : -1;
}

static int bio_write(BIO *b, const char *p, int n)
{
    struct fk_http_wire *w = BIO_get_data(b);
    size_t sent = 0;
    BIO_clear_retry_flags(b);
    int rc = fk_net_write(w->io.fd, p, (size_t)n, &sent, NULL);
    if (rc == FK_IO_OK)
        return (int)sent;
    if (rc == FK_IO_AGAIN)
        BIO_set_retry_write(b);
    return -1;
}

static long bio_ctrl(BIO *b, int what, long n, void *p)
{
    (void)n, (void)p;
    struct fk_http_wire *w = BIO_get_data(b);
    if (what == BIO_CTRL_EOF)
        return w->ended;
    return what == BIO_CTRL_FLUSH;
}

// --- a server's certificate ---
static int no_password(char *to, int size, int writing, void *arg)
{
    (void)to, (void)size, (void)writing, (void)arg;
    return -1; // nobody is there to be asked
}

static int choose_protocol(SSL *ssl, const unsigned char **ret, unsigned char *ret_n,
                           const unsigned char *offered, unsigned int n, void *arg)
{
    static const unsigned char ours[] = "\x02h2\x08http/1.1";
    (void)ssl, (void)arg;
    unsigned char *chosen;
    if (SSL_select_next_proto(&chosen, ret_n, ours, sizeof(ours) - 1, offered, n) !=
        OPENSSL_NPN_NEGOTIATED)
        return SSL_TLSEXT_ERR_ALERT_FATAL;
    *ret = chosen;
    return SSL_TLSEXT_ERR_OK;
}

static void set_rules(SSL_CTX *ctx)
{
    SSL_CTX_set_min_proto_version(ctx, TLS1_2_VERSION);
    SSL_CTX_set_options(ctx, SSL_OP_NO_COMPRESSION | SSL_OP_NO_RENEGOTIATION |
                                 SSL_OP_CIPHER_SERVER_PREFERENCE |
                                 // HTTP knows by itself when a message is cut off
                                 SSL_OP_IGNORE_UNEXPECTED_EOF);
    SSL_CTX_set_mode(ctx, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER |
                              SSL_MODE_RELEASE_BUFFERS);
    // Of TLS 1.2 only what HTTP/2 allows as well (RFC 9113 §9.2.2).
    SSL_CTX_set_cipher_list(ctx, "ECDHE+AESGCM:ECDHE+CHACHA20");
    SSL_CTX_set_session_id_context(ctx, (const unsigned char *)"flamekeep", 9);
    SSL_CTX_set_default_passwd_cb(ctx, no_password);
    SSL_CTX_set_alpn_select_cb(ctx, choose_protocol, NULL);
}

static int load_client_ca(SSL_CTX *ctx, const char *file, struct fk_err *err)
{
    STACK_OF(X509_NAME) *names = SSL_load_client_CA_file(file);
    if (!names || SSL_CTX_load_verify_file(ctx, file) != 1) {
        sk_X509_NAME_pop_free(names, X509_NAME_free);
        return fail_file(err, "--tls-client-ca", file, "file of certificates in PEM form");
    }
    SSL_CTX_set_client_CA_list(ctx, names);
    SSL_CTX_set_verify(ctx, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, NULL);
    return 0;
}

static int load_files(SSL_CTX *ctx, const struct fk_http_tls *files, struct fk_err *err)
{
    const char *key = files->key ? files->key : files->cert;
    const char *key_flag = files->key ? "--tls-key" : "--tls-cert";
    if (SSL_CTX_use_certificate_chain_file(ctx, files->cert) != 1)
        return fail_file(err, "--tls-cert", files->cert, "certificate in PEM form");
    if (SSL_CTX_use_PrivateKey_file(ctx, key, SSL_FILETYPE_PEM) != 1)
        return fail_file(err, key_flag, key,
                         files->key
                             ? "private key in PEM form, without a password, of that certificate"
                             : "file with the private key as well (--tls-key names another)");
    return files->client_ca ? load_client_ca(ctx, files->client_ca, err) : 0;
}

int fk_tls_load(const struct fk_http_tls *files, struct ssl_ctx_st **ret, struct fk_err *err)
{
    ERR_clear_error();
    SSL_CTX *ctx = SSL_CTX_new(TLS_server_method());
    if (!ctx)
        return fk_fail_nomem(err);
    set_rules(ctx);
    int rc = load_files(ctx, files, err);
    if (rc)
        SSL_CTX_free(ctx);
    else
        *ret = ctx;
    return rc;
}

void fk_tls_free(struct ssl_ctx_st *ctx)
{
    SSL_CTX_free(ctx);
}

int fk_tls_setup(struct bio_method_st **ret, struct fk_err *err)
{
    BIO_METHOD *m = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "flamekeep");
    if (!m)
        return fk_fail_nomem(err);
    BIO_meth_set_read(m, bio_read);
    BIO_meth_set_write(m, bio_write);
    BIO_meth_set_ctrl(m, bio_ctrl);
    *ret = m;
    return 0;
}

void fk_tls_teardown(struct bio_method_st *m)
{
    BIO_meth_free(m);
}

// --- one connection ---
int fk_tls_begin(struct fk_http_wire *w, struct ssl_ctx_st *ctx, const struct bio_method_st *m)
{
    SSL *ssl = SSL_new(ctx);
    BIO *bio = ssl ? BIO_new(m) : NULL;
    if (!bio) {
        SSL_free(ssl);
        ERR_clear_error();
        return -FK_E_NOMEM;
    }
    BIO_set_data(bio, w);
    BIO_set_init(bio, 1);
    SSL_set_bio(ssl, bio, bio);
    SSL_set_accept_state(ssl);
    w->ssl = ssl;
    return 0;
}

// What an operation that did not go through waits for.
static int waits(struct fk_http_wire *w, int rc, struct fk_err *err)
{
    char why[160];
    switch (SSL_get_error(w->ssl, rc)) {
    case SSL_ERROR_WANT_READ:
    case SSL_ERROR_WANT_WRITE:
        return FK_IO_AGAIN;
    case SSL_ERROR_ZERO_RETURN:
        return FK_IO_END;
    default:
        w->broken = true;
        reason(why);
        return fk_fail(err, FK_E_IO, "TLS: %s", why);
    }
}

int fk_tls_handshake(struct fk_http_wire *w, struct fk_err *err)
{
    ERR_clear_error();
    int rc = SSL_do_handshake(w->ssl);
    if (rc == 1) {
        w->ready = true;
        w->crossed = false;
        return FK_IO_OK;
    }
    w->crossed = SSL_want_write(w->ssl);
    rc = waits(w, rc, err);
    return rc == FK_IO_END ? fk_fail(err, FK_E_IO, "TLS: the client left") : rc;
}

enum fk_tls_protocol fk_tls_protocol(const struct fk_http_wire *w)
{
    const unsigned char *name;
    unsigned int n;
    SSL_get0_alpn_selected(w->ssl, &name, &n);
    return n == 0 ? FK_TLS_UNSAID : n == 2 ? FK_TLS_H2 : FK_TLS_H1;
}

// Whole records only, so that none is left inside of OpenSSL where no event tells of it.
int fk_tls_read(struct fk_http_wire *w, void *to, size_t n, size_t *ret_n, struct fk_err *err)
{
    size_t at = 0;
    int rc = FK_IO_AGAIN;
    w->crossed = false;
    while (n - at >= FK_TLS_RECORD || at == 0) {
        size_t got = 0;
        ERR_clear_error();
        int ok = SSL_read_ex(w->ssl, (char *)to + at, n - at, &got);
        if (ok != 1) {
            w->crossed = SSL_want_write(w->ssl);
            rc = waits(w, ok, err);
            break;
        }
        at += got;
    }
    if (at == 0)
        return rc;
    *ret_n = at;
    return FK_IO_OK;
}

int fk_tls_write(struct fk_http_wire *w, const void *p, size_t n, size_t *ret_n, struct fk_err *err)
{
    ERR_clear_error();
    w->stuck = false;
    int ok = SSL_write_ex(w->ssl, p, n, ret_n);
    if (ok == 1)
        return FK_IO_OK;
    w->stuck = SSL_want_read(w->ssl);
    int rc = waits(w, ok, err);
    return rc == FK_IO_END ? fk_fail(err, FK_E_IO, "TLS: the client has closed") : rc;
}

void fk_tls_end_writes(struct fk_http_wire *w)
{
    if (!w->ready || w->broken || w->shut)
        return;
    w->shut = true;
    ERR_clear_error();
    (void)SSL_shutdown(w->ssl); // says it; whether the other side says so too is its matter
    ERR_clear_error();
}

void fk_tls_end(struct fk_http_wire *w)
{
    fk_tls_end_writes(w);
    SSL_free(w->ssl);
    w->ssl = NULL;
}
