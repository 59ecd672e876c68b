// SPDX-License-Identifier: Apache-2.0
// What becomes durable: by sync, and by chance when the power goes.
#include "os/simfs_int.h"

// SplitMix64 (Steele, Lea, Flood 2014).
uint64_t sim_random(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

// --- contents ---
static void forget(struct sim_inode *f)
{
    for (size_t i = 0; i < f->pending.n; i++)
        fk_free(f->pending.v[i].p);
    f->pending.n = 0;
}

static int apply(struct sim_bytes *disk, const struct sim_change *c)
{
    if (c->kind == SIM_WRITE_BYTES)
        return sim_bytes_write(disk, c->offset, c->p, c->n);
    if (c->kind == SIM_SET_SIZE || c->offset > disk->size)
        sim_bytes_resize(disk, c->offset);
    return 0;
}

int sim_file_commit(struct sim_inode *f)
{
    for (size_t i = 0; i < f->pending.n; i++)
        if (apply(&f->disk, &f->pending.v[i]))
            return -FK_E_NOMEM;
    forget(f);
    return 0;
}

// Some sectors of a write.
static int apply_torn(struct sim_bytes *disk, const struct sim_change *c, uint64_t *random)
{
    uint64_t at = c->offset, end = c->offset + c->n;
    bool prefix = sim_below(random, 2);
    uint64_t stop = c->offset + sim_below(random, c->n + 1);
    while (at < end) {
        uint64_t next = FK_MIN(end, (at / SIM_SECTOR + 1) * SIM_SECTOR);
        bool keep = prefix ? next <= stop : sim_below(random, 2) != 0;
        if (keep && sim_bytes_write(disk, at, c->p + (at - c->offset), (size_t)(next - at)))
            return -FK_E_NOMEM;
        at = next;
    }
    return 0;
}

static void shuffle(struct sim_change *v, size_t n, uint64_t *random)
{
    for (size_t i = n; i > 1; i--) {
        size_t j = (size_t)sim_below(random, i);
        struct sim_change c = v[i - 1];
        v[i - 1] = v[j];
        v[j] = c;
    }
}

int sim_file_tear(struct sim_inode *f, uint64_t *random)
{
    enum { NOTHING, ALL, PREFIX, ANY, ANY_ORDER, WAYS };
    uint64_t way = sim_below(random, WAYS);
    size_t n = f->pending.n;
    if (way == PREFIX && n)
        n = (size_t)sim_below(random, n + 1);
    if (way == ANY_ORDER)
        shuffle(f->pending.v, n, random);
    for (size_t i = 0; way != NOTHING && i < n; i++) {
        const struct sim_change *c = &f->pending.v[i];
        bool last = way == PREFIX && i + 1 == n;
        uint64_t fate = way >= ANY ? sim_below(random, 4) : 1; // 0 dropped, 3 torn
        int r = 0;
        if (c->kind == SIM_WRITE_BYTES && (fate == 3 || last))
            r = apply_torn(&f->disk, c, random);
        else if (fate)
            r = apply(&f->disk, c);
        if (r)
            return r;
    }
    forget(f);
    return 0;
}

// --- names ---
struct sim_entry *sim_names_find(struct sim_entry *v, size_t n, const char *name)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(v[i].name, name) == 0)
            return &v[i];
    return NULL;
}

void sim_naming_free(struct sim_naming *n)
{
    fk_free(n->name[0]);
    fk_free(n->name[1]);
}

static int disk_add(struct sim_inode *dir, const char *name, uint32_t ino)
{
    struct sim_entry *e = sim_names_find(dir->disk_names.v, dir->disk_names.n, name);
    if (e) {
        e->ino = ino;
        return 0;
    }
    char *copy = fk_strndup(name, strlen(name));
    if (!copy)
        return -FK_E_NOMEM;
    if (fk_vec_push(&dir->disk_names, (struct sim_entry){copy, ino})) {
        fk_free(copy);
        return -FK_E_NOMEM;
    }
    return 0;
}

