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
    FK_FIELD_MSG,   // the structure itself, or struct fk_list of it
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

// Which codec a Connect unary request speaks, by its content type.
enum fk_rpc_codec { FK_RPC_PROTO, FK_RPC_JSON, FK_RPC_OTHER };
enum fk_rpc_codec fk_rpc_codec_of(struct fk_str content_type);

#endif
