// SPDX-License-Identifier: Apache-2.0
// Profiles made on this machine. So far: the program's profile of itself; the agent for whole
// machines joins it.
#ifndef FK_AGENT_AGENT_H
#define FK_AGENT_AGENT_H

#include "ingest/ingest.h"
#include "os/os.h"

#define FK_SELF_HZ 97 // samples a second of CPU time; a prime, so that it does not beat with timers

struct fk_self;

// Begins to sample; before any other thread is started. FK_E_UNSUPPORTED where the system forbids
// it.
int fk_self_begin(struct fk_self **ret, struct fk_err *err);
struct fk_self_opts {
    struct fk_sink sink;
    struct fk_str tenant; // "": anonymous
    const struct fk_limits *limits;
    const struct fk_log *log;
    const char *folder; // for a temporary file
    int64_t period_ns;  // 0: 10 s
};
// From now on delivers a profile every period under service_name="flamekeep" to the sink, from a
// thread of its own. What opts point to stays alive until stop.
int fk_self_start(struct fk_self *s, const struct fk_self_opts *opts, struct fk_err *err);
// Delivers what there is and ends the thread. The sink must still be alive. NULL is fine.
void fk_self_stop(struct fk_self *s);

#endif
