// SPDX-License-Identifier: Apache-2.0
// Open files of the simulated file system.
#include "os/os_int.h"
#include "os/simfs_int.h"

#include <errno.h>
#include <inttypes.h>

struct sim_file {
    struct fk_file file;
    struct fk_simfs *sim;
    uint64_t generation; // dead when the file system has crashed since
    uint32_t ino;
    bool writable, lock;
    uint8_t *map; // owned copy, NULL until asked for
    size_t map_n;
    char path[];
};

// Every call begins here: takes the lock, counts, asks the plan. NULL: the file is dead.
static struct sim_inode *enter(struct sim_file *f, enum fk_sim_call call, struct sim_strike *ret)
{
    fk_mutex_lock(&f->sim->lock);
    if (f->generation != f->sim->generation) {
        *ret = (struct sim_strike){.sys = EIO, .skip = true};
        return NULL;
    }
    *ret = sim_enter(f->sim, call, f->path);
    return &f->sim->inode.v[f->ino];
}

// And ends here. r: 0 or errno.
static int leave(struct sim_file *f, int r, const char *what, struct fk_err *err)
{
    fk_mutex_unlock(&f->sim->lock);
    return r ? fk_os_fail(err, r, what, f->path) : 0;
}

static int read_at(struct fk_file *file, uint64_t offset, void *to, size_t n, struct fk_err *err)
{
    struct sim_file *f = (struct sim_file *)file;
    struct sim_strike s;
    struct sim_inode *ino = enter(f, FK_SIM_READ, &s);
    bool inside = ino && fk_in_range(offset, n, ino->data.size);
    if (inside && !s.sys)
        sim_bytes_read(&ino->data, offset, to, n);
    int r = leave(f, s.sys, "read", err);
    if (r == 0 && !inside)
        r = fk_fail(err, FK_E_CORRUPT, "%s ends before byte %" PRIu64, f->path, offset + n);
    return r;
}

static int add_change(struct sim_inode *ino, struct sim_change c)
{
    return fk_vec_push(&ino->pending, c) ? ENOMEM : 0;
}

static int resize(struct fk_simfs *sim, struct sim_inode *ino, uint64_t size, bool grow)
{
    uint64_t more = size > ino->data.size ? size - ino->data.size : 0;
    if (grow && !more)
        return 0;
    if (sim->capacity && more && (sim->used > sim->capacity || more > sim->capacity - sim->used))
        return ENOSPC;
    int r = add_change(ino, (struct sim_change){grow ? SIM_GROW : SIM_SET_SIZE, size, NULL, 0});
    if (r)
        return r;
    sim->used += size;
    sim->used -= ino->data.size;
    sim_bytes_resize(&ino->data, size);
    ino->mtime_ns = sim_now(sim);
    return 0;
}

static int put(struct fk_simfs *sim, struct sim_inode *ino, uint64_t offset, const void *p,
               size_t n)
{
    uint64_t size = ino->data.size;
    if (n == 0)
        return 0;
    uint8_t *copy = fk_memdup(p, n);
    if (!copy)
        return ENOMEM;
    int r = add_change(ino, (struct sim_change){SIM_WRITE_BYTES, offset, copy, n});
    if (r) {
        fk_free(copy);
        return r;
    }
    if (sim_bytes_write(&ino->data, offset, p, n)) {
        ino->pending.n--;
        fk_free(copy);
        return ENOMEM;
    }
    sim->used += ino->data.size - size;
    ino->mtime_ns = sim_now(sim);
    return 0;
}

// As the kernel: takes what still fits, then says that the disk is full.
static size_t fits(const struct fk_simfs *sim, const struct sim_inode *ino, uint64_t offset,
                   size_t n)
{
    uint64_t free = sim->capacity > sim->used ? sim->capacity - sim->used : 0;
    uint64_t end = ino->data.size + free;
    if (sim->capacity == 0 || offset + n <= end)
        return n;
    return end > offset ? (size_t)(end - offset) : 0;
}

static int write_at(struct fk_file *file, uint64_t offset, const void *p, size_t n,
                    struct fk_err *err)
{
    struct sim_file *f = (struct sim_file *)file;
    struct sim_strike s;
    struct sim_inode *ino = enter(f, FK_SIM_WRITE, &s);
    if (ino && !f->writable)
        s = (struct sim_strike){.sys = EBADF, .skip = true};
    if (ino && !s.skip) {
        size_t take = s.part ? (size_t)sim_below(&f->sim->random, (uint64_t)n + 1) : n;
        size_t room = fits(f->sim, ino, offset, take);
        int r = put(f->sim, ino, offset, p, room);
        if (r || !s.sys)
            s.sys = r ? r : room < n ? ENOSPC : 0;
    }
    return leave(f, s.sys, "write to", err);
}

