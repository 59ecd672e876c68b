// SPDX-License-Identifier: Apache-2.0
// V8's profiles: one is being gathered, from a file or from the chunks of a trace.
#ifndef FK_FORMATS_V8_INT_H
#define FK_FORMATS_V8_INT_H

#include "formats/json_int.h"

struct fk_v8_sample {
    int64_t node;     // its id in the file
    int64_t delta_us; // since the sample before
};

struct fk_v8 {
    struct fk_stacks s;
    struct fk_nodes nodes;
    struct fk_map ids;
    FK_VEC(int64_t) id; // per node: its id in the file
    FK_VEC(int64_t) hits;
    FK_VEC(int64_t) up;    // per node: the id of its parent, FK_NO_TIME none said
    FK_VEC(int64_t) child; // children that nodes name, by their ids
    FK_VEC(uint32_t) child_of;
    FK_VEC(struct fk_v8_sample) sample;
    bool timed;               // the samples have deltas
    int64_t start_us, end_us; // of the clock of the machine; FK_NO_TIME unknown
};

int fk_v8_begin(struct fk_v8 *v, const struct fk_decoding *d, struct fk_err *err);
void fk_v8_end(struct fk_v8 *v);
// {"id", "callFrame", "hitCount", "children": [ids], "parent"}, an array of them.
int fk_v8_nodes(struct fk_v8 *v, const struct fk_jval *nodes, struct fk_err *err);
// {"functionName" or "callFrame", ..., "children": [nodes]}: a tree; weights are hitCount or
// selfSize.
int fk_v8_tree(struct fk_v8 *v, const struct fk_jval *head, struct fk_err *err);
// Ids of nodes, and what passed since the sample before.
int fk_v8_samples(struct fk_v8 *v, const struct fk_jval *samples, const struct fk_jval *deltas,
                  struct fk_err *err);
// Rows from the samples, or from the hit counts where there are none; set: attributes of all rows.
int fk_v8_cpu_profile(struct fk_v8 *v, uint32_t set, struct fk_profile *ret, struct fk_err *err);

#endif
