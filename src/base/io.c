// SPDX-License-Identifier: Apache-2.0
// The in-memory ends of the two I/O interfaces.
#include "base/io.h"

static int write_buf(void *arg, const void *p, size_t n, struct fk_err *err)
{
    struct fk_buf *b = arg;
    fk_buf_put(b, p, n);
    return fk_buf_check(b, "output", err);
}

struct fk_out fk_out_buf(struct fk_buf *b)
{
    return (struct fk_out){write_buf, b};
}

static const uint8_t *map_bytes(void *arg, uint64_t offset, size_t n)
{
    const struct fk_str *s = arg;
    return fk_in_range(offset, n, s->n) ? (const uint8_t *)s->p + offset : NULL;
}

static int read_bytes(void *arg, uint64_t offset, void *to, size_t n, struct fk_err *err)
{
    const uint8_t *from = map_bytes(arg, offset, n);
    if (!from)
        return fk_fail(err, FK_E_CORRUPT, "read of %zu bytes at %llu is beyond the end", n,
                       (unsigned long long)offset);
    if (n)
        memcpy(to, from, n);
    return 0;
}

struct fk_source fk_source_bytes(const struct fk_str *bytes)
{
    union {
        const struct fk_str *in;
        void *out;
    } arg = {.in = bytes};
    return (struct fk_source){bytes->n, read_bytes, map_bytes, arg.out};
}
