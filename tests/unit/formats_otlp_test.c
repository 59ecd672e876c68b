// SPDX-License-Identifier: Apache-2.0
// OpenTelemetry profiles: the same meaning written in every revision gives the same entries; which
// revision it is, is told from the bytes also in the hard cases; attributes, services, limits.
#include "otlp_fixture.h"

// ---- the revisions, as their protos number them ----

struct revision {
    const char *name;
    int tables;   // 0 in the profile, 1 in the request, 2 in its dictionary
    int table[8]; // mapping, location, function, link, string, attribute, units, stacks
    int indices, time, duration, period_type, period, comment, id;
    bool fixed_time, stacks, attribute_keys, container;
    int start, length, stack, value, attribute, link, stamps;
    int mapping, location, function; // what is added to their numbers (1.3: ids come first)
};
static const struct revision revisions[] = {
    {"1.3", 0,     {3, 4, 5, 18, 6, 16, 17, 0},
     15,    9,     10,
     11,    12,    13,
     0,     false, false,
     true,  true,  7,
     8,     0,     2,
     10,    12,    13,
     1,     1,     1},
    {"1.5", 0,     {3, 4, 6, 9, 10, 7, 8, 0},
     5,     11,    12,
     13,    14,    15,
     17,    false, false,
     true,  false, 1,
     2,     0,     3,
     4,     5,     6,
     0,     0,     0},
    {"1.6", 1,     {2, 3, 4, 5, 6, 7, 8, 0},
     3,     4,     5,
     6,     7,     8,
     10,    false, false,
     true,  false, 1,
     2,     0,     3,
     4,     5,     6,
     0,     0,     0},
    {"1.7", 2,     {1, 2, 3, 4, 5, 6, 7, 0},
     3,     4,     5,
     6,     7,     8,
     10,    false, false,
     true,  false, 1,
     2,     0,     3,
     4,     5,     6,
     0,     0,     0},
    {"1.8", 2,     {1, 2, 3, 4, 5, 6, 0, 7},
     0,     3,     4,
     5,     6,     7,
     8,     true,  true,
     false, false, 0,
     0,     1,     2,
     3,     4,     5,
     0,     0,     0},
    {"1.9", 2,     {1, 2, 3, 4, 5, 6, 0, 7},
     0,     3,     4,
     5,     6,     0,
     7,     true,  true,
     false, false, 0,
     0,     1,     2,
     3,     4,     5,
     0,     0,     0},
    {"1.10", 2,     {1, 2, 3, 4, 5, 6, 0, 7},
     0,      3,     4,
     5,      6,     0,
     7,      true,  true,
     false,  false, 0,
     0,      1,     4,
     2,      3,     5,
     0,      0,     0},
};
#define V18  (&revisions[4])
#define V19  (&revisions[5])
#define V110 (&revisions[6])

static const char *const strings[] = {"",
                                      "samples",
                                      "count",
                                      "cpu",
                                      "nanoseconds",
                                      "main",
                                      "work",
                                      "work_sys",
                                      "work.c",
                                      "/bin/prog",
                                      "thread.name",
                                      "w-1",
                                      "bytes.read",
                                      "By",
                                      "process.executable.build_id.gnu",
                                      "abcd",
                                      "service.name",
                                      "shop",
                                      "process.pid",
                                      "w-2",
                                      "stage",
                                      "note"};
enum {
    STR_SAMPLES = 1,
    STR_COUNT,
    STR_CPU,
    STR_NS,
    STR_MAIN,
    STR_WORK,
    STR_SYS,
    STR_FILE,
    STR_PROG,
    STR_THREAD,
    STR_W1,
    STR_READ,
    STR_BY,
    STR_BUILD,
    STR_ABCD,
    STR_SERVICE,
    STR_SHOP,
    STR_PID,
    STR_W2,
    STR_STAGE,
    STR_NOTE
};

static void put_int(struct fk_buf *b, int number, uint64_t v)
{
    if (number && v)
        fk_pb_u64(b, (uint32_t)number, v);
}

