// SPDX-License-Identifier: Apache-2.0
// POST /ingest, as Pyroscope's older clients send it: name, times and type in the query, the
// profile as body or in a multipart form. Compatible with the rules described in docs/api.md
// "/ingest"; the receipt is the body of the answer.
#include "api/seen_int.h"

struct ingest {
    struct fk_api_call *c;
    struct fk_store_ask ask;
    struct fk_label *label;
    size_t n_labels;
    struct fk_label annotation[4];
    struct fk_str app, display[16][2]; // display names of sample types
    size_t n_display;
    struct fk_seen_key key;
};

// ---- name ----

static int add_label(struct ingest *x, struct fk_str name, struct fk_str value)
{
    struct fk_label *v = fk_arena_array(x->c->arena, x->n_labels + 1, sizeof(*v));
    if (!v)
        return -FK_E_NOMEM;
    if (x->n_labels)
        memcpy(v, x->label, x->n_labels * sizeof(*v));
    v[x->n_labels++] = (struct fk_label){name, value};
    x->label = v;
    return 0;
}

static int bad_name(struct fk_str name, struct fk_err *err)
{
    return fk_fail_param(err, "name",
                         "name must look like app{label=value,label2=value2}, not '%.*s'",
                         FK_STR_ARG(fk_str_head(name, 80)));
}

static int parse_pairs(struct ingest *x, struct fk_str whole, struct fk_str inside,
                       struct fk_err *err)
{
    struct fk_str pair;
    if (!fk_str_trim(inside).n)
        return 0;
    while (fk_str_split(&inside, ',', &pair)) {
        ptrdiff_t equals = fk_str_chr(pair, '=');
        if (equals < 0)
            return fk_str_trim(pair).n ? bad_name(whole, err) : 0;
        struct fk_str key = fk_str_trim(fk_str_head(pair, (size_t)equals)),
                      value = fk_str_trim(fk_str_from(pair, (size_t)equals + 1));
        bool private = fk_str_starts(key, FK_S("__"));
        if (fk_str_eq(key, FK_S("__session_id__")))
            x->annotation[x->ask.accept.n_annotations++] =
                (struct fk_label){FK_S("session_id"), value};
        if (!private && add_label(x, key, value))
            return fk_fail_nomem(err);
    }
    return 0;
}

static int parse_name(struct ingest *x, struct fk_err *err)
{
    struct fk_str name = fk_param(x->c, "name");
    ptrdiff_t brace = fk_str_chr(name, '{');
    if (!name.n)
        return fk_fail_param(
            err, "name", "name= is missing: the application's name, like my.app.cpu{pod=web-1}");
    x->app = fk_str_trim(brace < 0 ? name : fk_str_head(name, (size_t)brace));
    if (!x->app.n)
        return bad_name(name, err);
    if (brace < 0)
        return 0;
    struct fk_str inside = fk_str_from(name, (size_t)brace + 1);
    ptrdiff_t close = fk_str_chr(inside, '}');
    return close < 0 ? bad_name(name, err)
                     : parse_pairs(x, name, fk_str_head(inside, (size_t)close), err);
}

// The application becomes the service unless the labels name one.
static int complete_labels(struct ingest *x)
{
    struct fk_str spy = fk_param(x->c, "spyName");
    bool named = false;
    for (size_t i = 0; i < x->n_labels; i++)
        named |= fk_str_eq(x->label[i].name, FK_S("service_name"));
    if (!named && add_label(x, FK_S("service_name"), x->app))
        return -FK_E_NOMEM;
    if (named && x->ask.format != FK_FORMAT_PPROF && add_label(x, FK_S("app_name"), x->app))
        return -FK_E_NOMEM;
    if (spy.n && add_label(x, FK_S("pyroscope_spy"), spy))
        return -FK_E_NOMEM;
    x->ask.accept.label = x->label;
    x->ask.accept.n_labels = x->n_labels;
    return 0;
}

// ---- text types ----

