// SPDX-License-Identifier: Apache-2.0
// Symbols of a dataset on disk: sorted, with the stacks as a preorder tree.
#ifndef FK_BLOCK_SYMBOLS_INT_H
#define FK_BLOCK_SYMBOLS_INT_H

#include "block/block.h"
#include "codec/codec.h"

// The order in which symbols are written: new ids by old ids, and back. In an arena.
struct fk_symbol_order {
    uint32_t *string_to, *string_from;
    uint32_t *function_to, *function_from;
    uint32_t *location_to, *location_from;
    uint32_t *stack_to, *stack_from;
};
int fk_symbol_order_make(const struct fk_symbols *s, struct fk_arena *a,
                         struct fk_symbol_order *ret, struct fk_err *err);

// Sections. Sizes before columns, ids renumbered by the order.
void fk_symbols_put(struct fk_buf *b, const struct fk_symbols *s, const struct fk_symbol_order *o);
void fk_tree_put(struct fk_buf *b, const struct fk_symbols *s, const struct fk_symbol_order *o,
                 struct fk_arena *a);
void fk_sets_put(struct fk_buf *b, const struct fk_symbols *s, const struct fk_symbol_order *o);
// The other way: columns in the arena, strings borrowed from the bytes. Everything is checked; call
// in this order.
int fk_symbols_read(struct fk_str bytes, struct fk_arena *a, struct fk_symbols *ret,
                    struct fk_err *err);
int fk_tree_read(struct fk_str bytes, struct fk_arena *a, struct fk_symbols *ret,
                 struct fk_err *err);
int fk_sets_read(struct fk_str bytes, struct fk_arena *a, struct fk_symbols *ret,
                 struct fk_err *err);

#endif
