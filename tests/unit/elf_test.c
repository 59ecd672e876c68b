// SPDX-License-Identifier: Apache-2.0
// Symbols of a real file, this program's own; and files that are cut off, changed or made by hand.
#include "elf/elf.h"
#include "os/os.h"

#include "support/profiles.h"
#include "support/support.h"
#include "support/test.h"

#include <link.h>

// Functions to be found by their addresses; volatile keeps their bodies apart.
__attribute__((noinline)) int fk_elf_test_first(int x);
__attribute__((noinline)) int fk_elf_test_second(int x);

int fk_elf_test_first(int x)
{
    volatile int y = x + 1;
    return y;
}

int fk_elf_test_second(int x)
{
    volatile int y = x * 3;
    return y + fk_elf_test_first(x);
}

static void read_self(struct fk_buf *b)
{
    struct fk_err err = {0};
    fk_buf_init(b, 0);
    fk_test_ok(fk_fs_read_file(fk_fs_real(), "/proc/self/exe", (size_t)256 << 20, b, &err), &err);
}

static int take_base(struct dl_phdr_info *info, size_t size, void *arg)
{
    (void)size;
    *(uint64_t *)arg = info->dlpi_addr; // the program itself comes first (dl_iterate_phdr(3))
    return 1;
}

static uint64_t in_file(int (*f)(int))
{
    uint64_t base = 0;
    dl_iterate_phdr(take_base, &base);
    return (uint64_t)(uintptr_t)f - base;
}

static void own_functions_are_found(void **state)
{
    (void)state;
    FK_AUTO_ARENA a;
    FK_AUTO_BUF b;
    struct fk_elf e;
    struct fk_err err = {0};
    uint64_t address = 0;
    read_self(&b);
    fk_arena_init(&a, 0);
    fk_test_ok(fk_elf_read(fk_buf_view(&b), &a, &e, &err), &err);
    assert_int_equal(fk_elf_test_second(1), 5);
    uint64_t first = in_file(fk_elf_test_first), second = in_file(fk_elf_test_second);
    const struct fk_elf_symbol *s = fk_elf_find(&e, first), *t = fk_elf_find(&e, second + 1);
    assert_non_null(s);
    assert_non_null(t);
    assert_true(fk_str_eq(s->name, FK_S("fk_elf_test_first")));
    assert_true(fk_str_eq(t->name, FK_S("fk_elf_test_second")));
    assert_true(s->address == first && s->size > 0 && t->size > 0);
    assert_ptr_equal(fk_elf_find(&e, s->address + s->size - 1), s);
    assert_ptr_not_equal(fk_elf_find(&e, s->address + s->size), s);
    assert_null(fk_elf_find(&e, 0));
    assert_null(fk_elf_find(&e, (uint64_t)1 << 62));
    assert_true(e.n_segments > 0);
    uint64_t offset = e.segment[0].offset + e.segment[0].size - 1;
    assert_true(fk_elf_address(&e, offset, &address));
    assert_int_equal(address, e.segment[0].address + e.segment[0].size - 1);
    assert_false(fk_elf_address(&e, b.n + ((uint64_t)1 << 40), &address));
}

static void a_cut_file_is_refused_or_read(void **state)
{
    (void)state;
    FK_AUTO_BUF b;
    struct fk_elf e;
    size_t refused = 0;
    read_self(&b);
    for (size_t n = 0; n < b.n; n += n < 300 ? 1 : 1 + b.n / 300) {
        FK_AUTO_ARENA a;
        struct fk_err err = {0};
        uint8_t *copy = malloc(n ? n : 1); // exact, so that a sanitizer sees the end
        assert_non_null(copy);
        memcpy(copy, b.p, n);
        fk_arena_init(&a, 0);
        int r = fk_elf_read(fk_str_make(copy, n), &a, &e, &err);
        assert_int_equal(r, -err.code);
        refused += r == -FK_E_FORMAT;
        free(copy);
    }
    assert_true(refused > 300); // the section headers stand at the end
}

// A file by hand: head, symbols, names; section headers behind.
struct small {
    char bytes[1024];
    size_t n, table;
    uint16_t sections;
};

static void put(struct small *f, size_t at, uint64_t v, size_t bytes)
{
    memcpy(f->bytes + at, &v, bytes);
}

static void put_section(struct small *f, uint32_t type, uint32_t link, uint64_t offset, uint64_t n)
{
    size_t at = f->table + 64u * f->sections++;
    put(f, at + 4, type, 4);
    put(f, at + 24, offset, 8);
    put(f, at + 32, n, 8);
    put(f, at + 40, link, 4);
    put(f, 60, f->sections, 2);
    f->n = at + 64;
}

static void put_symbol(struct small *f, size_t i, uint64_t name, uint64_t address, uint64_t size)
{
    size_t at = 64 + 24 * i;
    put(f, at, name, 4);
    put(f, at + 4, 0x12, 1); // a global function
    put(f, at + 6, 1, 2);
    put(f, at + 8, address, 8);
    put(f, at + 16, size, 8);
}

static void make_small(struct small *f)
{
    memset(f, 0, sizeof(*f));
    memcpy(f->bytes, "\177ELF\2\1\1", 7);
    f->table = 400;
    put(f, 40, f->table, 8);
    put(f, 58, 64, 2);
    put_symbol(f, 1, 1, 0x1000, 0x10);
    put_symbol(f, 2, 5, 0x2000, 0);    // size unknown
    put_symbol(f, 3, 1, 0x2000, 0x20); // the same address: the larger one stays
    put_symbol(f, 4, 900, 0x3000, 8);  // its name lies outside
    memcpy(f->bytes + 300, "\0aaa\0bbb\0", 9);
    memcpy(f->bytes + 320, "\4\0\0\0\3\0\0\0\3\0\0\0GNU\0\xab\xcd\xef\0", 20);
    put_section(f, 0, 0, 0, 0);
    put_section(f, 2, 2, 64, 120);
    put_section(f, 3, 0, 300, 9);
    put_section(f, 7, 0, 320, 20);
}

