// SPDX-License-Identifier: Apache-2.0
// What the catalog and the state ask of a database: one connection, prepared statements by number,
// transactions. SQLite implements it (sqlite.c); the SQL texts (sql_int.h, state.c) are a subset
// that PostgreSQL takes too.
//
// Threads: none of this is locked; the owner's lock is held around it.
#ifndef FK_CATALOG_DB_INT_H
#define FK_CATALOG_DB_INT_H

#include "base/base.h"
#include "os/os.h"

#include <stdarg.h>

struct db;
struct db_stmt;

struct db_ops {
    void (*close)(struct db *db);
    int (*begin)(struct db *db, struct fk_err *err);
    int (*commit)(struct db *db, struct fk_err *err); // failed: rolled back
    void (*rollback)(struct db *db);
    // Statements without parameters and rows, separated by semicolons.
    int (*script)(struct db *db, const char *sql, struct fk_err *err);
    // The statement number `id` with this text, ready to be bound: prepared once, then reused. Not
    // two uses of one number at a time.
    int (*prepare)(struct db *db, size_t id, const char *sql, struct db_stmt **ret,
                   struct fk_err *err);
    void (*bind_i64)(struct db_stmt *s, int at, int64_t v);            // at: from 1
    void (*bind_bytes)(struct db_stmt *s, int at, struct fk_str v);    // borrowed until reset
    int (*step)(struct db_stmt *s, bool *ret_row, struct fk_err *err); // failed binds show here
    bool (*is_null)(struct db_stmt *s, int column);                    // from 0
    int64_t (*i64)(struct db_stmt *s, int column);                     // from 0
    struct fk_str (*bytes)(struct db_stmt *s, int column);             // lives until step or reset
    void (*reset)(struct db_stmt *s);
    int64_t (*changed)(struct db *db); // rows that the last statement inserted, changed or removed
    int (*check)(struct db *db, struct fk_err *err);
    int (*checkpoint)(struct db *db, struct fk_err *err);
};

struct db {
    const struct db_ops *ops;
};

struct db_open {
    const struct fk_fs *fs; // NULL: SQLite's own files and locks, so that processes can share them
    const char *path;
    const char *noun;   // "catalog", "state": what errors call it
    const char *advice; // what to do when it is damaged
    size_t statements;
};
int db_open_sqlite(const struct db_open *o, struct db **ret, struct fk_err *err);

// ---- on top (db.c) ----
// Prepares statement `id` and binds its parameters in order; kinds has a letter each: 'i' int64_t,
// 's' struct fk_str. End with ops->reset, also after a failed step.
int db_start(struct db *db, size_t id, const char *sql, struct db_stmt **ret, struct fk_err *err,
             const char *kinds, va_list ap);
// Ends a transaction: commits when r is 0, else rolls back and returns r.
int db_end(struct db *db, int r, struct fk_err *err);

// Statements of these numbers keep the version of the schema.
enum { DB_VERSION_GET, DB_VERSION_NEW, DB_VERSION_SET, DB_VERSION_STATEMENTS };
struct db_schema {
    const char *noun, *path;
    const char *const *steps; // step i brings version i to i + 1
    int64_t version;
};
// Brings an older schema up to date, in one transaction. FK_E_UNSUPPORTED: a newer one.
int db_migrate(struct db *db, const struct db_schema *schema, struct fk_err *err);

#endif
