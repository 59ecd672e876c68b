// SPDX-License-Identifier: Apache-2.0
// pprof: samples into rows. No hashing: equal neighbours share a stack or an attribute set, all
// else is the store's to intern. Rows that cannot be kept are dropped and counted.
#include "formats/pprof_int.h"

#include <stdlib.h>

// Labels whose number is the Unix time of the observation in nanoseconds.
static const struct fk_str time_keys[] = {{"end_timestamp_ns", 16}, {"timestamp_ns", 12}};

#define STOP 1 // ends the walk over samples early

struct rows {
    struct pprof *d;
    uint32_t *stack, *set;
    int64_t **value;
    int64_t *time_ns;
    uint64_t n, cap;

    uint32_t *stack_begin, *frame;
    uint32_t n_stacks;
    size_t n_frames, frames_cap;

    uint32_t *set_begin;
    struct fk_attr *attr;
    uint32_t n_sets;
    size_t n_attrs, attrs_cap, sets_cap;

    uint32_t n_types;
    uint64_t n_values; // how many the row being read had
    uint64_t missing;  // locations it has that are not there

    bool take_time;       // decode time labels
    bool unclear;         // they are not consistent: read again without
    bool keys_known;      // time_key was looked for
    uint32_t time_key;    // string id or FK_NONE
    uint32_t time_unit;   // string id once has_time
    bool has_time, timed; // any row; the row being read
    int64_t time;

    uint64_t dropped_values, dropped_locations, cut;
    bool too_many; // frames or attributes beyond 2^32
};

// ---- stacks
// --------------------------------------------------------------------------------------------------------

static int need_frames(struct rows *r, size_t more)
{
    if (FK_LIKELY(more <= r->frames_cap - r->n_frames))
        return 0;
    uint32_t *p = fk_arena_grow(r->d->d->arena, r->frame, r->n_frames, &r->frames_cap,
                                r->n_frames + more, sizeof(*r->frame));
    if (!p)
        return -FK_E_NOMEM;
    r->frame = p;
    return 0;
}

static inline void add_frame(struct rows *r, uint64_t id)
{
    uint32_t at = pprof_ids_find(&r->d->locations, id);
    r->frame[r->n_frames] = at;
    r->n_frames += at != FK_NONE;
    r->missing += at == FK_NONE;
}

// A varint has at least one byte: room for so many frames is enough. A frame that is not there is
// put as FK_NONE: its row is dropped in the end.
static int add_frames(struct rows *r, struct fk_cur c)
{
    if (need_frames(r, fk_cur_left(&c) + 1))
        return -FK_E_NOMEM;
    const uint32_t *dense = r->d->locations.dense;
    const uint64_t n_dense = r->d->locations.n_dense;
    uint32_t *begin = r->frame + r->n_frames, *to = begin;
    uint64_t missing = 0;
    for (const uint8_t *p = c.p; p < c.end;) {
        uint64_t id;
        p = fk_varint_at(p, c.end, &id);
        if (FK_UNLIKELY(!p))
            return -FK_E_FORMAT;
        uint32_t at = FK_LIKELY(id < n_dense) ? dense[id] : pprof_ids_find(&r->d->locations, id);
        *to++ = at;
        missing += at == FK_NONE;
    }
    r->missing += missing;
    r->n_frames += (size_t)(to - begin);
    return 0;
}

// The frames from `begin` become the row's stack, unless they are those of the row before.
static uint32_t close_stack(struct rows *r, size_t begin)
{
    size_t n = r->n_frames - begin, depth = r->d->d->opts->limits->stack_depth;
    if (FK_UNLIKELY(n > depth)) {
        r->n_frames = begin + (n = depth);
        r->cut++;
    }
    if (r->n_stacks) {
        size_t last = r->stack_begin[r->n_stacks - 1];
        if (begin - last == n &&
            memcmp(r->frame + last, r->frame + begin, n * sizeof(uint32_t)) == 0) {
            r->n_frames = begin;
            return r->n_stacks - 1;
        }
    }
    r->too_many |= r->n_frames > UINT32_MAX;
    r->stack_begin[r->n_stacks + 1] = (uint32_t)r->n_frames;
    return r->n_stacks++;
}

// ---- attributes
// ----------------------------------------------------------------------------------------------------

