// SPDX-License-Identifier: Apache-2.0
// Sampling this process's threads with perf_event_open(2): CPU clock, frame-pointer call chains,
// wall-clock times. Linux only; the first way needs kernel.perf_event_paranoid <= 2 (own threads,
// user frames),
// <= 1 or root for kernel frames.
#ifndef FK_OS_PERF_H
#define FK_OS_PERF_H

#include "base/base.h"

#define FK_OWN_PATH 512

struct fk_perf;

struct fk_perf_sample {
    uint32_t tid;
    int64_t time_ns;       // Unix
    const uint64_t *frame; // addresses, leaf first; borrowed for the call
    uint32_t n;
    uint32_t n_kernel; // how many of the first are of the kernel
};

// Starts sampling the calling thread and every thread that it (or they) will start: call it before
// there are others. hz: samples per second of CPU time. FK_E_UNSUPPORTED says what the system
// forbids.
int fk_perf_open_self(uint32_t hz, struct fk_perf **ret, struct fk_err *err);
// The same where that is forbidden, by a timer on each thread's processor time and SIGPROF: user
// frames only, a thread counts from the first drain after its start. One at a time in a process.
int fk_perf_open_timer(uint32_t hz, struct fk_perf **ret, struct fk_err *err);
// Gives out what was sampled since the last call. One thread. *ret_lost (may be NULL) is increased
// by what the kernel dropped.
int fk_perf_drain(struct fk_perf *p,
                  int (*on)(void *arg, const struct fk_perf_sample *s, struct fk_err *err),
                  void *arg, uint64_t *ret_lost, struct fk_err *err);
bool fk_perf_has_kernel(const struct fk_perf *p);
void fk_perf_close(struct fk_perf *p);
// The name of one of our threads; "" when it is gone.
void fk_thread_name_of(uint32_t tid, char ret[16]);

// An executable mapping of this process.
struct fk_own_mapping {
    uint64_t start, limit, offset;
    char path[FK_OWN_PATH];
};
int fk_own_mappings(int (*on)(void *arg, const struct fk_own_mapping *m, struct fk_err *err),
                    void *arg, struct fk_err *err);

#endif
