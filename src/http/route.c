// SPDX-License-Identifier: Apache-2.0
// Finding a route by method and path. Patterns are compared segment by segment; where several fit,
// the one that is literal earlier wins.
#include "http/http_int.h"

#include <stdlib.h>

#define MAX_PARAMS 8

static bool is_param(struct fk_str seg)
{
    return seg.n >= 3 && seg.p[0] == '{' && seg.p[seg.n - 1] == '}';
}

static bool is_rest(struct fk_str seg)
{
    return is_param(seg) && fk_str_ends(seg, FK_S("...}"));
}

// 0 literal, 1 parameter, 2 the rest, 3 no segment left.
static int seg_class(struct fk_str seg, bool there)
{
    return !there ? 3 : is_rest(seg) ? 2 : is_param(seg) ? 1 : 0;
}

static int compare_patterns(const void *a, const void *b, void *arg)
{
    const struct fk_http_route *routes = arg;
    uint32_t ia = ((const struct fk_http_place *)a)->at, ib = ((const struct fk_http_place *)b)->at;
    struct fk_str pa = fk_str_of(routes[ia].pattern), pb = fk_str_of(routes[ib].pattern);
    struct fk_str sa = {NULL, 0}, sb = {NULL, 0};
    for (;;) {
        bool more_a = fk_str_split(&pa, '/', &sa), more_b = fk_str_split(&pb, '/', &sb);
        int ca = seg_class(sa, more_a), cb = seg_class(sb, more_b);
        if (ca != cb)
            return ca - cb;
        if (!more_a)
            break;
        int c = ca == 0 ? fk_str_cmp(sa, sb) : 0;
        if (c)
            return c;
    }
    return ia < ib ? -1 : 1;
}

static int check_route(const struct fk_http_route *r, struct fk_err *err)
{
    struct fk_str rest = fk_str_of(r->pattern), seg;
    size_t params = 0;
    bool last = false, ok = r->method && rest.n && rest.p[0] == '/' && (r->run || r->sink) &&
                            fk_str_find(rest, FK_S("//")) < 0;
    while (ok && fk_str_split(&rest, '/', &seg)) {
        ok = !last;
        params += is_param(seg);
        last = is_rest(seg);
    }
    if (!ok || params > MAX_PARAMS)
        return fk_fail(err, FK_E_INVALID, "route %s %s is no valid route",
                       r->method ? r->method : "?", r->pattern ? r->pattern : "?");
    return 0;
}

static struct fk_http_place place_of(const struct fk_http_route *routes, uint32_t at)
{
    struct fk_str pattern = fk_str_of(routes[at].pattern), rest = pattern, seg;
    while (fk_str_split(&rest, '/', &seg))
        if (is_param(seg))
            return (struct fk_http_place){at, (uint32_t)(seg.p - pattern.p), false};
    return (struct fk_http_place){at, (uint32_t)pattern.n, true};
}

int fk_http_router_init(struct fk_http_router *r, const struct fk_http_route *routes, size_t n,
                        struct fk_err *err)
{
    union {
        const struct fk_http_route *in;
        void *out;
    } arg = {.in = routes};
    for (size_t i = 0; i < n; i++) {
        int rc = check_route(&routes[i], err);
        if (rc)
            return rc;
    }
    *r = (struct fk_http_router){routes, n, fk_reallocarray(NULL, n + 1, sizeof(*r->order))};
    if (!r->order)
        return fk_fail_nomem(err);
    for (uint32_t i = 0; i < n; i++)
        r->order[i] = place_of(routes, i);
    qsort_r(r->order, n, sizeof(*r->order), compare_patterns, arg.out);
    return 0;
}

void fk_http_router_free(struct fk_http_router *r)
{
    fk_free(r->order);
    r->order = NULL;
}

