// SPDX-License-Identifier: Apache-2.0
// Stacks as bpftrace and DTrace print their maps: frames one below the other, leaf first, then a
// number. What it counts they do not say: samples, unless the request says.
#include "formats/perf_int.h"

struct printed {
    struct fk_stacks s;
    uint64_t entries;
    struct fk_str map; // bpftrace: its name, "" none
    bool open;
    uint32_t keys;
};

static int put_type(struct printed *x, struct fk_err *err)
{
    const struct fk_decode_opts *o = x->s.d->opts;
    return fk_stacks_type(&x->s, o->type.n ? o->type : FK_S("samples"),
                          o->type.n ? o->unit : FK_S("count"), err);
}

static int push_frame(struct printed *x, struct fk_named *f, struct fk_err *err)
{
    uint32_t location = 0;
    uint64_t address;
    if (fk_str_starts(f->name, FK_S("0x")) && fk_hex(f->name, &address)) { // not symbolized
        f->name = (struct fk_str){"", 0};
        f->address = address;
    } else if (!f->name.n) {
        f->name = FK_S("[unknown]");
    }
    int rc = fk_stacks_location(&x->s, f, &location, err);
    return rc ? rc : fk_stacks_push(&x->s, location, err);
}

static int put_entry(struct printed *x, int64_t value, struct fk_err *err)
{
    uint32_t stack = 0, set = 0;
    x->entries++;
    int rc = fk_stacks_close(&x->s, &stack, err);
    if (!rc)
        rc = fk_stacks_set(&x->s, &set, err);
    return rc ? rc : fk_stacks_row(&x->s, stack, set, &value, FK_NO_TIME, err);
}

static void drop(struct printed *x, const struct fk_lines *l, struct fk_str line)
{
    fk_report_drop(x->s.d->report, "line that belongs to no stack", 1, "line %llu: '%.*s'",
                   (unsigned long long)l->n, FK_STR_ARG(fk_str_head(line, 60)));
}

static int finish(struct printed *x, const char *tool, struct fk_err *err)
{
    struct fk_profile p;
    if (!x->entries)
        return fk_fail(err, FK_E_FORMAT, "%s: there is no stack with a number below it", tool);
    int rc = fk_stacks_finish(&x->s, &p, err);
    return rc ? rc : fk_decoding_deliver(x->s.d, &p, err);
}

typedef int reader(struct printed *x, struct fk_lines *l, struct fk_err *err);

static int decode(const struct fk_decoding *d, struct fk_str bytes, reader *read, const char *tool,
                  struct fk_err *err)
{
    struct printed x = {.map = {"", 0}};
    struct fk_lines l = {bytes, 0};
    int rc = fk_stacks_begin(&x.s, d, err);
    if (!rc)
        rc = put_type(&x, err);
    if (!rc)
        rc = read(&x, &l, err);
    if (!rc)
        rc = finish(&x, tool, err);
    fk_stacks_end(&x.s);
    return rc;
}

// ---- bpftrace: "@name[", frames, ", key, key]: number" ----

// "sym+12", "0x7f", or "7f sym+12 (object)" of its perf mode.
static int read_bpf_frame(struct printed *x, struct fk_str line, struct fk_err *err)
{
    struct perf_frame f;
    struct fk_named named = {.name = fk_str_trim(line)};
    if (fk_perf_frame(line, &f) && f.has_object) {
        named.name = f.symbol;
        named.module = f.object;
    }
    ptrdiff_t plus = fk_str_rchr(named.name, '+');
    uint64_t offset;
    struct fk_str tail = fk_str_from(named.name, (size_t)(plus + 1));
    if (plus > 0 && fk_take_u64(&tail, &offset) && !tail.n)
        named.name = fk_str_head(named.name, (size_t)plus);
    return push_frame(x, &named, err);
}

static int add_keys(struct printed *x, struct fk_str keys, struct fk_err *err)
{
    static const struct fk_str names[] = {{"key1", 4}, {"key2", 4}, {"key3", 4}, {"key4", 4}};
    struct fk_str part;
    int rc = 0;
    while (!rc && fk_str_split(&keys, ',', &part)) {
        part = fk_str_trim(part);
        if (part.n && x->keys < FK_COUNTOF(names))
            rc = fk_stacks_attr(&x->s, names[x->keys++], part, err);
    }
    return rc;
}

// The line that ends an entry: "...]: number".
static bool cut_end(struct fk_str *line, int64_t *ret)
{
    ptrdiff_t at = fk_str_rchr(*line, ']');
    struct fk_str rest = fk_str_from(*line, at < 0 ? line->n : (size_t)at);
    if (!fk_take(&rest, FK_S("]: ")) || fk_str_to_i64(fk_str_trim(rest), ret))
        return false;
    *line = fk_str_head(*line, (size_t)at);
    return true;
}

static int open_entry(struct printed *x, struct fk_str *line, struct fk_err *err)
{
    ptrdiff_t bracket = fk_str_chr(*line, '[');
    x->open = true;
    x->keys = 0;
    x->s.n_attrs = 0;
    x->s.scratch.n = 0;
    x->map = fk_str_from(fk_str_head(*line, (size_t)bracket), 1);
    *line = fk_str_from(*line, (size_t)bracket + 1);
    return fk_stacks_attr(&x->s, FK_S("map"), x->map, err);
}

