// SPDX-License-Identifier: Apache-2.0
// errno to error codes, in one place.
#include "os/os_int.h"

#include <errno.h>

static int code_of(int sys)
{
    switch (sys) {
    case ENOENT:
    case ENOTDIR:
        return FK_E_NOTFOUND;
    case EEXIST:
    case ENOTEMPTY:
        return FK_E_EXISTS;
    case ENOMEM:
        return FK_E_NOMEM;
    default:
        return 0;
    }
}

int fk_os_fail(struct fk_err *err, int sys, const char *what, const char *name)
{
    int r = fk_fail_errno(err, sys, "cannot %s %s", what, name);
    int code = code_of(sys);
    if (code && err)
        err->code = code;
    return code ? -code : r;
}
