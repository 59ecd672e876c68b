// SPDX-License-Identifier: Apache-2.0
// pprof: the top level. One walk finds where which fields lie and how many there are; then each
// kind of field is read into columns of the right size (a field may refer to what comes after it).
#include "formats/pprof_int.h"

static inline void in_range(struct pprof_range *r, const uint8_t *begin, const uint8_t *end,
                            size_t bytes)
{
    if (!r->n)
        r->begin = begin;
    r->end = end;
    r->n++;
    r->bytes += bytes;
}

static enum fk_wire wire_of(uint32_t number)
{
    return number <= PPROF_STRING || number == PPROF_PERIOD_TYPE ? FK_WIRE_LEN : FK_WIRE_VARINT;
}

// Messages and strings of one number in a row, which is what a profile mostly is: the place behind
// the last.
static const uint8_t *survey_run(struct pprof *d, const uint8_t *p, const uint8_t *end)
{
    struct pprof_range *r = &d->range[*p >> 3];
    const uint8_t key = *p, *begin = p;
    uint64_t n, fields = 0, bytes = 0;
    while (p < end && *p == key) {
        const uint8_t *body = fk_varint_at(p + 1, end, &n);
        if (!body || n > (uint64_t)(end - body))
            break;
        p = body + n;
        fields++;
        bytes += n;
    }
    if (!fields)
        return p;
    in_range(r, begin, p, (size_t)bytes);
    r->n += fields - 1;
    return p;
}

static int survey(struct pprof *d, struct fk_cur c, struct fk_err *err)
{
    struct fk_pb_field f;
    int rc;
    for (;;) {
        if (c.p < c.end && (*c.p & 7) == FK_WIRE_LEN && *c.p >> 3 >= 1 && *c.p >> 3 <= PPROF_STRING)
            c.p = survey_run(d, c.p, c.end);
        const uint8_t *begin = c.p;
        rc = fk_pb_next(&c, &f);
        if (rc != 1)
            break;
        if (f.number >= PPROF_FIELDS)
            continue;
        if (f.wire != (uint32_t)wire_of(f.number) &&
            !(f.number == PPROF_COMMENT && f.wire == FK_WIRE_LEN))
            return pprof_broken(d, begin, err);
        in_range(&d->range[f.number], begin, c.p, f.wire == FK_WIRE_LEN ? (size_t)f.v : 1);
        if (f.wire == FK_WIRE_VARINT)
            d->number[f.number] = f.v;
    }
    return rc < 0 ? pprof_broken(d, c.p, err) : 0;
}

// The survey has found all of it sound.
int pprof_each(struct pprof *d, uint32_t number, pprof_visit *one, struct fk_err *err)
{
    struct fk_cur c = {d->range[number].begin, d->range[number].end};
    struct fk_pb_field f;
    while (c.p < c.end) {
        struct fk_cur body;
        uint64_t n;
        if (FK_LIKELY(*c.p == (number << 3 | FK_WIRE_LEN))) {
            body.p = fk_varint_at(c.p + 1, c.end, &n);
            if (!body.p || n > (uint64_t)(c.end - body.p))
                return pprof_broken(d, c.p, err);
            c.p = body.end = body.p + n;
        } else {
            if (fk_pb_next(&c, &f) != 1)
                return pprof_broken(d, c.p, err);
            if (f.number != number)
                continue;
            body = f.b;
        }
        int rc = one(d, body, err);
        if (FK_UNLIKELY(rc))
            return rc;
    }
    return 0;
}

// ---- types and facts
// -----------------------------------------------------------------------------------------------

static int visit_type(struct pprof *d, struct fk_cur c, struct fk_err *err)
{
    uint64_t v[3];
    if (pprof_numbers(c, 2, v))
        return pprof_broken(d, c.p, err);
    struct fk_str type = pprof_text(d, v[1]);
    d->type[d->n_types++] = (struct fk_value_type){
        type, pprof_text(d, v[2]),
        fk_kind_of(type, d->number[PPROF_DURATION] != 0, d->d->opts->is_delta)};
    return 0;
}

static int read_types(struct pprof *d, struct fk_err *err)
{
    uint64_t n = d->range[PPROF_SAMPLE_TYPE].n;
    const struct fk_limits *l = d->d->opts->limits;
    if (n == 0)
        return fk_fail(err, FK_E_FORMAT, "the pprof profile has no sample type");
    if (n > l->sample_types)
        return fk_fail_limit(err, "sample_types", l->sample_types, FK_LIMIT_FLAG(sample_types),
                             "the pprof profile has %llu sample types", (unsigned long long)n);
    d->type = fk_arena_array(d->d->arena, n, sizeof(*d->type));
    if (!d->type)
        return pprof_nomem(d, err);
    return pprof_each(d, PPROF_SAMPLE_TYPE, visit_type, err);
}

