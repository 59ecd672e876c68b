// SPDX-License-Identifier: Apache-2.0
// Reading JSON, a token at a time.
#include "codec/json.h"

#include <stdlib.h>

enum state {
    WANT_VALUE,        // the top value, or a value after ':' or ','
    WANT_FIRST,        // after '[': a value or ']'
    WANT_FIRST_KEY,    // after '{': a key or '}'
    WANT_KEY,          // after ',' in an object
    WANT_COMMA_OR_END, // after a member
    DONE,              // after the top value
};

void fk_json_read(struct fk_json_reader *r, struct fk_str bytes, uint32_t max_depth)
{
    const char *p = bytes.p ? bytes.p : "";
    r->p = r->begin = p;
    r->end = p + bytes.n;
    r->depth = 0;
    r->max_depth = FK_MIN(max_depth, (uint32_t)FK_JSON_READ_NEST);
    r->state = WANT_VALUE;
}

static int fail(const struct fk_json_reader *r, const char *expected, struct fk_err *err)
{
    return fk_fail(err, FK_E_FORMAT, "JSON: expected %s at byte %zu", expected,
                   (size_t)(r->p - r->begin));
}

static void skip_blanks(struct fk_json_reader *r)
{
    while (r->p < r->end && (*r->p == ' ' || *r->p == '\t' || *r->p == '\n' || *r->p == '\r'))
        r->p++;
}

static bool in_object(const struct fk_json_reader *r)
{
    return r->object[r->depth / 64] >> (r->depth & 63) & 1;
}

static void after_value(struct fk_json_reader *r)
{
    r->state = r->depth ? WANT_COMMA_OR_END : DONE;
}

static bool is_hex4(const char *p)
{
    for (int i = 0; i < 4; i++)
        if (!((p[i] >= '0' && p[i] <= '9') || ((p[i] | 32) >= 'a' && (p[i] | 32) <= 'f')))
            return false;
    return true;
}

// At the opening quote; checks escapes, so that fk_json_text need not.
static int read_string(struct fk_json_reader *r, struct fk_json_tok *t, struct fk_err *err)
{
    const char *begin = ++r->p;
    t->escaped = false;
    for (; r->p < r->end && *r->p != '"'; r->p++) {
        if ((uint8_t)*r->p < 0x20)
            return fail(r, "no control character in a string", err);
        if (*r->p != '\\')
            continue;
        t->escaped = true;
        if (++r->p == r->end)
            break;
        if (*r->p == 'u') {
            if (r->end - r->p < 5 || !is_hex4(r->p + 1))
                return fail(r, "four hexadecimal digits", err);
            r->p += 4;
        } else if (!memchr("\"\\/bfnrt", *r->p, 8)) {
            return fail(r, "a valid escape", err);
        }
    }
    if (r->p >= r->end)
        return fail(r, "the end of the string", err);
    t->text = fk_str_make(begin, (size_t)(r->p - begin));
    r->p++;
    return 0;
}

static size_t digits(struct fk_json_reader *r)
{
    const char *begin = r->p;
    while (r->p < r->end && *r->p >= '0' && *r->p <= '9')
        r->p++;
    return (size_t)(r->p - begin);
}

static int read_number(struct fk_json_reader *r, struct fk_json_tok *t, struct fk_err *err)
{
    const char *begin = r->p;
    if (r->p < r->end && *r->p == '-')
        r->p++;
    bool zero = r->p < r->end && *r->p == '0';
    size_t n = digits(r);
    if (n == 0 || (zero && n > 1))
        return fail(r, "a number", err);
    if (r->p < r->end && *r->p == '.') {
        r->p++;
        if (digits(r) == 0)
            return fail(r, "digits after the point", err);
    }
    if (r->p < r->end && (*r->p | 32) == 'e') {
        r->p++;
        if (r->p < r->end && (*r->p == '+' || *r->p == '-'))
            r->p++;
        if (digits(r) == 0)
            return fail(r, "digits of an exponent", err);
    }
    t->kind = FK_JSON_NUMBER;
    t->text = fk_str_make(begin, (size_t)(r->p - begin));
    return 0;
}

static int read_word(struct fk_json_reader *r, struct fk_json_tok *t, struct fk_err *err)
{
    static const struct {
        struct fk_str word;
        enum fk_json_token kind;
    } words[] = {
        {{"true", 4}, FK_JSON_TRUE}, {{"false", 5}, FK_JSON_FALSE}, {{"null", 4}, FK_JSON_NULL}};
    struct fk_str left = fk_str_make(r->p, (size_t)(r->end - r->p));
    for (size_t i = 0; i < FK_COUNTOF(words); i++)
        if (fk_str_starts(left, words[i].word)) {
            r->p += words[i].word.n;
            t->kind = words[i].kind;
            return 0;
        }
    return fail(r, "a value", err);
}

