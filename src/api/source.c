// SPDX-License-Identifier: Apache-2.0
// Sources: what a view looks at, out of parameters with an optional prefix.
#include "api/api_int.h"

#include <stdio.h>

#define NAME_MAX_ 80

static const char *prefixed(char to[NAME_MAX_], const char *prefix, const char *name)
{
    snprintf(to, NAME_MAX_, "%s%s", prefix, name);
    return to;
}

static int read_ids(struct fk_api_call *c, const char *prefix, struct fk_source_spec *s,
                    struct fk_err *err)
{
    char name[NAME_MAX_];
    const struct fk_str *text;
    size_t n;
    int r = fk_params(c, prefixed(name, prefix, "id"), &text, &n, err);
    struct fk_id *id = r ? NULL : fk_arena_array(c->arena, n + 1, sizeof(*id));
    if (r == 0 && !id)
        r = fk_fail_nomem(err);
    for (size_t i = 0; r == 0 && i < n; i++)
        if ((r = fk_id_parse(text[i], &id[i], err)) && err)
            snprintf(err->param, sizeof(err->param), "%.63s", name);
    s->id = id;
    s->n_ids = n;
    return r;
}

// "attr.<name>=value" parameters.
static int read_attrs(struct fk_api_call *c, const char *prefix, struct fk_source_spec *s,
                      struct fk_err *err)
{
    char name[NAME_MAX_];
    struct fk_str start = fk_str_of(prefixed(name, prefix, "attr."));
    struct fk_attr_filter *v = fk_arena_array(c->arena, c->n_query + 1, sizeof(*v));
    if (!v)
        return fk_fail_nomem(err);
    for (size_t i = 0; i < c->n_query; i++)
        if (fk_str_starts(c->query[i].name, start))
            v[s->n_attrs++] =
                (struct fk_attr_filter){fk_str_from(c->query[i].name, start.n), c->query[i].value};
    s->attr = v;
    return 0;
}

static int read_range(struct fk_api_call *c, const char *prefix, struct fk_source_spec *s,
                      struct fk_err *err)
{
    char name[NAME_MAX_];
    bool given;
    s->from_ns = INT64_MIN;
    s->until_ns = INT64_MAX;
    int r = fk_param_time(c, prefixed(name, prefix, "from"), &s->from_ns, &given, err);
    if (r == 0)
        r = fk_param_time(c, prefixed(name, prefix, "until"), &s->until_ns, &given, err);
    if (r == 0 && s->from_ns >= s->until_ns)
        r = fk_fail_param(err, prefixed(name, prefix, "from"),
                          "the range is empty: from must lie before until");
    return r;
}

static int read_source(struct fk_api_call *c, const char *prefix, struct fk_source_spec *s,
                       struct fk_err *err)
{
    char name[NAME_MAX_];
    int r;
    s->selector = fk_param(c, prefixed(name, prefix, "query"));
    s->type = fk_param(c, prefixed(name, prefix, "type"));
    if ((r = read_ids(c, prefix, s, err)) || (r = read_range(c, prefix, s, err)) ||
        (r = read_attrs(c, prefix, s, err)) ||
        (r = fk_params(c, prefixed(name, prefix, "focus"), &s->focus, &s->n_focus, err)) ||
        (r = fk_params(c, prefixed(name, prefix, "hide"), &s->hide, &s->n_hide, err)))
        return r;
    return fk_params(c, prefixed(name, prefix, "collapse"), &s->collapse, &s->n_collapse, err);
}

// Filters and type may be given once for both sides of a diff.
static void share(const struct fk_source_spec *both, struct fk_source_spec *s)
{
    if (!s->type.n)
        s->type = both->type;
    if (!s->n_focus) {
        s->focus = both->focus;
        s->n_focus = both->n_focus;
    }
    if (!s->n_hide) {
        s->hide = both->hide;
        s->n_hide = both->n_hide;
    }
    if (!s->n_collapse) {
        s->collapse = both->collapse;
        s->n_collapse = both->n_collapse;
    }
}

// Tenants' own names have no such sign.
struct fk_str fk_adhoc_tenant(struct fk_arena *a, struct fk_str tenant)
{
    if (fk_str_eq(tenant, FK_S(FK_TENANT_DEFAULT)))
        return FK_S(FK_TENANT_ADHOC);
    return fk_arena_printf(a, FK_TENANT_ADHOC "~%.*s", FK_STR_ARG(tenant));
}

