// SPDX-License-Identifier: Apache-2.0
// From the tables of an OTLP request to the dictionary of one entry: only what its samples reach.
#include "formats/otlp_int.h"

static const struct fk_str service_key = {"service.name", 12};

// ---- once for each set of tables ----

static int make_memo(struct otlp_symbols *s, int which, size_t n)
{
    struct fk_arena *a = s->q->d->arena;
    size_t bytes;
    if (fk_mul_size(n + 1, sizeof(uint32_t), &bytes))
        return -FK_E_NOMEM;
    s->stamp[which] = fk_arena_zalloc(a, bytes);
    s->memo[which] = fk_arena_alloc(a, bytes);
    return s->stamp[which] && s->memo[which] ? 0 : -FK_E_NOMEM;
}

static bool is_named(const struct otlp_tables *t, const struct fk_line *l)
{
    if (l->function >= t->n_functions)
        return false;
    const struct fk_function *f = &t->function[l->function];
    return f->name || f->system_name;
}

// From 1.8 on a mapping does not say what is known of its locations: it is so when it is of all.
static int make_flags(struct otlp_symbols *s)
{
    const struct otlp_tables *t = s->t;
    const uint32_t all = FK_PLACEMENT_HAS_FUNCTIONS | FK_PLACEMENT_HAS_FILENAMES |
                         FK_PLACEMENT_HAS_LINES | FK_PLACEMENT_HAS_INLINES;
    s->flags = fk_arena_array(s->q->d->arena, t->n_mappings + 1, sizeof(*s->flags));
    if (!s->flags)
        return -FK_E_NOMEM;
    for (size_t i = 0; i < t->n_mappings; i++)
        s->flags[i] = s->q->per_time && !t->mapping[i].has_flags ? all : t->mapping[i].flags;
    for (size_t i = 0; s->q->per_time && i < t->n_locations; i++) {
        const struct otlp_location *l = &t->location[i];
        if (l->mapping == FK_NONE || t->mapping[l->mapping].has_flags)
            continue;
        uint32_t has = l->line_count ? all & ~(uint32_t)FK_PLACEMENT_HAS_INLINES : 0;
        for (uint32_t k = 0; k < l->line_count; k++) {
            const struct fk_line *line = &t->line[l->line_begin + k];
            bool named = is_named(t, line);
            has &= named ? all : ~(uint32_t)FK_PLACEMENT_HAS_FUNCTIONS;
            has &= named && t->function[line->function].file
                       ? all
                       : ~(uint32_t)FK_PLACEMENT_HAS_FILENAMES;
            has &= line->line ? all : ~(uint32_t)FK_PLACEMENT_HAS_LINES;
        }
        s->flags[l->mapping] &= has;
    }
    return 0;
}

int otlp_symbols_make(struct otlp_symbols *s, const struct otlp_request *q,
                      const struct otlp_tables *t)
{
    struct fk_arena *a = q->d->arena;
    otlp_symbols_free(s);
    *s = (struct otlp_symbols){.q = q, .t = t};
    if (make_memo(s, OTLP_MEMO_FUNCTION, t->n_functions) ||
        make_memo(s, OTLP_MEMO_MAPPING, t->n_mappings) ||
        make_memo(s, OTLP_MEMO_LOCATION, t->n_locations) ||
        make_memo(s, OTLP_MEMO_STACK, t->n_stacks) || make_flags(s))
        return -FK_E_NOMEM;
    s->attr_stamp = fk_arena_zalloc(a, (t->n_attributes + 1) * sizeof(*s->attr_stamp));
    s->attr = fk_arena_array(a, t->n_attributes + 1, sizeof(*s->attr));
    if (!s->attr_stamp || !s->attr)
        return -FK_E_NOMEM;
    for (size_t i = 0; i < t->n_attributes; i++)
        s->has_service |= fk_str_eq(t->attribute[i].key, service_key);
    return 0;
}

void otlp_symbols_begin(struct otlp_symbols *s, struct fk_builder *b)
{
    s->builder = b;
    s->dict = fk_builder_dict(b);
    s->epoch++;
    fk_map_free(&s->ordinals);
    s->placed.n = 0;
    s->cut = 0;
}

