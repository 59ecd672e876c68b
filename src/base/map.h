// SPDX-License-Identifier: Apache-2.0
// An index from hash to u32 id: the keys live in the caller's own arrays (columns), the table holds
// {tag, id} only.
//
//   struct fk_map m = {0};
//   uint64_t h = fk_hash_str(key);
//   for (uint32_t at = fk_map_first(&m, h); at != FK_NONE; at = fk_map_next(&m, h, at))
//       if (fk_str_eq(name[fk_map_id(&m, at)], key)) return fk_map_id(&m, at);
//   if (fk_map_add(&m, h, new_id)) return nomem;
//
// Linear probing over 8-byte slots; a slot's place is derived from its tag alone, so that growing
// never asks for keys. Ids are below 2^32 - 1. Nothing is removed.
#ifndef FK_BASE_MAP_H
#define FK_BASE_MAP_H

#include "base/check.h"

#define FK_NONE UINT32_MAX

struct fk_map_slot {
    uint32_t tag; // upper half of the hash
    uint32_t id;  // id + 1; 0 is an empty slot
};

struct fk_map {
    struct fk_map_slot *slot; // owned
    uint32_t mask;            // slots - 1, slots a power of two; 0 when empty
    uint32_t n;               // entries
};

void fk_map_free(struct fk_map *m);
// 0, or -FK_E_NOMEM with the table as it was.
int fk_map_add(struct fk_map *m, uint64_t hash, uint32_t id) FK_MUST_USE;
// Room for n entries in all.
int fk_map_reserve(struct fk_map *m, uint32_t n) FK_MUST_USE;

static inline uint32_t fk_map_find_(const struct fk_map *m, uint32_t tag, uint32_t at)
{
    for (;; at = (at + 1) & m->mask) {
        if (m->slot[at].id == 0)
            return FK_NONE;
        if (m->slot[at].tag == tag)
            return at;
    }
}

static inline uint32_t fk_map_first(const struct fk_map *m, uint64_t hash)
{
    uint32_t tag = (uint32_t)(hash >> 32);
    return m->slot ? fk_map_find_(m, tag, tag & m->mask) : FK_NONE;
}

static inline uint32_t fk_map_next(const struct fk_map *m, uint64_t hash, uint32_t at)
{
    return fk_map_find_(m, (uint32_t)(hash >> 32), (at + 1) & m->mask);
}

// For many lookups in a row, so that their cache misses overlap: first all slots are fetched, then
// what the ids in them stand for.
static inline void fk_map_prefetch(const struct fk_map *m, uint64_t hash)
{
    if (m->slot)
        __builtin_prefetch(&m->slot[(uint32_t)(hash >> 32) & m->mask]);
}

// The id in the slot where the search begins, a likely one; FK_NONE when that is empty.
static inline uint32_t fk_map_guess(const struct fk_map *m, uint64_t hash)
{
    return m->slot ? m->slot[(uint32_t)(hash >> 32) & m->mask].id - 1 : FK_NONE;
}

static inline uint32_t fk_map_id(const struct fk_map *m, uint32_t at)
{
    return m->slot[at].id - 1;
}

#endif
