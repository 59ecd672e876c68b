// SPDX-License-Identifier: Apache-2.0
// Files of profiles: the container (sections, directory, checksums), the record that a segment
// carries, the packed sample row, the sealed block's writer and reader. Knows bytes, not tenants'
// affairs nor where files lie: it writes to an fk_out and reads through an fk_source. The layout is
// documented byte by byte in docs/format-block.md.
//
// Everything read is verified: section checksums (XXH3-64) once per open block, offsets and ids at
// each use. Our own bytes gone wrong are FK_E_CORRUPT, never a crash.
#ifndef FK_BLOCK_BLOCK_H
#define FK_BLOCK_BLOCK_H

#include "model/model.h"

#define FK_BLOCK_VERSION 0 // 0: the format may still change; from 1 on old versions stay readable
#define FK_PAGE_ROWS     128

// ---- packed sample rows
// ------------------------------------------------------------------------------------------ The
// samples of one profile as bytes, over the stack and set ids of a dataset: ids as bitmap or delta
// bit-packed, whichever is smaller; each value column all zero, a constant times the previous one,
// or divided by its GCD and patched bit-packed.

#define FK_MAX_TYPES 64 // sample types of one profile that the store takes

// Samples as columns, to pack or unpacked; as in struct fk_profile. Memory is owned and reused:
// zero it first, free it in the end. Of the optional columns only those whose has_* is set mean
// anything. Not for several threads at a time.
struct fk_samples {
    uint64_t n_rows, n_obs;
    uint32_t n_types;
    bool has_sets, has_obs, has_times;
    uint32_t *stack;
    uint32_t *set;                         // has_sets; else all are 0
    uint64_t *obs_begin;                   // has_obs: n_rows + 1; else one observation a row
    int64_t *value[FK_MAX_TYPES];          // [n_types][n_obs]
    int64_t *time_ns;                      // has_times: per observation
    size_t cap_rows, cap_obs, cap_scratch; // private from here
    uint32_t cap_types;
    void *scratch;
};

void fk_samples_free(struct fk_samples *s);

// Appends the packed form of the filled-in columns, whose rows may be in any order; times are
// stored relative to base_ns. Unpacked rows come ascending by (stack, set).
int fk_samples_pack(struct fk_samples *s, int64_t base_ns, struct fk_buf *to, struct fk_err *err);
// Room for a profile's columns before filling them in (contents are lost).
int fk_samples_reserve(struct fk_samples *s, uint64_t n_rows, uint64_t n_obs, uint32_t n_types,
                       struct fk_err *err);
// Packed samples and what is needed to read them. Ids at or beyond n_stacks, n_sets are corrupt.
struct fk_packed {
    struct fk_str bytes;
    int64_t base_ns;
    uint32_t n_types, n_stacks, n_sets;
};
int fk_samples_unpack(struct fk_samples *s, const struct fk_packed *in, struct fk_err *err);
// Adds the values of one type to self[stack]; nothing else is decoded. `keep_set` (NULL: all) tells
// for each set whether its rows count. *ret_rows (may be NULL) is increased by the number of rows
// that did.
int fk_samples_sum(struct fk_samples *scratch, const struct fk_packed *in, uint32_t type,
                   const uint8_t *keep_set, int64_t *self, uint64_t *ret_rows, struct fk_err *err);

// ---- shapes ----
// What the profiles of one program share besides labels: sample types, period, comments.

struct fk_shape {
    const struct fk_value_type *type;
    uint32_t n_types;
    bool has_period_type;
    int64_t period;
    struct fk_str period_type, period_unit, default_type, drop_frames, keep_frames, doc_url,
        time_key, time_unit;
    const struct fk_str *comment;
    uint32_t n_comments;
};
void fk_shape_of(const struct fk_profile *p, struct fk_shape *ret); // borrows
void fk_shape_to(const struct fk_shape *s, struct fk_profile *p);   // the other way; borrows
void fk_shape_put(struct fk_buf *b, const struct fk_shape *s);
int fk_shape_read(struct fk_arena *a, struct fk_str bytes, struct fk_shape *ret,
                  struct fk_err *err); // borrows bytes

// ---- records and segments
// ---------------------------------------------------------------------------------------- A record
// is one accepted profile by itself: its entry, then its model in varints, flat and in arrival
// order. A segment is a container whose sections are records: what one group commit makes durable.

int fk_record_put(struct fk_buf *b, const struct fk_entry *e, const struct fk_profile *p,
                  struct fk_err *err);
// Borrows bytes; columns are in the arena.
int fk_record_read(struct fk_str bytes, struct fk_arena *a, struct fk_entry *ret_entry,
                   struct fk_profile *ret_profile, struct fk_err *err);
// The id lies at a fixed place, so that the committer can stamp a record that a worker encoded
// before.
void fk_record_stamp(char *record, struct fk_id id);

// Appends a segment made of n records (as of fk_record_put, stamped).
int fk_segment_put(struct fk_buf *b, const struct fk_str *record, size_t n, struct fk_str tenant,
                   struct fk_err *err);
struct fk_segment {
    struct fk_str tenant;  // borrowed from the bytes, as the records are
    struct fk_str *record; // in the arena
    size_t n;
};
int fk_segment_read(struct fk_str bytes, struct fk_arena *a, struct fk_segment *ret,
                    struct fk_err *err);

// ---- rows of a dataset ----

