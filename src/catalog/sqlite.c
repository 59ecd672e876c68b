// SPDX-License-Identifier: Apache-2.0
// The SQLite driver: write-ahead log, synchronous=FULL, exclusive, one connection.
#include "catalog/db_int.h"
#include "catalog/vfs_int.h"

struct db_stmt {
    sqlite3_stmt *s; // NULL until prepared
    struct sqlite_db *db;
    int bind_rc; // first failed bind
};

struct sqlite_db {
    struct db db;
    sqlite3 *conn;
    struct vfs vfs;
    bool vfs_open;
    struct fk_file *lock; // the database file itself, locked
    size_t stmts;
    struct db_stmt *stmt;
    char path[FK_PATH_MAX];
};

static enum fk_error code_of(int rc)
{
    if (rc == SQLITE_IOERR_NOMEM)
        return FK_E_NOMEM;
    switch (rc & 0xff) {
    case SQLITE_NOMEM:
        return FK_E_NOMEM;
    case SQLITE_FULL:
        return FK_E_FULL;
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
        return FK_E_BUSY;
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
        return FK_E_CORRUPT;
    case SQLITE_TOOBIG:
        return FK_E_LIMIT;
    default:
        return FK_E_IO;
    }
}

// The sentence: file, SQLite's words, and the system call that failed underneath.
static int fail(struct sqlite_db *db, int rc, struct fk_err *err)
{
    enum fk_error code = code_of(rc);
    const struct fk_err *sys = &db->vfs.last;
    const char *words = db->conn ? sqlite3_errmsg(db->conn) : sqlite3_errstr(rc);
    bool io = (code == FK_E_IO || code == FK_E_FULL) && sys->msg[0];
    if (code == FK_E_CORRUPT)
        return fk_fail(
            err, code,
            "catalog %s: %s; make it anew from the blocks with flamekeep check --rebuild", db->path,
            words);
    int r = fk_fail(err, code, "catalog %s: %s%s%.160s", db->path, words, io ? ": " : "",
                    io ? sys->msg : "");
    if (err && io)
        err->sys = sys->sys;
    return r;
}

static struct sqlite_db *of(struct db *db)
{
    return (struct sqlite_db *)db;
}

static int script(struct db *base, const char *sql, struct fk_err *err)
{
    struct sqlite_db *db = of(base);
    db->vfs.last = (struct fk_err){0};
    int rc = sqlite3_exec(db->conn, sql, NULL, NULL, NULL);
    return rc ? fail(db, sqlite3_extended_errcode(db->conn), err) : 0;
}

static int begin(struct db *base, struct fk_err *err)
{
    return script(base, "BEGIN IMMEDIATE", err);
}

static void rollback(struct db *base)
{
    if (!sqlite3_get_autocommit(of(base)->conn))
        sqlite3_exec(of(base)->conn, "ROLLBACK", NULL, NULL, NULL);
}

static int commit(struct db *base, struct fk_err *err)
{
    int r = script(base, "COMMIT", err);
    if (r)
        rollback(base);
    return r;
}

static int prepare(struct db *base, size_t id, const char *sql, struct db_stmt **ret,
                   struct fk_err *err)
{
    struct sqlite_db *db = of(base);
    struct db_stmt *s = &db->stmt[id];
    assert(id < db->stmts);
    db->vfs.last = (struct fk_err){0};
    if (!s->s) {
        int rc = sqlite3_prepare_v3(db->conn, sql, -1, SQLITE_PREPARE_PERSISTENT, &s->s, NULL);
        if (rc)
            return fail(db, sqlite3_extended_errcode(db->conn), err);
    }
    s->db = db;
    s->bind_rc = 0;
    *ret = s;
    return 0;
}

static void note(struct db_stmt *s, int rc)
{
    if (rc && !s->bind_rc)
        s->bind_rc = rc;
}

static void bind_i64(struct db_stmt *s, int at, int64_t v)
{
    note(s, sqlite3_bind_int64(s->s, at, v));
}

// An empty one is an empty blob, not NULL.
static void bind_bytes(struct db_stmt *s, int at, struct fk_str v)
{
    note(s, sqlite3_bind_blob64(s->s, at, v.n ? v.p : "", v.n, SQLITE_STATIC));
}

static int step(struct db_stmt *s, bool *ret_row, struct fk_err *err)
{
    if (s->bind_rc)
        return fail(s->db, s->bind_rc, err);
    int rc = sqlite3_step(s->s);
    if (rc != SQLITE_ROW && rc != SQLITE_DONE)
        return fail(s->db, sqlite3_extended_errcode(s->db->conn), err);
    *ret_row = rc == SQLITE_ROW;
    return 0;
}

static bool column_is_null(struct db_stmt *s, int column)
{
    return sqlite3_column_type(s->s, column) == SQLITE_NULL;
}

static int64_t column_i64(struct db_stmt *s, int column)
{
    return sqlite3_column_int64(s->s, column);
}

static struct fk_str column_bytes(struct db_stmt *s, int column)
{
    const void *p = sqlite3_column_blob(s->s, column);
    int n = sqlite3_column_bytes(s->s, column);
    return fk_str_make(p, p ? (size_t)n : 0);
}

static void reset(struct db_stmt *s)
{
    sqlite3_reset(s->s);
    sqlite3_clear_bindings(s->s);
}

