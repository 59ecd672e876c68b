// SPDX-License-Identifier: Apache-2.0
// Folded stacks out, through the function tree: the same names and the same merging as every view.
#include "formats/formats_int.h"

struct writer {
    const struct fk_tree_view *v;
    struct fk_buf path; // names of the current node and its ancestors
    struct fk_buf buf;
    size_t *end;    // per node: where its path ends
    int64_t *shown; // per node: own weight and totals of the children that are there
    struct fk_out out;
};

static void put_name(struct fk_buf *b, struct fk_str name)
{
    size_t at = b->n;
    fk_buf_str(b, name);
    for (; !b->failed && at < b->n; at++)
        if (b->p[at] == ';')
            b->p[at] = ':';
        else if (b->p[at] == '\n' || b->p[at] == '\r' || b->p[at] == '\0')
            b->p[at] = '_'; // a blank at the end would be lost
}

static void put_line(struct writer *w, bool other, int64_t value)
{
    if (value == 0)
        return;
    fk_buf_put(&w->buf, w->path.p, w->path.n);
    if (other)
        fk_buf_cstr(&w->buf, w->path.n ? ";other" : "other");
    fk_buf_byte(&w->buf, ' ');
    fk_buf_i64(&w->buf, value);
    fk_buf_byte(&w->buf, '\n');
}

static int flush(struct writer *w, size_t at, struct fk_err *err)
{
    int rc = fk_buf_check(&w->path, "folded stack", err);
    if (!rc)
        rc = fk_buf_check(&w->buf, "folded stacks", err);
    if (rc || w->buf.n < at)
        return rc;
    rc = fk_out_put(w->out, w->buf.p, w->buf.n, err);
    fk_buf_clear(&w->buf);
    return rc;
}

// Preorder: the parent's path is always the beginning of what stands in the buffer.
static int put_nodes(struct writer *w, uint32_t column, struct fk_err *err)
{
    const struct fk_tree_view *v = w->v;
    w->end[0] = 0;
    for (uint32_t i = 1; i < v->n_nodes; i++) {
        w->path.n = w->end[v->parent[i]];
        if (v->parent[i] > 0)
            fk_buf_byte(&w->path, ';');
        put_name(&w->path, v->name[v->node_name[i]].name);
        w->end[i] = w->path.n;
        put_line(w, false, v->self[column][i]);
        if (v->folded)
            put_line(w, true, fk_wrap_sub(v->total[column][i], w->shown[i]));
        int rc = flush(w, 1 << 16, err);
        if (rc)
            return rc;
    }
    w->path.n = 0;
    if (v->folded)
        put_line(w, true, fk_wrap_sub(v->total[column][0], w->shown[0]));
    return 0;
}

static void add_up(struct writer *w, uint32_t column)
{
    const struct fk_tree_view *v = w->v;
    for (uint32_t i = 0; i < v->n_nodes; i++) {
        w->shown[i] = v->self[column][i];
        if (i)
            w->shown[v->parent[i]] = fk_wrap_add(w->shown[v->parent[i]], v->total[column][i]);
    }
}

int fk_folded_tree(const struct fk_tree_view *v, uint32_t column, struct fk_out out,
                   struct fk_err *err)
{
    struct writer w = {.v = v, .out = out};
    fk_buf_init(&w.path, 0);
    fk_buf_init(&w.buf, 0);
    w.end = fk_reallocarray(NULL, (size_t)v->n_nodes + 1, sizeof(*w.end));
    w.shown = fk_reallocarray(NULL, (size_t)v->n_nodes + 1, sizeof(*w.shown));
    int rc = w.end && w.shown ? 0 : fk_fail_nomem(err);
    if (!rc) {
        add_up(&w, column);
        rc = put_nodes(&w, column, err);
    }
    if (!rc)
        rc = flush(&w, 1, err);
    fk_free(w.end);
    fk_free(w.shown);
    fk_buf_free(&w.path);
    fk_buf_free(&w.buf);
    return rc;
}

static int fold(const struct fk_profile *p, uint32_t type, struct fk_tree *t, struct fk_err *err)
{
    int64_t *self = fk_calloc(p->sym.n_stacks, sizeof(*self));
    if (!self)
        return fk_fail_nomem(err);
    for (uint64_t r = 0; r < p->n_rows; r++) {
        uint64_t o = p->obs_begin ? p->obs_begin[r] : r;
        uint64_t end = p->obs_begin ? p->obs_begin[r + 1] : r + 1;
        for (; o < end; o++)
            self[p->stack[r]] = fk_wrap_add(self[p->stack[r]], p->value[type][o]);
    }
    int rc = fk_tree_fold(t, 0, &p->sym, self, false, NULL, err);
    fk_free(self);
    return rc;
}

int fk_folded_encode(const struct fk_profile *p, const struct fk_encode_opts *opts,
                     struct fk_out out, struct fk_err *err)
{
    static const struct fk_tree_opts all = {.order = FK_ORDER_NAME};
    if (opts->type >= p->n_types)
        return fk_fail_param(err, "type", "the profile has %u sample types", p->n_types);
    FK_AUTO_ARENA a;
    fk_arena_init(&a, 0);
    struct fk_tree *t = fk_tree_new(1, 0);
    struct fk_tree_view v;
    int rc = t ? fold(p, opts->type, t, err) : fk_fail_nomem(err);
    if (!rc)
        rc = fk_tree_view(t, &all, &a, &v, err);
    if (!rc)
        rc = fk_folded_tree(&v, 0, out, err);
    fk_tree_free(t);
    return rc;
}
