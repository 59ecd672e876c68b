// SPDX-License-Identifier: Apache-2.0
// Writing JSON.
#include "codec/json.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define FLUSH_AT ((size_t)32 << 10)

void fk_json_init(struct fk_json *w, struct fk_out out, bool pretty)
{
    memset(w, 0, sizeof(*w));
    fk_buf_init(&w->buf, 0);
    w->out = out;
    w->pretty = pretty;
}

static void flush(struct fk_json *w)
{
    if (!w->err.code)
        (void)fk_out_put(w->out, w->buf.p, w->buf.n, &w->err);
    w->buf.n = 0;
}

int fk_json_finish(struct fk_json *w, struct fk_err *err)
{
    if (!w->err.code)
        (void)fk_buf_check(&w->buf, "JSON", &w->err);
    if (!w->err.code && w->depth)
        (void)fk_fail(&w->err, FK_E_INVALID, "JSON is not closed");
    if (!w->err.code && w->pretty)
        fk_buf_byte(&w->buf, '\n');
    flush(w);
    fk_buf_free(&w->buf);
    if (w->err.code && err)
        *err = w->err;
    return -w->err.code;
}

static void indent(struct fk_json *w)
{
    if (w->pretty) {
        fk_buf_byte(&w->buf, '\n');
        fk_buf_fill(&w->buf, ' ', (size_t)w->depth * 2);
    }
}

// What stands before a value or key: a comma, a line.
static void before(struct fk_json *w)
{
    if (w->buf.n >= FLUSH_AT)
        flush(w);
    if (w->after_key) {
        w->after_key = false;
        return;
    }
    if (w->filled[w->depth])
        fk_buf_byte(&w->buf, ',');
    w->filled[w->depth] = 1;
    if (w->depth)
        indent(w);
}

static void open_level(struct fk_json *w, char bracket)
{
    before(w);
    fk_buf_byte(&w->buf, (uint8_t)bracket);
    if (w->depth >= FK_JSON_NEST) {
        if (!w->err.code)
            (void)fk_fail(&w->err, FK_E_INVALID, "JSON is nested too deep");
        return;
    }
    w->filled[++w->depth] = 0;
}

static void close_level(struct fk_json *w, char bracket)
{
    bool filled = w->filled[w->depth];
    if (w->depth)
        w->depth--;
    if (filled)
        indent(w);
    fk_buf_byte(&w->buf, (uint8_t)bracket);
}

void fk_json_object(struct fk_json *w)
{
    open_level(w, '{');
}

void fk_json_object_end(struct fk_json *w)
{
    close_level(w, '}');
}

void fk_json_array(struct fk_json *w)
{
    open_level(w, '[');
}

void fk_json_array_end(struct fk_json *w)
{
    close_level(w, ']');
}

void fk_json_key(struct fk_json *w, struct fk_str key)
{
    before(w);
    fk_json_quote(&w->buf, key);
    fk_buf_cstr(&w->buf, w->pretty ? ": " : ":");
    w->after_key = true;
}

void fk_json_str(struct fk_json *w, struct fk_str s)
{
    before(w);
    fk_json_quote(&w->buf, s);
}

void fk_json_i64(struct fk_json *w, int64_t v)
{
    before(w);
    fk_buf_i64(&w->buf, v);
}

void fk_json_u64(struct fk_json *w, uint64_t v)
{
    before(w);
    fk_buf_u64(&w->buf, v);
}

void fk_json_f64(struct fk_json *w, double v)
{
    char text[32];
    before(w);
    if (!isfinite(v)) {
        fk_buf_cstr(&w->buf, "null");
        return;
    }
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(text, sizeof(text), "%.*g", digits, v);
        if (strtod(text, NULL) == v)
            break;
    }
    fk_buf_cstr(&w->buf, text);
}

void fk_json_bool(struct fk_json *w, bool v)
{
    before(w);
    fk_buf_cstr(&w->buf, v ? "true" : "false");
}

void fk_json_null(struct fk_json *w)
{
    before(w);
    fk_buf_cstr(&w->buf, "null");
}

void fk_json_raw(struct fk_json *w, struct fk_str json)
{
    before(w);
    fk_buf_str(&w->buf, json);
}

// Length of the valid UTF-8 sequence at p, 0 when there is none.
static size_t sequence(struct fk_str s)
{
    uint8_t c = (uint8_t)s.p[0];
    size_t n = c < 0x80 ? 1 : c >= 0xf0 ? 4 : c >= 0xe0 ? 3 : 2;
    return n <= s.n && fk_str_is_utf8(fk_str_head(s, n)) ? n : 0;
}

static void put_special(struct fk_buf *b, uint8_t c)
{
    static const char hex[] = "0123456789abcdef";
    const char *from = "\"\\\b\f\n\r\t", *to = "\"\\bfnrt";
    const char *at = c ? strchr(from, c) : NULL;
    if (at) {
        fk_buf_byte(b, '\\');
        fk_buf_byte(b, (uint8_t)to[at - from]);
        return;
    }
    fk_buf_cstr(b, "\\u00");
    fk_buf_byte(b, (uint8_t)hex[c >> 4]);
    fk_buf_byte(b, (uint8_t)hex[c & 15]);
}

// Plain ASCII goes through in runs; U+2028 and U+2029 are escaped for the sake of scripts.
void fk_json_quote(struct fk_buf *b, struct fk_str s)
{
    fk_buf_byte(b, '"');
    while (s.n) {
        size_t run = 0;
        while (run < s.n && (uint8_t)s.p[run] >= 0x20 && (uint8_t)s.p[run] < 0x7f &&
               s.p[run] != '"' && s.p[run] != '\\')
            run++;
        fk_buf_put(b, s.p, run);
        s = fk_str_from(s, run);
        if (!s.n)
            break;
        size_t n = sequence(s);
        if (n > 1 && fk_str_starts(s, FK_S("\xe2\x80\xa8")))
            fk_buf_cstr(b, "\\u2028");
        else if (n > 1 && fk_str_starts(s, FK_S("\xe2\x80\xa9")))
            fk_buf_cstr(b, "\\u2029");
        else if (n > 1)
            fk_buf_put(b, s.p, n);
        else if (n == 1)
            put_special(b, (uint8_t)s.p[0]);
        else
            fk_buf_cstr(b, "\xef\xbf\xbd");
        s = fk_str_from(s, n ? n : 1);
    }
    fk_buf_byte(b, '"');
}