static void put_any(struct fk_buf *b, const char *text, int64_t number)
{
    size_t m = fk_pb_begin(b, 2);
    if (text)
        fk_pb_bytes(b, 1, fk_str_of(text));
    else
        fk_pb_u64(b, 3, (uint64_t)number);
    fk_pb_end(b, m);
}

static void put_attribute(struct fk_buf *b, const struct revision *r, int key, int text,
                          int64_t number, int unit)
{
    size_t m = fk_pb_begin(b, (uint32_t)r->table[5]);
    if (r->attribute_keys)
        fk_pb_bytes_nz(b, 1, fk_str_of(strings[key]));
    else
        put_int(b, 1, (uint64_t)key);
    if (key)
        put_any(b, text ? strings[text] : NULL, number);
    if (!r->attribute_keys)
        put_int(b, 3, (uint64_t)unit);
    fk_pb_end(b, m);
    if (r->attribute_keys && unit) {
        m = fk_pb_begin(b, (uint32_t)r->table[6]);
        put_int(b, 1, (uint64_t)key);
        put_int(b, 2, (uint64_t)unit);
        fk_pb_end(b, m);
    }
}

// Attributes: 1 thread.name w-1, 2 bytes.read 4096 By, 3 build id, 4 service.name shop, 5
// thread.name w-2.
static void put_attributes(struct fk_buf *b, const struct revision *r)
{
    put_attribute(b, r, 0, 0, 0, 0);
    put_attribute(b, r, STR_THREAD, STR_W1, 0, 0);
    put_attribute(b, r, STR_READ, 0, 4096, STR_BY);
    put_attribute(b, r, STR_BUILD, STR_ABCD, 0, 0);
    put_attribute(b, r, STR_SERVICE, STR_SHOP, 0, 0);
    put_attribute(b, r, STR_THREAD, STR_W2, 0, 0);
}

static void put_location(struct fk_buf *b, const struct revision *r, uint64_t mapping,
                         uint64_t address, const int *function, size_t n)
{
    size_t m = fk_pb_begin(b, (uint32_t)r->table[1]);
    int d = r->location;
    put_int(b, 1 + d, mapping);
    put_int(b, 2 + d, address);
    for (size_t i = 0; i < n; i++) {
        size_t line = fk_pb_begin(b, (uint32_t)(3 + d));
        put_int(b, 1, (uint64_t)function[i]);
        put_int(b, 2, (uint64_t)(10 + i));
        fk_pb_end(b, line);
    }
    fk_pb_end(b, m);
}

static void put_function(struct fk_buf *b, const struct revision *r, int name, int system, int file)
{
    size_t m = fk_pb_begin(b, (uint32_t)r->table[2]);
    int d = r->function;
    put_int(b, 1 + d, (uint64_t)name);
    put_int(b, 2 + d, (uint64_t)system);
    put_int(b, 3 + d, (uint64_t)file);
    put_int(b, 4 + d, name ? 7 : 0);
    fk_pb_end(b, m);
}

// Locations: 0 nothing, 1 main, 2 work inlined into main, 3 an address without a name.
static void put_code(struct fk_buf *b, const struct revision *r)
{
    static const int main_only[] = {1}, inlined[] = {2, 1};
    size_t m = fk_pb_begin(b, (uint32_t)r->table[0]);
    fk_pb_end(b, m);
    m = fk_pb_begin(b, (uint32_t)r->table[0]);
    put_int(b, 1 + r->mapping, 0x400000);
    put_int(b, 2 + r->mapping, 0x500000);
    put_int(b, 3 + r->mapping, 0x1000);
    put_int(b, 4 + r->mapping, STR_PROG);
    fk_pb_packed(b, r->mapping ? 12 : 5, (const uint64_t[]){3}, 1);
    fk_pb_end(b, m);
    put_location(b, r, 0, 0, NULL, 0);
    put_location(b, r, 1, 0x400100, main_only, 1);
    put_location(b, r, 1, 0x400200, inlined, 2);
    put_location(b, r, 1, 0x400300, NULL, 0);
    put_function(b, r, 0, 0, 0);
    put_function(b, r, STR_MAIN, 0, STR_FILE);
    put_function(b, r, STR_WORK, STR_SYS, STR_FILE);
}

