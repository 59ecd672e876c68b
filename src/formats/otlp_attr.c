// SPDX-License-Identifier: Apache-2.0
// Attributes of OTLP: values as text or number, and which attribute of a resource becomes a label.
#include "formats/otlp_int.h"

#define OTLP_VALUE_NESTING 24

// ---- values ----

static int put_json(const struct otlp_request *q, const struct otlp_tables *t, struct fk_cur any,
                    unsigned nesting, struct fk_json *w);

static struct fk_str string_at(const struct otlp_tables *t, uint64_t id)
{
    return t && id < t->n_strings ? t->string[id] : (struct fk_str){"", 0};
}

// Key and value of a KeyValue; value.p NULL: none.
static int read_pair(const struct otlp_request *q, const struct otlp_tables *t, struct fk_cur c,
                     struct fk_str *key, struct fk_cur *value)
{
    struct otlp_fault fault;
    struct otlp_field f;
    struct otlp_reader r = otlp_read(&q->map, OTLP_KEY_VALUE, c);
    struct fk_str by_index = {"", 0};
    int rc;
    *key = by_index;
    *value = (struct fk_cur){NULL, NULL};
    while ((rc = otlp_next(&r, &f, &fault)) == 1) {
        if (f.id == OTLP_KV_KEY)
            *key = otlp_str(&f);
        else if (f.id == OTLP_KV_KEY_INDEX)
            by_index = string_at(t, f.v);
        else if (f.id == OTLP_KV_VALUE)
            *value = f.b;
    }
    if (key->n == 0)
        *key = by_index;
    return rc;
}

static int put_json_list(const struct otlp_request *q, const struct otlp_tables *t,
                         const struct otlp_field *list, unsigned nesting, struct fk_json *w)
{
    bool pairs = list->id == OTLP_ANY_KV_LIST;
    struct otlp_fault fault;
    struct otlp_field f;
    struct otlp_reader r = otlp_read(&q->map, pairs ? OTLP_KV_LIST : OTLP_ARRAY, list->b);
    int rc;
    pairs ? fk_json_object(w) : fk_json_array(w);
    while ((rc = otlp_next(&r, &f, &fault)) == 1) {
        struct fk_cur value = f.b;
        struct fk_str key = {"", 0};
        if (f.id != OTLP_VALUES)
            continue;
        if (pairs && (rc = read_pair(q, t, f.b, &key, &value)) < 0)
            return rc;
        if (pairs)
            fk_json_key(w, key);
        if ((rc = put_json(q, t, value, nesting + 1, w)) < 0)
            return rc;
    }
    pairs ? fk_json_object_end(w) : fk_json_array_end(w);
    return rc;
}

static void put_hex(struct fk_json *w, struct fk_str bytes)
{
    FK_AUTO_BUF b;
    fk_buf_init(&b, 0);
    for (size_t i = 0; i < bytes.n; i++)
        fk_buf_printf(&b, "%02x", (unsigned)(uint8_t)bytes.p[i]);
    fk_json_str(w, fk_buf_view(&b));
    if (b.failed && !w->err.code)
        fk_fail_nomem(&w->err);
}

static double double_of(uint64_t bits)
{
    double v;
    memcpy(&v, &bits, sizeof(v));
    return v;
}

static int put_json_field(const struct otlp_request *q, const struct otlp_tables *t,
                          const struct otlp_field *f, unsigned nesting, struct fk_json *w)
{
    switch (f->id) {
    case OTLP_ANY_STRING:
        fk_json_str(w, otlp_str(f));
        return 0;
    case OTLP_ANY_STRING_INDEX:
        fk_json_str(w, string_at(t, f->v));
        return 0;
    case OTLP_ANY_BOOL:
        fk_json_bool(w, f->v != 0);
        return 0;
    case OTLP_ANY_INT:
        fk_json_i64(w, (int64_t)f->v);
        return 0;
    case OTLP_ANY_DOUBLE:
        fk_json_f64(w, double_of(f->v));
        return 0;
    case OTLP_ANY_BYTES:
        put_hex(w, otlp_str(f));
        return 0;
    default:
        return put_json_list(q, t, f, nesting, w);
    }
}

