// SPDX-License-Identifier: Apache-2.0
// Life of the catalog, running statements, health.
#include "catalog/sql_int.h"

static const char *const sql_text[SQL_COUNT] = {
#define CATALOG_SQL_TEXT(name, text) [SQL_##name] = text,
    CATALOG_SQL(CATALOG_SQL_TEXT)
#undef CATALOG_SQL_TEXT
};

int catalog_start(struct fk_catalog *c, enum catalog_sql sql, struct db_stmt **ret,
                  struct fk_err *err, const char *kinds, ...)
{
    va_list ap;
    va_start(ap, kinds);
    int r = db_start(c->db, sql, sql_text[sql], ret, err, kinds, ap);
    va_end(ap);
    return r;
}

int catalog_exec(struct fk_catalog *c, enum catalog_sql sql, struct fk_err *err, const char *kinds,
                 ...)
{
    struct db_stmt *s;
    bool row;
    va_list ap;
    va_start(ap, kinds);
    int r = db_start(c->db, sql, sql_text[sql], &s, err, kinds, ap);
    va_end(ap);
    if (r)
        return r;
    r = c->db->ops->step(s, &row, err);
    c->db->ops->reset(s);
    return r;
}

int catalog_number(struct fk_catalog *c, enum catalog_sql sql, int64_t *ret, struct fk_err *err,
                   const char *kinds, ...)
{
    struct db_stmt *s;
    bool row;
    va_list ap;
    va_start(ap, kinds);
    int r = db_start(c->db, sql, sql_text[sql], &s, err, kinds, ap);
    va_end(ap);
    if (r)
        return r;
    r = c->db->ops->step(s, &row, err);
    if (r == 0 && row)
        *ret = c->db->ops->i64(s, 0);
    c->db->ops->reset(s);
    return r == 0 && !row ? catalog_bad_row(c, "result", err) : r;
}

int catalog_end(struct fk_catalog *c, int r, struct fk_err *err)
{
    return db_end(c->db, r, err);
}

int catalog_bad_row(struct fk_catalog *c, const char *table, struct fk_err *err)
{
    return fk_fail(err, FK_E_CORRUPT,
                   "catalog %s: a row of %s makes no sense; make the catalog anew from the blocks "
                   "with flamekeep check --rebuild",
                   c->path, table);
}

int fk_catalog_open(const struct fk_fs *fs, const char *path, struct fk_catalog **ret,
                    struct fk_err *err)
{
    struct fk_catalog *c = fk_calloc(1, sizeof(*c));
    if (!c)
        return fk_fail_nomem(err);
    fk_mutex_init(&c->lock, FK_RANK_CATALOG);
    int r = fk_path_printf(c->path, err, "%s", path);
    if (r == 0)
        r = db_open_sqlite(
            &(struct db_open){fs, path, "catalog",
                              "make it anew from the blocks with flamekeep check --rebuild",
                              SQL_COUNT},
            &c->db, err);
    if (r == 0)
        r = catalog_migrate(c, err);
    if (r) {
        fk_catalog_close(c);
        return r;
    }
    *ret = c;
    return 0;
}

void fk_catalog_close(struct fk_catalog *c)
{
    if (!c)
        return;
    if (c->db)
        c->db->ops->close(c->db);
    fk_mutex_destroy(&c->lock);
    fk_free(c);
}

int fk_catalog_remove(const struct fk_fs *fs, const char *path, struct fk_err *err)
{
    static const char *const suffix[] = {"-wal", "-journal", ""};
    char part[FK_PATH_MAX], parent[FK_PATH_MAX];
    for (size_t i = 0; i < FK_COUNTOF(suffix); i++) {
        int r = fk_path_printf(part, err, "%s%s", path, suffix[i]);
        if (r == 0)
            r = fk_fs_unlink(fs, part, err);
        if (r && r != -FK_E_NOTFOUND)
            return r;
    }
    fk_path_parent(path, parent);
    return fk_fs_sync_dir(fs, parent, err);
}

static int expect_none(struct fk_catalog *c, enum catalog_sql sql, const char *what,
                       struct fk_err *err)
{
    int64_t n = 0;
    int r = catalog_number(c, sql, &n, err, "");
    if (r == 0 && n)
        r = fk_fail(err, FK_E_CORRUPT, "catalog %s: %lld %s", c->path, (long long)n, what);
    return r;
}

int fk_catalog_check(struct fk_catalog *c, struct fk_err *err)
{
    fk_mutex_lock(&c->lock);
    int r = c->db->ops->check(c->db, err);
    if (r == 0)
        r = expect_none(c, SQL_STRAY_DATASETS, "datasets belong to no block", err);
    if (r == 0)
        r = expect_none(c, SQL_STRAY_REPLACED, "replacements belong to no block", err);
    if (r == 0)
        r = expect_none(c, SQL_LIVE_REPLACED, "blocks are listed beside what replaces them", err);
    fk_mutex_unlock(&c->lock);
    return r;
}

int fk_catalog_checkpoint(struct fk_catalog *c, struct fk_err *err)
{
    fk_mutex_lock(&c->lock);
    int r = c->db->ops->checkpoint(c->db, err);
    fk_mutex_unlock(&c->lock);
    return r;
}
