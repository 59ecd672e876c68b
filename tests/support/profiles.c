// SPDX-License-Identifier: Apache-2.0
// Generated profiles and their canonical text.
#include "support/profiles.h"

#include <stdio.h>
#include <stdlib.h>

uint64_t fk_rng_next(struct fk_rng *r)
{
    r->s = r->s ? r->s : 88172645463325252u;
    r->s ^= r->s << 13;
    r->s ^= r->s >> 7;
    return r->s ^= r->s << 17;
}

uint32_t fk_rng_below(struct fk_rng *r, uint32_t n)
{
    return (uint32_t)((fk_rng_next(r) >> 11) % n);
}

static void must(int r)
{
    if (r) {
        fprintf(stderr, "test support: out of memory\n");
        abort();
    }
}

static uint32_t gen_location(struct fk_rng *rng, const struct fk_gen *g, struct fk_dict *d,
                             const uint32_t *mapping)
{
    char text[64];
    struct fk_line lines[3];
    struct fk_location l = {.mapping = g->mappings ? mapping[fk_rng_below(rng, 2)] : FK_NONE};
    uint32_t id, which = fk_rng_below(rng, g->functions);
    l.address = 0x1000 + which * 16u;
    l.line_count = which % 7 == 0 ? 0 : which % 5 == 0 ? 2 : 1;
    for (uint32_t i = 0; i < l.line_count; i++) {
        struct fk_function f = {.start_line = 10 + (int64_t)which};
        snprintf(text, sizeof(text), "pkg%u.function%u_%u", which % 13, which, i);
        must(fk_dict_string(d, fk_str_of(text), &f.name));
        snprintf(text, sizeof(text), "file%u.c", which % 9);
        must(fk_dict_string(d, fk_str_of(text), &f.file));
        f.system_name = f.name;
        lines[i] = (struct fk_line){.line = 11 + (int64_t)which, .column = i};
        must(fk_dict_function(d, &f, &lines[i].function));
    }
    must(fk_dict_location(d, &l, lines, &id));
    return id;
}

static void gen_mappings(struct fk_builder *b, uint32_t *mapping)
{
    for (uint32_t i = 0; i < 2; i++) {
        struct fk_mapping m = {.offset = i * 4096};
        must(fk_dict_string(fk_builder_dict(b), i ? FK_S("/lib/libx.so") : FK_S("/bin/app"),
                            &m.file));
        must(fk_dict_string(fk_builder_dict(b), i ? FK_S("") : FK_S("abcdef"), &m.build_id));
        must(fk_dict_mapping(fk_builder_dict(b), &m, &mapping[i]));
        must(fk_builder_mapping(
            b, &(struct fk_placement){mapping[i], i, 0x400000u + i * 0x10000, 0x500000u}));
    }
}

static uint32_t gen_set(struct fk_rng *rng, struct fk_dict *d)
{
    char text[32];
    struct fk_attr attrs[2] = {{.num = 0}, {.num = fk_rng_below(rng, 5)}};
    uint32_t id;
    snprintf(text, sizeof(text), "thread-%u", fk_rng_below(rng, 4));
    must(fk_dict_string(d, FK_S("thread"), &attrs[0].key));
    must(fk_dict_string(d, fk_str_of(text), &attrs[0].str));
    must(fk_dict_string(d, FK_S("bytes"), &attrs[1].key));
    must(fk_dict_string(d, FK_S("kb"), &attrs[1].unit));
    must(fk_dict_set(d, attrs, fk_rng_below(rng, 3), &id));
    return id;
}

static int64_t gen_value(struct fk_rng *rng, const struct fk_gen *g, uint32_t type)
{
    int64_t v =
        fk_rng_below(rng, 10) ? (int64_t)fk_rng_below(rng, 500) : (int64_t)(fk_rng_next(rng) >> 30);
    v = fk_rng_below(rng, 4) ? v : 0;
    if (g->negative && fk_rng_below(rng, 3) == 0)
        v = -v;
    return type == 1 ? v * 1000 : v;
}

