// SPDX-License-Identifier: Apache-2.0
// Files that clients send and that are no profiles of the store: below FILES/<kind>/t-<tenant>/.
#ifndef FK_API_FILES_INT_H
#define FK_API_FILES_INT_H

#include "api/rpc_small_int.h"
#include "blob/blob.h"

// FK_RPC_UNIMPLEMENTED where there is no folder for them (commands on files).
int fk_files_need(struct fk_api_call *c, struct fk_err *err);
// "kind/t-<tenant>/" + rest into key[FK_BLOB_KEY_MAX + 1]; rest is made of safe characters.
int fk_files_key(const struct fk_api_call *c, char *key, const char *kind, const char *rest,
                 struct fk_err *err);
// The whole file in the call's arena.
int fk_files_read(struct fk_api_call *c, const char *key, struct fk_str *ret, struct fk_err *err);

struct fk_kept_file {
    struct fk_str rest; // of the key, behind kind and tenant; in the call's arena
    uint64_t size;
};
struct fk_kept_files {
    FK_VEC(struct fk_kept_file) v; // free it
    struct fk_api_call *call;
    size_t head; // bytes of the key in front of rest
};
// Those whose rest begins with `prefix`, in no order.
int fk_files_list(struct fk_api_call *c, const char *kind, const char *prefix,
                  struct fk_kept_files *ret, struct fk_err *err);

#endif
