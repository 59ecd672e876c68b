// SPDX-License-Identifier: Apache-2.0
// Every profile of a source as a file of one zip. One file at a time is in memory; the zip goes out
// as it grows.
#include "api/export_int.h"

struct each {
    struct fk_export *x;
    struct fk_archive zip;
    struct fk_buf left_out; // text: what is not in it and why
    uint64_t n;
};

// service-type-time-id.ending: times may be equal, ids are not.
static struct fk_str member_name(const struct fk_export *x, const struct fk_id *id)
{
    char text[FK_ID_CHARS + 1];
    struct fk_str end = fk_str_of(x->form->ending), name = x->file_name;
    fk_id_format(*id, text);
    if (name.n <= end.n || !fk_str_ends(name, end))
        return fk_arena_printf(fk_query_arena(x->q), "%s.%s", text, x->form->ending);
    return fk_arena_printf(fk_query_arena(x->q), "%.*s-%s.%s",
                           FK_STR_ARG(fk_str_head(name, name.n - end.n - 1)), text,
                           x->form->ending);
}

// What only says that this profile cannot be a file of this kind.
static bool is_of_the_profile(int rc)
{
    return rc == -FK_E_NOTFOUND || rc == -FK_E_UNSUPPORTED || rc == -FK_E_INVALID ||
           rc == -FK_E_FORMAT;
}

static int add_entry(struct each *e, struct fk_query *q, const struct fk_id *id, struct fk_err *err)
{
    struct fk_export x = {
        .c = e->x->c, .form = e->x->form, .max_nodes = e->x->max_nodes, .each = true};
    struct fk_err why = {0};
    char text[FK_ID_CHARS + 1];
    FK_AUTO_BUF body;
    fk_buf_init(&body, (size_t)x.c->api->opts.limits.query_memory);
    int r = fk_export_look(&x, q, &why);
    if (r == 0)
        r = fk_export_write(&x, fk_out_buf(&body), &why);
    if (r == 0) {
        struct fk_str name = member_name(&x, id);
        e->n++;
        return name.p ? fk_archive_add(&e->zip, name, fk_buf_view(&body), x.first.time_ns, err)
                      : fk_fail_nomem(err);
    }
    if (!is_of_the_profile(r)) {
        if (err)
            *err = why;
        return r;
    }
    fk_id_format(*id, text);
    fk_buf_printf(&e->left_out, "%s: %s\n", text, why.msg);
    return 0;
}

static int add_page(struct each *e, const struct fk_page_of_entries *page, struct fk_err *err)
{
    struct fk_api_call *c = e->x->c;
    int r = 0;
    for (size_t i = 0; r == 0 && i < page->n; i++) {
        struct fk_query *q;
        if (c->cancel && (r = fk_cancel_check(c->cancel, err)))
            return r;
        r = fk_call_source_of(c, &page->entry[i].id, 1, &q, err);
        if (r == 0)
            r = add_entry(e, q, &page->entry[i].id, err);
        fk_query_free(c->query_run[1]);
        c->query_run[1] = NULL;
    }
    return r;
}

static int add_all(struct each *e, struct fk_err *err)
{
    struct fk_list_spec spec = {.key = FK_LIST_TIME, .ascending = true, .limit = 1000};
    struct fk_page_of_entries page;
    int r;
    do {
        if ((r = fk_query_list(e->x->q, &spec, &page, err)) || (r = add_page(e, &page, err)))
            return r;
        spec.cursor = page.next;
    } while (page.next.n);
    if (e->n == 0 && !e->left_out.n)
        return fk_fail(err, FK_E_NOTFOUND, "no profile of the source");
    if (e->n == 0) // an error rather than a zip of excuses
        return fk_fail(err, FK_E_NOTFOUND, "no profile of the source can be exported so; %.*s",
                       (int)fk_str_chr(fk_buf_view(&e->left_out), '\n'), e->left_out.p);
    if (e->left_out.n)
        r = fk_archive_add(&e->zip, FK_S("not-exported.txt"), fk_buf_view(&e->left_out),
                           e->x->c->now_ns, err);
    return r ? r : fk_archive_finish(&e->zip, err);
}

int fk_export_each(struct fk_export *x, struct fk_err *err)
{
    struct each e = {.x = x};
    char time[FK_TIME_CHARS + 1];
    fk_time_format(x->c->now_ns, time);
    x->c->type = "application/zip";
    x->c->file_name = fk_arena_printf(x->c->arena, "flamekeep-%s-%.10s.zip", x->form->word, time);
    fk_buf_init(&e.left_out, 1 << 20);
    fk_archive_init(&e.zip, fk_call_out(x->c));
    int r = add_all(&e, err);
    fk_archive_free(&e.zip);
    fk_buf_free(&e.left_out);
    return r;
}
