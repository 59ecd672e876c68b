// SPDX-License-Identifier: Apache-2.0
// What comes out of a JFR: one profile a family of events. Rows are (stack, attributes), their
// observations are the events with their times, over all chunks; symbols are shared.
#include "formats/jfr_int.h"

#include <stdlib.h>

struct row {
    uint32_t stack, set;
    uint64_t n; // observations
};

struct observation {
    uint32_t row, count;
    int64_t amount, time_ns;
};

struct family {
    FK_VEC(struct row) rows;
    FK_VEC(struct observation) obs;
    struct fk_map index; // (stack, set) -> row
    int64_t period;      // ns or bytes between samples, 0 unknown
    bool unknown;        // some amounts are
    bool timed;
};

struct jfr_rows {
    struct fk_decoding d;
    struct fk_dict *dict;
    struct family family[JFR_FAMILIES];
    int64_t start_ns, end_ns; // 0: no chunk yet
    struct fk_str mode;
    uint64_t cut, cut_by_recorder;
};

// Names are Pyroscope's where it has them. unit of the amount: ns or bytes.
static const struct kind {
    const char *name;           // of the profile
    const char *count, *amount; // sample types
    const char *period, *unit;  // period type, NULL none
    bool is_time;
} kinds[JFR_FAMILIES] = {
    [JFR_CPU] = {"process_cpu", "samples", "cpu", "cpu", "nanoseconds", true},
    [JFR_WALL] = {"wall", "samples", "wall", "wall", "nanoseconds", true},
    [JFR_CPU_TIME] = {"process_cpu", "samples", "cpu", "cpu", "nanoseconds", true},
    [JFR_NATIVE] = {"native_method", "samples", "wall", "wall", "nanoseconds", true},
    [JFR_IN_TLAB] = {"memory", "alloc_in_new_tlab_objects", "alloc_in_new_tlab_bytes", "space",
                     "bytes", false},
    [JFR_OUTSIDE_TLAB] = {"memory", "alloc_outside_tlab_objects", "alloc_outside_tlab_bytes",
                          "space", "bytes", false},
    [JFR_ALLOCATION] = {"memory", "alloc_sample_objects", "alloc_sample_bytes", "space", "bytes",
                        false},
    [JFR_LIVE] = {"memory", "live", "inuse_space", "objects", "count", false},
    [JFR_NATIVE_MEMORY] = {"memory", "malloc_objects", "malloc_bytes", NULL, NULL, false},
    [JFR_MUTEX] = {"mutex", "contentions", "delay", "mutex", "count", true},
    [JFR_BLOCK] = {"block", "contentions", "delay", "block", "count", true},
};

struct jfr_rows *jfr_rows_new(const struct fk_decoding *d)
{
    struct jfr_rows *r = fk_calloc(1, sizeof(*r));
    if (!r)
        return NULL;
    r->d = *d;
    r->dict = fk_dict_new(false);
    if (!r->dict) {
        fk_free(r);
        return NULL;
    }
    return r;
}

static void free_family(struct family *f)
{
    fk_vec_free(&f->rows);
    fk_vec_free(&f->obs);
    fk_map_free(&f->index);
}

void jfr_rows_free(struct jfr_rows *r)
{
    if (!r)
        return;
    for (int i = 0; i < JFR_FAMILIES; i++)
        free_family(&r->family[i]);
    fk_dict_free(r->dict);
    fk_free(r);
}

struct fk_dict *jfr_rows_dict(struct jfr_rows *r)
{
    return r->dict;
}

// ---- in ----

