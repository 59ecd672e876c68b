// SPDX-License-Identifier: Apache-2.0
// Writes small JFR recordings for tests: chunks of 2.x with a table of types, constants and events,
// and of 0.9. Not what a JVM would write, but what the format allows.
#ifndef FK_TESTS_SUPPORT_JFR_MAKE_H
#define FK_TESTS_SUPPORT_JFR_MAKE_H

#include "base/base.h"

#include <stdarg.h>
#include <stdio.h>

// ---- chunks of 2.x ----

struct jfr_make {
    struct fk_buf body;    // events, the header before them
    struct fk_buf strings; // of the metadata
    struct fk_buf meta;    // elements
    uint32_t n_strings;
    bool fixed; // integers of fixed width
    uint64_t checkpoint_at, metadata_at;
    uint64_t start_ns, start_ticks, ticks_per_second;
};

static inline void jm_fixed(struct fk_buf *b, uint64_t v, int bytes)
{
    while (bytes-- > 0)
        fk_buf_byte(b, (uint8_t)(v >> (8 * bytes)));
}

static inline void jm_int(const struct jfr_make *m, struct fk_buf *b, uint64_t v, int bytes)
{
    if (m->fixed) {
        jm_fixed(b, v, bytes);
        return;
    }
    for (int i = 0; i < 8 && v >= 0x80; i++, v >>= 7)
        fk_buf_byte(b, (uint8_t)(v | 0x80));
    fk_buf_byte(b, (uint8_t)v);
}

// A text as UTF-8; NULL is the null string.
static inline void jm_text(const struct jfr_make *m, struct fk_buf *b, const char *s)
{
    fk_buf_byte(b, s ? 3 : 0);
    if (!s)
        return;
    jm_int(m, b, strlen(s), 4);
    fk_buf_cstr(b, s);
}

// The format's letters say how each argument is written: b a byte, i int, l long, t text, d double.
static inline void jm_values(const struct jfr_make *m, struct fk_buf *b, const char *format,
                             va_list ap)
{
    for (; *format; format++) {
        if (*format == 'b')
            fk_buf_byte(b, (uint8_t)va_arg(ap, int));
        else if (*format == 'i')
            jm_int(m, b, (uint32_t)va_arg(ap, int), 4);
        else if (*format == 'l')
            jm_int(m, b, (uint64_t)va_arg(ap, long), 8);
        else if (*format == 't')
            jm_text(m, b, va_arg(ap, const char *));
        else if (*format == 'd')
            jm_fixed(b, (uint64_t)va_arg(ap, long), 8);
    }
}

static inline void jm_put(const struct jfr_make *m, struct fk_buf *b, const char *format, ...)
{
    va_list ap;
    va_start(ap, format);
    jm_values(m, b, format, ap);
    va_end(ap);
}

static inline void jm_begin(struct jfr_make *m)
{
    m->n_strings = 0;
    m->checkpoint_at = m->metadata_at = 0;
    fk_buf_init(&m->body, 0);
    fk_buf_init(&m->strings, 0);
    fk_buf_init(&m->meta, 0);
    fk_buf_fill(&m->body, 0, 68);
}

// size, which counts itself, as four bytes; then the payload
static inline void jm_sized(struct jfr_make *m, struct fk_str payload)
{
    uint64_t size = payload.n + 4;
    if (m->fixed) {
        jm_fixed(&m->body, size, 4);
    } else {
        for (int i = 0; i < 3; i++)
            fk_buf_byte(&m->body, (uint8_t)(size >> (7 * i) | 0x80));
        fk_buf_byte(&m->body, (uint8_t)(size >> 21));
    }
    fk_buf_str(&m->body, payload);
}

static inline void jm_event(struct jfr_make *m, long type, const char *format, ...)
{
    FK_AUTO_BUF b;
    va_list ap;
    fk_buf_init(&b, 0);
    jm_put(m, &b, "l", type);
    va_start(ap, format);
    jm_values(m, &b, format, ap);
    va_end(ap);
    jm_sized(m, fk_buf_view(&b));
}

// A checkpoint; pools: what follows the number of pools.
static inline void jm_checkpoint(struct jfr_make *m, int n_pools, struct fk_str pools)
{
    FK_AUTO_BUF b;
    fk_buf_init(&b, 0);
    long delta = m->checkpoint_at ? (long)m->checkpoint_at - (long)m->body.n : 0;
    m->checkpoint_at = m->body.n;
    jm_put(m, &b, "llllbi", 1L, 0L, 0L, delta, 0, n_pools);
    fk_buf_str(&b, pools);
    jm_sized(m, fk_buf_view(&b));
}

// ---- metadata ----

