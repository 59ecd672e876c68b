// SPDX-License-Identifier: Apache-2.0
// Questions over packs and blocks against a plain array of what was pushed: pages of the list in
// every order, forward and backward; totals of trees, series and heatmaps; names; bad cursors.
#include "query/query_int.h"

#include "support/profiles.h"
#include "support/support.h"
#include "support/test.h"

#define PUSHED  400
#define BEGIN   1700000000000000000
#define SERVICE "{service_name=\"svc-2\"}"

struct pushed {
    struct fk_id id;
    uint32_t service, pod;
    int64_t time_ns, total;
    uint64_t samples;
};

struct world {
    char *tmp;
    struct fk_store *store;
    struct pushed all[PUSHED];
};

static void push(struct world *w, struct fk_rng *rng, size_t i)
{
    static const struct fk_gen gen = {
        .rows = 30, .types = 1, .depth = 6, .functions = 25, .attributes = true};
    FK_AUTO_ARENA a;
    struct fk_profile p;
    struct fk_entry e;
    struct fk_err err = {0};
    struct pushed *x = &w->all[i];
    char service[16];
    fk_arena_init(&a, 0);
    fk_gen_profile(rng, &gen, &a, &p);
    x->service = fk_rng_below(rng, 5);
    x->pod = fk_rng_below(rng, 3);
    x->time_ns = BEGIN + fk_rng_below(rng, 300) * FK_NS_PER_S; // many share a moment
    x->total = fk_profile_total(&p, 0);
    x->samples = p.n_rows;
    snprintf(service, sizeof(service), "svc-%u", x->service);
    fk_gen_entry(&p, service, x->pod, x->time_ns, &a, &e);
    fk_test_ok(fk_store_append_wait(w->store, FK_S(FK_TENANT_DEFAULT), &e, &p, &x->id, &err), &err);
}

// A third in each of two blocks, a third in the head.
static int setup(void **state)
{
    struct world *w = fk_calloc(1, sizeof(*w));
    struct fk_rng rng = {17};
    struct fk_err err = {0};
    assert_non_null(w);
    *state = w;
    w->tmp = fk_test_tmpdir();
    fk_test_ok(
        fk_store_open(&(struct fk_store_opts){.dir = w->tmp, .min_free = 1, .run_inline = true},
                      &w->store, &err),
        &err);
    for (size_t i = 0; i < PUSHED; i++) {
        push(w, &rng, i);
        if (i == PUSHED / 3 || i == PUSHED * 2 / 3)
            fk_test_ok(fk_store_seal(w->store, &err), &err);
    }
    return 0;
}

static int teardown(void **state)
{
    struct world *w = *state;
    fk_store_close(w->store);
    fk_test_rmtree(w->tmp);
    fk_free(w);
    return 0;
}

static const struct fk_str tenant = {FK_TENANT_DEFAULT, sizeof(FK_TENANT_DEFAULT) - 1};

static struct fk_query *query(struct world *w, const struct fk_source_spec *s)
{
    struct fk_query *q;
    struct fk_err err = {0};
    struct fk_query_opts o = {.store = w->store, .tenants = &tenant, .n_tenants = 1};
    fk_test_ok(fk_query_new(&o, s, &q, &err), &err);
    return q;
}

// ---- the list ----

struct question {
    struct fk_source_spec source;
    struct fk_list_spec list;
    int service, pod; // -1: any
};

static bool wanted(const struct question *x, const struct pushed *p)
{
    return (x->service < 0 || p->service == (uint32_t)x->service) &&
           (x->pod < 0 || p->pod == (uint32_t)x->pod) && p->time_ns >= x->source.from_ns &&
           p->time_ns < x->source.until_ns && (!x->list.has_min || p->total >= x->list.min_value) &&
           (!x->list.has_max || p->total <= x->list.max_value);
}

static int64_t key_of(const struct fk_entry *e, enum fk_list_key key)
{
    return key == FK_LIST_TIME    ? e->time_ns
           : key == FK_LIST_VALUE ? e->type[0].total
                                  : (int64_t)e->samples;
}

