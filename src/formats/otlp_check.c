// SPDX-License-Identifier: Apache-2.0
// Which revision an OTLP request speaks. Nothing in it says so, and the same numbers mean other
// things in each: so all of the request is read as each of them, and what contradicts it (wire
// types, indexes beyond their tables, a count of values that fits no count of timestamps) rules
// that revision out. Of those left the newest is taken; when an older one would read the samples
// differently, the report says so.
#include "formats/otlp_int.h"

#define OTLP_NESTING 24

enum grade {
    BROKEN, // not messages of this revision
    BEYOND, // messages, but some index is beyond its table
    ODD,    // samples without values and timestamps, or with unequal numbers of both; odd ids
    CLEAN,
};

struct verdict {
    enum grade grade;
    bool telling; // samples have what revisions read differently
    struct otlp_request q;
    struct otlp_fault fault;
};

// ---- wire ----

// The whole request against the table of fields.
static int check_wire(const struct otlp_map *map, enum otlp_message message, struct fk_cur c,
                      unsigned nesting, struct otlp_fault *fault)
{
    struct otlp_reader r = otlp_read(map, message, c);
    struct otlp_field f;
    int rc;
    if (nesting > OTLP_NESTING)
        return otlp_fail(fault, "%s: nested too deep", otlp_message_name(message));
    while ((rc = otlp_next(&r, &f, fault)) == 1)
        if ((f.kind == OTLP_MESSAGE || f.kind == OTLP_MESSAGE_LIST) &&
            (rc = check_wire(map, f.sub, f.b, nesting + 1, fault)))
            return rc;
    return rc;
}

// ---- samples ----

struct checking {
    struct verdict *v;
    const struct otlp_profile *p;
    struct otlp_sample s;
    bool odd;
};

static int beyond(struct checking *x, const char *what, uint64_t index, size_t n)
{
    return otlp_fail(&x->v->fault, "Sample: %s %lld is beyond its table of %zu", what,
                     (long long)index, n);
}

static int check_stack(struct checking *x)
{
    const struct otlp_sample *s = &x->s;
    const struct otlp_tables *t = &x->p->t;
    if (s->stack && s->stack >= t->n_stacks)
        return beyond(x, "stack", s->stack, t->n_stacks);
    if (s->length && (s->start > t->n_indices || s->length > t->n_indices - s->start))
        return beyond(x, "last location", s->start + s->length - 1, t->n_indices);
    for (size_t i = 0; i < s->location.n; i++)
        if (s->location.v[i] >= t->n_locations)
            return beyond(x, "location", s->location.v[i], t->n_locations);
    return 0;
}

static bool counts_agree(const struct checking *x)
{
    size_t values = x->s.value.n, times = x->s.time.n;
    if (values + times == 0)
        return false;
    if (values == 0)
        return true;
    if (x->v->q.per_time)
        return times == 0 || values == times;
    return values == FK_MAX(x->p->n_types, 1u) || (x->p->n_types == 1 && values == times);
}

static int check_sample(void *arg, struct fk_cur c)
{
    struct checking *x = arg;
    const struct otlp_tables *t = &x->p->t;
    struct otlp_sample *s = &x->s;
    int rc = otlp_sample_read(&x->v->q, c, s, &x->v->fault);
    if (!rc)
        rc = check_stack(x);
    if (rc)
        return rc;
    for (size_t i = 0; i < s->attribute.n; i++)
        if (s->attribute.v[i] >= t->n_attributes)
            return beyond(x, "attribute", s->attribute.v[i], t->n_attributes);
    if (s->link && s->link >= t->n_links)
        return beyond(x, "link", s->link, t->n_links);
    x->odd |= !counts_agree(x);
    x->v->telling |= s->value.n || s->attribute.n || s->has_link;
    return 0;
}

static int check_profile(void *arg, const struct otlp_place *at)
{
    struct checking *x = arg;
    struct otlp_profile p;
    int rc = otlp_profile_read(&x->v->q, at->profile, &p, &x->v->fault);
    if (rc)
        return rc;
    x->p = &p;
    x->odd |= p.odd_id;
    rc = otlp_each_sample(&x->v->q, &p, check_sample, x);
    x->p = NULL;
    return rc;
}

// 0, or -FK_E_NOMEM; the verdict says the rest.
static int judge(const struct otlp_request *q, enum otlp_layout layout, struct verdict *v)
{
    struct checking x = {.v = v};
    *v = (struct verdict){.q = *q, .grade = BROKEN};
    otlp_map_make(layout, &v->q.map);
    if (layout != OTLP_MEANING)
        v->q.per_time = layout >= OTLP_1_8;
    int rc = check_wire(&v->q.map, OTLP_REQUEST, q->bytes, 0, &v->fault);
    if (rc)
        return 0;
    v->grade = BEYOND;
    // From 1.8 on the tables are the same.
    bool known = q->shared && (layout == OTLP_1_8 || layout == OTLP_1_9);
    rc = known ? 0 : otlp_tables_shared(&v->q, &v->fault);
    if (!rc)
        rc = otlp_each_profile(&v->q, check_profile, &x);
    if (rc == -FK_E_FORMAT)
        return 0;
    if (!rc)
        v->grade = x.odd ? ODD : CLEAN;
    return rc;
}

static bool reads_alike(enum otlp_layout a, enum otlp_layout b)
{
    bool old_a = a == OTLP_1_8 || a == OTLP_1_9, old_b = b == OTLP_1_8 || b == OTLP_1_9;
    return a == b || (old_a && old_b);
}

static int refuse(const struct verdict *best, struct fk_err *err)
{
    if (best->q.map.layout == OTLP_MEANING)
        return fk_fail(err, FK_E_FORMAT, "the OTLP profiles in JSON contradict themselves: %s",
                       best->fault.text);
    return fk_fail(err, FK_E_FORMAT,
                   "not OTLP profiles of any revision from 1.3 to 1.10; read as %s: %s",
                   otlp_layout_name(best->q.map.layout), best->fault.text);
}

int otlp_choose(struct otlp_request *q, struct fk_err *err)
{
    bool json = q->map.layout == OTLP_MEANING;
    int first = json ? OTLP_MEANING : OTLP_1_10, last = json ? OTLP_MEANING : OTLP_1_3;
    struct verdict *v = fk_arena_array(q->d->arena, 2, sizeof(*v)), *best = v;
    enum otlp_layout rival = OTLP_LAYOUTS;
    if (!v)
        return fk_decoding_nomem(q->d, err);
    best->grade = BROKEN;
    for (int l = first; l >= last; l--) {
        struct verdict *now = l == first ? &v[0] : best == &v[0] ? &v[1] : &v[0];
        if (judge(q, (enum otlp_layout)l, now))
            return fk_decoding_nomem(q->d, err);
        if (l == OTLP_1_10)
            q->shared = now->q.shared;
        // An index that is wrong does not make another revision out of samples that fit it badly.
        if (now->grade == ODD && best->grade == BEYOND && l != first)
            continue;
        if (l == first || now->grade > best->grade) {
            best = now;
            rival = OTLP_LAYOUTS;
        } else if (now->grade == best->grade && !reads_alike(best->q.map.layout, now->q.map.layout))
            rival = (enum otlp_layout)l;
    }
    if (best->grade <= BEYOND)
        return refuse(best, err);
    if (rival != OTLP_LAYOUTS && best->telling)
        fk_report_warn(q->d->report, "OTLP revision not certain, the newest that fits is taken", 1,
                       "read as %s; it could also be %s", otlp_layout_name(best->q.map.layout),
                       otlp_layout_name(rival));
    *q = best->q;
    return 0;
}
