// SPDX-License-Identifier: Apache-2.0
// Exports: a source as a file of another tool.
#include "api/export_int.h"

#define TEXT_ "text/plain; charset=utf-8"
#define GZIP_ "application/vnd.google.protobuf+gzip"
#define JSON_ "application/json"

static const struct fk_export_form forms[] = {
    {"pprof", "pb.gz", GZIP_, FK_EXPORT_WHOLE, FK_FORMAT_PPROF, false},
    {"pgo", "pgo", GZIP_, FK_EXPORT_WHOLE, FK_FORMAT_PGO, false},
    {"otlp", "otlp", "application/x-protobuf", FK_EXPORT_WHOLE, FK_FORMAT_OTLP, false},
    {"speedscope", "speedscope.json", JSON_, FK_EXPORT_WHOLE, FK_FORMAT_SPEEDSCOPE, false},
    {"firefox", "firefox.json", JSON_, FK_EXPORT_WHOLE, FK_FORMAT_FIREFOX, true},
    {"folded", "folded.txt", TEXT_, FK_EXPORT_TREE, FK_FORMAT_UNKNOWN, true},
    {"flamebearer", "flamebearer.json", JSON_, FK_EXPORT_TREE, FK_FORMAT_UNKNOWN, true},
    {"svg", "svg", "image/svg+xml", FK_EXPORT_TREE, FK_FORMAT_UNKNOWN, true},
    {"html", "html", "text/html; charset=utf-8", FK_EXPORT_TREE, FK_FORMAT_UNKNOWN, true},
    {"dot", "dot", "text/vnd.graphviz; charset=utf-8", FK_EXPORT_TREE, FK_FORMAT_UNKNOWN, true},
    {"top.csv", "top.csv", "text/csv; charset=utf-8", FK_EXPORT_TREE, FK_FORMAT_UNKNOWN, true},
    {"top.json", "top.json", JSON_, FK_EXPORT_TREE, FK_FORMAT_UNKNOWN, true},
    {"original", "bin", "application/octet-stream", FK_EXPORT_ORIGINAL, FK_FORMAT_UNKNOWN, false},
};

// ---- names ----

// For people.
static struct fk_str title_of(const struct fk_export *x)
{
    struct fk_str service = fk_labels_get(&x->first.labels, FK_S("service_name"));
    char time[FK_TIME_CHARS + 1];
    fk_time_format(x->first.time_ns, time);
    struct fk_str t = fk_arena_printf(
        x->c->arena, "%.*s %.*s %s%.19sZ", FK_STR_ARG(fk_str_head(service, 200)),
        FK_STR_ARG(x->has_type ? x->type.type : FK_S("profile")), x->single ? "" : "until ", time);
    return t.p ? t : FK_S("profile");
}

// service-type-time.ending, only of characters that every file system takes.
static struct fk_str file_name(const struct fk_export *x)
{
    struct fk_arena *a = x->c->arena;
    struct fk_str service = fk_labels_get(&x->first.labels, FK_S("service_name"));
    struct fk_str type = x->form->kind == FK_EXPORT_ORIGINAL ? FK_S("original")
                         : x->has_type                       ? x->type.type
                                                             : FK_S("profile");
    char time[FK_TIME_CHARS + 1];
    fk_time_format(x->first.time_ns, time);
    struct fk_str name =
        fk_arena_printf(a, "%.*s-%.*s-%.19s.%s", FK_STR_ARG(fk_str_head(service, 60)),
                        FK_STR_ARG(fk_str_head(type, 40)), time, x->form->ending);
    char *p = name.p ? fk_arena_alloc(a, name.n + 1) : NULL;
    for (size_t i = 0; p && i < name.n; i++) {
        char b = name.p[i];
        bool plain = (b >= 'a' && b <= 'z') || (b >= 'A' && b <= 'Z') || (b >= '0' && b <= '9') ||
                     b == '-' || b == '_' || b == '.';
        p[i] = plain ? b : '_';
    }
    return p ? fk_str_make(p, name.n) : FK_S("profile");
}

int fk_export_look(struct fk_export *x, struct fk_query *q, struct fk_err *err)
{
    struct fk_list_spec spec = {.key = FK_LIST_TIME, .limit = 2};
    struct fk_page_of_entries page;
    int r;
    x->q = q;
    x->has_type = fk_param(x->c, "type").n || x->form->one_type;
    if ((x->has_type && (r = fk_query_type(q, &x->type, err))) ||
        (r = fk_query_list(q, &spec, &page, err)))
        return r;
    x->single = page.n == 1;
    x->first = page.n ? page.entry[0] : (struct fk_entry){0};
    x->file_name = file_name(x);
    x->title = title_of(x);
    return 0;
}

