// SPDX-License-Identifier: Apache-2.0
// Formatting one log line.
#include "base/log.h"

#include <stdarg.h>
#include <stdio.h>

void fk_logf(const struct fk_log *log, enum fk_log_level level, const char *domain, const char *fmt,
             ...)
{
    if (!log || !log->write || level < log->least)
        return;
    char line[2048];
    va_list ap;
    va_start(ap, fmt);
    int n = vsnprintf(line, sizeof(line), fmt, ap);
    va_end(ap);
    if (n < 0)
        return;
    log->write(log->arg, level, domain, fk_str_make(line, FK_MIN((size_t)n, sizeof(line) - 1)));
}
