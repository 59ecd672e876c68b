// SPDX-License-Identifier: Apache-2.0
// The entries of one OTLP profile: one for each service among its samples. A sample is a row, its
// timestamps are the row's observations.
#include "formats/otlp_int.h"

// One for a request: what is only room is used again.
struct otlp_making {
    struct otlp_building *x;
    const struct otlp_profile *p;
    const struct otlp_origin *o;
    struct otlp_symbols *s;
    struct fk_builder *b;
    struct otlp_sample sample;
    uint32_t n_columns;
    bool timed_column;    // the last column is count x period
    struct fk_attr *base; // of the resource and the profile
    size_t n_base;
    struct fk_attr *attr; // scratch
    size_t attrs_cap;
    int64_t *value, *time;
    size_t values_cap, times_cap;
    int64_t first_time;
    struct fk_err *err;
};

static int nomem(struct otlp_making *r)
{
    return fk_decoding_nomem(r->x->q->d, r->err);
}

// ---- columns ----

static bool is_nanoseconds(struct fk_str unit)
{
    return fk_str_eq(unit, FK_S("nanoseconds")) || fk_str_eq(unit, FK_S("ns"));
}

// Counts, and how much time each stands for, but no column of time: it is added, as Go's own
// profiles have both.
static bool wants_time(const struct otlp_profile *p)
{
    return p->n_types == 1 && fk_str_eq(p->type[0].unit, FK_S("count")) && p->period > 0 &&
           p->period_type.type.n && is_nanoseconds(p->period_type.unit);
}

static int put_type(struct otlp_making *r, struct fk_str type, struct fk_str unit)
{
    return fk_builder_type(r->b, type, unit, fk_kind_of(type, r->p->duration != 0, true)) ? nomem(r)
                                                                                          : 0;
}

static int put_types(struct otlp_making *r)
{
    const struct otlp_profile *p = r->p;
    int rc = 0;
    r->n_columns = FK_MAX(p->n_types, 1u);
    for (uint32_t i = 0; !rc && i < r->n_columns; i++)
        rc = put_type(r, p->type[i].type, p->type[i].unit);
    r->timed_column = wants_time(p);
    if (!rc && r->timed_column) {
        rc = put_type(r, p->period_type.type, FK_S("nanoseconds"));
        r->n_columns++;
    }
    return rc;
}

// ---- attributes ----

static bool has_key(const struct fk_attr *v, size_t n, uint32_t key)
{
    for (size_t i = 0; i < n; i++)
        if (v[i].key == key)
            return true;
    return false;
}

// They are repeated for each sample: no more than one could have labels, of each key the first.
static void add_base(struct otlp_making *r, const struct fk_attr *a)
{
    uint64_t most = r->o->n_attrs + r->x->q->d->opts->limits->labels;
    if (!a->key || has_key(r->base, r->n_base, a->key))
        return;
    if (r->n_base >= most)
        r->x->beyond++;
    else
        r->base[r->n_base++] = *a;
}

static int put_base(struct otlp_making *r)
{
    const struct otlp_origin *o = r->o;
    struct fk_attr a;
    r->n_base = 0;
    r->base =
        fk_arena_array(r->x->q->d->arena, o->n_attrs + r->p->n_attributes + 1, sizeof(*r->base));
    if (!r->base)
        return nomem(r);
    for (size_t i = 0; i < o->n_attrs; i++) {
        if (otlp_symbols_pair(r->s, o->attr[i].key, &o->attr[i].value, FK_S(""), &a))
            return nomem(r);
        add_base(r, &a);
    }
    for (uint32_t i = 0; i < r->p->n_attributes; i++) {
        if (otlp_symbols_attr(r->s, r->p->attribute[i], &a))
            return nomem(r);
        add_base(r, &a);
    }
    return 0;
}

// An id as hexadecimal text; all zero is none.
static int add_id(struct otlp_making *r, struct fk_str name, struct fk_str id, size_t *n)
{
    static const char hex[] = "0123456789abcdef";
    char text[32];
    bool any = false;
    struct fk_attr *a = &r->attr[*n];
    for (size_t i = 0; i < id.n && i < 16; i++) {
        uint8_t c = (uint8_t)id.p[i];
        any |= c != 0;
        text[2 * i] = hex[c >> 4];
        text[2 * i + 1] = hex[c & 15];
    }
    if (!any)
        return 0;
    *a = (struct fk_attr){0};
    if (fk_dict_string(r->s->dict, name, &a->key) ||
        fk_dict_string(r->s->dict, fk_str_make(text, 2 * FK_MIN(id.n, (size_t)16)), &a->str))
        return nomem(r);
    ++*n;
    return 0;
}

