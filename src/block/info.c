// SPDX-License-Identifier: Apache-2.0
// Encoding of block info, dataset summaries and dataset tables.
#include "block/info_int.h"

static void put_id(struct fk_buf *b, struct fk_id id)
{
    fk_buf_le64(b, id.hi);
    fk_buf_le64(b, id.lo);
}

static int take_id(struct fk_cur *c, struct fk_id *ret)
{
    return fk_cur_le64(c, &ret->hi) || fk_cur_le64(c, &ret->lo) ? -1 : 0;
}

void fk_info_put(struct fk_buf *b, const struct fk_block_info *i,
                 const struct fk_dataset_summary *d)
{
    const int64_t times[] = {i->min_time_ns, i->max_time_ns, i->min_received_ns,
                             i->max_received_ns};
    put_id(b, i->id);
    put_id(b, i->min_id);
    put_id(b, i->max_id);
    fk_buf_sized(b, i->tenant);
    fk_buf_varint(b, i->level);
    for (size_t k = 0; k < FK_COUNTOF(times); k++)
        fk_buf_varint(b, fk_zigzag(times[k]));
    fk_buf_varint(b, i->profiles);
    fk_buf_varint(b, i->samples);
    fk_buf_varint(b, i->n_replaces);
    for (size_t k = 0; k < i->n_replaces; k++)
        put_id(b, i->replaces[k]);
    fk_buf_varint(b, i->n_datasets);
    for (uint32_t k = 0; k < i->n_datasets; k++) {
        fk_buf_sized(b, d[k].service);
        fk_buf_varint(b, d[k].n_rows);
        fk_buf_varint(b, d[k].samples);
        fk_buf_varint(b, fk_zigzag(d[k].min_time_ns));
        fk_buf_varint(b, fk_zigzag(d[k].max_time_ns));
    }
}

static int take_replaces(struct fk_cur *c, struct fk_arena *a, struct fk_block_info *i)
{
    uint64_t n;
    if (fk_cur_varint_max(c, fk_cur_left(c) / 16, &n))
        return -FK_E_CORRUPT;
    struct fk_id *v = fk_arena_array(a, FK_MAX(n, (uint64_t)1), sizeof(*v));
    for (uint64_t k = 0; v && k < n; k++)
        if (take_id(c, &v[k]))
            return -FK_E_CORRUPT;
    i->replaces = v;
    i->n_replaces = n;
    return v ? 0 : -FK_E_NOMEM;
}

static int take_summaries(struct fk_cur *c, struct fk_arena *a, struct fk_block_info *i,
                          struct fk_dataset_summary **ret)
{
    uint64_t n;
    if (fk_cur_varint_max(c, fk_cur_left(c) / 5, &n))
        return -FK_E_CORRUPT;
    struct fk_dataset_summary *v = fk_arena_array(a, FK_MAX(n, (uint64_t)1), sizeof(*v));
    for (uint64_t k = 0; v && k < n; k++)
        if (fk_cur_sized(c, &v[k].service) || fk_cur_varint(c, &v[k].n_rows) ||
            fk_cur_varint(c, &v[k].samples) || fk_cur_zigzag(c, &v[k].min_time_ns) ||
            fk_cur_zigzag(c, &v[k].max_time_ns))
            return -FK_E_CORRUPT;
    i->n_datasets = (uint32_t)n;
    *ret = v;
    return v ? 0 : -FK_E_NOMEM;
}

int fk_info_read(struct fk_str bytes, struct fk_arena *a, struct fk_block_info *ret,
                 struct fk_dataset_summary **ret_d, struct fk_err *err)
{
    struct fk_cur c = fk_cur_of(bytes);
    struct fk_block_info i = {0};
    int64_t *times[] = {&i.min_time_ns, &i.max_time_ns, &i.min_received_ns, &i.max_received_ns};
    uint64_t level = 0;
    bool bad = take_id(&c, &i.id) || take_id(&c, &i.min_id) || take_id(&c, &i.max_id) ||
               fk_cur_sized(&c, &i.tenant) || fk_cur_varint_max(&c, 64, &level);
    for (size_t k = 0; !bad && k < FK_COUNTOF(times); k++)
        bad = fk_cur_zigzag(&c, times[k]) != 0;
    int r = 0;
    bad = bad || fk_cur_varint(&c, &i.profiles) || fk_cur_varint(&c, &i.samples) ||
          (r = take_replaces(&c, a, &i)) || (r = take_summaries(&c, a, &i, ret_d)) ||
          fk_cur_left(&c);
    if (r == -FK_E_NOMEM)
        return fk_fail_nomem(err);
    if (bad)
        return fk_fail(err, FK_E_CORRUPT, "block info: cut off or inconsistent");
    i.level = (uint32_t)level;
    *ret = i;
    return 0;
}

// ---- tables of a dataset ----

static void put_placements(struct fk_buf *b, const struct fk_placements *p)
{
    fk_buf_varint(b, p->n);
    for (uint32_t i = 0; i < p->n; i++) {
        fk_buf_varint(b, p->v[i].mapping);
        fk_buf_varint(b, p->v[i].flags);
        fk_buf_varint(b, p->v[i].start);
        fk_buf_varint(b, p->v[i].limit);
    }
}

