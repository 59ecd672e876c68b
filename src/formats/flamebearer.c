// SPDX-License-Identifier: Apache-2.0
// Flamebearer JSON: the flame graph that Pyroscope's /render answers. Rows of nodes, level by
// level, each (gap to the node before, total, own, name), of a difference twice the first three:
// left, right. Only what is own counts; the root "total" is no frame.
#include "formats/json_int.h"

struct span { // of a node of the level above
    int64_t begin, end;
    uint32_t node;
};

struct bearer {
    const struct fk_decoding *d;
    struct fk_stacks s;
    struct fk_nodes nodes;
    uint32_t *location; // per name
    size_t n_names, names_cap;
    int64_t root; // the name "total", -1 none
    FK_VEC(struct span) above;
    FK_VEC(struct span) level;
    FK_VEC(int64_t) own; // per node: one or two
    bool twice;          // a difference
    uint64_t outside;
    int64_t period; // 0 unknown
};

static int read_names(struct bearer *x, const struct fk_jval *names, struct fk_err *err)
{
    struct fk_jwalk w;
    struct fk_jval name;
    int more;
    fk_jwalk_begin(&w, names);
    while ((more = fk_jwalk_next(&w, NULL, &name, err)) == 1) {
        struct fk_named f = {.name = fk_jval_text(&name, &x->s)};
        x->location = fk_arena_grow(x->d->arena, x->location, x->n_names, &x->names_cap,
                                    x->n_names + 1, sizeof(*x->location));
        if (!x->location)
            return fk_decoding_nomem(x->d, err);
        if (fk_str_eq(f.name, FK_S("total")))
            x->root = (int64_t)x->n_names;
        if (!f.name.n)
            f.name = FK_S("[unknown]");
        int rc = fk_stacks_location(&x->s, &f, &x->location[x->n_names++], err);
        if (rc)
            return rc;
    }
    return more;
}

// The node above which `at` lies; hand-made files have nodes beside it.
static uint32_t parent_at(struct bearer *x, int64_t at, size_t *from)
{
    if (!x->above.n)
        return FK_NONE;
    while (*from + 1 < x->above.n && x->above.v[*from].end <= at)
        ++*from;
    const struct span *s = &x->above.v[*from];
    x->outside += at < s->begin || at >= s->end;
    return s->node;
}

struct cell { // one node as written
    int64_t gap, total, own[2];
    int64_t name;
};

static int add_cell(struct bearer *x, const struct cell *c, int64_t at, size_t *from,
                    struct fk_err *err)
{
    struct span s = {at, fk_wrap_add(at, c->total), (uint32_t)x->nodes.n};
    bool root = x->above.n == 0 && c->name == x->root;
    if (c->name < 0 || (uint64_t)c->name >= x->n_names)
        return fk_fail(err, FK_E_FORMAT, "flamebearer: name %lld of %zu", (long long)c->name,
                       x->n_names);
    struct fk_node n = {parent_at(x, at, from), root ? FK_NONE : x->location[c->name], FK_NONE};
    int rc = fk_nodes_add(&x->s, &x->nodes, n, err);
    if (rc)
        return rc;
    if (fk_vec_push(&x->level, s) || fk_vec_push(&x->own, c->own[0]) ||
        (x->twice && fk_vec_push(&x->own, c->own[1])))
        return fk_decoding_nomem(x->d, err);
    return 0;
}

// The numbers of one node; 0 at the end of the level.
static int next_cell(struct bearer *x, struct fk_jwalk *w, struct cell *c, struct fk_err *err)
{
    int64_t v[7] = {0};
    size_t n = x->twice ? 7 : 4;
    for (size_t i = 0; i < n; i++) {
        struct fk_jval number;
        int more = fk_jwalk_next(w, NULL, &number, err);
        if (more < 0 || (more == 0 && i == 0))
            return more;
        if (more == 0)
            return fk_fail(err, FK_E_FORMAT, "flamebearer: a level is not in groups of %zu", n);
        v[i] = fk_jval_i64(&number, 0);
    }
    // Of a difference, left and right lie side by side: together they give the place.
    *c = x->twice
             ? (struct cell){fk_wrap_add(v[0], v[3]), fk_wrap_add(v[1], v[4]), {v[5], v[2]}, v[6]}
             : (struct cell){v[0], v[1], {v[2], 0}, v[3]};
    return 1;
}

static int read_level(struct bearer *x, const struct fk_jval *level, struct fk_err *err)
{
    struct fk_jwalk w;
    struct cell c = {0};
    int64_t at = 0;
    size_t from = 0;
    int more;
    x->level.n = 0;
    fk_jwalk_begin(&w, level);
    while ((more = next_cell(x, &w, &c, err)) == 1) {
        at = fk_wrap_add(at, c.gap);
        int rc = add_cell(x, &c, at, &from, err);
        if (rc)
            return rc;
        at = fk_wrap_add(at, c.total);
    }
    if (more == 0) {
        x->above.n = 0;
        for (size_t i = 0; i < x->level.n; i++)
            if (fk_vec_push(&x->above, x->level.v[i]))
                return fk_decoding_nomem(x->d, err);
    }
    return more;
}

// ---- types ----

static const struct {
    const char *units, *type, *unit;
} units[] = {
    {"samples", "samples", "count"},       {"objects", "objects", "count"},
    {"bytes", "space", "bytes"},           {"lock_samples", "contentions", "count"},
    {"goroutines", "goroutines", "count"}, {"lock_nanoseconds", "delay", "nanoseconds"},
    {"exceptions", "exceptions", "count"}, {"nanoseconds", "cpu", "nanoseconds"},
};

