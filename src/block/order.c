// SPDX-License-Identifier: Apache-2.0
// Sorting symbols for the disk: functions by name, locations by their functions from the outermost
// line inwards, then by address, stacks from the root. So a subtree is a range of stacks, blocks of
// one service compress well, and neighbours with equal names stand together.
#include "block/symbols_int.h"

#include <stdlib.h>

static int by_function(const void *pa, const void *pb, void *arg)
{
    const struct fk_symbols *s = arg;
    uint32_t ia = *(const uint32_t *)pa, ib = *(const uint32_t *)pb;
    const struct fk_function *a = &s->function[ia], *b = &s->function[ib];
    int order = fk_str_cmp(s->string[a->name], s->string[b->name]);
    if (order == 0)
        order = fk_str_cmp(s->string[a->system_name], s->string[b->system_name]);
    if (order == 0)
        order = fk_str_cmp(s->string[a->file], s->string[b->file]);
    if (order)
        return order;
    if (a->start_line != b->start_line)
        return a->start_line < b->start_line ? -1 : 1;
    return ia < ib ? -1 : ia > ib;
}

struct location_order {
    const struct fk_symbols *s;
    const uint32_t *function_to;
};

static int compare_u64(uint64_t a, uint64_t b)
{
    return a < b ? -1 : a > b;
}

// Lines without a function come last among their equals: FK_NONE is the largest id.
static uint64_t line_rank(const struct location_order *o, const struct fk_line *line)
{
    return line->function == FK_NONE ? FK_NONE : o->function_to[line->function];
}

static int by_location(const void *pa, const void *pb, void *arg)
{
    const struct location_order *o = arg;
    uint32_t ia = *(const uint32_t *)pa, ib = *(const uint32_t *)pb;
    const struct fk_location *a = &o->s->location[ia], *b = &o->s->location[ib];
    const struct fk_line *la = o->s->line + a->line_begin, *lb = o->s->line + b->line_begin;
    uint32_t n = FK_MIN(a->line_count, b->line_count);
    int order = 0;
    for (uint32_t i = 1; order == 0 && i <= n; i++)
        order =
            compare_u64(line_rank(o, &la[a->line_count - i]), line_rank(o, &lb[b->line_count - i]));
    if (order == 0)
        order = compare_u64(a->line_count, b->line_count);
    if (order == 0)
        order = compare_u64(a->mapping, b->mapping);
    if (order == 0)
        order = compare_u64(a->address, b->address);
    return order ? order : compare_u64(ia, ib);
}

// Frame d of a stack counted from the root, +1; 0 when the stack has ended.
struct stack_order {
    const struct fk_symbols *s;
    const uint32_t *location_to;
};

static uint32_t frame_at(const struct stack_order *o, uint32_t stack, uint32_t depth)
{
    uint32_t begin = o->s->stack_begin[stack], end = o->s->stack_begin[stack + 1];
    return depth < end - begin ? o->location_to[o->s->frame[end - 1 - depth]] + 1 : 0;
}

static void swap(uint32_t *v, size_t a, size_t b)
{
    uint32_t x = v[a];
    v[a] = v[b];
    v[b] = x;
}

struct slice {
    size_t begin, end;
    uint32_t depth;
};

// Multikey quicksort (Bentley and Sedgewick, "Fast algorithms for sorting and searching strings",
// 1997) with an explicit stack of slices: each step splits a slice by one frame; only the equal
// part goes one frame deeper.
static int sort_stacks(const struct stack_order *o, uint32_t *v, size_t n)
{
    FK_VEC(struct slice) todo = {0};
    int r = fk_vec_push(&todo, (struct slice){0, n, 0});
    while (r == 0 && todo.n) {
        struct slice s = todo.v[--todo.n];
        if (s.end - s.begin < 2)
            continue;
        uint32_t pivot = frame_at(o, v[s.begin + (s.end - s.begin) / 2], s.depth);
        size_t low = s.begin, high = s.end, at = s.begin;
        while (at < high) {
            uint32_t f = frame_at(o, v[at], s.depth);
            if (f < pivot)
                swap(v, low++, at++);
            else if (f > pivot)
                swap(v, at, --high);
            else
                at++;
        }
        if (fk_vec_reserve(&todo, 3)) {
            r = -FK_E_NOMEM;
            break;
        }
        todo.v[todo.n++] = (struct slice){s.begin, low, s.depth};
        todo.v[todo.n++] = (struct slice){high, s.end, s.depth};
        if (pivot) // 0: these stacks have all ended, they are equal
            todo.v[todo.n++] = (struct slice){low, high, s.depth + 1};
    }
    fk_vec_free(&todo);
    return r ? -FK_E_NOMEM : 0;
}