static struct question any_question(struct fk_rng *rng)
{
    static const struct {
        const char *text;
        int service, pod;
    } selectors[] = {{"{}", -1, -1},
                     {SERVICE, 2, -1},
                     {"{pod=\"pod-1\"}", -1, 1},
                     {"{service_name=~\"svc-3|nothing\",pod!~\"pod-[12]\"}", 3, 0}};
    static const enum fk_list_key keys[] = {FK_LIST_TIME, FK_LIST_VALUE, FK_LIST_SAMPLES};
    uint32_t s = fk_rng_below(rng, FK_COUNTOF(selectors));
    struct question x = {.service = selectors[s].service, .pod = selectors[s].pod};
    x.source.selector = fk_str_of(selectors[s].text);
    x.source.type = FK_S("process_cpu:samples:count:cpu:nanoseconds");
    x.source.from_ns = BEGIN + fk_rng_below(rng, 100) * FK_NS_PER_S;
    x.source.until_ns = BEGIN + (100 + fk_rng_below(rng, 250)) * FK_NS_PER_S;
    x.list.key = keys[fk_rng_below(rng, FK_COUNTOF(keys))];
    x.list.ascending = fk_rng_below(rng, 2);
    x.list.limit = 1 + fk_rng_below(rng, 40);
    x.list.has_min = fk_rng_below(rng, 3) == 0;
    x.list.min_value = 3000;
    x.list.has_max = fk_rng_below(rng, 3) == 0;
    x.list.max_value = 9000;
    return x;
}

struct walk {
    struct fk_id id[PUSHED + 1];
    size_t n;
};

// Takes one page; its cursor in the wanted direction goes to `cursor`. False at the end.
static bool take_page(struct world *w, struct question *x, bool back, char cursor[512],
                      struct walk *to)
{
    struct fk_query *q = query(w, &x->source);
    struct fk_page_of_entries page;
    struct fk_err err = {0};
    x->list.cursor = fk_str_of(cursor);
    fk_test_ok(fk_query_list(q, &x->list, &page, &err), &err);
    assert_true(page.n <= x->list.limit);
    for (size_t i = 0; i < page.n; i++) {
        assert_true(to->n < PUSHED);
        to->id[to->n++] = page.entry[back ? page.n - 1 - i : i].id;
        if (i == 0)
            continue;
        int64_t a = key_of(&page.entry[i - 1], x->list.key),
                b = key_of(&page.entry[i], x->list.key);
        assert_true(x->list.ascending ? a <= b : a >= b);
    }
    struct fk_str next = back ? page.prev : page.next;
    assert_true(next.n < 512);
    if (next.n) { // the last page is where the way back begins
        memcpy(cursor, next.p, next.n);
        cursor[next.n] = 0;
    } else if (!back && page.prev.n) {
        memcpy(cursor, page.prev.p, page.prev.n);
        cursor[page.prev.n] = 0;
    }
    fk_query_free(q);
    return next.n != 0;
}

static void check_walks(struct world *w, struct question *x)
{
    struct walk *ahead = fk_calloc(1, sizeof(*ahead)), *back = fk_calloc(1, sizeof(*back));
    char cursor[512] = "";
    size_t want = 0, last;
    assert_non_null(ahead);
    assert_non_null(back);
    do {
        last = ahead->n;
    } while (take_page(w, x, false, cursor, ahead));
    for (size_t i = 0; i < PUSHED; i++) {
        size_t seen = 0;
        for (size_t k = 0; k < ahead->n; k++)
            seen += fk_id_cmp(ahead->id[k], w->all[i].id) == 0;
        assert_int_equal(seen, wanted(x, &w->all[i]));
        want += seen;
    }
    assert_int_equal(ahead->n, want);
    if (last) { // more than one page: the way back has all before the last page, in order
        while (take_page(w, x, true, cursor, back))
            ;
        assert_int_equal(back->n, last);
        for (size_t i = 0; i < last; i++)
            assert_int_equal(fk_id_cmp(back->id[i], ahead->id[last - 1 - i]), 0);
    }
    fk_free(ahead);
    fk_free(back);
}

