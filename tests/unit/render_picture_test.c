// SPDX-License-Identifier: Apache-2.0
// SVG, HTML and DOT: what is drawn, hostile names, no memory. (That other programs read them:
// tests/golden/export_test.py.)
#include "render/render.h"

#include "support/hostile.h"

static const struct fk_render_picture picture = {
    FK_HOSTILE("shop </title><script>x</script> \xe2\x80\xae"), FK_HOSTILE("a:b</script>:c:d:e"),
    FK_HOSTILE("count")};

enum { SVG, HTML, DOT, KINDS };

static int render(int kind, const struct fk_tree *t, uint32_t max_nodes, struct fk_buf *to,
                  struct fk_err *err)
{
    FK_AUTO_ARENA a;
    struct fk_tree_view v;
    struct fk_out out = fk_out_buf(to);
    fk_arena_init(&a, 0);
    if (kind == DOT)
        return fk_render_dot(t, &picture, max_nodes, out, err);
    int rc = fk_tree_view(t, &(struct fk_tree_opts){.max_nodes = max_nodes}, &a, &v, err);
    if (rc)
        return rc;
    return kind == SVG ? fk_render_svg(&v, &picture, out, err)
                       : fk_render_html(&v, &picture, out, err);
}

static size_t count(const struct fk_buf *b, const char *what)
{
    struct fk_str left = fk_buf_view(b);
    size_t n = 0;
    for (ptrdiff_t at; (at = fk_str_find(left, fk_str_of(what))) >= 0; n++)
        left = fk_str_from(left, (size_t)at + 1);
    return n;
}

// The tree of folded lines: "a;b" and a weight.
static struct fk_tree *tree_of(const char *const *path, const int64_t *self, uint32_t n)
{
    struct fk_arena a;
    struct fk_profile p;
    struct fk_err err = {0};
    struct fk_tree *t = fk_tree_new(1, 0);
    assert_non_null(t);
    fk_arena_init(&a, 0);
    struct fk_builder *b = fk_builder_new(&a, 1000, "");
    assert_non_null(b);
    assert_int_equal(fk_builder_type(b, FK_S("x"), FK_S("count"), FK_KIND_DELTA), 0);
    for (uint32_t i = 0; i < n; i++) {
        struct fk_str rest = fk_str_of(path[i]), part;
        uint32_t frame[16], stack, k = FK_COUNTOF(frame);
        while (fk_str_split(&rest, ';', &part)) {
            struct fk_function f = {0};
            struct fk_line line = {0};
            struct fk_location l = {.mapping = FK_NONE, .line_count = 1};
            assert_int_equal(fk_dict_string(fk_builder_dict(b), part, &f.name), 0);
            assert_int_equal(fk_dict_function(fk_builder_dict(b), &f, &line.function), 0);
            assert_int_equal(fk_dict_location(fk_builder_dict(b), &l, &line, &frame[--k]), 0);
        }
        assert_int_equal(
            fk_dict_stack(fk_builder_dict(b), frame + k, FK_COUNTOF(frame) - k, &stack), 0);
        assert_int_equal(fk_builder_sample(b, stack, 0, &self[i], NULL, 1, &err), 0);
    }
    assert_int_equal(fk_builder_finish(b, &p, &err), 0);
    fk_builder_free(b);
    int64_t *by_stack = fk_arena_zalloc(&a, (p.sym.n_stacks + 1) * sizeof(*by_stack));
    for (uint64_t r = 0; r < p.n_rows; r++)
        by_stack[p.stack[r]] += p.value[0][r];
    assert_int_equal(fk_tree_fold(t, 0, &p.sym, by_stack, false, NULL, &err), 0);
    fk_arena_free(&a);
    return t;
}

