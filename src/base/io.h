// SPDX-License-Identifier: Apache-2.0
// Two small interfaces through which pure code reads ranges and writes streams without knowing
// files or sockets.
#ifndef FK_BASE_IO_H
#define FK_BASE_IO_H

#include "base/buf.h"

// Bytes that can be read by ranges. read_at reads exactly n bytes or fails; safe from several
// threads at once. `map` (may be NULL) gives a pointer to the bytes where they lie in memory
// already; it stays valid as long as the source.
struct fk_source {
    uint64_t size;
    int (*read_at)(void *arg, uint64_t offset, void *to, size_t n, struct fk_err *err);
    const uint8_t *(*map)(void *arg, uint64_t offset, size_t n);
    void *arg;
};

// Where an encoder writes. Takes all n bytes or fails; the encoder stops at the first failure.
struct fk_out {
    int (*write)(void *arg, const void *p, size_t n, struct fk_err *err);
    void *arg;
};

static inline int fk_out_put(struct fk_out o, const void *p, size_t n, struct fk_err *err)
{
    return n ? o.write(o.arg, p, n, err) : 0;
}

// An out that appends to a buffer (fails with the buffer's limit), and a source over bytes in
// memory (both borrow).
struct fk_out fk_out_buf(struct fk_buf *b);
struct fk_source fk_source_bytes(const struct fk_str *bytes);

#endif
