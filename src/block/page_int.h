// SPDX-License-Identifier: Apache-2.0
// Pages of the profile table: up to FK_PAGE_ROWS rows, column by column.
#ifndef FK_BLOCK_PAGE_INT_H
#define FK_BLOCK_PAGE_INT_H

#include "block/block.h"
#include "codec/codec.h"

#define FK_PAGE_INDEX_BYTES 72 // per page: offset, 2 times, 2 ids, checksum

// Where the rows' notes and samples lie while a page is written or read.
struct fk_page_base {
    const uint8_t *notes, *samples; // sections, for reading
    uint64_t n_notes, n_samples;
    uint64_t notes_at, samples_at; // of the page's first row
};

// Rows must be in order; offsets advance in *base.
void fk_page_put(struct fk_buf *b, const struct fk_row *row, uint32_t n,
                 const struct fk_shape *shape, struct fk_page_base *base);
int fk_page_read(struct fk_str bytes, const struct fk_dataset *tables,
                 const struct fk_page_base *base, struct fk_page *to, struct fk_err *err);

#endif
