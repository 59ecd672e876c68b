// SPDX-License-Identifier: Apache-2.0
// Rows given back as entries and profiles.
#include "block/block.h"

static const void *copy_column(struct fk_arena *a, const void *from, uint64_t n, size_t size,
                               bool *failed)
{
    void *to = fk_arena_array(a, (size_t)FK_MAX(n, (uint64_t)1), size);
    if (!to)
        *failed = true;
    else if (n)
        memcpy(to, from, (size_t)n * size);
    return to;
}

struct fk_packed fk_row_packed(const struct fk_row *r, const struct fk_dataset *tables,
                               const struct fk_symbols *sym)
{
    return (struct fk_packed){r->data, r->time_ns, tables->shape[r->shape].n_types, sym->n_stacks,
                              sym->n_sets};
}

int fk_row_profile(const struct fk_row *r, const struct fk_dataset *tables,
                   const struct fk_symbols *sym, struct fk_samples *s, struct fk_arena *a,
                   struct fk_profile *ret, struct fk_err *err)
{
    struct fk_profile p = {
        .sym = *sym, .time_ns_start = r->file_time_ns, .duration_ns = r->duration_ns};
    bool failed = false;
    fk_shape_to(&tables->shape[r->shape], &p);
    struct fk_packed in = fk_row_packed(r, tables, sym);
    int code = fk_samples_unpack(s, &in, err);
    if (code)
        return code;
    p.placement = tables->placement[r->placement].v;
    p.n_placements = tables->placement[r->placement].n;
    for (uint32_t i = 0; i < p.n_placements; i++)
        if (p.placement[i].mapping >= sym->n_mappings)
            return fk_fail(err, FK_E_CORRUPT, "a placement names a mapping that is not there");
    p.n_rows = s->n_rows;
    p.n_obs = s->n_obs;
    p.stack = copy_column(a, s->stack, s->n_rows, sizeof(*s->stack), &failed);
    p.set = s->has_sets ? copy_column(a, s->set, s->n_rows, sizeof(*s->set), &failed) : NULL;
    p.obs_begin = s->has_obs
                      ? copy_column(a, s->obs_begin, s->n_rows + 1, sizeof(*s->obs_begin), &failed)
                      : NULL;
    p.time_ns =
        s->has_times ? copy_column(a, s->time_ns, s->n_obs, sizeof(*s->time_ns), &failed) : NULL;
    const int64_t **value = fk_arena_array(a, FK_MAX(p.n_types, 1u), sizeof(*value));
    for (uint32_t t = 0; value && t < p.n_types; t++)
        value[t] = copy_column(a, s->value[t], s->n_obs, sizeof(int64_t), &failed);
    if (!value || failed)
        return fk_fail_nomem(err);
    p.value = value;
    p.truncated = (r->flags & FK_ENTRY_TRUNCATED) != 0;
    *ret = p;
    return 0;
}

int fk_row_entry(const struct fk_row *r, const struct fk_dataset *tables, struct fk_arena *a,
                 struct fk_entry *ret, struct fk_err *err)
{
    const struct fk_shape *shape = &tables->shape[r->shape];
    struct fk_entry e = {.id = r->id,
                         .time_ns = r->time_ns,
                         .duration_ns = r->duration_ns,
                         .received_ns = r->received_ns,
                         .labels = tables->series[r->series],
                         .period_type = shape->period_type,
                         .period_unit = shape->period_unit,
                         .n_types = shape->n_types,
                         .flags = r->flags,
                         .samples = r->samples,
                         .size = r->data.n + r->notes.n};
    struct fk_str notes = fk_arena_str(a, r->notes);
    struct fk_entry_type *type = fk_arena_array(a, FK_MAX(shape->n_types, 1u), sizeof(*type));
    if (!type || !notes.p)
        return fk_fail_nomem(err);
    for (uint32_t t = 0; t < shape->n_types; t++)
        type[t] = (struct fk_entry_type){shape->type[t].type, shape->type[t].unit,
                                         shape->type[t].kind, r->total[t]};
    e.type = type;
    int code = fk_labels_read(a, notes, &e.annotations, err);
    if (code == 0)
        *ret = e;
    return code;
}
