// SPDX-License-Identifier: Apache-2.0
// Who is answered: each kind of token against each endpoint of the table over a real connection,
// and what comes from where (Bearer, Basic, cookie).
#include "api_fixture.h"

// ---- the table ----

static void test_each_endpoint_has_one_scope(void **state)
{
    (void)state;
    const unsigned all = FK_API_PUSH | FK_API_READ | FK_API_ADMIN | FK_API_ANY | FK_API_OPEN;
    for (size_t i = 0; i < fk_api_table_n; i++)
        if (__builtin_popcount(fk_api_table[i].flags & all) != 1)
            fail_msg("%s %s: give it one of FK_API_PUSH, _READ, _ADMIN, _ANY, _OPEN in routes.c",
                     fk_api_table[i].method, fk_api_table[i].pattern);
}

// What stays open is written down here too: a slip in the table would else go unnoticed.
static void test_open_endpoints(void **state)
{
    (void)state;
    static const char *const open[] = {"/ready",
                                       "/healthz",
                                       "/",
                                       "/{rest...}",
                                       "/api/v1/logout",
                                       "/api/v1/login",
                                       "/grpc.health.v1.Health/Check",
                                       "/grpc.health.v1.Health/Watch"};
    for (size_t i = 0; i < fk_api_table_n; i++) {
        bool listed = false;
        for (size_t k = 0; k < FK_COUNTOF(open); k++)
            listed |= strcmp(fk_api_table[i].pattern, open[k]) == 0;
        if (listed != ((fk_api_table[i].flags & FK_API_OPEN) != 0))
            fail_msg("%s: open or not?", fk_api_table[i].pattern);
    }
}

// A path that fits the pattern.
static void fill_pattern(const char *pattern, char *to, size_t n)
{
    struct fk_str rest = fk_str_of(pattern), part;
    size_t at = 0;
    fk_str_split(&rest, '/', &part);
    while (fk_str_split(&rest, '/', &part))
        at += (size_t)snprintf(to + at, n - at, "/%.*s",
                               FK_STR_ARG(part.n && part.p[0] == '{' ? FK_S("x") : part));
}

// need: scope of the endpoint, 0: any or none; scopes: of the token, 0: it is good for nothing.
static void try_endpoint(struct world *w, const struct fk_api_endpoint *e, const char *token,
                         uint32_t scopes)
{
    char path[200];
    fill_pattern(e->pattern, path, sizeof(path));
    uint32_t need = e->flags & FK_API_PUSH    ? FK_SCOPE_PUSH
                    : e->flags & FK_API_READ  ? FK_SCOPE_READ
                    : e->flags & FK_API_ADMIN ? FK_SCOPE_ADMIN
                                              : 0;
    const struct answer *a = ask(w, (struct ask){.method = e->method,
                                                 .path = path,
                                                 .token = token,
                                                 .body = e->method[0] == 'P' ? "" : NULL});
    bool login = e->handle == fk_api_login;
    int expected = e->flags & FK_API_OPEN     ? 0
                   : scopes == 0              ? 401
                   : need && !(scopes & need) ? 403
                                              : 0;
    if (expected ? a->status != expected : !login && (a->status == 401 || a->status == 403))
        fail_msg("%s %s with %s: %d, not %d: %s", e->method, path, token ? token : "no token",
                 a->status, expected, a->body);
    if (expected == 401)
        assert_non_null(strstr(a->challenge, "Bearer realm="));
    if (expected == 403)
        assert_non_null(strstr(a->challenge, "insufficient_scope"));
}

