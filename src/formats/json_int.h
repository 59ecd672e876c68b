// SPDX-License-Identifier: Apache-2.0
// JSON profiles without a document in memory: a value is its bytes, and members are found by
// walking over them. Each level that is opened is read once more; profiles are a few levels deep.
#ifndef FK_FORMATS_JSON_INT_H
#define FK_FORMATS_JSON_INT_H

#include "formats/stacks_int.h"

struct fk_jval {
    struct fk_json_tok tok; // its first token; FK_JSON_END: there is no such member
    struct fk_str span;
};

struct fk_jwalk {
    struct fk_json_reader r;
    bool object;
};

static inline bool fk_jval_is(const struct fk_jval *v, enum fk_json_token kind)
{
    return v->tok.kind == kind;
}

// The next value of a reader that stands before one.
int fk_jval_take(struct fk_json_reader *r, struct fk_jval *ret, struct fk_err *err);
// A whole document, which is checked to its end.
int fk_jval_document(struct fk_str bytes, struct fk_jval *ret, struct fk_err *err);
// Over the members of an object or the elements of an array; anything else has none.
void fk_jwalk_begin(struct fk_jwalk *w, const struct fk_jval *v);
// 1, or 0 at the end. ret_key may be NULL.
int fk_jwalk_next(struct fk_jwalk *w, struct fk_json_tok *ret_key, struct fk_jval *ret,
                  struct fk_err *err);
// The members of these names in one walk; of equal names the last.
int fk_jval_pick(const struct fk_jval *object, const char *const *names, size_t n,
                 struct fk_jval *ret, struct fk_err *err);
// Values of another kind read as `otherwise`. A text that memory is missing for is remembered in s.
struct fk_str fk_jval_text(const struct fk_jval *v, struct fk_stacks *s); // "" otherwise
int64_t fk_jval_i64(const struct fk_jval *v, int64_t otherwise);
double fk_jval_f64(const struct fk_jval *v, double otherwise);
// A number times `scale`, rounded; FK_NO_TIME when it is none or does not fit.
int64_t fk_jval_scaled(const struct fk_jval *v, double scale);

// What JSON bytes are, from the names at their beginning; FK_FORMAT_UNKNOWN.
enum fk_format fk_json_kind(struct fk_str head);

#endif
