// SPDX-License-Identifier: Apache-2.0
// Inflating whole bodies and streams: members, frames, limits, bombs, broken input.
#include "codec/codec.h"

#include "support/test.h"

#include <zlib.h>

static const struct fk_size_limit mib = {1 << 20, "--limit-x", "the body"};

static struct fk_buf text(size_t n)
{
    struct fk_buf b;
    fk_buf_init(&b, 0);
    for (size_t i = 0; i < n; i++)
        fk_buf_byte(&b, (uint8_t)('a' + fk_hash_u64(i / 7) % 13));
    return b;
}

static void zlib_wrap(struct fk_buf *b, struct fk_str s)
{
    uLongf n = compressBound(s.n);
    char *to = fk_buf_reserve(b, n);
    assert_non_null(to);
    assert_int_equal(compress2((Bytef *)to, &n, (const Bytef *)s.p, s.n, 6), Z_OK);
    b->n += n;
}

static void check_body(struct fk_str packed, enum fk_zip kind, uint32_t members, size_t trailing,
                       struct fk_str want)
{
    FK_AUTO_ARENA a;
    fk_arena_init(&a, 0);
    struct fk_inflated got;
    struct fk_err err = {0};
    assert_int_equal(fk_inflate((const uint8_t *)packed.p, packed.n, &mib, &a, &got, &err), 0);
    assert_int_equal(got.kind, kind);
    assert_int_equal(got.members, members);
    assert_int_equal(got.trailing, trailing);
    assert_true(fk_str_eq(got.bytes, want));
}

// Fed in pieces of every small size.
static void check_stream(struct fk_str packed, enum fk_zip kind, uint32_t members, size_t trailing,
                         struct fk_str want)
{
    for (size_t piece = 1; piece <= packed.n; piece = piece < 5 ? piece + 1 : piece * 3) {
        FK_AUTO_BUF out;
        fk_buf_init(&out, 0);
        struct fk_err err = {0};
        struct fk_inflater *z = fk_inflater_new(kind, &mib);
        assert_non_null(z);
        for (size_t at = 0; at < packed.n; at += piece)
            assert_int_equal(fk_inflater_feed(z, (const uint8_t *)packed.p + at,
                                              FK_MIN(piece, packed.n - at), fk_out_buf(&out), &err),
                             0);
        uint32_t got_members = 0;
        uint64_t got_trailing = 0;
        assert_int_equal(fk_inflater_end(z, &got_members, &got_trailing, &err), 0);
        fk_inflater_free(z);
        assert_int_equal(got_members, members);
        assert_int_equal(got_trailing, trailing);
        assert_true(fk_str_eq(fk_buf_view(&out), want));
    }
}

static void bodies_round_trip(void **state)
{
    (void)state;
    static const size_t sizes[] = {0, 1, 100, 70000, 300000};
    for (size_t i = 0; i < FK_COUNTOF(sizes); i++) {
        FK_AUTO_BUF raw = text(sizes[i]);
        struct fk_str s = fk_buf_view(&raw);
        FK_AUTO_BUF gz, zs, zl;
        fk_buf_init(&gz, 0);
        fk_buf_init(&zs, 0);
        fk_buf_init(&zl, 0);
        assert_int_equal(fk_gzip(s.p, s.n, 1, &gz, NULL), 0);
        assert_int_equal(fk_zstd(s.p, s.n, 3, &zs, NULL), 0);
        zlib_wrap(&zl, s);
        check_body(fk_buf_view(&gz), FK_ZIP_GZIP, 1, 0, s);
        check_body(fk_buf_view(&zs), FK_ZIP_ZSTD, 1, 0, s);
        check_body(fk_buf_view(&zl), FK_ZIP_ZLIB, 1, 0, s);
        check_stream(fk_buf_view(&gz), FK_ZIP_GZIP, 1, 0, s);
        check_stream(fk_buf_view(&zs), FK_ZIP_ZSTD, 1, 0, s);
        check_stream(fk_buf_view(&zl), FK_ZIP_ZLIB, 1, 0, s);
        check_body(s, FK_ZIP_NONE, 0, 0, s);
        uint8_t head[64];
        size_t n = sizeof(head);
        fk_inflate_head((const uint8_t *)gz.p, gz.n, head, &n);
        assert_int_equal(n, FK_MIN(s.n, sizeof(head)));
        assert_memory_equal(head, s.p, n);
        if (s.n) {
            char *exact = malloc(s.n);
            assert_int_equal(fk_unzstd(zs.p, zs.n, exact, s.n, NULL), 0);
            assert_memory_equal(exact, s.p, s.n);
            assert_int_equal(fk_unzstd(zs.p, zs.n, exact, s.n - 1, NULL), -FK_E_CORRUPT);
            assert_int_equal(fk_unzstd(zs.p, zs.n - 1, exact, s.n, NULL), -FK_E_CORRUPT);
            free(exact);
        }
    }
}

