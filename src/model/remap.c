// SPDX-License-Identifier: Apache-2.0
// Carrying one source's symbols into a dictionary, each only when a row asks for it.
#include "model/model.h"

#define WANTED (FK_NONE - 1) // on the list of those to be mapped; never an id

struct ids {
    uint32_t *v; // FK_NONE: not yet mapped
    size_t cap;
    FK_VEC(uint32_t) wanted;
};

struct fk_remap {
    struct fk_dict *to;
    const struct fk_symbols *from;
    struct ids string, function, mapping, location, stack, set;
    FK_VEC(uint32_t) frames;
    FK_VEC(struct fk_line) lines;
    FK_VEC(struct fk_attr) attrs;
};

struct fk_remap *fk_remap_new(void)
{
    return fk_calloc(1, sizeof(struct fk_remap));
}

void fk_remap_free(struct fk_remap *r)
{
    if (!r)
        return;
    struct ids *all[] = {&r->string, &r->function, &r->mapping, &r->location, &r->stack, &r->set};
    for (size_t i = 0; i < FK_COUNTOF(all); i++) {
        fk_free(all[i]->v);
        fk_vec_free(&all[i]->wanted);
    }
    fk_vec_free(&r->frames);
    fk_vec_free(&r->lines);
    fk_vec_free(&r->attrs);
    fk_free(r);
}

static int ids_start(struct ids *x, size_t n)
{
    x->wanted.n = 0;
    if (n > x->cap) {
        uint32_t *v = fk_reallocarray(x->v, n, sizeof(*v));
        if (!v)
            return -FK_E_NOMEM;
        x->v = v;
        x->cap = n;
    }
    if (n)
        memset(x->v, 0xff, n * sizeof(*x->v));
    return 0;
}

int fk_remap_start(struct fk_remap *r, struct fk_dict *to, const struct fk_symbols *from)
{
    r->to = to;
    r->from = from;
    if (ids_start(&r->string, from->n_strings) || ids_start(&r->function, from->n_functions) ||
        ids_start(&r->mapping, from->n_mappings) || ids_start(&r->location, from->n_locations) ||
        ids_start(&r->stack, from->n_stacks) || ids_start(&r->set, from->n_sets) ||
        fk_dict_expect(to, from))
        return -FK_E_NOMEM;
    return 0;
}

int fk_remap_string(struct fk_remap *r, uint32_t from, uint32_t *ret)
{
    uint32_t *id = &r->string.v[from];
    if (*id == FK_NONE && fk_dict_string(r->to, r->from->string[from], id))
        return -FK_E_NOMEM;
    *ret = *id;
    return 0;
}

static int remap_function(struct fk_remap *r, uint32_t from, uint32_t *ret)
{
    if (from == FK_NONE) {
        *ret = FK_NONE;
        return 0;
    }
    uint32_t *id = &r->function.v[from];
    if (*id == FK_NONE) {
        const struct fk_function *f = &r->from->function[from];
        struct fk_function g = {.start_line = f->start_line};
        if (fk_remap_string(r, f->name, &g.name) ||
            fk_remap_string(r, f->system_name, &g.system_name) ||
            fk_remap_string(r, f->file, &g.file) || fk_dict_function(r->to, &g, id))
            return -FK_E_NOMEM;
    }
    *ret = *id;
    return 0;
}

int fk_remap_mapping(struct fk_remap *r, uint32_t from, uint32_t *ret)
{
    if (from == FK_NONE) {
        *ret = FK_NONE;
        return 0;
    }
    uint32_t *id = &r->mapping.v[from];
    if (*id == FK_NONE) {
        struct fk_mapping m = r->from->mapping[from];
        if (fk_remap_string(r, m.file, &m.file) || fk_remap_string(r, m.build_id, &m.build_id) ||
            fk_dict_mapping(r->to, &m, id))
            return -FK_E_NOMEM;
    }
    *ret = *id;
    return 0;
}

