// SPDX-License-Identifier: Apache-2.0
// Inside the room: an exchange (one request and its answer) and what lies on both sides of it, the
// connection (a "link": HTTP/1 has one exchange at a time, HTTP/2 one a stream) and the route's
// sink.
//
// Threads: an exchange belongs to its loop. The handler's thread touches req and res only, between
// on_headers and fk_http_res_end; what both touch is under res.lock.
#ifndef FK_HTTP_INT_H
#define FK_HTTP_INT_H

#include "http/http.h"

#define FK_HTTP_READ      ((size_t)64 << 10) // one read of a socket
#define FK_HTTP_PIECE     ((size_t)32 << 10) // of streamed answers
#define FK_HTTP_FORGIVE   65536 // rest of an unwanted body that is read away to keep the connection
#define FK_HTTP_RANK      (FK_RANK_LOOP - 10)
#define FK_HTTP_MAX_LOOPS 16

// ---- bytes on their way to a socket ----
struct fk_http_seg {
    struct fk_http_seg *next;
    const char *p; // what is left of it
    size_t n;
    void *owned; // freed with the segment; NULL: borrowed, or behind the structure
};

struct fk_http_segs {
    struct fk_http_seg *first, *last;
};

void fk_http_segs_add(struct fk_http_segs *s, struct fk_http_seg *seg);
void fk_http_segs_join(struct fk_http_segs *s, struct fk_http_segs *more); // more is emptied
void fk_http_segs_free(struct fk_http_segs *s);
// owned: given to the segment, also on failure freed by the caller. NULL: no memory.
struct fk_http_seg *fk_http_seg_new(const char *p, size_t n, void *owned);
struct fk_http_seg *fk_http_seg_copy(struct fk_str bytes);
void fk_http_segs_sent(struct fk_http_segs *s, size_t n); // drops the first n bytes

// ---- the wire: a socket, clear or under TLS. Results are enum fk_io, as of fk_net_read ----
struct fk_http_wire {
    struct fk_loop_fd io;
    struct ssl_st *ssl; // NULL: clear
    bool ready;         // the handshake is over
    bool ended;         // the other side has ended its direction of the socket
    bool shut;          // we have said that we end ours
    bool broken;        // nothing more can be said
    bool crossed;       // reading waits for room to write
    bool stuck;         // writing waits for something to read
    char first;         // byte that came
};

int fk_http_wire_read(struct fk_http_wire *w, void *to, size_t n, size_t *ret_n,
                      struct fk_err *err);
int fk_http_wire_write(struct fk_http_wire *w, const void *p, size_t n, size_t *ret_n,
                       struct fk_err *err);
// Sends as much as goes. FK_IO_OK: all is out; FK_IO_AGAIN; negative. *ret_sent counts.
int fk_http_wire_send(struct fk_http_wire *w, struct fk_http_segs *s, uint64_t *ret_sent,
                      struct fk_err *err);
void fk_http_wire_end_writes(struct fk_http_wire *w);
void fk_http_wire_close(struct fk_http_wire *w);
// What the socket is to be waited for, and what its readiness means, as TLS may cross the two.
uint32_t fk_http_wire_want(const struct fk_http_wire *w, uint32_t want);
uint32_t fk_http_wire_ready(const struct fk_http_wire *w, uint32_t ready);

// ---- answer ----
// BY_STREAM: until the stream ends, which is HTTP/2's way.
enum fk_http_framing {
    FK_HTTP_BY_LENGTH,
    FK_HTTP_CHUNKED,
    FK_HTTP_BY_CLOSE,
    FK_HTTP_NO_BODY,
    FK_HTTP_BY_STREAM,
};

struct fk_http_res {
    struct fk_http_ex *ex;
    // The handler's, until `begun`; then the loop may read.
    int status;
    FK_VEC(struct fk_http_field) fields; // texts in the request's arena
    FK_VEC(struct fk_http_field) trailers;
    struct fk_buf body;        // taken
    struct fk_str borrowed;    // instead
    int64_t length;            // set by the handler; -1: unknown
    uint64_t written;          // by fk_http_res_write
    struct fk_http_seg *piece; // being filled
    size_t piece_n;
    enum fk_http_framing framing;
    int broken; // enum fk_error of a lost call
    // Both sides'.
    struct fk_mutex lock;
    struct fk_cond room;
    struct fk_http_segs pending; // not yet fetched by the loop
    uint64_t waiting;            // bytes not yet sent
    bool begun, ended, aborted;  // by the handler
    bool gone;                   // by the loop: nobody reads any more
    bool posted;                 // the wake message is on its way
    bool resume;                 // fk_http_req_resume was called
};

