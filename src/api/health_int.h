// SPDX-License-Identifier: Apache-2.0
// Health as a service, and who watches it.
#ifndef FK_API_HEALTH_INT_H
#define FK_API_HEALTH_INT_H

#include "api/rpc_int.h"

struct fk_api_watchers;
struct fk_api_watchers *fk_watchers_new(void); // NULL: no memory
void fk_watchers_free(struct fk_api_watchers *w);
// Tells all of them that the server can be used; that it is no longer there, and ends their calls
// as well as those to come.
void fk_watchers_come(struct fk_api_watchers *w);
void fk_watchers_leave(struct fk_api_watchers *w);

extern const struct fk_rpc_stream_ops fk_api_health_watch; // arg: struct fk_api
fk_api_handler fk_rpc_health_check;

#endif
