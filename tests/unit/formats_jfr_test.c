// SPDX-License-Identifier: Apache-2.0
// JFR recordings: families, values, times, attributes, several chunks.
#include "support/jfr_recording.h"

static void execution_samples(bool fixed)
{
    struct jfr_make m;
    struct seen s;
    begin(&m, fixed);
    jm_event(&m, SETTING, "lltt", 1000L, (long)EXECUTION, "period", "20 ms");
    sample(&m, 2000, 1, 1);
    sample(&m, 6000, 2, 1);
    sample(&m, 4000, 1, 1);
    decode_chunk(&s, &m);
    assert_int_equal(s.n, 1);
    expect(&s, 0, "process_cpu", "samples", 3);
    expect_amount(&s, 0, "cpu", 60000000);
    const struct fk_profile *p = &s.p[0];
    assert_int_equal(s.e[0].samples, 3);
    assert_int_equal(p->n_rows, 2); // two stacks; the events are their observations
    assert_int_equal(p->n_obs, 3);
    assert_int_equal(p->time_ns[0], START_NS + 1000); // half a nanosecond a tick
    assert_int_equal(p->time_ns[1], START_NS + 2000);
    assert_int_equal(p->time_ns[2], START_NS + 3000);
    expect_stack(p, 0, "a/Main.work:20<a/Main.run:10");
    expect_stack(p, 1, "a/Work$$Lambda_.run:0<a/Main.run:11");
    expect_attr(p, 0, "thread", "main");
    expect_attr(p, 0, "thread_id", "4711");
    expect_attr(p, 0, "state", "STATE_RUNNABLE");
    assert_int_equal(p->time_ns_start, START_NS);
    assert_int_equal(p->duration_ns, 5000000000);
    assert_int_equal(p->period, 20000000);
    assert_true(p->truncated);
    assert_int_equal(item(&s, "cut by the recorder")->count, 1);
    assert_int_equal(s.e[0].flags & FK_ENTRY_HAS_TIME, FK_ENTRY_HAS_TIME);
    fk_arena_free(&s.arena);
}

static void execution(void **state)
{
    (void)state;
    execution_samples(false);
    execution_samples(true);
}

static void no_period_no_time_column(void **state)
{
    (void)state;
    struct jfr_make m;
    struct seen s;
    begin(&m, false);
    jm_event(&m, SETTING, "lltt", 1000L, (long)EXECUTION, "period", "1 ns"); // a placeholder
    sample(&m, 0, 1, 1);
    decode_chunk(&s, &m);
    assert_int_equal(s.e[0].n_types, 1);
    fk_arena_free(&s.arena);
}

static void one_profile_a_family(void **state)
{
    (void)state;
    struct jfr_make m;
    struct seen s;
    begin(&m, false);
    jm_event(&m, IN_TLAB, "lllll", 1000L, 1L, 1L, 2L, 4096L);
    jm_event(&m, IN_TLAB, "lllll", 1002L, 1L, 1L, 1L, 1024L);
    jm_event(&m, OUTSIDE_TLAB, "lllll", 1000L, 1L, 1L, 1L, 77L);
    jm_event(&m, ALLOCATION, "lllll", 1000L, 1L, 2L, 1L, 5L);
    jm_event(&m, LIVE, "lllll", 1000L, 1L, 1L, 3L, 24L);
    jm_event(&m, MALLOC, "lllll", 1000L, 1L, 1L, 0x7f0000000000L, 333L);
    jm_event(&m, MONITOR, "lllll", 1000L, 1L, 1L, 1L, 3000L);
    jm_event(&m, PARK, "lllll", 1000L, 1L, 1L, 1L, 3000L);
    jm_event(&m, NATIVE, "llll", 1000L, 1L, 1L, 1L);
    decode_chunk(&s, &m);
    assert_int_equal(s.n, 8);
    expect(&s, 0, "native_method", "samples", 1);
    expect(&s, 1, "memory", "alloc_in_new_tlab_objects", 2);
    expect_amount(&s, 1, "alloc_in_new_tlab_bytes", 5120);
    expect_attr(&s.p[1], 0, "class", "long[]");
    expect_attr(&s.p[1], 1, "class", "a.Main");
    expect(&s, 2, "memory", "alloc_outside_tlab_objects", 1);
    expect_amount(&s, 2, "alloc_outside_tlab_bytes", 77);
    expect(&s, 3, "memory", "alloc_sample_objects", 1);
    expect_amount(&s, 3, "alloc_sample_bytes", 5);
    expect_attr(&s.p[3], 0, "thread", "os2"); // a virtual thread: no id of the system, no name
    expect_attr(&s.p[3], 0, "thread_id", "30");
    expect(&s, 4, "memory", "live", 1);
    expect_amount(&s, 4, "inuse_space", 24);
    assert_int_equal(s.e[4].type[0].kind, FK_KIND_INSTANT);
    expect_attr(&s.p[4], 0, "class", "a.Work$$Lambda_");
    expect(&s, 5, "memory", "malloc_objects", 1);
    expect_amount(&s, 5, "malloc_bytes", 333);
    expect(&s, 6, "mutex", "contentions", 1);
    expect_amount(&s, 6, "delay", 1500); // ticks
    expect(&s, 7, "block", "contentions", 1);
    expect_amount(&s, 7, "delay", 3000); // nanoseconds
    fk_arena_free(&s.arena);
}

