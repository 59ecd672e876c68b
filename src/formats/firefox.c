// SPDX-License-Identifier: Apache-2.0
// Firefox profiles: what the browser writes (Gecko: tables as rows with a schema), what the
// profiler's page and samply write ("processed": tables as columns, since version 57 shared by all
// threads), and the wrapper of the old developer tools. Sources: profiler.firefox.com's
// docs-developer, gecko-profile-format and processed-profile-format. One profile: threads are
// attributes. Each sample counts 1 (or its weight) and stands for the sampling interval (or, where
// weights are milliseconds, for its weight).
#include "formats/json_int.h"

// A column of numbers: null and what is none is FK_NO_TIME.
struct column {
    int64_t *v; // in the arena
    size_t n;
};

struct tables {
    struct fk_nodes nodes; // stacks
    bool made;
};

struct fox {
    const struct fk_decoding *d;
    struct fk_stacks s;
    struct tables shared;   // of the process
    double interval_ms;     // 0 unknown
    int64_t start_ns;       // Unix, of the process: times of samples count from it
    int64_t first_start_ns; // of the first process
    uint64_t idle, missing; // samples without stack; with one that is not there
    uint32_t depth;         // processes within processes
};

// ---- columns ----

static int64_t cell(const struct fk_jval *v, double scale)
{
    return scale == 1 ? fk_jval_i64(v, FK_NO_TIME) : fk_jval_scaled(v, scale);
}

static int push(struct fox *x, struct column *c, size_t *cap, int64_t v, struct fk_err *err)
{
    int64_t *to = fk_arena_grow(x->d->arena, c->v, c->n, cap, c->n + 1, sizeof(*to));
    if (!to)
        return fk_decoding_nomem(x->d, err);
    c->v = to;
    to[c->n++] = v;
    return 0;
}

static int read_array(struct fox *x, const struct fk_jval *array, double scale, struct column *ret,
                      struct fk_err *err)
{
    struct fk_jwalk w;
    struct fk_jval v;
    size_t cap = 0;
    int more, rc;
    *ret = (struct column){NULL, 0};
    fk_jwalk_begin(&w, array);
    while ((more = fk_jwalk_next(&w, NULL, &v, err)) == 1)
        if ((rc = push(x, ret, &cap, cell(&v, scale), err)))
            return rc;
    return more;
}

// Element `at` of each row.
static int read_rows(struct fox *x, const struct fk_jval *data, int64_t at, double scale,
                     struct column *ret, struct fk_err *err)
{
    struct fk_jwalk w, cells;
    struct fk_jval row, v;
    size_t cap = 0;
    int more, rc;
    *ret = (struct column){NULL, 0};
    fk_jwalk_begin(&w, data);
    while ((more = fk_jwalk_next(&w, NULL, &row, err)) == 1) {
        int64_t value = FK_NO_TIME;
        fk_jwalk_begin(&cells, &row);
        for (int64_t i = 0; i <= at; i++) {
            if ((rc = fk_jwalk_next(&cells, NULL, &v, err)) < 0)
                return rc;
            if (rc == 0)
                break;
            if (i == at)
                value = cell(&v, scale);
        }
        if ((rc = push(x, ret, &cap, value, err)))
            return rc;
    }
    return more;
}

// A column by its name, of a table in either form; absent: empty.
static int read_column(struct fox *x, const struct fk_jval *table, const char *name, double scale,
                       struct column *ret, struct fk_err *err)
{
    static const char *const form[] = {"schema", "data"};
    struct fk_jval m[2], place;
    *ret = (struct column){NULL, 0};
    int rc = fk_jval_pick(table, form, 2, m, err);
    if (rc)
        return rc;
    if (!fk_jval_is(&m[0], FK_JSON_OBJECT)) {
        rc = fk_jval_pick(table, &name, 1, &place, err);
        return rc ? rc : read_array(x, &place, scale, ret, err);
    }
    rc = fk_jval_pick(&m[0], &name, 1, &place, err);
    int64_t at = rc ? -1 : fk_jval_i64(&place, -1);
    return rc || at < 0 || at > 1000 ? rc : read_rows(x, &m[1], at, scale, ret, err);
}

