// SPDX-License-Identifier: Apache-2.0
// Messages of the compatible RPCs: described by tables, read and written as protobuf and as proto3
// JSON from the same table. Plain structures in an arena; unknown fields are skipped; nesting is
// bounded by the types, which do not contain themselves. Sources:
// protobuf.dev/programming-guides/encoding and /json ("ProtoJSON"); connectrpc.com/docs/protocol
// (unary).
#ifndef FK_RPC_RPC_H
#define FK_RPC_RPC_H

#include "codec/codec.h"
#include "http/http.h"

enum fk_field_kind {
    FK_FIELD_STR,   // struct fk_str
    FK_FIELD_BYTES, // struct fk_str; base64 in JSON
    FK_FIELD_I64,   // int64_t: signed integer types; a string in JSON
    FK_FIELD_U64,   // int64_t, its bits those of a uint64_t; a string in JSON
    FK_FIELD_I32,   // int64_t; a number in JSON
    FK_FIELD_F64,   // double
    FK_FIELD_BOOL,  // bool
    FK_FIELD_ENUM,  // int64_t; a name in JSON
    FK_FIELD_TIME,  // int64_t: Unix ns, 0 absent; google.protobuf.Timestamp, RFC 3339 in JSON
    FK_FIELD_MSG,   // the structure itself, or struct fk_list of it; optional: a pointer to it
};

// A repeated field: n elements of the kind's type.
struct fk_list {
    void *v;
    size_t n;
};

struct fk_msg_type;
struct fk_field {
    uint32_t number;
    enum fk_field_kind kind;
    bool repeated;
    size_t offset;
    const char *name, *json;        // proto name and its JSON form
    const struct fk_msg_type *type; // of FK_FIELD_MSG
    const char *const *names;       // of FK_FIELD_ENUM, by value, NULL-terminated
    bool optional;                  // of FK_FIELD_MSG: NULL when it is absent
};
struct fk_msg_type {
    const char *name;
    const struct fk_field *field;
    size_t n, size;
};

// *out is zeroed first. Strings borrow from the bytes, or lie in the arena. FK_E_FORMAT names
// message and field.
int fk_msg_decode(const struct fk_msg_type *t, struct fk_str bytes, struct fk_arena *a, void *out,
                  struct fk_err *err);
int fk_msg_decode_json(const struct fk_msg_type *t, struct fk_str json, struct fk_arena *a,
                       void *out, struct fk_err *err);
// Default values are left out.
void fk_msg_encode(const struct fk_msg_type *t, const void *msg, struct fk_buf *to);
void fk_msg_encode_json(const struct fk_msg_type *t, const void *msg, struct fk_json *w);

// ---- codes of an outcome (grpc.io/docs/guides/status-codes; the numbers are gRPC's) ----
enum fk_rpc_code {
    FK_RPC_OK = 0,
    FK_RPC_CANCELED = 1,
    FK_RPC_UNKNOWN = 2,
    FK_RPC_INVALID_ARGUMENT = 3,
    FK_RPC_DEADLINE_EXCEEDED = 4,
    FK_RPC_NOT_FOUND = 5,
    FK_RPC_ALREADY_EXISTS = 6,
    FK_RPC_PERMISSION_DENIED = 7,
    FK_RPC_RESOURCE_EXHAUSTED = 8,
    FK_RPC_FAILED_PRECONDITION = 9,
    FK_RPC_ABORTED = 10,
    FK_RPC_OUT_OF_RANGE = 11,
    FK_RPC_UNIMPLEMENTED = 12,
    FK_RPC_INTERNAL = 13,
    FK_RPC_UNAVAILABLE = 14,
    FK_RPC_DATA_LOSS = 15,
    FK_RPC_UNAUTHENTICATED = 16,
};
const char *fk_rpc_code_name(enum fk_rpc_code code); // "invalid_argument"
int fk_rpc_code_status(enum fk_rpc_code code);       // its HTTP status in Connect
enum fk_rpc_code fk_rpc_code_of(int status);         // of an HTTP status
// When to come again after an HTTP status, in ns; 0: not said, since it is neither 429 nor 503.
int64_t fk_rpc_retry_of(int status);
void fk_rpc_set_retry(struct fk_http_res *res, int64_t retry_ns); // Retry-After; 0: none