static bool is_there(const struct fk_query_opts *o, const struct fk_id *id)
{
    struct fk_source_spec s = {.id = id, .n_ids = 1, .from_ns = INT64_MIN, .until_ns = INT64_MAX};
    struct fk_list_spec first = {.key = FK_LIST_TIME, .limit = 1};
    struct fk_page_of_entries page = {0};
    struct fk_query *q;
    if (fk_query_new(o, &s, &q, NULL))
        return false;
    bool there = fk_query_list(q, &first, &page, NULL) == 0 && page.n > 0;
    fk_query_free(q);
    return there;
}

struct fk_query_opts fk_call_query_opts(struct fk_api_call *c, const struct fk_id *id, size_t n)
{
    struct fk_query_opts stored = {.store = c->api->opts.store,
                                   .tenants = c->tenants,
                                   .n_tenants = c->n_tenants,
                                   .memory = c->api->opts.limits.query_memory,
                                   .cancel = c->cancel,
                                   .pool = c->api->pool};
    struct fk_query_opts adhoc = stored;
    struct fk_str *v = n ? fk_arena_array(c->arena, c->n_tenants, sizeof(*v)) : NULL;
    if (!v)
        return stored;
    for (size_t i = 0; i < c->n_tenants; i++)
        if (!(v[i] = fk_adhoc_tenant(c->arena, c->tenants[i])).p)
            return stored;
    adhoc.tenants = v;
    return is_there(&adhoc, id) ? adhoc : stored;
}

static int make_query(struct fk_api_call *c, const char *prefix, const struct fk_source_spec *s,
                      int slot, struct fk_query **ret, struct fk_err *err)
{
    struct fk_query_opts o = fk_call_query_opts(c, s->id, s->n_ids);
    int r = fk_query_new(&o, s, &c->query_run[slot], err);
    if (r) {
        char name[NAME_MAX_];
        if (err && err->param[0] && *prefix) {
            snprintf(name, sizeof(name), "%s%s", prefix, err->param);
            snprintf(err->param, sizeof(err->param), "%.63s", name);
        }
        return r;
    }
    *ret = c->query_run[slot];
    return 0;
}

int fk_call_source(struct fk_api_call *c, const char *prefix, int slot, struct fk_query **ret,
                   struct fk_err *err)
{
    struct fk_source_spec s = {0}, both = {0};
    int r = read_source(c, prefix, &s, err);
    if (r == 0 && *prefix && (r = read_source(c, "", &both, err)) == 0)
        share(&both, &s);
    return r ? r : make_query(c, prefix, &s, slot, ret, err);
}

int fk_call_source_of(struct fk_api_call *c, const struct fk_id *id, int slot,
                      struct fk_query **ret, struct fk_err *err)
{
    struct fk_source_spec s = {0};
    int r = read_source(c, "", &s, err);
    s.id = id;
    s.n_ids = 1;
    return r ? r : make_query(c, "", &s, slot, ret, err);
}

void fk_call_facts(struct fk_api_call *c, const struct fk_query *q, struct fk_render_facts *ret)
{
    struct fk_completeness x;
    fk_query_completeness(q, &x);
    struct fk_str *warning =
        fk_arena_array(c->arena, FK_MAX(x.n_warnings, (size_t)1), sizeof(*warning));
    if (warning)
        memcpy(warning, x.warning, x.n_warnings * sizeof(*warning));
    *ret = (struct fk_render_facts){.profiles = x.profiles,
                                    .blocks = x.blocks,
                                    .bytes = x.bytes,
                                    .truncated_share = x.truncated_share,
                                    .unsymbolized_share = x.unsymbolized_share,
                                    .warning = warning,
                                    .n_warnings = warning ? x.n_warnings : 0};
}

int fk_call_tree(struct fk_api_call *c, const char *prefix, struct fk_tree **ret,
                 struct fk_type_facts *type, struct fk_render_facts *facts, struct fk_err *err)
{
    struct fk_query *q;
    int r = fk_call_source(c, prefix, 0, &q, err);
    if (r)
        return r;
    if ((r = fk_query_type(q, type, err)))
        return r;
    struct fk_tree *t = fk_tree_new(1, (size_t)c->api->opts.limits.query_memory);
    if (!t)
        return fk_fail_nomem(err);
    if ((r = fk_query_tree(q, t, 0, err))) {
        fk_tree_free(t);
        return r;
    }
    fk_call_facts(c, q, facts);
    *ret = t;
    return 0;
}
