// SPDX-License-Identifier: Apache-2.0
// Using selectors: matching, canonical text, labels; and name filters.
#include "match/match.h"

#include <stdlib.h>

void fk_selector_free(struct fk_selector *s)
{
    for (size_t i = 0; s && i < s->n; i++) {
        fk_regex_free(s->v[i].regex);
        s->v[i].regex = NULL;
    }
}

int fk_matcher_match(const struct fk_matcher *m, struct fk_str value, bool *ret, struct fk_err *err)
{
    bool hit;
    if (m->op == FK_MATCH_EQ || m->op == FK_MATCH_NE) {
        *ret = fk_str_eq(m->value, value) == (m->op == FK_MATCH_EQ);
        return 0;
    }
    int rc = fk_regex_match(m->regex, value, &hit, err);
    if (!rc)
        *ret = hit == (m->op == FK_MATCH_RE);
    return rc;
}

int fk_selector_match(const struct fk_selector *s, const struct fk_labels *l, bool *ret,
                      struct fk_err *err)
{
    for (size_t i = 0; i < s->n; i++) {
        const struct fk_matcher *m = &s->v[i];
        struct fk_str value = fk_labels_get(l, m->name);
        bool hit = m->matches_empty;
        int rc = value.n ? fk_matcher_match(m, value, &hit, err) : 0;
        if (rc)
            return rc;
        if (!hit) {
            *ret = false;
            return 0;
        }
    }
    *ret = true;
    return 0;
}

// ---- canonical text
// ------------------------------------------------------------------------------------------------

static int compare(const struct fk_matcher *a, const struct fk_matcher *b)
{
    int order = fk_str_cmp(a->name, b->name);
    if (!order && a->op != b->op)
        order = a->op < b->op ? -1 : 1;
    return order ? order : fk_str_cmp(a->value, b->value);
}

static void put_quoted(struct fk_buf *b, struct fk_str s)
{
    fk_buf_byte(b, '"');
    for (size_t i = 0; i < s.n; i++) {
        uint8_t c = (uint8_t)s.p[i];
        if (c == '"' || c == '\\')
            fk_buf_printf(b, "\\%c", c);
        else if (c < 0x20 || c == 0x7f)
            fk_buf_printf(b, "\\x%02x", (unsigned)c);
        else
            fk_buf_byte(b, c);
    }
    fk_buf_byte(b, '"');
}

static void put_matcher(struct fk_buf *b, const struct fk_matcher *m)
{
    static const char *const ops[] = {"=", "!=", "=~", "!~"};
    if (fk_label_name_is_bare(m->name))
        fk_buf_str(b, m->name);
    else
        put_quoted(b, m->name);
    fk_buf_cstr(b, ops[m->op]);
    put_quoted(b, m->value);
}

// The next larger matcher after `last` (NULL: the least); there are few, so no sorting is needed.
static const struct fk_matcher *next(const struct fk_selector *s, const struct fk_matcher *last)
{
    const struct fk_matcher *best = NULL;
    for (size_t i = 0; i < s->n; i++)
        if ((!last || compare(&s->v[i], last) > 0) && (!best || compare(&s->v[i], best) < 0))
            best = &s->v[i];
    return best;
}

void fk_selector_put(struct fk_buf *b, const struct fk_selector *s)
{
    fk_buf_byte(b, '{');
    const struct fk_matcher *m = NULL;
    for (bool first = true; (m = next(s, m)); first = false) {
        if (!first)
            fk_buf_byte(b, ',');
        put_matcher(b, m);
    }
    fk_buf_byte(b, '}');
}

int fk_selector_labels(const struct fk_selector *s, struct fk_arena *a, struct fk_labels *ret,
                       struct fk_err *err)
{
    struct fk_label in[FK_SELECTOR_MATCHERS];
    for (size_t i = 0; i < s->n; i++) {
        if (s->v[i].op != FK_MATCH_EQ)
            return fk_fail_param(err, "labels",
                                 "labels: '%.*s' must be given with =, not a pattern",
                                 FK_STR_ARG(s->v[i].name));
        in[i] = (struct fk_label){s->v[i].name, s->v[i].value};
    }
    return fk_labels_make(a, in, s->n, ret, err);
}

// ---- name filters
// --------------------------------------------------------------------------------------------------

int fk_name_filter_parse(struct fk_str text, struct fk_name_filter *ret, struct fk_err *err)
{
    struct fk_name_filter f = {.literal = text};
    if (text.n >= 2 && text.p[0] == '/' && text.p[text.n - 1] == '/') {
        int rc = fk_regex_new_unanchored(fk_str_make(text.p + 1, text.n - 2), &f.regex, err);
        if (rc)
            return rc;
    }
    *ret = f;
    return 0;
}

void fk_name_filter_free(struct fk_name_filter *f)
{
    fk_regex_free(f->regex);
    f->regex = NULL;
}

int fk_name_filter_match(const struct fk_name_filter *f, struct fk_str name, bool *ret,
                         struct fk_err *err)
{
    if (f->regex)
        return fk_regex_match(f->regex, name, ret, err);
    *ret = fk_str_eq(f->literal, name);
    return 0;
}
