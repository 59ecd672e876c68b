// SPDX-License-Identifier: Apache-2.0
// Buffers, arenas, maps, vectors: growth, limits, and every allocation failing in turn.
#include "base/base.h"

#include "support/test.h"

// ---- buffers ----

static void buffers_are_poisoned_once(void **state)
{
    (void)state;
    struct fk_buf b;
    struct fk_err err;
    fk_buf_init(&b, 8);
    fk_buf_cstr(&b, "12345678");
    assert_int_equal(fk_buf_check(&b, "text", &err), 0);
    fk_buf_byte(&b, '9');
    fk_buf_clear(&b); // clears the poison too
    fk_buf_cstr(&b, "123456789");
    fk_buf_cstr(&b, "a"); // would fit, and must not follow a hole
    assert_int_equal(b.n, 0);
    assert_int_equal(fk_buf_check(&b, "text", &err), -FK_E_LIMIT);
    assert_string_equal(err.param, "text");
    assert_int_equal(err.limit, 8);
    fk_buf_free(&b);
}

static void buffers_take_everything(void **state)
{
    (void)state;
    FK_AUTO_BUF b;
    static const uint8_t words[] = {0x02, 0x01, 0x04, 0x03, 0x02, 0x01, 8, 7, 6, 5, 4, 3, 2, 1};
    fk_buf_init(&b, 0);
    fk_buf_u64(&b, UINT64_MAX);
    fk_buf_byte(&b, ' ');
    fk_buf_i64(&b, INT64_MIN);
    fk_buf_printf(&b, " %s", "x");
    fk_buf_fill(&b, '.', 3);
    assert_true(fk_str_eq(fk_buf_view(&b), FK_S("18446744073709551615 -9223372036854775808 x...")));
    fk_buf_clear(&b);
    fk_buf_le16(&b, 0x0102);
    fk_buf_le32(&b, 0x01020304);
    fk_buf_le64(&b, 0x0102030405060708);
    assert_int_equal(b.n, sizeof(words));
    assert_memory_equal(b.p, words, sizeof(words));
    assert_int_equal(fk_load16(b.p), 0x0102);
    assert_int_equal(fk_load32(b.p + 2), 0x01020304);
    assert_true(fk_load64(b.p + 6) == 0x0102030405060708);
}

// ---- arenas ----

static void arenas_align_and_keep(void **state)
{
    (void)state;
    struct fk_arena a;
    unsigned char *p[400];
    fk_arena_init(&a, 0);
    for (size_t i = 0; i < FK_COUNTOF(p); i++) {
        size_t n = i % 7 == 0 ? i * 1000 : i;
        p[i] = fk_arena_alloc(&a, n);
        assert_non_null(p[i]);
        assert_int_equal((uintptr_t)p[i] % 16, 0);
        memset(p[i], (int)(i & 255), n);
    }
    for (size_t i = 0; i < FK_COUNTOF(p); i++)
        for (size_t k = 0, n = i % 7 == 0 ? i * 1000 : i; k < n; k++)
            assert_int_equal(p[i][k], i & 255);
    assert_ptr_not_equal(fk_arena_alloc(&a, 0), fk_arena_alloc(&a, 0));
    uint64_t *zero = fk_arena_zalloc(&a, 4096);
    for (size_t i = 0; i < 512; i++)
        assert_true(zero[i] == 0);
    assert_null(fk_arena_array(&a, SIZE_MAX / 2, 3));
    assert_null(fk_arena_alloc(&a, SIZE_MAX));
    fk_arena_free(&a);
    assert_int_equal(a.used, 0);
}

static void arenas_have_limits(void **state)
{
    (void)state;
    struct fk_arena a;
    size_t taken = 0;
    fk_arena_init(&a, 100000);
    while (fk_arena_alloc(&a, 1000))
        taken += 1000;
    assert_in_range(taken, 60000, 100000); // what a chunk leaves over is not used up
    assert_true(a.used <= 100000);
    fk_arena_free(&a);
    assert_non_null(fk_arena_alloc(&a, 50000)); // usable again, with its limit
    assert_null(fk_arena_alloc(&a, 60000));
    fk_arena_free(&a);
}

static void texts_in_arenas(void **state)
{
    (void)state;
    FK_AUTO_ARENA a;
    fk_arena_init(&a, 0);
    struct fk_str s = fk_arena_str(&a, FK_S("a\0b"));
    assert_true(fk_str_eq(s, FK_S("a\0b")) && s.p[3] == 0);
    assert_non_null(fk_arena_str(&a, (struct fk_str){NULL, 0}).p);
    s = fk_arena_printf(&a, "%0500d", 7);
    assert_int_equal(s.n, 500);
    assert_int_equal(s.p[499], '7');
}

// ---- maps ----

