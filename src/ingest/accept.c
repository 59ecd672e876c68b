// SPDX-License-Identifier: Apache-2.0
// Accepting a profile: labels, name, times, kinds.
#include "ingest/ingest.h"

#define YEAR_1990_NS ((int64_t)631152000 * FK_NS_PER_S)

// ---- labels ----

static bool is_virtual(struct fk_str name)
{
    static const char *const names[] = {"__type__",        "__unit__",        "__profile_type__",
                                        "__period_type__", "__period_unit__", "__delta__",
                                        "__order__"};
    for (size_t i = 0; i < FK_COUNTOF(names); i++)
        if (fk_str_eq(name, fk_str_of(names[i])))
            return true;
    return false;
}

static int check_label(const struct fk_limits *l, const struct fk_label *x, struct fk_err *err)
{
    struct fk_str shown = fk_str_head(x->name, 80);
    if (x->name.n == 0)
        return fk_fail_param(err, "labels", "a label has an empty name (its value is '%.*s')",
                             FK_STR_ARG(fk_str_head(x->value, 80)));
    if (x->name.n > l->label_name)
        return fk_fail_limit(err, "labels", l->label_name, FK_LIMIT_FLAG(label_name),
                             "the label name '%.*s...' has %zu bytes", FK_STR_ARG(shown),
                             x->name.n);
    if (x->value.n > l->label_value)
        return fk_fail_limit(err, "labels", l->label_value, FK_LIMIT_FLAG(label_value),
                             "the value of label '%.*s' has %zu bytes", FK_STR_ARG(shown),
                             x->value.n);
    if (!fk_str_is_utf8(x->name) || !fk_str_is_utf8(x->value))
        return fk_fail_param(err, "labels", "name or value of label '%.*s' is not valid UTF-8",
                             FK_STR_ARG(shown));
    return 0;
}

static int check_duplicates(const struct fk_label *v, size_t n, struct fk_err *err)
{
    for (size_t i = 0; i < n; i++)
        for (size_t k = i + 1; k < n; k++)
            if (fk_str_eq(v[i].name, v[k].name) && !fk_str_eq(v[i].value, v[k].value))
                return fk_fail_param(
                    err, "labels", "the label '%.*s' is there twice, as '%.*s' and as '%.*s'",
                    FK_STR_ARG(fk_str_head(v[i].name, 60)), FK_STR_ARG(fk_str_head(v[i].value, 60)),
                    FK_STR_ARG(fk_str_head(v[k].value, 60)));
    return 0;
}

static bool has_label(const struct fk_label *v, size_t n, struct fk_str name)
{
    for (size_t i = 0; i < n; i++)
        if (fk_str_eq(v[i].name, name) && v[i].value.n)
            return true;
    return false;
}

// godeltaprof sends memory as godeltaprof_memory: the same profile, made delta by the client.
static void strip_delta_prefix(struct fk_label *v, size_t n, bool *is_delta)
{
    const struct fk_str prefix = FK_S("godeltaprof_");
    for (size_t i = 0; i < n; i++)
        if (fk_str_eq(v[i].name, FK_S("__name__")) && fk_str_starts(v[i].value, prefix)) {
            v[i].value = fk_str_from(v[i].value, prefix.n);
            *is_delta = true;
        }
}

static int accept_labels(const struct fk_accept_opts *o, struct fk_arena *a,
                         const struct fk_profile *p, struct fk_entry *e, bool *is_delta,
                         struct fk_err *err)
{
    size_t n = 0;
    struct fk_label *v = fk_arena_array(a, e->labels.n + o->n_labels + 2, sizeof(*v));
    if (!v)
        return fk_fail_nomem(err);
    for (size_t i = 0; i < e->labels.n + o->n_labels; i++) {
        bool own = i < e->labels.n; // said by the bytes: the request has the last word
        const struct fk_label *x = own ? &e->labels.v[i] : &o->label[i - e->labels.n];
        if (own && has_label(o->label, o->n_labels, x->name))
            continue;
        int r = check_label(o->limits, x, err);
        if (r)
            return r;
        *is_delta |= fk_str_eq(x->name, FK_S("__delta__")) && fk_str_eq(x->value, FK_S("false"));
        if (!is_virtual(x->name))
            v[n++] = *x;
    }
    if (n > o->limits->labels)
        return fk_fail_limit(err, "labels", o->limits->labels, FK_LIMIT_FLAG(labels),
                             "the profile has %zu labels", n);
    int r = check_duplicates(v, n, err);
    if (r)
        return r;
    strip_delta_prefix(v, n, is_delta);
    if (!has_label(v, n, FK_S("service_name")))
        v[n++] = (struct fk_label){FK_S("service_name"), FK_S("unknown_service")};
    if (!has_label(v, n, FK_S("__name__")))
        v[n++] = (struct fk_label){FK_S("__name__"), o->name.n ? o->name : fk_profile_name(p)};
    return fk_labels_make(a, v, n, &e->labels, err);
}

