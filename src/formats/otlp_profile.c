// SPDX-License-Identifier: Apache-2.0
// Walking an OTLP request: its profiles, their facts, their samples.
#include "formats/otlp_int.h"

// ---- where profiles stand ----

static int each_of_scope(const struct otlp_request *q, struct otlp_place *at, struct fk_cur c,
                         otlp_visit *one, void *arg)
{
    struct otlp_fault fault;
    struct otlp_field f;
    struct otlp_reader r = otlp_read(&q->map, OTLP_SCOPE_PROFILES, c);
    int rc;
    at->scope = (struct fk_cur){NULL, NULL};
    while ((rc = otlp_next(&r, &f, &fault)) == 1)
        if (f.id == OTLP_SP_SCOPE)
            at->scope = f.b;
    r = otlp_read(&q->map, OTLP_SCOPE_PROFILES, c);
    while (rc >= 0 && (rc = otlp_next(&r, &f, &fault)) == 1)
        if (f.id == OTLP_SP_PROFILE) {
            at->profile = f.b;
            if ((rc = one(arg, at)))
                return rc;
        }
    return rc;
}

static int each_of_resource(const struct otlp_request *q, struct fk_cur c, otlp_visit *one,
                            void *arg)
{
    struct otlp_fault fault;
    struct otlp_field f;
    struct otlp_place at = {{NULL, NULL}, {NULL, NULL}, {NULL, NULL}};
    struct otlp_reader r = otlp_read(&q->map, OTLP_RESOURCE_PROFILES, c);
    int rc;
    while ((rc = otlp_next(&r, &f, &fault)) == 1)
        if (f.id == OTLP_RP_RESOURCE)
            at.resource = f.b;
    r = otlp_read(&q->map, OTLP_RESOURCE_PROFILES, c);
    while (rc >= 0 && (rc = otlp_next(&r, &f, &fault)) == 1)
        if (f.id == OTLP_RP_SCOPE && (rc = each_of_scope(q, &at, f.b, one, arg)))
            return rc;
    return rc;
}

int otlp_each_profile(const struct otlp_request *q, otlp_visit *one, void *arg)
{
    struct otlp_fault fault;
    struct otlp_field f;
    struct otlp_reader r = otlp_read(&q->map, OTLP_REQUEST, q->bytes);
    int rc;
    while ((rc = otlp_next(&r, &f, &fault)) == 1)
        if (f.id == OTLP_REQ_RESOURCE && (rc = each_of_resource(q, f.b, one, arg)))
            return rc;
    return rc;
}

// ---- facts of a profile ----

static int text_of(const struct otlp_tables *t, uint64_t id, const char *what, struct fk_str *ret,
                   struct otlp_fault *fault)
{
    if (id >= t->n_strings && id != 0)
        return otlp_fail(fault, "%s: string %lld is beyond its table of %zu", what, (long long)id,
                         t->n_strings);
    *ret = t->string[id];
    return 0;
}

static int read_type(const struct otlp_request *q, const struct otlp_tables *t, struct fk_cur c,
                     struct otlp_type *ret, struct otlp_fault *fault)
{
    struct otlp_reader r = otlp_read(&q->map, OTLP_VALUE_TYPE, c);
    struct otlp_field f;
    int rc;
    *ret = (struct otlp_type){t->string[0], t->string[0]};
    while ((rc = otlp_next(&r, &f, fault)) == 1) {
        if (f.id == OTLP_VT_TYPE)
            rc = text_of(t, f.v, "ValueType: type", &ret->type, fault);
        else if (f.id == OTLP_VT_UNIT)
            rc = text_of(t, f.v, "ValueType: unit", &ret->unit, fault);
        if (rc < 0)
            return rc;
    }
    return rc;
}

