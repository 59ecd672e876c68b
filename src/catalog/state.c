// SPDX-License-Identifier: Apache-2.0
// The state: settings and tokens, in a database that several processes may have open. Each call is
// one short transaction.
#include "catalog/catalog.h"
#include "catalog/db_int.h"

#define STATE_VERSION 1

#define TOKEN_COLUMNS "id, name, tenants, scopes, hash, created, expires, revoked"

// X(name, text)
#define STATE_SQL(X)                                                                               \
    X(SETTINGS, "SELECT name, value, modified FROM settings WHERE tenant = $1 ORDER BY name")      \
    X(SETTING_TIME, "SELECT modified FROM settings WHERE tenant = $1 AND name = $2")               \
    X(SETTING_COUNT, "SELECT COUNT(*) FROM settings WHERE tenant = $1")                            \
    X(SETTING_ADD, "INSERT INTO settings (tenant, name, value, modified) VALUES ($1, $2, $3, $4)") \
    X(SETTING_CHANGE, "UPDATE settings SET value = $1, modified = $2 WHERE tenant = $3"            \
                      " AND name = $4")                                                            \
    X(SETTING_DELETE, "DELETE FROM settings WHERE tenant = $1 AND name = $2")                      \
    X(TOKENS, "SELECT " TOKEN_COLUMNS " FROM tokens ORDER BY created, id")                         \
    X(TOKEN_ADD, "INSERT INTO tokens (" TOKEN_COLUMNS ") VALUES ($1, $2, $3, $4, $5, $6, $7, $8)"  \
                 " ON CONFLICT DO NOTHING")                                                        \
    X(TOKEN_GET, "SELECT revoked FROM tokens WHERE id = $1")                                       \
    X(TOKEN_REVOKE, "UPDATE tokens SET revoked = $1 WHERE id = $2")                                \
    X(CHANGES_GET, "SELECT tokens FROM changes WHERE one = 1")                                     \
    X(CHANGES_NEXT, "UPDATE changes SET tokens = tokens + 1 WHERE one = 1")

enum state_sql {
    STATE_FIRST = DB_VERSION_STATEMENTS - 1,
#define STATE_SQL_ID(name, text) STATE_##name,
    STATE_SQL(STATE_SQL_ID)
#undef STATE_SQL_ID
        STATE_COUNT
};

static const char *const sql_text[STATE_COUNT] = {
#define STATE_SQL_TEXT(name, text) [STATE_##name] = text,
    STATE_SQL(STATE_SQL_TEXT)
#undef STATE_SQL_TEXT
};

// Steps are never changed once released, only added.
static const char *const steps[STATE_VERSION] = {
    "CREATE TABLE settings ("
    " tenant BLOB NOT NULL, name BLOB NOT NULL, value BLOB NOT NULL, modified BIGINT NOT NULL,"
    " PRIMARY KEY (tenant, name));"
    "CREATE TABLE tokens ("
    " id BLOB NOT NULL PRIMARY KEY, name BLOB NOT NULL, tenants BLOB NOT NULL,"
    " scopes BIGINT NOT NULL, hash BLOB NOT NULL, created BIGINT NOT NULL,"
    " expires BIGINT NOT NULL, revoked BIGINT NOT NULL);"
    "CREATE TABLE changes (one BIGINT NOT NULL PRIMARY KEY, tokens BIGINT NOT NULL);"
    "INSERT INTO changes (one, tokens) VALUES (1, 0);",
};

struct fk_state {
    struct fk_mutex lock; // guards the connection
    struct db *db;
    char path[FK_PATH_MAX];
};

// ---- statements ----

static int start(struct fk_state *s, enum state_sql sql, struct db_stmt **ret, struct fk_err *err,
                 const char *kinds, ...)
{
    va_list ap;
    va_start(ap, kinds);
    int r = db_start(s->db, sql, sql_text[sql], ret, err, kinds, ap);
    va_end(ap);
    return r;
}

static int run(struct fk_state *s, struct db_stmt *st, struct fk_err *err)
{
    bool row;
    int r = s->db->ops->step(st, &row, err);
    s->db->ops->reset(st);
    return r;
}

// The first row's first column; *ret_row says whether there is one.
static int number(struct fk_state *s, struct db_stmt *st, int64_t *ret, bool *ret_row,
                  struct fk_err *err)
{
    int r = s->db->ops->step(st, ret_row, err);
    if (r == 0 && *ret_row)
        *ret = s->db->ops->i64(st, 0);
    s->db->ops->reset(st);
    return r;
}

// ---- life ----

// Made by us, so that it has the permissions of the other files of the folder.
static int make_file(const char *path, struct fk_err *err)
{
    const struct fk_fs *fs = fk_fs_real();
    struct fk_file *f;
    int r = fk_fs_exists(fs, path, err);
    if (r)
        return r < 0 ? r : 0;
    r = fk_fs_open(fs, path, FK_OPEN_WRITE_CREATE, &f, err);
    if (r)
        return r;
    fk_file_close(f);
    char parent[FK_PATH_MAX];
    fk_path_parent(path, parent);
    return fk_fs_sync_dir(fs, parent, err);
}

