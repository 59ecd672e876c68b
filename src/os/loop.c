// SPDX-License-Identifier: Apache-2.0
// The event loop. Timers are a binary heap; messages a list under a mutex with an eventfd as bell.
#include "os/loop.h"

#include "os/clock.h"

#include <errno.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define BATCH 128

struct fk_loop {
    int epoll, bell;
    const struct fk_clock *clock;
    int64_t now;
    FK_VEC(struct fk_timer *) heap; // [0] is the next
    struct epoll_event events[BATCH];
    int event, event_n;   // the batch being told
    struct fk_mutex lock; // guards the messages
    struct fk_loop_msg *first, **last;
    atomic_bool stop;
};

int fk_loop_new(const struct fk_clock *clock, struct fk_loop **ret, struct fk_err *err)
{
    struct fk_loop *l = fk_calloc(1, sizeof(*l));
    if (!l)
        return fk_fail_nomem(err);
    l->clock = clock ? clock : fk_clock_real();
    l->now = fk_clock_mono(l->clock);
    l->last = &l->first;
    fk_mutex_init(&l->lock, FK_RANK_LOOP);
    l->bell = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    l->epoll = epoll_create1(EPOLL_CLOEXEC);
    struct epoll_event bell = {.events = EPOLLIN | EPOLLET, .data.ptr = NULL};
    if (l->bell < 0 || l->epoll < 0 || epoll_ctl(l->epoll, EPOLL_CTL_ADD, l->bell, &bell)) {
        int sys = errno;
        fk_loop_free(l);
        return fk_fail_errno(err, sys, "cannot make an event loop");
    }
    *ret = l;
    return 0;
}

void fk_loop_free(struct fk_loop *l)
{
    if (!l)
        return;
    for (size_t i = 0; i < l->heap.n; i++)
        l->heap.v[i]->place = 0;
    fk_vec_free(&l->heap);
    if (l->epoll >= 0)
        close(l->epoll);
    if (l->bell >= 0)
        close(l->bell);
    fk_mutex_destroy(&l->lock);
    fk_free(l);
}

int64_t fk_loop_now(const struct fk_loop *l)
{
    return l->now;
}

// --- descriptors ---
static uint32_t to_epoll(uint32_t want)
{
    return (want & FK_READY_IN ? (uint32_t)EPOLLIN | EPOLLRDHUP : 0) |
           (want & FK_READY_OUT ? (uint32_t)EPOLLOUT : 0);
}

static uint32_t from_epoll(uint32_t events)
{
    return (events & (EPOLLIN | EPOLLRDHUP) ? (uint32_t)FK_READY_IN : 0) |
           (events & EPOLLOUT ? (uint32_t)FK_READY_OUT : 0) |
           (events & EPOLLHUP ? (uint32_t)FK_READY_HUP : 0) |
           (events & EPOLLERR ? (uint32_t)FK_READY_ERR : 0);
}

static int control(struct fk_loop *l, int op, struct fk_loop_fd *f, uint32_t want,
                   struct fk_err *err)
{
    struct epoll_event e = {.events = to_epoll(want), .data.ptr = f};
    if (epoll_ctl(l->epoll, op, f->fd, &e))
        return fk_fail_errno(err, errno, "cannot watch descriptor %d", f->fd);
    f->want = want;
    return 0;
}

int fk_loop_add(struct fk_loop *l, struct fk_loop_fd *f, uint32_t want, struct fk_err *err)
{
    return control(l, EPOLL_CTL_ADD, f, want, err);
}

int fk_loop_mod(struct fk_loop *l, struct fk_loop_fd *f, uint32_t want, struct fk_err *err)
{
    return want == f->want ? 0 : control(l, EPOLL_CTL_MOD, f, want, err);
}

void fk_loop_del(struct fk_loop *l, struct fk_loop_fd *f)
{
    epoll_ctl(l->epoll, EPOLL_CTL_DEL, f->fd, NULL);
    for (int i = l->event; i < l->event_n; i++)
        if (l->events[i].data.ptr == f)
            l->events[i].events = 0;
}

static void ring(struct fk_loop *l)
{
    uint64_t one = 1;
    ssize_t n;
    do
        n = write(l->bell, &one, sizeof(one));
    while (n < 0 && errno == EINTR); // EAGAIN: it rings already
}

static void tell_events(struct fk_loop *l, int n)
{
    l->event_n = n;
    for (l->event = 0; l->event < l->event_n;) {
        struct epoll_event e = l->events[l->event++];
        struct fk_loop_fd *f = e.data.ptr;
        if (f && e.events) // the bell only wakes; it is edge-triggered and never read
            f->on(f->arg, from_epoll(e.events));
    }
    l->event = l->event_n = 0;
}