static void wall_clock(void **state)
{
    (void)state;
    struct jfr_make m;
    struct seen s;
    begin(&m, false);
    jm_event(&m, SETTING, "lltt", 1000L, (long)EXECUTION, "event", "wall");
    jm_event(&m, SETTING, "lltt", 1000L, (long)EXECUTION, "interval", "0"); // its default: 50 ms
    jm_event(&m, WALL, "lllli", 1000L, 1L, 1L, 2L, 15);
    jm_event(&m, WALL, "lllli", 1000L, 1L, 1L, 1L, 2);
    sample(&m, 10, 2, 1);
    decode_chunk(&s, &m);
    assert_int_equal(s.n, 2);
    expect(&s, 0, "process_cpu", "samples", 3);
    expect_amount(&s, 0, "cpu", 150000000);
    expect(&s, 1, "wall", "samples", 18);
    expect_amount(&s, 1, "wall", 900000000);
    assert_int_equal(s.e[1].samples, 3);
    assert_true(fk_str_eq(label(&s, 1, "jfr_event"), FK_S("wall")));
    fk_arena_free(&s.arena);
}

// async-profiler before 4.0 with cpu and wall clock together: states tell them apart.
static void cpu_beside_wall_clock(void **state)
{
    (void)state;
    struct jfr_make m;
    struct seen s;
    begin(&m, false);
    sample(&m, 0, 1, 3);
    sample(&m, 1, 1, 2);
    sample(&m, 2, 1, 1);
    jm_event(&m, SETTING, "lltt", 1000L, (long)EXECUTION, "event", "cpu");
    jm_event(&m, SETTING, "lltt", 1000L, (long)EXECUTION, "interval", "10000000");
    jm_event(&m, SETTING, "lltt", 1000L, (long)EXECUTION, "wall", "200000000");
    decode_chunk(&s, &m);
    assert_int_equal(s.n, 2);
    expect_amount(&s, 0, "cpu", 10000000);
    expect_amount(&s, 1, "wall", 400000000);
    fk_arena_free(&s.arena);
}

static void cpu_time_is_not_counted_twice(void **state)
{
    (void)state;
    struct jfr_make m;
    struct seen s;
    begin(&m, false);
    sample(&m, 0, 1, 1);
    jm_event(&m, CPU_TIME, "lllbl", 1000L, 1L, 1L, 0, 20000000L);
    jm_event(&m, CPU_TIME, "lllbl", 1000L, 0L, 1L, 1, 20000000L); // failed: no stack
    jm_event(&m, LOST, "lil", 1000L, 7, 1L);
    decode_chunk(&s, &m);
    assert_int_equal(s.n, 2);
    expect(&s, 0, "execution_sample", "samples", 1);
    expect(&s, 1, "process_cpu", "samples", 2);
    expect_amount(&s, 1, "cpu", 20000000);
    expect_stack(&s.p[1], 1, "");
    assert_int_equal(item(&s, "lost by the recorder")->count, 7);
    fk_arena_free(&s.arena);
}

static void old_objects_have_no_size(void **state)
{
    (void)state;
    struct jfr_make m;
    struct seen s;
    begin(&m, false);
    jm_event(&m, OLD_OBJECT, "llll", 1000L, 1L, 1L, 5L);
    decode_chunk(&s, &m);
    expect(&s, 0, "memory", "live", 1);
    assert_int_equal(s.e[0].n_types, 1);
    fk_arena_free(&s.arena);
}

