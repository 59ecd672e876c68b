// SPDX-License-Identifier: Apache-2.0
// querier.v1: types, names and values of labels, and what a query would cost. Empty answers where
// there is nothing.
#include "api/rpc_int.h"

// Several selectors are one: all of their matchers must hold.
static int join_matchers(struct fk_api_call *c, const struct fk_list *matchers, struct fk_str *ret,
                         struct fk_err *err)
{
    const struct fk_str *text = matchers->v;
    struct fk_buf all, one;
    int r = 0;
    fk_buf_init(&all, 0);
    fk_buf_init(&one, 0);
    fk_buf_byte(&all, '{');
    for (size_t i = 0; r == 0 && i < matchers->n; i++) {
        struct fk_selector *s;
        if ((r = fk_selector_parse(text[i], c->arena, &s, err)))
            break;
        fk_buf_clear(&one);
        fk_selector_put(&one, s);
        if (s->n) {
            fk_buf_cstr(&all, all.n > 1 ? "," : "");
            fk_buf_put(&all, one.p + 1, one.n - 2); // without its braces
        }
        fk_selector_free(s);
    }
    fk_buf_byte(&all, '}');
    fk_buf_free(&one);
    return fk_rpc_text(c, r, &all, ret, err);
}

static int names_query(struct fk_api_call *c, const struct rpc_names *in, struct fk_query **ret,
                       struct fk_err *err)
{
    struct fk_str selector = FK_S("{}");
    int r = join_matchers(c, &in->matchers, &selector, err);
    int64_t end = in->end ? in->end : INT64_MAX / FK_NS_PER_MS;
    struct fk_rpc_source from = {.selector = selector, .start_ms = in->start, .end_ms = end};
    return r ? r : fk_rpc_query(c, &from, 0, ret, err);
}

static bool is_legacy_name(struct fk_str s)
{
    for (size_t i = 0; i < s.n; i++) {
        char x = s.p[i];
        if (!((x >= 'a' && x <= 'z') || (x >= 'A' && x <= 'Z') || x == '_' ||
              (i && x >= '0' && x <= '9')))
            return false;
    }
    return s.n > 0;
}

static int put_names(struct fk_api_call *c, const struct fk_counted_list *l, bool legacy_only,
                     const char *const *more, struct fk_err *err)
{
    struct fk_str *v = fk_arena_array(c->arena, l->n + 16, sizeof(*v));
    size_t n = 0;
    if (!v)
        return fk_fail_nomem(err);
    for (; more && more[n]; n++)
        v[n] = fk_str_of(more[n]);
    for (size_t i = 0; i < l->n; i++)
        if ((!legacy_only || is_legacy_name(l->v[i].text)) &&
            !(more && fk_str_eq(l->v[i].text, FK_S("__name__"))))
            v[n++] = l->v[i].text;
    struct rpc_strings out = {{v, n}};
    return fk_rpc_answer(c, &rpc_strings_type, &out, err);
}

int fk_rpc_label_names(struct fk_api_call *c, struct fk_err *err)
{
    static const char *const virtual_names[] = {"__name__",
                                                "__period_type__",
                                                "__period_unit__",
                                                "__profile_type__",
                                                "__type__",
                                                "__unit__",
                                                NULL};
    struct rpc_names in;
    struct fk_counted_list list;
    struct fk_query *q;
    int r = fk_rpc_read(c, &rpc_label_names_type, &in, err);
    if (r || (r = names_query(c, &in, &q, err)) ||
        (r = fk_query_label_names(q, FK_S(""), 0, &list, err)))
        return r;
    bool utf8 = fk_str_find(c->accept, FK_S("allow-utf8-labelnames=true")) >= 0;
    return put_names(c, &list, !utf8, list.n ? virtual_names : NULL, err);
}

// ---- values ----