void otlp_symbols_free(struct otlp_symbols *s)
{
    fk_map_free(&s->ordinals);
    fk_vec_free(&s->placed);
}

// ---- functions, mappings, locations ----

static int intern(const struct otlp_symbols *s, uint32_t string, uint32_t *ret)
{
    return fk_dict_string(s->dict, s->t->string[string], ret);
}

// A function without any name is none.
static int function_id(struct otlp_symbols *s, const struct fk_line *l, uint32_t *ret)
{
    *ret = FK_NONE;
    if (!is_named(s->t, l))
        return 0;
    uint32_t *stamp = &s->stamp[OTLP_MEMO_FUNCTION][l->function],
             *memo = &s->memo[OTLP_MEMO_FUNCTION][l->function];
    const struct fk_function *f = &s->t->function[l->function];
    struct fk_function to = {.start_line = f->start_line};
    if (*stamp != s->epoch) {
        if (intern(s, f->name ? f->name : f->system_name, &to.name) ||
            intern(s, f->system_name, &to.system_name) || intern(s, f->file, &to.file) ||
            fk_dict_function(s->dict, &to, memo))
            return -FK_E_NOMEM;
        *stamp = s->epoch;
    }
    *ret = *memo;
    return 0;
}

// Mappings of the same file are numbered in the order in which samples reach them.
static int next_ordinal(struct otlp_symbols *s, struct fk_mapping *m)
{
    uint64_t h = fk_hash_u64((uint64_t)m->file << 32 | m->build_id) ^ fk_hash_u64(m->offset);
    for (uint32_t at = fk_map_first(&s->ordinals, h); at != FK_NONE;
         at = fk_map_next(&s->ordinals, h, at)) {
        struct fk_mapping *have = &s->placed.v[fk_map_id(&s->ordinals, at)];
        if (have->file != m->file || have->build_id != m->build_id || have->offset != m->offset)
            continue;
        m->ordinal = have->ordinal++;
        return 0;
    }
    struct fk_mapping first = *m;
    first.ordinal = 1;
    if (fk_vec_push(&s->placed, first) || fk_map_add(&s->ordinals, h, (uint32_t)(s->placed.n - 1)))
        return -FK_E_NOMEM;
    m->ordinal = 0;
    return 0;
}

static int mapping_id(struct otlp_symbols *s, uint32_t index, uint32_t *ret)
{
    uint32_t *stamp = &s->stamp[OTLP_MEMO_MAPPING][index],
             *memo = &s->memo[OTLP_MEMO_MAPPING][index];
    const struct otlp_mapping *m = &s->t->mapping[index];
    if (*stamp != s->epoch) {
        struct fk_mapping to = {.offset = m->offset};
        struct fk_str build = m->build_text.n ? m->build_text : s->t->string[m->build_id];
        if (intern(s, m->file, &to.file) || fk_dict_string(s->dict, build, &to.build_id) ||
            next_ordinal(s, &to) || fk_dict_mapping(s->dict, &to, memo))
            return -FK_E_NOMEM;
        struct fk_placement place = {*memo, s->flags[index], m->start, m->limit};
        if (fk_builder_mapping(s->builder, &place))
            return -FK_E_NOMEM;
        *stamp = s->epoch;
    }
    *ret = *memo;
    return 0;
}

static int make_location(struct otlp_symbols *s, const struct otlp_location *l, uint32_t *ret)
{
    struct fk_location to = {.mapping = FK_NONE,
                             .flags = l->folded ? FK_LOCATION_FOLDED : 0u,
                             .line_count = l->line_count,
                             .address = l->address};
    struct fk_line *line = fk_arena_grow(s->q->d->arena, s->line, 0, &s->lines_cap,
                                         (size_t)l->line_count + 1, sizeof(*line));
    if (!line)
        return -FK_E_NOMEM;
    s->line = line;
    if (l->mapping != FK_NONE) {
        const struct otlp_mapping *m = &s->t->mapping[l->mapping];
        to.address += m->offset - m->start;
        if (mapping_id(s, l->mapping, &to.mapping))
            return -FK_E_NOMEM;
    }
    for (uint32_t i = 0; i < l->line_count; i++) {
        line[i] = s->t->line[l->line_begin + i];
        if (function_id(s, &s->t->line[l->line_begin + i], &line[i].function))
            return -FK_E_NOMEM;
    }
    return fk_dict_location(s->dict, &to, line, ret);
}

