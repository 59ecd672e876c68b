// SPDX-License-Identifier: Apache-2.0
// The proto3 JSON codec over message tables: both spellings of names are read, 64-bit integers are
// written as strings, bytes are base64 (both alphabets are read), enums are written by name.
#include "rpc/msg_int.h"

#include <math.h>
#include <stdio.h>

// ---- reading ----

static const struct fk_field *field_named(const struct fk_msg_type *t, struct fk_str name)
{
    for (size_t i = 0; i < t->n; i++)
        if (fk_str_eq(name, fk_str_of(t->field[i].json)) ||
            fk_str_eq(name, fk_str_of(t->field[i].name)))
            return &t->field[i];
    return NULL;
}

static int bad_value(const struct fk_msg_type *t, const struct fk_field *f, struct fk_err *err)
{
    return fk_fail(err, FK_E_FORMAT, "%s.%s has a value of the wrong kind", t->name, f->json);
}

static int read_message(const struct fk_msg_type *t, struct fk_json_reader *r, struct fk_arena *a,
                        void *out, struct fk_err *err);

static int read_enum(const struct fk_field *f, const struct fk_json_tok *tok, int64_t *to)
{
    for (int i = 0; tok->kind == FK_JSON_STRING && f->names[i]; i++)
        if (fk_str_eq(tok->text, fk_str_of(f->names[i]))) {
            *to = i;
            return 0;
        }
    return fk_json_to_i64(tok, to);
}

// Unsigned 64-bit integers lie in the same member; those beyond INT64_MAX only as plain digits.
static int read_u64(const struct fk_json_tok *tok, int64_t *to)
{
    uint64_t v;
    if (fk_json_to_i64(tok, to) == 0)
        return *to < 0 ? -FK_E_FORMAT : 0;
    if ((tok->kind != FK_JSON_STRING && tok->kind != FK_JSON_NUMBER) ||
        fk_str_to_u64(tok->text, &v))
        return -FK_E_FORMAT;
    *to = (int64_t)v;
    return 0;
}

// ProtoJSON has names for what JSON has no numbers for.
static const struct {
    const char *name;
    double value;
} special[] = {{"NaN", NAN}, {"Infinity", INFINITY}, {"-Infinity", -INFINITY}};

static int read_f64(const struct fk_json_tok *tok, double *to)
{
    for (size_t i = 0; tok->kind == FK_JSON_STRING && i < FK_COUNTOF(special); i++)
        if (fk_str_eq(tok->text, fk_str_of(special[i].name))) {
            *to = special[i].value;
            return 0;
        }
    return fk_json_to_f64(tok, to);
}

static int read_text(const struct fk_msg_type *t, const struct fk_field *f,
                     const struct fk_json_tok *tok, struct fk_arena *a, struct fk_str *to,
                     struct fk_err *err)
{
    struct fk_str text;
    int r = 0;
    if (tok->kind != FK_JSON_STRING)
        return bad_value(t, f, err);
    if ((r = fk_json_text(tok, a, &text, err)))
        return r;
    if (f->kind == FK_FIELD_BYTES && (r = fk_base64_decode(text, a, &text)))
        return r == -FK_E_NOMEM ? fk_fail_nomem(err) : bad_value(t, f, err);
    *to = text;
    return 0;
}

static int read_scalar(const struct fk_msg_type *t, const struct fk_field *f,
                       const struct fk_json_tok *tok, struct fk_arena *a, void *to,
                       struct fk_err *err)
{
    int r = 0;
    switch (f->kind) {
    case FK_FIELD_STR:
    case FK_FIELD_BYTES:
        return read_text(t, f, tok, a, to, err);
    case FK_FIELD_BOOL:
        *(bool *)to = tok->kind == FK_JSON_TRUE;
        return tok->kind == FK_JSON_TRUE || tok->kind == FK_JSON_FALSE ? 0 : bad_value(t, f, err);
    case FK_FIELD_F64:
        r = read_f64(tok, to);
        break;
    case FK_FIELD_U64:
        r = read_u64(tok, to);
        break;
    case FK_FIELD_ENUM:
        r = read_enum(f, tok, to);
        break;
    case FK_FIELD_TIME:
        r = tok->kind == FK_JSON_STRING ? fk_time_parse(tok->text, 0, to, NULL) : -1;
        break;
    case FK_FIELD_I64:
    case FK_FIELD_I32:
    case FK_FIELD_MSG:
        r = fk_json_to_i64(tok, to);
        break;
    }
    return r ? bad_value(t, f, err) : 0;
}

