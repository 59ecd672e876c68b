// SPDX-License-Identifier: Apache-2.0
// OpenTelemetry profiles, shared by the files otlp*.c: what the revisions of the format call which
// number, reading a message by what its fields mean, and the request in tables.
//
// Source: opentelemetry-proto, opentelemetry/proto/profiles/v1development (v1experimental before
// 1.4) and collector/profiles, tags v1.3 to v1.10. Field numbers changed from one to the next
// under the same address, so which one a request speaks is found out from all of it (otlp_check.c).
#ifndef FK_OTLP_INT_H
#define FK_OTLP_INT_H

#include "formats/formats_int.h"

enum otlp_layout {
    OTLP_1_3, // v1experimental: tables in the profile, profile in a container
    OTLP_1_5, // 1.4, 1.5: tables in the profile
    OTLP_1_6, // tables in the request
    OTLP_1_7, // tables in request.dictionary
    OTLP_1_8, // a table of stacks, one sample type, values per timestamp
    OTLP_1_9,
    OTLP_1_10,    // and later
    OTLP_MEANING, // no revision: numbers are the ids below; what JSON is turned into
    OTLP_LAYOUTS
};

enum otlp_message {
    OTLP_REQUEST,
    OTLP_RESOURCE_PROFILES,
    OTLP_SCOPE_PROFILES,
    OTLP_CONTAINER, // 1.3 only
    OTLP_PROFILE,
    OTLP_DICTIONARY,
    OTLP_SAMPLE,
    OTLP_VALUE_TYPE,
    OTLP_MAPPING,
    OTLP_LOCATION,
    OTLP_LINE,
    OTLP_FUNCTION,
    OTLP_LINK,
    OTLP_STACK,
    OTLP_ATTRIBUTE, // of the table: with a unit since 1.8
    OTLP_UNIT,      // of attributes by key, before 1.8
    OTLP_LABEL,     // 1.3 only, as pprof's
    OTLP_RESOURCE,
    OTLP_SCOPE,
    OTLP_KEY_VALUE,
    OTLP_ANY,
    OTLP_ARRAY,
    OTLP_KV_LIST,
    OTLP_MESSAGES
};

// What a field means, the same in every revision; below 32.
enum {
    OTLP_REQ_RESOURCE = 1,
    OTLP_REQ_DICTIONARY,

    OTLP_RP_RESOURCE = 1,
    OTLP_RP_SCOPE,
    OTLP_SP_SCOPE = 1,
    OTLP_SP_PROFILE,

    // in a profile, and in 1.3's container around it
    OTLP_P_TYPE = 1,
    OTLP_P_SAMPLE,
    OTLP_P_TIME,
    OTLP_P_DURATION,
    OTLP_P_PERIOD_TYPE,
    OTLP_P_PERIOD,
    OTLP_P_COMMENT,
    OTLP_P_DEFAULT_TYPE,  // string
    OTLP_P_DEFAULT_INDEX, // of the sample types
    OTLP_P_ID,
    OTLP_P_PAYLOAD,
    OTLP_P_ATTRIBUTE, // index
    OTLP_P_DROP,
    OTLP_P_KEEP,
    OTLP_P_KEY_VALUE,
    OTLP_P_WRAPPED, // the profile in a container
    OTLP_P_START,
    OTLP_P_END,
    // tables: in the profile, the request, or its dictionary
    OTLP_T_MAPPING = 20,
    OTLP_T_LOCATION,
    OTLP_T_FUNCTION,
    OTLP_T_LINK,
    OTLP_T_STRING,
    OTLP_T_ATTRIBUTE,
    OTLP_T_STACK,
    OTLP_T_UNIT,
    OTLP_T_INDEX, // locations of all stacks, one behind the other

    OTLP_S_STACK = 1,
    OTLP_S_START, // of the stack, in OTLP_T_INDEX
    OTLP_S_LENGTH,
    OTLP_S_LOCATION,
    OTLP_S_VALUE,
    OTLP_S_ATTRIBUTE,
    OTLP_S_LINK,
    OTLP_S_TIME,
    OTLP_S_LABEL,

    OTLP_VT_TYPE = 1,
    OTLP_VT_UNIT,

