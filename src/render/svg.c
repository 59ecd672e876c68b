// SPDX-License-Identifier: Apache-2.0
// The flame graph as a static picture (SVG 1.1): no script, no style sheet, no reference to
// anything.
#include "render/render_int.h"

#define WIDTH  1200
#define MARGIN 10
#define ROW    17
#define HEAD   40
#define LETTER 7.3 // of the 12 pixel monospace font
#define NARROW 0.1

struct drawing {
    const struct fk_tree_view *v;
    const struct fk_render_picture *p;
    struct fk_buf buf;
    struct fk_out out;
    int64_t *x, *next; // per node: where it begins, where its next child does
    uint32_t *depth;
    uint32_t deepest;
    uint64_t narrow;
    double scale; // pixels a unit
};

// Packages tell colours apart; all of them carry black text.
static const char *color_of(const struct fk_tree_name *n)
{
    static const char *const warm[] = {"#f2b56b", "#e8c468", "#efa27e", "#f0cf8e",
                                       "#dcae62", "#f5b8a0", "#e6b98f", "#eed06a",
                                       "#d9bd7c", "#f7a96f", "#e3c79a", "#f3c07f"};
    struct fk_str package = fk_name_package(n);
    if (!n->symbolized)
        return "#c9ccd1";
    return warm[(package.n ? fk_hash_str(package) : fk_hash_str(n->name)) % FK_COUNTOF(warm)];
}

static void lay_out(struct drawing *d)
{
    const struct fk_tree_view *v = d->v;
    for (uint32_t i = 0; i < v->n_nodes; i++) {
        int32_t up = v->parent[i];
        d->x[i] = up < 0 ? 0 : d->next[up];
        d->depth[i] = up < 0 ? 0 : d->depth[up] + 1;
        if (up >= 0)
            d->next[up] = fk_wrap_add(d->next[up], v->total[0][i]);
        d->next[i] = d->x[i];
        bool drawn = (double)v->total[0][i] * d->scale >= NARROW;
        d->narrow += !drawn;
        if (drawn)
            d->deepest = FK_MAX(d->deepest, d->depth[i]);
    }
}

static void put_head(struct drawing *d)
{
    struct fk_buf *b = &d->buf;
    uint32_t height = HEAD + (d->deepest + 1) * ROW + 2 * MARGIN + ROW;
    fk_buf_printf(b,
                  "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
                  "<svg xmlns=\"http://www.w3.org/2000/svg\" version=\"1.1\" width=\"%d\" "
                  "height=\"%u\" viewBox=\"0 0 %d %u\" font-family=\"monospace\" "
                  "font-size=\"12\">\n<title>",
                  WIDTH, height, WIDTH, height);
    fk_render_xml(b, d->p->title);
    fk_buf_printf(b,
                  "</title>\n<rect width=\"100%%\" height=\"100%%\" fill=\"#ffffff\"/>\n"
                  "<text x=\"%d\" y=\"24\" font-size=\"15\">",
                  MARGIN);
    if (fk_render_visible(b, d->p->title, 90, fk_render_xml_char) > 90)
        fk_buf_cstr(b, "…");
    fk_buf_cstr(b, "</text>\n");
}

static void put_label(struct drawing *d, uint32_t i, double x, double y, double width)
{
    size_t room = (size_t)((width - 6) / LETTER);
    struct fk_str name = d->v->name[d->v->node_name[i]].name;
    if (width < 3 * LETTER + 6)
        return;
    fk_buf_printf(&d->buf, "<text x=\"%.2f\" y=\"%.0f\">", x + 3, y + 12);
    size_t begin = d->buf.n;
    if (fk_render_visible(&d->buf, name, room, fk_render_xml_char) > room && !d->buf.failed) {
        d->buf.n = begin; // again, with room for the dots
        fk_render_visible(&d->buf, name, room - 2, fk_render_xml_char);
        fk_buf_cstr(&d->buf, "..");
    }
    fk_buf_cstr(&d->buf, "</text>");
}

static void put_frame(struct drawing *d, uint32_t i)
{
    const struct fk_tree_view *v = d->v;
    const struct fk_tree_name *name = &v->name[v->node_name[i]];
    double width = (double)v->total[0][i] * d->scale, x = MARGIN + (double)d->x[i] * d->scale;
    double y = HEAD + (double)d->depth[i] * ROW;
    struct fk_buf *b = &d->buf;
    fk_buf_cstr(b, "<g><title>");
    fk_render_xml(b, name->name);
    fk_buf_cstr(b, " (");
    fk_render_value(b, v->total[0][i], d->p->unit);
    fk_render_share(b, v->total[0][i], v->sum[0]);
    fk_buf_cstr(b, "; self ");
    fk_render_value(b, v->self[0][i], d->p->unit);
    fk_buf_printf(b,
                  ")</title><rect x=\"%.2f\" y=\"%.0f\" width=\"%.2f\" height=\"%d\" "
                  "fill=\"%s\" stroke=\"#ffffff\" stroke-width=\"0.5\"/>",
                  x, y, width, ROW - 1, i ? color_of(name) : "#dfe3e8");
    put_label(d, i, x, y, width);
    fk_buf_cstr(b, "</g>\n");
}

static void put_note(struct drawing *d)
{
    struct fk_buf *b = &d->buf;
    fk_buf_printf(b, "<text x=\"%d\" y=\"%u\" fill=\"#555555\">", MARGIN,
                  HEAD + (d->deepest + 1) * ROW + MARGIN + ROW);
    fk_buf_cstr(b, "total ");
    fk_render_value(b, d->v->sum[0], d->p->unit);
    if (d->v->folded || d->narrow)
        fk_buf_printf(b, "; %llu small frames are not drawn",
                      (unsigned long long)(d->v->folded + d->narrow));
    fk_buf_cstr(b, "</text>\n</svg>\n");
}

static int draw(struct drawing *d, struct fk_err *err)
{
    int rc = 0;
    lay_out(d);
    put_head(d);
    for (uint32_t i = 0; !rc && i < d->v->n_nodes; i++) {
        if ((double)d->v->total[0][i] * d->scale < NARROW)
            continue;
        put_frame(d, i);
        rc = fk_render_flush(&d->buf, 1 << 15, d->out, err);
    }
    if (rc)
        return rc;
    put_note(d);
    return fk_render_flush(&d->buf, 0, d->out, err);
}

int fk_render_svg(const struct fk_tree_view *v, const struct fk_render_picture *p,
                  struct fk_out out, struct fk_err *err)
{
    struct drawing d = {.v = v, .p = p, .out = out};
    int rc = fk_render_no_negative(v, "svg", err);
    if (rc)
        return rc;
    size_t n = (size_t)v->n_nodes + 1;
    fk_buf_init(&d.buf, 0);
    d.scale = v->n_nodes && v->total[0][0] ? (WIDTH - 2.0 * MARGIN) / (double)v->total[0][0] : 0;
    d.x = fk_calloc(n, sizeof(*d.x));
    d.next = fk_calloc(n, sizeof(*d.next));
    d.depth = fk_calloc(n, sizeof(*d.depth));
    rc = d.x && d.next && d.depth ? draw(&d, err) : fk_fail_nomem(err);
    fk_free(d.x);
    fk_free(d.next);
    fk_free(d.depth);
    fk_buf_free(&d.buf);
    return rc;
}
