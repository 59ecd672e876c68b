// SPDX-License-Identifier: Apache-2.0
// Profiles from before pprof's protobuf: gperftools' CPU profile, the text forms, jemalloc.
#include "support/decoded.h"

static const char heap_v2[] =
    "heap profile:      3:     3000 [     3:     3000] @ heapz_v2/524288\n"
    "     1:     1000 [     1:     1000] @ 0x401005 0x402006\n"
    "     2:     2000 [     2:     2000] @ 0x401005\n"
    "nonsense\n"
    "MAPPED_LIBRARIES:\n"
    "00400000-00500000 r-xp 00001000 08:01 7   /bin/server\n"
    "00600000-00700000 rw-p 00000000 08:01 7   /bin/server\n";

static void heap(void **state)
{
    (void)state;
    struct decoded d;
    // Seen with 1 - exp(-1000/524288): each stands for 524.788 of its size.
    expect_decoded(FK_FORMAT_UNKNOWN, fk_str_of(heap_v2),
                   "{} inuse_objects/count inuse_space/bytes\n"
                   "0x3005;0x2004 524 524788\n0x2004 1049 1049576\n");
    assert_int_equal(decode(&d, FK_FORMAT_LEGACY_TEXT, fk_str_of(heap_v2)), 0);
    assert_int_equal(d.last.n_placements, 1);
    assert_int_equal(d.last.placement[0].start, 0x400000);
    assert_int_equal(d.last.period, 524288);
    assert_int_equal(item(&d, "no entry")->count, 1);
    decoded_free(&d);
    // Go: twice the rate; symbols, inlined calls, statistics at the end.
    expect_decoded(FK_FORMAT_UNKNOWN,
                   FK_S("heap profile: 1: 16 [4: 64] @ heap/2\n"
                        "1: 16 [4: 64] @ 0x11 0x21\n"
                        "#\t0x10\tmain.inner+0x5\t/g.go:7\n#\t0x10\tmain.outer+0x5\t/g.go:9\n"
                        "#\t0x20\tmain.main+0x6\t/g.go:1\n\n# runtime.MemStats\n# Alloc = 5\n"),
                   "{} alloc_objects/count alloc_space/bytes inuse_objects/count "
                   "inuse_space/bytes\nmain.main;main.outer;main.inner 4 64 1 16\n");
    expect_decoded(
        FK_FORMAT_UNKNOWN,
        FK_S("heap profile: 1: 16 [0: 0] @ growthz\n 1: 16 [0: 0] @ 0x11\n 0: 0 [0: 0] @\n"),
        "{} growth_objects/count growth_space/bytes\n0x10 1 16\n 0 0\n");
    expect_refused(FK_FORMAT_LEGACY_TEXT, FK_S("heap profile: x\n"), FK_E_FORMAT, "first line");
    expect_refused(FK_FORMAT_LEGACY_TEXT, FK_S("heap\n"), FK_E_FORMAT, "none of the text profiles");
}

static void jemalloc(void **state)
{
    (void)state;
    static const char dump[] = "heap_v2/1\n  t*: 5: 500 [0: 0]\n  t0: 5: 500 [0: 0]\n"
                               "@ 0x11 0x21\n  t*: 2: 200 [0: 0]\n  t0: 2: 200 [0: 0]\n"
                               "@ 0x31\n  t*: 3: 300 [0: 0]\n\nMAPPED_LIBRARIES:\n";
    expect_decoded(FK_FORMAT_UNKNOWN, fk_str_of(dump),
                   "{} inuse_objects/count inuse_space/bytes\n0x20;0x10 2 200\n0x30 3 300\n");
    expect_decoded(FK_FORMAT_UNKNOWN, FK_S("heap_v2/524288\n@ 0x1\n t*: 1: 1000 [1: 1000]\n"),
                   "{} alloc_objects/count alloc_space/bytes inuse_objects/count "
                   "inuse_space/bytes\n0x0 524 524788 524 524788\n");
    expect_refused(FK_FORMAT_JEMALLOC, FK_S("heap_v2/x\n"), FK_E_FORMAT, "rate");
    expect_survives(FK_FORMAT_UNKNOWN, fk_str_of(dump));
    expect_cuts_are_harmless(FK_FORMAT_JEMALLOC, fk_str_of(dump));
}

