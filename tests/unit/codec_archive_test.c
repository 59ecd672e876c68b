// SPDX-License-Identifier: Apache-2.0
// Zip files: members come back by the directory, which is found from the end as readers do it.
#include "codec/codec.h"

#include "support/test.h"

#include <zlib.h>

static uint32_t le16(const char *p)
{
    return (uint8_t)p[0] | (uint32_t)(uint8_t)p[1] << 8;
}

static uint32_t le32(const char *p)
{
    return le16(p) | le16(p + 2) << 16;
}

static uint64_t le64(const char *p)
{
    return le32(p) | (uint64_t)le32(p + 4) << 32;
}

// Where the directory begins; how many members it has.
static uint64_t directory(struct fk_str zip, uint64_t *ret_n)
{
    const char *end = zip.p + zip.n - 22;
    assert_int_equal(le32(end), 0x06054b50);
    *ret_n = le16(end + 10);
    uint64_t at = le32(end + 16);
    if (*ret_n == UINT16_MAX) {
        assert_int_equal(le32(end - 20), 0x07064b50);
        const char *end64 = zip.p + le64(end - 12);
        assert_int_equal(le32(end64), 0x06064b50);
        *ret_n = le64(end64 + 32);
        at = le64(end64 + 48);
        assert_int_equal(at + le64(end64 + 40), (uint64_t)(end64 - zip.p));
    } else {
        assert_int_equal(at + le32(end + 12), (uint64_t)(end - zip.p));
    }
    return at;
}

// Checks one member against its entry at `at`, moves on; its bytes appended to b.
static struct fk_str member(struct fk_str zip, uint64_t *at, struct fk_buf *b)
{
    const char *e = zip.p + *at, *local = zip.p + le32(e + 42);
    uint32_t method = le16(e + 10), packed = le32(e + 20), size = le32(e + 24), name = le16(e + 28);
    assert_int_equal(le32(e), 0x02014b50);
    assert_int_equal(le32(local), 0x04034b50);
    assert_memory_equal(e + 8, local + 6, 20); // flags to sizes
    assert_memory_equal(e + 46, local + 30, name);
    fk_buf_clear(b);
    char *to = fk_buf_reserve(b, size + 1);
    if (method == 8) {
        z_stream z = {.next_in = (Bytef *)(uintptr_t)(local + 30 + name), .avail_in = packed};
        z.next_out = (Bytef *)to;
        z.avail_out = size;
        assert_int_equal(inflateInit2(&z, -15), Z_OK);
        assert_int_equal(inflate(&z, Z_FINISH), Z_STREAM_END);
        assert_int_equal(z.avail_out + z.avail_in, 0);
        inflateEnd(&z);
    } else {
        assert_int_equal(packed, size);
        memcpy(to, local + 30 + name, size);
    }
    b->n = size;
    assert_int_equal(crc32(0, (Bytef *)to, size), le32(e + 16));
    *at += 46 + name + le16(e + 30) + le16(e + 32);
    return fk_str_make(e + 46, name);
}

static void members_come_back(void **state)
{
    (void)state;
    struct fk_archive a;
    FK_AUTO_BUF zip, text, got;
    struct fk_err err = {0};
    uint64_t n, at;
    char noise[1000];
    fk_buf_init(&zip, 0);
    fk_buf_init(&text, 0);
    fk_buf_init(&got, 0);
    for (size_t i = 0; i < sizeof(noise); i++)
        noise[i] = (char)fk_hash_u64(i * 977 + 5);
    fk_buf_fill(&text, 'x', 100000);
    const struct fk_str name[] = {FK_S("a.txt"), FK_S("gr\xc3\xbc\xc3\x9f e.json"), FK_S("none"),
                                  FK_S("one")},
                        body[] = {fk_buf_view(&text), fk_str_make(noise, sizeof(noise)), FK_S(""),
                                  FK_S("1")};
    fk_archive_init(&a, fk_out_buf(&zip));
    for (size_t i = 0; i < FK_COUNTOF(name); i++)
        assert_int_equal(fk_archive_add(&a, name[i], body[i], 1700000000000000000, &err), 0);
    assert_int_equal(fk_archive_finish(&a, &err), 0);
    fk_archive_free(&a);
    assert_true(zip.n < 2000);
    at = directory(fk_buf_view(&zip), &n);
    assert_int_equal(n, 4);
    // 2023-11-14 22:13:20
    assert_int_equal(le32(zip.p + at + 12),
                     (43u << 9 | 11 << 5 | 14) << 16 | 22 << 11 | 13 << 5 | 10);
    for (size_t i = 0; i < n; i++) {
        struct fk_str found = member(fk_buf_view(&zip), &at, &got);
        assert_true(fk_str_eq(found, name[i]));
        assert_true(fk_str_eq(fk_buf_view(&got), body[i]));
    }
}

