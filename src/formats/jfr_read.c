// SPDX-License-Identifier: Apache-2.0
// Values of a JFR chunk: integers in either form, texts in all encodings, objects by the layout
// that the chunk gives. Knows nothing of what they mean.
#include "formats/jfr_int.h"

// ---- integers ----

static int fixed(struct fk_cur *c, size_t n, uint64_t *ret)
{
    if (fk_cur_left(c) < n)
        return -FK_E_FORMAT;
    uint64_t v = 0;
    for (size_t i = 0; i < n; i++)
        v = v << 8 | c->p[i];
    c->p += n;
    *ret = v;
    return 0;
}

// Seven bits a byte, least significant first; the ninth byte has eight.
static inline int packed(struct fk_cur *c, uint64_t *ret)
{
    const uint8_t *p = c->p;
    if (FK_LIKELY(p < c->end && p[0] < 0x80)) {
        *ret = p[0];
        c->p = p + 1;
        return 0;
    }
    uint64_t v = 0;
    for (unsigned shift = 0; p < c->end; shift += 7) {
        uint64_t b = *p++;
        v |= (shift == 56 ? b : b & 0x7f) << shift;
        if (b < 0x80 || shift == 56) {
            c->p = p;
            *ret = v;
            return 0;
        }
    }
    return -FK_E_FORMAT;
}

int jfr_u64(const struct jfr_chunk *k, struct fk_cur *c, uint64_t *ret)
{
    return k->packed ? packed(c, ret) : fixed(c, 8, ret);
}

// A length, a count, a size.
int jfr_u32(const struct jfr_chunk *k, struct fk_cur *c, uint64_t *ret)
{
    return k->packed ? packed(c, ret) : fixed(c, 4, ret);
}

static size_t width_of(enum jfr_kind kind)
{
    static const uint8_t width[] = {
        [JFR_BOOL] = 1, [JFR_I8] = 1,  [JFR_U8] = 1,  [JFR_I16] = 2, [JFR_U16] = 2,
        [JFR_I32] = 4,  [JFR_U32] = 4, [JFR_I64] = 8, [JFR_F32] = 4, [JFR_F64] = 8};
    return kind < FK_COUNTOF(width) ? width[kind] : 0;
}

static uint64_t extended(enum jfr_kind kind, uint64_t v)
{
    switch (kind) {
    case JFR_I8:
        return (uint64_t)(int64_t)(int8_t)v;
    case JFR_I16:
        return (uint64_t)(int64_t)(int16_t)v;
    case JFR_I32:
        return (uint64_t)(int64_t)(int32_t)v;
    default:
        return v;
    }
}

// Bytes, booleans and floating-point numbers are never packed; the latter give their bits.
int jfr_integer(const struct jfr_chunk *k, enum jfr_kind kind, struct fk_cur *c, uint64_t *ret)
{
    size_t width = width_of(kind);
    bool plain = width <= 1 || kind == JFR_F32 || kind == JFR_F64 || !k->packed;
    uint64_t v;
    if (width == 0)
        return -FK_E_FORMAT;
    int rc = plain ? fixed(c, width, &v) : packed(c, &v);
    if (rc == 0)
        *ret = extended(kind, v);
    return rc;
}

// ---- texts ----

static size_t put_character(char *to, uint32_t c)
{
    if (c < 0x80) {
        to[0] = (char)c;
        return 1;
    }
    if (c < 0x800) {
        to[0] = (char)(0xc0 | c >> 6);
        to[1] = (char)(0x80 | (c & 63));
        return 2;
    }
    size_t n = c < 0x10000 ? 3 : 4;
    to[0] = (char)((n == 3 ? 0xe0 : 0xf0) | c >> (6 * (n - 1)));
    for (size_t i = 1; i < n; i++)
        to[i] = (char)(0x80 | (c >> (6 * (n - 1 - i)) & 63));
    return n;
}

enum units { UNITS_PACKED, UNITS_LATIN1, UNITS_UTF16 };

