// SPDX-License-Identifier: Apache-2.0
// flamekeep admin: access tokens, in the state of a data folder, beside a running server or without
// one.
#include "cli/cli_int.h"

struct options {
    struct fk_str data, scope, name;
    struct fk_opt_list tenant;
    int64_t expires;
    bool json;
};

static int64_t now_ms(void)
{
    return fk_clock_wall(fk_clock_real()) / FK_NS_PER_MS;
}

// A mistyped folder must not become a new one with tokens that nobody asks for.
static int open_state(const struct options *o, struct fk_state **ret, struct fk_err *err)
{
    char path[FK_PATH_MAX];
    int r = fk_path_printf(path, err, "%.*s", FK_STR_ARG(o->data));
    int there = r ? r : fk_fs_exists(fk_fs_real(), path, err);
    if (there == 0)
        return fk_fail(err, FK_E_NOTFOUND,
                       "there is no folder %s; a server makes it, or mkdir before its first start",
                       path);
    if (there < 0)
        return there;
    r = fk_path_printf(path, err, "%.*s/state.db", FK_STR_ARG(o->data));
    return r ? r : fk_state_open(path, ret, err);
}

// ---- what is shown ----

static void put_text(struct fk_json *w, const char *key, struct fk_str value)
{
    fk_json_key(w, fk_str_of(key));
    fk_json_str(w, value);
}

static void put_time(struct fk_json *w, const char *key, int64_t ms)
{
    char text[FK_TIME_CHARS + 1];
    if (ms == 0)
        return;
    fk_time_format(ms * FK_NS_PER_MS, text);
    put_text(w, key, fk_str_of(text));
}

static void put_words(struct fk_json *w, const char *key, struct fk_str text, char separator)
{
    struct fk_str word;
    fk_json_key(w, fk_str_of(key));
    fk_json_array(w);
    while (text.n && fk_str_split(&text, separator, &word))
        fk_json_str(w, word);
    fk_json_array_end(w);
}

// secret: "" once it is gone.
static void put_token(struct fk_json *w, const struct fk_token *t, struct fk_str secret)
{
    FK_AUTO_BUF scopes;
    fk_buf_init(&scopes, 0);
    fk_scopes_put(&scopes, t->scopes);
    fk_json_object(w);
    put_text(w, "id", t->id);
    if (secret.n)
        put_text(w, "token", secret);
    put_text(w, "name", t->name);
    put_words(w, "tenants", t->tenants, '|');
    put_words(w, "scopes", fk_buf_view(&scopes), ',');
    put_time(w, "created", t->created_ms);
    put_time(w, "expires", t->expires_ms);
    put_time(w, "revoked", t->revoked_ms);
    fk_json_object_end(w);
}

static int print_json(struct fk_json *w, struct fk_buf *b, struct fk_err *err)
{
    int r = fk_json_finish(w, err);
    if (r == 0)
        printf("%.*s\n", FK_STR_ARG(fk_buf_view(b)));
    return r;
}

// ---- create ----

struct count {
    size_t all;
};

static int on_counted(void *arg, const struct fk_token *t, struct fk_err *err)
{
    (void)t;
    (void)err;
    ((struct count *)arg)->all++;
    return 0;
}

// One or several tenants, as they are kept.
static int tenants_of(const struct options *o, struct fk_buf *ret, struct fk_err *err)
{
    FK_AUTO_ARENA a;
    const struct fk_str *v;
    size_t n;
    fk_arena_init(&a, 0);
    for (size_t i = 0; i < o->tenant.n; i++) {
        fk_buf_cstr(ret, i ? "|" : "");
        fk_buf_str(ret, o->tenant.v[i]);
    }
    if (o->tenant.n == 0)
        fk_buf_cstr(ret, FK_TENANT_DEFAULT);
    int r = fk_buf_check(ret, "tenants", err);
    return r ? r : fk_tenants_parse(fk_buf_view(ret), &a, &v, &n, err);
}

