// SPDX-License-Identifier: Apache-2.0
// Inside of the query room: the plan and the scan that all answers are made from.
#ifndef FK_QUERY_QUERY_INT_H
#define FK_QUERY_QUERY_INT_H

#include "query/query.h"

struct fk_query {
    struct fk_query_opts opts;
    struct fk_source_spec spec;
    struct fk_arena arena;
    struct fk_snapshot *snapshot;
    struct fk_selector *selector;
    struct fk_name_filter *focus, *hide, *collapse;
    struct fk_id max_id;
    struct fk_id *ids; // sorted
    bool has_type;
    struct fk_type_id type;
    uint64_t rows, bytes, truncated; // counted by scans
    double unsymbolized_share;
    struct fk_str warning[8];
    size_t n_warnings;
};

// One row that matches.
struct fk_hit {
    const struct fk_part *part;
    const struct fk_dataset *tables;
    const struct fk_row *row;
    uint32_t page, index;    // where it stands
    uint32_t column;         // of the wanted type, FK_NONE: no type is wanted
    const uint8_t *keep_set; // by attribute set: whether a row's samples count; NULL: all do
};

// A scan calls row() for each row of the source. begin() and end() stand around the rows of one
// part; any may be NULL. `want_type`: rows without the wanted type are left out.
struct fk_scan {
    struct fk_query *q;
    bool want_type;
    int (*begin)(struct fk_scan *s, struct fk_err *err);
    int (*row)(struct fk_scan *s, const struct fk_hit *hit, struct fk_err *err);
    int (*end)(struct fk_scan *s, struct fk_err *err);
    bool (*skip)(struct fk_scan *s,
                 const struct fk_page_bounds *b); // true: no row of such a page is wanted
    void *arg;

    // The part at hand.
    const struct fk_part *part;
    uint32_t part_index, page_index;
    const struct fk_dataset *tables;
    struct fk_arena part_arena; // freed with the part
    struct fk_symbols sym;
    bool has_sym;
    struct fk_samples samples; // scratch
    struct series_plan *plan;  // per series
    struct fk_page *page;      // scratch
    struct mask_sets *masks;
    size_t n_masks;
    const uint8_t *site;      // fk_scan_site, once asked for
    struct part_spans *spans; // fk_hit_spans, likewise
};
int fk_scan_run(struct fk_scan *s, struct fk_err *err);
// The same in pieces: begin, any parts in their order, end (also after a failure of a part).
int fk_scan_begin(struct fk_scan *s, struct fk_err *err);
int fk_scan_part(struct fk_scan *s, const struct fk_part *part, struct fk_err *err);
void fk_scan_end(struct fk_scan *s);
// Calls on() for each part that may hold rows of the source.
int fk_query_parts(struct fk_query *q, int (*on)(void *, const struct fk_part *, struct fk_err *),
                   void *arg, struct fk_err *err);

// Merges all rows of the source into column `column` of a tree, by several threads where the
// query has a pool and enough to do; the result is that of one thread.
int fk_merge_trees(struct fk_query *q, struct fk_tree *into, uint32_t column, struct fk_err *err);
// The scan that does it for some of the parts, on the thread that calls. Fills *scan; *job must
// live as long.
struct fk_tree_job {
    struct fk_tree *tree;
    uint32_t column;
    int64_t *self; // of the part at hand
    struct fk_frame_filter filter;
    bool filtered;
};
void fk_tree_scan(struct fk_query *q, struct fk_tree *into, uint32_t column,
                  struct fk_tree_job *job, struct fk_scan *scan);
// Symbols of the part at hand, loaded on first call; live until its end().
int fk_scan_symbols(struct fk_scan *s, const struct fk_symbols **ret, struct fk_err *err);
// Total of one column of a hit: of matching samples when there is a keep_set.
int fk_hit_total(struct fk_scan *s, const struct fk_hit *h, uint32_t column, int64_t *ret,
                 struct fk_err *err);
// For each stack of the part at hand whether it begins with the query's call site; NULL: the query
// has none.
int fk_scan_site(struct fk_scan *s, const uint8_t **ret, struct fk_err *err);
// Sums of one column per span of a hit's samples that count. *ret is good until the next call, its
// texts until the part's end.
struct fk_span_sum {
    struct fk_str span_id, trace_id;
    int64_t value;
};
int fk_hit_spans(struct fk_scan *s, const struct fk_hit *h, uint32_t column,
                 const struct fk_span_sum **ret, size_t *ret_n, struct fk_err *err);
// The value of an attribute in a set as text: strings as they are, numbers in decimal (made in
// number[]). .p NULL: the set has no such key.
struct fk_str fk_set_value(const struct fk_symbols *sym, uint32_t set, struct fk_str name,
                           char number[24]);

// Distinct values of some labels, numbered as they come.
struct fk_groups {
    FK_VEC(struct fk_labels) v;
    struct fk_map index;
};
int fk_groups_find(struct fk_query *q, struct fk_groups *g, const struct fk_labels *labels,
                   const struct fk_str *by, size_t n_by, uint32_t *ret, struct fk_err *err);
void fk_groups_free(struct fk_groups *g);
// The labels that are not grouped by, in the query's arena.
int fk_labels_without(struct fk_query *q, const struct fk_labels *l, const struct fk_str *by,
                      size_t n_by, struct fk_labels *ret, struct fk_err *err);

// The entry of a hit, totals of matching samples; labels borrowed from the part, the rest in the
// query's arena.
int fk_hit_entry(struct fk_scan *s, const struct fk_hit *h, struct fk_entry *ret,
                 struct fk_err *err);
// The id of column k of a row in the arena.
struct fk_str fk_row_type_id(struct fk_query *q, const struct fk_dataset *t, uint32_t series,
                             uint32_t shape, uint32_t k);
// The query's name filters for a tree; NULL when it has none.
const struct fk_frame_filter *fk_query_filter(struct fk_query *q, struct fk_frame_filter *f);
// Whether column k of such rows is of the wanted type.
bool fk_query_is_column(const struct fk_query *q, const struct fk_dataset *t, uint32_t series,
                        uint32_t shape, uint32_t k);
void fk_query_warn(struct fk_query *q, const char *fmt, ...) FK_PRINTF(2, 3);
uint64_t fk_query_hash(const struct fk_query *q); // of selector, range, type, filters

// The error of a source that no profile belongs to; names the id where it was asked for by id.
int fk_query_none(const struct fk_query *q, struct fk_err *err);

#endif