static int read_strings(struct fox *x, const struct fk_jval *array, struct fk_str **ret, size_t *n,
                        struct fk_err *err)
{
    struct fk_jwalk w;
    struct fk_jval v;
    struct fk_str *to = NULL;
    size_t cap = 0;
    int more;
    *n = 0;
    fk_jwalk_begin(&w, array);
    while ((more = fk_jwalk_next(&w, NULL, &v, err)) == 1) {
        to = fk_arena_grow(x->d->arena, to, *n, &cap, *n + 1, sizeof(*to));
        if (!to)
            return fk_decoding_nomem(x->d, err);
        to[(*n)++] = fk_jval_text(&v, &x->s);
    }
    *ret = to;
    return more;
}

static int64_t at(const struct column *c, int64_t i)
{
    return i >= 0 && (uint64_t)i < c->n ? c->v[i] : FK_NO_TIME;
}

// ---- frames ----

enum { STACK_TABLE, FRAME_TABLE, FUNC_TABLE, STRING_ARRAY, STRING_TABLE, SOURCES, TABLES };
static const char *const table_names[TABLES] = {"stackTable",  "frameTable",  "funcTable",
                                                "stringArray", "stringTable", "sources"};

struct frames {
    struct fk_str *string;
    size_t n_strings;
    struct column func, location, line, column;  // of frames
    struct column name, file, source, func_line; // of functions
    struct column source_name;
};

static struct fk_str string_at(const struct frames *f, int64_t i)
{
    return i >= 0 && (uint64_t)i < f->n_strings ? f->string[i] : (struct fk_str){"", 0};
}

// "name (file:line:column)" or "name (in library)"; a bare name; an address.
static void split_location(struct fk_str s, struct fk_named *to)
{
    ptrdiff_t open = fk_str_rchr(s, '(');
    to->name = s;
    if (open <= 1 || s.p[s.n - 1] != ')' || s.p[open - 1] != ' ')
        return;
    struct fk_str inside = fk_str_from(fk_str_head(s, s.n - 1), (size_t)open + 1);
    to->name = fk_str_head(s, (size_t)open - 1);
    if (fk_take(&inside, FK_S("in "))) {
        to->module = inside;
        return;
    }
    int64_t number[2] = {0, 0};
    for (int i = 0; i < 2; i++) {
        ptrdiff_t colon = fk_str_rchr(inside, ':');
        uint64_t v;
        if (colon <= 0 || fk_str_to_u64(fk_str_from(inside, (size_t)colon + 1), &v) ||
            v > INT32_MAX)
            break;
        number[1] = number[0];
        number[0] = (int64_t)v;
        inside = fk_str_head(inside, (size_t)colon);
    }
    to->file = inside;
    to->line = number[0];
    to->column = number[1];
}

static int64_t or_zero(int64_t v)
{
    return v == FK_NO_TIME ? 0 : v;
}

static int locate(struct fox *x, const struct frames *f, size_t i, uint32_t *ret,
                  struct fk_err *err)
{
    struct fk_named named = {.name = {"", 0}};
    uint64_t address;
    int64_t index = (int64_t)i, func = at(&f->func, index);
    if (f->location.n) {
        split_location(string_at(f, at(&f->location, index)), &named);
    } else {
        int64_t source = at(&f->source, func);
        named.name = string_at(f, at(&f->name, func));
        named.file =
            string_at(f, source == FK_NO_TIME ? at(&f->file, func) : at(&f->source_name, source));
        named.start_line = or_zero(at(&f->func_line, func));
    }
    if (at(&f->line, index) != FK_NO_TIME)
        named.line = at(&f->line, index);
    if (at(&f->column, index) != FK_NO_TIME)
        named.column = at(&f->column, index);
    if (fk_str_starts(named.name, FK_S("0x")) && fk_hex(named.name, &address)) {
        named.name = (struct fk_str){"", 0}; // not symbolized
        named.address = address;
    } else if (!named.name.n) {
        named.name = FK_S("[unknown]");
    }
    return fk_stacks_location(&x->s, &named, ret, err);
}

