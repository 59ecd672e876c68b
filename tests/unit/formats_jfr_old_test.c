// SPDX-License-Identifier: Apache-2.0
// JFR 0.9, as JDK 7 and 8 and JRockit wrote it: everything of fixed width, the metadata last.
#include "formats/formats.h"

#include "support/jfr_make.h"
#include "support/test.h"

enum { U1 = 2, INT = 5, U4 = 6, LONG = 7, U8 = 8, UTF8 = 11, STRING = 12, STRUCT = 14, STRUCTS };
enum { NONE, MEMORY, MILLIS = 3, THREAD = 7, TRACE = 9, CLASS, METHOD = 32, UTF, STATE };
#define START_MS 1500000000000u

static void text(struct fk_buf *b, const char *s)
{
    jm_fixed(b, strlen(s), 2);
    fk_buf_cstr(b, s);
}

// ---- metadata ----

struct field {
    const char *name;
    int data, content, inner;
};

static void structure(struct fk_buf *b, const struct field *f, int n)
{
    jm_fixed(b, (uint64_t)n, 4);
    for (int i = 0; i < n; i++) {
        text(b, f[i].name);
        text(b, "shown");
        text(b, "");
        fk_buf_byte(b, 0);
        fk_buf_byte(b, (uint8_t)f[i].data);
        jm_fixed(b, (uint64_t)f[i].content, 4);
        jm_fixed(b, (uint64_t)f[i].inner, 4);
        jm_fixed(b, 0, 4);
    }
}

static void structures(struct fk_buf *b)
{
    static const struct field text_[] = {{"utf8", UTF8, NONE, 0}},
                              class_[] = {{"loaderClass", U8, CLASS, 0}, {"name", U8, UTF, 0}},
                              method[] = {{"class", U8, CLASS, 0}, {"name", U8, UTF, 0}},
                              frame[] = {{"method", U8, METHOD, 0}, {"line", INT, NONE, 0}},
                              trace[] = {{"truncated", 0, NONE, 0}, {"frames", STRUCTS, NONE, 3}},
                              named[] = {{"name", UTF8, NONE, 0}},
                              sample[] = {{"sampledThread", U4, THREAD, 0},
                                          {"stackTrace", U8, TRACE, 0},
                                          {"state", 4, STATE, 0}},
                              object[] = {{"class", U8, CLASS, 0}, {"tlabSize", U8, MEMORY, 0}},
                              alloc[] = {{"object", STRUCT, NONE, 7}},
                              park[] = {{"klass", U8, CLASS, 0}},
                              setting[] = {{"period", LONG, MILLIS, 0},
                                           {"path", STRING, NONE, 0},
                                           {"id", INT, NONE, 0}},
                              array[] = {{"bytes", 13, NONE, U1}};
    jm_fixed(b, 12, 4);
    structure(b, text_, 1);
    structure(b, class_, 2);
    structure(b, method, 2);
    structure(b, frame, 2);
    structure(b, trace, 2);
    structure(b, named, 1);
    structure(b, sample, 3);
    structure(b, object, 2);
    structure(b, alloc, 1);
    structure(b, park, 1);
    structure(b, setting, 3);
    structure(b, array, 1);
}

static void event_type(struct fk_buf *b, int id, const char *path, const char *has, int body)
{
    jm_fixed(b, (uint64_t)id, 4);
    text(b, "name");
    text(b, "");
    text(b, path);
    for (int i = 0; i < 4; i++)
        fk_buf_byte(b, has[i] == '1');
    jm_fixed(b, (uint64_t)body, 4);
    jm_fixed(b, 0, 4);
}

static void content_type(struct fk_buf *b, int id, int key, int body)
{
    jm_fixed(b, (uint64_t)id, 4);
    text(b, "name");
    text(b, "");
    fk_buf_byte(b, (uint8_t)key);
    jm_fixed(b, (uint64_t)body, 4);
}

