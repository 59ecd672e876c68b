// SPDX-License-Identifier: Apache-2.0
// Certificates for tests of TLS, made when they are wanted; all are for localhost.
#ifndef FK_TESTS_CERT_FIXTURE_H
#define FK_TESTS_CERT_FIXTURE_H

#include "support/support.h"

#include <openssl/pem.h>
#include <openssl/x509v3.h>

struct made {
    EVP_PKEY *key;
    X509 *cert;
};

static inline void name_of(X509_NAME *to, const char *text)
{
    X509_NAME_add_entry_by_txt(to, "CN", MBSTRING_ASC, (const unsigned char *)text, -1, -1, 0);
}

// Signed by `by`, or by itself.
static inline struct made make_cert(const char *cn, const struct made *by, bool ca)
{
    struct made m = {EVP_EC_gen("P-256"), X509_new()};
    ASN1_INTEGER_set(X509_get_serialNumber(m.cert), (long)(uintptr_t)m.cert & 0xffffff);
    X509_set_version(m.cert, 2);
    X509_gmtime_adj(X509_getm_notBefore(m.cert), -3600);
    X509_gmtime_adj(X509_getm_notAfter(m.cert), 86400);
    X509_set_pubkey(m.cert, m.key);
    name_of(X509_get_subject_name(m.cert), cn);
    X509_set_issuer_name(m.cert, X509_get_subject_name(by ? by->cert : m.cert));
    X509_EXTENSION *e = X509V3_EXT_conf_nid(NULL, NULL, NID_basic_constraints,
                                            ca ? "critical,CA:TRUE" : "CA:FALSE");
    X509_add_ext(m.cert, e, -1);
    X509_EXTENSION_free(e);
    e = X509V3_EXT_conf_nid(NULL, NULL, NID_subject_alt_name, "DNS:localhost,IP:127.0.0.1");
    X509_add_ext(m.cert, e, -1);
    X509_EXTENSION_free(e);
    assert_true(X509_sign(m.cert, by ? by->key : m.key, EVP_sha256()) > 0);
    return m;
}

static inline void free_cert(struct made *m)
{
    X509_free(m->cert);
    EVP_PKEY_free(m->key);
}

static inline void write_pem(const char *path, const struct made *m, bool cert, bool key)
{
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    if (cert)
        PEM_write_X509(f, m->cert);
    if (key)
        PEM_write_PrivateKey(f, m->key, NULL, NULL, 0, NULL, NULL);
    fclose(f);
}

#endif
