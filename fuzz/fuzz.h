// SPDX-License-Identifier: Apache-2.0
// What fuzz targets share. A target is one function; with FK_FUZZ it is linked with libFuzzer, else
// with replay.c.
#ifndef FK_FUZZ_H
#define FK_FUZZ_H

#include "base/base.h"

#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

// A property that must hold for every input.
#define FK_FUZZ_CHECK(cond)                                                                        \
    do {                                                                                           \
        if (!(cond)) {                                                                             \
            fprintf(stderr, "%s:%d: %s does not hold\n", __FILE__, __LINE__, #cond);               \
            abort();                                                                               \
        }                                                                                          \
    } while (0)

#endif
