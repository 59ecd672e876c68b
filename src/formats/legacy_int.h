// SPDX-License-Identifier: Apache-2.0
// What the profiles from before pprof's protobuf share: stacks of addresses, with a memory map and
// perhaps symbols at the end of the file. Sources: gperftools' documentation of its files, Go's
// runtime/pprof (debug=1), jemalloc's manual.
#ifndef FK_FORMATS_LEGACY_INT_H
#define FK_FORMATS_LEGACY_INT_H

#include "formats/stacks_int.h"

struct fk_legacy_region { // an executable mapping
    uint64_t start, limit, offset;
    struct fk_str file;
    uint32_t mapping;
};

struct fk_legacy_symbol {
    uint64_t address;
    struct fk_str name, file;
    int64_t line;
};

struct fk_legacy {
    const struct fk_decoding *d;
    struct fk_stacks s;
    FK_VEC(struct fk_legacy_region) region;
    size_t sorted;                          // of them: by start
    FK_VEC(struct fk_legacy_symbol) symbol; // of one address: neighbours, innermost first
    struct fk_map symbols;                  // address -> the first
    FK_VEC(uint64_t) addr;                  // of the stack being read, leaf first
    FK_VEC(uint64_t) located;               // addresses and
    FK_VEC(uint32_t) location;              // their locations
    struct fk_map locations;
    bool ids; // Java: addresses are ids of symbols, not places in memory
};

int fk_legacy_begin(struct fk_legacy *l, const struct fk_decoding *d, struct fk_err *err);
void fk_legacy_end(struct fk_legacy *l);
// Finds mappings and symbols in the whole text and puts the mappings; before the first stack.
int fk_legacy_scan(struct fk_legacy *l, struct fk_str text, struct fk_err *err);
// Of one address the innermost comes first; an address that was said before stays as it is.
int fk_legacy_symbol_add(struct fk_legacy *l, const struct fk_legacy_symbol *s, struct fk_err *err);
// Whether names come first (pprof --raw), and takes them off: *text is then the profile.
bool fk_legacy_has_symbols(struct fk_str text);
int fk_legacy_take_symbols(struct fk_legacy *l, struct fk_str *text, struct fk_err *err);
// The hexadecimal words of s, added to addr; other words end it.
int fk_legacy_addresses(struct fk_legacy *l, struct fk_str s, struct fk_err *err);
// The stack of addr, which is empty afterwards. Callers are return addresses: one less lies within
// the call. leaf: how much less the first is.
int fk_legacy_stack(struct fk_legacy *l, uint64_t leaf, uint32_t *ret, struct fk_err *err);
// What a sampled entry stands for: each of them was seen with probability 1 - exp(-size/rate).
void fk_legacy_unsample(int64_t *count, int64_t *bytes, int64_t rate);
// "objects: bytes [objects: bytes]", cut off *rest.
bool fk_legacy_heap_values(struct fk_str *rest, int64_t v[4]);
// Finishes and delivers; label may be NULL.
int fk_legacy_deliver(struct fk_legacy *l, struct fk_str period_type, struct fk_str period_unit,
                      int64_t period, const struct fk_label *label, struct fk_err *err);

// The parts of the text format: first line and the rest are in text.
int fk_legacy_heap(struct fk_legacy *l, struct fk_str text, struct fk_err *err);
int fk_legacy_contention(struct fk_legacy *l, struct fk_str text, struct fk_err *err);
int fk_legacy_counts(struct fk_legacy *l, struct fk_str text, struct fk_err *err);
int fk_legacy_threadz(struct fk_legacy *l, struct fk_str text, struct fk_err *err);
int fk_legacy_goroutines(struct fk_legacy *l, struct fk_str text, struct fk_err *err);
// And those with formats of their own, which may stand behind symbols.
int fk_legacy_cpu(struct fk_legacy *l, struct fk_str bytes, struct fk_err *err);
int fk_legacy_jemalloc(struct fk_legacy *l, struct fk_str text, struct fk_err *err);

#endif
