// SPDX-License-Identifier: Apache-2.0
// A SQLite VFS (https://www.sqlite.org/vfs.html) over struct fk_fs.
//
// It has no locks and no shared memory: the catalog holds a lock on the file and runs the
// connection in exclusive locking mode, where write-ahead logging keeps its index in the heap
// (https://www.sqlite.org/wal.html, "Use of WAL Without Shared-Memory"). A new file's folder is
// synced with the file's first sync, so that a commit's log cannot lose its name.
#include "catalog/vfs_int.h"

#include <inttypes.h>
#include <stdio.h>

struct vfs_file {
    sqlite3_file base;
    struct vfs *vfs;
    struct fk_file *file;
    bool named;  // the folder is synced since the file was made
    bool remove; // at close
    char path[FK_PATH_MAX];
};

static struct vfs_file *of(sqlite3_file *f)
{
    return (struct vfs_file *)f;
}

// The code for a failed call: `fallback` unless the error says better.
static int code(int r, int fallback)
{
    switch (-r) {
    case FK_E_NOMEM:
        return SQLITE_IOERR_NOMEM;
    case FK_E_FULL:
        return SQLITE_FULL;
    default:
        return fallback;
    }
}

static int file_close(sqlite3_file *f)
{
    fk_file_close(of(f)->file);
    if (of(f)->remove)
        fk_fs_unlink(of(f)->vfs->fs, of(f)->path, NULL);
    return SQLITE_OK;
}

// Reads beyond the end give zeros and say so.
static int file_read(sqlite3_file *f, void *to, int n, sqlite3_int64 offset)
{
    struct fk_err *err = &of(f)->vfs->last;
    int r = fk_file_read_at(of(f)->file, (uint64_t)offset, to, (size_t)n, err);
    if (r == 0)
        return SQLITE_OK;
    if (r != -FK_E_CORRUPT)
        return code(r, SQLITE_IOERR_READ);
    uint64_t size;
    r = fk_file_size(of(f)->file, &size, err);
    if (r)
        return code(r, SQLITE_IOERR_READ);
    size_t have = size > (uint64_t)offset ? (size_t)(size - (uint64_t)offset) : 0;
    have = FK_MIN(have, (size_t)n);
    r = have ? fk_file_read_at(of(f)->file, (uint64_t)offset, to, have, err) : 0;
    if (r)
        return code(r, SQLITE_IOERR_READ);
    memset((char *)to + have, 0, (size_t)n - have);
    return SQLITE_IOERR_SHORT_READ;
}

static int file_write(sqlite3_file *f, const void *p, int n, sqlite3_int64 offset)
{
    struct fk_err *err = &of(f)->vfs->last;
    int r = fk_file_write_at(of(f)->file, (uint64_t)offset, p, (size_t)n, err);
    return r ? code(r, SQLITE_IOERR_WRITE) : SQLITE_OK;
}

static int file_truncate(sqlite3_file *f, sqlite3_int64 size)
{
    int r = fk_file_truncate(of(f)->file, (uint64_t)size, &of(f)->vfs->last);
    return r ? code(r, SQLITE_IOERR_TRUNCATE) : SQLITE_OK;
}

static int file_sync(sqlite3_file *f, int flags)
{
    (void)flags;
    struct vfs_file *v = of(f);
    int r = fk_file_fdatasync(v->file, &v->vfs->last);
    if (r)
        return code(r, SQLITE_IOERR_FSYNC);
    if (!v->named) {
        char parent[FK_PATH_MAX];
        fk_path_parent(v->path, parent);
        r = fk_fs_sync_dir(v->vfs->fs, parent, &v->vfs->last);
        if (r)
            return code(r, SQLITE_IOERR_DIR_FSYNC);
        v->named = true;
    }
    return SQLITE_OK;
}

static int file_size(sqlite3_file *f, sqlite3_int64 *ret)
{
    uint64_t size;
    int r = fk_file_size(of(f)->file, &size, &of(f)->vfs->last);
    if (r)
        return code(r, SQLITE_IOERR_FSTAT);
    *ret = (sqlite3_int64)size;
    return SQLITE_OK;
}

static int file_lock(sqlite3_file *f, int level)
{
    (void)f;
    (void)level;
    return SQLITE_OK;
}

static int file_reserved(sqlite3_file *f, int *ret)
{
    (void)f;
    *ret = 0;
    return SQLITE_OK;
}

static int file_control(sqlite3_file *f, int op, void *arg)
{
    (void)f;
    (void)op;
    (void)arg;
    return SQLITE_NOTFOUND;
}

static int file_sector(sqlite3_file *f)
{
    (void)f;
    return 4096;
}

static int file_traits(sqlite3_file *f)
{
    (void)f;
    return SQLITE_IOCAP_POWERSAFE_OVERWRITE;
}

static const sqlite3_io_methods file_methods = {
    .iVersion = 1,
    .xClose = file_close,
    .xRead = file_read,
    .xWrite = file_write,
    .xTruncate = file_truncate,
    .xSync = file_sync,
    .xFileSize = file_size,
    .xLock = file_lock,
    .xUnlock = file_lock,
    .xCheckReservedLock = file_reserved,
    .xFileControl = file_control,
    .xSectorSize = file_sector,
    .xDeviceCharacteristics = file_traits,
};

