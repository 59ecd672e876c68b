// SPDX-License-Identifier: Apache-2.0
// Every limit of the HTTP server in one table: name in the code, flag, default, unit, what it
// bounds. Flags, help and error texts are made from it. Limits of bodies stand in the routes,
// since they differ from route to route.
#ifndef FK_HTTP_LIMITS_H
#define FK_HTTP_LIMITS_H

#include "base/base.h"

//  X(member, "--flag", default, unit, "what it bounds")          unit: bytes, count or ns
#define FK_HTTP_LIMITS(X)                                                                          \
    X(head_bytes, "--http-head-bytes", 32u << 10, bytes,                                           \
      "request line and header fields of one request, and likewise its trailers (431)")            \
    X(fields, "--http-fields", 100, count, "header fields of one request (431)")                   \
    X(target, "--http-target-bytes", 16u << 10, bytes, "path and query of one request (414)")      \
    X(head_ns, "--http-head-time", 10000000000ll, ns,                                              \
      "from the first byte of a request to the end of its header (408)")                           \
    X(idle_ns, "--http-idle-time", 75000000000ll, ns,                                              \
      "how long a connection waits without a request (closed), or silent with some (PING)")        \
    X(body_rate, "--http-body-rate", 1024, bytes,                                                  \
      "bytes a second that a request body must bring on average over --http-rate-time (408)")      \
    X(answer_rate, "--http-answer-rate", 1024, bytes,                                              \
      "bytes a second of an answer that a client must take over --http-rate-time (cut)")           \
    X(rate_ns, "--http-rate-time", 10000000000ll, ns,                                              \
      "span over which the two rates are measured")                                                \
    X(connections, "--http-connections", 20000, count, "open connections of the process (503)")    \
    X(requests, "--http-requests-per-connection", 100000, count,                                   \
      "requests of one connection before it is closed")                                            \
    X(bodies, "--http-bodies-memory", 512u << 20, bytes,                                           \
      "memory of all request bodies together (503)")                                               \
    X(spool_from, "--http-spool-from", 8u << 20, bytes,                                            \
      "bodies longer than this go to an unlinked file")                                            \
    X(spool, "--http-spool-bytes", 8ull << 30, bytes, "files of all request bodies (503)")         \
    X(request_memory, "--http-request-memory", 64u << 20, bytes,                                   \
      "arena of one request: fields, parameters, small decoded bodies")                            \
    X(answer_buffer, "--http-answer-buffer", 256u << 10, bytes,                                    \
      "streamed bytes that wait for a slow client before its writer does")                         \
    X(h2_streams, "--http2-streams", 100, count,                                                   \
      "requests under way on one HTTP/2 connection (refused)")                                     \
    X(h2_stream_window, "--http2-stream-window", 1u << 20, bytes,                                  \
      "what a client may send ahead of one HTTP/2 request's handler")                              \
    X(h2_window, "--http2-connection-window", 4u << 20, bytes,                                     \
      "what a client may have under way on one HTTP/2 connection")                                 \
    X(h2_resets, "--http2-resets", 1000, count,                                                    \
      "requests that an HTTP/2 connection may give up or break in --http-rate-time (closed)")      \
    X(h2_control, "--http2-control-frames", 2000, count,                                           \
      "frames without data that an HTTP/2 connection may send in --http-rate-time (closed)")       \
    X(linger_ns, "--http-linger-time", 2000000000ll, ns,                                           \
      "how long a refused body is read away so that the answer reaches the client")

struct fk_http_limits {
#define FK_HTTP_LIMIT_MEMBER(member, flag, value, unit, text) uint64_t member;
    FK_HTTP_LIMITS(FK_HTTP_LIMIT_MEMBER)
#undef FK_HTTP_LIMIT_MEMBER
};

extern const struct fk_limit_info fk_http_limit_table[];
extern const size_t fk_http_limit_count;

struct fk_http_limits fk_http_limits_default(void);
// The flag of a member, for error texts:  FK_HTTP_FLAG(head_bytes).
#define FK_HTTP_FLAG(member) (fk_http_limit_flag(offsetof(struct fk_http_limits, member)))
const char *fk_http_limit_flag(size_t offset);

#endif