static void labels_come_beside_it(void **state)
{
    (void)state;
    struct jfr_make m;
    struct seen s;
    FK_AUTO_BUF file, snapshot, zipped;
    struct fk_limits l = fk_limits_default();
    struct fk_decode_opts o = fk_decode_opts_push(&l);
    fk_buf_init(&file, 0);
    fk_buf_init(&snapshot, 0);
    fk_buf_init(&zipped, 0);
    put_snapshot(&snapshot);
    assert_int_equal(fk_gzip(snapshot.p, snapshot.n, 1, &zipped, NULL), 0);
    begin(&m, false);
    jm_event(&m, EXECUTION, "lllllllll", 1000L, 1L, 1L, 1L, 2L, 0xbeefL, 9L, 1L, 2L);
    jm_event(&m, EXECUTION, "lllllllll", 1000L, 1L, 1L, 1L, 77L, 0L, 9L, 0L, 0L); // not there
    end(&m, &file);
    o.jfr_labels = fk_buf_view(&zipped);
    o.sample_rate = 1000;
    assert_int_equal(decode_with(&s, fk_buf_view(&file), &o), 0);
    expect_amount(&s, 0, "cpu", 2000000);
    expect_attr(&s.p[0], 0, "handler", "search");
    expect_attr(&s.p[0], 0, "tier", "gold");
    expect_attr(&s.p[0], 0, "profile_id", "000000000000beef");
    expect_attr(&s.p[0], 0, "span_name", "GET");
    expect_attr(&s.p[0], 0, "trace_id", "00000000000000010000000000000002");
    expect_attr(&s.p[0], 1, "handler", "");
    expect_attr(&s.p[0], 1, "profile_id", "");
    expect_attr(&s.p[0], 1, "span_name", "");
    fk_arena_free(&s.arena);
    o.jfr_labels = FK_S("\x0a\xff");
    assert_int_equal(decode_with(&s, fk_buf_view(&file), &o), -FK_E_FORMAT);
    assert_non_null(strstr(s.err.msg, "LabelsSnapshot"));
    fk_arena_free(&s.arena);
}

static void chunks_are_one_recording(void **state)
{
    (void)state;
    struct jfr_make m;
    struct seen s;
    FK_AUTO_BUF file;
    fk_buf_init(&file, 0);
    begin(&m, false);
    jm_event(&m, SETTING, "lltt", 1000L, (long)EXECUTION, "event", "itimer");
    jm_event(&m, SETTING, "lltt", 1000L, (long)EXECUTION, "interval", "5000000");
    sample(&m, 0, 1, 3);
    end(&m, &file);
    begin(&m, true); // says nothing of how it was made: as the one before
    m.start_ns += 5000000000u;
    sample(&m, 0, 1, 3);
    sample(&m, 8, 3, 3);
    end(&m, &file);
    assert_int_equal(decode(&s, fk_buf_view(&file)), 0);
    assert_int_equal(s.n, 1);
    expect(&s, 0, "process_cpu", "samples", 3);
    expect_amount(&s, 0, "cpu", 15000000);
    assert_int_equal(s.p[0].n_rows, 2);
    assert_int_equal(s.p[0].duration_ns, 10000000000);
    assert_int_equal(s.p[0].time_ns[1], START_NS + 5000000000u);
    fk_arena_free(&s.arena);
    fk_buf_cstr(&file, "tail");
    assert_int_equal(decode(&s, fk_buf_view(&file)), 0);
    assert_int_equal(item(&s, "after the last JFR chunk")->count, 4);
    fk_arena_free(&s.arena);
}

// What a chunk does not have of an event's stack is looked for in the one before, not farther.
static void stacks_of_the_chunk_before(void **state)
{
    (void)state;
    struct jfr_make m;
    struct seen s;
    FK_AUTO_BUF file;
    fk_buf_init(&file, 0);
    begin(&m, false);
    sample(&m, 0, 2, 3); // stack 1 is there and not asked for
    end(&m, &file);
    for (int i = 0; i < 2; i++) {
        begin(&m, false);
        m.start_ns += 5000000000u * (i + 1);
        sample(&m, 0, 1, 3);
        jm_metadata(&m, types, FK_COUNTOF(types)); // and no constants at all
        jm_end(&m, 2, 1, &file);
    }
    assert_int_equal(decode(&s, fk_buf_view(&file)), 0);
    assert_int_equal(s.n, 1);
    expect(&s, 0, "process_cpu", "samples", 3);
    assert_int_equal(s.p[0].n_rows, 3);
    expect_stack(&s.p[0], 0, "a/Work$$Lambda_.run:0<a/Main.run:11");
    expect_stack(&s.p[0], 1, "a/Main.work:20<a/Main.run:10");
    expect_stack(&s.p[0], 2, "");
    fk_arena_free(&s.arena);
}

