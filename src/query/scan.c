// SPDX-License-Identifier: Apache-2.0
// The scan. Per part, each series is judged once: matchers on labels it has are settled there, the
// others ask the samples' attributes; each distinct group of such matchers gives one byte per
// attribute set. Then pages are walked, those out of range unread.
#include "query/query_int.h"

// How a series of the part at hand stands to the query.
struct series_plan {
    bool match;
    uint64_t mask;       // bit per matcher that must be asked of attributes
    uint32_t *column;    // per shape: column of the wanted type, FK_NONE: not there
    const uint8_t *keep; // resolved mask, NULL when the mask is 0
    bool resolved;
};

struct mask_sets {
    uint64_t mask;
    uint8_t *keep;
};

// ---- types ----

static bool part_eq(struct fk_str have, struct fk_str want, const char *when_empty)
{
    return fk_str_eq(have.n ? have : fk_str_of(when_empty), want);
}

static bool column_is(const struct fk_query *q, struct fk_str name, const struct fk_shape *s,
                      uint32_t k)
{
    const struct fk_type_id *w = &q->type;
    return part_eq(name, w->name, "unknown") && part_eq(s->type[k].type, w->type, "unknown") &&
           part_eq(s->type[k].unit, w->unit, "count") &&
           fk_str_eq(s->period_type, w->period_type) && fk_str_eq(s->period_unit, w->period_unit);
}

static struct fk_str series_name(const struct fk_dataset *t, uint32_t series)
{
    return fk_labels_get(&t->series[series], FK_S("__name__"));
}

bool fk_query_is_column(const struct fk_query *q, const struct fk_dataset *t, uint32_t series,
                        uint32_t shape, uint32_t k)
{
    return column_is(q, series_name(t, series), &t->shape[shape], k);
}

struct fk_str fk_row_type_id(struct fk_query *q, const struct fk_dataset *t, uint32_t series,
                             uint32_t shape, uint32_t k)
{
    const struct fk_shape *s = &t->shape[shape];
    struct fk_buf b;
    fk_buf_init(&b, 0);
    fk_type_id_put(&b, series_name(t, series), s->type[k].type, s->type[k].unit, s->period_type,
                   s->period_unit);
    struct fk_str id = fk_arena_str(&q->arena, fk_buf_view(&b));
    fk_buf_free(&b);
    return id;
}

// ---- series ----

static int judge(struct fk_scan *s, uint32_t series, struct fk_err *err)
{
    const struct fk_query *q = s->q;
    struct series_plan *p = &s->plan[series];
    p->match = true;
    for (size_t i = 0; p->match && i < q->selector->n; i++) {
        const struct fk_matcher *m = &q->selector->v[i];
        struct fk_str value = fk_labels_get(&s->tables->series[series], m->name);
        if (!value.p) {
            p->mask |= (uint64_t)1 << i;
            continue;
        }
        int r = fk_matcher_match(m, value, &p->match, err);
        if (r)
            return r;
    }
    return 0;
}

static int judge_types(struct fk_scan *s, uint32_t series, struct fk_err *err)
{
    struct series_plan *p = &s->plan[series];
    struct fk_str name = series_name(s->tables, series);
    p->column = fk_arena_array(&s->part_arena, FK_MAX(s->tables->n_shapes, 1u), sizeof(*p->column));
    if (!p->column)
        return fk_fail_nomem(err);
    bool any = false;
    for (uint32_t i = 0; i < s->tables->n_shapes; i++) {
        const struct fk_shape *shape = &s->tables->shape[i];
        p->column[i] = FK_NONE;
        for (uint32_t k = 0; p->column[i] == FK_NONE && k < shape->n_types; k++)
            if (column_is(s->q, name, shape, k))
                p->column[i] = k;
        any |= p->column[i] != FK_NONE;
    }
    if (s->want_type && !any)
        p->match = false;
    return 0;
}

// ---- attributes ----

