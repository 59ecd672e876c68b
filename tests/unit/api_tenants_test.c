// SPDX-License-Identifier: Apache-2.0
// Tenants that must not see each other, over both APIs, and reads of several at once.
#include "api_fixture.h"

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

static int64_t rpc_total(struct world *w, const char *token)
{
    const struct answer *r =
        rpc(w, token, "SelectMergeStacktraces",
            "{\"profileTypeID\":\"" CPU "\",\"labelSelector\":\"{}\"," RANGE "}");
    expect(r, 200, "flamegraph");
    return strstr(r->body, "\"total\":\"") ? number_at(r->body, "\"total\":\"") : 0;
}

// The RPCs answer what is not there with nothing, so also what is another tenant's.
static void test_rpcs_and_tenants(void **state)
{
    struct world *w = *state;
    struct fk_token_text a = make(w, "alpha", 7), b = make(w, "beta", 7),
                         both = make(w, "alpha|beta", 7);
    char id[40], other[40], body[400];
    start(w, FK_AUTH_AUTO, false);
    push(w, a.text, NULL, "main;only_alpha 3", id);
    push(w, b.text, NULL, "main;only_beta 5", other);
    snprintf(body, sizeof(body),
             "{\"profileTypeID\":\"" CPU "\",\"labelSelector\":\"{}\"," RANGE
             ",\"profileIdSelector\":[\"%s\"]}",
             id);
    const struct answer *r = rpc(w, a.text, "SelectMergeStacktraces", body);
    expect(r, 200, "only_alpha");
    r = rpc(w, b.text, "SelectMergeStacktraces", body);
    expect(r, 200, "{");
    assert_null(strstr(r->body, "main"));
    r = rpc(w, b.text, "SelectMergeProfile", body);
    expect(r, 200, "{");
    assert_null(strstr(r->body, "only_alpha"));
    int64_t of_a = rpc_total(w, a.text), of_b = rpc_total(w, b.text);
    assert_true(of_a > 0 && of_b > of_a);
    assert_int_equal(rpc_total(w, both.text), of_a + of_b);
}

static const struct answer *settings(struct world *w, const char *token, const char *method,
                                     const char *body)
{
    char path[100];
    snprintf(path, sizeof(path), "/settings.v1.SettingsService/%s", method);
    return ASK(w, "POST", path, .token = token, .body = body, .name = "Content-Type",
               .value = "application/json");
}

static void test_settings_are_the_tenants(void **state)
{
    struct world *w = *state;
    struct fk_token_text a = make(w, "alpha", 7), b = make(w, "beta", FK_SCOPE_READ),
                         both = make(w, "alpha|beta", 7);
    const char *set = "{\"setting\":{\"name\":\"theme\",\"value\":\"of-alpha\"}}";
    start(w, FK_AUTH_AUTO, false);
    const struct answer *r = settings(w, a.text, "Set", set);
    assert_int_equal(r->status, 200);
    r = settings(w, a.text, "Get", "{}");
    expect(r, 200, "of-alpha");
    r = settings(w, b.text, "Get", "{}");
    expect(r, 200, "{");
    assert_null(strstr(r->body, "of-alpha"));
    r = settings(w, b.text, "Set", set);
    expect(r, 403, "scope admin");
    r = settings(w, both.text, "Get", "{}");
    expect(r, 400, "one tenant");
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
    r = ASK(w, NULL, "/api/v1/profiles?tenant=anonymous", .org = "ignored");
    expect(r, 200, id);
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

// A proxy that adds its field to the client's: neither may win.
static void test_fields_twice(void **state)
{
    struct world *w = *state;
    struct fk_token_text a = make(w, "alpha|beta", 7), b = make(w, "beta", 7);
    char one[200], two[200];
    snprintf(one, sizeof(one), "Bearer %s", a.text);
    snprintf(two, sizeof(two), "Bearer %s", b.text);
    start(w, FK_AUTH_AUTO, false);
    const struct answer *r =
        ASK(w, NULL, "/api/v1/profiles", .name = "Authorization", .value = one, .again = two);
    expect(r, 401, "no token of Flamekeep");
    r = ASK(w, NULL, "/api/v1/profiles", .name = "Authorization", .value = one, .again = one);
    expect(r, 200, "profiles");
    r = ASK(w, NULL, "/api/v1/profiles", .token = a.text, .name = "X-Scope-OrgID", .value = "alpha",
            .again = "beta");
    expect(r, 400, "two fields");
    r = ASK(w, NULL, "/api/v1/profiles", .token = a.text, .name = "X-Scope-OrgID", .value = "alpha",
            .again = "alpha");
    expect(r, 200, "profiles");
    r = ASK(w, NULL, "/api/v1/profiles?%74enant=alpha", .token = b.text);
    expect(r, 403, "not for the tenant alpha");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_tenants_by_token),
        TEST(test_cursor_of_another),
        TEST(test_reads_of_several),
        TEST(test_rpcs_and_tenants),
        TEST(test_settings_are_the_tenants),
        TEST(test_pages_of_several),
        TEST(test_multitenancy),
        TEST(test_no_tenants),
        TEST(test_rejects_are_the_tenants),
        TEST(test_originals_need_admin),
        TEST(test_fields_twice),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
