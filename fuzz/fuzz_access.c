// SPDX-License-Identifier: Apache-2.0
// What requests say about who asks; the first byte chooses: Authorization, Cookie, tenants, scopes.
// What is taken has the form that it must have, and written again it reads the same.
#include "api/access_int.h"
#include "fuzz.h"

static void try_token(struct fk_str token, struct fk_str input)
{
    struct fk_str id, secret;
    FK_FUZZ_CHECK(token.n <= input.n);
    if (!fk_token_split(token, &id, &secret))
        return;
    FK_FUZZ_CHECK(id.n == FK_TOKEN_ID && secret.n == FK_TOKEN_SECRET);
    FK_FUZZ_CHECK(id.p == token.p + 3 && secret.p + secret.n == token.p + token.n);
}

static void try_tenants(struct fk_str text, struct fk_arena *a)
{
    const struct fk_str *v, *again;
    size_t n, n_again;
    FK_AUTO_BUF b;
    fk_buf_init(&b, 0);
    if (fk_tenants_parse(text, a, &v, &n, NULL))
        return;
    FK_FUZZ_CHECK(n >= 1 && n <= FK_TENANTS_MAX);
    for (size_t i = 0; i < n; i++) {
        FK_FUZZ_CHECK(fk_tenant_check(v[i], NULL) == 0);
        for (size_t k = 0; k < i; k++)
            FK_FUZZ_CHECK(!fk_str_eq(v[i], v[k]));
        fk_buf_cstr(&b, i ? "|" : "");
        fk_buf_str(&b, v[i]);
    }
    FK_FUZZ_CHECK(fk_tenants_parse(fk_buf_view(&b), a, &again, &n_again, NULL) == 0);
    FK_FUZZ_CHECK(n_again == n);
}

static void try_scopes(struct fk_str text)
{
    uint32_t scopes = 0, again = 0;
    FK_AUTO_BUF b;
    fk_buf_init(&b, 0);
    if (fk_scopes_parse(text, &scopes, NULL))
        return;
    fk_scopes_put(&b, scopes);
    FK_FUZZ_CHECK(fk_scopes_parse(fk_buf_view(&b), &again, NULL) == 0 && again == scopes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    FK_AUTO_ARENA a;
    fk_arena_init(&a, 0);
    if (size == 0)
        return 0;
    struct fk_str s = fk_str_make(data + 1, size - 1);
    switch (data[0] % 4) {
    case 0:
        try_token(fk_access_token_of(s, &a), s);
        break;
    case 1:
        try_token(fk_access_cookie_of(s), s);
        break;
    case 2:
        try_tenants(s, &a);
        break;
    default:
        try_scopes(s);
    }
    return 0;
}