static inline void jm_string(struct jfr_make *m, const char *s, size_t n)
{
    FK_AUTO_BUF copy;
    fk_buf_init(&copy, 0);
    fk_buf_put(&copy, s, n);
    fk_buf_byte(&copy, 0);
    jm_text(m, &m->strings, copy.p);
    jm_int(m, &m->meta, m->n_strings++, 4);
}

// An element with attributes "name=value ..." and how many elements follow within it.
static inline void jm_element(struct jfr_make *m, const char *name, const char *attributes,
                              int children)
{
    struct fk_str rest = fk_str_of(attributes), pair;
    int n = 0;
    for (const char *p = attributes; *p; p++)
        n += *p == '=';
    jm_string(m, name, strlen(name));
    jm_int(m, &m->meta, (uint64_t)n, 4);
    while (n && fk_str_split(&rest, ' ', &pair)) {
        ptrdiff_t at = fk_str_chr(pair, '=');
        jm_string(m, pair.p, (size_t)at);
        jm_string(m, pair.p + at + 1, pair.n - (size_t)at - 1);
    }
    jm_int(m, &m->meta, (uint64_t)children, 4);
}

struct jm_type {
    int id;
    const char *name;
    const char *fields; // "name:type[:flags] ...": r a constant's key, a an array, T ticks, N ns
};

static inline void jm_field(struct jfr_make *m, struct fk_str f)
{
    char text[160];
    struct fk_str name, type, flags = {"", 0};
    fk_str_split(&f, ':', &name);
    fk_str_split(&f, ':', &type);
    fk_str_split(&f, ':', &flags);
    bool ticks = fk_str_chr(flags, 'T') >= 0, nanos = fk_str_chr(flags, 'N') >= 0;
    snprintf(text, sizeof(text), "name=%.*s class=%.*s%s%s", FK_STR_ARG(name), FK_STR_ARG(type),
             fk_str_chr(flags, 'r') >= 0 ? " constantPool=true" : "",
             fk_str_chr(flags, 'a') >= 0 ? " dimension=1" : "");
    jm_element(m, "field", text, ticks || nanos);
    if (ticks || nanos)
        jm_element(m, "annotation", ticks ? "class=99 value=TICKS" : "class=99 value=NANOSECONDS",
                   0);
}

static inline void jm_class(struct jfr_make *m, const struct jm_type *t)
{
    char text[160];
    int n = t->fields[0] != 0;
    struct fk_str rest = fk_str_of(t->fields), field;
    for (const char *p = t->fields; *p; p++)
        n += *p == ' ';
    snprintf(text, sizeof(text), "id=%d name=%s superType=jdk.jfr.Event", t->id, t->name);
    jm_element(m, "class", text, n);
    while (n && fk_str_split(&rest, ' ', &field))
        jm_field(m, field);
}

static inline void jm_metadata(struct jfr_make *m, const struct jm_type *types, int n)
{
    FK_AUTO_BUF b;
    fk_buf_init(&b, 0);
    jm_element(m, "root", "", 2);
    jm_element(m, "metadata", "", n);
    for (int i = 0; i < n; i++)
        jm_class(m, &types[i]);
    jm_element(m, "region", "locale=en_GB gmtOffset=0", 0);
    jm_put(m, &b, "lllli", 0L, 0L, 0L, 1L, (int)m->n_strings);
    fk_buf_str(&b, fk_buf_view(&m->strings));
    fk_buf_str(&b, fk_buf_view(&m->meta));
    m->metadata_at = m->body.n;
    jm_sized(m, fk_buf_view(&b));
}

// Appends the chunk to `to` and frees what it was made of.
static inline void jm_end(struct jfr_make *m, int major, int minor, struct fk_buf *to)
{
    FK_AUTO_BUF head;
    fk_buf_init(&head, 0);
    fk_buf_put(&head, "FLR\0", 4);
    jm_fixed(&head, (uint64_t)major, 2);
    jm_fixed(&head, (uint64_t)minor, 2);
    jm_fixed(&head, m->body.n, 8);
    jm_fixed(&head, m->checkpoint_at, 8);
    jm_fixed(&head, m->metadata_at, 8);
    jm_fixed(&head, m->start_ns, 8);
    jm_fixed(&head, 5000000000u, 8);
    jm_fixed(&head, m->start_ticks, 8);
    jm_fixed(&head, m->ticks_per_second, 8);
    jm_fixed(&head, !m->fixed, 4);
    fk_buf_str(to, fk_buf_view(&head));
    fk_buf_put(to, m->body.p + 68, m->body.n - 68);
    fk_buf_free(&m->body);
    fk_buf_free(&m->strings);
    fk_buf_free(&m->meta);
}

#endif
