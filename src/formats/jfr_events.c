// SPDX-License-Identifier: Apache-2.0
// The second walk over a JFR chunk's events: samples become rows of their families, with thread,
// state, class, span and labels as attributes.
#include "formats/jfr_int.h"

#include <stdio.h>

#define MAX_ATTRS 72

int jfr_nomem(const struct jfr_chunk *k, struct fk_err *err)
{
    return fk_decoding_nomem(k->d, err);
}

// ---- times ----

static int64_t time_of(const struct jfr_chunk *k, const struct jfr_object *o)
{
    enum jfr_slot slot = jfr_has(o, JFR_START_TIME) ? JFR_START_TIME : JFR_END_TIME;
    if (!jfr_has(o, slot))
        return FK_NO_TIME;
    fk_i128 ticks = (fk_i128)(int64_t)jfr_number(o, slot) - (fk_i128)(int64_t)k->start_ticks;
    fk_i128 ns = k->start_ns + ticks * FK_NS_PER_S / (fk_i128)k->ticks_per_second;
    return ns > INT64_MIN && ns <= INT64_MAX ? (int64_t)ns : FK_NO_TIME;
}

// A span in ns, whatever its unit; `plain`: the unit where the file names none.
static int64_t span_of(const struct jfr_chunk *k, const struct jfr_object *o, enum jfr_slot slot,
                       enum jfr_unit plain)
{
    static const int64_t factor[] = {
        [JFR_NANOS] = 1, [JFR_MICROS] = 1000, [JFR_MILLIS] = 1000000, [JFR_SECONDS] = FK_NS_PER_S};
    enum jfr_unit unit = o->v[slot].field->unit ? o->v[slot].field->unit : plain;
    fk_i128 n = (int64_t)jfr_number(o, slot);
    n = unit == JFR_TICKS ? n * FK_NS_PER_S / (fk_i128)k->ticks_per_second : n * factor[unit];
    return n < 0 ? 0 : n > INT64_MAX ? INT64_MAX : (int64_t)n;
}

static int64_t duration_of(const struct jfr_chunk *k, const struct jfr_object *o)
{
    if (jfr_has(o, JFR_DURATION))
        return span_of(k, o, JFR_DURATION, JFR_TICKS);
    if (!jfr_has(o, JFR_END_TIME) || !jfr_has(o, JFR_START_TIME))
        return JFR_UNKNOWN;
    fk_i128 ticks = (fk_i128)(int64_t)jfr_number(o, JFR_END_TIME) -
                    (fk_i128)(int64_t)jfr_number(o, JFR_START_TIME);
    fk_i128 ns = ticks * FK_NS_PER_S / (fk_i128)k->ticks_per_second;
    return ns < 0 ? 0 : ns > INT64_MAX ? INT64_MAX : (int64_t)ns;
}

// ---- attributes ----

struct attrs {
    struct fk_attr v[MAX_ATTRS];
    uint32_t n;
};

static void put_id(struct attrs *a, uint32_t key, uint32_t value)
{
    if (key && value && a->n < MAX_ATTRS)
        a->v[a->n++] = (struct fk_attr){.key = key, .str = value};
}

static int put_text(struct jfr_chunk *k, struct attrs *a, struct fk_str key, struct fk_str value)
{
    uint32_t id[2];
    if (!key.n || !value.n)
        return 0;
    if (fk_dict_string(jfr_rows_dict(k->rows), key, &id[0]) ||
        fk_dict_string(jfr_rows_dict(k->rows), value, &id[1]))
        return -FK_E_NOMEM;
    put_id(a, id[0], id[1]);
    return 0;
}

static int put_hex(struct jfr_chunk *k, struct attrs *a, enum jfr_key key, uint64_t high,
                   uint64_t low)
{
    char text[40];
    uint32_t id;
    bool is_long = key == JFR_KEY_TRACE_ID;
    if (!high && !low)
        return 0;
    int n = is_long ? snprintf(text, sizeof(text), "%016llx%016llx", (unsigned long long)high,
                               (unsigned long long)low)
                    : snprintf(text, sizeof(text), "%016llx", (unsigned long long)low);
    if (fk_dict_string(jfr_rows_dict(k->rows), fk_str_make(text, (size_t)n), &id))
        return -FK_E_NOMEM;
    put_id(a, k->key[key], id);
    return 0;
}

static int put_context(struct jfr_chunk *k, struct attrs *a, const struct jfr_object *o)
{
    const struct jfr_labels *l = k->labels;
    const struct jfr_context *x = jfr_find_context(l, (int64_t)jfr_number(o, JFR_CONTEXT));
    for (uint32_t i = x ? x->begin : 0; x && i < x->end; i++)
        if (put_text(k, a, jfr_find_string(l, l->pair[i].key),
                     jfr_find_string(l, l->pair[i].value)))
            return -FK_E_NOMEM;
    return 0;
}