// A name that meanwhile means another file (possible among a subset of changes) stays.
static void disk_remove(struct sim_inode *dir, const char *name, uint32_t ino)
{
    struct sim_entry *e = sim_names_find(dir->disk_names.v, dir->disk_names.n, name);
    if (!e || e->ino != ino)
        return;
    fk_free(e->name);
    *e = dir->disk_names.v[--dir->disk_names.n];
}

static int apply_naming(struct fk_simfs *sim, const struct sim_naming *c)
{
    struct sim_inode *dir = &sim->inode.v[c->dir[0]];
    if (c->kind == SIM_ADD)
        return disk_add(dir, c->name[0], c->ino);
    if (c->kind == SIM_MOVE && disk_add(&sim->inode.v[c->dir[1]], c->name[1], c->ino))
        return -FK_E_NOMEM;
    disk_remove(dir, c->name[0], c->ino);
    return 0;
}

static bool touches(const struct sim_naming *c, uint32_t dir)
{
    return c->dir[0] == dir || (c->kind == SIM_MOVE && c->dir[1] == dir);
}

// Of one file (or folder) the changes become durable in order: those before one that is due are due
// too. Else a file could come out of a crash under two names.
static void flag_due(struct fk_simfs *sim, uint32_t dir)
{
    for (size_t i = 0; i < sim->inode.n; i++)
        sim->inode.v[i].flag = false;
    for (size_t i = sim->naming.n; i-- > 0;) {
        struct sim_naming *c = &sim->naming.v[i];
        struct sim_inode *f = &sim->inode.v[c->ino];
        f->flag = f->flag || touches(c, dir);
        c->due = f->flag;
    }
}

int sim_dir_commit(struct fk_simfs *sim, uint32_t dir)
{
    size_t kept = 0;
    int r = 0;
    flag_due(sim, dir);
    for (size_t i = 0; i < sim->naming.n; i++) {
        struct sim_naming c = sim->naming.v[i];
        if (c.due && r == 0)
            r = apply_naming(sim, &c);
        if (c.due && r == 0)
            sim_naming_free(&c);
        else
            sim->naming.v[kept++] = c;
    }
    sim->naming.n = kept;
    return r;
}

static int tear_names(struct fk_simfs *sim, uint64_t *random)
{
    enum { NOTHING, ALL, PREFIX, ANY, WAYS };
    uint64_t way = sim_below(random, WAYS);
    size_t n = sim->naming.n;
    size_t stop = way == PREFIX ? (size_t)sim_below(random, n + 1) : way == NOTHING ? 0 : n;
    int r = 0;
    for (size_t i = 0; i < sim->inode.n; i++)
        sim->inode.v[i].flag = false; // a change of it was dropped
    for (size_t i = 0; i < n; i++) {
        struct sim_naming *c = &sim->naming.v[i];
        bool *dropped = &sim->inode.v[c->ino].flag;
        *dropped = *dropped || i >= stop || (way == ANY && sim_below(random, 2));
        if (!*dropped && r == 0)
            r = apply_naming(sim, c);
        sim_naming_free(c);
    }
    sim->naming.n = 0;
    return r;
}

// Inodes that no name, durable or not, and no open file leads to.
void sim_sweep(struct fk_simfs *sim)
{
    for (size_t i = 0; i < sim->inode.n; i++)
        sim->inode.v[i].flag = i == 0;
    for (size_t i = 0; i < sim->inode.n; i++) {
        const struct sim_inode *dir = &sim->inode.v[i];
        for (size_t k = 0; k < dir->names.n; k++)
            sim->inode.v[dir->names.v[k].ino].flag = true;
        for (size_t k = 0; k < dir->disk_names.n; k++)
            sim->inode.v[dir->disk_names.v[k].ino].flag = true;
    }
    for (size_t i = 0; i < sim->naming.n; i++) {
        const struct sim_naming *c = &sim->naming.v[i];
        sim->inode.v[c->ino].flag = sim->inode.v[c->dir[0]].flag = true;
        sim->inode.v[c->dir[1]].flag = true;
    }
    for (size_t i = 0; i < sim->inode.n; i++)
        if (sim->inode.v[i].used && !sim->inode.v[i].flag && !sim->inode.v[i].opened)
            sim_inode_free(&sim->inode.v[i]);
}

