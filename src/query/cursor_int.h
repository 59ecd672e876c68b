// SPDX-License-Identifier: Apache-2.0
// Cursors: where a walk stands, and what it must not see.
#ifndef FK_QUERY_CURSOR_INT_H
#define FK_QUERY_CURSOR_INT_H

#include "query/query_int.h"

struct fk_cursor {
    uint64_t hash;    // of the query and the list's own parameters
    uint64_t tenants; // hash of those it belongs to
    int64_t from_ns, until_ns;
    struct fk_id max_id; // highest id when the walk began
    int64_t key;         // of the entry at the edge, and its id
    struct fk_id id;
    bool backward;
};
// Text of the cursor in the arena; .p NULL: no memory.
struct fk_str fk_cursor_put(struct fk_arena *a, const struct fk_cursor *c);
// FK_E_INVALID with param "cursor".
int fk_cursor_read(struct fk_str text, struct fk_cursor *ret, struct fk_err *err);

#endif