static void members_and_trailing_bytes(void **state)
{
    (void)state;
    FK_AUTO_BUF raw = text(50000);
    struct fk_str s = fk_buf_view(&raw);
    FK_AUTO_BUF both = text(s.n);
    fk_buf_str(&both, s);
    struct fk_str twice = fk_buf_view(&both);
    FK_AUTO_BUF gz, zs;
    fk_buf_init(&gz, 0);
    fk_buf_init(&zs, 0);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(fk_gzip(s.p, s.n, 6, &gz, NULL), 0);
        assert_int_equal(fk_zstd(s.p, s.n, 3, &zs, NULL), 0);
    }
    check_body(fk_buf_view(&gz), FK_ZIP_GZIP, 2, 0, twice);
    check_stream(fk_buf_view(&gz), FK_ZIP_GZIP, 2, 0, twice);
    check_body(fk_buf_view(&zs), FK_ZIP_ZSTD, 2, 0, twice);
    check_stream(fk_buf_view(&zs), FK_ZIP_ZSTD, 2, 0, twice);
    size_t n = gz.n;
    fk_buf_cstr(&gz, "garbage");
    check_body(fk_buf_view(&gz), FK_ZIP_GZIP, 2, 7, twice);
    check_stream(fk_buf_view(&gz), FK_ZIP_GZIP, 2, 7, twice);
    gz.n = n;
    fk_buf_byte(&gz, 0x1f); // half a magic
    check_body(fk_buf_view(&gz), FK_ZIP_GZIP, 2, 1, twice);
    fk_buf_cstr(&zs, "garbage");
    check_body(fk_buf_view(&zs), FK_ZIP_ZSTD, 2, 7, twice);
}

static void expect_failure(struct fk_str packed, int code)
{
    FK_AUTO_ARENA a;
    fk_arena_init(&a, 0);
    struct fk_inflated got = {.members = 77};
    struct fk_err err = {0};
    int rc = fk_inflate((const uint8_t *)packed.p, packed.n, &mib, &a, &got, &err);
    assert_int_equal(rc, -code);
    assert_int_equal(err.code, code);
    assert_int_equal(got.members, 77);
    if (code == FK_E_LIMIT) {
        assert_non_null(strstr(err.msg, "--limit-x"));
        assert_int_equal(err.limit, mib.bytes);
        assert_true(a.used <= mib.bytes + 65536);
    }
}

static void broken_bodies_are_refused(void **state)
{
    (void)state;
    FK_AUTO_BUF raw = text(5000);
    struct fk_str s = fk_buf_view(&raw);
    FK_AUTO_BUF gz, zs, zl;
    fk_buf_init(&gz, 0);
    fk_buf_init(&zs, 0);
    fk_buf_init(&zl, 0);
    fk_gzip(s.p, s.n, 6, &gz, NULL);
    fk_zstd(s.p, s.n, 3, &zs, NULL);
    zlib_wrap(&zl, s);
    for (size_t cut = 3; cut < gz.n; cut += 1 + cut / 4)
        expect_failure(fk_str_make(gz.p, cut), FK_E_FORMAT);
    for (size_t cut = 4; cut < zs.n; cut += 1 + cut / 4)
        expect_failure(fk_str_make(zs.p, cut), FK_E_FORMAT);
    for (size_t cut = 2; cut < zl.n; cut += 1 + cut / 4)
        expect_failure(fk_str_make(zl.p, cut), FK_E_FORMAT);
    gz.p[gz.n - 7] ^= 1; // the CRC
    expect_failure(fk_buf_view(&gz), FK_E_FORMAT);
    zs.p[zs.n - 1] ^= 1; // the checksum
    expect_failure(fk_buf_view(&zs), FK_E_FORMAT);
}

static void bombs_stop_at_the_limit(void **state)
{
    (void)state;
    size_t n = 3 << 20;
    char *zeros = calloc(n, 1);
    FK_AUTO_BUF gz, zs;
    fk_buf_init(&gz, 0);
    fk_buf_init(&zs, 0);
    fk_gzip(zeros, n, 6, &gz, NULL);
    fk_zstd(zeros, n, 3, &zs, NULL);
    expect_failure(fk_buf_view(&gz), FK_E_LIMIT);
    expect_failure(fk_buf_view(&zs), FK_E_LIMIT);
    memset(gz.p + gz.n - 4, 0, 4); // lies about its size
    expect_failure(fk_buf_view(&gz), FK_E_LIMIT);
    expect_failure(fk_str_make(zeros, n), FK_E_LIMIT); // plain and too large
    free(zeros);
}

static void memory_failures(void **state)
{
    (void)state;
    FK_AUTO_BUF raw = text(5000);
    struct fk_str s = fk_buf_view(&raw);
    FK_AUTO_BUF gz;
    fk_buf_init(&gz, 0);
    fk_gzip(s.p, s.n, 6, &gz, NULL);
    fk_gzip(s.p, s.n, 6, &gz, NULL);
    for (uint64_t k = 1;; k++) {
        FK_AUTO_ARENA a;
        fk_arena_init(&a, 0);
        struct fk_inflated got;
        fk_mem_fail_after(k, true);
        int rc = fk_inflate((const uint8_t *)gz.p, gz.n, &mib, &a, &got, NULL);
        uint64_t failed = fk_mem_failed();
        fk_mem_fail_after(0, false);
        if (!failed) {
            assert_int_equal(rc, 0);
            break;
        }
        assert_int_equal(rc, -FK_E_NOMEM);
    }
    FK_AUTO_BUF small;
    fk_buf_init(&small, 16);
    assert_int_equal(fk_zstd(s.p, s.n, 3, &small, NULL), -FK_E_LIMIT);
    assert_int_equal(fk_gzip(s.p, s.n, 3, &small, NULL), -FK_E_LIMIT);
}

static void checksum_is_xxh3(void **state)
{
    (void)state;
    assert_true(fk_checksum("", 0) == 0x2d06800538d394c2u); // from the xxHash test vectors
    assert_true(fk_checksum("a", 1) != fk_checksum("b", 1));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bodies_round_trip),         cmocka_unit_test(members_and_trailing_bytes),
        cmocka_unit_test(broken_bodies_are_refused), cmocka_unit_test(bombs_stop_at_the_limit),
        cmocka_unit_test(memory_failures),           cmocka_unit_test(checksum_is_xxh3),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
