// SPDX-License-Identifier: Apache-2.0
// Reading symbols. Structures are read field by field at their offsets (gABI), so nothing depends
// on alignment or on host headers.
#include "elf/elf.h"

#include <stdlib.h>

enum {
    SHT_SYMTAB_ = 2,
    SHT_NOTE_ = 7,
    SHT_DYNSYM_ = 11,
    PT_LOAD_ = 1,
    STT_FUNC_ = 2,
    STT_GNU_IFUNC_ = 10,
    NT_GNU_BUILD_ID_ = 3
};

struct section {
    uint32_t type, link;
    uint64_t offset, size;
};

static int corrupt(struct fk_err *err, const char *what)
{
    return fk_fail(err, FK_E_FORMAT, "ELF file: bad %s", what);
}

static const char *at(struct fk_str f, uint64_t offset, uint64_t n)
{
    return fk_in_range(offset, n, f.n) ? f.p + offset : NULL;
}

static bool section_at(struct fk_str f, uint64_t table, uint32_t i, struct section *ret)
{
    const char *p = at(f, table + (uint64_t)i * 64, 64);
    if (!p)
        return false;
    *ret =
        (struct section){fk_load32(p + 4), fk_load32(p + 40), fk_load64(p + 24), fk_load64(p + 32)};
    return true;
}

// ---- segments and notes ----

static int read_segments(struct fk_str f, struct fk_arena *a, struct fk_elf *e, struct fk_err *err)
{
    uint64_t table = fk_load64(f.p + 32);
    uint32_t n = fk_load16(f.p + 56);
    if (n && fk_load16(f.p + 54) != 56)
        return corrupt(err, "program header size");
    if (!fk_in_range(table, (uint64_t)n * 56, f.n))
        return corrupt(err, "program header table");
    e->segment = fk_arena_array(a, FK_MAX(n, 1u), sizeof(*e->segment));
    if (!e->segment)
        return fk_fail_nomem(err);
    for (uint32_t i = 0; i < n; i++) {
        const char *p = f.p + table + (uint64_t)i * 56;
        if (fk_load32(p) == PT_LOAD_)
            e->segment[e->n_segments++] =
                (struct fk_elf_segment){fk_load64(p + 8), fk_load64(p + 16), fk_load64(p + 32)};
    }
    return 0;
}

static void read_note(struct fk_str f, const struct section *s, struct fk_elf *e)
{
    uint64_t pos = s->offset, end = s->offset + s->size;
    if (!fk_in_range(s->offset, s->size, f.n))
        return;
    while (end - pos >= 12) {
        uint64_t name = fk_load32(f.p + pos), desc = fk_load32(f.p + pos + 4),
                 type = fk_load32(f.p + pos + 8);
        uint64_t name_end = pos + 12 + ((name + 3) & ~(uint64_t)3),
                 desc_end = name_end + ((desc + 3) & ~(uint64_t)3);
        if (desc_end > end || name_end > end || name_end + desc > end)
            return;
        if (type == NT_GNU_BUILD_ID_ && name == 4 && memcmp(f.p + pos + 12, "GNU", 4) == 0)
            e->build_id = fk_str_make(f.p + name_end, (size_t)desc);
        pos = desc_end;
    }
}

// ---- symbols ----

static struct fk_str name_at(struct fk_str f, const struct section *strings, uint32_t offset)
{
    const char *p =
        offset < strings->size ? at(f, strings->offset + offset, strings->size - offset) : NULL;
    const char *end = p ? memchr(p, 0, (size_t)(strings->size - offset)) : NULL;
    return end ? fk_str_make(p, (size_t)(end - p)) : (struct fk_str){NULL, 0};
}

static int read_symbols(struct fk_str f, uint64_t table, uint32_t n_sections,
                        const struct section *s, struct fk_arena *a, struct fk_elf *e,
                        struct fk_err *err)
{
    struct section strings;
    uint64_t n = s->size / 24;
    if (!fk_in_range(s->offset, s->size, f.n) || s->link >= n_sections ||
        !section_at(f, table, s->link, &strings) || !fk_in_range(strings.offset, strings.size, f.n))
        return corrupt(err, "symbol table");
    struct fk_elf_symbol *v = fk_arena_array(a, e->n + (size_t)n + 1, sizeof(*v));
    if (!v)
        return fk_fail_nomem(err);
    if (e->n)
        memcpy(v, e->symbol, e->n * sizeof(*v));
    e->symbol = v;
    for (uint64_t i = 0; i < n; i++) {
        const char *p = f.p + s->offset + i * 24;
        unsigned type = (uint8_t)p[4] & 15;
        struct fk_elf_symbol x = {fk_load64(p + 8), fk_load64(p + 16),
                                  name_at(f, &strings, fk_load32(p))};
        if ((type == STT_FUNC_ || type == STT_GNU_IFUNC_) && fk_load16(p + 6) && x.name.n)
            e->symbol[e->n++] = x;
    }
    return 0;
}

