// SPDX-License-Identifier: Apache-2.0
// Counting what was dropped and why.
#include "formats/formats.h"

#include <stdarg.h>
#include <stdio.h>

static void note(struct fk_report *r, bool dropped, const char *reason, uint64_t count,
                 const char *fmt, va_list ap) FK_PRINTF(5, 0);
static void note(struct fk_report *r, bool dropped, const char *reason, uint64_t count,
                 const char *fmt, va_list ap)
{
    if (!r || !count)
        return;
    for (uint32_t i = 0; i < r->n; i++)
        if (r->item[i].dropped == dropped && strcmp(r->item[i].reason, reason) == 0) {
            r->item[i].count += count;
            return;
        }
    if (r->n == FK_REPORT_ITEMS) {
        r->item[r->n - 1].count += count;
        return;
    }
    struct fk_report_item *item = &r->item[r->n++];
    *item = (struct fk_report_item){.reason = reason, .dropped = dropped, .count = count};
    vsnprintf(item->detail, sizeof(item->detail), fmt, ap);
}

void fk_report_drop(struct fk_report *r, const char *reason, uint64_t count, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    note(r, true, reason, count, fmt, ap);
    va_end(ap);
}

void fk_report_warn(struct fk_report *r, const char *reason, uint64_t count, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    note(r, false, reason, count, fmt, ap);
    va_end(ap);
}

uint64_t fk_report_dropped(const struct fk_report *r)
{
    uint64_t n = 0;
    for (uint32_t i = 0; i < r->n; i++)
        n += r->item[i].dropped ? r->item[i].count : 0;
    return n;
}
