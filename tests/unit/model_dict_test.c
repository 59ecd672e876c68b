// SPDX-License-Identifier: Apache-2.0
// Dictionary, remapping, builder: equal content has one id, views stay readable, allocation
// failures leave order.
#include "model/model.h"

#include "support/test.h"

static uint32_t string(struct fk_dict *d, const char *s)
{
    uint32_t id = 0;
    assert_int_equal(fk_dict_string(d, fk_str_of(s), &id), 0);
    return id;
}

static int add_location(struct fk_dict *d, const char *name, uint64_t address, uint32_t *ret)
{
    struct fk_function f = {0};
    struct fk_line line = {.line = 7};
    struct fk_location l = {.mapping = FK_NONE, .line_count = 1, .address = address};
    if (fk_dict_string(d, fk_str_of(name), &f.name) || fk_dict_function(d, &f, &line.function))
        return -1;
    return fk_dict_location(d, &l, &line, ret);
}

static void equal_content_has_one_id(void **state)
{
    (void)state;
    struct fk_dict *d = fk_dict_new(false);
    uint32_t a, b, c, s1, s2, set1, set2;
    assert_int_equal(string(d, ""), 0);
    assert_int_equal(string(d, "x"), string(d, "x"));
    assert_int_equal(add_location(d, "f", 1, &a), 0);
    assert_int_equal(add_location(d, "f", 1, &b), 0);
    assert_int_equal(add_location(d, "f", 2, &c), 0);
    assert_int_equal(a, b);
    assert_int_not_equal(a, c);
    uint32_t frames[] = {a, c}, other[] = {c, a};
    fk_dict_stack(d, frames, 2, &s1);
    fk_dict_stack(d, other, 2, &s2);
    assert_int_not_equal(s1, s2);
    fk_dict_stack(d, frames, 2, &s2);
    assert_int_equal(s1, s2);
    fk_dict_stack(d, NULL, 0, &s1);
    fk_dict_stack(d, NULL, 0, &s2);
    assert_int_equal(s1, s2);
    struct fk_attr attrs[] = {{.key = string(d, "b"), .num = 3},
                              {.key = string(d, "a"), .str = string(d, "v")}};
    struct fk_attr swapped[] = {attrs[1], attrs[0]};
    fk_dict_set(d, attrs, 2, &set1);
    fk_dict_set(d, swapped, 2, &set2);
    assert_int_equal(set1, set2);
    assert_int_not_equal(set1, 0);
    fk_dict_set(d, NULL, 0, &set2);
    assert_int_equal(set2, 0);
    fk_dict_free(d);
}

// A view taken early reads the same after the dictionary grew a thousandfold.
static void old_views_stay(void **state)
{
    (void)state;
    struct fk_dict *d = fk_dict_new(true);
    uint32_t l, s;
    assert_int_equal(add_location(d, "first", 1, &l), 0);
    assert_int_equal(fk_dict_stack(d, &l, 1, &s), 0);
    struct fk_symbols view;
    fk_dict_view(d, &view);
    for (uint32_t i = 0; i < 5000; i++) {
        char name[32];
        snprintf(name, sizeof(name), "function%u", i);
        assert_int_equal(add_location(d, name, i, &l), 0);
        assert_int_equal(fk_dict_stack(d, &l, 1, &s), 0);
    }
    assert_int_equal(view.n_stacks, 1);
    const struct fk_location *loc = &view.location[view.frame[view.stack_begin[0]]];
    struct fk_str name = view.string[view.function[view.line[loc->line_begin].function].name];
    assert_true(fk_str_eq(name, FK_S("first")));
    assert_true(fk_dict_bytes(d) > 5000 * sizeof(struct fk_location));
    fk_dict_free(d);
}

