// SPDX-License-Identifier: Apache-2.0
// Recent pushes (architecture.md §7 "Retries").
#ifndef FK_API_SEEN_INT_H
#define FK_API_SEEN_INT_H

#include "api/api_int.h"

#define FK_SEEN_MAX 100000u

struct fk_seen_key {
    uint64_t a, b; // hash of tenant, labels, times and decoded parts
};
struct fk_api_seen *fk_seen_new(void);
void fk_seen_free(struct fk_api_seen *s);
// True: not seen before, the caller stores it and then calls end. False: an equal one was stored
// already, under *ret_id. Waits for a twin on its way.
bool fk_seen_begin(struct fk_api_seen *s, const struct fk_seen_key *k, struct fk_id *ret_id);
// stored: its id; NULL: it was not, and the next one is tried.
void fk_seen_end(struct fk_api_seen *s, const struct fk_seen_key *k, const struct fk_id *stored);

#endif
