// SPDX-License-Identifier: Apache-2.0
// Calls without a socket: the OpenAPI document against the table of endpoints, what comes of bad
// parameters (every one that is documented), and answers where there is nothing.
#include "api/api_int.h"

#include "support/profiles.h"
#include "support/support.h"
#include "support/test.h"

struct world {
    char *tmp;
    struct fk_store *store;
    struct fk_api *api;
    struct fk_buf pprof;
    char id[64]; // of the profile that is stored
};

// As snprintf; a text that does not fit fails the test.
FK_PRINTF(3, 4) static void print(char *to, size_t n, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    assert_in_range(vsnprintf(to, n, fmt, ap), 0, n - 1);
    va_end(ap);
}

static struct fk_api_answer ask(struct world *w, const char *method, const char *target,
                                struct fk_str body)
{
    struct fk_api_answer a;
    fk_api_local(w->api,
                 &(struct fk_api_ask){.method = method, .target = fk_str_of(target), .body = body},
                 &a);
    fk_buf_byte(&a.body, 0); // to be read as text
    assert_int_equal(a.body.failed, 0);
    return a;
}

// The call must give this status and a body that has all these texts (NULL-terminated).
static void expect(struct world *w, const char *method, const char *target, struct fk_str body,
                   int status, const char *const *texts)
{
    struct fk_api_answer a = ask(w, method, target, body);
    if (a.status != status)
        fail_msg("%s %s: %d, not %d: %s", method, target, a.status, status, a.body.p);
    for (; *texts; texts++)
        if (!strstr(a.body.p, *texts))
            fail_msg("%s %s: no '%s' in %s", method, target, *texts, a.body.p);
    if (status >= 400)
        assert_string_equal(a.type, "application/problem+json");
    fk_buf_free(&a.body);
}
#define GET(w, target, status, ...)                                                                \
    expect(w, "GET", target, FK_S(""), status, (const char *const[]){__VA_ARGS__, NULL})

static void make_api(struct world *w, const struct fk_limits *l)
{
    struct fk_err err = {0};
    fk_test_ok(fk_api_new(&(struct fk_api_opts){.store = w->store, .limits = *l}, &w->api, &err),
               &err);
}

static int setup(void **state)
{
    struct world *w = fk_calloc(1, sizeof(*w));
    struct fk_err err = {0};
    struct fk_limits l = fk_limits_default();
    struct fk_rng rng = {5};
    struct fk_profile p;
    FK_AUTO_ARENA a;
    fk_arena_init(&a, 0);
    assert_non_null(w);
    *state = w;
    w->tmp = fk_test_tmpdir();
    fk_test_ok(
        fk_store_open(&(struct fk_store_opts){.dir = w->tmp, .min_free = 1, .run_inline = true},
                      &w->store, &err),
        &err);
    make_api(w, &l);
    fk_gen_profile(&rng, &(struct fk_gen){.rows = 40, .types = 1, .depth = 9, .functions = 20}, &a,
                   &p);
    fk_buf_init(&w->pprof, 0);
    fk_test_ok(fk_encode(FK_FORMAT_PPROF, &p, NULL, fk_out_buf(&w->pprof), &err), &err);
    struct fk_api_answer r =
        ask(w, "POST", "/api/v1/upload?labels=%7Bservice_name=%22shop%22%7D&time=1700000000",
            fk_buf_view(&w->pprof));
    if (r.status != 201)
        fail_msg("upload: %d %s", r.status, r.body.p);
    const char *id = strstr(r.body.p, "\"id\":\"");
    assert_non_null(id);
    print(w->id, sizeof(w->id), "%.36s", id + 6);
    fk_buf_free(&r.body);
    return 0;
}

static int teardown(void **state)
{
    struct world *w = *state;
    fk_api_free(w->api);
    fk_store_close(w->store);
    fk_buf_free(&w->pprof);
    fk_test_rmtree(w->tmp);
    fk_free(w);
    return 0;
}

// ---- the document ----

