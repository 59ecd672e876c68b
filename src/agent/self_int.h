// SPDX-License-Identifier: Apache-2.0
// Names for the addresses of our own threads.
#ifndef FK_AGENT_SELF_INT_H
#define FK_AGENT_SELF_INT_H

#include "agent/agent.h"
#include "elf/elf.h"

struct fk_self_symbols;
int fk_self_symbols_new(struct fk_self_symbols **ret, struct fk_err *err);
void fk_self_symbols_free(struct fk_self_symbols *s);
// Locations go to this builder from now on; its mappings are declared, the last ones by end.
// folder: for a temporary file of the kernel's symbols; lives as long as s.
int fk_self_symbols_begin(struct fk_self_symbols *s, const char *folder, struct fk_builder *b,
                          struct fk_err *err);
int fk_self_symbols_end(struct fk_self_symbols *s);
int fk_self_location(struct fk_self_symbols *s, uint64_t address, bool kernel, uint32_t *ret,
                     struct fk_err *err);

#endif