static int open_database(struct fk_state *s, struct fk_err *err)
{
    struct db_open o = {.path = s->path,
                        .noun = "state",
                        .advice = "put a backup in its place, or remove it: tokens and settings "
                                  "are then gone, profiles stay",
                        .statements = STATE_COUNT};
    struct db_schema schema = {"state", s->path, steps, STATE_VERSION};
    int r = make_file(s->path, err);
    if (r == 0)
        r = db_open_sqlite(&o, &s->db, err);
    return r ? r : db_migrate(s->db, &schema, err);
}

int fk_state_open(const char *path, struct fk_state **ret, struct fk_err *err)
{
    struct fk_state *s = fk_calloc(1, sizeof(*s));
    if (!s)
        return fk_fail_nomem(err);
    fk_mutex_init(&s->lock, FK_RANK_CATALOG);
    int r = fk_path_printf(s->path, err, "%s", path);
    if (r == 0)
        r = open_database(s, err);
    if (r) {
        fk_state_close(s);
        return r;
    }
    *ret = s;
    return 0;
}

void fk_state_close(struct fk_state *s)
{
    if (!s)
        return;
    if (s->db)
        s->db->ops->close(s->db);
    fk_mutex_destroy(&s->lock);
    fk_free(s);
}

static int begin(struct fk_state *s, struct fk_err *err)
{
    fk_mutex_lock(&s->lock);
    int r = s->db->ops->begin(s->db, err);
    if (r)
        fk_mutex_unlock(&s->lock);
    return r;
}

static int end(struct fk_state *s, int r, struct fk_err *err)
{
    r = db_end(s->db, r, err);
    fk_mutex_unlock(&s->lock);
    return r;
}

// ---- settings ----

int fk_state_settings(struct fk_state *s, struct fk_str tenant, struct fk_state_each_setting each,
                      struct fk_err *err)
{
    struct db_stmt *st;
    bool row = false;
    fk_mutex_lock(&s->lock);
    int r = start(s, STATE_SETTINGS, &st, err, "s", tenant);
    while (r == 0 && (r = s->db->ops->step(st, &row, err)) == 0 && row) {
        struct fk_setting setting = {s->db->ops->bytes(st, 0), s->db->ops->bytes(st, 1),
                                     s->db->ops->i64(st, 2)};
        r = each.on(each.arg, &setting, err);
    }
    if (row || r == 0)
        s->db->ops->reset(st);
    fk_mutex_unlock(&s->lock);
    return r;
}

static int add_setting(struct fk_state *s, struct fk_str tenant, const struct fk_setting *setting,
                       struct fk_err *err)
{
    struct db_stmt *st;
    int64_t n = 0;
    bool row;
    int r = start(s, STATE_SETTING_COUNT, &st, err, "s", tenant);
    if (r == 0)
        r = number(s, st, &n, &row, err);
    if (r == 0 && n >= FK_STATE_SETTINGS)
        r = fk_fail_limit(err, "settings", FK_STATE_SETTINGS, NULL,
                          "this tenant has as many settings as it may have; delete one first");
    if (r == 0)
        r = start(s, STATE_SETTING_ADD, &st, err, "sssi", tenant, setting->name, setting->value,
                  setting->modified_ms);
    return r ? r : run(s, st, err);
}

static int put_setting(struct fk_state *s, struct fk_str tenant, const struct fk_setting *setting,
                       struct fk_err *err)
{
    struct db_stmt *st;
    int64_t have = 0;
    bool row = false;
    int r = start(s, STATE_SETTING_TIME, &st, err, "ss", tenant, setting->name);
    if (r == 0)
        r = number(s, st, &have, &row, err);
    if (r)
        return r;
    if (!row)
        return add_setting(s, tenant, setting, err);
    if (have > setting->modified_ms)
        return fk_fail(err, FK_E_EXISTS,
                       "setting %.*s was changed since: it is of %lld ms, this one of %lld ms; "
                       "read it again first",
                       FK_STR_ARG(fk_str_head(setting->name, 80)), (long long)have,
                       (long long)setting->modified_ms);
    r = start(s, STATE_SETTING_CHANGE, &st, err, "siss", setting->value, setting->modified_ms,
              tenant, setting->name);
    return r ? r : run(s, st, err);
}

int fk_state_set(struct fk_state *s, struct fk_str tenant, const struct fk_setting *setting,
                 struct fk_err *err)
{
    if (setting->name.n == 0)
        return fk_fail_param(err, "name", "a setting needs a name");
    if (setting->name.n > FK_STATE_NAME_BYTES)
        return fk_fail_limit(err, "name", FK_STATE_NAME_BYTES, NULL,
                             "the name of a setting is too long");
    if (setting->value.n > FK_STATE_VALUE_BYTES)
        return fk_fail_limit(err, "value", FK_STATE_VALUE_BYTES, NULL,
                             "the value of setting %.*s is too long",
                             FK_STR_ARG(fk_str_head(setting->name, 80)));
    int r = begin(s, err);
    return r ? r : end(s, put_setting(s, tenant, setting, err), err);
}