// One profile in a dataset: ids are into the dataset's tables, memory belongs to the dataset or to
// the page it was read into.
struct fk_row {
    struct fk_id id;
    int64_t time_ns, duration_ns, received_ns;
    int64_t file_time_ns; // as the file said; differs from time_ns where that is the arrival
    uint32_t series, shape, placement, flags; // flags: FK_ENTRY_*
    uint64_t n_rows, n_obs, samples;
    const int64_t *total; // [n_types of the shape]
    struct fk_str notes;  // annotations, canonical label bytes
    struct fk_str data;   // packed samples
};

struct fk_placements {
    const struct fk_placement *v;
    uint32_t n;
};

// Tables of a dataset that queries decide by.
struct fk_dataset {
    struct fk_str service;
    uint32_t n_series, n_shapes, n_placements;
    const struct fk_labels *series;
    const struct fk_shape *shape;
    const struct fk_placements *placement;
    uint64_t n_rows;
    int64_t min_time_ns, max_time_ns; // of the rows
    uint64_t samples;
};

// ---- blocks ----

struct fk_block_info {
    struct fk_id id;
    struct fk_str tenant;
    uint32_t level;
    struct fk_id min_id, max_id;
    int64_t min_time_ns, max_time_ns, min_received_ns, max_received_ns;
    uint64_t bytes, profiles, samples;
    const struct fk_id
        *replaces; // packs and blocks whose profiles this one holds: never to be read again
    size_t n_replaces;
    uint32_t n_datasets;
};

// Writes one block to `out`, dataset by dataset. Order of calls: new, dataset..., finish, free.
struct fk_block_writer;
struct fk_block_writer *fk_block_writer_new(struct fk_out out, struct fk_id id,
                                            struct fk_str tenant, uint32_t level);
void fk_block_writer_free(struct fk_block_writer *w);
int fk_block_writer_replaces(struct fk_block_writer *w, struct fk_id pack_or_block);
// Everything of one service: functions by name, locations by (function names, address), stacks
// sorted into a preorder tree, rows by (time, id). Rows refer to sym and tables by id; row[] is
// reordered in place.
int fk_block_writer_dataset(struct fk_block_writer *w, const struct fk_dataset *tables,
                            const struct fk_symbols *sym, struct fk_row *row, uint64_t n_rows,
                            struct fk_err *err);
// Writes the footer. *ret borrows from the writer.
int fk_block_writer_finish(struct fk_block_writer *w, struct fk_block_info *ret,
                           struct fk_err *err);

// An open block: immutable, for any number of threads. The source must outlive it.
struct fk_block;
int fk_block_open(struct fk_source source, struct fk_block **ret, struct fk_err *err);
void fk_block_close(struct fk_block *b);
const struct fk_block_info *fk_block_get_info(const struct fk_block *b);
// Tables of dataset i; loaded on first use, they live as long as the block.
int fk_block_dataset(struct fk_block *b, uint32_t i, const struct fk_dataset **ret,
                     struct fk_err *err);
// Known from the footer without loading anything.
struct fk_str fk_block_service(const struct fk_block *b, uint32_t i);
// Where dataset i lies in the file.
void fk_block_dataset_range(const struct fk_block *b, uint32_t i, uint64_t *ret_offset,
                            uint64_t *ret_length);

// A page of up to FK_PAGE_ROWS rows, ascending by (time, id). Zero it first; free it in the end.
struct fk_page {
    struct fk_row row[FK_PAGE_ROWS];
    uint32_t n;
    int64_t *total; // private: behind row[].total
    size_t cap;
};
struct fk_page_bounds {
    int64_t min_time_ns, max_time_ns;
    struct fk_id min_id, max_id;
};
uint32_t fk_block_pages(const struct fk_block *b,
                        uint32_t dataset); // rows / FK_PAGE_ROWS, rounded up
int fk_block_page_bounds(struct fk_block *b, uint32_t dataset, uint32_t page,
                         struct fk_page_bounds *ret, struct fk_err *err);
int fk_block_page(struct fk_block *b, uint32_t dataset, uint32_t page, struct fk_page *to,
                  struct fk_err *err);
void fk_page_free(struct fk_page *p);
// Symbols and stacks (flat, in sorted order), in the arena.
int fk_block_symbols(struct fk_block *b, uint32_t dataset, struct fk_arena *a,
                     struct fk_symbols *ret, struct fk_err *err);

// Reads and checks everything: checksums, ids, totals against the samples, sums against the footer.
// Calls on() for each row (may be NULL) with its dataset.
int fk_block_verify(struct fk_block *b,
                    int (*on)(void *arg, uint32_t dataset, const struct fk_row *r,
                              struct fk_err *err),
                    void *arg, struct fk_err *err);

// The profile of a row, given its dataset's tables and symbols: columns in the arena, symbols
// borrowed from sym (all of them, also those that only other rows use).
struct fk_packed fk_row_packed(const struct fk_row *r, const struct fk_dataset *tables,
                               const struct fk_symbols *sym);
int fk_row_profile(const struct fk_row *r, const struct fk_dataset *tables,
                   const struct fk_symbols *sym, struct fk_samples *scratch, struct fk_arena *a,
                   struct fk_profile *ret, struct fk_err *err);
// The entry of a row: types and annotations in the arena, labels borrowed from the tables.
int fk_row_entry(const struct fk_row *r, const struct fk_dataset *tables, struct fk_arena *a,
                 struct fk_entry *ret, struct fk_err *err);

#endif
