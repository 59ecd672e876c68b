// SPDX-License-Identifier: Apache-2.0
// Questions over a snapshot: list, get, merge into a tree or a profile, series, heatmap, labels.
// Every answer of the API and of the command line is made of these. One query belongs to one
// thread; its results live in the query's arena and snapshot and die with it.
#ifndef FK_QUERY_QUERY_H
#define FK_QUERY_QUERY_H

#include "match/match.h"
#include "model/tree.h"
#include "store/store.h"

// ---- source ----

struct fk_attr_filter {
    struct fk_str name, value; // sample attribute, equality
};

// One of several values; the attribute may stand under either name. Case does not matter: the
// values are ids in hex.
struct fk_attr_choice {
    struct fk_str name, or_name;
    const struct fk_str *value;
    size_t n;
};

// What a view looks at (api.md "A source"). Borrowed for the life of the query.
struct fk_source_spec {
    const struct fk_id *id; // chosen profiles, or none: then selector and range
    size_t n_ids;
    struct fk_str selector;    // "" or "{}": all
    int64_t from_ns, until_ns; // from <= time < until
    struct fk_str type;        // profile type id; "": must be unambiguous where one is needed
    const struct fk_str *focus, *hide, *collapse; // name filters: literal or /regex/
    size_t n_focus, n_hide, n_collapse;
    const struct fk_attr_filter *attr;
    size_t n_attrs;
    const struct fk_attr_choice *choice; // all must hold
    size_t n_choices;
    const struct fk_str *call_site; // functions from the root: only stacks that begin so
    size_t n_call_site;
    struct fk_id max_id; // ignore what was committed later; zero: the snapshot's
};

struct fk_query_opts {
    struct fk_store *store;
    const struct fk_str *tenants; // looked at together; borrowed for the life of the query
    size_t n_tenants;
    uint64_t memory;                // bytes that the query may take; 0: the default limit
    const struct fk_cancel *cancel; // may be NULL
    struct fk_pool *pool;           // helps with large merges; may be NULL
};

struct fk_query;
int fk_query_new(const struct fk_query_opts *o, const struct fk_source_spec *s,
                 struct fk_query **ret, struct fk_err *err);
void fk_query_free(struct fk_query *q);
struct fk_arena *fk_query_arena(struct fk_query *q); // where results lie; callers may add to it

// What the answer covers.
struct fk_completeness {
    uint64_t profiles, blocks,
        bytes;          // rows that counted, blocks of the snapshot, sample bytes read
    uint64_t truncated; // profiles with cut stacks
    double truncated_share, unsymbolized_share;
    struct fk_str warning[8];
    size_t n_warnings;
};
void fk_query_completeness(const struct fk_query *q, struct fk_completeness *ret);

// The profile type of the answer as a full id: the one asked for, or the only one there is.
// FK_E_INVALID (param type) lists the choices when there are several; FK_E_NOTFOUND when nothing
// matches.
struct fk_type_facts {
    struct fk_str id; // name:type:unit:period_type:period_unit
    struct fk_str unit, type;
    enum fk_kind kind;
};
int fk_query_type(struct fk_query *q, struct fk_type_facts *ret, struct fk_err *err);

// ---- list ----

enum fk_list_key { FK_LIST_TIME, FK_LIST_VALUE, FK_LIST_DURATION, FK_LIST_SAMPLES, FK_LIST_SIZE };
struct fk_list_spec {
    enum fk_list_key key;
    bool ascending;
    uint32_t limit;        // 1..1000
    struct fk_str cursor;  // of the page before, or ""
    bool has_min, has_max; // of the value
    int64_t min_value, max_value;
    int64_t min_duration_ns, max_duration_ns; // 0: none
    int has_time;                             // 0: any, 1: with times inside, -1: without
};
struct fk_page_of_entries {
    struct fk_entry *entry; // with totals of matching samples only
    size_t n;
    struct fk_str next, prev; // cursors; empty: there is none
};
// FK_E_INVALID (param cursor) for a cursor of another query.
int fk_query_list(struct fk_query *q, const struct fk_list_spec *l, struct fk_page_of_entries *ret,
                  struct fk_err *err);
