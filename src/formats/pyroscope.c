// SPDX-License-Identifier: Apache-2.0
// What Pyroscope's older clients send to /ingest beside folded text: lines (one stack a line, each
// counting 1), trie and tree. Their forms, from docs/api.md "/ingest":
//   trie  node = varint name length, name, varint value, varint number of children, children in
//         preorder; the key of a node is its parent's key and its name; a key is a folded stack.
//   tree  the same with self instead of value; a node is a frame, the first (nameless) the root.
// Type, unit and sample rate come with the request, as for folded text.
#include "formats/stacks_int.h"

static int put_types(struct fk_stacks *s, int64_t *ret_period, struct fk_err *err)
{
    const struct fk_decode_opts *o = s->d->opts;
    bool timed = o->sample_rate && o->sample_rate <= (uint64_t)FK_NS_PER_S;
    int rc = fk_stacks_type(s, o->type.n ? o->type : FK_S("samples"),
                            o->type.n ? o->unit : FK_S("count"), err);
    *ret_period = timed ? FK_NS_PER_S / (int64_t)o->sample_rate : 0;
    if (rc || !timed)
        return rc;
    return fk_stacks_type(s, o->time_type.n ? o->time_type : FK_S("cpu"), FK_S("nanoseconds"), err);
}

static int put_row(struct fk_stacks *s, uint32_t stack, uint64_t count, int64_t period,
                   struct fk_err *err)
{
    int64_t values[2] = {(int64_t)count, (int64_t)(count * (uint64_t)period)};
    return fk_stacks_row(s, stack, 0, values, FK_NO_TIME, err);
}

static int deliver(struct fk_stacks *s, int64_t period, struct fk_err *err)
{
    struct fk_profile p;
    int rc = fk_stacks_finish(s, &p, err);
    if (rc)
        return rc;
    if (period)
        fk_profile_period(&p, FK_S("cpu"), FK_S("nanoseconds"), period);
    return fk_decoding_deliver(s->d, &p, err);
}

// ---- lines ----

static int read_lines(struct fk_stacks *s, struct fk_str bytes, struct fk_err *err)
{
    struct fk_lines l = {bytes, 0};
    struct fk_str line;
    int64_t period;
    uint32_t stack;
    int rc = put_types(s, &period, err);
    while (!rc && fk_line_next(&l, &line)) {
        if (!fk_str_trim(line).n)
            continue;
        rc = fk_stacks_folded(s, line, &stack, err);
        if (!rc)
            rc = put_row(s, stack, 1, period, err);
    }
    return rc ? rc : deliver(s, period, err);
}

int fk_lines_decode(const struct fk_decoding *d, struct fk_str bytes, struct fk_err *err)
{
    struct fk_stacks s;
    int rc = fk_stacks_begin(&s, d, err);
    if (!rc)
        rc = read_lines(&s, bytes, err);
    fk_stacks_end(&s);
    return rc;
}

// ---- trie and tree ----

#define MAX_LEVELS (1 << 20) // far beyond what stacks keep; a level takes memory

struct level {
    uint64_t left; // children to come
    size_t key;    // trie: bytes of the key up to and with this node
};

struct walk {
    struct fk_stacks *s;
    struct fk_cur c;
    const uint8_t *begin;
    bool trie;
    FK_VEC(struct level) level;
    FK_VEC(uint32_t) frame; // tree: locations, root first
    struct fk_buf key;
    int64_t period;
    uint64_t expanded; // trie: bytes of the stacks as text
};

static int broken(const struct walk *w, struct fk_err *err)
{
    return fk_fail(err, FK_E_FORMAT, "%s: the bytes end or make no sense at offset %zu",
                   w->trie ? "trie" : "tree", (size_t)(w->c.p - w->begin));
}

// A name may carry the separators of the tree it was cut from.
static int enter_frame(struct walk *w, struct fk_str name, bool root, struct fk_err *err)
{
    struct fk_named f = {.name = name};
    uint32_t location = FK_NONE;
    while (fk_take(&f.name, FK_S(";")))
        ;
    if (!f.name.n)
        f.name = FK_S("[unknown]");
    if (!(root && !name.n)) {
        int rc = fk_stacks_location(w->s, &f, &location, err);
        if (rc)
            return rc;
    }
    return fk_vec_push(&w->frame, location) ? fk_decoding_nomem(w->s->d, err) : 0;
}