static int64_t changed(struct db *base)
{
    return sqlite3_changes64(of(base)->conn);
}

static int check(struct db *base, struct fk_err *err)
{
    struct sqlite_db *db = of(base);
    sqlite3_stmt *s;
    db->vfs.last = (struct fk_err){0};
    int rc = sqlite3_prepare_v2(db->conn, "PRAGMA integrity_check(1)", -1, &s, NULL);
    if (rc == SQLITE_OK)
        rc = sqlite3_step(s);
    int r = 0;
    if (rc != SQLITE_ROW) {
        r = fail(db, sqlite3_extended_errcode(db->conn), err);
    } else {
        const char *words = (const char *)sqlite3_column_text(s, 0);
        if (!words || strcmp(words, "ok") != 0)
            r = fk_fail(err, FK_E_CORRUPT, "catalog %s is damaged: %.200s", db->path,
                        words ? words : "?");
    }
    sqlite3_finalize(s);
    return r;
}

static int checkpoint(struct db *base, struct fk_err *err)
{
    struct sqlite_db *db = of(base);
    db->vfs.last = (struct fk_err){0};
    int rc = sqlite3_wal_checkpoint_v2(db->conn, NULL, SQLITE_CHECKPOINT_TRUNCATE, NULL, NULL);
    return rc ? fail(db, sqlite3_extended_errcode(db->conn), err) : 0;
}

static void db_close(struct db *base)
{
    struct sqlite_db *db = of(base);
    for (size_t i = 0; db->stmt && i < db->stmts; i++)
        sqlite3_finalize(db->stmt[i].s);
    sqlite3_close(db->conn);
    if (db->vfs_open)
        vfs_close(&db->vfs);
    fk_file_close(db->lock);
    fk_free(db->stmt);
    fk_free(db);
}

static const struct db_ops ops = {
    .close = db_close,
    .begin = begin,
    .commit = commit,
    .rollback = rollback,
    .script = script,
    .prepare = prepare,
    .bind_i64 = bind_i64,
    .bind_bytes = bind_bytes,
    .step = step,
    .is_null = column_is_null,
    .i64 = column_i64,
    .bytes = column_bytes,
    .reset = reset,
    .changed = changed,
    .check = check,
    .checkpoint = checkpoint,
};

// SQLite stays with a rollback journal, silently, where it cannot keep a log.
static int expect_wal(struct sqlite_db *db, struct fk_err *err)
{
    sqlite3_stmt *s;
    int rc = sqlite3_prepare_v2(db->conn, "PRAGMA journal_mode", -1, &s, NULL);
    if (rc == SQLITE_OK)
        rc = sqlite3_step(s);
    const char *mode = rc == SQLITE_ROW ? (const char *)sqlite3_column_text(s, 0) : NULL;
    int r = 0;
    if (rc != SQLITE_ROW)
        r = fail(db, sqlite3_extended_errcode(db->conn), err);
    else if (!mode || strcmp(mode, "wal") != 0)
        r = fk_fail(err, FK_E_IO, "catalog %s: SQLite cannot use a write-ahead log here", db->path);
    sqlite3_finalize(s);
    return r;
}

// The log's index is kept in the heap only when exclusive mode is asked for before the log.
static int configure(struct sqlite_db *db, struct fk_err *err)
{
    sqlite3_extended_result_codes(db->conn, 1);
    sqlite3_busy_timeout(db->conn, 5000);
    sqlite3_db_config(db->conn, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    sqlite3_db_config(db->conn, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
    int r =
        script(&db->db,
               "PRAGMA locking_mode=EXCLUSIVE; PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL;"
               "PRAGMA temp_store=MEMORY; PRAGMA cache_size=-8192;"
               "PRAGMA journal_size_limit=16777216; PRAGMA cell_size_check=ON;",
               err);
    return r ? r : expect_wal(db, err);
}

// The lock makes the file where there is none; its name is made durable with it.
static int take_lock(struct sqlite_db *db, const struct fk_fs *fs, struct fk_err *err)
{
    char parent[FK_PATH_MAX];
    int r = fk_fs_lock(fs, db->path, &db->lock, err);
    if (r)
        return r;
    fk_path_parent(db->path, parent);
    return fk_fs_sync_dir(fs, parent, err);
}

static int connect(struct sqlite_db *db, const struct fk_fs *fs, struct fk_err *err)
{
    int r = vfs_open(&db->vfs, fs, err);
    if (r)
        return r;
    db->vfs_open = true;
    int flags =
        SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE;
    int rc = sqlite3_open_v2(db->path, &db->conn, flags, db->vfs.name);
    return rc ? fail(db, rc, err) : configure(db, err);
}

int db_open_sqlite(const struct fk_fs *fs, const char *path, size_t statements, struct db **ret,
                   struct fk_err *err)
{
    struct sqlite_db *db = fk_calloc(1, sizeof(*db));
    if (!db)
        return fk_fail_nomem(err);
    db->db.ops = &ops;
    db->stmts = statements;
    db->stmt = fk_calloc(statements, sizeof(*db->stmt));
    int r = db->stmt ? fk_path_printf(db->path, err, "%s", path) : fk_fail_nomem(err);
    if (r == 0)
        r = take_lock(db, fs, err);
    if (r == 0)
        r = connect(db, fs, err);
    if (r) {
        db_close(&db->db);
        return r;
    }
    *ret = &db->db;
    return 0;
}
