// SPDX-License-Identifier: Apache-2.0
// All SQL of the catalog, and the catalog from inside.
//
// Portable subset: $n parameters (numbered in order of first use), ON CONFLICT DO NOTHING, no
// functions but COUNT, SUM, MIN, MAX. Ids are 16 bytes, big-endian, so that their order is the
// order of ids. Texts from outside are BLOB columns: any bytes, compared as bytes.
#ifndef FK_CATALOG_SQL_INT_H
#define FK_CATALOG_SQL_INT_H

#include "catalog/catalog.h"
#include "catalog/db_int.h"

#define BLOCK_COLUMNS                                                                              \
    "id, tenant, level, min_id, max_id, min_time, max_time, min_received, max_received, bytes, "   \
    "profiles, samples, replaces"

// X(name, text)
#define CATALOG_SQL(X)                                                                             \
    X(BLOCK_ADD, "INSERT INTO blocks (" BLOCK_COLUMNS                                              \
                 ") VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)"               \
                 " ON CONFLICT DO NOTHING")                                                        \
    X(BLOCK_GET, "SELECT " BLOCK_COLUMNS " FROM blocks WHERE id = $1")                             \
    X(BLOCK_DELETE, "DELETE FROM blocks WHERE id = $1")                                            \
    X(BLOCKS_ALL, "SELECT " BLOCK_COLUMNS " FROM blocks WHERE max_time >= $1 AND min_time < $2"    \
                  " AND max_received < $3 AND id > $4 ORDER BY id")                                \
    X(BLOCKS_TENANT, "SELECT " BLOCK_COLUMNS " FROM blocks WHERE max_time >= $1 AND min_time < $2" \
                     " AND max_received < $3 AND id > $4 AND tenant = $5 ORDER BY id")             \
    X(BLOCKS_ALL_AGE, "SELECT " BLOCK_COLUMNS " FROM blocks WHERE max_time >= $1"                  \
                      " AND min_time < $2 AND max_received < $3 ORDER BY max_received, id")        \
    X(BLOCKS_TENANT_AGE, "SELECT " BLOCK_COLUMNS " FROM blocks WHERE max_time >= $1"               \
                         " AND min_time < $2 AND max_received < $3 AND tenant = $4"                \
                         " ORDER BY max_received, id")                                             \
    X(TOTALS_ALL, "SELECT COUNT(*), SUM(bytes), SUM(profiles), SUM(samples), MIN(min_time),"       \
                  " MAX(max_time) FROM blocks")                                                    \
    X(TOTALS_TENANT, "SELECT COUNT(*), SUM(bytes), SUM(profiles), SUM(samples), MIN(min_time),"    \
                     " MAX(max_time) FROM blocks WHERE tenant = $1")                               \
    X(REPLACED_ADD, "INSERT INTO replaced (id, block) VALUES ($1, $2) ON CONFLICT DO NOTHING")     \
    X(REPLACED_GET, "SELECT block FROM replaced WHERE id = $1")                                    \
    X(REPLACED_MOVE, "UPDATE replaced SET block = $1 WHERE block = $2")                            \
    X(REPLACED_DELETE, "DELETE FROM replaced WHERE block = $1")                                    \
    X(DATASET_ADD, "INSERT INTO datasets (block, start, length, service, min_time, max_time,"      \
                   " types) VALUES ($1, $2, $3, $4, $5, $6, $7)")                                  \
    X(DATASETS, "SELECT start, length, service, min_time, max_time, types FROM datasets"           \
                " WHERE block = $1 ORDER BY start")                                                \
    X(DATASET_DELETE, "DELETE FROM datasets WHERE block = $1")                                     \
    X(SERIES_ADD, "INSERT INTO series_day (tenant, day, service, hash, labels)"                    \
                  " VALUES ($1, $2, $3, $4, $5) ON CONFLICT DO NOTHING")                           \
    X(SERIES_ALL, "SELECT day, service, hash, labels FROM series_day WHERE tenant = $1"            \
                  " AND day >= $2 AND day <= $3 ORDER BY day, service, hash")                      \
    X(SERIES_SERVICE, "SELECT day, service, hash, labels FROM series_day WHERE tenant = $1"        \
                      " AND day >= $2 AND day <= $3 AND service = $4 ORDER BY day, service, hash") \
    X(SERVICES, "SELECT DISTINCT service FROM series_day WHERE tenant = $1 AND day >= $2"          \
                " AND day <= $3")                                                                  \
    X(DAYS, "SELECT day, COUNT(*) FROM series_day WHERE tenant = $1 AND day >= $2 AND day <= $3"   \
            " GROUP BY day ORDER BY day")                                                          \
    X(DAYS_SERVICE, "SELECT day, COUNT(*) FROM series_day WHERE tenant = $1 AND day >= $2"         \
                    " AND day <= $3 AND service = $4 GROUP BY day ORDER BY day")                   \
    X(SERIES_NEXT_DAY, "SELECT MIN(day) FROM series_day WHERE tenant = $1 AND day > $2")           \
    X(ATTR_NEXT_DAY, "SELECT MIN(day) FROM attr_day WHERE tenant = $1 AND day > $2")               \
    X(DAY_BLOCKS, "SELECT COUNT(*) FROM blocks WHERE tenant = $1 AND max_time >= $2"               \
                  " AND min_time < $3")                                                            \
    X(SERIES_FORGET, "DELETE FROM series_day WHERE tenant = $1 AND day = $2")                      \
    X(ATTR_FORGET, "DELETE FROM attr_day WHERE tenant = $1 AND day = $2")                          \
    X(ATTR_COUNT, "SELECT COUNT(*), MAX(capped) FROM attr_day WHERE tenant = $1 AND day = $2"      \
                  " AND service = $3 AND name = $4")                                               \
    X(ATTR_ADD, "INSERT INTO attr_day (tenant, day, service, name, value, capped)"                 \
                " VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT DO NOTHING")                         \
    X(ATTR_CLEAR, "DELETE FROM attr_day WHERE tenant = $1 AND day = $2 AND service = $3"           \
                  " AND name = $4")                                                                \
    X(ATTR_NAMES, "SELECT DISTINCT name FROM attr_day WHERE tenant = $1 AND day >= $2"             \
                  " AND day <= $3")                                                                \
    X(ATTR_NAMES_SERVICE, "SELECT DISTINCT name FROM attr_day WHERE tenant = $1 AND day >= $2"     \
                          " AND day <= $3 AND service = $4")                                       \
    X(ATTR_VALUES, "SELECT DISTINCT value, capped FROM attr_day WHERE tenant = $1 AND day >= $2"   \
                   " AND day <= $3 AND name = $4")                                                 \
    X(ATTR_VALUES_SERVICE, "SELECT DISTINCT value, capped FROM attr_day WHERE tenant = $1"         \
                           " AND day >= $2 AND day <= $3 AND name = $4 AND service = $5")          \
    X(STRAY_DATASETS, "SELECT COUNT(*) FROM datasets WHERE NOT EXISTS (SELECT 1 FROM blocks"       \
                      " WHERE blocks.id = datasets.block)")                                        \
    X(STRAY_REPLACED, "SELECT COUNT(*) FROM replaced WHERE NOT EXISTS (SELECT 1 FROM blocks"       \
                      " WHERE blocks.id = replaced.block)")                                        \
    X(LIVE_REPLACED, "SELECT COUNT(*) FROM blocks WHERE EXISTS (SELECT 1 FROM replaced"            \
                     " WHERE replaced.id = blocks.id)")

