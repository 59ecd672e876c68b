// SPDX-License-Identifier: Apache-2.0
// Records: one accepted profile by itself, in varints. Written by workers at ingest, so writing is
// straight-line code into space reserved for the worst case; read at start-up only.
#include "block/block.h"
#include "codec/codec.h"

// ---- writing ----

void fk_record_stamp(char *record, struct fk_id id)
{
    memcpy(record, &id.hi, 8);
    memcpy(record + 8, &id.lo, 8);
}

// Room for n numbers, at most 10 bytes each; the end is set by the caller with done().
static uint8_t *room(struct fk_buf *b, uint64_t numbers)
{
    size_t bytes;
    if (fk_mul_size((size_t)numbers, FK_VARINT_MAX, &bytes)) {
        b->failed = b->failed ? b->failed : FK_E_NOMEM;
        return NULL;
    }
    return (uint8_t *)fk_buf_reserve(b, bytes + 1);
}

static void done(struct fk_buf *b, const uint8_t *at)
{
    b->n = (size_t)((const char *)at - b->p);
}

static void put_strings(struct fk_buf *b, const struct fk_symbols *s)
{
    fk_buf_varint(b, s->n_strings);
    uint8_t *at = room(b, s->n_strings);
    for (uint32_t i = 0; at && i < s->n_strings; i++)
        at = fk_varint_write(at, s->string[i].n);
    if (at)
        done(b, at);
    for (uint32_t i = 0; i < s->n_strings; i++)
        fk_buf_str(b, s->string[i]);
}

static void put_functions(struct fk_buf *b, const struct fk_symbols *s)
{
    fk_buf_varint(b, s->n_functions);
    uint8_t *at = room(b, (uint64_t)s->n_functions * 4);
    for (uint32_t i = 0; at && i < s->n_functions; i++) {
        const struct fk_function *f = &s->function[i];
        at = fk_varint_write(at, f->name);
        at = fk_varint_write(at, f->system_name);
        at = fk_varint_write(at, f->file);
        at = fk_varint_write(at, fk_zigzag(f->start_line));
    }
    if (at)
        done(b, at);
}

static void put_mappings(struct fk_buf *b, const struct fk_profile *p)
{
    fk_buf_varint(b, p->sym.n_mappings);
    for (uint32_t i = 0; i < p->sym.n_mappings; i++) {
        const struct fk_mapping *m = &p->sym.mapping[i];
        fk_buf_varint(b, m->file);
        fk_buf_varint(b, m->build_id);
        fk_buf_varint(b, m->ordinal);
        fk_buf_varint(b, m->offset);
    }
    fk_buf_varint(b, p->n_placements);
    for (uint32_t i = 0; i < p->n_placements; i++) {
        const struct fk_placement *l = &p->placement[i];
        fk_buf_varint(b, l->mapping);
        fk_buf_varint(b, l->flags);
        fk_buf_varint(b, l->start);
        fk_buf_varint(b, l->limit);
    }
}

static void put_locations(struct fk_buf *b, const struct fk_symbols *s)
{
    uint64_t before = 0, lines = 0;
    fk_buf_varint(b, s->n_locations);
    uint8_t *at = room(b, (uint64_t)s->n_locations * 4);
    for (uint32_t i = 0; at && i < s->n_locations; i++) {
        const struct fk_location *l = &s->location[i];
        at = fk_varint_write(at, (uint64_t)(l->mapping + 1u)); // FK_NONE wraps to 0
        at = fk_varint_write(at, l->flags);
        at = fk_varint_write(at, l->line_count);
        at = fk_varint_write(at, fk_zigzag((int64_t)(l->address - before)));
        before = l->address;
        lines += l->line_count;
    }
    if (at)
        done(b, at);
    at = room(b, lines * 3);
    for (uint32_t i = 0; at && i < s->n_locations; i++) {
        const struct fk_location *l = &s->location[i];
        for (uint32_t k = 0; k < l->line_count; k++) {
            const struct fk_line *line = &s->line[l->line_begin + k];
            at = fk_varint_write(at, (uint64_t)(line->function + 1u));
            at = fk_varint_write(at, fk_zigzag(line->line));
            at = fk_varint_write(at, fk_zigzag(line->column));
        }
    }
    if (at)
        done(b, at);
}

