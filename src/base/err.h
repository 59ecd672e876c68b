// SPDX-License-Identifier: Apache-2.0
// Errors: a small set of codes and one sentence for people. The sentence names what is wrong, the
// limit and what to do.
#ifndef FK_BASE_ERR_H
#define FK_BASE_ERR_H

#include "base/check.h"

enum fk_error {
    FK_E_NOMEM =
        1, // memory could not be had, or an arena's own limit was reached without a better name
    FK_E_LIMIT =
        2, // the input exceeds a configured limit (err.param, err.limit, err.flag say which)
    FK_E_FORMAT = 3,      // foreign bytes are not what they should be
    FK_E_CORRUPT = 4,     // our own bytes are not what we wrote
    FK_E_IO = 5,          // a system call failed (err.sys is errno)
    FK_E_NOTFOUND = 6,    // no such thing
    FK_E_INVALID = 7,     // a parameter makes no sense (err.param names it)
    FK_E_UNSUPPORTED = 8, // understood, but not done
    FK_E_BUSY = 9,        // try again later (overload, locked)
    FK_E_FULL = 10,       // the disk is full or below its low-water mark
    FK_E_CANCELLED = 11,  // the caller gave up
    FK_E_EXISTS = 12,     // already there
    FK_E_TIMEOUT = 13,    // not done in time: the outcome is unknown
    FK_E_STOPPED = 14,    // the receiver is shutting down
};

// Plain data; a zeroed one is "no error". Texts are cut, never overrun.
struct fk_err {
    int code;       // enum fk_error, 0 when none
    int sys;        // errno of FK_E_IO and FK_E_FULL, else 0
    char param[64]; // field or parameter at fault, "" when none
    char flag[48];  // flag that sets the exceeded limit, "" when none
    uint64_t limit; // the exceeded limit, 0 when none
    char msg[320];  // one sentence
};

// Fills *err (which may be NULL) and returns -code, so that `return fk_fail(err, FK_E_FORMAT,
// "...")` reads well.
int fk_fail(struct fk_err *err, enum fk_error code, const char *fmt, ...) FK_PRINTF(3, 4);
// The same for a failed system call: appends the text of errno, keeps it in err->sys; ENOSPC and
// EDQUOT become FK_E_FULL.
int fk_fail_errno(struct fk_err *err, int sys, const char *fmt, ...) FK_PRINTF(3, 4);
// A parameter at fault: FK_E_INVALID with err->param set.
int fk_fail_param(struct fk_err *err, const char *param, const char *fmt, ...) FK_PRINTF(3, 4);
// A limit exceeded: FK_E_LIMIT; the sentence ends with the limit and the flag (NULL or "" when none
// sets it).
int fk_fail_limit(struct fk_err *err, const char *param, uint64_t limit, const char *flag,
                  const char *fmt, ...) FK_PRINTF(5, 6);
int fk_fail_nomem(struct fk_err *err);
// Puts "context: " before the message of a failed call; returns -err->code. err must not be NULL.
int fk_fail_in(struct fk_err *err, const char *fmt, ...) FK_PRINTF(2, 3);
// A stable word for a code ("not_found"), for logs and counters.
const char *fk_error_name(int code);

#endif
