// SPDX-License-Identifier: Apache-2.0
// Bounded readers of ELF files: function symbols by address, build id. Bytes may come from
// anywhere: every offset is checked. Source: System V ABI, gABI 4.1 and its AMD64 and AArch64
// supplements; little-endian 64-bit files.
#ifndef FK_ELF_ELF_H
#define FK_ELF_ELF_H

#include "base/base.h"

struct fk_elf_symbol {
    uint64_t address, size; // virtual address; size 0: unknown
    struct fk_str name;     // borrowed from the file's bytes
};

// Functions of .symtab and .dynsym, by address, one name an address.
struct fk_elf {
    struct fk_elf_symbol *symbol; // in the arena
    size_t n;
    struct fk_str build_id; // bytes of the note, borrowed; empty: none
    struct fk_elf_segment {
        uint64_t offset, address, size; // of the file
    } * segment;                        // PT_LOAD, in the arena
    size_t n_segments;
};

// FK_E_FORMAT says what is wrong; FK_E_UNSUPPORTED for 32-bit or big-endian files.
int fk_elf_read(struct fk_str file, struct fk_arena *a, struct fk_elf *ret, struct fk_err *err);
// Virtual address of an offset in the file; false when no segment holds it.
bool fk_elf_address(const struct fk_elf *e, uint64_t offset, uint64_t *ret);
// The function at a virtual address; NULL: unknown. One of unknown size ends with its segment.
const struct fk_elf_symbol *fk_elf_find(const struct fk_elf *e, uint64_t address);

#endif