// A JSON value as lines "\n/key/key/value", for searching; arrays add nothing to the path.
static void flatten(struct fk_json_reader *r, const struct fk_json_tok *t, const char *path,
                    struct fk_buf *to)
{
    struct fk_json_tok k, v;
    char below[600];
    struct fk_err err = {0};
    bool object = t->kind == FK_JSON_OBJECT;
    if (!object && t->kind != FK_JSON_ARRAY) {
        fk_buf_printf(to, "\n%s=%.*s", path, FK_STR_ARG(t->text));
        return;
    }
    for (;;) {
        fk_test_ok(fk_json_next(r, &k, &err), &err);
        if (k.kind == FK_JSON_OBJECT_END || k.kind == FK_JSON_ARRAY_END)
            break;
        v = k;
        if (object)
            fk_test_ok(fk_json_next(r, &v, &err), &err);
        struct fk_str key = object ? k.text : FK_S("");
        print(below, sizeof(below), "%s%s%.*s", path, object ? " " : "", FK_STR_ARG(key));
        flatten(r, &v, below, to);
    }
    fk_buf_printf(to, "\n%s", path);
}

static size_t count(const char *text, const char *what)
{
    size_t n = 0;
    for (; (text = strstr(text, what)); text++)
        n++;
    return n;
}

// The document says that the endpoint has this parameter; counts it.
static void has_param(const char *doc, const struct fk_api_endpoint *e, const char *prefix,
                      const char *name, size_t *n)
{
    char line[400];
    print(line, sizeof(line), "\ndoc paths %s %s parameters name=%s%s\n", e->pattern,
          e->method[0] == 'G' ? "get" : "post", prefix, name);
    if (count(doc, line) != 1)
        fail_msg("%zu times in the document: %s", count(doc, line), line);
    ++*n;
}

static void has_source(const char *doc, const struct fk_api_endpoint *e, size_t *n)
{
    static const char *const names[] = {"id",   "query", "from", "until",   "attr.<name>",
                                        "type", "focus", "hide", "collapse"};
    for (size_t i = 0; i < FK_COUNTOF(names); i++) {
        if (e->flags & FK_API_SOURCE)
            has_param(doc, e, "", names[i], n);
        if (!(e->flags & FK_API_TWO_SOURCES))
            continue;
        has_param(doc, e, "left_", names[i], n);
        has_param(doc, e, "right_", names[i], n);
        if (i >= 5) // for both sides at once
            has_param(doc, e, "", names[i], n);
    }
}

static void document_and_table_are_in_step(void **state)
{
    struct world *w = *state;
    struct fk_api_answer a = ask(w, "GET", "/api/openapi.json", FK_S(""));
    struct fk_json_reader r;
    struct fk_json_tok t;
    struct fk_err err = {0};
    FK_AUTO_BUF flat;
    size_t params = 0, endpoints = 0;
    fk_buf_init(&flat, 0);
    assert_int_equal(a.status, 200);
    fk_json_read(&r, fk_str_of(a.body.p), FK_JSON_NEST);
    fk_test_ok(fk_json_next(&r, &t, &err), &err);
    flatten(&r, &t, "doc", &flat);
    fk_buf_byte(&flat, 0);
    for (size_t i = 0; i < fk_api_table_n; i++) {
        const struct fk_api_endpoint *e = &fk_api_table[i];
        if (e->flags & (FK_API_HIDDEN | FK_API_RPC))
            continue;
        char line[300];
        print(line, sizeof(line), "\ndoc paths %s %s summary=%s\n", e->pattern,
              e->method[0] == 'G' ? "get" : "post", e->summary);
        assert_int_equal(count(flat.p, line), 1);
        endpoints++;
        has_source(flat.p, e, &params);
        for (size_t k = 0; k < e->n_params; k++)
            has_param(flat.p, e, "", e->params[k].name, &params);
        const char *path = strchr(e->pattern, '{');
        if (path) {
            char name[40];
            print(name, sizeof(name), "%.*s", (int)strcspn(path + 1, "}"), path + 1);
            has_param(flat.p, e, "", name, &params);
        }
    }
    assert_int_equal(count(flat.p, " summary="), endpoints);
    assert_int_equal(count(flat.p, " parameters name="), params);
    fk_buf_free(&a.body);
}

// ---- bad parameters ----

