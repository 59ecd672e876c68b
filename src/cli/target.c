// SPDX-License-Identifier: Apache-2.0
// Where questions go: a server, or the API in this process over a data folder.
#include "cli/cli_int.h"

#include <stdlib.h>

#define TRIES 4 // of a server that is not there at once, or says that it is busy

struct fk_target {
    struct fk_store *store;
    struct fk_state *state; // NULL: of files, which have none
    struct fk_api *api;
    struct fk_http_client *client;
    struct fk_str tenant;
    char token[128];             // "Bearer ...", "" none
    char temporary[FK_PATH_MAX]; // folder to remove in the end, "" none
};

static int open_store(struct fk_target *t, const struct fk_store_opts *o,
                      enum fk_originals originals, struct fk_err *err)
{
    int r = fk_store_open(o, &t->store, err);
    struct fk_api_opts api = {.store = t->store,
                              .state = t->state,
                              .limits = fk_limits_default(),
                              .originals = originals};
    return r ? r : fk_api_new(&api, &t->api, err);
}

static int open_local(struct fk_target *t, struct fk_str dir, struct fk_err *err)
{
    char path[FK_PATH_MAX];
    int r = fk_path_printf(path, err, "%.*s", FK_STR_ARG(dir));
    struct fk_store_opts o = {.dir = path, .run_inline = true};
    char state[FK_PATH_MAX];
    if (r == 0)
        r = fk_path_printf(state, err, "%s/state.db", path);
    if (r == 0)
        r = fk_fs_mkdirs(fk_fs_real(), path, err);
    if (r == 0)
        r = fk_state_open(state, &t->state, err);
    return r ? r : open_store(t, &o, FK_ORIGINALS_UPLOADS, err);
}

static void say_pause(void *arg, int status, const struct fk_err *err, int64_t ns)
{
    (void)arg;
    if (status)
        fprintf(stderr, "flamekeep: the server answers %d %s; again in %.1f s\n", status,
                fk_http_reason(status), (double)ns / 1e9);
    else
        fprintf(stderr, "flamekeep: %s; again in %.1f s\n", err->msg, (double)ns / 1e9);
}

static int open_remote(struct fk_target *t, const struct fk_target_opts *o, struct fk_err *err)
{
    char url[1024], ca[FK_PATH_MAX];
    const char *env = getenv("FLAMEKEEP_SERVER"), *token = getenv("FLAMEKEEP_TOKEN");
    if (token && *token)
        snprintf(t->token, sizeof(t->token), "Bearer %s", token);
    if (o->server.n)
        snprintf(url, sizeof(url), "%.*s", FK_STR_ARG(o->server));
    else
        snprintf(url, sizeof(url), "%s", env ? env : "http://127.0.0.1:4040");
    int r = fk_path_printf(ca, err, "%.*s", FK_STR_ARG(o->ca));
    struct fk_http_client_opts opts = {.url = url,
                                       .body_max = (uint64_t)4 << 30,
                                       .ca = o->ca.n ? ca : NULL,
                                       .tries = TRIES,
                                       .pausing = say_pause};
    return r ? r : fk_http_client_new(&opts, &t->client, err);
}

int fk_target_open(const struct fk_target_opts *o, struct fk_target **ret, struct fk_err *err)
{
    if (o->data.n && o->server.n)
        return fk_fail_param(err, "--data", "--data and --server exclude each other");
    struct fk_target *t = fk_calloc(1, sizeof(*t));
    if (!t)
        return fk_fail_nomem(err);
    t->tenant = o->tenant;
    int r = o->data.n ? open_local(t, o->data, err) : open_remote(t, o, err);
    if (r) {
        fk_target_close(t);
        return r;
    }
    *ret = t;
    return 0;
}

int fk_target_open_temporary(struct fk_target **ret, struct fk_err *err)
{
    struct fk_target *t = fk_calloc(1, sizeof(*t));
    *ret = NULL;
    if (!t)
        return fk_fail_nomem(err);
    int r = fk_temp_folder(t->temporary, err);
    struct fk_store_opts o = {.dir = t->temporary, .run_inline = true, .min_free = 1};
    if (r == 0)
        r = open_store(t, &o, FK_ORIGINALS_NONE, err);
    if (r) {
        fk_target_close(t);
        return r;
    }
    *ret = t;
    return 0;
}

void fk_target_close(struct fk_target *t)
{
    struct fk_err err;
    if (!t)
        return;
    fk_api_free(t->api);
    fk_state_close(t->state);
    fk_store_close(t->store);
    fk_http_client_free(t->client);
    if (t->temporary[0] && fk_temp_folder_remove(t->temporary, &err))
        fprintf(stderr, "flamekeep: %s\n", err.msg);
    fk_free(t);
}

bool fk_target_is_temporary(const struct fk_target *t)
{
    return t->temporary[0] != '\0';
}

struct fk_store *fk_target_store(struct fk_target *t)
{
    return t->store;
}

