// SPDX-License-Identifier: Apache-2.0
// Stacks and call trees that tools print: bpftrace, DTrace, sample, Instruments, callgrind; and
// simpleperf's trace.
#include "support/decoded.h"

static void bpftrace(void **state)
{
    (void)state;
    static const char text[] =
        "Attaching 2 probes...\n\n\n@[\n    f+12\n    0x7f\n]: 3\n"
        "@m[comm, \n\t7f g+4 (/lib/x.so)\n\t7e 0x7e ([unknown])\n, 21, 22]: 4\n"
        "noise\n@[, \n    h\n,\n    u+1\n]: 5\n";
    struct decoded d;
    expect_decoded(
        FK_FORMAT_UNKNOWN, fk_str_of(text),
        "{} samples/count\n0x7f;f 3\n0x7e;g 4 [map=m key1=comm key2=21 key3=22]\nu;h 5\n");
    assert_int_equal(decode(&d, FK_FORMAT_BPFTRACE, fk_str_of(text)), 0);
    assert_int_equal(item(&d, "no stack")->count, 1);
    decoded_free(&d);
    expect_refused(FK_FORMAT_UNKNOWN, FK_S("Attaching 1 probe...\n"), FK_E_FORMAT, "bpftrace");
    expect_survives(FK_FORMAT_UNKNOWN, fk_str_of(text));
    expect_cuts_are_harmless(FK_FORMAT_BPFTRACE, fk_str_of(text));
}

static void dtrace(void **state)
{
    (void)state;
    static const char text[] =
        "CPU     ID                    FUNCTION:NAME\n  0  64091   :tick-60s \n\n"
        "              genunix`fault\n              unix`trap+0x2c7\n"
        "              unix`0xfffb\n                2\n\n\n"
        "              0x104d08831\n\n              a`b\n                1\n"
        "  stray\n  7\n";
    struct decoded d;
    expect_decoded(FK_FORMAT_UNKNOWN, fk_str_of(text),
                   "{} samples/count\n0xfffb;trap;fault 2\nb;0x104d08831 1\n");
    assert_int_equal(decode(&d, FK_FORMAT_DTRACE, fk_str_of(text)), 0);
    assert_int_equal(item(&d, "no stack")->count, 2);
    decoded_free(&d);
    expect_decoded(FK_FORMAT_UNKNOWN, FK_S("  a`b\n  a`c\n  1\n"), "{} samples/count\nc;b 1\n");
    expect_refused(FK_FORMAT_DTRACE, FK_S("x\n\n"), FK_E_FORMAT, "DTrace");
    expect_survives(FK_FORMAT_UNKNOWN, fk_str_of(text));
    expect_cuts_are_harmless(FK_FORMAT_DTRACE, fk_str_of(text));
}

static void macos_sample(void **state)
{
    (void)state;
    static const char text[] =
        "Analysis of sampling rg (pid 6) every 2 milliseconds\nProcess: rg [6]\n----\n\nCall "
        "graph:\n"
        "    5 Thread_1   Main\n    + 5 start  (in libdyld.dylib) + 1  [0x7f]\n    +   3 main  (in "
        "rg) + 4  [0x1]\n"
        "    +   ! 1 ???  (in rg)  load address 0x1 + 0x2  [0x1a]\n    +   2 f  (in rg) + 4  "
        "[0x2]\n    + BAD\n"
        "    1 Thread_2\n      1 g  (in rg) + 9  [0x3]\n\nTotal number in stack\n        9 x\n";
    struct decoded d;
    expect_decoded(
        FK_FORMAT_UNKNOWN, fk_str_of(text),
        "{} samples/count wall/nanoseconds\nstart;main 2 4000000 [thread=Thread_1   Main]\n"
        "start;main;0x1a 1 2000000 [thread=Thread_1   Main]\n"
        "start;f 2 4000000 [thread=Thread_1   Main]\ng 1 2000000 [thread=Thread_2]\n");
    assert_int_equal(decode(&d, FK_FORMAT_MACOS_SAMPLE, fk_str_of(text)), 0);
    assert_int_equal(item(&d, "no node")->count, 1);
    decoded_free(&d);
    assert_int_equal(
        decode(&d, FK_FORMAT_MACOS_SAMPLE,
               FK_S("Analysis of sampling x\nCall graph:\n    1 T\n      1 a\n        2 b\n")),
        0);
    assert_true(fk_str_eq(fk_buf_view(&d.text), FK_S("{} samples/count\na;b 2 [thread=T]\n")));
    assert_non_null(item(&d, "less than its children"));
    decoded_free(&d);
    expect_refused(FK_FORMAT_UNKNOWN, FK_S("Analysis of sampling x\n"), FK_E_FORMAT, "Call graph");
    expect_survives(FK_FORMAT_UNKNOWN, fk_str_of(text));
    expect_cuts_are_harmless(FK_FORMAT_MACOS_SAMPLE, fk_str_of(text));
}

