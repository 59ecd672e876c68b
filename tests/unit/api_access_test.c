// SPDX-License-Identifier: Apache-2.0
// Who is answered: each kind of token against each endpoint of the table over a real connection,
// what comes from where (Bearer, Basic, cookie), tenants that must not see each other, and reads of
// several at once.
#include "api/access_int.h"

#include "support/support.h"
#include "support/test.h"

struct answer {
    int status;
    char body[4096], challenge[160], cookie[256], grpc[8];
};

struct world {
    struct answer answer; // the last one
    char *tmp;
    struct fk_store *store;
    struct fk_state *state;
    struct fk_api *api;
    struct fk_pool *pool;
    struct fk_http_server *server;
    struct fk_http_client *client;
};

// ---- a server ----

static void start(struct world *w, enum fk_auth auth, bool multitenancy)
{
    struct fk_err err = {0};
    char url[FK_ADDR_CHARS + 16], bound[FK_ADDR_CHARS];
    struct fk_addr any, at;
    size_t n;
    fk_test_ok(fk_api_new(&(struct fk_api_opts){.store = w->store,
                                                .state = w->state,
                                                .limits = fk_limits_default(),
                                                .auth = auth,
                                                .multitenancy = multitenancy},
                          &w->api, &err),
               &err);
    fk_test_ok(fk_api_refresh(w->api, &err), &err);
    fk_test_ok(fk_pool_new(&(struct fk_pool_opts){.workers = 2, .name = "t"}, &w->pool, &err),
               &err);
    const struct fk_http_route *routes = fk_api_routes(w->api, &n);
    struct fk_http_server_opts o = {.routes = routes,
                                    .routes_n = n,
                                    .pool = w->pool,
                                    .limits = fk_http_limits_default(),
                                    .arg = w->api,
                                    .admit = fk_api_admit};
    fk_test_ok(fk_http_server_new(&o, &w->server, &err), &err);
    fk_test_ok(fk_addr_parse(FK_S("127.0.0.1:0"), 0, &any, &err), &err);
    fk_test_ok(fk_http_server_listen(w->server, &any, &at, &err), &err);
    fk_test_ok(fk_http_server_start(w->server, &err), &err);
    fk_api_set_server(w->api, w->server);
    fk_api_set_ready(w->api, true);
    fk_addr_format(&at, bound);
    snprintf(url, sizeof(url), "http://%s", bound);
    fk_test_ok(fk_http_client_new(&(struct fk_http_client_opts){.url = url, .body_max = 1 << 20},
                                  &w->client, &err),
               &err);
}

static void stop(struct world *w)
{
    fk_http_client_free(w->client);
    fk_http_server_free(w->server);
    fk_pool_free(w->pool);
    fk_api_free(w->api);
    w->client = NULL;
    w->server = NULL;
    w->pool = NULL;
    w->api = NULL;
}

static int setup(void **state)
{
    struct world *w = fk_calloc(1, sizeof(*w));
    struct fk_err err = {0};
    char path[FK_PATH_MAX];
    assert_non_null(w);
    *state = w;
    w->tmp = fk_test_tmpdir();
    fk_test_ok(fk_path_printf(path, &err, "%s/state.db", w->tmp), &err);
    fk_test_ok(fk_state_open(path, &w->state, &err), &err);
    fk_test_ok(
        fk_store_open(&(struct fk_store_opts){.dir = w->tmp, .min_free = 1, .run_inline = true},
                      &w->store, &err),
        &err);
    return 0;
}

static int teardown(void **state)
{
    struct world *w = *state;
    stop(w);
    fk_store_close(w->store);
    fk_state_close(w->state);
    fk_test_rmtree(w->tmp);
    fk_free(w);
    return 0;
}

static struct fk_token_text make(struct world *w, const char *tenants, uint32_t scopes)
{
    struct fk_err err = {0};
    struct fk_token_text text;
    fk_test_ok(fk_token_make(&text, &err), &err);
    struct fk_token t = {.id = fk_str_of(text.id),
                         .name = FK_S("test"),
                         .tenants = fk_str_of(tenants),
                         .scopes = scopes,
                         .created_ms = 1};
    memcpy(t.hash, text.hash, sizeof(t.hash));
    fk_test_ok(fk_state_token_add(w->state, &t, &err), &err);
    if (w->api)
        fk_test_ok(fk_api_refresh(w->api, &err), &err);
    return text;
}

