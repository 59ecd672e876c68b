// SPDX-License-Identifier: Apache-2.0
// Parts of profiles that are chosen by more than labels: stacks below a call site, and the spans
// that samples belong to.
#include "query/query_int.h"

// ---- call site ----

// How far each node's path goes along the call site: its length is all of it.
static uint32_t *follow(const struct fk_query *q, const struct fk_tree *t)
{
    uint32_t n = fk_tree_n_nodes(t), *along = fk_reallocarray(NULL, n, sizeof(*along)),
             *depth = fk_reallocarray(NULL, n, sizeof(*depth));
    if (along && depth)
        along[0] = depth[0] = 0;
    for (uint32_t i = 1; along && depth && i < n; i++) { // parents have smaller ids
        uint32_t up = fk_tree_parent(t, i);
        depth[i] = depth[up] + 1;
        along[i] = along[up];
        if (along[up] < q->spec.n_call_site && along[up] == depth[up] &&
            fk_str_eq(fk_tree_node_name(t, i, NULL)->name, q->spec.call_site[along[up]]))
            along[i]++;
    }
    fk_free(depth);
    if (!depth) {
        fk_free(along);
        along = NULL;
    }
    return along;
}

static int judge_stacks(struct fk_scan *s, struct fk_tree *t, uint8_t *keep, struct fk_err *err)
{
    uint32_t n = s->sym.n_stacks;
    uint32_t *stack = fk_arena_array(&s->part_arena, FK_MAX(n, 1u), sizeof(*stack));
    uint32_t *node = fk_arena_array(&s->part_arena, FK_MAX(n, 1u), sizeof(*node));
    if (!stack || !node)
        return fk_fail_nomem(err);
    for (uint32_t i = 0; i < n; i++)
        stack[i] = i;
    int r = fk_tree_nodes(t, &s->sym, stack, n, NULL, node, err);
    uint32_t *along = r ? NULL : follow(s->q, t);
    if (r || !along)
        return r ? r : fk_fail_nomem(err);
    for (uint32_t i = 0; i < n; i++)
        keep[i] = along[node[i]] == s->q->spec.n_call_site;
    fk_free(along);
    return 0;
}

int fk_scan_site(struct fk_scan *s, const uint8_t **ret, struct fk_err *err)
{
    const struct fk_symbols *sym;
    int r = 0;
    if (s->q->spec.n_call_site && !s->site) {
        if ((r = fk_scan_symbols(s, &sym, err)))
            return r;
        uint8_t *keep = fk_arena_zalloc(&s->part_arena, FK_MAX(sym->n_stacks, 1u));
        struct fk_tree *t = fk_tree_new(1, (size_t)s->q->opts.memory);
        r = keep && t ? judge_stacks(s, t, keep, err) : fk_fail_nomem(err);
        fk_tree_free(t);
        if (r == 0)
            s->site = keep;
    }
    if (r == 0)
        *ret = s->site;
    return r;
}

// ---- spans ----

struct part_spans {
    uint32_t *of_set; // into sum, FK_NONE: none
    struct fk_span_sum *sum;
    uint32_t n;
    uint32_t *touched; // those of the hit at hand
    uint8_t *open;     // whether it is among them
    struct fk_span_sum *out;
};

static struct fk_span_sum span_of(const struct fk_symbols *sym, uint32_t set)
{
    char number[24];
    struct fk_span_sum x = {.span_id = fk_set_value(sym, set, FK_S("span_id"), number)};
    if (!x.span_id.p) // older clients call it so
        x.span_id = fk_set_value(sym, set, FK_S("profile_id"), number);
    struct fk_str trace = fk_set_value(sym, set, FK_S("trace_id"), number);
    if (x.span_id.n != 16 || !fk_str_is_hex(x.span_id)) // so it is no number in number[] either
        x.span_id = (struct fk_str){NULL, 0};
    if (trace.n == 32 && fk_str_is_hex(trace))
        x.trace_id = trace;
    return x;
}

