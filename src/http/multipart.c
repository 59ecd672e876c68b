// SPDX-License-Identifier: Apache-2.0
// multipart/form-data (RFC 2046 §5.1, RFC 7578): parts as views of the body.
#include "http/multipart.h"

#include "http/url.h"

static int broken(struct fk_err *err, const char *text)
{
    return fk_fail(err, FK_E_FORMAT, "the multipart body is broken: %s", text);
}

static bool boundary_ok(struct fk_str b)
{
    for (size_t i = 0; i < b.n; i++)
        if ((unsigned char)b.p[i] < ' ' || (unsigned char)b.p[i] >= 0x7f)
            return false;
    return b.n > 0 && b.n <= 70 && b.p[b.n - 1] != ' ';
}

// The delimiter ("--boundary" at the start of a line) at or after `at`: where its line begins, or
// -1. A part's own bytes may hold the text, but not behind a line end.
static ptrdiff_t find_delimiter(struct fk_str s, struct fk_str boundary, bool at_start)
{
    size_t from = 0;
    for (;;) {
        struct fk_str rest = fk_str_from(s, from);
        ptrdiff_t b = fk_str_find(rest, boundary);
        if (b < 0)
            return -1;
        size_t i = from + (size_t)b;
        bool dashes = i >= 2 && s.p[i - 1] == '-' && s.p[i - 2] == '-';
        bool line = i >= 4 ? s.p[i - 3] == '\n' && s.p[i - 4] == '\r' : at_start && i == 2;
        if (dashes && line)
            return (ptrdiff_t)i - 2;
        from = i + 1;
    }
}

// Behind a delimiter: "--" ends the body, blanks and a line end begin a part.
static int after_delimiter(struct fk_http_parts *m, struct fk_err *err)
{
    struct fk_str r = m->rest;
    size_t i = 0;
    if (r.n >= 2 && r.p[0] == '-' && r.p[1] == '-') {
        m->over = true;
        return 0;
    }
    while (i < r.n && (r.p[i] == ' ' || r.p[i] == '\t'))
        i++;
    if (i + 2 > r.n || r.p[i] != '\r' || r.p[i + 1] != '\n')
        return broken(err, "a boundary is not followed by a line end");
    m->rest = fk_str_from(r, i + 2);
    return 0;
}

int fk_http_parts_begin(struct fk_http_parts *m, struct fk_str content_type, struct fk_str body,
                        struct fk_arena *arena, struct fk_err *err)
{
    struct fk_str type = fk_http_media_type(content_type), boundary;
    if (!fk_str_eq_nocase(fk_str_head(type, 10), FK_S("multipart/")))
        return fk_fail(err, FK_E_UNSUPPORTED, "Content-Type \"%.*s\" is not multipart/form-data",
                       FK_STR_ARG(fk_str_head(type, 60)));
    int rc = fk_http_media_param(content_type, "boundary", arena, &boundary, err);
    if (rc < 0)
        return rc;
    if (rc == 0 || !boundary_ok(boundary))
        return broken(err, "the Content-Type has no valid boundary");
    struct fk_http_parts r = {.rest = body, .boundary = boundary, .arena = arena};
    ptrdiff_t at = find_delimiter(body, boundary, true);
    if (at < 0)
        return broken(err, "the boundary does not occur");
    r.rest = fk_str_from(body, (size_t)at + 2 + boundary.n);
    rc = after_delimiter(&r, err);
    if (rc)
        return rc;
    *m = r;
    return 0;
}

// --- one part ---
static int disposition(struct fk_http_parts *m, struct fk_str value, struct fk_http_part *p,
                       struct fk_err *err)
{
    int rc = fk_http_media_param(value, "name", m->arena, &p->name, err);
    if (rc >= 0)
        rc = fk_http_media_param(value, "filename", m->arena, &p->filename, err);
    if (rc < 0)
        return rc;
    if (p->name.n > FK_HTTP_PART_NAMES || p->filename.n > FK_HTTP_PART_NAMES)
        return fk_fail_limit(err, "name", FK_HTTP_PART_NAMES, NULL,
                             "the name of a part is too long");
    return 0;
}

static int part_fields(struct fk_http_parts *m, struct fk_http_part *p, struct fk_err *err)
{
    struct fk_str rest = p->head;
    while (rest.n) {
        ptrdiff_t end = fk_str_find(rest, FK_S("\r\n"));
        struct fk_str line = end < 0 ? rest : fk_str_head(rest, (size_t)end);
        ptrdiff_t colon = fk_str_chr(line, ':');
        rest = end < 0 ? FK_S("") : fk_str_from(rest, (size_t)end + 2);
        if (colon <= 0)
            return broken(err, "a part's header line has no colon");
        struct fk_str name = fk_str_head(line, (size_t)colon);
        struct fk_str value = fk_str_trim(fk_str_from(line, (size_t)colon + 1));
        int rc = 0;
        if (fk_str_eq_nocase(name, FK_S("Content-Disposition")))
            rc = disposition(m, value, p, err);
        else if (fk_str_eq_nocase(name, FK_S("Content-Type")))
            p->type = value;
        if (rc)
            return rc;
    }
    return 0;
}

// Splits the header of the part off m->rest. A part without fields begins with the empty line.
static int part_head(struct fk_http_parts *m, struct fk_http_part *p, struct fk_err *err)
{
    if (fk_str_starts(m->rest, FK_S("\r\n"))) {
        m->rest = fk_str_from(m->rest, 2);
        return 0;
    }
    struct fk_str window = fk_str_head(m->rest, FK_HTTP_PART_HEAD);
    ptrdiff_t end = fk_str_find(window, FK_S("\r\n\r\n"));
    if (end < 0 && m->rest.n > FK_HTTP_PART_HEAD)
        return fk_fail_limit(err, "header", FK_HTTP_PART_HEAD, NULL,
                             "the header of a part is too large");
    if (end < 0)
        return broken(err, "a part's header has no end");
    p->head = fk_str_head(m->rest, (size_t)end);
    // The empty line's own end stays: a delimiter may follow at once.
    m->rest = fk_str_from(m->rest, (size_t)end + 4);
    return part_fields(m, p, err);
}

int fk_http_parts_next(struct fk_http_parts *m, struct fk_http_part *ret, struct fk_err *err)
{
    struct fk_http_part p = {.name = FK_S(""), .head = FK_S("")};
    if (m->over)
        return 0;
    if (m->n == FK_HTTP_PARTS)
        return fk_fail_limit(err, "parts", FK_HTTP_PARTS, NULL,
                             "the multipart body has too many parts");
    int rc = part_head(m, &p, err);
    if (rc)
        return rc;
    // An empty part: the delimiter stands where its bytes would begin.
    ptrdiff_t at = find_delimiter(m->rest, m->boundary, true);
    if (at < 0)
        return broken(err, "the closing boundary is missing");
    p.bytes = fk_str_head(m->rest, at >= 2 ? (size_t)at - 2 : 0);
    m->rest = fk_str_from(m->rest, (size_t)at + 2 + m->boundary.n);
    rc = after_delimiter(m, err);
    if (rc)
        return rc;
    m->n++;
    *ret = p;
    return 1;
}
