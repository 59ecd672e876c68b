// SPDX-License-Identifier: Apache-2.0
// Walking over JSON values.
#include "formats/json_int.h"

#include <math.h>

int fk_jval_take(struct fk_json_reader *r, struct fk_jval *ret, struct fk_err *err)
{
    struct fk_json_tok tok;
    int rc = fk_json_next(r, &tok, err);
    if (rc)
        return rc;
    const char *begin = tok.kind == FK_JSON_OBJECT || tok.kind == FK_JSON_ARRAY ? r->p - 1
                        : tok.kind == FK_JSON_STRING                            ? tok.text.p - 1
                                                                                : tok.text.p;
    rc = fk_json_skip(r, &tok, err);
    if (rc)
        return rc;
    ret->tok = tok;
    ret->span = begin ? fk_str_make(begin, (size_t)(r->p - begin)) : (struct fk_str){"", 0};
    return 0;
}

int fk_jval_document(struct fk_str bytes, struct fk_jval *ret, struct fk_err *err)
{
    struct fk_json_reader r;
    struct fk_json_tok end;
    fk_json_read(&r, fk_str_from(bytes, fk_str_starts(bytes, FK_S("\xef\xbb\xbf")) ? 3 : 0),
                 FK_JSON_READ_NEST);
    int rc = fk_jval_take(&r, ret, err);
    return rc ? rc : fk_json_next(&r, &end, err);
}

void fk_jwalk_begin(struct fk_jwalk *w, const struct fk_jval *v)
{
    static const struct fk_str nothing = {"[]", 2};
    struct fk_json_tok open;
    w->object = fk_jval_is(v, FK_JSON_OBJECT);
    fk_json_read(&w->r, w->object || fk_jval_is(v, FK_JSON_ARRAY) ? v->span : nothing,
                 FK_JSON_READ_NEST);
    (void)fk_json_next(&w->r, &open, NULL); // the bracket that was seen before
}

// True when the level that was opened ends here.
static bool at_end(struct fk_jwalk *w)
{
    const char *p = w->r.p;
    while (p < w->r.end && (*p == ' ' || *p == '\t' || *p == '\n' || *p == '\r'))
        p++;
    return p < w->r.end && *p == (w->object ? '}' : ']');
}

int fk_jwalk_next(struct fk_jwalk *w, struct fk_json_tok *ret_key, struct fk_jval *ret,
                  struct fk_err *err)
{
    struct fk_json_tok tok;
    int rc;
    if (w->r.depth == 0 || at_end(w))
        return 0;
    if (w->object) {
        rc = fk_json_next(&w->r, &tok, err);
        if (rc)
            return rc;
        if (ret_key)
            *ret_key = tok;
    }
    rc = fk_jval_take(&w->r, ret, err);
    return rc ? rc : 1;
}

int fk_jval_pick(const struct fk_jval *object, const char *const *names, size_t n,
                 struct fk_jval *ret, struct fk_err *err)
{
    struct fk_jwalk w;
    struct fk_jval value;
    struct fk_json_tok key = {0};
    int more;
    memset(ret, 0, n * sizeof(*ret)); // FK_JSON_END
    if (!fk_jval_is(object, FK_JSON_OBJECT))
        return 0;
    fk_jwalk_begin(&w, object);
    while ((more = fk_jwalk_next(&w, &key, &value, err)) == 1)
        for (size_t i = 0; i < n; i++)
            if (fk_str_eq(key.text, fk_str_of(names[i])))
                ret[i] = value;
    return more;
}

struct fk_str fk_jval_text(const struct fk_jval *v, struct fk_stacks *s)
{
    struct fk_str text = {"", 0};
    if (fk_jval_is(v, FK_JSON_STRING))
        s->nomem |= fk_json_text(&v->tok, s->d->arena, &text, NULL) != 0;
    return text;
}

double fk_jval_f64(const struct fk_jval *v, double otherwise)
{
    double d;
    return fk_json_to_f64(&v->tok, &d) ? otherwise : d;
}

int64_t fk_jval_i64(const struct fk_jval *v, int64_t otherwise)
{
    int64_t i;
    if (fk_json_to_i64(&v->tok, &i) == 0)
        return i;
    double d = fk_jval_f64(v, NAN);
    return d > -0x1p63 && d < 0x1p63 ? (int64_t)d : otherwise;
}

int64_t fk_jval_scaled(const struct fk_jval *v, double scale)
{
    int64_t whole, product;
    if (fk_json_to_i64(&v->tok, &whole) == 0 && scale >= 1 && scale == (double)(int64_t)scale &&
        !__builtin_mul_overflow(whole, (int64_t)scale, &product))
        return product;
    double d = fk_jval_f64(v, NAN) * scale;
    return d > -0x1p62 && d < 0x1p62 ? (int64_t)(d < 0 ? d - 0.5 : d + 0.5) : FK_NO_TIME;
}