static int row_of(struct family *f, uint32_t stack, uint32_t set, uint32_t *ret)
{
    uint64_t h = fk_hash_u64((uint64_t)stack << 32 | set);
    for (uint32_t at = fk_map_first(&f->index, h); at != FK_NONE;
         at = fk_map_next(&f->index, h, at)) {
        const struct row *row = &f->rows.v[fk_map_id(&f->index, at)];
        if (row->stack == stack && row->set == set) {
            *ret = fk_map_id(&f->index, at);
            return 0;
        }
    }
    if (fk_vec_reserve(&f->rows, 1) || fk_map_add(&f->index, h, (uint32_t)f->rows.n))
        return -FK_E_NOMEM;
    *ret = (uint32_t)f->rows.n;
    f->rows.v[f->rows.n++] = (struct row){stack, set, 0};
    return 0;
}

static size_t held(const struct jfr_rows *r)
{
    size_t n = fk_dict_bytes(r->dict);
    for (int i = 0; i < JFR_FAMILIES; i++)
        n += r->family[i].obs.cap * sizeof(struct observation) +
             r->family[i].rows.cap * sizeof(struct row);
    return n;
}

int jfr_rows_add(struct jfr_rows *r, enum jfr_family family, const struct jfr_sample *s,
                 struct fk_err *err)
{
    struct family *f = &r->family[family];
    const struct fk_decode_opts *o = r->d.opts;
    uint32_t row;
    if (f->obs.n >= FK_MIN(o->max_rows, (uint64_t)FK_NONE - 1))
        return fk_fail_limit(err, "samples", o->max_rows, o->rows_flag,
                             "the JFR recording has too many events of the family '%s'",
                             kinds[family].name);
    if (f->obs.n % 1024 == 1023 && held(r) > r->d.arena->limit)
        return fk_decoding_nomem(&r->d, err);
    if (fk_vec_reserve(&f->obs, 1) || row_of(f, s->stack, s->set, &row))
        return fk_decoding_nomem(&r->d, err);
    f->rows.v[row].n++;
    f->unknown |= s->amount == JFR_UNKNOWN;
    f->timed |= s->time_ns != FK_NO_TIME;
    f->obs.v[f->obs.n++] = (struct observation){row, s->count, s->amount, s->time_ns};
    return 0;
}

void jfr_rows_span(struct jfr_rows *r, int64_t start_ns, int64_t duration_ns)
{
    int64_t end;
    if (start_ns <= 0)
        return;
    if (__builtin_add_overflow(start_ns, FK_MAX(duration_ns, 0), &end))
        end = start_ns;
    r->start_ns = r->start_ns ? FK_MIN(r->start_ns, start_ns) : start_ns;
    r->end_ns = FK_MAX(r->end_ns, end);
}

void jfr_rows_mode(struct jfr_rows *r, struct fk_str mode)
{
    if (mode.n)
        r->mode = mode;
}

void jfr_rows_period(struct jfr_rows *r, enum jfr_family f, int64_t period_ns)
{
    if (period_ns > 0)
        r->family[f].period = period_ns;
}

void jfr_rows_truncated(struct jfr_rows *r, bool by_recorder)
{
    if (by_recorder)
        r->cut_by_recorder++;
    else
        r->cut++;
}

// Hours of a busy program do not fit in memory at once.
#define MANY_EVENTS 1000000u // about 100 bytes each from here to the store's head
#define MANY_BYTES  ((size_t)96 << 20)

bool jfr_rows_are_many(const struct jfr_rows *r)
{
    uint64_t n = 0;
    for (int i = 0; i < JFR_FAMILIES; i++)
        n += r->family[i].obs.n;
    return n >= FK_MIN((uint64_t)MANY_EVENTS, r->d.opts->max_rows / 2 + 1) || held(r) >= MANY_BYTES;
}

// ---- out ----

static const void *keep(struct fk_arena *a, const void *p, size_t n, size_t size, bool *failed)
{
    void *copy = fk_arena_array(a, FK_MAX(n, (size_t)1), size);
    if (!copy)
        *failed = true;
    else if (n)
        memcpy(copy, p, n * size);
    return copy;
}

