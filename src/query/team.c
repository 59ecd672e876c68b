// SPDX-License-Identifier: Apache-2.0
// A merge by several threads. The parts are cut into as many shares as there are processors; the
// caller takes shares until none is left, workers of the pool take some if they come by in time.
// Each share is a tree of its own; added up in the order of the parts they are what one thread
// would have made.
//
// The caller waits for shares that somebody has begun, never for a worker that has not come: a
// pool full of such callers goes on. A worker that comes too late finds the team closed.
#include "query/query_int.h"

#define SHARES_MAX 8
#define PAGES_MIN  8 // a helper is not worth its wake for less

struct share {
    size_t begin, end; // of the parts
    struct fk_tree *tree;
    uint64_t rows, bytes, truncated;
    int result;
    struct fk_err err;
};

struct team {
    struct fk_mutex lock;
    struct fk_cond quiet;  // nobody works
    unsigned refs, active; // who may still come; who works
    bool closed;
    const struct fk_query *q; // until closed
    FK_VEC(struct fk_part) parts;
    uint64_t pages;
    struct share share[SHARES_MAX];
    unsigned n;
    _Atomic unsigned next;
    _Atomic bool failed;
};

static void leave(struct team *t)
{
    fk_mutex_lock(&t->lock);
    bool last = --t->refs == 0;
    fk_mutex_unlock(&t->lock);
    if (!last)
        return;
    fk_vec_free(&t->parts);
    fk_cond_destroy(&t->quiet);
    fk_mutex_destroy(&t->lock);
    fk_free(t);
}

static int add_part(void *arg, const struct fk_part *part, struct fk_err *err)
{
    struct team *t = arg;
    t->pages += fk_part_pages(part);
    return fk_vec_push(&t->parts, *part) ? fk_fail_nomem(err) : 0;
}

// ---- shares ----

// Cuts the parts where the pages before are 1/n, 2/n ... of all.
static void cut(struct team *t, unsigned n)
{
    uint64_t before = 0;
    size_t at = 0;
    for (t->n = 0; t->n < n; t->n++) {
        struct share *x = &t->share[t->n];
        x->begin = at;
        uint64_t until = t->pages * (t->n + 1) / n;
        while (at < t->parts.n && (before < until || t->n + 1 == n))
            before += fk_part_pages(&t->parts.v[at++]);
        x->end = at;
    }
}

static int merge_share(struct team *t, struct share *x, struct fk_query *q)
{
    struct fk_tree_job job;
    struct fk_scan scan;
    x->tree = fk_tree_new(1, (size_t)q->opts.memory);
    if (!x->tree)
        return fk_fail_nomem(&x->err);
    fk_tree_scan(q, x->tree, 0, &job, &scan);
    int r = fk_scan_begin(&scan, &x->err);
    for (size_t i = x->begin; r == 0 && i < x->end && !t->failed; i++)
        r = fk_scan_part(&scan, &t->parts.v[i], &x->err);
    fk_scan_end(&scan);
    return r;
}

// With a query of its own in what a scan writes to: counters and arena.
static void take_share(struct team *t, struct share *x)
{
    struct fk_query mine = *t->q;
    mine.opts.memory = FK_MAX(mine.opts.memory / t->n, (uint64_t)1); // all together are one query
    fk_arena_init(&mine.arena, (size_t)mine.opts.memory);
    mine.rows = mine.bytes = mine.truncated = 0;
    mine.n_warnings = 0;
    x->result = merge_share(t, x, &mine);
    if (x->result)
        t->failed = true;
    x->rows = mine.rows;
    x->bytes = mine.bytes;
    x->truncated = mine.truncated;
    fk_arena_free(&mine.arena);
}

static void work(struct team *t)
{
    for (unsigned i = t->next++; i < t->n && !t->failed; i = t->next++)
        take_share(t, &t->share[i]);
}

static void help(void *arg)
{
    struct team *t = arg;
    fk_mutex_lock(&t->lock);
    bool late = t->closed;
    t->active += !late;
    fk_mutex_unlock(&t->lock);
    if (!late) {
        work(t);
        fk_mutex_lock(&t->lock);
        if (--t->active == 0)
            fk_cond_broadcast(&t->quiet);
        fk_mutex_unlock(&t->lock);
    }
    leave(t);
}

// ---- the caller ----

static void call_helpers(struct team *t, struct fk_pool *pool)
{
    for (unsigned i = 1; i < t->n; i++) {
        fk_mutex_lock(&t->lock);
        t->refs++;
        fk_mutex_unlock(&t->lock);
        if (fk_pool_submit(pool, FK_WORK_QUERY, help, t, NULL)) {
            leave(t); // all are busy: it is done without
            return;
        }
    }
}

static void wait_for_helpers(struct team *t)
{
    fk_mutex_lock(&t->lock);
    t->closed = true;
    while (t->active)
        fk_cond_wait(&t->quiet, &t->lock);
    fk_mutex_unlock(&t->lock);
}

// The first share that failed tells why.
static int add_up(struct team *t, struct fk_query *q, struct fk_tree *into, uint32_t column,
                  struct fk_err *err)
{
    int r = 0;
    for (unsigned i = 0; r == 0 && i < t->n; i++)
        if ((r = t->share[i].result) && err)
            *err = t->share[i].err;
    for (unsigned i = 0; i < t->n; i++) {
        struct share *x = &t->share[i];
        q->rows += x->rows;
        q->bytes += x->bytes;
        q->truncated += x->truncated;
        if (r == 0 && x->tree)
            r = fk_tree_add(into, column, x->tree, err);
        fk_tree_free(x->tree);
        x->tree = NULL;
    }
    return r;
}

// Whether what each share may take was too little for one of them.
static bool is_tight(const struct team *t)
{
    bool tight = false;
    for (unsigned i = 0; i < t->n; i++)
        tight |= t->share[i].result == -FK_E_LIMIT || t->share[i].result == -FK_E_NOMEM;
    return tight;
}

static int merge_alone(struct fk_query *q, struct fk_tree *into, uint32_t column,
                       struct fk_err *err)
{
    struct fk_tree_job job;
    struct fk_scan scan;
    fk_tree_scan(q, into, column, &job, &scan);
    return fk_scan_run(&scan, err);
}

int fk_merge_trees(struct fk_query *q, struct fk_tree *into, uint32_t column, struct fk_err *err)
{
    unsigned n = FK_MIN(fk_cpu_count(), (unsigned)SHARES_MAX);
    if (!q->opts.pool || n < 2)
        return merge_alone(q, into, column, err);
    struct team *t = fk_calloc(1, sizeof(*t));
    if (!t)
        return fk_fail_nomem(err);
    fk_mutex_init(&t->lock, FK_RANK_QUERY);
    fk_cond_init(&t->quiet);
    t->refs = 1;
    t->q = q;
    int r = fk_query_parts(q, add_part, t, err);
    if (r == 0 && (t->pages < PAGES_MIN || t->parts.n < 2)) {
        r = merge_alone(q, into, column, err);
    } else if (r == 0) {
        cut(t, FK_MIN(n, (unsigned)t->parts.n));
        q->rows = q->truncated = 0; // from here on it is only read
        call_helpers(t, q->opts.pool);
        work(t);
        wait_for_helpers(t);
        r = add_up(t, q, into, column, err);
        if (r && is_tight(t)) { // nothing was added up; one thread has room for all
            q->rows = q->bytes = q->truncated = 0;
            r = merge_alone(q, into, column, err);
        }
    }
    leave(t);
    return r;
}
