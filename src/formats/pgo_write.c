// SPDX-License-Identifier: Apache-2.0
// A pprof for `go build -pgo`. The compiler takes samples/count or cpu/nanoseconds, whichever comes
// first, and of each stack only the calls that its two innermost locations tell, inlined ones among
// them: caller, line within it, callee (Go's internal/profile/graph.go, NewGraph). So each of these
// calls is written as a stack of two frames, with the weight of all samples that have it. Lines are
// counted from the start of the function, which is line 1, and all is sorted, as that packs best.
// The compiler reads the same of it; as a profile it means nothing.
#include "formats/formats_int.h"

#include <stdlib.h>

// A frame as the compiler tells them apart.
struct spot {
    uint32_t location; // the first that has its address
    uint32_t function; // of the profile, FK_NONE
    int64_t line;
};

struct call {
    uint32_t caller, callee; // names, FK_NONE: a frame without function
    int64_t offset;          // of the caller's line from where it starts
    int64_t weight;
};

struct slim {
    const struct fk_profile *p;
    FK_VEC(struct spot) spots; // of the stack at hand, the innermost first
    FK_VEC(struct fk_str) names;
    struct fk_map name_index;
    uint32_t *name_of; // per function of p, FK_NONE: not asked yet
    FK_VEC(struct call) calls;
    struct fk_map call_index;
    bool start_lines; // some function says where it starts
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

// ---- names and calls, each once ----

static int name_of(struct slim *s, uint32_t function, uint32_t *ret)
{
    const struct fk_symbols *sym = &s->p->sym;
    *ret = FK_NONE;
    if (function == FK_NONE)
        return 0;
    s->start_lines |= sym->function[function].start_line != 0;
    if (s->name_of[function] == FK_NONE) {
        struct fk_str name = sym->string[sym->function[function].name];
        uint64_t h = fk_hash_str(name);
        uint32_t at = fk_map_first(&s->name_index, h);
        while (at != FK_NONE && !fk_str_eq(s->names.v[fk_map_id(&s->name_index, at)], name))
            at = fk_map_next(&s->name_index, h, at);
        uint32_t id = at == FK_NONE ? (uint32_t)s->names.n : fk_map_id(&s->name_index, at);
        if (at == FK_NONE && (fk_vec_push(&s->names, name) || fk_map_add(&s->name_index, h, id)))
            return -FK_E_NOMEM;
        s->name_of[function] = id;
    }
    *ret = s->name_of[function];
    return 0;
}

static int add_call(struct slim *s, const struct spot *callee, const struct spot *caller,
                    int64_t weight)
{
    struct call c = {.weight = weight};
    if (name_of(s, callee->function, &c.callee) || name_of(s, caller->function, &c.caller))
        return -FK_E_NOMEM;
    if (caller->function != FK_NONE)
        c.offset = fk_wrap_sub(caller->line, s->p->sym.function[caller->function].start_line);
    uint64_t h = fk_hash_u64((uint64_t)c.caller << 32 | c.callee) ^ fk_hash_u64((uint64_t)c.offset);
    for (uint32_t at = fk_map_first(&s->call_index, h); at != FK_NONE;
         at = fk_map_next(&s->call_index, h, at)) {
        struct call *x = &s->calls.v[fk_map_id(&s->call_index, at)];
        if (x->caller == c.caller && x->callee == c.callee && x->offset == c.offset) {
            x->weight = fk_wrap_add(x->weight, weight);
            return 0;
        }
    }
    return fk_vec_push(&s->calls, c) || fk_map_add(&s->call_index, h, (uint32_t)(s->calls.n - 1))
               ? -FK_E_NOMEM
               : 0;
}

// ---- stacks ----

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

static int put_row(struct slim *s, uint32_t stack, int64_t value)
{
    const struct fk_symbols *sym = &s->p->sym;
    const uint32_t *from = sym->frame + sym->stack_begin[stack];
    uint32_t n = FK_MIN(sym->stack_begin[stack + 1] - sym->stack_begin[stack], 2u);
    int rc = 0;
    s->spots.n = 0;
    for (uint32_t i = 0; !rc && i < n; i++) {
        const struct fk_location *a = &sym->location[from[0]], *b = &sym->location[from[i]];
        bool same = a->mapping == b->mapping && a->address == b->address;
        rc = push_spots(s, from[i], same ? from[0] : from[i]);
    }
    for (size_t k = 0; !rc && k + 1 < s->spots.n; k++)
        if (counts(s, k))
            rc = add_call(s, &s->spots.v[k], &s->spots.v[k + 1], value);
    return rc;
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
        if (value && put_row(s, p->stack[r], value))
            return fk_fail_nomem(err);
    }
    return 0;
}

// ---- the profile ----

struct ranked {
    struct fk_str name;
    uint32_t id;
};

static int by_name(const void *pa, const void *pb)
{
    return fk_str_cmp(((const struct ranked *)pa)->name, ((const struct ranked *)pb)->name);
}

static int by_place(const void *pa, const void *pb)
{
    const struct call *a = pa, *b = pb;
    if (a->caller != b->caller)
        return a->caller < b->caller ? -1 : 1;
    if (a->offset != b->offset)
        return a->offset < b->offset ? -1 : 1;
    return a->callee < b->callee ? -1 : a->callee > b->callee;
}

