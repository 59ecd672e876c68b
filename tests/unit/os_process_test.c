// SPDX-License-Identifier: Apache-2.0
// Facts of the process, and memory that is kept or given back.
#include "os/os.h"

#include "support/test.h"

#define PIECES 4000
#define PIECE  ((size_t)64 << 10)

static uint64_t resident(void)
{
    struct fk_process_facts f;
    assert_int_equal(fk_process_facts(&f, NULL), 0);
    return f.resident_anon_bytes;
}

// Memory that is free but lies below some that is not.
static void *take_and_free(size_t pieces)
{
    static void *piece[PIECES];
    for (size_t i = 0; i < pieces; i++) {
        piece[i] = fk_malloc(PIECE);
        assert_non_null(piece[i]);
        memset(piece[i], 1, PIECE);
    }
    void *last = fk_malloc(PIECE);
    assert_non_null(last);
    for (size_t i = 0; i < pieces; i++)
        fk_free(piece[i]);
    return last;
}

static void much_is_given_back(void **state)
{
    (void)state;
    fk_process_keep_memory();
    uint64_t before = resident();
    void *last = take_and_free(PIECES);
    uint64_t grown = resident();
#ifdef FK_DEBUG
    (void)before;
    print_message("the allocator of a debug build keeps what was freed: only called\n");
    fk_process_give_memory_back();
#else
    assert_true(grown > before + PIECES * PIECE / 2);
    fk_process_give_memory_back();
    assert_true(resident() < before + PIECES * PIECE / 8);
#endif
    (void)grown;
    fk_free(last);
}

static void little_is_kept(void **state)
{
    (void)state;
#ifdef FK_DEBUG
    print_message("SKIP the allocator of a debug build keeps what was freed\n");
    skip();
#else
    fk_process_give_memory_back();
    uint64_t before = resident();
    void *last = take_and_free(FK_PROCESS_MAY_KEEP / PIECE / 2);
    fk_process_give_memory_back();
    assert_true(resident() > before + FK_PROCESS_MAY_KEEP / 4);
    fk_free(last);
#endif
}

static void facts(void **state)
{
    (void)state;
    struct fk_process_facts f;
    uint64_t memory;
    assert_int_equal(fk_process_facts(&f, NULL), 0);
    assert_true(f.resident_anon_bytes > 0 && f.resident_anon_bytes <= f.resident_bytes);
    assert_int_equal(fk_process_memory(&memory, NULL), 0);
    assert_true(memory > f.resident_bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(facts),
        cmocka_unit_test(little_is_kept),
        cmocka_unit_test(much_is_given_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
