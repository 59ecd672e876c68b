// SPDX-License-Identifier: Apache-2.0
// Trees as columns of JSON: flame graph, sandwich, diff.
#include "render/render_int.h"

void fk_render_completeness(struct fk_json *w, const struct fk_render_facts *f)
{
    fk_json_object(w);
    fk_json_k(w, "profiles");
    fk_json_u64(w, f->profiles);
    fk_json_k(w, "blocks");
    fk_json_u64(w, f->blocks);
    fk_json_k(w, "bytes");
    fk_json_u64(w, f->bytes);
    fk_json_k(w, "truncated_share");
    fk_json_f64(w, f->truncated_share);
    fk_json_k(w, "unsymbolized_share");
    fk_json_f64(w, f->unsymbolized_share);
    fk_json_k(w, "dropped_samples");
    fk_json_u64(w, f->dropped_samples);
    fk_json_k(w, "warnings");
    fk_json_array(w);
    for (size_t i = 0; i < f->n_warnings; i++)
        fk_json_str(w, f->warning[i]);
    fk_json_array_end(w);
    fk_json_object_end(w);
}

void fk_render_put_head(struct fk_json *w, const struct fk_render_head *h)
{
    fk_json_k(w, "type");
    fk_json_str(w, h->type);
    fk_json_k(w, "unit");
    fk_json_str(w, h->unit);
}

void fk_render_put_tail(struct fk_json *w, const struct fk_render_head *h)
{
    if (!h->facts)
        return;
    fk_json_k(w, "completeness");
    fk_render_completeness(w, h->facts);
}

static void put_side(struct fk_json *w, const struct fk_render_side *s)
{
    fk_json_object(w);
    fk_json_k(w, "total");
    fk_json_i64(w, s->total);
    fk_json_k(w, "profiles");
    fk_json_u64(w, s->profiles);
    fk_json_k(w, "factor");
    fk_json_f64(w, s->factor);
    fk_json_object_end(w);
}

void fk_render_put_sides(struct fk_json *w, const struct fk_render_sides *s)
{
    fk_json_k(w, "mode");
    fk_json_str(w, fk_str_of(s->mode));
    fk_json_k(w, "left");
    put_side(w, &s->side[0]);
    fk_json_k(w, "right");
    put_side(w, &s->side[1]);
}

int fk_used_names_make(const struct fk_tree_view *v, struct fk_arena *a, struct fk_used_names *ret,
                       struct fk_err *err)
{
    struct fk_used_names u = {.n = 0};
    u.id = fk_arena_array(a, v->n_names, sizeof(*u.id));
    u.old = fk_arena_array(a, FK_MIN(v->n_names, v->n_nodes), sizeof(*u.old));
    if (!u.id || !u.old)
        return fk_fail_nomem(err);
    memset(u.id, 0xff, v->n_names * sizeof(*u.id));
    for (uint32_t i = 0; i < v->n_nodes; i++) {
        uint32_t name = v->node_name[i];
        if (u.id[name] == FK_NONE) {
            u.old[u.n] = name;
            u.id[name] = u.n++;
        }
    }
    *ret = u;
    return 0;
}

static void put_names(struct fk_json *w, const struct fk_tree_view *v,
                      const struct fk_used_names *u)
{
    fk_json_k(w, "names");
    fk_json_array(w);
    for (uint32_t i = 0; i < u->n; i++)
        fk_json_str(w, v->name[u->old[i]].name);
    fk_json_array_end(w);
}

static void put_values(struct fk_json *w, struct fk_str key, const int64_t *value, uint32_t n)
{
    fk_json_key(w, key);
    fk_json_array(w);
    for (uint32_t i = 0; i < n; i++)
        fk_json_i64(w, value[i]);
    fk_json_array_end(w);
}

static void put_shape(struct fk_json *w, const struct fk_tree_view *v,
                      const struct fk_used_names *u)
{
    fk_json_k(w, "parent");
    fk_json_array(w);
    for (uint32_t i = 0; i < v->n_nodes; i++)
        fk_json_i64(w, v->parent[i]);
    fk_json_array_end(w);
    fk_json_k(w, "name");
    fk_json_array(w);
    for (uint32_t i = 0; i < v->n_nodes; i++)
        fk_json_u64(w, u->id[v->node_name[i]]);
    fk_json_array_end(w);
}

