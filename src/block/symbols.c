// SPDX-License-Identifier: Apache-2.0
// Symbol sections: columns of integers behind their counts (docs/format-block.md "Symbols", "Tree",
// "Sets").
#include "block/symbols_int.h"

// ---- writing ----

static void put_strings(struct fk_buf *b, const struct fk_symbols *s,
                        const struct fk_symbol_order *o)
{
    fk_buf_varint(b, s->n_strings);
    for (uint32_t i = 0; i < s->n_strings; i++)
        fk_buf_varint(b, s->string[o->string_from[i]].n);
    for (uint32_t i = 0; i < s->n_strings; i++)
        fk_buf_str(b, s->string[o->string_from[i]]);
}

static void put_functions(struct fk_buf *b, const struct fk_symbols *s,
                          const struct fk_symbol_order *o)
{
    fk_buf_varint(b, s->n_functions);
    for (uint32_t i = 0; i < s->n_functions; i++)
        fk_buf_varint(b, o->string_to[s->function[o->function_from[i]].name]);
    for (uint32_t i = 0; i < s->n_functions; i++)
        fk_buf_varint(b, o->string_to[s->function[o->function_from[i]].system_name]);
    for (uint32_t i = 0; i < s->n_functions; i++)
        fk_buf_varint(b, o->string_to[s->function[o->function_from[i]].file]);
    for (uint32_t i = 0; i < s->n_functions; i++)
        fk_buf_varint(b, fk_zigzag(s->function[o->function_from[i]].start_line));
}

static void put_mappings(struct fk_buf *b, const struct fk_symbols *s,
                         const struct fk_symbol_order *o)
{
    fk_buf_varint(b, s->n_mappings); // in their old order: placements name them
    for (uint32_t i = 0; i < s->n_mappings; i++) {
        fk_buf_varint(b, o->string_to[s->mapping[i].file]);
        fk_buf_varint(b, o->string_to[s->mapping[i].build_id]);
        fk_buf_varint(b, s->mapping[i].ordinal);
        fk_buf_varint(b, s->mapping[i].offset);
    }
}

static void put_locations(struct fk_buf *b, const struct fk_symbols *s,
                          const struct fk_symbol_order *o)
{
    uint64_t before = 0;
    fk_buf_varint(b, s->n_locations);
    for (uint32_t i = 0; i < s->n_locations; i++)
        fk_buf_varint(b, s->location[o->location_from[i]].mapping + 1u); // FK_NONE becomes 0
    for (uint32_t i = 0; i < s->n_locations; i++)
        fk_buf_varint(b, s->location[o->location_from[i]].flags);
    for (uint32_t i = 0; i < s->n_locations; i++)
        fk_buf_varint(b, s->location[o->location_from[i]].line_count);
    for (uint32_t i = 0; i < s->n_locations; i++) {
        uint64_t address = s->location[o->location_from[i]].address;
        fk_buf_varint(b, fk_zigzag((int64_t)(address - before)));
        before = address;
    }
}

static void put_lines(struct fk_buf *b, const struct fk_symbols *s, const struct fk_symbol_order *o)
{
    for (int column = 0; column < 3; column++)
        for (uint32_t i = 0; i < s->n_locations; i++) {
            const struct fk_location *l = &s->location[o->location_from[i]];
            for (uint32_t k = 0; k < l->line_count; k++) {
                const struct fk_line *line = &s->line[l->line_begin + k];
                if (column == 0)
                    fk_buf_varint(
                        b, line->function == FK_NONE ? 0 : o->function_to[line->function] + 1u);
                else
                    fk_buf_varint(b, fk_zigzag(column == 1 ? line->line : line->column));
            }
        }
}

void fk_symbols_put(struct fk_buf *b, const struct fk_symbols *s, const struct fk_symbol_order *o)
{
    put_strings(b, s, o);
    put_functions(b, s, o);
    put_mappings(b, s, o);
    put_locations(b, s, o);
    put_lines(b, s, o);
}