struct fk_str fk_set_value(const struct fk_symbols *sym, uint32_t set, struct fk_str name,
                           char number[24])
{
    for (uint32_t k = sym->set_begin[set]; k < sym->set_begin[set + 1]; k++) {
        const struct fk_attr *a = &sym->attr[k];
        if (!fk_str_eq(sym->string[a->key], name))
            continue;
        if (a->str)
            return sym->string[a->str];
        struct fk_buf b;
        fk_buf_init(&b, 24);
        fk_buf_i64(&b, a->num);
        size_t n = FK_MIN(b.n, (size_t)23);
        memcpy(number, b.p ? b.p : "", b.p ? n : 0);
        fk_buf_free(&b);
        return fk_str_make(number, n);
    }
    return (struct fk_str){NULL, 0};
}

static bool is_chosen(const struct fk_symbols *sym, uint32_t set, const struct fk_attr_choice *c)
{
    char number[24];
    struct fk_str value = fk_set_value(sym, set, c->name, number);
    if (!value.p)
        value = fk_set_value(sym, set, c->or_name, number);
    bool found = false;
    for (size_t i = 0; value.p && !found && i < c->n; i++)
        found = fk_str_eq_nocase(value, c->value[i]);
    return found;
}

static int set_matches(struct fk_scan *s, uint32_t set, uint64_t mask, bool *ret,
                       struct fk_err *err)
{
    const struct fk_query *q = s->q;
    char number[24];
    *ret = true;
    for (size_t i = 0; *ret && i < q->selector->n; i++) {
        if (!(mask >> i & 1))
            continue;
        struct fk_str value = fk_set_value(&s->sym, set, q->selector->v[i].name, number);
        int r = fk_matcher_match(&q->selector->v[i], value.p ? value : FK_S(""), ret, err);
        if (r)
            return r;
    }
    for (size_t i = 0; *ret && i < q->spec.n_attrs; i++)
        *ret = fk_str_eq(fk_set_value(&s->sym, set, q->spec.attr[i].name, number),
                         q->spec.attr[i].value);
    for (size_t i = 0; *ret && i < q->spec.n_choices; i++)
        *ret = is_chosen(&s->sym, set, &q->spec.choice[i]);
    return 0;
}

static int make_keep(struct fk_scan *s, uint64_t mask, const uint8_t **ret, struct fk_err *err)
{
    const struct fk_symbols *sym;
    for (size_t i = 0; i < s->n_masks; i++)
        if (s->masks[i].mask == mask) {
            *ret = s->masks[i].keep;
            return 0;
        }
    int r = fk_scan_symbols(s, &sym, err);
    if (r)
        return r;
    uint8_t *keep = fk_arena_alloc(&s->part_arena, sym->n_sets);
    struct mask_sets *grown = fk_arena_array(&s->part_arena, s->n_masks + 1, sizeof(*grown));
    if (!keep || !grown)
        return fk_fail_nomem(err);
    for (uint32_t i = 0; i < sym->n_sets; i++) {
        bool match;
        if ((r = set_matches(s, i, mask, &match, err)))
            return r;
        keep[i] = match;
    }
    if (s->n_masks)
        memcpy(grown, s->masks, s->n_masks * sizeof(*grown));
    grown[s->n_masks++] = (struct mask_sets){mask, keep};
    s->masks = grown;
    *ret = keep;
    return 0;
}

static int resolve(struct fk_scan *s, struct series_plan *p, struct fk_err *err)
{
    if (p->resolved)
        return 0;
    p->resolved = true;
    if (p->mask == 0 && s->q->spec.n_attrs == 0 && s->q->spec.n_choices == 0)
        return 0;
    return make_keep(s, p->mask, &p->keep, err);
}

// Whether any sample of the row counts. Only asked when there is a keep_set.
static int any_sample(struct fk_scan *s, const struct fk_hit *h, bool *ret, struct fk_err *err)
{
    struct fk_packed in = fk_row_packed(h->row, s->tables, &s->sym);
    int r = fk_samples_unpack(&s->samples, &in, err);
    *ret = false;
    for (uint64_t i = 0; r == 0 && !*ret && i < s->samples.n_rows; i++)
        *ret = h->keep_set[s->samples.has_sets ? s->samples.set[i] : 0];
    // A profile without samples matches when no matcher insists on something.
    if (r == 0 && s->samples.n_rows == 0)
        *ret = h->keep_set[0];
    return r;
}

// ---- rows ----

static bool id_wanted(const struct fk_query *q, struct fk_id id)
{
    size_t low = 0, high = q->spec.n_ids;
    if (high == 0)
        return true;
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        int order = fk_id_cmp(q->ids[mid], id);
        if (order == 0)
            return true;
        if (order < 0)
            low = mid + 1;
        else
            high = mid;
    }
    return false;
}