int fk_remap_location(struct fk_remap *r, uint32_t from, uint32_t *ret)
{
    uint32_t *id = &r->location.v[from];
    if (*id == FK_NONE) {
        struct fk_location l = r->from->location[from];
        r->lines.n = 0;
        if (fk_vec_reserve(&r->lines, l.line_count) || fk_remap_mapping(r, l.mapping, &l.mapping))
            return -FK_E_NOMEM;
        for (uint32_t i = 0; i < l.line_count; i++) {
            struct fk_line line = r->from->line[l.line_begin + i];
            if (remap_function(r, line.function, &line.function))
                return -FK_E_NOMEM;
            r->lines.v[i] = line;
        }
        if (fk_dict_location(r->to, &l, r->lines.v, id))
            return -FK_E_NOMEM;
    }
    *ret = *id;
    return 0;
}

int fk_remap_stack(struct fk_remap *r, uint32_t from, uint32_t *ret)
{
    uint32_t *id = &r->stack.v[from];
    if (*id == FK_NONE) {
        uint32_t begin = r->from->stack_begin[from], n = r->from->stack_begin[from + 1] - begin;
        r->frames.n = 0;
        if (fk_vec_reserve(&r->frames, n))
            return -FK_E_NOMEM;
        for (uint32_t i = 0; i < n; i++) {
            uint32_t have = r->location.v[r->from->frame[begin + i]];
            if (have == FK_NONE && fk_remap_location(r, r->from->frame[begin + i], &have))
                return -FK_E_NOMEM;
            r->frames.v[i] = have;
        }
        if (fk_dict_stack(r->to, r->frames.v, n, id))
            return -FK_E_NOMEM;
    }
    *ret = *id;
    return 0;
}

int fk_remap_set(struct fk_remap *r, uint32_t from, uint32_t *ret)
{
    uint32_t *id = &r->set.v[from];
    if (*id == FK_NONE) {
        uint32_t begin = r->from->set_begin[from], n = r->from->set_begin[from + 1] - begin;
        r->attrs.n = 0;
        if (fk_vec_reserve(&r->attrs, n))
            return -FK_E_NOMEM;
        for (uint32_t i = 0; i < n; i++) {
            struct fk_attr a = r->from->attr[begin + i];
            if (fk_remap_string(r, a.key, &a.key) || fk_remap_string(r, a.str, &a.str) ||
                fk_remap_string(r, a.unit, &a.unit))
                return -FK_E_NOMEM;
            r->attrs.v[i] = a;
        }
        if (fk_dict_set(r->to, r->attrs.v, n, id))
            return -FK_E_NOMEM;
    }
    *ret = *id;
    return 0;
}

// ---- many at once: what the rows reach is listed first, then mapped floor by floor ----

static int want(struct ids *x, uint32_t id)
{
    if (id == FK_NONE || x->v[id] != FK_NONE)
        return 0;
    x->v[id] = WANTED;
    return fk_vec_push(&x->wanted, id);
}

static int want_symbols(struct fk_remap *r, const uint32_t *stack, uint64_t n)
{
    const struct fk_symbols *s = r->from;
    int failed = 0;
    for (uint64_t i = 0; i < n; i++)
        if (r->stack.v[stack[i]] == FK_NONE)
            for (uint32_t f = s->stack_begin[stack[i]]; f < s->stack_begin[stack[i] + 1]; f++)
                failed |= want(&r->location, s->frame[f]);
    for (size_t i = 0; i < r->location.wanted.n; i++) {
        const struct fk_location *l = &s->location[r->location.wanted.v[i]];
        for (uint32_t k = 0; k < l->line_count; k++)
            failed |= want(&r->function, s->line[l->line_begin + k].function);
    }
    for (size_t i = 0; i < r->function.wanted.n; i++) {
        const struct fk_function *f = &s->function[r->function.wanted.v[i]];
        failed |= want(&r->string, f->name) | want(&r->string, f->system_name) |
                  want(&r->string, f->file);
    }
    return failed ? -FK_E_NOMEM : 0;
}

