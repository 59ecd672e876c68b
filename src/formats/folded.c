// SPDX-License-Identifier: Apache-2.0
// Folded stacks in: "root;...;leaf count" lines, one row a line, never merged. UTF-8, any other
// bytes, or UTF-16 with a byte order mark; LF or CRLF; counts may be negative or fractional (cut to
// integers and counted); when every line has two numbers it is the output of difffolded.pl: the
// first becomes a column of its own. Lines that are none are dropped and counted.
#include "formats/formats_int.h"

struct line {
    struct fk_str stack;
    int64_t count, before; // before: first column of a two-column file
    bool fraction, two, before_fraction;
};

struct folded {
    const struct fk_decoding *d;
    struct fk_str text;
    uint64_t n, bad, two, fractions, cut; // lines
    uint64_t nameless;                    // frames
    uint64_t frames;                      // upper bound of frames

    struct fk_map index; // name -> position
    struct fk_str *name;
    size_t n_names, names_cap;
    uint32_t *stack_begin, *frame, *stack;
    int64_t *value[2];
    uint64_t row, n_frames;
};

// ---- text
// ----------------------------------------------------------------------------------------------------------

static char *put_utf8(char *to, uint32_t c)
{
    if (c < 0x80) {
        *to++ = (char)c;
        return to;
    }
    int more = c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
    static const uint8_t lead[] = {0, 0xc0, 0xe0, 0xf0};
    *to++ = (char)(lead[more] | c >> (6 * more));
    while (more--)
        *to++ = (char)(0x80 | (c >> (6 * more) & 63));
    return to;
}

static uint32_t unit16(struct fk_str s, size_t at, bool big)
{
    uint8_t a = (uint8_t)s.p[at], b = (uint8_t)s.p[at + 1];
    return big ? (uint32_t)a << 8 | b : (uint32_t)b << 8 | a;
}

static int from_utf16(struct folded *f, struct fk_str s, bool big, struct fk_err *err)
{
    size_t room;
    char *to = fk_mul_size(s.n / 2 + 1, 3, &room) ? NULL : fk_arena_alloc(f->d->arena, room);
    if (!to)
        return fk_decoding_nomem(f->d, err);
    char *at = to;
    for (size_t i = 0; i + 2 <= s.n; i += 2) {
        uint32_t c = unit16(s, i, big);
        if (c >= 0xd800 && c < 0xdc00 && i + 4 <= s.n) {
            uint32_t low = unit16(s, i + 2, big);
            if (low >= 0xdc00 && low < 0xe000) {
                c = 0x10000 + ((c - 0xd800) << 10) + (low - 0xdc00);
                i += 2;
            }
        }
        at = put_utf8(at, c >= 0xd800 && c < 0xe000 ? 0xfffd : c);
    }
    f->text = fk_str_make(to, (size_t)(at - to));
    return 0;
}

static int to_utf8(struct folded *f, struct fk_str s, struct fk_err *err)
{
    if (fk_str_starts(s, FK_S("\xff\xfe")) || fk_str_starts(s, FK_S("\xfe\xff")))
        return from_utf16(f, fk_str_from(s, 2), (uint8_t)s.p[0] == 0xfe, err);
    f->text = fk_str_from(s, fk_str_starts(s, FK_S("\xef\xbb\xbf")) ? 3 : 0);
    return 0;
}

// ---- lines
// ---------------------------------------------------------------------------------------------------------

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

// Digits with at most one point, perhaps a minus; at least one digit.
static bool read_count(struct fk_str s, int64_t *ret, bool *ret_fraction)
{
    bool minus = s.n && s.p[0] == '-', fraction = false;
    struct fk_str whole = fk_str_from(s, minus), rest = {NULL, 0};
    ptrdiff_t point = fk_str_chr(whole, '.');
    if (point >= 0) {
        rest = fk_str_from(whole, (size_t)point + 1);
        whole = fk_str_head(whole, (size_t)point);
    }
    if (whole.n + rest.n == 0)
        return false;
    for (size_t i = 0; i < rest.n; i++) {
        if (rest.p[i] < '0' || rest.p[i] > '9')
            return false;
        fraction |= rest.p[i] != '0';
    }
    int64_t v = 0;
    if (whole.n && (whole.p[0] == '-' ||
                    fk_str_to_i64(minus ? fk_str_make(whole.p - 1, whole.n + 1) : whole, &v)))
        return false;
    *ret = v;
    *ret_fraction = fraction;
    return true;
}

// Cuts the last blank-separated word, a count, off *s.
static bool cut_count(struct fk_str *s, int64_t *ret, bool *ret_fraction)
{
    size_t end = s->n, begin, stack;
    while (end && is_blank(s->p[end - 1]))
        end--;
    for (begin = end; begin && !is_blank(s->p[begin - 1]);)
        begin--;
    for (stack = begin; stack && is_blank(s->p[stack - 1]);)
        stack--;
    if (stack == 0 || !read_count(fk_str_make(s->p + begin, end - begin), ret, ret_fraction))
        return false;
    s->n = stack;
    return fk_str_trim(fk_str_from(*s, stack - 1)).n == 1; // ends in no other white space
}

