// SPDX-License-Identifier: Apache-2.0
// Files that are kept in memory (the user interface): entity tags, 304, compressed variants.
#ifndef FK_HTTP_ASSET_H
#define FK_HTTP_ASSET_H

#include "http/msg.h"

// Bytes outlive the server. gzip and br may be empty (then not offered).
struct fk_http_asset {
    const char *path;          // "assets/app.js", without a leading slash
    const char *type;          // media type
    const char *etag;          // with its quotes: "\"5f2c\""
    const char *cache_control; // NULL: "no-cache"
    struct fk_str plain, gzip, br;
};

// Answers with the asset, or 304 when If-None-Match has its tag (weak comparison, lists, "*"); the
// variant by Accept-Encoding, each with a tag of its own; Vary is set.
void fk_http_res_asset(struct fk_http_res *res, const struct fk_http_asset *asset);
// The asset of that path; NULL when there is none. The table is sorted by path (strcmp).
const struct fk_http_asset *fk_http_asset_find(const struct fk_http_asset *table, size_t n,
                                               struct fk_str path);
// True when the field (If-None-Match) has this tag.
bool fk_http_etag_in(struct fk_str field, struct fk_str etag);

#endif
