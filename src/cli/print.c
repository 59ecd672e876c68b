// SPDX-License-Identifier: Apache-2.0
// What people see: tables, numbers, errors.
#include "cli/cli_int.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <unistd.h>

int fk_cli_fail(const struct fk_err *err)
{
    fprintf(stderr, "flamekeep: %s\n", err->msg[0] ? err->msg : fk_error_name(err->code));
    return err->code == FK_E_NOTFOUND  ? FK_EXIT_NOTFOUND
           : err->code == FK_E_INVALID ? FK_EXIT_USAGE
                                       : FK_EXIT_FAILED;
}

bool fk_cli_is_terminal(FILE *to)
{
    return isatty(fileno(to));
}

bool fk_cli_colours(FILE *to)
{
    return fk_cli_is_terminal(to) && !getenv("NO_COLOR");
}

void fk_plain(char *to, size_t n, struct fk_str s)
{
    size_t used = 0;
    for (size_t i = 0; i < s.n && used + 1 < n; i++) {
        unsigned char c = (unsigned char)s.p[i];
        to[used++] = c < 0x20 || c == 0x7f ? '?' : (char)c;
    }
    to[used] = '\0';
}

static void human_scaled(char *to, size_t n, double v, double base, const char *const *units)
{
    size_t i = 0;
    while (fabs(v) >= base && units[i + 1]) {
        v /= base;
        i++;
    }
    snprintf(to, n,
             fabs(v) < 10 && i    ? "%.2f %s"
             : fabs(v) < 100 && i ? "%.1f %s"
                                  : "%.0f %s",
             v, units[i]);
}

void fk_human(char *to, size_t n, double value, struct fk_str unit)
{
    static const char *const bytes[] = {"B", "KiB", "MiB", "GiB", "TiB", NULL};
    static const char *const times[] = {"ns", "us", "ms", "s", NULL};
    static const char *const counts[] = {"", "k", "M", "G", NULL};
    if (fk_str_eq(unit, FK_S("bytes"))) {
        human_scaled(to, n, value, 1024, bytes);
    } else if (fk_str_eq(unit, FK_S("nanoseconds"))) {
        human_scaled(to, n, value, 1000, times);
    } else {
        human_scaled(to, n, value, 1000, counts);
        size_t end = strlen(to);
        while (end && to[end - 1] == ' ')
            to[--end] = '\0';
    }
}

// ---- tables ----

struct fk_table {
    const char *const *heads;
    size_t columns;
    FK_VEC(char *) cells;
};

struct fk_table *fk_table_new(const char *const *heads, size_t columns)
{
    struct fk_table *t = fk_calloc(1, sizeof(*t));
    if (t) {
        t->heads = heads;
        t->columns = columns;
    }
    return t;
}

int fk_table_cell(struct fk_table *t, const char *fmt, ...)
{
    char text[512];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof(text), fmt, ap);
    va_end(ap);
    char *copy = fk_strndup(text, strlen(text));
    if (!copy || fk_vec_push(&t->cells, copy)) {
        fk_free(copy);
        return -FK_E_NOMEM;
    }
    return 0;
}

// Characters, not bytes: UTF-8 continuation bytes take no room.
static size_t width_of(const char *s)
{
    size_t n = 0;
    for (; *s; s++)
        n += ((unsigned char)*s & 0xc0) != 0x80;
    return n;
}

static void put_cell(FILE *to, const char *text, size_t width, bool right, bool last)
{
    size_t have = width_of(text), pad = have < width ? width - have : 0;
    if (right)
        fprintf(to, "%*s%s", (int)pad, "", text);
    else if (last)
        fprintf(to, "%s", text);
    else
        fprintf(to, "%s%*s", text, (int)pad, "");
    fprintf(to, "%s", last ? "\n" : "  ");
}

void fk_table_print(struct fk_table *t, FILE *to)
{
    size_t width[16] = {0};
    for (size_t c = 0; c < t->columns; c++) {
        bool right = t->heads[c][0] == '>';
        width[c] = width_of(t->heads[c] + right);
        for (size_t i = c; i < t->cells.n; i += t->columns)
            width[c] = FK_MAX(width[c], width_of(t->cells.v[i]));
    }
    for (size_t c = 0; c < t->columns; c++) {
        bool right = t->heads[c][0] == '>';
        put_cell(to, t->heads[c] + right, width[c], right, c + 1 == t->columns);
    }
    for (size_t i = 0; i < t->cells.n; i++) {
        size_t c = i % t->columns;
        put_cell(to, t->cells.v[i], width[c], t->heads[c][0] == '>', c + 1 == t->columns);
    }
}

void fk_table_free(struct fk_table *t)
{
    if (!t)
        return;
    for (size_t i = 0; i < t->cells.n; i++)
        fk_free(t->cells.v[i]);
    fk_vec_free(&t->cells);
    fk_free(t);
}