static const uint64_t stacks[][3] = {{0, 0, 0}, {2, 1, 0}, {3, 1, 0}, {1, 0, 0}};
static const size_t stack_n[] = {0, 2, 2, 1};

static void put_tables(struct fk_buf *b, const struct revision *r)
{
    put_code(b, r);
    for (int i = 0; i < 2; i++) {
        size_t m = fk_pb_begin(b, (uint32_t)r->table[3]);
        if (i)
            fk_pb_bytes(b, 1, FK_S("\1\2\3\4\5\6\7\10\11\12\13\14\15\16\17\20"));
        if (i)
            fk_pb_bytes(b, 2, FK_S("\xa1\xa2\xa3\xa4\xa5\xa6\xa7\xa8"));
        fk_pb_end(b, m);
    }
    for (size_t i = 0; i < FK_COUNTOF(strings); i++)
        fk_pb_bytes(b, (uint32_t)r->table[4], fk_str_of(strings[i]));
    put_attributes(b, r);
    for (size_t i = 0; r->stacks && i < FK_COUNTOF(stacks); i++) {
        size_t m = fk_pb_begin(b, (uint32_t)r->table[7]);
        fk_pb_packed(b, 1, stacks[i], stack_n[i]);
        fk_pb_end(b, m);
    }
}

struct sample {
    uint64_t stack;
    uint64_t attr[3];
    size_t n_attrs;
    uint64_t link;
    int64_t value[4]; // from 1.8: one a timestamp
    size_t n_values;
    size_t n_stamps; // at 1.7e18 + 1, 2, ...
};

static void put_sample(struct fk_buf *b, const struct revision *r, const struct sample *s)
{
    size_t m = fk_pb_begin(b, 2);
    uint64_t start[] = {0, 0, 2, 4};
    uint64_t sum = 0, value[4];
    for (size_t i = 0; i < s->n_values; i++)
        sum += value[i] = (uint64_t)s->value[i];
    if (!r->stacks)
        value[0] = sum ? sum : s->n_stamps;
    put_int(b, r->start, start[s->stack]);
    put_int(b, r->length, stack_n[s->stack]);
    put_int(b, r->stack, s->stack);
    fk_pb_packed(b, (uint32_t)r->value, value, r->stacks ? s->n_values : 1);
    fk_pb_packed(b, (uint32_t)r->attribute, s->attr, s->n_attrs);
    put_int(b, r->link, s->link);
    if (s->n_stamps) {
        size_t stamps = fk_pb_begin(b, (uint32_t)r->stamps);
        for (uint64_t i = 1; i <= s->n_stamps; i++)
            r->fixed_time ? fk_buf_le64(b, 1700000000000000000u + i)
                          : fk_buf_varint(b, 1700000000000000000u + i);
        fk_pb_end(b, stamps);
    }
    fk_pb_end(b, m);
}

static void put_type(struct fk_buf *b, int number, int type, int unit)
{
    size_t m = fk_pb_begin(b, (uint32_t)number);
    put_int(b, 1, (uint64_t)type);
    put_int(b, 2, (uint64_t)unit);
    fk_pb_end(b, m);
}

static void put_profile(struct fk_buf *b, const struct revision *r, const struct sample *s,
                        size_t n)
{
    size_t m = fk_pb_begin(b, 2), inner = r->container ? fk_pb_begin(b, 8) : 0;
    put_type(b, 1, STR_SAMPLES, STR_COUNT);
    for (size_t i = 0; i < n; i++)
        put_sample(b, r, &s[i]);
    if (r->indices)
        fk_pb_packed(b, (uint32_t)r->indices, (const uint64_t[]){2, 1, 3, 1, 1}, 5);
    if (r->fixed_time)
        fk_pb_fixed64(b, (uint32_t)r->time, 1700000000000000000u);
    else
        fk_pb_u64(b, (uint32_t)r->time, 1700000000000000000u);
    put_int(b, r->duration, 5000000000u);
    put_type(b, r->period_type, STR_CPU, STR_NS);
    put_int(b, r->period, 50000000);
    if (r->id)
        fk_pb_bytes(b, (uint32_t)r->id, FK_S("0123456789abcdef"));
    if (r->tables == 0)
        put_tables(b, r);
    if (inner)
        fk_pb_end(b, inner);
    fk_pb_end(b, m);
}