// ---- asking ----

struct ask {
    const char *method, *path; // with its query
    const char *token;         // Bearer, NULL none
    const char *org;           // X-Scope-OrgID, NULL none
    const char *name, *value;  // one more field
    const char *body;
};

static void copy(char *to, size_t n, struct fk_str s)
{
    snprintf(to, n, "%.*s", FK_STR_ARG(fk_str_head(s, n - 1)));
}

// Lives until the next one.
static const struct answer *ask(struct world *w, struct ask a)
{
    struct fk_err err = {0};
    struct fk_http_reply reply = {0};
    struct answer *ret = &w->answer;
    char bearer[200];
    struct fk_http_field fields[3];
    struct fk_str target = fk_str_of(a.path), rest = target, path;
    fk_str_split(&rest, '?', &path);
    struct fk_http_ask h = {.method = a.method ? a.method : "GET",
                            .path = path,
                            .query = rest.p ? rest : FK_S(""),
                            .fields = fields,
                            .body = fk_str_of(a.body),
                            .has_body = a.body != NULL};
    snprintf(bearer, sizeof(bearer), "Bearer %s", a.token ? a.token : "");
    if (a.token)
        fields[h.fields_n++] = (struct fk_http_field){FK_S("Authorization"), fk_str_of(bearer)};
    if (a.org)
        fields[h.fields_n++] = (struct fk_http_field){FK_S("X-Scope-OrgID"), fk_str_of(a.org)};
    if (a.name)
        fields[h.fields_n++] = (struct fk_http_field){fk_str_of(a.name), fk_str_of(a.value)};
    fk_test_ok(fk_http_client_call(w->client, &h, &reply, &err), &err);
    ret->status = reply.status;
    copy(ret->body, sizeof(ret->body), fk_buf_view(&reply.body));
    copy(ret->challenge, sizeof(ret->challenge), fk_http_reply_field(&reply, "WWW-Authenticate"));
    copy(ret->cookie, sizeof(ret->cookie), fk_http_reply_field(&reply, "Set-Cookie"));
    copy(ret->grpc, sizeof(ret->grpc), fk_http_reply_field(&reply, "grpc-status"));
    fk_http_reply_free(&reply);
    return ret;
}
#define ASK(w, ...) ask(w, (struct ask){__VA_ARGS__})

static void expect(const struct answer *a, int status, const char *text)
{
    if (a->status != status)
        fail_msg("%d, not %d: %s", a->status, status, a->body);
    if (!strstr(a->body, text))
        fail_msg("no '%s' in %s", text, a->body);
}

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

// ---- tenants ----

// Pushes one line of folded stacks; the receipt's first id.
static void push(struct world *w, const char *token, const char *org, const char *line, char id[40])
{
    const struct answer *a = ASK(w, "POST", "/ingest?name=web&from=1700000000&until=1700000010",
                                 .body = line, .token = token, .org = org);
    const char *at = strstr(a->body, "\"id\":\"");
    if (a->status != 200 || !at)
        fail_msg("push: %d %s", a->status, a->body);
    snprintf(id, 40, "%.36s", at + 6);
}

static void refused(struct world *w, const char *token, const char *before, const char *id)
{
    char path[300];
    snprintf(path, sizeof(path), "%s%s", before, id);
    const struct answer *a = ASK(w, NULL, path, .token = token);
    if (a->status != 404)
        fail_msg("%s: %d %s", path, a->status, a->body);
}

static const char *const id_paths[] = {"/api/v1/profiles/",
                                       "/api/v1/flamegraph?id=",
                                       "/api/v1/top?id=",
                                       "/api/v1/export?format=pprof&id=",
                                       "/api/v1/export?format=folded&id=",
                                       "/api/v1/export?format=original&id=",
                                       "/api/v1/sandwich?function=a&id=",
                                       "/api/v1/timeline?id=",
                                       "/api/v1/diff?right_query={}&left_id="};

