// SPDX-License-Identifier: Apache-2.0
// The simulated file system from inside: paged contents, inodes, pending changes.
//
// Everything here is guarded by struct fk_simfs.lock.
#ifndef FK_OS_SIMFS_INT_H
#define FK_OS_SIMFS_INT_H

#include "os/simfs.h"
#include "os/thread.h"

#define SIM_PAGE   4096u
#define SIM_SECTOR 512u

// Contents of a file: pages not there are zeros.
struct sim_bytes {
    uint64_t size;
    uint8_t **page;
    size_t pages; // length of the array; bytes beyond are zeros
};

int sim_bytes_write(struct sim_bytes *b, uint64_t offset, const void *p, size_t n);  // 0, -NOMEM
void sim_bytes_read(const struct sim_bytes *b, uint64_t offset, void *to, size_t n); // in range
void sim_bytes_resize(struct sim_bytes *b, uint64_t size);
int sim_bytes_copy(const struct sim_bytes *from, struct sim_bytes *ret);
void sim_bytes_free(struct sim_bytes *b);

// A change of one file since its last sync.
struct sim_change {
    enum { SIM_WRITE_BYTES, SIM_SET_SIZE, SIM_GROW } kind;
    uint64_t offset; // or the size
    uint8_t *p;      // owned; bytes of a write
    size_t n;
};

struct sim_entry {
    char *name; // owned
    uint32_t ino;
};

struct sim_inode {
    bool used, dir;
    bool linked;     // has a name
    bool flag;       // scratch of whoever walks over all
    uint32_t opened; // open files of this generation
    bool locked;
    int64_t mtime_ns;
    struct sim_bytes data, disk; // as readers see it; as it is durable
    FK_VEC(struct sim_change) pending;
    FK_VEC(struct sim_entry) names, disk_names; // of a folder
};

// A change of names, not yet durable. dir[1] and name[1] only for renames (where to).
struct sim_naming {
    enum { SIM_ADD, SIM_REMOVE, SIM_MOVE } kind;
    bool due; // scratch of sim_dir_commit
    uint32_t dir[2];
    char *name[2]; // owned
    uint32_t ino;
};

struct fk_simfs {
    struct fk_mutex lock;
    struct fk_fs fs;
    const struct fk_clock *clock;
    uint64_t random; // state of the generator
    uint64_t capacity, used;
    uint64_t generation; // crashes so far
    bool stopped;
    uint64_t calls[12]; // by bit of enum fk_sim_call
    uint64_t ticks, struck;
    struct fk_sim_fault fault[8];
    size_t faults;
    FK_VEC(struct sim_inode) inode; // [0] is "/"
    FK_VEC(struct sim_naming) naming;
};

uint64_t sim_random(uint64_t *state);
static inline uint64_t sim_below(uint64_t *state, uint64_t n) // 0 <= result < n, n > 0
{
    return sim_random(state) % n;
}

// Puts all pending changes of the file on disk, in order. 0 or -FK_E_NOMEM (nothing forgotten
// then).
int sim_file_commit(struct sim_inode *f);
// What a crash or a failed sync leaves: any part of the pending changes goes to disk, all are
// forgotten.
int sim_file_tear(struct sim_inode *f, uint64_t *random);
// Makes all pending name changes of this folder durable.
int sim_dir_commit(struct fk_simfs *sim, uint32_t dir);
void sim_naming_free(struct sim_naming *n);
void sim_inode_free(struct sim_inode *f);
void sim_sweep(struct fk_simfs *sim);

// What the plan has for a call. sys: errno to fail with, 0 none. skip: without having any effect.
// part: a write may take only some of its bytes.
struct sim_strike {
    int sys;
    bool skip, part;
};
struct sim_strike sim_enter(struct fk_simfs *sim, enum fk_sim_call call, const char *path);
int64_t sim_now(struct fk_simfs *sim);

// Where a path leads: the folder that holds its last part, that part, and the inode, UINT32_MAX
// when there is none. "/" has itself as folder and an empty name. Negative: errno.
struct sim_place {
    uint32_t dir, ino;
    char name[256];
};
int sim_resolve(struct fk_simfs *sim, const char *path, struct sim_place *ret);
// Makes an open file of the inode.
int sim_file_new(struct fk_simfs *sim, uint32_t ino, bool writable, bool lock, const char *path,
                 struct fk_file **ret);
extern const struct fk_fs_ops sim_fs_ops;
void sim_unlinked(struct fk_simfs *sim, uint32_t ino); // its name is gone

struct sim_entry *sim_names_find(struct sim_entry *v, size_t n, const char *name);

#endif