// The value in an AnyValue: 1, 0 none.
static int any_field(const struct otlp_request *q, struct fk_cur any, struct otlp_field *ret)
{
    struct otlp_fault fault;
    struct otlp_field f;
    struct otlp_reader r = otlp_read(&q->map, OTLP_ANY, any);
    int rc, found = 0;
    while ((rc = otlp_next(&r, &f, &fault)) == 1) {
        *ret = f;
        found = 1;
    }
    return rc < 0 ? rc : found;
}

static int put_json(const struct otlp_request *q, const struct otlp_tables *t, struct fk_cur any,
                    unsigned nesting, struct fk_json *w)
{
    struct otlp_field f;
    int rc = nesting > OTLP_VALUE_NESTING ? 0 : any_field(q, any, &f);
    if (rc == 1)
        return put_json_field(q, t, &f, nesting, w);
    fk_json_null(w);
    return rc;
}

// What has structure is written as JSON; scalars are without quotes.
static int value_as_text(const struct otlp_request *q, const struct otlp_tables *t,
                         const struct otlp_field *f, struct fk_str *ret)
{
    FK_AUTO_BUF b;
    struct fk_json w;
    fk_buf_init(&b, 0);
    fk_json_init(&w, fk_out_buf(&b), false);
    int rc = put_json_field(q, t, f, 0, &w);
    if (fk_json_finish(&w, NULL) && rc == 0)
        rc = -FK_E_NOMEM;
    struct fk_str text = fk_buf_view(&b);
    if (text.n >= 2 && text.p[0] == '"')
        text = fk_str_make(text.p + 1, text.n - 2);
    if (rc == 0 && !(*ret = fk_arena_str(q->d->arena, text)).p)
        rc = -FK_E_NOMEM;
    return rc;
}

// An array of one is its element: some senders wrap all they have so.
static int single_element(const struct otlp_request *q, const struct otlp_field *list,
                          struct otlp_field *ret)
{
    struct otlp_fault fault;
    struct otlp_field f, first = {0};
    struct otlp_reader r = otlp_read(&q->map, OTLP_ARRAY, list->b);
    int rc, n = 0;
    while (n < 2 && (rc = otlp_next(&r, &f, &fault)) == 1)
        if (f.id == OTLP_VALUES && n++ == 0)
            first = f;
    return n == 1 ? any_field(q, first.b, ret) : 0;
}

int otlp_value_read(const struct otlp_request *q, const struct otlp_tables *t, struct fk_cur any,
                    struct otlp_value *ret)
{
    struct otlp_field f, inner;
    int rc = any.p ? any_field(q, any, &f) : 0;
    *ret = (struct otlp_value){.text = {"", 0}};
    if (rc == 1 && f.id == OTLP_ANY_ARRAY) {
        rc = single_element(q, &f, &inner);
        if (rc < 0)
            return rc;
        f = rc == 1 ? inner : f;
        rc = 1;
    }
    if (rc != 1)
        return rc;
    if (f.id == OTLP_ANY_STRING || f.id == OTLP_ANY_STRING_INDEX) {
        ret->text = f.id == OTLP_ANY_STRING ? otlp_str(&f) : string_at(t, f.v);
        return 0;
    }
    if (f.id == OTLP_ANY_INT) {
        ret->is_number = true;
        ret->number = (int64_t)f.v;
    }
    return value_as_text(q, t, &f, &ret->text);
}

int otlp_value_each(const struct otlp_request *q, const struct otlp_tables *t, struct fk_cur any,
                    int (*one)(void *arg, struct fk_str text), void *arg)
{
    struct otlp_fault fault;
    struct otlp_field f;
    struct otlp_value value;
    int rc = any.p ? any_field(q, any, &f) : 0;
    if (rc != 1)
        return rc;
    if (f.id != OTLP_ANY_ARRAY) {
        rc = otlp_value_read(q, t, any, &value);
        return rc ? rc : one(arg, value.text);
    }
    struct otlp_reader r = otlp_read(&q->map, OTLP_ARRAY, f.b);
    while ((rc = otlp_next(&r, &f, &fault)) == 1)
        if (f.id == OTLP_VALUES &&
            ((rc = otlp_value_read(q, t, f.b, &value)) || (rc = one(arg, value.text))))
            return rc;
    return rc;
}

