// SPDX-License-Identifier: Apache-2.0
// Building a profile row by row, for decoders whose source has no tables of its own.
#include "model/model.h"

struct row_key {
    uint32_t stack, set;
};

struct fk_builder {
    struct fk_arena *arena;
    struct fk_dict *dict;
    uint64_t max_rows;
    const char *flag;
    FK_VEC(struct fk_value_type) types;
    FK_VEC(struct fk_placement) placements;
    FK_VEC(struct row_key) rows;
    FK_VEC(uint64_t) obs_end;
    FK_VEC(int64_t) values;  // observation-major: [obs][type]
    FK_VEC(int64_t) times;   // per observation, FK_NO_TIME where none
    struct fk_map row_index; // (stack, set) -> first row, of rows made by fk_builder_add
    bool has_times;
};

struct fk_builder *fk_builder_new(struct fk_arena *a, uint64_t max_rows, const char *flag)
{
    struct fk_builder *b = fk_calloc(1, sizeof(*b));
    if (!b)
        return NULL;
    b->arena = a;
    b->max_rows = max_rows;
    b->flag = flag;
    b->dict = fk_dict_new(false);
    if (!b->dict) {
        fk_free(b);
        return NULL;
    }
    return b;
}

void fk_builder_free(struct fk_builder *b)
{
    if (!b)
        return;
    fk_dict_free(b->dict);
    fk_vec_free(&b->types);
    fk_vec_free(&b->placements);
    fk_vec_free(&b->rows);
    fk_vec_free(&b->obs_end);
    fk_vec_free(&b->values);
    fk_vec_free(&b->times);
    fk_map_free(&b->row_index);
    fk_free(b);
}

struct fk_dict *fk_builder_dict(struct fk_builder *b)
{
    return b->dict;
}

int fk_builder_type(struct fk_builder *b, struct fk_str type, struct fk_str unit, enum fk_kind kind)
{
    struct fk_value_type t = {fk_arena_str(b->arena, type), fk_arena_str(b->arena, unit), kind};
    if (!t.type.p || !t.unit.p || fk_vec_push(&b->types, t))
        return -FK_E_NOMEM;
    return 0;
}

int fk_builder_mapping(struct fk_builder *b, const struct fk_placement *p)
{
    return fk_vec_push(&b->placements, *p) ? -FK_E_NOMEM : 0;
}

int fk_builder_sample(struct fk_builder *b, uint32_t stack, uint32_t set, const int64_t *values,
                      const int64_t *times_ns, size_t n, struct fk_err *err)
{
    size_t n_values;
    assert(n >= 1);
    if (b->rows.n >= b->max_rows)
        return fk_fail_limit(err, "rows", b->max_rows, b->flag,
                             "the profile has too many sample rows");
    if (fk_mul_size(n, b->types.n, &n_values) || fk_vec_reserve(&b->rows, 1) ||
        fk_vec_reserve(&b->obs_end, 1) || fk_vec_reserve(&b->values, n_values) ||
        fk_vec_reserve(&b->times, n))
        return fk_fail_nomem(err);
    b->rows.v[b->rows.n++] = (struct row_key){stack, set};
    if (n_values)
        memcpy(b->values.v + b->values.n, values, n_values * sizeof(*values));
    b->values.n += n_values;
    for (size_t i = 0; i < n; i++)
        b->times.v[b->times.n++] = times_ns ? times_ns[i] : FK_NO_TIME;
    b->has_times |= times_ns != NULL;
    b->obs_end.v[b->obs_end.n++] = b->times.n;
    return 0;
}

int fk_builder_add(struct fk_builder *b, uint32_t stack, uint32_t set, const int64_t *values,
                   struct fk_err *err)
{
    uint64_t h = fk_hash_u64((uint64_t)stack << 32 | set);
    for (uint32_t at = fk_map_first(&b->row_index, h); at != FK_NONE;
         at = fk_map_next(&b->row_index, h, at)) {
        uint32_t row = fk_map_id(&b->row_index, at);
        if (b->rows.v[row].stack != stack || b->rows.v[row].set != set)
            continue;
        int64_t *have = b->values.v + (b->obs_end.v[row] - 1) * b->types.n;
        for (size_t i = 0; i < b->types.n; i++)
            have[i] = fk_wrap_add(have[i], values[i]);
        return 0;
    }
    int r = fk_builder_sample(b, stack, set, values, NULL, 1, err);
    if (r == 0 && fk_map_add(&b->row_index, h, (uint32_t)(b->rows.n - 1)))
        r = fk_fail_nomem(err);
    return r;
}

