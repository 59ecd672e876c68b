// SPDX-License-Identifier: Apache-2.0
// Function trees: names, order, truncation, table, recursion, inversion, sandwich, filters.
#include "model/tree.h"

#include "support/test.h"

// Symbols out of texts like "main;work;leaf" (root first); names "!hex" make a location without a
// function.
struct fixture {
    struct fk_dict *d;
    int64_t weight[64];
    struct fk_symbols sym;
    struct fk_arena a;
};

static uint32_t location(struct fk_dict *d, struct fk_str name)
{
    struct fk_function f = {0};
    struct fk_line line = {0};
    struct fk_location l = {.mapping = FK_NONE, .line_count = 1, .address = 0x10};
    uint32_t id = 0;
    if (name.p[0] == '!') {
        struct fk_mapping m = {0};
        assert_int_equal(fk_dict_string(d, FK_S("/usr/lib/libx.so"), &m.file), 0);
        assert_int_equal(fk_dict_mapping(d, &m, &l.mapping), 0);
        l.line_count = 0;
    }
    assert_int_equal(fk_dict_string(d, name, &f.name), 0);
    assert_int_equal(fk_dict_function(d, &f, &line.function), 0);
    assert_int_equal(fk_dict_location(d, &l, &line, &id), 0);
    return id;
}

static void add(struct fixture *x, const char *text, int64_t weight)
{
    struct fk_str rest = fk_str_of(text), part;
    uint32_t frames[32], n = 0, stack;
    while (*text && fk_str_split(&rest, ';', &part))
        frames[n++] = location(x->d, part);
    for (uint32_t i = 0; i < n / 2; i++) {
        uint32_t swap = frames[i];
        frames[i] = frames[n - 1 - i];
        frames[n - 1 - i] = swap;
    }
    assert_int_equal(fk_dict_stack(x->d, frames, n, &stack), 0);
    x->weight[stack] += weight;
}

static struct fk_tree *fold(struct fixture *x, const struct fk_frame_filter *filter)
{
    struct fk_tree *t = fk_tree_new(1, 0);
    struct fk_err err = {0};
    fk_dict_view(x->d, &x->sym);
    assert_int_equal(fk_tree_fold(t, 0, &x->sym, x->weight, false, filter, &err), 0);
    return t;
}

static int setup(void **state)
{
    struct fixture *x = calloc(1, sizeof(*x));
    x->d = fk_dict_new(false);
    fk_arena_init(&x->a, 0);
    *state = x;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *x = *state;
    fk_dict_free(x->d);
    fk_arena_free(&x->a);
    free(x);
    return 0;
}

// "name:self/total" of all nodes in order, depth as dots.
static const char *text_of(struct fixture *x, const struct fk_tree *t, struct fk_tree_opts o)
{
    struct fk_tree_view v;
    struct fk_err err = {0};
    assert_int_equal(fk_tree_view(t, &o, &x->a, &v, &err), 0);
    struct fk_buf b;
    fk_buf_init(&b, 0);
    for (uint32_t i = 0; i < v.n_nodes; i++) {
        for (int32_t p = v.parent[i]; p >= 0; p = v.parent[p])
            fk_buf_byte(&b, '.');
        fk_buf_printf(&b, "%.*s:%lld/%lld ", FK_STR_ARG(v.name[v.node_name[i]].name),
                      (long long)v.self[0][i], (long long)v.total[0][i]);
    }
    if (v.folded)
        fk_buf_printf(&b, "folded %u", v.folded);
    struct fk_str s = fk_arena_str(&x->a, fk_buf_view(&b));
    fk_buf_free(&b);
    return s.p;
}

static void siblings_are_sorted_and_summed(void **state)
{
    struct fixture *x = *state;
    add(x, "main;b", 5);
    add(x, "main;a;c", 2);
    add(x, "main", 1);
    add(x, "", 4);
    struct fk_tree *t = fold(x, NULL);
    assert_string_equal(text_of(x, t, (struct fk_tree_opts){0}),
                        "total:4/12 .main:1/8 ..a:0/2 ...c:2/2 ..b:5/5 ");
    assert_string_equal(text_of(x, t, (struct fk_tree_opts){.order = FK_ORDER_TOTAL}),
                        "total:4/12 .main:1/8 ..b:5/5 ..a:0/2 ...c:2/2 ");
    fk_tree_free(t);
}

static void truncation_keeps_the_heaviest(void **state)
{
    struct fixture *x = *state;
    add(x, "main;b;deep", 5);
    add(x, "main;a;c", 2);
    add(x, "other", 3);
    struct fk_tree *t = fold(x, NULL);
    assert_string_equal(text_of(x, t, (struct fk_tree_opts){.max_nodes = 4}),
                        "total:0/10 .main:0/7 ..b:0/5 ...deep:5/5 folded 3");
    fk_tree_free(t);
}

