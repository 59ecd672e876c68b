// SPDX-License-Identifier: Apache-2.0
// For the tests of RPCs: a store with profiles that are written as text, and calls that are made in
// both codecs, whose answers must say the same.
#ifndef FK_TESTS_API_RPC_WORLD_H
#define FK_TESTS_API_RPC_WORLD_H

#include "api/rpc_int.h"

#include "support/support.h"
#include "support/test.h"

#define CPU "process_cpu:cpu:nanoseconds:cpu:nanoseconds"

struct world {
    char *tmp;
    struct fk_store *store;
    struct fk_state *state;
    struct fk_blob *files;
    struct fk_limits limits;
    struct fk_test_clock clock; // from 2026 on
    const char *tenant;         // of the calls; NULL: the usual one
    struct fk_api *api;
    struct fk_arena arena; // texts that tests look at
};

static inline void open_world(struct world *w)
{
    struct fk_err err = {0};
    fk_test_ok(
        fk_store_open(&(struct fk_store_opts){.dir = w->tmp, .min_free = 1, .run_inline = true},
                      &w->store, &err),
        &err);
    fk_test_ok(fk_state_open(fk_arena_printf(&w->arena, "%s/state.db", w->tmp).p, &w->state, &err),
               &err);
    const char *files = fk_arena_printf(&w->arena, "%s/files", w->tmp).p;
    fk_test_ok(fk_blob_open_dir(fk_fs_real(), files, &w->files, &err), &err);
    struct fk_api_opts o = {.store = w->store,
                            .state = w->state,
                            .files = w->files,
                            .clock = &w->clock.clock,
                            .limits = w->limits,
                            .config = {FK_S("data: \"x\"\nworkers: 4\n"), FK_S("data: \"x\"\n"),
                                       FK_S("data: ./data\nworkers: 4\n")}};
    fk_test_ok(fk_api_new(&o, &w->api, &err), &err);
}

static inline void close_world(struct world *w)
{
    fk_api_free(w->api);
    fk_state_close(w->state);
    fk_blob_close(w->files);
    fk_store_close(w->store);
}

static inline int world_setup(void **state)
{
    struct world *w = fk_calloc(1, sizeof(*w));
    assert_non_null(w);
    fk_arena_init(&w->arena, 0);
    w->tmp = fk_test_tmpdir();
    w->limits = fk_limits_default();
    fk_test_clock_init(&w->clock, 1767225600 * FK_NS_PER_S);
    open_world(w);
    *state = w;
    return 0;
}

static inline int world_teardown(void **state)
{
    struct world *w = *state;
    close_world(w);
    fk_test_rmtree(w->tmp);
    fk_arena_free(&w->arena);
    fk_free(w);
    return 0;
}

static inline const char *text_of(struct world *w, struct fk_str s)
{
    struct fk_str copy = fk_arena_printf(&w->arena, "%.*s", FK_STR_ARG(s));
    assert_non_null(copy.p);
    return copy.p;
}

// ---- profiles ----

static inline uint32_t string_in(struct fk_dict *d, struct fk_str s)
{
    uint32_t id;
    assert_int_equal(fk_dict_string(d, s, &id), 0);
    return id;
}

static inline uint32_t stack_in(struct fk_dict *d, struct fk_str names)
{
    uint32_t frame[16], n = 0, id;
    struct fk_str name;
    for (; fk_str_split(&names, ';', &name); n++) {
        struct fk_function f = {.name = string_in(d, name)};
        struct fk_line line = {.line = (int64_t)name.n};
        struct fk_location l = {.mapping = FK_NONE, .line_count = 1};
        assert_int_equal(fk_dict_function(d, &f, &line.function), 0);
        assert_true(n < 16);
        assert_int_equal(fk_dict_location(d, &l, &line, &frame[n]), 0);
    }
    for (uint32_t i = 0; i < n / 2; i++) { // leaf first
        uint32_t x = frame[i];
        frame[i] = frame[n - 1 - i];
        frame[n - 1 - i] = x;
    }
    assert_int_equal(fk_dict_stack(d, frame, n, &id), 0);
    return id;
}

