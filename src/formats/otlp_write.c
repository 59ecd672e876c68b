// SPDX-License-Identifier: Apache-2.0
// OpenTelemetry profiles out: one ExportProfilesServiceRequest of revision 1.10, its field numbers.
// An OTLP profile has one type, so each column becomes a profile of its own; a column of time that
// is count x period is left out, as the period says it. What OTLP has no field for is written as
// the attributes that its conventions name (opentelemetry.io/docs/specs/semconv/registry/attributes
// /pprof). Several observations without a time become one.
#include "formats/otlp_int.h"

struct link {
    struct fk_str trace, span; // hexadecimal
};

struct writer {
    const struct fk_profile *p;
    // id in the file of each id in the model, 0: not written (yet)
    uint32_t *location, *function, *mapping, *stack, *string;
    uint64_t *moved; // per mapping: absolute address - relative address
    uint32_t n_locations, n_functions, n_mappings, n_stacks; // written, with the empty first
    FK_VEC(struct fk_str) texts;
    FK_VEC(struct fk_attr) attrs; // ids of texts
    FK_VEC(struct link) links;
    struct fk_map text_index, attr_index, link_index;
    // tables as they grow, the profiles, a message in the making
    struct fk_buf mappings, locations, functions, links_out, attributes, stacks, profiles, part;
    uint64_t *set; // scratch: attributes of a sample
    size_t set_cap;
    bool no_memory;
};

// ---- strings, attributes, links ----

static uint32_t put_text(struct writer *w, struct fk_str s)
{
    uint64_t h = fk_hash_str(s);
    if (s.n == 0)
        return 0;
    for (uint32_t at = fk_map_first(&w->text_index, h); at != FK_NONE;
         at = fk_map_next(&w->text_index, h, at))
        if (fk_str_eq(w->texts.v[fk_map_id(&w->text_index, at)], s))
            return fk_map_id(&w->text_index, at);
    uint32_t id = (uint32_t)w->texts.n;
    if (fk_vec_push(&w->texts, s) || fk_map_add(&w->text_index, h, id))
        w->no_memory = true;
    return id;
}

static uint32_t put_string(struct writer *w, uint32_t id)
{
    if (!w->string[id])
        w->string[id] = put_text(w, w->p->sym.string[id]);
    return w->string[id];
}

static uint32_t new_attr(struct writer *w, const struct fk_attr *a, uint64_t h)
{
    if (fk_vec_push(&w->attrs, *a) || fk_map_add(&w->attr_index, h, (uint32_t)(w->attrs.n - 1)))
        w->no_memory = true;
    return (uint32_t)w->attrs.n;
}

// Its place in the table, behind the empty one; *is_new: its entry is to be written.
static uint32_t find_attr(struct writer *w, const struct fk_attr *a, bool *is_new)
{
    uint64_t h =
        fk_hash_u64(((uint64_t)a->key << 32 | a->str) ^ fk_hash_u64((uint64_t)a->num + a->unit));
    for (uint32_t at = fk_map_first(&w->attr_index, h); at != FK_NONE;
         at = fk_map_next(&w->attr_index, h, at)) {
        const struct fk_attr *b = &w->attrs.v[fk_map_id(&w->attr_index, at)];
        if (a->key == b->key && a->str == b->str && a->unit == b->unit && a->num == b->num) {
            *is_new = false;
            return fk_map_id(&w->attr_index, at) + 1;
        }
    }
    *is_new = true;
    return new_attr(w, a, h);
}

static void begin_attr(struct writer *w, uint32_t key, size_t *mark, size_t *any)
{
    *mark = fk_pb_begin(&w->attributes, 6);
    fk_pb_u64_nz(&w->attributes, 1, key);
    *any = fk_pb_begin(&w->attributes, 2);
}

static void end_attr(struct writer *w, uint32_t unit, size_t mark, size_t any)
{
    fk_pb_end(&w->attributes, any);
    fk_pb_u64_nz(&w->attributes, 3, unit);
    fk_pb_end(&w->attributes, mark);
}