static int read_comments(const struct otlp_request *q, struct otlp_profile *p, struct otlp_field f,
                         struct otlp_fault *fault)
{
    size_t n = fk_varint_count(f.b.p, (size_t)(f.b.end - f.b.p));
    struct fk_str *v = fk_arena_array(q->d->arena, p->n_comments + n + 1, sizeof(*v));
    uint64_t id;
    if (!v || n >= FK_NONE / 2)
        return -FK_E_NOMEM;
    if (p->n_comments)
        memcpy(v, p->comment, p->n_comments * sizeof(*v));
    p->comment = v;
    while (otlp_number(&f, &id)) {
        if (text_of(&p->t, id, "Profile: comment", &v[p->n_comments], fault))
            return -FK_E_FORMAT;
        p->n_comments++;
    }
    return 0;
}

static int add_comment(void *arg, struct fk_str text)
{
    struct otlp_profile *p = arg;
    p->comment[p->n_comments++] = text;
    return 0;
}

static int count_comment(void *arg, struct fk_str text)
{
    size_t *n = arg;
    ++*n;
    (void)text;
    return 0;
}

static int comments_of(const struct otlp_request *q, struct otlp_profile *p, struct fk_cur any)
{
    size_t n = p->n_comments;
    int rc = otlp_value_each(q, &p->t, any, count_comment, &n);
    struct fk_str *v = rc ? NULL : fk_arena_array(q->d->arena, n + 1, sizeof(*v));
    if (!v)
        return rc ? rc : -FK_E_NOMEM;
    if (p->n_comments)
        memcpy(v, p->comment, p->n_comments * sizeof(*v));
    p->comment = v;
    return otlp_value_each(q, &p->t, any, add_comment, p);
}

// What pprof has fields for, by the names that OpenTelemetry gives it: 1 when it was that.
static int take_fact(const struct otlp_request *q, struct otlp_profile *p,
                     const struct otlp_attribute *a)
{
    const struct {
        struct fk_str key;
        struct fk_str *to;
    } facts[] = {{FK_S("pprof.scope.default_sample_type"), &p->default_type},
                 {FK_S("pprof.profile.drop_frames"), &p->drop},
                 {FK_S("pprof.profile.keep_frames"), &p->keep},
                 {FK_S("pprof.profile.doc_url"), &p->doc_url}};
    struct otlp_value value;
    if (!fk_str_starts(a->key, FK_S("pprof.")))
        return 0;
    if (fk_str_eq(a->key, FK_S("pprof.profile.comment"))) {
        int rc = comments_of(q, p, a->value);
        return rc ? rc : 1;
    }
    for (size_t i = 0; i < FK_COUNTOF(facts); i++) {
        if (!fk_str_eq(a->key, facts[i].key))
            continue;
        int rc = otlp_value_read(q, &p->t, a->value, &value);
        *facts[i].to = value.text;
        return rc ? rc : 1;
    }
    return 0;
}

static int read_attributes(const struct otlp_request *q, struct otlp_profile *p,
                           struct otlp_field f, struct otlp_fault *fault)
{
    size_t n = fk_varint_count(f.b.p, (size_t)(f.b.end - f.b.p));
    uint32_t *v = fk_arena_array(q->d->arena, p->n_attributes + n + 1, sizeof(*v));
    uint64_t id;
    if (!v || n >= FK_NONE / 2)
        return -FK_E_NOMEM;
    if (p->n_attributes)
        memcpy(v, p->attribute, p->n_attributes * sizeof(*v));
    p->attribute = v;
    while (otlp_number(&f, &id)) {
        if (id >= p->t.n_attributes && id != 0)
            return otlp_fail(fault, "Profile: attribute %lld is beyond its table of %zu",
                             (long long)id, p->t.n_attributes);
        int rc = id < p->t.n_attributes ? take_fact(q, p, &p->t.attribute[id]) : 1;
        if (rc < 0)
            return rc;
        if (rc == 0)
            v[p->n_attributes++] = (uint32_t)id;
    }
    return 0;
}

