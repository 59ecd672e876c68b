// SPDX-License-Identifier: Apache-2.0
// Decompression: bounded by the limit, and the whole-body way and the stream agree.
#include "codec/codec.h"
#include "fuzz.h"

#define LIMIT ((size_t)1 << 20)

static const struct fk_size_limit limit = {LIMIT, "--limit", "the input"};

static int stream(const uint8_t *data, size_t size, size_t piece, struct fk_buf *out)
{
    struct fk_inflater *z = fk_inflater_new(fk_zip_detect(data, size), &limit);
    int rc = z ? 0 : -FK_E_NOMEM;
    for (size_t at = 0; !rc && at < size; at += piece)
        rc = fk_inflater_feed(z, data + at, FK_MIN(piece, size - at), fk_out_buf(out), NULL);
    if (!rc)
        rc = fk_inflater_end(z, NULL, NULL, NULL);
    fk_inflater_free(z);
    return rc;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    FK_AUTO_ARENA a;
    FK_AUTO_BUF out, small;
    struct fk_inflated got = {0};
    struct fk_err err = {0};
    uint8_t head[100];
    size_t n = sizeof(head);
    fk_arena_init(&a, 0);
    fk_buf_init(&out, 0);
    fk_buf_init(&small, 0);
    int whole = fk_inflate(data, size, &limit, &a, &got, &err);
    FK_FUZZ_CHECK(whole == -err.code);
    FK_FUZZ_CHECK(whole || got.bytes.n <= LIMIT);
    FK_FUZZ_CHECK(a.used <= 2 * LIMIT + 65536);
    int streamed = stream(data, size, size + 1, &out);
    FK_FUZZ_CHECK(out.n <= LIMIT);
    if (!whole && !streamed)
        FK_FUZZ_CHECK(fk_str_eq(got.bytes, fk_buf_view(&out)));
    if (!streamed && stream(data, size, 7, &small) == 0)
        FK_FUZZ_CHECK(fk_str_eq(fk_buf_view(&small), fk_buf_view(&out)));
    fk_inflate_head(data, size, head, &n);
    FK_FUZZ_CHECK(n <= sizeof(head));
    if (!whole)
        FK_FUZZ_CHECK(memcmp(head, got.bytes.n ? got.bytes.p : "", FK_MIN(n, got.bytes.n)) == 0);
    return 0;
}
