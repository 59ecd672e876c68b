// SPDX-License-Identifier: Apache-2.0
// The tables of an OTLP request or profile: counted, allocated, then filled; every index is checked
// against the table that it points into. Entry 0 is kept like any other: it takes a place.
#include "formats/otlp_int.h"

struct filling {
    const struct otlp_request *q;
    struct otlp_tables *t; // counts of the first pass; arrays
    struct otlp_tables at; // how far each is filled
    struct fk_cur unit;    // 1.4 to 1.7: the message again, when it has units of attributes
    struct otlp_fault *fault;
};

static int check(const struct filling *x, uint64_t index, size_t n, const char *what)
{
    if (index < n || index == 0)
        return 0;
    return otlp_fail(x->fault, "%s %lld is beyond its table of %zu", what, (long long)index, n);
}

// ---- counting ----

static size_t count_numbers(const struct otlp_field *f)
{
    return fk_varint_count(f->b.p, (size_t)(f->b.end - f->b.p));
}

static int count_within(const struct filling *x, enum otlp_message message, unsigned id,
                        struct fk_cur c, size_t *n)
{
    struct otlp_reader r = otlp_read(&x->q->map, message, c);
    struct otlp_field f;
    int rc;
    while ((rc = otlp_next(&r, &f, x->fault)) == 1)
        if (f.id == id)
            *n += f.kind == OTLP_INTS ? count_numbers(&f) : 1;
    return rc;
}

static int count_field(const struct filling *x, struct otlp_tables *t, const struct otlp_field *f)
{
    switch (f->id) {
    case OTLP_T_MAPPING:
        t->n_mappings++;
        break;
    case OTLP_T_LOCATION:
        t->n_locations++;
        return count_within(x, OTLP_LOCATION, OTLP_L_LINE, f->b, &t->n_lines);
    case OTLP_T_FUNCTION:
        t->n_functions++;
        break;
    case OTLP_T_LINK:
        t->n_links++;
        break;
    case OTLP_T_STRING:
        t->n_strings++;
        break;
    case OTLP_T_ATTRIBUTE:
        t->n_attributes++;
        break;
    case OTLP_T_UNIT:
        t->n_units++;
        break;
    case OTLP_T_INDEX:
        t->n_indices += count_numbers(f);
        break;
    case OTLP_T_STACK:
        t->n_stacks++;
        return count_within(x, OTLP_STACK, OTLP_STACK_LOCATION, f->b, &t->n_frames);
    default:
        break;
    }
    return 0;
}

static int count_all(const struct filling *x, enum otlp_message message, struct fk_cur c)
{
    struct otlp_reader r = otlp_read(&x->q->map, message, c);
    struct otlp_field f;
    int rc;
    while ((rc = otlp_next(&r, &f, x->fault)) == 1)
        if ((rc = count_field(x, x->t, &f)))
            return rc;
    const struct otlp_tables *t = x->t;
    size_t most = FK_MAX(FK_MAX(t->n_strings, t->n_lines), FK_MAX(t->n_frames, t->n_indices));
    return rc == 0 && most >= FK_NONE - 1 ? otlp_fail(x->fault, "a table of over 2^32 entries")
                                          : rc;
}

static int alloc_all(struct filling *x)
{
    struct fk_arena *a = x->q->d->arena;
    struct otlp_tables *t = x->t;
    t->string = fk_arena_array(a, t->n_strings + 1, sizeof(*t->string));
    t->mapping = fk_arena_array(a, t->n_mappings + 1, sizeof(*t->mapping));
    t->location = fk_arena_array(a, t->n_locations + 1, sizeof(*t->location));
    t->line = fk_arena_array(a, t->n_lines + 1, sizeof(*t->line));
    t->function = fk_arena_array(a, t->n_functions + 1, sizeof(*t->function));
    t->link = fk_arena_array(a, t->n_links + 1, sizeof(*t->link));
    t->attribute = fk_arena_array(a, t->n_attributes + 1, sizeof(*t->attribute));
    t->stack_begin = fk_arena_array(a, t->n_stacks + 1, sizeof(*t->stack_begin));
    t->frame = fk_arena_array(a, t->n_frames + 1, sizeof(*t->frame));
    t->index = fk_arena_array(a, t->n_indices + 1, sizeof(*t->index));
    if (!t->string || !t->mapping || !t->location || !t->line || !t->function || !t->link ||
        !t->attribute || !t->stack_begin || !t->frame || !t->index)
        return -FK_E_NOMEM;
    t->stack_begin[0] = 0;
    t->string[0] = FK_S("");
    return 0;
}