static void contention(void **state)
{
    (void)state;
    expect_decoded(
        FK_FORMAT_UNKNOWN,
        FK_S("--- contentionz 1 ---\ncycles/second = 2000000000\nsampling period = 100\n"
             "  300  2 @ 0x11 0x21\nodd\n--- Memory map: ---\n  00000000-00001000: prog\n"),
        "{} contentions/count delay/nanoseconds\n0x20;0x10 200 15000\n");
    expect_decoded(FK_FORMAT_UNKNOWN,
                   FK_S("--- mutex:\ncycles/second=1000000000\nsampling period=1\n7 1 @ 0x11\n"
                        "#\t0x10\tsync.(*Mutex).Unlock+0x1\t/m.go:2\n\n"),
                   "{__name__=\"mutex\"} contentions/count delay/nanoseconds\n"
                   "sync.(*Mutex).Unlock 1 7\n");
    expect_decoded(FK_FORMAT_UNKNOWN,
                   FK_S("--- contention:\ncycles/second=1000000000\n7 1 @ 0x11\n"),
                   "{__name__=\"block\"} contentions/count delay/nanoseconds\n0x10 1 7\n");
    expect_decoded(FK_FORMAT_UNKNOWN,
                   FK_S("--- contentionz 1 ---\nformat = java\nresolution = microseconds\n"
                        "sampling period = 10\n 3 2 @ 0x1 0x2\n\n 0x01 a.b.f (B.java:3)\n"
                        " 0x02 a.b.g (Native)\n"),
                   "{} contentions/count delay/nanoseconds\na.b.g;a.b.f 20 30000\n");
    expect_decoded(
        FK_FORMAT_UNKNOWN,
        FK_S("--- heapz 1 ---\nformat = java\nresolution = bytes\n 1 1000 @ 0x1\n 0x1 f (x)\n"),
        "{} inuse_objects/count inuse_space/bytes\nf 524 524788\n");
}

// Of regions that overlap the first one holds; a region that is mapped again is another mapping.
// And many of them cost no more than they are: each address is looked up.
static void many_mappings(void **state)
{
    (void)state;
    struct decoded d;
    FK_AUTO_BUF b;
    fk_buf_init(&b, 0);
    const uint64_t n = 100000;
    assert_int_equal(
        decode(&d, FK_FORMAT_LEGACY_TEXT,
               FK_S("heap profile: 1: 1 [1: 1] @ heapprofile\n1: 1 [1: 1] @ 0x1801 0x2801\n"
                    "MAPPED_LIBRARIES:\n2000-3000 r-xp 0 0:0 0 /b\n1000-4000 r-xp 0 0:0 0 /a\n"
                    "1000-2000 r-xp 0 0:0 0 /a\n")),
        0);
    assert_true(fk_str_eq(fk_buf_view(&d.text),
                          FK_S("{} inuse_objects/count inuse_space/bytes\n0x800;0x800 1 1\n")));
    assert_int_equal(d.last.n_placements, 3);
    assert_int_equal(d.last.sym.mapping[d.last.placement[1].mapping].ordinal, 0);
    assert_int_equal(d.last.sym.mapping[d.last.placement[2].mapping].ordinal, 1);
    decoded_free(&d);
    fk_buf_cstr(&b, "heap profile: 1: 1 [1: 1] @ heapprofile\n");
    for (uint64_t i = 1; i <= n; i++)
        fk_buf_printf(&b, "1: 1 [1: 1] @ 0x%llx\n", (unsigned long long)(i * 4096 + 9));
    fk_buf_cstr(&b, "MAPPED_LIBRARIES:\n");
    for (uint64_t i = 1; i <= n; i++)
        fk_buf_printf(&b, "%llx-%llx r-xp 0 0:0 0 /a\n", (unsigned long long)(i * 4096),
                      (unsigned long long)(i * 4096 + 4096));
    assert_int_equal(decode(&d, FK_FORMAT_LEGACY_TEXT, fk_buf_view(&b)), 0);
    assert_int_equal(d.last.n_placements, n);
    assert_int_equal(d.last.n_rows, n);
    decoded_free(&d);
}