// ---- times ----

static int accept_times(const struct fk_accept_opts *o, struct fk_entry *e,
                        const struct fk_profile *p, bool *ret_arrival, struct fk_err *err)
{
    int64_t time = o->time_ns ? o->time_ns : p->time_ns_start;
    int64_t duration = o->duration_ns ? o->duration_ns : p->duration_ns;
    if (duration == 0 && o->from_ns && o->until_ns > o->from_ns)
        duration = o->until_ns - o->from_ns;
    duration = FK_MAX(duration, (int64_t)0); // broken clocks and numbers of 64 bits give others
    if (time < YEAR_1990_NS && o->from_ns >= YEAR_1990_NS)
        time = o->from_ns;
    bool arrival = time < YEAR_1990_NS;
    if (arrival)
        time = o->now_ns - (duration > 0 && duration < o->now_ns ? duration : 0);
    if (o->push && time > o->now_ns && (uint64_t)(time - o->now_ns) > o->limits->future) {
        char text[FK_TIME_CHARS + 1];
        fk_time_format(time, text);
        return fk_fail_limit(
            err, "time", o->limits->future, FK_LIMIT_FLAG(future),
            "the profile's time %s lies in the future: check the clock of the sending machine",
            text);
    }
    e->time_ns = time;
    e->duration_ns = duration;
    e->received_ns = o->now_ns;
    e->flags =
        arrival ? e->flags | FK_ENTRY_TIME_ARRIVAL : e->flags & ~(uint32_t)FK_ENTRY_TIME_ARRIVAL;
    if (ret_arrival)
        *ret_arrival = arrival;
    return 0;
}

// Sources without a Unix clock (perf, V8, speedscope ...) count from an unknown start: their first
// observation is put at the entry's time. What a pprof calls time stays as it is.
static int place_times(struct fk_arena *a, const struct fk_entry *e, struct fk_profile *p,
                       struct fk_err *err)
{
    int64_t first = INT64_MAX, last = INT64_MIN;
    if (!p->time_ns || p->time_key.n)
        return 0;
    for (uint64_t i = 0; i < p->n_obs; i++)
        if (p->time_ns[i] != FK_NO_TIME) {
            first = FK_MIN(first, p->time_ns[i]);
            last = FK_MAX(last, p->time_ns[i]);
        }
    if (first > last || last >= YEAR_1990_NS)
        return 0;
    int64_t *to = fk_arena_array(a, p->n_obs, sizeof(*to)), shift = fk_wrap_sub(e->time_ns, first);
    if (!to)
        return fk_fail_nomem(err);
    for (uint64_t i = 0; i < p->n_obs; i++)
        to[i] = p->time_ns[i] == FK_NO_TIME ? FK_NO_TIME : fk_wrap_add(p->time_ns[i], shift);
    p->time_ns = to;
    return 0;
}

// ---- kinds ----

static int accept_kinds(struct fk_arena *a, struct fk_entry *e, struct fk_profile *p, bool is_delta,
                        struct fk_err *err)
{
    struct fk_value_type *type = fk_arena_array(a, FK_MAX(p->n_types, 1u), sizeof(*type));
    struct fk_entry_type *total = fk_arena_array(a, FK_MAX(p->n_types, 1u), sizeof(*total));
    if (!type || !total)
        return fk_fail_nomem(err);
    for (uint32_t t = 0; t < p->n_types; t++) {
        type[t] = p->type[t];
        type[t].kind = fk_kind_of(type[t].type, e->duration_ns != 0, is_delta);
        total[t] = (struct fk_entry_type){type[t].type, type[t].unit, type[t].kind,
                                          fk_profile_total(p, t)};
    }
    p->type = type;
    e->type = total;
    e->n_types = p->n_types;
    return 0;
}

int fk_accept(const struct fk_accept_opts *o, struct fk_arena *a, struct fk_entry *e,
              struct fk_profile *p, bool *ret_arrival, struct fk_err *err)
{
    bool is_delta = false;
    int r;
    if ((r = accept_labels(o, a, p, e, &is_delta, err)) ||
        (r = accept_times(o, e, p, ret_arrival, err)) || (r = place_times(a, e, p, err)) ||
        (r = accept_kinds(a, e, p, is_delta, err)))
        return r;
    e->period_type = p->period_type;
    e->period_unit = p->period_unit;
    if (p->time_ns)
        e->flags |= FK_ENTRY_HAS_TIME;
    if (p->truncated)
        e->flags |= FK_ENTRY_TRUNCATED;
    return fk_labels_make(a, o->annotation, o->n_annotations, &e->annotations, err);
}
