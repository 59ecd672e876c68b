// SPDX-License-Identifier: Apache-2.0
// An event loop on epoll: file descriptors, timers, messages from other threads.
//
// A loop belongs to the thread that runs it. Only fk_loop_post and fk_loop_stop may be called from
// elsewhere. Callbacks may add, change and remove anything, themselves too, and free what they
// removed. All structures are the caller's and stay in place while they are known to the loop.
#ifndef FK_OS_LOOP_H
#define FK_OS_LOOP_H

#include "os/thread.h"

struct fk_loop;

// What a descriptor is waited for and what it is ready for.
enum fk_ready {
    FK_READY_IN = 1,  // can be read (or accepted from), or the other side has ended
    FK_READY_OUT = 2, // can be written, or a connect has ended
    FK_READY_HUP =
        4, // both directions are dead: told even if not waited for; remove the descriptor
    FK_READY_ERR = 8, // likewise; the error shows at the next read or write
};

struct fk_loop_fd {
    int fd; // the loop never closes it
    uint32_t want;
    void (*on)(void *arg, uint32_t ready); // bits of enum fk_ready
    void *arg;
};

struct fk_timer {
    void (*on)(void *arg);
    void *arg;
    int64_t at_ns; // monotonic
    size_t place;  // in the heap, from 1; 0: not running. Zero it before the first use
};

struct fk_loop_msg {
    struct fk_loop_msg *next;
    void (*on)(struct fk_loop_msg *msg); // in the loop's thread; msg is the receiver's again
};

// clock: for timers, borrowed; NULL: the real one.
int fk_loop_new(const struct fk_clock *clock, struct fk_loop **ret, struct fk_err *err);
// Not while it runs. Messages that were not delivered are left to their owners. NULL is fine.
void fk_loop_free(struct fk_loop *loop);
// Runs until fk_loop_stop; messages posted before the stop are delivered. May be run again.
int fk_loop_run(struct fk_loop *loop, struct fk_err *err);
void fk_loop_stop(struct fk_loop *loop); // any thread, any number of times
// The monotonic time at which the present turn began.
int64_t fk_loop_now(const struct fk_loop *loop);

// Level-triggered: told again and again while it is ready. want may be 0 (pausing).
int fk_loop_add(struct fk_loop *loop, struct fk_loop_fd *f, uint32_t want, struct fk_err *err);
int fk_loop_mod(struct fk_loop *loop, struct fk_loop_fd *f, uint32_t want, struct fk_err *err);
// Before the descriptor is closed. Nothing is told of it afterwards, not even in this turn.
void fk_loop_del(struct fk_loop *loop, struct fk_loop_fd *f);

// Fires once at or after at_ns. A running one is moved, which cannot fail; setting a new one can.
int fk_timer_set(struct fk_loop *loop, struct fk_timer *t, int64_t at_ns, struct fk_err *err);
void fk_timer_clear(struct fk_loop *loop, struct fk_timer *t); // fine when not running

// From any thread; never waits, never fails. In order of posting (of one thread). The message must
// not be posted again before it was delivered.
void fk_loop_post(struct fk_loop *loop, struct fk_loop_msg *msg);

#endif
