// SPDX-License-Identifier: Apache-2.0
// Heap profiles as text: gperftools and Go ("heap profile: ..."), its growth form, and jemalloc
// ("heap_v2/RATE"). Sampled ones are scaled up, entry by entry, as pprof and jeprof do.
#include "formats/legacy_int.h"

struct heap {
    struct fk_legacy *l;
    int64_t rate; // bytes between samples on average; <= 1: all are there
    bool allocs;  // there are also numbers of all that was ever allocated
    bool growth;
};

static int put_types(struct heap *h, struct fk_err *err)
{
    struct fk_stacks *s = &h->l->s;
    int rc = 0;
    if (h->allocs) {
        rc = fk_stacks_type(s, FK_S("alloc_objects"), FK_S("count"), err);
        if (!rc)
            rc = fk_stacks_type(s, FK_S("alloc_space"), FK_S("bytes"), err);
    }
    if (!rc)
        rc = fk_stacks_type(s, h->growth ? FK_S("growth_objects") : FK_S("inuse_objects"),
                            FK_S("count"), err);
    return rc ? rc
              : fk_stacks_type(s, h->growth ? FK_S("growth_space") : FK_S("inuse_space"),
                               FK_S("bytes"), err);
}

// v: live objects and bytes, allocated objects and bytes. Of equal size, Go tells entries apart.
static int put_entry(struct heap *h, const int64_t v[4], struct fk_err *err)
{
    int64_t live[2] = {v[0], v[1]}, all[2] = {v[2], v[3]}, values[4];
    uint32_t stack = 0;
    fk_legacy_unsample(&live[0], &live[1], h->rate);
    fk_legacy_unsample(&all[0], &all[1], h->rate);
    size_t n = 0;
    if (h->allocs) {
        values[n++] = all[0];
        values[n++] = all[1];
    }
    values[n++] = live[0];
    values[n++] = live[1];
    int rc = fk_legacy_stack(h->l, 1, &stack, err);
    return rc ? rc : fk_stacks_row(&h->l->s, stack, 0, values, FK_NO_TIME, err);
}

// "heap profile: N: B [N: B] @ KIND/RATE". Go writes twice its rate.
static bool read_header(struct heap *h, struct fk_str line)
{
    int64_t v[4];
    uint64_t rate = 0;
    if (!fk_take(&line, FK_S("heap profile:")) || !fk_legacy_heap_values(&line, v))
        return false;
    struct fk_str word = fk_word(&line);
    struct fk_str kind = fk_str_eq(word, FK_S("@")) ? fk_word(&line) : fk_str_from(word, 1);
    ptrdiff_t slash = fk_str_chr(kind, '/');
    if (slash >= 0 && fk_str_to_u64(fk_str_from(kind, (size_t)slash + 1), &rate))
        rate = 0;
    kind = fk_str_head(kind, slash < 0 ? kind.n : (size_t)slash);
    h->rate = (int64_t)FK_MIN(rate, (uint64_t)INT64_MAX);
    if (fk_str_eq(kind, FK_S("heap")))
        h->rate /= 2;
    else if (!fk_str_ends(kind, FK_S("_v2")))
        h->rate = 1;
    h->growth = fk_str_starts(kind, FK_S("growth"));
    h->allocs = (v[2] != v[0] && v[2]) || (v[3] != v[1] && v[3]);
    return true;
}

static int read_entries(struct heap *h, struct fk_lines *lines, struct fk_err *err)
{
    struct fk_str line;
    int rc = 0;
    while (!rc && fk_line_next(lines, &line)) {
        int64_t v[4];
        struct fk_str rest = line;
        if (fk_str_starts(line, FK_S("MAPPED_LIBRARIES")) ||
            fk_str_starts(line, FK_S("# runtime.MemStats")) ||
            fk_str_starts(line, FK_S("--- Memory")))
            break;
        if (line.n == 0 || line.p[0] == '#')
            continue;
        if (!fk_legacy_heap_values(&rest, v) || !fk_str_eq(fk_word(&rest), FK_S("@"))) {
            fk_report_drop(h->l->d->report, "line that is no entry of the heap profile", 1,
                           "line %llu: '%.*s'", (unsigned long long)lines->n,
                           FK_STR_ARG(fk_str_head(line, 60)));
            continue;
        }
        rc = fk_legacy_addresses(h->l, rest, err);
        if (!rc)
            rc = put_entry(h, v, err);
    }
    return rc;
}

