// SPDX-License-Identifier: Apache-2.0
// The interface's files, kept in the program. Documents come with a strict content security policy:
// nothing but our own files runs.
#include "api/api_int.h"

static const char policy[] = "default-src 'none'; script-src 'self'; style-src 'self'; img-src "
                             "'self' data:; connect-src 'self'; "
                             "base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

int fk_api_ui(struct fk_api_call *c, struct fk_err *err)
{
    const struct fk_http_asset *asset =
        fk_http_asset_find(fk_ui_assets, fk_ui_assets_n, c->path_param);
    if (!asset && fk_ui_assets_n == 0 && c->path_param.n == 0)
        return fk_fail(err, FK_E_NOTFOUND,
                       "this server was built without its interface (run.sh builds both); the API "
                       "is at /api/v1, described at "
                       "/api/openapi.json");
    if (!asset)
        return fk_fail(err, FK_E_NOTFOUND, "there is no page %.*s",
                       FK_STR_ARG(fk_str_head(c->path_param, 100)));
    fk_http_res_set(c->res, "X-Content-Type-Options", FK_S("nosniff"));
    if (fk_str_starts(fk_str_of(asset->type), FK_S("text/html"))) {
        fk_http_res_set(c->res, "Content-Security-Policy", fk_str_of(policy));
        fk_http_res_set(c->res, "Referrer-Policy", FK_S("same-origin"));
    }
    fk_http_res_asset(c->res, asset);
    return 0;
}
