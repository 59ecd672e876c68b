// SPDX-License-Identifier: Apache-2.0
// Parts that the JSON answers of this room share.
#ifndef FK_RENDER_INT_H
#define FK_RENDER_INT_H

#include "render/render.h"

// type, unit; into an open object.
void fk_render_put_head(struct fk_json *w, const struct fk_render_head *h);
// mode, left{}, right{}.
void fk_render_put_sides(struct fk_json *w, const struct fk_render_sides *s);
// completeness, when there are facts.
void fk_render_put_tail(struct fk_json *w, const struct fk_render_head *h);

// A view names every function of the tree it was cut from; only those of its nodes are written, in
// the order of their first node (so that the root's is 0).
struct fk_used_names {
    uint32_t *id;  // of the view's names: as written, FK_NONE: not used
    uint32_t *old; // and back
    uint32_t n;
};
int fk_used_names_make(const struct fk_tree_view *v, struct fk_arena *a, struct fk_used_names *ret,
                       struct fk_err *err);

#endif
