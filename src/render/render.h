// SPDX-License-Identifier: Apache-2.0
// Trees and tables to bytes; no I/O: everything streams to an out. Shapes are those of the HTTP API
// (docs: api, "Shapes"); folded text of a tree is fk_folded_tree in the formats room.
#ifndef FK_RENDER_H
#define FK_RENDER_H

#include "codec/codec.h"
#include "model/tree.h"

// What an answer covers ("completeness"). Shares are 0..1.
struct fk_render_facts {
    uint64_t profiles, blocks, bytes, dropped_samples;
    double truncated_share, unsymbolized_share;
    const struct fk_str *warning;
    size_t n_warnings;
};
// The object alone, as the value of a key or of an array.
void fk_render_completeness(struct fk_json *w, const struct fk_render_facts *f);

// What stands at the head of every answer.
struct fk_render_head {
    struct fk_str type, unit;            // full profile type id; unit of the values
    const struct fk_render_facts *facts; // NULL: left out
};

// {type, unit, total, names[], nodes{parent[], name[], self[], total[]}, folded, completeness}
int fk_render_flamegraph(const struct fk_tree_view *v, const struct fk_render_head *h,
                         struct fk_out out, struct fk_err *err);
struct fk_render_sandwich {
    struct fk_str function;
    int64_t total, self; // of the whole tree; of the function
    const struct fk_tree_view *callers, *callees;
};
// {type, unit, total, function, self, callers{names[], nodes{...}}, callees{names[], nodes{...}}}
int fk_render_sandwich(const struct fk_render_sandwich *s, const struct fk_render_head *h,
                       struct fk_out out, struct fk_err *err);

struct fk_render_side {
    int64_t total;
    uint64_t profiles;
    double factor; // turns raw sums into the mode's unit
};
struct fk_render_sides {
    const char *mode; // "share", "per_second", "per_instance", "absolute"
    struct fk_render_side side[2];
};
// The view has two columns.
int fk_render_diff(const struct fk_tree_view *v, const struct fk_render_sides *s,
                   const struct fk_render_head *h, struct fk_out out, struct fk_err *err);

// {type, unit, total, rows[{function, file?, package?, self, total, self_share, total_share}]};
// shares are left out when the total is 0.
int fk_render_top(const struct fk_top *t, int64_t total, const struct fk_render_head *h,
                  struct fk_out out, struct fk_err *err);
// {..., mode, left, right, rows[{function, ..., left_self, ..., delta, relative?}]}; delta of the
// self value in the mode's unit, relative = delta / left.
int fk_render_diff_top(const struct fk_top *t, const struct fk_render_sides *s,
                       const struct fk_render_head *h, struct fk_out out, struct fk_err *err);
// CSV (RFC 4180, lines end in LF) with a head line. Text that a spreadsheet would take for a
// formula gets a ' in front.
int fk_render_top_csv(const struct fk_top *t, int64_t total, struct fk_out out, struct fk_err *err);

// ---- application/vnd.flamekeep.tree: half the bytes of the JSON. All numbers are varints (z:
// zigzag), strings are length and bytes:
//   "FKT" 0x01, type, unit, columns (1 or 2), per column z total, folded, flags (1: has rest)
//   names n, n strings
//   nodes n, per node in preorder: depth (root 0), name index, per column z self, and with flag 1
//   per column z rest (the weight of children that max_nodes left out). total = self + rest + sum
//   of the children's totals.
//   facts as JSON (a string, empty when there are none)
#define FK_RENDER_TREE_TYPE "application/vnd.flamekeep.tree"
int fk_render_tree_stream(const struct fk_tree_view *v, const struct fk_render_head *h,
                          struct fk_out out, struct fk_err *err);

// ---- flamebearer: the flame graph of Pyroscope's clients. Levels of groups [x, total, self, name]
// or, with two columns, [x, total, self, x, total, self, name]; x is the distance to the end of the
// group before on the level. Children start behind their parent's own weight; what is missing under
// a node is its last child "other".
struct fk_flamebearer {
    const struct fk_str *name;         // name 0 is "total"
    uint32_t n_names, n_levels, group; // group: 4 or 7 numbers
    const size_t *begin;               // n_levels + 1: into value
    const int64_t *value;
    int64_t ticks[2], max_self;
};
int fk_flamebearer_make(const struct fk_tree_view *v, struct fk_arena *a,
                        struct fk_flamebearer *ret, struct fk_err *err);
// What stands beside the graph: values over time, of the whole and of groups.
struct fk_flamebearer_line {
    int64_t start_s, step_s;
    const double *value; // written as whole numbers
    size_t n;
};
struct fk_flamebearer_group {
    struct fk_str name;
    struct fk_flamebearer_line line;
};
struct fk_flamebearer_more {
    bool has_line, has_groups; // else null
    struct fk_flamebearer_line line;
    const struct fk_flamebearer_group *group;
    size_t n_groups;
};
// The whole document {version, flamebearer, metadata, timeline, groups, ...}; sample_type: name of
// the value column, which decides units and sampleRate as Pyroscope does. more may be NULL.
int fk_render_flamebearer(const struct fk_flamebearer *f, struct fk_str sample_type,
                          struct fk_str unit, const struct fk_flamebearer_more *more,
                          struct fk_out out, struct fk_err *err);
// Pyroscope's call tree in bytes, appended; nothing for a tree without weight.
int fk_render_pyroscope_tree(const struct fk_tree_view *v, struct fk_buf *to, struct fk_err *err);

// ---- pictures: files that stand alone and ask for nothing else. Names are shown, never obeyed:
// markup is escaped, controls become U+FFFD, marks that turn the direction of text "[U+202E]". They
// show totals as widths or weights: FK_E_UNSUPPORTED when one is negative.
struct fk_render_picture {
    struct fk_str title;      // like "shop cpu 2026-01-01T12:00:00Z"
    struct fk_str type, unit; // as struct fk_render_head
};
// Flame graph, the root on top; each frame has a <title> with its whole name and values. What is
// narrower than a tenth of a pixel is left out and counted in a note.
int fk_render_svg(const struct fk_tree_view *v, const struct fk_render_picture *p,
                  struct fk_out out, struct fk_err *err);
// One page with zoom, search, tooltips and keys. The tree lies in it as the JSON of
// fk_render_flamegraph.
int fk_render_html(const struct fk_tree_view *v, const struct fk_render_picture *p,
                   struct fk_out out, struct fk_err *err);
// Graphviz: the functions of largest total and their calls; an edge is dotted where functions in
// between are left out. Of what is called within itself a stack counts once. max_nodes 0: all.
int fk_render_dot(const struct fk_tree *t, const struct fk_render_picture *p, size_t max_nodes,
                  struct fk_out out, struct fk_err *err);

#endif