static int ask_server(struct fk_target *t, const struct fk_api_ask *ask, struct fk_api_answer *ret,
                      struct fk_err *err)
{
    ptrdiff_t mark = fk_str_chr(ask->target, '?');
    struct fk_http_field fields[3];
    size_t n = 0;
    if (ask->content_type.n)
        fields[n++] = (struct fk_http_field){FK_S("Content-Type"), ask->content_type};
    if (t->token[0])
        fields[n++] = (struct fk_http_field){FK_S("Authorization"), fk_str_of(t->token)};
    if (t->tenant.n)
        fields[n++] = (struct fk_http_field){FK_S("X-Scope-OrgID"), t->tenant};
    struct fk_http_ask a = {.method = ask->method,
                            .path = mark < 0 ? ask->target : fk_str_head(ask->target, (size_t)mark),
                            .query =
                                mark < 0 ? FK_S("") : fk_str_from(ask->target, (size_t)mark + 1),
                            .fields = fields,
                            .fields_n = n,
                            .body = ask->body,
                            .has_body = ask->body.n > 0};
    struct fk_http_reply reply = {0};
    int r = fk_http_client_call(t->client, &a, &reply, err);
    if (r == 0) {
        ret->status = reply.status;
        snprintf(ret->type, sizeof(ret->type), "%.*s",
                 FK_STR_ARG(fk_http_reply_field(&reply, "Content-Type")));
        struct fk_str name = fk_http_reply_field(&reply, "Content-Disposition");
        ptrdiff_t at = fk_str_find(name, FK_S("filename=\""));
        if (at >= 0) {
            name = fk_str_from(name, (size_t)at + 10);
            at = fk_str_chr(name, '"');
            snprintf(ret->file_name, sizeof(ret->file_name), "%.*s",
                     FK_STR_ARG(fk_str_head(name, at < 0 ? 0 : (size_t)at)));
        }
        ret->body = reply.body;
        fk_buf_init(&reply.body, 0);
    }
    fk_http_reply_free(&reply);
    return r;
}

// The sentence of a problem answer.
static int refusal(struct fk_api_answer *a, struct fk_err *err)
{
    FK_AUTO_ARENA arena;
    struct fk_value *v;
    struct fk_str text = {NULL, 0};
    bool plain = a->body.n && strcmp(a->type, "text/plain") == 0;
    fk_arena_init(&arena, 1 << 20);
    if (fk_value_parse(fk_buf_view(&a->body), &arena, &v, NULL) == 0) {
        text = fk_value_text(v, "detail");
        if (!text.n)
            text = fk_value_text(v, "message");
    }
    enum fk_error code = a->status == 404   ? FK_E_NOTFOUND
                         : a->status == 400 ? FK_E_INVALID
                                            : FK_E_IO;
    if (!text.n && plain) // a server that speaks TLS, or a proxy
        return fk_fail(err, code, "the server answered %d: %.*s", a->status,
                       FK_STR_ARG(fk_str_trim(fk_str_head(fk_buf_view(&a->body), 300))));
    if (!text.n)
        return fk_fail(err, code, "the server answered %d", a->status);
    return fk_fail(err, code, "%.*s", FK_STR_ARG(text));
}

int fk_target_ask(struct fk_target *t, const struct fk_api_ask *ask, struct fk_api_answer *ret,
                  struct fk_err *err)
{
    int r = 0;
    *ret = (struct fk_api_answer){0};
    fk_buf_init(&ret->body, 0);
    if (t->api) {
        struct fk_api_ask local = *ask;
        local.tenant = t->tenant;
        fk_api_local(t->api, &local, ret);
    } else {
        r = ask_server(t, ask, ret, err);
    }
    if (r == 0 && ret->status >= 400)
        r = refusal(ret, err);
    if (r)
        fk_buf_free(&ret->body);
    return r;
}

// ---- targets ----

void fk_ask_path(struct fk_buf *b, const char *path)
{
    fk_buf_clear(b);
    fk_buf_cstr(b, path);
}

void fk_ask_param(struct fk_buf *b, const char *name, struct fk_str value)
{
    if (!value.n)
        return;
    fk_buf_byte(b, fk_str_chr(fk_buf_view(b), '?') < 0 ? '?' : '&');
    fk_buf_cstr(b, name);
    fk_buf_byte(b, '=');
    fk_http_percent_put(b, value, false);
}

void fk_ask_source(struct fk_buf *b, const struct fk_source_opts *s, const struct fk_opt_list *ids)
{
    const struct {
        const char *name;
        const struct fk_opt_list *list;
    } lists[] = {{"id", ids}, {"focus", &s->focus}, {"hide", &s->hide}, {"collapse", &s->collapse}};
    fk_ask_param(b, "query", s->query);
    fk_ask_param(b, "from", s->from);
    fk_ask_param(b, "until", s->until);
    fk_ask_param(b, "type", s->type);
    for (size_t i = 0; i < FK_COUNTOF(lists); i++)
        for (size_t k = 0; lists[i].list && k < lists[i].list->n; k++)
            fk_ask_param(b, lists[i].name, lists[i].list->v[k]);
}

int fk_cli_show(const struct fk_target_opts *o, struct fk_opt_list *args, struct fk_buf *target,
                bool json, int (*print)(const struct fk_value *v))
{
    struct fk_target *t;
    struct fk_err err = {0};
    FK_AUTO_ARENA a;
    struct fk_api_answer answer;
    struct fk_value *v;
    fk_arena_init(&a, 0);
    if (fk_target_open_for(o, args, FK_S(""), &t, &err))
        return fk_cli_fail(&err);
    fk_buf_init(&answer.body, 0);
    int r = fk_target_choose_type(t, target, &err);
    if (r == 0)
        r = fk_target_ask(t, &(struct fk_api_ask){.method = "GET", .target = fk_buf_view(target)},
                          &answer, &err);
    if (r == 0 && json)
        fwrite(answer.body.p, 1, answer.body.n, stdout);
    else if (r == 0 && (r = fk_value_parse(fk_buf_view(&answer.body), &a, &v, &err)) == 0 &&
             print(v))
        r = fk_fail_nomem(&err);
    fk_buf_free(&answer.body);
    fk_target_close(t);
    return r ? fk_cli_fail(&err) : FK_EXIT_OK;
}
