// SPDX-License-Identifier: Apache-2.0
// Writing a sealed block: per dataset the symbols are sorted, every row is unpacked, renumbered and
// packed again, and the profile table is cut into pages. Memory: one dataset's sections at a time.
#include "block/info_int.h"
#include "block/page_int.h"
#include "block/symbols_int.h"

#include <stdlib.h>

struct fk_block_writer {
    struct fk_container_writer container;
    struct fk_block_info info;
    FK_VEC(struct fk_dataset_summary) datasets;
    FK_VEC(struct fk_id) replaces;
    struct fk_arena names; // tenant and services
    struct fk_samples samples;
    struct fk_out out;
    bool begun;
};

struct fk_block_writer *fk_block_writer_new(struct fk_out out, struct fk_id id,
                                            struct fk_str tenant, uint32_t level)
{
    struct fk_block_writer *w = fk_calloc(1, sizeof(*w));
    if (!w)
        return NULL;
    fk_arena_init(&w->names, 0);
    w->out = out;
    w->info =
        (struct fk_block_info){.id = id, .tenant = fk_arena_str(&w->names, tenant), .level = level};
    w->info.min_id = (struct fk_id){UINT64_MAX, UINT64_MAX};
    w->info.min_time_ns = w->info.min_received_ns = INT64_MAX;
    w->info.max_time_ns = w->info.max_received_ns = INT64_MIN;
    if (!w->info.tenant.p) {
        fk_block_writer_free(w);
        return NULL;
    }
    return w;
}

void fk_block_writer_free(struct fk_block_writer *w)
{
    if (!w)
        return;
    fk_container_writer_free(&w->container);
    fk_vec_free(&w->datasets);
    fk_vec_free(&w->replaces);
    fk_arena_free(&w->names);
    fk_samples_free(&w->samples);
    fk_free(w);
}

int fk_block_writer_replaces(struct fk_block_writer *w, struct fk_id pack_or_block)
{
    return fk_vec_push(&w->replaces, pack_or_block) ? -FK_E_NOMEM : 0;
}

static int by_time(const void *pa, const void *pb)
{
    const struct fk_row *a = pa, *b = pb;
    if (a->time_ns != b->time_ns)
        return a->time_ns < b->time_ns ? -1 : 1;
    return fk_id_cmp(a->id, b->id);
}

// One dataset in the making: its sections as they grow.
struct dataset_job {
    const struct fk_dataset *tables;
    const struct fk_symbols *sym;
    struct fk_symbol_order order;
    struct fk_arena arena;
    struct fk_buf samples, notes, pages, index, bytes;
};

static int repack_row(struct fk_block_writer *w, struct dataset_job *j, struct fk_row *row,
                      struct fk_err *err)
{
    struct fk_packed in = fk_row_packed(row, j->tables, j->sym);
    int r = fk_samples_unpack(&w->samples, &in, err);
    if (r)
        return r;
    for (uint64_t i = 0; i < w->samples.n_rows; i++)
        w->samples.stack[i] = j->order.stack_to[w->samples.stack[i]];
    size_t before = j->samples.n;
    if ((r = fk_samples_pack(&w->samples, row->time_ns, &j->samples, err)))
        return r;
    row->data.n = j->samples.n - before; // only the length is written; the bytes are in the section
    fk_buf_str(&j->notes, row->notes);
    return 0;
}

static void put_page(struct dataset_job *j, const struct fk_row *row, uint32_t n,
                     struct fk_page_base *base)
{
    struct fk_id low = row[0].id, high = row[0].id;
    size_t at = j->pages.n;
    fk_page_put(&j->pages, row, n, j->tables->shape, base);
    for (uint32_t i = 1; i < n; i++) {
        low = fk_id_cmp(row[i].id, low) < 0 ? row[i].id : low;
        high = fk_id_cmp(row[i].id, high) > 0 ? row[i].id : high;
    }
    fk_buf_le64(&j->index, at);
    fk_buf_le64(&j->index, (uint64_t)row[0].time_ns);
    fk_buf_le64(&j->index, (uint64_t)row[n - 1].time_ns);
    fk_buf_le64(&j->index, low.hi);
    fk_buf_le64(&j->index, low.lo);
    fk_buf_le64(&j->index, high.hi);
    fk_buf_le64(&j->index, high.lo);
    fk_buf_le64(&j->index, j->pages.n - at);
    fk_buf_le64(&j->index, j->pages.failed ? 0 : fk_hash_bytes(j->pages.p + at, j->pages.n - at));
}

static void note_rows(struct fk_block_writer *w, const struct fk_row *row, uint64_t n,
                      struct fk_dataset_summary *d)
{
    struct fk_block_info *i = &w->info;
    for (uint64_t k = 0; k < n; k++) {
        i->min_id = fk_id_cmp(row[k].id, i->min_id) < 0 ? row[k].id : i->min_id;
        i->max_id = fk_id_cmp(row[k].id, i->max_id) > 0 ? row[k].id : i->max_id;
        i->min_time_ns = FK_MIN(i->min_time_ns, row[k].time_ns);
        i->max_time_ns = FK_MAX(i->max_time_ns, row[k].time_ns);
        i->min_received_ns = FK_MIN(i->min_received_ns, row[k].received_ns);
        i->max_received_ns = FK_MAX(i->max_received_ns, row[k].received_ns);
        d->samples += row[k].samples;
    }
    i->profiles += n;
    i->samples += d->samples;
}

