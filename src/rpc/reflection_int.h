// SPDX-License-Identifier: Apache-2.0
// The descriptors of proto/ (google.protobuf.FileDescriptorSet), made by the build.
#ifndef FK_RPC_REFLECTION_INT_H
#define FK_RPC_REFLECTION_INT_H

#include "rpc/rpc.h"

extern const uint8_t fk_rpc_descriptors[];
extern const size_t fk_rpc_descriptors_n;

// One file of the set: its FileDescriptorProto.
struct fk_rpc_file {
    struct fk_str name, package, bytes;
};
// The next file; false at the end. The set is ours and sound.
bool fk_rpc_next_file(struct fk_cur *set, struct fk_rpc_file *ret);
struct fk_cur fk_rpc_files(void);
// The file of this name; the one that declares a full name (message, enum, service, method or
// field). false: there is none.
bool fk_rpc_file_named(struct fk_str name, struct fk_rpc_file *ret);
bool fk_rpc_file_declares(struct fk_str symbol, struct fk_rpc_file *ret);
// Calls `on` with each service's full name, in the order of the set.
void fk_rpc_each_service(void (*on)(void *arg, struct fk_str full), void *arg);

// Appends the ServerReflectionResponse to a ServerReflectionRequest. FK_E_FORMAT.
int fk_rpc_reflect(struct fk_str question, struct fk_buf *answer, struct fk_err *err);

#endif