// The nearest entry of each series to a moment.
int fk_query_nearest(struct fk_query *q, int64_t at_ns, struct fk_page_of_entries *ret,
                     struct fk_err *err);

// ---- one profile ----

struct fk_profile_facts {
    struct fk_entry entry;
    struct fk_profile profile;   // whole
    struct fk_id previous, next; // of its series by time; zero: there is none
};
// The first id of the source. FK_E_NOTFOUND.
int fk_query_get(struct fk_query *q, bool neighbours, struct fk_profile_facts *ret,
                 struct fk_err *err);

// ---- merges ----

// By function: the weights of the wanted type go into one column of a tree.
int fk_query_tree(struct fk_query *q, struct fk_tree *into, uint32_t column, struct fk_err *err);
// By location: a profile again. With one id and no type: that very profile. Else: values of equal
// stacks added, attributes dropped; types: the wanted one, or all that occur.
int fk_query_profile(struct fk_query *q, struct fk_profile *ret, struct fk_err *err);

// ---- aggregates over entries ----

// avg: mean over the snapshots of each series, summed over the series of a group. mean: over all
// profiles of the group alike.
enum fk_aggregation { FK_AGG_AUTO, FK_AGG_SUM, FK_AGG_RATE, FK_AGG_AVG, FK_AGG_MEAN };
enum fk_exemplars { FK_EXEMPLARS_NONE, FK_EXEMPLARS_PROFILES, FK_EXEMPLARS_SPANS };

// The heaviest profile, or span within a profile, of a place in a graph.
struct fk_exemplar {
    int64_t time_ns, value;
    struct fk_id id;                 // of the profile
    struct fk_str span_id, trace_id; // of a span; trace_id may be empty
    struct fk_labels labels;         // of its series, without those that are grouped by
};
struct fk_series_spec {
    int64_t step_ns; // 0: chosen so that there are about 200 points
    const struct fk_str *group_by;
    size_t n_group_by;
    enum fk_aggregation aggregation; // auto: by kind (instant: mean, else sum)
    size_t limit;                    // groups, the largest; 0: all
    bool on_grid; // points at grid_ns, grid_ns + step ... <= grid_end_ns, each of (point - step,
                  // point]
    int64_t grid_ns, grid_end_ns;
    enum fk_exemplars exemplars;
};
struct fk_point {
    int64_t time_ms;
    double value;
    const struct fk_exemplar *exemplar; // NULL: none
};
struct fk_group {
    struct fk_labels labels;
    struct fk_point *point;
    size_t n;
    double total;
};
struct fk_series {
    struct fk_group *group; // largest first
    size_t n, all;
    int64_t step_ns;
    enum fk_aggregation aggregation; // which it took
};
int fk_query_series(struct fk_query *q, const struct fk_series_spec *s, struct fk_series *ret,
                    struct fk_err *err);

struct fk_heatmap_spec {
    uint32_t x_buckets, y_buckets; // 0: 120 and 40
    int64_t step_ns;               // instead of x_buckets; 0: none
};
struct fk_heat_cell {
    uint32_t x, y;
    uint64_t n;
};
struct fk_heatmap {
    int64_t x_start_ns, x_step_ns;
    double y_min, y_step;
    struct fk_heat_cell *cell; // sparse, by x then y
    size_t n;
    uint64_t max;
};
int fk_query_heatmap(struct fk_query *q, const struct fk_heatmap_spec *s, struct fk_heatmap *ret,
                     struct fk_err *err);

// Values of profiles, or of spans within them, counted in cells of a time grid and of equal-width
// value buckets over all groups.
#define FK_SLOT_BUCKETS 20
struct fk_slots_spec {
    int64_t start_ns, end_ns, step_ns; // cells (start + (k - 1) * step, start + k * step]
    const struct fk_str *group_by;
    size_t n_group_by;
    size_t limit; // groups, those with most points; 0: all
    bool spans, exemplars;
};
struct fk_slot {
    int64_t time_ms; // right edge
    uint32_t count[FK_SLOT_BUCKETS];
    struct fk_exemplar *exemplar; // of each cell that is not empty
    size_t n_exemplars;
};
struct fk_slot_group {
    struct fk_labels labels;
    struct fk_slot *slot; // ascending
    size_t n;
    uint64_t points;
};
struct fk_slots {
    double y_min[FK_SLOT_BUCKETS]; // lower edges
    struct fk_slot_group *group;   // most points first
    size_t n;
};
int fk_query_slots(struct fk_query *q, const struct fk_slots_spec *s, struct fk_slots *ret,
                   struct fk_err *err);

