// SPDX-License-Identifier: Apache-2.0
// speedscope's own files (https://www.speedscope.app/file-format-schema.json, 0.0.1 to 1.x): one
// profile each of "profiles". Sampled: a row a sample. Evented: a row for each time between two
// events that a stack was open. Where the unit is one of time, values are nanoseconds and rows have
// the time at which they begin; it counts from wherever startValue says.
#include "formats/json_int.h"

struct unit {
    const char *name, *type, *unit;
    double scale;
    bool time;
};

static const struct unit units[] = {
    {"nanoseconds", "wall", "nanoseconds", 1, true},
    {"microseconds", "wall", "nanoseconds", 1e3, true},
    {"milliseconds", "wall", "nanoseconds", 1e6, true},
    {"seconds", "wall", "nanoseconds", 1e9, true},
    {"bytes", "space", "bytes", 1, false},
    {"none", "samples", "count", 1, false},
};

struct scope {
    const struct fk_decoding *d;
    struct fk_jval frames;
    struct fk_stacks s;
    uint32_t *location; // per frame of the file, in the arena
    size_t n, cap;
    const struct unit *unit;
    uint64_t unmatched, back, missing, fractions;
};

// ---- frames ----

static int read_frames(struct scope *x, struct fk_err *err)
{
    static const char *const names[] = {"name", "file", "line", "col"};
    struct fk_jwalk w;
    struct fk_jval frame, m[4];
    int more;
    x->n = 0;
    fk_jwalk_begin(&w, &x->frames);
    while ((more = fk_jwalk_next(&w, NULL, &frame, err)) == 1) {
        int rc = fk_jval_pick(&frame, names, 4, m, err);
        if (rc)
            return rc;
        struct fk_named f = {.name = fk_jval_text(&m[0], &x->s),
                             .file = fk_jval_text(&m[1], &x->s),
                             .line = fk_jval_i64(&m[2], 0),
                             .column = fk_jval_i64(&m[3], 0)};
        if (!f.name.n)
            f.name = FK_S("[unknown]");
        x->location =
            fk_arena_grow(x->d->arena, x->location, x->n, &x->cap, x->n + 1, sizeof(*x->location));
        if (!x->location)
            return fk_decoding_nomem(x->d, err);
        rc = fk_stacks_location(&x->s, &f, &x->location[x->n++], err);
        if (rc)
            return rc;
    }
    return more;
}

static bool frame_of(struct scope *x, const struct fk_jval *v, uint32_t *ret)
{
    int64_t i = fk_jval_i64(v, -1);
    if (i < 0 || (uint64_t)i >= x->n) {
        x->missing++;
        return false;
    }
    *ret = x->location[i];
    return true;
}

static int64_t value_of(struct scope *x, const struct fk_jval *v)
{
    double d = fk_jval_f64(v, 0);
    int64_t i = fk_jval_scaled(v, x->unit->scale);
    x->fractions += x->unit->scale == 1 && d != (double)i;
    return i == FK_NO_TIME ? 0 : i;
}

static int put_row(struct scope *x, uint32_t stack, int64_t value, int64_t at, struct fk_err *err)
{
    return fk_stacks_row(&x->s, stack, 0, &value, x->unit->time ? at : FK_NO_TIME, err);
}

// ---- sampled ----

static void reverse(uint32_t *v, size_t n)
{
    for (size_t i = 0; i < n / 2; i++) {
        uint32_t t = v[i];
        v[i] = v[n - 1 - i];
        v[n - 1 - i] = t;
    }
}

// *ret_kept false: a frame that is not there.
static int read_stack(struct scope *x, const struct fk_jval *sample, uint32_t *ret, bool *ret_kept,
                      struct fk_err *err)
{
    struct fk_jwalk w;
    struct fk_jval index;
    uint32_t location;
    int more;
    *ret_kept = true;
    x->s.scratch.n = 0;
    fk_jwalk_begin(&w, sample);
    while ((more = fk_jwalk_next(&w, NULL, &index, err)) == 1) {
        if (!frame_of(x, &index, &location)) {
            *ret_kept = false;
            continue;
        }
        int rc = fk_stacks_push(&x->s, location, err);
        if (rc)
            return rc;
    }
    reverse(x->s.scratch.v, x->s.scratch.n);
    return more ? more : fk_stacks_close(&x->s, ret, err);
}

static int read_sampled(struct scope *x, const struct fk_jval *samples,
                        const struct fk_jval *weights, int64_t at, struct fk_err *err)
{
    struct fk_jwalk ws, ww;
    struct fk_jval sample, weight;
    uint32_t stack = 0;
    bool kept;
    int more;
    fk_jwalk_begin(&ws, samples);
    fk_jwalk_begin(&ww, weights);
    while ((more = fk_jwalk_next(&ws, NULL, &sample, err)) == 1) {
        int rc = fk_jwalk_next(&ww, NULL, &weight, err);
        if (rc == 0)
            return fk_fail(err, FK_E_FORMAT, "speedscope: there are fewer weights than samples");
        if (rc < 0 || (rc = read_stack(x, &sample, &stack, &kept, err)))
            return rc;
        int64_t value = value_of(x, &weight);
        rc = kept ? put_row(x, stack, value, at, err) : 0;
        if (rc)
            return rc;
        at = fk_wrap_add(at, value);
    }
    return more;
}

