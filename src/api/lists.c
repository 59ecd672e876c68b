// SPDX-License-Identifier: Apache-2.0
// Lists: entries, one entry, types, services, labels and their values.
#include "api/api_int.h"

// ---- entries ----

static int list_spec(struct fk_api_call *c, struct fk_list_spec *s, struct fk_err *err)
{
    static const char *const sorts[] = {"time",     "value", "duration", "samples",
                                        "size",     "-time", "-value",   "-duration",
                                        "-samples", "-size", NULL};
    uint64_t limit = 100;
    bool timed = false;
    int sort, r;
    if ((r = fk_param_word(c, "sort", sorts, 5, &sort, err)) ||
        (r = fk_param_u64(c, "limit", 1, 1000, &limit, err)) ||
        (r = fk_param_i64(c, "min_value", &s->min_value, &s->has_min, err)) ||
        (r = fk_param_i64(c, "max_value", &s->max_value, &s->has_max, err)) ||
        (r = fk_param_duration(c, "min_duration", &s->min_duration_ns, err)) ||
        (r = fk_param_duration(c, "max_duration", &s->max_duration_ns, err)) ||
        (r = fk_param_bool(c, "has_time", &timed, err)))
        return r;
    s->key = (enum fk_list_key)(sort % 5);
    s->ascending = sort < 5;
    s->limit = (uint32_t)limit;
    s->cursor = fk_param(c, "cursor");
    if (fk_param(c, "has_time").p)
        s->has_time = timed ? 1 : -1;
    return 0;
}

static int refuse_unbuilt(const struct fk_api_call *c, struct fk_err *err)
{
    static const char *const later[] = {"contains", "min_share"};
    for (size_t i = 0; i < FK_COUNTOF(later); i++)
        if (fk_param(c, later[i]).p)
            return fk_fail(err, FK_E_UNSUPPORTED, "%s= is not available in this version", later[i]);
    return 0;
}

int fk_api_profiles(struct fk_api_call *c, struct fk_err *err)
{
    struct fk_list_spec spec = {0};
    struct fk_page_of_entries page;
    struct fk_render_facts facts;
    struct fk_query *q;
    int64_t at;
    bool has_at;
    int r;
    if ((r = refuse_unbuilt(c, err)) || (r = list_spec(c, &spec, err)) ||
        (r = fk_param_time(c, "at", &at, &has_at, err)) || (r = fk_call_source(c, "", 0, &q, err)))
        return r;
    r = has_at ? fk_query_nearest(q, at, &page, err) : fk_query_list(q, &spec, &page, err);
    if (r)
        return r;
    struct fk_json w;
    fk_call_json(c, &w);
    fk_json_k(&w, "profiles");
    fk_json_array(&w);
    for (size_t i = 0; i < page.n; i++)
        fk_json_entry(&w, c->arena, &page.entry[i]);
    fk_json_array_end(&w);
    if (page.next.n) {
        fk_json_k(&w, "next_cursor");
        fk_json_str(&w, page.next);
    }
    if (page.prev.n) {
        fk_json_k(&w, "prev_cursor");
        fk_json_str(&w, page.prev);
    }
    fk_call_facts(c, q, &facts);
    fk_json_k(&w, "completeness");
    fk_render_completeness(&w, &facts);
    return fk_call_json_end(c, &w, err);
}

// ---- one entry ----

static void put_mappings(struct fk_json *w, const struct fk_profile *p)
{
    fk_json_k(w, "mappings");
    fk_json_array(w);
    for (uint32_t i = 0; i < p->n_placements; i++) {
        const struct fk_mapping *m = &p->sym.mapping[p->placement[i].mapping];
        fk_json_object(w);
        fk_json_k(w, "file");
        fk_json_str(w, p->sym.string[m->file]);
        if (p->sym.string[m->build_id].n) {
            fk_json_k(w, "build_id");
            fk_json_str(w, p->sym.string[m->build_id]);
        }
        fk_json_k(w, "has_functions");
        fk_json_bool(w, (p->placement[i].flags & FK_PLACEMENT_HAS_FUNCTIONS) != 0);
        fk_json_object_end(w);
    }
    fk_json_array_end(w);
}

