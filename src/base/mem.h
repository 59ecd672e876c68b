// SPDX-License-Identifier: Apache-2.0
// The only way to the allocator: so that tests can make the k-th allocation fail.
#ifndef FK_BASE_MEM_H
#define FK_BASE_MEM_H

#include "base/check.h"

// As malloc, calloc, realloc: NULL on failure. A size of 0 gives a valid pointer.
void *fk_malloc(size_t size) FK_MUST_USE __attribute__((malloc));
void *fk_calloc(size_t n, size_t size) FK_MUST_USE __attribute__((malloc));
void *fk_realloc(void *p, size_t size) FK_MUST_USE;
// n * size with the multiplication checked.
void *fk_reallocarray(void *p, size_t n, size_t size) FK_MUST_USE;
void *fk_memdup(const void *p, size_t n) FK_MUST_USE;
char *fk_strndup(const char *p, size_t n) FK_MUST_USE;
void fk_free(void *p);

// Test hook: the after-th allocation of this thread from now on fails, and all that follow when
// `sticky`; 0 switches off.
void fk_mem_fail_after(uint64_t after, bool sticky);
// Allocations of this thread that the hook refused since it was set.
uint64_t fk_mem_failed(void);

// Runs fk_free on a pointer variable that leaves its scope.
static inline void fk_freep(void *p)
{
    fk_free(*(void **)p);
}
#define FK_AUTO_FREE __attribute__((cleanup(fk_freep)))

#endif