static int put_types(struct bearer *x, struct fk_str name, int64_t rate, struct fk_err *err)
{
    struct fk_str type = name.n ? name : FK_S("samples"), unit = FK_S("count");
    for (size_t i = 0; i < FK_COUNTOF(units); i++)
        if (fk_str_eq(name, fk_str_of(units[i].units))) {
            type = fk_str_of(units[i].type);
            unit = fk_str_of(units[i].unit);
        }
    int rc = fk_stacks_type(&x->s, type, unit, err);
    if (rc)
        return rc;
    if (x->twice)
        return fk_stacks_type(&x->s, FK_S("samples_before"), unit, err);
    if (!fk_str_eq(type, FK_S("samples")) || rate <= 0 || rate > FK_NS_PER_S)
        return 0;
    x->period = FK_NS_PER_S / rate;
    return fk_stacks_type(&x->s, FK_S("cpu"), FK_S("nanoseconds"), err);
}

static int put_rows(struct bearer *x, struct fk_err *err)
{
    size_t width = x->twice ? 2 : 1;
    for (uint32_t i = 0; i < x->nodes.n; i++) {
        const int64_t *own = x->own.v + i * width;
        int64_t values[2] = {own[0],
                             x->twice ? own[1] : (int64_t)((uint64_t)own[0] * (uint64_t)x->period)};
        uint32_t stack = 0;
        if (!values[0] && !values[1])
            continue;
        int rc = fk_nodes_stack(&x->s, &x->nodes, i, &stack, err);
        if (!rc)
            rc = fk_stacks_add(&x->s, stack, 0, values, err);
        if (rc)
            return rc;
    }
    return 0;
}

// ---- the whole ----

enum { NAMES, LEVELS, UNITS, RATE, FORMAT, MEMBERS };
static const char *const members[MEMBERS] = {"names", "levels", "units", "sampleRate", "format"};

static int read_graph(struct bearer *x, const struct fk_jval *m, struct fk_err *err)
{
    struct fk_jwalk w;
    struct fk_jval level;
    int more, rc = read_names(x, &m[NAMES], err);
    if (rc)
        return rc;
    fk_jwalk_begin(&w, &m[LEVELS]);
    while ((more = fk_jwalk_next(&w, NULL, &level, err)) == 1)
        if ((rc = read_level(x, &level, err)))
            return rc;
    fk_report_warn(x->d->report, "node that is not above one of the level below it", x->outside,
                   "of %zu nodes", x->nodes.n);
    if (!more)
        rc = put_types(x, fk_jval_text(&m[UNITS], &x->s), fk_jval_i64(&m[RATE], 0), err);
    return more ? more : rc ? rc : put_rows(x, err);
}

// "timeline": {"startTime": seconds, "samples": [...], "durationDelta": seconds each}.
static int read_timeline(const struct fk_jval *document, struct fk_profile *p, struct fk_err *err)
{
    static const char *const path[] = {"timeline"};
    static const char *const names[] = {"startTime", "samples", "durationDelta"};
    struct fk_jval timeline, m[3], sample;
    struct fk_jwalk w;
    int64_t n = 0;
    int more, rc = fk_jval_pick(document, path, 1, &timeline, err);
    if (!rc)
        rc = fk_jval_pick(&timeline, names, 3, m, err);
    if (rc)
        return rc;
    fk_jwalk_begin(&w, &m[1]);
    while ((more = fk_jwalk_next(&w, NULL, &sample, err)) == 1)
        n++;
    int64_t start = fk_jval_scaled(&m[0], 1e9), each = fk_jval_scaled(&m[2], 1e9);
    if (start > 0)
        p->time_ns_start = start;
    if (start > 0 && each > 0 && n < INT64_MAX / each)
        p->duration_ns = each * n;
    return more;
}

static int read_document(struct bearer *x, struct fk_str bytes, struct fk_err *err)
{
    static const char *const top[] = {"flamebearer", "metadata"};
    struct fk_jval document, part[2], m[MEMBERS], said[MEMBERS];
    struct fk_profile p;
    int rc = fk_jval_document(bytes, &document, err);
    if (!rc)
        rc = fk_jval_pick(&document, top, 2, part, err);
    if (!rc)
        rc = fk_jval_pick(fk_jval_is(&part[0], FK_JSON_OBJECT) ? &part[0] : &document, members,
                          MEMBERS, m, err);
    if (!rc)
        rc = fk_jval_pick(&part[1], members, MEMBERS, said, err);
    if (rc)
        return rc;
    for (size_t i = UNITS; i < MEMBERS; i++) // the metadata have the last word
        if (!fk_jval_is(&said[i], FK_JSON_END))
            m[i] = said[i];
    if (!fk_jval_is(&m[NAMES], FK_JSON_ARRAY) || !fk_jval_is(&m[LEVELS], FK_JSON_ARRAY))
        return fk_fail(err, FK_E_FORMAT, "flamebearer: there is no list 'names' or 'levels'");
    x->twice = fk_str_eq(m[FORMAT].tok.text, FK_S("double"));
    rc = read_graph(x, m, err);
    if (!rc)
        rc = fk_stacks_finish(&x->s, &p, err);
    if (!rc && x->period)
        fk_profile_period(&p, FK_S("cpu"), FK_S("nanoseconds"), x->period);
    if (!rc)
        rc = read_timeline(&document, &p, err);
    return rc ? rc : fk_decoding_deliver(x->d, &p, err);
}

int fk_flamebearer_decode(const struct fk_decoding *d, struct fk_str bytes, struct fk_err *err)
{
    struct bearer x = {.d = d, .root = -1};
    int rc = fk_stacks_begin(&x.s, d, err);
    if (!rc)
        rc = read_document(&x, bytes, err);
    fk_stacks_end(&x.s);
    fk_vec_free(&x.above);
    fk_vec_free(&x.level);
    fk_vec_free(&x.own);
    return rc;
}
