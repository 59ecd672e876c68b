// SPDX-License-Identifier: Apache-2.0
// JFR recordings beyond limits, broken or hostile, and decoding without memory.
#include "support/jfr_recording.h"

// ---- limits ----

static void limits(void **state)
{
    (void)state;
    struct jfr_make m;
    struct seen s;
    FK_AUTO_BUF file;
    struct fk_limits l = fk_limits_default();
    struct fk_decode_opts o = fk_decode_opts_push(&l);
    fk_buf_init(&file, 0);
    begin(&m, false);
    sample(&m, 0, 1, 1);
    sample(&m, 0, 1, 1);
    end(&m, &file);
    l.stack_depth = 1;
    assert_int_equal(decode_with(&s, fk_buf_view(&file), &o), 0);
    expect_stack(&s.p[0], 0, "a/Main.work:20");
    assert_true(s.p[0].truncated);
    assert_int_equal(item(&s, "depth limit")->count, 2);
    fk_arena_free(&s.arena);
    o.max_rows = 1;
    assert_int_equal(decode_with(&s, fk_buf_view(&file), &o), -FK_E_LIMIT);
    assert_string_equal(s.err.flag, "--limit-push-rows");
    fk_arena_free(&s.arena);
}

// Recordings beyond the limit of one profile come in parts, cut between chunks.
static void long_recordings_come_in_parts(void **state)
{
    (void)state;
    struct jfr_make m;
    struct seen s;
    FK_AUTO_BUF file;
    struct fk_limits l = fk_limits_default();
    struct fk_decode_opts o = fk_decode_opts_push(&l);
    fk_buf_init(&file, 0);
    for (unsigned i = 0; i < 3; i++) {
        begin(&m, false);
        m.start_ns += i * 5000000000u;
        sample(&m, 0, 1, 1);
        sample(&m, 0, 2, 1);
        end(&m, &file);
    }
    o.max_rows = 2;
    assert_int_equal(decode_with(&s, fk_buf_view(&file), &o), 0);
    assert_int_equal(s.n, 3);
    expect(&s, 2, "process_cpu", "samples", 2);
    assert_int_equal(s.p[2].time_ns_start, START_NS + 10000000000u);
    fk_arena_free(&s.arena);
}

// ---- what is broken ----

static void expect_refused(struct fk_buf *file, const char *says)
{
    struct seen s;
    int rc = decode(&s, fk_buf_view(file));
    if (rc != -FK_E_FORMAT || !strstr(s.err.msg, says))
        fail_msg("%d: '%s' does not say '%s'", rc, s.err.msg, says);
    fk_arena_free(&s.arena);
}

static void whole(struct fk_buf *file)
{
    struct jfr_make m;
    fk_buf_free(file);
    begin(&m, false);
    sample(&m, 0, 1, 1);
    end(&m, file);
}

static void broken_recordings_are_refused(void **state)
{
    (void)state;
    FK_AUTO_BUF f;
    fk_buf_init(&f, 0);
    whole(&f);
    f.n = 6;
    expect_refused(&f, "ends after 6 bytes");
    f.n = 60;
    expect_refused(&f, "header alone");
    whole(&f);
    f.n -= 10;
    expect_refused(&f, "it is cut off");
    whole(&f);
    f.p[5] = 9;
    expect_refused(&f, "version 9.1");
    whole(&f);
    memset(f.p + 24, 0, 8);
    expect_refused(&f, "was not finished");
    memset(f.p + 24, 0x7f, 8);
    expect_refused(&f, "metadata lie at offset");
    memset(f.p + 24, 0, 7);
    f.p[31] = 68; // the event there is no metadata
    expect_refused(&f, "no metadata event at offset 68");
    whole(&f);
    for (size_t at = (uint8_t)f.p[30] * 256u + (uint8_t)f.p[31] + 9; at < f.n; at++)
        f.p[at] = (char)0x7f;
    expect_refused(&f, "metadata are broken");
}

static void a_broken_chunk_is_dropped(void **state)
{
    (void)state;
    struct seen s;
    FK_AUTO_BUF good, bad;
    fk_buf_init(&good, 0);
    fk_buf_init(&bad, 0);
    whole(&good);
    whole(&bad);
    memset(bad.p + 24, 0, 8);
    fk_buf_str(&bad, fk_buf_view(&good));
    assert_int_equal(decode(&s, fk_buf_view(&bad)), 0);
    expect(&s, 0, "process_cpu", "samples", 1);
    assert_true(item(&s, "JFR chunk that could not be read")->dropped);
    fk_arena_free(&s.arena);
}