static const struct suffix {
    const char *suffix, *name, *type, *unit;
    bool timed; // count x period is added
} suffixes[] = {
    {"cpu", "process_cpu", "samples", "count", true},
    {"itimer", "process_cpu", "samples", "count", true},
    {"wall", "wall", "samples", "count", true},
    {"seconds", "wall", "samples", "count", true},
    {"nanoseconds", "wall", "samples", "count", true},
    {"microseconds", "wall", "samples", "count", true},
    {"milliseconds", "wall", "samples", "count", true},
    {"inuse_objects", "memory", "inuse_objects", "count", false},
    {"alloc_objects", "memory", "alloc_objects", "count", false},
    {"inuse_space", "memory", "inuse_space", "bytes", false},
    {"alloc_space", "memory", "alloc_space", "bytes", false},
    {"goroutines", "goroutine", "goroutines", "count", false},
    {"mutex_count", "mutex", "contentions", "count", false},
    {"mutex_duration", "mutex", "delay", "nanoseconds", false},
    {"block_count", "block", "contentions", "count", false},
    {"block_duration", "block", "delay", "nanoseconds", false},
    {"lock_count", "block", "contentions", "count", false},
    {"lock_duration", "block", "delay", "nanoseconds", false},
    {"alloc_in_new_tlab_objects", "memory", "alloc_in_new_tlab_objects", "count", false},
    {"alloc_outside_tlab_objects", "memory", "alloc_outside_tlab_objects", "count", false},
    {"alloc_in_new_tlab_bytes", "memory", "alloc_in_new_tlab_bytes", "bytes", false},
    {"alloc_outside_tlab_bytes", "memory", "alloc_outside_tlab_bytes", "bytes", false},
    {"live", "memory", "live", "count", false},
    {"exceptions", "exceptions", "samples", "count", false},
    {"bytes", "memory", "samples", "bytes", false},
};

// "my.app.alloc_space": the known suffix goes from the name and decides the type; an unknown one
// stays and means cpu.
static void text_type(struct ingest *x, uint64_t rate)
{
    const struct suffix *s = &suffixes[0];
    ptrdiff_t dot = fk_str_rchr(x->app, '.');
    struct fk_str last = dot < 0 ? FK_S("") : fk_str_from(x->app, (size_t)dot + 1);
    for (size_t i = 0; dot > 0 && i < FK_COUNTOF(suffixes); i++)
        if (fk_str_eq(last, fk_str_of(suffixes[i].suffix))) {
            s = &suffixes[i];
            x->app = fk_str_head(x->app, (size_t)dot);
        }
    x->ask.accept.name = fk_str_of(s->name);
    x->ask.decode.type = fk_str_of(s->type);
    x->ask.decode.unit = fk_str_of(s->unit);
    x->ask.decode.sample_rate = s->timed ? rate : 0;
    x->ask.decode.time_type =
        fk_str_eq(fk_str_of(s->name), FK_S("wall")) ? FK_S("wall") : FK_S("cpu");
}

// ---- pprof names ----

static struct fk_str display_name(const struct ingest *x, struct fk_str type)
{
    static const char *const usual[][2] = {{"samples", "cpu"},
                                           {"goroutine", "goroutines"},
                                           {"contentions", "mutex_count"},
                                           {"delay", "mutex_duration"}};
    for (size_t i = 0; i < x->n_display; i++)
        if (fk_str_eq(x->display[i][0], type))
            return x->display[i][1];
    for (size_t i = 0; x->n_display == 0 && i < FK_COUNTOF(usual); i++)
        if (fk_str_eq(fk_str_of(usual[i][0]), type))
            return fk_str_of(usual[i][1]);
    return type;
}

static struct fk_str pprof_name(void *arg, const struct fk_profile *p)
{
    static const struct {
        const char *part, *name;
        bool whole;
    } rules[] = {{"cpu", "process_cpu", false}, {"alloc_", "memory", false},
                 {"inuse_", "memory", false},   {"space", "memory", true},
                 {"objects", "memory", true},   {"mutex_", "mutex", false},
                 {"block_", "block", false},    {"goroutines", "goroutines", false}};
    const struct ingest *x = arg;
    for (uint32_t i = 0; i < p->n_types; i++)
        if (fk_str_eq(p->type[i].type, FK_S("wall")))
            return FK_S("wall");
    for (uint32_t i = 0; i < p->n_types; i++) {
        struct fk_str shown = display_name(x, p->type[i].type);
        for (size_t k = 0; k < FK_COUNTOF(rules); k++) {
            struct fk_str part = fk_str_of(rules[k].part);
            if (rules[k].whole ? fk_str_eq(shown, part) : fk_str_find(shown, part) >= 0)
                return fk_str_of(rules[k].name);
        }
    }
    return p->n_types ? p->type[p->n_types - 1].type : FK_S("");
}

