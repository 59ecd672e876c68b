// SPDX-License-Identifier: Apache-2.0
// Building a function tree out of stacks with weights. Reading and reshaping are in tree_view.c and
// tree_shape.c.
#include "model/tree_int.h"

struct fk_tree *fk_tree_new(uint32_t columns, size_t memory_limit)
{
    struct fk_tree *t = fk_calloc(1, sizeof(*t));
    if (!t)
        return NULL;
    t->columns = columns;
    t->limit = memory_limit ? memory_limit : SIZE_MAX;
    fk_arena_init(&t->text, memory_limit);
    // The root's name is not in the index: a function that happens to be called "total" is another
    // one.
    struct fk_tree_name total = {.name = FK_S("total"), .symbolized = true};
    struct fk_tree_node root = {FK_NONE, 0, FK_NONE, FK_NONE};
    if (fk_vec_push(&t->names, total) || fk_vec_push(&t->nodes, root) ||
        fk_vec_push(&t->self[0], 0) || (columns > 1 && fk_vec_push(&t->self[1], 0))) {
        fk_tree_free(t);
        return NULL;
    }
    return t;
}

void fk_tree_free(struct fk_tree *t)
{
    if (!t)
        return;
    fk_vec_free(&t->nodes);
    fk_vec_free(&t->self[0]);
    fk_vec_free(&t->self[1]);
    fk_vec_free(&t->names);
    fk_map_free(&t->node_index);
    fk_map_free(&t->name_index);
    fk_arena_free(&t->text);
    fk_free(t);
}

uint32_t fk_tree_name_id(const struct fk_tree *t, struct fk_str name)
{
    uint64_t h = fk_hash_str(name);
    for (uint32_t at = fk_map_first(&t->name_index, h); at != FK_NONE;
         at = fk_map_next(&t->name_index, h, at))
        if (fk_str_eq(t->names.v[fk_map_id(&t->name_index, at)].name, name))
            return fk_map_id(&t->name_index, at);
    return FK_NONE;
}

// Facts that a later occurrence of a name adds to an earlier one.
static int complete_name(struct fk_tree *t, struct fk_tree_name *have,
                         const struct fk_tree_name *more)
{
    if (!have->file.n && more->file.n && !(have->file = fk_arena_str(&t->text, more->file)).p)
        return -FK_E_NOMEM;
    if (!have->mapping.n && more->mapping.n &&
        !(have->mapping = fk_arena_str(&t->text, more->mapping)).p)
        return -FK_E_NOMEM;
    have->symbolized |= more->symbolized;
    return 0;
}

int fk_tree_intern(struct fk_tree *t, const struct fk_tree_name *n, uint32_t *ret,
                   struct fk_err *err)
{
    uint32_t id = fk_tree_name_id(t, n->name);
    if (id != FK_NONE) {
        if (complete_name(t, &t->names.v[id], n))
            return fk_fail_nomem(err);
        *ret = id;
        return 0;
    }
    struct fk_tree_name copy = {.name = fk_arena_str(&t->text, n->name)};
    id = (uint32_t)t->names.n;
    if (!copy.name.p || complete_name(t, &copy, n) || fk_vec_reserve(&t->names, 1) ||
        fk_map_add(&t->name_index, fk_hash_str(n->name), id))
        return fk_fail_nomem(err);
    t->names.v[t->names.n++] = copy;
    *ret = id;
    return 0;
}

static int over_limit(const struct fk_tree *t, struct fk_err *err)
{
    size_t per_node = sizeof(struct fk_tree_node) + 8 * t->columns + sizeof(struct fk_map_slot) * 2;
    if (t->nodes.n < t->limit / per_node)
        return 0;
    return fk_fail_limit(
        err, "memory", t->limit, FK_LIMIT_FLAG(query_memory),
        "the merged tree has over %zu nodes; narrow the selector or the time range", t->nodes.n);
}