static int open_level(struct fk_json_reader *r, struct fk_json_tok *t, struct fk_err *err)
{
    char bracket = *r->p;
    if (r->depth >= r->max_depth)
        return fk_fail_limit(err, "depth", r->max_depth, NULL, "JSON is nested too deep");
    r->p++;
    uint64_t bit = (uint64_t)1 << (++r->depth & 63);
    if (bracket == '{')
        r->object[r->depth / 64] |= bit;
    else
        r->object[r->depth / 64] &= ~bit;
    r->state = bracket == '{' ? WANT_FIRST_KEY : WANT_FIRST;
    t->kind = bracket == '{' ? FK_JSON_OBJECT : FK_JSON_ARRAY;
    return 0;
}

static int read_value(struct fk_json_reader *r, struct fk_json_tok *t, struct fk_err *err)
{
    int rc;
    char c = r->p < r->end ? *r->p : '\0';
    if (c == '{' || c == '[')
        return open_level(r, t, err);
    if (c == '"') {
        t->kind = FK_JSON_STRING;
        rc = read_string(r, t, err);
    } else if (c == '-' || (c >= '0' && c <= '9')) {
        rc = read_number(r, t, err);
    } else {
        rc = read_word(r, t, err);
    }
    if (!rc)
        after_value(r);
    return rc;
}

static int read_key(struct fk_json_reader *r, struct fk_json_tok *t, struct fk_err *err)
{
    if (r->p >= r->end || *r->p != '"')
        return fail(r, "a name in quotes", err);
    int rc = read_string(r, t, err);
    if (rc)
        return rc;
    skip_blanks(r);
    if (r->p >= r->end || *r->p != ':')
        return fail(r, "':'", err);
    r->p++;
    t->kind = FK_JSON_KEY;
    r->state = WANT_VALUE;
    return 0;
}

// True when the level that is open ends here.
static bool close_level(struct fk_json_reader *r, struct fk_json_tok *t)
{
    char closing = in_object(r) ? '}' : ']';
    if (r->p >= r->end || *r->p != closing)
        return false;
    r->p++;
    r->depth--;
    t->kind = closing == '}' ? FK_JSON_OBJECT_END : FK_JSON_ARRAY_END;
    after_value(r);
    return true;
}

static int next(struct fk_json_reader *r, struct fk_json_tok *t, struct fk_err *err)
{
    skip_blanks(r);
    if (r->state == WANT_COMMA_OR_END) {
        if (close_level(r, t))
            return 0;
        if (r->p >= r->end || *r->p != ',')
            return fail(r, in_object(r) ? "',' or '}'" : "',' or ']'", err);
        r->p++;
        skip_blanks(r);
        r->state = in_object(r) ? WANT_KEY : WANT_VALUE;
    } else if ((r->state == WANT_FIRST || r->state == WANT_FIRST_KEY) && close_level(r, t)) {
        return 0;
    }
    if (r->state == DONE) {
        if (r->p < r->end)
            return fail(r, "the end", err);
        t->kind = FK_JSON_END;
        return 0;
    }
    if (r->state == WANT_KEY || r->state == WANT_FIRST_KEY)
        return read_key(r, t, err);
    return read_value(r, t, err);
}

int fk_json_next(struct fk_json_reader *r, struct fk_json_tok *ret, struct fk_err *err)
{
    struct fk_json_tok t = {0};
    int rc = next(r, &t, err);
    if (!rc)
        *ret = t;
    return rc;
}

int fk_json_skip(struct fk_json_reader *r, const struct fk_json_tok *tok, struct fk_err *err)
{
    if (tok->kind == FK_JSON_KEY) {
        struct fk_json_tok value;
        int rc = fk_json_next(r, &value, err);
        return rc ? rc : fk_json_skip(r, &value, err);
    }
    if (tok->kind != FK_JSON_OBJECT && tok->kind != FK_JSON_ARRAY)
        return 0;
    struct fk_json_tok t;
    for (uint32_t until = r->depth - 1; r->depth > until;) {
        int rc = fk_json_next(r, &t, err);
        if (rc)
            return rc;
    }
    return 0;
}

