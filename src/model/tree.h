// SPDX-License-Identifier: Apache-2.0
// Function trees: what a flame graph, a top table and a diff are computed from. Merge is by
// displayed function name.
#ifndef FK_MODEL_TREE_H
#define FK_MODEL_TREE_H

#include "model/model.h"

// A tree of function names with one or two value columns (two for a diff: left and right). Owns its
// memory. Node 0 is the root, named "total"; parents come before children. One writer.
struct fk_tree;
struct fk_tree *fk_tree_new(uint32_t columns, size_t memory_limit); // columns 1 or 2; limit 0: none
void fk_tree_free(struct fk_tree *t);

// Frames a view wants changed (api.md "A source": focus, hide, collapse). name() returns FK_FRAME_*
// for a displayed name; it is asked once for each name. NULL: keep all.
enum { FK_FRAME_KEEP = 0, FK_FRAME_HIDE = 1, FK_FRAME_FOCUS = 2, FK_FRAME_COLLAPSE = 4 };
struct fk_frame_filter {
    int (*name)(void *arg, struct fk_str name, struct fk_err *err); // flags, or a negative error
    void *arg;
    bool has_focus; // stacks without a FOCUS frame are left out
};

// Adds self[s] of each stack s < sym->n_stacks to the path of its frames: inlined lines are frames
// of their own; a location without function is "mapping!0xoffset" (base name of the mapping's file)
// or "0xaddress". Stacks with 0 are not added, unless keep_zero. A stack without frames counts in
// the root's total only.
int fk_tree_fold(struct fk_tree *t, uint32_t column, const struct fk_symbols *sym,
                 const int64_t *self, bool keep_zero, const struct fk_frame_filter *filter,
                 struct fk_err *err);

// Adds column 0 of another tree; names that both have keep the facts of t's.
int fk_tree_add(struct fk_tree *t, uint32_t column, const struct fk_tree *from, struct fk_err *err);

// The node that a stack leads to, made when missing, without adding to it: *ret[i] of stack[i].
// Hidden frames are left out and collapsed ones end the path, as above; focus is not looked at.
int fk_tree_nodes(struct fk_tree *t, const struct fk_symbols *sym, const uint32_t *stack, size_t n,
                  const struct fk_frame_filter *filter, uint32_t *ret, struct fk_err *err);
// Of one node: its parent (FK_NONE at the root) and its name; nodes below fk_tree_n_nodes.
uint32_t fk_tree_n_nodes(const struct fk_tree *t);
uint32_t fk_tree_parent(const struct fk_tree *t, uint32_t node);
const struct fk_tree_name *fk_tree_node_name(const struct fk_tree *t, uint32_t node,
                                             uint32_t *ret_name);

// The tree as columns, siblings by name (byte order) and in preorder: a snapshot in the arena.
struct fk_tree_name {
    struct fk_str name;
    struct fk_str file;    // source file of a function so named, "" unknown
    struct fk_str mapping; // mapping file of a location so named, "" unknown
    bool symbolized;
};
struct fk_tree_view {
    uint32_t n_nodes, n_names;
    const struct fk_tree_name *name;
    const int32_t *parent;     // -1 for the root
    const uint32_t *node_name; // root: index of "total"
    const int64_t *self[2], *total[2];
    uint32_t folded; // nodes left out by max_nodes (their weight stays in their ancestors' totals)
    int64_t sum[2];  // of everything folded in, also of stacks without frames
    int64_t unsymbolized[2]; // weight of samples whose leaf frame has no function
};
enum fk_tree_order { FK_ORDER_NAME, FK_ORDER_TOTAL }; // siblings: by name, or by larger total first
struct fk_tree_opts {
    uint32_t max_nodes; // 0: all; else the nodes of largest total, best first
    bool keep_ties;     // also those as heavy as the last of them (fk_tree_cut)
    enum fk_tree_order order;
};
// Pyroscope's way to cut: a node stays when it weighs at least as much as the max_nodes-th heaviest
// one below the root, and its parent stays. *ret: a byte for each node; NULL: all stay.
int fk_tree_cut(const struct fk_tree *t, uint32_t max_nodes, struct fk_arena *a,
                const uint8_t **ret, struct fk_err *err);
int fk_tree_view(const struct fk_tree *t, const struct fk_tree_opts *o, struct fk_arena *a,
                 struct fk_tree_view *ret, struct fk_err *err);

// Turned upside down: roots are leaf functions, children their callers. Totals: a function's self
// weight. New tree.
int fk_tree_invert(const struct fk_tree *t, struct fk_tree **ret, struct fk_err *err);
// Callers (inverted, root = function) and callees of one displayed name: new trees. FK_E_NOTFOUND
// if it is not there. Recursive calls: the outermost occurrence starts a callees tree, the
// innermost a callers path.
int fk_tree_sandwich(const struct fk_tree *t, struct fk_str function, struct fk_tree **ret_callers,
                     struct fk_tree **ret_callees, struct fk_err *err);

// Table of functions, from the whole tree. A function that calls itself counts once in its total.
struct fk_top_row {
    const struct fk_tree_name *name;
    int64_t self[2], total[2];
};
enum fk_top_sort { FK_TOP_SELF, FK_TOP_TOTAL, FK_TOP_NAME, FK_TOP_DELTA };
struct fk_top {
    struct fk_top_row *row; // in the arena
    size_t n, all;          // rows given, rows there are
};
// descending: larger first (names: Z first). limit 0: all. Ties by name.
int fk_tree_top(const struct fk_tree *t, enum fk_top_sort sort, bool descending, size_t limit,
                struct fk_arena *a, struct fk_top *ret, struct fk_err *err);
// Package of a function: Go import path, Java package, Python module, C++ namespace, else the
// mapping's base name; "" if none.
struct fk_str fk_name_package(const struct fk_tree_name *n);

#endif
