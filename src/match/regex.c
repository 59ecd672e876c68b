// SPDX-License-Identifier: Apache-2.0
// Regular expressions: plain text where that is all a pattern is, else PCRE2 with its just-in-time
// compiler and a limit on its steps.
#define PCRE2_CODE_UNIT_WIDTH 8
#include "match/regex_int.h"

#include <pcre2.h>

#define MAX_PATTERN    ((size_t)16 << 10)
#define MATCH_LIMIT    1000000u
#define HEAP_LIMIT_KIB 20480u
#define SHADOW         0x10ff00u // code point of byte 0

struct fk_regex {
    bool is_plain;
    struct fk_regex_plain plain;
    pcre2_general_context *memory;
    pcre2_match_context *limits;
    pcre2_code *code;
};

static void *take(size_t n, void *arg)
{
    (void)arg;
    return fk_malloc(n);
}

static void give(void *p, void *arg)
{
    (void)arg;
    fk_free(p);
}

void fk_regex_free(struct fk_regex *r)
{
    if (!r)
        return;
    fk_regex_plain_free(&r->plain);
    pcre2_code_free(r->code);
    pcre2_match_context_free(r->limits);
    pcre2_general_context_free(r->memory);
    fk_free(r);
}

static size_t utf8_length(struct fk_str s)
{
    uint8_t c = (uint8_t)s.p[0];
    size_t n = c < 0x80 ? 1 : c >= 0xf0 ? 4 : c >= 0xe0 ? 3 : 2;
    return n <= s.n && fk_str_is_utf8(fk_str_head(s, n)) ? n : 0;
}

void fk_regex_shadow(struct fk_buf *b, struct fk_str text)
{
    while (text.n) {
        size_t n = utf8_length(text);
        if (n) {
            fk_buf_put(b, text.p, n);
        } else {
            uint32_t c = SHADOW + (uint8_t)text.p[0];
            const uint8_t four[4] = {(uint8_t)(0xf0 | c >> 18), (uint8_t)(0x80 | (c >> 12 & 63)),
                                     (uint8_t)(0x80 | (c >> 6 & 63)), (uint8_t)(0x80 | (c & 63))};
            fk_buf_put(b, four, 4);
        }
        text = fk_str_from(text, n ? n : 1);
    }
}

static int compile(struct fk_regex *r, struct fk_str pattern, uint32_t options, struct fk_err *err)
{
    int code;
    PCRE2_SIZE at;
    options |= PCRE2_UTF | PCRE2_DOTALL | PCRE2_NEVER_BACKSLASH_C | PCRE2_DOLLAR_ENDONLY;
    r->memory = pcre2_general_context_create(take, give, NULL);
    r->limits = r->memory ? pcre2_match_context_create(r->memory) : NULL;
    pcre2_compile_context *c = r->limits ? pcre2_compile_context_create(r->memory) : NULL;
    if (!c)
        return fk_fail_nomem(err);
    pcre2_set_match_limit(r->limits, MATCH_LIMIT);
    pcre2_set_heap_limit(r->limits, HEAP_LIMIT_KIB);
    pcre2_set_parens_nest_limit(c, 100);
    r->code =
        pcre2_compile((PCRE2_SPTR)(pattern.n ? pattern.p : ""), pattern.n, options, &code, &at, c);
    pcre2_compile_context_free(c);
    if (!r->code && code == PCRE2_ERROR_HEAP_FAILED)
        return fk_fail_nomem(err);
    if (!r->code) {
        PCRE2_UCHAR text[160];
        pcre2_get_error_message(code, text, sizeof(text));
        return fk_fail_param(err, "regex", "regular expression: %s at position %zu",
                             (const char *)text, at + 1);
    }
    // Where memory may not be made executable the interpreter does it.
    (void)pcre2_jit_compile(r->code, PCRE2_JIT_COMPLETE);
    return 0;
}

static int compile_shadowed(struct fk_regex *r, struct fk_str pattern, uint32_t options,
                            struct fk_err *err)
{
    FK_AUTO_BUF b;
    fk_buf_init(&b, 0);
    if (fk_str_is_utf8(pattern))
        return compile(r, pattern, options, err);
    fk_regex_shadow(&b, pattern);
    int rc = fk_buf_check(&b, "regular expression", err);
    return rc ? rc : compile(r, fk_buf_view(&b), options, err);
}