static int read_value(const struct fk_msg_type *t, const struct fk_field *f,
                      struct fk_json_reader *r, const struct fk_json_tok *tok, struct fk_arena *a,
                      void *to, struct fk_err *err)
{
    if (f->kind != FK_FIELD_MSG)
        return read_scalar(t, f, tok, a, to, err);
    return tok->kind == FK_JSON_OBJECT ? read_message(f->type, r, a, to, err)
                                       : bad_value(t, f, err);
}

static int read_list(const struct fk_msg_type *t, const struct fk_field *f,
                     struct fk_json_reader *r, struct fk_arena *a, struct fk_list *l,
                     struct fk_err *err)
{
    for (;;) {
        struct fk_json_tok tok;
        int code = fk_json_next(r, &tok, err);
        if (code || tok.kind == FK_JSON_ARRAY_END)
            return code;
        void *to = fk_list_add(l, fk_field_size(f), a);
        if (!to)
            return fk_fail_nomem(err);
        if ((code = read_value(t, f, r, &tok, a, to, err)))
            return code;
    }
}

static int read_field(const struct fk_msg_type *t, const struct fk_json_tok *key,
                      struct fk_json_reader *r, struct fk_arena *a, void *out, struct fk_err *err)
{
    struct fk_str name;
    struct fk_json_tok tok;
    int code = fk_json_text(key, a, &name, err);
    if (code || (code = fk_json_next(r, &tok, err)))
        return code;
    const struct fk_field *f = field_named(t, name);
    if (!f)
        return fk_json_skip(r, &tok, err);
    if (tok.kind == FK_JSON_NULL)
        return 0;
    void *to = (char *)out + f->offset;
    if (f->optional && !(to = fk_field_make(f, to, a)))
        return fk_fail_nomem(err);
    if (!f->repeated)
        return read_value(t, f, r, &tok, a, to, err);
    return tok.kind == FK_JSON_ARRAY ? read_list(t, f, r, a, to, err) : bad_value(t, f, err);
}

static int read_message(const struct fk_msg_type *t, struct fk_json_reader *r, struct fk_arena *a,
                        void *out, struct fk_err *err)
{
    for (;;) {
        struct fk_json_tok tok;
        int code = fk_json_next(r, &tok, err);
        if (code || tok.kind == FK_JSON_OBJECT_END)
            return code;
        if ((code = read_field(t, &tok, r, a, out, err)))
            return code;
    }
}

int fk_msg_decode_json(const struct fk_msg_type *t, struct fk_str json, struct fk_arena *a,
                       void *out, struct fk_err *err)
{
    struct fk_json_reader r;
    struct fk_json_tok tok;
    memset(out, 0, t->size);
    fk_json_read(&r, json, FK_JSON_NEST);
    int code = fk_json_next(&r, &tok, err);
    if (code)
        return code;
    if (tok.kind != FK_JSON_OBJECT)
        return fk_fail(err, FK_E_FORMAT, "%s: the JSON body is not an object", t->name);
    if ((code = read_message(t, &r, a, out, err)))
        return code;
    return fk_json_next(&r, &tok, err); // nothing but blanks may follow
}

// ---- writing ----

