// SPDX-License-Identifier: Apache-2.0
// A bounded pool of worker threads. Work belongs to a class; no class but ingest may take all
// workers, so that a push never waits behind a long query.
#ifndef FK_OS_POOL_H
#define FK_OS_POOL_H

#include "os/thread.h"

enum fk_work_class {
    FK_WORK_INGEST,     // may use every worker
    FK_WORK_QUERY,      // may use half of them, rounded up
    FK_WORK_BACKGROUND, // seal, compact, retention: may use one
    FK_WORK_CLASSES,
};

struct fk_pool_opts {
    unsigned workers;              // 0: as many as processors; at least 2, at most 256
    size_t queue[FK_WORK_CLASSES]; // waiting works of each class, at most; 0: 1024
    const char *name;              // of the threads, cut at 12 characters; NULL: "worker"
};

struct fk_pool;

// Starts the workers.
int fk_pool_new(const struct fk_pool_opts *opts, struct fk_pool **ret, struct fk_err *err);
// Queues run(arg) for a worker; never waits, never allocates. FK_E_BUSY when the class's queue is
// full, FK_E_STOPPED after fk_pool_stop. run must not call fk_pool_drain, _stop or _free. Classes
// with work waiting take turns.
int fk_pool_submit(struct fk_pool *pool, enum fk_work_class cls, void (*run)(void *arg), void *arg,
                   struct fk_err *err);
// Waits until nothing waits and nothing runs; what is submitted meanwhile is waited for too.
void fk_pool_drain(struct fk_pool *pool);
// Takes no more work; runs what was accepted, to its end, and ends the threads. May be called
// twice, but by one thread.
void fk_pool_stop(struct fk_pool *pool);
// Stops and frees; nobody may be using the pool. NULL is fine.
void fk_pool_free(struct fk_pool *pool);

struct fk_pool_stats {
    unsigned workers;
    size_t waiting[FK_WORK_CLASSES];
    unsigned running[FK_WORK_CLASSES];
    uint64_t done[FK_WORK_CLASSES];
    uint64_t refused[FK_WORK_CLASSES];
};
void fk_pool_stats(struct fk_pool *pool, struct fk_pool_stats *ret);

#endif
