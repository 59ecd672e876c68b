// SPDX-License-Identifier: Apache-2.0
// The header of an HTTP/1 request: a strict scan for its end, llhttp for its grammar, and the rules
// on top that keep two readers of one byte stream from disagreeing (RFC 9112 §2.2, 3.2, 5.2, 6.1,
// 6.3, 11.2).
#include "http/http_int.h"

#include <llhttp.h>

// --- scan ---
static int bad(struct fk_err *err, int status, const char *text)
{
    fk_fail(err, FK_E_FORMAT, "%s", text);
    return status;
}

static int scan_limits(const struct fk_http_scan *s, const struct fk_http_limits *l,
                       struct fk_err *err)
{
    // The longest method, two blanks and the version lie beside the target.
    if (s->lines == 0 && s->first_n > l->target + 64) {
        fk_fail_limit(err, "target", l->target, FK_HTTP_FLAG(target),
                      "the request's target is too long");
        return 414;
    }
    if (s->bytes > l->head_bytes) {
        fk_fail_limit(err, "header", l->head_bytes, FK_HTTP_FLAG(head_bytes),
                      "the request's header is too large");
        return 431;
    }
    if (s->lines > l->fields + 1) {
        fk_fail_limit(err, "header", l->fields, FK_HTTP_FLAG(fields),
                      "the request has too many header fields");
        return 431;
    }
    return 0;
}

// A line has ended: the first empty one behind the request line ends the header; empty lines in
// front of it are skipped (RFC 9112 §2.2).
static void scan_line(struct fk_http_scan *s)
{
    if (s->line_n == 0)
        s->over = s->lines > 0;
    else
        s->lines++;
    s->line_n = 0;
}

static int scan_byte(struct fk_http_scan *s, uint8_t c, struct fk_err *err)
{
    if (s->cr) {
        s->cr = false;
        if (c != '\n')
            return bad(err, 400, "a carriage return without a line feed in the header");
        scan_line(s);
        return 0;
    }
    if (c == '\r') {
        s->cr = true;
        return 0;
    }
    if (c == '\n')
        return bad(err, 400, "a line feed without a carriage return in the header");
    if ((c < 0x20 && c != '\t') || c == 0x7f)
        return bad(err, 400, "a control character in the header");
    if (s->line_n == 0 && (c == ' ' || c == '\t'))
        return bad(err, 400, "a header line begins with a blank (folded lines are not taken)");
    s->line_n++;
    if (s->lines == 0)
        s->first_n++;
    return 0;
}

int fk_http_scan_feed(struct fk_http_scan *s, const uint8_t *p, size_t n,
                      const struct fk_http_limits *limits, size_t *ret_used, struct fk_err *err)
{
    size_t i = 0;
    int status = 0;
    while (i < n && !s->over && status == 0) {
        s->bytes++;
        status = scan_byte(s, p[i++], err);
        if (status == 0 &&
            (s->bytes > limits->head_bytes || s->first_n > limits->target || s->line_n == 0))
            status = scan_limits(s, limits, err);
    }
    *ret_used = i;
    return status;
}

// --- grammar ---
struct parse {
    struct fk_http_ex *ex;
    struct fk_http_field *fields;
    size_t n, max;
    struct fk_str target;
    bool complete, keep_alive;
    uint8_t major, minor;
    enum llhttp_method method;
};

// The header lies in one piece, so each text comes in one piece; an empty one does not come.
static int on_url(llhttp_t *h, const char *p, size_t n)
{
    struct parse *parse = h->data;
    if (parse->target.n)
        return -1;
    parse->target = fk_str_make(p, n);
    return 0;
}

static int on_field(llhttp_t *h, const char *p, size_t n)
{
    struct parse *parse = h->data;
    if (parse->n == parse->max || n == 0)
        return -1;
    parse->fields[parse->n++] = (struct fk_http_field){fk_str_make(p, n), FK_S("")};
    return 0;
}

static int on_value(llhttp_t *h, const char *p, size_t n)
{
    struct parse *parse = h->data;
    if (parse->n == 0 || parse->fields[parse->n - 1].value.n)
        return -1;
    parse->fields[parse->n - 1].value = fk_str_trim(fk_str_make(p, n));
    return 0;
}

static int on_headers(llhttp_t *h)
{
    struct parse *parse = h->data;
    parse->complete = true;
    parse->keep_alive = llhttp_should_keep_alive(h);
    parse->major = h->http_major;
    parse->minor = h->http_minor;
    parse->method = (enum llhttp_method)h->method;
    h->upgrade = 0; // offers to upgrade are not taken up (RFC 9110 §7.8)
    return 1;       // the body is framed elsewhere
}

