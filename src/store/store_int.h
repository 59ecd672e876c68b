// SPDX-License-Identifier: Apache-2.0
// Inside of the store. Who owns what:
//   committer (or the appending thread when inline)  pack being written, ids, adding to the head
//   state lock                                       which heads and blocks exist; held for pointer
//   work only head lock                                        the published views of a head
// Ranks: queue < state < head view.
#ifndef FK_STORE_STORE_INT_H
#define FK_STORE_STORE_INT_H

#include "blob/blob.h"
#include "store/store.h"

#define FK_RANK_STORE_SEAL  (FK_RANK_STORE)
#define FK_RANK_STORE_QUEUE (FK_RANK_STORE + 1)
#define FK_RANK_STORE_STATE (FK_RANK_STORE + 2)
#define FK_RANK_STORE_HEAD  (FK_RANK_STORE + 3)
#define FK_RANK_STORE_QUOTA (FK_RANK_STORE + 4)

#define FK_SEGMENT_MAX                                                                             \
    ((size_t)8 << 20) // of records in one commit, unless one record alone is larger

// ---- packs (pack.c)
// ---------------------------------------------------------------------------------------------- An
// append-only file of framed segments. A frame is durable as a whole or not there at all.

struct fk_pack {
    struct fk_file *file;
    struct fk_id id;
    char path[FK_PATH_MAX];
    uint64_t used, allocated;
    bool dead; // a write or sync failed: nothing more goes in
};
// Creates packs/<id>.pack, durably.
int fk_pack_create(const struct fk_fs *fs, const char *dir, struct fk_id id, struct fk_pack **ret,
                   struct fk_err *err);
// Writes one frame, and syncs. On failure the pack is dead.
enum fk_pack_how {
    FK_PACK_NO_SYNC = 1, // a later frame of the batch will
    FK_PACK_MORE = 2,    // not the first frame of its batch
};
#define FK_PACK_FRAME 32 // bytes of room before the segment, which this fills
int fk_pack_append(struct fk_pack *p, struct fk_buf *framed, unsigned how, struct fk_err *err);
// Bytes by which the file grows when so many are appended in `frames` frames; p NULL or dead: a new
// pack.
uint64_t fk_pack_growth(const struct fk_pack *p, uint64_t bytes, size_t frames);
// Cuts the preallocated rest off and closes.
void fk_pack_close(struct fk_pack *p);

struct fk_pack_scan {
    int (*on)(void *arg, struct fk_str segment, struct fk_err *err);
    void *arg;
    // Results. A bad frame is a damaged one with a good one of a later batch behind it.
    uint64_t frames, torn_bytes, bad_frames;
    bool bad_header; // torn_bytes are then those behind the header
};
int fk_pack_read(const struct fk_fs *fs, const char *path, struct fk_pack_scan *scan,
                 struct fk_err *err);

// ---- heads (head.c) ----

struct head_view {
    struct fk_dataset tables;
    struct fk_symbols sym;
    struct fk_row *const *page;
};

// Profiles of one service (and tenant) in a head.
struct head_set {
    struct fk_str tenant, service;
    struct fk_dict *dict;
    struct fk_map series_index, shape_index, placement_index;
    struct keyed_table {
        struct fk_str *key; // canonical bytes
        void *value;        // fk_labels, fk_shape, fk_placements
        uint32_t n, cap;
    } series, shapes, placements;
    struct fk_row **page;
    uint32_t page_cap;
    uint64_t n_rows, samples;
    int64_t min_time_ns, max_time_ns;
    struct head_view view; // what readers copy; under the head's lock
};

struct fk_head {
    struct fk_ref ref;
    struct fk_mutex lock;
    struct fk_arena arena;          // rows, notes, samples, keys; grows only
    FK_VEC(struct head_set *) sets; // appended under the lock
    struct fk_map set_index;        // by hash of tenant and service
    FK_VEC(void *) retired;         // arrays that grew
    FK_VEC(struct fk_id) packs;     // whose profiles are here
    bool part_sealed; // one of the packs holds another tenant's part that a block has replaced
    FK_VEC(struct fk_id) block_ids; // given when it is sealed; a second try writes the same blocks
    struct fk_remap *remap;         // scratch of the writer
    struct fk_samples samples;
    struct fk_buf scratch;
    uint64_t pack_bytes, profiles, n_samples;
    int64_t first_mono_ns; // when the first profile came, 0: empty
    struct fk_id max_id;   // under the lock, as the next two
    uint64_t memory, published_pack_bytes;
};
struct fk_head *fk_head_new(void); // NULL: no memory
void fk_head_unref(struct fk_head *h);
// Adds one profile under e->id and publishes it. Writer only.
int fk_head_add(struct fk_head *h, struct fk_str tenant, const struct fk_entry *e,
                const struct fk_profile *p, struct fk_err *err);
uint64_t fk_head_memory(const struct fk_head *h);

// ---- live blocks (blocks.c) ----

