// SPDX-License-Identifier: Apache-2.0
// Media types, field parameters, Accept and Accept-Encoding (RFC 9110 §5.6.6, 8.3, 12.5).
#include "http/url.h"

#define MAX_ITEMS 64 // of one Accept field; the rest is ignored

struct fk_str fk_http_media_type(struct fk_str field)
{
    ptrdiff_t semi = fk_str_chr(field, ';');
    return fk_str_trim(semi < 0 ? field : fk_str_head(field, (size_t)semi));
}

bool fk_http_media_is(struct fk_str field, const char *type)
{
    return fk_str_eq_nocase(fk_http_media_type(field), fk_str_of(type));
}

// Cuts the piece before the next `sep` outside quotes off *rest.
static bool next_piece(struct fk_str *rest, char sep, struct fk_str *ret)
{
    bool quoted = false;
    size_t i = 0;
    if (!rest->p)
        return false;
    for (; i < rest->n && (quoted || rest->p[i] != sep); i++) {
        if (rest->p[i] == '"')
            quoted = !quoted;
        else if (quoted && rest->p[i] == '\\' && i + 1 < rest->n)
            i++;
    }
    *ret = fk_str_trim(fk_str_head(*rest, i));
    *rest = i < rest->n ? fk_str_from(*rest, i + 1) : (struct fk_str){NULL, 0};
    return true;
}

static bool split_param(struct fk_str piece, struct fk_str *ret_name, struct fk_str *ret_value)
{
    ptrdiff_t eq = fk_str_chr(piece, '=');
    if (eq < 0)
        return false;
    *ret_name = fk_str_trim(fk_str_head(piece, (size_t)eq));
    *ret_value = fk_str_trim(fk_str_from(piece, (size_t)eq + 1));
    return true;
}

static int unquote(struct fk_str v, struct fk_arena *a, struct fk_str *ret, struct fk_err *err)
{
    if (v.n == 0 || v.p[0] != '"') {
        *ret = v;
        return 1;
    }
    if (v.n < 2 || v.p[v.n - 1] != '"')
        return fk_fail(err, FK_E_FORMAT, "a quoted text has no end");
    v = (struct fk_str){v.p + 1, v.n - 2};
    if (fk_str_chr(v, '\\') < 0) {
        *ret = v;
        return 1;
    }
    char *to = fk_arena_alloc(a, v.n);
    size_t n = 0;
    if (!to)
        return fk_fail_nomem(err);
    for (size_t i = 0; i < v.n; i++) {
        // Browsers write file names with lone backslashes (C:\x): only quotes and backslashes are
        // escaped.
        if (v.p[i] == '\\' && i + 1 < v.n && (v.p[i + 1] == '"' || v.p[i + 1] == '\\'))
            i++;
        to[n++] = v.p[i];
    }
    *ret = fk_str_make(to, n);
    return 1;
}

int fk_http_media_param(struct fk_str field, const char *name, struct fk_arena *a,
                        struct fk_str *ret, struct fk_err *err)
{
    struct fk_str rest = field, piece, n, v;
    struct fk_str want = fk_str_of(name);
    if (!next_piece(&rest, ';', &piece))
        return 0;
    while (next_piece(&rest, ';', &piece))
        if (split_param(piece, &n, &v) && fk_str_eq_nocase(n, want))
            return unquote(v, a, ret, err);
    return 0;
}

// --- preferences ---
// "0.5" as 500; anything odd is 1000.
static int parse_q(struct fk_str v)
{
    int q = 0, digits = 0;
    if (v.n == 0 || (v.p[0] != '0' && v.p[0] != '1'))
        return 1000;
    if (v.p[0] == '1')
        return 1000;
    for (size_t i = 2; i < v.n && digits < 3; i++, digits++) {
        if (v.p[i] < '0' || v.p[i] > '9')
            return 1000;
        q = q * 10 + (v.p[i] - '0');
    }
    while (digits++ < 3)
        q *= 10;
    return q;
}

static int item_q(struct fk_str params)
{
    struct fk_str piece, n, v;
    int q = 1000;
    while (next_piece(&params, ';', &piece))
        if (split_param(piece, &n, &v) && fk_str_eq_nocase(n, FK_S("q")))
            q = parse_q(v);
    return q;
}

// One item of the list: what it names, and how much it is liked.
static bool next_item(struct fk_str *rest, struct fk_str *ret_name, int *ret_q)
{
    struct fk_str item;
    if (!next_piece(rest, ',', &item))
        return false;
    struct fk_str params = item;
    next_piece(&params, ';', ret_name);
    *ret_q = params.p ? item_q(params) : 1000;
    return true;
}

// How exactly a range names the offer: 0 not, 1 "*/*", 2 "type/*", 3 the type itself.
static int range_rank(struct fk_str range, struct fk_str offer)
{
    ptrdiff_t slash = fk_str_chr(offer, '/');
    if (fk_str_eq_nocase(range, offer))
        return 3;
    if (fk_str_eq(range, FK_S("*/*")))
        return 1;
    if (slash < 0 || range.n != (size_t)slash + 2 || !fk_str_ends(range, FK_S("/*")))
        return 0;
    return fk_str_eq_nocase(fk_str_head(range, (size_t)slash), fk_str_head(offer, (size_t)slash))
               ? 2
               : 0;
}

int fk_http_accept(struct fk_str field, const char *offer)
{
    struct fk_str name;
    int q, best = 0, rank = 0;
    if (fk_str_trim(field).n == 0)
        return 1000;
    for (int i = 0; i < MAX_ITEMS && next_item(&field, &name, &q); i++) {
        int r = range_rank(name, fk_str_of(offer));
        if (r > rank) {
            rank = r;
            best = q;
        }
    }
    return best;
}

int fk_http_accept_coding(struct fk_str field, const char *coding)
{
    struct fk_str name, want = fk_str_of(coding);
    bool identity = fk_str_eq(want, FK_S("identity"));
    int q, star = -1;
    for (int i = 0; i < MAX_ITEMS && next_item(&field, &name, &q); i++) {
        if (fk_str_eq_nocase(name, want))
            return q;
        if (fk_str_eq(name, FK_S("*")))
            star = q;
    }
    return star >= 0 ? star : identity ? 1000 : 0;
}

int fk_http_accept_best(struct fk_str field, const char *const *offers, size_t offers_n)
{
    int best = -1, best_q = 0;
    for (size_t i = 0; i < offers_n; i++) {
        int q = fk_http_accept(field, offers[i]);
        if (q > best_q) {
            best = (int)i;
            best_q = q;
        }
    }
    return best;
}