void fk_gen_profile(struct fk_rng *rng, const struct fk_gen *g, struct fk_arena *a,
                    struct fk_profile *ret)
{
    static const char *const names[] = {"samples", "cpu", "alloc_space", "delay"};
    struct fk_builder *b = fk_builder_new(a, 1000000, "");
    struct fk_err err = {0};
    uint32_t mapping[2] = {FK_NONE, FK_NONE}, rows = fk_rng_below(rng, g->rows + 1);
    for (uint32_t t = 0; t < g->types; t++)
        must(fk_builder_type(b, fk_str_of(names[t % 4]),
                             t % 2 ? FK_S("nanoseconds") : FK_S("count"), FK_KIND_DELTA));
    if (g->mappings)
        gen_mappings(b, mapping);
    for (uint32_t i = 0; i < rows; i++) {
        uint32_t frames[64], depth = fk_rng_below(rng, g->depth + 1), stack, set = 0, n = 1;
        int64_t values[3 * 4], times[3];
        for (uint32_t f = 0; f < depth; f++)
            frames[f] = gen_location(rng, g, fk_builder_dict(b), mapping);
        must(fk_dict_stack(fk_builder_dict(b), frames, depth, &stack));
        if (g->attributes)
            set = gen_set(rng, fk_builder_dict(b));
        if (g->observations)
            n += fk_rng_below(rng, 3);
        for (uint32_t k = 0; k < n * g->types; k++)
            values[k] = k % g->types == 1 && !g->negative ? values[k - 1] * 10000
                                                          : gen_value(rng, g, k % g->types);
        for (uint32_t k = 0; k < n; k++)
            times[k] = 1700000000000000000 + fk_rng_below(rng, 1000000000);
        must(fk_builder_sample(b, stack, set, values, g->times ? times : NULL, n, &err));
    }
    must(fk_builder_finish(b, ret, &err));
    fk_builder_free(b);
    ret->time_ns_start = 1700000000000000000;
    ret->duration_ns = 10000000000;
    ret->period = 10000000;
    ret->has_period_type = true;
    ret->period_type = FK_S("cpu");
    ret->period_unit = FK_S("nanoseconds");
}

void fk_gen_entry(const struct fk_profile *p, const char *service, uint32_t pod, int64_t time_ns,
                  struct fk_arena *a, struct fk_entry *ret)
{
    struct fk_err err = {0};
    struct fk_label in[] = {{FK_S("service_name"), fk_str_of(service)},
                            {FK_S("pod"), fk_arena_printf(a, "pod-%u", pod)},
                            {FK_S("__name__"), FK_S("process_cpu")}};
    struct fk_label note = {FK_S("client_id"),
                            fk_arena_printf(a, "client-%llx", (unsigned long long)time_ns)};
    struct fk_entry e = {.time_ns = time_ns,
                         .duration_ns = p->duration_ns,
                         .received_ns = time_ns + 1000,
                         .samples = p->n_rows};
    must(fk_labels_make(a, in, FK_COUNTOF(in), &e.labels, &err));
    must(fk_labels_make(a, &note, 1, &e.annotations, &err));
    struct fk_entry_type *type = fk_arena_array(a, p->n_types + 1, sizeof(*type));
    must(type == NULL);
    for (uint32_t t = 0; t < p->n_types; t++)
        type[t] = (struct fk_entry_type){p->type[t].type, p->type[t].unit, p->type[t].kind,
                                         fk_profile_total(p, t)};
    e.type = type;
    e.n_types = p->n_types;
    e.period_type = p->period_type;
    e.period_unit = p->period_unit;
    *ret = e;
}

// ---- canonical text ----

static uint32_t placement_of(const struct fk_profile *p, uint32_t mapping)
{
    for (uint32_t i = 0; i < p->n_placements; i++)
        if (p->placement[i].mapping == mapping)
            return i;
    return FK_NONE;
}

static void location_text(const struct fk_profile *p, uint32_t id, struct fk_buf *to)
{
    const struct fk_symbols *s = &p->sym;
    const struct fk_location *l = &s->location[id];
    fk_buf_printf(to, " %d@%llx/%u[", (int)placement_of(p, l->mapping),
                  (unsigned long long)l->address, l->flags);
    for (uint32_t i = 0; i < l->line_count; i++) {
        const struct fk_line *line = &s->line[l->line_begin + i];
        if (line->function != FK_NONE) {
            const struct fk_function *f = &s->function[line->function];
            fk_buf_str(to, s->string[f->name]);
            fk_buf_byte(to, ',');
            fk_buf_str(to, s->string[f->system_name]);
            fk_buf_byte(to, ',');
            fk_buf_str(to, s->string[f->file]);
            fk_buf_printf(to, ",%lld", (long long)f->start_line);
        }
        fk_buf_printf(to, ":%lld:%lld;", (long long)line->line, (long long)line->column);
    }
    fk_buf_byte(to, ']');
}