void fk_tables_put(struct fk_buf *b, const struct fk_dataset *d)
{
    FK_AUTO_BUF one;
    fk_buf_init(&one, 0);
    fk_buf_sized(b, d->service);
    fk_buf_varint(b, d->n_series);
    for (uint32_t i = 0; i < d->n_series; i++) {
        fk_buf_clear(&one);
        fk_labels_put(&one, &d->series[i]);
        fk_buf_sized(b, fk_buf_view(&one));
    }
    fk_buf_varint(b, d->n_shapes);
    for (uint32_t i = 0; i < d->n_shapes; i++) {
        fk_buf_clear(&one);
        fk_shape_put(&one, &d->shape[i]);
        fk_buf_sized(b, fk_buf_view(&one));
    }
    fk_buf_varint(b, d->n_placements);
    for (uint32_t i = 0; i < d->n_placements; i++)
        put_placements(b, &d->placement[i]);
    if (one.failed)
        b->failed = one.failed;
}

static int take_series(struct fk_cur *c, struct fk_arena *a, struct fk_dataset *d,
                       struct fk_err *err)
{
    uint64_t n;
    if (fk_cur_varint_max(c, fk_cur_left(c), &n))
        return fk_fail(err, FK_E_CORRUPT, "tables: bad series count");
    struct fk_labels *v = fk_arena_array(a, FK_MAX(n, (uint64_t)1), sizeof(*v));
    if (!v)
        return fk_fail_nomem(err);
    for (uint64_t i = 0; i < n; i++) {
        struct fk_str bytes;
        if (fk_cur_sized(c, &bytes))
            return fk_fail(err, FK_E_CORRUPT, "tables: series cut off");
        int r = fk_labels_read(a, bytes, &v[i], err);
        if (r)
            return r;
    }
    d->series = v;
    d->n_series = (uint32_t)n;
    return 0;
}

static int take_shapes(struct fk_cur *c, struct fk_arena *a, struct fk_dataset *d,
                       struct fk_err *err)
{
    uint64_t n;
    if (fk_cur_varint_max(c, fk_cur_left(c), &n))
        return fk_fail(err, FK_E_CORRUPT, "tables: bad shape count");
    struct fk_shape *v = fk_arena_array(a, FK_MAX(n, (uint64_t)1), sizeof(*v));
    if (!v)
        return fk_fail_nomem(err);
    for (uint64_t i = 0; i < n; i++) {
        struct fk_str bytes;
        if (fk_cur_sized(c, &bytes))
            return fk_fail(err, FK_E_CORRUPT, "tables: shapes cut off");
        int r = fk_shape_read(a, bytes, &v[i], err);
        if (r)
            return r;
    }
    d->shape = v;
    d->n_shapes = (uint32_t)n;
    return 0;
}

static int take_placement_list(struct fk_cur *c, struct fk_arena *a, struct fk_placements *p)
{
    uint64_t n, mapping, flags;
    if (fk_cur_varint_max(c, fk_cur_left(c) / 4, &n))
        return -FK_E_CORRUPT;
    struct fk_placement *v = fk_arena_array(a, FK_MAX(n, (uint64_t)1), sizeof(*v));
    for (uint64_t i = 0; v && i < n; i++) {
        if (fk_cur_varint_max(c, UINT32_MAX, &mapping) ||
            fk_cur_varint_max(c, UINT32_MAX, &flags) || fk_cur_varint(c, &v[i].start) ||
            fk_cur_varint(c, &v[i].limit))
            return -FK_E_CORRUPT;
        v[i].mapping = (uint32_t)mapping;
        v[i].flags = (uint32_t)flags;
    }
    *p = (struct fk_placements){v, (uint32_t)n};
    return v ? 0 : -FK_E_NOMEM;
}

int fk_tables_read(struct fk_str bytes, struct fk_arena *a, struct fk_dataset *ret,
                   struct fk_err *err)
{
    struct fk_cur c = fk_cur_of(bytes);
    struct fk_dataset d = *ret;
    uint64_t n;
    int r;
    if (fk_cur_sized(&c, &d.service))
        return fk_fail(err, FK_E_CORRUPT, "tables: no service");
    if ((r = take_series(&c, a, &d, err)) || (r = take_shapes(&c, a, &d, err)))
        return r;
    if (fk_cur_varint_max(&c, fk_cur_left(&c), &n))
        return fk_fail(err, FK_E_CORRUPT, "tables: bad placement count");
    struct fk_placements *v = fk_arena_array(a, FK_MAX(n, (uint64_t)1), sizeof(*v));
    if (!v)
        return fk_fail_nomem(err);
    for (uint64_t i = 0; i < n; i++)
        if ((r = take_placement_list(&c, a, &v[i])))
            return r == -FK_E_NOMEM ? fk_fail_nomem(err)
                                    : fk_fail(err, FK_E_CORRUPT, "tables: bad placement list");
    d.placement = v;
    d.n_placements = (uint32_t)n;
    if (fk_cur_left(&c))
        return fk_fail(err, FK_E_CORRUPT, "tables: bytes left over");
    *ret = d;
    return 0;
}