static uint32_t hex4(const char *p)
{
    uint32_t v = 0;
    for (int i = 0; i < 4; i++)
        v = v * 16 + (uint32_t)(p[i] <= '9' ? p[i] - '0' : (p[i] | 32) - 'a' + 10);
    return v;
}

static char *put_utf8(char *to, uint32_t c)
{
    if (c < 0x80) {
        *to++ = (char)c;
    } else if (c < 0x800) {
        *to++ = (char)(0xc0 | c >> 6);
        *to++ = (char)(0x80 | (c & 63));
    } else if (c < 0x10000) {
        *to++ = (char)(0xe0 | c >> 12);
        *to++ = (char)(0x80 | (c >> 6 & 63));
        *to++ = (char)(0x80 | (c & 63));
    } else {
        *to++ = (char)(0xf0 | c >> 18);
        *to++ = (char)(0x80 | (c >> 12 & 63));
        *to++ = (char)(0x80 | (c >> 6 & 63));
        *to++ = (char)(0x80 | (c & 63));
    }
    return to;
}

// One \uXXXX (p at the first digit), with its low surrogate if it has one; returns bytes read.
static size_t unescape_unicode(const char *p, const char *end, char **to)
{
    uint32_t c = hex4(p);
    size_t used = 4;
    if (c >= 0xd800 && c < 0xdc00 && end - p >= 10 && p[4] == '\\' && p[5] == 'u') {
        uint32_t low = hex4(p + 6);
        if (low >= 0xdc00 && low < 0xe000) {
            c = 0x10000 + ((c - 0xd800) << 10) + (low - 0xdc00);
            used = 10;
        }
    }
    *to = put_utf8(*to, c >= 0xd800 && c < 0xe000 ? 0xfffd : c);
    return used;
}

// Never longer than what was written: six bytes give at most three, twelve four.
int fk_json_text(const struct fk_json_tok *tok, struct fk_arena *a, struct fk_str *ret,
                 struct fk_err *err)
{
    if (!tok->escaped) {
        *ret = tok->text;
        return 0;
    }
    char *begin = fk_arena_alloc(a, tok->text.n), *to = begin;
    if (!begin)
        return fk_fail_nomem(err);
    const char *end = tok->text.p + tok->text.n;
    for (const char *p = tok->text.p; p < end;) {
        if (*p != '\\') {
            *to++ = *p++;
            continue;
        }
        const char *from = "bfnrt", *into = "\b\f\n\r\t";
        const char *at = strchr(from, p[1]);
        if (p[1] == 'u') {
            p += 2 + unescape_unicode(p + 2, end, &to);
            continue;
        }
        *to++ = at ? into[at - from] : p[1];
        p += 2;
    }
    *ret = fk_str_make(begin, (size_t)(to - begin));
    return 0;
}

// An integer written with a point or exponent: exact or nothing.
static int exact_i64(struct fk_str s, int64_t *ret)
{
    char text[64];
    if (s.n == 0 || s.n >= sizeof(text))
        return -FK_E_FORMAT;
    memcpy(text, s.p, s.n);
    text[s.n] = '\0';
    char *end;
    double v = strtod(text, &end);
    if (end != text + s.n || !(v >= -0x1p53 && v <= 0x1p53) || v != (double)(int64_t)v)
        return -FK_E_FORMAT;
    *ret = (int64_t)v;
    return 0;
}

static bool numeric(const struct fk_json_tok *t)
{
    if ((t->kind != FK_JSON_NUMBER && t->kind != FK_JSON_STRING) || t->text.n == 0)
        return false;
    for (size_t i = 0; i < t->text.n; i++)
        if (!strchr("0123456789+-.eE", t->text.p[i]) || t->text.p[i] == '\0')
            return false;
    return true;
}

int fk_json_to_i64(const struct fk_json_tok *tok, int64_t *ret)
{
    if (!numeric(tok))
        return -FK_E_FORMAT;
    return fk_str_to_i64(tok->text, ret) ? exact_i64(tok->text, ret) : 0;
}

int fk_json_to_f64(const struct fk_json_tok *tok, double *ret)
{
    char text[400];
    char *end;
    if (!numeric(tok) || tok->text.n >= sizeof(text))
        return -FK_E_FORMAT;
    memcpy(text, tok->text.p, tok->text.n);
    text[tok->text.n] = '\0';
    double v = strtod(text, &end);
    if (end != text + tok->text.n)
        return -FK_E_FORMAT;
    *ret = v;
    return 0;
}