static void find_time_key(struct rows *r)
{
    r->keys_known = true;
    r->time_key = FK_NONE;
    for (size_t k = 0; k < FK_COUNTOF(time_keys) && r->time_key == FK_NONE; k++)
        for (uint32_t i = 1; i < r->d->n_strings && r->time_key == FK_NONE; i++)
            if (fk_str_eq(r->d->string[i], time_keys[k]))
                r->time_key = i;
}

// True when the label is the row's time; *unclear when it should be but cannot.
static bool take_time(struct rows *r, const struct fk_attr *a)
{
    if (!r->keys_known)
        find_time_key(r);
    if (r->time_key == FK_NONE || a->key != r->time_key)
        return false;
    bool same_unit = !r->has_time || fk_str_eq(r->d->string[a->unit], r->d->string[r->time_unit]);
    if (a->str || r->timed || a->num == FK_NO_TIME || !same_unit)
        r->unclear = true;
    r->time_unit = a->unit;
    r->has_time = r->timed = true;
    r->time = a->num;
    return true;
}

static int add_attr(struct rows *r, struct fk_cur c, struct fk_err *err)
{
    uint64_t v[5];
    struct pprof *d = r->d;
    if (pprof_numbers(c, 4, v))
        return pprof_broken(d, c.p, err);
    struct fk_attr a = {pprof_string(d, v[1]), pprof_string(d, v[2]), pprof_string(d, v[4]),
                        (int64_t)v[3]};
    if (a.str) { // pprof's own tools ignore a number beside a string
        a.num = 0;
        a.unit = 0;
    }
    if (r->take_time && take_time(r, &a))
        return 0;
    if (r->n_attrs == r->attrs_cap) {
        r->attr = fk_arena_grow(d->d->arena, r->attr, r->n_attrs, &r->attrs_cap, r->n_attrs + 1,
                                sizeof(a));
        if (!r->attr)
            return pprof_nomem(d, err);
    }
    r->attr[r->n_attrs++] = a;
    return 0;
}

static int attr_cmp(const void *x, const void *y)
{
    const struct fk_attr *a = x, *b = y;
    if (a->key != b->key)
        return a->key < b->key ? -1 : 1;
    if (a->str != b->str)
        return a->str < b->str ? -1 : 1;
    if (a->num != b->num)
        return a->num < b->num ? -1 : 1;
    return a->unit < b->unit ? -1 : a->unit > b->unit;
}

static bool same_attrs(const struct fk_attr *a, const struct fk_attr *b, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (attr_cmp(a + i, b + i))
            return false;
    return true;
}

static int start_sets(struct rows *r)
{
    struct fk_arena *a = r->d->d->arena;
    r->set = fk_arena_array(a, r->cap, sizeof(*r->set));
    if (!r->set)
        return -FK_E_NOMEM;
    memset(r->set, 0, r->n * sizeof(*r->set)); // rows before had none
    return 0;
}

// The attributes from `begin` become the row's set; equal to the row before: shared.
static int close_set(struct rows *r, size_t begin)
{
    size_t n = r->n_attrs - begin;
    if (n == 0) {
        if (r->set)
            r->set[r->n] = 0;
        return 0;
    }
    if (!r->set && start_sets(r))
        return -FK_E_NOMEM;
    if (n > 1)
        qsort(r->attr + begin, n, sizeof(*r->attr), attr_cmp);
    size_t last = r->set_begin[r->n_sets - 1];
    if (r->n_sets > 1 && begin - last == n && same_attrs(r->attr + last, r->attr + begin, n)) {
        r->n_attrs = begin;
        r->set[r->n] = r->n_sets - 1;
        return 0;
    }
    uint32_t *sets = fk_arena_grow(r->d->d->arena, r->set_begin, (size_t)r->n_sets + 1,
                                   &r->sets_cap, (size_t)r->n_sets + 2, sizeof(*sets));
    if (!sets)
        return -FK_E_NOMEM;
    r->set_begin = sets;
    r->too_many |= r->n_attrs > UINT32_MAX;
    r->set[r->n] = r->n_sets++;
    r->set_begin[r->n_sets] = (uint32_t)r->n_attrs;
    return 0;
}

// ---- rows
// ----------------------------------------------------------------------------------------------------------

// Straight into the columns, at the place of the row being read (there is one more than rows).
static inline void add_value(struct rows *r, uint64_t v)
{
    uint64_t k = r->n_values++;
    if (FK_LIKELY(k < r->n_types))
        r->value[k][r->n] = (int64_t)v;
}

