// SPDX-License-Identifier: Apache-2.0
// Merging profiles. By function: the samples of all rows of a part are added into one dense array,
// self[stack], which is then folded into the tree; nothing is hashed per sample. By location: the
// same dense arrays, whose stacks go over into one dictionary.
#include "query/query_int.h"

// ---- by function ----

// Asks the query's name filters about one displayed name.
static int filter_name(void *arg, struct fk_str name, struct fk_err *err)
{
    const struct fk_query *q = arg;
    const struct {
        const struct fk_name_filter *v;
        size_t n;
        int flag;
    } groups[] = {{q->focus, q->spec.n_focus, FK_FRAME_FOCUS},
                  {q->hide, q->spec.n_hide, FK_FRAME_HIDE},
                  {q->collapse, q->spec.n_collapse, FK_FRAME_COLLAPSE}};
    int flags = 0;
    for (size_t g = 0; g < FK_COUNTOF(groups); g++)
        for (size_t i = 0; i < groups[g].n; i++) {
            bool match;
            int r = fk_name_filter_match(&groups[g].v[i], name, &match, err);
            if (r)
                return r;
            flags |= match ? groups[g].flag : 0;
        }
    return flags;
}

const struct fk_frame_filter *fk_query_filter(struct fk_query *q, struct fk_frame_filter *f)
{
    *f = (struct fk_frame_filter){filter_name, q, q->spec.n_focus > 0};
    return q->spec.n_focus || q->spec.n_hide || q->spec.n_collapse ? f : NULL;
}

static int need_self(struct fk_scan *s, int64_t **self, struct fk_err *err)
{
    const struct fk_symbols *sym = NULL;
    int r = *self ? 0 : fk_scan_symbols(s, &sym, err);
    if (r || *self)
        return r;
    *self =
        fk_arena_zalloc(&s->part_arena, FK_MAX((size_t)sym->n_stacks, (size_t)1) * sizeof(**self));
    return *self ? 0 : fk_fail_nomem(err);
}

// Takes out the stacks that are not of the call site.
static int keep_site(struct fk_scan *s, int64_t *self, struct fk_err *err)
{
    const uint8_t *site;
    int r = fk_scan_site(s, &site, err);
    for (uint32_t i = 0; r == 0 && site && i < s->sym.n_stacks; i++)
        if (!site[i])
            self[i] = 0;
    return r;
}

static int tree_begin(struct fk_scan *s, struct fk_err *err)
{
    struct fk_tree_job *j = s->arg;
    (void)err;
    j->self = NULL;
    return 0;
}

static int tree_row(struct fk_scan *s, const struct fk_hit *h, struct fk_err *err)
{
    struct fk_tree_job *j = s->arg;
    int r = need_self(s, &j->self, err);
    if (r)
        return r;
    s->q->bytes += h->row->data.n;
    struct fk_packed in = fk_row_packed(h->row, s->tables, &s->sym);
    return fk_samples_sum(&s->samples, &in, h->column, h->keep_set, j->self, NULL, err);
}

static int tree_end(struct fk_scan *s, struct fk_err *err)
{
    struct fk_tree_job *j = s->arg;
    int r = j->self ? keep_site(s, j->self, err) : 0;
    return r || !j->self ? r
                         : fk_tree_fold(j->tree, j->column, &s->sym, j->self, false,
                                        j->filtered ? &j->filter : NULL, err);
}

static void note_unsymbolized(struct fk_query *q, const struct fk_tree *t, uint32_t column,
                              struct fk_err *err)
{
    struct fk_tree_view v;
    FK_AUTO_ARENA a;
    fk_arena_init(&a, 0);
    if (fk_tree_view(t, &(struct fk_tree_opts){.max_nodes = 1}, &a, &v, err) == 0 && v.sum[column])
        q->unsymbolized_share = (double)v.unsymbolized[column] / (double)v.sum[column];
}

void fk_tree_scan(struct fk_query *q, struct fk_tree *into, uint32_t column,
                  struct fk_tree_job *job, struct fk_scan *scan)
{
    *job = (struct fk_tree_job){.tree = into, .column = column};
    job->filtered = fk_query_filter(q, &job->filter) != NULL;
    *scan = (struct fk_scan){.q = q,
                             .want_type = true,
                             .begin = tree_begin,
                             .row = tree_row,
                             .end = tree_end,
                             .arg = job};
}

int fk_query_tree(struct fk_query *q, struct fk_tree *into, uint32_t column, struct fk_err *err)
{
    struct fk_type_facts type;
    int r = fk_query_type(q, &type, err);
    if (r)
        return r;
    if (type.kind == FK_KIND_CUMULATIVE)
        fk_query_warn(q,
                      "%.*s counts since its process began: adding several profiles of one process "
                      "counts the same events again",
                      FK_STR_ARG(type.type));
    q->bytes = 0;
    r = fk_merge_trees(q, into, column, err);
    if (r == 0)
        note_unsymbolized(q, into, column, err);
    return r;
}