// Larger first among equal addresses, then by name, so that the choice does not depend on the
// table's order.
static int by_address(const void *pa, const void *pb)
{
    const struct fk_elf_symbol *a = pa, *b = pb;
    if (a->address != b->address)
        return a->address < b->address ? -1 : 1;
    if (a->size != b->size)
        return a->size > b->size ? -1 : 1;
    return fk_str_cmp(a->name, b->name);
}

static void sort_symbols(struct fk_elf *e)
{
    size_t kept = 0;
    if (e->n)
        qsort(e->symbol, e->n, sizeof(*e->symbol), by_address);
    for (size_t i = 0; i < e->n; i++)
        if (kept == 0 || e->symbol[kept - 1].address != e->symbol[i].address)
            e->symbol[kept++] = e->symbol[i];
    e->n = kept;
}

int fk_elf_read(struct fk_str f, struct fk_arena *a, struct fk_elf *ret, struct fk_err *err)
{
    struct fk_elf e = {0};
    if (f.n < 64 || memcmp(f.p, "\177ELF", 4))
        return fk_fail(err, FK_E_FORMAT, "not an ELF file");
    if (f.p[4] != 2 || f.p[5] != 1)
        return fk_fail(err, FK_E_UNSUPPORTED, "only little-endian 64-bit ELF files are read");
    uint64_t table = fk_load64(f.p + 40);
    uint32_t n = fk_load16(f.p + 60);
    int r = read_segments(f, a, &e, err);
    if (r)
        return r;
    if (n && (fk_load16(f.p + 58) != 64 || !fk_in_range(table, (uint64_t)n * 64, f.n)))
        return corrupt(err, "section header table");
    bool seen[SHT_DYNSYM_ + 1] = {false}; // gABI: at most one table of each of the two types
    for (uint32_t i = 0; i < n; i++) {
        struct section s;
        if (!section_at(f, table, i, &s))
            return corrupt(err, "section header");
        if (s.type == SHT_NOTE_)
            read_note(f, &s, &e);
        if ((s.type != SHT_SYMTAB_ && s.type != SHT_DYNSYM_) || seen[s.type])
            continue;
        seen[s.type] = true;
        if ((r = read_symbols(f, table, n, &s, a, &e, err)))
            return r;
    }
    sort_symbols(&e);
    *ret = e;
    return 0;
}

bool fk_elf_address(const struct fk_elf *e, uint64_t offset, uint64_t *ret)
{
    for (size_t i = 0; i < e->n_segments; i++)
        if (offset >= e->segment[i].offset && offset - e->segment[i].offset < e->segment[i].size) {
            *ret = e->segment[i].address + (offset - e->segment[i].offset);
            return true;
        }
    return false;
}

// A function of unknown size goes on to the next one, but not beyond the segment it lies in: else
// the last one would hold every address behind the file.
static bool may_reach(const struct fk_elf *e, const struct fk_elf_symbol *s, uint64_t address)
{
    for (size_t i = 0; i < e->n_segments; i++) {
        const struct fk_elf_segment *g = &e->segment[i];
        if (s->address >= g->address && s->address - g->address < g->size)
            return address - g->address < g->size;
    }
    return e->n_segments == 0 || address == s->address;
}

const struct fk_elf_symbol *fk_elf_find(const struct fk_elf *e, uint64_t address)
{
    size_t low = 0, high = e->n;
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        if (e->symbol[mid].address <= address)
            low = mid + 1;
        else
            high = mid;
    }
    if (low == 0)
        return NULL;
    const struct fk_elf_symbol *s = &e->symbol[low - 1];
    bool holds = s->size ? address - s->address < s->size : may_reach(e, s, address);
    return holds ? s : NULL;
}