static void test_list_against_array(void **state)
{
    struct fk_rng rng = {23};
    for (int round = 0; round < 60; round++) {
        struct question x = any_question(&rng);
        check_walks(*state, &x);
    }
}

static void test_bad_cursors(void **state)
{
    struct fk_rng rng = {29};
    struct question x = any_question(&rng);
    char cursor[512] = "";
    struct walk *walk = fk_calloc(1, sizeof(*walk));
    assert_non_null(walk);
    x.list.limit = 5;
    x.list.has_min = x.list.has_max = false;
    assert_true(take_page(*state, &x, false, cursor, walk));
    fk_free(walk);
    x.list.ascending = !x.list.ascending; // another order: not this cursor's list
    char odd[] = "zz", *bad[] = {cursor, odd, cursor + 2};
    for (size_t i = 0; i < FK_COUNTOF(bad); i++) {
        struct fk_query *q = query(*state, &x.source);
        struct fk_page_of_entries page;
        struct fk_err err = {0};
        x.list.cursor = fk_str_of(bad[i]);
        assert_int_equal(fk_query_list(q, &x.list, &page, &err), -FK_E_INVALID);
        assert_string_equal(err.param, "cursor");
        fk_query_free(q);
    }
}

// ---- sums ----

static const struct fk_source_spec svc2 = {
    .selector = {SERVICE, sizeof(SERVICE) - 1}, .from_ns = INT64_MIN, .until_ns = INT64_MAX};

static int64_t sum_of(const struct world *w, int service, uint64_t *ret_n)
{
    int64_t sum = 0;
    *ret_n = 0;
    for (size_t i = 0; i < PUSHED; i++)
        if (w->all[i].service == (uint32_t)service) {
            sum += w->all[i].total;
            ++*ret_n;
        }
    return sum;
}

static void test_merges(void **state)
{
    uint64_t n;
    int64_t want = sum_of(*state, 2, &n);
    struct fk_query *q = query(*state, &svc2);
    struct fk_tree *t = fk_tree_new(1, 0);
    struct fk_profile p;
    struct fk_completeness c;
    struct fk_tree_view view;
    struct fk_err err = {0};
    assert_non_null(t);
    fk_test_ok(fk_query_tree(q, t, 0, &err), &err);
    fk_test_ok(fk_tree_view(t, &(struct fk_tree_opts){0}, fk_query_arena(q), &view, &err), &err);
    assert_true(view.sum[0] == want);
    fk_query_completeness(q, &c);
    assert_int_equal(c.profiles, n);
    fk_test_ok(fk_query_profile(q, &p, &err), &err);
    assert_true(fk_profile_total(&p, 0) == want);
    fk_tree_free(t);
    fk_query_free(q);
}

static void test_series_and_heatmap(void **state)
{
    struct fk_err err = {0};
    struct fk_series series;
    struct fk_heatmap map;
    uint64_t n, cells = 0;
    struct fk_source_spec all = {.from_ns = BEGIN, .until_ns = BEGIN + 300 * FK_NS_PER_S};
    struct fk_query *q = query(*state, &all);
    struct fk_str by = FK_S("service_name");
    struct fk_series_spec s = {.group_by = &by, .n_group_by = 1, .aggregation = FK_AGG_SUM};
    fk_test_ok(fk_query_series(q, &s, &series, &err), &err);
    assert_int_equal(series.n, 5);
    for (size_t i = 0; i < series.n; i++) {
        const struct fk_group *g = &series.group[i];
        double sum = 0;
        assert_int_equal(g->labels.n, 1);
        for (size_t k = 0; k < g->n; k++)
            sum += g->point[k].value;
        assert_true(sum == (double)sum_of(*state, g->labels.v[0].value.p[4] - '0', &n));
    }
    fk_test_ok(fk_query_heatmap(q, &(struct fk_heatmap_spec){0}, &map, &err), &err);
    for (size_t i = 0; i < map.n; i++)
        cells += map.cell[i].n;
    assert_int_equal(cells, PUSHED);
    fk_query_free(q);
}

