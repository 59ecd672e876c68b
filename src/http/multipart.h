// SPDX-License-Identifier: Apache-2.0
// multipart/form-data (RFC 7578) over a body in memory or a mapped file: parts are views of it,
// nothing is copied but unquoted names.
#ifndef FK_HTTP_MULTIPART_H
#define FK_HTTP_MULTIPART_H

#include "http/msg.h"

#define FK_HTTP_PARTS      1000 // parts of one body
#define FK_HTTP_PART_HEAD  8192 // bytes of the fields of one part
#define FK_HTTP_PART_NAMES 1024 // bytes of a name or a file name

struct fk_http_part {
    struct fk_str name;     // "" when none was given
    struct fk_str filename; // .p NULL when none was given
    struct fk_str type;     // Content-Type as written, .p NULL when none
    struct fk_str head;     // all fields of the part, as they came
    struct fk_str bytes;
};

struct fk_http_parts {
    struct fk_str rest, boundary;
    struct fk_arena *arena; // borrowed
    size_t n;               // parts given so far
    bool over;
};

// content_type: the request's field, which must be multipart/form-data (or another multipart/*)
// with a boundary of 1 to 70 characters. FK_E_FORMAT; FK_E_UNSUPPORTED for another type.
int fk_http_parts_begin(struct fk_http_parts *m, struct fk_str content_type, struct fk_str body,
                        struct fk_arena *arena, struct fk_err *err);
// 1: *ret is the next part; 0: that was the last one; FK_E_FORMAT (also when the closing boundary
// is missing), FK_E_LIMIT.
int fk_http_parts_next(struct fk_http_parts *m, struct fk_http_part *ret, struct fk_err *err);

#endif
