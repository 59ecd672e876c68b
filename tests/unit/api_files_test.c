// SPDX-License-Identifier: Apache-2.0
// Files that clients send beside profiles: ad hoc profiles and symbol files of programs. They
// survive a restart, stay within their room, and pass through their states in order.
#include "api/files_int.h"
#include "api_rpc_world.h"

#define A      "/adhocprofiles.v1.AdHocProfileService/"
#define D      "/debuginfo.v1alpha1.DebuginfoService/"
#define MINUTE (60 * FK_NS_PER_S)
#define OCTETS "application/octet-stream"

static const char *text_call(struct world *w, const char *target, const char *json)
{
    int status;
    const char *got = call(w, "POST", target, "application/json", fk_str_of(json), &status);
    if (status != 200)
        fail_msg("%s: %d %s", target, status, got);
    return got;
}

// ---- ad hoc profiles ----

static const char *upload_json(struct world *w, const char *name, const char *lines)
{
    FK_AUTO_BUF body, text;
    fk_buf_init(&body, 0);
    fk_buf_init(&text, 0);
    pprof_of(lines, &body);
    fk_base64_put(&text, fk_buf_view(&body));
    return fk_arena_printf(&w->arena, "{\"name\":\"%s\",\"profile\":\"%.*s\"}", name, (int)text.n,
                           text.p)
        .p;
}

static const char *upload(struct world *w, const char *name, const char *lines, const char **ret_id)
{
    fk_test_clock_add(&w->clock, FK_NS_PER_S);
    const char *got = text_call(w, A "Upload", upload_json(w, name, lines));
    const char *id = strstr(got, "{\"id\":\"");
    assert_ptr_equal(id, got);
    *ret_id = text_of(w, fk_str_make(id + 7, strcspn(id + 7, "\"")));
    return got;
}

static const char *list(struct world *w)
{
    return ask(w, A "List", &rpc_empty_type, &rpc_adhoc_list_type, "{}");
}

static void profiles_are_kept_as_files(void **state)
{
    struct world *w = *state;
    const char *id, *second;
    assert_string_equal(list(w), "{}");
    const char *got = upload(w, "my cpu.pb/gz", "main;f 3\nmain 1\n", &id);
    assert_int_equal(strlen(id), 26 + 1 + strlen("my_cpu.pb_gz"));
    has(got, "-my_cpu.pb_gz\",\"name\":\"my_cpu.pb_gz\",\"uploadedAt\":\"");
    has(got, "\"profileType\":\"cpu\",\"profileTypes\":[\"cpu\"],\"flamebearerProfile\":\"{"
             "\\\"version\\\":1,\\\"flamebearer\\\":{\\\"names\\\":[\\\"total\\\",\\\"main\\\","
             "\\\"f\\\"],\\\"levels\\\":[[0,4,0,0],[0,4,1,1],[1,3,3,2]],\\\"numTicks\\\":4");
    upload(w, "", "main;g 5\n", &second);
    close_world(w);
    open_world(w);
    const char *json = fk_arena_printf(&w->arena, "{\"id\":\"%s\",\"profileType\":\"cpu\"}", id).p;
    assert_string_equal(ask(w, A "Get", &rpc_adhoc_get_type, &rpc_adhoc_answer_type, json), got);
    const char *all = list(w);
    assert_true(strstr(all, second) && strstr(all, second) < strstr(all, id)); // newest first
    has(all, "\"name\":\"profile\"");
    json = fk_arena_printf(&w->arena, "{\"leftId\":\"%s\",\"rightId\":\"%s\"}", id, second).p;
    has(ask(w, A "Diff", &rpc_adhoc_diff_type, &rpc_adhoc_diff_answer_type, json),
        "{\"profileTypes\":[\"cpu\"],\"flamebearerProfile\":\"{\\\"version\\\":1,"
        "\\\"flamebearer\\\":{\\\"names\\\":[\\\"total\\\",\\\"main\\\",\\\"f\\\",\\\"g\\\"],"
        "\\\"levels\\\":[[0,4,0,0,5,0,0],[0,4,1,0,5,0,1],[1,3,3,0,0,0,2,0,0,0,0,5,5,3]]");
}

