// SPDX-License-Identifier: Apache-2.0
// Growing the index: at a load of 3/4 the slots double and are placed anew by their tags.
#include "base/map.h"

#include "base/err.h"
#include "base/mem.h"

void fk_map_free(struct fk_map *m)
{
    fk_free(m->slot);
    *m = (struct fk_map){0};
}

static void place(struct fk_map_slot *slot, uint32_t mask, struct fk_map_slot s)
{
    uint32_t at = s.tag & mask;
    while (slot[at].id)
        at = (at + 1) & mask;
    slot[at] = s;
}

static int resize(struct fk_map *m, uint64_t slots)
{
    if (slots > (uint64_t)1 << 32)
        return -FK_E_NOMEM;
    struct fk_map_slot *slot = fk_calloc(slots, sizeof(*slot));
    if (!slot)
        return -FK_E_NOMEM;
    uint32_t mask = (uint32_t)(slots - 1);
    for (uint64_t i = 0; m->slot && i <= m->mask; i++)
        if (m->slot[i].id)
            place(slot, mask, m->slot[i]);
    fk_free(m->slot);
    m->slot = slot;
    m->mask = mask;
    return 0;
}

int fk_map_reserve(struct fk_map *m, uint32_t n)
{
    uint64_t slots = 16;
    while (slots / 4 * 3 < n)
        slots *= 2;
    if (m->slot && slots <= (uint64_t)m->mask + 1)
        return 0;
    return resize(m, slots);
}

int fk_map_add(struct fk_map *m, uint64_t hash, uint32_t id)
{
    if (id == FK_NONE || m->n == FK_NONE)
        return -FK_E_NOMEM;
    int r = fk_map_reserve(m, m->n + 1);
    if (r)
        return r;
    place(m->slot, m->mask, (struct fk_map_slot){(uint32_t)(hash >> 32), id + 1});
    m->n++;
    return 0;
}