enum kind { LINE_BLANK, LINE_BAD, LINE_GOOD };

static enum kind read_line(struct fk_str s, struct line *l)
{
    while (s.n && s.p[s.n - 1] == '\r')
        s.n--;
    if (fk_str_trim(s).n == 0)
        return LINE_BLANK;
    if (!cut_count(&s, &l->count, &l->fraction))
        return LINE_BAD;
    l->stack = s;
    int64_t before;
    l->two = cut_count(&s, &before, &l->before_fraction) && before >= 0;
    l->before = l->two ? before : 0;
    return LINE_GOOD;
}

static size_t count_frames(struct fk_str stack)
{
    size_t n = 1;
    for (size_t i = 0; i < stack.n; i++)
        n += stack.p[i] == ';';
    return n;
}

static void survey(struct folded *f)
{
    struct fk_str rest = f->text, s;
    struct line l;
    while (fk_str_split(&rest, '\n', &s)) {
        enum kind k = read_line(s, &l);
        if (k == LINE_GOOD) {
            f->n++;
            f->two += l.two;
            f->fractions += l.fraction;
            f->frames += count_frames(l.stack);
        } else if (k == LINE_BAD) {
            fk_report_drop(f->d->report, "line that is not 'stack count'", 1, "'%.*s'",
                           FK_STR_ARG(fk_str_head(s, 80)));
            f->bad++;
        }
    }
}

// ---- columns
// -------------------------------------------------------------------------------------------------------

static int name_id(struct folded *f, struct fk_str s, uint32_t *ret)
{
    uint64_t h = fk_hash_str(s);
    for (uint32_t at = fk_map_first(&f->index, h); at != FK_NONE;
         at = fk_map_next(&f->index, h, at))
        if (fk_str_eq(f->name[fk_map_id(&f->index, at)], s)) {
            *ret = fk_map_id(&f->index, at);
            return 0;
        }
    struct fk_str *names = fk_arena_grow(f->d->arena, f->name, f->n_names, &f->names_cap,
                                         f->n_names + 1, sizeof(*names));
    if (!names || fk_map_add(&f->index, h, (uint32_t)f->n_names))
        return -FK_E_NOMEM;
    f->name = names;
    names[f->n_names] = s;
    *ret = (uint32_t)f->n_names++;
    return 0;
}

// Leaf first; of too deep a stack the leaf's end is kept.
static int add_stack(struct folded *f, struct fk_str stack)
{
    uint64_t depth = f->d->opts->limits->stack_depth;
    for (uint64_t n = 0;; n++) {
        ptrdiff_t at = fk_str_rchr(stack, ';');
        if (n == depth) {
            f->cut++;
            return 0;
        }
        struct fk_str name = fk_str_from(stack, (size_t)(at + 1));
        f->nameless += name.n == 0;
        if (name_id(f, name.n ? name : FK_S("[unknown]"), &f->frame[f->n_frames]))
            return -FK_E_NOMEM;
        f->n_frames++;
        if (at < 0)
            return 0;
        stack = fk_str_head(stack, (size_t)at);
    }
}

static int add_row(struct folded *f, const struct line *l, bool two)
{
    struct fk_str stack = l->stack;
    if (two) {
        int64_t before;
        bool fraction;
        (void)cut_count(&stack, &before, &fraction);
        f->value[1][f->row] = l->before;
    }
    f->value[0][f->row] = l->count;
    f->stack[f->row] = (uint32_t)f->row;
    if (add_stack(f, stack))
        return -FK_E_NOMEM;
    f->stack_begin[++f->row] = (uint32_t)f->n_frames;
    return 0;
}

static int alloc_columns(struct folded *f, struct fk_err *err)
{
    const struct fk_decode_opts *o = f->d->opts;
    if (f->n > o->max_rows || f->n >= FK_NONE || f->frames >= FK_NONE)
        return fk_fail_limit(err, "samples", o->max_rows, o->rows_flag,
                             "the folded profile has %llu lines", (unsigned long long)f->n);
    struct fk_arena *a = f->d->arena;
    f->stack = fk_arena_array(a, f->n + 1, sizeof(*f->stack));
    f->stack_begin = fk_arena_array(a, f->n + 1, sizeof(*f->stack_begin));
    f->frame = fk_arena_array(a, f->frames + 1, sizeof(*f->frame));
    f->value[0] = fk_arena_array(a, f->n + 1, sizeof(int64_t));
    f->value[1] = fk_arena_array(a, f->n + 1, sizeof(int64_t));
    if (!f->stack || !f->stack_begin || !f->frame || !f->value[0] || !f->value[1])
        return fk_decoding_nomem(f->d, err);
    f->stack_begin[0] = 0;
    return 0;
}

static int read_rows(struct folded *f, bool two, struct fk_err *err)
{
    struct fk_str rest = f->text, s;
    struct line l;
    while (fk_str_split(&rest, '\n', &s))
        if (read_line(s, &l) == LINE_GOOD) {
            f->fractions += two && l.before_fraction && !l.fraction;
            if (add_row(f, &l, two))
                return fk_decoding_nomem(f->d, err);
        }
    return 0;
}