static int build(struct fk_arena *a, struct fk_profile *p)
{
    struct fk_err err;
    struct fk_builder *b = fk_builder_new(a, 100, "--limit-push-rows");
    if (!b)
        return -FK_E_NOMEM;
    uint32_t l1, l2, s1, s2;
    int r = -FK_E_NOMEM;
    if (fk_builder_type(b, FK_S("cpu"), FK_S("nanoseconds"), FK_KIND_DELTA) == 0 &&
        add_location(fk_builder_dict(b), "main", 1, &l1) == 0 &&
        add_location(fk_builder_dict(b), "work", 2, &l2) == 0 &&
        fk_dict_stack(fk_builder_dict(b), (uint32_t[]){l2, l1}, 2, &s1) == 0 &&
        fk_dict_stack(fk_builder_dict(b), &l1, 1, &s2) == 0 &&
        (r = fk_builder_add(b, s1, 0, &(int64_t){10}, &err)) == 0 &&
        (r = fk_builder_add(b, s2, 0, &(int64_t){5}, &err)) == 0 &&
        (r = fk_builder_add(b, s1, 0, &(int64_t){1}, &err)) == 0 &&
        (r = fk_builder_sample(b, s2, 0, (int64_t[]){2, 3}, (int64_t[]){100, 200}, 2, &err)) == 0)
        r = fk_builder_finish(b, p, &err);
    fk_builder_free(b);
    return r;
}

static void builder_makes_valid_profiles(void **state)
{
    (void)state;
    FK_AUTO_ARENA a;
    struct fk_profile p;
    struct fk_err err;
    fk_arena_init(&a, 0);
    assert_int_equal(build(&a, &p), 0);
    assert_int_equal(fk_profile_validate(&p, &err), 0);
    assert_int_equal(p.n_rows, 3);
    assert_int_equal(p.n_obs, 4);
    assert_int_equal(fk_profile_total(&p, 0), 10 + 5 + 1 + 2 + 3);
    assert_int_equal(p.value[0][0], 11);
    assert_int_equal(p.time_ns[3], 200);
    assert_true(p.time_ns[0] == FK_NO_TIME);
}

static void builder_survives_allocation_failure(void **state)
{
    (void)state;
    bool done = false;
    for (uint64_t k = 1; !done && k < 1000; k++) {
        struct fk_arena a;
        struct fk_profile p;
        fk_arena_init(&a, 0);
        fk_mem_fail_after(k, true);
        int r = build(&a, &p);
        done = fk_mem_failed() == 0;
        fk_mem_fail_after(0, false);
        assert_true(done ? r == 0 : r < 0);
        fk_arena_free(&a);
    }
    assert_true(done);
}

static void remap_carries_everything(void **state)
{
    (void)state;
    FK_AUTO_ARENA a;
    struct fk_profile p;
    fk_arena_init(&a, 0);
    assert_int_equal(build(&a, &p), 0);
    struct fk_dict *d = fk_dict_new(false);
    uint32_t other;
    assert_int_equal(add_location(d, "elsewhere", 9, &other), 0);
    struct fk_remap *m = fk_remap_new();
    assert_int_equal(fk_remap_start(m, d, &p.sym), 0);
    uint32_t s, again;
    assert_int_equal(fk_remap_stack(m, p.stack[0], &s), 0);
    assert_int_equal(fk_remap_stack(m, p.stack[0], &again), 0);
    assert_int_equal(s, again);
    struct fk_symbols v;
    fk_dict_view(d, &v);
    const struct fk_location *leaf = &v.location[v.frame[v.stack_begin[s]]];
    assert_true(
        fk_str_eq(v.string[v.function[v.line[leaf->line_begin].function].name], FK_S("work")));
    fk_remap_free(m);
    fk_dict_free(d);
}

static void rows_are_limited(void **state)
{
    (void)state;
    FK_AUTO_ARENA a;
    struct fk_err err;
    fk_arena_init(&a, 0);
    struct fk_builder *b = fk_builder_new(&a, 2, "--limit-push-rows");
    uint32_t s;
    fk_builder_type(b, FK_S("x"), FK_S("count"), FK_KIND_DELTA);
    fk_dict_stack(fk_builder_dict(b), NULL, 0, &s);
    for (int i = 0; i < 2; i++)
        assert_int_equal(fk_builder_sample(b, s, 0, &(int64_t){1}, NULL, 1, &err), 0);
    assert_int_equal(fk_builder_sample(b, s, 0, &(int64_t){1}, NULL, 1, &err), -FK_E_LIMIT);
    assert_string_equal(err.flag, "--limit-push-rows");
    fk_builder_free(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_content_has_one_id),
        cmocka_unit_test(old_views_stay),
        cmocka_unit_test(builder_makes_valid_profiles),
        cmocka_unit_test(builder_survives_allocation_failure),
        cmocka_unit_test(remap_carries_everything),
        cmocka_unit_test(rows_are_limited),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
