// SPDX-License-Identifier: Apache-2.0
// The client under TLS against our own server: both protocols, whom it trusts, servers that are
// none.
#include "cert_fixture.h"
#include "http_fixture.h"

static struct fx fx;
static struct made authority, server_cert, stranger;
static char *folder;
static char cert[300], key[300], ca[300], other[300];

static int setup(void **state)
{
    (void)state;
    folder = fk_test_tmpdir();
    snprintf(cert, sizeof(cert), "%s/cert.pem", folder);
    snprintf(key, sizeof(key), "%s/key.pem", folder);
    snprintf(ca, sizeof(ca), "%s/ca.pem", folder);
    snprintf(other, sizeof(other), "%s/other.pem", folder);
    authority = make_cert("authority", NULL, true);
    server_cert = make_cert("server", &authority, false);
    stranger = make_cert("stranger", NULL, true);
    write_pem(cert, &server_cert, true, false);
    write_pem(key, &server_cert, false, true);
    write_pem(ca, &authority, true, false);
    write_pem(other, &stranger, true, false);
    struct fk_http_server_opts o = fx_opts();
    o.tls = (struct fk_http_tls){cert, key, NULL};
    fx_start(&fx, o);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    fx_stop(&fx);
    free_cert(&authority);
    free_cert(&server_cert);
    free_cert(&stranger);
    fk_test_rmtree(folder);
    return 0;
}

static struct fk_http_client *client_to(const char *scheme, const char *host, const char *roots)
{
    char text[FK_ADDR_CHARS], url[FK_ADDR_CHARS + 64];
    struct fk_http_client *c;
    struct fk_err err;
    fk_addr_format(&fx.addr, text);
    snprintf(url, sizeof(url), "%s://%s%s", scheme, host, strrchr(text, ':'));
    struct fk_http_client_opts o = {.url = url, .total_ns = 20 * FK_NS_PER_S, .ca = roots};
    fk_test_ok(fk_http_client_new(&o, &c, &err), &err);
    return c;
}

static void test_calls(void **state)
{
    static const char *const hosts[] = {"127.0.0.1", "localhost"};
    struct fk_http_stats before, after;
    struct fk_http_reply r;
    struct fk_err err;
    struct fk_http_ask get = {.method = "GET", .path = FK_S("/item/x")};
    (void)state;
    fk_http_server_stats(fx.server, &before);
    for (size_t i = 0; i < FK_COUNTOF(hosts); i++) {
        struct fk_http_client *c = client_to("https", hosts[i], ca);
        for (int k = 0; k < 3; k++) {
            fk_test_ok(fk_http_client_call(c, &get, &r, &err), &err);
            assert_true(fk_str_eq(fk_buf_view(&r.body), FK_S("item x")));
            fk_http_reply_free(&r);
        }
        fk_http_client_free(c);
    }
    fk_http_server_stats(fx.server, &after);
    assert_int_equal(after.tls_connections - before.tls_connections, 2);
    assert_int_equal(after.h2_connections - before.h2_connections, 2); // agreed on by ALPN
}

static int count_out(void *arg, const void *p, size_t n, struct fk_err *err)
{
    (void)p, (void)err;
    *(uint64_t *)arg += n;
    return 0;
}

static void test_bodies(void **state)
{
    struct fk_http_client *c = client_to("https", "127.0.0.1", ca);
    struct fk_http_reply r;
    struct fk_err err;
    uint64_t got = 0;
    char want[64];
    (void)state;
    const size_t n = 9 << 20;
    char *bytes = malloc(n);
    for (size_t i = 0; i < n; i++)
        bytes[i] = (char)(i * 31 >> 7);
    struct fk_http_ask post = {
        .method = "POST", .path = FK_S("/big"), .body = {bytes, n}, .has_body = true};
    fk_test_ok(fk_http_client_call(c, &post, &r, &err), &err);
    snprintf(want, sizeof(want), "%zu %016llx", n, (unsigned long long)fk_checksum(bytes, n));
    assert_true(fk_str_starts(fk_buf_view(&r.body), fk_str_of(want)));
    fk_http_reply_free(&r);
    free(bytes);
    struct fk_out out = {count_out, &got};
    struct fk_http_ask get = {
        .method = "GET", .path = FK_S("/stream"), .query = FK_S("n=5000000"), .out = &out};
    fk_test_ok(fk_http_client_call(c, &get, &r, &err), &err);
    assert_int_equal(got, 5000000);
    fk_http_reply_free(&r);
    fk_http_client_free(c);
}

static void test_whom_it_trusts(void **state)
{
    struct fk_http_reply r;
    struct fk_err err;
    struct fk_http_ask get = {.method = "GET", .path = FK_S("/item/x")};
    (void)state;
    struct fk_http_client *c = client_to("https", "127.0.0.1", other);
    fk_test_fails(fk_http_client_call(c, &get, &r, &err), FK_E_INVALID);
    assert_non_null(strstr(err.msg, "not trusted"));
    assert_non_null(strstr(err.msg, "--ca"));
    fk_http_reply_free(&r);
    fk_http_client_free(c);
    c = client_to("https", "127.0.0.1", NULL); // the system does not know our authority
    fk_test_fails(fk_http_client_call(c, &get, &r, &err), FK_E_INVALID);
    fk_http_reply_free(&r);
    fk_http_client_free(c);
    c = client_to("https", "127.1", ca); // another name than the certificate's
    fk_test_fails(fk_http_client_call(c, &get, &r, &err), FK_E_INVALID);
    assert_non_null(strstr(err.msg, "not for this name"));
    assert_non_null(strstr(err.msg, "DNS:localhost, IP Address:127.0.0.1"));
    assert_null(strstr(err.msg, "--ca")); // would not help
    fk_http_reply_free(&r);
    fk_http_client_free(c);
    struct fk_http_client_opts o = {.url = "https://x", .ca = key};
    fk_test_fails(fk_http_client_new(&o, &c, &err), FK_E_INVALID);
}

// TLS to a port that speaks none, and none to one that does.
static void test_crossed(void **state)
{
    struct fk_http_reply r;
    struct fk_err err;
    struct fk_http_ask get = {.method = "GET", .path = FK_S("/item/x")};
    struct fx tls = fx, clear;
    (void)state;
    struct fk_http_client *c = client_to("http", "127.0.0.1", NULL);
    int rc = fk_http_client_call(c, &get, &r, &err);
    assert_true(rc < 0 || r.status == 400);
    fk_http_reply_free(&r);
    fk_http_client_free(c);
    fx_start(&clear, fx_opts());
    fx.addr = clear.addr;
    c = client_to("https", "127.0.0.1", ca);
    assert_true(fk_http_client_call(c, &get, &r, &err) < 0);
    fk_http_reply_free(&r);
    fk_http_client_free(c);
    fx.addr = tls.addr;
    fx_stop(&clear);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_calls),
        cmocka_unit_test(test_bodies),
        cmocka_unit_test(test_whom_it_trusts),
        cmocka_unit_test(test_crossed),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
