// SPDX-License-Identifier: Apache-2.0
// Tokens: their text, and those of the state kept in memory, where the loops ask for them.
#include "api/access_int.h"

#include <stdio.h>
#include <stdlib.h>

// ---- text ----

static void put_hex(char *to, const uint8_t *p, size_t n)
{
    static const char digits[] = "0123456789abcdef";
    for (size_t i = 0; i < n; i++) {
        to[2 * i] = digits[p[i] >> 4];
        to[2 * i + 1] = digits[p[i] & 15];
    }
    to[2 * n] = 0;
}

int fk_token_make(struct fk_token_text *ret, struct fk_err *err)
{
    uint8_t bytes[(FK_TOKEN_ID + FK_TOKEN_SECRET) / 2];
    char secret[FK_TOKEN_SECRET + 1];
    int r = fk_random(bytes, sizeof(bytes), err);
    if (r)
        return r;
    put_hex(ret->id, bytes, FK_TOKEN_ID / 2);
    put_hex(secret, bytes + FK_TOKEN_ID / 2, FK_TOKEN_SECRET / 2);
    snprintf(ret->text, sizeof(ret->text), "fk_%s_%s", ret->id, secret);
    fk_sha256(fk_str_of(secret), ret->hash);
    return 0;
}

static bool is_hex(struct fk_str s)
{
    for (size_t i = 0; i < s.n; i++)
        if (!((s.p[i] >= '0' && s.p[i] <= '9') || (s.p[i] >= 'a' && s.p[i] <= 'f')))
            return false;
    return true;
}

bool fk_token_split(struct fk_str text, struct fk_str *ret_id, struct fk_str *ret_secret)
{
    if (text.n != FK_TOKEN_CHARS || !fk_str_starts(text, FK_S("fk_")) ||
        text.p[3 + FK_TOKEN_ID] != '_')
        return false;
    *ret_id = fk_str_make(text.p + 3, FK_TOKEN_ID);
    *ret_secret = fk_str_from(text, 3 + FK_TOKEN_ID + 1);
    return is_hex(*ret_id) && is_hex(*ret_secret);
}

// ---- scopes ----

static const struct {
    enum fk_scope scope;
    const char *word;
} scope_words[] = {{FK_SCOPE_PUSH, "push"}, {FK_SCOPE_READ, "read"}, {FK_SCOPE_ADMIN, "admin"}};

int fk_scopes_parse(struct fk_str text, uint32_t *ret, struct fk_err *err)
{
    struct fk_str rest = text, word;
    uint32_t scopes = 0;
    while (fk_str_split(&rest, ',', &word)) {
        size_t i = 0;
        while (i < FK_COUNTOF(scope_words) && !fk_str_eq(word, fk_str_of(scope_words[i].word)))
            i++;
        if (i == FK_COUNTOF(scope_words))
            return fk_fail_param(err, "scope",
                                 "scopes are push, read and admin, with commas between; not '%.*s'",
                                 FK_STR_ARG(fk_str_head(word, 40)));
        scopes |= (uint32_t)scope_words[i].scope;
    }
    if (scopes == 0)
        return fk_fail_param(err, "scope",
                             "a token needs scopes: push, read, admin, with commas between");
    *ret = scopes;
    return 0;
}

const char *fk_scope_word(uint32_t scope)
{
    size_t i = 0;
    while (i + 1 < FK_COUNTOF(scope_words) && (uint32_t)scope_words[i].scope != scope)
        i++;
    return scope_words[i].word;
}

void fk_scopes_put(struct fk_buf *b, uint32_t scopes)
{
    bool first = true;
    for (size_t i = 0; i < FK_COUNTOF(scope_words); i++)
        if (scopes & (uint32_t)scope_words[i].scope) {
            fk_buf_printf(b, "%s%s", first ? "" : ",", scope_words[i].word);
            first = false;
        }
}

// ---- those of the state ----

struct fk_access {
    struct fk_mutex lock;
    struct fk_arena arena;          // of the texts
    FK_VEC(struct fk_token) tokens; // by id
    uint64_t changes;               // of the state when they were read
    bool known;
};

struct fk_access *fk_access_new(void)
{
    struct fk_access *x = fk_calloc(1, sizeof(*x));
    if (x)
        fk_mutex_init(&x->lock, FK_RANK_LEAF);
    return x;
}

