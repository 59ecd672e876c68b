// SPDX-License-Identifier: Apache-2.0
// Threads, mutexes with ranks, condition variables, reference counts, cancellation.
//
// Every mutex has a rank; a thread may lock a mutex only while all those it holds have a lower one.
// So no two threads can wait for each other. Debug builds (FK_DEBUG) assert it.
#ifndef FK_OS_THREAD_H
#define FK_OS_THREAD_H

#include "base/base.h"

#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>

// The order of locks, outermost first. Rooms may use ranks in between (write FK_RANK_STORE + 1).
enum fk_rank {
    FK_RANK_API = 100,     // requests, sessions, caches of the api room
    FK_RANK_QUERY = 200,   // plans and their shared results
    FK_RANK_STORE = 300,   // commit queue, head list, snapshot
    FK_RANK_CATALOG = 400, // the one connection
    FK_RANK_BLOB = 500,
    FK_RANK_POOL = 600,   // queues of the worker pool
    FK_RANK_LOOP = 700,   // messages posted to a loop
    FK_RANK_SIMFS = 800,  // the simulated file system
    FK_RANK_FILE = 900,   // inside one file
    FK_RANK_LEAF = 10000, // nothing is ever locked under it
};

struct fk_mutex {
    pthread_mutex_t m;
    int rank;
};

// None of these can fail; a misuse that the kernel reports ends the process by assert.
void fk_mutex_init(struct fk_mutex *m, int rank);
void fk_mutex_destroy(struct fk_mutex *m); // must not be locked
void fk_mutex_lock(struct fk_mutex *m);
void fk_mutex_unlock(struct fk_mutex *m);

struct fk_cond {
    pthread_cond_t c;
};

void fk_cond_init(struct fk_cond *c);
void fk_cond_destroy(struct fk_cond *c);
// The caller holds m, and may wake without a reason: loop over the condition.
void fk_cond_wait(struct fk_cond *c, struct fk_mutex *m);
// Until the real monotonic clock shows mono_ns; false when that time has come.
bool fk_cond_wait_until(struct fk_cond *c, struct fk_mutex *m, int64_t mono_ns);
void fk_cond_signal(struct fk_cond *c);
void fk_cond_broadcast(struct fk_cond *c);

// Told once by one thread, waited for once by another, which may then let it go at once: cheaper
// than a condition under a mutex, and what was written before the telling is seen after the wait.
struct fk_event {
    sem_t s;
};

void fk_event_init(struct fk_event *e);
void fk_event_set(struct fk_event *e);
void fk_event_wait(struct fk_event *e); // and destroys it

// A running thread; the structure belongs to the caller and stays in place until joined.
struct fk_thread {
    pthread_t t;
    void (*run)(void *arg);
    void *arg;
    char name[16]; // as shown by ps -L; longer names are cut
};

// The thread runs with all signals blocked (they go to the loop, os/signal.h), but for SIGPROF
// while os/perf.h samples by timers.
int fk_thread_start(struct fk_thread *t, const char *name, void (*run)(void *arg), void *arg,
                    struct fk_err *err);
void fk_thread_join(struct fk_thread *t);
// Processors that this process may run on, at least 1.
unsigned fk_cpu_count(void);

// A count of owners; begins with 1.
struct fk_ref {
    _Atomic uint32_t n;
};

static inline void fk_ref_init(struct fk_ref *r)
{
    atomic_init(&r->n, 1);
}

static inline void fk_ref_take(struct fk_ref *r)
{
    uint32_t was = atomic_fetch_add_explicit(&r->n, 1, memory_order_relaxed);
    assert(was > 0 && was < UINT32_MAX);
    (void)was;
}

// True for the last owner, who frees; everything that other owners did is then visible to it.
static inline bool fk_ref_drop(struct fk_ref *r)
{
    uint32_t was = atomic_fetch_sub_explicit(&r->n, 1, memory_order_acq_rel);
    assert(was > 0);
    return was == 1;
}

// Told by one thread, asked by others in the course of long work. A zeroed one is "go on". The
// first reason stays.
struct fk_cancel {
    _Atomic int reason;    // enum fk_error, or 0
    _Atomic int64_t at_ns; // monotonic, of the first reason
};

// reason: FK_E_CANCELLED (the caller left), FK_E_TIMEOUT or FK_E_STOPPED.
void fk_cancel_set(struct fk_cancel *c, enum fk_error reason);
// 0, or the reason as an error. c may be NULL: never cancelled.
int fk_cancel_check(const struct fk_cancel *c, struct fk_err *err);
// How long ago it was told, in ns; -1: it was not. c may be NULL.
int64_t fk_cancel_age(const struct fk_cancel *c);

#endif
