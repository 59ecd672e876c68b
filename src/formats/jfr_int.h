// SPDX-License-Identifier: Apache-2.0
// The JFR decoder's own structures. One chunk of a recording describes itself: its types (struct
// jfr_type), its constants (struct jfr_pool) and its events; all that dies with the chunk. What
// stays is in struct jfr_rows: symbols in one dictionary, and one table of rows a family.
//
// Sources: JFR 1.0 to 2.1: JEP 328 and the writers of OpenJDK (jdk.jfr.internal.MetadataDescriptor,
// jfrCheckpointWriter.cpp) and async-profiler (flightRecorder.cpp); there is no specification.
// JFR 0.9 (JDK 7, 8, JRockit): as JDK Mission Control reads it (parser/v0).
#ifndef FK_JFR_INT_H
#define FK_JFR_INT_H

#include "formats/formats_int.h"

// ---- what a chunk says of its types ----

enum jfr_kind {
    JFR_STRUCT,
    JFR_BOOL,
    JFR_I8,
    JFR_U8,
    JFR_I16,
    JFR_U16,
    JFR_I32,
    JFR_U32,
    JFR_I64,
    JFR_F32,
    JFR_F64,
    JFR_TEXT,  // a byte for the encoding, then the characters (1.0 and later)
    JFR_UTF8,  // u16 length, bytes (0.9)
    JFR_UTF16, // i32 number of units, big-endian (0.9)
};

// The fields that somebody asks for, whatever type they stand in.
enum jfr_slot {
    JFR_NO_SLOT,
    JFR_START_TIME,
    JFR_END_TIME,
    JFR_DURATION,
    JFR_STACK_TRACE,
    JFR_THREAD,
    JFR_STATE,
    JFR_CLASS, // of the object, monitor or parked blocker; of a method (0.9)
    JFR_TYPE,  // of a method: its class; of a frame: how it was run
    JFR_TLAB_SIZE,
    JFR_ALLOCATION_SIZE,
    JFR_WEIGHT,
    JFR_SIZE,
    JFR_SAMPLES,
    JFR_PERIOD, // samplingPeriod
    JFR_LOST,
    JFR_CONTEXT,
    JFR_SPAN_ID,
    JFR_SPAN_NAME,
    JFR_TRACE_HIGH,
    JFR_TRACE_LOW,
    JFR_ID,
    JFR_NAME,
    JFR_VALUE,
    JFR_FRAMES,
    JFR_TRUNCATED,
    JFR_METHOD,
    JFR_LINE,
    JFR_STRING,
    JFR_JAVA_NAME,
    JFR_OS_NAME,
    JFR_OS_ID,
    JFR_JAVA_ID,
    JFR_SLOTS
};

enum jfr_unit { JFR_PLAIN, JFR_TICKS, JFR_NANOS, JFR_MICROS, JFR_MILLIS, JFR_SECONDS };

struct jfr_type;
struct jfr_field {
    struct fk_str name;
    uint64_t type;             // id of its type
    const struct jfr_type *of; // NULL: not described
    uint8_t kind;              // enum jfr_kind of the value (of the key when it is a reference)
    uint8_t slot;              // enum jfr_slot
    uint8_t unit;              // enum jfr_unit
    bool reference;            // the value is the key of a constant of type `of`
    bool array;
};

// What a constant is asked for. It follows from the field that names it: a recording may name one
// constant by fields of different kinds, and what it is to one is nothing to the other.
enum jfr_use { JFR_AS_TEXT, JFR_AS_FUNCTION, JFR_AS_STACK, JFR_AS_THREAD, JFR_USES };

// Constants of one type: where each lies, and what it was resolved to, once for each use.
struct jfr_constant {
    uint64_t key;
    const uint8_t *at;
    uint8_t done, failed;    // bits 1 << enum jfr_use
    bool cut, recorder_cut;  // of a stack
    uint32_t memo[JFR_USES]; // a string, a function, a stack, a thread's name
    uint32_t thread_id;      // as a string
};

struct jfr_pool {
    struct jfr_constant *v; // arena of the chunk
    size_t n, cap;
    struct fk_map index; // by key
};

struct jfr_type {
    uint64_t id;
    struct fk_str name, super;
    uint8_t kind;      // enum jfr_kind
    uint8_t key_kind;  // of the keys of its constants
    uint8_t event;     // enum jfr_event; JFR_OTHER: none that is read
    bool is_string;    // java.lang.String
    uint32_t n_packed; // fields when all are packed integers: skipped without looking; else 0
    struct jfr_field *field;
    uint32_t n_fields, fields_cap;
    struct jfr_pool pool;
    // The type of the same name in the chunk before, + 1; 0: not looked for; FK_NONE: there is
    // none.
    uint32_t twin;
};

// Events that are read.
enum jfr_event {
    JFR_OTHER,
    JFR_EXECUTION_SAMPLE,
    JFR_NATIVE_SAMPLE,
    JFR_WALL_SAMPLE,
    JFR_CPU_TIME_SAMPLE,
    JFR_ALLOC_IN_TLAB,
    JFR_ALLOC_OUTSIDE_TLAB,
    JFR_ALLOC_SAMPLE,
    JFR_LIVE_OBJECT,
    JFR_MALLOC,
    JFR_MONITOR_ENTER,
    JFR_THREAD_PARK,
    JFR_ACTIVE_SETTING,
    JFR_LOST_SAMPLES,
    JFR_DATA_LOSS,
};

