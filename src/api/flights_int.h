// SPDX-License-Identifier: Apache-2.0
// Profiles of one call on their way to the disk: appended, not yet known to be durable. Many of
// them then share a commit. Oldest first; one thread.
#ifndef FK_API_FLIGHTS_INT_H
#define FK_API_FLIGHTS_INT_H

#include "api/seen_int.h"

struct fk_flight {
    struct fk_flight *next;
    struct fk_arena arena;   // of what was accepted
    struct fk_entry entry;   // copies: the decoder's own go with its callback, while all that
    struct fk_profile value; // they point to stays in its arena
    bool arrival;
    bool seen; // of these bytes before; key is told how it went
    struct fk_seen_key key;
    struct fk_event over;
    int code; // of the commit
    struct fk_id id;
    struct fk_err err;
};

struct fk_flights {
    struct fk_flight *first, *last;
    size_t n;
};

// NULL: no memory.
struct fk_flight *fk_flight_new(const struct fk_entry *e, const struct fk_profile *p);
void fk_flight_free(struct fk_flight *f);
// Sends it off: from here on it is the list's. On failure it stays the caller's.
int fk_flight_start(struct fk_flights *all, struct fk_flight *f, struct fk_store *store,
                    struct fk_str tenant, struct fk_err *err);
// Waits for the oldest and takes it out; the caller frees it. NULL: there is none.
struct fk_flight *fk_flight_land(struct fk_flights *all);

#endif
