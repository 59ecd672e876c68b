// SPDX-License-Identifier: Apache-2.0
// TLS inside the room. The wire (wire.c) is its only user besides the server, which holds the
// certificate.
#ifndef FK_HTTP_TLS_INT_H
#define FK_HTTP_TLS_INT_H

#include "http/http_int.h"

#include <stdio.h>

#define FK_TLS_RECORD ((size_t)16 << 10) // bytes of one record, at most

// Reads the files; errors name flag and file. The caller frees *ret.
int fk_tls_load(const struct fk_http_tls *files, struct ssl_ctx_st **ret, struct fk_err *err);
void fk_tls_free(struct ssl_ctx_st *ctx); // connections that use it keep it
int fk_tls_setup(struct bio_method_st **ret, struct fk_err *err);
void fk_tls_teardown(struct bio_method_st *m);

int fk_tls_begin(struct fk_http_wire *w, struct ssl_ctx_st *ctx, const struct bio_method_st *m);
int fk_tls_handshake(struct fk_http_wire *w, struct fk_err *err); // enum fk_io

enum fk_tls_protocol { FK_TLS_UNSAID, FK_TLS_H1, FK_TLS_H2 };
enum fk_tls_protocol fk_tls_protocol(const struct fk_http_wire *w); // that was agreed on (ALPN)

int fk_tls_read(struct fk_http_wire *w, void *to, size_t n, size_t *ret_n, struct fk_err *err);
int fk_tls_write(struct fk_http_wire *w, const void *p, size_t n, size_t *ret_n,
                 struct fk_err *err);
void fk_tls_end_writes(struct fk_http_wire *w);
void fk_tls_end(struct fk_http_wire *w); // says goodbye if it can at once, frees

#endif
