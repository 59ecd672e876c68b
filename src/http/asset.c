// SPDX-License-Identifier: Apache-2.0
// Answers from memory: tags, 304, compressed variants (RFC 9110 §8.8.3, 13.1.2, 12.5.3).
#include "http/asset.h"

#include "http/url.h"

static struct fk_str strong(struct fk_str tag)
{
    return fk_str_starts(tag, FK_S("W/")) ? fk_str_from(tag, 2) : tag;
}

bool fk_http_etag_in(struct fk_str field, struct fk_str etag)
{
    struct fk_str rest = fk_str_trim(field), item;
    if (fk_str_eq(rest, FK_S("*")))
        return true;
    if (rest.n == 0)
        return false;
    while (fk_str_split(&rest, ',', &item)) // our tags have no comma
        if (fk_str_eq(strong(fk_str_trim(item)), strong(etag)))
            return true;
    return false;
}

const struct fk_http_asset *fk_http_asset_find(const struct fk_http_asset *table, size_t n,
                                               struct fk_str path)
{
    size_t lo = 0, hi = n;
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        int c = fk_str_cmp(path, fk_str_of(table[mid].path));
        if (c == 0)
            return &table[mid];
        if (c < 0)
            hi = mid;
        else
            lo = mid + 1;
    }
    return NULL;
}

struct variant {
    const char *coding; // NULL: none
    struct fk_str bytes;
};

static struct variant choose(const struct fk_http_asset *a, struct fk_str accept)
{
    int gzip = accept.p && a->gzip.n ? fk_http_accept_coding(accept, "gzip") : 0;
    int br = accept.p && a->br.n ? fk_http_accept_coding(accept, "br") : 0;
    if (br > 0 && br >= gzip)
        return (struct variant){"br", a->br};
    if (gzip > 0)
        return (struct variant){"gzip", a->gzip};
    return (struct variant){NULL, a->plain};
}

// "5f2c" as "5f2c-gzip": each representation has a tag of its own.
static struct fk_str tag_of(const struct fk_http_asset *a, const char *coding,
                            struct fk_arena *arena)
{
    struct fk_str t = fk_str_of(a->etag);
    if (!coding || t.n < 2)
        return t;
    struct fk_str r = fk_arena_printf(arena, "%.*s-%s\"", (int)(t.n - 1), t.p, coding);
    return r.p ? r : FK_S("");
}

void fk_http_res_asset(struct fk_http_res *res, const struct fk_http_asset *a)
{
    struct fk_http_req *req = fk_http_res_req(res);
    struct variant v = choose(a, fk_http_req_field(req, "Accept-Encoding"));
    struct fk_str tag = tag_of(a, v.coding, req->arena);
    if (a->gzip.n || a->br.n)
        fk_http_res_add(res, "Vary", FK_S("Accept-Encoding"));
    if (tag.n)
        fk_http_res_set(res, "ETag", tag);
    fk_http_res_set(res, "Cache-Control",
                    fk_str_of(a->cache_control ? a->cache_control : "no-cache"));
    struct fk_str match = fk_http_req_field(req, "If-None-Match");
    if (match.p && tag.n && fk_http_etag_in(match, tag)) {
        fk_http_res_status(res, 304);
        return;
    }
    fk_http_res_type(res, a->type);
    if (v.coding)
        fk_http_res_set(res, "Content-Encoding", fk_str_of(v.coding));
    fk_http_res_borrow(res, v.bytes);
}