// ---- a chunk being read ----

enum jfr_period { JFR_PERIOD_EXECUTION, JFR_PERIOD_NATIVE, JFR_PERIOD_WALL, JFR_PERIODS };
enum jfr_key {
    JFR_KEY_THREAD,
    JFR_KEY_THREAD_ID,
    JFR_KEY_STATE,
    JFR_KEY_CLASS,
    JFR_KEY_PROFILE_ID,
    JFR_KEY_SPAN_NAME,
    JFR_KEY_TRACE_ID,
    JFR_KEYS
};

// How a recording was made. async-profiler says it in its first chunk only.
struct jfr_settings {
    bool any;
    struct fk_str mode;          // async-profiler's `event`, "" none; arena of the decode
    int64_t period[JFR_PERIODS]; // ns, 0 unknown
};

#define JFR_DEPTH 32 // types within types; elements within elements of the metadata

// A frame's location in the dictionary: most frames of a stack stand in its neighbours too.
#define JFR_NEAR 2048u
struct jfr_near {
    uint64_t method, line; // as in the chunk
    uint32_t location;     // + 1; 0: free
};

struct jfr_rows;
struct jfr_labels;
struct jfr_chunk {
    const struct fk_decoding *d;
    struct jfr_rows *rows;
    const struct jfr_labels *labels;
    struct fk_arena *arena;   // dies with the chunk
    struct jfr_chunk *before; // of the same rows; NULL: none
    const uint8_t *begin, *end;
    const uint8_t *first_event;
    uint64_t metadata_at, checkpoint_at; // offsets in the chunk
    bool packed;                         // integers are LEB128 of at most nine bytes
    bool old;                            // 0.9
    int64_t start_ns, duration_ns;
    uint64_t start_ticks, ticks_per_second;
    uint64_t fuel; // steps left: bounds types that are nested without taking bytes, and bytes that
                   // are read again for each event

    struct jfr_type *type; // constants and values; of 1.0 and later the events too
    uint32_t n_types, types_cap;
    struct fk_map type_index;
    struct jfr_type *event; // 0.9: events have ids of their own
    uint32_t n_events, events_cap;
    struct fk_map event_index;

    struct jfr_near *near; // JFR_NEAR places of frames looked up last
    struct jfr_settings set;
    bool sleeps; // some execution sample is of a sleeping thread: wall clock samples are among them
    uint32_t sleeping, runnable; // string ids of these states, once seen
    uint32_t key[JFR_KEYS];      // string ids of attribute names
    // What was dropped: events that could not be read, whose type is not described; samples that
    // the recorder lost.
    uint64_t broken, alien, lost;
};

// ---- jfr_read.c: values ----

// An object of which the slots in `has` were read: integers and keys in n, the place of anything
// else in at.
struct jfr_object {
    uint64_t has; // bits 1 << enum jfr_slot
    struct {
        const struct jfr_field *field;
        uint64_t n;
        const uint8_t *at;
    } v[JFR_SLOTS];
};

static inline bool jfr_has(const struct jfr_object *o, enum jfr_slot s)
{
    return o->has >> s & 1;
}

// The integer of a slot, 0 when it is absent or no integer.
static inline uint64_t jfr_number(const struct jfr_object *o, enum jfr_slot s)
{
    return jfr_has(o, s) ? o->v[s].n : 0;
}

int jfr_u64(const struct jfr_chunk *k, struct fk_cur *c, uint64_t *ret);
int jfr_u32(const struct jfr_chunk *k, struct fk_cur *c, uint64_t *ret);
int jfr_integer(const struct jfr_chunk *k, enum jfr_kind kind, struct fk_cur *c, uint64_t *ret);
int jfr_skip(struct jfr_chunk *k, const struct jfr_field *f, struct fk_cur *c, uint32_t depth);
// Takes fuel for n steps; -FK_E_FORMAT when there is not so much.
int jfr_spend(struct jfr_chunk *k, uint64_t n);
// Reads the fields of a type, all; -FK_E_FORMAT when they do not fit.
int jfr_object(struct jfr_chunk *k, const struct jfr_type *t, struct fk_cur *c,
               struct jfr_object *ret);
// The text at a place; UTF-16 and Latin-1 are made UTF-8 in the chunk's arena. *ret_key: it stands
// in the pool of strings under this key, else 0. A null string is "".
int jfr_text(struct jfr_chunk *k, enum jfr_kind kind, struct fk_cur *c, struct fk_str *ret,
             uint64_t *ret_key);

// ---- jfr_meta.c, jfr_old.c: types ----