// ---- profile
// -------------------------------------------------------------------------------------------------------

// Name i is string i + 1, function i and location i.
static int put_symbols(struct folded *f, struct fk_symbols *s, struct fk_err *err)
{
    static const uint32_t no_sets[2] = {0, 0};
    struct fk_arena *a = f->d->arena;
    uint32_t n = (uint32_t)f->n_names;
    struct fk_str *string = fk_arena_array(a, (size_t)n + 1, sizeof(*string));
    struct fk_function *function = fk_arena_array(a, (size_t)n + 1, sizeof(*function));
    struct fk_line *line = fk_arena_array(a, (size_t)n + 1, sizeof(*line));
    struct fk_location *location = fk_arena_array(a, (size_t)n + 1, sizeof(*location));
    if (!string || !function || !line || !location)
        return fk_decoding_nomem(f->d, err);
    string[0] = FK_S("");
    for (uint32_t i = 0; i < n; i++) {
        string[i + 1] = f->name[i];
        function[i] = (struct fk_function){.name = i + 1};
        line[i] = (struct fk_line){.function = i};
        location[i] = (struct fk_location){.mapping = FK_NONE, .line_begin = i, .line_count = 1};
    }
    *s = (struct fk_symbols){
        .n_strings = n + 1,
        .n_functions = n,
        .n_lines = n,
        .n_locations = n,
        .n_stacks = (uint32_t)f->row,
        .n_sets = 1,
        .string = string,
        .function = function,
        .line = line,
        .location = location,
        .stack_begin = f->stack_begin,
        .frame = f->frame,
        .set_begin = no_sets,
    };
    return 0;
}

static struct fk_value_type type_of(struct fk_str type, struct fk_str unit, bool is_delta)
{
    return (struct fk_value_type){type, unit, fk_kind_of(type, false, is_delta)};
}

// The second column: what was before (difffolded), or the time that the counts stand for.
static uint32_t put_types(struct folded *f, bool two, struct fk_value_type *type,
                          struct fk_profile *p)
{
    const struct fk_decode_opts *o = f->d->opts;
    type[0] = type_of(o->type.n ? o->type : FK_S("samples"), o->type.n ? o->unit : FK_S("count"),
                      o->is_delta);
    if (two) {
        type[1] = type_of(FK_S("samples_before"), type[0].unit, o->is_delta);
        return 2;
    }
    if (o->sample_rate == 0 || o->sample_rate > (uint64_t)FK_NS_PER_S)
        return 1;
    p->period = FK_NS_PER_S / (int64_t)o->sample_rate;
    p->period_type = FK_S("cpu"); // of wall clock profiles too: what clients of Pyroscope ask for
    p->period_unit = FK_S("nanoseconds");
    p->has_period_type = true;
    type[1] =
        type_of(o->time_type.n ? o->time_type : FK_S("cpu"), FK_S("nanoseconds"), o->is_delta);
    for (uint64_t r = 0; r < f->row; r++)
        f->value[1][r] = (int64_t)((uint64_t)f->value[0][r] * (uint64_t)p->period);
    return 2;
}

static int put_profile(struct folded *f, bool two, struct fk_err *err)
{
    struct fk_arena *a = f->d->arena;
    struct fk_profile *p = fk_arena_zalloc(a, sizeof(*p));
    struct fk_value_type *type = fk_arena_array(a, 2, sizeof(*type));
    const int64_t **value = fk_arena_array(a, 2, sizeof(*value));
    if (!p || !type || !value)
        return fk_decoding_nomem(f->d, err);
    int rc = put_symbols(f, &p->sym, err);
    if (rc)
        return rc;
    p->n_types = put_types(f, two, type, p);
    p->type = type;
    p->n_rows = p->n_obs = f->row;
    p->stack = f->stack;
    value[0] = f->value[0];
    value[1] = f->value[1];
    p->value = value;
    p->truncated = f->cut != 0;
    fk_report_warn(f->d->report, "fractional count cut to an integer", f->fractions,
                   "of %llu lines", (unsigned long long)f->n);
    fk_report_warn(f->d->report, "frame without a name, read as [unknown]", f->nameless,
                   "of %zu names", f->n_names);
    fk_report_warn(f->d->report, "stack cut at the depth limit", f->cut, "%llu frames, set by %s",
                   (unsigned long long)f->d->opts->limits->stack_depth, FK_LIMIT_FLAG(stack_depth));
    return fk_decoding_deliver(f->d, p, err);
}

int fk_folded_decode(const struct fk_decoding *d, struct fk_str bytes, struct fk_err *err)
{
    struct folded f = {.d = d};
    int rc = to_utf8(&f, bytes, err);
    if (rc)
        return rc;
    survey(&f);
    if (f.n == 0)
        return fk_fail(err, FK_E_FORMAT, "no line is 'stack count'; %llu lines were looked at",
                       (unsigned long long)f.bad);
    bool two = f.two == f.n;
    rc = alloc_columns(&f, err);
    if (!rc)
        rc = read_rows(&f, two, err);
    fk_map_free(&f.index);
    return rc ? rc : put_profile(&f, two, err);
}
