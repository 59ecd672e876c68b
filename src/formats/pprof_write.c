// SPDX-License-Identifier: Apache-2.0
// pprof out. Only what rows reach is written, numbered densely in column order; strings are written
// once each, in the order in which they are first needed. Addresses become absolute again.
#include "formats/pprof_int.h"

struct writer {
    const struct fk_profile *p;
    struct fk_buf buf;
    uint32_t *location_id, *function_id, *mapping_id, *string_id; // 0: not used (yet)
    uint32_t *unplaced; // mappings without placement, in the order of their numbers
    uint64_t *moved;    // per mapping: absolute address - relative address
    uint8_t *stack_used;
    uint32_t n_locations, n_functions, n_mappings, n_unplaced;
    FK_VEC(struct fk_str) strings; // as written; string 0 is ""
    struct fk_map index;           // of their contents
    struct fk_str time_key, time_unit;
    bool no_memory;
};

// ---- strings
// -------------------------------------------------------------------------------------------------------

static uint32_t put_text(struct writer *w, struct fk_str s)
{
    if (s.n == 0)
        return 0;
    uint64_t h = fk_hash_str(s);
    for (uint32_t at = fk_map_first(&w->index, h); at != FK_NONE;
         at = fk_map_next(&w->index, h, at))
        if (fk_str_eq(w->strings.v[fk_map_id(&w->index, at)], s))
            return fk_map_id(&w->index, at);
    uint32_t id = (uint32_t)w->strings.n;
    if (fk_vec_push(&w->strings, s) || fk_map_add(&w->index, h, id))
        w->no_memory = true;
    return id;
}

static uint32_t put_string(struct writer *w, uint32_t id)
{
    if (!w->string_id[id])
        w->string_id[id] = put_text(w, w->p->sym.string[id]);
    return w->string_id[id];
}

// ---- what is used
// --------------------------------------------------------------------------------------------------

static void use_location(struct writer *w, uint32_t id)
{
    const struct fk_symbols *s = &w->p->sym;
    if (w->location_id[id])
        return;
    w->location_id[id] = 1;
    const struct fk_location *l = &s->location[id];
    for (uint32_t i = 0; i < l->line_count; i++) {
        uint32_t function = s->line[l->line_begin + i].function;
        if (function != FK_NONE)
            w->function_id[function] = 1;
    }
    // A mapping that this profile did not place (a merge of several): as if loaded at 0.
    if (l->mapping != FK_NONE && !w->mapping_id[l->mapping]) {
        w->unplaced[w->n_unplaced++] = l->mapping;
        w->mapping_id[l->mapping] = ++w->n_mappings;
        w->moved[l->mapping] = 0 - s->mapping[l->mapping].offset;
    }
}

static void number(uint32_t *id, uint32_t n, uint32_t *ret_used)
{
    uint32_t used = 0;
    for (uint32_t i = 0; i < n; i++)
        if (id[i])
            id[i] = ++used;
    *ret_used = used;
}

static void find_used(struct writer *w)
{
    const struct fk_profile *p = w->p;
    const struct fk_symbols *s = &p->sym;
    for (uint32_t i = 0; i < p->n_placements; i++) {
        uint32_t m = p->placement[i].mapping;
        w->mapping_id[m] = ++w->n_mappings;
        w->moved[m] = p->placement[i].start - s->mapping[m].offset;
    }
    for (uint64_t r = 0; r < p->n_rows; r++)
        w->stack_used[p->stack[r]] = 1;
    for (uint32_t k = 0; k < s->n_stacks; k++)
        for (uint32_t f = s->stack_begin[k]; w->stack_used[k] && f < s->stack_begin[k + 1]; f++)
            use_location(w, s->frame[f]);
    number(w->location_id, s->n_locations, &w->n_locations);
    number(w->function_id, s->n_functions, &w->n_functions);
}

// ---- messages
// ------------------------------------------------------------------------------------------------------

