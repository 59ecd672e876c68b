// SPDX-License-Identifier: Apache-2.0
// Calendar arithmetic (proleptic Gregorian, no leap seconds, as POSIX time) and time texts.
#include "base/time.h"

#include "base/clock.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#define DAY_S ((int64_t)86400)

// Days since 1970-01-01 of a date, and back; years are counted from March so that leap days come
// last.
static int64_t days_from_date(int64_t year, unsigned month, unsigned day)
{
    year -= month <= 2;
    int64_t era = (year >= 0 ? year : year - 399) / 400;
    unsigned yoe = (unsigned)(year - era * 400);
    unsigned doy = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1;
    unsigned doe = yoe * 365 + yoe / 4 - yoe / 100 + doy;
    return era * 146097 + (int64_t)doe - 719468;
}

static void date_from_days(int64_t days, int64_t *year, unsigned *month, unsigned *day)
{
    days += 719468;
    int64_t era = (days >= 0 ? days : days - 146096) / 146097;
    unsigned doe = (unsigned)(days - era * 146097);
    unsigned yoe = (doe - doe / 1460 + doe / 36524 - doe / 146096) / 365;
    unsigned doy = doe - (365 * yoe + yoe / 4 - yoe / 100);
    unsigned mp = (5 * doy + 2) / 153;
    *day = doy - (153 * mp + 2) / 5 + 1;
    *month = mp < 10 ? mp + 3 : mp - 9;
    *year = (int64_t)yoe + era * 400 + (*month <= 2);
}

static bool is_date(int64_t year, unsigned month, unsigned day)
{
    int64_t y;
    unsigned m, d;
    if (month < 1 || month > 12 || day < 1 || day > 31)
        return false;
    date_from_days(days_from_date(year, month, day), &y, &m, &d);
    return d == day; // else the month has no such day
}

void fk_time_format(int64_t unix_ns, char ret[FK_TIME_CHARS + 1])
{
    int64_t seconds = unix_ns / FK_NS_PER_S, ns = unix_ns % FK_NS_PER_S;
    if (ns < 0) {
        ns += FK_NS_PER_S;
        seconds--;
    }
    int64_t days = seconds / DAY_S, rest = seconds % DAY_S, year;
    if (rest < 0) {
        rest += DAY_S;
        days--;
    }
    unsigned month, day;
    date_from_days(days, &year, &month,
                   &day); // int64 nanoseconds reach the years 1677 to 2262: always four digits
    char text[64];
    snprintf(text, sizeof(text), "%04d-%02u-%02uT%02d:%02d:%02d.%09dZ", (int)year, month, day,
             (int)(rest / 3600), (int)(rest / 60 % 60), (int)(rest % 60), (int)ns);
    memcpy(ret, text, FK_TIME_CHARS + 1);
}

void fk_time_put(struct fk_buf *b, int64_t unix_ns)
{
    char text[FK_TIME_CHARS + 1];
    fk_time_format(unix_ns, text);
    fk_buf_put(b, text, FK_TIME_CHARS);
}

// Takes exactly n digits off the front.
static bool take_digits(struct fk_str *s, size_t n, unsigned *ret)
{
    unsigned value = 0;
    if (s->n < n)
        return false;
    for (size_t i = 0; i < n; i++) {
        if (s->p[i] < '0' || s->p[i] > '9')
            return false;
        value = value * 10 + (unsigned)(s->p[i] - '0');
    }
    *s = fk_str_from(*s, n);
    *ret = value;
    return true;
}

static bool take_char(struct fk_str *s, char a, char b)
{
    if (s->n == 0 || (s->p[0] != a && s->p[0] != b))
        return false;
    *s = fk_str_from(*s, 1);
    return true;
}

static bool take_fraction(struct fk_str *s, int64_t *ret_ns)
{
    int64_t scale = FK_NS_PER_S;
    *ret_ns = 0;
    if (!take_char(s, '.', ','))
        return true;
    size_t digits = 0;
    unsigned d;
    while (take_digits(s, 1, &d)) {
        if (++digits > 9)
            return false;
        scale /= 10;
        *ret_ns += d * scale;
    }
    return digits > 0;
}

static bool take_offset(struct fk_str *s, int64_t *ret_s)
{
    unsigned hours, minutes;
    *ret_s = 0;
    if (take_char(s, 'Z', 'z'))
        return true;
    bool west = s->n && s->p[0] == '-';
    if (!take_char(s, '+', '-') || !take_digits(s, 2, &hours) || !take_char(s, ':', ':') ||
        !take_digits(s, 2, &minutes) || hours > 23 || minutes > 59)
        return false;
    *ret_s = ((int64_t)hours * 3600 + minutes * 60) * (west ? -1 : 1);
    return true;
}

static bool parse_rfc3339(struct fk_str s, int64_t *ret)
{
    unsigned year, month, day, hour, minute, second;
    int64_t fraction, offset, seconds;
    if (!take_digits(&s, 4, &year) || !take_char(&s, '-', '-') || !take_digits(&s, 2, &month) ||
        !take_char(&s, '-', '-') || !take_digits(&s, 2, &day) || !take_char(&s, 'T', 't') ||
        !take_digits(&s, 2, &hour) || !take_char(&s, ':', ':') || !take_digits(&s, 2, &minute) ||
        !take_char(&s, ':', ':') || !take_digits(&s, 2, &second))
        return false;
    if (!take_fraction(&s, &fraction) || !take_offset(&s, &offset) || s.n)
        return false;
    if (!is_date(year, month, day) || hour > 23 || minute > 59 || second > 60)
        return false;
    seconds =
        days_from_date(year, month, day) * DAY_S + hour * 3600 + minute * 60 + second - offset;
    return !__builtin_mul_overflow(seconds, FK_NS_PER_S, &seconds) &&
           !__builtin_add_overflow(seconds, fraction, ret);
}

