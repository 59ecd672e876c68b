// SPDX-License-Identifier: Apache-2.0
// Reading a function tree: ordered columns with the best nodes only, and the table of functions.
#include "model/tree_int.h"

#include <stdlib.h>

void fk_tree_totals(const struct fk_tree *t, uint32_t column, int64_t *ret)
{
    size_t n = t->nodes.n;
    memcpy(ret, t->self[column].v, n * sizeof(*ret));
    for (size_t i = n; i-- > 1;) {
        uint32_t parent = t->nodes.v[i].parent; // parents have smaller ids than their children
        ret[parent] = fk_wrap_add(ret[parent], ret[i]);
    }
}

uint32_t fk_tree_next(const struct fk_tree *t, uint32_t at, uint32_t *left)
{
    const struct fk_tree_node *v = t->nodes.v;
    *left = 0;
    if (v[at].first_child != FK_NONE)
        return v[at].first_child;
    while (at != FK_NONE && v[at].next_sibling == FK_NONE) {
        at = v[at].parent;
        ++*left;
    }
    if (at == FK_NONE)
        return FK_NONE;
    ++*left;
    return v[at].next_sibling;
}

static uint64_t magnitude(int64_t v)
{
    return v < 0 ? 0 - (uint64_t)v : (uint64_t)v;
}

// ---- order of siblings ----

struct ranked_name {
    struct fk_str name;
    uint32_t id;
};

static int by_text(const void *pa, const void *pb)
{
    return fk_str_cmp(((const struct ranked_name *)pa)->name,
                      ((const struct ranked_name *)pb)->name);
}

// Scratch of one view.
struct shape {
    const struct fk_tree *t;
    struct fk_arena *a;
    uint32_t *rank;        // of names, in byte order
    uint32_t *child_begin; // n + 1: children of node i are child[child_begin[i] ..]
    uint32_t *child;
    int64_t *total[2];
    uint8_t *keep; // NULL: all
};

static int rank_names(struct shape *s, struct fk_err *err)
{
    size_t n = s->t->names.n;
    struct ranked_name *sorted = fk_arena_array(s->a, n, sizeof(*sorted));
    s->rank = fk_arena_array(s->a, n, sizeof(*s->rank));
    if (!sorted || !s->rank)
        return fk_fail_nomem(err);
    for (size_t i = 0; i < n; i++)
        sorted[i] = (struct ranked_name){s->t->names.v[i].name, (uint32_t)i};
    qsort(sorted, n, sizeof(*sorted), by_text);
    for (size_t i = 0; i < n; i++)
        s->rank[sorted[i].id] = (uint32_t)i;
    return 0;
}

// Children in order of their names without comparing: nodes are first brought in order of rank,
// then dealt out to their parents (two counting sorts).
static int order_children(struct shape *s, struct fk_err *err)
{
    const struct fk_tree *t = s->t;
    size_t n = t->nodes.n, names = t->names.n;
    uint32_t *at_rank = fk_arena_zalloc(s->a, (names + 1) * sizeof(*at_rank));
    uint32_t *by_rank = fk_arena_array(s->a, n, sizeof(*by_rank));
    uint32_t *at_node = fk_arena_zalloc(s->a, (n + 1) * sizeof(*at_node));
    s->child_begin = fk_arena_zalloc(s->a, (n + 1) * sizeof(*s->child_begin));
    s->child = fk_arena_array(s->a, n, sizeof(*s->child));
    if (!at_rank || !by_rank || !at_node || !s->child_begin || !s->child)
        return fk_fail_nomem(err);
    for (size_t i = 1; i < n; i++) {
        at_rank[s->rank[t->nodes.v[i].name] + 1]++;
        s->child_begin[t->nodes.v[i].parent + 1]++;
    }
    for (size_t i = 0; i < names; i++)
        at_rank[i + 1] += at_rank[i];
    for (size_t i = 0; i < n; i++)
        s->child_begin[i + 1] += s->child_begin[i];
    for (size_t i = 1; i < n; i++)
        by_rank[at_rank[s->rank[t->nodes.v[i].name]]++] = (uint32_t)i;
    for (size_t i = 0; i + 1 < n; i++) {
        uint32_t parent = t->nodes.v[by_rank[i]].parent;
        s->child[s->child_begin[parent] + at_node[parent]++] = by_rank[i];
    }
    return 0;
}

