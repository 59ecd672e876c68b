// SPDX-License-Identifier: Apache-2.0
// A pprof for `go build -pgo`. The compiler takes samples/count or cpu/nanoseconds, whichever comes
// first, and of each stack only what calls among the two innermost locations tell (Go's
// internal/profile/graph.go, NewGraph): caller, line within it, callee. So stacks are cut to these
// two, addresses, files, mappings and attributes dropped, and what is then equal is added up.
#include "formats/formats_int.h"

struct slim {
    const struct fk_profile *p;
    struct fk_arena arena;
    struct fk_builder *b;
    struct fk_dict *dict;
    uint32_t *function;    // per function of p: id in dict, FK_NONE not asked yet
    uint32_t *location[2]; // per location of p: as the leaf, as its caller
    bool start_lines;      // some function says where it starts
};

// FK_NONE: there is none.
static uint32_t find_column(const struct fk_profile *p)
{
    static const struct fk_str wanted[][2] = {{{"samples", 7}, {"count", 5}},
                                              {{"cpu", 3}, {"nanoseconds", 11}}};
    for (uint32_t k = 0; k < p->n_types; k++)
        for (size_t i = 0; i < FK_COUNTOF(wanted); i++)
            if (fk_str_eq(p->type[k].type, wanted[i][0]) &&
                fk_str_eq(p->type[k].unit, wanted[i][1]))
                return k;
    return FK_NONE;
}

static int put_function(struct slim *s, uint32_t id, uint32_t *ret)
{
    const struct fk_symbols *sym = &s->p->sym;
    struct fk_function f = {.start_line = sym->function[id].start_line};
    int rc = 0;
    s->start_lines |= f.start_line != 0;
    if (s->function[id] == FK_NONE) {
        rc = fk_dict_string(s->dict, sym->string[sym->function[id].name], &f.name);
        if (!rc)
            rc = fk_dict_function(s->dict, &f, &s->function[id]);
    }
    *ret = s->function[id];
    return rc;
}

// The compiler tells nodes apart by address too: a function that calls itself is an edge when the
// two addresses differ. 0 for leaves and 1 for callers keeps that.
static int put_location(struct slim *s, uint32_t id, uint32_t caller, uint32_t *ret)
{
    const struct fk_symbols *sym = &s->p->sym;
    const struct fk_location *from = &sym->location[id];
    uint32_t *known = &s->location[caller][id];
    int rc = 0;
    if (*known == FK_NONE) {
        struct fk_location l = {
            .mapping = FK_NONE, .address = caller, .line_count = from->line_count};
        struct fk_line *line = fk_arena_array(&s->arena, l.line_count + (size_t)1, sizeof(*line));
        if (!line)
            return -FK_E_NOMEM;
        for (uint32_t i = 0; !rc && i < l.line_count; i++) {
            const struct fk_line *was = &sym->line[from->line_begin + i];
            line[i] = (struct fk_line){.function = FK_NONE, .line = was->line};
            if (was->function != FK_NONE)
                rc = put_function(s, was->function, &line[i].function);
        }
        if (!rc)
            rc = fk_dict_location(s->dict, &l, line, known);
    }
    *ret = *known;
    return rc;
}

static bool same_place(const struct fk_symbols *sym, uint32_t a, uint32_t b)
{
    const struct fk_location *x = &sym->location[a], *y = &sym->location[b];
    return a == b || (x->mapping == y->mapping && x->address == y->address);
}

static int put_row(struct slim *s, uint32_t stack, int64_t value, struct fk_err *err)
{
    const struct fk_symbols *sym = &s->p->sym;
    const uint32_t *from = sym->frame + sym->stack_begin[stack];
    uint32_t n = FK_MIN(sym->stack_begin[stack + 1] - sym->stack_begin[stack], 2u), frame[2], to;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t caller = i == 1 && !same_place(sym, from[0], from[1]);
        if (put_location(s, from[i], caller, &frame[i]))
            return fk_fail_nomem(err);
    }
    if (fk_dict_stack(s->dict, frame, n, &to))
        return fk_fail_nomem(err);
    return fk_builder_add(s->b, to, 0, &value, err);
}

static int put_rows(struct slim *s, uint32_t column, struct fk_err *err)
{
    const struct fk_profile *p = s->p;
    for (uint64_t r = 0; r < p->n_rows; r++) {
        uint64_t o = p->obs_begin ? p->obs_begin[r] : r;
        uint64_t end = p->obs_begin ? p->obs_begin[r + 1] : r + 1;
        int64_t value = 0;
        for (; o < end; o++)
            value = fk_wrap_add(value, p->value[column][o]);
        int rc = value ? put_row(s, p->stack[r], value, err) : 0;
        if (rc)
            return rc;
    }
    return 0;
}

static int start(struct slim *s, const struct fk_profile *p, uint32_t column, struct fk_err *err)
{
    const struct fk_symbols *sym = &p->sym;
    s->p = p;
    fk_arena_init(&s->arena, 0);
    s->b = fk_builder_new(&s->arena, UINT32_MAX, "");
    s->function = fk_arena_array(&s->arena, sym->n_functions + (size_t)1, sizeof(uint32_t));
    for (int i = 0; i < 2; i++)
        s->location[i] = fk_arena_array(&s->arena, sym->n_locations + (size_t)1, sizeof(uint32_t));
    if (!s->b || !s->function || !s->location[0] || !s->location[1])
        return fk_fail_nomem(err);
    memset(s->function, 0xff, sym->n_functions * sizeof(uint32_t));
    for (int i = 0; i < 2; i++)
        memset(s->location[i], 0xff, sym->n_locations * sizeof(uint32_t));
    s->dict = fk_builder_dict(s->b);
    return fk_builder_type(s->b, p->type[column].type, p->type[column].unit, p->type[column].kind)
               ? fk_fail_nomem(err)
               : 0;
}

static int finish(struct slim *s, struct fk_profile *ret, struct fk_err *err)
{
    int rc = fk_builder_finish(s->b, ret, err);
    if (rc)
        return rc;
    if (ret->n_rows && !s->start_lines)
        return fk_fail(err, FK_E_UNSUPPORTED,
                       "pgo: no function of this profile says at which line it starts, without "
                       "which go build takes no profile (programs of Go 1.20 and later say it)");
    ret->time_ns_start = s->p->time_ns_start;
    ret->duration_ns = s->p->duration_ns;
    ret->period = s->p->period;
    ret->period_type = s->p->period_type;
    ret->period_unit = s->p->period_unit;
    ret->has_period_type = s->p->has_period_type;
    return 0;
}

int fk_pgo_encode(const struct fk_profile *p, const struct fk_encode_opts *opts, struct fk_out out,
                  struct fk_err *err)
{
    struct fk_profile small;
    struct slim s = {0};
    uint32_t column = find_column(p);
    if (column == FK_NONE)
        return fk_fail(err, FK_E_UNSUPPORTED,
                       "pgo: go build needs samples/count or cpu/nanoseconds; this profile has "
                       "%.*s/%.*s",
                       FK_STR_ARG(p->n_types ? p->type[0].type : FK_S("no")),
                       FK_STR_ARG(p->n_types ? p->type[0].unit : FK_S("values")));
    int rc = start(&s, p, column, err);
    if (!rc)
        rc = put_rows(&s, column, err);
    if (!rc)
        rc = finish(&s, &small, err);
    if (!rc)
        rc = fk_pprof_encode(&small, opts, out, err);
    fk_builder_free(s.b);
    fk_arena_free(&s.arena);
    return rc;
}