static int add_link(struct otlp_making *r, size_t *n)
{
    const struct otlp_sample *s = &r->sample;
    const struct otlp_tables *t = r->s->t;
    // From 1.8 on link 0 is none, before it was told by the field's absence.
    if (!s->has_link || s->link >= t->n_links || (s->link == 0 && r->x->q->per_time))
        return 0;
    int rc = add_id(r, FK_S("trace_id"), t->link[s->link].trace, n);
    return rc ? rc : add_id(r, FK_S("span_id"), t->link[s->link].span, n);
}

static struct fk_str text_at(const struct otlp_tables *t, uint64_t id)
{
    return id < t->n_strings ? t->string[id] : (struct fk_str){"", 0};
}

static int add_label(struct otlp_making *r, struct fk_cur c, size_t *n)
{
    struct otlp_reader in = otlp_read(&r->x->q->map, OTLP_LABEL, c);
    struct otlp_fault fault;
    struct otlp_field f;
    uint64_t v[OTLP_LABEL_UNIT + 1] = {0};
    while (otlp_next(&in, &f, &fault) == 1)
        v[f.id] = f.id <= OTLP_LABEL_UNIT ? f.v : 0;
    struct fk_str key = text_at(r->s->t, v[OTLP_LABEL_KEY]),
                  text = text_at(r->s->t, v[OTLP_LABEL_STR]);
    struct otlp_value value = {v[OTLP_LABEL_STR] == 0, (int64_t)v[OTLP_LABEL_NUM],
                               v[OTLP_LABEL_STR] ? text : FK_S("number")};
    struct fk_str unit = text_at(r->s->t, v[OTLP_LABEL_UNIT]);
    if (otlp_symbols_pair(r->s, key, &value, unit.n ? unit : FK_S("1"), &r->attr[*n]))
        return nomem(r);
    *n += r->attr[*n].key != 0;
    return 0;
}

// How many labels of 1.3 the sample has at most, or adds them.
static int each_label(struct otlp_making *r, size_t *n, bool add)
{
    struct otlp_reader in = otlp_read(&r->x->q->map, OTLP_SAMPLE, r->sample.label);
    struct otlp_fault fault;
    struct otlp_field f;
    while (r->sample.label.p && otlp_next(&in, &f, &fault) == 1) {
        if (f.id != OTLP_S_LABEL)
            continue;
        int rc = add ? add_label(r, f.b, n) : 0;
        if (rc)
            return rc;
        *n += !add;
    }
    return 0;
}

static int put_set(struct otlp_making *r, uint32_t *ret)
{
    const struct otlp_sample *s = &r->sample;
    size_t n = 0, most = s->attribute.n + r->n_base + 2;
    int rc = each_label(r, &most, false);
    r->attr =
        fk_arena_grow(r->x->q->d->arena, r->attr, 0, &r->attrs_cap, most + 1, sizeof(*r->attr));
    if (!r->attr)
        return nomem(r);
    for (size_t i = 0; i < s->attribute.n; i++) {
        if (s->attribute.v[i] >= r->s->t->n_attributes)
            continue;
        if (otlp_symbols_attr(r->s, s->attribute.v[i], &r->attr[n]))
            return nomem(r);
        n += r->attr[n].key != 0;
    }
    if (!rc)
        rc = each_label(r, &n, true);
    if (!rc)
        rc = add_link(r, &n);
    size_t own = n;
    for (size_t i = 0; i < r->n_base; i++)
        if (!has_key(r->attr, own, r->base[i].key))
            r->attr[n++] = r->base[i];
    if (rc || n >= FK_NONE)
        return rc ? rc : nomem(r);
    return fk_dict_set(r->s->dict, r->attr, (uint32_t)n, ret) ? nomem(r) : 0;
}

// ---- observations ----

static int need_room(struct otlp_making *r, size_t n)
{
    struct fk_arena *a = r->x->q->d->arena;
    size_t values;
    if (fk_mul_size(n, r->n_columns, &values))
        return nomem(r);
    r->value = fk_arena_grow(a, r->value, 0, &r->values_cap, values + 1, sizeof(*r->value));
    r->time = fk_arena_grow(a, r->time, 0, &r->times_cap, n + 1, sizeof(*r->time));
    return r->value && r->time ? 0 : nomem(r);
}

