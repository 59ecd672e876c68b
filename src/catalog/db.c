// SPDX-License-Identifier: Apache-2.0
// What catalog and state do alike with a database: statements with their parameters, the end of a
// transaction, the version of the schema.
#include "catalog/db_int.h"

int db_start(struct db *db, size_t id, const char *sql, struct db_stmt **ret, struct fk_err *err,
             const char *kinds, va_list ap)
{
    struct db_stmt *s;
    int r = db->ops->prepare(db, id, sql, &s, err);
    if (r)
        return r;
    for (int i = 0; kinds[i]; i++) {
        if (kinds[i] == 'i')
            db->ops->bind_i64(s, i + 1, va_arg(ap, int64_t));
        else
            db->ops->bind_bytes(s, i + 1, va_arg(ap, struct fk_str));
    }
    *ret = s;
    return 0;
}

int db_end(struct db *db, int r, struct fk_err *err)
{
    if (r == 0)
        return db->ops->commit(db, err);
    db->ops->rollback(db);
    return r;
}

// ---- version of the schema ----

static int read_version(struct db *db, int64_t *ret, struct fk_err *err)
{
    struct db_stmt *s;
    bool row = false;
    int r = db->ops->prepare(db, DB_VERSION_GET, "SELECT version FROM schema_version WHERE one = 1",
                             &s, err);
    if (r)
        return r;
    r = db->ops->step(s, &row, err);
    if (r == 0)
        *ret = row ? db->ops->i64(s, 0) : 0;
    db->ops->reset(s);
    return r;
}

static int write_version(struct db *db, bool first, int64_t version, struct fk_err *err)
{
    struct db_stmt *s;
    bool row;
    int r =
        first
            ? db->ops->prepare(db, DB_VERSION_NEW,
                               "INSERT INTO schema_version (one, version) VALUES (1, $1)", &s, err)
            : db->ops->prepare(db, DB_VERSION_SET,
                               "UPDATE schema_version SET version = $1 WHERE one = 1", &s, err);
    if (r)
        return r;
    db->ops->bind_i64(s, 1, version);
    r = db->ops->step(s, &row, err);
    db->ops->reset(s);
    return r;
}

static int check_version(const struct db_schema *schema, int64_t have, struct fk_err *err)
{
    if (have > schema->version)
        return fk_fail(err, FK_E_UNSUPPORTED,
                       "%s %s has version %lld, written by a newer flamekeep; this one knows up to "
                       "%lld: use the newer one",
                       schema->noun, schema->path, (long long)have, (long long)schema->version);
    if (have < 0)
        return fk_fail(err, FK_E_CORRUPT, "%s %s: its version makes no sense", schema->noun,
                       schema->path);
    return 0;
}

static int bring_up(struct db *db, const struct db_schema *schema, struct fk_err *err)
{
    int64_t have = 0;
    int r = db->ops->script(db,
                            "CREATE TABLE IF NOT EXISTS schema_version ("
                            " one BIGINT NOT NULL PRIMARY KEY, version BIGINT NOT NULL)",
                            err);
    if (r == 0)
        r = read_version(db, &have, err);
    if (r == 0)
        r = check_version(schema, have, err);
    for (int64_t v = have; r == 0 && v < schema->version; v++)
        r = db->ops->script(db, schema->steps[v], err);
    if (r == 0 && have < schema->version)
        r = write_version(db, have == 0, schema->version, err);
    return r;
}

int db_migrate(struct db *db, const struct db_schema *schema, struct fk_err *err)
{
    int r = db->ops->begin(db, err);
    return r ? r : db_end(db, bring_up(db, schema, err), err);
}
