// SPDX-License-Identifier: Apache-2.0
// The protobuf codec over message tables.
#include "rpc/msg_int.h"

size_t fk_field_size(const struct fk_field *f)
{
    switch (f->kind) {
    case FK_FIELD_STR:
    case FK_FIELD_BYTES:
        return sizeof(struct fk_str);
    case FK_FIELD_F64:
        return sizeof(double);
    case FK_FIELD_BOOL:
        return sizeof(bool);
    case FK_FIELD_MSG:
        return f->type->size;
    case FK_FIELD_I64:
    case FK_FIELD_U64:
    case FK_FIELD_I32:
    case FK_FIELD_ENUM:
    case FK_FIELD_TIME:
        break;
    }
    return sizeof(int64_t);
}

void *fk_list_add(struct fk_list *l, size_t size, struct fk_arena *a)
{
    bool full = l->n == 0 || (l->n >= 4 && (l->n & (l->n - 1)) == 0);
    if (full) {
        size_t cap = l->n ? l->n * 2 : 4;
        char *v = fk_arena_array(a, cap, size);
        if (!v)
            return NULL;
        if (l->n)
            memcpy(v, l->v, l->n * size);
        l->v = v;
    }
    void *to = (char *)l->v + l->n++ * size;
    return memset(to, 0, size);
}

void *fk_field_make(const struct fk_field *f, void *member, struct fk_arena *a)
{
    return *(void **)member = fk_arena_zalloc(a, f->type->size);
}

// ---- reading ----

static const struct fk_field *field_of(const struct fk_msg_type *t, uint32_t number)
{
    for (size_t i = 0; i < t->n; i++)
        if (t->field[i].number == number)
            return &t->field[i];
    return NULL;
}

static int bad_field(const struct fk_msg_type *t, const struct fk_field *f, struct fk_err *err)
{
    fk_fail(err, FK_E_FORMAT, "%s.%s has the wrong wire type or is cut off", t->name, f->name);
    return -FK_E_FORMAT;
}

static bool is_integer(enum fk_field_kind k)
{
    return k == FK_FIELD_I64 || k == FK_FIELD_U64 || k == FK_FIELD_I32 || k == FK_FIELD_ENUM ||
           k == FK_FIELD_BOOL;
}

// google.protobuf.Timestamp: seconds and nanos.
static int decode_time(struct fk_str bytes, int64_t *to)
{
    struct fk_cur c = fk_cur_of(bytes);
    struct fk_pb_field x;
    int64_t v[3] = {0};
    int more;
    while ((more = fk_pb_next(&c, &x)) == 1)
        if ((x.number == 1 || x.number == 2) && x.wire == FK_WIRE_VARINT)
            v[x.number] = (int64_t)x.v;
    return more < 0 || v[2] < 0 || v[2] >= FK_NS_PER_S ||
                   __builtin_mul_overflow(v[1], FK_NS_PER_S, to) ||
                   __builtin_add_overflow(*to, v[2], to)
               ? -1
               : 0;
}

static int decode_value(const struct fk_msg_type *t, const struct fk_field *f,
                        const struct fk_pb_field *x, struct fk_arena *a, void *to,
                        struct fk_err *err)
{
    if (f->kind == FK_FIELD_MSG)
        return x->wire == FK_WIRE_LEN ? fk_msg_decode(f->type, fk_pb_str(x), a, to, err)
                                      : bad_field(t, f, err);
    if (f->kind == FK_FIELD_TIME)
        return x->wire == FK_WIRE_LEN && decode_time(fk_pb_str(x), to) == 0 ? 0
                                                                            : bad_field(t, f, err);
    if (f->kind == FK_FIELD_STR || f->kind == FK_FIELD_BYTES) {
        if (x->wire != FK_WIRE_LEN)
            return bad_field(t, f, err);
        *(struct fk_str *)to = fk_pb_str(x);
        return 0;
    }
    if (f->kind == FK_FIELD_F64) {
        if (x->wire != FK_WIRE_I64)
            return bad_field(t, f, err);
        memcpy(to, &x->v, sizeof(double));
        return 0;
    }
    if (x->wire != FK_WIRE_VARINT)
        return bad_field(t, f, err);
    if (f->kind == FK_FIELD_BOOL)
        *(bool *)to = x->v != 0;
    else
        *(int64_t *)to = (int64_t)x->v;
    return 0;
}

