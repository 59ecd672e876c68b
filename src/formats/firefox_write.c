// SPDX-License-Identifier: Apache-2.0
// Firefox's "processed" profile out, version 68 (profiler.firefox.com, docs-developer: the page
// upgrades older versions): one value column, a thread for each thread that samples name, all
// tables shared. Times are milliseconds since startTime, which is a whole number, so that they read
// back to the nanosecond; without times in the profile all are 0. Tables come behind the threads
// that number their entries.
#include "formats/named_int.h"

#include <stdio.h>

#define VERSION       68
#define GECKO_VERSION 34

struct node {
    uint32_t parent, frame; // parent FK_NONE: a root
};

// Libraries, files: ids of strings, each once.
struct list {
    FK_VEC(uint32_t) ids;
    struct fk_map index;
};

struct writer {
    const struct fk_profile *p;
    uint32_t type;
    struct fk_named_frames frames;
    struct fk_lanes lanes;
    struct fk_json w;
    struct fk_str title;
    FK_VEC(struct node) nodes; // parents first
    struct fk_map node_index;
    uint32_t *node_of; // per stack, FK_NONE: not made yet
    int64_t start_ms;
    FK_VEC(struct fk_str) strings;
    struct fk_map string_index;
    struct list libs, files;
    FK_VEC(uint32_t) func_of; // per frame
    FK_VEC(uint32_t) func;    // a frame of each
    struct fk_map func_index;
    bool nomem;
};

// ---- tables as they grow ----

static uint32_t put_string(struct writer *x, struct fk_str s)
{
    uint64_t h = fk_hash_str(s);
    for (uint32_t at = fk_map_first(&x->string_index, h); at != FK_NONE;
         at = fk_map_next(&x->string_index, h, at))
        if (fk_str_eq(x->strings.v[fk_map_id(&x->string_index, at)], s))
            return fk_map_id(&x->string_index, at);
    uint32_t id = (uint32_t)x->strings.n;
    x->nomem |= fk_vec_push(&x->strings, s) || fk_map_add(&x->string_index, h, id);
    return id;
}

static uint32_t put_in_list(struct writer *x, struct list *l, struct fk_str s)
{
    uint32_t id = put_string(x, s);
    uint64_t h = fk_hash_u64(id);
    for (uint32_t at = fk_map_first(&l->index, h); at != FK_NONE;
         at = fk_map_next(&l->index, h, at))
        if (l->ids.v[fk_map_id(&l->index, at)] == id)
            return fk_map_id(&l->index, at);
    x->nomem |= fk_vec_push(&l->ids, id) || fk_map_add(&l->index, h, (uint32_t)l->ids.n - 1);
    return (uint32_t)l->ids.n - 1;
}

static int child(struct writer *x, uint32_t parent, uint32_t frame, uint32_t *ret)
{
    uint64_t h = fk_hash_u64((uint64_t)parent << 32 | frame);
    for (uint32_t at = fk_map_first(&x->node_index, h); at != FK_NONE;
         at = fk_map_next(&x->node_index, h, at)) {
        const struct node *n = &x->nodes.v[fk_map_id(&x->node_index, at)];
        if (n->parent == parent && n->frame == frame) {
            *ret = fk_map_id(&x->node_index, at);
            return 0;
        }
    }
    *ret = (uint32_t)x->nodes.n;
    return fk_vec_push(&x->nodes, (struct node){parent, frame}) ||
                   fk_map_add(&x->node_index, h, *ret)
               ? -FK_E_NOMEM
               : 0;
}

// FK_NONE: a stack without frames.
static int node_of(struct writer *x, uint32_t stack, uint32_t *ret)
{
    const struct fk_symbols *s = &x->p->sym;
    if (x->node_of[stack] == FK_NONE)
        for (uint32_t f = s->stack_begin[stack + 1]; f-- > s->stack_begin[stack];) {
            const uint32_t *number;
            uint32_t n;
            if (fk_named_frames_of(&x->frames, s->frame[f], &number, &n))
                return -FK_E_NOMEM;
            while (n-- > 0)
                if (child(x, x->node_of[stack], number[n], &x->node_of[stack]))
                    return -FK_E_NOMEM;
        }
    *ret = x->node_of[stack];
    return 0;
}

// ---- columns ----

static void key_i64(struct fk_json *w, const char *key, int64_t v)
{
    fk_json_key(w, fk_str_of(key));
    fk_json_i64(w, v);
}