static int grammar_error(enum llhttp_errno e, const char *reason, struct fk_err *err)
{
    if (e == HPE_INVALID_METHOD)
        return bad(err, 501, "the request's method is not known");
    if (e == HPE_INVALID_VERSION)
        return bad(err, 505, "the request's HTTP version is not 1.0 or 1.1");
    fk_fail(err, FK_E_FORMAT, "the request's header is broken: %s",
            reason && *reason ? reason : "not HTTP");
    return 400;
}

static int run_llhttp(struct parse *parse, struct fk_err *err)
{
    llhttp_settings_t on;
    llhttp_t h;
    llhttp_settings_init(&on);
    on.on_url = on_url;
    on.on_header_field = on_field;
    on.on_header_value = on_value;
    on.on_headers_complete = on_headers;
    llhttp_init(&h, HTTP_REQUEST, &on);
    h.data = parse;
    enum llhttp_errno e = llhttp_execute(&h, parse->ex->head.p, parse->ex->head.n);
    if (e != HPE_OK && e != HPE_PAUSED_UPGRADE)
        return grammar_error(e, llhttp_get_error_reason(&h), err);
    if (!parse->complete)
        return bad(err, 400, "the request's header is broken");
    if (parse->major != 1 || parse->minor > 1)
        return bad(err, 505, "the request's HTTP version is not 1.0 or 1.1");
    return 0;
}

// --- rules on top ---
// "METHOD SP target SP version", with no other blank (RFC 9112 §3); llhttp would take more.
static int check_line(struct fk_str head, struct fk_err *err)
{
    size_t blanks = 0;
    while (head.n && (head.p[0] == '\r' || head.p[0] == '\n'))
        head = fk_str_from(head, 1);
    struct fk_str line = fk_str_head(head, (size_t)FK_MAX(fk_str_chr(head, '\r'), (ptrdiff_t)0));
    for (size_t i = 0; i < line.n; i++) {
        blanks += line.p[i] == ' ';
        if (line.p[i] == '\t')
            return bad(err, 400, "a tab in the request line");
    }
    return blanks > 2 ? bad(err, 400, "too many blanks in the request line") : 0;
}

bool fk_http_host_ok(struct fk_str host)
{
    for (size_t i = 0; i < host.n; i++) {
        unsigned char c = (unsigned char)host.p[i];
        if (c <= ' ' || c >= 0x7f || strchr("/\\?#@<>\"{}|^`,", c))
            return false;
    }
    return true;
}

// "http://host/path?query" of a client that takes us for a proxy: the host must be that of the
// Host field.
static int split_absolute(struct fk_http_req *req, struct fk_str *rest, struct fk_err *err)
{
    struct fk_str t = req->target;
    if (t.n && t.p[0] == '/')
        return 0;
    if (fk_str_eq(t, FK_S("*")))
        return fk_str_eq(req->method, FK_S("OPTIONS"))
                   ? 0
                   : bad(err, 400, "target \"*\" is for OPTIONS");
    size_t scheme = 0;
    if (t.n > 7 && fk_str_eq_nocase(fk_str_head(t, 7), FK_S("http://")))
        scheme = 7;
    else if (t.n > 8 && fk_str_eq_nocase(fk_str_head(t, 8), FK_S("https://")))
        scheme = 8;
    if (!scheme)
        return bad(err, 400, "the request's target is neither a path nor a URL");
    struct fk_str at = fk_str_from(t, scheme);
    size_t n = 0;
    while (n < at.n && at.p[n] != '/' && at.p[n] != '?')
        n++;
    struct fk_str host = fk_str_head(at, n);
    if (n == 0 || !fk_http_host_ok(host) || (req->host.n && !fk_str_eq_nocase(host, req->host)))
        return bad(err, 400, "the host of the target and the Host field differ");
    req->host = host;
    *rest = fk_str_from(at, n);
    return 0;
}

// Path and query; "//ingest" is "/ingest" (clients with a trailing slash in their address).
static int split_target(struct fk_http_ex *ex, struct fk_err *err)
{
    struct fk_http_req *req = &ex->req;
    struct fk_str rest = req->target;
    int status = split_absolute(req, &rest, err);
    if (status)
        return status;
    if (memchr(rest.p ? rest.p : "", '#', rest.n))
        return bad(err, 400, "the request's target has a fragment");
    ptrdiff_t q = fk_str_chr(rest, '?');
    struct fk_str path = q < 0 ? rest : fk_str_head(rest, (size_t)q);
    req->query = q < 0 ? FK_S("") : fk_str_from(rest, (size_t)q + 1);
    if (path.n == 0)
        path = FK_S("/");
    if (fk_str_find(path, FK_S("//")) < 0) {
        req->path = path;
        return 0;
    }
    char *to = fk_arena_alloc(&ex->arena, path.n);
    size_t n = 0;
    if (!to)
        return bad(err, 503, "out of memory");
    for (size_t i = 0; i < path.n; i++)
        if (path.p[i] != '/' || n == 0 || to[n - 1] != '/')
            to[n++] = path.p[i];
    req->path = fk_str_make(to, n);
    return 0;
}