static int put_span(struct jfr_chunk *k, struct attrs *a, const struct jfr_object *o)
{
    struct fk_str name = jfr_find_string(k->labels, (int64_t)jfr_number(o, JFR_SPAN_NAME));
    uint32_t id;
    int rc = put_hex(k, a, JFR_KEY_PROFILE_ID, 0, jfr_number(o, JFR_SPAN_ID));
    if (!rc)
        rc = put_hex(k, a, JFR_KEY_TRACE_ID, jfr_number(o, JFR_TRACE_HIGH),
                     jfr_number(o, JFR_TRACE_LOW));
    if (rc || !name.n || !jfr_number(o, JFR_SPAN_ID))
        return rc;
    if (fk_dict_string(jfr_rows_dict(k->rows), name, &id))
        return -FK_E_NOMEM;
    put_id(a, k->key[JFR_KEY_SPAN_NAME], id);
    return 0;
}

static int attributes_of(struct jfr_chunk *k, const struct jfr_object *o, uint32_t state,
                         uint32_t *ret)
{
    struct attrs a = {.n = 0};
    uint32_t thread, thread_id, class;
    int rc;
    if ((rc = jfr_thread_of(k, o, &thread, &thread_id)) || (rc = jfr_class_of(k, o, &class)))
        return rc;
    put_id(&a, k->key[JFR_KEY_THREAD], thread);
    put_id(&a, k->key[JFR_KEY_THREAD_ID], thread_id);
    put_id(&a, k->key[JFR_KEY_STATE], state);
    put_id(&a, k->key[JFR_KEY_CLASS], class);
    if ((rc = put_span(k, &a, o)) || (rc = put_context(k, &a, o)))
        return rc;
    return fk_dict_set(jfr_rows_dict(k->rows), a.v, a.n, ret);
}

// ---- families ----

struct event {
    struct jfr_chunk *k;
    const struct jfr_object *o;
    struct jfr_sample s;
    bool sleeping, runnable;
};

static int add(const struct event *e, enum jfr_family f, int64_t amount, struct fk_err *err)
{
    struct jfr_sample s = e->s;
    s.amount = amount;
    return jfr_rows_add(e->k->rows, f, &s, err);
}

static int add_timed(const struct event *e, enum jfr_family f, enum jfr_period p,
                     struct fk_err *err)
{
    int64_t period = e->k->set.period[p], ns;
    if (period <= 0)
        ns = JFR_UNKNOWN;
    else if (__builtin_mul_overflow(period, (int64_t)e->s.count, &ns))
        ns = INT64_MAX;
    jfr_rows_period(e->k->rows, f, period);
    return add(e, f, ns, err);
}

static int add_bytes(const struct event *e, enum jfr_family f, enum jfr_slot slot,
                     struct fk_err *err)
{
    return add(e, f, jfr_has(e->o, slot) ? (int64_t)jfr_number(e->o, slot) : JFR_UNKNOWN, err);
}

// async-profiler before 4.0 writes wall clock samples as execution samples too. With `event=wall`
// all are; beside another event those are whose thread is known to run or to sleep. The JDK's are
// of running threads.
static int add_execution(const struct event *e, struct fk_err *err)
{
    const struct jfr_chunk *k = e->k;
    bool all = fk_str_eq(k->set.mode, FK_S("wall")) || (!k->set.mode.n && k->sleeps);
    bool wall = all || e->sleeping || (k->sleeps && e->runnable);
    bool cpu = !e->sleeping && (all || !wall);
    int rc = cpu ? add_timed(e, JFR_CPU, JFR_PERIOD_EXECUTION, err) : 0;
    return rc || !wall ? rc : add_timed(e, JFR_WALL, JFR_PERIOD_WALL, err);
}

// A batch: `samples` of them, from its time on. With `event=wall` those of running threads are all
// that is known of the processor's time.
static int add_wall(struct event *e, struct fk_err *err)
{
    uint64_t n = jfr_has(e->o, JFR_SAMPLES) ? jfr_number(e->o, JFR_SAMPLES) : 1;
    int rc = 0;
    e->s.count = (uint32_t)FK_MIN(n, (uint64_t)INT32_MAX);
    if (e->runnable && fk_str_eq(e->k->set.mode, FK_S("wall")))
        rc = add_timed(e, JFR_CPU, JFR_PERIOD_WALL, err);
    return rc ? rc : add_timed(e, JFR_WALL, JFR_PERIOD_WALL, err);
}

static int add_cpu_time(const struct event *e, struct fk_err *err)
{
    if (!jfr_has(e->o, JFR_PERIOD))
        return add_timed(e, JFR_CPU_TIME, JFR_PERIOD_EXECUTION, err);
    int64_t ns = span_of(e->k, e->o, JFR_PERIOD, JFR_NANOS);
    jfr_rows_period(e->k->rows, JFR_CPU_TIME, ns);
    return add(e, JFR_CPU_TIME, ns, err);
}

