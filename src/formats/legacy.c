// SPDX-License-Identifier: Apache-2.0
// Stacks of addresses: their mappings, their symbols, their locations.
#include "formats/legacy_int.h"

#include <math.h>
#include <stdlib.h>

#define OVERLAPS 64

int fk_legacy_begin(struct fk_legacy *l, const struct fk_decoding *d, struct fk_err *err)
{
    memset(l, 0, sizeof(*l));
    l->d = d;
    return fk_stacks_begin(&l->s, d, err);
}

void fk_legacy_end(struct fk_legacy *l)
{
    fk_stacks_end(&l->s);
    fk_vec_free(&l->region);
    fk_vec_free(&l->symbol);
    fk_vec_free(&l->addr);
    fk_vec_free(&l->located);
    fk_vec_free(&l->location);
    fk_map_free(&l->symbols);
    fk_map_free(&l->locations);
}

// ---- mappings: "start-limit r-xp offset dev inode file", or "start-limit: file" ----

static bool read_range(struct fk_str word, struct fk_legacy_region *r, bool *ret_brief)
{
    ptrdiff_t dash = fk_str_chr(word, '-');
    *ret_brief = word.n && word.p[word.n - 1] == ':';
    if (dash < 4)
        return false;
    struct fk_str limit = fk_str_from(fk_str_head(word, word.n - *ret_brief), (size_t)dash + 1);
    return fk_hex(fk_str_head(word, (size_t)dash), &r->start) && fk_hex(limit, &r->limit) &&
           r->limit > r->start;
}

static bool read_region(struct fk_str line, struct fk_legacy_region *r)
{
    bool brief;
    r->offset = 0;
    if (!read_range(fk_word(&line), r, &brief))
        return false;
    if (!brief) {
        struct fk_str perms = fk_word(&line);
        if (perms.n < 4 || fk_str_chr(perms, 'x') < 0 || !fk_hex(fk_word(&line), &r->offset))
            return false;
        (void)fk_word(&line);
        (void)fk_word(&line);
    }
    r->file = fk_str_trim(line);
    return true;
}

static int put_region(struct fk_legacy *l, struct fk_legacy_region *r, struct fk_err *err)
{
    struct fk_placement place = {.start = r->start, .limit = r->limit};
    int rc = fk_stacks_mapping(&l->s, r->file, place, r->offset, &r->mapping, err);
    if (rc)
        return rc;
    return fk_vec_push(&l->region, *r) ? fk_decoding_nomem(l->d, err) : 0;
}

// ---- symbols ----

int fk_legacy_symbol_add(struct fk_legacy *l, const struct fk_legacy_symbol *s, struct fk_err *err)
{
    uint64_t h = fk_hash_u64(s->address);
    size_t n = l->symbol.n;
    bool inlined = n && l->symbol.v[n - 1].address == s->address;
    for (uint32_t at = fk_map_first(&l->symbols, h); at != FK_NONE && !inlined;
         at = fk_map_next(&l->symbols, h, at))
        if (l->symbol.v[fk_map_id(&l->symbols, at)].address == s->address)
            return 0; // said before
    if (!inlined && fk_map_add(&l->symbols, h, (uint32_t)n))
        return fk_decoding_nomem(l->d, err);
    // The same again, directly below: another row of one frame.
    if (inlined && fk_str_eq(l->symbol.v[n - 1].name, s->name))
        return 0;
    return fk_vec_push(&l->symbol, *s) ? fk_decoding_nomem(l->d, err) : 0;
}

// "path:123" in parts.
static void split_place(struct fk_str s, struct fk_legacy_symbol *to)
{
    ptrdiff_t colon = fk_str_rchr(s, ':');
    uint64_t line;
    struct fk_str number = fk_str_from(s, (size_t)(colon + 1));
    to->file = s;
    if (colon > 0 && fk_str_to_u64(number, &line) == 0 && line < INT32_MAX) {
        to->file = fk_str_head(s, (size_t)colon);
        to->line = (int64_t)line;
    }
}

