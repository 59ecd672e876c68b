// SPDX-License-Identifier: Apache-2.0
// What V8's profiles are made of: nodes (a list with ids, or the tree that was written until 2017),
// samples that name nodes, and the time between them. Source: Chrome DevTools Protocol, domains
// Profiler and HeapProfiler; lines and columns there begin with 0.
#include "formats/v8_int.h"

int fk_v8_begin(struct fk_v8 *v, const struct fk_decoding *d, struct fk_err *err)
{
    memset(v, 0, sizeof(*v));
    v->start_us = v->end_us = FK_NO_TIME;
    return fk_stacks_begin(&v->s, d, err);
}

void fk_v8_end(struct fk_v8 *v)
{
    fk_stacks_end(&v->s);
    fk_map_free(&v->ids);
    fk_vec_free(&v->id);
    fk_vec_free(&v->hits);
    fk_vec_free(&v->up);
    fk_vec_free(&v->child);
    fk_vec_free(&v->child_of);
    fk_vec_free(&v->sample);
}

// ---- nodes ----

static uint32_t find_node(const struct fk_v8 *v, int64_t id)
{
    uint64_t h = fk_hash_u64((uint64_t)id);
    for (uint32_t at = fk_map_first(&v->ids, h); at != FK_NONE; at = fk_map_next(&v->ids, h, at))
        if (v->id.v[fk_map_id(&v->ids, at)] == id)
            return fk_map_id(&v->ids, at);
    return FK_NONE;
}

// Its location and id are given when it is complete.
static int add_node(struct fk_v8 *v, uint32_t parent, uint32_t *ret, struct fk_err *err)
{
    *ret = (uint32_t)v->nodes.n;
    int rc = fk_nodes_add(&v->s, &v->nodes, (struct fk_node){parent, FK_NONE, FK_NONE}, err);
    if (rc)
        return rc;
    if (fk_vec_push(&v->id, FK_NO_TIME) || fk_vec_push(&v->hits, 0) ||
        fk_vec_push(&v->up, FK_NO_TIME))
        return fk_decoding_nomem(v->s.d, err);
    return 0;
}

static int name_node(struct fk_v8 *v, uint32_t node, int64_t id, struct fk_err *err)
{
    v->id.v[node] = id;
    if (id == FK_NO_TIME || find_node(v, id) != FK_NONE) // of equal ids the first
        return 0;
    return fk_map_add(&v->ids, fk_hash_u64((uint64_t)id), node) ? fk_decoding_nomem(v->s.d, err)
                                                                : 0;
}

// -1 stands for "no place in a source"; lines and columns count from 0.
static int64_t from_zero(const struct fk_jval *v)
{
    int64_t n = fk_jval_i64(v, -1);
    return n >= 0 && n < INT32_MAX ? n + 1 : 0;
}

// frame: {"functionName", "url", "lineNumber", "columnNumber"}.
static int locate(struct fk_v8 *v, const struct fk_jval *frame, uint32_t *ret, struct fk_err *err)
{
    static const char *const names[] = {"functionName", "url", "lineNumber", "columnNumber"};
    struct fk_jval m[4];
    int rc = fk_jval_pick(frame, names, 4, m, err);
    if (rc)
        return rc;
    struct fk_named f = {.name = fk_jval_text(&m[0], &v->s),
                         .file = fk_jval_text(&m[1], &v->s),
                         .line = from_zero(&m[2]),
                         .column = from_zero(&m[3])};
    if (!f.name.n)
        f.name = FK_S("(anonymous)");
    return fk_stacks_location(&v->s, &f, ret, err);
}

static int add_children(struct fk_v8 *v, uint32_t node, const struct fk_jval *children,
                        struct fk_err *err)
{
    struct fk_jwalk w;
    struct fk_jval child;
    int more;
    fk_jwalk_begin(&w, children);
    while ((more = fk_jwalk_next(&w, NULL, &child, err)) == 1)
        if (fk_vec_push(&v->child, fk_jval_i64(&child, FK_NO_TIME)) ||
            fk_vec_push(&v->child_of, node))
            return fk_decoding_nomem(v->s.d, err);
    return more;
}

static int read_node(struct fk_v8 *v, const struct fk_jval *value, struct fk_err *err)
{
    static const char *const names[] = {"id", "callFrame", "hitCount", "children", "parent"};
    struct fk_jval m[5];
    uint32_t node;
    int rc = fk_jval_pick(value, names, 5, m, err);
    if (rc)
        return rc;
    int64_t id = fk_jval_i64(&m[0], FK_NO_TIME);
    if (id == FK_NO_TIME || !fk_jval_is(&m[1], FK_JSON_OBJECT))
        return fk_fail(err, FK_E_FORMAT, "V8 profile: a node has no %s",
                       id == FK_NO_TIME ? "id" : "callFrame");
    node = find_node(v, id); // chunks of a trace may say more of a node
    if (node == FK_NONE &&
        ((rc = add_node(v, FK_NONE, &node, err)) || (rc = name_node(v, node, id, err)) ||
         (rc = locate(v, &m[1], &v->nodes.v[node].location, err))))
        return rc;
    v->hits.v[node] = fk_wrap_add(v->hits.v[node], fk_jval_i64(&m[2], 0));
    v->up.v[node] = fk_jval_i64(&m[4], v->up.v[node]);
    return add_children(v, node, &m[3], err);
}

