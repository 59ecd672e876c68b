// SPDX-License-Identifier: Apache-2.0
// JSON (RFC 8259) both ways: a streaming writer that cannot be made to write invalid JSON by
// hostile strings, and a pull reader over bytes in memory.
#ifndef FK_CODEC_JSON_H
#define FK_CODEC_JSON_H

#include "base/base.h"

// ---- writer: appends to a buffer of its own, which is flushed to `out` as it fills. Errors stick;
// one check at the end suffices. Nesting beyond 64 is a programming error and fails.
#define FK_JSON_NEST 64

struct fk_json {
    struct fk_buf buf;
    struct fk_out out;
    int depth;
    bool pretty, after_key;
    uint8_t filled[FK_JSON_NEST + 1]; // this level has a member already
    struct fk_err err;                // the first failure, code 0 when none
};

void fk_json_init(struct fk_json *w, struct fk_out out, bool pretty);
// Flushes; frees the writer's memory, also after a failure. 0 or the first error.
int fk_json_finish(struct fk_json *w, struct fk_err *err);
void fk_json_object(struct fk_json *w); // {
void fk_json_object_end(struct fk_json *w);
void fk_json_array(struct fk_json *w); // [
void fk_json_array_end(struct fk_json *w);
void fk_json_key(struct fk_json *w, struct fk_str key);
#define fk_json_k(w, lit) fk_json_key((w), FK_S(lit))
// Control characters are escaped; bytes that are no UTF-8 become U+FFFD, one for each byte.
void fk_json_str(struct fk_json *w, struct fk_str s);
void fk_json_i64(struct fk_json *w, int64_t v);
void fk_json_u64(struct fk_json *w, uint64_t v);
void fk_json_f64(struct fk_json *w, double v); // shortest text that reads back; NaN, inf: null
void fk_json_bool(struct fk_json *w, bool v);
void fk_json_null(struct fk_json *w);
void fk_json_raw(struct fk_json *w, struct fk_str json); // one value, valid JSON by promise
// The escaped text of s with its quotes, for use outside the writer.
void fk_json_quote(struct fk_buf *b, struct fk_str s);

// ---- reader: one token a call. Commas, colons and nesting are checked.
enum fk_json_token {
    FK_JSON_END,
    FK_JSON_OBJECT,
    FK_JSON_OBJECT_END,
    FK_JSON_ARRAY,
    FK_JSON_ARRAY_END,
    FK_JSON_KEY,
    FK_JSON_STRING,
    FK_JSON_NUMBER,
    FK_JSON_TRUE,
    FK_JSON_FALSE,
    FK_JSON_NULL,
};

struct fk_json_tok {
    enum fk_json_token kind;
    bool escaped;       // KEY, STRING: has backslashes, so text needs fk_json_text
    struct fk_str text; // KEY, STRING: between the quotes, as written; NUMBER: its text. Borrowed.
};

// Call trees that are written as nested objects take two levels a call.
#define FK_JSON_READ_NEST 4096

struct fk_json_reader {
    const char *p, *end, *begin;
    uint32_t depth, max_depth;
    uint8_t state;                               // what may come next
    uint64_t object[FK_JSON_READ_NEST / 64 + 1]; // a bit a level that is open: '{', not '['
};

// max_depth: at most FK_JSON_READ_NEST.
void fk_json_read(struct fk_json_reader *r, struct fk_str bytes, uint32_t max_depth);
// The next token; END once after the one top value (anything but blanks after it is an error).
// FK_E_FORMAT says where; FK_E_LIMIT: nested too deep.
int fk_json_next(struct fk_json_reader *r, struct fk_json_tok *ret, struct fk_err *err);
// Skips the value that `tok` (just read) begins; scalars are skipped already.
int fk_json_skip(struct fk_json_reader *r, const struct fk_json_tok *tok, struct fk_err *err);
// Text of a KEY or STRING: a view of the input, or unescaped in the arena. Lone surrogates become
// U+FFFD.
int fk_json_text(const struct fk_json_tok *tok, struct fk_arena *a, struct fk_str *ret,
                 struct fk_err *err);
// A NUMBER, or a STRING that holds one (protobuf's JSON writes 64-bit integers so). Integers must
// be exact: "1e3" and "5.0" are taken, "1.5" is not.
int fk_json_to_i64(const struct fk_json_tok *tok, int64_t *ret);
int fk_json_to_f64(const struct fk_json_tok *tok, double *ret);

#endif
