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

static int run(void *options, struct fk_opt_list *args)
{
    struct options *o = options;
    FK_AUTO_BUF target;
    fk_buf_init(&target, 0);
    if (args->n != 1) {
        fprintf(stderr, "flamekeep: show needs one profile id; flamekeep ls lists them\n");
        return FK_EXIT_USAGE;
    }
    fk_ask_path(&target, "/api/v1/profiles/");
    fk_http_percent_put(&target, args->v[0], false);
    return fk_cli_show(&o->target, &target, o->json, print_facts);
}

static const struct fk_option rows[] = {
    FK_TARGET_OPTIONS(struct options),
    {"--json", NULL, FK_OPT_FLAG, offsetof(struct options, json), "prints the answer as JSON",
     NULL},
};
const struct fk_command fk_cmd_show = {"show",
                                       "ID",
                                       "shows the facts of one profile",
                                       NULL,
                                       rows,
                                       FK_COUNTOF(rows),
                                       sizeof(struct options),
                                       run};
