// SPDX-License-Identifier: Apache-2.0
// Files behind a small interface, so that the same code runs on the real file system and on the
// simulated one (os/simfs.h), which crashes and fails on demand.
//
// Paths are NUL-terminated UTF-8 or any bytes, shorter than FK_PATH_MAX. Errors: FK_E_NOTFOUND (no
// such file or folder), FK_E_EXISTS, FK_E_BUSY (locked by somebody else), FK_E_FULL (ENOSPC,
// EDQUOT), else FK_E_IO; err->sys is errno and the sentence names the file.
//
// Durability: a write is durable once fdatasync returned 0 after it; a new, renamed or removed name
// once sync_dir of its folder returned 0. After a failed fdatasync what was written since the last
// good one must be taken for lost, whatever later calls say (the kernel forgets it): write it anew
// to another file.
//
// Threads: all calls are safe from any thread. One file may be read and written by several threads
// at a time where their ranges do not overlap; nobody may use it during or after close.
#ifndef FK_OS_FS_H
#define FK_OS_FS_H

#include "base/base.h"

#define FK_PATH_MAX 4096

enum fk_open_mode {
    FK_OPEN_READ,         // existing file, reading
    FK_OPEN_WRITE,        // existing file, reading and writing
    FK_OPEN_CREATE,       // new file, reading and writing; FK_E_EXISTS if there is one
    FK_OPEN_WRITE_CREATE, // existing or new file, reading and writing
};

struct fk_file_stat {
    uint64_t size;
    int64_t mtime_ns; // Unix time of the last change
    bool is_dir;
};

struct fk_space {
    uint64_t free;  // bytes that this process may still take
    uint64_t total; // size of the file system
};

// Called for each name of a folder but "." and ".."; any non-zero result ends the listing and is
// returned by it. The callback may remove or rename the entry.
struct fk_each_name {
    int (*on)(void *arg, const char *name, bool is_dir, struct fk_err *err);
    void *arg;
};

// An open file. Implementations embed it as their first member.
struct fk_file {
    const struct fk_file_ops *ops;
};

struct fk_file_ops {
    int (*read_at)(struct fk_file *f, uint64_t offset, void *to, size_t n, struct fk_err *err);
    int (*write_at)(struct fk_file *f, uint64_t offset, const void *p, size_t n,
                    struct fk_err *err);
    int (*size)(struct fk_file *f, uint64_t *ret_size, struct fk_err *err);
    int (*truncate)(struct fk_file *f, uint64_t size, struct fk_err *err);
    int (*preallocate)(struct fk_file *f, uint64_t size, struct fk_err *err);
    int (*fdatasync)(struct fk_file *f, struct fk_err *err);
    int (*map)(struct fk_file *f, const uint8_t **ret_p, size_t *ret_n, struct fk_err *err);
    void (*close)(struct fk_file *f);
};

struct fk_fs_ops {
    int (*open)(void *arg, const char *path, enum fk_open_mode mode, struct fk_file **ret,
                struct fk_err *err);
    int (*lock)(void *arg, const char *path, struct fk_file **ret, struct fk_err *err);
    int (*mkdir)(void *arg, const char *path, struct fk_err *err);
    int (*rename)(void *arg, const char *from, const char *to, struct fk_err *err);
    int (*unlink)(void *arg, const char *path, struct fk_err *err);
    int (*rmdir)(void *arg, const char *path, struct fk_err *err);
    int (*list)(void *arg, const char *path, struct fk_each_name each, struct fk_err *err);
    int (*sync_dir)(void *arg, const char *path, struct fk_err *err);
    int (*stat)(void *arg, const char *path, struct fk_file_stat *ret, struct fk_err *err);
    int (*space)(void *arg, const char *path, struct fk_space *ret, struct fk_err *err);
};

// A file system. Plain data, lives as long as whoever gave it says.
struct fk_fs {
    const struct fk_fs_ops *ops;
    void *arg;
};

// The real one; static, never freed.
const struct fk_fs *fk_fs_real(void);

// --- files; *ret is owned by the caller, ended by fk_file_close ---
static inline int fk_fs_open(const struct fk_fs *fs, const char *path, enum fk_open_mode mode,
                             struct fk_file **ret, struct fk_err *err)
{
    return fs->ops->open(fs->arg, path, mode, ret, err);
}

// Opens or creates `path` and takes an exclusive lock on it, held until close; FK_E_BUSY when
// another holder (also in this process) has it. Never waits.
static inline int fk_fs_lock(const struct fk_fs *fs, const char *path, struct fk_file **ret,
                             struct fk_err *err)
{
    return fs->ops->lock(fs->arg, path, ret, err);
}

// Exactly n bytes, or a failure (FK_E_CORRUPT when the file ends before).
static inline int fk_file_read_at(struct fk_file *f, uint64_t offset, void *to, size_t n,
                                  struct fk_err *err)
{
    return f->ops->read_at(f, offset, to, n, err);
}

// All n bytes, or a failure that may leave any part of them written. Grows the file.
static inline int fk_file_write_at(struct fk_file *f, uint64_t offset, const void *p, size_t n,
                                   struct fk_err *err)
{
    return f->ops->write_at(f, offset, p, n, err);
}