static int read_words(struct otlp_profile *p, const struct otlp_field *f, struct otlp_fault *fault)
{
    switch (f->id) {
    case OTLP_P_DEFAULT_TYPE:
        return text_of(&p->t, f->v, "Profile: default type", &p->default_type, fault);
    case OTLP_P_DROP:
        return text_of(&p->t, f->v, "Profile: drop_frames", &p->drop, fault);
    case OTLP_P_KEEP:
        return text_of(&p->t, f->v, "Profile: keep_frames", &p->keep, fault);
    default:
        return 0;
    }
}

static int read_fact(const struct otlp_request *q, struct otlp_profile *p,
                     const struct otlp_field *f, struct otlp_fault *fault)
{
    switch (f->id) {
    case OTLP_P_TYPE:
        return read_type(q, &p->t, f->b, &p->type[p->n_types++], fault);
    case OTLP_P_PERIOD_TYPE:
        return read_type(q, &p->t, f->b, &p->period_type, fault);
    case OTLP_P_TIME:
        p->time = (int64_t)f->v;
        return 0;
    case OTLP_P_DURATION:
        p->duration = (int64_t)f->v;
        return 0;
    case OTLP_P_PERIOD:
        p->period = (int64_t)f->v;
        return 0;
    case OTLP_P_COMMENT:
        return read_comments(q, p, *f, fault);
    case OTLP_P_ATTRIBUTE:
        return read_attributes(q, p, *f, fault);
    case OTLP_P_ID:
        p->odd_id = otlp_str(f).n != 0 && otlp_str(f).n != 16;
        return 0;
    case OTLP_P_PAYLOAD:
        p->payload |= f->b.p != f->b.end;
        return 0;
    case OTLP_P_KEY_VALUE:
        p->has_attributes = true;
        return 0;
    default:
        return read_words(p, f, fault);
    }
}

// Finds the profile in a container, and the container's facts.
static int unwrap(const struct otlp_request *q, struct fk_cur c, struct otlp_profile *p,
                  struct otlp_fault *fault)
{
    bool v13 = q->map.layout == OTLP_1_3;
    struct otlp_reader r = otlp_read(&q->map, v13 ? OTLP_CONTAINER : OTLP_PROFILE, c);
    struct otlp_field f;
    uint64_t start = 0, end = 0;
    int rc;
    p->body = v13 ? (struct fk_cur){c.end, c.end} : c;
    while ((rc = otlp_next(&r, &f, fault)) == 1) {
        if (f.id == OTLP_P_WRAPPED)
            p->body = f.b;
        else if (f.id == OTLP_P_START)
            start = f.v;
        else if (f.id == OTLP_P_END)
            end = f.v;
        else if (f.id == OTLP_P_KEY_VALUE)
            p->has_attributes = true;
        else if (f.id == OTLP_P_PAYLOAD)
            p->payload |= f.b.p != f.b.end;
    }
    p->container = p->body.p == c.p ? (struct fk_cur){NULL, NULL} : c;
    p->time = (int64_t)start;
    p->duration = end > start ? (int64_t)(end - start) : 0;
    return rc;
}

static int count_profile(const struct otlp_request *q, struct otlp_profile *p, uint64_t *ret_types,
                         int64_t *ret_default, struct otlp_fault *fault)
{
    struct otlp_reader r = otlp_read(&q->map, OTLP_PROFILE, p->body);
    struct otlp_field f;
    int rc;
    while ((rc = otlp_next(&r, &f, fault)) == 1) {
        p->n_samples += f.id == OTLP_P_SAMPLE;
        *ret_types += f.id == OTLP_P_TYPE;
        if (f.id == OTLP_P_DEFAULT_INDEX)
            *ret_default = (int64_t)f.v;
    }
    return rc;
}

