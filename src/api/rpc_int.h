// SPDX-License-Identifier: Apache-2.0
// What the handlers of RPCs share: reading a request, answering it, and the query it asks for.
#ifndef FK_API_RPC_INT_H
#define FK_API_RPC_INT_H

#include "api/api_int.h"
#include "api/rpc_types_int.h"

// Decodes the request by its content type; FK_E_UNSUPPORTED for another one.
int fk_rpc_read(struct fk_api_call *c, const struct fk_msg_type *t, void *out, struct fk_err *err);
// Encodes the answer in the codec of the request.
int fk_rpc_answer(struct fk_api_call *c, const struct fk_msg_type *t, const void *msg,
                  struct fk_err *err);
bool fk_rpc_is_json(const struct fk_api_call *c);
// Ends a text that was built with the result r: *ret is its copy in the call's arena, `b` is freed.
int fk_rpc_text(struct fk_api_call *c, int r, struct fk_buf *b, struct fk_str *ret,
                struct fk_err *err);
// Fails with a code that the kind of error does not imply.
int fk_rpc_fail_as(struct fk_api_call *c, enum fk_rpc_code code, struct fk_err *err,
                   const char *fmt, ...) FK_PRINTF(4, 5);

// What a request asks for: type and selector, milliseconds with both ends included.
struct fk_rpc_source {
    struct fk_str type, selector;
    int64_t start_ms, end_ms;
    const struct fk_list *ids, *spans, *traces; // of struct fk_str; or NULL
    const struct rpc_stack_selector *stacks;    // or NULL
};
// Its query; kept in c->query_run[slot].
int fk_rpc_query(struct fk_api_call *c, const struct fk_rpc_source *from, int slot,
                 struct fk_query **ret, struct fk_err *err);

// All values of a label, of __profile_type__ and the like (rpc_names.c), over all time.
int fk_rpc_values(struct fk_api_call *c, struct fk_str name, struct fk_str **ret, size_t *ret_n,
                  struct fk_err *err);

// ---- flame graphs (rpc_select.c) ----
#define FK_RPC_NODES      8192    // when max_nodes is unset or 0
#define FK_RPC_MAX_NODES  1048576 // more is refused
#define FK_RPC_MAX_LABELS 256     // names of a question: each profile is asked for all of them
#define FK_RPC_MAX_CHOSEN 1000    // spans or traces, likewise of each sample's attributes
// A view of the tree, cut as Pyroscope cuts, as levels.
int fk_rpc_flamegraph(struct fk_api_call *c, const struct fk_tree *t, int64_t max_nodes,
                      struct fk_flamebearer *ret, struct fk_err *err);
int fk_rpc_check_nodes(int64_t max_nodes, struct fk_err *err);
int fk_rpc_check_list(const struct fk_list *l, size_t most, const char *field, struct fk_err *err);

// ---- pprof (rpc_pprof.c) ----
struct fk_rpc_pprof {
    int64_t max_nodes; // 0: all
    const struct rpc_pgo *pgo;
};
// The query's profiles as one, with one sample type. FK_E_NOTFOUND: there are none.
int fk_rpc_pprof_merge(struct fk_api_call *c, struct fk_query *q, const struct fk_rpc_pprof *o,
                       struct fk_profile *ret, struct fk_err *err);
// It as pprof bytes, appended.
int fk_rpc_pprof_bytes(const struct fk_profile *p, struct fk_buf *to, struct fk_err *err);

#endif
