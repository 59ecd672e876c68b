// SPDX-License-Identifier: Apache-2.0
// The small services, each method in both codecs.
#include "api/rpc_small_int.h"
#include "api_rpc_world.h"

static void servers_say_what_they_are(void **state)
{
    struct world *w = *state;
    assert_string_equal(
        ask(w, "/version.v1.Version/Version", &rpc_empty_type, &rpc_version_type, "{}"),
        "{\"QuerierAPI\":\"1\"}");
    has(ask(w, "/capabilities.v1.FeatureFlagsService/GetFeatureFlags", &rpc_empty_type,
            &rpc_flags_type, "{}"),
        "{\"featureFlags\":[{\"name\":\"pyroscopeRuler\",\"description\":");
    has(ask(w, "/status.v1.StatusService/GetBuildInfo", &rpc_empty_type, &rpc_build_info_type,
            "{}"),
        "{\"status\":\"success\",\"data\":{\"version\":\"" FK_VERSION "\"}}");
    assert_string_equal(ask(w, "/status.v1.StatusService/GetDiffConfig", &rpc_empty_type,
                            &rpc_http_body_type, "{}"),
                        "{\"contentType\":\"text/plain; charset=utf-8\",\"data\":"
                        "\"ZGF0YTogIngiCg==\"}"); // data: "x"
    has(ask(w, "/status.v1.StatusService/GetConfig", &rpc_empty_type, &rpc_http_body_type, "{}"),
        "\"data\":\"");
    has(ask(w, "/status.v1.StatusService/GetDefaultConfig", &rpc_empty_type, &rpc_http_body_type,
            "{}"),
        "\"data\":\"");
}

static void source_code_is_not_read(void **state)
{
    static const char *const methods[] = {"GithubApp", "GithubLogin", "GithubRefresh",
                                          "GetFile",   "GetCommit",   "GetCommits"};
    struct world *w = *state;
    for (size_t i = 0; i < FK_COUNTOF(methods); i++)
        refuse(w, fk_arena_printf(&w->arena, "/vcs.v1.VCSService/%s", methods[i]).p, "{}", 501,
               "unimplemented", "source code");
}

#define SETTINGS "/settings.v1.SettingsService/"

static const char *settings(struct world *w)
{
    return ask(w, SETTINGS "Get", &rpc_empty_type, &rpc_settings_type, "{}");
}

static const char *set(struct world *w, const char *json)
{
    return ask(w, SETTINGS "Set", &rpc_setting_set_type, &rpc_setting_set_type, json);
}

static void settings_stay(void **state)
{
    struct world *w = *state;
    assert_string_equal(settings(w), "{}");
    set(w, "{\"setting\":{\"name\":\"theme\",\"value\":\"dark\",\"modifiedAt\":\"7\"}}");
    set(w, "{\"setting\":{\"name\":\"nodes\",\"value\":\"100\",\"modifiedAt\":9}}");
    const char *want = "{\"settings\":[{\"name\":\"nodes\",\"value\":\"100\",\"modifiedAt\":\"9\"},"
                       "{\"name\":\"theme\",\"value\":\"dark\",\"modifiedAt\":\"7\"}]}";
    assert_string_equal(settings(w), want);
    close_world(w);
    open_world(w);
    assert_string_equal(settings(w), want);
    refuse(w, SETTINGS "Set", "{\"setting\":{\"name\":\"theme\",\"value\":\"x\",\"modifiedAt\":6}}",
           409, "already_exists", "changed since");
    refuse(w, SETTINGS "Set", "{\"setting\":{\"value\":\"x\"}}", 400, "invalid_argument", "name");
    assert_string_equal(set(w, "{}"), "{}");
    refuse(w, SETTINGS "Delete", "{}", 400, "invalid_argument", "name is missing");
    assert_string_equal(
        ask(w, SETTINGS "Delete", &rpc_name_type, &rpc_empty_type, "{\"name\":\"theme\"}"), "{}");
    assert_string_equal(settings(w), "{\"settings\":[{\"name\":\"nodes\",\"value\":\"100\","
                                     "\"modifiedAt\":\"9\"}]}");
    // Without a time it is the present one.
    int status;
    const char *got = call(w, "POST", SETTINGS "Set", "application/json",
                           FK_S("{\"setting\":{\"name\":\"nodes\",\"value\":\"5\"}}"), &status);
    assert_int_equal(status, 200);
    has(got, "\"modifiedAt\":\"1");
    assert_true(strlen(got) > strlen("{\"setting\":{\"name\":\"nodes\",\"value\":\"5\",}}") + 20);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, world_setup, world_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(servers_say_what_they_are),
        TEST(source_code_is_not_read),
        TEST(settings_stay),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
