// SPDX-License-Identifier: Apache-2.0
// Codes of an outcome: names and HTTP statuses (connectrpc.com/docs/protocol, "Error codes").
#include "rpc/rpc.h"

static const struct {
    const char *name;
    int status;
} codes[] = {
    [FK_RPC_OK] = {"ok", 200},
    [FK_RPC_CANCELED] = {"canceled", 499},
    [FK_RPC_UNKNOWN] = {"unknown", 500},
    [FK_RPC_INVALID_ARGUMENT] = {"invalid_argument", 400},
    [FK_RPC_DEADLINE_EXCEEDED] = {"deadline_exceeded", 504},
    [FK_RPC_NOT_FOUND] = {"not_found", 404},
    [FK_RPC_ALREADY_EXISTS] = {"already_exists", 409},
    [FK_RPC_PERMISSION_DENIED] = {"permission_denied", 403},
    [FK_RPC_RESOURCE_EXHAUSTED] = {"resource_exhausted", 429},
    [FK_RPC_FAILED_PRECONDITION] = {"failed_precondition", 400},
    [FK_RPC_ABORTED] = {"aborted", 409},
    [FK_RPC_OUT_OF_RANGE] = {"out_of_range", 400},
    [FK_RPC_UNIMPLEMENTED] = {"unimplemented", 501},
    [FK_RPC_INTERNAL] = {"internal", 500},
    [FK_RPC_UNAVAILABLE] = {"unavailable", 503},
    [FK_RPC_DATA_LOSS] = {"data_loss", 500},
    [FK_RPC_UNAUTHENTICATED] = {"unauthenticated", 401},
};

static enum fk_rpc_code known(enum fk_rpc_code code)
{
    return (unsigned)code < FK_COUNTOF(codes) ? code : FK_RPC_UNKNOWN;
}

const char *fk_rpc_code_name(enum fk_rpc_code code)
{
    return codes[known(code)].name;
}

int fk_rpc_code_status(enum fk_rpc_code code)
{
    return codes[known(code)].status;
}

// What is too large stays so: as a wrong argument, since clients send again what exhausted a
// resource.
enum fk_rpc_code fk_rpc_code_of(int status)
{
    static const struct {
        int status;
        enum fk_rpc_code code;
    } of[] = {{200, FK_RPC_OK},
              {400, FK_RPC_INVALID_ARGUMENT},
              {401, FK_RPC_UNAUTHENTICATED},
              {403, FK_RPC_PERMISSION_DENIED},
              {404, FK_RPC_NOT_FOUND},
              {405, FK_RPC_UNIMPLEMENTED},
              {408, FK_RPC_DEADLINE_EXCEEDED},
              {409, FK_RPC_ALREADY_EXISTS},
              {412, FK_RPC_FAILED_PRECONDITION},
              {413, FK_RPC_INVALID_ARGUMENT},
              {415, FK_RPC_INVALID_ARGUMENT},
              {422, FK_RPC_INVALID_ARGUMENT},
              {429, FK_RPC_RESOURCE_EXHAUSTED},
              {431, FK_RPC_RESOURCE_EXHAUSTED},
              {499, FK_RPC_CANCELED},
              {501, FK_RPC_UNIMPLEMENTED},
              {503, FK_RPC_UNAVAILABLE},
              {504, FK_RPC_DEADLINE_EXCEEDED}};
    for (size_t i = 0; i < FK_COUNTOF(of); i++)
        if (of[i].status == status)
            return of[i].code;
    return FK_RPC_INTERNAL;
}

int64_t fk_rpc_retry_of(int status)
{
    return status == 503 || status == 429 ? 5 * FK_NS_PER_S : 0;
}
