// SPDX-License-Identifier: Apache-2.0
// A running server with an API behind it, tokens, and a client, for the tests of access.
#ifndef FK_TESTS_API_FIXTURE_H
#define FK_TESTS_API_FIXTURE_H

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
    struct fk_addr at; // where the server listens
};

// ---- a server ----

static inline void start(struct world *w, enum fk_auth auth, bool multitenancy)
{
    struct fk_err err = {0};
    char url[FK_ADDR_CHARS + 16], bound[FK_ADDR_CHARS];
    struct fk_addr any;
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
    fk_test_ok(fk_http_server_listen(w->server, &any, &w->at, &err), &err);
    fk_test_ok(fk_http_server_start(w->server, &err), &err);
    fk_api_set_server(w->api, w->server);
    fk_api_set_ready(w->api, true);
    fk_addr_format(&w->at, bound);
    snprintf(url, sizeof(url), "http://%s", bound);
    fk_test_ok(fk_http_client_new(&(struct fk_http_client_opts){.url = url, .body_max = 1 << 20},
                                  &w->client, &err),
               &err);
}

static inline void stop(struct world *w)
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

static inline int setup(void **state)
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

static inline int teardown(void **state)
{
    struct world *w = *state;
    stop(w);
    fk_store_close(w->store);
    fk_state_close(w->state);
    fk_test_rmtree(w->tmp);
    fk_free(w);
    return 0;
}

static inline struct fk_token_text make(struct world *w, const char *tenants, uint32_t scopes)
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
    const char *again; // a second value of that field, NULL none
};

static inline void copy(char *to, size_t n, struct fk_str s)
{
    snprintf(to, n, "%.*s", FK_STR_ARG(fk_str_head(s, n - 1)));
}

// Lives until the next one.
static inline const struct answer *ask(struct world *w, struct ask a)
{
    struct fk_err err = {0};
    struct fk_http_reply reply = {0};
    struct answer *ret = &w->answer;
    char bearer[200];
    struct fk_http_field fields[4];
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
    if (a.again)
        fields[h.fields_n++] = (struct fk_http_field){fk_str_of(a.name), fk_str_of(a.again)};
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

static inline void expect(const struct answer *a, int status, const char *text)
{
    if (a->status != status)
        fail_msg("%d, not %d: %s", a->status, status, a->body);
    if (!strstr(a->body, text))
        fail_msg("no '%s' in %s", text, a->body);
}

static inline int64_t number_at(const char *body, const char *key)
{
    const char *at = strstr(body, key);
    if (!at)
        fail_msg("no %s in %s", key, body);
    return strtoll(at + strlen(key), NULL, 10);
}

// Pushes one line of folded stacks; the receipt's first id.
static inline void push(struct world *w, const char *token, const char *org, const char *line,
                        char id[40])
{
    const struct answer *a = ASK(w, "POST", "/ingest?name=web&from=1700000000&until=1700000010",
                                 .body = line, .token = token, .org = org);
    const char *at = strstr(a->body, "\"id\":\"");
    if (a->status != 200 || !at)
        fail_msg("push: %d %s", a->status, a->body);
    snprintf(id, 40, "%.36s", at + 6);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

#endif
