// SPDX-License-Identifier: Apache-2.0
// The varint stream of a tree; the format is in render.h.
#include "render/render_int.h"

struct work {
    const struct fk_tree_view *v;
    uint32_t columns;
    uint32_t *depth;
    struct fk_used_names names;
    int64_t *rest[2]; // total - self - totals of the children
};

static void measure(struct work *w)
{
    const struct fk_tree_view *v = w->v;
    for (uint32_t i = 0; i < v->n_nodes; i++) {
        w->depth[i] = i ? w->depth[v->parent[i]] + 1 : 0;
        for (uint32_t c = 0; c < w->columns; c++) {
            w->rest[c][i] = fk_wrap_sub(v->total[c][i], v->self[c][i]);
            if (i) {
                int64_t *of_parent = &w->rest[c][v->parent[i]];
                *of_parent = fk_wrap_sub(*of_parent, v->total[c][i]);
            }
        }
    }
}

static bool has_rest(const struct work *w)
{
    for (uint32_t c = 0; c < w->columns; c++)
        for (uint32_t i = 0; i < w->v->n_nodes; i++)
            if (w->rest[c][i])
                return true;
    return false;
}

static int flush(struct fk_buf *b, size_t at, struct fk_out out, struct fk_err *err)
{
    int rc = fk_buf_check(b, "tree", err);
    if (rc || b->n < at)
        return rc;
    rc = fk_out_put(out, b->p, b->n, err);
    fk_buf_clear(b);
    return rc;
}

static void put_begin(struct fk_buf *b, const struct work *w, const struct fk_render_head *h,
                      bool rest)
{
    fk_buf_cstr(b, "FKT\x01");
    fk_buf_sized(b, h->type);
    fk_buf_sized(b, h->unit);
    fk_buf_varint(b, w->columns);
    for (uint32_t c = 0; c < w->columns; c++)
        fk_buf_varint(b, fk_zigzag(w->v->sum[c]));
    fk_buf_varint(b, w->v->folded);
    fk_buf_varint(b, rest);
    fk_buf_varint(b, w->names.n);
}

static int put_nodes(struct fk_buf *b, const struct work *w, bool rest, struct fk_out out,
                     struct fk_err *err)
{
    const struct fk_tree_view *v = w->v;
    fk_buf_varint(b, v->n_nodes);
    for (uint32_t i = 0; i < v->n_nodes; i++) {
        fk_buf_varint(b, w->depth[i]);
        fk_buf_varint(b, w->names.id[v->node_name[i]]);
        for (uint32_t c = 0; c < w->columns; c++)
            fk_buf_varint(b, fk_zigzag(v->self[c][i]));
        for (uint32_t c = 0; rest && c < w->columns; c++)
            fk_buf_varint(b, fk_zigzag(w->rest[c][i]));
        int rc = flush(b, 1 << 15, out, err);
        if (rc)
            return rc;
    }
    return 0;
}

static int put_facts(struct fk_buf *b, const struct fk_render_facts *f, struct fk_err *err)
{
    FK_AUTO_BUF json;
    fk_buf_init(&json, 0);
    if (f) {
        struct fk_json w;
        fk_json_init(&w, fk_out_buf(&json), false);
        fk_render_completeness(&w, f);
        int rc = fk_json_finish(&w, err);
        if (rc)
            return rc;
    }
    fk_buf_sized(b, fk_buf_view(&json));
    return 0;
}

static int put_all(struct fk_buf *b, struct work *w, const struct fk_render_head *h,
                   struct fk_out out, struct fk_err *err)
{
    measure(w);
    bool rest = has_rest(w);
    int rc = 0;
    put_begin(b, w, h, rest);
    for (uint32_t i = 0; !rc && i < w->names.n; i++) {
        fk_buf_sized(b, w->v->name[w->names.old[i]].name);
        rc = flush(b, 1 << 15, out, err);
    }
    if (!rc)
        rc = put_nodes(b, w, rest, out, err);
    if (!rc)
        rc = put_facts(b, h->facts, err);
    return rc ? rc : flush(b, 0, out, err);
}

int fk_render_tree_stream(const struct fk_tree_view *v, const struct fk_render_head *h,
                          struct fk_out out, struct fk_err *err)
{
    struct work w = {.v = v, .columns = v->self[1] ? 2 : 1};
    FK_AUTO_ARENA a;
    FK_AUTO_BUF b;
    fk_arena_init(&a, 0);
    fk_buf_init(&b, 0);
    w.depth = fk_arena_array(&a, v->n_nodes, sizeof(*w.depth));
    w.rest[0] = fk_arena_array(&a, v->n_nodes, sizeof(*w.rest[0]));
    w.rest[1] = fk_arena_array(&a, v->n_nodes, sizeof(*w.rest[1]));
    if (!w.depth || !w.rest[0] || !w.rest[1])
        return fk_fail_nomem(err);
    int rc = fk_used_names_make(v, &a, &w.names, err);
    return rc ? rc : put_all(&b, &w, h, out, err);
}
