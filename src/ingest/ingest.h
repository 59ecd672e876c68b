// SPDX-License-Identifier: Apache-2.0
// How a decoded profile becomes an accepted one: names, labels, times and limits are checked and
// completed. Defines the sink that accepted profiles are delivered to; knows nothing of stores and
// sockets.
#ifndef FK_INGEST_INGEST_H
#define FK_INGEST_INGEST_H

#include "model/model.h"

// The outcome of one delivery: 0 and the id, or a negative error with *err saying why. Called once,
// from any thread.
typedef void fk_done_fn(void *arg, int code, struct fk_id id, const struct fk_err *err);

// Where accepted profiles go. entry and profile stay alive until done() was called. A negative
// result: done() is not called.
struct fk_sink {
    int (*deliver)(void *arg, struct fk_str tenant, const struct fk_entry *entry,
                   const struct fk_profile *profile, fk_done_fn *done, void *done_arg,
                   struct fk_err *err);
    void *arg;
};

#endif