static void other_ids_and_files_are_refused(void **state)
{
    struct world *w = *state;
    const char *id;
    upload(w, "a", "main 1\n", &id);
    static const char *const bad[] = {"",
                                      "x",
                                      "../../../../../../../../../etc/passwd",
                                      "01HZZZZZZZZZZZZZZZZZZZZZZZ-",
                                      "01HZZZZZZZZZZZZZZZZZZZZZZZ-a/b",
                                      "91HZZZZZZZZZZZZZZZZZZZZZZZ-a",
                                      "01HZZZZZZZZZZZUZZZZZZZZZZZ-a"};
    for (size_t i = 0; i < FK_COUNTOF(bad); i++)
        refuse(w, A "Get", fk_arena_printf(&w->arena, "{\"id\":\"%s\"}", bad[i]).p, 400,
               "invalid_argument", "no id of an ad hoc profile");
    refuse(w, A "Get", "{\"id\":\"01HZZZZZZZZZZZZZZZZZZZZZZZ-a\"}", 404, "not_found",
           "01HZZZZZZZZZZZZZZZZZZZZZZZ-a");
    refuse(w, A "Get", fk_arena_printf(&w->arena, "{\"id\":\"%s\",\"profileType\":\"wall\"}", id).p,
           400, "invalid_argument", "no sample type 'wall'");
    refuse(w, A "Diff",
           fk_arena_printf(
               &w->arena, "{\"leftId\":\"%s\",\"rightId\":\"%s\",\"profileType\":\"wall\"}", id, id)
               .p,
           400, "invalid_argument", "wall in common");
    refuse(w, A "Upload", "{\"name\":\"a\",\"profile\":\"?\"}", 400, "invalid_argument", "base64");
    refuse(w, A "Upload", "{\"name\":\"a\"}", 400, "invalid_argument", "profile is missing");
    refuse(w, A "Upload", "{\"name\":\"a\",\"profile\":\"PGh0bWw+PC9odG1sPg==\"}", 400,
           "invalid_argument", "HTML");
    const char *all = list(w);
    assert_ptr_equal(strstr(strstr(all, "\"id\"") + 1, "\"id\""), NULL); // nothing of it was kept
}

static void the_oldest_make_room(void **state)
{
    struct world *w = *state;
    const char *id[3];
    upload(w, "a", "main 1\n", &id[0]);
    w->limits.adhoc_bytes = 2 * 200;
    close_world(w);
    open_world(w);
    upload(w, "b", "main;with;some;more;functions 2\n", &id[1]);
    upload(w, "c", "main;with;some;more;functions 3\n", &id[2]);
    const char *all = list(w);
    assert_null(strstr(all, id[0]));
    assert_non_null(strstr(all, id[2]));
    w->limits.adhoc_bytes = 20;
    close_world(w);
    open_world(w);
    refuse(w, A "Upload", upload_json(w, "d", "main 1\n"), 413, "invalid_argument",
           "--limit-adhoc");
    assert_non_null(strstr(list(w), id[2])); // what cannot be kept drives nothing out
}

// ---- symbol files ----

#define FILE_OF(id)                                                                                \
    "{\"file\":{\"gnuBuildId\":\"" id "\",\"name\":\"prog\",\"type\":\"TYPE_EXECUTABLE_FULL\"}}"

static const char *should(struct world *w, const char *json)
{
    return text_call(w, D "ShouldInitiateUpload", json);
}

static int post(struct world *w, const char *id, const char *body, size_t n)
{
    int status;
    const char *target = fk_arena_printf(&w->arena, D "Upload/%s", id).p;
    call(w, "POST", target, OCTETS, fk_str_make(body, n), &status);
    return status;
}

static const char *debug_list(struct world *w)
{
    return ask(w, D "ListDebuginfo", &rpc_empty_type, &rpc_debug_list_type, "{}");
}

