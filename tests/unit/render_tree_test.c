// SPDX-License-Identifier: Apache-2.0
// Trees and tables as bytes: shapes, exactness, hostile names, lack of memory.
#include "render/render.h"

#include "support/test.h"

// Folds "root first" stacks of one-letter or longer names with a weight into a column.
static void add_stack(struct fk_tree *t, uint32_t column, const char *const *names, int64_t weight)
{
    struct fk_dict *d = fk_dict_new(false);
    struct fk_symbols sym;
    uint32_t frames[16], n = 0, stack;
    assert_non_null(d);
    for (; *names; names++, n++) {
        struct fk_function f = {0};
        struct fk_location loc = {.mapping = FK_NONE, .line_count = 1};
        struct fk_line line = {0};
        assert_int_equal(fk_dict_string(d, fk_str_of(*names), &f.name), 0);
        assert_int_equal(fk_dict_function(d, &f, &line.function), 0);
        assert_int_equal(fk_dict_location(d, &loc, &line, &frames[n]), 0);
    }
    for (uint32_t i = 0; i < n / 2; i++) {
        uint32_t swap = frames[i];
        frames[i] = frames[n - 1 - i];
        frames[n - 1 - i] = swap;
    }
    assert_int_equal(fk_dict_stack(d, frames, n, &stack), 0);
    fk_dict_view(d, &sym);
    int64_t *self = calloc(sym.n_stacks, sizeof(*self));
    assert_non_null(self);
    self[stack] = weight;
    assert_int_equal(fk_tree_fold(t, column, &sym, self, false, NULL, NULL), 0);
    free(self);
    fk_dict_free(d);
}

#define STACK(...) ((const char *const[]){__VA_ARGS__, NULL})

// main 1 + a 2 + b;c 4 below it; other root "z" 8.
static struct fk_tree *small_tree(uint32_t columns)
{
    struct fk_tree *t = fk_tree_new(columns, 0);
    assert_non_null(t);
    add_stack(t, 0, STACK("main"), 1);
    add_stack(t, 0, STACK("main", "a"), 2);
    add_stack(t, 0, STACK("main", "b", "c"), 4);
    add_stack(t, 0, STACK("z"), 8);
    if (columns == 2)
        add_stack(t, 1, STACK("main", "b"), 16);
    return t;
}

static void view_of(const struct fk_tree *t, uint32_t max_nodes, struct fk_arena *a,
                    struct fk_tree_view *v)
{
    struct fk_tree_opts o = {max_nodes, FK_ORDER_NAME};
    fk_arena_init(a, 0);
    assert_int_equal(fk_tree_view(t, &o, a, v, NULL), 0);
}

static const struct fk_render_head head = {
    {"process_cpu:cpu:nanoseconds::", 29}, {"nanoseconds", 11}, NULL};

static void expect(struct fk_buf *b, const char *want)
{
    if (!fk_str_eq(fk_buf_view(b), fk_str_of(want)))
        fail_msg("got  %.*s\nwant %s", FK_STR_ARG(fk_buf_view(b)), want);
    fk_buf_clear(b);
}

static bool contains(const struct fk_buf *b, const char *what)
{
    return fk_str_find(fk_buf_view(b), fk_str_of(what)) >= 0;
}

static void flamegraph_columns(void **state)
{
    (void)state;
    struct fk_tree *t = small_tree(1);
    FK_AUTO_ARENA a;
    struct fk_tree_view v;
    FK_AUTO_BUF b;
    fk_buf_init(&b, 0);
    view_of(t, 0, &a, &v);
    assert_int_equal(fk_render_flamegraph(&v, &head, fk_out_buf(&b), NULL), 0);
    assert_true(
        contains(&b, "\"total\":15,\"names\":[\"total\",\"main\",\"a\",\"b\",\"c\",\"z\"],"));
    assert_true(contains(&b, "\"name\":[0,1,2,3,4,5]"));
    assert_true(contains(&b, "\"parent\":[-1,0,1,1,3,0]"));
    assert_true(contains(&b, "\"self\":[0,1,2,0,4,8]"));
    assert_true(contains(&b, "\"total\":[15,7,2,4,4,8]"));
    assert_true(contains(&b, "\"folded\":0}"));
    assert_false(contains(&b, "completeness"));
    fk_buf_clear(&b);
    struct fk_str warning = FK_S("old \"block\"");
    struct fk_render_facts facts = {.profiles = 3,
                                    .blocks = 2,
                                    .bytes = 1,
                                    .truncated_share = 0.25,
                                    .warning = &warning,
                                    .n_warnings = 1};
    struct fk_render_head h = head;
    h.facts = &facts;
    assert_int_equal(fk_render_flamegraph(&v, &h, fk_out_buf(&b), NULL), 0);
    assert_true(contains(&b, "\"completeness\":{\"profiles\":3,\"blocks\":2,\"bytes\":1,"
                             "\"truncated_share\":0.25,\"unsymbolized_share\":0,"
                             "\"dropped_samples\":0,\"warnings\":[\"old \\\"block\\\"\"]}}"));
    fk_tree_free(t);
}