static void put_pair(struct fk_buf *b, int number, const char *key, const char *text, int64_t value)
{
    size_t m = fk_pb_begin(b, (uint32_t)number);
    fk_pb_bytes(b, 1, fk_str_of(key));
    put_any(b, text, value);
    fk_pb_end(b, m);
}

static void put_resource(struct fk_buf *b, const struct revision *r, const struct sample *s,
                         size_t n)
{
    size_t all = fk_pb_begin(b, 1), m = fk_pb_begin(b, 1);
    put_pair(b, 1, "service.name", "front", 0);
    put_pair(b, 1, "process.pid", NULL, 4711);
    put_pair(b, 1, "host.name", "h1", 0);
    fk_pb_end(b, m);
    m = fk_pb_begin(b, 2);
    size_t scope = fk_pb_begin(b, 1);
    fk_pb_bytes(b, 1, FK_S("profiler"));
    put_pair(b, 3, "host.name", "not this", 0);
    put_pair(b, 3, "scope.attr", NULL, 5);
    fk_pb_end(b, scope);
    put_profile(b, r, s, n);
    fk_pb_end(b, m);
    fk_pb_end(b, all);
}

static struct fk_str request(struct fk_buf *b, const struct revision *r, const struct sample *s,
                             size_t n)
{
    fk_buf_clear(b);
    put_resource(b, r, s, n);
    size_t m = r->tables == 2 ? fk_pb_begin(b, 2) : 0;
    if (r->tables)
        put_tables(b, r);
    if (m)
        fk_pb_end(b, m);
    assert_int_equal(b->failed, 0);
    return fk_buf_view(b);
}

// ---- the same meaning ----

static const struct sample plain[] = {
    {.stack = 1, .attr = {1, 2}, .n_attrs = 2, .link = 1, .n_stamps = 3},
    {.stack = 2, .attr = {5}, .n_attrs = 1, .value = {7}, .n_values = 1},
    {.stack = 3, .value = {1, 1}, .n_values = 2, .n_stamps = 2},
    {.stack = 0, .n_stamps = 1},
};

static void text_of(const struct seen *s, struct fk_buf *to)
{
    for (size_t i = 0; i < s->n; i++) {
        for (size_t k = 0; k < s->e[i].labels.n; k++)
            fk_buf_printf(to, "%.*s=%.*s\n", FK_STR_ARG(s->e[i].labels.v[k].name),
                          FK_STR_ARG(s->e[i].labels.v[k].value));
        fk_profile_text(&s->p[i], to);
    }
}

static void every_revision_means_the_same(void **state)
{
    (void)state;
    FK_AUTO_BUF b, first, now;
    fk_buf_init(&b, 0);
    fk_buf_init(&first, 0);
    fk_buf_init(&now, 0);
    for (size_t i = FK_COUNTOF(revisions); i-- > 0;) {
        struct seen s;
        must(&s, request(&b, &revisions[i], plain, FK_COUNTOF(plain)));
        fk_buf_clear(&now);
        text_of(&s, &now);
        assert_null(reported(&s, "revision"));
        if (!first.n)
            fk_buf_str(&first, fk_buf_view(&now));
        // Before 1.8 mappings carry flags of their own, here none.
        struct fk_str want = fk_buf_view(&first), got = fk_buf_view(&now);
        if (!fk_str_eq(want, got))
            fail_msg("%s:\n%.*s\nis not\n%.*s", revisions[i].name, FK_STR_ARG(got),
                     FK_STR_ARG(want));
        fk_arena_free(&s.arena);
    }
}

