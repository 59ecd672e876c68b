// SPDX-License-Identifier: Apache-2.0
// The decoders of text, JSON and small binary formats, for the registry.
#ifndef FK_FORMATS_TEXT_INT_H
#define FK_FORMATS_TEXT_INT_H

#include "formats/formats_int.h"

int fk_lines_decode(const struct fk_decoding *d, struct fk_str bytes, struct fk_err *err);
int fk_trie_decode(const struct fk_decoding *d, struct fk_str bytes, struct fk_err *err);
int fk_tree_decode(const struct fk_decoding *d, struct fk_str bytes, struct fk_err *err);
int fk_perf_script_decode(const struct fk_decoding *d, struct fk_str bytes, struct fk_err *err);
bool fk_perf_script_looks(struct fk_str head, bool whole);

#endif
