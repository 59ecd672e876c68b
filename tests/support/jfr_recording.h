// SPDX-License-Identifier: Apache-2.0
// A small JFR recording with one type of each event that is read, and what became of it: shared by
// the tests of the JFR decoder.
#ifndef FK_TESTS_SUPPORT_JFR_RECORDING_H
#define FK_TESTS_SUPPORT_JFR_RECORDING_H

#include "formats/formats.h"

#include "support/jfr_make.h"
#include "support/test.h"

enum {
    LONG = 10,
    INT,
    BOOLEAN,
    STRING,
    CLASS = 20,
    SYMBOL,
    METHOD,
    FRAME,
    TRACE,
    THREAD,
    STATE,
    EXECUTION = 30,
    IN_TLAB,
    OUTSIDE_TLAB,
    ALLOCATION,
    LIVE,
    MALLOC,
    MONITOR,
    PARK,
    WALL,
    CPU_TIME,
    NATIVE,
    SETTING,
    LOST,
    OLD_OBJECT,
};

#define WHO    "startTime:10:T stackTrace:24:r eventThread:25:r "
#define SAMPLE "startTime:10:T sampledThread:25:r stackTrace:24:r state:26:r"

static const struct jm_type types[] = {
    {LONG, "long", ""},
    {INT, "int", ""},
    {BOOLEAN, "boolean", ""},
    {STRING, "java.lang.String", ""},
    {CLASS, "java.lang.Class", "name:21:r"},
    {SYMBOL, "jdk.types.Symbol", "string:13"},
    {METHOD, "jdk.types.Method", "type:20:r name:21:r"},
    {FRAME, "jdk.types.StackFrame", "method:22:r lineNumber:11"},
    {TRACE, "jdk.types.StackTrace", "truncated:12 frames:23:a"},
    {THREAD, "java.lang.Thread", "osName:13 osThreadId:10 javaName:13 javaThreadId:10"},
    {STATE, "jdk.types.ThreadState", "name:13"},
    {EXECUTION, "jdk.ExecutionSample",
     SAMPLE " contextId:10 spanId:10 spanName:10 traceIdHi:10 traceIdLo:10"},
    {IN_TLAB, "jdk.ObjectAllocationInNewTLAB", WHO "objectClass:20:r tlabSize:10"},
    {OUTSIDE_TLAB, "jdk.ObjectAllocationOutsideTLAB", WHO "objectClass:20:r allocationSize:10"},
    {ALLOCATION, "jdk.ObjectAllocationSample", WHO "objectClass:20:r weight:10"},
    {LIVE, "profiler.LiveObject", WHO "objectClass:20:r allocationSize:10"},
    {MALLOC, "profiler.Malloc", WHO "address:10 size:10"},
    {MONITOR, "jdk.JavaMonitorEnter", WHO "monitorClass:20:r duration:10:T"},
    {PARK, "jdk.ThreadPark", WHO "parkedClass:20:r duration:10:N"},
    {WALL, "profiler.WallClockSample", SAMPLE " samples:11"},
    {CPU_TIME, "jdk.CPUTimeSample", WHO "failed:12 samplingPeriod:10:T"},
    {NATIVE, "jdk.NativeMethodSample", SAMPLE},
    {SETTING, "jdk.ActiveSetting", "startTime:10:T id:10 name:13 value:13"},
    {LOST, "jdk.CPUTimeSamplesLost", "startTime:10:T lostSamples:11 eventThread:25:r"},
    {OLD_OBJECT, "jdk.OldObjectSample", WHO "objectAge:10:T"},
};

#define START_NS 1700000000000000000u

static inline void begin(struct jfr_make *m, bool fixed)
{
    *m = (struct jfr_make){.fixed = fixed,
                           .start_ns = START_NS,
                           .start_ticks = 1000,
                           .ticks_per_second = 2000000000}; // a tick is half a nanosecond
    jm_begin(m);
}