// A value that the parameter cannot have; NULL where any text is good.
static const char *bad_value(const struct fk_api_param *p)
{
    static const char *const words[] = {"sort", "order", "mode", "aggregation", "format", "cursor"};
    if (strcmp(p->type, "string") != 0)
        return "no-such%20thing";
    for (size_t i = 0; i < FK_COUNTOF(words); i++)
        if (strcmp(p->name, words[i]) == 0)
            return "no-such%20thing";
    return strcmp(p->name, "labels") == 0 ? "%7B" : NULL;
}

// What the endpoint cannot do without, beside this parameter.
static const char *needed(const struct fk_api_endpoint *e, const char *name)
{
    if (e->handle == fk_api_export && strcmp(name, "format") != 0)
        return "format=folded&";
    return e->handle == fk_api_sandwich ? "function=main&" : "";
}

static void refused_with_name(struct world *w, const struct fk_api_endpoint *e, const char *name,
                              const char *value)
{
    char target[400], want[100];
    int path = (int)strcspn(e->pattern, "{");
    const char *tail = strchr(e->pattern, '}');
    print(target, sizeof(target), "%.*s%s%s?%s%s=%s", path, e->pattern, tail ? "pod" : "",
          tail ? tail + 1 : "", needed(e, name), name, value);
    print(want, sizeof(want), "\"param\":\"%s\"", name);
    expect(w, e->method, target, e->method[0] == 'P' ? fk_buf_view(&w->pprof) : FK_S(""), 400,
           (const char *const[]){want, NULL});
}

static void every_documented_parameter_is_checked(void **state)
{
    struct world *w = *state;
    static const char *const source[][2] = {{"id", "x"},        {"query", "%7Ba"}, {"from", "x"},
                                            {"until", "x"},     {"focus", "/(/"},  {"hide", "/(/"},
                                            {"collapse", "/(/"}};
    static const char *const prefixes[] = {"", "left_", "right_"};
    size_t n = 0;
    for (size_t i = 0; i < fk_api_table_n; i++) {
        const struct fk_api_endpoint *e = &fk_api_table[i];
        if (e->flags & (FK_API_HIDDEN | FK_API_RPC))
            continue;
        for (size_t k = 0; k < e->n_params; k++)
            if (bad_value(&e->params[k])) {
                refused_with_name(w, e, e->params[k].name, bad_value(&e->params[k]));
                n++;
            }
        for (size_t p = 0; p < FK_COUNTOF(prefixes); p++)
            for (size_t k = 0; k < FK_COUNTOF(source); k++) {
                char name[40];
                print(name, sizeof(name), "%s%s", prefixes[p], source[k][0]);
                if (!(e->flags & (*prefixes[p] ? FK_API_TWO_SOURCES : FK_API_SOURCE)))
                    continue;
                refused_with_name(w, e, name, source[k][1]);
                n++;
            }
    }
    assert_true(n > 100);
}

static void numbers_out_of_range_say_the_range(void **state)
{
    struct world *w = *state;
    GET(w, "/api/v1/profiles?limt=3", 400, "limt is no parameter", "\"param\":\"limt\"");
    GET(w, "/api/v1/diff?query={}&left_query={}&right_query={}", 400, "query is no parameter");
    GET(w, "/api/v1/diff?left_query={}&right_from=1&from=1", 400, "from is no parameter");
    GET(w, "/api/v1/profiles?_=3", 400, "\"param\":\"_\"");
    GET(w, "/api/v1/profiles?limit=0", 400, "\"param\":\"limit\"", "from 1 to 1000");
    GET(w, "/api/v1/profiles?limit=1001", 400, "\"param\":\"limit\"", "from 1 to 1000", "1001");
    GET(w, "/api/v1/profiles?limit=-1", 400, "\"param\":\"limit\"");
    GET(w, "/api/v1/profiles?limit=18446744073709551616", 400, "\"param\":\"limit\"");
    GET(w, "/api/v1/profiles?limit=1000", 200, "\"profiles\":[{");
    GET(w, "/api/v1/heatmap?y_buckets=1001", 400, "\"param\":\"y_buckets\"", "1000");
    GET(w, "/api/v1/profiles?from=2&until=1", 400, "\"param\":\"from\"", "before until");
    GET(w, "/api/v1/series?step=-1s", 400, "\"param\":\"step\"");
}

