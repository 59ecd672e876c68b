// SPDX-License-Identifier: Apache-2.0
// OTLP profiles in JSON, turned into protobuf whose field numbers are the meanings of otlp_int.h:
// names tell what each is, so no revision has to be guessed. ProtoJSON (protobuf.dev
// /programming-guides/json: camel case or the proto names, 64-bit integers as strings or numbers,
// bytes in base64), and OTLP's exception (ids in hexadecimal). Unknown names are passed over.
#include "formats/otlp_int.h"

#include <math.h>

struct reading {
    const struct fk_decoding *d;
    struct fk_json_reader in;
    struct fk_buf out;
    bool old, new; // stacks are slices of one list; stacks stand in a table
    struct fk_err *err;
};

static int put_message(struct reading *x, enum otlp_message message);

static int fault(struct reading *x, const struct otlp_row *row, const char *what)
{
    return fk_fail(x->err, FK_E_FORMAT, "OTLP in JSON, byte %zu: %s.%.*s is %s",
                   (size_t)(x->in.p - x->in.begin), otlp_message_name(row->message),
                   (int)strcspn(row->name, "|"), row->name, what);
}

// ---- names ----

// "stackIndex" and "stack_index" alike; longer ones are none of ours.
static size_t fold_name(struct fk_str key, char *to, size_t room)
{
    size_t n = 0;
    for (size_t i = 0; i < key.n; i++) {
        char c = key.p[i];
        if (c == '_')
            continue;
        if (n == room)
            return 0;
        to[n++] = c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
    }
    return n;
}

static bool is_name(const char *names, struct fk_str key)
{
    struct fk_str rest = fk_str_of(names), one;
    while (fk_str_split(&rest, '|', &one))
        if (fk_str_eq(one, key))
            return true;
    return false;
}

static const struct otlp_row *row_of(enum otlp_message message, struct fk_str key)
{
    char text[40];
    size_t n = fold_name(key, text, sizeof(text));
    for (size_t i = 0; n && i < otlp_rows_n; i++) {
        const struct otlp_row *r = &otlp_rows[i];
        if (r->message == message && r->name && r->number[OTLP_MEANING] &&
            is_name(r->name, fk_str_make(text, n)))
            return r;
    }
    return NULL;
}

static void note_style(struct reading *x, const struct otlp_row *r)
{
    if (r->message == OTLP_SAMPLE) {
        x->new |= r->id == OTLP_S_STACK;
        x->old |= r->id == OTLP_S_START || r->id == OTLP_S_LENGTH || r->id == OTLP_S_LOCATION;
    } else if (r->message == OTLP_DICTIONARY || r->message == OTLP_PROFILE) {
        x->new |= r->id == OTLP_T_STACK;
        x->old |= r->id == OTLP_T_INDEX;
    }
}

// ---- numbers ----

static int to_number(const struct fk_json_tok *tok, uint64_t *ret)
{
    int64_t v;
    if (tok->kind == FK_JSON_TRUE || tok->kind == FK_JSON_FALSE) {
        *ret = tok->kind == FK_JSON_TRUE;
        return 0;
    }
    if (tok->kind != FK_JSON_NUMBER && tok->kind != FK_JSON_STRING)
        return -FK_E_FORMAT;
    if (fk_json_to_i64(tok, &v) == 0) {
        *ret = (uint64_t)v;
        return 0;
    }
    return fk_str_to_u64(tok->text, ret); // beyond an int64: addresses
}

static int to_double(const struct fk_json_tok *tok, uint64_t *ret)
{
    double v;
    if (tok->kind == FK_JSON_STRING && fk_str_eq(tok->text, FK_S("NaN")))
        v = NAN;
    else if (tok->kind == FK_JSON_STRING && fk_str_eq(tok->text, FK_S("Infinity")))
        v = INFINITY;
    else if (tok->kind == FK_JSON_STRING && fk_str_eq(tok->text, FK_S("-Infinity")))
        v = -INFINITY;
    else if ((tok->kind != FK_JSON_NUMBER && tok->kind != FK_JSON_STRING) ||
             fk_json_to_f64(tok, &v))
        return -FK_E_FORMAT;
    memcpy(ret, &v, sizeof(v));
    return 0;
}

