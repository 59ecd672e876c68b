// SPDX-License-Identifier: Apache-2.0
// The SQLite driver: one connection. Exclusive on struct fk_fs with a write-ahead log, or on
// SQLite's own files with a rollback journal, where several processes may be at it. What a commit
// returned 0 for is durable in both.
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
    bool shared;          // other processes have it open too
    struct fk_file *lock; // the database file itself, locked; NULL when shared
    const char *noun, *advice;
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
        return fk_fail(err, code, "%s %s: %s; %s", db->noun, db->path, words, db->advice);
    if (code == FK_E_BUSY)
        return fk_fail(err, code, "%s %s: %s by another flamekeep; try again", db->noun, db->path,
                       words);
    int system = db->shared && db->conn ? sqlite3_system_errno(db->conn) : 0;
    if (system && code != FK_E_NOMEM)
        return fk_fail_errno(err, system, "%s %s: %s", db->noun, db->path, words);
    int r = fk_fail(err, code, "%s %s: %s%s%.160s", db->noun, db->path, words, io ? ": " : "",
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
            r = fk_fail(err, FK_E_CORRUPT, "%s %s is damaged: %.200s; %s", db->noun, db->path,
                        words ? words : "?", db->advice);
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
        r = fk_fail(err, FK_E_IO, "%s %s: SQLite cannot use a write-ahead log here", db->noun,
                    db->path);
    sqlite3_finalize(s);
    return r;
}

// A journal that came back after a power loss would undo what was committed: EXTRA syncs the folder
// after its removal.
static int configure_shared(struct sqlite_db *db, struct fk_err *err)
{
    return script(&db->db,
                  "PRAGMA journal_mode=DELETE; PRAGMA synchronous=EXTRA; PRAGMA temp_store=MEMORY;"
                  "PRAGMA cell_size_check=ON;",
                  err);
}

// The log's index is kept in the heap only when exclusive mode is asked for before the log.
static int configure(struct sqlite_db *db, struct fk_err *err)
{
    sqlite3_extended_result_codes(db->conn, 1);
    sqlite3_busy_timeout(db->conn, 5000);
    sqlite3_db_config(db->conn, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    sqlite3_db_config(db->conn, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
    if (db->shared)
        return configure_shared(db, err);
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
    int r = db->shared ? 0 : vfs_open(&db->vfs, fs, err);
    if (r)
        return r;
    db->vfs_open = !db->shared;
    int flags =
        SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE;
    int rc = sqlite3_open_v2(db->path, &db->conn, flags, db->shared ? NULL : db->vfs.name);
    return rc ? fail(db, rc, err) : configure(db, err);
}

int db_open_sqlite(const struct db_open *o, struct db **ret, struct fk_err *err)
{
    struct sqlite_db *db = fk_calloc(1, sizeof(*db));
    if (!db)
        return fk_fail_nomem(err);
    db->db.ops = &ops;
    db->noun = o->noun;
    db->advice = o->advice;
    db->shared = o->fs == NULL;
    db->stmts = o->statements;
    db->stmt = fk_calloc(o->statements, sizeof(*db->stmt));
    int r = db->stmt ? fk_path_printf(db->path, err, "%s", o->path) : fk_fail_nomem(err);
    if (r == 0 && !db->shared)
        r = take_lock(db, o->fs, err);
    if (r == 0)
        r = connect(db, o->fs, err);
    if (r) {
        db_close(&db->db);
        return r;
    }
    *ret = &db->db;
    return 0;
}