static void key_str(struct fk_json *w, const char *key, struct fk_str s)
{
    fk_json_key(w, fk_str_of(key));
    fk_json_str(w, s);
}

static void key_array(struct fk_json *w, const char *key)
{
    fk_json_key(w, fk_str_of(key));
    fk_json_array(w);
}

static void key_object(struct fk_json *w, const char *key)
{
    fk_json_key(w, fk_str_of(key));
    fk_json_object(w);
}

// A column that has the same value everywhere; text is JSON.
static void fill(struct fk_json *w, const char *key, const char *text, size_t n)
{
    key_array(w, key);
    while (n-- > 0)
        fk_json_raw(w, fk_str_of(text));
    fk_json_array_end(w);
}

static void empty_table(struct fk_json *w, const char *key, const char *const *columns, size_t n)
{
    key_object(w, key);
    for (size_t i = 0; i < n; i++)
        fill(w, columns[i], "", 0);
    key_i64(w, "length", 0);
    fk_json_object_end(w);
}

// Nanoseconds as milliseconds, all digits.
static void put_ms(struct fk_json *w, int64_t ns)
{
    char text[40];
    uint64_t v = ns < 0 ? 0 - (uint64_t)ns : (uint64_t)ns;
    snprintf(text, sizeof(text), "%s%llu.%06llu", ns < 0 ? "-" : "",
             (unsigned long long)(v / 1000000), (unsigned long long)(v % 1000000));
    fk_json_raw(w, fk_str_of(text));
}

// ---- threads ----

static int put_stacks(struct writer *x, size_t begin, size_t end)
{
    key_array(&x->w, "stack");
    for (size_t i = begin; i < end; i++) {
        uint32_t node;
        if (node_of(x, x->p->stack[x->lanes.v[i].row], &node))
            return -FK_E_NOMEM;
        if (node == FK_NONE)
            fk_json_null(&x->w);
        else
            fk_json_u64(&x->w, node);
    }
    fk_json_array_end(&x->w);
    return 0;
}

static void put_weights(struct writer *x, size_t begin, size_t end)
{
    struct fk_str unit = x->p->type[x->type].unit;
    bool ns = fk_str_eq(unit, FK_S("nanoseconds")), bytes = fk_str_eq(unit, FK_S("bytes"));
    key_str(&x->w, "weightType", ns ? FK_S("tracing-ms") : bytes ? FK_S("bytes") : FK_S("samples"));
    key_array(&x->w, "weight");
    for (size_t i = begin; i < end; i++) {
        int64_t v = x->p->value[x->type][x->lanes.v[i].obs];
        if (ns)
            put_ms(&x->w, v);
        else
            fk_json_i64(&x->w, v);
    }
    fk_json_array_end(&x->w);
}

static int put_samples(struct writer *x, size_t begin, size_t end)
{
    struct fk_json *w = &x->w;
    key_object(w, "samples");
    int rc = put_stacks(x, begin, end);
    if (rc)
        return rc;
    key_array(w, "time");
    for (size_t i = begin; i < end; i++) {
        int64_t t = x->lanes.v[i].time_ns;
        put_ms(w, t == FK_NO_TIME ? 0 : fk_wrap_sub(t, x->start_ms * 1000000));
    }
    fk_json_array_end(w);
    put_weights(x, begin, end);
    key_i64(w, "length", (int64_t)(end - begin));
    fk_json_object_end(w);
    return 0;
}

static int put_thread(struct writer *x, size_t lane)
{
    static const char *const markers[] = {"data",    "name",  "startTime",
                                          "endTime", "phase", "category"};
    const struct fk_lane_who *who = &x->lanes.who.v[lane];
    struct fk_json *w = &x->w;
    int64_t tid = 0;
    fk_json_object(w);
    key_str(w, "processType", FK_S("default"));
    key_str(w, "processName", x->title);
    key_i64(w, "processStartupTime", 0);
    fk_json_k(w, "processShutdownTime");
    fk_json_null(w);
    key_i64(w, "registerTime", 0);
    fk_json_k(w, "unregisterTime");
    fk_json_null(w);
    fill(w, "pausedRanges", "", 0);
    struct fk_str name = who->name.n || !who->tid.n ? who->name : who->tid;
    key_str(w, "name", name.n ? name : x->p->type[x->type].type);
    fk_json_k(w, "isMainThread");
    fk_json_bool(w, lane == 0);
    key_str(w, "pid", who->pid.n ? who->pid : FK_S("0"));
    if (who->tid.n && fk_str_to_i64(who->tid, &tid))
        key_str(w, "tid", who->tid);
    else
        key_i64(w, "tid", who->tid.n ? tid : (int64_t)lane);
    int rc = put_samples(x, x->lanes.begin[lane], x->lanes.begin[lane + 1]);
    empty_table(w, "markers", markers, FK_COUNTOF(markers));
    fk_json_object_end(w);
    return rc ? rc : w->err.code;
}