static int emit_tree(struct walk *w, uint64_t self, struct fk_err *err)
{
    uint32_t stack = 0;
    uint64_t most = w->s->d->opts->limits->stack_depth + 1;
    int rc = 0;
    for (size_t i = w->frame.n; !rc && i-- > 0 && w->s->scratch.n < most;)
        if (w->frame.v[i] != FK_NONE)
            rc = fk_stacks_push(w->s, w->frame.v[i], err);
    if (!rc)
        rc = fk_stacks_close(w->s, &stack, err);
    return rc ? rc : put_row(w->s, stack, self, w->period, err);
}

// Long keys under one another could be far more text than the trie has bytes.
static int emit_trie(struct walk *w, uint64_t value, struct fk_err *err)
{
    const struct fk_size_limit *most = &w->s->d->opts->size;
    uint32_t stack;
    w->expanded += w->key.n;
    if (most->bytes && w->expanded > most->bytes)
        return fk_fail_limit(err, "size", most->bytes, most->flag,
                             "the stacks of the trie are too long together");
    int rc = fk_stacks_folded(w->s, fk_buf_view(&w->key), &stack, err);
    return rc ? rc : put_row(w->s, stack, value, w->period, err);
}

static int read_node(struct walk *w, struct fk_err *err)
{
    uint64_t n, value, children;
    if (w->level.n == MAX_LEVELS)
        return fk_fail(err, FK_E_FORMAT, "%s: nodes lie over %d deep", w->trie ? "trie" : "tree",
                       MAX_LEVELS);
    if (fk_cur_varint(&w->c, &n) || n > fk_cur_left(&w->c))
        return broken(w, err);
    struct fk_str name = fk_str_make(w->c.p, (size_t)n);
    w->c.p += n;
    // A child has three bytes at least.
    if (fk_cur_varint(&w->c, &value) || fk_cur_varint(&w->c, &children) ||
        children > fk_cur_left(&w->c) / 3)
        return broken(w, err);
    int rc = 0;
    if (w->trie)
        fk_buf_str(&w->key, name);
    else
        rc = enter_frame(w, name, w->level.n == 0, err);
    if (rc || w->key.failed || fk_vec_push(&w->level, (struct level){children, w->key.n}))
        return rc ? rc : fk_decoding_nomem(w->s->d, err);
    if (value == 0)
        return 0;
    return w->trie ? emit_trie(w, value, err) : emit_tree(w, value, err);
}

// Leaves the nodes that are complete; false when the root is.
static bool leave_nodes(struct walk *w)
{
    while (w->level.n && w->level.v[w->level.n - 1].left == 0) {
        w->level.n--;
        if (w->frame.n)
            w->frame.n--;
    }
    if (!w->level.n)
        return false;
    struct level *top = &w->level.v[w->level.n - 1];
    top->left--;
    w->key.n = top->key;
    return true;
}

static int read_nodes(struct walk *w, struct fk_err *err)
{
    int rc = put_types(w->s, &w->period, err);
    do
        rc = rc ? rc : read_node(w, err);
    while (!rc && leave_nodes(w));
    if (!rc && w->c.p < w->c.end)
        return broken(w, err);
    return rc ? rc : deliver(w->s, w->period, err);
}

static int decode_nodes(const struct fk_decoding *d, struct fk_str bytes, bool trie,
                        struct fk_err *err)
{
    struct fk_stacks s;
    struct walk w = {.s = &s, .c = fk_cur_of(bytes), .trie = trie};
    w.begin = w.c.p;
    fk_buf_init(&w.key, 0);
    int rc = fk_stacks_begin(&s, d, err);
    if (!rc)
        rc = read_nodes(&w, err);
    fk_stacks_end(&s);
    fk_buf_free(&w.key);
    fk_vec_free(&w.level);
    fk_vec_free(&w.frame);
    return rc;
}

int fk_trie_decode(const struct fk_decoding *d, struct fk_str bytes, struct fk_err *err)
{
    return decode_nodes(d, bytes, true, err);
}

int fk_tree_decode(const struct fk_decoding *d, struct fk_str bytes, struct fk_err *err)
{
    return decode_nodes(d, bytes, false, err);
}