// What a query would look at, from the profile tables alone.
struct fk_extent {
    uint64_t series, profiles, samples, sample_bytes, blocks;
};
int fk_query_extent(struct fk_query *q, struct fk_extent *ret, struct fk_err *err);

// ---- time within profiles ----

struct fk_timeline_spec {
    int64_t begin_ns, end_ns; // the window; INT64_MIN, INT64_MAX: all there is
    uint32_t width;           // columns; 0: 1000
    uint32_t max_lanes;       // those with most samples; 0: 50
};
struct fk_span {
    uint32_t begin, end; // columns, begin < end
    uint32_t depth;      // 0: outermost
    uint32_t name;       // into the timeline's names
};
struct fk_lane {
    struct fk_str thread; // as the sample's attribute has it; "" when there is none
    struct fk_labels labels;
    uint64_t samples;
    struct fk_span *span; // by begin, then depth
    size_t n;
    size_t first_; // private
};
struct fk_timeline {
    int64_t begin_ns, end_ns, step_ns; // of a column
    uint32_t width;
    int64_t period_ns; // between two samples of a busy thread
    bool period_known; // the source says so; else it is the usual distance
    uint64_t samples;  // in the window
    struct fk_lane *lane;
    size_t n, all; // lanes given, lanes there are
    struct fk_str *name;
    uint32_t n_names;
};
// Spans are made of samples: within a column the usual path counts, and a gap longer than one and a
// half periods splits. FK_E_INVALID (param id): no profile of the source has times inside.
int fk_query_timeline(struct fk_query *q, const struct fk_timeline_spec *s, struct fk_timeline *ret,
                      struct fk_err *err);
// Samples over second (x) and offset within the second (y, 50 rows of 20 ms; y_min and y_step in
// nanoseconds).
int fk_query_subsecond(struct fk_query *q, const struct fk_timeline_spec *s, struct fk_heatmap *ret,
                       struct fk_err *err);

// ---- names ----

struct fk_counted {
    struct fk_str text;
    uint64_t values, profiles; // values: of a label name
};
struct fk_counted_list {
    struct fk_counted *v;
    size_t n;
    bool truncated;
};
// Label names of the series, and sample attributes beside them; values of one of either. By name.
int fk_query_label_names(struct fk_query *q, struct fk_str prefix, size_t limit,
                         struct fk_counted_list *ret, struct fk_err *err);
int fk_query_label_values(struct fk_query *q, struct fk_str name, struct fk_str prefix,
                          size_t limit, struct fk_counted_list *ret, struct fk_err *err);

// Distinct sets of labels and of the names that stand for a sample type (__profile_type__,
// __type__, __unit__, __period_type__, __period_unit__), one for each type of a series; of these
// names only, or whole (n_names 0). Sorted; a set may be empty.
int fk_query_typed_sets(struct fk_query *q, const struct fk_str *names, size_t n_names,
                        struct fk_labels **ret, size_t *ret_n, struct fk_err *err);

struct fk_type_row {
    struct fk_type_facts facts;
    uint64_t services, profiles;
};
int fk_query_types(struct fk_query *q, struct fk_type_row **ret, size_t *ret_n, struct fk_err *err);
struct fk_service_row {
    struct fk_str service;
    struct fk_str *type; // ids
    size_t n_types;
    uint64_t profiles;
    int64_t last_seen_ns;
};
int fk_query_services(struct fk_query *q, struct fk_service_row **ret, size_t *ret_n,
                      struct fk_err *err);
// Distinct label sets of the series that match.
int fk_query_label_sets(struct fk_query *q, size_t limit, struct fk_labels **ret, size_t *ret_n,
                        struct fk_err *err);

#endif