static int fill(const struct options *o, struct fk_buf *tenants, struct fk_token *t,
                struct fk_err *err)
{
    if (o->name.n > 200)
        return fk_fail_limit(err, "--name", 200, NULL, "the name of a token is too long");
    if (o->expires < 0)
        return fk_fail_param(err, "--expires", "--expires says how long the token lasts, like 90d");
    *t = (struct fk_token){.name = o->name, .created_ms = now_ms()};
    if (o->expires)
        t->expires_ms = t->created_ms + FK_MAX(o->expires / FK_NS_PER_MS, (int64_t)1);
    int r = fk_scopes_parse(o->scope, &t->scopes, err);
    if (r == 0)
        r = tenants_of(o, tenants, err);
    t->tenants = fk_buf_view(tenants);
    return r;
}

static int show_created(const struct options *o, const struct fk_token *t,
                        const struct fk_token_text *text, bool first, struct fk_err *err)
{
    if (first)
        fprintf(stderr,
                "flamekeep: this is the first token: from now on a server on this folder answers "
                "nobody without one (serve --auth none switches that off)\n");
    if (!o->json) {
        fprintf(stderr, "flamekeep: the token is shown this once, only its hash is kept\n");
        printf("%s\n", text->text);
        return 0;
    }
    FK_AUTO_BUF b;
    struct fk_json w;
    fk_buf_init(&b, 0);
    fk_json_init(&w, fk_out_buf(&b), false);
    put_token(&w, t, fk_str_of(text->text));
    return print_json(&w, &b, err);
}

static int create(const struct options *o, struct fk_state *s, struct fk_str arg,
                  struct fk_err *err)
{
    FK_AUTO_BUF tenants;
    struct fk_token t;
    struct fk_token_text text;
    struct count before = {0};
    (void)arg;
    fk_buf_init(&tenants, 0);
    int r = fill(o, &tenants, &t, err);
    if (r == 0)
        r = fk_token_make(&text, err);
    if (r)
        return r;
    t.id = fk_str_of(text.id);
    memcpy(t.hash, text.hash, sizeof(t.hash));
    r = fk_state_tokens(s, (struct fk_state_each_token){on_counted, &before}, err);
    if (r == 0)
        r = fk_state_token_add(s, &t, err);
    return r ? r : show_created(o, &t, &text, before.all == 0, err);
}

// ---- list ----

struct listing {
    struct fk_json *w;
    struct fk_table *table;
};

static int on_json(void *arg, const struct fk_token *t, struct fk_err *err)
{
    (void)err;
    put_token(((struct listing *)arg)->w, t, FK_S(""));
    return 0;
}

static const char *condition(const struct fk_token *t)
{
    return t->revoked_ms                                ? "revoked"
           : t->expires_ms && t->expires_ms <= now_ms() ? "expired"
                                                        : "good";
}

static void time_cell(struct fk_table *table, int64_t ms)
{
    char text[FK_TIME_CHARS + 1];
    fk_time_format(ms * FK_NS_PER_MS, text);
    fk_table_cell(table, "%.16s", ms ? text : "never");
}

static int on_row(void *arg, const struct fk_token *t, struct fk_err *err)
{
    struct fk_table *table = ((struct listing *)arg)->table;
    FK_AUTO_BUF scopes;
    char name[256];
    (void)err;
    fk_buf_init(&scopes, 0);
    fk_scopes_put(&scopes, t->scopes);
    fk_plain(name, sizeof(name), t->name);
    fk_table_cell(table, "%.*s", FK_STR_ARG(t->id));
    fk_table_cell(table, "%s", name);
    fk_table_cell(table, "%.*s", FK_STR_ARG(t->tenants));
    fk_table_cell(table, "%.*s", FK_STR_ARG(fk_buf_view(&scopes)));
    time_cell(table, t->created_ms);
    time_cell(table, t->expires_ms);
    fk_table_cell(table, "%s", condition(t));
    return 0;
}