static uint32_t put_attr(struct writer *w, struct fk_str key, struct fk_str str, int64_t num,
                         struct fk_str unit)
{
    struct fk_attr a = {put_text(w, key), put_text(w, str), put_text(w, unit), num};
    size_t mark, any;
    bool is_new;
    uint32_t id = find_attr(w, &a, &is_new);
    if (!is_new)
        return id;
    begin_attr(w, a.key, &mark, &any);
    if (a.str)
        fk_pb_bytes(&w->attributes, 1, str);
    else
        fk_pb_u64(&w->attributes, 3, (uint64_t)num);
    end_attr(w, a.unit, mark, any);
    return id;
}

// Not looked for among those that are there: few are written, and none twice.
static uint32_t put_flag(struct writer *w, struct fk_str key, bool value)
{
    struct fk_attr a = {put_text(w, key), UINT32_MAX, 0, value};
    size_t mark, any;
    bool is_new;
    uint32_t id = find_attr(w, &a, &is_new);
    if (!is_new)
        return id;
    begin_attr(w, a.key, &mark, &any);
    fk_pb_u64(&w->attributes, 2, value);
    end_attr(w, 0, mark, any);
    return id;
}

static void put_hex(struct fk_buf *b, uint32_t number, struct fk_str hex)
{
    static const char digits[] = "0123456789abcdef";
    size_t mark = fk_pb_begin(b, number);
    for (size_t i = 0; i + 1 < hex.n; i += 2) {
        const char *high = memchr(digits, hex.p[i], 16), *low = memchr(digits, hex.p[i + 1], 16);
        unsigned both = high && low ? (unsigned)(high - digits) * 16 + (unsigned)(low - digits) : 0;
        fk_buf_byte(b, (uint8_t)both);
    }
    fk_pb_end(b, mark);
}

static bool is_id(struct fk_str s, size_t n)
{
    bool any = false;
    for (size_t i = 0; i < s.n; i++) {
        if (!((s.p[i] >= '0' && s.p[i] <= '9') || (s.p[i] >= 'a' && s.p[i] <= 'f')))
            return false;
        any |= s.p[i] != '0';
    }
    return s.n == n && any;
}

static uint32_t put_link(struct writer *w, struct fk_str trace, struct fk_str span)
{
    uint64_t h = fk_hash_u64(fk_hash_str(trace)) ^ fk_hash_str(span);
    for (uint32_t at = fk_map_first(&w->link_index, h); at != FK_NONE;
         at = fk_map_next(&w->link_index, h, at)) {
        const struct link *l = &w->links.v[fk_map_id(&w->link_index, at)];
        if (fk_str_eq(l->trace, trace) && fk_str_eq(l->span, span))
            return fk_map_id(&w->link_index, at) + 1;
    }
    if (fk_vec_push(&w->links, (struct link){trace, span}) ||
        fk_map_add(&w->link_index, h, (uint32_t)(w->links.n - 1)))
        w->no_memory = true;
    size_t mark = fk_pb_begin(&w->links_out, 4);
    if (trace.n)
        put_hex(&w->links_out, 1, trace);
    if (span.n)
        put_hex(&w->links_out, 2, span);
    fk_pb_end(&w->links_out, mark);
    return (uint32_t)w->links.n;
}

// ---- code ----

static void put_mapping(struct writer *w, uint32_t id, const struct fk_placement *place)
{
    static const struct {
        uint32_t flag;
        struct fk_str key;
    } flags[] = {{FK_PLACEMENT_HAS_FUNCTIONS, {"pprof.mapping.has_functions", 27}},
                 {FK_PLACEMENT_HAS_FILENAMES, {"pprof.mapping.has_filenames", 27}},
                 {FK_PLACEMENT_HAS_LINES, {"pprof.mapping.has_line_numbers", 30}},
                 {FK_PLACEMENT_HAS_INLINES, {"pprof.mapping.has_inline_frames", 31}}};
    const struct fk_symbols *s = &w->p->sym;
    const struct fk_mapping *m = &s->mapping[id];
    uint64_t attr[5];
    size_t n = 0;
    w->mapping[id] = w->n_mappings++;
    w->moved[id] = place->start - m->offset;
    for (size_t i = 0; i < FK_COUNTOF(flags); i++)
        attr[n++] = put_flag(w, flags[i].key, (place->flags & flags[i].flag) != 0);
    if (s->string[m->build_id].n)
        attr[n++] = put_attr(w, FK_S("process.executable.build_id.gnu"), s->string[m->build_id], 0,
                             FK_S(""));
    size_t mark = fk_pb_begin(&w->mappings, 1);
    fk_pb_u64_nz(&w->mappings, 1, place->start);
    fk_pb_u64_nz(&w->mappings, 2, place->limit);
    fk_pb_u64_nz(&w->mappings, 3, m->offset);
    fk_pb_u64_nz(&w->mappings, 4, put_string(w, m->file));
    fk_pb_packed(&w->mappings, 5, attr, n);
    fk_pb_end(&w->mappings, mark);
}