static uint64_t weight(const struct shape *s, uint32_t node)
{
    uint64_t w = magnitude(s->total[0][node]);
    return s->total[1] ? FK_MAX(w, magnitude(s->total[1][node])) : w;
}

struct weighed {
    uint64_t weight;
    uint32_t node, place; // place: position among the siblings by name, so that ties are settled
};

static int by_weight(const void *pa, const void *pb)
{
    const struct weighed *a = pa, *b = pb;
    if (a->weight != b->weight)
        return a->weight > b->weight ? -1 : 1;
    return a->place < b->place ? -1 : a->place > b->place;
}

static int order_by_total(struct shape *s, struct fk_err *err)
{
    size_t n = s->t->nodes.n;
    struct weighed *w = fk_arena_array(s->a, n, sizeof(*w));
    if (!w)
        return fk_fail_nomem(err);
    for (size_t i = 0; i < n; i++) {
        uint32_t begin = s->child_begin[i], count = s->child_begin[i + 1] - begin;
        if (count < 2)
            continue;
        for (uint32_t c = 0; c < count; c++)
            w[c] = (struct weighed){weight(s, s->child[begin + c]), s->child[begin + c], c};
        qsort(w, count, sizeof(*w), by_weight);
        for (uint32_t c = 0; c < count; c++)
            s->child[begin + c] = w[c].node;
    }
    return 0;
}

// ---- the best nodes ----

static bool heavier(const struct weighed *a, const struct weighed *b)
{
    return a->weight != b->weight ? a->weight > b->weight : a->node < b->node;
}

static void sift_down(struct weighed *heap, size_t n, size_t at)
{
    for (size_t child; (child = 2 * at + 1) < n; at = child) {
        if (child + 1 < n && heavier(&heap[child + 1], &heap[child]))
            child++;
        if (!heavier(&heap[child], &heap[at]))
            return;
        struct weighed x = heap[at];
        heap[at] = heap[child];
        heap[child] = x;
    }
}

static void sift_up(struct weighed *heap, size_t at)
{
    while (at && heavier(&heap[at], &heap[(at - 1) / 2])) {
        struct weighed x = heap[at];
        heap[at] = heap[(at - 1) / 2];
        heap[(at - 1) / 2] = x;
        at = (at - 1) / 2;
    }
}

// Marks the max nodes of largest total, best first from the root: a node is never kept without its
// parent.
static int keep_best(struct shape *s, uint32_t max, struct fk_err *err)
{
    size_t n = s->t->nodes.n, in_heap = 1;
    if (max == 0 || n <= max)
        return 0;
    s->keep = fk_arena_zalloc(s->a, n);
    struct weighed *heap = fk_arena_array(s->a, n, sizeof(*heap));
    if (!s->keep || !heap)
        return fk_fail_nomem(err);
    heap[0] = (struct weighed){UINT64_MAX, 0, 0};
    for (uint32_t kept = 0; kept < max && in_heap; kept++) {
        uint32_t node = heap[0].node;
        heap[0] = heap[--in_heap];
        sift_down(heap, in_heap, 0);
        s->keep[node] = 1;
        for (uint32_t c = s->child_begin[node]; c < s->child_begin[node + 1]; c++) {
            heap[in_heap] = (struct weighed){weight(s, s->child[c]), s->child[c], 0};
            sift_up(heap, in_heap++);
        }
    }
    return 0;
}

static int by_size(const void *pa, const void *pb)
{
    uint64_t a = *(const uint64_t *)pa, b = *(const uint64_t *)pb;
    return a > b ? -1 : a < b;
}

