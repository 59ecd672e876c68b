// SPDX-License-Identifier: Apache-2.0
// A file system in memory that keeps apart what is durable and what is only in the page cache, so
// that tests can cut the power at any call and look at what may be left.
//
// Model. A write changes what readers see at once and is pending until the file is synced. A crash
// takes, of each file's pending writes and length changes, any subset in any order, each write
// whole or torn at sectors of 512 bytes (a sector is old or new, never mixed). A name (create,
// mkdir, rename, remove) is pending until its folder is synced; a crash takes either a prefix of
// the pending name changes in order or any subset. Renames are atomic and become durable with
// either folder. A synced file whose name was never synced is gone. A failed fdatasync puts any
// subset of the pending writes on disk and forgets the rest, while readers still see them: as Linux
// does. Chosen by seeded generators: the same seed and calls give the same outcome.
//
// Calls are counted; a plan makes chosen ones fail or the machine stop there (all calls fail from
// then on with FK_E_IO until fk_simfs_crash).
//
// Threads: all calls are safe from any thread. Memory: two copies of what is written, in 4 KiB
// pages; holes and preallocated room cost nothing.
#ifndef FK_OS_SIMFS_H
#define FK_OS_SIMFS_H

#include "os/fs.h"

// Kinds of calls, as bits.
enum fk_sim_call {
    FK_SIM_OPEN = 1 << 0, // open and lock
    FK_SIM_READ = 1 << 1, // read_at and map
    FK_SIM_WRITE = 1 << 2,
    FK_SIM_SIZE = 1 << 3, // size and stat and space
    FK_SIM_TRUNCATE = 1 << 4,
    FK_SIM_PREALLOCATE = 1 << 5,
    FK_SIM_SYNC = 1 << 6,
    FK_SIM_MKDIR = 1 << 7,
    FK_SIM_RENAME = 1 << 8,
    FK_SIM_UNLINK = 1 << 9, // unlink and rmdir
    FK_SIM_LIST = 1 << 10,
    FK_SIM_SYNC_DIR = 1 << 11,
    FK_SIM_ANY = (1 << 12) - 1,
    // what changes something: the calls at which a crash differs from one at the call before
    FK_SIM_CHANGES = FK_SIM_WRITE | FK_SIM_TRUNCATE | FK_SIM_PREALLOCATE | FK_SIM_SYNC |
                     FK_SIM_MKDIR | FK_SIM_RENAME | FK_SIM_UNLINK | FK_SIM_SYNC_DIR | FK_SIM_OPEN,
};

enum fk_sim_action {
    FK_SIM_EIO,    // the call fails with EIO; of a write any part may have been taken
    FK_SIM_ENOSPC, // the same with ENOSPC
    FK_SIM_SHORT,  // a write takes a part and then fails with ENOSPC; other calls fail with EIO
    FK_SIM_CRASH,  // the machine stops in this call, which may or may not have had its effect
};

struct fk_sim_fault {
    uint32_t calls; // bits of enum fk_sim_call; 0: any
    char path[64];  // only calls whose path contains this text; "": any
    uint64_t at;    // which of the matching calls from now on, 1 is the next
    bool forever;   // and all matching ones after it
    enum fk_sim_action action;
};

struct fk_simfs_opts {
    uint64_t seed;
    uint64_t capacity;            // bytes that files may hold together; 0: no end
    const struct fk_clock *clock; // for file times, borrowed; NULL: a count of calls
};

struct fk_simfs;

// An empty file system with "/" alone. Relative paths begin there too; ".." is refused.
int fk_simfs_new(const struct fk_simfs_opts *opts, struct fk_simfs **ret, struct fk_err *err);
void fk_simfs_free(struct fk_simfs *sim);              // all its files must be closed; may be NULL
const struct fk_fs *fk_simfs_fs(struct fk_simfs *sim); // lives as long as sim

// Adds a fault to the plan: at most 8, else FK_E_LIMIT.
int fk_simfs_fault(struct fk_simfs *sim, const struct fk_sim_fault *fault, struct fk_err *err);
void fk_simfs_clear_faults(struct fk_simfs *sim);
// Calls of these kinds (bits) since the beginning or the last crash.
uint64_t fk_simfs_calls(struct fk_simfs *sim, uint32_t calls);
// Faults that struck since the beginning.
uint64_t fk_simfs_struck(struct fk_simfs *sim);
bool fk_simfs_stopped(struct fk_simfs *sim); // a FK_SIM_CRASH fault struck
void fk_simfs_set_capacity(struct fk_simfs *sim, uint64_t capacity);
// Bytes that files hold, also unlinked ones that are open.
uint64_t fk_simfs_used(struct fk_simfs *sim);

// The power goes and comes back: what survives is chosen by `seed` and is then all there is,
// durable. Files still open are dead (their calls fail, close them), locks are released, the plan
// and the counts are cleared. May be called at any time. FK_E_NOMEM leaves the file system
// unusable.
int fk_simfs_crash(struct fk_simfs *sim, uint64_t seed, struct fk_err *err);

#endif
