// SPDX-License-Identifier: Apache-2.0
// querier.v1: merged profiles as a flame graph, tree bytes, Graphviz or pprof; of spans; and the
// difference of two. Empty answers where there is nothing.
#include "api/rpc_int.h"

enum format { FLAMEGRAPH = 1, TREE = 2, DOT = 3, PPROF = 4 };

// ---- flame graph ----

int fk_rpc_check_nodes(int64_t max_nodes, struct fk_err *err)
{
    if (max_nodes < 0 || max_nodes > FK_RPC_MAX_NODES)
        return fk_fail_param(err, "max_nodes", "max_nodes must lie between 0 and %d",
                             FK_RPC_MAX_NODES);
    return 0;
}

static struct fk_tree_opts cut_at(int64_t max_nodes)
{
    return (struct fk_tree_opts){.max_nodes = (uint32_t)(max_nodes ? max_nodes : FK_RPC_NODES),
                                 .keep_ties = true};
}

int fk_rpc_flamegraph(struct fk_api_call *c, const struct fk_tree *t, int64_t max_nodes,
                      struct fk_flamebearer *ret, struct fk_err *err)
{
    struct fk_tree_opts o = cut_at(max_nodes);
    struct fk_tree_view v;
    int r = fk_tree_view(t, &o, c->arena, &v, err);
    return r ? r : fk_flamebearer_make(&v, c->arena, ret, err);
}

static int make_graph(struct fk_api_call *c, const struct fk_tree *t, int64_t max_nodes,
                      struct rpc_flamegraph **ret, struct fk_err *err)
{
    struct fk_flamebearer f;
    int r = fk_rpc_flamegraph(c, t, max_nodes, &f, err);
    if (r)
        return r;
    struct rpc_flamegraph *out = fk_arena_alloc(c->arena, sizeof(*out));
    struct rpc_level *level = fk_arena_array(c->arena, FK_MAX(f.n_levels, 1u), sizeof(*level));
    struct fk_str *name = fk_arena_array(c->arena, FK_MAX(f.n_names, 1u), sizeof(*name));
    int64_t *value = fk_arena_array(c->arena, f.begin[f.n_levels] + 1, sizeof(*value));
    if (!out || !level || !name || !value)
        return fk_fail_nomem(err);
    memcpy(value, f.value, f.begin[f.n_levels] * sizeof(*value));
    memcpy(name, f.name, f.n_names * sizeof(*name));
    for (uint32_t i = 0; i < f.n_levels; i++)
        level[i].values = (struct fk_list){value + f.begin[i], f.begin[i + 1] - f.begin[i]};
    *out = (struct rpc_flamegraph){.names = {name, f.n_names},
                                   .levels = {level, f.n_levels},
                                   .total = fk_wrap_add(f.ticks[0], f.ticks[1]),
                                   .max_self = f.max_self,
                                   .left = f.ticks[0],
                                   .right = f.ticks[1]};
    *ret = out;
    return 0;
}

// ---- other forms ----

static int put_tree(struct fk_api_call *c, const struct fk_tree *t, int64_t max_nodes,
                    struct fk_str *ret, struct fk_err *err)
{
    struct fk_tree_opts o = cut_at(max_nodes);
    struct fk_tree_view v;
    struct fk_buf b;
    int r = fk_tree_view(t, &o, c->arena, &v, err);
    fk_buf_init(&b, 0);
    if (r == 0)
        r = fk_render_pyroscope_tree(&v, &b, err);
    return fk_rpc_text(c, r, &b, ret, err);
}

static int put_dot(struct fk_api_call *c, const struct fk_tree *t, const struct rpc_select *in,
                   struct fk_str *ret, struct fk_err *err)
{
    struct fk_type_id id;
    struct fk_buf b;
    int r = fk_type_id_parse(in->profile_type, &id, err);
    if (r || fk_tree_n_nodes(t) < 2)
        return r;
    struct fk_render_picture p = {in->profile_type, in->profile_type, id.unit};
    fk_buf_init(&b, 0);
    r = fk_render_dot(t, &p, in->max_nodes ? (size_t)in->max_nodes : 100, fk_out_buf(&b), err);
    return fk_rpc_text(c, r, &b, ret, err);
}

