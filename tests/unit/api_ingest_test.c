// SPDX-License-Identifier: Apache-2.0
// /ingest by its formats: what is chosen by the format parameter and by the content type, and under
// which name and type it is stored.
#include "api/api_int.h"

#include "support/support.h"
#include "support/test.h"

struct world {
    char *tmp;
    struct fk_store *store;
    struct fk_api *api;
};

static int setup(void **state)
{
    struct world *w = fk_calloc(1, sizeof(*w));
    struct fk_err err = {0};
    struct fk_limits l = fk_limits_default();
    assert_non_null(w);
    *state = w;
    w->tmp = fk_test_tmpdir();
    fk_test_ok(
        fk_store_open(&(struct fk_store_opts){.dir = w->tmp, .min_free = 1, .run_inline = true},
                      &w->store, &err),
        &err);
    fk_test_ok(fk_api_new(&(struct fk_api_opts){.store = w->store, .limits = l}, &w->api, &err),
               &err);
    return 0;
}

static int teardown(void **state)
{
    struct world *w = *state;
    fk_api_free(w->api);
    fk_store_close(w->store);
    fk_test_rmtree(w->tmp);
    fk_free(w);
    return 0;
}

static void expect(struct world *w, const struct fk_api_ask *ask, int status, const char *says)
{
    struct fk_api_answer a;
    fk_api_local(w->api, ask, &a);
    fk_buf_byte(&a.body, 0);
    if (a.status != status || !strstr(a.body.p, says))
        fail_msg("%d, not %d; no '%s' in %s", a.status, status, says, a.body.p);
    fk_buf_free(&a.body);
}

#define TRIE FK_S("\0\0\1\2ab\0\2\1c\1\0\1d\2\0")
#define TREE FK_S("\0\0\1\1a\0\2\1b\1\0\1c\2\0")

static void formats_and_names(void **state)
{
    const struct {
        const char *query, *type;
        struct fk_str body;
        const char *says;
    } cases[] = {
        {"name=a.cpu&format=lines", "", FK_S("a;b\na;c\n"), "process_cpu:cpu:nanoseconds"},
        {"name=a.cpu&format=groups&sampleRate=50", "", FK_S("a;b 3\n"), "\"total\":60000000"},
        {"name=a.alloc_space&format=trie", "", TRIE, "memory:alloc_space:bytes"},
        {"name=a", "binary/octet-stream+trie", TRIE, "\"total\":3"},
        {"name=a.goroutines&format=tree", "", TREE, "goroutine:goroutines:count"},
        {"name=a", "binary/octet-stream+tree; x=y", TREE, "\"total\":3"},
        {"name=a&format=speedscope", "",
         FK_S(
             "{\"$schema\":\"\",\"shared\":{\"frames\":[{\"name\":\"f\"}]},\"profiles\":[{\"type\":"
             "\"sampled\",\"name\":\"x\",\"unit\":\"seconds\",\"startValue\":0,\"samples\":[[0]],"
             "\"weights\":[2]}]}"),
         "wall:wall:nanoseconds"},
    };
    struct world *w = *state;
    for (size_t i = 0; i < FK_COUNTOF(cases); i++) {
        char target[200];
        assert_in_range(snprintf(target, sizeof(target), "/ingest?%s", cases[i].query), 1, 199);
        expect(w,
               &(struct fk_api_ask){.method = "POST",
                                    .target = fk_str_of(target),
                                    .body = cases[i].body,
                                    .content_type = fk_str_of(cases[i].type)},
               200, cases[i].says);
    }
}

// What is wrong is said by the decoder that was asked for.
static void broken_bodies_are_the_clients_fault(void **state)
{
    struct world *w = *state;
    expect(w,
           &(struct fk_api_ask){.method = "POST",
                                .target = FK_S("/ingest?name=a&format=trie"),
                                .body = FK_S("\0\0\2\1a\1\0")},
           422, "trie: the bytes end");
    expect(w,
           &(struct fk_api_ask){.method = "POST",
                                .target = FK_S("/ingest?name=a&format=speedscope"),
                                .body = FK_S("{}")},
           422, "speedscope: there is no list");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(formats_and_names, setup, teardown),
        cmocka_unit_test_setup_teardown(broken_bodies_are_the_clients_fault, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
