// SPDX-License-Identifier: Apache-2.0
// Requests, answers and routes: what a handler sees, whatever the protocol underneath is.
//
// Two kinds of routes. The common one gives `run`: the whole body is collected and its
// Content-Encoding undone, then run(arg, req, res) is called in a worker. The other one gives
// `sink`: the body arrives piece by piece on the loop's thread, as gRPC and streams want it.
#ifndef FK_HTTP_MSG_H
#define FK_HTTP_MSG_H

#include "os/os.h"

struct fk_http_server;
struct fk_http_res;

struct fk_http_field {
    struct fk_str name,
        value; // name as sent (HTTP/2: in small letters); value trimmed, never with CR, LF or NUL
};

struct fk_http_pair {
    struct fk_str name, value; // decoded
};

// What arrived. All views live as long as the request: until run returns, or for sinks until
// fk_http_res_end. Read only.
struct fk_http_req {
    struct fk_str method; // "GET"; for HEAD it is "HEAD" though the GET route runs
    struct fk_str target; // as sent
    struct fk_str path;   // still percent-encoded, runs of slashes made one
    struct fk_str query;  // behind the first '?', still encoded, "" when none
    struct fk_str host;   // Host field, or of an absolute target, or HTTP/2's authority
    const struct fk_http_field *fields;
    size_t fields_n;
    const struct fk_http_pair *params; // of the route's pattern: name, decoded value
    size_t params_n;
    struct fk_str body; // run routes: the whole decoded body (memory or a mapped file)
    bool spooled;       // the body is in a mapped file
    uint64_t wire_body; // bytes of the body as it arrived
    const struct fk_http_route *route; // NULL while it is not known
    struct fk_addr peer;
    int version; // 10, 11, 20
    bool tls;
    int64_t start_ns; // wall clock at the first byte
    struct fk_arena
        *arena; // for the handler too; limit --http-request-memory; one thread at a time
    struct fk_cancel *cancel; // set when the client is gone, the deadline of the route is over, or
                              // the server cuts off
    void *user;               // of the admit hook; NULL at first
    void *call;               // of the route's sink; NULL at first
};

// The first field of that name (any case); .p is NULL when there is none.
struct fk_str fk_http_req_field(const struct fk_http_req *req, const char *name);
// All fields of that name; returns how many there are, fills at most max.
size_t fk_http_req_fields(const struct fk_http_req *req, const char *name, struct fk_str *ret,
                          size_t max);
// A parameter of the route's pattern, decoded; .p is NULL when the pattern has no such one.
struct fk_str fk_http_req_param(const struct fk_http_req *req, const char *name);
// The query string as pairs (fk_http_form_parse), parsed once and kept in the arena.
int fk_http_req_query(struct fk_http_req *req, const struct fk_http_pair **ret, size_t *ret_n,
                      struct fk_err *err);
// Shortens the time that the request has: ns from now, whatever deadline_ns of its route says
// beyond that. When it is over req->cancel says FK_E_TIMEOUT; a body that is not complete by then
// is answered with 504. Only on the loop's thread (admit hook, callbacks of sinks).
void fk_http_req_deadline(struct fk_http_req *req, int64_t ns);
// Goes on with a sink that answered FK_HTTP_PAUSE; any thread.
void fk_http_req_resume(struct fk_http_req *req);

// ---- answers. One thread at a time. What is not said: status 200, no body. ----
// A failure of these is kept and makes the answer a 500 (or cuts it, once it has begun).
void fk_http_res_status(struct fk_http_res *res, int status);
// Sets a field (another value of the same name goes away), or adds one more. Copied. FK_E_INVALID
// for a name that is no token or a value with CR, LF, NUL. Content-Length, Transfer-Encoding,
// Connection and Date are the server's own.
int fk_http_res_set(struct fk_http_res *res, const char *name, struct fk_str value);
int fk_http_res_add(struct fk_http_res *res, const char *name, struct fk_str value);
static inline int fk_http_res_type(struct fk_http_res *res, const char *media_type)
{
    return fk_http_res_set(res, "Content-Type", fk_str_of(media_type));
}
// The body, whole; it is sent with its length, gzipped when that pays and the client takes it
// (unless Content-Encoding was set). take: the buffer is emptied and its memory owned by the
// answer. borrow: the bytes must outlive the server. copy: neither.
void fk_http_res_take(struct fk_http_res *res, struct fk_buf *body);
void fk_http_res_borrow(struct fk_http_res *res, struct fk_str body);
void fk_http_res_copy(struct fk_http_res *res, struct fk_str body);
// The body, streamed: chunked on HTTP/1.1, in frames on HTTP/2, else until the connection closes;
// with length >= 0 set before the first write, by Content-Length. Waits in the worker while the
// client is slow (never call it on the loop's thread with more than --http-answer-buffer);
// FK_E_CANCELLED when the client is gone. Bytes are gathered to pieces of 32 KiB; flush sends what
// there is.
void fk_http_res_length(struct fk_http_res *res, int64_t length);
int fk_http_res_write(struct fk_http_res *res, const void *p, size_t n, struct fk_err *err);
int fk_http_res_flush(struct fk_http_res *res, struct fk_err *err);
struct fk_out fk_http_res_out(struct fk_http_res *res);
// A field behind the body, whether that is streamed, whole or empty. On HTTP/1.0, and with
// fk_http_res_length on HTTP/1.1, it is dropped. Copied.
int fk_http_res_trailer(struct fk_http_res *res, const char *name, struct fk_str value);
// An error in the form of the route (struct fk_http_route.error; else problem+json with title,
// status, detail, param, limit, flag). status 0: fk_http_status_of(err). Once the answer has begun:
// as fk_http_res_abort.
void fk_http_res_fail(struct fk_http_res *res, int status, const struct fk_err *err);
// The answer cannot be finished: the connection is cut so that the client sees it.
void fk_http_res_abort(struct fk_http_res *res);
bool fk_http_res_begun(const struct fk_http_res *res); // the header went out
int fk_http_res_get_status(const struct fk_http_res *res);
// Sinks only, exactly once for each request whose on_headers was called, also after on_abort; any
// thread. req and res are gone afterwards.
void fk_http_res_end(struct fk_http_res *res);

