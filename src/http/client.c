// SPDX-License-Identifier: Apache-2.0
// The client: one connection, one call at a time, sockets without blocking under one deadline;
// what may be asked again is.
#include "http/client_int.h"

#include "os/clock.h"

#define FIRST_PAUSE   (200 * FK_NS_PER_MS)
#define LONGEST_PAUSE (20 * FK_NS_PER_S)

static int check_opts(const struct fk_http_client_opts *o, struct fk_http_url *url,
                      struct fk_err *err)
{
    int rc = fk_http_url_parse(fk_str_of(o->url), url, err);
    if (rc == 0 && url->query.n)
        rc = fk_fail_param(err, "url", "the server's URL must not have a query");
    return rc;
}

int fk_http_client_new(const struct fk_http_client_opts *opts, struct fk_http_client **ret,
                       struct fk_err *err)
{
    struct fk_http_url url;
    int rc = check_opts(opts, &url, err);
    if (rc)
        return rc;
    struct fk_http_client *c = fk_calloc(1, sizeof(*c));
    char *text = c ? fk_strndup(opts->url, strlen(opts->url)) : NULL;
    if (!text) {
        fk_free(c);
        return fk_fail_nomem(err);
    }
    fk_http_url_parse(fk_str_of(text), &c->url, NULL); // again, so that the views are ours
    c->text = text;
    c->opts = *opts;
    c->opts.connect_ns = opts->connect_ns ? opts->connect_ns : 10 * FK_NS_PER_S;
    c->opts.total_ns = opts->total_ns ? opts->total_ns : 300 * FK_NS_PER_S;
    c->opts.body_max = opts->body_max ? opts->body_max : (uint64_t)256 << 20;
    c->secure = fk_str_eq_nocase(c->url.scheme, FK_S("https"));
    c->wire.io.fd = -1;
    while (c->url.path.n && c->url.path.p[c->url.path.n - 1] == '/')
        c->url.path.n--;
    if (c->secure && (rc = fk_client_tls_setup(c, err))) {
        fk_http_client_free(c);
        return rc;
    }
    c->opts.ca = NULL; // not ours
    *ret = c;
    return 0;
}

void fk_http_client_free(struct fk_http_client *c)
{
    if (!c)
        return;
    fk_client_hang_up(c);
    fk_client_tls_teardown(c);
    fk_free(c->text);
    fk_free(c);
}

// --- requests ---
static bool field_ok(const struct fk_http_field *f)
{
    for (size_t i = 0; i < f->name.n; i++)
        if ((unsigned char)f->name.p[i] <= ' ' || f->name.p[i] == ':' || f->name.p[i] == 0x7f)
            return false;
    for (size_t i = 0; i < f->value.n; i++)
        if ((unsigned char)f->value.p[i] < ' ' && f->value.p[i] != '\t')
            return false;
    return f->name.n > 0;
}

int fk_client_check(const struct fk_http_ask *a, struct fk_err *err)
{
    struct fk_str target[2] = {a->path, a->query};
    for (size_t k = 0; k < 2; k++)
        for (size_t i = 0; i < target[k].n; i++)
            if ((unsigned char)target[k].p[i] <= ' ' || target[k].p[i] == 0x7f)
                return fk_fail_param(err, "path", "the request's path is not encoded");
    for (size_t i = 0; i < a->fields_n; i++)
        if (!field_ok(&a->fields[i]))
            return fk_fail_param(err, "fields", "a header field of the request is broken");
    return 0;
}

void fk_client_put_host(const struct fk_http_client *c, struct fk_buf *b)
{
    bool v6 = fk_str_chr(c->url.host, ':') >= 0;
    fk_buf_cstr(b, v6 ? "[" : "");
    fk_buf_str(b, c->url.host);
    fk_buf_cstr(b, v6 ? "]" : "");
    if (c->url.port != (c->secure ? 443 : 80))
        fk_buf_printf(b, ":%u", (unsigned)c->url.port);
}

void fk_client_put_target(const struct fk_http_client *c, const struct fk_http_ask *a,
                          struct fk_buf *b)
{
    fk_buf_str(b, c->url.path);
    fk_buf_str(b, a->path.n ? a->path : FK_S("/"));
    if (a->query.n) {
        fk_buf_byte(b, '?');
        fk_buf_str(b, a->query);
    }
}

const char *fk_client_agent(const struct fk_http_client *c)
{
    return c->opts.user_agent ? c->opts.user_agent : "flamekeep/" FK_VERSION;
}

uint64_t fk_client_body_size(const struct fk_http_ask *a)
{
    return !a->has_body ? 0 : a->source ? a->source->size : a->body.n;
}

// --- a call ---
static bool is_safe(const struct fk_http_ask *a)
{
    return a->repeatable || !strcmp(a->method, "GET") || !strcmp(a->method, "HEAD");
}

