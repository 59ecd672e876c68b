// SPDX-License-Identifier: Apache-2.0
// Shared by the framings: envelopes and outcomes on the wire.
#ifndef FK_RPC_RPC_INT_H
#define FK_RPC_RPC_INT_H

#include "rpc/rpc.h"

#define FK_RPC_HEAD         5    // flags and length of an envelope
#define FK_RPC_STREAM_PIECE 4096 // of a stream, taken at once

enum fk_rpc_flags {
    FK_RPC_COMPRESSED = 1,
    FK_RPC_END_CONNECT = 2, // the last envelope of a Connect stream: its outcome
    FK_RPC_TRAILERS = 0x80, // the last envelope of gRPC-Web: its trailers
};

// Fields that come before the body: type and compression of the messages.
void fk_rpc_begin(const struct fk_rpc *rpc, struct fk_http_res *res);
// One envelope into the answer.
int fk_rpc_write(const struct fk_rpc *rpc, struct fk_http_res *res, uint8_t flags,
                 struct fk_str bytes, struct fk_err *err);
// The outcome behind the messages: trailers, or a last envelope. f NULL: it went well.
void fk_rpc_outcome(const struct fk_rpc *rpc, struct fk_http_res *res,
                    const struct fk_rpc_failure *f);
// google.rpc.Status with its details (google/rpc/status.proto, error_details.proto).
// The last message of a Connect stream: {} or {"error": ...}.
void fk_rpc_put_end(const struct fk_rpc_failure *f, struct fk_buf *to);
void fk_rpc_put_status(const struct fk_rpc_failure *f, struct fk_buf *to);

#endif