static void files_pass_through_their_states(void **state)
{
    struct world *w = *state;
    assert_string_equal(debug_list(w), "{}");
    assert_int_equal(post(w, "aB12", "\177ELF", 4), 412); // nobody asked before
    has(should(w, FILE_OF("aB12")), "{\"shouldInitiateUpload\":true,\"reason\":");
    assert_string_equal(should(w, FILE_OF("ab12")), "{\"reason\":\"the file is being uploaded\"}");
    refuse(w, D "UploadFinished", "{\"gnuBuildId\":\"ab12\"}", 400, "failed_precondition",
           "no bytes");
    assert_int_equal(post(w, "ab12", "<html>", 6), 400);
    assert_int_equal(post(w, "ab12", "\177ELF and more", 13), 200);
    assert_int_equal(post(w, "ab12", "\177ELF and more", 13), 200); // an answer that got lost
    has(debug_list(w), "\"startedAt\":\"2026-01-01T00:00:00.000000000Z\",\"sizeBytes\":\"13\"");
    fk_test_clock_add(&w->clock, MINUTE);
    assert_string_equal(text_call(w, D "UploadFinished", "{\"gnuBuildId\":\"AB12\"}"), "{}");
    refuse(w, D "UploadFinished", "{\"gnuBuildId\":\"ab12\"}", 400, "failed_precondition",
           "uploaded already");
    assert_int_equal(post(w, "ab12", "\177ELF other", 10), 412);
    close_world(w);
    open_world(w);
    assert_string_equal(should(w, FILE_OF("ab12")), "{\"reason\":\"the file is here already\"}");
    assert_string_equal(
        debug_list(w),
        "{\"object\":[{\"file\":{\"gnuBuildId\":\"aB12\",\"name\":\"prog\",\"type\":"
        "\"TYPE_EXECUTABLE_FULL\"},\"state\":\"STATE_UPLOADED\",\"startedAt\":"
        "\"2026-01-01T00:00:00.000000000Z\",\"finishedAt\":\"2026-01-01T00:01:00.000000000Z\","
        "\"sizeBytes\":\"13\"}]}");
    text_call(w, D "DeleteDebuginfo", "{\"gnuBuildId\":\"ab12\"}");
    assert_string_equal(debug_list(w), "{}");
    text_call(w, D "DeleteDebuginfo", "{\"gnuBuildId\":\"ab12\"}");
}

static void stale_uploads_begin_anew(void **state)
{
    struct world *w = *state;
    has(should(w, FILE_OF("ab12")), "true");
    assert_int_equal(post(w, "ab12", "\177ELF 1", 6), 200);
    fk_test_clock_add(&w->clock, 7 * MINUTE);
    has(should(w, FILE_OF("ab12")), "true");
    refuse(w, D "UploadFinished", "{\"gnuBuildId\":\"ab12\"}", 400, "failed_precondition",
           "no bytes"); // those of the first time are gone
    assert_int_equal(post(w, "ab12", "\177ELF 12", 7), 200);
    text_call(w, D "UploadFinished", "{\"gnuBuildId\":\"ab12\"}");
    has(debug_list(w), "\"sizeBytes\":\"7\"");
}

static void files_that_make_no_sense(void **state)
{
    struct world *w = *state;
    has(should(w, "{}"), "{\"reason\":\"the file has no build id\"}");
    has(should(w, "{\"file\":{\"name\":\"x\"}}"), "no build id");
    refuse(w, D "ShouldInitiateUpload", FILE_OF("../x"), 400, "invalid_argument", "hex digits");
    refuse(w, D "ShouldInitiateUpload", FILE_OF("a"), 400, "invalid_argument", "2 to 40");
    refuse(w, D "ShouldInitiateUpload", "{\"file\":{\"gnuBuildId\":\"ab12\"}}", 400,
           "invalid_argument", "TYPE_EXECUTABLE_FULL");
    refuse(w, D "UploadFinished", "{\"gnuBuildId\":\"ab12\"}", 404, "not_found", "ab12");
    assert_int_equal(post(w, "xyz", "\177ELF", 4), 400);
    w->limits.debuginfo_bytes = 40;
    close_world(w);
    open_world(w);
    has(should(w, FILE_OF("ab12")), "true");
    assert_int_equal(post(w, "ab12", "\177ELF0123456789012345678901234567890123456789", 44), 200);
    has(should(w, FILE_OF("cd34")), "no room is left");
}

// Many may begin while there is room; who comes when there is none is refused. What nobody finished
// makes room for others.
static void begun_uploads_take_no_room_that_is_not_there(void **state)
{
    struct world *w = *state;
    w->limits.debuginfo_bytes = 100;
    close_world(w);
    open_world(w);
    has(should(w, FILE_OF("ab12")), "true");
    has(should(w, FILE_OF("cd34")), "true");
    char body[100] = "\177ELF";
    assert_int_equal(post(w, "ab12", body, sizeof(body)), 200);
    assert_int_equal(post(w, "cd34", body, sizeof(body)), 413);
    assert_int_equal(post(w, "ab12", body, sizeof(body)), 200); // it is here
    has(should(w, FILE_OF("ef56")), "no room is left");
    fk_test_clock_add(&w->clock, 7 * MINUTE);
    has(should(w, FILE_OF("ef56")), "true");
    assert_null(strstr(debug_list(w), "ab12"));
}