static void what_is_not_there_is_named(void **state)
{
    struct world *w = *state;
    GET(w, "/api/v1/profiles/00000000-0000-7000-8000-000000000001", 404, "\"status\":404",
        "00000000-0000-7000-8000-000000000001");
    GET(w, "/api/v1/profiles/short", 404, "no profile 'short'");
    GET(w, "/api/v1/flamegraph?id=00000000-0000-7000-8000-000000000001", 404,
        "00000000-0000-7000-8000-000000000001");
    GET(w, "/api/v1/flamegraph?type=a:b:c:d:e", 404, "a:b:c:d:e");
    GET(w, "/api/v1/sandwich?function=no.such.function", 200, "\"self\":0");
    GET(w, "/api/v1/sandwich", 400, "\"param\":\"function\"");
    struct fk_api_answer a = ask(w, "GET", "/api/v1/nothing", FK_S(""));
    assert_int_equal(a.status, 404);
    fk_buf_free(&a.body);
    a = ask(w, "POST", "/api/v1/profiles", FK_S(""));
    assert_int_equal(a.status, 404);
    fk_buf_free(&a.body);
}

static void cursors_belong_to_their_list(void **state)
{
    struct world *w = *state;
    struct fk_api_answer a;
    for (int i = 0; i < 3; i++) {
        char target[100];
        print(target, sizeof(target), "/api/v1/upload?time=170000%d000", i);
        a = ask(w, "POST", target, fk_buf_view(&w->pprof));
        assert_int_equal(a.status, 201);
        fk_buf_free(&a.body);
    }
    a = ask(w, "GET", "/api/v1/profiles?limit=2", FK_S(""));
    const char *cursor = strstr(a.body.p, "\"next_cursor\":\"");
    assert_non_null(cursor);
    cursor += strlen("\"next_cursor\":\"");
    int n = (int)strcspn(cursor, "\"");
    char target[400];
    print(target, sizeof(target), "/api/v1/profiles?limit=2&cursor=%.*s", n, cursor);
    GET(w, target, 200, "\"prev_cursor\":");
    print(target, sizeof(target), "/api/v1/profiles?limit=2&sort=time&cursor=%.*s", n, cursor);
    GET(w, target, 400, "\"param\":\"cursor\"", "another query, type, sort");
    for (int i = 0; i < n - 1; i++) { // any digit changed; the last one has the direction
        char bad[300];
        print(bad, sizeof(bad), "%.*s", n, cursor);
        bad[i] = bad[i] == '0' ? '1' : '0';
        print(target, sizeof(target), "/api/v1/profiles?limit=2&cursor=%s", bad);
        GET(w, target, 400, "\"param\":\"cursor\"");
    }
    fk_buf_free(&a.body);
}

static void limits_name_their_flag(void **state)
{
    struct world *w = *state;
    struct fk_limits l = fk_limits_default();
    l.upload_rows = 1;
    fk_api_free(w->api);
    make_api(w, &l);
    expect(w, "POST", "/api/v1/upload", fk_buf_view(&w->pprof), 413,
           (const char *const[]){"\"limit\":1", "\"flag\":\"--limit-upload-rows\"", NULL});
    expect(w, "POST", "/api/v1/upload", FK_S(""), 400,
           (const char *const[]){"the body is empty", NULL});
    expect(w, "POST", "/api/v1/upload", FK_S("<html>"), 400, (const char *const[]){"HTML", NULL});
}

static void an_empty_range_is_no_failure(void **state)
{
    struct world *w = *state;
    GET(w, "/api/v1/profiles?from=1&until=2", 200, "\"profiles\":[]");
    GET(w, "/api/v1/services?from=1&until=2", 200, "[]");
    GET(w, "/api/v1/labels?from=1&until=2", 200, "[]");
    GET(w, "/api/v1/types?from=1&until=2", 200, "[]");
    static const char *const graphs[] = {"flamegraph", "top", "series", "heatmap", "export"};
    for (size_t i = 0; i < FK_COUNTOF(graphs); i++) {
        char target[100];
        print(target, sizeof(target), "/api/v1/%s?from=1&until=2%s", graphs[i],
              strcmp(graphs[i], "export") == 0 ? "&format=pprof" : "");
        struct fk_api_answer a = ask(w, "GET", target, FK_S(""));
        if (a.status != 404 && a.status != 200)
            fail_msg("%s: %d %s", target, a.status, a.body.p);
        if (a.status == 404) // says that it is about the range
            assert_non_null(strstr(a.body.p, "profile"));
        fk_buf_free(&a.body);
    }
}

