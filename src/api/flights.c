// SPDX-License-Identifier: Apache-2.0
// Appending without waiting for each.
#include "api/flights_int.h"

struct fk_flight *fk_flight_new(const struct fk_entry *e, const struct fk_profile *p)
{
    struct fk_flight *f = fk_calloc(1, sizeof(*f));
    if (!f)
        return NULL;
    fk_arena_init(&f->arena, 0);
    f->entry = *e;
    f->value = *p;
    return f;
}

void fk_flight_free(struct fk_flight *f)
{
    if (!f)
        return;
    fk_arena_free(&f->arena);
    fk_free(f);
}

// From the committer.
static void on_done(void *arg, int code, struct fk_id id, const struct fk_err *err)
{
    struct fk_flight *f = arg;
    f->code = code;
    f->id = id;
    if (code && err)
        f->err = *err;
    fk_event_set(&f->over);
}

int fk_flight_start(struct fk_flights *all, struct fk_flight *f, struct fk_store *store,
                    struct fk_str tenant, struct fk_err *err)
{
    fk_event_init(&f->over);
    int r = fk_store_append(store, tenant, &f->entry, &f->value, on_done, f, err);
    if (r)
        return r;
    if (all->last)
        all->last->next = f;
    else
        all->first = f;
    all->last = f;
    all->n++;
    return 0;
}

struct fk_flight *fk_flight_land(struct fk_flights *all)
{
    struct fk_flight *f = all->first;
    if (!f)
        return NULL;
    fk_event_wait(&f->over);
    all->first = f->next;
    if (!all->first)
        all->last = NULL;
    all->n--;
    return f;
}