// By protobuf, from the question to the end.
static void states_in_protobuf(void **state)
{
    struct world *w = *state;
    has(by_proto(w, D "ShouldInitiateUpload", &rpc_debug_ask_type, &rpc_debug_verdict_type,
                 FILE_OF("ab12")),
        "\"shouldInitiateUpload\":true");
    assert_int_equal(post(w, "ab12", "\177ELF", 4), 200);
    by_proto(w, D "UploadFinished", &rpc_debug_id_type, &rpc_empty_type,
             "{\"gnuBuildId\":\"ab12\"}");
    has(debug_list(w), "STATE_UPLOADED");
    by_proto(w, D "DeleteDebuginfo", &rpc_debug_id_type, &rpc_empty_type,
             "{\"gnuBuildId\":\"ab12\"}");
    assert_string_equal(debug_list(w), "{}");
    has(by_proto(w, A "Upload", &rpc_adhoc_upload_type, &rpc_adhoc_answer_type,
                 upload_json(w, "x", "main 2\n")),
        "\"profileTypes\":[\"cpu\"]");
}

// What one tenant has is not there for another, under its id neither.
static void tenants_see_their_own(void **state)
{
    struct world *w = *state;
    const char *id, *found;
    w->tenant = "one";
    upload(w, "a", "main 1\n", &id);
    should(w, FILE_OF("ab12"));
    text_call(w, "/settings.v1.SettingsService/Set",
              "{\"setting\":{\"name\":\"theme\",\"value\":\"dark\"}}");
    const char *graph = fk_arena_printf(&w->arena,
                                        "{\"profileTypeID\":\"" CPU "\",\"labelSelector\":\"{}\","
                                        "\"profileIdSelector\":[\"%s\"]}",
                                        add(w, "a", 1700000000000, "main 7\n"))
                            .p;
    has(text_call(w, "/querier.v1.QuerierService/SelectMergeStacktraces", graph),
        "\"total\":\"7\"");
    w->tenant = "two";
    assert_string_equal(list(w), "{}");
    refuse(w, A "Get", fk_arena_printf(&w->arena, "{\"id\":\"%s\"}", id).p, 404, "not_found", id);
    assert_string_equal(debug_list(w), "{}");
    assert_int_equal(post(w, "ab12", "\177ELF", 4), 412);
    assert_string_equal(text_call(w, "/settings.v1.SettingsService/Get", "{}"), "{}");
    found = text_call(w, "/querier.v1.QuerierService/SelectMergeStacktraces", graph);
    assert_null(strstr(found, "main"));
    w->tenant = "one|two"; // reads of several see all of them
    has(text_call(w, "/querier.v1.QuerierService/SelectMergeStacktraces", graph),
        "\"total\":\"7\"");
}

static void calls_without_memory_fail_whole(void **state)
{
    struct world *w = *state;
    const char *id;
    upload(w, "a", "main;f 1\nmain 2\n", &id);
    without_memory(w, A "Get", fk_arena_printf(&w->arena, "{\"id\":\"%s\"}", id).p);
    without_memory(w, A "Diff",
                   fk_arena_printf(&w->arena, "{\"leftId\":\"%s\",\"rightId\":\"%s\"}", id, id).p);
    without_memory(w, A "List", "{}");
    without_memory(w, A "Upload", upload_json(w, "b", "main 3\n"));
    without_memory(w, D "ShouldInitiateUpload", FILE_OF("ab12"));
    without_memory(w, D "ListDebuginfo", "{}");
    without_memory(w, D "DeleteDebuginfo", "{\"gnuBuildId\":\"ab12\"}");
    assert_string_equal(debug_list(w), "{}");
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, world_setup, world_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(profiles_are_kept_as_files),
        TEST(other_ids_and_files_are_refused),
        TEST(the_oldest_make_room),
        TEST(files_pass_through_their_states),
        TEST(stale_uploads_begin_anew),
        TEST(files_that_make_no_sense),
        TEST(begun_uploads_take_no_room_that_is_not_there),
        TEST(states_in_protobuf),
        TEST(tenants_see_their_own),
        TEST(calls_without_memory_fail_whole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