// ---- whole profiles ----

// Labels that all series of the source have in common.
static int common_labels(const struct fk_export *x, struct fk_labels *ret, struct fk_err *err)
{
    struct fk_labels *sets;
    size_t n, kept = 0;
    int r = fk_query_label_sets(x->q, 10000, &sets, &n, err);
    if (r || n == 0)
        return r;
    struct fk_labels first = sets[0];
    for (size_t i = 0; i < first.n; i++) {
        bool same = true;
        for (size_t k = 1; same && k < n; k++)
            same = fk_str_eq(fk_labels_get(&sets[k], first.v[i].name), first.v[i].value);
        if (same)
            first.v[kept++] = first.v[i];
    }
    *ret = (struct fk_labels){first.v, kept};
    return 0;
}

// Only the column of the type.
static int narrow(const struct fk_export *x, const struct fk_entry *e, struct fk_profile *p,
                  struct fk_err *err)
{
    for (uint32_t k = 0; k < p->n_types && k < e->n_types; k++)
        if (fk_str_eq(fk_entry_type_id(x->c->arena, e, k), x->type.id)) {
            p->type += k;
            p->value += k;
            p->n_types = 1;
            return 0;
        }
    return fk_fail(err, FK_E_NOTFOUND, "the profile has no type %.*s",
                   FK_STR_ARG(fk_str_head(x->type.id, 120)));
}

// One profile keeps all it has; several are added up by location.
static int whole_profile(const struct fk_export *x, struct fk_profile *p, struct fk_labels *labels,
                         struct fk_err *err)
{
    struct fk_profile_facts facts;
    int r;
    *labels = (struct fk_labels){NULL, 0};
    if (!x->single) {
        r = fk_query_profile(x->q, p, err);
        return r ? r : common_labels(x, labels, err);
    }
    if ((r = fk_query_get(x->q, false, &facts, err)))
        return r;
    *p = facts.profile;
    *labels = facts.entry.labels;
    return x->has_type ? narrow(x, &facts.entry, p, err) : 0;
}

static int write_whole(const struct fk_export *x, struct fk_out out, struct fk_err *err)
{
    static const char *const filters[] = {"focus", "hide", "collapse"};
    struct fk_profile p;
    struct fk_labels labels;
    for (size_t i = 0; i < FK_COUNTOF(filters); i++)
        if (fk_param(x->c, filters[i]).n)
            return fk_fail_param(err, filters[i],
                                 "format=%s has whole stacks: focus, hide and collapse work with "
                                 "folded, flamebearer, svg, html, dot, top.csv and top.json",
                                 x->form->word);
    int r = whole_profile(x, &p, &labels, err);
    struct fk_encode_opts o = {
        .gzip_level = 6, .type = x->form->one_type ? 0 : FK_NONE, .labels = &labels};
    o.title = fk_labels_get(&x->first.labels, FK_S("service_name"));
    return r ? r : fk_encode(x->form->format, &p, &o, out, err);
}

// ---- trees ----

static bool is(const struct fk_export *x, const char *word)
{
    return fk_str_eq(fk_str_of(x->form->word), fk_str_of(word));
}

static int write_top(const struct fk_export *x, const struct fk_tree *t,
                     const struct fk_tree_view *v, const struct fk_render_head *head,
                     struct fk_out out, struct fk_err *err)
{
    struct fk_top top;
    int r = fk_tree_top(t, FK_TOP_SELF, true, 0, fk_query_arena(x->q), &top, err);
    if (r)
        return r;
    return is(x, "top.csv") ? fk_render_top_csv(&top, v->sum[0], out, err)
                            : fk_render_top(&top, v->sum[0], head, out, err);
}

static int write_flamebearer(const struct fk_export *x, const struct fk_tree_view *v,
                             struct fk_out out, struct fk_err *err)
{
    struct fk_flamebearer f;
    int r = fk_flamebearer_make(v, fk_query_arena(x->q), &f, err);
    return r ? r : fk_render_flamebearer(&f, x->type.type, x->type.unit, NULL, out, err);
}

