// SPDX-License-Identifier: Apache-2.0
// flamekeep diff: two profiles beside each other, function by function.
#include "cli/cli_int.h"

struct options {
    struct fk_target_opts target;
    struct fk_str type, mode, limit, sort;
    bool json;
};

static void cell(struct fk_table *t, double value, struct fk_str unit, bool share)
{
    char text[40];
    if (share) {
        fk_table_cell(t, "%+.2f%%", value * 100);
        return;
    }
    fk_human(text, sizeof(text), value < 0 ? -value : value, unit);
    fk_table_cell(t, "%s%s", value < 0 ? "-" : value > 0 ? "+" : "", text);
}

static int print_diff(const struct fk_value *v)
{
    static const char *const heads[] = {">change", ">left", ">right", "function", "package"};
    const struct fk_value *rows = fk_value_get(v, "rows");
    struct fk_str unit = fk_value_text(v, "unit");
    bool share = fk_str_eq(fk_value_text(v, "mode"), FK_S("share"));
    struct fk_table *t = fk_table_new(heads, FK_COUNTOF(heads));
    if (!t)
        return -FK_E_NOMEM;
    for (const struct fk_value *r = rows ? rows->first : NULL; r; r = r->next) {
        char left[40], right[40], name[300], package[120];
        fk_human(left, sizeof(left), fk_value_double(r, "left_self"), unit);
        fk_human(right, sizeof(right), fk_value_double(r, "right_self"), unit);
        fk_plain(name, sizeof(name), fk_value_text(r, "function"));
        fk_plain(package, sizeof(package), fk_value_text(r, "package"));
        cell(t, fk_value_double(r, "delta"), unit, share);
        fk_table_cell(t, "%s", left);
        fk_table_cell(t, "%s", right);
        fk_table_cell(t, "%s", name);
        fk_table_cell(t, "%s", package);
    }
    printf("%.*s, own weight, change in %s\n", FK_STR_ARG(fk_value_text(v, "type")),
           share ? "shares of each side's total" : "absolute values");
    fk_table_print(t, stdout);
    fk_table_free(t);
    return 0;
}

static int run(void *options, struct fk_opt_list *args)
{
    struct options *o = options;
    FK_AUTO_BUF target;
    fk_buf_init(&target, 0);
    if (args->n != 2) {
        fprintf(stderr, "flamekeep: diff needs two profile ids, or two files\n");
        return FK_EXIT_USAGE;
    }
    struct fk_opt_list left = {{args->v[0]}, 1}, right = {{args->v[1]}, 1};
    if (fk_args_are_files(&left) != fk_args_are_files(&right)) {
        fprintf(stderr, "flamekeep: diff of a profile id and a file: give two ids or two files\n");
        return FK_EXIT_USAGE;
    }
    fk_ask_path(&target, "/api/v1/diff/top");
    if (fk_args_are_files(args)) {
        fk_ask_param(&target, "left_query", FK_S("{file=\"0\"}"));
        fk_ask_param(&target, "right_query", FK_S("{file=\"1\"}"));
    } else {
        fk_ask_param(&target, "left_id", args->v[0]);
        fk_ask_param(&target, "right_id", args->v[1]);
    }
    fk_ask_param(&target, "type", o->type);
    fk_ask_param(&target, "mode", o->mode);
    fk_ask_param(&target, "sort", o->sort);
    fk_ask_param(&target, "limit", o->limit.n ? o->limit : FK_S("20"));
    return fk_cli_show(&o->target, args, &target, o->json, print_diff);
}

static const struct fk_option rows[] = {
    FK_TARGET_OPTIONS(struct options),
    {"--type", "ID", FK_OPT_STR, offsetof(struct options, type),
     "profile type, where there are several", NULL},
    {"--mode", "WORD", FK_OPT_STR, offsetof(struct options, mode),
     "share of each side's total, or absolute", "share"},
    {"--sort", "KEY", FK_OPT_STR, offsetof(struct options, sort),
     "delta, self, total or name; with a minus descending", "-delta"},
    {"--limit", "N", FK_OPT_STR, offsetof(struct options, limit), "rows, 0 for all", "20"},
    {"--json", NULL, FK_OPT_FLAG, offsetof(struct options, json), "prints the answer as JSON",
     NULL},
};
const struct fk_command fk_cmd_diff = {"diff",
                                       "LEFT RIGHT",
                                       "compares two profiles",
                                       "Each is a profile id, or a file (then no server is "
                                       "needed). Positive: the right side has more.",
                                       rows,
                                       FK_COUNTOF(rows),
                                       sizeof(struct options),
                                       run};
