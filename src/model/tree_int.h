// SPDX-License-Identifier: Apache-2.0
// Inside of the function tree, shared by the files that build, reshape and read it.
#ifndef FK_MODEL_TREE_INT_H
#define FK_MODEL_TREE_INT_H

#include "model/tree.h"

struct fk_tree_node {
    uint32_t parent; // FK_NONE for the root
    uint32_t name;   // into names; root: name 0, "total"
    uint32_t first_child, next_sibling;
};

struct fk_tree {
    uint32_t columns;
    size_t limit; // bytes, SIZE_MAX: none
    FK_VEC(struct fk_tree_node) nodes;
    FK_VEC(int64_t) self[2];
    FK_VEC(struct fk_tree_name) names;
    struct fk_map node_index; // (parent, name) -> node
    struct fk_map name_index; // displayed name -> name
    struct fk_arena text;     // of the names
    int64_t sum[2];           // of all that was folded in
    int64_t unsymbolized[2];
};

// The child of a node that has this name, made when missing.
int fk_tree_child(struct fk_tree *t, uint32_t parent, uint32_t name, uint32_t *ret,
                  struct fk_err *err);
// The id of a displayed name, made when missing; file and mapping are remembered from the first one
// that has them.
int fk_tree_intern(struct fk_tree *t, const struct fk_tree_name *n, uint32_t *ret,
                   struct fk_err *err);
// The name's id, FK_NONE when the tree has none.
uint32_t fk_tree_name_id(const struct fk_tree *t, struct fk_str name);
// Totals of all nodes of one column into ret[n_nodes].
void fk_tree_totals(const struct fk_tree *t, uint32_t column, int64_t *ret);
// The node after `at` in depth-first order, FK_NONE after the last. *left counts how many levels
// were left on the way.
uint32_t fk_tree_next(const struct fk_tree *t, uint32_t at, uint32_t *left);

#endif