static void what_it_means(void **state)
{
    (void)state;
    FK_AUTO_BUF b;
    fk_buf_init(&b, 0);
    struct seen s;
    must(&s, request(&b, V110, plain, FK_COUNTOF(plain)));
    const struct fk_profile *p = &s.p[0];
    assert_int_equal(s.n, 1);
    assert_int_equal(p->n_rows, 4);
    assert_int_equal(p->n_obs, 7);
    assert_int_equal(p->n_types, 2);
    assert_text(p->type[0].type, "samples");
    assert_text(p->type[1].type, "cpu");
    assert_text(p->type[1].unit, "nanoseconds");
    assert_int_equal(fk_profile_total(p, 0), 13);
    assert_int_equal(fk_profile_total(p, 1), 13 * 50000000);
    assert_int_equal(p->time_ns[0], 1700000000000000001);
    assert_true(p->time_ns[3] == FK_NO_TIME);
    assert_int_equal(p->duration_ns, 5000000000);
    assert_text(label(&s, 0, "service_name"), "front");
    assert_text(label(&s, 0, "service.name"), "front");
    assert_text(label(&s, 0, "host.name"), "h1");
    assert_text(label(&s, 0, "scope.attr"), "5");
    assert_null(label(&s, 0, "process.pid").p);
    assert_text(attr(p, 3, "process.pid"), "4711");
    assert_text(attr(p, 0, "thread.name"), "w-1");
    assert_text(attr(p, 0, "trace_id"), "0102030405060708090a0b0c0d0e0f10");
    assert_text(attr(p, 0, "span_id"), "a1a2a3a4a5a6a7a8");
    assert_text(attr(p, 1, "trace_id"), "");
    assert_text(p->sym.string[p->sym.mapping[0].build_id], "abcd");
    assert_int_equal(p->n_placements, 1);
    assert_int_equal(p->placement[0].start, 0x400000);
    const struct fk_location *l = &p->sym.location[p->sym.frame[p->sym.stack_begin[p->stack[0]]]];
    assert_int_equal(l->line_count, 2);
    assert_int_equal(l->address, 0x1200);
    fk_arena_free(&s.arena);
}

// ---- which revision ----

static void expect_total(const struct revision *r, const struct sample *s, size_t n, int64_t total,
                         bool warns)
{
    FK_AUTO_BUF b;
    fk_buf_init(&b, 0);
    struct seen x;
    must(&x, request(&b, r, s, n));
    if (fk_profile_total(&x.p[0], 0) != total || (reported(&x, "revision") != NULL) != warns)
        fail_msg("%s: total %lld, not %lld; %s", r->name, (long long)fk_profile_total(&x.p[0], 0),
                 (long long)total, reported(&x, "revision") ? "warned" : "not warned");
    fk_arena_free(&x.arena);
}

static void hard_cases(void **state)
{
    (void)state;
    // Attributes only, one fewer than timestamps somewhere: they are no values.
    static const struct sample only[] = {
        {.stack = 1, .attr = {1, 2}, .n_attrs = 2, .n_stamps = 2},
        {.stack = 2, .attr = {1}, .n_attrs = 1, .n_stamps = 3},
    };
    expect_total(V110, only, 2, 5, false);
    // As many everywhere, all within the table: could be either, the newest is taken.
    expect_total(V110, only, 1, 2, true);
    // The same bytes as 1.9 would mean values 1 and 2 of two timestamps.
    static const struct sample twin[] = {
        {.stack = 1, .value = {1, 2}, .n_values = 2, .n_stamps = 2},
    };
    expect_total(V19, twin, 1, 2, true);
    expect_total(V18, twin, 1, 3, false); // its profile has an id where the later have a number
    // A value beyond the table of attributes tells.
    static const struct sample large[] = {
        {.stack = 1, .value = {1, 2}, .n_values = 2, .n_stamps = 2},
        {.stack = 2, .value = {77}, .n_values = 1, .n_stamps = 1},
    };
    expect_total(V18, large, 2, 80, false);
    expect_total(V19, large, 2, 80, false);
    expect_total(V110, large, 2, 80, false);
    // Values without timestamps: attributes alone would say nothing.
    static const struct sample sums[] = {
        {.stack = 1, .value = {3}, .n_values = 1},
        {.stack = 2, .value = {2}, .n_values = 1},
    };
    expect_total(V19, sums, 2, 5, false);
    expect_total(V110, sums, 2, 5, false);
    // Nothing but stacks and timestamps: all read it alike.
    static const struct sample bare[] = {{.stack = 1, .n_stamps = 4}};
    expect_total(V18, bare, 1, 4, false);
    expect_total(V110, bare, 1, 4, false);
}