    OTLP_M_START = 1,
    OTLP_M_LIMIT,
    OTLP_M_OFFSET,
    OTLP_M_FILE,
    OTLP_M_ATTRIBUTE,
    OTLP_M_BUILD_ID,
    OTLP_M_FUNCTIONS,
    OTLP_M_FILENAMES,
    OTLP_M_LINES,
    OTLP_M_INLINES,

    OTLP_L_MAPPING = 1,
    OTLP_L_ADDRESS,
    OTLP_L_LINE,
    OTLP_L_FOLDED,
    OTLP_L_ATTRIBUTE,

    OTLP_LINE_FUNCTION = 1,
    OTLP_LINE_LINE,
    OTLP_LINE_COLUMN,

    OTLP_F_NAME = 1,
    OTLP_F_SYSTEM,
    OTLP_F_FILE,
    OTLP_F_LINE,

    OTLP_LINK_TRACE = 1,
    OTLP_LINK_SPAN,

    OTLP_STACK_LOCATION = 1,

    // of KeyValue, of the attribute table and of units
    OTLP_KV_KEY = 1,
    OTLP_KV_KEY_INDEX,
    OTLP_KV_VALUE,
    OTLP_KV_UNIT,

    OTLP_LABEL_KEY = 1,
    OTLP_LABEL_STR,
    OTLP_LABEL_NUM,
    OTLP_LABEL_UNIT,

    OTLP_ATTRS = 1, // of a resource and of a scope

    OTLP_ANY_STRING = 1,
    OTLP_ANY_BOOL,
    OTLP_ANY_INT,
    OTLP_ANY_DOUBLE,
    OTLP_ANY_ARRAY,
    OTLP_ANY_KV_LIST,
    OTLP_ANY_BYTES,
    OTLP_ANY_STRING_INDEX,
    OTLP_VALUES = 1, // of an array and of a list of pairs

    OTLP_UNUSED = 31, // known, and not wanted
};

enum otlp_kind {
    OTLP_INT,     // varint
    OTLP_INTS,    // repeated, packed or not
    OTLP_FIXED,   // 8 bytes
    OTLP_FIXEDS,  // repeated, packed or not
    OTLP_TEXT,    // string
    OTLP_TEXTS,   // repeated
    OTLP_BYTES,   // base64 in JSON
    OTLP_TRACE,   // bytes: base64 or hexadecimal in JSON
    OTLP_DOUBLE,  // 8 bytes
    OTLP_MESSAGE, // one
    OTLP_MESSAGE_LIST,
};

// A field of a message; number[layout], 0: the revision does not have it.
struct otlp_row {
    uint8_t message, id, kind, sub; // sub: enum otlp_message of MESSAGE and MESSAGE_LIST
    uint8_t number[OTLP_LAYOUTS];
    const char *name; // in JSON, lower case without '_'; several with '|'
};

// row[message][number]: index into otlp_rows + 1, 0: none.
struct otlp_map {
    enum otlp_layout layout;
    uint8_t row[OTLP_MESSAGES][32];
};
extern const struct otlp_row otlp_rows[];
extern const size_t otlp_rows_n;
void otlp_map_make(enum otlp_layout layout, struct otlp_map *ret);
const char *otlp_layout_name(enum otlp_layout l);   // "1.10"
const char *otlp_message_name(enum otlp_message m); // "Sample"

// Why bytes are not what a revision says.
struct otlp_fault {
    char text[160];
};
int otlp_fail(struct otlp_fault *f, const char *fmt, ...) FK_PRINTF(2, 3); // -FK_E_FORMAT

struct otlp_reader {
    struct fk_cur c;
    const struct otlp_map *map;
    enum otlp_message message;
    uint32_t seen; // ids of scalars that were there
};
struct otlp_field {
    uint8_t id, kind, sub;
    uint32_t number;
    uint64_t v;      // INT, FIXED, DOUBLE
    struct fk_cur b; // bytes of TEXT, BYTES, MESSAGE; of INTS and FIXEDS all that this field has
};
static inline struct otlp_reader otlp_read(const struct otlp_map *map, enum otlp_message message,
                                           struct fk_cur c)
{
    return (struct otlp_reader){c, map, message, 0};
}
// 1: a field that the revision has; 0: the end; -FK_E_FORMAT: not this message. Unknown fields are
// passed over in 1.10, and in what all signals share; else they are a fault.
int otlp_next(struct otlp_reader *r, struct otlp_field *f, struct otlp_fault *fault);
static inline struct fk_str otlp_str(const struct otlp_field *f)
{
    return fk_str_make(f->b.p, (size_t)(f->b.end - f->b.p));
}
// The next number of INTS or FIXEDS: false at the end. The field was found sound by otlp_next.
bool otlp_number(struct otlp_field *f, uint64_t *ret);

