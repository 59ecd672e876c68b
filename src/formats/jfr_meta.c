// SPDX-License-Identifier: Apache-2.0
// The types of a JFR chunk: the table of them, and how versions 1.0 to 2.1 write them (a string
// table and a tree of elements with attributes, as XML would be).
#include "formats/jfr_int.h"

// ---- the table ----

static struct jfr_type *find_in(struct jfr_type *v, uint32_t n, const struct fk_map *index,
                                uint64_t id)
{
    uint64_t h = fk_hash_u64(id);
    for (uint32_t at = fk_map_first(index, h); at != FK_NONE; at = fk_map_next(index, h, at))
        if (fk_map_id(index, at) < n && v[fk_map_id(index, at)].id == id)
            return &v[fk_map_id(index, at)];
    return NULL;
}

struct jfr_type *jfr_find_type(const struct jfr_chunk *k, uint64_t id)
{
    return find_in(k->type, k->n_types, &k->type_index, id);
}

struct jfr_type *jfr_find_event(const struct jfr_chunk *k, uint64_t id)
{
    return k->old ? find_in(k->event, k->n_events, &k->event_index, id) : jfr_find_type(k, id);
}

int jfr_add_type(struct jfr_chunk *k, uint64_t id, struct jfr_type **ret)
{
    struct jfr_type *t = jfr_find_type(k, id);
    if (!t) {
        size_t cap = k->types_cap;
        struct jfr_type *v =
            fk_arena_grow(k->arena, k->type, k->n_types, &cap, (size_t)k->n_types + 1, sizeof(*v));
        if (!v || fk_map_add(&k->type_index, fk_hash_u64(id), k->n_types))
            return -FK_E_NOMEM;
        k->type = v;
        k->types_cap = (uint32_t)cap;
        t = &v[k->n_types++];
    }
    memset(t, 0, sizeof(*t));
    t->id = id;
    t->key_kind = JFR_I64;
    *ret = t;
    return 0;
}

struct jfr_field *jfr_add_field(struct jfr_chunk *k, struct jfr_type *t)
{
    if (t->n_fields == t->fields_cap) {
        uint32_t cap = t->fields_cap ? t->fields_cap * 2 : 8;
        struct jfr_field *v = fk_arena_array(k->arena, cap, sizeof(*v));
        if (!v)
            return NULL;
        if (t->n_fields)
            memcpy(v, t->field, t->n_fields * sizeof(*v));
        t->field = v;
        t->fields_cap = cap;
    }
    struct jfr_field *f = &t->field[t->n_fields++];
    memset(f, 0, sizeof(*f));
    return f;
}

// The second names are those of 0.9, the third JRockit's.
enum jfr_slot jfr_slot_of(struct fk_str field)
{
    static const struct {
        const char *name;
        enum jfr_slot slot;
    } slots[] = {
        {"startTime", JFR_START_TIME},
        {"endTime", JFR_END_TIME},
        {"duration", JFR_DURATION},
        {"stackTrace", JFR_STACK_TRACE},
        {"stacktrace", JFR_STACK_TRACE},
        {"sampledThread", JFR_THREAD},
        {"eventThread", JFR_THREAD},
        {"thread", JFR_THREAD},
        {"state", JFR_STATE},
        {"objectClass", JFR_CLASS},
        {"monitorClass", JFR_CLASS},
        {"parkedClass", JFR_CLASS},
        {"klass", JFR_CLASS},
        {"class", JFR_CLASS},
        {"type", JFR_TYPE},
        {"tlabSize", JFR_TLAB_SIZE},
        {"tlaSize", JFR_TLAB_SIZE},
        {"allocationSize", JFR_ALLOCATION_SIZE},
        {"weight", JFR_WEIGHT},
        {"size", JFR_SIZE},
        {"objectSize", JFR_SIZE},
        {"samples", JFR_SAMPLES},
        {"samplingPeriod", JFR_PERIOD},
        {"period", JFR_PERIOD},
        {"lostSamples", JFR_LOST},
        {"contextId", JFR_CONTEXT},
        {"spanId", JFR_SPAN_ID},
        {"spanName", JFR_SPAN_NAME},
        {"traceIdHi", JFR_TRACE_HIGH},
        {"traceIdLo", JFR_TRACE_LOW},
        {"id", JFR_ID},
        {"name", JFR_NAME},
        {"value", JFR_VALUE},
        {"frames", JFR_FRAMES},
        {"truncated", JFR_TRUNCATED},
        {"method", JFR_METHOD},
        {"lineNumber", JFR_LINE},
        {"line", JFR_LINE},
        {"string", JFR_STRING},
        {"utf8", JFR_STRING},
        {"javaName", JFR_JAVA_NAME},
        {"osName", JFR_OS_NAME},
        {"osThreadId", JFR_OS_ID},
        {"javaThreadId", JFR_JAVA_ID},
    };
    for (size_t i = 0; i < FK_COUNTOF(slots); i++)
        if (fk_str_eq(field, fk_str_of(slots[i].name)))
            return slots[i].slot;
    return JFR_NO_SLOT;
}