static void what_was_pushed_is_answered(void **state)
{
    struct world *w = *state;
    static const char *const paths[] = {"flamegraph?",           "top?",   "series?", "heatmap?",
                                        "export?format=folded&", "types?", "labels?", "services?"};
    char target[200];
    print(target, sizeof(target), "/api/v1/profiles/%s", w->id);
    GET(w, target, 200, w->id, "\"service_name\":\"shop\"", "2023-11-14T22:13:20");
    print(target, sizeof(target), "/api/v1/diff?left_id=%s&right_id=%s", w->id, w->id);
    GET(w, target, 200, "\"left\":", "\"right\":", "\"mode\":\"share\"");
    for (size_t i = 0; i < FK_COUNTOF(paths); i++) {
        print(target, sizeof(target), "/api/v1/%sid=%s", paths[i], w->id);
        struct fk_api_answer a = ask(w, "GET", target, FK_S(""));
        if (a.status != 200 || a.body.n < 20)
            fail_msg("%s: %d %s", target, a.status, a.body.p);
        fk_buf_free(&a.body);
    }
}

// ---- exports ----

static void every_format_is_exported(void **state)
{
    struct world *w = *state;
    static const char *const formats[][3] = {// format, file name's ending, begin of the file
                                             {"pprof", ".pb.gz", "\x1f\x8b"},
                                             {"pgo", ".pgo", "\x1f\x8b"},
                                             {"otlp", ".otlp", "\n"},
                                             {"folded", ".folded.txt", ""},
                                             {"speedscope", ".speedscope.json", "{\"$schema\""},
                                             {"firefox", ".firefox.json", "{\"meta\""},
                                             {"flamebearer", ".flamebearer.json", "{"},
                                             {"svg", ".svg", "<?xml"},
                                             {"html", ".html", "<!DOCTYPE html>"},
                                             {"dot", ".dot", "digraph"},
                                             {"top.csv", ".top.csv", "function,"},
                                             {"top.json", ".top.json", "{\"type\""}};
    char target[300];
    for (size_t i = 0; i < FK_COUNTOF(formats); i++)
        for (int each = 0; each < 2; each++) {
            print(target, sizeof(target), "/api/v1/export?format=%s&id=%s%s", formats[i][0], w->id,
                  each ? "&each=true" : "");
            struct fk_api_answer a = ask(w, "GET", target, FK_S(""));
            if (a.status != 200)
                fail_msg("%s: %d %.*s", target, a.status, FK_STR_ARG(fk_buf_view(&a.body)));
            struct fk_str name = fk_str_of(a.file_name);
            if (each) {
                assert_true(fk_str_starts(fk_buf_view(&a.body), FK_S("PK\x03\x04")));
                assert_true(fk_str_ends(name, FK_S(".zip")));
                assert_true(fk_str_find(fk_buf_view(&a.body), fk_str_of(w->id)) > 0);
            } else if (!fk_str_starts(fk_buf_view(&a.body), fk_str_of(formats[i][2])) ||
                       !fk_str_starts(name, FK_S("shop-")) ||
                       !fk_str_ends(name, fk_str_of(formats[i][1]))) {
                fail_msg("%s: %s", target, a.file_name);
            }
            fk_buf_free(&a.body);
        }
}

