// SPDX-License-Identifier: Apache-2.0
// flamekeep push: stores files.
#include "cli/cli_int.h"

struct options {
    struct fk_target_opts target;
    struct fk_str labels, format, time, duration, sample_rate;
    bool json;
};

static void print_receipt(struct fk_str name, const struct fk_value *v)
{
    const struct fk_value *profiles = fk_value_get(v, "profiles"),
                          *dropped = fk_value_get(v, "dropped");
    for (const struct fk_value *p = profiles ? profiles->first : NULL; p; p = p->next) {
        printf("%.*s  %.*s  %.*s\n", FK_STR_ARG(fk_value_text(p, "id")),
               FK_STR_ARG(fk_value_text(p, "time")), FK_STR_ARG(name));
        const struct fk_value *types = fk_value_get(p, "types");
        for (const struct fk_value *t = types ? types->first : NULL; t; t = t->next)
            printf("    %.*s  samples %lld  total %lld\n", FK_STR_ARG(fk_value_text(t, "type")),
                   (long long)fk_value_int(t, "samples"), (long long)fk_value_int(t, "total"));
    }
    for (const struct fk_value *d = dropped ? dropped->first : NULL; d; d = d->next)
        fprintf(stderr, "%.*s: dropped %lld: %.*s %.*s\n", FK_STR_ARG(name),
                (long long)fk_value_int(d, "count"), FK_STR_ARG(fk_value_text(d, "reason")),
                FK_STR_ARG(fk_value_text(d, "detail")));
    const struct fk_value *warnings = fk_value_get(v, "warnings");
    for (const struct fk_value *w = warnings ? warnings->first : NULL; w; w = w->next)
        fprintf(stderr, "%.*s: %.*s\n", FK_STR_ARG(name), FK_STR_ARG(w->text));
}

static int push_one(struct fk_target *t, const struct options *o, struct fk_str name,
                    struct fk_err *err)
{
    FK_AUTO_BUF bytes, target;
    FK_AUTO_ARENA a;
    struct fk_api_answer answer;
    struct fk_value *v;
    fk_buf_init(&bytes, 0);
    fk_buf_init(&target, 0);
    fk_arena_init(&a, 0);
    int r = fk_cli_read_input(name, &bytes, err);
    if (r)
        return r;
    fk_ask_path(&target, "/api/v1/upload");
    fk_ask_param(&target, "labels", o->labels);
    fk_ask_param(&target, "format", o->format);
    fk_ask_param(&target, "time", o->time);
    fk_ask_param(&target, "duration", o->duration);
    fk_ask_param(&target, "sample_rate", o->sample_rate);
    struct fk_api_ask ask = {.method = "POST",
                             .target = fk_buf_view(&target),
                             .body = fk_buf_view(&bytes),
                             .content_type = FK_S("application/octet-stream"),
                             .user_agent = FK_S("flamekeep/" FK_VERSION)};
    if ((r = fk_target_ask(t, &ask, &answer, err)))
        return r;
    if (o->json)
        fwrite(answer.body.p, 1, answer.body.n, stdout);
    else if ((r = fk_value_parse(fk_buf_view(&answer.body), &a, &v, err)) == 0)
        print_receipt(name, v);
    fk_buf_free(&answer.body);
    return r;
}

static int run(void *options, struct fk_opt_list *args)
{
    struct options *o = options;
    struct fk_target *t;
    struct fk_err err = {0};
    int code = FK_EXIT_OK;
    if (args->n == 0) {
        fprintf(stderr, "flamekeep: push needs files; - is standard input\n");
        return FK_EXIT_USAGE;
    }
    if (fk_target_open(&o->target, &t, &err))
        return fk_cli_fail(&err);
    for (size_t i = 0; i < args->n; i++)
        if (push_one(t, o, args->v[i], &err)) {
            fprintf(stderr, "%.*s: ", FK_STR_ARG(args->v[i]));
            code = fk_cli_fail(&err);
        }
    fk_target_close(t);
    return code;
}

static const struct fk_option rows[] = {
    FK_TARGET_OPTIONS(struct options),
    {"--labels", "LABELS", FK_OPT_STR, offsetof(struct options, labels),
     "like {service_name=\"web\",pod=\"web-1\"}", NULL},
    {"--format", "NAME", FK_OPT_STR, offsetof(struct options, format),
     "of the files, like pprof or jfr", "found out from the content"},
    {"--time", "TIME", FK_OPT_STR, offsetof(struct options, time),
     "instead of the time in the file", NULL},
    {"--duration", "DURATION", FK_OPT_STR, offsetof(struct options, duration),
     "instead of the duration in the file", NULL},
    {"--sample-rate", "HZ", FK_OPT_STR, offsetof(struct options, sample_rate),
     "of folded stacks: adds a column of nanoseconds", NULL},
    {"--json", NULL, FK_OPT_FLAG, offsetof(struct options, json), "prints the receipts as JSON",
     NULL},
};
const struct fk_command fk_cmd_push = {"push",
                                       "FILE ...",
                                       "stores profiles from files",
                                       "Every file is stored as one or more entries; the receipt "
                                       "says their ids, totals, and what was dropped.",
                                       rows,
                                       FK_COUNTOF(rows),
                                       sizeof(struct options),
                                       run};
