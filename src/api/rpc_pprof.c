// SPDX-License-Identifier: Apache-2.0
// Merged profiles as pprof: cut to the heaviest functions, or prepared for profile-guided
// optimisation, as the request asks. A profile is rewritten stack by stack into a new one.
#include "api/rpc_int.h"

// One rewriting: what becomes of each stack.
struct rewrite {
    const struct fk_profile *from;
    struct fk_builder *builder;
    struct fk_dict *dict;
    struct fk_remap *remap;
    FK_VEC(uint32_t) frames; // scratch: locations of the new dictionary, leaf first
    // of a cut
    const uint32_t *node; // where each stack leads
    const uint8_t *keep;  // by node; NULL: all stay
    const struct fk_tree *tree;
    uint32_t other; // the location "other"
    // for PGO
    const struct rpc_pgo *pgo;
};

static uint32_t frames_of(const struct fk_location *l)
{
    return l->line_count ? l->line_count : 1;
}

// How many locations at the leaf's end a cut takes away: each stands for as many nodes as it has
// lines, and goes when any of them does.
static uint32_t cut_away(const struct rewrite *w, uint32_t stack)
{
    const struct fk_symbols *s = &w->from->sym;
    uint32_t at = w->node[stack], gone = 0, n = 0;
    for (; !w->keep[at]; at = fk_tree_parent(w->tree, at))
        gone++;
    for (uint32_t i = s->stack_begin[stack]; gone && i < s->stack_begin[stack + 1]; i++, n++)
        gone -= FK_MIN(gone, frames_of(&s->location[s->frame[i]]));
    return n;
}

static int push(struct rewrite *w, uint32_t location, struct fk_err *err)
{
    return fk_vec_push(&w->frames, location) ? fk_fail_nomem(err) : 0;
}

static int push_old(struct rewrite *w, uint32_t location, struct fk_err *err)
{
    uint32_t to;
    if (fk_remap_location(w->remap, location, &to))
        return fk_fail_nomem(err);
    return push(w, to, err);
}

// The leaf without address and innermost line: calls from all over a function become one.
static int push_callee(struct rewrite *w, uint32_t location, struct fk_err *err)
{
    struct fk_symbols v;
    uint32_t to;
    if (fk_remap_location(w->remap, location, &to))
        return fk_fail_nomem(err);
    fk_dict_view(w->dict, &v);
    struct fk_location l = v.location[to];
    struct fk_line *line = fk_reallocarray(NULL, FK_MAX(l.line_count, 1u), sizeof(*line));
    if (!line)
        return fk_fail_nomem(err);
    memcpy(line, v.line + l.line_begin, l.line_count * sizeof(*line));
    if (l.line_count)
        line[0].line = line[0].column = 0;
    l.address = 0;
    int r = fk_dict_location(w->dict, &l, line, &to);
    fk_free(line);
    return r ? fk_fail_nomem(err) : push(w, to, err);
}

static int rewrite_stack(struct rewrite *w, uint32_t stack, uint32_t *ret, struct fk_err *err)
{
    const struct fk_symbols *s = &w->from->sym;
    uint32_t begin = s->stack_begin[stack], end = s->stack_begin[stack + 1], i = begin;
    int r = 0;
    w->frames.n = 0;
    if (w->keep && (i += cut_away(w, stack)) > begin)
        r = push(w, w->other, err);
    if (w->pgo && w->pgo->keep_locations > 0 && w->pgo->keep_locations < end - begin)
        end = begin + (uint32_t)w->pgo->keep_locations;
    for (; r == 0 && i < end; i++)
        r = w->pgo && w->pgo->aggregate_callees && i == begin ? push_callee(w, s->frame[i], err)
                                                              : push_old(w, s->frame[i], err);
    if (r == 0 && fk_dict_stack(w->dict, w->frames.v, (uint32_t)w->frames.n, ret))
        r = fk_fail_nomem(err);
    return r;
}

static int add_row(struct rewrite *w, uint64_t row, struct fk_err *err)
{
    const struct fk_profile *p = w->from;
    uint32_t stack;
    int r = rewrite_stack(w, p->stack[row], &stack, err);
    // A merge has one type and one observation a row.
    return r ? r : fk_builder_add(w->builder, stack, 0, &p->value[0][row], err);
}

static int make_other(struct rewrite *w)
{
    struct fk_function f = {0};
    struct fk_line line = {0};
    struct fk_location l = {.mapping = FK_NONE, .line_count = 1};
    return fk_dict_string(w->dict, FK_S("other"), &f.name) ||
           fk_dict_function(w->dict, &f, &line.function) ||
           fk_dict_location(w->dict, &l, &line, &w->other);
}