// The type of this id, or NULL. Valid until the next jfr_add_type.
struct jfr_type *jfr_find_type(const struct jfr_chunk *k, uint64_t id);
struct jfr_type *jfr_find_event(const struct jfr_chunk *k, uint64_t id);
// *ret is a new type, or the one that has this id, emptied. -FK_E_NOMEM.
int jfr_add_type(struct jfr_chunk *k, uint64_t id, struct jfr_type **ret);
struct jfr_field *jfr_add_field(struct jfr_chunk *k, struct jfr_type *t); // NULL: no memory
enum jfr_slot jfr_slot_of(struct fk_str field);
// Once all types are there: fields find theirs.
void jfr_link_types(struct jfr_chunk *k);
int jfr_read_metadata(struct jfr_chunk *k, struct fk_err *err);
int jfr_read_old_metadata(struct jfr_chunk *k, struct fk_err *err);

// ---- jfr_pool.c: constants ----

int jfr_read_constants(struct jfr_chunk *k, struct fk_err *err);
void jfr_free_pools(struct jfr_chunk *k);
// String id in the dictionary of the rows of a slot's text, wherever it stands. 0: none.
int jfr_text_of(struct jfr_chunk *k, const struct jfr_object *o, enum jfr_slot s, uint32_t *ret);
int jfr_stack_of(struct jfr_chunk *k, const struct jfr_object *o, uint32_t *ret);
// Name, and the thread's number as text; 0 where unknown.
int jfr_thread_of(struct jfr_chunk *k, const struct jfr_object *o, uint32_t *ret_name,
                  uint32_t *ret_id);
// As Java writes it: java.lang.String[]
int jfr_class_of(struct jfr_chunk *k, const struct jfr_object *o, uint32_t *ret);

// ---- jfr_names.c ----

// A class's or a library's name without the number that this run of the program gave it.
void jfr_put_stable_name(struct fk_buf *b, struct fk_str name);

// ---- jfr_labels.c: Pyroscope's LabelsSnapshot ----

struct jfr_pair {
    int64_t key, value; // of strings
};
struct jfr_context {
    int64_t id;
    uint32_t begin, end; // of pairs
};
struct jfr_labels {
    struct jfr_context *context;
    struct jfr_pair *pair;
    struct jfr_string {
        int64_t id;
        struct fk_str text;
    } * string;
    size_t n_contexts, contexts_cap, n_pairs, pairs_cap, n_strings, strings_cap;
};
// bytes: compressed or not, empty: none. Arena memory of the decode; borrows the bytes.
int jfr_read_labels(const struct fk_decoding *d, struct fk_str bytes, struct jfr_labels *ret,
                    struct fk_err *err);
const struct jfr_context *jfr_find_context(const struct jfr_labels *l, int64_t id);
struct fk_str jfr_find_string(const struct jfr_labels *l, int64_t id); // "": none

// ---- jfr_rows.c: what comes out ----

enum jfr_family {
    JFR_CPU,
    JFR_WALL,
    JFR_CPU_TIME,
    JFR_NATIVE,
    JFR_IN_TLAB,
    JFR_OUTSIDE_TLAB,
    JFR_ALLOCATION,
    JFR_LIVE,
    JFR_NATIVE_MEMORY,
    JFR_MUTEX,
    JFR_BLOCK,
    JFR_FAMILIES
};

struct jfr_sample {
    uint32_t stack, set; // of the dictionary
    uint32_t count;      // samples, objects, contentions
    int64_t amount;      // ns or bytes in all, JFR_UNKNOWN
    int64_t time_ns;     // or FK_NO_TIME
};
#define JFR_UNKNOWN INT64_MIN

struct jfr_rows *jfr_rows_new(const struct fk_decoding *d); // NULL: no memory
void jfr_rows_free(struct jfr_rows *r);
struct fk_dict *jfr_rows_dict(struct jfr_rows *r);
int jfr_rows_add(struct jfr_rows *r, enum jfr_family f, const struct jfr_sample *s,
                 struct fk_err *err);
// What is said of the whole recording.
void jfr_rows_span(struct jfr_rows *r, int64_t start_ns, int64_t duration_ns);
void jfr_rows_mode(struct jfr_rows *r, struct fk_str mode); // borrowed
void jfr_rows_period(struct jfr_rows *r, enum jfr_family f, int64_t period_ns);
void jfr_rows_truncated(struct jfr_rows *r, bool by_recorder);
// So much that it should be given away before more is read.
bool jfr_rows_are_many(const struct jfr_rows *r);
// Gives the families that have rows, in their order; an empty one when none has. The profiles live
// in the arena.
int jfr_rows_deliver(struct jfr_rows *r, struct fk_arena *arena, struct fk_err *err);

// ---- jfr_settings.c, jfr_events.c ----

typedef int jfr_event_fn(struct jfr_chunk *k, const struct jfr_type *t, struct fk_cur c,
                         struct fk_err *err);
// Calls fn with the fields of each event of a described type. An event that does not fit ends the
// walk.
int jfr_each_event(struct jfr_chunk *k, jfr_event_fn *fn, struct fk_err *err);
// How the recording was made: mode and periods.
int jfr_read_settings(struct jfr_chunk *k, struct fk_err *err);
int jfr_read_samples(struct jfr_chunk *k, struct fk_err *err);
int jfr_nomem(const struct jfr_chunk *k, struct fk_err *err);

#endif