static uint32_t function_id(struct writer *w, uint32_t id)
{
    const struct fk_symbols *s = &w->p->sym;
    if (id == FK_NONE)
        return 0;
    if (w->function[id])
        return w->function[id];
    const struct fk_function *f = &s->function[id];
    size_t mark = fk_pb_begin(&w->functions, 3);
    fk_pb_u64_nz(&w->functions, 1, put_string(w, f->name));
    fk_pb_u64_nz(&w->functions, 2, put_string(w, f->system_name));
    fk_pb_u64_nz(&w->functions, 3, put_string(w, f->file));
    fk_pb_u64_nz(&w->functions, 4, (uint64_t)f->start_line);
    fk_pb_end(&w->functions, mark);
    return w->function[id] = w->n_functions++;
}

static void put_lines(struct writer *w, const struct fk_location *l)
{
    for (uint32_t i = 0; i < l->line_count; i++) {
        const struct fk_line *line = &w->p->sym.line[l->line_begin + i];
        uint32_t function = function_id(w, line->function);
        size_t mark = fk_pb_begin(&w->locations, 3);
        fk_pb_u64_nz(&w->locations, 1, function);
        fk_pb_u64_nz(&w->locations, 2, (uint64_t)line->line);
        fk_pb_u64_nz(&w->locations, 3, (uint64_t)line->column);
        fk_pb_end(&w->locations, mark);
    }
}

static uint32_t location_id(struct writer *w, uint32_t id)
{
    if (w->location[id])
        return w->location[id];
    const struct fk_location *l = &w->p->sym.location[id];
    // A mapping that this profile did not place (a merge of several): as if loaded at 0.
    if (l->mapping != FK_NONE && !w->mapping[l->mapping])
        put_mapping(w, l->mapping, &(struct fk_placement){.mapping = l->mapping});
    size_t mark = fk_pb_begin(&w->locations, 2);
    uint64_t moved = l->mapping != FK_NONE ? w->moved[l->mapping] : 0;
    fk_pb_u64_nz(&w->locations, 1, l->mapping != FK_NONE ? w->mapping[l->mapping] : 0);
    fk_pb_u64_nz(&w->locations, 2, l->address + moved);
    put_lines(w, l);
    if (l->flags & FK_LOCATION_FOLDED) {
        uint64_t folded = put_flag(w, FK_S("pprof.location.is_folded"), true);
        fk_pb_packed(&w->locations, 4, &folded, 1);
    }
    fk_pb_end(&w->locations, mark);
    return w->location[id] = w->n_locations++;
}

static uint32_t stack_id(struct writer *w, uint32_t id)
{
    const struct fk_symbols *s = &w->p->sym;
    uint32_t begin = s->stack_begin[id], end = s->stack_begin[id + 1];
    if (begin == end)
        return 0;
    if (w->stack[id])
        return w->stack[id];
    for (uint32_t f = begin; f < end; f++)
        location_id(w, s->frame[f]);
    size_t mark = fk_pb_begin(&w->stacks, 7), inner = fk_pb_begin(&w->stacks, 1);
    for (uint32_t f = begin; f < end; f++)
        fk_buf_varint(&w->stacks, w->location[s->frame[f]]);
    fk_pb_end(&w->stacks, inner);
    fk_pb_end(&w->stacks, mark);
    return w->stack[id] = w->n_stacks++;
}

// ---- samples ----

static bool need_set(struct writer *w, size_t n)
{
    if (n <= w->set_cap)
        return true;
    uint64_t *v = fk_reallocarray(w->set, n, sizeof(*v));
    if (!v) {
        w->no_memory = true;
        return false;
    }
    w->set = v;
    w->set_cap = n;
    return true;
}

