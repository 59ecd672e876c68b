// SPDX-License-Identifier: Apache-2.0
// Inside of the regular expressions of this room: what regex_check.c tells regex.c.
#ifndef FK_MATCH_REGEX_INT_H
#define FK_MATCH_REGEX_INT_H

#include "match/match.h"

// Refuses what RE2 does not have: FK_E_INVALID, err->param "regex".
int fk_regex_check(struct fk_str pattern, struct fk_err *err);

// A pattern that is plain text between ".*" at either end: no engine is needed. The text has no
// escapes left.
struct fk_regex_plain {
    bool open_left, open_right; // began or ended with .*
    struct fk_str *text;        // alternatives; one when open
    size_t n;
};
// 1: *ret filled, in fk_malloc'ed memory (free with fk_regex_plain_free); 0: it is not plain;
// -FK_E_NOMEM.
int fk_regex_plain(struct fk_str pattern, struct fk_regex_plain *ret);
void fk_regex_plain_free(struct fk_regex_plain *p);

// Appends text with every byte 0xXX that is no UTF-8 as U+10FFXX (a private code point; the same is
// done to the pattern).
void fk_regex_shadow(struct fk_buf *b, struct fk_str text);

#endif
