// SPDX-License-Identifier: Apache-2.0
// Workers and their queues: one mutex, one condition, a ring a class.
#include "os/pool.h"

#include "os/clock.h"

#include <stdio.h>

#define MAX_WORKERS   256
#define DEFAULT_QUEUE 1024

struct work {
    void (*run)(void *arg);
    void *arg;
};

struct queue {
    struct work *ring; // owned
    size_t cap, head, n;
    unsigned running, max_running;
    uint64_t done, refused;
};

struct fk_pool {
    struct fk_mutex lock; // guards all but the threads
    struct fk_cond work;  // something was queued, or stopping
    struct fk_cond idle;  // nothing waits and nothing runs
    struct queue queue[FK_WORK_CLASSES];
    unsigned turn; // class that was served last
    bool stopping;
    unsigned started; // threads to join
    struct fk_thread thread[];
};

// The next class after the last served one that has work and may run it; -1 when there is none.
static int pick(const struct fk_pool *p)
{
    for (unsigned i = 1; i <= FK_WORK_CLASSES; i++) {
        unsigned c = (p->turn + i) % FK_WORK_CLASSES;
        if (p->queue[c].n && p->queue[c].running < p->queue[c].max_running)
            return (int)c;
    }
    return -1;
}

static bool is_idle(const struct fk_pool *p)
{
    for (unsigned c = 0; c < FK_WORK_CLASSES; c++)
        if (p->queue[c].n || p->queue[c].running)
            return false;
    return true;
}

static bool is_empty(const struct fk_pool *p)
{
    for (unsigned c = 0; c < FK_WORK_CLASSES; c++)
        if (p->queue[c].n)
            return false;
    return true;
}

// Runs one work of class c; the lock is held before and after.
static void run_one(struct fk_pool *p, unsigned c)
{
    struct queue *q = &p->queue[c];
    struct work w = q->ring[q->head];
    q->head = (q->head + 1) % q->cap;
    q->n--;
    q->running++;
    p->turn = c;
    fk_mutex_unlock(&p->lock);
    w.run(w.arg);
    fk_mutex_lock(&p->lock);
    // A class that was at its maximum may go on: another worker may be asleep over it.
    if (q->running-- == q->max_running && q->n)
        fk_cond_signal(&p->work);
    q->done++;
    if (is_idle(p))
        fk_cond_broadcast(&p->idle);
}

static void worker(void *arg)
{
    struct fk_pool *p = arg;
    fk_mutex_lock(&p->lock);
    for (;;) {
        int c = pick(p);
        if (c >= 0)
            run_one(p, (unsigned)c);
        else if (p->stopping && is_empty(p))
            break;
        else // not for ever: glibc before 2.41 can lose a signal (its bug 25847)
            fk_cond_wait_until(&p->work, &p->lock, fk_clock_mono(fk_clock_real()) + FK_NS_PER_S);
    }
    fk_mutex_unlock(&p->lock);
    // Others may be waiting for work that will not come.
    fk_cond_broadcast(&p->work);
}

static int make_queues(struct fk_pool *p, const struct fk_pool_opts *opts, unsigned workers,
                       struct fk_err *err)
{
    const unsigned most[FK_WORK_CLASSES] = {workers, (workers + 1) / 2, 1}; // of two or more
    for (unsigned c = 0; c < FK_WORK_CLASSES; c++) {
        struct queue *q = &p->queue[c];
        q->max_running = most[c];
        q->cap = opts->queue[c] ? opts->queue[c] : DEFAULT_QUEUE;
        q->ring = fk_reallocarray(NULL, q->cap, sizeof(*q->ring));
        if (!q->ring)
            return fk_fail_nomem(err);
    }
    return 0;
}

int fk_pool_new(const struct fk_pool_opts *opts, struct fk_pool **ret, struct fk_err *err)
{
    unsigned workers = opts->workers ? opts->workers : fk_cpu_count();
    workers = FK_MIN(FK_MAX(workers, 2u), (unsigned)MAX_WORKERS);
    struct fk_pool *p = fk_calloc(1, sizeof(*p) + workers * sizeof(p->thread[0]));
    if (!p)
        return fk_fail_nomem(err);
    fk_mutex_init(&p->lock, FK_RANK_POOL);
    fk_cond_init(&p->work);
    fk_cond_init(&p->idle);
    int r = make_queues(p, opts, workers, err);
    for (unsigned i = 0; r == 0 && i < workers; i++) {
        char name[16];
        snprintf(name, sizeof(name), "%.12s%u", opts->name ? opts->name : "worker", i % 1000);
        r = fk_thread_start(&p->thread[i], name, worker, p, err);
        if (r == 0)
            p->started++;
    }
    if (r) {
        fk_pool_free(p);
        return r;
    }
    *ret = p;
    return 0;
}

int fk_pool_submit(struct fk_pool *p, enum fk_work_class cls, void (*run)(void *arg), void *arg,
                   struct fk_err *err)
{
    struct queue *q = &p->queue[cls];
    fk_mutex_lock(&p->lock);
    bool stopping = p->stopping, full = q->n == q->cap;
    if (stopping || full) {
        q->refused++;
    } else {
        q->ring[(q->head + q->n++) % q->cap] = (struct work){run, arg};
        fk_cond_signal(&p->work);
    }
    fk_mutex_unlock(&p->lock);
    if (stopping)
        return fk_fail(err, FK_E_STOPPED, "the process is stopping");
    if (full)
        return fk_fail(err, FK_E_BUSY, "%zu requests are waiting already: try again later", q->cap);
    return 0;
}

void fk_pool_drain(struct fk_pool *p)
{
    fk_mutex_lock(&p->lock);
    while (!is_idle(p))
        fk_cond_wait(&p->idle, &p->lock);
    fk_mutex_unlock(&p->lock);
}

void fk_pool_stop(struct fk_pool *p)
{
    fk_mutex_lock(&p->lock);
    p->stopping = true;
    fk_cond_broadcast(&p->work);
    unsigned join = p->started;
    p->started = 0;
    fk_mutex_unlock(&p->lock);
    for (unsigned i = 0; i < join; i++)
        fk_thread_join(&p->thread[i]);
}

void fk_pool_free(struct fk_pool *p)
{
    if (!p)
        return;
    fk_pool_stop(p);
    for (unsigned c = 0; c < FK_WORK_CLASSES; c++)
        fk_free(p->queue[c].ring);
    fk_cond_destroy(&p->idle);
    fk_cond_destroy(&p->work);
    fk_mutex_destroy(&p->lock);
    fk_free(p);
}

void fk_pool_stats(struct fk_pool *p, struct fk_pool_stats *ret)
{
    fk_mutex_lock(&p->lock);
    *ret = (struct fk_pool_stats){.workers = p->started};
    for (unsigned c = 0; c < FK_WORK_CLASSES; c++) {
        ret->waiting[c] = p->queue[c].n;
        ret->running[c] = p->queue[c].running;
        ret->done[c] = p->queue[c].done;
        ret->refused[c] = p->queue[c].refused;
    }
    fk_mutex_unlock(&p->lock);
}