static struct fk_tree *hostile_tree(void)
{
    struct fk_arena a;
    struct fk_profile p;
    struct fk_err err = {0};
    struct fk_tree *t = fk_tree_new(1, 0);
    assert_non_null(t);
    fk_arena_init(&a, 0);
    fk_hostile_profile(&a, false, &p);
    int64_t *by_stack = fk_arena_zalloc(&a, (p.sym.n_stacks + 1) * sizeof(*by_stack));
    for (uint64_t r = 0; r < p.n_rows; r++)
        by_stack[p.stack[r]] += p.value[0][r];
    assert_int_equal(fk_tree_fold(t, 0, &p.sym, by_stack, false, NULL, &err), 0);
    fk_arena_free(&a);
    return t;
}

static void no_name_leaves_its_place(void **state)
{
    (void)state;
    static const char *const never[] = {
        "<script>alert", "<img",         "<svg onload",  "<!--",         "]]>",
        "\xe2\x80\xae",  "\xe2\x81\xa6", "\xe2\x80\x8f", "\xe2\x80\xa8", "\x1b",
        "\x7f",          "\xc2\x9b",     "\xef\xbf\xbe"};
    struct fk_tree *t = hostile_tree();
    for (int kind = 0; kind < KINDS; kind++) {
        FK_AUTO_BUF b;
        struct fk_err err = {0};
        fk_buf_init(&b, 0);
        assert_int_equal(render(kind, t, 0, &b, &err), 0);
        assert_true(fk_str_is_utf8(fk_buf_view(&b)));
        for (size_t i = 0; i < FK_COUNTOF(never); i++)
            // The tree of the page is JSON, which may have what is only shown otherwise.
            if (kind == SVG || (kind == HTML && never[i][0] == '<') ||
                (kind == DOT && never[i][0] != '<' && never[i][0] != ']'))
                if (count(&b, never[i]))
                    fail_msg("%d has '%s'", kind, never[i]);
        for (size_t i = 0; i < b.n; i++)
            assert_true((uint8_t)b.p[i] >= 0x20 || b.p[i] == '\n');
        if (kind == SVG) {
            assert_int_equal(count(&b, "<script"), 0);
            assert_int_equal(count(&b, "href"), 0);
            assert_int_equal(count(&b, "<title>"), count(&b, "</title>"));
            assert_true(count(&b, "[U+202E]evil[U+202C]") >= 1);
            assert_true(count(&b, "&lt;/script&gt;&lt;script&gt;alert(1)&lt;/script&gt;") >= 1);
        }
        if (kind == HTML) { // the data and the program, nothing else
            assert_int_equal(count(&b, "<script"), 2);
            assert_int_equal(count(&b, "</script"), 2);
            assert_int_equal(count(&b, "innerHTML"), 0);
            assert_int_equal(count(&b, "http:") + count(&b, "https:"), 0);
        }
        if (kind == DOT)
            assert_true(count(&b, "\\\\N \\\\G") >= 1 && count(&b, "&amp;amp; &amp;#60;") >= 1);
    }
    fk_tree_free(t);
}

static void svg_draws_every_frame(void **state)
{
    (void)state;
    static const char *const path[] = {"a;b", "a;c", "d", "e"};
    static const int64_t self[] = {60, 20, 19, 1};
    FK_AUTO_BUF b;
    struct fk_err err = {0};
    fk_buf_init(&b, 0);
    struct fk_tree *t = tree_of(path, self, 4);
    assert_int_equal(render(SVG, t, 0, &b, &err), 0);
    assert_int_equal(count(&b, "<g>"), 6);
    assert_int_equal(count(&b, "<title>b (60 count, 60.00 %; self 60 count)</title>"), 1);
    assert_int_equal(count(&b, "<title>a (80 count, 80.00 %; self 0 count)</title>"), 1);
    assert_int_equal(count(&b, "x=\"10.00\" y=\"74\" width=\"708.00\""), 1); // b below a
    assert_int_equal(count(&b, "x=\"718.00\" y=\"74\" width=\"236.00\""), 1);
    assert_int_equal(count(&b, "not drawn"), 0);
    fk_buf_clear(&b);
    assert_int_equal(render(SVG, t, 3, &b, &err), 0);
    assert_int_equal(count(&b, "<g>"), 3);
    assert_int_equal(count(&b, "3 small frames are not drawn"), 1);
    fk_tree_free(t);
}

