// SPDX-License-Identifier: Apache-2.0
// Making a query: everything of the source that can be wrong is found here, before anything is
// read.
#include "query/query_int.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

static int by_id(const void *pa, const void *pb)
{
    return fk_id_cmp(*(const struct fk_id *)pa, *(const struct fk_id *)pb);
}

static int copy_ids(struct fk_query *q, struct fk_err *err)
{
    if (q->spec.n_ids == 0)
        return 0;
    q->ids = fk_arena_array(&q->arena, q->spec.n_ids, sizeof(*q->ids));
    if (!q->ids)
        return fk_fail_nomem(err);
    memcpy(q->ids, q->spec.id, q->spec.n_ids * sizeof(*q->ids));
    qsort(q->ids, q->spec.n_ids, sizeof(*q->ids), by_id);
    return 0;
}

static int parse_filters(struct fk_query *q, const struct fk_str *text, size_t n, const char *param,
                         struct fk_name_filter **ret, struct fk_err *err)
{
    struct fk_name_filter *v = fk_arena_zalloc(&q->arena, FK_MAX(n, (size_t)1) * sizeof(*v));
    if (!v)
        return fk_fail_nomem(err);
    *ret = v;
    for (size_t i = 0; i < n; i++) {
        int r = fk_name_filter_parse(text[i], &v[i], err);
        if (r) {
            if (err)
                snprintf(err->param, sizeof(err->param), "%s", param);
            return r;
        }
    }
    return 0;
}

static int parse_source(struct fk_query *q, struct fk_err *err)
{
    const struct fk_source_spec *s = &q->spec;
    int r = fk_selector_parse(s->selector, &q->arena, &q->selector, err);
    if (r)
        return r;
    if (s->type.n && (r = fk_type_id_parse(s->type, &q->type, err))) {
        if (err)
            snprintf(err->param, sizeof(err->param), "type");
        return r;
    }
    q->has_type = s->type.n != 0;
    if (!s->n_ids && s->from_ns >= s->until_ns)
        return fk_fail_param(err, "from", "the range is empty: from must lie before until");
    if ((r = copy_ids(q, err)) ||
        (r = parse_filters(q, s->focus, s->n_focus, "focus", &q->focus, err)) ||
        (r = parse_filters(q, s->hide, s->n_hide, "hide", &q->hide, err)))
        return r;
    return parse_filters(q, s->collapse, s->n_collapse, "collapse", &q->collapse, err);
}

int fk_query_new(const struct fk_query_opts *o, const struct fk_source_spec *s,
                 struct fk_query **ret, struct fk_err *err)
{
    struct fk_query *q = fk_calloc(1, sizeof(*q));
    if (!q)
        return fk_fail_nomem(err);
    q->opts = *o;
    q->spec = *s;
    if (q->opts.memory == 0)
        q->opts.memory = fk_limits_default().query_memory;
    fk_arena_init(&q->arena, (size_t)q->opts.memory);
    int r = parse_source(q, err);
    if (r == 0)
        r = fk_store_snapshot(o->store, o->tenants, o->n_tenants, &q->snapshot, err);
    if (r) {
        fk_query_free(q);
        return r;
    }
    q->max_id = fk_id_is_zero(s->max_id) ? fk_snapshot_max_id(q->snapshot) : s->max_id;
    *ret = q;
    return 0;
}

static void free_filters(struct fk_name_filter *v, size_t n)
{
    for (size_t i = 0; v && i < n; i++)
        fk_name_filter_free(&v[i]);
}

void fk_query_free(struct fk_query *q)
{
    if (!q)
        return;
    fk_selector_free(q->selector);
    free_filters(q->focus, q->spec.n_focus);
    free_filters(q->hide, q->spec.n_hide);
    free_filters(q->collapse, q->spec.n_collapse);
    fk_snapshot_free(q->snapshot);
    fk_arena_free(&q->arena);
    fk_free(q);
}

struct fk_arena *fk_query_arena(struct fk_query *q)
{
    return &q->arena;
}

void fk_query_warn(struct fk_query *q, const char *fmt, ...)
{
    char text[256];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof(text), fmt, ap);
    va_end(ap);
    struct fk_str copy = fk_arena_str(&q->arena, fk_str_of(text));
    for (size_t i = 0; i < q->n_warnings; i++)
        if (fk_str_eq(q->warning[i], copy))
            return;
    if (copy.p && q->n_warnings < FK_COUNTOF(q->warning))
        q->warning[q->n_warnings++] = copy;
}

void fk_query_completeness(const struct fk_query *q, struct fk_completeness *ret)
{
    *ret = (struct fk_completeness){.profiles = q->rows,
                                    .blocks = fk_snapshot_blocks(q->snapshot),
                                    .bytes = q->bytes,
                                    .truncated = q->truncated,
                                    .truncated_share =
                                        q->rows ? (double)q->truncated / (double)q->rows : 0,
                                    .unsymbolized_share = q->unsymbolized_share,
                                    .n_warnings = q->n_warnings};
    memcpy(ret->warning, q->warning, sizeof(ret->warning));
    // What is asked for by name and not there must not go unnoticed.
    uint64_t asked = 0;
    for (size_t i = 0; i < q->spec.n_ids; i++)
        asked += i == 0 || fk_id_cmp(q->ids[i], q->ids[i - 1]) != 0;
    if (q->rows < asked && ret->n_warnings < FK_COUNTOF(ret->warning))
        ret->warning[ret->n_warnings++] = FK_S(
            "some of the profiles named by id are missing here: they are not there (any more), "
            "lack this type or these attributes, or are only looked at (store=false), which "
            "is never merged with what is stored");
}

static uint64_t hash_texts(uint64_t h, const struct fk_str *v, size_t n)
{
    for (size_t i = 0; i < n; i++)
        h = fk_hash_u64(h * 31 + fk_hash_str(v[i]));
    return fk_hash_u64(h * 31 + n);
}

uint64_t fk_query_hash(const struct fk_query *q)
{
    struct fk_buf text;
    fk_buf_init(&text, 0);
    fk_selector_put(&text, q->selector);
    uint64_t h = fk_hash_str(fk_buf_view(&text));
    fk_buf_free(&text);
    h = fk_hash_u64(h * 31 + fk_hash_str(q->spec.type));
    for (size_t i = 0; i < q->spec.n_ids; i++)
        h = fk_hash_u64(h * 31 + (q->ids[i].hi ^ q->ids[i].lo));
    for (size_t i = 0; i < q->spec.n_attrs; i++)
        h = hash_texts(h, &q->spec.attr[i].name, 2); // name and value lie side by side
    return h;
}

int fk_query_none(const struct fk_query *q, struct fk_err *err)
{
    char text[FK_ID_CHARS + 1];
    if (q->spec.n_ids == 0)
        return fk_fail(err, FK_E_NOTFOUND,
                       "no profile matches: check the selector and the time range");
    fk_id_format(q->ids[0], text);
    return fk_fail(err, FK_E_NOTFOUND,
                   "no profile %s%s: it was never stored here, or retention has removed it", text,
                   q->spec.n_ids > 1 ? " nor one of the other ids" : "");
}