enum catalog_sql {
    SQL_FIRST = DB_VERSION_STATEMENTS - 1,
#define CATALOG_SQL_ID(name, text) SQL_##name,
    CATALOG_SQL(CATALOG_SQL_ID)
#undef CATALOG_SQL_ID
        SQL_COUNT
};

struct fk_catalog {
    struct fk_mutex lock; // guards the connection
    struct db *db;
    char path[FK_PATH_MAX];
};

#define ID_BYTES 16

static inline void id_put(struct fk_id id, uint8_t ret[ID_BYTES])
{
    uint64_t be[2] = {__builtin_bswap64(id.hi), __builtin_bswap64(id.lo)};
    memcpy(ret, be, ID_BYTES);
}

static inline struct fk_id id_get(const void *p)
{
    return (struct fk_id){__builtin_bswap64(fk_load64(p)),
                          __builtin_bswap64(fk_load64((const char *)p + 8))};
}

#define ID_VIEW(bytes) fk_str_make((bytes), ID_BYTES)

// Prepares statement `sql` and binds its parameters in order; kinds has a letter each: 'i' int64_t,
// 's' struct fk_str. End with db->ops->reset, also after a failed step.
int catalog_start(struct fk_catalog *c, enum catalog_sql sql, struct db_stmt **ret,
                  struct fk_err *err, const char *kinds, ...);
// The same for a statement without rows, run to its end.
int catalog_exec(struct fk_catalog *c, enum catalog_sql sql, struct fk_err *err, const char *kinds,
                 ...);
// And for one whose first row's first column is a number.
int catalog_number(struct fk_catalog *c, enum catalog_sql sql, int64_t *ret, struct fk_err *err,
                   const char *kinds, ...);
// Ends a transaction: commits when r is 0, else rolls back and returns r.
int catalog_end(struct fk_catalog *c, int r, struct fk_err *err);
// A row that is not as we wrote it.
int catalog_bad_row(struct fk_catalog *c, const char *table, struct fk_err *err);
// schema.c
int catalog_migrate(struct fk_catalog *c, struct fk_err *err);
// labels.c: rows of one block, within its transaction.
int catalog_add_series(struct fk_catalog *c, const struct fk_catalog_add *add, struct fk_err *err);
int catalog_add_attrs(struct fk_catalog *c, const struct fk_catalog_add *add, struct fk_err *err);

#endif