static void what_cannot_be_exported_is_named(void **state)
{
    struct world *w = *state;
    char target[300];
    static const char *const cases[][3] = {
        {"pprof&focus=main", "\"param\":\"focus\"", "whole stacks"},
        {"firefox&hide=main", "\"param\":\"hide\"", "svg"},
        {"nothing", "\"param\":\"format\"", "speedscope"},
        {"", "\"param\":\"format\"", "original"},
        {"svg&max_nodes=-1", "\"param\":\"max_nodes\"", ""},
        {"svg&each=maybe", "\"param\":\"each\"", ""}};
    for (size_t i = 0; i < FK_COUNTOF(cases); i++) {
        print(target, sizeof(target), "/api/v1/export?format=%s&id=%s", cases[i][0], w->id);
        struct fk_api_answer a = ask(w, "GET", target, FK_S(""));
        fk_buf_byte(&a.body, 0);
        if (a.status < 400 || a.status > 404 || !strstr(a.body.p, cases[i][1]) ||
            !strstr(a.body.p, cases[i][2]))
            fail_msg("%s: %d %s", target, a.status, a.body.p);
        assert_string_equal(a.file_name, "");
        fk_buf_free(&a.body);
    }
}

// Folded text says no start lines, without which go build takes no profile.
static void a_profile_that_cannot_be_a_pgo_says_why(void **state)
{
    struct world *w = *state;
    char id[40], target[200];
    struct fk_api_answer a = ask(w, "POST", "/api/v1/upload", FK_S("main;work 3\n"));
    assert_int_equal(a.status, 201);
    fk_buf_byte(&a.body, 0);
    print(id, sizeof(id), "%.36s", strstr(a.body.p, "\"id\":\"") + 6);
    fk_buf_free(&a.body);
    print(target, sizeof(target), "/api/v1/export?format=pgo&id=%s", id);
    GET(w, target, 400, "at which line it starts");
    print(target, sizeof(target), "/api/v1/export?format=pgo&each=true&id=%s", id);
    GET(w, target, 404, "can be exported so", id);
    print(target, sizeof(target), "/api/v1/export?format=pgo&each=true&id=%s&id=%s", id, w->id);
    a = ask(w, "GET", target, FK_S(""));
    assert_int_equal(a.status, 200);
    assert_true(fk_str_find(fk_buf_view(&a.body), FK_S("not-exported.txt")) > 0);
    fk_buf_free(&a.body);
}

// ---- refusals, losses, and what is only looked at ----

static void rejects_are_listed(void **state)
{
    struct world *w = *state;
    struct fk_api_answer a = ask(w, "POST", "/api/v1/upload", FK_S("no profile\n"));
    assert_int_equal(a.status, 400);
    fk_buf_free(&a.body);
    a = ask(w, "POST", "/ingest?name=app", FK_S("main;work 3\nwhat is this\n"));
    assert_int_equal(a.status, 200);
    fk_buf_free(&a.body);
    a = ask(w, "GET", "/api/v1/rejects", FK_S(""));
    assert_int_equal(a.status, 200);
    fk_buf_byte(&a.body, 0);
    assert_non_null(strstr(a.body.p, "\"total\":2"));
    assert_non_null(strstr(a.body.p, "\"endpoint\":\"/api/v1/upload\",\"status\":400"));
    assert_non_null(strstr(a.body.p, "\"name\":\"app\""));
    assert_non_null(strstr(a.body.p, "{\"reason\":\"format\",\"count\":1}"));
    fk_buf_free(&a.body);
    a = ask(w, "GET", "/metrics", FK_S(""));
    fk_buf_byte(&a.body, 0);
    assert_non_null(strstr(a.body.p, "flamekeep_rejects_total{reason=\"format\"} 1"));
    fk_buf_free(&a.body);
}

// Clients can choose what stands in a reason: they fill no memory with it.
static void reasons_are_bounded(void **state)
{
    struct world *w = *state;
    struct fk_api_answer a;
    char target[80];
    for (int i = 0; i < 200; i++) {
        print(target, sizeof(target), "/api/v1/upload?surprise%d=1", i);
        a = ask(w, "POST", target, FK_S("main;work 3\n"));
        assert_int_equal(a.status, 400);
        fk_buf_free(&a.body);
    }
    a = ask(w, "GET", "/api/v1/rejects?limit=256", FK_S(""));
    assert_int_equal(a.status, 200);
    size_t reasons = 0;
    unsigned long long sum = 0, count;
    for (const char *p = strstr(a.body.p, "{\"reason\":\""); p;
         p = strstr(p + 1, "{\"reason\":\"")) {
        const char *n = strstr(p, "\"count\":");
        assert_int_equal(sscanf(n, "\"count\":%llu", &count), 1);
        sum += count;
        reasons++;
    }
    assert_int_equal(reasons, 48);
    assert_int_equal(sum, 200);
    assert_non_null(strstr(a.body.p, "{\"reason\":\"invalid surprise46\",\"count\":1}"));
    assert_non_null(strstr(a.body.p, "{\"reason\":\"other\",\"count\":153}"));
    fk_buf_free(&a.body);
}

