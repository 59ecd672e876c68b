// SPDX-License-Identifier: Apache-2.0
// The catalog: rows that say which blocks are live, which datasets they hold, and which series and
// sample attributes were seen on which day. It knows rows, not the bytes of blocks; it can be made
// anew from the blocks at any time. The state (at the end) is a second database, which cannot.
//
// Kept by SQLite in write-ahead mode with synchronous=FULL, on the given file system (so on the
// simulated one too), alone: the file is locked while it is open, and a foreign sqlite3 must not
// write to it meanwhile.
//
// Times are Unix nanoseconds; days are days since 1970-01-01 UTC. Texts are bytes of any content.
// What a call returned 0 for is durable. A changing call that failed may still be in effect after a
// restart; repeating any of them is harmless. Errors name the file; FK_E_CORRUPT: rebuild it.
//
// Threads: all calls are safe from any thread; one runs at a time (rank FK_RANK_CATALOG). Callbacks
// run inside: they must not call the catalog nor take a lock of that rank or below, and what they
// are shown lives until they return. A non-zero result of a callback ends the call and is returned.
#ifndef FK_CATALOG_CATALOG_H
#define FK_CATALOG_CATALOG_H

#include "base/base.h"
#include "os/os.h"

#define FK_CATALOG_VERSION     1    // of the schema
#define FK_CATALOG_ATTR_VALUES 1000 // values kept of one attribute per tenant, day and service

struct fk_catalog;

struct fk_catalog_block {
    struct fk_id id;
    struct fk_str tenant;
    int32_t level;                    // 1 sealed head, more: compacted
    struct fk_id min_id, max_id;      // of profiles
    int64_t min_time_ns, max_time_ns; // both included
    int64_t min_received_ns, max_received_ns;
    uint64_t bytes, profiles, samples; // each below 2^63
    const struct fk_id *replaces;      // packs and blocks whose profiles are all in this one
    size_t replaces_n;
};

struct fk_catalog_dataset {
    struct fk_str service;
    int64_t min_time_ns, max_time_ns;
    uint64_t offset, length; // in the block's file
    struct fk_str types;     // profile types, as the store writes them
};

struct fk_catalog_label {
    struct fk_str name, value;
};

struct fk_catalog_series {
    int32_t day;
    uint64_t hash; // of the label set; equal sets have equal hashes, everywhere and always
    struct fk_str service;
    const struct fk_catalog_label *labels;
    size_t labels_n; // at most 65,535
};

struct fk_catalog_attr {
    int32_t day;
    struct fk_str service, name, value;
    bool capped; // the name only: there were more than FK_CATALOG_ATTR_VALUES values; value is ""
};

// Day of a time.
static inline int32_t fk_catalog_day(int64_t time_ns)
{
    int64_t day = time_ns / (86400 * FK_NS_PER_S);
    return (int32_t)(day - (time_ns % (86400 * FK_NS_PER_S) < 0));
}

// Opens or makes the catalog at `path` (its folder must exist) and brings an older schema up to
// date. fs is borrowed until close. FK_E_UNSUPPORTED: written by a newer version. FK_E_BUSY: in
// use.
int fk_catalog_open(const struct fk_fs *fs, const char *path, struct fk_catalog **ret,
                    struct fk_err *err);
void fk_catalog_close(struct fk_catalog *c); // NULL is fine
// Removes the files of a catalog that is not open (for a rebuild of one that cannot be opened).
int fk_catalog_remove(const struct fk_fs *fs, const char *path, struct fk_err *err);

// --- transitions, each one transaction ---
struct fk_catalog_add {
    struct fk_catalog_block block;
    const struct fk_catalog_dataset *datasets;
    size_t datasets_n;
    const struct fk_catalog_series *series;
    size_t series_n;
    const struct fk_catalog_attr *attrs; // fastest when grouped by day, service and name
    size_t attrs_n;
};

// The block appears and what it replaces disappears. Nothing happens (and 0 is returned, *ret_added
// false) when the block is there already, or when a live block replaces it: so blocks may be added
// in any order, which a rebuild does. ret_added may be NULL.
int fk_catalog_add(struct fk_catalog *c, const struct fk_catalog_add *add, bool *ret_added,
                   struct fk_err *err);
