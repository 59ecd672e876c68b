// SPDX-License-Identifier: Apache-2.0
// OpenTelemetry profiles in: ExportProfilesServiceRequest of every revision from 1.3 to 1.10, as
// protobuf or JSON. Here: what the bytes look like, and the order of things. The revision is found
// in otlp_check.c, tables are read in otlp_tables.c, entries made in otlp_rows.c.
#include "formats/otlp_int.h"

// ---- recognising ----

// Fields with a length only, of numbers up to max; *ret_high: one of them is above `low`. Stops
// quietly where the head ends.
static bool lengths_only(struct fk_cur c, uint64_t low, uint64_t max, bool *ret_high)
{
    uint64_t key, n;
    while (c.p < c.end) {
        if (fk_cur_varint(&c, &key) || fk_cur_varint(&c, &n))
            return true;
        if ((key & 7) != FK_WIRE_LEN || key < 8 || key >> 3 > max)
            return false;
        *ret_high |= key >> 3 > low;
        if (n > fk_cur_left(&c))
            return true;
        c.p += n;
    }
    return true;
}

// Protobuf: field 1 is ResourceProfiles (fields with a length) where a pprof has ValueType
// (varints); field 2 is the dictionary, with tables beyond the three fields of a pprof's sample.
static bool looks_like_protobuf(struct fk_str head)
{
    struct fk_cur c = fk_cur_of(head);
    uint64_t key, n;
    while (c.p < c.end) {
        bool high = false;
        if (fk_cur_varint(&c, &key) || fk_cur_varint(&c, &n) || (key & 7) != FK_WIRE_LEN)
            return false;
        struct fk_cur body = {c.p, c.p + FK_MIN(n, (uint64_t)fk_cur_left(&c))};
        if (key >> 3 == 1 && n)
            return lengths_only(body, 0, 3, &high) && high;
        if (key >> 3 == 2 && (!lengths_only(body, 3, 7, &high) || (!high && n)))
            return false;
        if (key >> 3 == 2 && high)
            return true;
        if (key >> 3 > 2)
            return false;
        c.p = body.end;
    }
    return false;
}

static bool has_any(struct fk_str s, const char *const *words)
{
    for (; *words; words++)
        if (fk_str_find(s, fk_str_of(*words)) >= 0)
            return true;
    return false;
}

static bool looks_like_json(struct fk_str head)
{
    static const char *const request[] = {"\"resourceProfiles\"", "\"resource_profiles\"", NULL};
    static const char *const outer[] = {"\"dictionary\"", NULL};
    static const char *const tables[] = {
        "\"mappingTable\"", "\"locationTable\"",  "\"functionTable\"",   "\"linkTable\"",
        "\"stringTable\"",  "\"attributeTable\"", "\"stackTable\"",      "\"mapping_table\"",
        "\"string_table\"", "\"location_table\"", "\"attribute_table\"", NULL};
    return has_any(head, request) || (has_any(head, outer) && has_any(head, tables));
}

static struct fk_str without_bom(struct fk_str s)
{
    s = fk_str_from(s, fk_str_starts(s, FK_S("\xef\xbb\xbf")) ? 3 : 0);
    size_t at = 0;
    while (at < s.n && memchr(" \t\r\n", s.p[at], 4))
        at++;
    return fk_str_from(s, at);
}

bool fk_otlp_looks(struct fk_str head, bool whole)
{
    struct fk_str text = without_bom(head);
    (void)whole;
    return fk_str_starts(text, FK_S("{")) ? looks_like_json(text) : looks_like_protobuf(head);
}

// ---- decoding ----

struct decoding {
    struct otlp_building building;
    struct fk_cur resource, scope; // of the last profile
    struct otlp_origin of_resource, of_scope, origin;
    bool known; // of_scope is of them
    struct fk_err *err;
};

static int add_attributes(struct decoding *x, const struct otlp_profile *p, struct otlp_origin *o)
{
    const struct otlp_request *q = x->building.q;
    int rc = 0;
    if (p->container.p)
        rc = otlp_origin_add(q, &p->t, p->container,
                             q->map.layout == OTLP_1_3 ? OTLP_CONTAINER : OTLP_PROFILE,
                             OTLP_P_KEY_VALUE, o);
    return rc ? rc : otlp_origin_add(q, &p->t, p->body, OTLP_PROFILE, OTLP_P_KEY_VALUE, o);
}

// A copy with room of its own.
static int copy_origin(struct decoding *x, const struct otlp_origin *from, struct otlp_origin *to)
{
    struct fk_arena *a = x->building.q->d->arena;
    struct fk_label *label = fk_arena_array(a, from->n_labels + 1, sizeof(*label));
    struct otlp_pair *attr = fk_arena_array(a, from->n_attrs + 1, sizeof(*attr));
    if (!label || !attr)
        return -FK_E_NOMEM;
    if (from->n_labels)
        memcpy(label, from->label, from->n_labels * sizeof(*label));
    if (from->n_attrs)
        memcpy(attr, from->attr, from->n_attrs * sizeof(*attr));
    *to = *from;
    to->label = label;
    to->labels_cap = from->n_labels + 1;
    to->attr = attr;
    to->attrs_cap = from->n_attrs + 1;
    return 0;
}

