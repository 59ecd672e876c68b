// SPDX-License-Identifier: Apache-2.0
// Listing entries: one scan keeps the best limit + 1 places in a heap without touching samples, a
// second one reads those entries. A walk sees what was committed when its first page was served:
// the cursor carries the highest id of that moment.
#include "query/cursor_int.h"

#include <stdlib.h>

struct place {
    int64_t key;
    struct fk_id id;
    uint32_t part, page, index;
    size_t rank; // in the answer
};

struct list {
    const struct fk_list_spec *spec;
    struct fk_cursor cursor;
    bool has_cursor;
    bool ascending;      // of this scan: a page backward is scanned the other way round
    struct place *place; // heap, the worst on top; afterwards in order
    size_t n, cap;
    struct fk_entry *entry; // second scan
    size_t next;
};

// <0 when a comes before b in this scan.
static int order(const struct list *l, const struct place *a, const struct place *b)
{
    int o = a->key != b->key ? (a->key < b->key ? -1 : 1) : fk_id_cmp(a->id, b->id);
    return l->ascending ? o : -o;
}

static void sift_down(struct list *l, size_t at)
{
    for (size_t child; (child = 2 * at + 1) < l->n; at = child) {
        if (child + 1 < l->n && order(l, &l->place[child + 1], &l->place[child]) > 0)
            child++;
        if (order(l, &l->place[child], &l->place[at]) <= 0)
            return;
        struct place x = l->place[child];
        l->place[child] = l->place[at];
        l->place[at] = x;
    }
}

static void offer(struct list *l, const struct place *p)
{
    if (l->n < l->cap) {
        size_t at = l->n++;
        l->place[at] = *p;
        while (at && order(l, &l->place[at], &l->place[(at - 1) / 2]) > 0) {
            struct place x = l->place[at];
            l->place[at] = l->place[(at - 1) / 2];
            l->place[(at - 1) / 2] = x;
            at = (at - 1) / 2;
        }
    } else if (order(l, p, &l->place[0]) < 0) {
        l->place[0] = *p;
        sift_down(l, 0);
    }
}

// A page of which no row can come before the worst of a full heap, or after the cursor, need not be
// read.
static bool skip_by_time(struct fk_scan *s, const struct fk_page_bounds *b)
{
    const struct list *l = s->arg;
    if (l->spec->key != FK_LIST_TIME)
        return false;
    if (l->has_cursor &&
        (l->ascending ? b->max_time_ns < l->cursor.key : b->min_time_ns > l->cursor.key))
        return true;
    if (l->n < l->cap)
        return false;
    return l->ascending ? b->min_time_ns > l->place[0].key : b->max_time_ns < l->place[0].key;
}

static int key_of(struct fk_scan *s, const struct fk_hit *h, int64_t *ret, struct fk_err *err)
{
    const struct list *l = s->arg;
    switch (l->spec->key) {
    case FK_LIST_TIME:
        *ret = h->row->time_ns;
        return 0;
    case FK_LIST_DURATION:
        *ret = h->row->duration_ns;
        return 0;
    case FK_LIST_SAMPLES:
        *ret = (int64_t)FK_MIN(h->row->samples, (uint64_t)INT64_MAX);
        return 0;
    case FK_LIST_SIZE:
        *ret = (int64_t)(h->row->data.n + h->row->notes.n);
        return 0;
    case FK_LIST_VALUE:
        break;
    }
    return fk_hit_total(s, h, h->column, ret, err);
}

static bool passes(const struct list *l, const struct fk_row *row)
{
    const struct fk_list_spec *s = l->spec;
    bool timed = (row->flags & FK_ENTRY_HAS_TIME) != 0;
    if (s->min_duration_ns && row->duration_ns < s->min_duration_ns)
        return false;
    if (s->max_duration_ns && row->duration_ns > s->max_duration_ns)
        return false;
    return s->has_time == 0 || (s->has_time > 0) == timed;
}

static int on_row(struct fk_scan *s, const struct fk_hit *h, struct fk_err *err)
{
    struct list *l = s->arg;
    struct place p = {.id = h->row->id, .part = s->part_index, .page = h->page, .index = h->index};
    int64_t value;
    int r;
    if (!passes(l, h->row))
        return 0;
    if (l->spec->has_min || l->spec->has_max) {
        if ((r = fk_hit_total(s, h, h->column, &value, err)))
            return r;
        if ((l->spec->has_min && value < l->spec->min_value) ||
            (l->spec->has_max && value > l->spec->max_value))
            return 0;
    }
    if ((r = key_of(s, h, &p.key, err)))
        return r;
    struct place edge = {.key = l->cursor.key, .id = l->cursor.id};
    if (!l->has_cursor || order(l, &p, &edge) > 0)
        offer(l, &p);
    return 0;
}

