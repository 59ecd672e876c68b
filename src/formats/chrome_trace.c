// SPDX-License-Identifier: Apache-2.0
// The CPU profiles within a Chrome trace (Trace Event Format): events Profile and ProfileChunk, or
// CpuProfile of older versions. One profile a sampled thread. The other events are none, and a
// trace without profiles is refused by its name.
#include "formats/v8_int.h"

#include <stdlib.h>

struct part { // an event that carries a part of a profile
    int64_t pid, tid, ts;
    struct fk_str id;    // "" none: one profile a process
    struct fk_jval data; // its args.data
    size_t at;           // in the file
    bool starts;         // Profile, CpuProfile: its thread is the sampled one
};

struct thread {
    int64_t pid, tid;
    struct fk_jval name;
};

struct trace {
    const struct fk_decoding *d;
    FK_VEC(struct part) part;
    FK_VEC(struct thread) thread;
    uint64_t events;
};

enum { NAME, PHASE, ID, PID, TID, TS, ARGS, MEMBERS };
static const char *const members[MEMBERS] = {"name", "ph", "id", "pid", "tid", "ts", "args"};

static bool is_name(const struct fk_jval *v, struct fk_str name)
{
    return fk_jval_is(v, FK_JSON_STRING) && fk_str_eq(v->tok.text, name);
}

static int read_thread_name(struct trace *t, const struct fk_jval *m, struct fk_err *err)
{
    static const char *const name[] = {"name"};
    struct thread thread = {fk_jval_i64(&m[PID], 0), fk_jval_i64(&m[TID], 0), {{0}, {NULL, 0}}};
    int rc = fk_jval_pick(&m[ARGS], name, 1, &thread.name, err);
    if (rc)
        return rc;
    return fk_vec_push(&t->thread, thread) ? fk_decoding_nomem(t->d, err) : 0;
}

static int read_event(struct trace *t, const struct fk_jval *event, struct fk_err *err)
{
    static const char *const data[] = {"data"};
    struct fk_jval m[MEMBERS];
    t->events++;
    int rc = fk_jval_pick(event, members, MEMBERS, m, err);
    if (rc)
        return rc;
    if (is_name(&m[NAME], FK_S("thread_name")))
        return read_thread_name(t, m, err);
    bool whole = is_name(&m[NAME], FK_S("CpuProfile")), start = is_name(&m[NAME], FK_S("Profile"));
    if (!whole && !start && !is_name(&m[NAME], FK_S("ProfileChunk")))
        return 0;
    struct part p = {.pid = fk_jval_i64(&m[PID], 0),
                     .tid = fk_jval_i64(&m[TID], 0),
                     .ts = fk_jval_i64(&m[TS], 0),
                     .id = whole ? m[TID].span : m[ID].span,
                     .at = t->part.n,
                     .starts = whole || start};
    rc = fk_jval_pick(&m[ARGS], data, 1, &p.data, err);
    if (rc)
        return rc;
    return fk_vec_push(&t->part, p) ? fk_decoding_nomem(t->d, err) : 0;
}

// The list may lack its end: a program that dies while it writes leaves it so, and the format
// allows it.
static int read_events(struct trace *t, const struct fk_jval *events, struct fk_err *err)
{
    struct fk_jwalk w;
    struct fk_jval event;
    int more;
    fk_jwalk_begin(&w, events);
    while ((more = fk_jwalk_next(&w, NULL, &event, err)) == 1) {
        int rc = read_event(t, &event, err);
        if (rc)
            return rc;
    }
    struct fk_str left = fk_str_trim(fk_str_make(w.r.p, (size_t)(w.r.end - w.r.p)));
    if (more == -FK_E_FORMAT && (left.n == 0 || fk_str_eq(left, FK_S(",")))) {
        fk_report_warn(t->d->report, "the trace has no end: it was cut off", 1, "after %llu events",
                       (unsigned long long)t->events);
        return 0;
    }
    return more;
}

static int part_cmp(const void *x, const void *y)
{
    const struct part *a = x, *b = y;
    if (a->pid != b->pid)
        return a->pid < b->pid ? -1 : 1;
    int ids = fk_str_cmp(a->id, b->id);
    if (ids)
        return ids;
    if (a->starts != b->starts)
        return a->starts ? -1 : 1;
    if (a->ts != b->ts)
        return a->ts < b->ts ? -1 : 1;
    return a->at < b->at ? -1 : 1;
}

// ---- one profile ----

