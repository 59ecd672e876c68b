// SPDX-License-Identifier: Apache-2.0
// Frames and threads of a profile, numbered for the formats that name them.
#include "formats/named_int.h"

#include <stdlib.h>

// ---- frames ----

int fk_named_frames_begin(struct fk_named_frames *f, const struct fk_profile *p)
{
    bool by_start = f->by_start;
    memset(f, 0, sizeof(*f));
    f->p = p;
    f->by_start = by_start;
    fk_arena_init(&f->arena, 0);
    f->begin = fk_arena_array(&f->arena, p->sym.n_locations + (size_t)1, sizeof(uint32_t));
    if (!f->begin)
        return -FK_E_NOMEM;
    memset(f->begin, 0xff, p->sym.n_locations * sizeof(uint32_t));
    return 0;
}

void fk_named_frames_end(struct fk_named_frames *f)
{
    fk_vec_free(&f->number);
    fk_vec_free(&f->v);
    fk_map_free(&f->index);
    fk_arena_free(&f->arena);
}

static bool same_frame(const struct fk_named_frame *a, const struct fk_named_frame *b)
{
    return a->line == b->line && a->column == b->column && a->start_line == b->start_line &&
           a->address == b->address && fk_str_eq(a->name, b->name) && fk_str_eq(a->file, b->file) &&
           fk_str_eq(a->module, b->module);
}

static int number_of(struct fk_named_frames *f, const struct fk_named_frame *x, uint32_t *ret)
{
    uint64_t h = fk_hash_str(x->name) ^ fk_hash_u64((uint64_t)x->line * 31 + (uint64_t)x->column) ^
                 fk_hash_u64(x->address) ^ (fk_hash_str(x->file) << 1);
    for (uint32_t at = fk_map_first(&f->index, h); at != FK_NONE;
         at = fk_map_next(&f->index, h, at))
        if (same_frame(&f->v.v[fk_map_id(&f->index, at)], x)) {
            *ret = fk_map_id(&f->index, at);
            return 0;
        }
    *ret = (uint32_t)f->v.n;
    return fk_vec_push(&f->v, *x) || fk_map_add(&f->index, h, *ret) ? -FK_E_NOMEM : 0;
}

static int name_address(struct fk_named_frames *f, struct fk_named_frame *x, uint64_t address)
{
    ptrdiff_t slash = fk_str_rchr(x->module, '/');
    struct fk_str base = fk_str_from(x->module, (size_t)(slash + 1));
    x->name = fk_arena_printf(&f->arena, "%.*s%s0x%llx", FK_STR_ARG(base), base.n ? "!" : "",
                              (unsigned long long)address);
    return x->name.p ? 0 : -FK_E_NOMEM;
}

static int make_frame(struct fk_named_frames *f, const struct fk_location *l, uint32_t i,
                      uint32_t *ret)
{
    const struct fk_symbols *s = &f->p->sym;
    struct fk_named_frame x = {.name = {"", 0}, .file = {"", 0}, .module = {"", 0}};
    if (l->mapping != FK_NONE)
        x.module = s->string[s->mapping[l->mapping].file];
    if (i < l->line_count) {
        const struct fk_line *line = &s->line[l->line_begin + i];
        x.line = line->line;
        x.column = line->column;
        if (line->function != FK_NONE) {
            const struct fk_function *fn = &s->function[line->function];
            x.name = s->string[fn->name].n ? s->string[fn->name] : s->string[fn->system_name];
            x.file = s->string[fn->file];
            x.start_line = fn->start_line;
        }
    }
    x.symbolized = x.name.n != 0;
    if (!x.symbolized && name_address(f, &x, l->address))
        return -FK_E_NOMEM;
    x.address = x.symbolized ? 0 : l->address;
    if (f->by_start && x.start_line) {
        x.line = x.start_line;
        x.column = 0;
    }
    return number_of(f, &x, ret);
}

int fk_named_frames_of(struct fk_named_frames *f, uint32_t location, const uint32_t **ret,
                       uint32_t *ret_n)
{
    const struct fk_location *l = &f->p->sym.location[location];
    uint32_t n = FK_MAX(l->line_count, 1u);
    if (f->begin[location] == FK_NONE) {
        size_t at = f->number.n;
        if (fk_vec_reserve(&f->number, n))
            return -FK_E_NOMEM;
        for (uint32_t i = 0; i < n; i++)
            if (make_frame(f, l, i, &f->number.v[at + i]))
                return -FK_E_NOMEM;
        f->number.n += n;
        f->begin[location] = (uint32_t)at;
    }
    *ret = f->number.v + f->begin[location];
    *ret_n = n;
    return 0;
}

// ---- threads ----

// Attributes that say who ran, the best first: the names are those of the timeline.
static const char *const name_keys[] = {"thread", "thread.name", "thread_name", "goroutine", NULL};
static const char *const pid_keys[] = {"pid", "process.pid", "process id", NULL};
static const char *const tid_keys[] = {"tid", "thread.id", "thread id", NULL};

