// SPDX-License-Identifier: Apache-2.0
// The types of a JFR 0.9 chunk (JDK 7 and 8, JRockit): producers with data structures, event types
// and content types. Everything is big-endian and of fixed width; content types are the pools of
// constants; events have a fixed head, which is made fields here.
#include "formats/jfr_int.h"

enum { CONTENT_MILLIS = 3, CONTENT_NANOS = 4, CONTENT_TICKS = 5 };
enum { CONTENT_THREAD = 7, CONTENT_STACK = 9, CONTENT_PERCENT = 11 };
enum { DATA_ARRAY = 13, DATA_STRUCT = 14, DATA_STRUCT_ARRAY = 15 };
enum { EVENT_BUFFER_LOST = 2 };

// Data structures have no ids of their own: they lie beyond those of content types.
#define STRUCTURES ((uint64_t)1 << 40)

struct old {
    struct jfr_chunk *k;
    struct fk_cur c;
    uint64_t base;         // number of this producer's first structure, among all
    uint64_t n_structures; // of this producer
};

// ---- reading ----

static int i32(struct old *m, uint64_t *ret)
{
    return jfr_integer(m->k, JFR_U32, &m->c, ret);
}

static int u8(struct old *m, uint64_t *ret)
{
    return jfr_integer(m->k, JFR_U8, &m->c, ret);
}

static int text(struct old *m, struct fk_str *ret)
{
    uint64_t ignored;
    return jfr_text(m->k, JFR_UTF8, &m->c, ret, &ignored);
}

static int skip_texts(struct old *m, int n)
{
    struct fk_str ignored;
    for (int i = 0; i < n; i++)
        if (text(m, &ignored))
            return -FK_E_FORMAT;
    return 0;
}

// ---- data structures ----

static int kind_of(uint64_t data, enum jfr_kind *ret)
{
    static const uint8_t kinds[] = {JFR_BOOL, JFR_I8,   JFR_U8,   JFR_I16, JFR_U16,
                                    JFR_I32,  JFR_U32,  JFR_I64,  JFR_I64, JFR_F32,
                                    JFR_F64,  JFR_UTF8, JFR_UTF16};
    if (data >= FK_COUNTOF(kinds))
        return -FK_E_FORMAT;
    *ret = (enum jfr_kind)kinds[data];
    return 0;
}

static enum jfr_unit unit_of(uint64_t content)
{
    return content == CONTENT_MILLIS  ? JFR_MILLIS
           : content == CONTENT_NANOS ? JFR_NANOS
           : content == CONTENT_TICKS ? JFR_TICKS
                                      : JFR_PLAIN;
}

static int set_field(struct old *m, struct jfr_field *f, uint64_t data, uint64_t content,
                     uint64_t inner)
{
    enum jfr_kind kind = JFR_STRUCT;
    f->array = data == DATA_ARRAY || data == DATA_STRUCT_ARRAY;
    f->slot = (uint8_t)jfr_slot_of(f->name);
    f->unit = (uint8_t)unit_of(content);
    if (data == DATA_STRUCT || data == DATA_STRUCT_ARRAY)
        f->type = STRUCTURES + m->base + inner;
    else if (kind_of(data == DATA_ARRAY ? inner : data, &kind))
        return -FK_E_FORMAT;
    f->kind = (uint8_t)kind;
    f->reference = kind != JFR_STRUCT && kind < JFR_TEXT && content >= CONTENT_THREAD &&
                   content != CONTENT_PERCENT;
    if (f->reference)
        f->type = content;
    return 0;
}

static int read_field(struct old *m, uint64_t structure)
{
    uint64_t ignored, data, content, inner;
    struct fk_str name;
    if (text(m, &name) || skip_texts(m, 2) || u8(m, &ignored) || u8(m, &data) || i32(m, &content) ||
        i32(m, &inner) || i32(m, &ignored))
        return -FK_E_FORMAT;
    struct jfr_type *t = jfr_find_type(m->k, structure);
    struct jfr_field *f = t ? jfr_add_field(m->k, t) : NULL;
    if (!f)
        return -FK_E_NOMEM;
    f->name = name;
    return set_field(m, f, data, content, inner);
}