static int decode_packed(const struct fk_msg_type *t, const struct fk_field *f, struct fk_cur c,
                         struct fk_arena *a, struct fk_list *l, struct fk_err *err)
{
    while (fk_cur_left(&c)) {
        uint64_t v;
        void *to = fk_list_add(l, fk_field_size(f), a);
        if (!to)
            return fk_fail_nomem(err);
        if (f->kind == FK_FIELD_F64) {
            if (fk_cur_left(&c) < sizeof(double))
                return bad_field(t, f, err);
            memcpy(to, c.p, sizeof(double));
            c.p += sizeof(double);
            continue;
        }
        if (fk_cur_varint(&c, &v))
            return bad_field(t, f, err);
        if (f->kind == FK_FIELD_BOOL)
            *(bool *)to = v != 0;
        else
            *(int64_t *)to = (int64_t)v;
    }
    return 0;
}

int fk_msg_decode(const struct fk_msg_type *t, struct fk_str bytes, struct fk_arena *a, void *out,
                  struct fk_err *err)
{
    struct fk_cur c = fk_cur_of(bytes);
    struct fk_pb_field x;
    int more;
    memset(out, 0, t->size);
    while ((more = fk_pb_next(&c, &x)) == 1) {
        const struct fk_field *f = field_of(t, x.number);
        if (!f)
            continue;
        void *to = (char *)out + f->offset;
        if (f->repeated && (is_integer(f->kind) || f->kind == FK_FIELD_F64) &&
            x.wire == FK_WIRE_LEN) {
            int r = decode_packed(t, f, x.b, a, to, err);
            if (r)
                return r;
            continue;
        }
        if ((f->repeated && !(to = fk_list_add(to, fk_field_size(f), a))) ||
            (f->optional && !(to = fk_field_make(f, to, a))))
            return fk_fail_nomem(err);
        int r = decode_value(t, f, &x, a, to, err);
        if (r)
            return r;
    }
    if (more < 0)
        return fk_fail(err, FK_E_FORMAT, "%s: the bytes are no protobuf message", t->name);
    return 0;
}

// ---- writing ----

static void encode_time(const struct fk_field *f, int64_t ns, bool keep_default, struct fk_buf *to)
{
    int64_t rest = ns % FK_NS_PER_S;
    rest += rest < 0 ? FK_NS_PER_S : 0; // nanos count forward
    if (!ns && !keep_default)
        return;
    size_t mark = fk_pb_begin(to, f->number);
    fk_pb_u64_nz(to, 1, (uint64_t)(ns / FK_NS_PER_S - (ns % FK_NS_PER_S < 0)));
    fk_pb_u64_nz(to, 2, (uint64_t)rest);
    fk_pb_end(to, mark);
}

static void encode_value(const struct fk_field *f, const void *from, bool keep_default,
                         struct fk_buf *to)
{
    const struct fk_str *s = from;
    size_t mark;
    switch (f->kind) {
    case FK_FIELD_STR:
    case FK_FIELD_BYTES:
        if (s->n || keep_default)
            fk_pb_bytes(to, f->number, *s);
        break;
    case FK_FIELD_F64: {
        uint64_t bits;
        memcpy(&bits, from, sizeof(bits));
        if (bits || keep_default)
            fk_pb_fixed64(to, f->number, bits);
        break;
    }
    case FK_FIELD_BOOL:
        if (*(const bool *)from || keep_default)
            fk_pb_u64(to, f->number, *(const bool *)from);
        break;
    case FK_FIELD_I64:
    case FK_FIELD_U64:
    case FK_FIELD_I32:
    case FK_FIELD_ENUM:
        if (*(const int64_t *)from || keep_default)
            fk_pb_u64(to, f->number, (uint64_t) * (const int64_t *)from);
        break;
    case FK_FIELD_TIME:
        encode_time(f, *(const int64_t *)from, keep_default, to);
        break;
    case FK_FIELD_MSG:
        mark = fk_pb_begin(to, f->number);
        fk_msg_encode(f->type, from, to);
        fk_pb_end(to, mark);
        break;
    }
}

void fk_msg_encode(const struct fk_msg_type *t, const void *msg, struct fk_buf *to)
{
    for (size_t i = 0; i < t->n; i++) {
        const struct fk_field *f = &t->field[i];
        const void *from = (const char *)msg + f->offset;
        const struct fk_list *l = from;
        if (f->optional) {
            const void *msg_of = *(void *const *)from;
            if (msg_of)
                encode_value(f, msg_of, false, to);
        } else if (!f->repeated)
            encode_value(f, from, false, to);
        else if (f->kind == FK_FIELD_I64 || f->kind == FK_FIELD_U64 || f->kind == FK_FIELD_I32)
            fk_pb_packed(to, f->number, l->v, l->n);
        else if (f->kind == FK_FIELD_F64) {
            if (l->n)
                fk_pb_bytes(to, f->number, fk_str_make(l->v, l->n * sizeof(double)));
        } else
            for (size_t k = 0; k < l->n; k++)
                encode_value(f, (const char *)l->v + k * fk_field_size(f), true, to);
    }
}
