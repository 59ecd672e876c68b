// SPDX-License-Identifier: Apache-2.0
// flamekeep ls: lists entries.
#include "cli/cli_int.h"

struct options {
    struct fk_target_opts target;
    struct fk_source_opts source;
    struct fk_str sort, limit, cursor, min_value, max_value, min_duration, max_duration;
    bool json, all;
};

// "name=value name=value", without the service.
static void labels_text(const struct fk_value *labels, char *to, size_t n)
{
    struct fk_buf b;
    fk_buf_init(&b, 0);
    for (const struct fk_value *l = labels ? labels->first : NULL; l; l = l->next) {
        if (fk_str_eq(l->key, FK_S("service_name")))
            continue;
        fk_buf_cstr(&b, b.n ? " " : "");
        fk_buf_str(&b, l->key);
        fk_buf_byte(&b, '=');
        fk_buf_str(&b, l->text);
    }
    fk_plain(to, n, fk_buf_view(&b));
    fk_buf_free(&b);
}

static void add_row(struct fk_table *t, const struct fk_value *e, struct fk_str type)
{
    char service[120], labels[300], total[40] = "", short_type[60] = "";
    const struct fk_value *types = fk_value_get(e, "types"), *shown = types ? types->first : NULL;
    for (const struct fk_value *x = shown; type.n && x; x = x->next)
        if (fk_str_eq(fk_value_text(x, "type"), type))
            shown = x;
    if (shown) {
        struct fk_type_id id;
        fk_human(total, sizeof(total), fk_value_double(shown, "total"),
                 fk_value_text(shown, "unit"));
        if (fk_type_id_parse(fk_value_text(shown, "type"), &id, NULL) == 0)
            fk_plain(short_type, sizeof(short_type), id.type);
    }
    fk_plain(service, sizeof(service), fk_value_text(e, "service_name"));
    labels_text(fk_value_get(e, "labels"), labels, sizeof(labels));
    fk_table_cell(t, "%.*s", FK_STR_ARG(fk_value_text(e, "id")));
    fk_table_cell(t, "%.19s", fk_value_text(e, "time").n > 19 ? fk_value_text(e, "time").p : "");
    fk_table_cell(t, "%s", service);
    fk_table_cell(t, "%s", short_type);
    fk_table_cell(t, "%s", total);
    fk_table_cell(t, "%lld", (long long)fk_value_int(e, "samples"));
    fk_table_cell(t, "%s", labels);
}

static int print_page(const struct fk_value *v, struct fk_str type, size_t *shown)
{
    static const char *const heads[] = {"id",     "time",     "service", "type",
                                        ">total", ">samples", "labels"};
    const struct fk_value *profiles = fk_value_get(v, "profiles");
    struct fk_table *t = fk_table_new(heads, FK_COUNTOF(heads));
    if (!t)
        return -FK_E_NOMEM;
    for (const struct fk_value *e = profiles ? profiles->first : NULL; e; e = e->next, ++*shown)
        add_row(t, e, type);
    if (*shown)
        fk_table_print(t, stdout);
    fk_table_free(t);
    return 0;
}

static void page_target(const struct options *o, struct fk_str cursor, struct fk_buf *target)
{
    fk_ask_path(target, "/api/v1/profiles");
    fk_ask_source(target, &o->source, NULL);
    fk_ask_param(target, "sort", o->sort);
    fk_ask_param(target, "limit", o->limit);
    fk_ask_param(target, "min_value", o->min_value);
    fk_ask_param(target, "max_value", o->max_value);
    fk_ask_param(target, "min_duration", o->min_duration);
    fk_ask_param(target, "max_duration", o->max_duration);
    fk_ask_param(target, "cursor", cursor);
}

// One page; the next cursor in *cursor (a buffer of the caller).
static int one_page(struct fk_target *t, const struct options *o, struct fk_buf *cursor,
                    size_t *shown, struct fk_err *err)
{
    FK_AUTO_BUF target;
    FK_AUTO_ARENA a;
    struct fk_api_answer answer;
    struct fk_value *v;
    fk_buf_init(&target, 0);
    fk_arena_init(&a, 0);
    page_target(o, fk_buf_view(cursor), &target);
    int r = fk_target_ask(t, &(struct fk_api_ask){.method = "GET", .target = fk_buf_view(&target)},
                          &answer, err);
    if (r)
        return r;
    r = fk_value_parse(fk_buf_view(&answer.body), &a, &v, err);
    if (r == 0 && o->json)
        fwrite(answer.body.p, 1, answer.body.n, stdout);
    if (r == 0 && !o->json && print_page(v, o->source.type, shown))
        r = fk_fail_nomem(err);
    fk_buf_clear(cursor);
    if (r == 0)
        fk_buf_str(cursor, fk_value_text(v, "next_cursor"));
    fk_buf_free(&answer.body);
    return r;
}

static int run(void *options, struct fk_opt_list *args)
{
    struct options *o = options;
    struct fk_target *t;
    struct fk_err err = {0};
    FK_AUTO_BUF cursor;
    size_t shown = 0;
    fk_buf_init(&cursor, 0);
    if (args->n) {
        fprintf(stderr, "flamekeep: ls takes no arguments; give a selector with --query\n");
        return FK_EXIT_USAGE;
    }
    if (fk_target_open(&o->target, &t, &err))
        return fk_cli_fail(&err);
    fk_buf_str(&cursor, o->cursor);
    int r;
    do
        r = one_page(t, o, &cursor, &shown, &err);
    while (r == 0 && o->all && cursor.n);
    fk_target_close(t);
    if (r)
        return fk_cli_fail(&err);
    if (!o->json && cursor.n)
        fprintf(stderr, "more: --cursor %.*s (or --all)\n", FK_STR_ARG(fk_buf_view(&cursor)));
    if (!o->json && shown == 0)
        fprintf(stderr, "flamekeep: no profile matches\n");
    return o->json || shown ? FK_EXIT_OK : FK_EXIT_NOTFOUND;
}

static const struct fk_option rows[] = {
    FK_TARGET_OPTIONS(struct options),
    FK_SOURCE_OPTIONS(struct options),
    {"--sort", "KEY", FK_OPT_STR, offsetof(struct options, sort),
     "time, value, duration, samples, size; with a minus descending", "-time"},
    {"--limit", "N", FK_OPT_STR, offsetof(struct options, limit), "entries a page, up to 1000",
     "100"},
    {"--cursor", "TEXT", FK_OPT_STR, offsetof(struct options, cursor), "goes on where a page ended",
     NULL},
    {"--min-value", "N", FK_OPT_STR, offsetof(struct options, min_value), "least total of the type",
     NULL},
    {"--max-value", "N", FK_OPT_STR, offsetof(struct options, max_value),
     "largest total of the type", NULL},
    {"--min-duration", "DURATION", FK_OPT_STR, offsetof(struct options, min_duration),
     "shortest profile", NULL},
    {"--max-duration", "DURATION", FK_OPT_STR, offsetof(struct options, max_duration),
     "longest profile", NULL},
    {"--all", NULL, FK_OPT_FLAG, offsetof(struct options, all), "all pages", NULL},
    {"--json", NULL, FK_OPT_FLAG, offsetof(struct options, json), "prints the answer as JSON",
     NULL},
};
const struct fk_command fk_cmd_ls = {
    "ls", "", "lists profiles", NULL, rows, FK_COUNTOF(rows), sizeof(struct options), run};