static int file_size(struct fk_file *file, uint64_t *ret_size, struct fk_err *err)
{
    struct sim_file *f = (struct sim_file *)file;
    struct sim_strike s;
    const struct sim_inode *ino = enter(f, FK_SIM_SIZE, &s);
    if (ino && !s.sys)
        *ret_size = ino->data.size;
    return leave(f, s.sys, "tell the size of", err);
}

static int set_size(struct sim_file *f, enum fk_sim_call call, uint64_t size, struct fk_err *err)
{
    struct sim_strike s;
    struct sim_inode *ino = enter(f, call, &s);
    if (ino && !f->writable)
        s = (struct sim_strike){.sys = EBADF, .skip = true};
    if (ino && !s.skip) {
        int r = resize(f->sim, ino, size, call == FK_SIM_PREALLOCATE);
        s.sys = r ? r : s.sys;
    }
    return leave(f, s.sys, "set the length of", err);
}

static int file_truncate(struct fk_file *file, uint64_t size, struct fk_err *err)
{
    return set_size((struct sim_file *)file, FK_SIM_TRUNCATE, size, err);
}

static int preallocate(struct fk_file *file, uint64_t size, struct fk_err *err)
{
    return set_size((struct sim_file *)file, FK_SIM_PREALLOCATE, size, err);
}

static int file_sync(struct fk_file *file, struct fk_err *err)
{
    struct sim_file *f = (struct sim_file *)file;
    struct sim_strike s;
    struct sim_inode *ino = enter(f, FK_SIM_SYNC, &s);
    if (ino && !s.skip && sim_file_commit(ino))
        s.sys = ENOMEM;
    else if (ino && s.skip && !f->sim->stopped && sim_file_tear(ino, &f->sim->random))
        s.sys = ENOMEM;
    return leave(f, s.sys, "sync", err);
}

static int file_map(struct fk_file *file, const uint8_t **ret_p, size_t *ret_n, struct fk_err *err)
{
    struct sim_file *f = (struct sim_file *)file;
    struct sim_strike s;
    const struct sim_inode *ino = enter(f, FK_SIM_READ, &s);
    if (ino && !s.sys && !f->map) {
        f->map = fk_malloc((size_t)ino->data.size + 1);
        f->map_n = (size_t)ino->data.size;
        if (f->map)
            sim_bytes_read(&ino->data, 0, f->map, f->map_n);
        else
            s.sys = ENOMEM;
    }
    if (!s.sys) {
        *ret_p = f->map;
        *ret_n = f->map_n;
    }
    return leave(f, s.sys, "map", err);
}

void sim_unlinked(struct fk_simfs *sim, uint32_t ino)
{
    struct sim_inode *f = &sim->inode.v[ino];
    f->linked = false;
    if (!f->dir && f->opened == 0)
        sim->used -= f->data.size;
}

static void file_close(struct fk_file *file)
{
    struct sim_file *f = (struct sim_file *)file;
    struct fk_simfs *sim = f->sim;
    fk_mutex_lock(&sim->lock);
    if (f->generation == sim->generation) {
        struct sim_inode *ino = &sim->inode.v[f->ino];
        ino->opened--;
        if (f->lock)
            ino->locked = false;
        if (ino->opened == 0 && !ino->linked)
            sim->used -= ino->data.size;
    }
    fk_mutex_unlock(&sim->lock);
    fk_free(f->map);
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

int sim_file_new(struct fk_simfs *sim, uint32_t ino, bool writable, bool lock, const char *path,
                 struct fk_file **ret)
{
    size_t n = strlen(path) + 1;
    struct sim_file *f = fk_malloc(sizeof(*f) + n);
    if (!f)
        return ENOMEM;
    *f = (struct sim_file){{&file_ops}, sim, sim->generation, ino, writable, lock, NULL, 0};
    memcpy(f->path, path, n);
    sim->inode.v[ino].opened++;
    if (lock)
        sim->inode.v[ino].locked = true;
    *ret = &f->file;
    return 0;
}