static void what_is_not_stored_can_be_looked_at(void **state)
{
    struct world *w = *state;
    struct fk_api_answer a = ask(w, "POST", "/api/v1/upload?store=false", fk_buf_view(&w->pprof));
    char target[300], id[40];
    assert_int_equal(a.status, 200);
    fk_buf_byte(&a.body, 0);
    print(id, sizeof(id), "%.36s", strstr(a.body.p, "\"id\":\"") + 6);
    fk_buf_free(&a.body);
    a = ask(w, "GET", "/api/v1/profiles", FK_S(""));
    fk_buf_byte(&a.body, 0);
    assert_null(strstr(a.body.p, id));
    assert_non_null(strstr(a.body.p, w->id));
    fk_buf_free(&a.body);
    static const char *const views[] = {"/api/v1/profiles/%s", "/api/v1/top?id=%s",
                                        "/api/v1/flamegraph?id=%s",
                                        "/api/v1/export?format=pprof&id=%s"};
    for (size_t i = 0; i < FK_COUNTOF(views); i++) {
        ptrdiff_t at = strstr(views[i], "%s") - views[i];
        print(target, sizeof(target), "%.*s%s", (int)at, views[i], id);
        a = ask(w, "GET", target, FK_S(""));
        assert_int_equal(a.status, 200);
        fk_buf_free(&a.body);
    }
    print(target, sizeof(target), "/api/v1/top?id=%s&id=%s", id, w->id); // never without a word
    a = ask(w, "GET", target, FK_S(""));
    assert_int_equal(a.status, 200);
    fk_buf_byte(&a.body, 0);
    assert_non_null(strstr(a.body.p, "some of the profiles named by id are missing"));
    fk_buf_free(&a.body);
    print(target, sizeof(target), "/api/v1/top?id=%s&id=%s", w->id, w->id);
    a = ask(w, "GET", target, FK_S(""));
    fk_buf_byte(&a.body, 0);
    assert_null(strstr(a.body.p, "are missing"));
    fk_buf_free(&a.body);
    print(target, sizeof(target), "/api/v1/diff?left_id=%s&right_id=%s", id, w->id);
    a = ask(w, "GET", target, FK_S(""));
    assert_int_equal(a.status, 200);
    fk_buf_free(&a.body);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(rejects_are_listed, setup, teardown),
        cmocka_unit_test_setup_teardown(reasons_are_bounded, setup, teardown),
        cmocka_unit_test_setup_teardown(what_is_not_stored_can_be_looked_at, setup, teardown),
        cmocka_unit_test_setup_teardown(document_and_table_are_in_step, setup, teardown),
        cmocka_unit_test_setup_teardown(every_documented_parameter_is_checked, setup, teardown),
        cmocka_unit_test_setup_teardown(numbers_out_of_range_say_the_range, setup, teardown),
        cmocka_unit_test_setup_teardown(what_is_not_there_is_named, setup, teardown),
        cmocka_unit_test_setup_teardown(cursors_belong_to_their_list, setup, teardown),
        cmocka_unit_test_setup_teardown(limits_name_their_flag, setup, teardown),
        cmocka_unit_test_setup_teardown(an_empty_range_is_no_failure, setup, teardown),
        cmocka_unit_test_setup_teardown(what_was_pushed_is_answered, setup, teardown),
        cmocka_unit_test_setup_teardown(every_format_is_exported, setup, teardown),
        cmocka_unit_test_setup_teardown(a_profile_that_cannot_be_a_pgo_says_why, setup, teardown),
        cmocka_unit_test_setup_teardown(what_cannot_be_exported_is_named, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