// Removes blocks; unknown ones are no error. At most 1,000 a call keep transactions short.
int fk_catalog_delete(struct fk_catalog *c, const struct fk_id *ids, size_t n, struct fk_err *err);
// Forgets series and attributes of the days that no block of the tenant touches any more.
int fk_catalog_trim_days(struct fk_catalog *c, struct fk_str tenant, struct fk_err *err);
// Removes all rows.
int fk_catalog_wipe(struct fk_catalog *c, struct fk_err *err);

// --- blocks ---
struct fk_catalog_filter {
    struct fk_str tenant;       // n == 0: all tenants
    int64_t from_ns, until_ns;  // blocks with a profile time in from <= t < until may be in it
    int64_t received_before_ns; // blocks all of whose profiles were received before; 0: any
    struct fk_id after;         // by id only: begin behind this one (paging); zero: at the first
    size_t limit;               // 0: all
    bool by_received;           // oldest max_received first, else by id
};

#define FK_CATALOG_ALL_TIMES .from_ns = INT64_MIN, .until_ns = INT64_MAX

struct fk_catalog_each_block {
    int (*on)(void *arg, const struct fk_catalog_block *block, struct fk_err *err);
    void *arg;
};

int fk_catalog_blocks(struct fk_catalog *c, const struct fk_catalog_filter *filter,
                      struct fk_catalog_each_block each, struct fk_err *err);
// Calls `each` once; FK_E_NOTFOUND.
int fk_catalog_get(struct fk_catalog *c, struct fk_id id, struct fk_catalog_each_block each,
                   struct fk_err *err);
// Whether a live block replaces this pack or block (in one step or several).
int fk_catalog_replaced(struct fk_catalog *c, struct fk_id id, bool *ret, struct fk_err *err);

struct fk_catalog_each_dataset {
    int (*on)(void *arg, const struct fk_catalog_dataset *dataset, struct fk_err *err);
    void *arg;
};
// In order of offset.
int fk_catalog_datasets(struct fk_catalog *c, struct fk_id block,
                        struct fk_catalog_each_dataset each, struct fk_err *err);

struct fk_catalog_totals {
    uint64_t blocks, bytes, profiles, samples;
    int64_t min_time_ns, max_time_ns; // 0 without blocks
};
// tenant.n == 0: all.
int fk_catalog_totals(struct fk_catalog *c, struct fk_str tenant, struct fk_catalog_totals *ret,
                      struct fk_err *err);

// --- series and attributes ---
struct fk_catalog_days {
    struct fk_str tenant;
    int32_t from, until;   // both included
    struct fk_str service; // n == 0: all
};

struct fk_catalog_each_day {
    int (*on)(void *arg, int32_t day, uint64_t series, struct fk_err *err);
    void *arg;
};
// Days that have series, ascending, with their number.
int fk_catalog_each_day(struct fk_catalog *c, const struct fk_catalog_days *days,
                        struct fk_catalog_each_day each, struct fk_err *err);

struct fk_catalog_each_series {
    int (*on)(void *arg, const struct fk_catalog_series *series, struct fk_err *err);
    void *arg;
};
// Each series once (its day is the first of the range that has it), at most `limit` (0: all).
int fk_catalog_series(struct fk_catalog *c, const struct fk_catalog_days *days, size_t limit,
                      struct fk_catalog_each_series each, struct fk_err *err);

struct fk_catalog_each_text {
    int (*on)(void *arg, struct fk_str text, struct fk_err *err);
    void *arg;
    bool *ret_capped; // of attribute values: on some day there were too many to keep; or NULL
};
// Distinct texts in byte order that begin with `prefix`, at most `limit` (0: all).
int fk_catalog_services(struct fk_catalog *c, const struct fk_catalog_days *days,
                        struct fk_str prefix, size_t limit, struct fk_catalog_each_text each,
                        struct fk_err *err);