static void ties_stay_where_asked(void **state)
{
    struct fixture *x = *state;
    add(x, "main;b;deep", 5);
    add(x, "main;a;c", 2);
    add(x, "main;d", 2);
    add(x, "small", 1);
    struct fk_tree *t = fold(x, NULL);
    assert_string_equal(text_of(x, t, (struct fk_tree_opts){.max_nodes = 4, .keep_ties = true}),
                        "total:0/10 .main:0/9 ..a:0/2 ...c:2/2 ..b:0/5 ...deep:5/5 ..d:2/2 "
                        "folded 1");
    assert_string_equal(text_of(x, t, (struct fk_tree_opts){.max_nodes = 3, .keep_ties = true}),
                        "total:0/10 .main:0/9 ..b:0/5 ...deep:5/5 folded 4");
    const uint8_t *keep = (const uint8_t *)"";
    assert_int_equal(fk_tree_cut(t, 7, &x->a, &keep, NULL), 0);
    assert_null(keep); // all of them
    fk_tree_free(t);
}

static void addresses_are_named(void **state)
{
    struct fixture *x = *state;
    add(x, "main;!", 1);
    struct fk_tree *t = fold(x, NULL);
    assert_string_equal(text_of(x, t, (struct fk_tree_opts){0}),
                        "total:0/1 .main:0/1 ..libx.so!0x10:1/1 ");
    struct fk_tree_view v;
    assert_int_equal(fk_tree_view(t, &(struct fk_tree_opts){0}, &x->a, &v, NULL), 0);
    assert_int_equal(v.unsymbolized[0], 1);
    fk_tree_free(t);
}

static void recursion_counts_once(void **state)
{
    struct fixture *x = *state;
    add(x, "main;f;g;f", 3);
    add(x, "main;f", 2);
    add(x, "total;main", 1);
    struct fk_tree *t = fold(x, NULL);
    struct fk_top top;
    assert_int_equal(fk_tree_top(t, FK_TOP_TOTAL, true, 0, &x->a, &top, NULL), 0);
    assert_int_equal(top.n, 4);
    const char *names[] = {"main", "f", "g", "total"};
    const int64_t total[] = {6, 5, 3, 1}, self[] = {1, 5, 0, 0};
    for (size_t i = 0; i < 4; i++) {
        assert_true(fk_str_eq(top.row[i].name->name, fk_str_of(names[i])));
        assert_int_equal(top.row[i].total[0], total[i]);
        assert_int_equal(top.row[i].self[0], self[i]);
    }
    assert_int_equal(fk_tree_top(t, FK_TOP_SELF, true, 1, &x->a, &top, NULL), 0);
    assert_int_equal(top.n, 1);
    assert_int_equal(top.all, 4);
    assert_true(fk_str_eq(top.row[0].name->name, FK_S("f")));
    fk_tree_free(t);
}

static void inverted_and_sandwich(void **state)
{
    struct fixture *x = *state;
    add(x, "main;f;g;f;h", 3);
    add(x, "main;k;f", 2);
    struct fk_tree *t = fold(x, NULL), *up, *down, *inverted;
    assert_int_equal(fk_tree_invert(t, &inverted, NULL), 0);
    assert_string_equal(
        text_of(x, inverted, (struct fk_tree_opts){0}),
        "total:0/5 .f:0/2 ..k:0/2 ...main:2/2 .h:0/3 ..f:0/3 ...g:0/3 ....f:0/3 .....main:3/3 ");
    assert_int_equal(fk_tree_sandwich(t, FK_S("f"), &up, &down, NULL), 0);
    assert_string_equal(text_of(x, up, (struct fk_tree_opts){0}),
                        "total:0/5 .f:0/5 ..g:0/3 ...f:0/3 ....main:3/3 ..k:0/2 ...main:2/2 ");
    assert_string_equal(text_of(x, down, (struct fk_tree_opts){0}),
                        "total:0/5 .f:2/5 ..g:0/3 ...f:0/3 ....h:3/3 ");
    struct fk_err err;
    struct fk_tree *none1, *none2;
    assert_int_equal(fk_tree_sandwich(t, FK_S("nobody"), &none1, &none2, &err), -FK_E_NOTFOUND);
    fk_tree_free(inverted);
    fk_tree_free(up);
    fk_tree_free(down);
    fk_tree_free(t);
}

static int flags(void *arg, struct fk_str name, struct fk_err *err)
{
    (void)arg;
    (void)err;
    if (fk_str_eq(name, FK_S("hidden")))
        return FK_FRAME_HIDE;
    if (fk_str_eq(name, FK_S("focus")))
        return FK_FRAME_FOCUS;
    return fk_str_eq(name, FK_S("box")) ? FK_FRAME_COLLAPSE : FK_FRAME_KEEP;
}