// {"samples": {"display-name": "cpu", ...}, ...}
static int parse_config(struct ingest *x, struct fk_str json, struct fk_err *err)
{
    struct fk_json_reader r;
    struct fk_json_tok tok;
    struct fk_str type = {"", 0}, key = {"", 0};
    uint32_t depth = 0;
    fk_json_read(&r, json, 8);
    for (;;) {
        int code = fk_json_next(&r, &tok, err);
        if (code || tok.kind == FK_JSON_END)
            return code;
        depth += tok.kind == FK_JSON_OBJECT;
        depth -= tok.kind == FK_JSON_OBJECT_END;
        if (tok.kind == FK_JSON_KEY &&
            (code = fk_json_text(&tok, x->c->arena, depth == 1 ? &type : &key, err)))
            return code;
        bool wanted =
            tok.kind == FK_JSON_STRING && depth == 2 && fk_str_eq(key, FK_S("display-name"));
        if (!wanted || x->n_display == FK_COUNTOF(x->display))
            continue;
        struct fk_str *to = x->display[x->n_display++];
        to[0] = type;
        if ((code = fk_json_text(&tok, x->c->arena, &to[1], err)))
            return code;
    }
}

// ---- body ----

// The parts of a form; *ret is the profile, .p NULL when there is none. A JFR comes as `jfr`, with
// `labels` beside it.
static int parse_form(struct ingest *x, struct fk_str *ret, struct fk_err *err)
{
    struct fk_str wanted = x->ask.format == FK_FORMAT_JFR ? FK_S("jfr") : FK_S("profile");
    struct fk_http_parts parts;
    struct fk_http_part part;
    int more, r = fk_http_parts_begin(&parts, x->c->content_type, x->c->request, x->c->arena, err);
    *ret = (struct fk_str){NULL, 0};
    if (r)
        return r;
    while ((more = fk_http_parts_next(&parts, &part, err)) == 1) {
        if (fk_str_eq(part.name, wanted))
            *ret = part.bytes;
        else if (x->ask.format == FK_FORMAT_JFR && fk_str_eq(part.name, FK_S("labels")))
            x->ask.decode.jfr_labels = part.bytes;
        else if (fk_str_eq(part.name, FK_S("sample_type_config")) &&
                 (r = parse_config(x, part.bytes, err)))
            return r;
        else if (fk_str_eq(part.name, FK_S("prev_profile")) && part.bytes.n)
            return fk_fail_param(
                err, "prev_profile",
                "cumulative profiles with a prev_profile part are not taken: update the client");
    }
    return more;
}

// "groups" and whatever is not known is folded text, as clients are used to.
static int text_format(struct fk_str format, enum fk_format *ret, struct fk_err *err)
{
    struct fk_err why;
    int r = fk_format_parse(format, ret, &why);
    if (r == -FK_E_UNSUPPORTED) {
        if (err)
            *err = why;
        return r;
    }
    if (r)
        *ret = FK_FORMAT_FOLDED;
    return 0;
}

