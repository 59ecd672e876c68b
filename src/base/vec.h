// SPDX-License-Identifier: Apache-2.0
// A typed growing array:  FK_VEC(struct point) points = {0};  if (fk_vec_push(&points, p)) return
// nomem;
#ifndef FK_BASE_VEC_H
#define FK_BASE_VEC_H

#include "base/mem.h"

#define FK_VEC(T)                                                                                  \
    struct {                                                                                       \
        T *v;                                                                                      \
        size_t n, cap;                                                                             \
    }

// Room for `more` further elements: 0, or -FK_E_NOMEM with the vector as it was.
#define fk_vec_reserve(vec, more)                                                                  \
    fk_vec_grow((void **)&(vec)->v, (vec)->n, &(vec)->cap, (more), sizeof(*(vec)->v))
// Appends one element; evaluates to 0 or -FK_E_NOMEM.
#define fk_vec_push(vec, ...)                                                                      \
    ((vec)->n == (vec)->cap && fk_vec_reserve(vec, 1) ? -1                                         \
                                                      : ((vec)->v[(vec)->n++] = (__VA_ARGS__), 0))
#define fk_vec_free(vec) (fk_free((vec)->v), (vec)->v = NULL, (vec)->n = (vec)->cap = 0)

int fk_vec_grow(void **v, size_t n, size_t *cap, size_t more, size_t size) FK_MUST_USE;

#endif