int fk_tree_child(struct fk_tree *t, uint32_t parent, uint32_t name, uint32_t *ret,
                  struct fk_err *err)
{
    uint64_t h = fk_hash_u64((uint64_t)parent << 32 | name);
    for (uint32_t at = fk_map_first(&t->node_index, h); at != FK_NONE;
         at = fk_map_next(&t->node_index, h, at)) {
        uint32_t id = fk_map_id(&t->node_index, at);
        if (t->nodes.v[id].parent == parent && t->nodes.v[id].name == name) {
            *ret = id;
            return 0;
        }
    }
    uint32_t id = (uint32_t)t->nodes.n;
    int r = over_limit(t, err);
    if (r)
        return r;
    if (fk_vec_reserve(&t->nodes, 1) || fk_vec_reserve(&t->self[0], 1) ||
        (t->columns > 1 && fk_vec_reserve(&t->self[1], 1)) || fk_map_add(&t->node_index, h, id))
        return fk_fail_nomem(err);
    t->nodes.v[t->nodes.n++] =
        (struct fk_tree_node){parent, name, FK_NONE, t->nodes.v[parent].first_child};
    t->nodes.v[parent].first_child = id;
    for (uint32_t c = 0; c < t->columns; c++)
        t->self[c].v[t->self[c].n++] = 0;
    *ret = id;
    return 0;
}

// ---- folding ----

// State of one fold: what is known about the source's functions and locations, and the path of the
// stack before.
struct fold {
    struct fk_tree *t;
    const struct fk_symbols *sym;
    const struct fk_frame_filter *filter;
    uint32_t *name_of_function; // tree name ids, FK_NONE: not asked yet
    uint32_t *name_of_location; // of locations without a line that has a function
    uint8_t *flags_of_name;     // FK_FRAME_* + 0x80 once asked; only with a filter
    size_t n_flags;
    FK_VEC(uint32_t) path;     // locations of the stack before, root first
    FK_VEC(uint32_t) node_at;  // the node reached after each
    FK_VEC(uint8_t) closed_at; // whether a collapsed frame was met by then
};

static struct fk_str base_name(struct fk_str path)
{
    ptrdiff_t slash = fk_str_rchr(path, '/');
    return slash < 0 ? path : fk_str_from(path, (size_t)slash + 1);
}

static struct fk_str mapping_file(const struct fk_symbols *s, const struct fk_location *l)
{
    return l->mapping == FK_NONE ? (struct fk_str){NULL, 0}
                                 : s->string[s->mapping[l->mapping].file];
}

static int name_of_address(struct fold *f, uint32_t location, uint32_t *ret, struct fk_err *err)
{
    if (f->name_of_location[location] == FK_NONE) {
        const struct fk_location *l = &f->sym->location[location];
        struct fk_str file = mapping_file(f->sym, l);
        struct fk_buf text;
        fk_buf_init(&text, 0);
        if (file.n)
            fk_buf_printf(&text, "%.*s!", FK_STR_ARG(base_name(file)));
        fk_buf_printf(&text, "0x%llx", (unsigned long long)l->address);
        int r = fk_buf_check(&text, "name", err);
        struct fk_tree_name n = {.name = fk_buf_view(&text), .mapping = file};
        if (r == 0)
            r = fk_tree_intern(f->t, &n, &f->name_of_location[location], err);
        fk_buf_free(&text);
        if (r)
            return r;
    }
    *ret = f->name_of_location[location];
    return 0;
}

// The displayed name of a line; *ret_known tells whether it has a function.
static int name_of_line(struct fold *f, uint32_t location, uint32_t line, uint32_t *ret,
                        struct fk_err *err)
{
    const struct fk_symbols *s = f->sym;
    const struct fk_location *l = &s->location[location];
    uint32_t function = line < l->line_count ? s->line[l->line_begin + line].function : FK_NONE;
    if (function == FK_NONE)
        return name_of_address(f, location, ret, err);
    if (f->name_of_function[function] == FK_NONE) {
        const struct fk_function *fn = &s->function[function];
        struct fk_str name =
            s->string[fn->name].n ? s->string[fn->name] : s->string[fn->system_name];
        if (!name.n)
            return name_of_address(f, location, ret, err);
        struct fk_tree_name n = {.name = name,
                                 .file = s->string[fn->file],
                                 .mapping = mapping_file(s, l),
                                 .symbolized = true};
        int r = fk_tree_intern(f->t, &n, &f->name_of_function[function], err);
        if (r)
            return r;
    }
    *ret = f->name_of_function[function];
    return 0;
}