// No chain of checkpoints: they are found by walking; a chunk without an end is what is there.
static void an_unfinished_chunk_is_searched(void **state)
{
    (void)state;
    struct seen s;
    FK_AUTO_BUF f;
    fk_buf_init(&f, 0);
    whole(&f);
    memset(f.p + 8, 0, 16);
    assert_int_equal(decode(&s, fk_buf_view(&f)), 0);
    expect_stack(&s.p[0], 0, "a/Main.work:20<a/Main.run:10");
    fk_arena_free(&s.arena);
    memset(f.p + 16, 0x11, 8); // leads nowhere: samples without their names
    assert_int_equal(decode(&s, fk_buf_view(&f)), 0);
    expect_stack(&s.p[0], 0, "");
    assert_int_equal(item(&s, "checkpoint")->count, 1);
    fk_arena_free(&s.arena);
}

static void odd_events_are_counted(void **state)
{
    (void)state;
    struct jfr_make m;
    struct seen s;
    begin(&m, false);
    sample(&m, 0, 1, 1);
    jm_event(&m, 4242, "l", 1000L);                         // not described
    jm_event(&m, EXECUTION, "l", 1000L);                    // too short
    jm_event(&m, EXECUTION, "lllll", 1L, 2L, 99L, 99L, 0L); // too short as well
    sample(&m, 0, 99, 99);                                  // constants that are not there
    decode_chunk(&s, &m);
    expect(&s, 0, "process_cpu", "samples", 2);
    assert_int_equal(item(&s, "could not be read")->count, 2);
    assert_int_equal(item(&s, "does not describe")->count, 1);
    fk_arena_free(&s.arena);
}

// A type within itself, types without fields in long arrays: neither ends up in an endless walk.
static void hostile_types_end(void **state)
{
    (void)state;
    static const struct jm_type hostile[] = {
        {LONG, "long", ""},
        {INT, "int", ""},
        {STRING, "java.lang.String", ""},
        {50, "x.Loop", "self:50"},
        {51, "x.Empty", ""},
        {52, "x.Many", "a:51:a"},
        {53, "x.A", "a:51 b:51 c:51 d:51 e:51 f:51 g:51 h:51"},
        {54, "x.B", "a:53 b:53 c:53 d:53 e:53 f:53 g:53 h:53"},
        {55, "x.C", "a:54:a"},
        {EXECUTION, "jdk.ExecutionSample", "startTime:10 x:50"},
        {NATIVE, "jdk.NativeMethodSample", "startTime:10 x:52"},
        {WALL, "profiler.WallClockSample", "startTime:10 x:55"},
        {PARK, "jdk.ThreadPark", "startTime:10 x:98"},
    };
    for (int kind = 0; kind < 4; kind++) {
        static const long events[] = {EXECUTION, NATIVE, WALL, PARK};
        struct jfr_make m;
        struct seen s;
        FK_AUTO_BUF file;
        fk_buf_init(&file, 0);
        begin(&m, false);
        jm_event(&m, events[kind], "li", 1000L, 0x7fffffff);
        jm_metadata(&m, hostile, FK_COUNTOF(hostile));
        jm_end(&m, 2, 1, &file);
        assert_int_equal(decode(&s, fk_buf_view(&file)), 0);
        assert_int_equal(item(&s, "could not be read")->count, 1);
        fk_arena_free(&s.arena);
    }
}

// One constant named as a stack, as a thread and as a state: it is a stack only where it is asked
// for as one.
static void constants_of_two_kinds(void **state)
{
    (void)state;
    struct jfr_make m;
    struct seen s;
    struct jm_type odd[FK_COUNTOF(types)];
    FK_AUTO_BUF file;
    fk_buf_init(&file, 0);
    memcpy(odd, types, sizeof(types));
    for (size_t i = 0; i < FK_COUNTOF(odd); i++)
        if (odd[i].id == EXECUTION)
            odd[i].fields = "startTime:10:T sampledThread:24:r stackTrace:24:r state:24:r";
    begin(&m, false);
    jm_event(&m, EXECUTION, "llll", 1000L, 1L, 2L, 1L);
    jm_event(&m, EXECUTION, "llll", 1000L, 2L, 1L, 2L);
    constants(&m);
    jm_metadata(&m, odd, FK_COUNTOF(odd));
    jm_end(&m, 2, 1, &file);
    assert_int_equal(decode(&s, fk_buf_view(&file)), 0);
    assert_int_equal(s.n, 1);
    expect_stack(&s.p[0], 0, "a/Work$$Lambda_.run:0<a/Main.run:11");
    expect_stack(&s.p[0], 1, "a/Main.work:20<a/Main.run:10");
    fk_arena_free(&s.arena);
}