static void put_stacks(struct fk_buf *b, const struct fk_symbols *s)
{
    fk_buf_varint(b, s->n_stacks);
    uint8_t *at = room(b, (uint64_t)s->n_stacks + s->stack_begin[s->n_stacks]);
    for (uint32_t i = 0; at && i < s->n_stacks; i++) {
        at = fk_varint_write(at, s->stack_begin[i + 1] - s->stack_begin[i]);
        for (uint32_t f = s->stack_begin[i]; f < s->stack_begin[i + 1]; f++)
            at = fk_varint_write(at, s->frame[f]);
    }
    if (at)
        done(b, at);
}

static void put_sets(struct fk_buf *b, const struct fk_symbols *s)
{
    fk_buf_varint(b, s->n_sets);
    uint8_t *at = room(b, (uint64_t)s->n_sets + (uint64_t)s->set_begin[s->n_sets] * 4);
    for (uint32_t i = 0; at && i < s->n_sets; i++) {
        at = fk_varint_write(at, s->set_begin[i + 1] - s->set_begin[i]);
        for (uint32_t k = s->set_begin[i]; k < s->set_begin[i + 1]; k++) {
            at = fk_varint_write(at, s->attr[k].key);
            at = fk_varint_write(at, s->attr[k].str);
            at = fk_varint_write(at, s->attr[k].unit);
            at = fk_varint_write(at, fk_zigzag(s->attr[k].num));
        }
    }
    if (at)
        done(b, at);
}

static void put_rows(struct fk_buf *b, const struct fk_profile *p)
{
    fk_buf_varint(b, p->n_rows);
    fk_buf_varint(b, p->n_obs);
    fk_buf_byte(b, (uint8_t)((p->set ? 1 : 0) | (p->obs_begin ? 2 : 0) | (p->time_ns ? 4 : 0)));
    uint8_t *at = room(b, p->n_rows * 3 + p->n_obs * ((uint64_t)p->n_types + 1));
    if (!at)
        return;
    for (uint64_t i = 0; i < p->n_rows; i++)
        at = fk_varint_write(at, p->stack[i]);
    for (uint64_t i = 0; p->set && i < p->n_rows; i++)
        at = fk_varint_write(at, p->set[i]);
    for (uint64_t i = 0; p->obs_begin && i < p->n_rows; i++)
        at = fk_varint_write(at, p->obs_begin[i + 1] - p->obs_begin[i]);
    for (uint32_t t = 0; t < p->n_types; t++)
        for (uint64_t i = 0; i < p->n_obs; i++)
            at = fk_varint_write(at, fk_zigzag(p->value[t][i]));
    int64_t before = p->time_ns_start;
    for (uint64_t i = 0; p->time_ns && i < p->n_obs; i++) {
        at = fk_varint_write(at, fk_zigzag(fk_wrap_sub(p->time_ns[i], before)));
        before = p->time_ns[i];
    }
    done(b, at);
}

static void put_labels(struct fk_buf *b, const struct fk_labels *l)
{
    FK_AUTO_BUF bytes;
    fk_buf_init(&bytes, 0);
    fk_labels_put(&bytes, l);
    if (bytes.failed)
        b->failed = bytes.failed;
    fk_buf_sized(b, fk_buf_view(&bytes));
}

static void put_shape(struct fk_buf *b, const struct fk_profile *p)
{
    struct fk_shape shape;
    FK_AUTO_BUF bytes;
    fk_buf_init(&bytes, 0);
    fk_shape_of(p, &shape);
    fk_shape_put(&bytes, &shape);
    if (bytes.failed)
        b->failed = bytes.failed;
    fk_buf_sized(b, fk_buf_view(&bytes));
}

