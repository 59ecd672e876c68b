// SPDX-License-Identifier: Apache-2.0
// A region of memory that is freed at once, with a byte limit. One lifetime, one arena: a request,
// a decode, a query. Not for several threads at a time.
#ifndef FK_BASE_ARENA_H
#define FK_BASE_ARENA_H

#include "base/str.h"

struct fk_arena_chunk;

struct fk_arena {
    struct fk_arena_chunk *chunk; // newest first
    char *at, *end;               // free part of the newest chunk
    size_t used, limit;           // bytes taken from the allocator, and at most
    size_t next;                  // size of the next chunk
};

// limit: bytes the arena may take from the allocator in all (0: no limit). Nothing is allocated
// yet.
void fk_arena_init(struct fk_arena *a, size_t limit);
void fk_arena_free(
    struct fk_arena *a); // a zeroed arena may be freed; it can be used again after fk_arena_init
// Aligned to 16 bytes, not zeroed; NULL when the limit is reached or memory is gone.
void *fk_arena_alloc(struct fk_arena *a, size_t size) FK_MUST_USE;
void *fk_arena_zalloc(struct fk_arena *a, size_t size) FK_MUST_USE;
// n elements of `size` bytes, the multiplication checked.
void *fk_arena_array(struct fk_arena *a, size_t n, size_t size) FK_MUST_USE;
// A copy, NUL-terminated for the debugger's sake. .p is NULL on failure (and only then).
struct fk_str fk_arena_str(struct fk_arena *a, struct fk_str s) FK_MUST_USE;
struct fk_str fk_arena_printf(struct fk_arena *a, const char *fmt, ...) FK_PRINTF(2, 3) FK_MUST_USE;

static inline void fk_arena_freep(struct fk_arena *a)
{
    fk_arena_free(a);
}
#define FK_AUTO_ARENA __attribute__((cleanup(fk_arena_freep))) struct fk_arena

#endif