static int next_unit(const struct jfr_chunk *k, enum units how, struct fk_cur *c, uint64_t *ret)
{
    if (how == UNITS_PACKED)
        return jfr_integer(k, JFR_U16, c, ret);
    return fixed(c, how == UNITS_LATIN1 ? 1 : 2, ret);
}

// n units of 8 or 16 bits as UTF-8; a surrogate without its other half becomes U+FFFD.
static int convert(struct jfr_chunk *k, enum units how, uint64_t n, struct fk_cur *c,
                   struct fk_str *ret)
{
    if (n > fk_cur_left(c)) // each takes a byte at least
        return -FK_E_FORMAT;
    char *to = fk_arena_array(k->arena, (size_t)n + 1, 3);
    size_t at = 0;
    if (!to)
        return -FK_E_NOMEM;
    for (uint64_t i = 0; i < n; i++) {
        uint64_t u, low;
        if (next_unit(k, how, c, &u))
            return -FK_E_FORMAT;
        u &= 0xffff;
        struct fk_cur ahead = *c;
        if (u >= 0xd800 && u < 0xdc00 && i + 1 < n && next_unit(k, how, &ahead, &low) == 0 &&
            low >= 0xdc00 && low < 0xe000) {
            u = 0x10000 + ((u - 0xd800) << 10) + (low - 0xdc00);
            *c = ahead;
            i++;
        }
        at += put_character(to + at, u >= 0xd800 && u < 0xe000 ? 0xfffd : (uint32_t)u);
    }
    *ret = fk_str_make(to, at);
    return 0;
}

enum { TEXT_NULL, TEXT_EMPTY, TEXT_POOLED, TEXT_UTF8, TEXT_CHARACTERS, TEXT_LATIN1 };

static int tagged_text(struct jfr_chunk *k, struct fk_cur *c, struct fk_str *ret, uint64_t *ret_key)
{
    uint64_t tag, n;
    if (fixed(c, 1, &tag))
        return -FK_E_FORMAT;
    switch (tag) {
    case TEXT_NULL:
    case TEXT_EMPTY:
        *ret = FK_S("");
        return 0;
    case TEXT_POOLED:
        *ret = FK_S("");
        return jfr_u64(k, c, ret_key);
    case TEXT_UTF8:
        return jfr_u32(k, c, &n) ? -FK_E_FORMAT : fk_cur_bytes(c, n, ret);
    case TEXT_CHARACTERS:
        return jfr_u32(k, c, &n) ? -FK_E_FORMAT : convert(k, UNITS_PACKED, n, c, ret);
    case TEXT_LATIN1:
        return jfr_u32(k, c, &n) ? -FK_E_FORMAT : convert(k, UNITS_LATIN1, n, c, ret);
    default:
        return -FK_E_FORMAT;
    }
}

int jfr_text(struct jfr_chunk *k, enum jfr_kind kind, struct fk_cur *c, struct fk_str *ret,
             uint64_t *ret_key)
{
    uint64_t n;
    *ret_key = 0;
    if (kind == JFR_TEXT)
        return tagged_text(k, c, ret, ret_key);
    if (kind == JFR_UTF8)
        return fixed(c, 2, &n) ? -FK_E_FORMAT : fk_cur_bytes(c, n, ret);
    if (kind == JFR_UTF16)
        return fixed(c, 4, &n) ? -FK_E_FORMAT : convert(k, UNITS_UTF16, n, c, ret);
    return -FK_E_FORMAT;
}

static int skip_text(struct jfr_chunk *k, enum jfr_kind kind, struct fk_cur *c)
{
    struct fk_str ignored;
    uint64_t tag = 0, n;
    if (kind != JFR_TEXT) {
        if (fixed(c, kind == JFR_UTF8 ? 2 : 4, &n))
            return -FK_E_FORMAT;
        return fk_cur_bytes(c, kind == JFR_UTF8 ? n : n * 2, &ignored);
    }
    if (fixed(c, 1, &tag) || tag > TEXT_LATIN1)
        return -FK_E_FORMAT;
    if (tag <= TEXT_EMPTY)
        return 0;
    if (tag == TEXT_POOLED)
        return jfr_u64(k, c, &n);
    if (jfr_u32(k, c, &n))
        return -FK_E_FORMAT;
    if (tag != TEXT_CHARACTERS)
        return fk_cur_bytes(c, n, &ignored);
    for (uint64_t i = 0, unit; i < n; i++)
        if (jfr_integer(k, JFR_U16, c, &unit))
            return -FK_E_FORMAT;
    return 0;
}

