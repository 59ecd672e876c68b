// SPDX-License-Identifier: Apache-2.0
// Varints, the protobuf reader and writer.
#include "codec/codec.h"

#include "support/test.h"

static const uint64_t samples[] = {0,
                                   1,
                                   127,
                                   128,
                                   300,
                                   16383,
                                   16384,
                                   (1ull << 21) - 1,
                                   1ull << 28,
                                   1ull << 35,
                                   (1ull << 63) - 1,
                                   1ull << 63,
                                   UINT64_MAX};

static void varints_round_trip(void **state)
{
    (void)state;
    FK_AUTO_BUF b;
    fk_buf_init(&b, 0);
    size_t bytes = 0;
    for (size_t i = 0; i < FK_COUNTOF(samples); i++) {
        fk_buf_varint(&b, samples[i]);
        bytes += fk_varint_size(samples[i]);
        assert_int_equal(b.n, bytes);
    }
    assert_int_equal(fk_varint_count((const uint8_t *)b.p, b.n), FK_COUNTOF(samples));
    struct fk_cur c = fk_cur_of(fk_buf_view(&b));
    for (size_t i = 0; i < FK_COUNTOF(samples); i++) {
        uint64_t v = 0;
        assert_int_equal(fk_cur_varint(&c, &v), 0);
        assert_true(v == samples[i]);
    }
    uint64_t v = 7;
    assert_int_equal(fk_cur_varint(&c, &v), -FK_E_FORMAT);
    assert_true(v == 7);
}

static void varints_are_bounded(void **state)
{
    (void)state;
    uint8_t endless[16];
    memset(endless, 0x80, sizeof(endless));
    uint64_t v = 7;
    for (size_t n = 0; n <= sizeof(endless); n++) {
        struct fk_cur c = {endless, endless + n};
        assert_int_equal(fk_cur_varint(&c, &v), -FK_E_FORMAT);
        assert_ptr_equal(c.p, endless);
    }
    endless[9] = 0x7f; // a tenth byte: bits beyond the 64th are dropped
    struct fk_cur c = {endless, endless + sizeof(endless)};
    assert_int_equal(fk_cur_varint(&c, &v), 0);
    assert_true(v == 1ull << 63);
    assert_ptr_equal(c.p, endless + 10);
    assert_int_equal(fk_cur_varint_max(&c, 5, &v), -FK_E_FORMAT);
}

static void zigzag(void **state)
{
    (void)state;
    static const int64_t v[] = {0, -1, 1, 63, -64, INT64_MAX, INT64_MIN};
    for (size_t i = 0; i < FK_COUNTOF(v); i++)
        assert_true(fk_unzigzag(fk_zigzag(v[i])) == v[i]);
    assert_int_equal(fk_zigzag(-1), 1);
    assert_int_equal(fk_zigzag(1), 2);
}

static void sized_bytes_are_bounded(void **state)
{
    (void)state;
    FK_AUTO_BUF b;
    fk_buf_init(&b, 0);
    fk_buf_sized(&b, FK_S("hello"));
    for (size_t n = 0; n < b.n; n++) {
        struct fk_cur c = fk_cur_of(fk_str_make(b.p, n));
        struct fk_str s = FK_S("untouched");
        assert_int_equal(fk_cur_sized(&c, &s), -FK_E_FORMAT);
        assert_true(fk_cur_left(&c) == n);
    }
    struct fk_cur c = fk_cur_of(fk_buf_view(&b));
    struct fk_str s = {0};
    assert_int_equal(fk_cur_sized(&c, &s), 0);
    assert_true(fk_str_eq(s, FK_S("hello")));
}

static void put_message(struct fk_buf *b, size_t inner)
{
    static const uint64_t packed[] = {1, 128, UINT64_MAX};
    fk_pb_u64(b, 1, 150);
    fk_pb_u64_nz(b, 2, 0);
    size_t mark = fk_pb_begin(b, 3);
    fk_buf_fill(b, 'x', inner);
    fk_pb_end(b, mark);
    fk_pb_packed(b, 4, packed, 3);
    fk_pb_packed(b, 4, packed, 0);
    fk_pb_fixed64(b, 5, 0x1122334455667788);
    fk_pb_fixed32(b, 6, 0xaabbccdd);
    fk_pb_bytes(b, 536870911, FK_S("end"));
    fk_pb_bytes_nz(b, 8, FK_S(""));
}