static bool parse_unix(struct fk_str s, int64_t *ret)
{
    bool negative = take_char(&s, '-', '-');
    ptrdiff_t dot = fk_str_chr(s, '.');
    struct fk_str whole = dot < 0 ? s : fk_str_head(s, (size_t)dot);
    int64_t unit = whole.n <= 11   ? FK_NS_PER_S
                   : whole.n <= 14 ? FK_NS_PER_MS
                   : whole.n <= 17 ? FK_NS_PER_US
                                   : 1;
    int64_t value, fraction = 0;
    if (whole.n == 0 || whole.p[0] == '-' || fk_str_to_i64(whole, &value))
        return false;
    struct fk_str rest = fk_str_from(s, whole.n);
    if (rest.n && (!take_fraction(&rest, &fraction) || rest.n))
        return false;
    if (__builtin_mul_overflow(value, unit, &value) ||
        __builtin_add_overflow(value, fraction / (FK_NS_PER_S / unit), &value))
        return false;
    *ret = negative ? -value : value;
    return true;
}

static const struct {
    const char *name;
    int64_t ns;
} units[] = {
    {"ns", 1},
    {"us", FK_NS_PER_US},
    {"\xc2\xb5s", FK_NS_PER_US},
    {"ms", FK_NS_PER_MS},
    {"s", FK_NS_PER_S},
    {"m", 60 * FK_NS_PER_S},
    {"h", 3600 * FK_NS_PER_S},
    {"d", DAY_S *FK_NS_PER_S},
    {"w", 7 * DAY_S *FK_NS_PER_S},
};

// One "12.5h" off the front of *s, added to *total.
static bool take_part(struct fk_str *s, int64_t *total)
{
    size_t n = 0;
    while (n < s->n && s->p[n] >= '0' && s->p[n] <= '9')
        n++;
    uint64_t whole;
    int64_t fraction = 0;
    if (fk_str_to_u64(fk_str_head(*s, n), &whole) || whole > INT64_MAX)
        return false;
    *s = fk_str_from(*s, n);
    if (!take_fraction(s, &fraction))
        return false;
    size_t letters = 0;
    while (letters < s->n && (s->p[letters] < '0' || s->p[letters] > '9'))
        letters++;
    for (size_t i = 0; i < FK_COUNTOF(units); i++) {
        if (!fk_str_eq(fk_str_head(*s, letters), fk_str_of(units[i].name)))
            continue;
        int64_t part, rest = (int64_t)((fk_i128)fraction * units[i].ns / FK_NS_PER_S);
        *s = fk_str_from(*s, letters);
        return !__builtin_mul_overflow((int64_t)whole, units[i].ns, &part) &&
               !__builtin_add_overflow(part, rest, &part) &&
               !__builtin_add_overflow(*total, part, total);
    }
    return false;
}

int fk_duration_parse(struct fk_str s, int64_t *ret_ns, struct fk_err *err)
{
    struct fk_str rest = s;
    bool negative = take_char(&rest, '-', '-');
    int64_t total = 0;
    uint64_t bare;
    bool good = rest.n > 0;
    if (good && fk_str_to_u64(rest, &bare) == 0) {
        good = bare <= (uint64_t)(INT64_MAX / FK_NS_PER_S);
        total = good ? (int64_t)bare * FK_NS_PER_S : 0;
        rest.n = 0;
    }
    while (good && rest.n)
        good = take_part(&rest, &total);
    if (!good)
        return fk_fail(err, FK_E_INVALID,
                       "'%.*s' is not a duration; write it like 90s, 15m, 1h30m or 7d",
                       FK_STR_ARG(s));
    *ret_ns = negative ? -total : total;
    return 0;
}

int fk_time_parse(struct fk_str s, int64_t now_ns, int64_t *ret_ns, struct fk_err *err)
{
    int64_t value = 0;
    bool good;
    if (fk_str_starts(s, FK_S("now"))) {
        struct fk_str rest = fk_str_from(s, 3);
        bool minus = rest.n && rest.p[0] == '-';
        int64_t delta = 0;
        good = rest.n == 0 || (take_char(&rest, '-', '+') && rest.n && rest.p[0] != '-' &&
                               fk_duration_parse(rest, &delta, NULL) == 0);
        good = good && !__builtin_add_overflow(now_ns, minus ? -delta : delta, &value);
    } else {
        good = parse_unix(s, &value) || parse_rfc3339(s, &value);
    }
    if (!good)
        return fk_fail(err, FK_E_INVALID,
                       "'%.*s' is not a time; write RFC 3339 (2026-11-30T12:00:00Z), a Unix time "
                       "in s, ms, us or ns, or "
                       "now-15m",
                       FK_STR_ARG(s));
    *ret_ns = value;
    return 0;
}

void fk_duration_put(struct fk_buf *b, int64_t ns)
{
    static const size_t order[] = {6, 5, 4, 3, 1, 0}; // h m s ms us ns
    uint64_t rest = ns < 0 ? 0 - (uint64_t)ns : (uint64_t)ns;
    if (ns == 0)
        fk_buf_cstr(b, "0s");
    if (ns < 0)
        fk_buf_byte(b, '-');
    for (size_t i = 0; i < FK_COUNTOF(order) && rest; i++) {
        uint64_t unit = (uint64_t)units[order[i]].ns;
        if (rest < unit)
            continue;
        fk_buf_u64(b, rest / unit);
        fk_buf_cstr(b, units[order[i]].name);
        rest %= unit;
    }
}