// One observation without a time, of all values.
static void put_sum(struct otlp_making *r)
{
    const struct otlp_numbers *v = &r->sample.value;
    uint64_t sum = 0;
    for (size_t i = 0; i < v->n; i++)
        sum += v->v[i];
    r->value[0] = (int64_t)(v->n ? sum : r->sample.time.n);
}

// Before 1.8 a value is for all timestamps of the sample: they can be told apart only where each
// counts one. Profilers with one type wrote one value for each even then.
static bool splits(const struct otlp_making *r)
{
    const struct otlp_numbers *v = &r->sample.value;
    size_t times = r->sample.time.n;
    if (v->n == 0 || (r->p->n_types <= 1 && v->n == times) || times == 1)
        return true;
    for (size_t i = 0; i < v->n; i++)
        if (v->v[i] != times)
            return false;
    return true;
}

static size_t put_old(struct otlp_making *r)
{
    const struct otlp_numbers *v = &r->sample.value;
    size_t times = r->sample.time.n, n = times && splits(r) ? times : 1;
    uint32_t types = FK_MAX(r->p->n_types, 1u);
    bool each = types == 1 && v->n == times && times > 1; // one value a timestamp
    r->x->unsplit += times > 1 && n == 1;
    r->x->unequal += !each && v->n && v->n != types;
    for (size_t i = 0; i < n; i++)
        for (uint32_t k = 0; k < types; k++) {
            uint64_t whole = k < v->n ? v->v[k] : v->n == 0 && k == 0 ? times : 0;
            r->value[i * r->n_columns + k] = (int64_t)(each ? v->v[i] : n > 1 ? whole / n : whole);
        }
    return n;
}

static size_t put_new(struct otlp_making *r)
{
    const struct otlp_numbers *v = &r->sample.value;
    size_t times = r->sample.time.n;
    if (times == 0 || (v->n && v->n != times)) {
        r->x->unequal += times != 0;
        put_sum(r);
        return 1;
    }
    for (size_t i = 0; i < times; i++)
        r->value[i * r->n_columns] = v->n ? (int64_t)v->v[i] : 1;
    return times;
}

static int put_row(struct otlp_making *r)
{
    const struct otlp_sample *s = &r->sample;
    uint32_t stack, set = 0;
    if (s->value.n + s->time.n == 0) {
        r->x->no_value++;
        return 0;
    }
    int rc = need_room(r, s->time.n + 1);
    if (!rc)
        rc = put_set(r, &set);
    if (rc || otlp_symbols_stack(r->s, s, &stack))
        return rc ? rc : nomem(r);
    size_t n = r->x->q->per_time ? put_new(r) : put_old(r);
    bool timed = n == s->time.n;
    for (size_t i = 0; i < n; i++) {
        if (r->timed_column)
            r->value[i * r->n_columns + 1] =
                (int64_t)((uint64_t)r->value[i * r->n_columns] * (uint64_t)r->p->period);
        r->time[i] = timed ? (int64_t)s->time.v[i] : FK_NO_TIME;
        if (timed && r->time[i] > 0 && (r->first_time == 0 || r->time[i] < r->first_time))
            r->first_time = r->time[i];
    }
    if (fk_dict_bytes(r->s->dict) > r->x->q->d->arena->limit)
        return nomem(r);
    return fk_builder_sample(r->b, stack, set, r->value, timed ? r->time : NULL, n, r->err);
}

static int visit_row(void *arg, struct fk_cur c)
{
    struct otlp_making *r = arg;
    struct otlp_fault fault;
    int rc = otlp_sample_read(r->x->q, c, &r->sample, &fault);
    if (rc == -FK_E_NOMEM)
        return nomem(r);
    return rc ? fk_fail(r->err, FK_E_FORMAT, "%s", fault.text) : put_row(r);
}

// ---- one entry ----

static int keep_text(struct otlp_making *r, struct fk_str *s)
{
    *s = fk_arena_str(r->x->q->d->arena, *s);
    return s->p ? 0 : nomem(r);
}

