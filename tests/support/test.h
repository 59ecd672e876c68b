// SPDX-License-Identifier: Apache-2.0
// What every unit test includes: cmocka with the headers it wants before it.
#ifndef FK_TESTS_SUPPORT_TEST_H
#define FK_TESTS_SUPPORT_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#endif
