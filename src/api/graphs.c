// SPDX-License-Identifier: Apache-2.0
// Views made from trees: flame graph, table, sandwich, and both kinds of difference.
#include "api/api_int.h"

#include <stdlib.h>

static int tree_opts(const struct fk_api_call *c, struct fk_tree_opts *o, struct fk_err *err)
{
    static const char *const orders[] = {"name", "-total", NULL};
    uint64_t max_nodes = 16384;
    int order, r;
    if ((r = fk_param_word(c, "order", orders, 0, &order, err)) ||
        (r = fk_param_u64(c, "max_nodes", 0, UINT32_MAX, &max_nodes, err)))
        return r;
    o->max_nodes = (uint32_t)max_nodes;
    o->order = order ? FK_ORDER_TOTAL : FK_ORDER_NAME;
    return 0;
}

static struct fk_render_head head_of(const struct fk_type_facts *t, const struct fk_render_facts *f)
{
    return (struct fk_render_head){t->id, t->unit, f};
}

static bool wants_stream(const struct fk_api_call *c)
{
    static const char *const offers[] = {"application/json", FK_RENDER_TREE_TYPE};
    return c->accept.n && fk_http_accept_best(c->accept, offers, 2) == 1;
}

int fk_api_flamegraph(struct fk_api_call *c, struct fk_err *err)
{
    struct fk_tree_opts o = {0};
    struct fk_tree *t = NULL, *turned;
    struct fk_type_facts type;
    struct fk_render_facts facts;
    struct fk_tree_view v;
    bool invert = false;
    int r;
    if ((r = tree_opts(c, &o, err)) || (r = fk_param_bool(c, "invert", &invert, err)) ||
        (r = fk_call_tree(c, "", &t, &type, &facts, err)))
        return r;
    if (invert && (r = fk_tree_invert(t, &turned, err)) == 0) {
        fk_tree_free(t);
        t = turned;
    }
    if (r == 0)
        r = fk_tree_view(t, &o, c->arena, &v, err);
    struct fk_render_head head = head_of(&type, &facts);
    if (r == 0 && wants_stream(c)) {
        c->type = FK_RENDER_TREE_TYPE;
        r = fk_render_tree_stream(&v, &head, fk_out_buf(&c->body), err);
    } else if (r == 0) {
        c->type = "application/json";
        r = fk_render_flamegraph(&v, &head, fk_out_buf(&c->body), err);
    }
    fk_tree_free(t);
    return r;
}

// ---- table ----

static int top_sort(const struct fk_api_call *c, bool diff, enum fk_top_sort *sort,
                    bool *descending, size_t *limit, struct fk_err *err)
{
    static const char *const words[] = {"self",   "total", "name",   "delta", "-self",
                                        "-total", "-name", "-delta", NULL};
    uint64_t n = 100;
    int word, r;
    if ((r = fk_param_word(c, "sort", words, diff ? 7 : 4, &word, err)) ||
        (r = fk_param_u64(c, "limit", 0, 1000000, &n, err)))
        return r;
    *sort = (enum fk_top_sort)(word % 4);
    *descending = word >= 4;
    *limit = (size_t)n;
    return 0;
}

int fk_api_top(struct fk_api_call *c, struct fk_err *err)
{
    struct fk_tree *t = NULL;
    struct fk_type_facts type;
    struct fk_render_facts facts;
    struct fk_tree_view v;
    struct fk_top top;
    enum fk_top_sort sort;
    bool descending;
    size_t limit;
    int r;
    if ((r = top_sort(c, false, &sort, &descending, &limit, err)) ||
        (r = fk_call_tree(c, "", &t, &type, &facts, err)))
        return r;
    r = fk_tree_top(t, sort, descending, limit, c->arena, &top, err);
    if (r == 0)
        r = fk_tree_view(t, &(struct fk_tree_opts){.max_nodes = 1}, c->arena, &v, err);
    struct fk_render_head head = head_of(&type, &facts);
    c->type = "application/json";
    if (r == 0)
        r = fk_render_top(&top, v.sum[0], &head, fk_out_buf(&c->body), err);
    fk_tree_free(t);
    return r;
}

