// SPDX-License-Identifier: Apache-2.0
// Reading a block. The footer is read at open; a dataset's tables, page index and checked sections
// are loaded when first asked for and live as long as the block. The first loader of a dataset
// holds the block's lock; afterwards a flag is read.
#include "block/info_int.h"
#include "block/page_int.h"
#include "block/symbols_int.h"

#include <stdatomic.h>

// What is loaded of a dataset on first use.
struct loaded {
    struct fk_arena arena;
    struct fk_dataset tables;
    struct fk_str pages, index, notes, samples;
};

struct dataset {
    const struct fk_section *section[FK_SECTION_SAMPLES + 1];
    _Atomic(struct loaded *) loaded;
};

struct fk_block {
    struct fk_source source;
    struct fk_arena arena; // of the footer
    struct fk_block_info info;
    struct fk_dataset_summary *summary;
    struct dataset *dataset;
};

// Each dataset has each of its sections once.
static int assign_sections(struct fk_block *b, const struct fk_container *c, struct fk_err *err)
{
    for (size_t i = 0; i < c->n; i++) {
        const struct fk_section *s = &c->section[i];
        if (s->kind <= FK_SECTION_RECORD || s->kind > FK_SECTION_SAMPLES)
            continue; // of a later version
        if (s->dataset >= b->info.n_datasets || b->dataset[s->dataset].section[s->kind])
            return fk_fail(err, FK_E_CORRUPT, "section %zu belongs to no dataset or is there twice",
                           i);
        b->dataset[s->dataset].section[s->kind] = s;
    }
    for (uint32_t d = 0; d < b->info.n_datasets; d++)
        for (uint32_t k = FK_SECTION_TABLES; k <= FK_SECTION_SAMPLES; k++)
            if (!b->dataset[d].section[k])
                return fk_fail(err, FK_E_CORRUPT, "dataset %u has no section %u", d, k);
    return 0;
}

static int open_footer(struct fk_block *b, struct fk_err *err)
{
    struct fk_container c;
    int r = fk_container_open(&b->source, &b->arena, &c, err);
    if (r == 0)
        r = fk_info_read(c.extra, &b->arena, &b->info, &b->summary, err);
    if (r)
        return r;
    b->info.bytes = b->source.size;
    b->dataset = fk_arena_zalloc(&b->arena, FK_MAX(b->info.n_datasets, 1u) * sizeof(*b->dataset));
    return b->dataset ? assign_sections(b, &c, err) : fk_fail_nomem(err);
}

int fk_block_open(struct fk_source source, struct fk_block **ret, struct fk_err *err)
{
    struct fk_block *b = fk_calloc(1, sizeof(*b));
    if (!b)
        return fk_fail_nomem(err);
    b->source = source;
    fk_arena_init(&b->arena, 0);
    int r = open_footer(b, err);
    if (r) {
        fk_block_close(b);
        return r;
    }
    *ret = b;
    return 0;
}

static void loaded_free(struct loaded *l)
{
    if (l)
        fk_arena_free(&l->arena);
    fk_free(l);
}

void fk_block_close(struct fk_block *b)
{
    if (!b)
        return;
    for (uint32_t i = 0; b->dataset && i < b->info.n_datasets; i++)
        loaded_free(atomic_load(&b->dataset[i].loaded));
    fk_arena_free(&b->arena);
    fk_free(b);
}

const struct fk_block_info *fk_block_get_info(const struct fk_block *b)
{
    return &b->info;
}

struct fk_str fk_block_service(const struct fk_block *b, uint32_t i)
{
    return b->summary[i].service;
}

void fk_block_dataset_range(const struct fk_block *b, uint32_t i, uint64_t *ret_offset,
                            uint64_t *ret_length)
{
    uint64_t begin = UINT64_MAX, end = 0;
    for (uint32_t k = FK_SECTION_TABLES; k <= FK_SECTION_SAMPLES; k++) {
        const struct fk_section *s = b->dataset[i].section[k];
        begin = FK_MIN(begin, s->offset);
        end = FK_MAX(end, s->offset + s->stored);
    }
    *ret_offset = begin;
    *ret_length = end - begin;
}

