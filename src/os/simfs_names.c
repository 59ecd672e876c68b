// SPDX-License-Identifier: Apache-2.0
// Names of the simulated file system: open, folders, rename, remove, list.
#include "os/os_int.h"
#include "os/simfs_int.h"

#include <errno.h>

// Every call begins and ends with these two; r: 0 or errno.
static struct sim_strike enter(struct fk_simfs *sim, enum fk_sim_call call, const char *path)
{
    fk_mutex_lock(&sim->lock);
    return sim_enter(sim, call, path);
}

static int leave(struct fk_simfs *sim, int r, const char *what, const char *path,
                 struct fk_err *err)
{
    fk_mutex_unlock(&sim->lock);
    return r ? fk_os_fail(err, r, what, path) : 0;
}

// --- changes of names, pending until the folder is synced ---
// Room and copies are had before anything is changed, so that no memory means no effect.
static int prepare(struct fk_simfs *sim, struct sim_naming *c, const char *name0, const char *name1)
{
    c->name[0] = fk_strndup(name0, strlen(name0));
    c->name[1] = name1 ? fk_strndup(name1, strlen(name1)) : NULL;
    if (c->name[0] && (!name1 || c->name[1]) && fk_vec_reserve(&sim->naming, 1) == 0)
        return 0;
    sim_naming_free(c);
    return ENOMEM;
}

static int add_name(struct fk_simfs *sim, uint32_t dir, const char *name, uint32_t ino)
{
    struct sim_naming c = {.kind = SIM_ADD, .dir = {dir}, .ino = ino};
    struct sim_inode *d = &sim->inode.v[dir];
    char *copy = fk_strndup(name, strlen(name));
    if (!copy)
        return ENOMEM;
    if (fk_vec_reserve(&d->names, 1) || prepare(sim, &c, name, NULL)) {
        fk_free(copy);
        return ENOMEM;
    }
    d->names.v[d->names.n++] = (struct sim_entry){copy, ino};
    sim->naming.v[sim->naming.n++] = c;
    sim->inode.v[ino].linked = true;
    return 0;
}

static void drop_entry(struct sim_inode *dir, const char *name)
{
    struct sim_entry *e = sim_names_find(dir->names.v, dir->names.n, name);
    fk_free(e->name);
    *e = dir->names.v[--dir->names.n];
}

static int new_inode(struct fk_simfs *sim, bool dir, uint32_t *ret)
{
    struct sim_inode fresh = {.used = true, .dir = dir, .mtime_ns = sim_now(sim)};
    size_t i = 0;
    while (i < sim->inode.n && sim->inode.v[i].used)
        i++;
    if (i == sim->inode.n) {
        if (fk_vec_push(&sim->inode, fresh))
            return ENOMEM;
    } else {
        sim->inode.v[i] = fresh;
    }
    *ret = (uint32_t)i;
    return 0;
}

static int create(struct fk_simfs *sim, const struct sim_place *at, bool dir, uint32_t *ret)
{
    uint32_t ino;
    int r = new_inode(sim, dir, &ino);
    if (r)
        return r;
    r = add_name(sim, at->dir, at->name, ino);
    if (r)
        sim->inode.v[ino].used = false;
    else
        *ret = ino;
    return r;
}

static int open_it(struct fk_simfs *sim, const char *path, enum fk_open_mode mode, bool lock,
                   struct fk_file **ret)
{
    struct sim_place at;
    int r = -sim_resolve(sim, path, &at);
    bool may_create = mode == FK_OPEN_CREATE || mode == FK_OPEN_WRITE_CREATE;
    if (r)
        return r;
    if (at.ino == UINT32_MAX) {
        if (!may_create)
            return ENOENT;
        r = create(sim, &at, false, &at.ino);
        if (r)
            return r;
    } else if (mode == FK_OPEN_CREATE) {
        return EEXIST;
    }
    if (sim->inode.v[at.ino].dir)
        return EISDIR;
    if (lock && sim->inode.v[at.ino].locked)
        return EWOULDBLOCK;
    return sim_file_new(sim, at.ino, mode != FK_OPEN_READ, lock, path, ret);
}

