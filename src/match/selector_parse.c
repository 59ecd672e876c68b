// SPDX-License-Identifier: Apache-2.0
// Parsing selectors. Source of the grammar: prometheus.io/docs/prometheus/latest/querying/basics
// ("Time series selectors") and its proposal for quoted names; dots in bare names are our own.
#include "match/match.h"

#include <stdio.h>

struct parser {
    struct fk_str s;
    size_t at;
    struct fk_arena *a;
    struct fk_err *err;
    struct fk_matcher m[FK_SELECTOR_MATCHERS];
    size_t n;
};

static int expected(const struct parser *p, const char *what)
{
    if (p->at < p->s.n)
        return fk_fail_param(p->err, "query", "selector: expected %s at position %zu, found '%.*s'",
                             what, p->at + 1,
                             FK_STR_ARG(fk_str_head(fk_str_from(p->s, p->at), 12)));
    return fk_fail_param(p->err, "query", "selector: expected %s at position %zu, found the end",
                         what, p->at + 1);
}

static void skip_blanks(struct parser *p)
{
    while (p->at < p->s.n && strchr(" \t\r\n", p->s.p[p->at]) && p->s.p[p->at])
        p->at++;
}

static bool take(struct parser *p, char c)
{
    skip_blanks(p);
    if (p->at >= p->s.n || p->s.p[p->at] != c)
        return false;
    p->at++;
    return true;
}

static bool is_first(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool is_next(char c, bool metric)
{
    return is_first(c) || (c >= '0' && c <= '9') || c == '.' || (metric && (c == ':' || c == '-'));
}

bool fk_label_name_is_bare(struct fk_str name)
{
    if (name.n == 0 || !is_first(name.p[0]))
        return false;
    for (size_t i = 1; i < name.n; i++)
        if (!is_next(name.p[i], false))
            return false;
    return true;
}

static struct fk_str bare_name(struct parser *p, bool metric)
{
    size_t begin = p->at;
    if (p->at < p->s.n && is_first(p->s.p[p->at]))
        while (p->at < p->s.n && is_next(p->s.p[p->at], metric))
            p->at++;
    return fk_str_make(p->s.p + begin, p->at - begin);
}

// ---- quoted text
// ---------------------------------------------------------------------------------------------------

static int digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c |= 32;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : 99;
}

// n digits of a base after the escape letter; false when they are not there.
static bool read_digits(struct parser *p, int n, int base, uint32_t *ret)
{
    uint32_t v = 0;
    for (int i = 0; i < n; i++) {
        int d = p->at < p->s.n ? digit(p->s.p[p->at]) : 99;
        if (d >= base)
            return false;
        v = v * (uint32_t)base + (uint32_t)d;
        p->at++;
    }
    *ret = v;
    return true;
}

static bool put_code_point(char **to, uint32_t c)
{
    char *t = *to;
    if (c > 0x10ffff || (c >= 0xd800 && c < 0xe000))
        return false;
    int more = c < 0x80 ? 0 : c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
    static const uint8_t lead[] = {0, 0xc0, 0xe0, 0xf0};
    *t++ = (char)(lead[more] | c >> (6 * more));
    while (more--)
        *t++ = (char)(0x80 | (c >> (6 * more) & 63));
    *to = t;
    return true;
}

// Behind a backslash. Never writes more than it reads.
static bool read_escape(struct parser *p, char **to)
{
    static const char from[] = "abfnrtv\\\"'`", into[] = "\a\b\f\n\r\t\v\\\"'`";
    char c = p->at < p->s.n ? p->s.p[p->at] : '\0';
    const char *at = c ? strchr(from, c) : NULL;
    uint32_t v;
    if (at) {
        p->at++;
        *(*to)++ = into[at - from];
        return true;
    }
    if (c >= '0' && c <= '7') {
        if (!read_digits(p, 3, 8, &v) || v > 255)
            return false;
        *(*to)++ = (char)v;
        return true;
    }
    p->at++;
    if (c == 'x') {
        if (!read_digits(p, 2, 16, &v))
            return false;
        *(*to)++ = (char)v;
        return true;
    }
    if (c != 'u' && c != 'U')
        return false;
    return read_digits(p, c == 'u' ? 4 : 8, 16, &v) && put_code_point(to, v);
}

static int read_quoted(struct parser *p, struct fk_str *ret)
{
    char quote = p->s.p[p->at++], *begin = fk_arena_alloc(p->a, p->s.n - p->at + 1), *to = begin;
    if (!begin)
        return fk_fail_nomem(p->err);
    while (p->at < p->s.n && p->s.p[p->at] != quote) {
        char c = p->s.p[p->at++];
        if (c != '\\' || quote == '`')
            *to++ = c;
        else if (!read_escape(p, &to))
            return expected(p, "a valid escape");
    }
    if (p->at >= p->s.n)
        return expected(p, quote == '"'    ? "a closing \""
                           : quote == '\'' ? "a closing '"
                                           : "a closing `");
    p->at++;
    *ret = fk_str_make(begin, (size_t)(to - begin));
    return 0;
}