// ---- framings of a call ----
// Sources: connectrpc.com/docs/protocol; grpc/grpc doc/PROTOCOL-HTTP2.md and PROTOCOL-WEB.md.
enum fk_rpc_codec { FK_RPC_PROTO, FK_RPC_JSON, FK_RPC_OTHER };
enum fk_rpc_protocol {
    FK_RPC_PLAIN,          // none of these: an ordinary request
    FK_RPC_CONNECT,        // unary: the body (or of GET the query) is the message
    FK_RPC_CONNECT_STREAM, // messages in envelopes, the last one tells the outcome
    FK_RPC_GRPC,           // messages in envelopes, the outcome is in the trailers
    FK_RPC_GRPC_WEB,       // the same with the trailers as a last envelope
};

struct fk_rpc {
    enum fk_rpc_protocol protocol;
    enum fk_rpc_codec codec;
    bool by_get;
    bool gzip;            // answers may be compressed
    struct fk_str coding; // of the request's messages: "", "identity", "gzip"; borrowed
    const char *type;     // media type of the answer
};

// The codec of a body that is the bare message, by its content type.
enum fk_rpc_codec fk_rpc_codec_of(struct fk_str content_type);
// Whether messages come and go in envelopes, and the outcome apart from them.
bool fk_rpc_enveloped(const struct fk_rpc *rpc);
// How a request is framed, by its method and fields.
void fk_rpc_open(struct fk_http_req *req, struct fk_rpc *ret);
// What the client allows, in ns from now (grpc-timeout, connect-timeout-ms); 0: nothing said.
int64_t fk_rpc_timeout(const struct fk_http_req *req);

// The only message of a unary request: borrowed from it or in `a`. FK_E_UNSUPPORTED for another
// compression than gzip; FK_E_LIMIT; FK_E_FORMAT; FK_E_INVALID (a GET without its parameters).
int fk_rpc_request(const struct fk_rpc *rpc, struct fk_http_req *req,
                   const struct fk_size_limit *limit, struct fk_arena *a, struct fk_str *ret,
                   struct fk_err *err);

// Takes envelopes (flags, length, bytes) off the front of *in: 1 with a message, 0 when the next
// one is not whole yet, negative as fk_rpc_request.
int fk_rpc_envelope(const struct fk_rpc *rpc, struct fk_str *in, const struct fk_size_limit *limit,
                    struct fk_arena *a, struct fk_str *ret, struct fk_err *err);

// Whole answers. A failure says the code, what happened, and for whom it helps the details
// google.rpc.BadRequest, RetryInfo and ErrorInfo, in the protocol's own form.
struct fk_rpc_failure {
    enum fk_rpc_code code;
    int status;               // HTTP status of Connect and plain answers; 0: the code's
    const struct fk_err *err; // its message, parameter, limit and flag
    int64_t retry_ns;         // when to try again; 0: not said
};
void fk_rpc_reply(const struct fk_rpc *rpc, struct fk_http_res *res, struct fk_buf *message);
void fk_rpc_fail(const struct fk_rpc *rpc, struct fk_http_res *res, const struct fk_rpc_failure *f);
void fk_rpc_put_error(const struct fk_rpc_failure *f, struct fk_buf *to); // Connect's JSON object
// For fk_http_route.error and fk_http_server_opts.error: the form that the request understands,
// Connect's where it is none of these.
void fk_rpc_http_error(struct fk_http_res *res, int status, const struct fk_err *err);

// ---- streams: methods whose messages come and go one by one ----
struct fk_rpc_stream;
struct fk_rpc_stream_ops {
    // On the connection's loop. Negative ends the call with that error.
    int (*on_message)(void *arg, struct fk_rpc_stream *s, struct fk_str message,
                      struct fk_err *err);
    void (*on_last)(void *arg, struct fk_rpc_stream *s); // no more come; NULL: the call ends well
    // The client left, its time is over, or its bytes made no sense; s must not be used any more.
    // NULL: nothing to do.
    void (*on_gone)(void *arg, struct fk_rpc_stream *s);
};
struct fk_rpc_stream_route { // arg of a route with fk_rpc_stream_sink
    const struct fk_rpc_stream_ops *ops;
    void *arg;
};
extern const struct fk_http_sink fk_rpc_stream_sink;
// Any thread, one at a time. FK_E_LIMIT when the client has been sent its fill.
int fk_rpc_stream_send(struct fk_rpc_stream *s, struct fk_str message, struct fk_err *err);
// Ends the call, once; s is gone afterwards. err may be NULL when the code is FK_RPC_OK.
void fk_rpc_stream_end(struct fk_rpc_stream *s, enum fk_rpc_code code, const struct fk_err *err);

// ---- reflection ----
// grpc.reflection.v1 and v1alpha over the descriptors of proto/, which are part of the program.
extern const struct fk_rpc_stream_ops fk_rpc_reflection;
// Whether a service of this full name is described there.
bool fk_rpc_has_service(struct fk_str name);

#endif
