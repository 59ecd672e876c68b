// SPDX-License-Identifier: Apache-2.0
// Sealed blocks: everything that can be asked of an open block, and what verify accepts can be read
// in full. Checksums would hide all that lies behind them, so the first byte says whether they are
// made right before the block is opened (a footer's and a section's checksum prove no honesty).
#include "block/container_int.h"
#include "fuzz.h"

#define TAIL 48u // bytes of the container's tail; its checksum lies at 24

static void store64(uint8_t *to, uint64_t v)
{
    memcpy(to, &v, sizeof(v));
}

// Sums of the sections as the directory names them; where the directory is no directory, none.
static void mend_sections(uint8_t *p, uint8_t *directory, size_t n, uint64_t end)
{
    struct fk_cur c = {directory, directory + n};
    while (fk_cur_left(&c)) {
        uint64_t v[6], old;
        for (int i = 0; i < 6; i++)
            if (fk_cur_varint(&c, &v[i]))
                return;
        if (fk_cur_le64(&c, &old))
            return;
        if (fk_in_range(v[3], v[4], end))
            store64(directory + (c.p - directory) - 8, fk_hash_bytes(p + v[3], (size_t)v[4]));
    }
}

static void mend(uint8_t *p, size_t n)
{
    if (n < TAIL)
        return;
    uint8_t *tail = p + n - TAIL;
    uint64_t at = fk_load64((char *)tail), directory = fk_load64((char *)tail + 8);
    if (at > n - TAIL)
        return;
    if (directory <= n - TAIL - at)
        mend_sections(p, p + at, (size_t)directory, at);
    store64(tail + 24, fk_hash_bytes(p + at, (size_t)(n - TAIL - at)));
}

static void read_rows(struct fk_block *b, uint32_t i, const struct fk_dataset *tables,
                      const struct fk_symbols *sym, bool verified)
{
    struct fk_page *page = calloc(1, sizeof(*page));
    struct fk_samples s = {0};
    for (uint32_t k = 0; page && k < fk_block_pages(b, i) && k < 8; k++) {
        struct fk_page_bounds bounds;
        int r = fk_block_page_bounds(b, i, k, &bounds, NULL);
        FK_FUZZ_CHECK(r == 0 || !verified);
        r = fk_block_page(b, i, k, page, NULL);
        FK_FUZZ_CHECK(r == 0 || !verified);
        for (uint32_t j = 0; r == 0 && j < page->n && j < 8; j++) {
            FK_AUTO_ARENA a;
            struct fk_profile p;
            struct fk_entry e;
            fk_arena_init(&a, (size_t)64 << 20);
            (void)fk_row_entry(&page->row[j], tables, &a, &e, NULL);
            r = fk_row_profile(&page->row[j], tables, sym, &s, &a, &p, NULL);
            FK_FUZZ_CHECK(r == 0 || r == -FK_E_NOMEM || !verified);
        }
    }
    if (page)
        fk_page_free(page);
    free(page);
    fk_samples_free(&s);
}

static void read_all(struct fk_block *b, bool verified)
{
    const struct fk_block_info *info = fk_block_get_info(b);
    for (uint32_t i = 0; i < info->n_datasets && i < 8; i++) {
        FK_AUTO_ARENA a;
        const struct fk_dataset *tables = NULL;
        struct fk_symbols sym;
        uint64_t offset, length;
        fk_arena_init(&a, (size_t)64 << 20);
        FK_FUZZ_CHECK(fk_block_service(b, i).n <= info->bytes);
        fk_block_dataset_range(b, i, &offset, &length);
        int r = fk_block_dataset(b, i, &tables, NULL);
        FK_FUZZ_CHECK(r == 0 || !verified);
        if (r)
            continue;
        r = fk_block_symbols(b, i, &a, &sym, NULL);
        FK_FUZZ_CHECK(r == 0 || r == -FK_E_NOMEM || !verified);
        if (r == 0)
            read_rows(b, i, tables, &sym, verified);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fk_block *b = NULL;
    struct fk_err err = {0};
    if (size < 1)
        return 0;
    uint8_t *copy = malloc(size); // exact, so that a sanitizer sees the end
    if (!copy)
        return 0;
    size_t n = size - 1;
    memcpy(copy, data + 1, n);
    if (data[0] & 1)
        mend(copy, n);
    struct fk_str bytes = fk_str_make(copy, n);
    if (fk_block_open(fk_source_bytes(&bytes), &b, &err) == 0) {
        bool verified = fk_block_verify(b, NULL, NULL, &err) == 0;
        read_all(b, verified);
        fk_block_close(b);
    }
    free(copy);
    return 0;
}
