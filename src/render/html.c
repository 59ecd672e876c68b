// SPDX-License-Identifier: Apache-2.0
// The flame graph as a page of its own. The tree is JSON in a block that no browser runs; a policy
// in the page lets exactly its own script and style work and forbids every request.
#include "render/render_int.h"

// JSON for a <script> block: '<', '>' and '&' only stand in strings, where they can be escaped, so
// nothing in it ends the block or opens a comment.
struct guarded {
    struct fk_out out;
    struct fk_buf buf;
};

static int put_guarded(void *arg, const void *p, size_t n, struct fk_err *err)
{
    struct guarded *g = arg;
    const char *text = p;
    for (size_t i = 0; i < n; i++) {
        if (text[i] == '<' || text[i] == '>' || text[i] == '&')
            fk_buf_printf(&g->buf, "\\u%04x", (unsigned)text[i]);
        else
            fk_buf_byte(&g->buf, (uint8_t)text[i]);
    }
    return fk_render_flush(&g->buf, 1 << 15, g->out, err);
}

static int put_tree(const struct fk_tree_view *v, const struct fk_render_picture *p,
                    struct fk_out out, struct fk_err *err)
{
    struct guarded g = {.out = out};
    struct fk_render_head head = {p->type, p->unit, NULL};
    fk_buf_init(&g.buf, 0);
    int rc = fk_render_flamegraph(v, &head, (struct fk_out){put_guarded, &g}, err);
    if (!rc)
        rc = fk_render_flush(&g.buf, 0, out, err);
    fk_buf_free(&g.buf);
    return rc;
}

static void put_head(struct fk_buf *b, const struct fk_render_picture *p)
{
    fk_buf_printf(b,
                  "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
                  "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
                  "script-src '%s'; style-src '%s'; base-uri 'none'; form-action 'none'\">\n"
                  "<meta name=\"referrer\" content=\"no-referrer\">\n"
                  "<meta name=\"viewport\" content=\"width=device-width\">\n<title>",
                  fk_page_script.hash, fk_page_style.hash);
    fk_render_xml(b, p->title);
    fk_buf_cstr(b, "</title>\n<style>");
    fk_buf_put(b, fk_page_style.text, fk_page_style.n);
    fk_buf_cstr(b, "</style>\n</head>\n<body>\n<header>\n<h1>");
    fk_render_xml(b, p->title);
    fk_buf_cstr(b, "</h1>\n"
                   "<input id=\"search\" type=\"search\" placeholder=\"text or /expression/\" "
                   "aria-label=\"Search functions\" autocomplete=\"off\" spellcheck=\"false\">\n"
                   "<button id=\"reset\" type=\"button\" hidden>Whole graph</button>\n"
                   "<span id=\"status\" role=\"status\"></span>\n</header>\n"
                   "<main id=\"graph\" role=\"tree\" aria-label=\"Flame graph\"></main>\n"
                   "<div id=\"tip\" hidden></div>\n"
                   "<footer><p id=\"note\"></p>\n<p>A click or <kbd>Enter</kbd> zooms, "
                   "<kbd>Esc</kbd> shows all, arrows move, <kbd>/</kbd> searches.</p></footer>\n"
                   "<script type=\"application/json\" id=\"data\">");
}

int fk_render_html(const struct fk_tree_view *v, const struct fk_render_picture *p,
                   struct fk_out out, struct fk_err *err)
{
    FK_AUTO_BUF b;
    fk_buf_init(&b, 0);
    int rc = fk_render_no_negative(v, "html", err);
    if (rc)
        return rc;
    put_head(&b, p);
    if ((rc = fk_render_flush(&b, 0, out, err)) || (rc = put_tree(v, p, out, err)))
        return rc;
    fk_buf_cstr(&b, "</script>\n<script>");
    fk_buf_put(&b, fk_page_script.text, fk_page_script.n);
    fk_buf_cstr(&b, "</script>\n</body>\n</html>\n");
    return fk_render_flush(&b, 0, out, err);
}
