// SPDX-License-Identifier: Apache-2.0
// Percent encoding, query strings and forms, media types, Accept. Pure functions, all bounded.
#ifndef FK_HTTP_URL_H
#define FK_HTTP_URL_H

#include "http/msg.h"

// Decodes %XX (and '+' as a blank if plus) into the arena; the input itself when there is nothing
// to decode. FK_E_FORMAT: a '%' without two hex digits, or a NUL.
int fk_http_percent_decode(struct fk_str s, bool plus, struct fk_arena *a, struct fk_str *ret,
                           struct fk_err *err);
// Appends s; everything but letters, digits and "-._~" is encoded ('/' stays if slash).
void fk_http_percent_put(struct fk_buf *b, struct fk_str s, bool slash);

// "a=1&b=x%20y&a=2" as pairs in order (application/x-www-form-urlencoded, also query strings).
// "a" alone has an empty value; empty pieces are skipped. At most max pairs: FK_E_LIMIT.
#define FK_HTTP_PAIRS 4096
int fk_http_form_parse(struct fk_str s, size_t max, struct fk_arena *a,
                       const struct fk_http_pair **ret, size_t *ret_n, struct fk_err *err);
// The first pair of that name; NULL when there is none. The at-th (from 0) with fk_http_pair_nth.
const struct fk_http_pair *fk_http_pair_find(const struct fk_http_pair *p, size_t n,
                                             const char *name);
const struct fk_http_pair *fk_http_pair_nth(const struct fk_http_pair *p, size_t n,
                                            const char *name, size_t at);

// "text/plain; charset=utf-8": the type in front (as written, trimmed), and parameters by name.
struct fk_str fk_http_media_type(struct fk_str field);
bool fk_http_media_is(struct fk_str field, const char *type); // any case, parameters ignored
// A parameter of a field value (Content-Type, Content-Disposition): quoted strings are unquoted in
// the arena. 1 found, 0 absent, negative: broken or no memory.
int fk_http_media_param(struct fk_str field, const char *name, struct fk_arena *a,
                        struct fk_str *ret, struct fk_err *err);

// How much an Accept or Accept-Encoding field likes something, 0..1000 (RFC 9110 §12.5). An absent
// field (.p NULL) accepts everything. offer is "type/subtype", or a coding for accept_coding
// (where "identity" is liked unless refused, others only if named or by "*").
int fk_http_accept(struct fk_str field, const char *offer);
int fk_http_accept_coding(struct fk_str field, const char *coding);
// Index of the offer the field likes best, the earlier of equals; -1 when none is acceptable.
int fk_http_accept_best(struct fk_str field, const char *const *offers, size_t offers_n);

// "http://host:port/prefix" apart: for the client. port 0: the scheme's default (80, 443).
struct fk_http_url {
    struct fk_str scheme, host, path, query; // path begins with '/' or is ""; host without brackets
    uint16_t port;
};
int fk_http_url_parse(struct fk_str s, struct fk_http_url *ret, struct fk_err *err);

#endif
