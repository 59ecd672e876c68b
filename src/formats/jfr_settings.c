// SPDX-License-Identifier: Apache-2.0
// The walk over a JFR chunk's events, and the first of two: how the recording was made. Settings
// are events themselves (jdk.ActiveSetting; "recordings/recording_setting" in 0.9).
#include "formats/jfr_int.h"

int jfr_each_event(struct jfr_chunk *k, jfr_event_fn *fn, struct fk_err *err)
{
    const uint8_t *end = k->old ? k->begin + k->metadata_at : k->end;
    for (const uint8_t *p = k->first_event; p < end;) {
        uint64_t size, id;
        struct fk_cur c = {p, end};
        if (jfr_u32(k, &c, &size) || size > (uint64_t)(end - p) ||
            (k->old ? jfr_u32(k, &c, &id) : jfr_u64(k, &c, &id)) || size < (uint64_t)(c.p - p)) {
            fk_report_warn(k->d->report, "JFR chunk that ends within an event", 1,
                           "%llu bytes of it were not read", (unsigned long long)(end - p));
            return 0;
        }
        c.end = p += size;
        const struct jfr_type *t = id > 1 || k->old ? jfr_find_event(k, id) : NULL;
        if (!t && id > 1)
            k->alien++;
        int rc = t && t->event != JFR_OTHER ? fn(k, t, c, err) : 0;
        if (rc)
            return rc;
    }
    return 0;
}

// ---- texts to durations ----

// "20 ms", "1 s"; bare numbers are nanoseconds (async-profiler).
static int64_t duration_of(struct fk_str s)
{
    static const struct {
        const char *name;
        int64_t ns;
    } units[] = {
        {"ns", 1}, {"us", 1000}, {"ms", 1000000}, {"s", FK_NS_PER_S}, {"m", 60 * FK_NS_PER_S},
        {"", 1}};
    size_t digits = 0;
    uint64_t n;
    while (digits < s.n && s.p[digits] >= '0' && s.p[digits] <= '9')
        digits++;
    struct fk_str unit = fk_str_trim(fk_str_from(s, digits));
    if (fk_str_to_u64(fk_str_head(s, digits), &n) || n > 1000000000000u)
        return 0;
    for (size_t i = 0; i < FK_COUNTOF(units); i++)
        if (fk_str_eq(unit, fk_str_of(units[i].name)))
            return (int64_t)FK_MIN(n, (uint64_t)(INT64_MAX / units[i].ns)) * units[i].ns;
    return 0;
}

static int64_t number_to_ns(const struct jfr_chunk *k, const struct jfr_object *o,
                            enum jfr_slot slot)
{
    static const int64_t factor[] = {[JFR_PLAIN] = 1,
                                     [JFR_NANOS] = 1,
                                     [JFR_MICROS] = 1000,
                                     [JFR_MILLIS] = 1000000,
                                     [JFR_SECONDS] = FK_NS_PER_S};
    uint8_t unit = o->v[slot].field->unit;
    fk_i128 n = (fk_i128)(int64_t)jfr_number(o, slot);
    n = unit == JFR_TICKS ? n * FK_NS_PER_S / (fk_i128)k->ticks_per_second : n * factor[unit];
    return n > 0 && n < INT64_MAX ? (int64_t)n : 0;
}

// ---- one setting ----

static struct fk_str text(struct jfr_chunk *k, const struct jfr_object *o, enum jfr_slot s, int *rc)
{
    struct fk_symbols sym;
    uint32_t id = 0;
    if (!*rc)
        *rc = jfr_text_of(k, o, s, &id);
    fk_dict_view(jfr_rows_dict(k->rows), &sym);
    return fk_symbols_string(&sym, id);
}

