// SPDX-License-Identifier: Apache-2.0
// What the catalog asks of a database: one connection, prepared statements by number, transactions.
// SQLite implements it (sqlite.c); the SQL texts (sql_int.h) are a subset that PostgreSQL takes
// too.
//
// Threads: none of this is locked; struct fk_catalog.lock is held around it.
#ifndef FK_CATALOG_DB_INT_H
#define FK_CATALOG_DB_INT_H

#include "base/base.h"
#include "os/os.h"

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

int db_open_sqlite(const struct fk_fs *fs, const char *path, size_t statements, struct db **ret,
                   struct fk_err *err);

#endif