static int put_form(struct fk_api_call *c, const struct fk_tree *t, const struct rpc_select *in,
                    struct rpc_stacktraces *out, struct fk_err *err)
{
    if (in->format == TREE)
        return put_tree(c, t, in->max_nodes, &out->tree, err);
    if (in->format == DOT)
        return put_dot(c, t, in, &out->dot, err);
    return make_graph(c, t, in->max_nodes, &out->flamegraph, err);
}

static int put_stacktraces(struct fk_api_call *c, struct fk_query *q, const struct rpc_select *in,
                           struct fk_err *err)
{
    struct rpc_stacktraces out = {0};
    struct fk_tree *t = fk_tree_new(1, (size_t)c->api->opts.limits.query_memory);
    if (!t)
        return fk_fail_nomem(err);
    int r = fk_query_tree(q, t, 0, err);
    if (r == 0 || r == -FK_E_NOTFOUND)
        r = put_form(c, t, in, &out, err);
    if (r == 0) // names are the tree's
        r = fk_rpc_answer(c, &rpc_stacktraces_type, &out, err);
    fk_tree_free(t);
    return r;
}

// ---- pprof ----

static struct fk_rpc_pprof pprof_of(const struct rpc_select *in)
{
    return (struct fk_rpc_pprof){in->max_nodes, in->stacks ? in->stacks->pgo : NULL};
}

// The message google.v1.Profile; its bytes are those of a pprof.
static int read_message(struct fk_api_call *c, const struct fk_profile *p, struct pb_profile **ret,
                        struct fk_err *err)
{
    struct fk_buf raw;
    struct fk_str bytes;
    struct pb_profile *msg = fk_arena_alloc(c->arena, sizeof(*msg));
    if (!msg)
        return fk_fail_nomem(err);
    fk_buf_init(&raw, 0);
    int r = fk_rpc_text(c, fk_rpc_pprof_bytes(p, &raw, err), &raw, &bytes, err);
    if (r == 0)
        r = fk_msg_decode(&rpc_pprof_type, bytes, c->arena, msg, err);
    if (r == 0)
        *ret = msg;
    return r;
}

static int put_pprof(struct fk_api_call *c, struct fk_query *q, const struct rpc_select *in,
                     struct fk_err *err)
{
    struct pb_profile empty = {0};
    struct rpc_pprof pprof = {&empty};
    struct rpc_stacktraces out = {.pprof = &pprof};
    struct fk_rpc_pprof o = pprof_of(in);
    struct fk_profile p;
    int r = fk_rpc_pprof_merge(c, q, &o, &p, err);
    if (r == 0)
        r = read_message(c, &p, &pprof.profile, err);
    return r && r != -FK_E_NOTFOUND ? r : fk_rpc_answer(c, &rpc_stacktraces_type, &out, err);
}

static int put_profile(struct fk_api_call *c, struct fk_query *q, const struct rpc_select *in,
                       struct fk_err *err)
{
    struct pb_profile empty = {0}, *msg = &empty;
    struct fk_rpc_pprof o = pprof_of(in);
    struct fk_profile p;
    int r = fk_rpc_pprof_merge(c, q, &o, &p, err);
    if (r == 0 && !fk_rpc_is_json(c)) {
        c->type = "application/proto";
        return fk_rpc_pprof_bytes(&p, &c->body, err);
    }
    if (r == 0)
        r = read_message(c, &p, &msg, err);
    return r && r != -FK_E_NOTFOUND ? r : fk_rpc_answer(c, &rpc_pprof_type, msg, err);
}

// ---- calls ----