static int visit_period_type(struct pprof *d, struct fk_cur c, struct fk_err *err)
{
    uint64_t v[3];
    if (pprof_numbers(c, 2, v))
        return pprof_broken(d, c.p, err);
    d->out.period_type = pprof_text(d, v[1]);
    d->out.period_unit = pprof_text(d, v[2]);
    d->out.has_period_type = true;
    return 0;
}

static void add_comment(struct pprof *d, struct fk_str *comment, uint64_t id)
{
    comment[d->out.n_comments++] = pprof_text(d, id);
}

static int read_comments(struct pprof *d, struct fk_err *err)
{
    struct pprof_range *r = &d->range[PPROF_COMMENT];
    struct fk_str *comment = fk_arena_array(d->d->arena, r->bytes, sizeof(*comment));
    struct fk_cur c = {r->begin, r->end};
    struct fk_pb_field f;
    if (!comment)
        return pprof_nomem(d, err);
    d->out.comment = comment;
    while (fk_pb_next(&c, &f) == 1) {
        if (f.number != PPROF_COMMENT)
            continue;
        if (f.wire == FK_WIRE_VARINT)
            add_comment(d, comment, f.v);
        uint64_t id;
        while (f.wire == FK_WIRE_LEN && f.b.p < f.b.end) {
            if (fk_cur_varint(&f.b, &id))
                return pprof_broken(d, f.b.p, err);
            add_comment(d, comment, id);
        }
    }
    return 0;
}

static int read_facts(struct pprof *d, struct fk_err *err)
{
    struct fk_profile *p = &d->out;
    p->drop_frames = pprof_text(d, d->number[PPROF_DROP_FRAMES]);
    p->keep_frames = pprof_text(d, d->number[PPROF_KEEP_FRAMES]);
    p->default_type = pprof_text(d, d->number[PPROF_DEFAULT_TYPE]);
    p->doc_url = pprof_text(d, d->number[PPROF_DOC_URL]);
    p->time_ns_start = (int64_t)d->number[PPROF_TIME];
    p->duration_ns = (int64_t)d->number[PPROF_DURATION];
    p->period = (int64_t)d->number[PPROF_PERIOD];
    int rc = pprof_each(d, PPROF_PERIOD_TYPE, visit_period_type, err);
    return rc ? rc : read_comments(d, err);
}

// ---- whole
// ---------------------------------------------------------------------------------------------------------

static void put_symbols(struct pprof *d)
{
    struct fk_symbols *s = &d->out.sym;
    s->n_strings = d->n_strings;
    s->string = d->string;
    s->n_functions = d->n_functions;
    s->function = d->function;
    s->n_mappings = d->n_mappings;
    s->mapping = d->mapping;
    s->n_lines = d->n_lines;
    s->line = d->line;
    s->n_locations = d->n_locations;
    s->location = d->location;
    d->out.placement = d->placement;
    d->out.n_placements = d->n_mappings;
    d->out.type = d->type;
    d->out.n_types = d->n_types;
}

static void put_report(const struct pprof *d)
{
    struct fk_report *r = d->d->report;
    fk_report_warn(r, "string number beyond the string table, read as empty", d->bad_strings,
                   "the table has %u strings", d->n_strings);
    fk_report_warn(r, "line of a missing function", d->missing_functions,
                   "shown by its address; the file has %u functions", d->n_functions);
    fk_report_warn(r, "location of a missing mapping", d->missing_mappings,
                   "kept without mapping; the file has %u mappings", d->n_mappings);
    fk_report_warn(r, "duplicate id, the last one counts", d->duplicates, "%s",
                   "of mappings, functions or locations");
}

static int decode(struct pprof *d, struct fk_str bytes, struct fk_err *err)
{
    int rc = survey(d, fk_cur_of(bytes), err);
    if (!rc)
        rc = pprof_read_tables(d, err);
    if (!rc)
        rc = read_types(d, err);
    if (!rc)
        rc = read_facts(d, err);
    if (rc)
        return rc;
    put_symbols(d);
    rc = pprof_read_rows(d, err);
    if (!rc)
        put_report(d);
    return rc;
}

int fk_pprof_decode(const struct fk_decoding *dec, struct fk_str bytes, struct fk_err *err)
{
    // In the arena: the callback may keep the profile as long as that.
    struct pprof *d = fk_arena_zalloc(dec->arena, sizeof(*d));
    if (!d)
        return fk_decoding_nomem(dec, err);
    d->d = dec;
    d->whole = fk_cur_of(bytes).p;
    int rc = decode(d, bytes, err);
    return rc ? rc : fk_decoding_deliver(dec, &d->out, err);
}
