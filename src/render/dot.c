// SPDX-License-Identifier: Apache-2.0
// The call graph for Graphviz (graphviz.org/doc/info/lang.html). Nodes are numbered: no name ever
// stands where the language could read it.
#include "render/render_int.h"

struct edge {
    uint32_t from, to; // places in the table
    int64_t weight;
    bool gap;      // by way of functions that are left out
    uint32_t open; // how often the path at hand goes along it
};

struct graph {
    const struct fk_tree_view *v;
    const struct fk_render_picture *p;
    struct fk_top top; // the functions that are drawn
    uint32_t *place;   // per name of the view: in the table, FK_NONE: left out
    FK_VEC(struct edge) edges;
    struct fk_map index;
    uint32_t *via;     // per node of the view: the nearest drawn node above or itself, FK_NONE
    uint32_t *edge_of; // per node: the edge that ends there, FK_NONE
    struct fk_buf buf;
    struct fk_out out;
};

// ---- edges ----

static int edge_between(struct graph *g, uint32_t from, uint32_t to, uint32_t *ret)
{
    uint64_t h = fk_hash_u64((uint64_t)from << 32 | to);
    for (uint32_t at = fk_map_first(&g->index, h); at != FK_NONE;
         at = fk_map_next(&g->index, h, at)) {
        const struct edge *e = &g->edges.v[fk_map_id(&g->index, at)];
        if (e->from == from && e->to == to) {
            *ret = fk_map_id(&g->index, at);
            return 0;
        }
    }
    *ret = (uint32_t)g->edges.n;
    return fk_vec_push(&g->edges, (struct edge){from, to, 0, true, 0}) ||
                   fk_map_add(&g->index, h, *ret)
               ? -FK_E_NOMEM
               : 0;
}

static uint32_t place_of(const struct graph *g, uint32_t node)
{
    return g->place[g->v->node_name[node]];
}

static int enter(struct graph *g, uint32_t node)
{
    uint32_t up = (uint32_t)g->v->parent[node], above = up ? g->via[up] : FK_NONE;
    g->via[node] = above;
    if (place_of(g, node) == FK_NONE)
        return 0;
    g->via[node] = node;
    if (above == FK_NONE)
        return 0;
    if (edge_between(g, place_of(g, above), place_of(g, node), &g->edge_of[node]))
        return -FK_E_NOMEM;
    struct edge *e = &g->edges.v[g->edge_of[node]];
    if (e->open++ == 0)
        e->weight = fk_wrap_add(e->weight, g->v->total[0][node]);
    e->gap &= above != up;
    return 0;
}

static void leave(struct graph *g, uint32_t node)
{
    if (g->edge_of[node] != FK_NONE)
        g->edges.v[g->edge_of[node]].open--;
}

// Nodes are in preorder: the path is left up to the parent of the next one.
static int find_edges(struct graph *g)
{
    const struct fk_tree_view *v = g->v;
    uint32_t at = 0; // the node before
    for (uint32_t i = 1; i < v->n_nodes; i++) {
        for (; at != (uint32_t)v->parent[i]; at = (uint32_t)v->parent[at])
            leave(g, at);
        if (enter(g, i))
            return -FK_E_NOMEM;
        at = i;
    }
    return 0;
}

// ---- text ----

// Graphviz reads backslashes and, in labels, the entities of HTML.
static void dot_char(struct fk_buf *b, struct fk_str c)
{
    if (c.p[0] == '\\' || c.p[0] == '"')
        fk_buf_byte(b, '\\');
    if (c.p[0] == '&')
        fk_buf_cstr(b, "&amp;");
    else
        fk_buf_str(b, c);
}

static void put_text(struct fk_buf *b, struct fk_str s)
{
    fk_render_visible(b, s, SIZE_MAX - 1, dot_char);
}

static void put_node(struct graph *g, size_t i)
{
    const struct fk_top_row *r = &g->top.row[i];
    struct fk_buf *b = &g->buf;
    double share = g->v->sum[0] ? (double)r->self[0] / (double)g->v->sum[0] : 0;
    fk_buf_printf(b, "  n%zu [label=\"", i);
    put_text(b, r->name->name);
    fk_buf_cstr(b, "\\nself ");
    fk_render_value(b, r->self[0], g->p->unit);
    fk_render_share(b, r->self[0], g->v->sum[0]);
    fk_buf_cstr(b, "\\ntotal ");
    fk_render_value(b, r->total[0], g->p->unit);
    fk_render_share(b, r->total[0], g->v->sum[0]);
    fk_buf_cstr(b, "\", tooltip=\"");
    put_text(b, r->name->name);
    fk_buf_printf(b, "\", fontsize=%.1f, fillcolor=\"%.3f %.3f 1.0\"];\n", 9 + 20 * share, 0.09,
                  0.05 + 0.6 * (share > 1 ? 1 : share));
}