// ---- entries ----

static int string_id(const struct filling *x, uint64_t v, const char *what, uint32_t *ret)
{
    *ret = (uint32_t)v;
    return check(x, v, x->t->n_strings, what);
}

static int put_function(struct filling *x, struct fk_cur c)
{
    struct otlp_reader r = otlp_read(&x->q->map, OTLP_FUNCTION, c);
    struct otlp_field f;
    struct fk_function to = {0};
    int rc;
    while ((rc = otlp_next(&r, &f, x->fault)) == 1) {
        if (f.id == OTLP_F_NAME)
            rc = string_id(x, f.v, "Function: name", &to.name);
        else if (f.id == OTLP_F_SYSTEM)
            rc = string_id(x, f.v, "Function: system name", &to.system_name);
        else if (f.id == OTLP_F_FILE)
            rc = string_id(x, f.v, "Function: file name", &to.file);
        else if (f.id == OTLP_F_LINE)
            to.start_line = (int64_t)f.v;
        if (rc < 0)
            return rc;
    }
    x->t->function[x->at.n_functions++] = to;
    return rc;
}

static int put_line(struct filling *x, struct fk_cur c)
{
    struct otlp_reader r = otlp_read(&x->q->map, OTLP_LINE, c);
    struct otlp_field f;
    struct fk_line to = {0};
    int rc;
    while ((rc = otlp_next(&r, &f, x->fault)) == 1) {
        if (f.id == OTLP_LINE_FUNCTION) {
            to.function = (uint32_t)f.v;
            if (check(x, f.v, x->t->n_functions, "Line: function"))
                return -FK_E_FORMAT;
        } else if (f.id == OTLP_LINE_LINE) {
            to.line = (int64_t)f.v;
        } else if (f.id == OTLP_LINE_COLUMN) {
            to.column = (int64_t)f.v;
        }
    }
    x->t->line[x->at.n_lines++] = to;
    return rc;
}

// Attribute numbers of a mapping, a location or a profile.
static int check_attributes(const struct filling *x, struct otlp_field f, const char *what)
{
    uint64_t v;
    while (otlp_number(&f, &v))
        if (check(x, v, x->t->n_attributes, what))
            return -FK_E_FORMAT;
    return 0;
}

static int take_location_attributes(struct filling *x, struct otlp_field f,
                                    struct otlp_location *to)
{
    uint64_t v;
    int rc = check_attributes(x, f, "Location: attribute");
    while (!rc && otlp_number(&f, &v)) {
        struct otlp_value value;
        if (v >= x->t->n_attributes)
            continue;
        const struct otlp_attribute *a = &x->t->attribute[v];
        if (!fk_str_eq(a->key, FK_S("pprof.location.is_folded"))) {
            x->t->location_attributes += a->key.n != 0;
            continue;
        }
        rc = otlp_value_read(x->q, x->t, a->value, &value);
        to->folded |= !rc && fk_str_eq(value.text, FK_S("true"));
    }
    return rc;
}

static int put_location(struct filling *x, struct fk_cur c)
{
    struct otlp_reader r = otlp_read(&x->q->map, OTLP_LOCATION, c);
    struct otlp_field f;
    struct otlp_location to = {.mapping = x->q->per_time ? 0 : FK_NONE,
                               .line_begin = (uint32_t)x->at.n_lines};
    int rc;
    while ((rc = otlp_next(&r, &f, x->fault)) == 1) {
        if (f.id == OTLP_L_MAPPING) {
            to.mapping = (uint32_t)f.v;
            rc = check(x, f.v, x->t->n_mappings, "Location: mapping");
        } else if (f.id == OTLP_L_ADDRESS) {
            to.address = f.v;
        } else if (f.id == OTLP_L_LINE) {
            rc = put_line(x, f.b);
        } else if (f.id == OTLP_L_FOLDED) {
            to.folded = f.v != 0;
        } else if (f.id == OTLP_L_ATTRIBUTE) {
            rc = take_location_attributes(x, f, &to);
        }
        if (rc < 0)
            return rc;
    }
    to.line_count = (uint32_t)x->at.n_lines - to.line_begin;
    if (to.mapping >= x->t->n_mappings)
        to.mapping = FK_NONE;
    x->t->location[x->at.n_locations++] = to;
    return rc;
}

