// SPDX-License-Identifier: Apache-2.0
// Files as if they were stored: commands that take profile ids take files too, which are stored in
// a folder of their own that goes when the command ends. Nothing else knows of it.
#include "cli/cli_int.h"

#include <errno.h>

bool fk_args_are_files(const struct fk_opt_list *args)
{
    struct fk_id id;
    bool files = args && args->n > 0;
    for (size_t i = 0; files && i < args->n; i++)
        files = fk_id_parse(args->v[i], &id, NULL) != 0;
    return files;
}

#define INPUT_MAX ((size_t)2 << 30)

// Whatever can be read to its end: also what a shell gives for <(command).
int fk_cli_read_input(struct fk_str name, struct fk_buf *b, struct fk_err *err)
{
    char path[FK_PATH_MAX];
    size_t n;
    int r = fk_path_printf(path, err, "%.*s", FK_STR_ARG(name));
    if (r)
        return r;
    bool piped = fk_str_eq(name, FK_S("-"));
    FILE *in = piped ? stdin : fopen(path, "rb");
    if (!in && errno == ENOENT)
        return fk_fail(err, FK_E_NOTFOUND, "cannot open %s: there is no such file", path);
    if (!in)
        return fk_fail_errno(err, errno, "cannot open %s", path);
    do {
        char *to = b->n <= INPUT_MAX ? fk_buf_reserve(b, 1 << 16) : NULL;
        n = to ? fread(to, 1, 1 << 16, in) : 0;
        b->n += n;
    } while (n);
    if (ferror(in))
        r = fk_fail_errno(err, errno, "cannot read %s", piped ? "standard input" : path);
    else if (b->n > INPUT_MAX)
        r = fk_fail(err, FK_E_LIMIT, "%s has over %zu bytes, more than can be taken at once",
                    piped ? "standard input" : path, INPUT_MAX);
    if (!piped)
        fclose(in);
    return r ? r : fk_buf_check(b, piped ? "standard input" : path, err);
}

static void say_losses(struct fk_str name, const struct fk_value *v)
{
    const struct fk_value *dropped = fk_value_get(v, "dropped");
    for (const struct fk_value *d = dropped ? dropped->first : NULL; d; d = d->next)
        fprintf(stderr, "%.*s: left out %lld: %.*s %.*s\n", FK_STR_ARG(name),
                (long long)fk_value_int(d, "count"), FK_STR_ARG(fk_value_text(d, "reason")),
                FK_STR_ARG(fk_value_text(d, "detail")));
}

int fk_target_take_file(struct fk_target *t, struct fk_str name, size_t index, struct fk_str format,
                        struct fk_err *err)
{
    FK_AUTO_BUF bytes;
    FK_AUTO_BUF target;
    FK_AUTO_ARENA a;
    struct fk_api_answer answer;
    struct fk_value *v;
    char labels[64];
    fk_buf_init(&bytes, 0);
    fk_buf_init(&target, 0);
    fk_arena_init(&a, 0);
    snprintf(labels, sizeof(labels), "{file=\"%zu\"}", index);
    fk_ask_path(&target, "/api/v1/upload");
    fk_ask_param(&target, "labels", fk_str_of(labels));
    fk_ask_param(&target, "format", format);
    int r = fk_cli_read_input(name, &bytes, err);
    if (r)
        return r;
    struct fk_api_ask ask = {
        .method = "POST", .target = fk_buf_view(&target), .body = fk_buf_view(&bytes)};
    struct fk_err why = {0};
    if ((r = fk_target_ask(t, &ask, &answer, &why)))
        return fk_fail(err, (enum fk_error) - r, "%.*s: %s", FK_STR_ARG(fk_str_head(name, 100)),
                       why.msg);
    if ((r = fk_value_parse(fk_buf_view(&answer.body), &a, &v, err)) == 0)
        say_losses(name, v);
    fk_buf_free(&answer.body);
    return r;
}

int fk_target_open_for(const struct fk_target_opts *o, struct fk_opt_list *args,
                       struct fk_str format, struct fk_target **ret, struct fk_err *err)
{
    struct fk_target *t;
    if (!fk_args_are_files(args))
        return fk_target_open(o, ret, err);
    if (o->data.n || o->server.n)
        return fk_fail_param(err, "--data",
                             "'%.*s' is no profile id, so it is taken for a file, which needs "
                             "neither --data nor --server",
                             FK_STR_ARG(fk_str_head(args->v[0], 80)));
    int r = fk_target_open_temporary(&t, err);
    for (size_t i = 0; r == 0 && i < args->n; i++)
        r = fk_target_take_file(t, args->v[i], i, format, err);
    if (r) {
        fk_target_close(t);
        return r;
    }
    args->n = 0; // the source is all there is
    *ret = t;
    return 0;
}

// The one that people mean when they name none: time spent, else memory held, else the first.
static struct fk_str usual_type(const struct fk_value *types)
{
    static const char *const parts[] = {
        ":cpu:nanoseconds:", ":wall:nanoseconds:", ":inuse_space:bytes:", ":delay:nanoseconds:",
        ":alloc_space:bytes:"};
    const struct fk_value *first = types ? types->first : NULL;
    for (size_t i = 0; i < FK_COUNTOF(parts); i++)
        for (const struct fk_value *t = first; t; t = t->next)
            if (fk_str_find(fk_value_text(t, "type"), fk_str_of(parts[i])) >= 0)
                return fk_value_text(t, "type");
    return first ? fk_value_text(first, "type") : (struct fk_str){NULL, 0};
}

int fk_target_choose_type(struct fk_target *t, struct fk_buf *target, struct fk_err *err)
{
    FK_AUTO_ARENA a;
    struct fk_api_answer answer;
    struct fk_value *v;
    fk_arena_init(&a, 0);
    if (!fk_target_is_temporary(t) || fk_str_find(fk_buf_view(target), FK_S("type=")) >= 0)
        return 0;
    struct fk_api_ask ask = {.method = "GET", .target = FK_S("/api/v1/types")};
    int r = fk_target_ask(t, &ask, &answer, err);
    if (r)
        return r;
    r = fk_value_parse(fk_buf_view(&answer.body), &a, &v, err);
    const struct fk_value *types = r ? NULL : fk_value_get(v, "types");
    struct fk_str type = usual_type(types);
    if (types && types->first && types->first->next) {
        fprintf(stderr, "flamekeep: of several types %.*s is taken; --type chooses another:",
                FK_STR_ARG(type));
        for (const struct fk_value *x = types->first; x; x = x->next)
            fprintf(stderr, " %.*s", FK_STR_ARG(fk_value_text(x, "type")));
        fprintf(stderr, "\n");
        fk_ask_param(target, "type", type);
    }
    fk_buf_free(&answer.body);
    return r ? r : fk_buf_check(target, "address", err);
}