// ---- evented ----

// Stacks come again and again, each a frame more or less than the one before: those seen are kept
// as a tree, in which each knows its stack.
struct open {
    struct scope *x;
    FK_VEC(uint32_t) stack; // nodes, root first
    struct fk_nodes seen;
    struct fk_map index;     // parent and location -> node
    FK_VEC(uint32_t) opened; // of each location: how often it is in the stack
    int64_t at;
};

static int open_frame(struct open *o, uint32_t location, struct fk_err *err)
{
    uint32_t parent = o->stack.n ? o->stack.v[o->stack.n - 1] : FK_NONE;
    uint64_t h = fk_hash_u64((uint64_t)parent << 32 | location);
    uint32_t at = fk_map_first(&o->index, h), node = (uint32_t)o->seen.n;
    for (; at != FK_NONE; at = fk_map_next(&o->index, h, at)) {
        const struct fk_node *n = &o->seen.v[fk_map_id(&o->index, at)];
        if (n->parent == parent && n->location == location)
            break;
    }
    if (at != FK_NONE) {
        node = fk_map_id(&o->index, at);
    } else {
        int rc = fk_nodes_add(&o->x->s, &o->seen, (struct fk_node){parent, location, FK_NONE}, err);
        if (rc)
            return rc;
        if (fk_map_add(&o->index, h, node))
            return fk_decoding_nomem(o->x->d, err);
    }
    while (o->opened.n <= location)
        if (fk_vec_push(&o->opened, 0))
            return fk_decoding_nomem(o->x->d, err);
    if (fk_vec_push(&o->stack, node))
        return fk_decoding_nomem(o->x->d, err);
    o->opened.v[location]++;
    return 0;
}

// What was open from the event before until now.
static int pass_time(struct open *o, int64_t at, struct fk_err *err)
{
    struct fk_stacks *s = &o->x->s;
    uint32_t stack = 0;
    int rc = 0;
    if (at < o->at) {
        o->x->back++;
        return 0;
    }
    if (at > o->at && o->stack.n) {
        rc = fk_nodes_stack(s, &o->seen, o->stack.v[o->stack.n - 1], &stack, err);
        if (!rc)
            rc = put_row(o->x, stack, fk_wrap_sub(at, o->at), o->at, err);
    }
    o->at = at;
    return rc;
}

// A frame that is closed below others closes those too, as its caller is gone.
static void close_frame(struct open *o, uint32_t location)
{
    bool there = location < o->opened.n && o->opened.v[location];
    uint32_t top = FK_NONE;
    o->x->unmatched += !there || o->seen.v[o->stack.v[o->stack.n - 1]].location != location;
    while (there && top != location) {
        top = o->seen.v[o->stack.v[--o->stack.n]].location;
        o->opened.v[top]--;
    }
}

static int read_event(struct open *o, const struct fk_jval *event, struct fk_err *err)
{
    static const char *const names[] = {"type", "frame", "at"};
    struct fk_jval m[3];
    uint32_t location;
    int rc = fk_jval_pick(event, names, 3, m, err);
    if (!rc)
        rc = pass_time(o, value_of(o->x, &m[2]), err);
    if (rc || !frame_of(o->x, &m[1], &location))
        return rc;
    if (fk_str_eq(m[0].tok.text, FK_S("C")))
        close_frame(o, location);
    else if (!fk_str_eq(m[0].tok.text, FK_S("O")))
        return fk_fail(err, FK_E_FORMAT, "speedscope: an event's type is neither \"O\" nor \"C\"");
    else
        rc = open_frame(o, location, err);
    return rc;
}

static int read_evented(struct scope *x, const struct fk_jval *events, int64_t start, int64_t end,
                        struct fk_err *err)
{
    struct open o = {.x = x, .at = start};
    struct fk_jwalk w;
    struct fk_jval event;
    int more, rc = 0;
    fk_jwalk_begin(&w, events);
    while ((more = fk_jwalk_next(&w, NULL, &event, err)) == 1 &&
           !(rc = read_event(&o, &event, err)))
        ;
    if (!rc)
        rc = more;
    if (!rc && end > o.at) // what is still open
        rc = pass_time(&o, end, err);
    fk_vec_free(&o.stack);
    fk_map_free(&o.index);
    fk_vec_free(&o.opened);
    return rc;
}

// ---- one profile ----

enum { NAME, TYPE, UNIT, START, STOP, SAMPLES, WEIGHTS, EVENTS, MEMBERS };
static const char *const members[MEMBERS] = {"name",     "type",    "unit",    "startValue",
                                             "endValue", "samples", "weights", "events"};