static int check_select(const struct rpc_select *in, struct fk_err *err)
{
    struct fk_type_id id;
    int r = fk_type_id_parse(in->profile_type, &id, err);
    if (r)
        return r;
    if ((in->start == 0 || in->end == 0) && in->profile_ids.n == 0)
        return fk_fail_param(err, "start", "missing time range in the query");
    return fk_rpc_check_nodes(in->max_nodes, err);
}

static int query_of(struct fk_api_call *c, const struct rpc_select *in, int slot,
                    struct fk_query **ret, struct fk_err *err)
{
    struct fk_rpc_source from = {.type = in->profile_type,
                                 .selector = in->label_selector,
                                 .start_ms = in->start,
                                 .end_ms = in->end,
                                 .ids = &in->profile_ids,
                                 .spans = &in->spans,
                                 .traces = &in->traces,
                                 .stacks = in->stacks};
    int r = check_select(in, err);
    return r ? r : fk_rpc_query(c, &from, slot, ret, err);
}

// `async` is answered at once, as a server does that has no such queries: only a poll for the
// result of one has no answer.
int fk_rpc_select_stacktraces(struct fk_api_call *c, struct fk_err *err)
{
    struct rpc_select in;
    struct fk_query *q;
    int r = fk_rpc_read(c, &rpc_select_type, &in, err);
    if (r)
        return r;
    if (in.async && in.async->request_id.n)
        return fk_rpc_fail_as(
            c, FK_RPC_NOT_FOUND, err,
            "no query '%.*s': queries are answered at once here, ask without async",
            FK_STR_ARG(fk_str_head(in.async->request_id, 60)));
    if ((r = query_of(c, &in, 0, &q, err)))
        return r;
    return in.format == PPROF ? put_pprof(c, q, &in, err) : put_stacktraces(c, q, &in, err);
}

int fk_rpc_select_span(struct fk_api_call *c, struct fk_err *err)
{
    struct rpc_select in;
    struct fk_query *q;
    int r = fk_rpc_read(c, &rpc_select_span_type, &in, err);
    if (r)
        return r;
    if (in.spans.n == 0)
        return fk_fail_param(err, "span_selector",
                             "span_selector is missing: the spans, 16 hex digits each");
    if (in.format != TREE)
        in.format = FLAMEGRAPH;
    r = query_of(c, &in, 0, &q, err);
    return r ? r : put_stacktraces(c, q, &in, err);
}

int fk_rpc_select_profile(struct fk_api_call *c, struct fk_err *err)
{
    struct rpc_select in;
    struct fk_query *q;
    int r = fk_rpc_read(c, &rpc_select_profile_type, &in, err);
    if (r || (r = query_of(c, &in, 0, &q, err)))
        return r;
    return put_profile(c, q, &in, err);
}

// ---- difference ----

static int fold_side(struct fk_api_call *c, const struct rpc_select *in, int side,
                     struct fk_tree *t, struct fk_err *err)
{
    struct fk_query *q = NULL;
    int r = in ? query_of(c, in, side, &q, err)
               : fk_fail_param(err, side ? "right" : "left", "%s is missing: what is compared",
                               side ? "right" : "left");
    if (r == 0)
        r = fk_query_tree(q, t, (uint32_t)side, err);
    return r == -FK_E_NOTFOUND ? 0 : r;
}

int fk_rpc_diff(struct fk_api_call *c, struct fk_err *err)
{
    struct rpc_diff in;
    struct rpc_diff_answer out = {0};
    int r = fk_rpc_read(c, &rpc_diff_type, &in, err);
    if (r)
        return r;
    struct fk_tree *t = fk_tree_new(2, (size_t)c->api->opts.limits.query_memory);
    if (!t)
        return fk_fail_nomem(err);
    if ((r = fold_side(c, in.left, 0, t, err)) == 0 && (r = fold_side(c, in.right, 1, t, err)) == 0)
        r = make_graph(c, t, FK_MAX(in.left->max_nodes, in.right->max_nodes), &out.flamegraph, err);
    if (r == 0)
        r = fk_rpc_answer(c, &rpc_diff_answer_type, &out, err);
    fk_tree_free(t);
    return r;
}
