// SPDX-License-Identifier: Apache-2.0
// State of decoding one pprof, shared by pprof.c (top level), pprof_tables.c (symbols) and
// pprof_rows.c (samples).
#ifndef FK_PPROF_INT_H
#define FK_PPROF_INT_H

#include "formats/formats_int.h"

// Field numbers of profile.proto (github.com/google/pprof, proto/profile.proto).
enum {
    PPROF_SAMPLE_TYPE = 1,
    PPROF_SAMPLE = 2,
    PPROF_MAPPING = 3,
    PPROF_LOCATION = 4,
    PPROF_FUNCTION = 5,
    PPROF_STRING = 6,
    PPROF_DROP_FRAMES = 7,
    PPROF_KEEP_FRAMES = 8,
    PPROF_TIME = 9,
    PPROF_DURATION = 10,
    PPROF_PERIOD_TYPE = 11,
    PPROF_PERIOD = 12,
    PPROF_COMMENT = 13,
    PPROF_DEFAULT_TYPE = 14,
    PPROF_DOC_URL = 15,
    PPROF_FIELDS = 16,
};

// From the ids of a file to positions in a column: a plain array while ids are dense, else sorted
// pairs (no hash: the ids are the sender's choice). Of equal ids the last one wins.
struct pprof_id {
    uint64_t id;
    uint32_t at;
};
struct pprof_ids {
    uint32_t *dense; // FK_NONE: no such id
    uint64_t n_dense;
    uint64_t *id; // of each position
    uint32_t n;
    struct pprof_id *sorted; // only when not dense
};

struct rows;

// Where the fields of one number lie.
struct pprof_range {
    const uint8_t *begin, *end; // from the first key to behind the last
    uint64_t n, bytes;          // fields, and bytes within them
};

struct pprof {
    const struct fk_decoding *d;
    const uint8_t *whole;
    struct pprof_range range[PPROF_FIELDS];
    uint64_t number[PPROF_FIELDS]; // values of the scalar fields

    struct fk_str *string;
    struct fk_function *function;
    struct fk_mapping *mapping;
    struct fk_placement *placement;
    struct fk_location *location;
    struct fk_line *line;
    uint32_t n_strings, n_functions, n_mappings, n_locations, n_lines;
    size_t lines_cap;
    struct pprof_ids functions, mappings, locations;
    uint64_t bad_strings, missing_functions, missing_mappings, duplicates;

    struct fk_value_type *type;
    uint32_t n_types;

    struct rows *rows; // of pprof_rows.c, while samples are read
    struct fk_profile out;
};

static inline int pprof_broken(const struct pprof *d, const uint8_t *at, struct fk_err *err)
{
    struct fk_cur c = {at, at};
    return fk_pb_fail(&c, d->whole, "the pprof profile", err);
}

static inline int pprof_nomem(const struct pprof *d, struct fk_err *err)
{
    return fk_decoding_nomem(d->d, err);
}

int pprof_skip_field(const uint8_t **p, const uint8_t *end, uint64_t max_varint);

// Reads a message of varints: v[number] for numbers up to `max`, at most 15 (v is cleared first);
// other fields are skipped.
static inline int pprof_numbers(struct fk_cur c, uint32_t max, uint64_t *v)
{
    const uint8_t *p = c.p;
    for (uint32_t i = 0; i <= max; i++)
        v[i] = 0;
    while (p < c.end) {
        uint32_t key = *p;
        uint64_t value;
        if (FK_UNLIKELY((key & 0x87) != 0 || key < 8 || key >> 3 > max)) {
            if (pprof_skip_field(&p, c.end, max))
                return -FK_E_FORMAT;
            continue;
        }
        p = fk_varint_at(p + 1, c.end, &value);
        if (FK_UNLIKELY(!p))
            return -FK_E_FORMAT;
        v[key >> 3] = value;
    }
    return 0;
}

// Fields mostly come in the order of their numbers. When the field at *p is the varint whose key is
// `key`, reads it and moves on; else leaves *v alone. NULL in *p: broken.
static inline void pprof_expect(const uint8_t **p, const uint8_t *end, uint8_t key, uint64_t *v)
{
    if (*p && *p < end && **p == key)
        *p = fk_varint_at(*p + 1, end, v);
}

// A string id of the file; what is out of range counts and becomes "".
static inline uint32_t pprof_string(struct pprof *d, uint64_t id)
{
    if (FK_LIKELY(id < d->n_strings))
        return (uint32_t)id;
    d->bad_strings += id != 0;
    return 0;
}

static inline struct fk_str pprof_text(struct pprof *d, uint64_t id)
{
    return d->string[pprof_string(d, id)];
}

uint32_t pprof_ids_sparse(const struct pprof_ids *t, uint64_t id);
static inline uint32_t pprof_ids_find(const struct pprof_ids *t, uint64_t id)
{
    if (FK_LIKELY(id < t->n_dense))
        return t->dense[id];
    return t->sorted ? pprof_ids_sparse(t, id) : FK_NONE;
}

// Calls `one` for each field `number` of the top level, with the message's bytes.
typedef int pprof_visit(struct pprof *d, struct fk_cur body, struct fk_err *err);
int pprof_each(struct pprof *d, uint32_t number, pprof_visit *one, struct fk_err *err);

int pprof_read_tables(struct pprof *d, struct fk_err *err);
int pprof_read_rows(struct pprof *d, struct fk_err *err);

#endif
