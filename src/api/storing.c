// SPDX-License-Identifier: Apache-2.0
// From bytes to stored profiles: decode, accept, append, and the receipt that says what became of
// them.
#include "api/flights_int.h"
#include "api/rejects_int.h"

#include <stdio.h>

struct storing {
    struct fk_api_call *c;
    struct fk_store_ask *ask;
    struct fk_receipt *to;
    uint64_t index; // of the profile within the bytes
    struct fk_str bytes;
    bool asked; // for the original to be kept, with or without success
    struct fk_flights flights;
};

// Profiles of one call that may be on their way at once, where one that fails does not end the
// whole.
#define FLIGHTS 64

static int grow(struct fk_api_call *c, struct fk_receipt *r)
{
    if (r->n < r->cap)
        return 0;
    size_t cap = r->cap ? r->cap * 2 : 4;
    struct fk_stored *v = fk_arena_array(c->arena, cap, sizeof(*v));
    if (!v)
        return -FK_E_NOMEM;
    if (r->n)
        memcpy(v, r->v, r->n * sizeof(*v));
    r->v = v;
    r->cap = cap;
    return 0;
}

// Copies what the receipt says: the decode arena goes before it is written.
static int note_stored(struct storing *x, struct fk_id id, const struct fk_entry *e, bool arrival,
                       struct fk_err *err)
{
    struct fk_arena *a = x->c->arena;
    struct fk_stored s = {.id = id,
                          .time_ns = e->time_ns,
                          .duration_ns = e->duration_ns,
                          .n_types = e->n_types,
                          .samples = e->samples,
                          .arrival = arrival};
    s.type = fk_arena_array(a, FK_MAX(e->n_types, 1u), sizeof(*s.type));
    s.type_id = fk_arena_array(a, FK_MAX(e->n_types, 1u), sizeof(*s.type_id));
    if (!s.type || !s.type_id || grow(x->c, x->to) || fk_labels_copy(a, &e->labels, &s.labels, err))
        return fk_fail_nomem(err);
    for (uint32_t k = 0; k < e->n_types; k++) {
        s.type[k] = (struct fk_entry_type){.total = e->type[k].total, .kind = e->type[k].kind};
        s.type_id[k] = fk_entry_type_id(a, e, k);
    }
    x->to->v[x->to->n++] = s;
    return 0;
}

// The first profile that is accepted has the bytes kept that it came in; all of them say where.
static int keep_original(struct storing *x, struct fk_err *err)
{
    struct fk_api_call *c = x->c;
    struct fk_accept_opts *o = &x->ask->accept;
    char name[FK_ORIGINAL_NAME];
    struct fk_err why;
    if (x->asked || !x->ask->keep_original)
        return 0;
    x->asked = true;
    if (fk_store_keep_original(c->api->opts.store, x->bytes, name, &why)) {
        if (why.code != FK_E_UNSUPPORTED)
            fk_report_warn(&x->to->report, "the uploaded bytes were not kept", 1, "%s", why.msg);
        return 0;
    }
    struct fk_label *v = fk_arena_array(c->arena, o->n_annotations + 1, sizeof(*v));
    struct fk_str copy = fk_arena_str(c->arena, fk_str_of(name));
    if (!v || !copy.p)
        return fk_fail_nomem(err);
    if (o->n_annotations)
        memcpy(v, o->annotation, o->n_annotations * sizeof(*v));
    v[o->n_annotations++] = (struct fk_label){FK_S("original"), copy};
    o->annotation = v;
    return 0;
}

// ---- on the way ----

static bool is_own_fault(int r)
{
    return r == -FK_E_LIMIT || r == -FK_E_INVALID || r == -FK_E_FORMAT;
}

// What is wrong with one profile ends the whole, or is counted and the others go on.
static int note_failure(struct storing *x, int r, const struct fk_err *why, struct fk_err *err)
{
    if (r && x->ask->one_by_one && is_own_fault(r)) {
        x->c->api->refused_profiles++;
        if (x->ask->refused++ == 0)
            x->ask->first_refusal = *why;
        return 0;
    }
    if (r && err)
        *err = *why;
    return r;
}

