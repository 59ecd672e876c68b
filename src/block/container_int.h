// SPDX-License-Identifier: Apache-2.0
// The container under segments and blocks. Layout (docs/format-block.md "Container"):
//   head        8 bytes "FKBLOCK\n" 4 bytes version, 4 bytes zero
//   sections    each at any offset
//   directory   varints: kind, dataset, encoding, offset, stored length, raw length; 8 bytes XXH3
//   of the stored bytes extra       bytes of the owner (block info, dataset summaries) tail 48
//   bytes, at the very end: see container.c
#ifndef FK_BLOCK_CONTAINER_INT_H
#define FK_BLOCK_CONTAINER_INT_H

#include "block/block.h"
#include "codec/codec.h"

enum fk_section_kind {
    FK_SECTION_RECORD = 1, // of a segment
    FK_SECTION_TABLES = 2, // service, series, shapes, placements
    FK_SECTION_SYMBOLS = 3,
    FK_SECTION_TREE = 4,
    FK_SECTION_SETS = 5,
    FK_SECTION_PAGES = 6,
    FK_SECTION_PAGE_INDEX = 7,
    FK_SECTION_NOTES = 8,
    FK_SECTION_SAMPLES = 9,
};
enum fk_section_encoding { FK_PLAIN = 0, FK_ZSTD = 1 };

struct fk_section {
    uint32_t kind, dataset, encoding;
    uint64_t offset, stored, raw, sum;
};

struct fk_container_writer {
    struct fk_out out;
    uint64_t at; // bytes written
    FK_VEC(struct fk_section) sections;
};
int fk_container_begin(struct fk_container_writer *w, struct fk_out out, struct fk_err *err);
// zstd only when it makes the section smaller.
int fk_container_section(struct fk_container_writer *w, uint32_t kind, uint32_t dataset,
                         struct fk_str bytes, bool zstd, struct fk_err *err);
int fk_container_end(struct fk_container_writer *w, struct fk_str extra, struct fk_err *err);
void fk_container_writer_free(struct fk_container_writer *w);

// Directory and extra of a container, checked; sections lie within the file. In the arena.
struct fk_container {
    struct fk_section *section;
    size_t n;
    struct fk_str extra;
};
int fk_container_open(const struct fk_source *s, struct fk_arena *a, struct fk_container *ret,
                      struct fk_err *err);
// The section's bytes, checked and decompressed: in the arena, or borrowed from a mapped source.
int fk_container_read(const struct fk_source *s, const struct fk_section *section,
                      struct fk_arena *a, struct fk_str *ret, struct fk_err *err);

#endif
