// SPDX-License-Identifier: Apache-2.0
// Who asks and what they may: tokens in memory (tokens.c), the check before a body is read
// (access.c), the interface's log-in (session.c).
#ifndef FK_API_ACCESS_INT_H
#define FK_API_ACCESS_INT_H

#include "api/api_int.h"

#define FK_ACCESS_COOKIE "flamekeep_token"

// One who asks, in the arena of the request; req->user.
struct fk_caller {
    bool by_token;
    uint32_t scopes;
    struct fk_str name;          // of the token
    const struct fk_str *covers; // tenants of the token
    size_t n_covers;
    const struct fk_str *tenants; // of this request; none where it does not matter
    size_t n_tenants;
};

struct fk_access *fk_access_new(void); // NULL: no memory
void fk_access_free(struct fk_access *x);
// Reads the tokens anew if the state's number of changes is another one.
int fk_access_load(struct fk_access *x, struct fk_state *s, struct fk_err *err);
bool fk_access_has_tokens(struct fk_access *x); // there is one, or was
// Who holds this token. FK_E_INVALID: none that is good now.
int fk_access_find(struct fk_access *x, struct fk_str token, int64_t now_ms, struct fk_arena *a,
                   struct fk_caller *ret, struct fk_err *err);

// The token within an Authorization field (Bearer, or Basic) or a Cookie field; .p NULL: the cookie
// is not there. May lie in the arena.
struct fk_str fk_access_token_of(struct fk_str authorization, struct fk_arena *a);
struct fk_str fk_access_cookie_of(struct fk_str cookies);

// "push", "read" or "admin".
const char *fk_scope_word(uint32_t scope);

void fk_access_metrics(struct fk_api *api, struct fk_buf *b);

#endif
