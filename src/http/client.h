// SPDX-License-Identifier: Apache-2.0
// A blocking client for commands that talk to a server: HTTP/1.1 and HTTP/2, clear or under TLS
// (https; the system's roots or a file of one's own), sending again what may be sent again. No
// redirects.
#ifndef FK_HTTP_CLIENT_H
#define FK_HTTP_CLIENT_H

#include "http/msg.h"

struct fk_http_client;

struct fk_http_client_opts {
    const char *url;        // "http://host:port/prefix"; the prefix goes before every path
    const char *user_agent; // NULL: "flamekeep/<version>"
    int64_t connect_ns;     // 0: 10 s
    int64_t total_ns;       // of one call; 0: 5 min
    uint64_t body_max;      // of an answer kept in memory; 0: 256 MiB
    const char *body_flag;  // for the error text, may be NULL
    const char *ca;         // file of certificates (PEM) that may vouch for the server; NULL: the
                            // system's; read by fk_http_client_new
    bool http2;             // over http: HTTP/2 at once, without asking; https agrees on it by ALPN
    unsigned tries;         // of one call, all in total_ns; 0: 1
    // Told before each pause: the status or the error it is for. May be NULL.
    void (*pausing)(void *arg, int status, const struct fk_err *err, int64_t ns);
    void *arg;
};

struct fk_http_ask {
    const char *method;
    struct fk_str path;                 // encoded, begins with '/'
    struct fk_str query;                // encoded, without '?'
    const struct fk_http_field *fields; // beside Host, Content-Length, User-Agent
    size_t fields_n;
    struct fk_str body;             // sent when has_body
    const struct fk_source *source; // instead of body; its size is the length
    bool has_body;
    bool repeatable; // may be sent again though the server may have done it; GET and HEAD always
    const struct fk_out *out;       // a 2xx body goes here piece by piece instead of into the reply
    const struct fk_cancel *cancel; // asked between reads and writes; may be NULL
};

// Freed by fk_http_reply_free, also after a failed call.
struct fk_http_reply {
    int status;
    struct fk_http_field *fields; // in head; of HTTP/2 the trailers too
    size_t fields_n;
    struct fk_buf head, body; // body: also of non-2xx when `out` was given
    uint64_t body_bytes;
};

int fk_http_client_new(const struct fk_http_client_opts *opts, struct fk_http_client **ret,
                       struct fk_err *err);
void fk_http_client_free(struct fk_http_client *c); // NULL is fine
// One exchange, on the kept connection if it is still open (once more on a new one when the server
// closed it before a byte of the answer came). Any status is success, but redirects are
// FK_E_UNSUPPORTED. FK_E_TIMEOUT, FK_E_IO, FK_E_NOTFOUND (host name), FK_E_FORMAT (not HTTP),
// FK_E_LIMIT, FK_E_CANCELLED. With `tries`, after a failed connection and after 429, 502, 503 and
// 504 it waits (Retry-After, else longer from time to time, at random) and asks again; what may
// have had an effect only if the call is repeatable. Not for several threads at a time.
int fk_http_client_call(struct fk_http_client *c, const struct fk_http_ask *ask,
                        struct fk_http_reply *ret, struct fk_err *err);
struct fk_str fk_http_reply_field(const struct fk_http_reply *r, const char *name);
void fk_http_reply_free(struct fk_http_reply *r); // a zeroed one is fine

#endif
