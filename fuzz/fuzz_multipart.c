// SPDX-License-Identifier: Apache-2.0
// multipart/form-data: the first line of the input is the Content-Type, the rest the body.
#include "fuzz.h"
#include "http/http.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const uint8_t *end = size ? memchr(data, '\n', size) : NULL;
    if (!end)
        return 0;
    struct fk_str type = fk_str_make(data, (size_t)(end - data));
    struct fk_str body = fk_str_make(end + 1, size - type.n - 1);
    struct fk_arena arena;
    struct fk_http_parts m;
    struct fk_http_part p;
    struct fk_err err;
    size_t total = 0, n = 0;
    fk_arena_init(&arena, (size_t)4 << 20);
    if (fk_http_parts_begin(&m, type, body, &arena, &err) == 0)
        while (fk_http_parts_next(&m, &p, &err) == 1) {
            FK_FUZZ_CHECK(p.bytes.n == 0 ||
                          (p.bytes.p >= body.p && p.bytes.p + p.bytes.n <= body.p + body.n));
            total += p.bytes.n + p.head.n;
            n++;
        }
    FK_FUZZ_CHECK(total <= body.n && n <= FK_HTTP_PARTS);
    fk_arena_free(&arena);
    return 0;
}