// --- the crash ---
void sim_inode_free(struct sim_inode *f)
{
    forget(f);
    fk_vec_free(&f->pending);
    sim_bytes_free(&f->data);
    sim_bytes_free(&f->disk);
    for (size_t i = 0; i < f->names.n; i++)
        fk_free(f->names.v[i].name);
    for (size_t i = 0; i < f->disk_names.n; i++)
        fk_free(f->disk_names.v[i].name);
    fk_vec_free(&f->names);
    fk_vec_free(&f->disk_names);
    *f = (struct sim_inode){0};
}

static int reload_names(struct sim_inode *dir)
{
    for (size_t i = 0; i < dir->names.n; i++)
        fk_free(dir->names.v[i].name);
    dir->names.n = 0;
    if (fk_vec_reserve(&dir->names, dir->disk_names.n))
        return -FK_E_NOMEM;
    for (size_t i = 0; i < dir->disk_names.n; i++) {
        const struct sim_entry *e = &dir->disk_names.v[i];
        char *name = fk_strndup(e->name, strlen(e->name));
        if (!name)
            return -FK_E_NOMEM;
        dir->names.v[dir->names.n++] = (struct sim_entry){name, e->ino};
    }
    return 0;
}

// What readers see becomes what is durable.
static int reload(struct sim_inode *f)
{
    f->opened = 0;
    f->locked = false;
    f->linked = false;
    if (f->dir)
        return reload_names(f);
    struct sim_bytes copy;
    if (sim_bytes_copy(&f->disk, &copy))
        return -FK_E_NOMEM;
    sim_bytes_free(&f->data);
    f->data = copy;
    return 0;
}

// Marks what can be reached from folder `ino`. Folders nest as deep as paths are long.
static void mark(struct fk_simfs *sim, uint32_t ino)
{
    struct sim_inode *f = &sim->inode.v[ino];
    if (f->linked)
        return;
    f->linked = true;
    for (size_t i = 0; i < f->names.n; i++)
        mark(sim, f->names.v[i].ino);
}

static int crash(struct fk_simfs *sim, uint64_t *random)
{
    int r = tear_names(sim, random);
    for (size_t i = 0; r == 0 && i < sim->inode.n; i++)
        if (sim->inode.v[i].used && !sim->inode.v[i].dir)
            r = sim_file_tear(&sim->inode.v[i], random);
    for (size_t i = 0; r == 0 && i < sim->inode.n; i++)
        if (sim->inode.v[i].used)
            r = reload(&sim->inode.v[i]);
    if (r)
        return r;
    mark(sim, 0);
    sim->used = 0;
    for (size_t i = 0; i < sim->inode.n; i++) {
        struct sim_inode *f = &sim->inode.v[i];
        if (f->used && !f->linked)
            sim_inode_free(f);
        else if (f->used)
            sim->used += f->data.size;
    }
    return 0;
}

int fk_simfs_crash(struct fk_simfs *sim, uint64_t seed, struct fk_err *err)
{
    fk_mutex_lock(&sim->lock);
    uint64_t random = seed;
    int r = crash(sim, &random);
    sim->generation++;
    sim->stopped = r != 0;
    sim->faults = 0;
    memset(sim->calls, 0, sizeof(sim->calls));
    fk_mutex_unlock(&sim->lock);
    return r ? fk_fail_nomem(err) : 0;
}