static void metadata(struct fk_buf *b, uint64_t checkpoint)
{
    jm_fixed(b, 0, 4); // type of the event
    jm_fixed(b, 1, 4); // producers
    jm_fixed(b, 1, 4);
    text(b, "JVM");
    text(b, "");
    text(b, "http://example.com/");
    jm_fixed(b, 1, 4); // relations
    text(b, "id");
    structures(b);
    jm_fixed(b, 5, 4);
    event_type(b, 60, "vm/prof/execution_sample", "0001", 6);
    event_type(b, 45, "java/object_alloc_in_new_tla", "1110", 8);
    event_type(b, 6, "java/thread_park", "1110", 9);
    event_type(b, 70, "recordings/recording_setting", "0000", 10);
    event_type(b, 71, "something/else", "0000", 11);
    jm_fixed(b, 6, 4);
    content_type(b, UTF, U8, 0);
    content_type(b, CLASS, U8, 1);
    content_type(b, METHOD, U8, 2);
    content_type(b, TRACE, U8, 4);
    content_type(b, THREAD, U4, 5);
    content_type(b, STATE, 4, 5);
    jm_fixed(b, START_MS, 8);
    jm_fixed(b, START_MS + 3000, 8);
    jm_fixed(b, 1000, 8);
    jm_fixed(b, 1000000, 8); // a tick is a microsecond
    jm_fixed(b, checkpoint, 8);
}

// ---- the file ----

static void put_sized(struct fk_buf *f, struct fk_buf *event)
{
    jm_fixed(f, event->n + 4, 4);
    fk_buf_str(f, fk_buf_view(event));
    fk_buf_clear(event);
}

// Digits are widths of the numbers that follow, t is a text.
static void put(struct fk_buf *b, const char *format, ...)
{
    va_list ap;
    va_start(ap, format);
    for (; *format; format++)
        if (*format == 't')
            text(b, va_arg(ap, const char *));
        else
            jm_fixed(b, (uint64_t)va_arg(ap, long), *format - '0');
    va_end(ap);
}

static void checkpoints(struct fk_buf *f, struct fk_buf *e, uint64_t *ret_last)
{
    long first = (long)f->n;
    put(e, "488", 1L, 1500L, 0L);
    put(e, "448t8t8t", (long)UTF, 3L, 1L, "a/Main", 2L, "run", 3L, "work");
    put_sized(f, e);
    *ret_last = f->n;
    put(e, "488", 1L, 1600L, first);
    put(e, "44888", (long)CLASS, 1L, 1L, 0L, 1L);
    put(e, "44888888", (long)METHOD, 2L, 1L, 1L, 2L, 2L, 1L, 3L);
    put(e, "448148484", (long)TRACE, 1L, 5L, 1L, 2L, 2L, 20L, 1L, -1L);
    put(e, "444t", (long)THREAD, 1L, 77L, "main");
    put(e, "442t", (long)STATE, 1L, 3L, "STATE_RUNNABLE");
    put_sized(f, e);
}

static void events(struct fk_buf *f, struct fk_buf *e)
{
    put(e, "488424", 70L, 1000L, 20L, 1L, (long)'x', 60L); // every 20 ms
    put_sized(f, e);
    put(e, "48482", 60L, 3000L, 77L, 5L, 3L);
    put_sized(f, e);
    put(e, "4884888", 45L, 3000L, 2500L, 77L, 5L, 1L, 65536L);
    put_sized(f, e);
    put(e, "488488", 6L, 3000L, 2500L, 77L, 5L, 1L);
    put_sized(f, e);
    put(e, "4844", 2L, 3000L, 77L, 9L); // lost
    put_sized(f, e);
}

static void make(struct fk_buf *f)
{
    FK_AUTO_BUF event;
    uint64_t last, at;
    fk_buf_free(f);
    fk_buf_init(&event, 0);
    fk_buf_put(f, "FLR\0\0\0\0\x09\0\0\0\0\0\0\0\0", 16);
    checkpoints(f, &event, &last);
    events(f, &event);
    at = f->n;
    metadata(&event, last);
    put_sized(f, &event);
    for (int i = 0; i < 8; i++)
        f->p[8 + i] = (char)(at >> (8 * (7 - i)));
}

struct seen {
    struct fk_profile p[8];
    struct fk_entry e[8];
    size_t n;
    struct fk_report report;
    struct fk_arena arena;
    struct fk_err err;
};