// A crash that has the effect of open still gives no file.
static int open_call(struct fk_simfs *sim, const char *path, enum fk_open_mode mode, bool lock,
                     struct fk_file **ret)
{
    struct sim_strike s = enter(sim, FK_SIM_OPEN, path);
    struct fk_file *f = NULL;
    int r = s.skip ? s.sys : open_it(sim, path, mode, lock, &f);
    fk_mutex_unlock(&sim->lock);
    if (r == 0 && s.sys) {
        fk_file_close(f);
        r = s.sys;
    }
    if (r == 0)
        *ret = f;
    return r;
}

static int fs_open(void *arg, const char *path, enum fk_open_mode mode, struct fk_file **ret,
                   struct fk_err *err)
{
    int r = open_call(arg, path, mode, false, ret);
    return r ? fk_os_fail(err, r, "open", path) : 0;
}

static int fs_lock(void *arg, const char *path, struct fk_file **ret, struct fk_err *err)
{
    int r = open_call(arg, path, FK_OPEN_WRITE_CREATE, true, ret);
    if (r == EWOULDBLOCK)
        return fk_fail(err, FK_E_BUSY, "%s is locked: another process is using this folder", path);
    return r ? fk_os_fail(err, r, "lock", path) : 0;
}

static int fs_mkdir(void *arg, const char *path, struct fk_err *err)
{
    struct fk_simfs *sim = arg;
    struct sim_place at;
    uint32_t ino = 0;
    struct sim_strike s = enter(sim, FK_SIM_MKDIR, path);
    int r = s.skip ? s.sys : -sim_resolve(sim, path, &at);
    if (r == 0)
        r = at.ino != UINT32_MAX ? EEXIST : create(sim, &at, true, &ino);
    return leave(sim, r ? r : s.sys, "make the folder", path, err);
}

static int rename_it(struct fk_simfs *sim, const char *from, const char *to)
{
    struct sim_place a, b;
    int r = -sim_resolve(sim, from, &a);
    if (r == 0)
        r = -sim_resolve(sim, to, &b);
    if (r || a.ino == UINT32_MAX)
        return r ? r : ENOENT;
    if (a.ino == b.ino)
        return 0;
    if (b.ino != UINT32_MAX && (sim->inode.v[b.ino].dir || sim->inode.v[a.ino].dir))
        return EEXIST;
    struct sim_naming c = {.kind = SIM_MOVE, .dir = {a.dir, b.dir}, .ino = a.ino};
    struct sim_inode *dir = &sim->inode.v[b.dir];
    char *copy = fk_strndup(b.name, strlen(b.name));
    if (!copy || fk_vec_reserve(&dir->names, 1) || prepare(sim, &c, a.name, b.name)) {
        fk_free(copy);
        return ENOMEM;
    }
    if (b.ino != UINT32_MAX) {
        drop_entry(dir, b.name);
        sim_unlinked(sim, b.ino);
    }
    drop_entry(&sim->inode.v[a.dir], a.name);
    dir->names.v[dir->names.n++] = (struct sim_entry){copy, a.ino};
    sim->naming.v[sim->naming.n++] = c;
    return 0;
}

static int fs_rename(void *arg, const char *from, const char *to, struct fk_err *err)
{
    struct fk_simfs *sim = arg;
    struct sim_strike s = enter(sim, FK_SIM_RENAME, from);
    int r = s.skip ? s.sys : rename_it(sim, from, to);
    return leave(sim, r ? r : s.sys, "rename", from, err);
}

static int remove_it(struct fk_simfs *sim, const char *path, bool dir)
{
    struct sim_place at;
    int r = -sim_resolve(sim, path, &at);
    if (r || at.ino == UINT32_MAX)
        return r ? r : ENOENT;
    const struct sim_inode *f = &sim->inode.v[at.ino];
    if (f->dir != dir || at.ino == 0)
        return dir ? ENOTDIR : EISDIR;
    if (f->names.n)
        return ENOTEMPTY;
    struct sim_naming c = {.kind = SIM_REMOVE, .dir = {at.dir}, .ino = at.ino};
    r = prepare(sim, &c, at.name, NULL);
    if (r)
        return r;
    drop_entry(&sim->inode.v[at.dir], at.name);
    sim->naming.v[sim->naming.n++] = c;
    sim_unlinked(sim, at.ino);
    return 0;
}

