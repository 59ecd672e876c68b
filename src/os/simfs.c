// SPDX-License-Identifier: Apache-2.0
// Life of the simulated file system, its plan of faults, and paths.
#include "os/simfs_int.h"

#include <errno.h>

int fk_simfs_new(const struct fk_simfs_opts *opts, struct fk_simfs **ret, struct fk_err *err)
{
    struct fk_simfs *sim = fk_calloc(1, sizeof(*sim));
    if (!sim)
        return fk_fail_nomem(err);
    if (fk_vec_push(&sim->inode, (struct sim_inode){.used = true, .dir = true})) {
        fk_free(sim);
        return fk_fail_nomem(err);
    }
    fk_mutex_init(&sim->lock, FK_RANK_SIMFS);
    sim->fs = (struct fk_fs){&sim_fs_ops, sim};
    sim->random = opts->seed;
    sim->capacity = opts->capacity;
    sim->clock = opts->clock;
    *ret = sim;
    return 0;
}

void fk_simfs_free(struct fk_simfs *sim)
{
    if (!sim)
        return;
    for (size_t i = 0; i < sim->inode.n; i++)
        sim_inode_free(&sim->inode.v[i]);
    for (size_t i = 0; i < sim->naming.n; i++)
        sim_naming_free(&sim->naming.v[i]);
    fk_vec_free(&sim->inode);
    fk_vec_free(&sim->naming);
    fk_mutex_destroy(&sim->lock);
    fk_free(sim);
}

const struct fk_fs *fk_simfs_fs(struct fk_simfs *sim)
{
    return &sim->fs;
}

int fk_simfs_fault(struct fk_simfs *sim, const struct fk_sim_fault *fault, struct fk_err *err)
{
    if (fault->at == 0)
        return fk_fail_param(err, "at", "calls are counted from 1");
    fk_mutex_lock(&sim->lock);
    bool room = sim->faults < FK_COUNTOF(sim->fault);
    if (room)
        sim->fault[sim->faults++] = *fault;
    fk_mutex_unlock(&sim->lock);
    return room ? 0 : fk_fail_limit(err, "faults", FK_COUNTOF(sim->fault), NULL, "too many faults");
}

void fk_simfs_clear_faults(struct fk_simfs *sim)
{
    fk_mutex_lock(&sim->lock);
    sim->faults = 0;
    fk_mutex_unlock(&sim->lock);
}

uint64_t fk_simfs_calls(struct fk_simfs *sim, uint32_t calls)
{
    uint64_t n = 0;
    fk_mutex_lock(&sim->lock);
    for (size_t i = 0; i < FK_COUNTOF(sim->calls); i++)
        if (calls >> i & 1)
            n += sim->calls[i];
    fk_mutex_unlock(&sim->lock);
    return n;
}

uint64_t fk_simfs_struck(struct fk_simfs *sim)
{
    fk_mutex_lock(&sim->lock);
    uint64_t n = sim->struck;
    fk_mutex_unlock(&sim->lock);
    return n;
}

bool fk_simfs_stopped(struct fk_simfs *sim)
{
    fk_mutex_lock(&sim->lock);
    bool stopped = sim->stopped;
    fk_mutex_unlock(&sim->lock);
    return stopped;
}

void fk_simfs_set_capacity(struct fk_simfs *sim, uint64_t capacity)
{
    fk_mutex_lock(&sim->lock);
    sim->capacity = capacity;
    fk_mutex_unlock(&sim->lock);
}

uint64_t fk_simfs_used(struct fk_simfs *sim)
{
    fk_mutex_lock(&sim->lock);
    uint64_t used = sim->used;
    fk_mutex_unlock(&sim->lock);
    return used;
}

int64_t sim_now(struct fk_simfs *sim)
{
    return sim->clock ? fk_clock_wall(sim->clock) : (int64_t)++sim->ticks;
}

static bool matches(const struct fk_sim_fault *f, enum fk_sim_call call, const char *path)
{
    return (!f->calls || f->calls & (uint32_t)call) && (!f->path[0] || strstr(path, f->path));
}

// Counts down every fault that the call concerns; the first that is due strikes.
static const struct fk_sim_fault *due(struct fk_simfs *sim, enum fk_sim_call call, const char *path)
{
    const struct fk_sim_fault *ret = NULL;
    for (size_t i = 0; i < sim->faults; i++) {
        struct fk_sim_fault *f = &sim->fault[i];
        if (f->at == 0 || !matches(f, call, path))
            continue;
        bool now = f->at == 1;
        if (now && !ret)
            ret = f;
        if (!now || !f->forever)
            f->at--;
    }
    return ret;
}

struct sim_strike sim_enter(struct fk_simfs *sim, enum fk_sim_call call, const char *path)
{
    sim->calls[__builtin_ctz((unsigned)call)]++;
    if (sim->stopped)
        return (struct sim_strike){.sys = EIO, .skip = true};
    const struct fk_sim_fault *f = due(sim, call, path);
    if (!f)
        return (struct sim_strike){0};
    sim->struck++;
    bool coin = sim_below(&sim->random, 2);
    switch (f->action) {
    case FK_SIM_CRASH:
        sim->stopped = true;
        return (struct sim_strike){.sys = EIO, .skip = coin, .part = sim_below(&sim->random, 2)};
    case FK_SIM_SHORT:
        if (call == FK_SIM_WRITE)
            return (struct sim_strike){.sys = ENOSPC, .part = true};
        return (struct sim_strike){.sys = EIO, .skip = true};
    default:
        return (struct sim_strike){.sys = f->action == FK_SIM_ENOSPC ? ENOSPC : EIO,
                                   .skip = call != FK_SIM_WRITE || coin,
                                   .part = true};
    }
}

// Takes the next part of the path; 0 at its end, negative errno for what is refused.
static int next_part(const char **path, char part[256])
{
    const char *at = *path + strspn(*path, "/");
    size_t n = strcspn(at, "/");
    if (n > 255)
        return -ENAMETOOLONG;
    memcpy(part, at, n);
    part[n] = '\0';
    *path = at + n;
    if (strcmp(part, "..") == 0)
        return -EINVAL;
    return n > 0;
}

int sim_resolve(struct fk_simfs *sim, const char *path, struct sim_place *ret)
{
    struct sim_place at = {0};
    char part[256];
    int r;
    while ((r = next_part(&path, part)) > 0) {
        if (strcmp(part, ".") == 0)
            continue;
        if (at.ino == UINT32_MAX)
            return -ENOENT;
        const struct sim_inode *dir = &sim->inode.v[at.ino];
        if (!dir->dir)
            return -ENOTDIR;
        const struct sim_entry *e = sim_names_find(dir->names.v, dir->names.n, part);
        at.dir = at.ino;
        at.ino = e ? e->ino : UINT32_MAX;
        memcpy(at.name, part, sizeof(part));
    }
    if (r == 0)
        *ret = at;
    return r;
}
