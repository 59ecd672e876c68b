// SPDX-License-Identifier: Apache-2.0
// One profile, whole, and its neighbours in time.
#include "query/query_int.h"

struct get {
    struct fk_profile_facts *facts;
    bool found;
};

// Only the rows whose attributes match; columns are made anew, the old ones are the snapshot's.
static int keep_rows(struct fk_profile *p, const uint8_t *keep, struct fk_arena *a,
                     struct fk_err *err)
{
    size_t rows = (size_t)p->n_rows + 1, obs = (size_t)p->n_obs + 1, n = 0, m = 0;
    uint32_t *stack = fk_arena_array(a, rows, sizeof(*stack));
    uint32_t *set = fk_arena_array(a, rows, sizeof(*set));
    uint64_t *begin = fk_arena_array(a, rows, sizeof(*begin));
    int64_t *time = fk_arena_array(a, obs, sizeof(*time));
    int64_t **value = fk_arena_array(a, p->n_types + (size_t)1, sizeof(*value));
    bool failed = !stack || !set || !begin || !time || !value;
    for (uint32_t k = 0; !failed && k < p->n_types; k++)
        failed = !(value[k] = fk_arena_array(a, obs, sizeof(**value)));
    if (failed)
        return fk_fail_nomem(err);
    for (uint64_t r = 0; r < p->n_rows; r++) {
        if (!keep[p->set ? p->set[r] : 0])
            continue;
        stack[n] = p->stack[r];
        set[n] = p->set ? p->set[r] : 0;
        begin[n++] = m;
        uint64_t end = p->obs_begin ? p->obs_begin[r + 1] : r + 1;
        for (uint64_t o = p->obs_begin ? p->obs_begin[r] : r; o < end; o++, m++) {
            time[m] = p->time_ns ? p->time_ns[o] : FK_NO_TIME;
            for (uint32_t k = 0; k < p->n_types; k++)
                value[k][m] = p->value[k][o];
        }
    }
    begin[n] = m;
    p->n_rows = n;
    p->n_obs = m;
    p->stack = stack;
    p->set = set;
    p->obs_begin = p->obs_begin ? begin : NULL;
    p->time_ns = p->time_ns ? time : NULL;
    p->value = (const int64_t *const *)value;
    return 0;
}

// Symbols into the query's arena: the part's own arena goes when the scan leaves it.
static int get_row(struct fk_scan *s, const struct fk_hit *h, struct fk_err *err)
{
    struct get *g = s->arg;
    struct fk_symbols sym;
    if (g->found)
        return 0;
    int r = fk_part_symbols(s->part, &s->q->arena, &sym, err);
    if (r == 0)
        r = fk_row_profile(h->row, h->tables, &sym, &s->samples, &s->q->arena, &g->facts->profile,
                           err);
    if (r == 0 && h->keep_set)
        r = keep_rows(&g->facts->profile, h->keep_set, &s->q->arena, err);
    if (r == 0)
        r = fk_hit_entry(s, h, &g->facts->entry, err);
    g->found = r == 0;
    s->q->bytes += h->row->data.n;
    return r;
}

// ---- neighbours ----

struct neighbours {
    const struct fk_entry *entry;
    struct fk_id previous, next;
    int64_t previous_ns, next_ns;
    bool has_previous, has_next;
    uint32_t series; // of the part at hand, FK_NONE: not there
};

static int find_series(struct fk_scan *s, struct fk_err *err)
{
    struct neighbours *n = s->arg;
    (void)err;
    n->series = FK_NONE;
    for (uint32_t i = 0; n->series == FK_NONE && i < s->tables->n_series; i++)
        if (fk_labels_eq(&s->tables->series[i], &n->entry->labels))
            n->series = i;
    return 0;
}

static int by_time(int64_t ta, struct fk_id a, int64_t tb, struct fk_id b)
{
    return ta != tb ? (ta < tb ? -1 : 1) : fk_id_cmp(a, b);
}

static bool no_neighbour_here(struct fk_scan *s, const struct fk_page_bounds *b)
{
    const struct neighbours *n = s->arg;
    if (n->series == FK_NONE)
        return true;
    bool before = b->min_time_ns <= n->entry->time_ns &&
                  (!n->has_previous || b->max_time_ns >= n->previous_ns);
    bool after =
        b->max_time_ns >= n->entry->time_ns && (!n->has_next || b->min_time_ns <= n->next_ns);
    return !before && !after;
}

static int near_row(struct fk_scan *s, const struct fk_hit *h, struct fk_err *err)
{
    struct neighbours *n = s->arg;
    (void)err;
    if (h->row->series != n->series)
        return 0;
    int side = by_time(h->row->time_ns, h->row->id, n->entry->time_ns, n->entry->id);
    if (side < 0 && (!n->has_previous ||
                     by_time(h->row->time_ns, h->row->id, n->previous_ns, n->previous) > 0)) {
        n->previous = h->row->id;
        n->previous_ns = h->row->time_ns;
        n->has_previous = true;
    }
    if (side > 0 &&
        (!n->has_next || by_time(h->row->time_ns, h->row->id, n->next_ns, n->next) < 0)) {
        n->next = h->row->id;
        n->next_ns = h->row->time_ns;
        n->has_next = true;
    }
    return 0;
}

static int find_neighbours(struct fk_query *q, struct fk_profile_facts *facts, struct fk_err *err)
{
    struct neighbours n = {.entry = &facts->entry};
    struct fk_source_spec spec = q->spec;
    uint64_t rows = q->rows, truncated = q->truncated;
    q->spec.n_ids = 0;
    q->spec.from_ns = INT64_MIN;
    q->spec.until_ns = INT64_MAX;
    struct fk_scan s = {
        .q = q, .begin = find_series, .row = near_row, .skip = no_neighbour_here, .arg = &n};
    int r = fk_scan_run(&s, err);
    q->spec = spec;
    q->rows = rows;
    q->truncated = truncated;
    facts->previous = n.previous;
    facts->next = n.next;
    return r;
}

int fk_query_get(struct fk_query *q, bool neighbours, struct fk_profile_facts *ret,
                 struct fk_err *err)
{
    struct fk_profile_facts facts = {0};
    struct get g = {.facts = &facts};
    struct fk_scan s = {.q = q, .want_type = q->has_type, .row = get_row, .arg = &g};
    int r = fk_scan_run(&s, err);
    if (r)
        return r;
    if (!g.found)
        return fk_query_none(q, err);
    if (neighbours && (r = find_neighbours(q, &facts, err)))
        return r;
    *ret = facts;
    return 0;
}
