// SPDX-License-Identifier: Apache-2.0
// Handlers: the product's own HTTP API, the compatible endpoints, health, metrics, the interface's
// files. A handler is a function of a call (method, path, parameters, body) and knows no socket:
// the server runs it behind http routes, the command line runs the same one in its own process with
// fk_api_local.
#ifndef FK_API_API_H
#define FK_API_API_H

#include "catalog/catalog.h"
#include "http/http.h"
#include "query/query.h"

// Which uploaded bytes are kept as they came, besides what is stored of them.
enum fk_originals { FK_ORIGINALS_UPLOADS, FK_ORIGINALS_ALL, FK_ORIGINALS_NONE };

// Flags as text, a line each, for those who look how a server is set up.
struct fk_api_config {
    struct fk_str effective, changed, defaults; // changed: those that were given
};

struct fk_api_opts {
    struct fk_store *store; // borrowed
    struct fk_state
        *state; // borrowed; NULL: there are no settings and tokens (files on the command line)
    struct fk_limits limits;
    const struct fk_clock *clock; // NULL: the real one
    const struct fk_log *log;     // may be NULL
    enum fk_originals originals;
    const struct fk_str *host; // names under which browsers reach the server; borrowed
    size_t n_hosts;
    struct fk_api_config config; // borrowed
};

struct fk_api;
int fk_api_new(const struct fk_api_opts *o, struct fk_api **ret, struct fk_err *err);
void fk_api_free(struct fk_api *api);
void fk_api_set_server(struct fk_api *api, struct fk_http_server *server);
void fk_api_set_local(struct fk_api *api, bool local); // only this machine is listened to
void fk_api_set_ready(struct fk_api *api, bool ready); // what /ready answers

// Routes for the server, borrowed from api.
const struct fk_http_route *fk_api_routes(struct fk_api *api, size_t *ret_n);

// Errors that belong to no route, in the form that the request understands.
void fk_api_http_error(struct fk_http_res *res, int status, const struct fk_err *err);

// One call in this process. target: path and query as on the wire. The answer is a status, a media
// type and bytes.
struct fk_api_ask {
    const char *method;
    struct fk_str target;
    struct fk_str body, content_type, user_agent; // may be empty
    const struct fk_cancel *cancel;
};
struct fk_api_answer {
    int status;
    char type[96];
    char file_name[192]; // of an export, "" none
    struct fk_buf body;  // free it
};
void fk_api_local(struct fk_api *api, const struct fk_api_ask *ask, struct fk_api_answer *ret);

#endif