static int put_link(struct filling *x, struct fk_cur c)
{
    struct otlp_reader r = otlp_read(&x->q->map, OTLP_LINK, c);
    struct otlp_field f;
    struct otlp_link to = {0};
    int rc;
    while ((rc = otlp_next(&r, &f, x->fault)) == 1) {
        struct fk_str id = otlp_str(&f);
        bool trace = f.id == OTLP_LINK_TRACE;
        if (id.n == (trace ? 16u : 8u))
            *(trace ? &to.trace : &to.span) = id;
        else
            x->t->odd_ids += id.n != 0;
    }
    x->t->link[x->at.n_links++] = to;
    return rc;
}

static int put_stack(struct filling *x, struct fk_cur c)
{
    struct otlp_reader r = otlp_read(&x->q->map, OTLP_STACK, c);
    struct otlp_field f;
    uint64_t v;
    int rc;
    while ((rc = otlp_next(&r, &f, x->fault)) == 1)
        while (otlp_number(&f, &v)) {
            if (v >= x->t->n_locations)
                return otlp_fail(x->fault, "Stack: location %lld is beyond its table of %zu",
                                 (long long)v, x->t->n_locations);
            x->t->frame[x->at.n_frames++] = (uint32_t)v;
        }
    x->t->stack_begin[++x->at.n_stacks] = (uint32_t)x->at.n_frames;
    return rc;
}

static int put_indices(struct filling *x, struct otlp_field *f)
{
    uint64_t v;
    while (otlp_number(f, &v)) {
        if (v >= x->t->n_locations)
            return otlp_fail(x->fault, "location_indices: %lld is beyond its table of %zu",
                             (long long)v, x->t->n_locations);
        x->t->index[x->at.n_indices++] = (uint32_t)v;
    }
    return 0;
}

static int put_attribute(struct filling *x, struct fk_cur c)
{
    struct otlp_reader r = otlp_read(&x->q->map, OTLP_ATTRIBUTE, c);
    struct otlp_field f;
    struct otlp_attribute to = {{"", 0}, {NULL, NULL}, {"", 0}};
    uint32_t id = 0;
    int rc;
    while ((rc = otlp_next(&r, &f, x->fault)) == 1) {
        if (f.id == OTLP_KV_KEY) {
            to.key = otlp_str(&f);
        } else if (f.id == OTLP_KV_VALUE) {
            to.value = f.b;
        } else {
            bool key = f.id == OTLP_KV_KEY_INDEX;
            if (string_id(x, f.v, key ? "attribute: key" : "attribute: unit", &id))
                return -FK_E_FORMAT;
            *(key ? &to.key : &to.unit) = x->t->string[id];
        }
    }
    x->t->attribute[x->at.n_attributes++] = to;
    return rc;
}

// ---- mappings: after the attributes, which carry their build id ----

static const struct {
    struct fk_str key;
    int rank;
} build_keys[] = {{{"process.executable.build_id.gnu", 31}, 4},
                  {{"process.executable.build_id.go", 30}, 3},
                  {{"process.executable.build_id.htlhash", 35}, 2},
                  {{"process.executable.build_id.profiling", 37}, 1}};

// What pprof says of a mapping, by the names that OpenTelemetry gives it.
static int take_flag(const struct filling *x, const struct otlp_attribute *a,
                     struct otlp_mapping *m)
{
    static const struct {
        struct fk_str key;
        uint32_t flag;
    } flags[] = {{{"pprof.mapping.has_functions", 27}, FK_PLACEMENT_HAS_FUNCTIONS},
                 {{"pprof.mapping.has_filenames", 27}, FK_PLACEMENT_HAS_FILENAMES},
                 {{"pprof.mapping.has_line_numbers", 30}, FK_PLACEMENT_HAS_LINES},
                 {{"pprof.mapping.has_inline_frames", 31}, FK_PLACEMENT_HAS_INLINES}};
    struct otlp_value value;
    for (size_t i = 0; i < FK_COUNTOF(flags); i++) {
        if (!fk_str_eq(a->key, flags[i].key))
            continue;
        int rc = otlp_value_read(x->q, x->t, a->value, &value);
        if (rc)
            return rc;
        m->has_flags = true;
        m->flags |= fk_str_eq(value.text, FK_S("true")) ? flags[i].flag : 0;
    }
    return 0;
}