static int flags_of(struct fold *f, uint32_t name, int *ret, struct fk_err *err)
{
    if (name >= f->n_flags) {
        size_t n = FK_MAX(f->t->names.n, (size_t)name + 1) * 2;
        uint8_t *grown = fk_realloc(f->flags_of_name, n);
        if (!grown)
            return fk_fail_nomem(err);
        memset(grown + f->n_flags, 0, n - f->n_flags);
        f->flags_of_name = grown;
        f->n_flags = n;
    }
    if (!(f->flags_of_name[name] & 0x80)) {
        int flags = f->filter->name(f->filter->arg, f->t->names.v[name].name, err);
        if (flags < 0)
            return flags;
        f->flags_of_name[name] = (uint8_t)(flags | 0x80);
    }
    *ret = f->flags_of_name[name] & 0x7f;
    return 0;
}

static uint32_t frames_of(const struct fk_location *l)
{
    return l->line_count ? l->line_count : 1;
}

// Whether any frame of the stack has the FOCUS flag.
static int has_focus(struct fold *f, const uint32_t *frame, uint32_t n, bool *ret,
                     struct fk_err *err)
{
    *ret = false;
    for (uint32_t i = 0; i < n && !*ret; i++)
        for (uint32_t line = frames_of(&f->sym->location[frame[i]]); line-- > 0 && !*ret;) {
            uint32_t name;
            int flags, r = name_of_line(f, frame[i], line, &name, err);
            if (r || (r = flags_of(f, name, &flags, err)))
                return r;
            *ret = (flags & FK_FRAME_FOCUS) != 0;
        }
    return 0;
}

// Walks one location's lines, outermost first, from *node on.
static int step(struct fold *f, uint32_t location, uint32_t *node, bool *closed, struct fk_err *err)
{
    for (uint32_t line = frames_of(&f->sym->location[location]); line-- > 0 && !*closed;) {
        uint32_t name;
        int flags = 0, r = name_of_line(f, location, line, &name, err);
        if (r == 0 && f->filter)
            r = flags_of(f, name, &flags, err);
        if (r == 0 && !(flags & FK_FRAME_HIDE))
            r = fk_tree_child(f->t, *node, name, node, err);
        if (r)
            return r;
        *closed = (flags & FK_FRAME_COLLAPSE) != 0;
    }
    return 0;
}

// The node of a stack. Stacks that follow each other often share their outer frames: those are not
// walked again.
static int walk(struct fold *f, const uint32_t *frame, uint32_t n, uint32_t *ret_node,
                struct fk_err *err)
{
    uint32_t node = 0, i = 0;
    bool closed = false;
    while (i < n && i < f->path.n && f->path.v[i] == frame[n - 1 - i])
        i++;
    if (i > 0) {
        node = f->node_at.v[i - 1];
        closed = f->closed_at.v[i - 1];
    }
    f->path.n = f->node_at.n = f->closed_at.n = i;
    if (fk_vec_reserve(&f->path, n - i) || fk_vec_reserve(&f->node_at, n - i) ||
        fk_vec_reserve(&f->closed_at, n - i))
        return fk_fail_nomem(err);
    for (; i < n; i++) {
        int r = step(f, frame[n - 1 - i], &node, &closed, err);
        if (r)
            return r;
        f->path.v[f->path.n++] = frame[n - 1 - i];
        f->node_at.v[f->node_at.n++] = node;
        f->closed_at.v[f->closed_at.n++] = closed;
    }
    *ret_node = node;
    return 0;
}

static bool leaf_is_symbolized(const struct fk_symbols *s, const uint32_t *frame, uint32_t n)
{
    if (n == 0)
        return true;
    const struct fk_location *l = &s->location[frame[0]];
    uint32_t function = l->line_count ? s->line[l->line_begin].function : FK_NONE;
    return function != FK_NONE && (s->string[s->function[function].name].n ||
                                   s->string[s->function[function].system_name].n);
}

static int fold_stack(struct fold *f, uint32_t column, uint32_t stack, int64_t value,
                      struct fk_err *err)
{
    const uint32_t *frame = f->sym->frame + f->sym->stack_begin[stack];
    uint32_t n = f->sym->stack_begin[stack + 1] - f->sym->stack_begin[stack], node = 0;
    bool focused = true;
    int r = 0;
    if (f->filter && f->filter->has_focus)
        r = has_focus(f, frame, n, &focused, err);
    if (r || !focused)
        return r;
    if ((r = walk(f, frame, n, &node, err)))
        return r;
    struct fk_tree *t = f->t;
    t->sum[column] = fk_wrap_add(t->sum[column], value);
    t->self[column].v[node] = fk_wrap_add(t->self[column].v[node], value);
    if (!leaf_is_symbolized(f->sym, frame, n))
        t->unsymbolized[column] = fk_wrap_add(t->unsymbolized[column], value);
    return 0;
}

