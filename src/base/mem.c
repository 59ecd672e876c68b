// SPDX-License-Identifier: Apache-2.0
// Allocation with a per-thread failure countdown (the one mutable state of this room, for tests
// alone).
#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

static _Thread_local uint64_t fail_after;
static _Thread_local bool fail_sticky;
static _Thread_local uint64_t fail_count;

static bool refused(void)
{
    if (FK_LIKELY(fail_after == 0))
        return false;
    if (fail_after > 1) {
        fail_after--;
        return false;
    }
    if (!fail_sticky)
        fail_after = 0;
    fail_count++;
    return true;
}

void fk_mem_fail_after(uint64_t after, bool sticky)
{
    fail_after = after;
    fail_sticky = sticky;
    fail_count = 0;
}

uint64_t fk_mem_failed(void)
{
    return fail_count;
}

void *fk_malloc(size_t size)
{
    return refused() ? NULL : malloc(size ? size : 1);
}

void *fk_calloc(size_t n, size_t size)
{
    return refused() ? NULL : calloc(n ? n : 1, size ? size : 1);
}

void *fk_realloc(void *p, size_t size)
{
    return refused() ? NULL : realloc(p, size ? size : 1);
}

void *fk_reallocarray(void *p, size_t n, size_t size)
{
    size_t bytes;
    return fk_mul_size(n, size, &bytes) ? NULL : fk_realloc(p, bytes);
}

void *fk_memdup(const void *p, size_t n)
{
    void *copy = fk_malloc(n);
    if (copy && n)
        memcpy(copy, p, n);
    return copy;
}

char *fk_strndup(const char *p, size_t n)
{
    char *copy = n < SIZE_MAX ? fk_malloc(n + 1) : NULL;
    if (copy) {
        if (n)
            memcpy(copy, p, n);
        copy[n] = '\0';
    }
    return copy;
}

void fk_free(void *p)
{
    free(p);
}