int fk_record_put(struct fk_buf *b, const struct fk_entry *e, const struct fk_profile *p,
                  struct fk_err *err)
{
    fk_buf_le64(b, e->id.hi);
    fk_buf_le64(b, e->id.lo);
    fk_buf_varint(b, fk_zigzag(e->time_ns));
    fk_buf_varint(b, fk_zigzag(e->duration_ns));
    fk_buf_varint(b, fk_zigzag(e->received_ns));
    fk_buf_varint(b, fk_zigzag(p->time_ns_start));
    fk_buf_varint(b, e->flags);
    fk_buf_varint(b, e->samples);
    put_labels(b, &e->labels);
    put_labels(b, &e->annotations);
    put_shape(b, p);
    put_strings(b, &p->sym);
    put_functions(b, &p->sym);
    put_mappings(b, p);
    put_locations(b, &p->sym);
    put_stacks(b, &p->sym);
    put_sets(b, &p->sym);
    put_rows(b, p);
    return fk_buf_check(b, "record", err);
}

// ---- reading ----

// A cursor that remembers its first failure: reads after it give zeros.
struct reader {
    struct fk_cur c;
    struct fk_arena *a;
    bool bad, no_memory; // the bytes, or the arena: only the first is corruption
};

static uint64_t take(struct reader *r)
{
    uint64_t v = 0;
    if (r->bad || fk_cur_varint(&r->c, &v)) {
        r->bad = true;
        return 0;
    }
    return v;
}

static int64_t take_signed(struct reader *r)
{
    return fk_unzigzag(take(r));
}

static uint32_t take_u32(struct reader *r)
{
    uint64_t v = take(r);
    r->bad |= v > UINT32_MAX;
    return r->bad ? 0 : (uint32_t)v;
}

// A count of things of which each takes at least one byte, so it cannot exceed what is left.
static uint32_t take_count(struct reader *r)
{
    uint64_t v = take(r);
    r->bad |= v > fk_cur_left(&r->c) || v >= FK_NONE;
    return r->bad ? 0 : (uint32_t)v;
}

static struct fk_str take_sized(struct reader *r)
{
    struct fk_str s = {"", 0};
    if (r->bad || fk_cur_sized(&r->c, &s)) {
        r->bad = true;
        return (struct fk_str){"", 0};
    }
    return s;
}

static void *column(struct reader *r, uint64_t n, size_t size)
{
    void *p = r->bad ? NULL : fk_arena_array(r->a, FK_MAX((size_t)n, (size_t)1), size);
    r->no_memory |= !r->bad && !p;
    r->bad |= !p;
    return p;
}

static void take_strings(struct reader *r, struct fk_symbols *s)
{
    uint32_t n = take_count(r);
    struct fk_str *v = column(r, n, sizeof(*v));
    for (uint32_t i = 0; !r->bad && i < n; i++)
        v[i].n = take(r);
    for (uint32_t i = 0; !r->bad && i < n; i++)
        r->bad |= fk_cur_bytes(&r->c, v[i].n, &v[i]) != 0;
    s->string = v;
    s->n_strings = n;
}

static void take_functions(struct reader *r, struct fk_symbols *s)
{
    uint32_t n = take_count(r);
    struct fk_function *v = column(r, n, sizeof(*v));
    for (uint32_t i = 0; !r->bad && i < n; i++) {
        v[i].name = take_u32(r);
        v[i].system_name = take_u32(r);
        v[i].file = take_u32(r);
        v[i].start_line = take_signed(r);
    }
    s->function = v;
    s->n_functions = n;
}

static void take_mappings(struct reader *r, struct fk_profile *p)
{
    uint32_t n = take_count(r);
    struct fk_mapping *v = column(r, n, sizeof(*v));
    for (uint32_t i = 0; !r->bad && i < n; i++) {
        v[i].file = take_u32(r);
        v[i].build_id = take_u32(r);
        v[i].ordinal = take_u32(r);
        v[i].offset = take(r);
    }
    p->sym.mapping = v;
    p->sym.n_mappings = n;
    n = take_count(r);
    struct fk_placement *l = column(r, n, sizeof(*l));
    for (uint32_t i = 0; !r->bad && i < n; i++) {
        l[i].mapping = take_u32(r);
        l[i].flags = take_u32(r);
        l[i].start = take(r);
        l[i].limit = take(r);
    }
    p->placement = l;
    p->n_placements = n;
}