int fk_state_unset(struct fk_state *s, struct fk_str tenant, struct fk_str name, struct fk_err *err)
{
    struct db_stmt *st;
    int r = begin(s, err);
    if (r)
        return r;
    r = start(s, STATE_SETTING_DELETE, &st, err, "ss", tenant, name);
    return end(s, r ? r : run(s, st, err), err);
}

// ---- tokens ----

static int changed(struct fk_state *s, struct fk_err *err)
{
    struct db_stmt *st;
    int r = start(s, STATE_CHANGES_NEXT, &st, err, "");
    return r ? r : run(s, st, err);
}

static int add_token(struct fk_state *s, const struct fk_token *t, struct fk_err *err)
{
    struct db_stmt *st;
    int r = start(s, STATE_TOKEN_ADD, &st, err, "sssisiii", t->id, t->name, t->tenants,
                  (int64_t)t->scopes, fk_str_make(t->hash, sizeof(t->hash)), t->created_ms,
                  t->expires_ms, t->revoked_ms);
    if (r == 0)
        r = run(s, st, err);
    if (r == 0 && s->db->ops->changed(s->db) == 0)
        r = fk_fail(err, FK_E_EXISTS, "there is a token %.*s already", FK_STR_ARG(t->id));
    return r ? r : changed(s, err);
}

int fk_state_token_add(struct fk_state *s, const struct fk_token *t, struct fk_err *err)
{
    int r = begin(s, err);
    return r ? r : end(s, add_token(s, t, err), err);
}

static int revoke_token(struct fk_state *s, struct fk_str id, int64_t now_ms, struct fk_err *err)
{
    struct db_stmt *st;
    int64_t revoked = 0;
    bool row = false;
    int r = start(s, STATE_TOKEN_GET, &st, err, "s", id);
    if (r == 0)
        r = number(s, st, &revoked, &row, err);
    if (r == 0 && !row)
        r = fk_fail(err, FK_E_NOTFOUND,
                    "there is no token %.*s; flamekeep admin token list shows their ids",
                    FK_STR_ARG(fk_str_head(id, 80)));
    if (r || revoked)
        return r;
    r = start(s, STATE_TOKEN_REVOKE, &st, err, "is", now_ms, id);
    if (r == 0)
        r = run(s, st, err);
    return r ? r : changed(s, err);
}

int fk_state_token_revoke(struct fk_state *s, struct fk_str id, int64_t now_ms, struct fk_err *err)
{
    int r = begin(s, err);
    return r ? r : end(s, revoke_token(s, id, now_ms, err), err);
}

static int read_token(struct fk_state *s, struct db_stmt *st, struct fk_token *ret,
                      struct fk_err *err)
{
    const struct db_ops *db = s->db->ops;
    struct fk_str hash = db->bytes(st, 4);
    if (hash.n != sizeof(ret->hash))
        return fk_fail(err, FK_E_CORRUPT, "state %s: a token's hash has %zu bytes", s->path,
                       hash.n);
    *ret = (struct fk_token){.id = db->bytes(st, 0),
                             .name = db->bytes(st, 1),
                             .tenants = db->bytes(st, 2),
                             .scopes = (uint32_t)db->i64(st, 3),
                             .created_ms = db->i64(st, 5),
                             .expires_ms = db->i64(st, 6),
                             .revoked_ms = db->i64(st, 7)};
    memcpy(ret->hash, hash.p, sizeof(ret->hash));
    return 0;
}

int fk_state_tokens(struct fk_state *s, struct fk_state_each_token each, struct fk_err *err)
{
    struct db_stmt *st;
    bool row = false;
    fk_mutex_lock(&s->lock);
    int r = start(s, STATE_TOKENS, &st, err, "");
    while (r == 0 && (r = s->db->ops->step(st, &row, err)) == 0 && row) {
        struct fk_token token;
        r = read_token(s, st, &token, err);
        if (r == 0)
            r = each.on(each.arg, &token, err);
    }
    if (row || r == 0)
        s->db->ops->reset(st);
    fk_mutex_unlock(&s->lock);
    return r;
}

int fk_state_changes(struct fk_state *s, uint64_t *ret, struct fk_err *err)
{
    struct db_stmt *st;
    int64_t n = 0;
    bool row = false;
    fk_mutex_lock(&s->lock);
    int r = start(s, STATE_CHANGES_GET, &st, err, "");
    if (r == 0)
        r = number(s, st, &n, &row, err);
    fk_mutex_unlock(&s->lock);
    if (r == 0)
        *ret = (uint64_t)n;
    return r;
}