// A sample as some agent writes it: field by field, not packed.
static struct fk_str unpacked(struct fk_buf *b, uint64_t four)
{
    fk_buf_clear(b);
    size_t all = fk_pb_begin(b, 1), scope = fk_pb_begin(b, 2), p = fk_pb_begin(b, 2);
    put_type(b, 1, STR_CPU, STR_NS);
    size_t s = fk_pb_begin(b, 2);
    fk_pb_u64(b, 1, 1);
    fk_pb_u64(b, 4, four);
    fk_pb_end(b, s);
    fk_pb_end(b, p);
    fk_pb_end(b, scope);
    fk_pb_end(b, all);
    size_t m = fk_pb_begin(b, 2);
    put_tables(b, V110);
    fk_pb_end(b, m);
    return fk_buf_view(b);
}

static void unpacked_numbers(void **state)
{
    (void)state;
    FK_AUTO_BUF b;
    fk_buf_init(&b, 0);
    struct seen s;
    must(&s, unpacked(&b, 10000000)); // no link has that number
    assert_int_equal(fk_profile_total(&s.p[0], 0), 10000000);
    assert_null(reported(&s, "revision"));
    fk_arena_free(&s.arena);
    must(&s, unpacked(&b, 1)); // a link alone would say nothing
    assert_int_equal(fk_profile_total(&s.p[0], 0), 1);
    fk_arena_free(&s.arena);
}

static void contradictions_are_refused(void **state)
{
    (void)state;
    static const struct sample bad[][1] = {
        {{.stack = 3, .attr = {99}, .n_attrs = 1, .n_stamps = 2}},
        {{.stack = 3, .link = 9, .value = {3}, .n_values = 1}},
    };
    FK_AUTO_BUF b;
    fk_buf_init(&b, 0);
    for (size_t i = 0; i < FK_COUNTOF(bad); i++)
        for (size_t r = 2; r < FK_COUNTOF(revisions); r++) {
            struct seen s;
            if (i == 1 && &revisions[r] == V19)
                continue; // that is a sound sample of 1.10
            if (decode(&s, request(&b, &revisions[r], bad[i], 1)) != -FK_E_FORMAT)
                fail_msg("%s, case %zu: taken", revisions[r].name, i);
            assert_int_equal(s.n, 0);
            if (fk_str_find(fk_str_of(s.err.msg), FK_S("beyond its table")) < 0)
                fail_msg("%s: %s", revisions[r].name, s.err.msg);
            fk_arena_free(&s.arena);
        }
}

// Whatever is cut or changed: an answer, no crash.
static void broken_at_every_byte(void **state)
{
    (void)state;
    FK_AUTO_BUF b;
    fk_buf_init(&b, 0);
    for (size_t r = 0; r < FK_COUNTOF(revisions); r += 2) {
        struct fk_str bytes = request(&b, &revisions[r], plain, FK_COUNTOF(plain));
        for (size_t at = 0; at < bytes.n; at++) {
            struct seen s;
            (void)decode(&s, fk_str_head(bytes, at));
            fk_arena_free(&s.arena);
            for (int bit = 0; bit < 8; bit += 3) {
                b.p[at] ^= (char)(1 << bit);
                (void)decode(&s, bytes);
                fk_arena_free(&s.arena);
                b.p[at] ^= (char)(1 << bit);
            }
        }
    }
}

// ---- attributes and services ----

