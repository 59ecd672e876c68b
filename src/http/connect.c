// SPDX-License-Identifier: Apache-2.0
// The client's way to a server: addresses, TLS, what is to be spoken.
#include "http/client_int.h"

#include "os/clock.h"

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#define MAX_ADDRS 8
#define SLICE     (100 * FK_NS_PER_MS) // a wait, before cancellation is asked for again

// --- waiting ---
static int fail_timeout(struct fk_http_client *c, const char *what, struct fk_err *err)
{
    return fk_fail(err, FK_E_TIMEOUT, "%.*s:%u: %s in time", FK_STR_ARG(c->url.host),
                   (unsigned)c->url.port, what);
}

int fk_client_wait(struct fk_http_client *c, uint32_t want, int64_t deadline, const char *what,
                   uint32_t *ret_ready, struct fk_err *err)
{
    for (;;) {
        int64_t left = deadline - fk_clock_mono(fk_clock_real());
        uint32_t ready = 0;
        int rc = fk_cancel_check(c->cancel, err);
        if (!rc && left <= 0)
            rc = fail_timeout(c, what, err);
        if (!rc)
            rc = fk_net_wait(c->wire.io.fd, fk_http_wire_want(&c->wire, want), FK_MIN(left, SLICE),
                             &ready, err);
        if (rc || ready) {
            *ret_ready = fk_http_wire_ready(&c->wire, ready);
            return rc;
        }
    }
}

// --- TLS ---
static int fail_tls(struct fk_http_client *c, const char *what, struct fk_err *err)
{
    unsigned long e = ERR_get_error();
    const char *why = e ? ERR_reason_error_string(e) : NULL;
    ERR_clear_error();
    return fk_fail(err, FK_E_IO, "%.*s:%u: %s%s%s", FK_STR_ARG(c->url.host), (unsigned)c->url.port,
                   what, why ? ": " : "", why ? why : "");
}

static int load_roots(struct fk_http_client *c, struct fk_err *err)
{
    if (!c->opts.ca)
        return SSL_CTX_set_default_verify_paths(c->tls) == 1
                   ? 0
                   : fail_tls(c, "the system's certificates cannot be read (--ca names others)",
                              err);
    if (SSL_CTX_load_verify_file(c->tls, c->opts.ca) == 1)
        return 0;
    ERR_clear_error();
    return fk_fail_param(err, "--ca", "--ca: %s is no file of certificates in PEM form",
                         c->opts.ca);
}

// For whom the certificate is: its alternative names, without any its subject.
static void note_names(struct fk_http_client *c, X509 *cert)
{
    GENERAL_NAMES *names = X509_get_ext_d2i(cert, NID_subject_alt_name, NULL, NULL);
    BIO *text = BIO_new(BIO_s_mem());
    int n = names ? sk_GENERAL_NAME_num(names) : 0, got = 0;
    for (int i = 0; text && i < n && BIO_pending(text) < (int)sizeof(c->cert_names); i++) {
        BIO_puts(text, i ? ", " : "");
        GENERAL_NAME_print(text, sk_GENERAL_NAME_value(names, i)); // what cannot be shown as dots
    }
    if (text && n == 0)
        X509_NAME_print_ex(text, X509_get_subject_name(cert), 0, XN_FLAG_ONELINE);
    if (text)
        got = BIO_read(text, c->cert_names, sizeof(c->cert_names) - 1);
    c->cert_names[FK_MAX(got, 0)] = '\0';
    BIO_free(text);
    GENERAL_NAMES_free(names);
}

// The library's own check. After a failure it lets go of the certificate, so the names are noted
// here.
static int check_chain(X509_STORE_CTX *chain, void *arg)
{
    struct fk_http_client *c = arg;
    int good = X509_verify_cert(chain);
    int why = X509_STORE_CTX_get_error(chain);
    X509 *cert = X509_STORE_CTX_get0_cert(chain);
    c->cert_names[0] = '\0';
    if (good != 1 && cert &&
        (why == X509_V_ERR_HOSTNAME_MISMATCH || why == X509_V_ERR_IP_ADDRESS_MISMATCH))
        note_names(c, cert);
    return good;
}

int fk_client_tls_setup(struct fk_http_client *c, struct fk_err *err)
{
    static const unsigned char protocols[] = "\x02h2\x08http/1.1";
    ERR_clear_error();
    c->tls = SSL_CTX_new(TLS_client_method());
    if (!c->tls)
        return fk_fail_nomem(err);
    int rc = fk_tls_setup(&c->bio, err);
    if (rc)
        return rc;
    SSL_CTX_set_min_proto_version(c->tls, TLS1_2_VERSION);
    SSL_CTX_set_options(c->tls, SSL_OP_NO_COMPRESSION | SSL_OP_NO_RENEGOTIATION |
                                    SSL_OP_IGNORE_UNEXPECTED_EOF);
    SSL_CTX_set_mode(c->tls, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
    SSL_CTX_set_verify(c->tls, SSL_VERIFY_PEER, NULL);
    SSL_CTX_set_cert_verify_callback(c->tls, check_chain, c);
    if (SSL_CTX_set_alpn_protos(c->tls, protocols, sizeof(protocols) - 1))
        return fk_fail_nomem(err);
    return load_roots(c, err);
}

void fk_client_tls_teardown(struct fk_http_client *c)
{
    SSL_CTX_free(c->tls);
    fk_tls_teardown(c->bio);
    c->tls = NULL;
    c->bio = NULL;
}

// Which name the certificate must have, and the server is asked for.
static int set_name(struct fk_http_client *c, struct fk_err *err)
{
    char host[256];
    SSL *ssl = c->wire.ssl;
    memcpy(host, c->url.host.p, c->url.host.n); // at most 255 (fk_http_url_parse)
    host[c->url.host.n] = '\0';
    bool address = X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(ssl), host) == 1;
    ERR_clear_error();
    if (!address && (SSL_set1_host(ssl, host) != 1 || SSL_set_tlsext_host_name(ssl, host) != 1))
        return fail_tls(c, "the host's name cannot be asked for", err);
    return 0;
}