static void test_tenants_by_token(void **state)
{
    struct world *w = *state;
    struct fk_token_text a = make(w, "alpha", 7), b = make(w, "beta", 7), both;
    char id_a[40], id_b[40], adhoc[40], path[400];
    start(w, FK_AUTH_AUTO, false);
    push(w, a.text, NULL, "main;a 3", id_a);
    push(w, b.text, "beta", "main;b 4", id_b);
    for (size_t i = 0; i < FK_COUNTOF(id_paths); i++)
        refused(w, b.text, id_paths[i], id_a);
    snprintf(path, sizeof(path), "/api/v1/profiles/%s", id_a);
    const struct answer *r = ASK(w, NULL, path, .token = a.text);
    expect(r, 200, id_a);
    r = ASK(w, NULL, "/api/v1/profiles", .token = b.text);
    expect(r, 200, id_b);
    assert_null(strstr(r->body, id_a));
    // what is looked at and not stored is its tenant's too
    r = ASK(w, "POST", "/api/v1/upload?store=false&format=folded", .body = "x;y 5\n",
            .token = a.text);
    expect(r, 200, "\"id\":\"");
    snprintf(adhoc, sizeof(adhoc), "%.36s", strstr(r->body, "\"id\":\"") + 6);
    refused(w, b.text, "/api/v1/profiles/", adhoc);
    refused(w, b.text, "/api/v1/flamegraph?id=", adhoc);
    snprintf(path, sizeof(path), "/api/v1/profiles/%s", adhoc);
    r = ASK(w, NULL, path, .token = a.text);
    expect(r, 200, adhoc);
    both = make(w, "alpha|beta", 7);
    r = ASK(w, NULL, path, .token = both.text);
    expect(r, 200, adhoc);
    // others' tenants
    r = ASK(w, NULL, "/api/v1/profiles", .token = a.text, .org = "beta");
    expect(r, 403, "not for the tenant beta");
    r = ASK(w, NULL, "/api/v1/profiles?tenant=beta", .token = a.text);
    expect(r, 403, "not for the tenant beta");
    r = ASK(w, NULL, "/api/v1/profiles", .token = a.text, .org = "alpha|beta");
    expect(r, 403, "not for the tenant beta");
    r = ASK(w, NULL, "/api/v1/profiles?tenant=beta", .token = both.text, .org = "alpha");
    expect(r, 400, "different tenants");
    r = ASK(w, NULL, "/api/v1/profiles?tenant=beta", .token = both.text);
    expect(r, 200, id_b);
    assert_null(strstr(r->body, id_a));
    r = ASK(w, NULL, "/api/v1/profiles", .token = both.text, .org = "alpha");
    expect(r, 200, id_a);
    assert_null(strstr(r->body, id_b));
}

// A cursor of one tenant's list is none of another's.
static void test_cursor_of_another(void **state)
{
    struct world *w = *state;
    struct fk_token_text a = make(w, "alpha", 7), b = make(w, "beta", 7);
    char id[40], path[400];
    start(w, FK_AUTH_AUTO, false);
    for (int i = 0; i < 3; i++) {
        snprintf(path, sizeof(path), "main;a %d", 3 + i);
        push(w, a.text, NULL, path, id);
        push(w, b.text, NULL, path, id);
    }
    const struct answer *r = ASK(w, NULL, "/api/v1/profiles?limit=1", .token = a.text);
    const char *at = strstr(r->body, "\"next_cursor\":\"");
    assert_non_null(at);
    snprintf(path, sizeof(path), "/api/v1/profiles?limit=1&cursor=%.200s", at + 15);
    path[strcspn(path, "\"")] = 0;
    r = ASK(w, NULL, path, .token = a.text);
    expect(r, 200, "\"profiles\":[{");
    r = ASK(w, NULL, path, .token = b.text);
    expect(r, 404, "no such cursor");
}

static int64_t number_at(const char *body, const char *key)
{
    const char *at = strstr(body, key);
    if (!at)
        fail_msg("no %s in %s", key, body);
    return strtoll(at + strlen(key), NULL, 10);
}

static const struct answer *rpc(struct world *w, const char *token, const char *method,
                                const char *body)
{
    char path[200];
    snprintf(path, sizeof(path), "/querier.v1.QuerierService/%s", method);
    return ASK(w, "POST", path, .token = token, .body = body, .name = "Content-Type",
               .value = "application/json");
}

