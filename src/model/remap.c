// SPDX-License-Identifier: Apache-2.0
// Carrying one source's symbols into a dictionary, each only when a row asks for it.
#include "model/model.h"

struct ids {
    uint32_t *v; // FK_NONE: not yet mapped
    size_t cap;
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
    for (size_t i = 0; i < FK_COUNTOF(all); i++)
        fk_free(all[i]->v);
    fk_vec_free(&r->frames);
    fk_vec_free(&r->lines);
    fk_vec_free(&r->attrs);
    fk_free(r);
}

static int ids_start(struct ids *x, size_t n)
{
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
        ids_start(&r->stack, from->n_stacks) || ids_start(&r->set, from->n_sets))
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
