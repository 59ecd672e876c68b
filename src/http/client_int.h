// SPDX-License-Identifier: Apache-2.0
// Inside the client: what connecting and reading share.
#ifndef FK_HTTP_CLIENT_INT_H
#define FK_HTTP_CLIENT_INT_H

#include "http/http_int.h"

struct fk_http_client {
    struct fk_http_client_opts opts;
    char *text; // owned; url's views point into it
    struct fk_http_url url;
    int fd; // kept connection, -1 when none
    // of the present call
    int64_t deadline;
    const struct fk_cancel *cancel;
    bool got_any; // a byte of the answer has come
};

// Until the socket is ready, the deadline is over or the call is cancelled.
int fk_http_client_wait(struct fk_http_client *c, uint32_t want, int64_t deadline, const char *what,
                        uint32_t *ret_ready, struct fk_err *err);
// Reads a whole answer; *ret_keep: the connection may be used again.
int fk_http_reply_read(struct fk_http_client *c, const struct fk_http_ask *a,
                       struct fk_http_reply *ret, bool *ret_keep, struct fk_err *err);

// Parses the whole header in r->head: status and fields. Pure; also for the fuzzer. On success
// *ret_framing and *ret_length say how the body comes (as if the request was no HEAD).
int fk_http_reply_parse(struct fk_http_reply *r, enum fk_http_framing *ret_framing,
                        uint64_t *ret_length, bool *ret_keep, struct fk_err *err);

#endif