static int read_structures(struct old *m)
{
    uint64_t n, fields;
    if (i32(m, &m->n_structures) || m->n_structures > fk_cur_left(&m->c))
        return -FK_E_FORMAT;
    for (uint64_t i = 0; i < m->n_structures; i++) {
        struct jfr_type *t;
        uint64_t id = STRUCTURES + m->base + i;
        if (i32(m, &fields) || fields > fk_cur_left(&m->c))
            return -FK_E_FORMAT;
        if (jfr_add_type(m->k, id, &t))
            return -FK_E_NOMEM;
        for (n = 0; n < fields; n++) {
            int rc = read_field(m, id);
            if (rc)
                return rc;
        }
    }
    return 0;
}

static const struct jfr_type *structure(const struct old *m, uint64_t index)
{
    return index < m->n_structures ? jfr_find_type(m->k, STRUCTURES + m->base + index) : NULL;
}

// ---- events ----

static enum jfr_event event_of(struct fk_str path)
{
    static const struct {
        const char *path;
        enum jfr_event event;
    } events[] = {
        {"vm/prof/execution_sample", JFR_EXECUTION_SAMPLE},
        {"java/object_alloc_in_new_TLAB", JFR_ALLOC_IN_TLAB},
        {"java/object_alloc_in_new_tla", JFR_ALLOC_IN_TLAB},
        {"java/object_alloc_outside_TLAB", JFR_ALLOC_OUTSIDE_TLAB},
        {"java/object_alloc_outside_tla", JFR_ALLOC_OUTSIDE_TLAB},
        {"java/monitor_enter", JFR_MONITOR_ENTER},
        {"java/thread_park", JFR_THREAD_PARK},
        {"recordings/recording_setting", JFR_ACTIVE_SETTING},
    };
    for (size_t i = 0; i < FK_COUNTOF(events); i++)
        if (fk_str_eq(path, fk_str_of(events[i].path)))
            return events[i].event;
    return JFR_OTHER;
}

static int add_event(struct jfr_chunk *k, uint64_t id, enum jfr_event event, struct jfr_type **ret)
{
    size_t cap = k->events_cap;
    struct jfr_type *v =
        fk_arena_grow(k->arena, k->event, k->n_events, &cap, (size_t)k->n_events + 1, sizeof(*v));
    if (!v || (!jfr_find_event(k, id) && // of equal ids the first is found
               fk_map_add(&k->event_index, fk_hash_u64(id), k->n_events)))
        return -FK_E_NOMEM;
    k->event = v;
    k->events_cap = (uint32_t)cap;
    *ret = &v[k->n_events++];
    **ret = (struct jfr_type){.id = id, .event = (uint8_t)event};
    return 0;
}

static int add_head(struct jfr_chunk *k, struct jfr_type *t, enum jfr_slot slot, uint64_t content)
{
    struct jfr_field *f = jfr_add_field(k, t);
    if (!f)
        return -FK_E_NOMEM;
    f->slot = (uint8_t)slot;
    f->kind = content == CONTENT_THREAD ? JFR_U32 : JFR_I64;
    f->unit = content ? JFR_PLAIN : JFR_TICKS;
    f->reference = content != 0;
    f->type = content;
    return 0;
}

// Structures within an event are laid open (JRockit keeps an object's class and size in one).
static int add_fields(struct jfr_chunk *k, struct jfr_type *t, const struct jfr_type *from,
                      uint32_t depth)
{
    for (uint32_t i = 0; i < from->n_fields; i++) {
        const struct jfr_field *f = &from->field[i];
        const struct jfr_type *inner =
            f->kind == JFR_STRUCT && !f->array && depth < 2 ? jfr_find_type(k, f->type) : NULL;
        struct jfr_field *to = inner ? NULL : jfr_add_field(k, t);
        if (inner ? add_fields(k, t, inner, depth + 1) : !to)
            return -FK_E_NOMEM;
        if (to)
            *to = *f;
    }
    return 0;
}