static void put_value_type(struct writer *w, uint32_t field, struct fk_str type, struct fk_str unit)
{
    size_t mark = fk_pb_begin(&w->buf, field);
    fk_pb_u64_nz(&w->buf, 1, put_text(w, type));
    fk_pb_u64_nz(&w->buf, 2, put_text(w, unit));
    fk_pb_end(&w->buf, mark);
}

static void put_label(struct writer *w, uint32_t key, uint32_t str, int64_t num, uint32_t unit)
{
    size_t mark = fk_pb_begin(&w->buf, 3);
    fk_pb_u64_nz(&w->buf, 1, key);
    fk_pb_u64_nz(&w->buf, 2, str);
    fk_pb_u64_nz(&w->buf, 3, (uint64_t)num);
    fk_pb_u64_nz(&w->buf, 4, unit);
    fk_pb_end(&w->buf, mark);
}

static void put_labels(struct writer *w, uint32_t set)
{
    const struct fk_symbols *s = &w->p->sym;
    for (uint32_t i = s->set_begin[set]; i < s->set_begin[set + 1]; i++) {
        const struct fk_attr *a = &s->attr[i];
        put_label(w, put_string(w, a->key), a->str ? put_string(w, a->str) : 0, a->num,
                  put_string(w, a->unit));
    }
}

// Packed varints straight into the buffer; the room is the worst case.
static void put_frames(struct writer *w, uint32_t stack)
{
    const struct fk_symbols *s = &w->p->sym;
    size_t mark = fk_pb_begin(&w->buf, 1), n = s->stack_begin[stack + 1] - s->stack_begin[stack];
    uint8_t *begin = (uint8_t *)fk_buf_reserve(&w->buf, n * 5), *to = begin;
    for (uint32_t f = s->stack_begin[stack]; begin && f < s->stack_begin[stack + 1]; f++)
        to = fk_varint_write(to, w->location_id[s->frame[f]]);
    w->buf.n += (size_t)(to - begin);
    fk_pb_end(&w->buf, mark);
}

static void put_sample(struct writer *w, uint64_t row, uint64_t obs)
{
    const struct fk_profile *p = w->p;
    uint32_t stack = p->stack[row];
    size_t mark = fk_pb_begin(&w->buf, PPROF_SAMPLE);
    if (p->sym.stack_begin[stack] != p->sym.stack_begin[stack + 1])
        put_frames(w, stack);
    size_t values = fk_pb_begin(&w->buf, 2);
    for (uint32_t k = 0; k < p->n_types; k++)
        fk_buf_varint(&w->buf, (uint64_t)p->value[k][obs]);
    fk_pb_end(&w->buf, values);
    if (p->set && p->set[row])
        put_labels(w, p->set[row]);
    if (p->time_ns && p->time_ns[obs] != FK_NO_TIME)
        put_label(w, put_text(w, w->time_key), 0, p->time_ns[obs], put_text(w, w->time_unit));
    fk_pb_end(&w->buf, mark);
}

static void put_samples(struct writer *w)
{
    const struct fk_profile *p = w->p;
    for (uint64_t r = 0; r < p->n_rows; r++) {
        uint64_t begin = p->obs_begin ? p->obs_begin[r] : r;
        uint64_t end = p->obs_begin ? p->obs_begin[r + 1] : r + 1;
        for (uint64_t o = begin; o < end; o++)
            put_sample(w, r, o);
    }
}