static uint32_t count_packed(const struct jfr_chunk *k, const struct jfr_type *t)
{
    for (uint32_t i = 0; i < t->n_fields; i++) {
        const struct jfr_field *f = &t->field[i];
        if (f->array || f->kind < JFR_I16 || f->kind > JFR_I64)
            return 0;
    }
    return k->packed ? t->n_fields : 0;
}

void jfr_link_types(struct jfr_chunk *k)
{
    for (uint32_t i = 0; i < k->n_types + k->n_events; i++) {
        struct jfr_type *t = i < k->n_types ? &k->type[i] : &k->event[i - k->n_types];
        for (uint32_t j = 0; j < t->n_fields; j++) {
            struct jfr_field *f = &t->field[j];
            if (k->old && !f->reference && f->kind != JFR_STRUCT)
                continue; // has no type of its own
            f->of = jfr_find_type(k, f->type);
            if (!k->old)
                f->kind = f->reference ? JFR_I64 : f->of ? f->of->kind : JFR_STRUCT;
        }
        t->n_packed = count_packed(k, t);
    }
}

// ---- what a type is ----

static enum jfr_kind kind_of(struct fk_str name)
{
    static const struct {
        const char *name;
        enum jfr_kind kind;
    } kinds[] = {{"boolean", JFR_BOOL}, {"byte", JFR_I8},    {"short", JFR_I16},
                 {"char", JFR_U16},     {"int", JFR_I32},    {"long", JFR_I64},
                 {"float", JFR_F32},    {"double", JFR_F64}, {"java.lang.String", JFR_TEXT}};
    for (size_t i = 0; i < FK_COUNTOF(kinds); i++)
        if (fk_str_eq(name, fk_str_of(kinds[i].name)))
            return kinds[i].kind;
    return JFR_STRUCT;
}

static enum jfr_event event_of(struct fk_str name)
{
    static const struct {
        const char *name;
        enum jfr_event event;
    } events[] = {
        {"jdk.ExecutionSample", JFR_EXECUTION_SAMPLE},
        {"jdk.NativeMethodSample", JFR_NATIVE_SAMPLE},
        {"profiler.WallClockSample", JFR_WALL_SAMPLE},
        {"jdk.CPUTimeSample", JFR_CPU_TIME_SAMPLE},
        {"jdk.ObjectAllocationInNewTLAB", JFR_ALLOC_IN_TLAB},
        {"jdk.ObjectAllocationOutsideTLAB", JFR_ALLOC_OUTSIDE_TLAB},
        {"jdk.ObjectAllocationSample", JFR_ALLOC_SAMPLE},
        {"profiler.LiveObject", JFR_LIVE_OBJECT},
        {"jdk.OldObjectSample", JFR_LIVE_OBJECT},
        {"profiler.Malloc", JFR_MALLOC},
        {"jdk.JavaMonitorEnter", JFR_MONITOR_ENTER},
        {"profiler.NativeLock", JFR_MONITOR_ENTER},
        {"jdk.ThreadPark", JFR_THREAD_PARK},
        {"jdk.ActiveSetting", JFR_ACTIVE_SETTING},
        {"jdk.CPUTimeSamplesLost", JFR_LOST_SAMPLES},
        {"jdk.DataLoss", JFR_DATA_LOSS},
    };
    if (fk_str_starts(name, FK_S("com.oracle.jdk."))) // JDK 9 and 10
        name = fk_str_from(name, strlen("com.oracle."));
    for (size_t i = 0; i < FK_COUNTOF(events); i++)
        if (fk_str_eq(name, fk_str_of(events[i].name)))
            return events[i].event;
    return JFR_OTHER;
}