static int check_host(struct fk_http_req *req, struct fk_err *err)
{
    struct fk_str host[2];
    size_t n = fk_http_req_fields(req, "Host", host, 2);
    if (n > 1 || (n == 0 && req->version > 10))
        return bad(err, 400, n ? "more than one Host field" : "the Host field is missing");
    if (n == 1 && !fk_http_host_ok(host[0]))
        return bad(err, 400, "the Host field is no host");
    req->host = n ? host[0] : FK_S("");
    return 0;
}

// How the body is framed: a message that could be read in two ways is refused.
static int check_framing(struct fk_http_ex *ex, struct fk_err *err)
{
    struct fk_str te[2], cl[2];
    size_t te_n = fk_http_req_fields(&ex->req, "Transfer-Encoding", te, 2);
    size_t cl_n = fk_http_req_fields(&ex->req, "Content-Length", cl, 2);
    uint64_t length = 0;
    ex->content_length = -1;
    if (te_n && cl_n)
        return bad(err, 400, "both Content-Length and Transfer-Encoding");
    if (te_n > 1 || (te_n == 1 && !fk_str_eq_nocase(te[0], FK_S("chunked"))))
        return bad(err, 400, "the Transfer-Encoding is not exactly \"chunked\"");
    if (te_n && ex->req.version < 11)
        return bad(err, 400, "Transfer-Encoding in an HTTP/1.0 request");
    if (cl_n > 1)
        return bad(err, 400, "more than one Content-Length");
    if (cl_n == 1 && (cl[0].n == 0 || cl[0].n > 18 || fk_str_to_u64(cl[0], &length)))
        return bad(err, 400, "the Content-Length is no number of bytes");
    if (cl_n == 1)
        ex->content_length = (int64_t)length;
    ex->chunked = te_n == 1;
    ex->has_body = te_n == 1 || length > 0;
    return 0;
}

static int check_expect(struct fk_http_ex *ex, struct fk_err *err)
{
    struct fk_str expect = fk_http_req_field(&ex->req, "Expect");
    if (!expect.p || ex->req.version < 11)
        return 0;
    if (!fk_str_eq_nocase(expect, FK_S("100-continue"))) {
        fk_fail(err, FK_E_UNSUPPORTED, "Expect: only 100-continue is understood");
        return 417;
    }
    ex->expect_100 = true;
    return 0;
}

static int known_method(struct fk_str method, struct fk_err *err)
{
    static const char *const names[] = {
#define NAME(number, name, text) #text,
        HTTP_METHOD_MAP(NAME)
#undef NAME
    };
    if (fk_str_eq(method, FK_S("CONNECT")))
        return bad(err, 501, "this is no proxy: CONNECT is not understood");
    for (size_t i = 0; i < FK_COUNTOF(names); i++)
        if (fk_str_eq(method, fk_str_of(names[i])))
            return 0;
    return bad(err, 501, "the request's method is not known");
}

// Rules that hold in every version, once method, target, host and fields are known.
int fk_http_head_common(struct fk_http_ex *ex, const struct fk_http_limits *limits,
                        struct fk_err *err)
{
    struct fk_http_req *req = &ex->req;
    int status = known_method(req->method, err);
    if (status)
        return status;
    if (req->target.n > limits->target) {
        fk_fail_limit(err, "target", limits->target, FK_HTTP_FLAG(target),
                      "the request's target is too long");
        return 414;
    }
    status = split_target(ex, err);
    return status ? status : check_expect(ex, err);
}

int fk_http_head_parse(struct fk_http_ex *ex, const struct fk_http_limits *limits,
                       struct fk_err *err)
{
    struct fk_http_req *req = &ex->req;
    struct parse parse = {.ex = ex, .max = FK_MIN(limits->fields, ex->head.n / 4)};
    parse.fields = fk_arena_array(&ex->arena, parse.max, sizeof(*parse.fields));
    if (!parse.fields)
        return bad(err, 503, "out of memory");
    int status = check_line(fk_buf_view(&ex->head), err);
    if (status || (status = run_llhttp(&parse, err)))
        return status;
    req->method = fk_str_of(llhttp_method_name(parse.method));
    req->target = parse.target;
    req->fields = parse.fields;
    req->fields_n = parse.n;
    req->version = parse.major * 10 + parse.minor;
    ex->keep_alive = parse.keep_alive;
    if ((status = check_host(req, err)) || (status = fk_http_head_common(ex, limits, err)))
        return status;
    return check_framing(ex, err);
}