// Attributes and link of a sample, without those that make the link.
static void put_set(struct writer *w, uint32_t set)
{
    const struct fk_symbols *s = &w->p->sym;
    struct fk_str trace = {NULL, 0}, span = {NULL, 0};
    size_t n = 0;
    if (!need_set(w, s->set_begin[set + 1] - s->set_begin[set] + 1))
        return;
    for (uint32_t i = s->set_begin[set]; i < s->set_begin[set + 1]; i++) {
        const struct fk_attr *a = &s->attr[i];
        struct fk_str key = s->string[a->key], str = s->string[a->str], unit = s->string[a->unit];
        bool is_trace = !trace.p && fk_str_eq(key, FK_S("trace_id")) && is_id(str, 32);
        bool is_span = !span.p && fk_str_eq(key, FK_S("span_id")) && is_id(str, 16);
        if (is_trace)
            trace = str;
        else if (is_span)
            span = str;
        else
            w->set[n++] = put_attr(w, key, str, a->num, a->str || unit.n ? unit : FK_S("1"));
    }
    fk_pb_packed(&w->part, 2, w->set, n);
    if (trace.p || span.p)
        fk_pb_u64(&w->part, 3, put_link(w, trace, span));
}

static void put_one(struct writer *w, uint64_t row, uint32_t column, uint64_t begin, uint64_t end)
{
    const struct fk_profile *p = w->p;
    const int64_t *value = p->value[column];
    bool timed = p->time_ns && p->time_ns[begin] != FK_NO_TIME;
    uint64_t sum = 0;
    uint32_t stack = stack_id(w, p->stack[row]);
    size_t mark = fk_pb_begin(&w->part, 2);
    fk_pb_u64_nz(&w->part, 1, stack);
    put_set(w, p->set ? p->set[row] : 0);
    size_t values = fk_pb_begin(&w->part, 4);
    for (uint64_t i = begin; i < end; i++) {
        sum += (uint64_t)value[i];
        if (timed)
            fk_buf_varint(&w->part, (uint64_t)value[i]);
    }
    if (!timed)
        fk_buf_varint(&w->part, sum);
    fk_pb_end(&w->part, values);
    if (timed) {
        size_t times = fk_pb_begin(&w->part, 5);
        for (uint64_t i = begin; i < end; i++)
            fk_buf_le64(&w->part, (uint64_t)p->time_ns[i]);
        fk_pb_end(&w->part, times);
    }
    fk_pb_end(&w->part, mark);
}

// Observations with and without a time cannot stand in one sample.
static void put_row(struct writer *w, uint64_t row, uint32_t column)
{
    const struct fk_profile *p = w->p;
    uint64_t at = p->obs_begin ? p->obs_begin[row] : row;
    uint64_t end = p->obs_begin ? p->obs_begin[row + 1] : row + 1;
    while (at < end) {
        uint64_t next = at + 1;
        while (p->time_ns && next < end &&
               (p->time_ns[next] == FK_NO_TIME) == (p->time_ns[at] == FK_NO_TIME))
            next++;
        if (!p->time_ns)
            next = end;
        put_one(w, row, column, at, next);
        at = next;
    }
}

// ---- profiles ----

static void put_type(struct writer *w, uint32_t number, struct fk_str type, struct fk_str unit)
{
    size_t mark = fk_pb_begin(&w->part, number);
    fk_pb_u64_nz(&w->part, 1, put_text(w, type));
    fk_pb_u64_nz(&w->part, 2, put_text(w, unit));
    fk_pb_end(&w->part, mark);
}

static uint32_t put_comments(struct writer *w)
{
    const struct fk_profile *p = w->p;
    size_t mark, any;
    begin_attr(w, put_text(w, FK_S("pprof.profile.comment")), &mark, &any);
    size_t array = fk_pb_begin(&w->attributes, 5);
    for (uint32_t i = 0; i < p->n_comments; i++) {
        size_t element = fk_pb_begin(&w->attributes, 1);
        fk_pb_bytes(&w->attributes, 1, p->comment[i]);
        fk_pb_end(&w->attributes, element);
    }
    fk_pb_end(&w->attributes, array);
    end_attr(w, 0, mark, any);
    // Takes its place among the others; no other is like it.
    return new_attr(w, &(struct fk_attr){UINT32_MAX, UINT32_MAX, UINT32_MAX, 0}, 0);
}