static int read_bpftrace(struct printed *x, struct fk_lines *l, struct fk_err *err)
{
    struct fk_str line;
    int rc = 0;
    while (!rc && fk_line_next(l, &line)) {
        int64_t value;
        bool blank = line.n && (line.p[0] == ' ' || line.p[0] == '\t');
        if (!fk_str_trim(line).n || fk_str_starts(line, FK_S("Attaching ")))
            continue;
        if (line.p[0] == '@' && fk_str_chr(line, '[') > 0) {
            rc = open_entry(x, &line, err);
        } else if (!x->open) {
            drop(x, l, line);
            continue;
        } else if (blank) {
            rc = read_bpf_frame(x, line, err);
            continue;
        }
        bool end = cut_end(&line, &value);
        if (!rc)
            rc = add_keys(x, line, err);
        if (end && !rc) {
            rc = put_entry(x, value, err);
            x->open = false;
        }
    }
    return rc;
}

int fk_bpftrace_decode(const struct fk_decoding *d, struct fk_str bytes, struct fk_err *err)
{
    return decode(d, bytes, read_bpftrace, "bpftrace", err);
}

bool fk_bpftrace_looks(struct fk_str head, bool whole)
{
    struct fk_lines l = {head, 0};
    struct fk_str line;
    (void)whole;
    while (fk_line_next(&l, &line)) {
        if (!fk_str_trim(line).n)
            continue;
        return (fk_str_starts(line, FK_S("Attaching ")) && fk_str_find(line, FK_S(" probe")) > 0) ||
               (line.p[0] == '@' && fk_str_chr(line, '[') > 0);
    }
    return false;
}

// ---- DTrace: a head, then "module`function+0x12" lines, then a number ----

static int read_dtrace_frame(struct printed *x, struct fk_str line, struct fk_err *err)
{
    struct fk_str s = fk_str_trim(line);
    struct fk_named f = {.name = s};
    ptrdiff_t tick = fk_str_chr(s, '`');
    uint64_t offset;
    if (tick > 0) {
        f.module = fk_str_head(s, (size_t)tick);
        f.name = fk_str_from(s, (size_t)tick + 1);
    }
    ptrdiff_t plus = fk_str_rchr(f.name, '+');
    struct fk_str tail = fk_str_from(f.name, (size_t)(plus + 1));
    if (plus > 0 && fk_str_starts(tail, FK_S("0x")) && fk_hex(tail, &offset))
        f.name = fk_str_head(f.name, (size_t)plus);
    return push_frame(x, &f, err);
}

static bool is_dtrace_frame(struct fk_str line)
{
    struct fk_str text = fk_str_trim(line);
    return line.n && (line.p[0] == ' ' || line.p[0] == '\t') &&
           (fk_str_chr(text, '`') > 0 || fk_str_starts(text, FK_S("0x")));
}

// The head ends at an empty line or at the first frame.
static void skip_head(struct fk_lines *l)
{
    struct fk_lines before = *l;
    struct fk_str line;
    while (fk_line_next(l, &line) && fk_str_trim(line).n) {
        if (is_dtrace_frame(line)) {
            *l = before;
            return;
        }
        before = *l;
    }
}

// What aggregations by something else than stacks print has no frames.
static int read_dtrace(struct printed *x, struct fk_lines *l, struct fk_err *err)
{
    struct fk_str line;
    int64_t value;
    int rc = 0;
    skip_head(l);
    while (!rc && fk_line_next(l, &line)) {
        struct fk_str text = fk_str_trim(line);
        if (!text.n)
            continue;
        if (fk_str_to_i64(text, &value) == 0) {
            if (x->s.scratch.n)
                rc = put_entry(x, value, err);
            else
                drop(x, l, line);
        } else if (is_dtrace_frame(line)) {
            rc = read_dtrace_frame(x, line, err);
        } else {
            drop(x, l, line);
        }
    }
    return rc;
}

int fk_dtrace_decode(const struct fk_decoding *d, struct fk_str bytes, struct fk_err *err)
{
    return decode(d, bytes, read_dtrace, "DTrace", err);
}

// Its head, or an indented frame of a module that a line with a number follows.
bool fk_dtrace_looks(struct fk_str head, bool whole)
{
    struct fk_lines l = {head, 0};
    struct fk_str line;
    bool frame = false;
    int64_t value;
    (void)whole;
    if (fk_str_starts(head, FK_S("CPU ")) && fk_str_find(head, FK_S("FUNCTION:NAME")) > 0)
        return true;
    while (fk_line_next(&l, &line)) {
        struct fk_str text = fk_str_trim(line);
        bool blank = line.n && (line.p[0] == ' ' || line.p[0] == '\t');
        if (frame && blank && fk_str_to_i64(text, &value) == 0)
            return true;
        frame = blank && fk_str_chr(text, '`') > 0;
    }
    return false;
}
