// SPDX-License-Identifier: Apache-2.0
// The file system of the kernel.
#include "os/fs.h"
#include "os/os_int.h"
#include "os/thread.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

struct real_file {
    struct fk_file file;
    int fd;
    struct fk_mutex lock; // guards the two below
    void *map;            // NULL until asked for
    size_t map_n;
    char path[]; // for error texts
};

static int read_at(struct fk_file *file, uint64_t offset, void *to, size_t n, struct fk_err *err)
{
    struct real_file *f = (struct real_file *)file;
    uint8_t *at = to;
    while (n) {
        ssize_t got = pread(f->fd, at, n, (off_t)offset);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return fk_os_fail(err, errno, "read", f->path);
        if (got == 0)
            return fk_fail(err, FK_E_CORRUPT, "%s ends before byte %" PRIu64, f->path, offset + n);
        at += got;
        offset += (uint64_t)got;
        n -= (size_t)got;
    }
    return 0;
}

static int write_at(struct fk_file *file, uint64_t offset, const void *p, size_t n,
                    struct fk_err *err)
{
    struct real_file *f = (struct real_file *)file;
    const uint8_t *at = p;
    while (n) {
        ssize_t put = pwrite(f->fd, at, n, (off_t)offset);
        if (put < 0 && errno == EINTR)
            continue;
        if (put <= 0)
            return fk_os_fail(err, put < 0 ? errno : EIO, "write to", f->path);
        at += put;
        offset += (uint64_t)put;
        n -= (size_t)put;
    }
    return 0;
}

static int file_size(struct fk_file *file, uint64_t *ret_size, struct fk_err *err)
{
    struct real_file *f = (struct real_file *)file;
    struct stat st;
    if (fstat(f->fd, &st))
        return fk_os_fail(err, errno, "tell the size of", f->path);
    *ret_size = (uint64_t)st.st_size;
    return 0;
}

static int file_truncate(struct fk_file *file, uint64_t size, struct fk_err *err)
{
    struct real_file *f = (struct real_file *)file;
    int r;
    do
        r = ftruncate(f->fd, (off_t)size);
    while (r && errno == EINTR);
    return r ? fk_os_fail(err, errno, "set the length of", f->path) : 0;
}

static int preallocate(struct fk_file *file, uint64_t size, struct fk_err *err)
{
    struct real_file *f = (struct real_file *)file;
    uint64_t now;
    int r = file_size(file, &now, err);
    if (r || now >= size)
        return r;
    do
        r = fallocate(f->fd, 0, (off_t)now, (off_t)(size - now));
    while (r && errno == EINTR);
    if (r == 0)
        return 0;
    if (errno == EOPNOTSUPP || errno == ENOSYS)
        return file_truncate(file, size, err);
    return fk_os_fail(err, errno, "reserve room for", f->path);
}

static int file_sync(struct fk_file *file, struct fk_err *err)
{
    struct real_file *f = (struct real_file *)file;
    int r;
    do
        r = fdatasync(f->fd);
    while (r && errno == EINTR);
    return r ? fk_os_fail(err, errno, "sync", f->path) : 0;
}

static int map_now(struct real_file *f, struct fk_err *err)
{
    uint64_t size;
    int r = file_size(&f->file, &size, err);
    if (r)
        return r;
    void *map = mmap(NULL, (size_t)size, PROT_READ, MAP_SHARED, f->fd, 0);
    if (map == MAP_FAILED)
        return fk_os_fail(err, errno, "map", f->path);
    f->map = map;
    f->map_n = (size_t)size;
    return 0;
}

static int file_map(struct fk_file *file, const uint8_t **ret_p, size_t *ret_n, struct fk_err *err)
{
    static const uint8_t empty[1];
    struct real_file *f = (struct real_file *)file;
    uint64_t size = 1;
    int r = 0;
    fk_mutex_lock(&f->lock);
    if (!f->map)
        r = file_size(file, &size, err);
    if (r == 0 && !f->map && size)
        r = map_now(f, err);
    if (r == 0) {
        *ret_p = f->map ? f->map : empty;
        *ret_n = f->map_n;
    }
    fk_mutex_unlock(&f->lock);
    return r;
}

static void file_close(struct fk_file *file)
{
    struct real_file *f = (struct real_file *)file;
    if (f->map)
        munmap(f->map, f->map_n);
    fk_mutex_destroy(&f->lock);
    close(f->fd);
    fk_free(f);
}

static const struct fk_file_ops file_ops = {
    .read_at = read_at,
    .write_at = write_at,
    .size = file_size,
    .truncate = file_truncate,
    .preallocate = preallocate,
    .fdatasync = file_sync,
    .map = file_map,
    .close = file_close,
};

static int new_file(int fd, const char *path, struct fk_file **ret, struct fk_err *err)
{
    size_t n = strlen(path) + 1;
    struct real_file *f = fk_malloc(sizeof(*f) + n);
    if (!f) {
        close(fd);
        return fk_fail_nomem(err);
    }
    *f = (struct real_file){.file = {&file_ops}, .fd = fd};
    memcpy(f->path, path, n);
    fk_mutex_init(&f->lock, FK_RANK_FILE);
    *ret = &f->file;
    return 0;
}