static int note_landed(struct storing *x, const struct fk_flight *f, struct fk_err *err)
{
    struct fk_api *api = x->c->api;
    // Without a time of its own it may be another one.
    if (f->seen)
        fk_seen_end(api->seen, &f->key, f->code || f->arrival ? NULL : &f->id);
    if (f->code)
        return note_failure(x, f->code, &f->err, err);
    api->stored_profiles++;
    api->stored_samples += f->entry.samples;
    if (f->arrival)
        fk_report_warn(&x->to->report, "no time in the profile: the time of arrival is taken", 1,
                       "%s", "");
    return note_stored(x, f->id, &f->entry, f->arrival, err);
}

// Waits until at most `most` are on their way. All land, whatever becomes of them; the first
// failure is told.
static int land(struct storing *x, size_t most, struct fk_err *err)
{
    int first = 0;
    while (x->flights.n > most) {
        struct fk_err why = {0};
        struct fk_flight *f = fk_flight_land(&x->flights);
        int r = note_landed(x, f, &why);
        fk_flight_free(f);
        if (r && !first) {
            first = r;
            if (err)
                *err = why;
        }
    }
    return first;
}

static int start(struct storing *x, struct fk_flight *f, struct fk_err *err)
{
    struct fk_api *api = x->c->api;
    struct fk_str tenant = x->ask->tenant.p ? x->ask->tenant : x->c->tenant;
    int r = fk_flight_start(&x->flights, f, api->opts.store, tenant, err);
    if (r && f->seen)
        fk_seen_end(api->seen, &f->key, NULL);
    if (r)
        fk_flight_free(f);
    return r;
}

// The same bytes again give the same profiles at the same places: what was stored of them is not
// stored twice, also when the first time ended in the middle; the receipt names the first ones.
static bool is_repeated(struct storing *x, struct fk_flight *f)
{
    if (!x->ask->seen)
        return false;
    f->key = *x->ask->seen;
    f->key.b ^= fk_hash_u64(++x->index);
    f->seen = fk_seen_begin(x->c->api->seen, &f->key, &f->id);
    return !f->seen;
}

static int note_repeated(struct storing *x, struct fk_flight *f, struct fk_err *err)
{
    int r = land(x, 0, err); // the receipt keeps the order
    x->c->api->repeated_profiles++;
    x->ask->repeated++;
    if (r == 0)
        r = note_stored(x, f->id, &f->entry, f->arrival, err);
    fk_flight_free(f);
    return r;
}

// ---- one profile ----

static int accept(struct storing *x, struct fk_flight *f, struct fk_err *err)
{
    if (x->ask->name)
        x->ask->accept.name = x->ask->name(x->ask->name_arg, &f->value);
    int r = keep_original(x, err);
    return r ? r : fk_accept(&x->ask->accept, &f->arena, &f->entry, &f->value, &f->arrival, err);
}

static int accept_and_start(struct storing *x, const struct fk_entry *e, const struct fk_profile *p,
                            struct fk_err *err)
{
    struct fk_flight *f = fk_flight_new(e, p);
    if (!f)
        return fk_fail_nomem(err);
    int r = accept(x, f, err);
    if (r) {
        fk_flight_free(f);
        return r;
    }
    return is_repeated(x, f) ? note_repeated(x, f, err) : start(x, f, err);
}

static int on_profile(void *arg, struct fk_entry *e, struct fk_profile *p, struct fk_err *err)
{
    struct storing *x = arg;
    struct fk_err why = {0};
    int r = note_failure(x, accept_and_start(x, e, p, &why), &why, err);
    return r ? r : land(x, x->ask->one_by_one ? FLIGHTS - 1 : 0, err);
}

