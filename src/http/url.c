// SPDX-License-Identifier: Apache-2.0
// Percent encoding, query strings and forms, URLs.
#include "http/url.h"

static int hex(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

int fk_http_percent_decode(struct fk_str s, bool plus, struct fk_arena *a, struct fk_str *ret,
                           struct fk_err *err)
{
    if (fk_str_chr(s, '%') < 0 && (!plus || fk_str_chr(s, '+') < 0)) {
        *ret = s;
        return 0;
    }
    char *to = fk_arena_alloc(a, s.n);
    size_t n = 0;
    if (!to)
        return fk_fail_nomem(err);
    for (size_t i = 0; i < s.n; i++) {
        char c = s.p[i];
        if (c == '+' && plus) {
            c = ' ';
        } else if (c == '%') {
            int hi = i + 2 < s.n ? hex(s.p[i + 1]) : -1, lo = hi < 0 ? -1 : hex(s.p[i + 2]);
            if (lo < 0)
                return fk_fail(err, FK_E_FORMAT,
                               "%%-encoding needs two hexadecimal digits: \"%.*s\"",
                               FK_STR_ARG(fk_str_head(fk_str_from(s, i), 16)));
            c = (char)(hi * 16 + lo);
            if (c == '\0')
                return fk_fail(err, FK_E_FORMAT, "an encoded NUL (%%00) is not taken");
            i += 2;
        }
        to[n++] = c;
    }
    *ret = fk_str_make(to, n);
    return 0;
}

static bool unreserved(unsigned char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '.' || c == '_' || c == '~';
}

void fk_http_percent_put(struct fk_buf *b, struct fk_str s, bool slash)
{
    static const char digits[] = "0123456789ABCDEF";
    for (size_t i = 0; i < s.n; i++) {
        unsigned char c = (unsigned char)s.p[i];
        if (unreserved(c) || (slash && c == '/')) {
            fk_buf_byte(b, c);
        } else {
            fk_buf_byte(b, '%');
            fk_buf_byte(b, (uint8_t)digits[c >> 4]);
            fk_buf_byte(b, (uint8_t)digits[c & 15]);
        }
    }
}

static size_t count_pairs(struct fk_str s)
{
    size_t n = s.n > 0;
    for (size_t i = 0; i < s.n; i++)
        n += s.p[i] == '&';
    return n;
}

static int parse_pair(struct fk_str piece, struct fk_arena *a, struct fk_http_pair *ret,
                      struct fk_err *err)
{
    ptrdiff_t eq = fk_str_chr(piece, '=');
    struct fk_str name = eq < 0 ? piece : fk_str_head(piece, (size_t)eq);
    struct fk_str value = eq < 0 ? FK_S("") : fk_str_from(piece, (size_t)eq + 1);
    int rc = fk_http_percent_decode(name, true, a, &ret->name, err);
    return rc ? rc : fk_http_percent_decode(value, true, a, &ret->value, err);
}

int fk_http_form_parse(struct fk_str s, size_t max, struct fk_arena *a,
                       const struct fk_http_pair **ret, size_t *ret_n, struct fk_err *err)
{
    size_t most = FK_MIN(count_pairs(s), max + 1), n = 0;
    struct fk_http_pair *p = fk_arena_array(a, most, sizeof(*p));
    struct fk_str piece;
    if (!p)
        return fk_fail_nomem(err);
    if (s.n == 0)
        s.p = NULL;
    while (fk_str_split(&s, '&', &piece)) {
        if (piece.n == 0)
            continue;
        if (n == max)
            return fk_fail_limit(err, "query", max, NULL, "too many parameters");
        int rc = parse_pair(piece, a, &p[n], err);
        if (rc)
            return rc;
        n++;
    }
    *ret = p;
    *ret_n = n;
    return 0;
}

const struct fk_http_pair *fk_http_pair_nth(const struct fk_http_pair *p, size_t n,
                                            const char *name, size_t at)
{
    struct fk_str want = fk_str_of(name);
    for (size_t i = 0; i < n; i++)
        if (fk_str_eq(p[i].name, want) && at-- == 0)
            return &p[i];
    return NULL;
}

const struct fk_http_pair *fk_http_pair_find(const struct fk_http_pair *p, size_t n,
                                             const char *name)
{
    return fk_http_pair_nth(p, n, name, 0);
}

// --- URLs ---
static int split_host(struct fk_str at, struct fk_http_url *u, struct fk_err *err)
{
    struct fk_str port = {NULL, 0};
    uint64_t v = 0;
    if (at.n && at.p[0] == '[') {
        ptrdiff_t end = fk_str_chr(at, ']');
        if (end < 0)
            return fk_fail_param(err, "url", "the URL's address has no closing bracket");
        u->host = (struct fk_str){at.p + 1, (size_t)end - 1};
        at = fk_str_from(at, (size_t)end + 1);
        if (at.n && at.p[0] != ':')
            return fk_fail_param(err, "url", "the URL's address is broken");
        port = fk_str_from(at, at.n ? 1 : 0);
    } else {
        ptrdiff_t colon = fk_str_chr(at, ':');
        u->host = colon < 0 ? at : fk_str_head(at, (size_t)colon);
        port = colon < 0 ? FK_S("") : fk_str_from(at, (size_t)colon + 1);
    }
    for (size_t i = 0; i < u->host.n; i++)
        if ((unsigned char)u->host.p[i] <= ' ' || strchr("@\\\"<>", u->host.p[i]))
            return fk_fail_param(err, "url", "the URL's host is broken (user names are not taken)");
    if (u->host.n == 0 || u->host.n > 255)
        return fk_fail_param(err, "url", "the URL has no host, or one too long");
    if (port.n && (port.n > 5 || fk_str_to_u64(port, &v) || v == 0 || v > 65535))
        return fk_fail_param(err, "url", "the URL's port is no number from 1 to 65535");
    u->port = (uint16_t)v;
    return 0;
}

int fk_http_url_parse(struct fk_str s, struct fk_http_url *ret, struct fk_err *err)
{
    struct fk_http_url u = {.path = FK_S(""), .query = FK_S("")};
    ptrdiff_t colon = fk_str_find(s, FK_S("://"));
    if (colon < 0)
        return fk_fail_param(err, "url", "\"%.*s\" is no URL: write http://host:port",
                             FK_STR_ARG(fk_str_head(s, 100)));
    u.scheme = fk_str_head(s, (size_t)colon);
    bool https = fk_str_eq_nocase(u.scheme, FK_S("https"));
    if (!https && !fk_str_eq_nocase(u.scheme, FK_S("http")))
        return fk_fail_param(err, "url", "the URL's scheme is neither http nor https");
    struct fk_str rest = fk_str_from(s, (size_t)colon + 3);
    for (size_t i = 0; i < rest.n; i++)
        if ((unsigned char)rest.p[i] <= ' ' || rest.p[i] == 0x7f)
            return fk_fail_param(err, "url", "the URL has a blank or a control character");
    size_t n = 0;
    while (n < rest.n && rest.p[n] != '/' && rest.p[n] != '?' && rest.p[n] != '#')
        n++;
    int rc = split_host(fk_str_head(rest, n), &u, err);
    if (rc)
        return rc;
    rest = fk_str_from(rest, n);
    ptrdiff_t hash = fk_str_chr(rest, '#');
    if (hash >= 0)
        rest = fk_str_head(rest, (size_t)hash);
    ptrdiff_t q = fk_str_chr(rest, '?');
    u.path = q < 0 ? rest : fk_str_head(rest, (size_t)q);
    u.query = q < 0 ? FK_S("") : fk_str_from(rest, (size_t)q + 1);
    if (u.port == 0)
        u.port = https ? 443 : 80;
    *ret = u;
    return 0;
}