static uint32_t *identity(struct fk_arena *a, uint32_t n)
{
    uint32_t *v = fk_arena_array(a, FK_MAX(n, 1u), sizeof(*v));
    for (uint32_t i = 0; v && i < n; i++)
        v[i] = i;
    return v;
}

static uint32_t *inverse(struct fk_arena *a, const uint32_t *from, uint32_t n)
{
    uint32_t *to = fk_arena_array(a, FK_MAX(n, 1u), sizeof(*to));
    for (uint32_t i = 0; to && i < n; i++)
        to[from[i]] = i;
    return to;
}

// Strings in the order in which sorted functions name them, so that alike names lie side by side;
// then the rest.
static bool order_strings(const struct fk_symbols *s, struct fk_arena *a, struct fk_symbol_order *o)
{
    uint32_t next = 1;
    o->string_from = fk_arena_array(a, FK_MAX(s->n_strings, 1u), sizeof(uint32_t));
    o->string_to = fk_arena_array(a, FK_MAX(s->n_strings, 1u), sizeof(uint32_t));
    if (!o->string_from || !o->string_to)
        return false;
    memset(o->string_to, 0xff, s->n_strings * sizeof(uint32_t));
    o->string_to[0] = o->string_from[0] = 0;
    for (uint32_t i = 0; i < s->n_functions; i++) {
        const struct fk_function *f = &s->function[o->function_from[i]];
        const uint32_t ids[] = {f->name, f->system_name, f->file};
        for (size_t k = 0; k < FK_COUNTOF(ids); k++)
            if (o->string_to[ids[k]] == FK_NONE) {
                o->string_from[next] = ids[k];
                o->string_to[ids[k]] = next++;
            }
    }
    for (uint32_t i = 0; i < s->n_strings; i++)
        if (o->string_to[i] == FK_NONE) {
            o->string_from[next] = i;
            o->string_to[i] = next++;
        }
    return true;
}

int fk_symbol_order_make(const struct fk_symbols *s, struct fk_arena *a,
                         struct fk_symbol_order *ret, struct fk_err *err)
{
    struct fk_symbol_order o = {0};
    union {
        const struct fk_symbols *in;
        void *out;
    } arg = {.in = s};
    if (!(o.function_from = identity(a, s->n_functions)))
        return fk_fail_nomem(err);
    qsort_r(o.function_from, s->n_functions, sizeof(uint32_t), by_function, arg.out);
    if (!(o.function_to = inverse(a, o.function_from, s->n_functions)) ||
        !order_strings(s, a, &o) || !(o.location_from = identity(a, s->n_locations)))
        return fk_fail_nomem(err);
    struct location_order lo = {s, o.function_to};
    qsort_r(o.location_from, s->n_locations, sizeof(uint32_t), by_location, &lo);
    if (!(o.location_to = inverse(a, o.location_from, s->n_locations)) ||
        !(o.stack_from = identity(a, s->n_stacks)))
        return fk_fail_nomem(err);
    struct stack_order so = {s, o.location_to};
    if (sort_stacks(&so, o.stack_from, s->n_stacks) ||
        !(o.stack_to = inverse(a, o.stack_from, s->n_stacks)))
        return fk_fail_nomem(err);
    *ret = o;
    return 0;
}