// Names in the order of bytes; calls in that of their names.
static int sort_all(struct slim *s, struct fk_arena *a)
{
    size_t n = s->names.n;
    struct ranked *v = fk_arena_array(a, n + 1, sizeof(*v));
    uint32_t *rank = fk_arena_array(a, n + 1, sizeof(*rank));
    if (!v || !rank)
        return -FK_E_NOMEM;
    for (size_t i = 0; i < n; i++)
        v[i] = (struct ranked){s->names.v[i], (uint32_t)i};
    qsort(v, n, sizeof(*v), by_name);
    for (size_t i = 0; i < n; i++) {
        rank[v[i].id] = (uint32_t)i;
        s->names.v[i] = v[i].name;
    }
    for (size_t i = 0; i < s->calls.n; i++) {
        struct call *c = &s->calls.v[i];
        c->caller = c->caller == FK_NONE ? FK_NONE : rank[c->caller];
        c->callee = c->callee == FK_NONE ? FK_NONE : rank[c->callee];
    }
    if (s->calls.n)
        qsort(s->calls.v, s->calls.n, sizeof(*s->calls.v), by_place);
    return 0;
}

// Of a callee the line does not matter. Callers have the address 1, so that a function that calls
// itself is two nodes.
static int put_frame(struct fk_dict *d, const uint32_t *function, uint32_t name, int64_t line,
                     uint64_t address, uint32_t *ret)
{
    struct fk_location l = {.mapping = FK_NONE, .address = address, .line_count = name != FK_NONE};
    struct fk_line at = {.function = name == FK_NONE ? FK_NONE : function[name], .line = line};
    return fk_dict_location(d, &l, &at, ret);
}

static int put_calls(const struct slim *s, struct fk_builder *b, struct fk_arena *a,
                     struct fk_err *err)
{
    struct fk_dict *d = fk_builder_dict(b);
    uint32_t *function = fk_arena_array(a, s->names.n + 1, sizeof(*function)), frame[2], stack;
    if (!function)
        return fk_fail_nomem(err);
    for (uint32_t i = 0; i < s->names.n; i++) {
        struct fk_function f = {.start_line = 1};
        if (fk_dict_string(d, s->names.v[i], &f.name) || fk_dict_function(d, &f, &function[i]) ||
            put_frame(d, function, i, 0, 0, &frame[0]))
            return fk_fail_nomem(err);
    }
    for (size_t i = 0; i < s->calls.n; i++) {
        const struct call *c = &s->calls.v[i];
        if (put_frame(d, function, c->callee, 0, 0, &frame[0]) ||
            put_frame(d, function, c->caller, fk_wrap_add(c->offset, 1), 1, &frame[1]) ||
            fk_dict_stack(d, frame, 2, &stack))
            return fk_fail_nomem(err);
        int rc = fk_builder_sample(b, stack, 0, &c->weight, NULL, 1, err);
        if (rc)
            return rc;
    }
    return 0;
}

static void copy_facts(const struct fk_profile *from, struct fk_profile *to)
{
    to->time_ns_start = from->time_ns_start;
    to->duration_ns = from->duration_ns;
    to->period = from->period;
    to->period_type = from->period_type;
    to->period_unit = from->period_unit;
    to->has_period_type = from->has_period_type;
}

static int write_calls(struct slim *s, const struct fk_value_type *type,
                       const struct fk_encode_opts *opts, struct fk_out out, struct fk_err *err)
{
    FK_AUTO_ARENA a;
    struct fk_profile small;
    struct fk_encode_opts best = *opts;
    best.gzip_level = opts->gzip_level ? 12 : 0; // it is small, and kept beside the program
    fk_arena_init(&a, 0);
    struct fk_builder *b = fk_builder_new(&a, UINT32_MAX, "");
    int rc = !b || fk_builder_type(b, type->type, type->unit, type->kind) || sort_all(s, &a)
                 ? fk_fail_nomem(err)
                 : put_calls(s, b, &a, err);
    if (!rc)
        rc = fk_builder_finish(b, &small, err);
    if (!rc) {
        copy_facts(s->p, &small);
        rc = fk_pprof_encode(&small, &best, out, err);
    }
    fk_builder_free(b);
    return rc;
}

static int read_calls(struct slim *s, uint32_t column, struct fk_err *err)
{
    size_t n = s->p->sym.n_functions;
    s->name_of = fk_reallocarray(NULL, n + 1, sizeof(*s->name_of));
    if (!s->name_of)
        return fk_fail_nomem(err);
    memset(s->name_of, 0xff, n * sizeof(*s->name_of));
    int rc = put_rows(s, column, err);
    if (!rc && s->calls.n && !s->start_lines)
        rc = fk_fail(err, FK_E_UNSUPPORTED,
                     "pgo: no function of this profile says at which line it starts, without "
                     "which go build takes no profile (programs of Go 1.20 and later say it)");
    return rc;
}

int fk_pgo_encode(const struct fk_profile *p, const struct fk_encode_opts *opts, struct fk_out out,
                  struct fk_err *err)
{
    struct slim s = {.p = p};
    uint32_t column = find_column(p);
    if (column == FK_NONE)
        return fk_fail(err, FK_E_UNSUPPORTED,
                       "pgo: go build needs samples/count or cpu/nanoseconds; this profile has "
                       "%.*s/%.*s",
                       FK_STR_ARG(p->n_types ? p->type[0].type : FK_S("no")),
                       FK_STR_ARG(p->n_types ? p->type[0].unit : FK_S("values")));
    int rc = read_calls(&s, column, err);
    if (!rc)
        rc = write_calls(&s, &p->type[column], opts, out, err);
    fk_vec_free(&s.spots);
    fk_vec_free(&s.names);
    fk_map_free(&s.name_index);
    fk_free(s.name_of);
    fk_vec_free(&s.calls);
    fk_map_free(&s.call_index);
    return rc;
}