static int choose_format(struct ingest *x, uint64_t rate, struct fk_str *body, struct fk_err *err)
{
    struct fk_str format = fk_param(x->c, "format");
    bool form = fk_str_starts(fk_http_media_type(x->c->content_type), FK_S("multipart/"));
    *body = x->c->request;
    if (fk_str_eq(format, FK_S("jfr"))) {
        x->ask.format = FK_FORMAT_JFR;
        // What the recording says of itself holds where the client says nothing.
        x->ask.decode.sample_rate = fk_param(x->c, "sampleRate").n ? rate : 0;
        int r = form ? parse_form(x, body, err) : 0;
        return r || body->p ? r : fk_fail_param(err, "jfr", "the form has no part named jfr");
    }
    if (fk_str_eq(format, FK_S("pprof")) || form) {
        x->ask.format = FK_FORMAT_PPROF;
        x->ask.name = pprof_name;
        x->ask.name_arg = x;
        return form ? parse_form(x, body, err) : 0;
    }
    text_type(x, rate);
    struct fk_str media = fk_http_media_type(x->c->content_type);
    if (fk_str_eq(media, FK_S("binary/octet-stream+trie")))
        format = FK_S("trie");
    else if (fk_str_eq(media, FK_S("binary/octet-stream+tree")))
        format = FK_S("tree");
    int r = text_format(format, &x->ask.format, err);
    if (!r && x->ask.format == FK_FORMAT_SPEEDSCOPE) // says itself what its values are
        x->ask.accept.name = (struct fk_str){NULL, 0};
    return r;
}

// ---- the whole ----

static int read_query(struct ingest *x, struct fk_str *body, struct fk_err *err)
{
    struct fk_api_call *c = x->c;
    uint64_t rate = 100;
    bool given;
    struct fk_err ignored;
    x->ask.decode = fk_decode_opts_push(&c->api->opts.limits);
    x->ask.decode.is_delta = true;
    x->ask.accept.push = true;
    x->ask.accept.annotation = x->annotation;
    if (c->user_agent.n)
        x->annotation[x->ask.accept.n_annotations++] =
            (struct fk_label){FK_S("user_agent"), fk_str_head(c->user_agent, 200)};
    if (fk_param_u64(c, "sampleRate", 0, 1000000000, &rate, &ignored))
        rate = 100; // as clients are used to
    int r;
    if ((r = parse_name(x, err)) ||
        (r = fk_param_time(c, "from", &x->ask.accept.from_ns, &given, err)) ||
        (r = fk_param_time(c, "until", &x->ask.accept.until_ns, &given, err)) ||
        (r = choose_format(x, rate, body, err)))
        return r;
    return complete_labels(x) ? fk_fail_nomem(err) : 0;
}

static struct fk_seen_key key_of(const struct ingest *x, struct fk_str body)
{
    uint64_t h = fk_hash_str(fk_param(x->c, "name")) ^ fk_hash_str(x->c->tenant) * 31;
    h = fk_hash_u64(h * 31 + (uint64_t)x->ask.accept.from_ns);
    h = fk_hash_u64(h * 31 + (uint64_t)x->ask.accept.until_ns);
    for (size_t i = 0; i < x->n_display; i++)
        h = fk_hash_u64(h * 31 + fk_hash_str(x->display[i][0]) * 31 +
                        fk_hash_str(x->display[i][1]));
    if (x->ask.decode.jfr_labels.n)
        h = fk_hash_u64(h * 31 + fk_hash_str(x->ask.decode.jfr_labels));
    return (struct fk_seen_key){h, fk_hash_str(body) ^ fk_hash_u64(body.n)};
}

static int put_receipt(struct fk_api_call *c, const struct fk_receipt *receipt, bool repeated,
                       struct fk_err *err)
{
    struct fk_json w;
    fk_call_json(c, &w);
    fk_json_receipt(&w, receipt);
    if (repeated) {
        fk_json_k(&w, "repeated");
        fk_json_bool(&w, true);
    }
    return fk_call_json_end(c, &w, err);
}

int fk_api_ingest(struct fk_api_call *c, struct fk_err *err)
{
    struct ingest x = {.c = c};
    struct fk_receipt receipt = {0};
    struct fk_str body;
    int r = read_query(&x, &body, err);
    if (r)
        return r;
    c->fail_status = 422; // from here on it is the profile that is wrong
    if (body.n == 0)      // an idle client's empty upload
        return put_receipt(c, &receipt, false, err);
    struct fk_seen_key key = key_of(&x, body);
    x.ask.seen = x.ask.accept.from_ns ? &key : NULL;
    r = fk_call_store(c, body, &x.ask, &receipt, err);
    return r ? r : put_receipt(c, &receipt, x.ask.repeated > 0, err);
}