static int write_view(const struct fk_export *x, const struct fk_tree *t,
                      const struct fk_render_head *head, struct fk_out out, struct fk_err *err)
{
    struct fk_render_picture picture = {x->title, x->type.id, x->type.unit};
    struct fk_tree_opts opts = {.max_nodes = is(x, "svg") || is(x, "html") ? x->max_nodes : 0};
    struct fk_tree_view v;
    if (is(x, "dot"))
        return fk_render_dot(t, &picture, x->max_nodes, out, err);
    int r = fk_tree_view(t, &opts, fk_query_arena(x->q), &v, err);
    if (r)
        return r;
    if (is(x, "folded"))
        return fk_folded_tree(&v, 0, out, err);
    if (is(x, "svg"))
        return fk_render_svg(&v, &picture, out, err);
    if (is(x, "html"))
        return fk_render_html(&v, &picture, out, err);
    return is(x, "flamebearer") ? write_flamebearer(x, &v, out, err)
                                : write_top(x, t, &v, head, out, err);
}

static int write_tree(const struct fk_export *x, struct fk_out out, struct fk_err *err)
{
    struct fk_render_facts facts;
    struct fk_tree *t = fk_tree_new(1, (size_t)x->c->api->opts.limits.query_memory);
    if (!t)
        return fk_fail_nomem(err);
    int r = fk_query_tree(x->q, t, 0, err);
    if (r == 0) {
        fk_call_facts(x->c, x->q, &facts);
        struct fk_render_head head = {x->type.id, x->type.unit, &facts};
        r = write_view(x, t, &head, out, err);
    }
    fk_tree_free(t);
    return r;
}

// ---- bytes as they were uploaded ----

static int write_original(const struct fk_export *x, struct fk_out out, struct fk_err *err)
{
    if (!x->single && !x->first.labels.n)
        return fk_fail(err, FK_E_NOTFOUND, "no profile matches, so there are no bytes of one");
    if (!x->single)
        return fk_fail_param(err, "format",
                             "format=original is for one profile: give its id, or each=true for a "
                             "zip; several were found");
    int denied = fk_call_needs(x->c, FK_SCOPE_ADMIN, "format=original", err);
    if (denied)
        return denied;
    struct fk_str name = fk_labels_get(&x->first.annotations, FK_S("original"));
    FK_AUTO_BUF bytes;
    fk_buf_init(&bytes, 0);
    if (!name.n)
        return fk_fail(
            err, FK_E_NOTFOUND,
            "the bytes of this profile were not kept (--originals); format=pprof exports "
            "what was stored");
    int r = fk_store_original(x->c->api->opts.store, name, &bytes, err);
    return r ? r : fk_out_put(out, bytes.p, bytes.n, err);
}

// ---- the call ----

int fk_export_write(struct fk_export *x, struct fk_out out, struct fk_err *err)
{
    switch (x->form->kind) {
    case FK_EXPORT_WHOLE:
        return write_whole(x, out, err);
    case FK_EXPORT_TREE:
        return write_tree(x, out, err);
    default:
        return write_original(x, out, err);
    }
}

static int read_form(struct fk_api_call *c, const struct fk_export_form **ret, struct fk_err *err)
{
    FK_AUTO_BUF words;
    struct fk_str word = fk_param(c, "format");
    fk_buf_init(&words, 0);
    for (size_t i = 0; i < FK_COUNTOF(forms); i++) {
        if (fk_str_eq(word, fk_str_of(forms[i].word))) {
            *ret = &forms[i];
            return 0;
        }
        fk_buf_printf(&words, "%s%s", i ? ", " : "", forms[i].word);
    }
    return fk_fail_param(err, "format", "format=%.*s is none of %.*s",
                         FK_STR_ARG(fk_str_head(word, 40)), FK_STR_ARG(fk_buf_view(&words)));
}

int fk_api_export(struct fk_api_call *c, struct fk_err *err)
{
    struct fk_export x = {.c = c};
    struct fk_query *q;
    int r = read_form(c, &x.form, err);
    uint64_t max_nodes = 16384;
    if (r)
        return r;
    if (is(&x, "dot"))
        max_nodes = 80;
    if ((r = fk_param_bool(c, "each", &x.each, err)) ||
        (r = fk_param_u64(c, "max_nodes", 0, UINT32_MAX, &max_nodes, err)) ||
        (r = fk_call_source(c, "", 0, &q, err)))
        return r;
    x.max_nodes = (uint32_t)max_nodes;
    if ((r = fk_export_look(&x, q, err)) || x.each)
        return r ? r : fk_export_each(&x, err);
    c->type = x.form->media;
    c->file_name = x.file_name;
    return fk_export_write(&x, fk_call_out(c), err);
}
