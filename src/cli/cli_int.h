// SPDX-License-Identifier: Apache-2.0
// Inside of the command line: options as a table, the target that questions go to, tables on the
// terminal.
#ifndef FK_CLI_CLI_INT_H
#define FK_CLI_CLI_INT_H

#include "cli/cli.h"
#include "codec/codec.h"

#include <stdio.h>

// ---- options (options.c)
// One
// table makes parsing, --help and the documentation.

enum fk_option_kind {
    FK_OPT_FLAG,     // bool
    FK_OPT_STR,      // struct fk_str
    FK_OPT_STRS,     // struct fk_opt_list: may be repeated
    FK_OPT_BYTES,    // uint64_t: 64MiB, 2GiB, 1000
    FK_OPT_COUNT,    // uint64_t, at least 1
    FK_OPT_DURATION, // int64_t nanoseconds
};
struct fk_opt_list {
    struct fk_str v[64];
    size_t n;
};
struct fk_option {
    const char *name; // "--data"
    const char *arg;  // "DIR", NULL for flags
    enum fk_option_kind kind;
    size_t offset; // of the value in the command's options
    const char *text;
    const char *def; // shown in --help, NULL: none
};
struct fk_command {
    const char *name, *args, *summary,
        *more; // args: "[FILE ...]"; more: paragraphs of the help, may be NULL
    const struct fk_option *options;
    size_t n_options;
    size_t size; // of the options structure
    int (*run)(void *options, struct fk_opt_list *args);
};
// The commands, in the order of the help.
extern const struct fk_command *const fk_commands[];
extern const size_t fk_commands_n;
// Parses and runs; prints what is wrong.
int fk_command_main(const struct fk_command *c, int argc, char **argv);
void fk_command_help(const struct fk_command *c, FILE *to);
// What is taken when an option is not given, as the help says it; may use to[]. NULL: nothing.
const char *fk_option_default(const struct fk_option *o, char *to, size_t n);

// Options as text, "name: value" a line (config_text.c): as they are, those that were given, and
// what they are when none is. Files with secrets are named, not read.
struct fk_config_text {
    struct fk_buf effective, changed, defaults;
};
int fk_config_text(const struct fk_command *c, const void *options, struct fk_config_text *ret,
                   struct fk_err *err);
struct fk_api_config fk_config_views(const struct fk_config_text *t);
void fk_config_free(struct fk_config_text *t);

extern const struct fk_command fk_cmd_serve, fk_cmd_push, fk_cmd_ls, fk_cmd_show, fk_cmd_top,
    fk_cmd_diff, fk_cmd_export, fk_cmd_convert, fk_cmd_labels, fk_cmd_check, fk_cmd_admin,
    fk_cmd_version;

// ---- where questions go (target.c) ----

struct fk_target_opts {
    struct fk_str data, server, tenant, ca;
};
// Option rows shared by the commands that ask; `type` is the options structure with a member
// `target`.
#define FK_TARGET_OPTIONS(T)                                                                       \
    {"--data",                                                                                     \
     "DIR",                                                                                        \
     FK_OPT_STR,                                                                                   \
     offsetof(T, target.data),                                                                     \
     "read and write this folder; no server may use it",                                           \
     NULL},                                                                                        \
        {"--server",                                                                               \
         "URL",                                                                                    \
         FK_OPT_STR,                                                                               \
         offsetof(T, target.server),                                                               \
         "ask this server; a token is taken from FLAMEKEEP_TOKEN",                                 \
         "http://127.0.0.1:4040"},                                                                 \
        {"--ca",                                                                                   \
         "FILE",                                                                                   \
         FK_OPT_STR,                                                                               \
         offsetof(T, target.ca),                                                                   \
         "certificates (PEM) that may vouch for a server at https",                                \
         "the system's"},                                                                          \
    {                                                                                              \
        "--tenant", "TENANT", FK_OPT_STR, offsetof(T, target.tenant), "whose profiles", NULL       \
    }

struct fk_target;
int fk_target_open(const struct fk_target_opts *o, struct fk_target **ret, struct fk_err *err);
int fk_target_open_temporary(struct fk_target **ret, struct fk_err *err); // empty, gone at close
void fk_target_close(struct fk_target *t);
struct fk_store *fk_target_store(struct fk_target *t); // NULL when it is a server
// One exchange; a status of 400 or more is turned into *err (FK_E_NOTFOUND for 404) unless
// `any_status`.
int fk_target_ask(struct fk_target *t, const struct fk_api_ask *ask, struct fk_api_answer *ret,
                  struct fk_err *err);