// ---- objects ----

// Most of what is skipped: integers of stack traces.
static inline int skip_packed(struct fk_cur *c)
{
    const uint8_t *end = fk_cur_left(c) > 9 ? c->p + 9 : c->end;
    for (const uint8_t *p = c->p; p < end;)
        if (*p++ < 0x80 || p == c->p + 9) {
            c->p = p;
            return 0;
        }
    return -FK_E_FORMAT;
}

int jfr_spend(struct jfr_chunk *k, uint64_t n)
{
    if (k->fuel < n)
        return -FK_E_FORMAT;
    k->fuel -= n;
    return 0;
}

static int skip_one(struct jfr_chunk *k, const struct jfr_field *f, struct fk_cur *c,
                    uint32_t depth)
{
    uint64_t ignored;
    if (jfr_spend(k, 1))
        return -FK_E_FORMAT;
    if (k->packed && f->kind >= JFR_I16 && f->kind <= JFR_I64)
        return skip_packed(c);
    if (f->kind >= JFR_TEXT)
        return skip_text(k, f->kind, c);
    if (f->kind != JFR_STRUCT)
        return jfr_integer(k, f->kind, c, &ignored);
    if (!f->of || depth == JFR_DEPTH)
        return -FK_E_FORMAT;
    for (uint32_t i = 0; i < f->of->n_fields; i++)
        if (jfr_skip(k, &f->of->field[i], c, depth + 1))
            return -FK_E_FORMAT;
    return 0;
}

// An array of structures of integers: the frames of a stack.
static int skip_packed_array(struct jfr_chunk *k, struct fk_cur *c, uint64_t n, uint32_t fields)
{
    if (n > fk_cur_left(c) || jfr_spend(k, n * fields)) // each takes a byte at least
        return -FK_E_FORMAT;
    for (uint64_t i = n * fields; i > 0; i--)
        if (skip_packed(c))
            return -FK_E_FORMAT;
    return 0;
}

int jfr_skip(struct jfr_chunk *k, const struct jfr_field *f, struct fk_cur *c, uint32_t depth)
{
    uint64_t n;
    if (!f->array)
        return skip_one(k, f, c, depth);
    if (jfr_u32(k, c, &n))
        return -FK_E_FORMAT;
    if (f->kind == JFR_STRUCT && f->of && f->of->n_packed)
        return skip_packed_array(k, c, n, f->of->n_packed);
    for (uint64_t i = 0; i < n; i++)
        if (skip_one(k, f, c, depth))
            return -FK_E_FORMAT;
    return 0;
}

int jfr_object(struct jfr_chunk *k, const struct jfr_type *t, struct fk_cur *c,
               struct jfr_object *ret)
{
    ret->has = 0;
    if (jfr_spend(k, (uint64_t)t->n_fields + 1))
        return -FK_E_FORMAT;
    for (uint32_t i = 0; i < t->n_fields; i++) {
        const struct jfr_field *f = &t->field[i];
        const uint8_t *at = c->p;
        uint64_t n = 0;
        bool whole = !f->array && f->kind != JFR_STRUCT && f->kind < JFR_TEXT;
        if (whole ? jfr_integer(k, f->kind, c, &n) : jfr_skip(k, f, c, 0))
            return -FK_E_FORMAT;
        if (f->slot == JFR_NO_SLOT)
            continue;
        ret->has |= (uint64_t)1 << f->slot;
        ret->v[f->slot].field = f;
        ret->v[f->slot].n = n;
        ret->v[f->slot].at = at;
    }
    return 0;
}