static int put_facts(struct otlp_making *r, struct fk_profile *out)
{
    const struct otlp_profile *p = r->p;
    out->time_ns_start = p->time ? p->time : r->first_time;
    out->duration_ns = p->duration;
    out->period = p->period;
    out->has_period_type = p->period_type.type.n || p->period_type.unit.n;
    out->period_type = p->period_type.type;
    out->period_unit = is_nanoseconds(p->period_type.unit) && r->timed_column ? FK_S("nanoseconds")
                                                                              : p->period_type.unit;
    out->default_type = p->default_type;
    out->drop_frames = p->drop;
    out->keep_frames = p->keep;
    out->doc_url = p->doc_url;
    out->comment = p->comment;
    out->n_comments = p->n_comments;
    out->truncated = r->s->cut != 0;
    r->x->cut += r->s->cut;
    int rc = keep_text(r, &out->period_type);
    if (!rc)
        rc = keep_text(r, &out->period_unit);
    if (!rc)
        rc = keep_text(r, &out->default_type);
    if (!rc)
        rc = keep_text(r, &out->drop_frames);
    if (!rc)
        rc = keep_text(r, &out->keep_frames);
    return rc ? rc : keep_text(r, &out->doc_url);
}

static int put_labels(struct otlp_making *r, struct fk_str service, struct fk_labels *ret)
{
    const struct otlp_origin *o = r->o;
    struct fk_arena *a = r->x->q->d->arena;
    struct fk_label *v = fk_arena_array(a, o->n_labels + 2, sizeof(*v));
    size_t n = 0;
    if (!v)
        return nomem(r);
    for (; n < o->n_labels; n++)
        v[n] = o->label[n];
    v[n++] = (struct fk_label){FK_S("__delta__"), FK_S("false")};
    service = service.n ? service : o->service.n ? o->service : o->executable;
    if (service.n)
        v[n++] = (struct fk_label){FK_S("service_name"), service};
    return fk_labels_make(a, v, n, ret, r->err) ? nomem(r) : 0;
}

static int finish_entry(struct otlp_making *r, struct fk_str service)
{
    struct fk_profile *out = fk_arena_zalloc(r->x->q->d->arena, sizeof(*out));
    struct fk_labels labels;
    if (!out)
        return nomem(r);
    struct fk_err why = {0};
    int rc = fk_builder_finish(r->b, out, &why);
    if (rc == -FK_E_NOMEM)
        return nomem(r);
    if (!rc)
        rc = put_facts(r, out);
    if (!rc)
        rc = put_labels(r, service, &labels);
    return rc ? rc : fk_decoding_deliver_labelled(r->x->q->d, out, &labels, r->err);
}

// Samples: those of the list, or all when it is NULL.
static int build_entry(struct otlp_making *r, const struct fk_cur *list, size_t n,
                       struct fk_str service)
{
    const struct fk_decoding *d = r->x->q->d;
    if (r->x->entries++ >= OTLP_ENTRIES)
        return fk_fail_limit(r->err, "profiles", OTLP_ENTRIES, NULL,
                             "the request has too many profiles; send them in several");
    r->b = fk_builder_new(d->arena, d->opts->max_rows, d->opts->rows_flag);
    if (!r->b)
        return nomem(r);
    r->first_time = 0;
    otlp_symbols_begin(r->s, r->b);
    int rc = put_types(r);
    if (!rc)
        rc = put_base(r);
    if (!rc && !list)
        rc = otlp_each_sample(r->x->q, r->p, visit_row, r);
    for (size_t i = 0; !rc && list && i < n; i++)
        rc = visit_row(r, list[i]);
    if (!rc)
        rc = finish_entry(r, service);
    fk_builder_free(r->b);
    r->b = NULL;
    return rc;
}

// ---- by service ----

struct parting {
    struct otlp_making *r;
    struct fk_cur *sample;
    uint32_t *group;
    size_t n;
    struct fk_str *name; // of each group; "" where the sample names none
    size_t names_cap;
    uint32_t n_groups;
    struct fk_map index;
};

static int service_of(struct otlp_making *r, struct fk_str *ret)
{
    const struct otlp_sample *s = &r->sample;
    *ret = FK_S("");
    for (size_t i = 0; i < s->attribute.n; i++) {
        const struct otlp_attribute *a = &r->s->t->attribute[s->attribute.v[i]];
        struct otlp_value value;
        if (s->attribute.v[i] >= r->s->t->n_attributes || !fk_str_eq(a->key, FK_S("service.name")))
            continue;
        if (otlp_value_read(r->x->q, r->s->t, a->value, &value))
            return nomem(r);
        *ret = value.text;
    }
    return 0;
}