// Names of the attributes that this profile's rows have.
static int put_attributes(struct fk_json *w, struct fk_api_call *c, const struct fk_profile *p,
                          struct fk_err *err)
{
    uint8_t *used = fk_arena_zalloc(c->arena, (size_t)p->sym.n_sets + p->sym.n_strings + 1);
    if (!used)
        return fk_fail_nomem(err);
    uint8_t *named = used + p->sym.n_sets;
    for (uint64_t i = 0; p->set && i < p->n_rows; i++)
        used[p->set[i]] = 1;
    fk_json_k(w, "attributes");
    fk_json_array(w);
    for (uint32_t s = 0; s < p->sym.n_sets; s++)
        for (uint32_t k = p->sym.set_begin[s]; used[s] && k < p->sym.set_begin[s + 1]; k++) {
            uint32_t key = p->sym.attr[k].key;
            if (!named[key])
                fk_json_str(w, p->sym.string[key]);
            named[key] = 1;
        }
    fk_json_array_end(w);
    return 0;
}

static void put_facts(struct fk_json *w, const struct fk_profile_facts *f)
{
    const struct fk_profile *p = &f->profile;
    fk_json_k(w, "annotations");
    fk_json_labels(w, &f->entry.annotations, true);
    if (p->n_comments) {
        fk_json_k(w, "comments");
        fk_json_array(w);
        for (uint32_t i = 0; i < p->n_comments; i++)
            fk_json_str(w, p->comment[i]);
        fk_json_array_end(w);
    }
    if (p->period) {
        fk_json_k(w, "period");
        fk_json_i64(w, p->period);
    }
    if (p->default_type.n) {
        fk_json_k(w, "default_type");
        fk_json_str(w, p->default_type);
    }
    if (p->doc_url.n) {
        fk_json_k(w, "doc_url");
        fk_json_str(w, p->doc_url);
    }
    if (!fk_id_is_zero(f->previous)) {
        fk_json_k(w, "previous");
        fk_json_id(w, f->previous);
    }
    if (!fk_id_is_zero(f->next)) {
        fk_json_k(w, "next");
        fk_json_id(w, f->next);
    }
}

int fk_api_profile(struct fk_api_call *c, struct fk_err *err)
{
    struct fk_profile_facts facts;
    struct fk_id id;
    int r = fk_id_parse(c->path_param, &id, err);
    if (r) // an address that can name no profile is an address without a profile
        return fk_fail(err, FK_E_NOTFOUND, "no profile '%.*s'",
                       FK_STR_ARG(fk_str_head(c->path_param, 60)));
    struct fk_source_spec s = {.id = &id, .n_ids = 1, .from_ns = INT64_MIN, .until_ns = INT64_MAX};
    struct fk_query_opts o = fk_call_query_opts(c, &id, 1);
    if ((r = fk_query_new(&o, &s, &c->query_run[0], err)) ||
        (r = fk_query_get(c->query_run[0], true, &facts, err)))
        return r;
    struct fk_json w;
    fk_call_json(c, &w);
    fk_json_entry_fields(&w, c->arena, &facts.entry);
    put_facts(&w, &facts);
    put_mappings(&w, &facts.profile);
    int failed = put_attributes(&w, c, &facts.profile, err);
    r = fk_call_json_end(c, &w, err);
    return failed ? failed : r;
}

// ---- names ----

int fk_api_types(struct fk_api_call *c, struct fk_err *err)
{
    struct fk_query *q;
    struct fk_type_row *v;
    size_t n;
    int r = fk_call_source(c, "", 0, &q, err);
    if (r || (r = fk_query_types(q, &v, &n, err)))
        return r;
    struct fk_json w;
    fk_call_json(c, &w);
    fk_json_k(&w, "types");
    fk_json_array(&w);
    for (size_t i = 0; i < n; i++) {
        fk_json_object(&w);
        fk_json_k(&w, "type");
        fk_json_str(&w, v[i].facts.id);
        fk_json_k(&w, "unit");
        fk_json_str(&w, v[i].facts.unit);
        fk_json_k(&w, "kind");
        fk_json_str(&w, fk_str_of(fk_kind_name(v[i].facts.kind)));
        fk_json_k(&w, "services");
        fk_json_u64(&w, v[i].services);
        fk_json_k(&w, "profiles");
        fk_json_u64(&w, v[i].profiles);
        fk_json_object_end(&w);
    }
    fk_json_array_end(&w);
    return fk_call_json_end(c, &w, err);
}

