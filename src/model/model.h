// SPDX-License-Identifier: Apache-2.0
// The profile in columns: what every decoder makes, every encoder reads, and the store keeps. Pure
// functions, no I/O. (The room's second header, model/tree.h, has function trees: merge by name,
// diff, truncate, top.)
//
// Ids are u32 indexes into columns. String id 0 is "". FK_NONE stands for "none" (a location
// without mapping, a line whose function the file does not have). A structure that is handed out
// frozen may hold equal entries under different ids (a decoder copies tables as they are); only
// struct fk_dict promises that equal content has one id.
#ifndef FK_MODEL_MODEL_H
#define FK_MODEL_MODEL_H

#include "base/base.h"

// ---- words ----

// What a value means over time (architecture.md §7 "Kind").
enum fk_kind {
    FK_KIND_UNKNOWN = 0,
    FK_KIND_CUMULATIVE = 1, // a counter since the process began
    FK_KIND_DELTA = 2,      // what happened during the profile's duration
    FK_KIND_INSTANT = 3,    // a gauge: what is there at the moment
};
const char *fk_kind_name(enum fk_kind k); // "cumulative", "delta", "instant", "unknown"
// From the names of type and unit; `has_duration`: the profile says how long it ran; `is_delta`:
// the client said __delta__=false (nothing left to subtract), or the source is known to give
// deltas.
enum fk_kind fk_kind_of(struct fk_str type, bool has_duration, bool is_delta);

// ---- labels ----

struct fk_label {
    struct fk_str name, value;
};

// Sorted by name (byte order), names unique. Borrows its memory.
struct fk_labels {
    struct fk_label *v;
    size_t n;
};

// Sorts a copy of in[] in the arena (strings are not copied); of equal names the last one given
// wins; labels with an empty value are left out (an absent label and an empty one are the same, as
// in Prometheus).
int fk_labels_make(struct fk_arena *a, const struct fk_label *in, size_t n, struct fk_labels *ret,
                   struct fk_err *err);
// The value, or an empty view with .p NULL when the name is absent.
struct fk_str fk_labels_get(const struct fk_labels *l, struct fk_str name);
// Deep copy into the arena.
int fk_labels_copy(struct fk_arena *a, const struct fk_labels *l, struct fk_labels *ret,
                   struct fk_err *err);
bool fk_labels_eq(const struct fk_labels *a, const struct fk_labels *b);
uint64_t fk_labels_hash(const struct fk_labels *l);
// Canonical bytes (varint lengths) and back: the form in files, catalog rows and hashes.
void fk_labels_put(struct fk_buf *b, const struct fk_labels *l);
int fk_labels_read(struct fk_arena *a, struct fk_str bytes, struct fk_labels *ret,
                   struct fk_err *err); // borrows bytes

// ---- symbols ----

struct fk_function {
    uint32_t name, system_name, file; // string ids
    int64_t start_line;
};

// What a mapping is; where it was loaded is in struct fk_placement, so that address randomisation
// does not make every restart of a program a new set of locations.
struct fk_mapping {
    uint32_t file, build_id; // string ids
    uint32_t ordinal;        // 0, 1, ... among mappings of one profile equal in the other three
    uint64_t offset;         // of the mapped part in the file
};

struct fk_line {
    uint32_t function; // or FK_NONE
    int64_t line, column;
};

enum { FK_LOCATION_FOLDED = 1 }; // pprof's is_folded

struct fk_location {
    uint32_t mapping;                // or FK_NONE
    uint32_t flags;                  // FK_LOCATION_*
    uint32_t line_begin, line_count; // into the line column; line 0 is the innermost inlined call
    uint64_t address; // relative to the mapping's file: address - start + offset, modulo 2^64
};

// One attribute of a sample (a pprof label): a string when str is not 0, else a number with a unit.
struct fk_attr {
    uint32_t key;  // string id
    uint32_t str;  // string id, 0: numeric
    uint32_t unit; // string id
    int64_t num;
};

// Where a mapping lay in one profile; the order is the profile's (the first is the main binary).
enum {
    FK_PLACEMENT_HAS_FUNCTIONS = 1,
    FK_PLACEMENT_HAS_FILENAMES = 2,
    FK_PLACEMENT_HAS_LINES = 4,
    FK_PLACEMENT_HAS_INLINES = 8,
};
struct fk_placement {
    uint32_t mapping;
    uint32_t flags; // FK_PLACEMENT_*
    uint64_t start, limit;
};