struct live_block {
    struct fk_ref ref;
    struct fk_store *store;
    struct fk_id id;
    struct fk_str tenant;
    int64_t min_time_ns, max_time_ns, max_received_ns;
    struct fk_id max_id;
    uint64_t bytes, profiles, samples;
    struct fk_arena arena;           // of the tenant's name
    _Atomic(struct fk_block *) open; // opened on first use
    struct fk_blob_reader *reader;   // under `opening`
    struct fk_mutex opening;
};
struct live_block *fk_live_new(struct fk_store *s, const struct fk_catalog_block *row);
void fk_live_unref(struct live_block *b);
// A catalog callback (fk_catalog_each_block) that adds the row's live block to a struct live_list.
struct live_list {
    struct fk_store *store;
    FK_VEC(struct live_block *) blocks;
};
int fk_live_note(void *list, const struct fk_catalog_block *row, struct fk_err *err);
int fk_live_open(struct live_block *b, struct fk_block **ret, struct fk_err *err);
void fk_block_key(char ret[FK_PATH_MAX], struct fk_str tenant, struct fk_id id);
// The id under which a block names its part of a pack: one pack may hold several tenants.
struct fk_id fk_pack_part(struct fk_id pack, struct fk_str tenant);

// ---- the store ----

struct append {
    struct append *next;
    struct fk_str tenant;
    const struct fk_entry *entry;
    const struct fk_profile *profile;
    struct fk_buf record;
    fk_done_fn *done;
    void *arg;
    struct fk_id id;
    size_t order; // of arrival in the batch
};

// quota.c: series of a tenant and day.
struct fk_series_day;
struct fk_quota {
    struct fk_mutex lock; // all of it; the catalog is asked under it
    FK_VEC(struct fk_series_day) days;
    uint64_t uses;
};
void fk_quota_free(struct fk_quota *q);
// Counts a series that is stored already.
int fk_quota_note(struct fk_store *s, struct fk_str tenant, const struct fk_entry *e,
                  struct fk_err *err);
// Counts the entry's series, or refuses a new one beyond the limit: FK_E_LIMIT, parameter "series".
int fk_quota_take(struct fk_store *s, struct fk_str tenant, const struct fk_entry *e,
                  struct fk_err *err);

// originals.c: uploaded bytes that are kept for a while.
struct fk_original {
    uint64_t received_s, hash, size, stored; // Unix seconds; bytes, as uploaded and as kept
    bool packed;                             // compressed by us
};
struct fk_originals {
    struct fk_mutex lock;
    FK_VEC(struct fk_original) v; // by time
};
int fk_originals_load(struct fk_store *s, struct fk_err *err);
int fk_originals_retain(struct fk_store *s, struct fk_err *err); // under seal_lock
void fk_originals_free(struct fk_originals *o);

struct fk_store {
    struct fk_store_opts opts;
    const struct fk_fs *fs;
    const struct fk_clock *clock;
    char dir[FK_PATH_MAX];
    struct fk_file *lock_file;
    struct fk_catalog *catalog;
    struct fk_blob *blob;

    struct fk_mutex queue_lock; // the next five
    struct fk_cond queue_filled;
    struct append *first, *last;
    bool stopping, look; // look: the keeper wants the committer to see whether a seal is due
    size_t waiting_bytes;

    struct fk_mutex state_lock; // the next three
    struct fk_head *head;       // the one being filled, never NULL once open
    struct fk_head *sealing;    // being written as blocks, or NULL
    FK_VEC(struct live_block *) blocks;

    struct fk_pack *pack;     // committer's; NULL until something is appended
    struct fk_id_source ids;  // committer's
    int64_t space_checked_ns; // committer's
    _Atomic bool full;

    struct fk_mutex seal_lock;            // one seal or retention at a time
    struct fk_id_source block_ids;        // under seal_lock, as the next three
    FK_VEC(struct fk_id) old_packs;       // sealed, but could not be removed yet
    FK_VEC(struct live_block *) expiring; // out of `blocks`, not yet removed
    bool packs_unsynced;                  // packs were removed, but not yet durably
    struct fk_cond keeper_wake;           // with queue_lock
    bool seal_wanted;                     // under queue_lock
    struct fk_thread committer, keeper;
    bool threads, has_keeper;
    struct fk_fs planted_fs; // of a planted fault
    struct fk_fs_ops planted_ops;
    struct fk_mutex stats_lock;
    struct fk_store_stats stats; // counters since start
    struct fk_quota quota;
    struct fk_originals originals;
};

// commit.c
void fk_store_commit(struct fk_store *s, struct append *batch);
void fk_store_committer(void *arg);
// The head and its pack go over to sealing; a new head begins. Committer only. False when there is
// nothing to seal or a seal runs.
bool fk_store_rotate(struct fk_store *s, struct fk_err *err);
bool fk_store_seal_is_due(struct fk_store *s);        // committer only
struct fk_head *fk_store_sealing(struct fk_store *s); // what is being sealed, NULL when nothing is
// seal.c: writes what is being sealed as blocks, publishes them, removes the packs. Any thread,
// under seal_lock.
int fk_store_write_blocks(struct fk_store *s, struct fk_err *err);
int fk_store_add_row(struct fk_store *s, struct fk_block *b,
                     struct fk_err *err); // the catalog's row of an open block
// All sealed packs are gone for good when it returns 0; before, no row that replaces one may go.
int fk_store_settle_packs(struct fk_store *s, struct fk_err *err);
// recover.c: loads rows, sweeps or adopts files without one, reads the packs
int fk_store_recover(struct fk_store *s, struct fk_err *err);
// retention.c
int fk_store_retain(struct fk_store *s, struct fk_err *err);
int fk_store_check_space(struct fk_store *s, uint64_t more, struct fk_err *err);

#endif