static int fail_handshake(struct fk_http_client *c, struct fk_err *err)
{
    char why[320];
    long verdict = SSL_get_verify_result(c->wire.ssl);
    if (verdict == X509_V_OK)
        return fk_fail_in(err, "%.*s:%u", FK_STR_ARG(c->url.host), (unsigned)c->url.port);
    if (c->cert_names[0])
        return fk_fail(err, FK_E_INVALID,
                       "%.*s:%u: the server's certificate is not for this name, but for: %s; use "
                       "one of these in the address, or a certificate that has this name",
                       FK_STR_ARG(fk_str_head(c->url.host, 100)), (unsigned)c->url.port,
                       c->cert_names);
    snprintf(why, sizeof(why), "%s", X509_verify_cert_error_string(verdict));
    return fk_fail(err, FK_E_INVALID,
                   "%.*s:%u: the server's certificate is not trusted: %s; --ca names a file of "
                   "certificates to trust",
                   FK_STR_ARG(c->url.host), (unsigned)c->url.port, why);
}

static int shake_hands(struct fk_http_client *c, int64_t deadline, struct fk_err *err)
{
    uint32_t ready;
    if (fk_tls_begin(&c->wire, c->tls, c->bio))
        return fk_fail_nomem(err);
    SSL_set_connect_state(c->wire.ssl);
    int rc = set_name(c, err);
    while (!rc) {
        rc = fk_tls_handshake(&c->wire, err);
        if (rc == FK_IO_OK)
            return 0;
        if (rc != FK_IO_AGAIN)
            return fail_handshake(c, err);
        rc = fk_client_wait(c, FK_READY_IN, deadline, "TLS was not agreed on", &ready, err);
    }
    return rc;
}

// --- connecting ---
void fk_client_hang_up(struct fk_http_client *c)
{
    fk_client_h2_free(c->h2);
    c->h2 = NULL;
    if (c->wire.io.fd >= 0)
        fk_http_wire_close(&c->wire);
    c->wire = (struct fk_http_wire){.io.fd = -1};
    c->open = false;
}

static int connect_one(struct fk_http_client *c, const struct fk_addr *a, int64_t deadline,
                       struct fk_err *err)
{
    uint32_t ready;
    int rc = fk_net_connect(a, &c->wire.io.fd, err);
    if (!rc)
        rc = fk_client_wait(c, FK_READY_OUT, deadline, "it was not reached", &ready, err);
    if (!rc && fk_net_connected(c->wire.io.fd, err)) {
        char text[FK_ADDR_CHARS];
        fk_addr_format(a, text);
        rc = fk_fail_in(err, "%s", text);
    }
    if (!rc && c->secure)
        rc = shake_hands(c, deadline, err);
    if (rc)
        fk_client_hang_up(c);
    return rc;
}

static int connect_any(struct fk_http_client *c, struct fk_err *err)
{
    struct fk_addr addr[MAX_ADDRS];
    char host[256];
    size_t n = 0;
    int64_t deadline = fk_clock_mono(fk_clock_real()) + c->opts.connect_ns;
    deadline = FK_MIN(deadline, c->deadline);
    memcpy(host, c->url.host.p, c->url.host.n); // at most 255 (fk_http_url_parse)
    host[c->url.host.n] = '\0';
    int rc = fk_addr_resolve(host, c->url.port, addr, MAX_ADDRS, &n, err);
    if (rc)
        return rc;
    for (size_t i = 0; i < n; i++) {
        rc = connect_one(c, &addr[i], deadline, err);
        if (!rc || rc == -FK_E_CANCELLED || rc == -FK_E_TIMEOUT || rc == -FK_E_INVALID)
            return rc;
    }
    return rc ? rc : fk_fail(err, FK_E_NOTFOUND, "%s has no address", host);
}

int fk_client_connect(struct fk_http_client *c, struct fk_err *err)
{
    int rc = connect_any(c, err);
    if (rc)
        return rc;
    c->open = true;
    bool h2 = c->secure ? fk_tls_protocol(&c->wire) == FK_TLS_H2 : c->opts.http2;
    rc = h2 ? fk_client_h2_new(c, &c->h2, err) : 0;
    if (rc)
        fk_client_hang_up(c);
    return rc;
}

void fk_client_drop_stale(struct fk_http_client *c)
{
    uint32_t ready = 0;
    if (!c->open || (fk_net_wait(c->wire.io.fd, FK_READY_IN, 0, &ready, NULL) == 0 && !ready))
        return;
    // Of HTTP/2 the server may have something to say and stay; what would be sent to one that has
    // gone could not be sent again.
    if (!c->h2 || fk_client_h2_is_over(c->h2))
        fk_client_hang_up(c);
}
