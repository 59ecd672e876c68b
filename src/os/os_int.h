// SPDX-License-Identifier: Apache-2.0
// Shared inside the room: errno to our codes.
#ifndef FK_OS_OS_INT_H
#define FK_OS_OS_INT_H

#include "base/base.h"

// As fk_fail_errno, with the codes of os/fs.h: ENOENT is FK_E_NOTFOUND, EEXIST and ENOTEMPTY
// FK_E_EXISTS, ENOMEM FK_E_NOMEM. "cannot <what> <name>: <text of errno>".
int fk_os_fail(struct fk_err *err, int sys, const char *what, const char *name);

#endif