// Symbols, classes, methods in one checkpoint; stacks, threads, states in the next.
static inline void constants(struct jfr_make *m)
{
    FK_AUTO_BUF b;
    fk_buf_init(&b, 0);
    jm_put(m, &b, "li ltltltltlt", (long)SYMBOL, 5, 1L, "a/Main", 2L, "run", 3L, "work", 4L, "[J",
           5L, "a/Work$$Lambda$7/0x0000000800c03000");
    jm_put(m, &b, "li llllll", (long)CLASS, 3, 1L, 1L, 2L, 4L, 3L, 5L);
    jm_put(m, &b, "li lllllllll", (long)METHOD, 3, 1L, 1L, 2L, 2L, 1L, 3L, 3L, 3L, 2L);
    jm_checkpoint(m, 3, fk_buf_view(&b));
    fk_buf_clear(&b);
    jm_put(m, &b, "li", (long)TRACE, 3);
    jm_put(m, &b, "lbilili", 1L, 0, 2, 2L, 20, 1L, 10);
    jm_put(m, &b, "lbilili", 2L, 1, 2, 3L, -1, 1L, 11);
    jm_put(m, &b, "lbi", 3L, 0, 0);
    jm_put(m, &b, "li ltltl ltltl", (long)THREAD, 2, 1L, "os1", 4711L, "main", 1L, 2L, "os2", 0L,
           (const char *)NULL, 30L);
    jm_put(m, &b, "li ltltlt", (long)STATE, 3, 1L, "STATE_RUNNABLE", 2L, "STATE_SLEEPING", 3L,
           "STATE_DEFAULT");
    jm_checkpoint(m, 3, fk_buf_view(&b));
}

static inline void sample(struct jfr_make *m, long ticks, long stack, long state)
{
    jm_event(m, EXECUTION, "lllllllll", 1000 + ticks, 1L, stack, state, 0L, 0L, 0L, 0L, 0L);
}

static inline void end(struct jfr_make *m, struct fk_buf *to)
{
    constants(m);
    jm_metadata(m, types, FK_COUNTOF(types));
    jm_end(m, 2, 1, to);
}

// ---- what was decoded ----

#define MAX_SEEN 16
struct seen {
    struct fk_profile p[MAX_SEEN];
    struct fk_entry e[MAX_SEEN];
    size_t n;
    struct fk_report report;
    struct fk_arena arena;
    struct fk_err err;
};

static inline int keep(void *arg, struct fk_entry *e, struct fk_profile *p, struct fk_err *err)
{
    struct seen *s = arg;
    s->p[s->n % MAX_SEEN] = *p;
    s->e[s->n++ % MAX_SEEN] = *e;
    return fk_profile_validate(p, err);
}

static inline int decode_with(struct seen *s, struct fk_str bytes, const struct fk_decode_opts *o)
{
    memset(s, 0, sizeof(*s));
    fk_arena_init(&s->arena, 0);
    return fk_decode(FK_FORMAT_UNKNOWN, bytes, o, &s->arena, (struct fk_each_profile){keep, s},
                     &s->report, &s->err);
}

static inline int decode(struct seen *s, struct fk_str bytes)
{
    static struct fk_limits l;
    l = fk_limits_default();
    struct fk_decode_opts o = fk_decode_opts_push(&l);
    return decode_with(s, bytes, &o);
}

static inline void decode_chunk(struct seen *s, struct jfr_make *m)
{
    FK_AUTO_BUF file;
    fk_buf_init(&file, 0);
    end(m, &file);
    if (decode(s, fk_buf_view(&file)))
        fail_msg("%s", s->err.msg);
}

static inline struct fk_str label(const struct seen *s, size_t i, const char *name)
{
    return fk_labels_get(&s->e[i].labels, fk_str_of(name));
}