static void test_scopes_and_routes(void **state)
{
    struct world *w = *state;
    struct fk_err err;
    struct fk_token_text push = make(w, "anonymous", FK_SCOPE_PUSH),
                         read = make(w, "anonymous", FK_SCOPE_READ),
                         admin = make(w, "anonymous", FK_SCOPE_ADMIN),
                         all = make(w, "anonymous", 7), revoked = make(w, "anonymous", 7), expired,
                         wrong = all, unknown;
    fk_test_ok(fk_token_make(&unknown, &err), &err);
    fk_test_ok(fk_state_token_revoke(w->state, fk_str_of(revoked.id), 5, &err), &err);
    fk_test_ok(fk_token_make(&expired, &err), &err);
    struct fk_token t = {.id = fk_str_of(expired.id),
                         .name = FK_S(""),
                         .tenants = FK_S("anonymous"),
                         .scopes = 7,
                         .created_ms = 1,
                         .expires_ms = 2};
    memcpy(t.hash, expired.hash, sizeof(t.hash));
    fk_test_ok(fk_state_token_add(w->state, &t, &err), &err);
    wrong.text[FK_TOKEN_CHARS - 1] = wrong.text[FK_TOKEN_CHARS - 1] == '0' ? '1' : '0';
    start(w, FK_AUTH_AUTO, false);
    const struct {
        const char *token;
        uint32_t scopes;
    } tries[] = {{push.text, FK_SCOPE_PUSH},
                 {read.text, FK_SCOPE_READ},
                 {admin.text, FK_SCOPE_ADMIN},
                 {all.text, 7},
                 {revoked.text, 0},
                 {expired.text, 0},
                 {wrong.text, 0},
                 {unknown.text, 0},
                 {"nonsense", 0},
                 {NULL, 0}};
    for (size_t k = 0; k < FK_COUNTOF(tries); k++)
        for (size_t i = 0; i < fk_api_table_n; i++)
            try_endpoint(w, &fk_api_table[i], tries[k].token, tries[k].scopes);
}

// The error is in the form of the route, and says no more than it should.
static void test_forms_of_refusal(void **state)
{
    struct world *w = *state;
    struct fk_err err;
    struct fk_token_text read = make(w, "anonymous", FK_SCOPE_READ), gone = read;
    start(w, FK_AUTH_AUTO, false);
    const struct answer *a = ASK(w, "POST", "/ingest?name=x", .body = "a 1");
    expect(a, 401, "\"code\":\"unauthenticated\"");
    a = ASK(w, "POST", "/ingest?name=x", .body = "a 1", .token = read.text);
    expect(a, 403,
           "\"code\":\"permission_denied\",\"message\":\"this needs a token with the scope push");
    a = ASK(w, "POST", "/v1development/profiles", .body = "{}", .name = "Content-Type",
            .value = "application/json");
    expect(a, 401, "\"code\":16");
    a = ASK(w, NULL, "/api/v1/services");
    expect(a, 401, "\"status\":401");
    a = ASK(w, NULL, "/api/v1/services", .token = read.text);
    expect(a, 200, "services");
    fk_test_ok(fk_state_token_revoke(w->state, fk_str_of(read.id), 5, &err), &err);
    fk_test_ok(fk_api_refresh(w->api, &err), &err);
    a = ASK(w, NULL, "/api/v1/services", .token = read.text);
    expect(a, 401, "revoked");
    gone.text[FK_TOKEN_CHARS - 1] = gone.text[FK_TOKEN_CHARS - 1] == '0' ? '1' : '0';
    a = ASK(w, NULL, "/api/v1/services", .token = gone.text);
    expect(a, 401, "not known"); // who lacks the secret is not told that it was revoked
    a = ASK(w, NULL, "/metrics", .token = read.text);
    expect(a, 401, "revoked");
}

#define EXPORT "/opentelemetry.proto.collector.profiles.v1development.ProfilesService/Export"

// gRPC is refused as gRPC says it: 200, and the code beside it.
static void test_refusal_in_grpc(void **state)
{
    struct world *w = *state;
    static const char *const methods[] = {"/push.v1.PusherService/Push", EXPORT};
    struct fk_token_text read = make(w, "anonymous", FK_SCOPE_READ);
    start(w, FK_AUTH_AUTO, false);
    for (size_t i = 0; i < FK_COUNTOF(methods); i++) {
        const struct answer *a = ASK(w, "POST", methods[i], .body = "", .name = "Content-Type",
                                     .value = "application/grpc");
        assert_int_equal(a->status, 200);
        assert_string_equal(a->grpc, "16");
        a = ASK(w, "POST", methods[i], .body = "", .name = "Content-Type",
                .value = "application/grpc", .token = read.text);
        assert_int_equal(a->status, 200);
        assert_string_equal(a->grpc, "7");
    }
}

