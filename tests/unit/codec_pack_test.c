// SPDX-License-Identifier: Apache-2.0
// Integer packing: exact round trips at every width and length, and hostile bytes.
#include "codec/codec.h"

#include "support/test.h"

static uint64_t next_random(uint64_t *x)
{
    *x += 0x9e3779b97f4a7c15u;
    return fk_hash_u64(*x);
}

static const size_t lengths[] = {0, 1, 2, 7, 63, 127, 128, 129, 255, 256, 1000};

static void check_u32(const uint32_t *v, size_t n)
{
    FK_AUTO_BUF b;
    fk_buf_init(&b, 0);
    uint32_t *out = malloc((n + 1) * sizeof(*out));
    assert_non_null(out);
    out[n] = 0xdeadbeef;
    fk_pack_u32(&b, v, n);
    assert_int_equal(b.n, fk_pack_u32_size(v, n));
    struct fk_cur c = fk_cur_of(fk_buf_view(&b));
    assert_int_equal(fk_unpack_u32(&c, out, n), 0);
    assert_int_equal(fk_cur_left(&c), 0);
    assert_memory_equal(v, out, n * sizeof(*out));
    for (size_t cut = 0; cut < b.n; cut += 1 + b.n / 50) {
        c = fk_cur_of(fk_str_make(b.p, cut));
        assert_int_equal(fk_unpack_u32(&c, out, n), -FK_E_CORRUPT);
    }
    assert_int_equal(out[n], 0xdeadbeef);
    free(out);
}

static void u32_at_every_width(void **state)
{
    (void)state;
    uint32_t v[1000];
    uint64_t x = 1;
    for (unsigned w = 0; w <= 32; w++)
        for (size_t k = 0; k < FK_COUNTOF(lengths); k++) {
            for (size_t i = 0; i < lengths[k]; i++)
                v[i] = w ? (uint32_t)(next_random(&x) >> (64 - w)) : 0;
            check_u32(v, lengths[k]);
        }
}

static void ascending(void **state)
{
    (void)state;
    uint32_t v[1000], out[1000];
    uint64_t x = 2;
    for (unsigned w = 0; w <= 21; w++)
        for (size_t k = 0; k < FK_COUNTOF(lengths); k++) {
            uint32_t sum = 0;
            for (size_t i = 0; i < lengths[k]; i++)
                v[i] = sum += w ? (uint32_t)(next_random(&x) >> (64 - w)) : 0;
            FK_AUTO_BUF b;
            fk_buf_init(&b, 0);
            fk_pack_ascending(&b, v, lengths[k]);
            assert_int_equal(b.n, fk_pack_ascending_size(v, lengths[k]));
            struct fk_cur c = fk_cur_of(fk_buf_view(&b));
            assert_int_equal(fk_unpack_ascending(&c, out, lengths[k]), 0);
            assert_memory_equal(v, out, lengths[k] * sizeof(*v));
        }
    static const uint32_t ends[] = {0, UINT32_MAX};
    FK_AUTO_BUF b;
    fk_buf_init(&b, 0);
    fk_pack_ascending(&b, ends, 2);
    struct fk_cur c = fk_cur_of(fk_buf_view(&b));
    assert_int_equal(fk_unpack_ascending(&c, out, 2), 0);
    assert_int_equal(out[1], UINT32_MAX);
}

static void ascending_never_wraps(void **state)
{
    (void)state;
    static const uint32_t steps[] = {UINT32_MAX, 1};
    uint32_t out[2];
    FK_AUTO_BUF b;
    fk_buf_init(&b, 0);
    fk_pack_u32(&b, steps, 2);
    struct fk_cur c = fk_cur_of(fk_buf_view(&b));
    assert_int_equal(fk_unpack_ascending(&c, out, 2), -FK_E_CORRUPT);
}

static void check_u64(const uint64_t *v, size_t n)
{
    FK_AUTO_BUF b;
    fk_buf_init(&b, 0);
    uint64_t *out = malloc((n + 1) * sizeof(*out));
    assert_non_null(out);
    out[n] = 0xdeadbeef;
    fk_pack_u64(&b, v, n);
    assert_int_equal(b.n, fk_pack_u64_size(v, n));
    struct fk_cur c = fk_cur_of(fk_buf_view(&b));
    assert_int_equal(fk_unpack_u64(&c, out, n), 0);
    assert_int_equal(fk_cur_left(&c), 0);
    assert_memory_equal(v, out, n * sizeof(*out));
    for (size_t cut = 0; cut < b.n; cut += 1 + b.n / 50) {
        c = fk_cur_of(fk_str_make(b.p, cut));
        assert_int_equal(fk_unpack_u64(&c, out, n), -FK_E_CORRUPT);
    }
    assert_true(out[n] == 0xdeadbeef);
    free(out);
}

