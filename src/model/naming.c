// SPDX-License-Identifier: Apache-2.0
// Names: kinds of values, the name of a profile, and profile type ids (api.md "Name of the
// profile").
#include "model/model.h"

const char *fk_kind_name(enum fk_kind k)
{
    switch (k) {
    case FK_KIND_CUMULATIVE:
        return "cumulative";
    case FK_KIND_DELTA:
        return "delta";
    case FK_KIND_INSTANT:
        return "instant";
    case FK_KIND_UNKNOWN:
        break;
    }
    return "unknown";
}

static bool is_gauge(struct fk_str type)
{
    static const char *const names[] = {"goroutine", "goroutines", "threadcreate", "live",
                                        "live_objects"};
    if (fk_str_starts(type, FK_S("inuse_")))
        return true;
    for (size_t i = 0; i < FK_COUNTOF(names); i++)
        if (fk_str_eq(type, fk_str_of(names[i])))
            return true;
    return false;
}

static bool is_counter_without_duration(struct fk_str type)
{
    return fk_str_starts(type, FK_S("alloc_")) || fk_str_eq(type, FK_S("contentions")) ||
           fk_str_eq(type, FK_S("delay"));
}

enum fk_kind fk_kind_of(struct fk_str type, bool has_duration, bool is_delta)
{
    if (is_gauge(type))
        return FK_KIND_INSTANT;
    if (!has_duration && !is_delta && is_counter_without_duration(type))
        return FK_KIND_CUMULATIVE;
    return FK_KIND_DELTA;
}

static bool has_type(const struct fk_profile *p, struct fk_str name, bool prefix)
{
    for (uint32_t i = 0; i < p->n_types; i++)
        if (prefix ? fk_str_starts(p->type[i].type, name) : fk_str_eq(p->type[i].type, name))
            return true;
    return false;
}

// Whether the file itself says "mutex" (or "block"): a comment or its default sample type.
static bool file_says(const struct fk_profile *p, struct fk_str word)
{
    if (fk_str_find(p->default_type, word) >= 0)
        return true;
    for (uint32_t i = 0; i < p->n_comments; i++)
        if (fk_str_find(p->comment[i], word) >= 0)
            return true;
    return false;
}

struct fk_str fk_profile_name(const struct fk_profile *p)
{
    if (has_type(p, FK_S("wall"), false))
        return FK_S("wall");
    if (has_type(p, FK_S("cpu"), false) || has_type(p, FK_S("samples"), false))
        return FK_S("process_cpu");
    if (has_type(p, FK_S("alloc_"), true) || has_type(p, FK_S("inuse_"), true))
        return FK_S("memory");
    if (has_type(p, FK_S("goroutine"), false) || has_type(p, FK_S("goroutines"), false))
        return FK_S("goroutine");
    if (has_type(p, FK_S("contentions"), false) || has_type(p, FK_S("delay"), false))
        return file_says(p, FK_S("mutex"))   ? FK_S("mutex")
               : file_says(p, FK_S("block")) ? FK_S("block")
                                             : FK_S("contention");
    if (p->n_types && p->type[0].type.n)
        return p->type[0].type;
    return FK_S("unknown");
}

static void put_part(struct fk_buf *b, struct fk_str s, const char *when_empty)
{
    if (s.n)
        fk_buf_str(b, s);
    else
        fk_buf_cstr(b, when_empty);
}

void fk_type_id_put(struct fk_buf *b, struct fk_str name, struct fk_str type, struct fk_str unit,
                    struct fk_str period_type, struct fk_str period_unit)
{
    put_part(b, name, "unknown");
    fk_buf_byte(b, ':');
    put_part(b, type, "unknown");
    fk_buf_byte(b, ':');
    put_part(b, unit, "count");
    fk_buf_byte(b, ':');
    put_part(b, period_type, "");
    fk_buf_byte(b, ':');
    put_part(b, period_unit, "");
}

int fk_type_id_parse(struct fk_str s, struct fk_type_id *ret, struct fk_err *err)
{
    struct fk_str part[4], rest = s; // from the right: period unit, period type, unit, type
    for (size_t i = 0; i < FK_COUNTOF(part); i++) {
        ptrdiff_t at = fk_str_rchr(rest, ':');
        if (at < 0)
            return fk_fail(
                err, FK_E_INVALID,
                "'%.*s' is not a profile type id; it has five parts, like "
                "process_cpu:cpu:nanoseconds:cpu:nanoseconds (GET /api/v1/types lists them)",
                FK_STR_ARG(fk_str_head(s, 100)));
        part[i] = fk_str_from(rest, (size_t)at + 1);
        rest = fk_str_head(rest, (size_t)at);
    }
    *ret = (struct fk_type_id){.name = rest,
                               .type = part[3],
                               .unit = part[2],
                               .period_type = part[1],
                               .period_unit = part[0]};
    return 0;
}
