// SPDX-License-Identifier: Apache-2.0
// Decodes one profile and says what is in it, for corpus_test.py:
//   fk_roundtrip FILE [PPROF-OUT [FOLDED-OUT [OTLP-OUT]]]     "" writes none
// prints one JSON object: format, rows, types with totals and full tables of functions, report.
#include "formats/formats.h"

#include <stdio.h>
#include <stdlib.h>

struct job {
    const char *pprof, *folded, *otlp;
    struct fk_json w;
    struct fk_arena arena;
};

static int write_file(void *arg, const void *p, size_t n, struct fk_err *err)
{
    return fwrite(p, 1, n, arg) == n ? 0 : fk_fail(err, FK_E_IO, "write");
}

static int save(const char *path, enum fk_format format, const struct fk_profile *p,
                struct fk_err *err)
{
    FILE *f = path && path[0] ? fopen(path, "wb") : NULL;
    if (!f)
        return 0;
    struct fk_encode_opts o = {.gzip_level = 0};
    int rc = fk_encode(format, p, &o, (struct fk_out){write_file, f}, err);
    fclose(f);
    return rc;
}

static int put_table(struct job *j, const struct fk_profile *p, uint32_t type, struct fk_err *err)
{
    int64_t *self = fk_calloc(p->sym.n_stacks, sizeof(*self));
    struct fk_tree *t = fk_tree_new(1, 0);
    struct fk_top top;
    for (uint64_t r = 0; r < p->n_rows; r++)
        self[p->stack[r]] = fk_wrap_add(self[p->stack[r]], p->value[type][r]);
    int rc = fk_tree_fold(t, 0, &p->sym, self, false, NULL, err);
    if (!rc)
        rc = fk_tree_top(t, FK_TOP_NAME, false, 0, &j->arena, &top, err);
    fk_json_array(&j->w);
    for (size_t i = 0; !rc && i < top.n; i++) {
        fk_json_array(&j->w);
        fk_json_str(&j->w, top.row[i].name->name);
        fk_json_i64(&j->w, top.row[i].self[0]);
        fk_json_i64(&j->w, top.row[i].total[0]);
        fk_json_bool(&j->w, top.row[i].name->symbolized);
        fk_json_array_end(&j->w);
    }
    fk_json_array_end(&j->w);
    fk_tree_free(t);
    fk_free(self);
    return rc;
}

static int on_profile(void *arg, struct fk_entry *e, struct fk_profile *p, struct fk_err *err)
{
    struct job *j = arg;
    int rc = fk_profile_validate(p, err);
    fk_json_k(&j->w, "rows");
    fk_json_u64(&j->w, e->samples);
    fk_json_k(&j->w, "types");
    fk_json_array(&j->w);
    for (uint32_t k = 0; !rc && k < e->n_types; k++) {
        fk_json_object(&j->w);
        fk_json_k(&j->w, "type");
        fk_json_str(&j->w, e->type[k].type);
        fk_json_k(&j->w, "unit");
        fk_json_str(&j->w, e->type[k].unit);
        fk_json_k(&j->w, "total");
        fk_json_i64(&j->w, e->type[k].total);
        fk_json_k(&j->w, "table");
        rc = put_table(j, p, k, err);
        fk_json_object_end(&j->w);
    }
    fk_json_array_end(&j->w);
    if (!rc)
        rc = save(j->pprof, FK_FORMAT_PPROF, p, err);
    if (!rc)
        rc = save(j->folded, FK_FORMAT_FOLDED, p, err);
    return rc ? rc : save(j->otlp, FK_FORMAT_OTLP, p, err);
}

static void put_report(struct job *j, const struct fk_report *r)
{
    fk_json_k(&j->w, "report");
    fk_json_array(&j->w);
    for (uint32_t i = 0; i < r->n; i++) {
        fk_json_object(&j->w);
        fk_json_k(&j->w, "reason");
        fk_json_str(&j->w, fk_str_of(r->item[i].reason));
        fk_json_k(&j->w, "dropped");
        fk_json_bool(&j->w, r->item[i].dropped);
        fk_json_k(&j->w, "count");
        fk_json_u64(&j->w, r->item[i].count);
        fk_json_k(&j->w, "detail");
        fk_json_str(&j->w, fk_str_of(r->item[i].detail));
        fk_json_object_end(&j->w);
    }
    fk_json_array_end(&j->w);
}

static char *read_file(const char *path, size_t *ret_n)
{
    FILE *f = fopen(path, "rb");
    size_t n = 0, cap = 1 << 16;
    char *p = malloc(cap);
    while (f && p) {
        n += fread(p + n, 1, cap - n, f);
        if (n < cap)
            break;
        p = realloc(p, cap *= 2);
    }
    if (f)
        fclose(f);
    *ret_n = n;
    return f ? p : NULL;
}

int main(int argc, char **argv)
{
    size_t n = 0;
    char *bytes = argc > 1 ? read_file(argv[1], &n) : NULL;
    if (!bytes) {
        fprintf(stderr, "usage: fk_roundtrip FILE [PPROF-OUT [FOLDED-OUT [OTLP-OUT]]]\n");
        return 2;
    }
    struct job j = {.pprof = argc > 2 ? argv[2] : NULL,
                    .folded = argc > 3 ? argv[3] : NULL,
                    .otlp = argc > 4 ? argv[4] : NULL};
    struct fk_limits limits = fk_limits_default();
    struct fk_decode_opts o = fk_decode_opts_upload(&limits);
    struct fk_report report = {0};
    struct fk_err err = {0};
    fk_arena_init(&j.arena, 0);
    fk_json_init(&j.w, (struct fk_out){write_file, stdout}, false);
    fk_json_object(&j.w);
    int rc = fk_decode(FK_FORMAT_UNKNOWN, fk_str_make(bytes, n), &o, &j.arena,
                       (struct fk_each_profile){on_profile, &j}, &report, &err);
    fk_json_k(&j.w, "format");
    fk_json_str(&j.w, fk_str_of(fk_format_name(report.format)));
    put_report(&j, &report);
    if (rc) {
        fk_json_k(&j.w, "error");
        fk_json_str(&j.w, fk_str_of(err.msg));
    }
    fk_json_object_end(&j.w);
    fk_json_finish(&j.w, NULL);
    fk_arena_free(&j.arena);
    free(bytes);
    return rc != 0;
}