static void counts_and_threads(void **state)
{
    (void)state;
    expect_decoded(
        FK_FORMAT_UNKNOWN,
        FK_S("goroutine profile: total 3\n2 @ 0x11 0x21\n# labels: {\"k\":\"v\", \"k2\":\"w\"}\n"
             "#\t0x10\tmain.f+0x1\t/g.go:7\n\n1 @\n#\t0x0\n\n"),
        "{} goroutine/count\n0x20;main.f 2 [k=v k2=w]\n 1\n");
    expect_decoded(FK_FORMAT_UNKNOWN, FK_S("threadcreate profile: total 1\n1 @ 0x11\nodd\n--- x\n"),
                   "{} threadcreate/count\n0x10 1\n");
    expect_decoded(
        FK_FORMAT_UNKNOWN,
        FK_S("--- threadz 1 ---\n\n--- Thread 7f (name: main/1) stack: ---\n  PC:  0x0011: "
             "helper(arg *)\n"
             "  0x0021: main\n--- Thread 7e (name: t/2) stack: ---\n   [same as previous thread]\n"
             "--- Thread 7d (name: u/3) stack: ---\n  PC: 0x31 0x41\n      creator: 0x51\n"
             "--- Memory map: ---\n  00000000-00001000: prog\n"),
        "{} thread/count\nmain;helper(arg *) 1 [thread=main/1]\nmain;helper(arg *) 1 [thread=t/2]\n"
        "0x50;0x40;0x31 1 [thread=u/3]\n");
}

static void goroutines(void **state)
{
    (void)state;
    static const char dump[] =
        "goroutine 1 [running]:\nmain.(*T).f({0x1, 0x2}, 0x3)\n\t/g.go:12 "
        "+0x9f\nmain.main()\n\t/g.go:3\n\n"
        "goroutine 7 gp=0x1 m=nil [chan receive, 12 minutes, locked to thread]:\n"
        "runtime.gopark(0x0?)\n\t/p.go:1 +0x1\ncreated by main.main in goroutine 1\n\t/g.go:8 "
        "+0x1ce\n";
    struct decoded d;
    expect_decoded(
        FK_FORMAT_UNKNOWN, fk_str_of(dump),
        "{} goroutine/count\nmain.main;main.(*T).f 1 [state=running]\n"
        "runtime.gopark 1 [state=chan receive waiting=12minutes created_by=main.main]\n");
    assert_int_equal(decode(&d, FK_FORMAT_LEGACY_TEXT, fk_str_of(dump)), 0);
    assert_int_equal(d.last.sym.line[0].line, 12);
    decoded_free(&d);
    expect_survives(FK_FORMAT_UNKNOWN, fk_str_of(dump));
    expect_cuts_are_harmless(FK_FORMAT_LEGACY_TEXT, fk_str_of(dump));
}

// The same profile in words of either size and order.
static void put_word(struct fk_buf *b, uint64_t v, int size, bool big)
{
    for (int i = 0; i < size; i++)
        fk_buf_byte(b, (uint8_t)(v >> 8 * (big ? size - 1 - i : i)));
}

static void put_cpu(struct fk_buf *b, int size, bool big, bool java, const char *tail)
{
    static const uint64_t words[] = {0, 3, 0,    10000, 0,    // header
                                     2, 3, 0x11, 0x99,  0x21, // 0x99 is the signal's handler
                                     5, 2, 0x31, 0x99,        // in all of them
                                     0, 1, 0};
    for (size_t i = 0; i < FK_COUNTOF(words); i++)
        put_word(b, i == 2 ? java : words[i], size, big);
    fk_buf_cstr(b, tail);
}