static void test_one_and_its_neighbours(void **state)
{
    struct world *w = *state;
    for (size_t i = 0; i < PUSHED; i += 37) {
        struct fk_source_spec s = {.id = &w->all[i].id, .n_ids = 1};
        struct fk_query *q = query(w, &s);
        struct fk_profile_facts f;
        struct fk_err err = {0};
        fk_test_ok(fk_query_get(q, true, &f, &err), &err);
        assert_true(f.entry.time_ns == w->all[i].time_ns);
        assert_int_equal(f.profile.n_rows, w->all[i].samples);
        assert_true(fk_profile_total(&f.profile, 0) == w->all[i].total);
        fk_query_free(q);
    }
}

// ---- names ----

static void test_names(void **state)
{
    struct fk_source_spec all = {.from_ns = INT64_MIN, .until_ns = INT64_MAX};
    struct fk_query *q = query(*state, &all);
    struct fk_counted_list l;
    struct fk_err err = {0};
    uint64_t n, profiles = 0;
    fk_test_ok(fk_query_label_values(q, FK_S("service_name"), FK_S(""), 100, &l, &err), &err);
    assert_int_equal(l.n, 5);
    for (size_t i = 0; i < l.n; i++) {
        sum_of(*state, (int)i, &n);
        assert_int_equal(l.v[i].profiles, n);
        profiles += n;
    }
    assert_int_equal(profiles, PUSHED);
    fk_test_ok(fk_query_label_values(q, FK_S("service_name"), FK_S(""), 2, &l, &err), &err);
    assert_int_equal(l.n, 2);
    assert_true(l.truncated);
    fk_query_free(q);
}

static void test_typed_sets(void **state)
{
    struct world *w = *state;
    const struct fk_source_spec all = {.from_ns = INT64_MIN, .until_ns = INT64_MAX};
    const struct fk_str names[] = {FK_S("__profile_type__"), FK_S("service_name")},
                        absent = FK_S("nothing");
    struct fk_query *q = query(w, &all);
    struct fk_labels *v;
    struct fk_err err = {0};
    size_t n;
    fk_test_ok(fk_query_typed_sets(q, NULL, 0, &v, &n, &err), &err);
    assert_true(n >= 15); // five services of three pods
    for (size_t i = 0; i < n; i++) {
        assert_true(fk_labels_get(&v[i], FK_S("__profile_type__")).n > 0);
        assert_true(fk_labels_get(&v[i], FK_S("pod")).n > 0);
    }
    size_t whole = n;
    fk_test_ok(fk_query_typed_sets(q, names, 2, &v, &n, &err), &err);
    assert_in_range(n, 5, whole / 3);
    for (size_t i = 0; i < n; i++)
        assert_int_equal(v[i].n, 2);
    struct fk_str type = fk_labels_get(&v[0], names[0]);
    fk_test_ok(fk_query_typed_sets(q, &absent, 1, &v, &n, &err), &err);
    assert_int_equal(n, 1); // the empty set
    assert_int_equal(v[0].n, 0);
    struct fk_source_spec one = all;
    one.type = type;
    struct fk_query *typed = query(w, &one);
    fk_test_ok(fk_query_typed_sets(typed, names, 1, &v, &n, &err), &err);
    assert_int_equal(n, 1);
    assert_true(fk_str_eq(v[0].v[0].value, type));
    fk_query_free(typed);
    fk_query_free(q);
}

static void test_cancel(void **state)
{
    struct world *w = *state;
    struct fk_cancel cancel = {0};
    struct fk_query_opts o = {
        .store = w->store, .tenants = &tenant, .n_tenants = 1, .cancel = &cancel};
    struct fk_query *q;
    struct fk_series series;
    struct fk_err err = {0};
    fk_test_ok(fk_query_new(&o, &svc2, &q, &err), &err);
    fk_cancel_set(&cancel, FK_E_CANCELLED);
    assert_int_equal(fk_query_series(q, &(struct fk_series_spec){0}, &series, &err),
                     -FK_E_CANCELLED);
    fk_query_free(q);
}