// The next of the wanted ids, at most a batch.
static uint32_t batch_of(const struct ids *x, size_t at)
{
    return (uint32_t)FK_MIN(x->wanted.n - at, (size_t)FK_DICT_BATCH);
}

static void settle(struct ids *x, size_t at, uint32_t n, const uint32_t *id)
{
    for (uint32_t i = 0; i < n; i++)
        x->v[x->wanted.v[at + i]] = id[i];
}

static int map_strings(struct fk_remap *r)
{
    struct fk_str s[FK_DICT_BATCH];
    uint32_t id[FK_DICT_BATCH], n;
    for (size_t at = 0; at < r->string.wanted.n; at += n) {
        n = batch_of(&r->string, at);
        for (uint32_t i = 0; i < n; i++)
            s[i] = r->from->string[r->string.wanted.v[at + i]];
        if (fk_dict_strings(r->to, s, n, id))
            return -FK_E_NOMEM;
        settle(&r->string, at, n, id);
    }
    r->string.wanted.n = 0;
    return 0;
}

static int map_functions(struct fk_remap *r)
{
    struct fk_function f[FK_DICT_BATCH];
    uint32_t id[FK_DICT_BATCH], n;
    const uint32_t *string = r->string.v;
    for (size_t at = 0; at < r->function.wanted.n; at += n) {
        n = batch_of(&r->function, at);
        for (uint32_t i = 0; i < n; i++) {
            const struct fk_function *g = &r->from->function[r->function.wanted.v[at + i]];
            f[i] = (struct fk_function){string[g->name], string[g->system_name], string[g->file],
                                        g->start_line};
        }
        if (fk_dict_functions(r->to, f, n, id))
            return -FK_E_NOMEM;
        settle(&r->function, at, n, id);
    }
    r->function.wanted.n = 0;
    return 0;
}

// A location with its lines, in terms of the dictionary.
static int take_location(struct fk_remap *r, uint32_t from, struct fk_location *ret)
{
    struct fk_location l = r->from->location[from];
    uint32_t begin = (uint32_t)r->lines.n;
    if (fk_remap_mapping(r, l.mapping, &l.mapping) || fk_vec_reserve(&r->lines, l.line_count))
        return -FK_E_NOMEM;
    for (uint32_t k = 0; k < l.line_count; k++) {
        struct fk_line line = r->from->line[l.line_begin + k];
        if (line.function != FK_NONE)
            line.function = r->function.v[line.function];
        r->lines.v[begin + k] = line;
    }
    r->lines.n += l.line_count;
    l.line_begin = begin;
    *ret = l;
    return 0;
}

static int map_locations(struct fk_remap *r)
{
    struct fk_location l[FK_DICT_BATCH];
    uint32_t id[FK_DICT_BATCH], n;
    for (size_t at = 0; at < r->location.wanted.n; at += n) {
        n = batch_of(&r->location, at);
        r->lines.n = 0;
        for (uint32_t i = 0; i < n; i++)
            if (take_location(r, r->location.wanted.v[at + i], &l[i]))
                return -FK_E_NOMEM;
        if (fk_dict_locations(r->to, l, r->lines.v, n, id))
            return -FK_E_NOMEM;
        settle(&r->location, at, n, id);
    }
    r->location.wanted.n = 0;
    return 0;
}

int fk_remap_stacks(struct fk_remap *r, const uint32_t *from, uint64_t n, uint32_t *ret)
{
    if (want_symbols(r, from, n) || map_strings(r) || map_functions(r) || map_locations(r))
        return -FK_E_NOMEM;
    for (uint64_t i = 0; i < n; i++)
        if (fk_remap_stack(r, from[i], &ret[i]))
            return -FK_E_NOMEM;
    return 0;
}
