// SPDX-License-Identifier: Apache-2.0
// Page layout (docs/format-block.md "Profile table page"): varint rows, varint offset of the first
// row's notes, of its samples, then columns of patched u64: id high (differences), id low (xor with
// the one before), time (zigzag differences), duration (zigzag differences), received - time, file
// time - time (zigzag), series, shape, placement, flags, rows, observations - rows, samples - rows
// (zigzag), length of notes, length of samples; then all totals of all rows (zigzag).
#include "block/page_int.h"

enum {
    ID_HIGH,
    ID_LOW,
    TIME,
    DURATION,
    RECEIVED,
    FILE_TIME,
    SERIES,
    SHAPE,
    PLACEMENT,
    FLAGS,
    ROWS,
    OBS,
    SAMPLES,
    NOTES,
    DATA,
    COLUMNS
};

typedef uint64_t page_column[FK_PAGE_ROWS];

static void to_columns(const struct fk_row *row, uint32_t n, page_column *c)
{
    struct fk_row before = {0};
    for (uint32_t i = 0; i < n; i++) {
        const struct fk_row *r = &row[i];
        c[ID_HIGH][i] = fk_zigzag((int64_t)(r->id.hi - before.id.hi));
        c[ID_LOW][i] = r->id.lo ^ before.id.lo;
        c[TIME][i] = fk_zigzag(fk_wrap_sub(r->time_ns, before.time_ns));
        c[DURATION][i] = fk_zigzag(fk_wrap_sub(r->duration_ns, before.duration_ns));
        c[RECEIVED][i] = fk_zigzag(fk_wrap_sub(r->received_ns, r->time_ns));
        c[FILE_TIME][i] = fk_zigzag(fk_wrap_sub(r->file_time_ns, r->time_ns));
        c[SERIES][i] = r->series;
        c[SHAPE][i] = r->shape;
        c[PLACEMENT][i] = r->placement;
        c[FLAGS][i] = r->flags;
        c[ROWS][i] = r->n_rows;
        c[OBS][i] = r->n_obs - r->n_rows;
        c[SAMPLES][i] = fk_zigzag((int64_t)(r->samples - r->n_rows));
        c[NOTES][i] = r->notes.n;
        c[DATA][i] = r->data.n;
        before = *r;
    }
}

static void put_totals(struct fk_buf *b, const struct fk_row *row, uint32_t n,
                       const struct fk_shape *shape)
{
    uint64_t word[FK_PAGE_ROWS];
    size_t used = 0;
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t t = 0; t < shape[row[i].shape].n_types; t++) {
            word[used++] = fk_zigzag(row[i].total[t]);
            if (used == FK_PAGE_ROWS) {
                fk_pack_u64(b, word, used);
                used = 0;
            }
        }
    fk_pack_u64(b, word, used);
}

void fk_page_put(struct fk_buf *b, const struct fk_row *row, uint32_t n,
                 const struct fk_shape *shape, struct fk_page_base *base)
{
    page_column column[COLUMNS];
    to_columns(row, n, column);
    fk_buf_varint(b, n);
    fk_buf_varint(b, base->notes_at);
    fk_buf_varint(b, base->samples_at);
    for (int c = 0; c < COLUMNS; c++)
        fk_pack_u64(b, column[c], n);
    put_totals(b, row, n, shape);
    for (uint32_t i = 0; i < n; i++) {
        base->notes_at += row[i].notes.n;
        base->samples_at += row[i].data.n;
    }
}

static int corrupt(struct fk_err *err, const char *what)
{
    return fk_fail(err, FK_E_CORRUPT, "profile table page: bad %s", what);
}

static void from_columns(const page_column *c, uint32_t n, struct fk_row *row)
{
    struct fk_row before = {0};
    for (uint32_t i = 0; i < n; i++) {
        struct fk_row *r = &row[i];
        r->id.hi = before.id.hi + (uint64_t)fk_unzigzag(c[ID_HIGH][i]);
        r->id.lo = c[ID_LOW][i] ^ before.id.lo;
        r->time_ns = fk_wrap_add(before.time_ns, fk_unzigzag(c[TIME][i]));
        r->duration_ns = fk_wrap_add(before.duration_ns, fk_unzigzag(c[DURATION][i]));
        r->received_ns = fk_wrap_add(r->time_ns, fk_unzigzag(c[RECEIVED][i]));
        r->file_time_ns = fk_wrap_add(r->time_ns, fk_unzigzag(c[FILE_TIME][i]));
        r->n_rows = c[ROWS][i];
        r->n_obs = c[ROWS][i] + c[OBS][i];
        r->samples = c[ROWS][i] + (uint64_t)fk_unzigzag(c[SAMPLES][i]);
        before = *r;
    }
}