#define RANGE "\"start\":1600000000000,\"end\":1800000000000"
#define CPU   "process_cpu:cpu:nanoseconds:cpu:nanoseconds"

// What is asked of two tenants at once is the sum of both.
static void test_reads_of_several(void **state)
{
    struct world *w = *state;
    struct fk_token_text a = make(w, "alpha", 7), b = make(w, "beta", 7),
                         both = make(w, "alpha|beta", 7);
    const char *const token[] = {a.text, b.text, both.text};
    char id[40];
    int64_t tree[3], points[3], top[3], list[3];
    const struct answer *r;
    start(w, FK_AUTH_AUTO, false);
    push(w, a.text, NULL, "main;a 3", id);
    push(w, a.text, NULL, "main;a;x 5", id);
    push(w, b.text, NULL, "main;b 11", id);
    for (int i = 0; i < 3; i++) {
        r = ASK(w, NULL, "/api/v1/flamegraph?query={}&type=" CPU, .token = token[i]);
        tree[i] = number_at(r->body, "\"total\":");
        r = ASK(w, NULL, "/api/v1/top?query={}&type=" CPU, .token = token[i]);
        top[i] = number_at(r->body, "\"total\":");
        r = ASK(w, NULL, "/api/v1/series?query={}&step=100000000s&type=" CPU, .token = token[i]);
        points[i] = number_at(strstr(r->body, "[["), ",");
        r = ASK(w, NULL, "/api/v1/services", .token = token[i]);
        list[i] = number_at(r->body, "\"profiles\":");
    }
    assert_int_equal(list[0], 2);
    assert_int_equal(list[1], 1);
    assert_int_equal(list[2], 3);
    assert_true(tree[0] > 0 && tree[1] > 0);
    assert_int_equal(tree[2], tree[0] + tree[1]);
    assert_int_equal(top[2], top[0] + top[1]);
    assert_int_equal(points[2], points[0] + points[1]);
    r = rpc(w, both.text, "Series", "{\"labelNames\":[\"service_name\"]," RANGE "}");
    expect(r, 200, "\"value\":\"web\"");
    r = rpc(w, both.text, "GetProfileStats", "{}");
    expect(r, 400, "one tenant");
    r = ASK(w, "POST", "/ingest?name=web", .token = both.text, .body = "x 1");
    expect(r, 400, "one tenant");
    r = ASK(w, "POST", "/ingest?name=web", .token = both.text, .body = "x 1", .org = "beta");
    assert_int_equal(r->status, 200);
}

// Pages of a merged list, and its cursor with the tenants named in another order.
static void test_pages_of_several(void **state)
{
    struct world *w = *state;
    struct fk_token_text both = make(w, "alpha|beta", 7);
    char id[40], path[400];
    size_t seen = 0;
    start(w, FK_AUTH_AUTO, false);
    for (int i = 0; i < 6; i++) {
        snprintf(path, sizeof(path), "main;a %d", 3 + i);
        push(w, both.text, i % 2 ? "alpha" : "beta", path, id);
    }
    const struct answer *r = ASK(w, NULL, "/api/v1/profiles?limit=1", .token = both.text);
    for (const char *at; (at = strstr(r->body, "\"next_cursor\":\"")) != NULL; seen++) {
        snprintf(path, sizeof(path), "/api/v1/profiles?limit=1&cursor=%.200s", at + 15);
        path[strcspn(path, "\"")] = 0;
        r = ASK(w, NULL, path, .token = both.text,
                .org = seen % 2 ? "beta|alpha" : "alpha | beta|alpha");
        expect(r, 200, "\"profiles\":[{");
    }
    assert_int_equal(seen, 5);
}