// Columns of symbols, stacks and attribute sets: plain pointers and lengths, borrowed. Stacks lie
// flat: the frames of stack s are frame[stack_begin[s] .. stack_begin[s+1]), location ids, leaf
// first. Attributes of set s likewise, sorted by (key, str, num, unit); set 0 is the empty set.
struct fk_symbols {
    uint32_t n_strings, n_functions, n_mappings, n_lines, n_locations, n_stacks, n_sets;
    const struct fk_str *string;
    const struct fk_function *function;
    const struct fk_mapping *mapping;
    const struct fk_line *line;
    const struct fk_location *location;
    const uint32_t *stack_begin; // n_stacks + 1
    const uint32_t *frame;
    const uint32_t *set_begin; // n_sets + 1
    const struct fk_attr *attr;
};

static inline struct fk_str fk_symbols_string(const struct fk_symbols *s, uint32_t id)
{
    return id < s->n_strings ? s->string[id] : (struct fk_str){NULL, 0};
}

// ---- profile ----

struct fk_value_type {
    struct fk_str type, unit; // as in the file; may be empty
    enum fk_kind kind;
};

#define FK_NO_TIME INT64_MIN

// One profile, frozen. Rows are samples as uploaded (never merged, order not meaningful). Row r has
// the observations obs_begin[r] .. obs_begin[r+1) (exactly observation r when obs_begin is NULL);
// values and times are per observation. All memory belongs to the arena it was made in, and strings
// may point into the decoded bytes: both must outlive it.
struct fk_profile {
    struct fk_symbols sym;
    const struct fk_placement
        *placement; // one for each mapping of the profile, in the file's order
    uint32_t n_placements;

    const struct fk_value_type *type;
    uint32_t n_types;

    uint64_t n_rows, n_obs;
    const uint32_t *stack;       // per row
    const uint32_t *set;         // per row; NULL: all 0
    const uint64_t *obs_begin;   // n_rows + 1, or NULL
    const int64_t *const *value; // [n_types][n_obs]
    const int64_t
        *time_ns; // per observation, Unix, FK_NO_TIME where unknown; NULL: no times inside

    // Facts of the file.
    int64_t time_ns_start; // start as the file says, 0: unknown
    int64_t duration_ns;   // 0: unknown
    int64_t period;        // 0: none
    struct fk_str period_type,
        period_unit; // of the period; has_period_type tells an empty one from none
    bool has_period_type;
    struct fk_str default_type, drop_frames, keep_frames, doc_url;
    const struct fk_str *comment;
    uint32_t n_comments;
    struct fk_str time_key, time_unit; // the attribute that carried time_ns in a pprof, to write it
                                       // back; "" if none did
    bool truncated;                    // some stacks were cut at the depth limit
};

// Sum of one value column, modulo 2^64.
int64_t fk_profile_total(const struct fk_profile *p, uint32_t type);
// Checks that all ids are within their columns; encoders and the store rely on it. FK_E_FORMAT
// names the first fault.
int fk_profile_validate(const struct fk_profile *p, struct fk_err *err);

// The name of the profile from its sample types (api.md "Name of the profile"): "process_cpu",
// "memory", ...; borrowed from the types or static.
struct fk_str fk_profile_name(const struct fk_profile *p);

// "name:type:unit:period_type:period_unit"; empty type and unit read "unknown" and "count".
void fk_type_id_put(struct fk_buf *b, struct fk_str name, struct fk_str type, struct fk_str unit,
                    struct fk_str period_type, struct fk_str period_unit);
struct fk_type_id {
    struct fk_str name, type, unit, period_type, period_unit;
};
// Five parts, split from the right, so that a ':' may stand in the name. Borrows s. FK_E_INVALID.
int fk_type_id_parse(struct fk_str s, struct fk_type_id *ret, struct fk_err *err);

// ---- entry ----

struct fk_entry_type {
    struct fk_str type, unit;
    enum fk_kind kind;
    int64_t total;
};

enum {
    FK_ENTRY_HAS_TIME = 1,     // observations carry times
    FK_ENTRY_TRUNCATED = 2,    // stacks were cut
    FK_ENTRY_TIME_ARRIVAL = 4, // the source gave no time: it is the time of arrival
    FK_ENTRY_PINNED = 8,
};

// A profile as it stands in a list: everything but its samples. Borrows its memory (from whom, the
// giver says).
struct fk_entry {
    struct fk_id id;
    int64_t time_ns, duration_ns, received_ns;
    struct fk_labels labels;      // of the series, with __name__
    struct fk_labels annotations; // client_id, user_agent, ...: returned, not indexed
    struct fk_str period_type, period_unit;
    const struct fk_entry_type *type;
    uint32_t n_types;
    uint32_t flags;   // FK_ENTRY_*
    uint64_t samples; // rows of pprof and OTLP, events elsewhere
    uint64_t size;    // stored bytes
};

// ---- building ----