static uint32_t *none_ids(uint32_t n)
{
    uint32_t *v = fk_reallocarray(NULL, FK_MAX(n, 1u), sizeof(*v));
    if (v)
        memset(v, 0xff, (size_t)n * sizeof(*v));
    return v;
}

static int fold_begin(struct fold *f, struct fk_err *err)
{
    f->name_of_function = none_ids(f->sym->n_functions);
    f->name_of_location = none_ids(f->sym->n_locations);
    return f->name_of_function && f->name_of_location ? 0 : fk_fail_nomem(err);
}

static void fold_end(struct fold *f)
{
    fk_free(f->name_of_function);
    fk_free(f->name_of_location);
    fk_free(f->flags_of_name);
    fk_vec_free(&f->path);
    fk_vec_free(&f->node_at);
    fk_vec_free(&f->closed_at);
}

int fk_tree_fold(struct fk_tree *t, uint32_t column, const struct fk_symbols *sym,
                 const int64_t *self, bool keep_zero, const struct fk_frame_filter *filter,
                 struct fk_err *err)
{
    struct fold f = {.t = t, .sym = sym, .filter = filter};
    int r = fold_begin(&f, err);
    for (uint32_t s = 0; r == 0 && s < sym->n_stacks; s++)
        if (self[s] || keep_zero)
            r = fold_stack(&f, column, s, self[s], err);
    fold_end(&f);
    return r;
}

int fk_tree_nodes(struct fk_tree *t, const struct fk_symbols *sym, const uint32_t *stack, size_t n,
                  const struct fk_frame_filter *filter, uint32_t *ret, struct fk_err *err)
{
    struct fold f = {.t = t, .sym = sym, .filter = filter};
    int r = fold_begin(&f, err);
    for (size_t i = 0; r == 0 && i < n; i++) {
        uint32_t begin = sym->stack_begin[stack[i]], depth = sym->stack_begin[stack[i] + 1] - begin;
        r = walk(&f, sym->frame + begin, depth, &ret[i], err);
    }
    fold_end(&f);
    return r;
}

uint32_t fk_tree_n_nodes(const struct fk_tree *t)
{
    return (uint32_t)t->nodes.n;
}

uint32_t fk_tree_parent(const struct fk_tree *t, uint32_t node)
{
    return t->nodes.v[node].parent;
}

const struct fk_tree_name *fk_tree_node_name(const struct fk_tree *t, uint32_t node,
                                             uint32_t *ret_name)
{
    if (ret_name)
        *ret_name = t->nodes.v[node].name;
    return &t->names.v[t->nodes.v[node].name];
}

// ---- adding a tree ----

static int add_nodes(struct fk_tree *t, uint32_t column, const struct fk_tree *from,
                     const uint32_t *name, uint32_t *node, struct fk_err *err)
{
    node[0] = 0;
    for (size_t i = 1; i < from->nodes.n; i++) { // parents have smaller ids
        const struct fk_tree_node *x = &from->nodes.v[i];
        int r = fk_tree_child(t, node[x->parent], name[x->name], &node[i], err);
        if (r)
            return r;
    }
    for (size_t i = 0; i < from->nodes.n; i++)
        t->self[column].v[node[i]] = fk_wrap_add(t->self[column].v[node[i]], from->self[0].v[i]);
    t->sum[column] = fk_wrap_add(t->sum[column], from->sum[0]);
    t->unsymbolized[column] = fk_wrap_add(t->unsymbolized[column], from->unsymbolized[0]);
    return 0;
}

int fk_tree_add(struct fk_tree *t, uint32_t column, const struct fk_tree *from, struct fk_err *err)
{
    FK_AUTO_FREE uint32_t *name = fk_reallocarray(NULL, from->names.n, sizeof(*name));
    FK_AUTO_FREE uint32_t *node = fk_reallocarray(NULL, from->nodes.n, sizeof(*node));
    if (!name || !node)
        return fk_fail_nomem(err);
    name[0] = 0;
    for (size_t i = 1; i < from->names.n; i++) {
        int r = fk_tree_intern(t, &from->names.v[i], &name[i], err);
        if (r)
            return r;
    }
    return add_nodes(t, column, from, name, node, err);
}