// ---- when tokens are asked for ----

static void test_modes(void **state)
{
    struct world *w = *state;
    struct fk_err err;
    start(w, FK_AUTH_AUTO, false);
    const struct answer *a =
        ASK(w, NULL, "/api/v1/services", .token = "whatever", .org = "ignored");
    expect(a, 200, "services"); // without tokens the fields mean nothing
    struct fk_token_text t = make(w, "anonymous", FK_SCOPE_READ);
    a = ASK(w, NULL, "/api/v1/services");
    expect(a, 401, "asks for a token");
    fk_test_ok(fk_state_token_revoke(w->state, fk_str_of(t.id), 5, &err), &err);
    fk_test_ok(fk_api_refresh(w->api, &err), &err);
    a = ASK(w, NULL, "/api/v1/services");
    expect(a, 401, "asks for a token"); // the last one's end opens nothing
    stop(w);
    start(w, FK_AUTH_NONE, false);
    a = ASK(w, NULL, "/api/v1/services");
    expect(a, 200, "services");
    stop(w);
    start(w, FK_AUTH_TOKENS, false);
    a = ASK(w, NULL, "/ready");
    expect(a, 200, "ready");
    a = ASK(w, NULL, "/api/v1/services");
    expect(a, 401, "asks for a token");
}

static void test_tokens_asked_for_without_one(void **state)
{
    struct world *w = *state;
    start(w, FK_AUTH_TOKENS, false);
    const struct answer *a = ASK(w, NULL, "/api/v1/services");
    expect(a, 401, "asks for a token");
}

// ---- where a token may stand ----

static int with_basic(struct world *w, const char *pair)
{
    char text[400];
    FK_AUTO_BUF b;
    fk_buf_init(&b, 0);
    fk_base64_put(&b, fk_str_of(pair));
    snprintf(text, sizeof(text), "Basic %.*s", FK_STR_ARG(fk_buf_view(&b)));
    return ASK(w, NULL, "/api/v1/services", .name = "authorization", .value = text)->status;
}

static int with_field(struct world *w, const char *name, const char *value)
{
    return ASK(w, NULL, "/api/v1/services", .name = name, .value = value)->status;
}

static void test_where_tokens_stand(void **state)
{
    struct world *w = *state;
    struct fk_token_text t = make(w, "anonymous", FK_SCOPE_READ);
    char text[400];
    start(w, FK_AUTH_AUTO, false);
    static const char *const users[] = {"", "u", "us", "use", "anonymous", "a user with blanks"};
    for (size_t i = 0; i < FK_COUNTOF(users); i++) { // each length of the last group
        snprintf(text, sizeof(text), "%s:%s", users[i], t.text);
        assert_int_equal(with_basic(w, text), 200);
        snprintf(text, sizeof(text), "%s:%sx", users[i], t.text);
        assert_int_equal(with_basic(w, text), 401);
    }
    snprintf(text, sizeof(text), "%s:", t.text);
    assert_int_equal(with_basic(w, text), 200);
    assert_int_equal(with_basic(w, t.text), 200);
    assert_int_equal(with_basic(w, ":"), 401);
    assert_int_equal(with_field(w, "Authorization", "Basic"), 401);
    assert_int_equal(with_field(w, "Authorization", "Basic ****"), 401);
    assert_int_equal(with_field(w, "Authorization", ""), 401);
    assert_int_equal(with_field(w, "Authorization", t.text), 401);
    snprintf(text, sizeof(text), "bearer  %s ", t.text);
    assert_int_equal(with_field(w, "Authorization", text), 200);
    snprintf(text, sizeof(text), "a=b; flamekeep_token=%s; c=d", t.text);
    assert_int_equal(with_field(w, "Cookie", text), 200);
    snprintf(text, sizeof(text), "xflamekeep_token=%s", t.text);
    assert_int_equal(with_field(w, "Cookie", text), 401);
    snprintf(text, sizeof(text), "flamekeep_token=%s", t.text);
    const struct answer *a =
        ASK(w, NULL, "/api/v1/services", .token = "bad", .name = "Cookie", .value = text);
    expect(a, 401, "no token of Flamekeep"); // a cookie does not mend it
}

