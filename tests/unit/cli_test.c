// SPDX-License-Identifier: Apache-2.0
// Option tables and exit codes: what --help says, what a wrong command line is told, and commands
// over a data folder. (tests/e2e runs the program itself, against a server too.)
#include "cli/cli_int.h"

#include "support/support.h"
#include "support/test.h"

#include <unistd.h>

#define WORDS 12

struct said {
    int code;
    struct fk_buf out, err;
};

static void take(FILE *from, struct fk_buf *to)
{
    int c;
    fk_buf_init(to, 0);
    rewind(from);
    while ((c = fgetc(from)) != EOF)
        fk_buf_byte(to, (uint8_t)c);
    fk_buf_byte(to, 0);
    fclose(from);
}

// Runs the program's main with these words (NULL-terminated) and takes what it writes.
static struct said run(const char *const *words)
{
    struct said s = {0};
    char *argv[WORDS + 2] = {(char[]){"flamekeep"}};
    int argc = 1, saved[2];
    FILE *to[2] = {tmpfile(), tmpfile()};
    assert_true(to[0] && to[1]);
    for (; words[argc - 1]; argc++) {
        assert_true(argc <= WORDS);
        argv[argc] = fk_strndup(words[argc - 1], strlen(words[argc - 1]));
    }
    fflush(NULL);
    for (int i = 0; i < 2; i++) {
        saved[i] = dup(i + 1);
        assert_true(dup2(fileno(to[i]), i + 1) >= 0);
    }
    s.code = fk_cli_main(argc, argv);
    fflush(NULL);
    for (int i = 0; i < 2; i++) {
        dup2(saved[i], i + 1);
        close(saved[i]);
    }
    take(to[0], &s.out);
    take(to[1], &s.err);
    for (int i = 1; i < argc; i++)
        fk_free(argv[i]);
    return s;
}
#define RUN(...) run((const char *const[]){__VA_ARGS__, NULL})

static void said_free(struct said *s)
{
    fk_buf_free(&s->out);
    fk_buf_free(&s->err);
}

// The code, and texts that must be on standard error.
static void refused(struct said s, int code, const char *text, const char *also)
{
    if (s.code != code || !strstr(s.err.p, text) || !strstr(s.err.p, also))
        fail_msg("exit code %d, not %d, or no '%s' and '%s' in: %s", s.code, code, text, also,
                 s.err.p);
    said_free(&s);
}

static void help_names_every_option(void **state)
{
    (void)state;
    struct said all = RUN("--help");
    assert_int_equal(all.code, FK_EXIT_OK);
    for (size_t i = 0; i < fk_commands_n; i++) {
        const struct fk_command *c = fk_commands[i];
        struct said s = RUN(c->name, "--help");
        assert_int_equal(s.code, FK_EXIT_OK);
        assert_int_equal(s.err.n, 1);
        assert_non_null(strstr(all.out.p, c->summary));
        assert_non_null(strstr(s.out.p, c->summary));
        assert_non_null(strstr(s.out.p, "Exit codes: 0"));
        for (size_t k = 0; k < c->n_options; k++) {
            const struct fk_option *o = &c->options[k];
            char line[100];
            snprintf(line, sizeof(line), "\n  %.40s%s%.40s ", o->name, o->arg ? " " : "",
                     o->arg ? o->arg : "");
            if (!strstr(s.out.p, line) || !strstr(s.out.p, o->text))
                fail_msg("%s --help does not say%s", c->name, line);
            assert_true((o->kind == FK_OPT_FLAG) == (o->arg == NULL));
        }
        said_free(&s);
    }
    said_free(&all);
}

static void option_names_are_unique(void **state)
{
    (void)state;
    for (size_t i = 0; i < fk_commands_n; i++) {
        const struct fk_command *c = fk_commands[i];
        for (size_t k = 0; k < c->n_options; k++) {
            assert_true(strncmp(c->options[k].name, "--", 2) == 0 && c->options[k].text[0]);
            assert_true(c->options[k].offset < c->size);
            for (size_t j = 0; j < k; j++)
                if (strcmp(c->options[k].name, c->options[j].name) == 0)
                    fail_msg("%s has %s twice", c->name, c->options[k].name);
        }
    }
}

static void unknown_words_are_refused(void **state)
{
    (void)state;
    refused(run((const char *const[]){NULL}), FK_EXIT_USAGE, "Commands:", "serve");
    refused(RUN("no-such"), FK_EXIT_USAGE, "no-such", "--help");
    for (size_t i = 0; i < fk_commands_n; i++) {
        const char *name = fk_commands[i]->name;
        refused(RUN(name, "--no-such-option"), FK_EXIT_USAGE, "--no-such-option", name);
        refused(RUN(name, "--no-such-option=5"), FK_EXIT_USAGE, "no option --no-such-option;",
                name);
    }
}

