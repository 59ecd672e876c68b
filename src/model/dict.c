// SPDX-License-Identifier: Apache-2.0
// The interning dictionary. Columns grow by doubling into new arrays; with keep_old the old arrays
// stay until the end, so that readers of an earlier view never see memory move. In all they are
// never larger than the newest ones.
#include "model/model.h"

#include <stdlib.h>

struct column {
    void *v;
    uint32_t n, cap;
    uint32_t size; // of an element
};

enum { STRING, FUNCTION, MAPPING, LINE, LOCATION, STACK_BEGIN, FRAME, SET_BEGIN, ATTR, COLUMNS };

struct fk_dict {
    struct column column[COLUMNS];
    struct fk_map strings, functions, mappings, locations, stacks, sets;
    struct fk_arena bytes; // of the strings
    FK_VEC(void *) old;    // arrays that grew, kept for readers
    bool keep_old;
    size_t held; // bytes in columns, old ones included
};

static const uint32_t element_size[COLUMNS] = {
    [STRING] = sizeof(struct fk_str),
    [FUNCTION] = sizeof(struct fk_function),
    [MAPPING] = sizeof(struct fk_mapping),
    [LINE] = sizeof(struct fk_line),
    [LOCATION] = sizeof(struct fk_location),
    [STACK_BEGIN] = sizeof(uint32_t),
    [FRAME] = sizeof(uint32_t),
    [SET_BEGIN] = sizeof(uint32_t),
    [ATTR] = sizeof(struct fk_attr),
};

// Room for `more` elements.
static int column_reserve(struct fk_dict *d, int which, uint32_t more)
{
    struct column *c = &d->column[which];
    if (more <= c->cap - c->n)
        return 0;
    uint64_t need = (uint64_t)c->n + more;
    uint64_t cap = FK_MAX(need, FK_MIN((uint64_t)c->cap * 2, (uint64_t)FK_NONE - 1));
    cap = FK_MAX(cap, (uint64_t)16);
    if (need >= FK_NONE)
        return -FK_E_NOMEM;
    if (d->keep_old && c->v && fk_vec_reserve(&d->old, 1))
        return -FK_E_NOMEM;
    void *v = d->keep_old ? fk_malloc(cap * c->size) : fk_realloc(c->v, cap * c->size);
    if (!v)
        return -FK_E_NOMEM;
    if (d->keep_old && c->v) {
        memcpy(v, c->v, (size_t)c->n * c->size);
        d->old.v[d->old.n++] = c->v;
    }
    d->held += (d->keep_old ? cap : cap - c->cap) * c->size;
    c->v = v;
    c->cap = (uint32_t)cap;
    return 0;
}

static void column_put(struct fk_dict *d, int which, const void *from, uint32_t n)
{
    struct column *c = &d->column[which];
    if (n)
        memcpy((char *)c->v + (size_t)c->n * c->size, from, (size_t)n * c->size);
    c->n += n;
}

// First entries: string 0, and the beginnings of the stack and set columns.
static int first_entries(struct fk_dict *d)
{
    uint32_t zero = 0, id;
    if (column_reserve(d, STACK_BEGIN, 1) || column_reserve(d, SET_BEGIN, 2) ||
        fk_dict_string(d, FK_S(""), &id))
        return -FK_E_NOMEM;
    column_put(d, STACK_BEGIN, &zero, 1);
    column_put(d, SET_BEGIN, &zero, 1);
    column_put(d, SET_BEGIN, &zero, 1); // set 0, empty; found without the index
    return 0;
}

// The first large source: its stacks at once, instead of doubling up to them and keeping the
// halves.
int fk_dict_expect(struct fk_dict *d, const struct fk_symbols *from)
{
    uint32_t frames = from->n_stacks ? from->stack_begin[from->n_stacks] : 0;
    if (frames / 2 > d->column[FRAME].n && column_reserve(d, FRAME, frames))
        return -FK_E_NOMEM;
    if (from->n_stacks / 2 > d->column[STACK_BEGIN].n &&
        column_reserve(d, STACK_BEGIN, from->n_stacks))
        return -FK_E_NOMEM;
    return 0;
}

struct fk_dict *fk_dict_new(bool keep_old)
{
    struct fk_dict *d = fk_calloc(1, sizeof(*d));
    if (!d)
        return NULL;
    d->keep_old = keep_old;
    fk_arena_init(&d->bytes, 0);
    for (int i = 0; i < COLUMNS; i++)
        d->column[i].size = element_size[i];
    if (first_entries(d)) {
        fk_dict_free(d);
        return NULL;
    }
    return d;
}