static int take_build_id(const struct filling *x, struct otlp_field f, struct otlp_mapping *m)
{
    int best = 0, rc;
    uint64_t v;
    while (otlp_number(&f, &v)) {
        if ((rc = check(x, v, x->t->n_attributes, "Mapping: attribute")))
            return rc;
        const struct otlp_attribute *a = v < x->t->n_attributes ? &x->t->attribute[v] : NULL;
        if (a && (rc = take_flag(x, a, m)))
            return rc;
        for (size_t i = 0; a && i < FK_COUNTOF(build_keys); i++) {
            struct otlp_value value;
            if (build_keys[i].rank <= best || !fk_str_eq(a->key, build_keys[i].key))
                continue;
            if ((rc = otlp_value_read(x->q, x->t, a->value, &value)))
                return rc;
            best = build_keys[i].rank;
            m->build_text = value.text;
        }
    }
    return 0;
}

static int put_mapping_field(const struct filling *x, struct otlp_mapping *m,
                             const struct otlp_field *f)
{
    static const uint32_t flag[4] = {FK_PLACEMENT_HAS_FUNCTIONS, FK_PLACEMENT_HAS_FILENAMES,
                                     FK_PLACEMENT_HAS_LINES, FK_PLACEMENT_HAS_INLINES};
    switch (f->id) {
    case OTLP_M_START:
        m->start = f->v;
        break;
    case OTLP_M_LIMIT:
        m->limit = f->v;
        break;
    case OTLP_M_OFFSET:
        m->offset = f->v;
        break;
    case OTLP_M_FILE:
        return string_id(x, f->v, "Mapping: file name", &m->file);
    case OTLP_M_BUILD_ID:
        return string_id(x, f->v, "Mapping: build id", &m->build_id);
    case OTLP_M_ATTRIBUTE:
        return take_build_id(x, *f, m);
    case OTLP_M_FUNCTIONS:
    case OTLP_M_FILENAMES:
    case OTLP_M_LINES:
    case OTLP_M_INLINES:
        m->flags |= f->v ? flag[f->id - OTLP_M_FUNCTIONS] : 0;
        break;
    default:
        break;
    }
    return 0;
}

static int put_mapping(struct filling *x, struct fk_cur c)
{
    struct otlp_reader r = otlp_read(&x->q->map, OTLP_MAPPING, c);
    struct otlp_field f;
    struct otlp_mapping to = {.build_text = {"", 0}};
    int rc;
    while ((rc = otlp_next(&r, &f, x->fault)) == 1)
        if ((rc = put_mapping_field(x, &to, &f)))
            return rc;
    x->t->mapping[x->at.n_mappings++] = to;
    return rc;
}

// ---- units of attributes by their key (1.3 to 1.7) ----

static int put_unit(struct filling *x, struct fk_cur c)
{
    struct otlp_reader r = otlp_read(&x->q->map, OTLP_UNIT, c);
    struct otlp_field f;
    uint32_t key = 0, unit = 0;
    int rc;
    while ((rc = otlp_next(&r, &f, x->fault)) == 1)
        if (string_id(x, f.v, "AttributeUnit: string", f.id == OTLP_KV_UNIT ? &unit : &key))
            return -FK_E_FORMAT;
    if (rc || x->t->n_strings == 0 || x->t->n_units > 64)
        return rc;
    for (size_t i = 0; i < x->t->n_attributes; i++)
        if (fk_str_eq(x->t->attribute[i].key, x->t->string[key]))
            x->t->attribute[i].unit = x->t->string[unit];
    return 0;
}

// ---- passes: what an entry refers to is read before it ----

static int put_field(struct filling *x, int pass, struct otlp_field *f)
{
    switch (f->id) {
    case OTLP_T_STRING:
        if (pass == 0)
            x->t->string[x->at.n_strings++] = otlp_str(f);
        return 0;
    case OTLP_T_ATTRIBUTE:
        return pass == 1 ? put_attribute(x, f->b) : 0;
    case OTLP_T_FUNCTION:
        return pass == 1 ? put_function(x, f->b) : 0;
    case OTLP_T_LINK:
        return pass == 1 ? put_link(x, f->b) : 0;
    case OTLP_T_STACK:
        return pass == 1 ? put_stack(x, f->b) : 0;
    case OTLP_T_INDEX:
        return pass == 1 ? put_indices(x, f) : 0;
    case OTLP_T_MAPPING:
        return pass == 2 ? put_mapping(x, f->b) : 0;
    case OTLP_T_LOCATION:
        return pass == 2 ? put_location(x, f->b) : 0;
    case OTLP_T_UNIT:
        return pass == 2 ? put_unit(x, f->b) : 0;
    default:
        return 0;
    }
}