static void take_locations(struct reader *r, struct fk_symbols *s)
{
    uint32_t n = take_count(r);
    uint64_t address = 0, lines = 0;
    struct fk_location *v = column(r, n, sizeof(*v));
    for (uint32_t i = 0; !r->bad && i < n; i++) {
        v[i].mapping = (uint32_t)(take(r) - 1);
        v[i].flags = take_u32(r);
        v[i].line_count = take_u32(r);
        v[i].line_begin = (uint32_t)lines;
        v[i].address = address += (uint64_t)take_signed(r);
        lines += v[i].line_count;
        r->bad |= lines > fk_cur_left(&r->c);
    }
    struct fk_line *line = column(r, lines, sizeof(*line));
    for (uint64_t i = 0; !r->bad && i < lines; i++) {
        line[i].function = (uint32_t)(take(r) - 1);
        line[i].line = take_signed(r);
        line[i].column = take_signed(r);
    }
    s->location = v;
    s->n_locations = n;
    s->line = line;
    s->n_lines = (uint32_t)lines;
}

static void take_stacks(struct reader *r, struct fk_symbols *s)
{
    uint32_t n = take_count(r), at = 0;
    size_t left = r->bad ? 0 : fk_cur_left(&r->c); // a bound on the frames: one byte each
    uint32_t *begin = column(r, (uint64_t)n + 1, sizeof(*begin));
    uint32_t *frame = column(r, FK_MIN(left, (size_t)FK_NONE), sizeof(*frame));
    for (uint32_t i = 0; !r->bad && i < n; i++) {
        uint32_t depth = take_count(r);
        begin[i] = at;
        for (uint32_t k = 0; !r->bad && k < depth; k++)
            frame[at++] = take_u32(r);
    }
    if (!r->bad)
        begin[n] = at;
    s->stack_begin = begin;
    s->frame = frame;
    s->n_stacks = n;
}

static void take_sets(struct reader *r, struct fk_symbols *s)
{
    uint32_t n = take_count(r), at = 0;
    size_t left = r->bad ? 0 : fk_cur_left(&r->c);
    uint32_t *begin = column(r, (uint64_t)n + 1, sizeof(*begin));
    struct fk_attr *attr = column(r, left / 4, sizeof(*attr));
    for (uint32_t i = 0; !r->bad && i < n; i++) {
        uint32_t size = take_count(r);
        begin[i] = at;
        for (uint32_t k = 0; !r->bad && k < size; k++) {
            if ((r->bad |= at >= left / 4))
                break;
            attr[at].key = take_u32(r);
            attr[at].str = take_u32(r);
            attr[at].unit = take_u32(r);
            attr[at++].num = take_signed(r);
        }
    }
    if (!r->bad)
        begin[n] = at;
    s->set_begin = begin;
    s->attr = attr;
    s->n_sets = n;
}

static void take_obs(struct reader *r, struct fk_profile *p, uint64_t n_obs)
{
    uint64_t *begin = column(r, p->n_rows + 1, sizeof(*begin)), at = 0;
    for (uint64_t i = 0; !r->bad && i < p->n_rows; i++) {
        begin[i] = at;
        at += take(r);
        r->bad |= at > n_obs;
    }
    if (!r->bad)
        begin[p->n_rows] = at;
    p->obs_begin = begin;
}

static void take_values(struct reader *r, struct fk_profile *p, bool times)
{
    int64_t **value = column(r, p->n_types, sizeof(*value));
    for (uint32_t t = 0; !r->bad && t < p->n_types; t++) {
        value[t] = column(r, p->n_obs, sizeof(**value));
        for (uint64_t i = 0; !r->bad && i < p->n_obs; i++)
            value[t][i] = take_signed(r);
    }
    p->value = (const int64_t *const *)value;
    if (!times)
        return;
    int64_t *at = column(r, p->n_obs, sizeof(*at)), before = p->time_ns_start;
    for (uint64_t i = 0; !r->bad && i < p->n_obs; i++)
        at[i] = before = fk_wrap_add(before, take_signed(r));
    p->time_ns = at;
}