int fk_v8_nodes(struct fk_v8 *v, const struct fk_jval *nodes, struct fk_err *err)
{
    struct fk_jwalk w;
    struct fk_jval node;
    int more;
    fk_jwalk_begin(&w, nodes);
    while ((more = fk_jwalk_next(&w, NULL, &node, err)) == 1) {
        int rc = read_node(v, &node, err);
        if (rc)
            return rc;
    }
    return more;
}

// ---- the tree form: read in one pass, for it is as deep as the stacks are ----

struct open_node {
    uint32_t node;
    int64_t id;
    struct fk_named frame;
};

struct tree {
    struct fk_v8 *v;
    struct fk_json_reader r;
    FK_VEC(struct open_node) open;
};

static int read_member(struct tree *t, struct fk_str key, struct fk_err *err)
{
    struct fk_v8 *v = t->v;
    struct open_node *n = &t->open.v[t->open.n - 1];
    struct fk_jval value;
    int rc = fk_jval_take(&t->r, &value, err);
    if (rc)
        return rc;
    if (fk_str_eq(key, FK_S("callFrame")))
        return locate(v, &value, &v->nodes.v[n->node].location, err);
    if (fk_str_eq(key, FK_S("functionName")))
        n->frame.name = fk_jval_text(&value, &v->s);
    else if (fk_str_eq(key, FK_S("url")))
        n->frame.file = fk_jval_text(&value, &v->s);
    else if (fk_str_eq(key, FK_S("lineNumber")))
        n->frame.line = FK_MAX(fk_jval_i64(&value, 0), 0); // counts from 1 there
    else if (fk_str_eq(key, FK_S("id")))
        n->id = fk_jval_i64(&value, FK_NO_TIME);
    else if (fk_str_eq(key, FK_S("hitCount")) || fk_str_eq(key, FK_S("selfSize")))
        v->hits.v[n->node] = fk_jval_i64(&value, 0);
    return 0;
}

static int open_node(struct tree *t, struct fk_err *err)
{
    struct open_node n = {.id = FK_NO_TIME};
    uint32_t parent = t->open.n ? t->open.v[t->open.n - 1].node : FK_NONE;
    int rc = add_node(t->v, parent, &n.node, err);
    if (rc)
        return rc;
    return fk_vec_push(&t->open, n) ? fk_decoding_nomem(t->v->s.d, err) : 0;
}

static int close_node(struct tree *t, struct fk_err *err)
{
    struct open_node n = t->open.v[--t->open.n];
    struct fk_node *node = &t->v->nodes.v[n.node];
    if (!n.frame.name.n)
        n.frame.name = FK_S("(anonymous)");
    int rc = node->location == FK_NONE
                 ? fk_stacks_location(&t->v->s, &n.frame, &node->location, err)
                 : 0;
    return rc ? rc : name_node(t->v, n.node, n.id, err);
}

static int read_tree(struct tree *t, struct fk_err *err)
{
    struct fk_json_tok tok;
    int rc;
    do {
        rc = fk_json_next(&t->r, &tok, err);
        if (rc)
            return rc;
        if (tok.kind == FK_JSON_OBJECT) {
            rc = open_node(t, err);
        } else if (tok.kind == FK_JSON_OBJECT_END) {
            rc = close_node(t, err);
        } else if (tok.kind == FK_JSON_KEY && !fk_str_eq(tok.text, FK_S("children"))) {
            rc = read_member(t, tok.text, err);
        } else if (tok.kind == FK_JSON_KEY) {
            rc = fk_json_next(&t->r, &tok, err);
            if (!rc && tok.kind != FK_JSON_ARRAY && tok.kind != FK_JSON_NULL)
                rc = fk_fail(err, FK_E_FORMAT, "V8 profile: children are no list");
        } else if (tok.kind != FK_JSON_ARRAY_END) {
            rc = fk_fail(err, FK_E_FORMAT, "V8 profile: a child is no object");
        }
    } while (!rc && t->open.n);
    return rc;
}

int fk_v8_tree(struct fk_v8 *v, const struct fk_jval *head, struct fk_err *err)
{
    struct tree t = {.v = v};
    fk_json_read(&t.r, head->span, FK_JSON_READ_NEST);
    int rc = read_tree(&t, err);
    fk_vec_free(&t.open);
    return rc;
}

// ---- samples ----