// Go: "#\t0x4b985e\tmain.main.func2+0x1e\t/srv/g.go:25".
static bool read_go_symbol(struct fk_str line, struct fk_legacy_symbol *s)
{
    if (!fk_take(&line, FK_S("#")))
        return false;
    struct fk_str word = fk_word(&line);
    line = fk_str_trim(line);
    ptrdiff_t tab = fk_str_chr(line, '\t');
    if (!fk_str_starts(word, FK_S("0x")) || !fk_hex(word, &s->address) || !line.n)
        return false;
    s->name = tab < 0 ? line : fk_str_head(line, (size_t)tab);
    if (tab >= 0)
        split_place(fk_str_trim(fk_str_from(line, (size_t)tab)), s);
    ptrdiff_t plus = fk_str_rchr(s->name, '+');
    if (plus > 0 && fk_str_starts(fk_str_from(s->name, (size_t)plus), FK_S("+0x")))
        s->name = fk_str_head(s->name, (size_t)plus);
    return s->name.n > 0;
}

// Java: "0x00003 com.example.f (source.java:03)"; threadz: "0x40be31: main", perhaps after "PC:".
static bool read_symbol(struct fk_str line, bool java, struct fk_legacy_symbol *s)
{
    line = fk_str_trim(line);
    if (fk_take(&line, FK_S("PC:")))
        line = fk_str_trim(line);
    struct fk_str word = fk_word(&line);
    bool colon = word.n && word.p[word.n - 1] == ':';
    word.n -= colon;
    s->name = fk_str_trim(line);
    if (!fk_str_starts(word, FK_S("0x")) || !fk_hex(word, &s->address) || colon == java ||
        !s->name.n)
        return false;
    ptrdiff_t place = fk_str_rchr(s->name, '(');
    if (java && place > 0 && s->name.p[s->name.n - 1] == ')') {
        struct fk_str inside =
            fk_str_head(fk_str_from(s->name, (size_t)place + 1), s->name.n - (size_t)place - 2);
        split_place(inside, s);
        s->name = fk_str_trim(fk_str_head(s->name, (size_t)place));
    }
    return s->name.n > 0;
}

int fk_legacy_scan(struct fk_legacy *l, struct fk_str text, struct fk_err *err)
{
    struct fk_lines lines = {text, 0};
    struct fk_str line;
    int rc = 0;
    while (!rc && fk_line_next(&lines, &line)) {
        struct fk_legacy_symbol s = {0};
        struct fk_legacy_region r;
        if (read_go_symbol(line, &s) || read_symbol(line, l->ids, &s))
            rc = fk_legacy_symbol_add(l, &s, err);
        else if (read_region(line, &r))
            rc = put_region(l, &r, err);
    }
    return rc;
}

// ---- stacks ----

static uint32_t symbol_of(const struct fk_legacy *l, uint64_t address)
{
    uint64_t h = fk_hash_u64(address);
    for (uint32_t at = fk_map_first(&l->symbols, h); at != FK_NONE;
         at = fk_map_next(&l->symbols, h, at))
        if (l->symbol.v[fk_map_id(&l->symbols, at)].address == address)
            return fk_map_id(&l->symbols, at);
    return FK_NONE;
}

static int by_start(const void *pa, const void *pb)
{
    const struct fk_legacy_region *a = pa, *b = pb;
    if (a->start != b->start)
        return a->start < b->start ? -1 : 1;
    return a->mapping < b->mapping ? -1 : a->mapping > b->mapping;
}

// The region around the address, the one that the file names first. Regions do not overlap but in
// lists that say them twice: it is among the few that start nearest below.
static const struct fk_legacy_region *region_of(struct fk_legacy *l, uint64_t address)
{
    const struct fk_legacy_region *best = NULL;
    size_t low = 0, high = l->region.n;
    if (l->sorted != l->region.n)
        qsort(l->region.v, l->region.n, sizeof(*l->region.v), by_start);
    l->sorted = l->region.n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (l->region.v[middle].start <= address)
            low = middle + 1;
        else
            high = middle;
    }
    for (size_t i = low; i > 0 && low - i < OVERLAPS; i--) {
        const struct fk_legacy_region *r = &l->region.v[i - 1];
        if (address < r->limit && (!best || r->mapping < best->mapping))
            best = r;
    }
    return best;
}

// A symbol is said of the address as written or of one less.
static int make_location(struct fk_legacy *l, uint64_t address, uint64_t less, uint32_t *ret,
                         struct fk_err *err)
{
    struct fk_named f[16] = {0};
    uint32_t n = 0, first = symbol_of(l, address - less);
    if (first == FK_NONE)
        first = symbol_of(l, address);
    for (uint32_t i = first; i != FK_NONE && i < l->symbol.n && n < FK_COUNTOF(f) &&
                             l->symbol.v[i].address == l->symbol.v[first].address;
         i++)
        f[n++] = (struct fk_named){
            .name = l->symbol.v[i].name, .file = l->symbol.v[i].file, .line = l->symbol.v[i].line};
    f[0].address = address - less;
    const struct fk_legacy_region *r = region_of(l, f[0].address);
    if (r) {
        f[0].mapping = &r->mapping;
        f[0].address = f[0].address - r->start + r->offset;
    }
    return fk_stacks_inlined(&l->s, f, FK_MAX(n, 1u), ret, err);
}