static bool is_default(const struct fk_field *f, const void *from)
{
    if (f->repeated)
        return ((const struct fk_list *)from)->n == 0;
    if (f->optional)
        return !*(void *const *)from;
    switch (f->kind) {
    case FK_FIELD_STR:
    case FK_FIELD_BYTES:
        return ((const struct fk_str *)from)->n == 0;
    case FK_FIELD_BOOL:
        return !*(const bool *)from;
    case FK_FIELD_F64:
        return fk_load64(from) == 0;
    case FK_FIELD_MSG:
        return false;
    case FK_FIELD_I64:
    case FK_FIELD_U64:
    case FK_FIELD_I32:
    case FK_FIELD_ENUM:
    case FK_FIELD_TIME:
        break;
    }
    return *(const int64_t *)from == 0;
}

static void put_text_number(struct fk_json *w, int64_t v, bool is_signed)
{
    char text[24];
    int n = is_signed ? snprintf(text, sizeof(text), "\"%lld\"", (long long)v)
                      : snprintf(text, sizeof(text), "\"%llu\"", (unsigned long long)(uint64_t)v);
    fk_json_raw(w, fk_str_make(text, n > 0 ? (size_t)n : 0));
}

static void put_bytes(struct fk_json *w, struct fk_str s)
{
    struct fk_buf b;
    fk_buf_init(&b, 0);
    fk_base64_put(&b, s);
    if (fk_buf_check(&b, "base64", w->err.code ? NULL : &w->err) == 0)
        fk_json_str(w, fk_buf_view(&b));
    fk_buf_free(&b);
}

static void put_f64(struct fk_json *w, double v)
{
    if (isnan(v))
        fk_json_str(w, fk_str_of(special[0].name));
    else if (isinf(v))
        fk_json_str(w, fk_str_of(special[v > 0 ? 1 : 2].name));
    else
        fk_json_f64(w, v);
}

static void put_time(struct fk_json *w, int64_t ns)
{
    char text[FK_TIME_CHARS + 1];
    fk_time_format(ns, text);
    fk_json_str(w, fk_str_of(text));
}

// A value without a name is written as its number (ProtoJSON, "enum").
static void put_enum(struct fk_json *w, const char *const *names, int64_t v)
{
    int64_t n = 0;
    while (names[n] && n < v)
        n++;
    if (v >= 0 && n == v && names[n])
        fk_json_str(w, fk_str_of(names[n]));
    else
        fk_json_i64(w, v);
}

static void put_value(const struct fk_field *f, const void *from, struct fk_json *w)
{
    switch (f->kind) {
    case FK_FIELD_STR:
        fk_json_str(w, *(const struct fk_str *)from);
        break;
    case FK_FIELD_BYTES:
        put_bytes(w, *(const struct fk_str *)from);
        break;
    case FK_FIELD_BOOL:
        fk_json_bool(w, *(const bool *)from);
        break;
    case FK_FIELD_F64:
        put_f64(w, *(const double *)from);
        break;
    case FK_FIELD_I64:
    case FK_FIELD_U64:
        put_text_number(w, *(const int64_t *)from, f->kind == FK_FIELD_I64);
        break;
    case FK_FIELD_I32:
        fk_json_i64(w, *(const int64_t *)from);
        break;
    case FK_FIELD_TIME:
        put_time(w, *(const int64_t *)from);
        break;
    case FK_FIELD_ENUM:
        put_enum(w, f->names, *(const int64_t *)from);
        break;
    case FK_FIELD_MSG:
        fk_msg_encode_json(f->type, from, w);
        break;
    }
}

void fk_msg_encode_json(const struct fk_msg_type *t, const void *msg, struct fk_json *w)
{
    fk_json_object(w);
    for (size_t i = 0; i < t->n; i++) {
        const struct fk_field *f = &t->field[i];
        const void *from = (const char *)msg + f->offset;
        if (is_default(f, from))
            continue;
        fk_json_key(w, fk_str_of(f->json));
        if (!f->repeated) {
            put_value(f, f->optional ? *(void *const *)from : from, w);
            continue;
        }
        const struct fk_list *l = from;
        fk_json_array(w);
        for (size_t k = 0; k < l->n; k++)
            put_value(f, (const char *)l->v + k * fk_field_size(f), w);
        fk_json_array_end(w);
    }
    fk_json_object_end(w);
}
