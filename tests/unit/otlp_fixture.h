// SPDX-License-Identifier: Apache-2.0
// For the tests of OpenTelemetry profiles: decoding into something to look at.
#ifndef FK_TESTS_OTLP_FIXTURE_H
#define FK_TESTS_OTLP_FIXTURE_H

#include "formats/formats.h"
#include "support/profiles.h"
#include "support/test.h"

#define MOST 8

struct seen {
    struct fk_arena arena;
    struct fk_report report;
    struct fk_err err;
    size_t n;
    struct fk_entry e[MOST];
    struct fk_profile p[MOST];
};

static inline int keep(void *arg, struct fk_entry *e, struct fk_profile *p, struct fk_err *err)
{
    struct seen *s = arg;
    assert_true(s->n < MOST);
    s->e[s->n] = *e;
    s->p[s->n++] = *p;
    return fk_profile_validate(p, err);
}

static inline int decode_with(struct seen *s, struct fk_str bytes, const struct fk_decode_opts *o)
{
    memset(s, 0, sizeof(*s));
    fk_arena_init(&s->arena, 0);
    return fk_decode(FK_FORMAT_OTLP, bytes, o, &s->arena, (struct fk_each_profile){keep, s},
                     &s->report, &s->err);
}

static inline int decode(struct seen *s, struct fk_str bytes)
{
    struct fk_limits l = fk_limits_default();
    struct fk_decode_opts o = fk_decode_opts_push(&l);
    return decode_with(s, bytes, &o);
}

static inline void must(struct seen *s, struct fk_str bytes)
{
    if (decode(s, bytes))
        fail_msg("refused: %s", s->err.msg);
}

static inline const struct fk_report_item *reported(const struct seen *s, const char *reason)
{
    for (uint32_t i = 0; i < s->report.n; i++)
        if (fk_str_find(fk_str_of(s->report.item[i].reason), fk_str_of(reason)) >= 0)
            return &s->report.item[i];
    return NULL;
}

static inline void assert_text(struct fk_str got, const char *want)
{
    if (!fk_str_eq(got, fk_str_of(want)))
        fail_msg("got '%.*s', not '%s'", FK_STR_ARG(got), want);
}

static inline struct fk_str label(const struct seen *s, size_t entry, const char *name)
{
    return fk_labels_get(&s->e[entry].labels, fk_str_of(name));
}

// "key=text" of the row's attribute with this key, "" when it has none.

static inline struct fk_str attr(const struct fk_profile *p, uint64_t row, const char *key)
{
    uint32_t set = p->set[row];
    for (uint32_t i = p->sym.set_begin[set]; i < p->sym.set_begin[set + 1]; i++)
        if (fk_str_eq(p->sym.string[p->sym.attr[i].key], fk_str_of(key)))
            return p->sym.string[p->sym.attr[i].str];
    return FK_S("");
}
#endif
