// SPDX-License-Identifier: Apache-2.0
// Growth of typed arrays: by half, at least to what is asked.
#include "base/vec.h"

#include "base/err.h"

int fk_vec_grow(void **v, size_t n, size_t *cap, size_t more, size_t size)
{
    size_t need;
    if (fk_add_size(n, more, &need))
        return -FK_E_NOMEM;
    if (need <= *cap)
        return 0;
    size_t want = FK_MAX(need, *cap + *cap / 2);
    want = FK_MAX(want, (size_t)8);
    void *p = fk_reallocarray(*v, want, size);
    if (!p)
        return -FK_E_NOMEM;
    *v = p;
    *cap = want;
    return 0;
}
