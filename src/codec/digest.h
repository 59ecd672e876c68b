// SPDX-License-Identifier: Apache-2.0
// SHA-256 (FIPS 180-4) and a comparison that takes as long for a wrong secret as for a right one.
#ifndef FK_CODEC_DIGEST_H
#define FK_CODEC_DIGEST_H

#include "base/base.h"

#define FK_SHA256_BYTES 32

void fk_sha256(struct fk_str bytes, uint8_t ret[FK_SHA256_BYTES]);
// Whether n bytes are equal. Reads all of them, wherever they differ.
bool fk_secret_equal(const void *a, const void *b, size_t n);

#endif
