// SPDX-License-Identifier: Apache-2.0
// Threads and locks on pthreads.
#include "os/thread.h"

#include "os/clock.h"

#include "os/cpu_timer_int.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <time.h>

// pthread calls on valid objects fail only through misuse.
static void must(int r)
{
    assert(r == 0);
    (void)r;
}

#ifdef FK_DEBUG
// Ranks of the mutexes that this thread holds, in order of locking.
static _Thread_local int held[32];
static _Thread_local unsigned held_n;

static void note_lock(int rank)
{
    assert(held_n < FK_COUNTOF(held));
    for (unsigned i = 0; i < held_n; i++)
        assert(held[i] < rank && "mutex taken against the order of ranks");
    held[held_n++] = rank;
}

static void note_unlock(int rank)
{
    unsigned i = held_n;
    while (i > 0 && held[i - 1] != rank)
        i--;
    assert(i > 0 && "mutex released that is not held");
    for (; i < held_n; i++)
        held[i - 1] = held[i];
    held_n--;
}
#else
static void note_lock(int rank)
{
    (void)rank;
}

static void note_unlock(int rank)
{
    (void)rank;
}
#endif

void fk_mutex_init(struct fk_mutex *m, int rank)
{
    must(pthread_mutex_init(&m->m, NULL));
    m->rank = rank;
}

void fk_mutex_destroy(struct fk_mutex *m)
{
    must(pthread_mutex_destroy(&m->m));
}

void fk_mutex_lock(struct fk_mutex *m)
{
    note_lock(m->rank);
    must(pthread_mutex_lock(&m->m));
}

void fk_mutex_unlock(struct fk_mutex *m)
{
    note_unlock(m->rank); // before: once unlocked, another thread may free it
    must(pthread_mutex_unlock(&m->m));
}

void fk_event_init(struct fk_event *e)
{
    must(sem_init(&e->s, 0, 0));
}

void fk_event_set(struct fk_event *e)
{
    must(sem_post(&e->s));
}

void fk_event_wait(struct fk_event *e)
{
    while (sem_wait(&e->s))
        must(errno == EINTR ? 0 : errno);
    must(sem_destroy(&e->s));
}

void fk_cond_init(struct fk_cond *c)
{
    pthread_condattr_t attr;
    must(pthread_condattr_init(&attr));
    must(pthread_condattr_setclock(&attr, CLOCK_MONOTONIC));
    must(pthread_cond_init(&c->c, &attr));
    must(pthread_condattr_destroy(&attr));
}

void fk_cond_destroy(struct fk_cond *c)
{
    must(pthread_cond_destroy(&c->c));
}

void fk_cond_wait(struct fk_cond *c, struct fk_mutex *m)
{
    must(pthread_cond_wait(&c->c, &m->m));
}

bool fk_cond_wait_until(struct fk_cond *c, struct fk_mutex *m, int64_t mono_ns)
{
    mono_ns = FK_MAX(mono_ns, (int64_t)0);
    struct timespec at = {mono_ns / FK_NS_PER_S, mono_ns % FK_NS_PER_S};
    int r = pthread_cond_timedwait(&c->c, &m->m, &at);
    assert(r == 0 || r == ETIMEDOUT);
    return r == 0;
}

void fk_cond_signal(struct fk_cond *c)
{
    must(pthread_cond_signal(&c->c));
}

void fk_cond_broadcast(struct fk_cond *c)
{
    must(pthread_cond_broadcast(&c->c));
}

static void *start(void *arg)
{
    struct fk_thread *t = arg;
    struct sigaction prof;
    pthread_setname_np(pthread_self(), t->name);
    fk_note_stack_top();
    // The one signal that threads take: from their own timers, when the program samples itself.
    if (sigaction(SIGPROF, NULL, &prof) == 0 && prof.sa_flags & SA_SIGINFO) {
        sigset_t set;
        sigemptyset(&set);
        sigaddset(&set, SIGPROF);
        must(pthread_sigmask(SIG_UNBLOCK, &set, NULL));
    }
    t->run(t->arg);
    return NULL;
}

int fk_thread_start(struct fk_thread *t, const char *name, void (*run)(void *arg), void *arg,
                    struct fk_err *err)
{
    sigset_t all, before;
    t->run = run;
    t->arg = arg;
    snprintf(t->name, sizeof(t->name), "%.15s", name);
    sigfillset(&all);
    must(pthread_sigmask(SIG_SETMASK, &all, &before));
    int r = pthread_create(&t->t, NULL, start, t);
    must(pthread_sigmask(SIG_SETMASK, &before, NULL));
    return r ? fk_fail_errno(err, r, "cannot start the thread %s", name) : 0;
}

void fk_thread_join(struct fk_thread *t)
{
    must(pthread_join(t->t, NULL));
}

unsigned fk_cpu_count(void)
{
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof(set), &set))
        return 1;
    int n = CPU_COUNT(&set);
    return n > 0 ? (unsigned)n : 1;
}

void fk_cancel_set(struct fk_cancel *c, enum fk_error reason)
{
    int none = 0;
    int64_t never = 0;
    atomic_compare_exchange_strong(&c->at_ns, &never, fk_clock_mono(fk_clock_real()));
    atomic_compare_exchange_strong(&c->reason, &none, (int)reason);
}

int64_t fk_cancel_age(const struct fk_cancel *c)
{
    int64_t at = c ? atomic_load(&c->at_ns) : 0;
    return at ? fk_clock_mono(fk_clock_real()) - at : -1;
}

int fk_cancel_check(const struct fk_cancel *c, struct fk_err *err)
{
    int reason = c ? atomic_load_explicit(&c->reason, memory_order_acquire) : 0;
    switch (reason) {
    case 0:
        return 0;
    case FK_E_TIMEOUT:
        return fk_fail(err, FK_E_TIMEOUT, "the work was ended at its time limit");
    case FK_E_STOPPED:
        return fk_fail(err, FK_E_STOPPED, "the work was ended because the process is stopping");
    default:
        return fk_fail(err, FK_E_CANCELLED, "the work was ended because its caller left");
    }
}
