// SPDX-License-Identifier: Apache-2.0
// A pprof for `go build -pgo`. The compiler takes samples/count or cpu/nanoseconds, whichever comes
// first, and of each stack only the calls that its two innermost locations tell, inlined ones among
// them: caller, line within it, callee (Go's internal/profile/graph.go, NewGraph). So each of these
// calls is written as a stack of two frames, with the weight of all samples that have it: the
// compiler reads the same of it, and as a profile it means nothing.
#include "formats/formats_int.h"

// A frame as the compiler tells them apart.
struct spot {
    uint32_t location; // the first that has its address
    uint32_t function; // of the profile, FK_NONE
    int64_t line;
};

struct slim {
    const struct fk_profile *p;
    struct fk_arena arena;
    struct fk_builder *b;
    struct fk_dict *dict;
    uint32_t *function;        // per function of p: id in dict, FK_NONE not asked yet
    FK_VEC(struct spot) spots; // of the stack at hand, the innermost first
    bool start_lines;          // some function says where it starts
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

// Callers have the address 1, so that a function that calls itself is two nodes. Of a callee the
// line does not matter.
static int put_spot(struct slim *s, const struct spot *spot, bool caller, uint32_t *ret)
{
    struct fk_location l = {.mapping = FK_NONE, .address = caller, .line_count = 1};
    struct fk_line line = {.line = caller ? spot->line : 0};
    if (spot->function == FK_NONE) {
        l.line_count = 0;
    } else {
        int rc = put_function(s, spot->function, &line.function);
        if (rc)
            return rc;
    }
    return fk_dict_location(s->dict, &l, &line, ret);
}

// ---- calls ----

static int push_spots(struct slim *s, uint32_t id, uint32_t place)
{
    const struct fk_symbols *sym = &s->p->sym;
    const struct fk_location *l = &sym->location[id];
    if (!l->line_count)
        return fk_vec_push(&s->spots, (struct spot){place, FK_NONE, 0}) ? -FK_E_NOMEM : 0;
    for (uint32_t i = 0; i < l->line_count; i++) {
        const struct fk_line *line = &sym->line[l->line_begin + i];
        struct spot spot = {place, line->function, line->function == FK_NONE ? 0 : line->line};
        if (fk_vec_push(&s->spots, spot))
            return -FK_E_NOMEM;
    }
    return 0;
}

static bool same_spot(const struct fk_symbols *sym, const struct spot *a, const struct spot *b)
{
    if (a->location != b->location || a->line != b->line ||
        (a->function == FK_NONE) != (b->function == FK_NONE))
        return false;
    if (a->function == b->function)
        return true;
    const struct fk_function *f = &sym->function[a->function], *g = &sym->function[b->function];
    return f->start_line == g->start_line && fk_str_eq(sym->string[f->name], sym->string[g->name]);
}

// Whether the call at k (its callee) counts: not of a spot by itself, and once a stack.
static bool counts(const struct slim *s, size_t k)
{
    const struct fk_symbols *sym = &s->p->sym;
    const struct spot *v = s->spots.v;
    if (same_spot(sym, &v[k], &v[k + 1]))
        return false;
    for (size_t i = k + 1; i + 1 < s->spots.n; i++)
        if (same_spot(sym, &v[i], &v[k]) && same_spot(sym, &v[i + 1], &v[k + 1]))
            return false;
    return true;
}

static int put_row(struct slim *s, uint32_t stack, int64_t value, struct fk_err *err)
{
    const struct fk_symbols *sym = &s->p->sym;
    const uint32_t *from = sym->frame + sym->stack_begin[stack];
    uint32_t n = FK_MIN(sym->stack_begin[stack + 1] - sym->stack_begin[stack], 2u), frame[2], to;
    int rc = 0;
    s->spots.n = 0;
    for (uint32_t i = 0; !rc && i < n; i++) {
        const struct fk_location *a = &sym->location[from[0]], *b = &sym->location[from[i]];
        bool same = a->mapping == b->mapping && a->address == b->address;
        rc = push_spots(s, from[i], same ? from[0] : from[i]);
    }
    for (size_t k = 0; !rc && k + 1 < s->spots.n; k++) {
        if (!counts(s, k))
            continue;
        rc = put_spot(s, &s->spots.v[k], false, &frame[0]);
        if (!rc)
            rc = put_spot(s, &s->spots.v[k + 1], true, &frame[1]);
        if (!rc)
            rc = fk_dict_stack(s->dict, frame, 2, &to);
        if (!rc && (rc = fk_builder_add(s->b, to, 0, &value, err)))
            return rc;
    }
    return rc ? fk_fail_nomem(err) : 0;
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
    if (!s->b || !s->function)
        return fk_fail_nomem(err);
    memset(s->function, 0xff, sym->n_functions * sizeof(uint32_t));
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
    fk_vec_free(&s.spots);
    fk_arena_free(&s.arena);
    return rc;
}
