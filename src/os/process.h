// SPDX-License-Identifier: Apache-2.0
// Facts about this process and its limits.
#ifndef FK_OS_PROCESS_H
#define FK_OS_PROCESS_H

#include "base/base.h"

struct fk_process_facts {
    uint64_t resident_bytes;      // all resident memory, file mappings too
    uint64_t resident_anon_bytes; // what is really ours (RssAnon)
    uint64_t virtual_bytes;
    int64_t user_ns, system_ns; // CPU time of all threads
    uint64_t open_fds, max_fds;
    uint64_t threads;
    int64_t start_ns; // Unix time at which the process was started
};

// From /proc/self and getrusage; a fact that cannot be had is 0.
int fk_process_facts(struct fk_process_facts *ret, struct fk_err *err);
// Raises the limit of open files to `want` or the highest allowed; the limit in force in *ret_got
// (may be NULL).
int fk_process_raise_fds(uint64_t want, uint64_t *ret_got, struct fk_err *err);
// Memory that this process may use: that of the machine, or the limit of its control group (v2 or
// v1) if that is lower.
int fk_process_memory(uint64_t *ret_bytes, struct fk_err *err);
// For a server: a thread that frees a request's memory keeps up to 16 MiB of it for the next
// request instead of giving the pages back to the kernel and faulting them in again (five faults
// and two system calls a push, measured). To be called before there are threads.
void fk_process_keep_memory(void);
// After a task that took much memory: gives the pages of all that is free back to the kernel, when
// the process has grown by more than FK_PROCESS_MAY_KEEP since the last time. What a thread
// allocated in pieces would else stay with it, up to the largest task of each thread. Takes
// milliseconds, and the tasks that follow fault the pages in again: a quarter of their time.
#define FK_PROCESS_MAY_KEEP ((size_t)64 << 20)
void fk_process_give_memory_back(void);
// The name of this machine in its network; empty when it has none. Always NUL-terminated.
void fk_host_name(char *to, size_t n);

#endif