// ---- sandwich ----

// The function's own node becomes the root: the trees of fk_tree_sandwich have it as the only child
// of theirs.
static int sandwich_views(struct fk_api_call *c, const struct fk_tree *up,
                          const struct fk_tree *down, const struct fk_tree_opts *o,
                          struct fk_tree_view v[2], struct fk_err *err)
{
    int r = fk_tree_view(up, o, c->arena, &v[0], err);
    return r ? r : fk_tree_view(down, o, c->arena, &v[1], err);
}

static int64_t own_weight(struct fk_api_call *c, const struct fk_tree *t, struct fk_str function,
                          struct fk_err *err, int *ret)
{
    struct fk_top top;
    *ret = fk_tree_top(t, FK_TOP_SELF, true, 0, c->arena, &top, err);
    for (size_t i = 0; *ret == 0 && i < top.n; i++)
        if (fk_str_eq(top.row[i].name->name, function))
            return top.row[i].self[0];
    return 0;
}

static int put_sandwich(struct fk_api_call *c, const struct fk_tree *t, struct fk_str function,
                        const struct fk_tree_opts *o, const struct fk_render_head *head,
                        struct fk_err *err)
{
    struct fk_tree *up = NULL, *down = NULL;
    struct fk_tree_view v[2], whole;
    int r = fk_tree_sandwich(t, function, &up, &down, err);
    if (r == -FK_E_NOTFOUND && err) { // a name that is not there: two empty trees
        up = fk_tree_new(1, 0);
        down = fk_tree_new(1, 0);
        r = up && down ? 0 : fk_fail_nomem(err);
    }
    if (r == 0)
        r = sandwich_views(c, up, down, o, v, err);
    if (r == 0)
        r = fk_tree_view(t, &(struct fk_tree_opts){.max_nodes = 1}, c->arena, &whole, err);
    if (r == 0) {
        struct fk_render_sandwich s = {
            .function = function, .total = whole.sum[0], .callers = &v[0], .callees = &v[1]};
        s.self = own_weight(c, t, function, err, &r);
        if (r == 0)
            r = fk_render_sandwich(&s, head, fk_out_buf(&c->body), err);
    }
    fk_tree_free(up);
    fk_tree_free(down);
    return r;
}

int fk_api_sandwich(struct fk_api_call *c, struct fk_err *err)
{
    struct fk_tree_opts o = {0};
    struct fk_tree *t = NULL;
    struct fk_type_facts type;
    struct fk_render_facts facts;
    struct fk_str function = fk_param(c, "function");
    int r;
    if (!function.n)
        return fk_fail_param(
            err, "function",
            "function= is missing: the displayed name of the function in the middle");
    if ((r = tree_opts(c, &o, err)) || (r = fk_call_tree(c, "", &t, &type, &facts, err)))
        return r;
    struct fk_render_head head = head_of(&type, &facts);
    c->type = "application/json";
    r = put_sandwich(c, t, function, &o, &head, err);
    fk_tree_free(t);
    return r;
}

// ---- differences ----

struct diff {
    struct fk_tree *tree;
    struct fk_type_facts type;
    struct fk_render_facts facts;
    struct fk_render_sides sides;
};

static int fold_side(struct fk_api_call *c, const char *prefix, int side, struct diff *d,
                     struct fk_err *err)
{
    struct fk_query *q;
    struct fk_type_facts type;
    struct fk_render_facts facts;
    int r = fk_call_source(c, prefix, side, &q, err);
    if (r || (r = fk_query_type(q, &type, err)) ||
        (r = fk_query_tree(q, d->tree, (uint32_t)side, err)))
        return r;
    fk_call_facts(c, q, &facts);
    d->sides.side[side].profiles = facts.profiles;
    if (side == 0) {
        d->type = type;
        d->facts = facts;
        return 0;
    }
    if (!fk_str_eq(type.unit, d->type.unit))
        return fk_fail_param(
            err, "right_type",
            "the sides have different units, %.*s and %.*s: they cannot be compared",
            FK_STR_ARG(d->type.unit), FK_STR_ARG(type.unit));
    d->facts.profiles += facts.profiles;
    d->facts.bytes += facts.bytes;
    d->facts.blocks = FK_MAX(d->facts.blocks, facts.blocks);
    d->facts.truncated_share = FK_MAX(d->facts.truncated_share, facts.truncated_share);
    d->facts.unsymbolized_share = FK_MAX(d->facts.unsymbolized_share, facts.unsymbolized_share);
    return 0;
}