static void instruments(void **state)
{
    (void)state;
    static const char text[] =
        "Weight\tSelf Weight\t\tSymbol Names\n4.93 s  100.0%\t0 s\t \t   start\n"
        "2.45 s  0.0%\t846.00 ms\t \t    delta()\n2 \xc2\xb5s\t1.50 \xc2\xb5s\t \t     f\n"
        "1.00 s\t2.00 s\t \t    g\nodd\n1 x\t1 x\t \t  unit\n";
    struct decoded d;
    expect_decoded(
        FK_FORMAT_UNKNOWN, fk_str_of(text),
        "{} cpu/nanoseconds\nstart;delta() 846000000\nstart;delta();f 1500\nstart;g 2000000000\n");
    assert_int_equal(decode(&d, FK_FORMAT_INSTRUMENTS, fk_str_of(text)), 0);
    assert_int_equal(item(&d, "no row")->count, 2);
    decoded_free(&d);
    expect_decoded(
        FK_FORMAT_UNKNOWN,
        FK_S("Running Time\tSelf (ms)\t\tSymbol Name\n9.0ms 1%\t0\t \ta\n9.0ms  1%\t9\t \t b\n"),
        "{} cpu/nanoseconds\na;b 9000000\n");
    expect_decoded(FK_FORMAT_UNKNOWN,
                   FK_S("Bytes Used\tSelf\t\tSymbol Name\n1.50 KB\t1.50 KB\t \ta\n"),
                   "{} alloc_space/bytes\na 1536\n");
    expect_refused(FK_FORMAT_INSTRUMENTS, FK_S("a\tSelf\tSymbol Name\n"), FK_E_FORMAT,
                   "Instruments");
    expect_survives(FK_FORMAT_UNKNOWN, fk_str_of(text));
    expect_cuts_are_harmless(FK_FORMAT_INSTRUMENTS, fk_str_of(text));
}

static void callgrind(void **state)
{
    (void)state;
    static const char text[] =
        "# callgrind format\nversion: 1\npositions: instr line\nevents: Ir Dr\n\nob=(1) "
        "/bin/x\nfl=(1) a.c\n"
        "fn=(1) main\n0x10 16 20 1\n+4 * 5\ncfi=(2) b.c\ncfn=(2) f\ncalls=1 0x50 20\n0x18 16 400 "
        "9\n+1 -1 7 2\n"
        "fn=(2)\n0x50 20 30 3\nfi=(2)\n0x54 21 4\njump=1 0x50 20\nwhat\ntotals: 66 6\n";
    struct decoded d;
    expect_decoded(FK_FORMAT_UNKNOWN, fk_str_of(text),
                   "{} Ir/count Dr/count\nmain 25 1\nmain 7 2\nf 30 3\nf 4 0\n");
    assert_int_equal(decode(&d, FK_FORMAT_CALLGRIND, fk_str_of(text)), 0);
    assert_int_equal(d.last.n_comments, 1);
    assert_non_null(item(&d, "no stacks"));
    assert_int_equal(item(&d, "does not have")->count, 1);
    decoded_free(&d);
    expect_decoded(FK_FORMAT_UNKNOWN,
                   FK_S("version: 1\ncreator: xdebug\nevents: Time_(10ns) "
                        "Memory_(bytes)\n\nfl=x\nfn=???\n3 4 5\n"),
                   "{} Time/10ns Memory_(bytes)/count\n[unknown] 4 5\n");
    expect_refused(FK_FORMAT_CALLGRIND, FK_S("fn=x\n1 2\n"), FK_E_FORMAT, "events");
    expect_survives(FK_FORMAT_UNKNOWN, fk_str_of(text));
    expect_cuts_are_harmless(FK_FORMAT_CALLGRIND, fk_str_of(text));
}

// ---- simpleperf ----

static void put_record(struct fk_buf *to, struct fk_buf *message)
{
    fk_buf_le32(to, (uint32_t)message->n);
    fk_buf_str(to, fk_buf_view(message));
    fk_buf_clear(message);
}