static int read_frames(struct fox *x, const struct fk_jval *m, struct frames *f, struct fk_err *err)
{
    const struct {
        int table;
        const char *name;
        struct column *to;
    } wanted[] = {{FRAME_TABLE, "func", &f->func},       {FRAME_TABLE, "location", &f->location},
                  {FRAME_TABLE, "line", &f->line},       {FRAME_TABLE, "column", &f->column},
                  {FUNC_TABLE, "name", &f->name},        {FUNC_TABLE, "fileName", &f->file},
                  {FUNC_TABLE, "source", &f->source},    {FUNC_TABLE, "lineNumber", &f->func_line},
                  {SOURCES, "filename", &f->source_name}};
    const struct fk_jval *strings =
        fk_jval_is(&m[STRING_ARRAY], FK_JSON_ARRAY) ? &m[STRING_ARRAY] : &m[STRING_TABLE];
    int rc = read_strings(x, strings, &f->string, &f->n_strings, err);
    for (size_t i = 0; !rc && i < FK_COUNTOF(wanted); i++)
        rc = read_column(x, &m[wanted[i].table], wanted[i].name, 1, wanted[i].to, err);
    return rc;
}

// ---- stacks ----

static int put_nodes(struct fox *x, const struct frames *f, const struct column *prefix,
                     const struct column *offset, const struct column *frame, struct tables *t,
                     struct fk_err *err)
{
    size_t n_frames = FK_MAX(f->func.n, f->location.n);
    uint32_t *location = fk_arena_array(x->d->arena, n_frames + 1, sizeof(*location));
    int rc = 0;
    if (!location)
        return fk_decoding_nomem(x->d, err);
    for (size_t i = 0; !rc && i < n_frames; i++)
        rc = locate(x, f, i, &location[i], err);
    for (size_t i = 0; !rc && i < frame->n; i++) {
        int64_t up = at(prefix, (int64_t)i), back = at(offset, (int64_t)i), at_frame = frame->v[i];
        if (offset->n) // newer: how far above
            up = back > 0 ? (int64_t)i - back : FK_NO_TIME;
        if ((up != FK_NO_TIME && (up < 0 || (uint64_t)up >= frame->n)) || at_frame < 0 ||
            (uint64_t)at_frame >= n_frames)
            return fk_fail(err, FK_E_FORMAT, "Firefox profile: stack %zu names what is not there",
                           i);
        struct fk_node node = {up == FK_NO_TIME ? FK_NONE : (uint32_t)up, location[at_frame],
                               FK_NONE};
        rc = fk_nodes_add(&x->s, &t->nodes, node, err);
    }
    return rc ? rc : fk_nodes_check(&x->s, &t->nodes, err);
}

// shared: tables of the process, which fill in for those that the thread does not have.
static int read_tables(struct fox *x, const struct fk_jval *own, const struct fk_jval *shared,
                       struct tables *t, struct fk_err *err)
{
    struct fk_jval m[TABLES], common[TABLES];
    struct frames f = {0};
    struct column prefix, offset, frame;
    memset(t, 0, sizeof(*t));
    int rc = fk_jval_pick(own, table_names, TABLES, m, err);
    if (!rc)
        rc = fk_jval_pick(shared, table_names, TABLES, common, err);
    for (size_t i = 0; !rc && i < TABLES; i++)
        if (fk_jval_is(&m[i], FK_JSON_END))
            m[i] = common[i];
    if (!rc)
        rc = read_frames(x, m, &f, err);
    if (!rc)
        rc = read_column(x, &m[STACK_TABLE], "prefix", 1, &prefix, err);
    if (!rc)
        rc = read_column(x, &m[STACK_TABLE], "prefixOffset", 1, &offset, err);
    if (!rc)
        rc = read_column(x, &m[STACK_TABLE], "frame", 1, &frame, err);
    if (!rc)
        rc = put_nodes(x, &f, &prefix, &offset, &frame, t, err);
    t->made = rc == 0;
    return rc;
}

