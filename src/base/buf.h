// SPDX-License-Identifier: Apache-2.0
// A growing byte buffer with a maximum. After a failed append it is poisoned: further appends do
// nothing and one check at the end suffices.
#ifndef FK_BASE_BUF_H
#define FK_BASE_BUF_H

#include "base/err.h"
#include "base/str.h"

struct fk_buf {
    char *p;       // owned; may be NULL when n is 0
    size_t n, cap; // bytes used and allocated
    size_t max;    // never grows beyond
    int failed;    // 0, or enum fk_error of the first failed append (FK_E_NOMEM, FK_E_LIMIT)
};

void fk_buf_init(struct fk_buf *b, size_t max); // max 0: no maximum
void fk_buf_free(struct fk_buf *b);             // also clears the poison; usable again
void fk_buf_clear(struct fk_buf *b); // n = 0, keeps the memory and the maximum, clears the poison
// Room for n more bytes: pointer to write them to, NULL (and poisoned) on failure; then add to b->n
// what was written.
char *fk_buf_reserve(struct fk_buf *b, size_t n);
void fk_buf_put(struct fk_buf *b, const void *p, size_t n);
void fk_buf_str(struct fk_buf *b, struct fk_str s);
void fk_buf_cstr(struct fk_buf *b, const char *s);
void fk_buf_byte(struct fk_buf *b, uint8_t c);
void fk_buf_fill(struct fk_buf *b, uint8_t c, size_t n);
void fk_buf_printf(struct fk_buf *b, const char *fmt, ...) FK_PRINTF(2, 3);
void fk_buf_u64(struct fk_buf *b, uint64_t v); // decimal
void fk_buf_i64(struct fk_buf *b, int64_t v);  // decimal
void fk_buf_le16(struct fk_buf *b, uint16_t v);
void fk_buf_le32(struct fk_buf *b, uint32_t v);
void fk_buf_le64(struct fk_buf *b, uint64_t v);
// 0, or the poison as an error (`what` names the thing being built).
int fk_buf_check(const struct fk_buf *b, const char *what, struct fk_err *err);
// The bytes as a view (borrowed).
static inline struct fk_str fk_buf_view(const struct fk_buf *b)
{
    return (struct fk_str){b->p, b->n};
}
// Gives the memory away (fk_free it); the buffer is empty afterwards. NULL when empty.
char *fk_buf_take(struct fk_buf *b, size_t *ret_n);

#define FK_AUTO_BUF __attribute__((cleanup(fk_buf_free))) struct fk_buf

#endif