static void test_multitenancy(void **state)
{
    struct world *w = *state;
    char id[40], long_name[200];
    start(w, FK_AUTH_AUTO, true);
    const struct answer *r = ASK(w, NULL, "/api/v1/profiles");
    expect(r, 401, "no org id");
    r = ASK(w, "POST", "/ingest?name=web", .body = "x 1");
    expect(r, 401, "\"code\":\"unauthenticated\"");
    r = rpc(w, NULL, "LabelNames", "{}");
    expect(r, 401, "\"code\":\"unauthenticated\"");
    r = ASK(w, NULL, "/api/v1/session");
    expect(r, 200, "\"multitenancy\":true");
    r = ASK(w, NULL, "/ready");
    expect(r, 200, "ready");
    r = ASK(w, NULL, "/metrics"); // nobody's in particular
    expect(r, 200, "flamekeep_access_refused_total");
    push(w, NULL, "alpha", "main;a 3", id);
    r = ASK(w, NULL, "/api/v1/profiles", .org = "alpha");
    expect(r, 200, id);
    r = ASK(w, NULL, "/api/v1/profiles?tenant=alpha");
    expect(r, 200, id);
    r = ASK(w, NULL, "/api/v1/profiles", .org = "alpha|beta");
    expect(r, 200, id);
    r = ASK(w, NULL, "/api/v1/profiles", .org = "anonymous");
    expect(r, 200, "\"profiles\":[]");
    r = ASK(w, "POST", "/ingest?name=web", .body = "x 1", .org = "alpha|beta");
    expect(r, 400, "one tenant");
    memset(long_name, 'a', 151);
    long_name[151] = 0;
    const char *const bad[] = {"a/b", ".", "..", "a|..", "a||b", "\xc3\xa4", "a b", long_name};
    for (size_t i = 0; i < FK_COUNTOF(bad); i++) {
        r = ASK(w, NULL, "/api/v1/profiles", .org = bad[i]);
        expect(r, 400, "is no tenant");
    }
    r = ASK(w, NULL, "/api/v1/profiles", .org = long_name + 1);
    expect(r, 200, "\"profiles\":[]");
    r = ASK(w, NULL, "/api/v1/profiles", .org = "a!-_.*'()Z9");
    expect(r, 200, "\"profiles\":[]");
}

static void test_no_tenants(void **state)
{
    struct world *w = *state;
    char id[40];
    start(w, FK_AUTH_AUTO, false);
    push(w, NULL, "somebody", "main;a 3", id);
    const struct answer *r = ASK(w, NULL, "/api/v1/profiles", .org = "../else");
    expect(r, 200, id);
    r = ASK(w, NULL, "/api/v1/profiles?tenant=anonymous");
    expect(r, 200, id);
    r = ASK(w, NULL, "/api/v1/profiles?tenant=alpha");
    expect(r, 400, "--multitenancy");
}

static void test_rejects_are_the_tenants(void **state)
{
    struct world *w = *state;
    start(w, FK_AUTH_AUTO, true);
    const struct answer *r =
        ASK(w, "POST", "/api/v1/upload?format=pprof", .body = "no", .org = "alpha");
    assert_true(r->status >= 400);
    r = ASK(w, NULL, "/api/v1/rejects", .org = "alpha");
    expect(r, 200, "\"total\":1,");
    expect(r, 200, "/api/v1/upload");
    r = ASK(w, NULL, "/api/v1/rejects", .org = "beta");
    expect(r, 200, "\"total\":0,\"reasons\":[],\"rejects\":[]");
    r = ASK(w, NULL, "/api/v1/rejects", .org = "alpha|beta");
    expect(r, 200, "\"total\":1,");
}

static void test_originals_need_admin(void **state)
{
    struct world *w = *state;
    struct fk_token_text read = make(w, "anonymous", FK_SCOPE_READ | FK_SCOPE_PUSH);
    char id[40], path[200];
    start(w, FK_AUTH_AUTO, false);
    push(w, read.text, NULL, "main;a 3", id);
    snprintf(path, sizeof(path), "/api/v1/export?format=original&id=%s", id);
    const struct answer *r = ASK(w, NULL, path, .token = read.text);
    expect(r, 403, "scope admin");
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

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

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
        TEST(test_tenants_by_token),
        TEST(test_cursor_of_another),
        TEST(test_reads_of_several),
        TEST(test_pages_of_several),
        TEST(test_multitenancy),
        TEST(test_no_tenants),
        TEST(test_rejects_are_the_tenants),
        TEST(test_originals_need_admin),
        TEST(test_refresh_without_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