static int number_spans(const struct fk_symbols *sym, struct part_spans *p, struct fk_map *index)
{
    for (uint32_t set = 0; set < sym->n_sets; set++) {
        struct fk_span_sum x = span_of(sym, set);
        p->of_set[set] = FK_NONE;
        if (!x.span_id.p)
            continue;
        uint64_t h = fk_hash_u64(fk_hash_str(x.span_id) * 31 + fk_hash_str(x.trace_id));
        for (uint32_t at = fk_map_first(index, h); at != FK_NONE; at = fk_map_next(index, h, at)) {
            const struct fk_span_sum *have = &p->sum[fk_map_id(index, at)];
            if (fk_str_eq(have->span_id, x.span_id) && fk_str_eq(have->trace_id, x.trace_id))
                p->of_set[set] = fk_map_id(index, at);
        }
        if (p->of_set[set] != FK_NONE)
            continue;
        if (fk_map_add(index, h, p->n))
            return -FK_E_NOMEM;
        p->of_set[set] = p->n;
        p->sum[p->n++] = x;
    }
    return 0;
}

static int spans_of_part(struct fk_scan *s, struct fk_err *err)
{
    const struct fk_symbols *sym = NULL;
    int r = s->spans ? 0 : fk_scan_symbols(s, &sym, err);
    if (r || s->spans)
        return r;
    struct part_spans *p = fk_arena_zalloc(&s->part_arena, sizeof(*p));
    size_t n = FK_MAX(sym->n_sets, 1u);
    struct fk_map index = {0};
    if (!p || !(p->of_set = fk_arena_array(&s->part_arena, n, sizeof(*p->of_set))) ||
        !(p->sum = fk_arena_array(&s->part_arena, n, sizeof(*p->sum))) ||
        !(p->out = fk_arena_array(&s->part_arena, n, sizeof(*p->out))) ||
        !(p->open = fk_arena_zalloc(&s->part_arena, n)) ||
        !(p->touched = fk_arena_array(&s->part_arena, n, sizeof(*p->touched))))
        return fk_fail_nomem(err);
    r = number_spans(sym, p, &index);
    fk_map_free(&index);
    if (r)
        return fk_fail_nomem(err);
    s->spans = p;
    return 0;
}

// Sum of one sample's observations.
static int64_t sample_value(const struct fk_samples *s, uint64_t i, uint32_t column)
{
    uint64_t from = s->has_obs ? s->obs_begin[i] : i;
    uint64_t until = s->has_obs ? s->obs_begin[i + 1] : i + 1;
    int64_t sum = 0;
    for (; from < until; from++)
        sum = fk_wrap_add(sum, s->value[column][from]);
    return sum;
}

int fk_hit_spans(struct fk_scan *s, const struct fk_hit *h, uint32_t column,
                 const struct fk_span_sum **ret, size_t *ret_n, struct fk_err *err)
{
    const uint8_t *site;
    int r;
    if ((r = spans_of_part(s, err)) || (r = fk_scan_site(s, &site, err)))
        return r;
    struct part_spans *p = s->spans;
    struct fk_packed in = fk_row_packed(h->row, s->tables, &s->sym);
    if ((r = fk_samples_unpack(&s->samples, &in, err)))
        return r;
    size_t n = 0;
    for (uint64_t i = 0; s->samples.has_sets && i < s->samples.n_rows; i++) {
        uint32_t set = s->samples.set[i], at = p->of_set[set];
        if (at == FK_NONE || (h->keep_set && !h->keep_set[set]) ||
            (site && !site[s->samples.stack[i]]))
            continue;
        if (!p->open[at])
            p->touched[n++] = at;
        p->open[at] = 1;
        p->sum[at].value = fk_wrap_add(p->sum[at].value, sample_value(&s->samples, i, column));
    }
    for (size_t i = 0; i < n; i++) {
        p->out[i] = p->sum[p->touched[i]];
        p->sum[p->touched[i]].value = 0;
        p->open[p->touched[i]] = 0;
    }
    *ret = p->out;
    *ret_n = n;
    return 0;
}
