// SPDX-License-Identifier: Apache-2.0
// Named frames to locations, stacks and rows, through the model's builder.
#include "formats/stacks_int.h"

int fk_stacks_begin(struct fk_stacks *s, const struct fk_decoding *d, struct fk_err *err)
{
    memset(s, 0, sizeof(*s));
    s->d = d;
    s->first_ns = s->last_ns = FK_NO_TIME;
    s->b = fk_builder_new(d->arena, d->opts->max_rows, d->opts->rows_flag);
    if (!s->b)
        return fk_decoding_nomem(d, err);
    s->dict = fk_builder_dict(s->b);
    return 0;
}

void fk_stacks_end(struct fk_stacks *s)
{
    fk_builder_free(s->b);
    fk_vec_free(&s->scratch);
    fk_vec_free(&s->repeats);
    s->b = NULL;
}

int fk_stacks_fail(const struct fk_stacks *s, int rc, struct fk_err *err)
{
    return rc == -FK_E_NOMEM ? fk_decoding_nomem(s->d, err) : rc;
}

int fk_stacks_type(struct fk_stacks *s, struct fk_str type, struct fk_str unit, struct fk_err *err)
{
    enum fk_kind kind = fk_kind_of(type, false, s->d->opts->is_delta);
    s->n_types++;
    return fk_stacks_fail(s, fk_builder_type(s->b, type, unit, kind), err);
}

// ---- locations ----

int fk_stacks_mapping(struct fk_stacks *s, struct fk_str file, struct fk_placement place,
                      uint64_t offset, uint32_t *ret, struct fk_err *err)
{
    struct fk_mapping m = {.offset = offset};
    uint32_t id = 0;
    int rc = fk_dict_string(s->dict, file, &m.file);
    if (!rc)
        rc = fk_dict_mapping(s->dict, &m, &id);
    if (!rc && id < s->repeats.n && place.limit) { // mapped again
        m.ordinal = ++s->repeats.v[id];
        rc = fk_dict_mapping(s->dict, &m, &id);
    }
    if (!rc && id >= s->repeats.n) { // seen for the first time
        place.mapping = id;
        rc = fk_vec_push(&s->repeats, 0);
        if (!rc)
            rc = fk_builder_mapping(s->b, &place);
    }
    if (rc)
        return fk_stacks_fail(s, rc, err);
    *ret = id;
    return 0;
}

static int put_line(struct fk_stacks *s, const struct fk_named *f, struct fk_line *line)
{
    struct fk_function fn = {.start_line = f->start_line};
    *line = (struct fk_line){.line = f->line, .column = f->column};
    int rc = fk_dict_string(s->dict, f->name, &fn.name);
    if (!rc)
        rc = fk_dict_string(s->dict, f->file, &fn.file);
    return rc ? rc : fk_dict_function(s->dict, &fn, &line->function);
}

int fk_stacks_inlined(struct fk_stacks *s, const struct fk_named *f, uint32_t n, uint32_t *ret,
                      struct fk_err *err)
{
    struct fk_line line[16];
    struct fk_location loc = {.mapping = FK_NONE, .address = f->address};
    struct fk_placement nowhere = {.flags = FK_PLACEMENT_HAS_FUNCTIONS};
    int rc = 0;
    n = FK_MIN(n, (uint32_t)FK_COUNTOF(line));
    if (f->mapping)
        loc.mapping = *f->mapping;
    else if (f->module.n)
        rc = fk_stacks_mapping(s, f->module, nowhere, 0, &loc.mapping, err);
    if (rc)
        return rc;
    for (uint32_t i = 0; !rc && i < n; i++)
        if (f[i].name.n)
            rc = put_line(s, &f[i], &line[loc.line_count++]);
    if (!rc)
        rc = fk_dict_location(s->dict, &loc, line, ret);
    return fk_stacks_fail(s, rc, err);
}

int fk_stacks_location(struct fk_stacks *s, const struct fk_named *f, uint32_t *ret,
                       struct fk_err *err)
{
    return fk_stacks_inlined(s, f, 1, ret, err);
}

// ---- stacks ----

int fk_stacks_stack(struct fk_stacks *s, const uint32_t *leaf_first, size_t n, uint32_t *ret,
                    struct fk_err *err)
{
    uint64_t depth = s->d->opts->limits->stack_depth;
    if (FK_UNLIKELY(n > depth)) {
        n = (size_t)depth;
        s->cut++;
    }
    // The dictionary is not of the arena, but it is held to the arena's limit.
    if ((++s->made & 255) == 0 && fk_dict_bytes(s->dict) > s->d->arena->limit)
        return fk_decoding_nomem(s->d, err);
    return fk_stacks_fail(s, fk_dict_stack(s->dict, leaf_first, (uint32_t)n, ret), err);
}

int fk_stacks_push(struct fk_stacks *s, uint32_t location, struct fk_err *err)
{
    return fk_vec_push(&s->scratch, location) ? fk_decoding_nomem(s->d, err) : 0;
}

