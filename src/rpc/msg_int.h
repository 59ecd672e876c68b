// SPDX-License-Identifier: Apache-2.0
// Shared by the two codecs.
#ifndef FK_RPC_MSG_INT_H
#define FK_RPC_MSG_INT_H

#include "rpc/rpc.h"

size_t fk_field_size(const struct fk_field *f); // of one element
// Room for one more element of a repeated field, zeroed; NULL: no memory. `cap` is derived from n:
// lists grow in powers of two.
void *fk_list_add(struct fk_list *l, size_t size, struct fk_arena *a);

// Room for a message that may be absent; the member points there. NULL: no memory.
void *fk_field_make(const struct fk_field *f, void *member, struct fk_arena *a);

#endif