// The rows that an attribute picks, of one profile: what a tree of the same source adds up.
static void one_profile_has_the_rows_that_match(void **state)
{
    struct world *w = *state;
    struct fk_attr_filter attr = {FK_S("thread"), FK_S("thread-2")};
    uint64_t found = 0, rows = 0;
    for (size_t i = 0; i < PUSHED; i += 5) {
        struct fk_source_spec s = {.id = &w->all[i].id, .n_ids = 1, .attr = &attr, .n_attrs = 1};
        struct fk_query *q = query(w, &s);
        struct fk_profile_facts facts;
        struct fk_tree *t = fk_tree_new(1, 0);
        struct fk_tree_view v;
        struct fk_err err = {0};
        int r = fk_query_get(q, false, &facts, &err);
        assert_non_null(t);
        assert_true(r == 0 || r == -FK_E_NOTFOUND);
        if (r == 0) {
            fk_test_ok(fk_profile_validate(&facts.profile, &err), &err);
            fk_test_ok(fk_query_tree(q, t, 0, &err), &err);
            fk_test_ok(fk_tree_view(t, &(struct fk_tree_opts){0}, fk_query_arena(q), &v, &err),
                       &err);
            assert_int_equal(fk_profile_total(&facts.profile, 0), v.sum[0]);
            assert_int_equal(facts.entry.type[0].total, v.sum[0]);
            assert_true(facts.profile.n_rows < w->all[i].samples);
            rows += facts.profile.n_rows;
            found++;
        }
        fk_tree_free(t);
        fk_query_free(q);
    }
    assert_true(found > 20 && rows > found);
}

// ---- merges by several threads ----

static void same_tree(const struct fk_tree *a, const struct fk_tree *b)
{
    struct fk_tree_view va, vb;
    FK_AUTO_ARENA arena;
    struct fk_err err = {0};
    fk_arena_init(&arena, 0);
    fk_test_ok(fk_tree_view(a, &(struct fk_tree_opts){0}, &arena, &va, &err), &err);
    fk_test_ok(fk_tree_view(b, &(struct fk_tree_opts){0}, &arena, &vb, &err), &err);
    assert_int_equal(va.n_nodes, vb.n_nodes);
    assert_int_equal(va.sum[1], vb.sum[1]);
    assert_int_equal(va.unsymbolized[1], vb.unsymbolized[1]);
    for (uint32_t i = 0; i < va.n_nodes; i++) {
        const struct fk_tree_name *x = &va.name[va.node_name[i]], *y = &vb.name[vb.node_name[i]];
        assert_int_equal(va.parent[i], vb.parent[i]);
        assert_int_equal(va.self[1][i], vb.self[1][i]);
        assert_int_equal(va.total[1][i], vb.total[1][i]);
        assert_true(fk_str_eq(x->name, y->name) && fk_str_eq(x->file, y->file) &&
                    fk_str_eq(x->mapping, y->mapping));
    }
}

// One tree by one thread and one with a pool: into the second column, as a diff has it.
static void merge_both_ways(struct world *w, struct fk_pool *pool, const struct fk_source_spec *s)
{
    struct fk_completeness seen[2];
    struct fk_tree *t[2];
    struct fk_err err = {0};
    for (int i = 0; i < 2; i++) {
        struct fk_query *q = query(w, s);
        q->opts.pool = i ? pool : NULL;
        t[i] = fk_tree_new(2, 0);
        assert_non_null(t[i]);
        fk_test_ok(fk_query_tree(q, t[i], 1, &err), &err);
        fk_query_completeness(q, &seen[i]);
        fk_query_free(q);
    }
    same_tree(t[0], t[1]);
    assert_int_equal(seen[0].profiles, seen[1].profiles);
    assert_int_equal(seen[0].bytes, seen[1].bytes);
    assert_int_equal(seen[0].truncated, seen[1].truncated);
    fk_tree_free(t[0]);
    fk_tree_free(t[1]);
}