static void put_edge(struct graph *g, const struct edge *e)
{
    struct fk_buf *b = &g->buf;
    double share = g->v->sum[0] ? (double)e->weight / (double)g->v->sum[0] : 0;
    fk_buf_printf(b, "  n%u -> n%u [label=\"", e->from, e->to);
    fk_render_value(b, e->weight, g->p->unit);
    fk_buf_printf(b, "\", penwidth=%.2f, weight=%d%s];\n", 0.5 + 5 * share, 1 + (int)(100 * share),
                  e->gap ? ", style=dotted" : "");
}

static void put_head(struct graph *g)
{
    struct fk_buf *b = &g->buf;
    fk_buf_cstr(b, "digraph profile {\n  charset=\"UTF-8\";\n  label=\"");
    put_text(b, g->p->title);
    fk_buf_cstr(b, "\\ntotal ");
    fk_render_value(b, g->v->sum[0], g->p->unit);
    if (g->top.all > g->top.n)
        fk_buf_printf(b, "\\n%zu of %zu functions", g->top.n, g->top.all);
    fk_buf_cstr(b, "\";\n  labelloc=t;\n"
                   "  node [shape=box, style=filled, fontname=\"monospace\"];\n"
                   "  edge [fontname=\"monospace\", fontsize=8];\n");
}

static int put_graph(struct graph *g, struct fk_err *err)
{
    int rc = 0;
    put_head(g);
    for (size_t i = 0; !rc && i < g->top.n; i++) {
        put_node(g, i);
        rc = fk_render_flush(&g->buf, 1 << 15, g->out, err);
    }
    for (size_t i = 0; !rc && i < g->edges.n; i++) {
        if (g->edges.v[i].weight)
            put_edge(g, &g->edges.v[i]);
        rc = fk_render_flush(&g->buf, 1 << 15, g->out, err);
    }
    fk_buf_cstr(&g->buf, "}\n");
    return rc ? rc : fk_render_flush(&g->buf, 0, g->out, err);
}

// ---- whole ----

// Names of the table point into the tree; those of the view are copies, in the same order or not.
static int find_places(struct graph *g)
{
    struct fk_map index = {0};
    int rc = fk_map_reserve(&index, (uint32_t)g->top.n);
    for (size_t i = 0; !rc && i < g->top.n; i++)
        rc = fk_map_add(&index, fk_hash_str(g->top.row[i].name->name), (uint32_t)i);
    for (uint32_t k = 0; !rc && k < g->v->n_names; k++) {
        uint64_t h = fk_hash_str(g->v->name[k].name);
        g->place[k] = FK_NONE;
        for (uint32_t at = fk_map_first(&index, h); at != FK_NONE; at = fk_map_next(&index, h, at))
            if (fk_str_eq(g->top.row[fk_map_id(&index, at)].name->name, g->v->name[k].name))
                g->place[k] = fk_map_id(&index, at);
    }
    fk_map_free(&index);
    return rc;
}

static int make(struct graph *g, struct fk_arena *a, struct fk_err *err)
{
    size_t n = (size_t)g->v->n_nodes + 1;
    g->place = fk_arena_array(a, (size_t)g->v->n_names + 1, sizeof(*g->place));
    g->via = fk_arena_array(a, n, sizeof(*g->via));
    g->edge_of = fk_arena_array(a, n, sizeof(*g->edge_of));
    if (!g->place || !g->via || !g->edge_of)
        return fk_fail_nomem(err);
    memset(g->via, 0xff, n * sizeof(*g->via));
    memset(g->edge_of, 0xff, n * sizeof(*g->edge_of));
    if (find_places(g) || find_edges(g))
        return fk_fail_nomem(err);
    return put_graph(g, err);
}

int fk_render_dot(const struct fk_tree *t, const struct fk_render_picture *p, size_t max_nodes,
                  struct fk_out out, struct fk_err *err)
{
    FK_AUTO_ARENA a;
    struct fk_tree_view v;
    struct graph g = {.v = &v, .p = p, .out = out};
    fk_arena_init(&a, 0);
    fk_buf_init(&g.buf, 0);
    int rc = fk_tree_view(t, &(struct fk_tree_opts){0}, &a, &v, err);
    if (!rc)
        rc = fk_render_no_negative(&v, "dot", err);
    if (!rc)
        rc = fk_tree_top(t, FK_TOP_TOTAL, true, max_nodes, &a, &g.top, err);
    if (!rc)
        rc = make(&g, &a, err);
    fk_vec_free(&g.edges);
    fk_map_free(&g.index);
    fk_buf_free(&g.buf);
    return rc;
}
