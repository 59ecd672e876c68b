// SPDX-License-Identifier: Apache-2.0
// Envelopes of gRPC and of Connect's streams, and reflection over what is in them. The first byte
// chooses the compression that is announced. Messages and envelopes must add up to the input; every
// answer of reflection is a protobuf message.
#include "fuzz.h"
#include "rpc/reflection_int.h"
#include "rpc/rpc_int.h"

static void reflect(struct fk_str message)
{
    FK_AUTO_BUF b;
    struct fk_err err = {0};
    struct fk_pb_field f;
    int more;
    fk_buf_init(&b, 0);
    int rc = fk_rpc_reflect(message, &b, &err);
    FK_FUZZ_CHECK(rc == -err.code);
    if (rc)
        return;
    struct fk_cur c = fk_cur_of(fk_buf_view(&b));
    while ((more = fk_pb_next(&c, &f)) == 1)
        FK_FUZZ_CHECK(f.number >= 1 && f.number <= 7);
    FK_FUZZ_CHECK(more == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const codings[] = {"", "gzip", "identity", "br"};
    const struct fk_size_limit limit = {1 << 16, NULL, "the message"};
    FK_AUTO_ARENA a;
    struct fk_err err = {0};
    struct fk_str message;
    int more;
    fk_arena_init(&a, (size_t)4 << 20);
    if (size < 1)
        return 0;
    struct fk_rpc rpc = {.protocol = FK_RPC_GRPC,
                         .coding = fk_str_of(codings[data[0] % FK_COUNTOF(codings)])};
    struct fk_str in = fk_str_make(data + 1, size - 1);
    for (;;) {
        struct fk_str before = in;
        more = fk_rpc_envelope(&rpc, &in, &limit, &a, &message, &err);
        if (more <= 0) {
            FK_FUZZ_CHECK(more == 0 || more == -err.code);
            FK_FUZZ_CHECK(in.p == before.p && in.n == before.n); // nothing is taken
            break;
        }
        FK_FUZZ_CHECK(in.n < before.n && message.n <= limit.bytes);
        if (before.p[0] == 0)
            FK_FUZZ_CHECK(before.n - in.n == message.n + FK_RPC_HEAD);
        reflect(message);
    }
    return 0;
}
