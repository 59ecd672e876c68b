// SPDX-License-Identifier: Apache-2.0
// flamekeep labels: names, or the values of one.
#include "cli/cli_int.h"

struct options {
    struct fk_target_opts target;
    struct fk_source_opts source;
    struct fk_str prefix, limit;
    bool json;
};

static int print_list(const struct fk_value *v, bool values)
{
    static const char *const name_heads[] = {"name", ">values", ">profiles"},
                             *const value_heads[] = {"value", ">profiles"};
    const struct fk_value *list = fk_value_get(v, values ? "values" : "names");
    struct fk_table *t = values ? fk_table_new(value_heads, 2) : fk_table_new(name_heads, 3);
    if (!t)
        return -FK_E_NOMEM;
    for (const struct fk_value *x = list ? list->first : NULL; x; x = x->next) {
        char text[300];
        fk_plain(text, sizeof(text), fk_value_text(x, values ? "value" : "name"));
        fk_table_cell(t, "%s", text);
        if (!values)
            fk_table_cell(t, "%.*s", FK_STR_ARG(fk_value_text(x, "values")));
        fk_table_cell(t, "%.*s", FK_STR_ARG(fk_value_text(x, "profiles")));
    }
    fk_table_print(t, stdout);
    fk_table_free(t);
    return 0;
}

static int run(void *options, struct fk_opt_list *args)
{
    struct options *o = options;
    struct fk_target *t;
    struct fk_err err = {0};
    FK_AUTO_BUF target;
    FK_AUTO_ARENA a;
    struct fk_api_answer answer;
    struct fk_value *v;
    fk_buf_init(&target, 0);
    fk_arena_init(&a, 0);
    if (args->n > 1) {
        fprintf(stderr, "flamekeep: labels takes one label name at most\n");
        return FK_EXIT_USAGE;
    }
    if (fk_target_open(&o->target, &t, &err))
        return fk_cli_fail(&err);
    fk_ask_path(&target, args->n ? "/api/v1/labels/" : "/api/v1/labels");
    if (args->n) {
        fk_http_percent_put(&target, args->v[0], false);
        fk_buf_cstr(&target, "/values");
    }
    fk_ask_source(&target, &o->source, NULL);
    fk_ask_param(&target, "prefix", o->prefix);
    fk_ask_param(&target, "limit", o->limit);
    int r = fk_target_ask(t, &(struct fk_api_ask){.method = "GET", .target = fk_buf_view(&target)},
                          &answer, &err);
    if (r == 0 && o->json)
        fwrite(answer.body.p, 1, answer.body.n, stdout);
    else if (r == 0 && (r = fk_value_parse(fk_buf_view(&answer.body), &a, &v, &err)) == 0 &&
             print_list(v, args->n > 0))
        r = fk_fail_nomem(&err);
    fk_buf_free(&answer.body);
    fk_target_close(t);
    return r ? fk_cli_fail(&err) : FK_EXIT_OK;
}

static const struct fk_option rows[] = {
    FK_TARGET_OPTIONS(struct options),
    FK_SOURCE_OPTIONS(struct options),
    {"--prefix", "TEXT", FK_OPT_STR, offsetof(struct options, prefix), "only those that begin so",
     NULL},
    {"--limit", "N", FK_OPT_STR, offsetof(struct options, limit), "at most so many", "1000"},
    {"--json", NULL, FK_OPT_FLAG, offsetof(struct options, json), "prints the answer as JSON",
     NULL},
};
const struct fk_command fk_cmd_labels = {"labels",
                                         "[NAME]",
                                         "lists label names, or the values of one",
                                         NULL,
                                         rows,
                                         FK_COUNTOF(rows),
                                         sizeof(struct options),
                                         run};