// Does the path have the pattern's shape? Values of parameters (still encoded) go to ret.
static bool fits(struct fk_str pattern, struct fk_str path, struct fk_http_pair *ret, size_t *ret_n)
{
    struct fk_str seg, part;
    size_t n = 0;
    while (fk_str_split(&pattern, '/', &seg)) {
        if (is_rest(seg)) {
            struct fk_str name = {seg.p + 1, seg.n - 5};
            ret[n++] = (struct fk_http_pair){name, path};
            *ret_n = n;
            return path.p != NULL;
        }
        if (!fk_str_split(&path, '/', &part))
            return false;
        if (is_param(seg)) {
            if (part.n == 0)
                return false;
            ret[n++] = (struct fk_http_pair){{seg.p + 1, seg.n - 2}, part};
        } else if (!fk_str_eq(seg, part)) {
            return false;
        }
    }
    *ret_n = n;
    return path.p == NULL;
}

static bool method_fits(const struct fk_http_route *r, struct fk_str method)
{
    struct fk_str m = fk_str_of(r->method);
    return fk_str_eq(m, method) || (fk_str_eq(method, FK_S("HEAD")) && fk_str_eq(m, FK_S("GET")));
}

static int keep_params(struct fk_http_pair *found, size_t n, struct fk_arena *a,
                       const struct fk_http_pair **ret, struct fk_err *err)
{
    struct fk_http_pair *p = fk_arena_array(a, n, sizeof(*p));
    if (n && !p) {
        fk_fail_nomem(err);
        return 503;
    }
    for (size_t i = 0; i < n; i++) {
        p[i].name = found[i].name;
        int rc = fk_http_percent_decode(found[i].value, false, a, &p[i].value, err);
        if (rc)
            return rc == -FK_E_NOMEM ? 503 : 400;
    }
    *ret = p;
    return 0;
}

static void allow_add(struct fk_buf *b, const char *method)
{
    if (b->n)
        fk_buf_cstr(b, ", ");
    fk_buf_cstr(b, method);
    if (strcmp(method, "GET") == 0)
        fk_buf_cstr(b, ", HEAD");
}

static int fail_no_route(struct fk_str method, struct fk_str path, struct fk_str allow,
                         struct fk_err *err)
{
    if (allow.n == 0) {
        fk_fail(err, FK_E_NOTFOUND, "there is nothing at %.*s", FK_STR_ARG(fk_str_head(path, 200)));
        return 404;
    }
    fk_fail(err, FK_E_INVALID, "%.*s takes %.*s, not %.*s", FK_STR_ARG(fk_str_head(path, 120)),
            FK_STR_ARG(allow), FK_STR_ARG(fk_str_head(method, 20)));
    return 405;
}

// There are many routes, and most are told apart by their length or their beginning.
static bool begins(const struct fk_http_place *place, const struct fk_http_route *route,
                   struct fk_str path)
{
    return (place->whole ? path.n == place->literal : path.n >= place->literal) &&
           memcmp(path.p, route->pattern, place->literal) == 0;
}

int fk_http_router_find(const struct fk_http_router *r, struct fk_str method, struct fk_str path,
                        struct fk_arena *a, struct fk_http_match *ret, struct fk_err *err)
{
    struct fk_http_pair found[MAX_PARAMS];
    FK_AUTO_BUF allow;
    fk_buf_init(&allow, 1024);
    for (size_t i = 0; i < r->n; i++) {
        const struct fk_http_route *route = &r->routes[r->order[i].at];
        size_t n = 0;
        if (!begins(&r->order[i], route, path) ||
            (!r->order[i].whole && !fits(fk_str_of(route->pattern), path, found, &n)))
            continue;
        if (!method_fits(route, method)) {
            allow_add(&allow, route->method);
            continue;
        }
        ret->at = r->order[i].at;
        ret->params_n = n;
        return keep_params(found, n, a, &ret->params, err);
    }
    ret->allow = fk_arena_str(a, fk_buf_view(&allow));
    return fail_no_route(method, path, fk_buf_view(&allow), err);
}