int fk_v8_samples(struct fk_v8 *v, const struct fk_jval *samples, const struct fk_jval *deltas,
                  struct fk_err *err)
{
    struct fk_jwalk w, times;
    struct fk_jval node, delta;
    int more;
    fk_jwalk_begin(&w, samples);
    fk_jwalk_begin(&times, deltas);
    while ((more = fk_jwalk_next(&w, NULL, &node, err)) == 1) {
        struct fk_v8_sample s = {fk_jval_i64(&node, FK_NO_TIME), 0};
        int timed = fk_jwalk_next(&times, NULL, &delta, err);
        if (timed < 0)
            return timed;
        if (timed)
            s.delta_us = fk_jval_i64(&delta, 0);
        v->timed |= timed;
        if (fk_vec_push(&v->sample, s))
            return fk_decoding_nomem(v->s.d, err);
    }
    return more;
}

// ---- rows ----

static int link_nodes(struct fk_v8 *v, struct fk_err *err)
{
    for (size_t i = 0; i < v->child.n; i++) {
        uint32_t child = find_node(v, v->child.v[i]);
        if (child != FK_NONE)
            v->nodes.v[child].parent = v->child_of.v[i];
    }
    for (size_t i = 0; i < v->up.n; i++)
        if (v->up.v[i] != FK_NO_TIME)
            v->nodes.v[i].parent = find_node(v, v->up.v[i]);
    return fk_nodes_check(&v->s, &v->nodes, err);
}

static int64_t us_to_ns(int64_t us)
{
    return (int64_t)((uint64_t)us * 1000);
}

// A sample lasts until the next one; the last until the end, where that is known.
static int put_sample(struct fk_v8 *v, size_t i, const int64_t at_us[2], uint32_t set,
                      struct fk_err *err)
{
    uint32_t node = find_node(v, v->sample.v[i].node), stack;
    if (node == FK_NONE) {
        fk_report_drop(v->s.d->report, "sample of a node that is not there", 1, "node %lld",
                       (long long)v->sample.v[i].node);
        return 0;
    }
    int64_t values[2] = {1, us_to_ns(fk_wrap_sub(at_us[1], at_us[0]))};
    int rc = fk_nodes_stack(&v->s, &v->nodes, node, &stack, err);
    if (rc)
        return rc;
    return v->timed ? fk_stacks_row(&v->s, stack, set, values, us_to_ns(at_us[0]), err)
                    : fk_stacks_add(&v->s, stack, set, values, err);
}

// V8 takes some times out of order: a sample is not before the one ahead of it.
static int put_samples(struct fk_v8 *v, uint32_t set, struct fk_err *err)
{
    int64_t clock = v->start_us == FK_NO_TIME ? 0 : v->start_us, at[2];
    uint64_t back = 0;
    int rc = 0;
    if (v->sample.n)
        clock = fk_wrap_add(clock, v->sample.v[0].delta_us);
    at[0] = clock;
    for (size_t i = 0; !rc && i < v->sample.n; i++, at[0] = at[1]) {
        bool last = i + 1 == v->sample.n;
        if (!last)
            clock = fk_wrap_add(clock, v->sample.v[i + 1].delta_us);
        else if (v->end_us != FK_NO_TIME)
            clock = v->end_us;
        back += clock < at[0] && !last;
        at[1] = FK_MAX(clock, at[0]);
        rc = put_sample(v, i, at, set, err);
    }
    fk_report_warn(v->s.d->report, "sample that is older than the one before it", back,
                   "of %zu; it is put at that one's time", v->sample.n);
    return rc;
}

static int put_hits(struct fk_v8 *v, uint32_t set, struct fk_err *err)
{
    for (uint32_t i = 0; i < v->nodes.n; i++) {
        uint32_t stack;
        int rc = 0;
        if (v->hits.v[i] == 0)
            continue;
        rc = fk_nodes_stack(&v->s, &v->nodes, i, &stack, err);
        if (!rc)
            rc = fk_stacks_add(&v->s, stack, set, &v->hits.v[i], err);
        if (rc)
            return rc;
    }
    return 0;
}

static void compare_hits(const struct fk_v8 *v)
{
    uint64_t hits = 0;
    for (size_t i = 0; i < v->hits.n; i++)
        hits += (uint64_t)v->hits.v[i];
    if (hits && hits != v->sample.n)
        fk_report_warn(v->s.d->report, "the nodes' hit counts are not those of the samples", 1,
                       "%llu hits, %zu samples; the samples are stored", (unsigned long long)hits,
                       v->sample.n);
}

int fk_v8_cpu_profile(struct fk_v8 *v, uint32_t set, struct fk_profile *ret, struct fk_err *err)
{
    int rc = fk_stacks_type(&v->s, FK_S("samples"), FK_S("count"), err);
    if (!rc && v->timed)
        rc = fk_stacks_type(&v->s, FK_S("wall"), FK_S("nanoseconds"), err);
    if (!rc)
        rc = link_nodes(v, err);
    if (!rc)
        rc = put_samples(v, set, err);
    if (!rc && v->sample.n == 0)
        rc = put_hits(v, set, err);
    else
        compare_hits(v);
    return rc ? rc : fk_stacks_finish(&v->s, ret, err);
}