static int load(struct fk_block *b, uint32_t i, struct loaded *l, struct fk_err *err)
{
    struct fk_str tables;
    const struct fk_section *const *section = b->dataset[i].section;
    const struct fk_dataset_summary *s = &b->summary[i];
    l->tables = (struct fk_dataset){.n_rows = s->n_rows,
                                    .min_time_ns = s->min_time_ns,
                                    .max_time_ns = s->max_time_ns,
                                    .samples = s->samples};
    struct {
        enum fk_section_kind kind;
        struct fk_str *to;
    } wanted[] = {{FK_SECTION_TABLES, &tables},
                  {FK_SECTION_PAGE_INDEX, &l->index},
                  {FK_SECTION_PAGES, &l->pages},
                  {FK_SECTION_NOTES, &l->notes},
                  {FK_SECTION_SAMPLES, &l->samples}};
    int r = 0;
    for (size_t k = 0; r == 0 && k < FK_COUNTOF(wanted); k++)
        r = fk_container_read(&b->source, section[wanted[k].kind], &l->arena, wanted[k].to, err);
    if (r == 0)
        r = fk_tables_read(tables, &l->arena, &l->tables, err);
    if (r == 0 && l->index.n != (uint64_t)fk_block_pages(b, i) * FK_PAGE_INDEX_BYTES)
        r = fk_fail(err, FK_E_CORRUPT,
                    "dataset %u: the page index does not fit the number of profiles", i);
    return r;
}

static int need(struct fk_block *b, uint32_t i, struct loaded **ret, struct fk_err *err)
{
    struct loaded *have = atomic_load_explicit(&b->dataset[i].loaded, memory_order_acquire);
    if (!have) {
        struct loaded *l = fk_calloc(1, sizeof(*l));
        if (!l)
            return fk_fail_nomem(err);
        fk_arena_init(&l->arena, 0);
        int r = load(b, i, l, err);
        if (r) {
            loaded_free(l);
            return r;
        }
        if (atomic_compare_exchange_strong(&b->dataset[i].loaded, &have, l))
            have = l;
        else
            loaded_free(l);
    }
    *ret = have;
    return 0;
}

int fk_block_dataset(struct fk_block *b, uint32_t i, const struct fk_dataset **ret,
                     struct fk_err *err)
{
    struct loaded *l;
    int r = need(b, i, &l, err);
    if (r == 0)
        *ret = &l->tables;
    return r;
}

uint32_t fk_block_pages(const struct fk_block *b, uint32_t dataset)
{
    return (uint32_t)((b->summary[dataset].n_rows + FK_PAGE_ROWS - 1) / FK_PAGE_ROWS);
}

int fk_block_page_bounds(struct fk_block *b, uint32_t dataset, uint32_t page,
                         struct fk_page_bounds *ret, struct fk_err *err)
{
    struct loaded *l;
    int r = need(b, dataset, &l, err);
    if (r)
        return r;
    const char *p = l->index.p + (size_t)page * FK_PAGE_INDEX_BYTES;
    *ret = (struct fk_page_bounds){.min_time_ns = (int64_t)fk_load64(p + 8),
                                   .max_time_ns = (int64_t)fk_load64(p + 16),
                                   .min_id = {fk_load64(p + 24), fk_load64(p + 32)},
                                   .max_id = {fk_load64(p + 40), fk_load64(p + 48)}};
    return 0;
}

int fk_block_page(struct fk_block *b, uint32_t dataset, uint32_t page, struct fk_page *to,
                  struct fk_err *err)
{
    struct loaded *d;
    int r = need(b, dataset, &d, err);
    if (r)
        return r;
    const char *p = d->index.p + (size_t)page * FK_PAGE_INDEX_BYTES;
    uint64_t at = fk_load64(p), n = fk_load64(p + 56);
    if (!fk_in_range(at, n, d->pages.n))
        return fk_fail(err, FK_E_CORRUPT, "dataset %u: page %u lies outside of its section",
                       dataset, page);
    struct fk_page_base base = {.notes = (const uint8_t *)d->notes.p,
                                .samples = (const uint8_t *)d->samples.p,
                                .n_notes = d->notes.n,
                                .n_samples = d->samples.n};
    return fk_page_read(fk_str_make(d->pages.p + at, (size_t)n), &d->tables, &base, to, err);
}