static uint32_t look_up(const struct fk_map *m, const uint64_t *key, uint64_t hash, uint64_t wanted)
{
    for (uint32_t at = fk_map_first(m, hash); at != FK_NONE; at = fk_map_next(m, hash, at))
        if (key[fk_map_id(m, at)] == wanted)
            return fk_map_id(m, at);
    return FK_NONE;
}

// By good hashes, and by one hash for all: slower, as right.
static void maps_find(void **state)
{
    (void)state;
    static uint64_t key[3000];
    for (int same = 0; same < 2; same++) {
        struct fk_map m = {0};
        uint32_t n = same ? 300 : FK_COUNTOF(key);
        assert_int_equal(fk_map_first(&m, 5), FK_NONE);
        for (uint32_t i = 0; i < n; i++) {
            key[i] = (uint64_t)i * 7919;
            assert_int_equal(fk_map_add(&m, same ? 99 : fk_hash_u64(key[i]), i), 0);
        }
        for (uint32_t i = 0; i < n; i++) {
            uint64_t none = key[i] + 1;
            assert_int_equal(look_up(&m, key, same ? 99 : fk_hash_u64(key[i]), key[i]), i);
            assert_int_equal(look_up(&m, key, same ? 99 : fk_hash_u64(none), none), FK_NONE);
        }
        assert_int_equal(m.n, n);
        fk_map_free(&m);
    }
}

// ---- without memory ----

static int build(struct fk_arena *a, struct fk_buf *b, struct fk_map *m)
{
    FK_VEC(int) v = {0};
    int r = 0;
    for (int i = 0; r == 0 && i < 600; i++) {
        fk_buf_i64(b, i);
        r = fk_vec_push(&v, i) || fk_map_add(m, fk_hash_u64((uint64_t)i), (uint32_t)i) ||
            !fk_arena_alloc(a, 100);
    }
    for (size_t i = 0; i < v.n; i++)
        assert_int_equal(v.v[i], i);
    fk_vec_free(&v);
    return r || b->failed ? -FK_E_NOMEM : 0;
}

// The k-th allocation fails, alone or with all that follow: an answer, and what was there stays.
static void every_allocation_fails(void **state)
{
    (void)state;
    for (int sticky = 0; sticky < 2; sticky++)
        for (uint64_t k = 1, done = 0; !done; k++) {
            struct fk_arena a;
            struct fk_buf b;
            struct fk_map m = {0};
            fk_arena_init(&a, 0);
            fk_buf_init(&b, 0);
            fk_mem_fail_after(k, sticky);
            int r = build(&a, &b, &m);
            done = fk_mem_failed() == 0;
            fk_mem_fail_after(0, false);
            // An arena may do with a smaller chunk than it wanted.
            assert_true(done ? r == 0 : r == -FK_E_NOMEM || !sticky);
            for (uint32_t i = 0; i < m.n; i++) {
                uint64_t h = fk_hash_u64(i);
                uint32_t at = fk_map_first(&m, h);
                while (at != FK_NONE && fk_map_id(&m, at) != i)
                    at = fk_map_next(&m, h, at);
                assert_int_not_equal(at, FK_NONE);
            }
            assert_true(b.n == 0 || b.p[0] == '0');
            fk_arena_free(&a);
            fk_buf_free(&b);
            fk_map_free(&m);
        }
}

static void sizes_are_checked(void **state)
{
    (void)state;
    size_t n;
    assert_null(fk_reallocarray(NULL, SIZE_MAX / 2, 3));
    assert_true(fk_add_size(SIZE_MAX, 1, &n) && fk_mul_size(SIZE_MAX, 2, &n));
    assert_true(fk_in_range(3, 4, 7) && fk_in_range(7, 0, 7));
    assert_false(fk_in_range(8, 0, 7) || fk_in_range(3, 5, 7) || fk_in_range(3, UINT64_MAX, 7));
    assert_true(fk_wrap_add(INT64_MAX, 1) == INT64_MIN && fk_wrap_sub(INT64_MIN, 1) == INT64_MAX);
    assert_int_equal(fk_bit_width(0), 0);
    assert_int_equal(fk_bit_width(1), 1);
    assert_int_equal(fk_bit_width(UINT64_MAX), 64);
    FK_AUTO_FREE char *copy = fk_strndup("abc", 2);
    assert_string_equal(copy, "ab");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(buffers_are_poisoned_once), cmocka_unit_test(buffers_take_everything),
        cmocka_unit_test(arenas_align_and_keep),     cmocka_unit_test(arenas_have_limits),
        cmocka_unit_test(texts_in_arenas),           cmocka_unit_test(maps_find),
        cmocka_unit_test(every_allocation_fails),    cmocka_unit_test(sizes_are_checked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
