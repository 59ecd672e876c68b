// SPDX-License-Identifier: Apache-2.0
// flamekeep check: holds a data folder's blocks, packs and catalog against each other.
#include "cli/cli_int.h"

struct options {
    struct fk_str data;
    bool rebuild, seal, json;
};

static void report(void *arg, const char *text)
{
    (void)arg;
    fprintf(stderr, "problem: %s\n", text);
}

static void print_result(const struct options *o, const struct fk_store_check *c)
{
    if (o->json)
        printf("{\"problems\":%llu,\"blocks\":%llu,\"packs\":%llu,\"profiles\":%llu,\"samples\":%"
               "llu,\"bytes\":%llu}\n",
               (unsigned long long)c->problems, (unsigned long long)c->blocks,
               (unsigned long long)c->packs, (unsigned long long)c->profiles,
               (unsigned long long)c->samples, (unsigned long long)c->bytes);
    else
        printf("%llu profiles, %llu samples in %llu blocks (%llu bytes) and %llu packs: %llu "
               "problems\n",
               (unsigned long long)c->profiles, (unsigned long long)c->samples,
               (unsigned long long)c->blocks, (unsigned long long)c->bytes,
               (unsigned long long)c->packs, (unsigned long long)c->problems);
}

static int run(void *options, struct fk_opt_list *args)
{
    struct options *o = options;
    struct fk_err err = {0};
    struct fk_store *s;
    char path[FK_PATH_MAX];
    struct fk_store_check c = {.report = report};
    if (args->n || !o->data.n) {
        fprintf(stderr, "flamekeep: check needs --data DIR\n");
        return FK_EXIT_USAGE;
    }
    if (fk_path_printf(path, &err, "%.*s", FK_STR_ARG(o->data)))
        return fk_cli_fail(&err);
    if (fk_fs_exists(fk_fs_real(), path, &err) == 0) {
        fprintf(stderr, "flamekeep: there is no folder %s\n", path);
        return FK_EXIT_NOTFOUND;
    }
    if (fk_store_open(
            &(struct fk_store_opts){.dir = path, .run_inline = true, .rebuild = o->rebuild}, &s,
            &err))
        return fk_cli_fail(&err);
    int r = o->seal ? fk_store_seal(s, &err) : 0;
    if (r == 0)
        r = fk_store_check(s, &c, &err);
    fk_store_close(s);
    if (r)
        return fk_cli_fail(&err);
    print_result(o, &c);
    return c.problems ? FK_EXIT_PROBLEMS : FK_EXIT_OK;
}

static const struct fk_option rows[] = {
    {"--data", "DIR", FK_OPT_STR, offsetof(struct options, data),
     "the folder; no server may use it", NULL},
    {"--rebuild", NULL, FK_OPT_FLAG, offsetof(struct options, rebuild),
     "makes the catalog anew from the blocks first", NULL},
    {"--seal", NULL, FK_OPT_FLAG, offsetof(struct options, seal),
     "writes what is in packs as blocks first", NULL},
    {"--json", NULL, FK_OPT_FLAG, offsetof(struct options, json), "prints the result as JSON",
     NULL},
};
const struct fk_command fk_cmd_check = {"check", "--data DIR",     "verifies a data folder", NULL,
                                        rows,    FK_COUNTOF(rows), sizeof(struct options),   run};
