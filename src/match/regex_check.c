// SPDX-License-Identifier: Apache-2.0
// The common subset of RE2 and PCRE2: everything else is refused before it is compiled, so that an
// expression means the same here and in the tools people know, and matches in bounded time mostly.
// Source: github.com/google/re2/wiki/Syntax, pcre2pattern(3).
#include "match/regex_int.h"

#include <stdlib.h>

#define MAX_REPEAT 1000 // as RE2

struct check {
    struct fk_str s;
    size_t at;
    bool quantified; // what stands before is a quantifier
    struct fk_err *err;
};

static int refuse(const struct check *c, const char *what)
{
    return fk_fail_param(c->err, "regex", "regular expression: %s at position %zu %s", what,
                         c->at + 1, "is not supported (RE2's syntax is)");
}

static char peek(const struct check *c, size_t ahead)
{
    return c->at + ahead < c->s.n ? c->s.p[c->at + ahead] : '\0';
}

static bool starts(const struct check *c, struct fk_str what)
{
    return fk_str_starts(fk_str_from(c->s, c->at), what);
}

// At a backslash.
static int check_escape(struct check *c, bool in_class)
{
    char e = peek(c, 1);
    if (c->at + 1 >= c->s.n)
        return fk_fail_param(c->err, "regex", "regular expression: it ends in a backslash");
    if (e == 'Q' && !in_class) { // up to \E all is literal
        ptrdiff_t end = fk_str_find(fk_str_from(c->s, c->at), FK_S("\\E"));
        c->at = end < 0 ? c->s.n : c->at + (size_t)end + 2;
        return 0;
    }
    bool letter = (e >= 'a' && e <= 'z') || (e >= 'A' && e <= 'Z') || (e >= '0' && e <= '9');
    if (letter && e >= '1' && e <= '9')
        return refuse(c, "a backreference");
    if (letter && !strchr(in_class ? "aftnrxpPdDsSwW0" : "aftnrxpPdDsSwW0AzbB", e))
        return refuse(c, "this escape");
    c->at += 2;
    return 0;
}

static int check_class(struct check *c)
{
    c->at++;
    if (peek(c, 0) == '^')
        c->at++;
    if (peek(c, 0) == ']')
        c->at++;
    while (c->at < c->s.n && c->s.p[c->at] != ']') {
        int rc = 0;
        if (c->s.p[c->at] == '\\')
            rc = check_escape(c, true);
        else if (starts(c, FK_S("[:<:]")) || starts(c, FK_S("[:>:]")) || starts(c, FK_S("[.")) ||
                 starts(c, FK_S("[=")))
            return refuse(c, "this class");
        else if (starts(c, FK_S("[:")) && fk_str_find(fk_str_from(c->s, c->at), FK_S(":]")) > 0)
            c->at += (size_t)fk_str_find(fk_str_from(c->s, c->at), FK_S(":]")) + 2;
        else
            c->at++;
        if (rc)
            return rc;
    }
    c->at++;
    return 0;
}

// At "(": only groups, named groups and the flags i, m, s, U.
static int check_group(struct check *c)
{
    if (peek(c, 1) == '*')
        return refuse(c, "a verb");
    if (peek(c, 1) != '?') {
        c->at++;
        return 0;
    }
    if (starts(c, FK_S("(?P<")) ||
        (starts(c, FK_S("(?<")) && peek(c, 3) != '=' && peek(c, 3) != '!')) {
        c->at += 3;
        return 0;
    }
    size_t flags = c->at + 2;
    while (flags < c->s.n && strchr("imsU-", c->s.p[flags]) && c->s.p[flags])
        flags++;
    if (flags < c->s.n && (c->s.p[flags] == ':' || (c->s.p[flags] == ')' && flags > c->at + 2))) {
        c->at = flags;
        return 0;
    }
    return refuse(c, "this kind of group (lookaround, atomic, recursion, comment ...)");
}

// At "{": a quantifier when it reads {n}, {n,} or {n,m}; else plain text. *ret_len: its length or
// 0.
static int check_repeat(struct check *c, size_t *ret_len)
{
    size_t i = c->at + 1;
    uint64_t max = 0;
    bool digits = false, comma = false;
    for (uint64_t v = 0; i < c->s.n; i++) {
        char d = c->s.p[i];
        if (d >= '0' && d <= '9') {
            v = FK_MIN(v * 10 + (uint64_t)(d - '0'), (uint64_t)1000000);
            max = FK_MAX(max, v);
            digits = true;
        } else if (d == ',' && digits && !comma) {
            comma = true;
            v = 0;
        } else {
            break;
        }
    }
    *ret_len = digits && i < c->s.n && c->s.p[i] == '}' ? i + 1 - c->at : 0;
    if (*ret_len && max > MAX_REPEAT)
        return refuse(c, "a repetition of over 1000 times");
    return 0;
}