int fk_legacy_heap(struct fk_legacy *l, struct fk_str text, struct fk_err *err)
{
    struct heap h = {.l = l};
    struct fk_lines lines = {text, 0};
    struct fk_str line = {"", 0};
    (void)fk_line_next(&lines, &line);
    if (!read_header(&h, line))
        return fk_fail(err, FK_E_FORMAT,
                       "heap profile: the first line is not 'heap profile: objects: "
                       "bytes [objects: bytes] @ kind/rate'");
    int rc = fk_legacy_scan(l, lines.rest, err);
    if (!rc)
        rc = put_types(&h, err);
    if (!rc)
        rc = read_entries(&h, &lines, err);
    return rc ? rc : fk_legacy_deliver(l, FK_S("space"), FK_S("bytes"), h.rate, NULL, err);
}

// ---- jemalloc ----

// "t*: live objects: bytes [ever objects: bytes]"; other threads' lines are parts of it.
static bool read_sum(struct fk_str line, int64_t v[4])
{
    struct fk_str s = fk_str_trim(line);
    return fk_take(&s, FK_S("t*:")) && fk_legacy_heap_values(&s, v);
}

static int read_jemalloc(struct heap *h, struct fk_lines *lines, struct fk_err *err)
{
    struct fk_str line;
    bool stack = false; // one was read: the totals of the head come before it
    int rc = 0;
    while (!rc && fk_line_next(lines, &line) && !fk_str_starts(line, FK_S("MAPPED_LIBRARIES"))) {
        int64_t v[4];
        if (fk_str_starts(line, FK_S("@"))) {
            stack = true;
            h->l->addr.n = 0;
            rc = fk_legacy_addresses(h->l, fk_str_from(line, 1), err);
        } else if (stack && read_sum(line, v)) {
            rc = put_entry(h, v, err);
        }
    }
    return rc;
}

static bool has_allocs(struct fk_str text)
{
    struct fk_lines lines = {text, 0};
    struct fk_str line;
    int64_t v[4];
    while (fk_line_next(&lines, &line) && !fk_str_starts(line, FK_S("MAPPED_LIBRARIES")))
        if (read_sum(line, v) && (v[2] || v[3]))
            return true;
    return false;
}

int fk_legacy_jemalloc(struct fk_legacy *l, struct fk_str text, struct fk_err *err)
{
    struct heap h = {.l = l};
    struct fk_lines lines = {text, 0};
    struct fk_str line = {"", 0};
    uint64_t rate = 0;
    (void)fk_line_next(&lines, &line);
    if (!fk_take(&line, FK_S("heap_v2/")) || !fk_take_u64(&line, &rate) || rate > INT64_MAX)
        return fk_fail(err, FK_E_FORMAT, "jemalloc: the first line is not 'heap_v2/' and the rate");
    h.rate = (int64_t)rate;
    h.allocs = has_allocs(lines.rest);
    int rc = fk_legacy_scan(l, lines.rest, err);
    if (!rc)
        rc = put_types(&h, err);
    if (!rc)
        rc = read_jemalloc(&h, &lines, err);
    return rc ? rc : fk_legacy_deliver(l, FK_S("space"), FK_S("bytes"), h.rate, NULL, err);
}

int fk_jemalloc_decode(const struct fk_decoding *d, struct fk_str bytes, struct fk_err *err)
{
    struct fk_legacy l;
    int rc = fk_legacy_begin(&l, d, err);
    if (!rc)
        rc = fk_legacy_jemalloc(&l, bytes, err);
    fk_legacy_end(&l);
    return rc;
}

bool fk_jemalloc_looks(struct fk_str head, bool whole)
{
    (void)whole;
    return fk_str_starts(head, FK_S("heap_v2/"));
}