static int make_event(struct old *m, uint64_t id, struct fk_str path, const uint64_t has[3],
                      uint64_t index)
{
    const struct jfr_type *body = structure(m, index);
    struct jfr_type *t;
    if (!body)
        return -FK_E_FORMAT;
    if (add_event(m->k, id, event_of(path), &t) || add_head(m->k, t, JFR_END_TIME, 0) ||
        (has[0] && add_head(m->k, t, JFR_START_TIME, 0)) ||
        (has[1] && add_head(m->k, t, JFR_THREAD, CONTENT_THREAD)) ||
        (has[2] && add_head(m->k, t, JFR_STACK_TRACE, CONTENT_STACK)))
        return -FK_E_NOMEM;
    // Only what is read needs its fields.
    return t->event == JFR_OTHER ? 0 : add_fields(m->k, t, body, 0);
}

static int read_events(struct old *m)
{
    uint64_t n, id, has[4], index, ignored;
    struct fk_str path;
    if (i32(m, &n))
        return -FK_E_FORMAT;
    for (uint64_t i = 0; i < n; i++) {
        if (i32(m, &id) || skip_texts(m, 2) || text(m, &path) || u8(m, &has[0]) || u8(m, &has[1]) ||
            u8(m, &has[2]) || u8(m, &has[3]) || i32(m, &index) || i32(m, &ignored))
            return -FK_E_FORMAT;
        int rc = make_event(m, id, path, has, index);
        if (rc)
            return rc;
    }
    return 0;
}

// ---- content types ----

static int read_contents(struct old *m)
{
    uint64_t n, id, data, index;
    if (i32(m, &n))
        return -FK_E_FORMAT;
    for (uint64_t i = 0; i < n; i++) {
        struct jfr_type *t;
        enum jfr_kind key;
        if (i32(m, &id) || skip_texts(m, 2) || u8(m, &data) || i32(m, &index) ||
            kind_of(data, &key))
            return -FK_E_FORMAT;
        const struct jfr_type *body = structure(m, index);
        struct jfr_field *field = body ? body->field : NULL; // the table may move
        uint32_t n_fields = body ? body->n_fields : 0;
        if (jfr_add_type(m->k, id, &t))
            return -FK_E_NOMEM;
        t->key_kind = (uint8_t)key;
        t->field = field;
        t->n_fields = t->fields_cap = n_fields;
    }
    return 0;
}

static int read_producer(struct old *m)
{
    uint64_t ignored, n;
    int rc;
    if (i32(m, &ignored) || skip_texts(m, 3) || i32(m, &n))
        return -FK_E_FORMAT;
    for (uint64_t i = 0; i < n; i++)
        if (skip_texts(m, 1))
            return -FK_E_FORMAT;
    if ((rc = read_structures(m)) || (rc = read_events(m)) || (rc = read_contents(m)))
        return rc;
    m->base += m->n_structures;
    return 0;
}

static int read_times(struct old *m)
{
    uint64_t start, end;
    int64_t from, to;
    struct jfr_chunk *k = m->k;
    if (jfr_u64(k, &m->c, &start) || jfr_u64(k, &m->c, &end) ||
        jfr_u64(k, &m->c, &k->start_ticks) || jfr_u64(k, &m->c, &k->ticks_per_second) ||
        jfr_u64(k, &m->c, &k->checkpoint_at) ||
        __builtin_mul_overflow((int64_t)start, 1000000, &from) ||
        __builtin_mul_overflow((int64_t)end, 1000000, &to))
        return -FK_E_FORMAT;
    k->start_ns = from;
    k->duration_ns = from > 0 && to > from ? to - from : 0;
    return 0;
}

int jfr_read_old_metadata(struct jfr_chunk *k, struct fk_err *err)
{
    struct old m = {.k = k, .c = {k->begin + k->metadata_at + 4, k->end}};
    struct jfr_type *lost;
    uint64_t type, n = 0;
    int rc = i32(&m, &type) || type != 0 || i32(&m, &n) ? -FK_E_FORMAT : 0;
    for (uint64_t i = 0; !rc && i < n; i++)
        rc = read_producer(&m);
    if (!rc)
        rc = read_times(&m);
    if (!rc)
        rc = add_event(k, EVENT_BUFFER_LOST, JFR_DATA_LOSS, &lost);
    if (rc == -FK_E_NOMEM)
        return jfr_nomem(k, err);
    if (rc)
        return fk_fail(err, FK_E_FORMAT, "the JFR 0.9 chunk's metadata are broken");
    jfr_link_types(k);
    return 0;
}