static int put_section(struct fk_block_writer *w, uint32_t kind, struct fk_buf *b, bool zstd,
                       struct fk_err *err)
{
    int r = fk_buf_check(b, "block section", err);
    if (r == 0)
        r = fk_container_section(&w->container, kind, (uint32_t)w->datasets.n, fk_buf_view(b), zstd,
                                 err);
    return r;
}

static int put_symbols(struct fk_block_writer *w, struct dataset_job *j, struct fk_err *err)
{
    int r;
    fk_tables_put(&j->bytes, j->tables);
    if ((r = put_section(w, FK_SECTION_TABLES, &j->bytes, true, err)))
        return r;
    fk_buf_clear(&j->bytes);
    fk_symbols_put(&j->bytes, j->sym, &j->order);
    if ((r = put_section(w, FK_SECTION_SYMBOLS, &j->bytes, true, err)))
        return r;
    fk_buf_clear(&j->bytes);
    fk_tree_put(&j->bytes, j->sym, &j->order, &j->arena);
    if ((r = put_section(w, FK_SECTION_TREE, &j->bytes, true, err)))
        return r;
    fk_buf_clear(&j->bytes);
    fk_sets_put(&j->bytes, j->sym, &j->order);
    return put_section(w, FK_SECTION_SETS, &j->bytes, true, err);
}

static int put_rows(struct fk_block_writer *w, struct dataset_job *j, struct fk_row *row,
                    uint64_t n, struct fk_err *err)
{
    struct fk_page_base base = {0};
    int r;
    for (uint64_t i = 0; i < n; i++)
        if ((r = repack_row(w, j, &row[i], err)))
            return r;
    for (uint64_t at = 0; at < n; at += FK_PAGE_ROWS)
        put_page(j, row + at, (uint32_t)FK_MIN(n - at, (uint64_t)FK_PAGE_ROWS), &base);
    if ((r = put_section(w, FK_SECTION_PAGE_INDEX, &j->index, false, err)) ||
        (r = put_section(w, FK_SECTION_PAGES, &j->pages, false, err)) ||
        (r = put_section(w, FK_SECTION_NOTES, &j->notes, false, err)))
        return r;
    return put_section(w, FK_SECTION_SAMPLES, &j->samples, false, err);
}

static int write_dataset(struct fk_block_writer *w, struct dataset_job *j, struct fk_row *row,
                         uint64_t n, struct fk_err *err)
{
    struct fk_dataset_summary d = {.service = fk_arena_str(&w->names, j->tables->service),
                                   .n_rows = n};
    int r;
    if (!d.service.p)
        return fk_fail_nomem(err);
    if (!w->begun) {
        if ((r = fk_container_begin(&w->container, w->out, err)))
            return r;
        w->begun = true;
    }
    qsort(row, n, sizeof(*row), by_time);
    if (n) {
        d.min_time_ns = row[0].time_ns;
        d.max_time_ns = row[n - 1].time_ns;
    }
    note_rows(w, row, n, &d);
    if ((r = fk_symbol_order_make(j->sym, &j->arena, &j->order, err)) ||
        (r = put_symbols(w, j, err)) || (r = put_rows(w, j, row, n, err)))
        return r;
    return fk_vec_push(&w->datasets, d) ? fk_fail_nomem(err) : 0;
}

int fk_block_writer_dataset(struct fk_block_writer *w, const struct fk_dataset *tables,
                            const struct fk_symbols *sym, struct fk_row *row, uint64_t n_rows,
                            struct fk_err *err)
{
    struct dataset_job j = {.tables = tables, .sym = sym};
    struct fk_buf *bufs[] = {&j.samples, &j.notes, &j.pages, &j.index, &j.bytes};
    fk_arena_init(&j.arena, 0);
    for (size_t i = 0; i < FK_COUNTOF(bufs); i++)
        fk_buf_init(bufs[i], 0);
    int r = write_dataset(w, &j, row, n_rows, err);
    for (size_t i = 0; i < FK_COUNTOF(bufs); i++)
        fk_buf_free(bufs[i]);
    fk_arena_free(&j.arena);
    return r;
}

int fk_block_writer_finish(struct fk_block_writer *w, struct fk_block_info *ret, struct fk_err *err)
{
    FK_AUTO_BUF extra;
    fk_buf_init(&extra, 0);
    int r = w->begun ? 0 : fk_container_begin(&w->container, w->out, err);
    w->begun = true;
    w->info.replaces = w->replaces.v;
    w->info.n_replaces = w->replaces.n;
    w->info.n_datasets = (uint32_t)w->datasets.n;
    fk_info_put(&extra, &w->info, w->datasets.v);
    if (r == 0)
        r = fk_buf_check(&extra, "block info", err);
    if (r == 0)
        r = fk_container_end(&w->container, fk_buf_view(&extra), err);
    if (r)
        return r;
    w->info.bytes = w->container.at;
    *ret = w->info;
    return 0;
}
