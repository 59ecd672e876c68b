// SPDX-License-Identifier: Apache-2.0
// Sampling our own threads where perf is forbidden: a timer on the processor time of each thread
// (timer_create(2) with SIGEV_THREAD_ID) sends it SIGPROF, and the handler walks the frame pointers
// of its own stack. Only user frames, and a thread is found at the first drain after its start.
#include "os/cpu_timer_int.h"

#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#define SLOTS     1024
#define MAX_DEPTH 127

enum { FREE, WRITING, FULL };

struct slot {
    _Atomic uint32_t state;
    uint32_t tid, n;
    int64_t time_ns;
    uint64_t frame[MAX_DEPTH];
};

// Written by handlers on any thread, so it stays mapped until the process ends: a signal may still
// be on its way when the timers are gone.
struct ring {
    _Atomic uint32_t next;
    _Atomic uint64_t lost;
    struct slot slot[SLOTS];
};

struct thread_timer {
    uint32_t tid;
    timer_t timer;
    bool seen;
};

struct fk_cpu_timer {
    struct ring *ring;
    uint32_t hz;
    FK_VEC(struct thread_timer) timers;
};

_Thread_local uintptr_t fk_stack_top_;

void fk_note_stack_top(void)
{
    pthread_attr_t attr;
    void *low;
    size_t size;
    if (pthread_getattr_np(pthread_self(), &attr))
        return;
    if (pthread_attr_getstack(&attr, &low, &size) == 0)
        fk_stack_top_ = (uintptr_t)low + size;
    pthread_attr_destroy(&attr);
}

// ---- in the handler: nothing here may allocate, lock or touch another thread's stack ----

struct registers {
    uintptr_t pc, fp, sp;
};

static struct registers registers_of(const ucontext_t *u)
{
#if defined(__x86_64__)
    return (struct registers){(uintptr_t)u->uc_mcontext.gregs[REG_RIP],
                              (uintptr_t)u->uc_mcontext.gregs[REG_RBP],
                              (uintptr_t)u->uc_mcontext.gregs[REG_RSP]};
#elif defined(__aarch64__)
    return (struct registers){u->uc_mcontext.pc, u->uc_mcontext.regs[29], u->uc_mcontext.sp};
#else
    (void)u;
    return (struct registers){0};
#endif
}

// A frame is {caller's frame pointer, return address}. Only what lies within this thread's own
// stack and further out than the frame before is believed: code without frame pointers leaves
// anything in that register.
__attribute__((no_sanitize("address", "thread"))) static uint32_t walk(struct registers r,
                                                                       uint64_t *frame)
{
    uint32_t n = 0;
    uintptr_t fp = r.fp, low = r.sp, top = fk_stack_top_;
    frame[n++] = r.pc;
    while (n < MAX_DEPTH && fp >= low && fp % 8 == 0 && top >= 16 && fp <= top - 16) {
        const uintptr_t *at = (const uintptr_t *)fp; // NOLINT: an address of our own stack
        if (!at[1])
            break;
        frame[n++] = at[1];
        low = fp + 16;
        fp = at[0];
    }
    return n;
}

static void on_tick(int number, siginfo_t *info, void *context)
{
    int saved = errno;
    struct ring *ring = info->si_code == SI_TIMER ? info->si_value.sival_ptr : NULL;
    struct timespec now;
    (void)number;
    if (!ring)
        return;
    struct slot *s = &ring->slot[atomic_fetch_add(&ring->next, 1) % SLOTS];
    uint32_t expected = FREE;
    if (!atomic_compare_exchange_strong(&s->state, &expected, WRITING)) {
        atomic_fetch_add(&ring->lost, 1);
        return;
    }
    clock_gettime(CLOCK_REALTIME, &now);
    s->tid = (uint32_t)syscall(SYS_gettid);
    s->time_ns = (int64_t)now.tv_sec * FK_NS_PER_S + now.tv_nsec;
    s->n = walk(registers_of(context), s->frame);
    atomic_store_explicit(&s->state, FULL, memory_order_release);
    errno = saved;
}

// ---- timers ----

// The clock of one thread's processor time, as the kernel numbers them (CPUCLOCK_SCHED of a single
// thread; include/linux/posix-timers.h has the same arithmetic for its own use).
static clockid_t clock_of(uint32_t tid)
{
    return (clockid_t)((~tid << 3) | 6u);
}