static int decode_and_store(struct storing *x, size_t *ret_used, struct fk_err *err)
{
    FK_AUTO_ARENA a;
    fk_arena_init(&a, (size_t)x->c->api->opts.limits.decode_memory);
    int r = fk_decode(x->ask->format, x->bytes, &x->ask->decode, &a,
                      (struct fk_each_profile){on_profile, x}, &x->to->report, err);
    int landed = land(x, 0, r ? NULL : err); // before what they point to goes
    *ret_used = a.used;
    return r ? r : landed;
}

// What was decoded out of so many bytes may have taken a multiple of them.
#define LARGE ((size_t)1 << 20)

int fk_call_store(struct fk_api_call *c, struct fk_str bytes, struct fk_store_ask *ask,
                  struct fk_receipt *to, struct fk_err *err)
{
    struct storing x = {.c = c, .ask = ask, .to = to, .bytes = bytes};
    size_t used = 0;
    ask->accept.limits = &c->api->opts.limits;
    ask->accept.now_ns = c->now_ns;
    ask->keep_original |= c->api->opts.originals == FK_ORIGINALS_ALL;
    int r = decode_and_store(&x, &used, err);
    if (bytes.n >= LARGE || used >= 8 * LARGE)
        fk_process_give_memory_back();
    if (r == 0 && fk_report_dropped(&to->report))
        fk_rejects_note_dropped(c, &to->report);
    c->api->dropped_samples += fk_report_dropped(&to->report);
    c->api->refused_profiles += r != 0;
    return r;
}

// ---- receipt ----

static void put_stored(struct fk_json *w, const struct fk_stored *s)
{
    fk_json_object(w);
    fk_json_k(w, "id");
    fk_json_id(w, s->id);
    fk_json_k(w, "time");
    fk_json_time(w, s->time_ns);
    fk_json_k(w, "duration_ns");
    fk_json_i64(w, s->duration_ns);
    fk_json_k(w, "labels");
    fk_json_labels(w, &s->labels, false);
    fk_json_k(w, "types");
    fk_json_array(w);
    for (uint32_t k = 0; k < s->n_types; k++) {
        fk_json_object(w);
        fk_json_k(w, "type");
        fk_json_str(w, s->type_id[k]);
        fk_json_k(w, "samples");
        fk_json_u64(w, s->samples);
        fk_json_k(w, "total");
        fk_json_i64(w, s->type[k].total);
        fk_json_object_end(w);
    }
    fk_json_array_end(w);
    fk_json_object_end(w);
}

static void put_warning(struct fk_json *w, const struct fk_report_item *i)
{
    char text[300];
    snprintf(text, sizeof(text), "%s (%llu)%s%s", i->reason, (unsigned long long)i->count,
             i->detail[0] ? ": " : "", i->detail);
    fk_json_str(w, fk_str_of(text));
}

void fk_json_receipt(struct fk_json *w, const struct fk_receipt *r)
{
    fk_json_k(w, "format");
    fk_json_str(w, fk_str_of(fk_format_name(r->report.format)));
    fk_json_k(w, "profiles");
    fk_json_array(w);
    for (size_t i = 0; i < r->n; i++)
        put_stored(w, &r->v[i]);
    fk_json_array_end(w);
    fk_json_k(w, "dropped");
    fk_json_array(w);
    for (uint32_t i = 0; i < r->report.n; i++) {
        const struct fk_report_item *x = &r->report.item[i];
        if (!x->dropped)
            continue;
        fk_json_object(w);
        fk_json_k(w, "reason");
        fk_json_str(w, fk_str_of(x->reason));
        fk_json_k(w, "count");
        fk_json_u64(w, x->count);
        if (x->detail[0]) {
            fk_json_k(w, "detail");
            fk_json_str(w, fk_str_of(x->detail));
        }
        fk_json_object_end(w);
    }
    fk_json_array_end(w);
    fk_json_k(w, "warnings");
    fk_json_array(w);
    for (uint32_t i = 0; i < r->report.n; i++)
        if (!r->report.item[i].dropped)
            put_warning(w, &r->report.item[i]);
    fk_json_array_end(w);
}