static int list_json(struct fk_state *s, struct fk_err *err)
{
    FK_AUTO_BUF b;
    struct fk_json w;
    struct listing l = {.w = &w};
    fk_buf_init(&b, 0);
    fk_json_init(&w, fk_out_buf(&b), false);
    fk_json_object(&w);
    fk_json_k(&w, "tokens");
    fk_json_array(&w);
    int r = fk_state_tokens(s, (struct fk_state_each_token){on_json, &l}, err);
    fk_json_array_end(&w);
    fk_json_object_end(&w);
    return r ? r : print_json(&w, &b, err);
}

static int list(const struct options *o, struct fk_state *s, struct fk_str arg, struct fk_err *err)
{
    static const char *const heads[] = {"id",      "name",    "tenants",  "scopes",
                                        "created", "expires", "condition"};
    (void)arg;
    if (o->json)
        return list_json(s, err);
    struct listing l = {.table = fk_table_new(heads, FK_COUNTOF(heads))};
    if (!l.table)
        return fk_fail_nomem(err);
    int r = fk_state_tokens(s, (struct fk_state_each_token){on_row, &l}, err);
    if (r == 0)
        fk_table_print(l.table, stdout);
    fk_table_free(l.table);
    return r;
}

// ---- revoke ----

// The whole token is taken for its id: that is what one has at hand when it leaked.
static int revoke(const struct options *o, struct fk_state *s, struct fk_str arg,
                  struct fk_err *err)
{
    struct fk_str id = arg, secret;
    (void)o;
    fk_token_split(arg, &id, &secret);
    return fk_state_token_revoke(s, id, now_ms(), err);
}

// ---- the command ----

static const struct {
    const char *word;
    size_t args; // behind it
    int (*run)(const struct options *o, struct fk_state *s, struct fk_str arg, struct fk_err *err);
} verbs[] = {{"create", 0, create}, {"list", 0, list}, {"revoke", 1, revoke}};

static int run(void *options, struct fk_opt_list *args)
{
    const struct options *o = options;
    struct fk_err err = {0};
    struct fk_state *s;
    size_t i = 0;
    while (args->n >= 2 && i < FK_COUNTOF(verbs) &&
           !fk_str_eq(args->v[1], fk_str_of(verbs[i].word)))
        i++;
    if (args->n < 2 || !fk_str_eq(args->v[0], FK_S("token")) || i == FK_COUNTOF(verbs) ||
        args->n != 2 + verbs[i].args || !o->data.n) {
        fprintf(stderr, "flamekeep: admin token create|list|revoke ID --data DIR; flamekeep admin "
                        "--help tells more\n");
        return FK_EXIT_USAGE;
    }
    int r = open_state(o, &s, &err);
    if (r)
        return fk_cli_fail(&err);
    r = verbs[i].run(o, s, args->n > 2 ? args->v[2] : FK_S(""), &err);
    fk_state_close(s);
    return r ? fk_cli_fail(&err) : FK_EXIT_OK;
}

static const struct fk_option rows[] = {
    {"--data", "DIR", FK_OPT_STR, offsetof(struct options, data),
     "the data folder; its server may be running", NULL},
    {"--scope", "SCOPES", FK_OPT_STR, offsetof(struct options, scope),
     "of create: push, read, admin, with commas between", NULL},
    {"--tenant", "TENANT", FK_OPT_STRS, offsetof(struct options, tenant),
     "of create: whose profiles", "anonymous"},
    {"--name", "TEXT", FK_OPT_STR, offsetof(struct options, name),
     "of create: what it is for, shown in the list", NULL},
    {"--expires", "DURATION", FK_OPT_DURATION, offsetof(struct options, expires),
     "of create: how long it lasts, like 90d", "for ever"},
    {"--json", NULL, FK_OPT_FLAG, offsetof(struct options, json), "prints JSON", NULL},
};
const struct fk_command fk_cmd_admin = {
    "admin",
    "token create|list|revoke ID --data DIR",
    "makes, lists and revokes access tokens",
    "token create prints a new token, which is shown this once. As soon as there was a token the "
    "server asks everybody\nfor one; it notices new and revoked ones within about a second.",
    rows,
    FK_COUNTOF(rows),
    sizeof(struct options),
    run};