static int add_timer(struct fk_cpu_timer *t, uint32_t tid)
{
    struct sigevent e = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGPROF};
    struct thread_timer x = {.tid = tid, .seen = true};
    const long period = (long)(FK_NS_PER_S / t->hz);
    const struct itimerspec every = {{0, period}, {0, period}};
    e.sigev_value.sival_ptr = t->ring;
    e._sigev_un._tid = (pid_t)tid;
    if (fk_vec_reserve(&t->timers, 1))
        return -FK_E_NOMEM;
    if (timer_create(clock_of(tid), &e, &x.timer))
        return -FK_E_UNSUPPORTED;
    timer_settime(x.timer, 0, &every, NULL);
    t->timers.v[t->timers.n++] = x;
    return 0;
}

static struct thread_timer *timer_of(struct fk_cpu_timer *t, uint32_t tid)
{
    for (size_t i = 0; i < t->timers.n; i++)
        if (t->timers.v[i].tid == tid)
            return &t->timers.v[i];
    return NULL;
}

// Timers for the threads that came; those of the threads that went are deleted.
static int follow_threads(struct fk_cpu_timer *t)
{
    DIR *dir = opendir("/proc/self/task");
    int r = dir ? 0 : -FK_E_UNSUPPORTED;
    for (size_t i = 0; i < t->timers.n; i++)
        t->timers.v[i].seen = false;
    for (struct dirent *d; r == 0 && (d = readdir(dir));) {
        uint32_t tid = (uint32_t)strtoul(d->d_name, NULL, 10);
        struct thread_timer *have = tid ? timer_of(t, tid) : NULL;
        if (have)
            have->seen = true;
        else if (tid && add_timer(t, tid) && t->timers.n == 0)
            r = -FK_E_UNSUPPORTED; // one that just ended is no reason to give up
    }
    if (dir)
        closedir(dir);
    for (size_t i = 0; i < t->timers.n;) {
        if (t->timers.v[i].seen) {
            i++;
            continue;
        }
        timer_delete(t->timers.v[i].timer);
        t->timers.v[i] = t->timers.v[--t->timers.n];
    }
    return r;
}

static int take_signal(void)
{
    struct sigaction a = {.sa_sigaction = on_tick, .sa_flags = SA_SIGINFO | SA_RESTART};
    sigset_t prof;
    sigemptyset(&a.sa_mask);
    sigemptyset(&prof);
    sigaddset(&prof, SIGPROF);
    return sigaction(SIGPROF, &a, NULL) || pthread_sigmask(SIG_UNBLOCK, &prof, NULL);
}

int fk_cpu_timer_open(uint32_t hz, struct fk_cpu_timer **ret, struct fk_err *err)
{
    struct fk_cpu_timer *t = fk_calloc(1, sizeof(*t));
    if (!t)
        return fk_fail_nomem(err);
    t->hz = hz;
    void *map =
        mmap(NULL, sizeof(struct ring), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (map == MAP_FAILED) {
        fk_free(t);
        return fk_fail_nomem(err);
    }
    t->ring = map;
    fk_note_stack_top();
    if (take_signal() || follow_threads(t)) {
        fk_cpu_timer_close(t);
        return fk_fail(err, FK_E_UNSUPPORTED,
                       "the system does not let programs time their threads (timer_create)");
    }
    *ret = t;
    return 0;
}

void fk_cpu_timer_close(struct fk_cpu_timer *t)
{
    if (!t)
        return;
    for (size_t i = 0; i < t->timers.n; i++)
        timer_delete(t->timers.v[i].timer);
    signal(SIGPROF, SIG_IGN); // also drops what is pending
    fk_vec_free(&t->timers);
    fk_free(t);
}

int fk_cpu_timer_drain(struct fk_cpu_timer *t,
                       int (*on)(void *arg, const struct fk_perf_sample *s, struct fk_err *err),
                       void *arg, uint64_t *ret_lost, struct fk_err *err)
{
    int r = 0;
    for (uint32_t i = 0; r == 0 && i < SLOTS; i++) {
        struct slot *s = &t->ring->slot[i];
        if (atomic_load_explicit(&s->state, memory_order_acquire) != FULL)
            continue;
        struct fk_perf_sample x = {
            .tid = s->tid, .time_ns = s->time_ns, .frame = s->frame, .n = s->n};
        r = on(arg, &x, err);
        atomic_store_explicit(&s->state, FREE, memory_order_release);
    }
    uint64_t lost = atomic_exchange(&t->ring->lost, 0);
    if (ret_lost)
        *ret_lost += lost;
    (void)follow_threads(t);
    return r;
}