// All nodes that weigh at least as much as the max-th below the root.
static int keep_heavy(struct shape *s, uint32_t max, struct fk_err *err)
{
    size_t n = s->t->nodes.n;
    if (max == 0 || n - 1 <= max)
        return 0;
    uint64_t *w = fk_arena_array(s->a, n, sizeof(*w));
    s->keep = fk_arena_zalloc(s->a, n);
    if (!w || !s->keep)
        return fk_fail_nomem(err);
    for (uint32_t i = 1; i < n; i++)
        w[i - 1] = weight(s, i);
    qsort(w, n - 1, sizeof(*w), by_size);
    uint64_t least = w[max - 1];
    s->keep[0] = 1;
    for (uint32_t i = 1; i < n; i++) // parents have smaller ids
        s->keep[i] = s->keep[s->t->nodes.v[i].parent] && weight(s, i) >= least;
    return 0;
}

// ---- columns ----

struct columns {
    int32_t *parent;
    uint32_t *name;
    int64_t *self[2], *total[2];
};

static bool columns_new(struct fk_arena *a, struct columns *c, uint32_t columns, size_t n)
{
    c->parent = fk_arena_array(a, n, sizeof(*c->parent));
    c->name = fk_arena_array(a, n, sizeof(*c->name));
    bool good = c->parent && c->name;
    for (uint32_t i = 0; i < columns; i++) {
        c->self[i] = fk_arena_array(a, n, sizeof(int64_t));
        c->total[i] = fk_arena_array(a, n, sizeof(int64_t));
        good = good && c->self[i] && c->total[i];
    }
    return good;
}

// Preorder with an explicit stack: children are pushed last first.
static int emit(struct shape *s, struct fk_tree_view *view, struct fk_err *err)
{
    const struct fk_tree *t = s->t;
    size_t n = t->nodes.n, depth = 0;
    struct columns c = {0};
    uint32_t *todo = fk_arena_array(s->a, n, sizeof(*todo)),
             *place = fk_arena_array(s->a, n, sizeof(*place)), out = 0;
    if (!todo || !place || !columns_new(s->a, &c, t->columns, n))
        return fk_fail_nomem(err);
    todo[depth++] = 0;
    while (depth) {
        uint32_t node = todo[--depth], parent = t->nodes.v[node].parent;
        c.parent[out] = parent == FK_NONE ? -1 : (int32_t)place[parent];
        c.name[out] = t->nodes.v[node].name;
        for (uint32_t k = 0; k < t->columns; k++) {
            c.self[k][out] = t->self[k].v[node];
            c.total[k][out] = s->total[k][node];
        }
        place[node] = out++;
        for (uint32_t i = s->child_begin[node + 1]; i-- > s->child_begin[node];)
            if (!s->keep || s->keep[s->child[i]])
                todo[depth++] = s->child[i];
    }
    view->n_nodes = out;
    view->folded = (uint32_t)(n - out);
    view->parent = c.parent;
    view->node_name = c.name;
    for (uint32_t k = 0; k < t->columns; k++) {
        view->self[k] = c.self[k];
        view->total[k] = c.total[k];
    }
    return 0;
}

static int make_totals(struct shape *s, struct fk_err *err)
{
    for (uint32_t c = 0; c < s->t->columns; c++) {
        s->total[c] = fk_arena_array(s->a, s->t->nodes.n, sizeof(int64_t));
        if (!s->total[c])
            return fk_fail_nomem(err);
        fk_tree_totals(s->t, c, s->total[c]);
    }
    return 0;
}

int fk_tree_cut(const struct fk_tree *t, uint32_t max_nodes, struct fk_arena *a,
                const uint8_t **ret, struct fk_err *err)
{
    struct shape s = {.t = t, .a = a};
    int r = make_totals(&s, err);
    if (r || (r = keep_heavy(&s, max_nodes, err)))
        return r;
    *ret = s.keep;
    return 0;
}