static void begin_reply(struct fk_http_client *c, struct fk_http_reply *r)
{
    fk_http_reply_free(r);
    fk_buf_init(&r->head, 0);
    fk_buf_init(&r->body, c->opts.body_max);
}

// One try on one connection.
static int try_call(struct fk_http_client *c, const struct fk_http_ask *a,
                    struct fk_http_reply *ret, struct fk_err *err)
{
    bool keep = false;
    c->got_any = c->sent_any = false;
    begin_reply(c, ret);
    int rc = c->open ? 0 : fk_client_connect(c, err);
    if (!rc)
        rc = c->h2 ? fk_client_h2_call(c, a, ret, &keep, err)
                   : fk_client_h1_call(c, a, ret, &keep, err);
    if (c->open && (rc || !keep))
        fk_client_hang_up(c);
    return rc;
}

// A kept connection may be closed just now: then a new one.
static int call_once(struct fk_http_client *c, const struct fk_http_ask *a,
                     struct fk_http_reply *ret, struct fk_err *err)
{
    fk_client_drop_stale(c);
    bool kept = c->open;
    int rc = try_call(c, a, ret, err);
    if (rc == -FK_E_IO && kept && !c->got_any && (is_safe(a) || !c->sent_any))
        rc = try_call(c, a, ret, err);
    return rc;
}

static bool is_redirect(int status)
{
    return status == 301 || status == 302 || status == 303 || status == 307 || status == 308;
}

static int fail_redirect(const struct fk_http_reply *r, struct fk_err *err)
{
    return fk_fail(err, FK_E_UNSUPPORTED,
                   "the server redirects to \"%.*s\": redirects are not followed, give that "
                   "address instead",
                   FK_STR_ARG(fk_str_head(fk_http_reply_field(r, "Location"), 150)));
}

// --- once more ---
// 429 and 503 say that nothing was done; 502 and 504 come from what stands between.
static bool worth_another(const struct fk_http_client *c, const struct fk_http_ask *a, int rc,
                          int status)
{
    if (rc == -FK_E_IO || rc == -FK_E_TIMEOUT)
        return !c->sent_any || (is_safe(a) && !c->got_any);
    if (rc)
        return false;
    return status == 429 || status == 503 || (is_safe(a) && (status == 502 || status == 504));
}

// Retry-After in seconds; a date is passed over, since clocks differ.
static int64_t asked_pause(const struct fk_http_reply *r)
{
    uint64_t s = 0;
    struct fk_str text = fk_http_reply_field(r, "Retry-After");
    if (!text.p || fk_str_to_u64(text, &s) || s > 3600)
        return 0;
    return (int64_t)s * FK_NS_PER_S;
}

// Between a half and all of a pause that doubles; never shorter than what the server asks for.
static int64_t pause_of(const struct fk_http_client *c, unsigned at, const struct fk_http_reply *r)
{
    int64_t most = FK_MIN(FIRST_PAUSE << FK_MIN(at, 16u), LONGEST_PAUSE);
    uint64_t any = fk_hash_u64((uint64_t)fk_clock_mono(fk_clock_real()) ^ (uint64_t)(uintptr_t)c);
    int64_t pause = most / 2 + (int64_t)(any % (uint64_t)(most / 2));
    return FK_MAX(pause, asked_pause(r));
}

// False when the time is over before that.
static bool rest(struct fk_http_client *c, int status, const struct fk_err *err, int64_t ns)
{
    int64_t until = fk_clock_mono(fk_clock_real()) + ns;
    if (until >= c->deadline)
        return false;
    if (c->opts.pausing)
        c->opts.pausing(c->opts.arg, status, err, ns);
    while (fk_clock_mono(fk_clock_real()) < until) {
        if (fk_cancel_check(c->cancel, NULL))
            return false;
        fk_sleep_ns(20 * FK_NS_PER_MS);
    }
    return true;
}

int fk_http_client_call(struct fk_http_client *c, const struct fk_http_ask *a,
                        struct fk_http_reply *ret, struct fk_err *err)
{
    *ret = (struct fk_http_reply){0};
    begin_reply(c, ret);
    int rc = fk_client_check(a, err);
    if (rc)
        return rc;
    c->cancel = a->cancel;
    c->deadline = fk_clock_mono(fk_clock_real()) + c->opts.total_ns;
    struct fk_err why = {0};
    for (unsigned i = 1;; i++) {
        rc = call_once(c, a, ret, &why);
        if (i >= c->opts.tries || !worth_another(c, a, rc, ret->status) ||
            !rest(c, rc ? 0 : ret->status, &why, pause_of(c, i - 1, ret)))
            break;
    }
    if (rc && err)
        *err = why;
    return !rc && is_redirect(ret->status) ? fail_redirect(ret, err) : rc;
}