// ---- exchange ----
struct fk_http_loop;
struct fk_http_ex;

// What a connection offers its exchanges, on the loop's thread.
struct fk_http_link {
    void (*progress)(struct fk_http_ex *ex); // the answer went on, or the sink may be fed again
};

struct fk_http_collect {                                  // of routes with `run`
    struct fk_buf body;                                   // while it is short
    struct fk_file *spool;                                // afterwards
    struct fk_buf stage;                                  // the next piece for the file
    uint64_t spooled;                                     // bytes of the file
    uint64_t charged_memory, charged_spool, charged_head; // of the server's budgets
    bool busy; // a worker writes the stage or runs the handler
    bool complete, lost;
    bool write_failed;
    struct fk_err err; // of the worker's write
};

struct fk_http_ex {
    struct fk_http_req req;
    struct fk_http_res res;
    struct fk_cancel cancel;
    struct fk_arena arena;
    struct fk_http_loop *loop;
    const struct fk_http_link *link;
    void *conn; // NULL: the connection is gone
    struct fk_loop_msg wake;
    struct fk_buf head;     // raw header; the request's views point into it
    int64_t content_length; // -1: not said
    bool chunked, has_body, keep_alive, expect_100;
    size_t route; // place in the table; routes_n: none
    const struct fk_http_sink *sink;
    void *sink_arg;
    bool handed;    // on_headers was called: somebody will end it
    bool in_call;   // inside a sink's callback: end needs no message
    bool complete;  // on_complete was called
    bool resumed;   // fk_http_req_resume was called since the connection looked
    bool head_sent; // the answer's header is with the connection
    bool expired;   // fk_http_ex_expire was called
    int override;   // status instead of what the sink says, once it has ended
    struct fk_err override_err;
    struct fk_http_collect collect;
    uint64_t bytes_in, bytes_out;
    int64_t mono_ns, run_from_ns, run_ns; // first byte; handed to a worker; until its end
    int64_t complete_ns, deadline_ns;     // the request's end; of fk_http_req_deadline; 0: none
    const struct fk_http_pair *query;     // parsed once
    size_t query_n;
    bool query_done;
};

struct fk_http_ex *fk_http_ex_new(struct fk_http_loop *l, const struct fk_http_link *link,
                                  void *conn, const struct fk_addr *peer);
// Long headers count as bodies in memory; false: no room.
bool fk_http_ex_charge_head(struct fk_http_ex *ex, struct fk_err *err);
// The header is parsed into ex->req: routes it and calls the sink, or refuses.
void fk_http_ex_headers(struct fk_http_ex *ex);
enum fk_http_more fk_http_ex_body(struct fk_http_ex *ex, const uint8_t *p, size_t n);
void fk_http_ex_complete(struct fk_http_ex *ex);
// Answers with an error: at once if no sink has it, else when the sink has ended.
void fk_http_ex_break(struct fk_http_ex *ex, int status, const struct fk_err *err);
// The connection is gone, or all was sent: counts, tells the log, lets go. ex is not touched
// afterwards.
void fk_http_ex_leave(struct fk_http_ex *ex, bool sent_all);
// When the request's time is over (monotonic), INT64_MAX: never, or it is over already.
int64_t fk_http_ex_deadline(const struct fk_http_ex *ex);
// The request's time is over. True: the sink was told, and is the one to answer; else its cancel
// says so now.
bool fk_http_ex_expire(struct fk_http_ex *ex);
// Is the body still of interest?
bool fk_http_ex_wants_body(struct fk_http_ex *ex);