static size_t put_facts(struct writer *w, uint64_t attr[6])
{
    const struct fk_profile *p = w->p;
    const struct {
        struct fk_str key, text;
    } facts[] = {
        {FK_S("pprof.scope.default_sample_type"), p->default_type},
        {FK_S("pprof.profile.drop_frames"), p->drop_frames},
        {FK_S("pprof.profile.keep_frames"), p->keep_frames},
        {FK_S("pprof.profile.doc_url"), p->doc_url},
    };
    size_t n = 0;
    for (size_t i = 0; i < FK_COUNTOF(facts); i++)
        if (facts[i].text.n)
            attr[n++] = put_attr(w, facts[i].key, facts[i].text, 0, FK_S(""));
    if (p->n_comments)
        attr[n++] = put_comments(w);
    return n;
}

static void put_profile(struct writer *w, uint32_t column, const uint64_t *attr, size_t n_attrs)
{
    const struct fk_profile *p = w->p;
    fk_buf_clear(&w->part);
    put_type(w, 1, p->type[column].type, p->type[column].unit);
    for (uint64_t r = 0; r < p->n_rows; r++)
        put_row(w, r, column);
    if (p->time_ns_start)
        fk_pb_fixed64(&w->part, 3, (uint64_t)p->time_ns_start);
    fk_pb_u64_nz(&w->part, 4, (uint64_t)p->duration_ns);
    if (p->has_period_type)
        put_type(w, 5, p->period_type, p->period_unit);
    fk_pb_u64_nz(&w->part, 6, (uint64_t)p->period);
    fk_pb_packed(&w->part, 11, attr, n_attrs);
    fk_pb_bytes(&w->profiles, 2, fk_buf_view(&w->part));
    if (w->part.failed)
        w->no_memory = true;
}

// Whether the second column says no more than the first and the period.
static bool follows_from_period(const struct fk_profile *p)
{
    if (p->n_types != 2 || p->period <= 0 || !fk_str_eq(p->type[0].unit, FK_S("count")) ||
        !fk_str_eq(p->type[1].unit, FK_S("nanoseconds")) ||
        !fk_str_eq(p->period_unit, FK_S("nanoseconds")) ||
        !fk_str_eq(p->type[1].type, p->period_type))
        return false;
    for (uint64_t i = 0; i < p->n_obs; i++)
        if ((uint64_t)p->value[1][i] != (uint64_t)p->value[0][i] * (uint64_t)p->period)
            return false;
    return true;
}

// ---- whole ----

static void put_empty(struct fk_buf *b, uint32_t number)
{
    fk_pb_bytes(b, number, FK_S(""));
}

static int begin(struct writer *w)
{
    const struct fk_symbols *s = &w->p->sym;
    struct fk_buf *tables[] = {&w->mappings,   &w->locations, &w->functions, &w->links_out,
                               &w->attributes, &w->stacks,    &w->profiles,  &w->part};
    for (size_t i = 0; i < FK_COUNTOF(tables); i++)
        fk_buf_init(tables[i], 0);
    w->location = fk_calloc((size_t)s->n_locations + 1, sizeof(*w->location));
    w->function = fk_calloc((size_t)s->n_functions + 1, sizeof(*w->function));
    w->mapping = fk_calloc((size_t)s->n_mappings + 1, sizeof(*w->mapping));
    w->moved = fk_calloc((size_t)s->n_mappings + 1, sizeof(*w->moved));
    w->stack = fk_calloc((size_t)s->n_stacks + 1, sizeof(*w->stack));
    w->string = fk_calloc((size_t)s->n_strings + 1, sizeof(*w->string));
    if (!w->location || !w->function || !w->mapping || !w->moved || !w->stack || !w->string ||
        fk_vec_push(&w->texts, FK_S("")))
        return -FK_E_NOMEM;
    w->n_locations = w->n_functions = w->n_mappings = w->n_stacks = 1;
    put_empty(&w->mappings, 1);
    put_empty(&w->locations, 2);
    put_empty(&w->functions, 3);
    put_empty(&w->links_out, 4);
    put_empty(&w->attributes, 6);
    put_empty(&w->stacks, 7);
    return 0;
}