static int check_one(struct check *c)
{
    size_t repeat = 0;
    char ch = c->s.p[c->at];
    bool was = c->quantified;
    c->quantified = false;
    if (ch == '\\')
        return check_escape(c, false);
    if (ch == '[')
        return check_class(c);
    if (ch == '(')
        return check_group(c);
    if (ch == '{') {
        int rc = check_repeat(c, &repeat);
        if (rc)
            return rc;
    }
    if (was && (ch == '+' || ch == '*' || repeat))
        return refuse(c, "a quantifier behind a quantifier (possessive)");
    c->quantified = (ch == '+' || ch == '*' || repeat || ch == '?') && !(was && ch == '?');
    c->at += repeat ? repeat : 1;
    return 0;
}

int fk_regex_check(struct fk_str pattern, struct fk_err *err)
{
    struct check c = {.s = pattern, .err = err};
    while (c.at < c.s.n) {
        int rc = check_one(&c);
        if (rc)
            return rc;
    }
    return 0;
}

// ---- plain patterns
// ------------------------------------------------------------------------------------------------

void fk_regex_plain_free(struct fk_regex_plain *p)
{
    for (size_t i = 0; i < p->n; i++)
        fk_free(p->text ? (void *)(uintptr_t)p->text[i].p : NULL);
    fk_free(p->text);
    memset(p, 0, sizeof(*p));
}

// Length of ".*" at the end that is not behind a backslash.
static bool ends_open(struct fk_str s)
{
    size_t slashes = 0;
    if (!fk_str_ends(s, FK_S(".*")))
        return false;
    while (slashes + 2 < s.n && s.p[s.n - 3 - slashes] == '\\')
        slashes++;
    return slashes % 2 == 0;
}

// Adds one alternative without its escapes: 1, 0 not plain, -FK_E_NOMEM.
static int add_text(struct fk_regex_plain *p, struct fk_str s)
{
    char *to = fk_malloc(s.n), *at = to;
    if (!to)
        return -FK_E_NOMEM;
    bool plain = true;
    for (size_t i = 0; plain && i < s.n; i++) {
        char c = s.p[i];
        if (c == '\\') {
            c = ++i < s.n ? s.p[i] : 'x';
            plain = (uint8_t)c < 0x80 && !((c | 32) >= 'a' && (c | 32) <= 'z') &&
                    !(c >= '0' && c <= '9');
        } else {
            plain = c == '\0' || !strchr(".^$*+?()[]{}", c);
        }
        *at++ = c;
    }
    if (!plain) {
        fk_free(to);
        return 0;
    }
    p->text[p->n++] = fk_str_make(to, (size_t)(at - to));
    return 1;
}

// The next top-level alternative of *rest; a '|' behind a backslash does not split.
static struct fk_str next_alternative(struct fk_str *rest, bool *ret_more)
{
    size_t i = 0;
    while (i < rest->n && rest->p[i] != '|')
        i += rest->p[i] == '\\' ? 2 : 1;
    i = FK_MIN(i, rest->n);
    struct fk_str part = fk_str_head(*rest, i);
    *ret_more = i < rest->n;
    *rest = fk_str_from(*rest, i + 1);
    return part;
}

int fk_regex_plain(struct fk_str pattern, struct fk_regex_plain *ret)
{
    struct fk_regex_plain p = {0};
    size_t max = 1;
    for (size_t i = 0; i < pattern.n; i++)
        max += pattern.p[i] == '|';
    if (max == 1 && fk_str_starts(pattern, FK_S(".*"))) {
        p.open_left = true;
        pattern = fk_str_from(pattern, 2);
        if (pattern.n && strchr("?+*{", pattern.p[0]))
            return 0;
    }
    if (max == 1 && ends_open(pattern)) {
        p.open_right = true;
        pattern.n -= 2;
    }
    p.text = fk_calloc(max, sizeof(*p.text));
    if (!p.text)
        return -FK_E_NOMEM;
    int rc = 1;
    for (bool more = true; more && rc == 1;)
        rc = add_text(&p, next_alternative(&pattern, &more));
    if (rc == 1)
        *ret = p;
    else
        fk_regex_plain_free(&p);
    return rc;
}