// A dictionary: the columns of struct fk_symbols, growing, each content once. Owns everything. One
// writer at a time. With keep_old, arrays that grew stay alive until fk_dict_free, so that a view
// taken earlier remains readable while the writer goes on (publish views under a lock or with
// release/acquire; entries below a view's lengths never change).
struct fk_dict;
struct fk_dict *fk_dict_new(bool keep_old); // NULL: no memory
void fk_dict_free(struct fk_dict *d);
size_t fk_dict_bytes(const struct fk_dict *d); // memory held
// Makes room for the stacks of a source that is large beside what is there. -FK_E_NOMEM.
int fk_dict_expect(struct fk_dict *d, const struct fk_symbols *from);
void fk_dict_view(const struct fk_dict *d, struct fk_symbols *ret);
// Each gives the id of equal content or adds it; bytes are copied. -FK_E_NOMEM leaves the
// dictionary consistent.
int fk_dict_string(struct fk_dict *d, struct fk_str s, uint32_t *ret);
int fk_dict_function(struct fk_dict *d, const struct fk_function *f, uint32_t *ret);
int fk_dict_mapping(struct fk_dict *d, const struct fk_mapping *m, uint32_t *ret);
// line_begin of *loc is ignored; lines[loc->line_count] are its lines.
int fk_dict_location(struct fk_dict *d, const struct fk_location *loc, const struct fk_line *lines,
                     uint32_t *ret);
// The same for up to FK_DICT_BATCH at once: a large dictionary misses the caches at every step, and
// here these misses overlap. line_begin of loc[i] says where in lines[] its lines are. After
// -FK_E_NOMEM some of them may have been added.
#define FK_DICT_BATCH 16
int fk_dict_strings(struct fk_dict *d, const struct fk_str *s, uint32_t n, uint32_t *ret);
int fk_dict_functions(struct fk_dict *d, const struct fk_function *f, uint32_t n, uint32_t *ret);
int fk_dict_locations(struct fk_dict *d, const struct fk_location *loc, const struct fk_line *lines,
                      uint32_t n, uint32_t *ret);
int fk_dict_stack(struct fk_dict *d, const uint32_t *frames, uint32_t n, uint32_t *ret);
// attrs need not be sorted (they are sorted in place); n = 0 gives set 0.
int fk_dict_set(struct fk_dict *d, struct fk_attr *attrs, uint32_t n, uint32_t *ret);

// Ids of one source's symbols in a dictionary, filled as they are asked for; scratch memory kept
// between uses.
struct fk_remap;
struct fk_remap *fk_remap_new(void);
void fk_remap_free(struct fk_remap *r);
// Starts on a new source (both must stay alive until the next start).
int fk_remap_start(struct fk_remap *r, struct fk_dict *to, const struct fk_symbols *from);
int fk_remap_string(struct fk_remap *r, uint32_t from, uint32_t *ret);
int fk_remap_mapping(struct fk_remap *r, uint32_t from, uint32_t *ret);
int fk_remap_location(struct fk_remap *r, uint32_t from, uint32_t *ret);
int fk_remap_stack(struct fk_remap *r, uint32_t from, uint32_t *ret);
int fk_remap_set(struct fk_remap *r, uint32_t from, uint32_t *ret);
// fk_remap_stack for the stacks of n rows at once, which is faster. After -FK_E_NOMEM start anew.
int fk_remap_stacks(struct fk_remap *r, const uint32_t *from, uint64_t n, uint32_t *ret);

// Makes a profile row by row. Symbols through fk_builder_dict(). Not for several threads.
struct fk_builder;
// max_rows: more rows are refused with FK_E_LIMIT (flag: the limit's flag, for the message).
struct fk_builder *fk_builder_new(struct fk_arena *a, uint64_t max_rows, const char *flag);
void fk_builder_free(struct fk_builder *b); // also after finish; the profile stays (it owns the
                                            // columns through the arena)
struct fk_dict *fk_builder_dict(struct fk_builder *b);
int fk_builder_type(struct fk_builder *b, struct fk_str type, struct fk_str unit,
                    enum fk_kind kind);
int fk_builder_mapping(struct fk_builder *b, const struct fk_placement *p);
// One row: values[n_types] for each of n observations (values[obs * n_types + type]), times_ns[n]
// or NULL; n >= 1. Types must all have been declared.
int fk_builder_sample(struct fk_builder *b, uint32_t stack, uint32_t set, const int64_t *values,
                      const int64_t *times_ns, size_t n, struct fk_err *err);
// Adds to the (first) row of this stack and set if there is one, else makes it; without times only.
int fk_builder_add(struct fk_builder *b, uint32_t stack, uint32_t set, const int64_t *values,
                   struct fk_err *err);
// The frozen profile; facts (times, period ...) are set by the caller afterwards in *ret. Its
// columns are copied to the arena, its strings too.
int fk_builder_finish(struct fk_builder *b, struct fk_profile *ret, struct fk_err *err);

#endif