int otlp_profile_read(const struct otlp_request *q, struct fk_cur c, struct otlp_profile *ret,
                      struct otlp_fault *fault)
{
    struct otlp_profile p = {
        .default_type = {"", 0}, .drop = {"", 0}, .keep = {"", 0}, .doc_url = {"", 0}};
    uint64_t types = 0;
    int64_t default_index = -1;
    struct otlp_field f;
    int rc = unwrap(q, c, &p, fault);
    if (!rc)
        rc = count_profile(q, &p, &types, &default_index, fault);
    if (!rc)
        rc = otlp_tables_of_profile(q, p.body, &p.t, fault);
    if (rc)
        return rc;
    if (!(p.type = fk_arena_array(q->d->arena, types + 1, sizeof(*p.type))))
        return -FK_E_NOMEM;
    p.period_type = (struct otlp_type){p.t.string[0], p.t.string[0]};
    struct otlp_reader r = otlp_read(&q->map, OTLP_PROFILE, p.body);
    while ((rc = otlp_next(&r, &f, fault)) == 1)
        if ((rc = read_fact(q, &p, &f, fault)))
            return rc;
    if (types == 0)
        p.type[0] = p.period_type = (struct otlp_type){p.t.string[0], p.t.string[0]};
    if (default_index >= 0 && (uint64_t)default_index < types)
        p.default_type = p.type[default_index].type;
    if (!rc)
        *ret = p;
    return rc;
}

// ---- samples ----

// Room is kept from one sample to the next and grows in the arena.
static int take_numbers(const struct otlp_request *q, struct otlp_numbers *to, struct otlp_field f)
{
    size_t bytes = (size_t)(f.b.end - f.b.p);
    size_t n = f.kind == OTLP_FIXEDS ? bytes / 8 : fk_varint_count(f.b.p, bytes);
    uint64_t *v = fk_arena_grow(q->d->arena, to->v, to->n, &to->cap, to->n + n + 1, sizeof(*v));
    if (!v)
        return -FK_E_NOMEM;
    to->v = v;
    while (otlp_number(&f, &v[to->n]))
        to->n++;
    return 0;
}

static int take_sample_field(const struct otlp_request *q, struct otlp_sample *s,
                             const struct otlp_field *f, struct fk_cur whole)
{
    switch (f->id) {
    case OTLP_S_STACK:
        s->stack = f->v;
        return 0;
    case OTLP_S_START:
        s->start = f->v;
        return 0;
    case OTLP_S_LENGTH:
        s->length = f->v;
        return 0;
    case OTLP_S_LINK:
        s->link = f->v;
        s->has_link = true;
        return 0;
    case OTLP_S_LOCATION:
        return take_numbers(q, &s->location, *f);
    case OTLP_S_VALUE:
        return take_numbers(q, &s->value, *f);
    case OTLP_S_ATTRIBUTE:
        return take_numbers(q, &s->attribute, *f);
    case OTLP_S_TIME:
        return take_numbers(q, &s->time, *f);
    case OTLP_S_LABEL:
        s->label = whole;
        return 0;
    default:
        return 0;
    }
}

int otlp_sample_read(const struct otlp_request *q, struct fk_cur c, struct otlp_sample *s,
                     struct otlp_fault *fault)
{
    struct otlp_reader r = otlp_read(&q->map, OTLP_SAMPLE, c);
    struct otlp_field f;
    int rc;
    s->stack = s->start = s->length = s->link = 0;
    s->has_link = false;
    s->location.n = s->value.n = s->attribute.n = s->time.n = 0;
    s->label = (struct fk_cur){NULL, NULL};
    while ((rc = otlp_next(&r, &f, fault)) == 1)
        if ((rc = take_sample_field(q, s, &f, c)))
            return rc;
    return rc;
}

int otlp_each_sample(const struct otlp_request *q, const struct otlp_profile *p,
                     otlp_visit_sample *one, void *arg)
{
    struct otlp_reader r = otlp_read(&q->map, OTLP_PROFILE, p->body);
    struct otlp_fault fault;
    struct otlp_field f;
    int rc;
    while ((rc = otlp_next(&r, &f, &fault)) == 1)
        if (f.id == OTLP_P_SAMPLE && (rc = one(arg, f.b)))
            return rc;
    return rc;
}