int fk_tree_view(const struct fk_tree *t, const struct fk_tree_opts *o, struct fk_arena *a,
                 struct fk_tree_view *ret, struct fk_err *err)
{
    struct shape s = {.t = t, .a = a};
    struct fk_tree_view view = {.n_names = (uint32_t)t->names.n, .name = t->names.v};
    int r = make_totals(&s, err);
    for (uint32_t c = 0; c < t->columns; c++) {
        view.sum[c] = t->sum[c];
        view.unsymbolized[c] = t->unsymbolized[c];
    }
    if (r || (r = rank_names(&s, err)) || (r = order_children(&s, err)))
        return r;
    if (o->order == FK_ORDER_TOTAL && (r = order_by_total(&s, err)))
        return r;
    r = o->keep_ties ? keep_heavy(&s, o->max_nodes, err) : keep_best(&s, o->max_nodes, err);
    if (r || (r = emit(&s, &view, err)))
        return r;
    *ret = view;
    return 0;
}

// ---- table of functions ----

// Adds each node's total to its name unless an ancestor has the same name.
static void sum_by_name(const struct fk_tree *t, const int64_t *const total[2], uint32_t *on_path,
                        struct fk_top_row *row)
{
    uint32_t node = 0, left;
    on_path[t->nodes.v[0].name]++;
    while (node != FK_NONE) {
        uint32_t before = node;
        node = fk_tree_next(t, node, &left);
        for (; left; left--) {
            on_path[t->nodes.v[before].name]--;
            before = t->nodes.v[before].parent;
        }
        if (node == FK_NONE)
            break;
        uint32_t name = t->nodes.v[node].name;
        for (uint32_t c = 0; c < t->columns; c++) {
            row[name].self[c] = fk_wrap_add(row[name].self[c], t->self[c].v[node]);
            if (on_path[name] == 0)
                row[name].total[c] = fk_wrap_add(row[name].total[c], total[c][node]);
        }
        on_path[name]++;
    }
}

struct top_order {
    enum fk_top_sort sort;
    bool descending;
};

static int compare_rows(const void *pa, const void *pb, void *arg)
{
    const struct fk_top_row *a = pa, *b = pb;
    const struct top_order *o = arg;
    int64_t x = 0, y = 0;
    int text = fk_str_cmp(a->name->name, b->name->name);
    switch (o->sort) {
    case FK_TOP_SELF:
        x = a->self[0];
        y = b->self[0];
        break;
    case FK_TOP_TOTAL:
        x = a->total[0];
        y = b->total[0];
        break;
    case FK_TOP_DELTA: // by how much it changed, whichever way
        x = (int64_t)FK_MIN(magnitude(fk_wrap_sub(a->self[1], a->self[0])), (uint64_t)INT64_MAX);
        y = (int64_t)FK_MIN(magnitude(fk_wrap_sub(b->self[1], b->self[0])), (uint64_t)INT64_MAX);
        break;
    case FK_TOP_NAME:
        return o->descending ? -text : text;
    }
    if (x != y)
        return (x < y) == o->descending ? 1 : -1;
    return text;
}

int fk_tree_top(const struct fk_tree *t, enum fk_top_sort sort, bool descending, size_t limit,
                struct fk_arena *a, struct fk_top *ret, struct fk_err *err)
{
    size_t n = t->names.n, used = 0;
    struct fk_top_row *row = fk_arena_zalloc(a, n * sizeof(*row));
    uint32_t *on_path = fk_arena_zalloc(a, n * sizeof(*on_path));
    uint8_t *seen = fk_arena_zalloc(a, n);
    int64_t *total[2] = {NULL, NULL};
    for (uint32_t c = 0; c < t->columns; c++)
        total[c] = fk_arena_array(a, t->nodes.n, sizeof(int64_t));
    if (!row || !on_path || !seen || !total[0] || (t->columns > 1 && !total[1]))
        return fk_fail_nomem(err);
    for (uint32_t c = 0; c < t->columns; c++)
        fk_tree_totals(t, c, total[c]);
    sum_by_name(t, (const int64_t *const *)total, on_path, row);
    for (size_t i = 1; i < t->nodes.n; i++)
        seen[t->nodes.v[i].name] = 1;
    for (size_t i = 0; i < n; i++)
        if (seen[i]) {
            row[used] = row[i];
            row[used++].name = &t->names.v[i];
        }
    struct top_order order = {sort, descending};
    qsort_r(row, used, sizeof(*row), compare_rows, &order);
    *ret = (struct fk_top){row, limit && limit < used ? limit : used, used};
    return 0;
}