// ---- samples ----

struct samples {
    struct column stack, time, delta, weight;
    bool ms; // weights are time, here in nanoseconds; else counts
};

static int read_samples(struct fox *x, const struct fk_jval *table, struct samples *s,
                        struct fk_err *err)
{
    static const char *const names[] = {"weightType"};
    struct fk_jval type;
    int rc = fk_jval_pick(table, names, 1, &type, err);
    s->ms = !rc && fk_str_eq(type.tok.text, FK_S("tracing-ms"));
    if (!rc)
        rc = read_column(x, table, "stack", 1, &s->stack, err);
    if (!rc)
        rc = read_column(x, table, "time", 1e6, &s->time, err);
    if (!rc)
        rc = read_column(x, table, "timeDeltas", 1e6, &s->delta, err);
    return rc ? rc : read_column(x, table, "weight", s->ms ? 1e6 : 1, &s->weight, err);
}

static int put_samples(struct fox *x, const struct samples *s, struct tables *t, uint32_t set,
                       struct fk_err *err)
{
    int64_t clock = 0, interval = (int64_t)(x->interval_ms * 1e6);
    for (size_t i = 0; i < s->stack.n; i++) {
        int64_t node = s->stack.v[i], time = at(&s->time, (int64_t)i);
        int64_t weight = at(&s->weight, (int64_t)i);
        uint32_t stack = 0;
        clock = fk_wrap_add(clock, or_zero(at(&s->delta, (int64_t)i)));
        time = s->delta.n ? clock : time;
        if (node == FK_NO_TIME) {
            x->idle++;
            continue;
        }
        if (node < 0 || (uint64_t)node >= t->nodes.n) {
            x->missing++;
            continue;
        }
        int64_t count = weight == FK_NO_TIME ? 1 : weight;
        int64_t values[2] = {count, (int64_t)((uint64_t)count * (uint64_t)interval)};
        if (s->ms && weight != FK_NO_TIME) {
            values[0] = 1;
            values[1] = weight;
        }
        int rc = fk_nodes_stack(&x->s, &t->nodes, (uint32_t)node, &stack, err);
        if (!rc)
            rc = fk_stacks_row(&x->s, stack, set, values,
                               time == FK_NO_TIME ? time : fk_wrap_add(x->start_ns, time), err);
        if (rc)
            return rc;
    }
    return 0;
}

// ---- threads ----

enum { NAME, PID, TID, SAMPLES, MEMBERS };
static const char *const members[MEMBERS] = {"name", "pid", "tid", "samples"};

// Ids are numbers or, in newer files, texts.
static int put_attrs(struct fox *x, const struct fk_jval *m, uint32_t *set, struct fk_err *err)
{
    int64_t id;
    int rc = fk_stacks_attr(&x->s, FK_S("thread"), fk_jval_text(&m[NAME], &x->s), err);
    for (int i = PID; !rc && i <= TID; i++) {
        struct fk_str key = i == PID ? FK_S("pid") : FK_S("tid");
        if (fk_json_to_i64(&m[i].tok, &id) == 0)
            rc = fk_stacks_number(&x->s, key, id, FK_S(""), err);
        else
            rc = fk_stacks_attr(&x->s, key, fk_jval_text(&m[i], &x->s), err);
    }
    return rc ? rc : fk_stacks_set(&x->s, set, err);
}

static int read_thread(struct fox *x, const struct fk_jval *thread, const struct fk_jval *shared,
                       struct fk_err *err)
{
    static const char *const own[] = {"stackTable"};
    struct fk_jval m[MEMBERS], stacks;
    struct samples s;
    struct tables mine, *t = &x->shared;
    uint32_t set = 0;
    int rc = fk_jval_pick(thread, members, MEMBERS, m, err);
    if (!rc)
        rc = fk_jval_pick(thread, own, 1, &stacks, err);
    if (rc)
        return rc;
    if (fk_jval_is(&stacks, FK_JSON_OBJECT))
        rc = read_tables(x, thread, shared, t = &mine, err);
    else if (!x->shared.made)
        rc = read_tables(x, shared, shared, t, err);
    if (!rc)
        rc = put_attrs(x, m, &set, err);
    if (!rc)
        rc = read_samples(x, &m[SAMPLES], &s, err);
    return rc ? rc : put_samples(x, &s, t, set, err);
}

