// SPDX-License-Identifier: Apache-2.0
// Flamebearer: nodes laid out in levels, as Pyroscope's clients draw them.
#include "render/render_int.h"

struct box {
    uint32_t depth, name;
    int64_t x[2], total[2], self[2];
};

struct layout {
    const struct fk_tree_view *v;
    struct fk_arena *a;
    uint32_t columns;
    struct box *box; // left to right on each level; places of nodes and of "other"
    size_t n;
    struct open {
        uint32_t depth;
        int64_t next[2]; // where its next child starts
        int64_t end[2];  // where it ends
    } * open;            // path from the root to the node before
    uint32_t n_open, max_depth;
    uint32_t *name_id; // of the view's names; FK_NONE: not used yet
    struct fk_str *name;
    uint32_t n_names;
    uint32_t other;
    int64_t max_self;
};

static uint32_t name_of(struct layout *l, uint32_t id)
{
    if (l->name_id[id] == FK_NONE) {
        l->name_id[id] = l->n_names;
        l->name[l->n_names++] = l->v->name[id].name;
    }
    return l->name_id[id];
}

static void add_box(struct layout *l, const struct box *b)
{
    l->box[l->n++] = *b;
    l->max_depth = FK_MAX(l->max_depth, b->depth);
    for (uint32_t c = 0; c < l->columns; c++)
        l->max_self = FK_MAX(l->max_self, b->self[c]);
}

// Closes the innermost open node: what its children do not fill is "other".
static void close_node(struct layout *l)
{
    const struct open *o = &l->open[--l->n_open];
    struct box b = {.depth = o->depth + 1};
    bool missing = false;
    for (uint32_t c = 0; c < l->columns; c++) {
        b.x[c] = o->next[c];
        b.total[c] = b.self[c] = fk_wrap_sub(o->end[c], o->next[c]);
        missing |= b.total[c] != 0;
    }
    if (!missing)
        return;
    if (l->other == FK_NONE) {
        l->other = l->n_names;
        l->name[l->n_names++] = FK_S("other");
    }
    b.name = l->other;
    add_box(l, &b);
}

static void open_node(struct layout *l, uint32_t i)
{
    const struct fk_tree_view *v = l->v;
    struct open *parent = l->n_open ? &l->open[l->n_open - 1] : NULL;
    struct open *o = &l->open[l->n_open++];
    struct box b = {.depth = parent ? parent->depth + 1 : 0, .name = name_of(l, v->node_name[i])};
    *o = (struct open){.depth = b.depth};
    for (uint32_t c = 0; c < l->columns; c++) {
        b.x[c] = parent ? parent->next[c] : 0;
        b.total[c] = v->total[c][i];
        b.self[c] = i ? v->self[c][i] : 0; // the root is drawn without own weight
        o->next[c] = fk_wrap_add(b.x[c], v->self[c][i]);
        o->end[c] = fk_wrap_add(b.x[c], b.total[c]);
        if (parent)
            parent->next[c] = o->end[c];
    }
    add_box(l, &b);
}

static int lay_out(struct layout *l, uint32_t *depth)
{
    const struct fk_tree_view *v = l->v;
    for (uint32_t i = 0; i < v->n_nodes; i++) {
        depth[i] = i ? depth[v->parent[i]] + 1 : 0;
        while (l->n_open > depth[i])
            close_node(l);
        open_node(l, i);
    }
    while (l->n_open)
        close_node(l);
    return 0;
}

// Boxes by level, stable: a counting sort.
static int put_levels(struct layout *l, struct fk_flamebearer *f)
{
    uint32_t levels = l->max_depth + 1;
    size_t *begin = fk_arena_zalloc(l->a, ((size_t)levels + 1) * sizeof(*begin));
    size_t *at = fk_arena_array(l->a, levels, sizeof(*at));
    int64_t *last = fk_arena_zalloc(l->a, (size_t)levels * 2 * sizeof(*last));
    int64_t *value = fk_arena_array(l->a, l->n, f->group * sizeof(*value));
    if (!begin || !at || !last || !value)
        return -FK_E_NOMEM;
    for (size_t i = 0; i < l->n; i++)
        begin[l->box[i].depth + 1] += f->group;
    for (uint32_t d = 0; d < levels; d++) {
        at[d] = begin[d];
        begin[d + 1] += begin[d];
    }
    for (size_t i = 0; i < l->n; i++) {
        const struct box *b = &l->box[i];
        int64_t *to = value + at[b->depth];
        for (uint32_t c = 0; c < l->columns; c++) {
            int64_t *end = &last[(size_t)b->depth * 2 + c];
            *to++ = fk_wrap_sub(b->x[c], *end);
            *to++ = b->total[c];
            *to++ = b->self[c];
            *end = fk_wrap_add(b->x[c], b->total[c]);
        }
        *to = b->name;
        at[b->depth] += f->group;
    }
    f->begin = begin;
    f->value = value;
    f->n_levels = levels;
    return 0;
}