static int locate(struct fk_legacy *l, uint64_t address, uint64_t less, uint32_t *ret,
                  struct fk_err *err)
{
    uint64_t h = fk_hash_u64(address - less);
    for (uint32_t at = fk_map_first(&l->locations, h); at != FK_NONE;
         at = fk_map_next(&l->locations, h, at))
        if (l->located.v[fk_map_id(&l->locations, at)] == address - less) {
            *ret = l->location.v[fk_map_id(&l->locations, at)];
            return 0;
        }
    int rc = make_location(l, address, less, ret, err);
    if (rc)
        return rc;
    if (fk_map_add(&l->locations, h, (uint32_t)l->located.n) ||
        fk_vec_push(&l->located, address - less) || fk_vec_push(&l->location, *ret))
        return fk_decoding_nomem(l->d, err);
    return 0;
}

int fk_legacy_addresses(struct fk_legacy *l, struct fk_str s, struct fk_err *err)
{
    uint64_t address;
    while (fk_hex(fk_word(&s), &address))
        if (fk_vec_push(&l->addr, address))
            return fk_decoding_nomem(l->d, err);
    return 0;
}

int fk_legacy_stack(struct fk_legacy *l, uint64_t leaf, uint32_t *ret, struct fk_err *err)
{
    uint64_t most = l->d->opts->limits->stack_depth + 1;
    size_t n = l->addr.n;
    l->addr.n = 0;
    for (size_t i = 0; i < n && i < most; i++) {
        uint32_t location;
        int rc = locate(l, l->addr.v[i], l->ids ? 0 : i ? 1 : leaf, &location, err);
        if (!rc)
            rc = fk_stacks_push(&l->s, location, err);
        if (rc)
            return rc;
    }
    return fk_stacks_close(&l->s, ret, err);
}

// ---- values ----

static int64_t to_i64(double d)
{
    return d > -0x1p63 && d < 0x1p63 ? (int64_t)d : INT64_MAX;
}

void fk_legacy_unsample(int64_t *count, int64_t *bytes, int64_t rate)
{
    if (*count == 0 || *bytes == 0) {
        *count = *bytes = 0;
        return;
    }
    if (rate <= 1)
        return;
    double each = (double)*bytes / (double)*count;
    double scale = 1 / (1 - exp(-each / (double)rate));
    *count = to_i64((double)*count * scale);
    *bytes = to_i64((double)*bytes * scale);
}

// Blanks, digits (perhaps a minus), and what ends the number.
static bool take_number(struct fk_str *rest, char end, int64_t *ret)
{
    struct fk_str s = *rest;
    size_t n = 0;
    while (s.n && s.p[0] == ' ')
        s = fk_str_from(s, 1);
    while (n < s.n && ((s.p[n] >= '0' && s.p[n] <= '9') || (n == 0 && s.p[n] == '-')))
        n++;
    if (fk_str_to_i64(fk_str_head(s, n), ret))
        return false;
    s = fk_str_from(s, n);
    while (s.n && s.p[0] == ' ')
        s = fk_str_from(s, 1);
    if (!s.n || s.p[0] != end)
        return false;
    *rest = fk_str_from(s, 1);
    return true;
}

bool fk_legacy_heap_values(struct fk_str *rest, int64_t v[4])
{
    struct fk_str s = *rest;
    if (!take_number(&s, ':', &v[0]) || !take_number(&s, '[', &v[1]) ||
        !take_number(&s, ':', &v[2]) || !take_number(&s, ']', &v[3]))
        return false;
    *rest = s;
    return true;
}

int fk_legacy_deliver(struct fk_legacy *l, struct fk_str period_type, struct fk_str period_unit,
                      int64_t period, const struct fk_label *label, struct fk_err *err)
{
    struct fk_profile p;
    struct fk_label copy = label ? *label : (struct fk_label){0};
    struct fk_labels labels = {&copy, label ? 1 : 0};
    int rc = fk_stacks_finish(&l->s, &p, err);
    if (rc)
        return rc;
    if (period)
        fk_profile_period(&p, period_type, period_unit, period);
    return fk_decoding_deliver_labelled(l->d, &p, &labels, err);
}