static int keep(void *arg, struct fk_entry *e, struct fk_profile *p, struct fk_err *err)
{
    struct seen *s = arg;
    s->p[s->n % 8] = *p;
    s->e[s->n++ % 8] = *e;
    return fk_profile_validate(p, err);
}

static int decode(struct seen *s, struct fk_str bytes)
{
    struct fk_limits l = fk_limits_default();
    struct fk_decode_opts o = fk_decode_opts_push(&l);
    memset(s, 0, sizeof(*s));
    fk_arena_init(&s->arena, 0);
    return fk_decode(FK_FORMAT_JFR, bytes, &o, &s->arena, (struct fk_each_profile){keep, s},
                     &s->report, &s->err);
}

static void families_of_an_old_recording(void **state)
{
    (void)state;
    FK_AUTO_BUF f;
    struct seen s;
    fk_buf_init(&f, 0);
    make(&f);
    if (decode(&s, fk_buf_view(&f)))
        fail_msg("%s", s.err.msg);
    assert_int_equal(s.n, 3);
    const struct fk_profile *p = &s.p[0];
    assert_int_equal(s.e[0].type[1].total, 20000000);
    assert_int_equal(p->time_ns[0], START_MS * 1000000 + 2000000);
    assert_int_equal(p->duration_ns, 3000000000);
    uint32_t leaf = p->sym.frame[p->sym.stack_begin[p->stack[0]]];
    const struct fk_line *line = &p->sym.line[p->sym.location[leaf].line_begin];
    assert_int_equal(line->line, 20);
    assert_true(
        fk_str_eq(p->sym.string[p->sym.function[line->function].name], FK_S("a/Main.work")));
    assert_true(p->truncated);
    assert_int_equal(s.e[1].type[1].total, 65536);
    assert_int_equal(s.p[1].time_ns[0], START_MS * 1000000 + 1500000); // when it began
    assert_int_equal(s.e[2].type[1].total, 500000);                    // park: 500 ticks
    assert_true(fk_str_eq(s.e[2].type[1].type, FK_S("delay")));
    bool lost = false;
    for (uint32_t i = 0; i < s.report.n; i++)
        lost |= strstr(s.report.item[i].reason, "the recorder lost data") != NULL;
    assert_true(lost);
    fk_arena_free(&s.arena);
}

static void broken_old_recordings_are_refused(void **state)
{
    (void)state;
    FK_AUTO_BUF f;
    struct seen s;
    fk_buf_init(&f, 0);
    static const struct {
        size_t cut; // from the end
        int at;     // of a byte that becomes 0x7f, -1 none
        const char *says;
    } cases[] = {{1, -1, "ends within its metadata"}, {0, 8, "metadata lie at offset"}};
    for (size_t i = 0; i < FK_COUNTOF(cases); i++) {
        make(&f);
        f.n -= cases[i].cut;
        if (cases[i].at >= 0)
            f.p[cases[i].at] = 0x7f;
        assert_int_equal(decode(&s, fk_buf_view(&f)), -FK_E_FORMAT);
        if (!strstr(s.err.msg, cases[i].says))
            fail_msg("'%s' does not say '%s'", s.err.msg, cases[i].says);
        fk_arena_free(&s.arena);
    }
}

static void survives_any_damage(void **state)
{
    (void)state;
    FK_AUTO_BUF f, copy;
    struct seen s;
    fk_buf_init(&f, 0);
    fk_buf_init(&copy, 0);
    make(&f);
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
    FK_AUTO_BUF f;
    fk_buf_init(&f, 0);
    make(&f);
    for (uint64_t k = 1, done = 0; !done; k++) {
        struct seen s;
        fk_mem_fail_after(k, true);
        int rc = decode(&s, fk_buf_view(&f));
        done = fk_mem_failed() == 0;
        fk_mem_fail_after(0, false);
        assert_int_equal(rc, done ? 0 : -FK_E_NOMEM);
        fk_arena_free(&s.arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(families_of_an_old_recording),
        cmocka_unit_test(broken_old_recordings_are_refused),
        cmocka_unit_test(survives_any_damage),
        cmocka_unit_test(survives_lack_of_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
