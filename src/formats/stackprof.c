// SPDX-License-Identifier: Apache-2.0
// Ruby's stackprof as JSON (`stackprof --json`). "raw" has the samples: length, frames from the
// root, how often; "raw_timestamp_deltas" the microseconds before each. Without raw there are only
// sums by function, which are stored as stacks of one frame.
#include "formats/json_int.h"

struct ruby {
    const struct fk_decoding *d;
    struct fk_stacks s;
    FK_VEC(int64_t) id; // of frames
    FK_VEC(uint32_t) location;
    FK_VEC(int64_t) self;
    struct fk_map ids;
    struct fk_jwalk deltas;
    bool timed, objects;
    int64_t interval; // nanoseconds, or objects
    int64_t clock_us;
    uint64_t missing;
};

static uint32_t find_frame(const struct ruby *x, int64_t id)
{
    uint64_t h = fk_hash_u64((uint64_t)id);
    for (uint32_t at = fk_map_first(&x->ids, h); at != FK_NONE; at = fk_map_next(&x->ids, h, at))
        if (x->id.v[fk_map_id(&x->ids, at)] == id)
            return x->location.v[fk_map_id(&x->ids, at)];
    return FK_NONE;
}

static int read_frame(struct ruby *x, const struct fk_json_tok *key, const struct fk_jval *frame,
                      struct fk_err *err)
{
    static const char *const names[] = {"name", "file", "line", "samples"};
    struct fk_jval m[4];
    int64_t id = 0;
    uint32_t location = 0;
    int rc = fk_jval_pick(frame, names, 4, m, err);
    if (rc)
        return rc;
    if (fk_str_to_i64(key->text, &id))
        return fk_fail(err, FK_E_FORMAT, "stackprof: the id of a frame is no number");
    struct fk_named f = {.name = fk_jval_text(&m[0], &x->s),
                         .file = fk_jval_text(&m[1], &x->s),
                         .start_line = fk_jval_i64(&m[2], 0)};
    if (!f.name.n)
        f.name = FK_S("[unknown]");
    rc = fk_stacks_location(&x->s, &f, &location, err);
    if (rc)
        return rc;
    bool known = find_frame(x, id) != FK_NONE; // the first holds
    return (!known && fk_map_add(&x->ids, fk_hash_u64((uint64_t)id), (uint32_t)x->id.n)) ||
                   fk_vec_push(&x->id, id) || fk_vec_push(&x->location, location) ||
                   fk_vec_push(&x->self, fk_jval_i64(&m[3], 0))
               ? fk_decoding_nomem(x->d, err)
               : 0;
}

static int read_frames(struct ruby *x, const struct fk_jval *frames, struct fk_err *err)
{
    struct fk_jwalk w;
    struct fk_jval frame;
    struct fk_json_tok key = {0};
    int more, rc = 0;
    fk_jwalk_begin(&w, frames);
    while (w.object && (more = fk_jwalk_next(&w, &key, &frame, err)) != 0)
        if (more < 0 || (rc = read_frame(x, &key, &frame, err)))
            return more < 0 ? more : rc;
    return 0;
}

static int put_row(struct ruby *x, uint32_t stack, int64_t count, int64_t time, struct fk_err *err)
{
    int64_t values[2] = {count, (int64_t)((uint64_t)count * (uint64_t)x->interval)};
    if (x->objects)
        values[0] = values[1];
    return fk_stacks_row(&x->s, stack, 0, values, time, err);
}

// With times, each of the `count` is a row of its own.
static int put_sample(struct ruby *x, uint32_t stack, int64_t count, struct fk_err *err)
{
    struct fk_jval delta;
    int rc = 0;
    if (!x->timed)
        return put_row(x, stack, count, FK_NO_TIME, err);
    for (int64_t i = 0; !rc && i < count; i++) {
        int more = fk_jwalk_next(&x->deltas, NULL, &delta, err);
        if (more < 0)
            return more;
        if (more == 0) // there are fewer times than samples
            return put_row(x, stack, count - i, FK_NO_TIME, err);
        x->clock_us = fk_wrap_add(x->clock_us, fk_jval_i64(&delta, 0));
        rc = put_row(x, stack, 1, (int64_t)((uint64_t)x->clock_us * 1000), err);
    }
    return rc;
}

static int next_number(struct fk_jwalk *w, int64_t *ret, struct fk_err *err)
{
    struct fk_jval v;
    int more = fk_jwalk_next(w, NULL, &v, err);
    if (more == 1)
        *ret = fk_jval_i64(&v, 0);
    return more;
}

static int read_stack(struct ruby *x, struct fk_jwalk *w, int64_t n, uint32_t *ret,
                      struct fk_err *err)
{
    int64_t id = 0;
    x->s.scratch.n = 0;
    for (int64_t i = 0; i < n; i++) {
        int more = next_number(w, &id, err);
        if (more <= 0)
            return more < 0 ? more
                            : fk_fail(err, FK_E_FORMAT, "stackprof: raw ends within a stack");
        uint32_t location = find_frame(x, id);
        x->missing += location == FK_NONE;
        int rc = location == FK_NONE ? 0 : fk_stacks_push(&x->s, location, err);
        if (rc)
            return rc;
    }
    for (size_t i = 0, k = x->s.scratch.n; i + 1 < k; i++) { // leaf first
        uint32_t t = x->s.scratch.v[i];
        x->s.scratch.v[i] = x->s.scratch.v[--k];
        x->s.scratch.v[k] = t;
    }
    return fk_stacks_close(&x->s, ret, err);
}

