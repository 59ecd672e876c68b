// SPDX-License-Identifier: Apache-2.0
// What a browser may be made to send here by a page of somebody else. Programs send no Origin; a
// browser sends it with every write (Fetch standard, "Origin header"), so a write that has one must
// come from our own page. A page could still read and write on a server of this machine under a
// name of its own that it lets resolve to 127.0.0.1; while only this machine is listened to, the
// name must therefore be localhost, an address, or one that was given by flag.
#include "api/api_int.h"

static struct fk_str host_name(struct fk_str authority)
{
    if (fk_str_starts(authority, FK_S("["))) {
        ptrdiff_t close = fk_str_chr(authority, ']');
        return close < 0 ? authority : fk_str_head(authority, (size_t)close + 1);
    }
    ptrdiff_t colon = fk_str_rchr(authority, ':');
    return colon < 0 ? authority : fk_str_head(authority, (size_t)colon);
}

static bool is_address(struct fk_str name)
{
    bool v4 = name.n > 0;
    for (size_t i = 0; i < name.n; i++)
        v4 = v4 && (name.p[i] == '.' || (name.p[i] >= '0' && name.p[i] <= '9'));
    return v4 || fk_str_starts(name, FK_S("["));
}

static bool is_known(const struct fk_api *api, struct fk_str name)
{
    for (size_t i = 0; i < api->opts.n_hosts; i++)
        if (fk_str_eq_nocase(api->opts.host[i], name))
            return true;
    return fk_str_eq_nocase(name, FK_S("localhost")) || is_address(name);
}

// Programs may use any name that their machine knows; browsers are told by what they always send
// and a page cannot take away.
static bool is_browser(const struct fk_http_req *req)
{
    struct fk_str language = fk_http_req_field(req, "Accept-Language");
    return fk_http_req_field(req, "Origin").n || (language.n && !fk_str_eq(language, FK_S("*"))) ||
           fk_str_starts(fk_http_req_field(req, "User-Agent"), FK_S("Mozilla/"));
}

int fk_api_guard(const struct fk_api *api, bool writes, const struct fk_http_req *req,
                 struct fk_err *err)
{
    struct fk_str origin = fk_http_req_field(req, "Origin"), host = fk_http_req_field(req, "Host");
    ptrdiff_t scheme = fk_str_find(origin, FK_S("://"));
    struct fk_str from = scheme < 0 ? origin : fk_str_from(origin, (size_t)scheme + 3);
    if (writes && origin.n && (scheme < 0 || !fk_str_eq_nocase(from, host)))
        return fk_fail_param(err, "Origin",
                             "a page of %.*s may not write here; only this server's own pages may",
                             FK_STR_ARG(fk_str_head(origin, 80)));
    if (!api->local || !is_browser(req) || is_known(api, host_name(host)))
        return 0;
    return fk_fail_param(err, "Host",
                         "this server listens to its own machine only and does not know the name "
                         "%.*s; --host says that browsers reach it so",
                         FK_STR_ARG(fk_str_head(host, 80)));
}