static bool at_quote(struct parser *p)
{
    skip_blanks(p);
    return p->at < p->s.n &&
           (p->s.p[p->at] == '"' || p->s.p[p->at] == '\'' || p->s.p[p->at] == '`');
}

// ---- matchers
// ------------------------------------------------------------------------------------------------------

// The limit on steps may hit even the empty text: an absent label is asked about at once.
static int finish_matcher(struct parser *p, struct fk_matcher *m)
{
    if (m->op == FK_MATCH_RE || m->op == FK_MATCH_NRE) {
        int rc = fk_regex_new(m->value, &m->regex, p->err);
        if (rc == -FK_E_INVALID && p->err)
            snprintf(p->err->param, sizeof(p->err->param), "query");
        if (rc)
            return rc;
    }
    int rc = fk_matcher_match(m, FK_S(""), &m->matches_empty, p->err);
    if (rc)
        fk_regex_free(m->regex);
    return rc;
}

static int add(struct parser *p, struct fk_str name, enum fk_match_op op, struct fk_str value)
{
    if (p->n == FK_SELECTOR_MATCHERS)
        return fk_fail_param(p->err, "query", "selector: more than %d matchers",
                             FK_SELECTOR_MATCHERS);
    struct fk_matcher m = {.op = op, .name = fk_arena_str(p->a, name), .value = value};
    if (!m.name.p || !value.p)
        return fk_fail_nomem(p->err);
    int rc = finish_matcher(p, &m);
    if (!rc)
        p->m[p->n++] = m;
    return rc;
}

static int read_op(struct parser *p, enum fk_match_op *ret)
{
    skip_blanks(p);
    struct fk_str rest = fk_str_from(p->s, p->at);
    static const struct {
        struct fk_str text;
        enum fk_match_op op;
    } ops[] = {{{"=~", 2}, FK_MATCH_RE},
               {{"!~", 2}, FK_MATCH_NRE},
               {{"!=", 2}, FK_MATCH_NE},
               {{"=", 1}, FK_MATCH_EQ}};
    for (size_t i = 0; i < FK_COUNTOF(ops); i++)
        if (fk_str_starts(rest, ops[i].text)) {
            p->at += ops[i].text.n;
            *ret = ops[i].op;
            return 0;
        }
    return expected(p, "one of = != =~ !~");
}

static int read_matcher(struct parser *p)
{
    struct fk_str name = {0}, value = {0};
    enum fk_match_op op = FK_MATCH_EQ;
    int rc;
    if (at_quote(p)) {
        if ((rc = read_quoted(p, &name)))
            return rc;
        skip_blanks(p);
        if (p->at < p->s.n && (p->s.p[p->at] == ',' || p->s.p[p->at] == '}'))
            return add(p, FK_S("__name__"), FK_MATCH_EQ, name);
        if (name.n == 0)
            return fk_fail_param(p->err, "query", "selector: an empty label name");
    } else {
        name = bare_name(p, false);
        if (name.n == 0)
            return expected(p, "a label name");
    }
    if ((rc = read_op(p, &op)))
        return rc;
    if (!at_quote(p))
        return expected(p, "a value in quotes");
    if ((rc = read_quoted(p, &value)))
        return rc;
    return add(p, name, op, value);
}

static int read_braces(struct parser *p)
{
    while (!take(p, '}')) {
        int rc = read_matcher(p);
        if (rc)
            return rc;
        if (take(p, ','))
            continue;
        if (take(p, '}'))
            return 0;
        return expected(p, "',' or '}'");
    }
    return 0;
}

static int read_selector(struct parser *p)
{
    int rc = 0;
    skip_blanks(p);
    struct fk_str name = bare_name(p, true);
    if (name.n)
        rc = add(p, FK_S("__name__"), FK_MATCH_EQ, fk_arena_str(p->a, name));
    if (!rc && take(p, '{'))
        rc = read_braces(p);
    else if (!rc && !name.n && p->at < p->s.n)
        return expected(p, "'{' or a name");
    if (rc)
        return rc;
    skip_blanks(p);
    return p->at < p->s.n ? expected(p, "the end") : 0;
}

static int keep(struct parser *p, struct fk_selector **ret)
{
    struct fk_selector *s = fk_arena_alloc(p->a, sizeof(*s));
    struct fk_matcher *v = fk_arena_array(p->a, p->n + 1, sizeof(*v));
    if (!s || !v)
        return fk_fail_nomem(p->err);
    memcpy(v, p->m, p->n * sizeof(*v));
    *s = (struct fk_selector){v, p->n};
    *ret = s;
    return 0;
}

int fk_selector_parse(struct fk_str text, struct fk_arena *a, struct fk_selector **ret,
                      struct fk_err *err)
{
    struct parser p = {.s = text, .a = a, .err = err};
    int rc = read_selector(&p);
    if (!rc)
        rc = keep(&p, ret);
    for (size_t i = 0; rc && i < p.n; i++)
        fk_regex_free(p.m[i].regex);
    return rc;
}