static int find_unit(struct scope *x, const struct fk_jval *v, struct fk_err *err)
{
    for (size_t i = 0; i < FK_COUNTOF(units); i++)
        if (fk_str_eq(v->tok.text, fk_str_of(units[i].name))) {
            x->unit = &units[i];
            return 0;
        }
    return fk_fail(err, FK_E_FORMAT, "speedscope: the unit '%.*s' is not one of the format",
                   FK_STR_ARG(fk_str_head(v->tok.text, 40)));
}

// A request that names the type knows better what plain numbers count.
static int put_type(struct scope *x, struct fk_err *err)
{
    const struct fk_decode_opts *o = x->d->opts;
    bool plain = fk_str_eq(fk_str_of(x->unit->name), FK_S("none")) && o->type.n;
    return fk_stacks_type(&x->s, plain ? o->type : fk_str_of(x->unit->type),
                          plain ? o->unit : fk_str_of(x->unit->unit), err);
}

static int read_values(struct scope *x, const struct fk_jval *m, struct fk_err *err)
{
    int rc = find_unit(x, &m[UNIT], err);
    if (!rc)
        rc = put_type(x, err);
    if (!rc)
        rc = read_frames(x, err);
    if (rc)
        return rc;
    int64_t start = value_of(x, &m[START]), end = value_of(x, &m[STOP]);
    if (fk_str_eq(m[TYPE].tok.text, FK_S("sampled")))
        return read_sampled(x, &m[SAMPLES], &m[WEIGHTS], start, err);
    if (fk_str_eq(m[TYPE].tok.text, FK_S("evented")))
        return read_evented(x, &m[EVENTS], start, end, err);
    return fk_fail(err, FK_E_FORMAT, "speedscope: a profile is neither sampled nor evented");
}

static void report(struct scope *x)
{
    struct fk_report *r = x->d->report;
    fk_report_drop(r, "frame that is not in the list of frames", x->missing, "the file has %zu",
                   x->n);
    fk_report_warn(r, "close that does not match the open frame", x->unmatched, "evented profile");
    fk_report_warn(r, "event that is older than the one before it", x->back,
                   "it is taken as simultaneous");
    fk_report_warn(r, "fractional value rounded to an integer", x->fractions, "unit %s",
                   x->unit ? x->unit->name : "");
    x->missing = x->unmatched = x->back = x->fractions = 0;
}

// How long it went on: samples say when they begin only.
static int64_t duration_of(const struct scope *x, const struct fk_jval *m, int64_t known)
{
    int64_t start = fk_jval_scaled(&m[START], x->unit->scale),
            end = fk_jval_scaled(&m[STOP], x->unit->scale), range = 0;
    bool bad = !x->unit->time || start == FK_NO_TIME || end == FK_NO_TIME ||
               __builtin_sub_overflow(end, start, &range);
    return bad ? known : FK_MAX(range, known);
}

static int read_profile(struct scope *x, const struct fk_jval *profile, struct fk_err *err)
{
    struct fk_jval m[MEMBERS];
    struct fk_profile p;
    struct fk_label label = {FK_S("profile_name"), {"", 0}};
    int rc = fk_jval_pick(profile, members, MEMBERS, m, err);
    if (rc || (rc = fk_stacks_begin(&x->s, x->d, err)))
        return rc;
    label.value = fk_label_text(x->d, fk_jval_text(&m[NAME], &x->s));
    rc = read_values(x, m, err);
    report(x);
    if (!rc)
        rc = fk_stacks_finish(&x->s, &p, err);
    fk_stacks_end(&x->s);
    if (rc)
        return rc;
    p.duration_ns = duration_of(x, m, p.duration_ns);
    struct fk_labels labels = {&label, label.value.n ? 1 : 0};
    return fk_decoding_deliver_labelled(x->d, &p, &labels, err);
}

int fk_speedscope_decode(const struct fk_decoding *d, struct fk_str bytes, struct fk_err *err)
{
    static const char *const top[] = {"shared", "profiles"}, *const frames[] = {"frames"};
    struct scope x = {.d = d};
    struct fk_jval document, m[2], profile;
    struct fk_jwalk w;
    int more, rc = fk_jval_document(bytes, &document, err);
    if (!rc)
        rc = fk_jval_pick(&document, top, 2, m, err);
    if (!rc)
        rc = fk_jval_pick(&m[0], frames, 1, &x.frames, err);
    if (rc)
        return rc;
    if (!fk_jval_is(&m[1], FK_JSON_ARRAY) || !fk_jval_is(&x.frames, FK_JSON_ARRAY))
        return fk_fail(err, FK_E_FORMAT, "speedscope: there is no list '%s'",
                       fk_jval_is(&m[1], FK_JSON_ARRAY) ? "shared.frames" : "profiles");
    fk_jwalk_begin(&w, &m[1]);
    while ((more = fk_jwalk_next(&w, NULL, &profile, err)) == 1)
        if ((rc = read_profile(&x, &profile, err)))
            return rc;
    return more;
}