// Copies a column into the arena.
static const void *keep(struct fk_arena *a, const void *p, size_t n, size_t size, bool *failed)
{
    void *copy = fk_arena_array(a, FK_MAX(n, (size_t)1), size);
    if (!copy)
        *failed = true;
    else if (n)
        memcpy(copy, p, n * size);
    return copy;
}

static bool keep_symbols(struct fk_builder *b, struct fk_symbols *s)
{
    struct fk_arena *a = b->arena;
    bool failed = false;
    fk_dict_view(b->dict, s);
    struct fk_str *strings = fk_arena_array(a, s->n_strings, sizeof(*strings));
    for (uint32_t i = 0; strings && i < s->n_strings; i++)
        failed |= !(strings[i] = fk_arena_str(a, s->string[i])).p;
    uint32_t frames = s->stack_begin[s->n_stacks], attrs = s->set_begin[s->n_sets];
    s->string = strings;
    s->function = keep(a, s->function, s->n_functions, sizeof(*s->function), &failed);
    s->mapping = keep(a, s->mapping, s->n_mappings, sizeof(*s->mapping), &failed);
    s->line = keep(a, s->line, s->n_lines, sizeof(*s->line), &failed);
    s->location = keep(a, s->location, s->n_locations, sizeof(*s->location), &failed);
    s->stack_begin =
        keep(a, s->stack_begin, (size_t)s->n_stacks + 1, sizeof(*s->stack_begin), &failed);
    s->frame = keep(a, s->frame, frames, sizeof(*s->frame), &failed);
    s->set_begin = keep(a, s->set_begin, (size_t)s->n_sets + 1, sizeof(*s->set_begin), &failed);
    s->attr = keep(a, s->attr, attrs, sizeof(*s->attr), &failed);
    return strings && !failed;
}

// The row columns apart from values.
static bool keep_rows(struct fk_builder *b, struct fk_profile *p)
{
    struct fk_arena *a = b->arena;
    bool failed = false, plain = b->times.n == b->rows.n;
    uint32_t *stack = fk_arena_array(a, FK_MAX(b->rows.n, (size_t)1), sizeof(*stack));
    uint32_t *set = fk_arena_array(a, FK_MAX(b->rows.n, (size_t)1), sizeof(*set));
    uint64_t *begin = plain ? NULL : fk_arena_array(a, b->rows.n + 1, sizeof(*begin));
    if (!stack || !set || (!plain && !begin))
        return false;
    for (size_t i = 0; i < b->rows.n; i++) {
        stack[i] = b->rows.v[i].stack;
        set[i] = b->rows.v[i].set;
        if (begin)
            begin[i + 1] = b->obs_end.v[i];
    }
    if (begin)
        begin[0] = 0;
    p->stack = stack;
    p->set = set;
    p->obs_begin = begin;
    p->time_ns = b->has_times ? keep(a, b->times.v, b->times.n, sizeof(int64_t), &failed) : NULL;
    return !failed;
}

static bool keep_values(struct fk_builder *b, struct fk_profile *p)
{
    size_t n_types = b->types.n, n_obs = b->times.n;
    const int64_t **column = fk_arena_array(b->arena, FK_MAX(n_types, (size_t)1), sizeof(*column));
    for (size_t t = 0; column && t < n_types; t++) {
        int64_t *v = fk_arena_array(b->arena, FK_MAX(n_obs, (size_t)1), sizeof(*v));
        if (!v)
            return false;
        for (size_t i = 0; i < n_obs; i++)
            v[i] = b->values.v[i * n_types + t];
        column[t] = v;
    }
    p->value = column;
    return column != NULL;
}

int fk_builder_finish(struct fk_builder *b, struct fk_profile *ret, struct fk_err *err)
{
    struct fk_profile p = {.n_rows = b->rows.n,
                           .n_obs = b->times.n,
                           .n_types = (uint32_t)b->types.n,
                           .n_placements = (uint32_t)b->placements.n};
    bool failed = false;
    p.type = keep(b->arena, b->types.v, b->types.n, sizeof(*p.type), &failed);
    p.placement = keep(b->arena, b->placements.v, b->placements.n, sizeof(*p.placement), &failed);
    if (failed || !keep_symbols(b, &p.sym) || !keep_rows(b, &p) || !keep_values(b, &p))
        return fk_fail_nomem(err);
    *ret = p;
    return 0;
}