// The JDK samples at most every millisecond; settings below are a tool's placeholder.
static void set_period(struct jfr_chunk *k, uint64_t event_id, int64_t ns)
{
    const struct jfr_type *t = jfr_find_event(k, event_id);
    if (ns < 1000000)
        return;
    if (t && t->event == JFR_EXECUTION_SAMPLE)
        k->set.period[JFR_PERIOD_EXECUTION] = ns;
    else if (t && t->event == JFR_NATIVE_SAMPLE)
        k->set.period[JFR_PERIOD_NATIVE] = ns;
}

#define DEFAULT_INTERVAL_NS 10000000
#define DEFAULT_WALL_NS     50000000

static int set_mode(struct jfr_chunk *k, struct fk_str mode)
{
    struct fk_str copy = fk_arena_str(k->d->arena, mode);
    if (!copy.p)
        return -FK_E_NOMEM;
    k->set.mode = copy;
    return 0;
}

// async-profiler: interval 0 is its default.
static int set_named(struct jfr_chunk *k, const struct jfr_object *o, struct fk_str name,
                     struct fk_str value)
{
    int64_t ns = duration_of(value);
    if (fk_str_eq(name, FK_S("event")))
        return set_mode(k, value);
    if (fk_str_eq(name, FK_S("interval")))
        k->set.period[JFR_PERIOD_EXECUTION] = ns ? ns : -1;
    else if (fk_str_eq(name, FK_S("wall")))
        k->set.period[JFR_PERIOD_WALL] = ns;
    else if (fk_str_eq(name, FK_S("period")))
        set_period(k, jfr_number(o, JFR_ID), ns);
    return 0;
}

static int read_setting(struct jfr_chunk *k, const struct jfr_type *t, struct fk_cur c)
{
    struct jfr_object o;
    int rc = jfr_object(k, t, &c, &o);
    if (rc)
        return rc;
    if (!k->set.any) // those of the chunk before do not hold here
        k->set = (struct jfr_settings){.any = true};
    if (k->old) {
        if (jfr_number(&o, JFR_PERIOD))
            set_period(k, jfr_number(&o, JFR_ID), number_to_ns(k, &o, JFR_PERIOD));
        return 0;
    }
    struct fk_str name = text(k, &o, JFR_NAME, &rc), value = text(k, &o, JFR_VALUE, &rc);
    return rc ? rc : set_named(k, &o, name, value);
}

static int look_at_state(struct jfr_chunk *k, const struct jfr_type *t, struct fk_cur c)
{
    struct jfr_object o;
    int rc = jfr_object(k, t, &c, &o);
    struct fk_str state = text(k, &o, JFR_STATE, &rc);
    k->sleeps |= !rc && fk_str_eq(state, FK_S("STATE_SLEEPING"));
    return rc;
}

static int on_event(struct jfr_chunk *k, const struct jfr_type *t, struct fk_cur c,
                    struct fk_err *err)
{
    int rc = 0;
    if (t->event == JFR_ACTIVE_SETTING)
        rc = read_setting(k, t, c);
    else if (t->event == JFR_EXECUTION_SAMPLE && !k->sleeps)
        rc = look_at_state(k, t, c);
    return rc == -FK_E_NOMEM ? jfr_nomem(k, err) : 0; // the second walk counts what is broken
}

int jfr_read_settings(struct jfr_chunk *k, struct fk_err *err)
{
    k->set.any = false;
    int rc = jfr_each_event(k, on_event, err);
    int64_t *execution = &k->set.period[JFR_PERIOD_EXECUTION];
    int64_t *wall = &k->set.period[JFR_PERIOD_WALL];
    uint64_t rate = k->d->opts->sample_rate;
    bool is_wall = fk_str_eq(k->set.mode, FK_S("wall"));
    k->alien = 0; // counted again
    if (*execution < 0)
        *execution = is_wall ? DEFAULT_WALL_NS : DEFAULT_INTERVAL_NS;
    if (rate && rate <= (uint64_t)FK_NS_PER_S)
        *execution = FK_NS_PER_S / (int64_t)rate;
    if (is_wall || !k->set.mode.n || *wall == 0)
        *wall = *execution;
    return rc;
}