static int add_values(struct rows *r, struct fk_cur c)
{
    while (c.p < c.end) {
        uint64_t v;
        if (fk_cur_varint(&c, &v))
            return -FK_E_FORMAT;
        add_value(r, v);
    }
    return 0;
}

static int add_body(struct rows *r, uint32_t number, struct fk_cur b, struct fk_err *err)
{
    int rc = 0;
    if (number == 1)
        rc = add_frames(r, b);
    else if (number == 2)
        rc = add_values(r, b);
    else
        return add_attr(r, b, err);
    if (FK_LIKELY(!rc))
        return 0;
    return rc == -FK_E_NOMEM ? pprof_nomem(r->d, err) : pprof_broken(r->d, b.p, err);
}

// A field that is not one of the usual: location ids that are not packed, unknown ones.
static int read_other(struct rows *r, struct fk_cur *c, struct fk_err *err)
{
    const uint8_t *at = c->p;
    struct fk_pb_field f;
    if (fk_pb_next(c, &f) != 1)
        return pprof_broken(r->d, at, err);
    if (f.number > 3)
        return 0;
    if (f.wire == FK_WIRE_LEN)
        return add_body(r, f.number, f.b, err);
    if (f.wire != FK_WIRE_VARINT || f.number == 3)
        return pprof_broken(r->d, at, err);
    if (f.number == 2)
        add_value(r, f.v);
    else if (need_frames(r, 2))
        return pprof_nomem(r->d, err);
    else
        add_frame(r, f.v);
    return 0;
}

static int read_fields(struct rows *r, struct fk_cur c, struct fk_err *err)
{
    while (c.p < c.end) {
        uint32_t key = *c.p;
        uint64_t v;
        int rc = 0;
        if (key == (2 << 3 | FK_WIRE_VARINT)) {
            const uint8_t *next = fk_varint_at(c.p + 1, c.end, &v);
            if (FK_UNLIKELY(!next))
                return pprof_broken(r->d, c.p, err);
            c.p = next;
            add_value(r, v);
        } else if (FK_LIKELY((key & 0xe7) == FK_WIRE_LEN && key >= 8)) { // fields 1 to 3
            const uint8_t *body = fk_varint_at(c.p + 1, c.end, &v);
            if (FK_UNLIKELY(!body || v > (uint64_t)(c.end - body)))
                return pprof_broken(r->d, c.p, err);
            c.p = body + v;
            rc = add_body(r, key >> 3, (struct fk_cur){body, body + v}, err);
        } else {
            rc = read_other(r, &c, err);
        }
        if (FK_UNLIKELY(rc))
            return rc;
    }
    return 0;
}

// A row whose values or locations are not what the file says it has cannot be counted right.
static bool keep(struct rows *r)
{
    if (FK_LIKELY(r->n_values == r->n_types && !r->missing))
        return true;
    if (r->n_values != r->n_types)
        r->dropped_values++;
    else
        r->dropped_locations++;
    return false;
}

static int read_row(struct rows *r, struct fk_cur c, struct fk_err *err)
{
    size_t frames = r->n_frames, attrs = r->n_attrs;
    r->n_values = r->missing = 0;
    r->timed = false;
    int rc = read_fields(r, c, err);
    if (rc)
        return rc;
    if (!keep(r)) {
        r->n_frames = frames;
        r->n_attrs = attrs;
        return 0;
    }
    if (r->n == r->cap) // cannot be: a row kept has a byte for each value
        return pprof_broken(r->d, c.p, err);
    if (close_set(r, attrs))
        return pprof_nomem(r->d, err);
    r->stack[r->n] = close_stack(r, frames);
    if (r->take_time)
        r->time_ns[r->n] = r->timed ? r->time : FK_NO_TIME;
    r->n++;
    return 0;
}

static void start(struct rows *r, bool with_time)
{
    r->n = r->n_frames = r->n_attrs = 0;
    r->n_stacks = 0;
    r->n_sets = 1;
    r->stack_begin[0] = r->set_begin[0] = r->set_begin[1] = 0;
    r->set = NULL;
    r->take_time = with_time;
    r->has_time = r->unclear = false;
    r->dropped_values = r->dropped_locations = r->cut = 0;
}