// ---- tables (otlp_tables.c): entries by position; ids of strings are checked
struct otlp_mapping {
    uint64_t start, limit, offset;
    uint32_t file, build_id; // strings; build_id FK_NONE: build_text
    struct fk_str build_text;
    uint32_t flags; // FK_PLACEMENT_*
    bool has_flags; // they were said, else they follow from the locations
};
struct otlp_location {
    uint64_t address;
    uint32_t mapping, line_begin, line_count; // mapping FK_NONE: none
    bool folded;
};
struct otlp_attribute {
    struct fk_str key;
    struct fk_cur value; // AnyValue
    struct fk_str unit;
};
struct otlp_link {
    struct fk_str trace, span;
};
struct otlp_tables {
    struct fk_str *string;
    struct otlp_mapping *mapping;
    struct otlp_location *location;
    struct fk_line *line;
    struct fk_function *function;
    struct otlp_link *link;
    struct otlp_attribute *attribute;
    uint32_t *stack_begin, *frame; // n_stacks + 1
    uint32_t *index;
    size_t n_strings, n_mappings, n_locations, n_lines, n_functions, n_links, n_attributes,
        n_stacks, n_frames, n_indices, n_units;
    uint64_t location_attributes, odd_ids; // how many, for the report
};

struct otlp_request {
    const struct fk_decoding *d;
    struct fk_cur bytes;
    struct otlp_map map;
    bool per_time;              // from 1.8: values are per timestamp, not per type
    struct otlp_tables *shared; // of the request; NULL: in each profile
};
// Reads the tables among the fields of a message. -FK_E_NOMEM, or -FK_E_FORMAT with the fault.
int otlp_tables_read(const struct otlp_request *q, enum otlp_message message, struct fk_cur c,
                     struct otlp_tables *ret, struct otlp_fault *fault);
// Those that a profile uses: its own, or those of the request with its own list of locations.
int otlp_tables_of_profile(const struct otlp_request *q, struct fk_cur c, struct otlp_tables *ret,
                           struct otlp_fault *fault);
// Those of the request (its own, or its dictionary's).
int otlp_tables_shared(struct otlp_request *q, struct otlp_fault *fault);

// ---- profiles and samples (otlp_profile.c)
struct otlp_place { // where a profile stands
    struct fk_cur resource, scope, profile;
};
// Calls one() for each profile; stops at a negative result.
typedef int otlp_visit(void *arg, const struct otlp_place *at);
int otlp_each_profile(const struct otlp_request *q, otlp_visit *one, void *arg);

struct otlp_type {
    struct fk_str type, unit;
};
struct otlp_profile {
    struct fk_cur body; // of the profile itself
    struct otlp_tables t;
    struct otlp_type *type;
    uint32_t n_types;
    struct otlp_type period_type;
    int64_t time, duration, period;
    struct fk_str default_type, drop, keep, doc_url;
    struct fk_str *comment;
    uint32_t n_comments;
    uint32_t *attribute; // of the profile, positions in the table
    uint32_t n_attributes;
    struct fk_cur container; // around it, p NULL: none
    uint64_t n_samples;
    bool has_attributes; // of the container or the profile itself, written out
    bool payload;        // it carries another format's bytes
    bool odd_id;         // its id has not 16 bytes
};
int otlp_profile_read(const struct otlp_request *q, struct fk_cur c, struct otlp_profile *ret,
                      struct otlp_fault *fault);

// One sample, and room for its numbers, kept from one to the next.
struct otlp_numbers {
    uint64_t *v;
    size_t n, cap;
};
struct otlp_sample {
    uint64_t stack, start, length, link;
    bool has_link;
    struct otlp_numbers location, value, attribute, time;
    struct fk_cur label; // 1.3: the sample again, when it has labels
};
int otlp_sample_read(const struct otlp_request *q, struct fk_cur c, struct otlp_sample *s,
                     struct otlp_fault *fault);
