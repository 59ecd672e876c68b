// SPDX-License-Identifier: Apache-2.0
// Where the files lie that clients send beside profiles, and finding them again.
#include "api/files_int.h"

#include <stdio.h>

int fk_files_need(struct fk_api_call *c, struct fk_err *err)
{
    return c->api->opts.files ? 0
                              : fk_rpc_fail_as(c, FK_RPC_UNIMPLEMENTED, err,
                                               "files are kept by a server, not by a command");
}

int fk_files_key(const struct fk_api_call *c, char *key, const char *kind, const char *rest,
                 struct fk_err *err)
{
    int n = snprintf(key, FK_BLOB_KEY_MAX + 1, "%s/t-%.*s/%s", kind, FK_STR_ARG(c->tenant), rest);
    return n > 0 && n <= FK_BLOB_KEY_MAX ? 0 : fk_fail(err, FK_E_INVALID, "the name is too long");
}

int fk_files_read(struct fk_api_call *c, const char *key, struct fk_str *ret, struct fk_err *err)
{
    uint64_t size;
    int r = fk_blob_size(c->api->opts.files, key, &size, err);
    char *to = r ? NULL : fk_arena_alloc(c->arena, (size_t)size + 1);
    if (r || !to)
        return r ? r : fk_fail_nomem(err);
    if ((r = fk_blob_get(c->api->opts.files, key, 0, to, (size_t)size, err)) == 0)
        *ret = fk_str_make(to, (size_t)size);
    return r;
}

static int collect(void *arg, const char *key, uint64_t size, struct fk_err *err)
{
    struct fk_kept_files *x = arg;
    struct fk_kept_file f = {fk_arena_str(x->call->arena, fk_str_of(key + x->head)), size};
    return !f.rest.p || fk_vec_push(&x->v, f) ? fk_fail_nomem(err) : 0;
}

int fk_files_list(struct fk_api_call *c, const char *kind, const char *prefix,
                  struct fk_kept_files *ret, struct fk_err *err)
{
    char key[FK_BLOB_KEY_MAX + 1];
    struct fk_kept_files x = {.call = c};
    int r = fk_files_key(c, key, kind, "", err);
    x.head = r ? 0 : strlen(key);
    if (r == 0)
        r = fk_files_key(c, key, kind, prefix, err);
    if (r == 0)
        r = fk_blob_list(c->api->opts.files, key, (struct fk_each_blob){collect, &x}, err);
    if (r)
        fk_vec_free(&x.v);
    else
        *ret = x;
    return r;
}
