// SPDX-License-Identifier: Apache-2.0
// SHA-256 against the examples of FIPS 180-4 and of NIST's test vectors, and the comparison of
// secrets.
#include "codec/codec.h"
#include "support/support.h"

#include <stdio.h>
#include <stdlib.h>

static void assert_sha256(const char *text, size_t repeat, const char *expected)
{
    struct fk_buf b;
    uint8_t digest[FK_SHA256_BYTES];
    char hex[2 * FK_SHA256_BYTES + 1];
    fk_buf_init(&b, 0);
    for (size_t i = 0; i < repeat; i++)
        fk_buf_cstr(&b, text);
    fk_sha256(fk_buf_view(&b), digest);
    for (int i = 0; i < FK_SHA256_BYTES; i++)
        snprintf(hex + 2 * i, 3, "%02x", digest[i]);
    assert_string_equal(hex, expected);
    fk_buf_free(&b);
}

static void test_sha256(void **state)
{
    (void)state;
    assert_sha256("", 1, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    assert_sha256("abc", 1, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    assert_sha256("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", 1,
                  "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
    assert_sha256("a", 1000000, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

// Lengths around the place where the length no longer fits into the last block.
static void test_sha256_lengths(void **state)
{
    (void)state;
    assert_sha256("a", 55, "9f4390f8d30c2dd92ec9f095b65e2b9ae9b0a925a5258e241c9f1e910f734318");
    assert_sha256("a", 56, "b35439a4ac6f0948b6d6f9e3c6af0f5f590ce20f1bde7090ef7970686ec6738a");
    assert_sha256("a", 63, "7d3e74a05d7db15bce4ad9ec0658ea98e3f06eeecf16b4c6fff2da457ddc2f34");
    assert_sha256("a", 64, "ffe054fe7ae0cb6dc65c3af9b61d5209f439851db43d0ba5997337df154668eb");
    assert_sha256("a", 65, "635361c48bb9eab14198e76ea8ab7f1a41685d6ad62aa9146d301d4f17eb0ae0");
}

static void test_secret_equal(void **state)
{
    (void)state;
    uint8_t a[FK_SHA256_BYTES], b[FK_SHA256_BYTES];
    memset(a, 0x5a, sizeof(a));
    for (size_t at = 0; at < sizeof(a); at++)
        for (unsigned bit = 0; bit < 8; bit++) {
            memcpy(b, a, sizeof(b));
            assert_true(fk_secret_equal(a, b, sizeof(a)));
            b[at] ^= (uint8_t)(1u << bit);
            assert_false(fk_secret_equal(a, b, sizeof(a)));
        }
    assert_true(fk_secret_equal(a, b, 0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sha256),
        cmocka_unit_test(test_sha256_lengths),
        cmocka_unit_test(test_secret_equal),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
