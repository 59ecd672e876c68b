// SPDX-License-Identifier: Apache-2.0
// flamekeep export: profiles as a file.
#include "cli/cli_int.h"

struct options {
    struct fk_target_opts target;
    struct fk_source_opts source;
    struct fk_str format, output, max_nodes;
    bool each;
};

int fk_cli_write_answer(struct fk_str output, const struct fk_api_answer *a, struct fk_err *err)
{
    char path[FK_PATH_MAX];
    bool to_stdout = fk_str_eq(output, FK_S("-")) || (!output.n && !fk_cli_is_terminal(stdout));
    if (to_stdout)
        return fwrite(a->body.p ? a->body.p : "", 1, a->body.n, stdout) == a->body.n &&
                       fflush(stdout) == 0
                   ? 0
                   : fk_fail(err, FK_E_IO, "standard output cannot be written");
    struct fk_str name = output.n ? output : fk_str_of(a->file_name[0] ? a->file_name : "profile");
    int r = fk_path_printf(path, err, "%.*s", FK_STR_ARG(name));
    if (r == 0)
        r = fk_fs_write_file(fk_fs_real(), path, fk_buf_view(&a->body), err);
    if (r == 0)
        fprintf(stderr, "wrote %s (%zu bytes)\n", path, a->body.n);
    return r;
}

static int run(void *options, struct fk_opt_list *args)
{
    struct options *o = options;
    struct fk_target *t;
    struct fk_err err = {0};
    FK_AUTO_BUF target;
    struct fk_api_answer answer;
    fk_buf_init(&target, 0);
    if (fk_target_open_for(&o->target, args, FK_S(""), &t, &err))
        return fk_cli_fail(&err);
    fk_ask_path(&target, "/api/v1/export");
    fk_ask_param(&target, "format", o->format.n ? o->format : FK_S("pprof"));
    fk_ask_param(&target, "max_nodes", o->max_nodes);
    fk_ask_param(&target, "each", o->each ? FK_S("true") : FK_S(""));
    fk_ask_source(&target, &o->source, args);
    int r = fk_target_ask(t, &(struct fk_api_ask){.method = "GET", .target = fk_buf_view(&target)},
                          &answer, &err);
    if (r == 0)
        r = fk_cli_write_answer(o->output, &answer, &err);
    fk_buf_free(&answer.body);
    fk_target_close(t);
    return r ? fk_cli_fail(&err) : FK_EXIT_OK;
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
    {"--format", "NAME", FK_OPT_STR, offsetof(struct options, format),
     "original, pprof, pgo, otlp, folded, speedscope, firefox, flamebearer, svg, html, dot, "
     "top.csv, top.json",
     "pprof"},
    {"--each", NULL, FK_OPT_FLAG, offsetof(struct options, each),
     "each profile as a file of its own, all in one zip", NULL},
    {"--max-nodes", "N", FK_OPT_STR, offsetof(struct options, max_nodes),
     "svg, html: nodes of the tree; dot: functions; 0: all", "16384; dot: 80"},
    {"--output", "FILE", FK_OPT_STR, offsetof(struct options, output),
     "where to; - is standard output", "a name of its own on a terminal"},
};
const struct fk_command fk_cmd_export = {"export",
                                         "[ID ... | FILE ...]",
                                         "writes profiles as a file of another tool",
                                         "One id and pprof gives the profile back as it was "
                                         "uploaded. Several ids, or --query, are merged, "
                                         "unless --each is given. pgo is for go build -pgo. Times "
                                         "of samples go into speedscope, firefox, pprof and otlp.",
                                         rows,
                                         FK_COUNTOF(rows),
                                         sizeof(struct options),
                                         run};