static void more_members_than_sixteen_bits_count(void **state)
{
    (void)state;
    struct fk_archive a;
    FK_AUTO_BUF zip, got;
    char name[16];
    uint64_t n, at;
    fk_buf_init(&zip, 0);
    fk_buf_init(&got, 0);
    fk_archive_init(&a, fk_out_buf(&zip));
    for (int i = 0; i < 66000; i++) {
        snprintf(name, sizeof(name), "%d", i);
        assert_int_equal(fk_archive_add(&a, fk_str_of(name), fk_str_of(name), 0, NULL), 0);
    }
    assert_int_equal(fk_archive_finish(&a, NULL), 0);
    fk_archive_free(&a);
    at = directory(fk_buf_view(&zip), &n);
    assert_int_equal(n, 66000);
    for (uint64_t i = 0; i < n; i++) {
        struct fk_str found = member(fk_buf_view(&zip), &at, &got);
        assert_true(fk_str_eq(found, fk_buf_view(&got)));
    }
}

// An out that only counts, as if much had gone by already.
static int swallow(void *arg, const void *p, size_t n, struct fk_err *err)
{
    struct fk_buf *tail = arg;
    (void)err;
    fk_buf_put(tail, p, n);
    return 0;
}

static void beyond_four_gigabytes(void **state)
{
    (void)state;
    struct fk_archive a;
    FK_AUTO_BUF tail;
    struct fk_err err = {0};
    uint64_t before = (uint64_t)5 << 30;
    fk_buf_init(&tail, 0);
    fk_archive_init(&a, (struct fk_out){swallow, &tail});
    a.at = before;
    assert_int_equal(fk_archive_add(&a, FK_S("far"), FK_S("away"), 0, &err), 0);
    size_t entry = tail.n;
    assert_int_equal(fk_archive_finish(&a, &err), 0);
    fk_archive_free(&a);
    const char *e = tail.p + entry;
    assert_int_equal(le32(e), 0x02014b50);
    assert_int_equal(le32(e + 42), UINT32_MAX);
    assert_int_equal(le64(e + 46 + 3 + 4), before);
    const char *end = tail.p + tail.n - 22;
    assert_int_equal(le32(end + 16), UINT32_MAX);
    assert_int_equal(le64(end - 20 - 56 + 48), before + entry);
    fk_archive_init(&a, (struct fk_out){swallow, &tail});
    assert_int_equal(fk_archive_add(&a, FK_S("x"), (struct fk_str){"", UINT32_MAX}, 0, &err),
                     -FK_E_LIMIT);
    fk_archive_free(&a);
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    for (uint64_t k = 1, done = 0; !done; k++) {
        struct fk_archive a;
        FK_AUTO_BUF zip;
        struct fk_err err = {0};
        fk_buf_init(&zip, 0);
        fk_archive_init(&a, fk_out_buf(&zip));
        fk_mem_fail_after(k, true);
        int rc = fk_archive_add(&a, FK_S("a"), FK_S("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"), 0, &err);
        if (!rc)
            rc = fk_archive_finish(&a, &err);
        done = fk_mem_failed() == 0;
        fk_mem_fail_after(0, false);
        assert_int_equal(rc, done ? 0 : -FK_E_NOMEM);
        fk_archive_free(&a);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(members_come_back),
        cmocka_unit_test(more_members_than_sixteen_bits_count),
        cmocka_unit_test(beyond_four_gigabytes),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