// --- timers ---
static void put_at(struct fk_loop *l, size_t i, struct fk_timer *t)
{
    l->heap.v[i] = t;
    t->place = i + 1;
}

static void sift_up(struct fk_loop *l, size_t i, struct fk_timer *t)
{
    while (i > 0 && l->heap.v[(i - 1) / 2]->at_ns > t->at_ns) {
        put_at(l, i, l->heap.v[(i - 1) / 2]);
        i = (i - 1) / 2;
    }
    put_at(l, i, t);
}

static void sift_down(struct fk_loop *l, size_t i, struct fk_timer *t)
{
    for (;;) {
        size_t child = 2 * i + 1;
        if (child + 1 < l->heap.n && l->heap.v[child + 1]->at_ns < l->heap.v[child]->at_ns)
            child++;
        if (child >= l->heap.n || l->heap.v[child]->at_ns >= t->at_ns)
            break;
        put_at(l, i, l->heap.v[child]);
        i = child;
    }
    put_at(l, i, t);
}

static void place(struct fk_loop *l, size_t i, struct fk_timer *t)
{
    if (i > 0 && l->heap.v[(i - 1) / 2]->at_ns > t->at_ns)
        sift_up(l, i, t);
    else
        sift_down(l, i, t);
}

int fk_timer_set(struct fk_loop *l, struct fk_timer *t, int64_t at_ns, struct fk_err *err)
{
    size_t i = t->place;
    if (i == 0) {
        if (fk_vec_push(&l->heap, t))
            return fk_fail_nomem(err);
        i = l->heap.n;
    }
    t->at_ns = at_ns;
    place(l, i - 1, t);
    return 0;
}

void fk_timer_clear(struct fk_loop *l, struct fk_timer *t)
{
    if (t->place == 0)
        return;
    size_t i = t->place - 1;
    struct fk_timer *last = l->heap.v[--l->heap.n];
    t->place = 0;
    if (last != t)
        place(l, i, last);
}

// A timer that its callback sets to a past time waits for the next turn.
static void tell_timers(struct fk_loop *l)
{
    for (size_t n = l->heap.n; n > 0 && l->heap.n > 0 && l->heap.v[0]->at_ns <= l->now; n--) {
        struct fk_timer *t = l->heap.v[0];
        fk_timer_clear(l, t);
        t->on(t->arg);
    }
}

// Milliseconds until the next timer, rounded up; -1 without one.
static int wait_ms(const struct fk_loop *l)
{
    if (l->heap.n == 0)
        return -1;
    int64_t ns = l->heap.v[0]->at_ns - fk_clock_mono(l->clock);
    if (ns <= 0)
        return 0;
    return (int)FK_MIN((ns + FK_NS_PER_MS - 1) / FK_NS_PER_MS, (int64_t)60000);
}

// --- messages ---
void fk_loop_post(struct fk_loop *l, struct fk_loop_msg *msg)
{
    msg->next = NULL;
    fk_mutex_lock(&l->lock);
    bool was_empty = !l->first;
    *l->last = msg;
    l->last = &msg->next;
    if (was_empty)
        ring(l); // inside, so that the loop cannot be freed between
    fk_mutex_unlock(&l->lock);
}

static void tell_messages(struct fk_loop *l)
{
    fk_mutex_lock(&l->lock);
    struct fk_loop_msg *m = l->first;
    l->first = NULL;
    l->last = &l->first;
    fk_mutex_unlock(&l->lock);
    while (m) {
        struct fk_loop_msg *next = m->next;
        m->on(m);
        m = next;
    }
}

// --- the loop ---
void fk_loop_stop(struct fk_loop *l)
{
    fk_mutex_lock(&l->lock);
    atomic_store(&l->stop, true);
    ring(l);
    fk_mutex_unlock(&l->lock);
}

int fk_loop_run(struct fk_loop *l, struct fk_err *err)
{
    while (!atomic_load(&l->stop)) {
        int n = epoll_wait(l->epoll, l->events, BATCH, wait_ms(l));
        if (n < 0 && errno != EINTR)
            return fk_fail_errno(err, errno, "cannot wait for events");
        l->now = fk_clock_mono(l->clock);
        tell_events(l, FK_MAX(n, 0));
        tell_timers(l);
        tell_messages(l);
    }
    tell_messages(l);
    atomic_store(&l->stop, false);
    return 0;
}