static int type_values(struct fk_api_call *c, struct fk_query *q, struct fk_str **ret,
                       size_t *ret_n, struct fk_err *err)
{
    struct fk_type_row *v;
    size_t n;
    int r = fk_query_types(q, &v, &n, err);
    struct fk_str *x = r ? NULL : fk_arena_array(c->arena, n + 1, sizeof(*x));
    if (r || !x)
        return r ? r : fk_fail_nomem(err);
    for (size_t i = 0; i < n; i++)
        x[i] = v[i].facts.id;
    *ret = x;
    *ret_n = n;
    return 0;
}

// Names that stand for a part of the type, in every series.
static bool is_virtual(struct fk_str name)
{
    static const char *const words[] = {"__type__", "__unit__", "__period_type__",
                                        "__period_unit__"};
    bool found = false;
    for (size_t i = 0; i < FK_COUNTOF(words) && !found; i++)
        found = fk_str_eq(name, fk_str_of(words[i]));
    return found;
}

static int virtual_values(struct fk_api_call *c, struct fk_query *q, struct fk_str name,
                          struct fk_str **ret, size_t *ret_n, struct fk_err *err)
{
    struct fk_labels *set;
    size_t n, used = 0;
    int r = fk_query_typed_sets(q, &name, 1, &set, &n, err);
    struct fk_str *v = r ? NULL : fk_arena_array(c->arena, n + 1, sizeof(*v));
    if (r || !v)
        return r ? r : fk_fail_nomem(err);
    for (size_t i = 0; i < n; i++) // sorted and distinct; one may be empty
        if (set[i].n)
            v[used++] = set[i].v[0].value;
    *ret = v;
    *ret_n = used;
    return 0;
}

static int values_of(struct fk_api_call *c, const struct rpc_names *in, struct fk_str **ret,
                     size_t *ret_n, struct fk_err *err)
{
    struct fk_counted_list list;
    struct fk_query *q;
    int r = names_query(c, in, &q, err);
    if (r)
        return r;
    if (fk_str_eq(in->name, FK_S("__profile_type__")))
        return type_values(c, q, ret, ret_n, err);
    if (is_virtual(in->name))
        return virtual_values(c, q, in->name, ret, ret_n, err);
    r = fk_query_label_values(q, in->name, FK_S(""), 0, &list, err);
    struct fk_str *v = r ? NULL : fk_arena_array(c->arena, list.n + 1, sizeof(*v));
    if (r || !v)
        return r ? r : fk_fail_nomem(err);
    for (size_t i = 0; i < list.n; i++)
        v[i] = list.v[i].text;
    *ret = v;
    *ret_n = list.n;
    return 0;
}

int fk_rpc_values(struct fk_api_call *c, struct fk_str name, struct fk_str **ret, size_t *ret_n,
                  struct fk_err *err)
{
    return values_of(c, &(struct rpc_names){.name = name}, ret, ret_n, err);
}

int fk_rpc_label_values(struct fk_api_call *c, struct fk_err *err)
{
    struct rpc_names in;
    struct fk_str *v = NULL;
    size_t n = 0;
    int r = fk_rpc_read(c, &rpc_label_values_type, &in, err);
    if (r)
        return r;
    if (!in.name.n)
        return fk_fail_param(err, "name", "name is missing: the label whose values are asked for");
    r = values_of(c, &in, &v, &n, err);
    struct rpc_strings out = {{v, n}};
    return r ? r : fk_rpc_answer(c, &rpc_strings_type, &out, err);
}

int fk_rpc_profile_types(struct fk_api_call *c, struct fk_err *err)
{
    struct rpc_names in;
    struct fk_query *q;
    struct fk_type_row *v;
    size_t n;
    int r = fk_rpc_read(c, &rpc_range_type, &in, err);
    if (r || (r = names_query(c, &in, &q, err)) || (r = fk_query_types(q, &v, &n, err)))
        return r;
    struct rpc_profile_type *type = fk_arena_zalloc(c->arena, (n + 1) * sizeof(*type));
    if (!type)
        return fk_fail_nomem(err);
    for (size_t i = 0; i < n; i++) {
        struct fk_type_id id;
        if ((r = fk_type_id_parse(v[i].facts.id, &id, err)))
            return r;
        type[i] = (struct rpc_profile_type){v[i].facts.id, id.name,        id.type,
                                            id.unit,       id.period_type, id.period_unit};
    }
    struct rpc_profile_types out = {{type, n}};
    return fk_rpc_answer(c, &rpc_profile_types_type, &out, err);
}

