// SPDX-License-Identifier: Apache-2.0
// Trees made from trees: upside down, and the callers and callees of one function.
#include "model/tree_int.h"

// Name ids of one tree in another, filled when asked for.
struct names {
    const struct fk_tree *from;
    struct fk_tree *to;
    uint32_t *id;
};

static int names_init(struct names *m, const struct fk_tree *from, struct fk_tree *to,
                      struct fk_err *err)
{
    *m = (struct names){from, to,
                        fk_reallocarray(NULL, FK_MAX(from->names.n, (size_t)1), sizeof(uint32_t))};
    if (!m->id)
        return fk_fail_nomem(err);
    memset(m->id, 0xff, from->names.n * sizeof(uint32_t));
    return 0;
}

static int child_named(struct names *m, uint32_t parent, uint32_t name, uint32_t *ret,
                       struct fk_err *err)
{
    if (m->id[name] == FK_NONE) {
        int r = fk_tree_intern(m->to, &m->from->names.v[name], &m->id[name], err);
        if (r)
            return r;
    }
    return fk_tree_child(m->to, parent, m->id[name], ret, err);
}

static void add_self(struct fk_tree *t, uint32_t node, uint32_t column, int64_t value)
{
    t->self[column].v[node] = fk_wrap_add(t->self[column].v[node], value);
    t->sum[column] = fk_wrap_add(t->sum[column], value);
}

static bool has_self(const struct fk_tree *t, uint32_t node)
{
    return t->self[0].v[node] || (t->columns > 1 && t->self[1].v[node]);
}

// Adds the path from a node up to the root, the node itself first, with the given weights at its
// end.
static int add_upward(struct names *m, uint32_t node, const int64_t *value, struct fk_err *err)
{
    uint32_t at = 0;
    for (uint32_t n = node; n != 0; n = m->from->nodes.v[n].parent) {
        int r = child_named(m, at, m->from->nodes.v[n].name, &at, err);
        if (r)
            return r;
    }
    for (uint32_t c = 0; c < m->from->columns; c++)
        add_self(m->to, at, c, value[c]);
    return 0;
}

int fk_tree_invert(const struct fk_tree *t, struct fk_tree **ret, struct fk_err *err)
{
    struct fk_tree *to = fk_tree_new(t->columns, t->limit == SIZE_MAX ? 0 : t->limit);
    struct names m = {0};
    int r = to ? names_init(&m, t, to, err) : fk_fail_nomem(err);
    for (uint32_t n = 0; r == 0 && n < t->nodes.n; n++) {
        int64_t value[2] = {t->self[0].v[n], t->columns > 1 ? t->self[1].v[n] : 0};
        if (has_self(t, n))
            r = add_upward(&m, n, value, err);
    }
    fk_free(m.id);
    if (r) {
        fk_tree_free(to);
        return r;
    }
    memcpy(to->unsymbolized, t->unsymbolized, sizeof(to->unsymbolized));
    *ret = to;
    return 0;
}

// Copies everything below the outermost occurrences of a name; place[node] is where a node went,
// FK_NONE outside.
static int copy_callees(struct names *m, uint32_t name, uint32_t *place, struct fk_err *err)
{
    const struct fk_tree *t = m->from;
    place[0] = FK_NONE;
    for (uint32_t n = 1; n < t->nodes.n; n++) { // parents have smaller ids
        uint32_t above = place[t->nodes.v[n].parent];
        place[n] = FK_NONE;
        if (above == FK_NONE && t->nodes.v[n].name != name)
            continue;
        int r = child_named(m, above == FK_NONE ? 0 : above, t->nodes.v[n].name, &place[n], err);
        if (r)
            return r;
        for (uint32_t c = 0; c < t->columns; c++)
            add_self(m->to, place[n], c, t->self[c].v[n]);
    }
    return 0;
}

// Weight of the samples whose innermost occurrence of the name is this node, then the paths upward
// from there.
static int copy_callers(struct names *m, uint32_t name, uint32_t *inner, int64_t *weight,
                        struct fk_err *err)
{
    const struct fk_tree *t = m->from;
    size_t n_nodes = t->nodes.n;
    inner[0] = FK_NONE;
    for (uint32_t n = 1; n < n_nodes; n++) {
        inner[n] = t->nodes.v[n].name == name ? n : inner[t->nodes.v[n].parent];
        for (uint32_t c = 0; inner[n] != FK_NONE && c < t->columns; c++)
            weight[inner[n] * 2 + c] = fk_wrap_add(weight[inner[n] * 2 + c], t->self[c].v[n]);
    }
    for (uint32_t n = 1; n < n_nodes; n++) {
        const int64_t *w = weight + (size_t)n * 2;
        int r = inner[n] == n && (w[0] || w[1]) ? add_upward(m, n, w, err) : 0;
        if (r)
            return r;
    }
    return 0;
}

int fk_tree_sandwich(const struct fk_tree *t, struct fk_str function, struct fk_tree **ret_callers,
                     struct fk_tree **ret_callees, struct fk_err *err)
{
    uint32_t name = fk_tree_name_id(t, function);
    if (name == FK_NONE)
        return fk_fail(err, FK_E_NOTFOUND,
                       "no function '%.*s' in this source; names are matched in full",
                       FK_STR_ARG(fk_str_head(function, 120)));
    size_t limit = t->limit == SIZE_MAX ? 0 : t->limit;
    struct fk_tree *callers = fk_tree_new(t->columns, limit),
                   *callees = fk_tree_new(t->columns, limit);
    uint32_t *place = fk_reallocarray(NULL, t->nodes.n, sizeof(*place));
    int64_t *weight = fk_calloc(t->nodes.n * 2, sizeof(*weight));
    struct names up = {0}, down = {0};
    int r = callers && callees && place && weight ? 0 : fk_fail_nomem(err);
    if (r == 0 && (r = names_init(&up, t, callers, err)) == 0 &&
        (r = names_init(&down, t, callees, err)) == 0 &&
        (r = copy_callees(&down, name, place, err)) == 0)
        r = copy_callers(&up, name, place, weight, err);
    fk_free(up.id);
    fk_free(down.id);
    fk_free(place);
    fk_free(weight);
    if (r) {
        fk_tree_free(callers);
        fk_tree_free(callees);
        return r;
    }
    *ret_callers = callers;
    *ret_callees = callees;
    return 0;
}