// ---- files instead of ids (files.c)

// The arguments are not profile ids.
bool fk_args_are_files(const struct fk_opt_list *args);                          // NULL: none
int fk_cli_read_input(struct fk_str name, struct fk_buf *b, struct fk_err *err); // "-": stdin
// Stores one file there, under the label file="index"; losses are told on standard error.
int fk_target_take_file(struct fk_target *t, struct fk_str name, size_t index, struct fk_str format,
                        struct fk_err *err);
// Files: a temporary target with all of them, and args becomes empty. Else as fk_target_open.
// format: of the files, "" found out.
int fk_target_open_for(const struct fk_target_opts *o, struct fk_opt_list *args,
                       struct fk_str format, struct fk_target **ret, struct fk_err *err);

bool fk_target_is_temporary(const struct fk_target *t);
// On a temporary target, where the address names no type and there are several: the usual one is
// appended, and told on standard error.
int fk_target_choose_type(struct fk_target *t, struct fk_buf *target, struct fk_err *err);
// Writes an answer to that file; "-", or nothing when standard output is no terminal: there.
int fk_cli_write_answer(struct fk_str output, const struct fk_api_answer *a, struct fk_err *err);

struct fk_value;
// Asks with GET and shows the answer: as it is (json), or by print, which fails for want of memory
// only. args: as of the command; files among them are the target. The exit code.
int fk_cli_show(const struct fk_target_opts *o, struct fk_opt_list *args, struct fk_buf *target,
                bool json, int (*print)(const struct fk_value *v));

// A target text: path and parameters, values percent-encoded. Empty values are left out.
void fk_ask_path(struct fk_buf *b, const char *path);
void fk_ask_param(struct fk_buf *b, const char *name, struct fk_str value);

// Options of a source, shared by show, top, export, ls.
struct fk_source_opts {
    struct fk_str query, from, until, type;
    struct fk_opt_list focus, hide, collapse;
};
#define FK_SOURCE_OPTIONS(T)                                                                       \
    {"--query",                                                                                    \
     "SELECTOR",                                                                                   \
     FK_OPT_STR,                                                                                   \
     offsetof(T, source.query),                                                                    \
     "profiles to look at, like {service_name=\"web\"}",                                           \
     NULL},                                                                                        \
        {"--from",                                                                                 \
         "TIME",                                                                                   \
         FK_OPT_STR,                                                                               \
         offsetof(T, source.from),                                                                 \
         "first moment: RFC 3339, Unix, or now-15m",                                               \
         NULL},                                                                                    \
        {"--until", "TIME", FK_OPT_STR, offsetof(T, source.until), "end, not included", NULL},     \
    {                                                                                              \
        "--type", "ID", FK_OPT_STR, offsetof(T, source.type),                                      \
            "profile type, where there are several", NULL                                          \
    }
void fk_ask_source(struct fk_buf *b, const struct fk_source_opts *s, const struct fk_opt_list *ids);

// ---- output (print.c) ----

// Says what went wrong on standard error and gives the exit code for it.
int fk_cli_fail(const struct fk_err *err);
bool fk_cli_is_terminal(FILE *to);
bool fk_cli_colours(FILE *to);
// A table with aligned columns: cells are added row by row; right-aligned where the head begins
// with '>'.
struct fk_table;
struct fk_table *fk_table_new(const char *const *heads, size_t columns);
int fk_table_cell(struct fk_table *t, const char *fmt, ...) FK_PRINTF(2, 3);
void fk_table_print(struct fk_table *t, FILE *to);
void fk_table_free(struct fk_table *t);
// "12.3 MiB", "1.25 s", "4,711": by unit.
void fk_human(char *to, size_t n, double value, struct fk_str unit);
// Control characters of a name are shown as '?': names come from strangers.
void fk_plain(char *to, size_t n, struct fk_str s);

// ---- JSON answers (json_value.c) ----

// An answer as a tree: small, read once for a table.
struct fk_value {
    enum fk_json_token kind; // OBJECT, ARRAY, STRING, NUMBER, TRUE, FALSE, NULL
    struct fk_str key, text;
    struct fk_value *first, *next;
};
int fk_value_parse(struct fk_str json, struct fk_arena *a, struct fk_value **ret,
                   struct fk_err *err);
const struct fk_value *fk_value_get(const struct fk_value *v,
                                    const char *key); // NULL: absent; v may be NULL
struct fk_str fk_value_text(const struct fk_value *v, const char *key); // "" when absent
int64_t fk_value_int(const struct fk_value *v, const char *key);
double fk_value_double(const struct fk_value *v, const char *key);

#endif