// ---- by location ----

struct profile_job {
    struct fk_builder *builder;
    struct fk_dict *dict;
    struct fk_remap *remap;
    FK_VEC(struct fk_value_type) types; // of the result
    struct fk_map rows;                 // stack of the dictionary -> row
    FK_VEC(uint32_t) row_stack;
    FK_VEC(int64_t) values; // [row][type], types fixed before the first row
    int64_t **self;         // of the part at hand, per type of the result
    FK_VEC(struct fk_placement) placements;
    struct fk_shape shape; // of the first row
    bool has_shape, same_period;
    int64_t min_time_ns, duration_ns;
};

static int type_index(struct profile_job *j, const struct fk_value_type *t)
{
    for (size_t i = 0; i < j->types.n; i++)
        if (fk_str_eq(j->types.v[i].type, t->type) && fk_str_eq(j->types.v[i].unit, t->unit))
            return (int)i;
    return -1;
}

static int add_type(struct fk_query *q, struct profile_job *j, const struct fk_value_type *t)
{
    struct fk_value_type copy = {fk_arena_str(&q->arena, t->type), fk_arena_str(&q->arena, t->unit),
                                 t->kind};
    if (type_index(j, t) >= 0)
        return 0;
    return !copy.type.p || !copy.unit.p || fk_vec_push(&j->types, copy) ? -FK_E_NOMEM : 0;
}

// First pass: which types the result has, and facts of the whole.
static int survey_row(struct fk_scan *s, const struct fk_hit *h, struct fk_err *err)
{
    struct profile_job *j = s->arg;
    const struct fk_shape *shape = &s->tables->shape[h->row->shape];
    for (uint32_t k = 0; k < shape->n_types; k++)
        if ((h->column == FK_NONE || k == h->column) && add_type(s->q, j, &shape->type[k]))
            return fk_fail_nomem(err);
    if (!j->has_shape) {
        j->shape =
            (struct fk_shape){.has_period_type = shape->has_period_type,
                              .period = shape->period,
                              .period_type = fk_arena_str(&s->q->arena, shape->period_type),
                              .period_unit = fk_arena_str(&s->q->arena, shape->period_unit),
                              .default_type = fk_arena_str(&s->q->arena, shape->default_type)};
        j->has_shape = j->same_period = true;
        j->min_time_ns = h->row->time_ns;
    }
    j->same_period &= shape->period == j->shape.period;
    j->min_time_ns = FK_MIN(j->min_time_ns, h->row->time_ns);
    j->duration_ns = fk_wrap_add(j->duration_ns, h->row->duration_ns);
    return 0;
}

static int profile_begin(struct fk_scan *s, struct fk_err *err)
{
    struct profile_job *j = s->arg;
    j->self = fk_arena_zalloc(&s->part_arena, FK_MAX(j->types.n, (size_t)1) * sizeof(*j->self));
    return j->self ? 0 : fk_fail_nomem(err);
}

static int profile_row(struct fk_scan *s, const struct fk_hit *h, struct fk_err *err)
{
    struct profile_job *j = s->arg;
    const struct fk_shape *shape = &s->tables->shape[h->row->shape];
    s->q->bytes += h->row->data.n;
    for (uint32_t k = 0; k < shape->n_types; k++) {
        int at = h->column == FK_NONE || k == h->column ? type_index(j, &shape->type[k]) : -1;
        if (at < 0)
            continue;
        int r = need_self(s, &j->self[at], err); // loads the symbols that `in` is bounded by
        struct fk_packed in = fk_row_packed(h->row, s->tables, &s->sym);
        if (r == 0)
            r = fk_samples_sum(&s->samples, &in, k, h->keep_set, j->self[at], NULL, err);
        if (r)
            return r;
    }
    return 0;
}

static int row_of(struct profile_job *j, uint32_t stack, int64_t **ret)
{
    size_t n = j->types.n;
    uint64_t hash = fk_hash_u64(stack);
    for (uint32_t at = fk_map_first(&j->rows, hash); at != FK_NONE;
         at = fk_map_next(&j->rows, hash, at))
        if (j->row_stack.v[fk_map_id(&j->rows, at)] == stack) {
            *ret = j->values.v + (size_t)fk_map_id(&j->rows, at) * n;
            return 0;
        }
    if (fk_vec_reserve(&j->values, n) || fk_vec_reserve(&j->row_stack, 1) ||
        fk_map_add(&j->rows, hash, (uint32_t)j->row_stack.n))
        return -FK_E_NOMEM;
    j->row_stack.v[j->row_stack.n++] = stack;
    *ret = j->values.v + j->values.n;
    memset(*ret, 0, n * sizeof(**ret));
    j->values.n += n;
    return 0;
}