// names and nodes of a tree with one column
static void put_tree(struct fk_json *w, const struct fk_tree_view *v, const struct fk_used_names *u)
{
    put_names(w, v, u);
    fk_json_k(w, "nodes");
    fk_json_object(w);
    put_shape(w, v, u);
    put_values(w, FK_S("self"), v->self[0], v->n_nodes);
    put_values(w, FK_S("total"), v->total[0], v->n_nodes);
    fk_json_object_end(w);
}

static void put_folded(struct fk_json *w, const struct fk_tree_view *v)
{
    fk_json_k(w, "folded");
    fk_json_u64(w, v->folded);
}

int fk_render_flamegraph(const struct fk_tree_view *v, const struct fk_render_head *h,
                         struct fk_out out, struct fk_err *err)
{
    FK_AUTO_ARENA a;
    struct fk_used_names u;
    fk_arena_init(&a, 0);
    int rc = fk_used_names_make(v, &a, &u, err);
    if (rc)
        return rc;
    struct fk_json w;
    fk_json_init(&w, out, false);
    fk_json_object(&w);
    fk_render_put_head(&w, h);
    fk_json_k(&w, "total");
    fk_json_i64(&w, v->sum[0]);
    put_tree(&w, v, &u);
    put_folded(&w, v);
    fk_render_put_tail(&w, h);
    fk_json_object_end(&w);
    return fk_json_finish(&w, err);
}

static void put_half(struct fk_json *w, struct fk_str key, const struct fk_tree_view *v,
                     const struct fk_used_names *u)
{
    fk_json_key(w, key);
    fk_json_object(w);
    put_tree(w, v, u);
    put_folded(w, v);
    fk_json_object_end(w);
}

int fk_render_sandwich(const struct fk_render_sandwich *s, const struct fk_render_head *h,
                       struct fk_out out, struct fk_err *err)
{
    FK_AUTO_ARENA a;
    struct fk_used_names callers, callees;
    fk_arena_init(&a, 0);
    int rc = fk_used_names_make(s->callers, &a, &callers, err);
    if (!rc)
        rc = fk_used_names_make(s->callees, &a, &callees, err);
    if (rc)
        return rc;
    struct fk_json w;
    fk_json_init(&w, out, false);
    fk_json_object(&w);
    fk_render_put_head(&w, h);
    fk_json_k(&w, "total");
    fk_json_i64(&w, s->total);
    fk_json_k(&w, "function");
    fk_json_str(&w, s->function);
    fk_json_k(&w, "self");
    fk_json_i64(&w, s->self);
    put_half(&w, FK_S("callers"), s->callers, &callers);
    put_half(&w, FK_S("callees"), s->callees, &callees);
    fk_render_put_tail(&w, h);
    fk_json_object_end(&w);
    return fk_json_finish(&w, err);
}

int fk_render_diff(const struct fk_tree_view *v, const struct fk_render_sides *s,
                   const struct fk_render_head *h, struct fk_out out, struct fk_err *err)
{
    FK_AUTO_ARENA a;
    struct fk_used_names u;
    fk_arena_init(&a, 0);
    int rc = fk_used_names_make(v, &a, &u, err);
    if (rc)
        return rc;
    struct fk_json w;
    fk_json_init(&w, out, false);
    fk_json_object(&w);
    fk_render_put_head(&w, h);
    fk_render_put_sides(&w, s);
    put_names(&w, v, &u);
    fk_json_k(&w, "nodes");
    fk_json_object(&w);
    put_shape(&w, v, &u);
    put_values(&w, FK_S("left_self"), v->self[0], v->n_nodes);
    put_values(&w, FK_S("left_total"), v->total[0], v->n_nodes);
    put_values(&w, FK_S("right_self"), v->self[1], v->n_nodes);
    put_values(&w, FK_S("right_total"), v->total[1], v->n_nodes);
    fk_json_object_end(&w);
    put_folded(&w, v);
    fk_render_put_tail(&w, h);
    fk_json_object_end(&w);
    return fk_json_finish(&w, err);
}
