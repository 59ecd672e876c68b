// SPDX-License-Identifier: Apache-2.0
// Base64 (RFC 4648): both alphabets are read, with or without padding; the standard one is written,
// padded.
#ifndef FK_CODEC_BASE64_H
#define FK_CODEC_BASE64_H

#include "base/base.h"

// -FK_E_FORMAT, or -FK_E_NOMEM; *ret lies in the arena.
int fk_base64_decode(struct fk_str s, struct fk_arena *a, struct fk_str *ret);
// Appends; -FK_E_FORMAT. Without memory the buffer is poisoned.
int fk_base64_read(struct fk_buf *b, struct fk_str s);
void fk_base64_put(struct fk_buf *b, struct fk_str s);

#endif
