// SPDX-License-Identifier: Apache-2.0
// Block info and dataset summaries: the container's extra bytes; and the tables section.
#ifndef FK_BLOCK_INFO_INT_H
#define FK_BLOCK_INFO_INT_H

#include "block/container_int.h"

struct fk_dataset_summary {
    struct fk_str service;
    uint64_t n_rows, samples;
    int64_t min_time_ns, max_time_ns;
};

void fk_info_put(struct fk_buf *b, const struct fk_block_info *i,
                 const struct fk_dataset_summary *d);
// Borrows bytes; arrays in the arena.
int fk_info_read(struct fk_str bytes, struct fk_arena *a, struct fk_block_info *ret,
                 struct fk_dataset_summary **ret_d, struct fk_err *err);

void fk_tables_put(struct fk_buf *b, const struct fk_dataset *d);
int fk_tables_read(struct fk_str bytes, struct fk_arena *a, struct fk_dataset *ret,
                   struct fk_err *err);

#endif