// The dictionary's columns into the arena; all profiles share them.
static int keep_symbols(struct jfr_rows *r, struct fk_symbols *s)
{
    struct fk_arena *a = r->d.arena;
    bool failed = false;
    fk_dict_view(r->dict, s);
    struct fk_str *strings = fk_arena_array(a, s->n_strings, sizeof(*strings));
    for (uint32_t i = 0; strings && i < s->n_strings; i++)
        failed |= !(strings[i] = fk_arena_str(a, s->string[i])).p;
    uint32_t frames = s->stack_begin[s->n_stacks], attrs = s->set_begin[s->n_sets];
    s->string = strings;
    s->function = keep(a, s->function, s->n_functions, sizeof(*s->function), &failed);
    s->mapping = NULL;
    s->line = keep(a, s->line, s->n_lines, sizeof(*s->line), &failed);
    s->location = keep(a, s->location, s->n_locations, sizeof(*s->location), &failed);
    s->stack_begin =
        keep(a, s->stack_begin, (size_t)s->n_stacks + 1, sizeof(*s->stack_begin), &failed);
    s->frame = keep(a, s->frame, frames, sizeof(*s->frame), &failed);
    s->set_begin = keep(a, s->set_begin, (size_t)s->n_sets + 1, sizeof(*s->set_begin), &failed);
    s->attr = keep(a, s->attr, attrs, sizeof(*s->attr), &failed);
    return strings && !failed ? 0 : -FK_E_NOMEM;
}

struct columns {
    uint32_t *stack, *set;
    uint64_t *begin, *next;
    int64_t *value[2], *time_ns;
};

static int alloc_columns(struct fk_arena *a, const struct family *f, struct columns *c)
{
    size_t rows = f->rows.n + 1, obs = f->obs.n + 1;
    c->stack = fk_arena_array(a, rows, sizeof(*c->stack));
    c->set = fk_arena_array(a, rows, sizeof(*c->set));
    c->begin = fk_arena_array(a, rows, sizeof(*c->begin));
    c->value[0] = fk_arena_array(a, obs, sizeof(int64_t));
    c->value[1] = f->unknown ? c->value[0] : fk_arena_array(a, obs, sizeof(int64_t));
    c->time_ns = f->timed ? fk_arena_array(a, obs, sizeof(int64_t)) : NULL;
    c->next = fk_reallocarray(NULL, rows, sizeof(*c->next));
    bool all = c->stack && c->set && c->begin && c->value[0] && c->value[1] && c->next &&
               (c->time_ns || !f->timed);
    if (!all)
        fk_free(c->next);
    return all ? 0 : -FK_E_NOMEM;
}

// Observations by row; within a row as they came, which is nearly by time.
static void scatter(const struct family *f, const struct columns *c)
{
    uint64_t at = 0;
    for (size_t i = 0; i < f->rows.n; i++) {
        c->stack[i] = f->rows.v[i].stack;
        c->set[i] = f->rows.v[i].set;
        c->begin[i] = c->next[i] = at;
        at += f->rows.v[i].n;
    }
    c->begin[f->rows.n] = at;
    for (size_t i = 0; i < f->obs.n; i++) {
        const struct observation *o = &f->obs.v[i];
        uint64_t to = c->next[o->row]++;
        c->value[0][to] = o->count;
        if (!f->unknown)
            c->value[1][to] = o->amount;
        if (c->time_ns)
            c->time_ns[to] = o->time_ns;
    }
}

static int put_types(const struct jfr_rows *r, enum jfr_family family, struct fk_profile *p)
{
    const struct kind *k = &kinds[family];
    const struct family *f = &r->family[family];
    struct fk_value_type *type = fk_arena_array(r->d.arena, 2, sizeof(*type));
    bool has_duration = r->end_ns > r->start_ns;
    if (!type)
        return -FK_E_NOMEM;
    struct fk_str count = fk_str_of(k->count), amount = fk_str_of(k->amount);
    // JFR has no counters: what is in it happened while it was recorded.
    type[0] = (struct fk_value_type){count, FK_S("count"), fk_kind_of(count, has_duration, true)};
    type[1] = (struct fk_value_type){amount, k->is_time ? FK_S("nanoseconds") : FK_S("bytes"),
                                     fk_kind_of(amount, has_duration, true)};
    p->type = type;
    p->n_types = f->unknown ? 1 : 2;
    p->period = f->period;
    p->has_period_type = k->period != NULL;
    p->period_type = fk_str_of(k->period);
    p->period_unit = fk_str_of(k->unit);
    p->time_ns_start = r->start_ns;
    p->duration_ns = r->end_ns - r->start_ns;
    return 0;
}

