// SPDX-License-Identifier: Apache-2.0
// Integer packing: hostile packed bytes are read within bounds, and what reads packs again to the
// same values; values of any kind survive a round trip. First byte: how many values.
#include "codec/codec.h"
#include "fuzz.h"

#define MAX 600

static void check_u64(const uint64_t *v, size_t n)
{
    static uint64_t out[MAX + 1];
    FK_AUTO_BUF b;
    fk_buf_init(&b, 0);
    fk_pack_u64(&b, v, n);
    FK_FUZZ_CHECK(b.n == fk_pack_u64_size(v, n));
    struct fk_cur c = fk_cur_of(fk_buf_view(&b));
    out[n] = 77;
    FK_FUZZ_CHECK(fk_unpack_u64(&c, out, n) == 0 && c.p == c.end && out[n] == 77);
    FK_FUZZ_CHECK(memcmp(out, v, n * sizeof(*v)) == 0);
}

static void check_u32(const uint32_t *v, size_t n, bool ascending)
{
    static uint32_t out[MAX + 1];
    FK_AUTO_BUF b;
    fk_buf_init(&b, 0);
    (ascending ? fk_pack_ascending : fk_pack_u32)(&b, v, n);
    FK_FUZZ_CHECK(b.n == (ascending ? fk_pack_ascending_size : fk_pack_u32_size)(v, n));
    struct fk_cur c = fk_cur_of(fk_buf_view(&b));
    out[n] = 77;
    FK_FUZZ_CHECK((ascending ? fk_unpack_ascending : fk_unpack_u32)(&c, out, n) == 0);
    FK_FUZZ_CHECK(c.p == c.end && out[n] == 77 && memcmp(out, v, n * sizeof(*v)) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static uint64_t wide[MAX + 1];
    static uint32_t narrow[MAX + 1];
    if (size < 1)
        return 0;
    size_t n = (size_t)data[0] * 2 + 1;
    const struct fk_cur bytes = {data + 1, data + size};
    struct fk_cur c = bytes;
    if (fk_unpack_u64(&c, wide, n) == 0)
        check_u64(wide, n);
    c = bytes;
    if (fk_unpack_u32(&c, narrow, n) == 0)
        check_u32(narrow, n, false);
    c = bytes;
    if (fk_unpack_ascending(&c, narrow, n) == 0)
        check_u32(narrow, n, true);
    size_t k = FK_MIN((size - 1) / 8, (size_t)MAX);
    memcpy(wide, data + 1, k * 8);
    check_u64(wide, k);
    memcpy(narrow, data + 1, k * 4);
    check_u32(narrow, k, false);
    return 0;
}