static int take_ids(const page_column *c, uint32_t n, const struct fk_dataset *t,
                    struct fk_row *row, struct fk_err *err)
{
    for (uint32_t i = 0; i < n; i++) {
        if (c[SERIES][i] >= t->n_series || c[SHAPE][i] >= t->n_shapes ||
            c[PLACEMENT][i] >= t->n_placements || c[FLAGS][i] > UINT32_MAX)
            return corrupt(err, "id");
        row[i].series = (uint32_t)c[SERIES][i];
        row[i].shape = (uint32_t)c[SHAPE][i];
        row[i].placement = (uint32_t)c[PLACEMENT][i];
        row[i].flags = (uint32_t)c[FLAGS][i];
    }
    return 0;
}

static int take_places(const page_column *c, uint32_t n, const struct fk_page_base *base,
                       uint64_t notes, uint64_t samples, struct fk_row *row, struct fk_err *err)
{
    for (uint32_t i = 0; i < n; i++) {
        if (!fk_in_range(notes, c[NOTES][i], base->n_notes) ||
            !fk_in_range(samples, c[DATA][i], base->n_samples))
            return corrupt(err, "offset");
        row[i].notes = fk_str_make(base->notes + notes, (size_t)c[NOTES][i]);
        row[i].data = fk_str_make(base->samples + samples, (size_t)c[DATA][i]);
        notes += c[NOTES][i];
        samples += c[DATA][i];
    }
    return 0;
}

static int take_totals(struct fk_cur *c, const struct fk_dataset *t, struct fk_page *to,
                       struct fk_err *err)
{
    size_t n = 0;
    for (uint32_t i = 0; i < to->n; i++)
        n += t->shape[to->row[i].shape].n_types;
    if (n > to->cap) {
        int64_t *total = fk_reallocarray(to->total, n, sizeof(*total));
        if (!total)
            return fk_fail_nomem(err);
        to->total = total;
        to->cap = n;
    }
    if (n && fk_unpack_u64(c, (uint64_t *)to->total, n))
        return corrupt(err, "totals");
    for (size_t i = 0; i < n; i++)
        to->total[i] = fk_unzigzag((uint64_t)to->total[i]);
    const int64_t *at = to->total;
    for (uint32_t i = 0; i < to->n; i++) {
        to->row[i].total = at;
        at += at ? t->shape[to->row[i].shape].n_types : 0;
    }
    return 0;
}

int fk_page_read(struct fk_str bytes, const struct fk_dataset *tables,
                 const struct fk_page_base *base, struct fk_page *to, struct fk_err *err)
{
    struct fk_cur c = fk_cur_of(bytes);
    page_column column[COLUMNS];
    uint64_t n, notes, samples;
    int r;
    if (fk_cur_varint_max(&c, FK_PAGE_ROWS, &n) || fk_cur_varint(&c, &notes) ||
        fk_cur_varint(&c, &samples))
        return corrupt(err, "head");
    for (int i = 0; i < COLUMNS; i++)
        if (fk_unpack_u64(&c, column[i], n))
            return corrupt(err, "column");
    to->n = (uint32_t)n;
    from_columns((const page_column *)column, to->n, to->row);
    if ((r = take_ids((const page_column *)column, to->n, tables, to->row, err)) ||
        (r = take_places((const page_column *)column, to->n, base, notes, samples, to->row, err)))
        return r;
    if ((r = take_totals(&c, tables, to, err)))
        return r;
    return fk_cur_left(&c) ? corrupt(err, "end") : 0;
}

void fk_page_free(struct fk_page *p)
{
    fk_free(p->total);
    p->total = NULL;
    p->cap = 0;
    p->n = 0;
}