static void take_rows(struct reader *r, struct fk_profile *p)
{
    p->n_rows = take_count(r);
    p->n_obs = take_count(r);
    uint64_t flags = take(r);
    r->bad |= flags > 7 || (p->n_types == 0 && !(flags & 4) && p->n_obs != p->n_rows);
    uint32_t *stack = column(r, p->n_rows, sizeof(*stack)), *set = NULL;
    for (uint64_t i = 0; !r->bad && i < p->n_rows; i++)
        stack[i] = take_u32(r);
    if (flags & 1)
        set = column(r, p->n_rows, sizeof(*set));
    for (uint64_t i = 0; set && !r->bad && i < p->n_rows; i++)
        set[i] = take_u32(r);
    p->stack = stack;
    p->set = set;
    if (flags & 2)
        take_obs(r, p, p->n_obs);
    take_values(r, p, (flags & 4) != 0);
}

static void take_entry(struct reader *r, struct fk_entry *e, struct fk_profile *p,
                       struct fk_err *err)
{
    struct fk_str id = {"", 0};
    if (fk_cur_bytes(&r->c, 16, &id))
        r->bad = true;
    else
        e->id = (struct fk_id){fk_load64(id.p), fk_load64(id.p + 8)};
    e->time_ns = take_signed(r);
    e->duration_ns = take_signed(r);
    e->received_ns = take_signed(r);
    p->time_ns_start = take_signed(r);
    e->flags = take_u32(r);
    e->samples = take(r);
    struct fk_str labels = take_sized(r), annotations = take_sized(r), shape_bytes = take_sized(r);
    struct fk_shape shape = {0};
    int failed = 0;
    if (r->bad || (failed = fk_labels_read(r->a, labels, &e->labels, err)) ||
        (failed = fk_labels_read(r->a, annotations, &e->annotations, err)) ||
        (failed = fk_shape_read(r->a, shape_bytes, &shape, err))) {
        r->no_memory |= failed == -FK_E_NOMEM;
        r->bad = true;
        return;
    }
    fk_shape_to(&shape, p);
    p->duration_ns = e->duration_ns;
    p->truncated = (e->flags & FK_ENTRY_TRUNCATED) != 0;
    e->period_type = p->period_type;
    e->period_unit = p->period_unit;
}

static int entry_types(struct reader *r, struct fk_entry *e, const struct fk_profile *p)
{
    struct fk_entry_type *type = column(r, p->n_types, sizeof(*type));
    for (uint32_t t = 0; !r->bad && t < p->n_types; t++)
        type[t] = (struct fk_entry_type){p->type[t].type, p->type[t].unit, p->type[t].kind,
                                         fk_profile_total(p, t)};
    e->type = type;
    e->n_types = p->n_types;
    return r->bad ? -1 : 0;
}

int fk_record_read(struct fk_str bytes, struct fk_arena *a, struct fk_entry *ret_entry,
                   struct fk_profile *ret_profile, struct fk_err *err)
{
    struct reader r = {fk_cur_of(bytes), a, false, false};
    struct fk_entry e = {.size = bytes.n};
    struct fk_profile p = {0};
    take_entry(&r, &e, &p, err);
    take_strings(&r, &p.sym);
    take_functions(&r, &p.sym);
    take_mappings(&r, &p);
    take_locations(&r, &p.sym);
    take_stacks(&r, &p.sym);
    take_sets(&r, &p.sym);
    take_rows(&r, &p);
    bool good = !r.bad && fk_cur_left(&r.c) == 0 && entry_types(&r, &e, &p) == 0;
    if (r.no_memory)
        return fk_fail_nomem(err);
    if (!good)
        return fk_fail(err, FK_E_CORRUPT, "record: cut off or inconsistent");
    struct fk_err why;
    if (fk_profile_validate(&p, &why))
        return fk_fail(err, FK_E_CORRUPT, "record: %s", why.msg);
    *ret_entry = e;
    *ret_profile = p;
    return 0;
}