// ---- shared tables ----

static void put_stack_table(struct writer *x)
{
    struct fk_json *w = &x->w;
    key_object(w, "stackTable");
    key_array(w, "frame");
    for (size_t i = 0; i < x->nodes.n; i++)
        fk_json_u64(w, x->nodes.v[i].frame);
    fk_json_array_end(w);
    key_array(w, "prefixOffset"); // how far above its caller is; 0: none
    for (size_t i = 0; i < x->nodes.n; i++)
        fk_json_u64(w, x->nodes.v[i].parent == FK_NONE ? 0 : i - x->nodes.v[i].parent);
    fk_json_array_end(w);
    key_i64(w, "length", (int64_t)x->nodes.n);
    fk_json_object_end(w);
}

static bool same_func(const struct fk_named_frame *a, const struct fk_named_frame *b)
{
    return a->start_line == b->start_line && fk_str_eq(a->name, b->name) &&
           fk_str_eq(a->file, b->file) && fk_str_eq(a->module, b->module);
}

static void find_funcs(struct writer *x)
{
    for (size_t i = 0; !x->nomem && i < x->frames.v.n; i++) {
        const struct fk_named_frame *f = &x->frames.v.v[i];
        uint64_t h = fk_hash_str(f->name) ^ fk_hash_str(f->file) << 1;
        uint32_t at = fk_map_first(&x->func_index, h);
        while (at != FK_NONE &&
               !same_func(&x->frames.v.v[x->func.v[fk_map_id(&x->func_index, at)]], f))
            at = fk_map_next(&x->func_index, h, at);
        uint32_t id = at == FK_NONE ? (uint32_t)x->func.n : fk_map_id(&x->func_index, at);
        if (at == FK_NONE)
            x->nomem |= fk_map_add(&x->func_index, h, id) || fk_vec_push(&x->func, (uint32_t)i);
        x->nomem |= fk_vec_push(&x->func_of, id) != 0;
    }
}

// null where there is none.
static void put_number_or_null(struct fk_json *w, int64_t v)
{
    if (v)
        fk_json_i64(w, v);
    else
        fk_json_null(w);
}

static void put_frame_table(struct writer *x)
{
    size_t n = x->func_of.n;
    const struct fk_named_frame *f = x->frames.v.v;
    struct fk_json *w = &x->w;
    key_object(w, "frameTable");
    key_array(w, "address");
    for (size_t i = 0; i < n; i++)
        fk_json_i64(w, f[i].symbolized || f[i].address > INT64_MAX ? -1 : (int64_t)f[i].address);
    fk_json_array_end(w);
    fill(w, "inlineDepth", "0", n);
    fill(w, "category", "0", n);
    fill(w, "subcategory", "0", n);
    key_array(w, "func");
    for (size_t i = 0; i < n; i++)
        fk_json_u64(w, x->func_of.v[i]);
    fk_json_array_end(w);
    fill(w, "nativeSymbol", "null", n);
    fill(w, "innerWindowID", "0", n);
    key_array(w, "line");
    for (size_t i = 0; i < n; i++)
        put_number_or_null(w, f[i].line);
    fk_json_array_end(w);
    key_array(w, "column");
    for (size_t i = 0; i < n; i++)
        put_number_or_null(w, f[i].column);
    fk_json_array_end(w);
    fill(w, "originalLocation", "null", n);
    key_i64(w, "length", (int64_t)n);
    fk_json_object_end(w);
}

static const struct fk_named_frame *func(const struct writer *x, size_t i)
{
    return &x->frames.v.v[x->func.v[i]];
}