// Preorder: for each stack in order, how many of the path's nodes are kept from the stack before,
// and its new frames. A stack that ends at a node which exists already adds none.
void fk_tree_put(struct fk_buf *b, const struct fk_symbols *s, const struct fk_symbol_order *o,
                 struct fk_arena *a)
{
    uint32_t n = s->n_stacks, total = s->stack_begin[n], used = 0;
    uint32_t *kept = fk_arena_array(a, FK_MAX(n, 1u), sizeof(*kept));
    uint32_t *depth = fk_arena_array(a, FK_MAX(n, 1u), sizeof(*depth));
    uint32_t *frame = fk_arena_array(a, FK_MAX(total, 1u), sizeof(*frame));
    if (!kept || !depth || !frame) {
        b->failed = FK_E_NOMEM;
        return;
    }
    uint32_t before = FK_NONE;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t stack = o->stack_from[i], end = s->stack_begin[stack + 1],
                 size = end - s->stack_begin[stack], same = 0;
        if (before != FK_NONE) {
            uint32_t other_end = s->stack_begin[before + 1],
                     other = other_end - s->stack_begin[before];
            while (same < size && same < other &&
                   s->frame[end - 1 - same] == s->frame[other_end - 1 - same])
                same++;
        }
        kept[i] = same;
        depth[i] = size - same;
        for (uint32_t k = same; k < size; k++)
            frame[used++] = o->location_to[s->frame[end - 1 - k]];
        before = stack;
    }
    fk_buf_varint(b, n);
    fk_buf_varint(b, used);
    fk_pack_u32(b, kept, n);
    fk_pack_u32(b, depth, n);
    fk_pack_u32(b, frame, used);
}

void fk_sets_put(struct fk_buf *b, const struct fk_symbols *s, const struct fk_symbol_order *o)
{
    fk_buf_varint(b, s->n_sets);
    fk_buf_varint(b, s->set_begin[s->n_sets]);
    for (uint32_t i = 0; i < s->n_sets; i++) {
        fk_buf_varint(b, s->set_begin[i + 1] - s->set_begin[i]);
        for (uint32_t k = s->set_begin[i]; k < s->set_begin[i + 1]; k++) {
            fk_buf_varint(b, o->string_to[s->attr[k].key]);
            fk_buf_varint(b, o->string_to[s->attr[k].str]);
            fk_buf_varint(b, o->string_to[s->attr[k].unit]);
            fk_buf_varint(b, fk_zigzag(s->attr[k].num));
        }
    }
}

// ---- reading ----

struct reader {
    struct fk_cur c;
    struct fk_arena *a;
    bool bad, no_memory; // the bytes, or the arena: only the first is corruption
};

static uint64_t take(struct reader *r, uint64_t below)
{
    uint64_t v = 0;
    if (r->bad || fk_cur_varint(&r->c, &v) || v >= below) {
        r->bad = true;
        return 0;
    }
    return v;
}

static int64_t take_signed(struct reader *r)
{
    uint64_t v = 0;
    if (r->bad || fk_cur_varint(&r->c, &v))
        r->bad = true;
    return fk_unzigzag(r->bad ? 0 : v);
}

// A count of things that take at least one byte each.
static uint32_t take_count(struct reader *r)
{
    return (uint32_t)take(r, FK_MIN((uint64_t)fk_cur_left(&r->c) + 1, (uint64_t)FK_NONE));
}

static void *column(struct reader *r, uint64_t n, size_t size)
{
    void *p = r->bad ? NULL : fk_arena_array(r->a, (size_t)FK_MAX(n, (uint64_t)1), size);
    r->no_memory |= !r->bad && !p;
    r->bad |= !p;
    return p;
}

static void take_strings(struct reader *r, struct fk_symbols *s)
{
    uint32_t n = take_count(r);
    struct fk_str *v = column(r, n, sizeof(*v));
    for (uint32_t i = 0; !r->bad && i < n; i++)
        v[i].n = (size_t)take(r, UINT64_MAX);
    for (uint32_t i = 0; !r->bad && i < n; i++)
        r->bad |= fk_cur_bytes(&r->c, v[i].n, &v[i]) != 0;
    r->bad |= n == 0 || (v && v[0].n != 0);
    s->string = v;
    s->n_strings = n;
}