// Calls for each sample of the profile.
typedef int otlp_visit_sample(void *arg, struct fk_cur sample);
int otlp_each_sample(const struct otlp_request *q, const struct otlp_profile *p,
                     otlp_visit_sample *one, void *arg);

// ---- which revision (otlp_check.c): sets map, per_time and shared
int otlp_choose(struct otlp_request *q, struct fk_err *err);

// ---- attributes (otlp_attr.c)
struct otlp_value {
    bool is_number;
    int64_t number;
    struct fk_str text; // of any value; "" none
};
int otlp_value_read(const struct otlp_request *q, const struct otlp_tables *t, struct fk_cur any,
                    struct otlp_value *ret);
// The texts of an array, or of one text: calls one() for each.
int otlp_value_each(const struct otlp_request *q, const struct otlp_tables *t, struct fk_cur any,
                    int (*one)(void *arg, struct fk_str text), void *arg);
struct otlp_pair {
    struct fk_str key;
    struct otlp_value value;
};
// Attributes of a resource or scope, sorted into labels and sample attributes; what is there
// already stays as it is.
struct otlp_origin {
    struct fk_label *label;
    size_t n_labels, labels_cap;
    struct otlp_pair *attr;
    size_t n_attrs, attrs_cap;
    struct fk_str service, executable; // "" none
};
int otlp_origin_add(const struct otlp_request *q, const struct otlp_tables *t, struct fk_cur pairs,
                    enum otlp_message message, unsigned id, struct otlp_origin *o);

// ---- symbols (otlp_symbols.c): entries of the tables in the dictionary of the entry being built,
// each looked up once
enum { OTLP_MEMO_FUNCTION, OTLP_MEMO_MAPPING, OTLP_MEMO_LOCATION, OTLP_MEMO_STACK, OTLP_MEMOS };
struct otlp_symbols {
    const struct otlp_request *q;
    const struct otlp_tables *t;
    struct fk_builder *builder;
    struct fk_dict *dict;
    uint32_t epoch;                                 // of the entry
    uint32_t *stamp[OTLP_MEMOS], *memo[OTLP_MEMOS]; // memo[i] holds when stamp[i] is the epoch
    uint32_t *attr_stamp;
    struct fk_attr *attr; // key 0: not kept
    uint32_t *flags;      // FK_PLACEMENT_* of the mappings
    bool has_service;     // some attribute is a service.name
    struct fk_map ordinals;
    FK_VEC(struct fk_mapping) placed; // ordinal: the next one of these
    uint32_t *frame;                  // scratch
    size_t frames_cap;
    struct fk_line *line;
    size_t lines_cap;
    uint64_t cut; // stacks
};
int otlp_symbols_make(struct otlp_symbols *s, const struct otlp_request *q,
                      const struct otlp_tables *t);
void otlp_symbols_begin(struct otlp_symbols *s, struct fk_builder *b);
void otlp_symbols_free(struct otlp_symbols *s); // what is not in the arena
int otlp_symbols_stack(struct otlp_symbols *s, const struct otlp_sample *sample, uint32_t *ret);
// A whole number without a unit names something (a thread, a processor) and becomes text, by which
// one selects and groups; with a unit it stays a number ("1", UCUM's word for none, gives none).
// Of the table; ret->key 0: an attribute without key or value, or service.name.
int otlp_symbols_attr(struct otlp_symbols *s, uint64_t index, struct fk_attr *ret);
int otlp_symbols_pair(struct otlp_symbols *s, struct fk_str key, const struct otlp_value *value,
                      struct fk_str unit, struct fk_attr *ret);

// ---- rows (otlp_rows.c)
#define OTLP_ENTRIES 65536u // of one request
struct otlp_making;
struct otlp_building {
    const struct otlp_request *q;
    struct otlp_making *rows;
    struct otlp_symbols symbols; // t NULL: not made yet; kept while the tables are the request's
    uint64_t entries;
    uint64_t no_value, unequal, unsplit, cut, beyond; // for the report
};
// Builds and delivers the entries of one profile.
int otlp_deliver(struct otlp_building *x, const struct otlp_profile *p, const struct otlp_origin *o,
                 struct fk_err *err);

// ---- JSON (otlp_json.c): the request as a message of OTLP_MEANING, in the arena
int otlp_from_json(const struct fk_decoding *d, struct fk_str json, struct fk_cur *ret,
                   bool *ret_per_time, struct fk_err *err);

#endif