static void fields_round_trip(void **state)
{
    (void)state;
    static const size_t inner[] = {0, 1, 127, 128, 16383, 16384, 70000};
    for (size_t i = 0; i < FK_COUNTOF(inner); i++) {
        FK_AUTO_BUF b;
        fk_buf_init(&b, 0);
        put_message(&b, inner[i]);
        struct fk_cur c = fk_cur_of(fk_buf_view(&b));
        struct fk_pb_field f;
        static const uint32_t numbers[] = {1, 3, 4, 5, 6, 536870911};
        for (size_t k = 0; k < FK_COUNTOF(numbers); k++) {
            assert_int_equal(fk_pb_next(&c, &f), 1);
            assert_int_equal(f.number, numbers[k]);
            if (f.number == 1)
                assert_true(f.v == 150);
            if (f.number == 3)
                assert_int_equal(fk_pb_str(&f).n, inner[i]);
            if (f.number == 4)
                assert_int_equal(fk_varint_count(f.b.p, fk_pb_str(&f).n), 3);
            if (f.number == 5)
                assert_true(f.v == 0x1122334455667788);
            if (f.number == 6)
                assert_true(f.v == 0xaabbccdd);
        }
        assert_true(fk_str_eq(fk_pb_str(&f), FK_S("end")));
        assert_int_equal(fk_pb_next(&c, &f), 0);
    }
}

static int walk(const uint8_t *p, size_t n)
{
    struct fk_cur c = {p, p + n};
    struct fk_pb_field f;
    int rc;
    while ((rc = fk_pb_next(&c, &f)) == 1)
        ;
    return rc;
}

static void broken_messages_are_refused(void **state)
{
    (void)state;
    static const uint8_t zero_number[] = {0x02, 0x00}, group[] = {0x0b, 0x0c}, wire7[] = {0x0f, 1},
                         beyond[] = {0x0a, 5, 1, 2}, huge[] = {0x0a, 0xff, 0xff, 0xff, 0xff, 0xff,
                                                               0xff, 0xff, 0xff, 0xff, 0x01},
                         short64[] = {0x09, 1, 2, 3}, short32[] = {0x0d, 1},
                         number[] = {0x80, 0x80, 0x80, 0x80, 0x80, 0x01, 0x00};
    assert_int_equal(walk(zero_number, sizeof(zero_number)), -FK_E_FORMAT);
    assert_int_equal(walk(group, sizeof(group)), -FK_E_FORMAT);
    assert_int_equal(walk(wire7, sizeof(wire7)), -FK_E_FORMAT);
    assert_int_equal(walk(beyond, sizeof(beyond)), -FK_E_FORMAT);
    assert_int_equal(walk(huge, sizeof(huge)), -FK_E_FORMAT);
    assert_int_equal(walk(short64, sizeof(short64)), -FK_E_FORMAT);
    assert_int_equal(walk(short32, sizeof(short32)), -FK_E_FORMAT);
    assert_int_equal(walk(number, sizeof(number)), -FK_E_FORMAT);
    struct fk_err err;
    struct fk_cur at = {beyond + 1, beyond + 4};
    assert_int_equal(fk_pb_fail(&at, beyond, "profile", &err), -FK_E_FORMAT);
    assert_non_null(strstr(err.msg, "byte 1"));
}

static void writer_survives_lack_of_memory(void **state)
{
    (void)state;
    for (uint64_t k = 1;; k++) {
        FK_AUTO_BUF b;
        fk_buf_init(&b, 0);
        fk_mem_fail_after(k, true);
        put_message(&b, 20000);
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
        cmocka_unit_test(varints_round_trip),
        cmocka_unit_test(varints_are_bounded),
        cmocka_unit_test(zigzag),
        cmocka_unit_test(sized_bytes_are_bounded),
        cmocka_unit_test(fields_round_trip),
        cmocka_unit_test(broken_messages_are_refused),
        cmocka_unit_test(writer_survives_lack_of_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
