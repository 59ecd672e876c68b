// SPDX-License-Identifier: Apache-2.0
// The wire reader, nested as deep as the bytes pretend, and the writer: what is read and written
// again reads the same.
#include "codec/codec.h"
#include "fuzz.h"

static void walk(struct fk_cur c, int depth)
{
    struct fk_pb_field f;
    while (fk_pb_next(&c, &f) == 1) {
        if (f.wire != FK_WIRE_LEN)
            continue;
        FK_FUZZ_CHECK(f.b.end >= f.b.p && f.b.end <= c.end);
        struct fk_cur packed = f.b;
        uint64_t v;
        size_t n = 0;
        while (packed.p < packed.end && fk_cur_varint(&packed, &v) == 0)
            n++;
        FK_FUZZ_CHECK(n <= fk_varint_count(f.b.p, (size_t)(f.b.end - f.b.p)));
        if (depth < 20)
            walk(f.b, depth + 1);
    }
}

static void put(struct fk_buf *b, const struct fk_pb_field *f)
{
    if (f->wire == FK_WIRE_VARINT)
        fk_pb_u64(b, f->number, f->v);
    else if (f->wire == FK_WIRE_I64)
        fk_pb_fixed64(b, f->number, f->v);
    else if (f->wire == FK_WIRE_I32)
        fk_pb_fixed32(b, f->number, (uint32_t)f->v);
    else
        fk_pb_bytes(b, f->number, fk_pb_str(f));
}

static void rewrite(struct fk_cur c)
{
    FK_AUTO_BUF b;
    struct fk_pb_field f, g;
    fk_buf_init(&b, 0);
    struct fk_cur again = c;
    while (fk_pb_next(&c, &f) == 1)
        put(&b, &f);
    struct fk_cur written = fk_cur_of(fk_buf_view(&b));
    while (fk_pb_next(&written, &g) == 1) {
        FK_FUZZ_CHECK(fk_pb_next(&again, &f) == 1);
        FK_FUZZ_CHECK(f.number == g.number && f.wire == g.wire);
        FK_FUZZ_CHECK(f.wire == FK_WIRE_LEN ? fk_str_eq(fk_pb_str(&f), fk_pb_str(&g)) : f.v == g.v);
    }
    FK_FUZZ_CHECK(written.p == written.end);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fk_cur c = {data, data + size};
    walk(c, 0);
    rewrite(c);
    return 0;
}
