// SPDX-License-Identifier: Apache-2.0
// Handlers: the product's own HTTP API, the compatible endpoints, health, metrics, the interface's
// files. A handler is a function of a call (method, path, parameters, body) and knows no socket:
// the server runs it behind http routes, the command line runs the same one in its own process with
// fk_api_local.
#ifndef FK_API_API_H
#define FK_API_API_H

#include "blob/blob.h"
#include "catalog/catalog.h"
#include "http/http.h"
#include "query/query.h"

// Which uploaded bytes are kept as they came, besides what is stored of them.
enum fk_originals { FK_ORIGINALS_UPLOADS, FK_ORIGINALS_ALL, FK_ORIGINALS_NONE };

// Flags as text, a line each, for those who look how a server is set up.
struct fk_api_config {
    struct fk_str effective, changed, defaults; // changed: those that were given
};

// Whether callers must show a token. AUTO: once there was one; so that the last one's end does not
// open what the first one closed.
enum fk_auth { FK_AUTH_AUTO, FK_AUTH_NONE, FK_AUTH_TOKENS };

struct fk_api_opts {
    struct fk_store *store; // borrowed
    struct fk_state
        *state; // borrowed; NULL: there are no settings and tokens (files on the command line)
    struct fk_blob *files; // borrowed; of ad hoc profiles and symbol files; NULL: none are kept
    struct fk_limits limits;
    const struct fk_clock *clock; // NULL: the real one
    const struct fk_log *log;     // may be NULL
    enum fk_originals originals;
    const struct fk_str *host; // names under which browsers reach the server; borrowed
    size_t n_hosts;
    struct fk_api_config config; // borrowed
    enum fk_auth auth;
    bool multitenancy; // callers say whose profiles they mean (X-Scope-OrgID)
};

struct fk_api;
int fk_api_new(const struct fk_api_opts *o, struct fk_api **ret, struct fk_err *err);
void fk_api_free(struct fk_api *api);
void fk_api_set_server(struct fk_api *api, struct fk_http_server *server);
void fk_api_set_pool(struct fk_api *api, struct fk_pool *pool); // helps queries; before it serves
void fk_api_set_local(struct fk_api *api, bool local);          // only this machine is listened to
void fk_api_set_ready(struct fk_api *api, bool ready);          // what /ready answers

// Takes the tokens as they are now, if they changed. Before the server starts, and about once a
// second from one thread; may wait for another process. A failure leaves those that were known.
int fk_api_refresh(struct fk_api *api, struct fk_err *err);
bool fk_api_asks_for_tokens(struct fk_api *api); // now
// For the server's admit hook, arg is the api: who asks, whether they may, and for which tenants.
// Never waits.
int fk_api_admit(void *arg, struct fk_http_req *req, struct fk_http_res *res, struct fk_err *err);

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
    struct fk_str tenant;                         // or several with | between; "": anonymous
    const struct fk_cancel *cancel;
};
struct fk_api_answer {
    int status;
    char type[96];
    char file_name[192]; // of an export, "" none
    struct fk_buf body;  // free it
};
void fk_api_local(struct fk_api *api, const struct fk_api_ask *ask, struct fk_api_answer *ret);

// ---- tokens: fk_<id>_<secret> ----
// The secret has 256 random bits, so a plain SHA-256 of it cannot be turned round; a slow hash is
// for words that people choose.
#define FK_TOKEN_ID     16
#define FK_TOKEN_SECRET 64
#define FK_TOKEN_CHARS  (3 + FK_TOKEN_ID + 1 + FK_TOKEN_SECRET)
struct fk_token_text {
    char text[FK_TOKEN_CHARS + 1]; // to be shown once
    char id[FK_TOKEN_ID + 1];
    uint8_t hash[FK_TOKEN_HASH]; // of the secret
};
int fk_token_make(struct fk_token_text *ret, struct fk_err *err);
// Splits it; the parts are views. False: it is no token.
bool fk_token_split(struct fk_str text, struct fk_str *ret_id, struct fk_str *ret_secret);

// 1 to 150 of A-Z a-z 0-9 ! - _ . * ' ( ), not "." nor "..". FK_E_INVALID.
#define FK_TENANT_BYTES 150
int fk_tenant_check(struct fk_str tenant, struct fk_err *err);
// "a|b|a" as a list without repeats, in the arena; each checked.
#define FK_TENANTS_MAX 64
int fk_tenants_parse(struct fk_str text, struct fk_arena *a, const struct fk_str **ret,
                     size_t *ret_n, struct fk_err *err);
// "push,read" and back. FK_E_INVALID names the words there are.
int fk_scopes_parse(struct fk_str text, uint32_t *ret, struct fk_err *err);
void fk_scopes_put(struct fk_buf *b, uint32_t scopes);

#endif
