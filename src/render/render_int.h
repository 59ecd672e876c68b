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

// ---- text in pictures (text.c)

// Writes one character that needs no replacement; escapes it as its place needs.
typedef void fk_render_char(struct fk_buf *b, struct fk_str utf8);
void fk_render_xml_char(struct fk_buf *b, struct fk_str utf8);
// At most about `max` characters of a name: controls and bytes that are no UTF-8 as U+FFFD, marks
// that turn the direction of text as "[U+202E]". How many were written; max + 1 when it was cut.
size_t fk_render_visible(struct fk_buf *b, struct fk_str s, size_t max, fk_render_char *put);
void fk_render_xml(struct fk_buf *b, struct fk_str s); // all of it, for XML and HTML
// "1.50 s", "2.00 MiB", "12 count"; ", 3.10 %" (nothing when the whole is 0).
void fk_render_value(struct fk_buf *b, int64_t v, struct fk_str unit);
void fk_render_share(struct fk_buf *b, int64_t v, int64_t whole);
// Hands the buffer on when there are `at` bytes or more.
int fk_render_flush(struct fk_buf *b, size_t at, struct fk_out out, struct fk_err *err);
// FK_E_UNSUPPORTED when a total is below 0.
int fk_render_no_negative(const struct fk_tree_view *v, const char *what, struct fk_err *err);

// Script and style of the exported page (made from src/render/page by tools/embed_page.py).
struct fk_page_part {
    const char *hash; // as a content security policy names it
    size_t n;
    const char *text;
};
extern const struct fk_page_part fk_page_script, fk_page_style;

#endif
