// SPDX-License-Identifier: Apache-2.0
// The engine: profiles become durable by group commit into a pack, stay readable in the head, are
// sealed into blocks, and go when retention says so. The only room that knows blocks, catalog and
// blobs together.
//
// What is acknowledged (done() called with 0) survives a crash of the process and of the machine,
// and is there once. Threads: all calls but open and close are safe from any thread. The store has
// two threads of its own, the committer and the keeper (sealing, retention), unless opened inline;
// then append commits in the caller's thread and fk_store_maintain does the rest.
#ifndef FK_STORE_STORE_H
#define FK_STORE_STORE_H

#include "block/block.h"
#include "catalog/catalog.h"
#include "ingest/ingest.h"
#include "os/os.h"

#define FK_TENANT_DEFAULT "anonymous"
// Tenants whose name begins so hold what was not to be stored: its blocks go after an hour. Their
// ids are of the same sequence.
#define FK_TENANT_ADHOC "~adhoc"

// Faults that the crash simulation plants to prove that it would find them. 0 in production.
enum fk_store_plant {
    FK_PLANT_NO_SYNC = 1,          // packs are not synced before the acknowledgement
    FK_PLANT_NO_FOLDER_SYNC = 2,   // the folder of a block is not synced before its row is written
    FK_PLANT_UNLINK_BEFORE_ROW = 4 // a sealed pack is removed before the block's row is written
};

struct fk_store_opts {
    const struct fk_fs *fs;       // NULL: the real one
    const char *dir;              // made if it is not there
    const struct fk_clock *clock; // NULL: the real one
    const struct fk_log *log;     // may be NULL
    uint64_t seal_bytes;          // of packs; 0: 64 MiB
    int64_t seal_age_ns;          // of the oldest profile in the head; 0: 10 minutes
    uint64_t head_memory;         // sealed when the head takes more; 0: 96 MiB
    uint64_t min_free;            // bytes that must stay free on the disk; 0: max(256 MiB, 2 %)
    int64_t retention_age_ns;     // 0: 31 days; negative: for ever
    uint64_t retention_bytes;     // 0: 80 % of own files + free space
    uint64_t series_per_day;      // of a tenant; 0: no limit
    uint64_t originals_bytes;     // for uploaded bytes; 0: they are not kept
    int64_t originals_age_ns;     // how long they are
    bool run_inline;              // no threads
    bool rebuild;                 // make the catalog anew from the blocks
    unsigned plant;               // enum fk_store_plant
};

struct fk_store;
// FK_E_BUSY: another process has it open. FK_E_UNSUPPORTED: written by another version.
int fk_store_open(const struct fk_store_opts *opts, struct fk_store **ret, struct fk_err *err);
// Commits what waits, ends the threads. Profiles in the head stay in their packs and are read at
// the next start.
void fk_store_close(struct fk_store *s);

// Makes the profile durable. `entry` and `profile` must stay alive until done() was called: from
// the committer, or from inside when the store is inline. The id is given by the store; entry->id
// is ignored. A negative result: done() is not called.
int fk_store_append(struct fk_store *s, struct fk_str tenant, const struct fk_entry *entry,
                    const struct fk_profile *profile, fk_done_fn *done, void *arg,
                    struct fk_err *err);
// The same, waiting for it.
int fk_store_append_wait(struct fk_store *s, struct fk_str tenant, const struct fk_entry *entry,
                         const struct fk_profile *profile, struct fk_id *ret, struct fk_err *err);
// A sink over fk_store_append.
struct fk_sink fk_store_sink(struct fk_store *s);
// Keeps uploaded bytes as they came, for originals_age_ns at most and while there is room; the name
// to ask for them (NUL-terminated) in *ret_name. FK_E_UNSUPPORTED: switched off, or too large.
#define FK_ORIGINAL_NAME 96
int fk_store_keep_original(struct fk_store *s, struct fk_str bytes, char ret_name[FK_ORIGINAL_NAME],
                           struct fk_err *err);
// Appends them. FK_E_NOTFOUND when they are gone.
int fk_store_original(struct fk_store *s, struct fk_str name, struct fk_buf *to,
                      struct fk_err *err);
// Seals the head now; waits until the blocks are there.
int fk_store_seal(struct fk_store *s, struct fk_err *err);
// One round of what the keeper does: seal when due, retention. For inline stores.
int fk_store_maintain(struct fk_store *s, struct fk_err *err);

struct fk_store_stats {
    uint64_t profiles, samples, block_bytes, blocks; // sealed
    uint64_t head_profiles, head_samples, head_memory, pack_bytes, packs;
    uint64_t commits, committed, commit_bytes, commit_failures; // since start
    uint64_t sealed, seal_failures, expired_blocks;             // since start
    uint64_t torn_bytes, replayed, replay_skipped;              // at start
    int64_t last_sync_ns;                                       // how long the last fdatasync took
    struct fk_space space;
    bool full; // below the low-water mark: appends are refused
};
void fk_store_stats(struct fk_store *s, struct fk_store_stats *ret);

// ---- reading ----

// What is committed at this moment, of these tenants together: an immutable view, kept alive by its
// references.
struct fk_snapshot;
int fk_store_snapshot(struct fk_store *s, const struct fk_str *tenants, size_t n,
                      struct fk_snapshot **ret, struct fk_err *err);
void fk_snapshot_free(struct fk_snapshot *s);
struct fk_id fk_snapshot_max_id(const struct fk_snapshot *s); // zero when empty
uint32_t fk_snapshot_blocks(const struct fk_snapshot *s);

// One service's profiles in one head or block. Borrowed from the snapshot.
struct fk_part {
    const struct head_view *head;
    struct live_block *block;
    uint32_t dataset;
};
// Calls on() for each part that may hold profiles of from <= time < until.
int fk_snapshot_parts(struct fk_snapshot *s, int64_t from_ns, int64_t until_ns,
                      int (*on)(void *arg, const struct fk_part *part, struct fk_err *err),
                      void *arg, struct fk_err *err);
struct fk_str fk_part_service(const struct fk_part *p);
int fk_part_tables(const struct fk_part *p, const struct fk_dataset **ret, struct fk_err *err);
uint32_t fk_part_pages(const struct fk_part *p);
int fk_part_bounds(const struct fk_part *p, uint32_t page, struct fk_page_bounds *ret,
                   struct fk_err *err);
// Rows of a page: *ret points into scratch or into the part. Within a block ascending by time, in a
// head by id.
int fk_part_page(const struct fk_part *p, uint32_t page, struct fk_page *scratch,
                 const struct fk_row **ret, uint32_t *ret_n, struct fk_err *err);
// Columns borrowed from the part or in the arena.
int fk_part_symbols(const struct fk_part *p, struct fk_arena *a, struct fk_symbols *ret,
                    struct fk_err *err);

// ---- health ----

struct fk_store_check {
    uint64_t blocks, packs, profiles, samples, bytes;
    uint64_t problems;
    void (*report)(void *arg, const char *text); // one sentence each; may be NULL
    void *arg;
};
// Reads everything of an open store and holds blocks, packs and catalog against each other. 0
// unless reading itself failed to start; *check counts the problems.
int fk_store_check(struct fk_store *s, struct fk_store_check *check, struct fk_err *err);

#endif
