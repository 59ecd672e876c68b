// SPDX-License-Identifier: Apache-2.0
// Time texts: RFC 3339 both ways, Unix numbers by digit count, durations, and "now-15m". All pure:
// `now` is a parameter.
#ifndef FK_BASE_TIME_H
#define FK_BASE_TIME_H

#include "base/buf.h"

// RFC 3339 in UTC with nanoseconds: 2026-11-30T12:00:00.000000000Z (30 characters, no NUL counted).
#define FK_TIME_CHARS 30
void fk_time_format(int64_t unix_ns, char ret[FK_TIME_CHARS + 1]);
void fk_time_put(struct fk_buf *b, int64_t unix_ns);
// Accepts RFC 3339 (any offset, fraction up to 9 digits), Unix seconds, milliseconds, microseconds
// or nanoseconds by digit count (<= 11, 12-14, 15-17, >= 18 digits of the whole part; a minus sign
// is allowed), `now`, `now-15m`, `now+1h`. FK_E_INVALID with what is wrong; err->param is left to
// the caller.
int fk_time_parse(struct fk_str s, int64_t now_ns, int64_t *ret_ns, struct fk_err *err);
// Go-like durations: "90s", "15m", "1h30m", "250ms", "1.5h", "7d", "2w"; a bare number means
// seconds. May be negative.
int fk_duration_parse(struct fk_str s, int64_t *ret_ns, struct fk_err *err);
// The shortest such text that reads back exactly: "1h30m", "250ms", "0s".
void fk_duration_put(struct fk_buf *b, int64_t ns);

#endif