static void test_login(void **state)
{
    struct world *w = *state;
    struct fk_token_text t = make(w, "one|two", FK_SCOPE_READ | FK_SCOPE_PUSH);
    char cookie[300];
    start(w, FK_AUTH_AUTO, false);
    const struct answer *a = ASK(w, "POST", "/api/v1/login", .body = "fk_wrong");
    expect(a, 401, "no token");
    assert_string_equal(a->cookie, "");
    a = ASK(w, "POST", "/api/v1/login", .body = t.text);
    expect(a, 200, "\"scopes\":[\"push\",\"read\"],\"tenants\":[\"one\",\"two\"]");
    assert_non_null(strstr(a->cookie, "; HttpOnly; SameSite=Strict"));
    assert_null(strstr(a->cookie, "Secure"));
    snprintf(cookie, sizeof(cookie), "%.*s", (int)strcspn(a->cookie, ";"), a->cookie);
    a = ASK(w, NULL, "/api/v1/session", .name = "Cookie", .value = cookie);
    expect(a, 200, "\"auth\":\"token\",\"multitenancy\":false,\"name\":\"test\"");
    a = ASK(w, NULL, "/api/v1/session");
    expect(a, 401, "asks for a token");
    a = ASK(w, "POST", "/api/v1/logout", .body = "");
    assert_int_equal(a->status, 200);
    assert_non_null(strstr(a->cookie, "flamekeep_token=; "));
    assert_non_null(strstr(a->cookie, "Max-Age=0"));
    // a page of somebody else may not log a browser in
    a = ASK(w, "POST", "/api/v1/login", .body = t.text, .name = "Origin",
            .value = "https://evil.example");
    expect(a, 403, "may not write here");
}

// ---- lack of memory ----

// Those known before stay good.
static void test_refresh_without_memory(void **state)
{
    struct world *w = *state;
    struct fk_err err = {0};
    struct fk_token_text first = make(w, "anonymous", FK_SCOPE_READ), second;
    struct fk_caller who;
    FK_AUTO_ARENA arena;
    bool failed = true;
    fk_arena_init(&arena, 0);
    start(w, FK_AUTH_AUTO, false);
    fk_test_ok(fk_token_make(&second, &err), &err);
    struct fk_token t = {.id = fk_str_of(second.id),
                         .name = FK_S(""),
                         .tenants = FK_S("anonymous"),
                         .scopes = FK_SCOPE_READ};
    memcpy(t.hash, second.hash, sizeof(t.hash));
    fk_test_ok(fk_state_token_add(w->state, &t, &err), &err);
    for (uint64_t k = 1; failed && k < 50; k++) {
        fk_mem_fail_after(k, true);
        int r = fk_api_refresh(w->api, &err);
        failed = fk_mem_failed() > 0;
        fk_mem_fail_after(0, false);
        assert_int_equal(r, failed ? -FK_E_NOMEM : 0);
        fk_test_ok(fk_access_find(w->api->access, fk_str_of(first.text), 5, &arena, &who, &err),
                   &err);
    }
    assert_false(failed);
    fk_test_ok(fk_access_find(w->api->access, fk_str_of(second.text), 5, &arena, &who, &err), &err);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_endpoint_has_one_scope),
        cmocka_unit_test(test_open_endpoints),
        TEST(test_scopes_and_routes),
        TEST(test_forms_of_refusal),
        TEST(test_refusal_in_grpc),
        TEST(test_modes),
        TEST(test_tokens_asked_for_without_one),
        TEST(test_where_tokens_stand),
        TEST(test_login),
        TEST(test_refresh_without_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
