// SPDX-License-Identifier: Apache-2.0
// Inside of os: the second way of sampling our own threads.
#ifndef FK_OS_CPU_TIMER_INT_H
#define FK_OS_CPU_TIMER_INT_H

#include "os/perf.h"

// The end of the calling thread's stack, for the handler; 0: not known, so one frame only.
extern _Thread_local uintptr_t fk_stack_top_;
void fk_note_stack_top(void);

// As the functions of os/perf.h: open before there are other threads; drain also notices threads
// that came and went. The samples of one drain are not in the order of time.
struct fk_cpu_timer;
int fk_cpu_timer_open(uint32_t hz, struct fk_cpu_timer **ret, struct fk_err *err);
void fk_cpu_timer_close(struct fk_cpu_timer *t);
int fk_cpu_timer_drain(struct fk_cpu_timer *t,
                       int (*on)(void *arg, const struct fk_perf_sample *s, struct fk_err *err),
                       void *arg, uint64_t *ret_lost, struct fk_err *err);

#endif