static int fs_unlink(void *arg, const char *path, struct fk_err *err)
{
    struct fk_simfs *sim = arg;
    struct sim_strike s = enter(sim, FK_SIM_UNLINK, path);
    int r = s.skip ? s.sys : remove_it(sim, path, false);
    return leave(sim, r ? r : s.sys, "remove", path, err);
}

static int fs_rmdir(void *arg, const char *path, struct fk_err *err)
{
    struct fk_simfs *sim = arg;
    struct sim_strike s = enter(sim, FK_SIM_UNLINK, path);
    int r = s.skip ? s.sys : remove_it(sim, path, true);
    return leave(sim, r ? r : s.sys, "remove the folder", path, err);
}

// The folder's inode in *ret.
static int find_dir(struct fk_simfs *sim, const char *path, uint32_t *ret)
{
    struct sim_place at;
    int r = -sim_resolve(sim, path, &at);
    if (r || at.ino == UINT32_MAX)
        return r ? r : ENOENT;
    if (!sim->inode.v[at.ino].dir)
        return ENOTDIR;
    *ret = at.ino;
    return 0;
}

// The names are copied first: the callback runs without the lock and may change the folder.
static int copy_names(struct fk_simfs *sim, const char *path, struct fk_buf *b)
{
    uint32_t ino = 0;
    int r = find_dir(sim, path, &ino);
    if (r)
        return r;
    const struct sim_inode *dir = &sim->inode.v[ino];
    for (size_t i = 0; i < dir->names.n; i++) {
        fk_buf_byte(b, sim->inode.v[dir->names.v[i].ino].dir);
        fk_buf_put(b, dir->names.v[i].name, strlen(dir->names.v[i].name) + 1);
    }
    return b->failed ? ENOMEM : 0;
}

static int fs_list(void *arg, const char *path, struct fk_each_name each, struct fk_err *err)
{
    struct fk_simfs *sim = arg;
    FK_AUTO_BUF b;
    fk_buf_init(&b, 0);
    struct sim_strike s = enter(sim, FK_SIM_LIST, path);
    int r = s.sys ? s.sys : copy_names(sim, path, &b);
    r = leave(sim, r, "list", path, err);
    for (size_t at = 0; r == 0 && at < b.n; at += strlen(b.p + at + 1) + 2)
        r = each.on(each.arg, b.p + at + 1, b.p[at] != 0, err);
    return r;
}

static int fs_sync_dir(void *arg, const char *path, struct fk_err *err)
{
    struct fk_simfs *sim = arg;
    uint32_t ino = 0;
    struct sim_strike s = enter(sim, FK_SIM_SYNC_DIR, path);
    int r = s.skip ? s.sys : find_dir(sim, path, &ino);
    if (r == 0 && sim_dir_commit(sim, ino))
        r = ENOMEM;
    if (r == 0)
        sim_sweep(sim);
    return leave(sim, r ? r : s.sys, "sync the folder", path, err);
}

static int fs_stat(void *arg, const char *path, struct fk_file_stat *ret, struct fk_err *err)
{
    struct fk_simfs *sim = arg;
    struct sim_place at;
    struct sim_strike s = enter(sim, FK_SIM_SIZE, path);
    int r = s.sys ? s.sys : -sim_resolve(sim, path, &at);
    if (r == 0 && at.ino == UINT32_MAX)
        r = ENOENT;
    if (r == 0) {
        const struct sim_inode *f = &sim->inode.v[at.ino];
        *ret = (struct fk_file_stat){f->data.size, f->mtime_ns, f->dir};
    }
    return leave(sim, r, "look at", path, err);
}

static int fs_space(void *arg, const char *path, struct fk_space *ret, struct fk_err *err)
{
    struct fk_simfs *sim = arg;
    struct sim_place at;
    struct sim_strike s = enter(sim, FK_SIM_SIZE, path);
    int r = s.sys ? s.sys : -sim_resolve(sim, path, &at);
    if (r == 0 && at.ino == UINT32_MAX)
        r = ENOENT;
    if (r == 0) {
        uint64_t total = sim->capacity ? sim->capacity : (uint64_t)1 << 40;
        *ret = (struct fk_space){total > sim->used ? total - sim->used : 0, total};
    }
    return leave(sim, r, "tell the free space of", path, err);
}

const struct fk_fs_ops sim_fs_ops = {
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
