// SPDX-License-Identifier: Apache-2.0
// The API's own description (OpenAPI 3.1), made from the table of endpoints.
#include "api/api_int.h"

#include <stdio.h>

static const struct fk_api_param source_params[] = {
    {"id", "id", "profile id; repeat it to merge chosen profiles"},
    {"query", "string", "selector, like {service_name=\"web\",pod=~\"web-.*\"}; all when absent"},
    {"from", "time", "first moment: RFC 3339, Unix s, ms, us or ns, or now-15m"},
    {"until", "time", "end, not included"},
    {"attr.<name>", "attributes",
     "value of a sample attribute, like attr.endpoint=/buy: only samples that have it; several "
     "names: all of them"},
    {"type", "string", "profile type id; may be left out where the source has one"},
    {"focus", "string", "function name or /regex/: only stacks that contain it"},
    {"hide", "string", "function name or /regex/: frames taken out of the stacks"},
    {"collapse", "string", "function name or /regex/: what it calls counts as its own"},
};

// Parameters of any name that begins like this one: the members of an object, each a parameter of
// its own (style form, exploded).
static void put_any_name(struct fk_json *w, struct fk_str name)
{
    char pattern[64];
    struct fk_str begin = fk_str_head(name, name.n - FK_S(".<name>").n);
    snprintf(pattern, sizeof(pattern), "^%.*s\\.", FK_STR_ARG(begin));
    fk_json_k(w, "propertyNames");
    fk_json_object(w);
    fk_json_k(w, "pattern");
    fk_json_str(w, fk_str_of(pattern));
    fk_json_object_end(w);
    fk_json_k(w, "additionalProperties");
    fk_json_object(w);
    fk_json_k(w, "type");
    fk_json_str(w, FK_S("string"));
    fk_json_object_end(w);
}

static const char *schema_type(const char *type)
{
    static const char *const plain[] = {"integer", "boolean"};
    for (size_t i = 0; i < FK_COUNTOF(plain); i++)
        if (fk_str_eq(fk_str_of(type), fk_str_of(plain[i])))
            return plain[i];
    return fk_str_eq(fk_str_of(type), FK_S("attributes")) ? "object" : "string";
}

static void put_param(struct fk_json *w, struct fk_str name, const char *where, const char *type,
                      const char *text)
{
    fk_json_object(w);
    fk_json_k(w, "name");
    fk_json_str(w, name);
    fk_json_k(w, "in");
    fk_json_str(w, fk_str_of(where));
    if (fk_str_eq(fk_str_of(where), FK_S("path"))) {
        fk_json_k(w, "required");
        fk_json_bool(w, true);
    }
    fk_json_k(w, "description");
    fk_json_str(w, fk_str_of(text));
    struct fk_str schema = fk_str_of(schema_type(type));
    bool any_name = fk_str_eq(schema, FK_S("object"));
    if (any_name) {
        fk_json_k(w, "style");
        fk_json_str(w, FK_S("form"));
        fk_json_k(w, "explode");
        fk_json_bool(w, true);
    }
    fk_json_k(w, "schema");
    fk_json_object(w);
    fk_json_k(w, "type");
    fk_json_str(w, schema);
    if (any_name)
        put_any_name(w, name);
    fk_json_object_end(w);
    fk_json_object_end(w);
}

#define SHARED 5 // of the rows above, from here on: of a diff also without prefix, for both sides

static void put_source(struct fk_json *w, struct fk_arena *a, const char *prefix, size_t begin)
{
    for (size_t i = begin; i < FK_COUNTOF(source_params); i++) {
        struct fk_str name = fk_arena_printf(a, "%s%s", prefix, source_params[i].name);
        put_param(w, name, "query", source_params[i].type, source_params[i].text);
    }
}

static bool in_source(struct fk_str name)
{
    for (size_t i = 0; i < FK_COUNTOF(source_params); i++)
        if (fk_str_eq(name, fk_str_of(source_params[i].name)))
            return true;
    return fk_str_starts(name, FK_S("attr."));
}

static bool in_two_sources(struct fk_str name)
{
    const struct fk_str side[] = {FK_S("left_"), FK_S("right_")};
    for (size_t i = 0; i < FK_COUNTOF(side); i++)
        if (fk_str_starts(name, side[i]))
            return in_source(fk_str_from(name, side[i].n));
    for (size_t i = SHARED; i < FK_COUNTOF(source_params); i++)
        if (fk_str_eq(name, fk_str_of(source_params[i].name)))
            return true;
    return false;
}

static bool takes(const struct fk_api_endpoint *e, struct fk_str name)
{
    for (size_t i = 0; i < e->n_params; i++)
        if (fk_str_eq(name, fk_str_of(e->params[i].name)))
            return true;
    if (e->flags & FK_API_TWO_SOURCES)
        return in_two_sources(name);
    return (e->flags & FK_API_SOURCE) && in_source(name);
}

// A misspelt filter that is ignored would show something else than was asked for.
int fk_api_check_params(const struct fk_api_call *c, struct fk_err *err)
{
    if (c->endpoint->flags & (FK_API_HIDDEN | FK_API_RPC))
        return 0;                                    // what clients of others send along is theirs
    const struct fk_str everywhere = FK_S("tenant"); // access.c has read it
    for (size_t i = 0; i < c->n_query; i++) {
        char name[64];
        snprintf(name, sizeof(name), "%.*s", FK_STR_ARG(c->query[i].name));
        if (!fk_str_eq(c->query[i].name, everywhere) && !takes(c->endpoint, c->query[i].name))
            return fk_fail_param(err, name,
                                 "%s is no parameter of %s; /api/openapi.json lists them", name,
                                 c->endpoint->pattern);
    }
    return 0;
}