static void put_mapping(struct writer *w, const struct fk_placement *at)
{
    const struct fk_mapping *m = &w->p->sym.mapping[at->mapping];
    size_t mark = fk_pb_begin(&w->buf, PPROF_MAPPING);
    fk_pb_u64(&w->buf, 1, w->mapping_id[at->mapping]);
    fk_pb_u64_nz(&w->buf, 2, at->start);
    fk_pb_u64_nz(&w->buf, 3, at->limit);
    fk_pb_u64_nz(&w->buf, 4, m->offset);
    fk_pb_u64_nz(&w->buf, 5, put_string(w, m->file));
    fk_pb_u64_nz(&w->buf, 6, put_string(w, m->build_id));
    static const uint32_t flag[4] = {FK_PLACEMENT_HAS_FUNCTIONS, FK_PLACEMENT_HAS_FILENAMES,
                                     FK_PLACEMENT_HAS_LINES, FK_PLACEMENT_HAS_INLINES};
    for (uint32_t i = 0; i < 4; i++)
        fk_pb_u64_nz(&w->buf, 7 + i, (at->flags & flag[i]) != 0);
    fk_pb_end(&w->buf, mark);
}

static void put_mappings(struct writer *w)
{
    const struct fk_profile *p = w->p;
    for (uint32_t i = 0; i < p->n_placements; i++)
        put_mapping(w, &p->placement[i]);
    for (uint32_t i = 0; i < w->n_unplaced; i++) {
        struct fk_placement at = {.mapping = w->unplaced[i]};
        put_mapping(w, &at);
    }
}

static void put_location(struct writer *w, uint32_t id)
{
    const struct fk_symbols *s = &w->p->sym;
    const struct fk_location *l = &s->location[id];
    uint64_t address = l->address + (l->mapping == FK_NONE ? 0 : w->moved[l->mapping]);
    size_t mark = fk_pb_begin(&w->buf, PPROF_LOCATION);
    fk_pb_u64(&w->buf, 1, w->location_id[id]);
    fk_pb_u64_nz(&w->buf, 2, l->mapping == FK_NONE ? 0 : w->mapping_id[l->mapping]);
    fk_pb_u64_nz(&w->buf, 3, address);
    for (uint32_t i = 0; i < l->line_count; i++) {
        const struct fk_line *line = &s->line[l->line_begin + i];
        size_t inner = fk_pb_begin(&w->buf, 4);
        fk_pb_u64_nz(&w->buf, 1, line->function == FK_NONE ? 0 : w->function_id[line->function]);
        fk_pb_u64_nz(&w->buf, 2, (uint64_t)line->line);
        fk_pb_u64_nz(&w->buf, 3, (uint64_t)line->column);
        fk_pb_end(&w->buf, inner);
    }
    fk_pb_u64_nz(&w->buf, 5, (l->flags & FK_LOCATION_FOLDED) != 0);
    fk_pb_end(&w->buf, mark);
}

static void put_function(struct writer *w, uint32_t id)
{
    const struct fk_function *f = &w->p->sym.function[id];
    size_t mark = fk_pb_begin(&w->buf, PPROF_FUNCTION);
    fk_pb_u64(&w->buf, 1, w->function_id[id]);
    fk_pb_u64_nz(&w->buf, 2, put_string(w, f->name));
    fk_pb_u64_nz(&w->buf, 3, put_string(w, f->system_name));
    fk_pb_u64_nz(&w->buf, 4, put_string(w, f->file));
    fk_pb_u64_nz(&w->buf, 5, (uint64_t)f->start_line);
    fk_pb_end(&w->buf, mark);
}

static void put_facts(struct writer *w)
{
    const struct fk_profile *p = w->p;
    struct fk_buf *b = &w->buf;
    fk_pb_u64_nz(b, PPROF_DROP_FRAMES, put_text(w, p->drop_frames));
    fk_pb_u64_nz(b, PPROF_KEEP_FRAMES, put_text(w, p->keep_frames));
    fk_pb_u64_nz(b, PPROF_TIME, (uint64_t)p->time_ns_start);
    fk_pb_u64_nz(b, PPROF_DURATION, (uint64_t)p->duration_ns);
    if (p->has_period_type)
        put_value_type(w, PPROF_PERIOD_TYPE, p->period_type, p->period_unit);
    fk_pb_u64_nz(b, PPROF_PERIOD, (uint64_t)p->period);
    for (uint32_t i = 0; i < p->n_comments; i++)
        fk_pb_u64(b, PPROF_COMMENT, put_text(w, p->comment[i]));
    fk_pb_u64_nz(b, PPROF_DEFAULT_TYPE, put_text(w, p->default_type));
    fk_pb_u64_nz(b, PPROF_DOC_URL, put_text(w, p->doc_url));
}