// Mostly narrow values with a few wide ones: what patching is for.
static void u64_at_every_width(void **state)
{
    (void)state;
    uint64_t v[1000], x = 3;
    for (unsigned w = 0; w <= 64; w++)
        for (unsigned every = 0; every <= 30; every += 10)
            for (size_t k = 0; k < FK_COUNTOF(lengths); k++) {
                for (size_t i = 0; i < lengths[k]; i++) {
                    unsigned width = every && i % every == 1 ? 64 : w;
                    v[i] = width ? next_random(&x) >> (64 - width) : 0;
                }
                check_u64(v, lengths[k]);
            }
}

static void patching_is_small(void **state)
{
    (void)state;
    uint64_t v[128] = {0};
    v[5] = UINT64_MAX;
    assert_true(fk_pack_u64_size(v, 128) <= 3 + 1 + 8);
}

static void hostile_headers(void **state)
{
    (void)state;
    uint64_t wide[128];
    uint32_t narrow[128];
    uint8_t bytes[4096];
    memset(bytes, 0xff, sizeof(bytes));
    struct fk_cur c = {bytes, bytes + sizeof(bytes)};
    assert_int_equal(fk_unpack_u32(&c, narrow, 128), -FK_E_CORRUPT);
    c = (struct fk_cur){bytes, bytes + sizeof(bytes)};
    assert_int_equal(fk_unpack_u64(&c, wide, 128), -FK_E_CORRUPT);
    static const uint8_t no_extra[] = {1, 1, 0, 0xff, 0xff}, too_wide[] = {63, 1, 2, 0},
                         position[] = {0, 1, 8, 9, 1}, many[] = {0, 200, 1, 0, 0};
    c = (struct fk_cur){no_extra, no_extra + 5};
    assert_int_equal(fk_unpack_u64(&c, wide, 2), -FK_E_CORRUPT);
    c = (struct fk_cur){too_wide, too_wide + 4};
    assert_int_equal(fk_unpack_u64(&c, wide, 2), -FK_E_CORRUPT);
    c = (struct fk_cur){position, position + 5};
    assert_int_equal(fk_unpack_u64(&c, wide, 2), -FK_E_CORRUPT);
    c = (struct fk_cur){many, many + 5};
    assert_int_equal(fk_unpack_u64(&c, wide, 2), -FK_E_CORRUPT);
}

static void random_bytes_never_hurt(void **state)
{
    (void)state;
    uint64_t x = 4, wide[300];
    uint32_t narrow[300];
    uint8_t bytes[600];
    for (int round = 0; round < 20000; round++) {
        size_t n = next_random(&x) % sizeof(bytes);
        for (size_t i = 0; i < n; i++)
            bytes[i] = (uint8_t)(next_random(&x) % 67);
        struct fk_cur c = {bytes, bytes + n};
        (void)fk_unpack_u32(&c, narrow, 300);
        c = (struct fk_cur){bytes, bytes + n};
        (void)fk_unpack_ascending(&c, narrow, 300);
        c = (struct fk_cur){bytes, bytes + n};
        (void)fk_unpack_u64(&c, wide, 300);
    }
}

static void writer_survives_lack_of_memory(void **state)
{
    (void)state;
    uint64_t v[500];
    for (size_t i = 0; i < FK_COUNTOF(v); i++)
        v[i] = i * i;
    for (uint64_t k = 1;; k++) {
        FK_AUTO_BUF b;
        fk_buf_init(&b, 0);
        fk_mem_fail_after(k, true);
        fk_pack_u64(&b, v, FK_COUNTOF(v));
        uint64_t failed = fk_mem_failed();
        fk_mem_fail_after(0, false);
        assert_int_equal(b.failed, failed ? FK_E_NOMEM : 0);
        if (!failed)
            break;
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(u32_at_every_width),      cmocka_unit_test(ascending),
        cmocka_unit_test(ascending_never_wraps),   cmocka_unit_test(u64_at_every_width),
        cmocka_unit_test(patching_is_small),       cmocka_unit_test(hostile_headers),
        cmocka_unit_test(random_bytes_never_hurt), cmocka_unit_test(writer_survives_lack_of_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