int fk_stacks_close(struct fk_stacks *s, uint32_t *ret, struct fk_err *err)
{
    size_t n = s->scratch.n;
    s->scratch.n = 0;
    return fk_stacks_stack(s, s->scratch.v, n, ret, err);
}

int fk_stacks_folded(struct fk_stacks *s, struct fk_str stack, uint32_t *ret, struct fk_err *err)
{
    uint64_t most = s->d->opts->limits->stack_depth + 1; // one more shows that it is cut
    s->scratch.n = 0;
    for (;;) {
        ptrdiff_t at = fk_str_rchr(stack, ';');
        struct fk_named f = {.name = fk_str_from(stack, (size_t)(at + 1))};
        uint32_t location;
        if (f.name.n == 0)
            f.name = FK_S("[unknown]");
        int rc = fk_stacks_location(s, &f, &location, err);
        if (!rc)
            rc = fk_stacks_push(s, location, err);
        if (rc)
            return rc;
        if (at < 0 || s->scratch.n >= most)
            return fk_stacks_close(s, ret, err);
        stack = fk_str_head(stack, (size_t)at);
    }
}

// ---- attributes ----

static int add_attr(struct fk_stacks *s, struct fk_attr a, struct fk_err *err)
{
    if (s->n_attrs == FK_STACKS_ATTRS)
        return fk_fail(err, FK_E_FORMAT, "a sample has over %d attributes", FK_STACKS_ATTRS);
    s->attr[s->n_attrs++] = a;
    return 0;
}

int fk_stacks_attr(struct fk_stacks *s, struct fk_str key, struct fk_str value, struct fk_err *err)
{
    struct fk_attr a = {0};
    if (!value.n)
        return 0;
    int rc = fk_dict_string(s->dict, key, &a.key);
    if (!rc)
        rc = fk_dict_string(s->dict, value, &a.str);
    return rc ? fk_stacks_fail(s, rc, err) : add_attr(s, a, err);
}

int fk_stacks_number(struct fk_stacks *s, struct fk_str key, int64_t v, struct fk_str unit,
                     struct fk_err *err)
{
    struct fk_attr a = {.num = v};
    int rc = fk_dict_string(s->dict, key, &a.key);
    if (!rc && unit.n)
        rc = fk_dict_string(s->dict, unit, &a.unit);
    return rc ? fk_stacks_fail(s, rc, err) : add_attr(s, a, err);
}

int fk_stacks_set(struct fk_stacks *s, uint32_t *ret, struct fk_err *err)
{
    uint32_t n = s->n_attrs;
    s->n_attrs = 0;
    return fk_stacks_fail(s, fk_dict_set(s->dict, s->attr, n, ret), err);
}

// ---- rows ----

int fk_stacks_row(struct fk_stacks *s, uint32_t stack, uint32_t set, const int64_t *values,
                  int64_t time_ns, struct fk_err *err)
{
    bool timed = time_ns != FK_NO_TIME;
    if (timed) {
        if (s->first_ns == FK_NO_TIME || time_ns < s->first_ns)
            s->first_ns = time_ns;
        if (s->last_ns == FK_NO_TIME || time_ns > s->last_ns)
            s->last_ns = time_ns;
    }
    s->rows++;
    return fk_stacks_fail(
        s, fk_builder_sample(s->b, stack, set, values, timed ? &time_ns : NULL, 1, err), err);
}

int fk_stacks_add(struct fk_stacks *s, uint32_t stack, uint32_t set, const int64_t *values,
                  struct fk_err *err)
{
    s->rows++;
    return fk_stacks_fail(s, fk_builder_add(s->b, stack, set, values, err), err);
}

int fk_stacks_finish(struct fk_stacks *s, struct fk_profile *ret, struct fk_err *err)
{
    int rc = s->nomem ? -FK_E_NOMEM : fk_builder_finish(s->b, ret, err);
    if (rc)
        return fk_stacks_fail(s, rc, err);
    ret->truncated = s->cut != 0;
    if (s->first_ns != FK_NO_TIME &&
        __builtin_sub_overflow(s->last_ns, s->first_ns, &ret->duration_ns))
        ret->duration_ns = 0;
    fk_report_warn(s->d->report, "stack cut at the depth limit", s->cut, "%llu frames, set by %s",
                   (unsigned long long)s->d->opts->limits->stack_depth, FK_LIMIT_FLAG(stack_depth));
    return 0;
}

struct fk_str fk_label_text(const struct fk_decoding *d, struct fk_str s)
{
    size_t n = FK_MIN(s.n, (size_t)d->opts->limits->label_value);
    while (n && n < s.n && ((uint8_t)s.p[n] & 0xc0) == 0x80)
        n--;
    s = fk_str_head(s, n);
    return fk_str_is_utf8(s) ? s : (struct fk_str){"", 0};
}

void fk_profile_period(struct fk_profile *p, struct fk_str type, struct fk_str unit, int64_t period)
{
    p->period = period;
    p->period_type = type;
    p->period_unit = unit;
    p->has_period_type = true;
}

// ---- trees of calls ----