void fk_dict_free(struct fk_dict *d)
{
    if (!d)
        return;
    for (int i = 0; i < COLUMNS; i++)
        fk_free(d->column[i].v);
    for (size_t i = 0; i < d->old.n; i++)
        fk_free(d->old.v[i]);
    fk_vec_free(&d->old);
    struct fk_map *maps[] = {&d->strings,   &d->functions, &d->mappings,
                             &d->locations, &d->stacks,    &d->sets};
    for (size_t i = 0; i < FK_COUNTOF(maps); i++)
        fk_map_free(maps[i]);
    fk_arena_free(&d->bytes);
    fk_free(d);
}

size_t fk_dict_bytes(const struct fk_dict *d)
{
    const struct fk_map *maps[] = {&d->strings,   &d->functions, &d->mappings,
                                   &d->locations, &d->stacks,    &d->sets};
    size_t n = sizeof(*d) + d->held + d->bytes.used;
    for (size_t i = 0; i < FK_COUNTOF(maps); i++)
        n += maps[i]->slot ? ((size_t)maps[i]->mask + 1) * sizeof(struct fk_map_slot) : 0;
    return n;
}

void fk_dict_view(const struct fk_dict *d, struct fk_symbols *ret)
{
    *ret = (struct fk_symbols){
        .n_strings = d->column[STRING].n,
        .n_functions = d->column[FUNCTION].n,
        .n_mappings = d->column[MAPPING].n,
        .n_lines = d->column[LINE].n,
        .n_locations = d->column[LOCATION].n,
        .n_stacks = d->column[STACK_BEGIN].n - 1,
        .n_sets = d->column[SET_BEGIN].n - 1,
        .string = d->column[STRING].v,
        .function = d->column[FUNCTION].v,
        .mapping = d->column[MAPPING].v,
        .line = d->column[LINE].v,
        .location = d->column[LOCATION].v,
        .stack_begin = d->column[STACK_BEGIN].v,
        .frame = d->column[FRAME].v,
        .set_begin = d->column[SET_BEGIN].v,
        .attr = d->column[ATTR].v,
    };
}

static int string_of(struct fk_dict *d, struct fk_str s, uint64_t h, uint32_t *ret)
{
    const struct fk_str *have = d->column[STRING].v;
    for (uint32_t at = fk_map_first(&d->strings, h); at != FK_NONE;
         at = fk_map_next(&d->strings, h, at))
        if (fk_str_eq(have[fk_map_id(&d->strings, at)], s)) {
            *ret = fk_map_id(&d->strings, at);
            return 0;
        }
    uint32_t id = d->column[STRING].n;
    struct fk_str copy = fk_arena_str(&d->bytes, s);
    if (!copy.p || column_reserve(d, STRING, 1) || fk_map_add(&d->strings, h, id))
        return -FK_E_NOMEM;
    column_put(d, STRING, &copy, 1);
    *ret = id;
    return 0;
}

int fk_dict_string(struct fk_dict *d, struct fk_str s, uint32_t *ret)
{
    return string_of(d, s, fk_hash_str(s), ret);
}

int fk_dict_strings(struct fk_dict *d, const struct fk_str *s, uint32_t n, uint32_t *ret)
{
    uint64_t h[FK_DICT_BATCH];
    for (uint32_t i = 0; i < n; i++)
        fk_map_prefetch(&d->strings, h[i] = fk_hash_str(s[i]));
    const struct fk_str *have = d->column[STRING].v;
    for (uint32_t i = 0; i < n; i++)
        if ((ret[i] = fk_map_guess(&d->strings, h[i])) != FK_NONE)
            __builtin_prefetch(&have[ret[i]]);
    for (uint32_t i = 0; i < n; i++)
        if (ret[i] != FK_NONE)
            __builtin_prefetch(have[ret[i]].p);
    for (uint32_t i = 0; i < n; i++)
        if (string_of(d, s[i], h[i], &ret[i]))
            return -FK_E_NOMEM;
    return 0;
}

static uint64_t hash_function(const struct fk_function *f)
{
    return fk_hash_u64((uint64_t)f->name << 32 | f->system_name) ^
           fk_hash_u64((uint64_t)f->file << 32 ^ (uint64_t)f->start_line ^ 0x5bd1e995u);
}

static int function_of(struct fk_dict *d, const struct fk_function *f, uint64_t h, uint32_t *ret)
{
    const struct fk_function *have = d->column[FUNCTION].v;
    for (uint32_t at = fk_map_first(&d->functions, h); at != FK_NONE;
         at = fk_map_next(&d->functions, h, at)) {
        const struct fk_function *g = &have[fk_map_id(&d->functions, at)];
        if (g->name == f->name && g->system_name == f->system_name && g->file == f->file &&
            g->start_line == f->start_line) {
            *ret = fk_map_id(&d->functions, at);
            return 0;
        }
    }
    uint32_t id = d->column[FUNCTION].n;
    if (column_reserve(d, FUNCTION, 1) || fk_map_add(&d->functions, h, id))
        return -FK_E_NOMEM;
    column_put(d, FUNCTION, f, 1);
    *ret = id;
    return 0;
}

