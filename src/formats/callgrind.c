// SPDX-License-Identifier: Apache-2.0
// callgrind's output (also of xdebug and others). It is a graph of calls: what a function cost
// itself, and what its calls cost, but not by which way it was reached. So there are no stacks: a
// row is one function with its own costs, and the report says so. Source: valgrind's manual,
// "Callgrind Format Specification".
#include "formats/stacks_int.h"

#define MAX_COLUMNS 32

struct name { // "(12)" or "(12) text" in one of the three name spaces
    uint64_t id;
    struct fk_str text;
    int space;
};

enum { OBJECT, FILE_NAME, FUNCTION, SPACES };

struct graph {
    const struct fk_decoding *d;
    struct fk_stacks s;
    FK_VEC(struct name) name;
    struct fk_map names;
    struct fk_str current[SPACES]; // of the function whose costs follow
    size_t n_positions, n_events, line_at;
    int64_t position[4], cost[MAX_COLUMNS]; // of the line before
    uint32_t stack;
    bool in_function, after_calls;
    bool located; // stack is that of line `at`
    int64_t at;
    uint64_t calls;
};

// ---- names ----

static uint64_t hash_of(int space, uint64_t id)
{
    return fk_hash_u64(id * 4 + (uint64_t)space);
}

static struct name *find_name(struct graph *g, int space, uint64_t id)
{
    uint64_t h = hash_of(space, id);
    for (uint32_t at = fk_map_first(&g->names, h); at != FK_NONE;
         at = fk_map_next(&g->names, h, at)) {
        struct name *n = &g->name.v[fk_map_id(&g->names, at)];
        if (n->space == space && n->id == id)
            return n;
    }
    return NULL;
}

// A number in parentheses stands for the text that it was first said with.
static int resolve(struct graph *g, int space, struct fk_str s, struct fk_str *ret,
                   struct fk_err *err)
{
    struct fk_str rest = s;
    uint64_t id;
    *ret = s;
    if (!fk_take(&rest, FK_S("(")) || !fk_take_u64(&rest, &id) || !fk_take(&rest, FK_S(")")))
        return 0;
    rest = fk_str_trim(rest);
    struct name *have = find_name(g, space, id);
    if (have && rest.n)
        have->text = rest;
    *ret = have ? have->text : rest;
    if (have || !rest.n)
        return 0;
    struct name n = {id, rest, space};
    return fk_map_add(&g->names, hash_of(space, id), (uint32_t)g->name.n) ||
                   fk_vec_push(&g->name, n)
               ? fk_decoding_nomem(g->d, err)
               : 0;
}

// "fn=...": true when the line is such a one. Names of called functions only teach their numbers.
static int read_name(struct graph *g, struct fk_str line, bool *ret, struct fk_err *err)
{
    static const struct {
        struct fk_str key;
        int space;
        bool own;
    } keys[] = {{{"ob=", 3}, OBJECT, true},      {{"fl=", 3}, FILE_NAME, true},
                {{"fi=", 3}, FILE_NAME, false},  {{"fe=", 3}, FILE_NAME, false},
                {{"fn=", 3}, FUNCTION, true},    {{"cob=", 4}, OBJECT, false},
                {{"cfl=", 4}, FILE_NAME, false}, {{"cfi=", 4}, FILE_NAME, false},
                {{"cfn=", 4}, FUNCTION, false}};
    struct fk_str text;
    for (size_t i = 0; i < FK_COUNTOF(keys); i++) {
        if (!fk_take(&line, keys[i].key))
            continue;
        *ret = true;
        int rc = resolve(g, keys[i].space, fk_str_trim(line), &text, err);
        if (!rc && keys[i].own) {
            g->current[keys[i].space] = text;
            g->in_function |= keys[i].space == FUNCTION;
            g->located = false;
        }
        return rc;
    }
    return 0;
}

// ---- costs ----

// "12", "0x1f", "+3", "-3", "*": the last three are seen from the line before.
static bool read_number(struct fk_str word, int64_t *last)
{
    uint64_t v;
    int64_t sign = 0;
    if (fk_str_eq(word, FK_S("*")))
        return true;
    if (fk_take(&word, FK_S("+")))
        sign = 1;
    else if (fk_take(&word, FK_S("-")))
        sign = -1;
    if (fk_str_starts(word, FK_S("0x")) ? !fk_hex(word, &v) : fk_str_to_u64(word, &v) != 0)
        return false;
    *last = sign == 0  ? (int64_t)v
            : sign > 0 ? fk_wrap_add(*last, (int64_t)v)
                       : fk_wrap_sub(*last, (int64_t)v);
    return true;
}

// Costs that are not there are 0. False: no cost line.
static bool read_costs(struct graph *g, struct fk_str line)
{
    int64_t position[4], cost[MAX_COLUMNS];
    memcpy(position, g->position, sizeof(position));
    memcpy(cost, g->cost, sizeof(cost));
    for (size_t i = 0; i < g->n_positions; i++)
        if (!read_number(fk_word(&line), &position[i]))
            return false;
    for (size_t i = 0; i < g->n_events; i++) {
        struct fk_str word = fk_word(&line);
        if (!word.n)
            cost[i] = 0;
        else if (!read_number(word, &cost[i]))
            return false;
    }
    memcpy(g->position, position, sizeof(position));
    memcpy(g->cost, cost, sizeof(cost));
    return true;
}

