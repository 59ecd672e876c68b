// SPDX-License-Identifier: Apache-2.0
// Reading and answering RPCs with message tables, and the query that a request asks for.
#include "api/rpc_int.h"

#include <stdarg.h>
#include <stdio.h>

int fk_rpc_read(struct fk_api_call *c, const struct fk_msg_type *t, void *out, struct fk_err *err)
{
    switch (fk_rpc_codec_of(c->content_type)) {
    case FK_RPC_JSON:
        return fk_msg_decode_json(t, c->request, c->arena, out, err);
    case FK_RPC_PROTO:
        return fk_msg_decode(t, c->request, c->arena, out, err);
    case FK_RPC_OTHER:
        break;
    }
    return fk_fail(
        err, FK_E_UNSUPPORTED,
        "the content type '%.*s' is not taken; send application/proto or application/json",
        FK_STR_ARG(fk_str_head(c->content_type, 60)));
}

bool fk_rpc_is_json(const struct fk_api_call *c)
{
    return fk_rpc_codec_of(c->content_type) == FK_RPC_JSON;
}

int fk_rpc_text(struct fk_api_call *c, int r, struct fk_buf *b, struct fk_str *ret,
                struct fk_err *err)
{
    struct fk_str text = {NULL, 0};
    if (r == 0)
        r = fk_buf_check(b, "answer", err);
    if (r == 0 && !(text = fk_arena_str(c->arena, fk_buf_view(b))).p)
        r = fk_fail_nomem(err);
    if (r == 0)
        *ret = text;
    fk_buf_free(b);
    return r;
}

int fk_rpc_answer(struct fk_api_call *c, const struct fk_msg_type *t, const void *msg,
                  struct fk_err *err)
{
    if (fk_rpc_is_json(c)) {
        struct fk_json w;
        c->type = "application/json";
        fk_json_init(&w, fk_out_buf(&c->body), false);
        fk_msg_encode_json(t, msg, &w);
        return fk_json_finish(&w, err);
    }
    c->type = "application/proto";
    fk_msg_encode(t, msg, &c->body);
    return fk_buf_check(&c->body, "answer", err);
}

int fk_rpc_fail_as(struct fk_api_call *c, enum fk_rpc_code code, struct fk_err *err,
                   const char *fmt, ...)
{
    char text[256];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof(text), fmt, ap);
    va_end(ap);
    c->fail_code = (int)code;
    return fk_fail(err, FK_E_INVALID, "%s", text);
}

// ---- source ----

// A matcher on the type, {__profile_type__="..."} or the id in front of the braces, which is a name
// with four colons.
static bool is_type_matcher(const struct fk_matcher *m)
{
    size_t colons = 0;
    for (size_t i = 0; i < m->value.n; i++)
        colons += m->value.p[i] == ':';
    return m->op == FK_MATCH_EQ && (fk_str_eq(m->name, FK_S("__profile_type__")) ||
                                    (fk_str_eq(m->name, FK_S("__name__")) && colons >= 4));
}

// Such a matcher chooses the type; the others stay.
static int take_type_matcher(struct fk_api_call *c, struct fk_source_spec *s, struct fk_err *err)
{
    struct fk_selector *x;
    struct fk_buf b;
    int r = fk_selector_parse(s->selector, c->arena, &x, err);
    if (r)
        return r;
    size_t kept = 0, all = x->n;
    for (size_t i = 0; i < all; i++)
        if (is_type_matcher(&x->v[i]))
            s->type = s->type.n ? s->type : x->v[i].value;
        else
            kept++;
    if (kept < all) {
        struct fk_selector rest = {fk_arena_array(c->arena, kept + 1, sizeof(*rest.v)), 0};
        for (size_t i = 0; rest.v && i < all; i++)
            if (!is_type_matcher(&x->v[i]))
                rest.v[rest.n++] = x->v[i];
        fk_buf_init(&b, 0);
        if (rest.v)
            fk_selector_put(&b, &rest);
        r = fk_rpc_text(c, rest.v ? 0 : fk_fail_nomem(err), &b, &s->selector, err);
    }
    fk_selector_free(x);
    return r;
}