int fk_nodes_add(struct fk_stacks *s, struct fk_nodes *t, struct fk_node node, struct fk_err *err)
{
    struct fk_node *v = t->n < FK_NONE - 1
                            ? fk_arena_grow(s->d->arena, t->v, t->n, &t->cap, t->n + 1, sizeof(*v))
                            : NULL;
    if (!v)
        return fk_decoding_nomem(s->d, err);
    t->v = v;
    node.stack = FK_NONE;
    v[t->n++] = node;
    return 0;
}

// Each node is walked up from once: what was reached before is known to end at a root.
int fk_nodes_check(const struct fk_stacks *s, const struct fk_nodes *t, struct fk_err *err)
{
    uint32_t *seen = fk_arena_array(s->d->arena, t->n + 1, sizeof(*seen));
    if (!seen)
        return fk_decoding_nomem(s->d, err);
    memset(seen, 0, t->n * sizeof(*seen));
    for (uint32_t i = 0; i < t->n; i++)
        for (uint32_t at = i; at != FK_NONE; at = t->v[at].parent) {
            if (at >= t->n)
                return fk_fail(err, FK_E_FORMAT,
                               "call tree: node %u has a parent that is not there", i);
            if (seen[at] == i + 1)
                return fk_fail(err, FK_E_FORMAT, "call tree: node %u is its own ancestor", at);
            if (seen[at])
                break;
            seen[at] = i + 1;
        }
    return 0;
}

int fk_nodes_stack(struct fk_stacks *s, struct fk_nodes *t, uint32_t node, uint32_t *ret,
                   struct fk_err *err)
{
    if (t->v[node].stack == FK_NONE) {
        uint64_t most = s->d->opts->limits->stack_depth + 1; // one more shows that it is cut
        int rc = 0;
        s->scratch.n = 0;
        for (uint32_t at = node; !rc && at != FK_NONE && s->scratch.n < most; at = t->v[at].parent)
            if (t->v[at].location != FK_NONE)
                rc = fk_stacks_push(s, t->v[at].location, err);
        if (rc || (rc = fk_stacks_close(s, &t->v[node].stack, err)))
            return rc;
    }
    *ret = t->v[node].stack;
    return 0;
}

// ---- lines of text ----

bool fk_line_next(struct fk_lines *l, struct fk_str *ret)
{
    if (!l->rest.n)
        return false;
    const char *end = memchr(l->rest.p, '\n', l->rest.n);
    size_t n = end ? (size_t)(end - l->rest.p) : l->rest.n;
    *ret = fk_str_head(l->rest, n);
    l->rest = fk_str_from(l->rest, end ? n + 1 : n);
    l->n++;
    while (ret->n && ret->p[ret->n - 1] == '\r')
        ret->n--;
    return true;
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

struct fk_str fk_word(struct fk_str *rest)
{
    size_t begin = 0, end;
    while (begin < rest->n && is_blank(rest->p[begin]))
        begin++;
    for (end = begin; end < rest->n && !is_blank(rest->p[end]);)
        end++;
    struct fk_str word = fk_str_from(fk_str_head(*rest, end), begin);
    *rest = fk_str_from(*rest, end);
    return word;
}

bool fk_hex(struct fk_str s, uint64_t *ret)
{
    uint64_t v = 0;
    if (fk_str_starts(s, FK_S("0x")))
        s = fk_str_from(s, 2);
    for (size_t i = 0; i < s.n; i++) {
        char c = s.p[i];
        uint64_t digit = c >= '0' && c <= '9'                 ? (uint64_t)(c - '0')
                         : (c | 32) >= 'a' && (c | 32) <= 'f' ? (uint64_t)((c | 32) - 'a' + 10)
                                                              : 16;
        if (digit == 16 || v >> 60)
            return false;
        v = v << 4 | digit;
    }
    *ret = v;
    return s.n > 0;
}

bool fk_take_u64(struct fk_str *rest, uint64_t *ret)
{
    size_t n = 0;
    while (n < rest->n && rest->p[n] >= '0' && rest->p[n] <= '9')
        n++;
    if (fk_str_to_u64(fk_str_head(*rest, n), ret))
        return false;
    *rest = fk_str_from(*rest, n);
    return true;
}

bool fk_take(struct fk_str *rest, struct fk_str prefix)
{
    if (!fk_str_starts(*rest, prefix))
        return false;
    *rest = fk_str_from(*rest, prefix.n);
    return true;
}

bool fk_decimal_ns(struct fk_str s, int64_t *ret)
{
    uint64_t whole, part = 0;
    if (!fk_take_u64(&s, &whole) || whole > (uint64_t)INT64_MAX / 1000000000u - 1)
        return false;
    if (s.n && s.p[0] != '.')
        return false;
    uint64_t scale = 1000000000;
    for (size_t i = 1; i < s.n; i++) {
        if (s.p[i] < '0' || s.p[i] > '9')
            return false;
        scale /= 10;
        part += scale * (uint64_t)(s.p[i] - '0');
    }
    *ret = (int64_t)(whole * 1000000000 + part);
    return true;
}