static int location_id(struct otlp_symbols *s, uint64_t index, uint32_t *ret)
{
    uint32_t *stamp = &s->stamp[OTLP_MEMO_LOCATION][index],
             *memo = &s->memo[OTLP_MEMO_LOCATION][index];
    if (*stamp != s->epoch) {
        if (make_location(s, &s->t->location[index], memo))
            return -FK_E_NOMEM;
        *stamp = s->epoch;
    }
    *ret = *memo;
    return 0;
}

// ---- stacks ----

// Leaf first; of too deep a stack the leaf's end is kept.
static int add_stack(struct otlp_symbols *s, const uint32_t *from, const uint64_t *wide, size_t n,
                     uint32_t *ret)
{
    uint64_t depth = s->q->d->opts->limits->stack_depth;
    if (n > depth) {
        s->cut++;
        n = (size_t)depth;
    }
    uint32_t *frame =
        fk_arena_grow(s->q->d->arena, s->frame, 0, &s->frames_cap, n + 1, sizeof(*frame));
    if (!frame)
        return -FK_E_NOMEM;
    s->frame = frame;
    for (size_t i = 0; i < n; i++)
        if (location_id(s, from ? from[i] : wide[i], &frame[i]))
            return -FK_E_NOMEM;
    return fk_dict_stack(s->dict, frame, (uint32_t)n, ret);
}

int otlp_symbols_stack(struct otlp_symbols *s, const struct otlp_sample *sample, uint32_t *ret)
{
    const struct otlp_tables *t = s->t;
    if (sample->location.n)
        return add_stack(s, NULL, sample->location.v, sample->location.n, ret);
    if (!s->q->per_time)
        return add_stack(s, t->index + (sample->length ? sample->start : 0), NULL,
                         (size_t)sample->length, ret);
    if (sample->stack >= t->n_stacks)
        return add_stack(s, t->frame, NULL, 0, ret);
    uint32_t *stamp = &s->stamp[OTLP_MEMO_STACK][sample->stack],
             *memo = &s->memo[OTLP_MEMO_STACK][sample->stack];
    uint32_t begin = t->stack_begin[sample->stack], end = t->stack_begin[sample->stack + 1];
    if (*stamp != s->epoch) {
        if (add_stack(s, t->frame + begin, NULL, end - begin, memo))
            return -FK_E_NOMEM;
        *stamp = s->epoch;
    }
    *ret = *memo;
    return 0;
}

// ---- attributes ----

int otlp_symbols_pair(struct otlp_symbols *s, struct fk_str key, const struct otlp_value *value,
                      struct fk_str unit, struct fk_attr *ret)
{
    *ret = (struct fk_attr){0};
    if (key.n == 0 || value->text.n == 0 || fk_str_eq(key, service_key))
        return 0;
    if (fk_dict_string(s->dict, key, &ret->key))
        return -FK_E_NOMEM;
    if (!value->is_number || unit.n == 0)
        return fk_dict_string(s->dict, value->text, &ret->str);
    ret->num = value->number;
    return fk_dict_string(s->dict, fk_str_eq(unit, FK_S("1")) ? FK_S("") : unit, &ret->unit);
}

int otlp_symbols_attr(struct otlp_symbols *s, uint64_t index, struct fk_attr *ret)
{
    const struct otlp_attribute *a = &s->t->attribute[index];
    struct otlp_value value;
    if (s->attr_stamp[index] != s->epoch) {
        if (otlp_value_read(s->q, s->t, a->value, &value) ||
            otlp_symbols_pair(s, a->key, &value, a->unit, &s->attr[index]))
            return -FK_E_NOMEM;
        s->attr_stamp[index] = s->epoch;
    }
    *ret = s->attr[index];
    return 0;
}