static int open_fd(const char *path, int flags)
{
    int fd;
    do
        fd = open(path, flags | O_CLOEXEC | O_NOCTTY, 0640);
    while (fd < 0 && errno == EINTR);
    return fd;
}

static int fs_open(void *arg, const char *path, enum fk_open_mode mode, struct fk_file **ret,
                   struct fk_err *err)
{
    static const int flags[] = {
        [FK_OPEN_READ] = O_RDONLY,
        [FK_OPEN_WRITE] = O_RDWR,
        [FK_OPEN_CREATE] = O_RDWR | O_CREAT | O_EXCL,
        [FK_OPEN_WRITE_CREATE] = O_RDWR | O_CREAT,
    };
    (void)arg;
    int fd = open_fd(path, flags[mode]);
    if (fd < 0)
        return fk_os_fail(err, errno, "open", path);
    return new_file(fd, path, ret, err);
}

static int fs_lock(void *arg, const char *path, struct fk_file **ret, struct fk_err *err)
{
    (void)arg;
    int fd = open_fd(path, O_RDWR | O_CREAT);
    if (fd < 0)
        return fk_os_fail(err, errno, "open", path);
    if (flock(fd, LOCK_EX | LOCK_NB)) {
        int sys = errno;
        close(fd);
        if (sys == EWOULDBLOCK)
            return fk_fail(err, FK_E_BUSY, "%s is locked: another process is using this folder",
                           path);
        return fk_os_fail(err, sys, "lock", path);
    }
    return new_file(fd, path, ret, err);
}

static int fs_mkdir(void *arg, const char *path, struct fk_err *err)
{
    (void)arg;
    return mkdir(path, 0750) ? fk_os_fail(err, errno, "make the folder", path) : 0;
}

static int fs_rename(void *arg, const char *from, const char *to, struct fk_err *err)
{
    (void)arg;
    return rename(from, to) ? fk_os_fail(err, errno, "rename", from) : 0;
}

static int fs_unlink(void *arg, const char *path, struct fk_err *err)
{
    (void)arg;
    return unlink(path) ? fk_os_fail(err, errno, "remove", path) : 0;
}

static int fs_rmdir(void *arg, const char *path, struct fk_err *err)
{
    (void)arg;
    return rmdir(path) ? fk_os_fail(err, errno, "remove the folder", path) : 0;
}

static bool entry_is_dir(DIR *dir, const struct dirent *entry)
{
    struct stat st;
    if (entry->d_type != DT_UNKNOWN)
        return entry->d_type == DT_DIR;
    return fstatat(dirfd(dir), entry->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(st.st_mode);
}

static bool is_dots(const char *name)
{
    return strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
}

static int fs_list(void *arg, const char *path, struct fk_each_name each, struct fk_err *err)
{
    (void)arg;
    DIR *dir = opendir(path);
    if (!dir)
        return fk_os_fail(err, errno, "list", path);
    int r = 0;
    while (r == 0) {
        errno = 0;
        const struct dirent *entry = readdir(dir);
        if (!entry) {
            if (errno)
                r = fk_os_fail(err, errno, "list", path);
            break;
        }
        if (!is_dots(entry->d_name))
            r = each.on(each.arg, entry->d_name, entry_is_dir(dir, entry), err);
    }
    closedir(dir);
    return r;
}

static int fs_sync_dir(void *arg, const char *path, struct fk_err *err)
{
    (void)arg;
    int fd = open_fd(path, O_RDONLY | O_DIRECTORY);
    if (fd < 0)
        return fk_os_fail(err, errno, "open the folder", path);
    int r;
    do
        r = fsync(fd);
    while (r && errno == EINTR);
    if (r)
        r = fk_os_fail(err, errno, "sync the folder", path);
    close(fd);
    return r;
}

static int fs_stat(void *arg, const char *path, struct fk_file_stat *ret, struct fk_err *err)
{
    (void)arg;
    struct stat st;
    if (stat(path, &st))
        return fk_os_fail(err, errno, "look at", path);
    *ret = (struct fk_file_stat){
        .size = (uint64_t)st.st_size,
        .mtime_ns = (int64_t)st.st_mtim.tv_sec * FK_NS_PER_S + st.st_mtim.tv_nsec,
        .is_dir = S_ISDIR(st.st_mode),
    };
    return 0;
}

static int fs_space(void *arg, const char *path, struct fk_space *ret, struct fk_err *err)
{
    (void)arg;
    struct statvfs st;
    if (statvfs(path, &st))
        return fk_os_fail(err, errno, "tell the free space of", path);
    *ret = (struct fk_space){
        .free = (uint64_t)st.f_bavail * st.f_frsize,
        .total = (uint64_t)st.f_blocks * st.f_frsize,
    };
    return 0;
}

static const struct fk_fs_ops fs_ops = {
    .open = fs_open,
    .lock = fs_lock,
    .mkdir = fs_mkdir,
    .rename = fs_rename,
    .unlink = fs_unlink,
    .rmdir = fs_rmdir,
    .list = fs_list,
    .sync_dir = fs_sync_dir,
    .stat = fs_stat,
    .space = fs_space,
};

const struct fk_fs *fk_fs_real(void)
{
    static const struct fk_fs fs = {&fs_ops, NULL};
    return &fs;
}
