// SPDX-License-Identifier: Apache-2.0
// Tables of the catalog, step by step.
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

int catalog_migrate(struct fk_catalog *c, struct fk_err *err)
{
    struct db_schema schema = {"catalog", c->path, steps, FK_CATALOG_VERSION};
    return db_migrate(c->db, &schema, err);
}
