// SPDX-License-Identifier: Apache-2.0
// The lines of `perf script`. Source: tools/perf/builtin-script.c as of Linux 3.2 to 6.1, by what
// it prints.
#include "formats/perf_int.h"

static bool all_digits(struct fk_str s)
{
    for (size_t i = 0; i < s.n; i++)
        if (s.p[i] < '0' || s.p[i] > '9')
            return false;
    return s.n > 0;
}

static bool is_time(struct fk_str word)
{
    if (word.n < 4 || word.p[word.n - 1] != ':')
        return false;
    ptrdiff_t point = fk_str_chr(word, '.');
    return point > 0 && all_digits(fk_str_head(word, (size_t)point)) &&
           all_digits(fk_str_from(fk_str_head(word, word.n - 1), (size_t)point + 1));
}

// "12", "-1" or "12/13".
static bool read_ids(struct fk_str word, struct perf_header *h)
{
    ptrdiff_t slash = fk_str_chr(word, '/');
    int64_t first, second;
    if (fk_str_to_i64(slash < 0 ? word : fk_str_head(word, (size_t)slash), &first))
        return false;
    h->pid = -1;
    h->tid = first;
    if (slash < 0)
        return true;
    if (fk_str_to_i64(fk_str_from(word, (size_t)slash + 1), &second))
        return false;
    h->pid = first;
    h->tid = second;
    return true;
}

static bool read_cpu(struct fk_str word, int64_t *ret)
{
    return word.n > 2 && word.p[0] == '[' && word.p[word.n - 1] == ']' &&
           fk_str_to_i64(fk_str_from(fk_str_head(word, word.n - 1), 1), ret) == 0;
}

// What follows the ids.
static bool read_tail(struct fk_str tail, struct perf_header *h)
{
    struct fk_str word = fk_word(&tail);
    h->cpu = -1;
    h->time_ns = FK_NO_TIME;
    h->has_period = false;
    h->period = 0;
    if (read_cpu(word, &h->cpu))
        word = fk_word(&tail);
    if (is_time(word)) {
        if (!fk_decimal_ns(fk_str_head(word, word.n - 1), &h->time_ns))
            return false;
        word = fk_word(&tail);
    }
    if (fk_str_to_u64(word, &h->period) == 0) {
        h->has_period = true;
        word = fk_word(&tail);
    }
    if (word.n < 2 || word.p[word.n - 1] != ':')
        return false;
    h->event = fk_str_head(word, word.n - 1);
    h->rest = fk_str_trim(tail);
    return true;
}

bool fk_perf_header(struct fk_str line, struct perf_header *ret)
{
    struct perf_header h;
    struct fk_str rest = line;
    line = fk_str_trim(line);
    rest = line;
    (void)fk_word(&rest); // a command has one word at least
    while (rest.n) {
        struct fk_str comm = fk_str_head(line, (size_t)(rest.p - line.p));
        struct fk_str word = fk_word(&rest);
        if (word.n == 0 || (word.p[0] != '-' && (word.p[0] < '0' || word.p[0] > '9')))
            continue;
        if (read_ids(word, &h) && read_tail(rest, &h)) {
            h.comm = comm;
            *ret = h;
            return true;
        }
    }
    return false;
}

bool fk_perf_has_time(struct fk_str line)
{
    struct fk_str word;
    while ((word = fk_word(&line)).n)
        if (is_time(word))
            return true;
    return false;
}

// Where the last "(...)" that ends s begins, with a blank before it; s.n: none does.
static size_t find_object(struct fk_str s)
{
    size_t depth = 0;
    if (s.n == 0 || s.p[s.n - 1] != ')')
        return s.n;
    for (size_t i = s.n; i-- > 0;) {
        depth += s.p[i] == ')';
        if (s.p[i] == '(' && --depth == 0)
            return i > 0 && (s.p[i - 1] == ' ' || s.p[i - 1] == '\t') ? i : s.n;
    }
    return s.n;
}

// Without a trailing "+0x1f".
static struct fk_str cut_offset(struct fk_str s)
{
    ptrdiff_t plus = fk_str_rchr(s, '+');
    uint64_t offset;
    struct fk_str hex = fk_str_from(s, (size_t)(plus + 1));
    bool is_offset = plus >= 0 && hex.n > 2 && fk_str_starts(hex, FK_S("0x")) &&
                     fk_hex(fk_str_from(hex, 2), &offset);
    return is_offset ? fk_str_head(s, (size_t)plus) : s;
}

bool fk_perf_frame(struct fk_str line, struct perf_frame *ret)
{
    struct fk_str rest = fk_str_trim(line), word = fk_word(&rest);
    if (word.n > 16 || fk_str_starts(word, FK_S("0x")) || !fk_hex(word, &ret->address))
        return false;
    if (rest.n == 0)
        return false; // an address alone
    size_t object = find_object(rest);
    ret->has_object = object < rest.n;
    ret->symbol = cut_offset(fk_str_trim(fk_str_head(rest, object)));
    ret->object = (struct fk_str){"", 0};
    if (ret->has_object)
        ret->object = fk_str_from(fk_str_head(rest, rest.n - 1), object + 1);
    if (fk_str_eq(ret->symbol, FK_S("[unknown]")))
        ret->symbol = (struct fk_str){"", 0};
    if (fk_str_eq(ret->object, FK_S("[unknown]")) || fk_str_eq(ret->object, FK_S("inlined")))
        ret->object = (struct fk_str){"", 0};
    return true;
}

bool fk_perf_srcline(struct fk_str line, struct fk_str *ret_file, int64_t *ret_line)
{
    struct fk_str s = fk_str_trim(line);
    ptrdiff_t colon = fk_str_rchr(s, ':');
    uint64_t number;
    if (colon <= 0)
        return false;
    struct fk_str rest = fk_str_from(s, (size_t)colon + 1);
    if (!fk_take_u64(&rest, &number) || rest.n || number > INT32_MAX)
        return false;
    *ret_file = fk_str_head(s, (size_t)colon);
    *ret_line = (int64_t)number;
    return true;
}
