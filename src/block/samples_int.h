// SPDX-License-Identifier: Apache-2.0
// Inside of the sample packer.
#ifndef FK_BLOCK_SAMPLES_INT_H
#define FK_BLOCK_SAMPLES_INT_H

#include "block/block.h"
#include "codec/codec.h"

// Rows by (stack << 32 | set); `row` settles ties and says where the row stood.
struct fk_sort_key {
    uint64_t key;
    uint32_t row;
};

#endif