int fk_dict_function(struct fk_dict *d, const struct fk_function *f, uint32_t *ret)
{
    return function_of(d, f, hash_function(f), ret);
}

int fk_dict_functions(struct fk_dict *d, const struct fk_function *f, uint32_t n, uint32_t *ret)
{
    uint64_t h[FK_DICT_BATCH];
    for (uint32_t i = 0; i < n; i++)
        fk_map_prefetch(&d->functions, h[i] = hash_function(&f[i]));
    const struct fk_function *have = d->column[FUNCTION].v;
    for (uint32_t i = 0; i < n; i++)
        if ((ret[i] = fk_map_guess(&d->functions, h[i])) != FK_NONE)
            __builtin_prefetch(&have[ret[i]]);
    for (uint32_t i = 0; i < n; i++)
        if (function_of(d, &f[i], h[i], &ret[i]))
            return -FK_E_NOMEM;
    return 0;
}

int fk_dict_mapping(struct fk_dict *d, const struct fk_mapping *m, uint32_t *ret)
{
    uint64_t h = fk_hash_u64((uint64_t)m->file << 32 | m->build_id) ^
                 fk_hash_u64(m->offset * 31 + m->ordinal);
    const struct fk_mapping *have = d->column[MAPPING].v;
    for (uint32_t at = fk_map_first(&d->mappings, h); at != FK_NONE;
         at = fk_map_next(&d->mappings, h, at)) {
        const struct fk_mapping *g = &have[fk_map_id(&d->mappings, at)];
        if (g->file == m->file && g->build_id == m->build_id && g->offset == m->offset &&
            g->ordinal == m->ordinal) {
            *ret = fk_map_id(&d->mappings, at);
            return 0;
        }
    }
    uint32_t id = d->column[MAPPING].n;
    if (column_reserve(d, MAPPING, 1) || fk_map_add(&d->mappings, h, id))
        return -FK_E_NOMEM;
    column_put(d, MAPPING, m, 1);
    *ret = id;
    return 0;
}

static uint64_t hash_location(const struct fk_location *l, const struct fk_line *lines)
{
    uint64_t h = fk_hash_u64(l->address + ((uint64_t)l->mapping << 40) + l->flags);
    for (uint32_t i = 0; i < l->line_count; i++) {
        uint64_t word = (uint64_t)lines[i].function << 32 ^ (uint64_t)lines[i].line ^
                        (uint64_t)lines[i].column << 20;
        h = fk_hash_u64(h * 31 + word);
    }
    return h;
}

static bool same_lines(const struct fk_line *a, const struct fk_line *b, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        if (a[i].function != b[i].function || a[i].line != b[i].line || a[i].column != b[i].column)
            return false;
    return true;
}

static int location_of(struct fk_dict *d, const struct fk_location *loc,
                       const struct fk_line *lines, uint64_t h, uint32_t *ret)
{
    const struct fk_location *have = d->column[LOCATION].v;
    for (uint32_t at = fk_map_first(&d->locations, h); at != FK_NONE;
         at = fk_map_next(&d->locations, h, at)) {
        const struct fk_location *g = &have[fk_map_id(&d->locations, at)];
        if (g->address == loc->address && g->mapping == loc->mapping && g->flags == loc->flags &&
            g->line_count == loc->line_count &&
            (loc->line_count == 0 || // perhaps there are none at all
             same_lines((struct fk_line *)d->column[LINE].v + g->line_begin, lines,
                        loc->line_count))) {
            *ret = fk_map_id(&d->locations, at);
            return 0;
        }
    }
    uint32_t id = d->column[LOCATION].n;
    struct fk_location l = *loc;
    l.line_begin = d->column[LINE].n;
    if (column_reserve(d, LOCATION, 1) || column_reserve(d, LINE, loc->line_count) ||
        fk_map_add(&d->locations, h, id))
        return -FK_E_NOMEM;
    column_put(d, LINE, lines, loc->line_count);
    column_put(d, LOCATION, &l, 1);
    *ret = id;
    return 0;
}

int fk_dict_location(struct fk_dict *d, const struct fk_location *loc, const struct fk_line *lines,
                     uint32_t *ret)
{
    return location_of(d, loc, lines, hash_location(loc, lines), ret);
}