// ---- processes ----

static int read_meta(struct fox *x, const struct fk_jval *meta, struct fk_err *err)
{
    static const char *const names[] = {"startTime", "interval"};
    struct fk_jval m[2];
    int rc = fk_jval_pick(meta, names, 2, m, err);
    if (rc)
        return rc;
    x->start_ns = or_zero(fk_jval_scaled(&m[0], 1e6));
    if (x->depth == 0) {
        double interval = fk_jval_f64(&m[1], 0);
        x->first_start_ns = x->start_ns;
        x->interval_ms = interval > 0 && interval < 1e6 ? interval : 0;
    }
    return 0;
}

static int put_types(struct fox *x, struct fk_err *err)
{
    int rc = fk_stacks_type(&x->s, FK_S("samples"), FK_S("count"), err);
    return rc || x->interval_ms == 0
               ? rc
               : fk_stacks_type(&x->s, FK_S("wall"), FK_S("nanoseconds"), err);
}

static int read_process(struct fox *x, const struct fk_jval *process, struct fk_err *err)
{
    static const char *const names[] = {"meta", "threads", "shared", "processes"};
    struct fk_jwalk w;
    struct fk_jval m[4], v;
    int more, rc = fk_jval_pick(process, names, 4, m, err);
    if (!rc)
        rc = read_meta(x, &m[0], err);
    if (!rc && x->depth == 0)
        rc = put_types(x, err);
    if (rc)
        return rc;
    if (!fk_jval_is(&m[1], FK_JSON_ARRAY))
        return fk_fail(err, FK_E_FORMAT, "Firefox profile: there is no list of threads");
    x->shared.made = false;
    fk_jwalk_begin(&w, &m[1]);
    while ((more = fk_jwalk_next(&w, NULL, &v, err)) == 1)
        if ((rc = read_thread(x, &v, &m[2], err)))
            return rc;
    if (more || x->depth)
        return more;
    x->depth++; // one level is all there is
    fk_jwalk_begin(&w, &m[3]);
    while ((more = fk_jwalk_next(&w, NULL, &v, err)) == 1)
        if ((rc = read_process(x, &v, err)))
            return rc;
    return more;
}

static int read_document(struct fox *x, struct fk_str bytes, struct fk_err *err)
{
    static const char *const inner[] = {"profile"};
    struct fk_jval document, wrapped;
    struct fk_profile p;
    int rc = fk_jval_document(bytes, &document, err);
    if (!rc)
        rc = fk_jval_pick(&document, inner, 1, &wrapped, err);
    if (!rc)
        rc = read_process(x, fk_jval_is(&wrapped, FK_JSON_OBJECT) ? &wrapped : &document, err);
    if (!rc)
        rc = fk_stacks_finish(&x->s, &p, err);
    if (rc)
        return rc;
    fk_report_warn(x->d->report, "sample without a stack: the thread was idle", x->idle,
                   "not stored");
    fk_report_drop(x->d->report, "sample of a stack that is not there", x->missing, "not stored");
    if (x->interval_ms > 0)
        fk_profile_period(&p, FK_S("wall"), FK_S("nanoseconds"), (int64_t)(x->interval_ms * 1e6));
    if (x->first_start_ns > 0)
        p.time_ns_start = x->s.first_ns == FK_NO_TIME ? x->first_start_ns : x->s.first_ns;
    return fk_decoding_deliver(x->d, &p, err);
}

int fk_firefox_decode(const struct fk_decoding *d, struct fk_str bytes, struct fk_err *err)
{
    struct fox x = {.d = d};
    int rc = fk_stacks_begin(&x.s, d, err);
    if (!rc)
        rc = read_document(&x, bytes, err);
    fk_stacks_end(&x.s);
    return rc;
}
