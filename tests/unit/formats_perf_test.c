// SPDX-License-Identifier: Apache-2.0
// perf script: shapes of headers and frames, events, times, what is dropped.
#include "support/decoded.h"

static const char two_events[] = "prog 10/11 [002] 100.000001:    250000 cpu-clock:uhH: \n"
                                 "\t          401b97 main+0x1f (/bin/prog)\n"
                                 "\tffffffff9c2009e7 [unknown] ([kernel.kallsyms])\n"
                                 "\n"
                                 "a b:c  12   100.5:          1      sched:sched_switch: \n"
                                 "\t          dead x(int, char) (inlined)\n"
                                 "\t          dead y (/tmp/a (deleted))\n"
                                 "\n"
                                 "prog 10/11 [002] 101.000001:    750000 cpu-clock:uhH:\r\n"
                                 "\t          401b97 main+0x1f (/bin/prog)\r\n"
                                 "\tffffffff9c2009e7 [unknown] ([kernel.kallsyms])\r\n";

static void events_and_times(void **state)
{
    (void)state;
    expect_decoded(
        FK_FORMAT_UNKNOWN, fk_str_of(two_events),
        "{event=\"cpu-clock:uhH\"} samples/count cpu/nanoseconds\n"
        "0xffffffff9c2009e7;main 1 250000 [thread=prog pid=10 tid=11 cpu=2] @100000001000\n"
        "0xffffffff9c2009e7;main 1 750000 [thread=prog pid=10 tid=11 cpu=2] @101000001000\n"
        "{event=\"sched:sched_switch\"} sched:sched_switch/count events/count\n"
        "y;x(int, char) 1 1 [thread=a b:c tid=12] @100500000000\n");
}

// "captured on" is the time of the last sample.
static void a_header_gives_time_and_rate(void **state)
{
    (void)state;
    struct decoded d;
    const char *text = "# ========\n# captured on: Thu Jul  7 20:48:39 2016\n"
                       "# cmdline : perf record -F 99 -g\n# event : name = cpu-clock, type = 1\n"
                       "a 1 10.0: cpu-clock: \n\t1 f (a)\n\na 1 11.5: cpu-clock: \n\t1 f (a)\n";
    assert_int_equal(decode(&d, FK_FORMAT_UNKNOWN, fk_str_of(text)), 0);
    assert_true(fk_str_eq(fk_buf_view(&d.text),
                          FK_S("{event=\"cpu-clock\"} samples/count cpu/nanoseconds\n"
                               "f 1 10101010 [thread=a tid=1] @1467924517500000000\n"
                               "f 1 10101010 [thread=a tid=1] @1467924519000000000\n")));
    assert_int_equal(d.last.time_ns_start, 1467924517500000000);
    assert_int_equal(d.last.duration_ns, 1500000000);
    assert_int_equal(d.last.period, 10101010);
    decoded_free(&d);
    expect_decoded(FK_FORMAT_PERF_SCRIPT,
                   FK_S("# captured on: Foo Bar 99 x 1\na 1 cycles:\n\t1 f\n"),
                   "{event=\"cycles\"} samples/count\nf 1 [thread=a tid=1]\n");
}

static void shapes(void **state)
{
    (void)state;
    // One line a sample, indented by the width of the command.
    expect_decoded(FK_FORMAT_UNKNOWN,
                   FK_S("   false 39 191.5:  1 cycles:u:  ff9b f+0x1 (a)\n"
                        "     abc 39 191.6:  2 cycles:u:      7fa6 [unknown] ([unknown])\n"),
                   "{event=\"cycles:u\"} samples/count cycles/count\n"
                   "f 1 1 [thread=false tid=39] @191500000000\n"
                   "0x7fa6 1 2 [thread=abc tid=39] @191600000000\n");
    // Without call graph and time; headers follow one another.
    expect_decoded(FK_FORMAT_PERF_SCRIPT, FK_S("a 1 x:y:\na 1 x:y:\n"),
                   "{event=\"x:y\"} x:y/count\n 1 [thread=a tid=1]\n 1 [thread=a tid=1]\n");
    // Source lines belong to the frame above.
    expect_decoded(FK_FORMAT_UNKNOWN,
                   FK_S("a -1 1.5: cycles: \n\t 1 f\n  f.c:12\n\t 2 g\n  ??:0\n\n"
                        "a -1 1.6: cycles: \n\t 1 f\n  f.c:12\n\t 2 g\n"),
                   "{event=\"cycles\"} samples/count\ng;f 1 [thread=a] @1500000000\n"
                   "g;f 1 [thread=a] @1600000000\n");
    // Pasted without blanks; a stray line is counted.
    struct decoded d;
    assert_int_equal(
        decode(&d, FK_FORMAT_UNKNOWN,
               FK_S("stray\na 1 1.5: cycles: \n7f f (x)\n\tnonsense\n9 g (y)\n\n\t1 h (z)\n")),
        -FK_E_FORMAT); // the first line is no header
    decoded_free(&d);
    assert_int_equal(
        decode(&d, FK_FORMAT_PERF_SCRIPT,
               FK_S("stray\na 1 1.5: cycles: \n7f f (x)\n\tnonsense\n9 g (y)\n\n\t1 h (z)\n")),
        0);
    assert_true(fk_str_eq(fk_buf_view(&d.text), FK_S("{event=\"cycles\"} samples/count\n"
                                                     "g;f 1 [thread=a tid=1] @1500000000\n")));
    assert_int_equal(item(&d, "neither")->count, 3);
    assert_string_equal(item(&d, "neither")->detail, "line 1: 'stray'");
    decoded_free(&d);
}