static void clear(struct fk_access *x)
{
    fk_arena_free(&x->arena);
    fk_vec_free(&x->tokens);
}

void fk_access_free(struct fk_access *x)
{
    if (!x)
        return;
    clear(x);
    fk_mutex_destroy(&x->lock);
    fk_free(x);
}

static int on_token(void *arg, const struct fk_token *t, struct fk_err *err)
{
    struct fk_access *fresh = arg;
    struct fk_token copy = *t;
    copy.id = fk_arena_str(&fresh->arena, t->id);
    copy.name = fk_arena_str(&fresh->arena, t->name);
    copy.tenants = fk_arena_str(&fresh->arena, t->tenants);
    if (!copy.id.p || !copy.name.p || !copy.tenants.p || fk_vec_push(&fresh->tokens, copy))
        return fk_fail_nomem(err);
    return 0;
}

static int by_id(const void *a, const void *b)
{
    return fk_str_cmp(((const struct fk_token *)a)->id, ((const struct fk_token *)b)->id);
}

int fk_access_load(struct fk_access *x, struct fk_state *s, struct fk_err *err)
{
    struct fk_access fresh = {.known = true}, old;
    int r = fk_state_changes(s, &fresh.changes, err); // before: a change meanwhile is read again
    if (r || (x->known && x->changes == fresh.changes))
        return r;
    fk_arena_init(&fresh.arena, 0);
    r = fk_state_tokens(s, (struct fk_state_each_token){on_token, &fresh}, err);
    if (r) {
        clear(&fresh);
        return r;
    }
    if (fresh.tokens.n)
        qsort(fresh.tokens.v, fresh.tokens.n, sizeof(*fresh.tokens.v), by_id);
    fk_mutex_lock(&x->lock);
    old = *x;
    x->arena = fresh.arena;
    memcpy(&x->tokens, &fresh.tokens, sizeof(x->tokens));
    x->changes = fresh.changes;
    x->known = true;
    fk_mutex_unlock(&x->lock);
    clear(&old);
    return 0;
}

bool fk_access_has_tokens(struct fk_access *x)
{
    fk_mutex_lock(&x->lock);
    bool has = x->tokens.n > 0;
    fk_mutex_unlock(&x->lock);
    return has;
}

// Under the lock: what the token says, copied.
static int copy_caller(const struct fk_token *t, struct fk_arena *a, struct fk_caller *ret,
                       struct fk_err *err)
{
    struct fk_str tenants = fk_arena_str(a, t->tenants);
    *ret =
        (struct fk_caller){.by_token = true, .scopes = t->scopes, .name = fk_arena_str(a, t->name)};
    if (!tenants.p || !ret->name.p)
        return fk_fail_nomem(err);
    return fk_tenants_parse(tenants, a, &ret->covers, &ret->n_covers, err);
}

// Only one who has the secret is told more than that it is not known.
static int check(const struct fk_token *t, const uint8_t *hash, int64_t now_ms, struct fk_err *err)
{
    if (!t || !fk_secret_equal(t->hash, hash, FK_TOKEN_HASH))
        return fk_fail(err, FK_E_INVALID, "this token is not known here");
    if (t->revoked_ms)
        return fk_fail(err, FK_E_INVALID, "this token was revoked");
    if (t->expires_ms && t->expires_ms <= now_ms)
        return fk_fail_param(
            err, "Authorization",
            "this token has expired; flamekeep admin token create makes a new one");
    return 0;
}

int fk_access_find(struct fk_access *x, struct fk_str token, int64_t now_ms, struct fk_arena *a,
                   struct fk_caller *ret, struct fk_err *err)
{
    struct fk_token want = {0};
    struct fk_str secret;
    uint8_t hash[FK_SHA256_BYTES];
    if (!fk_token_split(token, &want.id, &secret))
        return fk_fail(err, FK_E_INVALID,
                       "this is no token of Flamekeep: those look like fk_<id>_<secret>");
    fk_sha256(secret, hash);
    fk_mutex_lock(&x->lock);
    const struct fk_token *t =
        x->tokens.n ? bsearch(&want, x->tokens.v, x->tokens.n, sizeof(want), by_id) : NULL;
    int r = check(t, hash, now_ms, err);
    if (r == 0)
        r = copy_caller(t, a, ret, err);
    fk_mutex_unlock(&x->lock);
    return r;
}