static int read_raw(struct ruby *x, const struct fk_jval *raw, struct fk_err *err)
{
    struct fk_jwalk w;
    int64_t n = 0, count = 0;
    uint32_t stack = 0;
    int more;
    fk_jwalk_begin(&w, raw);
    while ((more = next_number(&w, &n, err)) == 1) {
        int rc = read_stack(x, &w, n, &stack, err);
        if (rc)
            return rc;
        if ((rc = next_number(&w, &count, err)) <= 0)
            return rc < 0 ? rc : fk_fail(err, FK_E_FORMAT, "stackprof: raw ends without a count");
        rc = put_sample(x, stack, count, err);
        if (rc)
            return rc;
    }
    return more;
}

static int put_sums(struct ruby *x, struct fk_err *err)
{
    uint32_t stack = 0;
    fk_report_warn(x->d->report, "there are no stacks, only sums by function", 1,
                   "record with raw: true");
    for (size_t i = 0; i < x->id.n; i++) {
        if (x->self.v[i] == 0)
            continue;
        int rc = fk_stacks_stack(&x->s, &x->location.v[i], 1, &stack, err);
        if (!rc)
            rc = put_row(x, stack, x->self.v[i], FK_NO_TIME, err);
        if (rc)
            return rc;
    }
    return 0;
}

// ---- the whole ----

static int put_types(struct ruby *x, struct fk_str mode, struct fk_err *err)
{
    bool cpu = fk_str_eq(mode, FK_S("cpu")), wall = fk_str_eq(mode, FK_S("wall"));
    x->objects = fk_str_eq(mode, FK_S("object"));
    int rc = fk_stacks_type(&x->s, x->objects ? FK_S("alloc_objects") : FK_S("samples"),
                            FK_S("count"), err);
    if (!cpu && !wall && !x->objects)
        x->interval = 0;
    if (cpu || wall)
        x->interval = (int64_t)((uint64_t)x->interval * 1000);
    return rc || (!cpu && !wall)
               ? rc
               : fk_stacks_type(&x->s, cpu ? FK_S("cpu") : FK_S("wall"), FK_S("nanoseconds"), err);
}

enum { MODE, INTERVAL, FRAMES, RAW, DELTAS, MISSED, MEMBERS };
static const char *const members[MEMBERS] = {
    "mode", "interval", "frames", "raw", "raw_timestamp_deltas", "missed_samples"};

static int read_document(struct ruby *x, struct fk_str bytes, struct fk_err *err)
{
    struct fk_jval document, m[MEMBERS];
    struct fk_profile p;
    int rc = fk_jval_document(bytes, &document, err);
    if (!rc)
        rc = fk_jval_pick(&document, members, MEMBERS, m, err);
    if (rc)
        return rc;
    if (!fk_jval_is(&m[FRAMES], FK_JSON_OBJECT) || !fk_jval_is(&m[MODE], FK_JSON_STRING))
        return fk_fail(err, FK_E_FORMAT, "stackprof: there is no 'mode' or no 'frames'");
    x->interval = fk_jval_i64(&m[INTERVAL], 0);
    rc = put_types(x, m[MODE].tok.text, err);
    if (!rc)
        rc = read_frames(x, &m[FRAMES], err);
    bool raw = fk_jval_is(&m[RAW], FK_JSON_ARRAY);
    x->timed = fk_jval_is(&m[DELTAS], FK_JSON_ARRAY) && !x->objects;
    fk_jwalk_begin(&x->deltas, &m[DELTAS]);
    if (!rc)
        rc = raw ? read_raw(x, &m[RAW], err) : put_sums(x, err);
    if (!rc)
        rc = fk_stacks_finish(&x->s, &p, err);
    if (rc)
        return rc;
    int64_t missed = fk_jval_i64(&m[MISSED], 0);
    fk_report_warn(x->d->report, "samples that stackprof missed", missed > 0 ? (uint64_t)missed : 0,
                   "the signal came too late");
    fk_report_drop(x->d->report, "frame that is not in the list of frames", x->missing, "in raw");
    if (x->interval && !x->objects)
        fk_profile_period(&p, fk_str_eq(m[MODE].tok.text, FK_S("cpu")) ? FK_S("cpu") : FK_S("wall"),
                          FK_S("nanoseconds"), x->interval);
    return fk_decoding_deliver(x->d, &p, err);
}

int fk_stackprof_decode(const struct fk_decoding *d, struct fk_str bytes, struct fk_err *err)
{
    struct ruby x = {.d = d};
    if (fk_str_starts(bytes, FK_S("\x04\x08")))
        return fk_fail(err, FK_E_UNSUPPORTED,
                       "this is stackprof's own dump in Ruby's marshal format; send the output of "
                       "`stackprof --json FILE`");
    int rc = fk_stacks_begin(&x.s, d, err);
    if (!rc)
        rc = read_document(&x, bytes, err);
    fk_stacks_end(&x.s);
    fk_vec_free(&x.id);
    fk_vec_free(&x.location);
    fk_vec_free(&x.self);
    fk_map_free(&x.ids);
    return rc;
}

bool fk_stackprof_looks(struct fk_str head, bool whole)
{
    return fk_str_starts(head, FK_S("\x04\x08{")) || fk_stackprof_json_looks(head, whole);
}
