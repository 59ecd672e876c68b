// SPDX-License-Identifier: Apache-2.0
// flamekeep top: functions by weight.
#include "cli/cli_int.h"

struct options {
    struct fk_target_opts target;
    struct fk_source_opts source;
    struct fk_str sort, limit;
    bool json;
};

static int print_top(const struct fk_value *v)
{
    static const char *const heads[] = {">self",   ">self%",   ">total",
                                        ">total%", "function", "package"};
    const struct fk_value *rows = fk_value_get(v, "rows");
    struct fk_str unit = fk_value_text(v, "unit");
    struct fk_table *t = fk_table_new(heads, FK_COUNTOF(heads));
    if (!t)
        return -FK_E_NOMEM;
    for (const struct fk_value *r = rows ? rows->first : NULL; r; r = r->next) {
        char self[40], total[40], name[300], package[120];
        fk_human(self, sizeof(self), fk_value_double(r, "self"), unit);
        fk_human(total, sizeof(total), fk_value_double(r, "total"), unit);
        fk_plain(name, sizeof(name), fk_value_text(r, "function"));
        fk_plain(package, sizeof(package), fk_value_text(r, "package"));
        fk_table_cell(t, "%s", self);
        fk_table_cell(t, "%.1f%%", fk_value_double(r, "self_share") * 100);
        fk_table_cell(t, "%s", total);
        fk_table_cell(t, "%.1f%%", fk_value_double(r, "total_share") * 100);
        fk_table_cell(t, "%s", name);
        fk_table_cell(t, "%s", package);
    }
    printf("%.*s, total %.*s\n", FK_STR_ARG(fk_value_text(v, "type")),
           FK_STR_ARG(fk_value_text(v, "total")));
    fk_table_print(t, stdout);
    fk_table_free(t);
    return 0;
}

static int run(void *options, struct fk_opt_list *args)
{
    struct options *o = options;
    FK_AUTO_BUF target;
    fk_buf_init(&target, 0);
    fk_ask_path(&target, "/api/v1/top");
    fk_ask_source(&target, &o->source, fk_args_are_files(args) ? NULL : args);
    fk_ask_param(&target, "sort", o->sort);
    fk_ask_param(&target, "limit", o->limit.n ? o->limit : FK_S("20"));
    return fk_cli_show(&o->target, args, &target, o->json, print_top);
}

static const struct fk_option rows[] = {
    FK_TARGET_OPTIONS(struct options),
    FK_SOURCE_OPTIONS(struct options),
    {"--focus", "NAME", FK_OPT_STRS, offsetof(struct options, source.focus),
     "only stacks with this function, or /regex/", NULL},
    {"--hide", "NAME", FK_OPT_STRS, offsetof(struct options, source.hide), "takes these frames out",
     NULL},
    {"--collapse", "NAME", FK_OPT_STRS, offsetof(struct options, source.collapse),
     "what it calls counts as its own", NULL},
    {"--sort", "KEY", FK_OPT_STR, offsetof(struct options, sort),
     "self, total or name; with a minus descending", "-self"},
    {"--limit", "N", FK_OPT_STR, offsetof(struct options, limit), "rows, 0 for all", "20"},
    {"--json", NULL, FK_OPT_FLAG, offsetof(struct options, json), "prints the answer as JSON",
     NULL},
};
const struct fk_command fk_cmd_top = {
    "top",
    "[ID ... | FILE ...]",
    "lists functions by weight",
    "Of the profiles named by id (merged), of those that --query, --from and --until choose, or of "
    "files (no server is needed then).",
    rows,
    FK_COUNTOF(rows),
    sizeof(struct options),
    run};