// .p NULL: no memory.
static struct fk_str attr_of(struct fk_lanes *l, uint32_t set, const char *const *keys)
{
    const struct fk_symbols *s = &l->p->sym;
    for (; *keys; keys++)
        for (uint32_t i = s->set_begin[set]; i < s->set_begin[set + 1]; i++)
            if (fk_str_eq(s->string[s->attr[i].key], fk_str_of(*keys)))
                return s->attr[i].str
                           ? s->string[s->attr[i].str]
                           : fk_arena_printf(&l->arena, "%lld", (long long)s->attr[i].num);
    return FK_S("");
}

static bool same_who(const struct fk_lane_who *a, const struct fk_lane_who *b)
{
    return fk_str_eq(a->name, b->name) && fk_str_eq(a->pid, b->pid) && fk_str_eq(a->tid, b->tid);
}

static int lane_of(struct fk_lanes *l, struct fk_map *index, uint32_t set, uint32_t *ret)
{
    if (l->of_set[set] == FK_NONE) {
        struct fk_lane_who who = {attr_of(l, set, name_keys), attr_of(l, set, pid_keys),
                                  attr_of(l, set, tid_keys)};
        uint64_t h = fk_hash_str(who.name) ^ fk_hash_str(who.tid) << 1 ^ fk_hash_str(who.pid) << 2;
        uint32_t at = fk_map_first(index, h);
        if (!who.name.p || !who.pid.p || !who.tid.p)
            return -FK_E_NOMEM;
        while (at != FK_NONE && !same_who(&l->who.v[fk_map_id(index, at)], &who))
            at = fk_map_next(index, h, at);
        l->of_set[set] = at == FK_NONE ? (uint32_t)l->who.n : fk_map_id(index, at);
        if (at == FK_NONE && (fk_map_add(index, h, l->of_set[set]) || fk_vec_push(&l->who, who)))
            return -FK_E_NOMEM;
    }
    *ret = l->of_set[set];
    return 0;
}

static int by_time(const void *pa, const void *pb)
{
    const struct fk_lane_obs *a = pa, *b = pb;
    if (a->time_ns != b->time_ns)
        return a->time_ns < b->time_ns ? -1 : 1;
    return a->obs < b->obs ? -1 : a->obs > b->obs;
}

// Counts, then places: lane[r] is that of row r, n[lane] its observations.
static int sort_in(struct fk_lanes *l, const uint32_t *lane, const size_t *n)
{
    const struct fk_profile *p = l->p;
    size_t lanes = l->who.n;
    l->begin = fk_arena_zalloc(&l->arena, (lanes + 1) * sizeof(*l->begin));
    l->v = fk_arena_array(&l->arena, (size_t)p->n_obs + 1, sizeof(*l->v));
    if (!l->begin || !l->v)
        return -FK_E_NOMEM;
    for (size_t i = 1; i < lanes; i++) // where each starts, shifted by one: they move on below
        l->begin[i + 1] = l->begin[i] + n[i - 1];
    for (uint64_t r = 0; r < p->n_rows; r++) {
        uint64_t end = p->obs_begin ? p->obs_begin[r + 1] : r + 1;
        for (uint64_t o = p->obs_begin ? p->obs_begin[r] : r; o < end; o++)
            l->v[l->begin[lane[r] + 1]++] =
                (struct fk_lane_obs){p->time_ns ? p->time_ns[o] : FK_NO_TIME, r, o};
    }
    for (size_t i = 0; p->time_ns && i < lanes; i++)
        qsort(l->v + l->begin[i], l->begin[i + 1] - l->begin[i], sizeof(*l->v), by_time);
    return 0;
}

int fk_lanes_make(struct fk_lanes *l, const struct fk_profile *p)
{
    struct fk_map index = {0};
    FK_VEC(size_t) n = {0};
    memset(l, 0, sizeof(*l));
    l->p = p;
    fk_arena_init(&l->arena, 0);
    l->of_set = fk_arena_array(&l->arena, p->sym.n_sets + (size_t)1, sizeof(uint32_t));
    uint32_t *lane = fk_arena_zalloc(&l->arena, ((size_t)p->n_rows + 1) * sizeof(*lane));
    int rc = l->of_set && lane ? 0 : -FK_E_NOMEM;
    if (!rc)
        memset(l->of_set, 0xff, p->sym.n_sets * sizeof(uint32_t));
    if (!rc && (!p->set || !p->time_ns))
        rc =
            fk_vec_push(&l->who, (struct fk_lane_who){{"", 0}, {"", 0}, {"", 0}}) ? -FK_E_NOMEM : 0;
    for (uint64_t r = 0; !rc && r < p->n_rows; r++) {
        if (p->set && p->time_ns)
            rc = lane_of(l, &index, p->set[r], &lane[r]);
        while (!rc && n.n <= lane[r])
            rc = fk_vec_push(&n, 0) ? -FK_E_NOMEM : 0;
        if (!rc)
            n.v[lane[r]] += p->obs_begin ? (size_t)(p->obs_begin[r + 1] - p->obs_begin[r]) : 1;
    }
    while (!rc && n.n < l->who.n) // nothing in it
        rc = fk_vec_push(&n, 0) ? -FK_E_NOMEM : 0;
    if (!rc)
        rc = sort_in(l, lane, n.v);
    fk_map_free(&index);
    fk_vec_free(&n);
    return rc;
}

void fk_lanes_free(struct fk_lanes *l)
{
    fk_vec_free(&l->who);
    fk_arena_free(&l->arena);
}