static int put_costs(struct graph *g, struct fk_err *err)
{
    int64_t line = g->position[g->line_at];
    if (!g->located || g->at != line) {
        struct fk_named f = {.name = g->current[FUNCTION],
                             .file = g->current[FILE_NAME],
                             .module = g->current[OBJECT],
                             .line = line > 0 && line < INT32_MAX ? line : 0};
        uint32_t location = 0;
        if (!f.name.n || fk_str_eq(f.name, FK_S("???")))
            f.name = FK_S("[unknown]");
        if (fk_str_eq(f.file, FK_S("???")))
            f.file = (struct fk_str){"", 0};
        int rc = fk_stacks_location(&g->s, &f, &location, err);
        if (!rc)
            rc = fk_stacks_stack(&g->s, &location, 1, &g->stack, err);
        if (rc)
            return rc;
        g->located = true;
        g->at = line;
    }
    return fk_stacks_add(&g->s, g->stack, 0, g->cost, err);
}

// ---- lines ----

static int read_events(struct graph *g, struct fk_str s, struct fk_err *err)
{
    struct fk_str word;
    if (g->n_events)
        return 0; // said again in each part
    while ((word = fk_word(&s)).n) {
        if (g->n_events == MAX_COLUMNS)
            return fk_fail_limit(err, "events", MAX_COLUMNS, NULL, "callgrind: too many events");
        g->n_events++;
        bool time = fk_str_starts(word, FK_S("Time_(10ns)"));
        int rc = fk_stacks_type(&g->s, time ? FK_S("Time") : word,
                                time ? FK_S("10ns") : FK_S("count"), err);
        if (rc)
            return rc;
    }
    return 0;
}

static void read_positions(struct graph *g, struct fk_str s)
{
    struct fk_str word;
    g->n_positions = g->line_at = 0;
    while ((word = fk_word(&s)).n && g->n_positions < 4) {
        if (fk_str_eq(word, FK_S("line")))
            g->line_at = g->n_positions;
        g->n_positions++;
    }
    g->n_positions = FK_MAX(g->n_positions, (size_t)1);
}

static void drop(struct graph *g, uint64_t n, struct fk_str line)
{
    fk_report_drop(g->d->report, "line that callgrind's format does not have", 1,
                   "line %llu: '%.*s'", (unsigned long long)n, FK_STR_ARG(fk_str_head(line, 60)));
}

static int read_line(struct graph *g, struct fk_str line, uint64_t n, struct fk_err *err)
{
    bool name = false;
    struct fk_str rest = line;
    int rc = read_name(g, line, &name, err);
    if (rc || name || line.p[0] == '#')
        return rc;
    if (fk_take(&rest, FK_S("events:")))
        return read_events(g, rest, err);
    if (fk_take(&rest, FK_S("positions:"))) {
        read_positions(g, rest);
        return 0;
    }
    if (fk_take(&rest, FK_S("calls="))) {
        g->after_calls = true;
        g->calls++;
        return 0;
    }
    bool cost = (line.p[0] >= '0' && line.p[0] <= '9') || memchr("+-*", line.p[0], 3);
    if (!cost) { // "key: value" of the head, "jump=", "jfn="
        if (fk_str_chr(line, ':') < 0 && fk_str_chr(line, '=') < 0)
            drop(g, n, line);
        return 0;
    }
    bool of_call = g->after_calls;
    g->after_calls = false;
    if (!g->n_events || !g->in_function || !read_costs(g, line))
        drop(g, n, line);
    else if (!of_call)
        return put_costs(g, err);
    return 0;
}

static int read_graph(struct graph *g, struct fk_str text, struct fk_err *err)
{
    static const struct fk_str comment[] = {
        {"call graph: functions with their own costs, no stacks", 53}};
    struct fk_lines l = {text, 0};
    struct fk_str line;
    struct fk_profile p;
    int rc = 0;
    while (!rc && fk_line_next(&l, &line)) {
        line = fk_str_trim(line);
        if (line.n)
            rc = read_line(g, line, l.n, err);
    }
    if (!rc && !g->n_events)
        return fk_fail(err, FK_E_FORMAT, "callgrind: there is no line 'events:'");
    if (!rc)
        rc = fk_stacks_finish(&g->s, &p, err);
    if (rc)
        return rc;
    p.comment = comment;
    p.n_comments = 1;
    fk_report_warn(g->d->report,
                   "a call graph has no stacks: functions are stored with their own costs", 1,
                   "%llu calls are not stored", (unsigned long long)g->calls);
    return fk_decoding_deliver(g->d, &p, err);
}

int fk_callgrind_decode(const struct fk_decoding *d, struct fk_str bytes, struct fk_err *err)
{
    struct graph g = {.d = d, .n_positions = 1};
    for (int i = 0; i < SPACES; i++)
        g.current[i] = (struct fk_str){"", 0};
    int rc = fk_stacks_begin(&g.s, d, err);
    if (!rc)
        rc = read_graph(&g, bytes, err);
    fk_stacks_end(&g.s);
    fk_vec_free(&g.name);
    fk_map_free(&g.names);
    return rc;
}

// Its first line, or "events:" with what only it has.
bool fk_callgrind_looks(struct fk_str head, bool whole)
{
    (void)whole;
    if (fk_str_starts(head, FK_S("# callgrind format")))
        return true;
    bool events = fk_str_starts(head, FK_S("events:")) || fk_str_find(head, FK_S("\nevents:")) >= 0;
    return events &&
           (fk_str_starts(head, FK_S("version:")) || fk_str_find(head, FK_S("\nfn=")) >= 0 ||
            fk_str_find(head, FK_S("\nfl=")) >= 0);
}
