// SPDX-License-Identifier: Apache-2.0
// pprof: strings, functions, mappings, locations. Tables are copied as they are: positions are the
// ids of the model, and the file's own ids are resolved through arrays.
#include "formats/pprof_int.h"

// A field that is not wanted; one of a wanted number must be a varint (in more bytes than needed).
int pprof_skip_field(const uint8_t **p, const uint8_t *end, uint64_t max_varint)
{
    struct fk_cur c = {*p, end};
    struct fk_pb_field f;
    if (fk_pb_next(&c, &f) != 1 || f.number <= max_varint)
        return -FK_E_FORMAT;
    *p = c.p;
    return 0;
}

// ---- ids
// -----------------------------------------------------------------------------------------------------------

static int ids_alloc(struct pprof *d, struct pprof_ids *t, uint64_t n)
{
    t->id = fk_arena_array(d->d->arena, n, sizeof(*t->id));
    return t->id ? 0 : -FK_E_NOMEM;
}

uint32_t pprof_ids_sparse(const struct pprof_ids *t, uint64_t id)
{
    uint64_t h = fk_hash_u64(id);
    uint32_t found = FK_NONE;
    for (uint32_t at = fk_map_first(&t->map, h); at != FK_NONE; at = fk_map_next(&t->map, h, at)) {
        uint32_t k = fk_map_id(&t->map, at);
        if (t->id[k] == id && (found == FK_NONE || k > found))
            found = k;
    }
    return found;
}

// Once all ids are known: an array when at most about half of it is waste.
static int ids_index(struct pprof *d, struct pprof_ids *t)
{
    uint64_t max = 0;
    for (uint32_t i = 0; i < t->n; i++)
        max = FK_MAX(max, t->id[i]);
    if (max / 2 > (uint64_t)t->n + 64) {
        if (fk_map_reserve(&t->map, t->n))
            return -FK_E_NOMEM;
        for (uint32_t i = 0; i < t->n; i++) {
            d->duplicates += pprof_ids_sparse(t, t->id[i]) != FK_NONE;
            if (fk_map_add(&t->map, fk_hash_u64(t->id[i]), i))
                return -FK_E_NOMEM;
        }
        return 0;
    }
    t->dense = fk_arena_array(d->d->arena, max + 1, sizeof(*t->dense));
    if (!t->dense)
        return -FK_E_NOMEM;
    t->n_dense = t->n ? max + 1 : 0;
    memset(t->dense, 0xff, t->n_dense * sizeof(*t->dense));
    for (uint32_t i = 0; i < t->n; i++) {
        d->duplicates += t->dense[t->id[i]] != FK_NONE;
        t->dense[t->id[i]] = i;
    }
    return 0;
}

void pprof_free_ids(struct pprof *d)
{
    fk_map_free(&d->functions.map);
    fk_map_free(&d->mappings.map);
    fk_map_free(&d->locations.map);
}

// ---- tables
// --------------------------------------------------------------------------------------------------------

static int visit_string(struct pprof *d, struct fk_cur c, struct fk_err *err)
{
    (void)err;
    d->string[d->n_strings++] = fk_str_make(c.p, fk_cur_left(&c));
    return 0;
}

static int read_strings(struct pprof *d, struct fk_err *err)
{
    d->string = fk_arena_array(d->d->arena, d->range[PPROF_STRING].n + 1, sizeof(*d->string));
    if (!d->string)
        return pprof_nomem(d, err);
    d->string[0] = FK_S("");
    int rc = pprof_each(d, PPROF_STRING, visit_string, err);
    if (rc)
        return rc;
    if (d->n_strings == 0)
        d->n_strings = 1;
    if (d->string[0].n)
        fk_report_warn(d->d->report, "string 0 is not empty, read as empty", 1, "it is '%.*s'",
                       FK_STR_ARG(fk_str_head(d->string[0], 40)));
    d->string[0] = FK_S("");
    return 0;
}

static int visit_function(struct pprof *d, struct fk_cur c, struct fk_err *err)
{
    uint64_t v[6];
    if (pprof_numbers(c, 5, v))
        return pprof_broken(d, c.p, err);
    d->functions.id[d->n_functions] = v[1];
    d->function[d->n_functions++] = (struct fk_function){
        pprof_string(d, v[2]), pprof_string(d, v[3]), pprof_string(d, v[4]), (int64_t)v[5]};
    return 0;
}