static int regex_new(struct fk_str pattern, bool anchored, struct fk_regex **ret,
                     struct fk_err *err)
{
    if (pattern.n > MAX_PATTERN)
        return fk_fail_param(err, "regex", "regular expression: longer than %zu bytes",
                             MAX_PATTERN);
    int rc = fk_regex_check(pattern, err);
    if (rc)
        return rc;
    struct fk_regex *r = fk_calloc(1, sizeof(*r));
    if (!r)
        return fk_fail_nomem(err);
    rc = fk_regex_plain(pattern, &r->plain);
    if (rc < 0) {
        rc = fk_fail_nomem(err);
    } else if (rc == 1 && (anchored || r->plain.n == 1)) {
        r->is_plain = true;
        r->plain.open_left |= !anchored;
        r->plain.open_right |= !anchored;
        rc = 0;
    } else {
        rc = compile_shadowed(r, pattern, anchored ? PCRE2_ANCHORED | PCRE2_ENDANCHORED : 0, err);
    }
    if (rc)
        fk_regex_free(r);
    else
        *ret = r;
    return rc;
}

int fk_regex_new(struct fk_str pattern, struct fk_regex **ret, struct fk_err *err)
{
    return regex_new(pattern, true, ret, err);
}

int fk_regex_new_unanchored(struct fk_str pattern, struct fk_regex **ret, struct fk_err *err)
{
    return regex_new(pattern, false, ret, err);
}

static bool match_plain(const struct fk_regex_plain *p, struct fk_str s)
{
    if (p->open_left && p->open_right)
        return fk_str_find(s, p->text[0]) >= 0;
    if (p->open_left)
        return fk_str_ends(s, p->text[0]);
    if (p->open_right)
        return fk_str_starts(s, p->text[0]);
    for (size_t i = 0; i < p->n; i++)
        if (fk_str_eq(p->text[i], s))
            return true;
    return false;
}

static int run(const struct fk_regex *r, struct fk_str s, pcre2_match_data *m)
{
    PCRE2_SPTR text = (PCRE2_SPTR)(s.n ? s.p : "");
    int rc = pcre2_match(r->code, text, s.n, 0, PCRE2_NO_UTF_CHECK, m, r->limits);
    if (rc == PCRE2_ERROR_JIT_STACKLIMIT) // the interpreter has its stack on the heap
        rc = pcre2_match(r->code, text, s.n, 0, PCRE2_NO_UTF_CHECK | PCRE2_NO_JIT, m, r->limits);
    return rc;
}

static int match_utf8(const struct fk_regex *r, struct fk_str s, bool *ret, struct fk_err *err)
{
    pcre2_match_data *m = pcre2_match_data_create(1, r->memory);
    int rc = m ? run(r, s, m) : PCRE2_ERROR_NOMEMORY;
    pcre2_match_data_free(m);
    if (rc >= 0 || rc == PCRE2_ERROR_NOMATCH) {
        *ret = rc >= 0;
        return 0;
    }
    if (rc == PCRE2_ERROR_NOMEMORY)
        return fk_fail_nomem(err);
    return fk_fail_limit(err, "regex", MATCH_LIMIT, NULL,
                         "the regular expression takes too many steps on '%.*s'; make it simpler",
                         FK_STR_ARG(fk_str_head(s, 40)));
}

int fk_regex_match(const struct fk_regex *r, struct fk_str text, bool *ret, struct fk_err *err)
{
    if (r->is_plain) {
        *ret = match_plain(&r->plain, text);
        return 0;
    }
    if (fk_str_is_utf8(text))
        return match_utf8(r, text, ret, err);
    FK_AUTO_BUF b;
    fk_buf_init(&b, 0);
    fk_regex_shadow(&b, text);
    int rc = fk_buf_check(&b, "text", err);
    return rc ? rc : match_utf8(r, fk_buf_view(&b), ret, err);
}