static void put_path_params(struct fk_json *w, const char *pattern)
{
    struct fk_str rest = fk_str_of(pattern), part;
    while (fk_str_split(&rest, '/', &part))
        if (part.n > 2 && part.p[0] == '{')
            put_param(w, fk_str_make(part.p + 1, part.n - 2), "path", "string",
                      fk_str_eq(part, FK_S("{id}")) ? "id of an entry, as the list gives it"
                                                    : "name of a label or of a sample attribute");
}

static void put_answers(struct fk_json *w, const struct fk_api_endpoint *e)
{
    bool created = fk_str_eq(fk_str_of(e->answer), FK_S("receipt"));
    fk_json_k(w, "responses");
    fk_json_object(w);
    fk_json_key(w, created ? FK_S("201") : FK_S("200"));
    fk_json_object(w);
    fk_json_k(w, "description");
    fk_json_str(w, fk_str_of(e->answer));
    fk_json_object_end(w);
    fk_json_k(w, "default");
    fk_json_object(w);
    fk_json_k(w, "description");
    fk_json_str(
        w,
        FK_S("problem (RFC 9457): title, status, detail, and param, limit, flag where they apply"));
    fk_json_object_end(w);
    fk_json_object_end(w);
}

static void put_method(struct fk_json *w, const char *method)
{
    char lower[8] = "";
    for (size_t i = 0; method[i] && i < sizeof(lower) - 1; i++)
        lower[i] = (char)(method[i] | 0x20);
    fk_json_key(w, fk_str_of(lower));
}

// Without tokens on the server nothing of it holds.
static void put_security(struct fk_json *w, const struct fk_api_endpoint *e)
{
    const char *word = e->flags & FK_API_PUSH   ? "push"
                       : e->flags & FK_API_READ ? "read"
                       : e->flags & FK_API_ANY  ? NULL
                                                : "admin";
    fk_json_k(w, "security");
    fk_json_array(w);
    if (!(e->flags & FK_API_OPEN)) {
        fk_json_object(w);
        fk_json_k(w, "token");
        fk_json_array(w);
        if (word)
            fk_json_str(w, fk_str_of(word));
        fk_json_array_end(w);
        fk_json_object_end(w);
    }
    fk_json_array_end(w);
}

static void put_schemes(struct fk_json *w)
{
    fk_json_k(w, "components");
    fk_json_object(w);
    fk_json_k(w, "securitySchemes");
    fk_json_object(w);
    fk_json_k(w, "token");
    fk_json_object(w);
    fk_json_k(w, "type");
    fk_json_str(w, FK_S("http"));
    fk_json_k(w, "scheme");
    fk_json_str(w, FK_S("bearer"));
    fk_json_object_end(w);
    fk_json_object_end(w);
    fk_json_object_end(w);
}

static void put_endpoint(struct fk_json *w, struct fk_arena *a, const struct fk_api_endpoint *e)
{
    put_method(w, e->method);
    fk_json_object(w);
    fk_json_k(w, "summary");
    fk_json_str(w, fk_str_of(e->summary));
    fk_json_k(w, "parameters");
    fk_json_array(w);
    put_path_params(w, e->pattern);
    if (e->flags & FK_API_SOURCE)
        put_source(w, a, "", 0);
    if (e->flags & FK_API_TWO_SOURCES) {
        put_source(w, a, "left_", 0);
        put_source(w, a, "right_", 0);
        put_source(w, a, "", SHARED);
    }
    for (size_t i = 0; i < e->n_params; i++)
        put_param(w, fk_str_of(e->params[i].name), "query", e->params[i].type, e->params[i].text);
    fk_json_array_end(w);
    put_security(w, e);
    put_answers(w, e);
    fk_json_object_end(w);
}

static bool is_listed(const struct fk_api_endpoint *e)
{
    return !(e->flags & (FK_API_HIDDEN | FK_API_RPC));
}

// Methods of one path stand together, under its first endpoint in the table.
static void put_path(struct fk_json *w, struct fk_arena *a, size_t at)
{
    struct fk_str pattern = fk_str_of(fk_api_table[at].pattern);
    for (size_t i = 0; i < at; i++)
        if (is_listed(&fk_api_table[i]) && fk_str_eq(pattern, fk_str_of(fk_api_table[i].pattern)))
            return;
    fk_json_key(w, pattern);
    fk_json_object(w);
    for (size_t i = at; i < fk_api_table_n; i++)
        if (is_listed(&fk_api_table[i]) && fk_str_eq(pattern, fk_str_of(fk_api_table[i].pattern)))
            put_endpoint(w, a, &fk_api_table[i]);
    fk_json_object_end(w);
}

int fk_api_openapi(struct fk_api_call *c, struct fk_err *err)
{
    struct fk_json w;
    fk_call_json(c, &w);
    fk_json_k(&w, "openapi");
    fk_json_str(&w, FK_S("3.1.0"));
    fk_json_k(&w, "info");
    fk_json_object(&w);
    fk_json_k(&w, "title");
    fk_json_str(&w, FK_S("Flamekeep"));
    fk_json_k(&w, "version");
    fk_json_str(&w, FK_S(FK_VERSION));
    fk_json_object_end(&w);
    fk_json_k(&w, "paths");
    fk_json_object(&w);
    for (size_t i = 0; i < fk_api_table_n; i++)
        if (is_listed(&fk_api_table[i]))
            put_path(&w, c->arena, i);
    fk_json_object_end(&w);
    put_schemes(&w);
    return fk_call_json_end(c, &w, err);
}
