// SPDX-License-Identifier: Apache-2.0
// Generated profiles, and a canonical text of a profile: two profiles with the same text carry the
// same facts, whatever their ids and order.
#ifndef FK_TESTS_SUPPORT_PROFILES_H
#define FK_TESTS_SUPPORT_PROFILES_H

#include "model/model.h"

// A small deterministic generator (xorshift).
struct fk_rng {
    uint64_t s;
};
uint64_t fk_rng_next(struct fk_rng *r);
uint32_t fk_rng_below(struct fk_rng *r, uint32_t n);

// What a generated profile has; all from the seed.
struct fk_gen {
    uint32_t rows, types, depth, functions; // at most
    bool times, observations, attributes, negative, mappings;
};
// Columns live in the arena. NULL-free; aborts the test on failure.
void fk_gen_profile(struct fk_rng *rng, const struct fk_gen *g, struct fk_arena *a,
                    struct fk_profile *ret);
// An entry for it: service_name = service, pod = pod-N, __name__; time as given; types and totals
// of the profile.
void fk_gen_entry(const struct fk_profile *p, const char *service, uint32_t pod, int64_t time_ns,
                  struct fk_arena *a, struct fk_entry *ret);
// Appends the canonical text.
void fk_profile_text(const struct fk_profile *p, struct fk_buf *to);

#endif
