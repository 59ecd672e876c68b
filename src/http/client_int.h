// SPDX-License-Identifier: Apache-2.0
// Inside the client: one connection and what speaks on it. client.c: the call and its repetitions;
// connect.c: the way to the server; client_h1.c, reply.c: HTTP/1.1; client_h2.c: HTTP/2.
#ifndef FK_HTTP_CLIENT_INT_H
#define FK_HTTP_CLIENT_INT_H

#include "http/tls_int.h"

#define FK_CLIENT_FIELDS   200                // of an answer
#define FK_CLIENT_MAX_HEAD ((size_t)64 << 10) // of an answer

struct fk_client_h2;

struct fk_http_client {
    struct fk_http_client_opts opts;
    char *text; // owned; url's views point into it
    struct fk_http_url url;
    bool secure;
    struct ssl_ctx_st *tls; // of https
    struct bio_method_st *bio;
    struct fk_http_wire wire; // the kept connection
    char cert_names[200];     // of a certificate that has another name than the host's
    bool open;
    struct fk_client_h2 *h2; // that it speaks; NULL: HTTP/1.1
    // of the present call
    int64_t deadline;
    const struct fk_cancel *cancel;
    bool got_any;  // a byte of the answer has come
    bool sent_any; // a byte of the request has gone
};

// ---- the way (connect.c) ----
int fk_client_tls_setup(struct fk_http_client *c, struct fk_err *err);
void fk_client_tls_teardown(struct fk_http_client *c);
// Connected, under TLS where the URL says so, HTTP/2 begun where it was agreed on.
int fk_client_connect(struct fk_http_client *c, struct fk_err *err);
void fk_client_hang_up(struct fk_http_client *c);
// An idle connection that can be read was closed by the server (or says what nobody asked for).
void fk_client_drop_stale(struct fk_http_client *c);
// Until the socket is ready, the deadline is over or the call is cancelled.
int fk_client_wait(struct fk_http_client *c, uint32_t want, int64_t deadline, const char *what,
                   uint32_t *ret_ready, struct fk_err *err);

// ---- HTTP/1.1 ----
// One exchange on the open connection; *ret_keep: it may be used again.
int fk_client_h1_call(struct fk_http_client *c, const struct fk_http_ask *a,
                      struct fk_http_reply *ret, bool *ret_keep, struct fk_err *err);
// Reads a whole answer.
int fk_http_reply_read(struct fk_http_client *c, const struct fk_http_ask *a,
                       struct fk_http_reply *ret, bool *ret_keep, struct fk_err *err);
// A piece of an answer's body to where the call wants it.
int fk_client_keep(struct fk_http_client *c, const struct fk_http_ask *a, struct fk_http_reply *r,
                   struct fk_str data, struct fk_err *err);
// Parses the whole header in r->head: status and fields. Pure; also for the fuzzer. On success
// *ret_framing and *ret_length say how the body comes (as if the request was no HEAD).
int fk_http_reply_parse(struct fk_http_reply *r, enum fk_http_framing *ret_framing,
                        uint64_t *ret_length, bool *ret_keep, struct fk_err *err);

// ---- HTTP/2 ----
int fk_client_h2_new(struct fk_http_client *c, struct fk_client_h2 **ret, struct fk_err *err);
void fk_client_h2_free(struct fk_client_h2 *h);
// Between two calls: reads what is there. Whether it ends the connection.
bool fk_client_h2_is_over(struct fk_client_h2 *h);
int fk_client_h2_call(struct fk_http_client *c, const struct fk_http_ask *a,
                      struct fk_http_reply *ret, bool *ret_keep, struct fk_err *err);

// ---- requests ----
// FK_E_INVALID for a path or a field that would break the request.
int fk_client_check(const struct fk_http_ask *a, struct fk_err *err);
void fk_client_put_host(const struct fk_http_client *c, struct fk_buf *b); // with the port
void fk_client_put_target(const struct fk_http_client *c, const struct fk_http_ask *a,
                          struct fk_buf *b);
const char *fk_client_agent(const struct fk_http_client *c);
uint64_t fk_client_body_size(const struct fk_http_ask *a);

#endif