static void end(struct writer *w)
{
    struct fk_buf *tables[] = {&w->mappings,   &w->locations, &w->functions, &w->links_out,
                               &w->attributes, &w->stacks,    &w->profiles,  &w->part};
    for (size_t i = 0; i < FK_COUNTOF(tables); i++)
        fk_buf_free(tables[i]);
    fk_free(w->location);
    fk_free(w->function);
    fk_free(w->mapping);
    fk_free(w->moved);
    fk_free(w->stack);
    fk_free(w->string);
    fk_free(w->set);
    fk_vec_free(&w->texts);
    fk_vec_free(&w->attrs);
    fk_vec_free(&w->links);
    fk_map_free(&w->text_index);
    fk_map_free(&w->attr_index);
    fk_map_free(&w->link_index);
}

static void put_profiles(struct writer *w)
{
    const struct fk_profile *p = w->p;
    uint64_t attr[6];
    for (uint32_t i = 0; i < p->n_placements; i++)
        if (!w->mapping[p->placement[i].mapping])
            put_mapping(w, p->placement[i].mapping, &p->placement[i]);
    size_t n = put_facts(w, attr);
    uint32_t columns = follows_from_period(p) ? 1 : p->n_types;
    for (uint32_t k = 0; k < columns; k++)
        put_profile(w, k, attr, n);
}

// Labels as attributes; the service by the name that it has in OpenTelemetry. Private ones are
// ours.
static void put_resource(struct fk_buf *b, const struct fk_labels *labels)
{
    size_t mark = fk_pb_begin(b, 1);
    for (size_t i = 0; i < labels->n; i++) {
        struct fk_str name = labels->v[i].name;
        if (fk_str_starts(name, FK_S("__")) || fk_str_eq(name, FK_S("service.name")))
            continue;
        if (fk_str_eq(name, FK_S("service_name")))
            name = FK_S("service.name");
        size_t pair = fk_pb_begin(b, 1);
        fk_pb_bytes(b, 1, name);
        size_t any = fk_pb_begin(b, 2);
        fk_pb_bytes(b, 1, labels->v[i].value);
        fk_pb_end(b, any);
        fk_pb_end(b, pair);
    }
    fk_pb_end(b, mark);
}

// Message `number` around what *b has.
static void wrap(struct fk_buf *b, uint32_t number, struct fk_buf *to, bool *failed)
{
    fk_pb_bytes(to, number, fk_buf_view(b));
    *failed |= b->failed != 0;
}

static int put_request(struct writer *w, const struct fk_labels *labels, struct fk_out out,
                       struct fk_err *err)
{
    const struct fk_buf *tables[] = {&w->mappings,  &w->locations,  &w->functions,
                                     &w->links_out, &w->attributes, &w->stacks};
    bool failed = w->no_memory;
    struct fk_buf *b = &w->part;
    FK_AUTO_BUF whole;
    fk_buf_init(&whole, 0);
    fk_buf_clear(b);
    if (labels)
        put_resource(b, labels);
    wrap(&w->profiles, 2, b, &failed);
    fk_buf_clear(&w->profiles);
    wrap(b, 1, &whole, &failed);
    fk_buf_clear(b);
    for (size_t i = 0; i < FK_COUNTOF(tables); i++) {
        fk_buf_str(b, fk_buf_view(tables[i]));
        failed |= tables[i]->failed != 0;
    }
    for (size_t i = 0; i < w->texts.n; i++)
        fk_pb_bytes(b, 5, w->texts.v[i]);
    wrap(b, 2, &whole, &failed);
    if (failed || whole.failed)
        return fk_fail_nomem(err);
    return out.write(out.arg, whole.p, whole.n, err);
}

int fk_otlp_encode(const struct fk_profile *p, const struct fk_encode_opts *opts, struct fk_out out,
                   struct fk_err *err)
{
    struct writer w = {.p = p};
    int rc = begin(&w) ? fk_fail_nomem(err) : 0;
    if (!rc) {
        put_profiles(&w);
        rc = put_request(&w, opts ? opts->labels : NULL, out, err);
    }
    end(&w);
    return rc;
}