static void put_func_refs(struct writer *x)
{
    struct fk_json *w = &x->w;
    key_array(w, "resource");
    for (size_t i = 0; i < x->func.n; i++) {
        const struct fk_named_frame *f = func(x, i);
        struct fk_str module = f->symbolized ? f->module : FK_S(""); // else it is in the name
        fk_json_i64(w, module.n ? (int64_t)put_in_list(x, &x->libs, module) : -1);
    }
    fk_json_array_end(w);
    key_array(w, "source");
    for (size_t i = 0; i < x->func.n; i++) {
        struct fk_str file = func(x, i)->file;
        if (file.n)
            fk_json_u64(w, put_in_list(x, &x->files, file));
        else
            fk_json_null(w);
    }
    fk_json_array_end(w);
}

static void put_func_table(struct writer *x)
{
    struct fk_json *w = &x->w;
    size_t n = x->func.n;
    key_object(w, "funcTable");
    fill(w, "isJS", "false", n);
    fill(w, "relevantForJS", "false", n);
    key_array(w, "name");
    for (size_t i = 0; i < n; i++)
        fk_json_u64(w, put_string(x, func(x, i)->name));
    fk_json_array_end(w);
    put_func_refs(x);
    key_array(w, "lineNumber");
    for (size_t i = 0; i < n; i++)
        put_number_or_null(w, func(x, i)->start_line);
    fk_json_array_end(w);
    fill(w, "columnNumber", "null", n);
    fill(w, "originalLocation", "null", n);
    key_i64(w, "length", (int64_t)n);
    fk_json_object_end(w);
}

static void put_resources(struct writer *x)
{
    struct fk_json *w = &x->w;
    size_t n = x->libs.ids.n;
    key_object(w, "resourceTable");
    key_array(w, "lib");
    for (size_t i = 0; i < n; i++)
        fk_json_u64(w, i);
    fk_json_array_end(w);
    key_array(w, "name");
    for (size_t i = 0; i < n; i++)
        fk_json_u64(w, x->libs.ids.v[i]);
    fk_json_array_end(w);
    fill(w, "host", "null", n);
    fill(w, "type", "1", n); // a library
    key_i64(w, "length", (int64_t)n);
    fk_json_object_end(w);
}

static void put_sources(struct writer *x)
{
    struct fk_json *w = &x->w;
    size_t n = x->files.ids.n;
    key_object(w, "sources");
    fill(w, "id", "null", n);
    key_array(w, "filename");
    for (size_t i = 0; i < n; i++)
        fk_json_u64(w, x->files.ids.v[i]);
    fk_json_array_end(w);
    fill(w, "startLine", "1", n);
    fill(w, "startColumn", "1", n);
    fill(w, "sourceMapURL", "null", n);
    fill(w, "content", "null", n);
    key_i64(w, "length", (int64_t)n);
    fk_json_object_end(w);
}

static void put_shared(struct writer *x)
{
    static const char *const symbols[] = {"libIndex", "address", "name", "functionSize"},
                             *const places[] = {"source", "line", "column"};
    struct fk_json *w = &x->w;
    find_funcs(x);
    if (x->nomem)
        return;
    key_object(w, "shared");
    put_stack_table(x);
    put_frame_table(x);
    put_func_table(x);
    put_resources(x);
    put_sources(x);
    empty_table(w, "nativeSymbols", symbols, FK_COUNTOF(symbols));
    empty_table(w, "sourceLocationTable", places, FK_COUNTOF(places));
    key_array(w, "stringArray");
    for (size_t i = 0; i < x->strings.n; i++)
        fk_json_str(w, x->strings.v[i]);
    fk_json_array_end(w);
    fk_json_object_end(w);
}

static void put_libs(struct writer *x)
{
    struct fk_json *w = &x->w;
    key_array(w, "libs");
    for (size_t i = 0; i < x->libs.ids.n; i++) {
        struct fk_str path = x->strings.v[x->libs.ids.v[i]];
        struct fk_str base = fk_str_from(path, (size_t)(fk_str_rchr(path, '/') + 1));
        fk_json_object(w);
        key_str(w, "name", base);
        key_str(w, "path", path);
        key_str(w, "debugName", base);
        key_str(w, "debugPath", path);
        key_str(w, "arch", FK_S(""));
        key_str(w, "breakpadId", FK_S(""));
        fk_json_k(w, "codeId");
        fk_json_null(w);
        fk_json_object_end(w);
    }
    fk_json_array_end(w);
}

// ---- the document ----

// Between two samples: the period where the profile has one in nanoseconds, else 1 ms.
static int64_t interval_ns(const struct fk_profile *p)
{
    bool known = p->period > 0 && fk_str_eq(p->period_unit, FK_S("nanoseconds"));
    return known ? p->period : 1000000;
}