// ---- of resources and scopes ----

// What names one process or thread would make a series of each: those stay with the samples.
static bool names_a_process(struct fk_str key)
{
    return fk_str_eq(key, FK_S("process.pid")) || fk_str_eq(key, FK_S("process.parent_pid")) ||
           fk_str_starts(key, FK_S("process.command")) || fk_str_eq(key, FK_S("container.id")) ||
           fk_str_starts(key, FK_S("thread."));
}

static bool has_label(const struct otlp_origin *o, struct fk_str key)
{
    for (size_t i = 0; i < o->n_labels; i++)
        if (fk_str_eq(o->label[i].name, key))
            return true;
    return false;
}

static bool has_attr(const struct otlp_origin *o, struct fk_str key)
{
    for (size_t i = 0; i < o->n_attrs; i++)
        if (fk_str_eq(o->attr[i].key, key))
            return true;
    return false;
}

static int add_attr(const struct otlp_request *q, struct otlp_origin *o, struct fk_str key,
                    const struct otlp_value *value)
{
    if (o->n_attrs >= q->d->opts->limits->labels) {
        fk_report_drop(q->d->report, "attribute of a resource beyond the limit of labels", 1,
                       "%.*s; the limit is set by %s", FK_STR_ARG(fk_str_head(key, 60)),
                       FK_LIMIT_FLAG(labels));
        return 0;
    }
    struct otlp_pair *v =
        fk_arena_grow(q->d->arena, o->attr, o->n_attrs, &o->attrs_cap, o->n_attrs + 1, sizeof(*v));
    if (!v)
        return -FK_E_NOMEM;
    o->attr = v;
    v[o->n_attrs++] = (struct otlp_pair){key, *value};
    return 0;
}

static int add_label(const struct otlp_request *q, struct otlp_origin *o, struct fk_str key,
                     struct fk_str text)
{
    if (o->n_labels > q->d->opts->limits->labels) // one too many is enough to be refused by name
        return 0;
    struct fk_label *v = fk_arena_grow(q->d->arena, o->label, o->n_labels, &o->labels_cap,
                                       o->n_labels + 1, sizeof(*v));
    if (!v)
        return -FK_E_NOMEM;
    o->label = v;
    v[o->n_labels++] = (struct fk_label){key, text};
    return 0;
}

static int add_pair(const struct otlp_request *q, struct otlp_origin *o, struct fk_str key,
                    const struct otlp_value *value)
{
    if (key.n == 0 || value->text.n == 0 || fk_str_starts(key, FK_S("__")))
        return 0;
    if (names_a_process(key))
        return has_attr(o, key) ? 0 : add_attr(q, o, key, value);
    if (fk_str_eq(key, FK_S("service_name"))) { // the label that is made of service.name
        o->service = o->service.n ? o->service : value->text;
        return 0;
    }
    if (has_label(o, key))
        return 0;
    if (fk_str_eq(key, FK_S("service.name")))
        o->service = value->text;
    if (fk_str_eq(key, FK_S("process.executable.name")))
        o->executable = value->text;
    return add_label(q, o, key, value->text);
}

int otlp_origin_add(const struct otlp_request *q, const struct otlp_tables *t, struct fk_cur pairs,
                    enum otlp_message message, unsigned id, struct otlp_origin *o)
{
    struct otlp_fault fault;
    struct otlp_field f;
    struct otlp_reader r = otlp_read(&q->map, message, pairs);
    int rc;
    while ((rc = otlp_next(&r, &f, &fault)) == 1) {
        struct fk_str key;
        struct fk_cur any;
        struct otlp_value value;
        if (f.id != id)
            continue;
        if ((rc = read_pair(q, t, f.b, &key, &any)) < 0 ||
            (rc = otlp_value_read(q, t, any, &value)) < 0 || (rc = add_pair(q, o, key, &value)) < 0)
            return rc;
    }
    return rc;
}
