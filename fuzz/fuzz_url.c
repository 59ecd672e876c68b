// SPDX-License-Identifier: Apache-2.0
// Percent encoding, forms, field parameters, Accept, URLs; each on the same text.
#include "fuzz.h"
#include "http/http.h"

// What is encoded must decode to itself.
static void round_trip(struct fk_str s, struct fk_arena *a)
{
    FK_AUTO_BUF b;
    struct fk_str back;
    struct fk_err err;
    fk_buf_init(&b, 0);
    fk_http_percent_put(&b, s, false);
    bool nul = s.n && memchr(s.p, 0, s.n);
    int rc = fk_http_percent_decode(fk_buf_view(&b), true, a, &back, &err);
    FK_FUZZ_CHECK(nul ? rc == -FK_E_FORMAT : rc == 0 && fk_str_eq(back, s));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fk_str s = fk_str_make(data, size), v;
    const struct fk_http_pair *p;
    struct fk_http_url url;
    struct fk_arena a;
    struct fk_err err;
    size_t n;
    if (size > 10000)
        return 0;
    fk_arena_init(&a, (size_t)4 << 20);
    round_trip(s, &a);
    if (fk_http_percent_decode(s, false, &a, &v, &err) == 0)
        FK_FUZZ_CHECK(v.n <= s.n);
    if (fk_http_form_parse(s, 100, &a, &p, &n, &err) == 0) {
        FK_FUZZ_CHECK(n <= 100);
        for (size_t i = 0; i < n; i++)
            FK_FUZZ_CHECK(p[i].name.n + p[i].value.n <= s.n);
    }
    if (fk_http_media_param(s, "boundary", &a, &v, &err) == 1)
        FK_FUZZ_CHECK(v.n <= s.n);
    int q = fk_http_accept(s, "application/json"), c = fk_http_accept_coding(s, "gzip");
    FK_FUZZ_CHECK(q >= 0 && q <= 1000 && c >= 0 && c <= 1000);
    static const char *const offers[] = {"text/html", "application/json"};
    int best = fk_http_accept_best(s, offers, 2);
    FK_FUZZ_CHECK(best >= -1 && best < 2 && (best >= 0 || q == 0));
    (void)fk_http_etag_in(s, FK_S("\"x\""));
    if (fk_http_url_parse(s, &url, &err) == 0)
        FK_FUZZ_CHECK(url.host.n > 0 && url.host.n <= 255 && url.port > 0);
    fk_arena_free(&a);
    return 0;
}