// Each resource and each scope is read once, however many profiles it has.
static int find_scope(struct decoding *x, const struct otlp_place *at)
{
    const struct otlp_request *q = x->building.q;
    bool same = x->known && at->resource.p == x->resource.p;
    int rc = 0;
    if (same && at->scope.p == x->scope.p)
        return 0;
    if (!same) {
        x->of_resource = (struct otlp_origin){.service = {"", 0}, .executable = {"", 0}};
        if (at->resource.p)
            rc = otlp_origin_add(q, q->shared, at->resource, OTLP_RESOURCE, OTLP_ATTRS,
                                 &x->of_resource);
    }
    if (!rc)
        rc = copy_origin(x, &x->of_resource, &x->of_scope);
    if (!rc && at->scope.p)
        rc = otlp_origin_add(q, q->shared, at->scope, OTLP_SCOPE, OTLP_ATTRS, &x->of_scope);
    x->resource = at->resource;
    x->scope = at->scope;
    x->known = !rc;
    return rc;
}

static int find_origin(struct decoding *x, const struct otlp_place *at,
                       const struct otlp_profile *p)
{
    int rc = find_scope(x, at);
    x->origin = x->of_scope;
    if (!rc && p->has_attributes)
        rc = copy_origin(x, &x->of_scope, &x->origin);
    if (!rc && p->has_attributes)
        rc = add_attributes(x, p, &x->origin);
    return rc ? fk_decoding_nomem(x->building.q->d, x->err) : 0;
}

static void report_tables(const struct otlp_request *q, const struct otlp_tables *t)
{
    fk_report_warn(q->d->report, "attributes of locations are not kept", t->location_attributes,
                   "%s", "such as the type of a frame");
    fk_report_warn(q->d->report, "link with an id of another length, read as without", t->odd_ids,
                   "%s", "a trace has 16 bytes, a span 8");
}

static void report_profile(const struct otlp_request *q, const struct otlp_profile *p)
{
    fk_report_warn(q->d->report, "original payload within an OTLP profile was not read", p->payload,
                   "%s", "its samples were");
    if (!q->shared)
        report_tables(q, &p->t);
}

static int visit_profile(void *arg, const struct otlp_place *at)
{
    struct decoding *x = arg;
    const struct otlp_request *q = x->building.q;
    struct otlp_fault fault = {""};
    struct otlp_profile *p = fk_arena_zalloc(q->d->arena, sizeof(*p));
    if (!p)
        return fk_decoding_nomem(q->d, x->err);
    int rc = otlp_profile_read(q, at->profile, p, &fault);
    if (rc == -FK_E_NOMEM)
        return fk_decoding_nomem(q->d, x->err);
    if (rc)
        return fk_fail(x->err, FK_E_FORMAT, "%s", fault.text);
    report_profile(q, p);
    rc = find_origin(x, at, p);
    return rc ? rc : otlp_deliver(&x->building, p, &x->origin, x->err);
}

static void put_report(const struct otlp_building *b)
{
    struct fk_report *r = b->q->d->report;
    const struct fk_limits *l = b->q->d->opts->limits;
    fk_report_drop(r, "sample without values and timestamps", b->no_value, "%s",
                   "it says nothing of how much");
    fk_report_drop(r, "attribute of a profile beyond the limit of labels", b->beyond,
                   "the limit is set by %s", FK_LIMIT_FLAG(labels));
    fk_report_warn(r, "sample with unequal numbers of values and timestamps", b->unequal, "%s",
                   "its values are kept, without times");
    fk_report_warn(r, "sample whose value cannot be split over its timestamps", b->unsplit, "%s",
                   "its value is kept, without times");
    fk_report_warn(r, "stack cut at the depth limit", b->cut, "%llu frames, set by %s",
                   (unsigned long long)l->stack_depth, FK_LIMIT_FLAG(stack_depth));
    if (b->q->shared)
        report_tables(b->q, b->q->shared);
}

int fk_otlp_decode(const struct fk_decoding *d, struct fk_str bytes, struct fk_err *err)
{
    struct otlp_request q = {.d = d, .bytes = fk_cur_of(bytes)};
    struct decoding x = {.err = err};
    struct fk_str text = without_bom(bytes);
    int rc = 0;
    if (fk_str_starts(text, FK_S("{"))) {
        q.map.layout = OTLP_MEANING;
        rc = otlp_from_json(d, text, &q.bytes, &q.per_time, err);
    }
    if (!rc)
        rc = otlp_choose(&q, err);
    if (rc)
        return rc;
    x.building.q = &q;
    rc = otlp_each_profile(&q, visit_profile, &x);
    otlp_symbols_free(&x.building.symbols);
    if (!rc)
        put_report(&x.building);
    return rc;
}