struct fk_http_pull {
    struct fk_http_segs segs;
    bool begun, ended, aborted;
};
// What the handler has produced since the last call; applies an override.
void fk_http_ex_pull(struct fk_http_ex *ex, struct fk_http_pull *ret);
void fk_http_ex_sent(struct fk_http_ex *ex, uint64_t n); // bytes left the process

void fk_http_res_init(struct fk_http_res *res, struct fk_http_ex *ex);
bool fk_http_res_has(const struct fk_http_res *res, const char *name); // such a field was set
void fk_http_res_free(struct fk_http_res *res);
void fk_http_res_reset(struct fk_http_res *res); // forgets fields and body; not begun yet

extern const struct fk_http_sink fk_http_collect_sink;
void fk_http_collect_free(struct fk_http_ex *ex);
void fk_http_collect_resumed(struct fk_http_ex *ex); // a worker has written the stage

// ---- routes ----
struct fk_http_place {
    uint32_t at;      // in routes
    uint32_t literal; // bytes of the pattern before its first parameter
    bool whole;       // there is none
};

struct fk_http_router {
    const struct fk_http_route *routes;
    size_t n;
    struct fk_http_place *order; // the more literal first
};

int fk_http_router_init(struct fk_http_router *r, const struct fk_http_route *routes, size_t n,
                        struct fk_err *err);
void fk_http_router_free(struct fk_http_router *r);
struct fk_http_match {
    size_t at; // in routes
    const struct fk_http_pair *params;
    size_t params_n;
    struct fk_str allow; // of a 405: "GET, HEAD, POST", in the arena
};

// 0: found. Else 404, 405 (*ret_match has the methods), 400 for a path that does not decode, 503
// without memory; with err.
int fk_http_router_find(const struct fk_http_router *r, struct fk_str method, struct fk_str path,
                        struct fk_arena *a, struct fk_http_match *ret, struct fk_err *err);

// ---- HTTP/1 header ----
// Finds the end of a header byte by byte and refuses what must not be in one (bare CR or LF, NUL
// and other controls, folded lines). Zeroed to begin.
struct fk_http_scan {
    uint64_t bytes;   // seen
    uint32_t lines;   // complete ones, the request line too
    uint32_t line_n;  // bytes of the present line
    uint32_t first_n; // bytes of the first line so far
    bool cr, over;
};

// Takes bytes up to the end of the header (scan->over). 0; or a status (400, 414, 431) with err.
int fk_http_scan_feed(struct fk_http_scan *s, const uint8_t *p, size_t n,
                      const struct fk_http_limits *limits, size_t *ret_used, struct fk_err *err);
// Parses the whole header in ex->head into ex->req. 0 or a status with err.
int fk_http_head_parse(struct fk_http_ex *ex, const struct fk_http_limits *limits,
                       struct fk_err *err);

bool fk_http_host_ok(struct fk_str host);
// What holds in every version, once method, target, host and fields are known: makes path and
// query, reads Expect. 0 or a status with err.
int fk_http_head_common(struct fk_http_ex *ex, const struct fk_http_limits *limits,
                        struct fk_err *err);

// ---- HTTP/1 body framing, of requests and answers ----
struct fk_http_body {
    enum fk_http_framing framing;
    uint64_t left;  // of the length, or of the chunk
    uint64_t extra; // bytes of trailers, or of one chunk's line
    uint64_t max_extra;
    uint8_t state;   // chunked
    uint8_t digits;  // of the chunk's size
    bool empty_line; // in the trailers
    bool over;
};

void fk_http_body_start(struct fk_http_body *b, enum fk_http_framing framing, uint64_t length,
                        uint64_t max_extra);
// Takes bytes until a piece of data was found (*ret_data, a view of the input, may be empty), the
// body is over or the input is used up. FK_E_FORMAT, FK_E_LIMIT.
int fk_http_body_next(struct fk_http_body *b, const uint8_t *p, size_t n, size_t *ret_used,
                      struct fk_str *ret_data, struct fk_err *err);

// ---- server ----
struct fk_http_listener {
    struct fk_loop_fd io;
    struct fk_http_loop *loop;
    bool tls;
};

struct fk_http_socket { // that listens
    int fd;
    bool tls;
};

struct fk_http_conn;

