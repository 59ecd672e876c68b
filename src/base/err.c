// SPDX-License-Identifier: Apache-2.0
// Building error texts. Nothing here allocates: an error must be sayable when memory is gone.
#include "base/err.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static void set_text(struct fk_err *err, enum fk_error code, const char *fmt, va_list ap)
    FK_PRINTF(3, 0);
static void set_text(struct fk_err *err, enum fk_error code, const char *fmt, va_list ap)
{
    memset(err, 0, sizeof(*err));
    err->code = (int)code;
    vsnprintf(err->msg, sizeof(err->msg), fmt, ap);
}

static void append_text(struct fk_err *err, const char *fmt, ...) FK_PRINTF(2, 3);
static void append_text(struct fk_err *err, const char *fmt, ...)
{
    size_t n = strlen(err->msg);
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(err->msg + n, sizeof(err->msg) - n, fmt, ap);
    va_end(ap);
}

int fk_fail(struct fk_err *err, enum fk_error code, const char *fmt, ...)
{
    if (err) {
        va_list ap;
        va_start(ap, fmt);
        set_text(err, code, fmt, ap);
        va_end(ap);
    }
    return -(int)code;
}

int fk_fail_errno(struct fk_err *err, int sys, const char *fmt, ...)
{
    enum fk_error code = sys == ENOSPC || sys == EDQUOT ? FK_E_FULL : FK_E_IO;
    if (err) {
        char text[128];
        va_list ap;
        va_start(ap, fmt);
        set_text(err, code, fmt, ap);
        va_end(ap);
        append_text(err, ": %s", strerror_r(sys, text, sizeof(text)));
        err->sys = sys;
    }
    return -(int)code;
}

int fk_fail_param(struct fk_err *err, const char *param, const char *fmt, ...)
{
    if (err) {
        va_list ap;
        va_start(ap, fmt);
        set_text(err, FK_E_INVALID, fmt, ap);
        va_end(ap);
        snprintf(err->param, sizeof(err->param), "%s", param);
    }
    return -FK_E_INVALID;
}

int fk_fail_limit(struct fk_err *err, const char *param, uint64_t limit, const char *flag,
                  const char *fmt, ...)
{
    if (err) {
        va_list ap;
        va_start(ap, fmt);
        set_text(err, FK_E_LIMIT, fmt, ap);
        va_end(ap);
        append_text(err, " (limit %" PRIu64, limit);
        if (flag && *flag)
            append_text(err, ", set by %s", flag);
        append_text(err, ")");
        snprintf(err->param, sizeof(err->param), "%s", param ? param : "");
        snprintf(err->flag, sizeof(err->flag), "%s", flag ? flag : "");
        err->limit = limit;
    }
    return -FK_E_LIMIT;
}

int fk_fail_nomem(struct fk_err *err)
{
    return fk_fail(err, FK_E_NOMEM, "out of memory");
}

int fk_fail_in(struct fk_err *err, const char *fmt, ...)
{
    char inner[sizeof(err->msg)];
    memcpy(inner, err->msg, sizeof(inner));
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(err->msg, sizeof(err->msg), fmt, ap);
    va_end(ap);
    append_text(err, ": %s", inner);
    return -err->code;
}

const char *fk_error_name(int code)
{
    static const char *const names[] = {
        [0] = "ok",
        [FK_E_NOMEM] = "no_memory",
        [FK_E_LIMIT] = "limit",
        [FK_E_FORMAT] = "format",
        [FK_E_CORRUPT] = "corrupt",
        [FK_E_IO] = "io",
        [FK_E_NOTFOUND] = "not_found",
        [FK_E_INVALID] = "invalid",
        [FK_E_UNSUPPORTED] = "unsupported",
        [FK_E_BUSY] = "busy",
        [FK_E_FULL] = "disk_full",
        [FK_E_CANCELLED] = "cancelled",
        [FK_E_EXISTS] = "exists",
        [FK_E_TIMEOUT] = "timeout",
        [FK_E_STOPPED] = "stopped",
    };
    if (code < 0)
        code = -code;
    return (size_t)code < FK_COUNTOF(names) && names[code] ? names[code] : "unknown";
}