static void put_all(struct writer *w)
{
    const struct fk_profile *p = w->p;
    for (uint32_t k = 0; k < p->n_types; k++)
        put_value_type(w, PPROF_SAMPLE_TYPE, p->type[k].type, p->type[k].unit);
    put_samples(w);
    put_mappings(w);
    for (uint32_t i = 0; i < p->sym.n_locations; i++)
        if (w->location_id[i])
            put_location(w, i);
    for (uint32_t i = 0; i < p->sym.n_functions; i++)
        if (w->function_id[i])
            put_function(w, i);
    put_facts(w);
    for (size_t i = 0; i < w->strings.n; i++)
        fk_pb_bytes(&w->buf, PPROF_STRING, w->strings.v[i]);
}

// ---- whole
// ---------------------------------------------------------------------------------------------------------

static int start(struct writer *w, const struct fk_profile *p)
{
    const struct fk_symbols *s = &p->sym;
    memset(w, 0, sizeof(*w));
    fk_buf_init(&w->buf, 0);
    w->p = p;
    w->time_key = p->time_key.n ? p->time_key : FK_S("end_timestamp_ns");
    w->time_unit = p->time_key.n ? p->time_unit : FK_S("nanoseconds");
    w->location_id = fk_calloc(s->n_locations, sizeof(uint32_t));
    w->function_id = fk_calloc(s->n_functions, sizeof(uint32_t));
    w->mapping_id = fk_calloc(s->n_mappings, sizeof(uint32_t));
    w->string_id = fk_calloc(s->n_strings, sizeof(uint32_t));
    w->unplaced = fk_calloc(s->n_mappings, sizeof(uint32_t));
    w->moved = fk_calloc(s->n_mappings, sizeof(uint64_t));
    w->stack_used = fk_calloc(s->n_stacks, 1);
    if (!w->location_id || !w->function_id || !w->mapping_id || !w->string_id || !w->moved ||
        !w->unplaced || !w->stack_used || fk_vec_push(&w->strings, FK_S("")))
        return -FK_E_NOMEM;
    return 0;
}

static void finish(struct writer *w)
{
    fk_free(w->location_id);
    fk_free(w->function_id);
    fk_free(w->mapping_id);
    fk_free(w->string_id);
    fk_free(w->unplaced);
    fk_free(w->moved);
    fk_free(w->stack_used);
    fk_vec_free(&w->strings);
    fk_map_free(&w->index);
    fk_buf_free(&w->buf);
}

static int deliver(const struct writer *w, int gzip_level, struct fk_out out, struct fk_err *err)
{
    if (gzip_level <= 0)
        return fk_out_put(out, w->buf.p, w->buf.n, err);
    FK_AUTO_BUF packed;
    fk_buf_init(&packed, 0);
    int rc = fk_gzip(w->buf.p, w->buf.n, gzip_level, &packed, err);
    return rc ? rc : fk_out_put(out, packed.p, packed.n, err);
}

int fk_pprof_encode(const struct fk_profile *p, const struct fk_encode_opts *opts,
                    struct fk_out out, struct fk_err *err)
{
    struct writer w;
    int rc = start(&w, p);
    if (!rc) {
        find_used(&w);
        put_all(&w);
    }
    if (rc || w.no_memory)
        rc = fk_fail_nomem(err);
    else if (!(rc = fk_buf_check(&w.buf, "pprof", err)))
        rc = deliver(&w, opts->gzip_level, out, err);
    finish(&w);
    return rc;
}
