// SPDX-License-Identifier: Apache-2.0
// Tables of functions as JSON and CSV.
#include "render/render_int.h"

#include <math.h>
#include <stdio.h>

static void put_function(struct fk_json *w, const struct fk_tree_name *n)
{
    struct fk_str package = fk_name_package(n);
    fk_json_k(w, "function");
    fk_json_str(w, n->name);
    if (n->file.n) {
        fk_json_k(w, "file");
        fk_json_str(w, n->file);
    }
    if (package.n) {
        fk_json_k(w, "package");
        fk_json_str(w, package);
    }
}

static void put_i64(struct fk_json *w, struct fk_str key, int64_t v)
{
    fk_json_key(w, key);
    fk_json_i64(w, v);
}

static void put_f64(struct fk_json *w, struct fk_str key, double v)
{
    fk_json_key(w, key);
    fk_json_f64(w, v);
}

int fk_render_top(const struct fk_top *t, int64_t total, const struct fk_render_head *h,
                  struct fk_out out, struct fk_err *err)
{
    struct fk_json w;
    fk_json_init(&w, out, false);
    fk_json_object(&w);
    fk_render_put_head(&w, h);
    put_i64(&w, FK_S("total"), total);
    fk_json_k(&w, "rows");
    fk_json_array(&w);
    for (size_t i = 0; i < t->n; i++) {
        const struct fk_top_row *r = &t->row[i];
        fk_json_object(&w);
        put_function(&w, r->name);
        put_i64(&w, FK_S("self"), r->self[0]);
        put_i64(&w, FK_S("total"), r->total[0]);
        if (total) {
            put_f64(&w, FK_S("self_share"), (double)r->self[0] / (double)total);
            put_f64(&w, FK_S("total_share"), (double)r->total[0] / (double)total);
        }
        fk_json_object_end(&w);
    }
    fk_json_array_end(&w);
    put_i64(&w, FK_S("functions"), (int64_t)t->all);
    fk_render_put_tail(&w, h);
    fk_json_object_end(&w);
    return fk_json_finish(&w, err);
}

static void put_diff_row(struct fk_json *w, const struct fk_top_row *r,
                         const struct fk_render_sides *s)
{
    double left = (double)r->self[0] * s->side[0].factor;
    double delta = (double)r->self[1] * s->side[1].factor - left;
    fk_json_object(w);
    put_function(w, r->name);
    put_i64(w, FK_S("left_self"), r->self[0]);
    put_i64(w, FK_S("left_total"), r->total[0]);
    put_i64(w, FK_S("right_self"), r->self[1]);
    put_i64(w, FK_S("right_total"), r->total[1]);
    put_f64(w, FK_S("delta"), delta);
    if (left != 0 && isfinite(delta / left))
        put_f64(w, FK_S("relative"), delta / left);
    fk_json_object_end(w);
}

int fk_render_diff_top(const struct fk_top *t, const struct fk_render_sides *s,
                       const struct fk_render_head *h, struct fk_out out, struct fk_err *err)
{
    struct fk_json w;
    fk_json_init(&w, out, false);
    fk_json_object(&w);
    fk_render_put_head(&w, h);
    fk_render_put_sides(&w, s);
    fk_json_k(&w, "rows");
    fk_json_array(&w);
    for (size_t i = 0; i < t->n; i++)
        put_diff_row(&w, &t->row[i], s);
    fk_json_array_end(&w);
    put_i64(&w, FK_S("functions"), (int64_t)t->all);
    fk_render_put_tail(&w, h);
    fk_json_object_end(&w);
    return fk_json_finish(&w, err);
}

// ---- CSV
// -----------------------------------------------------------------------------------------------------------

static bool plain(struct fk_str s)
{
    for (size_t i = 0; i < s.n; i++)
        if ((uint8_t)s.p[i] < 0x20 || strchr(",\"'", s.p[i]))
            return false;
    return true;
}

static void put_cell(struct fk_buf *b, struct fk_str s)
{
    bool formula = s.n && memchr("=+-@\t\r", s.p[0], 6) != NULL;
    if (plain(s) && !formula) {
        fk_buf_str(b, s);
        return;
    }
    fk_buf_byte(b, '"');
    if (formula)
        fk_buf_byte(b, '\'');
    for (size_t i = 0; i < s.n; i++) {
        if (s.p[i] == '"')
            fk_buf_byte(b, '"');
        fk_buf_byte(b, s.p[i] ? (uint8_t)s.p[i] : ' ');
    }
    fk_buf_byte(b, '"');
}

static void put_csv_row(struct fk_buf *b, const struct fk_top_row *r, int64_t total)
{
    put_cell(b, r->name->name);
    fk_buf_byte(b, ',');
    put_cell(b, r->name->file);
    fk_buf_byte(b, ',');
    put_cell(b, fk_name_package(r->name));
    fk_buf_byte(b, ',');
    fk_buf_i64(b, r->self[0]);
    fk_buf_byte(b, ',');
    fk_buf_i64(b, r->total[0]);
    if (total)
        fk_buf_printf(b, ",%.9g,%.9g\n", (double)r->self[0] / (double)total,
                      (double)r->total[0] / (double)total);
    else
        fk_buf_cstr(b, ",,\n");
}

int fk_render_top_csv(const struct fk_top *t, int64_t total, struct fk_out out, struct fk_err *err)
{
    FK_AUTO_BUF b;
    fk_buf_init(&b, 0);
    fk_buf_cstr(&b, "function,file,package,self,total,self_share,total_share\n");
    for (size_t i = 0; i < t->n; i++) {
        put_csv_row(&b, &t->row[i], total);
        if (b.n < 1 << 15 || b.failed)
            continue;
        int rc = fk_out_put(out, b.p, b.n, err);
        if (rc)
            return rc;
        fk_buf_clear(&b);
    }
    int rc = fk_buf_check(&b, "CSV", err);
    return rc ? rc : fk_out_put(out, b.p, b.n, err);
}