static int put_number(struct reading *x, const struct otlp_row *r, const struct fk_json_tok *tok)
{
    uint64_t v;
    if (r->kind == OTLP_DOUBLE ? to_double(tok, &v) : to_number(tok, &v))
        return fault(x, r, r->kind == OTLP_DOUBLE ? "no number" : "no integer of 64 bits");
    if (r->kind == OTLP_INT)
        fk_pb_u64(&x->out, r->id, v);
    else
        fk_pb_fixed64(&x->out, r->id, v);
    return 0;
}

// An array of numbers; one alone is taken for an array of it.
static int put_numbers(struct reading *x, const struct otlp_row *r, struct fk_json_tok tok)
{
    bool list = tok.kind == FK_JSON_ARRAY;
    size_t mark = fk_pb_begin(&x->out, r->id);
    int rc = list ? fk_json_next(&x->in, &tok, x->err) : 0;
    while (!rc && tok.kind != FK_JSON_ARRAY_END) {
        uint64_t v;
        if (to_number(&tok, &v))
            return fault(x, r, "no list of integers");
        if (r->kind == OTLP_FIXEDS)
            fk_buf_le64(&x->out, v);
        else
            fk_buf_varint(&x->out, v);
        if (!list)
            break;
        rc = fk_json_next(&x->in, &tok, x->err);
    }
    if (!rc)
        fk_pb_end(&x->out, mark);
    return rc;
}

// ---- texts and bytes ----

static int put_text(struct reading *x, const struct otlp_row *r, const struct fk_json_tok *tok)
{
    struct fk_str text;
    if (tok->kind != FK_JSON_STRING)
        return fault(x, r, "no string");
    int rc = fk_json_text(tok, x->d->arena, &text, x->err);
    if (rc)
        return rc == -FK_E_NOMEM ? fk_decoding_nomem(x->d, x->err) : rc;
    fk_pb_bytes(&x->out, r->id, text);
    return 0;
}

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c = (char)(c | 32);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

// An id of 16 or 8 bytes: in base64 it has 22 or 24, 11 or 12 letters.
static bool put_hex(struct reading *x, const struct otlp_row *r, struct fk_str s)
{
    char id[16];
    if (s.n != 32 && s.n != 16)
        return false;
    for (size_t i = 0; i < s.n; i += 2) {
        int high = hex_digit(s.p[i]), low = hex_digit(s.p[i + 1]);
        if (high < 0 || low < 0)
            return false;
        id[i / 2] = (char)(high << 4 | low);
    }
    fk_pb_bytes(&x->out, r->id, fk_str_make(id, s.n / 2));
    return true;
}

static int put_base64(struct reading *x, const struct otlp_row *r, struct fk_str s)
{
    size_t mark = fk_pb_begin(&x->out, r->id);
    if (fk_base64_read(&x->out, s))
        return fault(x, r, "no base64");
    fk_pb_end(&x->out, mark);
    return 0;
}

static int put_bytes(struct reading *x, const struct otlp_row *r, const struct fk_json_tok *tok)
{
    struct fk_str text;
    if (tok->kind != FK_JSON_STRING)
        return fault(x, r, "no string");
    int rc = fk_json_text(tok, x->d->arena, &text, x->err); // '/' may come escaped
    if (rc)
        return rc == -FK_E_NOMEM ? fk_decoding_nomem(x->d, x->err) : rc;
    if (r->kind == OTLP_TRACE && put_hex(x, r, text))
        return 0;
    return put_base64(x, r, text);
}

// ---- values ----