static int group_of(struct parting *g, struct fk_str name, uint32_t *ret)
{
    uint64_t h = fk_hash_str(name);
    for (uint32_t at = fk_map_first(&g->index, h); at != FK_NONE;
         at = fk_map_next(&g->index, h, at))
        if (fk_str_eq(g->name[fk_map_id(&g->index, at)], name)) {
            *ret = fk_map_id(&g->index, at);
            return 0;
        }
    struct fk_str *v = fk_arena_grow(g->r->x->q->d->arena, g->name, g->n_groups, &g->names_cap,
                                     (size_t)g->n_groups + 1, sizeof(*v));
    if (!v || fk_map_add(&g->index, h, g->n_groups))
        return nomem(g->r);
    g->name = v;
    v[g->n_groups] = name;
    *ret = g->n_groups++;
    return 0;
}

static int visit_part(void *arg, struct fk_cur c)
{
    struct parting *g = arg;
    struct otlp_fault fault;
    struct fk_str name;
    if (otlp_sample_read(g->r->x->q, c, &g->r->sample, &fault))
        return nomem(g->r);
    int rc = service_of(g->r, &name);
    if (!rc)
        rc = group_of(g, name, &g->group[g->n]);
    g->sample[g->n++] = c;
    return rc;
}

// The samples of each group one behind the other, in their order.
static int sort_groups(struct parting *g, struct fk_cur **ret, size_t **ret_begin)
{
    struct fk_arena *a = g->r->x->q->d->arena;
    struct fk_cur *to = fk_arena_array(a, g->n + 1, sizeof(*to));
    size_t *begin = fk_arena_zalloc(a, ((size_t)g->n_groups + 2) * sizeof(*begin));
    if (!to || !begin)
        return nomem(g->r);
    for (size_t i = 0; i < g->n; i++)
        begin[g->group[i] + 2]++;
    for (uint32_t k = 2; k <= g->n_groups; k++)
        begin[k] += begin[k - 1];
    for (size_t i = 0; i < g->n; i++)
        to[begin[g->group[i] + 1]++] = g->sample[i];
    *ret = to;
    *ret_begin = begin;
    return 0;
}

static int deliver_groups(struct parting *g)
{
    struct fk_cur *sorted;
    size_t *begin;
    int rc = sort_groups(g, &sorted, &begin);
    for (uint32_t k = 0; !rc && k < g->n_groups; k++)
        rc = build_entry(g->r, sorted + begin[k], begin[k + 1] - begin[k], g->name[k]);
    return rc;
}

static int deliver_parted(struct otlp_making *r)
{
    struct fk_arena *a = r->x->q->d->arena;
    struct parting g = {.r = r};
    g.sample = fk_arena_array(a, r->p->n_samples + 1, sizeof(*g.sample));
    g.group = fk_arena_array(a, r->p->n_samples + 1, sizeof(*g.group));
    if (!g.sample || !g.group)
        return nomem(r);
    int rc = otlp_each_sample(r->x->q, r->p, visit_part, &g);
    if (!rc)
        rc = deliver_groups(&g);
    fk_map_free(&g.index);
    return rc;
}

int otlp_deliver(struct otlp_building *x, const struct otlp_profile *p, const struct otlp_origin *o,
                 struct fk_err *err)
{
    const struct fk_limits *l = x->q->d->opts->limits;
    struct otlp_making *r = x->rows;
    if (!r && !(x->rows = r = fk_arena_zalloc(x->q->d->arena, sizeof(*r))))
        return fk_decoding_nomem(x->q->d, err);
    r->x = x;
    r->p = p;
    r->o = o;
    r->s = &x->symbols;
    r->err = err;
    if (p->n_types > l->sample_types)
        return fk_fail_limit(err, "sample_types", l->sample_types, FK_LIMIT_FLAG(sample_types),
                             "the OTLP profile has %u sample types", p->n_types);
    if ((!x->symbols.t || !x->q->shared) && otlp_symbols_make(&x->symbols, x->q, &p->t))
        return nomem(r);
    x->symbols.t = &p->t;
    if (x->symbols.has_service && p->n_samples)
        return deliver_parted(r);
    return build_entry(r, NULL, 0, FK_S(""));
}
