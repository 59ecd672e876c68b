// SPDX-License-Identifier: Apache-2.0
// Recent refusals and losses (rejects.c). All calls from any thread.
#ifndef FK_API_REJECTS_INT_H
#define FK_API_REJECTS_INT_H

#include "api/api_int.h"

struct fk_api_rejects *fk_rejects_new(void); // NULL: no memory
void fk_rejects_free(struct fk_api_rejects *x);
// A call that stored nothing (c->status is its answer), and parts of profiles that were dropped.
// count: so many profiles for this reason; while the call's status is a success others of the
// request are stored.
void fk_rejects_note(struct fk_api_call *c, const struct fk_err *err, uint64_t count);
void fk_rejects_note_dropped(struct fk_api_call *c, const struct fk_report *report);
void fk_rejects_metrics(struct fk_api *api, struct fk_buf *b);

#endif
