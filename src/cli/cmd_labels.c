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

static int print_names(const struct fk_value *v)
{
    return print_list(v, false);
}

static int print_values(const struct fk_value *v)
{
    return print_list(v, true);
}

static int run(void *options, struct fk_opt_list *args)
{
    struct options *o = options;
    FK_AUTO_BUF target;
    fk_buf_init(&target, 0);
    if (args->n > 1) {
        fprintf(stderr, "flamekeep: labels takes one label name at most\n");
        return FK_EXIT_USAGE;
    }
    fk_ask_path(&target, args->n ? "/api/v1/labels/" : "/api/v1/labels");
    if (args->n) {
        fk_http_percent_put(&target, args->v[0], false);
        fk_buf_cstr(&target, "/values");
    }
    fk_ask_source(&target, &o->source, NULL);
    fk_ask_param(&target, "prefix", o->prefix);
    fk_ask_param(&target, "limit", o->limit);
    return fk_cli_show(&o->target, NULL, &target, o->json, args->n ? print_values : print_names);
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