static void name_type(struct jfr_type *t, struct fk_str name)
{
    t->name = name;
    t->kind = (uint8_t)kind_of(name);
    t->is_string = t->kind == JFR_TEXT;
    t->event = (uint8_t)event_of(name);
}

static enum jfr_unit unit_of(struct fk_str annotation)
{
    static const struct {
        const char *name;
        enum jfr_unit unit;
    } units[] = {{"TICKS", JFR_TICKS},
                 {"NANOSECONDS", JFR_NANOS},
                 {"MICROSECONDS", JFR_MICROS},
                 {"MILLISECONDS", JFR_MILLIS},
                 {"SECONDS", JFR_SECONDS}};
    for (size_t i = 0; i < FK_COUNTOF(units); i++)
        if (fk_str_eq(annotation, fk_str_of(units[i].name)))
            return units[i].unit;
    return JFR_PLAIN;
}

// ---- the tree of elements ----

struct meta {
    struct jfr_chunk *k;
    struct fk_cur c;
    struct fk_str *string;
    uint64_t n_strings;
    uint64_t type; // id of the class being read, when in_type
    bool in_type;
};

static int string_at(struct meta *m, struct fk_str *ret)
{
    uint64_t i;
    if (jfr_u32(m->k, &m->c, &i) || i >= m->n_strings)
        return -FK_E_FORMAT;
    *ret = m->string[i];
    return 0;
}

struct attributes {
    struct fk_str name, super, value;
    uint64_t id, type, dimension;
    bool has_id, pooled;
};

static int read_attributes(struct meta *m, struct attributes *ret)
{
    uint64_t n;
    struct fk_str key, value;
    *ret = (struct attributes){0};
    if (jfr_u32(m->k, &m->c, &n))
        return -FK_E_FORMAT;
    for (uint64_t i = 0; i < n; i++) {
        if (string_at(m, &key) || string_at(m, &value))
            return -FK_E_FORMAT;
        if (fk_str_eq(key, FK_S("name")))
            ret->name = value;
        else if (fk_str_eq(key, FK_S("superType")))
            ret->super = value;
        else if (fk_str_eq(key, FK_S("value")))
            ret->value = value;
        else if (fk_str_eq(key, FK_S("id")))
            ret->has_id = fk_str_to_u64(value, &ret->id) == 0;
        else if (fk_str_eq(key, FK_S("class")))
            (void)fk_str_to_u64(value, &ret->type); // 0 is no type
        else if (fk_str_eq(key, FK_S("dimension")))
            (void)fk_str_to_u64(value, &ret->dimension);
        else if (fk_str_eq(key, FK_S("constantPool")))
            ret->pooled = fk_str_eq(value, FK_S("true"));
    }
    return 0;
}

static int begin_class(struct meta *m, const struct attributes *a)
{
    struct jfr_type *t;
    if (!a->has_id)
        return -FK_E_FORMAT;
    if (jfr_add_type(m->k, a->id, &t))
        return -FK_E_NOMEM;
    name_type(t, a->name);
    t->super = a->super;
    m->type = a->id;
    return 0;
}

static int begin_field(struct meta *m, const struct attributes *a)
{
    struct jfr_type *t = m->in_type ? jfr_find_type(m->k, m->type) : NULL;
    if (!t)
        return -FK_E_FORMAT;
    struct jfr_field *f = jfr_add_field(m->k, t);
    if (!f)
        return -FK_E_NOMEM;
    f->name = a->name;
    f->type = a->type;
    f->slot = (uint8_t)jfr_slot_of(a->name);
    f->reference = a->pooled;
    f->array = a->dimension != 0;
    return 0;
}

