// SPDX-License-Identifier: Apache-2.0
// Body framing of HTTP/1: by length, chunked (RFC 9112 §7.1), until the connection closes. Strict:
// lines end with CR LF, sizes are at most 15 hex digits, extensions and trailers are skipped but
// bounded.
#include "http/http_int.h"

enum { SIZE, EXT, SIZE_LF, DATA, DATA_CR, DATA_LF, TRAILER, TRAILER_LF };

void fk_http_body_start(struct fk_http_body *b, enum fk_http_framing framing, uint64_t length,
                        uint64_t max_extra)
{
    *b = (struct fk_http_body){.framing = framing, .left = length, .max_extra = max_extra};
    if (framing == FK_HTTP_NO_BODY || (framing == FK_HTTP_BY_LENGTH && length == 0))
        b->over = true;
    if (framing == FK_HTTP_CHUNKED) {
        b->left = 0;
        b->state = SIZE;
    }
}

static int broken(struct fk_err *err, const char *text)
{
    return fk_fail(err, FK_E_FORMAT, "the chunked body is broken: %s", text);
}

static int hex(uint8_t c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c |= 0x20;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static int size_byte(struct fk_http_body *b, uint8_t c, struct fk_err *err)
{
    int digit = hex(c);
    if (digit >= 0) {
        if (++b->digits > 15)
            return broken(err, "a chunk's size has more than 15 digits");
        b->left = b->left * 16 + (uint64_t)digit;
        return 0;
    }
    if (b->digits == 0)
        return broken(err, "a chunk without a size");
    if (c == '\r')
        b->state = SIZE_LF;
    else if (c == ';')
        b->state = EXT;
    else
        return broken(err, "a chunk's size is no hexadecimal number");
    return 0;
}

static int skip_byte(struct fk_http_body *b, uint8_t c, uint8_t next, struct fk_err *err)
{
    if (++b->extra > b->max_extra)
        return fk_fail_limit(err, "header", b->max_extra, FK_HTTP_FLAG(head_bytes),
                             "extensions or trailers of the chunked body are too large");
    if (c == '\r')
        b->state = next;
    else if ((c < 0x20 && c != '\t') || c == 0x7f)
        return broken(err, "a control character in an extension or trailer");
    return 0;
}

// Behind a size line: data, or the trailers after the last chunk.
static void size_over(struct fk_http_body *b)
{
    b->state = b->left ? DATA : TRAILER;
    b->digits = 0;
    b->empty_line = true;
}

static int trailer_byte(struct fk_http_body *b, uint8_t c, struct fk_err *err)
{
    if (c != '\r') {
        if (b->empty_line && (c == ' ' || c == '\t'))
            return broken(err, "a trailer begins with a blank");
        b->empty_line = false;
    }
    return skip_byte(b, c, TRAILER_LF, err);
}

static int line_feed(struct fk_http_body *b, uint8_t c, struct fk_err *err)
{
    if (c != '\n')
        return broken(err, "a carriage return without a line feed");
    if (b->state == SIZE_LF) {
        size_over(b);
    } else if (b->state == DATA_LF) {
        b->state = SIZE;
    } else if (b->empty_line) {
        b->over = true;
    } else {
        b->state = TRAILER;
        b->empty_line = true;
    }
    return 0;
}

static int chunk_byte(struct fk_http_body *b, uint8_t c, struct fk_err *err)
{
    switch (b->state) {
    case SIZE:
        return size_byte(b, c, err);
    case EXT:
        return skip_byte(b, c, SIZE_LF, err);
    case DATA_CR:
        b->state = DATA_LF;
        return c == '\r' ? 0 : broken(err, "a chunk is longer than its size");
    case TRAILER:
        return trailer_byte(b, c, err);
    default:
        return line_feed(b, c, err);
    }
}

int fk_http_body_next(struct fk_http_body *b, const uint8_t *p, size_t n, size_t *ret_used,
                      struct fk_str *ret_data, struct fk_err *err)
{
    size_t i = 0;
    *ret_data = FK_S("");
    while (i < n && !b->over) {
        if (b->framing != FK_HTTP_CHUNKED || b->state == DATA) {
            size_t k = b->framing == FK_HTTP_BY_CLOSE ? n - i : (size_t)FK_MIN(b->left, n - i);
            *ret_data = fk_str_make(p + i, k);
            i += k;
            if (b->framing == FK_HTTP_BY_CLOSE)
                break;
            b->left -= k;
            if (b->left == 0 && b->framing == FK_HTTP_BY_LENGTH)
                b->over = true;
            else if (b->left == 0)
                b->state = DATA_CR;
            break;
        }
        int rc = chunk_byte(b, p[i++], err);
        if (rc)
            return rc;
    }
    *ret_used = i;
    return 0;
}