static int read_functions(struct pprof *d, struct fk_err *err)
{
    uint64_t n = d->range[PPROF_FUNCTION].n;
    d->function = fk_arena_array(d->d->arena, n, sizeof(*d->function));
    if (!d->function || ids_alloc(d, &d->functions, n))
        return pprof_nomem(d, err);
    int rc = pprof_each(d, PPROF_FUNCTION, visit_function, err);
    d->functions.n = d->n_functions;
    if (!rc && ids_index(d, &d->functions))
        return pprof_nomem(d, err);
    return rc;
}

static int visit_mapping(struct pprof *d, struct fk_cur c, struct fk_err *err)
{
    static const uint32_t flag[4] = {FK_PLACEMENT_HAS_FUNCTIONS, FK_PLACEMENT_HAS_FILENAMES,
                                     FK_PLACEMENT_HAS_LINES, FK_PLACEMENT_HAS_INLINES};
    uint64_t v[11];
    uint32_t flags = 0, at = d->n_mappings;
    if (pprof_numbers(c, 10, v))
        return pprof_broken(d, c.p, err);
    for (uint32_t i = 0; i < 4; i++)
        flags |= v[7 + i] ? flag[i] : 0;
    d->mappings.id[at] = v[1];
    d->mapping[at] = (struct fk_mapping){pprof_string(d, v[5]), pprof_string(d, v[6]), 0, v[4]};
    d->placement[at] = (struct fk_placement){at, flags, v[2], v[3]};
    d->n_mappings++;
    return 0;
}

static bool same_mapping(const struct pprof *d, uint32_t a, uint32_t b)
{
    const struct fk_mapping *x = &d->mapping[a], *y = &d->mapping[b];
    return x->offset == y->offset && fk_str_eq(d->string[x->file], d->string[y->file]) &&
           fk_str_eq(d->string[x->build_id], d->string[y->build_id]);
}

// Equal mappings are told apart by a number; the map finds the latest equal one.
static int number_mappings(struct pprof *d, struct fk_map *seen)
{
    for (uint32_t i = 0; i < d->n_mappings; i++) {
        struct fk_mapping *m = &d->mapping[i];
        uint64_t h = fk_hash_u64(fk_hash_str(d->string[m->file]) +
                                 fk_hash_str(d->string[m->build_id]) * 3 + m->offset);
        for (uint32_t at = fk_map_first(seen, h); at != FK_NONE; at = fk_map_next(seen, h, at))
            if (same_mapping(d, fk_map_id(seen, at), i)) {
                uint32_t *latest = &d->mapping[fk_map_id(seen, at)].ordinal;
                // The first of its kind keeps the count while others are numbered.
                m->ordinal = ++*latest;
                break;
            }
        if (m->ordinal == 0 && fk_map_add(seen, h, i))
            return -FK_E_NOMEM;
    }
    for (uint32_t at = 0; seen->slot && at <= seen->mask; at++)
        if (seen->slot[at].id)
            d->mapping[seen->slot[at].id - 1].ordinal = 0;
    return 0;
}

static int read_mappings(struct pprof *d, struct fk_err *err)
{
    uint64_t n = d->range[PPROF_MAPPING].n;
    struct fk_map seen = {0};
    d->mapping = fk_arena_array(d->d->arena, n, sizeof(*d->mapping));
    d->placement = fk_arena_array(d->d->arena, n, sizeof(*d->placement));
    if (!d->mapping || !d->placement || ids_alloc(d, &d->mappings, n))
        return pprof_nomem(d, err);
    int rc = pprof_each(d, PPROF_MAPPING, visit_mapping, err);
    d->mappings.n = d->n_mappings;
    if (!rc && (ids_index(d, &d->mappings) || number_mappings(d, &seen)))
        rc = pprof_nomem(d, err);
    fk_map_free(&seen);
    return rc;
}

// ---- locations
// -----------------------------------------------------------------------------------------------------

static int more_lines(struct pprof *d)
{
    struct fk_line *p = fk_arena_grow(d->d->arena, d->line, d->n_lines, &d->lines_cap,
                                      (size_t)d->n_lines + 1, sizeof(*p));
    if (!p || d->n_lines == FK_NONE)
        return -FK_E_NOMEM;
    d->line = p;
    return 0;
}