static void dot_has_calls(void **state)
{
    (void)state;
    static const char *const path[] = {"main;f;f;g", "main;g", "main;h;g", "x"};
    static const int64_t self[] = {10, 5, 3, 1};
    FK_AUTO_BUF b;
    struct fk_err err = {0};
    fk_buf_init(&b, 0);
    struct fk_tree *t = tree_of(path, self, 4);
    assert_int_equal(render(DOT, t, 0, &b, &err), 0);
    assert_int_equal(count(&b, " -> "), 6); // main f, f f, f g, main g, main h, h g
    // main 18 (n0), g 18 (n1), f 10 (n2), h 3 (n3), x 1 (n4)
    assert_int_equal(count(&b, "n1 [label=\"main\\nself 0 count, 0.00 %\\ntotal 18 count") +
                         count(&b, "n0 [label=\"main\\nself 0 count, 0.00 %\\ntotal 18 count"),
                     1);
    assert_int_equal(count(&b, "n2 -> n2 [label=\"10 count\""), 1);
    assert_int_equal(count(&b, "dotted"), 0);
    fk_buf_clear(&b);
    assert_int_equal(render(DOT, t, 2, &b, &err), 0); // main and g: also by way of f and h
    assert_int_equal(count(&b, " -> "), 1);
    assert_int_equal(count(&b, "[label=\"18 count\""), 1);
    assert_int_equal(count(&b, "2 of 5 functions"), 1);
    fk_tree_free(t);
    static const char *const far[] = {"main;f;g", "g", "main"};
    t = tree_of(far, self, 3);
    fk_buf_clear(&b);
    assert_int_equal(render(DOT, t, 2, &b, &err), 0);
    assert_int_equal(count(&b, "style=dotted"), 1);
    fk_tree_free(t);
}

static void negative_weights_are_refused(void **state)
{
    (void)state;
    static const char *const path[] = {"a;b", "c"};
    static const int64_t self[] = {-5, 20};
    struct fk_tree *t = tree_of(path, self, 2);
    for (int kind = 0; kind < KINDS; kind++) {
        FK_AUTO_BUF b;
        struct fk_err err = {0};
        fk_buf_init(&b, 0);
        assert_int_equal(render(kind, t, 0, &b, &err), -FK_E_UNSUPPORTED);
        assert_non_null(strstr(err.msg, "less than nothing"));
        assert_int_equal(b.n, 0);
    }
    fk_tree_free(t);
}

static void nothing_is_a_picture_too(void **state)
{
    (void)state;
    struct fk_tree *t = tree_of(NULL, NULL, 0);
    for (int kind = 0; kind < KINDS; kind++) {
        FK_AUTO_BUF b;
        struct fk_err err = {0};
        fk_buf_init(&b, 0);
        assert_int_equal(render(kind, t, 0, &b, &err), 0);
        assert_true(b.n > 100);
    }
    fk_tree_free(t);
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    struct fk_tree *t = hostile_tree();
    for (int kind = 0; kind < KINDS; kind++)
        for (uint64_t k = 1, done = 0; !done; k++) {
            FK_AUTO_BUF b;
            struct fk_err err = {0};
            fk_buf_init(&b, 0);
            fk_mem_fail_after(k, true);
            int rc = render(kind, t, 0, &b, &err);
            done = fk_mem_failed() == 0;
            fk_mem_fail_after(0, false);
            if (rc != (done ? 0 : -FK_E_NOMEM))
                fail_msg("%d, allocation %llu: %d '%s'", kind, (unsigned long long)k, rc, err.msg);
        }
    fk_tree_free(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_name_leaves_its_place),
        cmocka_unit_test(svg_draws_every_frame),
        cmocka_unit_test(dot_has_calls),
        cmocka_unit_test(negative_weights_are_refused),
        cmocka_unit_test(nothing_is_a_picture_too),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