static void diff_columns(void **state)
{
    (void)state;
    struct fk_tree *t = small_tree(2);
    FK_AUTO_ARENA a;
    struct fk_tree_view v;
    FK_AUTO_BUF b;
    fk_buf_init(&b, 0);
    view_of(t, 0, &a, &v);
    struct fk_render_sides s = {"share", {{15, 1, 0.5}, {16, 2, 1}}};
    assert_int_equal(fk_render_diff(&v, &s, &head, fk_out_buf(&b), NULL), 0);
    assert_true(
        contains(&b, "\"mode\":\"share\",\"left\":{\"total\":15,\"profiles\":1,\"factor\":0.5}"));
    assert_true(contains(&b, "\"left_self\":[0,1,2,0,4,8]"));
    assert_true(contains(&b, "\"right_self\":[0,0,0,16,0,0]"));
    assert_true(contains(&b, "\"right_total\":[16,16,0,16,0,0]"));
    fk_buf_clear(&b);
    struct fk_top top;
    assert_int_equal(fk_tree_top(t, FK_TOP_NAME, false, 0, &a, &top, NULL), 0);
    assert_int_equal(fk_render_diff_top(&top, &s, &head, fk_out_buf(&b), NULL), 0);
    assert_true(contains(&b,
                         "{\"function\":\"z\",\"left_self\":8,\"left_total\":8,\"right_self\":0,"
                         "\"right_total\":0,\"delta\":-4,\"relative\":-1}"));
    assert_true(contains(&b,
                         "{\"function\":\"b\",\"left_self\":0,\"left_total\":4,\"right_self\":16,"
                         "\"right_total\":16,\"delta\":16}"));
    fk_tree_free(t);
}

static void sandwich(void **state)
{
    (void)state;
    struct fk_tree *t = small_tree(1), *callers, *callees;
    FK_AUTO_ARENA a, c;
    struct fk_tree_view v, w;
    FK_AUTO_BUF b;
    fk_buf_init(&b, 0);
    assert_int_equal(fk_tree_sandwich(t, FK_S("b"), &callers, &callees, NULL), 0);
    view_of(callers, 0, &a, &v);
    view_of(callees, 0, &c, &w);
    struct fk_render_sandwich s = {FK_S("b"), 15, 0, &v, &w};
    assert_int_equal(fk_render_sandwich(&s, &head, fk_out_buf(&b), NULL), 0);
    assert_true(
        contains(&b, "\"total\":15,\"function\":\"b\",\"self\":0,\"callers\":{\"names\":["));
    assert_true(contains(&b, "\"callees\":{\"names\":["));
    fk_tree_free(t);
    fk_tree_free(callers);
    fk_tree_free(callees);
}

static void tables(void **state)
{
    (void)state;
    struct fk_tree *t = fk_tree_new(1, 0);
    add_stack(t, 0, STACK("a,\"b\"\n", "a,\"b\"\n"), 3);
    add_stack(t, 0, STACK("=cmd()"), 1);
    FK_AUTO_ARENA a;
    fk_arena_init(&a, 0);
    struct fk_top top;
    FK_AUTO_BUF b;
    fk_buf_init(&b, 0);
    assert_int_equal(fk_tree_top(t, FK_TOP_SELF, true, 0, &a, &top, NULL), 0);
    assert_int_equal(fk_render_top(&top, 4, &head, fk_out_buf(&b), NULL), 0);
    assert_true(contains(&b, "\"rows\":[{\"function\":\"a,\\\"b\\\"\\n\",\"self\":3,\"total\":3,"
                             "\"self_share\":0.75,\"total_share\":0.75},"));
    assert_true(contains(&b, "\"functions\":2"));
    fk_buf_clear(&b);
    assert_int_equal(fk_render_top(&top, 0, &head, fk_out_buf(&b), NULL), 0);
    assert_false(contains(&b, "share"));
    fk_buf_clear(&b);
    assert_int_equal(fk_render_top_csv(&top, 4, fk_out_buf(&b), NULL), 0);
    expect(&b, "function,file,package,self,total,self_share,total_share\n"
               "\"a,\"\"b\"\"\n\",,,3,3,0.75,0.75\n"
               "\"'=cmd()\",,,1,1,0.25,0.25\n");
    assert_int_equal(fk_render_top_csv(&top, 0, fk_out_buf(&b), NULL), 0);
    assert_true(contains(&b, ",1,1,,\n"));
    fk_tree_free(t);
}

