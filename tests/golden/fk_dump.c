// SPDX-License-Identifier: Apache-2.0
// Decodes one file and prints everything that was delivered, for formats_test.py:
//   fk_dump FILE [FORMAT [JFR-LABELS]]
// one JSON object: format, error or profiles; a profile has labels, types with totals, and rows
// (one for each observation) as {frames, leaf first, innermost inlined call first; values;
// attributes; time}.
#include "formats/formats.h"

#include <stdio.h>
#include <stdlib.h>

static int write_out(void *arg, const void *p, size_t n, struct fk_err *err)
{
    return fwrite(p, 1, n, arg) == n ? 0 : fk_fail(err, FK_E_IO, "write");
}

static void put_pair(struct fk_json *w, struct fk_str key, struct fk_str value)
{
    fk_json_key(w, key);
    fk_json_str(w, value);
}

static uint64_t address_of(const struct fk_profile *p, const struct fk_location *l)
{
    uint64_t address = l->address;
    for (uint32_t i = 0; i < p->n_placements; i++)
        if (p->placement[i].mapping == l->mapping)
            address += p->placement[i].start - p->sym.mapping[l->mapping].offset;
    return address;
}

static void put_frame(struct fk_json *w, const struct fk_profile *p, const struct fk_location *l)
{
    const struct fk_symbols *s = &p->sym;
    char text[32];
    for (uint32_t i = 0; i < l->line_count; i++) {
        const struct fk_line *line = &s->line[l->line_begin + i];
        bool named = line->function != FK_NONE;
        fk_json_str(w, named ? s->string[s->function[line->function].name] : FK_S(""));
    }
    if (l->line_count)
        return;
    snprintf(text, sizeof(text), "0x%llx", (unsigned long long)address_of(p, l));
    fk_json_str(w, fk_str_of(text));
}

static void put_address(struct fk_json *w, const struct fk_profile *p, const struct fk_location *l)
{
    fk_json_u64(w, address_of(p, l));
}

static void put_stacks(struct fk_json *w, const struct fk_profile *p, const char *name,
                       void (*put)(struct fk_json *, const struct fk_profile *,
                                   const struct fk_location *))
{
    fk_json_key(w, fk_str_of(name));
    fk_json_array(w);
    for (uint32_t s = 0; s < p->sym.n_stacks; s++) {
        fk_json_array(w);
        for (uint32_t i = p->sym.stack_begin[s]; i < p->sym.stack_begin[s + 1]; i++)
            put(w, p, &p->sym.location[p->sym.frame[i]]);
        fk_json_array_end(w);
    }
    fk_json_array_end(w);
}

static void put_attrs(struct fk_json *w, const struct fk_symbols *s, uint32_t set)
{
    fk_json_object(w);
    for (uint32_t i = s->set_begin[set]; i < s->set_begin[set + 1]; i++) {
        fk_json_key(w, s->string[s->attr[i].key]);
        if (s->attr[i].str)
            fk_json_str(w, s->string[s->attr[i].str]);
        else
            fk_json_i64(w, s->attr[i].num);
    }
    fk_json_object_end(w);
}

static void put_observation(struct fk_json *w, const struct fk_profile *p, uint64_t r, uint64_t o)
{
    fk_json_array(w);
    fk_json_u64(w, p->stack[r]);
    fk_json_array(w);
    for (uint32_t k = 0; k < p->n_types; k++)
        fk_json_i64(w, p->value[k][o]);
    fk_json_array_end(w);
    put_attrs(w, &p->sym, p->set ? p->set[r] : 0);
    if (p->time_ns && p->time_ns[o] != FK_NO_TIME)
        fk_json_i64(w, p->time_ns[o]);
    else
        fk_json_null(w);
    fk_json_array_end(w);
}

