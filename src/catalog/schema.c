// SPDX-License-Identifier: Apache-2.0
// Tables, and how an older schema becomes the present one.
#include "catalog/sql_int.h"

// Step i brings version i to i + 1. Steps are never changed once released, only added.
static const char *const steps[FK_CATALOG_VERSION] = {
    "CREATE TABLE blocks ("
    " id BLOB NOT NULL PRIMARY KEY, tenant BLOB NOT NULL, level BIGINT NOT NULL,"
    " min_id BLOB NOT NULL, max_id BLOB NOT NULL,"
    " min_time BIGINT NOT NULL, max_time BIGINT NOT NULL,"
    " min_received BIGINT NOT NULL, max_received BIGINT NOT NULL,"
    " bytes BIGINT NOT NULL, profiles BIGINT NOT NULL, samples BIGINT NOT NULL,"
    " replaces BLOB NOT NULL);"
    "CREATE INDEX blocks_time ON blocks (tenant, max_time);"
    "CREATE INDEX blocks_age ON blocks (max_received);"
    // who replaces whom, flattened: a pack or block to the live block that holds its profiles
    "CREATE TABLE replaced (id BLOB NOT NULL PRIMARY KEY, block BLOB NOT NULL);"
    "CREATE INDEX replaced_block ON replaced (block);"
    "CREATE TABLE datasets ("
    " block BLOB NOT NULL, start BIGINT NOT NULL, length BIGINT NOT NULL, service BLOB NOT NULL,"
    " min_time BIGINT NOT NULL, max_time BIGINT NOT NULL, types BLOB NOT NULL,"
    " PRIMARY KEY (block, start));"
    "CREATE TABLE series_day ("
    " tenant BLOB NOT NULL, day BIGINT NOT NULL, service BLOB NOT NULL, hash BIGINT NOT NULL,"
    " labels BLOB NOT NULL, PRIMARY KEY (tenant, day, service, hash));"
    "CREATE TABLE attr_day ("
    " tenant BLOB NOT NULL, day BIGINT NOT NULL, service BLOB NOT NULL, name BLOB NOT NULL,"
    " value BLOB NOT NULL, capped BIGINT NOT NULL,"
    " PRIMARY KEY (tenant, day, service, name, value));",
};

static int read_version(struct fk_catalog *c, int64_t *ret, struct fk_err *err)
{
    struct db_stmt *s;
    bool row = false;
    int r = catalog_start(c, SQL_VERSION_GET, &s, err, "");
    if (r)
        return r;
    r = c->db->ops->step(s, &row, err);
    if (r == 0)
        *ret = row ? c->db->ops->i64(s, 0) : 0;
    c->db->ops->reset(s);
    return r;
}

static int bring_up(struct fk_catalog *c, struct fk_err *err)
{
    int64_t version = 0;
    int r = c->db->ops->script(c->db,
                               "CREATE TABLE IF NOT EXISTS schema_version ("
                               " one BIGINT NOT NULL PRIMARY KEY, version BIGINT NOT NULL)",
                               err);
    if (r == 0)
        r = read_version(c, &version, err);
    if (r)
        return r;
    if (version > FK_CATALOG_VERSION)
        return fk_fail(err, FK_E_UNSUPPORTED,
                       "catalog %s has version %lld, written by a newer flamekeep; this one knows "
                       "up to %d: use the newer one",
                       c->path, (long long)version, FK_CATALOG_VERSION);
    if (version < 0)
        return catalog_bad_row(c, "schema_version", err);
    for (int64_t v = version; r == 0 && v < FK_CATALOG_VERSION; v++)
        r = c->db->ops->script(c->db, steps[v], err);
    if (r == 0 && version < FK_CATALOG_VERSION)
        r = catalog_exec(c, version ? SQL_VERSION_SET : SQL_VERSION_NEW, err, "i",
                         (int64_t)FK_CATALOG_VERSION);
    return r;
}

int catalog_migrate(struct fk_catalog *c, struct fk_err *err)
{
    int r = c->db->ops->begin(c->db, err);
    return r ? r : catalog_end(c, bring_up(c, err), err);
}
