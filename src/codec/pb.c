// SPDX-License-Identifier: Apache-2.0
// The rare wire types of the reader, and the writer.
#include "codec/pb.h"

int fk_pb_next_slow_(struct fk_cur *c, uint64_t key, struct fk_pb_field *f)
{
    uint32_t wire = (uint32_t)key & 7;
    if (key < 8 || key >> 32)
        return -FK_E_FORMAT;
    uint32_t v32 = 0;
    uint64_t v64 = 0;
    if (wire == FK_WIRE_I64 ? fk_cur_le64(c, &v64)
                            : wire != FK_WIRE_I32 || fk_cur_le32(c, &v32) != 0)
        return -FK_E_FORMAT;
    f->number = (uint32_t)key >> 3;
    f->wire = wire;
    f->v = wire == FK_WIRE_I64 ? v64 : v32;
    return 1;
}

int fk_pb_fail(const struct fk_cur *at, const uint8_t *whole, const char *what, struct fk_err *err)
{
    return fk_fail(err, FK_E_FORMAT, "%s: the protobuf is broken at byte %zu", what,
                   (size_t)(at->p - whole));
}

void fk_pb_u64(struct fk_buf *b, uint32_t number, uint64_t v)
{
    fk_pb_key(b, number, FK_WIRE_VARINT);
    fk_buf_varint(b, v);
}

void fk_pb_u64_nz(struct fk_buf *b, uint32_t number, uint64_t v)
{
    if (v)
        fk_pb_u64(b, number, v);
}

void fk_pb_fixed64(struct fk_buf *b, uint32_t number, uint64_t v)
{
    fk_pb_key(b, number, FK_WIRE_I64);
    fk_buf_le64(b, v);
}

void fk_pb_fixed32(struct fk_buf *b, uint32_t number, uint32_t v)
{
    fk_pb_key(b, number, FK_WIRE_I32);
    fk_buf_le32(b, v);
}

void fk_pb_bytes(struct fk_buf *b, uint32_t number, struct fk_str s)
{
    fk_pb_key(b, number, FK_WIRE_LEN);
    fk_buf_sized(b, s);
}

void fk_pb_bytes_nz(struct fk_buf *b, uint32_t number, struct fk_str s)
{
    if (s.n)
        fk_pb_bytes(b, number, s);
}

void fk_pb_packed(struct fk_buf *b, uint32_t number, const uint64_t *v, size_t n)
{
    size_t bytes = 0;
    if (n == 0)
        return;
    for (size_t i = 0; i < n; i++)
        bytes += fk_varint_size(v[i]);
    fk_pb_key(b, number, FK_WIRE_LEN);
    fk_buf_varint(b, bytes);
    uint8_t *to = (uint8_t *)fk_buf_reserve(b, bytes);
    if (!to)
        return;
    for (size_t i = 0; i < n; i++)
        to = fk_varint_write(to, v[i]);
    b->n += bytes;
}

// One byte is kept for the length; longer lengths move the message up at the end.
size_t fk_pb_begin(struct fk_buf *b, uint32_t number)
{
    fk_pb_key(b, number, FK_WIRE_LEN);
    fk_buf_byte(b, 0);
    return b->n;
}

void fk_pb_end(struct fk_buf *b, size_t mark)
{
    if (b->failed)
        return;
    size_t n = b->n - mark, extra = fk_varint_size(n) - 1;
    if (extra) {
        if (!fk_buf_reserve(b, extra))
            return;
        memmove(b->p + mark + extra, b->p + mark, n);
        b->n += extra;
    }
    fk_varint_write((uint8_t *)b->p + mark - 1, n);
}