static void gperftools(void **state)
{
    (void)state;
    for (int form = 0; form < 4; form++) {
        FK_AUTO_BUF b;
        fk_buf_init(&b, 0);
        put_cpu(&b, form & 1 ? 4 : 8, form & 2, false,
                "00000000-00001000 r-xp 00000000 00:00 0 /prog\n");
        expect_decoded(FK_FORMAT_UNKNOWN, fk_buf_view(&b),
                       "{} samples/count cpu/nanoseconds\n0x20;0x11 2 20000000\n0x31 5 50000000\n");
        if (form == 0) {
            expect_survives(FK_FORMAT_UNKNOWN, fk_buf_view(&b));
            expect_cuts_are_harmless(FK_FORMAT_GPERFTOOLS, fk_buf_view(&b));
        }
        struct decoded d; // cut off within the second record
        assert_int_equal(
            decode(&d, FK_FORMAT_UNKNOWN, fk_str_head(fk_buf_view(&b), form & 1 ? 50 : 100)), 0);
        assert_int_equal(d.last.n_rows, 1);
        assert_int_equal(item(&d, "cut off")->count, 1);
        decoded_free(&d);
    }
    FK_AUTO_BUF java;
    fk_buf_init(&java, 0);
    put_cpu(&java, 4, true, true, "0x11 a.f (A.java:3)\n0x21 a.g (A.java:9)\n0x31 a.h (Native)\n");
    expect_decoded(FK_FORMAT_UNKNOWN, fk_buf_view(&java),
                   "{} samples/count cpu/nanoseconds\na.g;a.f 2 20000000\na.h 5 50000000\n");
    expect_refused(FK_FORMAT_GPERFTOOLS, FK_S("abc"), FK_E_FORMAT, "header");
}

// As `jeprof --raw` and `pprof --raw` write it.
static void symbols_in_front(void **state)
{
    (void)state;
    static const char heap_of[] =
        "--- symbol\nbinary=/bin/x\n0x10 outer<0000000000001159>--operator----T::f<int>\n"
        "0x20 main\n---\n--- heap\nheap_v2/1\n@ 0x11 0x21 0x31\n  t*: 2: 200 [0: 0]\n";
    expect_decoded(FK_FORMAT_UNKNOWN, fk_str_of(heap_of),
                   "{} inuse_objects/count inuse_space/bytes\n"
                   "0x30;main;outer;operator--;T::f<int> 2 200\n");
    expect_decoded(FK_FORMAT_UNKNOWN,
                   FK_S("--- symbol\n0x10 f\n---\n--- growth\n"
                        "heap profile: 1: 16 [0: 0] @ growthz\n 1: 16 [0: 0] @ 0x11\n"),
                   "{} growth_objects/count growth_space/bytes\nf 1 16\n");
    FK_AUTO_BUF b;
    fk_buf_init(&b, 0);
    fk_buf_cstr(&b, "--- symbol\n0x11 leaf\n0x20 main\n---\n--- profile\n");
    put_cpu(&b, 8, false, false, "");
    expect_decoded(FK_FORMAT_UNKNOWN, fk_buf_view(&b),
                   "{} samples/count cpu/nanoseconds\nmain;leaf 2 20000000\n0x31 5 50000000\n");
    expect_survives(FK_FORMAT_UNKNOWN, fk_str_of(heap_of));
    expect_cuts_are_harmless(FK_FORMAT_LEGACY_TEXT, fk_str_of(heap_of));
    expect_refused(FK_FORMAT_UNKNOWN, FK_S("--- symbol\n0x10 f\n---\n"), FK_E_FORMAT, "ends after");
    expect_refused(FK_FORMAT_UNKNOWN, FK_S("--- symbol\n---\n--- heap\nx\n"), FK_E_FORMAT,
                   "follows the symbols");
}

static void survives_lack_of_memory(void **state)
{
    (void)state;
    expect_survives(FK_FORMAT_UNKNOWN, fk_str_of(heap_v2));
    expect_cuts_are_harmless(FK_FORMAT_LEGACY_TEXT, fk_str_of(heap_v2));
    expect_survives(FK_FORMAT_UNKNOWN, FK_S("--- contention:\n7 1 @ 0x11\n#\t0x10\tf\tx:2\n"));
    expect_survives(FK_FORMAT_UNKNOWN,
                    FK_S("goroutine profile: total 1\n1 @ 0x1\n# labels: {\"a\\n\":\"b\"}\n"));
    expect_survives(FK_FORMAT_UNKNOWN,
                    FK_S("--- threadz 1 ---\n--- Thread 7 (name: a/1) stack: ---\n PC: 0x1\n"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(heap),
        cmocka_unit_test(jemalloc),
        cmocka_unit_test(contention),
        cmocka_unit_test(many_mappings),
        cmocka_unit_test(counts_and_threads),
        cmocka_unit_test(goroutines),
        cmocka_unit_test(gperftools),
        cmocka_unit_test(symbols_in_front),
        cmocka_unit_test(survives_lack_of_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