int fk_api_services(struct fk_api_call *c, struct fk_err *err)
{
    struct fk_query *q;
    struct fk_service_row *v;
    size_t n;
    int r = fk_call_source(c, "", 0, &q, err);
    if (r || (r = fk_query_services(q, &v, &n, err)))
        return r;
    struct fk_json w;
    fk_call_json(c, &w);
    fk_json_k(&w, "services");
    fk_json_array(&w);
    for (size_t i = 0; i < n; i++) {
        fk_json_object(&w);
        fk_json_k(&w, "service_name");
        fk_json_str(&w, v[i].service);
        fk_json_k(&w, "types");
        fk_json_array(&w);
        for (size_t t = 0; t < v[i].n_types; t++)
            fk_json_str(&w, v[i].type[t]);
        fk_json_array_end(&w);
        fk_json_k(&w, "profiles");
        fk_json_u64(&w, v[i].profiles);
        fk_json_k(&w, "last_seen");
        fk_json_time(&w, v[i].last_seen_ns);
        fk_json_object_end(&w);
    }
    fk_json_array_end(&w);
    return fk_call_json_end(c, &w, err);
}

int fk_api_labels(struct fk_api_call *c, struct fk_err *err)
{
    struct fk_query *q;
    struct fk_counted_list list;
    uint64_t limit = 1000;
    int r = fk_param_u64(c, "limit", 1, 100000, &limit, err);
    if (r || (r = fk_call_source(c, "", 0, &q, err)) ||
        (r = fk_query_label_names(q, fk_param(c, "prefix"), (size_t)limit, &list, err)))
        return r;
    struct fk_json w;
    fk_call_json(c, &w);
    fk_json_k(&w, "names");
    fk_json_array(&w);
    for (size_t i = 0; i < list.n; i++) {
        if (fk_str_starts(list.v[i].text, FK_S("__")))
            continue;
        fk_json_object(&w);
        fk_json_k(&w, "name");
        fk_json_str(&w, list.v[i].text);
        fk_json_k(&w, "values");
        fk_json_u64(&w, list.v[i].values);
        if (list.v[i].profiles) { // unknown for attributes of samples
            fk_json_k(&w, "profiles");
            fk_json_u64(&w, list.v[i].profiles);
        }
        fk_json_object_end(&w);
    }
    fk_json_array_end(&w);
    fk_json_k(&w, "truncated");
    fk_json_bool(&w, list.truncated);
    return fk_call_json_end(c, &w, err);
}

int fk_api_label_values(struct fk_api_call *c, struct fk_err *err)
{
    struct fk_query *q;
    struct fk_counted_list list;
    uint64_t limit = 1000;
    int r = fk_param_u64(c, "limit", 1, 100000, &limit, err);
    if (r || (r = fk_call_source(c, "", 0, &q, err)) ||
        (r = fk_query_label_values(q, c->path_param, fk_param(c, "prefix"), (size_t)limit, &list,
                                   err)))
        return r;
    struct fk_json w;
    fk_call_json(c, &w);
    fk_json_k(&w, "values");
    fk_json_array(&w);
    for (size_t i = 0; i < list.n; i++) {
        fk_json_object(&w);
        fk_json_k(&w, "value");
        fk_json_str(&w, list.v[i].text);
        if (list.v[i].profiles) {
            fk_json_k(&w, "profiles");
            fk_json_u64(&w, list.v[i].profiles);
        }
        fk_json_object_end(&w);
    }
    fk_json_array_end(&w);
    fk_json_k(&w, "truncated");
    fk_json_bool(&w, list.truncated);
    return fk_call_json_end(c, &w, err);
}
