// SPDX-License-Identifier: Apache-2.0
// Our own mappings and their symbols, loaded when an address first falls into one; kernel names by
// reading /proc/kallsyms for the addresses that are new (the table has a quarter of a million
// lines: it is not kept).
#include "agent/self_int.h"

#include <stdio.h>
#include <stdlib.h>

#define ELF_MAX ((size_t)256 << 20)

struct own_file {
    struct fk_own_mapping map;
    struct fk_file *file;
    struct fk_elf elf;
    bool tried;  // to load its symbols
    uint32_t id; // of the mapping in the builder at hand, FK_NONE: not declared
};

struct kernel_row;

struct fk_self_symbols {
    struct fk_arena arena; // names, for good
    FK_VEC(struct own_file) files;
    const char *folder; // for the kernel's table
    struct fk_file *kernel_file;
    const struct kernel_row *kernel;
    const char *kernel_names;
    size_t n_kernel;
    bool kernel_tried;
    struct fk_builder *builder;
    uint32_t kernel_mapping;
};

static int note_mapping(void *arg, const struct fk_own_mapping *m, struct fk_err *err)
{
    struct fk_self_symbols *s = arg;
    struct own_file f = {.map = *m};
    for (size_t i = 0; i < s->files.n; i++)
        if (s->files.v[i].map.start == m->start)
            return 0;
    return fk_vec_push(&s->files, f) ? fk_fail_nomem(err) : 0;
}

int fk_self_symbols_new(struct fk_self_symbols **ret, struct fk_err *err)
{
    struct fk_self_symbols *s = fk_calloc(1, sizeof(*s));
    if (!s)
        return fk_fail_nomem(err);
    fk_arena_init(&s->arena, 0);
    int r = fk_own_mappings(note_mapping, s, err);
    if (r) {
        fk_self_symbols_free(s);
        return r;
    }
    *ret = s;
    return 0;
}

void fk_self_symbols_free(struct fk_self_symbols *s)
{
    if (!s)
        return;
    for (size_t i = 0; i < s->files.n; i++)
        fk_file_close(s->files.v[i].file);
    fk_vec_free(&s->files);
    fk_file_close(s->kernel_file);
    fk_arena_free(&s->arena);
    fk_free(s);
}

// ---- our files ----

// Without symbols the addresses stay: a file that cannot be read is no failure.
static void load_symbols(struct fk_self_symbols *s, struct own_file *f)
{
    const uint8_t *p;
    size_t n;
    f->tried = true;
    if (f->map.path[0] != '/' ||
        fk_fs_open(fk_fs_real(), f->map.path, FK_OPEN_READ, &f->file, NULL))
        return;
    if (fk_file_map(f->file, &p, &n, NULL) || n > ELF_MAX ||
        fk_elf_read(fk_str_make(p, n), &s->arena, &f->elf, NULL))
        f->elf = (struct fk_elf){0};
}

static int hex_string(struct fk_dict *d, struct fk_str bytes, uint32_t *ret)
{
    char text[129];
    size_t n = FK_MIN(bytes.n, (size_t)64);
    for (size_t i = 0; i < n; i++)
        snprintf(text + i * 2, 3, "%02x", (unsigned)(uint8_t)bytes.p[i]);
    return fk_dict_string(d, fk_str_make(text, n * 2), ret);
}

static int declare(struct fk_self_symbols *s, struct own_file *f)
{
    struct fk_dict *d = fk_builder_dict(s->builder);
    struct fk_mapping m = {.offset = f->map.offset};
    if (!f->tried)
        load_symbols(s, f);
    if (fk_dict_string(d, fk_str_of(f->map.path), &m.file) ||
        hex_string(d, f->elf.build_id, &m.build_id) || fk_dict_mapping(d, &m, &f->id))
        return -FK_E_NOMEM;
    struct fk_placement place = {f->id, FK_PLACEMENT_HAS_FUNCTIONS, f->map.start, f->map.limit};
    return fk_builder_mapping(s->builder, &place);
}

// Our own binary first, whatever is sampled first.
static int declare_main(struct fk_self_symbols *s)
{
    bool there = s->files.n && s->files.v[0].map.path[0] == '/';
    return there ? declare(s, &s->files.v[0]) : 0;
}

int fk_self_symbols_begin(struct fk_self_symbols *s, const char *folder, struct fk_builder *b,
                          struct fk_err *err)
{
    s->folder = folder;
    s->builder = b;
    s->kernel_mapping = FK_NONE;
    int r = fk_own_mappings(note_mapping, s, err); // libraries may have come since
    for (size_t i = 0; i < s->files.n; i++)
        s->files.v[i].id = FK_NONE;
    return r || declare_main(s) == 0 ? r : fk_fail_nomem(err);
}

static struct own_file *file_of(struct fk_self_symbols *s, uint64_t address)
{
    for (size_t i = 0; i < s->files.n; i++)
        if (address >= s->files.v[i].map.start && address < s->files.v[i].map.limit)
            return &s->files.v[i];
    return NULL;
}

static int add_location(struct fk_self_symbols *s, uint32_t mapping, uint64_t address,
                        struct fk_str name, uint32_t *ret)
{
    struct fk_dict *d = fk_builder_dict(s->builder);
    struct fk_location l = {.mapping = mapping, .address = address};
    struct fk_line line = {0};
    struct fk_function f = {0};
    if (name.n) {
        l.line_count = 1;
        if (fk_dict_string(d, name, &f.name) || fk_dict_function(d, &f, &line.function))
            return -FK_E_NOMEM;
    }
    return fk_dict_location(d, &l, &line, ret);
}

