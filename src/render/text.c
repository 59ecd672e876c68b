// SPDX-License-Identifier: Apache-2.0
// Names and values as people read them in pictures: what could change the text around a name, or
// leave it, is shown instead of obeyed.
#include "render/render_int.h"

// Length of the valid UTF-8 sequence at the begin of s, 0 when there is none.
static size_t sequence(struct fk_str s, uint32_t *ret)
{
    uint8_t c = (uint8_t)s.p[0];
    size_t n = c < 0x80 ? 1 : c >= 0xf0 ? 4 : c >= 0xe0 ? 3 : 2;
    if (n > s.n || !fk_str_is_utf8(fk_str_head(s, n)))
        return 0;
    uint32_t v = n == 1 ? c : c & (0xffu >> (n + 1));
    for (size_t i = 1; i < n; i++)
        v = v << 6 | ((uint8_t)s.p[i] & 0x3f);
    *ret = v;
    return n;
}

// Marks that turn the direction of the text behind them (Unicode 15, UAX #9).
static bool is_bidi(uint32_t c)
{
    return c == 0x61c || c == 0x200e || c == 0x200f || (c >= 0x202a && c <= 0x202e) ||
           (c >= 0x2066 && c <= 0x2069);
}

// Controls, separators of lines, and what XML 1.0 does not take.
static bool is_unfit(uint32_t c)
{
    return c < 0x20 || (c >= 0x7f && c < 0xa0) || c == 0x2028 || c == 0x2029 || c >= 0x110000 ||
           (c & 0xfffe) == 0xfffe || (c >= 0xfdd0 && c <= 0xfdef);
}

size_t fk_render_visible(struct fk_buf *b, struct fk_str s, size_t max, fk_render_char *put)
{
    size_t shown = 0;
    while (s.n && shown < max) {
        uint32_t c = 0;
        size_t n = sequence(s, &c);
        if (n && is_bidi(c)) {
            fk_buf_printf(b, "[U+%04X]", (unsigned)c);
            shown += 8;
        } else {
            if (!n || is_unfit(c))
                fk_buf_cstr(b, "\xef\xbf\xbd");
            else
                put(b, fk_str_head(s, n));
            shown++;
        }
        s = fk_str_from(s, n ? n : 1);
    }
    return s.n ? max + 1 : shown;
}

void fk_render_xml_char(struct fk_buf *b, struct fk_str c)
{
    static const char *const escaped[][2] = {
        {"<", "&lt;"}, {">", "&gt;"}, {"&", "&amp;"}, {"\"", "&quot;"}, {"'", "&#39;"}};
    for (size_t i = 0; i < FK_COUNTOF(escaped); i++)
        if (c.p[0] == escaped[i][0][0]) {
            fk_buf_cstr(b, escaped[i][1]);
            return;
        }
    fk_buf_str(b, c);
}

void fk_render_xml(struct fk_buf *b, struct fk_str s)
{
    fk_render_visible(b, s, SIZE_MAX - 1, fk_render_xml_char);
}

// ---- values ----

struct step {
    double size;
    const char *name;
};

static void put_scaled(struct fk_buf *b, int64_t v, const struct step *step)
{
    double size = v < 0 ? -(double)v : (double)v;
    while (step->size > size && step->size > 1)
        step++;
    fk_buf_printf(b, step->size > 1 ? "%.2f %s" : "%.0f %s", (double)v / step->size, step->name);
}

void fk_render_value(struct fk_buf *b, int64_t v, struct fk_str unit)
{
    static const struct step time[] = {{86400e9, "d"}, {3600e9, "h"}, {60e9, "min"}, {1e9, "s"},
                                       {1e6, "ms"},    {1e3, "µs"},   {1, "ns"}};
    static const struct step bytes[] = {
        {0x1p40, "TiB"}, {0x1p30, "GiB"}, {0x1p20, "MiB"}, {0x1p10, "KiB"}, {1, "B"}};
    if (fk_str_eq(unit, FK_S("nanoseconds"))) {
        put_scaled(b, v, time);
    } else if (fk_str_eq(unit, FK_S("bytes"))) {
        put_scaled(b, v, bytes);
    } else {
        fk_buf_i64(b, v);
        fk_buf_byte(b, ' ');
        fk_render_xml(b, unit.n ? unit : FK_S("count"));
    }
}

void fk_render_share(struct fk_buf *b, int64_t v, int64_t whole)
{
    if (whole)
        fk_buf_printf(b, ", %.2f %%", 100 * (double)v / (double)whole);
}

int fk_render_flush(struct fk_buf *b, size_t at, struct fk_out out, struct fk_err *err)
{
    int rc = fk_buf_check(b, "picture", err);
    if (rc || b->n < at)
        return rc;
    rc = fk_out_put(out, b->p, b->n, err);
    fk_buf_clear(b);
    return rc;
}

int fk_render_no_negative(const struct fk_tree_view *v, const char *what, struct fk_err *err)
{
    for (uint32_t i = 0; i < v->n_nodes; i++)
        if (v->total[0][i] < 0)
            return fk_fail(err, FK_E_UNSUPPORTED,
                           "%s shows weights as widths; '%.*s' of this source weighs less than "
                           "nothing",
                           what, FK_STR_ARG(fk_str_head(v->name[v->node_name[i]].name, 80)));
    return 0;
}