enum { PROFILE, CHUNK_DELTAS, START, END, DATA_MEMBERS };

static int read_part(struct fk_v8 *v, const struct part *p, struct fk_err *err)
{
    static const char *const outer[DATA_MEMBERS] = {"cpuProfile", "timeDeltas", "startTime",
                                                    "endTime"};
    static const char *const inner[] = {"nodes", "samples", "timeDeltas", "startTime", "endTime"};
    struct fk_jval m[DATA_MEMBERS], in[5];
    int rc = fk_jval_pick(&p->data, outer, DATA_MEMBERS, m, err);
    if (!rc)
        rc = fk_jval_pick(&m[PROFILE], inner, 5, in, err);
    if (rc)
        return rc;
    v->start_us = fk_jval_i64(&m[START], fk_jval_i64(&in[3], v->start_us));
    v->end_us = fk_jval_i64(&m[END], fk_jval_i64(&in[4], v->end_us));
    rc = fk_v8_nodes(v, &in[0], err);
    bool within = fk_jval_is(&in[2], FK_JSON_ARRAY);
    return rc ? rc : fk_v8_samples(v, &in[1], within ? &in[2] : &m[CHUNK_DELTAS], err);
}

static int put_attrs(const struct trace *t, struct fk_stacks *s, const struct part *p,
                     uint32_t *ret, struct fk_err *err)
{
    int rc = fk_stacks_number(s, FK_S("pid"), p->pid, FK_S(""), err);
    if (!rc && p->starts)
        rc = fk_stacks_number(s, FK_S("tid"), p->tid, FK_S(""), err);
    for (size_t i = 0; !rc && p->starts && i < t->thread.n; i++)
        if (t->thread.v[i].pid == p->pid && t->thread.v[i].tid == p->tid) {
            rc = fk_stacks_attr(s, FK_S("thread"), fk_jval_text(&t->thread.v[i].name, s), err);
            break;
        }
    return rc ? rc : fk_stacks_set(s, ret, err);
}

static int read_profile(struct trace *t, size_t begin, size_t end, struct fk_err *err)
{
    struct fk_v8 v;
    struct fk_profile p;
    uint32_t set = 0;
    int rc = fk_v8_begin(&v, t->d, err);
    for (size_t i = begin; !rc && i < end; i++)
        rc = read_part(&v, &t->part.v[i], err);
    if (!rc)
        rc = put_attrs(t, &v.s, &t->part.v[begin], &set, err);
    if (!rc)
        rc = fk_v8_cpu_profile(&v, set, &p, err);
    bool lost = v.sample.n && !rc && p.n_rows == 0; // its beginning, with the nodes, is missing
    fk_v8_end(&v);
    return rc || lost ? rc : fk_decoding_deliver(t->d, &p, err);
}

static int read_trace(struct trace *t, struct fk_str bytes, struct fk_err *err)
{
    static const char *const events[] = {"traceEvents"};
    struct fk_str text = fk_str_trim(bytes);
    struct fk_jval list = {{.kind = FK_JSON_ARRAY}, text};
    int rc = 0;
    if (!fk_str_starts(text, FK_S("["))) {
        struct fk_jval document;
        rc = fk_jval_document(text, &document, err);
        if (!rc)
            rc = fk_jval_pick(&document, events, 1, &list, err);
    }
    if (!rc)
        rc = read_events(t, &list, err);
    if (!rc && t->part.n == 0)
        return fk_fail(
            err, FK_E_UNSUPPORTED,
            "this is a trace of events (%llu of them) without CPU profiles in it; record "
            "with DevTools' Performance panel or the category "
            "disabled-by-default-v8.cpu_profiler",
            (unsigned long long)t->events);
    if (!rc)
        qsort(t->part.v, t->part.n, sizeof(*t->part.v), part_cmp);
    for (size_t i = 0, next; !rc && i < t->part.n; i = next) {
        for (next = i + 1; next < t->part.n && t->part.v[next].pid == t->part.v[i].pid &&
                           fk_str_eq(t->part.v[next].id, t->part.v[i].id);)
            next++;
        rc = read_profile(t, i, next, err);
    }
    return rc;
}

int fk_chrome_trace_decode(const struct fk_decoding *d, struct fk_str bytes, struct fk_err *err)
{
    struct trace t = {.d = d};
    int rc = read_trace(&t, bytes, err);
    fk_vec_free(&t.part);
    fk_vec_free(&t.thread);
    return rc;
}