static int read_small(const struct small *f, struct fk_arena *a, struct fk_elf *e,
                      struct fk_err *err)
{
    fk_arena_init(a, 1 << 20);
    return fk_elf_read(fk_str_make(f->bytes, f->n), a, e, err);
}

static void handmade_file_is_read(void **state)
{
    (void)state;
    FK_AUTO_ARENA a;
    struct small f;
    struct fk_elf e;
    struct fk_err err = {0};
    make_small(&f);
    fk_test_ok(read_small(&f, &a, &e, &err), &err);
    assert_int_equal(e.n, 2);
    assert_int_equal(e.symbol[1].size, 0x20);
    assert_true(fk_str_eq(e.build_id, fk_str_make("\xab\xcd\xef", 3)));
    assert_null(fk_elf_find(&e, 0xfff));
    assert_true(fk_str_eq(fk_elf_find(&e, 0x100f)->name, FK_S("aaa")));
    assert_null(fk_elf_find(&e, 0x1010));
    assert_null(fk_elf_find(&e, 0x3000));
}

static void what_is_wrong_is_said(void **state)
{
    (void)state;
    static const struct {
        size_t at, bytes;
        uint64_t value;
        int code;
        const char *says;
    } cases[] = {{0, 1, 'X', FK_E_FORMAT, "not an ELF file"},
                 {4, 1, 1, FK_E_UNSUPPORTED, "64-bit"},
                 {5, 1, 2, FK_E_UNSUPPORTED, "little-endian"},
                 {40, 8, UINT64_MAX - 63, FK_E_FORMAT, "section header table"},
                 {58, 2, 63, FK_E_FORMAT, "section header table"},
                 {56, 2, 1, FK_E_FORMAT, "program header size"},
                 {464 + 24, 8, UINT64_MAX - 8, FK_E_FORMAT, "symbol table"},
                 {464 + 32, 8, UINT64_MAX, FK_E_FORMAT, "symbol table"},
                 {464 + 40, 4, 4, FK_E_FORMAT, "symbol table"},
                 {528 + 24, 8, 5000, FK_E_FORMAT, "symbol table"}};
    for (size_t i = 0; i < FK_COUNTOF(cases); i++) {
        FK_AUTO_ARENA a;
        struct small f;
        struct fk_elf e = {.n = 77};
        struct fk_err err = {0};
        make_small(&f);
        put(&f, cases[i].at, cases[i].value, cases[i].bytes);
        fk_test_fails(read_small(&f, &a, &e, &err), cases[i].code);
        if (!strstr(err.msg, cases[i].says))
            fail_msg("case %zu: '%s' does not say '%s'", i, err.msg, cases[i].says);
        assert_int_equal(e.n, 77); // untouched
    }
}

// Many tables over the same bytes would multiply what a small file costs.
static void one_table_of_a_type_counts(void **state)
{
    (void)state;
    FK_AUTO_ARENA a;
    struct small f;
    struct fk_elf e;
    struct fk_err err = {0};
    make_small(&f);
    for (int i = 0; i < 5; i++)
        put_section(&f, 2, 2, 64, 120);
    fk_test_ok(read_small(&f, &a, &e, &err), &err);
    assert_int_equal(e.n, 2);
    // A bad second table is not even looked at.
    put_section(&f, 2, 99, UINT64_MAX, 120);
    fk_arena_free(&a);
    fk_test_ok(read_small(&f, &a, &e, &err), &err);
}

static void changed_bytes_never_crash(void **state)
{
    (void)state;
    struct fk_rng rng = {31};
    for (int i = 0; i < 20000; i++) {
        FK_AUTO_ARENA a;
        struct small f;
        struct fk_elf e;
        struct fk_err err = {0};
        make_small(&f);
        for (uint32_t k = 0; k < 1 + fk_rng_below(&rng, 4); k++)
            f.bytes[fk_rng_below(&rng, (uint32_t)f.n)] = (char)fk_rng_next(&rng);
        if (read_small(&f, &a, &e, &err) == 0)
            for (size_t k = 0; k < e.n; k++)
                assert_ptr_equal(fk_elf_find(&e, e.symbol[k].address), &e.symbol[k]);
    }
}

static void allocation_failures_are_errors(void **state)
{
    (void)state;
    bool done = false;
    for (uint64_t k = 1; !done && k < 50; k++) {
        FK_AUTO_ARENA a;
        struct small f;
        struct fk_elf e;
        struct fk_err err = {0};
        make_small(&f);
        fk_mem_fail_after(k, true);
        int r = read_small(&f, &a, &e, &err);
        done = fk_mem_failed() == 0;
        fk_mem_fail_after(0, false);
        assert_int_equal(r, done ? 0 : -FK_E_NOMEM);
    }
    assert_true(done);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(own_functions_are_found),
        cmocka_unit_test(a_cut_file_is_refused_or_read),
        cmocka_unit_test(handmade_file_is_read),
        cmocka_unit_test(what_is_wrong_is_said),
        cmocka_unit_test(one_table_of_a_type_counts),
        cmocka_unit_test(changed_bytes_never_crash),
        cmocka_unit_test(allocation_failures_are_errors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