// Equal stacks are passed over whole; with something else between, they are not.
static void stacks_that_come_again(void **state)
{
    (void)state;
    static const char text[] =
        "a 1 1.0: cycles: \n\t1 f (x)\n\t2 g (x)\n\na 1 2.0: cycles: \n\t1 f (x)\n\t2 g (x)\n\n"
        "a 1 3.0: cycles: \n\t1 f (x)\nodd\n\t2 g (x)\n\na 1 4.0: cycles: \n\t1 f (x)\nodd\n\t2 g "
        "(x)\n\n"
        "b 2 5.0: cycles: \n\t1 f (x)\n\t2 g (x)\n\nstray\n";
    struct decoded d;
    expect_decoded(FK_FORMAT_UNKNOWN, fk_str_of(text),
                   "{event=\"cycles\"} samples/count\ng;f 1 [thread=a tid=1] @1000000000\n"
                   "g;f 1 [thread=a tid=1] @2000000000\ng;f 1 [thread=a tid=1] @3000000000\n"
                   "g;f 1 [thread=a tid=1] @4000000000\ng;f 1 [thread=b tid=2] @5000000000\n");
    assert_int_equal(decode(&d, FK_FORMAT_UNKNOWN, fk_str_of(text)), 0);
    assert_int_equal(item(&d, "neither")->count, 3);
    assert_string_equal(item(&d, "neither")->detail, "line 11: 'odd'");
    decoded_free(&d);
    expect_survives(FK_FORMAT_UNKNOWN, fk_str_of(text));
}

static void refuses(void **state)
{
    (void)state;
    expect_refused(FK_FORMAT_PERF_SCRIPT, FK_S("a;b 1\n"), FK_E_FORMAT, "header of a sample");
    expect_refused(FK_FORMAT_PERF_SCRIPT, FK_S(""), FK_E_FORMAT, "none of 0 lines");
    FK_AUTO_BUF many;
    fk_buf_init(&many, 0);
    for (int i = 0; i < 66; i++)
        fk_buf_printf(&many, "a 1 1.5: e%d:\n\t1 f (x)\n\n", i);
    struct decoded d;
    assert_int_equal(decode(&d, FK_FORMAT_UNKNOWN, fk_buf_view(&many)), 0);
    assert_int_equal(d.report.profiles, 64);
    assert_int_equal(item(&d, "beyond")->count, 2);
    decoded_free(&d);
}

static void limits(void **state)
{
    (void)state;
    struct fk_limits l = fk_limits_default();
    l.stack_depth = 1;
    struct fk_decode_opts o = fk_decode_opts_push(&l);
    struct decoded d;
    assert_int_equal(decode_with(&d, FK_FORMAT_UNKNOWN, fk_str_of(two_events), &o), 0);
    assert_int_equal(item(&d, "depth")->count, 3);
    decoded_free(&d);
    o.max_rows = 1;
    assert_int_equal(decode_with(&d, FK_FORMAT_UNKNOWN, fk_str_of(two_events), &o), -FK_E_LIMIT);
    decoded_free(&d);
}

static void survives_lack_of_memory(void **state)
{
    (void)state;
    expect_survives(FK_FORMAT_UNKNOWN, fk_str_of(two_events));
    expect_survives(
        FK_FORMAT_UNKNOWN,
        FK_S("# captured on: Thu Jul  7 20:48:39 2016\na 1 1.5: cpu-clock:\n\t1 f\n  x.c:1\n"));
    expect_cuts_are_harmless(FK_FORMAT_PERF_SCRIPT, fk_str_of(two_events));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(events_and_times),
        cmocka_unit_test(a_header_gives_time_and_rate),
        cmocka_unit_test(shapes),
        cmocka_unit_test(stacks_that_come_again),
        cmocka_unit_test(refuses),
        cmocka_unit_test(limits),
        cmocka_unit_test(survives_lack_of_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
