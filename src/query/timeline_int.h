// SPDX-License-Identifier: Apache-2.0
// Inside of query: samples with their times, as the timeline and the second grid are made of them.
#ifndef FK_QUERY_TIMELINE_INT_H
#define FK_QUERY_TIMELINE_INT_H

#include "query/query_int.h"

struct fk_observation {
    int64_t time_ns;
    int64_t cover_ns; // how long it stands for, as its value says; 0: not known
    uint32_t lane;    // into lanes
    uint32_t node;    // of the tree
};

struct fk_lane_key {
    struct fk_str thread;
    struct fk_labels labels;
    uint64_t samples;
};

struct fk_observed {
    struct fk_query *q;
    int64_t from_ns, until_ns; // only these
    bool want_nodes;
    struct fk_tree *tree; // of the paths; want_nodes
    FK_VEC(struct fk_observation) v;
    FK_VEC(struct fk_lane_key) lanes; // strings in the query's arena
    struct fk_map lane_index;         // thread and labels -> lane
    int64_t period_ns;                // the longest; 0: not known
    uint64_t profiles, timed;         // seen, and those with times inside
};

// All observations of the source in the window. FK_E_INVALID (param id) when profiles were found
// but none has times inside, FK_E_LIMIT when they do not fit in the query's memory.
int fk_observe(struct fk_observed *o, struct fk_err *err);
void fk_observed_free(struct fk_observed *o);

#endif