// ---- reading the chosen entries ----

static int by_place(const void *pa, const void *pb)
{
    const struct place *a = pa, *b = pb;
    if (a->part != b->part)
        return a->part < b->part ? -1 : 1;
    if (a->page != b->page)
        return a->page < b->page ? -1 : 1;
    return a->index < b->index ? -1 : a->index > b->index;
}

static bool skip_unchosen(struct fk_scan *s, const struct fk_page_bounds *b)
{
    const struct list *l = s->arg;
    (void)b;
    return l->next == l->n || l->place[l->next].part != s->part_index ||
           l->place[l->next].page != s->page_index;
}

static int read_chosen(struct fk_scan *s, const struct fk_hit *h, struct fk_err *err)
{
    struct list *l = s->arg;
    if (l->next == l->n || fk_id_cmp(l->place[l->next].id, h->row->id))
        return 0;
    return fk_hit_entry(s, h, &l->entry[l->place[l->next++].rank], err);
}

static int read_entries(struct fk_query *q, struct list *l, struct fk_err *err)
{
    uint64_t rows = q->rows, truncated = q->truncated; // of the first scan: those are the answer's
    l->entry = fk_arena_zalloc(&q->arena, FK_MAX(l->n, (size_t)1) * sizeof(*l->entry));
    if (!l->entry)
        return fk_fail_nomem(err);
    qsort(l->place, l->n, sizeof(*l->place), by_place);
    struct fk_scan s = {.q = q, .row = read_chosen, .skip = skip_unchosen, .arg = l};
    int r = fk_scan_run(&s, err);
    q->rows = rows;
    q->truncated = truncated;
    if (r == 0 && l->next != l->n)
        return fk_fail(err, FK_E_CORRUPT,
                       "an entry disappeared between two readings of a snapshot");
    return r;
}

// ---- pages ----

static uint64_t list_hash(const struct fk_query *q, const struct fk_list_spec *s)
{
    const uint64_t words[] = {fk_query_hash(q),
                              (uint64_t)s->key * 2 + s->ascending,
                              s->has_min ? (uint64_t)s->min_value : 1,
                              s->has_max ? (uint64_t)s->max_value : 2,
                              (uint64_t)s->has_min * 2 + s->has_max,
                              (uint64_t)s->min_duration_ns,
                              (uint64_t)s->max_duration_ns,
                              (uint64_t)(s->has_time + 1)};
    return fk_hash_bytes(words, sizeof(words));
}

// Whatever their order.
static uint64_t tenants_hash(const struct fk_query *q)
{
    uint64_t h = q->opts.n_tenants;
    for (size_t i = 0; i < q->opts.n_tenants; i++)
        h += fk_hash_u64(fk_hash_str(q->opts.tenants[i]));
    return h;
}

static int use_cursor(struct fk_query *q, struct list *l, struct fk_err *err)
{
    uint64_t hash = list_hash(q, l->spec);
    l->ascending = l->spec->ascending;
    if (l->spec->cursor.n == 0) {
        l->cursor = (struct fk_cursor){.hash = hash,
                                       .tenants = tenants_hash(q),
                                       .from_ns = q->spec.from_ns,
                                       .until_ns = q->spec.until_ns,
                                       .max_id = q->max_id};
        return 0;
    }
    int r = fk_cursor_read(l->spec->cursor, &l->cursor, err);
    if (r)
        return r;
    if (l->cursor.tenants != tenants_hash(q))
        return fk_fail(err, FK_E_NOTFOUND,
                       "there is no such cursor for this tenant; start again without cursor=");
    if (l->cursor.hash != hash)
        return fk_fail_param(err, "cursor",
                             "the cursor belongs to a list with another query, type, sort or "
                             "filter; start again without "
                             "cursor=");
    l->has_cursor = true;
    q->spec.from_ns = l->cursor.from_ns;
    q->spec.until_ns = l->cursor.until_ns;
    q->max_id = l->cursor.max_id;
    if (l->cursor.backward)
        l->ascending = !l->ascending;
    return 0;
}

static struct fk_str edge_cursor(struct fk_query *q, const struct list *l, const struct place *p,
                                 bool backward)
{
    struct fk_cursor c = l->cursor;
    c.key = p->key;
    c.id = p->id;
    c.backward = backward;
    return fk_cursor_put(&q->arena, &c);
}

static int compare_places(const void *pa, const void *pb, void *arg)
{
    return order(arg, pa, pb);
}

static void turn(struct place *v, size_t n)
{
    for (size_t i = 0; i < n / 2; i++) {
        struct place x = v[i];
        v[i] = v[n - 1 - i];
        v[n - 1 - i] = x;
    }
}