static void take_functions(struct reader *r, struct fk_symbols *s)
{
    uint32_t n = take_count(r);
    struct fk_function *v = column(r, n, sizeof(*v));
    for (uint32_t i = 0; !r->bad && i < n; i++)
        v[i].name = (uint32_t)take(r, s->n_strings);
    for (uint32_t i = 0; !r->bad && i < n; i++)
        v[i].system_name = (uint32_t)take(r, s->n_strings);
    for (uint32_t i = 0; !r->bad && i < n; i++)
        v[i].file = (uint32_t)take(r, s->n_strings);
    for (uint32_t i = 0; !r->bad && i < n; i++)
        v[i].start_line = take_signed(r);
    s->function = v;
    s->n_functions = n;
}

static void take_mappings(struct reader *r, struct fk_symbols *s)
{
    uint32_t n = take_count(r);
    struct fk_mapping *v = column(r, n, sizeof(*v));
    for (uint32_t i = 0; !r->bad && i < n; i++) {
        v[i].file = (uint32_t)take(r, s->n_strings);
        v[i].build_id = (uint32_t)take(r, s->n_strings);
        v[i].ordinal = (uint32_t)take(r, UINT32_MAX);
        r->bad |= !r->bad && fk_cur_varint(&r->c, &v[i].offset) != 0;
    }
    s->mapping = v;
    s->n_mappings = n;
}

static void take_locations(struct reader *r, struct fk_symbols *s)
{
    uint32_t n = take_count(r);
    uint64_t lines = 0, address = 0;
    struct fk_location *v = column(r, n, sizeof(*v));
    for (uint32_t i = 0; !r->bad && i < n; i++) {
        uint64_t mapping = take(r, (uint64_t)s->n_mappings + 1);
        v[i].mapping = mapping ? (uint32_t)mapping - 1 : FK_NONE;
    }
    for (uint32_t i = 0; !r->bad && i < n; i++)
        v[i].flags = (uint32_t)take(r, UINT32_MAX);
    for (uint32_t i = 0; !r->bad && i < n; i++) {
        v[i].line_count = (uint32_t)take(r, fk_cur_left(&r->c));
        v[i].line_begin = (uint32_t)lines;
        lines += v[i].line_count;
        r->bad |= lines > fk_cur_left(&r->c);
    }
    for (uint32_t i = 0; !r->bad && i < n; i++)
        v[i].address = address += (uint64_t)take_signed(r);
    s->location = v;
    s->n_locations = n;
    s->n_lines = (uint32_t)lines;
}

static void take_lines(struct reader *r, struct fk_symbols *s)
{
    struct fk_line *v = column(r, s->n_lines, sizeof(*v));
    for (uint32_t i = 0; !r->bad && i < s->n_lines; i++) {
        uint64_t function = take(r, (uint64_t)s->n_functions + 1);
        v[i].function = function ? (uint32_t)function - 1 : FK_NONE;
    }
    for (uint32_t i = 0; !r->bad && i < s->n_lines; i++)
        v[i].line = take_signed(r);
    for (uint32_t i = 0; !r->bad && i < s->n_lines; i++)
        v[i].column = take_signed(r);
    s->line = v;
}

static int result(const struct reader *r, const char *what, struct fk_err *err)
{
    if (r->no_memory)
        return fk_fail_nomem(err);
    if (r->bad || fk_cur_left(&r->c))
        return fk_fail(err, FK_E_CORRUPT, "%s section: cut off or inconsistent", what);
    return 0;
}

int fk_symbols_read(struct fk_str bytes, struct fk_arena *a, struct fk_symbols *ret,
                    struct fk_err *err)
{
    struct reader r = {fk_cur_of(bytes), a, false, false};
    take_strings(&r, ret);
    take_functions(&r, ret);
    take_mappings(&r, ret);
    take_locations(&r, ret);
    take_lines(&r, ret);
    return result(&r, "symbols", err);
}