// The collector writes keys and strings as numbers of the string table.
static void references_are_followed(void **state)
{
    (void)state;
    FK_AUTO_BUF b;
    fk_buf_init(&b, 0);
    size_t all = fk_pb_begin(&b, 1), m = fk_pb_begin(&b, 1), kv = fk_pb_begin(&b, 1);
    fk_pb_u64(&b, 3, STR_SERVICE);
    size_t any = fk_pb_begin(&b, 2);
    fk_pb_u64(&b, 8, STR_SHOP);
    fk_pb_end(&b, any);
    fk_pb_end(&b, kv);
    kv = fk_pb_begin(&b, 1);
    fk_pb_u64(&b, 3, STR_PID);
    put_any(&b, NULL, 12);
    fk_pb_end(&b, kv);
    fk_pb_end(&b, m);
    m = fk_pb_begin(&b, 2);
    put_profile(&b, V110, plain, 1);
    fk_pb_end(&b, m);
    fk_pb_end(&b, all);
    m = fk_pb_begin(&b, 2);
    put_tables(&b, V110);
    fk_pb_end(&b, m);
    struct seen s;
    must(&s, fk_buf_view(&b));
    assert_text(label(&s, 0, "service_name"), "shop");
    assert_text(label(&s, 0, "service.name"), "shop");
    assert_text(attr(&s.p[0], 0, "process.pid"), "12");
    fk_arena_free(&s.arena);
}

static void services_of_samples_are_entries(void **state)
{
    (void)state;
    static const struct sample some[] = {
        {.stack = 1, .n_stamps = 1},
        {.stack = 1, .attr = {4, 1}, .n_attrs = 2, .n_stamps = 2},
        {.stack = 2, .n_stamps = 4},
        {.stack = 2, .attr = {4}, .n_attrs = 1, .n_stamps = 8},
    };
    FK_AUTO_BUF b;
    fk_buf_init(&b, 0);
    struct seen s;
    must(&s, request(&b, V110, some, FK_COUNTOF(some)));
    assert_int_equal(s.n, 2);
    assert_text(label(&s, 0, "service_name"), "front");
    assert_int_equal(fk_profile_total(&s.p[0], 0), 5);
    assert_text(label(&s, 1, "service_name"), "shop");
    assert_int_equal(fk_profile_total(&s.p[1], 0), 10);
    assert_text(attr(&s.p[1], 0, "service.name"), "");
    assert_text(attr(&s.p[1], 0, "thread.name"), "w-1");
    fk_arena_free(&s.arena);
}

// ---- limits, memory, recognising ----

static void limits_name_their_flag(void **state)
{
    (void)state;
    FK_AUTO_BUF b;
    fk_buf_init(&b, 0);
    struct seen s;
    struct fk_limits l = fk_limits_default();
    struct fk_decode_opts o = fk_decode_opts_push(&l);
    struct fk_str bytes = request(&b, V110, plain, FK_COUNTOF(plain));
    o.max_rows = 3;
    assert_int_equal(decode_with(&s, bytes, &o), -FK_E_LIMIT);
    assert_string_equal(s.err.flag, "--limit-push-rows");
    fk_arena_free(&s.arena);
    o.max_rows = 4;
    l.stack_depth = 1;
    assert_int_equal(decode_with(&s, bytes, &o), 0);
    assert_true(s.p[0].truncated);
    assert_int_equal(reported(&s, "depth")->count, 2);
    fk_arena_free(&s.arena);
    memset(&s, 0, sizeof(s));
    fk_arena_init(&s.arena, 4096);
    assert_int_equal(fk_decode(FK_FORMAT_OTLP, bytes, &o, &s.arena,
                               (struct fk_each_profile){keep, &s}, &s.report, &s.err),
                     -FK_E_LIMIT);
    assert_string_equal(s.err.flag, "--limit-decode-memory");
    fk_arena_free(&s.arena);
}

// Every allocation fails once, with and without those after it.
static void sweep(struct fk_str bytes)
{
    for (int sticky = 0; sticky < 2; sticky++)
        for (uint64_t k = 1, done = 0; !done; k++) {
            struct seen s;
            fk_mem_fail_after(k, sticky);
            int rc = decode(&s, bytes);
            done = fk_mem_failed() == 0;
            fk_mem_fail_after(0, false);
            if (sticky || done) // an arena tries again with less
                assert_int_equal(rc, done ? 0 : -FK_E_NOMEM);
            else
                assert_true(rc == 0 || rc == -FK_E_NOMEM);
            fk_arena_free(&s.arena);
        }
}