int fk_dict_locations(struct fk_dict *d, const struct fk_location *loc, const struct fk_line *lines,
                      uint32_t n, uint32_t *ret)
{
    uint64_t h[FK_DICT_BATCH];
    for (uint32_t i = 0; i < n; i++)
        fk_map_prefetch(&d->locations, h[i] = hash_location(&loc[i], lines + loc[i].line_begin));
    const struct fk_location *have = d->column[LOCATION].v;
    const struct fk_line *line = d->column[LINE].v;
    for (uint32_t i = 0; i < n; i++)
        if ((ret[i] = fk_map_guess(&d->locations, h[i])) != FK_NONE)
            __builtin_prefetch(&have[ret[i]]);
    for (uint32_t i = 0; i < n; i++)
        if (ret[i] != FK_NONE)
            __builtin_prefetch(&line[have[ret[i]].line_begin]);
    for (uint32_t i = 0; i < n; i++)
        if (location_of(d, &loc[i], lines + loc[i].line_begin, h[i], &ret[i]))
            return -FK_E_NOMEM;
    return 0;
}

// Two independent multiplications a step, so that they overlap: a stack has dozens of frames.
static uint64_t hash_frames(const uint32_t *f, uint32_t n)
{
    uint64_t a = n, b = 0x9e3779b97f4a7c15u;
    uint32_t i = 0;
    for (; i + 1 < n; i += 2) {
        a = (a ^ f[i]) * 0xff51afd7ed558ccdu;
        b = (b ^ f[i + 1]) * 0xc4ceb9fe1a85ec53u;
        a ^= a >> 32;
        b ^= b >> 29;
    }
    if (i < n)
        a = (a ^ f[i]) * 0xff51afd7ed558ccdu;
    return fk_hash_u64(a ^ (b << 1 | b >> 63));
}

int fk_dict_stack(struct fk_dict *d, const uint32_t *frames, uint32_t n, uint32_t *ret)
{
    uint64_t h = hash_frames(frames, n);
    const uint32_t *begin = d->column[STACK_BEGIN].v, *frame = d->column[FRAME].v;
    for (uint32_t at = fk_map_first(&d->stacks, h); at != FK_NONE;
         at = fk_map_next(&d->stacks, h, at)) {
        uint32_t id = fk_map_id(&d->stacks, at);
        if (begin[id + 1] - begin[id] == n &&
            (n == 0 || memcmp(frame + begin[id], frames, n * sizeof(*frames)) == 0)) {
            *ret = id;
            return 0;
        }
    }
    uint32_t id = d->column[STACK_BEGIN].n - 1, end = d->column[FRAME].n + n;
    if (column_reserve(d, FRAME, n) || column_reserve(d, STACK_BEGIN, 1) ||
        fk_map_add(&d->stacks, h, id))
        return -FK_E_NOMEM;
    column_put(d, FRAME, frames, n);
    column_put(d, STACK_BEGIN, &end, 1);
    *ret = id;
    return 0;
}

static int attr_order(const void *pa, const void *pb)
{
    const struct fk_attr *a = pa, *b = pb;
    if (a->key != b->key)
        return a->key < b->key ? -1 : 1;
    if (a->str != b->str)
        return a->str < b->str ? -1 : 1;
    if (a->num != b->num)
        return a->num < b->num ? -1 : 1;
    return a->unit < b->unit ? -1 : a->unit > b->unit;
}

static uint64_t hash_attrs(const struct fk_attr *a, uint32_t n)
{
    uint64_t h = n;
    for (uint32_t i = 0; i < n; i++) {
        h = fk_hash_u64(h * 31 + ((uint64_t)a[i].key << 32 | a[i].str));
        h = fk_hash_u64(h * 31 + ((uint64_t)a[i].num ^ (uint64_t)a[i].unit << 48));
    }
    return h;
}

int fk_dict_set(struct fk_dict *d, struct fk_attr *attrs, uint32_t n, uint32_t *ret)
{
    if (n == 0) {
        *ret = 0;
        return 0;
    }
    if (n > 1)
        qsort(attrs, n, sizeof(*attrs), attr_order);
    uint64_t h = hash_attrs(attrs, n);
    const uint32_t *begin = d->column[SET_BEGIN].v;
    const struct fk_attr *have = d->column[ATTR].v;
    for (uint32_t at = fk_map_first(&d->sets, h); at != FK_NONE;
         at = fk_map_next(&d->sets, h, at)) {
        uint32_t id = fk_map_id(&d->sets, at), i = 0;
        if (begin[id + 1] - begin[id] != n)
            continue;
        while (i < n && attr_order(&have[begin[id] + i], &attrs[i]) == 0)
            i++;
        if (i == n) {
            *ret = id;
            return 0;
        }
    }
    uint32_t id = d->column[SET_BEGIN].n - 1, end = d->column[ATTR].n + n;
    if (column_reserve(d, ATTR, n) || column_reserve(d, SET_BEGIN, 1) ||
        fk_map_add(&d->sets, h, id))
        return -FK_E_NOMEM;
    column_put(d, ATTR, attrs, n);
    column_put(d, SET_BEGIN, &end, 1);
    *ret = id;
    return 0;
}