// Flat stacks out of the tree: each starts with the outer frames of the one before.
static void flatten(struct reader *r, struct fk_symbols *s, const uint32_t *kept,
                    const uint32_t *depth, const uint32_t *frame, uint32_t n_frames)
{
    uint64_t total = 0;
    uint32_t used = 0;
    for (uint32_t i = 0; i < s->n_stacks; i++)
        total += (uint64_t)kept[i] + depth[i];
    r->bad |= total >= FK_NONE;
    uint32_t *begin = column(r, (uint64_t)s->n_stacks + 1, sizeof(*begin)),
             *flat = column(r, total, sizeof(*flat));
    if (r->bad)
        return;
    begin[0] = 0;
    for (uint32_t i = 0; !r->bad && i < s->n_stacks; i++) {
        uint32_t size_before = i ? begin[i] - begin[i - 1] : 0, size = kept[i] + depth[i];
        if ((r->bad |= kept[i] > size_before || depth[i] > n_frames - used))
            break;
        uint32_t end = begin[i + 1] = begin[i] + size;
        for (uint32_t k = 0; k < kept[i]; k++)
            flat[end - 1 - k] = flat[begin[i] - 1 - k];
        for (uint32_t k = 0; k < depth[i]; k++) {
            r->bad |= frame[used] >= s->n_locations;
            flat[end - 1 - kept[i] - k] = frame[used++];
        }
    }
    r->bad |= used != n_frames;
    s->stack_begin = begin;
    s->frame = flat;
}

int fk_tree_read(struct fk_str bytes, struct fk_arena *a, struct fk_symbols *ret,
                 struct fk_err *err)
{
    struct reader r = {fk_cur_of(bytes), a, false, false};
    uint64_t bound = (uint64_t)bytes.n * 128 + 1; // 128 equal values take one byte at least
    uint32_t n = (uint32_t)take(&r, FK_MIN(bound, (uint64_t)FK_NONE));
    uint32_t used = (uint32_t)take(&r, FK_MIN(bound, (uint64_t)FK_NONE));
    uint32_t *kept = column(&r, n, sizeof(*kept)), *depth = column(&r, n, sizeof(*depth));
    uint32_t *frame = column(&r, used, sizeof(*frame));
    if (!r.bad)
        r.bad = fk_unpack_u32(&r.c, kept, n) || fk_unpack_u32(&r.c, depth, n) ||
                fk_unpack_u32(&r.c, frame, used);
    ret->n_stacks = n;
    if (!r.bad)
        flatten(&r, ret, kept, depth, frame, used);
    return result(&r, "tree", err);
}

int fk_sets_read(struct fk_str bytes, struct fk_arena *a, struct fk_symbols *ret,
                 struct fk_err *err)
{
    struct reader r = {fk_cur_of(bytes), a, false, false};
    uint32_t n = take_count(&r), total = take_count(&r), at = 0;
    uint32_t *begin = column(&r, (uint64_t)n + 1, sizeof(*begin));
    struct fk_attr *attr = column(&r, total, sizeof(*attr));
    for (uint32_t i = 0; !r.bad && i < n; i++) {
        uint64_t size = take(&r, (uint64_t)total - at + 1);
        begin[i] = at;
        for (uint64_t k = 0; !r.bad && k < size; k++, at++) {
            attr[at].key = (uint32_t)take(&r, ret->n_strings);
            attr[at].str = (uint32_t)take(&r, ret->n_strings);
            attr[at].unit = (uint32_t)take(&r, ret->n_strings);
            attr[at].num = take_signed(&r);
        }
    }
    r.bad |= at != total || n == 0;
    if (!r.bad) {
        begin[n] = at;
        r.bad |= begin[1] != 0; // set 0 is the empty one
    }
    ret->n_sets = n;
    ret->set_begin = begin;
    ret->attr = attr;
    return result(&r, "sets", err);
}