static void several_threads_merge_as_one(void **state)
{
    static const char *const selectors[] = {"{}", SERVICE, "{pod=~\"pod-[01]\"}",
                                            "{service_name!=\"svc-1\",pod!=\"pod-0\"}"};
    struct world *w = *state;
    struct fk_str hide = FK_S("/1/"), focus = FK_S("/[2-9]/");
    struct fk_pool *pool;
    struct fk_err err = {0};
    fk_test_ok(fk_pool_new(&(struct fk_pool_opts){.workers = 3}, &pool, &err), &err);
    for (size_t i = 0; i < 2 * FK_COUNTOF(selectors); i++) {
        struct fk_source_spec s = {.selector = fk_str_of(selectors[i / 2]),
                                   .from_ns = BEGIN,
                                   .until_ns = BEGIN + 1000 * FK_NS_PER_S,
                                   .type = FK_S("process_cpu:samples:count:cpu:nanoseconds")};
        if (i % 2) {
            s.hide = &hide;
            s.focus = &focus;
            s.n_hide = s.n_focus = 1;
        }
        merge_both_ways(w, pool, &s);
    }
    fk_pool_free(pool);
}

// A pool that takes nothing any more, a caller that has left, too little memory: errors, or alone.
static void teams_fail_in_order(void **state)
{
    struct world *w = *state;
    struct fk_pool *pool;
    struct fk_cancel cancel = {0};
    struct fk_err err = {0};
    struct fk_source_spec s = {.from_ns = BEGIN,
                               .until_ns = BEGIN + 1000 * FK_NS_PER_S,
                               .type = FK_S("process_cpu:samples:count:cpu:nanoseconds")};
    fk_test_ok(fk_pool_new(&(struct fk_pool_opts){.workers = 3}, &pool, &err), &err);
    struct fk_tree *t = fk_tree_new(1, 0);
    struct fk_query *q = query(w, &s);
    q->opts.pool = pool;
    q->opts.memory = 20000;
    int r = fk_query_tree(q, t, 0, &err);
    assert_true(r == -FK_E_LIMIT || r == -FK_E_NOMEM); // of the tree, or of an arena
    fk_query_free(q);
    // What is just enough for one thread is enough for several, though each may take a part of it.
    uint64_t enough = 20000;
    for (int i = 0; i < 2; i++) {
        struct fk_tree *own;
        do {
            own = fk_tree_new(1, 0);
            q = query(w, &s);
            q->opts.pool = i ? pool : NULL;
            q->opts.memory = enough;
            r = fk_query_tree(q, own, 0, &err);
            fk_query_free(q);
            fk_tree_free(own);
            enough += i || r == 0 ? 0 : enough / 8;
        } while (r && !i);
        fk_test_ok(r, &err);
    }
    q = query(w, &s);
    q->opts.pool = pool;
    q->opts.cancel = &cancel;
    fk_cancel_set(&cancel, FK_E_CANCELLED);
    fk_test_fails(fk_query_tree(q, t, 0, &err), FK_E_CANCELLED);
    fk_query_free(q);
    fk_tree_free(t);
    fk_pool_stop(pool);
    merge_both_ways(w, pool, &s);
    fk_pool_free(pool);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_list_against_array),
        cmocka_unit_test(test_bad_cursors),
        cmocka_unit_test(test_merges),
        cmocka_unit_test(test_series_and_heatmap),
        cmocka_unit_test(test_one_and_its_neighbours),
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_typed_sets),
        cmocka_unit_test(test_cancel),
        cmocka_unit_test(one_profile_has_the_rows_that_match),
        cmocka_unit_test(several_threads_merge_as_one),
        cmocka_unit_test(teams_fail_in_order),
    };
    return cmocka_run_group_tests_name("query", tests, setup, teardown);
}