static int read_line(struct pprof *d, const uint8_t *p, const uint8_t *end, struct fk_err *err)
{
    uint64_t v[4] = {0};
    const uint8_t *at = p;
    pprof_expect(&at, end, 1 << 3, &v[1]);
    pprof_expect(&at, end, 2 << 3, &v[2]);
    pprof_expect(&at, end, 3 << 3, &v[3]);
    if (FK_UNLIKELY(at != end) && pprof_numbers((struct fk_cur){p, end}, 3, v))
        return pprof_broken(d, p, err);
    if (FK_UNLIKELY(d->n_lines == d->lines_cap) && more_lines(d))
        return pprof_nomem(d, err);
    uint32_t function = pprof_ids_find(&d->functions, v[1]);
    d->missing_functions += function == FK_NONE;
    d->line[d->n_lines++] = (struct fk_line){function, (int64_t)v[2], (int64_t)v[3]};
    return 0;
}

static void place(struct pprof *d, struct fk_location *l, uint64_t mapping, uint64_t address)
{
    l->address = address;
    l->mapping = mapping ? pprof_ids_find(&d->mappings, mapping) : FK_NONE;
    if (l->mapping != FK_NONE)
        l->address += d->mapping[l->mapping].offset - d->placement[l->mapping].start;
    else
        d->missing_mappings += mapping != 0;
}

// A location in any order, from field *p on; v[] has what was read so far.
static int read_location_rest(struct pprof *d, const uint8_t *p, const uint8_t *end, uint64_t *v,
                              struct fk_err *err)
{
    struct fk_cur c = {p, end};
    struct fk_pb_field f;
    int rc;
    while ((rc = fk_pb_next(&c, &f)) == 1) {
        if (f.number > 5)
            continue;
        if (f.wire != (f.number == 4 ? (uint32_t)FK_WIRE_LEN : (uint32_t)FK_WIRE_VARINT))
            return pprof_broken(d, c.p, err);
        if (f.number != 4)
            v[f.number] = f.v;
        else if ((rc = read_line(d, f.b.p, f.b.end, err)))
            return rc;
    }
    return rc ? pprof_broken(d, c.p, err) : 0;
}

static int visit_location(struct pprof *d, struct fk_cur c, struct fk_err *err)
{
    uint64_t v[6] = {0}, n;
    uint32_t first_line = d->n_lines;
    const uint8_t *p = c.p;
    pprof_expect(&p, c.end, 1 << 3, &v[1]);
    pprof_expect(&p, c.end, 2 << 3, &v[2]);
    pprof_expect(&p, c.end, 3 << 3, &v[3]);
    while (p && p < c.end && *p == (4 << 3 | FK_WIRE_LEN)) {
        const uint8_t *body = fk_varint_at(p + 1, c.end, &n);
        if (FK_UNLIKELY(!body || n > (uint64_t)(c.end - body)))
            return pprof_broken(d, p, err);
        int rc = read_line(d, body, body + n, err);
        if (FK_UNLIKELY(rc))
            return rc;
        p = body + n;
    }
    if (FK_UNLIKELY(p != c.end)) {
        int rc = p ? read_location_rest(d, p, c.end, v, err) : pprof_broken(d, c.p, err);
        if (rc)
            return rc;
    }
    struct fk_location *l = &d->location[d->n_locations];
    l->line_begin = first_line;
    l->line_count = d->n_lines - first_line;
    l->flags = v[5] ? FK_LOCATION_FOLDED : 0u;
    place(d, l, v[2], v[3]);
    d->locations.id[d->n_locations++] = v[1];
    return 0;
}

static int read_locations(struct pprof *d, struct fk_err *err)
{
    uint64_t n = d->range[PPROF_LOCATION].n;
    d->location = fk_arena_array(d->d->arena, n, sizeof(*d->location));
    d->lines_cap = n + n / 8 + 8;
    d->line = fk_arena_array(d->d->arena, d->lines_cap, sizeof(*d->line));
    if (!d->location || !d->line || ids_alloc(d, &d->locations, n))
        return pprof_nomem(d, err);
    int rc = pprof_each(d, PPROF_LOCATION, visit_location, err);
    d->locations.n = d->n_locations;
    if (!rc && ids_index(d, &d->locations))
        return pprof_nomem(d, err);
    return rc;
}

int pprof_read_tables(struct pprof *d, struct fk_err *err)
{
    for (uint32_t f = PPROF_SAMPLE; f <= PPROF_STRING; f++)
        if (d->range[f].n >= FK_NONE)
            return fk_fail(err, FK_E_LIMIT, "the pprof profile has a table of over 2^32 entries");
    int rc = read_strings(d, err);
    if (!rc)
        rc = read_functions(d, err);
    if (!rc)
        rc = read_mappings(d, err);
    return rc ? rc : read_locations(d, err);
}