// The arena ends at every place that a limit can end it.
static void sweep_limits(struct fk_str bytes)
{
    struct fk_limits l = fk_limits_default();
    struct fk_decode_opts o = fk_decode_opts_push(&l);
    int rc = -1;
    for (size_t limit = 256; rc; limit += 256) {
        struct seen s = {0};
        fk_arena_init(&s.arena, limit);
        rc = fk_decode(FK_FORMAT_OTLP, bytes, &o, &s.arena, (struct fk_each_profile){keep, &s},
                       &s.report, &s.err);
        assert_true(rc == 0 || rc == -FK_E_LIMIT);
        assert_true(limit < (1 << 20));
        fk_arena_free(&s.arena);
    }
}

static void survives_lack_of_memory(void **state)
{
    (void)state;
    FK_AUTO_BUF b;
    fk_buf_init(&b, 0);
    static const char text[] =
        "{\"resourceProfiles\":[{\"resource\":{\"attributes\":[{\"key\":\"\\u0061\",\"value\":{"
        "\"arrayValue\":{\"values\":[{\"intValue\":1},{\"bytesValue\":\"AAA=\"}]}}}]},"
        "\"scopeProfiles\":[{\"profiles\":[{\"samples\":[{\"values\":[1]}]}]}]}]}";
    static const struct sample parted[] = {
        {.stack = 1, .attr = {4, 1}, .n_attrs = 2, .link = 1, .n_stamps = 2},
        {.stack = 2, .attr = {2}, .n_attrs = 1, .n_stamps = 4},
    };
    for (size_t r = 0; r < FK_COUNTOF(revisions); r++) {
        sweep(request(&b, &revisions[r], plain, FK_COUNTOF(plain)));
        sweep(request(&b, &revisions[r], parted, FK_COUNTOF(parted)));
        sweep_limits(request(&b, &revisions[r], parted, FK_COUNTOF(parted)));
    }
    sweep(fk_str_of(text));
    sweep_limits(fk_str_of(text));
}

static void is_recognised(void **state)
{
    (void)state;
    FK_AUTO_BUF b;
    fk_buf_init(&b, 0);
    enum fk_format f;
    struct fk_err err;
    for (size_t r = 0; r < FK_COUNTOF(revisions); r++) {
        struct fk_str bytes = request(&b, &revisions[r], plain, FK_COUNTOF(plain));
        assert_int_equal(fk_format_detect(bytes, &f, &err), 0);
        assert_int_equal(f, FK_FORMAT_OTLP);
    }
    // The dictionary first.
    fk_buf_clear(&b);
    size_t m = fk_pb_begin(&b, 2);
    put_tables(&b, V110);
    fk_pb_end(&b, m);
    put_resource(&b, V110, plain, 1);
    assert_int_equal(fk_format_detect(fk_buf_view(&b), &f, &err), 0);
    assert_int_equal(f, FK_FORMAT_OTLP);
    struct seen s;
    must(&s, fk_buf_view(&b));
    assert_int_equal(fk_profile_total(&s.p[0], 0), 3);
    fk_arena_free(&s.arena);
    // A pprof, whose first two fields have the same numbers.
    fk_buf_clear(&b);
    put_type(&b, 1, 1, 2);
    m = fk_pb_begin(&b, 2);
    fk_pb_packed(&b, 1, (const uint64_t[]){10, 18}, 2);
    fk_pb_packed(&b, 2, (const uint64_t[]){34, 42}, 2);
    fk_pb_end(&b, m);
    fk_pb_bytes(&b, 6, FK_S(""));
    assert_int_equal(fk_format_detect(fk_buf_view(&b), &f, &err), 0);
    assert_int_equal(f, FK_FORMAT_PPROF);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_revision_means_the_same),
        cmocka_unit_test(what_it_means),
        cmocka_unit_test(hard_cases),
        cmocka_unit_test(unpacked_numbers),
        cmocka_unit_test(contradictions_are_refused),
        cmocka_unit_test(broken_at_every_byte),
        cmocka_unit_test(references_are_followed),
        cmocka_unit_test(services_of_samples_are_entries),
        cmocka_unit_test(limits_name_their_flag),
        cmocka_unit_test(survives_lack_of_memory),
        cmocka_unit_test(is_recognised),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