// Places in the order of the answer, cursors at its edges.
static int finish_page(struct fk_query *q, struct list *l, struct fk_page_of_entries *ret,
                       struct fk_err *err)
{
    bool backward = l->has_cursor && l->cursor.backward;
    qsort_r(l->place, l->n, sizeof(*l->place), compare_places, l);
    bool more = l->n > l->spec->limit;
    l->n = FK_MIN(l->n, (size_t)l->spec->limit);
    if (backward)
        turn(l->place, l->n);
    bool has_next = backward ? true : more, has_prev = backward ? more : l->has_cursor;
    struct fk_page_of_entries page = {.n = l->n};
    if (l->n && has_next)
        page.next = edge_cursor(q, l, &l->place[l->n - 1], false);
    if (l->n && has_prev)
        page.prev = edge_cursor(q, l, &l->place[0], true);
    for (size_t i = 0; i < l->n; i++)
        l->place[i].rank = i;
    int r = read_entries(q, l, err);
    page.entry = l->entry;
    if (r == 0)
        *ret = page;
    return r;
}

int fk_query_list(struct fk_query *q, const struct fk_list_spec *spec,
                  struct fk_page_of_entries *ret, struct fk_err *err)
{
    struct list l = {.spec = spec, .cap = (size_t)spec->limit + 1};
    bool by_value = spec->key == FK_LIST_VALUE || spec->has_min || spec->has_max;
    int r = use_cursor(q, &l, err);
    if (r)
        return r;
    if (by_value) {
        struct fk_type_facts t;
        r = fk_query_type(q, &t, err);
        if (r == -FK_E_NOTFOUND) {
            *ret = (struct fk_page_of_entries){0};
            return 0;
        }
        if (r)
            return r;
    }
    l.place = fk_arena_array(&q->arena, l.cap, sizeof(*l.place));
    if (!l.place)
        return fk_fail_nomem(err);
    struct fk_scan s = {
        .q = q, .want_type = q->has_type, .row = on_row, .skip = skip_by_time, .arg = &l};
    if ((r = fk_scan_run(&s, err)))
        return r;
    return finish_page(q, &l, ret, err);
}

// ---- nearest to a moment ----

struct nearest {
    int64_t at_ns;
    FK_VEC(struct near_series {
        struct fk_labels labels;
        uint64_t distance;
        struct fk_entry entry;
    })
    series;
    struct fk_map index;
};

static uint64_t distance(int64_t a, int64_t b)
{
    return a > b ? (uint64_t)a - (uint64_t)b : (uint64_t)b - (uint64_t)a;
}

static int on_near(struct fk_scan *s, const struct fk_hit *h, struct fk_err *err)
{
    struct nearest *n = s->arg;
    const struct fk_labels *labels = &h->tables->series[h->row->series];
    uint64_t hash = fk_labels_hash(labels), d = distance(h->row->time_ns, n->at_ns);
    size_t i = n->series.n;
    for (uint32_t at = fk_map_first(&n->index, hash); at != FK_NONE;
         at = fk_map_next(&n->index, hash, at))
        if (fk_labels_eq(&n->series.v[fk_map_id(&n->index, at)].labels, labels))
            i = fk_map_id(&n->index, at);
    if (i == n->series.n) {
        struct near_series fresh = {.labels = *labels, .distance = UINT64_MAX};
        if (fk_vec_push(&n->series, fresh) || fk_map_add(&n->index, hash, (uint32_t)i))
            return fk_fail_nomem(err);
    }
    if (d >= n->series.v[i].distance)
        return 0;
    n->series.v[i].distance = d;
    return fk_hit_entry(s, h, &n->series.v[i].entry, err);
}

int fk_query_nearest(struct fk_query *q, int64_t at_ns, struct fk_page_of_entries *ret,
                     struct fk_err *err)
{
    struct nearest n = {.at_ns = at_ns};
    struct fk_scan s = {.q = q, .want_type = q->has_type, .row = on_near, .arg = &n};
    int r = fk_scan_run(&s, err);
    struct fk_entry *v =
        r ? NULL : fk_arena_array(&q->arena, FK_MAX(n.series.n, (size_t)1), sizeof(*v));
    if (r == 0 && !v)
        r = fk_fail_nomem(err);
    for (size_t i = 0; r == 0 && i < n.series.n; i++)
        v[i] = n.series.v[i].entry;
    if (r == 0)
        *ret = (struct fk_page_of_entries){.entry = v, .n = n.series.n};
    fk_vec_free(&n.series);
    fk_map_free(&n.index);
    return r;
}
