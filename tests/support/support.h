// SPDX-License-Identifier: Apache-2.0
// Helpers for test programs: temporary folders, and asserts that print the error's sentence.
#ifndef FK_TESTS_SUPPORT_H
#define FK_TESTS_SUPPORT_H

#include "os/os.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

// A new folder below $TMPDIR or /tmp; free the text with fk_test_rmtree.
char *fk_test_tmpdir(void);
// Removes the folder with all that is in it, and frees the text.
void fk_test_rmtree(char *path);

// How many seeds a simulation runs: `normal`, or FK_SEEDS times as many (environment; "34", or
// "1/10" for a tenth), at least one.
uint64_t fk_test_seeds(uint64_t normal);

// fk_test_ok(fk_do(..., &err), &err): the call must succeed; else its sentence is printed.
#define fk_test_ok(call, err)                                                                      \
    do {                                                                                           \
        int fk_test_r_ = (call);                                                                   \
        if (fk_test_r_)                                                                            \
            fail_msg("%s: %s (%d)", #call, (err)->msg, fk_test_r_);                                \
    } while (0)

// The call must fail with exactly this code.
#define fk_test_fails(call, code)                                                                  \
    do {                                                                                           \
        int fk_test_r_ = (call);                                                                   \
        if (fk_test_r_ != -(code))                                                                 \
            fail_msg("%s gave %s, not %s", #call, fk_error_name(fk_test_r_), fk_error_name(code)); \
    } while (0)

#endif