// 400 for FORMAT and INVALID, 404, 409 for EXISTS, 413 for LIMIT, 415 for UNSUPPORTED, 499 for
// CANCELLED, 503 for BUSY, FULL, STOPPED and NOMEM, 504 for TIMEOUT, else 500. fk_http_res_fail
// adds Retry-After to 503 and 429.
int fk_http_status_of(const struct fk_err *err);
const char *fk_http_reason(int status); // "Not Found"; "" when unknown
// The default form of errors, a problem details object (RFC 9457): appended to a buffer, which is
// empty on lack of memory; and as an answer, for handlers of fk_http_route.error that want it in
// some cases.
void fk_http_problem_put(struct fk_buf *to, int status, const struct fk_err *err);
void fk_http_problem(struct fk_http_res *res, int status, const struct fk_err *err);

// ---- routes ----
enum fk_http_more { FK_HTTP_MORE, FK_HTTP_PAUSE };

// All on the thread of the connection's loop, which they must not hold up. res may be answered and
// ended (fk_http_res_end) at any time, in any thread; what is left of the body is then not wanted:
// no further calls but on_abort come.
struct fk_http_sink {
    // The header is complete, nothing of the body was read; to refuse, answer and end.
    void (*on_headers)(void *arg, struct fk_http_req *req, struct fk_http_res *res);
    // Takes all n bytes. FK_HTTP_PAUSE: no more until fk_http_req_resume. Bytes as they arrived
    // (framing undone, Content-Encoding not).
    enum fk_http_more (*on_body)(void *arg, struct fk_http_req *req, struct fk_http_res *res,
                                 const uint8_t *p, size_t n);
    void (*on_complete)(void *arg, struct fk_http_req *req, struct fk_http_res *res);
    // The client is gone (req->cancel is set) before the answer was ended. May be NULL.
    void (*on_abort)(void *arg, struct fk_http_req *req, struct fk_http_res *res);
    // The request's time is over before the answer was ended; once, and req->cancel stays as it is,
    // so that the sink can still say so. NULL: req->cancel tells.
    void (*on_deadline)(void *arg, struct fk_http_req *req, struct fk_http_res *res);
};

struct fk_http_route {
    const char *method;  // "GET" (serves HEAD too), "POST", ...
    const char *pattern; // "/api/v1/profiles/{id}"; a last segment "{rest...}" takes all the rest
    const char *name;    // for metrics and the log; NULL: the pattern
    // The whole body, then run in a worker of class `cls`:
    void (*run)(void *arg, struct fk_http_req *req, struct fk_http_res *res);
    // or piece by piece:
    const struct fk_http_sink *sink;
    void *arg;
    enum fk_work_class cls;
    bool on_loop;          // run on the loop's thread: for answers that take microseconds
    bool keep_encoding;    // run gets the body as it came, Content-Encoding not undone
    uint64_t body_max;     // bytes as they arrive; 0: the route takes no body
    uint64_t decoded_max;  // bytes after decompression; 0: as body_max
    const char *body_flag; // flags that set them, for the error texts; may be NULL
    const char *decoded_flag;
    int64_t deadline_ns; // from the end of the request until req->cancel says FK_E_TIMEOUT; 0: none
    // Writes an error in this route's form; NULL: fk_http_problem.
    void (*error)(struct fk_http_res *res, int status, const struct fk_err *err);
    const void *extra; // the table's owner may hang on what it wants (OpenAPI)
};

// The request an answer belongs to.
struct fk_http_req *fk_http_res_req(struct fk_http_res *res);

#endif
