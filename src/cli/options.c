// SPDX-License-Identifier: Apache-2.0
// Parsing options from tables, and the help made from the same tables.
#include "cli/cli_int.h"

static int parse_bytes(struct fk_str s, uint64_t *ret)
{
    static const struct {
        const char *name;
        uint64_t factor;
    } units[] = {
        {"KiB", 1u << 10}, {"MiB", 1u << 20}, {"GiB", 1u << 30},  {"TiB", (uint64_t)1 << 40},
        {"kB", 1000},      {"MB", 1000000},   {"GB", 1000000000}, {"k", 1u << 10},
        {"M", 1u << 20},   {"G", 1u << 30},   {"B", 1},           {"", 1}};
    size_t digits = 0;
    uint64_t v;
    while (digits < s.n && s.p[digits] >= '0' && s.p[digits] <= '9')
        digits++;
    if (fk_str_to_u64(fk_str_head(s, digits), &v))
        return -1;
    for (size_t i = 0; i < FK_COUNTOF(units); i++)
        if (fk_str_eq(fk_str_from(s, digits), fk_str_of(units[i].name)))
            return __builtin_mul_overflow(v, units[i].factor, ret) ? -1 : 0;
    return -1;
}

static int set_value(const struct fk_option *o, void *options, struct fk_str value)
{
    void *to = (char *)options + o->offset;
    struct fk_opt_list *list = to;
    struct fk_err err;
    uint64_t count;
    switch (o->kind) {
    case FK_OPT_FLAG:
        *(bool *)to = true;
        return 0;
    case FK_OPT_STR:
        *(struct fk_str *)to = value;
        return 0;
    case FK_OPT_STRS:
        if (list->n == FK_COUNTOF(list->v)) {
            fprintf(stderr, "flamekeep: %s may be given %zu times at most\n", o->name,
                    FK_COUNTOF(list->v));
            return -1;
        }
        list->v[list->n++] = value;
        return 0;
    case FK_OPT_BYTES:
        if (parse_bytes(value, to) == 0)
            return 0;
        fprintf(stderr, "flamekeep: %s takes a size like 64MiB or 2GiB, not '%.*s'\n", o->name,
                FK_STR_ARG(value));
        return -1;
    case FK_OPT_COUNT:
        if (fk_str_to_u64(value, &count) == 0 && count > 0) { // 0 is what was not given
            *(uint64_t *)to = count;
            return 0;
        }
        fprintf(stderr, "flamekeep: %s takes a number of at least 1, not '%.*s'\n", o->name,
                FK_STR_ARG(value));
        return -1;
    case FK_OPT_DURATION:
        if (fk_duration_parse(value, to, &err) == 0)
            return 0;
        fprintf(stderr, "flamekeep: %s: %s\n", o->name, err.msg);
        return -1;
    }
    return -1;
}

static const struct fk_option *find_option(const struct fk_command *c, struct fk_str name)
{
    for (size_t i = 0; i < c->n_options; i++)
        if (fk_str_eq(fk_str_of(c->options[i].name), name))
            return &c->options[i];
    return NULL;
}

// One option at argv[*at]; moves *at past its value.
static int take_option(const struct fk_command *c, int argc, char **argv, int *at, void *options)
{
    struct fk_str word = fk_str_of(argv[*at]);
    ptrdiff_t equals = fk_str_chr(word, '=');
    struct fk_str name = equals < 0 ? word : fk_str_head(word, (size_t)equals);
    const struct fk_option *o = find_option(c, name);
    if (!o) {
        fprintf(stderr, "flamekeep: %s has no option %.*s; see flamekeep %s --help\n", c->name,
                FK_STR_ARG(name), c->name);
        return -1;
    }
    if (o->kind == FK_OPT_FLAG) {
        if (equals >= 0) {
            fprintf(stderr, "flamekeep: %s takes no value\n", o->name);
            return -1;
        }
        return set_value(o, options, FK_S(""));
    }
    if (equals >= 0)
        return set_value(o, options, fk_str_from(word, (size_t)equals + 1));
    if (*at + 1 >= argc) {
        fprintf(stderr, "flamekeep: %s needs a value: %s %s\n", o->name, o->name, o->arg);
        return -1;
    }
    return set_value(o, options, fk_str_of(argv[++*at]));
}

// The default of a limit's flag, as people write it.
static const char *limit_default(const char *flag, char *to, size_t n)
{
    for (size_t i = 0; i < fk_limit_count + fk_http_limit_count; i++) {
        const struct fk_limit_info *l =
            i < fk_limit_count ? &fk_limit_table[i] : &fk_http_limit_table[i - fk_limit_count];
        if (!fk_str_eq(fk_str_of(l->flag), fk_str_of(flag)))
            continue;
        if (l->unit == FK_LIMIT_count)
            snprintf(to, n, "%llu", (unsigned long long)l->value);
        else
            fk_human(to, n, (double)l->value,
                     l->unit == FK_LIMIT_bytes ? FK_S("bytes") : FK_S("nanoseconds"));
        return to;
    }
    return NULL;
}

const char *fk_option_default(const struct fk_option *o, char *to, size_t n)
{
    return o->def ? o->def : limit_default(o->name, to, n);
}

static void put_options(const struct fk_command *c, FILE *to)
{
    fprintf(to, "\nOptions:\n");
    for (size_t i = 0; i < c->n_options; i++) {
        const struct fk_option *o = &c->options[i];
        char left[64], limit[32];
        const char *def = fk_option_default(o, limit, sizeof(limit));
        snprintf(left, sizeof(left), "%s%s%s", o->name, o->arg ? " " : "", o->arg ? o->arg : "");
        fprintf(to, "  %-32s %s%s%s%s%s\n", left, o->text, def ? " (default " : "", def ? def : "",
                def ? ")" : "", o->kind == FK_OPT_STRS ? "; may be repeated" : "");
    }
    fprintf(to, "  %-32s %s\n", "--help", "this text");
}

void fk_command_help(const struct fk_command *c, FILE *to)
{
    fprintf(to, "flamekeep %s%s%s [OPTIONS]\n\n%s\n", c->name, *c->args ? " " : "", c->args,
            c->summary);
    if (c->more)
        fprintf(to, "\n%s\n", c->more);
    put_options(c, to);
    fprintf(to, "\nExit codes: 0 done, 1 failed, 2 wrong command line, 3 nothing found, 4 problems "
                "found by check.\n");
}

int fk_command_main(const struct fk_command *c, int argc, char **argv)
{
    FK_AUTO_FREE void *options = fk_calloc(1, FK_MAX(c->size, (size_t)1));
    FK_AUTO_FREE struct fk_opt_list *args = fk_calloc(1, sizeof(*args));
    bool only_args = false;
    if (!options || !args)
        return FK_EXIT_FAILED;
    for (int i = 1; i < argc; i++) {
        struct fk_str word = fk_str_of(argv[i]);
        if (!only_args && fk_str_eq(word, FK_S("--help"))) {
            fk_command_help(c, stdout);
            return FK_EXIT_OK;
        }
        if (!only_args && fk_str_eq(word, FK_S("--"))) {
            only_args = true;
        } else if (!only_args && fk_str_starts(word, FK_S("--"))) {
            if (take_option(c, argc, argv, &i, options))
                return FK_EXIT_USAGE;
        } else if (args->n == FK_COUNTOF(args->v)) {
            fprintf(stderr, "flamekeep: at most %zu arguments at once\n", FK_COUNTOF(args->v));
            return FK_EXIT_USAGE;
        } else {
            args->v[args->n++] = word;
        }
    }
    return c->run(options, args);
}