static bool in_range(const struct fk_query *q, const struct fk_row *row)
{
    if (fk_id_cmp(row->id, q->max_id) > 0 || !id_wanted(q, row->id))
        return false;
    return q->spec.n_ids || (row->time_ns >= q->spec.from_ns && row->time_ns < q->spec.until_ns);
}

static int on_row(struct fk_scan *s, const struct fk_row *row, uint32_t page, uint32_t index,
                  struct fk_err *err)
{
    struct series_plan *p = &s->plan[row->series];
    if (!p->match || !in_range(s->q, row))
        return 0;
    struct fk_hit h = {.part = s->part,
                       .tables = s->tables,
                       .row = row,
                       .page = page,
                       .index = index,
                       .column = FK_NONE};
    if (s->q->has_type) {
        h.column = p->column[row->shape];
        if (h.column == FK_NONE && s->want_type)
            return 0;
    }
    int r = resolve(s, p, err);
    if (r)
        return r;
    h.keep_set = p->keep;
    bool any = true;
    if (h.keep_set && (r = any_sample(s, &h, &any, err)))
        return r;
    if (!any)
        return 0;
    s->q->rows++;
    s->q->truncated += (row->flags & FK_ENTRY_TRUNCATED) != 0;
    return s->row ? s->row(s, &h, err) : 0;
}

static bool page_wanted(struct fk_scan *s, const struct fk_page_bounds *b)
{
    const struct fk_query *q = s->q;
    if (fk_id_cmp(b->min_id, q->max_id) > 0)
        return false;
    if (q->spec.n_ids)
        return fk_id_cmp(q->ids[q->spec.n_ids - 1], b->min_id) >= 0 &&
               fk_id_cmp(q->ids[0], b->max_id) <= 0;
    if (b->max_time_ns < q->spec.from_ns || b->min_time_ns >= q->spec.until_ns)
        return false;
    return !s->skip || !s->skip(s, b);
}

static int scan_pages(struct fk_scan *s, struct fk_err *err)
{
    int r = 0;
    for (uint32_t p = 0; r == 0 && p < fk_part_pages(s->part); p++) {
        struct fk_page_bounds bounds;
        const struct fk_row *row;
        uint32_t n = 0;
        if ((r = fk_cancel_check(s->q->opts.cancel, err)) ||
            (r = fk_part_bounds(s->part, p, &bounds, err)))
            break;
        s->page_index = p;
        if (!page_wanted(s, &bounds))
            continue;
        r = fk_part_page(s->part, p, s->page, &row, &n, err);
        for (uint32_t i = 0; r == 0 && i < n; i++)
            r = on_row(s, &row[i], p, i, err);
    }
    return r;
}

// ---- parts ----

// Whether a matcher on service_name rules the whole part out.
static int service_matches(struct fk_scan *s, const struct fk_part *part, bool *ret,
                           struct fk_err *err)
{
    struct fk_str service = fk_part_service(part);
    *ret = true;
    for (size_t i = 0; *ret && i < s->q->selector->n; i++) {
        const struct fk_matcher *m = &s->q->selector->v[i];
        if (!fk_str_eq(m->name, FK_S("service_name")))
            continue;
        int r = fk_matcher_match(m, service, ret, err);
        if (r)
            return r;
    }
    return 0;
}

static int plan_part(struct fk_scan *s, bool *ret_any, struct fk_err *err)
{
    int r = fk_part_tables(s->part, &s->tables, err);
    if (r)
        return r;
    s->plan = fk_arena_zalloc(&s->part_arena, FK_MAX(s->tables->n_series, 1u) * sizeof(*s->plan));
    if (!s->plan)
        return fk_fail_nomem(err);
    *ret_any = false;
    for (uint32_t i = 0; i < s->tables->n_series; i++) {
        if ((r = judge(s, i, err)) || (s->q->has_type && (r = judge_types(s, i, err))))
            return r;
        *ret_any |= s->plan[i].match;
    }
    return 0;
}

static int scan_part(struct fk_scan *s, struct fk_err *err)
{
    bool any;
    int r = plan_part(s, &any, err);
    if (r || !any)
        return r;
    if (s->begin && (r = s->begin(s, err)))
        return r;
    if ((r = scan_pages(s, err)))
        return r;
    return s->end ? s->end(s, err) : 0;
}

