// SPDX-License-Identifier: Apache-2.0
// pprof: strings, functions, mappings, locations. Tables are copied as they are: positions are the
// ids of the model, and the file's own ids are resolved through arrays.
#include "formats/pprof_int.h"

#include <stdlib.h>

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

// The last of equal ids: the first pair behind them, and one back.
uint32_t pprof_ids_sparse(const struct pprof_ids *t, uint64_t id)
{
    uint32_t low = 0, high = t->n;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (t->sorted[middle].id <= id)
            low = middle + 1;
        else
            high = middle;
    }
    return low && t->sorted[low - 1].id == id ? t->sorted[low - 1].at : FK_NONE;
}

static int by_id(const void *pa, const void *pb)
{
    const struct pprof_id *a = pa, *b = pb;
    if (a->id != b->id)
        return a->id < b->id ? -1 : 1;
    return a->at < b->at ? -1 : a->at > b->at;
}

static int ids_sort(struct pprof *d, struct pprof_ids *t)
{
    t->sorted = fk_arena_array(d->d->arena, t->n, sizeof(*t->sorted));
    if (!t->sorted)
        return -FK_E_NOMEM;
    for (uint32_t i = 0; i < t->n; i++)
        t->sorted[i] = (struct pprof_id){t->id[i], i};
    qsort(t->sorted, t->n, sizeof(*t->sorted), by_id);
    for (uint32_t i = 1; i < t->n; i++)
        d->duplicates += t->sorted[i].id == t->sorted[i - 1].id;
    return 0;
}

// Once all ids are known: an array when at most about half of it is waste.
static int ids_index(struct pprof *d, struct pprof_ids *t)
{
    uint64_t max = 0;
    for (uint32_t i = 0; i < t->n; i++)
        max = FK_MAX(max, t->id[i]);
    if (max / 2 > (uint64_t)t->n + 64)
        return ids_sort(d, t);
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

static int by_number(const void *pa, const void *pb)
{
    uint32_t a = *(const uint32_t *)pa, b = *(const uint32_t *)pb;
    return a < b ? -1 : a > b;
}

static int by_content(const void *pa, const void *pb, void *arg)
{
    const struct pprof *d = arg;
    const struct fk_mapping *a = &d->mapping[*(const uint32_t *)pa];
    const struct fk_mapping *b = &d->mapping[*(const uint32_t *)pb];
    if (a->offset != b->offset)
        return a->offset < b->offset ? -1 : 1;
    int order = fk_str_cmp(d->string[a->file], d->string[b->file]);
    return order ? order : fk_str_cmp(d->string[a->build_id], d->string[b->build_id]);
}

// Equal mappings are told apart by a number, in the order of the file.
static int number_mappings(struct pprof *d)
{
    uint32_t *at = fk_arena_array(d->d->arena, d->n_mappings, sizeof(*at));
    if (!at)
        return -FK_E_NOMEM;
    for (uint32_t i = 0; i < d->n_mappings; i++)
        at[i] = i;
    qsort_r(at, d->n_mappings, sizeof(*at), by_content, d);
    for (uint32_t i = 0; i < d->n_mappings;) {
        uint32_t end = i + 1;
        while (end < d->n_mappings && by_content(&at[i], &at[end], d) == 0)
            end++;
        qsort(at + i, end - i, sizeof(*at), by_number);
        for (uint32_t k = i; k < end; k++)
            d->mapping[at[k]].ordinal = k - i;
        i = end;
    }
    return 0;
}

static int read_mappings(struct pprof *d, struct fk_err *err)
{
    uint64_t n = d->range[PPROF_MAPPING].n;
    d->mapping = fk_arena_array(d->d->arena, n, sizeof(*d->mapping));
    d->placement = fk_arena_array(d->d->arena, n, sizeof(*d->placement));
    if (!d->mapping || !d->placement || ids_alloc(d, &d->mappings, n))
        return pprof_nomem(d, err);
    int rc = pprof_each(d, PPROF_MAPPING, visit_mapping, err);
    d->mappings.n = d->n_mappings;
    if (!rc && (ids_index(d, &d->mappings) || number_mappings(d)))
        rc = pprof_nomem(d, err);
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
    d->lines_cap = n + n / 2 + 8;
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
