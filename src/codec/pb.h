// SPDX-License-Identifier: Apache-2.0
// Protobuf on the wire, without schemas: a bounded, zero-copy reader that the caller drives field
// by field (nesting, and so depth, is the caller's), and a writer that appends to a buffer.
// Source: protobuf.dev/programming-guides/encoding. Groups (wire types 3 and 4) are refused.
#ifndef FK_CODEC_PB_H
#define FK_CODEC_PB_H

#include "codec/varint.h"

enum fk_wire { FK_WIRE_VARINT = 0, FK_WIRE_I64 = 1, FK_WIRE_LEN = 2, FK_WIRE_I32 = 5 };

struct fk_pb_field {
    uint32_t number; // 1 .. 2^29 - 1
    uint32_t wire;   // enum fk_wire
    uint64_t v;      // VARINT, I64, I32: the value
    struct fk_cur b; // LEN: the bytes, borrowed
};

int fk_pb_next_slow_(struct fk_cur *c, uint64_t key, struct fk_pb_field *f);

// The next field of a message: 1, 0 at its end, -FK_E_FORMAT when the bytes are no protobuf.
static inline int fk_pb_next(struct fk_cur *c, struct fk_pb_field *f)
{
    if (c->p >= c->end)
        return 0;
    uint64_t key, v;
    const uint8_t *p = fk_varint_at(c->p, c->end, &key);
    if (FK_UNLIKELY(!p))
        return -FK_E_FORMAT;
    c->p = p;
    uint32_t wire = (uint32_t)key & 7;
    if (FK_UNLIKELY((wire != FK_WIRE_VARINT && wire != FK_WIRE_LEN) || key < 8 || key >> 32))
        return fk_pb_next_slow_(c, key, f);
    p = fk_varint_at(p, c->end, &v);
    if (FK_UNLIKELY(!p))
        return -FK_E_FORMAT;
    f->number = (uint32_t)key >> 3;
    f->wire = wire;
    f->v = v;
    if (wire == FK_WIRE_LEN) {
        if (FK_UNLIKELY(v > (uint64_t)(c->end - p)))
            return -FK_E_FORMAT;
        f->b.p = p;
        f->b.end = p += v;
    }
    c->p = p;
    return 1;
}

static inline struct fk_str fk_pb_str(const struct fk_pb_field *f)
{
    return fk_str_make(f->b.p, (size_t)(f->b.end - f->b.p));
}

// A failed read as an error: the message's name and where in `whole` it is.
int fk_pb_fail(const struct fk_cur *at, const uint8_t *whole, const char *what, struct fk_err *err);

// ---- writing: each appends one field. Zero values are written too; leaving out proto3 defaults is
// the caller's choice (the _nz forms do).

static inline void fk_pb_key(struct fk_buf *b, uint32_t number, enum fk_wire wire)
{
    fk_buf_varint(b, (uint64_t)number << 3 | (uint64_t)wire);
}

void fk_pb_u64(struct fk_buf *b, uint32_t number, uint64_t v);
void fk_pb_u64_nz(struct fk_buf *b, uint32_t number, uint64_t v);
void fk_pb_fixed64(struct fk_buf *b, uint32_t number, uint64_t v);
void fk_pb_fixed32(struct fk_buf *b, uint32_t number, uint32_t v);
void fk_pb_bytes(struct fk_buf *b, uint32_t number, struct fk_str s);
void fk_pb_bytes_nz(struct fk_buf *b, uint32_t number, struct fk_str s);
// Packed repeated varints; nothing when n is 0. int64 are written as their two's complement.
void fk_pb_packed(struct fk_buf *b, uint32_t number, const uint64_t *v, size_t n);
// A nested message (or packed field) whose length is not known yet: begin, append its fields, end.
// Lengths take their shortest form (the bytes move by a little).
size_t fk_pb_begin(struct fk_buf *b, uint32_t number);
void fk_pb_end(struct fk_buf *b, size_t mark);

#endif