// A value that an option of this kind does not take; NULL: takes any text.
static const char *bad_value(enum fk_option_kind kind, int i)
{
    static const char *const sizes[] = {"x",    "",    "12XB",        "-1",
                                        "1.5G", "MiB", "16777216TiB", "18446744073709551616"};
    static const char *const counts[] = {
        "", "x", "0", "-1", "1.5", "1e3", "0x10", " 1", "18446744073709551616"};
    static const char *const times[] = {"x",  "",     "5 parsecs", "s",
                                        "1e", "--1s", "1s2",       "99999999999999999999h"};
    return kind == FK_OPT_BYTES      ? sizes[i]
           : kind == FK_OPT_COUNT    ? counts[i]
           : kind == FK_OPT_DURATION ? times[i]
                                     : NULL;
}

static void bad_values_name_the_option(void **state)
{
    (void)state;
    size_t numbers = 0;
    for (size_t i = 0; i < fk_commands_n; i++) {
        const struct fk_command *c = fk_commands[i];
        for (size_t k = 0; k < c->n_options; k++) {
            const struct fk_option *o = &c->options[k];
            char word[120];
            if (o->kind == FK_OPT_FLAG) {
                snprintf(word, sizeof(word), "%.60s=1", o->name);
                refused(RUN(c->name, word), FK_EXIT_USAGE, o->name, "no value");
                continue;
            }
            refused(RUN(c->name, o->name), FK_EXIT_USAGE, o->name, "needs a value");
            for (int v = 0; v < 8 && bad_value(o->kind, v); v++) {
                refused(RUN(c->name, o->name, bad_value(o->kind, v)), FK_EXIT_USAGE, o->name,
                        bad_value(o->kind, v));
                snprintf(word, sizeof(word), "%.60s=%s", o->name, bad_value(o->kind, v));
                refused(RUN(c->name, word), FK_EXIT_USAGE, o->name, "");
                numbers++;
            }
        }
    }
    assert_true(numbers > 50);
}

static int keep_options(void *options, struct fk_opt_list *args);

struct kept {
    struct fk_str text;
    struct fk_opt_list texts;
    uint64_t bytes, count;
    int64_t duration;
    bool flag;
};
static const struct fk_option kept_rows[] = {
    {"--text", "T", FK_OPT_STR, offsetof(struct kept, text), "text", NULL},
    {"--texts", "T", FK_OPT_STRS, offsetof(struct kept, texts), "texts", NULL},
    {"--bytes", "N", FK_OPT_BYTES, offsetof(struct kept, bytes), "bytes", NULL},
    {"--count", "N", FK_OPT_COUNT, offsetof(struct kept, count), "count", NULL},
    {"--duration", "D", FK_OPT_DURATION, offsetof(struct kept, duration), "duration", NULL},
    {"--flag", NULL, FK_OPT_FLAG, offsetof(struct kept, flag), "flag", NULL},
};
static const struct fk_command kept_command = {
    "kept", "", "", NULL, kept_rows, FK_COUNTOF(kept_rows), sizeof(struct kept), keep_options};

static int keep_options(void *options, struct fk_opt_list *args)
{
    const struct kept *k = options;
    assert_true(fk_str_eq(k->text, FK_S("--flag")) && k->flag);
    assert_int_equal(k->texts.n, 2);
    assert_true(fk_str_eq(k->texts.v[1], FK_S("b=c")));
    assert_true(k->bytes == 3u << 20 && k->count == 7 && k->duration == 90 * FK_NS_PER_S);
    assert_int_equal(args->n, 3);
    assert_true(fk_str_eq(args->v[0], FK_S("-")) && fk_str_eq(args->v[2], FK_S("--count")));
    return 77;
}

static void values_arrive(void **state)
{
    (void)state;
    static const char *const words[] = {
        "kept",    "--text", "--flag",    "--flag",     "-",     "--texts=a", "--texts", "b=c",
        "--bytes", "3MiB",   "--count=7", "--duration", "1m30s", "x",         "--",      "--count"};
    char *argv[FK_COUNTOF(words)];
    for (size_t i = 0; i < FK_COUNTOF(words); i++)
        argv[i] = fk_strndup(words[i], strlen(words[i]));
    assert_int_equal(fk_command_main(&kept_command, FK_COUNTOF(words), argv), 77);
    for (size_t i = 0; i < FK_COUNTOF(words); i++)
        fk_free(argv[i]);
}