struct fk_http_loop {
    struct fk_http_server *server;
    struct fk_loop *loop;
    struct fk_thread thread;
    pthread_t self;
    struct fk_http_listener *listeners; // one for each of the server's
    struct fk_http_conn *conns;         // all open ones
    size_t exs;                         // exchanges that are not freed
    struct fk_loop_msg drain_msg;
    struct fk_timer cut, accept_again;
    bool draining, listening;
    int64_t date_s; // second that `date` shows
    char date[32];
    uint8_t in[FK_HTTP_READ];
};

struct fk_http_counters { // of one route
    _Atomic uint64_t requests, status[6], bytes_in, bytes_out, bucket[FK_HTTP_BUCKETS], duration_ns;
};

struct fk_http_server {
    struct fk_http_server_opts opts;
    struct fk_http_router router;
    struct fk_http_loop *loops;
    unsigned loops_n, started;
    FK_VEC(struct fk_http_socket) sockets;
    _Atomic unsigned listening; // loops that still accept, while it drains
    _Atomic int64_t grace_ns;
    _Atomic uint64_t open, accepted, refused, active, broken, timeouts, memory, spool;
    _Atomic uint64_t h2_connections, h2_streams, h2_resets, h2_floods;
    _Atomic uint64_t tls_connections, tls_failed, tls_clear;
    struct fk_mutex tls_lock;
    struct ssl_ctx_st *tls; // of new connections, under tls_lock; NULL: no TLS
    struct bio_method_st *tls_bio;
    struct nghttp2_session_callbacks *h2_callbacks; // of all HTTP/2 connections
    struct nghttp2_option *h2_options;
    struct fk_http_counters *counters; // routes_n + 1
    bool drained;
};

// Takes n bytes of a budget; false when it is spent.
bool fk_http_budget_take(_Atomic uint64_t *used, uint64_t n, uint64_t most);
void fk_http_count(struct fk_http_ex *ex, int status, int64_t duration_ns);
const char *fk_http_date(struct fk_http_loop *l); // of now, for the Date field
bool fk_http_on_loop(const struct fk_http_loop *l);
void fk_http_loop_idle(struct fk_http_loop *l); // ends a draining loop when nothing is left

// ---- connections ----
struct fk_http_conn;

// What speaks over a connection, on the loop's thread. All but open and free may end with the
// connection being destroyed.
struct fk_http_proto {
    int (*open)(struct fk_http_conn *c, int64_t since); // makes c->state; since: its first byte
    void (*input)(struct fk_http_conn *c, const uint8_t *p, size_t n); // bytes that were read
    void (*ready)(struct fk_http_conn *c, uint32_t ready);
    void (*timer)(struct fk_http_conn *c);
    void (*drain)(struct fk_http_conn *c); // no new requests; ends when the present ones are over
    void (*free)(struct fk_http_conn *c);
};

extern const struct fk_http_proto fk_http_h1, fk_http_h2;

struct fk_http_conn {
    struct fk_http_wire wire;
    struct fk_timer timer;
    struct fk_http_loop *loop;
    struct fk_http_conn *prev, *next;
    struct fk_addr peer;
    const struct fk_http_proto *proto; // NULL: not known yet
    void *state;                       // the protocol's
    uint64_t requests;
    int64_t since; // accepted, or the first byte came
    uint8_t early; // bytes that came of HTTP/2's preface, while it is not complete
};

int fk_http_h2_setup(struct fk_http_server *s, struct fk_err *err);
void fk_http_h2_teardown(struct fk_http_server *s);

// Takes fd over. Without memory it is closed.
void fk_http_conn_open(struct fk_http_loop *l, int fd, const struct fk_addr *peer, bool tls);
// Waits for bits of enum fk_ready, at most until at_ns; destroys it if that fails.
void fk_http_conn_wait(struct fk_http_conn *c, int64_t at_ns, uint32_t want);
void fk_http_conn_destroy(struct fk_http_conn *c);
void fk_http_conn_drain_all(struct fk_http_loop *l);
void fk_http_conn_cut_all(struct fk_http_loop *l);

// Appends the status line and the fields.
void fk_http_put_head(struct fk_buf *b, struct fk_http_ex *ex, bool keep_alive);

#endif
