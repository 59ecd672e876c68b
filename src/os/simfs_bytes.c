// SPDX-License-Identifier: Apache-2.0
// Paged contents of simulated files.
#include "os/simfs_int.h"

static int need_pages(struct sim_bytes *b, uint64_t end)
{
    size_t want = (size_t)((end + SIM_PAGE - 1) / SIM_PAGE);
    if (want <= b->pages)
        return 0;
    want = FK_MAX(want, b->pages + b->pages / 2);
    uint8_t **page = fk_reallocarray(b->page, want, sizeof(*page));
    if (!page)
        return -FK_E_NOMEM;
    memset(page + b->pages, 0, (want - b->pages) * sizeof(*page));
    b->page = page;
    b->pages = want;
    return 0;
}

int sim_bytes_write(struct sim_bytes *b, uint64_t offset, const void *p, size_t n)
{
    const uint8_t *from = p;
    if (n == 0)
        return 0;
    if (need_pages(b, offset + n))
        return -FK_E_NOMEM;
    for (uint64_t i = offset / SIM_PAGE; i <= (offset + n - 1) / SIM_PAGE; i++)
        if (!b->page[i] && !(b->page[i] = fk_calloc(1, SIM_PAGE)))
            return -FK_E_NOMEM;
    b->size = FK_MAX(b->size, offset + n);
    while (n) {
        size_t at = offset % SIM_PAGE, part = FK_MIN(n, SIM_PAGE - at);
        memcpy(b->page[offset / SIM_PAGE] + at, from, part);
        from += part;
        offset += part;
        n -= part;
    }
    return 0;
}

void sim_bytes_read(const struct sim_bytes *b, uint64_t offset, void *to, size_t n)
{
    uint8_t *out = to;
    while (n) {
        size_t at = offset % SIM_PAGE, part = FK_MIN(n, SIM_PAGE - at);
        uint64_t i = offset / SIM_PAGE;
        if (i < b->pages && b->page[i])
            memcpy(out, b->page[i] + at, part);
        else
            memset(out, 0, part);
        out += part;
        offset += part;
        n -= part;
    }
}

// What is cut off must read as zeros when the file grows again.
void sim_bytes_resize(struct sim_bytes *b, uint64_t size)
{
    for (uint64_t i = (size + SIM_PAGE - 1) / SIM_PAGE; i < b->pages; i++) {
        fk_free(b->page[i]);
        b->page[i] = NULL;
    }
    size_t at = size % SIM_PAGE;
    if (at && size / SIM_PAGE < b->pages && b->page[size / SIM_PAGE])
        memset(b->page[size / SIM_PAGE] + at, 0, SIM_PAGE - at);
    b->size = size;
}

int sim_bytes_copy(const struct sim_bytes *from, struct sim_bytes *ret)
{
    struct sim_bytes to = {.size = from->size, .pages = from->pages};
    to.page = fk_calloc(from->pages, sizeof(*to.page));
    bool good = to.page != NULL;
    for (size_t i = 0; good && i < from->pages; i++)
        if (from->page[i])
            good = (to.page[i] = fk_memdup(from->page[i], SIM_PAGE)) != NULL;
    if (!good) {
        sim_bytes_free(&to);
        return -FK_E_NOMEM;
    }
    *ret = to;
    return 0;
}

void sim_bytes_free(struct sim_bytes *b)
{
    for (size_t i = 0; b->page && i < b->pages; i++)
        fk_free(b->page[i]);
    fk_free(b->page);
    *b = (struct sim_bytes){0};
}
