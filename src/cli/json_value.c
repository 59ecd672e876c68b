// SPDX-License-Identifier: Apache-2.0
// JSON answers as a small tree.
#include "cli/cli_int.h"

static int parse_value(struct fk_json_reader *r, struct fk_json_tok *tok, struct fk_arena *a,
                       struct fk_value **ret, struct fk_err *err);

static int parse_members(struct fk_json_reader *r, struct fk_value *v, struct fk_arena *a,
                         struct fk_err *err)
{
    struct fk_value **end = &v->first;
    enum fk_json_token close = v->kind == FK_JSON_OBJECT ? FK_JSON_OBJECT_END : FK_JSON_ARRAY_END;
    for (;;) {
        struct fk_json_tok tok;
        struct fk_str key = {"", 0};
        int code = fk_json_next(r, &tok, err);
        if (code || tok.kind == close)
            return code;
        if (v->kind == FK_JSON_OBJECT &&
            ((code = fk_json_text(&tok, a, &key, err)) || (code = fk_json_next(r, &tok, err))))
            return code;
        if ((code = parse_value(r, &tok, a, end, err)))
            return code;
        (*end)->key = key;
        end = &(*end)->next;
    }
}

static int parse_value(struct fk_json_reader *r, struct fk_json_tok *tok, struct fk_arena *a,
                       struct fk_value **ret, struct fk_err *err)
{
    struct fk_value *v = fk_arena_zalloc(a, sizeof(*v));
    if (!v)
        return fk_fail_nomem(err);
    v->kind = tok->kind;
    v->text = tok->text;
    *ret = v;
    if (tok->kind == FK_JSON_OBJECT || tok->kind == FK_JSON_ARRAY)
        return parse_members(r, v, a, err);
    return tok->kind == FK_JSON_STRING ? fk_json_text(tok, a, &v->text, err) : 0;
}

int fk_value_parse(struct fk_str json, struct fk_arena *a, struct fk_value **ret,
                   struct fk_err *err)
{
    struct fk_json_reader r;
    struct fk_json_tok tok;
    fk_json_read(&r, json, FK_JSON_NEST);
    int code = fk_json_next(&r, &tok, err);
    return code ? code : parse_value(&r, &tok, a, ret, err);
}

const struct fk_value *fk_value_get(const struct fk_value *v, const char *key)
{
    for (const struct fk_value *m = v ? v->first : NULL; m; m = m->next)
        if (fk_str_eq(m->key, fk_str_of(key)))
            return m;
    return NULL;
}

struct fk_str fk_value_text(const struct fk_value *v, const char *key)
{
    const struct fk_value *m = fk_value_get(v, key);
    return m ? m->text : FK_S("");
}

int64_t fk_value_int(const struct fk_value *v, const char *key)
{
    int64_t n = 0;
    const struct fk_value *m = fk_value_get(v, key);
    if (m)
        (void)fk_str_to_i64(m->text, &n);
    return n;
}

double fk_value_double(const struct fk_value *v, const char *key)
{
    double d = 0;
    const struct fk_value *m = fk_value_get(v, key);
    if (m)
        (void)fk_json_to_f64(&(struct fk_json_tok){.kind = FK_JSON_NUMBER, .text = m->text}, &d);
    return d;
}