// A large constant is read once for each of its uses, not for each event: 20,000 events times
// 400,000 frames would take hours.
static void large_constants_are_read_once(void **state)
{
    (void)state;
    struct jfr_make m;
    struct seen s;
    struct jm_type odd[FK_COUNTOF(types)];
    FK_AUTO_BUF file, b;
    fk_buf_init(&file, 0);
    fk_buf_init(&b, 0);
    memcpy(odd, types, sizeof(types));
    for (size_t i = 0; i < FK_COUNTOF(odd); i++) {
        if (odd[i].id == EXECUTION)
            odd[i].fields = "startTime:10:T sampledThread:24:r stackTrace:24:r state:24:r";
        if (odd[i].id == PARK) // no stack is of this type: an answer that must be remembered too
            odd[i].fields = "startTime:10:T stackTrace:25:r eventThread:24:r parkedClass:24:r";
    }
    begin(&m, false);
    for (int i = 0; i < 20000; i++)
        jm_event(&m, i % 2 ? EXECUTION : PARK, "llll", 1000L, 1L, 1L, 1L);
    jm_put(&m, &b, "li", (long)TRACE, 1);
    jm_put(&m, &b, "lbi", 1L, 0, 400000);
    for (int i = 0; i < 400000; i++)
        jm_put(&m, &b, "li", 0L, 1);
    jm_put(&m, &b, "li ltltl", (long)THREAD, 1, 1L, "os1", 4711L, "main", 1L);
    jm_checkpoint(&m, 2, fk_buf_view(&b));
    jm_metadata(&m, odd, FK_COUNTOF(odd));
    jm_end(&m, 1, 1, &file);
    assert_int_equal(decode(&s, fk_buf_view(&file)), 0);
    expect(&s, 0, "process_cpu", "samples", 10000);
    assert_true(s.p[0].truncated);
    fk_arena_free(&s.arena);
}

// Every cut and every flipped byte: an answer, whatever it is.
static void survives_any_damage(void **state)
{
    (void)state;
    FK_AUTO_BUF f, copy;
    struct seen s;
    fk_buf_init(&f, 0);
    fk_buf_init(&copy, 0);
    whole(&f);
    for (size_t at = 0; at < f.n; at++)
        for (int how = 0; how < 3; how++) {
            fk_buf_clear(&copy);
            fk_buf_str(&copy, fk_buf_view(&f));
            if (how == 0)
                copy.n = at;
            else
                copy.p[at] = (char)(how == 1 ? copy.p[at] ^ 0xff : copy.p[at] + 1);
            (void)decode(&s, fk_buf_view(&copy));
            fk_arena_free(&s.arena);
        }
}

static void survives_lack_of_memory(void **state)
{
    (void)state;
    struct jfr_make m;
    FK_AUTO_BUF file, snapshot;
    struct fk_limits l = fk_limits_default();
    struct fk_decode_opts o = fk_decode_opts_push(&l);
    fk_buf_init(&file, 0);
    fk_buf_init(&snapshot, 0);
    put_snapshot(&snapshot);
    o.jfr_labels = fk_buf_view(&snapshot);
    for (int chunk = 0; chunk < 2; chunk++) {
        begin(&m, chunk == 1);
        jm_event(&m, SETTING, "lltt", 1000L, (long)EXECUTION, "event", "cpu");
        for (long i = 0; i < 100; i++)
            jm_event(&m, EXECUTION, "lllllllll", 1000 + i, 1L, 1 + i % 2, 1L, i, i, 9L, 1L, i);
        jm_event(&m, IN_TLAB, "lllll", 1000L, 1L, 1L, 2L, 4096L);
        end(&m, &file);
    }
    for (uint64_t k = 1, done = 0; !done; k += 1 + k / 8) {
        struct seen s;
        fk_mem_fail_after(k, true);
        int rc = decode_with(&s, fk_buf_view(&file), &o);
        done = fk_mem_failed() == 0;
        fk_mem_fail_after(0, false);
        assert_int_equal(rc, done ? 0 : -FK_E_NOMEM);
        fk_arena_free(&s.arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(limits),
        cmocka_unit_test(long_recordings_come_in_parts),
        cmocka_unit_test(broken_recordings_are_refused),
        cmocka_unit_test(a_broken_chunk_is_dropped),
        cmocka_unit_test(an_unfinished_chunk_is_searched),
        cmocka_unit_test(odd_events_are_counted),
        cmocka_unit_test(hostile_types_end),
        cmocka_unit_test(constants_of_two_kinds),
        cmocka_unit_test(large_constants_are_read_once),
        cmocka_unit_test(survives_any_damage),
        cmocka_unit_test(survives_lack_of_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