static int begin_rewrite(struct rewrite *w, struct fk_api_call *c)
{
    const struct fk_profile *p = w->from;
    w->builder = fk_builder_new(c->arena, UINT32_MAX, "");
    w->remap = fk_remap_new();
    if (!w->builder || !w->remap)
        return -FK_E_NOMEM;
    w->dict = fk_builder_dict(w->builder);
    if (fk_remap_start(w->remap, w->dict, &p->sym) || (w->keep && make_other(w)))
        return -FK_E_NOMEM;
    if (fk_builder_type(w->builder, p->type[0].type, p->type[0].unit, p->type[0].kind))
        return -FK_E_NOMEM;
    for (uint32_t i = 0; i < p->n_placements; i++) {
        struct fk_placement x = p->placement[i];
        if (fk_remap_mapping(w->remap, x.mapping, &x.mapping) || fk_builder_mapping(w->builder, &x))
            return -FK_E_NOMEM;
    }
    return 0;
}

static int run_rewrite(struct rewrite *w, struct fk_api_call *c, struct fk_profile *ret,
                       struct fk_err *err)
{
    struct fk_profile out;
    int r = begin_rewrite(w, c) ? fk_fail_nomem(err) : 0;
    for (uint64_t i = 0; r == 0 && i < w->from->n_rows; i++)
        r = add_row(w, i, err);
    if (r == 0)
        r = fk_builder_finish(w->builder, &out, err);
    if (r == 0) {
        out.time_ns_start = w->from->time_ns_start;
        out.duration_ns = w->from->duration_ns;
        out.period = w->from->period;
        out.has_period_type = w->from->has_period_type;
        out.period_type = w->from->period_type;
        out.period_unit = w->from->period_unit;
        out.default_type = w->from->default_type;
        *ret = out;
    }
    fk_builder_free(w->builder);
    fk_remap_free(w->remap);
    fk_vec_free(&w->frames);
    return r;
}

// ---- cut ----

static int fold(const struct fk_profile *p, struct fk_tree *t, struct fk_arena *a,
                struct fk_err *err)
{
    int64_t *self = fk_arena_zalloc(a, FK_MAX((size_t)p->sym.n_stacks, (size_t)1) * sizeof(*self));
    if (!self)
        return fk_fail_nomem(err);
    for (uint64_t i = 0; i < p->n_rows; i++)
        self[p->stack[i]] = fk_wrap_add(self[p->stack[i]], p->value[0][i]);
    return fk_tree_fold(t, 0, &p->sym, self, false, NULL, err);
}

static int nodes_of_stacks(const struct fk_profile *p, struct fk_tree *t, struct fk_arena *a,
                           const uint32_t **ret, struct fk_err *err)
{
    uint32_t n = p->sym.n_stacks;
    uint32_t *stack = fk_arena_array(a, FK_MAX(n, 1u), sizeof(*stack));
    uint32_t *node = fk_arena_array(a, FK_MAX(n, 1u), sizeof(*node));
    if (!stack || !node)
        return fk_fail_nomem(err);
    for (uint32_t i = 0; i < n; i++)
        stack[i] = i;
    *ret = node;
    return fk_tree_nodes(t, &p->sym, stack, n, NULL, node, err);
}

static int cut(struct fk_api_call *c, int64_t max_nodes, struct fk_profile *p, struct fk_err *err)
{
    struct fk_tree *t = fk_tree_new(1, (size_t)c->api->opts.limits.query_memory);
    struct rewrite w = {.from = p, .tree = t};
    if (!t)
        return fk_fail_nomem(err);
    // Stacks without weight make nodes of their own; they have to be there before nodes are judged.
    int r = nodes_of_stacks(p, t, c->arena, &w.node, err);
    if (r == 0)
        r = fold(p, t, c->arena, err);
    if (r == 0)
        r = fk_tree_cut(t, (uint32_t)max_nodes, c->arena, &w.keep, err);
    if (r == 0 && w.keep)
        r = run_rewrite(&w, c, p, err);
    fk_tree_free(t);
    return r;
}

// ---- whole ----

int fk_rpc_pprof_merge(struct fk_api_call *c, struct fk_query *q, const struct fk_rpc_pprof *o,
                       struct fk_profile *ret, struct fk_err *err)
{
    struct fk_profile p;
    int r = fk_query_profile(q, &p, err);
    if (r == 0 && o->pgo) {
        struct rewrite w = {.from = &p, .pgo = o->pgo};
        r = run_rewrite(&w, c, &p, err);
    }
    if (r == 0 && o->max_nodes)
        r = cut(c, o->max_nodes, &p, err);
    if (r)
        return r;
    p.default_type = p.type[0].type;
    *ret = p;
    return 0;
}

int fk_rpc_pprof_bytes(const struct fk_profile *p, struct fk_buf *to, struct fk_err *err)
{
    return fk_encode(FK_FORMAT_PPROF, p, &(struct fk_encode_opts){0}, fk_out_buf(to), err);
}
