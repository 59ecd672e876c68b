// SPDX-License-Identifier: Apache-2.0
// Call trees of macOS as text: what /usr/bin/sample writes, and what Instruments puts on the
// clipboard ("Deep Copy"). A node's children are the lines below it that are indented further.
#include "formats/stacks_int.h"

struct open { // a node whose children are being read
    size_t column;
    uint32_t node;
};

struct outline {
    struct fk_stacks s;
    struct fk_nodes nodes;
    FK_VEC(struct open) open;
    FK_VEC(int64_t) value; // per node
    FK_VEC(uint32_t) set;  // per node
    bool inclusive;        // values have those of the children in them
};

static int add_node(struct outline *o, size_t column, const struct fk_named *f, int64_t value,
                    uint32_t set, struct fk_err *err)
{
    uint32_t location = FK_NONE, parent = FK_NONE;
    while (o->open.n && o->open.v[o->open.n - 1].column >= column)
        o->open.n--;
    if (o->open.n)
        parent = o->open.v[o->open.n - 1].node;
    int rc = f ? fk_stacks_location(&o->s, f, &location, err) : 0;
    if (!rc)
        rc = fk_nodes_add(&o->s, &o->nodes, (struct fk_node){parent, location, FK_NONE}, err);
    if (rc)
        return rc;
    if (o->inclusive && parent != FK_NONE)
        o->value.v[parent] = fk_wrap_sub(o->value.v[parent], value);
    struct open open = {column, (uint32_t)o->nodes.n - 1};
    return fk_vec_push(&o->open, open) || fk_vec_push(&o->value, value) || fk_vec_push(&o->set, set)
               ? fk_decoding_nomem(o->s.d, err)
               : 0;
}

static int put_rows(struct outline *o, int64_t period, struct fk_err *err)
{
    uint64_t negative = 0;
    for (uint32_t i = 0; i < o->nodes.n; i++) {
        uint32_t stack = 0;
        int64_t values[2] = {o->value.v[i], (int64_t)((uint64_t)o->value.v[i] * (uint64_t)period)};
        negative += o->value.v[i] < 0;
        if (o->value.v[i] <= 0)
            continue;
        int rc = fk_nodes_stack(&o->s, &o->nodes, i, &stack, err);
        if (!rc)
            rc = fk_stacks_add(&o->s, stack, o->set.v[i], values, err);
        if (rc)
            return rc;
    }
    fk_report_warn(o->s.d->report, "node with less than its children have together", negative,
                   "of %zu nodes", o->nodes.n);
    return 0;
}

static void end(struct outline *o)
{
    fk_stacks_end(&o->s);
    fk_vec_free(&o->open);
    fk_vec_free(&o->value);
    fk_vec_free(&o->set);
}

// ---- sample ----

static int64_t sampling_period(struct fk_str text)
{
    uint64_t every;
    ptrdiff_t at = fk_str_find(fk_str_head(text, 4096), FK_S(" every "));
    struct fk_str s = fk_str_from(text, at < 0 ? text.n : (size_t)at + 7);
    if (!fk_take_u64(&s, &every) || every == 0 || every > 1000000)
        return 0;
    return (int64_t)every * (fk_take(&s, FK_S(" milli"))   ? 1000000
                             : fk_take(&s, FK_S(" micro")) ? 1000
                                                           : 0);
}

// "name  (in module) + 41  [0x10384b549]", or "...  Main.c:12".
static struct fk_named split_name(struct fk_str s)
{
    struct fk_named f = {.name = s};
    ptrdiff_t in = fk_str_find(s, FK_S("  (in "));
    if (in < 0)
        return f;
    f.name = fk_str_head(s, (size_t)in);
    struct fk_str rest = fk_str_from(s, (size_t)in + 6);
    ptrdiff_t close = fk_str_find(rest, FK_S(")"));
    f.module = fk_str_head(rest, close < 0 ? rest.n : (size_t)close);
    if (fk_str_eq(f.name, FK_S("???"))) {
        ptrdiff_t at = fk_str_find(rest, FK_S("[0x")), stop = fk_str_rchr(rest, ']');
        f.name = (struct fk_str){"", 0};
        if (at >= 0 && stop > at)
            (void)fk_hex(fk_str_from(fk_str_head(rest, (size_t)stop), (size_t)at + 1), &f.address);
    }
    return f;
}