static int make_profile(struct jfr_rows *r, enum jfr_family family, const struct fk_symbols *sym,
                        struct fk_profile **ret)
{
    struct fk_arena *a = r->d.arena;
    struct family *f = &r->family[family];
    struct fk_profile *p = fk_arena_zalloc(a, sizeof(*p));
    const int64_t **value = fk_arena_array(a, 2, sizeof(*value));
    struct columns c = {0};
    if (!p || !value || put_types(r, family, p) || alloc_columns(a, f, &c))
        return -FK_E_NOMEM;
    scatter(f, &c);
    fk_free(c.next);
    value[0] = c.value[0];
    value[1] = c.value[1];
    p->sym = *sym;
    p->n_rows = f->rows.n;
    p->n_obs = f->obs.n;
    p->stack = c.stack;
    p->set = c.set;
    p->obs_begin = c.begin;
    p->value = value;
    p->time_ns = c.time_ns;
    p->truncated = r->cut || r->cut_by_recorder;
    free_family(f);
    *ret = p;
    return 0;
}

// jdk.ExecutionSample beside jdk.CPUTimeSample is the same time seen twice: it gets another name.
static struct fk_str name_of(enum jfr_family family, bool cpu_time)
{
    return family == JFR_CPU && cpu_time ? FK_S("execution_sample") : fk_str_of(kinds[family].name);
}

static int deliver(struct jfr_rows *r, enum jfr_family family, const struct fk_symbols *sym,
                   bool cpu_time, struct fk_err *err)
{
    struct fk_profile *p;
    struct fk_labels labels;
    struct fk_label l[2] = {{FK_S("__name__"), name_of(family, cpu_time)},
                            {FK_S("jfr_event"), r->mode}};
    uint64_t events = r->family[family].obs.n;
    if (make_profile(r, family, sym, &p))
        return fk_decoding_nomem(&r->d, err);
    int rc = fk_labels_make(r->d.arena, l, 2, &labels, err);
    if (rc == -FK_E_NOMEM)
        return fk_decoding_nomem(&r->d, err);
    return rc ? rc : fk_decoding_deliver_events(&r->d, p, &labels, events, err);
}

static void report(const struct jfr_rows *r)
{
    fk_report_warn(r->d.report, "stack cut at the depth limit", r->cut, "%llu frames, set by %s",
                   (unsigned long long)r->d.opts->limits->stack_depth, FK_LIMIT_FLAG(stack_depth));
    fk_report_warn(r->d.report, "stack cut by the recorder", r->cut_by_recorder,
                   "-XX:FlightRecorderOptions=stackdepth= or async-profiler's jstackdepth= sets "
                   "how many frames it keeps");
}

int jfr_rows_deliver(struct jfr_rows *r, struct fk_arena *arena, struct fk_err *err)
{
    r->d.arena = arena;
    struct fk_symbols sym;
    bool cpu_time = r->family[JFR_CPU_TIME].obs.n != 0, any = false;
    if (keep_symbols(r, &sym))
        return fk_decoding_nomem(&r->d, err);
    report(r);
    for (int i = 0; i < JFR_FAMILIES; i++) {
        if (r->family[i].obs.n == 0)
            continue;
        any = true;
        int rc = deliver(r, (enum jfr_family)i, &sym, cpu_time, err);
        if (rc)
            return rc;
    }
    return any ? 0 : deliver(r, JFR_CPU, &sym, false, err);
}