static inline int fk_file_size(struct fk_file *f, uint64_t *ret_size, struct fk_err *err)
{
    return f->ops->size(f, ret_size, err);
}

static inline int fk_file_truncate(struct fk_file *f, uint64_t size, struct fk_err *err)
{
    return f->ops->truncate(f, size, err);
}

// Makes the file at least `size` bytes long, the new part zeros, with blocks reserved where the
// file system can do that (else merely longer). FK_E_FULL when it knows that there is no room.
static inline int fk_file_preallocate(struct fk_file *f, uint64_t size, struct fk_err *err)
{
    return f->ops->preallocate(f, size, err);
}

static inline int fk_file_fdatasync(struct fk_file *f, struct fk_err *err)
{
    return f->ops->fdatasync(f, err);
}

// The whole file, as long as it is now, in memory for reading; lives until close. The file must not
// be shortened meanwhile (a fault in the mapping kills the process). An empty file gives a non-NULL
// pointer and 0. The simulation gives a copy.
static inline int fk_file_map(struct fk_file *f, const uint8_t **ret_p, size_t *ret_n,
                              struct fk_err *err)
{
    return f->ops->map(f, ret_p, ret_n, err);
}

// Releases everything, a lock too; f may be NULL. Does not sync.
static inline void fk_file_close(struct fk_file *f)
{
    if (f)
        f->ops->close(f);
}

static inline void fk_file_closep(struct fk_file **f)
{
    fk_file_close(*f);
}
#define FK_AUTO_FILE __attribute__((cleanup(fk_file_closep))) struct fk_file *

// A source over an open file (borrows it). mapped: reads come from a mapping (fk_file_map), and the
// source offers `map`; else by read_at. The size is the one at this moment.
int fk_file_source(struct fk_file *f, bool mapped, struct fk_source *ret, struct fk_err *err);

// --- names ---
static inline int fk_fs_mkdir(const struct fk_fs *fs, const char *path, struct fk_err *err)
{
    return fs->ops->mkdir(fs->arg, path, err);
}

// Replaces `to` if it is a file. Atomic: after a crash either both names are as before or as after.
static inline int fk_fs_rename(const struct fk_fs *fs, const char *from, const char *to,
                               struct fk_err *err)
{
    return fs->ops->rename(fs->arg, from, to, err);
}

static inline int fk_fs_unlink(const struct fk_fs *fs, const char *path, struct fk_err *err)
{
    return fs->ops->unlink(fs->arg, path, err);
}

// Removes an empty folder.
static inline int fk_fs_rmdir(const struct fk_fs *fs, const char *path, struct fk_err *err)
{
    return fs->ops->rmdir(fs->arg, path, err);
}

// No order is promised.
static inline int fk_fs_list(const struct fk_fs *fs, const char *path, struct fk_each_name each,
                             struct fk_err *err)
{
    return fs->ops->list(fs->arg, path, each, err);
}

static inline int fk_fs_sync_dir(const struct fk_fs *fs, const char *path, struct fk_err *err)
{
    return fs->ops->sync_dir(fs->arg, path, err);
}

static inline int fk_fs_stat(const struct fk_fs *fs, const char *path, struct fk_file_stat *ret,
                             struct fk_err *err)
{
    return fs->ops->stat(fs->arg, path, ret, err);
}

// Of the file system that holds `path` (which must exist).
static inline int fk_fs_space(const struct fk_fs *fs, const char *path, struct fk_space *ret,
                              struct fk_err *err)
{
    return fs->ops->space(fs->arg, path, ret, err);
}

// --- helpers on top, for every implementation ---
// printf into a path; FK_E_LIMIT when it does not fit.
int fk_path_printf(char ret[FK_PATH_MAX], struct fk_err *err, const char *fmt, ...) FK_PRINTF(3, 4);
// The folder part: "/a/b" and "/a/b/" give "/a", "b" gives ".", "/b" gives "/".
void fk_path_parent(const char *path, char ret[FK_PATH_MAX]);
// 1 exists, 0 does not, negative: cannot be told.
int fk_fs_exists(const struct fk_fs *fs, const char *path, struct fk_err *err);
// Makes the folder and all its parents and makes their names durable. An existing folder is no
// error.
int fk_fs_mkdirs(const struct fk_fs *fs, const char *path, struct fk_err *err);
// Appends the whole file to b; FK_E_LIMIT when it is longer than max.
int fk_fs_read_file(const struct fk_fs *fs, const char *path, size_t max, struct fk_buf *b,
                    struct fk_err *err);
// Replaces or creates the file with these bytes, durably and atomically (path.tmp, sync, rename,
// sync of the folder).
int fk_fs_write_file(const struct fk_fs *fs, const char *path, struct fk_str bytes,
                     struct fk_err *err);
// A new folder of this process in $TMPDIR or /tmp, and its removal with all that is in it; on the
// real file system.
int fk_temp_folder(char ret[FK_PATH_MAX], struct fk_err *err);
int fk_temp_folder_remove(const char *path, struct fk_err *err);
// A file without a name in that folder, gone at close: for spooled bodies.
int fk_fs_open_unnamed(const struct fk_fs *fs, const char *folder, struct fk_file **ret,
                       struct fk_err *err);

#endif