// Placements differ from profile to profile: a merge keeps the mapping and where its first profile
// had it.
static int add_placements(struct fk_scan *s, struct profile_job *j)
{
    for (uint32_t i = 0; i < s->tables->n_placements; i++)
        for (uint32_t k = 0; k < s->tables->placement[i].n; k++) {
            struct fk_placement p = s->tables->placement[i].v[k];
            bool have = false;
            if (p.mapping >= s->sym.n_mappings || fk_remap_mapping(j->remap, p.mapping, &p.mapping))
                return -FK_E_NOMEM;
            for (size_t x = 0; !have && x < j->placements.n; x++)
                have = j->placements.v[x].mapping == p.mapping;
            if (!have && fk_vec_push(&j->placements, p))
                return -FK_E_NOMEM;
        }
    return 0;
}

static int profile_end(struct fk_scan *s, struct fk_err *err)
{
    struct profile_job *j = s->arg;
    if (!s->has_sym)
        return 0;
    if (fk_remap_start(j->remap, j->dict, &s->sym) || add_placements(s, j))
        return fk_fail_nomem(err);
    for (size_t t = 0; t < j->types.n; t++) {
        int r = j->self[t] ? keep_site(s, j->self[t], err) : 0;
        if (r)
            return r;
    }
    for (uint32_t stack = 0; stack < s->sym.n_stacks; stack++) {
        int64_t *row = NULL;
        for (size_t t = 0; t < j->types.n; t++) {
            if (!j->self[t] || !j->self[t][stack])
                continue;
            uint32_t to;
            if (!row && (fk_remap_stack(j->remap, stack, &to) || row_of(j, to, &row)))
                return fk_fail_nomem(err);
            row[t] = fk_wrap_add(row[t], j->self[t][stack]);
        }
    }
    return 0;
}

static int build(struct fk_query *q, struct profile_job *j, struct fk_profile *ret,
                 struct fk_err *err)
{
    for (size_t i = 0; i < j->types.n; i++)
        if (fk_builder_type(j->builder, j->types.v[i].type, j->types.v[i].unit, j->types.v[i].kind))
            return fk_fail_nomem(err);
    for (size_t i = 0; i < j->placements.n; i++)
        if (fk_builder_mapping(j->builder, &j->placements.v[i]))
            return fk_fail_nomem(err);
    for (size_t i = 0; i < j->row_stack.n; i++) {
        int r = fk_builder_sample(j->builder, j->row_stack.v[i], 0, j->values.v + i * j->types.n,
                                  NULL, 1, err);
        if (r)
            return r;
    }
    int r = fk_builder_finish(j->builder, ret, err);
    if (r)
        return r;
    ret->time_ns_start = j->min_time_ns;
    ret->duration_ns = j->duration_ns;
    ret->has_period_type = j->shape.has_period_type;
    ret->period_type = j->shape.period_type;
    ret->period_unit = j->shape.period_unit;
    ret->default_type = j->shape.default_type;
    ret->period = j->same_period ? j->shape.period : 0;
    if (!j->same_period)
        fk_query_warn(q, "the merged profiles have different periods: the result has none");
    return 0;
}

static int merge_profile(struct fk_query *q, struct profile_job *j, struct fk_profile *ret,
                         struct fk_err *err)
{
    struct fk_scan survey = {.q = q, .want_type = q->has_type, .row = survey_row, .arg = j};
    int r = fk_scan_run(&survey, err);
    if (r)
        return r;
    if (!j->has_shape)
        return fk_query_none(q, err);
    j->builder = fk_builder_new(&q->arena, UINT32_MAX, "");
    j->remap = fk_remap_new();
    if (!j->builder || !j->remap)
        return fk_fail_nomem(err);
    j->dict = fk_builder_dict(j->builder);
    struct fk_scan s = {.q = q,
                        .want_type = q->has_type,
                        .begin = profile_begin,
                        .row = profile_row,
                        .end = profile_end,
                        .arg = j};
    q->bytes = 0;
    r = fk_scan_run(&s, err);
    return r ? r : build(q, j, ret, err);
}

int fk_query_profile(struct fk_query *q, struct fk_profile *ret, struct fk_err *err)
{
    if (q->spec.n_ids == 1 && !q->has_type) {
        struct fk_profile_facts facts;
        int r = fk_query_get(q, false, &facts, err);
        if (r == 0)
            *ret = facts.profile;
        return r;
    }
    struct profile_job j = {0};
    int r = merge_profile(q, &j, ret, err);
    fk_builder_free(j.builder);
    fk_remap_free(j.remap);
    fk_map_free(&j.rows);
    fk_vec_free(&j.types);
    fk_vec_free(&j.row_stack);
    fk_vec_free(&j.values);
    fk_vec_free(&j.placements);
    return r;
}
