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

// What came with the profile and what the receiver allows.
struct fk_accept_opts {
    const struct fk_limits *limits;
    int64_t now_ns;
    bool push;       // a time too far in the future is refused; an upload may have any
    int64_t time_ns; // overrides the file's time; 0: none given
    int64_t from_ns,
        until_ns;        // as the client gave them: taken where the file has none; 0: none given
    int64_t duration_ns; // overrides the file's duration; 0: none given
    struct fk_str
        name; // of the profile, when the labels have no __name__; empty: from the sample types
    const struct fk_label *label; // as the client sent them, any order
    size_t n_labels;
    const struct fk_label *annotation; // client_id, user_agent ...
    size_t n_annotations;
};

// Completes *e (as a decoder left it) and *p in place, new memory in the arena:
//  - labels: those of the entry and those of the request, of equal names the request's; sorted,
//  within limits, names and values valid UTF-8, no duplicates; virtual ones
//  (__type__, __unit__,
//    __profile_type__, __period_type__, __period_unit__) and __delta__, __order__ go; service_name
//    (unknown_service) and __name__ are completed; the godeltaprof_ prefix of a name goes;
//  - times: the override, else the file's; missing or before 1990 becomes received - duration,
//  flagged; observations of a clock that does not count from 1970 are moved: the first one to the
//  entry's time;
//  - kinds of the sample types.
// FK_E_LIMIT and FK_E_INVALID name the label or the time at fault. *ret_arrival (may be NULL): the
// time is that of arrival.
int fk_accept(const struct fk_accept_opts *o, struct fk_arena *a, struct fk_entry *e,
              struct fk_profile *p, bool *ret_arrival, struct fk_err *err);

#endif