static int read_ids(struct fk_api_call *c, const struct fk_list *ids, struct fk_source_spec *s,
                    struct fk_err *err)
{
    struct fk_id *id = fk_arena_array(c->arena, (ids ? ids->n : 0) + 1, sizeof(*id));
    if (!id)
        return fk_fail_nomem(err);
    for (size_t i = 0; ids && i < ids->n; i++) {
        struct fk_str text = ((const struct fk_str *)ids->v)[i];
        if (fk_id_parse(text, &id[i], NULL))
            return fk_fail_param(err, "profile_id_selector",
                                 "profile_id_selector: '%.*s' is no UUID, like those of exemplars",
                                 FK_STR_ARG(fk_str_head(text, 60)));
    }
    s->id = id;
    s->n_ids = ids ? ids->n : 0;
    return 0;
}

static int check_hex(const struct fk_list *l, size_t digits, const char *field, struct fk_err *err)
{
    const struct fk_str *v = l->v;
    for (size_t i = 0; i < l->n; i++)
        if (v[i].n != digits || !fk_str_is_hex(v[i]))
            return fk_fail_param(err, field, "%s: '%.*s' is no id of %zu hex digits", field,
                                 FK_STR_ARG(fk_str_head(v[i], 60)), digits);
    return 0;
}

int fk_rpc_check_list(const struct fk_list *l, size_t most, const char *field, struct fk_err *err)
{
    return l->n <= most ? 0
                        : fk_fail_param(err, field, "%s: at most %zu, not %zu", field, most, l->n);
}

// Spans or traces: samples that carry one of these ids. Older clients name the span's profile_id.
static int read_choices(struct fk_api_call *c, const struct fk_rpc_source *from,
                        struct fk_source_spec *s, struct fk_err *err)
{
    bool spans = from->spans && from->spans->n, traces = from->traces && from->traces->n;
    const struct fk_list *l = spans ? from->spans : from->traces;
    if (!spans && !traces)
        return 0;
    if (spans && traces)
        return fk_fail_param(err, "span_selector",
                             "span_selector and trace_id_selector cannot be used together");
    const char *field = spans ? "span_selector" : "trace_id_selector";
    int r = fk_rpc_check_list(l, FK_RPC_MAX_CHOSEN, field, err);
    if (r == 0)
        r = check_hex(l, spans ? 16 : 32, field, err);
    struct fk_attr_choice *choice = r ? NULL : fk_arena_alloc(c->arena, sizeof(*choice));
    if (r || !choice)
        return r ? r : fk_fail_nomem(err);
    *choice = (struct fk_attr_choice){spans ? FK_S("span_id") : FK_S("trace_id"),
                                      spans ? FK_S("profile_id") : FK_S("trace_id"), l->v, l->n};
    s->choice = choice;
    s->n_choices = 1;
    return 0;
}

static int read_site(struct fk_api_call *c, const struct rpc_stack_selector *from,
                     struct fk_source_spec *s, struct fk_err *err)
{
    if (!from || from->call_site.n == 0 || from->pgo)
        return 0;
    const struct rpc_site *site = from->call_site.v;
    struct fk_str *name = fk_arena_array(c->arena, from->call_site.n, sizeof(*name));
    if (!name)
        return fk_fail_nomem(err);
    for (size_t i = 0; i < from->call_site.n; i++)
        name[i] = site[i].name;
    s->call_site = name;
    s->n_call_site = from->call_site.n;
    return 0;
}

int fk_rpc_query(struct fk_api_call *c, const struct fk_rpc_source *from, int slot,
                 struct fk_query **ret, struct fk_err *err)
{
    struct fk_source_spec s = {.selector = from->selector, .type = from->type};
    int r;
    if (from->start_ms > from->end_ms)
        return fk_fail_param(err, "start", "start lies behind end");
    if (__builtin_mul_overflow(from->start_ms, FK_NS_PER_MS, &s.from_ns))
        s.from_ns = from->start_ms < 0 ? INT64_MIN : INT64_MAX - 1;
    // Both ends are in, the last one with the whole millisecond.
    if (__builtin_mul_overflow(from->end_ms, FK_NS_PER_MS, &s.until_ns) ||
        __builtin_add_overflow(s.until_ns, FK_NS_PER_MS, &s.until_ns))
        s.until_ns = from->end_ms < 0 ? INT64_MIN + 1 : INT64_MAX;
    if ((r = take_type_matcher(c, &s, err)) || (r = read_ids(c, from->ids, &s, err)) ||
        (r = read_choices(c, from, &s, err)) || (r = read_site(c, from->stacks, &s, err)))
        return r;
    struct fk_query_opts o = fk_call_query_opts(c, NULL, 0);
    r = fk_query_new(&o, &s, &c->query_run[slot], err);
    if (r == 0)
        *ret = c->query_run[slot];
    return r;
}