// A first entry without any content stands for "none".
static void settle_mappings(struct otlp_tables *t)
{
    const struct otlp_mapping *m = t->mapping;
    if (t->n_mappings == 0 || m->start || m->limit || m->offset || m->file || m->build_id ||
        m->build_text.n)
        return;
    for (size_t i = 0; i < t->n_locations; i++)
        if (t->location[i].mapping == 0)
            t->location[i].mapping = FK_NONE;
}

int otlp_tables_read(const struct otlp_request *q, enum otlp_message message, struct fk_cur c,
                     struct otlp_tables *ret, struct otlp_fault *fault)
{
    struct otlp_tables t = {0};
    struct filling x = {.q = q, .t = &t, .fault = fault};
    int rc = count_all(&x, message, c);
    if (!rc)
        rc = alloc_all(&x);
    for (int pass = 0; !rc && pass < 3; pass++) {
        struct otlp_reader r = otlp_read(&q->map, message, c);
        struct otlp_field f;
        while ((rc = otlp_next(&r, &f, fault)) == 1)
            if ((rc = put_field(&x, pass, &f)))
                return rc;
    }
    if (rc)
        return rc;
    settle_mappings(&t);
    *ret = t;
    return 0;
}

// The stacks of 1.6 and 1.7 stand in the profile, what they refer to does not.
static int read_indices(const struct otlp_request *q, struct fk_cur c, struct otlp_tables *ret,
                        struct otlp_fault *fault)
{
    struct otlp_tables t = *q->shared;
    struct filling x = {.q = q, .t = &t, .fault = fault};
    struct otlp_field f;
    struct otlp_reader r = otlp_read(&q->map, OTLP_PROFILE, c);
    int rc;
    t.n_indices = 0;
    while ((rc = otlp_next(&r, &f, fault)) == 1)
        t.n_indices += f.id == OTLP_T_INDEX ? count_numbers(&f) : 0;
    if (rc || t.n_indices >= FK_NONE)
        return rc ? rc : otlp_fail(fault, "location_indices has over 2^32 entries");
    t.index = fk_arena_array(q->d->arena, t.n_indices + 1, sizeof(*t.index));
    if (!t.index)
        return -FK_E_NOMEM;
    r = otlp_read(&q->map, OTLP_PROFILE, c);
    while ((rc = otlp_next(&r, &f, fault)) == 1)
        if (f.id == OTLP_T_INDEX && (rc = put_indices(&x, &f)))
            return rc;
    if (!rc)
        *ret = t;
    return rc;
}

int otlp_tables_of_profile(const struct otlp_request *q, struct fk_cur c, struct otlp_tables *ret,
                           struct otlp_fault *fault)
{
    if (q->shared)
        return read_indices(q, c, ret, fault);
    return otlp_tables_read(q, OTLP_PROFILE, c, ret, fault);
}

int otlp_tables_shared(struct otlp_request *q, struct otlp_fault *fault)
{
    struct otlp_reader r = otlp_read(&q->map, OTLP_REQUEST, q->bytes);
    struct otlp_field f;
    enum otlp_message message = OTLP_REQUEST;
    struct fk_cur c = q->bytes;
    bool own = false;
    int rc;
    q->shared = NULL;
    while ((rc = otlp_next(&r, &f, fault)) == 1) {
        if (f.id == OTLP_REQ_DICTIONARY) {
            message = OTLP_DICTIONARY;
            c = f.b;
        }
        own |= f.id >= OTLP_T_MAPPING && f.id < OTLP_UNUSED;
    }
    if (rc)
        return rc;
    if (message == OTLP_REQUEST && !own && q->map.layout < OTLP_1_7)
        return 0;
    if (message == OTLP_REQUEST && !own && q->map.layout == OTLP_MEANING)
        return 0;
    struct otlp_tables *t = fk_arena_zalloc(q->d->arena, sizeof(*t));
    if (!t)
        return -FK_E_NOMEM;
    rc = otlp_tables_read(q, message, c, t, fault);
    q->shared = rc ? NULL : t;
    return rc;
}