static uint64_t number(struct fk_cur *c)
{
    uint64_t v = 0;
    assert_int_equal(fk_cur_varint(c, &v), 0);
    return v;
}

static int64_t signed_number(struct fk_cur *c)
{
    int64_t v = 0;
    assert_int_equal(fk_cur_zigzag(c, &v), 0);
    return v;
}

// Reads a stream and checks each node against the view.
static void check_stream(const struct fk_tree_view *v, uint32_t columns, bool want_rest)
{
    struct fk_render_facts facts = {.profiles = 7};
    struct fk_render_head h = head;
    h.facts = &facts;
    FK_AUTO_BUF b;
    fk_buf_init(&b, 0);
    assert_int_equal(fk_render_tree_stream(v, &h, fk_out_buf(&b), NULL), 0);
    struct fk_cur c = fk_cur_of(fk_buf_view(&b));
    struct fk_str s = {0};
    assert_int_equal(fk_cur_bytes(&c, 4, &s), 0);
    assert_true(fk_str_eq(s, FK_S("FKT\x01")));
    assert_int_equal(fk_cur_sized(&c, &s), 0);
    assert_true(fk_str_eq(s, head.type));
    assert_int_equal(fk_cur_sized(&c, &s), 0);
    assert_int_equal(number(&c), columns);
    for (uint32_t k = 0; k < columns; k++)
        assert_int_equal(signed_number(&c), v->sum[k]);
    assert_int_equal(number(&c), v->folded);
    assert_int_equal(number(&c), want_rest);
    struct fk_str names[16];
    uint64_t n_names = number(&c);
    assert_true(n_names <= FK_MIN(16u, v->n_nodes)); // names of other nodes are left out
    for (uint64_t i = 0; i < n_names; i++)
        assert_int_equal(fk_cur_sized(&c, &names[i]), 0);
    assert_int_equal(number(&c), v->n_nodes);
    int64_t total[2] = {0, 0}, at_root[2] = {0, 0};
    for (uint32_t i = 0; i < v->n_nodes; i++) {
        (void)number(&c);
        uint64_t name = number(&c);
        assert_true(name < n_names);
        assert_true(fk_str_eq(names[name], v->name[v->node_name[i]].name));
        for (uint32_t k = 0; k < columns; k++) {
            int64_t self = signed_number(&c);
            assert_int_equal(self, v->self[k][i]);
            total[k] += self;
        }
        for (uint32_t k = 0; want_rest && k < columns; k++)
            total[k] += signed_number(&c);
    }
    for (uint32_t k = 0; k < columns; k++) {
        at_root[k] = v->total[k][0];
        assert_int_equal(total[k], at_root[k]);
    }
    assert_int_equal(fk_cur_sized(&c, &s), 0);
    assert_true(fk_str_starts(s, FK_S("{\"profiles\":7")));
    assert_int_equal(fk_cur_left(&c), 0);
}

static void streams(void **state)
{
    (void)state;
    for (uint32_t columns = 1; columns <= 2; columns++) {
        struct fk_tree *t = small_tree(columns);
        FK_AUTO_ARENA a;
        FK_AUTO_ARENA small;
        struct fk_tree_view v;
        view_of(t, 0, &a, &v);
        check_stream(&v, columns, false);
        view_of(t, 3, &small, &v);
        check_stream(&v, columns, true);
        fk_tree_free(t);
    }
}

static void flamebearer(void **state)
{
    (void)state;
    struct fk_tree *t = small_tree(1);
    FK_AUTO_ARENA a, c;
    struct fk_tree_view v;
    struct fk_flamebearer f;
    FK_AUTO_BUF b;
    fk_buf_init(&b, 0);
    view_of(t, 0, &a, &v);
    assert_int_equal(fk_flamebearer_make(&v, &a, &f, NULL), 0);
    assert_int_equal(
        fk_render_flamebearer(&f, FK_S("cpu"), FK_S("nanoseconds"), NULL, fk_out_buf(&b), NULL), 0);
    expect(&b,
           "{\"version\":1,\"flamebearer\":{\"names\":[\"total\",\"main\",\"a\",\"b\",\"c\",\"z\"],"
           "\"levels\":[[0,15,0,0],[0,7,1,1,0,8,8,5],[1,2,2,2,0,4,0,3],[3,4,4,4]],"
           "\"numTicks\":15,\"maxSelf\":8},\"metadata\":{\"format\":\"single\",\"spyName\":\"\","
           "\"sampleRate\":1000000000,\"units\":\"samples\",\"name\":\"cpu\"},"
           "\"timeline\":null,\"groups\":null,\"heatmap\":null}");
    view_of(t, 3, &c, &v); // total, main and z stay: what is missing is "other"
    assert_int_equal(fk_flamebearer_make(&v, &c, &f, NULL), 0);
    assert_int_equal(
        fk_render_flamebearer(&f, FK_S("inuse_objects"), FK_S("count"), NULL, fk_out_buf(&b), NULL),
        0);
    assert_true(contains(&b, "\"levels\":[[0,15,0,0],[0,7,1,1,0,8,8,3],[1,6,6,2]]"));
    assert_true(contains(&b, "\"units\":\"objects\""));
    fk_tree_free(t);
}