static inline void expect(const struct seen *s, size_t i, const char *name, const char *type0,
                          int64_t total0)
{
    assert_true(i < s->n);
    if (!fk_str_eq(label(s, i, "__name__"), fk_str_of(name)) ||
        !fk_str_eq(s->e[i].type[0].type, fk_str_of(type0)) || s->e[i].type[0].total != total0)
        fail_msg("profile %zu is %.*s %.*s %lld", i, FK_STR_ARG(label(s, i, "__name__")),
                 FK_STR_ARG(s->e[i].type[0].type), (long long)s->e[i].type[0].total);
}

static inline void expect_amount(const struct seen *s, size_t i, const char *type, int64_t total)
{
    assert_int_equal(s->e[i].n_types, 2);
    assert_true(fk_str_eq(s->e[i].type[1].type, fk_str_of(type)));
    assert_int_equal(s->e[i].type[1].total, total);
}

// "leaf<root" of a row, and one of its attributes.
static inline void expect_stack(const struct fk_profile *p, uint64_t row, const char *want)
{
    FK_AUTO_BUF b;
    fk_buf_init(&b, 0);
    for (uint32_t i = p->sym.stack_begin[p->stack[row]]; i < p->sym.stack_begin[p->stack[row] + 1];
         i++) {
        const struct fk_line *line = &p->sym.line[p->sym.location[p->sym.frame[i]].line_begin];
        fk_buf_printf(&b, "%s%.*s:%d", b.n ? "<" : "",
                      FK_STR_ARG(p->sym.string[p->sym.function[line->function].name]),
                      (int)line->line);
    }
    if (!fk_str_eq(fk_buf_view(&b), fk_str_of(want)))
        fail_msg("stack '%.*s'", FK_STR_ARG(fk_buf_view(&b)));
}

static inline struct fk_str attr(const struct fk_profile *p, uint64_t row, const char *key)
{
    uint32_t set = p->set[row];
    for (uint32_t i = p->sym.set_begin[set]; i < p->sym.set_begin[set + 1]; i++)
        if (fk_str_eq(p->sym.string[p->sym.attr[i].key], fk_str_of(key)))
            return p->sym.string[p->sym.attr[i].str];
    return FK_S("");
}

static inline void expect_attr(const struct fk_profile *p, uint64_t row, const char *key,
                               const char *want)
{
    if (!fk_str_eq(attr(p, row, key), fk_str_of(want)))
        fail_msg("%s is '%.*s'", key, FK_STR_ARG(attr(p, row, key)));
}

static inline const struct fk_report_item *item(const struct seen *s, const char *reason)
{
    for (uint32_t i = 0; i < s->report.n; i++)
        if (strstr(s->report.item[i].reason, reason))
            return &s->report.item[i];
    return NULL;
}

// contexts {1: {0: 1}, 2: {0: 1, 2: 3}}, strings {0: handler, 1: search, 2: tier, 3: gold, 9: GET}
static inline void put_snapshot(struct fk_buf *b)
{
    static const char *const strings[] = {"handler", "search", "tier", "gold"};
    for (uint64_t id = 1; id <= 2; id++) {
        size_t entry = fk_pb_begin(b, 1);
        fk_pb_u64(b, 1, id);
        size_t context = fk_pb_begin(b, 2);
        for (uint64_t i = 0; i < 2 * id; i += 2) {
            size_t pair = fk_pb_begin(b, 1);
            fk_pb_u64(b, 1, i);
            fk_pb_u64(b, 2, i + 1);
            fk_pb_end(b, pair);
        }
        fk_pb_end(b, context);
        fk_pb_end(b, entry);
    }
    for (uint64_t i = 0; i < 5; i++) {
        size_t entry = fk_pb_begin(b, 2);
        fk_pb_u64(b, 1, i < 4 ? i : 9);
        fk_pb_bytes(b, 2, i < 4 ? fk_str_of(strings[i]) : FK_S("GET"));
        fk_pb_end(b, entry);
    }
}

#endif