static int read_sample_line(struct outline *o, const struct fk_lines *l, struct fk_str line,
                            uint32_t *set, struct fk_err *err)
{
    uint64_t count;
    size_t column = 0;
    while (column < line.n && memchr(" +!:|", line.p[column], 5))
        column++;
    struct fk_str rest = fk_str_from(line, column), name;
    if (!fk_take_u64(&rest, &count) || !fk_take(&rest, FK_S(" ")) || count > INT64_MAX) {
        fk_report_drop(o->s.d->report, "line that is no node of the call graph", 1,
                       "line %llu: '%.*s'", (unsigned long long)l->n,
                       FK_STR_ARG(fk_str_head(line, 60)));
        return 0;
    }
    name = fk_str_trim(rest);
    if (column > 4) {
        struct fk_named f = split_name(name);
        return add_node(o, column, &f, (int64_t)count, *set, err);
    }
    int rc = fk_stacks_attr(&o->s, FK_S("thread"), name, err); // a thread
    if (!rc)
        rc = fk_stacks_set(&o->s, set, err);
    return rc ? rc : add_node(o, column, NULL, (int64_t)count, *set, err);
}

static int read_sample(struct outline *o, struct fk_str text, struct fk_err *err)
{
    struct fk_lines l = {text, 0};
    struct fk_str line;
    struct fk_profile p;
    int64_t period = sampling_period(text);
    uint32_t set = 0;
    bool found = false;
    int rc = fk_stacks_type(&o->s, FK_S("samples"), FK_S("count"), err);
    if (!rc && period)
        rc = fk_stacks_type(&o->s, FK_S("wall"), FK_S("nanoseconds"), err);
    while (!found && fk_line_next(&l, &line))
        found = fk_str_starts(line, FK_S("Call graph:"));
    if (!rc && !found)
        return fk_fail(err, FK_E_FORMAT, "sample: there is no 'Call graph:' in it");
    while (!rc && fk_line_next(&l, &line) && fk_str_trim(line).n && line.p[0] == ' ')
        rc = read_sample_line(o, &l, line, &set, err);
    if (!rc)
        rc = put_rows(o, period, err);
    if (!rc)
        rc = fk_stacks_finish(&o->s, &p, err);
    if (!rc && period)
        fk_profile_period(&p, FK_S("wall"), FK_S("nanoseconds"), period);
    return rc ? rc : fk_decoding_deliver(o->s.d, &p, err);
}

int fk_macos_sample_decode(const struct fk_decoding *d, struct fk_str bytes, struct fk_err *err)
{
    struct outline o = {.inclusive = true};
    int rc = fk_stacks_begin(&o.s, d, err);
    if (!rc)
        rc = read_sample(&o, bytes, err);
    end(&o);
    return rc;
}

bool fk_macos_sample_looks(struct fk_str head, bool whole)
{
    (void)whole;
    return fk_str_starts(head, FK_S("Analysis of sampling "));
}

// ---- Instruments ----

static const struct weight {
    const char *unit, *type, *type_unit;
    double scale;
} weights[] = {
    {"ns", "cpu", "nanoseconds", 1},         {"\xc2\xb5s", "cpu", "nanoseconds", 1e3},
    {"us", "cpu", "nanoseconds", 1e3},       {"ms", "cpu", "nanoseconds", 1e6},
    {"s", "cpu", "nanoseconds", 1e9},        {"min", "cpu", "nanoseconds", 60e9},
    {"h", "cpu", "nanoseconds", 3600e9},     {"bytes", "alloc_space", "bytes", 1},
    {"Bytes", "alloc_space", "bytes", 1},    {"KB", "alloc_space", "bytes", 1024},
    {"MB", "alloc_space", "bytes", 1048576}, {"GB", "alloc_space", "bytes", 1073741824},
    {"Kc", "cycles", "count", 1e3},          {"Mc", "cycles", "count", 1e6},
    {"Gc", "cycles", "count", 1e9},          {"cycles", "cycles", "count", 1},
};

static const struct weight *find_weight(struct fk_str unit)
{
    for (size_t i = 0; i < FK_COUNTOF(weights); i++)
        if (fk_str_eq(unit, fk_str_of(weights[i].unit)))
            return &weights[i];
    return NULL;
}