int fk_catalog_label_names(struct fk_catalog *c, const struct fk_catalog_days *days,
                           struct fk_str prefix, size_t limit, struct fk_catalog_each_text each,
                           struct fk_err *err);
int fk_catalog_label_values(struct fk_catalog *c, const struct fk_catalog_days *days,
                            struct fk_str name, struct fk_str prefix, size_t limit,
                            struct fk_catalog_each_text each, struct fk_err *err);
int fk_catalog_attr_names(struct fk_catalog *c, const struct fk_catalog_days *days,
                          struct fk_str prefix, size_t limit, struct fk_catalog_each_text each,
                          struct fk_err *err);
int fk_catalog_attr_values(struct fk_catalog *c, const struct fk_catalog_days *days,
                           struct fk_str name, struct fk_str prefix, size_t limit,
                           struct fk_catalog_each_text each, struct fk_err *err);

// --- health ---
// Reads everything; FK_E_CORRUPT with the first thing found.
int fk_catalog_check(struct fk_catalog *c, struct fk_err *err);
// Moves the write-ahead log into the database file, so that it does not grow.
int fk_catalog_checkpoint(struct fk_catalog *c, struct fk_err *err);

// --- the state: what people decided, which no rebuild can bring back ---
// Settings and access tokens, in a database of their own (state.db of the data folder) that the
// server and the command line have open at the same time: SQLite's own files and locks, with a
// rollback journal. Calls wait up to 5 s for another process, then FK_E_BUSY. All calls are safe
// from any thread, one runs at a time (rank FK_RANK_CATALOG); for callbacks the same holds as
// above.
struct fk_state;

#define FK_STATE_SETTINGS    1000 // of one tenant
#define FK_STATE_NAME_BYTES  1024
#define FK_STATE_VALUE_BYTES (256u << 10)

int fk_state_open(const char *path, struct fk_state **ret, struct fk_err *err); // or makes it
void fk_state_close(struct fk_state *s);                                        // NULL is fine

struct fk_setting {
    struct fk_str name, value;
    int64_t modified_ms; // Unix time
};
struct fk_state_each_setting {
    int (*on)(void *arg, const struct fk_setting *setting, struct fk_err *err);
    void *arg;
};
// Of one tenant, in byte order of the names.
int fk_state_settings(struct fk_state *s, struct fk_str tenant, struct fk_state_each_setting each,
                      struct fk_err *err);
// Adds or replaces. FK_E_EXISTS when what is stored is newer; FK_E_INVALID without a name;
// FK_E_LIMIT: one of the three above.
int fk_state_set(struct fk_state *s, struct fk_str tenant, const struct fk_setting *setting,
                 struct fk_err *err);
// An unknown name is no error.
int fk_state_unset(struct fk_state *s, struct fk_str tenant, struct fk_str name,
                   struct fk_err *err);

enum fk_scope { FK_SCOPE_PUSH = 1, FK_SCOPE_READ = 2, FK_SCOPE_ADMIN = 4 };
#define FK_TOKEN_HASH 32

struct fk_token {
    struct fk_str id, name; // id: its public part
    struct fk_str tenants;  // one, or several with | between them
    uint32_t scopes;        // enum fk_scope
    uint8_t hash[FK_TOKEN_HASH];
    int64_t created_ms, expires_ms, revoked_ms; // Unix time; 0: never
};
struct fk_state_each_token {
    int (*on)(void *arg, const struct fk_token *token, struct fk_err *err);
    void *arg;
};
int fk_state_token_add(struct fk_state *s, const struct fk_token *t,
                       struct fk_err *err); // FK_E_EXISTS
// It stays in the list, so that it can be seen that there was one. FK_E_NOTFOUND; again is no
// error.
int fk_state_token_revoke(struct fk_state *s, struct fk_str id, int64_t now_ms, struct fk_err *err);
// In order of creation, expired and revoked ones too.
int fk_state_tokens(struct fk_state *s, struct fk_state_each_token each, struct fk_err *err);
// A number that is another one after every change of the tokens, by whichever process.
int fk_state_changes(struct fk_state *s, uint64_t *ret, struct fk_err *err);

#endif