// "a;b 5 span_id=...": a stack, its value, attributes.
static inline void sample_in(struct fk_builder *b, struct fk_str line)
{
    struct fk_dict *d = fk_builder_dict(b);
    struct fk_attr attr[4];
    struct fk_str part, stack, number = FK_S("");
    struct fk_err err = {0};
    uint32_t n = 0, set;
    int64_t value;
    assert_true(fk_str_split(&line, ' ', &stack) && fk_str_split(&line, ' ', &number));
    assert_int_equal(fk_str_to_i64(number, &value), 0);
    while (fk_str_split(&line, ' ', &part)) {
        ptrdiff_t at = fk_str_chr(part, '=');
        assert_true(at > 0 && n < 4);
        attr[n++] = (struct fk_attr){.key = string_in(d, fk_str_head(part, (size_t)at)),
                                     .str = string_in(d, fk_str_from(part, (size_t)at + 1))};
    }
    assert_int_equal(fk_dict_set(d, attr, n, &set), 0);
    fk_test_ok(fk_builder_sample(b, stack_in(d, stack), set, &value, NULL, 1, &err), &err);
}

// A CPU profile of these lines.
static inline void pprof_of(const char *lines, struct fk_buf *to)
{
    FK_AUTO_ARENA a;
    struct fk_profile p;
    struct fk_err err = {0};
    struct fk_str rest = fk_str_of(lines), line;
    fk_arena_init(&a, 0);
    struct fk_builder *b = fk_builder_new(&a, 1000, "");
    assert_non_null(b);
    assert_int_equal(fk_builder_type(b, FK_S("cpu"), FK_S("nanoseconds"), FK_KIND_DELTA), 0);
    while (fk_str_split(&rest, '\n', &line))
        if (line.n)
            sample_in(b, line);
    fk_test_ok(fk_builder_finish(b, &p, &err), &err);
    p.has_period_type = true;
    p.period_type = FK_S("cpu");
    p.period_unit = FK_S("nanoseconds");
    p.duration_ns = FK_NS_PER_S;
    p.period = 1;
    fk_test_ok(fk_encode(FK_FORMAT_PPROF, &p, &(struct fk_encode_opts){0}, fk_out_buf(to), &err),
               &err);
    fk_builder_free(b);
}

// Stores it under {service_name="shop",pod=...}; gives its id.
static inline const char *add(struct world *w, const char *pod, int64_t time_ms, const char *lines)
{
    FK_AUTO_BUF body;
    struct fk_api_answer a;
    fk_buf_init(&body, 0);
    pprof_of(lines, &body);
    struct fk_str target = fk_arena_printf(
        &w->arena,
        "/api/v1/upload?labels=%%7Bservice_name=%%22shop%%22,pod=%%22%s%%22%%7D&time=%lld", pod,
        (long long)time_ms);
    fk_api_local(w->api,
                 &(struct fk_api_ask){.method = "POST",
                                      .target = target,
                                      .tenant = fk_str_of(w->tenant),
                                      .body = fk_buf_view(&body)},
                 &a);
    if (a.status != 201)
        fail_msg("upload: %d %.*s", a.status, (int)a.body.n, a.body.p);
    ptrdiff_t at = fk_str_find(fk_buf_view(&a.body), FK_S("\"id\":\""));
    assert_true(at > 0);
    const char *id = text_of(w, fk_str_head(fk_str_from(fk_buf_view(&a.body), (size_t)at + 6), 36));
    fk_buf_free(&a.body);
    return id;
}

// ---- calls ----

static inline const char *call(struct world *w, const char *method, const char *target,
                               const char *type, struct fk_str body, int *ret_status)
{
    struct fk_api_answer a;
    fk_api_local(w->api,
                 &(struct fk_api_ask){.method = method,
                                      .target = fk_str_of(target),
                                      .content_type = fk_str_of(type),
                                      .tenant = fk_str_of(w->tenant),
                                      .body = body},
                 &a);
    struct fk_str copy = fk_arena_str(&w->arena, fk_buf_view(&a.body));
    *ret_status = a.status;
    fk_buf_free(&a.body);
    return text_of(w, copy);
}