static void put_sample(struct fk_buf *to, uint64_t time, uint64_t event, uint64_t symbol)
{
    FK_AUTO_BUF m;
    fk_buf_init(&m, 0);
    size_t record = fk_pb_begin(&m, 1);
    fk_pb_u64(&m, 1, time);
    fk_pb_u64(&m, 2, 11);
    size_t chain = fk_pb_begin(&m, 3);
    fk_pb_u64(&m, 1, 0x40);
    fk_pb_u64(&m, 2, 1);
    fk_pb_u64(&m, 3, symbol);
    fk_pb_end(&m, chain);
    fk_pb_u64(&m, 4, 250);
    fk_pb_u64(&m, 5, event);
    fk_pb_end(&m, record);
    put_record(to, &m);
}

static void put_trace(struct fk_buf *to)
{
    FK_AUTO_BUF m;
    fk_buf_init(&m, 0);
    fk_buf_put(to, "SIMPLEPERF\1\0", 12);
    size_t record = fk_pb_begin(&m, 5);
    fk_pb_bytes(&m, 1, FK_S("cpu-clock"));
    fk_pb_bytes(&m, 1, FK_S("sched:x"));
    fk_pb_end(&m, record);
    put_record(to, &m);
    put_sample(to, 5, 0, 0);
    put_sample(to, 7, 0, UINT64_MAX); // -1: its symbol is not known
    put_sample(to, 9, 1, 0);
    record = fk_pb_begin(&m, 3);
    fk_pb_u64(&m, 1, 1);
    fk_pb_bytes(&m, 2, FK_S("/lib/a.so"));
    fk_pb_bytes(&m, 3, FK_S("f"));
    fk_pb_end(&m, record);
    put_record(to, &m);
    record = fk_pb_begin(&m, 4);
    fk_pb_u64(&m, 1, 11);
    fk_pb_u64(&m, 2, 10);
    fk_pb_bytes(&m, 3, FK_S("main"));
    fk_pb_end(&m, record);
    put_record(to, &m);
    record = fk_pb_begin(&m, 4); // said again: the first holds
    fk_pb_u64(&m, 1, 11);
    fk_pb_bytes(&m, 3, FK_S("other"));
    fk_pb_end(&m, record);
    put_record(to, &m);
    fk_buf_le32(to, 0);
}

// The same thread and file said over and over must not be searched through each time.
static void simpleperf_repeats(void **state)
{
    (void)state;
    struct decoded d;
    FK_AUTO_BUF b;
    fk_buf_init(&b, 0);
    fk_buf_put(&b, "SIMPLEPERF\1\0", 12);
    for (int i = 0; i < 400000; i++)
        fk_buf_put(&b, i % 2 ? "\2\0\0\0\x22\0" : "\2\0\0\0\x1a\0", 6);
    put_sample(&b, 5, 0, 0);
    fk_buf_le32(&b, 0);
    assert_int_equal(decode(&d, FK_FORMAT_SIMPLEPERF, fk_buf_view(&b)), 0);
    assert_int_equal(d.last.n_rows, 1);
    decoded_free(&d);
}

static void simpleperf(void **state)
{
    (void)state;
    FK_AUTO_BUF b;
    fk_buf_init(&b, 0);
    put_trace(&b);
    expect_decoded(
        FK_FORMAT_UNKNOWN, fk_buf_view(&b),
        "{event=\"cpu-clock\"} samples/count cpu/nanoseconds\n"
        "f 1 250 [tid=11 pid=10 thread=main] @5\n0x40 1 250 [tid=11 pid=10 thread=main] @7\n"
        "{event=\"sched:x\"} sched:x/count events/count\n"
        "f 250 1 [tid=11 pid=10 thread=main] @9\n");
    expect_survives(FK_FORMAT_UNKNOWN, fk_buf_view(&b));
    expect_cuts_are_harmless(FK_FORMAT_SIMPLEPERF, fk_buf_view(&b));
    expect_refused(FK_FORMAT_UNKNOWN, FK_S("SIMPLEPERF\2\0"), FK_E_UNSUPPORTED, "version 2");
    expect_refused(FK_FORMAT_UNKNOWN, FK_S("SIMPLEPERF\1\0\5\0\0\0\1"), FK_E_FORMAT, "offset 12");
    expect_refused(FK_FORMAT_SIMPLEPERF, FK_S("SIMPLE"), FK_E_FORMAT, "begin");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bpftrace),           cmocka_unit_test(dtrace),
        cmocka_unit_test(macos_sample),       cmocka_unit_test(instruments),
        cmocka_unit_test(callgrind),          cmocka_unit_test(simpleperf),
        cmocka_unit_test(simpleperf_repeats),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
