// SPDX-License-Identifier: Apache-2.0
// ELF files: symbols come sorted, names lie in the file, and what is found holds the address.
#include "elf/elf.h"
#include "fuzz.h"

static bool inside(struct fk_str part, const uint8_t *data, size_t size)
{
    return part.n == 0 || ((const uint8_t *)part.p >= data && part.n <= size &&
                           (size_t)((const uint8_t *)part.p - data) <= size - part.n);
}

static void look_up(const struct fk_elf *e, uint64_t address)
{
    const struct fk_elf_symbol *s = fk_elf_find(e, address);
    if (!s)
        return;
    FK_FUZZ_CHECK(s >= e->symbol && s < e->symbol + e->n && s->address <= address);
    FK_FUZZ_CHECK(s->size == 0 || address - s->address < s->size);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    FK_AUTO_ARENA a;
    struct fk_elf e = {0};
    struct fk_err err = {0};
    uint64_t address;
    fk_arena_init(&a, (size_t)64 << 20);
    int r = fk_elf_read(fk_str_make(data, size), &a, &e, &err);
    FK_FUZZ_CHECK(r == -err.code);
    if (r) {
        FK_FUZZ_CHECK(e.n == 0 && e.symbol == NULL);
        return 0;
    }
    FK_FUZZ_CHECK(inside(e.build_id, data, size));
    for (size_t i = 0; i < e.n; i++) {
        const struct fk_elf_symbol *s = &e.symbol[i];
        FK_FUZZ_CHECK(s->name.n > 0 && inside(s->name, data, size));
        FK_FUZZ_CHECK(i == 0 || e.symbol[i - 1].address < s->address);
        FK_FUZZ_CHECK(fk_elf_find(&e, s->address) == s);
        look_up(&e, s->address + s->size);
        look_up(&e, s->address - 1);
    }
    look_up(&e, 0);
    look_up(&e, UINT64_MAX);
    for (uint64_t offset = 0; offset <= size; offset += 1 + size / 64)
        if (fk_elf_address(&e, offset, &address))
            look_up(&e, address);
    return 0;
}