// querier.v1.Series: what Grafana's pages start with.
int fk_rpc_series(struct fk_api_call *c, struct fk_err *err)
{
    struct rpc_names in;
    struct fk_labels *v;
    struct fk_query *q;
    size_t n;
    int r = fk_rpc_read(c, &rpc_series_type, &in, err);
    if (r || (r = fk_rpc_check_list(&in.label_names, FK_RPC_MAX_LABELS, "label_names", err)) ||
        (r = names_query(c, &in, &q, err)) ||
        (r = fk_query_typed_sets(q, in.label_names.v, in.label_names.n, &v, &n, err)))
        return r;
    struct rpc_label_set *set = fk_arena_zalloc(c->arena, (n + 1) * sizeof(*set));
    for (size_t i = 0; set && i < n; i++)
        set[i].labels = (struct fk_list){v[i].v, v[i].n}; // struct fk_label is struct rpc_label
    struct rpc_label_sets out = {{set, n}};
    return set ? fk_rpc_answer(c, &rpc_label_sets_type, &out, err) : fk_fail_nomem(err);
}

static int edge_ms(struct fk_query *q, bool oldest, bool *there, int64_t *ret, struct fk_err *err)
{
    struct fk_list_spec first = {.key = FK_LIST_TIME, .ascending = oldest, .limit = 1};
    struct fk_page_of_entries page;
    int r = fk_query_list(q, &first, &page, err);
    *there = r == 0 && page.n > 0;
    if (*there)
        *ret = page.entry[0].time_ns / FK_NS_PER_MS;
    return r;
}

// querier.v1.GetProfileStats: before there is anything the answer is empty, no error.
int fk_rpc_profile_stats(struct fk_api_call *c, struct fk_err *err)
{
    const struct rpc_names all = {.matchers = {NULL, 0}};
    struct rpc_stats out = {0};
    struct rpc_empty in;
    struct fk_query *q;
    int r = fk_rpc_read(c, &rpc_empty_type, &in, err);
    if (r || (r = names_query(c, &all, &q, err)) ||
        (r = edge_ms(q, true, &out.ingested, &out.oldest_ms, err)) ||
        (r = edge_ms(q, false, &out.ingested, &out.newest_ms, err)))
        return r;
    return fk_rpc_answer(c, &rpc_stats_type, &out, err);
}

// querier.v1.AnalyzeQuery: what a query would read, from the profile tables alone.
int fk_rpc_analyze_query(struct fk_api_call *c, struct fk_err *err)
{
    struct rpc_analyze in;
    struct fk_extent x;
    struct fk_query *q;
    int r = fk_rpc_read(c, &rpc_analyze_type, &in, err);
    struct fk_rpc_source from = {.selector = in.query,
                                 .start_ms = in.start,
                                 .end_ms = in.end ? in.end : INT64_MAX / FK_NS_PER_MS};
    if (r || (r = fk_rpc_query(c, &from, 0, &q, err)) || (r = fk_query_extent(q, &x, err)))
        return r;
    struct rpc_scope scope = {.component = FK_S("store"),
                              .components = 1,
                              .blocks = (int64_t)x.blocks,
                              .series = (int64_t)x.series,
                              .profiles = (int64_t)x.profiles,
                              .samples = (int64_t)x.samples,
                              .profile_bytes = (int64_t)x.sample_bytes};
    struct rpc_impact impact = {(int64_t)x.sample_bytes, (int64_t)x.series, false};
    struct rpc_analyze_answer out = {{&scope, 1}, &impact};
    return fk_rpc_answer(c, &rpc_analyze_answer_type, &out, err);
}
