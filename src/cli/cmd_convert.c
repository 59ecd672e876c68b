// SPDX-License-Identifier: Apache-2.0
// flamekeep convert: a file of one tool as a file of another, without a server.
#include "cli/cli_int.h"

struct options {
    struct fk_source_opts source;
    struct fk_str from_format, format, max_nodes;
    bool each;
};

// What the ending of the output says.
static const struct {
    struct fk_str ending, format;
} endings[] = {
    {{".speedscope.json", 16}, {"speedscope", 10}},
    {{".flamebearer.json", 17}, {"flamebearer", 11}},
    {{".top.json", 9}, {"top.json", 8}},
    {{".firefox.json", 13}, {"firefox", 7}},
    {{".pb.gz", 6}, {"pprof", 5}},
    {{".pb", 3}, {"pprof", 5}},
    {{".pprof", 6}, {"pprof", 5}},
    {{".prof", 5}, {"pprof", 5}},
    {{".pgo", 4}, {"pgo", 3}},
    {{".folded", 7}, {"folded", 6}},
    {{".collapsed", 10}, {"folded", 6}},
    {{".txt", 4}, {"folded", 6}},
    {{".svg", 4}, {"svg", 3}},
    {{".html", 5}, {"html", 4}},
    {{".dot", 4}, {"dot", 3}},
    {{".csv", 4}, {"top.csv", 7}},
    {{".otlp", 5}, {"otlp", 4}},
};

static bool ends_in(struct fk_str s, struct fk_str end)
{
    return s.n >= end.n && fk_str_eq(fk_str_from(s, s.n - end.n), end);
}

static struct fk_str format_of(struct fk_str output)
{
    for (size_t i = 0; i < FK_COUNTOF(endings); i++)
        if (ends_in(output, endings[i].ending))
            return endings[i].format;
    return (struct fk_str){NULL, 0};
}

// The others hold all types, or choose by themselves.
static bool is_of_one_type(struct fk_str format)
{
    static const char *const words[] = {"folded", "flamebearer", "svg",     "html",
                                        "dot",    "top.csv",     "top.json"};
    bool found = false;
    for (size_t i = 0; i < FK_COUNTOF(words); i++)
        found |= fk_str_eq(format, fk_str_of(words[i]));
    return found;
}

static int convert(const struct options *o, struct fk_str in, struct fk_str out,
                   struct fk_str format, struct fk_err *err)
{
    struct fk_target *t;
    FK_AUTO_BUF target;
    struct fk_api_answer answer;
    fk_buf_init(&target, 0);
    fk_ask_path(&target, "/api/v1/export");
    fk_ask_param(&target, "format", format);
    fk_ask_param(&target, "max_nodes", o->max_nodes);
    fk_ask_param(&target, "each", o->each ? FK_S("true") : FK_S(""));
    fk_ask_source(&target, &o->source, NULL);
    int r = fk_target_open_temporary(&t, err);
    if (r == 0)
        r = fk_target_take_file(t, in, 0, o->from_format, err);
    if (r == 0 && is_of_one_type(format))
        r = fk_target_choose_type(t, &target, err);
    if (r == 0 &&
        (r = fk_target_ask(t, &(struct fk_api_ask){.method = "GET", .target = fk_buf_view(&target)},
                           &answer, err)) == 0) {
        r = fk_cli_write_answer(out, &answer, err);
        fk_buf_free(&answer.body);
    }
    fk_target_close(t);
    return r;
}

static int run(void *options, struct fk_opt_list *args)
{
    struct options *o = options;
    struct fk_err err = {0};
    if (args->n != 2) {
        fprintf(stderr, "flamekeep: convert needs two files: what to read and what to write\n");
        return FK_EXIT_USAGE;
    }
    struct fk_str format = o->format.n ? o->format : format_of(args->v[1]);
    if (!format.n) {
        fprintf(stderr, "flamekeep: the name %.*s does not tell the format; --format does\n",
                FK_STR_ARG(args->v[1]));
        return FK_EXIT_USAGE;
    }
    return convert(o, args->v[0], args->v[1], format, &err) ? fk_cli_fail(&err) : FK_EXIT_OK;
}

static const struct fk_option rows[] = {
    {"--type", "ID", FK_OPT_STR, offsetof(struct options, source.type),
     "profile type, where there are several", NULL},
    {"--focus", "NAME", FK_OPT_STRS, offsetof(struct options, source.focus),
     "only stacks with this function, or /regex/", NULL},
    {"--hide", "NAME", FK_OPT_STRS, offsetof(struct options, source.hide), "takes these frames out",
     NULL},
    {"--collapse", "NAME", FK_OPT_STRS, offsetof(struct options, source.collapse),
     "what it calls counts as its own", NULL},
    {"--from-format", "NAME", FK_OPT_STR, offsetof(struct options, from_format),
     "of the input, like pprof or jfr", "found out from the content"},
    {"--format", "NAME", FK_OPT_STR, offsetof(struct options, format),
     "of the output, as of export", "by the ending of its name"},
    {"--each", NULL, FK_OPT_FLAG, offsetof(struct options, each),
     "each profile of the file as a file of its own, all in one zip", NULL},
    {"--max-nodes", "N", FK_OPT_STR, offsetof(struct options, max_nodes),
     "svg, html: nodes of the tree; dot: functions; 0: all", "16384; dot: 80"},
};
const struct fk_command fk_cmd_convert = {
    "convert",
    "IN OUT",
    "turns a profile into another tool's format",
    "Needs no server and stores nothing. - is standard input and output. Endings: .pb.gz .pgo "
    ".otlp "
    ".folded .speedscope.json .firefox.json .flamebearer.json .svg .html .dot .csv .top.json",
    rows,
    FK_COUNTOF(rows),
    sizeof(struct options),
    run};