static struct vfs *of_vfs(sqlite3_vfs *v)
{
    return v->pAppData;
}

static int open_file(sqlite3_vfs *vfs, const char *path, sqlite3_file *file, int flags,
                     int *ret_flags)
{
    struct vfs *v = of_vfs(vfs);
    struct vfs_file *f = of(file);
    f->base.pMethods = NULL; // until it is open
    if (!path)               // temporary files: temp_store=MEMORY asks for none
        return SQLITE_CANTOPEN;
    int r = fk_path_printf(f->path, &v->last, "%s", path);
    int there = r ? r : fk_fs_exists(v->fs, path, &v->last);
    if (there < 0)
        return code(there, SQLITE_CANTOPEN);
    enum fk_open_mode mode = flags & SQLITE_OPEN_CREATE      ? FK_OPEN_WRITE_CREATE
                             : flags & SQLITE_OPEN_READWRITE ? FK_OPEN_WRITE
                                                             : FK_OPEN_READ;
    r = fk_fs_open(v->fs, path, mode, &f->file, &v->last);
    if (r)
        return code(r, SQLITE_CANTOPEN);
    f->vfs = v;
    f->named = there;
    f->remove = (flags & SQLITE_OPEN_DELETEONCLOSE) != 0;
    f->base.pMethods = &file_methods;
    if (ret_flags)
        *ret_flags = flags;
    return SQLITE_OK;
}

// The folder is synced whether SQLite asks for it or not: a rollback journal (there is one while
// the database changes over to the log) that comes back after a power loss would undo all that was
// committed since.
static int delete_file(sqlite3_vfs *vfs, const char *path, int sync_dir)
{
    (void)sync_dir;
    struct vfs *v = of_vfs(vfs);
    char parent[FK_PATH_MAX];
    int r = fk_fs_unlink(v->fs, path, &v->last);
    if (r == -FK_E_NOTFOUND)
        return SQLITE_IOERR_DELETE_NOENT;
    if (r == 0) {
        fk_path_parent(path, parent);
        r = fk_fs_sync_dir(v->fs, parent, &v->last);
    }
    return r ? code(r, SQLITE_IOERR_DELETE) : SQLITE_OK;
}

// SQLite takes an empty journal or log for none, so does this.
static int access_file(sqlite3_vfs *vfs, const char *path, int flags, int *ret)
{
    struct vfs *v = of_vfs(vfs);
    struct fk_file_stat st;
    int r = fk_fs_stat(v->fs, path, &st, &v->last);
    if (r && r != -FK_E_NOTFOUND)
        return code(r, SQLITE_IOERR_ACCESS);
    *ret = r == 0 && (flags != SQLITE_ACCESS_EXISTS || st.size > 0);
    return SQLITE_OK;
}

static int full_path(sqlite3_vfs *vfs, const char *path, int n, char *ret)
{
    (void)vfs;
    size_t len = strlen(path);
    if (n <= 0 || len >= (size_t)n)
        return SQLITE_CANTOPEN;
    memcpy(ret, path, len + 1);
    return SQLITE_OK;
}

static int randomness(sqlite3_vfs *vfs, int n, char *ret)
{
    memset(ret, 0, (size_t)n);
    return fk_random(ret, (size_t)n, &of_vfs(vfs)->last) ? 0 : n;
}

static int sleep_us(sqlite3_vfs *vfs, int us)
{
    (void)vfs;
    fk_sleep_ns(us * FK_NS_PER_US);
    return us;
}

// Milliseconds since noon of 24 November 4714 before Christ, as SQLite counts days.
static int now_ms(sqlite3_vfs *vfs, sqlite3_int64 *ret)
{
    (void)vfs;
    *ret = 210866760000000 + fk_clock_wall(fk_clock_real()) / FK_NS_PER_MS;
    return SQLITE_OK;
}

static int now_days(sqlite3_vfs *vfs, double *ret)
{
    sqlite3_int64 ms;
    int r = now_ms(vfs, &ms);
    *ret = (double)ms / 86400000.0;
    return r;
}

static int last_error(sqlite3_vfs *vfs, int n, char *ret)
{
    (void)n;
    (void)ret;
    return of_vfs(vfs)->last.sys;
}

int vfs_open(struct vfs *v, const struct fk_fs *fs, struct fk_err *err)
{
    *v = (struct vfs){
        .vfs = {.iVersion = 2,
                .szOsFile = sizeof(struct vfs_file),
                .mxPathname = FK_PATH_MAX - 16,
                .xOpen = open_file,
                .xDelete = delete_file,
                .xAccess = access_file,
                .xFullPathname = full_path,
                .xRandomness = randomness,
                .xSleep = sleep_us,
                .xCurrentTime = now_days,
                .xGetLastError = last_error,
                .xCurrentTimeInt64 = now_ms},
        .fs = fs,
    };
    snprintf(v->name, sizeof(v->name), "fk-%" PRIxPTR, (uintptr_t)v);
    v->vfs.zName = v->name;
    v->vfs.pAppData = v;
    if (sqlite3_vfs_register(&v->vfs, 0) != SQLITE_OK)
        return fk_fail(err, FK_E_NOMEM, "SQLite cannot be started");
    return 0;
}

void vfs_close(struct vfs *v)
{
    sqlite3_vfs_unregister(&v->vfs);
}