static int user_location(struct fk_self_symbols *s, uint64_t address, uint32_t *ret)
{
    struct own_file *f = file_of(s, address);
    const struct fk_elf_symbol *symbol = NULL;
    uint64_t offset, in_file;
    if (!f)
        return add_location(s, FK_NONE, address, (struct fk_str){NULL, 0}, ret);
    if (f->id == FK_NONE && declare(s, f))
        return -FK_E_NOMEM;
    offset = address - f->map.start + f->map.offset;
    if (fk_elf_address(&f->elf, offset, &in_file))
        symbol = fk_elf_find(&f->elf, in_file);
    return add_location(s, f->id, offset, symbol ? symbol->name : (struct fk_str){NULL, 0}, ret);
}

// ---- kernel ----

// One pass over /proc/kallsyms makes a sorted table, which then lies in an unnamed file and is
// mapped: reading the table costs a fifth of a second, keeping it in memory ten megabytes.
struct kernel_row {
    uint64_t address;
    uint32_t name, length; // into the names
};

struct kernel_table {
    FK_VEC(struct kernel_row) rows;
    struct fk_buf names;
};

static int by_kernel_address(const void *pa, const void *pb)
{
    const struct kernel_row *a = pa, *b = pb;
    return a->address < b->address ? -1 : a->address > b->address;
}

static int read_kallsyms(struct kernel_table *t)
{
    FILE *f = fopen("/proc/kallsyms", "re");
    char line[512], name[256], kind;
    unsigned long long at;
    int r = 0;
    while (f && r == 0 && fgets(line, sizeof(line), f)) {
        bool code = sscanf(line, "%llx %c %255s", &at, &kind, name) == 3 && at &&
                    (kind == 't' || kind == 'T' || kind == 'w' || kind == 'W');
        if (!code)
            continue; // data, or addresses are hidden from us
        struct kernel_row row = {at, (uint32_t)t->names.n, (uint32_t)strlen(name)};
        fk_buf_cstr(&t->names, name);
        r = t->names.failed || fk_vec_push(&t->rows, row) ? -FK_E_NOMEM : 0;
    }
    if (f)
        fclose(f);
    if (t->rows.n)
        qsort(t->rows.v, t->rows.n, sizeof(struct kernel_row), by_kernel_address);
    return r;
}

static int keep_table(struct fk_self_symbols *s, const struct kernel_table *t)
{
    const uint8_t *p;
    size_t n, rows = t->rows.n * sizeof(struct kernel_row);
    if (fk_fs_open_unnamed(fk_fs_real(), s->folder, &s->kernel_file, NULL) ||
        fk_file_write_at(s->kernel_file, 0, t->rows.v, rows, NULL) ||
        fk_file_write_at(s->kernel_file, rows, t->names.p, t->names.n, NULL) ||
        fk_file_map(s->kernel_file, &p, &n, NULL))
        return -FK_E_IO;
    s->kernel = (const struct kernel_row *)(const void *)p;
    s->n_kernel = t->rows.n;
    s->kernel_names = (const char *)p + rows;
    return 0;
}

static void load_kernel(struct fk_self_symbols *s)
{
    struct kernel_table t = {0};
    fk_buf_init(&t.names, 0);
    s->kernel_tried = true;
    if (read_kallsyms(&t) == 0 && t.rows.n)
        (void)keep_table(s, &t); // without names the addresses stay
    fk_vec_free(&t.rows);
    fk_buf_free(&t.names);
}

static struct fk_str kernel_name(const struct fk_self_symbols *s, uint64_t address)
{
    size_t low = 0, high = s->n_kernel;
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        if (s->kernel[mid].address <= address)
            low = mid + 1;
        else
            high = mid;
    }
    if (low == 0)
        return (struct fk_str){NULL, 0};
    return fk_str_make(s->kernel_names + s->kernel[low - 1].name, s->kernel[low - 1].length);
}

static int kernel_location(struct fk_self_symbols *s, uint64_t address, uint32_t *ret)
{
    struct fk_dict *d = fk_builder_dict(s->builder);
    if (!s->kernel_tried)
        load_kernel(s);
    if (s->kernel_mapping == FK_NONE) {
        struct fk_mapping m = {0};
        if (fk_dict_string(d, FK_S("[kernel]"), &m.file) ||
            fk_dict_mapping(d, &m, &s->kernel_mapping))
            return -FK_E_NOMEM;
    }
    return add_location(s, s->kernel_mapping, address, kernel_name(s, address), ret);
}

// The kernel comes last: the first mapping of a profile is its main binary.
int fk_self_symbols_end(struct fk_self_symbols *s)
{
    struct fk_placement p = {.mapping = s->kernel_mapping, .flags = FK_PLACEMENT_HAS_FUNCTIONS};
    return s->kernel_mapping == FK_NONE ? 0 : fk_builder_mapping(s->builder, &p);
}

int fk_self_location(struct fk_self_symbols *s, uint64_t address, bool kernel, uint32_t *ret,
                     struct fk_err *err)
{
    return (kernel ? kernel_location(s, address, ret) : user_location(s, address, ret))
               ? fk_fail_nomem(err)
               : 0;
}