static int alloc_rows(struct rows *r, struct fk_err *err)
{
    struct pprof *d = r->d;
    struct fk_arena *a = d->d->arena;
    const struct pprof_range *s = &d->range[PPROF_SAMPLE];
    r->cap = FK_MIN(s->n, s->bytes / d->n_types);
    r->frames_cap = s->bytes / 2 + 64;
    r->sets_cap = 64;
    r->stack = fk_arena_array(a, r->cap, sizeof(*r->stack));
    r->stack_begin = fk_arena_array(a, r->cap + 1, sizeof(*r->stack_begin));
    r->frame = fk_arena_array(a, r->frames_cap, sizeof(*r->frame));
    r->set_begin = fk_arena_array(a, r->sets_cap, sizeof(*r->set_begin));
    r->value = fk_arena_array(a, d->n_types, sizeof(*r->value));
    r->n_types = d->n_types;
    if (!r->stack || !r->stack_begin || !r->frame || !r->set_begin || !r->value)
        return pprof_nomem(d, err);
    for (uint32_t k = 0; k < d->n_types; k++)
        if (!(r->value[k] = fk_arena_array(a, r->cap + 1, sizeof(**r->value))))
            return pprof_nomem(d, err);
    return 0;
}

static int visit_sample(struct pprof *d, struct fk_cur c, struct fk_err *err)
{
    struct rows *r = d->rows;
    int rc = read_row(r, c, err);
    return FK_UNLIKELY(r->unclear || r->too_many) && !rc ? STOP : rc;
}

static int read_all(struct rows *r, bool with_time, struct fk_err *err)
{
    start(r, with_time);
    r->d->rows = r;
    int rc = pprof_each(r->d, PPROF_SAMPLE, visit_sample, err);
    r->d->rows = NULL;
    if (r->too_many)
        return fk_fail(err, FK_E_LIMIT, "the pprof profile has over 2^32 frames or labels");
    return rc == STOP ? 0 : rc;
}

static void report_rows(const struct rows *r)
{
    struct fk_report *to = r->d->d->report;
    fk_report_drop(to, "sample with too few or too many values", r->dropped_values,
                   "the profile has %u sample types", r->d->n_types);
    fk_report_drop(to, "sample of a missing location", r->dropped_locations,
                   "the file has %u locations", r->d->n_locations);
    fk_report_warn(to, "stack cut at the depth limit", r->cut, "%llu frames, set by %s",
                   (unsigned long long)r->d->d->opts->limits->stack_depth,
                   FK_LIMIT_FLAG(stack_depth));
}

static void put_rows(struct rows *r)
{
    struct fk_profile *p = &r->d->out;
    const int64_t *const *value = (const int64_t *const *)r->value;
    p->n_rows = p->n_obs = r->n;
    p->stack = r->stack;
    p->set = r->set;
    p->value = value;
    p->truncated = r->cut != 0;
    p->sym.n_stacks = r->n_stacks;
    p->sym.stack_begin = r->stack_begin;
    p->sym.frame = r->frame;
    p->sym.n_sets = r->n_sets;
    p->sym.set_begin = r->set_begin;
    p->sym.attr = r->attr;
    if (r->has_time) {
        p->time_ns = r->time_ns;
        p->time_key = r->d->string[r->time_key];
        p->time_unit = r->d->string[r->time_unit];
    }
}

// The time column exists only where some string is a time key.
static int read_timed(struct rows *r, struct fk_err *err)
{
    find_time_key(r);
    bool with_time = r->time_key != FK_NONE;
    if (with_time) {
        r->time_ns = fk_arena_array(r->d->d->arena, r->cap, sizeof(*r->time_ns));
        if (!r->time_ns)
            return pprof_nomem(r->d, err);
    }
    int rc = read_all(r, with_time, err);
    return !rc && r->unclear ? read_all(r, false, err) : rc;
}

int pprof_read_rows(struct pprof *d, struct fk_err *err)
{
    struct rows r = {.d = d};
    uint64_t n = d->range[PPROF_SAMPLE].n;
    if (n > d->d->opts->max_rows)
        return fk_fail_limit(err, "samples", d->d->opts->max_rows, d->d->opts->rows_flag,
                             "the pprof profile has %llu samples", (unsigned long long)n);
    int rc = alloc_rows(&r, err);
    if (!rc)
        rc = read_timed(&r, err);
    if (rc)
        return rc;
    report_rows(&r);
    put_rows(&r);
    return 0;
}
