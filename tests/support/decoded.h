// SPDX-License-Identifier: Apache-2.0
// For tests of decoders: decodes and puts all that was delivered into one text, so that a test says
// what it expects as text. Each profile:
//   {label="value"} type/unit type/unit
//   root;...;leaf v v [key=value key=5unit] @time
#ifndef FK_TESTS_SUPPORT_DECODED_H
#define FK_TESTS_SUPPORT_DECODED_H

#include "formats/formats.h"

#include "support/test.h"

// Not inlined: each has a report and options on its stack.
#define FK_TEST_HELPER static __attribute__((noinline, unused))

struct decoded {
    struct fk_buf text;
    struct fk_profile last;
    struct fk_report report;
    struct fk_arena arena;
    struct fk_err err;
};

static inline void put_frames(struct fk_buf *b, const struct fk_symbols *s, uint32_t location)
{
    const struct fk_location *l = &s->location[location];
    if (!l->line_count)
        fk_buf_printf(b, "0x%llx", (unsigned long long)l->address);
    for (uint32_t i = l->line_count; i-- > 0;) {
        const struct fk_line *line = &s->line[l->line_begin + i];
        fk_buf_str(b, s->string[s->function[line->function].name]);
        if (i)
            fk_buf_byte(b, ';');
    }
}

static inline void put_attrs(struct fk_buf *b, const struct fk_symbols *s, uint32_t set)
{
    for (uint32_t i = s->set_begin[set]; i < s->set_begin[set + 1]; i++) {
        const struct fk_attr *a = &s->attr[i];
        fk_buf_cstr(b, i == s->set_begin[set] ? " [" : " ");
        fk_buf_str(b, s->string[a->key]);
        fk_buf_byte(b, '=');
        if (a->str)
            fk_buf_str(b, s->string[a->str]);
        else
            fk_buf_i64(b, a->num);
        fk_buf_str(b, s->string[a->unit]);
        fk_buf_cstr(b, i + 1 == s->set_begin[set + 1] ? "]" : "");
    }
}

static inline void put_row(struct fk_buf *b, const struct fk_profile *p, uint64_t r)
{
    uint32_t stack = p->stack[r];
    for (uint32_t i = p->sym.stack_begin[stack + 1]; i-- > p->sym.stack_begin[stack];) {
        put_frames(b, &p->sym, p->sym.frame[i]);
        if (i > p->sym.stack_begin[stack])
            fk_buf_byte(b, ';');
    }
    for (uint32_t k = 0; k < p->n_types; k++)
        fk_buf_printf(b, " %lld", (long long)p->value[k][r]);
    if (p->set)
        put_attrs(b, &p->sym, p->set[r]);
    if (p->time_ns && p->time_ns[r] != FK_NO_TIME)
        fk_buf_printf(b, " @%lld", (long long)p->time_ns[r]);
    fk_buf_byte(b, '\n');
}

static inline int put_decoded(void *arg, struct fk_entry *e, struct fk_profile *p,
                              struct fk_err *err)
{
    struct decoded *d = arg;
    int rc = fk_profile_validate(p, err);
    if (rc)
        return rc;
    fk_buf_byte(&d->text, '{');
    for (size_t i = 0; i < e->labels.n; i++)
        fk_buf_printf(&d->text, "%s%.*s=\"%.*s\"", i ? "," : "", FK_STR_ARG(e->labels.v[i].name),
                      FK_STR_ARG(e->labels.v[i].value));
    fk_buf_byte(&d->text, '}');
    for (uint32_t k = 0; k < p->n_types; k++)
        fk_buf_printf(&d->text, " %.*s/%.*s", FK_STR_ARG(p->type[k].type),
                      FK_STR_ARG(p->type[k].unit));
    fk_buf_byte(&d->text, '\n');
    for (uint64_t r = 0; r < p->n_rows; r++)
        put_row(&d->text, p, r);
    d->last = *p;
    return fk_buf_check(&d->text, "the text", err);
}

static inline int decode_with(struct decoded *d, enum fk_format f, struct fk_str bytes,
                              const struct fk_decode_opts *o)
{
    memset(d, 0, sizeof(*d));
    fk_arena_init(&d->arena, 0);
    fk_buf_init(&d->text, 0);
    return fk_decode(f, bytes, o, &d->arena, (struct fk_each_profile){put_decoded, d}, &d->report,
                     &d->err);
}

static inline int decode(struct decoded *d, enum fk_format f, struct fk_str bytes)
{
    struct fk_limits l = fk_limits_default();
    struct fk_decode_opts o = fk_decode_opts_push(&l);
    return decode_with(d, f, bytes, &o);
}

static inline void decoded_free(struct decoded *d)
{
    fk_buf_free(&d->text);
    fk_arena_free(&d->arena);
}

static inline const struct fk_report_item *item(const struct decoded *d, const char *reason)
{
    for (uint32_t i = 0; i < d->report.n; i++)
        if (strstr(d->report.item[i].reason, reason))
            return &d->report.item[i];
    return NULL;
}

// format FK_FORMAT_UNKNOWN: it must also be recognised.
FK_TEST_HELPER void expect_decoded(enum fk_format f, struct fk_str bytes, const char *want)
{
    struct decoded d;
    int rc = decode(&d, f, bytes);
    if (rc)
        fail_msg("refused: %s", d.err.msg);
    if (!fk_str_eq(fk_buf_view(&d.text), fk_str_of(want)))
        fail_msg("got\n%.*s", FK_STR_ARG(fk_buf_view(&d.text)));
    decoded_free(&d);
}

FK_TEST_HELPER void expect_refused(enum fk_format f, struct fk_str bytes, int code,
                                   const char *says)
{
    struct decoded d;
    int rc = decode(&d, f, bytes);
    if (rc != -code || !strstr(d.err.msg, says))
        fail_msg("%d: '%s' does not say '%s'", rc, d.err.msg, says);
    decoded_free(&d);
}

// Each allocation fails once: the same answer as with memory, or FK_E_NOMEM.
FK_TEST_HELPER void expect_survives(enum fk_format f, struct fk_str bytes)
{
    for (uint64_t k = 1, done = 0; !done; k += 1 + k / 16) {
        struct decoded d;
        fk_mem_fail_after(k, true);
        int rc = decode(&d, f, bytes);
        done = fk_mem_failed() == 0;
        fk_mem_fail_after(0, false);
        if (rc != (done ? 0 : -FK_E_NOMEM) && rc != (done ? 0 : -FK_E_LIMIT))
            fail_msg("allocation %llu: %d '%s'", (unsigned long long)k, rc, d.err.msg);
        decoded_free(&d);
    }
}

// Every beginning of the bytes is taken or refused; nothing worse happens.
FK_TEST_HELPER void expect_cuts_are_harmless(enum fk_format f, struct fk_str bytes)
{
    for (size_t n = 0; n < bytes.n; n++) {
        struct decoded d;
        char *copy = fk_memdup(bytes.p, FK_MAX(n, (size_t)1)); // so that a sanitizer sees the end
        assert_non_null(copy);
        int rc = decode(&d, f, fk_str_make(copy, n));
        assert_true(rc == 0 || d.err.msg[0]);
        decoded_free(&d);
        fk_free(copy);
    }
}

#endif