static void filters_change_paths(void **state)
{
    struct fixture *x = *state;
    add(x, "main;hidden;a", 1);
    add(x, "main;box;x;y", 2);
    add(x, "main;box;z", 4);
    struct fk_frame_filter filter = {flags, NULL, false};
    struct fk_tree *t = fold(x, &filter);
    assert_string_equal(text_of(x, t, (struct fk_tree_opts){0}),
                        "total:0/7 .main:0/7 ..a:1/1 ..box:6/6 ");
    fk_tree_free(t);
    add(x, "main;focus;b", 8);
    filter.has_focus = true;
    t = fold(x, &filter);
    assert_string_equal(text_of(x, t, (struct fk_tree_opts){0}),
                        "total:0/8 .main:0/8 ..focus:0/8 ...b:8/8 ");
    fk_tree_free(t);
}

static void allocation_failure_is_an_error(void **state)
{
    struct fixture *x = *state;
    add(x, "main;a;b", 1);
    add(x, "main;c", 2);
    fk_dict_view(x->d, &x->sym);
    bool done = false;
    for (uint64_t k = 1; !done && k < 500; k++) {
        struct fk_tree_view v;
        FK_AUTO_ARENA a;
        fk_arena_init(&a, 0);
        fk_mem_fail_after(k, true);
        struct fk_tree *t = fk_tree_new(1, 0);
        int r = t ? fk_tree_fold(t, 0, &x->sym, x->weight, false, NULL, NULL) : -FK_E_NOMEM;
        if (r == 0)
            r = fk_tree_view(t, &(struct fk_tree_opts){0}, &a, &v, NULL);
        done = fk_mem_failed() == 0;
        fk_mem_fail_after(0, false);
        assert_int_equal(r, done ? 0 : -FK_E_NOMEM);
        fk_tree_free(t);
    }
    assert_true(done);
}

static void memory_is_limited(void **state)
{
    struct fixture *x = *state;
    struct fk_err err = {0};
    add(x, "a;b;c;d;e;f;g;h", 1);
    fk_dict_view(x->d, &x->sym);
    struct fk_tree *t = fk_tree_new(1, 5000);
    int r = 0;
    for (int i = 0; r == 0 && i < 40; i++) {
        char text[64];
        snprintf(text, sizeof(text), "r%d;x%d;y%d", i, i, i);
        if (i < 8)
            add(x, text, 1);
        fk_dict_view(x->d, &x->sym);
        r = fk_tree_fold(t, 0, &x->sym, x->weight, false, NULL, &err);
        if (i == 8)
            break;
    }
    assert_true(r == 0 || r == -FK_E_LIMIT || r == -FK_E_NOMEM);
    fk_tree_free(t);
}

static void packages(void **state)
{
    (void)state;
    static const struct {
        const char *name, *file, *mapping, *package;
    } cases[] = {
        {"github.com/a/b.(*T).Run.func1", "t.go", "", "github.com/a/b"},
        {"runtime.mallocgc", "malloc.go", "", "runtime"},
        {"java/lang/Thread.run", "", "", "java/lang"},
        {"com.acme.shop.Cart.add", "", "", "com.acme.shop"},
        {"std::vector<a::b>::push_back(int)", "", "", "std::vector<a::b>"},
        {"handle", "/srv/app/views.py", "", "views"},
        {"main", "main.c", "/usr/bin/tool", "tool"},
        {"ext4_sync_file.part.0", "", "", ""},
        {"hash.constprop.0.cold", "", "/usr/bin/tool", "tool"},
        {"x.partition", "", "", "x"},
    };
    for (size_t i = 0; i < FK_COUNTOF(cases); i++) {
        struct fk_tree_name n = {fk_str_of(cases[i].name), fk_str_of(cases[i].file),
                                 fk_str_of(cases[i].mapping), true};
        struct fk_str p = fk_name_package(&n);
        char got[128];
        snprintf(got, sizeof(got), "%.*s", FK_STR_ARG(p));
        assert_string_equal(got, cases[i].package);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(siblings_are_sorted_and_summed, setup, teardown),
        cmocka_unit_test_setup_teardown(truncation_keeps_the_heaviest, setup, teardown),
        cmocka_unit_test_setup_teardown(ties_stay_where_asked, setup, teardown),
        cmocka_unit_test_setup_teardown(addresses_are_named, setup, teardown),
        cmocka_unit_test_setup_teardown(recursion_counts_once, setup, teardown),
        cmocka_unit_test_setup_teardown(inverted_and_sandwich, setup, teardown),
        cmocka_unit_test_setup_teardown(filters_change_paths, setup, teardown),
        cmocka_unit_test_setup_teardown(allocation_failure_is_an_error, setup, teardown),
        cmocka_unit_test_setup_teardown(memory_is_limited, setup, teardown),
        cmocka_unit_test(packages),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