int fk_block_symbols(struct fk_block *b, uint32_t dataset, struct fk_arena *a,
                     struct fk_symbols *ret, struct fk_err *err)
{
    const struct dataset *d = &b->dataset[dataset];
    struct fk_str bytes;
    struct fk_symbols s = {0};
    int r = fk_container_read(&b->source, d->section[FK_SECTION_SYMBOLS], a, &bytes, err);
    if (r || (r = fk_symbols_read(bytes, a, &s, err)) ||
        (r = fk_container_read(&b->source, d->section[FK_SECTION_TREE], a, &bytes, err)) ||
        (r = fk_tree_read(bytes, a, &s, err)) ||
        (r = fk_container_read(&b->source, d->section[FK_SECTION_SETS], a, &bytes, err)) ||
        (r = fk_sets_read(bytes, a, &s, err)))
        return r;
    *ret = s;
    return 0;
}

// ---- verify ----

static int verify_row(const struct fk_row *row, const struct fk_dataset *t,
                      const struct fk_symbols *sym, struct fk_samples *s, struct fk_err *err)
{
    const struct fk_shape *shape = &t->shape[row->shape];
    struct fk_packed in = fk_row_packed(row, t, sym);
    int r = fk_samples_unpack(s, &in, err);
    if (r)
        return r;
    if (s->n_rows != row->n_rows || s->n_obs != row->n_obs)
        return fk_fail(err, FK_E_CORRUPT, "a profile's samples are not as many as its entry says");
    for (uint32_t k = 0; k < shape->n_types; k++) {
        uint64_t sum = 0;
        for (uint64_t i = 0; i < s->n_obs; i++)
            sum += (uint64_t)s->value[k][i];
        if ((int64_t)sum != row->total[k])
            return fk_fail(err, FK_E_CORRUPT,
                           "a profile's total of type %u is not the sum of its samples", k);
    }
    const struct fk_placements *p = &t->placement[row->placement];
    for (uint32_t i = 0; i < p->n; i++)
        if (p->v[i].mapping >= sym->n_mappings)
            return fk_fail(err, FK_E_CORRUPT, "a placement names a mapping that is not there");
    return 0;
}

struct verify {
    struct fk_block *b;
    struct fk_samples samples;
    struct fk_page page;
    int (*on)(void *arg, uint32_t dataset, const struct fk_row *r, struct fk_err *err);
    void *arg;
    uint64_t profiles, rows;
};

static int verify_page(struct verify *v, uint32_t d, uint32_t page, const struct fk_symbols *sym,
                       struct fk_err *err)
{
    const struct fk_dataset *t;
    int r = fk_block_dataset(v->b, d, &t, err);
    if (r == 0)
        r = fk_block_page(v->b, d, page, &v->page, err);
    for (uint32_t i = 0; r == 0 && i < v->page.n; i++) {
        r = verify_row(&v->page.row[i], t, sym, &v->samples, err);
        if (r == 0 && v->on)
            r = v->on(v->arg, d, &v->page.row[i], err);
    }
    v->rows += r ? 0 : v->page.n;
    return r;
}

static int verify_dataset(struct verify *v, uint32_t d, struct fk_err *err)
{
    FK_AUTO_ARENA a;
    struct fk_symbols sym;
    fk_arena_init(&a, 0);
    v->rows = 0;
    int r = fk_block_symbols(v->b, d, &a, &sym, err);
    for (uint32_t p = 0; r == 0 && p < fk_block_pages(v->b, d); p++)
        r = verify_page(v, d, p, &sym, err);
    if (r == 0 && v->rows != v->b->summary[d].n_rows)
        r = fk_fail(err, FK_E_CORRUPT,
                    "dataset %u holds another number of profiles than its summary says", d);
    v->profiles += v->rows;
    return r;
}

int fk_block_verify(struct fk_block *b,
                    int (*on)(void *arg, uint32_t dataset, const struct fk_row *r,
                              struct fk_err *err),
                    void *arg, struct fk_err *err)
{
    struct verify v = {.b = b, .on = on, .arg = arg};
    int r = 0;
    for (uint32_t d = 0; r == 0 && d < b->info.n_datasets; d++)
        r = verify_dataset(&v, d, err);
    if (r == 0 && v.profiles != b->info.profiles)
        r = fk_fail(err, FK_E_CORRUPT,
                    "the block holds another number of profiles than its footer says");
    fk_samples_free(&v.samples);
    fk_page_free(&v.page);
    return r;
}
