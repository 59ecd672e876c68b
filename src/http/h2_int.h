// SPDX-License-Identifier: Apache-2.0
// HTTP/2 (RFC 9113) inside the room: nghttp2 makes frames of bytes and bytes of frames, this side
// gives each stream an exchange. h2.c: the connection; h2_head.c: fields of a request; h2_in.c:
// requests as they come; h2_out.c: answers. All on the loop's thread.
#ifndef FK_HTTP_H2_INT_H
#define FK_HTTP_H2_INT_H

#include "http/http_int.h"

#include <nghttp2/nghttp2.h>

// ---- fields of one request, while they come ----
struct fk_h2_span { // in the exchange's head
    uint32_t name, name_n, value, value_n;
};

enum fk_h2_fault { FK_H2_FINE, FK_H2_BAD, FK_H2_LARGE, FK_H2_MANY, FK_H2_NOMEM };

struct fk_h2_head {
    FK_VEC(struct fk_h2_span) spans;
    uint64_t bytes; // 32 a field besides, as SETTINGS_MAX_HEADER_LIST_SIZE counts
    uint32_t fields;
    enum fk_h2_fault fault; // the first one: what comes behind it is not kept
};

void fk_h2_head_add(struct fk_http_ex *ex, struct fk_h2_head *h, struct fk_str name,
                    struct fk_str value, const struct fk_http_limits *limits);
// Makes ex->req of them, with the same rules as for HTTP/1. 0, or a status with err. h is freed.
int fk_h2_head_finish(struct fk_http_ex *ex, struct fk_h2_head *h,
                      const struct fk_http_limits *limits, struct fk_err *err);
void fk_h2_head_free(struct fk_h2_head *h);

// ---- streams ----
struct fk_h2;

struct fk_h2_stream {
    struct fk_h2_stream *prev, *next; // of the connection
    struct fk_h2_stream *next_touched;
    struct fk_h2 *h2;
    struct fk_http_ex *ex;
    int32_t id;
    bool touched;   // in the list of those to be looked at
    bool headed;    // the request's fields are complete
    bool paused;    // the sink wants no more for now
    bool fin;       // the request's end has come
    bool told;      // and the sink knows
    bool submitted; // the answer's header is with nghttp2
    bool answered;  // all of the answer is in `out` or sent
    bool deferred;  // nghttp2 waits for more of it
    bool reset;     // RST_STREAM is on its way
    struct fk_h2_head head;
    uint64_t trailer_bytes; // of the request
    struct fk_buf held;     // came while the sink paused; at most the stream's window
    uint64_t held_charged;  // of the server's budget
    struct fk_http_segs out;
    struct fk_timer timer;
    int64_t rate_since; // a measuring span began, of the body or of the answer
    uint64_t rate_bytes;
    bool rate_out;
};

// ---- connections ----
enum fk_h2_end {
    FK_H2_OPEN,
    FK_H2_NOTICE, // told that an end is near; streams under way still arrive
    FK_H2_GOAWAY, // no new ones
    FK_H2_LINGER, // all is out; what still comes is read away
    FK_H2_DEAD,
};

struct fk_h2 {
    struct fk_http_conn *conn;
    nghttp2_session *session;
    struct fk_h2_stream *streams, *touched;
    size_t streams_n;
    struct fk_buf out; // frames that the socket did not take yet, from out_at
    size_t out_at;
    enum fk_h2_end end;
    bool busy;          // inside settle
    bool settled;       // the client's SETTINGS came
    bool blocked;       // the socket takes no more for now
    bool terminated;    // over a fault: what still comes is not parsed
    int32_t newest;     // stream that the client has opened
    uint64_t opened;    // bit k: so was the one k before it, as ids go
    int64_t since;      // without streams, or `end` was entered
    int64_t head_since; // a header block has begun; 0: none
    int64_t heard;      // bytes came last
    bool probed;        // or, since then, a PING asked for some
    uint64_t sent;      // bytes written
    int64_t taken;      // of them by the client, when it was silent last
    int64_t rate_since; // the socket takes nothing or little
    uint64_t rate_bytes;
    int64_t span_since; // the two counts below are of this span
    uint32_t noise;     // frames that bring nothing
    uint32_t resets;    // streams that the client gave up or broke
};

static inline const struct fk_http_limits *fk_h2_limits(const struct fk_h2 *h2)
{
    return &h2->conn->loop->server->opts.limits;
}

static inline int64_t fk_h2_now(const struct fk_h2 *h2)
{
    return fk_loop_now(h2->conn->loop->loop);
}

// Pulls, sends, waits; may end with the connection being destroyed.
void fk_h2_settle(struct fk_h2 *h2);
// The next step of a graceful end.
void fk_h2_shut_down(struct fk_h2 *h2);
extern const uint8_t fk_h2_drained[8]; // of the PING whose answer is the second step
// Has the stream looked at by the next settle.
void fk_h2_touch(struct fk_h2_stream *s);
// Counts what a client does too often; closes the connection over it (ENHANCE_YOUR_CALM).
void fk_h2_noise(struct fk_h2 *h2, int by);
void fk_h2_reset_seen(struct fk_h2 *h2);
void fk_h2_terminate(struct fk_h2 *h2, uint32_t code);

// ---- requests ----
int fk_h2_in_callbacks(nghttp2_session_callbacks *cb); // registers those of h2_in.c
void fk_h2_stream_reset(struct fk_h2_stream *s, uint32_t code);
void fk_h2_stream_free(struct fk_h2_stream *s, bool sent_all);
// The sink may be fed again: what was held, and the end.
void fk_h2_stream_resumed(struct fk_h2_stream *s);
void fk_h2_stream_arm(struct fk_h2_stream *s); // brings its timer up to date

// ---- answers ----
int fk_h2_out_callbacks(nghttp2_session_callbacks *cb);
void fk_h2_pull(struct fk_h2_stream *s);     // what the handler has produced goes to nghttp2
void fk_h2_continue(struct fk_h2_stream *s); // 100

extern const struct fk_http_link fk_h2_link;

#endif