static void flamebearer_double(void **state)
{
    (void)state;
    struct fk_tree *t = small_tree(2);
    FK_AUTO_ARENA a;
    struct fk_tree_view v;
    struct fk_flamebearer f;
    FK_AUTO_BUF b;
    fk_buf_init(&b, 0);
    view_of(t, 0, &a, &v);
    assert_int_equal(fk_flamebearer_make(&v, &a, &f, NULL), 0);
    assert_int_equal(
        fk_render_flamebearer(&f, FK_S("space"), FK_S("bytes"), NULL, fk_out_buf(&b), NULL), 0);
    assert_true(contains(&b, "\"levels\":[[0,15,0,0,16,0,0],[0,7,1,0,16,0,1,0,8,8,0,0,0,5],"
                             "[1,2,2,0,0,0,2,0,4,0,0,16,16,3],[3,4,4,16,0,0,4]]"));
    assert_true(contains(&b, "\"format\":\"double\""));
    assert_true(contains(&b, "\"numTicks\":31"));
    assert_true(contains(&b, "\"leftTicks\":15,\"rightTicks\":16}"));
    assert_true(contains(&b, "\"units\":\"bytes\""));
    fk_tree_free(t);
}

static void an_empty_tree_has_a_level(void **state)
{
    (void)state;
    struct fk_tree *t = fk_tree_new(1, 0);
    FK_AUTO_ARENA a;
    struct fk_tree_view v;
    struct fk_flamebearer f;
    view_of(t, 0, &a, &v);
    assert_int_equal(fk_flamebearer_make(&v, &a, &f, NULL), 0);
    assert_int_equal(f.n_levels, 1);
    assert_int_equal(f.begin[1], 4);
    check_stream(&v, 1, false);
    fk_tree_free(t);
}

static int render_all(const struct fk_tree_view *v, const struct fk_top *top, struct fk_buf *b)
{
    FK_AUTO_ARENA a;
    struct fk_flamebearer f;
    fk_arena_init(&a, 0);
    int rc = fk_render_flamegraph(v, &head, fk_out_buf(b), NULL);
    if (!rc)
        rc = fk_render_tree_stream(v, &head, fk_out_buf(b), NULL);
    if (!rc)
        rc = fk_render_top(top, 1, &head, fk_out_buf(b), NULL);
    if (!rc)
        rc = fk_render_top_csv(top, 1, fk_out_buf(b), NULL);
    if (!rc)
        rc = fk_flamebearer_make(v, &a, &f, NULL);
    return rc ? rc : fk_render_flamebearer(&f, FK_S("x"), FK_S("y"), NULL, fk_out_buf(b), NULL);
}

static void survives_lack_of_memory(void **state)
{
    (void)state;
    struct fk_tree *t = small_tree(1);
    FK_AUTO_ARENA a;
    struct fk_tree_view v;
    struct fk_top top;
    view_of(t, 0, &a, &v);
    assert_int_equal(fk_tree_top(t, FK_TOP_SELF, true, 0, &a, &top, NULL), 0);
    for (uint64_t k = 1, done = 0; !done; k++) {
        FK_AUTO_BUF b;
        fk_buf_init(&b, 0);
        fk_mem_fail_after(k, true);
        int rc = render_all(&v, &top, &b);
        done = fk_mem_failed() == 0;
        fk_mem_fail_after(0, false);
        assert_int_equal(rc, done ? 0 : -FK_E_NOMEM);
    }
    FK_AUTO_BUF full;
    fk_buf_init(&full, 16);
    assert_int_equal(render_all(&v, &top, &full), -FK_E_LIMIT);
    fk_tree_free(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(flamegraph_columns),
        cmocka_unit_test(diff_columns),
        cmocka_unit_test(sandwich),
        cmocka_unit_test(tables),
        cmocka_unit_test(streams),
        cmocka_unit_test(flamebearer),
        cmocka_unit_test(flamebearer_double),
        cmocka_unit_test(an_empty_tree_has_a_level),
        cmocka_unit_test(survives_lack_of_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
