// SPDX-License-Identifier: Apache-2.0
// By OpenSSL's libcrypto. For secrets of a line; files are checked by XXH3.
#include "codec/digest.h"

#include <openssl/crypto.h>
#include <openssl/sha.h>

void fk_sha256(struct fk_str bytes, uint8_t ret[FK_SHA256_BYTES])
{
    SHA256((const unsigned char *)(bytes.p ? bytes.p : ""), bytes.n, ret);
}

bool fk_secret_equal(const void *a, const void *b, size_t n)
{
    return CRYPTO_memcmp(a, b, n) == 0;
}