static void put_row(struct fk_json *w, const struct fk_profile *p, uint64_t r)
{
    uint64_t end = p->obs_begin ? p->obs_begin[r + 1] : r + 1;
    for (uint64_t o = p->obs_begin ? p->obs_begin[r] : r; o < end; o++)
        put_observation(w, p, r, o);
}

static void put_types(struct fk_json *w, const struct fk_entry *e)
{
    fk_json_k(w, "types");
    fk_json_array(w);
    for (uint32_t k = 0; k < e->n_types; k++) {
        fk_json_object(w);
        put_pair(w, FK_S("type"), e->type[k].type);
        put_pair(w, FK_S("unit"), e->type[k].unit);
        fk_json_k(w, "total");
        fk_json_i64(w, e->type[k].total);
        fk_json_object_end(w);
    }
    fk_json_array_end(w);
}

static int on_profile(void *arg, struct fk_entry *e, struct fk_profile *p, struct fk_err *err)
{
    struct fk_json *w = arg;
    int rc = fk_profile_validate(p, err);
    if (rc)
        return rc;
    fk_json_object(w);
    fk_json_k(w, "labels");
    fk_json_object(w);
    for (size_t i = 0; i < e->labels.n; i++)
        put_pair(w, e->labels.v[i].name, e->labels.v[i].value);
    fk_json_object_end(w);
    put_types(w, e);
    fk_json_k(w, "time_ns");
    fk_json_i64(w, p->time_ns_start);
    fk_json_k(w, "duration_ns");
    fk_json_i64(w, p->duration_ns);
    fk_json_k(w, "period");
    fk_json_i64(w, p->period);
    put_stacks(w, p, "stacks", put_frame);
    put_stacks(w, p, "addresses", put_address);
    fk_json_k(w, "rows");
    fk_json_array(w);
    for (uint64_t r = 0; r < p->n_rows; r++)
        put_row(w, p, r);
    fk_json_array_end(w);
    fk_json_object_end(w);
    return 0;
}

static void put_report(struct fk_json *w, const struct fk_report *r)
{
    fk_json_k(w, "report");
    fk_json_object(w);
    for (uint32_t i = 0; i < r->n; i++) {
        fk_json_key(w, fk_str_of(r->item[i].reason));
        fk_json_u64(w, r->item[i].count);
    }
    fk_json_object_end(w);
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
    enum fk_format format = FK_FORMAT_UNKNOWN;
    size_t n_labels = 0;
    char *bytes = argc > 1 ? read_file(argv[1], &n) : NULL;
    char *labels = argc > 3 ? read_file(argv[3], &n_labels) : NULL;
    if (!bytes || (argc > 3 && !labels) ||
        (argc > 2 && fk_format_parse(fk_str_of(argv[2]), &format, NULL))) {
        fprintf(stderr, "usage: fk_dump FILE [FORMAT [JFR-LABELS]]\n");
        return 2;
    }
    struct fk_limits limits = fk_limits_default();
    struct fk_decode_opts o = fk_decode_opts_upload(&limits);
    o.jfr_labels = fk_str_make(labels, n_labels);
    struct fk_report report = {0};
    struct fk_err err = {0};
    struct fk_json w;
    FK_AUTO_ARENA arena;
    fk_arena_init(&arena, 0);
    fk_json_init(&w, (struct fk_out){write_out, stdout}, false);
    fk_json_object(&w);
    fk_json_k(&w, "profiles");
    fk_json_array(&w);
    int rc = fk_decode(format, fk_str_make(bytes, n), &o, &arena,
                       (struct fk_each_profile){on_profile, &w}, &report, &err);
    fk_json_array_end(&w);
    fk_json_k(&w, "format");
    fk_json_str(&w, fk_str_of(fk_format_name(report.format)));
    put_report(&w, &report);
    if (rc) {
        fk_json_k(&w, "error");
        fk_json_str(&w, fk_str_of(err.msg));
    }
    fk_json_object_end(&w);
    fk_json_finish(&w, NULL);
    free(bytes);
    free(labels);
    return rc != 0;
}