static void nothing_sampled_is_a_profile(void **state)
{
    (void)state;
    struct jfr_make m;
    struct seen s;
    begin(&m, false);
    decode_chunk(&s, &m);
    assert_int_equal(s.n, 1);
    expect(&s, 0, "process_cpu", "samples", 0);
    fk_arena_free(&s.arena);
}

// Every way of writing a text: in the pool, as characters, as Latin-1, empty.
static void texts(void **state)
{
    (void)state;
    struct jfr_make m;
    struct seen s;
    FK_AUTO_BUF b, file;
    fk_buf_init(&b, 0);
    fk_buf_init(&file, 0);
    begin(&m, false);
    sample(&m, 0, 1, 1);
    jm_put(&m, &b, "li lt", (long)STRING, 1, 8L, "pooled");
    jm_put(&m, &b, "li lbl lbiiii lbibb lb", (long)SYMBOL, 4, 1L, 2, 8L, 2L, 4, 3, 0x20ac, 0xd83d,
           0xde00, 3L, 5, 2, 'L', 0xe9, 4L, 1);
    jm_put(&m, &b, "li ll", (long)CLASS, 1, 1L, 1L);
    jm_put(&m, &b, "li lll lll lll", (long)METHOD, 3, 1L, 1L, 2L, 2L, 0L, 3L, 3L, 1L, 4L);
    jm_put(&m, &b, "li lbi lilili", (long)TRACE, 1, 1L, 0, 3, 1L, 1, 2L, 2, 3L, 3);
    jm_checkpoint(&m, 5, fk_buf_view(&b));
    jm_metadata(&m, types, FK_COUNTOF(types));
    jm_end(&m, 2, 0, &file);
    assert_int_equal(decode(&s, fk_buf_view(&file)), 0);
    expect_stack(&s.p[0], 0, "pooled.\xe2\x82\xac\xf0\x9f\x98\x80:1<L\xc3\xa9:2<pooled:3");
    fk_arena_free(&s.arena);
}

static void stable_names(void **state)
{
    (void)state;
    static const char *const names[][2] = {
        {"a/B$$Lambda$88+0x00007f4338008c28/1800031768", "a.B$$Lambda_"},
        {"a/B$$Lambda", "a.B$$Lambda"},
        {"a/B$$LambdaThing1", "a.B$$LambdaThing1"},
        {"jdk/internal/reflect/GeneratedMethodAccessor31",
         "jdk.internal.reflect.GeneratedMethodAccessor_"},
        {"jdk/proxy2/$Proxy44", "jdk.proxy2.$Proxy_"},
        {"x/S$$EnhancerBySpringCGLIB$$1a2b3c", "x.S$$EnhancerBySpringCGLIB$$_"},
        {"libzstd-jni-1.5.1-16931311898282279136.so", "libzstd-jni-1.5.1-_.so"},
        {"libother-16931311898282279136.so", "libother-16931311898282279136.so"},
        {"[[Lx/Y;", "x.Y[][]"},
        {"[Q", "Q[]"},
    };
    for (size_t i = 0; i < FK_COUNTOF(names); i++) {
        struct jfr_make m;
        struct seen s;
        FK_AUTO_BUF b, file;
        fk_buf_init(&b, 0);
        fk_buf_init(&file, 0);
        begin(&m, false);
        jm_event(&m, IN_TLAB, "lllll", 1000L, 0L, 0L, 1L, 8L);
        jm_put(&m, &b, "li lt li ll", (long)SYMBOL, 1, 1L, names[i][0], (long)CLASS, 1, 1L, 1L);
        jm_checkpoint(&m, 2, fk_buf_view(&b));
        jm_metadata(&m, types, FK_COUNTOF(types));
        jm_end(&m, 2, 0, &file);
        assert_int_equal(decode(&s, fk_buf_view(&file)), 0);
        expect_attr(&s.p[0], 0, "class", names[i][1]);
        fk_arena_free(&s.arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(execution),
        cmocka_unit_test(no_period_no_time_column),
        cmocka_unit_test(one_profile_a_family),
        cmocka_unit_test(wall_clock),
        cmocka_unit_test(cpu_beside_wall_clock),
        cmocka_unit_test(cpu_time_is_not_counted_twice),
        cmocka_unit_test(old_objects_have_no_size),
        cmocka_unit_test(labels_come_beside_it),
        cmocka_unit_test(chunks_are_one_recording),
        cmocka_unit_test(stacks_of_the_chunk_before),
        cmocka_unit_test(nothing_sampled_is_a_profile),
        cmocka_unit_test(texts),
        cmocka_unit_test(stable_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
