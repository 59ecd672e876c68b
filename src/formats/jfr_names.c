// SPDX-License-Identifier: Apache-2.0
// Names that are the same in every run of a program. The JVM and libraries number the classes and
// files that they make; the number becomes '_', as Pyroscope shows them, so that two runs of a
// program can be merged and compared. The raw name stays the function's system name.
#include "formats/jfr_int.h"

static bool is_hex(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
}

// How many of the last characters are digits (or hexadecimal ones).
static size_t digits_at_end(struct fk_str s, bool hex)
{
    size_t n = 0;
    while (n < s.n &&
           (hex ? is_hex(s.p[s.n - 1 - n]) : s.p[s.n - 1 - n] >= '0' && s.p[s.n - 1 - n] <= '9'))
        n++;
    return n;
}

// Work$$Lambda$88+0x00007f4338008c28/1800031768, Work$$Lambda/0x0000000035045c38
static bool cut_lambda(struct fk_str *s)
{
    static const struct fk_str mark = {"$$Lambda", 8};
    ptrdiff_t at = fk_str_find(*s, mark);
    if (at < 0)
        return false;
    struct fk_str rest = fk_str_from(*s, (size_t)at + mark.n);
    bool number = false;
    for (size_t i = 0; i < rest.n; i++) {
        number |= rest.p[i] >= '0' && rest.p[i] <= '9';
        if (!is_hex(rest.p[i]) && !memchr("$+./x", rest.p[i], 5))
            return false;
    }
    if (number)
        s->n = (size_t)at + mark.n;
    return number;
}

// GeneratedMethodAccessor31, $Proxy12, Service$$EnhancerBySpringCGLIB$$1a2b3c4d
static bool cut_number(struct fk_str *s)
{
    static const struct {
        const char *mark;
        bool hex;
    } kinds[] = {{"GeneratedMethodAccessor", false},
                 {"GeneratedConstructorAccessor", false},
                 {"GeneratedSerializationConstructorAccessor", false},
                 {"$Proxy", false},
                 {"CGLIB$$", true}};
    for (size_t i = 0; i < FK_COUNTOF(kinds); i++) {
        size_t n = digits_at_end(*s, kinds[i].hex);
        struct fk_str head = fk_str_head(*s, s->n - n);
        if (n && fk_str_ends(head, fk_str_of(kinds[i].mark))) {
            *s = head;
            return true;
        }
    }
    return false;
}

// Libraries unpacked into a temporary file of a random name: the first run of at least 16
// hexadecimal digits.
static bool find_random(struct fk_str s, size_t *ret_at, size_t *ret_n)
{
    static const char *const known[] = {"libzstd-jni-", "amazonCorrettoCryptoProvider",
                                        "libasyncProfiler-"};
    bool is_known = false;
    for (size_t i = 0; i < FK_COUNTOF(known); i++)
        is_known |= fk_str_find(s, fk_str_of(known[i])) >= 0;
    for (size_t at = 0, n; is_known && at < s.n; at += n + 1) {
        for (n = 0; at + n < s.n && is_hex(s.p[at + n]);)
            n++;
        if (n >= 16) {
            *ret_at = at;
            *ret_n = n;
            return true;
        }
    }
    return false;
}

void jfr_put_stable_name(struct fk_buf *b, struct fk_str name)
{
    size_t at, n;
    if (cut_lambda(&name) || cut_number(&name)) {
        fk_buf_str(b, name);
        fk_buf_byte(b, '_');
    } else if (find_random(name, &at, &n)) {
        fk_buf_str(b, fk_str_head(name, at));
        fk_buf_byte(b, '_');
        fk_buf_str(b, fk_str_from(name, at + n));
    } else {
        fk_buf_str(b, name);
    }
}
