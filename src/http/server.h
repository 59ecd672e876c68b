// SPDX-License-Identifier: Apache-2.0
// The server: listeners, loops, graceful end, counters. Handlers and routes are in http/msg.h.
#ifndef FK_HTTP_SERVER_H
#define FK_HTTP_SERVER_H

#include "http/limits.h"
#include "http/msg.h"

// One finished request, for the access log. Views live during the call only.
struct fk_http_access {
    const struct fk_http_route *route; // NULL: none matched or the request was broken
    struct fk_str method, target;      // "" when the request line was broken
    struct fk_addr peer;
    int status;                   // 0: the client was gone before an answer
    bool aborted;                 // not all of the answer reached the socket
    uint64_t bytes_in, bytes_out; // on the wire, header included
    int64_t start_ns;             // wall clock at the first byte
    int64_t duration_ns;          // from the first byte to the last one of the answer
    int64_t run_ns;               // of that, waiting for a worker and in the handler
};

// Files in PEM form.
struct fk_http_tls {
    const char *cert;      // with the chain behind it; NULL: no TLS
    const char *key;       // NULL: in the file of the certificate
    const char *client_ca; // clients need a certificate of one of these; NULL: they need none
};

struct fk_http_server_opts {
    const struct fk_http_route *routes; // borrowed as long as the server lives
    size_t routes_n;
    struct fk_pool *pool;         // borrowed; must be running until the drain is over
    unsigned loops;               // threads; 0: 1, at most 16
    struct fk_http_limits limits; // fk_http_limits_default()
    const struct fk_fs *fs;       // for spooled bodies; NULL: the real one
    const char *spool_folder;     // existing folder; NULL: bodies are not spooled (all in memory)
    struct fk_http_tls tls;       // names are borrowed as long as the server lives
    const struct fk_clock *clock; // wall clock of answers and the log; NULL: the real one
    void *arg;                    // of the hooks
    // Called before the route's handler, on the loop: to check tokens, Host, Origin. Returns 0 to
    // go on; or a status: err was filled and is sent in the route's form (WWW-Authenticate and the
    // like may be set on res). req->route is set (never NULL). May be NULL.
    int (*admit)(void *arg, struct fk_http_req *req, struct fk_http_res *res, struct fk_err *err);
    // After each request, on the loop. May be NULL.
    void (*access)(void *arg, const struct fk_http_access *a);
    // Form of errors that belong to no route; NULL: fk_http_problem.
    void (*error)(struct fk_http_res *res, int status, const struct fk_err *err);
};

int fk_http_server_new(const struct fk_http_server_opts *opts, struct fk_http_server **ret,
                       struct fk_err *err);
// Any number of times, before start. Port 0 takes a free one; ret_bound may be NULL.
// Connections speak TLS when the server has a certificate; of the plain one they never do.
int fk_http_server_listen(struct fk_http_server *s, const struct fk_addr *a,
                          struct fk_addr *ret_bound, struct fk_err *err);
int fk_http_server_listen_plain(struct fk_http_server *s, const struct fk_addr *a,
                                struct fk_addr *ret_bound, struct fk_err *err);
// Reads the files of opts.tls again, for new connections; those that are open keep what they have.
// On failure everything stays as it is. Any thread.
int fk_http_server_reload_tls(struct fk_http_server *s, struct fk_err *err);
// Starts the loops.
int fk_http_server_start(struct fk_http_server *s, struct fk_err *err);
// Stops listening, closes idle connections, lets requests in flight finish with "Connection:
// close"; after grace_ns the rest is cut (req->cancel says FK_E_STOPPED). Waits until no handler
// runs any more and ends the loops. Call it once, from a thread that is no loop or worker.
void fk_http_server_drain(struct fk_http_server *s, int64_t grace_ns);
// Drains without grace if that was not done. NULL is fine.
void fk_http_server_free(struct fk_http_server *s);

// ---- counters, from any thread while the server lives ----
// Upper bounds of the latency buckets; the last bucket has none.
#define FK_HTTP_BUCKETS 16
extern const int64_t fk_http_bucket_ns[FK_HTTP_BUCKETS - 1];

struct fk_http_route_stats {
    uint64_t requests, status[6]; // status[c]: answers c00..c99; [0]: none, the client was gone
    uint64_t bytes_in, bytes_out;
    uint64_t bucket[FK_HTTP_BUCKETS]; // not cumulative
    uint64_t duration_ns;             // sum
};

struct fk_http_stats {
    uint64_t accepted, refused;           // connections; refused: --http-connections
    uint64_t open;                        // connections now
    uint64_t active;                      // requests now
    uint64_t bodies_memory, bodies_spool; // bytes now
    uint64_t broken;                      // requests answered 4xx before a route was known
    uint64_t timeouts;                    // header, body, answer too slow
    uint64_t tls_connections;             // whose handshake went well
    uint64_t tls_failed;                  // did not, or not in time
    uint64_t tls_clear;                   // of those, they spoke HTTP without TLS
    uint64_t h2_connections, h2_streams;  // that spoke HTTP/2, and their requests
    uint64_t h2_resets;                   // of these, given up or broken by the client
    uint64_t h2_floods; // connections closed for too many of those or of frames that bring nothing
};

void fk_http_server_stats(struct fk_http_server *s, struct fk_http_stats *ret);
// Of routes[i]; i == routes_n: requests that found none.
void fk_http_route_stats(struct fk_http_server *s, size_t i, struct fk_http_route_stats *ret);

#endif