static int by_string(const void *pa, const void *pb)
{
    return fk_str_cmp(*(const struct fk_str *)pa, *(const struct fk_str *)pb);
}

static void set_text(const struct fk_profile *p, uint32_t set, struct fk_buf *to)
{
    struct fk_str attrs[16];
    struct fk_arena a;
    size_t n = 0;
    fk_arena_init(&a, 0);
    for (uint32_t k = p->sym.set_begin[set]; k < p->sym.set_begin[set + 1]; k++) {
        const struct fk_attr *x = &p->sym.attr[k];
        struct fk_str key = p->sym.string[x->key], str = p->sym.string[x->str],
                      unit = p->sym.string[x->unit];
        attrs[n++] = fk_arena_printf(&a, "%.*s=%.*s/%lld%.*s,", FK_STR_ARG(key), FK_STR_ARG(str),
                                     (long long)x->num, FK_STR_ARG(unit));
    }
    qsort(attrs, n, sizeof(*attrs), by_string);
    for (size_t i = 0; i < n; i++)
        fk_buf_str(to, attrs[i]);
    fk_arena_free(&a);
}

static void row_text(const struct fk_profile *p, uint64_t row, struct fk_buf *to)
{
    uint64_t from = p->obs_begin ? p->obs_begin[row] : row,
             end = p->obs_begin ? p->obs_begin[row + 1] : row + 1;
    fk_buf_cstr(to, "{");
    if (p->set)
        set_text(p, p->set[row], to);
    fk_buf_cstr(to, "}");
    uint32_t stack = p->stack[row];
    for (uint32_t f = p->sym.stack_begin[stack]; f < p->sym.stack_begin[stack + 1]; f++)
        location_text(p, p->sym.frame[f], to);
    for (; from < end; from++) {
        fk_buf_cstr(to, " |");
        for (uint32_t t = 0; t < p->n_types; t++)
            fk_buf_printf(to, " %lld", (long long)p->value[t][from]);
        if (p->time_ns)
            fk_buf_printf(to, " @%lld", (long long)p->time_ns[from]);
    }
}

static void facts_text(const struct fk_profile *p, struct fk_buf *to)
{
    fk_buf_printf(to, "time %lld duration %lld period %lld\n", (long long)p->time_ns_start,
                  (long long)p->duration_ns, (long long)p->period);
    for (uint32_t t = 0; t < p->n_types; t++)
        fk_buf_printf(to, "type %.*s/%.*s\n", FK_STR_ARG(p->type[t].type),
                      FK_STR_ARG(p->type[t].unit));
    for (uint32_t i = 0; i < p->n_placements; i++) {
        const struct fk_placement *l = &p->placement[i];
        const struct fk_mapping *m = &p->sym.mapping[l->mapping];
        fk_buf_printf(to, "mapping %.*s %.*s %llx %llx-%llx %u\n",
                      FK_STR_ARG(p->sym.string[m->file]), FK_STR_ARG(p->sym.string[m->build_id]),
                      (unsigned long long)m->offset, (unsigned long long)l->start,
                      (unsigned long long)l->limit, l->flags);
    }
    for (uint32_t i = 0; i < p->n_comments; i++)
        fk_buf_printf(to, "comment %.*s\n", FK_STR_ARG(p->comment[i]));
}

void fk_profile_text(const struct fk_profile *p, struct fk_buf *to)
{
    struct fk_arena a;
    fk_arena_init(&a, 0);
    struct fk_str *rows = fk_arena_array(&a, (size_t)p->n_rows + 1, sizeof(*rows));
    must(rows == NULL);
    facts_text(p, to);
    for (uint64_t i = 0; i < p->n_rows; i++) {
        struct fk_buf one;
        fk_buf_init(&one, 0);
        row_text(p, i, &one);
        rows[i] = fk_arena_str(&a, fk_buf_view(&one));
        fk_buf_free(&one);
    }
    qsort(rows, (size_t)p->n_rows, sizeof(*rows), by_string);
    for (uint64_t i = 0; i < p->n_rows; i++) {
        fk_buf_str(to, rows[i]);
        fk_buf_byte(to, '\n');
    }
    fk_arena_free(&a);
}
