// SPDX-License-Identifier: Apache-2.0
// Exports: a source as a file of another tool.
#include "api/api_int.h"

enum { PPROF, FOLDED, FLAMEBEARER, TOP_CSV, TOP_JSON, ORIGINAL };
static const char *const words[] = {"pprof",    "folded",   "flamebearer", "top.csv",
                                    "top.json", "original", NULL};
static const char *const endings[] = {"pb.gz", "folded.txt", "flamebearer.json", "top.csv",
                                      "top.json"};
static const char *const media[] = {"application/vnd.google.protobuf+gzip",
                                    "text/plain; charset=utf-8", "application/json",
                                    "text/csv; charset=utf-8", "application/json"};

// service-type-time.ending, only of characters that every file system takes.
static struct fk_str file_name(struct fk_api_call *c, struct fk_str service, struct fk_str type,
                               int64_t time_ns, const char *ending)
{
    char time[FK_TIME_CHARS + 1];
    fk_time_format(time_ns, time);
    struct fk_str name =
        fk_arena_printf(c->arena, "%.*s-%.*s-%.19s.%s", FK_STR_ARG(fk_str_head(service, 60)),
                        FK_STR_ARG(fk_str_head(type, 40)), time, ending);
    char *p = name.p ? fk_arena_alloc(c->arena, name.n + 1) : NULL;
    for (size_t i = 0; p && i < name.n; i++) {
        char x = name.p[i];
        bool plain = (x >= 'a' && x <= 'z') || (x >= 'A' && x <= 'Z') || (x >= '0' && x <= '9') ||
                     x == '-' || x == '_' || x == '.';
        p[i] = plain ? x : '_';
    }
    return p ? fk_str_make(p, name.n) : FK_S("profile");
}

static int export_pprof(struct fk_api_call *c, struct fk_query *q, struct fk_err *err)
{
    struct fk_profile p;
    int r = fk_query_profile(q, &p, err);
    if (r)
        return r;
    return fk_encode(FK_FORMAT_PPROF, &p, &(struct fk_encode_opts){.gzip_level = 6},
                     fk_out_buf(&c->body), err);
}

static int export_tree(struct fk_api_call *c, int format, const struct fk_tree *t,
                       const struct fk_type_facts *type, const struct fk_render_facts *facts,
                       struct fk_err *err)
{
    struct fk_render_head head = {type->id, type->unit, facts};
    struct fk_out out = fk_out_buf(&c->body);
    struct fk_tree_view v;
    struct fk_top top;
    struct fk_flamebearer f;
    int r = fk_tree_view(t, &(struct fk_tree_opts){0}, c->arena, &v, err);
    if (r || format == FOLDED)
        return r ? r : fk_folded_tree(&v, 0, out, err);
    if (format == FLAMEBEARER) {
        r = fk_flamebearer_make(&v, c->arena, &f, err);
        return r ? r : fk_render_flamebearer(&f, type->type, type->unit, out, err);
    }
    if ((r = fk_tree_top(t, FK_TOP_SELF, true, 0, c->arena, &top, err)))
        return r;
    return format == TOP_CSV ? fk_render_top_csv(&top, v.sum[0], out, err)
                             : fk_render_top(&top, v.sum[0], &head, out, err);
}

static int run_tree(struct fk_api_call *c, int format, struct fk_query *q,
                    const struct fk_type_facts *type, struct fk_err *err)
{
    struct fk_render_facts facts;
    struct fk_tree *t = fk_tree_new(1, (size_t)c->api->opts.limits.query_memory);
    if (!t)
        return fk_fail_nomem(err);
    int r = fk_query_tree(q, t, 0, err);
    if (r == 0) {
        fk_call_facts(c, q, &facts);
        r = export_tree(c, format, t, type, &facts, err);
    }
    fk_tree_free(t);
    return r;
}

static int name_file(struct fk_api_call *c, struct fk_query *q, int format, struct fk_str type,
                     struct fk_err *err)
{
    struct fk_list_spec spec = {.key = FK_LIST_TIME, .limit = 1};
    struct fk_page_of_entries page;
    int r = fk_query_list(q, &spec, &page, err);
    if (r == 0 && page.n)
        c->file_name = file_name(c, fk_labels_get(&page.entry[0].labels, FK_S("service_name")),
                                 type, page.entry[0].time_ns, endings[format]);
    return r;
}

// The bytes of one entry as they were uploaded.
static int export_original(struct fk_api_call *c, struct fk_query *q, struct fk_err *err)
{
    struct fk_list_spec spec = {.key = FK_LIST_TIME, .limit = 2};
    struct fk_page_of_entries page;
    int r = fk_query_list(q, &spec, &page, err);
    if (r)
        return r;
    if (page.n != 1)
        return fk_fail_param(err, "format",
                             "format=original is for one profile: give its id; %s were found",
                             page.n ? "several" : "none");
    const struct fk_entry *e = &page.entry[0];
    struct fk_str name = fk_labels_get(&e->annotations, FK_S("original"));
    if (!name.n)
        return fk_fail(
            err, FK_E_NOTFOUND,
            "the bytes of this profile were not kept (--originals); format=pprof exports "
            "what was stored");
    c->type = "application/octet-stream";
    c->file_name = file_name(c, fk_labels_get(&e->labels, FK_S("service_name")), FK_S("original"),
                             e->time_ns, "bin");
    return fk_store_original(c->api->opts.store, name, &c->body, err);
}

int fk_api_export(struct fk_api_call *c, struct fk_err *err)
{
    struct fk_query *q;
    struct fk_type_facts type = {.type = FK_S("profile")};
    int format, r;
    if (!fk_param(c, "format").n)
        return fk_fail_param(
            err, "format",
            "format= is missing: pprof, folded, flamebearer, top.csv, top.json or original");
    if ((r = fk_param_word(c, "format", words, PPROF, &format, err)) ||
        (r = fk_call_source(c, "", 0, &q, err)))
        return r;
    if (format == ORIGINAL)
        return export_original(c, q, err);
    if (format != PPROF && (r = fk_query_type(q, &type, err)))
        return r;
    if (format == PPROF && fk_param(c, "type").n && (r = fk_query_type(q, &type, err)))
        return r;
    r = format == PPROF ? export_pprof(c, q, err) : run_tree(c, format, q, &type, err);
    c->type = media[format];
    return r ? r : name_file(c, q, format, type.type, err);
}