// The same request in protobuf; its answer as JSON.
static inline const char *by_proto(struct world *w, const char *target,
                                   const struct fk_msg_type *in, const struct fk_msg_type *out,
                                   const char *json)
{
    FK_AUTO_BUF body, text;
    struct fk_err err = {0};
    struct fk_api_answer a;
    struct fk_json j;
    void *msg = fk_arena_zalloc(&w->arena, in->size), *got = fk_arena_zalloc(&w->arena, out->size);
    fk_buf_init(&body, 0);
    fk_buf_init(&text, 0);
    fk_test_ok(fk_msg_decode_json(in, fk_str_of(json), &w->arena, msg, &err), &err);
    fk_msg_encode(in, msg, &body);
    fk_api_local(w->api,
                 &(struct fk_api_ask){.method = "POST",
                                      .target = fk_str_of(target),
                                      .content_type = FK_S("application/proto"),
                                      .tenant = fk_str_of(w->tenant),
                                      .body = fk_buf_view(&body)},
                 &a);
    if (a.status != 200)
        fail_msg("%s: %d %.*s", target, a.status, (int)a.body.n, a.body.p);
    assert_string_equal(a.type, "application/proto");
    fk_test_ok(fk_msg_decode(out, fk_buf_view(&a.body), &w->arena, got, &err), &err);
    fk_json_init(&j, fk_out_buf(&text), false);
    fk_msg_encode_json(out, got, &j);
    fk_test_ok(fk_json_finish(&j, &err), &err);
    fk_buf_free(&a.body);
    return text_of(w, fk_buf_view(&text));
}

// The answer in JSON; the one in protobuf must say the same.
static inline const char *ask(struct world *w, const char *target, const struct fk_msg_type *in,
                              const struct fk_msg_type *out, const char *json)
{
    int status;
    const char *got = call(w, "POST", target, "application/json", fk_str_of(json), &status);
    if (status != 200)
        fail_msg("%s: %d %s", target, status, got);
    assert_string_equal(by_proto(w, target, in, out, json), got);
    return got;
}

// The call fails so.
static inline void refuse(struct world *w, const char *target, const char *json, int status,
                          const char *code, const char *words)
{
    int got;
    const char *text = call(w, "POST", target, "application/json", fk_str_of(json), &got);
    struct fk_str want = fk_arena_printf(&w->arena, "{\"code\":\"%s\",\"message\":", code);
    if (got != status || strncmp(text, want.p, want.n) != 0 || !strstr(text, words))
        fail_msg("%s %s: %d %s", target, json, got, text);
}

// Each allocation of the call fails in turn: it is answered as always, or as an error.
static inline void without_memory(struct world *w, const char *target, const char *json)
{
    bool done = false;
    for (uint64_t k = 1; !done; k++) {
        struct fk_api_answer a;
        fk_mem_fail_after(k, true);
        fk_api_local(w->api,
                     &(struct fk_api_ask){.method = "POST",
                                          .target = fk_str_of(target),
                                          .content_type = FK_S("application/json"),
                                          .body = fk_str_of(json)},
                     &a);
        done = fk_mem_failed() == 0;
        fk_mem_fail_after(0, false);
        // (Without memory for its path a local call is refused before it is one.)
        if (done ? a.status != 200 : a.status < 500 && a.body.n)
            fail_msg("%s: allocation %d: %d %.*s", target, (int)k, a.status, (int)a.body.n,
                     a.body.p);
        fk_buf_free(&a.body);
        assert_true(k < 20000);
    }
}

static inline void has(const char *text, const char *what)
{
    if (!strstr(text, what))
        fail_msg("no '%s' in %s", what, text);
}

#endif