static int add_sample(struct event *e, enum jfr_event kind, struct fk_err *err)
{
    switch (kind) {
    case JFR_EXECUTION_SAMPLE:
        return add_execution(e, err);
    case JFR_NATIVE_SAMPLE:
        return add_timed(e, JFR_NATIVE, JFR_PERIOD_NATIVE, err);
    case JFR_WALL_SAMPLE:
        return add_wall(e, err);
    case JFR_CPU_TIME_SAMPLE:
        return add_cpu_time(e, err);
    case JFR_ALLOC_IN_TLAB:
        return add_bytes(e, JFR_IN_TLAB, JFR_TLAB_SIZE, err);
    case JFR_ALLOC_OUTSIDE_TLAB:
        return add_bytes(e, JFR_OUTSIDE_TLAB, JFR_ALLOCATION_SIZE, err);
    case JFR_ALLOC_SAMPLE:
        return add_bytes(e, JFR_ALLOCATION, JFR_WEIGHT, err);
    case JFR_LIVE_OBJECT:
        return add_bytes(e, JFR_LIVE, jfr_has(e->o, JFR_SIZE) ? JFR_SIZE : JFR_ALLOCATION_SIZE,
                         err);
    case JFR_MALLOC:
        return add_bytes(e, JFR_NATIVE_MEMORY, JFR_SIZE, err);
    case JFR_MONITOR_ENTER:
        return add(e, JFR_MUTEX, duration_of(e->k, e->o), err);
    case JFR_THREAD_PARK:
        return add(e, JFR_BLOCK, duration_of(e->k, e->o), err);
    default:
        return 0;
    }
}

// ---- the walk ----

static bool is_state(struct jfr_chunk *k, uint32_t id, uint32_t *known, struct fk_str name)
{
    struct fk_symbols s;
    if (*known || !id)
        return id && id == *known;
    fk_dict_view(jfr_rows_dict(k->rows), &s);
    if (fk_str_eq(fk_symbols_string(&s, id), name))
        *known = id;
    return id == *known;
}

static int read_sample(struct jfr_chunk *k, const struct jfr_type *t, struct jfr_object *o,
                       struct fk_err *err)
{
    struct event e = {.k = k, .o = o, .s = {.count = 1, .time_ns = time_of(k, o)}};
    uint32_t state;
    int rc;
    if ((rc = jfr_text_of(k, o, JFR_STATE, &state)) || (rc = jfr_stack_of(k, o, &e.s.stack)) ||
        (rc = attributes_of(k, o, state, &e.s.set))) {
        k->broken += rc == -FK_E_FORMAT;
        return rc == -FK_E_FORMAT ? 0 : jfr_nomem(k, err);
    }
    e.sleeping = is_state(k, state, &k->sleeping, FK_S("STATE_SLEEPING"));
    e.runnable = is_state(k, state, &k->runnable, FK_S("STATE_RUNNABLE"));
    return add_sample(&e, t->event, err);
}

static int on_event(struct jfr_chunk *k, const struct jfr_type *t, struct fk_cur c,
                    struct fk_err *err)
{
    struct jfr_object o;
    if (t->event == JFR_ACTIVE_SETTING)
        return 0;
    if (jfr_object(k, t, &c, &o)) {
        k->broken++;
        return 0;
    }
    if (t->event == JFR_LOST_SAMPLES) {
        k->lost += jfr_number(&o, JFR_LOST);
        return 0;
    }
    if (t->event == JFR_DATA_LOSS) {
        fk_report_warn(k->d->report, "the recorder lost data", 1, "its buffers were full");
        return 0;
    }
    return read_sample(k, t, &o, err);
}

static int intern_keys(struct jfr_chunk *k)
{
    static const char *const names[JFR_KEYS] = {"thread",     "thread_id", "state",   "class",
                                                "profile_id", "span_name", "trace_id"};
    for (int i = 0; i < JFR_KEYS; i++)
        if (fk_dict_string(jfr_rows_dict(k->rows), fk_str_of(names[i]), &k->key[i]))
            return -FK_E_NOMEM;
    return 0;
}

int jfr_read_samples(struct jfr_chunk *k, struct fk_err *err)
{
    struct fk_report *r = k->d->report;
    if (intern_keys(k))
        return jfr_nomem(k, err);
    jfr_rows_mode(k->rows, k->set.mode);
    int rc = jfr_each_event(k, on_event, err);
    fk_report_drop(r, "JFR event that could not be read", k->broken, "its fields do not fit");
    fk_report_drop(r, "sample lost by the recorder", k->lost, "jdk.CPUTimeSamplesLost");
    fk_report_warn(r, "JFR event of a type that the recording does not describe", k->alien,
                   "it was left out");
    return rc;
}