static int put_one(struct reading *x, const struct otlp_row *r, const struct fk_json_tok *tok)
{
    switch ((enum otlp_kind)r->kind) {
    case OTLP_INT:
    case OTLP_FIXED:
    case OTLP_DOUBLE:
        return put_number(x, r, tok);
    case OTLP_INTS:
    case OTLP_FIXEDS:
        return put_numbers(x, r, *tok);
    case OTLP_TEXT:
    case OTLP_TEXTS:
        return put_text(x, r, tok);
    case OTLP_BYTES:
    case OTLP_TRACE:
        return put_bytes(x, r, tok);
    case OTLP_MESSAGE:
    case OTLP_MESSAGE_LIST:
        break;
    }
    if (tok->kind != FK_JSON_OBJECT)
        return fault(x, r, "no object");
    size_t mark = fk_pb_begin(&x->out, r->id);
    int rc = put_message(x, r->sub);
    if (!rc)
        fk_pb_end(&x->out, mark);
    return rc;
}

static int put_list(struct reading *x, const struct otlp_row *r)
{
    struct fk_json_tok tok;
    int rc;
    while ((rc = fk_json_next(&x->in, &tok, x->err)) == 0 && tok.kind != FK_JSON_ARRAY_END)
        if ((rc = put_one(x, r, &tok)))
            return rc;
    return rc;
}

static int put_value(struct reading *x, const struct otlp_row *r)
{
    struct fk_json_tok tok;
    int rc = fk_json_next(&x->in, &tok, x->err);
    if (rc || tok.kind == FK_JSON_NULL) // null is absent
        return rc;
    if (!r)
        return fk_json_skip(&x->in, &tok, x->err);
    note_style(x, r);
    bool list = r->kind == OTLP_MESSAGE_LIST || r->kind == OTLP_TEXTS;
    return list && tok.kind == FK_JSON_ARRAY ? put_list(x, r) : put_one(x, r, &tok);
}

// Behind its opening brace.
static int put_message(struct reading *x, enum otlp_message message)
{
    struct fk_json_tok tok;
    struct fk_str key;
    int rc;
    while ((rc = fk_json_next(&x->in, &tok, x->err)) == 0 && tok.kind == FK_JSON_KEY) {
        if ((rc = fk_json_text(&tok, x->d->arena, &key, x->err)))
            return rc == -FK_E_NOMEM ? fk_decoding_nomem(x->d, x->err) : rc;
        if ((rc = put_value(x, row_of(message, key))))
            return rc;
    }
    return rc;
}

static int put_request(struct reading *x)
{
    struct fk_json_tok tok;
    int rc = fk_json_next(&x->in, &tok, x->err);
    if (!rc && tok.kind != FK_JSON_OBJECT)
        return fk_fail(x->err, FK_E_FORMAT, "OTLP in JSON must be an object");
    if (!rc)
        rc = put_message(x, OTLP_REQUEST);
    return rc ? rc : fk_json_next(&x->in, &tok, x->err); // the end, or an error
}

int otlp_from_json(const struct fk_decoding *d, struct fk_str json, struct fk_cur *ret,
                   bool *ret_per_time, struct fk_err *err)
{
    struct reading x = {.d = d, .err = err};
    fk_buf_init(&x.out, d->arena->limit == SIZE_MAX ? 0 : d->arena->limit);
    fk_json_read(&x.in, json, FK_JSON_NEST);
    int rc = put_request(&x);
    if (!rc && x.out.failed)
        rc = fk_decoding_nomem(d, err);
    struct fk_str bytes = {NULL, 0};
    if (!rc && !(bytes = fk_arena_str(d->arena, fk_buf_view(&x.out))).p)
        rc = fk_decoding_nomem(d, err);
    fk_buf_free(&x.out);
    if (rc)
        return rc;
    *ret = fk_cur_of(bytes);
    *ret_per_time = x.new || !x.old;
    return 0;
}