static int set_mode(struct fk_api_call *c, struct diff *d, struct fk_err *err)
{
    static const char *const modes[] = {"share", "absolute", NULL};
    struct fk_tree_view v;
    int mode, r;
    if ((r = fk_param_word(c, "mode", modes, 0, &mode, err)) ||
        (r = fk_tree_view(d->tree, &(struct fk_tree_opts){.max_nodes = 1}, c->arena, &v, err)))
        return r;
    d->sides.mode = modes[mode];
    for (int s = 0; s < 2; s++) {
        d->sides.side[s].total = v.sum[s];
        d->sides.side[s].factor = mode == 1 ? 1 : v.sum[s] ? 1 / (double)v.sum[s] : 0;
    }
    return 0;
}

static int make_diff(struct fk_api_call *c, struct diff *d, struct fk_err *err)
{
    d->tree = fk_tree_new(2, (size_t)c->api->opts.limits.query_memory);
    if (!d->tree)
        return fk_fail_nomem(err);
    int r = fold_side(c, "left_", 0, d, err);
    if (r == 0)
        r = fold_side(c, "right_", 1, d, err);
    return r ? r : set_mode(c, d, err);
}

int fk_api_diff(struct fk_api_call *c, struct fk_err *err)
{
    struct diff d = {0};
    struct fk_tree_opts o = {0};
    struct fk_tree_view v;
    int r = tree_opts(c, &o, err);
    if (r == 0)
        r = make_diff(c, &d, err);
    if (r == 0)
        r = fk_tree_view(d.tree, &o, c->arena, &v, err);
    struct fk_render_head head = head_of(&d.type, &d.facts);
    c->type = "application/json";
    if (r == 0)
        r = fk_render_diff(&v, &d.sides, &head, fk_out_buf(&c->body), err);
    fk_tree_free(d.tree);
    return r;
}

// Rows by how much their own weight changed in the mode's unit, whichever way.
struct change_order {
    double left, right;
    bool descending;
};

static double change(const struct fk_top_row *r, const struct change_order *o)
{
    double d = (double)r->self[1] * o->right - (double)r->self[0] * o->left;
    return d < 0 ? -d : d;
}

static int by_change(const void *pa, const void *pb, void *arg)
{
    const struct change_order *o = arg;
    double a = change(pa, o), b = change(pb, o);
    if (a < b || a > b)
        return (a < b) == o->descending ? 1 : -1;
    return fk_str_cmp(((const struct fk_top_row *)pa)->name->name,
                      ((const struct fk_top_row *)pb)->name->name);
}

int fk_api_diff_top(struct fk_api_call *c, struct fk_err *err)
{
    struct diff d = {0};
    struct fk_top top;
    enum fk_top_sort sort;
    bool descending;
    size_t limit;
    int r = top_sort(c, true, &sort, &descending, &limit, err);
    if (r == 0)
        r = make_diff(c, &d, err);
    if (r == 0)
        r = fk_tree_top(d.tree, sort, descending, sort == FK_TOP_DELTA ? 0 : limit, c->arena, &top,
                        err);
    if (r == 0 && sort == FK_TOP_DELTA) {
        struct change_order o = {d.sides.side[0].factor, d.sides.side[1].factor, descending};
        qsort_r(top.row, top.n, sizeof(*top.row), by_change, &o);
        top.n = limit ? FK_MIN(top.n, limit) : top.n;
    }
    struct fk_render_head head = head_of(&d.type, &d.facts);
    c->type = "application/json";
    if (r == 0)
        r = fk_render_diff_top(&top, &d.sides, &head, fk_out_buf(&c->body), err);
    fk_tree_free(d.tree);
    return r;
}
