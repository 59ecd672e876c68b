// SPDX-License-Identifier: Apache-2.0
// A JFR recording over /ingest without a socket: as body and in a form, with labels beside it, sent
// again, and what is refused.
#include "api/api_int.h"
#include "support/jfr_recording.h"
#include "support/support.h"

struct world {
    char *tmp;
    struct fk_store *store;
    struct fk_api *api;
    struct fk_buf jfr, snapshot;
};

#define FORM "multipart/form-data; boundary=X"

static void answer(struct world *w, const char *query, const char *type, struct fk_str body,
                   int status, const char *const *texts)
{
    struct fk_api_answer a;
    char target[200];
    snprintf(target, sizeof(target), "/ingest?format=jfr&%s", query);
    fk_api_local(w->api,
                 &(struct fk_api_ask){.method = "POST",
                                      .target = fk_str_of(target),
                                      .body = body,
                                      .content_type = fk_str_of(type)},
                 &a);
    fk_buf_byte(&a.body, 0); // to be read as text
    assert_int_equal(a.body.failed, 0);
    if (a.status != status)
        fail_msg("%s: %d, not %d: %s", query, a.status, status, a.body.p);
    for (; *texts; texts++)
        if (!strstr(a.body.p, *texts))
            fail_msg("%s: no '%s' in %s", query, *texts, a.body.p);
    fk_buf_free(&a.body);
}
#define ANSWER(w, query, type, body, status, ...)                                                  \
    answer(w, query, type, body, status, (const char *const[]){__VA_ARGS__, NULL})

static int setup(void **state)
{
    struct world *w = fk_calloc(1, sizeof(*w));
    struct fk_err err = {0};
    struct jfr_make m;
    assert_non_null(w);
    *state = w;
    w->tmp = fk_test_tmpdir();
    fk_test_ok(
        fk_store_open(&(struct fk_store_opts){.dir = w->tmp, .min_free = 1, .run_inline = true},
                      &w->store, &err),
        &err);
    fk_test_ok(fk_api_new(&(struct fk_api_opts){.store = w->store, .limits = fk_limits_default()},
                          &w->api, &err),
               &err);
    fk_buf_init(&w->jfr, 0);
    fk_buf_init(&w->snapshot, 0);
    put_snapshot(&w->snapshot);
    begin(&m, false);
    jm_event(&m, SETTING, "lltt", 1000L, (long)EXECUTION, "event", "itimer");
    jm_event(&m, SETTING, "lltt", 1000L, (long)EXECUTION, "interval", "5000000");
    jm_event(&m, EXECUTION, "lllllllll", 1000L, 1L, 1L, 1L, 2L, 0L, 0L, 0L, 0L);
    jm_event(&m, MONITOR, "lllll", 1000L, 1L, 1L, 1L, 3000L);
    end(&m, &w->jfr);
    return 0;
}

static int teardown(void **state)
{
    struct world *w = *state;
    fk_api_free(w->api);
    fk_store_close(w->store);
    fk_buf_free(&w->jfr);
    fk_buf_free(&w->snapshot);
    fk_test_rmtree(w->tmp);
    fk_free(w);
    return 0;
}

static void part(struct fk_buf *b, const char *name, const struct fk_buf *bytes)
{
    fk_buf_printf(b, "--X\r\nContent-Disposition: form-data; name=\"%s\"; filename=\"%s\"\r\n\r\n",
                  name, name);
    fk_buf_str(b, fk_buf_view(bytes));
    fk_buf_cstr(b, "\r\n");
}

static void as_body(void **state)
{
    struct world *w = *state;
    // The name's suffix is no type here, and the recording says its own rate.
    ANSWER(w, "name=shop.cpu{region=eu}&spyName=javaspy", "", fk_buf_view(&w->jfr), 200,
           "\"service_name\":\"shop.cpu\"", "\"region\":\"eu\"", "\"jfr_event\":\"itimer\"",
           "process_cpu:cpu:nanoseconds:cpu:nanoseconds\",\"samples\":1,\"total\":5000000",
           "mutex:delay:nanoseconds:mutex:count\",\"samples\":1,\"total\":1500");
    ANSWER(w, "name=shop{service_name=web}&sampleRate=1000", "", fk_buf_view(&w->jfr), 200,
           "\"service_name\":\"web\"", "\"app_name\":\"shop\"", "\"total\":1000000");
    assert_int_equal(w->api->stored_profiles, 4);
}

static void in_a_form_with_labels(void **state)
{
    struct world *w = *state;
    FK_AUTO_BUF form;
    fk_buf_init(&form, 0);
    part(&form, "jfr", &w->jfr);
    part(&form, "labels", &w->snapshot);
    fk_buf_cstr(&form, "--X--\r\n");
    const char *timed = "name=shop&from=1700000000&until=1700000010";
    ANSWER(w, timed, FORM, fk_buf_view(&form), 200, "\"total\":5000000");
    ANSWER(w, timed, FORM, fk_buf_view(&form), 200, "\"repeated\":true");
    assert_int_equal(w->api->stored_profiles, 2);
    struct fk_api_answer a;
    fk_api_local(w->api,
                 &(struct fk_api_ask){
                     .method = "GET",
                     .target = FK_S("/api/v1/labels/handler/values?query=%7B%7D&from=0&until=now")},
                 &a);
    fk_buf_byte(&a.body, 0);
    if (!strstr(a.body.p, "search"))
        fail_msg("%d %s", a.status, a.body.p);
    fk_buf_free(&a.body);
    fk_buf_clear(&form); // the same recording with other labels is another upload
    part(&form, "jfr", &w->jfr);
    fk_buf_cstr(&form, "--X--\r\n");
    ANSWER(w, timed, FORM, fk_buf_view(&form), 200, "\"total\":5000000");
    assert_int_equal(w->api->stored_profiles, 4);
}

static void what_is_wrong_is_named(void **state)
{
    struct world *w = *state;
    FK_AUTO_BUF form;
    fk_buf_init(&form, 0);
    part(&form, "labels", &w->snapshot);
    fk_buf_cstr(&form, "--X--\r\n");
    ANSWER(w, "name=shop", FORM, fk_buf_view(&form), 400, "no part named jfr");
    ANSWER(w, "name=shop", "", fk_str_head(fk_buf_view(&w->jfr), 500), 422, "it is cut off");
    ANSWER(w, "name=shop", "", FK_S("a;b 1\n"), 422, "no JFR recording");
    fk_buf_clear(&form);
    part(&form, "jfr", &w->jfr);
    part(&form, "labels", &w->jfr);
    fk_buf_cstr(&form, "--X--\r\n");
    ANSWER(w, "name=shop", FORM, fk_buf_view(&form), 422, "no LabelsSnapshot");
    assert_int_equal(w->api->stored_profiles, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(as_body, setup, teardown),
        cmocka_unit_test_setup_teardown(in_a_form_with_labels, setup, teardown),
        cmocka_unit_test_setup_teardown(what_is_wrong_is_named, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