int fk_scan_part(struct fk_scan *s, const struct fk_part *part, struct fk_err *err)
{
    bool match;
    int r = service_matches(s, part, &match, err);
    s->part_index++;
    if (r || !match)
        return r;
    s->part = part;
    s->has_sym = false;
    s->masks = NULL;
    s->n_masks = 0;
    s->site = NULL;
    s->spans = NULL;
    fk_arena_init(&s->part_arena, (size_t)s->q->opts.memory);
    r = scan_part(s, err);
    fk_arena_free(&s->part_arena);
    return r;
}

int fk_scan_begin(struct fk_scan *s, struct fk_err *err)
{
    s->part_index = UINT32_MAX;
    s->q->rows = s->q->truncated = 0;
    s->page = fk_calloc(1, sizeof(*s->page));
    return s->page ? 0 : fk_fail_nomem(err);
}

void fk_scan_end(struct fk_scan *s)
{
    fk_page_free(s->page);
    fk_free(s->page);
    fk_samples_free(&s->samples);
}

int fk_query_parts(struct fk_query *q, int (*on)(void *, const struct fk_part *, struct fk_err *),
                   void *arg, struct fk_err *err)
{
    const struct fk_source_spec *spec = &q->spec;
    int64_t from = spec->n_ids ? INT64_MIN : spec->from_ns,
            until = spec->n_ids ? INT64_MAX : spec->until_ns;
    return fk_snapshot_parts(q->snapshot, from, until, on, arg, err);
}

static int on_part(void *arg, const struct fk_part *part, struct fk_err *err)
{
    return fk_scan_part(arg, part, err);
}

int fk_scan_run(struct fk_scan *s, struct fk_err *err)
{
    int r = fk_scan_begin(s, err);
    if (r)
        return r;
    r = fk_query_parts(s->q, on_part, s, err);
    fk_scan_end(s);
    return r;
}

int fk_scan_symbols(struct fk_scan *s, const struct fk_symbols **ret, struct fk_err *err)
{
    if (!s->has_sym) {
        int r = fk_part_symbols(s->part, &s->part_arena, &s->sym, err);
        if (r)
            return r;
        s->has_sym = true;
    }
    *ret = &s->sym;
    return 0;
}

// ---- hits ----

int fk_hit_total(struct fk_scan *s, const struct fk_hit *h, uint32_t column, int64_t *ret,
                 struct fk_err *err)
{
    const uint8_t *site;
    int r = fk_scan_site(s, &site, err);
    if (r)
        return r;
    if (!h->keep_set && !site) {
        *ret = h->row->total[column];
        return 0;
    }
    struct fk_packed in = fk_row_packed(h->row, s->tables, &s->sym);
    r = fk_samples_unpack(&s->samples, &in, err);
    int64_t sum = 0;
    for (uint64_t i = 0; r == 0 && i < s->samples.n_rows; i++) {
        if ((h->keep_set && !h->keep_set[s->samples.has_sets ? s->samples.set[i] : 0]) ||
            (site && !site[s->samples.stack[i]]))
            continue;
        uint64_t from = s->samples.has_obs ? s->samples.obs_begin[i] : i;
        uint64_t until = s->samples.has_obs ? s->samples.obs_begin[i + 1] : i + 1;
        for (; from < until; from++)
            sum = fk_wrap_add(sum, s->samples.value[column][from]);
    }
    if (r == 0)
        *ret = sum;
    return r;
}

int fk_hit_entry(struct fk_scan *s, const struct fk_hit *h, struct fk_entry *ret,
                 struct fk_err *err)
{
    int r = fk_row_entry(h->row, h->tables, &s->q->arena, ret, err);
    if (r || !h->keep_set)
        return r;
    struct fk_entry_type *type =
        fk_arena_array(&s->q->arena, FK_MAX(ret->n_types, 1u), sizeof(*type));
    if (!type)
        return fk_fail_nomem(err);
    for (uint32_t k = 0; r == 0 && k < ret->n_types; k++) {
        type[k] = ret->type[k];
        r = fk_hit_total(s, h, k, &type[k].total, err);
    }
    ret->type = type;
    return r;
}
