// SPDX-License-Identifier: Apache-2.0
// What every file system has in common: path texts, sources over files, whole-file helpers.
#include "os/fs.h"

#include "os/clock.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

int fk_path_printf(char ret[FK_PATH_MAX], struct fk_err *err, const char *fmt, ...)
{
    char text[FK_PATH_MAX];
    va_list ap;
    va_start(ap, fmt);
    int n = vsnprintf(text, sizeof(text), fmt, ap);
    va_end(ap);
    if (n < 0 || (size_t)n >= sizeof(text))
        return fk_fail_limit(err, "path", FK_PATH_MAX - 1, NULL, "path '%.40s...' is too long",
                             text);
    memcpy(ret, text, (size_t)n + 1);
    return 0;
}

void fk_path_parent(const char *path, char ret[FK_PATH_MAX])
{
    size_t n = strnlen(path, FK_PATH_MAX - 1);
    while (n > 1 && path[n - 1] == '/')
        n--;
    while (n > 0 && path[n - 1] != '/')
        n--;
    while (n > 1 && path[n - 1] == '/')
        n--;
    if (n == 0) {
        memcpy(ret, ".", 2);
        return;
    }
    memmove(ret, path, n);
    ret[n] = '\0';
}

static int read_file(void *arg, uint64_t offset, void *to, size_t n, struct fk_err *err)
{
    return fk_file_read_at(arg, offset, to, n, err);
}

// With a mapping, the file's own map call is cheap after the first: it returns what it has.
static const uint8_t *map_file(void *arg, uint64_t offset, size_t n)
{
    const uint8_t *p;
    size_t size;
    if (fk_file_map(arg, &p, &size, NULL) || !fk_in_range(offset, n, size))
        return NULL;
    return p + offset;
}

static int read_mapped(void *arg, uint64_t offset, void *to, size_t n, struct fk_err *err)
{
    const uint8_t *p;
    size_t size;
    int r = fk_file_map(arg, &p, &size, err);
    if (r)
        return r;
    if (!fk_in_range(offset, n, size))
        return fk_fail(err, FK_E_CORRUPT, "read of %zu bytes at %" PRIu64 " is beyond the end", n,
                       offset);
    if (n)
        memcpy(to, p + offset, n);
    return 0;
}

int fk_file_source(struct fk_file *f, bool mapped, struct fk_source *ret, struct fk_err *err)
{
    if (mapped) {
        const uint8_t *p;
        size_t n;
        int r = fk_file_map(f, &p, &n, err);
        if (r)
            return r;
        *ret = (struct fk_source){n, read_mapped, map_file, f};
        return 0;
    }
    uint64_t size;
    int r = fk_file_size(f, &size, err);
    if (r)
        return r;
    *ret = (struct fk_source){size, read_file, NULL, f};
    return 0;
}

int fk_fs_exists(const struct fk_fs *fs, const char *path, struct fk_err *err)
{
    struct fk_file_stat st;
    int r = fk_fs_stat(fs, path, &st, err);
    if (r == -FK_E_NOTFOUND)
        return 0;
    return r ? r : 1;
}

// A folder of somebody else, whose parent we may not even open: then we did not make it either.
static bool is_foreign(const struct fk_err *err)
{
    return err->sys == EACCES || err->sys == EPERM || err->sys == EROFS;
}

// One step of mkdirs: 0 also when the folder is there. Its name is synced in either case: whoever
// made it (a process that was killed, a call that failed) may not have come so far.
static int make_one(const struct fk_fs *fs, const char *path, struct fk_err *err)
{
    struct fk_file_stat st;
    struct fk_err local = {0};
    char parent[FK_PATH_MAX];
    int r = fk_fs_stat(fs, path, &st, err);
    bool there = r == 0;
    if (there && !st.is_dir)
        return fk_fail(err, FK_E_EXISTS, "%s is a file, not a folder", path);
    if (r == -FK_E_NOTFOUND)
        r = fk_fs_mkdir(fs, path, err);
    if (r && r != -FK_E_EXISTS)
        return r;
    fk_path_parent(path, parent);
    r = fk_fs_sync_dir(fs, parent, &local);
    if (r && there && is_foreign(&local))
        return 0;
    if (r && err)
        *err = local;
    return r;
}

int fk_fs_mkdirs(const struct fk_fs *fs, const char *path, struct fk_err *err)
{
    char part[FK_PATH_MAX];
    int r = fk_path_printf(part, err, "%s", path);
    for (size_t i = 1; r == 0 && part[i - 1]; i++) {
        if (part[i] != '/' && part[i] != '\0')
            continue;
        char c = part[i];
        part[i] = '\0';
        r = make_one(fs, part, err);
        part[i] = c;
        if (c == '\0')
            break;
    }
    return r;
}

int fk_fs_read_file(const struct fk_fs *fs, const char *path, size_t max, struct fk_buf *b,
                    struct fk_err *err)
{
    FK_AUTO_FILE f = NULL;
    uint64_t size = 0;
    int r = fk_fs_open(fs, path, FK_OPEN_READ, &f, err);
    if (r == 0)
        r = fk_file_size(f, &size, err);
    if (r)
        return r;
    if (size > max)
        return fk_fail_limit(err, "file", max, NULL, "%s has %" PRIu64 " bytes", path, size);
    char *to = fk_buf_reserve(b, (size_t)size);
    if (!to)
        return fk_buf_check(b, path, err);
    r = fk_file_read_at(f, 0, to, (size_t)size, err);
    if (r == 0)
        b->n += (size_t)size;
    return r;
}

static int write_new(const struct fk_fs *fs, const char *path, struct fk_str bytes,
                     struct fk_err *err)
{
    FK_AUTO_FILE f = NULL;
    int r = fk_fs_open(fs, path, FK_OPEN_WRITE_CREATE, &f, err);
    if (r == 0)
        r = fk_file_truncate(f, 0, err);
    if (r == 0 && bytes.n)
        r = fk_file_write_at(f, 0, bytes.p, bytes.n, err);
    return r ? r : fk_file_fdatasync(f, err);
}

int fk_fs_write_file(const struct fk_fs *fs, const char *path, struct fk_str bytes,
                     struct fk_err *err)
{
    char tmp[FK_PATH_MAX], parent[FK_PATH_MAX];
    int r = fk_path_printf(tmp, err, "%s.tmp", path);
    if (r == 0)
        r = write_new(fs, tmp, bytes, err);
    if (r == 0)
        r = fk_fs_rename(fs, tmp, path, err);
    if (r)
        return r;
    fk_path_parent(path, parent);
    return fk_fs_sync_dir(fs, parent, err);
}

int fk_fs_open_unnamed(const struct fk_fs *fs, const char *folder, struct fk_file **ret,
                       struct fk_err *err)
{
    uint64_t random;
    char path[FK_PATH_MAX];
    struct fk_file *f = NULL;
    int r = fk_random(&random, sizeof(random), err);
    if (r == 0)
        r = fk_path_printf(path, err, "%s/.spool-%016" PRIx64, folder, random);
    if (r == 0)
        r = fk_fs_open(fs, path, FK_OPEN_CREATE, &f, err);
    if (r)
        return r;
    r = fk_fs_unlink(fs, path, err);
    if (r) {
        fk_file_close(f);
        return r;
    }
    *ret = f;
    return 0;
}