int fk_flamebearer_make(const struct fk_tree_view *v, struct fk_arena *a,
                        struct fk_flamebearer *ret, struct fk_err *err)
{
    struct layout l = {.v = v, .a = a, .columns = v->self[1] ? 2 : 1, .other = FK_NONE};
    struct fk_flamebearer f = {.group = l.columns == 2 ? 7 : 4};
    uint32_t *depth = fk_arena_array(a, v->n_nodes, sizeof(*depth));
    l.box = fk_arena_array(a, (size_t)v->n_nodes * 2, sizeof(*l.box));
    l.open = fk_arena_array(a, v->n_nodes, sizeof(*l.open));
    l.name_id = fk_arena_array(a, v->n_names, sizeof(*l.name_id));
    l.name = fk_arena_array(a, (size_t)v->n_names + 1, sizeof(*l.name));
    if (!depth || !l.box || !l.open || !l.name_id || !l.name)
        return fk_fail_nomem(err);
    memset(l.name_id, 0xff, v->n_names * sizeof(*l.name_id));
    lay_out(&l, depth);
    if (put_levels(&l, &f))
        return fk_fail_nomem(err);
    f.name = l.name;
    f.n_names = l.n_names;
    f.max_self = l.max_self;
    for (uint32_t c = 0; c < l.columns; c++)
        f.ticks[c] = v->total[c][0];
    *ret = f;
    return 0;
}

// ---- document
// ------------------------------------------------------------------------------------------------------

static void put_graph(struct fk_json *w, const struct fk_flamebearer *f)
{
    fk_json_k(w, "flamebearer");
    fk_json_object(w);
    fk_json_k(w, "names");
    fk_json_array(w);
    for (uint32_t i = 0; i < f->n_names; i++)
        fk_json_str(w, f->name[i]);
    fk_json_array_end(w);
    fk_json_k(w, "levels");
    fk_json_array(w);
    for (uint32_t d = 0; d < f->n_levels; d++) {
        fk_json_array(w);
        for (size_t i = f->begin[d]; i < f->begin[d + 1]; i++)
            fk_json_i64(w, f->value[i]);
        fk_json_array_end(w);
    }
    fk_json_array_end(w);
    fk_json_k(w, "numTicks");
    fk_json_i64(w, fk_wrap_add(f->ticks[0], f->ticks[1]));
    fk_json_k(w, "maxSelf");
    fk_json_i64(w, f->max_self);
    fk_json_object_end(w);
}

static bool is_one_of(struct fk_str s, const char *const *words)
{
    for (; *words; words++)
        if (fk_str_eq(s, fk_str_of(*words)))
            return true;
    return false;
}

static void put_metadata(struct fk_json *w, const struct fk_flamebearer *f, struct fk_str type,
                         struct fk_str unit)
{
    static const char *const objects[] = {"inuse_objects", "alloc_objects", "goroutine", "samples",
                                          NULL};
    bool cpu = fk_str_eq(type, FK_S("cpu"));
    fk_json_k(w, "metadata");
    fk_json_object(w);
    fk_json_k(w, "format");
    fk_json_str(w, f->group == 7 ? FK_S("double") : FK_S("single"));
    fk_json_k(w, "spyName");
    fk_json_str(w, FK_S(""));
    fk_json_k(w, "sampleRate");
    fk_json_u64(w, cpu ? 1000000000 : 100);
    fk_json_k(w, "units");
    fk_json_str(w, cpu ? FK_S("samples") : is_one_of(type, objects) ? FK_S("objects") : unit);
    fk_json_k(w, "name");
    fk_json_str(w, type);
    fk_json_object_end(w);
}

static void put_line(struct fk_json *w, const struct fk_flamebearer_line *l)
{
    fk_json_object(w);
    fk_json_k(w, "startTime");
    fk_json_i64(w, l->start_s);
    fk_json_k(w, "samples");
    fk_json_array(w);
    for (size_t i = 0; i < l->n; i++)
        fk_json_i64(w, l->value[i] < 9e18 ? (int64_t)l->value[i] : INT64_MAX);
    fk_json_array_end(w);
    fk_json_k(w, "durationDelta");
    fk_json_i64(w, l->step_s);
    fk_json_k(w, "watermarks");
    fk_json_null(w);
    fk_json_object_end(w);
}

static void put_more(struct fk_json *w, const struct fk_flamebearer_more *m)
{
    fk_json_k(w, "timeline");
    if (m && m->has_line)
        put_line(w, &m->line);
    else
        fk_json_null(w);
    fk_json_k(w, "groups");
    if (!m || !m->has_groups) {
        fk_json_null(w);
        return;
    }
    fk_json_object(w);
    for (size_t i = 0; i < m->n_groups; i++) {
        fk_json_key(w, m->group[i].name);
        put_line(w, &m->group[i].line);
    }
    fk_json_object_end(w);
}

int fk_render_flamebearer(const struct fk_flamebearer *f, struct fk_str sample_type,
                          struct fk_str unit, const struct fk_flamebearer_more *more,
                          struct fk_out out, struct fk_err *err)
{
    struct fk_json w;
    fk_json_init(&w, out, false);
    fk_json_object(&w);
    fk_json_k(&w, "version");
    fk_json_u64(&w, 1);
    put_graph(&w, f);
    put_metadata(&w, f, sample_type, unit);
    put_more(&w, more);
    fk_json_k(&w, "heatmap");
    fk_json_null(&w);
    if (f->group == 7) {
        fk_json_k(&w, "leftTicks");
        fk_json_i64(&w, f->ticks[0]);
        fk_json_k(&w, "rightTicks");
        fk_json_i64(&w, f->ticks[1]);
    }
    fk_json_object_end(&w);
    return fk_json_finish(&w, err);
}