// "846.00 ms", "713.0ms   16.6%", "693". 0: no number.
static size_t read_number(struct fk_str s, double *ret)
{
    struct fk_json_tok tok = {.kind = FK_JSON_NUMBER};
    size_t n = 0;
    while (n < s.n && ((s.p[n] >= '0' && s.p[n] <= '9') || s.p[n] == '.'))
        n++;
    tok.text = fk_str_head(s, n);
    return n && fk_json_to_f64(&tok, ret) == 0 ? n : 0;
}

static struct fk_str unit_after(struct fk_str s, size_t n)
{
    struct fk_str rest = fk_str_trim(fk_str_from(s, n));
    return fk_word(&rest);
}

// A unit that is not beside the number is in the head: "Self (ms)".
static struct fk_str unit_of_head(struct fk_str head)
{
    ptrdiff_t open = fk_str_find(head, FK_S("Self ("));
    struct fk_str s = fk_str_from(head, open < 0 ? head.n : (size_t)open + 6);
    ptrdiff_t close = fk_str_find(s, FK_S(")"));
    return fk_str_head(s, close < 0 ? 0 : (size_t)close);
}

struct copied {
    struct outline o;
    struct fk_str unit;        // of the head
    const struct weight *type; // of the first line
};

// "weight\tself\t...\t  name": the columns between may be empty.
static int read_row(struct copied *c, const struct fk_lines *l, struct fk_str line,
                    struct fk_err *err)
{
    struct fk_str rest = line, total, self = {"", 0};
    ptrdiff_t tab = fk_str_rchr(line, '\t');
    double value = 0;
    bool cut = fk_str_split(&rest, '\t', &total) && fk_str_split(&rest, '\t', &self);
    self = fk_str_trim(self);
    size_t n = read_number(self, &value), column = 0;
    struct fk_str name = fk_str_from(line, (size_t)(tab + 1)), unit = unit_after(self, n);
    while (column < name.n && name.p[column] == ' ')
        column++;
    const struct weight *w = find_weight(unit.n ? unit : c->unit);
    if (!w && value == 0)
        w = c->type;
    if (!cut || !n || !w || !fk_str_trim(name).n || (c->type && strcmp(w->type, c->type->type))) {
        fk_report_drop(c->o.s.d->report, "line that is no row of the call tree", 1,
                       "line %llu: '%.*s'", (unsigned long long)l->n,
                       FK_STR_ARG(fk_str_head(line, 60)));
        return 0;
    }
    c->type = w;
    struct fk_named f = {.name = fk_str_trim(name)};
    return add_node(&c->o, column, &f, (int64_t)(value * w->scale + 0.5), 0, err);
}

static int read_copy(struct copied *c, struct fk_str text, struct fk_err *err)
{
    struct fk_lines l = {text, 0};
    struct fk_str line = {"", 0};
    struct fk_profile p;
    int rc = 0;
    (void)fk_line_next(&l, &line);
    c->unit = unit_of_head(line);
    while (!rc && fk_line_next(&l, &line))
        if (fk_str_trim(line).n)
            rc = read_row(c, &l, line, err);
    if (!rc && !c->type)
        return fk_fail(err, FK_E_FORMAT,
                       "Instruments: no line has a weight, its own weight and a name");
    if (!rc)
        rc = fk_stacks_type(&c->o.s, fk_str_of(c->type->type), fk_str_of(c->type->type_unit), err);
    if (!rc)
        rc = put_rows(&c->o, 0, err);
    if (!rc)
        rc = fk_stacks_finish(&c->o.s, &p, err);
    return rc ? rc : fk_decoding_deliver(c->o.s.d, &p, err);
}

int fk_instruments_decode(const struct fk_decoding *d, struct fk_str bytes, struct fk_err *err)
{
    struct copied c = {.o = {.inclusive = false}};
    int rc = fk_stacks_begin(&c.o.s, d, err);
    if (!rc)
        rc = read_copy(&c, bytes, err);
    end(&c.o);
    return rc;
}

// "Running Time\tSelf (ms)\t\tSymbol Name", "Weight\tSelf Weight\t\tSymbol Names", ...
bool fk_instruments_looks(struct fk_str head, bool whole)
{
    struct fk_lines l = {head, 0};
    struct fk_str line = {"", 0};
    (void)whole;
    return fk_line_next(&l, &line) && fk_str_find(line, FK_S("\tSelf")) > 0 &&
           fk_str_find(line, FK_S("\tSymbol Name")) > 0;
}
