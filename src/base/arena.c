// SPDX-License-Identifier: Apache-2.0
// Chunks that double from 4 KiB to 1 MiB; larger requests get a chunk of their own. In sanitizer
// builds (FK_DEBUG) every allocation is a chunk of its own, so that the sanitizer sees each border.
#include "base/arena.h"

#include "base/mem.h"

#include <stdarg.h>
#include <stdio.h>

struct fk_arena_chunk {
    _Alignas(16) struct fk_arena_chunk *older;
    size_t size;
};

#define FIRST_CHUNK   ((size_t)4096)
#define LARGEST_CHUNK ((size_t)1 << 20)

static bool wants_own_chunk(size_t size)
{
#ifdef FK_DEBUG
    (void)size;
    return true;
#else
    return size >= LARGEST_CHUNK / 4;
#endif
}

void fk_arena_init(struct fk_arena *a, size_t limit)
{
    *a = (struct fk_arena){.limit = limit ? limit : SIZE_MAX, .next = FIRST_CHUNK};
}

void fk_arena_free(struct fk_arena *a)
{
    for (struct fk_arena_chunk *c = a->chunk, *older; c; c = older) {
        older = c->older;
        fk_free(c);
    }
    fk_arena_init(a, a->limit);
}

static struct fk_arena_chunk *chunk_new(struct fk_arena *a, size_t payload)
{
    size_t size;
    if (fk_add_size(payload, sizeof(struct fk_arena_chunk), &size))
        return NULL;
    if (size > a->limit || a->used > a->limit - size)
        return NULL;
    struct fk_arena_chunk *c = fk_malloc(size);
    if (!c)
        return NULL;
    c->size = size;
    a->used += size;
    return c;
}

// A chunk for one allocation; it goes behind the newest, whose free part stays in use.
static void *alloc_own(struct fk_arena *a, size_t size)
{
    struct fk_arena_chunk *c = chunk_new(a, size);
    if (!c)
        return NULL;
    struct fk_arena_chunk **place = a->chunk ? &a->chunk->older : &a->chunk;
    c->older = *place;
    *place = c;
    return c + 1;
}

void *fk_arena_alloc(struct fk_arena *a, size_t size)
{
    if (size > SIZE_MAX - 15)
        return NULL;
    if (wants_own_chunk(size))
        return alloc_own(a, size);
    size = (FK_MAX(size, (size_t)1) + 15) & ~(size_t)15; // also 0 bytes have an address
    if (size > (size_t)(a->end - a->at)) {
        size_t want = FK_MAX(a->next, size);
        struct fk_arena_chunk *c = chunk_new(a, want);
        if (!c && want > size)
            c = chunk_new(a, want = size);
        if (!c)
            return NULL;
        c->older = a->chunk;
        a->chunk = c;
        a->at = (char *)(c + 1);
        a->end = a->at + want;
        a->next = FK_MIN(a->next * 2, LARGEST_CHUNK);
    }
    void *p = a->at;
    a->at += size;
    return p;
}

void *fk_arena_zalloc(struct fk_arena *a, size_t size)
{
    void *p = fk_arena_alloc(a, size);
    return p ? memset(p, 0, size) : NULL;
}

void *fk_arena_array(struct fk_arena *a, size_t n, size_t size)
{
    size_t bytes;
    return fk_mul_size(n, size, &bytes) ? NULL : fk_arena_alloc(a, bytes);
}

struct fk_str fk_arena_str(struct fk_arena *a, struct fk_str s)
{
    char *p = s.n < SIZE_MAX ? fk_arena_alloc(a, s.n + 1) : NULL;
    if (!p)
        return (struct fk_str){NULL, 0};
    if (s.n)
        memcpy(p, s.p, s.n);
    p[s.n] = '\0';
    return (struct fk_str){p, s.n};
}

struct fk_str fk_arena_printf(struct fk_arena *a, const char *fmt, ...)
{
    va_list ap, again;
    va_start(ap, fmt);
    va_copy(again, ap);
    int n = vsnprintf(NULL, 0, fmt, ap);
    va_end(ap);
    char *p = n < 0 ? NULL : fk_arena_alloc(a, (size_t)n + 1);
    if (p)
        vsnprintf(p, (size_t)n + 1, fmt, again);
    va_end(again);
    return (struct fk_str){p, p ? (size_t)n : 0};
}