// Of the field before it; those of types and of annotations say nothing that matters here.
static void note_annotation(struct meta *m, const struct attributes *a)
{
    struct jfr_type *t = m->in_type ? jfr_find_type(m->k, m->type) : NULL;
    enum jfr_unit unit = unit_of(a->value);
    if (t && t->n_fields && unit != JFR_PLAIN)
        t->field[t->n_fields - 1].unit = (uint8_t)unit;
}

static int read_element(struct meta *m, uint32_t depth)
{
    struct fk_str name;
    struct attributes a;
    uint64_t n;
    int rc = 0;
    if (depth == JFR_DEPTH || string_at(m, &name) || read_attributes(m, &a) ||
        jfr_u32(m->k, &m->c, &n))
        return -FK_E_FORMAT;
    bool is_class = fk_str_eq(name, FK_S("class"));
    if (is_class) {
        rc = begin_class(m, &a);
        m->in_type = true;
    } else if (fk_str_eq(name, FK_S("field"))) {
        rc = begin_field(m, &a);
    } else if (fk_str_eq(name, FK_S("annotation"))) {
        note_annotation(m, &a);
    }
    for (uint64_t i = 0; i < n && !rc; i++)
        rc = read_element(m, depth + 1);
    if (is_class)
        m->in_type = false;
    return rc;
}

static int read_strings(struct meta *m)
{
    uint64_t key;
    if (jfr_u32(m->k, &m->c, &m->n_strings) || m->n_strings > fk_cur_left(&m->c))
        return -FK_E_FORMAT;
    m->string = fk_arena_array(m->k->arena, (size_t)m->n_strings, sizeof(*m->string));
    if (!m->string)
        return -FK_E_NOMEM;
    for (uint64_t i = 0; i < m->n_strings; i++) {
        int rc = jfr_text(m->k, JFR_TEXT, &m->c, &m->string[i], &key);
        if (rc)
            return rc;
    }
    return 0;
}

// A metadata event of which the size is already known to fit.
static int read_event(struct jfr_chunk *k, struct fk_cur c)
{
    struct meta m = {.k = k, .c = c};
    uint64_t ignored;
    for (int i = 0; i < 3; i++) // start, duration, number
        if (jfr_u64(k, &m.c, &ignored))
            return -FK_E_FORMAT;
    int rc = read_strings(&m);
    return rc ? rc : read_element(&m, 0);
}

int jfr_read_metadata(struct jfr_chunk *k, struct fk_err *err)
{
    uint64_t size, type, room = (uint64_t)(k->end - k->begin);
    if (k->metadata_at == 0)
        return fk_fail(err, FK_E_FORMAT,
                       "the JFR chunk has no metadata: the recording was not finished (`jcmd PID "
                       "JFR.dump` writes a whole one)");
    if (k->metadata_at >= room)
        return fk_fail(err, FK_E_FORMAT,
                       "the JFR chunk's metadata lie at offset %llu, its %llu bytes end before",
                       (unsigned long long)k->metadata_at, (unsigned long long)room);
    struct fk_cur c = {k->begin + k->metadata_at, k->end};
    const uint8_t *at = c.p;
    if (jfr_u32(k, &c, &size) || size > (uint64_t)(k->end - at) || jfr_u64(k, &c, &type) ||
        type != 0 || size < (uint64_t)(c.p - at))
        return fk_fail(err, FK_E_FORMAT, "the JFR chunk has no metadata event at offset %llu",
                       (unsigned long long)k->metadata_at);
    c.end = at + size;
    int rc = read_event(k, c);
    if (rc == -FK_E_NOMEM)
        return jfr_nomem(k, err);
    if (rc)
        return fk_fail(err, FK_E_FORMAT, "the JFR chunk's metadata are broken");
    jfr_link_types(k);
    return 0;
}