static void commands_over_a_folder(void **state)
{
    (void)state;
    char *tmp = fk_test_tmpdir(), file[300], data[300];
    snprintf(file, sizeof(file), "%.200s/stacks.folded", tmp);
    snprintf(data, sizeof(data), "%.200s/data", tmp);
    FILE *f = fopen(file, "w");
    assert_non_null(f);
    fputs("main;work;inner 7\nmain;rest 3\n", f);
    fclose(f);
    struct said s = RUN("push", "--data", data, "--labels", "{service_name=\"web\"}", file);
    assert_int_equal(s.code, FK_EXIT_OK);
    assert_non_null(strstr(s.out.p, "total 10"));
    said_free(&s);
    s = RUN("top", "--data", data, "--query", "{service_name=\"web\"}");
    assert_int_equal(s.code, FK_EXIT_OK);
    assert_non_null(strstr(s.out.p, "inner"));
    said_free(&s);
    s = RUN("check", "--data", data, "--seal");
    assert_int_equal(s.code, FK_EXIT_OK);
    assert_non_null(strstr(s.out.p, "0 problems"));
    said_free(&s);
    refused(RUN("ls", "--data", data, "--query", "{a"), FK_EXIT_USAGE, "selector", "position");
    refused(RUN("top", "--data", data, "--query", "{service_name=\"none\"}"), FK_EXIT_NOTFOUND,
            "no profile", "");
    refused(RUN("show", "--data", data, "00000000-0000-7000-8000-000000000001"), FK_EXIT_NOTFOUND,
            "00000000-0000-7000-8000-000000000001", "");
    refused(RUN("push", "--data", data, "/no/such/file"), FK_EXIT_NOTFOUND, "/no/such/file", "");
    refused(RUN("ls", "--data", data, "--server", "http://x"), FK_EXIT_USAGE, "--data", "--server");
    fk_test_rmtree(tmp);
}

static int on_name(void *arg, const char *name, bool is_dir, struct fk_err *err)
{
    bool *empty = arg;
    (void)is_dir;
    (void)err;
    *empty &= strncmp(name, "flamekeep-", 10) != 0;
    return 0;
}

static void commands_over_files(void **state)
{
    (void)state;
    char *tmp = fk_test_tmpdir(), one[300], two[300], out[300], svg[300];
    snprintf(one, sizeof(one), "%.200s/one.folded", tmp);
    snprintf(two, sizeof(two), "%.200s/two.folded", tmp);
    snprintf(out, sizeof(out), "%.200s/out.pb.gz", tmp);
    snprintf(svg, sizeof(svg), "%.200s/out.unheard-of", tmp);
    setenv("TMPDIR", tmp, 1);
    FILE *f = fopen(one, "w");
    assert_non_null(f);
    fputs("main;work;inner 7\nmain;rest 3\nbad\n", f);
    fclose(f);
    f = fopen(two, "w");
    assert_non_null(f);
    fputs("main;work;inner 1\nmain;rest 3\n", f);
    fclose(f);
    struct said s = RUN("show", one);
    assert_int_equal(s.code, FK_EXIT_OK);
    assert_non_null(strstr(s.out.p, "samples      2"));
    assert_non_null(strstr(s.err.p, "left out 1"));
    said_free(&s);
    s = RUN("top", one, two);
    assert_int_equal(s.code, FK_EXIT_OK);
    assert_non_null(strstr(s.out.p, "total 14"));
    said_free(&s);
    s = RUN("diff", one, two, "--mode", "absolute");
    assert_int_equal(s.code, FK_EXIT_OK);
    assert_non_null(strstr(s.out.p, "-6"));
    assert_non_null(strstr(s.out.p, "inner"));
    said_free(&s);
    s = RUN("convert", one, out);
    assert_int_equal(s.code, FK_EXIT_OK);
    said_free(&s);
    s = RUN("top", out);
    assert_int_equal(s.code, FK_EXIT_OK);
    assert_non_null(strstr(s.out.p, "total 10"));
    said_free(&s);
    refused(RUN("convert", one, svg), FK_EXIT_USAGE, "--format", "out.unheard-of");
    refused(RUN("convert", one), FK_EXIT_USAGE, "two files", "");
    refused(RUN("diff", one), FK_EXIT_USAGE, "two", "");
    refused(RUN("diff", one, "01a22dfe-1499-7000-85dd-e8e578a3c8dd"), FK_EXIT_USAGE, "two ids", "");
    refused(RUN("top", "/"), FK_EXIT_FAILED, "directory", "");
    int pipe_of[2]; // what a shell gives for <(command) has no size
    char path[40];
    assert_int_equal(pipe(pipe_of), 0);
    assert_int_equal(write(pipe_of[1], "main;rest 3\n", 12), 12);
    close(pipe_of[1]);
    snprintf(path, sizeof(path), "/dev/fd/%d", pipe_of[0]);
    s = RUN("top", path);
    close(pipe_of[0]);
    assert_int_equal(s.code, FK_EXIT_OK);
    assert_non_null(strstr(s.out.p, "total 3"));
    said_free(&s);
    refused(RUN("top", "--data", tmp, one), FK_EXIT_USAGE, "one.folded", "--data");
    refused(RUN("top", "/no/such/file"), FK_EXIT_NOTFOUND, "/no/such/file", "");
    bool empty = true; // what was made for it is gone
    struct fk_err err = {0};
    fk_test_ok(fk_fs_list(fk_fs_real(), tmp, (struct fk_each_name){on_name, &empty}, &err), &err);
    assert_true(empty);
    unsetenv("TMPDIR");
    fk_test_rmtree(tmp);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(help_names_every_option),
        cmocka_unit_test(option_names_are_unique),
        cmocka_unit_test(unknown_words_are_refused),
        cmocka_unit_test(bad_values_name_the_option),
        cmocka_unit_test(values_arrive),
        cmocka_unit_test(commands_over_a_folder),
        cmocka_unit_test(commands_over_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
