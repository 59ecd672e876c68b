// SPDX-License-Identifier: Apache-2.0
// Profiles whose source has named frames and no tables of its own: names to locations, frames to
// stacks, trees of calls to stacks. Everything is interned in the builder's dictionary, so that
// nothing that is kept points into the input.
#ifndef FK_FORMATS_STACKS_INT_H
#define FK_FORMATS_STACKS_INT_H

#include "formats/text_int.h"

// One frame as the source says it. A frame without a name is a location without lines: its address
// and module are all that is known.
struct fk_named {
    struct fk_str name, file;
    struct fk_str module; // "" none; ignored when `mapping` is given
    int64_t line, column, start_line;
    uint64_t address;        // relative to the mapping's file, 0 none
    const uint32_t *mapping; // id from fk_stacks_mapping, NULL: by module
};

#define FK_STACKS_ATTRS 8

struct fk_stacks {
    const struct fk_decoding *d;
    struct fk_builder *b;
    struct fk_dict *dict;
    FK_VEC(uint32_t) scratch; // frames of the stack being made, leaf first
    struct fk_attr attr[FK_STACKS_ATTRS];
    uint32_t n_attrs, n_types;
    FK_VEC(uint32_t) repeats; // of each mapping: how often it came again at another place
    uint64_t cut, rows, made;
    int64_t first_ns, last_ns; // of the times given so far, FK_NO_TIME none
    bool nomem;                // a text could not be had: fk_stacks_finish fails
};

int fk_stacks_begin(struct fk_stacks *s, const struct fk_decoding *d, struct fk_err *err);
void fk_stacks_end(struct fk_stacks *s); // also a zeroed one; the profile made stays
// Value columns, in this order, before the first row. The kind follows from the name.
int fk_stacks_type(struct fk_stacks *s, struct fk_str type, struct fk_str unit, struct fk_err *err);
// A mapping with its place in memory; the first one is the main binary.
int fk_stacks_mapping(struct fk_stacks *s, struct fk_str file, struct fk_placement place,
                      uint64_t offset, uint32_t *ret, struct fk_err *err);
int fk_stacks_location(struct fk_stacks *s, const struct fk_named *f, uint32_t *ret,
                       struct fk_err *err);
// Inlined calls at one address: f[0] is the innermost; address and mapping are those of f[0].
int fk_stacks_inlined(struct fk_stacks *s, const struct fk_named *f, uint32_t n, uint32_t *ret,
                      struct fk_err *err);
// Of too deep a stack the leaf's end is kept (and counted).
int fk_stacks_stack(struct fk_stacks *s, const uint32_t *leaf_first, size_t n, uint32_t *ret,
                    struct fk_err *err);
// The stack in `scratch`, which is empty afterwards.
int fk_stacks_push(struct fk_stacks *s, uint32_t location, struct fk_err *err);
int fk_stacks_close(struct fk_stacks *s, uint32_t *ret, struct fk_err *err);
// "root;...;leaf"; a nameless frame reads [unknown].
int fk_stacks_folded(struct fk_stacks *s, struct fk_str stack, uint32_t *ret, struct fk_err *err);

// Attributes of the next row, gathered, then closed to a set. Empty strings are left out.
int fk_stacks_attr(struct fk_stacks *s, struct fk_str key, struct fk_str value, struct fk_err *err);
int fk_stacks_number(struct fk_stacks *s, struct fk_str key, int64_t v, struct fk_str unit,
                     struct fk_err *err);
int fk_stacks_set(struct fk_stacks *s, uint32_t *ret, struct fk_err *err);

// One row of one observation; time FK_NO_TIME: none.
int fk_stacks_row(struct fk_stacks *s, uint32_t stack, uint32_t set, const int64_t *values,
                  int64_t time_ns, struct fk_err *err);
// Adds to the row of this stack and set.
int fk_stacks_add(struct fk_stacks *s, uint32_t stack, uint32_t set, const int64_t *values,
                  struct fk_err *err);
// The profile; its duration is that of the times given. Facts may be set afterwards.
int fk_stacks_finish(struct fk_stacks *s, struct fk_profile *ret, struct fk_err *err);
// Memory that is missing, under the name of the limit where one is set.
int fk_stacks_fail(const struct fk_stacks *s, int rc, struct fk_err *err);
// A text of the file as the value of a label: cut to the limit; "" when it is not UTF-8.
struct fk_str fk_label_text(const struct fk_decoding *d, struct fk_str s);
// period_type and period_unit with the period.
void fk_profile_period(struct fk_profile *p, struct fk_str type, struct fk_str unit,
                       int64_t period);

// ---- trees of calls: nodes with a location and a parent

struct fk_node {
    uint32_t parent, location; // FK_NONE: a root; a node that stands for no frame
    uint32_t stack;            // FK_NONE until asked for
};

struct fk_nodes {
    struct fk_node *v; // in the arena
    size_t n, cap;
};

int fk_nodes_add(struct fk_stacks *s, struct fk_nodes *t, struct fk_node node, struct fk_err *err);
// FK_E_FORMAT when a parent does not exist or a node is its own ancestor.
int fk_nodes_check(const struct fk_stacks *s, const struct fk_nodes *t, struct fk_err *err);
// Only after fk_nodes_check.
int fk_nodes_stack(struct fk_stacks *s, struct fk_nodes *t, uint32_t node, uint32_t *ret,
                   struct fk_err *err);

// ---- lines of text

struct fk_lines {
    struct fk_str rest;
    uint64_t n; // of the line read last, from 1
};
// The next line without its line end; false at the end (a last line end begins no line).
bool fk_line_next(struct fk_lines *l, struct fk_str *ret);
// The next word, cut off *rest; empty when there is none.
struct fk_str fk_word(struct fk_str *rest);
// Hexadecimal digits, perhaps after 0x; the whole view.
bool fk_hex(struct fk_str s, uint64_t *ret);
// Decimal digits at the begin of *rest, cut off.
bool fk_take_u64(struct fk_str *rest, uint64_t *ret);
// Cuts `prefix` off *rest.
bool fk_take(struct fk_str *rest, struct fk_str prefix);
// "123.456789" into units of 10^-9; more digits are cut.
bool fk_decimal_ns(struct fk_str s, int64_t *ret);

#endif
