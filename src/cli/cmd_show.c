// SPDX-License-Identifier: Apache-2.0
// flamekeep show: the facts of one profile, and its heaviest functions.
#include "cli/cli_int.h"

struct options {
    struct fk_target_opts target;
    bool json;
};

static void print_labels(const char *head, const struct fk_value *v)
{
    for (const struct fk_value *l = v ? v->first : NULL; l; l = l->next) {
        char name[80], value[200];
        fk_plain(name, sizeof(name), l->key);
        fk_plain(value, sizeof(value), l->text);
        printf("%-12s %s=%s\n", head, name, value);
        head = "";
    }
}

static int print_facts(const struct fk_value *v)
{
    const struct fk_value *types = fk_value_get(v, "types"), *maps = fk_value_get(v, "mappings");
    char text[200];
    printf("%-12s %.*s\n", "id", FK_STR_ARG(fk_value_text(v, "id")));
    printf("%-12s %.*s\n", "time", FK_STR_ARG(fk_value_text(v, "time")));
    fk_human(text, sizeof(text), fk_value_double(v, "duration_ns"), FK_S("nanoseconds"));
    printf("%-12s %s\n", "duration", text);
    print_labels("labels", fk_value_get(v, "labels"));
    print_labels("annotations", fk_value_get(v, "annotations"));
    printf("%-12s %lld\n", "samples", (long long)fk_value_int(v, "samples"));
    printf("%-12s %lld B\n", "size", (long long)fk_value_int(v, "size"));
    for (const struct fk_value *t = types ? types->first : NULL; t; t = t->next) {
        fk_human(text, sizeof(text), fk_value_double(t, "total"), fk_value_text(t, "unit"));
        printf("%-12s %.*s  %s  (%.*s)\n", t == types->first ? "types" : "",
               FK_STR_ARG(fk_value_text(t, "type")), text, FK_STR_ARG(fk_value_text(t, "kind")));
    }
    size_t n = 0;
    for (const struct fk_value *m = maps ? maps->first : NULL; m && n < 10; m = m->next, n++) {
        fk_plain(text, sizeof(text), fk_value_text(m, "file"));
        printf("%-12s %s  %.*s\n", n ? "" : "mappings", text,
               FK_STR_ARG(fk_value_text(m, "build_id")));
    }
    printf("%-12s %.*s\n", "previous", FK_STR_ARG(fk_value_text(v, "previous")));
    printf("%-12s %.*s\n", "next", FK_STR_ARG(fk_value_text(v, "next")));
    return 0;
}

static int show_one(struct fk_target *t, struct fk_str id, bool json, struct fk_err *err)
{
    FK_AUTO_BUF target;
    FK_AUTO_ARENA a;
    struct fk_api_answer answer;
    struct fk_value *v;
    fk_buf_init(&target, 0);
    fk_arena_init(&a, 0);
    fk_ask_path(&target, "/api/v1/profiles/");
    fk_http_percent_put(&target, id, false);
    int r = fk_target_ask(t, &(struct fk_api_ask){.method = "GET", .target = fk_buf_view(&target)},
                          &answer, err);
    if (r == 0 && json)
        fwrite(answer.body.p, 1, answer.body.n, stdout);
    else if (r == 0 && (r = fk_value_parse(fk_buf_view(&answer.body), &a, &v, err)) == 0)
        print_facts(v);
    fk_buf_free(&answer.body);
    return r;
}

// A file may hold several profiles.
static int show_all(struct fk_target *t, bool json, struct fk_err *err)
{
    FK_AUTO_ARENA a;
    struct fk_api_answer answer;
    struct fk_value *v;
    fk_arena_init(&a, 0);
    struct fk_api_ask ask = {.method = "GET",
                             .target = FK_S("/api/v1/profiles?sort=time&limit=1000")};
    int r = fk_target_ask(t, &ask, &answer, err);
    if (r == 0)
        r = fk_value_parse(fk_buf_view(&answer.body), &a, &v, err);
    const struct fk_value *list = r ? NULL : fk_value_get(v, "profiles");
    for (const struct fk_value *p = list ? list->first : NULL; r == 0 && p; p = p->next) {
        if (p != list->first && !json)
            printf("\n");
        r = show_one(t, fk_value_text(p, "id"), json, err);
    }
    fk_buf_free(&answer.body);
    return r;
}

static int run(void *options, struct fk_opt_list *args)
{
    struct options *o = options;
    struct fk_target *t;
    struct fk_err err = {0};
    if (args->n == 0 || (args->n > 1 && !fk_args_are_files(args))) {
        fprintf(stderr,
                "flamekeep: show needs one profile id, or files; flamekeep ls lists profiles\n");
        return FK_EXIT_USAGE;
    }
    if (fk_target_open_for(&o->target, args, FK_S(""), &t, &err))
        return fk_cli_fail(&err);
    int r = args->n ? show_one(t, args->v[0], o->json, &err) : show_all(t, o->json, &err);
    fk_target_close(t);
    return r ? fk_cli_fail(&err) : FK_EXIT_OK;
}

static const struct fk_option rows[] = {
    FK_TARGET_OPTIONS(struct options),
    {"--json", NULL, FK_OPT_FLAG, offsetof(struct options, json), "prints the answer as JSON",
     NULL},
};
const struct fk_command fk_cmd_show = {"show",
                                       "ID | FILE ...",
                                       "shows the facts of one profile",
                                       "A file is read without a server; one may hold several.",
                                       rows,
                                       FK_COUNTOF(rows),
                                       sizeof(struct options),
                                       run};