static void put_meta(struct writer *x)
{
    static const char *const texts[] = {"abi",     "misc",       "oscpu",     "platform",
                                        "toolkit", "appBuildID", "sourceURL", "CPUName"};
    static const char *const numbers[] = {"processType", "stackwalk", "physicalCPUs",
                                          "logicalCPUs"};
    struct fk_json *w = &x->w;
    key_object(w, "meta");
    fk_json_k(w, "interval");
    put_ms(w, interval_ns(x->p));
    key_i64(w, "startTime", x->start_ms);
    key_str(w, "product", x->title.n ? x->title : FK_S("flamekeep"));
    key_str(w, "importedFrom", FK_S("flamekeep"));
    key_i64(w, "version", GECKO_VERSION);
    key_i64(w, "preprocessedProfileVersion", VERSION);
    for (size_t i = 0; i < FK_COUNTOF(texts); i++)
        key_str(w, texts[i], FK_S(""));
    for (size_t i = 0; i < FK_COUNTOF(numbers); i++)
        key_i64(w, numbers[i], 0);
    fk_json_k(w, "symbolicated");
    fk_json_bool(w, true);
    fk_json_k(w, "extensions");
    fk_json_raw(w, FK_S("{\"id\":[],\"name\":[],\"baseURL\":[],\"length\":0}"));
    fk_json_k(w, "categories");
    fk_json_raw(w, FK_S("[{\"name\":\"Other\",\"color\":\"grey\",\"subcategories\":[\"Other\"]}]"));
    fill(w, "markerSchema", "", 0);
    fk_json_object_end(w);
}

static int put_document(struct writer *x)
{
    struct fk_json *w = &x->w;
    int rc = 0;
    fk_json_object(w);
    put_meta(x);
    fill(w, "pages", "", 0);
    key_array(w, "threads");
    for (size_t i = 0; !rc && i < x->lanes.who.n; i++)
        rc = put_thread(x, i);
    if (rc)
        return rc;
    fk_json_array_end(w);
    put_shared(x);
    put_libs(x);
    fk_json_object_end(w);
    return x->nomem ? -FK_E_NOMEM : 0;
}

// The whole millisecond in which the first sample lies, or the profile begins.
static int64_t start_ms(const struct fk_profile *p)
{
    int64_t first = INT64_MAX;
    for (uint64_t o = 0; p->time_ns && o < p->n_obs; o++)
        if (p->time_ns[o] != FK_NO_TIME)
            first = FK_MIN(first, p->time_ns[o]);
    if (first == INT64_MAX)
        first = p->time_ns_start;
    return first / 1000000 - (first % 1000000 < 0);
}

static void finish(struct writer *x)
{
    fk_lanes_free(&x->lanes);
    fk_named_frames_end(&x->frames);
    fk_vec_free(&x->nodes);
    fk_map_free(&x->node_index);
    fk_vec_free(&x->strings);
    fk_map_free(&x->string_index);
    fk_vec_free(&x->libs.ids);
    fk_map_free(&x->libs.index);
    fk_vec_free(&x->files.ids);
    fk_map_free(&x->files.index);
    fk_vec_free(&x->func_of);
    fk_vec_free(&x->func);
    fk_map_free(&x->func_index);
    fk_free(x->node_of);
}

int fk_firefox_encode(const struct fk_profile *p, const struct fk_encode_opts *opts,
                      struct fk_out out, struct fk_err *err)
{
    struct writer x = {.p = p, .type = opts->type, .title = opts->title, .start_ms = start_ms(p)};
    if (opts->type >= p->n_types)
        return fk_fail_param(err, "type", "the profile has %u sample types", p->n_types);
    fk_json_init(&x.w, out, false);
    size_t stacks = (size_t)p->sym.n_stacks * sizeof(uint32_t);
    x.node_of = fk_malloc(FK_MAX(stacks, (size_t)1));
    int rc = !x.node_of || fk_named_frames_begin(&x.frames, p) || fk_lanes_make(&x.lanes, p)
                 ? -FK_E_NOMEM
                 : 0;
    if (!rc) {
        memset(x.node_of, 0xff, stacks);
        rc = put_document(&x);
    }
    if (rc == -FK_E_NOMEM && !x.w.err.code)
        fk_fail_nomem(&x.w.err);
    rc = fk_json_finish(&x.w, err);
    finish(&x);
    return rc;
}
