// SPDX-License-Identifier: Apache-2.0
// Pyroscope's call tree in bytes: depth first, the last sibling first. Each node is its name
// (length and bytes), its own weight and how many children follow; the first node is a root without
// name. What is missing under a node is a child "other".
#include "render/render_int.h"

struct writer {
    const struct fk_tree_view *v;
    uint32_t *begin, *child; // children of node i are child[begin[i] .. begin[i + 1])
    int64_t *missing;        // weight of what was cut away below each node
    FK_VEC(uint32_t) todo;
    struct fk_buf *to;
};

static void find_children(struct writer *w)
{
    const struct fk_tree_view *v = w->v;
    for (uint32_t i = 0; i < v->n_nodes; i++)
        w->missing[i] = fk_wrap_sub(v->total[0][i], i ? v->self[0][i] : 0);
    for (uint32_t i = 1; i < v->n_nodes; i++) {
        w->begin[v->parent[i] + 1]++;
        w->missing[v->parent[i]] = fk_wrap_sub(w->missing[v->parent[i]], v->total[0][i]);
    }
    for (uint32_t i = 0; i < v->n_nodes; i++)
        w->begin[i + 1] += w->begin[i];
    for (uint32_t i = v->n_nodes; i-- > 1;) // from behind: begin[p + 1] counts down to begin[p]
        w->child[--w->begin[v->parent[i] + 1]] = i;
    for (uint32_t i = 0; i < v->n_nodes; i++)
        w->begin[i] = w->begin[i + 1];
    w->begin[v->n_nodes] = v->n_nodes - 1;
}

static void put(struct writer *w, struct fk_str name, int64_t self, uint32_t children)
{

    fk_buf_sized(w->to, name);
    fk_buf_varint(w->to, (uint64_t)FK_MAX(self, (int64_t)0)); // the format knows no negative ones
    fk_buf_varint(w->to, children);
}

static int put_nodes(struct writer *w)
{
    const struct fk_tree_view *v = w->v;
    if (fk_vec_push(&w->todo, 0))
        return -FK_E_NOMEM;
    while (w->todo.n) {
        uint32_t i = w->todo.v[--w->todo.n], n = w->begin[i + 1] - w->begin[i];
        bool other = w->missing[i] > 0;
        put(w, i ? v->name[v->node_name[i]].name : FK_S(""), i ? v->self[0][i] : 0, n + other);
        if (other) // the last sibling
            put(w, FK_S("other"), w->missing[i], 0);
        for (uint32_t k = w->begin[i]; k < w->begin[i + 1]; k++)
            if (fk_vec_push(&w->todo, w->child[k]))
                return -FK_E_NOMEM;
    }
    return 0;
}

int fk_render_pyroscope_tree(const struct fk_tree_view *v, struct fk_buf *to, struct fk_err *err)
{
    FK_AUTO_ARENA a;
    struct writer w = {.v = v, .to = to};
    size_t n = (size_t)v->n_nodes + 2;
    fk_arena_init(&a, 0);
    if (v->n_nodes < 2 && v->total[0][0] == 0)
        return 0;
    w.begin = fk_arena_zalloc(&a, n * sizeof(*w.begin));
    w.child = fk_arena_array(&a, n, sizeof(*w.child));
    w.missing = fk_arena_array(&a, n, sizeof(*w.missing));
    if (!w.begin || !w.child || !w.missing)
        return fk_fail_nomem(err);
    find_children(&w);
    int r = put_nodes(&w);
    fk_vec_free(&w.todo);
    return r ? fk_fail_nomem(err) : fk_buf_check(to, "tree", err);
}
